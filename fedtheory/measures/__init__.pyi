"""What is read off a run: metrics, ground truth, duality gaps, rates, exponents, potentials."""

from . import metrics as metrics
from .ground_truth import GroundTruth as GroundTruth
from .ground_truth import certify_point as certify_point
from .ground_truth import solve_consensus as solve_consensus
from .kl import Exponent as Exponent
from .kl import implied_rate as implied_rate
from .kl import kl_constant as kl_constant
from .kl import kl_exponent as kl_exponent
from .paired import PairedDifference as PairedDifference
from .paired import paired_difference as paired_difference
from .primal_dual import gap_of_dual_points as gap_of_dual_points
from .primal_dual import gap_of_dualfl as gap_of_dualfl
from .primal_dual import largest_local_gap as largest_local_gap
from .primal_dual import primal_dual_gap as primal_dual_gap
from .rates import Fit as Fit
from .rates import find_window as find_window
from .rates import fit_contraction as fit_contraction
from .rates import fit_exponent as fit_exponent
from .residuals import WithResiduals as WithResiduals

"""What holds for a method over a whole class of functions: worst cases, certificates, potentials, closed forms, spectra."""

from .certificates.checker import Refused as Refused
from .certificates.checker import check as check
from .certificates.files import read_certificate as read_certificate
from .certificates.lower_bounds import attain as attain
from .certificates.lower_bounds import check_witness as check_witness
from .certificates.thresholds import find_threshold as find_threshold
from .certificates.thresholds import worst_cases_along as worst_cases_along
from .certificates.upper_bounds import prove as prove
from .every_n.vectors import Sampling as Sampling
from .function_class import FunctionClass as FunctionClass
from .potentials.smallest_rate import rate_of as rate_of
from .potentials.smallest_rate import smallest_rate as smallest_rate
from .rebuilt import verify_method as verify_method
from .refutations.refute import refute_bound as refute_bound
from .refutations.refute import refute_decrease as refute_decrease
from .refutations.replay import replay_exactly as replay_exactly
from .spectrum import contraction_factor as contraction_factor
from .spectrum import round_map as round_map
from .spectrum import spectral_radius as spectral_radius
from .stated_bounds import judge_bound as judge_bound
from .symbolic import play_exactly as play_exactly
from .symbolic import round_matrix as round_matrix
from .symbolic import symbols as symbols
from .worst_cases import worst_case as worst_case

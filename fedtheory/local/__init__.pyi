"""What a client does with its subproblem."""

from .solvers import AcceleratedSteps as AcceleratedSteps
from .solvers import Exact as Exact
from .solvers import GradientSteps as GradientSteps
from .solvers import LocalSolver as LocalSolver
from .solvers import Memoryless as Memoryless
from .solvers import Step as Step
from .solvers import newton_prox as newton_prox
from .solvers import path_length as path_length
from .solvers import step_size as step_size
from .subproblem import Subproblem as Subproblem

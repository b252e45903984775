"""What a client does with its subproblem."""

from fedtheory.core.hyperparameters import at_least_one as at_least_one
from fedtheory.core.hyperparameters import constant_step as constant_step
from fedtheory.core.hyperparameters import not_negative as not_negative
from fedtheory.core.hyperparameters import plain as plain
from fedtheory.core.hyperparameters import positive as positive
from fedtheory.core.hyperparameters import share as share
from fedtheory.local.solvers import AcceleratedSteps as AcceleratedSteps
from fedtheory.local.solvers import Exact as Exact
from fedtheory.local.solvers import GradientSteps as GradientSteps
from fedtheory.local.solvers import LocalSolver as LocalSolver
from fedtheory.local.solvers import Memoryless as Memoryless
from fedtheory.local.solvers import Step as Step
from fedtheory.local.solvers import newton_prox as newton_prox
from fedtheory.local.solvers import path_length as path_length
from fedtheory.local.solvers import step_size as step_size
from fedtheory.local.subproblem import Subproblem as Subproblem

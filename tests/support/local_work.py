"""Local work that tests of personalised methods share."""

from __future__ import annotations

import pytest

from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import StochasticSteps

# The two sides do the same arithmetic in another order: a few hundred operations on numbers of size 10.
ROUNDING = 1e-12
LR = 0.07
GD, SGD = GradientSteps(3, LR), StochasticSteps(3, LR, 2)
SOLVERS = pytest.mark.parametrize("solver", [GD, SGD], ids=["gd", "sgd"])

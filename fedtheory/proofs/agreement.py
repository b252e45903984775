"""A value, a run that reaches it and a certificate that bounds it speak of one worst case, and are held against each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.interpolation import Interpolated
from fedtheory.proofs.measures import Measure
from fedtheory.proofs.sizes import sizes_of

#: relative differences that rebuilt functions (whose free vectors are long, but finite) and strengthened proofs bring with them
ALIKE = 1e-2
#: how far a rebuilt instance may miss the conditions of its class, in units
REBUILT = 1e-3
#: numbers below this share of their measure's unit count as nothing
NOTHING = 1e-6


def hold_together(name: str, one: float, other_name: str, other: float, *, size: float) -> None:
    """Refuse two numbers for one worst case that are not alike; ``size`` is that of its measure, of which a millionth counts as nothing.

    Raises
    ------
    SolverFailed
        With both numbers.
    """
    if not abs(one - other) <= max(ALIKE * max(abs(one), abs(other)), NOTHING * size):
        raise SolverFailed(
            f"{name} and {other_name} are about the same worst case and differ: {one:.9g} and {other:.9g}; neither is believed"
        )


def require_membership(
    instance: Interpolated, x0: NDArray[np.float64], function_class: FunctionClass, measure: Measure, radius: float
) -> None:
    """Check a rebuilt instance whose minimiser is the origin: the start, f's gradient there, and what the class lets the clients' be.

    L and mu hold by construction (`Interpolated`). Without a minimiser nothing is checked here.

    Raises
    ------
    SolverFailed
        A condition is missed by more than rebuilding costs.
    """
    if not measure.of_minimiser:
        return
    far = float(np.linalg.norm(x0))
    if not far <= radius * (1 + REBUILT):
        raise SolverFailed(f"the functions rebuilt from the solution start {far:.9g} from x*, not {radius:.9g}")
    slopes = instance.grad(np.zeros((1, instance.d)))
    size = max(sizes_of(function_class, measure, radius).gradient, float(np.sqrt((slopes**2).sum(-1).mean())))
    left = float(np.linalg.norm(slopes.mean(axis=0)))
    if not left <= REBUILT * size:
        raise SolverFailed(
            f"the average of the functions rebuilt from the solution has the gradient {left:.3g} at x*, not 0"
        )
    zeta = function_class.zeta
    if zeta is not None and not np.sqrt((slopes**2).sum(-1).mean()) <= float(zeta) + REBUILT * size:
        raise SolverFailed(
            f"the functions rebuilt from the solution have clients that differ by more than zeta={zeta} at x*"
        )

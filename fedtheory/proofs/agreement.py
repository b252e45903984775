"""A value, a run that reaches it and a certificate that bounds it speak of one worst case, and are held against each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.client_weights import ClientWeights
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
    instance: Interpolated,
    x0: NDArray[np.float64],
    function_class: FunctionClass,
    measure: Measure,
    radius: float,
    *,
    models: Sequence[NDArray[np.float64]] = (),
    tolerance: float = REBUILT,
    weights: ClientWeights | None = None,
) -> None:
    """Check a rebuilt instance: the start, f's gradient at its minimiser, the origin, and what the class lets the clients' gradients be.

    L and mu hold by construction (`Interpolated`). Conditions that are imposed at the server's models are checked at ``models``, arrays
    ``(1, d)``, and at x*. Without a minimiser the start is not checked: that f is nowhere below a value cannot be seen from points.

    Parameters
    ----------
    tolerance : by how much a condition may be missed, relative to the size of what it speaks of.
    weights : of the clients, in all means over them; None for equal ones.

    Raises
    ------
    SolverFailed
        A condition is missed by more.
    """
    origin, shares = np.zeros((1, instance.d)), None if weights is None else [float(w) for w in weights]
    slopes = instance.grad(origin)
    steepest = float(np.sqrt(np.average((slopes**2).sum(-1), weights=shares)))
    size = max(sizes_of(function_class, measure, radius).gradient, steepest if measure.of_minimiser else 0.0)
    rebuilt = "the functions rebuilt from the solution"
    if measure.of_minimiser:
        far = float(np.linalg.norm(x0))
        if not far <= radius * (1 + tolerance):
            raise SolverFailed(f"{rebuilt} start {far:.9g} from x*, not {radius:.9g}")
        left = float(np.linalg.norm(np.average(slopes, axis=0, weights=shares)))
        if not left <= tolerance * size:
            raise SolverFailed(f"the average of {rebuilt} has the gradient {left:.3g} at x*, not 0")
        zeta = function_class.zeta
        if zeta is not None and not steepest <= float(zeta) + tolerance * size:
            raise SolverFailed(f"{rebuilt} have clients that differ by more than zeta={zeta} at x*")
    for x in [origin, *models] if measure.of_minimiser else models:
        _require_alike(instance.grad(x), function_class, rebuilt, tolerance * size, shares)


def _require_alike(
    gradients: NDArray[np.float64],
    function_class: FunctionClass,
    rebuilt: str,
    allowed: float,
    shares: Sequence[float] | None,
) -> None:
    """Check (G, D) and the dissimilarity of clients at one point."""
    if function_class.bgd is not None:
        big_g, big_d = (float(v) for v in function_class.bgd)
        mean = float(np.linalg.norm(np.average(gradients, axis=0, weights=shares)))
        if not np.sqrt(np.average((gradients**2).sum(-1), weights=shares)) <= np.hypot(big_g, big_d * mean) + allowed:
            raise SolverFailed(f"{rebuilt} differ by more than (G, D)={function_class.bgd} allows")
    if function_class.dissimilarity is not None:
        apart = np.linalg.norm(gradients[:, None] - gradients[None], axis=-1).max()
        if not apart <= float(function_class.dissimilarity) + allowed:
            raise SolverFailed(f"{rebuilt} differ by {apart:.6g}, more than G={function_class.dissimilarity}")

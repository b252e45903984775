"""The optimised gradient method with adaptive restart and backtracking (Kim and Fessler 2018; AOGM in DualFL's experiments)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.core.arrays import Array, inner, namespace, squared_norm
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.hyperparameters import positive
from fedtheory.core.numbers import at_least_one
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ClientPoints, Points
from fedtheory.local.newton import measure_terms
from fedtheory.local.solvers import Memoryless
from fedtheory.local.stopping import Progress, Stop
from fedtheory.local.subproblem import Subproblem

SHRINK = 0.8  #: every step tries a smoothness estimate this much smaller
GROW = 2.0  #: and makes it this much larger until the step is short enough


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a local solve returns.

    ``arrived``: the stopping rule was met. ``at_floor``: the gradient is at the level of rounding errors, so that more steps are useless. Where
    neither holds, the cap on steps was reached, or numbers overflowed.
    """

    x: Array  # (..., m, d)
    arrived: Array  # (..., m)
    at_floor: Array  # (..., m)
    gradients: Array  # (..., m)  gradient calls of each client


@dataclass(frozen=True)
class Adaptive(Memoryless):
    """Accelerated gradient steps that choose their length and momentum themselves, until a stopping rule is met.

    For the subproblem's objective h, with l an estimate of its smoothness:

    y^+ = x - grad h(x)/l,   t^+ = (1 + sqrt(1 + 4 t^2))/2,
    x^+ = y^+ + ((t - 1)/t^+) (y^+ - y) + (t/t^+) (y^+ - x),

    with t set to 1 before t^+ is computed where <grad h(x), y^+ - y> > 0 (restart), and l raised while
    h(y^+) > h(x) - ||grad h(x)||^2/(2 l) and tried smaller at every step (full backtracking). Where that decrease is below the rounding
    of h, l must satisfy <grad h(x) - grad h(y^+), x - y^+> <= l ||x - y^+||^2 instead, which says the same of quadratics and can be
    told to full accuracy.

    Departure: the factor sigma <= 1 on the last term, which the authors' code has as an option, is left out.

    Clients and runs stop on their own. One that neither meets the rule nor comes down to rounding within ``max_steps`` is an error,
    except where numbers overflowed: there the outer method diverges, which the runner notes.

    Parameters
    ----------
    stop : Stop
        A rule of `fedtheory.local.stopping`.
    smoothness : number or array ``(*batch, 1, 1)``
        First estimate l of the smoothness of h.
    max_steps : int

    Examples
    --------
    >>> sub = Subproblem(problem, rho=1.0, z=np.zeros((1, 5)))
    >>> y, _ = Adaptive(ResidualBound(1e-16, modulus=1.0))(sub, np.ones((1, 5)), Key(0, 0), None)
    >>> print(np.abs(sub.grad(y)).max() < 1e-6)
    True
    """

    stop: Stop
    smoothness: float = 1.0
    max_steps: int = 10_000
    numeric_only: ClassVar[str | None] = "it adapts its steps to values and stops on a rule"

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        at_least_one("max_steps", self.max_steps)
        positive(self, "smoothness")
        if not callable(self.stop):
            raise InvalidInput(
                f"stop must be a rule of fedtheory.local.stopping, for example ResidualBound(1e-8, mu), got {self.stop!r}"
            )

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Solve every client's subproblem.

        Raises
        ------
        SolverFailed
            A client did not arrive within ``max_steps``.
        """
        found = self.solve(sub, start, key.round)
        xp = namespace(found.x)
        late = ~(found.arrived | found.at_floor) & xp.all(xp.isfinite(found.x), axis=-1)
        if bool(xp.any(late)):
            raise SolverFailed(
                f"{int(xp.sum(xp.astype(late, xp.int64)))} local solves of round {key.round} did not meet {self.stop} within "
                f"{self.max_steps} steps; raise max_steps or the tolerance"
            )
        return found.x, None

    def solve(self, sub: Subproblem, start: Array, round: int = 0) -> Answers:
        """Return the answers with their outcome and cost."""
        xp = namespace(start, sub.a, sub.z)
        g = sub.grad(start)
        x = y = start + 0 * g  # the full shape from the beginning
        l = self.smoothness + 0 * x[..., :1]
        t = xp.ones_like(l)
        calls = 0 * squared_norm(g) + 1
        steep = 0 * l  # largest estimate that was needed
        at = Progress(x, g, sub.value(x), 0 * calls + float("inf"))
        arrived, floor = self.stop(sub, at, round), _at_floor(sub, at, steep)
        for _ in range(self.max_steps):
            going = ~(arrived | floor) & xp.isfinite(at.value)
            if not bool(xp.any(going)):
                break
            tried = SHRINK * l
            short, l, extra = _step(sub, at, tried, going)
            steep = xp.where((l > tried) & (l > steep), l, steep)
            move = short - y
            t = xp.where(inner(at.gradient, move)[..., None] > 0, xp.ones_like(t), t)
            longer = (1 + (1 + 4 * t * t) ** 0.5) / 2
            new = short + (t - 1) / longer * move + t / longer * (short - at.x)
            wide = going[..., None]
            x, y, t = xp.where(wide, new, at.x), xp.where(wide, short, y), xp.where(wide, longer, t)
            g = sub.grad(x)
            calls = calls + xp.astype(going, calls.dtype) + extra
            at = Progress(x, g, sub.value(x), xp.where(going, at.value, at.previous))
            arrived = xp.where(going, self.stop(sub, at, round), arrived)
            floor = xp.where(going, _at_floor(sub, at, steep), floor)
        return Answers(at.x, arrived, floor, calls)


def _at_floor(sub: Subproblem, at: Progress, steep: Array) -> Array:
    """Whether the gradient is at the level of rounding errors: of its terms, or of x times the smoothness."""
    xp = namespace(at.x)
    size = measure_terms(sub, at.x, at.gradient) + squared_norm(steep * at.x)
    small = squared_norm(at.gradient) <= (4 * float(xp.finfo(at.x.dtype).eps)) ** 2 * size
    return small & xp.isfinite(size)


def _step(sub: Subproblem, at: Progress, l: Array, going: Array) -> tuple[Array, Array, Array]:
    """Take the gradient step of the clients that have not stopped: the point, their smoothness estimates, and the gradients this took."""
    xp = namespace(at.x)
    eps = float(xp.finfo(at.x.dtype).eps)
    size = squared_norm(at.gradient)
    extra = 0 * size
    while True:
        short = at.x - at.gradient / l
        value = sub.value(short)
        drop = size / (2 * l[..., 0])
        long = going & ~(value <= at.value - drop)  # also where the value has overflowed
        unclear = going & (drop <= 16 * eps * (xp.abs(at.value) + xp.abs(value)))
        if bool(xp.any(unclear)):
            extra = extra + xp.astype(unclear, extra.dtype)
            turn = inner(at.gradient - sub.grad(short), at.gradient)  # l <grad h(x) - grad h(y), x - y>
            long = xp.where(unclear, turn > size * (1 + 1e-12), long)
        long = long & (l[..., 0] < 1 / eps**2)  # beyond all bounds: the objective is not smooth here
        if not bool(xp.any(long)):
            return short, l, extra
        l = xp.where(long[..., None], GROW * l, l)

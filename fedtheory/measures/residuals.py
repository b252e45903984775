"""How far the models that came in are from the new one, and how far that one has moved: residuals of the consensus constraint."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import cache
from typing import Any

from fedtheory.algorithms.base import State
from fedtheory.core.arrays import Array, average, namespace, squared_norm
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ServerPoint
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem

RESIDUALS = ("primal_residual", "dual_residual")  #: fields that states get


@dataclass(frozen=True)
class WithResiduals:
    """A method as it is, whose states also hold the residuals of their round, both ``(..., 1, 1)``:

    primal_residual = mean_{active} ||x_i^{t+1} - x^{t+1}||,  dual_residual = ||x^{t+1} - x^t||,

    zero before the first round. x_i^{t+1} is what local work answered, so every method with a local solver has them.

    Source: A-FedPD, Appendix A.4.2. Departures: its mean is over all clients, and what it takes for those that were away is not said, so
    it is over the active ones here; its dual residual has the factor rho, which methods without a penalty do not have.

    Parameters
    ----------
    method : Algorithm
        With a field ``local``, a solver that carries nothing from round to round.

    Raises
    ------
    InvalidInput
        The method has no local solver.

    Examples
    --------
    >>> state = run(WithResiduals(FedPD(eta=1.0)), problem, x0, 100).state
    >>> print(state.primal_residual.shape)
    (1, 1)
    """

    method: Any

    def __post_init__(self) -> None:
        """Refuse a method without local work."""
        if getattr(self.method, "local", None) is None:
            raise InvalidInput(
                f"{type(self.method).__name__} has no local solver whose answers x_i could be compared with x, so it has no residuals"
            )

    def init(self, problem: Problem, x0: ServerPoint) -> State:
        """Return the method's first state."""
        nothing = 0 * _norm(x0)
        return _extended(self.method.init(problem, x0), nothing, nothing)

    def round(self, problem: Problem, state: State, clients: Clients | None, key: Key) -> State:
        """Play the method's round, and measure it."""
        heard = _Overheard(self.method.local)
        new = replace(self.method, local=heard).round(problem, state, clients, key)
        if heard.answers.shape[-1] != new.x.shape[-1]:
            raise InvalidInput(
                f"local work of {type(self.method).__name__} answers with several models at once, so it has no residuals"
            )
        return _extended(new, average(_norm(heard.answers - new.x), clients), _norm(new.x - state.x))

    @property
    def first_exchange(self) -> tuple[int, int]:
        """Return what the method exchanges before the first round."""
        return getattr(self.method, "first_exchange", (0, 0))

    def traffic(self, key: Key, state: State) -> tuple[Any, Any]:
        """Return what the method sends."""
        sent: tuple[Any, Any] = self.method.traffic(key, state)
        return sent

    def solution_state(self, problem: Problem, x_star: ServerPoint) -> State | None:
        """Return the method's."""
        found = self.method.solution_state(problem, x_star)
        nothing = 0 * _norm(x_star)
        return None if found is None else _extended(found, nothing, nothing)


class _Overheard:
    """A local solver that remembers its answers."""

    def __init__(self, local: LocalSolver) -> None:
        self.local = local
        self.answers: Array = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.local, name)

    def __call__(self, sub: Subproblem, start: Array, key: Key, memory: Array | None) -> tuple[Array, Array | None]:
        self.answers, memory = self.local(sub, start, key, memory)
        return self.answers, memory


def _norm(x: Array) -> Array:
    return namespace(x).sqrt(squared_norm(x))[..., None]


def _extended(state: State, primal: Array, dual: Array) -> State:
    of: Any = type(state)
    kind = _kind(of)
    own = {f.name: getattr(state, f.name) for f in fields(state)}
    return kind(**own, **dict(zip(RESIDUALS, (primal, dual), strict=True)))


@cache
def _kind(of: type) -> Any:
    """Return a kind of state with everything that ``of`` has and the residuals."""
    more = [(name, Array, field(default=None)) for name in RESIDUALS]  # a default, as fields of ``of`` may have one
    return make_dataclass(f"{of.__name__}WithResiduals", more, bases=(of,), frozen=True, slots=True, eq=False)

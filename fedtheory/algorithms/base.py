"""What an algorithm is, and what every method of this folder is: a frozen dataclass of hyper-parameters with `init` and `round`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from fedtheory.core.arrays import Array, is_array
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import check_fields
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ServerPoint
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import AcceleratedSteps, GradientSteps, LocalSolver
from fedtheory.local.stochastic import VarianceReduced

Fixes = Mapping[str, Callable[[Mapping[str, Array]], Array]]  # a variable, and how others fix it
State = Any  # a frozen dataclass of arrays with a field x, the server's model (..., 1, d)


class Algorithm(Protocol):
    """One federated method.

    ``init`` and ``round`` are the method; everything else (loops, metrics, stopping, printing) is the runner's.
    Inside a round nothing is decided on values, nothing is written in place, and clients meet only in
    `fedtheory.core.arrays.average`.
    """

    def init(self, problem: Problem, x0: ServerPoint) -> State:
        """Return the state before the first round, from a common point x0."""
        ...

    def round(self, problem: Problem, state: State, clients: Clients | None, key: Key) -> State:
        """Return the state after one communication round with these clients (None: all)."""
        ...

    def traffic(self, key: Key, state: State) -> tuple[Any, Any]:
        """Vectors of length d that each active client sends and receives in the round that led to this state.

        A client that sends k floats sends k/d vectors.
        """
        ...

    def solution_state(self, problem: Problem, x_star: ServerPoint) -> State | None:
        """Return the state at which x* is a fixed point; None if the method is biased and has none."""
        ...


class Method:
    """An `Algorithm` whose fields are checked by their annotations, and which says what is common to methods as data.

    ``family`` : the group in which it is listed.
    ``sends`` : vectors of length d that an active client sends and receives a round, where that is always the same.
    ``first_exchange`` : vectors of length d that every client, active or not, sends and receives before the first round; x^0 is known to all.
    ``partial`` : whether it is defined when only some clients take part; where it is not, a round refuses them and names ``instead``.
    ``unweighted`` : why it is not for clients that count unequally (`fedtheory.core.client_weights`); empty where it is.

    ``fixes`` : variables that others fix in every state that its rounds lead to from its own start: name to a function of the others by name.
    ``open_starts`` : variables whose start its paper leaves open, and the option that chooses it here.

    A method defines `init` and `round`, and `fixed_point` where it has one.

    Examples
    --------
    >>> print(GradientDescent.family, GradientDescent.partial, Scaffold.sends)
    control False (2, 2)
    """

    family: ClassVar[str]
    sends: ClassVar[tuple[int, int]] = (1, 1)
    partial: ClassVar[bool] = True
    instead: ClassVar[str] = "a method with partial participation such as Scaffold"
    unweighted: ClassVar[str] = ""
    fixes: ClassVar[Fixes] = {}
    open_starts: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Let a round of a method for all clients refuse a part of them."""
        super().__init_subclass__(**keywords)
        if not cls.partial and "round" in vars(cls):
            cls.round = _with_everyone(cls.round)  # type: ignore[attr-defined]

    def __post_init__(self) -> None:
        """Refuse hyper-parameters outside the method's definition."""
        check_fields(self)

    @property
    def first_exchange(self) -> tuple[int, int]:
        """Vectors of length d that every one of the n clients sends and receives before the first round; the run starts with them counted."""
        return 0, 0

    @property
    def solvers(self) -> dict[str, LocalSolver]:
        """The local solvers among the fields."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if hasattr(value, "numeric_only")}

    @property
    def numeric_only(self) -> str | None:
        """Why only numbers can run the method (symbols and worst cases cannot), or None.

        Of a method with one solver, `local`, engines ask that by itself: where a program has noise, drawing samples is no obstacle.
        """
        others = (s for name, s in self.solvers.items() if name != "local")
        return next((f"{type(s).__name__}: {s.numeric_only}" for s in others if s.numeric_only is not None), None)

    def traffic(self, key: Key, state: State) -> tuple[Any, Any]:
        """Vectors of length d that each active client sends and receives in the round that led to this state."""
        return self.sends

    def solution_state(self, problem: Problem, x_star: ServerPoint) -> State | None:
        """Return the state at which x* is a fixed point; None if the method, or one of its local solvers, is biased and has none."""
        return self.fixed_point(problem, x_star) if all(map(settles, self.solvers.values())) else None

    def fixed_point(self, problem: Problem, x_star: Array) -> State | None:
        """Return the state at which x* is a fixed point, for local solvers that pass `settles`; None if there is none."""
        return None


def _with_everyone(round: Any) -> Any:
    """A round that refuses partial participation by name."""

    @functools.wraps(round)
    def checked(self: Method, problem: Problem, state: State, clients: Clients | None, key: Key) -> State:
        if clients is not None:
            raise InvalidInput(
                f"{type(self).__name__} is defined for full participation only; use participation=All(), or {self.instead}"
            )
        return round(self, problem, state, clients, key)

    return checked


def is_one_plain_step(local: LocalSolver) -> bool:
    """Whether the local solver is a single gradient step, which leaves an averaging method unbiased."""
    return (
        isinstance(local, GradientSteps | AcceleratedSteps | VarianceReduced)
        and not is_array(local.steps)
        and local.steps == 1
        and getattr(local, "batch", None) is None
    )


def settles(local: LocalSolver) -> bool:
    """Whether stationary points of its subproblem are fixed points of the local solver, in expectation over its samples.

    Those of SAM's steps are other points, and clipped noise need not have mean zero.
    """
    return not isinstance(local, SamSteps) and getattr(local, "clip", None) is None


def require_options(algorithm: Any) -> None:
    """Refuse a class of methods where one with its options is meant.

    Raises
    ------
    InvalidInput
        It is a class.
    """
    if isinstance(algorithm, type):
        given = algorithm.__name__
        raise InvalidInput(f"the method is the class {given}; expected one with its options, {given}(...)")


def require_method_and_problem(algorithm: Any, problem: Any, call: str) -> None:
    """Refuse what is no method, and what is no problem; ``call`` is how both are passed.

    Raises
    ------
    InvalidInput
        They are exchanged, or one is a class or something else.
    """
    require_options(algorithm)
    if not hasattr(algorithm, "round") and hasattr(problem, "round"):
        raise InvalidInput(f"method and problem are exchanged; expected {call}")
    if isinstance(problem, type):
        raise InvalidInput(f"the problem is the class {problem.__name__}; expected an instance, with data in it")
    for value, member, kind in ((algorithm, "round", "method"), (problem, "grad", "problem")):
        if not hasattr(value, member):
            raise InvalidInput(f"{type(value).__name__} is no {kind}: it has no {member!r}")

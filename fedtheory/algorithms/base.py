"""What an algorithm is: a frozen dataclass of hyper-parameters with `init` and `round`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fedtheory.algorithms.settings import Settings
from fedtheory.core.arrays import Array, is_array
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, can, constants
from fedtheory.core.randomness import Key
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import AcceleratedSteps, GradientSteps, LocalSolver
from fedtheory.local.stochastic import VarianceReduced

State = Any  # a frozen dataclass of arrays with a field x, the server's model (..., 1, d)


class Algorithm(Protocol):
    """One federated method.

    ``init`` and ``round`` are the method; everything else (loops, metrics, stopping, printing) is the runner's.
    Inside a round nothing is decided on values, nothing is written in place, and clients meet only in
    `fedtheory.core.arrays.average`.
    """

    def init(self, problem: Problem, x0: Array) -> State:
        """Return the state before the first round, from a common point x0 ``(..., 1, d)``."""
        ...

    def round(self, problem: Problem, state: State, clients: Clients | None, key: Key) -> State:
        """Return the state after one communication round with these clients (None: all)."""
        ...

    def traffic(self, key: Key, state: State) -> tuple[Any, Any]:
        """Vectors of length d that each active client sends and receives in the round that led to this state.

        A client that sends k floats sends k/d vectors.
        """
        ...

    def solution_state(self, problem: Problem, x_star: Array) -> State | None:
        """Return the state at which x* is a fixed point; None if the method is biased and has none."""
        ...


@dataclass(frozen=True)
class Listed:
    """One listed method: name, family, source, how to build it, and what it needs.

    ``uses``: names of the settings it reads. ``partial``: whether it is defined when only some clients take part. ``needs``:
    abilities a problem must have beyond gradients (`fedtheory.core.problem.ABILITIES`). ``strongly_convex``: whether exact local solves
    need strongly convex clients, because they add no quadratic to f_i.
    """

    name: str
    family: str
    source: str
    build: Callable[[Settings], Algorithm]
    uses: tuple[str, ...]
    partial: bool
    needs: tuple[str, ...] = ()
    strongly_convex: bool = False


def needs_convexity(entry: Listed, settings: Settings, problem: Any) -> None:
    """Refuse exact local solves that have no answer: of clients that are not strongly convex, by a method that adds no quadratic to them.

    Raises
    ------
    NotAvailable
        The method is `Listed.strongly_convex`, exact solves are asked for, and the certified constant mu is not positive.
    """
    if not (entry.strongly_convex and settings.exact and can(problem, "certify")):
        return
    mu = constants(problem).get("mu")
    if mu is not None and not np.all(mu.value > 0):
        raise NotAvailable(
            f"exact local solves of {entry.name} need strongly convex clients, and those of {problem.name!r} are certified with "
            f"mu = {float(np.min(mu.value)):.3g}; add a ridge, take local steps, or use a method with a penalty"
        )


def needs_everyone(method: str, clients: Clients | None, instead: str) -> None:
    """Refuse partial participation by name.

    Raises
    ------
    InvalidInput
        Not all clients take part.
    """
    if clients is not None:
        raise InvalidInput(f"{method} is defined for full participation only; use participation=All(), or {instead}")


def one_plain_step(local: LocalSolver) -> bool:
    """Whether the local solver is a single gradient step, which leaves an averaging method unbiased."""
    return (
        isinstance(local, GradientSteps | AcceleratedSteps | VarianceReduced)
        and not is_array(local.steps)
        and local.steps == 1
        and getattr(local, "batch", None) is None
    )


def numeric_only_of(*solvers: LocalSolver | None) -> str | None:
    """Why a method with several local solvers needs numbers, or None when every engine can run it."""
    reasons = [f"{type(s).__name__}: {s.numeric_only}" for s in solvers if s is not None and s.numeric_only is not None]
    return reasons[0] if reasons else None


def settles(local: LocalSolver) -> bool:
    """Whether the local solver stays (in the mean over its samples) where the gradient of its subproblem vanishes.

    SAM's does not, and clipped noise need not have mean zero.
    """
    return not isinstance(local, SamSteps) and getattr(local, "clip", None) is None

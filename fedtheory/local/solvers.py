"""Local solvers: how a client solves the subproblem that all methods share

    min_x  f_i(x) + <a_i, x> + (rho/2) ||x - z_i||^2 .

A solver is a frozen dataclass of its settings. Called with the subproblems of the clients that take part, the
points they start from, the round's key and the solver's memory, it returns their answers and the new memory. Only
`VarianceReduced` has memory. A solver whose course depends on values says so in ``numeric_only``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, Scalar, gather, is_array, is_object, like
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.hyperparameters import on_host, positive
from fedtheory.core.numbers import at_least_one
from fedtheory.core.problem import Problem, can, need
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ClientPoints, Points, ServerPoint
from fedtheory.local.execution import run_gradient_steps
from fedtheory.local.newton import newton
from fedtheory.local.subproblem import Subproblem

Step = Scalar | Callable[[int, int], float]  # a step size, or a function of (round, local step)


class LocalSolver(Protocol):
    """How a client solves its subproblem, exactly or not."""

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers, or None when every engine can run it."""
        ...

    def memory(self, problem: Problem, x0: ServerPoint) -> Array | None:
        """What the solver carries from round to round, at the start."""
        ...

    def __call__(
        self, sub: Subproblem, start: Points, key: Key, memory: Array | None
    ) -> tuple[ClientPoints, Array | None]:
        """Return the clients' answers and the new memory."""
        ...


class Memoryless:
    """Solvers that carry nothing from round to round.

    Examples
    --------
    >>> print(GradientSteps(4, 0.5).memory(problem, x0))
    None
    """

    numeric_only: ClassVar[str | None] = None

    def memory(self, problem: Problem, x0: ServerPoint) -> None:
        """Return None."""
        return None


def step_size(lr: Step, round: int, q: int) -> Any:
    """Return the size of local step q of a round; a NumPy scalar as a plain number, which has no precision of its own."""
    size = lr(round, q) if callable(lr) else lr
    return size.item() if isinstance(size, np.generic) else size


def path_length(lr: Step, steps: Any, round: int) -> Any:
    """Return the sum of the step sizes of a round, K lr where they are equal."""
    return sum(step_size(lr, round, q) for q in range(steps)) if callable(lr) else steps * lr


@dataclass(frozen=True)
class Exact(Memoryless):
    """The exact minimiser: the problem's proximal step, or Newton's method where only Hessians are known.

    With a quadratic term, argmin f_i + <a, .> + (rho/2)||. - z||^2 is the proximal step of f_i with step 1/rho at
    z - a/rho. With a linear term alone (dual methods), argmin f_i + <a, .> is the gradient of the conjugate, grad f_i^*(-a);
    f_i must then be strongly convex.

    Examples
    --------
    >>> sub = Subproblem(problem, rho=1.0, z=np.zeros((1, 5)))
    >>> y, _ = Exact()(sub, np.ones((1, 5)), Key(0, 0), None)
    >>> print(np.abs(sub.grad(y)).max() < 1e-12)
    True
    """

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Solve every client's subproblem."""
        if sub.rho is not None:
            v = sub.z if sub.a is None else sub.z - sub.a / sub.rho
            if can(sub.f, "prox"):
                return sub.f.prox(v, 1 / sub.rho), None  # type: ignore[attr-defined]
            return newton_prox(sub.f, v, 1 / sub.rho), None
        if sub.a is None:
            raise NotAvailable(
                "Exact() needs a quadratic term (rho > 0), because f_i alone may have no minimiser; use a method with "
                "a penalty, or GradientSteps"
            )
        if can(sub.f, "conjugate_grad"):
            start = sub.f.conjugate_grad(-sub.a)  # type: ignore[attr-defined]
            if is_object(start) or not can(sub.f, "hess"):
                return start, None
        elif not can(sub.f, "hess"):
            need(sub.f, "conjugate_grad", "an exact solve without a quadratic term and without Hessians")
        return newton(sub, start), None  # a conjugate that a program computes has an answer to sqrt(eps) only


@dataclass(frozen=True)
class GradientSteps(Memoryless):
    """K gradient steps  x <- x - lr * grad  from the start point (FedPD: Oracle I, option I, with eta_1 = lr).

    Parameters
    ----------
    steps : int, or integer array ``(n,)``
        K, common or one a client.
    lr : number, array ``(*batch, 1, 1)``, symbol, or function of (round, local step)

    Examples
    --------
    >>> trace = run(FedAvg(GradientSteps(steps=1, lr=1.0)), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    steps: Any
    lr: Step

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if is_array(self.steps):
            for count in on_host(self, "steps").ravel():
                at_least_one("steps", count)
        else:
            at_least_one("steps", self.steps)
        positive(self, "lr")

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Take the steps; large data is worked through in blocks of clients, all K steps a block."""
        n = sub.f.n if sub.clients is None else sub.clients.n
        if is_array(self.steps) and self.steps.shape != (n,):
            raise InvalidInput(f"steps has shape {self.steps.shape}; expected a number or one a client, shape ({n},)")
        counts = gather(self.steps[:, None], sub.clients) if is_array(self.steps) else None

        def descend(part: Subproblem, x: Array, first: int) -> Array:
            return self._descend(part, x, key, None if counts is None else counts[..., first : first + part.f.n, :])

        return run_gradient_steps(descend, sub, start, int(np.max(self.steps))), None

    def _descend(self, sub: Subproblem, x: Array, key: Key, active: NDArray[np.integer[Any]] | None) -> Array:
        for q in range(int(np.max(self.steps))):
            lr = step_size(self.lr, key.round, q)
            g = sub.grad(x)
            x = x - (lr * g if active is None else like((active > q).astype(float), g) * (lr * g))
        return x


@dataclass(frozen=True)
class AcceleratedSteps(Memoryless):
    """K steps of Nesterov's accelerated gradient with a constant momentum.

    x_{q+1} = y_q - lr * grad(y_q),  y_{q+1} = x_{q+1} + momentum * (x_{q+1} - x_q). For a subproblem that is
    M-smooth and m-strongly convex, lr = 1/M and momentum = (sqrt(M) - sqrt(m)) / (sqrt(M) + sqrt(m)).

    Examples
    --------
    >>> sub = Subproblem(problem, rho=1.0, z=np.zeros((1, 5)))
    >>> y, _ = AcceleratedSteps(60, 0.5, momentum=0.4)(sub, np.ones((1, 5)), Key(0, 0), None)
    >>> print(np.abs(sub.grad(y)).max() < 1e-6)
    True
    """

    steps: int
    lr: Step
    momentum: Scalar

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        at_least_one("steps", self.steps)
        positive(self, "lr")

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Take the steps."""
        return run_gradient_steps(lambda part, x, first: self._descend(part, x, key), sub, start, self.steps), None

    def _descend(self, sub: Subproblem, x: Array, key: Key) -> Array:
        y = x
        for q in range(self.steps):
            new = y - step_size(self.lr, key.round, q) * sub.grad(y)
            y = new + self.momentum * (new - x)
            x = new
        return x


def newton_prox(problem: Problem, v: Points, step: Scalar) -> ClientPoints:
    """Proximal step argmin_x f_i(x) + ||x - v_i||^2/(2 step) by damped Newton, started at v.

    The subproblem must be strongly convex (step * weak-convexity constant < 1).

    Parameters
    ----------
    v : Points
    step : number or array ``(*batch, 1, 1)``
    """
    return newton(Subproblem(problem, rho=1 / step, z=v), v)

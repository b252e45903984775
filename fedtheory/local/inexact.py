"""Inexact local solvers: gradient steps until a criterion is met, or any point that meets it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from fedtheory.core.arrays import Array, like, namespace, squared_norm
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import positive
from fedtheory.core.numbers import at_least_one
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ClientPoints, Points
from fedtheory.local.solvers import Exact, Memoryless, Step, step_size
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class ToAccuracy(Memoryless):
    """Gradient steps until the squared gradient norm of the subproblem is at most ``epsilon`` (FedPD, condition (8)).

    Parameters
    ----------
    epsilon : number
        Threshold on the *squared* norm, per client.
    lr : number or array ``(*batch, 1, 1)``
    max_steps : int
        Most steps; a client that has not met the criterion by then keeps its last point.

    Examples
    --------
    >>> trace = run(FedPD(eta=1.0, local=ToAccuracy(1e-16, lr=0.5)), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    epsilon: float
    lr: Step
    max_steps: int = 10_000
    numeric_only: ClassVar[str | None] = "it stops on the norm of a gradient"

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        at_least_one("max_steps", self.max_steps)
        positive(self, "epsilon")
        positive(self, "lr")

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Take gradient steps; clients and runs that meet the criterion stop."""
        x, _ = self.count_steps(sub, start, key)
        return x, None

    def count_steps(self, sub: Subproblem, start: Array, key: Key) -> tuple[Array, Array]:
        """Return the answers, and how many steps each client took: ``(..., m)``."""
        xp = namespace(start, sub.z, sub.a)
        x = start
        g = sub.grad(x)
        x = x + 0 * g  # the full shape from the beginning
        steps = 0 * squared_norm(g)
        for q in range(self.max_steps):
            going = squared_norm(g) > self.epsilon
            if not bool(xp.any(going)):
                break
            x = xp.where(going[..., None], x - step_size(self.lr, key.round, q) * g, x)
            steps = steps + xp.astype(going, steps.dtype)
            g = sub.grad(x)
        return x, steps


@dataclass(frozen=True)
class Inexact(Memoryless):
    """Any points x_i at which the subproblem's gradient e_i is small: exact solutions with a_i - e_i in place of a_i.

    In a worst case e_i is chosen by the adversary, as a function of the client's subproblem and start; in a run it has a random direction
    and the largest norm that is allowed. `ToAccuracy` computes such answers.

    Parameters
    ----------
    epsilon : number, optional
        ||e_i||^2 <= epsilon for every client (FedPD, condition (8)). In the worst case over exchangeable clients it makes no difference
        to bound the mean over clients instead.
    gamma : number, optional
        ||e_i|| <= gamma times the norm of the subproblem's gradient at the start (FedProx's gamma-inexact answers).

    Examples
    --------
    >>> functions = FunctionClass(L=1.0, mu=0.1, zeta=1.0)
    >>> exact = worst_case(FedProx(1.0), functions, rounds=1).value
    >>> inexact = worst_case(FedProx(1.0, Inexact(epsilon=0.01)), functions, rounds=1).value
    >>> print(exact < inexact)  # every answer within epsilon is allowed
    True
    """

    epsilon: Any = None
    gamma: Any = None

    def __post_init__(self) -> None:
        """Refuse anything but one positive number."""
        if (self.epsilon is None) == (self.gamma is None):
            raise InvalidInput("Inexact takes one criterion: epsilon (absolute) or gamma (relative to the start)")
        positive(self, "gamma" if self.epsilon is None else "epsilon")

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Solve every client's subproblem up to an error."""
        e = self._error(sub, start, key)
        shifted = replace(sub, a=-e if sub.a is None else sub.a - e)
        return Exact()(shifted, start, key, None)

    def _error(self, sub: Subproblem, start: Array, key: Key) -> Array:
        short = getattr(sub.f, "short", None)
        if short is not None:
            asked = (
                start,
                sub.shift(0 * start, start),
                0 if sub.rho is None else sub.rho,
            )  # what makes up the subproblem
            return short(asked, self.epsilon if self.gamma is None else self.gamma * sub.grad(start))
        g = sub.grad(start)
        n = sub.f.n if sub.clients is None else sub.clients.n
        lots = key.client_uniform("errors", n, g.shape[-1], None if sub.clients is None else sub.clients.index)
        direction = like(lots - 0.5, g)
        largest = self.gamma**2 * squared_norm(g)[..., None] if self.epsilon is None else self.epsilon
        return direction * (largest / squared_norm(direction)[..., None]) ** 0.5

"""When a local solve is accurate enough: rules for `fedtheory.local.adaptive_gradient.Adaptive`.

A rule looks at the subproblem, the point, the gradient r there, the last two values and the round, and says for every client and
run whether it may stop: ``(..., m)`` of bools. Tolerances are numbers, arrays ``(*batch, 1)`` or functions of the round that
return either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from fedtheory.core.arrays import Array, Scalar, is_array, namespace, squared_norm
from fedtheory.core.duality import local_gap
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import positive
from fedtheory.local.subproblem import Subproblem

Tolerance = Any  # a number, an array (*batch, 1), or a function of the round


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """The state of a local solve, at which a stopping rule looks."""

    x: Array  # (..., m, d)
    gradient: Array  # (..., m, d)  of the subproblem at x
    value: Array  # (..., m)  of the subproblem at x
    previous: Array  # (..., m)  value one step before; infinite at the start


class Stop(Protocol):
    """A stopping rule."""

    def __call__(self, sub: Subproblem, at: Progress, round: int) -> Array:
        """Return who may stop: ``(..., m)``."""
        ...


def _at(tolerance: Tolerance, round: int) -> Any:
    return tolerance(round) if callable(tolerance) else tolerance


@dataclass(frozen=True)
class ResidualBound:
    """||r||^2 / (2 modulus) <= tolerance: a bound on a gap that needs no conjugate.

    What it bounds depends on the modulus (f_j mu-strongly convex, local problem f_j - nu <zeta_j, .> of DualFL):
    mu: the energy gap (mu + rho with a quadratic term); mu - nu: the primal-dual gap Gamma of equation (7), for nu < mu; nu: the
    dual error of ``DualFL(upload="dual")``, also for nu = mu. 1/2 gives `ToAccuracy`'s squared gradient norm.

    Parameters
    ----------
    tolerance : number, array ``(*batch, 1)``, or function of the round, for example `allowed_gap`
    modulus : number or array ``(*batch, 1)``

    Examples
    --------
    >>> solver = Adaptive(ResidualBound(1e-16, modulus=1.0))
    >>> trace = run(FedPD(eta=1.0, local=solver), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    tolerance: Tolerance
    modulus: Scalar

    def __post_init__(self) -> None:
        """Refuse a modulus that is not positive."""
        _positive(self, "modulus")

    def __call__(self, sub: Subproblem, at: Progress, round: int) -> Array:
        """Compare the squared residual."""
        return squared_norm(at.gradient) <= 2 * self.modulus * _at(self.tolerance, round)


@dataclass(frozen=True)
class DualityGap:
    """Gamma <= tolerance, the local primal-dual gap of DualFL, equation (7), from conjugates.

    For f_j - nu <zeta_j, .> it is the Fenchel-Young gap of g_j = f_j - (nu/2) ||.||^2 at theta and nu (zeta_j - theta), infinite
    outside the domain of g_j^*; see `fedtheory.core.duality.local_gap`. For nu equal to the strong convexity of f_j it can be infinite at
    every iterate of a convergent solver; `ResidualBound` with modulus mu - nu (nu < mu) or nu bounds it without conjugates. It is a
    difference of numbers of the size of g_j, so tolerances below their rounding are never met.

    Parameters
    ----------
    tolerance : as in `ResidualBound`
    nu : number
        The problem must give the conjugates of g_j (ability ``ridged``).

    Examples
    --------
    >>> solver = Adaptive(DualityGap(1e-10, nu=0.05))
    >>> trace = run(DualFL(nu=0.05, local=solver), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-6)
    True
    """

    tolerance: Tolerance
    nu: float

    def __post_init__(self) -> None:
        """Refuse a splitting parameter that is not positive."""
        positive(self, "nu")

    def __call__(self, sub: Subproblem, at: Progress, round: int) -> Array:
        """Compare the gap; the subproblem's linear term is -nu zeta_j."""
        if sub.a is None or sub.rho is not None:
            raise InvalidInput(
                "the local primal-dual gap is that of f_j - nu <zeta_j, .>: a linear term and no quadratic one"
            )
        return local_gap(sub.f, at.x, -sub.a / self.nu, self.nu) <= _at(self.tolerance, round)


@dataclass(frozen=True)
class EnergyChange:
    """|h(x_k) - h(x_{k-1})| <= tolerance |h(x_k)|, the rule of DualFL's experiments (tolerance 1e-12).

    It bounds no error: slow progress is taken for convergence.

    Examples
    --------
    >>> solver = Adaptive(EnergyChange(1e-14))
    >>> trace = run(FedPD(eta=1.0, local=solver), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-6)
    True
    """

    tolerance: Tolerance = 1e-12

    def __call__(self, sub: Subproblem, at: Progress, round: int) -> Array:
        """Compare the last two values."""
        xp = namespace(at.value)
        return xp.abs(at.value - at.previous) <= _at(self.tolerance, round) * xp.abs(at.value)


def _positive(owner: Any, name: str) -> None:
    value = getattr(owner, name)
    if is_array(value):
        if not bool(namespace(value).all(value > 0)):
            raise InvalidInput(f"{name} must be positive, got {value}")
    else:
        positive(owner, name)

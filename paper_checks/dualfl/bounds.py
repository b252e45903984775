"""DualFL's bounds with their constants, each once: functions of floats, arrays and symbols, from which sentences, proofs and runs take them.

r = sqrt(rho), q = 1 - r; V = V* = mean_j ||s_j*||^2. The dual starts with ||xi^0 - xi*||^2 = N V, and (29) is ||theta - theta*||^2 <= 2/(N nu) (E_d -
E_d*).
"""

from __future__ import annotations

from typing import Any

from fedtheory.core.errors import require
from fedtheory.proofs.symbolic import symbols
from paper_checks.formulas import exactly


def half(n: Any) -> Any:
    """What t_{n-1} is at least, for rho = 0."""
    return (n + 1) / 2


def plain(n: Any) -> Any:
    """Of V/nu^2, with rho = 0."""
    return 4 / (n + 1) ** 2


def plain_order(n: Any) -> Any:
    """The order that Theorem 3.2 and Proposition 6.2 print, of squared distances and of E_d(xi^n) - E_d*."""
    return 1 / n**2


def linear(n: Any, r: Any) -> Any:
    """Of V/nu^2, with rho > 0: what prod_{0<k<n} (1 - 1/t_k) is at most."""
    return (1 - r) ** (n - 1)


def dual_order(n: Any, r: Any) -> Any:
    """E_d(xi^n) - E_d* over the constant of Proposition 6.3."""
    return (1 - r) ** n


def models(share: Any, V: Any, nu: Any) -> Any:
    """||theta^(n) - theta*||^2 with exact local solves."""
    return share * V / nu**2


def inexact_models(share: Any, V: Any, nu: Any, N: Any, errors: Any) -> Any:
    """||theta^(n) - theta*||^2 with local gaps as in (8) or (9), whose ``errors`` add up."""
    return share * (V**0.5 + 2 * (2 / N) ** 0.5 * errors) ** 2 / nu**2


def errors_of_8(gamma: Any) -> Any:
    """sum_k sqrt(nu b_k) at most, b_k = (k + 1)^2 delta_k, where delta_k is N times the right side of (8)."""
    return 1 + 2 / gamma


def errors_of_9(gamma: Any, nu: Any) -> Any:
    """sum_k sqrt(nu delta_k/q^k) at most, where delta_k is N times the right side of (9)."""
    return nu**0.5 / (1 - (1 + gamma) ** -0.5)


def gradient_order(n: Any, r: Any) -> Any:
    """||grad E(theta^(n))|| - alpha ||theta^alpha|| over the constant of (14)."""
    return (1 - r) ** (n / 2)


def variates(n: Any, r: Any, V: Any) -> Any:
    """mean_j ||nu zeta_j^(n) - s_j*||^2 for n >= 2, rho in (0, nu/L] and exact local solves."""
    return 9 / r**2 * (1 - r) ** (n - 2) * V


def rounds_of_15(eps: Any, L: Any, R: Any, constant: Any, times: Any = 1) -> Any:
    """The right side of (15), with ``times`` log(1/eps) for log(1/eps); by SymPy's functions."""
    sympy = require("sympy", "bounds in symbols")
    return (1 + 2 * sympy.sqrt(1 + 2 * L * R / eps)) * (times * sympy.log(1 / eps) + constant)


def least_gradient_squared(n: Any) -> Any:
    """min ||grad E||^2 over points of the chain (mu = 0, L = 1, more than n links) whose coordinates after the n-th are zero: 1/(16 S).

    grad E = (T x - e_1)/4 with T = tridiag(-1, 2, -1) in all columns but the last. v = (1, ..., n+1) is orthogonal to its first n, so that
    ||T x - e_1|| >= <v, e_1>/||v||, reached by some x; S = ||v||^2 = (n+1)(n+2)(2n+3)/6.
    """
    return 6 / (16 * (n + 1) * (n + 2) * (2 * n + 3))


def steps_of_8(n: Any, N: Any, gamma: Any) -> Any:
    """Local iterations of a round, for (8) and a solver of complexity 1/eps."""
    return N * (n + 1) ** (4 + gamma)


def steps_of_8_by_accuracy(eps: Any, N: Any, gamma: Any) -> Any:
    """The same by the target accuracy of the outer iterations, of which there are eps^(-1/2)."""
    return N * eps ** (-2 - gamma / 2)


def inverse_of_9(n: Any, r: Any, N: Any, gamma: Any) -> Any:
    """What the logarithm of Theorem 3.5 is taken of, for (9): N (1 + gamma)^n, and n times -log(1 - r) is of order n r."""
    return N * (1 + gamma) ** n * (1 - r) ** (-n)


# ---- in symbols --------------------------------------------------------------------------------------------------------

_GIVEN: Any = dict(
    zip(["n", "k", "N", "nu", "r", "V", "gamma", "L"], symbols("n k N nu r V gamma L", positive=True), strict=True)
)


def show(bound: Any, *names: str, **values: Any) -> str:
    """A bound as sentences show it: of symbols with these names, and of values."""
    given = {name: _GIVEN[name] for name in names} | values
    return str(exactly(bound(**given))).replace("**", "^")


def show_models(share: Any, *names: str) -> str:
    """||theta^(n) - theta*||^2 with exact local solves as sentences show it."""
    found = models(share(*(_GIVEN[name] for name in names)), _GIVEN["V"], _GIVEN["nu"])
    return str(found).replace("**", "^")

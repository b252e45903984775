"""DualFL's bounds with their constants, each once: functions of floats, arrays and symbols, from which sentences, proofs and runs take them.

r = sqrt(rho), q = 1 - r; V = V* = mean_j ||s_j*||^2. The dual starts with ||xi^0 - xi*||^2 = N V, and (29) is ||theta - theta*||^2 <= 2/(N nu) (E_d -
E_d*). What ends in ``_follows`` asks SymPy whether a bound is what the argument beside it leads to.
"""

from __future__ import annotations

from typing import Any

from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.core.errors import require
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
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


def gradient_constant(L: Any, alpha: Any, V: Any, r: Any) -> Any:
    """The constant of (14) with exact local solves."""
    return L / alpha * (V / (1 - r)) ** 0.5


def variates(n: Any, r: Any, V: Any, nu: Any, L: Any) -> Any:
    """mean_j ||nu zeta_j^(n) - s_j*||^2 for n >= 2, rho in (0, nu/L] and exact local solves."""
    return 9 * L / nu * (1 - r) ** (n - 2) * V


def product_after(n: Any, r: Any, first: Any) -> Any:
    """What prod_{0<k<n} (1 - 1/t_k) is at most for n > first: `plain` up to there, and 1 - r a round after it."""
    return plain(first) * (1 - r) ** (n - first)


def rounds_of_15(eps: Any, L: Any, R: Any, constant: Any, times: Any = 1) -> Any:
    """The right side of (15), with ``times`` log(1/eps) for log(1/eps); by SymPy's functions."""
    sympy = require("sympy", "bounds in symbols")
    return (1 + 2 * sympy.sqrt(1 + 2 * L * R / eps)) * (times * sympy.log(1 / eps) + constant)


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


def plain_follows() -> bool:
    """t_0 = 1 and t_n >= t_{n-1} + 1/2 give `half`; E_d - E_d* <= N V/(2 nu t_{n-1}^2) and (29) then give `plain`."""
    n, N, nu, V = (_GIVEN[name] for name in ("n", "N", "nu", "V"))
    by_29 = 2 / (N * nu) * N * V / (2 * nu * half(n) ** 2)
    return (
        compare(exactly(half(1)), "==", 1)
        and is_zero(exactly(half(n + 1) - half(n)) - exactly(0.5))
        and is_zero(by_29 - models(plain(n), V, nu))
    )


def plain_order_follows() -> bool:
    """`plain` is below four times the order, for every n >= 1."""
    n = _GIVEN["n"]
    return plain_follows() and is_positive((4 * plain_order(n) - plain(n)).factor())


def linear_follows() -> bool:
    """One factor 1 - 1/t <= 1 - r more in every round from n = 1 on gives `linear`; E_d - E_d* <= N V prod/(2 nu) and (29) bound models."""
    n, N, nu, r, V = (_GIVEN[name] for name in ("n", "N", "nu", "r", "V"))
    more = (linear(n + 1, r) / linear(n, r)).simplify() - (1 - 1 / (1 / r))
    by_29 = 2 / (N * nu) * linear(n, r) * N * V / (2 * nu)
    first = linear(n, r).subs(n, 1)
    return compare(first, "==", 1) and is_zero(more) and is_zero(by_29 - models(linear(n, r), V, nu))


def inexact_models_follow() -> bool:
    """(29) with E_d - E_d* <= share (sqrt(N V) + 2 sqrt(2) errors)^2/(2 nu), the square of Psi_n by the recursion."""
    N, nu, V = (_GIVEN[name] for name in ("N", "nu", "V"))
    share, errors = symbols("share errors", positive=True)
    by_29 = 2 / (N * nu) * share * ((N * V) ** 0.5 + 2 * 2**0.5 * errors) ** 2 / (2 * nu)
    return is_zero(exactly(by_29 - inexact_models(share, V, nu, N, errors)))


def errors_of_8_follow() -> bool:
    """The terms fall from 1, and -(2/gamma) (k + 1)^(-gamma/2), which tends to 0, has them as its derivative."""
    k, N, nu, gamma = (_GIVEN[name] for name in ("k", "N", "nu", "gamma"))
    term = (nu * (k + 1) ** 2 * N * exactly(allowed_gap(N, nu, gamma)(k))) ** exactly(0.5)
    whole = -2 / gamma * (k + 1) ** (-gamma / 2)
    return (
        is_zero(term - whole.diff(k))
        and is_positive(-(whole.diff(k, 2).simplify()))
        and is_zero(errors_of_8(gamma) - term.subs(k, 0) + whole.subs(k, 0))
    )


def gradient_order_follows() -> bool:
    """L ||theta^(n) - theta^alpha|| by `linear` for models, with nu = alpha."""
    n, r, V, L = (_GIVEN[name] for name in ("n", "r", "V", "L"))
    alpha = symbols("alpha", positive=True)
    distance = models(linear(n, r), V, alpha) ** exactly(0.5)
    found = exactly(gradient_constant(L, alpha, V, r) * gradient_order(n, r)) ** 2 - (L * distance) ** 2
    return is_zero(found.simplify())


def variates_follow() -> bool:
    """With e_n^2 = 2 L N V q^{n-1}/(2 nu)/N at nu z_j^(n) = y_j^n, ||y^n + beta (y^n - y^{n-1}) - s*|| <= 2 e_n + e_{n-1} <= 3 e_{n-1}."""
    n, N, nu, r, V, L = (_GIVEN[name] for name in ("n", "N", "nu", "r", "V", "L"))
    before = 2 * L * N * V * linear(n - 1, r) / (2 * nu) / N
    return linear_follows() and is_zero((2 + 1) ** 2 * before - variates(n, r, V, nu, L))


def product_follows() -> bool:
    """With first = 1/r or more `product_after` is at most 4 r^2 (1 - r)^(n - first), and (1 - r)^(-1/r) is 4 at r = 1/2."""
    n, r = (_GIVEN[name] for name in ("n", "r"))
    first = symbols("first", positive=True)
    slack = 4 * r**2 - plain(first).subs(first, 1 / r)
    return (
        is_zero(product_after(n, r, first) / plain(first) - (1 - r) ** (n - first))
        and is_positive(slack.factor())
        and compare((1 - exactly(0.5)) ** (-2), "==", 4)
    )


def three_halves_follow() -> bool:
    """C = L sqrt(32 V rho)/alpha with rho <= alpha/L and alpha = eps/(2 R): log(2 C) = (1/2) log(1/eps) + log(2 sqrt(64 L R V))."""
    sympy = require("sympy", "bounds in symbols")
    L, R, V, eps, t, C = symbols("L R V eps t C", positive=True)
    alpha = eps / (2 * R)
    constant = L * sympy.sqrt(32 * V * alpha / L) / alpha
    split = sympy.expand_log(
        sympy.log(2 * constant) - sympy.log(1 / eps) / 2 - sympy.log(2 * sympy.sqrt(64 * L * R * V))
    )
    in_t = (1 + 2 * t) * (sympy.log(1 / eps) + sympy.log(2 * C)) - (1 + 2 * t) * sympy.log(2 * C / eps)
    whole = rounds_of_15(eps, L, R, sympy.log(2 * sympy.sqrt(64 * L * R * V)), sympy.Rational(3, 2))
    by_c = rounds_of_15(eps, L, R, sympy.log(2 * constant))
    return all(is_zero(sympy.expand_log(sympy.expand(e))) for e in (split, in_t, whole - by_c))

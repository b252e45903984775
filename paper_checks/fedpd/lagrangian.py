"""The algebra of FedPD's augmented Lagrangian, in symbols.

L_i(x, x_0, lam) = f_i(x) + <lam, x - x_0> + ||x - x_0||^2/(2 eta). Every expression below is a quadratic form in vectors and
is linear in values of f_i, so an identity that holds for real numbers holds for vectors of any dimension.
"""

from __future__ import annotations

from typing import Any

from fedtheory.core.errors import require
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.fedpd.common import certainly_nonnegative


def local_lagrangian(f: Any, x: Any, x0: Any, lam: Any, eta: Any) -> Any:
    """Return the local augmented Lagrangian with f standing for f_i(x)."""
    return f + lam * (x - x0) + (x - x0) ** 2 / (2 * eta)


def dual_step_identity() -> bool:
    """With lam+ = lam + (x+ - x0)/eta the dual step raises the Lagrangian by eta (lam+ - lam)^2."""
    f, x, x0, lam, eta = symbols("f x x0 lam eta")
    new = lam + (x - x0) / eta
    change = local_lagrangian(f, x, x0, new, eta) - local_lagrangian(f, x, x0, lam, eta)
    return is_zero(change - eta * (new - lam) ** 2)


def upload_step_identity() -> bool:
    """With x0+ = x + eta lam the step in x0 lowers the Lagrangian by (x0+ - x0)^2/(2 eta)."""
    f, x, x0, lam, eta = symbols("f x x0 lam eta")
    new = x + eta * lam
    change = local_lagrangian(f, x, new, lam, eta) - local_lagrangian(f, x, x0, lam, eta)
    return is_zero(change + (new - x0) ** 2 / (2 * eta))


def server_step_identity(n: int) -> bool:
    """With x0+ = mean_i(x_i + eta lam_i) the common step lowers mean_i L_i by (x0+ - x0)^2/(2 eta)."""
    x, lam = symbols(f"x1:{n + 1}"), symbols(f"l1:{n + 1}")
    x0, eta = symbols("x0 eta")
    new = sum(a + eta * b for a, b in zip(x, lam, strict=True)) / n
    change = sum(
        local_lagrangian(0, a, new, b, eta) - local_lagrangian(0, a, x0, b, eta) for a, b in zip(x, lam, strict=True)
    )
    return is_zero(change / n + (new - x0) ** 2 / (2 * eta))


def local_step_form(factor: Any = 2, error: Any = 1) -> tuple[Any, tuple[Any, Any]]:
    """Right side minus left side of the descent of the x-step with an error e, after A1: a quadratic form in (x+ - x, e).

    A1 gives f(x+) - f(x) <= g (x+ - x) + (L/2)(x+ - x)^2 with g = grad f(x+), and e = g + lam + (x+ - x0)/eta. The claim is
    L_i(x+) - L_i(x) <= -((1 - factor u)/(2 eta)) (x+ - x)^2 + error e^2/(2L).
    """
    x, step, x0, g, e, eta, L = symbols("x step x0 g e eta L", positive=True)
    x_new = x + step
    lam = e - g - (x_new - x0) / eta
    left = local_lagrangian(g * step + L / 2 * step**2, x_new, x0, lam, eta) - local_lagrangian(0, x, x0, lam, eta)
    right = -(1 - factor * L * eta) / (2 * eta) * step**2 + error * e**2 / (2 * L)
    return right - left, (step, e)


def local_step_holds(factor: Any = 2, error: Any = 1) -> bool:
    """Whether that form a s^2 + c s e + b e^2 is a sum of squares, for all L and eta: a, b >= 0 and 4 a b >= c^2."""
    sympy = require("sympy", "closed forms")
    form, (step, e) = local_step_form(sympy.nsimplify(factor), sympy.nsimplify(error))
    terms = sympy.Poly(sympy.expand(form), step, e)
    if set(terms.monoms()) - {(2, 0), (1, 1), (0, 2)}:
        return False
    a, c, b = (terms.coeff_monomial(m) for m in (step**2, step * e, e**2))
    return all(certainly_nonnegative(v) for v in (a, b, 4 * a * b - c**2))


def exact_step_slack() -> Any:
    """The same for an exact solve (e = 0) with the sharper factor 1 - u: no slack is left at all."""
    x, x_new, x0, g, eta, L = symbols("x x_new x0 g eta L")
    lam = -g - (x_new - x0) / eta
    step = x_new - x
    left = local_lagrangian(g * step + L / 2 * step**2, x_new, x0, lam, eta) - local_lagrangian(0, x, x0, lam, eta)
    return left + (1 - L * eta) / (2 * eta) * step**2


def value_below_lagrangian_slack(factor: Any) -> Any:
    """mean L_i - factor ((1 - 2u)/eta) w^2 + e^2/(2L) minus A1's upper bound of f_i(x_0), minus the square it should be.

    With lam_i = -grad f_i(x_i) + e and w = x_i - x_0, A1 gives f_i(x_0) <= f_i(x_i) - g w + (L/2) w^2. For factor = 1/2 the
    difference is (L/2)(w + e/L)^2.
    """
    w, e, g, eta, L = symbols("w e g eta L")
    lagrangian = (-g + e) * w + w**2 / (2 * eta)
    upper = -g * w + L / 2 * w**2
    claimed = lagrangian - factor * (1 - 2 * L * eta) / eta * w**2 + e**2 / (2 * L)
    return claimed - upper - L / 2 * (w + e / L) ** 2

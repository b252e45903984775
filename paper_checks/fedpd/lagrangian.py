"""The algebra of FedPD's augmented Lagrangian, in symbols.

L_i(x, x_0, lam) = f_i(x) + <lam, x - x_0> + ||x - x_0||^2/(2 eta). Every expression below is a quadratic form in vectors and
is linear in values of f_i, so an identity that holds for real numbers holds for vectors of any dimension.
"""

from __future__ import annotations

from typing import Any

from fedtheory.proofs.symbolic import is_zero, symbols


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


def local_step_slack() -> Any:
    """Right side minus left side of the descent of the x-step with an error e, after A1; a square by Young's inequality.

    A1 gives f(x+) - f(x) <= g (x+ - x) + (L/2)(x+ - x)^2 with g = grad f(x+), and e = g + lam + (x+ - x0)/eta. The claim is
    L_i(x+) - L_i(x) <= -((1 - 2u)/(2 eta)) (x+ - x)^2 + e^2/(2L).
    """
    x, x_new, x0, lam, g, eta, L = symbols("x x_new x0 lam g eta L")
    step = x_new - x
    e = g + lam + (x_new - x0) / eta
    left = local_lagrangian(g * step + L / 2 * step**2, x_new, x0, lam, eta) - local_lagrangian(0, x, x0, lam, eta)
    right = -(1 - 2 * L * eta) / (2 * eta) * step**2 + e**2 / (2 * L)
    return right - left - L / 2 * (step - e / L) ** 2


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

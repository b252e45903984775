"""The constants and right sides that several sections share, as functions of u = L eta and of what else they depend on.

Those of Theorem 1 as it is printed and as it is proved here, with exact local solves and with errors, and C_3 and C(p) of Theorem 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np


# ---- Theorem 1 -------------------------------------------------------------------------------------------------------
def allowed_on_average(D_0: Any, epsilon: Any, T: Any, C_2: Any, C_4: Any) -> Any:
    """Theorem 1's right side."""
    return C_2 / T * D_0 + C_4 * epsilon


def paper_constants(L: Any, eta: Any, repaired: bool = False) -> dict[str, Any]:
    """Return the constants of the paper's Appendix B-C, exact in fractions; repaired: C_2 >= max(4 L^2, 2) C_7."""
    u = L * eta
    c6 = 3 * max(((1 + u) / eta) ** 2, (1 + 2 * eta) ** 2, u**2)
    c7 = 2 * c6 / min((1 - 2 * u - 4 * u**2) / (2 * eta), 1 / (2 * eta), (1 + 8 * u) / (2 * L))
    c2 = (max(4 * L**2, 2) if repaired else 4 * L**2) * c7
    return {"C_2": c2, "C_4": c2 * (1 + 8 * u) / L, "C_5": 8 * c2, "C_6": c6, "C_7": c7}


def theorem_one_cases(u: Any) -> tuple[Any, Any]:
    """What the factor of the corrected Theorem 1 has a maximum of, u = L eta."""
    return 1, u**2 / ((1 - 2 * u) * (1 + u))


def theorem_one_factor(u: Any, eta: Any, strength: Any = 4, worst: Any = None) -> Any:
    """Factor of f(x^0) - f(x_0^T) in the corrected Theorem 1: (4 (1+u)^2/eta) max{1, u^2/((1-2u)(1+u))}, u = L eta; exact in fractions.

    ``worst`` stands for the maximum where there are symbols.
    """
    return strength * (1 + u) ** 2 / eta * (np.maximum(*theorem_one_cases(u)) if worst is None else worst)


def cases_with_errors(u: Any, q: Any = None) -> tuple[Any, Any]:
    """What K of `factor_with_errors` has a maximum of; ``q`` = 1 - 2u - 4u^2."""
    return 1, u**2 / (1 - 2 * u - 4 * u**2 if q is None else q)


def factor_with_errors(u: Any, eta: Any, strength: Any = 4, worst: Any = None) -> Any:
    """K = (8 (1+u)^2/eta) max{1, u^2/(1-2u-4u^2)}; ``worst`` stands for the maximum where there are symbols."""
    return 2 * strength * (1 + u) ** 2 / eta * (max(cases_with_errors(u)) if worst is None else worst)


def constants_with_errors(L: Any, eta: Any, K: Any = None, accuracy: Any = 1) -> tuple[Any, Any]:
    """C_2 = K + 2L and C_4 = K (1/L + 8 eta) + 16 (1+u)^2 + 4 of Theorem 1 with errors of local solves."""
    u = L * eta
    K = factor_with_errors(u, eta) if K is None else K
    return K + 2 * L, accuracy * (K * (1 / L + 8 * eta) + 16 * (1 + u) ** 2 + 4)


# ---- Theorem 3 -------------------------------------------------------------------------------------------------------
def eigenvalue(p: Any, u: Any) -> Any:
    """C_3, which is C_8, too: the eigenvalue of A/(1 - u) that is not 0."""
    return (p * (1 + u) + u) / (1 - u)


def coefficient(p: Any, u: Any, eta: Any, c5: Any, last: Any = None, N: Any = 2) -> Any:
    """C(p), the factor of G^2 in (12), by default with (N-1)/N = 1/2; any arithmetic with ``**``.

    ``last`` stands for (1 - C_3^(1/(1-p)))^2, which is no fraction; it is at most one where C_3 < 1.
    """
    if last is None:
        last = (1 - eigenvalue(p, u) ** (1 / (1 - p))) ** 2
    other = (1 + u) ** 2 * (2 * u + p * (3 + u)) ** 2 / (1 - 2 * u - p * (1 + u)) ** 2
    return eta**2 * (1 - p) * (N - 1) / N * c5 * last * p**2 * other

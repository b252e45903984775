"""The paper's potential (10), its constants C_1 to C_7 and the right sides of its bounds, as functions of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.claims import dot, norm2
from fedtheory.measures import potentials


def potential(eta: Any, values: Any, r: Any, x: Any, y: Any, g: Any) -> Any:
    """D(x, {y_i}, {g_i}) of (10), where mean_i f_i(y_i) = ``values`` and R(x) = ``r``."""
    return values + r + dot(g, x - y) + norm2(x - y) / (2 * eta)


def c2(p: Any) -> Any:
    """C_2 as printed below (71), which is negative for eta < 1/(2L)."""
    return p.L**2 * p.eta + p.L / 2 - 1 / (2 * p.eta)


@dataclass(frozen=True)
class Constants:
    """Theorem 2's constants for given L, eta, KL constant c and exponent theta; C_1 and C_2 as corrected unless ``printed``.

    C_1 = (1/eta + eta L^2)^2, printed 4 (eta L^2 + eta^2 L^4 + 1/eta + L^2); C_2 = (1 - 2 L eta)(1 + L eta)/(2 eta), printed with the other
    sign, which is not followed here: no root could be taken. Exact in fractions where no power is asked for.
    """

    L: Any
    eta: Any
    c: Any = 1
    theta: Any = Fraction(1, 2)

    @property
    def c1(self) -> Any:
        """C_1, corrected."""
        return (1 / self.eta + self.eta * self.L**2) ** 2

    @property
    def c1_printed(self) -> Any:
        """C_1 as printed below (70)."""
        return 4 * (self.eta * self.L**2 + self.eta**2 * self.L**4 + 1 / self.eta + self.L**2)

    @property
    def c2(self) -> Any:
        """C_2, corrected."""
        return potentials.fedslr_decrease(self.eta, self.L)[0]

    @property
    def c3(self) -> Any:
        """C_3 = (1 + eta)(L + 1/eta)."""
        return (1 + self.eta) * (self.L + 1 / self.eta)

    @property
    def c4(self) -> Any:
        """C_4 = C_2 / (C_3 c (1 - theta))^2."""
        return self.c2 / (self.c3 * self.c * (1 - self.theta)) ** 2

    @property
    def c5(self) -> Any:
        """C_5 = sqrt(C_1/C_2) ((2 theta - 1) C_4)^{1/(2 - 4 theta)}."""
        return c5_of(self.c1, self.c2, self.c4, self.theta)


def c5_of(c1: Any, c2: Any, c4: Any, theta: Any) -> Any:
    """C_5 from the constants before it."""
    return bound_72(c1, c2, 1) * ((2 * theta - 1) * c4) ** (1 / (2 - 4 * theta))


def bound_72(c1: Any, c2: Any, r: Any) -> Any:
    """(72)'s right side."""
    return (c1 * r / c2) ** 0.5


def bound_12(c1: Any, c2: Any, c4: Any, r: Any, n: Any) -> Any:
    """(12)'s right side, n rounds after the residual r."""
    return bound_72(c1, c2, r * (1 - c4) ** n)


def bound_13(c5: Any, theta: Any, T: Any) -> Any:
    """(13)'s right side as printed."""
    return c5 * T ** -(4 * theta - 2)


def bound_13_corrected(c5: Any, theta: Any, T: Any) -> Any:
    """(13)'s right side with the exponent of the step before it."""
    return c5 * T ** (-1 / (4 * theta - 2))


def c6(L: Any, lr: Any) -> Any:
    """C_6."""
    return 1 / (lr - (L + 1) / 2 * lr**2)


def c7(L: Any, eta: Any, start: Any, first: Any, N: int) -> Any:
    """C_7 as printed, with the minimiser 0 and D_0 - D* = ``first``."""
    half = Fraction(N * (N + 1), 2) if isinstance(L, Fraction) else N * (N + 1) / 2
    return (half + 1) * start**2 + half * eta * first + L**2


def right_of_14(gap: Any, s2: Any, T: Any, K: Any, c6: Any, c7: Any) -> Any:
    """(14)'s right side, for phi_i(w*, p_0) - phi_i(w*, p*) and sigma^2."""
    return c6 * (2 * gap / (T * K) + right_of_100(c7, T) + (2 / c6 + 1) * s2)


def right_of_100(c7: Any, T: Any) -> Any:
    """(100)'s right side."""
    return c7 / T

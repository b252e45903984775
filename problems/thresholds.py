"""Thresholds h_t(x) = 1[x >= t] on the line: the constants of SAFARI's Theorems 2 and 3 in closed form.

The target threshold is t*. With labels that follow it without noise, the excess error of h_t under a law is the law's mass between
t and t*; with noise of exponent kappa it is less, near t* most of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput


@dataclass(frozen=True)
class Law:
    """A law on the line with a piecewise constant density; exact in fractions.

    Parameters
    ----------
    edges : rising numbers e_0 < ... < e_k
    heights : k numbers, not negative
        Density on [e_{j-1}, e_j]; zero outside [e_0, e_k].
    """

    edges: tuple[Any, ...]
    heights: tuple[Any, ...]

    def __post_init__(self) -> None:
        """Refuse what is not a density."""
        widths = [b - a for a, b in zip(self.edges, self.edges[1:], strict=False)]
        if len(widths) != len(self.heights) or min(widths, default=0) <= 0 or min(self.heights) < 0:
            raise InvalidInput(
                f"expected rising edges and one height >= 0 between two of them, got edges {self.edges} and heights {self.heights}"
            )
        total = sum(w * h for w, h in zip(widths, self.heights, strict=True))
        if abs(total - 1) > 1e-12:  # exactly 1 for fractions, up to rounding for floats
            raise InvalidInput(f"the density integrates to {total}, expected 1")

    def mass(self, s: Any, t: Any) -> Any:
        """Mass between s and t, in either order."""
        low, high = min(s, t), max(s, t)
        pieces = zip(self.edges, self.edges[1:], self.heights, strict=False)
        return sum(h * max(0, min(b, high) - max(a, low)) for a, b, h in pieces)

    def density(self, x: Any, side: int) -> Any:
        """Density just right (side 1) or just left (side -1) of x."""
        for a, b, h in zip(self.edges, self.edges[1:], self.heights, strict=False):
            if (a <= x < b) if side > 0 else (a < x <= b):
                return h
        return 0


def uniform(a: Any, b: Any) -> Law:
    """The uniform law on [a, b]."""
    return Law((a, b), (1 / Fraction(b - a) if isinstance(b - a, int | Fraction) else 1 / (b - a),))


def mixture(weight: Any, first: Law, second: Law) -> Law:
    """Return weight * first + (1 - weight) * second: the law of a pooled sample (SAFARI: Q = lambda_1 D + lambda_2 P)."""
    edges = tuple(sorted({*first.edges, *second.edges}))
    heights = (weight * first.density(e, 1) + (1 - weight) * second.density(e, 1) for e in edges[:-1])
    return Law(edges, tuple(heights))


def relatedness(target: Law, pooled: Law, star: Any, low: Any, high: Any) -> Any:
    """Return the least alpha with |eps_P(h_t) - eps_Q(h_t)| <= alpha * eps_Q(h_t) for all thresholds t in [low, high].

    Assumption 2 with beta = 1 for labels without noise: eps is a law's mass between t and t* (``star``). Infinity if some h_t errs
    under the target law P and not under the pooled law Q. Away from t*, eps_P / eps_Q is a monotone function of t between the
    edges of the densities, so the supremum is found at edges, and near t* as a ratio of densities.

    For P uniform on [a, b], Q uniform on [a', b'] inside it and t* in [a', b'], thresholds in [a', b'] give
    1 - (b' - a')/(b - a), as SAFARI's example says; thresholds outside need more. For a mixture Q of D and P the value is at most
    max(1, lambda_1/lambda_2) (SAFARI-X5).
    """
    largest: Any = 0
    for side, end in ((1, high), (-1, low)):
        ahead = sorted({*target.edges, *pooled.edges}, key=lambda e: side * e)
        inside = [e for e in ahead if side * star < side * e < side * end]
        for t in (star, *inside, end) if side * end > side * star else ():
            p, q = target.mass(t, star), pooled.mass(t, star)
            if p == q == 0 and t != end:  # nothing lies between yet: the limit from further out
                p, q = target.density(t, side), pooled.density(t, side)
            if q == 0 < p:
                return inf
            if q > 0:
                largest = max(largest, abs(p - q) / q)
    return largest


@dataclass(frozen=True)
class NoisyThreshold:
    """X uniform on [0, 1],  P(Y = 1 | x) = 1/2 + sign(x - t*) min(1, |2 (x - t*)|^{kappa - 1}) / 2.

    kappa = 1 has no noise. Within 1/2 of t* the excess error of h_t is 2^{kappa-1} |t - t*|^kappa / kappa, beyond it grows with slope
    one; so P[h_t != h*] = |t - t*| <= alpha * excess^beta with beta = 1/kappa (Assumption 1).

    Parameters
    ----------
    kappa : number >= 1
    star : number in [0, 1]
        t*.
    """

    kappa: float
    star: float = 0.5

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if not self.kappa >= 1 or not 0 <= self.star <= 1:
            raise InvalidInput(f"expected kappa >= 1 and 0 <= star <= 1, got kappa={self.kappa}, star={self.star}")

    def positive(self, x: Any) -> Any:
        """P(Y = 1 | x), of a number or an array."""
        u = x - self.star
        return 0.5 + np.sign(u) * np.minimum(1, np.abs(2 * u) ** (self.kappa - 1)) / 2

    def excess(self, t: float) -> float:
        """Excess error of h_t."""
        u = abs(t - self.star)
        near = min(u, 0.5)
        return float(2 ** (self.kappa - 1) * near**self.kappa / self.kappa + (u - near))

    def noise(self) -> tuple[float, float]:
        """Return (alpha, beta), alpha the least for beta = 1/kappa: (kappa / 2^{kappa-1})^{1/kappa} if t* = 1/2.

        |t - t*| / excess^{1/kappa} is constant within 1/2 of t* and rises beyond, so it is largest at the far end.
        """
        far = max(self.star, 1 - self.star)
        return far / self.excess(self.star + far) ** (1 / self.kappa), 1 / self.kappa


@dataclass(frozen=True)
class ThinnedThreshold:
    """P uniform on [0, 1], Q with density (1 + g) |2 (x - 1/2)|^g, t* = 1/2, labels without noise.

    eps_P = |t - 1/2| and eps_Q = |2 (t - 1/2)|^{1+g} / 2, so Assumption 2 holds with beta = 1/(1+g) and alpha = 2^{beta-1}, approached
    as t tends to 1/2 (for g > 0; for g = 0 the laws agree).
    """

    g: float

    def __post_init__(self) -> None:
        """Refuse a negative exponent."""
        if not self.g >= 0:
            raise InvalidInput(f"g must not be negative, got {self.g}")

    def excess(self, t: float) -> tuple[float, float]:
        """eps_P and eps_Q of h_t."""
        u = abs(t - 0.5)
        return u, float((2 * u) ** (1 + self.g) / 2)

    def relatedness(self) -> tuple[float, float]:
        """Return (alpha, beta)."""
        beta = 1 / (1 + self.g)
        return 2 ** (beta - 1) if self.g > 0 else 0.0, beta


def mean_worst_error(star: float, samples: list[tuple[Law, int]]) -> float:
    """Mean over the sample of the largest |t - t*| among thresholds in [0, 1] that make no error on it; labels without noise.

    Under P uniform on [0, 1] this is the error of the worst empirical risk minimiser. ``samples``: laws on [0, 1] and how many draws
    of each. The error exceeds u when no draw fell within u on one side of t*: an integral of inclusion and exclusion,

        int_0^1 prod (1 - mass(t*-u, t*))^n 1[u < t*] + prod (1 - mass(t*, t*+u))^n 1[u < 1-t*]
                - prod (1 - mass(t*-u, t*+u))^n 1[u < min(t*, 1-t*)] du.
    """
    from scipy.integrate import quad

    def empty(low: float, high: float) -> float:
        left = 1.0
        for law, n in samples:
            left *= max(0.0, 1 - float(law.mass(low, high))) ** n
        return left

    breaks = {abs(float(e) - star) for law, _ in samples for e in law.edges}

    def integral(function: Any, end: float) -> float:
        marks = sorted({0.0, end, *(b for b in breaks if 0 < b < end)})
        # a steep decay near zero is resolved by halving towards it
        marks = sorted({*marks, *(end / 2**j for j in range(1, 20))})
        return sum(
            float(quad(function, a, b, epsabs=1e-15, epsrel=1e-12)[0]) for a, b in zip(marks, marks[1:], strict=False)
        )

    return (
        integral(lambda u: empty(star - u, star), star)
        + integral(lambda u: empty(star, star + u), 1 - star)
        - integral(lambda u: empty(star - u, star + u), min(star, 1 - star))
    )

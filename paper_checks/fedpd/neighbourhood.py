"""Remark 2 for convex clients: FedAvg with a constant step reaches a neighbourhood of the minimiser, derived for every n, d, Q and horizon.

Let f_i be convex and L-smooth, x* a minimiser of f, zeta^2 = mean ||grad f_i(x*)||^2, P = sum_{q<Q} q^2, lr <= 1/L and lr^2 L^2 P <= 1/4. Then
(1/R) sum_{r<R} (f(x^r) - f*) <= ||x^0 - x*||^2/(lr R) + 2 lr^2 L P zeta^2. Every expression is a quadratic form in vectors and linear in values,
so an identity that holds for numbers holds in every dimension; means over clients are linear, so two and three clients stand for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.fedpd.common import certainly_nonnegative, rational


def _mean(values: Any) -> Any:
    return sum(values) / len(values)


def local_steps_descend(n: int) -> bool:
    """Derive ||ybar' - x*||^2 <= ||ybar - x*||^2 - 2 lr (f(ybar) - f*) + lr L mean ||y_i - ybar||^2 for a local step of all, lr <= 1/L.

    Premises, 2 lr times their means: (i) f_i(x*) >= f_i(y_i) + <g_i, x* - y_i> + ||g_i - g_i*||^2/(2L), (ii) f_i(ybar) <= f_i(y_i) +
    <g_i, ybar - y_i> + (L/2) ||ybar - y_i||^2. What remains is lr (1/L - lr) mean ||g_i - g_i*||^2 and lr^2 times a variance, as mean g_i* = 0.
    """
    lr, L, star = symbols("lr L star", positive=True)
    y, g, at_y, at_mean, at_star = (symbols(f"{name}1:{n + 1}") for name in ("y", "g", "fy", "fbar", "fstar"))
    own = symbols(f"s1:{n}")
    g_star = [*own, -sum(own)]  # mean zero at the minimiser
    ybar, gbar = _mean(y), _mean(g)
    first = _mean(
        [
            fs - fy - gi * (star - yi) - (gi - gs) ** 2 / (2 * L)
            for fs, fy, gi, yi, gs in zip(at_star, at_y, g, y, g_star, strict=True)
        ]
    )
    second = _mean(
        [
            fy + gi * (ybar - yi) + L / 2 * (ybar - yi) ** 2 - fb
            for fy, gi, yi, fb in zip(at_y, g, y, at_mean, strict=True)
        ]
    )
    conclusion = (
        (ybar - star) ** 2
        - 2 * lr * (_mean(at_mean) - _mean(at_star))
        + lr * L * _mean([(yi - ybar) ** 2 for yi in y])
        - (ybar - lr * gbar - star) ** 2
    )
    apart = [gi - gs for gi, gs in zip(g, g_star, strict=True)]
    squares = _mean([a**2 for a in apart])
    variance = _mean([(a - _mean(apart)) ** 2 for a in apart])
    remainder = lr * (1 / L - lr) * squares + lr**2 * variance
    return is_zero(conclusion - 2 * lr * (first + second) - remainder)


def gradients_shrink() -> bool:
    """Derive ||g(y - lr g(y))|| <= ||g(y)|| for lr <= 2/L: from <g' - g, y' - y> >= ||g' - g||^2/L, 2/lr times."""
    lr, L, g, new = symbols("lr L g g_new")
    cocoercive = (new - g) * (-lr * g) - (new - g) ** 2 / L
    return is_zero(g**2 - new**2 - 2 / lr * cocoercive - (2 / (lr * L) - 1) * (new - g) ** 2)


def drift_is_bounded(n: int) -> bool:
    """Derive mean ||y_i - ybar||^2 <= mean ||y_i - x||^2 and mean ||g_i(x)||^2 <= 4 L (f(x) - f*) + 2 zeta^2.

    The second from ||a + b||^2 <= 2 ||a||^2 + 2 ||b||^2 with b = g_i*, and f_i(x) >= f_i(x*) + <g_i*, x - x*> + ||g_i(x) - g_i*||^2/(2L), whose
    inner products average to zero. With `gradients_shrink` ||y_i^q - x|| <= q lr ||g_i(x)||.
    """
    x, L, star = symbols("x L star", positive=True)
    y, g, at_x, at_star = (symbols(f"{name}1:{n + 1}") for name in ("y", "g", "fx", "fstar"))
    own = symbols(f"s1:{n}")
    g_star = [*own, -sum(own)]
    about_mean, about_x = (_mean([(yi - c) ** 2 for yi in y]) for c in (_mean(y), x))
    smaller = is_zero(about_x - about_mean - (_mean(y) - x) ** 2)
    interpolated = _mean(
        [
            fx - fs - gs * (x - star) - (gi - gs) ** 2 / (2 * L)
            for fx, fs, gs, gi in zip(at_x, at_star, g_star, g, strict=True)
        ]
    )
    gap = _mean(at_x) - _mean(at_star)
    bound = 4 * L * gap + 2 * _mean([gs**2 for gs in g_star]) - _mean([gi**2 for gi in g])
    halves = _mean([(gi - 2 * gs) ** 2 for gi, gs in zip(g, g_star, strict=True)])
    return smaller and is_zero(bound - 4 * L * interpolated - halves)


def rounds_reach_the_neighbourhood(share: Any = 1) -> bool:
    """Derive ||x' - x*||^2 <= ||x - x*||^2 - lr (f(x) - f*) + share 2 lr^3 L P zeta^2, from 1 on, where spare = 1/4 - lr^2 L^2 P >= 0.

    Summed over rounds and divided by lr R it is the bound above. Of the Q steps' descents only the first is used.
    """
    lr, L, gap, zeta2, unused = symbols("lr L gap zeta2 unused", positive=True)
    spare = symbols("spare", positive=True)
    P = (rational("1/4") - spare) / (lr * L) ** 2
    falls = 2 * lr * gap - lr * L * lr**2 * P * (4 * L * gap + 2 * zeta2) + unused
    return certainly_nonnegative(
        falls - lr * gap + rational(share) * 2 * lr**3 * L * P * zeta2, spare=(0, rational("1/4"))
    )


def neighbourhood_is_reached(share: Any = 1) -> bool:
    """Check the whole derivation."""
    return (
        all(local_steps_descend(n) and drift_is_bounded(n) for n in (2, 3))
        and gradients_shrink()
        and rounds_reach_the_neighbourhood(share)
    )


def bound(
    lr: Any, L: Any, Q: int, distance2: Any, zeta2: Any, rounds: NDArray[Any], share: float = 1
) -> NDArray[np.float64]:
    """||x^0 - x*||^2/(lr R) + share 2 lr^2 L P zeta^2 for R = ``rounds``; settings have a last axis of their own."""
    P = Q * (Q - 1) * (2 * Q - 1) / 6
    return np.asarray(distance2 / (lr * rounds) + share * 2 * lr**2 * L * P * zeta2)

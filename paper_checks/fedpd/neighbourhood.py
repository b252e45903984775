"""Remark 2 for convex clients: FedAvg with a constant step reaches a neighbourhood of the minimiser, derived for every n, d, Q and horizon.

Let f_i be convex and L-smooth, x* a minimiser of f, zeta^2 = mean ||grad f_i(x*)||^2, P = sum_{q<Q} q^2, lr <= 1/L and lr^2 L^2 P <= 1/4. Then
(1/R) sum_{r<R} (f(x^r) - f*) <= ||x^0 - x*||^2/(lr R) + 2 lr^2 L P zeta^2. The steps are lemmas as data, derived for every n and d.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.worlds import bar, norm2
from fedtheory.proofs.symbolic import symbols
from paper_checks.fedpd.common import certainly_nonnegative, rational


def _at_the_minimiser(w: Any, p: Any) -> tuple[Any, Any, Any, Any]:
    """Convex clients f_i, x* = 0, the gradients there, which average to zero, and the mean of the values there."""
    f = w.function(p.L, 0, client=True)
    own = w.vector("g*", True)
    own, star = own - bar(own), bar(own) * 0
    _, lowest = w.at(f, star, "g*", g=own)
    return f, star, own, lowest


def _local_steps_descend(w: Any, p: Any, c: Any) -> Any:
    """||ybar' - x*||^2 <= ||ybar - x*||^2 - 2 lr (f(ybar) - f*) + lr L mean ||y_i - ybar||^2 for a local step of all."""
    f, star, _, lowest = _at_the_minimiser(w, p)
    y = w.vector("y", True)
    g, _ = w.at(f, y, "g")
    _, value = w.at(f, bar(y), "gbar")
    moved = norm2(bar(y - g * p.lr) - star) - norm2(bar(y) - star)
    return moved + (value - lowest) * (2 * p.lr) - norm2(y - bar(y)) * (c.drift * p.lr * p.L)


def _gradients_shrink(w: Any, p: Any, c: Any) -> Any:
    """||g(y - lr g(y))|| <= ||g(y)||, so that ||y_i^q - x|| <= q lr ||g_i(x)||."""
    f = w.function(p.L, 0)
    y = w.vector("y")
    g, _ = w.at(f, y, "g")
    new, _ = w.at(f, y - g * p.lr, "g+")
    return norm2(new) - norm2(g) * c.factor


def _closer_to_their_mean(w: Any, p: Any, c: Any) -> Any:
    """mean ||y_i - ybar||^2 <= mean ||y_i - x||^2."""
    y, x = w.vector("y", True), bar(w.vector("x"))
    return norm2(y - bar(y)) - norm2(y - x) * c.factor


def _gradients_are_bounded(w: Any, p: Any, c: Any) -> Any:
    """mean ||g_i(x)||^2 <= 4 L (f(x) - f*) + 2 zeta^2."""
    f, _, own, lowest = _at_the_minimiser(w, p)
    g, value = w.at(f, bar(w.vector("x")), "g")
    return norm2(g) - (value - lowest) * (4 * p.L) - norm2(own) * (2 * c.factor)


STEPS = (
    Lemma("local steps of all descend", "R2", "0 < L, 0 < lr <= 1/L", _local_steps_descend, {"drift": 1}),
    Lemma("gradients shrink along steps", "R2", "0 < L, 0 < lr <= 2/L", _gradients_shrink, {"factor": 1}),
    Lemma("closest to the mean", "R2", "", _closer_to_their_mean, {"factor": 1}),
    Lemma("gradients are bounded", "R2", "0 < L", _gradients_are_bounded, {"factor": 1}),
)


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
    return rounds_reach_the_neighbourhood(share) and all(is_derived(step) for step in STEPS)


def bound(
    lr: Any, L: Any, Q: int, distance2: Any, zeta2: Any, rounds: NDArray[Any], share: float = 1
) -> NDArray[np.float64]:
    """||x^0 - x*||^2/(lr R) + share 2 lr^2 L P zeta^2 for R = ``rounds``; settings have a last axis of their own."""
    P = Q * (Q - 1) * (2 * Q - 1) / 6
    return np.asarray(distance2 / (lr * rounds) + share * 2 * lr**2 * L * P * zeta2)

"""Remark 2 for convex clients: FedAvg with a constant step reaches a neighbourhood of the minimiser, derived for every n, d, Q and horizon.

Let f_i be convex and L-smooth, x* a minimiser of f, zeta^2 = mean ||grad f_i(x*)||^2, P = sum_{q<Q} q^2, lr <= 1/L and lr^2 L^2 P <= 1/4. Then
(1/R) sum_{r<R} (f(x^r) - f*) <= ||x^0 - x*||^2/(lr R) + 2 lr^2 L P zeta^2. The steps are lemmas as data, derived for every n and d.
"""

from __future__ import annotations

from typing import Any

from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, bar, norm2
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.fedpd.common import certainly_nonnegative, rational


def _at_the_minimiser(w: World, p: Parameters) -> tuple[Any, Any, Any, Any]:
    """Convex clients f_i, x* = 0, the gradients there, which average to zero, and the mean of the values there."""
    f = w.function(p.L, 0, client=True)
    own = w.vector("g*", True)
    own, star = own - bar(own), bar(own) * 0
    _, lowest = w.at(f, star, "g*", g=own)
    return f, star, own, lowest


def _local_steps_descend(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||ybar' - x*||^2 <= ||ybar - x*||^2 - 2 lr (f(ybar) - f*) + lr L mean ||y_i - ybar||^2 for a local step of all."""
    f, star, _, lowest = _at_the_minimiser(w, p)
    y = w.vector("y", True)
    g, _ = w.at(f, y, "g")
    _, value = w.at(f, bar(y), "gbar")
    moved = norm2(bar(y - g * p.lr) - star) - norm2(bar(y) - star)
    return moved + (value - lowest) * (2 * p.lr) - norm2(y - bar(y)) * (c.drift * p.lr * p.L)


def _gradients_shrink(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||g(y - lr g(y))|| <= ||g(y)||, so that ||y_i^q - x|| <= q lr ||g_i(x)||."""
    f = w.function(p.L, 0)
    y = w.vector("y")
    g, _ = w.at(f, y, "g")
    new, _ = w.at(f, y - g * p.lr, "g+")
    return norm2(new) - norm2(g) * c.factor


def _closer_to_their_mean(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """mean ||y_i - ybar||^2 <= mean ||y_i - x||^2."""
    y, x = w.vector("y", True), bar(w.vector("x"))
    return norm2(y - bar(y)) - norm2(y - x) * c.factor


def _gradients_are_bounded(w: World, p: Parameters, c: LemmaConstants) -> Any:
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


def squares_below(Q: Any) -> Any:
    """P = sum_{q<Q} q^2."""
    return Q * (Q - 1) * (2 * Q - 1) / 6


def radius(lr: Any, L: Any, P: Any, zeta2: Any, share: Any = 1) -> Any:
    """What the mean of f(x^r) - f* is at most in the long run."""
    return share * 2 * lr**2 * L * P * zeta2


def bound(lr: Any, L: Any, Q: Any, distance2: Any, zeta2: Any, rounds: Any, share: Any = 1) -> Any:
    """||x^0 - x*||^2/(lr R) + share 2 lr^2 L P zeta^2 for R = ``rounds``; settings have a last axis of their own."""
    return distance2 / (lr * rounds) + radius(lr, L, squares_below(Q), zeta2, share)


def rounds_reach_the_neighbourhood(share: Any = 1) -> bool:
    """Derive ||x' - x*||^2 <= ||x - x*||^2 - lr (f(x) - f*) + lr radius, from share = 1 on, where spare = 1/4 - lr^2 L^2 P >= 0.

    Summed over rounds and divided by lr R it is `bound`. Of the Q steps' descents only the first is used.
    """
    lr, L, gap, zeta2, unused, distance2, R, Q = symbols("lr L gap zeta2 unused distance2 R Q", positive=True)
    spare = symbols("spare", positive=True)
    P = (rational("1/4") - spare) / (lr * L) ** 2
    falls = 2 * lr * gap - lr * L * lr**2 * P * (4 * L * gap + 2 * zeta2) + unused
    round_falls = certainly_nonnegative(
        falls - lr * gap + lr * radius(lr, L, P, zeta2, rational(share)), spare=(0, rational("1/4"))
    )
    total = distance2 + R * lr * radius(lr, L, squares_below(Q), zeta2)
    summed = is_zero(lr * R * bound(lr, L, Q, distance2, zeta2, R) - total)
    squares = is_zero(squares_below(Q + 1) - squares_below(Q) - Q**2) and squares_below(1) == 0
    return round_falls and summed and squares


def neighbourhood_is_reached(share: Any = 1) -> bool:
    """Check the whole derivation."""
    return rounds_reach_the_neighbourhood(share) and all(is_derived(step) for step in STEPS)

"""A-FedPD's proof steps as lemmas, in the paper's notation: f_i, theta_i^t, their average thetabar^t, lambda_i^t, rho, C clients of whom P take part.

The local rule is grad f_i(theta_i^{t+1}) + lambda_i^t + rho (theta_i^{t+1} - theta^t) = e_i^{t+1}, and theta^t = thetabar^t + mean
lambda_i^t / rho, so that theta_i^{t+1} - thetabar^t = -(grad f_i(theta_i^{t+1}) + lambda_i^t - mean_j lambda_j^t - e_i^{t+1})/rho. Where
all clients take part (P = C) and t >= 1, lambda_i^t = e_i^t - grad f_i(theta_i^t). R_t = mean ||theta_i^{t+1} - thetabar^t||^2, J_t =
mean ||theta_i^t - thetabar^t||^2. Points are seen from thetabar^t = 0; L-smooth functions need not be convex (Assumption 1).
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Lemma, bar, dot, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World

ANY = "0 < L, 0 < rho"
INEXACT = "0 < L, 0 < rho, 0 < epsilon"


# ---- Lemmas 1 and 3: who takes part ----------------------------------------------------------------------------------
#
# For P of C clients, drawn uniformly, and v_i = theta_i^{t+1} - thetabar^t, the mean of the drawn v_i has the expectation mean v, and the
# expectation of its square is ||mean v||^2 + phi mean ||v_i - mean v||^2 with phi = (C - P)/(P (C - 1)), a number from 0 (P = C) to 1 (P = 1).


def average_moves_less(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E ||thetabar^{t+1} - thetabar^t||^2 <= c mean ||theta_i^{t+1} - thetabar^t||^2."""
    v = w.vector("theta_i+ - thetabar", True)
    return norm2(bar(v)) + norm2(v - bar(v)) * p.phi - norm2(v) * c.c


LEMMA_1 = Lemma("Lemma 1", "Lemma 1", "0 <= phi <= 1", average_moves_less, {"c": 1})


def consistency(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(15): mean E ||theta_i^{t+1} - thetabar^{t+1}||^2 <= c mean ||theta_i^{t+1} - thetabar^t||^2."""
    v = w.vector("theta_i+ - thetabar", True)
    return norm2(v - bar(v)) * (1 + p.phi) - norm2(v) * c.c


LEMMA_3 = Lemma("Lemma 3", "Lemma 3, (15)", "0 <= phi <= 1", consistency, {"c": 4})


# ---- the descent display ---------------------------------------------------------------------------------------------


def descent_allowed(R: Any, g2: Any, L: Any, rho: Any, c: Any = 1) -> Any:
    """The descent's right side less f(thetabar^t), as printed: c (L/2)(1 + L/rho) R_t - ||grad f(thetabar^t)||^2/(2 rho)."""
    return R * (c * L / 2 * (1 + L / rho)) - g2 / (2 * rho)


def moves_along(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """<grad f(thetabar), E m> + (L/2) E ||m||^2 for m = thetabar+ - thetabar of P of C clients, against the descent's right side, with exact solves.

    The right side is c (L/2)(1 + L/rho) R_t - ||grad f(thetabar)||^2/(2 rho).
    """
    f = w.function(p.L, -p.L, client=True)
    lam, gn = w.vector("lambda_i", True), w.vector("grad f_i+", True)
    g, _ = w.at(f, lam * 0, "f_i(thetabar)")
    v = (gn + lam - bar(lam)) * (-1 / p.rho)
    w.at(f, v, "f_i+", g=gn)
    R, slope = norm2(v), bar(g)
    moved = dot(slope, bar(v)) + (norm2(bar(v)) + norm2(v - bar(v)) * p.phi) * (p.L / 2)
    return moved - descent_allowed(R, norm2(slope), p.L, p.rho, c.c)


MOVES = Lemma("descent, exact solves", "App. B.2.2", f"{ANY}, 0 <= phi <= 1", moves_along, {"c": 1})


def descends(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E f(thetabar+) <= f(thetabar) + (L/2)(1 + 2 L/rho) R_t + c epsilon/rho - ||grad f(thetabar)||^2/(2 rho), over all draws of P of C clients.

    Vectors of every client are those of clients, and thetabar+ and f there those of draws: averages go over pairs of a client and a draw.
    """
    f_i, f = (w.function(p.L, -p.L, client=True, name=name) for name in ("f_i", "f"))
    lam, gn, e = w.vector("lambda_i", True), w.vector("grad f_i+", True), w.vector("e_i+", True)
    w.assume("inexact solves", norm2(e) - p.epsilon)
    x = lam * 0
    g, _ = w.at(f_i, x, "f_i(thetabar)")
    v = (gn + lam - bar(lam) - e) * (-1 / p.rho)
    w.at(f_i, x + v, "f_i+", g=gn)
    drawn = w.vector("thetabar+ of a draw", True)
    w.assume("a draw", norm2(drawn - bar(drawn)) - norm2(v - bar(v)) * p.phi)
    _, before = w.at(f, x, "f(thetabar)", g=bar(g))
    _, after = w.at(f, x + bar(v) + drawn - bar(drawn), "f(thetabar+)")
    return after - before - descent_allowed(norm2(v), norm2(bar(g)), p.L, p.rho) - extra_of_errors(norm2(v), p, c.c)


def extra_of_errors(R: Any, p: Parameters, c: Any) -> Any:
    """What inexact solves add to the descent's right side."""
    return R * (p.L**2 / (2 * p.rho)) + p.epsilon * (c / p.rho)


DESCENT = Lemma("descent", "App. B.2.2, corrected", f"{INEXACT}, 0 <= phi <= 1", descends, {"c": 1})


def descent_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The display for one client with ||e||^2 <= epsilon; its dual variable is lambda^t = mean lambda^t."""
    f = w.function(p.L, -p.L)
    gn, e = w.vector("grad f+"), w.vector("e+")
    w.assume("inexact solves", norm2(e) - p.epsilon)
    x = gn * 0
    g, v = w.at(f, x, "f(thetabar)")
    xn = x - (gn - e) / p.rho
    _, vn = w.at(f, xn, "f+", g=gn)
    return vn - v - descent_allowed(norm2(xn - x), norm2(g), p.L, p.rho, c.c)


DESCENT_PRINTED = Lemma("descent, printed", "App. B.2.2, display before R_t", INEXACT, descent_printed, {"c": 1})


# ---- Lemma 2 ---------------------------------------------------------------------------------------------------------


def play_round(w: World, p: Parameters, inexact: bool) -> SimpleNamespace:
    """Round t >= 1 of all clients: lambda_i^t = e_i^t - grad f_i(theta_i^t); mean theta_i^t = thetabar^t = 0."""
    f = w.function(p.L, -p.L, client=True)
    th = w.vector("theta_i", True)
    th = th - bar(th)
    x = bar(th)
    g, _ = w.at(f, th, "f_i")
    gx, v = w.at(f, x + th * 0, "f_i(thetabar)")
    gn = w.vector("grad f_i+", True)
    e = w.vector("e_i", True) if inexact else th * 0
    en = w.vector("e_i+", True) if inexact else th * 0
    if inexact:
        w.assume("inexact solves before", norm2(e) - p.epsilon)
        w.assume("inexact solves", norm2(en) - p.epsilon)
    xn_i = x - (gn - (g - bar(g)) + (e - bar(e)) - en) / p.rho
    w.at(f, xn_i, "f_i+", g=gn)
    return SimpleNamespace(**locals())


def left_of_14(R: Any, L: Any, rho: Any) -> Any:
    """Lemma 2's left side, (14)."""
    return R * (1 - 4 * L**2 / rho**2)


def right_of_14(J: Any, g2: Any, epsilon: Any, L: Any, rho: Any, c: Any = 1) -> Any:
    """Lemma 2's right side, (14), as printed."""
    return J * (8 * L**2 / rho**2) + g2 * (c * 4 * L**2 / rho**2) + 4 * epsilon / rho**2


def lemma_2(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(1 - 4 L^2/rho^2) R_t <= (8 L^2/rho^2) J_t + (c 4/rho^2) ||grad f(thetabar)||^2 + 16 epsilon/rho^2."""
    r = play_round(w, p, True)
    k = p.L**2 / p.rho**2
    left = left_of_14(norm2(r.xn_i - r.x), p.L, p.rho) - norm2(r.th - r.x) * (8 * k)
    return left - norm2(bar(r.gx)) * (c.c * 4 / p.rho**2) - 16 * p.epsilon / p.rho**2


LEMMA_2 = Lemma("Lemma 2, corrected", "Lemma 2, (14), corrected", INEXACT, lemma_2, {"c": 1})


def lemma_2_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(14) for one client and exact solves: theta^t = thetabar^t, so that J_t = 0, and theta^{t+1} = theta^t - grad f(theta^{t+1})/rho."""
    f = w.function(p.L, -p.L)
    gn = w.vector("grad f+")
    x = gn * 0
    g, _ = w.at(f, x, "f")
    w.at(f, x - gn / p.rho, "f+", g=gn)
    return left_of_14(norm2(gn / p.rho), p.L, p.rho) - right_of_14(norm2(x), norm2(g), 0, p.L, p.rho, c.c)


LEMMA_2_PRINTED = Lemma(
    "Lemma 2, printed", "Lemma 2, (14)", "0 < L, 4*L**3 + 6*L <= rho", lemma_2_printed, {"c": 1}, units="as printed"
)


# ---- Theorem 1 -------------------------------------------------------------------------------------------------------


def falls(weight: Callable[[Any], Any], lost: Callable[[Any], Any], inexact: bool) -> Callable[[Any, Any, Any], Any]:
    """f(thetabar+) + weight R_t <= f(thetabar) + weight R_{t-1} - c lost ||grad f(thetabar)||^2 (+ 2 epsilon/rho with inexact solves)."""

    def build(w: World, p: Parameters, c: LemmaConstants) -> Any:
        r = play_round(w, p, inexact)
        before = w.vector("thetabar before")
        _, vn = w.at(r.f, bar(r.xn_i) + r.th * 0, "f_i(thetabar+)")
        k = weight(p)
        change = vn + norm2(r.xn_i - r.x) * k - r.v - norm2(r.th - before) * k
        return change + norm2(bar(r.gx)) * (c.c * lost(p)) - (2 * p.epsilon / p.rho if inexact else 0)

    return build


POTENTIAL = Lemma(
    "potential, exact solves",
    "Theorem 1, corrected",
    "0 < L, 7583/1000*L <= rho",
    falls(lambda p: p.L**2 / (4 * p.rho), lambda p: 1 / (4 * p.rho), False),
    {"c": 1},
)
POTENTIAL_INEXACT = Lemma(
    "potential, inexact solves",
    "Theorem 1, corrected",
    "0 < L, 10325/1000*L <= rho, 0 < epsilon",
    falls(lambda p: p.L**2 / (4 * p.rho), lambda p: 1 / (4 * p.rho), True),
    {"c": 1},
)
#: q = rho/(32 L^2), as the proof chooses, and what its second choice of q needs
ONE_STEP = Lemma(
    "one step",
    "App. B.2.2, display before the sum, corrected",
    "1 <= L, 16*L**3 + 6*L <= rho, 0 < epsilon",
    falls(lambda p: 1 / p.rho, lambda p: 3 / (8 * p.rho), True),
    {"c": 1},
)


def one_step_allowed(f: Any, R: Any, g2: Any, epsilon: Any, L: Any, rho: Any, c: Any = 1) -> Any:
    """Right side of the display before the sum, as printed, for f(thetabar^t) and R_{t-1}; the left is f(thetabar^{t+1}) + R_t/rho."""
    return f + R / rho - g2 * (c / rho) + epsilon / (8 * L**2 * rho)


def one_step_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The display before the sum for one client and exact solves: R_{t-1} = ||grad f(theta^t)||^2/rho^2, R_t = ||grad f(theta^{t+1})||^2/rho^2."""
    f = w.function(p.L, -p.L)
    gn = w.vector("grad f+")
    x = gn * 0
    g, v = w.at(f, x, "f")
    _, vn = w.at(f, x - gn / p.rho, "f+", g=gn)
    before, after = (norm2(slope) / p.rho**2 for slope in (g, gn))
    return vn + after / p.rho - one_step_allowed(v, before, norm2(g), 0, p.L, p.rho, c.c)


ONE_STEP_PRINTED = Lemma(
    "one step, printed",
    "App. B.2.2, display before the sum",
    "1 <= L, 16*L**3 + 6*L <= rho",
    one_step_printed,
    {"c": 1},
)


def numerator_of_8(rho: Any, gap: Any, first: Any) -> Any:
    """Numerator of Theorem 1's right side, for the gap f(thetabar^1) - f* and R_0 = ``first``; over T it is (8) without its epsilon."""
    return rho * gap + first


def corrected_numerator(rho: Any, gap: Any, first: Any, L: Any) -> Any:
    """What the sum over rounds is at most with all clients, exact solves and rho >= 7.583 L, by `POTENTIAL`."""
    return 4 * rho * gap + L**2 * first

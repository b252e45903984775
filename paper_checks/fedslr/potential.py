"""What FedSLR's potential (10) has to do with the objective: distances to stationarity, KL exponents, best iterates; and the repaired Theorem 3.

Lemmas in the notation of `lemmas`, for every number of clients and every dimension. At a point (x, {y_i}, {g_i}) write q_i = x - y_i and
p_i = grad f_i(y_i) - g_i - q_i/eta. The parts of dD are p_i/M in y_i, q_i/M in g_i, and r = s + mean g_i + mean q_i/eta with s in dR(x) in x, so
that dist(0, dD)^2 = min ||r||^2 + (mean ||p_i||^2 + mean ||q_i||^2)/M.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms import FedSLR
from fedtheory.claims import bar, dot, lemma, norm2
from fedtheory.claims.claim import Claim
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.errors import require
from fedtheory.proofs.symbolic import agree, is_zero, symbols
from paper_checks.fedslr import kl_theorems, lemmas, theorems
from paper_checks.fedslr.exact_runs import EXACT, KL_HOLDS, PAPER, UNBIASED
from paper_checks.fedslr.theory import DERIVED
from paper_checks.fedslr.unknown_functions import changed, play_unknown
from paper_checks.steps import Conclusion, Step, claim_steps

# ---- KL exponents ----------------------------------------------------------------------------------------------------


#: norms in the space of (x, {y_i}, {g_i}), where the potential lives, add squares of points and of gradients
DUALS_BESIDE_POINTS = "value = length**2"


def _near_a_stationary_point(w: World, p: Parameters) -> SimpleNamespace:
    """y_i = x* + u_i with x = x* = 0 and g_i = grad f_i(x*): gradients there and at x*, and D - D*."""
    f = w.function(p.L, -p.L, client=True)
    u, g = w.vector("u_i", True), w.vector("g_i", True)
    _, least = w.at(f, u * 0, "f_i(x*)", g=g)
    gu, v = w.at(f, u, "f_i(y_i)")
    return SimpleNamespace(u=u, g=g, gu=gu, gap=v - least - dot(g, u) + norm2(u) / (2 * p.eta))


@lemma("slope", "ours", "0 < L, 0 < eta", units=DUALS_BESIDE_POINTS, c=1)
def linear_slope(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """dist(0, dD)^2 <= c (1/eta^2 + (L + 1/eta)^2 + 1) mean ||u_i||^2; r = mean q_i/eta with s = -mean g_i, and 1/M <= 1."""
    r = _near_a_stationary_point(w, p)
    distance = norm2(bar(r.u)) / p.eta**2 + norm2(r.gu - r.g + r.u / p.eta) + norm2(r.u)
    return distance - norm2(r.u) * (c.c * (1 / p.eta**2 + (p.L + 1 / p.eta) ** 2 + 1))


def _anywhere(w: World, p: Parameters) -> SimpleNamespace:
    """Any (x, {y_i}, {g_i}) with x = 0, g_i from p_i: gradients at y_i and x, and D - (f + R)(x)."""
    f = w.function(p.L, -p.L, client=True)
    y, off = w.vector("y_i", True), w.vector("p_i", True)
    gy, v = w.at(f, y, "f_i(y_i)")
    gx, vx = w.at(f, y * 0, "f_i(x)")
    q = -y
    multiplier = gy - off - q / p.eta
    return SimpleNamespace(q=q, p=off, gy=gy, gx=gx, gap=v - vx + dot(multiplier, q) + norm2(q) / (2 * p.eta))


@lemma("above", "ours", "0 < L, 0 < eta", units=DUALS_BESIDE_POINTS, c=1)
def above(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """D - (f + R)(x) <= (L + c - 1/eta)/2 mean ||q_i||^2 + c mean ||p_i||^2/2."""
    r = _anywhere(w, p)
    return r.gap - norm2(r.q) * ((p.L + c.c - 1 / p.eta) / 2) - norm2(r.p) * (c.c / 2)


@lemma("below", "ours", "0 < L, 0 < eta", units=DUALS_BESIDE_POINTS, c=1)
def below(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(f + R)(x) - D <= c ((L + 1/eta + 1)/2 mean ||q_i||^2 + mean ||p_i||^2/2)."""
    r = _anywhere(w, p)
    return -r.gap - norm2(r.q) * (c.c * (p.L + 1 / p.eta + 1) / 2) - norm2(r.p) * (c.c / 2)


@lemma("objective slope", "ours", "0 < L, 0 < eta", c=1)
def objective_slope(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||grad f(x) + s||^2 <= 3 c (||r||^2 + L^2 mean ||q_i||^2 + mean ||p_i||^2)."""
    v = _anywhere(w, p)
    r = w.vector("r")
    return norm2(r + bar(v.gx - v.gy + v.p)) - (norm2(r) + norm2(v.q) * p.L**2 + norm2(v.p)) * (3 * c.c)


# ---- towards proximal gradient descent; Theorem 3 --------------------------------------------------------------------


@lemma("proximal gradient", "Remark 2", "0 < L, 0 < eta", c=1)
def proximal_gradient(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||w_{t+1} - prox(w_t - eta grad f(w_t))||^2 <= c (1 + L eta)^2 mean ||w_{i,t+1} - w_t||^2."""
    f, reg = w.function(p.L, -p.L, client=True, name="f"), w.function(None, 0, name="R")
    yn, s, z = w.vector("w_i+", True), w.vector("s"), w.vector("z")
    gn, _ = w.at(f, yn, "f_i+")
    gx, _ = w.at(f, yn * 0, "f_i(w)")
    new, plain = bar(yn - gn * p.eta) - s * p.eta, -bar(gx) * p.eta - z * p.eta
    w.at(reg, new, "R+", g=s)
    w.at(reg, plain, "R plain", g=z)
    return norm2(new - plain) - norm2(yn) * (c.c * (1 + p.L * p.eta) ** 2)


@lemma("tangents", "ours", "0 < L", c=1)
def below_tangents(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(x + step) >= f(x) + <grad f(x), step> - c (L/2) ||step||^2."""
    f = w.function(p.L, -p.L)
    step = w.vector("step")
    g, v = w.at(f, step * 0, "f")
    _, vn = w.at(f, step, "f+")
    return v + dot(g, step) - norm2(step) * (c.c * p.L / 2) - vn


@lemma("bounded below", "Remark 4, another reading", "0 < L, 0 < B", units="c = value", c=1000)
def bounded_below(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(x + step) >= f(x) - c, for an L-smooth f with gradients at most B at the two points."""
    f = w.function(p.L, -p.L)
    step = w.vector("step")
    g, v = w.at(f, step * 0, "f")
    gn, vn = w.at(f, step, "f+")
    w.assume("A2 at x", norm2(g) - p.B**2)
    w.assume("A2 at y", norm2(gn) - p.B**2)
    return v - c.c - vn


@lemma("firmly nonexpansive", "ours", "0 < eta", c=1)
def firm(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """Convex f_i: mean ||z_i+ - z_i*||^2 <= mean ||z_i - z_i*||^2 - c mean ||z_i+ - z_i||^2.

    z_i = w_{i,t} + eta gamma_{i,t} and z_i+ = w_t + eta gamma_{i,t}, which by (4) and (5) is w_{i,t+1} + eta gamma_{i,t+1}. The minimiser is 0,
    with gradients gamma_i* and -mean gamma_i* in dR.
    """
    f, reg = w.function(None, 0, client=True, name="f"), w.function(None, 0, name="R")
    y, g, g_star, s = w.vector("w_i", True), w.vector("gamma_i", True), w.vector("gamma_i*", True), w.vector("s")
    x = bar(y - g * p.eta) - s * p.eta
    w.at(f, y, "f_i", g=g)
    w.at(f, y * 0, "f_i*", g=g_star)
    w.at(reg, x, "R", g=s)
    w.at(reg, x * 0, "R*", g=-bar(g_star))
    z, new, star = y + g * p.eta, x + g * p.eta, g_star * p.eta
    return norm2(new - star) - norm2(z - star) + norm2(new - z) * c.c


# ---- what the conclusions need of algebra ----------------------------------------------------------------------------


def _slope_in_parts() -> bool:
    """The derivatives of a client's share of D where g = grad f(y), in two dimensions with any f; and the server's step, which leaves r = 0."""
    sp = require("sympy", "derivatives")
    x, y, g, f = symbols("x1 x2"), symbols("y1 y2"), symbols("g1 g2"), sp.Function("f")
    eta, M = symbols("eta M", positive=True)
    share = f(*y) + sum(g[k] * (x[k] - y[k]) + (x[k] - y[k]) ** 2 / (2 * eta) for k in range(2))
    at = {g[k]: sp.diff(f(*y), y[k]) for k in range(2)}
    in_y = [is_zero(sp.diff(share / M, y[k]).subs(at) + (x[k] - y[k]) / (eta * M)) for k in range(2)]
    in_g = [is_zero(sp.diff(share / M, g[k]) - (x[k] - y[k]) / M) for k in range(2)]
    w, w_bar, g_bar = symbols("w wbar gbar")
    s = (w_bar - eta * g_bar - w) / eta
    return all(in_y) and all(in_g) and is_zero(s + g_bar + (w - w_bar) / eta)


def _duals_are_gradients(method: Callable[[Any], Any] = FedSLR) -> bool:
    """Whether a round of the code leaves gamma_{i,t+1} = grad f_i(w_{i,t+1}) from any state."""
    _, after, gradients, _ = play_unknown(method)
    return agree(after.gamma_i, gradients)


#: what bounds the residual, how the potential falls, and how far dD is from 0, all in terms of mean ||w_{i,t+1} - w_{i,t}||^2
RECURSION = (
    Step("the distance", lemmas.stationary),
    Step("the descent", lemmas.factored),
    Step("the models are close", lemmas.copies),
)
#: how Theorem 3 is proved, with the right constants
TELESCOPES = (
    "phi_i(w_t, .) falls by (eta_l - L eta_l^2/2) ||G||^2 in every local step, and rises by at most B ||w_{t+1} - w_t|| + (L/2) ||w_{t+1} - "
    "w_t||^2 when w_t moves, by A2; both telescope over k and t, as components start where they ended, p_{t+1,0} = p_{t,K}; the last value, "
    "phi_i(w_T, p_{T,0}), is at least the infimum over p"
)
DISTANCES = (
    "w_t - w* is a sum of t + 1 vectors, w_0 - w* and t steps, so by one vector more at a time ||w_t - w*||^2 <= (t + 1)(||w_0 - w*||^2 + 2 eta_g "
    "(D_0 - D_t)), and D_t >= D*; the first N + 1 of these sum to (N+1)(N+2)/2 times the bracket, and at most T others are at most 1/T each"
)
#: the sum of t + 1 over t = 0, ..., N, by induction
SUMMED = ("(N + 1)*(N + 2)/2 + (N + 2) == (N + 2)*(N + 3)/2",)
CLAIMS: list[Claim] = [
    claim_steps(
        "FEDSLR-N5",
        DERIVED,
        "(75) to (78) in the proof of Theorem 2",
        "dist(0, dD_t) = (1/M) sqrt(1 + 1/eta_g^2) (sum_i ||w_t - w_{i,t}||^2)^(1/2) for t >= 1, which is at most sqrt((1 + eta_g^2)/M) (L + "
        "1/eta_g) (mean_i ||w_{i,t+1} - w_{i,t}||^2)^(1/2).",
        [Step("the models are close", lemmas.copies)],
        conclusions=[
            Conclusion(
                "the distance",
                "at a round's end g_i = grad f_i(w_i) (Fact 2), so that D's derivative in y_i is -(w - w_i)/(eta M), in g_i it is (w - w_i)/M, "
                "and dD holds 0 in w by the server's step; D is smooth but for R(w), so the squares add up: (1/M^2)(1 + 1/eta^2) sum ||w - "
                "w_i||^2 = ((1 + eta^2)/(M eta^2)) mean ||w - w_i||^2 <= ((1 + eta^2)/M) (1/eta + L)^2 mean ||w_{i,t+1} - w_i||^2",
                ("the models are close",),
                confirmed=_slope_in_parts,
            )
        ],
        assumptions=[EXACT],
        readings=[
            "The paper has (1 + eta_g)(L + 1/eta_g) times the mean of ||w_{i,t+1} - w_{i,t}||. The formula is `potentials.fedslr_subgradient`."
        ],
    ),
    claim_steps(
        "FEDSLR-N7",
        DERIVED,
        "Assumption 4 and (11)",
        "The potential has no KL exponent theta < 1/2 at a stationary point (x*, {x*}, {grad f_i(x*)}), for eta_g < 1/L.",
        [Step("growth", lemmas.bowl), Step("slope", linear_slope)],
        conclusions=[
            Conclusion(
                "no exponent below 1/2",
                "move y_i alone, by u_i = u: D - D* >= a ||u||^2 with a > 0 and dist(0, dD) <= b ||u||, so that (D - D*)^theta/dist(0, dD) >= "
                "a^theta ||u||^(2 theta - 1)/b, which is unbounded as u -> 0 (and D -> D*, being continuous in y_i) when theta < 1/2: no c serves",
                ("growth", "slope"),
            )
        ],
        readings=[
            "So the case theta = 0 of Theorem 2, (11), is true of nothing, and of (12) only theta = 1/2 occurs. Iterates can still reach a "
            "minimiser of f + R that is sharp in finitely many rounds: (11) is no way to show it."
        ],
    ),
    claim_steps(
        "FEDSLR-N8",
        DERIVED,
        "Remark 6",
        "For theta in [1/2, 1), D has KL exponent theta at (x*, {x*}, {grad f_i(x*)}) exactly when f + R has it at x*; where f + R has a smaller "
        "one, D has 1/2.",
        [Step("D above f + R", above), Step("D below f + R", below), Step("slopes", objective_slope)],
        conclusions=[
            Conclusion(
                "from f + R to D",
                "D* = (f + R)(x*). With C from the steps, D - D* <= (f + R)(x) - (f + R)(x*) + C dist(0, dD)^2 and dist(0, d(f + R)(x)) <= C "
                "dist(0, dD). Where (f + R)(x) is larger than (f + R)(x*), the KL inequality of f + R bounds the difference by a power 1/theta of "
                "its slope; where not, by nothing. So D - D* <= C' dist(0, dD)^(1/theta) + C dist(0, dD)^2, and 2 >= 1/theta exactly for theta >= "
                "1/2. Where dist(0, dD) is not small there is nothing to show; where it is, (f + R)(x) <= D + C dist(0, dD)^2 is in the window, "
                "and the lower power decides: theta, or 1/2 where theta is less",
                ("D above f + R", "D below f + R", "slopes"),
            ),
            Conclusion(
                "from D to f + R",
                "at (x, {x}, {grad f_i(x)}), which is near when x is, all p_i and q_i vanish, so that D = (f + R)(x) by the steps and r is any "
                "element of d(f + R)(x): the KL inequality of D there is that of f + R",
                ("D above f + R", "D below f + R"),
            ),
        ],
        readings=[
            "That D has exactly 1/2 where f + R has less uses FEDSLR-N7, for eta_g < 1/L. Exponents are those for which the inequality holds."
        ],
    ),
    claim_steps(
        "FEDSLR-N9",
        DERIVED,
        "(13), corrected",
        "dist(0, grad f(w_t) + dR(w_t)) <= sqrt(C_1/C_2) ((2 theta - 1) C_4 T)^(-1/(4 theta - 2)) at t = T for theta in (1/2, 1), with C_1 "
        "and C_2 as in FEDSLR-T2-72, C_4 = C_2/(c (1 - theta) C_3)^2 and C_3 = sqrt((1 + eta_g^2)/M) (L + 1/eta_g).",
        [Step("the rate", kl_theorems.SUBLINEAR_SHARPER)],
        assumptions=[EXACT, "0 < eta_g < 1/(2L)", "the KL inequality with this c at every iterate, and r_t > 0"],
        readings=[
            "(13) prints the exponent -(4 theta - 2); both are equal at theta = 3/4 only. Runs on functions of known exponent are at FEDSLR-T2c."
        ],
    ),
    claim_steps(
        "FEDSLR-N10",
        DERIVED,
        "Theorem 2, without the KL property",
        "min_{1 <= t <= T} dist(0, grad f(w_t) + dR(w_t))^2 <= (C_1/C_2)(D_1 - D_{T+1})/T with C_1 = (1/eta_g + eta_g L^2)^2 and C_2 = (1 - 2 L "
        "eta_g)(1 + L eta_g)/(2 eta_g), for 0 < eta_g < 1/(2L).",
        [Step("the best iterate", theorems.BEST_ITERATE)],
        assumptions=[EXACT],
    ),
    claim_steps(
        "FEDSLR-N17",
        DERIVED,
        "Theorem 3, repaired, sigma = 0",
        "sum_{t<T} sum_{k<K} ||G(w_t, p_{i,t,k})||^2 <= (phi_i(w_0, p_{i,0,0}) - inf_p phi_i(w_T, p) + B S_1 + (L/2) S_2)/(eta_l - L eta_l^2/2) for "
        "0 < eta_l < 2/L, where S_1 and S_2 are the sums of ||w_{t+1} - w_t|| and of its squares, which stay bounded.",
        [
            Step("a local step", lemmas.proximal_descent),
            Step("a moved model", lemmas.drift_of_loss),
            Step("drift", lemmas.lemma_1),
            Step("the descent", lemmas.factored),
            Step("the first round", lemmas.warm),
            Step("the models are close", lemmas.copies),
        ],
        conclusions=[
            Conclusion(
                "the sum",
                TELESCOPES,
                ("a local step", "a moved model"),
            ),
            Conclusion(
                "both sums are bounded",
                "S_2 <= 2 eta_g (D_0 - D*), as D_t falls to its value D* at the cluster point. From some round on the KL inequality, phi(v) = c "
                "v^(1 - theta) concave, and dist(0, dD_t) <= C_3 m_t with m_t = (mean_i ||w_{i,t+1} - w_{i,t}||^2)^(1/2) (FEDSLR-N5) give phi(r_t) - "
                "phi(r_{t+1}) >= (C_2/C_3) m_t, so that sum m_t is finite; w_{t+1} - w_t is the mean of (w_{t+1} - w_{i,t+2}) + (w_{i,t+2} - "
                "w_{i,t+1}) + (w_{i,t+1} - w_t), so ||w_{t+1} - w_t|| <= (1 + L eta_g) m_{t+1} + L eta_g m_t for t >= 1",
                ("drift", "the descent", "the first round", "the models are close"),
            ),
        ],
        assumptions=[
            EXACT,
            "A1, A2, p_{i,t,0} = p_{i,t-1,K}",
            f"for S_1 and S_2: 0 < eta_g < 1/(2L), a cluster point exists; for S_1: {KL_HOLDS}",
        ],
        readings=[
            "Theorem 3 asks for eta_l < 2/(L + 1) and has a constant that depends on T. Divided by T K this is its rate of O(1/T). At eta_g = "
            "1/(2L), where C_2 = 0, the bound holds, and whether S_1 stays bounded is open, as the last part of Theorem 2 is (FEDSLR-T2d)."
        ],
    ),
    claim_steps(
        "FEDSLR-N18",
        DERIVED,
        "(97) to (102) in the proof of Theorem 3, corrected",
        (
            Clause(
                "(1/T) sum_{t<T} L^2 ||w_t - w*||^2 <= C_7/T with C_7 = L^2 ((N+1)(N+2)/2 (||w_0 - w*||^2 + 2 eta_g (D_0 - D*)) + 1), for every N "
                "such that ||w_t - w*|| <= 1/sqrt(T) for N < t < T;",
                ("the distances",),
            ),
            Clause("and the noise of (14) is (2/C_6 + 2 eta_l) sigma^2.", ("the noise",)),
        ),
        [
            Step("one vector more", lemmas.one_vector_more),
            Step("a round", lemmas.lemma_3_monotone),
            Step("the first round", lemmas.warm),
            Step("Lemma 7", lemmas.lemma_7),
        ],
        conclusions=[
            Conclusion(
                "the distances",
                DISTANCES,
                ("one vector more", "a round", "the first round"),
                confirmed=SUMMED,
            ),
            Conclusion(
                "the noise",
                "in (92) the step is -eta_l G_xi, so that T_2 has expectation eta_l E <a_xi - a, G_xi - G> <= eta_l sigma^2 for unbiased a_xi, by "
                "Lemma 7; (95) then has 2 eta_l sigma^2, and E ||G||^2 <= 2 E ||G_xi||^2 + 2 sigma^2",
                ("Lemma 7",),
                confirmed=["C6*(2/C6 + 2*lr)*sigma**2 == 2*(C6/2)*(2*lr*sigma**2) + 2*sigma**2"],
            ),
        ],
        assumptions=[
            "exact local solves, gamma_{i,0} = grad f_i(w_0)",
            "0 < eta_g <= 1/(2L), and D_t falls to D*",
            UNBIASED,
        ],
        readings=[
            "The paper has t for t + 1, eta_g for 2 eta_g, no L^2 at the first two terms, and (2/C_6 + 1) sigma^2, which is large enough exactly "
            "for eta_l <= 1/2. Instances against its forms are at FEDSLR-T3 and FEDSLR-T3-100. N still depends on T; FEDSLR-N17 has no such "
            "constant."
        ],
    ),
    claim_steps(
        "FEDSLR-R2",
        PAPER,
        "Remark 2",
        (
            Clause("gamma_{i,t+1} = grad f_i(w_{i,t+1}),", ("the duals",)),
            Clause(
                "and as w_{i,t+1} - w_t -> 0 a round reduces to w_{t+1} = Prox(w_t - eta_g grad f(w_t)).",
                ("the limit",),
            ),
        ),
        [Step("the round and proximal gradient descent", proximal_gradient), Step("w_{i,t+1} and w_t", lemmas.lemma_1)],
        conclusions=[
            Conclusion(
                "the duals",
                "a round of the method's own code from any state on two clients of which nothing is known: an exact local solve leaves w_t + eta_g "
                "gamma_{i,t} - w_{i,t+1} = eta_g grad f_i(w_{i,t+1}), of which (5) makes gamma_{i,t+1}; clients do not enter each other's",
                confirmed=_duals_are_gradients,
                wrong={"duals of the other sign": (partial(_duals_are_gradients, changed("sign of the dual step")),)},
            ),
            Conclusion(
                "the limit",
                "the difference is at most (1 + L eta_g) (mean_i ||w_{i,t+1} - w_t||^2)^(1/2), which tends to zero with its right side; by Lemma "
                "1 it does whenever w_{i,t+1} - w_{i,t} -> 0",
                ("the round and proximal gradient descent", "w_{i,t+1} and w_t"),
            ),
        ],
        assumptions=["exact local solves", "the limit: A1, and Lemma 1 for t >= 1"],
        readings=["One decomposition a round in place of M K is Algorithm 1 itself."],
    ),
    claim_steps(
        "FEDSLR-R4",
        PAPER,
        "Remark 4",
        "By Assumption 3 f(w) > -infinity for every w, and f is lower semi-continuous.",
        [Step("above its tangents", below_tangents), Step("bounded below", bounded_below, "reading")],
        conclusions=[
            Conclusion(
                "both parts",
                "f(w) > -infinity is what proper says, and closed sublevel sets are lower semi-continuity. Both follow from A1 alone: f is "
                "finite, and f(y) >= f(x) + <grad f(x), y - x> - (L/2)||y - x||^2, whose right side tends to f(x) as y -> x",
                ("above its tangents",),
            )
        ],
        readings=[
            "The remark calls this 'lower bounded'. In the usual sense, inf f > -infinity, Assumptions 1 to 3 do not give it: the instance falls "
            "by more than 1000 with bounded gradients, as f(w) = w, proper and closed, falls without end. Where the proofs need inf f it is an "
            "assumption of its own."
        ],
        false={"bounded below": "above its tangents"},
    ),
    claim_steps(
        "FEDSLR-R5",
        PAPER,
        "Remark 5",
        (
            Clause("A converging subsequence exists when the sequence is bounded", ("by Bolzano and Weierstrass",)),
            Clause("(and, ours, it is bounded for lam > 0, inf f > -inf and eta_g < 1/(2L)).", ("it is bounded",)),
        ),
        [Step("the potential from below", lemmas.lower_bound), Step("the potential falls", lemmas.lemma_3_monotone)],
        conclusions=[
            Conclusion(
                "by Bolzano and Weierstrass",
                "a bounded sequence in finitely many dimensions has a converging subsequence",
            ),
            Conclusion(
                "it is bounded",
                "R(w_t) + (1/(2 eta_g) - L/2) mean_i ||w_t - w_{i,t}||^2 <= D_t - inf f <= D_1 - inf f for t >= 1, R is a norm of the matrices, and "
                "gamma_{i,t} = grad f_i(w_{i,t}) is continuous",
                ("the potential from below", "the potential falls"),
            ),
        ],
        assumptions=[EXACT, "every parameter belongs to a matrix, so that R bounds it"],
        readings=[
            "The remark assumes what is shown here under conditions of the paper and inf f > -inf, which Assumption 3 does not give (FEDSLR-R4)."
        ],
    ),
    claim_steps(
        "FEDSLR-R7",
        PAPER,
        "Remark 7",
        "A smaller exponent theta guarantees a faster rate: linear for theta <= 1/2, sublinear above.",
        RECURSION,
        conclusions=[
            Conclusion(
                "the guaranteed rate",
                "the steps and the KL property give r_{t+1} <= r_t - C r_t^(2 theta): r_T of order T^(-1/(2 theta - 1)) for theta > 1/2, the "
                "distance of order T^(-1/(4 theta - 2)), whose exponent grows towards zero with theta, and linear at 1/2",
                ("the distance", "the descent", "the models are close"),
                confirmed=["1/(4*s) > 1/(4*(s + d))", "4*(s + d) > 4*s"],  # theta = 1/2 + s; (13) prints the second,
            )
        ],
        assumptions=[EXACT, "the KL inequality at every iterate"],
        readings=[
            "(13) as printed, T^(-(4 theta - 2)), says the opposite: faster for larger theta. The remark goes with its correction (FEDSLR-N9). "
            "theta < 1/2 does not occur (FEDSLR-N7)."
        ],
    ),
]

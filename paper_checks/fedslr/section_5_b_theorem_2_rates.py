"""Section 5: Assumption 4 (Remark 6), and Theorem 2's three cases of the Kurdyka-Lojasiewicz exponent theta of D: finite, linear, sublinear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.claims import Context, PlayedStates, Rate, Theorem, assume, at_most, decided, disproved, proved, refute
from fedtheory.claims.claim import Assumption, Claim, Fault, Finding, Part, Picture, Reading, Replay, Role
from fedtheory.claims.statements.worlds import Parameters, World, bar
from fedtheory.core.errors import require
from fedtheory.measures import fit_contraction, implied_rate, potentials
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import agree, is_positive, is_zero, symbols
from paper_checks.fedslr.assumptions import CONTINUOUS, DISTANCE, EXACT, KL_HOLDS, PRINTED_STEP, SHORT_STEP
from paper_checks.fedslr.bounds import Constants
from paper_checks.fedslr.kl_runs import KLRun, flat_matrix_run, low_rank_run, power_run, sharp_run, sharp_states
from paper_checks.fedslr.notation import APART, OF_F, OF_THEOREM_2, PAPER, POTENTIAL, RESIDUAL, STEPS, claim
from paper_checks.fedslr.played import fractions_of, play_on_line, play_unknown
from paper_checks.fedslr.rounds import OF_THE_OBJECTIVE, TO_THE_SLOPE, WITH_BOTH
from paper_checks.grounds import is_so
from paper_checks.steps import Step
from problems.known_exponents import power
from problems.piecewise import flattened_square
from problems.quadratics import scalar_quadratics

CLAIMS: list[Claim] = []


# ---- Remark 6 --------------------------------------------------------------------------------------------------------
def check_remark_6(ctx: Context, *, off: Any = 1, flat: bool = True) -> Iterator[Finding]:
    """Exponents of semi-algebraic, exponential and logarithmic functions by hand; and a smooth function without one."""
    sp = require("sympy", "derivatives")
    w, p = symbols("w p", positive=True)
    f = w**p / p
    text = "|w|^p/p has |f'| = (p f)^(1 - 1/p), the exponent 1 - 1/p for every p > 1"
    yield proved("powers", agree(sp.diff(f, w), (p * f) ** (1 - off / p)), text, scope="f of one variable, |w|^p/p")
    z = symbols("z")
    curvature = [sp.diff(g, z, 2).subs(z, 0) for g in (sp.exp(z) - z, sp.log(1 + sp.exp(z)) - z / 2)]
    yield proved(
        "an exponential and a logarithm",
        all(compare(c, ">", 0) for c in curvature),
        "e^w - w and log(1 + e^w) - w/2 have positive curvature at their minimiser 0, so exponent 1/2",
        scope="two functions of one variable",
    )
    g = sp.exp(-1 / w**2) if flat else w**4
    text = "e^(-1/w^2) has f' = 2 f/w^3, so f^theta/f' = w^3 f^(theta - 1)/2, unbounded as w -> 0 for every theta < 1: no exponent"
    yield disproved("any smooth function", agree(sp.diff(g, w), 2 * g / w**3), text, role="reading")
    yield Reading(
        "The remark cites a theorem (Lojasiewicz; Bolte, Daniilidis and Lewis 2007), which is not proved here; that D has the exponent of f + R, "
        "or 1/2, is FEDSLR-N8. Compositions with exponentials are not among what it lists, and can have no exponent at all."
    )


CLAIMS += [
    Claim(
        "FEDSLR-R6",
        PAPER,
        "identity",
        "Remark 6",
        "Assumption 4 holds if the f_i are sub-analytic, logarithmic, exponential or semi-algebraic.",
        check_remark_6,
        (
            Fault("an exponent 2 % off", "powers", {"off": Fraction(51, 50)}),
            Fault("w^4", "any smooth function", {"flat": False}, holds=True),
        ),
    ),
]


# ---- Theorem 2: what its three cases share ---------------------------------------------------------------------------
SAME = ("A1 to A4", EXACT, CONTINUOUS)
CORRECTED = "C_1 = (1/eta_g + eta_g L^2)^2 and C_2 = (1 - 2 L eta_g)(1 + L eta_g)/(2 eta_g)"


def picture_of(runs: list[KLRun], title: str, *, printed: bool = False, logx: bool = True) -> Picture:
    """Distances of runs, with the bounds that hold drawn dashed, and printed ones dotted."""
    series: list[dict[str, Any]] = []
    names = [seen.name for seen in runs]
    for seen in runs:
        name = seen.name if names.count(seen.name) == 1 else f"{seen.name}, L eta = {seen.L * seen.eta:.2g}"
        keep = seen.distance > 0
        series.append({"label": name, "x": seen.rounds[keep].tolist(), "y": seen.distance[keep].tolist()})
        bounds = {"corrected bound": seen.corrected} | ({"as printed": seen.printed} if printed else {})
        for label, bound in bounds.items():
            curve = {"x": seen.rounds.tolist(), "y": bound.tolist(), "style": "dashed"}
            series.append({"label": f"{label}, {name}", **curve})
    return Picture(title, "round T", "dist(0, grad f(w_T) + dR(w_T))", series, logx=logx, logy=True)


def exponent_part(seen: KLRun, role: Role = "repaired") -> Part:
    """Whether the interval of D's exponent along a run holds the known one, up to rounding."""
    found, theta = seen.exponent, seen.theta_of_potential
    inside = found.low - 1e-6 <= theta <= found.high + 1e-6
    name = f"exponent: {seen.name}, L eta = {seen.L * seen.eta:.2g}"
    return Part(name, inside, "numeric", f"along the run {found}; known {theta:.4g}", role=role)


QUANTITIES = {"r": RESIDUAL, "S": STEPS, "A": "mean(norm2(w - w_i))", "E": "distance", "dist2": "stationarity"}
#: how r_t bounds the distance, which is the same in every case
TO_THE_DISTANCE = """
      distance: dist2[t] <= C1*S[t]                          by derivation on 0 < L, 0 < eta
"""


# ---- Theorem 2, theta = 0, (11) --------------------------------------------------------------------------------------
#: the square of an element of dD: the parts of the w_i and gamma_i are 1/M of what stands here
ELEMENT = f"norm2({{}}) + (mean(norm2(d_w_i)) + {APART})/M".format


def set_elements(p: Parameters, state: Any, s: Any, slope: Any) -> None:
    """The parts of an element of dD at a state, by a subgradient s of R at w and grad f_i(w_i)."""
    apart = state.w - state.w_i
    state.d_w, state.d_w_i = s + bar(state.gamma_i) + bar(apart) / p.eta, slope - state.gamma_i - apart / p.eta


def play_moved_copies(w: World, p: Parameters, last: int) -> list[Any]:
    """A stationary point (w*, {w*}, {grad f_i(w*)}), and points whose copies alone are others; eta = 1/(L + 2 a), so a = 1/(2 eta) - L/2."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, gamma = w.vector("w*"), w.vector("gamma_i*", True)
    w.at(f, x + gamma * 0, "f_i(w*)", g=gamma)
    w.at(reg, x, "R(w*)", g=-bar(gamma))
    states = []
    for k in range(last + 1):
        state = SimpleNamespace(w=x, w_i=w.vector(f"w_i {k}", True), gamma_i=gamma, f_i=f, R=reg)
        slope, _ = w.at(f, state.w_i, f"f_i {k}")
        set_elements(SimpleNamespace(eta=1 / (p.L + 2 * p.a)), state, -bar(gamma), slope)
        states.append(state)
    return states


NO_SMALLER = Theorem(
    "0 < L, 0 < a, 1 <= M, 0 < c, 0 <= theta < 1/2",
    "a**(2*theta) <= c**2*(1 - theta)**2*b*U[t]**(1 - 2*theta)",
    """
      growth: a*U[t] <= r[t]                            by derivation
      slope:  E[t] <= b*U[t]                            by derivation
      power:  (a*U[t])**(2*theta) <= r[t]**(2*theta)    by power growth, 2*theta
      done:   claim       by combine (U[t]**(-2*theta))*power, (U[t]**(-2*theta))*kl, (c**2*(1 - theta)**2*U[t]**(-2*theta))*slope
    """,
    states=PlayedStates(play_moved_copies),
    rounds={"t": 0},
    quantities={"U": APART, "E": ELEMENT("d_w"), "r": f"{POTENTIAL} - ({OF_F})"},
    where={"eta": "1/(L + 2*a)", "b": "1/eta**2 + (L + 1/eta)**2 + 1"},
    given={"moved": "0 < U[t]", "above": "0 < r[t]", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    units="value = length**2",
)


def finite_runs(ctx: Context, *, eta: str = "9/20") -> Iterator[Finding]:
    """What is seen where f + R is sharp."""
    step_size = Fraction(eta)
    problem, states = sharp_states(12, step_size)
    potential = potentials.fedslr(step_size)
    residuals = [potential(problem, s) - Fraction(9, 200) for s in states]
    still = [all([compare(s.x[0, 0], "==", 0), compare(abs(s.gamma_i[0, 0]), "<=", 1)]) for s in states[4:]]
    ratio = (step_size / (1 + step_size)) ** 2
    falls = [compare(b, "==", ratio * a) for a, b in zip(residuals[5:], residuals[6:], strict=False)]
    yield decided(
        "finite identification on (w - 3/10)^2/2 + |w|",
        all(still) and all(falls) and compare(residuals[-1], ">", 0),
        f"w_t = 0, the minimiser, in rounds 4 to 12, while r_t > 0 falls by (eta/(1 + eta))^2 = {ratio} a round: the exponent of f + R is 0, "
        "that of D 1/2",
        role="reading",
    )
    yield exponent_part(sharp_run(), "reading")
    title = "theta = 0 of f + R: the distance is 0 from round 4 on, the bound is linear"
    yield picture_of([sharp_run()], title, logx=False)


CLAIMS += [
    claim(
        "FEDSLR-T2a",
        "Theorem 2, theta = 0, (11)",
        "Where D has exponent 0, dist(0, grad f(w_T) + dR(w_T)) = 0 for all T > t_0.",
        [Step("its hypothesis is never met", NO_SMALLER, empty=True)],
        assumptions=[*SAME, PRINTED_STEP],
        readings=[
            "A4 is read of D at every critical point, and (w*, {w*}, {grad f_i(w*)}) is one, as w* is stationary (Theorem 1). The statement is "
            "empty, not false: near it A4's inequality fails for every theta < 1/2 and c (FEDSLR-N7). Zero distance after finitely many rounds is "
            "seen where f + R is sharp, and it does not follow from A4."
        ],
        kind="rate",
        besides=finite_runs,
        faults=[
            Fault("eta = 1/10, which takes longer", "finite identification on (w - 3/10)^2/2 + |w|", {"eta": "1/10"})
        ],
    ),
]


# ---- Theorem 2, 0 < theta <= 1/2, (12) -------------------------------------------------------------------------------
#: C_4 = C_2/(C_3 c (1 - theta))^2 is the parameter, and c what it is of; rounds are counted from t_0, which is 1
LINEAR = Theorem(
    "0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < C4, 0 < theta <= 1/2",
    "dist2[T] <= C1*r[1]/C2*(1 - C4)**(T - 1)",
    TO_THE_SLOPE
    + """
      rec:     C4*r[t]**(2*theta) <= r[t] - r[t+1]           by combine descent, (C2/C3**2)*slope, C4*kl
      small:   r[t]**(1 - 2*theta) <= 1                      by power short, 1 - 2*theta
      more:    r[t] <= r[t]**(2*theta)                       by combine (r[t]**(2*theta))*small
      round:   r[t+1] <= (1 - C4)*r[t]                       by combine rec, C4*more
      all:     r[T] <= (1 - C4)**(T - 1)*r[1]                by cases 1 - C4:
                 (induction T: base combine; step combine (1 - C4)*ih, 1*round(t=T));
                 (cases (1 - C4)**(T - 1)*r[1] - r[T]: combine case2; combine ((r[T] - (1 - C4)**(T - 1)*r[1])/r[2])*round(t=1),
                 ((r[T] - (1 - C4)**(T - 1)*r[1])/r[2]*r[1])*case)
    """
    + TO_THE_DISTANCE
    + """
      done:    claim                                         by combine distance(t=T), (C1/C2)*descent(t=T), (C1/C2)*above(t=T+1), (C1/C2)*all
    """,
    states=WITH_BOTH,
    rounds={"t": 1, "T": 1},
    quantities=QUANTITIES,
    where=OF_THEOREM_2,
    given={"above": "0 < r[t]", "short": "r[t] <= 1", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    assumed={"an element": DISTANCE, **OF_THE_OBJECTIVE},
    units="value = 1, length = 1",
)
#: (1/L + 1/2) dist(0, dD)^2 - D >= 0 for one client (L/2) w^2 and R = 0, so theta = 1/2 with a finite c: dist^2 = a^2 + b^2 + e^2, D, squares
HALF = (
    "(1/L + 1/2)*(a**2 + b**2 + e**2) == (a + b)**2/(2*L) + a*e - e**2/(2*eta)"
    " + (a - b)**2/(2*L) + (a - e)**2/2 + b**2/2 + e**2*(1/L + 1/(2*eta))"
)


def on_the_square(L: Fraction, eta: Fraction, start: Fraction) -> tuple[Assumption, ...]:
    """What Theorems 2 and 3 assume of one client (L/2) w^2, flattened beyond |w| = 2 w_0, and of eta_g."""
    return (
        assume("A1, the curvature of f", "bend <= L", bend=flattened_square(L, 2 * start).curvatures.max(), L=L),
        assume("A2 and A3: f is (L/2) w^2 up to |w| = 2 w_0, with slope 2 L w_0 beyond", "start > 0", start=start),
        Assumption("A4: D has exponent 1/2 at 0, by a sum of squares", is_so(HALF), "exact arithmetic"),
        assume("global step size", "2*L*eta < 1", L=L, eta=eta),
    )


def replay_linear(instance: Mapping[str, Any]) -> Replay:
    """dist^2 in round t + 1 against C_1 r_t/|C_2|, which is at least the square of (12)'s right side for every c, as 0 <= C_4 <= 1."""
    L, eta, start = fractions_of(instance, ("L", "eta", "start"))
    t = int(instance["t"])

    def measure(number: Any) -> tuple[Any, Any, list[Any]]:
        problem, states = play_on_line(flattened_square(L, 2 * start), eta, start, t + 2, exactly=number is Fraction)
        k = Constants(number(L), number(eta))
        r = potentials.fedslr(number(eta))(problem, states[t])
        return problem.grad(states[t + 1].x)[0, 0] ** 2, k.c1_printed * r / k.c2, states[t + 1 :]

    (exact, bound, (before, after)), (measured, limit, _) = measure(Fraction), measure(float)
    apart = [abs((1 + L * eta) * getattr(after, f) - getattr(before, f)).max() for f in ("x", "x_i", "gamma_i")]
    later = "every later round is this one divided by 1 + L eta, so that no later t_0 helps"
    assumptions = (*on_the_square(L, eta, start), assume(later, "away <= 0", away=max(apart)))
    what = f"dist^2 in round {t + 1} against C_1 r_{t}/|C_2|"
    return Replay(what, float(measured), float(limit), exact, bound, "fractions", assumptions)


def factor_on_quadratics(times: str) -> Rate:
    """||w_t - w*||^2 falls by 1/(1 + eta a)^2 a round on quadratics of curvature a with different minimisers, no less and no more."""
    return Rate(
        lambda eta: FedSLR(eta),
        problem=lambda a: scalar_quadratics(np.array([a, a]), [0, 1]),
        start=2,
        region="0 < a <= 1, 0 < eta < 1/2",
        metric="distance",
        factor=f"({times})/(1 + eta*a)**2",
        tight=True,
        name="quadratics of one curvature",
    )


def linear_runs(
    ctx: Context, *, eta: str = "1/1000", L: str = "100", faster: float = 1.0, times: str = "1"
) -> Iterator[Finding]:
    """(12) fails with the printed C_1 in units in which eta is small, and holds with the corrected constants on runs."""
    for t in (0, 1, 12):
        yield refute(f"with C_1 as printed, t_0 = {t}", replay_linear, {"L": L, "eta": eta, "start": "1", "t": t})
    exactly = next(found for found in factor_on_quadratics(times).findings(ctx) if isinstance(found, Part))
    yield replace(exactly, name="exact factor on quadratics", role="repaired")
    runs = [low_rank_run(), low_rank_run(step=0.2)]
    for seen in runs:
        keep = seen.trusted
        speed = fit_contraction(seen.rounds[keep], seen.distance[keep])
        k = seen.constants
        bound = seen.corrected[keep] * faster ** (seen.rounds[keep] - 1)
        name = f"low-rank regression, L eta = {seen.L * seen.eta:.2g}"
        text = f"every round; the distance falls by {speed} a round, the bound by {(1 - k.c4) ** 0.5:.6f}; least c = {k.c:.4g}"
        yield at_most(name, seen.distance[keep], bound, "numeric", text, role="repaired")
        yield exponent_part(seen)
    yield picture_of(runs, "theta = 1/2: linear convergence with an active nuclear norm", logx=False)


CLAIMS += [
    claim(
        "FEDSLR-T2b",
        "Theorem 2, 0 < theta <= 1/2, (12)",
        "There is a t_0 so that for T > t_0 dist^2 <= (C_1 r_{t_0}/C_2)(1 - C_4)^(T - t_0), C_1 = 4 (eta_g L^2 + eta_g^2 L^4 + 1/eta_g + L^2).",
        [Step("with corrected constants", LINEAR, "repaired")],
        assumptions=[*SAME, KL_HOLDS, SHORT_STEP],
        repaired=f"(12) with {CORRECTED}, for t_0 with r_{{t_0}} <= 1 and A4's inequality at the iterates from t_0 on.",
        readings=[
            "C_2 is read as -C_2 throughout (FEDSLR-T2-81). Only theta = 1/2 occurs (FEDSLR-T2a). The printed C_1 is large enough where eta_g >= "
            "1/4 in the units at hand; it has no fixed dimension, and the linear rate itself stands."
        ],
        kind="rate",
        besides=linear_runs,
        faults=[
            Fault("eta_g of order one", "with C_1 as printed, t_0 = 1", {"eta": "1/3", "L": "1"}, holds=True),
            Fault("an exact factor that is 1 % smaller", "exact factor on quadratics", {"times": "99/100"}),
            Fault("a factor that is 10 % smaller a round", "low-rank regression, L eta = 0.45", {"faster": 0.9}),
        ],
        replay=replay_linear,
    ),
]


# ---- Theorem 2, 1/2 < theta < 1, (13) --------------------------------------------------------------------------------
#: theta = 1/2 + 1/(4 p), so that p = 1/(4 theta - 2) > 1/2; m_t is the root r_t^(1/(2p)) = r_t^(2 theta - 1)
SUBLINEAR = replace(
    LINEAR,
    region="0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < C4, 0 < q",
    claim="dist2[T] <= (C5*T**(-p))**2",
    proof=TO_THE_SLOPE
    + """
      rec:     C4*m[t]**(2*p + 1) <= m[t]**(2*p) - m[t+1]**(2*p)      by combine descent, (C2/C3**2)*slope, C4*kl, root, root(t=t+1)
      tangent: 1 - 2*p*(m[t]/m[t+1] - 1) <= (m[t]/m[t+1])**(-2*p)     by bernoulli m[t]/m[t+1] - 1, -2*p
      grows:   1/m[t] + C4/(2*p) <= 1/m[t+1]                 by combine (1/(2*p*m[t]))*tangent, (1/(2*p*m[t]**(2*p + 1)))*rec
      first:   C4/(2*p) <= 1/m[1]                            by combine (1/m[1]**(2*p + 1))*rec(t=1)
      all:     C4/(2*p)*T <= 1/m[T]                          by induction T: base combine first; step combine ih, grows(t=T)
      small:   m[T] <= 2*p/(C4*T)                            by combine (2*p*m[T]/(C4*T))*all
      rate:    m[T]**(2*p) <= (2*p/(C4*T))**(2*p)            by power small, 2*p
    """
    + TO_THE_DISTANCE
    + """
      done:    claim                                         by combine 1*distance(t=T), (C1/C2)*descent(t=T), (C1/C2)*root(t=T),
                 (-C1/C2)*root(t=T+1), (C1/C2)*rate
    """,
    quantities={**QUANTITIES, "m": "root"},
    where={
        "p": "1/2 + q",
        "theta": "1/2 + 1/(4*p)",
        **OF_THEOREM_2,
        "C5": "sqrt(C1/C2)*((2*theta - 1)*C4)**(-p)",
    },
    given={
        "above": "0 < m[t]",
        "root": "r[t] == m[t]**(2*p)",
        "kl": "m[t]**(2*p + 1) <= c**2*(1 - theta)**2*E[t]",
    },
    units="value = length**2",
)


def powers_are_slow(p: int) -> bool:
    """What the lower bound on |w|^p/p needs: Bernoulli's inequality, a round of the method's own code, D's exponent, and the exponents compared."""
    q = p - 2
    x = symbols("x", positive=True)
    bernoulli = is_positive((1 - (1 - q * x) * (1 + x) ** q).expand())
    before, after, g, eta = play_unknown(FedSLR, clients=1)
    old = before.x[0, 0] + eta * before.gamma_i[0, 0]
    y, slope = after.x_i[0, 0], g[0, 0]
    rounds = [
        is_zero(y + eta * slope - old),
        is_zero(after.x[0, 0] - (y - eta * slope)),
        is_zero(after.gamma_i[0, 0] - slope),
    ]
    gamma, e = symbols("gamma e")
    a = gamma + e / eta
    bounded = is_zero(gamma * e + e**2 / (2 * eta) - (a * e - e**2 / (2 * eta)))
    theta = 1 - Fraction(1, p)
    slower = compare(theta / (2 * theta - 1), "<", 4 * theta - 2)
    return bernoulli and all(rounds) and bounded and slower


SLOW = (
    "f(w) = |w|^p/p for |w| <= 1, with slope 1 beyond, one client, R = 0 and 0 < w_0 <= 1: s_t = w_t + eta gamma_t obeys s_{t+1} + eta "
    "s_{t+1}^(p-1) = s_t and w_t = s_t - eta s_t^(p-1), so by Bernoulli s_{t+1}^(2-p) <= s_t^(2-p) + (p-2) eta and dist(0, grad f(w_T)) = "
    "w_T^(p-1) >= const T^(-(p-1)/(p-2)) = const T^(-theta/(2 theta - 1)), theta = 1 - 1/p. That is D's exponent at 0: with a = gamma + (w - "
    "y)/eta, b = f'(y) - a, e = w - y all at most dist(0, dD), D = f(y) + a e - e^2/(2 eta) <= const dist^(1/theta) for dist <= 1. As theta/(2 "
    "theta - 1) < 4 theta - 2, no constant C_5 does"
)


def far_away_is_slow(order: str = "1/T") -> bool:
    """Where f' = 1, a round moves w_t by -eta and leaves the distance 1; ``order`` of (13) for theta = 3/4 is below 1 at T = C + 1, for every C."""
    before, after, g, eta = play_unknown(FedSLR, clients=1)
    flat = {g[0, 0]: 1, before.gamma_i[0, 0]: 1}
    moved = (after.x[0, 0] - before.x[0, 0]).subs(flat)
    copy = (after.x_i[0, 0] - before.x[0, 0]).subs(flat)
    theta = Fraction(3, 4)
    return (
        is_zero(moved + eta)
        and is_zero(copy)
        and compare(4 * theta - 2, "==", 1)
        and is_so(f"1 > C*({order}) where T = C + 1")
    )


FAR = (
    "f(w) = w^4/4 for |w| <= 1, with slope 1 beyond, one client, R = 0: D has the exponent 3/4 at 0, and A4's inequality is local. From w_0 > 1 "
    "with gamma_0 = 1 copies stay at w_t, and w_{t+1} = w_t - eta_g as long as w_t > 1, where the distance is 1. C_5 depends on L, eta_g, theta "
    "and c, and not on the start, so that (13), C_5/T here, is exceeded at T = C_5 + 1 from w_0 = 1 + eta_g (C_5 + 2), whatever C_5 is"
)


def measured_rate(p: int, known: Any, exponent: float | None) -> Rate:
    """dist^2 of order T^(-2 theta/(2 theta - 1)) on |w|^p/p, no less and no more; ``exponent``: another one."""
    law = -2 * (implied_rate(known.theta).subgradient or 0.0) if exponent is None else exponent
    return Rate(
        lambda: FedSLR(0.25 / (p - 1)),
        problem=lambda: known.problem,
        start="9/10",
        metric="stationarity",
        exponent=str(Fraction(law).limit_denominator(1000)),
        tight=True,
        name=f"dist^2 on |w|^{p}/{p}",
    )


def sublinear_runs(
    ctx: Context, *, p: int = 6, exponent: Any = None, instance: Any = power, order: str = "1/T"
) -> Iterator[Finding]:
    """(13)'s exponent against a lower bound; measured rates and exponents against the corrected one with its constants."""
    for degree in (p, 8, 10) if p == 6 else (p,):
        yield disproved(f"on |w|^{degree}/{degree}", powers_are_slow(degree), SLOW)
    yield disproved("for all T > 0", far_away_is_slow(order), FAR)
    for degree in (4, 6, 8):
        found = measured_rate(degree, instance(degree), exponent).findings(ctx)
        rate = next(part for part in found if isinstance(part, Part))
        yield replace(rate, name=f"rate on |w|^{degree}/{degree}", role="repaired")
    runs = [power_run(6), power_run(8), flat_matrix_run()]
    for seen in runs:
        text = f"every round up to {int(seen.rounds[-1])}, C_5 = {seen.constants.c5:.4g}"
        yield at_most(f"bound: {seen.name}", seen.distance, seen.corrected, "numeric", text, role="repaired")
        yield exponent_part(seen)
    above = runs[1].rounds[runs[1].distance > runs[1].printed]
    first = int(above[0]) if len(above) else "none"
    text = f"on |w|^8/8 with corrected constants and the printed exponent the bound is exceeded from round {first} on"
    yield Part("printed bound with numbers", not len(above), "numeric", text, role="reading")
    yield picture_of(runs[1:], "theta > 1/2: the printed exponent is too good", printed=True)


CLAIMS += [
    claim(
        "FEDSLR-T2c",
        "Theorem 2, 1/2 < theta < 1, (13)",
        "dist(0, grad f(w_T) + dR(w_T)) <= C_5 T^(-(4 theta - 2)) for all T > 0.",
        [Step("with the exponent -1/(4 theta - 2)", SUBLINEAR, "repaired")],
        assumptions=[*SAME, KL_HOLDS, SHORT_STEP],
        repaired=f"dist <= C_5 (T - t_0)^(-1/(4 theta - 2)) for T > t_0, where A4's inequality holds at the iterates after round t_0, with "
        f"{CORRECTED}, and 0 < eta_g < 1/(2L).",
        readings=[
            "The step before (13) has the right exponent, T^(1/(2 - 4 theta)); the slip is in its last rewriting, and contradicts Remark 7. "
            "Printed and corrected agree at theta = 3/4; the printed rate is exceeded where 8 theta^2 - 9 theta + 2 > 0, theta > (9 + sqrt 17)/16 "
            "= 0.8202. 'For all T > 0' is false besides, whatever C_5 is: A4 is local. On the runs its inequality holds from round 1 "
            "on, so that t_0 is 0."
        ],
        kind="rate",
        besides=sublinear_runs,
        faults=[
            Fault("p = 4, where the printed exponent is right", "on |w|^4/4", {"p": 4}, holds=True),
            Fault("a rate that is 5 % better", "rate on |w|^8/8", {"exponent": 2.45}),
            Fault("an order that does not fall", "for all T > 0", {"order": "1"}, holds=True),
        ],
    ),
]

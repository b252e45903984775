"""Ours: how the potential (10) falls and what is below it, the end of the step range, the best iterate, the first round, and convex f_i."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms.fedslr import FedSLR, FedSLRState
from fedtheory.claims import Claim, Context, Fault, Finding, Part, PlayedStates, Reading, Theorem, lemma
from fedtheory.claims.orderings import make_table
from fedtheory.claims.parts import at_most, decided, holds, proved
from fedtheory.claims.protocol import Clause, join_clauses
from fedtheory.claims.statements.as_claims import find_of_lemma
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, bar, norm2
from fedtheory.core.layers import ranks
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import agree, symbols
from fedtheory.running.runner import run
from paper_checks.averaged_quadratics import GivenAnswers
from paper_checks.fedslr.assumptions import DISTANCE, EXACT
from paper_checks.fedslr.bounds import potential
from paper_checks.fedslr.notation import C1, C2, CHOICE, DERIVED, INSIDE, POTENTIAL, SERVER, STEPS, derived
from paper_checks.fedslr.played import play_on_line
from paper_checks.fedslr.rounds import ROUNDS, distance_below, first_round, play_on, play_rounds
from paper_checks.fedslr.section_5_a_theorem_1 import LOWER_BOUND
from paper_checks.given_gradients import SCRIPT
from paper_checks.steps import Step
from problems.low_rank import low_rank_regression
from problems.piecewise import piecewise_quadratic

CLAIMS: list[Claim] = []

# ---- N1: the descent in factors --------------------------------------------------------------------------------------
FACTORED = Theorem(
    "0 < L, 0 < eta",
    (
        "D[t+1] <= D[t] - C2*S[t]",
        "C2 == (1 - 2*L*eta)*((1 + L*eta)/(2*eta))",
        "0 < (1 + L*eta)/(2*eta)",
    ),
    """
      descent: claim 1   by derivation
      factors: claim 2   by combine
      sign:    claim 3   by combine
    """,
    states=ROUNDS,
    rounds={"t": 1},
    quantities={"D": POTENTIAL, "S": STEPS},
    where={"C2": "1/(2*eta) - L/2 - L**2*eta"},
)
CLAIMS += [
    derived(
        "FEDSLR-N1",
        "Lemma 3 and (71)",
        "The potential falls by (1 - 2 L eta_g)(1 + L eta_g)/(2 eta_g) mean_i ||w_{i,t+1} - w_{i,t}||^2 at least, which is positive exactly for "
        "eta_g < 1/(2L).",
        [Step("the descent in factors", FACTORED)],
        assumptions=[EXACT],
        readings=[
            "This is -C_2: the paper calls C_2 = L^2 eta_g + L/2 - 1/(2 eta_g) positive by assumption, and it is negative."
        ],
    ),
]


# ---- N2: the end of the step range -----------------------------------------------------------------------------------
def play_copies(w: World, p: Parameters, last: int) -> list[Any]:
    """Phase I's own rounds on f(w) = -L ||w||^2/2 while w_t = 0; ``asked``: where the server asks R's operator; eta_g = 1/(2L) by default."""
    eta = getattr(p, "eta", 1 / (2 * p.L))
    y, states = w.vector("w_i"), []
    for _ in range(last + 1):
        answer = y * (-p.L * eta / (1 - p.L * eta))
        made = w.round_of(
            lambda local: FedSLR(eta, local),
            lambda **fields: FedSLRState(**fields, p_i=None, sent=None, gamma=None),
            {"x": y * 0, "x_i": y, "gamma_i": y * -p.L},
            answer,
        )
        states.append(SimpleNamespace(w_i=y, w_i_next=answer, dual=made["gamma_i"], asked=made["x"]))
        y = answer
    return states


#: vectors are multiples of each other by their products and squares
MULTIPLIED = Theorem(
    "0 < L, 0 < eta < 1/L",
    (
        "copies[t+1] == (L*eta/(1 - L*eta))**2*copies[t]",
        "pair[t] == -L*eta/(1 - L*eta)*copies[t]",
        "duals[t] == L**2*copies[t+1]",
        "slopes[t] == -L*copies[t+1]",
        "asked[t] == (1 + L*eta)**2*copies[t+1]",
    ),
    "\n".join(f"line{k}: claim {k} by identity" for k in range(1, 6)),
    states=PlayedStates(play_copies),
    rounds={"t": 0},
    quantities={
        "copies": "norm2(w_i)",
        "pair": "dot(w_i_next, w_i)",
        "duals": "norm2(dual)",
        "slopes": "dot(dual, w_i_next)",
        "asked": "norm2(asked)",
    },
)
ALTERNATING = replace(
    MULTIPLIED,
    region="0 < L",
    claim=(
        "copies[t+1] == copies[t]",
        "pair[t] == -copies[t]",
        "duals[t] == L**2*copies[t+1]",
        "slopes[t] == -L*copies[t+1]",
        "asked[t] == 9/4*copies[t]",
    ),
)
CLAIMS += [
    derived(
        "FEDSLR-N2",
        "Theorem 1 at eta_g = 1/(2L)",
        "On f(w) = -L w^2/2 near 0 with lam|w| a round multiplies w_{i,t} by -x/(1 - x) while w_t = 0, x = L eta_g: for x = 1/2 copies and duals "
        "alternate for ever.",
        [Step("multiplier", MULTIPLIED), Step("cycle", ALTERNATING)],
        readings=[
            "The duals are gradients again, so that the answer solves (4). The operator of lam|w| answers 0 where it is asked for at most eta_g lam, "
            "which stays so at x = 1/2; FEDSLR-T1a has an instance."
        ],
        kind="identity",
    ),
]


# ---- N3: convex f_i --------------------------------------------------------------------------------------------------
def play_convex(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with convex f_i."""
    return play_rounds(w, p, last, convex=True)


CONVEX_ROUNDS = PlayedStates(play_convex, begins=partial(first_round, convex=True), least=1)
CONVEX_SHORT = Theorem(
    CHOICE,
    "D[t+1] <= D[t] - 1/(2*eta)*S[t]",
    "done: claim by derivation",
    states=CONVEX_ROUNDS,
    rounds={"t": 1},
    quantities={"D": POTENTIAL, "S": STEPS},
)
CONVEX_LONG = replace(
    CONVEX_SHORT,
    region="0 < L, 1/(2*L) <= eta < 1/L",
    claim="D[t+1] <= D[t] - (1/(2*eta) - (eta - 1/(2*L))*L**2)*S[t]",
)
CLAIMS += [
    derived(
        "FEDSLR-N3",
        "Lemma 3 for convex f_i",
        (
            Clause(
                "For convex f_i the potential falls by mean_i ||w_{i,t+1} - w_{i,t}||^2/(2 eta_g) at least for eta_g <= 1/(2L),",
                ("eta_g <= 1/(2L)",),
            ),
            Clause(
                "and by (1/(2 eta_g) - (eta_g - 1/(2L)) L^2) mean_i ||w_{i,t+1} - w_{i,t}||^2 at least for 1/(2L) <= eta_g < 1/L.",
                ("1/(2L) <= eta_g < 1/L",),
            ),
        ),
        [Step("eta_g <= 1/(2L)", CONVEX_SHORT), Step("1/(2L) <= eta_g < 1/L", CONVEX_LONG)],
        assumptions=[EXACT, "f_i convex"],
        readings=["One round only; that the method converges for convex f_i and every eta_g is FEDSLR-N13."],
    ),
]


# ---- N4: the potential from below ------------------------------------------------------------------------------------
CLAIMS += [
    derived(
        "FEDSLR-N4",
        "the potential (10)",
        "D(w, {w_i}, {grad f_i(w_i)}) >= f(w) + R(w) + (1/(2 eta_g) - L/2) mean_i ||w - w_i||^2.",
        [Step("from below", LOWER_BOUND)],
    ),
]


# ---- N10: the best iterate -------------------------------------------------------------------------------------------
def play_with_distance(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with dist(0, grad f(w_t) + dR(w_t))^2, of which the server's step before has left an element."""
    states = play_rounds(w, p, last)
    for k, state in enumerate(states):
        slope, _ = w.at(state.f_i, state.w + state.gamma_i * 0, f"grad f_i(w) {k}")
        state.distance = distance_below(w, f"{k}", bar(slope) + state.s)
    return states


BEST_ITERATE = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    "exists t in 1..T: dist2[t] <= C1*(D[1] - D[T+1])/(C2*T)",
    """
      descent:  D[t+1] <= D[t] - C2*S[t]                           by derivation
      distance: dist2[t] <= C1*S[t]                                by derivation on 0 < L, 0 < eta
      total:    C2*sum(S[t], t, 1, T) <= D[1] - D[T+1]             by telescope of descent
      best:     exists t in 1..T: S[t] <= (D[1] - D[T+1])/(C2*T)   by mean total
      done:     claim                                              by combine distance, best
    """,
    states=replace(ROUNDS, play=play_with_distance),
    rounds={"t": 1, "T": 1},
    quantities={"D": POTENTIAL, "S": STEPS, "dist2": "distance"},
    where={"C1": C1, "C2": C2},
    assumed={"an element": DISTANCE},
)
CLAIMS += [
    derived(
        "FEDSLR-N10",
        "Theorem 2, without the KL property",
        "min_{1 <= t <= T} dist(0, grad f(w_t) + dR(w_t))^2 <= (C_1/C_2)(D_1 - D_{T+1})/T with C_1 = (1/eta_g + eta_g L^2)^2 and C_2 = (1 - 2 L "
        "eta_g)(1 + L eta_g)/(2 eta_g), for 0 < eta_g < 1/(2L).",
        [Step("the best iterate", BEST_ITERATE)],
        assumptions=[EXACT],
    ),
]


# ---- N11: the first round --------------------------------------------------------------------------------------------
def play_start(w: World, p: Parameters, last: int) -> list[Any]:
    """A run from w_{i,0} = w_0 and gamma_{i,0} = grad f_i(w_0); w_0 is no server step's, and s any subgradient of R there."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, g, s = w.vector("w_0"), w.vector("gamma_i0", True), w.vector("s0")
    w.at(f, x + g * 0, "f_i 0", g=g)
    w.at(reg, x, "R0", g=s)
    return play_on(w, p, last, SimpleNamespace(w=x, w_i=x + g * 0, gamma_i=g, s=s, f_i=f, R=reg))


FIRST_ROUND = Theorem(
    CHOICE,
    "D[1] <= D[0] - 1/(2*eta)*M[0]",
    "done: claim by derivation",
    states=PlayedStates(play_rounds, start=play_start),
    quantities={"D": POTENTIAL, "M": SERVER},
)


@lemma("cold start", "Lemma 3 at t = 0, as (43) uses it", INSIDE, c=0)
def cold(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """D_1 <= D_0 - c/(2 eta) ||w_1 - w_0||^2 from w_{i,0} = w_0 = 0 and gamma_{i,0} = 0."""
    f, reg = w.function(p.L, -p.L, client=True, name="f"), w.function(None, 0, name="R")
    g, gn, sn = w.vector("grad f_i(w_0)", True), w.vector("gamma_i+", True), w.vector("s+")
    x = sn * 0
    y = g * 0
    _, v = w.at(f, y, "f_i", g=g)
    gamma = g * 0
    yn = x - (gn - gamma) * p.eta
    _, vn = w.at(f, yn, "f_i+", g=gn)
    xn = bar(yn - gn * p.eta) - sn * p.eta
    _, r_old = w.at(reg, x, "R")
    _, r_new = w.at(reg, xn, "R+", g=sn)
    change = potential(p.eta, vn, r_new, xn, yn, gn) - potential(p.eta, v, r_old, x, y, gamma)
    return change + norm2(xn - x) * (c.c / (2 * p.eta))


CLAIMS += [
    derived(
        "FEDSLR-N11",
        "Lemma 3 at t = 0, which (43) adds",
        "D_1 <= D_0 - ||w_1 - w_0||^2/(2 eta_g) from w_{i,0} = w_0 and gamma_{i,0} = grad f_i(w_0), for 0 < eta_g <= 1/(2L).",
        [
            Step("gamma_{i,0} = grad f_i(w_0)", FIRST_ROUND),
            Step("gamma_{i,0} = 0: D_1 <= D_0", cold, "reading"),
        ],
        assumptions=["exact local solves"],
        readings=[
            "The paper does not say how gamma_{i,0} and w_{i,0} start. From 0 and w_0, which its public code takes, the potential can rise in the "
            "first round; its sums from t = 0 then begin at t = 1."
        ],
        false={"gamma_{i,0} = 0: D_1 <= D_0": "gamma_{i,0} = grad f_i(w_0)"},
    ),
]


# ---- N13: one limit for every step size ------------------------------------------------------------------------------
def column(name: str, n: int) -> Any:
    """Symbols name1, ..., namen as clients' points (n, 1)."""
    return np.asarray(symbols(f"{name}1:{n + 1}"), dtype=object)[:, None]


class AnyOperator:
    """A proximal operator with a given answer, which remembers what it was asked for."""

    numeric_only = None

    def __init__(self, answer: Any) -> None:
        self.answer, self.point, self.step = answer, None, None

    def prox(self, v: Any, step: Any) -> Any:
        """Return the answer."""
        self.point, self.step = v, step
        return self.answer


def fixed_point_asks(printed: bool, shift: Any) -> bool:
    """Whether at local models w and duals g_i the server asks its operator at w + shift(mean g, eta), with step eta."""
    eta, w = symbols("eta", positive=True), np.array([[symbols("w")]], dtype=object)
    duals = column("g", 3)
    problem: Any = SimpleNamespace(n=3, d=1, name="any functions", regulariser=AnyOperator(w))
    problem.take = lambda clients: problem
    method = FedSLR(eta, local=GivenAnswers(0 * duals + w), printed=printed)
    method.round(problem, FedSLRState(w, 0 * duals + w, duals, None, None), None, SCRIPT)
    asked = problem.regulariser
    return (
        asked.step is not None
        and agree(asked.point, w + shift(duals.mean(axis=0, keepdims=True), eta))
        and agree(asked.step, eta)
    )


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


def check_ranks(ctx: Context, *, printed: bool = False, firmness: str = "1", weight: float = 0.3) -> Iterator[Finding]:
    """I-LRS with four step sizes: one limit, one rank at the end, other ranks on the way."""
    fixed = proved(
        "fixed points",
        fixed_point_asks(printed, lambda g, step: -step * g),
        "at a fixed point w_i = w and gamma_i = grad f_i(w) (Fact 2), and the operator with step eta, whatever it is, gives w at w - eta mean "
        "gamma: 0 in grad f(w) + dR(w), without eta",
    )
    yield fixed
    found = list(find_of_lemma(firm.with_constants(c=firmness), name="a round"))
    yield from found
    steps = [finding for finding in found if isinstance(finding, Part)]
    text = (
        "for t >= 1 z_{i,t} = w_{i,t} + eta gamma_{i,t} comes no further from any fixed point, and the sum of mean ||z_{i,t+1} - z_{i,t}||^2 = "
        "mean ||w_t - w_{i,t}||^2 is finite; so z_t is bounded, its cluster points are fixed (proximal maps are continuous), and it converges to "
        "one of them: w_t and w_{i,t} to one minimiser, which is the same for every eta_g where it is unique"
    )
    yield proved("convergence", True, text, resting_on=[fixed, *steps])
    _, states = play_on_line(piecewise_quadratic([0, 1], [-1, -1], name="-w"), Fraction(1, 2), Fraction(0), 9)
    yield decided(
        "without a minimiser",
        all(compare(state.x[0, 0], "<=", 3) for state in states),
        f"f(w) = -w is convex and smooth; with eta_g = 1/2 w_t = t/2 from w_0 = 0, so w_9 = {states[-1].x[0, 0]}, and w_t is unbounded",
        role="reading",
    )
    problem = low_rank_regression(weight=weight).problem
    truth = ground_truth(low_rank_regression().problem)
    layers = problem.layers or ()
    at, rows, apart = (1, 2, 3, 6, 11, 21, 51, 101), list[list[Any]](), list[float]()
    measured = {"rank": lambda f, state: ranks(state.x, layers)[..., 0, 0]}
    for name, eta in (("0.45/L", 0.45 / float(problem.certify()["L"].value)), ("1", 1.0), ("3", 3.0), ("10", 10.0)):
        trace = run(FedSLR(eta, init_dual="zero"), problem, np.zeros(problem.d), 400, metrics=measured, progress=False)
        apart.append(float(np.linalg.norm(trace.state.x - truth.x)))
        rows.append([name, *(int(trace["rank"][r]) for r in (*at, 400))])
    told = f"distance to the minimiser (certified to {truth.distance:.1g}) after 400 rounds"
    yield at_most("one limit", apart, 1e-3, "numeric", told)
    final, optimum = {row[-1] for row in rows}, int(ranks(truth.x[None, :], layers).item())
    yield holds(
        "one rank", final == {optimum}, "count", f"for every eta_g, at the end: {final}, the minimiser's: {optimum}"
    )
    early = [row[3] for row in rows]
    falls = early == sorted(early, reverse=True) and early[-1] < early[0]
    yield holds("other ranks on the way", falls, "count", f"after three rounds, by eta_g: {early}")
    yield make_table("Rank of w_t on I-LRS", ["eta_g", *map(str, at), "400"], rows)
    yield Reading(
        "So the fall of ranks with eta_g, which the paper explains by more pruning, is one of the way, not of the problem that is solved. Its "
        "networks are not convex, and its local solves not exact."
    )


RANKS = (
    Clause(
        "For convex f_i, f + R with a minimiser, and exact solves w_t converges for every eta_g > 0, to a limit that does not depend on it where the "
        "minimiser is unique;",
        ("convergence",),
    ),
    Clause("on I-LRS the ranks on the way fall with eta_g.", ("other ranks on the way",)),
)
CLAIMS += [
    Claim(
        "FEDSLR-N13",
        DERIVED,
        "identity",
        "Table 5",
        join_clauses(RANKS),
        check_ranks,
        (
            Fault("the server divides by eta_g", "fixed points", {"printed": True}),
            Fault("1 % more than firmly nonexpansive", "a round", {"firmness": "101/100"}),
            Fault("lam 2 % larger", "one limit", {"weight": 0.306}),
        ),
        clauses=RANKS,
        assumptions=("exact local solves, all clients", "f_i convex, and f + R has a minimiser"),
    ),
]

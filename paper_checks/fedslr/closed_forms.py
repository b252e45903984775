"""FedSLR on instances that are solved by hand: the end of the step range, inexact rounds, printed Algorithm 2, client drift, ranks on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR, GlobalProximal
from fedtheory.algorithms.fedslr import FedSLRState
from fedtheory.claims.claim import Claim, Fault, Finding, Part, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.orderings import make_table
from fedtheory.claims.parts import at_most, decided, disproved, holds, proved
from fedtheory.claims.protocol import Clause, join_clauses
from fedtheory.claims.statements.as_claims import find_of_lemma
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.errors import require
from fedtheory.core.layers import ranks
from fedtheory.measures.ground_truth import ground_truth, solve_with_cvxpy
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import agree, symbols
from fedtheory.running.runner import run
from paper_checks.averaged_quadratics import MEAN_OF_CLIENTS, GivenAnswers, local_steps_of
from paper_checks.fedslr import by_hand_theorems as theorems
from paper_checks.fedslr.exact_runs import DERIVED, PAPER, derived, play_on_line
from paper_checks.fedslr.operators import AnyOperator, column
from paper_checks.fedslr.potential import firm
from paper_checks.given_gradients import SCRIPT
from paper_checks.steps import Step
from problems.low_rank import low_rank_regression
from problems.piecewise import piecewise_quadratic


def _point(name: str) -> Any:
    return np.array([[symbols(name)]], dtype=object)


# ---- N2 --------------------------------------------------------------------------------------------------------------


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


# ---- N14 -------------------------------------------------------------------------------------------------------------


def _fixed_point_asks(printed: bool, shift: Any) -> bool:
    """Whether at local models w and duals g_i the server asks its operator at w + shift(mean g, eta), with step eta."""
    eta, w = symbols("eta", positive=True), _point("w")
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


# ---- N15 -------------------------------------------------------------------------------------------------------------


def where_line_10_ends(ctx: Context, *, printed: bool = True, power: int = 2) -> Iterator[Finding]:
    """Runs with a nuclear norm against CVXPY's solution for eta_g^2 lam."""
    task = {"n": 3, "rows": 5, "columns": 4, "nonzeros": 2, "samples": 30, "seed": ctx.seed}
    weight, rows = 0.3, []
    for eta in (0.8, 1.5, 2.0):
        method = FedSLR(eta, printed=printed)
        problem = low_rank_regression(**task, weight=weight).problem
        end = run(method, problem, np.zeros(problem.d), 600, seed=ctx.seed, progress=False).state.x[0]
        scaled, _, _ = solve_with_cvxpy(low_rank_regression(**task, weight=weight * eta**power).problem)
        own, _, _ = solve_with_cvxpy(problem)
        rows.append([eta, *(float(np.linalg.norm(end - at) / np.linalg.norm(own)) for at in (own, scaled))])
    told = "distance to the solution for eta_g^2 lam, relative, after 600 rounds"
    yield at_most("CVXPY", [row[2] for row in rows], 1e-4, "numeric", told)
    yield make_table("Where printed Algorithm 2 ends", ["eta_g", "from the solution for lam", "for eta_g^2 lam"], rows)


# ---- N13 -------------------------------------------------------------------------------------------------------------


def check_ranks(ctx: Context, *, printed: bool = False, firmness: str = "1", weight: float = 0.3) -> Iterator[Finding]:
    """I-LRS with four step sizes: one limit, one rank at the end, other ranks on the way."""
    fixed = proved(
        "fixed points",
        _fixed_point_asks(printed, lambda g, step: -step * g),
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


RANKS = (
    Clause(
        "For convex f_i, f + R with a minimiser, and exact solves w_t converges for every eta_g > 0, to a limit that does not depend on it where the "
        "minimiser is unique;",
        ("convergence",),
    ),
    Clause("on I-LRS the ranks on the way fall with eta_g.", ("other ranks on the way",)),
)
CLAIMS = [
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
    derived(
        "FEDSLR-N14",
        "Phase I on f_i = h ||w - b||^2/2, lam = 0",
        (
            Clause("All f_i alike: exact rounds divide w_t + eta_g gamma_t - b by 1 + eta_g h.", ("exact",)),
            Clause(
                "K gradient steps end at b + (1 + q^K x)/(1 + x) (w_t - b) + eta_g (1 - q^K)/(1 + x) gamma_t, x = eta_g h, q = 1 - eta_l (h + "
                "1/eta_g);",
                ("K gradient steps",),
            ),
            Clause("with them a round has determinant q^K,", ("determinant",)),
            Clause("and is stable for 0 < q < 1: w_t -> b, gamma_t -> 0.", ("stable",)),
        ),
        [
            Step("exact", theorems.EXACT_ROUND),
            Step(
                "K gradient steps", theorems.gradient_steps(), wrong={"two steps for one": theorems.gradient_steps(2)}
            ),
            Step(
                "determinant",
                theorems.inexact_rounds(),
                wrong={"the server divides by eta_g": theorems.inexact_rounds(printed=True)},
            ),
            Step("stable", theorems.STABLE),
        ],
        readings=[
            "Q stands for q^K, which is taken to be above 0, eta for eta_g and lr for eta_l. a_11, ..., a_22 are the entries of a round's matrix."
        ],
        kind="identity",
    ),
    derived(
        "FEDSLR-N15",
        "Algorithm 2, line 10",
        (
            Clause(
                "With gamma/eta_g for eta_g gamma, as printed, Algorithm 2 solves (P1) with eta_g^2 lam for lam where models and duals converge,",
                ("another problem",),
            ),
            Clause(
                "and on h ||w||^2/2 every round after the first multiplies w_t by m = -1 - c, c = (h (1 - 2 eta_g^2) - 2 eta_g)/(eta_g (1 + "
                "eta_g h)): it diverges for c > 0, which is h > 2 eta_g/(1 - 2 eta_g^2), eta_g < 1/sqrt(2).",
                ("divergence",),
            ),
        ),
        [
            Step(
                "another problem",
                theorems.line_10_solves(),
                wrong={"eta_g gamma": theorems.line_10_solves(printed=False)},
            ),
            Step(
                "divergence", theorems.diverges(), wrong={"eta_g gamma at the server": theorems.diverges(printed=False)}
            ),
        ],
        assumptions=["exact local solves, all clients, f_i and R convex and finite"],
        readings=["The experiments are said to run Algorithm 2 with eta_g = 10; the public code multiplies."],
        kind="divergence",
        besides=where_line_10_ends,
        faults=(
            Fault("the server multiplies", "CVXPY", {"printed": False}),
            Fault("eta_g lam", "CVXPY", {"power": 1}),
        ),
    ),
    derived(
        "FEDSLR-N19",
        "GPGD, (20) and (21), with lam = 0",
        (
            Clause(
                "On f_i = h_i ||w - b_i||^2/2, 0 < eta h_i < 2, K local steps of GPGD end at b_i + q_i^K (w - b_i), q_i = 1 - eta h_i,",
                ("K local steps",),
            ),
            Clause(
                "so that their mean over all clients is P w + k, k the mean of (1 - q_i^K) b_i and P that of q_i^K, inside (-1, 1);",
                ("mean over clients",),
            ),
            Clause(
                "then a round multiplies the distance from k/(1 - P) = sum (1 - q_i^K) b_i/sum (1 - q_i^K) by |P|, and GPGD ends there,",
                ("every round",),
            ),
            Clause("at the minimiser for K = 1,", ("one step",)),
            Clause(
                "and in general not for more: with h = 1, 4, b = 0, 1, eta = 1/10 and K = 3 at 784/1055 for 4/5.",
                ("three steps",),
            ),
        ),
        [
            Step(
                "K local steps",
                local_steps_of(GlobalProximal),
                wrong={"two local steps for one": local_steps_of(GlobalProximal, 2)},
            ),
            Step("mean over clients", MEAN_OF_CLIENTS),
            Step("every round", theorems.DRIFTS),
            Step("one step", theorems.ONE_STEP),
            Step("three steps", theorems.three_steps(), wrong={"one local step more": theorems.three_steps(4)}),
        ],
        readings=[
            "Q and Q_i stand for q^K and q_i^K, lr for eta; n + 1 is the number of clients. For K = 1 the gradient of sum f_i is a "
            "multiple of sum (1 - q_i) w - sum (1 - q_i) b_i, 0 at that limit alone.",
            "With lam > 0 the printed threshold eta lam stands against K steps of size eta: it regularises about K times too little.",
        ],
        kind="divergence",
    ),
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

"""Ours: instances that are solved by hand: inexact rounds, printed Algorithm 2, and GPGD's drift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import GlobalProximal
from fedtheory.algorithms.fedslr import FedSLR, FedSLRState
from fedtheory.claims import Claim, Clause, Context, Fault, Finding, PlayedStates, Theorem, at_most, run_on_quadratics
from fedtheory.claims.orderings import make_table
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, vector_of
from fedtheory.measures.ground_truth import solve_with_cvxpy
from fedtheory.running.runner import run
from paper_checks.averaged_quadratics import (
    MEAN_OF_CLIENTS,
    OF_STEPS,
    GivenAnswers,
    ends_there,
    follow_steps,
    local_steps_of,
    one_quadratic,
    script_of_steps,
    sums_of_clients,
)
from paper_checks.fedslr.notation import derived
from paper_checks.fedslr.played import UnknownFunctions
from paper_checks.given_gradients import SCRIPT
from paper_checks.steps import Step
from problems.low_rank import low_rank_regression

CLAIMS: list[Claim] = []


# ---- N14: Phase I on equal quadratics --------------------------------------------------------------------------------
def play_exact(w: World, p: Parameters, last: int) -> list[Any]:
    """Phase I's own rounds with exact solves on f_i = h ||w - b||^2/2, from any model and any duals."""
    b, z, x, gamma = w.vector("b"), w.vector("z"), w.vector("w"), w.vector("gamma_i", True)
    states = []
    for _ in range(last + 1):
        states.append(SimpleNamespace(w=x, gamma_i=gamma, b=b, z=z))
        before = FedSLRState(array_of_vectors(x), array_of_vectors(gamma), array_of_vectors(gamma), None, None)
        made = FedSLR(p.eta).round(one_quadratic(p.h, b), before, None, SCRIPT)
        x, gamma = vector_of(made.x, gamma), vector_of(made.gamma_i, gamma)
    return states


EXACT_ROUND = Theorem(
    "0 < h, 0 < eta",
    "s[t+1] == s[t]/(1 + eta*h)",
    "done: claim by identity",
    states=PlayedStates(play_exact),
    rounds={"t": 0},
    quantities={"s": "dot(w + eta*bar(gamma_i) - b, z)"},
)


def inexact_answer(p: Parameters, w: Any, gamma: Any, b: Any, Q: Any) -> Any:
    """Where gradient steps on (4) from w end, with Q for q^K; b, w and gamma are vectors."""
    x = p.eta * p.h
    return b + (w - b) * ((1 + Q * x) / (1 + x)) + gamma * (p.eta * (1 - Q) / (1 + x))


def play_gradient_steps(w: World, p: Parameters, last: int, start: bool = False, steps: int = 1) -> list[Any]:
    """Gradient steps on what a round of Phase I asks of f = h ||w - b||^2/2; ``end``: where they end, Q for q^K."""
    b, x, gamma = (w.vector(name) for name in ("b", "w", "gamma"))
    asked, rows = GivenAnswers(array_of_vectors(x)), array_of_vectors(x)
    FedSLR(p.eta, asked).round(
        one_quadratic(p.h, b), FedSLRState(rows, rows, array_of_vectors(gamma), None, None), None, SCRIPT
    )
    solution, end = (inexact_answer(p, x, gamma, b, Q) for Q in (p.Q * 0, p.Q))
    return follow_steps(w, p, last, asked, x, start, steps, solution=solution, end=end)


def gradient_steps(steps: int = 1) -> Theorem:
    """K of them end where `inexact_answer` says."""
    return Theorem(
        "0 < h, 0 < eta, 0 < lr, 0 < Q",
        "off[K] == 0",
        script_of_steps().replace("claim 1", "claim"),
        states=PlayedStates(
            partial(play_gradient_steps, steps=steps), start=partial(play_gradient_steps, start=True, steps=steps)
        ),
        rounds={"k": 0, "K": 0},
        where={"q": "1 - lr*(h + 1/eta)"},
        quantities=OF_STEPS,
        given={"power": "Q == q**K"},
    )


def play_inexact(w: World, p: Parameters, last: int, printed: bool = False) -> list[Any]:
    """Phase I's own rounds where clients answer what gradient steps give."""
    b, z, x, gamma = (w.vector(name) for name in ("b", "z", "w", "gamma"))
    states = []
    for _ in range(last + 1):
        states.append(SimpleNamespace(w=x, gamma=gamma, b=b, z=z))
        made = w.round_of(
            lambda local: FedSLR(p.eta, local, printed=printed),
            lambda **fields: FedSLRState(**fields, p_i=None, sent=None, gamma=None),
            {"x": x, "x_i": x, "gamma_i": gamma},
            inexact_answer(p, x, gamma, b, p.Q),
        )
        x, gamma = made["x"], made["gamma_i"]
    return states


def inexact_rounds(printed: bool = False) -> Theorem:
    """A round as a matrix, along any z, and its determinant."""
    return Theorem(
        "0 < h, 0 < eta, 0 < Q",
        (
            "model[t+1] == a_11*model[t] + a_12*dual[t]",
            "dual[t+1] == a_21*model[t] + a_22*dual[t]",
            "a_11*a_22 - a_12*a_21 == Q",
        ),
        "model: claim 1 by identity\ndual: claim 2 by identity\ndet: claim 3 by combine",
        states=PlayedStates(partial(play_inexact, printed=printed)),
        rounds={"t": 0},
        where={
            "x": "eta*h",
            "a_11": "(1 - x + 2*Q*x)/(1 + x)",
            "a_12": "eta*(1 - x - 2*Q)/(1 + x)",
            "a_21": "h*(1 - Q)/(1 + x)",
            "a_22": "(x + Q)/(1 + x)",
        },
        quantities={"model": "dot(w - b, z)", "dual": "dot(gamma, z)"},
    )


#: where rounds lead: sums of ||w_t - b + eta gamma_t||^2 and ||eta h (w_t - b) - eta gamma_t||^2, S and U, over rounds are finite
STABLE = Theorem(
    "0 < h, 0 < eta, 0 < Q < 1",
    ("away[t] -> 0 as t", "duals[t] -> 0 as t"),
    """
      W_pos:  0 <= W[t]                                    by derivation
      U_pos:  0 <= U[t]                                    by derivation
      S_pos:  0 <= S[t]                                    by derivation
      fall:   W[t+1] == W[t] - {c}*U[t]                    by identity
      near:   S[t+1] <= S[t]/(1 + {x}) + Q**2/({x}*(1 + {x}))*U[t]              by derivation
      falls:  {c}*{x}/Q**2*((1 + {x})*S[t+1] - S[t]) + W[t+1] <= W[t]           by combine fall, near
      U_all:  {c}*sum(U[t], t, 0, T) <= W[0] - W[T+1]      by induction T: base combine fall(t=0); step combine ih, fall(t=T+1)
      U_sum:  {c}*sum(U[t], t, 0, T) <= W[0]               by combine U_all, W_pos(t=T+1)
      U_lim:  U[t] -> 0 as t                               by series U_pos, U_sum
      S_all:  {c}*{x}/Q**2*({x}*sum(S[t], t, 0, T) - (1 + {x})*(S[0] - S[T+1])) <= W[0] - W[T+1]
                by induction T: base combine falls(t=0); step combine ih, falls(t=T+1)
      S_sum:  {c}*{x}**2/Q**2*sum(S[t], t, 0, T) <= W[0] + {c}*{x}/Q**2*(1 + {x})*S[0]   by combine S_all, W_pos(t=T+1), S_pos(t=T+1)
      S_lim:  S[t] -> 0 as t                               by series S_pos, S_sum
      w_pos:  0 <= away[t]                                 by derivation
      w_near: away[t] <= 2*(S[t] + U[t])/(1 + {x})**2      by derivation
      w_lim:  claim 1                                      by squeeze w_pos, w_near, S_lim, U_lim
      g_pos:  0 <= duals[t]                                by derivation
      g_near: duals[t] <= 2*({x}**2*S[t] + U[t])/(eta*(1 + {x}))**2             by derivation
      g_lim:  claim 2                                      by squeeze g_pos, g_near, S_lim, U_lim
    """.format(x="(eta*h)", c="(1 - Q)**2*(eta*h*(1 + 3*Q) + 2*(1 + Q))"),
    states=PlayedStates(play_inexact),
    rounds={"t": 0, "T": 0},
    quantities={
        "away": "norm2(w - b)",
        "duals": "norm2(gamma)",
        "S": "norm2(w - b + eta*gamma)",
        "U": "norm2(eta*h*(w - b) - eta*gamma)",
        "W": "(eta*h)**3*(1 + Q)*norm2(w - b + eta*gamma) - 4*Q*(eta*h)**2*dot(w - b + eta*gamma, eta*h*(w - b) - eta*gamma) + "
        "(eta*h*(1 + Q) + 2*(1 - Q))*norm2(eta*h*(w - b) - eta*gamma)",
    },
)
CLAIMS += [
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
            Step("exact", EXACT_ROUND),
            Step("K gradient steps", gradient_steps(), wrong={"two steps for one": gradient_steps(2)}),
            Step(
                "determinant",
                inexact_rounds(),
                wrong={"the server divides by eta_g": inexact_rounds(printed=True)},
            ),
            Step("stable", STABLE),
        ],
        readings=[
            "Q stands for q^K, which is taken to be above 0, eta for eta_g and lr for eta_l. a_11, ..., a_22 are the entries of a round's matrix."
        ],
        kind="identity",
    ),
]


# ---- N15: printed Algorithm 2 ----------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class UnknownComposite(UnknownFunctions):
    """Clients and a regulariser of which only (sub)gradients at the answers of their proximal operators are known."""

    regulariser: Any = None


def play_line_10(w: World, p: Parameters, last: int, printed: bool = True) -> list[Any]:
    """Rounds of FedSLR's own code with exact solves, any f_i and R; gamma_{i,t} and s_t are subgradients at w_{i,t} and w_t."""
    f, reg = w.function(None, 0, client=True, name="f_i"), w.function(None, 0, name="R")
    x, gamma, limit = w.vector("w_0"), w.vector("gamma_i0", True), w.vector("gamma_i*", True)
    star, z, s_star = w.vector("w*"), w.vector("z"), w.vector("s*")
    known = {"w_star": star, "z": z, "s_star": s_star, "gamma_i_star": limit, "f_i": f, "R": reg}
    for name, at, own in (("w*", star, s_star), ("z", z, None)):
        w.at(f, at + gamma * 0, f"f_i({name})")
        w.at(reg, at, f"R({name})", g=own)
    states = []
    for t in range(last + 1):
        slopes, s = w.vector(f"gamma_i{t + 1}", True), w.vector(f"s{t + 1}")
        problem: Any = UnknownComposite(array_of_vectors(slopes), UnknownFunctions(array_of_vectors(s)))
        before = FedSLRState(array_of_vectors(x), array_of_vectors(gamma), array_of_vectors(gamma), None, None)
        after = FedSLR(p.eta, printed=printed).round(problem, before, None, SCRIPT)
        old = {"w_before": x, "gamma_i_before": gamma}
        x, y, gamma = (vector_of(rows, gamma) for rows in (after.x, after.x_i, after.gamma_i))
        w.at(f, y, f"f_i {t + 1}", g=slopes)
        w.at(reg, x, f"R {t + 1}", g=s)
        states.append(SimpleNamespace(w=x, w_i=y, gamma_i=gamma, s=s, **old, **known))
    return states


def line_10_solves(printed: bool = True) -> Theorem:
    """Where w_t and gamma_{i,t} converge w* is no worse for f + eta^2 R than any z; quantities of round 0 are those after the first round."""
    return Theorem(
        "0 < eta",
        "excess[0] <= 0",
        """
          next:   C[t+1] <= 2*W[t] + 4*eta**2*(G[t+1] + G[t])                                   by derivation
          near:   excess[t] <= a*A[t] + (C[t] + W[t])*(1 + 1/a + 2*eta + eta**2/a) + G[t]       by derivation
          same_e: excess[t+1] == excess[t]                                                      by identity
          same_a: A[t+1] == A[t]                                                                by identity
          one_e:  excess[T] == excess[0]                by induction T: base combine; step combine ih, same_e(t=T)
          one_a:  A[T] == A[0]                          by induction T: base combine; step combine ih, same_a(t=T)
          every:  excess[0] <= a*A[0] + (2*W[t] + 4*eta**2*(G[t+1] + G[t]) + W[t+1])*(1 + 1/a + 2*eta + eta**2/a) + G[t+1]
                    by combine near(t=t+1), (-1)*one_e(T=t+1), a*one_a(T=t+1), (1 + 1/a + 2*eta + eta**2/a)*next
          limit:  excess[0] <= a*A[0]                   by limit of every, models, duals
          sign:   0 <= A[t]                             by derivation
          done:   claim                                 by least a of limit
        """,
        states=PlayedStates(partial(play_line_10, printed=printed)),
        rounds={"t": 0, "T": 0},
        auxiliary="0 < a",
        quantities={
            "W": "norm2(w - w_star)",
            "G": "mean(norm2(gamma_i - gamma_i_star))",
            "C": "mean(norm2(w_i - w_star))",
            "excess": "mean(f_i(w_star)) + eta**2*R(w_star) - mean(f_i(z)) - eta**2*R(z)",
            "A": "mean(norm2(grad(f_i, w_star))) + eta**4*norm2(s_star) + mean(norm2(gamma_i_star)) + norm2(z - w_star)",
        },
        given={"models": "W[t] -> 0 as t", "duals": "G[t] -> 0 as t"},
        units="as printed",
    )


def play_steep(w: World, p: Parameters, last: int, printed: bool = True, begins: bool = False) -> list[Any]:
    """Rounds of printed Algorithm 2 on h ||w||^2/2, from the state that a round makes of any models and duals on."""
    v, x, y, gamma = (w.vector(name) for name in ("v", "w_0", "w_i", "gamma"))
    if not begins:
        x, y, gamma = v * (1 - p.h / p.eta), v, v * p.h
    states = [SimpleNamespace(w=x, w_i=y, gamma=gamma)]
    for _ in range(last):
        before = FedSLRState(array_of_vectors(x), array_of_vectors(y), array_of_vectors(gamma), None, None)
        after = FedSLR(p.eta, printed=printed).round(one_quadratic(p.h, v * 0), before, None, SCRIPT)
        x, y, gamma = (vector_of(rows, v) for rows in (after.x, after.x_i, after.gamma_i))
        states.append(SimpleNamespace(w=x, w_i=y, gamma=gamma))
    return states


def diverges(printed: bool = True) -> Theorem:
    """Every round after the first multiplies the state by m < -1."""
    return Theorem(
        "0 < eta, 0 < h, 0 < c",
        ("m < -1", "D[T+1] == m**(2*T)*D[1]", "(1 + 2*T*c)*D[1] <= D[T+1]"),
        """
          value: m == -1 - c                            by combine steep
          below: claim 1                                by combine 1*value
          next:  D[t+1] == m**2*D[t]                    by identity
          rate:  claim 2                                by induction T: base combine; step combine m**2*ih, next(t=T+1)
          size:  0 <= D[t]                              by derivation
          grown: D[t+1] == (1 + c)**2*D[t]              by combine next, ((m - 1 - c)*D[t])*value
          far:   claim 3                                by induction T: base combine; step combine (1 + c)**2*ih, grown(t=T+1),
                                                          (4*T*c**2 + c**2 + 2*T*c**3)*size(t=1)
        """,
        states=PlayedStates(
            partial(play_steep, printed=printed),
            begins=lambda w, p: play_steep(w, p, 1, printed, begins=True)[1],
            least=1,
        ),
        rounds={"t": 1, "T": 0},
        quantities={"D": "norm2(w)"},
        where={"m": "(1 - h/eta + eta*h)/(1 + eta*h)"},
        given={"steep": "c == (h*(1 - 2*eta**2) - 2*eta)/(eta*(1 + eta*h))"},
    )


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


CLAIMS += [
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
                line_10_solves(),
                wrong={"eta_g gamma": line_10_solves(printed=False)},
            ),
            Step("divergence", diverges(), wrong={"eta_g gamma at the server": diverges(printed=False)}),
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
]


# ---- N19: GPGD -------------------------------------------------------------------------------------------------------
def gradients_of(p: Parameters, i: int, x: Any, b: Any) -> dict[str, Any]:
    """For K = 1, where 1 - Q_i = eta h_i: (1 - Q_i) b_i, and the gradient at w."""
    h = getattr(p, f"h_{i}")
    return {"weighted": b * p.lr * h, "slopes": (x - b) * h}


ONE_STEP = Theorem(
    "0 < lr",
    "lr*slopes[n+1] == sum(1 - Q[i], i, 0, n)*w[n+1] - weighted[n+1]",
    """
      none:  slopes[0] == 0                                by identity
      begin: weighted[0] == 0                              by identity
      same:  w[i+1] == w[i]                                by identity
      next:  lr*slopes[i+1] == lr*slopes[i] + lr*h[i]*w[i] - weighted[i+1] + weighted[i]   by identity
      all:   claim      by induction n: base combine next(i=0), lr*none, begin, (-lr*h[0])*same(i=0), w[1]*one(i=0);
                          step combine ih, next(i=n+1), (-lr*h[n+1])*same(i=n+1), (-sum(1 - Q[i], i, 0, n))*same(i=n+1), w[n+2]*one(i=n+1)
    """,
    states=sums_of_clients(("weighted", "slopes"), gradients_of),
    rounds={"n": 0, "i": 0},
    sequences={"h": "0", "Q": "-1..1"},
    given={"one": "Q[i] == 1 - lr*h[i]"},
    quantities={name: f"dot({name}, z)" for name in ("slopes", "weighted", "w")},
)


def gpgd_of(p: Any, local: Any) -> GlobalProximal:
    """GPGD with these answers."""
    return GlobalProximal(local, p.lr)


DRIFTS = ends_there("0 < lr, -1 < P < 1", gpgd_of)


def three_steps(steps: int = 3) -> Theorem:
    """GPGD ends at 784/1055 c on f_1 = ||w||^2/2 and f_2 = 2 ||w - c||^2, and the minimiser is 4/5 c."""
    return Theorem(
        "",
        (
            "X[t+1] - 784/1055*C[t] == 189/400*(X[t] - 784/1055*C[t])",
            "slope[t] == 5/2*(X[t] - 4/5*C[t])",
            "784/1055 < 4/5",
        ),
        "round: claim 1 by identity\nbest: claim 2 by identity\nless: claim 3 by combine",
        states=run_on_quadratics("gpgd", f"lr = 1/10, steps = {steps}", curvatures=("1", "4"), centres=("0", "c")),
        rounds={"t": 0},
        quantities={"X": "dot(x, c)", "C": "norm2(c)", "slope": "dot(grad(f, x), c)"},
    )


CLAIMS += [
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
            Step("every round", DRIFTS),
            Step("one step", ONE_STEP),
            Step("three steps", three_steps(), wrong={"one local step more": three_steps(4)}),
        ],
        readings=[
            "Q and Q_i stand for q^K and q_i^K, lr for eta; n + 1 is the number of clients. For K = 1 the gradient of sum f_i is a "
            "multiple of sum (1 - q_i) w - sum (1 - q_i) b_i, 0 at that limit alone.",
            "With lam > 0 the printed threshold eta lam stands against K steps of size eta: it regularises about K times too little.",
        ],
        kind="divergence",
    ),
]

"""Beyond the printed theorems, and where they end: DUALFL-N4 (nu > mu), DUALFL-N5 (values), the complexity of Theorem 3.3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import Claim, Context, Fault, Finding, Theorem, bar, draw_bound, lemma, norm2
from fedtheory.claims.parts import at_most, holds
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import squared_norm
from fedtheory.core.problem import objective
from fedtheory.core.randomness import Key
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.measures.rates import fit_exponent
from paper_checks.dualfl import algorithm_two, complexity, exact_rates, rounds
from paper_checks.dualfl.acceleration import smooth
from paper_checks.dualfl.certified_runs import outside, squared_errors
from paper_checks.dualfl.common import CONVEX, SMOOTH, claim, derived
from paper_checks.dualfl.inertia import FIVE, printed_t
from paper_checks.dualfl.theory import BY_CODE, OF_SMOOTH
from paper_checks.steps import Step
from problems.chains import nesterov_chain, total_variation_chain
from problems.quadratics import scalar_quadratics

SLOW = ("dual ascent", "gradient descent")


# ---- DUALFL-N4 --------------------------------------------------------------------------------------------------------


@lemma("largest curvature", "ours", "0 < mu, 0 < h", c=1)
def largest_curvature(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """h mean ||w_j||^2 <= (c/mu) mean ||w_j||^2, w_j = A_j v_j with v_j - mean v = h w_j: q_j, <., A_j .>/2 less (mu/2) ||.||^2, is convex."""
    q, v = w.function(None, 0, client=True, name="q"), w.vector("v", True)
    mode = (v - bar(v)) / p.h
    w.at(q, v, "q at v", g=mode - v * p.mu)
    w.at(q, v * 0, "q at 0", g=v * 0)
    return norm2(mode) * (p.h - c.c / p.mu)


#: C and E are the parts of nu z_j - s_j* and nu zeta_j - s_j* in the mode
OF_MODE = """
  moves:  C[n+1] == E[n] - nu*M[n]                              by identity
  bends:  K[n] == h/nu*E[n]                                     by identity
  turn:   E[n+1] == C[n+1] + b*(C[n+1] - C[n])                  by identity
  fall:   C[n+1] == (1 - h)*E[n]                                by combine 1*moves, (-nu)*symmetric, (-nu)*bends
  next:   C[n+2] == (1 - h)*(C[n+1] + b*(C[n+1] - C[n]))        by combine 1*fall(n=n+1), (1 - h)*turn
"""
BEYOND = Theorem(
    name="a mode beyond the edge",
    region="0 < nu, 0 <= b, (2 + 2*b)/(1 + 2*b) < h",
    rounds={"n": 0},
    states=rounds.MODES,
    given={"symmetric": "M[n] == K[n]"},
    quantities={
        "C": "mean(dot(w, nu*z - s_star))",
        "E": "mean(dot(w, nu*zeta - s_star))",
        "M": "mean(dot(w, answers))",
        "K": "mean(dot(v, nu*zeta - s_star))",
    },
    where={"q": "h - 1", "r": "(q*(1 + b) + sqrt(q**2*(1 + b)**2 + 4*q*b))/2", "k": "q*b/r"},
    claim=("1 < r", "k*C[2*n] - C[2*n+1] == r**(2*n)*(q + k)*C[0]"),
    proof=OF_MODE
    + """
  same:   C[0] == E[0]                                          by identity
  root:   r**2 == q*(1 + b)*r + q*b                             by combine
  grows:  claim 1                                               by combine 1*root times r + q*b
  step:   C[n+2] - k*C[n+1] == -r*(C[n+1] - k*C[n])             by combine 1*next, (-C[n+1]/r)*root
  first:  C[1] - k*C[0] == -(q + k)*C[0]                        by combine 1*fall(n=0), (h - 1)*same
  done:   claim 2
             by induction n: base combine (-1)*first; step combine (r**2)*ih, r*step(n=2*n), (-1)*step(n=2*n+1)
    """,
)
#: a and s are the product and the sum of the multipliers; both lie inside of the unit circle (Jury), and what ``drop`` says of falls
BELOW = replace(
    BEYOND,
    name="a mode below the edge",
    region="0 < nu, 0 <= b < 1, 0 < h < (2 + 2*b)/(1 + 2*b)",
    rounds={"n": 0, "k": 0},
    where={"a": "b*(1 - h)", "s": "(1 + b)*(1 - h)", "y": "s*a/(1 + a)", "c": "h*(2 + 2*b - (1 + 2*b)*h)/(1 + a)**2"},
    claim="C[n]**2 -> 0 as n",
    proof=OF_MODE
    + """
  drop:   (C[n+2] - y*C[n+1])**2 + c*C[n+1]**2 + c*(1 - a**2)*C[n]**2 == (C[n+1] - y*C[n])**2 + c*C[n]**2
             by combine (C[n+2] + s*C[n+1] - a*C[n] - 2*y*C[n+1])*next
  all:    c*(1 - a**2)*sum(C[k]**2, k, 0, n) + (C[n+2] - y*C[n+1])**2 + c*C[n+1]**2 <= (C[1] - y*C[0])**2 + c*C[0]**2
             by induction n: base combine 1*drop(n=0); step combine 1*ih, 1*drop(n=n+1)
  sums:   sum(C[k]**2, k, 0, n) <= ((C[1] - y*C[0])**2 + c*C[0]**2)/(c*(1 - a**2))
             by combine (1/(c*(1 - a**2)))*all, (1/(c*(1 - a**2)))*square(C[n+2] - y*C[n+1]), (1/(1 - a**2))*square(C[n+1])
  sign:   0 <= C[n]**2                                          by combine 1*square(C[n])
  done:   claim                                                 by series sign, sums
    """,
)


def unstable_runs(context: Context, *, factor: float = 1.45) -> Iterator[Finding]:
    """The sequence with rho = 0, for nu beyond the edge and below."""
    drawn = [scalar_quadratics(np.array([1.0, 1.1]), c) for c in context.rng().standard_normal((10, 2))]
    ends = [[squared_errors(DualFL(nu), f, f.solution(), 300)[-1] for f in drawn] for nu in (factor, 1.2)]
    grows, falls = min(ends[0]), max(ends[1])
    told = f"rho = 0, 300 rounds of ten draws: error at least {grows:.2g} for nu = {factor} mu, at most {falls:.2g} for nu = 1.2 mu"
    yield at_most("runs", [1e3, falls], [grows, 1e-6], "numeric", told)
    said = outside("nu > mu", drawn[0], factor)
    text = "the checks of Theorems 3.2 and 3.3 refuse such a setting and do not run it" + (
        "" if said is None else f": {said.text}"
    )
    yield holds("told", said is not None and said.holds is None, "numeric", text)


# ---- DUALFL-N5 --------------------------------------------------------------------------------------------------------


#: E is E(theta^(n)) - E*, S the square of a subgradient of E at theta^(n)
LAST_ITERATE = replace(
    exact_rates.PLAIN_EXPLICIT,
    name="values of the last iterate",
    quantities=algorithm_two.some("theta2", "V", "E") | {"S": "norm2(bar(grad(g, x)) + nu*x)"},
    rests={"models": exact_rates.PLAIN_EXPLICIT},
    claim="E[m] <= 2/(nu*(m + 1))*sqrt(V[0])*sqrt(S[m])",
    proof="""
      near:   0 <= theta2[n]                                    by derivation
      size:   0 <= S[n]                                         by derivation
      start:  0 <= V[n]                                         by derivation
      young:  2*E[n] <= s*theta2[n] + S[n]/s                    by derivation
      cauchy: 2*E[n] <= 2*sqrt(theta2[n])*sqrt(S[n])            by least s of young
      root2:  sqrt(theta2[m])**2 <= (2/(nu*(m + 1))*sqrt(V[0]))**2     by combine 1*models
      root:   sqrt(theta2[m]) <= 2/(nu*(m + 1))*sqrt(V[0])      by root root2
      done:   claim                                             by combine (1/2)*cauchy(n=m), sqrt(S[m])*root
    """,
    auxiliary="0 < s",
)
#: F is mean f_j(a_j) - E* at the averages of answers, V is E - E* at the average of models, G the mean square of g_j - mean g there
AVERAGES = Theorem(
    name="values of averages",
    region="0 < nu",
    rounds={"n": 0, "m": 1},
    states=rounds.AVERAGES,
    assumed=rounds.FENCHEL,
    sequences={"t": "1", "T": "0"},
    given={**FIVE, "empty": "T[0] == 0", "weights": "T[n+1] == T[n] + t[n]"},
    quantities=algorithm_two.some("gap", "A")
    | {
        "F": "mean(g(a)) + nu/2*mean(norm2(a)) - mean(g(x_star))",
        "V": "mean(g(average)) + nu/2*norm2(average) - mean(g(x_star))",
        "S": "mean(norm2(a - average))",
        "G": "mean(norm2(grad(g, average) - bar(grad(g, average))))",
    },
    claim="V[m] <= 2/(nu*(m + 1)**2)*G[m]",
    proof=algorithm_two.SOLVED
    + algorithm_two.GROWS
    + """
  low:    0 <= gap[n+1]                         by derivation
  is:     A[n+1] == (t[n+1] - 1)*gap[n+1]       by identity
  none:   A[0] == 0                             by identity
  above:  0 <= V[n]                             by derivation
  sum:    T[n+1] == t[n]**2
             by induction n: base combine 1*empty, 1*weights(n=0), (-t[0])*first; step combine 1*weights(n=n+1), 1*ih, (-1)*five
  now:    T[n] + t[n] == t[n]**2                by combine (-1)*weights, 1*sum
  step:   t[n]**2*gap[n+1] + (T[n] + t[n])*F[n+1] + nu/2*(T[n] + t[n])**2*S[n+1] <= t[n]*A[n] + T[n]*F[n] + nu/2*T[n]**2*S[n]
             by derivation
  round:  t[n]**2*(gap[n+1] + F[n+1] + nu/2*t[n]**2*S[n+1]) <= t[n]*A[n] + T[n]*(F[n] + nu/2*T[n]*S[n])
             by combine 1*step, (-F[n+1] - nu/2*(T[n] + t[n] + t[n]**2)*S[n+1])*now
  all:    t[n]**2*(gap[n+1] + F[n+1] + nu/2*t[n]**2*S[n+1]) <= 0
             by induction n: base combine 1*round(n=0), t[0]*none, (F[0] + nu/2*T[0]*S[0])*empty;
                             step combine 1*ih, 1*round(n=n+1), t[n+1]*is, gap[n+1]*five, (F[n+1] + nu/2*(T[n+1] + t[n]**2)*S[n+1])*sum
  jensen: T[n]*(V[n] - F[n]) <= nu/2*T[n]**2*S[n] + G[n]/(2*nu)          by derivation
  whole:  t[n]**2*V[n+1] <= G[n+1]/(2*nu)
             by combine 1*jensen(n=n+1), 1*all, (t[n]**2)*low, (F[n+1] - V[n+1] + nu/2*(T[n+1] + t[n]**2)*S[n+1])*sum
  done:   claim
             by combine (4/(m + 1)**2)*whole(n=m-1), (4/(m + 1)**2*(t[m-1] + (m + 1)/2)*V[m])*grows(n=m-1)
    """,
)


def averages(context: Context, *, share: float = 1.0, weighted: bool = True) -> Iterator[Finding]:
    """Values of t-weighted averages on the total variation chain, against the bound; the last iterates beside them."""
    chain = total_variation_chain(40)
    least = ground_truth(chain).f
    method, count = DualFL(chain.mu), context.pick(300, 2000)
    state, total, weight, t = method.init(chain, np.zeros((1, chain.d))), np.zeros((1, chain.d)), 0.0, 1.0
    limits, last, mean = [], [], []
    for n in range(1, count + 1):
        state = method.round(chain, state, None, Key(0, n - 1))
        total, weight = total + (t if weighted else 1.0) * state.x, weight + (t if weighted else 1.0)
        t = float(printed_t(t, 0.0))
        x = total / weight
        g = chain.grad(x)
        limits.append(2 / (chain.mu * (n + 1) ** 2) * float(squared_norm(g - g.mean(axis=0)).mean()))
        mean.append(float(objective(chain, x)) - least)
        last.append(float(objective(chain, state.x)) - least)
    ratios = np.array(mean) / (share * np.array(limits))
    text = f"{chain.name}, {count} rounds: at most {ratios.max():.2g} of the bound"
    yield at_most("chain", ratios, 1.0, "numeric", text, error=1e-9)
    about = "DualFL with nu = mu, rho = 0 on the total variation chain with 40 links; the bound is that of the weighted averages"
    more = [("last iterate", last), ("weighted average", mean)]
    yield draw_bound(
        "Values of averages", range(1, count + 1), limits, ylabel="E - E*", about=about, more=more, logx=True
    )


# ---- Theorem 3.3: complexity ------------------------------------------------------------------------------------------


def chain_runs(context: Context, *, fast: str = "DualFL", reach: float = 1.0) -> Iterator[Finding]:
    """Rounds to 1e-6 on the lower-bound chain against kappa: DualFL, and without inertia in the dual and in the primal; the floor q^(2n)."""
    kappas, slack = (10, 25, 60, 150, 350), []
    counts = {name: [smooth(of, k) for k in kappas] for name, of in {"DualFL": fast, **{n: n for n in SLOW}}.items()}
    fits = {name: fit_exponent(kappas, np.array(c), slice(0, 5)) for name, c in counts.items()}
    told = "; ".join(
        f"{n}: {', '.join(f'{v:.0f}' for v in counts[n])}, power {fit.rate:.3f}" for n, fit in fits.items()
    )
    slow = min(fits[name].low for name in SLOW)
    yield at_most("power of kappa", [fits["DualFL"].high, 0.85], [0.65, slow], "numeric", told)
    for kappa in kappas:
        chain = nesterov_chain(120, L=kappa, mu=1.0)
        x_star = chain.solution()
        tails = np.array([np.sum(x_star[int(reach * n) :] ** 2) for n in range(1, 31)])
        slack.append(tails / squared_errors(DualFL(1.0, 1 / kappa), chain, x_star, 30))
    text = (
        "after n rounds the model has at most its first n coordinates, so that ||theta^(n) - theta*||^2 >= sum_{i>n} "
        "theta*_i^2 ~ q^(2n) ||theta*||^2, q = (sqrt(kappa) - 1)/(sqrt(kappa) + 1)"
    )
    yield at_most("support", slack, 1.0, "numeric", text, error=1e-9)
    order = [10 * (k / 10) ** 0.5 for k in kappas]
    about = "DualFL with nu = mu, rho = 1/kappa on Nesterov's chain with 80 links, two clients; claimed: the order sqrt(kappa)"
    title, more = "Rounds to a relative squared distance of 1e-6", [*counts.items()]
    yield draw_bound(title, kappas, order, xlabel="kappa", ylabel="rounds", about=about, more=more, logx=True)


CLAIMS: list[Claim] = [
    derived(
        "DUALFL-N4",
        "the range of nu",
        [
            Clause(
                "On quadratics, with the same inertia b in every round, the part of nu z_j - s_j* in a mode of the dual of the curvature h/nu grows "
                "without bound for h > (2 + 2 b)/(1 + 2 b), if the gradients s_j* at theta* have a part in it,",
                ("beyond it",),
            ),
            Clause("and falls to zero for h < (2 + 2 b)/(1 + 2 b);", ("below it",)),
            Clause("1/mu is the largest curvature, so that nu = mu (2 + 2 b)/(1 + 2 b) is the edge.", ("largest",)),
        ],
        [Step("beyond it", BEYOND), Step("below it", BELOW), Step("largest", largest_curvature)],
        assumptions=["f_j mu-strongly convex quadratics, exact local solves"],
        readings=[
            "z_j is what the inertia acts on; multipliers are -r and k. Given is that A_j is symmetric: <w_j, theta_j> is <v_j, A_j theta_j>, and "
            "A_j theta_j = nu zeta_j - s_j*. For b = 1, where the inertia with rho = 0 goes, the edge is 4 mu/3.",
            "The server's model need not see a mode: where f_j = (mu/2) ||x - c_j||^2 it is theta* in every round, whatever control variates do.",
        ],
        kind="divergence",
        besides=unstable_runs,
        faults=[Fault("nu below the edge", "runs", {"factor": 1.25})],
    ),
    derived(
        "DUALFL-N5",
        "Theorem 3.2 in values",
        [
            Clause(
                "E(theta^(n)) - E* <= 2/(nu (n+1)) sqrt(V) ||g|| with any subgradient g of E at theta^(n), V = mean_j ||s_j*||^2;",
                ("last iterate",),
            ),
            Clause(
                "the averages of theta^(1), ..., theta^(n) with weights t_0, ..., t_{n-1} have E - E* <= 2/(nu (n+1)^2) mean_j ||g_j - mean g||^2 "
                "with subgradients g_j of f_j there.",
                ("averages",),
            ),
        ],
        [Step("last iterate", LAST_ITERATE), Step("averages", AVERAGES)],
        assumptions=[CONVEX, "exact local solves, rho = 0"],
        readings=[
            BY_CODE,
            "Theorem 3.2 claims a rate of the squared distance only; this adds one of values. For the last iterate it is of order 1/n where "
            "subgradients at the models are bounded, which they are for a finite E; for averages of order 1/n^2. Subgradients of f_j and of g_j at "
            "one point differ by the same nu theta, which g_j - mean g does not see.",
        ],
        kind="bound",
        besides=averages,
        faults=(
            Fault("half of the bound", "chain", {"share": 0.5}),
            Fault("averages with equal weights", "chain", {"weighted": False}),
        ),
    ),
    claim(
        "DUALFL-T3.3c",
        "Theorem 3.3, complexity",
        [
            Clause("O(sqrt(kappa) log(1/eps)) rounds suffice for rho = 1/kappa and nu = mu,", ("upper bound",)),
            Clause("which is the optimal order for smooth strongly convex costs.", ("lower bound",)),
        ],
        [Step("upper bound", complexity.SUFFICE), Step("lower bound", complexity.NEEDED), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "(9)", "kappa > 1"],
        readings=[
            "Optimal is read as in Arjevani and Shamir, whom the sentence cites: among methods whose models gain one coordinate of the chain a "
            "communication, whatever their local work. Of DualFL this is seen on the chain. With n coordinates a model is off by exp(-x n) (1 - "
            "q^(2m)) of ||theta*||^2 or more, x = 4/(sqrt(kappa) - 1), so that ((sqrt(kappa) - 1)/4) log(1/(2 eps)) rounds are needed where m is "
            "large.",
        ],
        kind="rate",
        besides=chain_runs,
        faults=(
            Fault("no inertia", "power of kappa", {"fast": "dual ascent"}),
            Fault("half a coordinate a round", "support", {"reach": 0.5}),
        ),
    ),
]

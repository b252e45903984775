"""Ours: the bounds of Theorems 3.2 and 3.3 with constants, in the first two rounds, and in values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.momentum import beta
from fedtheory.claims import (
    Claim,
    Clause,
    Context,
    Fault,
    Finding,
    PlayedStates,
    Theorem,
    at_most,
    bar,
    draw_bound,
    lemma,
    norm2,
    proved,
)
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import squared_norm
from fedtheory.core.problem import objective
from fedtheory.core.randomness import Key
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.proofs import FunctionClass, check, prove
from fedtheory.proofs.facts import compare, confirm
from paper_checks.dualfl import bounds, notation, rounds
from paper_checks.dualfl.bounds import plain
from paper_checks.dualfl.certified_runs import faults_of_runs, nonsmooth_runs, smooth_runs
from paper_checks.dualfl.notation import (
    BY_CODE,
    CONVEX,
    FIVE,
    GROWS,
    OF_SMOOTH,
    SOLVED,
    TO_START,
    derived,
    of_models,
    printed_t,
    some,
)
from paper_checks.dualfl.rounds import play, start
from paper_checks.dualfl.section_3_2_a_theorem_3_2 import THEOREM_3_2_EXACT
from paper_checks.dualfl.section_3_2_b_theorem_3_3 import THEOREM_3_3_EXPLICIT
from paper_checks.steps import Step
from problems.chains import total_variation_chain

CLAIMS: list[Claim] = []

# ---- Theorems 3.2 and 3.3 with constants -----------------------------------------------------------------------------

THEOREM_3_2_EXPLICIT = replace(
    THEOREM_3_2_EXACT,
    name="Theorem 3.2 with constants",
    quantities=some("theta2", "U", "V"),
    rests={"xi": THEOREM_3_2_EXACT},
    claim=f"theta2[m] <= {of_models('V[0]', plain)}",
    proof=f"begin: {TO_START}\ndone: claim by combine 1*xi, (4/(nu**2*(m + 1)**2))*begin",
)


def certificates(context: Context, share: Fraction) -> Iterator[Finding]:
    """Worst cases of rounds 1 to 6 for mu = nu = 1, L = 16, every N, against ``share`` of the bound; inertia rounded to four digits."""
    method = DualFL(Fraction(1), lambda n: Fraction(beta(1 / 16, n)).limit_denominator(10**4))
    found, limits, below = [], [], True
    for n in range(1, context.pick(6, 7) + 1):
        certificate = prove(method, FunctionClass(L=16, mu=1, zeta=1), rounds=n)
        confirm("certificate", check, dict(certificate.data))
        limits.append(min(bounds.plain(Fraction(n)), bounds.linear(n, Fraction(1, 4))))
        found.append(certificate.bound)
        below = compare(certificate.bound, "<=", share * limits[-1]) and below
    told = ", ".join(f"{float(a):.4g} of {float(b):.4g}" for a, b in zip(found, limits, strict=True))
    text = f"worst cases for V* = 1, rounds 1 to {len(found)}, every N and dimension: {told}"
    yield proved("certificates", below, text, "exact", scope="L = 16, inertia to four digits")
    rounds, label = range(1, len(found) + 1), "||theta^n - theta*||^2"
    about = "DualFL with nu = mu = 1, L = 16, V* = 1, exact local solves, inertia to four digits; every N and dimension"
    yield draw_bound("Errors against the bound", rounds, limits, ylabel=label, about=about, worst=found)


def bound_runs(context: Context, **changed: Any) -> Iterator[Finding]:
    """Both regimes, exact local solves."""
    yield from nonsmooth_runs(context, **changed)
    yield from smooth_runs(context, **changed)
    yield from certificates(context, Fraction(str(changed.get("share", 1))))


CLAIMS += [
    derived(
        "DUALFL-N2",
        "Theorems 3.2 and 3.3 with constants",
        f"||theta^(n) - theta*||^2 is at most {bounds.show_models(bounds.plain, 'n')} and {bounds.show_models(bounds.linear, 'n', 'r')} for exact "
        "local solves, n >= 1, and rho = 0 without smoothness or 0 < rho = r^2 <= nu/L; V = mean_j ||s_j*||^2.",
        [Step("rho = 0", THEOREM_3_2_EXPLICIT), Step("rho > 0", THEOREM_3_3_EXPLICIT), OF_SMOOTH],
        assumptions=[
            CONVEX,
            "s_j* subgradients of f_j at theta* whose sum is zero; f_j L-smooth with nu < L for rho > 0",
            "exact local solves",
        ],
        readings=[
            BY_CODE,
            "Better than noted before by the factor 1 - rho in the first term; independent of N, of theta*, and of theta^(0).",
        ],
        kind="bound",
        besides=bound_runs,
        faults=(
            *faults_of_runs("two clients"),
            *faults_of_runs("total variation chain"),
            Fault("a tenth of the bound", "certificates", {"share": 0.1}),
        ),
    )
]


# ---- The first two rounds --------------------------------------------------------------------------------------------


@lemma("first round", "ours", "0 < mu < L", c=1)
def first_round(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||theta^(1) - theta*||^2 <= c (1/mu - 1/L)^2 V*/4, V* = mean ||grad f_j(theta*)||^2; theta* = 0, and theta_j^(1) minimises f_j."""
    f = w.function(p.L, p.mu, client=True)
    x, g = w.vector("theta_j", True), w.vector("grad f_j(theta*)", True)
    g = g - bar(g)
    w.at(f, x, "f_j(theta_j)", g=x * 0)
    w.at(f, x * 0, "f_j(theta*)", g=g)
    return norm2(bar(x)) - norm2(g) * (c.c * (1 / p.mu - 1 / p.L) ** 2 / 4)


@lemma("second round", "ours", "0 < mu, 0 < nu <= mu", c=1)
def second_round(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||theta^(2) - theta*||^2 <= c V*/(4 mu (mu + nu)) without smoothness: zeta_j^(1) = theta^(1) - theta_j^(1); theta* = 0."""
    h = w.function(None, 0, client=True)
    x, y, g = w.vector("theta_j 1", True), w.vector("theta_j 2", True), w.vector("s_j*", True)
    g = g - bar(g)
    w.at(h, x, "round 1", g=-(x * p.mu))
    w.at(h, y, "round 2", g=(bar(x) - x) * p.nu - y * p.mu)
    w.at(h, x * 0, "theta*", g=g)
    return norm2(bar(y)) - norm2(g) * (c.c / (4 * p.mu * (p.mu + p.nu)))


CLAIMS += [
    derived(
        "DUALFL-N3",
        "the first two rounds",
        "||theta^(1) - theta*||^2 <= (1/mu - 1/L)^2 V*/4, and ||theta^(2) - theta*||^2 <= V*/(4 mu (mu + nu)) for rho = 0 without smoothness; "
        "V* = mean_j ||s_j*||^2.",
        [Step("first round", first_round), Step("second round", second_round)],
        assumptions=["f_j mu-strongly convex, L-smooth in the first round; exact local solves, 0 < nu <= mu"],
        readings=["Both are worst cases: a smaller constant is refuted by an exact instance."],
    )
]


# ---- Theorem 3.2 in values -------------------------------------------------------------------------------------------

#: E is E(theta^(n)) - E*, S the square of a subgradient of E at theta^(n)
LAST_ITERATE = replace(
    THEOREM_3_2_EXPLICIT,
    name="values of the last iterate",
    quantities=notation.some("theta2", "V", "E") | {"S": "norm2(bar(grad(g, x)) + nu*x)"},
    rests={"models": THEOREM_3_2_EXPLICIT},
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


def averaged_state(world: World, p: Parameters, rho: Any, c: State) -> State:
    """A state with averages a_j of the answers so far, with weights t_k whose sum is T: nu zeta is nu z + (u - nu z)/t, u = -nu T (a - mean a)."""
    z, a, x_i = (world.vector(name, True) for name in ("z", "a", "x_i"))
    z, x = z - bar(z), world.vector("x")
    zeta = z - (z + (a - bar(a)) * p.T_0) / p.t_0
    return State(
        x=x, x_star=x * 0, x_i=x_i, z=z, zeta=zeta, xi=(z - x) * p.nu, s_star=c.s, t=p.t_0, T=p.T_0, a=a, average=bar(a)
    )


def play_averages(world: World, p: Parameters, last: int) -> list[State]:
    """rho = 0; clients answer exactly, and models and answers are averaged."""
    n, *more = play(world, p, last, L=None, rho=p.nu * 0, exact=True, before=averaged_state)
    for o in more:
        o.T = p.T_0 + p.t_0
        o.a, o.average = ((old * p.T_0 + new * p.t_0) / o.T for old, new in ((n.a, o.x_i), (n.average, o.x)))
    return [n, *more]


def start_averages(world: World, p: Parameters, last: int) -> list[State]:
    """The same start, where there is nothing to average: T = 0."""
    (found,) = start(world, p, last)
    found.T, found.a = 0, found.z
    found.average = bar(found.a)
    return [found]


AVERAGED_ROUNDS = PlayedStates(play_averages, start_averages)

#: F is mean f_j(a_j) - E* at the averages of answers, V is E - E* at the average of models, G the mean square of g_j - mean g there
VALUES_OF_AVERAGES = Theorem(
    name="values of averages",
    region="0 < nu",
    rounds={"n": 0, "m": 1},
    states=AVERAGED_ROUNDS,
    assumed=rounds.FENCHEL,
    sequences={"t": "1", "T": "0"},
    given={**FIVE, "empty": "T[0] == 0", "weights": "T[n+1] == T[n] + t[n]"},
    quantities=notation.some("gap", "A")
    | {
        "F": "mean(g(a)) + nu/2*mean(norm2(a)) - mean(g(x_star))",
        "V": "mean(g(average)) + nu/2*norm2(average) - mean(g(x_star))",
        "S": "mean(norm2(a - average))",
        "G": "mean(norm2(grad(g, average) - bar(grad(g, average))))",
    },
    claim="V[m] <= 2/(nu*(m + 1)**2)*G[m]",
    proof=SOLVED
    + GROWS
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


CLAIMS += [
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
        [Step("last iterate", LAST_ITERATE), Step("averages", VALUES_OF_AVERAGES)],
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
    )
]

"""DualFL is FISTA on its dual and accelerated gradient on the consensus dual: Lemmas 6.4 and 6.6, (26), (27); three baselines that are one.

The inertia beta_n of a round is a parameter b of its own in these statements, whatever the sequence, and local answers may have errors: clients
that are asked the same give the same answer. That the sequence is (5) on both sides is seen on runs against Algorithm 2 as it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import DualAscent, DualFista, DualFL, FedDR, FedDyn, FedPD, FedSplit
from fedtheory.claims import Claim, Context, Equivalence, Fault, Finding, Part, Theorem, bar, lemma, norm2
from fedtheory.claims.parts import equal
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.problem import Problem, constant
from fedtheory.core.randomness import Key
from fedtheory.local.inexact import Inexact
from fedtheory.local.solvers import Exact, LocalSolver
from paper_checks.dualfl import rounds
from paper_checks.dualfl.common import claim, derived, mistaken
from paper_checks.dualfl.inertia import printed_t
from paper_checks.dualfl.lemmas import round_objective
from paper_checks.steps import Conclusion, Step, equality
from problems.quadratics import random_quadratics

# ---- Lemma 6.6, (26) and (27), for every round -------------------------------------------------------------------------------

#: any rho = q/(1 + q)
OF_INERTIA: dict[str, Any] = {
    "region": "0 < nu, 0 <= q",
    "rounds": {"n": 0},
    "states": rounds.ANY_INERTIA,
    "assumed": rounds.FENCHEL,
    "sequences": {"t": "1"},
}
PREDUAL = Theorem(
    **OF_INERTIA,
    name="DualFL is Algorithm 2",
    quantities={
        "err": "error",
        "Gamma": "Gamma",
        "R25": "mean(norm2(xi - xi_25a))",
        "R24": "mean(norm2(eta_25b - eta_24))",
    },
    claim=("R25[n+1] == 0", "R24[n+1] == 0", "err[n] <= Gamma[n]"),
    proof="""
      local:   claim 1 by identity
      inertia: claim 2 by identity
      gaps:    claim 3 by derivation
    """,
)
#: y_j = nu zeta_j and s_j = nu z_j, of which the method has zeta_j and z_j
ASCENT = Theorem(
    **OF_INERTIA,
    name="(26)",
    quantities={"Z": "norm2(bar(zeta))", "S26": "mean(norm2(z - z_26))", "Y26": "mean(norm2(zeta - zeta_26))"},
    claim=("Z[n] == 0", "S26[n+1] == 0", "Y26[n+1] == 0"),
    proof="""
      sum:     claim 1 by identity
      step:    claim 2 by identity
      inertia: claim 3 by identity
    """,
)
VARIATES = Theorem(
    **OF_INERTIA,
    name="(27)",
    quantities={"R27": "mean(norm2(zeta - zeta_27))"},
    claim="R27[n+1] == 0",
    proof="done: claim by identity",
)


class KeepsVariates(DualFL):
    """Planted fault: the dual point that the inertia acts on is not updated."""

    def round(self, problem: Problem, state: Any, clients: Any, key: Key) -> Any:
        """Run DualFL's round with the old point put back."""
        return replace(DualFL.round(self, problem, state, clients, key), z_i=state.z_i)


def with_inertia(method: Callable[..., Any], local: LocalSolver) -> Callable[..., Any]:
    """A method as a function of nu and of the inertia of every round."""
    return lambda nu, b: method(nu, lambda n: b, local)


def dualfl_is_fista(method: Callable[..., Any], local: LocalSolver) -> Equivalence:
    """xi_j = nu (zeta_j - theta_j) of (25a) and nu zeta_j = eta_j - mean eta of (27); the server's model is -mean xi/nu."""
    return Equivalence(
        with_inertia(DualFista, local),
        with_inertia(method, local),
        region="0 < nu, 0 <= b < 1",
        states={"x": "x", "x_i": "x_i", "zeta_i": "(eta_i - mean_eta_i)/nu", "z_i": "xi_i/nu + x"},
        kept={"x": "-mean_xi_i/nu"},
        curvatures="nu, 4*nu",
        name="DualFL and FISTA on its dual",
    )


def dualfl_is_ascent(method: Callable[..., Any], local: LocalSolver) -> Equivalence:
    """y_j = nu zeta_j on the consensus dual min sum_j f_j^*(s_j), sum_j s_j = 0; the zeta_j sum to zero."""
    return Equivalence(
        with_inertia(method, local),
        with_inertia(DualAscent, local),
        region="0 < nu, 0 <= b < 1",
        states={"x": "x", "x_i": "x_i", "s_i": "nu*z_i", "y_i": "nu*zeta_i"},
        kept={"zeta_i": "zeta_i - mean_zeta_i", "z_i": "z_i - mean_z_i"},
        curvatures="nu, 4*nu",
        name="DualFL and accelerated gradient on the consensus dual",
    )


def steps_of(name: str, made: Callable[..., Equivalence]) -> list[Step]:
    """One of these equivalences with exact local solves, and with any errors in them."""
    wrong = {"the dual is not updated": made(KeepsVariates, Exact())}
    inexact = Step(f"{name}, inexact local solves", made(DualFL, Inexact(epsilon=1)))
    return [Step(name, made(DualFL, Exact()), wrong=wrong), inexact]


# ---- Algorithm 2 as printed, on quadratics ----------------------------------------------------------------------------


def algorithm_two(problem: Any, nu: float, rho: float, rounds: int) -> NDArray[np.float64]:
    """-mean_j xi_j^n/nu, n = 1..rounds, of Algorithm 2 in the dual: g_j^*(xi) = (xi + b_j)^T (A_j - nu I)^{-1} (xi + b_j)/2, xi^0 = 0."""
    inverse = np.linalg.inv(problem.A - nu * np.eye(problem.d))
    xi = eta = np.zeros((problem.n, problem.d))
    t, found = 1.0, []
    for _ in range(rounds):
        gradient = eta.mean(axis=0) / nu
        right = eta - nu * gradient - nu * np.einsum("jab,jb->ja", inverse, problem.b)
        new = np.linalg.solve(np.eye(problem.d) + nu * inverse, right[..., None])[..., 0]
        after = printed_t(t, rho)
        eta = new + (t - 1) / after * (1 - after * rho) / (1 - rho) * (new - xi)
        xi, t = new, after
        found.append(-xi.mean(axis=0) / nu)
    return np.array(found)


def on_runs(context: Context, *, method: Callable[..., Any] = DualFL) -> Iterator[Finding]:
    """Sixty rounds against Algorithm 2 as printed, with and without modulus."""
    pairs = []
    for seed in range(context.seed, context.seed + 5):
        problem = random_quadratics(5, 4, L=50.0, mu=1.0, seed=seed)
        nu = 0.7 * float(constant(problem, "mu").value)
        for rho in (0.0, nu / 50):
            models, algorithm = [], method(nu, rho)
            state = algorithm.init(problem, np.ones((1, problem.d)))
            for n in range(60):
                state = algorithm.round(problem, state, None, Key(0, n))
                models.append(state.x[0])
            pairs.append((models, algorithm_two(problem, nu, rho, 60)))
    ours, theirs = (np.array(side) for side in zip(*pairs, strict=True))
    text = "ten runs of sixty rounds, rho = 0 and nu/L, to rounding"
    yield equal("Algorithm 2 as printed", ours, theirs, "numeric", text, rtol=1e-10)


# ---- Lemma 6.4 --------------------------------------------------------------------------------------------------------


def block(p: Any, eta: Any, xi: Any, value: Any) -> Any:
    """The blocks' objectives over N, where the mean of g_j^*(xi_j) is ``value``."""
    return norm2(xi - eta + bar(eta)) / (2 * p.nu) + value


def blocks_and_whole(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The blocks' objectives sum to E_d^n(xi) + c (N/(2 nu)) ||mean eta||^2, divided by N."""
    xi, eta, value = w.vector("xi", True), w.vector("eta", True), w.value("mean of g_j^*(xi_j)")
    return block(p, eta, xi, value) - round_objective(p, eta, xi, value) - norm2(bar(eta)) * (c.c / (2 * p.nu))


SUM_BELOW, SUM_ABOVE = equality("sum of the blocks", "Lemma 6.4", "0 < nu", blocks_and_whole)


@lemma("accuracy of the blocks", "Lemma 6.4", "0 < nu", c=1)
def accuracy(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E_d^n(xi) - E_d^n(z) <= c d for every z, where the blocks' errors at xi are at most d in the mean, and d >= 0."""
    g = w.function(None, 0, client=True, name="g*")
    xi, eta, s, z = (w.vector(name, True) for name in ("xi", "eta", "theta^", "z"))
    best = eta - bar(eta) - s * p.nu
    _, at_best = w.at(g, best, "exact block", g=s)
    (_, at_xi), (_, at_z) = w.at(g, xi, "theta at xi"), w.at(g, z, "theta at z")
    d = w.value("delta/N")

    w.assume("accuracy", block(p, eta, xi, at_xi) - block(p, eta, best, at_best) - d)
    w.assume("size", -d)
    return round_objective(p, eta, xi, at_xi) - round_objective(p, eta, z, at_z) - d * c.c


BLOCKS = [Step("sum, at most", SUM_BELOW), Step("sum, at least", SUM_ABOVE), Step("accuracy", accuracy)]


# ---- Lemma 6.6: (4), (25a) and (25b) against (24); capitals are of the round before ---------------------------------------

BY_24 = (
    "nu*((1 + b)*(zeta + x - t) - b*(Zeta + X - T) - (1 + {0})*x {1} {0}*X) == (1 + b)*nu*(zeta - t) - b*nu*(Zeta - T)"
)


# ---- FedPD, FedDR, FedDyn, FedSplit -----------------------------------------------------------------------------------


def fedpd(eta: Any) -> FedPD:
    """FedPD that always communicates, duals 0."""
    return FedPD(eta, init_dual="zero")


def feddr(relaxation: Any) -> Equivalence:
    """FedPD and FedDR; like the others with exact local solves and duals that start at zero."""
    states = {"x": "x", "x_i": "x_i", "y_i": "x_i - eta*lam_i"}
    return Equivalence(fedpd, lambda eta: FedDR(eta, relaxation), region="0 < eta", states=states, kept={"x0_i": "x"})


def feddyn(penalty: Any) -> Equivalence:
    """FedPD and FedDyn."""
    states = {"x": "x", "x_i": "x_i", "x_bar": "mean_x_i", "lam": "mean_lam_i", "lam_i": "lam_i"}
    return Equivalence(fedpd, lambda eta: FedDyn(penalty / eta), region="0 < eta", states=states, kept={"x0_i": "x"})


def fedsplit(relaxation: Any) -> Equivalence:
    """FedDR and FedSplit."""
    states, kept = {"x": "x", "z_i": "2*x_i - y_i"}, {"x": "2*mean_x_i - mean_y_i"}
    return Equivalence(
        lambda eta: FedDR(eta, relaxation), lambda eta: FedSplit(eta), region="0 < eta", states=states, kept=kept
    )


def undecided_curves(context: Context) -> Iterator[Finding]:
    """What the equivalences leave open of a comparison whose codes are not published."""
    text = (
        "whether the three codes scale the objective alike, start alike and count FedDR's first proximal step as a round, by which their curves "
        "over {10^-m} of eta and of 1/alpha would be one, the paper does not say; otherwise they may well differ"
    )
    yield Part("three curves", None, "symbolic", text)


AFTER = Fault(
    "the inertia of the round after", "Algorithm 2 as printed", {"method": mistaken("momentum of the round after")}
)
CLAIMS: list[Claim] = [
    claim(
        "DUALFL-L6.4",
        "Lemma 6.4",
        "The blocks' objectives sum to E_d^n plus the constant (N/(2 nu)) ||mean eta||^2; blocks solved to delta_n/N "
        "solve (23) to delta_n.",
        BLOCKS,
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu"],
        kind="identity",
    ),
    claim(
        "DUALFL-L6.6",
        "Lemma 6.6",
        "xi and eta of (25a), (25b) are those of Algorithm 2 where every local gap Gamma is at most delta_n/N.",
        [Step("every round", PREDUAL)],
        conclusions=[
            Conclusion(
                "display in the proof",
                "the last display of the proof prints - nu beta theta^(n) where + stands in (25b)",
                role="reading",
                confirmed=[BY_24.format("b", "-")],
            ),
        ],
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu", "any local answers"],
        readings=[
            "R25 and R24 compare (25a) with the dual point of DualFL's state, and (25b) with (24); err is what the step (23) misses, Gamma the mean "
            "of the local gaps, both divided by N."
        ],
        kind="equivalence",
        besides=on_runs,
        faults=[AFTER],
    ),
    claim(
        "DUALFL-E26",
        "(26)",
        "sum_i zeta_i^(n) = 0 in every round; DualFL is accelerated gradient with step nu on the consensus dual, whose "
        "points sum to zero.",
        [Step("every round", ASCENT)],
        assumptions=["all clients take part"],
        readings=[
            "With y_j = nu zeta_j and s_j = nu z_j, S26 = 0 is the step s_j+ = y_j - nu (theta_j - mean theta), theta_j the gradient of f_j^* at "
            "y_j where local solves are exact, and Y26 = 0 the extrapolation y+ = s+ + beta (s+ - s)."
        ],
        kind="identity",
        besides=on_runs,
        faults=[AFTER],
    ),
    claim(
        "DUALFL-E27",
        "(27)",
        "nu zeta_j^(n) = eta_j^(n) - mean_i eta_i^(n).",
        [Step("every round", VARIATES)],
        assumptions=["all clients take part"],
        readings=[
            "eta is that of (24); R27 compares zeta with its part of mean zero, from the first round on (at the start both are zero)."
        ],
        kind="identity",
        besides=on_runs,
        faults=[AFTER],
    ),
    claim(
        "DUALFL-PRE",
        "Sections 6.2 and 6.3",
        "DualFL is a predualisation of Algorithm 2, whose step is a prerelaxed block Jacobi (parallel subspace correction) step.",
        [*BLOCKS, *steps_of("predualisation", dualfl_is_fista)],
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu"],
        kind="equivalence",
    ),
    derived(
        "DUALFL-N6",
        "the baselines of Section 7",
        "FedPD(eta) = FedDR(eta, 1) = FedDyn(1/eta), and FedDR(eta, 2) = FedSplit(eta), round by round.",
        [
            Step("FedPD = FedDR", feddr(1), wrong={"FedDR with a relaxation of 1.02": feddr(1.02)}),
            Step("FedPD = FedDyn", feddyn(1), wrong={"FedDyn with half the penalty": feddyn(0.5)}),
            Step("FedDR(2) = FedSplit", fedsplit(2), wrong={"FedDR without over-relaxation": fedsplit(1)}),
        ],
        assumptions=[
            "exact local solves, all clients, duals zero at first; FedDR's first proximal step counts as a round"
        ],
        kind="equivalence",
    ),
    claim(
        "DUALFL-X1-SAME",
        "Section 7, Table 2 and the text on Figure 1",
        "FedPD and FedDR (alpha = 1), each tuned by a search over the same decimal grid, have the best value eta = 1e-4, FedDyn another, 1/alpha = "
        "1e-3; and FedDyn's curve falls faster in the first rounds than theirs.",
        [
            Step("FedPD = FedDyn", feddyn(1), "reading", wrong={"FedDyn's penalty doubled": feddyn(2)}),
            Step("FedPD = FedDR", feddr(1), "reading", wrong={"over-relaxation 51/50": feddr(Fraction(51, 50))}),
        ],
        assumptions=[
            "all clients take part",
            "zero duals at the start; FedDR's first proximal step counts as a round",
            "exact local solves, or the same ones",
        ],
        readings=[
            "Table 2 has eta = 1e-4 for FedPD and for FedDR (alpha = 1) and alpha = 1e3 for FedDyn, over grids that are the same set, and the "
            "text on Figure 1 tells FedDyn's first rounds apart from the others'. Under the assumptions named here, which are not the paper's, "
            "tuned alike they are one curve (DUALFL-N6); one of the codes may scale the objective otherwise (a sum over the 8 clients for a "
            "mean), or start otherwise, so that no fault of the published curves is shown."
        ],
        kind="equivalence",
        besides=undecided_curves,
    ),
]

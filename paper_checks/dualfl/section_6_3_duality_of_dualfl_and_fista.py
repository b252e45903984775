"""Section 6.3, Duality between DualFL and FISTA: Lemma 6.6 with the displays of its proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import DualAscent, DualFista, DualFL
from fedtheory.claims import Claim, Context, Equivalence, Fault, Finding, Lemma, Theorem, bar, equal, norm2
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.problem import Problem, constant
from fedtheory.core.randomness import Key
from fedtheory.local.inexact import Inexact
from fedtheory.local.solvers import Exact, LocalSolver
from paper_checks.dualfl import rounds
from paper_checks.dualfl.notation import claim, mistaken, printed_t
from paper_checks.dualfl.section_6_2_inexact_fista import BLOCKS
from paper_checks.steps import Conclusion, Step
from problems.quadratics import random_quadratics

CLAIMS: list[Claim] = []

# ---- Lemma 6.6 -------------------------------------------------------------------------------------------------------

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

BY_24 = (
    "nu*((1 + b)*(zeta + x - t) - b*(Zeta + X - T) - (1 + {0})*x {1} {0}*X) == (1 + b)*nu*(zeta - t) - b*nu*(Zeta - T)"
)


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


AFTER = Fault(
    "the inertia of the round after", "Algorithm 2 as printed", {"method": mistaken("momentum of the round after")}
)

CLAIMS += [
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
            )
        ],
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu", "any local answers"],
        readings=[
            "R25 and R24 compare (25a) with the dual point of DualFL's state, and (25b) with (24); err is what the step (23) misses, Gamma the mean "
            "of the local gaps, both divided by N."
        ],
        kind="equivalence",
        besides=on_runs,
        faults=[AFTER],
    )
]


# ---- (26) ------------------------------------------------------------------------------------------------------------

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

CLAIMS += [
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
    )
]


# ---- (27) ------------------------------------------------------------------------------------------------------------

VARIATES = Theorem(
    **OF_INERTIA,
    name="(27)",
    quantities={"R27": "mean(norm2(zeta - zeta_27))"},
    claim="R27[n+1] == 0",
    proof="done: claim by identity",
)

CLAIMS += [
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
    )
]


# ---- Displays in the proof of Lemma 6.6 ------------------------------------------------------------------------------


def first_display(w: World, p: Parameters, beta: Any) -> Any:
    """||mean_i eta_i^(n) + nu (1 + beta) theta^(n) - nu beta theta^(n-1)||^2 <= 0, where eta^(n) has the inertia before by (25b), and (26) holds."""
    zeta, x, before = w.vector("zeta_j", True), w.vector("theta^n"), w.vector("theta^{n-1}")
    zeta = zeta - bar(zeta)
    eta = (zeta - x * (1 + p.before) + before * p.before) * p.nu
    return norm2(bar(eta) + x * (p.nu * (1 + beta)) - before * (p.nu * beta))


def last_display(w: World, p: Parameters, sign: int) -> Any:
    """||(1 + beta) xi^(n+1) - beta xi^n - nu zeta^(n+1) + nu (1 + beta) theta^(n+1) - sign nu beta theta^n||^2 <= 0, by (25a) and (4)."""
    old, now, x, y = (w.vector(name, True) for name in ("zeta^{n-1}", "zeta^n", "theta_j^n", "theta_j^{n+1}"))
    mean, new = w.vector("theta^n"), w.vector("theta^{n+1}")
    later = (now + new - y) * (1 + p.beta) - (old + mean - x) * p.beta
    left = ((now - y) * (1 + p.beta) - (old - x) * p.beta) * p.nu
    return norm2(left - (later - new * (1 + p.beta) + mean * (sign * p.beta)) * p.nu)


_FIRST, _LAST = "0 < nu, 0 < before, 0 < beta", "0 < nu, 0 < beta"
FIRST_PRINTED = Lemma("first display", "Lemma 6.6", _FIRST, lambda w, p, c: first_display(w, p, p.beta))
FIRST = Lemma(
    "first display, beta_{n-1}", "Lemma 6.6", "0 < nu, 0 < before", lambda w, p, c: first_display(w, p, p.before)
)
LAST_PRINTED = Lemma("last display", "Lemma 6.6", _LAST, lambda w, p, c: last_display(w, p, -1))
LAST = Lemma("last display, plus", "Lemma 6.6", _LAST, lambda w, p, c: last_display(w, p, 1))

CLAIMS += [
    claim(
        "DUALFL-L6.6-DISPLAYS",
        "proof of Lemma 6.6, first and last display",
        "sum_i eta_i^(n) = -N nu (1 + beta_n) theta^(n) + N nu beta_n theta^(n-1), and (1 + beta_n) xi_j^(n+1) - beta_n xi_j^(n) = nu zeta_j^(n+1) "
        "- nu (1 + beta_n) theta^(n+1) - nu beta_n theta^(n).",
        [
            Step("first display", FIRST_PRINTED),
            Step("last display", LAST_PRINTED),
            Step("first display, beta_{n-1}", FIRST, "repaired"),
            Step("last display, plus", LAST, "repaired"),
        ],
        repaired="sum_i eta_i^(n) = -N nu (1 + beta_{n-1}) theta^(n) + N nu beta_{n-1} theta^(n-1), and (1 + beta_n) xi_j^(n+1) - beta_n xi_j^(n) "
        "= nu zeta_j^(n+1) - nu (1 + beta_n) theta^(n+1) + nu beta_n theta^(n).",
        readings=["(25b) of eta^(n) has beta_{n-1}. The lemma is not touched: DUALFL-L6.6."],
        false={"first display": "first display, beta_{n-1}", "last display": "last display, plus"},
        kind="identity",
    )
]


# ---- Predualisation --------------------------------------------------------------------------------------------------


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


CLAIMS += [
    claim(
        "DUALFL-PRE",
        "Sections 6.2 and 6.3",
        "DualFL is a predualisation of Algorithm 2, whose step is a prerelaxed block Jacobi (parallel subspace correction) step.",
        [*BLOCKS, *steps_of("predualisation", dualfl_is_fista)],
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu"],
        kind="equivalence",
    )
]

"""How FedPD relates to ADMM, FedProx, FedDANE, FedAvg, and Oracle II to Oracle I: equivalences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedAvg, FedDane, FedPD, FedProx
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims.claim import Claim, Context, Covered, Fault, Finding, Part, Reading
from fedtheory.claims.parts import equal, holds, proved
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.core.arrays import average
from fedtheory.core.errors import require
from fedtheory.core.participation import All
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps, VarianceReduced
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.symbolic import agree, is_not_zero, is_zero, symbols
from fedtheory.running.runner import run
from paper_checks.fedpd.common import PAPER, HalfDualStep, under_one_name
from paper_checks.fedpd.structure import SCRIPT, general_quadratics, models
from problems.finite_sum import random_finite_sum
from problems.quadratics import Quadratic, random_quadratics

#: of data and coins
DRAWS = 10


def admm(problem: Quadratic, x: NDArray[Any], y: NDArray[Any], eta: float, rounds: int) -> NDArray[np.float64]:
    """Consensus ADMM in the order z, x, y, written independently of FedPD with plain linear solves.

    z = mean(x_i + eta y_i); x_i = argmin f_i + <y_i, x - z> + ||x - z||^2/(2 eta); y_i += (x_i - z)/eta. Returns z of every
    iteration.
    """
    found = []
    identity = np.eye(problem.d)
    for _ in range(rounds):
        z = (x + eta * y).mean(axis=0)
        found.append(z)
        x = np.stack(
            [
                np.linalg.solve(a + identity / eta, b - yi + z / eta)
                for a, b, yi in zip(problem.A, problem.b, y, strict=True)
            ]
        )
        y = y + (x - z) / eta
    return np.asarray(found)


@dataclass(frozen=True, eq=False)
class AdmmState:
    """z, and the multipliers of x_i = z."""

    x: Any
    y_i: Any


@dataclass(frozen=True)
class Admm:
    """The same as a method: x, y, and then z of the next iteration."""

    eta: Any

    def init(self, problem: Any, x0: Any) -> AdmmState:
        """Start with the multipliers at minus the gradients."""
        return AdmmState(x0, -problem.grad(x0))

    def round(self, problem: Any, state: AdmmState, clients: Any, key: Any) -> AdmmState:
        """Run one iteration."""
        x_i = problem.prox(state.x - self.eta * state.y_i, self.eta)
        y_i = state.y_i + (x_i - state.x) / self.eta
        return AdmmState(average(x_i + self.eta * y_i), y_i)


def fedpd_is_consensus_admm(algorithm: Any) -> Equivalence:
    """FedPD's server model is z, and its duals are the multipliers."""
    return Equivalence(
        lambda eta: algorithm(eta),
        lambda eta: Admm(eta),  # type: ignore[arg-type,return-value]
        region="0 < eta",
        states={"x": "x", "y_i": "lam_i"},
        kept={"x0_i": "x"},
        name="FedPD and consensus ADMM",
    )


def check_eq1(ctx: Context, *, algorithm: Any = FedPD) -> Iterator[Finding]:
    """FedPD with p = 0 and exact solves against consensus ADMM: plain linear solves, and as two methods with corresponding states."""
    for k, u in enumerate((0.1, 0.3, 0.9)):
        problem = random_quadratics(5, 4, seed=ctx.seed + k)
        x0 = np.full(4, 1.5)
        rounds = 60
        got = models(algorithm(u), problem, x0, rounds)[1:]
        start = np.repeat(x0[None, :], 5, axis=0)
        # FedPD's first local solve is at x_0^0, which is ADMM's z when y_i = -grad f_i(x^0) sums to ... : start from that solve
        first = algorithm(u).round(problem, algorithm(u).init(problem, x0[None, :]), None, SCRIPT)
        reference = admm(problem, first.x_i, first.lam_i, u, rounds)
        del start
        yield equal(f"ADMM, u = {u}", got, reference, "numeric", "60 rounds, n = 5, d = 4", rtol=1e-10)
    yield from under_one_name("every round", fedpd_is_consensus_admm(algorithm).findings(ctx))


def check_eq2(ctx: Context, *, penalty: int = 1) -> Iterator[Finding]:
    """Equal local problems at zero duals; the aggregations differ."""
    eta = symbols("eta", positive=True)
    general, _, _ = general_quadratics(2)
    z, x1, x2 = symbols("z x1 x2")
    point, at = np.array([[z]], dtype=object), np.array([[x1], [x2]], dtype=object)
    lam = np.array([symbols("l1 l2")], dtype=object).T
    duals = list(under_one_name("the duals are ADMM's", fedpd_is_consensus_admm(FedPD).findings(ctx)))
    yield from duals
    with_dual = Subproblem(general, a=lam, rho=1 / eta, z=point)
    proximal = Subproblem(general, rho=penalty / eta, z=point)
    yield proved(
        "local problem",
        agree(with_dual.grad(at) - proximal.grad(at), lam),
        "FedPD's local problem is FedProx's with rho = 1/eta and the term <lam_i, x>; as ADMM's multiplier lam_i "
        "grows by the gap (x_i - x_0)/eta in every round",
        resting_on=[part for part in duals if isinstance(part, Part)],
    )
    problem = random_quadratics(4, 3, seed=ctx.seed)
    x0 = np.ones(3)
    one = models(FedPD(0.2, init_dual="zero"), problem, x0, 1)[1]
    prox = models(FedProx(5.0), problem, x0, 1)[1]
    yield equal(
        "aggregation",
        one,
        2 * prox - x0,
        "numeric",
        "FedPD's first model is the reflection 2 mean x_i - x^0 of FedProx's",
        rtol=1e-12,
    )
    yield Reading(
        "True for the local objective, which is what the paper says. The methods still differ at zero duals, even in the first round: "
        "FedPD averages x_i + eta lam_i = 2 x_i - x_0, FedProx averages x_i."
    )


def check_eq4(ctx: Context, *, power: int = 1) -> Iterator[Finding]:
    """The closed form of the inner step; what it is with exact gradients; that the estimate crosses rounds."""
    x, x0, g, lam = symbols("x x0 g lam")
    eta, gamma = symbols("eta gamma", positive=True)
    sympy = require("sympy", "closed forms")
    y = sympy.Symbol("y")
    model = g * (y - x) + (y - x) ** 2 / (2 * gamma) + lam * (y - x0) + (y - x0) ** 2 / (2 * eta)
    minimiser = sympy.solve(sympy.diff(model, y), y)[0]
    printed = (eta * x + gamma * x0 - eta * gamma * (g + lam)) / (eta + gamma)
    s = eta * gamma / (eta + gamma) ** power
    step = x - s * (g + lam + (x - x0) / eta)
    yield proved(
        "closed form",
        is_zero(minimiser - printed) and is_zero(printed - step),
        "the printed inner step minimises the linearised Lagrangian and is a gradient step of size eta gamma/(eta + gamma)",
        scope="the closed form of one step",
    )
    e, gm, Q, seeds = 0.2, 0.7, 3, range(DRAWS * ctx.seed, DRAWS * (ctx.seed + 1))
    covered = Covered(len(seeds), "draws")
    two, one = FedPD.oracle_two(e, gm, Q, None, 1), GradientSteps(Q, e * gm / (e + gm) ** power)
    a, b = (
        [models(FedPD(e, local), random_quadratics(4, 3, seed=k), np.ones(3), 40) for k in seeds]
        for local in (two, one)
    )
    yield equal(
        "with exact gradients it is Oracle I-GD", a, b, "numeric", "40 rounds, Q = 3", rtol=1e-10, covered=covered
    )
    apart = []
    for k in seeds:
        finite = random_finite_sum(3, 16, 2, seed=k)
        across, fresh = (FedPD(0.05, VarianceReduced(2, 0.05, 1, period=period)) for period in (10, 1))
        c = run(across, finite, np.ones(2), 12, seed=k, progress=False).state.memory
        d = run(fresh, finite, np.ones(2), 12, seed=k, progress=False).state.memory
        apart.append(float(np.abs(c - d).max()))
    yield holds(
        "the estimate crosses rounds",
        min(apart) > 1e-6,
        "numeric",
        "with I = 10 the gradient estimate is carried through the primal-dual rounds, unlike an SVRG solver inside Oracle I, which starts "
        "afresh every round (I = 1)",
        covered=covered,
    )


def check_eq5(ctx: Context, *, method: Any = FedDane) -> Iterator[Finding]:
    """Client 1's local problem depends on client 2's data within the round, before any aggregation of models."""
    a1, a2, b1, b2, rho, x = symbols("a1 a2 b1 b2 rho x", positive=True)
    problem = Quadratic(np.array([a1, a2], dtype=object)[:, None, None], np.array([b1, b2], dtype=object)[:, None])
    seen: list[Any] = []

    class Watch(Exact):
        def __call__(self, sub: Subproblem, start: Any, key: Any, memory: None) -> Any:
            answer = Exact.__call__(self, sub, start, key, memory)
            seen.extend([answer[0], sub.grad(sub.z)])
            return answer

    made = method(rho, Watch())
    made.round(problem, PointState(np.array([[x]], dtype=object)), None, SCRIPT)
    first_client = seen[0][0, 0]
    depends = any(is_not_zero(first_client.diff(v)) for v in (a2, b2))
    average_gradient = ((a1 + a2) * x - b1 - b2) / 2
    at_server = all(is_zero(g - average_gradient) for g in seen[1][:, 0])
    yield proved(
        "global gradient in the local problem",
        depends and at_server,
        "at the server's model every local problem has the gradient of the average, and client 1's answer depends on client 2's data in the same "
        "round, so a second exchange takes place: outside class (5)",
    )
    yield holds("traffic", method(1.0).traffic(Key(0, 0), None) == (2, 2), "count", "two vectors each way a round")


class FreshGradients:
    """Any functions at all: every gradient call brings a new symbol a client."""

    d, name = 1, "fresh gradients"

    def __init__(self, n: int) -> None:
        self.n = n
        self.seen: list[Any] = []

    def take(self, clients: Any) -> Any:
        """Everybody takes part."""
        return self

    def grad(self, point: Any) -> Any:
        """Return new symbols, whatever the points are."""
        new = symbols(f"g{len(self.seen)}:{len(self.seen) + self.n}")
        self.seen.extend(new)
        return np.asarray(new, dtype=object)[:, None]

    value = grad


def local_steps_are_linear(lr: Any, Q: int) -> bool:
    """Check that Q local steps take any points y_i to y_i - lr sum_q g_i^q: Q = 1 is the induction step, from any points.

    A sampled gradient is a gradient of another function, so the steps of local SGD are the same maps.
    """
    f: Any = FreshGradients(2)
    y = np.array([symbols("y1 y2")], dtype=object).T
    found, _ = GradientSteps(Q, lr)(Subproblem(f), y, SCRIPT, None)
    if len(f.seen) != 2 * Q:  # other than one gradient a step and client
        return False
    sums = np.array(f.seen, dtype=object).reshape(Q, 2).sum(axis=0)[:, None]
    return agree(found, y - lr * sums)


def check_eq6(ctx: Context, *, server: str = "mean", step: Any = None) -> Iterator[Finding]:
    """FedAvg's local points and server model are linear in past points and gradients, with fixed weights, by induction over local steps."""
    eta, x = symbols("eta x", positive=True)
    lr = eta if step is None else step(eta)
    sympy = require("sympy", "closed forms")
    rounds = []
    for n, Q in ((2, 1), (2, 4), (3, 2)):
        f: Any = FreshGradients(n)
        made = FedAvg(GradientSteps(Q, lr)).round(f, PointState(np.array([[x]], dtype=object)), None, SCRIPT)
        model = sympy.expand(made.x[0, 0] if server == "mean" else made.x[0, 0] ** 2)
        rounds.append(len(f.seen) == n * Q and is_zero(model - (x - eta / n * sum(f.seen))))
        yield holds(
            f"Q = {Q}, N = {n}",
            rounds[-1],
            "symbolic",
            "the server's model is x - (eta/N) sum of all local (sample) gradients: linear local and server maps with fixed weights",
        )
    z = symbols("z1:4")
    plain_mean = all(is_zero(average(np.array(z[:n], dtype=object)[:, None])[0, 0] - sum(z[:n]) / n) for n in (1, 2, 3))
    yield proved(
        "every Q",
        all(rounds) and plain_mean and all(local_steps_are_linear(lr, Q) for Q in (1, 2, 3)),
        "a local step takes any point y_i to y_i - eta g_i and adds nothing else (Q steps are Q of them, played for Q = 1, 2, 3), so "
        "by induction x_i^Q = x - eta sum_q g_i^q; the server takes their mean: both maps are linear for every Q and N, whatever functions "
        "or samples the gradients are of",
    )
    finite = random_finite_sum(3, 8, 2, seed=ctx.seed)
    trace = run(
        FedAvg(StochasticSteps(4, 0.1, 1)), finite, np.ones(2), 5, participation=All(), seed=ctx.seed, progress=False
    )
    yield holds(
        "only models travel",
        trace.floats_up[-1] == 5 * 3 * 2,
        "count",
        f"{trace.floats_up[-1]:.0f} floats up: one model a client and round",
    )


CLAIMS = [
    Claim(
        "FEDPD-EQ1",
        PAPER,
        "equivalence",
        "Section III",
        "FedPD follows the pattern of ADMM: with p = 0 and exact solves it is consensus ADMM.",
        check_eq1,
        (Fault("half a dual step", "every round", {"algorithm": HalfDualStep}),),
        ("p = 0", "exact local solves"),
    ),
    Claim(
        "FEDPD-EQ2",
        PAPER,
        "equivalence",
        "Section IV-C",
        "FedPD adds to FedProx's local objective dual variables that remember the gap between local and global model.",
        check_eq2,
        (Fault("rho = 2/eta", "local problem", {"penalty": 2}),),
        assumptions=(
            "rho = 1/eta",
            "full participation",
        ),
    ),
    Claim(
        "FEDPD-EQ4",
        PAPER,
        "equivalence",
        "Section III",
        "Oracle II has a closed-form step and is not Oracle I with a variance-reduced solver: the estimate spans the primal-dual loop.",
        check_eq4,
        (Fault("step without its denominator", "closed form", {"power": 0}),),
        assumptions=(
            "eta > 0, gamma > 0",
            "p = 0",
        ),
    ),
    Claim(
        "FEDPD-EQ5",
        PAPER,
        "equivalence",
        "Section IV-C",
        "FedDANE's subproblem uses the global gradient and so leaves the compute-then-aggregate protocol.",
        check_eq5,
        (Fault("FedProx instead of FedDANE", "global gradient in the local problem", {"method": FedProx}),),
        assumptions=(
            "full participation",
            "exact local solves",
        ),
    ),
    Claim(
        "FEDPD-EQ6",
        PAPER,
        "equivalence",
        "Section II-A",
        "Class (5) contains the local-GD and local-SGD versions of FedAvg.",
        check_eq6,
        (
            Fault("a server map that is not linear", "every Q", {"server": "square"}),
            Fault("local steps of half the size", "Q = 4, N = 2", {"step": lambda eta: eta / 2}),
        ),
        ("full participation", "equal weights", "linear maps V^t and W_i^t as in (5)"),
    ),
]

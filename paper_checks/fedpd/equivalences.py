"""How FedPD relates to ADMM, FedProx, FedDANE, FedAvg, and Oracle II to Oracle I: equivalences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import FedDane, FedPD, FedProx
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import Context, Covered, Equivalence, Fault, Finding, PlayedStates, Theorem, holds, proved, state
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, unasked, vector_of
from fedtheory.core.arrays import average, spread
from fedtheory.core.errors import require
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Memoryless
from fedtheory.local.stochastic import VarianceReduced
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.symbolic import is_zero, symbols
from fedtheory.running.runner import run
from paper_checks.fedpd import identities
from paper_checks.fedpd.common import PAPER, AveragesModels, HalfDualStep, Mistaken, checked, claim, find_stated
from paper_checks.fedpd.draws import DRAWS
from paper_checks.given_gradients import SCRIPT
from paper_checks.steps import Step
from problems.finite_sum import random_finite_sum


@dataclass(frozen=True, eq=False)
class AdmmState:
    """z, and the multipliers of x_i = z."""

    x: Any
    y_i: Any


@dataclass(frozen=True)
class Admm:
    """Consensus ADMM in the order x, y, z: x_i = argmin f_i + <y_i, x - z> + ||x - z||^2/(2 eta); y_i += (x_i - z)/eta; z = mean(x_i + eta y_i)."""

    eta: Any

    def init(self, problem: Any, x0: Any) -> AdmmState:
        """Start with the multipliers at minus the gradients."""
        return AdmmState(x0, -problem.grad(x0))

    def round(self, problem: Any, state: AdmmState, clients: Any, key: Any) -> AdmmState:
        """Run one iteration."""
        x_i = problem.prox(state.x - self.eta * state.y_i, self.eta)
        y_i = state.y_i + (x_i - state.x) / self.eta
        return AdmmState(average(x_i + self.eta * y_i), y_i)


def fedpd_is_consensus_admm(algorithm: Any = FedPD) -> Equivalence:
    """FedPD's server model is z, and its duals are the multipliers."""
    return Equivalence(
        lambda eta: algorithm(eta),
        lambda eta: Admm(eta),  # type: ignore[arg-type,return-value]
        region="0 < eta",
        states={"x": "x", "y_i": "lam_i"},
        kept={"x0_i": "x"},
        name="FedPD and consensus ADMM",
    )


class DualsAtZero(Mistaken):
    """FedPD without duals: they stay, and the server averages x_i."""

    def mistake(self, old: Any, new: Any, key: Key) -> Mapping[str, Any]:
        """Put the old duals back, and the mean of the models for the server's."""
        x = average(new.x_i)
        return {"lam_i": old.lam_i, "x": x, "x0_i": spread(x, new.x_i.shape[-2])}


def fedpd_without_duals_is_fedprox(method: Any = DualsAtZero, rho: str = "1/eta") -> Equivalence:
    """What FedPD is where its duals are zero for ever."""
    return Equivalence(
        lambda eta: method(eta, init_dual="zero"),
        "fedprox",
        second_options=f"rho = {rho}, exact",
        region="0 < eta",
        states={"x": "x"},
        kept={"x0_i": "x", "lam_i": "0*x"} if method is DualsAtZero else {"x0_i": "x"},
        name="FedPD without duals and FedProx",
    )


ORACLE_TWO_IS_ONE = Equivalence(
    lambda eta, gamma, Q: FedPD(eta, FedPD.oracle_two(eta, gamma, int(Q), None, 1)),
    "fedpd",
    second_options="eta, init_dual = grad, exact = false, lr = eta*gamma/(eta + gamma), steps = Q, p = 0",
    region="0 < eta, 0 < gamma, Q in 1..3",
    states={"x": "x", "x_i": "x_i", "x0_i": "x0_i", "lam_i": "lam_i"},
    name="Oracle II with exact gradients and Oracle I-GD",
)


def linearised(y: Any, x: Any, g: Any, gamma: Any, value: Any = 0) -> Any:
    """Oracle II's model of f_i around x."""
    return value + g * (y - x) + (y - x) ** 2 / (2 * gamma)


def with_penalty(value: Any, y: Any, x0: Any, lam: Any, eta: Any) -> Any:
    """L_i, with ``value`` for f_i(y) or a model of it."""
    return value + lam * (y - x0) + (y - x0) ** 2 / (2 * eta)


def inner_step(x: Any, x0: Any, g: Any, lam: Any, eta: Any, gamma: Any) -> Any:
    """The closed form of Oracle II's step from x."""
    return (eta * x + gamma * x0 - eta * gamma * (g + lam)) / (eta + gamma)


def check_eq4(ctx: Context, *, swapped: bool = False, period: int = 10) -> Iterator[Finding]:
    """The closed form of the inner step; what it is with exact gradients; that the estimate crosses rounds. ``swapped``: the weights are."""
    sympy = require("sympy", "closed forms")
    x, x0, g, lam, y = symbols("x x0 g lam y")
    eta, gamma = symbols("eta gamma", positive=True)
    model = with_penalty(linearised(y, x, g, gamma), y, x0, lam, eta)
    minimiser = sympy.solve(sympy.diff(model, y), y)[0]
    points = (x0, x) if swapped else (x, x0)
    printed = inner_step(*points, g, lam, eta, gamma)
    step = x - FedPD.oracle_two(eta, gamma, 1, None, 1).lr * (g + lam + (x - x0) / eta)
    text = "the printed inner step minimises the linearised Lagrangian and is a gradient step of size eta gamma/(eta + gamma)"
    closed = is_zero(minimiser - printed) and is_zero(printed - step)
    yield proved("closed form", closed, text, scope="the closed form of one step")
    yield from find_stated(ctx, {"reading: exact gradients": ORACLE_TWO_IS_ONE}, role="reading")
    apart = []
    for seed in ctx.seeds(DRAWS).tolist():
        finite = random_finite_sum(3, 16, 2, seed=seed)
        across, fresh = (
            run(FedPD(0.05, VarianceReduced(2, 0.05, 1, period=I)), finite, np.ones(2), 12, seed=seed, progress=False)
            for I in (period, 1)
        )
        apart.append(float(np.abs(across.state.memory - fresh.state.memory).max()))
    yield holds(
        "the estimate crosses rounds",
        min(apart) > 1e-6,
        "numeric",
        "with I = 10 the gradient estimate is carried through the primal-dual rounds, unlike an SVRG solver inside Oracle I, which starts "
        "afresh every round (I = 1)",
        covered=Covered(DRAWS, "draws"),
    )


def play_feddane(world: World, p: Parameters, last: int, method: Any = FedDane) -> list[State]:
    """A round from any model: the gradient at it of the problem that a client solves, whatever its answer."""
    f, x, answers = world.function(p.L, -p.L, client=True, name="f_i"), world.vector("x"), world.vector("x_i", True)
    slope, _ = world.at(f, x + answers * 0, "f_i at x")
    asked: list[Subproblem] = []

    class Asked(Memoryless):
        def __call__(self, sub: Subproblem, start: Any, key: Any, memory: None) -> tuple[Any, None]:
            asked.append(sub)
            return array_of_vectors(answers), None

    clients: Any = identities.AnyGradients(unasked(answers).n, array_of_vectors(slope))
    method(p.rho, Asked()).round(clients, PointState(array_of_vectors(x)), None, SCRIPT)
    at = vector_of(asked[0].grad(asked[0].z), answers)
    return [State(x=x, f_i=f, local_slope=at) for _ in range(last + 1)]


def uses_global_gradient(method: Any = FedDane) -> Theorem:
    """The local problems of a round have the gradient of f at the server's model, which no client knows."""
    return Theorem(
        name="FedDANE's local problems",
        region="0 < L, 0 < rho",
        states=PlayedStates(partial(play_feddane, method=method)),
        rounds={"t": 0},
        quantities={
            "apart": "mean(norm2(local_slope - bar(grad(f_i, x))))",
            "term": "mean(norm2(local_slope - grad(f_i, x)))",
            "others": "mean(norm2(grad(f_i, x) - bar(grad(f_i, x))))",
        },
        claim=("apart[t] == 0", "term[t] == others[t]"),
        proof="""
          same:  claim 1 by identity
          whose: claim 2 by identity
        """,
    )


CLAIMS = [
    state(
        "FEDPD-EQ1",
        PAPER,
        "Section III",
        "FedPD follows the pattern of ADMM: with p = 0 and exact solves it is consensus ADMM.",
        fedpd_is_consensus_admm(),
        wrong={"half a dual step": fedpd_is_consensus_admm(HalfDualStep)},
        kind="equivalence",
        assumptions=("p = 0", "exact local solves"),
    ),
    claim(
        "FEDPD-EQ2",
        "Section IV-C",
        "FedPD adds to FedProx's local objective dual variables that remember the gap between local and global model.",
        [
            Step(
                "without duals it is FedProx",
                fedpd_without_duals_is_fedprox(),
                wrong={
                    "rho a hundredth larger": fedpd_without_duals_is_fedprox(rho="101/(100*eta)"),
                    "duals that move": fedpd_without_duals_is_fedprox(AveragesModels),
                },
            ),
            Step(
                "the duals add up the gaps, as ADMM's multipliers",
                fedpd_is_consensus_admm(),
                wrong={"half a dual step": fedpd_is_consensus_admm(HalfDualStep)},
            ),
        ],
        kind="equivalence",
        assumptions=("rho = 1/eta", "exact local solves", "p = 0", "full participation"),
        readings=(
            "The duals change the aggregation, too: FedPD averages x_i + eta lam_i, which after a first round from zero duals is 2 x_i - x_0, where "
            "FedProx averages x_i.",
        ),
    ),
    checked(
        "FEDPD-EQ4",
        "equivalence",
        "Section III",
        "Oracle II has a closed-form step and is not Oracle I with a variance-reduced solver: the estimate spans the primal-dual loop.",
        check_eq4,
        Fault("weights of x_i and x_0 exchanged", "closed form", {"swapped": True}),
        Fault("a full gradient every round", "the estimate crosses rounds", {"period": 1}),
        assumes=("eta > 0, gamma > 0", "p = 0"),
    ),
    claim(
        "FEDPD-EQ5",
        "Section IV-C",
        "FedDANE's subproblem uses the global gradient and so leaves the compute-then-aggregate protocol.",
        [
            Step(
                "global gradient in the local problem",
                uses_global_gradient(),
                wrong={"FedProx instead of FedDANE": uses_global_gradient(FedProx)},
            )
        ],
        kind="equivalence",
        assumptions=("full participation",),
        readings=(
            "In (5) what clients do in a round depends on the server's model and their own functions alone. FedDANE's local problem has the gradient "
            "of f at the server's model: what is added to a client's own gradient is what it differs by from the others', of the same round.",
        ),
    ),
    state(
        "FEDPD-EQ6",
        PAPER,
        "Section II-A",
        "Class (5) contains the local-GD and local-SGD versions of FedAvg.",
        identities.LINEAR_STEPS,
        assumptions=("full participation", "equal weights", "linear maps V^t and W_i^t as in (5)"),
        kind="equivalence",
        wrong={"local steps a hundredth shorter": identities.with_step(Fraction(99, 100))},
    ),
]

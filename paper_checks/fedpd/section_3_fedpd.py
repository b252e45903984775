"""Section 3: FedPD reaches the lower bound, follows ADMM and sends models only; Oracle II."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD, every
from fedtheory.claims import Claim, Context, Covered, Equivalence, Fault, Finding, Picture, PlayedStates, Theorem, state
from fedtheory.claims.chance import chance_of_signs
from fedtheory.claims.curves import draw_bound
from fedtheory.claims.parts import at_most, holds, proved
from fedtheory.claims.statements.theorems.as_parts import is_proved
from fedtheory.claims.statements.worlds import Parameters, World, bar
from fedtheory.core.arrays import average
from fedtheory.core.errors import require
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import VarianceReduced
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from fedtheory.running.runner import run
from paper_checks.fedpd.bounds import constants_with_errors, theorem_one_factor
from paper_checks.fedpd.notation import A1, A2, PAPER, SMOOTH_SAMPLES, checked, claim
from paper_checks.fedpd.played import (
    DRAWS,
    AveragesModels,
    HalfDualStep,
    communications,
    find_stated,
    stays_below,
    total,
)
from paper_checks.fedpd.rounds import round_with_coin
from paper_checks.fedpd.section_2_1_lower_bound import CTA, LINEAR, lower_bound_holds, needed_rounds
from paper_checks.fedpd.section_4_1_a_theorem_1 import theorem_one_with_errors
from paper_checks.fedpd.section_4_1_b_theorem_2 import STEP_VR, finite_sums, steps_spent, with_exact_gradients
from paper_checks.fedpd.z_ours_theorem_1 import corrected_theorem_one
from paper_checks.steps import Step
from problems.finite_sum import random_finite_sum
from problems.lower_bound import two_group_chain

CLAIMS: list[Claim] = []


# ---- The lower bound is reached --------------------------------------------------------------------------------------
def _draw_rounds(u: Fraction, lengths: Sequence[int]) -> Picture:
    """Communications that FedPD takes on chains of D11 with L = epsilon = 1, between the bounds."""
    gaps, needed = [], []
    for T in lengths:
        chain = two_group_chain(T, L=1.0, epsilon=1.0)
        method = FedPD(float(u), GradientSteps(6, float(u)))
        trace = total(chain, method, np.zeros(chain.d), 200 + 60 * T)
        gaps.append(trace["value"][0] - float(chain.lower_bound().value))
        needed.append(np.argmax(trace["stationarity"] < 1) if (trace["stationarity"] < 1).any() else np.nan)
    return draw_bound(
        "Communications until ||grad f||^2 < epsilon",
        gaps,
        [float(theorem_one_factor(u, u)) * gap for gap in gaps],
        xlabel="L D_0/epsilon",
        ylabel="communications",
        about=f"claimed: the upper bound D1 with u = {u}; FedPD with 6 gradient steps of size eta, on the chains of D11 with T = "
        f"{', '.join(map(str, lengths))}; no seeds",
        more=[
            ("FedPD on the chain of D11", needed),
            ("lower bound D11", [float(needed_rounds(1, gap, 1)) for gap in gaps]),
        ],
        logx=True,
    )


def check_q2(ctx: Context, *, strength: Any = 4) -> Iterator[Finding]:
    """Upper bounds D1 and T1 and lower bound D11 have the same order L D_0/epsilon, under A1 and A2 alone."""
    yield LINEAR
    below = lower_bound_holds()
    yield below
    u, (L, D0, eps) = Fraction(3, 10), symbols("L D0 epsilon", positive=True)
    upper = theorem_one_factor(u, u, 4) * L * D0 / eps
    ratio = require("sympy", "closed forms").limit(upper / needed_rounds(L, D0, eps), eps, 0, "+")
    yield proved(
        "same order",
        is_proved(corrected_theorem_one(strength)) and not ratio.free_symbols and is_positive(ratio),
        "the upper bound D1 (with u = 0.3 FedPD needs at most 22.6 L D_0/epsilon rounds) and the lower bound D11, both shown for every L, D_0 and "
        f"epsilon; upper over lower tends to {float(ratio):.0f}, whatever L and D_0: the order is reached, the constants are far apart",
        resting_on=[below],
    )
    C_2, _ = constants_with_errors(1.0, float(u))  # half of epsilon is for the rounds, half for epsilon_1
    yield proved(
        "same order within class (5)",
        is_proved(theorem_one_with_errors(strength)),
        f"exact local solves are no linear processing; gradient steps up to epsilon_1 = epsilon/(2 C_4) are, and Theorem 1 with errors, shown for "
        f"every L, D_0 and epsilon, then asks for at most 2 C_2 D_0/epsilon rounds, {2 * C_2:.0f} L D_0/epsilon at u = 0.3",
        resting_on=[below],
    )
    yield _draw_rounds(u, (1, 2, 4))


CLAIMS += [
    checked(
        "FEDPD-Q2",
        "rate",
        "Sections I and III",
        "FedPD reaches the communication lower bound using only A1 and A2.",
        check_q2,
        Fault("upper bound cut by a hundredth", "same order", {"strength": "99/25"}),
        Fault("upper bound with errors cut by a hundredth", "same order within class (5)", {"strength": "99/25"}),
        assumes=(A1, A2, CTA, "lam_i^0 = -grad f_i(x^0), which Algorithm 2 leaves open"),
    )
]


# ---- ADMM ------------------------------------------------------------------------------------------------------------
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


CLAIMS += [
    state(
        "FEDPD-EQ1",
        PAPER,
        "Section III",
        "FedPD follows the pattern of ADMM: with p = 0 and exact solves it is consensus ADMM.",
        fedpd_is_consensus_admm(),
        wrong={"half a dual step": fedpd_is_consensus_admm(HalfDualStep)},
        kind="equivalence",
        assumptions=("p = 0", "exact local solves"),
    )
]


# ---- What is sent ----------------------------------------------------------------------------------------------------
def play_any_answers(world: World, p: Parameters, last: int, algorithm: Any = FedPD) -> list[Any]:
    """Rounds whose local solver may answer anything; the mean of the copies is that of x_i + eta lam_i, as after each round."""
    x_i, lam_i, copies = (world.vector(name, True) for name in ("x_i", "lam_i", "copies"))
    copies = copies - bar(copies) + bar(x_i + lam_i * p.eta)
    states: list[Any] = [State(x=bar(copies), x_i=x_i, x0_i=copies, lam_i=lam_i)]
    for k in range(1, max(last, 1) + 1):
        old, answers = states[-1], world.vector(f"x_i {k}", True)
        shared, kept = (round_with_coin(world, p, old, answers, skips, algorithm) for skips in (False, True))
        old.x_i_next, old.lam_i_next = answers, shared["lam_i"]
        old.shared, old.kept = shared["x0_i"], kept["x0_i"]
        states.append([(1 - p.p, State(**shared)), (p.p, State(**kept))] if k == last else State(**shared))
    return states[: last + 1]


def exchanged(algorithm: Any = FedPD) -> Theorem:
    """After a communication copies are the mean of x_i + eta lam_i, one vector of each client; after none they are a client's own."""
    return Theorem(
        name="what FedPD exchanges",
        region="0 < eta, 0 < p < 1",
        states=PlayedStates(partial(play_any_answers, algorithm=algorithm)),
        rounds={"r": 0},
        quantities={
            "down": "mean(norm2(shared - bar(x_i_next + eta*lam_i_next)))",
            "own": "mean(norm2(kept - (x_i_next + eta*lam_i_next)))",
        },
        claim=("down[r] == 0", "own[r] == 0"),
        proof="""
          all:  claim 1 by identity
          kept: claim 2 by identity
        """,
    )


def count_floats(ctx: Context, *, vectors: int = 1) -> Iterator[Finding]:
    """Floats counted on runs against those that the communicating rounds need."""
    rounds = 40
    plans = {
        "Oracle I, p = 0": (FedPD(0.1, GradientSteps(3, 0.1)), 40),
        "Oracle I, every 4th round": (FedPD(0.1, GradientSteps(3, 0.1), every(4)), 10),
        "Oracle I, p = 0.5": (FedPD(0.1, GradientSteps(3, 0.1), 0.5), None),
        "Oracle II": (FedPD(0.05, FedPD.oracle_two(0.05, 0.5, 2, 2, 5)), 40),
    }
    ok, said = True, []
    for (name, (plan, known)), (clients, d) in product(plans.items(), ((6, 5), (3, 8))):
        problem = random_finite_sum(clients, 8, d, seed=ctx.seed)
        trace = run(plan, problem, np.zeros(d), rounds, seed=ctx.seed, progress=False)
        seen = communications(plan, problem, np.zeros(d), rounds, ctx.seed)
        up, down = trace.floats_up[-1], trace.floats_down[-1]
        ok &= seen == (known or seen) and up == vectors * clients * d * seen == down
        said.append(f"{name}, {clients} clients, d = {d}: {up:.0f} up and down in {seen} communications")
    text = f"{'; '.join(said)} ({rounds} rounds; communications are seen from the clients' copies): one model a client each way, duals never"
    yield holds("floats", ok, "count", text, covered=Covered(len(said), "instances"))


CLAIMS += [
    claim(
        "FEDPD-Q4",
        "Section III",
        "In a communicating round only models are exchanged: d floats up and d down a client.",
        [
            Step(
                "one vector a client, each way",
                exchanged(),
                wrong={"models averaged, duals apart": exchanged(AveragesModels)},
            )
        ],
        kind="identity",
        besides=count_floats,
        faults=(Fault("duals sent along", "floats", {"vectors": 2}),),
        assumptions=("full participation", "one coin a round, shared by all clients"),
    )
]


# ---- Oracle II, the number of inner steps ----------------------------------------------------------------------------
def check_q6(ctx: Context, *, scale: float = 1.0, effective: Any = 2) -> Iterator[Finding]:
    """Q = 1, ..., 16 with the step of Theorem 2: eta S_T / D_0 stays bounded."""
    for Q in (1, 2, 3):
        yield with_exact_gradients(Q, 6, effective, 2)
    problem, rounds = finite_sums(ctx), ctx.pick(200, 2000)
    found = {Q: steps_spent(ctx, problem, Q, 2, 10, rounds, scale) for Q in (1, 2, 3, 5, 8, 16)}
    said = f"eta sum ||grad f||^2 / D_0 over {rounds} rounds, mean of {DRAWS} draws of data and coins: "
    said += ", ".join(f"{v.mean():.2f} (Q={q})" for q, v in found.items())
    largest = np.max(list(found.values()), axis=0)
    if (largest > 2).all():  # a mean says little of draws that differ by powers of ten
        yield at_most("every Q", largest, 2.0, "numeric", said, chance=chance_of_signs(0, DRAWS))
    else:
        yield stays_below("every Q", largest, 2.0, f"{said}; the largest of each draw")
    yield draw_bound(
        "What T rounds spend of D_0, by the number of inner steps",
        list(found),
        [2.0] * len(found),
        xlabel="Q",
        ylabel="eta sum ||grad f||^2 / D_0",
        about=f"FedPD, Oracle II with the step of Theorem 2, B = 2, I = 10; finite sums, {rounds} rounds, seed {ctx.seed}",
        runs=list(found.values()),
    )


CLAIMS += [
    checked(
        "FEDPD-Q6",
        "bound",
        "Section III",
        "In Oracle II the number Q of inner steps may be any positive integer.",
        check_q6,
        Fault("steps 20 times too long", "every Q", {"scale": 20.0}),
        Fault("effective constant 0.3", "exact gradients, every L-smooth f, Q=2 gamma=6 eta", {"effective": 0.3}),
        assumes=(STEP_VR, SMOOTH_SAMPLES),
        draws=True,
    )
]


# ---- Oracle II is not Oracle I ---------------------------------------------------------------------------------------
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


CLAIMS += [
    checked(
        "FEDPD-EQ4",
        "equivalence",
        "Section III",
        "Oracle II has a closed-form step and is not Oracle I with a variance-reduced solver: the estimate spans the primal-dual loop.",
        check_eq4,
        Fault("weights of x_i and x_0 exchanged", "closed form", {"swapped": True}),
        Fault("a full gradient every round", "the estimate crosses rounds", {"period": 1}),
        assumes=("eta > 0, gamma > 0", "p = 0"),
    )
]

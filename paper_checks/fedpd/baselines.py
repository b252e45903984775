"""FedPD beside its baselines: limits of FedProx and FedAvg (D12, Q7), rounds and traffic (Q4, Q8), noise and gradients (Q10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import FedAvg, FedDane, FedPD, FedProx, every
from fedtheory.claims import (
    Clause,
    Context,
    Covered,
    Fault,
    Finding,
    Limit,
    Picture,
    PlayedStates,
    Reading,
    Replay,
    Setting,
    Theorem,
    assume,
    assume_constant,
    disproved,
    holds,
    refute,
)
from fedtheory.claims.chance import chance_of_signs
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.problem import constant
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.symbolic import is_positive, symbols
from fedtheory.running.runner import run
from paper_checks.averaged_quadratics import MEAN_OF_CLIENTS, local_steps_of
from paper_checks.fedpd import identities, limits
from paper_checks.fedpd.common import (
    A1,
    A2,
    AveragesModels,
    checked,
    claim,
    communications,
    derived,
    draw,
    fractions,
    rational,
    total,
)
from paper_checks.fedpd.divergence import fedavg_ends, mean_of_centres
from paper_checks.fedpd.theorems import gradients_vanish
from paper_checks.steps import Step
from problems.finite_sum import random_finite_sum
from problems.quadratics import Quadratic, random_indefinite, random_quadratics, scalar_quadratics

# ---- D12, Q7, Q8 ------------------------------------------------------------------------------------------------------


def two_parabolas(a1: Any, a2: Any, c1: Any, c2: Any) -> Any:
    """(a_i/2)(x - c_i)^2 on two clients."""
    return scalar_quadratics(np.array([a1, a2]), np.array([c1, c2]))


def fedprox_ends(weight: str = "{a}*rho/(rho + {a})", method: str = "fedprox", options: str = "rho, exact") -> Limit:
    """Exact FedProx on (a_i/2)(x - c_i)^2, two clients, ends at sum w_i c_i/sum w_i, w_i = a_i rho/(rho + a_i); c_i > 0 after a shift."""
    return Limit(
        method,
        options,
        problem=two_parabolas,
        region="0 < a1, 0 < a2, 0 < c1, 0 < c2, 0 < rho",
        point=mean_of_centres(weight),
    )


_WEIGHTS_A = fedprox_ends("{a}")  #: those of x*


def three_parabolas() -> Any:
    """Curvatures 1, 5 and 1/2, about 2, -1 and 4."""
    return scalar_quadratics(fractions(("1", "5", "1/2")), fractions(("2", "-1", "4")))


def _of_three(method: str, options: str) -> Limit:
    """The minimiser is the limit on three clients."""
    return Limit(method, options, problem=three_parabolas)


FEDPROX_ENDS = fedprox_ends()
D12 = {
    "FedProx": FEDPROX_ENDS,
    "FedAvg": fedavg_ends(),
    "FedPD, three clients": _of_three("fedpd", "eta = 3/50, init_dual = grad, exact, p = 0"),
}


ELSEWHERE = Theorem(
    "0 < a1 < a2, 0 < c1 < c2, 0 < rho",
    f"{mean_of_centres('{a}*rho/(rho + {a})')} < {mean_of_centres('{a}')}",
    "done: claim by combine",
    name="FedProx's limit is not x*",
)


def draw_q7(ctx: Context) -> Picture:
    """Runs of both on quadratics."""
    problem = random_quadratics(6, 4, heterogeneity=2.0, seed=ctx.seed)
    methods = {"FedProx, rho = 1": FedProx(1.0), "FedPD, u = 0.4": FedPD(0.4)}
    traces = {name: total(problem, method, np.zeros(4), ctx.pick(800, 3000)) for name, method in methods.items()}
    return draw("FedProx stops short of the stationary point, FedPD does not", traces)


def check_q8(ctx: Context, *, method: Any = FedPD) -> Iterator[Finding]:
    """On certified indefinite instances, where only A1 and A2 hold: who converges, and in how many rounds."""
    yield Reading(
        "Qualitative. 'Weaker assumptions' is checked on instances that satisfy A1 and A2 only: FedPD must converge on all, FedProx and "
        "FedDANE need not. Complexity is compared in rounds to a fixed accuracy with equal proximal parameter."
    )
    problem, rounds = random_indefinite(4, 3, batch=(ctx.pick(100, 1000),), seed=ctx.seed), ctx.pick(600, 2000)
    # keep instances whose average is well conditioned, so that every method has time
    good = np.linalg.eigvalsh(problem.A.mean(axis=-3))[:, 0] > 0.1
    problem = Quadratic(problem.A[good], problem.b[good], name=problem.name)
    u = 0.3
    eta = u / float(np.max(constant(problem, "L").value))
    reached, sent = {}, {}
    for name, played in {"FedPD": method(eta), "FedProx": FedProx(1 / eta), "FedDANE": FedDane(1 / eta)}.items():
        trace = total(problem, played, np.zeros((int(good.sum()), 3)), rounds)
        below = trace["stationarity"] < 1e-10 * trace["stationarity"][:, :1]
        reached[name] = float(below[:, -1].mean())
        sent[name] = trace.floats_up[..., np.where(below.any(axis=-1), below.argmax(axis=-1), rounds)]
    shares = ", ".join(f"{name} {share:.2f}" for name, share in reached.items())
    text = f"{int(good.sum())} indefinite instances, u = {u}, {rounds} rounds: share that lowers ||grad f||^2 by 1e-10: {shares}"
    yield holds("FedPD converges on all", reached["FedPD"] == 1, "numeric", text)
    chance = chance_of_signs(round(reached["FedProx"] * good.sum()), int(good.sum()))
    text = "FedProx stalls at its biased point"
    yield holds("FedProx does not", reached["FedProx"] < 0.05, "numeric", text, chance=chance)
    ratios = sent["FedDANE"] / sent["FedPD"]
    ratio, chance = np.median(ratios), chance_of_signs(int((ratios > 1.8).sum()), ratios.size)
    text = f"floats uploaded until then, FedDANE over FedPD: median {ratio:.2f} (the same rounds, two vectors instead of one)"
    yield holds("floats against FedDANE", ratio > 1.8, "count", text, chance=chance)


# ---- Q4, Q10 ----------------------------------------------------------------------------------------------------------


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


def replay_q10(instance: Mapping[str, Any]) -> Replay:
    """Largest gradient on a ball against the standard deviation of the noise, for h = x + xi on f = x^2/2, xi = +-sigma."""
    radius, sigma, multiple = (rational(instance[k]) for k in ("radius", "sigma", "multiple"))
    f = scalar_quadratics([1.0])
    variance = Fraction(1, 2) * (sigma**2 + (-sigma) ** 2)
    return Replay(
        what=f"|grad f(x)| at x = {radius} against a bound of {multiple} times the noise level sigma = {sigma}",
        measured=float(f.grad(np.array([[float(radius)]]))[0, 0]),
        bound=float(multiple * sigma),
        exact_measured=scalar_quadratics(fractions(["1"])).grad(fractions([[str(radius)]]))[0, 0],
        exact_bound=multiple * sigma,
        arithmetic="fractions",
        assumptions=(
            assume("E (h - grad f)^2 <= sigma^2 for every x", "variance <= sigma**2", variance=variance, sigma=sigma),
            assume_constant("f is 1-smooth", f, "L", "<=", 1),
            assume_constant("f is bounded below", f, "mu", ">=", 0),
        ),
    )


def check_q10(ctx: Context, *, radius: str = "1000000", above: int = 1) -> Iterator[Finding]:
    """Additive noise on a quadratic: bounded variance, unbounded gradients; ``above``: how far the point lies above the bound."""
    instance = {"radius": radius, "sigma": "1", "multiple": "1000"}
    yield refute("bounded variance implies bounded gradients", replay_q10, instance)
    bound = symbols("K", positive=True)
    gradient = scalar_quadratics(fractions(["1"])).grad(np.array([[bound + above]], dtype=object))[0, 0]
    yield disproved(
        "some bound on the gradients",
        is_positive(gradient - bound),
        "the noise xi = +-sigma of x + xi has the variance sigma^2 everywhere, and for every K the gradient x of x^2/2 exceeds K at x = K + 1",
    )


def play_noise(world: World, p: Parameters, last: int) -> list[Any]:
    """Samples h = x +- s e of the gradient x of ||x||^2/2 at x = K e, either with probability 1/2."""
    e = world.vector("e")
    states: list[Any] = [State(e=e, g=e * p.K, h=world.vector("h"))]
    for _ in range(last):
        states.append([(Fraction(1, 2), State(e=e, g=e * p.K, h=e * p.K + e * s)) for s in (p.s, -p.s)])
    return states


NOISE = Theorem(
    name="additive noise on a quadratic",
    region="0 < s, 0 < K",
    states=PlayedStates(play_noise),
    rounds={"t": 0},
    quantities={"noise": "norm2(h - g)", "slope": "norm2(g)", "E": "norm2(e)"},
    claim=("noise[t+1] == s**2*E[t]", "slope[t+1] == K**2*E[t]"),
    proof="""
      variance: claim 1 by identity
      gradient: claim 2 by identity
    """,
)


CLAIMS = [
    derived(
        "FEDPD-D12",
        "limits on scalar quadratics",
        (
            Clause(
                "On (a_i/2)(x - c_i)^2 an exact solve of FedProx leads from w to c_i + q_i (w - c_i), q_i = rho/(rho + a_i),",
                ("an exact solve of FedProx",),
            ),
            Clause(
                "as Q local steps of FedAvg do with q_i = (1 - eta a_i)^Q;",
                ("Q local steps of FedAvg",),
            ),
            Clause(
                "their mean over all clients is P w + k, k the mean of (1 - q_i) c_i and P that of q_i, inside (-1, 1);",
                ("the mean over clients",),
            ),
            Clause(
                "with this mean rounds of FedProx and FedAvg end at k/(1 - P) = sum w_i c_i/sum w_i, w_i = 1 - q_i;",
                ("FedProx's rounds", "FedAvg's rounds"),
            ),
            Clause("FedPD ends at x*.", ("FedPD's models",)),
        ),
        [
            Step(
                "an exact solve of FedProx",
                limits.solve_of_fedprox(),
                wrong={"half the penalty": limits.solve_of_fedprox(Fraction(1, 2))},
            ),
            Step(
                "Q local steps of FedAvg",
                local_steps_of(FedAvg),
                wrong={"two local steps for one": local_steps_of(FedAvg, 2)},
            ),
            Step("the mean over clients", MEAN_OF_CLIENTS),
            Step("FedProx's rounds", limits.FEDPROX_ENDS_THERE),
            Step("FedAvg's rounds", limits.FEDAVG_ENDS_THERE),
            Step(
                "FedPD's models",
                limits.fedpd_ends_at_the_minimiser(),
                wrong={"constant of the proof cut by a hundredth": limits.fedpd_ends_at_the_minimiser("99/25")},
            ),
            *(
                Step(f"{clients} by another engine", statement, "reading", wrong=wrong)
                for clients, (statement, wrong) in {
                    "two clients of FedProx": (D12["FedProx"], {"FedProx with the weights a_i of x*": _WEIGHTS_A}),
                    "two clients of FedAvg": (D12["FedAvg"], {"FedAvg with a step more": fedavg_ends("Q + 1")}),
                    "three clients of FedPD": (
                        D12["FedPD, three clients"],
                        {"FedAvg in FedPD's place": _of_three("fedavg", "lr = 1/20, steps = 2")},
                    ),
                }.items()
            ),
        ],
        kind="identity",
        assumptions=(
            "a_i > 0",
            "exact local solves, rho > 0 (FedProx)",
            "eta a_i < 2, Q >= 1 (FedAvg)",
            "exact local solves, 0 < mu <= a_i <= L, mu < L, u < 1/2, p = 0, lam_i^0 = -grad f_i(x^0) (FedPD)",
        ),
        readings=(
            "In theorems w is a model, h, b (or solution) and Q are a client's a_i, c_i and q_i, Q = s for FedProx and q^K for FedAvg with K "
            "local steps, which are Q above; lr is eta and n + 1 the number of clients.",
            "FedPD's theorem is one of all mu-strongly convex and L-smooth f_i, and x* is the minimiser of their mean, here sum a_i c_i/sum a_i.",
        ),
    ),
    claim(
        "FEDPD-Q4",
        "Section III",
        "In a communicating round only models are exchanged: d floats up and d down a client.",
        [
            Step(
                "one vector a client, each way",
                identities.exchanged(),
                wrong={"models averaged, duals apart": identities.exchanged(AveragesModels)},
            )
        ],
        kind="identity",
        besides=count_floats,
        faults=(Fault("duals sent along", "floats", {"vectors": 2}),),
        assumptions=("full participation", "one coin a round, shared by all clients"),
    ),
    claim(
        "FEDPD-Q7",
        "Section IV-C",
        "FedProx fails to converge to the global stationary point; FedPD's duals let it converge.",
        [
            Step(
                "FedProx's limit",
                FEDPROX_ENDS,
                wrong={
                    "FedPD in FedProx's place": fedprox_ends(
                        method="fedpd", options="eta = 1/rho, init_dual = grad, exact, p = 0"
                    ),
                    "the weights a_i of x*": _WEIGHTS_A,
                },
            ),
            Step("it is not x*, where curvatures and centres differ", ELSEWHERE),
            Step("FedPD's gradients vanish", gradients_vanish()),
        ],
        kind="divergence",
        picture=draw_q7,
        assumptions=(
            A1,
            A2,
            "exact local solves",
            "constant rho > 0 (FedProx)",
            "u < 1/2, p = 0, lam_i^0 = -grad f_i(x^0) (FedPD)",
        ),
    ),
    checked(
        "FEDPD-Q8",
        "ordering",
        "Section IV-C",
        "FedPD has weaker assumptions and better sample or communication complexity than FedProx and FedDANE.",
        check_q8,
        Fault("the server averages models without their duals", "FedPD converges on all", {"method": AveragesModels}),
        assumes=(A1, A2),
        setting=lambda ctx: Setting("random indefinite quadratics", "4 clients in 3 dimensions", False),
    ),
    claim(
        "FEDPD-Q10",
        "Section I",
        "VRL-SGD's bounded-variance assumption essentially implies that the (stochastic) gradients are bounded.",
        [Step("variance and gradient are independent", NOISE, "repaired")],
        kind="proof step",
        besides=check_q10,
        faults=(
            Fault("a small ball", "bounded variance implies bounded gradients", {"radius": "10"}, holds=True),
            Fault("a point at the bound", "some bound on the gradients", {"above": 0}, holds=True),
        ),
        assumptions=("bounded variance: E ||h_i(x; xi) - grad f_i(x)||^2 <= sigma^2 for all x",),
        readings=(
            "'Essentially implies' is read as: a bound on the variance gives some bound on the gradients. Where noise grows with the gradient, as of "
            "sampled least squares, a bound on the variance does restrict the gradients; as a remark on such losses it is not contradicted.",
        ),
        repaired="Bounded variance bounds the noise only; additive noise on a quadratic has unbounded gradients.",
        replay=replay_q10,
    ),
]

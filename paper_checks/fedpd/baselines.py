"""FedPD beside its baselines: limits of FedProx and FedAvg (D12, Q7), rounds and traffic (Q4, Q8), noise and gradients (Q10)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import FedAvg, FedDane, FedPD, FedProx, every
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims.chance import chance_of_signs
from fedtheory.claims.claim import Claim, Context, Covered, Fault, Finding, Part, Picture, Reading, Replay
from fedtheory.claims.parts import assume, assume_constant, equal, holds, proved, refute
from fedtheory.core.problem import constant
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.symbolic import is_not_zero, is_zero, play_exactly, symbols
from fedtheory.running.runner import run
from paper_checks.fedpd.common import (
    A1,
    A2,
    PAPER,
    AveragesModels,
    Prescribed,
    communications,
    fractions,
    rational,
    total,
)
from paper_checks.fedpd.divergence import fedavg_fixed_point
from paper_checks.fedpd.theorem_one import proof_of_corrected_theorem
from problems.finite_sum import random_finite_sum
from problems.quadratics import Quadratic, random_indefinite, random_quadratics, scalar_quadratics

# ---- D12, Q7, Q8 ----------------------------------------------------------------------------------------------------


def fedprox_fixed_point(a: Any, c: Any, rho: Any) -> Any:
    """FedProx's fixed point on (a_i/2)(x - c_i)^2: sum w_i c_i / sum w_i, w_i = a_i rho/(rho + a_i)."""
    weights = [ai * rho / (rho + ai) for ai in a]
    return sum(w * ci for w, ci in zip(weights, c, strict=True)) / sum(weights)


def plain_mean(a: Any, c: Any, rho: Any) -> Any:
    """Planted fault: the weights a_i of x*."""
    return sum(x * y for x, y in zip(a, c, strict=True)) / sum(a)


def _scalar(n: int) -> tuple[Quadratic, Any, Any, Any]:
    """(a_i/2)(x - c_i)^2 with symbols: the problem, a, c and x*."""
    a, c = symbols(f"a1:{n + 1}", positive=True), symbols(f"c1:{n + 1}")
    star = sum(ai * ci for ai, ci in zip(a, c, strict=True)) / sum(a)
    return scalar_quadratics(np.array(a, dtype=object), np.array(c, dtype=object)), a, c, star


def _affine(method: Any, problem: Quadratic) -> tuple[Any, Any]:
    """One round of a method that carries a point alone: x goes to slope x + rest."""
    x = symbols("x")
    new = play_exactly(method, problem, np.array([x], dtype=object), 1)[1].x[0, 0]
    slope = new.diff(x)
    return slope, new - slope * x


def fedprox_limit(weight: Any) -> bool:
    """A round of exact FedProx is affine with slope mean rho/(rho + a_i) in (0, 1); its fixed point is ``weight`` and not x*."""
    rho = symbols("rho", positive=True)
    problem, a, c, star = _scalar(2)
    slope, rest = _affine(FedProx(rho), problem)
    point = weight(a, c, rho)
    contracts = is_zero(slope - sum(rho / (rho + ai) for ai in a) / 2)
    return contracts and is_zero(slope * point + rest - point) and is_not_zero(point - star)


def fedavg_limit() -> bool:
    """A round of FedAvg is affine with slope mean (1 - eta a_i)^Q; its fixed point has the weights 1 - (1 - eta a_i)^Q."""
    lr = symbols("lr", positive=True)
    kept = True
    for Q in (1, 2, 3):
        problem, a, c, _ = _scalar(2)
        slope, rest = _affine(FedAvg(GradientSteps(Q, lr)), problem)
        point = fedavg_fixed_point(a, c, lr, Q)
        kept &= is_zero(slope - sum((1 - lr * ai) ** Q for ai in a) / 2) and is_zero(slope * point + rest - point)
    return bool(kept)


def _fixed_point_part(weight: Any) -> Part:
    return holds(
        "FedProx's fixed point",
        fedprox_limit(weight),
        "symbolic",
        "a round of exact FedProx is a contraction of slope mean rho/(rho + a_i) in (0, 1) to sum w_i c_i / sum w_i with "
        "w_i = a_i rho/(rho + a_i), which is not x*",
    )


def check_d12(ctx: Context, *, weight: Any = fedprox_fixed_point) -> Iterator[Finding]:
    """Closed forms in symbols and on the three-client example; FedPD reaches x*."""
    proximal = _fixed_point_part(weight)
    averaging, primal_dual = fedavg_limit(), proof_of_corrected_theorem(4)
    yield proximal
    yield proved(
        "all three limits",
        bool(proximal.holds) and averaging and primal_dual,
        "FedAvg's round has slope mean (1 - eta a_i)^Q, of modulus below one for eta a_i < 2, and the stated fixed point (a local step takes "
        "x - c_i to (1 - eta a_i)(x - c_i), so for every Q); FedPD's sum of ||grad f||^2 is finite for u < 1/2 (D1) and f is strongly convex, "
        "so x_0 goes to x*; each map is a mean of affine maps of one client, so for every n",
    )
    a, c = (1.0, 5.0, 0.5), (2.0, -1.0, 4.0)
    problem = scalar_quadratics(a, c)
    x_star = float(problem.solution()[0])
    yield equal("x*", x_star, -0.153846, "exact", "closed form", rtol=1e-5)
    runs = {
        "FedProx, rho = 2": (FedProx(2.0), weight(a, c, 2.0), 0.603053),
        "FedAvg, lr = 0.05, Q = 8": (FedAvg(GradientSteps(8, 0.05)), fedavg_fixed_point(a, c, 0.05, 8), 0.356853),
    }
    for name, (method, predicted, known) in runs.items():
        trace = total(problem, method, np.zeros(1), 400)
        yield equal(
            name, trace.state.x[0, 0], predicted, "numeric", f"ends at {predicted:.6f} instead of x*", rtol=1e-9
        )
        yield equal(f"{name}, figure", predicted, known, "exact", "closed form against the figure", rtol=1e-5)
    trace = total(problem, FedPD(0.06), np.zeros(1), 3000)
    yield equal("FedPD", trace.state.x[0, 0], x_star, "numeric", "FedPD ends at x*", rtol=1e-9)


def check_q7(
    ctx: Context, *, method: Any = None, weight: Any = fedprox_fixed_point, strength: float = 4
) -> Iterator[Finding]:
    """FedProx's biased limit against FedPD's, in closed form and on an instance."""
    biased_limit = _fixed_point_part(weight)
    converges = proof_of_corrected_theorem(strength)
    yield biased_limit
    yield holds(
        "FedPD's convergence",
        converges,
        "symbolic",
        "D1: with exact solves and u < 1/2 the sum of ||grad f||^2 stays bounded under A1 and A2 alone",
    )
    yield proved(
        "both",
        bool(biased_limit.holds) and converges,
        "FedProx converges to a point that is not stationary, on quadratics with any rho; FedPD's ||grad f(x_0^r)|| goes to zero for every "
        "smooth f bounded below",
    )
    problem = random_quadratics(6, 4, heterogeneity=2.0, seed=ctx.seed)
    rounds = ctx.pick(800, 3000)
    biased = total(problem, method or FedProx(1.0), np.zeros(4), rounds)
    exact = total(problem, FedPD(0.4), np.zeros(4), rounds)
    yield holds(
        "runs",
        biased["stationarity"][-1] > 1e-6 and exact["stationarity"][-1] < 1e-20,
        "numeric",
        f"||grad f||^2 after {rounds} rounds: FedProx (rho = 1, exact) {biased['stationarity'][-1]:.3g}, FedPD {exact['stationarity'][-1]:.2g}",
    )
    yield Picture(
        "FedProx stops short of the stationary point, FedPD does not",
        "rounds",
        "||grad f||^2",
        [
            {"label": "FedProx, rho = 1", "x": biased.rounds.tolist(), "y": biased["stationarity"].tolist()},
            {"label": "FedPD, u = 0.4", "x": exact.rounds.tolist(), "y": exact["stationarity"].tolist()},
        ],
        logy=True,
    )


def check_q8(ctx: Context, *, u: float = 0.3) -> Iterator[Finding]:
    """On certified indefinite instances, where only A1 and A2 hold: who converges, and in how many rounds."""
    yield Reading(
        "Qualitative. 'Weaker assumptions' is checked on instances that satisfy A1 and A2 only: FedPD must converge on all, FedProx and "
        "FedDANE need not. Complexity is compared in rounds to a fixed accuracy with equal proximal parameter."
    )
    count = ctx.pick(100, 1000)
    problem = random_indefinite(4, 3, batch=(count,), seed=ctx.seed)
    # keep instances whose average is well conditioned, so that every method has time
    good = np.linalg.eigvalsh(problem.A.mean(axis=-3))[:, 0] > 0.1
    problem = Quadratic(problem.A[good], problem.b[good], name=problem.name)
    eta = u / float(np.max(constant(problem, "L").value))
    rounds = ctx.pick(600, 2000)
    x0 = np.zeros((int(good.sum()), 3))
    reached, floats_sent = {}, {}
    for name, method in {"FedPD": FedPD(eta), "FedProx": FedProx(1 / eta), "FedDANE": FedDane(1 / eta)}.items():
        trace = total(problem, method, x0, rounds)
        below = trace["stationarity"] < 1e-10 * trace["stationarity"][:, :1]
        reached[name] = float(below[:, -1].mean())
        arrived = np.where(below.any(axis=-1), below.argmax(axis=-1), rounds)
        floats_sent[name] = trace.floats_up[..., arrived] if trace.floats_up.ndim == 1 else trace.floats_up[:, -1]
    yield holds(
        "FedPD converges on all",
        reached["FedPD"] == 1,
        "numeric",
        f"{int(good.sum())} indefinite instances, u = {u}, {rounds} rounds: share that lowers ||grad f||^2 by 1e-10: "
        + ", ".join(f"{k} {v:.2f}" for k, v in reached.items()),
    )
    yield holds(
        "FedProx does not",
        reached["FedProx"] < 0.05,
        "numeric",
        f"FedProx stalls at its biased point on {1 - reached['FedProx']:.0%} of them",
        chance=chance_of_signs(round(reached["FedProx"] * good.sum()), int(good.sum())),
    )
    ratios = floats_sent["FedDANE"] / floats_sent["FedPD"]
    ratio = np.median(ratios)
    yield holds(
        "floats against FedDANE",
        ratio > 1.8,
        "count",
        f"floats uploaded until ||grad f||^2 has fallen by 1e-10, FedDANE over FedPD: median {ratio:.2f} (the same rounds, two vectors "
        "instead of one)",
        chance=chance_of_signs(int((ratios > 1.8).sum()), ratios.size),
    )


# ---- Q4, Q10 --------------------------------------------------------------------------------------------------------


def check_q4(ctx: Context, *, vectors: int = 1, method: Any = FedPD) -> Iterator[Finding]:
    """Floats counted on runs against those that the communicating rounds need; what the server's model is made of, in symbols."""
    rounds = 40
    plans = {
        "Oracle I, p = 0": FedPD(0.1, GradientSteps(3, 0.1)),
        "Oracle I, every 4th round": FedPD(0.1, GradientSteps(3, 0.1), every(4)),
        "Oracle I, p = 0.5": FedPD(0.1, GradientSteps(3, 0.1), 0.5),
        "Oracle II": FedPD(0.05, FedPD.oracle_two(0.05, 0.5, 2, 2, 5)),
    }
    known = {"Oracle I, p = 0": 40, "Oracle I, every 4th round": 10, "Oracle II": 40}
    sizes = ((6, 5), (3, 8))
    ok, said = True, []
    for name, plan in plans.items():
        for clients, d in sizes:
            problem = random_finite_sum(clients, 8, d, seed=ctx.seed)
            trace = run(plan, problem, np.zeros(d), rounds, seed=ctx.seed, progress=False)
            seen = communications(plan, problem, np.zeros(d), rounds, ctx.seed)
            expected = vectors * clients * d * seen
            ok &= seen == known.get(name, seen) and trace.floats_up[-1] == expected == trace.floats_down[-1]
            said.append(
                f"{name}, {clients} clients, d = {d}: {trace.floats_up[-1]:.0f} up and down in {seen} communications"
            )
    yield holds(
        "floats",
        ok,
        "count",
        "; ".join(said)
        + f" ({rounds} rounds; communications are seen from the clients' copies): one model a client each way, duals never",
        covered=Covered(len(said), "instances"),
    )
    yield proved(
        "one vector a client",
        uploads_are_single_vectors(method),
        "the server's model depends on a client's state through the one vector x_i + eta lam_i only, and is all that comes back: changing x_i by "
        "delta and lam_i by -delta/eta changes nothing",
        scope="what is sent",
    )


def _answer(points: Any, round: int) -> Any:
    return points


def uploads_are_single_vectors(method: Any = FedPD) -> bool:
    """Check that what the server and the other clients get of client i is a function of x_i + eta lam_i, whatever the local solvers answer.

    After local work the answers stand for x_i^{r+1}; the old dual and copy are moved so that x_i + eta lam_i stays.
    """
    eta, delta = symbols("eta delta", positive=True)
    answer, copy, lam = (
        np.array(symbols(f"{name}1 {name}2"), dtype=object)[:, None] for name in ("answer", "copy", "lam")
    )
    problem = scalar_quadratics(np.array(symbols("h1 h2"), dtype=object))
    seen = []
    for move in (0, delta):
        shift = np.array([[move], [0]], dtype=object)
        made = method(eta, Prescribed(partial(_answer, answer + shift)), Fraction(1, 2))
        # lam_i^{r+1} = lam_i + (answer_i - copy_i)/eta grows by shift/eta with the answer, and by -2 shift/eta through the old dual
        state = FedPDState(copy.sum(axis=0, keepdims=True) / 2, copy, copy, lam - 2 * shift / eta, None)
        key: Any = ScriptedKey(0, {"communicate": True})
        seen.append(made.round(problem, state, None, key))
    same = (seen[0].x - seen[1].x, seen[0].x0_i - seen[1].x0_i)
    moved = is_not_zero(seen[0].lam_i[0, 0] - seen[1].lam_i[0, 0])
    return moved and all(is_zero(v) for values in same for v in values.ravel())


def replay_q10(instance: dict[str, Any]) -> Replay:
    """Largest gradient on a ball against the standard deviation of the noise, for h = x + xi on f = x^2/2."""
    radius, sigma = rational(instance["radius"]), rational(instance["sigma"])
    x = fractions([[str(radius)]])
    exact = scalar_quadratics(fractions(["1"])).grad(x)[0, 0]
    numeric = scalar_quadratics([1.0]).grad(np.array([[float(radius)]]))[0, 0]
    spread = Fraction(1, 2) * (sigma**2 + sigma**2)  # xi = +-sigma with probability 1/2 each
    return Replay(
        what=f"|grad f(x)| at x = {radius} against a bound of {instance['multiple']} times the noise level sigma = {sigma}",
        measured=float(numeric),
        bound=float(rational(instance["multiple"]) * sigma),
        exact_measured=exact,
        exact_bound=rational(instance["multiple"]) * sigma,
        arithmetic="fractions",
        assumptions=(
            assume(
                "bounded variance for every x: E (h - grad f)^2, by noise +-sigma",
                "spread == sigma**2",
                spread=spread,
                sigma=sigma,
            ),
            assume_constant("f is 1-smooth", scalar_quadratics([1.0]), "L", "<=", 1),
            assume_constant("f is bounded below", scalar_quadratics([1.0]), "mu", ">=", 0),
        ),
    )


def check_q10(ctx: Context, *, radius: str = "1000000") -> Iterator[Finding]:
    """Additive noise on a quadratic: bounded variance, unbounded gradients."""
    yield refute(
        "bounded variance implies bounded gradients", replay_q10, {"radius": radius, "sigma": "1", "multiple": "1000"}
    )
    far = [replay_q10({"radius": str(10**k), "sigma": "1", "multiple": "1"}) for k in range(1, 9)]
    yield holds(
        "variance and gradient are independent",
        all(seen.violated and seen.exact_measured == 10**k for k, seen in enumerate(far, start=1)),
        "exact",
        "the variance of x +- sigma is sigma^2 at x = 10, 100, ..., 10^8, where grad f = x",
        role="repaired",
        covered=Covered(len(far), "points"),
    )
    yield Reading("'Essentially implies' is read as: a bound on the variance gives some bound on the gradients.")


CLAIMS = [
    Claim(
        "FEDPD-D12",
        PAPER,
        "identity",
        "limits on scalar quadratics",
        "On (a_i/2)(x - c_i)^2 exact FedProx ends at sum w_i c_i/sum w_i with w_i = a_i rho/(rho + a_i), FedAvg with "
        "w_i = 1 - (1 - eta a_i)^Q; FedPD ends at x*.",
        check_d12,
        (
            Fault("weights a_i", "FedProx's fixed point", {"weight": plain_mean}),
            Fault("weights a_i, all three", "all three limits", {"weight": plain_mean}),
        ),
        ("eta a_i < 2 (FedAvg)", "u < 1/2 (FedPD)"),
    ),
    Claim(
        "FEDPD-Q4",
        PAPER,
        "bound",
        "Section III",
        "In a communicating round only models are exchanged: d floats up and d down a client.",
        check_q4,
        (
            Fault("duals sent along", "floats", {"vectors": 2}),
            Fault("models averaged, duals apart", "one vector a client", {"method": AveragesModels}),
        ),
        ("full participation", "one coin a round, shared by all clients"),
    ),
    Claim(
        "FEDPD-Q7",
        PAPER,
        "divergence",
        "Section IV-C",
        "FedProx fails to converge to the global stationary point; FedPD's duals let it converge.",
        check_q7,
        (
            Fault("FedPD in FedProx's place", "runs", {"method": FedPD(0.4)}),
            Fault("weights a_i", "both", {"weight": plain_mean}),
            Fault("constant of the proof cut by a tenth", "both", {"strength": 3.6}),
        ),
        assumptions=(
            A1,
            A2,
            "exact local solves",
            "constant rho > 0 (FedProx)",
            "u < 1/2, p = 0, lam_i^0 = -grad f_i(x^0) (FedPD)",
        ),
    ),
    Claim(
        "FEDPD-Q8",
        PAPER,
        "ordering",
        "Section IV-C",
        "FedPD has weaker assumptions and better sample or communication complexity than FedProx and FedDANE.",
        check_q8,
        (Fault("step outside the stable range", "FedPD converges on all", {"u": 0.85}),),
        (A1, A2),
    ),
    Claim(
        "FEDPD-Q10",
        PAPER,
        "proof step",
        "Section I",
        "VRL-SGD's bounded-variance assumption essentially implies that the (stochastic) gradients are bounded.",
        check_q10,
        (Fault("a small ball", "bounded variance implies bounded gradients", {"radius": "10"}, holds=True),),
        repaired="Bounded variance bounds the noise only; additive noise on a quadratic has unbounded gradients.",
        replay=replay_q10,
        assumptions=("bounded variance: E ||h_i(x; xi) - grad f_i(x)||^2 <= sigma^2 for all x",),
    ),
]

"""Section 5: Figure 2 (penalised logistic regression) on the paper's synthetic data, smaller with the quick budget, and on real data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import FedAvg, FedPD, FedProx, every
from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Part, Reading, at_most, holds
from fedtheory.claims.chance import chance_of_mean
from fedtheory.claims.orderings import alike
from fedtheory.core.arrays import along_batch
from fedtheory.core.problem import constant
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import StochasticSteps, VarianceReduced
from fedtheory.measures.paired import paired_difference
from fedtheory.measures.rates import fit_contraction
from fedtheory.running.record import Trace
from fedtheory.running.runner import run
from paper_checks.fedpd.notation import A1, A2, checked
from paper_checks.fedpd.played import DRAWS, draw, draw_batch, exceeds
from paper_checks.fedpd.protocol import figure_two
from problems.datasets import breast_cancer
from problems.logistic import Logistic, fedpd_synthetic
from problems.splits import by_sorted_label, federate

CLAIMS: list[Claim] = []


# ---- Figure 2 --------------------------------------------------------------------------------------------------------
def _synthetic(ctx: Context, kind: str) -> Logistic:
    """The paper's synthetic data, `DRAWS` data sets in one batch."""
    n, samples = ctx.pick((20, 100), (100, 400))
    return draw_batch(partial(fedpd_synthetic, kind, n=n, samples=samples, d=20), ctx.seeds(DRAWS), "signed")


def _scale(ctx: Context) -> str:
    size = ctx.pick("20 clients of 100 samples (the paper has 100 of 400)", "the paper's 100 clients of 400 samples")
    return f"{size}, d = 20, {DRAWS} draws of data and coins"


def _real() -> Logistic:
    data = breast_cancer()
    return federate(data, by_sorted_label(data.labels, 20), beta=0.1)


def _curve(problem: Logistic, method: Any, rounds: int, seed: Any = 0) -> Trace:
    """A run of every data set; a problem of one is run with every seed."""
    return run(method, problem, np.zeros((*problem.signed.shape[:-3], problem.d)), rounds, seed=seed, progress=False)


def _fedavg(step: Any, steps: int = 8) -> FedAvg:
    return FedAvg(GradientSteps(steps, step))


def fedpd_from_zero(eta: float, local: Any = None, p: Any = 0) -> FedPD:
    """FedPD as the experiments run it: zero initial duals, and by default Q = 8 gradient steps of size eta."""
    return FedPD(eta, local or GradientSteps(8, eta), p, init_dual="zero")


def ordering_of_figure_2(
    id: str, figure: str, text: str, check: Any, decided: tuple[str, ...], fault: Fault, *assumed: str
) -> Claim:
    """An ordering of Figure 2, of one clause."""
    assumptions, clauses = (A1, A2, "full participation", "x^0 = 0, lam_i^0 = 0", *assumed), (Clause(text, decided),)
    source = f"Section V, Fig. 2({figure})"
    return checked(id, "ordering", source, clauses, check, fault, assumes=assumptions, setting=figure_two)


_WEAK, _STRONG = (f"{how} non-iid synthetic data, penalised logistic regression" for how in ("weakly", "strongly"))


# ---- Figure 2(a) -----------------------------------------------------------------------------------------------------
def check_ex1(ctx: Context, *, ratio: float = 1.0) -> Iterator[Finding]:
    """Equal proximal parameter and local work: equal rates until FedProx meets its floor."""
    yield Reading(
        "'Comparable' is read as equal rates: with rho = 1/eta and the same local steps both contract alike until FedProx stops at its "
        "floor, which FedPD does not have."
    )
    problem, rounds, eta = _synthetic(ctx, "weak"), ctx.pick(300, 600), 0.08
    proximal = _curve(problem, FedProx(ratio / eta, GradientSteps(8, eta)), rounds)
    dual = _curve(problem, fedpd_from_zero(eta), rounds)
    floors, rates = proximal["stationarity"].min(axis=-1), []
    for k, floor in enumerate(floors):
        until = slice(5, max(int(np.argmax(proximal["stationarity"][k] < 30 * floor)), 12))
        rates.append([fit_contraction(t.rounds, t["stationarity"][k], until).rate for t in (proximal, dual)])
    slower, faster = -np.log(np.transpose(rates))
    text = (
        f"{_scale(ctx)}: contraction of ||grad f||^2 a round, FedProx {np.exp(-slower.mean()):.4f}, FedPD {np.exp(-faster.mean()):.4f}; logarithm "
        "of the ratio of their logarithms, 'comparable' read as within a factor 4/3"
    )
    yield alike("rates", np.log(faster), np.log(slower), text, within=float(np.log(4 / 3)), engine="numeric")
    last = dual["stationarity"][:, -1]
    text = f"FedProx stops at {floors.mean():.2g}, FedPD is at {last.mean():.2g} after {rounds} rounds"
    yield holds("reading: equal limits", (last > floors / 100).all(), "numeric", text, role="reading")
    yield draw("Weakly non-iid: FedProx and FedPD", {"FedProx, rho = 1/eta": proximal, "FedPD, p = 0": dual})


CLAIMS += [
    ordering_of_figure_2(
        "FEDPD-EX1",
        "a",
        "On weakly non-iid data FedProx and FedPD with p = 0 are comparable.",
        check_ex1,
        ("rates",),
        Fault("FedProx with a tenth of the penalty", "rates", {"ratio": 0.1}),
        _WEAK,
        "rho = 1/eta, equal local steps",
    )
]


def check_ex2(ctx: Context, *, steps: int = 8) -> Iterator[Finding]:
    """FedAvg-GD with Q = 8 and a constant step stands still at a floor; Q = 1 does not."""
    rounds = ctx.pick(300, 1200)
    for problem in (_synthetic(ctx, "weak"), _real()):
        lr = along_batch(0.3 / np.atleast_1d(constant(problem, "L").value))
        tail = _curve(problem, _fedavg(lr, steps), rounds)["stationarity"][..., -rounds // 5 :]
        one = _curve(problem, _fedavg(2 * lr, 1), 10 * rounds)["stationarity"][..., -1]
        still, above = tail[..., -1] / tail[..., 0], np.log10(tail[..., -1] / one)
        text = (
            f"{problem.name}: ||grad f||^2 with Q = {steps} is {tail[..., -1].mean():.3g} after {rounds} rounds, Q = 1 reaches {one.mean():.2g} in "
            "ten times as many"
        )
        if still.size == 1:
            yield holds("floor on real data", still.item() > 0.99 and above.item() > 2, "real data", text)
        else:
            yield exceeds("stands still", still, 0.99, f"{_scale(ctx)}, {text}; over that a fifth of the rounds before")
            yield exceeds("at a floor", above, 2, f"{_scale(ctx)}, {text}; powers of ten between")
    yield Reading("The paper's step 0.005 reaches the same kind of floor later and lower; here the step is 0.3/L.")


CLAIMS += [
    ordering_of_figure_2(
        "FEDPD-EX2",
        "a",
        "FedAvg with local GD, a constant step and Q > 1 does not converge to the stationary point.",
        check_ex2,
        ("stands still", "at a floor"),
        Fault("a single local step", "at a floor", {"steps": 1}),
        "full local gradients, constant step",
    )
]


def check_ex3(ctx: Context, *, period: int = 2) -> Iterator[Finding]:
    """Skipping every second communication reaches FedAvg's error with half the communications."""
    problem, rounds = _synthetic(ctx, "weak"), ctx.pick(300, 600)
    averaging, skipping = (_curve(problem, m, rounds) for m in (_fedavg(0.005), fedpd_from_zero(0.08, p=every(period))))
    sent = float(np.max(skipping.floats_up[..., -1] / averaging.floats_up[..., -1]))
    text = f"FedPD communicating every {period}nd round (p = 0.5; the figure's end point shows this schedule) sends {sent:.2f} of FedAvg's floats"
    yield at_most("communications", sent, 0.5, "count", text)
    ours, theirs = skipping["stationarity"][:, -1], averaging["stationarity"][:, -1]
    text = (
        f"{_scale(ctx)}: ||grad f||^2 after {rounds} rounds, FedPD {ours.mean():.2g}, FedAvg-GD (step 0.005) {theirs.mean():.2g} in the mean; powers "
        "of ten that FedPD is below; 'similar' is read as at most a factor 10 above (the paper's figure shows 4.6)"
    )
    yield exceeds("error", np.log10(theirs / ours), -1, text)


CLAIMS += [
    ordering_of_figure_2(
        "FEDPD-EX3",
        "a",
        "Skipping half of the communication, FedPD with local GD reaches an error similar to FedAvg's with fewer communications.",
        check_ex3,
        ("communications", "error"),
        Fault("no skipping", "communications", {"period": 1}),
        _WEAK,
        "every second round communicates",
    )
]


# ---- Figure 2(b) -----------------------------------------------------------------------------------------------------
def check_ex4(ctx: Context, *, swap: bool = False) -> Iterator[Finding]:
    """Fluctuation and level of FedPD-SGD's tail, strong against weak data, paired over draws; steps as in the authors' code."""
    Q, rounds = ctx.pick((60, 120), (600, 600))
    method = fedpd_from_zero(0.08, StochasticSteps(Q, lambda r, j: 0.08 / np.sqrt(0.2 * Q * r + j + 1), 1))
    weak, strong = (
        np.log(_curve(_synthetic(ctx, kind), method, rounds, ctx.seeds(DRAWS))["stationarity"][:, -rounds // 3 :])
        for kind in ("weak", "strong")
    )
    if swap:
        weak, strong = strong, weak / 2 + np.log(1e-3)
    rises = strong.std(axis=-1) - weak.std(axis=-1), strong.mean(axis=-1) - weak.mean(axis=-1)
    chances = [chance_of_mean(rise) for rise in rises]
    up = [replace(c, value=min(1.0, 2 * c.value)) for c, rise in zip(chances, rises, strict=True) if rise.mean() > 0]
    decisive = min(up, key=lambda c: c.value) if up else max(chances, key=lambda c: c.value)
    decided = decisive.value < 0.05
    spread, level = (paired_difference(rise, 0 * rise) for rise in rises)
    yield Part(
        "less stable on strongly non-iid data",
        bool(up) if decided else None,
        "numeric",
        f"{_scale(ctx)}: difference strong minus weak of the tail's log-fluctuation {spread}, and of its log-level {level}",
        chance=decisive if decided else None,
    )
    yield Reading(
        "'Less stable' is read as: the tail of ||grad f||^2 fluctuates more, or settles higher; the smaller of both chances counts twice. The "
        "paper's figure is weak evidence. Of the 'algorithms using stochastic solvers' FedPD-SGD is run here; FedAvg with local SGD is not."
    )


CLAIMS += [
    ordering_of_figure_2(
        "FEDPD-EX4",
        "b",
        "Algorithms with stochastic solvers become less stable on strongly non-iid data.",
        check_ex4,
        ("less stable",),
        Fault("data exchanged and quietened", "less stable on strongly non-iid data", {"swap": True}),
        _STRONG,
        "decreasing inner steps as in the authors' code, B = 1",
    )
]


def check_ex5(ctx: Context, *, p: float = 0.0) -> Iterator[Finding]:
    """FedPD-GD and FedPD-VR keep contracting on strongly non-iid data, synthetic and real."""
    rounds = ctx.pick(300, 600)
    traces: dict[str, Trace] = {}
    for where, problem in (("strongly non-iid", _synthetic(ctx, "strong")), ("real data", _real())):
        real = where == "real data"
        eta = 0.3 / float(constant(problem, "L")) if real else 0.08
        for name, local in (("FedPD-GD", GradientSteps(8, eta)), ("FedPD-VR", VarianceReduced(8, eta / 2, 1, 20))):
            coins = p or name == "FedPD-VR"
            trace = _curve(problem, fedpd_from_zero(eta, local, p), rounds, ctx.seeds(DRAWS) if coins else 0)
            values = trace["stationarity"]
            gain = np.log10(values[..., rounds // 2] / values[..., -1])
            said = f"powers of ten that ||grad f||^2 falls by in the second half of {rounds} rounds, to {values[..., -1].mean():.2g} in the mean"
            if gain.ndim:
                yield exceeds(f"{name}, {where}", gain, 1, said, engine="real data" if real else "numeric")
            else:
                yield holds(f"{name}, {where}", gain > 1, "real data", f"{said}: {gain:.2f}")
            traces[f"{name}, {where}"] = trace
    yield draw("Strongly non-iid: FedPD-GD and FedPD-VR", traces)


CLAIMS += [
    ordering_of_figure_2(
        "FEDPD-EX5",
        "b",
        "On strongly non-iid data FedPD-VR and FedPD-GD with p = 0 still converge to the stationary point.",
        check_ex5,
        ("FedPD-GD", "FedPD-VR"),
        Fault("skipping half of the rounds", "FedPD-GD, strongly non-iid", {"p": 0.5}),
        _STRONG,
        "p = 0",
    )
]


def check_ex6(ctx: Context, *, equal: bool = False) -> Iterator[Finding]:
    """Final errors with the paper's settings, and with equal steps."""
    problem, rounds = _synthetic(ctx, "strong"), ctx.pick(500, 600)
    plain = _fedavg(0.05), FedProx(1.0, GradientSteps(8, 0.05))
    printed = _fedavg(0.005), FedProx(2.5, VarianceReduced(8, 0.04, 1, 1))
    averaging, proximal = (
        _curve(problem, m, rounds, ctx.seeds(DRAWS))["stationarity"][:, -20:].mean(axis=-1)
        for m in (plain if equal else printed)
    )
    text = (
        f"{_scale(ctx)}: logarithm of the final ||grad f||^2 of FedProx-VR (rho = 2.5, step 0.04) over FedAvg-GD (step 0.005), a factor "
        f"{np.exp(np.log(proximal / averaging).mean()):.1f} in the mean; 'similar' is read as within a factor 5 (the paper's own figure shows 290)"
    )
    within = float(np.log(5))
    yield alike("the paper's settings", np.log(proximal), np.log(averaging), text, within=within, engine="numeric")
    a, b = (_curve(problem, m, rounds)["stationarity"][:, -1] for m in plain)
    text = f"step 0.05 for both, rho = 1: logarithm of FedProx-GD's over FedAvg-GD's, {b.mean():.3g} and {a.mean():.3g}; within a factor 2"
    name, within = "reading: equal steps and deterministic solvers", float(np.log(2))
    yield alike(name, np.log(b), np.log(a), text, within=within, engine="numeric", role="reading")


CLAIMS += [
    ordering_of_figure_2(
        "FEDPD-EX6",
        "b",
        "On strongly non-iid data FedProx ends at an error similar to FedAvg with local GD.",
        check_ex6,
        ("the paper's settings",),
        Fault("equal steps, where they are similar", "the paper's settings", {"equal": True}, holds=True),
        _STRONG,
    )
]

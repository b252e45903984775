"""Rounds of DualFL on chains, the lower-bound instances: how they grow with the length (Table 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from fedtheory.algorithms import (
    APDA,
    AcceleratedGradient,
    DualAscent,
    DualFL,
    FedPD,
    FiveGCS,
    GradientDescent,
    RandProx,
    Scaffnew,
)
from fedtheory.claims import Covered, Part, at_most
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.solvers import Memoryless
from fedtheory.local.stopping import ResidualBound
from fedtheory.measures.metrics import squared_distance, stationarity
from fedtheory.running.runner import run
from paper_checks.dualfl.notation import mistaken
from problems.chains import nesterov_chain, total_variation_chain

KAPPAS = (10, 30, 100, 300)
LINKS, LEVEL, SEEDS = 80, 1e-6, 10
#: exponents: at most this is a square root up to logarithms, at least this is no acceleration
SQRT, LINEAR = 0.65, 0.85
#: squared residual over twice mu of local solves whose gradients are counted
RESIDUAL = 1e-16
LENGTHS, NONSMOOTH_LEVEL = (8, 16, 32), 1e-2
GRADIENTS = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4)
FLAT_LINKS = 40


@dataclass(frozen=True)
class Counted(Memoryless):
    """The optimised gradient method to an accuracy, with its gradients written down: the mean over clients, a round."""

    modulus: float
    calls: list[float] = field(default_factory=list, compare=False)
    numeric_only = "it adapts its steps to values"

    def __call__(self, sub: Any, start: Any, key: Any, memory: None) -> tuple[Any, None]:
        """Solve every client's subproblem."""
        found = Adaptive(ResidualBound(RESIDUAL, self.modulus)).solve(sub, start, key.round)
        self.calls.append(float(np.mean(found.gradients)))
        return found.x, None


def methods(kappa: float, local: Any = None) -> dict[str, Any]:
    """The methods of Table 1 and the controls for L = 1 and mu = 1/kappa, with a local solver where they have one."""
    mu = 1 / kappa
    root = mu**0.5
    given: Mapping[str, Any] = {} if local is None else {"local": local}
    return {
        "Scaffnew": Scaffnew(1.0, root),
        "APDA-Inexact": APDA(1 / root, eta_y=root / 2, beta_y=1.0, theta=1.0, **given),
        "5GCS": FiveGCS(3 / 16 / root, mu, **given),
        "RandProx": RandProx(1.0, root, 0.5),
        "DualFL": DualFL(mu, mu, **given),
        "FedPD": FedPD(1 / root, init_dual="zero", **given),
        "dual ascent": DualAscent(mu, None, **given),
        "gradient descent": GradientDescent(1.0),
        "accelerated gradient": AcceleratedGradient(1.0, (1 - root) / (1 + root)),
    }


TABLE = ("Scaffnew", "APDA-Inexact", "5GCS", "RandProx", "DualFL")
COINS = ("Scaffnew", "RandProx")


def first_below(
    method: Any, problem: Any, metric: Any, levels: tuple[float, ...], rounds: int, coins: bool = False
) -> list[tuple[float, float]]:
    """Rounds and communications until a metric is at most each level; with coins medians over seeds; infinite if never."""
    x0 = np.zeros((SEEDS if coins else 1, problem.d))
    seeds = np.arange(x0.shape[0])
    trace = run(method, problem, x0, rounds, seed=seeds, metrics={"m": metric}, progress=False)
    values, sent = np.atleast_2d(trace["m"]), np.atleast_2d(trace.floats_up) / (problem.n * problem.d)
    found = []
    for level in levels:
        there = []
        for row, count in zip(values, np.broadcast_to(sent, values.shape), strict=True):
            at = np.flatnonzero(row <= level)
            there.append((float(trace.rounds[at[0]]), float(count[at[0]])) if at.size else (np.inf, np.inf))
        found.append((float(np.median([r for r, _ in there])), float(np.median([c for _, c in there]))))
    return found


def communications(method: Any, problem: Any, metric: Any, level: float, rounds: int, coins: bool = False) -> float:
    """Communications until a metric is at most a level."""
    return first_below(method, problem, metric, (level,), rounds, coins)[0][1]


@cache
def on_chain(name: str, kappa: int, change: Callable[[Any], Any] | None = None) -> tuple[float, float]:
    """Rounds and communications of a method on the strongly convex chain."""
    problem = nesterov_chain(LINKS, L=1.0, mu=1 / kappa)
    star = problem.solution()
    method = methods(kappa)[name]
    slow = {"Scaffnew": 9, "RandProx": 13, "dual ascent": 5, "gradient descent": 9}
    rounds = slow[name] * kappa if name in slow else round(60 * kappa**0.5)
    level = LEVEL * float(star @ star)
    metric, changed = squared_distance(star), method if change is None else change(method)
    return first_below(changed, problem, metric, (level,), rounds, name in COINS)[0]


def smooth(name: str, kappa: int, change: Callable[[Any], Any] | None = None) -> float:
    """Communications of a method on the strongly convex chain."""
    return on_chain(name, kappa, change)[1]


@cache
def local_gradients(name: str, kappa: int, change: Callable[[Any], Any] | None = None) -> float:
    """Mean gradients a client and communication: counted where coins end local work, of the optimised gradient method otherwise."""
    if name in COINS:
        rounds, sent = on_chain(name, kappa, change)
        return rounds / sent if np.isfinite(sent) else np.inf
    problem = nesterov_chain(LINKS, L=1.0, mu=1 / kappa)
    solver = Counted(1 / kappa)
    run(methods(kappa, solver)[name], problem, np.zeros(problem.d), 30, progress=False)
    return float(np.mean(solver.calls))


@cache
def nonsmooth(accelerated: bool, length: int) -> float:
    """Rounds on the total variation chain of a length, whose minimiser is 1/(2 length) everywhere, with or without momentum."""
    problem = total_variation_chain(length)
    level = NONSMOOTH_LEVEL * length / (2 * length) ** 2
    metric = squared_distance(np.full(length, 1 / (2 * length)))
    method: Any = DualFL(1.0, 0.0) if accelerated else DualAscent(1.0, None)
    return communications(method, problem, metric, level, 20 * length if accelerated else 4 * length**2)


@cache
def flat(name: str) -> tuple[float, ...]:
    """Communications until ||grad E|| is at most each of `GRADIENTS`, on the flat chain; DualFL with alpha = eps/(2 R_0)."""
    problem = nesterov_chain(FLAT_LINKS, L=1.0, mu=0.0)
    if name == "DualFL":
        radius = FLAT_LINKS**0.5
        each = [(eps, DualFL.regularised(eps / (2 * radius), 1.0)) for eps in GRADIENTS]
        return tuple(communications(method, problem, stationarity, eps**2, 400) for eps, method in each)
    method: Any = {"RandProx": RandProx(1.0, 0.1, 0.5), "gradient descent": GradientDescent(1.0)}[name]
    levels = tuple(eps**2 for eps in GRADIENTS)
    return tuple(sent for _, sent in first_below(method, problem, stationarity, levels, 8_000, name in COINS))


def exponent(x: Any, y: Any) -> float:
    """Least-squares slope of log y against log x; infinite where y is."""
    found = np.asarray(y, dtype=float)
    return float(np.polyfit(np.log(x), np.log(found), 1)[0]) if np.isfinite(found).all() else float("inf")


def below(name: str, x: Any, y: Any, limit: float, what: str, role: Any = "printed") -> Part:
    """Part: an exponent is at most a limit."""
    slope = exponent(x, y)
    shown = ", ".join(f"{value:.4g}" for value in y)
    text = f"{what}: {shown}; exponent {slope:.3f}, against {limit:g}"
    return at_most(name, min(slope, 1e300), limit, "numeric", text, role=role, covered=Covered(len(x), "points"))


def flat_readings(name: str) -> Iterator[Part]:
    """Readings: the exponent in 1/eps without strong convexity, over all levels and over three of them at either end."""
    found = flat(name)
    windows = {"": range(5), ", the coarser three": range(3), ", the finer three": range(2, 5)}
    for told, window in windows.items():
        eps, sent = ([values[k] for k in window] for values in (GRADIENTS, found))
        text = f"{name}: rounds to ||grad E|| = {eps}"
        yield below(f"flat: {name}{told}", [1 / e for e in eps], sent, SQRT, text, role="reading")


FLAT_CHAIN = (
    "Without strong convexity exponents on a chain of 40 links hang on the levels: over the same five DualFL's is below RandProx's, over the "
    "coarser three it is above. What is said of this regime rests on Theorem 4.3, not on the chain."
)

#: DualFL whose momentum stays that of the first round, which is none
WITHOUT_MOMENTUM = mistaken("momentum of the first round in all")

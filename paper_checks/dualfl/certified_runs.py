"""Runs of DualFL on problems whose constants are certified, held against the bounds of its theorems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.claims import Context, Fault, Finding, Part, Picture, assume_constant, at_most, draw_bound
from fedtheory.core.arrays import mean_of_clients, squared_norm
from fedtheory.core.duality import fenchel_young_gap, local_gap
from fedtheory.core.problem import Problem, constant, constants
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures import metrics
from fedtheory.measures.ground_truth import ground_truth, solve_consensus
from fedtheory.running.runner import run
from paper_checks.dualfl import bounds
from problems.chains import total_variation_chain
from problems.logistic import logistic
from problems.quadratics import random_quadratics, scalar_quadratics
from problems.svm import svm


@lru_cache(maxsize=1)
def hinge_machines(clients: int = 4, samples: int = 40, l2: float = 0.1) -> Any:
    """Hinge support vector machines on scikit-learn's breast cancer data, standardised, with a bias column."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    x = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    x = np.concatenate([x[:, :8], np.ones((len(x), 1))], axis=1)
    blocks = [slice(k * samples, (k + 1) * samples) for k in range(clients)]
    return svm([x[b] for b in blocks], [data.target[b] for b in blocks], l2=l2, name="breast cancer, hinge")


def small_problems(context: Context) -> list[Any]:
    """A smooth, a hinge and a total variation instance, small enough for CVXPY."""
    rng = np.random.default_rng(context.seed)
    features = [rng.standard_normal((12, 4)) for _ in range(3)]
    labels = [np.sign(x[:, 0] + 0.5 * rng.standard_normal(12)) for x in features]
    return [logistic(features, labels, l2=0.1), hinge_machines(), total_variation_chain(12)]


@dataclass(frozen=True, eq=False)
class Truth:
    """theta* within ``distance`` and V* = mean_j ||s_j*||^2, for s_j* of zero sum that are subgradients up to ``short`` in the Fenchel-Young gap."""

    x: NDArray[np.float64]
    distance: float
    heterogeneity: float
    subgradients: NDArray[np.float64]
    short: float


def truth_of(problem: Problem) -> Truth:
    """The minimiser with its certificate; the subgradients are gradients, or CVXPY's multipliers of x_j = x."""
    found = ground_truth(problem, witness="L" not in constants(problem))
    s = problem.grad(found.x[None, :]) if "L" in constants(problem) else solve_consensus(problem)[1]
    s = s - s.mean(axis=0)
    short = float(np.max(fenchel_young_gap(problem, np.broadcast_to(found.x, s.shape), s)))
    return Truth(found.x, found.distance, float(squared_norm(s).mean()), s, short)


@dataclass(frozen=True)
class AtTheLimit:
    """Local solves with an error in a random direction and the local primal-dual gap Gamma exactly at ``limit(round)``, on quadratics."""

    nu: float
    limit: Callable[[int], float]
    numeric_only: ClassVar[str | None] = "it draws errors at random"

    def memory(self, problem: Problem, x0: Any) -> None:
        """Return None."""
        return None

    def __call__(self, sub: Subproblem, start: Any, key: Key, memory: None) -> tuple[Any, None]:
        """Gamma is a square of the error: one trial gives its size."""
        assert sub.a is not None, "the local problem is f_j - nu <zeta_j, .>"
        exact, _ = Exact()(sub, start, key, None)
        direction = key.client_uniform("local error", sub.f.n, sub.f.d) - 0.5
        trial = local_gap(sub.f, exact + direction, -sub.a / self.nu, self.nu)
        return exact + direction * np.sqrt(self.limit(key.round) / trial)[..., None], None


def outside(name: str, problem: Problem, nu: float, rho: float = 0.0) -> Part | None:
    """An undecided part where the instance does not certify 0 < nu <= mu, and rho <= nu/L for rho > 0: the theorems say nothing of such a run."""
    asked = [assume_constant("nu <= mu", problem, "mu", ">=", nu)]
    if rho > 0:
        asked.append(assume_constant("rho <= nu/L", problem, "L", "<=", nu / rho * (1 + 1e-12)))
    missing = "; ".join(a.text for a in asked if not a.met)
    return Part(name, None, "numeric", f"outside of the theorem's range, and not run: {missing}") if missing else None


def squared_errors(method: Any, problem: Problem, x: Any, rounds: int, seed: int = 0) -> NDArray[np.float64]:
    """||theta^(n) - x||^2 for n = 1..rounds, of each draw ``(*draws, rounds)``; 1e300 where a run diverged."""
    asked = {"d": metrics.squared_distance(x[..., None, :])}
    trace = run(method, problem, np.zeros_like(x), rounds, seed=seed, metrics=asked, progress=False)
    return np.where(np.isfinite(trace["d"]), trace["d"], 1e300)[..., 1:]


def heterogeneity_at(problem: Problem, x: Any) -> NDArray[np.float64]:
    """V* of each draw ``(*draws, 1)``, by gradients at the minimiser."""
    return np.asarray(mean_of_clients(squared_norm(problem.grad(x[..., None, :]))))[..., None]


def bound_n2(n: Any, nu: float, rho: float, heterogeneity: Any) -> Any:
    """DUALFL-N2, exact local solves: the least of `bounds.plain` and `bounds.linear` times V*/nu^2."""
    return bounds.models(np.minimum(bounds.plain(n), bounds.linear(1.0 * n, np.sqrt(rho))), heterogeneity, nu)


def bound_inexact(n: Any, nu: float, rho: float, heterogeneity: float, clients: int, gamma: float) -> Any:
    """Local gaps as in (8) for rho = 0, and as in (9) for rho > 0."""
    errors = bounds.errors_of_9(gamma, nu) if rho else bounds.errors_of_8(gamma)
    rate = bounds.linear(1.0 * n, np.sqrt(rho)) if rho else bounds.plain(1.0 * n)
    return bounds.inexact_models(rate, heterogeneity, nu, clients, errors)


def below_inexact(
    name: str, text: str, seed: int, made: Callable[[float, float], DualFL], rounds: int, L: float, gamma: float
) -> Part:
    """Part: ten runs of ``made(mu, L)``, with inexact local solves, on draws of quadratics stay below the bound of Theorem 3.2 or 3.3."""
    worst, n = [], np.arange(1, rounds + 1)
    for draw in range(seed, seed + 10):
        problem = random_quadratics(4, 5, L=L, mu=1.0, seed=draw)
        method, truth = made(*(float(constant(problem, name).value) for name in ("mu", "L"))), truth_of(problem)
        found = squared_errors(method, problem, truth.x, rounds, draw)
        worst.append(found / bound_inexact(n, method.nu, method.rho, truth.heterogeneity, problem.n, gamma))
    text = f"{text}: at most {np.max(worst):.2g} of the bound with its constant"
    return at_most(name, worst, 1.0, "numeric", text, error=1e-12)


def draw_exact_runs(context: Context, *, smooth: bool, rounds: int = 40, draws: int = 20) -> Picture:
    """Errors of exact local solves over V*/nu^2, against Theorem 3.2 or 3.3 with its constant: random quadratics with nu = mu = 1, L = 16."""
    nu, L, n = 1.0, 16.0, np.arange(1, rounds + 1)
    rho = nu / L if smooth else 0.0
    problem = random_quadratics(n=4, d=5, L=L, mu=nu, batch=(draws,), seed=0)
    x = problem.solution()
    errors = squared_errors(DualFL(nu, rho), problem, x, rounds) * nu**2 / heterogeneity_at(problem, x)
    claimed = bounds.linear(1.0 * n, np.sqrt(rho)) if smooth else bounds.plain(n)
    told = f"DualFL with nu = 1, rho = {rho:g} and exact local solves; random quadratics, n = 4, d = 5, mu = 1, L = 16, {draws} draws, seed 0"
    label = "||theta^n - theta*||^2 nu^2/V*"
    return draw_bound("Errors against the bound", n, claimed, ylabel=label, about=told, runs=errors.T)


def below_n2(
    name: str,
    problem: Problem,
    nu: float,
    rho: float,
    rounds: int,
    *,
    method: Callable[..., Any] = DualFL,
    share: float = 1.0,
) -> Part:
    """Part: a run with exact local solves stays below DUALFL-N2 in every round."""
    refused = outside(name, problem, nu, rho)
    if refused is not None:
        return refused
    truth, n = truth_of(problem), np.arange(1, rounds + 1)
    found = squared_errors(method(nu, rho), problem, truth.x, rounds)
    limit = share * bound_n2(n, nu, rho, truth.heterogeneity)
    worst = float(np.max(found / limit))
    text = (
        f"{problem.name}, {rounds} rounds: at most {worst:.2g} of the bound; theta* is certified to "
        f"{truth.distance:.1g}, the subgradients at it to "
        f"a Fenchel-Young gap of {truth.short:.1g}"
    )
    floor = 1e-24 * float(squared_norm(truth.x)) + 2 * truth.distance * float(np.sqrt(found.max())) + truth.distance**2
    return at_most(name, found, limit, "numeric", text, error=floor)


def nonsmooth_runs(context: Context, *, factor: float = 1.0, share: float = 1.0) -> Iterator[Finding]:
    """Theorem 3.2 with exact local solves; ``factor`` times mu is nu."""
    chain, machines = total_variation_chain(30), hinge_machines()
    yield below_n2("total variation chain", chain, factor * chain.mu, 0.0, context.pick(200, 1000), share=share)
    yield below_n2("hinge support vector machines", machines, factor * machines.l2, 0.0, context.pick(40, 150))


def smooth_runs(context: Context, *, factor: float = 1.0, share: float = 1.0) -> Iterator[Finding]:
    """Theorem 3.3 with exact local solves, on two clients of curvatures mu and L, which reach a quarter of the bound."""
    pair = scalar_quadratics(np.array([1.0, 100.0]), [1.0, -1.0])
    yield below_n2("two clients", pair, factor, factor / 100, 150, share=share)


def theorem_runs(context: Context, *, smooth: bool, falling: bool = True, **changed: Any) -> Iterator[Finding]:
    """Exact local solves, and quadratics with every local gap exactly at (8) or (9), gamma = 1; or at its first value in all rounds."""

    def at_the_limit(mu: float, L: float) -> DualFL:
        nu = 0.8 * mu
        rho = nu / L if smooth else 0.0
        limit = allowed_gap(4, nu, 1.0, rho if smooth else None)
        return DualFL(nu, rho, AtTheLimit(nu, limit if falling else lambda n: limit(0)))

    yield from (smooth_runs if smooth else nonsmooth_runs)(context, **changed)
    text, rounds = "ten draws of quadratics and errors, gamma = 1", context.pick(200, 400)
    yield below_inexact("gaps at the limit", text, context.seed, at_the_limit, rounds, 50.0 if smooth else 4.0, 1.0)


def faults_of_runs(part: str) -> list[Fault]:
    """What a part of the exact runs, or of the inexact ones, must reject."""
    return [
        Fault("nu beyond mu, where nothing is claimed", part, {"factor": 1.5}, holds=None),
        Fault("a tenth of the bound", part, {"share": 0.1}),
    ]


NOT_FALLING = Fault("local gaps that do not fall", "gaps at the limit", {"falling": False})


def server_models(method: Any, problem: Any, rounds: int, seed: int = 0) -> NDArray[np.float64]:
    """Server models of every round ``(rounds, d)``."""
    found: list[NDArray[np.float64]] = []

    def note(p: Any, state: Any) -> Any:
        found.append(np.asarray(state.x[0]))
        return squared_norm(state.x)[..., 0]

    run(method, problem, np.zeros(problem.d), rounds, seed=seed, metrics={"x": note})
    return np.array(found[1:])

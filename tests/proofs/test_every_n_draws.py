"""Gradient noise, coins and sampling in the worst case for every n, against that of one n and against programs written by hand."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from helpers import build

from fedtheory import FedAvg, FedPD, FunctionClass, GradientSteps, Scaffnew, Scaffold, StochasticSteps
from fedtheory.algorithms import (
    ALGORITHMS,
    Safari,
)
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.local.stochastic import VarianceReduced
from fedtheory.proofs.every_n.vectors import Lost, Sampling, Vector, inner_product, square
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.function_class import why_no_worst_case
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from problems.quadratics import random_quadratics

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)


def close(found: float, expected: float) -> bool:
    """Equal up to the tolerances of the plain engine's solvers."""
    return found == pytest.approx(expected, rel=2e-4, abs=1e-5)


def with_(**changes) -> FunctionClass:
    return dataclasses.replace(STRONG, **changes)


# ---- gradient noise -----------------------------------------------------------------------------------------------

NOISY = with_(sigma=0.5)


def noisy(steps: int, lr: float = 0.8) -> FedAvg:
    return FedAvg(StochasticSteps(steps, lr, 1))


@pytest.mark.parametrize(("n", "s"), [(2, 2), (5, 5), (5, 2), (5, 1)])
def test_one_noisy_step_is_exact(n, s):
    """E ||x - lr g||^2 plus lr^2 sigma^2 / s: noise is averaged over those that take part."""
    found = worst_case_for_every_n(noisy(1), NOISY, rounds=1, participation=Sampling(n, s))
    without = worst_case_for_every_n(FedAvg(GradientSteps(1, 0.8)), STRONG, rounds=1, participation=Sampling(n, s))
    assert found.value == pytest.approx(without.value + 0.8**2 * 0.25 / s, rel=1e-6)
    assert found.model.relaxations == ()


def noise_by_hand(n: int, steps: int, lr: float, sigma: float, rounds: int) -> float:
    """FedAvg with noisy gradients as points of a Hilbert space of random vectors, orthogonal where independent."""
    from PEPit import PEP, Point
    from PEPit.functions import SmoothStronglyConvexFunction

    pep = PEP()
    f = [pep.declare_function(SmoothStronglyConvexFunction, L=1, mu=0.1) for _ in range(n)]
    star, x = (np.sum(f) / n).stationary_point(), pep.set_initial_point()
    pep.set_initial_condition((x - star) ** 2 <= 1)
    at_star = [fi.gradient(star) for fi in f]
    pep.add_constraint(np.sum([g**2 for g in at_star]) / n <= 1)
    before = [x - star, *at_star]
    for _ in range(rounds):
        ys, steps_of = [x] * n, [[] for _ in f]
        for q in range(steps):
            for i in range(n):
                g, noise = f[i].gradient(ys[i]), Point()
                pep.add_constraint(noise**2 <= sigma**2)
                ys[i] = ys[i] - lr * (g + noise)
                steps_of[i].append((q, g, noise))
        for i in range(n):
            for q, _, noise in steps_of[i]:
                others = [
                    v
                    for j in range(n)
                    for p, g, o in steps_of[j]
                    for v in ((g, o) if j != i else (g,) if p <= q else ())
                ]
                others += [o for p, _, o in steps_of[i] if p > q]
                for v in [*before, *others]:
                    pep.add_constraint(noise * v == 0)
        x = np.sum(ys) / n
        before += [v for one in steps_of for _, g, o in one for v in (g, o)]
    pep.set_performance_metric((x - star) ** 2)
    return float(pep.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0))


@pytest.mark.parametrize(
    ("n", "steps", "rounds"), [(2, 1, 1), (2, 2, 1), (3, 2, 1), (2, 3, 1), (2, 1, 2), (3, 1, 2), (2, 2, 2)]
)
def test_noise_against_a_program_written_by_hand(n, steps, rounds):
    found = worst_case_for_every_n(noisy(steps), NOISY, rounds=rounds, participation=Sampling(n, n))
    assert found.value == pytest.approx(noise_by_hand(n, steps, 0.8, 0.5, rounds), rel=1e-5)
    assert bool(found.model.relaxations) == (steps * rounds > 1)


def test_noise_without_variance_is_none_and_more_clients_have_less():
    method = Scaffold(StochasticSteps(2, 0.4, 1))
    exact = worst_case_for_every_n(Scaffold(GradientSteps(2, 0.4)), STRONG, rounds=2).value
    value = [
        worst_case_for_every_n(method, with_(sigma=0.5), rounds=2, participation=Sampling(n, n)).value
        for n in (2, 4, 100, 10**6)
    ]
    assert all(a > b for a, b in zip(value, value[1:], strict=False)) and value[-1] > exact
    still = worst_case_for_every_n(method, with_(sigma=1e-4), rounds=2, participation=Sampling(4, 4)).value
    assert still == pytest.approx(exact, rel=2e-4)


def test_noise_of_runs_stays_below():
    """Averages over many runs with noise of sigma on quadratics: the expectation is below, up to its standard error."""
    n, steps, lr = 3, 3, 0.8
    found = worst_case_for_every_n(noisy(steps, lr), NOISY, rounds=1, participation=Sampling(n, n))
    f = random_quadratics(n, 3, mu=0.1, seed=2)
    x_star = f.solution()
    scale = 1 / np.sqrt(np.mean(np.sum(f.grad(x_star[None, :]) ** 2, axis=-1)))
    rng = np.random.default_rng(0)
    x = np.broadcast_to(x_star + np.array([0, 1.0, 0]) / scale, (2000, n, 3))
    for _ in range(steps):
        x = x - lr * (f.grad(x) + rng.standard_normal((2000, n, 3)) * 0.5 / np.sqrt(3) / scale)
    squares = np.sum((x.mean(axis=1) - x_star) ** 2, axis=-1) * scale**2
    assert squares.mean() <= found.value + 4 * squares.std() / np.sqrt(2000)


def test_noise_is_refused_by_name_where_it_cannot_be_followed():
    with pytest.raises(InvalidInput, match="their number n matters"):
        worst_case_for_every_n(noisy(1), NOISY, rounds=1)
    with pytest.raises(CannotTrace, match="draws samples at random"):
        worst_case_for_every_n(noisy(1), STRONG, rounds=1)
    correlated = FedAvg(VarianceReduced(2, 0.5, batch=1))
    with pytest.raises(CannotTrace, match="VarianceReduced"):
        worst_case_for_every_n(correlated, NOISY, rounds=1, participation=Sampling(3, 3))
    with pytest.raises(InvalidInput, match="does not state sigma; that of exchangeable clients does"):
        worst_case_for_one_n(FedAvg(GradientSteps(1, 0.5)), NOISY, n=2, rounds=1)
    found = worst_case_for_every_n(noisy(1), NOISY, rounds=1, participation=Sampling(3, 3))
    with pytest.raises(InvalidInput, match="noise"):
        found.instance(3)


# ---- coins and sampling -------------------------------------------------------------------------------------------

COINS = {
    "fedpd": (FedPD(0.5, p=0.3), 3),
    "scaffnew": (Scaffnew(0.8, 0.3), 3),
    "safari": (Safari(0.4, GradientSteps(2, 0.5), GradientSteps(1, 0.7)), 2),
}


@pytest.mark.parametrize("name", COINS)
def test_random_communication_over_several_rounds(name):
    algorithm, rounds = COINS[name]
    found = worst_case_for_every_n(algorithm, STRONG, rounds=rounds, tolerance=1e-5)
    assert close(found.value, worst_case_for_one_n(algorithm, STRONG, n=2, rounds=rounds).value)


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if e.partial], ids=lambda e: e.name)
@pytest.mark.parametrize(("n", "s"), [(3, 2), (4, 1)])
def test_every_method_with_some_of_the_clients_a_round(entry, n, s):
    algorithm = build(entry, lr=0.5, steps=2, eta=0.5, rho=1.0, q=0.6, momentum=0.3)
    if why_no_worst_case(algorithm) is not None:
        pytest.skip("refused by name, as test_every_n.py sees")
    if entry.name.startswith("per-fedavg"):
        algorithm = dataclasses.replace(algorithm, local=GradientSteps(1, 0.5))  # each step takes two gradients
    if entry.name == "feddane":  # gradients of the active clients are averaged before their local work
        with pytest.raises(CannotTrace, match="at a point that depends on who takes part"):
            worst_case_for_every_n(algorithm, STRONG, rounds=1, participation=Sampling(n, s))
        return
    found = worst_case_for_every_n(algorithm, STRONG, rounds=1, participation=Sampling(n, s), tolerance=1e-5)
    assert close(found.value, worst_case_for_one_n(algorithm, STRONG, n=n, rounds=1, participants=s).value)


def test_averages_over_those_that_take_part_of_what_they_updated():
    """mean_{active} of a vector that was scattered and averaged before, by enumeration of subsets."""
    rng = np.random.default_rng(0)
    n, s = 5, 2
    mean, deviation = rng.standard_normal(2), rng.standard_normal((2, n))
    deviation -= deviation.mean(axis=1, keepdims=True)
    old, new = (Vector({("mean", k): 1.0, ("deviation", k): 1.0}) for k in (0, 1))
    sampling = Sampling(n, s)
    kept = old.scattered(sampling, new)
    mixed = (kept * 0.3 + kept.averaged(None) * 0.5).averaged(sampling)
    form = square(mixed, sampling)
    grams = {"S": np.outer(mean, mean), "Q": deviation @ deviation.T / n}
    found = sum(float(value) * grams[matrix][i, j] for (matrix, i, j), value in form.gram.items())
    total = []
    for subset in combinations(range(n), s):
        a, b = mean[0] + deviation[0], mean[1] + deviation[1]
        kept_i = np.where(np.isin(np.arange(n), subset), b, a)
        total.append((0.3 * kept_i[list(subset)].mean() + 0.5 * kept_i.mean()) ** 2)
    assert found == pytest.approx(np.mean(total), rel=1e-12)


def _products_of_active(a, b, active):
    """Products of what the active clients make of a and b with all that there is, over all clients."""
    new, changed = np.where(active, a + 0.7 * (b - b[active].mean()), a), np.where(active, b, a)
    averages = new.mean(), new[active].mean(), b[active].mean()
    return [(new**2).mean(), *((new * y).mean() for y in (a, b, changed, *averages)), averages[1] ** 2]


def test_what_active_clients_move_by_an_average_over_them_is_followed():
    """A-FedPD's duals, mu_i + 0.7 (x_i - mean_{active} x_j) of active clients: products and averages, by enumeration of subsets."""
    rng = np.random.default_rng(1)
    n, s = 5, 3
    mean, deviation = rng.standard_normal(2), rng.standard_normal((2, n))
    deviation -= deviation.mean(axis=1, keepdims=True)
    mu, x = (Vector({("mean", k): 1.0, ("deviation", k): 1.0}) for k in (0, 1))
    sampling = Sampling(n, s)
    moved = mu.scattered(sampling, mu + (x - x.averaged(sampling)) * 0.7)
    kept = mu.scattered(sampling, x)
    grams = {"S": np.outer(mean, mean), "Q": deviation @ deviation.T / n}

    def expected(u, v):
        products = inner_product(u, v, sampling).gram
        return sum(float(value) * grams[matrix][i, j] for (matrix, i, j), value in products.items())

    total = [
        _products_of_active(*(mean[:, None] + deviation), np.isin(np.arange(n), who))
        for who in combinations(range(n), s)
    ]
    beside = (mu, x, kept, moved.averaged(None), moved.averaged(sampling), x.averaged(sampling))
    found = [expected(moved, moved), *(expected(moved, v) for v in beside)]
    found.append(expected(moved.averaged(sampling), moved.averaged(sampling)))
    assert found == pytest.approx(np.mean(total, axis=0), rel=1e-12)
    with pytest.raises(CannotTrace, match="by one that depends on whether it takes part"):
        square(mu.scattered(sampling, moved), sampling)


def test_a_lost_vector_is_refused_when_it_is_used():
    lost, one, half = Lost("it was lost"), Vector({("mean", 0): 1}), Sampling(2, 1)
    made = (
        one + lost,
        lost + one,
        one - lost,
        lost * 2,
        0.5 * lost,
        -lost,
        lost / 2,
        one.scattered(half, lost),
        lost.averaged(half),
    )
    assert all(isinstance(vector, Lost) for vector in made)
    for use in (lambda: inner_product(one, lost), lambda: square(lost), lambda: lost.certain, lambda: lost.common):
        with pytest.raises(CannotTrace, match="it was lost"):
            use()

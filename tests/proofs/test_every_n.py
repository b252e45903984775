"""The worst case for every n against that of one n with n = 2, 3, 4, and against the numeric engine on its own worst-case functions."""

from __future__ import annotations

import contextlib
from itertools import combinations

import numpy as np
import pytest
from helpers import build

from fedtheory import FedAvg, FedPD, FedProx, FunctionClass, GradientSteps, Scaffold, Schedule, run
from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.errors import CannotTrace, InvalidInput, SolverFailed
from fedtheory.measures import metrics as measures
from fedtheory.proofs.every_n.vectors import Sampling, Vector, square
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.function_class import why_no_worst_case
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.semidefinite.solve import TooLarge
from fedtheory.running.enumeration import enumerate_outcomes

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)
SMOOTH = FunctionClass(L=1.0, mu=-1.0)


def close(found: float, expected: float) -> bool:
    """Equal up to the tolerances of the plain engine's solvers."""
    return found == pytest.approx(expected, rel=2e-4, abs=1e-5)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(
    ("algorithm", "functions", "rounds", "measure"),
    [
        (FedAvg(GradientSteps(2, 0.7)), STRONG, 2, "squared_distance"),
        (FedAvg(GradientSteps(2, 0.7)), STRONG, 1, "gap"),
        (FedAvg(GradientSteps(2, 0.2)), FunctionClass(1.0, -1.0, bgd=(1.0, 1.5)), 1, "stationarity"),
        (FedProx(0.5, GradientSteps(2, 0.4)), STRONG, 1, "squared_distance"),
        (Scaffold(GradientSteps(2, 0.4)), STRONG, 2, "squared_distance"),
        (FedPD(0.3), SMOOTH, 2, "min_stationarity"),
        (FedPD(0.3), SMOOTH, 2, "sum_stationarity"),
        (FedPD(1.0, p=0.25), STRONG, 2, "squared_distance"),
    ],
    ids=lambda v: getattr(v, "measure", None) or type(v).__name__ if not isinstance(v, str | int) else str(v),
)
def test_same_value_for_every_n(n, algorithm, functions, rounds, measure):
    any_n = worst_case_for_every_n(algorithm, functions, rounds=rounds, measure=measure, tolerance=1e-5)
    plain = worst_case_for_one_n(algorithm, functions, n=n, rounds=rounds, measure=measure)
    assert close(any_n.value, plain.value)


#: the program for one n knows no oracle of every unbiased compressor
FOR_EVERY_N_ALONE = {"diana-any"}


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda e: e.name)
def test_every_listed_method_has_the_same_value_or_is_refused_by_name(entry):
    algorithm = build(entry, lr=0.5, steps=1, eta=0.5, rho=1.0, q=1)
    if why_no_worst_case(algorithm) is not None:
        with pytest.raises(CannotTrace):
            worst_case_for_every_n(algorithm, STRONG, rounds=1)
        return
    found = worst_case_for_every_n(algorithm, STRONG, rounds=1, tolerance=1e-5)
    if entry.name in FOR_EVERY_N_ALONE:
        with pytest.raises(CannotTrace, match="known to potentials and to worst cases for every n"):
            worst_case_for_one_n(algorithm, STRONG, n=3, rounds=1)
        return
    assert close(found.value, worst_case_for_one_n(algorithm, STRONG, n=3, rounds=1).value)


@pytest.mark.parametrize(("n", "s"), [(2, 1), (3, 1), (3, 2), (4, 2), (3, 3)])
@pytest.mark.parametrize(
    "algorithm", [FedAvg(GradientSteps(2, 0.7)), Scaffold(GradientSteps(2, 0.5))], ids=["fedavg", "scaffold"]
)
def test_uniform_sampling_is_followed_exactly(n, s, algorithm):
    found = worst_case_for_every_n(algorithm, STRONG, rounds=1, participation=Sampling(n, s))
    assert close(found.value, worst_case_for_one_n(algorithm, STRONG, n=n, rounds=1, participants=s).value)


def test_few_of_very_many_clients_cost_nothing():
    found = worst_case_for_every_n(FedAvg(GradientSteps(4, 0.5)), STRONG, rounds=1, participation=Sampling(10**6, 10))
    full = worst_case_for_every_n(FedAvg(GradientSteps(4, 0.5)), STRONG, rounds=1)
    assert found.value > full.value * 1.01
    assert found.size == full.size


@pytest.mark.parametrize("n", [2, 3, 5])
def test_worst_case_functions_reach_the_value(n):
    algorithm = FedAvg(GradientSteps(3, 0.8))
    found = worst_case_for_every_n(algorithm, STRONG, rounds=2)
    instance, x0 = found.instance(n)
    assert instance.n == n
    g = instance.grad(np.zeros((1, instance.d)))
    assert np.linalg.norm(g.mean(axis=0)) <= 1e-5  # the origin is the minimiser of the average
    assert np.mean(np.sum(g * g, axis=-1)) <= 1 + 1e-5
    assert np.linalg.norm(x0) <= 1 + 1e-6
    reached = run(algorithm, instance, x0, 2, metrics={"m": measures.magnitude})["m"][-1]
    assert reached == pytest.approx(found.value, rel=1e-4)


def test_expectation_over_subsets_is_reached_by_the_worst_case_functions():
    n, s = 4, 2
    algorithm = FedAvg(GradientSteps(2, 0.8))
    found = worst_case_for_every_n(algorithm, STRONG, rounds=1, participation=Sampling(n, s))
    instance, x0 = found.instance(n)
    reached = [
        run(algorithm, instance, x0, 1, participation=Schedule(lambda r, c=c: c), metrics={"m": measures.magnitude})[
            "m"
        ][-1]
        for c in combinations(range(n), s)
    ]
    assert np.mean(reached) == pytest.approx(found.value, rel=1e-4)


def test_known_values():
    """Contraction (1 - mu/L)^2 of one step, and values computed independently with PEPit."""
    one = worst_case_for_every_n(FedAvg(GradientSteps(1, 1.0)), STRONG, rounds=1)
    assert one.value == pytest.approx(0.81, abs=1e-8)
    for steps, rounds, value in ((2, 1, 1.095180), (4, 1, 2.709188), (8, 1, 6.835826), (2, 3, 1.209544)):
        found = worst_case_for_every_n(FedAvg(GradientSteps(steps, 1.0)), STRONG, rounds=rounds)
        assert found.value == pytest.approx(value, abs=2e-6)
        assert found.solution.worst() <= 1e-6


@pytest.mark.parametrize("lr", [0.3, 0.1, 0.03, 0.01, 0.003])
@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_clients_that_differ_without_limit_get_no_number(lr, rounds, steps):
    """From x* itself two quadratics with gradients +-b drift by lr^2 (h_1 - h_2) b / 2, with b as large as one likes, unless steps = 1.

    The drift is small: for lr = 0.01 a program with finite multipliers is 1e-8 away, and a solver's residuals no reason to doubt it.
    """
    functions = FunctionClass(L=1.0, mu=0.1)
    algorithm = FedAvg(GradientSteps(steps, lr))
    if steps == 1:  # gradient descent on the average
        found = worst_case_for_every_n(algorithm, functions, rounds=rounds)
        assert found.value == pytest.approx((1 - 0.1 * lr) ** (2 * rounds), abs=1e-6)
        return
    with contextlib.suppress(SolverFailed):
        found = worst_case_for_every_n(algorithm, functions, rounds=rounds)
        assert found.unbounded
        assert found.value == np.inf


def test_limits_hide_behind_no_rounding():
    """FedPD's duals absorb whatever the clients differ by, exactly: 0.3 is read as 3/10 where floats leave 1e-17 over."""
    found = worst_case_for_every_n(FedPD(0.3), SMOOTH, rounds=3, measure="sum_stationarity")
    assert found.value == pytest.approx(2.5386753, abs=2e-6)


def test_an_average_that_keeps_deviations_would_be_seen(monkeypatch):
    right = worst_case_for_every_n(FedAvg(GradientSteps(2, 0.7)), STRONG, rounds=2).value
    monkeypatch.setattr(Vector, "averaged", lambda self, clients: self)
    wrong = worst_case_for_every_n(FedAvg(GradientSteps(2, 0.7)), STRONG, rounds=2).value
    assert not close(wrong, right)


def test_a_second_sampled_round_is_refused():
    with pytest.raises(CannotTrace, match="one round"):
        worst_case_for_every_n(FedAvg(GradientSteps(2, 0.5)), STRONG, rounds=2, participation=Sampling(4, 2))


def test_bad_input():
    with pytest.raises(InvalidInput, match="s of n"):
        Sampling(3, 4)
    with pytest.raises(InvalidInput, match="rounds"):
        worst_case_for_every_n(FedAvg(GradientSteps(1, 0.5)), STRONG, rounds=0)
    with pytest.raises(InvalidInput, match="minimiser"):
        worst_case_for_every_n(FedPD(0.3), SMOOTH, rounds=1)
    with pytest.raises(CannotTrace, match="shape"):
        worst_case_for_every_n(FedAvg(GradientSteps(1, np.ones((2, 1, 1)))), STRONG, rounds=1)


def test_one_client_is_no_instance_of_every_n():
    found = worst_case_for_every_n(FedAvg(GradientSteps(1, 0.5)), STRONG, rounds=1)
    with pytest.raises(InvalidInput, match="expected n >= 2, got 1"):
        found.instance(1)


def test_coins_of_arrays_are_coins_and_other_draws_are_refused():
    """A probability may come as an array of one entry; what is sure is no coin."""

    def step(key):
        return key.coin("a", np.array([[0.25]])), key.coin("b", np.array([[1.0]]))

    found = {outcome: weight for weight, outcome in enumerate_outcomes(step, 0)}
    assert found == {(True, True): 0.25, (False, True): 0.75}
    with pytest.raises(CannotTrace, match="enumerates coins, and the round draws 'normal', which it cannot enumerate"):
        enumerate_outcomes(lambda key: key.normal("noise", (2,)), 0)


def test_outcomes_are_all_found_with_their_probabilities():
    def step(key):
        first = key.coin("a", 0.25)
        return (first, key.coin("b", 0.5)) if first else (first,)

    found = {outcome: weight for weight, outcome in enumerate_outcomes(step, 0)}
    assert found == {(True, True): 0.125, (True, False): 0.125, (False,): 0.75}


def test_moments_of_sampled_vectors_against_enumeration():
    """E mean_i ||u_i||^2 of everything a sampled round can build, by brute force over subsets."""
    rng = np.random.default_rng(0)
    n, s = 5, 2
    mean, deviation = rng.standard_normal(2), rng.standard_normal((2, n))
    deviation -= deviation.mean(axis=1, keepdims=True)
    old = Vector({("mean", 0): 1.0, ("deviation", 0): 1.0})
    new = Vector({("mean", 1): 1.0, ("deviation", 1): 1.0})
    sampling = Sampling(n, s)
    server = new.averaged(sampling)
    kept = old.scattered(sampling, new)
    mixed = kept * 0.5 + server * 2.0 + kept.averaged(None)
    form = square(mixed, sampling)
    grams = {"S": np.outer(mean, mean), "Q": deviation @ deviation.T / n}
    found = sum(float(value) * grams[matrix][i, j] for (matrix, i, j), value in form.gram.items())
    total = []
    for subset in combinations(range(n), s):
        a, b = mean[0] + deviation[0], mean[1] + deviation[1]
        chosen = np.isin(np.arange(n), subset)
        kept_i = np.where(chosen, b, a)
        total.append(np.mean((0.5 * kept_i + 2 * b[chosen].mean() + kept_i.mean()) ** 2))
    assert found == pytest.approx(np.mean(total), rel=1e-12)


def test_so_many_rounds_that_a_program_never_ends_are_refused_before_it_is_written() -> None:
    with pytest.raises(TooLarge, match=r"more than the time limit of 3600 s; .* allow more time \(--time-limit\)"):
        worst_case_for_every_n(FedAvg(GradientSteps(1, 0.5)), STRONG, rounds=10**5)

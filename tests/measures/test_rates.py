"""Fitted rates on known sequences; stated rates on random certified instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import AcceleratedGradient, FedPD, GradientDescent
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import constant
from fedtheory.measures import metrics
from fedtheory.measures.rates import FLOOR, RESOLUTION, find_window, fit_contraction, fit_exponent
from fedtheory.running.runner import run
from problems.quadratics import random_indefinite, random_quadratics
from problems.separable import random_sines

R = np.arange(1, 401)

# ---- fits ---------------------------------------------------------------------------------------------------------


@given(exponent=st.floats(-4, 1), size=st.floats(1e-6, 1e6))
def test_powers_are_recovered(exponent, size) -> None:
    fit = fit_exponent(R, size * R**exponent)
    assert fit.rate == pytest.approx(exponent, abs=1e-10)
    assert fit.low - 1e-12 <= fit.rate <= fit.high + 1e-12
    assert fit.high - fit.low < 2.1 * RESOLUTION * abs(exponent) + 1e-8


@given(factor=st.floats(0.3, 1.2), size=st.floats(1e-6, 1e6))
def test_factors_are_recovered(factor, size) -> None:
    fit = fit_contraction(R, size * factor**R)
    assert fit.rate == pytest.approx(factor, rel=1e-10)
    assert np.log(fit.high / fit.low) < 2.1 * RESOLUTION * abs(np.log(factor)) + 1e-8


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_intervals_cover(correlation) -> None:
    """Noise of 10 % in each value, also correlated from round to round: of 200 intervals at 95 % at least 87 % cover.

    The binomial standard deviation is 1.5 %; correlation is corrected for by its lag-one estimate, which costs some.
    """
    covered = {"exponent": 0, "factor": 0}
    for seed in range(200):
        noise = 0.1 * np.random.default_rng(seed).standard_normal(len(R))
        for k in range(1, len(R)):
            noise[k] = correlation * noise[k - 1] + np.sqrt(1 - correlation**2) * noise[k]
        power = fit_exponent(R, 3 * R**-1.3 * np.exp(noise))
        factor = fit_contraction(R, 3 * 0.97**R * np.exp(noise))
        covered["exponent"] += power.low <= -1.3 <= power.high
        covered["factor"] += factor.low <= 0.97 <= factor.high
    assert min(covered.values()) >= 0.87 * 200


def test_intervals_are_not_wide_beyond_use() -> None:
    noise = 0.1 * np.random.default_rng(0).standard_normal(len(R))
    fit = fit_exponent(R, R**-1.0 * np.exp(noise))
    # 60 points spread over log 4 in x: standard error about 0.1/(0.4 sqrt 60) = 0.03
    assert 0.03 < fit.high - fit.low < 0.3


def test_what_is_not_over_is_called_transient() -> None:
    """Two factors, the slower one coming in: no interval while the slopes bend, and one that holds 0.95 once they settle."""
    early, late = ((0.9**r + share * 0.95**r) for r, share in ((R[:60], 0.01), (R, 1.0)))
    fit = fit_contraction(R[:60], early)
    assert fit.transient and (fit.low, fit.high) == (0, np.inf) and "(transient)" in str(fit)
    settled = fit_contraction(R, late)
    assert not settled.transient and settled.low <= 0.95 <= settled.high < 0.9501
    bent = fit_exponent(R, R**-1.0 + 0.01)
    assert bent.transient and (bent.low, bent.high) == (-np.inf, np.inf)


def test_values_near_their_own_error_are_left_out() -> None:
    """0.9^r, rounded to whole multiples of 1e-10: told of that, the fit ends where a value has four digits."""
    rounded = np.round(0.9**R, 10)
    fit = fit_contraction(R, rounded, error=1e-10)
    assert fit.low <= 0.9 <= fit.high and 0.9 ** fit.window[1] > 1e-6 >= 0.9 ** (fit.window[1] + 1)


def test_a_window_that_is_given_is_not_judged() -> None:
    values = 0.9**R + 0.01 * 0.95**R
    assert not fit_contraction(R, values, slice(0, 60)).transient


@pytest.mark.parametrize("end", [0.0, np.inf, np.nan, 1e-32])
def test_the_window_ends_where_values_stop_meaning_anything(end) -> None:
    values = 5 * 0.9 ** np.arange(100)
    values[60:] = end
    window = find_window(values)
    assert window == slice(15, 60)  # the first quarter of the decay is left out
    fit = fit_contraction(np.arange(100), values)
    assert fit.rate == pytest.approx(0.9, rel=1e-12) and fit.window == (15, 59) and fit.points == 45


def test_a_window_may_be_given_and_rounding_is_cut_off() -> None:
    values = 1.0 * 0.5 ** np.arange(200)
    assert find_window(values).stop == int(np.floor(np.log(FLOOR) / np.log(0.5))) + 1
    mixed = np.where(np.arange(100) < 50, 0.9 ** np.arange(100), 0.5 ** np.arange(100))
    assert fit_contraction(np.arange(100), mixed, slice(0, 50)).rate == pytest.approx(0.9, rel=1e-12)
    assert "rounds 0-49" in str(fit_contraction(np.arange(100), mixed, slice(0, 50)))


def test_exponents_weigh_rounds_evenly_on_a_logarithmic_scale() -> None:
    """A long tail does not decide alone: r^-1 up to 100, r^-2 beyond, seen over four decades, averages to -1.5."""
    r = np.unique(np.geomspace(1, 1e4, 2000).astype(int))
    values = np.where(r <= 100, r**-1.0, 100 * r**-2.0)
    dense = np.arange(1, 10**4 + 1)
    all_rounds = fit_exponent(dense, np.where(dense <= 100, dense**-1.0, 100 * dense**-2.0), slice(0, None))
    assert fit_exponent(r, values, slice(0, None)).rate == pytest.approx(all_rounds.rate, abs=0.1)
    assert all_rounds.rate == pytest.approx(-1.5, abs=0.1)


@pytest.mark.parametrize("values", [np.ones(4), np.zeros(100), np.full(100, np.nan), -np.ones(100)], ids=str)
def test_too_few_points_are_refused(values) -> None:
    for fit in (fit_exponent, fit_contraction):
        with pytest.raises(InvalidInput, match="at least five positive values in its window, got"):
            fit(np.arange(1, len(values) + 1), values)


# ---- stated rates on random certified instances -------------------------------------------------------------------

instances = given(seed=st.integers(0, 10**6), n=st.integers(1, 4), d=st.integers(1, 4), kappa=st.floats(1.01, 300))
ROUNDING = 1e-12  # relative, on top of a bound; absolute where f* cancels


@instances
@settings(max_examples=30)
def test_rate_of_gradient_descent(seed, n, d, kappa) -> None:
    """||x^r - x*|| <= (1 - lr mu)^r ||x^0 - x*|| for lr <= 1/L, with certified L and mu of the average."""
    f = random_quadratics(n, d, mu=1 / kappa, seed=seed)
    shares = np.array([0.1, 0.5, 1.0])
    lr = shares / float(constant(f, "L"))
    x_star = f.solution()
    x0 = x_star + np.random.default_rng(seed).standard_normal(d)
    trace = run(GradientDescent(along_batch(lr)), f, x0, 60, metrics={"d": metrics.squared_distance(x_star)})
    distance = np.sqrt(trace["d"])
    bound = (1 - lr[:, None] * float(constant(f, "mu_avg"))) ** trace.rounds * distance[:, :1]
    # x* is a linear solve of condition kappa, and x - x* cancels
    assert np.all(distance <= bound * (1 + ROUNDING) + 1e-15 * kappa * (1 + np.linalg.norm(x_star)))


@instances
@settings(max_examples=30)
def test_rates_of_accelerated_gradient(seed, n, d, kappa) -> None:
    """2 L ||x^0 - x*||^2/(r+1)^2 with momentum r/(r+3); a factor 1 - sqrt(mu/L) a round with the constant one."""
    f = random_quadratics(n, d, mu=1 / kappa, seed=seed)
    L, mu = float(constant(f, "L_avg")), float(constant(f, "mu_avg"))
    x_star, low = f.solution(), float(f.lower_bound().value)
    x0 = x_star + 5 * np.random.default_rng(seed).standard_normal(d)
    gap = {"gap": metrics.gap(low)}
    distance = np.sum((x0 - x_star) ** 2)
    noise = ROUNDING * (1 + abs(low))
    convex = run(AcceleratedGradient(1 / L), f, x0, 60, metrics=gap)
    assert np.all(convex["gap"][1:] <= 2 * L * distance / (convex.rounds[1:] + 1) ** 2 * (1 + ROUNDING) + noise)
    momentum = (np.sqrt(L) - np.sqrt(mu)) / (np.sqrt(L) + np.sqrt(mu))
    strong = run(AcceleratedGradient(1 / L, momentum), f, x0, 60, metrics=gap)
    bound = (1 - np.sqrt(mu / L)) ** strong.rounds * (strong["gap"][0] + mu / 2 * distance)
    assert np.all(strong["gap"] <= bound * (1 + ROUNDING) + noise)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 5), u=st.floats(0.02, 0.49), sines=st.booleans())
@settings(max_examples=40)
def test_guarantee_of_fedpd(seed, n, u, sines) -> None:
    """sum ||grad f||^2 <= (4(1+u)^2/eta) max{1, u^2/((1-2u)(1+u))} (f(x^0) - f(x_0^T)), indefinite clients included."""
    f = random_sines(n, 2, batch=(20,), seed=seed) if sines else random_indefinite(n, 2, batch=(20,), seed=seed)
    L = np.asarray(constant(f, "L").value)
    eta = u / L
    x0 = np.random.default_rng(seed).standard_normal((20, 2))
    trace = run(FedPD(along_batch(eta)), f, x0, 25, metrics={"g": metrics.stationarity, "f": metrics.value})
    total = np.cumsum(trace["g"][:, 1:], axis=-1)
    drop = trace["f"][:, :1] - trace["f"][:, 1:]
    factor = 4 * (1 + u) ** 2 / eta[:, None] * max(1, u**2 / ((1 - 2 * u) * (1 + u)))
    assert np.all(total <= factor * (drop + ROUNDING * (1 + np.abs(trace["f"][:, :1]))))


def test_the_observed_exponent_of_a_slow_problem() -> None:
    """f = sqrt(1 + x^2) far out: the way gone is linear in rounds, for a model read off a run."""
    from problems.fedavg_divergence import coercive_counterexample

    f = coercive_counterexample()
    trace = run(GradientDescent(0.1), f, np.array([1000.0]), 2000, metrics={"x": lambda _, s: 1000 - s.x[..., 0, 0]})
    # |f'| is one to within 1e-6 out there: x^r = x^0 - r/10
    assert fit_exponent(trace.rounds[1:], trace["x"][1:]).rate == pytest.approx(1.0, abs=1e-3)

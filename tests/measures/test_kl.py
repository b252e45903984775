"""Exponents seen along trajectories, on functions whose exponent is known, and the rates they imply."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import close

from fedtheory.algorithms import FedSLR, GradientDescent, ProximalGradient
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import constant, objective
from fedtheory.core.regularisers import slope
from fedtheory.measures import metrics
from fedtheory.measures.kl import Exponent, implied_rate, kl_constant, kl_exponent
from fedtheory.measures.potentials import fedslr, fedslr_subgradient
from fedtheory.measures.rates import fit_exponent
from fedtheory.running.runner import run
from problems.known_exponents import no_strict_complementarity, power, sharp
from problems.low_rank import robust_low_rank_regression
from problems.quadratics import random_quadratics


def along(method, f, x0, rounds, minimum):
    """Rounds, gaps and subgradients of one run, some 300 of them."""
    measured = {"gap": metrics.gap(minimum), "subgradient": metrics.stationarity}
    often = np.unique(np.geomspace(1, rounds, 400).astype(int)).tolist() if rounds > 400 else 1
    trace = run(method, f, np.asarray(x0, dtype=float), rounds, metrics=measured, every=often)
    return trace.rounds, trace["gap"], np.sqrt(trace["subgradient"])


# ---- known exponents ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "slope", "method"),
    [*((p, 0.0, GradientDescent) for p in (2, 3, 4, 6, 8)), (2, 0.3, FedSLR), (4, 0.3, FedSLR)],
)
def test_powers_have_the_exponent_one_minus_one_over_p(p, slope, method) -> None:
    known = power(p, slope)
    method = method(0.25 / (p - 1))
    _, gaps, subgradients = along(method, known.problem, [0.9], 300 if p == 2 else 3000, known.minimum)
    found = kl_exponent(gaps, subgradients, error=1e-17)
    assert found.low - 1e-3 <= known.theta <= found.high + 1e-3, str(found)
    assert found.high - found.low < 0.02
    assert found.kinds == (("linear",) if slope == 0 else found.kinds) if p == 2 else found.kinds == ("sublinear",)


@pytest.mark.parametrize("seed", range(6))
def test_quadratics_have_the_exponent_one_half(seed) -> None:
    """Many curvatures at once: the local exponent drifts before it settles, and the interval says so."""
    f = random_quadratics(4, 5, mu=0.05, seed=seed)
    minimum = float(f.lower_bound())
    _, gaps, subgradients = along(GradientDescent(0.5), f, np.ones(5), 400, minimum)
    found = kl_exponent(gaps, subgradients, error=1e-16 * abs(minimum))
    assert found.low <= 0.5 <= found.high, str(found)
    assert abs(found.theta - 0.5) < 0.03 and found.high - found.low < 0.1
    assert "linear" in found.kinds and "finite" not in found.kinds


@pytest.mark.parametrize("method", [ProximalGradient, FedSLR], ids=["pgd", "fedslr"])
def test_the_nuclear_norm_without_strict_complementarity_has_three_quarters(method) -> None:
    known = no_strict_complementarity()
    f = known.problem
    _, gaps, subgradients = along(method(0.45 / float(constant(f, "L"))), f, [1.2, 0.5, 0.4, 0.3], 6000, known.minimum)
    found = kl_exponent(gaps, subgradients, error=2e-16)
    assert found.low <= known.theta <= found.high, str(found)
    assert found.kinds == ("sublinear",) and found.high - found.low < 0.15
    early = kl_exponent(gaps[:250], subgradients[:250], error=2e-16)
    assert abs(found.drift) < abs(early.drift) and abs(found.theta - 0.75) < abs(early.theta - 0.75)


def test_the_curve_that_shows_three_quarters() -> None:
    """W(e) = [[a, e], [e, e^2/a]] with a minimising: gap = e^4/6 and subgradient = (sqrt 2/3) e^3 to leading order.

    With b = e^2/a and a = 1 + 4 b/3 the gap is b^2/6, and the off-diagonal entries of the projected gradient are -b e/3, twice.
    """
    f = no_strict_complementarity()
    assert float(slope(f.problem, f.x[None])) == 0 and float(objective(f.problem, f.x[None])) == f.minimum
    for e in (1e-1, 3e-2, 1e-2):
        a = 1.0
        for _ in range(60):
            a = 1 + 4 * e * e / (3 * a)
        w = np.array([[a, e, e, e * e / a]])
        gap, least = float(objective(f.problem, w)) - f.minimum, float(slope(f.problem, w))
        assert gap == pytest.approx(e**4 / 6, rel=10 * e * e, abs=1e-15)
        assert least == pytest.approx(np.sqrt(2) / 3 * e**3, rel=10 * e * e)


def test_a_sharp_objective_is_reached_and_has_exponent_zero() -> None:
    """At the start of the decrease the subgradient does not fall with the gap; the end is exact, so no exponent is fitted there."""
    known = sharp()
    _, gaps, subgradients = along(ProximalGradient(0.45), known.problem, [2.0], 40, known.minimum)
    assert gaps[-1] == 0 and subgradients[-1] == 0, "finite"
    x = known.x + np.geomspace(1e-1, 1e-8, 60)[:, None, None]
    found = kl_exponent(objective(known.problem, x) - known.minimum, slope(known.problem, x))
    assert abs(found.theta) < 0.02 and "finite" in found.kinds and "sublinear" not in found.kinds


@pytest.mark.parametrize(
    "known, theta, rounds",
    [(sharp(), 0.5, 60), (power(2), 0.5, 60), (power(4), 0.75, 3000)],
    ids=["sharp", "square", "power"],
)
def test_the_potential_has_the_exponent_of_f_plus_h_or_one_half(known, theta, rounds) -> None:
    """FEDSLR-N7 and FEDSLR-N8: Theorem 2's case theta = 0 is never met, finite convergence of f + h notwithstanding."""
    f = known.problem
    # for convex clients any step below 1/L will do, and a large one leaves more rounds before rounding
    eta = (0.9 if known.theta == 0 else 0.45) / float(constant(f, "L"))
    measured = {"D": fedslr(eta), "slope": fedslr_subgradient(eta)}
    start = np.array([2.0]) if known.theta == 0 else np.array([0.9])
    trace = run(FedSLR(eta), f, start, rounds, metrics=measured)
    found = kl_exponent(trace["D"][1:] - known.minimum, trace["slope"][1:], error=1e-16, skip=0.2)
    assert found.low - 1e-6 <= theta <= found.high + 1e-6, str(found)
    assert found.high - found.low < 0.05 and "finite" not in found.kinds


# ---- noise, faults, refusals --------------------------------------------------------------------------------------


def test_the_interval_covers_under_noise() -> None:
    """Multiplicative noise of 20 % on both sequences, 200 draws: coverage is at least nominal less sampling error."""
    rng, hits = np.random.default_rng(0), 0
    gaps = np.geomspace(1, 1e-8, 400)
    for _ in range(200):
        noisy = gaps * np.exp(0.2 * rng.standard_normal(400))
        found = kl_exponent(noisy, gaps**0.75 * np.exp(0.2 * rng.standard_normal(400)))
        hits += found.low <= 0.75 <= found.high
    assert hits >= 184  # 95 % of 200 less two standard deviations


def test_the_interval_covers_a_bias_that_halves() -> None:
    """Local exponents 0.75 + b gap^a, of either sign; over five decades the bias halves between the halves when a > 0.12."""
    gaps = np.geomspace(1, 1e-10, 400)
    for power_of_bias in (0.15, 0.25, 0.5):
        for size in (-0.3, 0.3):
            subgradients = gaps**0.75 * np.exp(size * gaps**power_of_bias)
            found = kl_exponent(gaps, subgradients)
            assert found.low <= 0.75 <= found.high, (power_of_bias, size, str(found))


def test_a_wrong_minimum_is_noticed_or_misleads() -> None:
    """Planted fault: F* too low by 1e-4 puts a floor under the gap, and the exponent falls apart."""
    known = power(4)
    _, gaps, subgradients = along(FedSLR(0.08), known.problem, [0.9], 3000, 0.0)
    right, wrong = kl_exponent(gaps, subgradients), kl_exponent(gaps + 1e-4, subgradients)
    assert abs(right.theta - 0.75) < 1e-6
    assert not wrong.low <= 0.75 <= wrong.high or wrong.high - wrong.low > 0.2
    with pytest.raises(InvalidInput, match="give a better"):
        kl_exponent(gaps + 1e-4, subgradients, error=1e-4)


def test_too_little_to_go_on_is_refused() -> None:
    gaps = np.geomspace(1, 1e-8, 100)
    for bad, message in (
        ((gaps, gaps[:-1]), "of one shape"),
        ((gaps[:5], gaps[:5]), "5 rounds with a gap"),
        ((np.geomspace(1, 0.5, 100), np.geomspace(1, 0.5, 100)), "0.3 decades"),
        ((np.repeat([1.0, 1e-3, 1e-6], 10), np.repeat([1.0, 1e-2, 1e-4], 10)), "distinct gaps"),
    ):
        with pytest.raises(InvalidInput, match=message):
            kl_exponent(*bad)


# ---- what exponents imply -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "kinds"),
    [
        ((0.7, 0.8), "sublinear"),
        ((0.4, 0.6), "linear/sublinear"),
        ((0.1, 0.4), "linear"),
        ((-0.1, 0.6), "finite/linear/sublinear"),
    ],
)
def test_an_exponent_is_told_with_its_interval_and_the_rates_it_leaves_open(ends, kinds) -> None:
    low, high = ends
    assert str(Exponent((low + high) / 2, low, high, 0.0, 3.21, 5)) == (
        f"{(low + high) / 2:.4g} [{low}, {high}], {kinds}, 3.2 decades of the gap"
    )


def test_implied_rates() -> None:
    assert implied_rate(0).kind == "finite"
    assert implied_rate(0.25).kind == implied_rate(0.5).kind == "linear" and implied_rate(0.5).gap is None
    slow = implied_rate(0.75)
    assert (slow.kind, slow.gap, slow.subgradient, slow.distance) == ("sublinear", -2.0, -1.5, -0.5)
    for bad in (-0.1, 1.0):
        with pytest.raises(InvalidInput, match=r"lies in \[0, 1\)"):
            implied_rate(bad)
        with pytest.raises(InvalidInput, match=r"lies in \[0, 1\)"):
            kl_constant([1.0], [1.0], bad)


@pytest.mark.parametrize("p", [4, 6, 8])
def test_powers_converge_at_the_implied_rate_and_not_at_the_printed_one(p) -> None:
    """FedSLR, (13): the printed exponent -(4 theta - 2) is faster than what happens for p >= 6 (FEDSLR-T2c)."""
    known = power(p)
    rounds, gaps, subgradients = along(FedSLR(0.25 / (p - 1)), known.problem, [0.9], 4000, 0.0)
    rate = implied_rate(known.theta)
    late = slice(len(rounds) // 2, None)
    assert fit_exponent(rounds, subgradients, late).rate == pytest.approx(rate.subgradient, abs=0.02)
    assert fit_exponent(rounds, gaps, late).rate == pytest.approx(rate.gap, abs=0.03)
    printed, repaired = -(4 * known.theta - 2), -1 / (4 * known.theta - 2)
    assert rate.subgradient <= repaired + 1e-12, "the repaired bound holds"
    assert (rate.subgradient > printed) == (p >= 6)


def test_constants_make_the_inequality_hold_with_equality_somewhere() -> None:
    known = power(4)
    _, gaps, subgradients = along(FedSLR(0.08), known.problem, [0.9], 500, 0.0)
    c = kl_constant(gaps, subgradients, 0.75)
    ratio = gaps**0.75 / (c * 0.25 * subgradients)
    assert ratio.max() == pytest.approx(1, rel=1e-12)
    # (p gap)^(3/4) = |grad|, so c = 4^(-3/4)/(1/4)
    assert c == pytest.approx(4 ** (1 - 0.75), rel=1e-9)
    assert kl_constant([0.0], [0.0], 0.5) == 0
    assert kl_constant([1.0], [0.0], 0.5) == np.inf


def test_subgradients_vanish_on_the_robust_instance() -> None:
    """FedSLR, Theorem 1 (9), on an instance that meets A1 to A3: T = 400, x = 0.45."""
    f = robust_low_rank_regression().problem
    method = FedSLR(0.45 / float(constant(f, "L")))
    _, _, subgradients = along(method, f, np.zeros(f.d), 400, 0.0)
    assert subgradients[-1] < 1e-3 * subgradients[1]
    close(np.minimum.accumulate(subgradients)[-1], subgradients[-1], 1e-6)

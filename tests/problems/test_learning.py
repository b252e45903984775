"""Exact probabilities and constants of SAFARI's learning theory, against enumeration, quadrature and simulation."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from fedtheory.core.errors import InvalidInput
from problems.learning import FiniteClass, HiddenPoint, binomial_at_most
from problems.thresholds import (
    Law,
    NoisyThreshold,
    ThinnedThreshold,
    mean_worst_error,
    mixture,
    relatedness,
    uniform,
)

F = Fraction

# ---- the impossibility construction -------------------------------------------------------------------------------


@given(trials=st.integers(0, 30), k=st.integers(-1, 31), percent=st.integers(0, 99))
def test_binomial_tails_are_sums_of_binomial_terms(trials, k, percent) -> None:
    p = F(percent, 100)
    expected = sum((comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(min(k, trials) + 1)), F(0))
    assert binomial_at_most(trials, p, k) == expected


def played(case: HiddenPoint, learner, target) -> Fraction:
    """P[risk > epsilon] of a learner by enumeration of all samples: ``learner(training set)`` is its chance to say +1 on x_2.

    The participation process keeps as many copies of x_1 as there are.
    """
    total, keep = case.clients * case.samples, case.active * case.samples
    failed = F(0)
    for sample in product((1, 2), repeat=total):
        chance = F(1)
        for x in sample:
            chance *= case.mass if x == 2 else 1 - case.mass
        kept = sorted(sample)[:keep]
        seen = [(x, 1 if x == 1 else target) for x in kept]
        says_plus = learner(seen)
        wrong = 1 - says_plus if target == 1 else says_plus
        assert case.mass > case.epsilon  # whoever errs on x_2 has a risk above epsilon
        failed += chance * wrong
    return failed


def erm(says):
    """The label of x_2 where it was seen; ``says`` (the chance of +1) where it was not."""

    def learner(seen):
        labels = [y for x, y in seen if x == 2]
        return F(labels[0] == 1) if labels else F(says)

    return learner


@pytest.mark.parametrize("counts", [(2, 1, 1), (2, 1, 2), (3, 1, 2), (3, 2, 2), (1, 0, 3), (5, 4, 1)])
def test_probabilities_of_failure_are_those_of_enumeration(counts) -> None:
    case = HiddenPoint(*counts)
    for tie in (0, 1):  # deterministic learners
        assert max(played(case, erm(tie), target) for target in (1, -1)) == case.failure()
    for target in (1, -1):
        assert played(case, erm(F(1, 2)), target) == case.failure("fair coin")


@pytest.mark.parametrize(
    ("counts", "value"), [((2, 1, 1), 0.9375), ((10, 5, 20), 1.000), ((10, 9, 1), 0.914), ((10, 9, 20), 0.9988)]
)
def test_probabilities_of_the_catalogue(counts, value) -> None:
    """SAFARI-T1 (b)."""
    case = HiddenPoint(*counts)
    assert float(case.failure()) == pytest.approx(value, abs=5e-4)
    assert case.failure("fair coin") == case.failure() / 2


def test_the_theorem_s_one_in_twenty_is_far_below_the_truth() -> None:
    """SAFARI-T1 (c), T1a: the strict event has probability at least 1/2, equal to it only for one client with one sample."""
    least = {}
    for clients in range(1, 13):
        for active in range(clients):
            for samples in (1, 2, 5, 20):
                case = HiddenPoint(clients, active, samples)
                least[clients, active, samples] = case.hidden(strictly=True)
                chernoff = exp(-float(1 - case.omega) * clients * samples / 6)
                assert 1 - case.hidden(strictly=True) <= chernoff <= 17 / 20
    assert min(least.values()) == least[1, 0, 1] == F(1, 2)
    assert [counts for counts, value in least.items() if value == F(1, 2)] == [(1, 0, 1)]


def test_more_samples_do_not_help_when_samples_are_selected_but_do_when_clients_are() -> None:
    """SAFARI-T1d and GAP-2."""
    cases = [HiddenPoint(10, 5, n) for n in (1, 5, 20)]
    assert [float(c.failure()) for c in cases] == pytest.approx([0.980, 0.99996, 1.0], abs=5e-4)
    by_clients = [float(c.hidden_by_clients()) for c in cases]
    assert by_clients[:2] == pytest.approx([0.980, 0.064], abs=5e-4) and by_clients[2] == pytest.approx(8e-11, rel=0.1)
    assert cases[0].failure() == cases[0].hidden_by_clients()  # a client is a sample
    assert HiddenPoint(2, 1, 2000).failure() > F(99, 100)


def test_clients_who_saw_one_point_only_counted_by_enumeration() -> None:
    case, found = HiddenPoint(3, 2, 2), F(0)
    for sample in product((1, 2), repeat=6):
        chance = F(1)
        for x in sample:
            chance *= case.mass if x == 2 else 1 - case.mass
        found += chance * (sum(set(sample[2 * i : 2 * i + 2]) == {1} for i in range(3)) >= 2)
    assert found == case.hidden_by_clients()


def test_server_samples_repair_it() -> None:
    """SAFARI-T1-SAFL: 11 / 17 samples at omega = 1/2, 59 / 90 at 0.9; X6: the clients' samples do not enter."""
    for counts, needed in (((2, 1, 1), (11, 17)), ((10, 9, 1), (59, 90))):
        case = HiddenPoint(*counts)
        assert tuple(case.server_samples_for(F(d, 100)) for d in (5, 1)) == needed
        assert case.failure_with_server(needed[0]) <= F(5, 100) < case.failure_with_server(needed[0] - 1)
    found = [float(HiddenPoint(5, 4, 1).failure_with_server(n)) for n in (5, 20, 50)]
    assert found == pytest.approx([0.590, 0.122, 0.0052], abs=5e-4)


def test_counts_that_make_no_sense_are_refused() -> None:
    for counts in ((2, 2, 1), (2, -1, 1), (2, 1, 0)):
        with pytest.raises(InvalidInput, match="expected 0 <= active < clients"):
            HiddenPoint(*counts)
    with pytest.raises(InvalidInput, match=r"delta must lie in \(0, 1\), got 0"):
        HiddenPoint(2, 1, 1).server_samples_for(F(0))


# ---- finite classes -----------------------------------------------------------------------------------------------

MISSPECIFIED = FiniteClass(
    hypotheses=((1, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0)), positive=(F(1), F(0), F(1))
)  # thresholds on three points
TARGET = (F(2, 10), F(5, 10), F(3, 10))
POOLED = (F(6, 10), F(2, 10), F(2, 10))


def test_pooling_hurts_a_misspecified_class() -> None:
    """SAFARI-X7: the pooled minimiser is worse by 0.3 on the target, and no positive beta relates the laws."""
    f = MISSPECIFIED
    assert f.risks(TARGET) == [F(5, 10), F(7, 10), F(2, 10), F(5, 10)]
    assert f.risks(POOLED) == [F(2, 10), F(8, 10), F(6, 10), F(8, 10)]
    assert f.excess(TARGET)[f.best(POOLED)] == F(3, 10)
    assert f.noise(TARGET, 1) == F(7, 3)
    assert f.relatedness(TARGET, POOLED, 1) == f.relatedness(TARGET, POOLED, 0.1) == inf
    assert f.relatedness(TARGET, POOLED, 0) == max(
        abs(a - b) for a, b in zip(f.excess(TARGET), f.excess(POOLED), strict=True)
    )


@given(st.data())
def test_constants_are_the_least_that_hold(data) -> None:
    """Assumptions 1 and 2 hold with the alphas returned, with equality somewhere."""
    weights = st.lists(st.integers(1, 9), min_size=3, max_size=3)
    p, q = (tuple(F(w, sum(ws)) for w in ws) for ws in (data.draw(weights), data.draw(weights)))
    eta = tuple(F(data.draw(st.integers(0, 4)), 4) for _ in range(3))
    f = FiniteClass(tuple(product((0, 1), repeat=3)), eta)
    star = f.hypotheses[f.best(p)]
    for h, risk in zip(f.hypotheses, f.risks(p), strict=True):
        by_hand = sum(w * ((1 - y) if label else y) for w, y, label in zip(p, eta, h, strict=True))
        assert risk == by_hand
    apart = [sum(w for w, a, b in zip(p, h, star, strict=True) if a != b) for h in f.hypotheses]
    alpha = f.noise(p, 1)
    if alpha < inf:
        assert all(a <= alpha * e for a, e in zip(apart, f.excess(p), strict=True))
        assert any(a == alpha * e for a, e in zip(apart, f.excess(p), strict=True))
    else:
        assert any(e == 0 < a for a, e in zip(apart, f.excess(p), strict=True))
    alpha = f.relatedness(p, q, 1)  # the class holds the Bayes rule: X5, with D what makes q of p
    gaps = [(abs(a - b), b) for a, b in zip(f.excess(p), f.excess(q), strict=True)]
    assert alpha < inf and all(gap <= alpha * e for gap, e in gaps) and any(gap == alpha * e for gap, e in gaps)


def test_hypotheses_must_label_every_point() -> None:
    with pytest.raises(InvalidInput, match="one label for each of the 2 points"):
        FiniteClass(((1,),), (F(1), F(0)))


# ---- thresholds ---------------------------------------------------------------------------------------------------


def worst_ratio(target: Law, pooled: Law, star: float, low: float, high: float) -> float:
    """The supremum over a fine grid."""
    ratios = [0.0]
    for t in np.linspace(float(low), float(high), 401):
        p, q = float(target.mass(t, star)), float(pooled.mass(t, star))
        if q > 1e-12:
            ratios.append(abs(p - q) / q)
        elif p > 1e-9:
            return inf
    return max(ratios)


def test_safaris_example_holds_inside_the_support_only() -> None:
    """SAFARI-A2a: P = U[0,1], Q = U[0,1/2], t* = 0.4: alpha = 1/2 for t in [0, 1/2], 2 for t in [0, 1]; none for t* = 1/2."""
    p, q = uniform(0, 1), uniform(0, F(1, 2))
    assert relatedness(p, q, F(2, 5), 0, F(1, 2)) == 1 - F(1, 2)
    assert relatedness(p, q, F(2, 5), 0, 1) == 2
    assert relatedness(p, q, F(1, 2), 0, 1) == inf
    assert (p.mass(1, F(2, 5)), q.mass(1, F(2, 5))) == (F(3, 5), F(1, 5))


def test_relatedness_of_mixtures() -> None:
    """SAFARI-X5: bounded where the clients cover t*, lambda_1/lambda_2 where they do not."""
    p, d = uniform(0, 1), uniform(F(3, 10), F(7, 10))
    inside = [relatedness(p, mixture(1 - l2, d, p), F(1, 2), 0, 1) for l2 in (F(1, 2), F(1, 10), F(1, 100), F(1, 1000))]
    assert [float(a) for a in inside] == pytest.approx([0.43, 0.57, 0.598, 0.600], abs=5e-3)
    outside = [relatedness(p, mixture(1 - F(1, l), d, p), F(9, 10), 0, 1) for l in (2, 10, 100, 1000)]
    assert outside == [1, 9, 99, 999]


laws = st.builds(
    lambda cuts, heights: _law(sorted(cuts), heights),
    st.sets(st.integers(1, 19), min_size=2, max_size=4),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
)


def _law(cuts, heights) -> Law:
    edges = (F(0), *(F(c, 20) for c in cuts), F(1))
    heights = [*heights[: len(edges) - 2], 1]
    total = sum(h * (b - a) for h, a, b in zip(heights, edges, edges[1:], strict=False))
    return Law(edges, tuple(h / total for h in heights))


@given(p=laws, q=laws, star=st.integers(1, 19))
@settings(max_examples=30)
def test_relatedness_is_the_supremum_over_thresholds(p, q, star) -> None:
    exact, seen = relatedness(p, q, F(star, 20), 0, 1), worst_ratio(p, q, star / 20, 0, 1)
    if exact == inf:
        assert seen == inf or seen > 100
    else:
        assert seen <= float(exact) * (1 + 1e-9) + 1e-9
        assert seen >= float(exact) * 0.98 - 1e-9  # the grid comes close to the supremum, not onto it


@given(weight=st.integers(1, 99), star=st.integers(1, 19), p=laws, d=laws)
def test_pooled_excess_is_linear_and_alpha_bounded(weight, star, p, d) -> None:
    """X5: eps_Q = lambda_1 eps_D + lambda_2 eps_P, hence alpha <= max(1, lambda_1/lambda_2)."""
    l1, t = F(weight, 100), F(star, 20)
    q = mixture(l1, d, p)
    for x in (F(0), F(1, 3), F(1)):
        assert q.mass(x, t) == l1 * d.mass(x, t) + (1 - l1) * p.mass(x, t)
    assert relatedness(p, q, t, 0, 1) <= max(F(1), l1 / (1 - l1))


@pytest.mark.parametrize("kappa", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("star", [0.5, 0.85, 0.0])
def test_noise_constants_against_quadrature(kappa, star) -> None:
    f = NoisyThreshold(kappa, star)
    alpha, beta = f.noise()
    ratios = []
    for t in np.linspace(0, 1, 101):
        between = quad(
            lambda x: abs(2 * f.positive(x) - 1), min(t, star), max(t, star), points=[abs(star - 0.5)], limit=200
        )[0]
        assert f.excess(t) == pytest.approx(between, abs=1e-9)
        if abs(t - star) > 1e-9:
            ratios.append(abs(t - star) / f.excess(t) ** beta)
    assert max(ratios) == pytest.approx(alpha, rel=1e-12)
    if star == 0.5:
        assert alpha == pytest.approx((kappa / 2 ** (kappa - 1)) ** (1 / kappa), rel=1e-14)


def empirical_minimisers(f: NoisyThreshold, n: int, repetitions: int, seed: int) -> np.ndarray:
    """Excess errors of exact threshold minimisation on samples of size n."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random((repetitions, n)), axis=-1)
    y = rng.random((repetitions, n)) < f.positive(x)
    # mistakes of the threshold before sample k: positives below it, negatives from it on
    positives = np.concatenate([np.zeros((repetitions, 1)), np.cumsum(y, axis=-1)], axis=-1)
    negatives = (~y).sum(axis=-1, keepdims=True) - np.concatenate(
        [np.zeros((repetitions, 1)), np.cumsum(~y, axis=-1)], axis=-1
    )
    k = np.argmin(positives + negatives, axis=-1)
    edges = np.concatenate([np.zeros((repetitions, 1)), x, np.ones((repetitions, 1))], axis=-1)
    t = (np.take_along_axis(edges, k[:, None], -1) + np.take_along_axis(edges, k[:, None] + 1, -1))[:, 0] / 2
    return np.array([f.excess(v) for v in t])


@pytest.mark.parametrize("kappa", [1.0, 2.0])
def test_the_noise_exponent_sets_the_rate(kappa) -> None:
    """SAFARI-T2 (i): slope -1/(2 - beta) = -kappa/(2 kappa - 1) in the sample size."""
    sizes = [200, 800, 3200]
    means = [empirical_minimisers(NoisyThreshold(kappa), n, 400, 1).mean() for n in sizes]
    slope = np.polyfit(np.log(sizes), np.log(means), 1)[0]
    assert slope == pytest.approx(-kappa / (2 * kappa - 1), abs=0.08)  # three times its spread over seeds


@pytest.mark.parametrize("g", [0.0, 0.5, 1.0, 3.0])
def test_thinned_thresholds(g) -> None:
    """SAFARI-T2 (ii): excess errors by quadrature; alpha holds everywhere and is approached at t*."""
    f = ThinnedThreshold(g)
    alpha, beta = f.relatedness()
    for t in (0.0, 0.2, 0.49, 0.7, 1.0):
        p, q = f.excess(t)
        mass = quad(lambda x: (1 + g) * abs(2 * (x - 0.5)) ** g, min(t, 0.5), max(t, 0.5))[0]
        assert q == pytest.approx(mass, abs=1e-12) and p == abs(t - 0.5)
        assert abs(p - q) <= alpha * q**beta + 1e-15
        if g > 0 and t != 0.5:  # the ratio is alpha (1 - |2 (t - 1/2)|^g): the supremum is the limit at t*
            assert abs(p - q) / q**beta == pytest.approx(alpha * (1 - abs(2 * t - 1) ** g), abs=1e-12)


def test_worst_consistent_thresholds_against_simulation() -> None:
    """SAFARI-T2 (iii): client data helps where it covers t*, and nowhere else; 1.5/(n_T + n_S d(t*)) to leading order."""
    p, d = uniform(0, 1), uniform(F(3, 10), F(7, 10))
    rng = np.random.default_rng(0)
    for star in (0.5, 0.9):
        for n_s in (0, 100):
            data = np.concatenate([rng.random((4000, 50)), 0.3 + 0.4 * rng.random((4000, n_s))], axis=-1)
            left = star - np.where(data < star, data, 0).max(axis=-1)
            right = np.where(data > star, data, 1).min(axis=-1) - star
            worst = np.maximum(left, right)
            exact = mean_worst_error(star, [(p, 50), (d, n_s)])
            assert abs(worst.mean() - exact) <= 4 * worst.std() / np.sqrt(4000)
    covered = [mean_worst_error(0.5, [(p, 50), (d, n)]) for n in (0, 100, 1000, 10_000)]
    assert covered == pytest.approx([1.5 / (50 + 2.5 * n) for n in (0, 100, 1000, 10_000)], rel=0.03)
    aside = [mean_worst_error(0.9, [(p, 50), (d, n)]) for n in (0, 10_000)]
    assert aside[1] >= aside[0] * 0.99  # no gain at all


def test_one_sample_leaves_its_larger_side() -> None:
    """Closed form: n = 1, t* = 1/2, the error is 1/2 whatever the sample."""
    assert mean_worst_error(0.5, [(uniform(0, 1), 1)]) == pytest.approx(0.5, rel=1e-12)
    assert mean_worst_error(0.25, [(uniform(0, 1), 0)]) == pytest.approx(0.75, rel=1e-12)


BAD = {
    "edges": lambda: Law((0, 0), (1,)),
    "heights": lambda: Law((0, 1), (1, 1)),
    "negative": lambda: Law((0, 1, 2), (2, -1)),
    "mass": lambda: Law((0, 1), (2,)),
    "kappa": lambda: NoisyThreshold(0.5),
    "star": lambda: NoisyThreshold(1, 2),
    "g": lambda: ThinnedThreshold(-1),
}


@pytest.mark.parametrize("name", BAD)
def test_settings_that_make_no_sense_are_refused(name) -> None:
    with pytest.raises(InvalidInput):
        BAD[name]()

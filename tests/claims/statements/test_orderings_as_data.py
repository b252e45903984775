"""Orderings as data: the rule is the statement's, an interval over draws decides, and noise is not told as an ordering."""

import numpy as np
import pytest
from evidence import judged

from fedtheory.claims.context import Context
from fedtheory.claims.statements.ordering import Ordering, Side
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Fixed, Uniform
from problems.logistic import logistic
from problems.quadratics import random_quadratics


def models_apart(delta):
    """Logistic regression whose clients' models are apart by delta; the same features and noise for every delta."""

    def draw(rng):
        n, m, d = 10, 100, 6
        features = rng.standard_normal((n, m, d))
        common, own = rng.uniform(-3, 3, d), rng.uniform(-3, 3, (n, d))
        noise = rng.logistic(size=(n, m))
        model = common + delta * (own - common)
        labels = np.where((features @ model[..., None])[..., 0] + noise > 0, 1.0, -1.0)
        return logistic(list(features), list(labels), beta=0.1)

    return draw


def skipping(delta):
    return Side(
        "fedpd",
        "eta = 3/(10*L), lr = 3/(10*L), steps = 4, p = 2/5",
        problem=models_apart(delta),
        name=f"delta = {delta}",
    )


def quadratics(rng):
    return random_quadratics(4, 3, seed=int(rng.integers(2**31)))


Q3 = {"metric": "stationarity", "rounds": 150, "summary": "late", "coins": 8, "draws": 12, "comparisons": 2}
DESCENT = {"metric": "gap", "rounds": 30, "draws": 10}


def gd(options, **more):
    return Side("gd", options, problem=quadratics, **more)


def test_heterogeneity_and_floors_of_skipping():
    near, middle, far = map(skipping, (0.1, 0.3, 1.0))
    found = [judged("ordering", Ordering(a, b, **Q3))[1][0].holds for a, b in ((near, middle), (middle, far))]
    assert found == [None, True]
    assert judged("ordering", Ordering(far, near, **Q3))[0] == "not reproduced"
    assert judged("ordering", Ordering(far, skipping(1.0), **Q3))[0] == "inconclusive"


def test_true_and_false_orderings():
    long, short = gd("lr = 1/L"), gd("lr = 1/(2*L)")
    assert judged("ordering", Ordering(long, short, **DESCENT))[0] == "reproduced"
    status, parts = judged("ordering", Ordering(short, long, **DESCENT))
    assert status == "not reproduced" and parts[0].margin < 0
    assert "0 of 10 draws" in parts[0].text and "level 0.99" in parts[0].text
    assert judged("ordering", Ordering(long, long, **DESCENT))[0] == "inconclusive"
    assert judged("ordering", Ordering(long, short, by=50, **DESCENT))[0] == "not reproduced"


def test_both_sides_of_a_draw_share_data_and_coins():
    some = gd("lr = 1/L")
    first, second = (Side("fedavg", "lr = 1/L", problem=quadratics, participation=Uniform(2)) for _ in range(2))
    asked = (3, 4), "gap", 5, 2
    assert np.array_equal(first.values(*asked), second.values(*asked))
    assert first.values(*asked).shape == (2, 6) and not np.array_equal(*first.values(*asked)[:, 1:])
    assert not np.array_equal(first.values((3, 5), "gap", 5, 2), first.values(*asked))
    assert np.array_equal(some.values(*asked)[0], some.values(*asked)[1])


def test_a_side_whose_clients_are_a_list_is_measured():
    asked = (3, 4), "gap", 5, 2
    some = [
        Side("fedavg", "lr = 1/L", problem=quadratics, participation=Fixed(who)) for who in ([0, 1], (0, 1), (0, 2))
    ]
    listed, same, other = (side.values(*asked) for side in some)
    assert np.array_equal(listed, same) and not np.array_equal(same, other)


def test_noise_is_told_as_an_ordering_as_rarely_as_the_level_says():
    rng = np.random.default_rng(0)
    stated = Ordering(gd("lr = 1/L"), gd("lr = 1/L"), level=0.9, **DESCENT)
    told = [stated.judged(*rng.standard_normal((2, 10))).holds is not None for _ in range(600)]
    assert 0.06 < np.mean(told) < 0.14
    strict = Ordering(gd("lr = 1/L"), gd("lr = 1/L"), level=0.9, comparisons=10, **DESCENT)
    told = [strict.judged(*rng.standard_normal((2, 10))).holds is not None for _ in range(600)]
    assert strict.shared_level == pytest.approx(0.99) and np.mean(told) < 0.03


def test_runs_that_diverge():
    good, bad = gd("lr = 1/L"), gd("lr = 8/L")
    longer = DESCENT | {"rounds": 500}
    assert judged("ordering", Ordering(good, bad, **longer))[0] == "reproduced"
    assert judged("ordering", Ordering(bad, good, **longer))[0] == "not reproduced"
    assert judged("ordering", Ordering(bad, bad, **longer))[0] == "inconclusive"
    some = np.where(np.arange(10) < 5, np.inf, 1.0)
    assert Ordering(good, bad, **longer).judged(np.zeros(10), some).holds is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draws": 9}, "at least 10 draws"),
        ({"level": 0.5}, "level"),
        ({"coins": 0}, "coins"),
        ({"by": -1}, "by how much"),
        ({"metric": "speed"}, "unknown metric"),
        ({"summary": "luckiest"}, "summed up"),
    ],
)
def test_rules_that_are_too_weak_are_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        Ordering(gd("lr = 1/L"), gd("lr = 1/L"), **(DESCENT | change))


def test_a_side_that_cannot_be_run_is_its_authors_mistake():
    stated = Ordering(gd("lr = 1/smoothness"), gd("lr = 1/L"), **DESCENT)
    with pytest.raises(InvalidInput, match="'smoothness' has no value; there are L, mu"):
        list(stated.findings(Context()))
    with pytest.raises(InvalidInput, match="no option"):
        gd("step = 1")

"""Splits over clients: partitions, proportions, sizes, shifts, refusals, pictures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.tools.pictures import draw_split
from problems.catalogue import PROBLEMS, DataFamily
from problems.datasets import Dataset, digits
from problems.mlp import perceptron
from problems.options import SPLITS, Options, divide
from problems.shifts import draw_gains, shift_brightness
from problems.splits import (
    by_classes,
    by_group,
    by_shards,
    by_sorted_label,
    clients_of,
    dirichlet,
    dirichlet_labels,
    draw_by_proportions,
    federate,
    hold_out,
    iid,
    label_counts,
)

#: the splits that use every sample once
PARTITIONS = {
    "iid": iid,
    "sorted": by_sorted_label,
    "shards": lambda labels, n, seed: by_shards(labels, n, max(1, len(labels) // (2 * n)), seed),
    "dirichlet": lambda labels, n, seed: dirichlet(labels, n, 0.1, seed),
    "group": lambda labels, n, seed: by_group(
        np.arange(len(labels)) // 2 if n <= len(labels) // 2 else labels, 1, seed
    ),
}
seeds = st.integers(0, 10**6)


def disjoint(parts) -> bool:
    together = np.concatenate(parts)
    return len(np.unique(together)) == len(together)


def same(ours, theirs) -> bool:
    return len(ours) == len(theirs) and all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


# ---- partitions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", PARTITIONS.values(), ids=PARTITIONS)
@given(seed=seeds, count=st.integers(1, 60), kinds=st.integers(1, 5), share=st.floats(0, 1))
@settings(max_examples=30)
def test_splits_partition_the_samples(split, seed, count, kinds, share) -> None:
    labels = np.random.default_rng(seed).integers(0, kinds, count)
    n = max(1, int(share * count))
    parts = split(labels, n, seed)
    assert all(len(part) > 0 and part.dtype == np.int64 and (np.diff(part) > 0).all() for part in parts)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(count))
    assert same(parts, split(labels, n, seed)), "the same seed splits the same way"


def test_splits_are_as_heterogeneous_as_they_say() -> None:
    labels = np.repeat([-1.0, 1.0], [300, 300])
    share = {
        name: [np.mean(labels[p] > 0) for p in split(labels, 10, 0)]
        for name, split in PARTITIONS.items()
        if name != "group"
    }
    assert set(share["sorted"]) == {0.0, 1.0}
    # 60 fair draws: standard deviation 0.065, so ten clients stay within four of them
    assert np.abs(np.array(share["iid"]) - 0.5).max() < 0.26
    assert np.std(share["dirichlet"]) > 3 * np.std(share["iid"])
    sizes = [len(p) for p in iid(labels, 7)]
    assert max(sizes) - min(sizes) <= 1
    assert not same(iid(labels, 7, 0), iid(labels, 7, 1)), "another seed, another split"


@given(seed=seeds, n=st.integers(1, 9), each=st.integers(1, 6))
@settings(max_examples=30)
def test_iid_with_a_size_takes_that_many_of_each(seed, n, each) -> None:
    parts = iid(np.zeros(60), n, seed, per_client=each)
    assert [len(part) for part in parts] == [each] * n and disjoint(parts)


@given(seed=seeds, n=st.integers(1, 6), shards=st.integers(1, 4))
@settings(max_examples=30)
def test_shards_hold_few_labels(seed, n, shards) -> None:
    """Classes are as large as shards or larger, so that a shard meets two of them at most."""
    assume(n * shards >= 3)
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(3), 4 * n * shards))
    parts = by_shards(labels, n, shards, seed)
    assert max(len(np.unique(labels[part])) for part in parts) <= 2 * shards
    assert {len(part) for part in parts} == {12 * n * shards // n}


# ---- classes a client ---------------------------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(1, 12), kinds=st.integers(1, 6), share=st.floats(0, 1))
@settings(max_examples=60)
def test_clients_hold_so_many_classes_evenly(seed, n, kinds, share) -> None:
    """Every client holds p classes, holders of a class differ by one, and so do its pieces (SAFARI, Section 5)."""
    p = 1 + int(share * (kinds - 1))
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(kinds), rng.integers(n, 3 * n + 1, kinds)))
    parts = by_classes(labels, n, p, seed)
    table = label_counts(labels, parts)
    assert ((table > 0).sum(axis=1) == p).all() and disjoint(parts)
    holders = (table > 0).sum(axis=0)
    assert holders.max() - holders.min() <= 1 and holders.sum() == n * p
    for column in table.T:
        pieces = column[column > 0]
        assert len(pieces) == 0 or pieces.max() - pieces.min() <= 1
    held = np.isin(labels, np.flatnonzero(holders))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.flatnonzero(held))


@given(seed=seeds, n=st.integers(1, 8), p=st.integers(1, 4), each=st.integers(4, 12))
@settings(max_examples=40)
def test_clients_of_one_size_hold_their_classes_evenly(seed, n, p, each) -> None:
    labels = np.repeat(np.arange(4), 8 * 12)  # enough for every client to want everything
    table = label_counts(labels, by_classes(labels, n, p, seed, per_client=each))
    assert (table.sum(axis=1) == each).all() and ((table > 0).sum(axis=1) == p).all()
    assert all(row[row > 0].max() - row[row > 0].min() <= 1 for row in table)


def test_as_many_clients_as_classes_with_one_each_is_a_permutation() -> None:
    labels = np.tile(np.arange(10), 30)
    orders = set()
    for seed in range(5):
        table = label_counts(labels, by_classes(labels, 10, 1, seed))
        assert sorted(table.argmax(axis=1)) == list(range(10)) and set(table.ravel()) == {0, 30}
        orders.add(tuple(table.argmax(axis=1)))
    assert len(orders) == 5


def test_the_first_clients_are_a_random_choice_of_clients() -> None:
    """Five clients of two classes hold all ten if they draw one after the other; a random five of ten seldom do."""
    labels = np.tile(np.arange(10), 30)
    covered = [(label_counts(labels, by_classes(labels, 10, 2, seed))[:5] > 0).any(axis=0).sum() for seed in range(200)]
    assert min(covered) < 8 and abs(np.mean(covered) - 10 * (1 - (5 / 10) * (4 / 9))) < 0.3


def test_all_classes_is_nearly_iid() -> None:
    labels = np.tile(np.arange(10), 30)
    assert (label_counts(labels, by_classes(labels, 10, 10)) == 3).all()


def test_safaris_sizes_on_mnist_do_not_exist_for_one_class_a_client() -> None:
    """MNIST has 5421 fives: ten clients of one class cannot have 6000 samples each; 5421 is the most."""
    labels = np.repeat(np.arange(10), [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949])
    with pytest.raises(
        InvalidInput, match=r"class \d has \d+ samples for 1 clients, which need 6000 each; ask for fewer"
    ):
        by_classes(labels, 10, 1, per_client=6000)
    with pytest.raises(InvalidInput, match="class 5 has 5421 samples for 1 clients, which need 5422 each"):
        by_classes(labels, 10, 1, per_client=5422)
    assert {len(part) for part in by_classes(labels, 10, 1, per_client=5421)} == {5421}


# ---- Dirichlet ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", ["without", "refill", "with"])
@given(seed=seeds, n=st.integers(1, 8), each=st.integers(1, 7), alpha=st.sampled_from([0.01, 0.3, 1.0, 100.0]))
@settings(max_examples=30)
def test_dirichlet_labels_give_every_client_its_size(draw, seed, n, each, alpha) -> None:
    labels = np.random.default_rng(seed).integers(0, 4, 56)
    parts = dirichlet_labels(labels, n, alpha, seed, per_client=each, draw=draw)
    assert [len(part) for part in parts] == [each] * n
    assert same(parts, dirichlet_labels(labels, n, alpha, seed, per_client=each, draw=draw))
    together = np.concatenate(parts)
    assert together.min() >= 0 and together.max() < 56
    if draw == "without":
        assert disjoint(parts)
    if draw == "refill":  # within a class no sample is used twice more than another
        used = np.bincount(together, minlength=56)
        for kind in np.unique(labels):
            assert np.ptp(used[labels == kind]) <= 1


def test_without_replacement_everything_can_be_used() -> None:
    """The last clients get what is left, whatever their proportions are."""
    labels = np.repeat(np.arange(3), 20)
    parts = dirichlet_labels(labels, 6, 0.01)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(60))


def test_a_sample_can_be_on_several_clients_only_with_replacement() -> None:
    labels = np.repeat(np.arange(2), 50)
    more = {draw: dirichlet_labels(labels, 10, 1.0, per_client=30, draw=draw) for draw in ("refill", "with")}
    assert all(not disjoint(parts) for parts in more.values())
    assert any(len(np.unique(part)) < len(part) for part in more["with"]), "twice on one client"
    with pytest.raises(InvalidInput, match="cannot split 100 samples over 10 clients; every client needs at least 30"):
        dirichlet_labels(labels, 10, 1.0, per_client=30)


@pytest.mark.parametrize("in_total", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_proportions_spread_as_the_dirichlet_distribution_does(alpha, in_total) -> None:
    """Var(q_k) = m_k (1 - m_k) / (A + 1), m_k the mean and A the sum of the parameters (A = 4 alpha, or alpha in total)."""
    labels = np.repeat(np.arange(4), [100, 200, 300, 400])
    m = np.array([0.1, 0.2, 0.3, 0.4]) if in_total else np.full(4, 0.25)
    total = alpha if in_total else 4 * alpha
    clients, each = 4000, 400
    counts = label_counts(
        labels, dirichlet_labels(labels, clients, alpha, 1, per_client=each, in_total=in_total, draw="with")
    )
    q = counts / each
    # given q, a share of 400 draws adds a variance of at most q(1-q)/400, whose mean is known, too
    spread = m * (1 - m) / (total + 1)
    expected = spread + (m * (1 - m) - spread) / each
    # 4000 clients: the mean is known to 5 standard errors, the variance to 5 sqrt((kurtosis - 1)/4000), kurtosis below 12 here
    np.testing.assert_allclose(q.mean(axis=0), m, atol=5 * np.sqrt(expected.max() / clients))
    np.testing.assert_allclose(q.var(axis=0), expected, rtol=5 * np.sqrt(11 / clients))


def test_the_two_conventions_agree_on_classes_of_one_size() -> None:
    """C classes of equal size: alpha for each is C alpha in total, up to the rounding of 1/C."""
    labels = np.tile(np.arange(4), 25)
    ours = dirichlet_labels(labels, 8, 0.5, 3)
    theirs = dirichlet_labels(labels, 8, 2.0, 3, in_total=True)
    other = dirichlet_labels(labels, 8, 0.5, 3, in_total=True)
    assert same(ours, theirs) and not same(ours, other)


@pytest.mark.parametrize("draw", ["without", "refill", "with"])
def test_classes_of_proportion_zero_are_never_drawn(draw) -> None:
    labels = np.repeat(np.arange(3), 40)
    table = label_counts(labels, draw_by_proportions(labels, np.array([[0, 1, 0], [0.5, 0, 0.5]]), 20, draw=draw))
    assert table[0].tolist() == [0, 20, 0] and table[1, 1] == 0 and table[1].sum() == 20


def test_test_sets_have_the_clients_own_proportions() -> None:
    """The same seed splits other samples of the same classes with the same proportions, or over the same holders."""
    train, test = hold_out(digits(), 497)
    shares = [
        label_counts(part.labels, dirichlet_labels(part.labels, 20, 0.1, 7, per_client=2000, draw="refill")) / 2000
        for part in (train, test)
    ]
    # the difference of two shares of 2000 draws: standard deviation below 0.0159, and 200 numbers stay within 4.5 of them
    np.testing.assert_allclose(*shares, atol=4.5 * 0.0159)
    held = [label_counts(part.labels, by_classes(part.labels, 10, 2, 7)) > 0 for part in (train, test)]
    np.testing.assert_array_equal(*held)


# ---- groups, test sets, clients -----------------------------------------------------------------------------------


@given(seed=seeds, many=st.integers(1, 12), share=st.floats(0, 1))
@settings(max_examples=40)
def test_groups_stay_whole(seed, many, share) -> None:
    rng = np.random.default_rng(seed)
    names = 10 * np.concatenate([np.arange(many), rng.integers(0, many, 30)])  # any numbers will do as names
    alone = by_group(names)
    assert [set(names[part]) for part in alone] == [{10 * k} for k in range(many)]
    n = 1 + int(share * (many - 1))
    parts = by_group(names, n, seed)
    owners = [set(names[part]) for part in parts]
    assert len(parts) == n and all(owners) and sum(map(len, owners)) == many
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(names)))


@given(seed=seeds, count=st.integers(1, 19))
@settings(max_examples=20)
def test_what_is_held_out_is_not_trained_on(seed, count) -> None:
    data = Dataset(np.arange(20.0)[:, None], np.zeros(20, dtype=int), "toy")
    rest, held = hold_out(data, count, seed)
    assert len(held) == count
    assert sorted([*rest.features[:, 0], *held.features[:, 0]]) == list(range(20))


def test_splits_and_test_sets_of_one_seed_are_drawn_apart() -> None:
    """Each purpose has numbers of its own: an iid split of what is left does not follow the shuffle that held it out."""
    data = Dataset(np.arange(2000.0)[:, None], np.zeros(2000, dtype=int), "toy")
    rest, _ = hold_out(data, 1, 5)
    first = iid(rest.labels, 2, 5)[0]
    # 1000 of 1999 places at random have the mean 999 and the standard deviation 577/sqrt(2000) = 13
    assert abs(first.mean() - 999) < 65 and abs(rest.features[first].mean() - 1000) < 65


def test_clients_get_their_samples() -> None:
    data = Dataset(np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 0]), "toy", classes=("a", "b"))
    clients = clients_of(data, [np.array([0, 3]), np.array([1])])
    np.testing.assert_array_equal(clients[0].features, [[0, 1], [6, 7]])
    assert clients[1].labels.tolist() == [1] and clients[1].classes == ("a", "b")
    with pytest.raises(InvalidInput, match="client 1 has no samples; give every client at least one or leave it out"):
        clients_of(data, [np.array([0]), np.array([], dtype=int)])
    for wrong in ([0, 4], [-1, 0]):
        with pytest.raises(InvalidInput, match=r"client 0 has samples -?[01] to [04]; toy has 0 to 3"):
            clients_of(data, [np.array(wrong)])


BAD = {
    "more clients than samples": (lambda: iid([1, -1], 3), "cannot split 2 samples over 3 clients; every client needs"),
    "no clients": (lambda: by_sorted_label([1, -1], 0), "over 0 clients"),
    "too many samples a client": (lambda: iid([1] * 9, 2, per_client=5), "needs at least 5: ask for fewer"),
    "no samples a client": (lambda: iid([1] * 9, 2, per_client=0), "at least one sample or shard a client, got 0"),
    "no shards": (lambda: by_shards([1] * 9, 2, 0), "at least one sample or shard a client, got 0"),
    "concentration": (
        lambda: dirichlet([1, -1], 2, float("nan")),
        "concentration must be positive and finite, got nan",
    ),
    "zero": (lambda: dirichlet_labels([1, -1], 2, 0), "concentration must be positive and finite, got 0"),
    "infinite": (lambda: dirichlet_labels([1, -1], 2, np.inf), "concentration must be positive and finite, got inf"),
    "too many classes": (lambda: by_classes([0, 1] * 4, 2, 3), "cannot give each client 3 classes; the data has 2"),
    "no classes": (lambda: by_classes([0, 1] * 4, 2, 0), "cannot give each client 0 classes"),
    "fewer samples than classes": (
        lambda: by_classes([0, 1] * 4, 2, 2, per_client=1),
        "1 samples a client cannot hold 2",
    ),
    "a small class": (lambda: by_classes([0] * 9 + [1], 4, 1), r"class 1 has 1 samples for 2 clients.*ask for fewer"),
    "shape of proportions": (
        lambda: draw_by_proportions([0, 1], np.ones((2, 3)) / 3, 1),
        r"proportions \(n, 2\) that sum",
    ),
    "sum of proportions": (lambda: draw_by_proportions([0, 1], np.ones((2, 2)), 1), "that sum to 1 a client"),
    "signs of proportions": (lambda: draw_by_proportions([0, 1], np.array([[2.0, -1.0]]), 1), "that sum to 1 a client"),
    "too many draws": (
        lambda: draw_by_proportions([0, 1], np.eye(2), 2),
        "cannot draw 2 samples for each of 2 clients",
    ),
    "no clients to draw for": (
        lambda: dirichlet_labels([0, 1], 0, 1.0, per_client=2, draw="with"),
        "at least one client and one sample a client, got 0 and 2",
    ),
    "way of drawing": (
        lambda: draw_by_proportions([0, 1], np.eye(2), 1, draw="twice"),  # type: ignore[arg-type]
        "draw must be 'without', 'refill' or 'with', got 'twice'",
    ),
    "groups": (lambda: by_group(np.array([1, 2, 1]), 3), "cannot put 2 groups on 3 clients"),
    "holding out": (lambda: hold_out(digits(), 1797), "cannot hold out 1797 of 1797 samples"),
    "no network on signs": (
        lambda: perceptron([Dataset(np.eye(2), np.array([1, -1]), "toy")], 3),
        "toy has labels without classes; expected labels 0, 1",
    ),
    "no hidden units": (lambda: perceptron([digits()], 0), "at least one hidden unit, got 0"),
    "no clients for a network": (lambda: perceptron([], 3), "at least one client"),
}


@pytest.mark.parametrize("name", BAD)
def test_impossible_requests_say_why(name) -> None:
    make, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        make()


# ---- shifts -------------------------------------------------------------------------------------------------------


def coloured(samples: int = 6, top: float = 0.2) -> Dataset:
    pixels = top * np.random.default_rng(0).random((samples, 4 * 4 * 3))
    return Dataset(pixels, np.zeros(samples, dtype=int), "colours", shape=(4, 4, 3), classes=("a", "b"))


def test_a_shift_multiplies_each_clients_channels() -> None:
    data = coloured()
    clients = [data.take(np.array([0, 1])), data.take(np.array([2, 3, 4]))]
    factors = draw_gains(2, 3, brightness=0.2, colour=0.3, seed=4)
    shifted = shift_brightness(clients, brightness=0.2, colour=0.3, seed=4)
    for before, after, factor in zip(clients, shifted, factors, strict=True):
        images = before.features.reshape(-1, 4, 4, 3)
        assert images.max() * factor.max() < 1, "nothing saturates here"
        np.testing.assert_array_equal(after.features.reshape(-1, 4, 4, 3), images * factor)
        assert after.labels.tolist() == before.labels.tolist() and after.shape == before.shape
        assert len(np.unique(np.round(factor, 12))) == 2, "one channel has a factor of its own"
    assert clients[0].features is not shifted[0].features


def test_brightness_moves_the_mean_by_its_factor_and_saturates_at_one() -> None:
    grey = Dataset(np.array([[0.0, 0.25, 0.5, 1.0]]), np.array([0]), "grey", shape=(2, 2))
    clients = [grey] * 30
    factor = draw_gains(30, 1, brightness=0.8)[:, 0]
    shifted = np.stack([c.features[0] for c in shift_brightness(clients, brightness=0.8)])
    np.testing.assert_allclose(shifted, np.minimum(factor[:, None] * grey.features, 1), rtol=1e-15)
    assert shifted.max() == 1 and shifted[:, 0].max() == 0, "black stays black"
    assert factor.min() < 0.7 and factor.max() > 1.4
    assert np.array_equal(shift_brightness([grey], brightness=0.0)[0].features, grey.features)


def test_factors_have_the_spread_that_was_asked_for() -> None:
    """log gains: brightness^2 on every channel, and colour^2 more on one of three, chosen uniformly."""
    n = 20000
    logs = np.log(draw_gains(n, 3, brightness=0.3, colour=0.5, seed=2))
    shared = np.median(logs, axis=1)  # two channels of three have no colour shift
    assert shared.std() == pytest.approx(0.3, rel=5 / np.sqrt(2 * n)) and abs(shared.mean()) < 5 * 0.3 / np.sqrt(n)
    own = (logs - shared[:, None]).sum(axis=1)
    assert own.std() == pytest.approx(0.5, rel=5 / np.sqrt(2 * n))
    chosen = np.bincount(np.abs(logs - shared[:, None]).argmax(axis=1)) / n
    np.testing.assert_allclose(chosen, 1 / 3, atol=5 * np.sqrt(2 / 9 / n))
    np.testing.assert_array_equal(draw_gains(5, 3, brightness=0.3, colour=0.5, seed=2), np.exp(logs[:5]))
    assert not np.array_equal(draw_gains(5, 3, brightness=0.3, seed=3), draw_gains(5, 3, brightness=0.3, seed=4))


def test_shifts_need_images_in_the_unit_interval() -> None:
    flat = Dataset(np.ones((2, 4)), np.zeros(2, dtype=int), "flat")
    with pytest.raises(InvalidInput, match="samples of flat are plain vectors; a shift of brightness needs images"):
        shift_brightness([flat], brightness=0.1)
    with pytest.raises(InvalidInput, match=r"client 1 has values from .* to 2; .* needs values in \[0, 1\]"):
        shift_brightness([coloured(), brighter()], brightness=0.1)
    with pytest.raises(InvalidInput, match="digits has grey images; a shift of colour needs several channels"):
        shift_brightness([digits()], brightness=0.1, colour=0.1)
    with pytest.raises(InvalidInput, match=r"expected standard deviations brightness >= 0 and colour >= 0, got -0.1"):
        shift_brightness([coloured()], brightness=-0.1)
    with pytest.raises(InvalidInput, match="no clients"):
        shift_brightness([], brightness=0.1)


def brighter() -> Dataset:
    data = coloured(1)
    data.features[0, 0] = 2
    return data


# ---- families on data ---------------------------------------------------------------------------------------------


def family(name: str) -> DataFamily:
    found = next(c for c in PROBLEMS if c.name == name)
    assert isinstance(found, DataFamily)
    return found


@pytest.mark.parametrize("split", [name for name in SPLITS if name != "group"])
def test_every_split_can_be_asked_for_by_name(split) -> None:
    f = family("digits-parity").build(Options(clients=5, split=split, l2=0.1))
    assert (f.n, f.d, f.l2) == (5, 64, 0.1)
    assert int(f.n_samples.sum()) in (1797, 1795)  # five clients of one size leave two samples


def test_groups_can_be_asked_for_by_name() -> None:
    data = Dataset(np.eye(6), np.ones(6, dtype=int), "writers", groups=np.array([5, 5, 6, 6, 7, 7]))
    assert sorted(map(len, divide(data, Options(clients=2, split="group")))) == [2, 4]
    with pytest.raises(NotAvailable, match="'digits' does not say which group a sample is of; choose another split"):
        divide(digits(), Options(split="group"))


def test_options_that_a_split_does_not_read_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"the split 'iid' does not use --concentration; these do: dirichlet, dirichlet-l"
    ):
        divide(digits(), Options(split="iid", concentration=0.1))
    with pytest.raises(
        InvalidInput, match="the split 'sorted' does not use --samples-per-client; these do: iid, classes, shards, dir"
    ):
        divide(digits(), Options(samples_per_client=3))
    with pytest.raises(InvalidInput, match="the split 'dirichlet' does not use --draw; these do: dirichlet-labels"):
        divide(digits(), Options(split="dirichlet", draw="with"))
    with pytest.raises(InvalidInput, match="unknown split 'halves'; known are sorted, iid, classes"):
        divide(digits(), Options(split="halves"))


def test_parity_splits_by_digit_and_learns_even_or_odd() -> None:
    o = Options(clients=10, split="classes", classes_per_client=1)
    parity = family("digits-parity")
    data = parity.load(o)
    split = parity.split(data, o)
    counts, names = parity.label_counts(data, split)
    assert names == list("0123456789") and ((counts > 0).sum(axis=1) == 1).all()
    f = parity.on(data, split, o)
    for client, digit in enumerate(counts.argmax(axis=1)):
        part = split[client]
        sign = 1 if digit % 2 == 0 else -1
        np.testing.assert_array_equal(f.signed[client, : len(part)], sign * data.features[part])


def test_a_shift_reaches_the_instance() -> None:
    plain, bright = (family("digits-mlp").build(Options(clients=3, brightness=b)) for b in (0.0, 0.4))
    factor = draw_gains(3, 1, brightness=0.4)[:, 0]
    np.testing.assert_allclose(bright.features, np.minimum(plain.features * factor[:, None, None], 1), rtol=1e-15)


def test_signs_are_the_classes_of_two_class_data() -> None:
    o = Options(clients=4, split="iid")
    cancer = family("breast-cancer")
    data = cancer.load(o)
    counts, names = cancer.label_counts(data, cancer.split(data, o))
    assert names == ["-1", "+1"] and counts.sum(axis=0).tolist() == [212, 357]


def test_a_network_on_data() -> None:
    f = family("digits-mlp").build(Options(clients=4, split="dirichlet", hidden=5))
    assert (f.n, f.hidden, f.classes, f.inputs, int(f.n_samples.sum())) == (4, 5, 10, 64, 1797)
    np.testing.assert_allclose(f.weights.sum(axis=-1), 1, rtol=1e-13)
    # the average over clients weighted by their samples is the network on all samples
    x = f.initial(0)
    whole = perceptron([digits()], 5)
    shares = f.n_samples / 1797
    np.testing.assert_allclose(
        (shares[:, None] * f.grad(x[None, :])).sum(axis=0), whole.grad(x[None, :])[0], atol=1e-14
    )


def test_federated_logistic_regression_takes_the_split() -> None:
    data = Dataset(np.eye(4), np.array([1, -1, 1, -1]), "toy")
    f = federate(data, iid(data.labels, 2), l2=0.1, beta=0.2)
    assert (f.n, f.d, f.l2, f.beta) == (2, 4, 0.1, 0.2)
    assert "toy" in f.name


# ---- pictures -----------------------------------------------------------------------------------------------------


def test_the_picture_shows_sizes_and_shares() -> None:
    counts = np.array([[2, 0, 2], [0, 5, 0]])
    figure = draw_split(counts, ["a", "b", "c"], "toy")
    sizes, shares, _ = figure.axes
    assert [bar.get_height() for bar in sizes.patches] == [4, 5] and sizes.get_title() == "toy"
    shown = shares.images[0].get_array()
    np.testing.assert_array_equal(shown.filled(0), [[0.5, 0], [0, 1], [0.5, 0]])
    np.testing.assert_array_equal(shown.mask, [[False, True], [True, False], [False, True]])
    assert [tick.get_text() for tick in shares.get_yticklabels()] == ["a", "b", "c"]


@pytest.mark.parametrize(("n", "kinds"), [(100, 10), (100, 100), (1, 2)])
def test_pictures_of_many_clients_are_drawn(tmp_path, n, kinds) -> None:
    labels = np.repeat(np.arange(kinds), 200)
    counts = label_counts(labels, dirichlet_labels(labels, n, 0.1, draw="refill"))
    figure = draw_split(counts, [str(k) for k in range(kinds)], "many")
    figure.savefig(tmp_path / "many.png", dpi=50)
    assert len(figure.axes[1].get_yticks()) <= 30, "names of classes do not run into each other"


def test_darkness_rises_with_the_share() -> None:
    """Lightness alone tells shares apart, so the picture can be read with any colour vision, and in grey."""
    image = draw_split([[1, 3]], ["a", "b"], "").axes[1].images[0]
    red, green, blue, _ = image.cmap(np.linspace(0, 1, 64)).T
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    assert (np.diff(luminance) < 0).all() and luminance[0] - luminance[-1] > 0.7

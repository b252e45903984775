"""Draws by address: independent of who else is asked for, of the batch, and of how a run got to its round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Bernoulli, Clients, Fixed, Schedule, Uniform
from fedtheory.core.philox import subsets
from fedtheory.core.randomness import Key, ScriptedKey

seeds = st.integers(0, 2**63)
rounds = st.integers(0, 10**9)


@given(seed=seeds, r=rounds)
def test_the_address_is_all_that_counts(seed, r) -> None:
    first = Key(seed, r).uniform("a", (3,))
    Key(seed, r).uniform("b", (100,))  # other draws do not matter
    np.testing.assert_array_equal(first, Key(seed, r).uniform("a", (3,)))
    for other in (Key(seed + 1, r), Key(seed, r + 1)):
        assert not np.array_equal(first, other.uniform("a", (3,)))
    assert not np.array_equal(first, Key(seed, r).uniform("b", (3,)))


@given(seed=st.integers(0, 10**6), r=rounds)
@settings(max_examples=20)
def test_rows_of_a_batch_draw_what_single_runs_draw(seed, r) -> None:
    batch = Key(np.array([[seed], [seed + 1], [seed]]), r)
    for k, alone in enumerate([seed, seed + 1, seed]):
        one = Key(alone, r)
        np.testing.assert_array_equal(batch.uniform("u", (2, 3))[k, 0], one.uniform("u", (2, 3)))
        np.testing.assert_array_equal(batch.client_uniform("c", 6, 5)[k, 0], one.client_uniform("c", 6, 5))
        np.testing.assert_array_equal(batch.subset("s", 9, 4)[k, 0], one.subset("s", 9, 4))
        assert bool(batch.coin("p", 0.5)[k, 0, 0, 0]) == bool(one.coin("p", 0.5)[0, 0])


@given(first=seeds, r=rounds, width=st.integers(1, 40), position=st.integers(0, 10**6))
@settings(max_examples=30)
def test_many_streams_are_numpys(first, r, width, position) -> None:
    """Words, uniform numbers and stretches in the middle of a stream are those of NumPy's generator, bit for bit."""
    many = np.array([first + k for k in range(70)] + [0, 2**63, 2**64 - 1], dtype=np.uint64)
    key = Key(many, r, "part/")
    numbers = key.uniform("a", (width,))
    stretches = key.client_uniform("c", 10**7, width, np.array([position, 3]))
    for k in [*range(0, len(many), 5), len(many) - 1]:
        one = Key(int(many[k]), r, "part/")
        np.testing.assert_array_equal(numbers[k], one.generator("a").random(width))
        np.testing.assert_array_equal(stretches[k], one.client_uniform("c", 10**7, width, np.array([position, 3])))


@given(first=seeds, block=st.integers(0, 10**8))
@settings(max_examples=10)
def test_coins_of_many_streams_are_the_same_asked_in_any_order(first, block) -> None:
    """A block of rounds is drawn at once; other streams and other purposes have blocks of their own."""
    many = np.array([first + k for k in range(9)], dtype=np.uint64)
    asked = [16 * block + k for k in (15, 0, 16, 7, 15)]
    for r in asked:
        for seed, purpose in ((many, "a"), (many, "b"), (many[::-1], "a")):
            alone = [Key(int(one), r).uniform(purpose) for one in seed]
            np.testing.assert_array_equal(Key(seed, r).uniform(purpose), alone)


@given(first=seeds, r=rounds, n=st.integers(1, 80), data=st.data())
@settings(max_examples=60)
def test_many_subsets_are_numpys(first, r, n, data) -> None:
    m = data.draw(st.integers(1, n))
    many = np.array([first + k for k in range(70)], dtype=np.uint64)
    drawn = Key(many, r).subset("s", n, m)
    for row, seed in zip(drawn, many.tolist(), strict=True):
        np.testing.assert_array_equal(row, np.sort(Key(seed, r).generator("s").choice(n, m, False, shuffle=False)))


@pytest.mark.parametrize(("n", "m"), [(10_001, 600), (10_001, 400), (3_000_000_000, 3), (2**32 + 5, 3)])
def test_subsets_of_many_are_numpys(n, m) -> None:
    """Where NumPy shuffles, where it does not, where it throws almost every third number away, and where it draws whole words."""
    seeds = np.arange(70)
    for seed, row in zip(seeds, Key(seeds, 1).subset("s", n, m), strict=True):
        np.testing.assert_array_equal(row, np.sort(Key(seed, 1).generator("s").choice(n, m, False, shuffle=False)))


def test_numbers_thrown_away_are_noticed() -> None:
    """A half word below 2^32 mod (j + 1) is not used: of {0, ..., 4} the half word 0 is one, as 2^32 mod 5 = 1."""
    words = np.array([[[0, 0, 0, 0]], [[1 << 32 | 1, 0, 0, 0]]], dtype=np.uint64)
    assert subsets(words, 5, 1)[1].tolist() == [True, False]


@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), m=st.integers(1, 60), width=st.integers(1, 11))
def test_a_clients_numbers_do_not_depend_on_the_others(seed, n, m, width) -> None:
    """Whether all stretches are drawn or only those asked for (few of many clients)."""
    key, m = Key(seed, 3), min(m, n)
    everyone = key.client_uniform("samples", n, width)
    index = np.random.default_rng(seed).permutation(n)[:m]
    np.testing.assert_array_equal(key.client_uniform("samples", n, width, index), everyone[index])


@given(seed=st.integers(0, 10**6), n=st.sampled_from([5, 40]))
@settings(max_examples=20)
def test_a_batch_of_subsets(seed, n) -> None:
    """Each row its own clients and its own seed; one seed with several rows of clients."""
    index = np.array([[3, 1], [0, 4]])
    several = Key(np.array([seed, seed + 1]), 2).client_uniform("samples", n, 3, index)
    one = Key(seed, 2).client_uniform("samples", n, 3, index)
    for k in range(2):
        np.testing.assert_array_equal(several[k], Key(seed + k, 2).client_uniform("samples", n, 3)[index[k]])
        np.testing.assert_array_equal(one[k], Key(seed, 2).client_uniform("samples", n, 3)[index[k]])


def test_uniform_numbers_are_uniform_and_independent_across_addresses() -> None:
    """Kolmogorov-Smirnov at the level 1e-6 of 4000 numbers, one from each round, and one from each seed."""
    for numbers in (
        np.array([Key(7, r).uniform("u") for r in range(4000)]),
        Key(np.arange(4000), 7).uniform("u"),
        Key(7, 0).client_uniform("c", 1000, 4).ravel(),
    ):
        assert stats.kstest(numbers, "uniform").pvalue > 1e-6
        # lag-one correlation of independent numbers: standard deviation 1/sqrt(4000) = 0.016
        assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 5 * 0.016


def test_subsets_are_uniform_without_replacement() -> None:
    drawn = Key(np.arange(6000), 0).subset("s", 4, 2)
    assert np.all(drawn[:, 0] < drawn[:, 1]) and drawn.min() == 0 and drawn.max() == 3
    counts = np.bincount(drawn[:, 0] * 4 + drawn[:, 1])[[1, 2, 3, 6, 7, 11]]  # the six pairs
    assert counts.sum() == 6000
    assert stats.chisquare(counts).pvalue > 1e-6


def test_coins() -> None:
    key = Key(0, 0)
    assert key.coin("c", 1) is True and key.coin("c", 0) is False and key.coin("c", 1.0) is True
    heads = Key(np.arange(4000), 0).coin("c", 0.3)
    assert heads.shape == (4000, 1, 1) and heads.dtype == bool
    assert abs(heads.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 4000)
    mixed = Key(np.arange(4000)[:, None], 0).coin("c", np.array([0.0, 1.0])[:, None, None])
    assert not mixed[:, 0].any() and mixed[:, 1].all()


def test_common_random_numbers_couple_coins() -> None:
    """One purpose, one number: a coin of higher probability shows heads whenever one of lower does."""
    key = Key(np.arange(500), 2)
    low, high = key.coin("c", 0.3), key.coin("c", 0.6)
    assert np.all(high | ~low) and (high & ~low).any()


def test_scripted_keys_prescribe_coins_and_refuse_draws() -> None:
    key = ScriptedKey(0, {"communicate": True})
    assert key.coin("communicate", 0.3) is True
    assert key.coin("anything", 1) is True, "certain coins need no script"
    with pytest.raises(
        InvalidInput, match=r"no outcome is prescribed for 'other'; pass coins=\{'other': True or False\}"
    ):
        key.coin("other", 0.5)
    for draw in ("uniform", "client_uniform", "subset"):
        with pytest.raises(InvalidInput, match="does not draw at random"):
            getattr(key, draw)
    with pytest.raises(AttributeError):
        _ = key.nothing


# ---- participation ------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), q=st.floats(0.05, 1.0))
@settings(max_examples=50)
def test_bernoulli_clients_are_the_heads(seed, n, q) -> None:
    key = Key(np.array([seed, seed + 1, seed + 2]), 0)
    clients = Bernoulli(q).draw(n, key)
    heads = key.uniform("participation", (n,)) < q
    place, taken = clients.positions
    np.testing.assert_array_equal(taken, heads)
    np.testing.assert_array_equal(clients.count(), heads.sum(axis=-1))
    assert clients.index.shape[-1] == max(1, heads.sum(axis=-1).max()), "no row is filled up further than needed"
    for row in range(3):
        assert len(set(clients.index[row])) == clients.index.shape[-1], "without repetition"
        for i in np.flatnonzero(heads[row]):
            assert clients.index[row, place[row, i]] == i


def test_uniform_fixed_and_schedule() -> None:
    key = Key(np.array([1, 2]), 5)
    assert Uniform(3).draw(7, key).index.shape == (2, 3)
    np.testing.assert_array_equal(Uniform(3).draw(7, key).count(), [3, 3])
    np.testing.assert_array_equal(Fixed((4, 0)).draw(5, key).index, [4, 0])
    np.testing.assert_array_equal(Schedule(lambda r: [r, r + 1]).draw(7, key).index, [5, 6])
    assert Uniform(7).draw(7, Key(0, 0)).index.tolist() == list(range(7))


def test_positions_invert_the_index() -> None:
    clients = Clients(5, np.array([[3, 1], [0, 4]]), np.array([[True, False], [True, True]]))
    place, taken = clients.positions
    np.testing.assert_array_equal(taken, [[False, False, False, True, False], [True, False, False, False, True]])
    assert place[0, 3] == 0 and place[1, 0] == 0 and place[1, 4] == 1
    np.testing.assert_array_equal(clients.count(), [1, 2])


@given(seed=seeds, r=rounds)
@settings(max_examples=20)
def test_a_generator_is_the_stream_of_its_address(seed, r) -> None:
    np.testing.assert_array_equal(Key(seed, r).generator("a").random(5), Key(seed, r).uniform("a", (5,)))
    assert not np.array_equal(Key(seed, r).generator("b").permutation(50), Key(seed, r).generator("a").permutation(50))


def test_a_generator_has_one_seed() -> None:
    with pytest.raises(InvalidInput, match=r"a generator has one seed, got an array of shape \(2,\)"):
        Key(np.array([1, 2]), 0).generator("a")

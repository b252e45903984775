"""The functions that every array goes through, on every library and on objects."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from helpers import Library, close

from fedtheory.core import arrays
from fedtheory.core.arrays import (
    along_batch,
    average,
    choose,
    clamp,
    fetch,
    fetched_once,
    gather,
    identity,
    inner,
    is_array,
    is_object,
    is_torch,
    like,
    moved_once,
    namespace,
    numbers_of,
    rows_times,
    scatter,
    solve_linear,
    spread,
    take,
    to_numpy,
)
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients

RNG = np.random.default_rng(0)
ONE = np.array([2, 0])
MANY = np.array([[2, 0], [1, 3], [3, 0]])


def test_average_keeps_the_client_axis(xp: Library) -> None:
    x = RNG.standard_normal((3, 4, 2))
    close(average(xp.array(x)), x.mean(axis=-2, keepdims=True), 1e-15)


def test_average_of_those_present(xp: Library) -> None:
    """The mean over the entries that are there; zero, not NaN, where nobody is."""
    x = RNG.standard_normal((3, 2, 5))
    present = np.array([[True, True], [False, True], [False, False]])
    got = to_numpy(average(xp.array(x), Clients(4, MANY, present)))
    close(got[0, 0], x[0].mean(axis=0), 1e-15)
    close(got[1, 0], x[1, 1], 1e-15)
    close(got[2, 0], np.zeros(5))


@pytest.mark.parametrize("index", [ONE, MANY], ids=["one", "rows"])
def test_gather_and_scatter_are_inverse(xp: Library, index) -> None:
    x = RNG.standard_normal((*index.shape[:-1], 4, 2))
    clients = Clients(4, index)
    picked = gather(xp.array(x), clients)
    close(picked, np.take_along_axis(x, index[..., None], axis=-2))
    expected = x.copy()
    np.put_along_axis(expected, index[..., None], 7 * np.take_along_axis(x, index[..., None], axis=-2), axis=-2)
    close(scatter(xp.array(x), clients, 7 * picked), expected)
    assert gather(x, None) is x and scatter(x, None, 2 * x)[0, 0].tolist() == (2 * x)[0, 0].tolist()


def test_scatter_leaves_those_absent(xp: Library) -> None:
    x, present = RNG.standard_normal((4, 2)), np.array([True, False])
    got = scatter(xp.array(x), Clients(4, ONE, present), xp.array(np.ones((2, 2))))
    expected = x.copy()
    expected[2] = 1
    close(got, expected)


def test_one_row_of_clients_for_a_batch_and_a_batch_of_clients_for_one_row(xp: Library) -> None:
    x = RNG.standard_normal((3, 4, 2))
    close(take(xp.array(x), ONE), x[:, ONE])
    close(take(xp.array(x[0]), MANY), x[0][MANY])
    server = xp.array(x[:, :1])
    assert take(server, MANY) is server, "a server's quantity stands for all clients"
    assert take(3.5, ONE) == 3.5 and take(None, ONE) is None


@pytest.mark.parametrize(
    "shapes", [((4, 3), (4, 3, 5)), ((2, 4, 3), (4, 3, 5)), ((2, 4, 3), (2, 4, 3, 5)), ((1, 3), (4, 3, 5))]
)
def test_rows_times_is_a_product_a_client(xp: Library, shapes) -> None:
    x, a = (RNG.standard_normal(s) for s in shapes)
    close(rows_times(xp.array(x), xp.array(a)), (x[..., None, :] @ a)[..., 0, :], 1e-14)


def test_solve_and_its_error(xp: Library) -> None:
    a, b = RNG.standard_normal((2, 3, 4, 4)), RNG.standard_normal((2, 3, 4))
    close(solve_linear(xp.array(a), xp.array(b)), np.linalg.solve(a, b[..., None])[..., 0], 1e-12)
    with pytest.raises(InvalidInput, match=r"a linear system is singular.*raise rho"):
        solve_linear(xp.array(np.zeros((1, 2, 2))), xp.array(np.ones((1, 2))))


def test_exact_solve_on_symbols_and_fractions() -> None:
    eta = sympy.Symbol("eta", positive=True)
    a = np.array([[[1 + eta, 0], [1, 1]]], dtype=object)
    x = solve_linear(a, np.array([[1, 0]], dtype=object))
    assert sympy.simplify(x[0, 0] - 1 / (1 + eta)) == 0 and sympy.simplify(x[0, 1] + 1 / (1 + eta)) == 0
    assert solve_linear(np.array([[[Fraction(3)]]]), np.array([[Fraction(1)]]))[0, 0] == Fraction(1, 3)


def test_like_moves_values_and_keeps_integers(xp: Library) -> None:
    reference = xp.array(np.ones((1, 2)))
    moved = like(np.arange(3.0), reference)
    assert type(moved) is type(reference) and moved.dtype == reference.dtype
    numbers = like(np.arange(3), reference)
    assert not namespace(numbers).isdtype(numbers.dtype, "real floating")
    np.testing.assert_array_equal(to_numpy(numbers), [0, 1, 2])


def test_a_copy_lives_as_long_as_what_it_was_made_of(xp: Library) -> None:
    before = len(arrays._copies)
    reference, host = xp.array(np.ones(2)), np.arange(3)
    moved = moved_once(host, reference)
    assert moved_once(host, reference) is moved and like(moved, reference) is moved
    np.testing.assert_array_equal(to_numpy(moved), host)
    np.testing.assert_array_equal(fetched_once(reference), np.ones(2))
    assert fetched_once(reference) is fetched_once(reference)
    del host, reference
    assert len(arrays._copies) <= before


def test_several_arrays_are_fetched_at_once(xp: Library) -> None:
    a, b = np.array([[1.5, np.nan]]), np.array([3.0])
    given = [xp.array(a), xp.array(b) > 2, np.array([7, 8]), namespace(xp.array(b)).sum(xp.array(b))]
    for found, expected in zip(fetch(given), [a, [True], [7, 8], 3.0], strict=True):
        np.testing.assert_array_equal(found, expected)
    assert fetch([]) == []


def test_numbers_are_clamped_and_nan_stays(xp: Library) -> None:
    x = xp.array(np.array([-2.0, 0.5, np.nan, np.inf]))
    np.testing.assert_array_equal(to_numpy(clamp(x, -1.0, 1.0)), [-1.0, 0.5, np.nan, 1.0])
    np.testing.assert_array_equal(to_numpy(clamp(x, low=0.0)), [0.0, 0.5, np.nan, np.inf])
    np.testing.assert_array_equal(to_numpy(identity(3, x)), np.eye(3))
    assert identity(3, x).dtype == x.dtype


def test_numbers_of_hyperparameters(xp: Library) -> None:
    np.testing.assert_array_equal(numbers_of(xp.array(np.ones((2, 1, 1)))), np.ones((2, 1, 1)))
    assert numbers_of(0.5) == 0.5 and numbers_of(Fraction(1, 2)) == 0.5
    assert numbers_of(sympy.Symbol("rho")) is None and numbers_of(lambda r: 0.1) is None


def test_choose_follows_python_bools_without_looking_at_values(xp: Library) -> None:
    yes, no = object(), object()
    assert choose(True, yes, no) is yes and choose(False, yes, no) is no
    coin = np.array([True, False])[:, None, None]
    got = choose(coin, xp.array(np.ones((2, 3, 1))), xp.array(np.zeros((2, 3, 1))))
    np.testing.assert_array_equal(to_numpy(got)[:, 0, 0], [1, 0])


def test_spread_copies_bits(xp: Library) -> None:
    x = RNG.standard_normal((2, 1, 3))
    np.testing.assert_array_equal(to_numpy(spread(xp.array(x), 4)), np.repeat(x, 4, axis=-2))


def test_inner_and_along_batch(xp: Library) -> None:
    x, y = RNG.standard_normal((2, 4, 3)), RNG.standard_normal((4, 3))
    close(inner(xp.array(x), xp.array(y)), (x * y).sum(-1), 1e-14)
    rates = along_batch([0.1, 0.2], xp.array(x))
    assert tuple(rates.shape) == (2, 1, 1) and type(rates) is type(xp.array(x))
    assert along_batch(0.1).shape == (1, 1)


def test_kinds_are_told_apart(xp: Library) -> None:
    x = xp.array(np.ones(2))
    assert is_array(x) and not is_array(1.0) and not is_array(np.float64(1)) and not is_array(sympy.Symbol("x"))
    assert is_torch(x) == xp.name.startswith("torch")
    assert is_object(np.array([Fraction(1)])) and not is_object(x)
    assert namespace(1.0, None).asarray([1]).shape == (1,)


def test_an_array_on_a_gpu_is_fetched() -> None:
    """CuPy's way: ``get`` copies to the host."""
    host = np.arange(3.0)
    assert to_numpy(SimpleNamespace(get=lambda: host)) is host
    assert to_numpy([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_mixing_libraries_is_named() -> None:
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(InvalidInput, match=r"mixed \(array_api_strict, numpy\); pass x0"):
        namespace(np.ones(1), strict.ones(1))

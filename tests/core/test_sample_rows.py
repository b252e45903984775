"""Rows without their zeros are the same rows: products, Gram matrices, selections, enclosures."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
from helpers import close
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fedtheory.core.errors import InvalidInput
from fedtheory.core.sample_rows import (
    SparseRows,
    combine_rows,
    pick_samples,
    row_cost,
    row_gram,
    row_products,
    row_squares,
    slice_clients,
    sparse_pays,
    take_clients,
    total_gram,
    weighted_gram,
)
from fedtheory.tools.enclosures import Functions, enclosed
from fedtheory.tools.fingerprint import fingerprint


@st.composite
def both(draw: Any, least: int = 1) -> tuple[Any, np.ndarray, Any]:
    """Sparse rows, the same as an array, and a generator; sizes from ``least`` on, empty rows, clients and matrices among them."""
    n, m, d = (draw(st.integers(least, 4)) for _ in range(3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    dense = rng.standard_normal((n, m, d)) * (rng.random((n, m, d)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    return SparseRows.stack([sparse.csr_array(a) for a in dense]), dense, rng


BATCHES = st.sampled_from([(), (2,), (3, 2)])


@given(both(), BATCHES, st.booleans())
@settings(max_examples=60)
def test_products_are_those_of_the_array(rows, batch, common) -> None:
    thin, dense, rng = rows
    n, m, d = dense.shape
    assert thin.shape == dense.shape and thin.ndim == 3
    np.testing.assert_array_equal(thin.dense(), dense)
    x, v = rng.standard_normal((*batch, 1 if common else n, d)), rng.standard_normal((*batch, n, m))
    margins = np.einsum("imd,...id->...im", dense, np.broadcast_to(x, (*batch, n, d)))
    for kind in (thin, dense):
        close(row_products(kind, x), margins, 1e-13)
        close(combine_rows(kind, v), np.einsum("imd,...im->...id", dense, v), 1e-13)
        grams = np.einsum("imd,...im,ime->...ide", dense, v, dense)
        close(weighted_gram(kind, v), grams, 1e-13)
        close(total_gram(kind, v), grams.sum(axis=-3), 1e-13)
        close(row_gram(kind), dense @ np.swapaxes(dense, -1, -2), 1e-13)
        close(row_squares(kind), (dense**2).sum(axis=-1), 1e-14)
    transposed = (
        np.sum(combine_rows(thin, v) * x) if not common else np.sum(combine_rows(thin, v) * (0 * v[..., :1] + x))
    )
    close(np.sum(row_products(thin, x) * v), transposed, 1e-12)  # <A x, v> = <x, A^T v>


@given(both(least=2), BATCHES)
@settings(max_examples=60)
def test_selections_are_those_of_the_array(rows, batch) -> None:
    """Minibatches and clients, the same for all runs or other ones in each; then their products, too."""
    thin, dense, rng = rows
    n, m, d = dense.shape
    samples = rng.integers(0, m, (*batch, n, 3))
    clients = np.stack([rng.permutation(n)[: max(1, n - 1)] for _ in range(int(np.prod(batch)))]).reshape(*batch, -1)
    first = int(rng.integers(0, n))
    for select, chosen in ((pick_samples, samples), (take_clients, clients)):
        ours, theirs = select(thin, chosen), select(dense, chosen)
        assert ours.shape == theirs.shape
        np.testing.assert_array_equal(ours.dense(), theirs)
        for shape in (batch, (2, *batch)):  # also with more runs than selections
            x = rng.standard_normal((*shape, theirs.shape[-3], d))
            v = rng.standard_normal((*shape, *theirs.shape[-3:-1]))
            close(row_products(ours, x), row_products(theirs, x), 1e-13)
            close(combine_rows(ours, v), combine_rows(theirs, v), 1e-13)
    again = take_clients(pick_samples(thin, samples), clients)
    np.testing.assert_array_equal(again.dense(), take_clients(pick_samples(dense, samples), clients))
    np.testing.assert_array_equal(slice_clients(thin, first, n).dense(), dense[first:])
    np.testing.assert_array_equal(
        slice_clients(pick_samples(thin, samples), first, n).dense(), pick_samples(dense, samples)[..., first:, :, :]
    )


@given(both())
@settings(max_examples=60)
def test_enclosures_hold_the_exact_products(rows) -> None:
    """Against whole numbers times powers of two, whose products are exact: the bounds hold and are of rounding's size."""
    thin, dense, rng = rows
    exact = np.ldexp(np.round(dense * 2**20), -20)
    thin = SparseRows.stack([sparse.csr_array(a) for a in exact])
    x = np.ldexp(rng.integers(-(2**20), 2**20, (1, dense.shape[-1])).astype(float), -20)
    found = row_products(thin, enclosed(x))
    true = row_products(exact.astype(object), x.astype(object)).astype(float) if exact.size else exact
    assert np.all(np.abs(found.middle - true) <= found.radius)
    assert np.all(found.radius <= 1e-14 * (1 + np.abs(exact) @ np.abs(x[0])))
    wide = row_products(thin, Functions.asarray(x) + enclosed(np.zeros(x.shape)))
    assert np.all(wide.radius >= found.radius)


def test_rule_cost_and_name() -> None:
    assert sparse_pays(49749, 300, 579586) and sparse_pays(32561, 123, 451592)  # w8a, a9a
    assert not sparse_pays(1605, 123, 22249) and not sparse_pays(60000, 784, 60000 * 150)  # a1a, MNIST
    thin = SparseRows.stack([sparse.csr_array(np.eye(3, 40))] * 2)
    assert row_cost(thin) == 4 and row_cost(thin.dense()) == 40
    assert fingerprint(thin) == fingerprint(SparseRows.stack([sparse.csr_array(np.eye(3, 40))] * 2))
    assert fingerprint(thin) != fingerprint(SparseRows.stack([sparse.csr_array(np.eye(3, 40))] * 3))


def test_what_does_not_fit_is_told() -> None:
    ones = np.ones(2)
    columns, starts = np.array([0, 1]), np.array([0, 1, 2])
    with pytest.raises(InvalidInput, match=r"starts has shape \(3,\) for rows of shape \(1, 3, 2\)"):
        SparseRows(ones, columns, starts, (1, 3, 2))
    with pytest.raises(InvalidInput, match=r"values and columns have shapes \(3,\) and \(2,\); expected \(2,\)"):
        SparseRows(np.ones(3), columns, starts, (1, 2, 2))
    with pytest.raises(InvalidInput, match="columns run from 0 to 1; expected 0 to 0"):
        SparseRows(ones, columns, starts, (1, 2, 1))
    rows = SparseRows(ones, columns, starts, (1, 2, 2))
    with pytest.raises(InvalidInput, match=r"points are of array_api_strict; move_to_library\(problem, x0\)"):
        row_products(rows, array_api_strict.ones((1, 2)))

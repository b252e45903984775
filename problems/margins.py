"""What models of margins share: f_i is a sum of functions of <s_ik, x>, s_ik = b_ik a_ik a sample times its sign, plus a ridge."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, take, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.sample_rows import (
    Rows,
    SparseRows,
    row_gram,
    row_squares,
    slice_clients,
    take_clients,
)
from problems.samples import largest_curvatures, sample_scales


class Margins:
    """Counts, rows and their inner products, restriction to clients; for dataclasses with the fields below.

    ``signed`` ``(*batch, n, m, d)`` holds the rows s_ik, an array or `fedtheory.core.sample_rows.SparseRows`, zero rows of weight zero
    behind those of clients with fewer than m; ``weights`` ``(n, m)``; ``whole`` is what this restricts, and to which clients.
    """

    signed: Rows
    weights: Array
    name: str
    whole: tuple[Any, Any] | None

    def _check_shapes(self) -> None:
        if self.signed.ndim < 3 or self.weights.shape[-2:] != self.signed.shape[-3:-1]:
            raise InvalidInput(
                f"signed has shape {tuple(self.signed.shape)} and weights {tuple(self.weights.shape)}; expected "
                "(*batch, n, m, d) and (n, m)"
            )

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.signed.shape[-3])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.signed.shape[-1])

    @property
    def client_bytes(self) -> int:
        """Size of one client's data, for working in blocks."""
        if self.signed.ndim > 3:
            return 0
        if isinstance(self.signed, SparseRows):
            return 12 * len(self.signed.values) // self.n
        return 8 * int(self.signed.shape[-2]) * self.d

    @cached_property
    def n_samples(self) -> NDArray[np.int64]:
        """Samples of each client ``(n,)``: rows with positive weight, which come first."""
        return np.asarray((to_numpy(self.weights) > 0).sum(axis=-1))

    @cached_property
    def _scales(self) -> Array | None:
        return sample_scales(self.weights)

    @property
    def rows(self) -> Array:
        """The rows s_ik, whose products with x are the margins."""
        return self.signed

    @cached_property
    def gram(self) -> Array:
        """Inner products of a client's rows ``(n, m, m)``; a restriction takes them from the whole problem."""
        if self.whole is not None:
            problem, chosen = self.whole
            moved = type(problem.weights) is not type(self.weights) or problem.weights.dtype != self.weights.dtype
            if not moved:
                by_range = isinstance(chosen, slice)
                return problem.gram[..., chosen, :, :] if by_range else take(problem.gram, chosen, axes_behind=2)
        return row_gram(self.signed)

    def take(self, clients: Clients | None) -> Self:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        return self._restricted(
            take_clients(self.signed, clients.index), take(self.weights, clients.index), clients.index
        )

    def slice(self, first: int, last: int) -> Self:
        """Clients first, ..., last - 1, without copying."""
        return self._restricted(
            slice_clients(self.signed, first, last), self.weights[..., first:last, :], slice(first, last)
        )

    def _restricted(self, signed: Rows, weights: Array, chosen: Any) -> Self:
        return replace(self, signed=signed, weights=weights, whole=(self, chosen))  # type: ignore[type-var]

    def lower_bound(self) -> Certified:
        """Zero: no term is negative."""
        return Certified(0.0, "every term is non-negative")

    def _samples(self) -> tuple[Any, NDArray[np.float64]]:
        """All clients' rows, as an array or a matrix of SciPy, and their weights in the average objective, for a CVXPY model."""
        if self.signed.ndim > 3:
            raise NotAvailable("a batch of instances has no single CVXPY model; take one instance")
        rows = self.signed.matrix if isinstance(self.signed, SparseRows) else to_numpy(self.signed).reshape(-1, self.d)
        weights = to_numpy(self.weights).ravel() / self.n
        return rows[weights > 0], weights[weights > 0]

    @property
    def _sample_sizes(self) -> NDArray[np.float64]:
        """n_i w_ik ||s_ik||^2 ``(*batch, n, m)``; ||s_ik||^2 where the weights of a client are equal."""
        squares = row_squares(self.signed)
        return np.asarray(squares if self._scales is None else to_numpy(self._scales) * squares)

    @cached_property
    def _curvatures_found(self) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
        return largest_curvatures(self.signed, self.weights)

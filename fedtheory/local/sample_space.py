"""Local steps of linear models in the span of the samples.

When f_i(x) = sum_k phi_ik(<row_ik, x>) + (l2/2) ||x||^2, every local gradient step on

    f_i(x) + <a_i, x> + (rho/2) ||x - z_i||^2

stays in  start + span{row_i1, ..., row_im, v_i}  with  v_i = rho (z_i - start) - a_i - l2 start. In the coordinates
(c, t) of  x = start + A_i^T c + t v_i  the gradient is

    (phi'(A_i x) + kappa c,  kappa t - 1),   kappa = l2 + rho,   A_i x = A_i start + (A_i A_i^T) c + t A_i v_i,

so K steps cost K products with the m x m matrix A_i A_i^T instead of 2 K products with A_i. `LiftedSubproblem` offers that gradient under
the name `grad`; the solvers that only add up points and gradients run on it unchanged and give the same iterates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from array_api_compat import device

from fedtheory.core.arrays import Array, Scalar, is_array, namespace, rows_times
from fedtheory.core.sample_rows import Rows, combine_rows, row_cost, row_products
from fedtheory.core.shapes import ClientPoints, Points, SampleValues

if TYPE_CHECKING:
    from fedtheory.local.subproblem import Subproblem


class LinearModel(Protocol):
    """What a problem must offer for local steps in sample space."""

    @property
    def linear_model(self) -> bool | None:
        """True when f_i(x) = sum_k phi_ik(<row_ik, x>) + (l2/2) ||x||^2, else None."""
        ...

    @property
    def rows(self) -> Rows:
        """Rows ``(n, m, d)``, an array or sparse."""
        ...

    @property
    def gram(self) -> Array:
        """A_i A_i^T ``(n, m, m)``, kept once computed."""
        ...

    @property
    def l2(self) -> float:
        """Weight of the ridge penalty."""
        ...

    def slopes(self, margin: SampleValues) -> SampleValues:
        """phi_ik'(z_ik)."""
        ...


@dataclass(frozen=True, eq=False)
class LiftedSubproblem:
    """The clients' subproblems in the coordinates (c, t) ``(..., n, m + 1)`` of x = start + A^T c + t v."""

    model: Any
    gram: Array
    kappa: Scalar
    margin: Array  #: A start ``(..., n, m)``
    along: Array  #: A v ``(..., n, m)``
    origin: Array  #: coordinates of the start point: zeros ``(1, m + 1)``

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.gram.shape[-3])

    def grad(self, x: Points) -> ClientPoints:
        """Coordinates of the subproblem's gradient at the point with coordinates x."""
        if x is self.origin:
            slopes = self.model.slopes(self.margin)
            xp = namespace(slopes)
            return xp.concat([slopes, xp.full_like(slopes[..., -1:], -1)], axis=-1)
        margin = rows_times(x[..., :-1], self.gram)
        margin += self.margin  # on our own temporaries, here and below
        margin += x[..., -1:] * self.along
        g = self.kappa * x
        g[..., :-1] += self.model.slopes(margin)
        g[..., -1:] -= 1
        return g


@dataclass(frozen=True, eq=False)
class SampleSpace:
    """A subproblem, the start point and the direction v that make up the coordinates."""

    lifted: LiftedSubproblem
    start: Array
    direction: Array

    def point(self, x: Array) -> ClientPoints:
        """The point with coordinates x ``(..., n, m + 1)``."""
        return self.start + x[..., -1:] * self.direction + combine_rows(self.lifted.model.rows, x[..., :-1])


def find_sample_space(sub: Subproblem, start: Points, steps: int) -> SampleSpace | None:
    """Coordinates in which ``steps`` gradient steps are cheaper, or None where they are not or do not exist."""
    model: Any = sub.f
    if not getattr(model, "linear_model", None):
        return None
    m, d = model.rows.shape[-2], row_cost(model.rows)
    moved = sub.rho is not None and sub.z is not start
    aside = sub.a is not None or moved  # v is not a multiple of the start point, so A v is one product more
    if (steps - 1) * m + (3 if aside else 2) * d >= 2 * steps * d:
        return None
    xp = namespace(start, model.rows)
    kappa = model.l2 if sub.rho is None else model.l2 + sub.rho
    margin = row_products(model.rows, start)
    v = -model.l2 * start
    along = -model.l2 * margin
    if aside:
        if moved:
            v = v + sub.rho * (sub.z - start)
        if sub.a is not None:
            v = v - sub.a
        along = row_products(model.rows, v)
    shape = _common(margin, along)
    origin = xp.zeros((1, m + 1), dtype=margin.dtype, device=device(margin))
    lifted = LiftedSubproblem(
        model, model.gram, kappa, xp.broadcast_to(margin, shape), xp.broadcast_to(along, shape), origin
    )
    return SampleSpace(lifted, start, v)


def _common(*arrays: Array) -> tuple[int, ...]:
    return np.broadcast_shapes(*(tuple(a.shape) for a in arrays if is_array(a)))

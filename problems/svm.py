"""Support vector machines with a ridge: hinge, smoothed hinge, squared hinge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fedtheory.core.arrays import Array, clamp, identity, namespace, solve_linear, squared_norm
from fedtheory.core.errors import InvalidInput, require
from fedtheory.core.problem import Certified
from fedtheory.core.sample_rows import Rows, combine_rows, pick_samples, row_products, total_gram, weighted_gram
from fedtheory.core.shapes import (
    ClientPoints,
    ClientValues,
    Matrices,
    Points,
    SampleNumbers,
    SampleValues,
    ServerPoint,
    SquareMatrices,
)
from fedtheory.local.conjugates import newton_maximiser
from problems.logistic import logistic
from problems.margins import Margins
from problems.samples import scales_of

#: interior-point iterations of `SupportVectorMachine.conjugate`; the gap falls about tenfold in each
ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class SupportVectorMachine(Margins):
    """f_i(x) = sum_k w_ik loss(<s_ik, x>) + (l2/2) ||x||^2  with s_ik = b_ik a_ik and u = max(1 - z, 0) in

    hinge (width 0):                 loss(z) = u,
    smoothed hinge (width t > 0):    loss(z) = u^2/(2t) for u <= t, u - t/2 beyond,
    squared hinge (``squared``):     loss(z) = u^2/(2t).

    The hinge has kinks: `grad` is then a subgradient (zero at z = 1), and there are no Hessians and no constant L.

    Parameters
    ----------
    signed : array or `fedtheory.core.sample_rows.SparseRows` ``(*batch, n, m, d)``
        Rows s_ik; clients with fewer than m samples are filled up with zero rows of weight zero.
    weights : array ``(n, m)``
        w_ik >= 0.
    l2, width : numbers
    squared : bool
    name : str
    """

    signed: Rows
    weights: Array
    l2: float = 0.0
    width: float = 0.0
    squared: bool = False
    name: str = "support vector machine"
    whole: tuple[Any, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the numbers and the shapes."""
        if not (self.l2 >= 0 and self.width >= 0):
            raise InvalidInput(f"expected l2 >= 0 and width >= 0; got l2={self.l2}, width={self.width}")
        if self.squared and not self.width > 0:
            raise InvalidInput(f"the squared hinge u^2/(2 width) needs width > 0, got {self.width}")
        self._check_shapes()

    # ---- values and derivatives -----------------------------------------------------------------------------------

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x, self.signed)
        u = clamp(1 - row_products(self.signed, x), low=0.0)
        loss = u
        if self.width:
            loss = u * u / (2 * self.width)
            if not self.squared:
                loss = xp.where(u <= self.width, loss, u - self.width / 2)
        return xp.sum(self.weights * loss, axis=-1) + (self.l2 / 2) * squared_norm(x)

    def _slope(self, z: Array) -> Array:
        """loss'(z)."""
        xp = namespace(z)
        if not self.width:
            return -xp.astype(z < 1, z.dtype)
        return -clamp((1 - z) / self.width, low=0.0, high=None if self.squared else 1.0)

    def grad(self, x: Points) -> ClientPoints:
        """Gradients, for the hinge subgradients."""
        return combine_rows(self.signed, self.slopes(row_products(self.signed, x))) + self.l2 * x

    def sample_grad(self, x: Points, samples: SampleNumbers) -> ClientPoints:
        """Mean gradient over minibatches of samples by their numbers."""
        rows = pick_samples(self.signed, samples)
        slope = self._slope(row_products(rows, x))
        scales = scales_of(self._scales, samples)
        slope = slope if scales is None else slope * scales
        return combine_rows(rows, slope) / slope.shape[-1] + self.l2 * x

    @property
    def hess(self) -> Callable[[Points], Matrices] | None:
        """Hessians (those of the pieces); None for the hinge."""
        return self._hess if self.width else None

    def _hess(self, x: Points) -> Matrices:
        return weighted_gram(self.signed, self._curvatures(x)) + self.l2 * identity(self.d, x)

    @property
    def average_hess(self) -> Callable[[ServerPoint], SquareMatrices] | None:
        """Hessian of the average at a common point; None for the hinge."""
        return self._average_hess if self.width else None

    def _average_hess(self, x: ServerPoint) -> SquareMatrices:
        return total_gram(self.signed, self._curvatures(x)) / self.n + self.l2 * identity(self.d, x)

    @property
    def hess_times(self) -> Callable[[Points, Points], ClientPoints] | None:
        """Hessians times vectors; None for the hinge."""
        return self._hess_times if self.width else None

    def _hess_times(self, x: Points, v: Points) -> ClientPoints:
        return combine_rows(self.signed, self._curvatures(x) * row_products(self.signed, v)) + self.l2 * v

    def _curvatures(self, x: Array) -> Array:
        """Second derivatives of the samples' losses in their margins (those of the pieces)."""
        u = 1 - row_products(self.signed, x)
        curved = u > 0 if self.squared else (u > 0) & (u <= self.width)
        return self.weights * namespace(u).astype(curved, u.dtype) / self.width

    # ---- local steps in sample space ------------------------------------------------------------------------------

    @property
    def linear_model(self) -> bool:
        """True: local steps can be taken in the span of the samples."""
        return True

    def slopes(self, margin: SampleValues) -> SampleValues:
        """Derivatives of the weighted losses in the margins."""
        return self.weights * self._slope(margin)

    # ---- duality --------------------------------------------------------------------------------------------------

    @property
    def conjugate(self) -> Callable[[Points], ClientValues] | None:
        """f_i^*(y_i) from above, to about 1e-14 of the terms it is made of; None without a ridge.

        f_i^*(y) = min_a  sum_k (-a_k + width a_k^2/(2 w_k)) + ||y + S^T a||^2/(2 l2)  over 0 <= a_k <= w_k (a_k >= 0 for the squared
        hinge). Every feasible a gives a value that is not below f_i^*(y), so dual values made of it stay lower bounds.
        """
        return (lambda y: self.dual(y)[1]) if self.l2 else None

    @property
    def conjugate_grad(self) -> Callable[[Points], ClientPoints] | None:
        """argmax_x <x, y_i> - f_i(x); None without a ridge.

        It is (y + S^T a)/l2 at the minimising a; where there are Hessians, Newton's method refines it to rounding.
        """
        if not self.l2:
            return None
        if not self.width:
            return lambda y: self.dual(y)[0]
        return lambda y: newton_maximiser(self, y, self.dual(y)[0])

    def dual(self, y: Points) -> tuple[ClientPoints, ClientValues, ClientValues]:
        """Solve the dual problem of `conjugate` by an interior-point method, all clients and runs at once.

        Returns
        -------
        x : ClientPoints
            (y + S^T a)/l2.
        upper : ClientValues
            The dual value at a, f_i^*(y_i) or a little more.
        gap : ClientValues
            upper - (<x, y> - f_i(x)): f_i^*(y_i) lies in [upper - gap, upper].

        Notes
        -----
        Primal-dual path following with centring 0.1. The Newton systems are d x d: with the diagonal D of the barrier,
        (l2 I + S^T D^{-1} S) dx = S^T D^{-1} r and da = D^{-1} (r - S dx). A client stands still once its gap is 64 eps times the
        terms it is made of; further on the systems would be rounding.
        """
        xp = namespace(y, self.signed)
        real = self.weights > 0
        top = xp.where(real, self.weights, xp.ones_like(self.weights))
        bend = self.width / top
        eps = float(xp.finfo(y.dtype).eps)
        tiny = float(xp.finfo(y.dtype).smallest_normal) ** 0.5  # quotients of such numbers do not overflow
        eye = identity(self.d, y)
        samples = int(self.signed.shape[-2])

        a = top / 2 + 0 * row_products(self.signed, y)
        low, high = xp.ones_like(a), xp.ones_like(a)  # multipliers of 0 <= a and a <= top
        best: tuple[Array, Array, Array] | None = None
        for _ in range(ITERATIONS):
            x, upper, gap, size = self._dual_values(y, xp.where(real, a, xp.zeros_like(a)))
            if best is None:
                best = x, upper, gap
            else:
                better = gap < best[2]
                best = (
                    xp.where(better[..., None], x, best[0]),
                    xp.where(better, upper, best[1]),
                    xp.where(better, gap, best[2]),
                )
            going = (best[2] > 64 * eps * size)[..., None]
            if not bool(xp.any(going)):
                break
            room = top - a
            pressure = low * a if self.squared else (low * a + high * room) / 2
            floor = (8 * eps / samples) * size[..., None]
            target = xp.maximum(0.1 * xp.mean(pressure, axis=-1, keepdims=True), floor)
            diagonal = bend + low / a
            right = target / a - (row_products(self.signed, x) + bend * a - 1)
            if not self.squared:
                diagonal = diagonal + high / room
                right = right - target / room
            curvature = weighted_gram(self.signed, 1 / diagonal)
            system = (self.l2 * eye + curvature) * (1 + 8 * self.d * eps * eye)
            dx = solve_linear(system, combine_rows(self.signed, right / diagonal))
            da = (right - row_products(self.signed, dx)) / diagonal
            dlow = (target - low * da) / a - low
            step = xp.minimum(_longest(a, da), _longest(low, dlow))
            if not self.squared:
                dhigh = (target + high * da) / room - high
                step = xp.minimum(step, xp.minimum(_longest(room, -da), _longest(high, dhigh)))
                high = xp.where(going, clamp(high + _damped(step) * dhigh, low=tiny), high)
            low = xp.where(going, clamp(low + _damped(step) * dlow, low=tiny), low)
            a = xp.where(going, clamp(a + _damped(step) * da, low=tiny), a)
            if not self.squared:
                a = xp.minimum(a, top * (1 - eps))
        assert best is not None
        return best

    def _dual_values(self, y: Array, a: Array) -> tuple[Array, Array, Array, Array]:
        """x(a), the dual value at a, its distance from <x, y> - f(x), and the size of the terms this is made of."""
        xp = namespace(y, a)
        x = (y + combine_rows(self.signed, a)) / self.l2
        curved = self.width * a * a / (2 * xp.where(self.weights > 0, self.weights, xp.ones_like(self.weights)))
        losses, ridge = xp.sum(curved - a, axis=-1), (self.l2 / 2) * squared_norm(x)
        pairing, value = xp.sum(x * y, axis=-1), self.value(x)
        gap = losses + ridge - pairing + value
        return x, losses + ridge, gap, xp.abs(losses) + ridge + xp.abs(pairing) + value

    def ridged(self, weight: float) -> SupportVectorMachine:
        """The same clients with (weight/2)||x||^2 added."""
        return replace(self, l2=self.l2 + weight, whole=None)

    # ---- the rest -------------------------------------------------------------------------------------------------

    def to_cvxpy(self) -> tuple[Any, Any]:
        """Return the average as a CVXPY expression of a variable (d,): ``(variable, objective)``."""
        rows, weights = self._samples()
        cp = require("cvxpy", "ground truth from an independent solver")
        x = cp.Variable(self.d)
        u = cp.pos(1 - rows @ x)
        loss = u
        if self.width:
            loss = (cp.square(u) if self.squared else cp.huber(u, self.width)) / (2 * self.width)
        return x, weights @ loss + (self.l2 / 2) * cp.sum_squares(x)

    def certify(self) -> dict[str, Certified]:
        """The loss's second derivative lies in [0, 1/width]; the hinge has strong convexity constants only."""
        batch = tuple(self.signed.shape[:-2])
        below = "l2; the losses are convex"
        found = {
            "mu_i": Certified(np.full(batch, self.l2), below),
            "mu": Certified(np.full(batch[:-1], self.l2)[()], below),
            "mu_avg": Certified(np.full(batch[:-1], self.l2)[()], below),
        }
        if not self.width:
            return found
        top, average, found_by = self._curvatures_found
        size, average = top / self.width + self.l2, average / self.width + self.l2
        how = f"lambda_max(S_i^T W_i S_i)/width ({found_by}) plus l2"
        return found | {
            "L_i": Certified(size, how),
            "L": Certified(size.max(axis=-1), how),
            "L_avg": Certified(average, how),
            "L_sample": Certified(
                self._sample_sizes.max(axis=(-1, -2)) / self.width + self.l2, "max n_i w_ik ||a_ik||^2/width plus l2"
            ),
        }


def _longest(value: Array, change: Array) -> Array:
    """Longest step that keeps positive values non-negative, one a client: ``(..., n, m) -> (..., n, 1)``."""
    xp = namespace(value)
    falling = change < 0
    unbounded = xp.full_like(value, float(xp.finfo(value.dtype).max))
    ratio = xp.where(falling, value / xp.where(falling, -change, xp.ones_like(change)), unbounded)
    return xp.min(ratio, axis=-1, keepdims=True)


def _damped(step: Array) -> Array:
    """A step just short of the boundary, and at most one."""
    xp = namespace(step)
    return xp.minimum(0.99 * step, xp.ones_like(step))


def svm(
    features: list[Any] | Array,
    labels: list[Any] | Array,
    *,
    l2: float,
    width: float = 0.0,
    squared: bool = False,
    name: str = "",
    sparse: bool | None = None,
) -> SupportVectorMachine:
    """Build the problem from one feature matrix ``(n_i, d)`` and one label vector ``(n_i,)`` a client (-1, +1 or 0, 1).

    Every client's samples weigh 1/n_i. Features may be sparse, and ``sparse`` says how they are kept, as in `problems.logistic.logistic`.

    Raises
    ------
    InvalidInput
        As `problems.logistic.logistic`.
    """
    data = logistic(features, labels, sparse=sparse)
    kind = "squared hinge" if squared else "smoothed hinge" if width else "hinge"
    return SupportVectorMachine(
        data.signed, data.weights, l2, width, squared, name or f"support vector machine, {kind}"
    )

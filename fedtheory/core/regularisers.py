"""Shared regularisers h of composite objectives  f(x) + h(x): value, proximal step, conjugate, CVXPY expression.

A regulariser sees points row by row. A problem carries its own in the attribute
``regulariser`` (`regularised` attaches one); `fedtheory.core.problem.objective` then includes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from fedtheory.core.arrays import Array, Scalar, is_array, is_object, namespace, squared_norm
from fedtheory.core.errors import CannotTrace, InvalidInput, NotAvailable
from fedtheory.core.hyperparameters import positive
from fedtheory.core.layers import Layer, map_matrices, rounding_level, singular_values, split_layers, to_matrix
from fedtheory.core.problem import Problem, can, gradient
from fedtheory.core.shapes import ClientPoints, ClientValues, Points, RunValues, ServerPoint
from fedtheory.core.wrapped import Wrapped


class Regulariser(Protocol):
    """A closed convex function h on R^d."""

    @property
    def numeric_only(self) -> str | None:
        """Why its proximal step needs numbers, or None when every engine can run it."""
        ...

    def value(self, x: Points) -> ClientValues:
        """h(x)."""
        ...

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """argmin_x h(x) + ||x - v||^2 / (2 step)."""
        ...

    def conjugate(self, y: Points) -> ClientValues:
        """h^*(y) = sup_x <x, y> - h(x); infinity outside its domain."""
        ...

    def distance(self, x: Points, g: Points) -> ClientValues:
        """Distance of 0 from g + subdifferential of h at x."""
        ...

    def to_cvxpy(self, x: Any) -> Any:
        """Return h as a CVXPY expression of a variable of length d."""
        ...


@dataclass(frozen=True)
class Zero:
    """h(x) = 0."""

    numeric_only: ClassVar[str | None] = None

    def value(self, x: Points) -> ClientValues:
        """0."""
        return namespace(x).sum(0 * x, axis=-1)

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """Return v itself."""
        return v

    def conjugate(self, y: Points) -> ClientValues:
        """0 at the origin, infinity elsewhere."""
        return _zero_where(namespace(y).all(y == 0, axis=-1), y)

    def distance(self, x: Points, g: Points) -> ClientValues:
        """||g||."""
        return squared_norm(g) ** 0.5

    def to_cvxpy(self, x: Any) -> Any:
        """0."""
        return 0.0


@dataclass(frozen=True)
class Ridge:
    """h(x) = (weight/2) ||x||^2.

    Examples
    --------
    >>> print(Ridge(1.0).prox(np.array([[2.0, -4.0]]), 1.0))
    [[ 1. -2.]]
    """

    weight: Scalar
    numeric_only: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        """Refuse weights that are not positive."""
        positive(self, "weight")

    def value(self, x: Points) -> ClientValues:
        """(weight/2) ||x||^2."""
        return _by_row(self.weight) / 2 * squared_norm(x)

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """Return v / (1 + weight step)."""
        return v / (1 + self.weight * step)

    def conjugate(self, y: Points) -> ClientValues:
        """||y||^2 / (2 weight)."""
        return squared_norm(y) / (2 * _by_row(self.weight))

    def distance(self, x: Points, g: Points) -> ClientValues:
        """||g + weight x||."""
        return squared_norm(g + self.weight * x) ** 0.5

    def to_cvxpy(self, x: Any) -> Any:
        """(weight/2) ||x||^2."""
        import cvxpy

        return self.weight / 2 * cvxpy.sum_squares(x)


@dataclass(frozen=True)
class L1:
    """h(x) = weight * ||x||_1.

    Examples
    --------
    >>> print(L1(0.5).prox(np.array([[2.0, -0.3]]), 1.0))
    [[1.5 0. ]]
    """

    weight: Scalar
    numeric_only: ClassVar[str | None] = "the proximal step of the l1 norm looks at sizes and signs"

    def __post_init__(self) -> None:
        """Refuse weights that are not positive."""
        positive(self, "weight")

    def value(self, x: Points) -> ClientValues:
        """Return weight * ||x||_1."""
        return _by_row(self.weight) * namespace(x).sum(namespace(x).abs(x), axis=-1)

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """Soft thresholding: sign(v) max(|v| - weight step, 0)."""
        return soft_threshold(v, self.weight * step)

    def conjugate(self, y: Points) -> ClientValues:
        """0 where ||y||_inf <= weight, infinity elsewhere."""
        xp = namespace(y)
        return _zero_where(xp.max(xp.abs(y), axis=-1) <= _by_row(self.weight), y)

    def distance(self, x: Points, g: Points) -> ClientValues:
        """|g_j + weight sign(x_j)| where x_j is not zero, max(|g_j| - weight, 0) where it is; the norm of these."""
        xp = namespace(x, g)
        moving = g + self.weight * xp.sign(x)
        return squared_norm(xp.where(x != 0, moving, soft_threshold(g, self.weight))) ** 0.5

    def to_cvxpy(self, x: Any) -> Any:
        """Return weight * ||x||_1."""
        import cvxpy

        return self.weight * cvxpy.norm1(x)


@dataclass(frozen=True)
class NuclearNorm:
    """h(x) = weight * sum of the nuclear norms of the layers that are matrices; vectors (biases) are not regularised.

    Source: FedSLR, (2), (15) and (16); which matrix a convolution is: `fedtheory.core.layers`.

    Parameters
    ----------
    weight : number or array ``(*batch, 1, 1)``
    layers : tuple of Layer
        How the coordinates are arranged; at least one layer must be a matrix.

    Examples
    --------
    >>> layers = (Layer("weights", (2, 2)),)
    >>> x = np.array([[3.0, 0.0, 0.0, 1.0]])  # a diagonal matrix, row by row
    >>> print(NuclearNorm(1.0, layers).prox(x, 2.0))
    [[1. 0. 0. 0.]]
    """

    weight: Scalar
    layers: tuple[Layer, ...]
    numeric_only: ClassVar[str | None] = "the proximal step of the nuclear norm is a singular value decomposition"

    def __post_init__(self) -> None:
        """Refuse weights that are not positive, and models without matrices."""
        positive(self, "weight")
        if all(layer.matrix_shape is None for layer in self.layers):
            raise InvalidInput(
                f"none of the layers {[layer.name for layer in self.layers]} is a matrix, so there is no nuclear norm; use L1 or Ridge"
            )

    def value(self, x: Points) -> ClientValues:
        """Return weight times the sum of all singular values."""
        xp = namespace(x)
        total = sum(xp.sum(s, axis=-1) for s in singular_values(x, self.layers))
        return _by_row(self.weight) * total

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """Soft thresholding of the singular values: U max(s - weight step, 0) V^T, layer by layer; vectors stay."""
        if is_object(v):
            raise CannotTrace(f"NuclearNorm cannot run on symbols: {self.numeric_only}")

        def shrink(matrix: Array) -> Array:
            xp = namespace(matrix)
            # one run of a batch that has diverged must not stop the others: a decomposition refuses what is not finite
            fine = xp.all(xp.isfinite(matrix), axis=(-2, -1), keepdims=True)
            u, s, vt = xp.linalg.svd(xp.where(fine, matrix, xp.zeros_like(matrix)), full_matrices=False)
            shrunk = xp.matmul(u * soft_threshold(s, self.weight * step)[..., None, :], vt)
            return xp.where(fine, shrunk, xp.full_like(shrunk, float("nan")))

        return map_matrices(v, self.layers, shrink)

    def conjugate(self, y: Points) -> ClientValues:
        """0 where every matrix has spectral norm at most weight and every vector is zero, infinity elsewhere."""
        xp = namespace(y)
        inside = [
            xp.all(part == 0, axis=-1)
            if layer.matrix_shape is None
            else xp.max(xp.linalg.svdvals(to_matrix(part, layer)), axis=-1) <= _by_row(self.weight)
            for part, layer in zip(split_layers(y, self.layers), self.layers, strict=True)
        ]
        return _zero_where(xp.all(xp.stack(inside, axis=-1), axis=-1), y)

    def distance(self, x: Points, g: Points) -> ClientValues:
        """Distance of 0 from g + subdifferential; singular values of x at rounding level (`fedtheory.core.layers.ranks`) count as zero.

        For a matrix W = U diag(s) V^T, s > 0, with gradient G, Q = (I - U U^T) G (I - V V^T): the square is
        ||G - Q + weight U V^T||^2 + sum_j max(sigma_j(Q) - weight, 0)^2.
        """
        squares = [
            squared_norm(gradient)
            if layer.matrix_shape is None
            else _squared_distance(to_matrix(point, layer), to_matrix(gradient, layer), self.weight)
            for point, gradient, layer in zip(
                split_layers(x, self.layers), split_layers(g, self.layers), self.layers, strict=True
            )
        ]
        return sum(squares[1:], squares[0]) ** 0.5

    def to_cvxpy(self, x: Any) -> Any:
        """Return weight times the nuclear norms of the reshaped parts of x."""
        import cvxpy

        total, places = 0.0, np.arange(sum(layer.size for layer in self.layers))
        for part, layer in zip(split_layers(places, self.layers), self.layers, strict=True):
            if layer.matrix_shape is not None:
                place = to_matrix(part, layer)
                total = total + cvxpy.normNuc(cvxpy.reshape(x[place.ravel()], place.shape, order="C"))
        return self.weight * total


def _squared_distance(w: Array, g: Array, weight: Scalar) -> Array:
    """Squared distance of 0 from g + weight * subdifferential of the nuclear norm at w: ``(..., rows, columns) -> (...)``."""
    xp = namespace(w, g)
    u, s, vt = xp.linalg.svd(w, full_matrices=False)
    seen = xp.astype(s > rounding_level(s, w.shape), s.dtype)[..., None, :]
    u, v = u * seen, xp.matrix_transpose(vt) * seen
    off = g - xp.matmul(u, xp.matmul(xp.matrix_transpose(u), g))
    off = off - xp.matmul(xp.matmul(off, v), xp.matrix_transpose(v))
    matrix = weight[..., None] if is_array(weight) else weight
    along = g - off + matrix * xp.matmul(u, xp.matrix_transpose(v))
    over = xp.linalg.svdvals(off) - weight
    over = xp.where(over > 0, over, 0 * over)
    return xp.sum(along * along, axis=(-2, -1)) + squared_norm(over)


def _by_row(weight: Scalar) -> Any:
    """Bring a weight ``(*batch, 1, 1)`` to the shape of values, ``(*batch, 1)``."""
    return weight[..., 0] if is_array(weight) else weight


def _zero_where(inside: Array, y: Array) -> Array:
    """Indicator function: 0 where ``inside`` ``(..., n)``, infinity elsewhere."""
    zero = namespace(y).sum(0 * y, axis=-1)
    return namespace(y).where(inside, zero, zero + float("inf"))


def soft_threshold(v: Array, threshold: Scalar) -> Array:
    """sign(v) max(|v| - threshold, 0), the proximal step of the l1 norm; fractions pass, symbols do not.

    Raises
    ------
    CannotTrace
        An entry is a symbol, whose size and sign are not known.
    """
    xp = namespace(v)
    try:
        size = xp.abs(v) - threshold
        return xp.sign(v) * xp.where(size > 0, size, 0 * size)
    except TypeError as error:
        raise CannotTrace(f"L1 cannot run on symbols: {L1.numeric_only} ({error})") from error


@dataclass(frozen=True, eq=False)
class Regularised(Wrapped):
    """A problem f = ``inner`` together with a shared convex h >= 0; the objective is f + h.

    Values, gradients, proximal steps and constants are those of the clients' f_i; the CVXPY model is that of f + h. A closed-form
    minimiser of f is withheld.

    Examples
    --------
    >>> sparse = Regularised(problem, L1(0.1))
    >>> x = np.ones((1, 5))
    >>> print(np.allclose(objective(sparse, x) - objective(problem, x), 0.5))
    True
    """

    regulariser: Regulariser

    withheld: ClassVar[frozenset[str]] = frozenset({"solution", "bracket"})

    @property
    def name(self) -> str:
        """Name of both parts."""
        return f"{self.inner.name} + {type(self.regulariser).__name__}"

    @property
    def layers(self) -> tuple[Layer, ...] | None:
        """Layers of f, or else those that h sees; None where neither has any."""
        found: tuple[Layer, ...] | None = getattr(self.inner, "layers", None) or getattr(
            self.regulariser, "layers", None
        )
        return found

    def changed_to_cvxpy(self, model: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
        """The variable, and f + h."""
        x, smooth = model()
        return x, smooth + self.regulariser.to_cvxpy(x)


def regularised(problem: Any, regulariser: Regulariser) -> Regularised:
    """Attach a shared regulariser to a problem that has none.

    Raises
    ------
    InvalidInput
        They are exchanged, or the regulariser is a class.
    NotAvailable
        The problem has one already.
    """
    if not hasattr(problem, "grad") or isinstance(regulariser, type) or not hasattr(regulariser, "prox"):
        kinds = f"{type(problem).__name__} and {regulariser if isinstance(regulariser, type) else type(regulariser).__name__}"
        raise InvalidInput(f"expected a problem and a regulariser, such as L1(0.1), in this order; got {kinds}")
    if can(problem, "regulariser"):
        raise NotAvailable(f"the problem {problem.name!r} has a regulariser already ({problem.regulariser})")
    return Regularised(problem, regulariser)


def shared_regulariser(problem: Any) -> Regulariser:
    """Return the problem's regulariser h; zero where it has none."""
    found: Regulariser | None = getattr(problem, "regulariser", None)
    return Zero() if found is None else found


def slope(problem: Problem, x: ServerPoint) -> RunValues:
    """Distance of 0 from grad f(x) + subdifferential of h at a common point; ||grad f(x)|| without h."""
    return shared_regulariser(problem).distance(x, gradient(problem, x))[..., 0]

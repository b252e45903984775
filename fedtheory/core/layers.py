"""How the coordinates of a model are arranged in layers, and layers as matrices: masks, ranks, factors.

A linear layer is the matrix it is stored as. A convolution stored as (out, in, height, width) becomes the matrix of shape
(out * height, in * width) whose rows are pairs (output channel, first kernel index) and whose columns are pairs (input channel, second
kernel index): scheme 2 of Idelbayev and Carreira-Perpinan (2020), which FedSLR uses (footnote 1). A factorisation of rank r is then two
convolutions, r filters of size 1 x width and then ``out`` filters of size height x 1. Vectors (biases, scales) are not matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, clamp, is_object, namespace
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.shapes import ClientValues, LayerMatrices, Points, Vectors


@dataclass(frozen=True)
class Layer:
    """A named block of coordinates with a shape; blocks follow each other in the vector x, each in row-major order.

    Examples
    --------
    >>> print(Layer("weights", (3, 4)).size)
    12
    """

    name: str
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse shapes that are neither vectors nor matrices nor convolutions."""
        if len(self.shape) not in (1, 2, 4) or any(side < 1 for side in self.shape):
            raise InvalidInput(
                f"layer {self.name!r} has shape {self.shape}; expected (k,), (rows, columns) or (out, in, height, width)"
            )

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return math.prod(self.shape)

    @property
    def matrix_shape(self) -> tuple[int, int] | None:
        """Rows and columns of the layer's matrix; None for vectors."""
        if len(self.shape) == 4:
            out, into, height, width = self.shape
            return out * height, into * width
        return (self.shape[0], self.shape[1]) if len(self.shape) == 2 else None


def split_layers(x: Vectors, layers: tuple[Layer, ...]) -> list[Array]:
    """Cut vectors into the layers' arrays ``(..., *shape)``.

    Raises
    ------
    InvalidInput
        The layers do not add up to d.
    """
    total = sum(layer.size for layer in layers)
    if total != x.shape[-1]:
        raise InvalidInput(
            f"the layers {', '.join(layer.name for layer in layers)} have {total} coordinates, the model {x.shape[-1]}"
        )
    found, first = [], 0
    for layer in layers:
        part = x[..., first : first + layer.size]
        found.append(namespace(x).reshape(part, (*x.shape[:-1], *layer.shape)))
        first += layer.size
    return found


def layer_mask(layers: tuple[Layer, ...], names: Collection[str]) -> NDArray[np.bool_]:
    """Which coordinates belong to the named layers: ``(d,)``.

    Raises
    ------
    InvalidInput
        A name is not a layer's; the message lists the layers.
    """
    known = [layer.name for layer in layers]
    unknown = [name for name in names if name not in known]
    if isinstance(names, str) or unknown:
        raise InvalidInput(f"{names!r} is not a collection of layers of this model; its layers are {', '.join(known)}")
    return np.concatenate([np.full(layer.size, layer.name in names) for layer in layers])


def to_matrix(part: Array, layer: Layer) -> LayerMatrices:
    """Matrices of a layer that is one (`Layer.matrix_shape`): from ``(..., *shape)``."""
    if len(layer.shape) == 2:
        return part
    xp, lead = namespace(part), part.shape[:-4]
    return xp.reshape(xp.moveaxis(part, -2, -3), (*lead, *_matrix_shape(layer)))


def from_matrix(matrix: LayerMatrices, layer: Layer) -> Vectors:
    """Coordinates of a layer given as matrices, the inverse of `to_matrix`."""
    xp, lead = namespace(matrix), matrix.shape[:-2]
    if len(layer.shape) == 4:
        out, into, height, width = layer.shape
        matrix = xp.moveaxis(xp.reshape(matrix, (*lead, out, height, into, width)), -2, -3)
    return xp.reshape(matrix, (*lead, layer.size))


def map_matrices(x: Points, layers: tuple[Layer, ...], change: Callable[[LayerMatrices], LayerMatrices]) -> Points:
    """Apply ``change`` to the matrix of every layer that is one; vectors stay."""
    parts = [
        part if layer.matrix_shape is None else from_matrix(change(to_matrix(part, layer)), layer)
        for part, layer in zip(split_layers(x, layers), layers, strict=True)
    ]
    return namespace(x).concat(parts, axis=-1)


def singular_values(x: Points, layers: tuple[Layer, ...]) -> list[Array]:
    """Singular values ``(..., n, min(rows, columns))`` of every layer that is a matrix, in the layers' order.

    Raises
    ------
    CannotTrace
        The entries are symbols.
    """
    if is_object(x):
        raise CannotTrace(
            "singular values of layers need numbers, and these are symbols; a nuclear norm cannot be followed symbolically"
        )
    return [
        namespace(x).linalg.svdvals(to_matrix(part, layer))
        for part, layer in zip(split_layers(x, layers), layers, strict=True)
        if layer.matrix_shape is not None
    ]


def rounding_level(s: Array, shape: tuple[int, ...]) -> Array:
    """Size below which a singular value counts as zero, max(rows, columns) * eps * max s: the backward error of the decomposition."""
    xp = namespace(s)
    return xp.max(s, axis=-1, keepdims=True) * (max(shape[-2:]) * xp.finfo(s.dtype).eps)


def ranks(x: Points, layers: tuple[Layer, ...]) -> Array:
    """Numerical ranks (`rounding_level`) of the layers that are matrices: ``(..., n, d) -> (..., n, matrices)``, whole numbers."""
    xp = namespace(x)
    shapes = [layer.matrix_shape for layer in layers if layer.matrix_shape is not None]
    found = [
        xp.sum(xp.astype(s > rounding_level(s, shape), xp.int64), axis=-1)
        for s, shape in zip(singular_values(x, layers), shapes, strict=True)
    ]
    return xp.stack(found, axis=-1) if found else xp.astype(x[..., :0], xp.int64)


def factor_floats(x: Points, layers: tuple[Layer, ...]) -> ClientValues:
    """Floats that sending the model by factors takes.

    A matrix of rank r is sent as U (rows, r) and V (columns, r), the singular values multiplied into them: r (rows + columns) floats, or
    rows * columns where that is fewer. Vectors are sent in full.
    """
    vectors = sum(layer.size for layer in layers if layer.matrix_shape is None)
    shapes = [layer.matrix_shape for layer in layers if layer.matrix_shape is not None]
    r = ranks(x, layers)
    total = namespace(x).sum(0 * r, axis=-1) + vectors
    for k, (rows, columns) in enumerate(shapes):
        total = total + clamp(r[..., k] * (rows + columns), high=rows * columns)
    return total


def truncate(x: Points, layers: tuple[Layer, ...], rank: int) -> Points:
    """Best approximation of the given rank, layer by layer in the Frobenius norm; vectors stay."""
    if rank < 0:
        raise InvalidInput(f"rank must not be negative, got {rank}")

    def cut(matrix: Array) -> Array:
        xp = namespace(matrix)
        u, s, vt = xp.linalg.svd(matrix, full_matrices=False)
        r = min(rank, s.shape[-1])
        return xp.matmul(u[..., :r] * s[..., None, :r], vt[..., :r, :])

    return map_matrices(x, layers, cut)


def _matrix_shape(layer: Layer) -> tuple[int, int]:
    shape = layer.matrix_shape
    assert shape is not None
    return shape

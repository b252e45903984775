"""States as bundles of arrays: selecting rows of a batch, flattening to vectors, saving."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, is_array, like, namespace, to_numpy
from fedtheory.core.shapes import Vectors


def arrays_of(state: Any) -> dict[str, Array]:
    """Return the array fields of a state, by name; fields that are None are left out."""
    found = {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}
    return {name: value for name, value in found.items() if is_array(value)}


def select_rows(rows: NDArray[np.bool_], yes: Any, no: Any) -> Any:
    """Return the state that is ``yes`` in the runs where ``rows`` ``(*batch,)`` is True and ``no`` elsewhere."""
    mask = rows[..., None, None]
    chosen = {}
    for name, new in arrays_of(no).items():
        chosen[name] = namespace(new).where(like(mask, new), getattr(yes, name), new)
    return dataclasses.replace(no, **chosen)


def to_host(state: Any) -> dict[str, NDArray[Any]]:
    """Copy the array fields to the host."""
    return {name: to_numpy(value) for name, value in arrays_of(state).items()}


def from_host(state: Any, values: dict[str, NDArray[Any]]) -> Any:
    """Put host values into a state of the same structure, in the state's own library and dtype."""
    return dataclasses.replace(state, **{name: like(value, getattr(state, name)) for name, value in values.items()})


@dataclass(frozen=True)
class Layout:
    """How a state's arrays line up in one long vector: names, shapes ``(clients, d)`` and offsets."""

    template: Any
    shapes: tuple[tuple[str, tuple[int, int]], ...]

    @classmethod
    def of(cls, state: Any) -> Layout:
        """Read the layout off an unbatched state."""
        shapes = tuple((name, (int(v.shape[-2]), int(v.shape[-1]))) for name, v in arrays_of(state).items())
        return cls(state, shapes)

    @property
    def size(self) -> int:
        """Length of the vector."""
        return sum(rows * columns for _, (rows, columns) in self.shapes)

    def slices(self) -> dict[str, slice]:
        """Where each field lies in the vector."""
        found, start = {}, 0
        for name, (rows, columns) in self.shapes:
            found[name] = slice(start, start + rows * columns)
            start += rows * columns
        return found

    def flatten(self, state: Any) -> Vectors:
        """A state of arrays ``(..., clients, d)`` as vectors of length `size`."""
        fields = arrays_of(state)
        xp = namespace(*fields.values())
        batch = np.broadcast_shapes(*(fields[name].shape[:-2] for name, _ in self.shapes))
        parts = [
            xp.reshape(xp.broadcast_to(fields[name], (*batch, *shape)), (*batch, shape[0] * shape[1]))
            for name, shape in self.shapes
        ]
        return xp.concat(parts, axis=-1)

    def unflatten(self, vector: Vectors) -> Any:
        """The state that vectors of length `size` stand for."""
        xp = namespace(vector)
        where = self.slices()
        fields = {
            name: xp.reshape(vector[..., where[name]], (*vector.shape[:-1], *shape)) for name, shape in self.shapes
        }
        return dataclasses.replace(self.template, **fields)

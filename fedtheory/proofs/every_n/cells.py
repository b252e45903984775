"""Arrays of one entry that stands for all clients: what a round computes with where clients are exchangeable.

Such an array has the shape ``(rows, d)`` that it has in a run: one row for a quantity of the server, otherwise as many as there are clients, a
number only where it is stated. What needs the rows themselves (a mean that is not `fedtheory.core.arrays.average`, a loop over clients) is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fedtheory.core.errors import CannotTrace
from fedtheory.proofs.every_n.vectors import Sampling


class AnyRows(np.ndarray):
    """An object array ``(1, d)`` whose one row, of vectors of every client, stands for all rows; ``rows`` is how many those are.

    A vector is one entry whatever its dimension, so that d is 1 unless a method puts vectors side by side.
    """

    rows: Any = 1

    def __array_finalize__(self, source: Any) -> None:
        """What is made from an array has as many rows."""
        self.rows = getattr(source, "rows", 1)

    @property  # type: ignore[misc]
    def shape(self) -> Any:  # type: ignore[override]
        """The shape with the rows of a run."""
        return (self.rows, *self.view(np.ndarray).shape[1:])

    @property
    def size(self) -> Any:  # type: ignore[override]
        """How many entries it has in a run."""
        return self.rows * self.view(np.ndarray).size

    @property
    def content(self) -> Any:
        """The entry.

        Raises
        ------
        CannotTrace
            There are several, from a hyper-parameter of several values.
        """
        return _only_entry(self.view(np.ndarray))

    def averaged(self, clients: Sampling | None) -> AnyRows:
        """The average over all clients, or over those that take part."""
        return self._mapped(lambda vector: vector.averaged(clients), 1)

    def scattered(self, clients: Sampling, new: Any) -> AnyRows:
        """The rows of ``new`` for the clients that take part."""
        return cell(self.content.scattered(clients, entry(new)), self.rows)

    def gathered(self, clients: Sampling) -> AnyRows:
        """The rows of those that take part; what the server has stays as it is."""
        return self if _is_one(self.rows) else self.with_rows(clients.s)

    def with_rows(self, n: Any) -> AnyRows:
        """The same for each of n clients."""
        return self._mapped(lambda vector: vector, n)

    def _mapped(self, change: Callable[[Any], Any], rows: Any) -> AnyRows:
        made = np.empty(self.view(np.ndarray).shape, dtype=object)
        for at, vector in np.ndenumerate(self.view(np.ndarray)):
            made[at] = change(vector)
        found: AnyRows = _as_cells(made, rows)
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Entry by entry; what goes along an axis is refused."""
        if method != "__call__" or ufunc.signature is not None:
            _refuse(f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}"))
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        try:
            found = ufunc(*map(_plain, inputs), **options)
        except CannotTrace:
            raise
        except TypeError as error:  # such as a number that is added to every entry of a vector
            raise CannotTrace(f"np.{ufunc.__name__} is not one of vectors: {error}") from None
        return _as_cells(found, _common_rows(inputs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Functions of NumPy that do not look at rows; the others are refused."""
        if func is np.broadcast_to:
            return self.with_rows((args[1] if len(args) > 1 else kwargs["shape"])[-2])
        if func is np.concatenate and kwargs.get("axis", 0) == -1:
            return _as_cells(func([*map(_plain, args[0])], axis=-1), _common_rows(args[0]))
        if func in _ENTRY_BY_ENTRY:
            return _as_cells(func(*map(_plain, args), **kwargs), _common_rows(args))
        _refuse(f"np.{func.__name__}")

    def __getitem__(self, key: Any) -> Any:
        """All rows, or some entries of all of them; some of the rows are refused."""
        if isinstance(key, tuple) and len(key) == 2 and key[0] in (Ellipsis, slice(None)) and isinstance(key[1], slice):
            return super().__getitem__(key)
        _refuse("an index that may pick some of the rows")

    def __len__(self) -> int:
        """How many rows there are; refused where that is the number of any clients."""
        return int(self.rows)

    def __iter__(self) -> NoReturn:
        """Refused: a loop over clients."""
        _refuse("a loop over the rows")


#: functions of NumPy that may be called
_ENTRY_BY_ENTRY: tuple[Callable[..., Any], ...] = (
    np.zeros_like,
    np.ones_like,
    np.full_like,
    np.copy,
    np.broadcast_arrays,
)


def cell(content: Any, rows: Any = 1) -> AnyRows:
    """An array of one entry; ``rows`` are those that it has in a run."""
    plain = np.empty((1, 1), dtype=object)
    plain[0, 0] = content
    made: AnyRows = _as_cells(plain, rows)
    return made


def entry(x: Any) -> Any:
    """What an array of one entry holds.

    Raises
    ------
    CannotTrace
        It holds several.
    """
    return _only_entry(_plain(x))


def _only_entry(plain: Any) -> Any:
    if plain.shape != (1, 1):
        raise CannotTrace(
            f"the worst case for every n takes one value of each hyper-parameter; an array of shape {plain.shape} came up"
        )
    return plain[0, 0]


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, AnyRows) else x


def _as_cells(found: Any, rows: Any) -> Any:
    """Arrays that a function made, with their rows."""
    if isinstance(found, tuple | list):
        return tuple(_as_cells(each, rows) for each in found)
    made: Any = found.view(AnyRows)
    made.rows = rows
    return made


def _is_one(rows: Any) -> bool:
    return isinstance(rows, int) and rows == 1


def _common_rows(inputs: Any) -> Any:
    """The rows of what is computed from some arrays, entry by entry."""
    found: Any = 1
    for rows in (a.rows for a in inputs if isinstance(a, AnyRows)):
        if _is_one(found):
            found = rows
        elif not (_is_one(rows) or rows == found):
            raise CannotTrace(
                f"the round combines an array of {found} rows with one of {rows}; gather(...) the rows of the clients that take part first"
            )
    return found


def _refuse(done: str) -> NoReturn:
    raise CannotTrace(
        f"the round asks for {done} of an array that has a row for every client, and here one row stands for all of them; "
        "clients meet in fedtheory.core.arrays.average only: write average(x) for a mean over clients"
    )

"""The floating-point precision of problems, methods and states: which it is, and the same in another.

What is seen of an object are its arrays and those of dataclasses that it holds; whole numbers, conditions, symbols and plain numbers have no
precision of their own and stay as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, TypeVar

from fedtheory.core.arrays import Array, is_array, is_object, namespace

T = TypeVar("T")


def has_floats(x: Any) -> bool:
    """Whether x is an array of floating-point numbers."""
    return is_array(x) and not is_object(x) and bool(namespace(x).isdtype(x.dtype, "real floating"))


def bits_of(x: Array) -> int:
    """Number of bits of an entry of an array of floats."""
    return int(namespace(x).finfo(x.dtype).bits)


def find_floats(owner: Any) -> Iterator[Array]:
    """Go through the arrays of floats of an object."""
    for value in _fields(owner).values():
        if has_floats(value):
            yield value
        else:
            yield from find_floats(value)


def in_precision_of(owner: T, reference: Array) -> T:
    """Return the object with its floats, those in the library of a reference array, in the reference's dtype; itself where they are already."""
    changed: dict[str, Any] = {}
    for name, value in _fields(owner).items():
        if has_floats(value):
            if type(value) is type(reference) and value.dtype != reference.dtype:
                changed[name] = namespace(value).astype(value, reference.dtype)
        else:
            cast = in_precision_of(value, reference)
            if cast is not value:
                changed[name] = cast
    return dataclasses.replace(owner, **changed) if changed else owner  # type: ignore[type-var]


def _fields(owner: Any) -> dict[str, Any]:
    if not dataclasses.is_dataclass(owner) or isinstance(owner, type):
        return {}
    return {field.name: getattr(owner, field.name) for field in dataclasses.fields(owner) if field.init}

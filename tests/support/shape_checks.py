"""A run-time type checker for jaxtyping that looks at shapes alone and passes over all other annotations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from jaxtyping import AbstractArray


def shapes_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Raise a `TypeError` where an argument or the result does not have the shape that its annotation says."""
    hints = {name: hint for name, hint in function.__annotations__.items() if speaks_of_shapes(hint)}
    if not hints:
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        given = signature.bind(*args, **keywords).arguments
        for name, hint in hints.items():
            if name in given:
                require_shape(name, given[name], hint)
        found = function(*args, **keywords)
        if "return" in hints:
            require_shape("the result", found, hints["return"])
        return found

    return checked


def speaks_of_shapes(hint: Any) -> bool:
    """Whether a shape occurs in an annotation, other than as an argument or the result of a function."""
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return get_origin(hint) in (tuple, list, Annotated, Union, UnionType) and any(map(speaks_of_shapes, get_args(hint)))


def require_shape(name: str, value: Any, hint: Any) -> None:
    if not fits(value, hint):
        raise TypeError(f"{name} is {getattr(value, 'shape', value)}, not {hint}")


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has the shapes that its annotation speaks of."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return fits(value, parts[0])
    if kind in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if kind is list:
        return all(fits(entry, parts[0]) for entry in value)
    if kind is tuple and Ellipsis not in parts:
        return len(value) == len(parts) and all(map(fits, value, parts))
    if hint is type(None) or hint is None:
        return value is None
    if not speaks_of_shapes(hint):
        return True
    if not hasattr(value, "shape"):  # a number or a symbol, as what is left of an array without axes
        return len(hint.dims) == 1 and hint.index_variadic == 0
    return isinstance(value, hint)

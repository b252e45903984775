"""What a hyper-parameter may be: rules that refuse all else, and the annotations that carry them.

A rule is a function of an object and a field's name; it raises `InvalidInput`. ``rho: Positive`` in a class whose ``__post_init__`` calls
`check_fields` says all there is to say of rho.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from fedtheory.core.arrays import Scalar, is_array, numbers_of, to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.numbers import at_least_one, is_exactly


def momentum_in_range(owner: Any, name: str) -> None:
    """Refuse a momentum parameter outside [0, 1); symbols are let through.

    Raises
    ------
    InvalidInput
        A number lies outside, or an array does not have the shape ``(*batch, 1, 1)``.
    """
    value = number_like(owner, name)
    if is_array(value) and tuple(value.shape[-2:]) != (1, 1):
        raise InvalidInput(f"{name} has shape {tuple(value.shape)}; expected a number or an array (*batch, 1, 1)")
    numbers = numbers_of(value)
    if numbers is not None and not np.all((numbers >= 0) & (numbers < 1)):
        raise InvalidInput(
            f"{name} must lie in [0, 1), got {value}; with rho = nu/L = 1 one round is exact for every {name}"
        )


def plain(owner: Any, name: str) -> Any:
    """Return a hyper-parameter, a NumPy scalar turned into a Python number first.

    NumPy scalars are not weak: an ``np.float64`` step would turn a run in float32 into float64.
    """
    value = getattr(owner, name)
    if isinstance(value, np.generic):
        value = value.item()
        object.__setattr__(owner, name, value)
    return value


def number_like(owner: Any, name: str) -> Any:
    """Return a hyper-parameter that can be calculated with: a number, an array, a symbol, or a schedule, which is a function.

    Raises
    ------
    InvalidInput
        It is something else, such as a text, a list, or a local solver in the place of a number.
    """
    value = plain(owner, name)
    calculates = hasattr(type(value), "__rmul__") and not isinstance(value, str | bytes | bytearray | list | tuple)
    schedule = callable(value) and not isinstance(value, type) and not hasattr(value, "numeric_only")
    if not (calculates or schedule):
        raise InvalidInput(f"{name} must be a number, got {_shown(value)}{_order_of(owner)}")
    return value


def _shown(value: Any) -> str:
    """The value and its kind, in one short line."""
    text = " ".join(repr(value).split())
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def _order_of(owner: Any) -> str:
    """What an object takes, in order, for messages on what was put in the wrong place."""
    names = [f.name for f in dataclasses.fields(owner) if f.init] if dataclasses.is_dataclass(owner) else []
    return f"; {type(owner).__name__} takes, in this order, {', '.join(names)}" if len(names) > 1 else ""


def positive(owner: Any, name: str) -> None:
    """Refuse a hyper-parameter that is not positive and finite; symbols and schedules are let through.

    Raises
    ------
    InvalidInput
        A value is zero, negative, infinite or not a number, or an array does not have the shape ``(*batch, 1, 1)``.
    """
    value = number_like(owner, name)
    if is_array(value) and tuple(value.shape[-2:]) != (1, 1):
        raise InvalidInput(
            f"{name} has shape {tuple(value.shape)}; expected a number or an array (*batch, 1, 1), which "
            "fedtheory.core.arrays.along_batch(values) makes"
        )
    numbers = numbers_of(value)
    if numbers is None:
        return
    if not np.all(numbers > 0):
        raise InvalidInput(f"{name} must be positive, got {value}")
    if not np.all(np.isfinite(numbers)):
        raise InvalidInput(f"{name} must be finite, got {value}")


def constant_step(owner: Any, name: str) -> None:
    """Refuse a step size that is not positive, and a schedule, by the name of the method that takes none."""
    if callable(number_like(owner, name)):
        raise InvalidInput(
            f"{type(owner).__name__} has one {name} for all rounds; expected a number, got the schedule {getattr(owner, name)}"
        )
    positive(owner, name)


def not_negative(owner: Any, name: str) -> None:
    """Refuse a hyper-parameter that is neither positive nor the number zero."""
    value = plain(owner, name)
    if not is_exactly(value, 0):
        positive(owner, name)


def share(owner: Any, name: str) -> None:
    """Refuse a hyper-parameter outside (0, 1]; symbols are let through."""
    positive(owner, name)
    numbers = numbers_of(getattr(owner, name))
    if numbers is not None and np.any(numbers > 1):
        raise InvalidInput(f"{name} must lie in (0, 1], got {getattr(owner, name)}")


def on_host(owner: Any, name: str) -> Any:
    """Return a hyper-parameter on which the host decides, such as a probability; an array of a device is brought to the host for good."""
    value = plain(owner, name)
    if is_array(value) and not isinstance(value, np.ndarray):
        value = to_numpy(value)
        object.__setattr__(owner, name, value)
    return value


def probability(owner: Any, name: str) -> None:
    """Refuse a probability outside (0, 1], and bring it to the host, where coins are tossed; symbols are let through."""
    value = on_host(owner, name)
    numbers = numbers_of(value)
    if numbers is not None and not np.all((numbers > 0) & (numbers <= 1)):
        raise InvalidInput(f"the probability {name} must lie in (0, 1], got {value}")
    positive(owner, name)


def count(owner: Any, name: str) -> None:
    """Refuse a count below one."""
    at_least_one(name, getattr(owner, name))


Positive = Annotated[
    Scalar, positive
]  # above zero: a number, an array (*batch, 1, 1), a symbol, or a schedule over rounds
NotNegative = Annotated[Scalar, not_negative]  # the same, or the number zero
ConstantStep = Annotated[Scalar, constant_step]  # a step size above zero that is the same in all rounds
Share = Annotated[Scalar, share]  # in (0, 1]
Probability = Annotated[Scalar, probability]  # the same, of an event that the host decides
Momentum = Annotated[Scalar, momentum_in_range]  # in [0, 1)
Count = Annotated[int, count]  # 1, 2, ...


def check_fields(owner: Any) -> None:
    """Check the fields of an object by the rules of their annotations: `Annotated` ones, the words of a `Literal`, a `Protocol`'s members.

    A field that may be None is not checked where it is None, and one that may be a function is not where it is one.

    Raises
    ------
    InvalidInput
        A value is outside what its annotation allows.
    """
    kind: Any = type(owner)
    for name, rule in _rules(kind):
        rule(owner, name)


@cache
def _rules(kind: type) -> tuple[tuple[str, Callable[[Any, str], None]], ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple((name, rule) for name, hint in hints.items() for rule in _rules_of(hint))


def _rules_of(hint: Any) -> Iterator[Callable[[Any, str], None]]:
    words = [word for part in (hint, *get_args(hint)) if get_origin(part) is Literal for word in get_args(part)]
    if words:
        yield _one_of(tuple(words) + ((None,) if type(None) in get_args(hint) else ()))
    choices = get_args(hint)
    for part in (hint, *choices):
        if getattr(part, "_is_protocol", False):
            yield _unless(_member_of(part), type(None) in choices, False)
    exempt = (type(None) in choices, any(get_origin(c) is Callable or c is Callable for c in choices))
    for part in (hint, *choices):
        for rule in getattr(part, "__metadata__", ()):
            if callable(rule):
                yield _unless(rule, *exempt)


def _unless(rule: Callable[[Any, str], None], none: bool, function: bool) -> Callable[[Any, str], None]:
    def check(owner: Any, name: str) -> None:
        value = getattr(owner, name)
        if not ((none and value is None) or (function and callable(value))):
            rule(owner, name)

    return check


def _member_of(protocol: Any) -> Callable[[Any, str], None]:
    """Refuse what has not all public members of a protocol, and calls where it is called."""
    members = [name for name in vars(protocol) if name == "__call__" or not name.startswith("_")]

    def check(owner: Any, name: str) -> None:
        value = getattr(owner, name)
        if isinstance(value, type) or not all(hasattr(value, member) for member in members):
            kind = re.sub("(?<!^)(?=[A-Z])", " ", protocol.__name__).lower()
            raise InvalidInput(f"{name} must be a {kind}, got {_shown(value)}{_order_of(owner)}")

    return check


def _one_of(words: tuple[Any, ...]) -> Callable[[Any, str], None]:
    def check(owner: Any, name: str) -> None:
        if getattr(owner, name) not in words:
            said = [repr(word) for word in words]
            expected = f"{', '.join(said[:-1])} or {said[-1]}" if len(said) > 1 else said[0]
            raise InvalidInput(f"{name} must be {expected}, got {getattr(owner, name)!r}")

    return check

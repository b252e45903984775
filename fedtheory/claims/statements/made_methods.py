"""A method of a statement in words: a listed one by its name and options, one that a function of parameters makes by its class and fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.formula_texts import write
from fedtheory.claims.statements.named_methods import NamedMethod
from fedtheory.claims.statements.pictures import name_given
from fedtheory.claims.statements.written import generic_numbers, number_tree
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.regions.region import Region


def describe_made(given: Any, options: str, region: Region) -> str:
    """A method and its options; of a function of parameters, the class of what it makes, and its fields that are no defaults.

    Examples
    --------
    >>> from fedtheory.algorithms import FedDyn
    >>> print(describe_made(lambda eta: FedDyn(1 / eta), "", Region.parse("0 < eta")))
    FedDyn(rho = 1/eta)
    """
    if isinstance(given, str):
        return f"{given}{f' with {options}' if options else ''}"
    try:
        made = NamedMethod(given).over(generic_numbers(region))
        return f"{type(made).__name__}({', '.join(_fields(made))})"
    except (FedtheoryError, TypeError, ValueError, ArithmeticError):
        return name_given(given)


def _fields(made: Any) -> Iterator[str]:
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        if value is not field.default and value != field.default:
            yield f"{field.name} = {_show(value)}"


def _show(value: Any) -> str:
    """A number by its formula; a function of the round by what it is in the first one and the next, where that is the same."""
    if isinstance(value, int | Fraction):
        return write(number_tree(value))
    if callable(value) and not dataclasses.is_dataclass(value):
        first, second = value(0), value(1)
        return f"{_show(first)} in every round" if first is not None and first == second else "a function of the round"
    return str(value)

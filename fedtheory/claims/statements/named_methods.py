"""A method as statements name it: a listed name with options that are expressions in parameters, or a function of parameters.

``NamedMethod("scaffold", "lr, steps = K")`` is SCAFFOLD with the step size lr and K local steps, for numbers of any kind: fractions, floats, symbols.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.catalogue import listed
from fedtheory.algorithms.listing import Listed
from fedtheory.algorithms.options import Option
from fedtheory.core.errors import InvalidInput
from fedtheory.core.exact import rational
from fedtheory.proofs.regions.expressions import Expression, split_at_commas
from fedtheory.proofs.regions.region import Region

NOT_USED = "none"  #: the word for an option that is not used
ParameterPoint: TypeAlias = Mapping[str, Fraction]  # values of parameters by name
Formula: TypeAlias = str | int | float | Fraction  # an expression, or a number


@dataclass(frozen=True)
class NamedMethod:
    """A method as a function of parameters.

    Parameters
    ----------
    method : name of a listed method, or function of parameters to a method
        A function is called with the parameters that its arguments are named after.
    options : str
        Options of the listed method: ``"lr = 1/L, steps = K, exact = false"``; ``lr`` alone stands for ``lr = lr``, and ``batch = none`` says that
        an option is not used.
    """

    method: str | Callable[..., Algorithm]
    options: str = ""

    @cached_property
    def expressions(self) -> dict[str, Expression]:
        """Options that are numbers, by name.

        Raises
        ------
        InvalidInput
            The method has no such option, or its text cannot be read.
        """
        if not isinstance(self.method, str):
            if self.options:
                raise InvalidInput(f"options belong to listed methods, and {self.method!r} is a function of parameters")
            return {}
        options = {option.name: option for option in listed(self.method).options}
        found = {}
        for name, text in self.texts.items():
            if name not in options:
                raise InvalidInput(f"{self.method} has no option {name!r}; it has {', '.join(options)}")
            if not _is_word(options[name], text):
                found[name] = Expression.parse(text)
        return found

    def at(self, point: ParameterPoint) -> Algorithm:
        """The method, with fractions for its numbers."""
        return rational(self.over(point))  # type: ignore[no-any-return]

    @cached_property
    def texts(self) -> dict[str, str]:
        """The options that are given, by name."""
        return read_settings(self.options)

    @property
    def entry(self) -> Listed | None:
        """The listed method; None for a function of parameters."""
        return listed(self.method) if isinstance(self.method, str) else None

    def over(self, point: Mapping[str, Any], constant: Callable[[Fraction], Any] = Fraction) -> Algorithm:
        """The method with numbers of any kind for its parameters; ``constant`` makes such of the numbers in its options (float for arrays)."""
        if not isinstance(self.method, str):
            return call_with_parameters(self.method, point)  # type: ignore[no-any-return]
        return listed(self.method).build(**self.settings(point, constant))

    def settings(self, point: Mapping[str, Any], constant: Callable[[Fraction], Any] = Fraction) -> dict[str, Any]:
        """The values of the options that are given; of a function of parameters there are none."""
        values: dict[str, Any] = {}
        for option in () if self.entry is None else self.entry.options:
            if option.name in self.expressions:
                values[option.name] = _number(option, self.expressions[option.name].at(point, constant))
            elif option.name in self.texts:
                values[option.name] = _word(option, self.texts[option.name])
        return values

    def slips(self, region: Region) -> Iterator[tuple[str, str | Callable[..., Algorithm], str]]:
        """The method with one number a little off, for each of its options, or arguments: in words, and as ``method`` and ``options``.

        What is whole is one more, everything else one per cent less.
        """
        if isinstance(self.method, str):
            kinds = {o.name: o.kind for o in listed(self.method).options}
            for name, expression in self.expressions.items():
                moved = _a_little_off(expression, kinds[name] is int)
                settings = ", ".join(f"{k} = {v}" for k, v in {**self.texts, name: str(moved)}.items())
                yield f"{name} = {moved}", self.method, settings
            return
        integers = {p.name for p in region.parameters if p.integer or p.whole}
        for name in inspect.signature(self.method).parameters:
            moved = _a_little_off(Expression.parse(name), name in integers)
            yield f"{moved} in the place of {name}", _with_another(self.method, name, moved), ""

    @property
    def what_the_server_has(self) -> str:
        """Of a method whose server has data of its own, which these are where clients are those of a class; "" of others."""
        own = self.entry is not None and "server" in self.entry.needs
        return "the server's own data are those of all clients" if own else ""

    def __str__(self) -> str:
        made_by = (
            getattr(self.method, "__name__", "a method").replace("<lambda>", "a method").strip("_").replace("_", " ")
        )
        name = self.method if isinstance(self.method, str) else made_by
        return f"{name}({self.options})" if self.options else name


def read_settings(text: str) -> dict[str, str]:
    """``name = expression`` and ``name`` between the commas outside of parentheses."""
    found: dict[str, str] = {}
    for piece in split_at_commas(text):
        if piece.strip():
            name, sign, value = (part.strip() for part in piece.partition("="))
            if name in found:
                raise InvalidInput(f"{name!r} is given twice in {text!r}")
            found[name] = value if sign else name
    return found


def whole(name: str, value: Any) -> int:
    """A whole number, or an error that says whose."""
    if value != int(value):
        raise InvalidInput(f"{name} must be a whole number, got {value}")
    return int(value)


def call_with_parameters(make: Callable[..., Any], point: Mapping[str, Any]) -> Any:
    """What a function makes of the parameters that its arguments are named after; whole numbers are passed as such."""
    asked = list(inspect.signature(make).parameters)
    missing = [name for name in asked if name not in point]
    if missing:
        raise InvalidInput(f"a function of the statement asks for {missing[0]!r}, which is no parameter of the region")
    plain = {name: int(v) if isinstance(v, Fraction) and v.denominator == 1 else v for name, v in point.items()}
    return make(**{name: plain[name] for name in asked})


def _a_little_off(expression: Expression, is_whole: bool) -> Expression:
    return Expression.parse("x + 1" if is_whole else "99/100*x").substitute({"x": expression})


def _with_another(make: Callable[..., Algorithm], name: str, expression: Expression) -> Callable[..., Algorithm]:
    """The same function of parameters, one of which is another one."""

    def made(**values: Any) -> Algorithm:
        return make(**{**values, name: expression.at(values)})

    made.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]
    return made


def _is_word(option: Option, text: str) -> bool:
    """Whether an option's value is a word and no expression; of an option that is off by default one word is none."""
    return option.kind is bool or text in option.choices or (option.default is None and text == NOT_USED)


def _word(option: Option, text: str) -> Any:
    if option.kind is not bool:
        return None if option.default is None and text == NOT_USED else text
    if text not in (option.name, "true", "True", "false", "False"):
        raise InvalidInput(f"{option.name!r} is true or false, got {text!r}")
    return text not in ("false", "False")


def _number(option: Option, value: Any) -> Any:
    return whole(option.name, value) if option.kind is int else value

"""Facts: what a checker of this package confirmed, in exact arithmetic or in symbols, written down by the checker itself.

A fact is made by the function that checks it, and by nothing else: `fedtheory.proofs.symbolic.is_zero` writes an identity, `compare` a
comparison of exact numbers, `confirm` the answer of a checker of certificates or witnesses. A check runs inside `collect_facts`, and a proof
takes what was confirmed since the last one (`take_facts`); an argument that only says "True" finds none.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from fedtheory.core.errors import FedtheoryError, InvalidInput

How = Literal["identity", "difference", "sign", "comparison", "certificate", "witness", "derivation", "term"]
LONGEST_SHOWN = 200  #: characters of an expression that a fact shows; a longer one is described
LONGEST_KEPT = 20_000  #: characters of one that is kept beside its description

_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_SEAL = object()
_collected: ContextVar[list[Fact] | None] = ContextVar("facts", default=None)


@dataclass(frozen=True)
class Fact:
    """One thing that was checked: ``how``, and ``what`` in words made from the checked data.

    ``whole``: where it is so long that these describe it; ``data``: a proof object that a checker read.

    Raises
    ------
    FedtheoryError
        It is made by hand.
    """

    how: How
    what: str
    whole: str = ""
    seal: object = None
    data: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        """Take the seal off; only this module has it."""
        if self.seal is not _SEAL:
            raise FedtheoryError("a fact is made by the function that checks it, not by hand")
        object.__setattr__(self, "seal", None)

    def as_dict(self) -> dict[str, str]:
        """Plain data for a verdict."""
        return {"how": self.how, "what": self.what} | ({"whole": self.whole} if self.whole else {})


@contextmanager
def collect_facts(facts: list[Fact]) -> Iterator[None]:
    """Write the facts that are confirmed inside into a list, where `take_facts` finds them."""
    token = _collected.set(facts)
    try:
        yield
    finally:
        _collected.reset(token)


def facts_are_collected() -> bool:
    """Whether what checkers confirm is written down now, by `collect_facts`."""
    return _collected.get() is not None


def take_facts() -> tuple[Fact, ...]:
    """The facts that were confirmed since they were last taken; none outside `collect_facts`."""
    facts = _collected.get()
    taken = tuple(facts or ())
    if facts:
        facts.clear()
    return taken


def write_fact(how: How, what: str, whole: str = "", data: Mapping[str, Any] | None = None) -> None:
    """Write a fact down where facts are collected: for checkers, after they have confirmed it; with the proof object that they read."""
    facts = _collected.get()
    if facts is not None:
        fact = Fact(how, what, whole, _SEAL, data)
        if fact not in facts:
            facts.append(fact)


def show_expression(expression: Any) -> str:
    """An expression as text; a long number by its digits, another long one by its size and its symbols."""
    text = str(expression)
    if len(text) <= LONGEST_SHOWN:
        return text
    symbols = sorted(map(str, getattr(expression, "free_symbols", ())))
    if not symbols and getattr(expression, "is_number", False):
        return f"{expression.evalf(8)} (an exact number)"
    return f"an expression of {len(text)} characters in {', '.join(symbols) or 'numbers'}"


def is_long(expression: Any) -> bool:
    """Whether an expression is described, and not shown."""
    return len(str(expression)) > LONGEST_SHOWN


def write_identity(left: Any, right: Any, remark: str = "") -> None:
    """Write down that two expressions are one: both sides as they are, or what the identity is about, and the whole beside it."""
    if is_long(left) or is_long(right):
        names = set().union(*(getattr(side, "free_symbols", ()) for side in (left, right)))
        symbols = ", ".join(sorted(map(str, names)))
        whole = f"{left} = {right}"
        write_fact("identity", f"an identity in {symbols} ({len(whole)} characters){remark}", whole[:LONGEST_KEPT])
    else:
        write_fact("identity", f"{left} = {right}{remark}")


def compare(left: Any, sign: str, right: Any) -> bool:
    """Whether a comparison ``< <= > >= == !=`` of two exact numbers is true; the fact, or its opposite, is written down.

    Exact are whole numbers, fractions, and SymPy's numbers such as pi/2.

    Raises
    ------
    InvalidInput
        A side is not exact, as a float is not, or SymPy cannot decide.
    """
    a, b = _exact(left), _exact(right)
    outcome = _COMPARE[sign](a, b)
    if hasattr(outcome, "free_symbols") and outcome not in (True, False):
        raise InvalidInput(f"whether {left} {sign} {right} is not decided")
    true = bool(outcome)
    write_fact("comparison", f"{show_expression(a)} {sign if true else _OPPOSITE[sign]} {show_expression(b)}")
    return true


def _exact(value: Any) -> Any:
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return value
    if getattr(value, "is_number", False) and not getattr(value, "is_Float", False) and not value.atoms(_float_type()):
        return value
    if hasattr(value, "dtype") and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    raise InvalidInput(f"{value!r} is no exact number; expected a whole number, a fraction or an exact number of SymPy")


def _float_type() -> Any:
    import sympy

    return sympy.Float


def confirm(how: Literal["certificate", "witness"], check: Callable[[Any], Fraction], data: Any) -> Fraction:
    """Let a checker read a certificate or a witness; the value that it confirms is written down.

    Raises
    ------
    FedtheoryError
        The checker refuses it.
    """
    value = check(data)
    bound = "at most" if how == "certificate" else "at least"
    write_fact(how, f"the worst case is {bound} {value}, by {check.__module__.rpartition('.')[2]}", data=data)
    return value


def confirm_derivation(check: Callable[[Any], Any], data: Any, what: str) -> None:
    """Let a checker read a derivation for all parameters; that it accepts it is written down.

    Raises
    ------
    ValueError
        The checker refuses it.
    """
    check(data)
    write_fact(
        "derivation", f"{what}, by multipliers and pivots that are rational functions of the parameters", data=data
    )

"""What arguments rest on, as data: texts that SymPy decides, lemmas with a derivation, and functions that ask a checker themselves.

    ("(2*t + 1)**2 > 1 + 4*t**2", "s*(s - 1) == t**2 where s = (1 + sqrt(1 + 4*t**2))/2", STEP, other_facts)

Every name in a text is a positive symbol, whatever SymPy has of that name besides; ``exp``, ``log`` and ``sqrt`` are functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from fedtheory.claims import Lemma
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.core.errors import InvalidInput, require
from fedtheory.proofs.symbolic import agree, is_greater, symbols

Ground: TypeAlias = str | Lemma | Callable[[], bool]

_FUNCTIONS = ("exp", "log", "sqrt")


def are_so(grounds: Sequence[Ground]) -> bool:
    """Whether checkers confirm all of these; each that says something is then a fact."""
    return all(
        is_so(ground) if isinstance(ground, str) else is_derived(ground) if isinstance(ground, Lemma) else ground()
        for ground in grounds
    )


def is_so(text: str) -> bool:
    """Whether ``left == right`` or ``left > right``, where ``... where x = a, y = b`` puts in first x and then y; False where SymPy cannot tell.

    Raises
    ------
    InvalidInput
        The text is no such comparison.
    """
    compared, _, put = text.partition(" where ")
    sides = re.split(r"\s(==|>)\s", compared)
    if len(sides) != 3:
        raise InvalidInput(f"expected 'left == right' or 'left > right', perhaps with ' where x = ...', got {text!r}")
    left, right = _read(sides[0]), _read(sides[2])
    for name, value in (assignment.split(" = ") for assignment in put.split(", ") if assignment):
        left, right = (side.subs(_read(name), _read(value)) for side in (left, right))
    return agree(left, right) if sides[1] == "==" else is_greater(left, right)


def _read(text: str) -> Any:
    names = set(re.findall(r"[A-Za-z_]\w*", text)) - {*_FUNCTIONS}
    known = {name: symbols(name, positive=True) for name in names}
    return require("sympy", "identities in symbols").sympify(text, locals=known, rational=True)

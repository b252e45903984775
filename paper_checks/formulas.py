"""Functions of a ledger as formulas in the language of theorems, so that statement, runs and proof read one function."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fedtheory.claims import Theorem
from fedtheory.core.errors import require
from fedtheory.proofs.checker.formulas import read, show_tree


def exactly(expression: Any) -> Any:
    """An expression with fractions for the floats 0.5 and 1.0 in it."""
    return require("sympy", "bounds in symbols").nsimplify(expression, rational=True)


def formula(bound: Any, **texts: str) -> str:
    """A bound in the language of theorems, with ``texts``, formulas of that language, for its arguments."""
    return str(exactly(bound(**_named(texts))))


def formula_as_written(bound: Any, **texts: str) -> str:
    """The same, and nothing is simplified."""
    sympy, given = require("sympy", "bounds in symbols"), _named(texts)
    with sympy.evaluate(False):
        written = sympy.sstr(bound(**given), order="none")
    return re.sub(r"\*\*1\b(?![./])", "", written)  # of quotients by whole numbers


def formula_in_words(bound: Any, **texts: str) -> str:
    """The same for people to read: without parentheses that say nothing."""
    return show_tree(read(formula_as_written(bound, **texts)))


def over_outcomes(number: str) -> str:
    """The mean of a number of each outcome; of one that is 0 or 1, a probability."""
    return f"sum(w[r]*{number}, r, 0, N)"


def _named(texts: dict[str, str]) -> dict[str, Any]:
    Symbol = require("sympy", "bounds in symbols").Symbol
    own = {name: text if re.fullmatch(r"\w+(\[[^]]*\])?", text) else f"({text})" for name, text in texts.items()}
    return {name: Symbol(text, positive=True) for name, text in own.items()}


def of_the_tables(*said: tuple[str, float | str, str], at_most: Iterable[str] = ()) -> Theorem:
    """What the tables give is what the text says: expressions in printed numbers, what is said, and how far apart rounding puts them at most.

    ``at_most``: inequalities between such numbers.
    """
    claims = tuple(
        dict.fromkeys((*(f"abs({value} - {number}) <= {margin}" for value, number, margin in said), *at_most))
    )
    return Theorem("", claims, "\n".join(f"number{k}: claim {k} by combine" for k in range(1, len(claims) + 1)))

"""Closed forms: one round of a traceable algorithm on quadratics with SymPy symbols.

Symbols go in as object arrays; the round function is the one that runs on floats.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm, State, require_method_and_problem
from fedtheory.core.errors import require
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.states import arrays_of
from fedtheory.proofs.facts import show_expression, write_fact, write_identity
from fedtheory.proofs.spectrum import RoundMap, require_traceable, round_map


def symbols(names: str, **assumptions: Any) -> Any:
    """SymPy symbols, real by default; ``symbols("eta L", positive=True)``."""
    sympy = require("sympy", "closed forms")
    return sympy.symbols(names, **({"real": True} | assumptions))


def vector(name: str, d: int = 1) -> NDArray[Any]:
    """Return a symbolic point ``(d,)`` with real coordinates."""
    found = symbols(name) if d == 1 else symbols(f"{name}_1:{d + 1}")
    return np.asarray([found] if d == 1 else list(found), dtype=object)


def play_exactly(
    algorithm: Algorithm,
    problem: Problem,
    x0: NDArray[Any],
    rounds: int,
    coins: Mapping[int, Mapping[str, bool]] | None = None,
) -> list[State]:
    """States of the first rounds on symbols or fractions, simplified; entry 0 is the start.

    Parameters
    ----------
    algorithm, problem : as for a run; the problem holds objects
    x0 : object array ``(d,)``
    rounds : int
    coins : mapping of round to outcomes of its coins, optional
    """
    require_traceable(algorithm, "symbolic")
    states = [algorithm.init(problem, x0[None, :])]
    for r in range(rounds):
        key: Any = ScriptedKey(r, ({} if coins is None else coins).get(r, {}))
        states.append(tidy(algorithm.round(problem, states[-1], None, key)))
    return states


def tidy(state: State) -> State:
    """Bring every entry of a state's arrays to a common denominator, so that expressions do not grow."""
    return dataclasses.replace(state, **{name: simplify(values) for name, values in arrays_of(state).items()})


def simplify(values: NDArray[Any]) -> NDArray[Any]:
    """Cancel common factors in every entry of an object array; numbers pass through."""
    sympy = require("sympy", "closed forms")
    tidied = np.vectorize(lambda e: sympy.cancel(e) if isinstance(e, sympy.Basic) else e, otypes=[object])(values)
    return np.asarray(tidied, dtype=object)


def round_matrix(algorithm: Algorithm, problem: Problem, **options: Any) -> tuple[Any, RoundMap]:
    """Return the matrix of one round as a SymPy matrix, and the map it belongs to; options as for `round_map`.

    Raises
    ------
    InvalidInput
        Method or problem is none.
    """
    require_method_and_problem(algorithm, problem, "round_matrix(method, problem)")
    sympy = require("sympy", "closed forms")
    found = round_map(algorithm, problem, np.zeros(problem.d, dtype=int).astype(object), **options)
    return sympy.Matrix(simplify(found.matrix)), found


def is_zero(expression: Any) -> bool:
    """Whether an expression vanishes identically (decided by SymPy; False when it cannot tell). An identity that says something is a fact."""
    zero = _vanishes(expression)
    if zero and expression != 0:
        write_identity(expression, 0)
    return zero


def agree(left: Any, right: Any) -> bool:
    """Whether two arrays of expressions, or two expressions, are the same entry by entry (decided by SymPy); each equation is a fact."""
    pairs = list(zip(np.ravel(left), np.ravel(right), strict=True))
    same = all(_vanishes(a - b) for a, b in pairs)
    for a, b in pairs if same else ():
        write_identity(a, b, ", on both sides" if a - b == 0 else "")
    return same


def _vanishes(expression: Any) -> bool:
    sympy = require("sympy", "closed forms")
    return bool(sympy.simplify(sympy.expand(expression)) == 0)


def is_not_zero(expression: Any) -> bool:
    """Whether an expression is seen to be other than zero at a point of small fractions; False where none of a dozen points shows it."""
    sympy = require("sympy", "closed forms")
    expression = sympy.sympify(expression)
    names = sorted(expression.free_symbols, key=str)
    for k in range(12):
        point = {name: sympy.Rational(2 + 3 * k + j, 3 + 5 * j) for j, name in enumerate(names)}
        value = sympy.simplify(expression.subs(point))
        if value.is_number and value.is_zero is False and value.is_finite:
            said = f"{show_expression(expression)} = {value} at {point}"
            write_fact("difference", said)
            return True
    return False


def is_positive(expression: Any) -> bool:
    """Whether SymPy shows an expression to be positive, from what is assumed of its symbols; False when it cannot tell."""
    return is_greater(expression, 0)


def is_greater(left: Any, right: Any) -> bool:
    """Whether SymPy shows one expression to be above another, from what is assumed of their symbols; False when it cannot tell."""
    sympy = require("sympy", "closed forms")
    difference = sympy.sympify(left) - right
    greater = bool(difference.is_positive) or bool(difference.factor().is_positive)
    if greater:
        write_fact("sign", f"{show_expression(left)} > {show_expression(right)}")
    return greater

"""Statements as formulas, which follow from the statement, so that its author writes none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.formula_texts import latex
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.limit import MINIMISER, Divergence, Limit
from fedtheory.claims.statements.made_methods import describe_made
from fedtheory.claims.statements.ordering import Ordering
from fedtheory.claims.statements.pictures import describe_measure, name_metric
from fedtheory.claims.statements.planting import Statement
from fedtheory.claims.statements.rate import Rate
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import write_latex
from fedtheory.claims.statements.written import write_lemma


def write_formula(statement: Statement) -> str:
    """Return a statement as a formula in the notation of `fedtheory.tools.typesetting`; of a lemma its conclusion."""
    return next((write(statement) for kind, write in _WRITERS.items() if isinstance(statement, kind)), "")


def _lemma(statement: Lemma) -> str:
    found = write_lemma(statement)
    return ", \\quad ".join(map(latex, (found.said, *found.names)))


def _bound(statement: Bound) -> str:
    return f"{'E ' if statement.clients else ''}{describe_measure(statement)} <= {statement.claim_text}"


def _contraction(statement: Contraction) -> str:
    return f"E V_{{t+1}} <= ({statement.claim_text}) V_t, \\quad V = {latex(statement.written)}"


def _limit(statement: Limit) -> str:
    point = statement.point if isinstance(statement.point, tuple) else (statement.point,)
    shown = ", ".join("x*" if text == MINIMISER else str(text) for text in point)
    return f"{statement.field}^t -> {shown if len(point) == 1 else f'({shown})'}"


def _rate(statement: Rate) -> str:
    left = f"\\text{{{name_metric(statement.metric)}}}_T = O"
    if statement.factor is not None:
        return f"{left}(({statement.factor})^T)"
    return f"{left}(T^{{-{statement.exponent}}})" if statement.exponent is not None else ""


def _divergence(statement: Divergence) -> str:
    by = (
        ""
        if statement.multiplier is None
        else f", \\quad \\text{{by the factor }} |{statement.multiplier}| \\text{{ a round}}"
    )
    return f"||x^t|| -> infinity{by}"


def _equivalence(statement: Equivalence) -> str:
    made = (describe_made(given, "", statement.parameters) for given in (statement.first, statement.second))
    first, second = (_text(f" of {name.partition('(')[0]}") for name in made)
    same = [f"{left}{second} = {right}{first}" for left, right in statement.states.items()]
    return ", \\quad ".join([*same, *([f"t >= {statement.from_round}"] if statement.from_round else [])])


def _ordering(statement: Ordering) -> str:
    metric = f"{statement.metric}, {statement.summary} of {statement.rounds} rounds, of "
    first, second = (_text(f"{metric}{side}") for side in (statement.first, statement.second))
    if statement.is_share:
        return f"{first} > {second}{f' + {statement.by:.4g}' if statement.by else ''}"
    return f"{first} < {second}{f' / {np.exp(statement.by):.4g}' if statement.by else ''}"


#: how statements of each kind are written
_WRITERS: Mapping[type, Callable[[Any], str]] = {
    Theorem: write_latex,
    Lemma: _lemma,
    Bound: _bound,
    Contraction: _contraction,
    Inequality: lambda statement: str(statement.claimed),
    Limit: _limit,
    Rate: _rate,
    Divergence: _divergence,
    Equivalence: _equivalence,
    Ordering: _ordering,
}


def _text(words: str) -> str:
    """Words within a formula."""
    return f"\\text{{{words.translate(str.maketrans('{}', '()'))}}}"

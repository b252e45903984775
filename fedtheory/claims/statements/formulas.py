"""Statements as formulas, which follow from the statement, so that its author writes none."""

from __future__ import annotations

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.limit import MINIMISER, Limit
from fedtheory.claims.statements.pictures import describe_measure, name_metric
from fedtheory.claims.statements.planting import Statement
from fedtheory.claims.statements.rate import Rate


def write_formula(statement: Statement) -> str:
    """Return a statement as a formula in the notation of `fedtheory.tools.typesetting`; "" where it has none."""
    if isinstance(statement, Bound):
        return f"{'E ' if statement.clients else ''}{describe_measure(statement)} <= {statement.claim_text}"
    if isinstance(statement, Contraction):
        terms = [f"({weight}) \\text{{err}}({name})^2" for name, weight in statement.potential.items()]
        return f"E V_{{t+1}} <= ({statement.claim_text}) V_t, \\quad V = {' + '.join(terms)}"
    if isinstance(statement, Inequality):
        return statement.claimed
    if isinstance(statement, Limit):
        point = statement.point if isinstance(statement.point, tuple) else (statement.point,)
        shown = ", ".join("x*" if text == MINIMISER else str(text) for text in point)
        return f"{statement.field}^t -> {shown if len(point) == 1 else f'({shown})'}"
    if isinstance(statement, Rate):
        left = f"\\text{{{name_metric(statement.metric)}}}_T = O"
        if statement.factor is not None:
            return f"{left}(({statement.factor})^T)"
        return f"{left}(T^{{-{statement.exponent}}})" if statement.exponent is not None else ""
    return ""

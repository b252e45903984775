"""Statements as formulas and pictures: both follow from the statement, and its author writes neither."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fedtheory.claims.claim import Picture
from fedtheory.claims.curves import draw_bound
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.limit import MINIMISER, Limit
from fedtheory.claims.statements.on_instances import show_values
from fedtheory.claims.statements.outcomes import Line
from fedtheory.claims.statements.planting import Statement
from fedtheory.claims.statements.rate import Rate
from fedtheory.claims.statements.runs import CLIENTS
from fedtheory.core.errors import FedtheoryError
from fedtheory.measures.catalogue import choose_metrics
from fedtheory.running.runner import run

#: rounds of the run that a rate's picture shows
DRAWN_ROUNDS = 100
#: measures after r rounds, as pages show them
_MEASURES = {
    "squared_distance": "||x^{%s} - x*||^2",
    "gap": "f(x^{%s}) - f*",
    "stationarity": "||grad f(x^{%s})||^2",
    "sum_stationarity": "sum_{r=1}^{%s} ||grad f(x^r)||^2",
    "min_stationarity": "min_{1 <= r <= %s} ||grad f(x^r)||^2",
}


def write_formula(statement: Statement) -> str:
    """Return a statement as a formula in the notation of `fedtheory.tools.typesetting`; "" where it has none."""
    if isinstance(statement, Bound):
        left = _MEASURES[statement.measure] % statement.rounds
        return f"{'E ' if statement.clients else ''}{left} <= {statement.claim_text}"
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


def name_metric(metric: Any) -> str:
    """Return a metric's name."""
    return metric if isinstance(metric, str) else str(getattr(metric, "__name__", "metric")).strip("<>")


def draw_line(statement: Bound | Contraction, line: Line, seed: int) -> Picture:
    """Return the picture of a line: what is claimed, the worst case over the class, and runs on random functions of it where there are any."""
    about = [describe_method(statement), f"functions: {_named(statement.functions)}"]
    about += [", ".join(f"{name} = {value}" for name, value in line.others)] if line.others else []
    if line.runs:
        n = "as many clients as stated" if statement.clients else f"{CLIENTS} clients"
        about.append(f"runs on random separable quadratics of the class, {n}, seed {seed}")
    measure = _MEASURES[statement.measure] % statement.rounds if isinstance(statement, Bound) else "V after / V before"
    return draw_bound(
        statement.name or "Claimed, worst case and runs",
        line.values,
        line.claimed,
        ylabel=measure.replace("{", "").replace("}", ""),  # a label is plain text
        about="; ".join(about),
        xlabel=line.parameter,
        runs=line.runs or None,
        worst=line.worst,
    )


def draw_rate(statement: Rate, seed: int) -> Iterator[Picture]:
    """The metric of a run where the claimed rate is slowest, and the claimed curve from the same start; nothing for exponents of landscapes."""
    if statement.theta is not None or not isinstance(statement.metric, str):
        return
    factor = statement.factor is not None
    point = (max if factor else min)(statement.points, key=statement.claimed_at)
    claimed = float(statement.claimed_at(point))
    try:
        method, problem, x0 = statement.float_instance(point)
        method, chosen = choose_metrics([statement.metric], method, problem, x0[None, :])
        trace = run(method, problem, x0, DRAWN_ROUNDS, seed=seed, metrics=chosen, progress=False)
    except FedtheoryError:
        return
    reached = trace[statement.metric]
    rounds = np.asarray(trace.rounds, dtype=float)
    with np.errstate(all="ignore"):
        curve = reached[0] * (claimed**rounds if factor else np.maximum(rounds, 1) ** -claimed)
    series = [
        {"label": "claimed, from the start", "x": rounds.tolist(), "y": curve.tolist(), "style": "dashed"},
        {"label": "run", "x": rounds.tolist(), "y": reached.tolist()},
    ]
    about = f"{describe_method(statement)}; {getattr(problem, 'name', 'instance')} at {show_values(point)}; seed {seed}"
    title = statement.name or "Claimed rate and a run where it is slowest"
    yield Picture(title, "round", statement.metric, series, logx=not factor, logy=True, about=about)


def describe_method(statement: Any) -> str:
    """Return the method of a statement and its options."""
    return f"{_named(statement.method)}{f' with {statement.options}' if statement.options else ''}"


def _named(given: Any) -> str:
    return given if isinstance(given, str) else str(getattr(given, "__name__", "as stated")).strip("<>_")

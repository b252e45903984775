"""Pictures of statements: each follows from the statement and from what engines found of it, and its author draws none.

What is claimed is dashed. Those of methods on instances show a run, and what is known exactly of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Picture
from fedtheory.claims.curves import draw_bound
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.on_instances import InstanceStatement, Point, show_values
from fedtheory.claims.statements.outcomes import Line, show_point
from fedtheory.claims.statements.runs import CLIENTS
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.randomness import Key
from fedtheory.measures.catalogue import choose_metrics
from fedtheory.running.runner import run

if TYPE_CHECKING:
    from fedtheory.claims.statements.limit import Divergence, Limit
    from fedtheory.claims.statements.rate import Rate

#: rounds of a run where nothing tells how many show what is claimed; fewest and most where a multiplier does
DRAWN_ROUNDS, FEWEST_ROUNDS, MOST_ROUNDS = 100, 10, 400
#: by what factor a run shrinks or grows within a picture, where it can
SHOWN_FACTOR = 1e-8
#: what is below this share of a run's largest value may be rounding
ROUNDING = 1e-12
#: a parameter whose largest value is this many times the middle one has a logarithmic axis
WIDE = 50
#: measures after r rounds, as pages show them
_MEASURES = {
    "squared_distance": "||x^{%s} - x*||^2",
    "gap": "f(x^{%s}) - f*",
    "stationarity": "||grad f(x^{%s})||^2",
    "sum_stationarity": "sum_{r=1}^{%s} ||grad f(x^r)||^2",
    "min_stationarity": "min_{1 <= r <= %s} ||grad f(x^r)||^2",
}
_FAILURES = (FedtheoryError, ArithmeticError, TypeError, AttributeError, ValueError)


# ---- over a class -------------------------------------------------------------------------------------------------


def draw_line(statement: Bound | Contraction, line: Line, seed: int, corrected: Any = None) -> Picture:
    """Return the picture of a line: what is claimed, the worst case over the class, and runs on random functions of it where there are any.

    Of a refuted statement also what the instance reaches, and what a corrected statement claims of the same quantity.
    """
    about = [describe_method(statement), f"functions: {name_given(statement.functions)}"]
    about += [show_point(dict(line.others))] if line.others else []
    worst = np.array(line.worst)
    if not np.isfinite(worst).any():
        about.append("nothing bounds the worst case at these values")
    if line.runs:
        n = "as many clients as stated" if statement.clients else f"{CLIENTS} clients"
        about.append(f"runs on random separable quadratics of the class, {n}, seed {seed}")
    values = np.array(line.values)
    drawn = draw_bound(
        statement.name or f"Claimed{', worst case and runs' if line.runs else ' and worst case'}",
        line.values,
        line.claimed,
        ylabel=_as_label(describe_measure(statement)),
        about="; ".join(about),
        xlabel=line.parameter,
        runs=line.runs or None,
        worst=worst if np.isfinite(worst).any() else None,
        logx=bool(values.min() > 0 and values.max() > WIDE * np.median(values)),
    )
    instead = _corrected(statement, line, corrected)
    if np.isfinite(instead).any():
        drawn.series.insert(1 + bool(np.isfinite(worst).any()), _curve("corrected", line.values, instead, dashed=True))
    if line.instance is not None:
        x, y = line.instance
        drawn.series.append({"label": "reached exactly, by the instance", "x": [x], "y": [y], "style": "points"})
    return drawn


def _corrected(statement: Bound | Contraction, line: Line, corrected: Any) -> NDArray[np.float64]:
    """What a corrected statement claims of the same quantity along the line: not a number where it claims nothing of it."""
    nothing = np.full(len(line.points), math.nan)
    if type(corrected) is not type(statement) or describe_measure(corrected) != describe_measure(statement):
        return nothing
    alike = ("method", "options", "functions", "clients", "radius", "potential")
    if any(getattr(corrected, name, None) != getattr(statement, name, None) for name in alike):
        return nothing
    return np.array([float(corrected.claim_at(p)) if corrected.inside(p) else math.nan for p in line.points])


# ---- on instances -------------------------------------------------------------------------------------------------


def draw_rate(statement: Rate, seed: int) -> Picture | None:
    """The metric of a run where the claimed rate is slowest, and the claimed curve from the same start; None for exponents of landscapes."""
    if statement.theta is not None or not isinstance(statement.metric, str):
        return None
    factor = statement.factor is not None
    point = (max if factor else min)(statement.points, key=statement.claimed_at)
    claimed = float(statement.claimed_at(point))
    try:
        method, problem, x0 = statement.float_instance(point)
        method, chosen = choose_metrics([statement.metric], method, problem, x0[None, :])
        trace = run(method, problem, x0, DRAWN_ROUNDS, seed=seed, metrics=chosen, progress=False)
    except FedtheoryError:
        return None
    reached = trace[statement.metric]
    rounds = np.asarray(trace.rounds, dtype=float)
    with np.errstate(all="ignore"):
        curve = reached[0] * (claimed**rounds if factor else np.maximum(rounds, 1) ** -claimed)
    series = [_curve("claimed, from the start", rounds, curve, dashed=True), _curve("run", rounds, reached)]
    title = statement.name or "Claimed rate and a run where it is slowest"
    about = _about(statement, problem, point, seed)
    return Picture(title, "round", name_metric(statement.metric), series, logx=not factor, logy=True, about=about)


def draw_limit(statement: Limit, point: Point, seed: int) -> Picture | None:
    """How far a run is from the claimed limit, and, where that is another point, from where it truly goes; with the exact multiplier."""
    try:
        method, problem, x0 = statement.float_instance(point)
        multiplier = _largest_multiplier(statement, point, statement.field)
        fields = np.array([*_follow(method, problem, x0, statement.field, _count_rounds(multiplier), seed)])
        claimed = np.array([float(v) for v in statement.claimed_in_floats(point, problem, fields.shape[1])])
        end, exact = statement.find_end(point, seed)
    except _FAILURES:
        return None
    rounds, name = np.arange(len(fields)), f"{statement.field}^t"
    away = _distances(fields, claimed)
    same = end is not None and float(np.abs(end - claimed).max()) <= 1e-8 * max(float(np.abs(fields).max()), 1e-300)
    where = "to the claimed limit" + (", where it goes" if same else "")
    series = [_curve(where, rounds, away, dashed=not same)]
    if end is not None and not same:
        series.append(_curve(f"to where it goes{' (exactly)' if exact else ''}", rounds, _distances(fields, end)))
    if same and multiplier and multiplier < 1:
        series.append(_through(f"{multiplier:.4g} a round, exactly", rounds, away, multiplier))
    title = statement.name or f"Distance of {name} to its limit"
    return _by_rounds(title, f"||{name} - limit||", series, _about(statement, problem, point, seed))


def draw_divergence(statement: Divergence, point: Point, seed: int) -> Picture | None:
    """How far each round of a run moves x, with the largest multiplier that the start excites.

    Where another multiplier is claimed, the factors by which these steps grow, since a long run looks alike.
    """
    try:
        method, problem, x0 = statement.float_instance(point)
        multiplier = _largest_multiplier(statement, point, "x")
        fields = np.array([*_follow(method, problem, x0, "x", _count_rounds(multiplier), seed)])
        claimed = statement.multiplier_at(point)
    except _FAILURES:
        return None
    steps = np.linalg.norm(np.diff(fields, axis=0), axis=1)
    rounds, about = np.arange(len(steps)), _about(statement, problem, point, seed)
    same = multiplier is not None and claimed is not None and math.isclose(multiplier, abs(claimed), rel_tol=1e-9)
    if claimed is None or same:
        series = [_curve("a run", rounds, steps)]
        if multiplier is not None:
            said = f"{multiplier:.4g} a round, exactly{', as claimed' if same else ''}"
            series.append(_through(said, rounds, steps, multiplier))
        return _by_rounds(statement.name or "How far a round moves the model", "||x^{t+1} - x^t||", series, about)
    with np.errstate(all="ignore"):
        factors = steps[1:] / steps[:-1]
    series = [_curve(f"claimed: {abs(claimed):.6g}", rounds[1:], np.full(len(factors), abs(claimed)), dashed=True)]
    series.append({**_curve("a run", rounds[1:], factors), "style": "points"})
    if multiplier is not None:
        series.append(_curve(f"exactly, in the end: {multiplier:.6g}", rounds[1:], np.full(len(factors), multiplier)))
    title = statement.name or "By what factor the step of a round grows"
    return Picture(title, "round", "factor", series, about=about)


def _by_rounds(title: str, ylabel: str, series: list[dict[str, Any]], about: str) -> Picture:
    """Logarithmic where anything is above zero."""
    positive = any(value > 0 for curve in series for value in curve["y"])
    return Picture(title, "round", _as_label(ylabel), series, logy=positive, about=about)


def _as_label(formula: str) -> str:
    """A formula as plain text, which labels are."""
    return re.sub(r"\{(\w+)\}", r"\1", formula).replace("{", "(").replace("}", ")")


def _about(statement: InstanceStatement, problem: Any, point: Point, seed: int) -> str:
    at = f" at {show_values(point)}" if point else ""
    return f"{describe_method(statement)}; {getattr(problem, 'name', 'instance')}{at}; seed {seed}"


def _curve(label: str, x: Any, y: Any, *, dashed: bool = False) -> dict[str, Any]:
    given = {"label": label, "x": [float(v) for v in x], "y": [float(v) for v in y]}
    return given | ({"style": "dashed"} if dashed else {})


def _through(label: str, rounds: Any, values: NDArray[np.float64], factor: float) -> dict[str, Any]:
    """A geometric curve through the last value of the run that is more than rounding."""
    told = np.flatnonzero(values > ROUNDING * values.max(initial=0.0))
    k = int(told[-1]) if len(told) else 0
    with np.errstate(all="ignore"):
        return _curve(label, rounds, values[k] * factor ** (np.asarray(rounds, dtype=float) - k), dashed=True)


def _distances(fields: NDArray[np.float64], point: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return np.asarray(np.linalg.norm(fields - point, axis=1))


def _largest_multiplier(statement: InstanceStatement, point: Point, field: str) -> float | None:
    """The largest modulus of a multiplier that the start excites in the field; None where it is not followed exactly."""
    found = statement.followed(point, field)
    return None if found is None else found.largest_modulus()


def _count_rounds(multiplier: float | None) -> int:
    """Rounds in which a multiplier shows itself."""
    if not multiplier or multiplier == 1:
        return FEWEST_ROUNDS if multiplier == 0 else DRAWN_ROUNDS
    needed = math.log(SHOWN_FACTOR) / -abs(math.log(multiplier))
    return int(min(max(needed, FEWEST_ROUNDS), MOST_ROUNDS))


def _follow(method: Any, problem: Any, x0: Any, field: str, rounds: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """The entries of a field, round by round, as long as they are numbers."""
    state = method.init(problem, x0[None, :])
    for r in range(rounds + 1):
        entries = np.ravel(np.asarray(getattr(state, field), dtype=float))
        if not np.isfinite(entries).all():
            return
        yield entries
        with np.errstate(all="ignore"):
            state = method.round(problem, state, None, Key(seed, r))


# ---- names ---------------------------------------------------------------------------------------------------------


def name_metric(metric: Any) -> str:
    """Return a metric's name."""
    return metric if isinstance(metric, str) else str(getattr(metric, "__name__", "metric")).strip("<>")


def describe_measure(statement: Bound | Contraction) -> str:
    """Return what a statement is about, as a formula."""
    if isinstance(statement, Bound):
        return _MEASURES[statement.measure] % statement.rounds
    return "V after / V before"


def describe_method(statement: Any) -> str:
    """Return the method of a statement and its options."""
    return f"{name_given(statement.method)}{f' with {statement.options}' if statement.options else ''}"


def name_given(given: Any) -> str:
    """Return a method or class of functions as it was given, or the name of the function that makes it."""
    return given if isinstance(given, str) else str(getattr(given, "__name__", "as stated")).strip("<>_")

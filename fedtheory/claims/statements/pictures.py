"""Pictures of statements: each follows from the statement and from what engines found of it, and its author draws none.

What is claimed is dashed. Those of methods on instances show a run, and what is known exactly of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Picture
from fedtheory.claims.curves import draw_bound, repeat_curve
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.on_instances import InstanceStatement, Point
from fedtheory.claims.statements.on_region import show_values
from fedtheory.claims.statements.outcomes import Line, show_point
from fedtheory.core.arrays import Array
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.measures.catalogue import choose_metrics
from fedtheory.proofs.guard import NUMBERS
from fedtheory.running.runner import run

#: rounds of a run where nothing tells how many show what is claimed; fewest and most where a multiplier does
DRAWN_ROUNDS, FEWEST_ROUNDS, MOST_DRAWN = 100, 10, 400
#: rounds of a run that shows a power of them, which the first rounds do not
POWER_ROUNDS = 2_000
#: seeds of runs that a picture shows, where they differ: their mean with a band
DRAWN_SEEDS = 10
#: by what factor a run shrinks or grows within a picture, where it can
SHOWN_FACTOR = 1e-8
#: what is below this share of a run's largest value may be rounding
ROUNDED_AWAY = 1e-12
#: a parameter whose largest value is this many times the middle one has a logarithmic axis
WIDE_AXIS = 50
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
    bounded = bool(np.isfinite(line.worst).any())
    about += [] if bounded else ["nothing bounds the worst case at these values"]
    shown = ["claimed", *(["worst case"] if bounded else []), *(["runs"] if line.runs else [])]
    if line.runs:
        n = "as many clients as stated" if statement.clients else f"{NUMBERS[1]} clients"
        about.append(f"runs on random separable functions of the class, {n}, seed {seed}")
    values = np.array(line.values)
    drawn = draw_bound(
        statement.name or " and ".join(", ".join(shown).rsplit(", ", 1)).capitalize(),
        line.values,
        line.claimed,
        ylabel=_as_label(describe_measure(statement)),
        about="; ".join(about),
        xlabel=line.parameter,
        runs=line.runs or None,
        worst=line.worst if bounded else None,
        logx=bool(values.min() > 0 and values.max() > WIDE_AXIS * np.median(values)),
    )
    instead = _corrected(statement, line, corrected)
    if np.isfinite(instead).any():
        drawn.series.insert(1 + bounded, _curve("corrected", line.values, instead, dashed=True))
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


def draw_rate(
    statement: InstanceStatement,
    point: Point,
    seed: int,
    metric: str,
    claimed: float,
    *,
    factor: bool,
    sum_up: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Picture | None:
    """A metric of a run, summed up, and what is claimed: a factor a round from the same start, or the slope of a power at the end of a long run."""
    try:
        method, problem, x0 = statement.float_instance(point)
        chosen_method, chosen = choose_metrics([metric], method, problem, x0[None, :])
        asked = DRAWN_ROUNDS if factor else POWER_ROUNDS
        seeds = seed + np.arange(DRAWN_SEEDS)
        trace = run(chosen_method, problem, x0, asked, seed=seeds, metrics=chosen, progress=False)
    except _FAILURES:
        return None
    rows = np.array([sum_up(row) for row in trace[metric]])
    reached, drawn = rows.mean(axis=0), bool(np.any(rows != rows[0]))
    rounds = np.asarray(trace.rounds, dtype=float)
    with np.errstate(all="ignore"):
        powers = np.maximum(rounds, 1) ** -claimed
        curve = reached[0] * claimed**rounds if factor else reached[-1] * powers / powers[-1]
    label = "claimed, from the start" if factor else f"claimed power -{claimed:.4g}, through the end"
    runs = repeat_curve(f"mean of {DRAWN_SEEDS} runs", rounds, rows) if drawn else _curve("run", rounds, rows[0])
    series = [_curve(label, rounds, curve, dashed=True), runs]
    title = statement.name or "Claimed rate and a run where it is slowest"
    about = _about(statement, method, problem, point, seed) + (f" to {seed + DRAWN_SEEDS - 1}" if drawn else "")
    return Picture(title, "round", metric, series, logx=not factor, logy=True, about=about)


def draw_limit(
    statement: InstanceStatement,
    point: Point,
    seed: int,
    field: str,
    find_claimed: Callable[[Any, int], NDArray[np.float64]],
    find_end: Callable[[], tuple[NDArray[np.float64] | None, bool]],
) -> Picture | None:
    """How far a run is from the claimed limit, and, where that is another point, from where it truly goes; with the exact multiplier.

    None where the run stands still at the claimed limit.

    Parameters
    ----------
    find_claimed : (problem, number of entries of the field) -> the claimed limit
    find_end : () -> where the field ends, None if it does not, and whether that was followed exactly
    """
    try:
        method, problem, x0 = statement.float_instance(point)
        multiplier = _largest_multiplier(statement, point, field)
        fields = np.array([*_follow(method, problem, x0, field, _count_rounds(multiplier), seed)])
        claimed = find_claimed(problem, fields.shape[1])
        end, exact = find_end()
    except _FAILURES:
        return None
    rounds, name = np.arange(len(fields)), f"{field}^t"
    away = _distances(fields, claimed)
    if not away.any():
        return None
    same = end is not None and float(np.abs(end - claimed).max()) <= 1e-8 * max(float(np.abs(fields).max()), 1e-300)
    where = "to the claimed limit" + (", where it goes" if same else "")
    series = [_curve(where, rounds, away, dashed=not same)]
    if end is not None and not same:
        series.append(_curve(f"to where it goes{' (exactly)' if exact else ''}", rounds, _distances(fields, end)))
    if same and multiplier and multiplier < 1:
        series.append(_through(f"{multiplier:.4g} a round, exactly", rounds, away, multiplier))
    title = statement.name or f"Distance of {name} to its limit"
    return _on_a_logarithm(title, f"||{name} - limit||", series, _about(statement, method, problem, point, seed))


def draw_divergence(
    statement: InstanceStatement, point: Point, seed: int, claimed: float | None = None
) -> Picture | None:
    """How far each round of a run moves x, with the largest multiplier that the start excites.

    Where another multiplier is claimed, the factors by which these steps grow, since a long run looks alike.
    """
    try:
        method, problem, x0 = statement.float_instance(point)
        multiplier = _largest_multiplier(statement, point, "x")
        fields = np.array([*_follow(method, problem, x0, "x", _count_rounds(multiplier), seed)])
    except _FAILURES:
        return None
    steps = np.linalg.norm(np.diff(fields, axis=0), axis=1)
    if len(steps) < 2 or not steps.any():
        return None
    far = np.flatnonzero(steps * SHOWN_FACTOR > steps[0])
    steps = steps[: max(int(far[0]), FEWEST_ROUNDS)] if len(far) else steps
    rounds, about = np.arange(len(steps)), _about(statement, method, problem, point, seed)
    same = multiplier is not None and claimed is not None and math.isclose(multiplier, abs(claimed), rel_tol=1e-9)
    if claimed is None or same:
        series = [_curve("a run", rounds, steps)]
        if multiplier is not None:
            said = f"{multiplier:.4g} a round, exactly{', as claimed' if same else ''}"
            series.append(_through(said, rounds, steps, multiplier))
        title = statement.name or "How far a round moves the model"
        return _on_a_logarithm(title, "||x^{t+1} - x^t||", series, about)
    with np.errstate(all="ignore"):
        factors = steps[1:] / steps[:-1]
    series = [_curve(f"claimed: {abs(claimed):.6g}", rounds[1:], np.full(len(factors), abs(claimed)), dashed=True)]
    series.append({**_curve("a run", rounds[1:], factors), "style": "points"})
    if multiplier is not None:
        series.append(_curve(f"exactly, in the end: {multiplier:.6g}", rounds[1:], np.full(len(factors), multiplier)))
    title = statement.name or "By what factor the step of a round grows"
    return Picture(title, "round", "factor", series, about=about)


def _on_a_logarithm(title: str, ylabel: str, series: list[dict[str, Any]], about: str) -> Picture:
    return Picture(title, "round", _as_label(ylabel), series, logy=True, about=about)


def _as_label(formula: str) -> str:
    """A formula as plain text, which labels are."""
    return re.sub(r"\{(\w+)\}", r"\1", formula).replace("{", "(").replace("}", ")")


def _about(statement: InstanceStatement, method: Algorithm, problem: Problem, point: Point, seed: int) -> str:
    """Method, instance, parameters and seed; a method that a function makes is named by what it makes."""
    at = f" at {show_values(point)}" if point else ""
    named = describe_method(statement) if isinstance(statement.method, str) else type(method).__name__
    return f"{named}; {getattr(problem, 'name', 'instance')}{at}; seed {seed}"


def _curve(label: str, x: Any, y: Any, *, dashed: bool = False) -> dict[str, Any]:
    given = {"label": label, "x": [float(v) for v in x], "y": [float(v) for v in y]}
    return given | ({"style": "dashed"} if dashed else {})


def _through(label: str, rounds: Any, values: NDArray[np.float64], factor: float) -> dict[str, Any]:
    """A geometric curve through the last value of the run that is more than rounding."""
    told = np.flatnonzero(values > ROUNDED_AWAY * values.max(initial=0.0))
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
    return int(min(max(needed, FEWEST_ROUNDS), MOST_DRAWN))


def _follow(
    method: Algorithm, problem: Problem, x0: Array, field: str, rounds: int, seed: int
) -> Iterator[NDArray[np.float64]]:
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
    name = given if isinstance(given, str) else str(getattr(given, "__name__", "<lambda>")).strip("_").replace("_", " ")
    return "as stated" if name == "<lambda>" else name

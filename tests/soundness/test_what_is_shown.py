"""What decides a statement stands in the sentence that is shown of it: another value gives another sentence."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fedtheory.problems.quadratics import random_quadratics, scalar_quadratics

from fedtheory.claims import (
    Bound,
    Contraction,
    Divergence,
    Equivalence,
    Inequality,
    Limit,
    MethodStates,
    Ordering,
    Rate,
    Side,
    Theorem,
)
from fedtheory.claims.statements.sentences import tell, tell_statement
from fedtheory.core.participation import Uniform
from fedtheory.core.problem import objective


def pair(a: Any, b: Any) -> Any:
    return scalar_quadratics(np.array([a, b], dtype=object), np.array([Fraction(1), Fraction(-1)], dtype=object))


def other_pair(a: Any, b: Any) -> Any:
    return scalar_quadratics(np.array([a, b], dtype=object), np.array([Fraction(1), Fraction(-2)], dtype=object))


def draw(rng: np.random.Generator) -> Any:
    return random_quadratics(4, 3, seed=int(rng.integers(2**31)))


def draw_more(rng: np.random.Generator) -> Any:
    return random_quadratics(8, 3, seed=int(rng.integers(2**31)))


def values(problem: Any, before: Any, after: Any, given: Any) -> SimpleNamespace:
    return SimpleNamespace(value=objective(problem, after.x), before=objective(problem, before.x))


ON_PAIR: dict[str, Any] = {"problem": pair, "start": 2, "region": "0 < a, 0 < b, 0 < lr < 1/(a + b)"}
OTHER_PAIR = {
    "problem": other_pair,
    "start": 3,
    "region": "0 < a, 0 < b, 0 < lr < 1/(2*(a + b))",
    "options": "lr = lr/2",
}
STATES = MethodStates("fedavg", "lr = lr, steps = 2", "L = L, mu = 0")
#: of each kind a statement, and other values of its fields
STATED: dict[str, tuple[Any, dict[str, Any]]] = {
    "Bound": (
        Bound("gd", "lr = 1/L", region="0 < L, 0 < R, N in 1..3", functions="L", measure="gap", rounds="N", radius="R", claimed="L*R**2"),
        {
            "method": "agd",
            "options": "lr = 1/(2*L)",
            "region": "0 < L, 0 < R, N in 1..2",
            "functions": "L, mu = 0",
            "claimed": "2*L*R**2",
            "clients": "n = 3",
            "where": ("L <= 2",),
            "rounds": "N + 1",
            "radius": "2*R",
        },
    ),
    "Contraction": (
        Contraction("gd", "lr", region="0 < mu < L, 0 < lr < 1/L", functions="L, mu", potential={"x": 1}, claimed="1 - lr*mu"),
        {"options": "lr = lr/2", "potential": {"x": 2}, "claimed": "(1 - lr*mu)**2", "clients": "n = 3"},
    ),
    "Equivalence": (
        Equivalence("fedavg", "gd", "lr, steps = 1", "lr", region="0 < lr"),
        {
            "first": "fednova",
            "options": "lr, steps = 2",
            "second": "agd",
            "second_options": "lr = 2*lr",
            "region": "0 < lr < 1",
            "where": ("lr <= 2",),
            "states": {"x": "2*x"},
            "kept": {"x": "x"},
            "from_round": 1,
            "curvatures": "1, 2",
            "clients": "2..8",
        },
    ),
    "Inequality": (
        Inequality("gd", "lr", quantities=values, claimed="value <= c*before", region="0 < L, 0 < lr < 1/L", curvatures="0, L", constants={"c": 1}),
        {
            "options": "lr = lr/2",
            "claimed": "c*value <= before",
            "curvatures": "L/2, L",
            "clients": "5",
            "bounded_below": True,
            "constants": {"c": 2},
            "rounds": 3,
            "first_round": 1,
            "where": ("L <= 2",),
        },
    ),
    "Limit": (Limit("gd", "lr", point="(a - b)/(a + b)", **ON_PAIR), OTHER_PAIR | {"point": "minimiser", "where": ("a <= b",)}),
    "Divergence": (Divergence("gd", "lr", multiplier="2", **ON_PAIR), OTHER_PAIR | {"multiplier": "3", "where": ("a <= b",)}),
    "Rate": (
        Rate("gd", "lr", metric="distance", factor="1/2", **ON_PAIR),
        OTHER_PAIR | {"metric": "gap", "factor": "1/3", "minimum": "a", "summary": "least", "tight": True, "where": ("a <= b",)},
    ),
    "Ordering": (
        Ordering(Side("gd", "lr = 1/L", problem=draw), Side("gd", "lr = 1/(2*L)", problem=draw), metric="gap", rounds=30, draws=10),
        {
            "first": Side("gd", "lr = 1/(3*L)", problem=draw),
            "second": Side("gd", "lr = 1/(2*L)", problem=draw_more),
            "first ": Side("gd", "lr = 1/L", problem=draw, start=1.0),
            "first  ": Side("gd", "lr = 1/L", problem=draw, first_draw=5),
            "first   ": Side("gd", "lr = 1/L", problem=draw, participation=Uniform(2)),
            "metric": "distance",
            "rounds": 20,
            "summary": "mean",
            "draws": 12,
            "coins": 2,
            "level": 0.95,
            "comparisons": 2,
            "by": 0.1,
        },
    ),
    "Theorem": (
        Theorem(
            region="0 < L, 0 < lr < 1/L", states=STATES, rounds={"t": 0}, quantities={"d": "norm2(x - x_star)"}, claim="d[t+1] <= d[t]", proof=""),
        {
            "region": "0 < L, 0 < lr < 2/L",
            "claim": "d[t+1] <= 2*d[t]",
            "states": dataclasses.replace(STATES, options="lr = lr, steps = 3"),
            "states ": dataclasses.replace(STATES, functions="L = L, mu = -L"),
            "states  ": dataclasses.replace(STATES, method="fedprox", options="lr = lr, steps = 2, rho = 1"),
            "states   ": dataclasses.replace(STATES, clients="n = 3, s = 2"),
            "quantities": {"d": "norm2(x)"},
            "rounds": {"t": 1},
            "given": {"small": "d[t] <= 1"},
        },
    ),
}  # fmt: skip


def test_a_potential_with_values_is_shown_with_them() -> None:
    stated, _ = STATED["Contraction"]
    told = tell(dataclasses.replace(stated, potential={"x": 1, "gap": "2/L"}))
    assert "(1) mean_i ||x - x*||^2 + (2/L) (f(x) - f*);" in told.sentence
    assert told.formula.endswith("(2/L) (f(x) - f^*)")


def test_what_is_measured_is_shown() -> None:
    given: dict[str, Any] = {"region": "0 < L, 0 < R", "functions": "L", "radius": "R"}
    sizes: list[tuple[Any, str]] = [("gap", "L*R**2"), ("squared_distance", "R**2")]
    told = {tell_statement(Bound("gd", "lr = 1/L", measure=m, claimed=c, **given)).split("<=")[0] for m, c in sizes}
    assert len(told) == 2


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, (_, others) in STATED.items() for field in others])
def test_what_decides_is_shown(kind: str, field: str) -> None:
    stated, others = STATED[kind]
    changed = dataclasses.replace(stated, **{field.strip(): others[field]})
    assert tell_statement(changed) != tell_statement(stated)


NOT_SHOWN = {
    "name": "how it is called",
    "units": "in which units numbers are, which is told where they decide",
    "quantities": "of an inequality: a Python function, by the names of its attributes",
    "instances": "further instances that are tried",
    "certified": "what these must meet",
    "proof": "not what is claimed",
    "auxiliary": "parameters of the proof alone",
    "rests": "theorems whose claims are premises: they are proved, or named as cited",
    "inside": "hypotheses that are shown as given",
    "added": "marks on what is shown",
    "assumed": "words on what functions play",
    "constants": "named numbers of a bound, which are put in",
    "sequences": "shown: their own tests",
    "where": "formulas, shown: their own tests",
}


@pytest.mark.parametrize("kind", STATED)
def test_every_field_is_changed_or_there_is_a_reason(kind: str) -> None:
    stated, others = STATED[kind]
    left = {field.name for field in dataclasses.fields(stated)} - {field.strip() for field in others} - NOT_SHOWN.keys()
    unlikely = {
        "Bound": {"measure"},
        "Contraction": {"method", "region", "functions", "where"},
        "Inequality": {"method", "region"},
    }
    on_instances = {"method", "field", "exponent", "theta"}
    assert left <= unlikely.get(kind, on_instances if kind in ("Limit", "Divergence", "Rate") else set())

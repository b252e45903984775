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
from fedtheory.claims.statements.theorems.runs import run_on_equal_curvatures
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
OTHER_PAIR: list[dict[str, Any]] = [
    {"method": "fedavg", "options": "lr, steps = 1"},
    {"options": "lr = lr/2"},
    {"problem": other_pair},
    {"start": 3},
    {"region": "0 < a, 0 < b, 0 < lr < 1/(2*(a + b))"},
    {"where": ("a <= b",)},
]
STATES = MethodStates("fedavg", "lr = lr, steps = 2", "L = L, mu = 0")
GD = {"lr": Side("gd", "lr = 1/L", problem=draw), "lr/2": Side("gd", "lr = 1/(2*L)", problem=draw)}
#: of each kind a statement, and what is changed of it
STATED: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "Bound": (
        Bound("gd", "lr = 1/L", region="0 < L, 0 < R, N in 1..3", functions="L", measure="gap", rounds="N", radius="R", claimed="L*R**2"),
        [
            {"method": "agd"},
            {"options": "lr = 1/(2*L)"},
            {"region": "0 < L, 0 < R, N in 1..2"},
            {"functions": "L, mu = 0"},
            {"claimed": "2*L*R**2"},
            {"clients": "n = 3"},
            {"where": ("L <= 2",)},
            {"rounds": "N + 1"},
            {"radius": "2*R"},
        ],
    ),
    "Bound on drawn clients": (
        Bound("fedavg", "lr, steps = 1", region="0 < L, 0 < lr < 1/L, 0 < R", functions="L", radius="R", claimed="R**2", clients="n = 3, s = 2"),
        [{"clients": "n = 3, s = 1"}, {"clients": "n = 4, s = 2"}, {"clients": "n = 3"}],
    ),
    "Bound on gradients": (
        Bound("gd", "lr = 1/L", region="0 < L, 0 < D", functions="L, mu = -L", measure="stationarity", rounds=2, radius="D", claimed="2*L*D"),
        [{"measure": "min_stationarity"}, {"measure": "sum_stationarity"}],
    ),
    "Contraction": (
        Contraction("gd", "lr", region="0 < mu < L, 0 < lr < 1/L", functions="L, mu", potential={"x": 1}, claimed="1 - lr*mu"),
        [
            {"method": "fedavg", "options": "lr, steps = 1"},
            {"options": "lr = lr/2"},
            {"region": "0 < mu < L, 0 < lr < 1/(2*L)"},
            {"functions": "L, mu = mu/2"},
            {"potential": {"x": 2}},
            {"potential": {"x": 1, "gap": "1/L"}},
            {"claimed": "(1 - lr*mu)**2"},
            {"clients": "n = 3"},
            {"where": ("lr*L <= 1/2",)},
        ],
    ),
    "Equivalence": (
        Equivalence("fedavg", "gd", "lr, steps = 1", "lr", region="0 < lr"),
        [
            {"first": "fednova"},
            {"options": "lr, steps = 2"},
            {"second": "agd"},
            {"second_options": "lr = 2*lr"},
            {"region": "0 < lr < 1"},
            {"where": ("lr <= 2",)},
            {"states": {"x": "2*x"}},
            {"kept": {"x": "x"}},
            {"from_round": 1},
            {"curvatures": "1, 2"},
            {"clients": "2..8"},
        ],
    ),
    "Inequality": (
        Inequality("gd", "lr", quantities=values, claimed="value <= c*before", region="0 < L, 0 < lr < 1/L", curvatures="0, L", constants={"c": 1}),
        [
            {"method": "fedavg", "options": "lr, steps = 1"},
            {"options": "lr = lr/2"},
            {"claimed": "c*value <= before"},
            {"region": "0 < L, 0 < lr < 1/(2*L)"},
            {"curvatures": "L/2, L"},
            {"clients": "5"},
            {"bounded_below": True},
            {"constants": {"c": 2}},
            {"rounds": 3},
            {"first_round": 1},
            {"where": ("lr*L <= 1/2",)},
        ],
    ),
    "Limit": (Limit("gd", "lr", point="(a - b)/(a + b)", **ON_PAIR), [*OTHER_PAIR, {"point": "minimiser"}]),
    "Divergence": (Divergence("gd", "lr", multiplier="2", **ON_PAIR), [*OTHER_PAIR, {"multiplier": "3"}]),
    "Rate": (
        Rate("gd", "lr", metric="distance", factor="1/2", **ON_PAIR),
        [
            *OTHER_PAIR,
            {"metric": "gap"},
            {"factor": "1/3"},
            {"factor": None, "exponent": 1},
            {"factor": None, "theta": "1/2"},
            {"minimum": "a"},
            {"summary": "least"},
            {"tight": True},
        ],
    ),
    "Ordering": (
        Ordering(GD["lr"], GD["lr/2"], metric="gap", rounds=30, draws=10),
        [
            {"first": Side("gd", "lr = 1/(3*L)", problem=draw)},
            {"first": Side("gd", "lr = 1/L", problem=draw, start=1.0)},
            {"first": Side("gd", "lr = 1/L", problem=draw, first_draw=5)},
            {"first": Side("gd", "lr = 1/L", problem=draw, participation=Uniform(2))},
            {"second": Side("gd", "lr = 1/(2*L)", problem=draw_more)},
            {"metric": "distance"},
            {"rounds": 20},
            {"summary": "mean"},
            {"draws": 12},
            {"coins": 2},
            {"level": 0.95},
            {"comparisons": 2},
            {"by": 0.1},
        ],
    ),
    "Theorem": (
        Theorem(
            region="0 < L, 0 < lr < 1/L",
            states=STATES,
            rounds={"t": 0},
            quantities={"d": "norm2(x - x_star)"},
            where={"c": "1"},
            sequences={"s": "0..1"},
            claim="d[t+1] <= c*(1 + s[t])*d[t]",
        ),
        [
            {"region": "0 < L, 0 < lr < 2/L"},
            {"claim": "d[t+1] <= c*s[t]*d[t]"},
            {"states": dataclasses.replace(STATES, options="lr = lr, steps = 3")},
            {"states": dataclasses.replace(STATES, functions="L = L, mu = -L")},
            {"states": dataclasses.replace(STATES, method="fedprox", options="lr = lr, steps = 2, rho = 1")},
            {"states": dataclasses.replace(STATES, clients="n = 3, s = 2")},
            {"quantities": {"d": "norm2(x)"}},
            {"rounds": {"t": 1}},
            {"where": {"c": "2"}},
            {"sequences": {"s": "0..2"}},
            {"given": {"small": "d[t] <= 1"}},
        ],
    ),
    "Theorem on drawn clients that are played": (
        Theorem(
            region="0 < a, 0 < lr < 1/a, n in 3..",
            states=run_on_equal_curvatures("fedavg", "lr, steps = 1", curvature="a", clients="n, s = 2"),
            rounds={"t": 0},
            quantities={"X": "norm2(x - bar(c_i))"},
            claim="X[t+1] <= n*X[t]",
        ),
        [
            {"states": run_on_equal_curvatures("fedavg", "lr, steps = 1", curvature="a", clients=clients)}
            for clients in ("n, s = 1", "n, s = n - 1", "n = n + 1, s = 2")
        ],
    ),
    "Theorem with a hypothesis": (
        Theorem(
            region="0 < L",
            states=STATES,
            rounds={"t": 0, "r": 0},
            quantities={"d": "norm2(x - x_star)"},
            given={"near": "d[r] <= t + a"},
            auxiliary="0 < a",
            claim="d[t+1] <= d[t]",
        ),
        [{"fixed": ("r",)}, {"auxiliary": "1 < a"}, {"rounds": {"t": 0, "r": 1}}, {"claim": "d[1] <= d[0]"}],
    ),
}  # fmt: skip
CHANGES = [
    pytest.param(kind, change, id=f"{kind}, {', '.join(change)} {k}")
    for kind, (_, changes) in STATED.items()
    for k, change in enumerate(changes)
]


def test_a_potential_with_values_is_shown_with_them() -> None:
    stated, _ = STATED["Contraction"]
    told = tell(dataclasses.replace(stated, potential={"x": 1, "gap": "2/L"}))
    assert "V = mean(||x - x*||^2) + 2/L (f(x) - f(x*));" in told.sentence
    assert told.formula.endswith("(f(x) - f(x^*))")


@pytest.mark.parametrize(("kind", "change"), CHANGES)
def test_what_decides_is_shown(kind: str, change: dict[str, Any]) -> None:
    stated, _ = STATED[kind]
    assert tell_statement(dataclasses.replace(stated, **change)) != tell_statement(stated)


#: fields that no sentence has, by the kind of which they are or of all
NOT_SHOWN = {
    "name": "how it is called",
    "units": "in which units numbers are; it is told where they decide",
    "Bound.constants": "named numbers, which stand in what is claimed",
    "Contraction.constants": "the same",
    "Inequality.quantities": "a Python function, known by the names of what it gives",
    "Inequality.instances": "further instances that are tried",
    "Inequality.certified": "what these must meet",
    "Equivalence.instances": "further instances that are tried",
    "Theorem.proof": "not what is claimed",
    "Theorem.rests": "theorems whose claims are premises of the proof",
    "Theorem.inside": "how hypotheses that are shown are proved",
    "Theorem.added": "marks on what is shown",
    "Theorem.assumed": "words on states that a function plays",
    "Limit.field": "gradient descent's state has no other field",
}


def test_every_field_is_changed_or_there_is_a_reason() -> None:
    changed: dict[type, set[str]] = {}
    for stated, changes in STATED.values():
        changed.setdefault(type(stated), set()).update(*changes)
    left = {
        f"{kind.__name__}.{f.name}"
        for kind, names in changed.items()
        for f in dataclasses.fields(kind)
        if f.name not in names
    }
    assert {one for one in left if one not in NOT_SHOWN and one.partition(".")[2] not in NOT_SHOWN} == set()

"""The other engines run the same `round`: exact affine maps, exact fractions, scaled units."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy
from helpers import (
    ROUNDS,
    SUMMATION,
    Case,
    build,
    close,
    dressed,
    fields,
    for_every_method,
    play,
    problem,
    rows,
    start,
)

from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.errors import CannotTrace
from fedtheory.core.problem import constant
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.states import Layout
from fedtheory.proofs.spectrum import round_map, why_not_traceable
from problems.quadratics import scalar_quadratics


@for_every_method(rows(lambda c: c.problem_name == "quadratics"))
def test_traceable_methods_have_a_round_map_and_others_refuse_by_name(case: Case) -> None:
    """The exact affine map of one round predicts the next state; methods that decide on values are refused by name."""
    f, algorithm = case.problem, case.algorithm()
    reason = why_not_traceable(algorithm)
    if reason is not None:
        with pytest.raises(CannotTrace, match=reason.split(":")[0]):
            round_map(algorithm, f, start(f))
        return
    coins = {"communicate": False, "anchor": False} if case.kind == "skip" else None
    found = round_map(algorithm, f, start(f), coins=coins, round=1)
    state = case.played[1]
    layout = Layout.of(state)
    new = algorithm.round(f, state, None, ScriptedKey(1, coins or {}))
    close(found.matrix @ layout.flatten(state) + found.offset, layout.flatten(new), SUMMATION)


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if why_not_traceable(build(e)) is None], ids=lambda e: e.name)
def test_fractions_go_through_the_same_code(entry) -> None:
    """Exact rational arithmetic and floats agree to rounding, for every method that needs no numbers."""
    ten = Fraction(1, 10)
    curvature, centre = [Fraction(1), Fraction(3)], [Fraction(1), Fraction(-1)]
    common = {"steps": 2, "q": 1, "exact": "exact" in entry.uses}
    half = Fraction(1, 2)
    weights = {"rho": Fraction(10), "alpha": half, "nu": ten, "momentum": Fraction(3, 10), "mu": half, "error": half}
    weights |= dict.fromkeys(("lr", "eta", "l1", "inner_lr", "model_lr"), ten)
    exact = build(entry, **weights, **common)
    floats = build(entry, **{name: float(weight) for name, weight in weights.items()}, **common)
    f, g = scalar_quadratics(curvature, centre), scalar_quadratics([1.0, 3.0], [1.0, -1.0])
    ours = play(exact, dressed(entry, f), np.array([[Fraction(2)]]), 3)[-1]
    theirs = play(floats, dressed(entry, g), np.array([[2.0]]), 3)[-1]
    for name, value in fields(ours).items():
        # the momentum of dual methods is irrational: exact expressions, without a float in them
        assert all(
            isinstance(e, Fraction | int) or (isinstance(e, sympy.Expr) and not e.has(sympy.Float))
            for e in value.ravel()
        ), name
        close(value.astype(float), getattr(theirs, name), 1e-14, name)  # tens of operations on numbers below 10


# Hessian-free Per-FedAvg has a length of its own, delta |u|, that no setting scales; see test_personalised.py
@for_every_method(
    rows(
        lambda c: c.kind == "steps" and c.problem_name in ("quadratics", "logistic") and c.entry.name != "per-fedavg-hf"
    )
)
def test_constants_scale_as_they_should(case: Case) -> None:
    """Units: f -> s f with steps divided by s leaves every model where it was."""
    s = 3.0
    scaled = case.dress(_scaled(problem(case.problem_name), s))
    assert float(constant(scaled, "L")) == pytest.approx(s * float(constant(case.problem, "L")), rel=1e-12)
    plain = case.options()
    other = {name: plain[name] / s for name in ("lr", "eta", "inner_lr", "model_lr")}
    other |= {name: plain[name] * s for name in ("rho", "nu", "mu")}
    theirs = play(build(case.entry, **(plain | other)), scaled, case.x0, ROUNDS)[-1]
    close(theirs.x, case.played[-1].x, SUMMATION)


def _scaled(f, s):
    if hasattr(f, "A"):
        return dataclasses.replace(f, A=s * f.A, b=s * f.b)
    return dataclasses.replace(f, weights=s * f.weights, l2=s * f.l2, beta=s * f.beta)

"""Formulas and pictures follow from statements."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.claims.checking import judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.parts import QUANTILES, at_most, draw_shares, holds
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.formulas import DRAWN_ROUNDS, draw_rate, write_formula
from fedtheory.claims.statements.rate import Rate
from problems.fedavg_divergence import curved_counterexample

DESCENT = Bound(
    "gd",
    "lr = 1/L",
    region="0 < L, 0 < R, N in 1..3",
    functions="L",
    measure="gap",
    rounds="N",
    radius="R",
    claimed="L*R**2/(4*N + 2)",
)
FACTOR = "((1 - lr*a)**2 + (1 + lr*b)**2)**2/4"
LINEAR = Rate(
    "fedavg",
    "lr, steps = 2",
    problem=curved_counterexample,
    region="0 < b < a, 0 < lr < 2*(a - b)/(a**2 + b**2)",
    metric="distance",
    factor=FACTOR,
)


def test_statements_as_formulas() -> None:
    assert write_formula(DESCENT) == "f(x^{N}) - f* <= L*R**2/(4*N + 2)"
    falls = Contraction(
        "gd", "lr", region="0 < mu < L, 0 < lr < 1/L", functions="L, mu", potential={"x": 1}, claimed="1 - lr*mu"
    )
    assert write_formula(LINEAR) == f"\\text{{distance}}_T = O(({FACTOR})^T)"
    assert write_formula(falls).startswith("E V_{t+1} <= (1 - lr*mu) V_t")


def test_the_picture_of_a_bound_shows_claim_worst_case_and_runs() -> None:
    pictured = judge_claim(state("S", "toy", "s", "t", DESCENT), "toy", Context()).picture
    claimed, worst, typical, largest = (np.array(series["y"]) for series in pictured["series"])
    assert pictured["xlabel"] == "N" and pictured["series"][0]["x"] == [1, 2, 3]
    assert worst == pytest.approx(claimed, rel=1e-6), "this bound is tight"
    assert (typical < largest).all() and (largest <= worst * (1 + 1e-9)).all()
    for word in ("gd with lr = 1/L", "functions: L", "R = ", "3 clients", "seed 0"):
        assert word in pictured["about"]


def test_the_picture_of_a_rate_shows_claim_and_run() -> None:
    [pictured] = draw_rate(LINEAR, 3)
    claimed, reached = (np.array(series["y"]) for series in pictured.series)
    assert reached == pytest.approx(claimed, rel=1e-6), "this factor is exact"
    assert pictured.logy and not pictured.logx and pictured.xlabel == "round" and len(claimed) == DRAWN_ROUNDS + 1
    assert "fedavg with lr, steps = 2" in pictured.about and "seed 3" in pictured.about


def test_what_was_compared_is_drawn_from_the_tamest_to_the_worst() -> None:
    few = at_most("few", [1.0, 2.0], 4.0, "numeric", "two values")
    assert draw_shares([few, holds("it", True, "exact", "so")], 0) is None
    many = at_most("many", np.arange(1.0, 101.0), 200.0, "numeric", "a hundred")
    drawn = draw_shares([few, many], 7)
    assert [series["label"] for series in drawn.series] == ["claimed", "many"] and drawn.series[0]["y"] == [1, 1]
    shares = drawn.series[1]["y"]
    assert len(shares) == QUANTILES and shares == sorted(shares) and (shares[0], shares[-1]) == (0.005, 0.5)
    assert "many: 100 values" in drawn.about and "seed 7" in drawn.about
    assert draw_shares([at_most("negative", np.zeros(50), -1.0, "numeric", "a limit below zero")], 0) is None

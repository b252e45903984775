"""Formulas and pictures follow from statements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import Claim, Fault, Picture, PictureOfStatement
from fedtheory.claims.context import Context
from fedtheory.claims.parts import QUANTILES, at_most, draw_shares, holds
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.formula_texts import latex_name
from fedtheory.claims.statements.formulas import write_formula
from fedtheory.claims.statements.limit import Divergence, Limit
from fedtheory.claims.statements.ordering import Ordering, Side
from fedtheory.claims.statements.pictures import DRAWN_ROUNDS, DRAWN_SEEDS, POWER_ROUNDS
from fedtheory.claims.statements.rate import Rate
from fedtheory.tools.typesetting import typeset_formula
from problems.fedavg_divergence import curved_counterexample
from problems.known_exponents import power
from problems.logistic import logistic
from problems.quadratics import scalar_quadratics

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
COIN = {
    "region": "0 < mu < L, 0 < lr < 2/L, 0 < p <= 1",
    "functions": "L, mu",
    "potential": {"x_i": 1, "h_i": "(lr/p)**2"},
}
#: (a/2)(x - 1)^2 and (b/2)(x + 1)^2: FedAvg with two local steps ends where their shares of the way balance
PAIR = {
    "problem": lambda a, b: scalar_quadratics(np.array([a, b], dtype=object), np.array([Fraction(1), Fraction(-1)])),
    "region": "0 < a, 0 < b, 0 < lr < 1/(a + b)",
    "start": 2,
}
SHARES = "(1 - (1 - lr*a)**2)", "(1 - (1 - lr*b)**2)"
BIASED = Limit("fedavg", "lr, steps = 2", point="({0} - {1})/({0} + {1})".format(*SHARES), **PAIR)
GROWS = Divergence(
    "fedavg",
    "lr, steps = 2",
    problem=curved_counterexample,
    region="0 < b < a, 2*(a - b)/(a**2 + b**2) < lr",
    multiplier="((1 - lr*a)**2 + (1 + lr*b)**2)/2",
)


def test_statements_as_formulas() -> None:
    assert write_formula(DESCENT) == "f(x^{N}) - f* <= L*R**2/(4*N + 2)"
    falls = Contraction(
        "gd", "lr", region="0 < mu < L, 0 < lr < 1/L", functions="L, mu", potential={"x": 1}, claimed="1 - lr*mu"
    )
    assert write_formula(LINEAR) == f"\\text{{distance}}_T = O(({FACTOR})^T)"
    assert write_formula(falls).startswith("E V_{t+1} <= (1 - lr*mu) V_t")
    assert (
        write_formula(GROWS)
        == f"||x^t|| -> infinity, \\quad \\text{{by the factor }} |{GROWS.multiplier}| \\text{{ a round}}"
    )
    assert write_formula(replace(GROWS, multiplier=None)) == "||x^t|| -> infinity"
    same = Equivalence(
        "scaffold", "vrl-sgd", "lr, steps = 2", "lr, steps = 2", region="0 < lr", states={"delta_i": "c_i - c"}
    )
    assert write_formula(same) == "delta_i\\text{ of vrl-sgd} = c_i - c\\text{ of scaffold}"
    assert write_formula(replace(same, from_round=1)).endswith(", \\quad t >= 1")


def test_orderings_as_formulas() -> None:
    def of(metric, by):
        sides = (Side("gd", problem=scalar_quadratics, name=name) for name in ("one", "{two}"))
        return write_formula(Ordering(*sides, metric=metric, rounds=30, by=by))

    words = "gap, last of 30 rounds, of"
    assert of("gap", 0) == f"\\text{{{words} one}} < \\text{{{words} (two)}}"
    assert of("gap", np.log(100)) == of("gap", 0) + " / 100"
    assert of("test_accuracy", 0.02) == f"{of('gap', 0).replace('gap', 'test_accuracy').replace('<', '>')} + 0.02"


@pytest.mark.parametrize("statement", [GROWS, BIASED, LINEAR, DESCENT], ids=lambda s: type(s).__name__)
def test_formulas_are_typeset(statement) -> None:
    shown = typeset_formula(write_formula(statement))
    assert shown.startswith("<math") and "\\" not in shown and "quad" not in shown


def test_the_picture_of_a_bound_shows_claim_worst_case_and_runs() -> None:
    pictured = judge_claim(state("S", "toy", "s", "t", DESCENT), "toy", Context()).picture
    claimed, worst, typical, largest = (np.array(series["y"]) for series in pictured["series"])
    assert pictured["xlabel"] == "N" and pictured["series"][0]["x"] == [1, 2, 3]
    assert worst == pytest.approx(claimed, rel=1e-6), "this bound is tight"
    assert (typical < largest).all() and (largest <= worst * (1 + 1e-9)).all()
    for word in ("gd with lr = 1/L", "functions: L", "R = ", "3 clients", "seed 0"):
        assert word in pictured["about"]


def test_the_picture_of_a_rate_shows_claim_and_run() -> None:
    pictured = LINEAR.draw(3)
    claimed, reached = (np.array(series["y"]) for series in pictured.series)
    assert reached == pytest.approx(claimed, rel=1e-6), "this factor is exact"
    assert pictured.logy and not pictured.logx and pictured.xlabel == "round" and len(claimed) == DRAWN_ROUNDS + 1
    assert "fedavg with lr, steps = 2" in pictured.about and "seed 3" in pictured.about


def test_runs_that_coins_decide_are_drawn_with_a_band_over_seeds() -> None:
    pair = scalar_quadratics(np.array([1.0, 2.0]))
    rate = Rate("scaffnew", "lr = 1/2, p = 1/2", problem=lambda: pair, start=1, metric="value", factor="3/4")
    claimed, runs = (drawn := rate.draw(3)).series
    assert runs["label"] == f"mean of {DRAWN_SEEDS} runs" and "seed 3 to 12" in drawn.about and "low" not in claimed
    low, middle, high = (np.array(runs[edge]) for edge in ("low", "y", "high"))
    assert (low <= middle).all() and (middle <= high).all() and (low < high).any()


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


# ---- of what is false, and of limits and divergence ---------------------------------------------------------------------


def picture_of(statement, repaired=None):
    """The picture of the claim of a statement, its curves by label, and the verdict's word."""
    words = "" if repaired is None else "the corrected statement"
    claim = state("S", "toy", "s", "t", statement, repaired=repaired, repaired_text=words, wrong={"any": statement})
    found = judge_claim(claim, "toy", Context())
    assert found.error is None and found.picture is not None
    return found.picture, {s["label"]: np.array(s["y"], dtype=float) for s in found.picture["series"]}, found.status


def test_a_refuted_bound_shows_the_correction_the_worst_case_and_the_instance() -> None:
    pictured, curves, word = picture_of(replace(DESCENT, claimed="L*R**2/(4*N + 4)"), DESCENT)
    assert word == "repaired" and pictured["xlabel"] == "N"
    assert (curves["worst case over the class"] > curves["claimed"]).all()
    assert curves["worst case over the class"] == pytest.approx(curves["corrected"], rel=1e-6)
    assert curves["largest of them"].max() < curves["corrected"].max()
    reached = next(s for s in pictured["series"] if s["label"].startswith("reached"))
    place = pictured["series"][0]["x"].index(reached["x"][0])
    assert curves["claimed"][place] < reached["y"][0] <= curves["corrected"][place] * (1 + 1e-9)
    styles = {s["label"]: s.get("style") for s in pictured["series"]}
    assert styles["claimed"] == styles["corrected"] == "dashed" and styles["worst case over the class"] is None


def test_a_refuted_contraction_goes_along_the_parameter_that_says_most() -> None:
    """Claimed / worst case depends on p alone where 1 - p is the largest term; all parameters but p are scales or inactive."""
    wrong = Contraction("scaffnew", "lr, p", claimed="max((1-lr*mu)**2, (1-lr*L)**2, 1-p)", **COIN)
    pictured, curves, word = picture_of(wrong)
    assert word == "refuted" and pictured["xlabel"] == "p" and pictured["title"] == "Claimed and worst case"
    assert (curves["worst case over the class"] > curves["claimed"] - 1e-6).all()
    assert (curves["worst case over the class"] > 1.1 * curves["claimed"]).sum() > 3


def test_where_nothing_bounds_the_worst_case_runs_are_drawn_beside_the_claim() -> None:
    """Two local steps or more on clients that may differ by anything."""
    unlike = Bound(
        "fedavg",
        "lr, steps = K",
        region="1/6 <= mu <= 1/3, 1/2 <= lr <= 1, K in 2..3",
        functions="L = 1, mu",
        claimed="(1 - lr*mu)**(2*K)",
    )
    pictured, curves, word = picture_of(unlike)
    assert word == "refuted" and pictured["title"] == "Claimed and runs"
    assert "nothing bounds the worst case" in pictured["about"] and "worst case over the class" not in curves


@pytest.mark.parametrize(("point", "same"), [(BIASED.point, True), ("minimiser", False)])
def test_a_limit_is_drawn_by_the_distance_to_it_and_to_where_the_run_goes(point, same) -> None:
    pictured, curves, _ = picture_of(replace(BIASED, point=point))
    assert pictured["logy"] and pictured["ylabel"] == "||x^t - limit||"
    if same:
        run, exact = curves["to the claimed limit, where it goes"], curves["0.5625 a round, exactly"]
        assert run == pytest.approx(exact, rel=1e-6), "the state is one number"
    else:
        claimed, truly = curves["to the claimed limit"], curves["to where it goes (exactly)"]
        assert truly[-1] < 1e-6 * truly[0] and claimed[-1] > 1e-3 * claimed[0]


def test_the_distance_to_a_minimiser_that_is_not_known_in_fractions() -> None:
    rng = np.random.default_rng(0)
    problem = logistic(rng.standard_normal((3, 20, 2)), np.where(rng.random((3, 20)) < 0.5, 1.0, -1.0), l2=0.1)
    _, curves, word = picture_of(Limit("fedpd", "eta = 1/2, exact", problem=lambda: problem, start=0))
    assert word == "supported" and curves["to the claimed limit, where it goes"][-1] < 1e-6


def test_divergence_is_drawn_with_its_factor_and_a_wrong_one_beside_it() -> None:
    pictured, curves, word = picture_of(GROWS)
    steps = curves["a run"]
    [factor] = {name for name in curves if name != "a run"}
    assert word == "proved" and factor.endswith("a round, exactly, as claimed") and pictured["logy"]
    assert steps == pytest.approx(curves[factor]) and steps[-1] > 1e6 * steps[0]
    pictured, curves, word = picture_of(replace(GROWS, multiplier=f"101/100*({GROWS.multiplier})"))
    claimed, run, exact = curves.values()
    assert word == "refuted" and run == pytest.approx(exact) and claimed == pytest.approx(1.01 * exact)


def test_a_run_that_stands_still_is_no_picture() -> None:
    """Where FedPD stays at its start; elsewhere another point is drawn than the first, at which the start is the limit."""
    still = {"problem": lambda a: scalar_quadratics(np.array([a, -a], dtype=object)), "region": "0 < a, 0 < eta < 1/a"}
    stays = Limit("fedpd", "eta, exact", point=1, **still)
    claim = state("S", "toy", "s", "t", stays)
    assert judge_claim(claim, "toy", Context()).picture is None
    pictured, _, _ = picture_of(replace(BIASED, start=0))
    assert "a = 1, b = 1," not in pictured["about"], "there x = 0 is the limit"


def test_a_power_is_compared_where_the_run_shows_it() -> None:
    """x^4/4 by gradient descent: the value falls as T^-2 in the end, and not in the first rounds."""
    flat = Rate("gd", "lr = 1/10", problem=lambda: power(4.0).problem, start=1, metric="value", exponent=2)
    drawn = flat.draw(0)
    claimed, run = (np.array(series["y"]) for series in drawn.series)
    assert drawn.logx and len(run) == POWER_ROUNDS + 1 and claimed[-1] == pytest.approx(run[-1])
    assert run[0] < 0.1 * claimed[0] and run[1000] == pytest.approx(claimed[1000], rel=0.05)
    mean = replace(flat, summary="mean").draw(0)
    assert np.array(mean.series[1]["y"]) == pytest.approx(np.cumsum(run) / np.arange(1, len(run) + 1))


def test_a_picture_of_the_checks_own_goes_before_those_of_statements() -> None:
    def check(context, own=True):
        yield PictureOfStatement(lambda seed: None)
        yield from replace(GROWS, name="first").findings(context)
        yield from replace(GROWS, name="second").findings(context)
        if own:
            yield Picture("own", "x", "y", [])

    claim = Claim("S", "toy", "divergence", "s", "t", check, (Fault("f", "divergence", {}),))
    assert judge_claim(claim, "toy", Context()).picture["title"] == "own"
    without = judge_claim(replace(claim, check=partial(check, own=False)), "toy", Context())
    assert without.picture["title"] == "first" and not without.seeded, "drawing reads no seed of the check's"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("s 0", "s_{0}"),
        ("w_i 3", "w_{i,3}"),
        ("gamma_i*", r"\gamma_{i}^*"),
        ("grad f_i(x^0)", r"\nabla f_{i}(x^{0})"),
        ("e1 2", "e_{1,2}"),
        ("mean conjugate", r"\text{mean conjugate}"),
    ],
)
def test_names_that_played_rounds_make_are_read_as_mathematics(name: str, shown: str) -> None:
    assert latex_name(name) == shown

"""Statements about methods, written as a stranger would: true ones are never refuted, false ones are, by an exact instance."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest

from fedtheory import FunctionClass, GradientDescent
from fedtheory.claims.statements import judging, lines
from fedtheory.claims.statements import survey as surveying
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.claims.statements.parametric import prove_for_all
from fedtheory.claims.statements.survey import Survey, compare_to_worst, worst_value
from fedtheory.core.errors import EnginesDisagree, FedtheoryError, InvalidInput, SolverFailed
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.derivations import check_derivation
from fedtheory.proofs.rebuilt import verify_method
from fedtheory.proofs.refutations.replay import replay_exactly

SHORT = {
    "region": "0.1 <= L <= 10, 0.5 <= R <= 2, N in 1..4",
    "functions": "L",
    "measure": "gap",
    "rounds": "N",
    "radius": "R",
}
STEPS = {"region": "0.5 <= L <= 2, L/100 <= mu <= L/2, 0 < lr < 2/L, N in 1..3", "functions": "L, mu", "rounds": "N"}
LOCAL = {
    "options": "lr, steps = K",
    "region": "0.5 <= L <= 2, L/50 <= mu <= L/3, 0.1 <= zeta <= 2, 0 < lr <= 1/L, K in 2..4",
    "functions": "L, mu, zeta",
}
COIN = {
    "options": "lr, p",
    "region": "0.5 <= L <= 2, L/50 <= mu <= L/2, 0 < lr < 2/L, 0.1 <= p <= 1",
    "functions": "L, mu",
    "potential": {"x_i": 1, "h_i": "(lr/p)**2"},
}
DRIFT = "((1-lr*mu)**K + c*lr**2*L*zeta*K*(K-1)/2)**2"
SOME = {
    "options": "lr, steps = 1",
    "functions": "L = 1, mu, zeta",
    "clients": "n, s",
    "where": ("s < n",),
    "region": "0.02 <= mu <= 0.3, 0.1 <= zeta <= 2, 0 < lr <= 1/2, n in 3..8, s in 1..7",
}
DUALS = {
    "options": "eta, exact, p = 0",
    "functions": "L, mu = -L",
    "region": "0.5 <= L <= 2, 0 < eta <= 3/(10*L)",
    "measure": "stationarity",
}
ONE_ROUND = "2*L*(1+eta*L)**2/(1+4*eta*L+2*eta**2*L**2)"
LARGE = {"region": "N in 1..3", "functions": "L = 50000", "measure": "gap", "rounds": "N", "radius": 1000}
RATE = "max((1-lr*mu)**2, (1-lr*L)**2, 1-p**2)"
WITHOUT_ZETA = LOCAL | {"functions": "L, mu", "region": "0.5 <= L <= 2, L/50 <= mu <= L/3, 0 < lr <= 1/L, K in 2..4"}

TRUE = {
    "tight, short steps": Bound("gd", "lr = 1/L", claimed="L*R**2/(4*N+2)", **SHORT),
    "1 % slack": Bound("gd", "lr = 1/L", claimed="1.01*L*R**2/(4*N+2)", **SHORT),
    "loose": Bound("gd", "lr = 1/L", claimed="L*R**2/N", **SHORT),
    "tight, contraction": Bound("gd", "lr", claimed="max((1-lr*mu)**2, (1-lr*L)**2)**N", **STEPS),
    "large units": Bound("gd", "lr = 1/50000", claimed="50000*1000**2/(4*N+2)", **LARGE),
    "contraction plus drift": Bound("fedavg", claimed=DRIFT, constants={"c": 1}, **LOCAL),
    "sampled": Bound("fedavg", claimed="(1-lr*mu) + c*lr**2*zeta**2*(n-s)/(s*(n-1))", constants={"c": 2}, **SOME),
    "potential": Contraction("scaffnew", claimed=RATE, **COIN),
    "non-convex, one round": Bound("fedpd", claimed=ONE_ROUND, **DUALS),
}
FALSE = {
    "false by 1 %": Bound("gd", "lr = 1/L", claimed="0.99*L*R**2/(4*N+2)", **SHORT),
    "4N + 4": Bound("gd", "lr = 1/L", claimed="L*R**2/(4*N+4)", **SHORT),
    "wrong step range": Bound("gd", "lr", claimed="(1-lr*mu)**(2*N)", **STEPS),
    "large units, by 3 %": Bound("gd", "lr = 1/50000", claimed="0.97*50000*1000**2/(4*N+2)", **LARGE),
    "drift ten times too small": Bound("fedavg", claimed=DRIFT, constants={"c": "0.1"}, **LOCAL),
    "forgotten zeta": Bound("fedavg", claimed="(1-lr*mu)**(2*K)", **WITHOUT_ZETA),
    "sampled, away from x*": Bound("fedavg", claimed="(1-lr*mu)**2 + lr**2*zeta**2*(n-s)/(s*(n-1))", **SOME),
    "potential, 1 - p": Contraction("scaffnew", claimed="max((1-lr*mu)**2, (1-lr*L)**2, 1-p)", **COIN),
    "potential, another weight": Contraction(
        "scaffnew", claimed=RATE, **COIN | {"potential": {"x_i": 1, "h_i": "1.1*(lr/p)**2"}}
    ),
    "non-convex, by 3 %": Bound("fedpd", claimed="0.97*" + ONE_ROUND, **DUALS),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_supported_or_proved(name):
    found = judge_statement(TRUE[name])
    assert found.word in ("supported", "proved") and found.refutation is None, str(found)
    assert found.least >= 1 - 1e-5 and (found.runs is None or found.runs.largest <= 1 + 1e-9)
    if found.word == "proved":
        assert found.everywhere is not None or (found.scope.whole and len(found.proofs) == found.scope.points)
    for proof in found.proofs:
        assert proof.bound <= proof.claimed == TRUE[name].claim_at(proof.point)
        check(dict(proof.certificate.data))
        verify_method(proof.certificate.data)


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_refuted_by_an_exact_instance(name):
    found = judge_statement(FALSE[name])
    assert found.word == "refuted", str(found)
    assert FALSE[name].inside(found.refuted_at)
    assert found.refutation.claimed == FALSE[name].claim_at(found.refuted_at) < found.refutation.reached
    assert replay_exactly(found.refutation.data) == found.refutation.reached
    assert found.refutation.size["dimension"] <= 6 and "REFUTED" in str(found)


def test_constants_are_moved_one_by_one():
    """Of the two terms of a true bound the second is not needed; the first is tight."""
    statement = Bound(
        "fedavg",
        "lr, steps = 1",
        region="0 < lr <= 1",
        functions="L = 1, mu = 1/10, zeta = 1",
        claimed="(1 - a*lr/10)**2 + b*lr**2/100",
        constants={"a": 1, "b": 1},
    )
    found = judge_statement(statement)
    assert found.word in ("supported", "proved") and found.least < 1.001
    a, b = found.sensitivity
    assert (a.constant, b.constant) == ("a", "b")
    assert 1 < a.factor < 1.1 and a.exact is not None and not a.loose
    assert b.loose and "loose" in str(b) and any("b could be moved" in reason for reason in found.reasons)


def test_what_cannot_be_reproduced_is_inconclusive():
    """The class is relaxed: its program exceeds the claim, and functions of the class need not."""
    statement = Bound(
        "fedavg",
        "lr = 1/2, steps = 2",
        region="1 <= D <= 2",
        functions="L = 1, mu = -1, G = 1, D",
        measure="stationarity",
        claimed="1/10",
    )
    found = judge_statement(statement)
    assert found.word == "inconclusive" and found.refutation is None
    assert "no instance reproduces it" in found.reasons[0] and "server's models" in found.reasons[0]


def test_what_cannot_be_solved_is_inconclusive(monkeypatch):
    def fails(*asked):
        raise SolverFailed("no answer today")

    monkeypatch.setattr(surveying, "worst_between", fails)
    monkeypatch.setattr("fedtheory.claims.statements.judging.prove_for_all", lambda statement, seconds: None)
    found = judge_statement(TRUE["large units"])
    assert found.word == "inconclusive" and "no answer today" in found.reasons[0] and len(found.unsolved) == 3


def test_too_few_points_are_inconclusive(monkeypatch):
    known = surveying.worst_between

    def sometimes(asked, limit):
        if Fraction(11, 10) < asked.function_class.L:
            raise SolverFailed("no answer today")
        return known(asked, limit)

    monkeypatch.setattr(surveying, "worst_between", sometimes)
    monkeypatch.setattr("fedtheory.claims.statements.judging.prove_for_all", lambda statement, seconds: None)
    found = judge_statement(TRUE["non-convex, one round"])
    assert found.word == "inconclusive" and "points were solved" in found.reasons[0]


@pytest.mark.parametrize(("claimed", "word"), [("L - 1.5", "refuted"), ("1/L", "refuted"), ("(L - 1.5)**2", "refuted")])
def test_a_claim_that_is_no_positive_number_somewhere_fails_there(claimed, word):
    statement = Bound("gd", "lr = 1/L", region="1 <= L <= 20", functions="L", measure="gap", claimed=claimed)
    found = judge_statement(statement)
    assert found.word == word and found.refutation.reached > found.refutation.claimed


def test_a_claim_of_zero_holds_where_the_worst_case_is_zero():
    ratios = [
        compare_to_worst(Fraction(claimed), worst) for claimed, worst in ((0, 0.0), (-1, 0.0), (1, 2.0), (1, inf))
    ]
    assert ratios == [inf, -inf, 0.5, 0.0]


def test_a_claim_without_value_is_not_solved_there():
    statement = Bound("gd", "lr = 1/L", region="1 <= L <= 2", functions="L", measure="gap", claimed="1/(L - 1)")
    found = judge_statement(statement)
    assert any("division by zero" in reason for _, reason in found.unsolved)


def test_searches_of_ones_own_are_asked(monkeypatch):
    """Where there is a derivation, too, two engines disagree."""
    asked = []

    def search(question, claimed, seed):
        asked.append((question.rounds, claimed, seed))
        return 1.5

    with pytest.raises(EnginesDisagree, match=r"a run reaches 1\.5 of what is claimed"):
        judge_statement(TRUE["large units"], seed=4, searches=(search,))
    monkeypatch.setattr("fedtheory.claims.statements.judging.prove_for_all", lambda statement, seconds: None)
    found = judge_statement(TRUE["large units"], seed=4, searches=(search,))
    assert asked and asked[0][2] == 4
    assert found.word == "inconclusive" and "a run reaches 1.5" in found.reasons[0]


def test_data_of_a_picture_are_along_the_last_parameter():
    found = judge_statement(TRUE["non-convex, one round"])
    assert found.line.parameter == "eta" and list(found.line.values) == sorted(found.line.values)
    assert found.line.claimed == pytest.approx(found.line.worst, rel=1e-4)


def test_what_fails_on_the_picture_alone_is_refuted(monkeypatch):
    """Tight at both ends and in the middle, where the survey looks here, and false between the middle and the upper end."""
    seen = replace(judging.EFFORTS["quick"], random=0, local=0)
    monkeypatch.setitem(judging.EFFORTS, "quick", seen)
    claimed = "L/6 + (L - 1)*(L - 3/2)*(L - 2)"
    statement = Bound("gd", "lr = 1/L", region="1 <= L <= 2", functions="L", measure="gap", claimed=claimed)
    found = judge_statement(statement)
    assert found.word == "refuted" and 1.5 < found.refuted_at["L"] < 2
    assert found.line.instance == (float(found.refuted_at["L"]), float(found.refutation.reached))
    assert any(worst > claim for worst, claim in zip(found.line.worst, found.line.claimed, strict=True))


def test_a_line_solves_no_more_than_it_may(monkeypatch):
    """With three values at least, and all of them where it may; a count, so that no word depends on the processor."""
    statement = Bound("gd", "lr", region="0 < lr < 2", functions="L = 1, mu = 1/10", claimed=1)
    survey = Survey(statement)
    base = survey.at(next(survey.corners(1))).point
    whole, _ = lines.survey_line(survey, base, 0)
    assert len(whole.values) >= lines.MOST_VALUES and float(base["lr"]) in whole.values
    monkeypatch.setattr(lines, "MOST_SOLVED", 0)
    short, _ = lines.survey_line(survey, base, 0)
    assert len(short.values) == 3 and set(short.values) <= set(whole.values)
    nothing = replace(statement, region="", options="lr = 1")
    assert lines.survey_line(Survey(nothing), {}, 0) is None, "there is nothing to go along"


def test_regions_are_visited_at_corners_and_by_local_search():
    survey = Survey(
        Bound("gd", "lr", region="0.5 <= lr <= 1.9", functions="L = 1, mu = 1/10", claimed="(1 - lr/10)**2")
    )
    for place in survey.corners(4):
        survey.at(place)
    assert {value.point["lr"] for value in survey.found.values()} >= {Fraction(1, 2), Fraction(19, 10)}
    assert survey.solved[0].point["lr"] == Fraction(19, 10) and survey.solved[0].ratio < 1
    spent = survey.descend(30)
    assert 0 < spent <= 32


METHODS = {
    "a listed method": ("gd", "lr = 1/L"),
    "a function of the parameters": (lambda L: GradientDescent(1 / Fraction(L)), ""),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_named_or_made(name):
    method, options = METHODS[name]
    functions = (lambda L: FunctionClass(L=L)) if name != "a listed method" else "L"
    statement = Bound(method, options, region="0 < L", functions=functions, measure="gap", claimed="L/6")
    assert worst_value(statement.asked_at({"L": Fraction(3)})) == pytest.approx(0.5, abs=1e-6)


WRONG = {
    "no such parameter": ({"options": "lr = 1/M"}, "'M' in 'option lr' is no parameter"),
    "no such option": ({"options": "rho = 1"}, "no option 'rho'"),
    "no such constant": ({"functions": "L, tau"}, "'tau' is no constant of a class"),
    "not in the claim": ({"claimed": "c*L"}, "'c' in 'claimed'"),
    "a parameter twice": ({"constants": {"L": 1}}, "a parameter and a named constant"),
    "an option twice": ({"options": "lr = 1, lr = 2"}, "given twice"),
    "clients": ({"clients": "m = 3"}, "clients are 'n, s'"),
    "a condition": ({"where": ("s < 3",)}, "is no parameter"),
    "a measure": ({"measure": "size"}, "unknown measure"),
    "no expression": ({"claimed": "L +"}, "not an expression"),
    "no radius": (
        {"region": "0 < L, 0 < R", "claimed": "L*R**2/6"},
        "'R' occurs in what is claimed and nowhere else.*write radius = 'R'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_text_that_says_nothing_is_refused_at_once(name):
    change, message = WRONG[name]
    given = {"options": "lr = 1/L", "region": "0 < L", "functions": "L", "measure": "gap", "claimed": "L/6"} | change
    with pytest.raises(InvalidInput, match=message):
        Bound("gd", **given)


def test_a_parameter_of_the_claim_alone_needs_a_radius_in_words():
    stated = {"region": "0 < L, 0 < a", "functions": "L", "measure": "gap", "claimed": "(1 + a)*L/6"}
    assert Bound("gd", "lr = 1/L", radius="1", **stated).asked_at({"L": Fraction(3), "a": Fraction(1)}).radius == 1


def test_what_has_no_meaning_at_a_point_is_refused_there():
    with pytest.raises(InvalidInput, match="at lr = 1/2: rounds must be a whole number"):
        Bound("gd", "lr", region="0 < lr < 1", functions="L = 1", rounds="lr", claimed=1)
    with pytest.raises(InvalidInput, match="needs a potential"):
        Contraction("gd", "lr", region="0 < lr < 1", functions="L = 1, mu = 1/2", claimed=1)
    with pytest.raises(InvalidInput, match="at lr = 1/2: clients need their number n"):
        Bound("fedavg", "lr, steps = 1", region="0 < lr < 1", functions="L = 1", clients="s = 2", claimed=1)


# ---- a draw of statements ----------------------------------------------------------------------------------------


def _between(lots, name, low, high):
    middle = (low + high) / 2
    return f"{lots.uniform(low, middle):.3f} <= {name} <= {lots.uniform(middle, high):.3f}"


def _of_known_form(lots):
    """A statement whose tight form is known, as a function of a factor on it."""
    kind = lots.choice(("short steps", "contraction", "one round", "potential"))
    big_l = _between(lots, "L", 0.5, 3)
    if kind == "short steps":
        region = f"{big_l}, {_between(lots, 'h', 0.1, 1)}, {_between(lots, 'R', 0.3, 3)}, N in 1..{lots.randint(1, 3)}"
        given = {"region": region, "functions": "L", "measure": "gap", "rounds": "N", "radius": "R"}
        return lambda factor: Bound("gd", "lr = h/L", claimed=f"{factor}*L*R**2/(4*N*h+2)", **given)
    if kind == "contraction":
        region = f"{big_l}, L/20 <= mu <= L/{lots.randint(2, 4)}, 1/(4*L) <= lr <= 2/L, N in 1..2"
        given = {"region": region, "functions": "L, mu", "rounds": "N"}
        return lambda factor: Bound("gd", "lr", claimed=f"{factor}*max((1-lr*mu)**2, (1-lr*L)**2)**N", **given)
    if kind == "one round":
        region = f"{big_l}, 1/(20*L) <= eta <= 3/(10*L), {_between(lots, 'D', 0.5, 3)}"
        given = {"region": region, "functions": "L, mu = -L", "measure": "stationarity", "radius": "D"}
        return lambda factor: Bound("fedpd", "eta, exact", claimed=f"{factor}*D*{ONE_ROUND}", **given)
    region = f"{big_l}, L/20 <= mu <= L/2, 1/(10*L) <= lr <= 2/L, {_between(lots, 'p', 0.2, 1)}"
    given = {"region": region, "functions": "L, mu", "potential": COIN["potential"]}
    return lambda factor: Contraction("scaffnew", "lr, p", claimed=f"{factor}*{RATE}", **given)


def _of_known_value(lots):
    """A statement at one point whose worst case was computed, as a function of a factor on it."""
    while True:
        big_l, zeta, steps = lots.choice((Fraction(1, 2), 1, 3)), Fraction(lots.randint(1, 8), 4), lots.randint(1, 3)
        mu, lr = Fraction(lots.randint(0, 3), 10) * big_l, Fraction(lots.randint(1, 12), 12) / big_l
        convex = f"L = {big_l}, mu = {mu}, zeta = {zeta}"
        method, options, functions, given = lots.choice(
            (
                ("fedavg", f"lr = {lr}, steps = {steps}", convex, {"measure": "gap"}),
                ("fedavg", f"lr = {lr}, steps = {steps}", convex, {"clients": "n = 4, s = 2"}),
                ("scaffold", f"lr = {lr}, steps = {steps}, server_lr = 1", convex, {}),
                ("feddyn", f"rho = {big_l}, exact", convex, {"rounds": lots.randint(1, 2)}),
                ("agd", f"lr = 1/{big_l}", f"L = {big_l}", {"rounds": lots.randint(1, 3), "measure": "gap"}),
                ("gd", f"lr = {lr}", f"L = {big_l}, mu = -{big_l}", {"rounds": 2, "measure": "min_stationarity"}),
            )
        )
        given = {"region": "", "functions": functions, **given}
        try:
            value = worst_value(Bound(method, options, claimed=1, **given).asked_at({}))
        except FedtheoryError:
            continue
        if 1e-9 < value < 1e6:
            tight = Fraction(f"{value:.15g}")
            return lambda factor, tight=tight: Bound(
                method, options, claimed=tight * Fraction(factor) * (1 + Fraction(1, 10**8)), **given
            )


@pytest.mark.selftest
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", [_of_known_form, _of_known_value])
def test_random_statements_are_never_judged_wrongly(make, seed):
    """Tight, with slack, and false by 1 to 5 %."""
    lots = random.Random(1000 + seed)
    stated = make(lots)
    for factor in ("1", f"{lots.uniform(1.005, 1.2):.4f}"):
        assert judge_statement(stated(factor), seed=seed).word in ("supported", "proved")
    assert judge_statement(stated(f"{lots.uniform(0.95, 0.99):.4f}"), seed=seed).word == "refuted"


# ---- for all parameters ------------------------------------------------------------------------------------------


def test_a_shared_regulariser_has_no_derivation():
    """It would be left out of the objective, of which L R^2 / 2 is an easy bound."""
    alone, shared = (
        Bound("gd", "lr = 1/L", region="0 < L", functions=functions, measure="gap", claimed="L/2")
        for functions in ("L", "L, composite")
    )
    assert prove_for_all(alone, 20) is not None and prove_for_all(shared, 20) is None


@pytest.mark.parametrize("name", ["non-convex, one round", "tight, short steps", "potential"])
def test_tight_statements_are_proved_on_their_region(name):
    """L between two numbers is any positive number first."""
    found = prove_for_all(TRUE[name], 60)
    assert found is not None
    for _, derivation in found.pieces:
        check_derivation(dict(derivation))

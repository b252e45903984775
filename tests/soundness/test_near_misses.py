"""Changes of a statement towards a stronger claim: what falls was refuted or is not proved, what is slack is true, and nothing else is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedtheory.claims import Equivalence, Lemma, dot, norm2
from fedtheory.claims.claim import JudgedChange
from fedtheory.claims.sharpness import ChangedClaim, Score, list_scores
from fedtheory.claims.statements import near_misses
from fedtheory.claims.statements.near_lemmas import judge_near_lemmas, read_near
from fedtheory.claims.statements.near_misses import judge_near_misses
from fedtheory.claims.statements.theorems.mistakes import is_implied
from fedtheory.claims.statements.theorems.refuting import WITHOUT_STATES, BrokenClaim
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import bar
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.refutations import Instance
from paper_checks.averaged_quadratics import MEAN_OF_CLIENTS
from paper_checks.fedslr.appendix_c_4_proof_of_theorem_2 import stationary
from paper_checks.safari.appendix_a_1_b_proof_of_theorem_5 import perturbed
from tests.support.theorems import CONVERGES, GRADIENT_DESCENT


def _below(w: Any, p: Any, c: Any) -> Any:
    """f(y) <= f(0) + <grad f(0), y> + (c L/2) ||y||^2."""
    f = w.function(p.L, -p.L)
    y = w.vector("y")
    g, at_zero = w.at(f, y * 0, "g")
    _, at_y = w.at(f, y, "gy")
    return at_y - at_zero - dot(g, y) - norm2(y) * (c.c * p.L / 2)


SHARP = Lemma("descent", "textbook", "0 < L", _below, {"c": 1})


def judged(lemma: Lemma) -> dict[str, JudgedChange]:
    return {change.what: change for change in judge_near_lemmas(lemma)}


def slack(changes: Mapping[str, JudgedChange]) -> dict[str, str]:
    return {what: change.detail for what, change in changes.items() if change.outcome == "slack"}


def test_of_a_sharp_lemma_everything_falls_but_what_its_proof_does_not_use() -> None:
    """The upper bound of a smooth function needs no lower bound of its curvature."""
    changes = judged(SHARP)
    assert list(slack(changes)) == ["mu - (k - 1)*L, k = 101/100, of f"]
    assert changes["number x 99/100: term 4 of 4 of the conclusion"].outcome == "falls"
    assert changes["number x 101/100: term 4 of 4 of the conclusion"].outcome == "weaker"
    assert changes["without the class of f"].outcome == "falls"
    assert changes["exponent, one more L: term 4 of 4 of the conclusion"].outcome == "falls"


def test_a_constant_that_is_twice_what_is_needed_is_slack_with_its_size() -> None:
    found = slack(judged(replace(SHARP, constants={"c": 2})))
    assert found["constant c = 99/50"] == found["constant c = 1"] == "would reject c from x 0.499962"
    assert found["number x 1/2: term 4 of 4 of the conclusion"] == "would reject it from x 0.499962"
    assert "dropped: term 4 of 4 of the conclusion" not in found


def _with_premise(premise: str) -> Lemma:
    def build(w: Any, p: Any, c: Any) -> Any:
        a, b, other = w.vector("a"), w.vector("b"), w.vector("other")
        w.assume("first", norm2(a) - p.r)
        w.assume(
            "second",
            {"of another": norm2(other) - p.r, "implied": norm2(a) - 2 * p.r, "needed": norm2(b) - p.r}[premise],
        )
        return norm2(a) - p.r + (norm2(b) - p.r if premise == "needed" else 0)

    return Lemma(premise, "an example", "0 < r", build)


@pytest.mark.parametrize(("premise", "outcome"), [("of another", "slack"), ("implied", "weaker"), ("needed", "falls")])
def test_a_hypothesis_that_decides_nothing_is_slack_and_one_that_follows_from_others_is_none(
    premise: str, outcome: str
) -> None:
    assert judged(_with_premise(premise))["without the hypothesis second"].outcome == outcome


def test_a_false_lemma_has_no_near_misses() -> None:
    assert judged(replace(SHARP, constants={"c": Fraction(1, 2)})) == {}


def _plain(form: Form) -> tuple[Any, ...]:
    return form.gram, form.values, form.constant


# ---- lemmas of other shapes ---


def _drift_step(w: Any, p: Any, c: Any) -> Any:
    """One local step of the drift, K >= 2: E ||y+ - x||^2 <= (1 + 1/(K-1)) ||y - x||^2 + eta^2 sigma^2 + 6 K eta^2 (sigma_G^2 + ||g||^2)."""
    f = w.function(p.L, -p.L, name="F_i")
    y, g, drawn = w.vector("y"), w.vector("g"), w.vector("xi", True)
    x, xi = g * 0, drawn - bar(drawn)
    w.assume("noise", norm2(xi) - p.s2)
    gx, _ = w.at(f, x, "F_i")
    gy, _ = w.at(f, y, "F_i(y)")
    w.assume("dissimilarity", norm2(gx - g) - p.G2)
    allowed = norm2(y - x) * (1 + 1 / (p.K - 1)) + norm2(g) * (c.c * 6 * p.K * p.eta**2) + 6 * p.K * p.eta**2 * p.G2
    return norm2(y - x - (xi + gy) * p.eta) - allowed - p.eta**2 * p.s2


DRIFT_STEP = Lemma(
    "one step", "(40)-(41)", "0 < L, 2 <= K, 0 < eta <= 1/(8*L*K), 0 <= G2, 0 <= s2", _drift_step, {"c": 1}
)


def _descent(w: Any, p: Any, c: Any) -> Any:
    """F(x - eta Delta) <= F(x) - eta <g, Delta> + (c L eta^2/2) ||Delta||^2 for every Delta, drawn or not."""
    f = w.function(p.L, -p.L, name="F")
    g, step = w.vector("g"), w.vector("Delta")
    _, v = w.at(f, g * 0, "F", g=g)
    _, vn = w.at(f, step * -p.eta, "F+")
    return vn - v + dot(g, step) * p.eta - norm2(step) * (c.c * p.L * p.eta**2 / 2)


DESCENT = Lemma("descent", "(31)", "0 < L, 0 < eta", _descent, {"c": 1})

LEMMAS = {"descent": DESCENT, "drift": DRIFT_STEP, "perturbed": perturbed, "stationary": stationary}


@pytest.mark.parametrize("name", LEMMAS)
def test_a_text_read_with_its_terms_says_what_it_says_without(name: str) -> None:
    lemma = LEMMAS[name]
    case = lemma.cases[0]
    read, plain = read_near(lemma, case.fixed, case.field).system, case.system
    point = lemma.region.simple_points(1)[0]
    read, plain = read.at(point), plain.at(point)
    assert _plain(read.conclusion) == _plain(plain.conclusion)
    assert [(n, _plain(form)) for n, form in read.rows] == [(n, _plain(form)) for n, form in plain.rows]


def test_terms_are_the_summands_with_their_factors() -> None:
    def build(w: Any, p: Any, c: Any) -> Any:
        x, y = w.vector("x"), w.vector("y")
        return 3 * (norm2(x) - 2 * dot(x, y)) - (norm2(y) + p.r) / 4 - norm2(x * 0)

    case = Lemma("terms", "an example", "0 < r", build).cases[0]
    terms = read_near(case.lemma, case.fixed, case.field).system.conclusion.terms
    read = [(dict(t.gram), t.constant) for t in terms]
    xx, xy, yy, r = ("S", 0, 0), ("S", 0, 1), ("S", 1, 1), case.field.parameters()["r"]
    assert read == [
        ({xx: 3, xy: -6}, 0),
        ({xx: 3}, 0),
        ({xy: -6}, 0),
        ({yy: Fraction(-1, 4)}, r * Fraction(-1, 4)),
        ({yy: Fraction(-1, 4)}, 0),
        ({}, r * Fraction(-1, 4)),
        ({}, 0),
    ]


@pytest.mark.parametrize("lemma", [SHARP, perturbed], ids=["descent", "perturbed"])
def test_what_falls_with_one_per_cent_falls_farther_out(lemma: Lemma) -> None:
    """What the judge concludes from linearity, asked of the engine."""
    case = lemma.cases[0]
    near, asked = read_near(lemma, case.fixed, case.field), 0
    form = near.system.conclusion
    for what, change in judged(lemma).items():
        if what.startswith("dropped") and "the conclusion" in what and change.outcome == "falls":
            term = form.terms[int(what.split()[2]) - 1]
            for factor in (Fraction(1, 2), Fraction(0), Fraction(-1)):
                assert near.refute(near.system.with_conclusion(form + term * (factor - 1)))
                asked += 1
    assert asked > 5


def test_a_range_that_a_proof_does_not_need_is_slack_though_its_derivations_were_made_for_it() -> None:
    changes = {
        change.what: change
        for change in judge_near_misses(Theorem("0 < x <= 1", "x <= 2", "done: claim by derivation"))
    }
    assert changes["x up to 11/10 of its end"].outcome == "slack"
    assert {change.about for change in changes.values()} == {"x <= 2; 0 < x <= 1"}
    sharp = {
        change.what: change
        for change in judge_near_misses(Theorem("0 < x <= 1", "x <= 1", "done: claim by derivation"))
    }
    assert sharp["x up to 11/10 of its end"].outcome == "falls"  # x = 11/10


LOOSE = replace(
    GRADIENT_DESCENT,
    claim="gap[N] <= 50*L*dist2[0]/N",
    proof=GRADIENT_DESCENT.proof.replace(
        "done: claim                                                          by combine all, pos(t=N)",
        "loose: N*gap[N] <= 50*L*dist2[0]  by combine all, L/2*pos(t=N), (99*L/2)*pos(t=0)\n      done: claim  by combine (1/N)*loose",
    ),
)


def of_theorem(theorem: Theorem) -> dict[str, JudgedChange]:
    return {change.what: change for change in judge_near_misses(theorem)}


def test_a_claim_a_hundred_times_too_weak_is_slack_by_that_and_does_not_fall() -> None:
    """One loose line before it, and the same proof with its multipliers proves nothing stronger: that says nothing of stronger claims."""
    changes = of_theorem(LOOSE)
    half = changes["number: gap[N] <= 50 * (1 / 2) * L * dist2[0] / N"]
    assert (half.outcome, half.detail) == ("slack", "the same script proves it, down to x 0.01")
    assert changes["term dropped: gap[N] <= L * dist2[0] / N"].outcome == "slack"
    falling = [change.detail for change in changes.values() if change.outcome == "falls"]
    assert falling and all("an instance at" in detail for detail in falling)
    assert "are not reached by the proof" in str(Score.of([ChangedClaim("A", "a page", tuple(changes.values()))]))


def test_what_the_script_does_not_prove_falls_by_an_instance_or_is_open() -> None:
    """L d/(4 N) is true of gradient descent, whose worst case is L d/(4 N + 2): no proof of L d/(2 N) reaches it, and it does not fall."""
    changes = of_theorem(GRADIENT_DESCENT)
    assert changes["number: gap[N] <= L * dist2[0] / (2 * 2 * N)"].outcome == "not reached"
    assert changes["factor: gap[N] <= L * dist2[0] / (2 * N ** 2)"].outcome == "falls"
    assert changes["equal for at most: gap[N] == L * dist2[0] / (2 * N)"].outcome == "falls"
    faster = of_theorem(CONVERGES)
    assert faster["number: dist2[T] <= (1 - mu / L) ** (2 * 2 * T) * dist2[0]"].outcome == "falls"
    assert "survives" not in {change.outcome for change in (*changes.values(), *faster.values())}


def test_a_sum_that_begins_before_the_first_number_is_no_error() -> None:
    """Of a theorem about states with a sequence: no instance has a number -1, and the proof does not reach it."""
    changes = of_theorem(MEAN_OF_CLIENTS)
    assert (
        changes["round: answers[n + 1] == sum(Q[i - 1], i, 0, n) * w[n + 1] + weighted[n + 1]"].outcome == "not reached"
    )


def test_what_is_stronger_by_a_hair_is_not_called_weaker() -> None:
    """Draws that leave room on both sides do not tell one per cent."""
    for claim in ("gap[N] <= L*dist2[0]/(2*(101/100)*N)", "gap[N] < L*dist2[0]/(2*N)"):
        assert not is_implied(GRADIENT_DESCENT, replace(GRADIENT_DESCENT, claim=claim, proof=""))
    for claim in ("gap[N] <= L*dist2[0]/(2*(99/100)*N)", "gap[N] <= L*dist2[0]/N"):
        assert is_implied(GRADIENT_DESCENT, replace(GRADIENT_DESCENT, claim=claim, proof=""))
    assert not is_implied(GRADIENT_DESCENT, replace(GRADIENT_DESCENT, rounds={"t": 0, "N": 0}, proof=""))


def test_what_is_proved_and_refuted_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that finds an instance against what a term proves: one of the two is wrong, and the score says so."""
    broken = BrokenClaim(0, {}, Instance(WITHOUT_STATES, {}, (), (), (), Fraction(1)), Fraction(1))
    monkeypatch.setattr(near_misses, "refute_theorem", lambda theorem: broken)
    changes = tuple(judge_near_misses(Theorem("0 < x <= 1", "x <= 2", "done: claim by derivation")))
    assert {c.outcome for c in changes if c.what == "x up to 11/10 of its end"} == {"survives"}
    assert "SURVIVE" in str(Score.of([ChangedClaim("A", "a page", changes)]))


def test_a_score_counts_a_statement_that_two_claims_share_once() -> None:
    falls, same = JudgedChange("sign", "falls", "", "Lemma 1"), JudgedChange("number", "slack", "x 2", "Lemma 1")
    weaker = JudgedChange("root", "weaker", "", "Lemma 2")
    found = [ChangedClaim("A", "a page", (falls, same)), ChangedClaim("B", "a page", (falls, weaker))]
    words, other = ChangedClaim("C", "a page", is_data=False), ChangedClaim("D", "another", error="no time")
    scores = dict(list_scores([*found, words, other]))
    assert str(scores["a page"]) == (
        "1 of 2 changes of 2 statements fall (50.0 %), 1 is slack; left out: 1 weaker ones. Not data: 1 of 3 claims"
    )
    assert scores["all"].not_run == ("D",) and scores["all"].not_data == ("C",)


def _triangle(w: Any, p: Any, c: Any) -> Any:
    x, y = w.vector("x"), w.vector("y")
    return norm2(x + y) - (norm2(x) + norm2(y)) * c.c


def test_what_is_true_of_all_vectors_is_not_called_weaker_for_that() -> None:
    """Twice the constant that is needed, and no hypotheses: the stronger constant follows from nothing, and all the more from the lemma."""
    loose = judged(Lemma("triangle", "an example", "", _triangle, {"c": 4}))
    assert {what: loose[what].outcome for what in loose if "constant" in what} == {
        "constant c = 101/25": "weaker",
        "constant c = 99/25": "slack",
        "constant c = 8": "weaker",
        "constant c = 2": "slack",
    }
    sharp = judged(Lemma("triangle", "an example", "", _triangle, {"c": 2}))
    assert sharp["constant c = 99/50"].outcome == sharp["constant c = 1"].outcome == "falls"


def test_a_multiple_of_a_conclusion_is_the_same_conclusion() -> None:
    def build(w: Any, p: Any, c: Any) -> Any:
        x, y = w.vector("x"), w.vector("y")
        return (norm2(x + y) - (norm2(x) + norm2(y)) * 2) * c.c

    assert judged(Lemma("scaled", "an example", "", build, {"c": 3}))["constant c = 303/100"].outcome == "weaker"


def test_a_power_that_shows_where_two_parameters_are_not_one_is_refuted() -> None:
    """The power of s2 in a local step: it shows where s2 < 1 and G2 is small, which a search of five parameters misses."""
    case = DRIFT_STEP.cases[0]
    near = read_near(DRIFT_STEP, case.fixed, case.field)
    term, s2 = near.system.conclusion.terms[4], case.field.parameters()["s2"]
    assert near.search(near.system.with_conclusion(near.system.conclusion + term * s2 - term))


def test_kinds_have_their_own_near_misses_and_false_statements_none() -> None:
    same = Equivalence("safari", "fedavg", "q = 1, lr, steps = K", "lr, steps = K", region="0 < lr <= 1, K in 1..2")
    assert {change.outcome for change in judge_near_misses(same)} == {"falls"}
    assert list(judge_near_misses(replace(same, options="q = 0, lr, steps = K"))) == []

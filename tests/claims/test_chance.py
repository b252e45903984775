"""What random draws may decide: the tests are SciPy's, and a ledger's words are wrong by draws alone as rarely as it says."""

import numpy as np
import pytest
from scipy import stats

from fedtheory.claims.chance import Chance, chance_of_deviation, chance_of_mean, chance_of_signs
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import Claim, Fault, Part
from fedtheory.claims.context import Context
from fedtheory.claims.ledger import LEDGER, WITH_FEW_SEEDS, hold_parts, level_of
from fedtheory.claims.orderings import alike, ordered
from fedtheory.claims.report import summarise_chances
from fedtheory.core.errors import InvalidInput

FAULT = (Fault("none", "ahead", {}),)
SEEDS, ORDERINGS = 300, 30


def toy(number=0, gain=0.0, kind="ordering", parts=1, sign=1, **more):
    """One side ahead of the other by ``gain`` deviations of a paired difference, over 12 draws."""

    def check(ctx):
        rng = np.random.default_rng([ctx.seed, number])
        for part in range(parts):
            better, worse = rng.standard_normal((2, 12))
            yield ordered(f"part {part}", sign * ((better - worse) / np.sqrt(2) + gain), np.zeros(12), "difference")

    return Claim(f"TOY-{number}", "toy", kind, "", "", check, FAULT, **more)


def words(ledger, seed):
    return [judge_claim(claim, "toy", Context(seed=seed), ledger).status for claim in ledger]


def test_draws_alone_make_a_word_of_a_ledger_wrong_as_rarely_as_is_said():
    ledger = [toy(k) for k in range(ORDERINGS)]
    wrong = sum(set(words(ledger, seed)) != {"inconclusive"} for seed in range(SEEDS))
    assert stats.binomtest(wrong, SEEDS, LEDGER, "greater").pvalue > 0.01, wrong
    several = [toy(k, gain=0.0, parts=8) for k in range(2)]
    assert sum(set(words(several, seed)) != {"inconclusive"} for seed in range(100)) <= 5, "many parts of few claims"
    at_a_part = [judge_claim(ledger[seed % ORDERINGS], "toy", Context(seed=seed)).evidence for seed in range(SEEDS)]
    assert any(part["chance"]["value"] < 0.05 for parts in at_a_part for part in parts), "without the rule there are"


def test_a_true_difference_is_still_found():
    ledger = [toy(0, gain=3.0), toy(1, gain=-3.0), *(toy(k) for k in range(2, ORDERINGS))]
    for seed in range(30):
        found = [judge_claim(claim, "toy", Context(seed=seed), ledger).status for claim in ledger[:2]]
        assert found == ["reproduced", "not reproduced"]


def test_what_speaks_against_a_statement_is_told_though_it_decides_nothing():
    """At 5 % the sides are the other way round, and not at the ledger's level."""
    ledger = [toy(0, gain=-0.9), *(toy(k) for k in range(1, ORDERINGS))]
    found = [judge_claim(ledger[0], "toy", Context(seed=seed), ledger) for seed in range(12)]
    told = [any("Against the statement at 5%" in reading for reading in verdict.readings) for verdict in found]
    chances = [verdict.evidence[0]["chance"]["value"] for verdict in found]
    weak = [verdict.status == "inconclusive" and chance <= 0.05 for verdict, chance in zip(found, chances, strict=True)]
    assert told == weak and sum(weak) > 6


def experiment(seed, **given):
    claim = toy(needs=lambda ctx: [], **given)
    return judge_claim(claim, "toy", Context(seed=seed), [claim, *(toy(k) for k in range(1, ORDERINGS))])


def test_in_an_experiment_a_contradiction_counts_like_a_confirmation():
    for seed in range(30):
        ahead, behind = (experiment(seed, gain=0.9, sign=sign) for sign in (1, -1))
        assert (ahead.status, behind.status) in (("reproduced", "not reproduced"), ("inconclusive", "inconclusive"))
        for verdict in (ahead, behind):
            chance = verdict.evidence[0]["chance"]["value"]
            weak = verdict.status != "inconclusive" and chance > LEDGER / ORDERINGS
            assert weak == any("elsewhere: part 0" in reading for reading in verdict.readings)


@pytest.mark.parametrize("parts", [1, 8])
def test_draws_alone_make_the_word_of_an_experiment_wrong_in_five_percent_at_most(parts):
    wrong = sum(experiment(seed, parts=parts).status != "inconclusive" for seed in range(SEEDS))
    assert stats.binomtest(wrong, SEEDS, WITH_FEW_SEEDS, "greater").pvalue > 0.01, wrong


def test_one_failing_part_of_several_must_survive_their_number():
    def part(name, holds, value, role="printed"):
        return Part(name, holds, "numeric", "", role=role, chance=Chance("a test", 12, value))

    parts = [
        part("a", True, 0.001),
        part("b", False, 0.0006),
        part("c", False, 0.0004),
        part("e", False, 0.0011),
        part("d", True, 0.002),
        part("reading", False, 0.9, "reading"),
        part("corrected", True, 0.002, "repaired"),
        Part("exact", False, "exact", ""),
    ]
    held = {p.name: p.holds for p in hold_parts(parts, 0.0025)}
    # five printed parts have a chance; by Holm's rule 0.0004 is held against 0.0025 / 5, 0.0006 against 0.0025 / 4, 0.0011 against 0.0025 / 3
    assert held == {
        "a": True,
        "b": False,
        "c": False,
        "e": None,
        "d": True,
        "reading": False,
        "corrected": True,
        "exact": False,
    }
    assert [p.holds for p in hold_parts(parts, 0.0019)][:4] == [True, None, None, None]


def test_each_claim_that_rests_on_draws_has_its_share():
    exact = Claim("E", "toy", "bound", "", "", toy().check, FAULT)
    assert level_of([exact]) == LEDGER and level_of([toy(k) for k in range(4)] + [exact]) == LEDGER / 4
    assert level_of([exact, toy(1, kind="bound")]) == LEDGER
    counted = Claim("D", "toy", "bound", "", "", toy().check, FAULT, draws=True)
    assert level_of([counted, toy(1)]) == LEDGER / 2
    assert judge_claim(exact, "toy", Context()).error.startswith("InvalidInput: E has parts that random draws decide")
    assert judge_claim(counted, "toy", Context()).error is None


def test_the_tests_are_scipys():
    values = np.random.default_rng(0).standard_normal(9) + 0.4
    assert chance_of_mean(values, 0.1).value == pytest.approx(stats.ttest_1samp(values, 0.1).pvalue)
    assert chance_of_signs(9, 10).value == pytest.approx(2 * (1 + 10) / 2**10)
    assert chance_of_mean([0.25] * 6).value == 2.0**-5, "equal values say no more than their signs"
    assert chance_of_mean([0.0, 0.0]).value == 1
    assert chance_of_deviation(values, 1e-9).value < 1e-12 and chance_of_deviation(values, 1e9).value < 1e-12
    assert chance_of_deviation(values, values.std(ddof=1)).value > 0.5
    for bad in ([1.0], [1.0, np.nan]):
        with pytest.raises(InvalidInput, match="at least two finite values"):
            chance_of_mean(bad)
    with pytest.raises(InvalidInput, match="expected one in"):
        Chance("a test", 10, 1.5)


@pytest.mark.parametrize("seed", range(30))
def test_a_part_decides_where_its_chance_is_below_five_percent(seed):
    a, b = np.random.default_rng(seed).standard_normal((2, 8)) + np.array([[0.9], [0.0]])
    for part in (ordered("o", a, b, "t", by=0.3), alike("a", a, b, "t", within=1.2)):
        assert (part.holds is not None) == (part.chance.value < 0.05)


def test_runs_that_all_diverged_are_worth_their_signs():
    part = ordered("o", np.ones(6), np.full(6, np.nan), "t")
    assert part.holds and part.chance.value == 2.0**-5
    assert ordered("o", np.ones(6), [np.nan, *np.ones(5)], "t").chance is None


def test_the_sentence_on_chances():
    verdicts = [
        judge_claim(toy(k, gain=0.8, parts=3), "toy", Context(seed=3), [toy(j) for j in range(9)]) for k in range(9)
    ]
    assert summarise_chances(verdicts).startswith(
        "9 verdicts rest on random draws: the chance that draws alone make one or more words of a ledger wrong is at most 1%"
    )
    assert "undecided, since draws alone make it seem that it holds with a chance of" in str(verdicts)
    assert summarise_chances([]) == ""


def test_a_verdict_says_whether_its_check_read_the_seed():
    def fixed(ctx):
        yield Part("p", True, "exact", f"{ctx.budget}")

    assert not judge_claim(Claim("F", "toy", "bound", "", "", fixed, FAULT), "toy", Context()).seeded
    assert judge_claim(toy(), "toy", Context()).seeded

    def drawn(ctx):
        yield Part("p", True, "exact", f"{ctx.rng().random()}")

    assert judge_claim(Claim("R", "toy", "bound", "", "", drawn, FAULT), "toy", Context()).seeded


def test_chances_of_null_draws_are_even():
    rng = np.random.default_rng(0)
    for test in (lambda v: chance_of_mean(v), lambda v: chance_of_deviation(v, 1.0)):
        found = [test(rng.standard_normal(7)).value for _ in range(600)]
        assert stats.kstest(found, "uniform").pvalue > 0.01

"""Attacks on verdicts: words that are stronger than their evidence, data files that run code, passes that look at nothing."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from claims_in_place import put_claims
from evidence import a_proof, a_replay

from fedtheory.algorithms import FedPD
from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Claim, Counterexample, Covered, Fault, Part, Replay
from fedtheory.claims.context import Context
from fedtheory.claims.parts import (
    VOUCHED,
    assume,
    assume_constant,
    assume_exact_solves,
    at_most,
    decided,
    disproved,
    equal,
    holds,
    proved,
    refute,
    vouch,
)
from fedtheory.claims.proof_objects import Proof
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.verdict import Verdict, decide
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.facts import Fact, collect_facts, compare, take_facts
from fedtheory.proofs.symbolic import is_not_zero, is_positive, is_zero
from problems.quadratics import scalar_quadratics

FEDPD = "paper_checks.fedpd"
LEAST = Covered(8, "instances")


def replay(measured=2.0, exact=Fraction(2), met=True) -> Replay:
    return a_replay(measured, exact=(exact, Fraction(1)), met=met)


def verdict_under(source, id, fault) -> str:
    """Status of a claim under one of its planted faults."""
    claim = load_claims(source)[id]
    subject = next(f.subject for f in claim.faults if f.name == fault)
    return decide(claim.kind, [p for p in claim.run(Context(), subject) if isinstance(p, Part)])


# ---- evidence for and evidence against ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "fault"),
    [
        ("FEDPD-TAB3", "a spread of 2000 allowed"),
        ("FEDPD-L5s", "T = 2N, where it holds"),
        ("FEDPD-L6s", "T = 2N, where it holds"),
    ],
)
def test_a_refutation_that_does_not_reproduce_is_inconclusive(id, fault) -> None:
    assert verdict_under(FEDPD, id, fault) == "inconclusive"


def test_a_refutation_that_does_not_reproduce_is_no_evidence() -> None:
    for seen in (replay(measured=0.5), replay(exact=Fraction(1)), replay(met=False)):
        made = refute("r", lambda instance, seen=seen: seen, {})
        assert not made.supports and made.margin is None
        assert decide("bound", [made]) == "inconclusive"
        assert (
            decide("bound", [made, holds("other", True, "numeric", "it holds elsewhere", covered=LEAST)])
            == "inconclusive"
        )
        assert decide("ordering", [made]) == "inconclusive"


def test_a_part_whose_failure_is_the_proof_proves_nothing_where_it_holds() -> None:
    whole = [("FEDPD-T3", "some constant C_5 independent of p"), ("FEDPD-L2", "printed matrix is rank one")]
    for id, name in whole:
        part = next(p for p in load_claims(FEDPD)[id].run(Context()) if isinstance(p, Part) and p.name == name)
        assert part.holds is False and part.refutes and not part.proves
        with pytest.raises(InvalidInput, match="carries a disproof and yet holds"):
            dataclasses.replace(part, holds=True)


def test_a_proof_that_fails_refutes_nothing() -> None:
    with collect_facts([]):
        made = proved("p", compare(2, "<", 1), "the algebra does not go through")
    assert made.holds is False and not made.proves and not made.refutes and decide("bound", [made]) == "inconclusive"


def test_a_disproof_that_fails_supports_nothing() -> None:
    with collect_facts([]):
        made = disproved("p", compare(2, "<", 1), "the algebra does not go through")
    assert made.holds is True and not made.supports and decide("bound", [made]) == "inconclusive"


def test_a_repair_needs_evidence_of_its_own() -> None:
    example = Counterexample({}, replay())
    printed = Part("p", False, "exact", "said", counterexample=example)
    sought = refute("r", lambda instance: replay(measured=0.5), {}, role="repaired")
    assert decide("bound", [printed, sought]) == "refuted"


# ---- only a checker says "proved" -------------------------------------------------------------------------------------


def test_the_authors_word_proves_nothing(monkeypatch) -> None:
    """'I looked at 3 instances' was proved once, and then supported."""

    def check(ctx):
        yield proved("p", True, "I looked at 3 instances")

    found = verdict_of(monkeypatch, check)
    assert found.status == "inconclusive" and found.vouched == [f"{VOUCHED}: I looked at 3 instances"]


@pytest.mark.parametrize("word", ["proves", "refutes"])
def test_a_part_has_no_switch_for_it(word) -> None:
    with pytest.raises(TypeError):
        Part("p", True, "exact", "said", **{word: True})


@pytest.mark.parametrize("forged", [True, "proof", {"facts": ["1 = 1"]}, object()])
def test_a_forged_proof_object_is_refused(forged) -> None:
    with pytest.raises(InvalidInput, match="make it with 'proved', 'disproved' or 'decided'"):
        Part("p", True, "exact", "said", proof=forged)
    with pytest.raises(InvalidInput, match="make it with"):
        Part("p", False, "exact", "said", disproof=forged)


def test_facts_and_proofs_are_not_made_by_hand() -> None:
    fact = a_proof().facts[0]
    with pytest.raises(FedtheoryError, match="a fact is made by the function that checks it"):
        Fact("identity", "pi = 3")
    with pytest.raises(FedtheoryError, match="not by hand"):
        Proof((fact,), "so it follows")
    with pytest.raises(FedtheoryError, match="not by hand"):
        dataclasses.replace(a_proof(), scope="")
    with pytest.raises(FedtheoryError, match="a fact is made by"):
        dataclasses.replace(fact, what="pi = 3")


def test_a_proof_sits_on_a_part_that_holds_and_a_disproof_on_one_that_fails() -> None:
    for outcome in (False, None):
        with pytest.raises(InvalidInput, match="carries a proof"):
            Part("p", outcome, "exact", "said", proof=a_proof())
    for outcome in (True, None):
        with pytest.raises(InvalidInput, match="carries a disproof"):
            Part("p", outcome, "exact", "said", disproof=a_proof())


def test_a_proof_rests_on_the_facts_of_its_own_check_since_the_last_one(monkeypatch) -> None:
    x, y = sympy.symbols("x y")

    def check(ctx):
        assert is_zero((x + y) ** 2 - x**2 - 2 * x * y - y**2)
        yield proved("first", True, "the square of a sum")
        yield proved("second", True, "because I say so")
        assert compare(Fraction(1, 3), "<", 1)
        yield proved("third", True, "a third is less than one", scope="n = 3")

    found = verdict_of(monkeypatch, check)
    first, second, third = found.evidence
    assert found.status == "argued" and "proves" not in first and first["proof"]["facts"][0]["how"] == "identity"
    assert "proof" not in second and second["text"].startswith(VOUCHED)
    assert third["proof"] == {
        "facts": [{"how": "comparison", "what": "1/3 < 1"}],
        "argument": [{"line": "a third is less than one", "ground": "words"}],
        "scope": "n = 3",
        "closed": False,
    }
    assert "proves" not in third, "a proof of narrower scope"


def test_checkers_confirm_nothing_that_says_nothing() -> None:
    x = sympy.symbols("x")
    with collect_facts([]):
        assert is_zero(0) and is_zero(x - x) and not is_zero(x) and not is_not_zero(x - x) and not is_positive(x)
        assert take_facts() == ()
        for wrong in (1.0, np.float64(2.0), sympy.Float(2.0), True, x, "1"):
            with pytest.raises(InvalidInput, match="no exact number"):
                compare(wrong, "<", 3)
        assert take_facts() == ()
        assert not compare(3, "<", 2) and [fact.what for fact in take_facts()] == ["3 >= 2"]
        assert compare(sympy.pi, ">", 3) and is_not_zero(x) and is_positive(sympy.exp(sympy.symbols("r", real=True)))
        assert [fact.how for fact in take_facts()] == ["comparison", "difference", "sign"]
    assert compare(1, "<", 2) and take_facts() == (), "outside a check nobody asks"


def test_comparisons_decide_either_way() -> None:
    with collect_facts([]):
        good, bad = decided("p", compare(1, "==", 1), "said"), decided("p", compare(1, "==", 2), "said")
        vouched = decided("p", True, "said")
    assert (decide("bound", [good]), decide("bound", [bad])) == ("argued", "refuted")
    assert decide("bound", [vouched]) == "inconclusive" and vouched.text.startswith(VOUCHED)


def test_an_earlier_proof_is_rested_on_and_must_hold() -> None:
    with collect_facts([]):
        first = proved("a", compare(1, "<", 2), "said")
        assert proved("b", True, "so", resting_on=[first]).argues
        failing = proved("a", compare(2, "<", 1), "said")
        assert proved("b", True, "so", resting_on=[failing]).holds is False


# ---- assumptions say who confirms them ---------------------------------------------------------------------------------


def test_assumptions_are_decided_and_not_asserted() -> None:
    with pytest.raises(InvalidInput, match="True is no comparison"):
        assume("A1", True)
    with pytest.raises(InvalidInput, match="is not an expression"):
        assume("A1", "trust me")
    for value in (0.5, True, "1/2"):
        with pytest.raises(InvalidInput, match="is no exact number"):
            assume("step size", "u < 1", u=value)
    assert assume("step size", "2*u < 1", u=Fraction(1, 2)).met is False
    assert assume("step size", "2*u <= 1", u=Fraction(1, 2)).as_dict() == {
        "assumption": "step size: 2*u <= 1 with u = 1/2",
        "by": "exact arithmetic",
        "met": True,
    }


def test_constants_are_those_that_the_instance_certifies() -> None:
    problem = scalar_quadratics([1.0, 3.0])
    assert (
        assume_constant("A1", problem, "L", "<=", 3).met
        and not assume_constant("A1", problem, "L", "<=", Fraction(29, 10)).met
    )
    assert assume_constant("convex", problem, "mu", ">=", 1).by == "the problem's certificate"
    finite = assume_constant("A1", problem, "L", "<", math.inf)
    assert finite.met and "is finite" in finite.text and not assume_constant("A1", problem, "L", "<", 3).met
    missing = assume_constant("A4", problem, "G", "<=", 1)
    assert not missing.met and missing.text == "A4: the instance certifies no G"


def test_solves_are_exact_where_the_method_says_so() -> None:
    assert assume_exact_solves("(16)", FedPD(0.1)).met
    assert not assume_exact_solves("(16)", FedPD(0.1, GradientSteps(3, 0.1))).met


def test_what_somebody_vouches_for_is_called_that(monkeypatch) -> None:
    seen = dataclasses.replace(a_replay(), assumptions=(vouch("f is convex, believe me"),))

    def check(ctx):
        yield refute("p", lambda instance: seen, {})

    assert verdict_of(monkeypatch, check).vouched == ["f is convex, believe me"]


@pytest.mark.parametrize("seen", [replay(measured=0.5), replay(met=False), replay(exact=Fraction(1, 2))])
def test_a_counterexample_violates(seen) -> None:
    with pytest.raises(InvalidInput, match="has a counterexample that shows no violation"):
        Part("p", False, "exact", "said", counterexample=Counterexample({}, seen))
    with pytest.raises(InvalidInput, match="has a counterexample that shows no violation"):
        Part("p", True, "exact", "said", counterexample=Counterexample({}, replay()))


def made_claim(check, **more) -> Claim:
    return Claim("X-1", "toy", "bound", "s", "A statement.", check, (Fault("f", "p", {}),), **more)


def verdict_of(monkeypatch, check, **more) -> Verdict:
    claim = made_claim(check, **more)
    put_claims(monkeypatch, claim)
    return check_one(Reference("toy", claim.id), Context())


@pytest.mark.parametrize("proves", [True, False])
def test_no_verdict_is_proved_and_repaired(monkeypatch, proves) -> None:
    def check(ctx):
        yield Part("p", True, "exact", "said", proof=a_proof() if proves else None, covered=LEAST)

    found = verdict_of(monkeypatch, check, repaired="Another statement.")
    assert found.status == "inconclusive" and not found.repaired, "the claim contradicts itself"
    assert "nothing refuted the printed one" in found.readings[-1]
    sound = verdict_of(monkeypatch, check)
    with pytest.raises(FedtheoryError, match="yet carries a corrected statement"):
        dataclasses.replace(sound, repaired="Another statement.")


def test_a_correction_that_fails_is_not_told(monkeypatch) -> None:
    def check(ctx):
        yield refute("p", lambda instance: replay(), {})
        yield holds("q", False, "numeric", "said", role="repaired")

    found = verdict_of(monkeypatch, check, repaired="Another statement.")
    assert found.status == "refuted" and not found.repaired and found.repair is None


@pytest.mark.parametrize("proof", [True, False])
def test_a_repair_has_a_word_of_its_own(monkeypatch, proof) -> None:
    def check(ctx):
        yield refute("p", lambda instance: replay(), {})
        yield Part("q", True, "exact", "said", role="repaired", proof=a_proof() if proof else None, covered=LEAST)

    found = verdict_of(monkeypatch, check, repaired="Another statement.")
    assert (found.status, found.repair) == ("repaired", "proved" if proof else "supported")


# ---- passes that look at nothing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "limit", "found"),
    [
        (1.0, np.inf, None),
        ([1.0, 1.0], [np.inf, np.inf], None),
        ([1.0, 0.5], [np.inf, 1.0], None),
        ([1.0, 2.0], [np.inf, 1.0], False),
        ([np.nan, 2.0], [1.0, 1.0], False),
        ([np.inf, 0.0], [np.inf, 1.0], None),
        ([-np.inf, 2.0], [-np.inf, 1.0], False),
        (np.zeros(0), np.zeros(0), None),
        (np.zeros((0, 3)), 1.0, None),
    ],
    ids=str,
)
def test_an_infinite_limit_decides_and_hides_nothing(value, limit, found) -> None:
    made = at_most("b", value, limit, "numeric", "said")
    assert made.holds is found
    if found is None:
        assert "could not be compared" in made.text and decide("bound", [made]) == "inconclusive"


def test_what_was_compared_is_counted() -> None:
    made = at_most("b", [1.0, 0.5, np.nan], [np.inf, 1.0, 1.0], "numeric", "said")
    assert made.data["compared"] == 1 and made.margin == 0.5
    assert made.text == "said (2 of 3 entries could not be compared)"


@pytest.mark.parametrize("error", [np.inf, np.nan, -1e-3])
def test_errors_are_certified_numbers(error) -> None:
    with pytest.raises(InvalidInput, match="is no certified error"):
        at_most("b", 2.0, 1.0, "numeric", "said", error=error)


@pytest.mark.parametrize("rtol", [np.inf, np.nan, 0.0, -1.0])
def test_tolerances_are_numbers(rtol) -> None:
    with pytest.raises(InvalidInput, match="lets nothing or everything pass"):
        equal("b", 2.0, 1.0, "numeric", "said", rtol=rtol)


def test_nothing_is_not_equal_to_nothing() -> None:
    assert equal("c", [], [], "exact", "said", rtol=1e-9).holds is None


def test_unknown_words_are_refused() -> None:
    with pytest.raises(InvalidInput, match="the part 'p': unknown engine 'oracle'; expected one of numeric, exact"):
        Part("p", True, "oracle", "said")
    with pytest.raises(InvalidInput, match="the part 'p': unknown role 'Printed'"):
        Part("p", True, "exact", "said", "Printed")
    with pytest.raises(InvalidInput, match="X-1: unknown kind 'Ordering'; expected one of bound, rate"):
        Claim("X-1", "toy", "Ordering", "s", "s", lambda ctx: iter([]), (Fault("f", "p", {}),))


@pytest.mark.parametrize("finding", [True, None, "it holds", ("p", True)])
def test_a_check_yields_findings(monkeypatch, finding) -> None:
    def check(ctx):
        yield Part("p", True, "exact", "said")
        yield finding

    found = verdict_of(monkeypatch, check)
    assert not found.ran and "expected a Part, a Reading, a Picture or a Table" in found.error

"""Attacks on verdicts: words that are stronger than their evidence, data files that run code, passes that look at nothing."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.claims.checking import Reference, check_one, load_claims
from fedtheory.claims.claim import Claim, Context, Counterexample, Fault, Part, Replay
from fedtheory.claims.parts import assume, at_most, equal, holds, refute
from fedtheory.claims.verdict import Verdict, decide
from fedtheory.core.errors import FedtheoryError, InvalidInput

FEDPD = "paper_checks.fedpd"


def replay(measured=2.0, exact=Fraction(2), met=True) -> Replay:
    return Replay("x", measured, 1.0, exact, Fraction(1), "fractions", (assume("A1", met),))


def verdict_under(source, id, fault) -> str:
    """Status of a claim under one of its planted faults."""
    claim = load_claims(source)[id]
    subject = next(f.subject for f in claim.faults if f.name == fault)
    return decide(claim.kind, [p for p in claim.check(Context(), **subject) if isinstance(p, Part)])


# ---- evidence for and evidence against ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "fault"),
    [
        ("FEDPD-TAB3", "a spread of 120 allowed"),
        ("FEDPD-L5s", "T = 2N, where it holds"),
        ("FEDPD-L6s", "T = 2N, where it holds"),
        ("FEDPD-Q10", "a small ball"),
        ("FEDPD-R5", "p = 3/10, where nothing is violated"),
    ],
)
def test_a_refutation_that_does_not_reproduce_is_inconclusive(id, fault) -> None:
    assert verdict_under(FEDPD, id, fault) == "inconclusive"


def test_a_refutation_that_does_not_reproduce_is_no_evidence() -> None:
    for seen in (replay(measured=0.5), replay(exact=Fraction(1)), replay(met=False)):
        made = refute("r", lambda instance, seen=seen: seen, {})
        assert not made.supports and made.margin is None
        assert decide("bound", [made]) == "inconclusive"
        assert decide("bound", [made, holds("other", True, "numeric", "it holds elsewhere")]) == "inconclusive"
        assert decide("ordering", [made]) == "inconclusive"


def test_a_part_whose_failure_is_the_proof_proves_nothing_where_it_holds() -> None:
    whole = [("FEDPD-T3", "some constant C_5 independent of p"), ("FEDPD-L2", "printed matrix is rank one")]
    for id, name in whole:
        part = next(p for p in load_claims(FEDPD)[id].check(Context()) if isinstance(p, Part) and p.name == name)
        assert part.holds is False and part.refutes and not part.proves
        assert not dataclasses.replace(part, holds=True).supports


def test_a_proof_that_fails_refutes_nothing() -> None:
    made = Part("p", False, "exact", "the algebra does not go through", proves=True)
    assert not made.proves and decide("bound", [made]) == "inconclusive"


def test_a_repair_needs_evidence_of_its_own() -> None:
    example = Counterexample({}, replay())
    printed = Part("p", False, "exact", "said", counterexample=example)
    sought = refute("r", lambda instance: replay(measured=0.5), {}, role="repaired")
    assert decide("bound", [printed, sought]) == "refuted"


@pytest.mark.parametrize("engine", ["numeric", "falsifier", "real data", "spectrum", "worst case"])
@pytest.mark.parametrize("word", ["proves", "refutes"])
def test_sampling_neither_proves_nor_refutes(engine, word) -> None:
    with pytest.raises(InvalidInput, match=f"'p' cannot prove or refute by the engine '{engine}'"):
        Part("p", True, engine, "I looked at 3 instances", **{word: True})


@pytest.mark.parametrize("seen", [replay(measured=0.5), replay(met=False), replay(exact=Fraction(1, 2))])
def test_a_counterexample_violates(seen) -> None:
    with pytest.raises(InvalidInput, match="has a counterexample that shows no violation"):
        Part("p", False, "exact", "said", counterexample=Counterexample({}, seen))
    with pytest.raises(InvalidInput, match="has a counterexample that shows no violation"):
        Part("p", True, "exact", "said", counterexample=Counterexample({}, replay()))


def made_claim(check, **more) -> Claim:
    return Claim("X-1", "toy", "bound", "s", "A statement.", check, (Fault("f", "p", {}),), **more)


def verdict_of(monkeypatch, check, **more) -> Verdict:
    from fedtheory.claims import checking

    claim = made_claim(check, **more)
    monkeypatch.setattr(checking, "load_claims", lambda source: {claim.id: claim})
    return check_one(Reference("toy", claim.id), Context())


@pytest.mark.parametrize("proves", [True, False])
def test_no_verdict_is_proved_and_repaired(monkeypatch, proves) -> None:
    def check(ctx):
        yield Part("p", True, "exact", "said", proves=proves)

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
    assert found.status == "refuted" and not found.repaired


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

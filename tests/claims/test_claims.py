"""From parts to a verdict: the rules of `decide`, the makers of parts, replays."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from evidence import a_disproof, a_proof
from evidence import a_replay as replay

from fedtheory.claims.claim import Claim, Counterexample, Covered, Fault, Part
from fedtheory.claims.context import Context
from fedtheory.claims.parts import at_most, equal, holds, refute
from fedtheory.claims.protocol import Clause
from fedtheory.claims.verdict import decide, list_uncovered, margin_of
from fedtheory.core.errors import FedtheoryError, InvalidInput

LEAST = Covered(8, "instances")
OTHER_KINDS = ("bound", "rate", "identity", "proof step", "equivalence", "divergence")


def part(
    holds,
    role="printed",
    *,
    proves=False,
    scope="",
    refutes=False,
    against=False,
    example=False,
    margin=None,
    vouched=False,
    covered=LEAST,
) -> Part:
    return Part(
        "p",
        holds,
        "exact",
        "said",
        role,
        margin,
        proof=a_proof(scope) if proves else None,
        disproof=a_disproof().disproof if refutes else None,
        against=against,
        vouched=vouched,
        covered=covered,
        counterexample=Counterexample({}, replay()) if example else None,
    )


# ---- the rules ----------------------------------------------------------------------------------------------------

RULES = [
    ([part(True)], "supported"),
    ([part(True, proves=True)], "proved"),
    ([part(True), part(True, proves=True)], "proved"),
    ([part(None)], "inconclusive"),
    ([part(True, proves=True), part(None)], "inconclusive"),
    # a failure alone refutes nothing: it needs a counterexample, or to be shown in symbols or exact arithmetic
    ([part(False)], "inconclusive"),
    ([part(False, example=True)], "refuted"),
    ([part(False, refutes=True)], "refuted"),
    # a proof of narrower scope supports
    ([part(True, proves=True, scope="n = 2, 3")], "supported"),
    ([part(True, proves=True, scope="n = 2, 3"), part(True, proves=True)], "proved"),
    # a refutation that does not reproduce supports nothing
    ([part(True, against=True)], "inconclusive"),
    ([part(True), part(True, against=True)], "inconclusive"),
    ([part(True, proves=True), part(True, against=True)], "inconclusive"),
    ([part(False, example=True), part(True, "repaired", against=True)], "refuted"),
    ([part(True, proves=True), part(False, example=True)], "refuted"),
    ([part(None), part(False, example=True)], "refuted"),
    # the corrected statement must hold itself
    ([part(False, example=True), part(True, "repaired")], "repaired"),
    ([part(False, example=True), part(True, "repaired"), part(False, "repaired")], "refuted"),
    ([part(False, example=True), part(None, "repaired")], "refuted"),
    ([part(False), part(True, "repaired")], "inconclusive"),
    ([part(True), part(False, "repaired")], "supported"),
    # the parts say what they covered, and together that is enough, or all
    ([part(True, covered=None)], "inconclusive"),
    ([part(True, covered=Covered(7, "instances"))], "inconclusive"),
    ([part(True, covered=Covered(4, "instances")), part(True, covered=Covered(4, "draws"))], "supported"),
    ([part(True, covered=Covered(0, "points", whole=True))], "inconclusive"),
    ([part(True, covered=Covered(1, "points", whole=True))], "supported"),
    ([part(True), part(True, covered=None)], "supported"),
    ([part(True, covered=None), part(True, covered=None, proves=True, scope="n = 2, 3")], "supported"),
    ([part(True, covered=None), part(True, covered=None, proves=True)], "proved"),
    ([part(False, example=True), part(True, "repaired", covered=Covered(7, "instances"))], "refuted"),
    ([part(False, example=True), part(True, "repaired", covered=None), part(True, "reading")], "refuted"),
    ([part(False, example=True), part(True, "repaired", covered=None, proves=True)], "repaired"),
    # a word alone is nothing, and takes nothing away
    ([part(True, vouched=True)], "inconclusive"),
    ([part(True, covered=None, vouched=True), part(True)], "supported"),
    # a statement that worst cases alone support, beside one that is proved
    ([part(True, proves=True), replace(part(True), engine="worst case")], "supported"),
    ([part(True, proves=True), replace(part(True, "reading"), engine="worst case")], "proved"),
    # other readings are reported and decide nothing
    ([part(True), part(False, "reading", example=True)], "supported"),
    ([part(True), part(True, "reading", proves=True)], "supported"),
    ([part(True), part(None, "reading")], "supported"),
]


@pytest.mark.parametrize(("parts", "status"), RULES)
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_parts_add_up_to_a_status(kind, parts, status) -> None:
    assert decide(kind, parts) == status
    assert decide(kind, parts[::-1]) == status, "in any order"


@pytest.mark.parametrize(
    ("holds", "status"),
    [
        ((True, True), "reproduced"),
        ((True, False), "not reproduced"),
        ((None, False), "not reproduced"),
        ((True, None), "inconclusive"),
    ],
)
def test_orderings_are_reproduced_or_not(holds, status) -> None:
    assert decide("ordering", [part(h) for h in holds]) == status
    assert decide("ordering", [*(part(h) for h in holds), part(True, "repaired")]) == status


def test_a_check_must_decide_the_printed_statement() -> None:
    for parts in ([], [part(True, "repaired")], [part(True, "reading")]):
        with pytest.raises(FedtheoryError, match="at least one part with role 'printed'"):
            decide("bound", parts)


def test_what_is_proved_is_proved_clause_by_clause() -> None:
    """A clause that was only measured leaves the whole statement supported."""
    clauses = (Clause("It converges,", ("limit",)), Clause("and ranks fall on the way.", ("ranks",)))
    proof, measured = replace(part(True, proves=True), name="limit"), replace(part(True), name="ranks at t = 3")
    assert decide("bound", [proof, measured]) == "proved", "the author says that the proof is of the whole statement"
    assert decide("bound", [proof, measured], clauses=clauses) == "supported"
    both = [proof, measured, replace(part(True, proves=True), name="ranks")]
    assert decide("bound", both, clauses=clauses) == "proved"
    assert decide("bound", [replace(part(False, refutes=True), name="ranks"), proof], clauses=clauses) == "refuted"


def test_no_status_is_better_for_failing() -> None:
    """Turning a printed part from holding into failing never yields proved, supported or reproduced."""
    good = {"proved", "supported", "reproduced"}
    for kind, refutes, example, other in product(
        (*OTHER_KINDS, "ordering"), (False, True), (False, True), (True, None, False)
    ):
        failing = part(False, refutes=refutes, example=example)
        assert decide(kind, [failing, part(other)]) not in good


def test_numpy_truth_values_are_truth_values() -> None:
    """np.False_ is not False: a check must not pass for that."""
    failing = Part("p", np.False_, "numeric", "said", margin=np.float64(-1))
    assert failing.holds is False and type(failing.margin) is float
    assert decide("ordering", [failing]) == "not reproduced"
    assert Part("p", np.True_, "numeric", "said").holds is True
    assert Part("p", True, "numeric", "said", margin=float("inf")).margin is None


def test_margins_come_from_the_parts_that_decided() -> None:
    parts = [part(True, margin=0.5), part(True, margin=0.2), part(True, "reading", margin=-3.0), part(True)]
    assert margin_of("supported", parts) == 0.2
    parts = [
        part(True, margin=0.1),
        part(False, margin=-0.4),
        part(False, margin=-0.2),
        part(True, "repaired", margin=-9),
    ]
    for status in ("refuted", "repaired", "not reproduced"):
        assert margin_of(status, parts) == -0.4
    assert margin_of("supported", [part(True)]) is None


def test_what_is_covered_is_counted() -> None:
    assert str(Covered(200, "instances")) == "200 instances" and str(Covered(3, "cases", whole=True)) == "all 3 cases"
    for count in (-1, 2.5, True, "many"):
        with pytest.raises(InvalidInput, match="a whole number of points"):
            Covered(count, "points")
    with pytest.raises(InvalidInput, match="unknown unit 'examples'"):
        Covered(9, "examples")


def test_it_is_said_what_covers_too_little() -> None:
    assert list_uncovered([part(True)]) == [] == list_uncovered([part(True, covered=None), part(False)])
    (silent,) = list_uncovered([part(True, covered=None), part(True, covered=Covered(3, "points"))])
    assert "it covers 3 points, and at least 8 are asked for; say what 'p' covered" in silent
    assert list_uncovered([part(True, covered=Covered(7, "draws"))]) == [
        "the evidence says that it covers 7 draws, and at least 8 are asked for"
    ]
    assert "author's word" in list_uncovered([part(True, vouched=True)])[0]


# ---- bounds -------------------------------------------------------------------------------------------------------


def test_bounds_compare_entry_by_entry() -> None:
    made = at_most("b", [0.5, 1.8], [1.0, 2.0], "numeric", "said")
    assert made.holds and made.margin == pytest.approx(0.1) and made.engine == "numeric"
    assert made.data == {"value": 1.8, "limit": 2.0, "compared": 2}
    assert not at_most("b", [0.5, 2.1], [1.0, 2.0], "numeric", "said").holds
    assert at_most("b", [0.5, 2.1], [1.0, 2.0], "numeric", "said").margin == pytest.approx(-0.05)
    assert at_most("b", 1.0, [2.0, 4.0], "numeric", "said").data["compared"] == 2
    assert at_most("b", -1.0, 0.0, "numeric", "said").holds


def test_bounds_allow_certified_errors_only() -> None:
    assert not at_most("b", 1 + 1e-9, 1.0, "numeric", "said").holds, "no tolerance of its own"
    assert at_most("b", 1 + 1e-9, 1.0, "numeric", "said", error=2e-9).holds
    assert at_most("b", 1.0, 1.0, "numeric", "said").holds and at_most("b", 1.0, 1.0, "numeric", "said").margin == 0


@pytest.mark.parametrize(
    ("value", "limit", "holds"),
    [
        (np.nan, 1.0, None),
        (1.0, np.nan, None),
        ([0.0, np.nan], 1.0, None),
        (np.inf, np.inf, None),
        (np.inf, 1.0, False),
        (1.0, np.inf, None),
        ([0.0, 2.0], [np.inf, 1.0], False),
        ([np.nan, 2.0], 1.0, False),
        ([0.0, 0.5], [np.inf, 1.0], None),
        ([], [], None),
        (0.0, -np.inf, False),
        (1.0, 0.0, False),
        (0.0, 0.0, True),
        (-np.inf, 0.0, True),
    ],
    ids=str,
)
def test_bounds_of_numbers_that_are_none(value, limit, holds) -> None:
    """A diverged run violates, what is not a number is undecided; margins stay finite, for they are written to files."""
    made = at_most("b", value, limit, "numeric", "said")
    assert made.holds is holds
    assert made.margin is None or np.isfinite(made.margin)


def test_more_fields_pass_through() -> None:
    made = at_most("b", 0.0, 1.0, "exact", "said", role="repaired", proof=a_proof(), data={"n": 3})
    assert made.role == "repaired" and made.proves and made.data["n"] == 3 and made.data["limit"] == 1.0


# ---- equalities and statements ------------------------------------------------------------------------------------


def test_equalities_are_relative_to_the_largest_entry() -> None:
    left = np.array([1e6, 1.0])
    assert equal("c", left, left + np.array([0, 1e-5]), "numeric", "said", rtol=1e-10).holds
    assert not equal("c", left, left + np.array([0, 1e-3]), "numeric", "said", rtol=1e-10).holds
    made = equal("c", left, left + np.array([0, 5e-5]), "numeric", "said", rtol=1e-10)
    assert made.margin == pytest.approx(0.5, rel=1e-4) and made.data["scale"] == 1e6
    assert equal("c", [0.0], [0.0], "numeric", "said", rtol=1e-10).holds
    assert equal("c", [], [], "numeric", "said", rtol=1e-10).holds is None, "nothing was compared"


@pytest.mark.parametrize("other", [np.nan, np.inf])
def test_equalities_of_numbers_that_are_none_fail(other) -> None:
    assert equal("c", [1.0], [other], "numeric", "said", rtol=1.0).holds is False
    assert equal("c", [other], [other], "numeric", "said", rtol=1.0).holds is False


def test_plain_statements() -> None:
    assert holds("t", np.bool_(True), "count", "said").holds is True
    assert holds("t", 0, "count", "said", role="reading").role == "reading"


# ---- replays ------------------------------------------------------------------------------------------------------


def test_a_violation_needs_both_arithmetics_and_every_assumption() -> None:
    assert replay().violated and replay().admissible
    assert not replay(measured=0.5).violated, "floats do not see it"
    assert not replay(exact=(Fraction(1), Fraction(1))).violated, (
        "exact arithmetic does not see it: equality is no violation"
    )
    assert not replay(met=False).violated and not replay(met=False).admissible


def test_refutations_follow_their_replay() -> None:
    seen = []

    def measure(instance):
        seen.append(instance)
        return instance["replay"]

    made = refute("r", measure, {"replay": replay()}, text="As printed:")
    assert made.holds is False and made.counterexample.replay.violated and made.margin == -0.5 and made.refutes
    assert made.text.startswith("As printed: x: measured 2, bound 1; confirmed in fractions")
    assert decide("bound", [made]) == "refuted"
    made = refute("r", measure, {"replay": replay(measured=0.5)}, role="reading")
    assert made.holds is True and made.counterexample is None and made.role == "reading" and "no violation" in made.text
    assert not made.supports and made.margin is None
    made = refute("r", measure, {"replay": replay(met=False)})
    assert made.holds is None and "assumption not met on the instance: A1" in made.text
    assert decide("bound", [made]) == "inconclusive"
    made = refute("r", measure, {"replay": replay(exact=(Fraction(1), Fraction(1)))})
    assert made.holds is True, "rounding alone refutes nothing"
    assert len(seen) == 4


def test_counterexamples_are_plain_data() -> None:
    stored = Counterexample({"x": 1.0}, replay()).as_dict()
    assert stored["exact"] == {"measured": "2", "bound": "1", "arithmetic": "fractions"}
    assert stored["assumptions"] == [{"assumption": "A1: x == 1 with x = 1", "by": "exact arithmetic", "met": True}]
    assert stored["measured"] == 2.0 and stored["instance"] == {"x": 1.0}


# ---- claims and contexts ------------------------------------------------------------------------------------------


def test_a_check_that_nothing_could_fail_is_refused() -> None:
    with pytest.raises(InvalidInput, match="T1: a check needs at least one planted fault"):
        Claim("T1", "p", "bound", "s", "s", lambda ctx: iter([]), faults=())


@pytest.mark.parametrize("bad", ["", "a/b", "..\\b", " T1"])
def test_ids_name_files(bad) -> None:
    with pytest.raises(InvalidInput, match="cannot be a claim's id"):
        Claim(bad, "p", "bound", "s", "s", lambda ctx: iter([]), faults=(Fault("f", "p", {}),))


def test_contexts() -> None:
    assert Context().pick(1, 2) == 1 and Context("full").pick(1, 2) == 2
    assert Context(seed=3).rng().random() == Context(seed=3).rng().random() != Context(seed=4).rng().random()

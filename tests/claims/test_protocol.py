"""What is fixed before the numbers are seen: clauses with deciding parts, words by scale, seeds, changes that are told."""

import re

import numpy as np
import pytest

from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import Claim, Fault, Part
from fedtheory.claims.context import Context
from fedtheory.claims.magnitudes import PrintedCell, compare_cells, count_within, matches
from fedtheory.claims.protocol import Change, Clause, Protocol, Setting
from fedtheory.claims.report import write_headline
from fedtheory.core.errors import InvalidInput

FAULTS = (Fault("none", "ahead", {}),)
CHANGE = Change("the best round is read", "2026-01-02", "the paper's levels are met by it", "E3 holds, and it did not")
PROTOCOL = Protocol(
    "toy",
    "the best round",
    {"laptop": 8, "paper": 5},
    {"laptop": 100, "paper": 0},
    explored={"laptop": range(50), "paper": range(5)},
    targets={"level": "90 %, as the paper has it"},
    changes=(CHANGE,),
)
CLAUSES = (Clause("A beats B", ("ahead",)), Clause("and never by less than a point.", ("by a point",)))


def toy(*names, holds=True, own=True, clauses=CLAUSES, role="printed"):
    def check(ctx):
        for name in names:
            yield Part(name, holds, "real data", "", role=role)

    statement = " ".join(c.text for c in clauses) if clauses else "A beats B."
    return Claim(
        "TOY",
        "toy",
        "ordering",
        "",
        statement,
        check,
        FAULTS,
        setting=lambda ctx: Setting("digits", "softmax regression", own),
        clauses=clauses,
        protocol=PROTOCOL,
    )


@pytest.mark.parametrize(
    ("own", "holds", "word"),
    [
        (True, True, "reproduced"),
        (True, False, "not reproduced"),
        (False, True, "agrees in an analogue"),
        (False, False, "disagrees in an analogue"),
        (False, None, "inconclusive"),
    ],
)
def test_only_the_papers_own_data_and_model_reproduce(own, holds, word):
    verdict = judge_claim(toy("ahead", "by a point", holds=holds, own=own), "toy", Context())
    assert verdict.status == word and verdict.error is None
    assert "digits; softmax regression" in write_headline(verdict)


def test_a_clause_without_a_deciding_part_is_an_error():
    assert judge_claim(toy("ahead", "by a point, p = 1"), "toy", Context()).error is None, "a name may go on"
    verdict = judge_claim(toy("ahead"), "toy", Context())
    assert verdict.status == "inconclusive" and "'by a point' of the clause 'and never" in verdict.error
    assert judge_claim(toy("ahead", "by a point", role="reading"), "toy", Context()).error, "readings decide nothing"
    with pytest.raises(InvalidInput, match="must name the parts"):
        Clause("A beats B", ())


def test_a_statement_is_what_its_clauses_make():
    claim = toy("ahead", "by a point")
    with pytest.raises(InvalidInput, match="not what its clauses make"):
        Claim("TOY", "toy", "ordering", "", claim.statement + " And more.", claim.check, FAULTS, clauses=CLAUSES)


def test_seeds_are_fixed_and_another_seed_of_the_context_has_none_of_them():
    assert PROTOCOL.judged(Context()) == range(100, 108)
    assert PROTOCOL.judged(Context(experiment_seeds=12)) == range(100, 112), "more of them keep the first ones"
    assert not {*PROTOCOL.judged(Context(seed=1, experiment_seeds=1000))} & {*PROTOCOL.judged(Context())}
    with pytest.raises(InvalidInput, match="how many seeds"):
        Protocol("toy", "", {"laptop": 8}, {"paper": 0})


def test_a_verdict_tells_what_was_seen_before_and_what_was_changed():
    told = " ".join(judge_claim(toy("ahead", "by a point"), "toy", Context()).readings)
    assert "seeds 100 to 107" in told and "had been seen" not in told
    assert "the best round" in told and "90 %" in told
    assert "Changed on 2026-01-02" in told and "Effect: E3 holds, and it did not" in told
    told = " ".join(PROTOCOL.describe(Context(size="paper", experiment_seeds=7)))
    assert "Seeds 0, 1, 2, 3, 4 had been seen" in told and re.search("has 5 seeds; 7 were asked for", told)


def test_printed_cells_stand_beside_ours_with_their_intervals():
    ours = np.array([1.0, 2.0, 3.0, 4.0, 5.0])  # mean 3, half width 2.776 * 1.5811 / sqrt(5) = 1.963
    cells = [
        PrintedCell("in", 4.9, ours),
        PrintedCell("out", 5.1, ours),
        PrintedCell("out, but for the paper's own deviation", 5.1, ours, deviation=0.4, repeats=16),
        PrintedCell("one seed", 3.0, [3.0]),
    ]
    assert [cell.within for cell in cells] == [True, False, True, None]
    assert cells[0].interval == pytest.approx((3, 3 - 1.963, 3 + 1.963), abs=1e-3)
    table = compare_cells("Table 1", cells)
    assert [row[-1] for row in table.rows] == ["within", "outside", "within", ""]
    assert count_within(cells) == "2 of 3 printed numbers lie within our intervals"


@pytest.mark.parametrize(("printed", "holds"), [(3.0, True), (4.0, None), (9.0, False)])
def test_a_number_in_a_sentence_is_judged(printed, holds):
    part = matches("gain", printed, [2.9, 3.0, 3.1, 3.0, 3.0], "gain", within=1.0)
    assert part.holds is holds
    assert (part.chance.value < 0.01) is (holds is not None)


def test_a_number_that_one_seed_measured_is_undecided_and_needs_a_precision():
    assert matches("gain", 3.0, [3.0], "gain", within=1.0).holds is None
    with pytest.raises(InvalidInput, match="above zero"):
        matches("gain", 3.0, [3.0, 3.1], "gain", within=0.0)

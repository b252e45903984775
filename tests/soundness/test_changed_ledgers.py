"""Random changes of the ledgers' text: which places there are, which claims read them, and what comes of some changes."""

from __future__ import annotations

from pathlib import Path

import changed_ledgers as changes
import pytest
from changed_ledgers import Reach, digests_of, draw_places, judge_change, kept_words
from ledger_places import Place, list_places

LEDGER = """
REGION = f"0 < L <= {MOST}, 1 <= K"
WORDS = "a sentence with a - in it"


def bound(L, k):
    return L**2 + 3 * k


def build(w, p, c):
    w.assume("noise", norm2(w.vector("e 1")) - p.s2)
    return norm2(x) * 2 - p.L


CLAIM = Theorem(REGION, f"a[t+1] <= {formula(bound, L='L', k='k')} + 4*L", "step: 1 + 1 == 2 by combine", given={"near": "d[t] <= r**2"})
"""


@pytest.fixture
def places(tmp_path: Path) -> list[Place]:
    (tmp_path / "theorems.py").write_text(LEDGER)
    (tmp_path / "tables.py").write_text('TABLE = {1.5: (90.25, None, 3), 2: "text"}\n')
    return list_places(tmp_path)


def test_places_are_numbers_signs_ends_and_hypotheses_of_statements_and_neither_words_nor_proofs(
    places: list[Place],
) -> None:
    def changed(what: str) -> list[tuple[str, str]]:
        found = [p for p in places if p.what == what]
        return [(p.path.read_text()[p.start : p.end], p.new) for p in found]

    assert changed("table: a number") == [("90.25", "99.28"), ("3", "4")]
    assert changed("hypothesis dropped") == [('"near": "d[t] <= r**2"', "")]
    assert changed("lemma or states: hypothesis dropped") == [
        ('w.assume("noise", norm2(w.vector("e 1")) - p.s2)', "pass")
    ]
    assert changed("formula: exponent") == [("2", "3")] and changed("formula: twice a number") == [("3", "6")]
    assert changed("statement: twice a number") == [("4", "(2*4)")]
    assert changed("statement: sign") == [(" + ", " - ")]
    assert changed("statement: factor dropped") == []
    assert {p.path.read_text()[: p.start].count("\n") for p in places if p.path.stem == "theorems"} <= {
        1, 6, 10, 11, 14,
    }  # fmt: skip


def test_every_place_leaves_a_text_that_differs_there_alone(places: list[Place]) -> None:
    for place in places:
        before, after = place.edit
        assert before != after and before[: place.start] == after[: place.start]
        assert after.endswith(before[place.end :])


def test_a_digest_is_of_what_is_read() -> None:
    one, same, other = ({"bound": (1, "x"), "rest": [number]} for number in (2, 2, 3))
    assert Reach().of(one) == Reach().of(same) != Reach().of(other)
    held: list[object] = []
    held.append(held)
    assert Reach().of(held) == Reach().of(held)


def test_a_sample_is_the_same_for_a_seed_and_takes_the_papers_in_turn() -> None:
    papers = ("dualfl", "safari")
    drawn = draw_places(3, 10, papers)
    assert drawn == draw_places(3, 10, papers) != draw_places(4, 10, papers)
    assert [place.paper for place in drawn] == [*papers] * 5


@pytest.mark.parametrize(
    ("module", "old", "new", "outcome"),
    [
        ("safari/appendix_a_0_b_proofs_of_theorems_2_and_3.py", "import", "imports", changes.NOT_SAID),
        (
            "safari/appendix_a_0_a_proof_of_theorem_1.py",
            '"4*epsilon*abs(h - f_1) +',
            '"5*epsilon*abs(h - f_1) +',
            changes.WORD_CHANGES,
        ),
        ("safari/published.py", "57.05)", "57.15)", changes.READERS_DIFFER),
        ("safari/notation.py", "#: the noise of (61)", "#: noise", changes.UNREAD),
    ],
)
def test_changes_have_their_outcomes(module: str, old: str, new: str, outcome: str) -> None:
    path = changes.HERE / module
    start = path.read_text().index(old)
    place = Place(path, start, start + len(old), new, "by hand")
    assert judge_change(place, digests_of("safari"), kept_words()).outcome == outcome

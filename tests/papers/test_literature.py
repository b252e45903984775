"""Theorems of the literature: each names its source, and stands on the page about them."""

from __future__ import annotations

from pathlib import Path

from paper_checks.literature import CLAIMS, SOURCES
from paper_checks.literature.sharpness import measure, read_shares, statement_of, write_table
from tests.house.test_words_of_pages import list_words

PAGE = Path(__file__).resolve().parents[2] / "docs" / "literature.md"


def test_every_theorem_names_its_sources_and_every_source_is_used() -> None:
    used = set()
    for claim in CLAIMS:
        named = {name for name in SOURCES if name in claim.source}
        assert named, f"{claim.id}: {claim.source!r} is in no list of texts"
        used |= named
    assert used == {*SOURCES}


def test_every_theorem_stands_on_the_page() -> None:
    assert {id for id, _ in list_words("literature")} == {claim.id for claim in CLAIMS}


def test_how_sharp_each_theorem_is_stands_on_the_page_as_it_was_measured() -> None:
    shares = read_shares()
    assert [*shares] == [claim.id for claim in CLAIMS]
    assert write_table(shares) in PAGE.read_text(encoding="utf-8")


def test_what_is_said_to_be_sharp_is_and_what_is_not_is_not() -> None:
    """Of proximal gradient steps: half of the one bound is reached, and the other."""
    claims, shares = {claim.id: claim for claim in CLAIMS}, read_shares()
    for id, least in (("LIT-ISTA", 49), ("LIT-ISTA-SHARP", 99)):
        assert measure(statement_of(claims[id])) == shares[id]
        assert [row.least for row in shares[id] or ()] == [least, least]

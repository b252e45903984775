"""Theorems of the literature: each names its source, and stands on the page about them."""

from __future__ import annotations

from pathlib import Path

from paper_checks.literature import CLAIMS, SOURCES
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

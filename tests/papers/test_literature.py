"""Theorems of the literature: each names its source, and stands on the page about them."""

from __future__ import annotations

from pathlib import Path

from paper_checks.literature import CLAIMS, SOURCES
from paper_checks.literature.sharpness import (
    BESIDE,
    Enclosed,
    enclose,
    list_loose,
    measure,
    read_enclosed,
    read_shares,
    statement_of,
    write_enclosed,
    write_table,
)
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


def test_sharp_values_of_what_is_not_sharp_stand_on_the_page() -> None:
    enclosed, shares = read_enclosed(), read_shares()
    assert [*enclosed] == list_loose(shares)
    assert {*BESIDE} | {*BESIDE.values()} <= {*shares}
    assert write_enclosed(enclosed) in PAGE.read_text(encoding="utf-8")
    assert all(row.low < row.high for rows in enclosed.values() for row in rows)


def test_a_sharp_value_is_enclosed_by_an_instance_and_a_proof() -> None:
    """Of the looser bound on FedDyn's residuals: after two rounds 1/4 is sharp where 1/2 is claimed, as LIT-FEDDYN-CONVEX-SHARP says."""
    claims = {claim.id: claim for claim in CLAIMS}
    first = enclose(statement_of(claims["LIT-FEDDYN-CONVEX"]))[0]
    assert first == Enclosed("T = 1", "rho = 1", 499, 500, True)
    assert enclose(statement_of(claims["LIT-GD-GAP-SHARP"])) == []

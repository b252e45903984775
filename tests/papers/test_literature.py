"""Theorems of the literature: each names its source, and stands on the page about them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from fedtheory.claims.statements.theorems.refuting import system_at
from fedtheory.proofs.parameters.derivation import check_at_point
from fedtheory.proofs.parameters.points import prove_at_point
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
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    for id, sharp in BESIDE.items():
        assert f"{id} beside {sharp.removeprefix('LIT')}" in page
        assert max(row.most for row in shares[sharp] or ()) == 99
    assert write_enclosed(enclosed) in PAGE.read_text(encoding="utf-8")
    beyond = [id for id, rows in enclosed.items() if not rows]  # sharp at the first point
    assert (
        f"{beyond[0]}, {', '.join(id.removeprefix('LIT') for id in beyond[1:-1])} and {beyond[-1].removeprefix('LIT')} reach 99 %"
        in page
    )
    assert all(max(row.most for row in shares[id] or ()) == 99 for id in beyond)
    assert all(row.low < row.high for rows in enclosed.values() for row in rows)


def test_a_sharp_value_is_enclosed_by_an_instance_and_a_proof() -> None:
    """Of the looser bound on FedDyn's residuals: after two rounds 1/4 is sharp where 1/2 is claimed, as LIT-FEDDYN-CONVEX-SHARP says."""
    claims = {claim.id: claim for claim in CLAIMS}
    first = enclose(statement_of(claims["LIT-FEDDYN-CONVEX"]))[0]
    assert first == Enclosed("T = 1", "rho = 1", 499, 500, True)
    assert enclose(statement_of(claims["LIT-GD-GAP-SHARP"])) == []


def test_a_proof_at_a_point_is_found_where_no_remainder_is_definite() -> None:
    """Multipliers of least sum are on the boundary there, and rounded ones beyond it; which share fails for that hangs on a solver's digits."""
    claims = {claim.id: claim for claim in CLAIMS}
    theorem = replace(statement_of(claims["LIT-AGD-LINEAR"]), proof="", rounds={"N": 3})
    for share in ("2/5", "1/2", "7/10"):
        asked = theorem.with_claim(f"gap[N] <= {share}*{theorem.claims[0].partition(' <= ')[2]}")
        system = system_at(asked, 0, {"N": 3}, {"L": Fraction(1), "r": Fraction(1, 2)})
        found = prove_at_point(system)
        assert found is not None
        assert check_at_point(system, [found.get(name, Fraction(0)) for name, _ in system.rows])

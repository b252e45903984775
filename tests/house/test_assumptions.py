"""A claim that says "for every", "for all" or "converges" names what it assumes."""

from __future__ import annotations

import re

import pytest

from paper_checks import afedpd, dualfl, fedpd, fedslr, safari

PAPERS = {"afedpd": afedpd, "dualfl": dualfl, "fedpd": fedpd, "fedslr": fedslr, "safari": safari}
SWEEPING = re.compile(r"\bfor (every|all|any|each)\b|\bconverge(s|nt)?\b", re.IGNORECASE)
#: what is measured has its data, models and seeds in a protocol
MEASURED = "ordering"


@pytest.mark.parametrize("paper", PAPERS)
def test_a_sweeping_claim_names_its_assumptions(paper) -> None:
    claims = PAPERS[paper].CLAIMS
    bare = [c.id for c in claims if SWEEPING.search(c.statement) and not c.assumptions and c.kind != MEASURED]
    assert not bare, f"name what these assume (assumptions=...): {', '.join(bare)}"


def test_there_are_sweeping_claims() -> None:
    """The words are those that claims use."""
    assert sum(bool(SWEEPING.search(claim.statement)) for paper in PAPERS.values() for claim in paper.CLAIMS) > 30

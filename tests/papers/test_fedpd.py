"""The FedPD ledger: what its claims assume, an argument that does not go through, a page."""

from __future__ import annotations

from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.pages import as_html
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.verdict import decide
from paper_checks.fedpd import section_2_1_lower_bound

SOURCE = "paper_checks.fedpd"
CLAIMS = load_claims(SOURCE)


def test_every_claim_says_what_it_assumes() -> None:
    assert [claim.id for claim in CLAIMS.values() if not claim.assumptions] == []


def test_a_proof_that_does_not_go_through_accuses_nobody() -> None:
    parts = [p for p in section_2_1_lower_bound.check_q1(Context(), shared=1) if isinstance(p, Part)]
    assert [p.holds for p in parts if p.name == "argument"] == [False]
    assert decide("bound", parts) == "inconclusive"


def test_page_of_the_report_is_self_contained() -> None:
    page = as_html(
        [check_one(Reference(SOURCE, "FEDPD-D9"), Context()), check_one(Reference(SOURCE, "FEDPD-R2"), Context())], "t"
    )
    assert "http://" not in page and " src=" not in page
    assert "FEDPD-D9" in page

"""What clients that were drawn have of their own is not written with the letters of all clients."""

from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.explain.document import Paragraph
from fedtheory.claims.explain.proofs import explain_verdict
from fedtheory.claims.references import load_claims, select


def test_a_field_with_parts_of_drawn_clients_is_named_and_not_written_out() -> None:
    (reference,) = select(["AFEDPD-D12"])
    page = explain_verdict(check_one(reference, Context()), load_claims(reference.source)[reference.id])
    said = [block.line[0] for block in page.blocks if isinstance(block, Paragraph) and "Not written out" in str(block)]
    assert said and all("lam_i" in line for line in said)

"""Proofs of the papers' claims as pages."""

from __future__ import annotations

import pytest

from fedtheory.claims.checking import load_claims, select
from fedtheory.claims.explain.document import NumberedStep
from fedtheory.claims.explain.markdown import write_markdown
from fedtheory.claims.explain.proofs import explain_proof, make_page
from fedtheory.claims.explain.statements import find_statements
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.theorem import Theorem
from tests.support.read_pages import adds_up, sections


@pytest.mark.slow
def test_dualfls_theorem_32_is_told_with_the_theorem_that_it_rests_on_and_adds_up() -> None:
    (reference,) = select(["DUALFL-T3.2"])
    statements = list(find_statements(load_claims(reference.source)[reference.id].check))
    (theorem,) = (s for s in statements if isinstance(s, Theorem))
    proof = find_proof(theorem)
    assert not isinstance(proof, str)
    page = make_page("Theorem 3.2", explain_proof(proof.data, statements))
    text = write_markdown(page)
    assert "First, a theorem that this one rests on: dual" in text and "not at hand" not in text
    names = [b.name for b in page.blocks if isinstance(b, NumberedStep)]
    assert names[: len(theorem.rests["dual"].proof)][0] == "five" and names.count("done") == 2
    assert "\\theta_{2,m} \\le \\frac{4" in text and "the rule 'least'" in text and "with $T = m - 1$" in text
    derivations = list(sections(page))
    assert len(derivations) > 12 and all(map(adds_up, derivations))

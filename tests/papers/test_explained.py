"""Proofs of the papers' claims as pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fedtheory.claims.claim import Told
from fedtheory.claims.explain.document import NumberedStep
from fedtheory.claims.explain.markdown import write_markdown
from fedtheory.claims.explain.proofs import explain_proof, make_page
from fedtheory.claims.explain.statements import find_statements
from fedtheory.claims.references import find_papers, load_claims, select
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.theorem import Theorem
from tests.support.read_pages import adds_up, sections

EXPECTED = Path(__file__).resolve().parents[2] / "paper_checks" / "expected.json"


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


def told_claims() -> list[tuple[str, list[Told]]]:
    """Claims of the ledgers that are proved, or corrected and proved so, as they are told."""
    stored = json.loads(EXPECTED.read_text())["verdicts"]
    word = {v["id"]: v["status"] for v in stored}
    corrected = {v["id"] for v in stored if v.get("repair") == "proved"}
    found = []
    for source in find_papers().values():
        for id, claim in load_claims(source).items():
            if word.get(id) == "proved" or id in corrected:
                found.append((id, list((claim.told or tuple)())))
    return found


def test_no_proved_claim_is_without_a_sentence_and_a_formula_of_its_data() -> None:
    """Lemmas, equivalences, and what is put in the place of a false statement are statements as data, too."""
    claims = told_claims()
    assert len(claims) > 70
    for id, told in claims:
        assert told, id
        for one in told:
            assert one.sentence and one.formula, (id, one.name)
            assert not one.sentence.startswith("It could not be written out"), (id, one.sentence)
            assert "as stated" not in one.sentence, (id, one.sentence)


def test_the_corrected_statement_is_told_by_its_data() -> None:
    stored = json.loads(EXPECTED.read_text())["verdicts"]
    corrected = {v["id"] for v in stored if v.get("repair") == "proved"}
    told = {id: {one.role for one in found} for id, found in told_claims()}
    assert corrected and all("repaired" in told[id] for id in corrected)


@pytest.mark.parametrize("paper", ["dualfl", "fedslr", "fedpd"])
def test_every_formula_has_one_index_and_one_exponent(paper: str) -> None:
    """TeX stops at a second one."""
    for id, told in told_claims():
        for one in told if id.lower().startswith(paper) else ():
            text = one.formula
            while re.search(r"\{[^{}]*\}", text):
                text = re.sub(r"\{[^{}]*\}", "@", text)
            assert not re.search(r"\^@?\^|_@?_", text), (id, one.formula)

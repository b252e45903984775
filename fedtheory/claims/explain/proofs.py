"""Verdicts, claims and files of proofs as pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fedtheory.claims.claim import Claim
from fedtheory.claims.explain.derivations import NOTATION, ORIGIN, explain_derivation
from fedtheory.claims.explain.document import Block, Display, Document, Heading, Math, PageTable, Paragraph, TextLine
from fedtheory.claims.explain.finding import find_proofs, is_explained
from fedtheory.claims.explain.opened import OpenDerivation
from fedtheory.claims.explain.statements import display_statement, explain_lemma, find_statements, name_leaves
from fedtheory.claims.explain.terms import explain_term
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.verdict import Verdict
from fedtheory.claims.words import describe_told
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT, check
from fedtheory.proofs.checker.refusals import NotChecked
from fedtheory.proofs.checker.terms import TERM_FORMAT
from fedtheory.proofs.rebuilt import verify_method
from fedtheory.tools.untrusted import read_json_file

_SIGNS = {"=": "=", "!=": "\\ne", "<=": "\\le", ">=": "\\ge", "<": "<", ">": ">"}
#: what a part is about, where it is not the statement as it is printed
_ROLES = {
    "repaired": "This is about the corrected statement.",
    "reading": "This is about another reading of the statement.",
}


def explain_verdict(verdict: Verdict, claim: Claim | None = None) -> Document:
    """The proofs of a verdict; ``claim`` has the theorems that proof terms are of.

    Raises
    ------
    NotAvailable
        The verdict has no proof object.
    """
    parts = [part for part in verdict.evidence if is_explained([part])]
    if not parts:
        raise NotAvailable(
            f"{verdict.id} is {verdict.status}, and no part of its check has a derivation, a certificate, a proof term or an argument to explain"
        )
    blocks: list[Block] = [Paragraph((f"{verdict.source}. {verdict.statement}",))]
    if verdict.repaired:
        blocks.append(Paragraph((f"Instead: {verdict.repaired}",)))
    statements = list(find_statements(claim.check)) if claim is not None else []
    blocks += explain_told(verdict)
    stated = getattr(claim.check, "keywords", {}) if claim is not None else {}
    for word, label in (("statement", "As it is printed:"), ("repaired", "Corrected:")):
        maths = display_statement(stated.get(word))
        blocks += [Paragraph((label,))] * bool(maths and verdict.repaired) + [Display(math) for math in maths]
    for part in parts:
        blocks.append(Heading(str(part["name"]), 1))
        if part.get("role") in _ROLES:
            blocks.append(Paragraph((_ROLES[part["role"]],)))
        own = part.get("proof") or {}
        if part.get("argued"):
            blocks += explain_argument(part)
        told = [fact["what"] for fact in own.get("facts", ()) if fact["how"] in ("derivation", "certificate")]
        proofs = list({id(proof): proof for proof in find_proofs(part)}.values())
        for k, proof in enumerate(proofs):
            if len(proofs) > 1:
                blocks.append(Heading(f"Proof {k + 1} of {len(proofs)}", 2))
            if len(told) == len(proofs):
                blocks.append(Paragraph((told[k],)))
            blocks += explain_proof(proof, statements)
    return make_page(f"{verdict.id}: {verdict.status}", blocks)


def explain_told(verdict: Verdict) -> Iterator[Block]:
    """Statements as their data say them; of those that have a page of their own below, states are written out there."""
    for one in verdict.told:
        name = f" ({one['name']})" if "name" in one and len(verdict.told) > 1 else ""
        yield Paragraph(
            (f"What was {describe_told(verdict.status, verdict.repair, str(one['role']))}{name}: {one['sentence']}",)
        )


def explain_argument(part: Mapping[str, Any]) -> Iterator[Block]:
    """An argument in words: its lines, numbered, each with its ground, and the facts that checkers confirmed, numbered."""
    found = part.get("proof") or part["disproof"]
    way = "to the statement" if part["holds"] else "to the contrary of the statement"
    yield Paragraph((f"Argued: words lead from facts that checkers confirmed {way}. No checker reads these lines.",))
    rows = [((f"({k})",), (line["line"],), (line["ground"],)) for k, line in enumerate(found.get("argument", ()), 1)]
    yield PageTable("argument", ("line", "says", "ground"), tuple(rows))
    facts = [((f"fact {k}",), (fact["how"],), _fact(fact)) for k, fact in enumerate(found.get("facts", ()), 1)]
    yield PageTable("facts", ("fact", "kind", "what was confirmed"), tuple(facts))


def _fact(fact: Mapping[str, str]) -> TextLine:
    """What was confirmed, typeset where it is a comparison of formulas."""
    sides = re.split(r" (=|!=|<=|>=|<|>) ", fact["what"])
    if len(sides) != 3 or sides[1] not in _SIGNS:
        return (fact["what"],)
    try:
        left, right = (Math.read(side) for side in sides[::2])
    except (ValueError, InvalidInput):
        return (fact["what"],)
    return (Math(f"{left.latex} {_SIGNS[sides[1]]} {right.latex}"),)


def make_page(title: str, blocks: Iterable[Block]) -> Document:
    """A page; what is said of notation stands once."""
    kept: list[Block] = []
    for block in blocks:
        if block not in (NOTATION, ORIGIN) or block not in kept:
            kept.append(block)
    return Document(title, tuple(kept))


def join_pages(title: str, pages: Sequence[Document]) -> Document:
    """Several pages as one, each under its title."""
    blocks: list[Block] = []
    for page in pages:
        blocks.append(Heading(page.title, 1))
        blocks += [replace(b, level=min(b.level + 1, 3)) if isinstance(b, Heading) else b for b in page.blocks]
    return make_page(title, blocks)


def explain_file(path: Path) -> list[Document]:
    """Pages of a file: a derivation, a certificate, a proof term, or verdicts as JSON.

    Raises
    ------
    InvalidInput
        The file is missing, or holds no proof object.
    """
    data = read_json_file(path, "a derivation, a certificate, a proof term, or verdicts")
    verdicts = data.get("verdicts") if isinstance(data, dict) else None
    if isinstance(verdicts, list) and all(isinstance(v, dict) and "id" in v for v in verdicts):
        pages = [explain_verdict(_as_verdict(v)) for v in verdicts if is_explained(v.get("evidence", ()))]
    else:
        pages = [make_page(path.name, explain_proof(proof)) for proof in find_proofs(data)]
    if not pages:
        raise InvalidInput(f"{path} holds no derivation, no certificate and no proof term; these can be explained")
    return pages


def read_verdicts(path: Path) -> list[Verdict]:
    """Return the verdicts of a file that 'fedtheory check --json' wrote, with their evidence.

    Raises
    ------
    InvalidInput
        The file is missing, or holds no verdicts.
    """
    data = read_json_file(path, "verdicts that 'fedtheory check --json' wrote")
    found = data.get("verdicts") if isinstance(data, dict) else None
    if not isinstance(found, list) or not all(isinstance(v, dict) for v in found):
        raise InvalidInput(f"{path} holds no verdicts; 'fedtheory check --json {path}' writes them")
    return [_as_verdict(v) for v in found]


def _as_verdict(data: Mapping[str, Any]) -> Verdict:
    """Stored data as a verdict, with what pages read of it."""
    known = {field.name for field in fields(Verdict)}
    try:
        return Verdict(**{name: value for name, value in data.items() if name in known})
    except TypeError as error:
        raise InvalidInput(
            f"{str(data.get('id'))[:40]} is no verdict that 'fedtheory check --json' wrote: {error}"
        ) from None


# ---- one proof -------------------------------------------------------------------------------------------------------


def explain_proof(data: Mapping[str, Any], statements: Sequence[Any] = ()) -> Iterator[Block]:
    """One proof object; ``statements``: those among which that of the proof may be.

    Raises
    ------
    Refused
        Its checker does not accept it, or it is not that of the method which it names.
    """
    if data["format"] == TERM_FORMAT:
        yield from explain_term(data, [s for s in statements if isinstance(s, Theorem)])
        return
    named = None
    if data["format"] == CERTIFICATE_FORMAT:
        yield Paragraph((_tell_certificate(data),))
    else:
        lemmas = ((s, name_leaves(s, data)) for s in statements if isinstance(s, Lemma))
        lemma, named = next(((s, found) for s, found in lemmas if found is not None), (None, None))
        if lemma is not None:
            yield from explain_lemma(lemma)
    try:
        found = OpenDerivation(data, named)
    except NotAvailable as reason:
        yield Paragraph((f"This part is not explained: {reason}.",))
        return
    if int(found.data["deviation"]):
        yield NOTATION
    yield from explain_derivation(found)


def _tell_certificate(data: Mapping[str, Any]) -> str:
    """The theorem of a certificate; of one whose method cannot be made anew, what its inequality system says, which is checked first."""
    check(dict(data))
    try:
        return verify_method(data)
    except NotChecked as reason:
        return (
            "The inequalities below prove the bound. That they are those of a method was not seen again, since the method cannot be made from "
            f"the certificate: {reason}."
        )

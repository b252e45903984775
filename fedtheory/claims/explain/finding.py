"""Proof objects inside of plain data, such as a verdict's evidence or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT
from fedtheory.proofs.checker.derivations import DERIVATION_FORMAT
from fedtheory.proofs.checker.terms import TERM_FORMAT

PROOF_FORMATS = (CERTIFICATE_FORMAT, DERIVATION_FORMAT, TERM_FORMAT)


def find_proofs(data: Any) -> Iterator[Mapping[str, Any]]:
    """Derivations, certificates and proof terms; of a term, the term alone."""
    if isinstance(data, Mapping):
        if data.get("format") in PROOF_FORMATS:
            yield data
            return
        data = data.values()
    elif not isinstance(data, list | tuple):
        return
    for part in data:
        yield from find_proofs(part)


def has_proof(data: Any) -> bool:
    """Whether there is one."""
    return next(find_proofs(data), None) is not None


def is_explained(evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a page has something to say of some parts: a proof object, or an argument in words."""
    return any(part.get("argued") or has_proof(part) for part in evidence)

"""Proof objects in plain data, such as a verdict's evidence or a file, as theorems for Rocq."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT
from fedtheory.proofs.checker.derivations import DERIVATION_FORMAT
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.checker.terms import TERM_FORMAT
from fedtheory.proofs.rocq.certificates import as_derivation
from fedtheory.proofs.rocq.derivations import Derivation
from fedtheory.proofs.rocq.folders import RocqTheorem

#: formats of what can be written
FORMATS = (DERIVATION_FORMAT, CERTIFICATE_FORMAT)


def find_objects(data: Any, *, in_terms: bool = True) -> list[Mapping[str, Any]]:
    """Derivations and certificates inside of plain data, each once; ``in_terms``: those of proof terms as well."""
    found = {json.dumps(proof, sort_keys=True): proof for proof in _walk(data, in_terms)}
    return list(found.values())


def _walk(data: Any, in_terms: bool) -> Iterator[Mapping[str, Any]]:
    if isinstance(data, Mapping):
        if data.get("format") in FORMATS:
            yield data
            return
        if data.get("format") == TERM_FORMAT and not in_terms:
            return
        data = data.values()
    elif not isinstance(data, list | tuple):
        return
    for part in data:
        yield from _walk(part, in_terms)


def make_theorem(data: Mapping[str, Any], name: str, title: str = "") -> RocqTheorem:
    """The theorem of a derivation or a certificate, with its proof.

    Raises
    ------
    InvalidInput
        It is no proof object, or its own checker refuses it.
    NotAvailable
        It has what is not written for Rocq.
    """
    try:
        found = as_derivation(data) if data.get("format") == CERTIFICATE_FORMAT else Derivation(data)
        return found.theorem(name, title)
    except Refused as error:
        raise InvalidInput(f"{name} is no proof: {error}") from None


def name_folder(id: str) -> str:
    """A name that Rocq reads as one, for a claim or a file."""
    word = re.sub(r"\W", "_", id, flags=re.ASCII)
    return word if word[:1].isalpha() else f"T_{word}"


def name_theorems(id: str, proofs: Iterable[Mapping[str, Any]], title: str = "") -> tuple[list[RocqTheorem], list[str]]:
    """Theorems of a claim's proof objects, named after it; and for each that cannot be written, why."""
    proofs, word = list(proofs), name_folder(id)
    theorems, left = list[RocqTheorem](), list[str]()
    for k, data in enumerate(proofs, 1):
        name = word if len(proofs) == 1 else f"{word}_{k}"
        try:
            theorems.append(make_theorem(data, name, f"{id}: {title}" if title else id))
        except NotAvailable as error:
            left.append(f"{name}: {error}")
    return theorems, left

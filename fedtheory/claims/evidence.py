"""Parts of a check as the plain data of a verdict's evidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from fedtheory.claims.claim import Part


def write_evidence(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Parts as plain data; a proof object that stands in the data of one, or in an earlier proof, is not written again."""
    evidence, written = [_evidence(part) for part in parts], list[Any]()
    for part in parts:
        written += [entry for value in part.data.values() for entry in (value if isinstance(value, list) else [value])]
        written += [proof.term for proof in (part.proof, part.disproof) if proof is not None and proof.term is not None]
    for found in evidence:
        for proof in (found.get("proof"), found.get("disproof")):
            if proof is not None and "objects" in proof:
                proof["objects"] = [data for data in proof["objects"] if data not in written]
                written += proof["objects"]
    return evidence


def _evidence(part: Part) -> dict[str, Any]:
    """A part as plain data, without what says nothing."""
    plain = {
        "name": part.name,
        "holds": part.holds,
        "engine": part.engine,
        "text": part.text,
        "role": part.role,
        "margin": part.margin,
        "proves": part.proves,
        "refutes": part.refutes,
        "argued": part.in_words,
        "covered": None if part.covered is None else str(part.covered),
        "proof": None if part.proof is None else part.proof.as_dict(),
        "disproof": None if part.disproof is None else part.disproof.as_dict(),
        "chance": None if part.chance is None else dataclasses.asdict(part.chance),
        "data": part.data,
    }
    return {
        key: value
        for key, value in plain.items()
        if not (value is None or value is False or value == {}) or key == "holds"
    }

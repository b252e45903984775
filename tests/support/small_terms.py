"""Proof terms about numbers and made-up quantities, as data."""

from __future__ import annotations

from typing import Any

from fedtheory.proofs.checker.proof_lines import join_lines


def term(claim: str | list[str], lines: str, region: str = "", **more: Any) -> dict[str, Any]:
    """A term about numbers; a region is "0 <= y < 1, 0 < g"."""
    parameters = []
    for piece in filter(None, (p.strip() for p in region.split(","))):
        low, first, name, *rest = piece.split()
        high = rest[1] if rest else None
        parameters.append(
            {"name": name, "low": low, "high": high, "closed": [first == "<=", bool(rest) and rest[0] == "<="]}
        )
    empty: dict[str, Any] = {
        key: {} for key in ("wholes", "sequences", "functions", "given", "where", "derivations", "rests", "quantities")
    }
    rounds = {"n": 0, "k": 0, "t": 0, "T": 0}
    return {
        **empty,
        "format": "fedtheory proof 1",
        "parameters": parameters,
        "rounds": rounds,
        "states": "",
        "assumed": [],
        "drawn": [],
        "auxiliary": [],
        "claims": [claim] if isinstance(claim, str) else claim,
        "lines": join_lines(lines),
        **more,
    }

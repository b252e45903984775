"""Replaying a stored counterexample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fedtheory.claims.checking import load_claims
from fedtheory.claims.claim import Replay
from fedtheory.core.errors import InvalidInput, NotAvailable


def replay_file(path: Path) -> tuple[dict[str, Any], Replay]:
    """Measure the violation of a counterexample file again, from its instance alone.

    Raises
    ------
    InvalidInput
        The file is missing or malformed, or its claim is unknown.
    NotAvailable
        The claim has no replay.
    """
    try:
        stored = json.loads(path.read_text())
        claim_id, source, instance = stored["claim"], stored["source"], stored["instance"]
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{path} is not a counterexample file (missing or malformed: {error}); 'fedtheory check' writes them"
        ) from error
    claims = load_claims(source)
    if claim_id not in claims:
        raise InvalidInput(f"{path} speaks of the claim {claim_id!r}, which {source} does not have")
    if claims[claim_id].replay is None:
        raise NotAvailable(f"the claim {claim_id} has no replay")
    try:
        return stored, claims[claim_id].replay(instance)  # type: ignore[misc]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"the instance in {path} cannot be replayed: {type(error).__name__}: {error}") from error

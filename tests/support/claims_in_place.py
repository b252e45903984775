"""Claims and papers that take the place of those that sources have, in every module that looks for them."""

from __future__ import annotations

import pytest

from fedtheory.claims import checking, faults, needs, references, replay
from fedtheory.claims.claim import Claim


def put_claims(monkeypatch: pytest.MonkeyPatch, *claims: Claim) -> None:
    """Every source has these claims."""
    by_id = {claim.id: claim for claim in claims}
    for module in (checking, faults, needs, references, replay):
        monkeypatch.setattr(module, "load_claims", lambda source: by_id)


def put_paper(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """The only paper whose claims can be asked for is the toy, in this file; stored counterexamples are those of the installed ones."""
    for module in (needs, references):
        monkeypatch.setattr(module, "find_papers", lambda: {"toy": source})

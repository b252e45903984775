"""Tests that ask Rocq."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory.proofs.rocq.compiling import AXIOMS, check_theorem, find_compiler
from fedtheory.proofs.rocq.folders import RocqTheorem

needs_rocq = pytest.mark.skipif(
    find_compiler() is None, reason="Rocq's compiler 'coqc' is not installed (Debian: apt install coq)"
)


def ask(theorem: RocqTheorem, kept: Path) -> str:
    """What Rocq says against a theorem; nothing where it accepts it."""
    answer = check_theorem(theorem, kept)
    assert not answer.accepted or set(answer.axioms) <= AXIOMS
    return "" if answer.accepted else answer.said

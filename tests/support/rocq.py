"""Tests that ask Rocq."""

from __future__ import annotations

import pytest

from fedtheory.proofs.rocq.compiling import find_compiler

needs_rocq = pytest.mark.skipif(
    find_compiler() is None, reason="Rocq's compiler 'coqc' is not installed (Debian: apt install coq)"
)

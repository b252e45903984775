"""Theorems whose terms the checker accepts and whose texts Rocq once refused, one for each cause; and what their statements say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.claims.statements.theorems.proving import prove_theorem
from fedtheory.claims.statements.theorems.rocq.exporting import write_theorem_for_rocq
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.rocq.compiling import AXIOMS, check_together, find_compiler

needs_rocq = pytest.mark.skipif(
    find_compiler() is None, reason="Rocq's compiler 'coqc' is not installed (Debian: apt install coq)"
)


def clients_about_zero(world: Any, p: Any, last: int) -> list[Any]:
    """Any points of clients, halved in every round; they are compared with zero."""
    x, states = world.vector("x_i", True), []
    for _ in range(last + 1):
        states.append(SimpleNamespace(x_i=x, x_star=Vector({}), shift=x * -1))
        x = x * 0.5
    return states


THEOREMS = {
    "a field that is zero": Theorem(
        name="a field that is zero",
        region="0 < a",
        states=PlayedStates(clients_about_zero),
        rounds={"n": 0},
        quantities={"D": "mean(norm2(x_i - x_star))", "B": "norm2(bar(-shift))"},
        claim="B[n+1] <= D[n]/4",
        proof="done: claim by derivation",
    ),
}


@needs_rocq
def test_rocq_accepts_what_it_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each is written by its cause's repair alone: nothing in these theorems is known to the writer."""
    kept = tmp_path_factory.getbasetemp().parent / "rocq"
    written = [write_theorem_for_rocq(prove_theorem(t), name.replace(" ", "_")) for name, t in THEOREMS.items()]
    answers = check_together(written, Path(kept))
    assert {a.name: a.said for a in answers if not a.accepted} == {}
    assert all(set(a.axioms) <= AXIOMS for a in answers)

"""FedSLR's remarks, operators and the statements derived for it: replays, and mutants of the method that they kill."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants import forget

from fedtheory.algorithms import FedSLR, listed
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.mistakes import build_mistaken, find_code_mistakes
from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds
from fedtheory.core.regularisers import L1, NuclearNorm
from paper_checks.fedslr import appendix_a_4_algorithms_2_and_3, z_ours_by_hand, z_ours_descent
from paper_checks.fedslr.z_ours_equivalences import feddyn

SOURCE = "paper_checks.fedslr"
#: mistakes in Phase I, and the claims that speak of what they change
ROUND, SERVER = ("FEDSLR-N12", "FEDSLR-N14"), ("FEDSLR-N13", "FEDSLR-N15")
MISTAKES = {
    "sign of the dual in local work": ROUND,
    "local penalty doubled": ROUND,
    "sign of the dual step": ROUND,
    "duals never updated": ROUND,
    "server dual not multiplied by eta": ROUND,
    "sign of the server's dual": ROUND,
    "server dual of before the round": ROUND,
    "no proximal step at the server": SERVER,
    "threshold lambda in place of lambda eta": SERVER,
    "threshold lambda/eta in place of lambda eta": SERVER,
}


@pytest.mark.parametrize("id", ["FEDSLR-F5", "FEDSLR-R4"])
def test_refutations_are_replayed(id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedtheory.claims import replay

    monkeypatch.setattr(replay, "find_papers", lambda: {SOURCE: SOURCE})
    (written,) = write_counterexamples([check_one(Reference(SOURCE, id), Context())], tmp_path)
    again = replay_file(written)
    assert again.confirmed and again.seen.admissible


def test_what_fails_and_cannot_be_played_on_numbers_is_not_supported() -> None:
    """FedDyn with another penalty, whose round of s of n clients no instance replays."""
    (found,) = (part for part in find_of_rounds(feddyn(2), name="every round") if isinstance(part, Part))
    assert found.holds is None and "seen to fail" in found.text


def mutated(name: str) -> type[Algorithm]:
    """FedSLR with one of its known mistakes."""
    (mistake,) = (m for m in find_code_mistakes(FedSLR) if m.name == name)
    return type(build_mistaken(listed("fedslr-global"), {"exact": True}, (mistake,)))


@pytest.mark.selftest
@pytest.mark.parametrize("name", MISTAKES)
def test_mutants_of_the_method_are_killed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No claim on a round stands for a wrong FedSLR."""
    forget()
    for module in (appendix_a_4_algorithms_2_and_3, z_ours_by_hand, z_ours_descent):
        monkeypatch.setattr(module, "FedSLR", mutated(name))
    for id in MISTAKES[name]:
        found = check_one(Reference(SOURCE, id), Context())
        assert found.error is None and found.status not in ("proved", "argued", "supported"), id
    forget()


@pytest.mark.selftest
@pytest.mark.parametrize(("kind", "id"), [(NuclearNorm, "FEDSLR-O1"), (L1, "FEDSLR-O2")])
def test_mutants_of_the_operators_are_killed(kind: type, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = kind.prox  # type: ignore[attr-defined]
    monkeypatch.setattr(kind, "prox", lambda self, v, step: right(self, v, 1.01 * step))
    assert check_one(Reference(SOURCE, id), Context()).status not in ("proved", "argued", "supported")

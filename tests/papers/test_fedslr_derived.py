"""FedSLR's remarks, operators and the statements derived for it: verdicts, planted faults, replays, and mutants of the method that they kill."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants import forget
from planted import EXPECTED, judge, list_missed

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
from paper_checks.fedslr import by_hand_theorems, closed_forms, operators, potential, variants

SOURCE = "paper_checks.fedslr"
IDS = [
    f"FEDSLR-{id}"
    for id in (
        *("N2", "N5", "N7", "N8", "N9", "N10", "N12", "N13", "N14", "N15", "N16", "N17", "N18", "N19", "N20", "N22"),
        *("ALG2", "F1", "F2", "F3", "F5", "O1", "O2", "R1", "R2", "R3", "R4", "R5", "R6", "R7"),
    )
]
#: below a second
SHORT = {f"FEDSLR-{id}" for id in ("F5", "N2", "N16", "N20", "O2", "R1", "R6")}
EVERY = [pytest.param(id, marks=[] if id in SHORT else [pytest.mark.slow]) for id in sorted(IDS)]
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


def test_every_statement_is_listed_once() -> None:
    ids = [c.id for module in (closed_forms, operators, potential, variants) for c in module.CLAIMS]
    assert sorted(ids) == sorted(IDS)


@pytest.mark.parametrize("id", EVERY)
def test_verdicts_and_faults(id: str) -> None:
    found = judge(SOURCE, id)
    assert (found.error, found.status, found.repair) == (None, *EXPECTED[id])
    assert bool(found.vouched) == (id == "FEDSLR-R5")  # Bolzano and Weierstrass
    assert list_missed(SOURCE, id) == []


@pytest.mark.parametrize("id", ["FEDSLR-F5", "FEDSLR-R4"])
def test_refutations_are_replayed(id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedtheory.claims import replay

    monkeypatch.setattr(replay, "find_papers", lambda: {SOURCE: SOURCE})
    (written,) = write_counterexamples([check_one(Reference(SOURCE, id), Context())], tmp_path)
    again = replay_file(written)
    assert again.confirmed and again.seen.admissible


def test_what_fails_and_cannot_be_played_on_numbers_is_not_supported() -> None:
    """FedDyn with another penalty, whose round of s of n clients no instance replays."""
    (found,) = (part for part in find_of_rounds(variants.feddyn(2), name="every round") if isinstance(part, Part))
    assert found.holds is None and "seen to fail" in found.text


def mutated(name: str) -> type[Algorithm]:
    """FedSLR with one of its known mistakes."""
    (mistake,) = (m for m in find_code_mistakes(FedSLR) if m.name == name)
    return type(build_mistaken(listed("fedslr-global"), {"exact": True}, (mistake,)))


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_mutants_of_the_method_are_killed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No claim on a round stands for a wrong FedSLR."""
    forget()
    for module in (variants, closed_forms, by_hand_theorems):
        monkeypatch.setattr(module, "FedSLR", mutated(name))
    for id in MISTAKES[name]:
        found = check_one(Reference(SOURCE, id), Context())
        assert found.error is None and found.status not in ("proved", "argued", "supported"), id
    forget()


@pytest.mark.parametrize(("kind", "id"), [(NuclearNorm, "FEDSLR-O1"), (L1, "FEDSLR-O2")])
def test_mutants_of_the_operators_are_killed(kind: type, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = kind.prox  # type: ignore[attr-defined]
    monkeypatch.setattr(kind, "prox", lambda self, v, step: right(self, v, 1.01 * step))
    assert check_one(Reference(SOURCE, id), Context()).status not in ("proved", "argued", "supported")

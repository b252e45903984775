"""FedSLR's remarks, operators and the statements derived for it: verdicts, planted faults, replays, and mutants of the method that they kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory.algorithms import FedSLR, listed
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.mistakes import build_mistaken, find_code_mistakes
from fedtheory.claims.checking import Reference, check_one, run_faults
from fedtheory.claims.claim import Context
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from paper_checks.fedslr import closed_forms, operators, potential, variants

SOURCE = "paper_checks.fedslr"
PROVED = (
    *("N2", "N5", "N7", "N8", "N9", "N10", "N12", "N14", "N15", "N16", "N17", "N18", "N19", "N20", "N22"),
    *("O1", "O2", "R1", "R2", "R4", "R5", "R7"),
)
VERDICTS = {f"FEDSLR-{id}": "proved" for id in PROVED} | {
    "FEDSLR-F5": "repaired",
    "FEDSLR-N13": "supported",
    "FEDSLR-R3": "reproduced",
    "FEDSLR-R6": "supported",
}
#: a second or two at most
SHORT = {*VERDICTS} - {f"FEDSLR-{id}" for id in ("N8", "N9", "N10", "N13", "N15", "N17", "N18", "R3", "R5", "R7")}
EVERY = [pytest.param(id, marks=[] if id in SHORT else [pytest.mark.slow]) for id in sorted(VERDICTS)]
#: mistakes in Phase I with all clients, whatever local solver, that no statement on the round may survive
MISTAKES = (
    "sign of the dual in local work",
    "local penalty doubled",
    "sign of the dual step",
    "duals never updated",
    "server dual not multiplied by eta",
    "sign of the server's dual",
    "server dual of before the round",
)


def test_every_statement_is_listed_once() -> None:
    ids = [c.id for module in (closed_forms, operators, potential, variants) for c in module.CLAIMS]
    assert sorted(ids) == sorted(VERDICTS)


@pytest.mark.parametrize("id", EVERY)
def test_verdicts(id: str) -> None:
    found = check_one(Reference(SOURCE, id), Context())
    assert (found.error, found.status) == (None, VERDICTS[id]) and not found.vouched
    assert found.repair == ("proved" if id == "FEDSLR-F5" else None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("id", ["FEDSLR-N15", "FEDSLR-N16", "FEDSLR-N20", "FEDSLR-N22", "FEDSLR-O1", "FEDSLR-O2"])
def test_verdicts_do_not_depend_on_the_seed(id: str, seed: int) -> None:
    assert check_one(Reference(SOURCE, id), Context(seed=seed)).status == VERDICTS[id]


@pytest.mark.parametrize("id", EVERY)
def test_planted_faults_are_caught(id: str) -> None:
    reports = run_faults(Reference(SOURCE, id), Context())
    assert reports and [report.detail for report in reports if not report.caught] == []


@pytest.mark.parametrize("id", ["FEDSLR-F5", "FEDSLR-R4"])
def test_refutations_are_replayed(id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedtheory.claims import replay

    monkeypatch.setattr(replay, "find_papers", lambda: {SOURCE: SOURCE})
    (written,) = write_counterexamples([check_one(Reference(SOURCE, id), Context())], tmp_path)
    again = replay_file(written)
    assert again.confirmed and again.seen.admissible


def mutated(name: str) -> type[Algorithm]:
    """FedSLR with one of its known mistakes."""
    (mistake,) = (m for m in find_code_mistakes(FedSLR) if m.name == name)
    return type(build_mistaken(listed("fedslr-global"), {"exact": True}, (mistake,)))


@pytest.mark.parametrize("name", MISTAKES)
def test_mutants_of_the_method_are_killed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FedDyn's round, and the rates of a round on one quadratic, are not those of a wrong FedSLR."""
    wrong = mutated(name)
    for module in (variants, closed_forms):
        monkeypatch.setattr(module, "FedSLR", wrong)
    for id in ("FEDSLR-N12", "FEDSLR-N14"):
        found = check_one(Reference(SOURCE, id), Context())
        assert found.error is None and found.status not in ("proved", "supported"), id

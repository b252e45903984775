"""Experiments of all papers at laptop size: verdicts as stored, planted faults caught, and no run made that is not asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted import judge, plant

from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training, list_trainings
from fedtheory.claims.needs import find_kept_runs, find_store, list_needs, make_needs
from fedtheory.claims.references import Reference, find_papers, load_claims
from fedtheory.claims.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = {
    row["id"]: row["status"] for row in json.loads((ROOT / "paper_checks" / "expected.json").read_text())["verdicts"]
}
EXPERIMENTS = {
    paper: [Reference(source, id) for id, claim in load_claims(source).items() if claim.needs is not None]
    for paper, source in find_papers().items()
}


#: a number in a sentence each, whose table stands with the claim on the sentence
NUMBERS = ("SAFARI-E1a", "SAFARI-E3a", "SAFARI-E4a")


def test_every_claim_of_every_paper_has_an_expected_verdict() -> None:
    assert {id for source in find_papers().values() for id in load_claims(source)} == {*EXPECTED}
    assert sum(map(len, EXPERIMENTS.values())) >= 45


def _role(claim, context, fault) -> str:
    """What the part that a fault speaks of counts for."""
    parts = (found for found in claim.check(context, **fault.subject) if isinstance(found, Part))
    return next(part.role for part in parts if part.name == fault.part)


class Reads:
    """Keys of the runs that are read."""

    def __init__(self, monkeypatch) -> None:
        self.keys: set[str] = set()
        kept = Training.read

        def noted(training: Training, asked_in: Context):
            self.keys.add(training.key)
            return kept(training, asked_in)

        monkeypatch.setattr(Training, "read", noted)


def _judge_from_runs(reference, context: Context, monkeypatch) -> Verdict:
    """Every run is there: what `needs` leaves out is an error."""
    with monkeypatch.context() as changed:
        changed.setattr("fedtheory.claims.experiments.run", None)
        verdict = judge(reference.source, reference.id, context)
    assert verdict.error is None and verdict.size == "laptop", verdict
    assert verdict.tables or reference.id in NUMBERS, verdict
    return verdict


@pytest.mark.selftest
@pytest.mark.parametrize("paper", EXPERIMENTS)
def test_experiments_at_laptop_size(paper, monkeypatch) -> None:
    """One test a paper, because its claims share their runs: those kept with it, and of others those that the commands make or go on from."""
    references = EXPERIMENTS[paper]
    context = Context(results=str(find_store(ROOT / ".fedtheory")), kept=find_kept_runs("laptop"))
    assert not {o.key: o.error for o in make_needs(list_needs(references, context), context) if o.error}
    reads, found, missed, read, asked_for = Reads(monkeypatch), {}, [], set[str](), set[str]()
    for reference in references:
        claim = load_claims(reference.source)[reference.id]
        reads.keys.clear()
        found[reference.id] = _judge_from_runs(reference, context, monkeypatch).status
        asked_for |= {training.key for training in list_trainings(claim, context)}
        assert reads.keys <= asked_for, f"{reference.id} reads runs that it does not ask for"
        missed += [report for report in plant(reference.source, reference.id, context) if not report.caught]
        read |= reads.keys  # also those that faults have made
        against = [fault for fault in claim.faults if fault.holds is not None]
        assert any(_role(claim, context, fault) in ("printed", "repaired") for fault in against), (
            f"no fault of {reference.id} contradicts a part that decides"
        )
    assert asked_for <= read, "what is asked for is read, by checks or by their faults"
    assert found == {reference.id: EXPECTED[reference.id] for reference in references}
    assert missed == []

"""Every claim of every paper but the experiments: its word as stored, with another seed; planted faults caught; counterexamples replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted import EXPECTED, judge, list_missed

from fedtheory.claims import report
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.claims.replay import replay_file
from fedtheory.claims.verdict import Verdict
from fedtheory.proofs.certificates.lower_bounds import check_witness
from fedtheory.proofs.checker.certificates import check

pytestmark = pytest.mark.selftest
#: the experiments share their runs in tests/claims/test_experiments.py
CLAIMS = [
    pytest.param(source, id, id=id)
    for source in find_papers().values()
    for id, claim in load_claims(source).items()
    if claim.needs is None
]
#: rest on what is named and not proved: a theorem of Bolzano and Weierstrass; that a step from the start is linear
VOUCHED = {"FEDSLR-R5", "FEDPD-T4s"}
#: of whose evidence exact certificates of worst cases are a part
CERTIFIED = {f"FEDPD-{name}" for name in ("T1", "D1", "D2", "T2", "Q6")}
FIELDS = ("id", "paper", "kind", "status", "engines", "margin", "evidence", "seconds", "seed", "versions")


def require_grounds(verdict: Verdict) -> None:
    """A word has what it needs: a proof, or what fails and why; corrected statements stand beside printed ones that do not."""
    deciding = [p for p in verdict.evidence if p["role"] == "printed"]
    assert verdict.readings or verdict.evidence
    assert bool(verdict.repaired) == (verdict.status == "repaired")
    if verdict.status == "proved":
        assert any(p.get("proves") for p in deciding)
    if verdict.status in ("refuted", "repaired"):
        failing = [p for p in deciding if p["holds"] is False]
        assert failing and (verdict.counterexample is not None or any(p.get("refutes") for p in failing))


def require_certificates(verdict: Verdict) -> None:
    """What the evidence holds, read back from JSON, proves what it says, with nothing but the checkers."""
    document = json.loads(report.as_json([verdict]))["verdicts"][0]
    assert all(field in document for field in FIELDS)
    proofs = [p for p in document["evidence"] if "certificate" in p.get("data", {})]
    assert bool(proofs) == (verdict.id in CERTIFIED)
    for part in proofs:
        bound = check(part["data"]["certificate"])
        assert part["holds"] is True and float(bound) <= part["data"].get("limit", float("inf"))
        assert "witness" not in part["data"] or check_witness(part["data"]["witness"]) <= bound


@pytest.mark.parametrize(("source", "id"), CLAIMS)
def test_a_claim_has_its_word_for_a_reason_and_would_lose_it(source: str, id: str, tmp_path: Path) -> None:
    verdict = judge(source, id)
    assert (verdict.error, verdict.status, verdict.repair) == (None, *EXPECTED[id])
    assert bool(verdict.vouched) == (id in VOUCHED)
    require_grounds(verdict)
    require_certificates(verdict)
    for path in report.write_counterexamples([verdict], tmp_path):
        replayed = replay_file(path)
        assert replayed.confirmed and replayed.seen.admissible, replayed.conclusion
        assert (replayed.claim.id, replayed.status) == (id, verdict.status)
    assert list_missed(source, id) == []

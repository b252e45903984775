"""The FedPD ledger: every verdict as stored, every planted fault caught, every counterexample replayable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from planted import judge, list_missed

from fedtheory.claims import report
from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.pages import as_html
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.replay import replay_file
from fedtheory.claims.verdict import decide
from fedtheory.proofs.certificates.lower_bounds import check_witness
from fedtheory.proofs.checker.certificates import check
from paper_checks.fedpd import communication

SOURCE = "paper_checks.fedpd"
ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads((ROOT / "paper_checks" / "expected.json").read_text())["verdicts"]
EXPECTED = {v["id"]: v["status"] for v in STORED if v["id"].startswith("FEDPD-")}
CLAIMS = load_claims(SOURCE)
IDS = sorted(CLAIMS)

#: claims that take a second or more, to check or to check on planted faults
LONG = {
    f"FEDPD-{name}"
    for name in (
        *("L1", "L2", "L4", "CL2", "D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D10", "D11", "D12", "EQ1", "EQ3", "EQ4", "EX1", "EX2", "EX3"),
        *("EX4", "EX5", "EX6", "FIG1", "L9s", "Q2", "Q3", "Q5", "Q6", "Q7", "Q8"),
        *("Q11", "Q12", "R2", "R5", "T1", "T2", "T3", "T4s", "TAB1"),
    )
}  # fmt: skip
#: all but the experiments, which share their runs in tests/claims/test_experiments.py
of_every_claim = pytest.mark.parametrize(
    "claim",
    [
        pytest.param(claim, marks=[pytest.mark.slow] if claim in LONG else [])
        for claim in IDS
        if CLAIMS[claim].needs is None
    ],
)

#: the ledger of the paper, by its sections
LEDGER = (
    [f"D{k}" for k in range(1, 15)]
    + [f"EQ{k}" for k in range(1, 7)]
    + [f"EX{k}" for k in range(1, 13)]
    + [f"Q{k}" for k in range(1, 13)]
    + [f"R{k}" for k in range(1, 6)]
    + [f"L{k}" for k in range(1, 5)]
    + [f"L{k}s" for k in range(5, 12)]
    + [f"E{k}" for k in (26, 35, 37, 41, 44)]
    + ["A4", "CL1", "CL2", "FIG1", "T1", "T2", "T3", "T4s", "TAB1", "TAB3"]
)

#: claims whose evidence holds exact certificates of worst cases
CERTIFIED = {f"FEDPD-{name}" for name in ("T1", "D1", "D2", "T2", "Q6")}


def test_every_statement_of_the_ledger_is_a_claim() -> None:
    assert [f"FEDPD-{name}" for name in sorted(LEDGER)] == IDS
    assert sorted(EXPECTED) == IDS


def test_every_claim_says_what_it_assumes() -> None:
    assert [claim.id for claim in CLAIMS.values() if not claim.assumptions] == []


def check_certificates(verdict: dict[str, Any]) -> None:
    """What the evidence holds, read back from JSON, proves what it says, with nothing but the checkers."""
    proofs = [p for p in verdict["evidence"] if "certificate" in p.get("data", {})]
    assert bool(proofs) == (verdict["id"] in CERTIFIED)
    for part in proofs:
        bound = check(part["data"]["certificate"])
        assert part["holds"] is True
        if "limit" in part["data"]:
            assert float(bound) <= part["data"]["limit"]
        if "witness" in part["data"]:
            assert check_witness(part["data"]["witness"]) <= bound


@of_every_claim
def test_verdict_and_faults(claim: str, tmp_path: Path) -> None:
    verdict = judge(SOURCE, claim)
    assert verdict.error is None
    assert verdict.status == EXPECTED[claim]
    assert verdict.readings or verdict.evidence
    document = json.loads(report.as_json([verdict]))["verdicts"][0]
    for field in ("id", "paper", "kind", "status", "engines", "margin", "evidence", "seconds", "seed", "versions"):
        assert field in document
    deciding = [p for p in verdict.evidence if p["role"] == "printed"]
    if verdict.status == "proved":
        assert any(p.get("proves") for p in deciding)
    if verdict.status in ("refuted", "repaired"):
        failing = [p for p in deciding if p["holds"] is False]
        assert failing and (verdict.counterexample is not None or any(p.get("refutes") for p in failing))
        assert bool(verdict.repaired) == (verdict.status == "repaired")
    check_certificates(document)
    for path in report.write_counterexamples([verdict], tmp_path):
        replayed = replay_file(path)
        assert replayed.confirmed and replayed.seen.admissible, replayed.conclusion
        assert replayed.claim.id == claim and replayed.status == verdict.status
    assert list_missed(SOURCE, claim) == []


def test_a_proof_that_does_not_go_through_accuses_nobody() -> None:
    parts = [p for p in communication.check_q1(Context(), shared=1) if isinstance(p, Part)]
    assert [p.holds for p in parts if p.name == "argument"] == [False]
    assert decide("bound", parts) == "inconclusive"


@pytest.mark.slow
def test_page_of_the_report_is_self_contained() -> None:
    page = as_html(
        [check_one(Reference(SOURCE, "FEDPD-D9"), Context()), check_one(Reference(SOURCE, "FEDPD-R2"), Context())], "t"
    )
    assert "http://" not in page and " src=" not in page
    assert "FEDPD-D9" in page

"""Steps of the theory of FedSLR, A-FedPD and DualFL as statements: replays, and what is read into them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fedtheory.claims import Lemma, prove_lemma
from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Claim
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from paper_checks import dualfl, fedslr
from paper_checks.afedpd import appendix_b_2_1_lemmas as afedpd_lemmas
from paper_checks.afedpd import appendix_b_2_2_proof_of_theorem_1 as afedpd_proof
from paper_checks.dualfl.section_6_4_proofs import primal_error
from paper_checks.dualfl.z_ours_bounds import first_round, second_round
from paper_checks.fedslr.appendix_c_4_proof_of_theorem_2 import stationary_printed
from paper_checks.fedslr.appendix_c_5_proof_of_theorem_3 import lemma_5, lemma_5_proof
from paper_checks.steps import Step, claim_steps

THEORY = {
    "paper_checks.fedslr": fedslr.CLAIMS,
    "paper_checks.afedpd": [*afedpd_lemmas.CLAIMS, *afedpd_proof.CLAIMS],
    "paper_checks.dualfl": dualfl.CLAIMS,
}
SOURCES = {claim.id: source for source, claims in THEORY.items() for claim in claims}
REPAIRED = ("AFEDPD-DESC", "AFEDPD-L2", "AFEDPD-T1P", "FEDSLR-F4", "FEDSLR-N6", "FEDSLR-T2-72")


def claim_of(id: str) -> Claim:
    return load_claims(SOURCES[id])[id]


# ---- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [*REPAIRED, "FEDSLR-L5", "FEDSLR-N11"])
def test_refutations_are_replayed(id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedtheory.claims import replay

    monkeypatch.setattr(replay, "find_papers", lambda: {source: source for source in THEORY})
    (written,) = write_counterexamples([check_one(Reference(SOURCES[id], id), Context())], tmp_path)
    again = replay_file(written)
    assert again.confirmed and again.seen.exact_measured > 0 and again.seen.admissible
    stored = json.loads(written.read_text())
    stored["instance"]["data"] = json.dumps({**json.loads(stored["instance"]["data"]), "left": "12345/7"})
    written.write_text(json.dumps(stored))
    assert not replay_file(written).confirmed, "the lemma's own text measures another left side"


# ---- readings ---------------------------------------------------------------------------------------------------------


def word_of(lemma: Lemma, region: str) -> str:
    return prove_lemma(
        replace(lemma, region=region, units="unchecked")
    ).word  # a number for L says in which units it is


def test_the_printed_c1_is_true_for_long_steps() -> None:
    """(70) as printed is refuted for short steps only: it is proved for L = 1 and eta from 1/4 to 1/2."""
    assert word_of(stationary_printed, "1 <= L <= 1, 1/4 <= eta <= 1/2") != "refuted"
    assert word_of(stationary_printed, "0 < L, 0 < eta < 1/(100*L)") == "refuted"


def test_a_fedpds_lemma_2_is_true_for_large_l() -> None:
    assert word_of(afedpd_lemmas.LEMMA_2_PRINTED, "1 <= L, 4*L**3 + 6*L <= rho").startswith("proved")
    assert word_of(afedpd_lemmas.LEMMA_2_PRINTED, "0 < L < 1/3, 4*L**3 + 6*L <= rho") == "refuted"


def test_a_fedpds_descent_is_true_of_exact_solves() -> None:
    assert prove_lemma(afedpd_proof.MOVES).word == "proved for all parameters"
    assert prove_lemma(afedpd_proof.DESCENT_PRINTED).word == "refuted"


@pytest.mark.parametrize("constant", ["99/100", "9/10"])
def test_dualfls_worst_cases_are_sharp(constant: str) -> None:
    for lemma in (first_round, second_round, primal_error):
        assert prove_lemma(lemma.with_constants(c=constant)).word == "refuted"


# ---- claims of steps --------------------------------------------------------------------------------------------------


def test_a_correction_that_is_false_repairs_nothing() -> None:
    from fedtheory.claims.checking import judge_claim

    steps = [
        Step("printed", lemma_5_proof),
        Step("corrected", lemma_5.with_constants(c=2), "repaired"),
    ]
    made = claim_steps("X", "toy", "Lemma 5", "A statement.", steps, repaired="better", false={"printed": "corrected"})
    found = judge_claim(made, "toy", Context())
    assert (found.status, found.repaired) == ("refuted", "")


def test_a_correction_of_what_stands_is_inconclusive() -> None:
    from fedtheory.claims.checking import judge_claim

    steps = [Step("printed", lemma_5), Step("corrected", lemma_5, "repaired")]
    made = claim_steps("X", "toy", "Lemma 5", "A statement.", steps, repaired="better")
    assert judge_claim(made, "toy", Context()).status == "inconclusive"

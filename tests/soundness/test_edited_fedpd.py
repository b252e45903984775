"""FedPD's Theorem 1 reads its constants from the functions that its runs are held against: with another constant the proof does not go through."""

from __future__ import annotations

import pytest
from edited_ledgers import edited_ledger
from mutants import word_of
from planted import judge_anew

pytestmark = pytest.mark.selftest

BOUNDS = "paper_checks.fedpd.bounds"
FACTOR = "    return strength * (1 + u) ** 2 / eta * (np.maximum"
CASES = "    return 1, u**2 / ((1 - 2 * u) * (1 + u))\n"
K = "    return 2 * strength * (1 + u) ** 2 / eta * (max("
C_4 = "+ 16 * (1 + u) ** 2 + 4)\n"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param((FACTOR, FACTOR.replace("return strength", "return strength / 2")), id="the factor halved"),
        pytest.param((CASES, "    return 1, 1 + 0 * u\n"), id="its maximum dropped"),
    ],
)
def test_another_constant_is_not_proved_with_exact_solves(edit: tuple[str, str]) -> None:
    with edited_ledger(BOUNDS, edit):
        assert word_of("paper_checks.fedpd", "FEDPD-D1") in ("supported", "refuted", "inconclusive")


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param((K, K.replace("2 * strength", "strength / 5")), id="a tenth of K"),
        pytest.param((C_4, C_4.replace("+ 4", "+ 3")), id="C_4 without one of its four squares"),
    ],
)
def test_another_constant_is_not_proved_with_errors(edit: tuple[str, str]) -> None:
    with edited_ledger(BOUNDS, edit):
        assert judge_anew("paper_checks.fedpd", "FEDPD-T1").repair != "proved"

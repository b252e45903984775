"""What a claim of SAFARI's ledger says follows from the formulas that it shows: with another formula it takes back its word."""

from __future__ import annotations

import pytest
from edited_ledgers import word_under_edits

pytestmark = pytest.mark.selftest

NOTATION = "paper_checks.safari.notation"
EDITS = {
    "T4 without 480 q eta_s^2 of K = 1": ("T4", (" + 80*q*L**2*eta_s**2/K*(sigma2 + 6*K*sigma_G2) +", " +")),
    "T4 with L eta_s sigma_s^2 halved": ("T4", ('DELTA = "L*eta_s', 'DELTA = "L*eta_s/2')),
    "T4's condition on q with sigma_G^2 for 4 sigma_G^2": ("T4", ('BRACKET_4 = "4*sigma_G2', 'BRACKET_4 = "sigma_G2')),
    "T5 with deltabar = 4 q h on the pair": ("T5", ('DELTABAR = f"8*q', 'DELTABAR = f"2*q')),
    "T5 without the drift in deltabar": ("T5", (" + 4*q*L*(1 + K*eta_c*L)/mu*({DRIFT_BOUND}) ", " ")),
    "T5's condition with lam for lam/2 on the pair": ("T5", ('"share": "1/(L + mu)"', '"share": "2/(L + mu)"')),
    "C2 with the other sign in its condition": ("C2", ("{share} - (L + mu)**2*etabar", "{share} + (L + mu)**2*etabar")),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_formula_changes_the_word(name: str) -> None:
    claim, edit = EDITS[name]
    assert word_under_edits(NOTATION, f"SAFARI-{claim}", edit) in ("refuted", "inconclusive")


def test_without_an_edit_the_words_stand() -> None:
    assert {word_under_edits(NOTATION, f"SAFARI-{id}") for id in ("T4", "T5", "C2")} == {"repaired"}

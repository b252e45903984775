"""Mutants of the FedPD and A-FedPD ledgers' own formulas: one changed number each, killed by a claim that rests on the formula.

A bound stands once, and statement, runs, instance and proof read it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from mutants import SAYS_IT_HOLDS, Mutant, forget, plant_mutant, word_of

from fedtheory.claims.statements.theorems.proving import prove_theorem
from fedtheory.proofs.checker.refusals import TermRefused
from paper_checks.afedpd import moments
from paper_checks.afedpd import z_ours_drift_b_floor as floor
from paper_checks.fedpd import bounds, supplement_g_oracle_2
from paper_checks.fedpd import section_4_1_b_theorem_2 as oracle_two

pytestmark = pytest.mark.selftest

MUTANTS = {
    "fedpd": (
        Mutant("Oracle II's steps three times as long", oracle_two.step_limit, "1 / (3 *", "1 / (1 *", ("T2",)),
        Mutant("what Oracle II spends without gamma", oracle_two.spent_at_most, "(1 + eta / gamma)", "1", ("T2",)),
        Mutant("L for L^2 in Lemma 10", supplement_g_oracle_2.error_allowed, "L**2", "L", ("L10s",)),
        Mutant("1/B^2 for 1/B in Lemma 10", supplement_g_oracle_2.error_allowed, "/ B", "/ B**2", ("L10s",)),
    ),
}  # fmt: skip
ROWS = [
    pytest.param(paper, mutant, killer, id=f"{mutant.name} ({killer})")
    for paper, mutants in MUTANTS.items()
    for mutant in mutants
    for killer in mutant.killers
]


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    """Nothing is kept from before, and nothing of a mutant after."""
    forget()
    yield
    forget()


@pytest.mark.parametrize(("paper", "mutant", "killer"), ROWS)
def test_a_claim_takes_back_its_word(paper: str, mutant: Mutant, killer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_mutant(mutant, monkeypatch)
    assert word_of(f"paper_checks.{paper}", f"{paper.upper()}-{killer}") not in SAYS_IT_HOLDS


def test_the_limit_of_fedadmm_with_a_tenth_of_its_noise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tenth = Mutant("a tenth of FedADMM's noise", moments.noise_of_fedadmm, "v * (squares", "v / 10 * (squares", ())
    plant_mutant(tenth, monkeypatch)
    with pytest.raises(TermRefused, match="line x, by identity"):
        prove_theorem(floor.tends_to_floor("0.41159"))


def test_the_corrected_theorem_1_is_exact_in_fractions() -> None:
    """4 (1+u)^2/eta while the maximum is one, and from u where u^2 > (1-2u)(1+u) on its other case."""
    u, v = Fraction(3, 10), Fraction(9, 20)
    assert bounds.theorem_one_factor(u, u) == 4 * (1 + u) ** 2 / u
    assert (
        bounds.theorem_one_factor(v, v) == 4 * (1 + v) ** 2 / v * v**2 / ((1 - 2 * v) * (1 + v)) > 4 * (1 + v) ** 2 / v
    )

"""Mutants of the library's dual methods: one changed line each, killed by a DualFL claim that speaks of that line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mutants import SAYS_IT_HOLDS, Mutant, forget, plant_mutant, stored_words, word_of

from fedtheory.algorithms import DualFista, DualFL, FedDR, momentum
from fedtheory.core import duality
from fedtheory.proofs.every_n.oracles import SymmetricProblem

pytestmark = pytest.mark.selftest

SOURCE = "paper_checks.dualfl"

_GAP, _RIDGE = "problem.value(x) + conjugate(y) - inner", "Ridge(nu).conjugate(-average(xi))"
_STEP = "z_i + beta(self.rho, key.round) * (z_i - state.z_i)"
MUTANTS = (
    Mutant("DualFL's momentum of the round after", DualFL.round, "beta(self.rho, key.round)", "beta(self.rho, key.round + 1)", ("L6.6", "E26")),
    Mutant("half the inertia in DualFL", DualFL.round, "beta(self.rho, key.round)", "beta(self.rho, key.round) / 2", ("L6.6",)),
    Mutant("DualFL's dual not updated", DualFL.round, _STEP + ", z_i)", _STEP + ", state.z_i)", ("L6.6", "E27")),
    Mutant("DualFL uploads the server's model", DualFL.round, "z_i = state.zeta_i + x - x_i", "z_i = state.zeta_i + state.x - x_i", ("E26",)),
    Mutant("FISTA's dual step 5 % short", DualFista.round, "w_i - self.nu * x_i", "w_i - 0.95 * self.nu * x_i", ("PRE",)),
    Mutant("the sequence with the old t_n", momentum.inertia, "(t - 1) / new", "(t - 1) / t", ("T-SEQ", "L6.6")),
    Mutant("the sequence with a modulus 2 % off", momentum._block, "rest = 1 - r", "rest = 1 - 1.02 * r", ("T-SEQ",)),
    Mutant("gap without the conjugate", duality.fenchel_young_gap, _GAP, "problem.value(x) - inner", ("P3.1", "G1")),
    Mutant("the dual energy without the N", duality.dualfl_dual_value, _RIDGE, _RIDGE.replace("-average", "-3 * average"), ("D20",)),
    Mutant("the local dual with the ridge of f", duality.local_dual, "_without_ridge(problem, nu)", "problem", ("P3.1",)),
    Mutant("FedDR relaxed by 2 % more", FedDR.round, "self.alpha * (state.x", "1.02 * self.alpha * (state.x", ("N6",)),
    Mutant("exact solves that forget the shift", SymmetricProblem.conjugate_grad, "self.add(x, entry(y))", "self.add(x, entry(0 * y))", ("PRE",)),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    """Nothing is kept from before, and nothing of a mutant after."""
    forget()
    yield
    forget()


ROWS = [pytest.param(m, k, id=f"{m.name} ({k})") for m in MUTANTS for k in m.killers]


@pytest.mark.parametrize(("mutant", "killer"), ROWS)
def test_a_dualfl_claim_takes_back_its_word(mutant: Mutant, killer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_mutant(mutant, monkeypatch)
    assert word_of(SOURCE, f"DUALFL-{killer}") not in SAYS_IT_HOLDS


def test_without_a_mutant_the_claims_hold() -> None:
    assert stored_words(f"DUALFL-{k}" for m in MUTANTS for k in m.killers) <= SAYS_IT_HOLDS

"""Mutants of what FedSLR's theory is judged by: thresholds, duals, the server's proximal step, exponents; each is killed by a claim on that line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mutants import SAYS_IT_HOLDS, Mutant, forget, plant_mutant, stored_words, word_of

from fedtheory.algorithms import FedSLR
from fedtheory.core import regularisers
from fedtheory.core.regularisers import NuclearNorm
from fedtheory.local.proximal_steps import ShiftedProblem
from fedtheory.measures import kl
from problems import known_exponents

pytestmark = pytest.mark.selftest

SOURCE = "paper_checks.fedslr"
_MEAN = "average(x_i, clients) - step"
_PROX = "prox(average(x_i, clients) - step, self.eta)"
MUTANTS = (
    Mutant("singular values shrink 5 % too little", NuclearNorm.prox, "self.weight * step)", "0.95 * self.weight * step)", ("T1b",)),
    Mutant("l1 threshold 5 % too large", regularisers.soft_threshold, "xp.abs(v) - threshold", "xp.abs(v) - 1.05 * threshold", ("T1b",)),
    Mutant("server's threshold without eta", FedSLR.round, _PROX, _PROX.replace("self.eta", "1"), ("T1b",)),
    Mutant("server's prox skipped", FedSLR.round, f"shared_regulariser(problem).{_PROX}", _MEAN, ("T1b", "D2c")),
    Mutant("sign of gamma in local work", FedSLR.round, "a=-gamma,", "a=gamma,", ("T1a",)),
    Mutant("sign of gamma's step", FedSLR.round, "gamma + moved", "gamma - moved", ("D6",)),
    Mutant("sign of gamma at the server", FedSLR.round, "else self.eta * mean_gamma", "else -self.eta * mean_gamma", ("T1b",)),
    Mutant("gamma divided by eta at the server", FedSLR.round, "else self.eta * mean_gamma", "else mean_gamma / self.eta", ("T1b",)),
    Mutant("Algorithm 3 forgets its average", FedSLR._mean_of_duals, "state.gamma + average(change)", "average(change)", ("D5",)),
    Mutant("Phase II without the global model", ShiftedProblem.grad, "self.centre + x", "x", ("T3",)),
    Mutant("fitted KL exponent 10 % low", kl.kl_exponent, "float(late.mean()), float", "0.9 * float(late.mean()), float", ("T2b", "T2c")),
    Mutant("fitted KL exponent 10 % high", kl.kl_exponent, "float(late.mean()), float", "1.1 * float(late.mean()), float", ("T2b", "T2c")),
    Mutant("known KL exponent 10 % low", known_exponents.power, "0.0, 1 - 1 / p", "0.0, 0.9 * (1 - 1 / p)", ("T2c",)),
    Mutant("known KL exponent 10 % high", known_exponents.power, "0.0, 1 - 1 / p", "0.0, min(0.99, 1.1 * (1 - 1 / p))", ("T2c",)),
    Mutant("rate from an exponent 10 % off", kl.implied_rate, "power = 1 /", "power = 1.1 /", ("T2c",)),
    Mutant("nuclear subgradients 10 % short", NuclearNorm.distance, "layer), self.weight)", "layer), 0.9 * self.weight)", ("T1b",)),
)  # fmt: skip


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep nothing of before, and nothing of a mutant for later."""
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize(
    ("mutant", "killer"),
    [pytest.param(m, k, id=f"{m.name} ({k})") for m in MUTANTS for k in m.killers],
)
def test_a_claim_takes_back_its_word(mutant: Mutant, killer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_mutant(mutant, monkeypatch)
    assert word_of(SOURCE, f"FEDSLR-{killer}") not in SAYS_IT_HOLDS


def test_without_a_mutant_the_claims_hold() -> None:
    assert stored_words(f"FEDSLR-{k}" for m in MUTANTS for k in m.killers) <= SAYS_IT_HOLDS

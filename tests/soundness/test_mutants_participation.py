"""Mutants of A-FedPD, SAFARI and their exact moments, killed by claims that speak of the changed line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mutants import SAYS_IT_HOLDS, Mutant, forget, plant_mutant, stored_words, word_of

from fedtheory.algorithms import AFedPD, Safari
from fedtheory.measures import mean_round
from problems import biased_participation

pytestmark = pytest.mark.selftest

_MEAN = "lam = state.lam + self.rho * (x_bar - state.x)"
_BAR = "x_bar = average(x_i, clients)"
_SERVED = "lambda: _at_server(self.server, problem, state.x, key)"
_LOCAL = "y, _ = self.local(Subproblem(problem.take(clients), clients=clients), x, key, None)"
_NUMBERS = "one, two = x0, x0 * x0"
_SENT = "x_bar + lam / self.rho"
#: rest on what every state of A-FedPD is said to keep
_TIES = ("AFEDPD-D8", "AFEDPD-D15")
MUTANTS = (
    Mutant("no virtual update", AFedPD.round, _MEAN, f"{_MEAN} / 2", ("AFEDPD-S1", "AFEDPD-D1", "AFEDPD-D5")),
    Mutant("average over all clients", AFedPD.round, _BAR, "x_bar = average(scatter(state.x_i, clients, x_i))", ("AFEDPD-D2", "AFEDPD-S2", *_TIES)),
    Mutant("rho inverted at the server", AFedPD.round, _SENT, _SENT.replace("/", "*"), ("AFEDPD-D1", "AFEDPD-D3", "AFEDPD-D8")),
    Mutant("a client's dual moves from the wrong model", AFedPD.round, "(x_i - x_bar)", "(x_i - state.x)", ("AFEDPD-D2", "AFEDPD-D4", *_TIES)),
    Mutant("server step skipped", Safari.round, _SERVED, "lambda: state.x", ("SAFARI-X2", "SAFARI-T4", "SAFARI-T5")),
    Mutant("coin swapped", Safari.round, "self._client_round(key),", "not self._client_round(key),", ("SAFARI-X2", "SAFARI-Q1")),
    Mutant("participation not biased", Safari._at_clients, _LOCAL, f"clients = None; {_LOCAL}", ("SAFARI-X2", "SAFARI-T4")),
    Mutant("one sample for the exact moments", biased_participation.moments, _NUMBERS, "one, two, q = x0, x0 * x0, 1", ("SAFARI-X2", "SAFARI-R3")),
    Mutant("E x for its square", biased_participation.moments, _NUMBERS, "one, two = x0, x0", ("SAFARI-T4", "SAFARI-T5")),
    Mutant("mean round with the coin swapped", mean_round.mean_round, "if side else", "if not side else", ("SAFARI-X2",)),
)  # fmt: skip
ROWS = [pytest.param(m, k, id=f"{m.name} ({k})") for m in MUTANTS for k in m.killers]


def source_of(id: str) -> str:
    return f"paper_checks.{id.split('-', maxsplit=1)[0].lower()}"


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    """Nothing is kept from before, and nothing of a mutant after."""
    forget()
    yield
    forget()


@pytest.mark.parametrize(("mutant", "killer"), ROWS)
def test_a_claim_takes_back_its_word(mutant: Mutant, killer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_mutant(mutant, monkeypatch)
    assert word_of(source_of(killer), killer) not in SAYS_IT_HOLDS


def test_without_a_mutant_the_claims_hold() -> None:
    assert stored_words(k for m in MUTANTS for k in m.killers) <= SAYS_IT_HOLDS

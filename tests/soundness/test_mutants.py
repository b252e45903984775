"""Mutants of the library: one changed line each, planted in this process, and killed by a FedPD claim that speaks of that line.

A mutant is killed where the claim's word is none of proved, supported, reproduced and repaired any more. A word that stays would be said of
wrong code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from mutants import SAYS_IT_HOLDS, Mutant, forget, plant_mutant, stored_words, word_of

from fedtheory.algorithms import FedAvg, FedDane, FedPD, FedProx, FedSplit, Scaffold
from fedtheory.local import newton, stochastic
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures import metrics, rates
from fedtheory.running import falsifier, record
from problems import finite_sum, logistic, lower_bound, quadratics, separable

pytestmark = pytest.mark.selftest


def lower(text: str, by: str = "0.9") -> tuple[str, str]:
    """An edit that makes what is certified smaller."""
    return text, text.replace("Certified(", f"Certified({by} * ", 1)


_DUAL = "(x_i - state.x0_i) / self.eta"
_OLD, _OTHER = (
    "sample_grad(x, samples[q])",
    "sample_grad(x, (samples[q] + 1) % sub.f.n_samples[:, None])",
)
MUTANTS = (
    Mutant("falsifier without local search", falsifier.falsify, "while spent < budget and size > 1e-6:", "while False:", ("D1",)),
    Mutant("logistic L 10 % low", logistic.Logistic.certify, *lower("Certified(size.max(axis=-1), how)"), ("T1",)),
    Mutant("logistic L_avg 10 % low", logistic.Logistic.certify, *lower("Certified(average / 4"), ("T1",)),
    Mutant("sines' L 10 % low", separable.Sines.certify, "bound = (np", "bound = 0.9 * (np", ("D1",)),
    Mutant("G 30 % low", separable.RootPlusQuadratic.certify, "np.sqrt((apart", "0.7 * np.sqrt((apart", ("L2",)),
    Mutant("f* of quadratics too low", quadratics.Quadratic.lower_bound, "inner(b, x) / 2", "inner(b, x)", ("T1",)),
    Mutant("f* of the chain too low", lower_bound.ZeroChain.lower_bound, "-4 * np.pi", "-4.4 * np.pi", ("D11",)),
    Mutant("stationarity x 0.9", metrics.stationarity, "return squared_norm", "return 0.9 * squared_norm", ("T1",)),
    Mutant("fitted slope + 10 %", rates._fit, "float(back(slope)),", "float(back(1.1 * slope)),", ("TAB1",)),
    Mutant("SARAH's old point on another sample", stochastic.VarianceReduced.__call__, _OLD, _OTHER, ("L10s",)),
    Mutant("SARAH made exact once only", stochastic.VarianceReduced.__call__, "key.round % self.period == 0", "key.round == 0", ("R4",)),
    Mutant("quadratic L 10 % low", quadratics.Quadratic.certify, *lower('Certified(size.max(axis=-1), how + ", largest'), ("T1",)),
    Mutant("separable L 10 % low", separable.curvature_constants, *lower('"L": Certified(size.max(axis=-1), how)'), ("L2",)),
    Mutant("L_sample 10 % low", finite_sum.SampledQuadratic.certify, *lower("Certified(np.abs(samples).max"), ("L10s", "T2")),
    Mutant("Newton's tolerance 1e-6", newton.newton, "(4 * float(xp.finfo(x.dtype).eps)) ** 2", "1e-12", ("D13",)),
    Mutant("samples from the first half", stochastic.draw_samples, "np.floor(lots *", "np.floor(lots / 2 *", ("R3", "L10s")),
    Mutant("dual uses the server's model", FedPD.round, _DUAL, "(x_i - state.x) / self.eta", ("L2",)),
    Mutant("dual step 5 % short", FedPD.round, _DUAL, "0.95 * (x_i - state.x0_i) / self.eta", ("L2",)),
    Mutant("models averaged without duals", FedPD.round, "upload = x_i + self.eta * lam", "upload = x_i", ("Q4",)),
    Mutant("skipping keeps the old copy", FedPD.round, "spread(x, problem.n), upload)", "spread(x, problem.n), state.x0_i)", ("D3", "Q4")),
    Mutant("coin swapped", FedPD._communicates, '"communicate", 1 - p', '"communicate", p', ("Q4",)),
    Mutant("traffic ignores the coin", FedPD.traffic, "np.asarray(self._communicates(key), dtype=float)", "np.asarray(1.0)", ("Q4", "TAB1")),
    Mutant("traffic doubled", record.Recorder._add, "np.rint(up * self", "np.rint(2 * up * self", ("Q4", "TAB1")),
    Mutant("duals start at zero", FedPD.init, "-problem.grad(x0) if", "-0 * problem.grad(x0) if", ("D13", "EQ1")),
    Mutant("Oracle II's step", FedPD.oracle_two, "(eta + gamma)", "(eta + 2 * gamma)", ("EQ4",)),
    Mutant("one local step more", GradientSteps._descend, "range(", "range(1 + ", ("EQ6", "D9")),
    Mutant("sign of FedDANE's correction", FedDane.round, "average(g_i, clients) - g_i", "g_i - average(g_i, clients)", ("EQ5",)),
    Mutant("FedProx with half its penalty", FedProx.round, "rho=rho,", "rho=rho / 2,", ("D12",)),
    Mutant("SCAFFOLD's variates of the wrong sign", Scaffold.round, "a=state.c - c_i", "a=c_i - state.c", ("D6",)),
    Mutant("FedAvg returns the first client", FedAvg.round, "average(x_i, clients)", "x_i[..., :1, :]", ("EQ6", "D12")),
    Mutant("FedSplit reflected too little", FedSplit.round, "z_i = state.z_i + 2 *", "z_i = state.z_i + 1.9 *", ("D6",)),
)  # fmt: skip


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Mutant], None]]:
    """Plant a mutant until the test is over."""

    def plant(mutant: Mutant) -> None:
        plant_mutant(mutant, monkeypatch)

    forget()
    yield plant
    monkeypatch.undo()
    forget()


def word(claim: str) -> str:
    """The status of a FedPD claim."""
    return word_of("paper_checks.fedpd", f"FEDPD-{claim}")


@pytest.mark.parametrize(
    ("mutant", "killer"),
    [pytest.param(m, k, id=f"{m.name} ({k})") for m in MUTANTS for k in m.killers],
)
def test_a_claim_takes_back_its_word(mutant: Mutant, killer: str, planted: Callable[[Mutant], None]) -> None:
    planted(mutant)
    assert word(killer) not in SAYS_IT_HOLDS


def test_without_a_mutant_the_claims_hold() -> None:
    assert stored_words(f"FEDPD-{k}" for m in MUTANTS for k in m.killers) <= SAYS_IT_HOLDS

"""FedSLR's Phase I on functions of known Kurdyka-Lojasiewicz exponent: what Theorem 2's three cases speak of, measured."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedSLR
from fedtheory.core.problem import constant
from fedtheory.measures import metrics, potentials
from fedtheory.measures.kl import Exponent, kl_constant, kl_exponent
from fedtheory.running.runner import run
from paper_checks.fedslr.bounds import Constants, bound_12, bound_13, bound_13_corrected
from paper_checks.fedslr.played import play_on_line
from problems.known_exponents import no_strict_complementarity, power, sharp
from problems.low_rank import low_rank_regression
from problems.piecewise import flattened_square

Values = NDArray[np.float64]
#: the step size of the runs, in units of 1/L
STEP = 0.45
#: below this the residual of the low-rank instance is rounding of its D*
LEAST_RESIDUAL = 1e-9


@dataclass(frozen=True, eq=False)
class KLRun:
    """A run after rounds 1, 2, ...: dist(0, grad f(w_t) + dR(w_t)), r_t = D_t - D*, dist(0, dD_t).

    ``theta``: the exponent of f + R at the limit; ``error``: of D*.
    """

    name: str
    theta: float
    L: float
    eta: float
    rounds: Values
    distance: Values
    residual: Values
    subgradient: Values
    error: float = 0.0

    @property
    def theta_of_potential(self) -> float:
        """Of D: max(theta, 1/2), as D is a bowl in the copies w_i (`FEDSLR-T2a`)."""
        return max(self.theta, 0.5)

    @property
    def trusted(self) -> Any:
        """The rounds whose residual is above the error of D*."""
        return self.residual > 100 * self.error

    @cached_property
    def constants(self) -> Constants:
        """Theorem 2's, with the least c for which the KL inequality holds at every iterate of the run."""
        keep = self.trusted
        c = kl_constant(self.residual[keep], self.subgradient[keep], self.theta_of_potential)
        return Constants(self.L, self.eta, c, self.theta_of_potential)

    @property
    def exponent(self) -> Exponent:
        """Of D, as seen along the run."""
        return kl_exponent(self.residual, self.subgradient, error=self.error)

    @property
    def corrected(self) -> Values:
        """(12) or (13) with corrected constants and exponent, from round 1 on."""
        k = self.constants
        if self.theta_of_potential == 0.5:
            return np.asarray(bound_12(k.c1, k.c2, k.c4, self.residual[0], self.rounds - 1))
        return np.asarray(bound_13_corrected(k.c5, k.theta, self.rounds))

    @property
    def printed(self) -> Values:
        """(13) with its printed exponent, and corrected constants."""
        k = self.constants
        return np.asarray(bound_13(k.c5, k.theta, self.rounds))


def follow(
    name: str,
    problem: Any,
    theta: float,
    start: Any,
    rounds: int,
    *,
    step: float = STEP,
    least: float = 0.0,
    error: float = 0.0,
) -> KLRun:
    """Run FedSLR with eta = step/L from a start, and measure after rounds evenly spread in log t; ``least``: D*."""
    L = float(constant(problem, "L"))
    eta = step / L
    marks = np.unique(np.geomspace(1, rounds, 400).astype(int)) if rounds > 400 else np.arange(1, rounds + 1)
    trace = run(
        FedSLR(eta),
        problem,
        np.asarray(start, dtype=float),
        rounds,
        metrics={"d": metrics.stationarity, "D": potentials.fedslr(eta), "s": potentials.fedslr_subgradient(eta)},
        every={0, *map(int, marks)},
        progress=False,
    )
    keep = trace.rounds > 0
    return KLRun(
        name,
        theta,
        L,
        eta,
        trace.rounds[keep].astype(float),
        np.sqrt(trace["d"][keep]),
        trace["D"][keep] - least,
        trace["s"][keep],
        error,
    )


@lru_cache(maxsize=8)
def power_run(p: int, rounds: int = 3000) -> KLRun:
    """I-POW(p): theta = 1 - 1/p."""
    known = power(p)
    return follow(f"|w|^{p}/{p}", known.problem, known.theta, [0.9], rounds, step=0.25, least=known.minimum)


def sharp_states(rounds: int, eta: Fraction = Fraction(9, 20)) -> tuple[Any, list[Any]]:
    """I-SHARP, (w - 3/10)^2/2 + |w| from w_0 = 2, in fractions: theta = 0 of f + R at its minimiser 0."""
    f = flattened_square(1, 5, Fraction(3, 10))
    return play_on_line(f, eta, Fraction(2), rounds, weight=Fraction(1))


@lru_cache(maxsize=2)
def sharp_run(rounds: int = 25) -> KLRun:
    """I-SHARP by fractions, as r_t soon is below the rounding of D*."""
    eta = Fraction(9, 20)
    problem, states = sharp_states(rounds, eta)
    after = states[1:]
    potential, slope = potentials.fedslr(eta), potentials.fedslr_subgradient(float(eta))
    return KLRun(
        "(w - 0.3)^2/2 + |w|",
        sharp().theta,
        1.0,
        float(eta),
        np.arange(1.0, rounds + 1),
        np.array([float(metrics.stationarity(problem, s)) ** 0.5 for s in after]),
        np.array([float(potential(problem, s) - Fraction(9, 200)) for s in after]),
        np.array([float(slope(problem, s)) for s in after]),
    )


@lru_cache(maxsize=2)
def flat_matrix_run(rounds: int = 6000) -> KLRun:
    """I-ZS: a nuclear norm without strict complementarity, theta = 3/4."""
    known = no_strict_complementarity()
    return follow(
        "2 x 2, no strict complementarity",
        known.problem,
        known.theta,
        [1.2, 0.5, 0.4, 0.3],
        rounds,
        least=known.minimum,
        error=1e-15,
    )


@lru_cache(maxsize=2)
def low_rank_run(rounds: int = 1500, step: float = STEP) -> KLRun:
    """I-LRS: a nuclear norm that is active with strict complementarity, theta = 1/2; D* from a longer run with a longer step."""
    problem = low_rank_regression().problem
    start = np.zeros(problem.d)
    best = run(FedSLR(1.0), problem, start, 600, metrics={"v": metrics.value}, every=600, progress=False)["v"][-1]
    return follow(
        "low-rank regression", problem, 0.5, start, rounds, step=step, least=float(best), error=LEAST_RESIDUAL / 100
    )

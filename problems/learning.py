"""Learning problems with exact probabilities: what can be learned when part of the population never takes part (SAFARI, Section 3).

Everything here is exact: probabilities are fractions, from binomial coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Literal

from fedtheory.core.errors import InvalidInput


def binomial_at_most(trials: int, p: Fraction, k: int) -> Fraction:
    """P[Binomial(trials, p) <= k] for 0 <= p < 1."""
    hit, miss = p.numerator, p.denominator - p.numerator
    term = miss**trials  # of C(trials, j) hit^j miss^(trials - j) at j = 0
    total = term if k >= 0 else 0
    for j in range(min(k, trials)):
        term = term * (trials - j) * hit // ((j + 1) * miss)
        total += term
    return Fraction(total, p.denominator**trials)


@dataclass(frozen=True)
class HiddenPoint:
    """The construction behind the impossibility theorem (SAFARI, Theorem 1 and its proof).

    Two points, P(x_2) = (1 - omega)/2 with omega = m/M; two targets that agree on x_1 and differ on x_2. Mn samples are drawn from P
    and a participation process keeps mn of them, as many copies of x_1 as there are. When x_2 came up at most (M - m) n times, the
    learner sees x_1 only, whatever the target, and errs on x_2 under one target at least; its risk is then P(x_2) = 4 epsilon.

    Parameters
    ----------
    clients : int
        M.
    active : int
        m, 0 <= m < M.
    samples : int
        n, samples a client.
    """

    clients: int
    active: int
    samples: int

    def __post_init__(self) -> None:
        """Refuse counts that make no sense."""
        if not 0 <= self.active < self.clients or self.samples < 1:
            raise InvalidInput(
                f"expected 0 <= active < clients and samples >= 1, got active={self.active}, clients={self.clients}, "
                f"samples={self.samples}"
            )

    @property
    def omega(self) -> Fraction:
        """System capacity m/M."""
        return Fraction(self.active, self.clients)

    @property
    def epsilon(self) -> Fraction:
        """(1 - omega)/8, the error the theorem speaks of."""
        return (1 - self.omega) / 8

    @property
    def mass(self) -> Fraction:
        """P(x_2) = (1 - omega)/2 = 4 epsilon, the risk of a learner that errs there."""
        return (1 - self.omega) / 2

    def hidden(self, strictly: bool = False) -> Fraction:
        """Probability that the learner sees x_1 only: P[s <= (M-m) n], s ~ Binomial(Mn, P(x_2)); ``strictly``: P[s < (M-m) n].

        The strict event is what the proof bounds: by Chernoff's inequality it has probability above 3/20; by Markov's, whose bound
        E s / ((M-m) n) is 1/2, at least 1/2.
        """
        room = (self.clients - self.active) * self.samples
        return binomial_at_most(self.clients * self.samples, self.mass, room - strictly)

    def failure(self, learner: Literal["deterministic", "fair coin"] = "deterministic") -> Fraction:
        """Probability that x_2 is hidden and the risk exceeds epsilon, under the worse target.

        A deterministic learner errs under one of the targets whenever x_2 is hidden, one that tosses a fair coin half the time under
        both; no learner does better than the coin.
        """
        return self.hidden() / (2 if learner == "fair coin" else 1)

    def hidden_by_clients(self) -> Fraction:
        """Probability that m of M clients exist who saw x_1 only, if samples are split at random and whole clients are selected.

        P[Binomial(M, (1 - P(x_2))^n) >= m]; it vanishes as n grows, so the construction needs a process that selects samples, or
        clients whose own laws differ.
        """
        none = (1 - self.mass) ** self.samples
        return 1 - binomial_at_most(self.clients, none, self.active - 1)

    def failure_with_server(self, server_samples: int) -> Fraction:
        """Probability that server samples drawn from P miss x_2: (1 - P(x_2))^{n_T}; otherwise pooled learning is exact."""
        return (1 - self.mass) ** server_samples

    def server_samples_for(self, delta: Fraction) -> int:
        """Return the least n_T with `failure_with_server` at most delta, which lies in (0, 1)."""
        if not 0 < delta < 1:
            raise InvalidInput(f"delta must lie in (0, 1), got {delta}")
        count, left = 0, Fraction(1)
        while left > delta:
            count, left = count + 1, left * (1 - self.mass)
        return count


@dataclass(frozen=True)
class FiniteClass:
    """Binary hypotheses on finitely many points under 0-1 loss, with the constants of SAFARI's Assumptions 1 and 2.

    A law is a sequence of the points' probabilities. The conditional law of labels is the same under all of them.

    Parameters
    ----------
    hypotheses : tuple of tuples of 0 and 1
        One label a point.
    positive : tuple of fractions
        P(Y = 1 | x), one a point.
    """

    hypotheses: tuple[tuple[int, ...], ...]
    positive: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        """Refuse hypotheses and labels of different lengths."""
        if any(len(h) != len(self.positive) for h in self.hypotheses) or not self.hypotheses:
            raise InvalidInput(f"expected hypotheses with one label for each of the {len(self.positive)} points")

    def risks(self, law: Any) -> list[Fraction]:
        """P[h(X) != Y] of each hypothesis."""
        return [
            sum((p * (1 - y if label else y) for p, y, label in zip(law, self.positive, h, strict=True)), Fraction(0))
            for h in self.hypotheses
        ]

    def best(self, law: Any) -> int:
        """Return the number of the first minimiser of the risk."""
        risks = self.risks(law)
        return risks.index(min(risks))

    def excess(self, law: Any) -> list[Fraction]:
        """Risk minus the least risk."""
        risks = self.risks(law)
        return [risk - min(risks) for risk in risks]

    def noise(self, law: Any, beta: Any) -> Any:
        """Return the least alpha of Assumption 1: P[h != h*] <= alpha * excess^beta for all h; infinity if there is none."""
        star = self.hypotheses[self.best(law)]
        apart = [
            sum((p for p, label, right in zip(law, h, star, strict=True) if label != right), Fraction(0))
            for h in self.hypotheses
        ]
        return _least(apart, self.excess(law), beta)

    def relatedness(self, target: Any, pooled: Any, beta: Any) -> Any:
        """Return the least alpha of Assumption 2: |excess_P - excess_Q| <= alpha * excess_Q^beta; infinity if there is none."""
        p, q = self.excess(target), self.excess(pooled)
        return _least([abs(a - b) for a, b in zip(p, q, strict=True)], q, beta)


def _least(left: list[Fraction], excess: list[Fraction], beta: Any) -> Any:
    """Return the least alpha with left <= alpha * excess^beta, entry by entry."""
    ratios: list[Any] = [Fraction(0)]
    for top, bottom in zip(left, excess, strict=True):
        if top > 0:
            ratios.append(inf if bottom == 0 and beta > 0 else top / bottom**beta)
    return max(ratios)

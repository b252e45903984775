"""What is proved of a method's progress, round by round: a factor, a floor, and the rounds and floats that an accuracy takes.

Of a method with a fixed point at x* it is a potential, V >= ||x - x*||^2 with E V(after) <= rate V(before). Of one without, whose state is x alone,
it is V = ||x - x*||^2 with E V(after) <= rate V(before) + offset (`fedtheory.proofs.certificates.one_round`). Both are certificates in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import in_floats
from fedtheory.core.states import arrays_of
from fedtheory.proofs.certificates.one_round import bound_one_round
from fedtheory.proofs.certificates.upper_bounds import Certificate
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.potentials.largest import step_of
from fedtheory.proofs.potentials.smallest_rate import smallest_rate
from fedtheory.proofs.semidefinite.bounded import FAST
from fedtheory.proofs.stand_ins import AnyRound
from fedtheory.running.enumeration import enumerate_outcomes

#: of rates while a step is looked for, and of the rate that is proved
COARSE, FINE = Fraction(1, 10**4), Fraction(1, 10**5)
#: steps in ratios of 2 that are tried first, from 2/L downwards
FIRST_STEPS = 14
#: evaluations of the search between them
REFINED = 10


@dataclass(frozen=True, eq=False)
class ProvedProgress:
    """E V(after) <= rate V(before) + offset in every round, proved, for every n >= 2.

    ``floor`` offset/(1 - rate) is what V may stay at; 0 where x* is a fixed point. ``up``, ``down`` : vectors of length d that a client sends and
    receives in a round, in expectation. ``first`` : from which round on. ``slope`` : by how much the offset grows with zeta^2.
    """

    step: Fraction
    rate: Fraction
    offset: Fraction
    potential: str
    certificates: tuple[Certificate, ...]
    up: float
    down: float
    first: int = 0
    slope: Fraction = Fraction(0)

    @property
    def floor(self) -> Fraction | None:
        """Of V; None where the rate is not below 1."""
        return self.offset / (1 - self.rate) if self.rate < 1 else None

    def floor_at(self, zeta: float, stated: float) -> float:
        """The floor of the same proof at another heterogeneity than the one that was stated."""
        return (float(self.offset) + float(self.slope) * (zeta**2 - stated**2)) / (1 - float(self.rate))

    def rounds_to(self, accuracy: float) -> int | None:
        """The fewest rounds after which V <= accuracy is proved, from V = 1; None where it never is."""
        found = rounds_of(float(self.rate), float(self.offset), accuracy)
        return None if math.isinf(found) else math.ceil(found)


def rounds_of(rate: float, offset: float, accuracy: float) -> float:
    """r with rate^r + offset (1 - rate^r)/(1 - rate) = accuracy < 1, infinite if there is none."""
    floor = offset / (1 - rate) if rate < 1 else math.inf
    if not floor < accuracy:
        return math.inf
    return math.log((accuracy - floor) / (1 - floor)) / math.log(rate) if rate > 0 else 1.0


def forgets(algorithm: Algorithm) -> bool:
    """Whether the state of a method is the server's model alone, so that every round is a first one."""
    return set(arrays_of(algorithm.init(_two_clients(), np.ones((1, 1))))) == {"x"}


def rests_at_solution(algorithm: Algorithm) -> bool:
    """Whether x* is a fixed point of a method whose state is x alone."""
    functions: Any = _two_clients()
    return in_floats(algorithm).solution_state(functions, np.zeros((1, 1))) is not None


def require_alike(algorithm: Algorithm) -> None:
    """Refuse a method whose rounds depend on their number: what is proved of the first is not proved of the others.

    Raises
    ------
    CannotTrace
        They do.
    """
    method, functions = in_floats(algorithm), _two_clients()
    begun = method.init(functions, np.ones((1, 1)))
    any_round: Any = AnyRound()
    enumerate_outcomes(lambda key: method.round(functions, begun, None, key), any_round)


def traffic_of(algorithm: Algorithm) -> tuple[float, float]:
    """Vectors of length d that a client sends and receives in a round, in expectation over its coins."""
    method = in_floats(algorithm)
    functions: Any = _two_clients()
    begun = method.init(functions, np.ones((1, 1)))

    def sent(key: Any) -> tuple[float, float]:
        up, down = method.traffic(key, method.round(functions, begun, None, key))
        return float(np.ravel(up)[0]), float(np.ravel(down)[0])

    found = enumerate_outcomes(sent, 0)
    up, down = (sum(float(chance) * vectors[k] for chance, vectors in found) for k in (0, 1))
    return up, down


def _two_clients() -> SeparableQuadratics:
    return SeparableQuadratics(np.ones((2, 1)), np.array([[1.0], [-1.0]]))


@dataclass(frozen=True, eq=False)
class StepSearch:
    """The step of a method with the fewest rounds to an accuracy.

    Parameters
    ----------
    make : the method, from a step
    function_class : with zeta, where methods without a fixed point are asked
    accuracy : of V, from V = 1
    tell : is called after every step that was tried
    top : the first steps tried are this one's halves; 2/L by default
    """

    make: Callable[[Any], Algorithm]
    function_class: FunctionClass
    accuracy: float
    tell: Callable[[], None] = lambda: None
    top: float | None = None

    @property
    def plain(self) -> FunctionClass:
        """The class without zeta, which contains it."""
        return FunctionClass(self.function_class.L, self.function_class.mu)

    def rounds(self, step: float) -> float:
        """Rounds to the accuracy at a step, as a solver's number; infinite where none is found."""
        try:
            rate, offset = self._numbers(self.make(step))
        except SolverFailed:
            rate, offset = math.inf, math.inf
        self.tell()
        return rounds_of(rate, offset, self.accuracy)

    def _numbers(self, algorithm: Algorithm) -> tuple[float, float]:
        if not forgets(algorithm) or rests_at_solution(algorithm):
            return smallest_rate(algorithm, self.plain, accuracy=COARSE, proof=False).rate, 0.0
        radius = math.sqrt(self.accuracy)
        # a second solver would take most of the time where the first has no answer, at steps that are far from the best
        found = worst_case_for_every_n(algorithm, self.function_class, rounds=1, radius=radius, solvers=FAST)
        if found.unbounded:
            return math.inf, math.inf
        names = [name for name, _ in found.model.inequalities]
        units = found.stated.units
        k = names.index("radius")
        rate = float(found.solution.multipliers[k]) * float(units.goal) / float(units.rows[k])
        return rate, max(found.value - rate * radius**2, 0.0)

    def best(self) -> Fraction:
        """The step, to three digits.

        Raises
        ------
        SolverFailed
            At no step that was tried is the accuracy reached.
        """
        from scipy.optimize import minimize_scalar

        top = 2 / float(self.function_class.L) if self.top is None else self.top
        tried = [top * 2.0**-k for k in range(1, FIRST_STEPS + 1)]
        found = [self.rounds(step) for step in tried]
        k = int(np.argmin(found))
        if math.isinf(found[k]):
            raise SolverFailed(
                f"at no step from {tried[-1]:.2g} to {tried[0]:.2g} is V <= {self.accuracy:g} proved; a floor may be higher: ask for less "
                "accuracy, or state a smaller zeta"
            )
        worst = 2 * max(value for value in found if math.isfinite(value))
        refined = minimize_scalar(
            lambda log: min(self.rounds(math.exp(log)), worst),
            bounds=(math.log(tried[k] / 2), math.log(tried[k] * 1.999)),
            method="bounded",
            options={"maxiter": REFINED, "xatol": 1e-3},
        )
        step = math.exp(refined.x) if refined.fun < found[k] else tried[k]
        unit = step_of(Fraction(step)) * 10
        return Fraction(round(Fraction(step) / unit)) * unit

    def prove(self, step: Fraction) -> ProvedProgress:
        """Certificates at a step.

        Raises
        ------
        CannotTrace
            The method has memory and no fixed point, or its rounds are not all alike.
        SolverFailed
            No certificate was found.
        """
        algorithm = self.make(step)
        require_alike(algorithm)
        up, down = traffic_of(algorithm)
        if forgets(algorithm) and not rests_at_solution(algorithm):
            radius = Fraction(math.sqrt(self.accuracy)).limit_denominator(10**6)
            one = bound_one_round(algorithm, self.function_class, radius)
            offset = max(one.offset, Fraction(0))
            return ProvedProgress(step, one.rate, offset, "||x||^2", (one.certificate,), up, down, 0, one.slope)
        found = smallest_rate(algorithm, self.plain, accuracy=FINE)
        if found.proved is None or found.decrease is None or found.floor is None:
            raise SolverFailed(f"no exact certificate was found for {algorithm}")
        proofs = (found.decrease, found.floor)
        return ProvedProgress(step, found.proved, Fraction(0), str(found.potential), proofs, up, down, found.first)

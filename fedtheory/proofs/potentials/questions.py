"""What is asked of a method at one value of an option: some potential that falls by a rate, or a stated one; with exact proofs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.exact import rational
from fedtheory.proofs.certificates.one_round import bound_one_round, program_at_rate
from fedtheory.proofs.certificates.upper_bounds import Certificate
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.potentials.guard import require_decrease
from fedtheory.proofs.potentials.smallest_rate import Potential, rate_of, search_potentials
from fedtheory.proofs.semidefinite import solve as conic

#: how much below 1 a rate is asked for, in units of mu/L, where convergence is all that is asked for
BELOW_ONE = Fraction(1, 1000)
#: what a numerical rate of a stated potential may be above the rate that is asked for, before the proof decides
ABOVE_RATE = 1e-9


@dataclass(frozen=True)
class SolverAnswer:
    """What the solver says at a value: whether a potential exists, and the residual of what shows that none does (None: nothing shows it)."""

    holds: bool
    residual: float | None = None


@dataclass(frozen=True, eq=False)
class PotentialProof:
    """Exact certificates, which the checker has passed, and the potential, or the floor, in words."""

    potential: str
    certificates: tuple[Certificate, ...]


class Question(Protocol):
    """What is asked of a method; a rate at most 1 belongs to it."""

    @property
    def rate(self) -> Fraction:
        """By what factor the potential falls in a round."""
        ...

    @property
    def function_class(self) -> FunctionClass:
        """Over which functions."""
        ...

    @property
    def contradicted_by(self) -> Fraction | None:
        """A run whose squared error is not of the order of this rate's powers (for 1: does not vanish) contradicts it; None where none does."""
        ...

    @property
    def contradicted_on(self) -> FunctionClass:
        """Over which functions such a run does."""
        ...

    def answer(self, algorithm: Algorithm) -> SolverAnswer:
        """What the solver says; CannotTrace and InvalidInput as in `smallest_rate`."""
        ...

    def prove(self, algorithm: Algorithm) -> PotentialProof | None:
        """Exact certificates, or None where none were found."""
        ...

    def __str__(self) -> str:
        """The question in words."""
        ...


@dataclass(frozen=True)
class SomePotential:
    """Whether some potential (`fedtheory.proofs.potentials.smallest_rate`) falls by the rate in every round, for every n >= 2.

    ``convergence``: the rate stands for convergence (`convergence_rate`), which only a run that does not converge contradicts.

    Examples
    --------
    >>> question = SomePotential(FunctionClass(L=1.0, mu=0.1), Fraction(9, 10))
    >>> print(question.answer(GradientDescent(1.0)).holds, question.answer(GradientDescent(0.1)).holds)
    True False
    """

    function_class: FunctionClass
    rate: Fraction
    time_limit: float | None = None
    convergence: bool = False

    @classmethod
    def of_convergence(cls, function_class: FunctionClass, time_limit: float | None = None) -> SomePotential:
        """The question whether the method converges linearly on the class.

        Raises
        ------
        InvalidInput
            As in `convergence_rate`.
        """
        return cls(function_class, convergence_rate(function_class), time_limit, True)

    @property
    def contradicted_by(self) -> Fraction | None:
        """The rate, or 1; with the rate 1 a potential need not vanish, and no run that is looked at contradicts it."""
        return Fraction(1) if self.convergence else self.rate if self.rate < 1 else None

    @property
    def contradicted_on(self) -> FunctionClass:
        """All functions of the class."""
        return self.function_class

    def __post_init__(self) -> None:
        """Refuse rates that are none."""
        require_rate(self.rate)

    def answer(self, algorithm: Algorithm) -> SolverAnswer:
        """One semidefinite program."""
        search = search_potentials(algorithm, self.function_class)
        try:
            found = conic.find_multipliers(
                search.program(float(self.rate)), solvers=("CLARABEL",), time_limit=self.time_limit
            )
        except SolverFailed:
            return SolverAnswer(False)
        return SolverAnswer(True) if isinstance(found, conic.Solution) else SolverAnswer(False, found.residual)

    def prove(self, algorithm: Algorithm) -> PotentialProof | None:
        """Certificates of decrease and floor, held against runs."""
        search = search_potentials(algorithm, self.function_class)
        found = search.prove(self.rate)
        if found is None:
            return None
        potential = Potential.of(search.model.algorithm, search, found[0])
        require_decrease(search.model, potential.at_solution, self.rate)
        return PotentialProof(str(potential), found[1:])

    def __str__(self) -> str:
        return f"E V(after) <= {self.rate} V(before) for some potential V >= ||x - x*||^2"


@dataclass(frozen=True, eq=False)
class StatedPotential:
    """Whether  V = sum_f weights[f] mean_i ||error of field f||^2  falls by the rate in every round, for every n >= 2.

    Examples
    --------
    >>> question = StatedPotential(FunctionClass(L=1.0, mu=0.1), Fraction(9, 10), {"x": 1.0})
    >>> print(question)
    E V(after) <= 9/10 V(before) for V = 1 mean||x||^2
    """

    function_class: FunctionClass
    rate: Fraction
    weights: Mapping[str, float]
    time_limit: float | None = None

    def __post_init__(self) -> None:
        """Refuse rates that are none, and weights of what is no potential."""
        require_rate(self.rate)
        if wrong := {name: weight for name, weight in self.weights.items() if not weight >= 0}:
            raise InvalidInput(f"the weights of a potential must not be negative, got {wrong}")

    @property
    def contradicted_by(self) -> Fraction | None:
        """The rate, where V bounds the error of x and the rate is below 1."""
        return self.rate if self.weights.get("x", 0) > 0 and self.rate < 1 else None

    @property
    def contradicted_on(self) -> FunctionClass:
        """All functions of the class."""
        return self.function_class

    def answer(self, algorithm: Algorithm) -> SolverAnswer:
        """The exact rate, as a number, against the one that is asked for; a numerical rate above it shows nothing exactly."""
        try:
            found = rate_of(algorithm, self.function_class, self.weights, time_limit=self.time_limit)
        except SolverFailed:
            return SolverAnswer(False)
        return SolverAnswer(float(found) <= float(self.rate) + ABOVE_RATE)

    def prove(self, algorithm: Algorithm) -> PotentialProof | None:
        """The certificate of the potential's decrease."""
        exact = dict(rational(tuple(self.weights.items())))
        search = search_potentials(algorithm, self.function_class)
        try:
            proved, certificate = search.prove_rate_of({f"field {name}": weight for name, weight in exact.items()})
        except SolverFailed:
            return None
        return PotentialProof(self._shown(), (certificate,)) if proved <= self.rate else None

    def _shown(self) -> str:
        return " + ".join(f"{weight:g} mean||{name}||^2" for name, weight in self.weights.items())

    def __str__(self) -> str:
        return f"E V(after) <= {self.rate} V(before) for V = {self._shown()}"


@dataclass(frozen=True)
class ComesToFloor:
    """Whether  E ||x^+ - x*||^2 <= rate ||x - x*||^2 + C zeta^2  for some C, where zeta^2 is the mean of ||grad f_i(x*)||^2, for every n >= 2.

    It is asked of a method whose state is x alone. With ``convergence`` the rate stands for any below 1: errors then fall linearly to the floor
    C zeta^2/(1 - rate). Clients with zeta = 0 have their minimiser in common, and are to converge to it.

    Examples
    --------
    >>> question = ComesToFloor(FunctionClass(L=1.0, mu=0.1), Fraction(99, 100))
    >>> print(question.answer(FedAvg(GradientSteps(4, 1.0))).holds, question.answer(FedAvg(GradientSteps(4, 2.5))).holds)
    True False
    """

    function_class: FunctionClass
    rate: Fraction
    time_limit: float | None = None
    convergence: bool = False

    def __post_init__(self) -> None:
        """Refuse rates that leave no floor."""
        require_rate(self.rate)
        if self.rate == 1:
            raise InvalidInput(
                "with the rate 1 errors may grow without end where clients differ; ask for a rate below 1"
            )

    @property
    def contradicted_by(self) -> Fraction:
        """The rate, or 1."""
        return Fraction(1) if self.convergence else self.rate

    @property
    def contradicted_on(self) -> FunctionClass:
        """Clients with their minimiser in common."""
        return replace(self.function_class, zeta=0)

    @property
    def _asked(self) -> FunctionClass:
        """The class with zeta = L, which is 1 in units in which the distance and L are: C does not depend on zeta."""
        return replace(self.function_class, zeta=self.function_class.L)

    def answer(self, algorithm: Algorithm) -> SolverAnswer:
        """One semidefinite program."""
        program = program_at_rate(algorithm, self._asked, self.rate, self.time_limit)
        try:
            found = conic.find_multipliers(program, solvers=("CLARABEL",), time_limit=self.time_limit)
        except SolverFailed:
            return SolverAnswer(False)
        return SolverAnswer(True) if isinstance(found, conic.Solution) else SolverAnswer(False, found.residual)

    def prove(self, algorithm: Algorithm) -> PotentialProof | None:
        """The certificate of a round with zeta = L: rounds are linear, so that what it adds to the factor is of the order of zeta^2."""
        asked = self._asked
        try:
            found = bound_one_round(algorithm, asked, time_limit=self.time_limit, rate=self.rate)
        except SolverFailed:
            return None
        if found.rate > self.rate:
            return None
        size = found.offset / Fraction(rational(asked.zeta)) ** 2
        return PotentialProof(
            f"C = {float(size):.4g}: the floor is {float(size / (1 - self.rate)):.4g} zeta^2", (found.certificate,)
        )

    def __str__(self) -> str:
        return f"E ||x^+ - x*||^2 <= {self.rate} ||x - x*||^2 + C zeta^2 for some C"


def require_rate(rate: Fraction) -> None:
    """Refuse a rate outside (0, 1]."""
    if not 0 < rate <= 1:
        raise InvalidInput(f"the rate must lie in (0, 1], got {rate}")


def convergence_rate(function_class: FunctionClass) -> Fraction:
    """1 - mu/(1000 L): the rate that stands for convergence, since whether some rate below 1 exists is no closed condition.

    Raises
    ------
    InvalidInput
        mu is not positive: no potential falls by a factor below 1 over convex functions.
    """
    given = rational(function_class)
    if not given.mu > 0:
        raise InvalidInput(
            f"over {function_class} functions no potential falls by a factor below 1; give mu > 0, or ask for the rate 1, with which it "
            "does not grow"
        )
    return 1 - BELOW_ONE * Fraction(given.mu) / Fraction(given.L)

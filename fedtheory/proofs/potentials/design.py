"""Parameters of a method with a small proved rate, over a class of functions: a search over the rates of potentials, and a proof where it ends.

The search is Nelder and Mead's, over what the solver says; where it ends, parameters are rounded to fractions and the rate there is proved. Exact
instances on the line say from below how good the rate at these parameters can be. Neither says that other parameters are worse: what is found is
the best of those that were tried, and no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import CannotTrace, FedtheoryError, InvalidInput, SolverFailed
from fedtheory.proofs.divergence import find_divergence
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.potentials.largest import KeptAnswers, step_of
from fedtheory.proofs.potentials.smallest_rate import SmallestRate, smallest_rate

#: of the rates that are searched over, and of the one that is proved
SEARCHED, PROVED = Fraction(1, 10**5), Fraction(1, 10**6)
#: what a point without a potential counts as
NONE_THERE = 2.0
#: by what factor the first simplex changes a parameter, and a parameter that starts at 0
FIRST_FACTOR, FIRST_SIZE = 1.5, 0.2
#: how many simplices are begun, each around the best point so far; how many without a gain of that size end the search
MOST_ROUNDS, PATIENCE, LEAST_GAIN = 12, 3, 1e-4
#: to how many digits of a rate it is bounded from below
LOWER_DIGITS = 6

MakeOf = Callable[[Mapping[str, Fraction]], Algorithm]


@dataclass(frozen=True, eq=False)
class Designed:
    """Parameters, the answer at them (`smallest_rate`, with proofs), and a rate below which no proof at these parameters exists.

    ``not_below`` : on an exact instance the squared error does not fall by this rate, or faster; None where no instance was found. ``why_none``
    says why none were tried. ``tried`` : how many parameters the solver was asked about.
    """

    parameters: Mapping[str, Fraction]
    found: SmallestRate
    not_below: Fraction | None
    why_none: str
    tried: int

    @property
    def gap(self) -> float | None:
        """By how much the proved rate may exceed the true one at these parameters; None where it is not known."""
        return (
            None if self.not_below is None or self.found.proved is None else float(self.found.proved - self.not_below)
        )


@dataclass(eq=False)
class Design:
    """A search for parameters with the smallest proved rate.

    Parameters
    ----------
    make : the method, from its parameters by name
    function_class : strongly convex
    time_limit : seconds for one program, optional
    gradients : whether potentials may have the gradients at x among their terms; by default where clients have nothing of their own
    tell : is called with words after every point
    memory : keeps the solver's rates, so that an interrupted search goes on; it goes the same way

    Examples
    --------
    >>> design = Design(lambda free: GradientDescent(free["lr"]), FunctionClass(L=1.0, mu=0.1))
    >>> found = design.search({"lr": 1.5}, most=15)
    >>> print(found.found.proved < Fraction(7, 10), found.found.proved >= Fraction(9, 11) ** 2)
    True True
    """

    make: MakeOf
    function_class: FunctionClass
    time_limit: float | None = None
    gradients: bool | None = None
    tell: Callable[[str], None] = lambda _: None
    memory: KeptAnswers | None = None
    rates: dict[tuple[Fraction, ...], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read what is known."""
        self._kept: dict[str, Any] = {} if self.memory is None else self.memory.read()

    def _ask(self, key: str, find: Callable[[], Any]) -> Any:
        """What is kept under a name, or what is found now, and then kept."""
        if key not in self._kept:
            self._kept[key] = found = find()
            if self.memory is not None:
                self.memory.add(key, found)
            return found
        return self._kept[key]

    def rate(self, parameters: Mapping[str, Fraction]) -> float:
        """The smallest rate of a potential at some parameters, as a solver's number; `NONE_THERE` where there is none."""
        key = tuple(parameters.values())
        if key not in self.rates:
            self.rates[key] = self._ask(" ".join(map(str, key)), lambda: self._find_rate(parameters))
            self.tell(f"{self.rates[key]:.5g}")
        return self.rates[key]

    def _find_rate(self, parameters: Mapping[str, Fraction]) -> float:
        try:
            return min(self._smallest_rate(self.make(parameters), SEARCHED, proof=False).rate, NONE_THERE)
        except (SolverFailed, InvalidInput):  # outside the method's definition
            return NONE_THERE

    def _smallest_rate(self, method: Algorithm, accuracy: Fraction, *, proof: bool = True) -> SmallestRate:
        return smallest_rate(
            method,
            self.function_class,
            gradients=self.gradients,
            accuracy=accuracy,
            proof=proof,
            time_limit=self.time_limit,
        )

    def search(self, start: Mapping[str, float], most: int = 1000) -> Designed:
        """Parameters with a small rate, from some that have one, and the proof at them.

        Raises
        ------
        InvalidInput
            No potential has a rate below 1 at the start.
        SolverFailed
            No certificate was found where the search ended.
        """
        from scipy.optimize import minimize

        names = list(start)
        begun = {name: to_digits(value) for name, value in start.items()}
        if not self.rate(begun) < 1:
            self._require_method(begun)
            shown = ", ".join(f"{name} = {value:g}" for name, value in start.items())
            raise InvalidInput(
                f"at the start, {shown}, no potential has a rate below 1; start from parameters at which one has"
            )
        objective = self._objective(names)
        idle = 0
        for round in range(MOST_ROUNDS):  # rates have kinks, at which one simplex may stop
            left, before = most - len(self.rates), min(self.rates.values())
            if left <= 0:
                break
            point = np.array([float(v) for v in min(self.rates, key=lambda key: self.rates[key])])
            options = {"initial_simplex": _corners(point, round), "maxfev": left, "xatol": 1e-4, "fatol": 1e-6}
            minimize(objective, point, method="Nelder-Mead", options=options)
            idle = idle + 1 if before - min(self.rates.values()) < LEAST_GAIN else 0
            if idle == PATIENCE:
                break
        best = min(self.rates, key=lambda key: self.rates[key])
        return self.prove(dict(zip(names, best, strict=True)))

    def _objective(self, names: Sequence[str]) -> Callable[[NDArray[np.float64]], float]:
        return lambda point: self.rate({name: to_digits(value) for name, value in zip(names, point, strict=True)})

    def _require_method(self, parameters: Mapping[str, Fraction]) -> None:
        """Raise what is wrong with the method itself at the start."""
        self._smallest_rate(self.make(parameters), Fraction(1, 10), proof=False)

    def prove(self, parameters: Mapping[str, Fraction]) -> Designed:
        """The proof at some parameters, and the bound from below at them."""
        method = self.make(parameters)
        found = self._smallest_rate(method, PROVED)
        if found.proved is None:
            raise SolverFailed(f"no exact certificate was found at {dict(parameters)}; start from others")
        lower, why = self._not_below(method, found.proved)
        return Designed(parameters, found, lower, why, len(self.rates))

    def _not_below(self, method: Algorithm, proved: Fraction) -> tuple[Fraction | None, str]:
        """The largest rate, to some digits, that an exact instance contradicts."""
        scale = 10**LOWER_DIGITS
        low, high = 0, math.ceil(proved * scale)
        try:
            while high - low > 1:
                middle = (low + high) // 2
                contradicted = find_divergence(method, self.function_class, Fraction(middle, scale)) is not None
                low, high = (middle, high) if contradicted else (low, middle)
        except (CannotTrace, InvalidInput, ArithmeticError, TypeError) as error:
            return None, str(error)
        return (Fraction(low, scale), "") if low else (None, "no instance that is tried contradicts any rate")

    def map(self, values: Mapping[str, Sequence[float]]) -> tuple[list[list[float]], list[tuple[int, int]]]:
        """Rates over two parameters, rows for the second, and where they are proved; infinite where there is no potential."""
        (first, across), (second, up) = values.items()
        rates, proved = [[math.inf] * len(across) for _ in up], []
        for i, y in enumerate(up):
            for j, x in enumerate(across):
                parameters = {first: to_digits(x), second: to_digits(y)}
                key = f"map {parameters[first]} {parameters[second]}"
                rate, is_proved = self._ask(key, lambda parameters=parameters: self._find_cell(parameters))  # type: ignore[misc]
                self.tell("")
                rates[i][j] = rate if rate < 1 else math.inf
                if is_proved and rate < 1:
                    proved.append((i, j))
        return rates, proved

    def _find_cell(self, parameters: Mapping[str, Fraction]) -> tuple[float, bool]:
        """A rate, and whether it is proved; `NONE_THERE` where there is none."""
        try:
            found = self._smallest_rate(self.make(parameters), Fraction(1, 1000))
        except FedtheoryError:
            return NONE_THERE, False
        return min(found.rate, NONE_THERE), found.proved is not None


def to_digits(value: float) -> Fraction:
    """A number as a fraction of five digits."""
    if value == 0:
        return Fraction(0)
    unit = step_of(Fraction(abs(value))) / 10
    return Fraction(round(Fraction(value) / unit)) * unit


def _corners(point: NDArray[np.float64], round: int) -> NDArray[np.float64]:
    """A simplex around a point: larger parameters at first, then in turn smaller and larger ones, and in other proportions."""
    found, rng = [point], np.random.default_rng(round)
    for k, value in enumerate(point):
        moved = point.copy()
        if round == 0:
            moved[k] = value * FIRST_FACTOR if value else FIRST_SIZE
        else:
            sizes = np.where(point == 0, FIRST_SIZE, np.abs(point))
            moved = point + 0.3 * rng.standard_normal(len(point)) * sizes
        found.append(moved)
    return np.array(found)

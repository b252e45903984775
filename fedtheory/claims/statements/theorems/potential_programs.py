"""The semidefinite program of a potential at one point of the region: coefficients of its weights, and multipliers for start, steps and ends."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.statements.theorems.claimed_bounds import OF_NOISE, ClaimedBound
from fedtheory.claims.statements.theorems.quantities import expect_quantity
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.states import StateTrace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.semidefinite.program import Matrix

#: rounds in which a step and the end are looked at beside the first
STEPS, ENDS = (0, 1, 2, 3, 4, 5, 11, 40, 1000), (0, 1, 2, 5, 29, 10**4)
#: by how much, in units, a matrix may miss being positive semidefinite, and how large a coefficient may be
MISSED, LARGEST = 1e-6, 100.0
#: by how much it may where the room for a coefficient is looked for, one after the other where a solver finds none
ROOMS = (MISSED / 10, MISSED, 10 * MISSED)

WeightPlace = tuple[str, int]  # of a coefficient: its quantity and the power of k
StateFactors = Mapping[tuple[str, int], float]  # factors of quantities of states


@dataclass(frozen=True)
class Shape:
    """Where a potential is looked for: from the round ``begin`` on, with weights of some degree.

    ``ahead``: of a bound of some round, whether a step pays for the round after it (1) or its own (0).
    """

    begin: int
    degree: int
    ahead: int = 0


class PotentialProgram:
    """The program at one point.

    Parameters
    ----------
    places : the coefficients, in their order
    """

    def __init__(
        self,
        theorem: Theorem,
        bound: ClaimedBound,
        shape: Shape,
        places: Sequence[WeightPlace],
        point: Mapping[str, Fraction],
    ) -> None:
        import cvxpy as cp

        self.theorem, self.bound, self.shape, self.point = theorem, bound, shape, dict(point)
        self.places = {place: k for k, place in enumerate(places)}
        count = len(self.places)
        self.coefficients, self.slack = cp.Variable(count), cp.Variable(nonneg=True)
        self._fix, self._to = cp.Parameter(count, nonneg=True), cp.Parameter(count)
        self._weight, self._most = cp.Parameter(count), cp.Parameter(nonneg=True)
        conditions = [cp.multiply(self._fix, self.coefficients) == self._to]
        conditions += [self.coefficients[k] >= 0 for (name, _), k in self.places.items() if name in bound.related]
        self._start(conditions)
        if bound.of_number:
            self._numbered_rounds(conditions)
        else:
            self._alike_rounds(conditions)
        self._feasible = cp.Problem(cp.Minimize(self.slack), conditions)
        within = [*conditions, self.slack <= self._most, cp.abs(self.coefficients) <= LARGEST]
        self._smallest = cp.Problem(cp.Minimize(self._weight @ self.coefficients), within)

    def missed(self, fixed: Mapping[WeightPlace, float]) -> float:
        """By how much the conditions are missed where some coefficients have these values."""
        self._set(fixed)
        return self._solve(self._feasible)

    def room(self, place: WeightPlace, fixed: Mapping[WeightPlace, float]) -> tuple[float, float] | None:
        """Between which values one coefficient may lie, where others have these values."""
        self._set(fixed)
        for most in ROOMS:
            self._most.value = most
            ends = []
            for sign in (1, -1):
                self._weight.value = sign * np.eye(len(self.places))[self.places[place]]
                ends.append(sign * self._solve(self._smallest))
            if np.all(np.isfinite(ends)):
                return ends[0], ends[1]
        return None

    def _set(self, fixed: Mapping[WeightPlace, float]) -> None:
        chosen = np.zeros((2, len(self.places)))
        for place, value in fixed.items():
            chosen[:, self.places[place]] = 1.0, value
        self._fix.value, self._to.value = chosen

    def _solve(self, problem: Any) -> float:
        import cvxpy as cp

        try:
            with warnings.catch_warnings():  # of inaccurate solutions: whatever is proposed is proved, or is not
                warnings.simplefilter("ignore")
                problem.solve(solver=cp.CLARABEL)
        except (cp.error.SolverError, ValueError):
            return math.inf
        return math.inf if problem.value is None else float(problem.value)

    def _trace(self, last: int, *, number: int, start: bool = False) -> _Numbers:
        states = self.theorem.states
        assert states is not None
        trace = states.trace(self.point, self.theorem.parameters, last, start=start, number=number)
        return _Numbers.of(self.theorem, trace, self.point)

    def _start(self, conditions: list[Any]) -> None:
        """V in the first round is at most what is claimed of the start, which has fallen so far."""
        if not self.bound.start:
            return
        begin = self.shape.begin
        fallen = 1.0 if self.bound.rate is None else self._value(self.bound.rate) ** begin
        start = {(name, 0): -fallen * self._value(r) for name, r in self.bound.start.items()}
        self._require(conditions, self._trace(begin, number=0, start=True), {begin: (begin, 1.0)}, start)

    def _numbered_rounds(self, conditions: list[Any]) -> None:
        """V does not rise, and is at least the measure, in some rounds."""
        begin, least = self.shape.begin, self.bound.least
        numbered = self.theorem.states.is_numbered(self.theorem.parameters)  # type: ignore[union-attr]
        any_step = None if numbered else self._trace(1, number=begin)
        any_end = None if numbered else self._trace(0, number=begin)
        for later in STEPS:
            k = begin + later
            self._require(conditions, any_step or self._trace(1, number=k), {0: (k, -1.0), 1: (k + 1, 1.0)}, {})
        for later in ENDS:
            k = max(begin, least) + later
            at = {**self.point, self.bound.variable: Fraction(k)}
            measure = {(name, 0): number_at(e, at) for name, e in self.bound.measure.items()}
            self._require(conditions, any_end or self._trace(0, number=k), {0: (k, -1.0)}, measure)

    def _alike_rounds(self, conditions: list[Any]) -> None:
        """V falls by the rate, or by the measure, but for what is paid; and is at least the measure, or what is kept of the last round."""
        rate = 1.0 if self.bound.rate is None else self._value(self.bound.rate)
        measure = {name: self._value(e) for name, e in self.bound.measure.items()}
        known = {at: self._value(e) for at, e in self.bound.step.items()}
        known |= {(name, 0): -self._value(e) for name, e in self.bound.paid.items()}
        known |= {(name, self.shape.ahead): e for name, e in measure.items()} if self.bound.some else {}
        kept = {name: self._value(e) for name, e in self.bound.some.kept.items()} if self.bound.some else measure
        end = {(name, 0): e for name, e in kept.items()}
        numbered = self.theorem.states.is_numbered(self.theorem.parameters)  # type: ignore[union-attr]
        for later in STEPS if numbered else (0,):
            k = self.shape.begin + later
            self._require(conditions, self._trace(1, number=k), {0: (0, -rate), 1: (0, 1.0)}, known, step=True)
            self._require(conditions, self._trace(0, number=k), {0: (0, -1.0)}, end, self.bound.above_zero)

    def _value(self, quotient: Quotient) -> float:
        return number_at(quotient, self.point)

    def _require(
        self,
        conditions: list[Any],
        numbers: _Numbers,
        potentials: Mapping[int, tuple[int, float]],
        known: StateFactors,
        above_zero: Iterable[str] = (),
        step: bool = False,
    ) -> None:
        """Multipliers prove that potentials, of states with their rounds and factors, and known multiples of quantities sum to at most zero.

        ``above_zero``: quantities that are so in the first of the states; ``step``: multiples of what is given of two states are left.
        """
        import cvxpy as cp

        given = [-numbers.forms[name, 0][None] for name in above_zero]
        numbers = replace(numbers, rows=np.vstack([numbers.rows, *given])) if given else numbers

        largest = max(k for k, _ in potentials.values())
        scale = 1.0 / (1 + largest) ** self.shape.degree
        columns = []
        for name, power in self.places:
            column = np.zeros(numbers.width)
            if (related := self.bound.related.get(name)) is not None:
                for quantity, share in related.factors.items() if step else ():
                    column -= self._value(share) * numbers.forms[quantity, related.later]
            else:
                for state, (k, factor) in potentials.items():
                    column += factor * scale * float(k) ** power * numbers.forms[name, state]
            columns.append(column)
        fixed = np.zeros(numbers.width)
        for at_state, value in known.items():
            fixed += scale * value * numbers.form(at_state)
        multipliers = cp.Variable(max(len(numbers.rows), 1), nonneg=True)
        rows = numbers.rows.T if len(numbers.rows) else np.zeros((numbers.width, 1))
        left = rows @ multipliers - np.array(columns).T @ self.coefficients - fixed
        at = 0
        for size in numbers.sizes:
            block = cp.reshape(left[at : at + size * size], (size, size), order="C")
            conditions.append((block + block.T) / 2 + self.slack * np.eye(size) >> 0)
            at += size * size
        if at < numbers.width - 1:
            conditions.append(left[at:-1] == 0)
        conditions.append(left[-1] >= 0)


@dataclass(frozen=True)
class _Numbers:
    """Rows and quantities of some states as vectors of floats: the Gram matrices' entries, values, and a constant; ``sizes`` of the matrices."""

    sizes: tuple[int, ...]
    rows: Matrix
    forms: Mapping[tuple[str, int], Matrix]
    width: int

    def form(self, at: tuple[str, int]) -> Matrix:
        """A quantity of a state, or the number one."""
        return np.eye(self.width)[-1] if at[0] == OF_NOISE else self.forms[at]

    @classmethod
    def of(cls, theorem: Theorem, trace: StateTrace, point: Mapping[str, Fraction]) -> _Numbers:
        """Those of a trace."""
        forms = {
            (name, k): expect_quantity(text, trace.space, outcomes, point, theorem.formulas, Form())
            for k, outcomes in enumerate(trace.states)
            for name, text in theorem.quantities.items()
        }
        system = trace.system(Form())
        sizes = tuple(size for size in system.sizes if size)
        width = sum(size * size for size in sizes) + system.values + 1
        rows = np.array([_dense(system, row) for _, row in system.rows]).reshape(-1, width)
        return cls(sizes, rows, {at: _dense(system, form) for at, form in forms.items()}, width)


def _dense(system: System, form: Form) -> Matrix:
    """A form as a vector."""
    s, q, constant = system.matrices(form)
    values = np.zeros(system.values + 1)
    values[-1] = float(constant)
    for t, value in form.values.items():
        values[t] = float(value)
    return np.concatenate([*(np.array(m, float).ravel() for m in (s, q) if m), values])


def number_at(quotient: Quotient, numbers: Mapping[str, Fraction]) -> float:
    """A formula in parameters and rounds at a point."""
    return float(Sides(numbers, _no_quantity, {}).value(read(quotient.text())))


def _no_quantity(name: str, k: int) -> Any:
    raise TypeError(name)

"""The semidefinite program of a potential at one point of the region: coefficients of its weights, and multipliers for start, steps and ends."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.statements.theorems.claimed_bounds import OF_NOISE, ClaimedBound
from fedtheory.claims.statements.theorems.quantities import expect_quantity
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.states import StateTrace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import CannotTrace, SolverFailed
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.semidefinite.program import Matrix, Program
from fedtheory.proofs.semidefinite.solvers import solve_with_clarabel

#: rounds in which a step and the end are looked at beside the first
STEPS, ENDS = (0, 1, 2, 3, 4, 5, 11, 40, 1000), (0, 1, 2, 5, 29, 10**4)
#: by how much, in units, a matrix may miss being positive semidefinite, and how large a coefficient may be
MISSED, LARGEST = 1e-6, 100.0
#: by how much it may where the room for a coefficient is looked for, one after the other where a solver finds none
ROOMS = (MISSED / 10, MISSED, 10 * MISSED)

#: how accurate a solver's answer should be, and what it calls one
ACCURACY, SOLVED = 1e-8, ("Solved", "AlmostSolved")

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


@dataclass(frozen=True)
class _Requirement:
    """That the theorem's rows times their multipliers, less the coefficients' columns and what is fixed, leave nothing negative.

    All are vectors: the Gram matrices' entries, factors of values of functions, which must vanish, and a constant.
    """

    sizes: tuple[int, ...]
    rows: Matrix
    columns: Matrix
    fixed: Matrix

    @property
    def unit(self) -> Matrix:
        """The identity in each Gram matrix."""
        return np.concatenate([*(np.eye(size).ravel() for size in self.sizes), np.zeros(self._values + 1)])

    @property
    def _values(self) -> int:
        return len(self.fixed) - 1 - sum(size * size for size in self.sizes)

    def values(self, vectors: Matrix) -> Matrix:
        """The factors of values of functions."""
        return vectors[..., -1 - self._values : -1]

    def blocks(self, vectors: Matrix) -> list[Matrix]:
        """The Gram matrices, made symmetric, and the constant as one of size 1."""
        ends = np.cumsum([size * size for size in self.sizes])
        parts = np.split(vectors[..., : len(self.fixed) - 1 - self._values], ends[:-1], axis=-1) if self.sizes else []
        squares = [v.reshape(*v.shape[:-1], size, size) for v, size in zip(parts, self.sizes, strict=True)]
        return [*((m + np.swapaxes(m, -1, -2)) / 2 for m in squares), vectors[..., -1, None, None]]


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
        self.theorem, self.bound, self.shape, self.point = theorem, bound, shape, dict(point)
        self.places = {place: k for k, place in enumerate(places)}
        signs = np.kron(np.eye(len(self.places)), [[1.0], [-1.0]])
        self._limits = [_Requirement((), np.zeros((0, 1)), sign[:, None], np.full(1, -LARGEST)) for sign in signs]
        self._required: list[_Requirement] = []
        self._start()
        if bound.of_number:
            self._numbered_rounds()
        else:
            self._alike_rounds()

    def missed(self, fixed: Mapping[WeightPlace, float]) -> float:
        """By how much the conditions are missed where some coefficients have these values."""
        return self._solve(self._program(fixed, np.zeros(len(self.places)), None))

    def room(self, place: WeightPlace, fixed: Mapping[WeightPlace, float]) -> tuple[float, float] | None:
        """Between which values one coefficient may lie, where others have these values."""
        weight = np.eye(len(self.places))[self.places[place]]
        for most in ROOMS:
            low, high = (sign * self._solve(self._program(fixed, sign * weight, most)) for sign in (1, -1))
            if math.isfinite(low) and math.isfinite(high):
                return low, high
        return None

    def _program(self, fixed: Mapping[WeightPlace, float], weight: Matrix, slack: float | None) -> Program:
        """The least weighted sum of the coefficients that are left, none of them too large; the least slack where that has no value.

        The multipliers of its rows are coefficients of any sign, those that are not negative, the slack, and the theorem's multipliers.
        """
        own = sorted((k for place, k in self.places.items() if place not in fixed), key=self._is_multiplier)
        at = np.array([fixed.get(place, 0.0) for place in self.places])
        required = self._required if slack is None else self._required + self._limits
        first = len(own) + (slack is None)
        total = first + sum(len(r.rows) for r in required)
        blocks, known_blocks, values, known_values = [], [], [], []
        begin = first
        for r in required:
            vectors, end = np.zeros((total, len(r.fixed))), begin + len(r.rows)
            vectors[: len(own)], vectors[len(own) : first], vectors[begin:end] = -r.columns[own], r.unit, r.rows
            known = at @ r.columns + r.fixed - (slack or 0.0) * r.unit
            blocks += r.blocks(vectors)
            known_blocks += r.blocks(known)
            values.append(r.values(vectors))
            known_values.append(r.values(known))
            begin = end
        return Program(
            tuple(block.shape[-1] for block in blocks),
            tuple(known_blocks),
            np.concatenate(known_values),
            tuple(blocks),
            np.concatenate(values, axis=1),
            np.concatenate([weight[own], np.ones(first - len(own)), np.zeros(total - first)]),
            equations=sum(not self._is_multiplier(k) for k in own),
        )

    def _is_multiplier(self, k: int) -> bool:
        """Whether a coefficient is the multiplier of a hypothesis."""
        return list(self.places)[k][0] in self.bound.related

    def _solve(self, program: Program) -> float:
        """The least value; infinite where the solver finds none. Whatever is proposed is proved, or is not: an inaccurate value will do."""
        try:
            _, multipliers, status = solve_with_clarabel(program, None, accuracy=ACCURACY)
        except SolverFailed:
            return math.inf
        return float(program.bounds @ multipliers) if status in SOLVED else math.inf

    def _trace(self, last: int, *, number: int, start: bool = False) -> _Numbers:
        trace = follow(self.theorem, self.point, last, number, start=start)
        return _Numbers.of(self.theorem, trace, self.point)

    def _start(self) -> None:
        """V in the first round is at most what is claimed of the start, which has fallen so far."""
        if not self.bound.start:
            return
        begin = self.shape.begin
        fallen = 1.0 if self.bound.rate is None else self._value(self.bound.rate) ** begin
        start = {(name, 0): -fallen * self._value(r) for name, r in self.bound.start.items()}
        self._require(self._trace(begin, number=0, start=True), {begin: (begin, 1.0)}, start)

    def _numbered_rounds(self) -> None:
        """V does not rise, and is at least the measure, in some rounds."""
        begin, least = self.shape.begin, self.bound.least
        numbered = self.theorem.states.is_numbered(self.theorem.parameters)  # type: ignore[union-attr]
        any_step = None if numbered else self._trace(1, number=begin)
        any_end = None if numbered else self._trace(0, number=begin)
        for later in STEPS:
            k = begin + later
            self._require(any_step or self._trace(1, number=k), {0: (k, -1.0), 1: (k + 1, 1.0)}, {})
        for later in ENDS:
            k = max(begin, least) + later
            at = {**self.point, self.bound.variable: Fraction(k)}
            measure = {(name, 0): number_at(e, at) for name, e in self.bound.measure.items()}
            self._require(any_end or self._trace(0, number=k), {0: (k, -1.0)}, measure)

    def _alike_rounds(self) -> None:
        """V falls by the rate, or by the measure, but for what is paid; and is at least the measure, or what is kept of the last round."""
        rate = 1.0 if self.bound.rate is None else self._value(self.bound.rate)
        measure = {name: self._value(e) for name, e in self.bound.measure.items()}
        known = {at: self._value(e) for at, e in self.bound.step.items()}
        for name, e in self.bound.paid.items():
            if name == OF_NOISE:
                known[name, 0] = -self._value(e)
            elif name in self.bound.given:
                for quantity, factor in self.bound.given[name].factors.items():
                    known[quantity, 0] = known.get((quantity, 0), 0.0) - self._value(e * factor)
        for name, value in measure.items() if self.bound.some else ():
            known[name, self.shape.ahead] = known.get((name, self.shape.ahead), 0.0) + value
        kept = {name: self._value(e) for name, e in self.bound.some.kept.items()} if self.bound.some else measure
        end = {(name, 0): e for name, e in kept.items()}
        for name in sorted(
            self.bound.paid.keys() & self.bound.related
        ):  # at most that multiple of its number may be paid
            column = np.eye(len(self.places))[self.places[name, 0]][:, None]
            most = np.full(1, -self._value(self.bound.paid[name]))
            self._required.append(_Requirement((), np.zeros((0, 1)), column, most))
        numbered = self.theorem.states.is_numbered(self.theorem.parameters)  # type: ignore[union-attr]
        for later in STEPS if numbered else (0,):
            k = self.shape.begin + later
            self._require(self._trace(1, number=k), {0: (0, -rate), 1: (0, 1.0)}, known, step=True)
            self._require(self._trace(0, number=k), {0: (0, -1.0)}, end, self.bound.above_zero)

    def _value(self, quotient: Quotient) -> float:
        return number_at(quotient, self.point)

    def _require(
        self,
        numbers: _Numbers,
        potentials: Mapping[int, tuple[int, float]],
        known: StateFactors,
        above_zero: Iterable[str] = (),
        step: bool = False,
    ) -> None:
        """Multipliers prove that potentials, of states with their rounds and factors, and known multiples of quantities sum to at most zero.

        ``above_zero``: quantities that are so in the first of the states; ``step``: multiples of what is given of two states are left.
        """
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
        self._required.append(
            _Requirement(numbers.sizes, numbers.rows, np.array(columns).reshape(-1, numbers.width), fixed)
        )


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
        forms = {(name, k): f for k in range(len(trace.states)) for name, f in evaluate_all(theorem, trace, k, point)}
        system = trace.system(Form())
        sizes = tuple(size for size in system.sizes if size)
        width = sum(size * size for size in sizes) + system.values + 1
        rows = np.array([_dense(system, row) for _, row in system.rows]).reshape(-1, width)
        return cls(sizes, rows, {at: _dense(system, form) for at, form in forms.items()}, width)


def follow(theorem: Theorem, point: Mapping[str, Any], last: int, number: int, *, start: bool = False) -> StateTrace:
    """Any state of a theorem, or the first, and the ``last`` ones after it."""
    assert theorem.states is not None
    return theorem.states.trace(point, theorem.parameters, last, start=start, number=number)


def evaluate_all(theorem: Theorem, trace: StateTrace, k: int, point: Mapping[str, Any]) -> Iterator[tuple[str, Form]]:
    """The quantities of a state; of one that chance decides those that can be followed."""
    for name, text in theorem.quantities.items():
        with contextlib.suppress(CannotTrace):
            yield name, expect_quantity(text, trace.space, trace.states[k], point, theorem.formulas, Form())


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

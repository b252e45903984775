"""A proof by a potential, looked for: V_k = sum_j w_j(k) q_j[k], whose weights are polynomials in the round k, and which no round raises.

A claim  sum_j e_j(N) q_j[N] <= sum_j r_j q_j[0]  follows where V_k is at most its right side in the first round, V_{k+1} <= V_k in every round, and
V_N is at least its left side. At one point of the region and a few rounds these are linear matrix inequalities in the coefficients of the weights and
in the multipliers of the classes' inequalities, so that a semidefinite program finds coefficients. Each is taken as the simplest fraction that those
before it leave room for, times powers of the parameters. They are written as a script of lines, which is proved, or is not, as any other script.
"""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.claims.statements.theorems.quantities import expect_quantity
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.states import StateTrace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.checker.algebra import Quotient, write_index
from fedtheory.proofs.checker.formulas import Unreadable, names, read
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.checker.terms import Checker, Signature
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.semidefinite.program import Matrix

#: degrees of the weights, and rounds in which a step and the end are looked at beside the first
DEGREES, STEPS, ENDS = (1, 2), (0, 1, 2, 3, 4, 5, 11, 40, 1000), (0, 1, 2, 5, 29, 10**4)
#: by how much, in units, a matrix may miss being positive semidefinite; how near to the room for it a coefficient must be, and how large it may be
MISSED, NEAR, LARGEST = 1e-6, 2e-3, 100.0
#: powers of parameters, and the factor that shows them
POWERS, MOVED = (0, 1, -1, 2, -2, 3, -3), Fraction(8)


def find_potentials(theorem: Theorem) -> Iterator[Theorem]:
    """The theorem with scripts that may prove it, the simplest first; none where its claim is no bound of round N by the start."""
    try:
        bound = _read_bound(theorem)
        first = 0 if bound is None else theorem.states.first_round(theorem.parameters)  # type: ignore[union-attr]
    except (FedtheoryError, TermRefused, Unreadable):
        return
    if bound is None:
        return
    for degree in DEGREES:
        for begin in range(first, min(first + 1, bound.least) + 1):
            try:
                weights = _Search(theorem, bound, begin, degree).find_weights()
            except FedtheoryError:  # rounds, or quantities, of which there are no numbers
                return
            if weights is not None:
                yield _write(theorem, bound, begin, weights)


# ---- what is claimed -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bound:
    """sum_j measure_j(N) q_j[N] <= sum_j start_j q_j[0]; ``hypothesis``: by which a number on the right side is one of a start."""

    variable: str
    least: int
    measure: Mapping[str, Quotient]
    start: Mapping[str, Quotient]
    hypothesis: str


def _read_bound(theorem: Theorem) -> _Bound | None:
    """The claim as a bound of round N by the start, over the coefficient of the start's first quantity; None where it is something else."""
    if theorem.states is None or theorem.sequences or any(p.integer for p in theorem.parameters.parameters):
        return None
    if len(theorem.sentences) != 1 or len(theorem.rounds) != 1:
        return None
    (sentence,), ((variable, least),) = theorem.sentences, theorem.rounds.items()
    if sentence.sign != "<=" or sentence.exists is not None or sentence.fixed:
        return None
    checker = Checker(Signature.read(theorem.skeleton()), theorem.claims, {})
    measure, rest = _take(theorem, checker.gap(sentence), write_index({variable: 1}, 0))
    start, rest = _take(theorem, rest, "0")
    if checker.quantities_in(rest) or not measure:
        return None
    hypothesis = ""
    if not rest.zero:
        hypothesis, name, most = next(_list_bounded(theorem, checker), ("", "", rest))
        start = {**start, name: rest / most}
    if not start or "" in start:
        return None
    unit = next(iter(start.values()))
    over = {name: factor / unit for name, factor in start.items()}
    if any(variable in factor.atoms for factor in over.values()):
        return None
    return _Bound(variable, least, {name: -factor / unit for name, factor in measure.items()}, over, hypothesis)


def _take(theorem: Theorem, rest: Quotient, index: str) -> tuple[dict[str, Quotient], Quotient]:
    """The factors of quantities of one round, and what is left."""
    found = {}
    for name in theorem.quantities:
        parts = rest.linear_in(f"{name}[{index}]")
        if parts is None:
            raise Unreadable(f"{name} does not occur linearly")
        rest, factor = parts
        if not factor.zero:
            found[name] = factor
    return found, rest


def _list_bounded(theorem: Theorem, checker: Checker) -> Iterator[tuple[str, str, Quotient]]:
    """Hypotheses such as ``dist2[0] <= R**2``: name, quantity and what it is at most; by these c is c/R**2 times the quantity of the start."""
    for hypothesis, said in theorem.hypotheses.items():
        spoken, most = _take(theorem, checker.gap(said), "0") if said.sign == "<=" else ({}, Quotient.number(0))
        if not checker.quantities_in(most) and list(spoken.values()) == [Quotient.number(-1)]:
            yield hypothesis, next(iter(spoken)), most


# ---- coefficients, at one point ----------------------------------------------------------------------------------------

_Place = tuple[str, int]  # of a coefficient: its quantity and the power of k
_Weights = Mapping[_Place, tuple[Fraction, Mapping[str, int]]]


@dataclass
class _Search:
    """Weights of some degree from the round ``begin`` on."""

    theorem: Theorem
    bound: _Bound
    begin: int
    degree: int

    @cached_property
    def places(self) -> list[_Place]:
        """The coefficients, those of high powers first."""
        return [
            (name, power) for power in range(self.degree, -1, -1) for name in reversed(list(self.theorem.quantities))
        ]

    def find_weights(self) -> _Weights | None:
        """The coefficients that are not zero: a fraction and powers of the parameters.

        Each is the simplest number that those before it leave room for.
        """
        here = dict(self.theorem.parameters.simple_points(1)[0])
        program, fixed, found = _Program(self, here), dict[_Place, float](), dict[_Place, Fraction]()
        if program.missed(fixed) > MISSED:
            return None
        for place in self.places:
            room = program.room(place, fixed)
            if room is None:
                return None
            near = (v for v in _list_simple(*room) if program.missed({**fixed, place: float(v)}) <= MISSED)
            chosen = next(near, None)
            if chosen is None:
                return None
            found[place], fixed[place] = chosen, float(chosen)
        powers = self._powers(here, found)
        if powers is None:
            return None
        units = {place: math.prod(here[name] ** power for name, power in own.items()) for place, own in powers.items()}
        return {place: (found[place] / units[place], own) for place, own in powers.items()}

    def _powers(
        self, here: Mapping[str, Fraction], found: Mapping[_Place, Fraction]
    ) -> dict[_Place, dict[str, int]] | None:
        """With which power of each parameter each coefficient grows that is not zero."""
        powers: dict[_Place, dict[str, int]] = {place: {} for place, value in found.items() if value}
        for name in self.theorem.parameters.names:
            moves = ({**here, name: here[name] * factor} for factor in (MOVED, 1 / MOVED))
            there = next((point for point in moves if self.theorem.parameters.inside(point)), None)
            if there is None:
                return None
            program, fixed = _Program(self, there), {place: 0.0 for place, value in found.items() if not value}
            for place, own in powers.items():
                room = program.room(place, fixed)
                values = {power: float(found[place] * (there[name] / here[name]) ** power) for power in POWERS}
                inside = [p for p in POWERS if room and _is_near(values[p], room)]
                if not inside:
                    return None
                own[name], fixed[place] = inside[0], values[inside[0]]
        return {place: {name: power for name, power in own.items() if power} for place, own in powers.items()}


def _is_near(value: float, room: tuple[float, float]) -> bool:
    allowed = NEAR * abs(value)
    return room[0] - allowed <= value <= room[1] + allowed


def _list_simple(low: float, high: float) -> Iterator[Fraction]:
    """Fractions in an interval or near its ends, those of small denominators first and of these the nearest to zero, up to one well inside of it.

    A solver may put the ends in the other order; one of them is near then.
    """
    low, high = min(low, high), max(low, high)
    near = NEAR * max(1.0, abs(low), abs(high))
    inner = (low + (high - low) / 10, high - (high - low) / 10) if high - low > near else (low - near, high + near)
    for below in range(1, math.ceil(1 / NEAR) + 1):
        for above in sorted(range(math.ceil((low - near) * below), math.floor((high + near) * below) + 1), key=abs):
            if math.gcd(above, below) == 1:
                yield Fraction(above, below)
                if inner[0] <= above / below <= inner[1]:
                    return


class _Program:
    """The semidefinite program at one point: coefficients of the weights, and multipliers for the start, the steps and the ends."""

    def __init__(self, search: _Search, point: Mapping[str, Fraction]) -> None:
        import cvxpy as cp

        self.search, self.point = search, dict(point)
        self.places = {place: k for k, place in enumerate(search.places)}
        count = len(self.places)
        self.coefficients, self.slack = cp.Variable(count), cp.Variable(nonneg=True)
        self._fix, self._to = cp.Parameter(count, nonneg=True), cp.Parameter(count)
        self._weight, self._most = cp.Parameter(count), cp.Parameter(nonneg=True)
        conditions = [cp.multiply(self._fix, self.coefficients) == self._to]
        begin, least = search.begin, search.bound.least
        self._start(conditions)
        numbered = search.theorem.states.is_numbered(search.theorem.parameters)  # type: ignore[union-attr]
        any_step = None if numbered else self._trace(1, number=begin)
        any_end = None if numbered else self._trace(0, number=begin)
        for later in STEPS:
            k = begin + later
            self._require(conditions, any_step or self._trace(1, number=k), {0: (k, -1), 1: (k + 1, 1)}, {})
        for later in ENDS:
            k = max(begin, least) + later
            at = {**self.point, search.bound.variable: Fraction(k)}
            measure = {(name, 0): _number(e, at) for name, e in search.bound.measure.items()}
            self._require(conditions, any_end or self._trace(0, number=k), {0: (k, -1)}, measure)
        self._feasible = cp.Problem(cp.Minimize(self.slack), conditions)
        within = [*conditions, self.slack <= self._most, cp.abs(self.coefficients) <= LARGEST]
        self._smallest = cp.Problem(cp.Minimize(self._weight @ self.coefficients), within)

    def missed(self, fixed: Mapping[_Place, float]) -> float:
        """By how much the conditions are missed where some coefficients have these values."""
        self._set(fixed)
        return self._solve(self._feasible)

    def room(self, place: _Place, fixed: Mapping[_Place, float]) -> tuple[float, float] | None:
        """Between which values one coefficient may lie, where others have these values."""
        self._set(fixed)
        self._most.value = MISSED / 10
        ends = []
        for sign in (1, -1):
            self._weight.value = sign * np.eye(len(self.places))[self.places[place]]
            ends.append(sign * self._solve(self._smallest))
        return None if not np.all(np.isfinite(ends)) else (ends[0], ends[1])

    def _set(self, fixed: Mapping[_Place, float]) -> None:
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
        theorem = self.search.theorem
        assert theorem.states is not None
        trace = theorem.states.trace(self.point, theorem.parameters, last, start=start, number=number)
        return _Numbers.of(theorem, trace, self.point)

    def _start(self, conditions: list[Any]) -> None:
        """V in the first round is at most what is claimed of the start."""
        begin = self.search.begin
        start = {(name, 0): -_number(r, self.point) for name, r in self.search.bound.start.items()}
        self._require(conditions, self._trace(begin, number=0, start=True), {begin: (begin, 1)}, start)

    def _require(
        self,
        conditions: list[Any],
        numbers: _Numbers,
        potentials: Mapping[int, tuple[int, int]],
        known: Mapping[tuple[str, int], float],
    ) -> None:
        """Multipliers prove that potentials, of states with their rounds and signs, and known multiples of quantities sum to at most zero."""
        import cvxpy as cp

        largest = max(k for k, _ in potentials.values())
        scale = 1.0 / (1 + largest) ** self.search.degree
        columns = []
        for name, power in self.search.places:
            column = np.zeros(numbers.width)
            for state, (k, sign) in potentials.items():
                column += sign * scale * float(k) ** power * numbers.forms[name, state]
            columns.append(column)
        fixed = sum((scale * value * numbers.forms[at] for at, value in known.items()), np.zeros(numbers.width))
        multipliers = cp.Variable(max(len(numbers.rows), 1), nonneg=True)
        rows = numbers.rows.T if len(numbers.rows) else np.zeros((numbers.width, 1))
        left = rows @ multipliers - np.array(columns).T @ self.coefficients - fixed
        at = 0
        for size in numbers.sizes:
            block = cp.reshape(left[at : at + size * size], (size, size), order="C")
            conditions.append((block + block.T) / 2 + self.slack * np.eye(size) >> 0)
            at += size * size
        if at < numbers.width:
            conditions.append(left[at:] == 0)


@dataclass(frozen=True)
class _Numbers:
    """Rows and quantities of some states as vectors of floats: the Gram matrices' entries, then values; ``sizes`` of the matrices."""

    sizes: tuple[int, ...]
    rows: Matrix
    forms: Mapping[tuple[str, int], Matrix]
    width: int

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
        rows = np.array([_dense(system, row) for _, row in system.rows])
        found = {at: _dense(system, form) for at, form in forms.items()}
        return cls(sizes, rows, found, sum(size * size for size in sizes) + system.values)


def _dense(system: System, form: Form) -> Matrix:
    """A form without a constant as a vector."""
    s, q, constant = system.matrices(form)
    if constant != 0:
        raise InvalidInput("potentials are made of quantities without constants")
    values = np.zeros(system.values)
    for t, value in form.values.items():
        values[t] = float(value)
    return np.concatenate([*(np.array(m, float).ravel() for m in (s, q) if m), values])


def _number(quotient: Quotient, numbers: Mapping[str, Fraction]) -> float:
    return float(Sides(numbers, _no_quantity, {}).value(read(quotient.text())))


def _no_quantity(name: str, k: int) -> Any:
    raise TypeError(name)


# ---- the script ----------------------------------------------------------------------------------------------------------


def _write(theorem: Theorem, bound: _Bound, begin: int, weights: _Weights) -> Theorem:
    """The theorem with the script of a potential."""
    import sympy

    taken = {*theorem.rounds, *theorem.all_parameters.names, *theorem.where, *theorem.quantities}
    k = next(name for name in ("k", "r", *(f"k_{i}" for i in range(len(taken) + 1))) if name not in taken)
    n = bound.variable

    def potential(name_of_round: str, later: int = 0) -> str:
        index = f"{name_of_round}+{later}" if name_of_round and later else name_of_round or str(later)
        at = (sympy.Symbol(name_of_round) if name_of_round else 0) + later
        found = ((name, _weight(weights, name, at)) for name in theorem.quantities)
        return " + ".join(_times(weight, f"{name}[{index}]") for name, weight in found if weight)

    start = " + ".join(_times(_tidy(r, {}), f"{name}[0]") for name, r in bound.start.items())
    measure = " + ".join(_times(_tidy(e, {n: k}), f"{name}[{k}]") for name, e in bound.measure.items())
    taken |= {*theorem.given, *theorem.rests}
    first, step, last, every = (
        next(f"{line}{i or ''}" for i in itertools.count() if f"{line}{i or ''}" not in taken)
        for line in ("first", "step", "last", "every")
    )
    reached = [f"{step}({k}={j})" for j in range(begin, bound.least)]
    used = [bound.hypothesis] if bound.hypothesis else []
    lines = [f"{step}: {potential(k, 1)} <= {potential(k)} by derivation"]
    if potential("", begin) != start:
        lines.append(f"{first}: {potential('', begin)} <= {start} by derivation")
        reached.insert(0, first)
    if measure != potential(k):
        lines.append(f"{last}: {measure} <= {potential(k)} by derivation")
        used.insert(0, f"{last}({k}={n})")
    by = f"induction {n}: base combine {', '.join(reached)}; step combine ih, {step}({k}={n})"
    lines.append(f"{every}: {potential(n)} <= {start} by {by}")
    lines.append(f"done: claim by combine {', '.join([every, *used])}")
    spoken = {name for text in (*theorem.claims, *theorem.given.values(), *lines) for name in re.findall(r"\w+", text)}
    quantities = {name: text for name, text in theorem.quantities.items() if name in spoken}
    return replace(theorem, rounds={**theorem.rounds, k: begin}, quantities=quantities, proof="\n".join(lines))


def _times(weight: Any, quantity: str) -> str:
    return quantity if weight == 1 else f"{weight if weight.is_Atom else f'({weight})'}*{quantity}"


def _tidy(quotient: Quotient, rename: Mapping[str, str]) -> Any:
    """A factor as a product of factors."""
    import sympy

    text = quotient.text(lambda name: rename.get(name, name))
    return sympy.factor(sympy.sympify(text, locals={name: sympy.Symbol(name) for name in names(read(text))}))


def _weight(weights: _Weights, name: str, at: Any) -> Any:
    """The weight of a quantity in a round, as a product, k (k + 2)/(2 L)."""
    import sympy

    total = sympy.Integer(0)
    for (quantity, power), (value, powers) in weights.items():
        if quantity == name:
            term = sympy.Rational(value.numerator, value.denominator) * sympy.sympify(at) ** power
            for parameter, exponent in powers.items():
                term *= sympy.Symbol(parameter) ** exponent
            total += term
    return sympy.factor(total)

"""Exact certificates: a numerical worst case turned into a theorem over the rationals, for every n and every dimension."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import rational, solve_exactly
from fedtheory.proofs.agreement import hold_together
from fedtheory.proofs.certificates.faces import read_faces
from fedtheory.proofs.certificates.forms import store_form, store_function
from fedtheory.proofs.certificates.questions import ask_worst_case, describe_question
from fedtheory.proofs.certificates.weighted_programs import find_shifts, state_program_of_weights
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT, check
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.model import Direction, Model, find_free_directions
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.units import InUnits, state_in_units
from fedtheory.proofs.every_n.vectors import Form, Number, Sampling
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.guard import BoundQuestion, Runs, require_within
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.sizes import Sizes, sizes_of

#: how far the slack matrices are pushed into the interior before rounding, tried in turn; each costs about its size in the bound
MARGINS = (1e-7, 1e-6, 1e-5, 1e-4)
#: how accurate a solver's answer must be for the range of its Gram matrices to be read off
FACE_ACCURACY = 1e-6
#: most equations that multipliers are balanced with on a face
MOST_EQUATIONS = 250
#: exact bounds with a larger denominator are those of a face that is not rational, and are rounded up
LONGEST_DENOMINATOR = 10**40


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proved bound and the data of its proof (`fedtheory.proofs.checker.certificates`), and the runs that it was held against."""

    bound: Fraction
    data: Mapping[str, Any]
    runs: Runs | None = None

    @property
    def statement(self) -> str:
        """The sentence that it proves, derived from the data."""
        return describe_question(self.data)

    def write(self, path: Path | str) -> None:
        """Store it as JSON."""
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self.data, indent=1) + "\n")


def prove(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    rounds: int,
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    participation: Sampling | None = None,
    digits: int = 9,
    time_limit: float | None = None,
) -> Certificate:
    """Prove a bound on the worst case in exact arithmetic: the worst case itself where it is a simple fraction, else within about 1e-6 of it.

    Hyper-parameters and constants are read as the decimal numbers that they print as. A solver's multipliers are rounded to fractions and
    moved to where the slack vanishes on the range of its Gram matrices (`fedtheory.proofs.certificates.faces`), which proves the worst case
    exactly if that range is rational. Otherwise those of a slightly strengthened program are rounded. What must balance is
    balanced exactly, and the result passes the checker before it is returned.

    Raises
    ------
    CannotTrace, SolverFailed
        As in `worst_case_for_every_n`; or no margin in `MARGINS` led to a proof.
    EnginesDisagree
        A run on random functions of the class exceeds what was proved.
    """
    exact = rational(algorithm)
    posed = Posed.of(exact, function_class, rounds, measure, radius, participation, time_limit)
    proved = prove_posed(posed, function_class, measure, radius, digits, time_limit)
    return certify_worst_case(*proved, BoundQuestion(exact, function_class, rounds, measure, radius, participation))


def certify_worst_case(bound: Fraction, data: Mapping[str, Any], asked: BoundQuestion) -> Certificate:
    """A bound and the data of its proof with the question that they answer, once runs on random functions of the class were seen to keep it.

    Raises
    ------
    EnginesDisagree
        One exceeds it.
    """
    question = ask_worst_case(
        asked.algorithm, asked.function_class, asked.rounds, asked.measure, asked.radius, asked.participation
    )
    seen = require_within(asked.runs(float(bound)), bound)
    return Certificate(bound, {"format": CERTIFICATE_FORMAT, "question": question, **data}, seen)


def prove_for_weights(
    algorithm: Algorithm,
    function_class: FunctionClass,
    weights: Sequence[Number],
    *,
    rounds: int,
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    digits: int = 9,
    time_limit: float | None = None,
) -> Certificate:
    """The same for clients with these weights, all of which take part: f is sum_i p_i f_i, averages and zeta are by them.

    It is as sharp as for every n, and of these weights alone; `prove` bounds all weights at once, and need not be attained by them.

    Raises
    ------
    CannotTrace, InvalidInput, SolverFailed
        As in `fedtheory.proofs.certificates.weighted_programs.state_program_of_weights`; or no margin in `MARGINS` led to a proof.
    """
    exact, shares = rational(algorithm), [Fraction(rational(w)) for w in weights]
    model, problem, start = state_program_of_weights(
        exact, rational(function_class), rounds, measure, rational(radius), shares
    )
    posed = Posed(model, problem, start, find_shifts(model, problem, shares))
    bound, data = prove_posed(posed, function_class, measure, radius, digits, time_limit)
    question = ask_worst_case(exact, function_class, rounds, measure, radius, None, shares)
    return Certificate(bound, {"format": CERTIFICATE_FORMAT, "question": question, **data})


@dataclass(frozen=True, eq=False)
class Posed:
    """A program of fractions, the problem and the start of which it was traced, and its free directions."""

    model: Model
    problem: Any
    start: Any
    free: Sequence[Direction]

    @classmethod
    def of(
        cls,
        exact: Algorithm,
        function_class: FunctionClass,
        rounds: int,
        measure: MeasureName = "squared_distance",
        radius: Number = 1,
        participation: Sampling | None = None,
        time_limit: float | None = None,
    ) -> Posed:
        """The program of a method with fractions for numbers."""
        model, problem, start, _ = state_program(
            exact, rational(function_class), rounds, measure, rational(radius), participation, time_limit
        )
        return cls(model, problem, start, find_free_directions(model, problem.evaluations))

    def in_units(self, sizes: Sizes, time_limit: float | None = None) -> InUnits:
        """The program in floats, in units of its own."""
        return state_in_units(self.model, self.problem, self.start, self.free, sizes, time_limit)


def prove_posed(
    posed: Posed,
    function_class: FunctionClass,
    measure: MeasureName,
    radius: Number,
    digits: int,
    time_limit: float | None,
    *,
    most_equations: int = MOST_EQUATIONS,
) -> tuple[Fraction, dict[str, Any]]:
    """A bound and the data of its proof: exactly, or with the first margin that leads to one.

    The bound is exactly the worst case only where that takes ``most_equations`` at most, which are solved in fractions.
    """
    model, free = posed.model, posed.free
    sizes = sizes_of(function_class, find_measure(measure), radius)
    stated = posed.in_units(sizes, time_limit)
    program, scales = stated.program, [Fraction(stated.units.goal) / Fraction(row) for row in stated.units.rows]
    digits = digits - min(0, math.floor(math.log10(sizes.goal)))
    reasons = []
    try:
        plain = conic.solve_program(program, tolerance=FACE_ACCURACY, solvers=("CLARABEL",), time_limit=time_limit)
        given = [rational(v) for v in (function_class.L, radius, function_class.zeta) if v]
        faces = read_faces(plain.blocks, free, (stated.mean, stated.deviation), [Fraction(v) for v in given])
        multipliers = [_nine_digits(y, scale) for y, scale in zip(plain.multipliers, scales, strict=True)]
        near = without_vanishing(plain.multipliers, multipliers)
        return certify_tight(model, near, free, faces, plain.value * sizes.goal, most_equations)
    except (Refused, SolverFailed) as error:
        reasons.append(f"without margin: {error}")
    for margin in MARGINS:
        shifted = dataclasses.replace(program, objective=tuple(c + margin * np.eye(len(c)) for c in program.objective))
        try:
            solution = conic.solve_program(shifted, tolerance=max(1e-7, margin), time_limit=time_limit)
            multipliers = [_nine_digits(y, scale) for y, scale in zip(solution.multipliers, scales, strict=True)]
            bound, data = certify(model, multipliers, free, digits)
            hold_together(
                f"the proof with margin {margin:g}",
                float(bound),
                "its program",
                solution.lower * sizes.goal,
                size=sizes.goal,
            )
        except (Refused, SolverFailed) as error:
            reasons.append(f"margin {margin:g}: {error}")
            continue
        return bound, data
    raise SolverFailed("no exact certificate was found: " + "; ".join(reasons))


def certify(
    model: Model, multipliers: Any, free: Sequence[Direction] = (), digits: int = 9
) -> tuple[Fraction, dict[str, Any]]:
    """Round a program's multipliers to a proof: the bound, and the certificate's data, which have passed the checker.

    The model is made of fractions; the multipliers are those of its (strengthened) program, in floats, or in fractions that are not
    rounded any further.

    Raises
    ------
    Refused
        The rounded multipliers prove nothing.
    """
    weights, exact = balance_multipliers(model, multipliers, free)
    data = _data(model, weights, exact)
    data["bound"] = str(_rounded_up(_constant(model, weights, exact), digits))
    return check(data), data


def certify_tight(
    model: Model,
    multipliers: Sequence[Fraction],
    free: Sequence[Direction],
    faces: Sequence[Sequence[Direction]],
    value: float,
    most_equations: int = MOST_EQUATIONS,
) -> tuple[Fraction, dict[str, Any]]:
    """The exact worst case and its proof, from multipliers near the optimal ones: the first of some faces that leads to one.

    ``value`` is about the worst case.

    Raises
    ------
    Refused
        None does: the range of the optimal Gram matrices is not rational, or was not read off well enough.
    """
    reason = Refused("the program's face has too many equations to be balanced in fractions")
    for face in faces:
        directions = [*free, *face]
        length = {"S": model.leaves.mean, "Q": model.leaves.deviation}
        if model.leaves.values + sum(length[matrix] for matrix, _ in directions) > most_equations:
            continue
        try:
            weights, exact = balance_multipliers(model, multipliers, directions)
            bound = _constant(model, weights, exact)
            if abs(float(bound) - value) > FACE_ACCURACY * abs(value):
                raise Refused(f"the range of the optimal Gram matrices is another: {float(bound):.12g} comes out")
            if bound.denominator > LONGEST_DENOMINATOR:
                bound = _rounded_up(bound, len(str(LONGEST_DENOMINATOR)))
            data = _data(model, weights, exact) | {"bound": str(bound)}
            return check(data), data
        except Refused as error:
            reason = error
    raise reason


def _nine_digits(y: Any, scale: Fraction) -> Fraction:
    """A multiplier in units, rounded, as it is in fact."""
    return Fraction(round(float(y) * 10**9), 10**9) * scale


def without_vanishing(floats: NDArray[np.float64], multipliers: Sequence[Fraction]) -> list[Fraction]:
    """The same without those that vanish at the optimum."""
    least = 1e-6 * float(np.max(np.abs(floats), initial=0.0))
    return [Fraction(0) if abs(y) < least else exact for y, exact in zip(floats, multipliers, strict=True)]


def balance_multipliers(
    model: Model, multipliers: Any, free: Sequence[Direction]
) -> tuple[list[Fraction], list[Fraction]]:
    """Weights of the objectives (which sum to one) and multipliers of the equations and inequalities, rounded, and balanced exactly."""
    equations, count = len(model.equations), len(model.equations) + len(model.inequalities)
    rounded = [y if isinstance(y, Fraction) else Fraction(round(float(y) * 10**9), 10**9) for y in multipliers]
    rounded[equations:] = [max(Fraction(0), y) for y in rounded[equations:]]
    weights = [Fraction(1)]
    if len(model.objectives) > 1:
        weights = rounded[count:]
        total = sum(weights, Fraction(0))
        if total == 0:
            raise Refused("all weights of the objectives vanish")
        weights = [w / total for w in weights]
    return weights, _balanced(model, weights, rounded[:count], free)


def _balanced(
    model: Model, weights: Sequence[Fraction], multipliers: list[Fraction], free: Sequence[Direction]
) -> list[Fraction]:
    """The nearest multipliers that leave no function value over, and that make the slack vanish on the free directions.

    Only multipliers that are not small are changed, by the least-squares correction E^T (E E^T)^{-1} r of what is left over, in fractions.
    """
    goal = Form()
    for weight, form in zip(weights, model.objectives, strict=True):
        goal = goal + form * weight
    target = _equations(model, goal, free)
    columns = [_equations(model, form, free) for _, form in (*model.equations, *model.inequalities)]
    left = list(target)
    for value, column in zip(multipliers, columns, strict=True):
        left = [r - value * c for r, c in zip(left, column, strict=True)]
    largest = max([Fraction(0), *multipliers])
    for smallest in (min(Fraction(1), largest) / 10**6, Fraction(-1)):
        support = [k for k, value in enumerate(multipliers) if value > smallest]
        common = math.lcm(*(c.denominator for k in support for c in columns[k]))
        rows = [[int(c * common) for c in columns[k]] for k in support]
        whole: NDArray[Any] = np.array(rows, dtype=object).reshape(len(rows), len(left))
        solution = solve_exactly(whole.T.dot(whole).tolist(), left)
        if solution is None:
            continue
        result = list(multipliers)
        for k, column in zip(support, whole, strict=True):
            result[k] += common * sum((c * w for c, w in zip(column, solution, strict=True) if c), Fraction(0))
        return result
    raise Refused("the rounded multipliers cannot be balanced")


def _equations(model: Model, form: Form, free: Sequence[Direction]) -> list[Fraction]:
    """What must come to zero in sum: the coefficients of the values, and the products of the blocks with the free directions."""
    found = [Fraction(form.values.get(t, 0)) for t in range(model.leaves.values)]
    for free_matrix, direction in free:
        product = [Fraction(0)] * len(direction)
        for (matrix, i, j), value in form.gram.items():
            if matrix == free_matrix:
                product[i] += Fraction(value) / 2 * direction[j]
                product[j] += Fraction(value) / 2 * direction[i]
        found += product
    return found


def _constant(model: Model, weights: Sequence[Fraction], multipliers: Sequence[Fraction]) -> Fraction:
    total = Fraction(0)
    for weight, form in zip(weights, model.objectives, strict=True):
        total += weight * Fraction(form.constant)
    for value, (_, form) in zip(multipliers, (*model.equations, *model.inequalities), strict=True):
        total -= value * Fraction(form.constant)
    return total


def _rounded_up(value: Fraction, digits: int) -> Fraction:
    scale = 10**digits
    return Fraction(-((-value.numerator * scale) // value.denominator), scale)


def _data(model: Model, weights: Sequence[Fraction], multipliers: Sequence[Fraction]) -> dict[str, Any]:
    system = store_system(model)
    for goal, weight in zip(system["objectives"], weights, strict=True):
        goal["weight"] = str(weight)
    named = zip(_labels(model), multipliers, strict=True)
    return system | {"multipliers": {label: str(value) for label, value in named if value != 0}}


def _labels(model: Model) -> list[str]:
    """A name of its own for each equation and inequality; those that occur several times are numbered."""
    pairs = {name for function in model.functions for name in function.names_of_conditions()}
    names: list[str] = []
    labels: list[str] = []
    for name, _ in (*model.equations, *model.inequalities):
        labels.append(f"{name} {names.count(name)}" if name in names and name not in pairs else name)
        names.append(name)
    return labels


def store_system(model: Model) -> dict[str, Any]:
    """The inequality system of a model as plain data: what a certificate holds beside multipliers, weights and bound.

    Raises
    ------
    InvalidInput
        A coefficient is not rational.
    """
    pairs = {name for function in model.functions for name in function.names_of_conditions()}
    rows = list(zip(_labels(model), (*model.equations, *model.inequalities), strict=True))
    count = len(model.equations)
    stored = [
        {label: store_form(form) for label, (name, form) in part if name not in pairs}
        for part in (rows[:count], rows[count:])
    ]
    clients, *others = model.functions
    return {
        **store_function(clients),
        "clients": model.clients,
        "mean": model.leaves.mean,
        "deviation": model.leaves.deviation,
        "functions": {function.name: store_function(function) for function in others},
        "hypotheses": stored[1],
        "equations": stored[0],
        "objectives": [{"form": store_form(form)} for form in model.objectives],
    }

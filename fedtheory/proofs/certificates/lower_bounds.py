"""Exact witnesses: what a worst case reaches at least, over the rationals, for every n >= 2 or every even n.

A certificate (`fedtheory.proofs.certificates.upper_bounds`) bounds a worst case from above, a witness from below. It is a point of the same
program in fractions: Gram matrices S and Q, positive semidefinite, and function values with which every hypothesis and every interpolation
inequality holds exactly. Functions of the class with these points, gradients and values then exist for n clients, any n >= 2
(`fedtheory.proofs.every_n.worst_case`).

Where the measure speaks of no minimiser, starts are measured by f(x^0) - inf f, and the program asks for f >= f_* at the server's models only. So two
functions through the points of the two halves of an even number of clients are seen to average nowhere below f_* (`lowest_of_two`); such a witness
is one for every even n.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import rational, solve_exactly
from fedtheory.proofs.certificates.forms import store_form, store_function
from fedtheory.proofs.certificates.questions import ask_worst_case
from fedtheory.proofs.checker.certificates import Linear, pair, read_form, read_function, require_semidefinite
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.model import Direction, Model, find_free_directions
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.units import InUnits, state_in_units
from fedtheory.proofs.every_n.vectors import Number, Sampling
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite.program import Program
from fedtheory.proofs.sizes import sizes_of

Gram = list[list[Fraction]]

WITNESS_FORMAT = "fedtheory witness 1"

#: depths asked of an interior point, tried in turn
DEPTHS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
#: shares of the interior point in the mean with the solver's solution, tried in turn; the value reached falls by about its share
INTERIOR_SHARES = tuple(10.0**k for k in range(-9, 0))


@dataclass(frozen=True, eq=False)
class Witness:
    """A value that is reached, and the point of the program that reaches it (`check_witness`)."""

    reached: Fraction
    data: Mapping[str, Any]


def attain(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    rounds: int,
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    participation: Sampling | None = None,
    digits: int = 9,
    time_limit: float | None = None,
) -> Witness:
    """Find functions that come within about 1e-6 of the worst case, and show in exact arithmetic that they belong to the class.

    Parameters are those of `fedtheory.proofs.certificates.upper_bounds.prove`. The numerical solution is moved a little towards
    an interior point of the program and rounded to fractions.

    Raises
    ------
    CannotTrace, SolverFailed
        As in `worst_case_for_every_n`; or no point near the solution is exactly feasible, or the class is relaxed: a feasible point is then
        no function of the class.
    """
    exact, over = rational(algorithm), rational(function_class)
    model, problem, start, _ = state_program(exact, over, rounds, measure, rational(radius), participation, time_limit)
    directions = find_free_directions(model, problem.evaluations)
    _require_witnessed(model, directions)
    free = directions[0][1] if directions else None
    sizes = sizes_of(function_class, find_measure(measure), radius)
    stated = state_in_units(model, problem, start, directions, sizes, time_limit)
    program, digits = stated.program, digits - min(0, math.floor(math.log10(sizes.goal)))
    about: dict[str, Any] = {
        "format": WITNESS_FORMAT,
        "question": ask_worst_case(exact, function_class, rounds, measure, radius, participation),
        **store_function(model.functions[0]),
        "hypotheses": [
            store_form(form) | {"name": name}
            for name, form in model.inequalities
            if not name.startswith("interpolation")
        ],
        "objectives": [store_form(form) for form in model.objectives],
    }
    solution = conic.solve_program(program, tolerance=1e-5, time_limit=time_limit)
    interior = _interior(program, time_limit)
    reason: Refused | None = None
    for share in INTERIOR_SHARES:
        try:
            blocks, values = _mixed(solution, interior, share)
            data = about | _in_own_units(stated, free, model.leaves.values, blocks, values)
            point = _point(data)
            least = min(_at(read_form(form), point) for form in data["objectives"])
            data["reached"] = str(Fraction(least.numerator * 10**digits // least.denominator, 10**digits))
            return Witness(check_witness(data), data)
        except Refused as error:
            reason = error
    raise SolverFailed(f"no exact witness was found; the last attempt fails because {reason}")


def _require_witnessed(model: Model, directions: Sequence[Direction]) -> None:
    """Refuse programs whose points are not shown to be functions of the class."""
    if model.relaxations:
        raise SolverFailed(
            f"no exact witness: {'; '.join(model.relaxations)}, so that functions of the class need not reach the value of the program"
        )
    if model.equations or len(model.functions) != 1 or any(matrix != "Q" for matrix, _ in directions):
        raise SolverFailed(
            "exact witnesses are found for the clients' functions alone, without regulariser, similarity or equations; the numerical "
            "worst case and its replay still stand"
        )


def _mixed(solution: conic.Solution, interior: conic.Solution, share: float) -> tuple[list[Gram], list[Fraction]]:
    """The blocks and values between two points of a program, in fractions."""
    blocks = [_rounded((1 - share) * a + share * b) for a, b in zip(solution.blocks, interior.blocks, strict=True)]
    return blocks, [_fraction(v) for v in (1 - share) * solution.values + share * interior.values]


def _in_own_units(
    stated: InUnits, free: Sequence[Fraction] | None, shown: int, blocks: Sequence[Gram], values: Sequence[Fraction]
) -> dict[str, Any]:
    """A point of the program in units as a witness has it: without units, and with the first ``shown`` function values."""
    s, q = blocks
    if free is not None:
        inside = [Fraction(v) / Fraction(size) for v, size in zip(free, stated.deviation, strict=True)]
        q = _lifted(q, values[shown : shown + len(free) - 1], inside)
    s, q = _enlarged(s, stated.mean), _enlarged(q, stated.deviation)
    values = [v * Fraction(size) for v, size in zip(values, stated.units.values, strict=True)]
    return {"S": _strings(s), "Q": _strings(q), "values": [str(v) for v in values[:shown]]}


def check_witness(data: Mapping[str, Any]) -> Fraction:
    """Return the value that the witness reaches at least, in whole-number arithmetic alone.

    Raises
    ------
    Refused
        A Gram matrix is not semidefinite, or an inequality of the class, a hypothesis or the stated value fails.
    """
    point = _point(data)
    clients = read_function({name: data[name] for name in ("L", "mu", "shared", "evaluations")})
    functions = {"interpolation": clients}
    count = len(data["evaluations"])
    for matrix in ("S", "Q"):
        require_semidefinite(matrix, [[Fraction(v) for v in row] for row in data[matrix]])
    for form in data["hypotheses"]:
        if _at(_read_hypothesis(form), point) > 0:
            raise Refused(f"the hypothesis {form['name']!r} fails")
    for i in range(count):
        for j in range(count):
            if i != j and _at(pair(f"interpolation {i} {j}", functions, Fraction(0)), point) > 0:
                raise Refused(f"the points {i} and {j} do not belong to a function of the class")
    for leaf in _lowest_values(data, clients[0]):
        if lowest_of_two(clients, point) < point[leaf]:
            raise Refused("the average of two functions through these points may be below the lowest value")
    reached = Fraction(data["reached"])
    if any(_at(read_form(form), point) < reached for form in data["objectives"]):
        raise Refused(f"the value {data['reached']} is not reached")
    return reached


def _read_hypothesis(form: Mapping[str, Any]) -> Linear:
    return read_form({part: value for part, value in form.items() if part != "name"})


def _lowest_values(data: Mapping[str, Any], evaluations: Sequence[Any]) -> set[tuple[Any, ...]]:
    """The numbers that the radius is measured from and that are no value of a function: f_*, for measures that speak of no minimiser."""
    known = {("f", t) for _, _, values in evaluations for t in values}
    radius = [_read_hypothesis(form) for form in data["hypotheses"] if form["name"] == "radius"]
    return {key for form in radius for key in form if key[0] == "f" and key not in known}


def lowest_of_two(function: Any, point: Linear) -> Fraction:
    """A number that the average of the functions of two halves of the clients is nowhere below.

    The halves' vectors are mean + deviation and mean - deviation. Their functions are (L/2)||x||^2 - max over the simplex of sum_j lam_j (o_j + <q_j,
    x>) - ||sum_j lam_j q_j||^2/(2 l), q_j = L x_j - g_j, l = L - mu, which pass through the points where the interpolation inequalities hold
    (`fedtheory.proofs.refutations.instances.lowest_value`). Minimised over x the average is mean ||q||^2/(2 l) - ||mean q||^2/(2 L) - mean o: for l =
    2 L it is -<q, q'>/(4 L) - mean o, linear in each half's weights, and otherwise at least a concave function of both, so that vertices suffice.
    """
    evaluations, big_l, mu, _ = function
    l = big_l - mu
    pieces = []
    for x, g, values in evaluations:
        q = {matrix: _combined(big_l, x[matrix], g[matrix]) for matrix in ("S", "Q")}
        value = sum((c * point[("f", t)] for t, c in values.items()), Fraction(0))
        below = _product(q, q, point, 1) / (2 * l) - _product(q, x, point, 1)
        pieces.append((q, big_l / 2 * _product(x, x, point, 1) - value + below))
    bend = min(1 / (2 * l) - 1 / (2 * big_l), Fraction(0))

    def meet(q: Any, r: Any) -> Fraction:
        across = _product(q, r, point, -1)
        if l == 2 * big_l:
            return -across / (4 * Fraction(big_l))
        squares = _product(q, q, point, 1) + _product(r, r, point, 1) + 2 * across
        return Fraction(bend) * squares / 4

    return Fraction(min(meet(q, r) - (o + p) / 2 for q, o in pieces for r, p in pieces))


def _combined(factor: Fraction, x: Mapping[int, Fraction], g: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """factor x - g."""
    return {i: factor * x.get(i, Fraction(0)) - g.get(i, Fraction(0)) for i in {*x, *g}}


def _product(u: Any, v: Any, point: Linear, side: int) -> Fraction:
    """Inner product of vectors of one half, or (``side`` = -1) of the two halves, whose deviations are opposite."""
    total = Fraction(0)
    for matrix, sign in (("S", 1), ("Q", side)):
        for i, a in u[matrix].items():
            for j, b in v[matrix].items():
                total += sign * a * b * point[(matrix, i, j)]
    return total


def _interior(program: Program, time_limit: float | None) -> conic.Solution:
    """A point with X - depth I semidefinite and every inequality slack by the depth."""
    traces = np.sum([np.trace(rows, axis1=1, axis2=2) for rows in program.rows], axis=0)
    for depth in DEPTHS:
        tightened = dataclasses.replace(program, bounds=program.bounds - depth * (1 + traces))
        try:
            found = conic.solve_program(tightened, tolerance=1e-5, solvers=("CLARABEL",), time_limit=time_limit)
        except SolverFailed:
            continue
        return dataclasses.replace(found, blocks=tuple(b + depth * np.eye(len(b)) for b in found.blocks))
    raise SolverFailed(f"the program has no interior point of depth {DEPTHS[-1]:g}, which a witness in fractions needs")


def _rounded(block: NDArray[np.float64]) -> Gram:
    symmetric = (block + block.T) / 2
    return [[_fraction(v) for v in row] for row in symmetric]


def _enlarged(block: Gram, sizes: NDArray[np.float64]) -> Gram:
    """A Gram matrix in units as it is in fact."""
    return [
        [v * Fraction(a) * Fraction(b) for v, b in zip(row, sizes, strict=True)]
        for row, a in zip(block, sizes, strict=True)
    ]


def _fraction(v: Any) -> Fraction:
    return Fraction(round(float(v) * 10**12), 10**12)


def _lifted(q: Gram, products: Sequence[Fraction], free: Sequence[Fraction]) -> Gram:
    """Gram matrix of the deviations gamma_i + s_i b from that of gamma, the products <gamma_i, b>, and b long enough.

    [[Q, p], [p^T, l]] is semidefinite for Q > 0 and l >= p^T Q^{-1} p.
    """
    size = len(free)
    pivot = next(i for i, v in enumerate(free) if v != 0)
    scaled = [v / free[pivot] for v in free]
    inverse = solve_exactly(q, products) if q else []
    if inverse is None:
        raise Refused("the Gram matrix of the deviations is singular")
    length = 1 + sum((a * b for a, b in zip(inverse, products, strict=True)), Fraction(0))
    others = [i for i in range(size) if i != pivot]
    gram = [[length * scaled[i] * scaled[j] for j in range(size)] for i in range(size)]
    for a, i in enumerate(others):
        for b, j in enumerate(others):
            gram[i][j] += q[a][b]
        for j in range(size):
            gram[i][j] += products[a] * scaled[j]
            gram[j][i] += products[a] * scaled[j]
    return gram


def _strings(rows: Gram) -> list[list[str]]:
    return [[str(v) for v in row] for row in rows]


def _point(data: Mapping[str, Any]) -> Linear:
    """Every entry of S and Q and every value, by the keys of a form."""
    point: Linear = {("1",): Fraction(1)}
    for matrix in ("S", "Q"):
        for i, row in enumerate(data[matrix]):
            for j, value in enumerate(row):
                if Fraction(value) != Fraction(data[matrix][j][i]):
                    raise Refused(f"the matrix {matrix} is not symmetric")
                point[(matrix, i, j)] = Fraction(value)
    for t, value in enumerate(data["values"]):
        point[("f", t)] = Fraction(value)
    return point


def _at(form: Linear, point: Linear) -> Fraction:
    return sum((value * point[key] for key, value in form.items()), Fraction(0))

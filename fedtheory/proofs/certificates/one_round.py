"""What a round does to ||x - x*||^2 from any distance: a factor and an offset, from the multipliers of one worst case.

A certificate that ||x^1 - x*||^2 is at most a number wherever ||x^0 - x*|| <= R uses that hypothesis with a multiplier, rate. The same identity,
with the hypothesis moved into the objective, proves

    E ||x^1 - x*||^2 <= rate ||x^0 - x*||^2 + offset

without it, from every start. Moved like that it is checked again. Where the state of a method is x alone, every round is the first one, and with
rate < 1 the errors fall to the floor offset/(1 - rate).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import rational
from fedtheory.proofs.certificates.forms import store_form
from fedtheory.proofs.certificates.upper_bounds import Certificate, Posed, certify_worst_case, prove_posed
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.guard import BoundQuestion
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.semidefinite.program import Program
from fedtheory.proofs.sizes import sizes_of

HYPOTHESIS = "radius"  #: the name of ||x^0 - x*||^2 <= R^2 in certificates
#: most equations that are solved in fractions for the exact worst case; what an offset gains by more is below 1e-6 of it
FEW_EQUATIONS = 40
#: digits after the point of an offset, relative to its size
DIGITS_OF_OFFSET = 9


@dataclass(frozen=True, eq=False)
class OneRound:
    """E ||x^1 - x*||^2 <= rate ||x^0 - x*||^2 + offset, proved; ``certificate`` is that of the worst case it comes from.

    ``slope`` : the multiplier of mean_i ||grad f_i(x*)||^2 <= zeta^2; with another zeta the same proof has the offset less slope times the
    difference of their squares.
    """

    rate: Fraction
    offset: Fraction
    slope: Fraction
    certificate: Certificate


def bound_one_round(
    algorithm: Algorithm,
    function_class: FunctionClass,
    radius: Any = 1,
    time_limit: float | None = None,
    *,
    rate: Fraction | None = None,
) -> OneRound:
    """A factor and an offset of a round, for every n >= 2, which are together smallest where ||x^0 - x*|| is the radius.

    With ``rate`` that is the factor, and the offset is small for it.

    Raises
    ------
    CannotTrace, InvalidInput, SolverFailed
        As in `fedtheory.proofs.certificates.upper_bounds.prove`.
    EnginesDisagree
        A run on random functions of the class exceeds what was proved.
    """
    exact, radius = rational(algorithm), Fraction(rational(radius))
    posed = Posed.of(exact, function_class, 1, radius=radius, time_limit=time_limit)
    asked = posed if rate is None else _at_rate(posed, rate)
    bound, data = prove_posed(
        asked,
        function_class,
        "squared_distance",
        radius,
        DIGITS_OF_OFFSET,
        time_limit,
        most_equations=FEW_EQUATIONS,
    )
    if rate is not None:
        data, bound = _with_radius(data, posed.model, rate, radius), bound + rate * radius**2
    found = certify_worst_case(bound, data, BoundQuestion(exact, function_class, 1, "squared_distance", radius))
    moved, factor = without_radius(found.data, radius)
    try:
        check(dict(found.data))
        return OneRound(factor, check(moved), Fraction(moved["multipliers"].get("zeta", 0)), found)
    except Refused as error:
        raise SolverFailed(f"the worst case of a round gives no factor: {error}") from error


def program_at_rate(
    algorithm: Algorithm, function_class: FunctionClass, rate: Fraction, time_limit: float | None = None
) -> Program:
    """The program whose multipliers are an offset with this factor, of any size.

    Raises
    ------
    CannotTrace, InvalidInput
        As in `fedtheory.proofs.certificates.upper_bounds.prove`.
    """
    posed = _at_rate(Posed.of(rational(algorithm), function_class, 1, time_limit=time_limit), rate)
    return posed.in_units(sizes_of(function_class, find_measure("squared_distance"), 1), time_limit).program


def _at_rate(posed: Posed, rate: Fraction) -> Posed:
    """E ||x^1 - x*||^2 - rate ||x^0 - x*||^2 in the place of E ||x^1 - x*||^2, from any start."""
    model = posed.model
    start = dict(model.inequalities)[HYPOTHESIS]
    (goal,) = model.objectives
    kept = tuple((name, form) for name, form in model.inequalities if name != HYPOTHESIS)
    return replace(
        posed,
        model=replace(model, inequalities=kept, objectives=(goal - Form(start.gram, start.values) * rate,)),
    )


def _with_radius(data: Mapping[str, Any], model: Any, rate: Fraction, radius: Fraction) -> dict[str, Any]:
    """The same proof as that of a worst case: `without_radius` undone."""
    found = copy.deepcopy(dict(data))
    found["hypotheses"][HYPOTHESIS] = store_form(dict(model.inequalities)[HYPOTHESIS])
    found["multipliers"][HYPOTHESIS] = str(rate)
    (objective,) = found["objectives"]
    objective["form"] = store_form(model.objectives[0])
    found["bound"] = str(Fraction(found["bound"]) + rate * radius**2)
    return found


def without_radius(data: Mapping[str, Any], radius: Fraction) -> tuple[dict[str, Any], Fraction]:
    """The inequality system of a worst case with the hypothesis on the start moved into the objective, and the factor of ||x^0 - x*||^2."""
    moved = copy.deepcopy(dict(data))
    form = moved["hypotheses"].pop(HYPOTHESIS)
    rate = Fraction(moved["multipliers"].pop(HYPOTHESIS, 0))
    (objective,) = moved["objectives"]
    for part in ("S", "Q", "f"):
        entries = objective["form"][part]
        for key, value in form[part].items():
            entries[key] = str(Fraction(entries.get(key, 0)) - rate * Fraction(value))
    moved["bound"] = str(Fraction(moved["bound"]) - rate * radius**2)
    return moved, rate

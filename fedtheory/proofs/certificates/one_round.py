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
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import rational
from fedtheory.proofs.certificates.upper_bounds import Certificate, prove
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.function_class import FunctionClass

HYPOTHESIS = "radius"  #: the name of ||x^0 - x*||^2 <= R^2 in certificates


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
    algorithm: Algorithm, function_class: FunctionClass, radius: Any = 1, time_limit: float | None = None
) -> OneRound:
    """A factor and an offset of a round, for every n >= 2, which are together smallest where ||x^0 - x*|| is the radius.

    Raises
    ------
    CannotTrace, InvalidInput, SolverFailed
        As in `fedtheory.proofs.certificates.upper_bounds.prove`.
    """
    found = prove(algorithm, function_class, rounds=1, radius=radius, time_limit=time_limit)
    moved, rate = without_radius(found.data, Fraction(rational(radius)))
    try:
        return OneRound(rate, check(moved), Fraction(moved["multipliers"].get("zeta", 0)), found)
    except Refused as error:
        raise SolverFailed(f"the worst case of a round gives no factor: {error}") from error


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

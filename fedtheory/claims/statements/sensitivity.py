"""How far the named constants of a claim can be moved before it fails.

A factor on the whole bound says little: where a step size goes to zero nearly every bound is tight. Each constant is moved by itself, by bisection
over the points whose worst cases are known; from where the claim then fails, a local search looks for points where it fails earlier.
"""

from __future__ import annotations

import math
from fractions import Fraction

from fedtheory.claims.statements.outcomes import ConstantSensitivity
from fedtheory.claims.statements.refuting import refute_statement_at
from fedtheory.claims.statements.survey import Place, PointValue, Survey
from fedtheory.core.errors import FedtheoryError

#: how far a constant is moved, to what accuracy the factor is found, and how much further the claim is refuted exactly
FARTHEST_FACTOR, ACCURACY, FURTHER = 100.0, 1e-3, 0.01
#: ratios nearer to one than this are not told apart by a solver
ALIKE_RATIOS = 1e-6


def find_sensitivity(survey: Survey, constant: str, *, searches: int, patience: float) -> ConstantSensitivity:
    """The factor on a constant that is nearest to one among those with which the claim fails somewhere.

    Parameters
    ----------
    searches : local searches at the value that is rejected, each of which may bring the factor nearer to one
    patience : seconds for an exact instance
    """
    value = survey.statement.exact_constants[constant]

    def failing(factor: float) -> Place | None:
        moved = value * _decimal(factor)
        return next(
            (place for place in survey.found if _ratio(survey, place, constant, moved) < 1 - ALIKE_RATIOS), None
        )

    def bisected() -> float | None:
        found: list[float] = []
        for far in (1 / FARTHEST_FACTOR, FARTHEST_FACTOR):
            if failing(far) is None:
                continue
            bad, good = far, 1.0
            while abs(math.log(bad / good)) > ACCURACY:
                middle = math.sqrt(bad * good)
                bad, good = (middle, good) if failing(middle) is not None else (bad, middle)
            found.append(bad)
        return min(found, key=lambda factor: abs(math.log(factor)), default=None)

    factor = bisected()
    for _ in range(searches if factor is not None else 0):
        assert factor is not None
        nearer = math.sqrt(factor)
        _descend(survey, constant, value * _decimal(nearer))
        improved = bisected()
        if improved is None or abs(math.log(improved)) > 0.98 * abs(math.log(factor)):
            break
        factor = improved
    place = None if factor is None else failing(factor)
    if factor is None or place is None:
        return ConstantSensitivity(constant, None)
    tried = value * _decimal(factor * (1 - FURTHER if factor < 1 else 1 + FURTHER))
    point, exact = survey.found[place].point, None
    try:
        claimed = survey.statement.claim_at(point, **{constant: tried})
        exact = refute_statement_at(survey.statement, point, claimed, patience=patience, smallest=False)
    except FedtheoryError:
        pass  # the value of the program stands by itself
    return ConstantSensitivity(constant, factor, point, tried, exact)


def _ratio(survey: Survey, place: Place, constant: str, moved: Fraction) -> float:
    """Claimed, with another value of a constant, over worst case."""
    known: PointValue = survey.found[place]
    try:
        claimed = survey.statement.claim_at(known.point, **{constant: moved})
    except FedtheoryError:
        return math.inf  # the expression has no value there
    return PointValue(known.point, claimed, known.worst).ratio


def _descend(survey: Survey, constant: str, moved: Fraction) -> None:
    """A short local search for a smaller ratio with the moved constant."""
    best = min(survey.found, key=lambda place: _ratio(survey, place, constant, moved), default=None)
    step = Fraction(1, 8)
    while best is not None and step >= Fraction(1, 64):
        start = best
        for place in survey.neighbours(start, step):
            if survey.at(place) is not None and _ratio(survey, place, constant, moved) < _ratio(
                survey, best, constant, moved
            ):
                best = place
        if best == start:
            step /= 2


def _decimal(factor: float) -> Fraction:
    return Fraction(f"{factor:.6g}")

"""Data of a statement's picture: claimed value, worst case and runs along one parameter, the others as at one point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from fedtheory.claims.statements.bound import Bound
from fedtheory.claims.statements.outcomes import Line
from fedtheory.claims.statements.survey import PointValue, Survey
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.refutations.refute import Refutation
from fedtheory.proofs.regions.region import Parameter

#: values that a line shows, of a real parameter and of the number of rounds
MOST_VALUES, MOST_ROUNDS = 9, 8
#: worst cases that a line solves besides those that are known, after which it is left with the values that it has, at least three; a count and no
#: time, since a claim that is exceeded on the line is refuted, and a word must not depend on the processor
MOST_SOLVED = 16
#: values of a real parameter among which those inside of the region are looked for
LOOKED_AT = 96
#: a logarithm of claimed / worst case is taken to be at most so large, and its change is compared in so many digits
LARGEST_LOG, COMPARED_DIGITS = 3.0, 2


def survey_line(
    survey: Survey, base: Mapping[str, Fraction], seed: int, refutation: Refutation | None = None
) -> tuple[Line, list[PointValue]] | None:
    """The line through a point, and its values; None where no parameter can be moved.

    It goes along the number of rounds where that is a parameter; otherwise along the one that moves claimed / worst case most between its ends.
    Worst cases that the survey has are used again.

    Parameters
    ----------
    refutation : what functions reach exactly at the point, if it refutes the statement
    """
    way = _Way(survey, base)
    name = way.choose()
    if name is None:
        return None
    found = way.values_of(name, _from_coarse_to_fine(way.along[name], base[name]), least=3)
    if len(found) < 2:
        return None
    found.sort(key=lambda value: value.point[name])
    runs: list[tuple[float, ...]] = []
    if isinstance(survey.statement, Bound):
        runs = [survey.statement.asked_at(value.point).measures_of_runs(seed) for value in found]
        least = min(map(len, runs))  # some draws have no minimiser, as it depends on the class
        runs = [reached[:least] for reached in runs]
    line = Line(
        name,
        tuple(float(value.point[name]) for value in found),
        tuple(float(value.claimed) for value in found),
        tuple(value.worst for value in found),
        tuple((other, value) for other, value in base.items() if other != name),
        tuple(runs) if all(runs) else (),
        tuple(value.point for value in found),
        None if refutation is None else (float(base[name]), float(refutation.reached)),
    )
    return line, found


class _Way:
    """From a point along each parameter: which values stay inside of the region, and worst cases there, up to `MOST_SOLVED`."""

    def __init__(self, survey: Survey, base: Mapping[str, Fraction]) -> None:
        self.survey, self.base, self.solved = survey, base, 0
        self.known = {frozenset(value.point.items()): value for value in survey.found.values()}
        self.along = {p.name: self._inside(p) for p in survey.statement.parameters.parameters}

    def choose(self) -> str | None:
        """The parameter to go along: of those that say as much the last one."""
        statement = self.survey.statement
        rounds = statement.expressions["rounds"].names if isinstance(statement, Bound) else frozenset()
        names = [name for name, values in self.along.items() if len(values) > 1]
        of_rounds = [name for name in names if name in rounds]
        return max(names[::-1], key=self._change, default=None) if not of_rounds else of_rounds[0]

    def _change(self, name: str) -> float:
        """By how much the logarithm of claimed / worst case moves."""
        values = self.along[name]
        found = self.values_of(name, dict.fromkeys((self.base[name], values[0], values[-1])), least=0)
        seen = [
            math.log(value.ratio) if 0 < value.ratio < math.inf else math.copysign(LARGEST_LOG, value.ratio - 1)
            for value in found
        ]
        change = float(np.ptp(np.clip(seen, -LARGEST_LOG, LARGEST_LOG))) if seen else 0.0
        return round(change, COMPARED_DIGITS)

    def values_of(self, name: str, values: Iterable[Fraction], least: int) -> list[PointValue]:
        """Claimed values and worst cases, those that are known and as many others as may be solved; the given number of them in any case."""
        found: list[PointValue] = []
        for value in values:
            point = {**self.base, name: value}
            key = frozenset(point.items())
            if key not in self.known:
                if len(found) >= least and self.solved >= MOST_SOLVED:
                    continue
                self.solved += 1
                try:
                    self.known[key] = self.survey.solve(point)
                except FedtheoryError:
                    continue
            found.append(self.known[key])
        return found

    def _inside(self, parameter: Parameter) -> list[Fraction]:
        """Values of a parameter, in order, with which the point stays in the region; whole numbers up to the largest that was solved."""
        name = parameter.name
        if parameter.integer:
            most = max([self.base[name], *(value.point[name] for value in self.survey.found.values())])
            values = [Fraction(k) for k in parameter.values() if k <= most]
        else:
            shares = (Fraction(k, LOOKED_AT) for k in range(LOOKED_AT + 1))
            values = sorted({parameter.at_share(u, self.base) for u in shares})
        inside = [value for value in values if self.survey.statement.inside({**self.base, name: value})]
        places = np.linspace(0, len(inside) - 1, MOST_ROUNDS if parameter.integer else MOST_VALUES)
        return sorted({self.base[name], *(inside[k] for k in places.round().astype(int) if inside)})


def _from_coarse_to_fine(values: Sequence[Fraction], first: Fraction) -> list[Fraction]:
    """The first one, the ends, and what lies between in ever smaller steps."""
    ordered, step = [first], max(len(values) - 1, 1)
    while step:
        ordered += [*values[::step], values[-1]]
        step //= 2
    return list(dict.fromkeys(ordered))

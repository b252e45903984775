"""A constant in a statement, moved: how far until the statement fails, and proofs that go through its strongest value.

A statement with room is harder to prove for all parameters than a tight one: many multipliers do, and none is forced. So the strongest value
of the constant is proved, and the stated one follows from it: if multipliers y prove  form(c*) <= 0  and multipliers z prove
form(c) - form(c*) <= 0,  y + z prove  form(c) <= 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from fedtheory.proofs.parameters.derivation import NotProved, keep_derivation, store
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.judge import Judgement, judge_system, refute_at, show_multipliers, telling_points
from fedtheory.proofs.parameters.refutations import Instance
from fedtheory.proofs.parameters.search import SECONDS, search_multipliers
from fedtheory.proofs.parameters.system import System

#: of the value of a constant
SystemOf = Callable[[Fraction], System]
#: how far constants are moved, halvings of the interval in between, and points and corners at which each value is tried
FARTHEST, HALVINGS, SIMPLE, CORNERS = Fraction(8), 14, 7, 9


@dataclass(frozen=True)
class Sensitivity:
    """How far a constant may be moved to one side: at ``holds`` nothing was found against it, at ``fails`` the exact ``instance`` refutes it.

    ``fails`` is None where nothing was found up to the factor `FARTHEST`.
    """

    name: str
    stated: Fraction
    holds: Fraction
    fails: Fraction | None
    instance: Instance | None = None

    @property
    def slack(self) -> bool:
        """Whether the constant could be better by more than a factor 2."""
        return self.fails is None or not Fraction(1, 2) <= self.fails / self.stated <= 2

    @property
    def distance(self) -> float:
        """By how much, relative to it, the constant is moved until it fails."""
        return float("inf") if self.fails is None else float(abs(self.fails / self.stated - 1))

    def __str__(self) -> str:
        if self.fails is None:
            return f"nothing found against {self.name} x {float(self.holds / self.stated):.4g}"
        return f"would reject {self.name} from x {float(self.fails / self.stated):.6g}"


def sensitivities(field: ParameterField, system_of: SystemOf, name: str, stated: Fraction) -> list[Sensitivity]:
    """Both sides of a constant that is not zero, by bisection over points and corners of the region; only exact instances count."""
    points = telling_points(field, system_of(stated), SIMPLE, CORNERS)

    def failing(value: Fraction) -> Instance | None:
        system = system_of(value)
        for k, point in enumerate(points):
            instance = refute_at(system, [point], {})
            if instance is not None:
                points.insert(0, points.pop(k))  # it will probably fail there again
                return instance
        return None

    found = []
    for far in (stated * FARTHEST, stated / FARTHEST):
        instance = failing(far)
        if instance is None:
            found.append(Sensitivity(name, stated, far, None))
            continue
        good, bad = stated, far
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            shown = failing(middle)
            good, bad, instance = (middle, bad, instance) if shown is None else (good, middle, shown)
        found.append(Sensitivity(name, stated, good, bad, instance))
    return found


def judge_through_strongest(
    field: ParameterField,
    system_of: SystemOf,
    name: str,
    stated: Fraction,
    judged: Judgement | None = None,
    seconds: float = SECONDS,
) -> Judgement:
    """A judgement of the stated value; where no derivation is found for it, one that goes through the strongest value is looked for.

    Parameters
    ----------
    judged : what is known of the stated value, otherwise it is judged first
    seconds : for one search; where the judgement took twice as much, or all took four times, nothing more is looked for
    """
    begun = time.process_time()
    system = system_of(stated)
    judged = judge_system(field, system, seconds) if judged is None else judged
    if (
        judged.word in ("proved for all parameters", "refuted")
        or stated == 0
        or time.process_time() - begun > 2 * seconds
    ):
        return judged
    for value in _strongest(sensitivities(field, system_of, name, stated)):
        if time.process_time() - begun > 4 * seconds:
            break
        strong = system_of(value)
        search = search_multipliers(field, strong, seconds)
        if search.data is None:
            continue
        rest = search_multipliers(field, system.with_conclusion(system.conclusion - strong.conclusion), seconds)
        added = dict(search.multipliers)
        for row, multiplier in rest.multipliers.items():
            added[row] = added.get(row, 0) + multiplier
        try:
            data = store(field, system, added)
        except NotProved:
            continue
        keep_derivation(field, system, data)
        log = {**judged.log, "derived from": f"{name} = {value} (stated: {stated})"}
        return Judgement("proved for all parameters", data, show_multipliers(added), log=log)
    return judged


def _strongest(sides: list[Sensitivity]) -> list[Fraction]:
    """Simple values near the last that nothing was found against, on the side where the constant fails."""
    found: list[Fraction] = []
    for side in sides:
        if side.fails is not None:
            for wide in (200, 20, 2):
                near = _simplest(side.holds, wide * abs(side.fails - side.holds))
                if near not in found:
                    found.append(near)
    return found


def _simplest(value: Fraction, room: Fraction) -> Fraction:
    """A fraction of small denominator within some room of a value."""
    denominator = 1
    while abs(value.limit_denominator(denominator) - value) > room:
        denominator *= 2
    return value.limit_denominator(denominator)

"""A system on a region, judged: proved for all parameters, proved at points, refuted by an exact instance, or open.

Points and corners of the region are looked at first; then a derivation for all parameters is looked for; where there is none,
the region is searched for a point at which the conclusion fails, and points are proved one by one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from fedtheory.core.errors import require
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.derivation import (
    NotProved,
    find_kept_derivation,
    keep_derivation,
    multipliers_of,
    store,
)
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.points import prove_at_point
from fedtheory.proofs.parameters.programs import SUSPECT, WAYS, violation
from fedtheory.proofs.parameters.refutations import Instance, find_instance
from fedtheory.proofs.parameters.scalings import find_scalings, normalise
from fedtheory.proofs.parameters.search import SECONDS, search_multipliers
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.parameters.wider import lift, move_system, region_of_used, widest_region
from fedtheory.proofs.regions.region import Region

Word = Literal["proved for all parameters", "proved at points", "refuted", "open"]
#: simple points, corners and evaluations of the search of a region
POINTS, CORNERS, EVALUATIONS = 8, 27, 60
#: log t of the farthest corners, and denominators of t that go with them
FAR, FINEST = 12.0, 10**6


@dataclass(frozen=True)
class Judgement:
    """What came out for one system.

    ``derivation``: for all parameters, as data that the checker without packages accepted; ``at_points``: such data at single points;
    ``instance``: exact, where the conclusion fails; ``log``: what was tried, and under "vacuous" that hypotheses contradict each other.
    """

    word: Word
    derivation: dict[str, Any] | None = None
    multipliers: Mapping[str, str] = field(default_factory=dict)
    at_points: tuple[tuple[dict[str, Fraction], dict[str, Any]], ...] = ()
    instance: Instance | None = None
    log: Mapping[str, Any] = field(default_factory=dict)


def judge_system(known: ParameterField, system: System, seconds: float = SECONDS) -> Judgement:
    """Prove or refute a system over the rational functions of its region."""
    kept = find_kept_derivation(known, system)
    if kept is not None:
        shown = show_multipliers(multipliers_of(known, system, kept))
        return Judgement("proved for all parameters", kept, shown, log={"kept": "a derivation"})
    region, log = known.region, dict[str, Any]()
    looked = telling_points(known, system, POINTS, CORNERS)
    instance = refute_at(system, looked, log)
    if instance is not None:
        return Judgement("refuted", instance=instance, log=log)
    data, multipliers = _derive(known, system, seconds, log)
    if data is not None:
        log.pop("suspect points", None)  # a proof overrules floats
        if not can_hold(system, looked):
            absurd, _ = _derive(known, system.with_conclusion(Form(constant=1)), seconds, {})
            if absurd is not None:
                log["vacuous"] = "the hypotheses contradict each other: 1 <= 0 follows from them"
        if "vacuous" not in log:
            keep_derivation(known, system, data)
        return Judgement("proved for all parameters", data, show_multipliers(multipliers), log=log)
    worst = search_region(region, system)
    if worst is not None:
        instance = refute_at(system, [worst], log)
        if instance is not None:
            return Judgement("refuted", instance=instance, log=log)
    asked = [*looked[:POINTS], *log.pop("suspect points", ())]
    proofs = tuple(proofs_at(system, asked))
    log["points"] = f"{len(proofs)} of {len(asked)}"
    return Judgement("proved at points" if len(proofs) == len(asked) else "open", at_points=proofs, log=log)


def can_hold(system: System, points: Iterable[Mapping[str, Fraction]]) -> bool:
    """Whether hypotheses with constants are seen to hold together at one of the points; without constants zero meets them."""
    if all(form.constant == 0 for _, form in system.hypotheses):
        return True
    asked = system.with_conclusion(Form(constant=1))
    for point in points:
        with suppress(ZeroDivisionError):
            if violation(asked.at(point))[0] > SUSPECT:
                return True
    return False


def _derive(
    known: ParameterField, system: System, seconds: float, log: dict[str, Any]
) -> tuple[dict[str, Any] | None, Mapping[str, Any]]:
    """A derivation and its multipliers: of the parameters that occur, then with as few bounds on them as floats see no reason for; or None."""
    used = region_of_used(known, system)
    here = known if used == known.region else ParameterField(used)
    asked = system if here is known else move_system(system, here)
    search = search_multipliers(here, asked, seconds)
    log.update(search.log)
    if search.data is not None and here is known:
        return search.data, search.multipliers
    if search.data is None:
        wide = widest_region(used, lambda region: _seems_to_hold(region, asked))
        if wide == used:
            return None, {}
        there = ParameterField(wide)
        search = search_multipliers(there, move_system(asked, there), seconds)
        log["on the region"] = str(wide)
        if search.data is None:
            return None, {}
    found = lift(search.multipliers, known)
    try:
        return store(known, system, found), found
    except NotProved as reason:
        log["on the region asked for"] = str(reason)
        return None, {}


def _seems_to_hold(region: Region, system: System) -> bool:
    """Whether no exact instance is found against a system at simple points and corners of another region."""
    field = ParameterField(region)
    asked = move_system(system, field)
    return refute_at(asked, telling_points(field, asked, POINTS, CORNERS), {}) is None


def telling_points(known: ParameterField, system: System, simple: int, corners: int) -> list[dict[str, Fraction]]:
    """Simple points, then corners of the region; of those that differ by a change of units only one, with units set to one."""
    scalings = find_scalings(known, system)
    found: list[dict[str, Fraction]] = []
    for point in (*known.region.simple_points(simple), *known.region.corners(corners)):
        plain = normalise(point, scalings)
        if plain not in found:
            found.append(plain)
    return found


def refute_at(system: System, points: Iterable[Mapping[str, Fraction]], log: dict[str, Any]) -> Instance | None:
    """An exact instance at one of the points, looked for where one way to balance sees a violation; where all see one in vain that is suspect."""
    for point in points:
        try:
            there = system.at(point)
        except ZeroDivisionError:
            continue
        seen = [value for way in WAYS if (value := violation(there, ways=(way,))[0]) > SUSPECT]
        if seen:
            instance = find_instance(there, point, max(seen))
            if instance is not None:
                return instance
        if len(seen) == len(WAYS) or math.inf in seen:  # infinite only along a direction that was checked
            log["suspect"] = max(*seen, log.get("suspect", 0.0))
            log.setdefault("suspect points", []).append(dict(point))
    return None


def proofs_at(
    system: System, points: Iterable[Mapping[str, Fraction]]
) -> Iterable[tuple[dict[str, Fraction], dict[str, Any]]]:
    """Derivations at single points, each accepted by the checker; points without one are left out."""
    nowhere = ParameterField(Region())
    for point in points:
        try:
            there = system.at(point)
            found = prove_at_point(there)
            if found is not None:
                yield dict(point), store(nowhere, there, found)
        except (ZeroDivisionError, NotProved):  # a pole; or the checker has the last word
            continue


def search_region(region: Region, system: System, evaluations: int = EVALUATIONS) -> dict[str, Fraction] | None:
    """A point of small fractions where floats see the conclusion fail: corners and random points, then a local search in log t; or None."""
    from scipy.optimize import minimize

    k = len(region.parameters)
    if k == 0:
        return None
    lots = np.random.default_rng(0)

    def point_of(z: Any, denominator: int) -> dict[str, Fraction]:
        ts = [
            Fraction(float(np.exp(np.clip(v, -FAR, FAR)))).limit_denominator(denominator) or Fraction(1, denominator)
            for v in z
        ]
        return region.point(ts)

    def cost(z: Any) -> float:
        try:
            return -min(float(np.nan_to_num(violation(system.at(point_of(z, FINEST)))[0], nan=0.0)), 1e3)
        except ZeroDivisionError:
            return 0.0

    corners = [
        np.array(z)
        for far in (FAR / 2, FAR)
        for z in itertools.islice(itertools.product((-far, far, 0.0), repeat=k), CORNERS)
    ]
    starts = sorted((cost(z), tuple(z)) for z in [*corners, *lots.uniform(-4, 4, (evaluations // 2, k))])
    best, where = starts[0]
    if best > -SUSPECT:
        found = minimize(cost, where, method="Nelder-Mead", options={"maxfev": evaluations // 2})
        best, where = float(found.fun), tuple(found.x)
    if best > -SUSPECT:
        return None
    for denominator in (1, 2, 5, 20, 1000, FINEST):
        point = point_of(where, denominator)
        if violation(system.at(point))[0] > SUSPECT:
            return point
    return None


def show_multipliers(multipliers: Mapping[str, Any]) -> dict[str, str]:
    """Multipliers as text, factored."""
    sympy = require("sympy", "proofs for all parameters")
    return {
        name: str(sympy.factor(value.expression) if hasattr(value, "expression") else value)
        for name, value in multipliers.items()
    }

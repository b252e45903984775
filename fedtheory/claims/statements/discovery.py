"""Find a contraction that could be claimed: simple weights of a potential, and a maximum of simple factors that its exact rates at points agree with.

Nothing here proves anything: the statement that is found is judged like any other. Weights are one for the models and squares of quotients of
parameters for the other fields; factors are (1 - t)^2, 1 - t, 1 - t^2, t^2, 1/(1 + t) and 1/(1 + t)^2 of products and quotients t of parameters.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedtheory.claims.statements.bound import Contraction
from fedtheory.claims.statements.survey import worst_value
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.potentials.smallest_rate import search_potentials
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.regions.units import UnlikeUnits

#: points at which rates are computed: few to choose the weights, all to choose the factors
POINTS, FEW = 48, 4
#: how far a rate may be from a factor, relatively, to count as equal, and below it
SAME_RATE = 1e-6
#: potentials that are tried
MOST_POTENTIALS = 400


def discover_contraction(stated: Contraction) -> Contraction | None:
    """The statement with weights and a factor in the place of its own; None where no simple ones fit.

    Parameters
    ----------
    stated : gives method, region and class; its potential and its claim are not looked at
    """
    points = list(_draw(stated.parameters))
    ranked = []
    for weights in itertools.islice(_potentials(stated, points[0]), MOST_POTENTIALS):
        try:
            tried = replace(stated, potential=weights)
        except UnlikeUnits:
            continue
        rates = [_rate(tried, point) for point in points[:FEW]]
        if all(rate is not None and 0 < rate < 1 - SAME_RATE for rate in rates):
            ranked.append((sum(math.log(rate) for rate in rates if rate), len(weights), tried))
    ranked.sort(key=lambda found: (round(found[0], 6), found[1]))
    for *_, tried in ranked[:FEW]:
        factor = _fit(tried.parameters, points, [_rate(tried, point) for point in points])
        if factor is not None:
            with contextlib.suppress(UnlikeUnits):
                return replace(tried, claimed=factor)
    return None


def _draw(region: Region) -> Iterator[Mapping[str, Fraction]]:
    """Points inside the region that no simple relation ties: quotients of small primes, the same for every run."""
    rng = np.random.default_rng(0)
    fixed, case = next(iter(region.cases()))
    for _ in range(POINTS):
        ts = [Fraction(int(rng.integers(1, 40)), int(rng.choice([7, 11, 13, 17]))) for _ in case.parameters]
        yield {**fixed, **case.point(ts)}


def _potentials(stated: Contraction, point: Mapping[str, Fraction]) -> Iterator[dict[str, str | int]]:
    """Weights by fields: models first, alone, then with the other fields."""
    search = search_potentials(stated.method_at(point), stated.functions_at(point), stated.clients_at(point))
    fields = list(search.step.before)
    models = [name for name in ("x", "x_i") if name in fields]
    others = [name for name in fields if not name.startswith("x")]
    weights: list[str | int | None] = [
        None,
        *(f"({q})**2" for q in _quotients([p.name for p in stated.parameters.real])),
        1,
    ]
    for chosen in itertools.product(weights, repeat=len(others)):
        given = {name: weight for name, weight in zip(others, chosen, strict=True) if weight is not None}
        for model in models:
            found: dict[str, str | int] = {model: 1}
            yield found | given


def _quotients(names: Sequence[str]) -> Iterator[str]:
    yield from names
    yield from (f"1/{name}" for name in names)
    yield from (f"{a}/{b}" for a, b in itertools.permutations(names, 2))


def _rate(stated: Contraction, point: Mapping[str, Fraction]) -> float | None:
    try:
        return worst_value(stated.asked_at(point))
    except FedtheoryError:
        return None


def _fit(region: Region, points: Sequence[Mapping[str, Fraction]], rates: Sequence[float | None]) -> str | None:
    """The maximum of as few factors as agree with the rates at all points."""
    if any(rate is None for rate in rates):
        return None
    known = np.array(rates, dtype=float)
    below = {}
    for text in _factors([p.name for p in region.real]):
        values = np.array([float(Expression.parse(text).at(point)) for point in points])
        if (values <= known * (1 + SAME_RATE)).all():
            below[text] = np.abs(values - known) <= SAME_RATE * known
    for count in range(1, 4):
        for chosen in itertools.combinations([text for text, met in below.items() if met.any()], count):
            if np.logical_or.reduce([below[text] for text in chosen]).all():
                return chosen[0] if count == 1 else f"max({', '.join(chosen)})"
    return None


def _factors(names: Sequence[str]) -> Iterator[str]:
    """Simple factors, the simplest first."""
    terms = [
        *names,
        *(f"{a}*{b}" for a, b in itertools.combinations(names, 2)),
        *(f"{a}/{b}" for a, b in itertools.permutations(names, 2)),
    ]
    for pattern in ("1 - {}", "(1 - {})**2", "1 - ({})**2", "1/(1 + {})", "1/(1 + {})**2", "({})**2"):
        yield from (pattern.format(term) for term in terms)

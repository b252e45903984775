"""Where a method ends on an instance, and that it ends nowhere, as data.

    Limit("fedavg", "lr, steps = K", problem=lambda a, b: scalar_quadratics(np.array([a, b]), [1, -1]), start=2,
          region="0 < a, 0 < b, 0 < lr < 1/max(a, b), K in 1..3",
          point="(1 - (1 - lr*a)**K - (1 - (1 - lr*b)**K))/(1 - (1 - lr*a)**K + 1 - (1 - lr*b)**K)")

    Divergence("fedavg", "lr, steps = 2", problem=curved_counterexample, region="0 < b < a, 2*(a - b)/(a**2 + b**2) < lr",
               multiplier="((1 - lr*a)**2 + (1 + lr*b)**2)/2")

Where a round is an affine map, both are decided in fractions at points of the region (`fedtheory.proofs.recurrences`), and where the state is
one number for all parameters at once; elsewhere by runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Finding, Part, PictureOfStatement, Replay
from fedtheory.claims.context import Context
from fedtheory.claims.parts import decided, disproved, proved_from_statement
from fedtheory.claims.statements.named_methods import Formula
from fedtheory.claims.statements.on_instances import (
    InstanceStatement,
    Point,
    fraction_between,
    largest_root,
    point_in_floats,
    read_point,
)
from fedtheory.claims.statements.on_region import no_special_numbers, show_values
from fedtheory.claims.statements.pictures import draw_divergence, draw_limit
from fedtheory.claims.statements.unit_reading import UNCHECKED, UnitReading
from fedtheory.claims.statements.unstated import tell_options
from fedtheory.claims.verdict import LEAST_COVERED
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.randomness import Key
from fedtheory.core.states import arrays_of
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.proofs.facts import compare, take_facts, write_fact
from fedtheory.proofs.recurrences import Recurrence, lies_within, play_any_round, to_fractions, value_at, without_roots
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.units import OF_POINTS, unit_of
from fedtheory.proofs.symbolic import agree, play_exactly, symbols

MINIMISER = "minimiser"  #: as the point: x* of the average
ONE = Fraction(1)
#: rounds of runs, by budget, and what of the size of a run (of its start or end, whatever their units) counts as settled and as equal
RUN_ROUNDS = {"quick": 3_000, "full": 30_000}
SETTLED, EQUAL = 1e-11, 1e-8
#: points that are tried until there is something to draw: a run may start where it ends
PICTURED = 4
#: rounds after which steps are looked at that do not vanish
LATER = 60
#: a run that is so many times as large as its start and first step has diverged
FAR = 1e12
_FAILURES = (FedtheoryError, ArithmeticError, TypeError, AttributeError, ValueError)


@dataclass(frozen=True)
class Limit(InstanceStatement):
    """The method converges, and a field's limit is a point.

    Parameters
    ----------
    point : expression, or one for each coordinate
        The word ``minimiser`` in it stands for x* of the average, coordinate by coordinate.
    field : str
        Of the method's state; of a clients' field the limit is that of every client.

    Examples
    --------
    >>> pair = lambda a: scalar_quadratics(np.array([a, a], dtype=object), np.array([a, -a], dtype=object))
    >>> stated = Limit("gd", "lr", problem=pair, start=2, region="0 < a, 0 < lr < 1/a", point="0")
    >>> claim = state("MINE-1", "my paper", "Remark 1", "It converges to 0.", stated)
    >>> from fedtheory.claims.checking import judge_claim
    >>> print(judge_claim(claim, "mine.py", Context()).status)
    proved
    """

    point: Formula | tuple[Formula, ...] = MINIMISER
    field: str = "x"

    def _own_texts(self) -> list[tuple[str, Expression]]:
        known = no_special_numbers([MINIMISER])
        return [("point", text.substitute(known)) for text in read_point(self.point)]

    def _build(self, point: Point) -> tuple[Algorithm, Any, Any]:
        method, problem, x0 = built = super()._build(point)
        fields = arrays_of(method.init(problem, x0[None, :]))
        if self.field not in fields:
            raise InvalidInput(
                f"the state of {self.named_method} has no field {self.field!r}; it has {', '.join(fields)}"
            )
        return built

    def _read_own_units(self, reading: UnitReading, fields: Mapping[str, Any]) -> None:
        reading.values[MINIMISER] = reading.system.quantity(MINIMISER, 1, OF_POINTS)
        for text in (
            read_point(self.point) if fields.get(self.field) else ()
        ):  # not where it is zero, which has every unit
            reading.require("point =", text, unit_of(fields[self.field]), f"a limit of {self.field}")

    def near_misses(self) -> dict[str, Limit]:
        """The claimed point one per cent nearer to the start, or a hundredth beside it where the limit is said to be the start."""
        starts, points = read_point(self.start), read_point(self.point)
        count = max(len(starts), len(points))
        moved = []
        for start, point in zip(starts * (count // len(starts)), points * (count // len(points)), strict=True):
            still = MINIMISER not in point.names and start.at(self.points[0]) == point.at(self.points[0])
            moved.append(f"({point}) + 1/100" if still else f"({point}) + (({start}) - ({point}))/100")
        wrong = replace(self, point=moved[0] if count == 1 else tuple(moved), units=UNCHECKED)
        return {"a limit that is one per cent nearer to the start": wrong}

    def findings(self, context: Context) -> Iterator[Finding]:
        """Parts of a check, and what the statement leaves open."""
        yield from tell_options(self, context, Limit._find)

    def _find(self, context: Context) -> Iterator[Finding]:
        """For all parameters where that can be had, then at points, then the minimiser's own certificate."""
        if general := self._in_general():
            yield proved_from_statement("limit", f"{self}: for all parameters {general}")
        else:
            take_facts()
            yield from self._at_points(context)
        if self.point == MINIMISER:
            yield self._held_against_ground_truth(context)
        yield from map(self._pictured, self.points[:PICTURED])

    def _pictured(self, point: Point) -> PictureOfStatement:
        claimed = partial(self.claimed_in_floats, point)
        return PictureOfStatement(
            lambda seed: draw_limit(self, point, seed, self.field, claimed, partial(self.find_end, point, seed))
        )

    def find_end(self, point: Point, seed: int = 0) -> tuple[NDArray[np.float64] | None, bool]:
        """Where the field ends, entry by entry, and whether that was followed exactly; None where it does not end within a quick run."""
        found = self.followed(point, self.field)
        if found is not None:
            inside = lies_within(found.polynomial, ONE) is True
            return (np.array([float(v) for v in found.limit()]) if inside else None), True
        x, left, _, _ = self._end(point, Context(seed=seed))
        return (None if left is None else np.ravel(x)), False

    def claimed_in_floats(self, point: Point, problem: Any, entries: int) -> NDArray[np.float64]:
        """The claimed limit in floats, one number for each entry of the field."""
        told = self._coordinates(point_in_floats(point), problem.d, partial(_find_minimiser, problem))
        return np.tile([float(v) for v in told], entries // problem.d)

    def claimed_at(self, point: Point, problem: Any, entries: int) -> list[Any]:
        """The claimed limit, one number for each entry of the field."""
        found: list[Any] = self._coordinates(point, problem.d, lambda: to_fractions(problem.solution()))
        return [*found] * int(entries // problem.d)

    def _coordinates(self, values: Mapping[str, Any], d: int, minimiser: Callable[[], Sequence[Any]]) -> list[Any]:
        """The claimed point, where parameters have these values; the minimiser is asked for only where it is spoken of."""
        texts = read_point(self.point)
        if len(texts) not in (1, d):
            raise InvalidInput(f"the limit has {len(texts)} coordinates; expected one for all, or {d}")
        spoken_of = any(MINIMISER in text.names for text in texts)
        star = list(minimiser()) if spoken_of else [None] * d
        of_all = texts * (d // len(texts))
        return [text.at({**values, MINIMISER: a}) for text, a in zip(of_all, star, strict=True)]

    def _in_general(self) -> str:
        """How it is shown for all parameters: by one multiplier in (-1, 1), or because rounds in symbols stand still; "" where it is not."""
        ways = {
            "the multiplier lies in (-1, 1), and the fixed point is the one claimed": self._by_one_multiplier,
            "a state is reached that a round keeps, and it is the one claimed": self._by_standing_still,
        }
        for told, way in ways.items() if self.field == "x" else ():
            try:
                if way():
                    return told
            except _FAILURES:
                pass
            take_facts()
        return ""

    def _by_one_multiplier(self) -> bool:
        for field, values, m, v, _ in self.for_all_parameters():
            claimed = self._in_symbols(values)[0]
            below, above = field.sign(1 - m), field.sign(1 + m)
            inside = all(s is not None and s.direction > 0 and s.strict for s in (below, above))
            if not (inside and m * claimed + v == claimed):
                return False
            write_fact("sign", f"-1 < {m} < 1 on {self.parameters}")
            write_fact("identity", f"x = {claimed} is the fixed point of x -> ({m}) x + {v}")
        return True

    def _by_standing_still(self) -> bool:
        """Whether a state is reached, in symbols, that a round maps to itself."""
        for fixed, region in self.parameters.cases():
            values = {**fixed, **{p.name: symbols(p.name, positive=True) for p in region.parameters}}
            method, problem, x0 = self.exact_instance(values)
            state = play_exactly(method, problem, x0, 2)[-1]
            ends = [arrays_of(state), arrays_of(play_any_round(method, problem, state))]
            point = self._in_symbols(values)
            still = all(agree(ends[0][name], ends[1][name]) for name in ends[0])
            if not (still and agree(ends[1]["x"][0], np.asarray(point, dtype=object))):
                return False
        return True

    def _in_symbols(self, values: Mapping[str, Any]) -> list[Any]:
        """The claimed limit of x, where parameters are symbols or rational functions."""
        problem = self.problem_at(values)
        return self._coordinates(values, problem.d, problem.solution)

    def _at_points(self, context: Context) -> Iterator[Finding]:
        yield from self.left_out()
        shown = 0
        runs: list[Point] = []
        for point in self.exact_points:
            found = self.followed(point, self.field)
            if found is None:
                runs += [point] if point in self.points else []
                continue
            inside = lies_within(found.polynomial, ONE)
            where = show_values(point)
            if inside is not True:
                why = "has modulus one: its steps do not vanish" if inside is None else "lies above one: it diverges"
                text = f"{self}: at {where} a multiplier that the start excites {why}"
                yield self.at_point(disproved("limit", True, text, "spectrum"), point)
                yield self._pictured(point)
                return
            limit = found.limit()
            claimed = self.claimed_at(point, self.exact_instance(point)[1], len(limit))
            same = [compare(a, "==", b) for a, b in zip(limit, claimed, strict=True)]
            if not all(same):
                k = same.index(False)
                text = f"{self}: at {where} the limit of {self.field} is {limit[k]}, not {claimed[k]}"
                yield self.at_point(decided("limit", False, text, "spectrum"), point)
                yield self._pictured(point)
                return
            shown += 1
        if shown:
            text = f"{self}: every multiplier is below one in modulus, and the limit is the claimed one, at {shown} points in fractions"
            yield proved_from_statement(
                "limit", text, "spectrum", scope=self.scope(shown) if not runs else f"{shown} points"
            )
        if runs:
            yield self._on_runs(runs, context)

    def _measured(self, point: Point) -> Replay:
        found = self.followed(point, self.field)
        inside = None if found is None else lies_within(found.polynomial, ONE)
        if found is not None and inside is False and self.field == "x":
            largest = largest_root(self.recurrence_in_floats(point, len(found.polynomial) - 1))
            above = fraction_between(1.0, found.largest_modulus())
            reached = above if lies_within(found.polynomial, above) is False else ONE
            what = f"the largest multiplier at {show_values(point)}, in fractions a number below it, against one"
            return Replay(what, largest, 1.0, reached, ONE, "fractions", ())
        if found is not None and inside is None:
            seen = self.played_in_floats(point, LATER + len(found.polynomial) - 1, self.field)
            moved, bound = float(np.abs(np.diff(seen[LATER:], axis=0)).max()), EQUAL * float(np.abs(seen).max())
            what = f"how far {self.field} moves in a round after {LATER} others at {show_values(point)}, where a limit has it vanish"
            return Replay(what, moved, bound, found.largest_step(LATER), Fraction(0), "fractions", ())
        if found is None or inside is not True:
            raise InvalidInput(f"at {show_values(point)} there is no limit that fractions give")
        limit = found.limit()
        claimed = self.claimed_at(point, self.exact_instance(point)[1], len(limit))
        x, left, size, problem = self._end(point, Context())
        away = np.abs(np.ravel(x) - self.claimed_in_floats(point, problem, len(limit))).max()
        return Replay(
            what=f"how far {self.field} ends from the claimed point at {show_values(point)}",
            measured=0.0 if left is None else float(away),
            bound=0.0 if left is None else EQUAL * size + 10 * left,
            exact_measured=max(abs(a - b) for a, b in zip(limit, claimed, strict=True)),
            exact_bound=Fraction(0),
            arithmetic="fractions",
            assumptions=(),
        )

    def _on_runs(self, points: list[Point], context: Context) -> Part:
        """Ends of runs, with a bound of what is left from how fast they settle."""
        why = self.why_in_floats(points[0], self.field)
        worst, said = -np.inf, ""
        for point in points:
            where = show_values(point)
            x, left, size, problem = self._end(point, context)
            if left is None:
                return Part("runs", None, "numeric", f"{self}: at {where} the run does not settle")
            entries = np.ravel(x)
            claimed = self.claimed_in_floats(point, problem, entries.size)
            allowed = EQUAL * size + 10 * left
            away = float(np.abs(entries - claimed).max())
            excess = away / allowed if allowed else 0.0 if away == 0 else np.inf
            if excess > worst:
                worst, said = excess, f"at {where} it ends {away:.3g} from the claimed point"
        text, covered = (
            f"{self}: {len(points)} run{'s' * (len(points) > 1)}, in floats ({why}); {said}",
            self.covered(points),
        )
        return Part("runs", worst <= 1, "numeric", text, margin=1 - worst, covered=covered)

    def _end(self, point: Point, context: Context) -> tuple[Any, float | None, float, Any]:
        """The field after a run, a bound of the distance to the limit by the ratio of its last steps (None if it does not settle), and its size."""
        method, problem, x0 = self.float_instance(point)
        state, steps = method.init(problem, x0[None, :]), list[float]()
        b = np.asarray(getattr(state, self.field), dtype=float)
        size = first = float(np.abs(b).max())
        for r in range(RUN_ROUNDS[context.budget]):
            new = method.round(problem, state, None, Key(context.seed, r))
            a, b = (np.asarray(getattr(s, self.field), dtype=float) for s in (state, new))
            steps.append(float(np.abs(a - b).max()))
            size, state = max(first, float(np.abs(b).max())), new
            if not size <= FAR * max(first, steps[0]):
                return b, None, size, problem
            if steps[-1] <= SETTLED * size and r >= 20:
                if steps[-20] == 0:
                    return b, steps[-1], size, problem
                q = min((steps[-1] / steps[-20]) ** (1 / 19), 0.999)
                return b, steps[-1] / (1 - q), size, problem
        return b, None, size, problem

    def _held_against_ground_truth(self, context: Context) -> Part:
        """The ends of runs against certified minimisers."""
        points, text = self.points[:LEAST_COVERED], ""
        worst = 0.0
        for point in points:
            try:
                x, left, size, problem = self._end(point, context)
                truth = ground_truth(problem, witness=False)
            except FedtheoryError as error:
                return Part("ground truth", None, "numeric", f"no certified minimiser: {error}")
            if left is None:
                return Part("ground truth", None, "numeric", f"{self}: at {show_values(point)} the run does not settle")
            away = float(np.linalg.norm(np.asarray(x)[0] - truth.x))
            excess = away / (truth.distance + EQUAL * size + 10 * left) if away else 0.0
            if not text or excess > worst:
                worst = excess
                known = f"which is certified to {truth.distance:.2g} ({truth.how})"
                text = f"{self}: at {show_values(point)} a run ends {away:.3g} from the minimiser, {known}"
        return Part("ground truth", worst <= 1, "numeric", text, covered=self.covered(points))


def _find_minimiser(problem: Any) -> list[Fraction]:
    """x* as floats have it."""
    return [Fraction(float(v)) for v in ground_truth(problem, witness=False).x]


@dataclass(frozen=True)
class Divergence(InstanceStatement):
    """The method diverges: a multiplier that the start excites in x is above one in modulus.

    Parameters
    ----------
    multiplier : expression, optional
        The largest multiplier, where it is claimed.

    Examples
    --------
    >>> pair = lambda a: scalar_quadratics(np.array([a, a], dtype=object), np.array([a, -a], dtype=object))
    >>> stated = Divergence("gd", "lr", problem=pair, start=2, region="0 < a, 2/a < lr", multiplier="1 - lr*a")
    >>> claim = state("MINE-1", "my paper", "Remark 1", "It diverges for lr > 2/a.", stated)
    >>> from fedtheory.claims.checking import judge_claim
    >>> print(judge_claim(claim, "mine.py", Context()).status)
    proved
    """

    multiplier: Formula | None = None

    def _own_texts(self) -> list[tuple[str, Expression]]:
        return [] if self.multiplier is None else [("multiplier", Expression.parse(self.multiplier))]

    def near_misses(self) -> dict[str, Divergence]:
        """A multiplier that is one per cent larger, where one is claimed."""
        if self.multiplier is None:
            return {}
        return {"a multiplier one per cent larger": replace(self, multiplier=f"101/100*({self.multiplier})")}

    def _pictured(self, point: Point) -> PictureOfStatement:
        claimed = None if self.multiplier is None else float(Expression.parse(self.multiplier).at(point))
        return PictureOfStatement(lambda seed: draw_divergence(self, point, seed, claimed))

    def findings(self, context: Context) -> Iterator[Finding]:
        """Parts of a check, and what the statement leaves open."""
        yield from tell_options(self, context, Divergence._find)

    def _find(self, context: Context) -> Iterator[Finding]:
        """For all parameters where the state is one number, else at points; runs where rounds are not affine."""
        try:
            general = self._in_general()
        except _FAILURES:
            general = False
        if general:
            yield proved_from_statement(
                "divergence",
                f"{self}: for all parameters the one multiplier is above one in modulus and the start excites it",
            )
            yield self._pictured(self.points[0])
            return
        take_facts()
        shown, runs = 0, list[Point]()
        for point in self.exact_points:
            found = self.followed(point)
            if found is None:
                runs += [point] if point in self.points else []
                continue
            where = show_values(point)
            inside = lies_within(found.polynomial, ONE)
            if inside is not False:
                yield self._bounded(point, found, converges=bool(inside))
                yield self._pictured(point)
                return
            wrong = self._wrong_multiplier(point, found.polynomial)
            if wrong:
                yield self.at_point(decided("multiplier", False, f"{self}: at {where} {wrong}", "spectrum"), point)
                yield self._pictured(point)
                return
            shown += 1
        if shown:
            text = (
                f"{self}: a multiplier that the start excites is above one in modulus, at {shown} points in fractions"
            )
            yield proved_from_statement(
                "divergence", text, "spectrum", scope=self.scope(shown) if not runs else f"{shown} points"
            )
        if runs:
            yield self._on_runs(runs, context)
            if self.multiplier is not None:
                text = f"{self}: runs tell that it diverges, and not by which multiplier"
                yield Part("multiplier", None, "numeric", text)
        yield self._pictured(self.points[0])

    def _bounded(self, point: Point, found: Recurrence, *, converges: bool) -> Part:
        """That a run stays bounded, where no multiplier is above one."""
        where = show_values(point)
        if converges:
            text = f"{self}: at {where} every multiplier that the start excites is below one in modulus: it converges"
        elif found.stays_bounded():
            text = f"{self}: at {where} no excited multiplier is above one in modulus, none is one, and all are simple: it stays bounded"
        else:
            return Part(
                "divergence", None, "spectrum", f"{self}: at {where} a multiplier of modulus one is not decided"
            )
        return self.at_point(disproved("divergence", True, text, "spectrum"), point)

    def _measured(self, point: Point) -> Replay:
        found, where = self.followed(point), show_values(point)
        if found is None:
            raise InvalidInput(f"at {where} the method cannot be followed in fractions")
        polynomial = found.polynomial
        in_floats = self.recurrence_in_floats(point, len(polynomial) - 1)
        largest, expected = largest_root(in_floats), found.largest_modulus()
        exact: tuple[Fraction, Fraction]
        claimed = said = None
        if self.multiplier is not None:
            claimed = Expression.parse(self.multiplier).at(point)
            said = float(Expression.parse(self.multiplier).at(point_in_floats(point), float))
        side = lies_within(polynomial, ONE)
        if side is None and found.stays_bounded():
            seen = np.abs(self.played_in_floats(point, 2 * LATER))
            what = f"twice the largest |x| in {LATER} rounds, which growth would pass, at {where}, against the largest in {2 * LATER}"
            passed, reached = 2 * found.largest_value(LATER), found.largest_value(2 * LATER)
            return Replay(what, 2 * float(seen[: LATER + 1].max()), float(seen.max()), passed, reached, "fractions", ())
        if side:
            above = fraction_between(expected, 1.0)
            what = f"one, at {where}, against the largest multiplier"
            numeric, exact = (1.0, largest), (ONE, above if lies_within(polynomial, above) else ONE)
        elif claimed is None or said is None:
            raise InvalidInput(f"at {where} it diverges, as is claimed")
        elif (missed := abs(value_at(polynomial, claimed))) != 0:
            what = f"the claimed multiplier in the equation of the multipliers, at {where}"
            value = float(np.polynomial.polynomial.polyval(said, in_floats))
            size = float(np.polynomial.polynomial.polyval(abs(said), np.abs(in_floats)))
            numeric, exact = (abs(value), EQUAL * size), (missed, Fraction(0))
        else:
            below = fraction_between(abs(float(claimed)), expected)
            what = f"the largest multiplier at {where} against the claimed one"
            reached = below if lies_within(polynomial, below) is False else abs(claimed)
            numeric, exact = (largest, abs(said)), (reached, abs(claimed))
        return Replay(what, *numeric, *exact, "fractions", ())

    def _wrong_multiplier(self, point: Point, polynomial: tuple[Fraction, ...]) -> str:
        if self.multiplier is None:
            return ""
        claimed = Expression.parse(self.multiplier).at(point)
        if not compare(value_at(polynomial, claimed), "==", Fraction(0)):
            return f"{claimed} is no multiplier that the start excites"
        others = without_roots(polynomial, (claimed, -claimed))
        if lies_within(others, abs(claimed)) is False:
            return f"there is a larger multiplier than {claimed}"
        return ""

    def _in_general(self) -> bool:
        for field, values, m, v, start in self.for_all_parameters():
            above = [field.sign(m - 1), field.sign(-1 - m)]
            if not any(s is not None and s.direction > 0 and s.strict for s in above):
                return False
            moved = field.sign((m - 1) * start + v)
            if moved is None or not moved.strict:
                return False
            if self.multiplier is not None and m != Expression.parse(self.multiplier).at(values):
                return False
            write_fact("sign", f"|{m}| > 1 on {self.parameters}")
            write_fact("identity", f"a round takes x to ({m}) x + {v}, and the first step is not zero")
        return True

    def _on_runs(self, points: list[Point], context: Context) -> Part:
        slow = []
        for point in points:
            method, problem, x0 = self.float_instance(point)
            state, diverged, first = method.init(problem, x0[None, :]), False, 0.0
            for r in range(RUN_ROUNDS[context.budget]):
                state = method.round(problem, state, None, Key(context.seed, r))
                size = float(np.abs(np.asarray(state.x, dtype=float)).max())
                first = first or max(float(np.abs(x0).max()), size)
                diverged = not size <= FAR * first
                if diverged:
                    break
            if not diverged:
                slow.append(show_values(point))
        why = self.why_in_floats(points[0])
        text = f"{self}: {len(points) - len(slow)} of {len(points)} runs, in floats ({why}), grow by {FAR:g}" + (
            f"; not at {slow[0]}" if slow else ""
        )
        return Part("runs", not slow or None, "numeric", text, covered=self.covered(points))

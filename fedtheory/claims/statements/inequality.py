"""Inequalities between a paper's named quantities, as data: they hold in every round of a method.

    Inequality("fedpd", "eta = u/L, exact", quantities=Round, claimed="value <= lagrangian - factor*(1 - 2*u)*L/u*w2",
               region="0 < L, 0 < u < 3/10", curvatures="-L, L", constants={"factor": "1/2"})

``Round(problem, before, after, parameters)`` is a small class of the paper's quantities as (cached) properties, numbers of a round or arrays of
them, one a run. The text is the only place where the inequality stands: names in it are quantities, parameters, and named constants. It
is evaluated on floats over random instances, several rounds each, with local search from the worst; and on fractions, where a violation
refutes. Instances outside of the assumptions are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Covered, Finding, Part, Reading, Replay
from fedtheory.claims.context import Context
from fedtheory.claims.parts import refute
from fedtheory.claims.statements.client_counts import ClientCounts, name_numbers
from fedtheory.claims.statements.instances import (
    LineQuadratics,
    region_assumptions,
    require_parameters,
    simple_instances,
)
from fedtheory.claims.statements.named_methods import Formula, NamedMethod, whole
from fedtheory.claims.statements.on_region import OnRegion, no_special_numbers
from fedtheory.claims.statements.outcomes import FLAGGED
from fedtheory.claims.statements.unit_reading import UnitReading, require_units
from fedtheory.claims.statements.unstated import tell_options
from fedtheory.core.arrays import Array, is_array, to_numpy
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.problem import Problem, constant
from fedtheory.core.randomness import Key
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.regions.expressions import Comparison, Expression
from fedtheory.proofs.regions.region import NEAR_AN_END, Region
from fedtheory.proofs.regions.units import OF_CURVATURES, Quantity, make_alike
from fedtheory.running.falsifier import Candidates, Search, falsify
from fedtheory.tools.devices import Placement

#: excess, relative to the largest quantity that is compared, that is put down to rounding
EXCESS = 1e-10
#: number of clients whose random instances have two coordinates; of others one
PLANE = 3
#: share of a search that goes to two and three clients, where there are others, too
FEW_CLIENTS = 0.6
#: fewest rounds of admissible instances that support an inequality
LEAST = 100
#: denominators that a violation is rounded to, the simplest first
TIDY_DENOMINATORS = (1, 2, 3, 4, 6, 10, 20, 100, 1000)

#: factors of a named constant that are tried, and how often the gap between them is halved
SENSITIVITY_STEPS = (Fraction(21, 20), Fraction(5, 4), Fraction(2), Fraction(10), Fraction(100))
BISECTIONS = 5

_CANNOT_RUN = (FedtheoryError, ArithmeticError, TypeError)

Family = Callable[[np.random.Generator, Mapping[str, Any], int], Problem]


@dataclass(frozen=True)
class Inequality(OnRegion):
    """An inequality that holds in every round, for all functions and starts.

    Parameters
    ----------
    method : name of a listed method, or function of parameters to a method
    options : str
        Options of the listed method, as expressions in parameters.
    quantities : (problem, state before, state after, parameters by name) -> object with the paper's quantities as attributes
    claimed : str
        A comparison ``left <= right`` or ``left >= right`` of expressions in quantities, parameters and constants.
    region, where : the parameters, and comparisons that they satisfy besides
    curvatures : "low, high", expressions in parameters
        Of the clients' quadratics that are tried.
    clients : str
        How many there are: a number, a range such as ``"2..8"`` or ``"1.."``, a whole-number parameter; by default every n >= 2.
    bounded_below : bool
        Whether the average must be bounded below.
    constants : numbers by name that occur in ``claimed``
    rounds, first_round : int
        The rounds looked at are ``first_round + 1``, ..., ``rounds``.
    instances : (generator, parameters, count) -> problem with a batch axis, optional
        A further family for runs in floats; parameters are arrays ``(count,)``.
    certified : comparisons by the name of a constant, such as ``{"L": "<= L"}``
        What an instance of that family must be certified to satisfy in order to be counted.
    name : str
    units : str
        As for `fedtheory.claims.Bound`.

    Raises
    ------
    InvalidInput
        A text cannot be read, speaks of something unknown, or puts unlike units together.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> def quantities(problem, before, after, given):
    ...     values = objective(problem, before.x), objective(problem, after.x)
    ...     return SimpleNamespace(before=values[0], after=values[1], slope2=squared_norm(gradient(problem, before.x))[..., 0])
    ...
    >>> stated = Inequality(
    ...     "gd", "lr", quantities=quantities, claimed="after <= before - c*lr*slope2", constants={"c": "1/2"},
    ...     region="0 < L, 0 < lr <= 1/L", curvatures="-L, L",
    ... )
    >>> claim = state("MINE-1", "my paper", "Remark 1", "A step lowers f by lr/2 ||grad f||^2.", stated)
    >>> from fedtheory.claims.checking import judge_claim
    >>> print(judge_claim(claim, "mine.py", Context()).status)
    supported
    """

    method: str | Callable[..., Algorithm]
    options: str = ""
    _: KW_ONLY
    quantities: Callable[[Any, Any, Any, Mapping[str, Any]], Any]
    claimed: str
    region: str | Region = ""
    where: tuple[str, ...] = ()
    curvatures: str = "1/10, 1"
    clients: str = ""
    bounded_below: bool = False
    constants: Mapping[str, Formula] = field(default_factory=dict)
    rounds: int = 4
    first_round: int = 0
    instances: Family | None = None
    certified: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    units: str = ""

    def __post_init__(self) -> None:
        """Read every text once, and every named quantity on one instance."""
        for option, expression in self.named_method.expressions.items():
            self.require_parameters(f"option {option}", expression)
        if len(self.limits) != 2:
            raise InvalidInput(f"curvatures are 'low, high', got {self.curvatures!r}")
        for expression in self.limits:
            self.require_parameters("curvatures", expression)
        if self.comparison.signs not in (("<=",), (">=",)):
            raise InvalidInput(f"expected 'left <= right' or 'left >= right', got {self.claimed!r}")
        if not 0 <= self.first_round < self.rounds:
            raise InvalidInput(f"expected 0 <= first_round < rounds, got {self.first_round} and {self.rounds}")
        for text in self.certified.values():
            self.require_parameters("certified", Comparison.parse(f"0 {text}"))
        for condition in self.conditions:
            self.require_parameters(str(condition), condition)
        require_units(self.unlike_units, self.units)
        self.require_sense(self._build)
        case = next(simple_instances(self.parameters, self.conditions, self._limits_at, self.counts), None)
        if case is None:
            raise InvalidInput(f"no simple point of {self.region!r} satisfies {', '.join(self.where)}")
        round_ = self._rounds_on(case, Fraction)[0]
        for name in self._named:
            if not hasattr(round_, name):
                raise InvalidInput(f"{name!r} in {self.claimed!r} is neither a quantity nor a parameter nor a constant")
            if shape := np.shape(getattr(round_, name)):
                expected = (
                    "a number, as squared_norm(u)[..., 0] of a server's vector or mean_of_clients(squared_norm(u))"
                )
                raise InvalidInput(f"{name!r} has the shape {shape} on one instance, expected {expected}")

    def _build(self, point: Mapping[str, Fraction]) -> None:
        self.named_method.at(point)
        low, high = self._limits_at(point)
        if low > high:
            raise InvalidInput(f"curvatures are 'low, high', and {self.curvatures!r} are {low} and {high}")
        for text in self.comparison.terms:
            text.at({**point, **self.exact_constants, **no_special_numbers(self._named)})

    def _read_units(self, reading: UnitReading) -> None:
        problem, x0 = reading.quadratics()
        for limit in self.limits:
            if limit.names:
                reading.require("the curvature", limit, OF_CURVATURES, "a curvature")
        reading.read_method(self.named_method, problem, x0)
        reading.read_ranges(self.conditions)
        if reading.last_round is None:
            return
        round_ = self.quantities(problem, *reading.last_round, reading.values)
        quantities = {name: reading.named(name, getattr(round_, name)) for name in self._named}
        sides = [term.at(reading.values | quantities) for term in self.comparison.terms]
        if any(isinstance(side, Quantity) for side in sides) and 0 not in sides:
            make_alike(sides[0], self.comparison.signs[0], sides[1])

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """Its method, by the field that has its options."""
        return {"options": self.named_method}

    @cached_property
    def named_method(self) -> NamedMethod:
        """The method as a function of the parameters."""
        return NamedMethod(self.method, self.options)

    @cached_property
    def counts(self) -> ClientCounts:
        """How many clients it is about."""
        return ClientCounts.read(self.clients, self.parameters)

    @cached_property
    def limits(self) -> tuple[Expression, ...]:
        """Lowest and highest curvature."""
        return tuple(Expression.parse(text) for text in self.curvatures.split(",") if text.strip())

    @cached_property
    def comparison(self) -> Comparison:
        """What is claimed."""
        return Comparison.parse(self.claimed)

    @cached_property
    def exact_constants(self) -> Mapping[str, Fraction]:
        """The named constants as fractions."""
        return {name: Expression.parse(value).at({}) for name, value in self.constants.items()}

    @property
    def _named(self) -> list[str]:
        """Names in the claim that are quantities."""
        return sorted(self.comparison.names - {*self.parameters.names} - {*self.constants})

    def with_constants(self, **change: Formula) -> Inequality:
        """The same with other constants."""
        unknown = sorted(change.keys() - self.constants.keys())
        if unknown:
            raise InvalidInput(f"there are the constants {', '.join(self.constants) or 'none'}, not {unknown[0]!r}")
        return replace(self, constants={**self.constants, **change})

    def findings(self, context: Context) -> Iterator[Finding]:
        """Parts of a check, and what the statement leaves open."""
        yield from tell_options(self, context, Inequality._find)

    def _find(self, context: Context) -> Iterator[Finding]:
        """The comparison in fractions, the search in floats, the caller's instances; how far constants could be moved."""
        parts = list(self._tried(context))
        yield from parts
        if any(part.refutes for part in parts):
            return
        if self.instances is not None:
            yield self._given_instances(context)
        yield from (self._sensitivity(name, context) for name, value in self.exact_constants.items() if value != 0)

    def _tried(self, context: Context) -> Iterator[Part]:
        """Small quadratics in fractions, then the search, whose worst instance is brought to fractions."""
        tried, numbers = 0, set[int]()
        for case in simple_instances(self.parameters, self.conditions, self._limits_at, self.counts):
            try:
                r = self._violated_round(case)
            except _CANNOT_RUN:
                continue
            tried += 1
            numbers.add(len(case.curvature))
            if r is not None:
                yield self._refuted(case, r)
                return
        told = name_numbers(tuple(sorted(numbers)))
        text = f"{self}: no violation on {tried} small quadratics, in fractions, {told}"
        yield Part("fractions", tried > 0 or None, "exact", text, covered=Covered(tried, "instances"))
        yield from self._searched(context)

    def find_rejected(self, name: str, context: Context) -> Fraction | None:
        """A factor of a constant with which an instance in fractions refutes the inequality, on the side where that is sooner; None if none does."""
        value = self.exact_constants[name]

        def fails(factor: Fraction) -> bool:
            moved = self.with_constants(**{name: value * factor})
            return any(part.refutes for part in moved._tried(context))

        good = Fraction(1)
        for bad in SENSITIVITY_STEPS:
            sides = [side for side in (bad, 1 / bad) if fails(side)]
            if sides:
                break
            good = bad
        else:
            return None
        up = sides[0] > 1
        for _ in range(BISECTIONS):
            middle = Fraction(math.sqrt(good * bad)).limit_denominator(1000)
            good, bad = (good, middle) if fails(middle if up else 1 / middle) else (middle, bad)
        return bad if up else 1 / bad

    def _sensitivity(self, name: str, context: Context) -> Reading:
        found = self.find_rejected(name, context)
        if found is None:
            return Reading(
                f"{self}: no instance found rejects another {name} within a factor of {SENSITIVITY_STEPS[-1]} (loose)"
            )
        loose = " (loose)" if max(found, 1 / found) > FLAGGED else ""
        return Reading(f"{self}: would reject {name} from x {float(found):.4g}{loose}, on an instance in fractions")

    def replay(self, instance: Mapping[str, Any]) -> Replay:
        """Both sides in a round of an instance, in floats and in fractions."""
        case, r = LineQuadratics.read(instance), whole("round", instance.get("round", 0))
        require_parameters(self.parameters, case.parameters)
        if not self.first_round < r <= self.rounds:
            raise InvalidInput(f"the round must lie in {self.first_round + 1}, ..., {self.rounds}, got {r}")
        sides = [
            self._sides(self._rounds_on(case, number)[r - self.first_round - 1], case, number)
            for number in (Fraction, float)
        ]
        (exact_left, exact_right), (left, right) = sides
        return Replay(
            what=f"{self.comparison} in round {r}",
            measured=float(left),
            bound=float(right),
            exact_measured=exact_left,
            exact_bound=exact_right,
            arithmetic="fractions",
            assumptions=(
                self.counts.assumption(len(case.curvature), case.parameters),
                *region_assumptions(self.parameters, self.conditions, case.parameters),
                *region_assumptions(Region(), self._on_curvatures(case), case.parameters),
            ),
        )

    def _on_curvatures(self, case: LineQuadratics) -> list[Comparison]:
        low, high = self.limits
        found = [Comparison.parse(f"{low} <= {a} <= {high}") for a in case.curvature]
        if self.bounded_below:
            found.append(Comparison.parse(f"0 < {sum(case.curvature)}"))
        return found

    def _refuted(self, case: LineQuadratics, r: int) -> Part:
        return refute("every round", self.replay, case.as_data() | {"round": r}, text=self.name)

    def _limits_at(self, point: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
        low, high = (Fraction(limit.at(point)) for limit in self.limits)
        return low, high

    def _rounds_on(self, case: LineQuadratics, number: Any) -> list[Any]:
        """The quantities of every round that is looked at."""
        counts = {p.name: int(case.parameters[p.name]) for p in self.parameters.parameters if p.integer or p.whole}
        values = case.values(number) | counts
        method = self.named_method.at(case.parameters) if number is Fraction else self.named_method.over(values, float)
        return list(self._play(method, case.problem(number), case.x0(number), values, 0))

    def _play(
        self, method: Algorithm, problem: Problem, x0: Array, values: Mapping[str, Any], seed: Any
    ) -> Iterator[Any]:
        state = method.init(problem, x0)
        for r in range(self.rounds):
            new = method.round(problem, state, None, Key(seed, r))
            if r >= self.first_round:
                yield self.quantities(problem, state, new, values)
            state = new

    def _sides(self, round_: Any, case: LineQuadratics, number: Any) -> tuple[Any, Any]:
        """The side that should be smaller, and the other, as numbers."""
        left, right, _ = self._compared(round_, case.values(number), number)
        return _number(left), _number(right)

    def _compared(self, round_: Any, values: Mapping[str, Any], number: Any) -> tuple[Any, Any, Any]:
        """Both sides and the size of what is compared."""
        read = {name: getattr(round_, name) for name in self._named}
        named = {name: to_numpy(value) if is_array(value) else value for name, value in read.items()}
        known = {**values, **{name: number(v) for name, v in self.exact_constants.items()}, **named}
        sides = [term.at(known, number) for term in self.comparison.terms]
        if number is not Fraction:  # whole numbers among the parameters are exact
            sides = [np.asarray(side, dtype=float) for side in sides]
        size = None if number is Fraction else np.max(np.abs(np.broadcast_arrays(*sides, *named.values())), axis=0)
        left, right = sides if self.comparison.signs == ("<=",) else sides[::-1]
        return left, right, size

    def _violated_round(self, case: LineQuadratics) -> int | None:
        """The first round in which an instance is an admissible violation, exactly; None if there is none."""
        if not all(c.holds(case.parameters) for c in (*self.conditions, *self._on_curvatures(case))):
            return None
        if not (self.parameters.inside(case.parameters) and self.counts.holds(len(case.curvature), case.parameters)):
            return None
        for k, round_ in enumerate(self._rounds_on(case, Fraction)):
            left, right = self._sides(round_, case, Fraction)
            r = self.first_round + k + 1
            if left > right and self.replay(case.as_data() | {"round": r}).violated:
                return r
        return None

    def _fails_at(self, case: LineQuadratics) -> int | None:
        """The same, None too where an instance cannot be run."""
        try:
            return self._violated_round(case)
        except _CANNOT_RUN:
            return None

    def _searched(self, context: Context) -> Iterator[Part]:
        """Random instances and local search, over functions, starts and parameters; the fewest clients with a violation are told."""
        cases = [*self.counts.cases(self.parameters)]
        few = sum(n <= PLANE for *_, n in cases)
        worst, exceeding, counted, numbers = -np.inf, list[tuple["_Search", Any]](), 0, self.counts.tried
        for fixed, region, n in cases:
            share = (
                1 / len(cases)
                if few in (0, len(cases))
                else FEW_CLIENTS / few
                if n <= PLANE
                else (1 - FEW_CLIENTS) / (len(cases) - few)
            )
            search = _Search(self, {k: int(v) for k, v in fixed.items()}, region, n, context.seed, context.place)
            asked = Search(search.sample, search.ratio, search.repair)
            try:
                found = falsify(asked, max(int(context.pick(6_000, 60_000) * share), 2), seed=context.seed, batch=512)
            except InvalidInput as error:
                yield Part("search", None, "falsifier", f"{self}: {error}")
                return
            counted += search.counted
            worst = max(worst, found.ratio)
            exceeding += [(search, found.candidate)] if found.ratio > 1 + EXCESS else []
        text = (
            f"{self}: {counted} rounds of admissible instances, {name_numbers(numbers)}; the smaller side exceeds the other by at most "
            f"{worst - 1:.3g} of the largest quantity"
        )
        data = {"rounds counted": counted, "largest relative excess": float(worst - 1), "clients": list(numbers)}
        if not exceeding:
            enough, covered = counted >= LEAST or None, Covered(counted, "rounds")
            yield Part("search", enough, "falsifier", text, margin=1 - worst, covered=covered, data=data)
            return
        for search, candidate in sorted(exceeding, key=lambda found: found[0].n):
            for case in search.simplified(candidate):
                r = self._fails_at(case)
                if r is not None:
                    yield self._refuted(case, r)
                    return
        yield Part("search", None, "falsifier", text + "; no instance in fractions shows that violation", data=data)

    def _given_instances(self, context: Context) -> Part:
        """Runs in floats on the caller's instances, those that are certified to meet the assumptions."""
        assert self.instances is not None
        count = context.pick(200, 2000)
        rng = context.rng()
        worst, counted = -np.inf, 0
        for fixed, region in list(self.parameters.cases())[:4]:
            values = {k: int(v) for k, v in fixed.items()} | _points_of_box(
                region, rng.random((count, len(region.parameters)))
            )
            problem = self.instances(rng, values, count)
            if not self.counts.holds(problem.n, fixed):
                raise InvalidInput(
                    f"the caller's instances have {problem.n} clients, and the statement is about {self.counts}"
                )
            met = _rows_met(self.conditions, values, count)
            for name, text in self.certified.items():
                limit = Comparison.parse(f"0 {text}")
                given, allowed = constant(problem, name).value, limit.terms[1].at(values, float)
                met = met & (given <= allowed if limit.signs[0] in ("<", "<=") else given >= allowed)
            start = rng.standard_normal((count, 1, problem.d))
            score, rounds = self._scores(problem, start, values, met, context.seed, context.place)
            counted += rounds
            worst = max(worst, float(np.max(score)))
        excess = worst - 1
        said = f"{counted} rounds of the caller's instances that are certified, n = {problem.n}; largest excess {excess:.3g} of the largest quantity"
        if not counted:
            return Part("given instances", None, "numeric", "no instance met the assumptions")
        holds = None if counted < LEAST or excess > EXCESS else True
        return Part("given instances", holds, "numeric", said, margin=-excess, covered=Covered(counted, "rounds"))

    def _scores(
        self,
        problem: Problem,
        start: Any,
        values: Mapping[str, Any],
        met: NDArray[np.bool_],
        seed: int,
        place: Placement,
    ) -> tuple[NDArray[np.float64], int]:
        """One plus the largest relative excess of each run, -inf where it is not counted; how many rounds were.

        The rounds are played at the place, the two sides are compared on the host.
        """
        there = {k: place.array(v) if isinstance(v, np.ndarray) else v for k, v in values.items()}
        batched = {k: v[:, None, None] if is_array(v) else v for k, v in there.items()}
        method = self.named_method.over(batched, float)
        score = np.full(met.shape, -np.inf)
        counted = 0
        with np.errstate(all="ignore"):
            for round_ in self._play(method, place.move(problem), place.array(start), there, seed):
                left, right, size = self._compared(round_, values, float)
                excess = (left - right) / np.maximum(size, np.finfo(float).tiny)
                fine = met & np.isfinite(excess) & (size > 0)
                counted += int(fine.sum())
                score = np.where(fine, np.maximum(score, 1 + excess), score)
        return score, counted

    def __str__(self) -> str:
        return f"{self.name or self.named_method}: {self.comparison}"


class _Search:
    """Candidates for one choice of whole numbers: quadratics, a start, and a place in the box of the parameters."""

    def __init__(
        self, stated: Inequality, fixed: Mapping[str, int], region: Region, n: int, seed: int, place: Placement
    ) -> None:
        self.stated, self.fixed, self.region = stated, fixed, region
        self.n, self.d, self.seed, self.place = n, 2 if n == PLANE else 1, seed, place
        self.counted = 0

    def sample(self, rng: np.random.Generator, count: int) -> Candidates:
        """Half of the curvatures at an end; starts and centres of all sizes."""
        shape = (count, self.n, self.d)
        ends = rng.integers(0, 2, shape)
        share = np.where(rng.random(shape) < 0.5, ends, rng.random(shape))
        apart = np.where(rng.random((count, 1, 1)) < 0.3, 0.0, 1.0)
        return {
            "share": share.astype(float),
            "centre": apart * rng.standard_normal(shape),
            "start": rng.standard_normal((count, 1, self.d)),
            "box": rng.random((count, len(self.region.parameters))),
        }

    def repair(self, candidates: Candidates) -> Candidates:
        """Shares and places in [0, 1]."""
        return candidates | {name: np.clip(candidates[name], 0, 1) for name in ("share", "box")}

    def values(self, candidates: Candidates) -> dict[str, Any]:
        """The parameters of every candidate."""
        return {**self.fixed, **_points_of_box(self.region, candidates["box"])}

    def functions(self, candidates: Candidates, values: Mapping[str, Any]) -> SeparableQuadratics:
        """The clients of every candidate."""
        low, high = (np.reshape(limit.at(values, float), (-1, 1, 1)) for limit in self.stated.limits)
        return SeparableQuadratics(low + (high - low) * candidates["share"], candidates["centre"])

    def ratio(self, candidates: Candidates) -> NDArray[np.float64]:
        """One plus the excess."""
        values = self.values(candidates)
        functions = self.functions(candidates, values)
        met = _rows_met(self.stated.conditions, values, len(candidates["start"]))
        if self.stated.bounded_below:
            met = met & (functions.curvature.mean(-2) > 0).all(-1)
        score, counted = self.stated._scores(functions, candidates["start"], values, met, self.seed, self.place)
        self.counted += counted
        return score

    def simplified(self, candidate: Mapping[str, NDArray[np.float64]]) -> Iterator[LineQuadratics]:
        """Each coordinate of a candidate as an instance on the line, with small denominators first."""
        rows = {name: np.asarray(value)[None] for name, value in candidate.items()}
        values = self.values(rows)
        near = {
            **self.fixed,
            **{name: Fraction(float(np.ravel(v)[0])) for name, v in values.items() if name not in self.fixed},
        }
        functions = self.functions(rows, values)
        for denominator in TIDY_DENOMINATORS:
            point = self.stated.parameters.simplify(near, Fraction(1, denominator))
            low, high = self.stated._limits_at(point)
            for k in range(self.d):
                curvature, centre = functions.curvature[0, :, k], functions.centre[0, :, k]
                start = float(rows["start"][0, 0, k])
                size = max(float(np.abs(centre).max()), abs(start)) or 1.0
                yield LineQuadratics(
                    tuple(min(max(_near(a, denominator), low), high) for a in curvature),
                    tuple(_near(c / size, denominator) for c in centre),
                    _near(start / size, denominator),
                    point,
                )


def _near(value: float, denominator: int) -> Fraction:
    return Fraction(float(value)).limit_denominator(denominator)


def _number(value: Any) -> Any:
    """A number, from an array of one entry."""
    return np.ravel(value)[0] if isinstance(value, np.ndarray) else value


def _rows_met(conditions: tuple[Comparison, ...], values: Mapping[str, Any], count: int) -> NDArray[np.bool_]:
    """In which runs the conditions on the parameters hold."""
    met = np.ones(count, dtype=bool)
    for comparison in conditions:
        found = [term.at(values, float) for term in comparison.terms]
        for sign, a, b in zip(comparison.signs, found, found[1:], strict=False):
            compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}[sign]
            met &= compare(a, b)
    return met


def _points_of_box(region: Region, us: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The points of places in [0, 1]^k, in floats: as `Region.point_of_box`."""
    found: dict[str, Any] = {}
    near = float(NEAR_AN_END)
    for k, parameter in enumerate(region.parameters):
        low = np.broadcast_to(parameter.low.at(found, float), us.shape[:1])
        high = None if parameter.high is None else np.broadcast_to(parameter.high.at(found, float), us.shape[:1])
        with np.errstate(divide="ignore"):
            t = np.clip(us[:, k] / (1 - us[:, k]), near, 1 / near)
        if high is None and parameter.low.names:
            t = np.where(low > 0, t * low, t)
        value = low + t if high is None else low + (high - low) * t / (1 + t)
        if parameter.low_closed:
            value = np.where(us[:, k] <= 0, low, value)
        if high is not None and parameter.high_closed:
            value = np.where(us[:, k] >= 1, high, value)
        found[parameter.name] = value
    return found

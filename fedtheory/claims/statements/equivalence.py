"""Equivalences as data: two methods, and what the state of one is in terms of the other's.

    Equivalence("scaffold", "vrl-sgd", "lr, steps = K", "lr, steps = K", region="0 < lr, K in 1..4",
                states={"x": "x", "delta_i": "c_i - c"}, kept={"c": "mean_c_i"})

``states`` has expressions in the second's fields, each with the expression in the first's that it equals; ``mean_c_i`` is the average of c_i
over the clients, and parameters may occur. ``kept`` has fields of the first that others give in every state. Both are checked, in every
round; the methods are started from one common point.

How it is judged: small quadratics in fractions, where a difference refutes; rounds on unknown functions for every number of clients, dimension
and all parameters, which proves it for every round where ``states`` gives the second's whole state, and for two rounds otherwise; where the
methods cannot be followed so, general quadratics in symbols (n = 2, 3, two rounds); and many rounds in floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.claims.claim import Covered, Finding, Part, Reading, Replay
from fedtheory.claims.context import Context
from fedtheory.claims.parts import equal, proved_from_statement, refute
from fedtheory.claims.statements.client_counts import ClientCounts, name_numbers
from fedtheory.claims.statements.instances import (
    LineQuadratics,
    region_assumptions,
    require_parameters,
    simple_instances,
)
from fedtheory.claims.statements.named_methods import Formula, NamedMethod
from fedtheory.claims.statements.on_region import OnRegion, no_special_numbers
from fedtheory.claims.statements.unit_reading import UnitReading, require_units
from fedtheory.claims.statements.unstated import tell_options
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.states import arrays_of
from fedtheory.proofs.facts import take_facts
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.parameters.equivalence import (
    MEAN,
    CoinsByPurpose,
    Correspondence,
    agree_at_start,
    agree_in_every_round,
    for_all_coins,
)
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.regions.expressions import Comparison, Expression
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.regions.units import OF_CURVATURES, Quantity, make_alike
from fedtheory.proofs.spectrum import require_traceable
from fedtheory.proofs.stand_ins import any_clients
from fedtheory.proofs.symbolic import agree, symbols, tidy

#: rounds that are played in fractions and symbols; in fractions where floats differ later; and in floats
EXACT_ROUNDS, LATE_ROUNDS, FLOAT_ROUNDS = 2, 6, 30
#: draws of functions, starts and coins that are run in floats
FLOAT_DRAWS = 10
#: relative difference that floats are allowed, of the largest entry of either side over the run
ALIKE_TO = 1e-8


@dataclass(frozen=True)
class Equivalence(OnRegion):
    """Two methods have the same iterates, or states that correspond.

    Parameters
    ----------
    first, second : names of listed methods, or functions of parameters to methods
    options, second_options : str
        Options of listed methods, as expressions in parameters: ``"lr, steps = K"``.
    region : str or Region
        The parameters: ``"0 < lr, K in 1..4"``.
    where : comparisons that parameters satisfy besides
    states : expressions in the second's fields, each with the one in the first's that it equals
    kept : fields of the first that others give, each with its expression in free fields and in those before it
        ``{"h_i": "h_i - mean_h_i"}`` says that the h_i average to zero.
    from_round : int
        The states correspond from this round on.
    curvatures : "low, high", expressions in parameters
        Of the quadratics it is tried on, where the statement is for clients of limited curvature only; any positive ones by default.
    clients : str
        How many there are: a number, a range such as ``"2..8"`` or ``"1.."``, a whole-number parameter; by default every n >= 2.
    instances : function of a seed to a problem
        Further instances for runs in floats.
    name : str
    units : str
        As for `fedtheory.claims.Bound`.

    Raises
    ------
    InvalidInput
        A text cannot be read, speaks of something that is neither a field nor a parameter, or puts unlike units together.

    Examples
    --------
    >>> stated = Equivalence(
    ...     "scaffold", "vrl-sgd", "lr, steps = 2", "lr, steps = 2", region="0 < lr", states={"x": "x", "delta_i": "c_i - c"},
    ...     kept={"c": "mean_c_i"},
    ... )
    >>> claim = state("MINE-1", "my paper", "Remark 1", "VRL-SGD is SCAFFOLD.", stated)
    >>> from fedtheory.claims.checking import judge_claim
    >>> print(judge_claim(claim, "mine.py", Context()).status)
    proved
    """

    first: str | Callable[..., Algorithm]
    second: str | Callable[..., Algorithm]
    options: str = ""
    second_options: str = ""
    _: KW_ONLY
    region: str | Region = ""
    where: tuple[str, ...] = ()
    states: Mapping[str, Formula] = field(default_factory=lambda: {"x": "x"})
    kept: Mapping[str, Formula] = field(default_factory=dict)
    from_round: int = 0
    curvatures: str = ""
    clients: str = ""
    instances: Callable[[int], Problem] | None = None
    name: str = ""
    units: str = ""

    def __post_init__(self) -> None:
        """Read every text once, and play nothing on nothing: fields are compared with those of the methods' states."""
        known = frozenset(self.parameters.names)
        for which, method in zip(("first", "second"), self.methods, strict=True):
            for option, expression in method.expressions.items():
                self.require_parameters(f"option {option} of the {which}", expression)
        for comparison in self.conditions:
            self.require_parameters(str(comparison), comparison)
        if self.curvatures and len(self.limits) != 2:
            raise InvalidInput(f"curvatures are 'low, high', got {self.curvatures!r}")
        if not self.states:
            raise InvalidInput("an equivalence needs fields that correspond, such as states={'x': 'x'}")
        require_units(self.unlike_units, self.units)
        self.require_sense(self._build)
        try:
            point = self.parameters.simple_points(1)[0]
            shown = self._template(point)
        except (FedtheoryError, ArithmeticError) as error:
            raise InvalidInput(f"the methods cannot be built and started at a point of the region: {error}") from error
        names = [known | {prefix + f for f in arrays_of(state) for prefix in ("", MEAN)} for state in shown]
        for left, right in self.relations.pairs:
            _require_fields(left, names[1], "second")
            _require_fields(right, names[0], "first")
        for name, given in self.relations.kept.items():
            _require_fields(given, names[0], "first")
            _require_fields(Expression.parse(name), names[0], "first")

    def _build(self, point: Mapping[str, Fraction]) -> None:
        self._template(point)
        for text in (*chain.from_iterable(self.relations.pairs), *self.relations.kept.values()):
            text.at({**no_special_numbers(text.names), **point})

    def _read_units(self, reading: UnitReading) -> None:
        problem, x0 = reading.quadratics()
        for limit in self.limits:
            if limit.names:
                reading.require("the curvature", limit, OF_CURVATURES, "a curvature")
        a, b = (reading.values | with_means(reading.read_method(method, problem, x0)) for method in self.methods)
        reading.read_ranges(self.conditions)
        for left, right in self.relations.pairs:
            sides = left.at(b), right.at(a)
            if any(isinstance(side, Quantity) for side in sides) and 0 not in sides:
                make_alike(sides[0], "==", sides[1])

    @cached_property
    def methods(self) -> tuple[NamedMethod, NamedMethod]:
        """Both methods as functions of the parameters."""
        return NamedMethod(self.first, self.options), NamedMethod(self.second, self.second_options)

    @cached_property
    def counts(self) -> ClientCounts:
        """How many clients it is about."""
        return ClientCounts.read(self.clients, self.parameters)

    @cached_property
    def limits(self) -> tuple[Expression, ...]:
        """Lowest and highest curvature."""
        return tuple(Expression.parse(text) for text in self.curvatures.split(",") if text.strip())

    @cached_property
    def relations(self) -> Correspondence:
        """What corresponds, as expressions."""
        pairs = tuple((Expression.parse(left), Expression.parse(right)) for left, right in self.states.items())
        return Correspondence(pairs, {name: Expression.parse(given) for name, given in self.kept.items()})

    def near_misses(self) -> dict[str, Equivalence]:
        """The first method with one per cent less of a number, or one more of a whole number, in one of its options or arguments."""
        found = {}
        for name, method, options in self.methods[0].slips(self.parameters):
            try:
                found[f"{name} of the first method"] = replace(self, first=method, options=options)
            except InvalidInput:
                continue
        return found

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """Both methods, by the field that has their options."""
        return dict(zip(("options", "second_options"), self.methods, strict=True))

    def findings(self, context: Context) -> Iterator[Finding]:
        """Parts of a check, and what the statement leaves open."""
        yield from tell_options(self, context, Equivalence._find)

    def _find(self, context: Context) -> Iterator[Finding]:
        """A refutation where fractions differ; otherwise the comparison in fractions, a proof, and runs."""
        tried, numbers, differs = self._differing(self._last)
        if differs is not None:
            yield refute("the same iterates", self.replay, differs.as_data(), text=str(self))
            return
        runs = self._runs(context)
        if runs.holds is False:
            last = self.from_round + LATE_ROUNDS
            _, _, late = self._differing(last)
            if late is not None:
                yield refute("the same iterates", self.replay, {**late.as_data(), "rounds": last}, text=str(self))
                return
        if tried:
            rounds = f"rounds {self.from_round} to {self._last}"
            text = f"{self}: equal in fractions in {rounds} on {tried} small quadratics, {name_numbers(numbers)}"
            yield Part("fractions", True, "exact", text, covered=Covered(tried, "instances"))
        else:
            yield Reading(f"{self}: the methods do not run on small quadratics in fractions.")
        yield self._proof()
        yield runs

    def replay(self, instance: Mapping[str, Any]) -> Replay:
        """The largest difference of what should be equal on an instance, in floats and in fractions."""
        case = LineQuadratics.read(instance)
        require_parameters(self.parameters, case.parameters)
        last = instance.get("rounds", self._last)
        if not (isinstance(last, int) and self.from_round <= last <= self.from_round + LATE_ROUNDS):
            raise InvalidInput(f"rounds lie in {self.from_round}, ..., {self.from_round + LATE_ROUNDS}, got {last!r}")
        exact, numeric = self._difference(case, Fraction, last)[0], self._difference(case, float, last)
        return Replay(
            what=f"largest difference between what corresponds, in rounds {self.from_round} to {last}",
            measured=float(numeric[0]),
            bound=ALIKE_TO * float(numeric[1]),
            exact_measured=exact,
            exact_bound=Fraction(0),
            arithmetic="fractions",
            assumptions=(
                self.counts.assumption(len(case.curvature), case.parameters),
                *region_assumptions(self.parameters, self.conditions, case.parameters),
                *region_assumptions(
                    Region(),
                    [
                        Comparison.parse(f"{low} <= {a} <= {high}")
                        for low, high in self._given()
                        for a in case.curvature
                    ],
                    case.parameters,
                ),
            ),
        )

    def _given(self) -> list[tuple[Expression, Expression]]:
        return [(self.limits[0], self.limits[1])] if self.limits else []

    @property
    def _last(self) -> int:
        return self.from_round + EXACT_ROUNDS

    def _template(self, point: Mapping[str, Fraction]) -> list[State]:
        case = LineQuadratics((Fraction(1),) * 2, (Fraction(0),) * 2, Fraction(1), point)
        return [method.at(point).init(case.problem(), case.x0()) for method in self.methods]

    def _limits_at(self, point: Mapping[str, Fraction]) -> tuple[Fraction | None, Fraction | None]:
        if not self.limits:
            return None, None
        return Fraction(self.limits[0].at(point)), Fraction(self.limits[1].at(point))

    def _differing(self, last: int) -> tuple[int, tuple[int, ...], LineQuadratics | None]:
        """How many instances were compared, with how many clients, and the first on which there is a difference."""
        tried: list[int] = []
        for case in simple_instances(self.parameters, self.conditions, self._limits_at, self.counts):
            try:
                differs = self._difference(case, Fraction, last)[0] != 0
            except (FedtheoryError, ArithmeticError, TypeError):
                continue
            tried.append(len(case.curvature))
            if differs and self.replay({**case.as_data(), "rounds": last}).violated:
                return len(tried), tuple(sorted({*tried})), case
        return len(tried), tuple(sorted({*tried})), None

    def _difference(self, case: LineQuadratics, number: Any, last: int) -> tuple[Any, Any]:
        """The largest difference in all courses of the coins up to a round, and the largest entry."""
        values = case.values(number)
        first, second = (
            method.at(case.parameters) if number is Fraction else method.over(values, float) for method in self.methods
        )
        problem, x0 = case.problem(number), case.x0(number)
        waiting = [(first.init(problem, x0), second.init(problem, x0))]
        worst, size = number(0), number(0)
        for r in range(last + 1):
            for a, b in waiting:
                if r >= self.from_round:
                    for _, left, right in self.relations.sides(a, b, values):
                        worst = max(worst, np.max(np.abs(left - right)))
                        size = max(size, np.max(np.abs(left)), np.max(np.abs(right)))
            waiting = [
                states for a, b in waiting for _, states in for_all_coins(_both(first, second, problem, a, b), r)
            ]
        return worst, size

    def _proof(self) -> Part | Reading:
        """For every number of clients, dimension and function; otherwise for quadratics."""
        template = self._template(self.parameters.simple_points(1)[0])
        whole = self.relations.maps_all(template[1])
        common = frozenset(name for name, values in arrays_of(template[0]).items() if values.shape[-2] == 1)
        followed = False
        for in_all in (True, False) if whole else (False,):
            try:
                shown = self._for_any_functions(in_all, common)
                followed = True
            except (FedtheoryError, ArithmeticError, TypeError, AttributeError, ValueError):
                shown = False
            if shown:
                return self._proved_for_any_functions(in_all)
            take_facts()  # of what did not go through
        if followed:
            text = (
                "on unknown functions the two sides are different combinations of gradients, which may still coincide"
            )
            return Part("any functions", None, "symbolic", text)
        try:
            numbers = [n for n in (1, 2, 3) if self.counts.allows(n)] or [self.counts.first]
            shown = all(self._for_quadratics(n) for n in numbers)
        except (FedtheoryError, ArithmeticError, TypeError, AttributeError, ValueError) as error:
            take_facts()
            return Reading(f"{self}: no proof, for the methods cannot be followed in symbols ({str(error)[:150]}).")
        scope = f"{name_numbers(tuple(numbers))}, quadratics on the line, rounds {self.from_round} to {self._last}"
        if shown:
            return proved_from_statement("quadratics", "equal on general quadratics, for all parameters", scope=scope)
        take_facts()
        return Part("quadratics", None, "symbolic", "general quadratics in symbols do not show it")

    def _proved_for_any_functions(self, in_all_rounds: bool) -> Part:
        rounds = f"rounds {self.from_round} to {self._last}"
        how = (
            "and one round keeps it from all states that correspond, so in every round"
            if in_all_rounds
            else f"and in {rounds}"
        )
        return proved_from_statement(
            "any functions",
            f"at a start from any point the states correspond, {how}: both methods ask the clients the same, for {self.counts}, every "
            "dimension, all parameters and any functions whose local problems have one solution; all clients take part",
            scope="" if in_all_rounds else rounds,
        )

    def _for_any_functions(self, whole: bool, common: frozenset[str]) -> bool:
        for fixed, region in self.parameters.cases():
            values: dict[str, Any] = {**fixed, **ParameterField(region).parameters()}
            n = self._number_of_clients(values)
            first, second = (method.over(values) for method in self.methods)
            if whole:
                shown = agree_in_every_round(first, second, self.relations, values, common, self.from_round, n)
            else:
                shown = all(
                    agree_at_start(first, second, self.relations, values, r, n)
                    for r in range(self.from_round, self._last + 1)
                )
            if not shown:
                return False
        return True

    def _number_of_clients(self, values: Mapping[str, Any]) -> Any:
        """A number, a parameter, or what stands for every one that the statement is about."""
        if self.counts.parameter:
            n = values[self.counts.parameter]
            return int(n) if isinstance(n, Fraction) else n
        return self.counts.first if self.counts.first == self.counts.last else any_clients(self.counts.first)

    def _for_quadratics(self, n: int) -> bool:
        """Rounds on general quadratics in symbols."""
        h, c = symbols(f"h1:{n + 1}", positive=True), symbols(f"c1:{n + 1}")
        problem = SeparableQuadratics(*(np.asarray(s, dtype=object)[:, None] for s in (h, c)))
        x0 = np.array([[symbols("x")]], dtype=object)
        own = {self.counts.parameter: Fraction(n)} if self.counts.parameter else {}
        for fixed, region in self.parameters.fix(own).cases():
            positive = {p.name: symbols(p.name, positive=True) for p in region.parameters if _is_positive(p.low)}
            values: dict[str, Any] = {p.name: symbols(p.name) for p in region.parameters} | positive | fixed | own
            first, second = (method.over(values) for method in self.methods)
            for method in (first, second):
                require_traceable(method, "symbolic")
            waiting = [(first.init(problem, x0), second.init(problem, x0))]
            for r in range(self._last + 1):
                for a, b in waiting if r >= self.from_round else ():
                    sides = self.relations.sides(a, b, values)
                    if not all(agree(*np.broadcast_arrays(left, right)) for _, left, right in sides):
                        return False
                if r < self._last:
                    waiting = [
                        tuple(map(tidy, states))
                        for a, b in waiting
                        for _, states in for_all_coins(_both(first, second, problem, a, b), r)
                    ]
        return True

    def _runs(self, context: Context) -> Part:
        """Many rounds in floats, with coins."""
        points = [p for p in self.parameters.simple_points(3) if all(c.holds(p) for c in self.conditions)]
        numbers = self.counts.tried
        made: list[tuple[str, Any, Mapping[str, Fraction], int]] = []
        for k in range(max(FLOAT_DRAWS, len(numbers))):
            n, point = numbers[k % len(numbers)], points[k % len(points)]
            if self.counts.parameter:
                n = int(point[self.counts.parameter])
            seed = FLOAT_DRAWS * context.seed + k
            made.append(("separable quadratics", _random_quadratics(n, seed, *self._limits_at(point)), point, seed))
            if self.instances is not None:
                given = self.instances(seed)
                made.append((given.name, given, point, seed))
        worst, size, failed = 0.0, 1.0, list[str]()
        for name, problem, where, seed in made:
            try:
                found = self._play(problem, where, seed)
            except (FedtheoryError, ArithmeticError, TypeError) as error:
                failed.append(f"{name}: {error}")
                continue
            if found[0] / found[1] > worst / size:
                worst, size = found
        if failed and len(failed) == len(made):
            return Part("runs", None, "numeric", f"no run in floats: {failed[0][:200]}")
        covered = Covered(len(made) - len(failed), "draws")
        told = name_numbers(tuple(sorted({problem.n for _, problem, *_ in made})))
        said = f"{covered.count} runs of {FLOAT_ROUNDS} rounds, {told}: largest difference {worst:.2g} of {size:.3g}"
        return equal("runs", worst + size, size, "numeric", said, rtol=ALIKE_TO, covered=covered)

    def _play(self, problem: Problem, point: Mapping[str, Fraction], seed: int) -> tuple[float, float]:
        plain = {name: int(v) if v.denominator == 1 else float(v) for name, v in point.items()}
        first, second = (method.over(plain, float) for method in self.methods)
        x0 = np.random.default_rng(seed).standard_normal((1, problem.d))
        a, b = first.init(problem, x0), second.init(problem, x0)
        worst, size = 0.0, float(np.finfo(float).tiny)
        for r in range(FLOAT_ROUNDS + 1):
            if r >= self.from_round:
                for _, left, right in self.relations.sides(a, b, plain):
                    worst = max(worst, float(np.max(np.abs(left - right))))
                    size = max(size, float(np.max(np.abs(left))), float(np.max(np.abs(right))))
            if not size < 1e100:
                break
            key = Key(seed, r)
            a, b = first.round(problem, a, None, key), second.round(problem, b, None, key)
        return worst, size

    def __str__(self) -> str:
        told = ", ".join(f"{left} = {right}" for left, right in self.relations.pairs)
        return f"{self.name or f'{self.methods[0]} and {self.methods[1]}'} ({told})"


def _both(
    first: Algorithm, second: Algorithm, problem: Problem, a: State, b: State
) -> Callable[[Any], tuple[State, State]]:
    def play(key: CoinsByPurpose) -> tuple[State, State]:
        coins: Any = key
        return first.round(problem, a, None, coins), second.round(problem, b, None, coins)

    return play


def with_means(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields and their averages over clients, by the names that relations have for them."""
    return {**fields, **{MEAN + name: value for name, value in fields.items()}}


def _require_fields(expression: Expression, known: frozenset[str], which: str) -> None:
    strange = sorted(expression.names - known)
    if strange:
        raise InvalidInput(
            f"{strange[0]!r} in {str(expression)!r} is neither a parameter nor a field of the {which} method's state; there are "
            f"{', '.join(sorted(known))}"
        )


def _is_positive(low: Expression) -> bool:
    """Whether a lower end is a number that is not negative."""
    return not low.names and low.at({}) >= 0


def _random_quadratics(n: int, seed: int, low: Fraction | None, high: Fraction | None) -> SeparableQuadratics:
    rng = np.random.default_rng(seed)
    a, b = (0.1, 2.0) if high is None or low is None else (float(low), float(high))
    return SeparableQuadratics(rng.uniform(a, b, (n, 3)), rng.standard_normal((n, 3)))

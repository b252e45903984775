"""The state of a method as errors to its fixed point, and the linear relations between them that rounds keep.

Exchangeable clients, x* = 0. A state is its fixed point plus errors. Rounds are linear in states and gradients, and at the fixed point all
evaluations are at x* (both are checked), so the errors move by the same rule, with gradients h_i = grad f_i(x) - grad f_i(x*): those of
f_i - <grad f_i(x*), .>, which is of the same class. A generic state is then one vector of errors for every field, and gradients at x* vanish.

Fields are tied to each other (a server's control variate is the average of the clients', duals sum to zero). A relation is used only when it
is proved from the method's own code, in exact arithmetic: it holds after the first round from every start, and whenever all relations hold
before a round they hold after it, whatever the coins and whoever takes part. The relations found are the most that prove each other.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.exact import Row, reduce_rows
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.states import arrays_of
from fedtheory.proofs.every_n.cells import cell, entry
from fedtheory.proofs.every_n.oracles import Leaves, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Number, Sampling, Vector
from fedtheory.proofs.function_class import FunctionClass, require_worst_case
from fedtheory.proofs.stand_ins import ANY_CLIENTS, AnyRound
from fedtheory.running.enumeration import enumerate_outcomes

Errors = dict[str, Vector]
PartKind = Literal["mean", "deviation"]
KINDS: tuple[PartKind, PartKind] = ("mean", "deviation")


@dataclass(frozen=True)
class Relation:
    """``sum_f weights[f] * part of the error of f = 0``, where the part is the average over clients or the deviations from it."""

    kind: PartKind
    weights: tuple[tuple[str, Fraction], ...]

    def __str__(self) -> str:
        word = "mean" if self.kind == "mean" else "dev"
        terms: list[str] = []
        for name, weight in self.weights:
            size = "" if abs(weight) == 1 else f"{abs(weight)} "
            sign = "-" if weight < 0 else "+" if terms else ""
            terms.append(f"{sign} {size}{word} {name}".strip())
        return " ".join(terms) + " = 0"


@dataclass(frozen=True, eq=False)
class Space:
    """The errors that a method's states can have: every part of a field is a combination of the parts of *free* fields.

    ``free[kind]`` names them; ``basis[kind][field]`` has one coefficient for each.
    """

    fields: tuple[str, ...]
    relations: dict[PartKind, list[Row]]
    free: dict[PartKind, tuple[str, ...]]
    basis: dict[PartKind, dict[str, Row]]

    @classmethod
    def of(cls, fields: tuple[str, ...], relations: dict[PartKind, list[Row]]) -> Space:
        """The space on which relations (rows over the fields) hold; the earlier a field, the rather is it free."""
        free: dict[PartKind, tuple[str, ...]] = {}
        basis: dict[PartKind, dict[str, Row]] = {}
        for kind in KINDS:
            columns = _kernel(relations[kind], len(fields))
            free[kind] = tuple(fields[at] for at, _ in columns)
            basis[kind] = {name: [vector[k] for _, vector in columns] for k, name in enumerate(fields)}
        return cls(fields, relations, free, basis)

    def errors(self, leaves: Leaves) -> Errors:
        """A generic error of every field: free parts are the first leaves."""
        leaves.mean, leaves.deviation = len(self.free["mean"]), len(self.free["deviation"])
        found = {}
        for name in self.fields:
            terms: dict[Any, Fraction] = {}
            for kind in KINDS:
                terms |= {(kind, k): value for k, value in enumerate(self.basis[kind][name]) if value != 0}
            found[name] = Vector(terms)
        return found

    def named(self) -> tuple[Relation, ...]:
        """The relations, readable; that a server's quantity has no deviations is not worth a line."""
        found = []
        for kind in KINDS:
            for row, _ in _reduced(self.relations[kind], len(self.fields)):
                first = next(w for w in row if w != 0)
                weights = tuple((name, w / first) for name, w in zip(self.fields, row, strict=True) if w != 0)
                if kind == "mean" or len(weights) > 1:
                    found.append(Relation(kind, weights))
        return tuple(found)

    def free_parts(self, errors: Errors) -> dict[PartKind, list[Vector]]:
        """The free parts of some errors."""
        return {kind: [_part(errors[name], kind) for name in self.free[kind]] for kind in KINDS}


@dataclass(frozen=True, eq=False)
class TracedRound:
    """One round from a generic state: the errors before it, and after it in every outcome of the coins, with its probability."""

    leaves: Leaves
    problem: SymmetricProblem
    before: Errors
    after: tuple[tuple[Any, Errors], ...]


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """A method whose errors are followed.

    ``first``: the round from which on all relations hold (0: from the start). ``units``: how large the error of a field is, to a power of
    two, when ||x^0 - x*|| = 1 and gradients at x* are of size L; programs in these units are well scaled. ``gradients``: whether potentials may
    have the gradients at x among their terms, also where no oracle promises anything of its answers.
    """

    algorithm: Algorithm
    function_class: FunctionClass
    participation: Sampling | None
    template: State
    space: Space
    first: int
    units: dict[str, Fraction]
    gradients: bool = False

    @property
    def steepness(self) -> Fraction:
        """L, to a power of two."""
        return _power_of_two(Fraction(self.function_class.L))

    def step(self) -> TracedRound:
        """Trace one round from a generic state of the space."""
        return _step(self.algorithm, self.function_class.mu, self.participation, self.template, self.space)

    def leaf_units(self, step: TracedRound) -> dict[tuple[str, int], Fraction]:
        """How large the leaves of a step are, by block ("S" or "Q") and number."""
        known = {
            (block, k): self.units[name]
            for block, kind in zip(("S", "Q"), KINDS, strict=True)
            for k, name in enumerate(self.space.free[kind])
        }
        return _leaf_units(step.problem, known, self.steepness)


def follow_errors(
    algorithm: Algorithm,
    function_class: FunctionClass,
    participation: Sampling | None = None,
    assume: Sequence[Relation] = (),
) -> ErrorModel:
    """Follow a method's errors; hyper-parameters and constants should be fractions (`fedtheory.core.exact.rational`).

    Parameters
    ----------
    assume : relations that the caller relies on; they are used because they are proved, or refused.

    Raises
    ------
    CannotTrace
        The method has no fixed point at x*, or its rounds depend on their number.
    InvalidInput
        A relation relied on is not kept by the rounds.
    """
    problem = SymmetricProblem(Leaves(), function_class.mu, n=clients_of(participation))
    origin = Vector({})
    problem.add(origin, problem.leaves.deviation_only())
    solution = algorithm.solution_state(problem, cell(origin))
    if solution is None:
        raise CannotTrace(
            f"{algorithm} does not have x* as a fixed point, so that no potential can vanish there; for the worst case after a given number "
            "of rounds no potential is needed (fedtheory worst-case)"
        )
    rounds = outcomes_of_round(algorithm, problem, solution, participation)
    at_star = vectors_of(solution)
    for _, state in rounds:
        for name, moved in _difference(vectors_of(state), at_star).items():
            if moved.terms:
                raise CannotTrace(
                    f"x* is not a fixed point of {algorithm}: started from its state there, a round changes {name}, so that no potential "
                    "can vanish at x*"
                )
    if len(problem.evaluations) > 1:
        raise CannotTrace(
            f"at its fixed point {algorithm} takes gradients at points other than x*; potentials are searched for methods that take all of them "
            "at x* there"
        )
    x0 = problem.leaves.vector(common=True)
    start = algorithm.init(problem, cell(x0))
    begun = _difference(vectors_of(start), at_star)
    first = [
        _difference(vectors_of(s), at_star) for _, s in outcomes_of_round(algorithm, problem, start, participation)
    ]
    fields = _in_order(begun, first)

    relations: dict[PartKind, list[Row]] = {kind: _holding(first, fields, kind) for kind in KINDS}
    while True:
        space = Space.of(fields, relations)
        after = [e for _, e in _step(algorithm, function_class.mu, participation, start, space).after]
        kept = {kind: _holding(after, fields, kind, among=relations[kind]) for kind in KINDS}
        if all(len(kept[kind]) == len(relations[kind]) for kind in KINDS):
            break
        relations = kept
    for relation in assume:
        _require(relation, space)
    at_once = all(len(_holding([begun], fields, kind, among=relations[kind])) == len(relations[kind]) for kind in KINDS)
    sizes = _leaf_units(problem, {_place(leaf): Fraction(1) for leaf in x0.terms}, Fraction(function_class.L))
    units = {}
    for name in fields:
        parts = [
            abs(Fraction(c)) * sizes[_place(leaf)]
            for errors in (begun, *first)
            for leaf, c in errors[name].terms.items()
        ]
        units[name] = _power_of_two(max(parts, default=Fraction(1)))
    return ErrorModel(algorithm, function_class, participation, start, space, 0 if at_once else 1, units)


def follow_one_round(
    model: ErrorModel, algorithm: Algorithm, mu: Number, participation: Sampling | None
) -> TracedRound:
    """One round of the same method with other numbers, such as rational functions of parameters, from a generic state of the model's space.

    The model's relations were proved for its own numbers; that x* is a fixed point, and that the first round from any start makes the relations
    hold and every round keeps them, is proved anew for these.

    Raises
    ------
    CannotTrace
        A relation does not hold for these numbers.
    """
    problem = SymmetricProblem(Leaves(), mu, n=clients_of(participation))
    origin = Vector({})
    problem.add(origin, problem.leaves.deviation_only())
    solution = algorithm.solution_state(problem, cell(origin))
    assert solution is not None  # the model exists
    at_star = vectors_of(solution)
    rounds = outcomes_of_round(algorithm, problem, solution, participation)
    moved = any(e.terms for _, state in rounds for e in _difference(vectors_of(state), at_star).values())
    if moved or len(problem.evaluations) > 1:
        raise CannotTrace(f"x* is not a fixed point of {algorithm} for all parameters")
    start = algorithm.init(problem, cell(problem.leaves.vector(common=True)))
    first = [
        _difference(vectors_of(s), at_star) for _, s in outcomes_of_round(algorithm, problem, start, participation)
    ]
    step = _step(algorithm, mu, participation, start, model.space)
    for errors in (*first, *(errors for _, errors in step.after)):
        for kind in KINDS:
            for row in model.space.relations[kind]:
                left = Vector({})
                for name, weight in zip(model.space.fields, row, strict=True):
                    left = left + _part(errors[name], kind) * weight
                if left.terms:
                    raise CannotTrace(f"a relation between the fields of {algorithm} does not hold for all parameters")
    return step


def follow_states(
    algorithm: Algorithm, mu: Number, who: Sampling | None = None, numbers: Sequence[Any] = (), *, noisy: bool = False
) -> tuple[Space, int]:
    """The states that a method can have, for one choice of numbers, and from which round on.

    Each is that of the fixed point, where the method has one, and a vector for each field, with the relations between these that hold after the
    first round from every start and that rounds keep. ``numbers``: those of the rounds that are looked at, where rounds depend on them.

    Raises
    ------
    DependsOnRound
        Rounds depend on their number, and no numbers are given.
    """
    relations, fields, begun = _first_relations(algorithm, mu, who, numbers, noisy=noisy)
    while True:
        space = Space.of(fields, relations)
        after = [
            errors
            for number in numbers or (None,)
            for errors in _moved_from(algorithm, mu, space, who, number, noisy=noisy)
        ]
        kept = {kind: _holding(after, fields, kind, among=relations[kind]) for kind in KINDS}
        if all(len(kept[kind]) == len(relations[kind]) for kind in KINDS):
            break
        relations = kept
    at_once = all(len(_holding([begun], fields, kind, among=relations[kind])) == len(relations[kind]) for kind in KINDS)
    return space, 0 if at_once else 1


def require_relations(
    algorithm: Algorithm,
    mu: Number,
    space: Space,
    who: Sampling | None = None,
    number: Any = None,
    *,
    noisy: bool = False,
) -> None:
    """Prove the relations of a space for other numbers of the same method, such as rational functions of parameters.

    ``number``: of any round after the first, where rounds depend on it.

    Raises
    ------
    CannotTrace
        A relation does not hold for these numbers.
    """
    _, _, first = _started(algorithm, mu, who, None if number is None else 0, noisy=noisy)
    for errors in (*first, *_moved_from(algorithm, mu, space, who, number, noisy=noisy)):
        for kind in KINDS:
            for row in space.relations[kind]:
                left = Vector({})
                for name, weight in zip(space.fields, row, strict=True):
                    left = left + _part(errors[name], kind) * weight
                if left.terms:
                    raise CannotTrace(f"a relation between the fields of {algorithm} does not hold for all parameters")


def _started(
    algorithm: Algorithm, mu: Number, who: Sampling | None, number: Any = None, *, noisy: bool = False
) -> tuple[Errors, Errors, list[Errors]]:
    """The fixed point (nothing, where there is none), and the differences of the start and of the states after one round to it."""
    problem = _problem(Leaves(), mu, who, noisy=noisy)
    solution = algorithm.solution_state(problem, cell(Vector({})))
    start = algorithm.init(problem, cell(problem.leaves.vector(common=True)))
    at_star = {} if solution is None else vectors_of(solution)
    origin = {name: at_star.get(name, Vector({})) for name in vectors_of(start)}
    first = [_difference(vectors_of(s), origin) for _, s in outcomes_of_round(algorithm, problem, start, who, number)]
    return origin, _difference(vectors_of(start), origin), first


def _problem(leaves: Leaves, mu: Number, who: Sampling | None, *, noisy: bool) -> SymmetricProblem:
    """Functions with gradients at x*; noise that gradients may have is new vectors."""
    problem = SymmetricProblem(leaves, mu, noise=leaves.vector if noisy else None, n=clients_of(who))
    problem.add(Vector({}), leaves.deviation_only())
    return problem


def _first_relations(
    algorithm: Algorithm, mu: Number, who: Sampling | None, numbers: Sequence[Any] = (), *, noisy: bool = False
) -> tuple[dict[PartKind, list[Row]], tuple[str, ...], Errors]:
    _, begun, first = _started(algorithm, mu, who, 0 if numbers else None, noisy=noisy)
    fields = _in_order(begun, first)
    return {kind: _holding(first, fields, kind) for kind in KINDS}, fields, begun


def _moved_from(
    algorithm: Algorithm, mu: Number, space: Space, who: Sampling | None, number: Any = None, *, noisy: bool = False
) -> list[Errors]:
    """States after a round from any state of the space, less the fixed point."""
    leaves = Leaves()
    errors = space.errors(leaves)
    problem = _problem(leaves, mu, who, noisy=noisy)
    solution = algorithm.solution_state(problem, cell(Vector({})))
    template = algorithm.init(problem, cell(leaves.vector(common=True)))
    at_star = {} if solution is None else vectors_of(solution)
    origin = {name: at_star.get(name, Vector({})) for name in space.fields}
    state = dataclasses.replace(
        template, **{name: cell(origin[name] + v, getattr(template, name).rows) for name, v in errors.items()}
    )
    return [
        _difference(vectors_of(new), origin) for _, new in outcomes_of_round(algorithm, problem, state, who, number)
    ]


def outcomes_of_round(
    algorithm: Algorithm, problem: Problem, state: State, who: Sampling | Clients | None = None, number: Any = None
) -> list[tuple[Any, State]]:
    """The states after a round, with the probabilities of the coins; all clients take part, s of n, or those that are named.

    It is the round with that number, or one that stands for all.

    Raises
    ------
    CannotTrace
        The method decides on values or coordinates, and the problem stands for functions of any dimension.
    """
    if isinstance(problem, SymmetricProblem):
        require_worst_case(algorithm, noise=problem.noisy_grad is not None)
    asked: Any = AnyRound() if number is None else number
    everyone = isinstance(who, Sampling) and who.s == who.n and not getattr(algorithm, "partial", True)
    clients: Any = None if everyone else who
    return enumerate_outcomes(lambda key: algorithm.round(problem, state, clients, key), asked)


def _place(leaf: tuple[str, int]) -> tuple[str, int]:
    """Block and number of a leaf, from its part and number."""
    return ("S" if leaf[0] in ("mean", "sampled mean") else "Q", leaf[1])


def _leaf_units(
    problem: SymmetricProblem, known: dict[tuple[str, int], Fraction], steepness: Fraction
) -> dict[tuple[str, int], Fraction]:
    """Sizes of all leaves: those that gradients introduced are L times those of points."""
    units = dict(known)
    for e in problem.evaluations:
        for vector, size in ((e.g, steepness), (e.x, Fraction(1))):
            for leaf in vector.terms:
                units.setdefault(_place(leaf), size)
    for _, form in problem.conditions:  # answers that are compared with gradients
        for matrix, i, j in form.gram:
            units.setdefault((matrix, i), steepness)
            units.setdefault((matrix, j), steepness)
    return units


def _power_of_two(size: Fraction) -> Fraction:
    return Fraction(2) ** round(math.log2(size))


def _step(
    algorithm: Algorithm, mu: Number, participation: Sampling | None, template: State, space: Space
) -> TracedRound:
    leaves = Leaves()
    before = space.errors(leaves)
    problem = SymmetricProblem(leaves, mu, n=clients_of(participation))
    problem.add(Vector({}), Vector({}))
    state = dataclasses.replace(template, **{name: cell(v, getattr(template, name).rows) for name, v in before.items()})
    after = tuple(
        (weight, vectors_of(new)) for weight, new in outcomes_of_round(algorithm, problem, state, participation)
    )
    return TracedRound(leaves, problem, before, after)


def clients_of(participation: Sampling | None) -> Any:
    """How many clients a problem of exchangeable ones has: any number, or that of who is drawn."""
    return ANY_CLIENTS if participation is None else participation.n


def vectors_of(state: State) -> Errors:
    """The fields that hold vectors."""
    found = {name: entry(value) for name, value in arrays_of(state).items() if value.dtype == object}
    return {name: v for name, v in found.items() if isinstance(v, Vector)}


def _difference(errors: Errors, origin: Errors) -> Errors:
    return {name: v - origin[name] for name, v in errors.items()}


def _in_order(begun: Errors, first: Iterable[Errors]) -> tuple[str, ...]:
    """The fields: the server's model, then what clients have of their own, then other quantities of the server."""
    own = {name for errors in (begun, *first) for name, v in errors.items() if not v.common}
    rest = [name for name in begun if name != "x"]
    return ("x", *(n for n in rest if n in own), *(n for n in rest if n not in own))


def _part(v: Vector, kind: PartKind) -> Vector:
    mean = v.averaged(None)
    return mean if kind == "mean" else v - mean


def _holding(
    outcomes: Iterable[Errors], fields: tuple[str, ...], kind: PartKind, among: list[Row] | None = None
) -> list[Row]:
    """Relations (of those spanned by ``among``) that hold identically in every outcome."""
    among = [[Fraction(i == j) for j in range(len(fields))] for i in range(len(fields))] if among is None else among
    rows: list[Row] = []
    for errors in outcomes:
        parts = [_part(errors[name], kind).terms for name in fields]
        for leaf in {key for terms in parts for key in terms}:
            values = [Fraction(terms.get(leaf, 0)) for terms in parts]
            rows.append([sum((w * v for w, v in zip(row, values, strict=True)), Fraction(0)) for row in among])
    return [
        [sum((c * row[j] for c, row in zip(vector, among, strict=True)), Fraction(0)) for j in range(len(fields))]
        for _, vector in _kernel(rows, len(among))
    ]


def _require(relation: Relation, space: Space) -> None:
    unknown = [name for name, _ in relation.weights if name not in space.fields]
    if unknown:
        raise InvalidInput(f"the state has no field {unknown[0]!r}; it has {', '.join(space.fields)}")
    left = [Fraction(0)] * len(space.free[relation.kind])
    for name, weight in relation.weights:
        left = [a + weight * b for a, b in zip(left, space.basis[relation.kind][name], strict=True)]
    if any(left):
        proved = "; ".join(str(r) for r in space.named()) or "none"
        raise InvalidInput(
            f"the assumed relation {relation} is not kept by the rounds, so that a potential that uses it would prove too much; "
            f"relations that are kept, with proof: {proved}"
        )


def _reduced(rows: Sequence[Row], width: int) -> list[tuple[Row, int]]:
    """Reduced row echelon form with the pivots as far to the right as possible: rows and their pivots."""
    table, pivots = reduce_rows([row[::-1] for row in rows], width)
    return [(row[::-1], width - 1 - pivot) for row, pivot in zip(table, pivots, strict=False)]


def _kernel(rows: Sequence[Row], width: int) -> list[tuple[int, Row]]:
    """Vectors that all rows are orthogonal to, one for each column without pivot: that column, and the vector, one there."""
    table = _reduced(rows, width)
    pivots = [pivot for _, pivot in table]
    found = []
    for column in range(width):
        if column in pivots:
            continue
        vector = [Fraction(0)] * width
        vector[column] = Fraction(1)
        for row, pivot in table:
            vector[pivot] = -row[column]
        found.append((column, vector))
    return found

"""Statements about methods for all parameters: a method's rounds traced on rational functions make systems.

*Contraction*: E V+ <= rate * V for V = sum_f weight_f mean_i ||error of field f||^2, over L-smooth, mu-strongly convex functions. A rate
max{e_1, ..., e_k} is at least each entry, so that it is enough to show

    E V+ <= sum over terms of V of (one entry for each term) * term ;

terms are the means and the deviations of the fields. Entries below others on the whole region are left out; where the order of two entries
changes inside the region, it is cut there if that is at one value of a parameter.

*Bound*: measure after T rounds <= bound * (what the start is measured by), or <= bound where the class has constants of another kind.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.oracles import Leaves
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.vectors import Form, Number, Sampling, square
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.parameters.constants import judge_through_strongest
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.judge import CORNERS, POINTS, Judgement, judge_system, refute_at, telling_points
from fedtheory.proofs.parameters.pieces import cut_in_pieces, entries_of
from fedtheory.proofs.parameters.programs import SUSPECT, violation
from fedtheory.proofs.parameters.search import SECONDS
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.potentials.invariants import ErrorModel, follow_errors, follow_one_round
from fedtheory.proofs.regions.expressions import Expression, number
from fedtheory.proofs.regions.region import Region

MethodOf = Callable[[Mapping[str, Any]], Algorithm]
#: points at which ways to share out the entries of a rate are looked at, before proofs are looked for
SCREENED = 4


@dataclass(frozen=True, eq=False)
class StatedContraction:
    """E V+ <= rate * V as data.

    Parameters
    ----------
    method : function of the parameters by name, such as ``lambda p: Scaffnew(p["lr"], p["p"])``
    weights : of mean_i ||error of field||^2 in V, by field
    rate : an expression, max of expressions included
    L, mu : expressions
    clients : expressions of the number n of clients and of the s that take part, in expectation; empty for every n, all of them

    Examples
    --------
    >>> stated = StatedContraction.read(
    ...     lambda p: GradientDescent(p["lr"]), "0 < mu < L, 0 < lr <= 1/L", {"x": 1}, "(1 - lr*mu)**2"
    ... )
    >>> print([piece.judgement.word for piece in prove_contraction(stated)])
    ['proved for all parameters']
    """

    method: MethodOf
    region: Region
    weights: Mapping[str, Expression]
    rate: Expression
    L: Expression
    mu: Expression
    clients: Mapping[str, Expression] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        method: MethodOf,
        region: str,
        weights: Mapping[str, Any],
        rate: Any,
        L: Any = "L",
        mu: Any = "mu",
        **clients: Any,
    ) -> StatedContraction:
        """From text."""
        return cls(
            method,
            Region.parse(region),
            {name: Expression.parse(weight) for name, weight in weights.items()},
            Expression.parse(rate),
            Expression.parse(L),
            Expression.parse(mu),
            {name: Expression.parse(value) for name, value in clients.items()},
        )


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a region, and what came out there."""

    region: Region
    judgement: Judgement
    note: str = ""


def prove_contraction(stated: StatedContraction, seconds: float = SECONDS) -> list[Piece]:
    """Judge a contraction piece by piece of its region, up to the first that is not proved: it is proved if every piece is, and refuted if one is."""
    found = []
    for fixed, region in stated.region.cases():
        for piece, entries in cut_in_pieces(region, _entries(stated.rate, region, fixed)):
            found.append(_prove_piece(stated, fixed, piece, entries, seconds))
            if found[-1].judgement.word != "proved for all parameters":
                return found
    return found


def _entries(stated: Expression, region: Region, fixed: Mapping[str, Fraction]) -> list[Expression]:
    """The entries of what is stated as a maximum: ``L*max(a, b)/2`` and ``1 - min(a, b)`` are one as well."""
    return entries_of(stated.substitute(fixed), "max", ParameterField(region))


def _prove_piece(
    stated: StatedContraction,
    fixed: Mapping[str, Fraction],
    region: Region,
    entries: Sequence[Expression],
    seconds: float,
) -> Piece:
    field = ParameterField(region)
    traced = trace_contraction(stated, fixed, field)
    rates = [field.read(entry.substitute(fixed)) for entry in entries]
    if len(rates) == 1:

        def with_factor(factor: Fraction) -> System:
            return traced.system([rates[0] * factor] * len(traced.terms))

        judged = judge_through_strongest(field, with_factor, "rate", Fraction(1), seconds=seconds)
        return Piece(region, _with_fixed(judged, fixed), f"rate {entries[0]}")
    for name, weight in traced.weights.items():
        sign = field.sign(weight)
        if sign is None or (sign.direction < 0 and weight != 0):
            raise InvalidInput(f"the weight of {name!r} was not shown to be nonnegative on the region {region}")
    points = telling_points(field, traced.system([rates[0]] * len(traced.terms)), SCREENED, SCREENED)
    for chosen in itertools.product(range(len(rates)), repeat=len(traced.terms)):
        system = traced.system([rates[k] for k in chosen])
        if any(violation(system.at(point))[0] > SUSPECT for point in points):
            continue
        judged = judge_system(field, system, seconds)
        if judged.word == "proved for all parameters":
            note = ", ".join(f"{entries[k]} for {name}" for k, (name, _) in zip(chosen, traced.terms, strict=True))
            return Piece(region, judged, note)
    systems = [traced.system([rate] * len(traced.terms)) for rate in rates]
    return Piece(region, _refuted(field, systems, rates, fixed))


def _refuted(
    field: ParameterField, systems: Sequence[System], entries: Sequence[RationalFunction], fixed: Mapping[str, Fraction]
) -> Judgement:
    """An exact instance against a maximum, at points where its system is that of the largest entry; or open."""
    log: dict[str, Any] = {}
    for point in telling_points(field, systems[0], POINTS, CORNERS):
        values = [entry.at(point) for entry in entries]
        largest = max(range(len(values)), key=lambda k: values[k])
        instance = refute_at(systems[largest], [point], log)
        if instance is not None:
            return _with_fixed(Judgement("refuted", instance=instance, log=log), fixed)
    return Judgement("open", log=log)


def _with_fixed(judged: Judgement, fixed: Mapping[str, Fraction]) -> Judgement:
    """The whole numbers belong to the point of an instance."""
    if judged.instance is None:
        return judged
    return replace(judged, instance=replace(judged.instance, point={**fixed, **judged.instance.point}))


@dataclass(frozen=True, eq=False)
class Traced:
    """A round over the rational functions: E V+, the terms of V before it, by name, and V's weights by field."""

    leaves: Leaves
    functions: tuple[Function, ...]
    after: Form
    terms: tuple[tuple[str, Form], ...]
    weights: Mapping[str, Number]

    def system(self, rates: Sequence[Number]) -> System:
        """E V+ - sum of rate * term <= 0."""
        conclusion = self.after
        for rate, (_, term) in zip(rates, self.terms, strict=True):
            conclusion = conclusion - term * rate
        return _system(self.leaves, (), self.functions, conclusion)


def _system(leaves: Leaves, hypotheses: Any, functions: tuple[Function, ...], conclusion: Form) -> System:
    mean, deviation = (
        tuple(f"{kind} {k}" for k in range(n)) for kind, n in (("mean", leaves.mean), ("deviation", leaves.deviation))
    )
    return System(mean, deviation, leaves.values, tuple(hypotheses), functions, conclusion)


def trace_contraction(stated: StatedContraction, fixed: Mapping[str, Fraction], field: ParameterField) -> Traced:
    """One round from a generic state, over the rational functions of a piece of the region."""
    here = {**fixed, **field.parameters()}
    big_l, mu = stated.L.at(here), stated.mu.at(here)
    FunctionClass(big_l, mu)  # refuses what is no class on the region
    model, who = _model(stated, fixed, field.region), sampling_at(stated.clients, here)
    algorithm = stated.method(here)
    step = follow_one_round(model, algorithm, mu, who)
    unknown = [name for name in stated.weights if name not in model.space.fields]
    if unknown:
        raise InvalidInput(f"expected weights of the fields {', '.join(model.space.fields)}; got {unknown[0]!r}")
    weights = {name: weight.at(here) for name, weight in stated.weights.items()}
    after = Form()
    for chance, errors in step.after:
        for name, weight in weights.items():
            after = after + square(errors[name], who) * weight * chance
    terms = []
    for name, weight in weights.items():
        mean = step.before[name].averaged(None)
        for kind, part in (("the mean", mean), ("deviations", step.before[name] - mean)):
            if part.terms:
                terms.append((f"{kind} of {name}", square(part) * weight))
    evaluations = tuple(step.problem.evaluations)
    return Traced(step.leaves, (Function("interpolation", evaluations, big_l, mu),), after, tuple(terms), weights)


def _model(stated: StatedContraction, fixed: Mapping[str, Fraction], region: Region) -> ErrorModel:
    """The relations between fields, found at one point; `follow_one_round` proves them for all."""
    point = {**fixed, **region.simple_points(1)[0]}
    numbers = FunctionClass(stated.L.at(point), stated.mu.at(point))
    return follow_errors(stated.method(point), numbers, sampling_at(stated.clients, point))


def sampling_at(clients: Mapping[str, Expression], point: Mapping[str, Any]) -> Sampling | None:
    """Who takes part, with numbers of any kind; None where that is everyone of any number."""
    if not clients:
        return None
    found = {name: expression.at(point) for name, expression in clients.items()}
    if "n" not in found:
        raise InvalidInput("clients need their number n: 'n = 8' or 'n = 8, s = 3'")
    # a number that knows its name, as states that are written out have, stays what it is
    plain = {name: int(v) if type(v) is Fraction and v.denominator == 1 else v for name, v in found.items()}
    return Sampling(plain["n"], plain.get("s", plain["n"]))


def bound_system(
    field: ParameterField,
    method: MethodOf,
    rounds: Any,
    measure: MeasureName,
    bound: Any,
    *,
    L: Any = "L",
    mu: Any = "mu",
    zeta: Any = None,
    clients: Mapping[str, Expression] | None = None,
    fixed: Mapping[str, Fraction] | None = None,
) -> System:
    """``measure after the rounds <= bound * start`` as a system, the start measured by ||x^0 - x*||^2 or by f(x^0) - inf f.

    With zeta the start is at most one instead, and the bound is what it says. ``rounds`` may be an expression in whole numbers of the region,
    whose values are ``fixed``.

    Raises
    ------
    CannotTrace
        The measure is not one quantity, or there are conditions that derivations do not have.
    """
    here = {**(fixed or {}), **field.parameters()}

    def value(text: Any) -> Any:
        return None if text is None else Expression.parse(text).at(here)

    count = Expression.parse(rounds).at(fixed or {})
    if count.denominator != 1:
        raise InvalidInput(f"the rounds {rounds} are not a whole number: {count}")
    radius: Any = field.one
    members: Any = FunctionClass(value(L), value(mu), zeta=value(zeta))
    who = sampling_at(clients or {}, here)
    model, _, _, _ = state_program(method(here), members, int(count), measure, radius, who)
    if len(model.objectives) != 1 or model.equations or any(f.shared for f in model.functions):
        raise CannotTrace(
            f"a bound for all parameters is of one quantity of plain classes, not {find_measure(measure).name!r} of this class"
        )
    names = {f.name for f in model.functions}
    stated: dict[str, Form] = {}
    for name, form in model.inequalities:
        if name.split()[0] not in names:
            repeated = sum(known.split(",")[0] == name for known in stated)
            stated[f"{name}, {repeated}" if repeated else name] = form
    if all(form.constant == 0 for name, form in stated.items() if name != "radius"):
        start = stated.pop("radius") + radius
        conclusion = model.objectives[0] - start * value(bound)
    else:
        conclusion = model.objectives[0] - value(bound)

    return _system(model.leaves, tuple(stated.items()), model.functions, conclusion)


def prove_bound(
    method: MethodOf,
    region: str | Region,
    rounds: Any,
    measure: MeasureName,
    bound: Any,
    seconds: float = SECONDS,
    **constants: Any,
) -> list[Piece]:
    """Judge a bound, max of expressions included, as `prove_contraction` does (`bound_system` says what is stated, and its ``constants``)."""
    found = []
    for fixed, case in Region.parse(region).cases():
        for piece, entries in cut_in_pieces(case, _entries(Expression.parse(bound), case, fixed)):
            field = ParameterField(piece)

            def with_factor(
                factor: Fraction, entry: Expression, field: ParameterField = field, fixed: Any = fixed
            ) -> System:
                scaled = Expression("*", (number(factor), entry))
                return bound_system(field, method, rounds, measure, scaled, fixed=fixed, **constants)

            found.append(_prove_bound_on_piece(field, entries, with_factor, fixed, seconds))
            if found[-1].judgement.word != "proved for all parameters":
                return found
    return found


def _prove_bound_on_piece(
    field: ParameterField,
    entries: Sequence[Expression],
    with_factor: Callable[[Fraction, Expression], System],
    fixed: Mapping[str, Fraction],
    seconds: float,
) -> Piece:
    if len(entries) == 1:
        judged = judge_through_strongest(
            field, lambda factor: with_factor(factor, entries[0]), "bound", Fraction(1), seconds=seconds
        )
        return Piece(field.region, _with_fixed(judged, fixed), f"bound {entries[0]}")
    systems = [with_factor(Fraction(1), entry) for entry in entries]
    for entry, system in zip(entries, systems, strict=True):
        judged = judge_system(field, system, seconds)
        if judged.word == "proved for all parameters":
            return Piece(field.region, judged, f"bound {entry}")
    return Piece(field.region, _refuted(field, systems, [field.read(entry) for entry in entries], fixed))

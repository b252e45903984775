"""The sentence of a statement, made of the statement: what it says, for whom, and under which hypotheses. Its author writes none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.limit import MINIMISER, Divergence, Limit
from fedtheory.claims.statements.on_instances import InstanceStatement
from fedtheory.claims.statements.ordering import Ordering
from fedtheory.claims.statements.pictures import describe_measure, describe_method, name_given, name_metric
from fedtheory.claims.statements.planting import Statement
from fedtheory.claims.statements.rate import Rate
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import describe_theorem
from fedtheory.claims.statements.written import MOST_WRITTEN, Written, WrittenWorld, write_lemma
from fedtheory.proofs.measures import find_measure


def tell_statement(statement: Statement) -> str:
    """The statement in one sentence."""
    if isinstance(statement, Theorem):
        return describe_theorem(statement)
    if isinstance(statement, Lemma):
        return _of_lemma(statement)
    if isinstance(statement, Bound | Contraction):
        return _over_a_class(statement)
    if isinstance(statement, Inequality):
        rounds = f"in rounds {statement.first_round + 1}, ..., {statement.rounds} and later"
        said = f"{statement.claimed} {rounds} of {describe_method(statement)}; quadratics with curvatures {statement.curvatures}"
    elif isinstance(statement, Equivalence):
        said = _of_equivalence(statement)
    elif isinstance(statement, Ordering):
        return _of_ordering(statement)
    else:
        said = _on_an_instance(statement)
    return "; ".join([said, *_region(statement)]) + "."


def _region(statement: Inequality | Equivalence | InstanceStatement) -> list[str]:
    constants = [f"{name} = {value}" for name, value in getattr(statement, "constants", {}).items()]
    return [text for text in (str(statement.parameters), *statement.where, ", ".join(constants)) if text]


def _over_a_class(statement: Bound | Contraction) -> str:
    clients = f"expectation over {statement.clients}" if statement.clients else "every number n >= 2 of clients"
    constants = ", ".join(f"{name} = {value}" for name, value in statement.constants.items())
    whom = [describe_method(statement), f"functions with {name_given(statement.functions)}", clients, "every dimension"]
    if isinstance(statement, Bound):
        start = "||x^0 - x*||" if find_measure(statement.measure).of_minimiser else "f(x^0) - inf f"
        said = f"{describe_measure(statement)} <= {statement.claim_text} where {start} <= {statement.radius}"
    else:
        potential = " + ".join(
            f"({weight}) mean_i ||{name} - {name}*||^2" for name, weight in statement.potential.items()
        )
        said = f"E V(x^{{t+1}}) <= ({statement.claim_text}) V(x^t) for V = {potential}"
    return "; ".join(filter(None, [said, *whom, str(statement.parameters), *statement.where, constants])) + "."


def _of_lemma(lemma: Lemma) -> str:
    """By its text, on names; where that does something that names cannot, its docstring says what it is."""
    world = WrittenWorld()
    numbers = {name: Written.name(name) for name in lemma.region.names}
    constants = {name: Written.of(value) for name, value in lemma.constants.items()}
    try:
        conclusion = lemma.build(world, SimpleNamespace(**numbers), SimpleNamespace(**constants))
        text = write_lemma(Written.of(conclusion), world, str(lemma.region))
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        return ""
    return text if len(text) <= MOST_WRITTEN else ""


def _of_equivalence(statement: Equivalence) -> str:
    first, second = name_given(statement.first), name_given(statement.second)
    shown = f"{first}{f' with {statement.options}' if statement.options else ''}"
    other = f"{second}{f' with {statement.second_options}' if statement.second_options else ''}"
    same = " and ".join(f"{left} of the second is {right} of the first" for left, right in statement.states.items())
    begin = f"from round {statement.from_round} on" if statement.from_round else "in every round"
    return f"{shown} and {other}: {same}, {begin}, for every number of clients and dimension"


def _on_an_instance(statement: InstanceStatement) -> str:
    whom = f"{describe_method(statement)} on {name_given(statement.problem)}, from {statement.start}"
    if isinstance(statement, Limit):
        points = statement.point if isinstance(statement.point, tuple) else (statement.point,)
        end = ", ".join("the minimiser" if text == MINIMISER else str(text) for text in points)
        return f"{statement.field} tends to {end}: {whom}"
    if isinstance(statement, Divergence):
        factor = "" if statement.multiplier is None else f", by the factor |{statement.multiplier}| a round"
        return f"the iterates grow without bound{factor}: {whom}"
    assert isinstance(statement, Rate)
    law = f"({statement.factor})^T" if statement.factor is not None else f"T^(-{statement.exponent})"
    law = f"the rate of exponent theta = {statement.theta}" if statement.theta is not None else law
    return f"{name_metric(statement.metric)} falls like {law}{', and no faster' if statement.tight else ''}: {whom}"


def _of_ordering(statement: Ordering) -> str:
    better = "more" if statement.is_share else "less"
    by = (
        ""
        if not statement.by
        else f" by {statement.by:.4g}"
        if statement.is_share
        else f" by the factor {np.exp(statement.by):.4g}"
    )
    what = f"{statement.metric}, {statement.summary} of {statement.rounds} rounds"
    return f"{what}: {better} for {statement.first} than for {statement.second}{by}; {statement.rule}."

"""The sentence of a statement, made of the statement: what it says, for whom, and under which hypotheses. Its author writes none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedtheory.claims.claim import Role, Told
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.client_counts import describe_clients
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.formula_texts import join_pieces, write, write_line, write_region
from fedtheory.claims.statements.formulas import write_formula
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.limit import MINIMISER, Divergence, Limit
from fedtheory.claims.statements.made_methods import describe_made
from fedtheory.claims.statements.on_instances import InstanceStatement
from fedtheory.claims.statements.ordering import Ordering, Side
from fedtheory.claims.statements.pictures import describe_measure, describe_method, name_given, name_metric
from fedtheory.claims.statements.planting import Statement
from fedtheory.claims.statements.rate import Rate
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import (
    describe_theorem,
    list_played_scope,
    list_states,
    list_words,
)
from fedtheory.claims.statements.written import write_lemma
from fedtheory.core.errors import FedtheoryError, describe
from fedtheory.proofs.measures import find_measure


def tell(statement: Statement, role: Role = "printed", name: str = "") -> Told:
    """The statement with its formula, and with what there is of it beside; ``name``: of the step, in a claim of steps.

    Where its text does what cannot be written out, that is said.
    """
    try:
        return _tell(statement, role, name)
    except (FedtheoryError, TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
        return Told(f"It could not be written out: {describe(error)}.", role=role, name=name)


def _tell(statement: Statement, role: Role, name: str) -> Told:
    told = Told(tell_statement(statement), write_formula(statement), role=role, name=name)
    if not isinstance(statement, Theorem):
        return told
    before = f"{name}: " if name else ""
    return replace(
        told,
        rounds=tuple(map(write_line, list_states(statement))),
        assumed=tuple(f"{before}{line}" for line in list_played_scope(statement)),
        instead_of=tuple(f"{before}{line}" for line in list_words(statement)) if list_played_scope(statement) else (),
    )


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
        below = ", whose average is bounded below" if statement.bounded_below else ""
        functions = f"quadratics with curvatures {statement.curvatures}{below}"
        said = f"{statement.claimed} {rounds} of {describe_method(statement)}; {functions}; {statement.counts}"
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
    clients = describe_clients(statement.client_numbers)
    constants = ", ".join(f"{name} = {value}" for name, value in statement.constants.items())
    server = statement.named_method.what_the_server_has
    whom = [
        describe_method(statement),
        server,
        f"functions with {name_given(statement.functions)}",
        clients,
        "every dimension",
    ]
    if isinstance(statement, Bound):
        start = "||x^0 - x*||" if find_measure(statement.measure).of_minimiser else "f(x^0) - inf f"
        said = f"{describe_measure(statement)} <= {statement.claim_text} where {start} <= {statement.radius}"
    else:
        said = f"E V(x^{{t+1}}) <= ({statement.claim_text}) V(x^t) for V = {write(statement.written)}"
    return "; ".join(filter(None, [said, *whom, str(statement.parameters), *statement.where, constants])) + "."


def _of_lemma(lemma: Lemma) -> str:
    """By its text, on names."""
    found = write_lemma(lemma)
    given = [(f"{name}: ", form) for name, form in found.given]
    names = ("with ", *join_pieces(found.names)) if found.names else ()
    noted = (f"written for {', '.join(found.noted)}",) if found.noted else ()
    functions, region = join_pieces(found.functions), (write_region(lemma.region),)
    pieces = [(found.said,), names, functions, *found.gradients, *given, region, noted]
    return "; ".join(filter(None, map(write_line, pieces))) + "."


def _of_equivalence(statement: Equivalence) -> str:
    shown = describe_made(statement.first, statement.options, statement.parameters)
    other = describe_made(statement.second, statement.second_options, statement.parameters)
    same = " and ".join(f"{left} of the second is {right} of the first" for left, right in statement.states.items())
    kept = ", ".join(f"{name} = {text}" for name, text in statement.kept.items())
    begin = f"from round {statement.from_round} on" if statement.from_round else "in every round"
    first = f", where {kept} of the first" if kept else ""
    whose = f"; clients with curvatures {statement.curvatures}" if statement.curvatures else ""
    return f"{shown} and {other}: {same}, {begin}{first}{whose}; {statement.counts}; every dimension"


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
    of_rounds = {"last": "", "mean": "the mean over the rounds of ", "least": "the least of the rounds' "}[
        statement.summary
    ]
    above = "" if statement.minimum is None else f" above {statement.minimum}"
    return f"{of_rounds}{name_metric(statement.metric)}{above} falls like {law}{', and no faster' if statement.tight else ''}: {whom}"


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
    return (
        f"{what}: {better} for {_of_side(statement.first)} than for {_of_side(statement.second)}{by}; {statement.rule}."
    )


def _of_side(side: Side) -> str:
    """What is run, on what, from where and with whom."""
    start = f" from {side.start}" if side.start else ""
    who = f" with {side.participation}" if side.participation is not None else ""
    draws = f", draws from number {side.first_draw} on" if side.first_draw else ""
    return f"{side} on {name_given(side.problem)}{start}{who}{draws}"

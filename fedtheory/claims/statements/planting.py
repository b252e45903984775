"""What is planted in the check of a statement: mistakes near it, which follow from the statement or are given by its author."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from fedtheory.claims.claim import Fault
from fedtheory.claims.context import Context
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.claims.statements.lemma import Lemma, lemma_sensitivity
from fedtheory.claims.statements.limit import Divergence, Limit
from fedtheory.claims.statements.ordering import Ordering
from fedtheory.claims.statements.rate import Rate
from fedtheory.claims.statements.theorems.as_parts import plant_near_misses
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.unstated import say_numbers
from fedtheory.core.exact import rational

Statement: TypeAlias = (
    Bound | Contraction | Lemma | Equivalence | Inequality | Limit | Divergence | Rate | Ordering | Theorem
)
#: what takes the place of a part's statement: a function of the context, since it may have to be found
Planted: TypeAlias = tuple[str, Callable[[Context], Statement]]
#: what a bound without named constants is multiplied with by its planted fault: one that passes then is loose by more than that
TIGHTENED = Fraction(1, 2)


def list_faults(statement: Statement, part: str, wrong: Mapping[str, Statement]) -> list[Fault]:
    """The planted faults of a statement that a part of a check is about.

    Of a bound, lemma or inequality each named constant a little beyond where it is rejected; of a bound without one half of what is claimed;
    of the others their near misses; and the wrong statements that the author gives. The last two must not be supported.
    """
    faults = []
    if isinstance(statement, Theorem):
        faults += plant_near_misses(statement, part)
    elif isinstance(statement, Equivalence | Limit | Divergence | Rate | Ordering):
        for name, near in statement.near_misses().items():
            faults.append(_plant(name, part, partial(_given, near), sharpness=True, or_undecided=True))
    else:
        for name in statement.constants:
            find = partial(_beyond, statement, name)
            faults.append(_plant(f"{name} beyond where it is rejected", part, find, sharpness=True))
    if isinstance(statement, Bound | Contraction) and not faults:
        faults.append(_plant(f"{TIGHTENED} of what is claimed", part, partial(_tightened, statement), sharpness=True))
    return faults + [_plant(name, part, partial(_given, other), or_undecided=True) for name, other in wrong.items()]


def put_in_its_place(name: str, part: str, statement: Statement) -> Fault:
    """The fault of a part that refutes: a true statement in its place, which must not be refuted."""
    return _plant(name, part, partial(_given, statement), holds=True)


def _plant(name: str, part: str, make: Callable[[Context], Statement], **more: Any) -> Fault:
    planted: Planted = (part, partial(_make, make))
    return Fault(name, part, {"planted": planted}, **more)


def _make(make: Callable[[Context], Statement], context: Context) -> Statement:
    """What takes a part's place; numbers that it leaves open have their defaults, so that its verdict hangs on none of them."""
    made = make(context)
    return made if isinstance(made, Lemma | Theorem) else say_numbers(made)


def _given(statement: Statement, context: Context) -> Statement:
    return statement


def _tightened(statement: Bound | Contraction, context: Context) -> Statement:
    return replace(statement, claimed=f"({TIGHTENED})*({statement.claim_text})")


def _beyond(statement: Bound | Contraction | Lemma | Inequality, name: str, context: Context) -> Statement:
    """The statement with a constant a little beyond where it is rejected; as it is where nothing rejects it."""
    if isinstance(statement, Lemma):
        fails = next((side.fails for side in lemma_sensitivity(statement) if side.name == name), None)
        return statement if fails is None else statement.with_constants(**{name: fails})
    if isinstance(statement, Inequality):
        factor = statement.find_rejected(name, context)
        return (
            statement
            if factor is None
            else statement.with_constants(**{name: statement.exact_constants[name] * factor})
        )
    outcome = judge_statement(statement, seed=context.seed, budget=context.budget)
    found = next((s for s in outcome.sensitivity if s.constant == name and s.factor is not None), None)
    if found is None or found.factor is None:
        return statement
    moved = found.tried or statement.exact_constants[name] * rational(round(found.factor**1.05, 6))
    return replace(statement, constants={**statement.constants, name: moved})

"""Quantities of which a theorem does not speak, and potentials of its method often do."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.potentials.invariants import Space


def list_more_quantities(theorem: Theorem) -> dict[str, str]:
    """Those of a listed method's state that the theorem has not, under names that it does not have.

    Products of x - x* with the moves between x and the other vectors that clients have in common, or where there are none the squared gradient; the
    squared distance; and the gap, where no draw comes between, since values at points that a draw has reached are in no line.
    """
    states = theorem.states
    if not isinstance(states, MethodStates):
        return {}
    try:
        space, _, _ = states.follow(theorem.parameters)
    except FedtheoryError:
        return {}
    found = _list_beside(states, _products(space))
    taken = {*theorem.all_parameters.names, *theorem.quantities, *theorem.where, *theorem.sequences, *theorem.rounds}
    return {free_name(name, taken): text for name, text in found.items() if text not in theorem.quantities.values()}


def _list_beside(states: MethodStates, products: dict[str, str]) -> dict[str, str]:
    asked: list[MeasureName] = ["squared_distance"]
    if states.sigma is None and "s" not in states.numbers_of_clients:
        asked += ["gap"] if products else ["gap", "stationarity"]
    return {name: find_measure(name).written for name in asked} | products


def _products(space: Space) -> dict[str, str]:
    """Products with the moves between x and the other vectors that clients have in common."""
    moves = [f"{name} - x" for name in space.fields if name != "x" and not name.endswith("_i")]
    number = [str(k + 1) if len(moves) > 1 else "" for k in range(len(moves))]
    found = {f"cross{number[k]}": f"dot(x - x_star, {move})" for k, move in enumerate(moves)}
    found |= {f"move2{number[k]}": f"norm2({move})" for k, move in enumerate(moves)}
    pairs = itertools.combinations(range(len(moves)), 2)
    return found | {f"turn{number[k]}{number[j]}": f"dot({moves[k]}, {moves[j]})" for k, j in pairs}


def free_name(name: str, taken: Collection[str]) -> str:
    """A name like this one that is not taken."""
    return next(f"{name}{k or ''}" for k in itertools.count() if f"{name}{k or ''}" not in taken)

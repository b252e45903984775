"""That what a theorem supposes of a round is what another theorem says of states inside of it, such as the local steps of a client.

The theorem inside speaks of runs from their start to a last state. That its claim is the hypothesis, with the round in the place of the last state,
is seen by the checker (`fedtheory.proofs.checker.check`); here it is seen that the last state's fields may be those of any round's state, and that
both theorems mean the same by the quantities of the claim.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from fedtheory.claims.statements.theorems.quantities import names_of_quantity, read_quantity
from fedtheory.claims.statements.theorems.recurring import require_state_again
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Inside, Theorem
from fedtheory.claims.statements.worlds import SymbolicWorld
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import indexed, quantity_of, show_tree, substitute
from fedtheory.proofs.parameters.field import ParameterField


def require_inside(theorem: Theorem) -> None:
    """See that the last state of each theorem inside is what the state of a round may be, and that quantities are the same of both.

    Raises
    ------
    CannotTrace
        A field of the round's state was not shown to be the last state's.
    InvalidInput
        A quantity is another formula there, or depends on what is no field of both; states are those of a listed method, or those inside depend on
        what is auxiliary here.
    """
    for inside in theorem.inside.values():
        states, inner = theorem.states, inside.theorem.states
        if not (isinstance(states, PlayedStates) and isinstance(inner, PlayedStates)):
            raise InvalidInput(
                "a theorem about states inside of a round is about states that a function plays, and so is the one that rests on it"
            )
        _require_quantities(theorem, inside)
        for fixed, region in theorem.parameters.cases():
            field = ParameterField(region)
            numbers: dict[str, Any] = {**fixed, **field.parameters()}
            formulas = {
                name: field.read(show_tree(tree)) for name, tree in theorem.formulas.items() if name not in numbers
            }
            names = [name for name in inside.theorem.parameters.names if name not in theorem.own_auxiliary]
            own = {name: (numbers | formulas)[name] for name in names}
            _require_ignorant(theorem, inside, own)
            world, world_inside = SymbolicWorld(), SymbolicWorld()
            known = states.play_in(world, numbers, 0, start=False)[0][0][1]
            reached = inner.play_in(world_inside, own, 0, start=False)[0][0][1]
            pattern = {name: known[name] for name in inside.fields}
            last = {name: reached[there] for name, there in inside.fields.items()}
            require_state_again((world, pattern), (world_inside, last), f"{inside.theorem.name} makes")


def _require_ignorant(theorem: Theorem, inside: Inside, own: Mapping[str, Any]) -> None:
    """States inside know nothing of what is auxiliary to the round's theorem, of which they are the same for all values."""
    inner = inside.theorem.states
    assert isinstance(inner, PlayedStates)
    for start in {False, inner.start is not None}:
        try:
            inner.play_in(SymbolicWorld(), own, 1, start=start)
        except AttributeError as error:
            raise InvalidInput(
                f"states inside of a round know nothing of auxiliary parameters, {', '.join(theorem.own_auxiliary)}; {error}"
            ) from None


def _require_quantities(theorem: Theorem, inside: Inside) -> None:
    fields: Mapping[str, ast.expr] = {name: ast.Name(there, ast.Load()) for name, there in inside.fields.items()}
    for sentence in inside.theorem.sentences:
        for name in sorted({quantity_of(node) for side in sentence.sides for node in indexed(side)}):
            own, there = theorem.quantities.get(name, ""), inside.theorem.quantities[name]
            renamed = show_tree(substitute(read_quantity(own), fields)) if own else "nothing"
            if renamed != show_tree(read_quantity(there)):
                raise InvalidInput(
                    f"{name} is {there} of the states inside, and {renamed} of the round's state with its fields put in"
                )
            loose = sorted(names_of_quantity(own) - fields.keys() - _functions(theorem, inside))
            if loose:
                raise InvalidInput(
                    f"the quantity {name} = {own} depends on {loose[0]}, which is no field that both states have"
                )


def _functions(theorem: Theorem, inside: Inside) -> set[str]:
    """Names of functions that both have."""
    found = []
    for one in (theorem, inside.theorem):
        world = SymbolicWorld()
        assert isinstance(one.states, PlayedStates)
        one.states.play_in(world, one.some_point, 0, start=False)
        found.append({f.name for f in world.functions})
    return found[0] & found[1]

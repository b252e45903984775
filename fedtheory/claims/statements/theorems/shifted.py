"""Quantities that hypotheses keep above a number in every round, ``f_inf <= F[t]``, as what they exceed it by.

A potential is a sum of such: of F[0] - f_inf, and not of F[0]. It is looked for so, and written in the theorem's own quantities.
"""

from __future__ import annotations

import re
from dataclasses import replace

from fedtheory.claims.statements.theorems.claimed_bounds import list_lower_bounds
from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.potential_scripts import FoundScript
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.checker.formulas import Unreadable

#: a quantity's new name, its own, and the number below it
Shift = tuple[str, str, str]


def shift_quantities(theorem: Theorem) -> tuple[Theorem, list[Shift]]:
    """The theorem with other quantities, where there are such, and what these are."""
    taken = {*theorem.all_parameters.names, *theorem.quantities, *theorem.where, *theorem.sequences, *theorem.rounds}
    shifts, quantities, given = list[Shift](), dict(theorem.quantities), dict(theorem.given)
    try:
        bounds = list(list_lower_bounds(theorem))
    except (FedtheoryError, Unreadable):  # of a hypothesis that is not linear, say
        bounds = []
    for hypothesis, name, t, number in bounds:
        below = number if number.isidentifier() else f"({number})"
        if name in quantities:
            new = free_name(f"{name}_above", taken)
            shifts.append((new, name, below))
            quantities[new] = f"{quantities.pop(name)} - {below}"
            given[hypothesis] = f"0 <= {new}[{t}]"
    claims = list(theorem.claims)
    for new, name, below in shifts:
        into = rf"({new}[\1] + {below})"
        claims = [_of_quantity(name).sub(into, claim) for claim in claims]
        given = {
            k: said if said.startswith(f"0 <= {new}[") else _of_quantity(name).sub(into, said)
            for k, said in given.items()
        }
    return (replace(theorem, claim=tuple(claims), quantities=quantities, given=given) if shifts else theorem), shifts


def shift_back(script: FoundScript, shifts: list[Shift]) -> FoundScript:
    """A script of the other theorem as one of the theorem itself."""
    lines = list(script.lines)
    for new, name, below in shifts:
        lines = [_of_quantity(new).sub(rf"({name}[\1] - {below})", line) for line in lines]
    return FoundScript(lines, script.rounds)


def _of_quantity(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\[([^\]]*)\]")

"""Quantities that hypotheses keep above a number in every round, ``f_inf <= F[t]``, or of which claims say by how much they exceed one.

A potential is a sum of such: of F[0] - f_inf, and not of F[0]. It is looked for so, and written in the theorem's own quantities.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace

from fedtheory.claims.statements.theorems.claimed_bounds import list_lower_bounds
from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.potential_scripts import FoundScript
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.checker.formulas import Unreadable

#: a quantity's new name, its own, and the number below it
Shift = tuple[str, str, str]


def list_shifted(theorem: Theorem) -> Iterator[tuple[Theorem, list[Shift]]]:
    """The theorem; and with other quantities, where there are such and no other theorem speaks of its own, with what these are."""
    yield theorem, []
    shifts = [] if theorem.rests or theorem.inside else _list_shifts(theorem)
    if not shifts:
        return
    quantities, claims, given = dict(theorem.quantities), list(theorem.claims), dict(theorem.given)
    for new, name, below in shifts:
        into = rf"({new}[\1] + {below})"
        quantities[new] = f"{quantities.pop(name)} - {below}"
        claims = [_of_quantity(name).sub(into, claim) for claim in claims]
        given = {hypothesis: _of_quantity(name).sub(into, said) for hypothesis, said in given.items()}
    with contextlib.suppress(InvalidInput):
        yield replace(theorem, claim=tuple(claims), quantities=quantities, given=given), shifts


def _list_shifts(theorem: Theorem) -> list[Shift]:
    taken = {*theorem.all_parameters.names, *theorem.quantities, *theorem.where, *theorem.sequences, *theorem.rounds}
    found: dict[str, Shift] = {}
    with contextlib.suppress(FedtheoryError, Unreadable):  # of a hypothesis that is not linear, say
        for name, number in list_lower_bounds(theorem):
            below = number if number.isidentifier() else f"({number})"
            found.setdefault(name, (free_name(f"{name}_above", taken), name, below))
    for name in theorem.quantities:
        if name not in found and (parameter := _find_subtracted(theorem, name)) is not None:
            found[name] = free_name(f"{name}_above", taken), name, parameter
    return list(found.values())


def _find_subtracted(theorem: Theorem, name: str) -> str | None:
    """The parameter that claims take from a quantity wherever they speak of it, ``F[N] - f_inf``; None where there is none."""
    claims = "; ".join(theorem.claims)
    found = re.findall(_of_quantity(name).pattern + r"\s*-\s*(\w+)", claims)
    parameters = {parameter for _, parameter in found}
    if len(parameters) != 1 or len(found) < len(_of_quantity(name).findall(claims)):
        return None
    (parameter,) = parameters
    return parameter if parameter in theorem.parameters.names else None


def shift_back(script: FoundScript, shifts: list[Shift]) -> FoundScript:
    """A script of the other theorem as one of the theorem itself."""
    lines = list(script.lines)
    for new, name, below in shifts:
        lines = [_of_quantity(new).sub(rf"({name}[\1] - {below})", line) for line in lines]
    return FoundScript(lines, script.rounds)


def _of_quantity(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\[([^\]]*)\]")

"""What the formulas of a proof term may speak of: parameters, rounds, quantities, sequences, and names of formulas."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .algebra import EULER, Quotient, names_of_atom, value_of
from .formulas import FUNCTIONS, indexed, names, read, substitute
from .reading import read_count, require_fields
from .refusals import TermRefused
from .regions import Ends, TermParameter, read_parameters, read_range


@dataclass(frozen=True)
class Signature:
    """What the formulas of a term may speak of."""

    parameters: tuple[TermParameter, ...]
    wholes: Mapping[str, tuple[int, int]]
    rounds: Mapping[str, int]
    quantities: frozenset[str]
    sequences: Mapping[str, Ends]
    where: Mapping[str, ast.expr]
    functions: Mapping[str, tuple[Quotient | None, Quotient]]
    assumed: frozenset[str]
    drawn: bool
    auxiliary: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Signature:
        """Read it, and refuse a name with two meanings."""
        parameters = read_parameters(data["parameters"])
        where: dict[str, ast.expr] = {}
        known = {p.name for p in parameters} | set(data["wholes"])
        for name, text in data["where"].items():
            where[name] = substitute(read(text), where)
            if names(where[name]) - known or indexed(where[name]):
                raise TermRefused(name, "where", f"a formula in the parameters {', '.join(sorted(known))}", text)
        wholes = {name: (read_count(low), read_count(high)) for name, (low, high) in data["wholes"].items()}
        if any(high < low for low, high in wholes.values()):
            raise TermRefused("-", "reading", "a range of whole numbers that is not empty", dict(wholes))
        for stated in data["functions"].values():
            require_fields(stated, ("L", "mu"), "a function")
        functions = {
            name: (None if f["L"] is None else value_of(read(f["L"]), where), value_of(read(f["mu"]), where))
            for name, f in data["functions"].items()
        }
        found = cls(
            parameters,
            wholes,
            {name: read_count(least) for name, least in data["rounds"].items()},
            frozenset(data["quantities"]),
            {
                name: _read_range_of(name, text, where, known - {*data["auxiliary"]})
                for name, text in data["sequences"].items()
            },
            where,
            functions,
            frozenset(data["assumed"]),
            bool(data["drawn"]),
            frozenset(data["auxiliary"]),
            frozenset(data.get("fixed", ())),
        )
        if not found.fixed <= found.rounds.keys():
            raise TermRefused("-", "reading", "rounds that are fixed", ", ".join(sorted(found.fixed)))
        found._require_one_meaning()
        return found

    def _require_one_meaning(self) -> None:
        own = ({p.name for p in self.parameters}, self.wholes, self.rounds, self.quantities, self.sequences, self.where)
        reserved = {*FUNCTIONS, "ih", "_", EULER, "square", "case", "claim"}
        every = [name for names_of_kind in (*own, reserved) for name in names_of_kind]
        for name in every:
            if every.count(name) > 1:
                raise TermRefused("-", "reading", "one meaning for each name", name)
            if not (name.isidentifier() and len(name) <= 60):
                raise TermRefused("-", "reading", "names in letters and digits", name[:60])


def _read_range_of(name: str, text: str, where: Mapping[str, ast.expr], known: set[str]) -> Ends:
    """The range of a sequence; it is the same for all of its numbers, so that it speaks of no round."""
    ends = read_range(text, where)
    if any(names_of_atom(atom) - known for atom in ends.atoms):
        raise TermRefused(name, "sequences", f"a range in the parameters {', '.join(sorted(known))}", text)
    return ends

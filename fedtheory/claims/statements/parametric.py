"""Proofs of bounds and contractions for all parameters of their region (`fedtheory.proofs.parameters.methods`), where they can be had."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.parameters.methods import Piece, StatedContraction, prove_bound, prove_contraction
from fedtheory.proofs.regions.expressions import Expression, number
from fedtheory.proofs.regions.region import Parameter, Region

ProvedPiece: TypeAlias = tuple[str, Mapping[str, Any]]  # a piece of the region in words, and its derivation


@dataclass(frozen=True, eq=False)
class ParametricProof:
    """Derivations on pieces that make up the region; each was accepted by the checker that needs no package."""

    pieces: tuple[ProvedPiece, ...]


def prove_for_all(statement: Bound | Contraction, seconds: float) -> ParametricProof | None:
    """A proof for all parameters; None where none was found, or the statement is of a kind that derivations do not have.

    Parameters between two positive numbers are first let be any positive numbers, which makes for shorter derivations; if there is none and that was
    seen soon, the region is taken as it is.

    Parameters
    ----------
    seconds : for the search of each piece of the region
    """
    if statement.where or not isinstance(statement.functions, str):
        return None
    own, begun = statement.parameters, time.perf_counter()
    for region in dict.fromkeys((_widened(own), own)):
        try:
            pieces = _pieces_of(statement, region, seconds)
        except (FedtheoryError, ArithmeticError, TypeError, ValueError):
            continue  # the method does what rational functions cannot, or a decision that is not one on the whole region
        else:
            if pieces:
                return ParametricProof(tuple(pieces))
            if time.perf_counter() - begun > seconds / 2:
                break
    return None


def _pieces_of(statement: Bound | Contraction, region: Region, seconds: float) -> list[ProvedPiece]:
    if isinstance(statement, Contraction):
        return _contraction(statement, region, seconds)
    return _bound(statement, region, seconds)


def _widened(region: Region) -> Region:
    """With all positive numbers in the place of those between two of them."""

    def wide(p: Parameter) -> Parameter:
        numbers = p.low.kind == "number" and (p.high is None or p.high.kind == "number")
        return Parameter(p.name, number(0), None) if numbers and not (p.integer or p.whole) and p.low.at({}) > 0 else p

    return Region(tuple(wide(p) for p in region.parameters))


def _claimed(statement: Bound | Contraction) -> Expression:
    """The claim with the values of its named constants."""
    return statement.claim_text.substitute(dict(statement.exact_constants))


def _constant(statement: Bound | Contraction, name: str) -> Expression | None:
    return statement.expressions.get(f"class {name}")


def _only(statement: Bound | Contraction, *names: str) -> bool:
    """Whether the class has no other constants."""
    given = [name.removeprefix("class ") for name in statement.expressions if name.startswith("class ")]
    flags = [flag for flag in ("composite", "indicator") if flag in str(statement.functions)]
    return set(given) <= set(names) and not flags


def _contraction(statement: Contraction, region: Region, seconds: float) -> list[ProvedPiece]:
    big_l = _constant(statement, "L")
    if big_l is None or "gap" in statement.potential or not _only(statement, "L", "mu"):
        return []
    weights = {name: statement.expressions[f"weight {name}"] for name in statement.potential}
    stated = StatedContraction(
        statement.method_at,
        region,
        weights,
        _claimed(statement),
        big_l,
        _constant(statement, "mu") or number(0),
        statement.client_numbers,
    )
    return _derivations(prove_contraction(stated, seconds))


def _bound(statement: Bound, region: Region, seconds: float) -> list[ProvedPiece]:
    """The start is one in the derivations, so that the bound is divided by its size."""
    big_l, zeta = _constant(statement, "L"), _constant(statement, "zeta")
    radius, rounds = statement.expressions["radius"], statement.expressions["rounds"]
    if big_l is None or not _only(statement, "L", "mu", "zeta"):
        return []
    if zeta is not None and radius != number(1):
        return []
    start = Expression("**", (radius, number(2))) if find_measure(statement.measure).of_minimiser else radius
    claimed = _claimed(statement)
    per_start = claimed if radius == number(1) else Expression("/", (claimed, start))
    return _derivations(
        prove_bound(
            statement.method_at,
            region,
            rounds,
            statement.measure,
            per_start,
            seconds,
            L=big_l,
            mu=_constant(statement, "mu") or number(0),
            zeta=zeta,
            clients=statement.client_numbers,
        )
    )


def _derivations(pieces: Sequence[Piece]) -> list[ProvedPiece]:
    """Those of all pieces, or none."""
    found = [(", ".join(filter(None, (piece.note, str(piece.region)))), piece.judgement.derivation) for piece in pieces]
    return [(region, data) for region, data in found if data is not None] if all(data for _, data in found) else []

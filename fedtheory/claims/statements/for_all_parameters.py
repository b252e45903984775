"""Bounds and contractions for all parameters of their region: the engine of derivations asked a statement's own question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedtheory.claims.statements.bound import FLAGS, Bound, Contraction, read_settings
from fedtheory.core.errors import CannotTrace, FedtheoryError
from fedtheory.proofs.facts import confirm_derivation
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.parameters.checker import check_derivation
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.judge import Judgement, Word, show_multipliers
from fedtheory.proofs.parameters.methods import Piece, StatedContraction, bound_system, prove_bound, prove_contraction
from fedtheory.proofs.parameters.search import search_multipliers
from fedtheory.proofs.regions.expressions import Expression, number
from fedtheory.proofs.regions.region import Parameter, Region

#: constants of a class that derivations know
KNOWN = {"class L", "class mu", "class zeta"}

PROVED_FOR_ALL: Word = "proved for all parameters"


@dataclass(frozen=True, eq=False)
class ForAllParameters:
    """The pieces of a region and what came out on each; ``why_not``: why the engine has nothing to say of the statement."""

    pieces: Sequence[Piece] = ()
    why_not: str = ""

    @property
    def proved(self) -> bool:
        """Whether every piece has a derivation."""
        return bool(self.pieces) and all(p.judgement.word == "proved for all parameters" for p in self.pieces)

    def confirm(self) -> bool:
        """Let the checker read every derivation; each is a fact."""
        for piece in self.pieces:
            confirm_derivation(
                check_derivation, dict(piece.judgement.derivation or {}), f"{piece.note} on {piece.region}"
            )
        return self.proved

    @property
    def derivations(self) -> list[dict[str, Any]]:
        """The data that the checker accepted, one for each piece."""
        return [dict(p.judgement.derivation) for p in self.pieces if p.judgement.derivation is not None]

    def __str__(self) -> str:
        if self.why_not:
            return f"no proof for all parameters: {self.why_not}"
        if self.proved:
            return f"proved for all parameters of {'; '.join(str(p.region) for p in self.pieces)}"
        left = next(p for p in self.pieces if p.judgement.word != "proved for all parameters")
        return f"no proof for all parameters was found on {left.region}"


def prove_for_all_parameters(statement: Bound | Contraction, seconds: float) -> ForAllParameters:
    """Ask for a derivation on every piece of the region; ``seconds`` limits each search.

    Numbers between two positive ones are first let be any positive numbers, which makes for shorter derivations (`_wide`).
    """
    strange = sorted(name for name in statement.expressions if name.startswith("class ") and name not in KNOWN)
    if isinstance(statement.functions, str):
        strange += [flag for flag in FLAGS if flag in read_settings(statement.functions)]
    if not isinstance(statement.functions, str) or strange or statement.clients or statement.where:
        what = (
            strange or ["a class that is no text"]
            if not statement.clients and not statement.where
            else ["some of the clients or conditions"]
        )
        return ForAllParameters(why_not=f"it has {', '.join(what)}, which derivations do not know")
    claimed = statement.claim_text.substitute(statement.exact_constants)
    constants = {name: statement.expressions.get(f"class {name}") for name in ("L", "mu", "zeta")}
    mu = constants["mu"] = constants["mu"] or number(0)
    try:
        if isinstance(statement, Contraction):
            if constants["zeta"] is not None:
                return ForAllParameters(why_not="a potential with zeta has no derivation")
            weights = {name: statement.expressions[f"weight {name}"] for name in statement.potential}
            stated = StatedContraction(
                statement.method_at,
                statement.parameters,
                weights,
                claimed,
                constants["L"] or number(1),
                mu,
            )
            return ForAllParameters(prove_contraction(stated, seconds))
        radius, power = statement.expressions["radius"], 2 if find_measure(statement.measure).of_minimiser else 1
        if constants["zeta"] is not None and radius != number(1):
            return ForAllParameters(why_not="with zeta, derivations know starts of radius 1 only")
        if radius != number(1):
            claimed = Expression("/", (claimed, Expression("**", (radius, number(power)))))
        on_wide = _prove_on_wide(statement, claimed, constants, seconds)
        if on_wide:
            return ForAllParameters(on_wide)
        return ForAllParameters(
            prove_bound(
                statement.method_at,
                statement.parameters,
                statement.expressions["rounds"],
                statement.measure,
                claimed,
                seconds,
                **constants,
            )
        )
    except (CannotTrace, FedtheoryError, TypeError, ArithmeticError, AttributeError) as error:
        return ForAllParameters(why_not=str(error).splitlines()[0][:200])


def _wide(region: Region) -> Region:
    """With all positive numbers in the place of those between two of them: what holds there holds on the region."""

    def wide(p: Parameter) -> Parameter:
        numbers = p.low.kind == "number" and (p.high is None or p.high.kind == "number")
        return Parameter(p.name, number(0), None) if numbers and not p.integer and p.low.at({}) > 0 else p

    return Region(tuple(wide(p) for p in region.parameters))


def _prove_on_wide(
    statement: Bound, claimed: Expression, constants: Mapping[str, Expression | None], seconds: float
) -> list[Piece]:
    """Derivations on the wide region, one for each choice of its whole numbers, the largest first; none where one of them is not found."""
    wide = _wide(statement.parameters)
    if wide == statement.parameters:
        return []
    found: list[Piece] = []
    for fixed, case in reversed(list(wide.cases())):
        field = ParameterField(case)
        here = {name: None if c is None else c.substitute(fixed) for name, c in constants.items()}
        rounds = int(statement.expressions["rounds"].at(fixed))

        def method(point: Mapping[str, Any], fixed: Mapping[str, Any] = fixed) -> Any:
            return statement.method_at({**fixed, **point})

        system = bound_system(field, method, rounds, statement.measure, claimed.substitute(fixed), fixed=fixed, **here)
        search = search_multipliers(field, system, seconds)
        if search.data is None:
            return []
        chosen = ", ".join(f"{name} = {value}" for name, value in fixed.items())
        found.append(Piece(case, Judgement(PROVED_FOR_ALL, search.data, show_multipliers(search.multipliers)), chosen))
    return found[::-1]

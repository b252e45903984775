"""Bounds and contractions for all parameters of their region: the engine of derivations asked a statement's own question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.core.errors import CannotTrace, FedtheoryError
from fedtheory.proofs.facts import confirm_derivation
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.parameters.checker import check_derivation
from fedtheory.proofs.parameters.methods import Piece, StatedContraction, prove_bound, prove_contraction
from fedtheory.proofs.regions.expressions import Expression, number

#: constants of a class that derivations know
KNOWN = {"class L", "class mu", "class zeta"}


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
    """Ask for a derivation on every piece of the region; ``seconds`` limits each search."""
    strange = sorted(name for name in statement.expressions if name.startswith("class ") and name not in KNOWN)
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

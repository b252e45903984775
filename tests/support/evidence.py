"""Proof objects and replays for tests of the rules."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fedtheory.claims.claim import Assumption, Claim, Fault, Kind, Part, Replay, Status
from fedtheory.claims.context import Context
from fedtheory.claims.parts import assume, disproved, proved_from_statement
from fedtheory.claims.proof_objects import Proof
from fedtheory.claims.verdict import decide
from fedtheory.proofs.facts import collect_facts, compare


def a_proof(scope: str = "") -> Proof:
    """A closed proof object that rests on one fact."""
    with collect_facts([]):
        assert compare(1, "<", 2)
        made = proved_from_statement("p", "one is less than two", scope=scope)
    assert made.proof is not None
    return made.proof


def a_disproof() -> Part:
    """A part that a disproof makes fail."""
    with collect_facts([]):
        return disproved("p", compare(2, ">", 1), "two is more than one")


def a1(met: bool = True) -> Assumption:
    """An assumption, met or not."""
    return assume("A1", "x == 1", x=1 if met else 2)


def a_replay(
    measured: float = 2.0,
    limit: float = 1.0,
    exact: tuple[Fraction, Fraction] = (Fraction(2), Fraction(1)),
    met: bool = True,
) -> Replay:
    """A replay of a violation, if nothing else is said."""
    return Replay("x", measured, limit, *exact, "fractions", (a1(met),))


def judged(kind: Kind, statement: Any, context: Context | None = None) -> tuple[Status, list[Part]]:
    """The status of a statement that is a claim's check, and its parts."""
    claim = Claim("STATED", "a paper", kind, "", "", lambda ctx: statement.findings(ctx), (Fault("none", "none", {}),))
    parts = [finding for finding in claim.run(context or Context()) if isinstance(finding, Part)]
    return decide(kind, parts), parts

"""A theorem's term with the multipliers of its claims' combinations left out: whether the same script, with others, proves a stronger claim.

The lines before a claim stay as they are, with their derivations. A claim that is combined of lines which are combinations themselves may use what
those are combined of, so that what they give away is not lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fedtheory.claims.statements.theorems.proving import _Finder
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.formulas import Sentence, read, show_tree, split_pieces, substitute
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.checker.rules import _PART
from fedtheory.proofs.checker.terms import Checker

#: lines of lines of which a claim is combined, and premises of one combination
DEEPEST, MOST_PREMISES = 4, 10
#: for a derivation of a line that is a claim
CLAIM_SECONDS = 5.0
_REFERENCE = re.compile(r"(\w+)(?:\((.*)\))?", re.S)


def is_within_reach(theorem: Theorem, data: Mapping[str, Any], other: Theorem) -> bool:
    """Whether the lines of a theorem's term prove another one, with other claims or names, where multipliers are found anew."""
    own = dict(zip(map(str, theorem.sentences), other.claims, strict=True))
    parsed = [ProofLine.parse(text) for text in data["lines"]]
    everywhere = other.where != theorem.where
    lines = [
        _free_line(line, parsed, own.get(str(line.sentence), str(line.sentence)))
        if str(line.sentence) in own or everywhere
        else str(line)
        for line in parsed
    ]
    kept = {key: data[key] for key in ("functions", "drawn", "rests")}
    helper = _Keeper(other, CLAIM_SECONDS, kept_derivations=data["derivations"])
    try:
        check_term({**other.skeleton(), **kept, "lines": lines, "derivations": {}}, helper)
    except (Refused, FedtheoryError, ArithmeticError):
        return False
    return True


class _Keeper(_Finder):
    """Finds multipliers, and derivations of lines that say something else than before; the others it has."""

    def __init__(self, theorem: Theorem, seconds: float, kept_derivations: Mapping[str, Sequence[Any]]) -> None:
        super().__init__(theorem, seconds)
        self.kept = {name: list(found) for name, found in kept_derivations.items()}

    def derivation(self, checker: Checker, line: ProofLine, goal: Sentence, region: str) -> Mapping[str, Any]:
        """The next one of the line, or one that is found."""
        claimed = str(line.sentence) in {str(said) for said in self.theorem.sentences}
        if not claimed and self.kept.get(line.name):
            found: Mapping[str, Any] = self.kept[line.name].pop(0)
            return found
        return super().derivation(checker, line, goal, region)


def _free_line(line: ProofLine, lines: Sequence[ProofLine], said: str) -> str:
    """A line that says something, without the multipliers of its combinations."""
    rule, arguments = line.rule, line.arguments
    if rule == "combine":
        body, times, scale = arguments.partition(" times ")
        arguments = f"{', '.join(_open(body, {one.name: one for one in lines}))}{times}{scale}"
    elif rule in ("induction", "cases", "larger", "through", "values"):
        arguments = re.sub(r"\bcombine ([^;]*)", lambda found: f"combine {_free(found[1])}", arguments)
    return f"{line.name}: {said} by {rule} {arguments}".strip()


def _free(body: str) -> str:
    """The premises of a combination, without factors."""
    body, times, scale = body.partition(" times ")
    closing = body[len(body.rstrip(") ")) :] if body.count(")") > body.count("(") else ""
    pieces = split_pieces(body.removesuffix(closing) if closing else body)
    return f"{', '.join(_reference(piece) for piece in pieces)}{closing}{times}{scale}"


def _reference(piece: str) -> str:
    """A premise without its factor."""
    found = _PART.fullmatch(piece.strip())
    return piece if found is None else found[2]


def _open(body: str, known: Mapping[str, ProofLine]) -> list[str]:
    """The premises of a combination, then those of which they are combined, and so on, in the rounds in which they are used."""
    found = dict.fromkeys(map(_reference, split_pieces(body)))
    level = list(found)
    for _ in range(DEEPEST):
        level = [inner for reference in level for inner in _premises_of(reference, known) if inner not in found]
        for reference in level:
            if len(found) < MOST_PREMISES:
                found[reference] = None
    return list(found)


def _premises_of(reference: str, known: Mapping[str, ProofLine]) -> list[str]:
    """What a line is combined of, where it is a premise in some round."""
    parts = _REFERENCE.fullmatch(reference)
    if parts is None or parts[1] not in known or known[parts[1]].rule != "combine":
        return []
    line, rounds = known[parts[1]], _rounds(parts[2] or "")
    body = line.arguments.partition(" times ")[0]
    return [
        inner
        for piece in split_pieces(body)
        if (inner := _in_rounds(_reference(piece), line, rounds, known)) is not None
    ]


def _in_rounds(
    reference: str, line: ProofLine, rounds: Mapping[str, str], known: Mapping[str, ProofLine]
) -> str | None:
    """A premise of a line, where the line's rounds are others; None of what is no line, such as a square."""
    parts = _REFERENCE.fullmatch(reference)
    if parts is None or parts[1] not in known:
        return None
    trees = {name: read(text) for name, text in rounds.items()}
    own = {name: show_tree(substitute(read(text), trees)) for name, text in _rounds(parts[2] or "").items()}
    free = known[parts[1]].sentence.names
    own |= {name: text for name, text in rounds.items() if name in free and name not in own}
    return f"{parts[1]}({', '.join(f'{name}={text}' for name, text in own.items())})" if own else parts[1]


def _rounds(text: str) -> dict[str, str]:
    """``t=T+1, n=0`` by name."""
    pairs = (piece.partition("=") for piece in split_pieces(text))
    return {name.strip(): value.strip() for name, _, value in pairs}

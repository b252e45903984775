"""The whole of a proof term: its lines one after the other, the theorems that it rests on, and that it says what it claims."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .algebra import Quotient
from .formulas import Sentence, indexed, names, quantity_of, read, show_tree
from .proof_lines import ProofLine
from .reading import MOST_STEPS, counting, require_fields, spend
from .refusals import NotChecked, TermNotChecked, TermRefused
from .rules import apply_rule
from .signature import Signature
from .terms import MOST_LINES, TERM_FORMAT, Checker, Helper

#: most theorems that rest on each other, and entries of a term's field beside its lines
MOST_RESTING, MOST_ENTRIES = 8, 100
#: fields of a term: texts, lists and mappings; and those of them that have texts in them
_TEXTS = ("format", "states")
_LISTS = ("parameters", "auxiliary", "assumed", "drawn", "claims", "lines")
_MAPPINGS = ("wholes", "rounds", "quantities", "sequences", "functions", "given", "where", "rests", "derivations")
_MAY = ("inside", "fixed")  #: where hypotheses rest on theorems inside of a round, or are about rounds that are fixed
_OF_TEXTS = (*_LISTS[1:], "quantities", "sequences", "given", "where")
_ONE = Quotient.number(1)


@dataclass(frozen=True)
class Proved:
    """What a term proves: its claims, what they rest on beside the classes of functions, and the lines in full.

    ``left``: name of a line, and what combinations in it leave of its right side less its left side, in the order in which they are written.
    """

    claims: tuple[str, ...]
    given: tuple[str, ...]
    assumed: tuple[str, ...]
    cited: tuple[str, ...]
    lines: tuple[str, ...]
    left: tuple[tuple[str, Quotient], ...] = ()


def add_rests(checker: Checker, data: Mapping[str, Any], level: int, resting: Mapping[str, Proved]) -> None:
    """The claims of theorems that this one rests on, once their terms are checked and seen to hold here."""
    for name, other in data["rests"].items():
        found = resting[name] if name in resting else _check(other, None, level + 1)
        signature = Signature.read(other)
        _require_inside(checker, name, data, other, signature)
        checker.cited += [cited for cited in found.cited if cited not in checker.cited]
        checker.hypotheses |= set(found.assumed)
        for k, claim in enumerate(found.claims):
            own = name if len(found.claims) == 1 else f"{name}_{k + 1}"
            line = ProofLine(own, Sentence.parse(claim).substitute(signature.where), "rests", "")
            checker.require_new(line)
            checker.known[line.name] = line.sentence
            checker.tie(line.name, _ties_of_other(checker, name, other, signature))


def _ties_of_other(checker: Checker, name: str, other: Mapping[str, Any], signature: Signature) -> frozenset[str]:
    """The rounds that the claims of another theorem are about here; what it supposes of all rounds is supposed of all here, too."""
    theirs = Checker(signature, tuple(other["claims"]), {})
    tied = frozenset[str]()
    for hypothesis, text in other["given"].items():
        said = Sentence.parse(text)
        here, there = checker.own_rounds(said), theirs.own_rounds(said)
        if not here <= there:
            raise TermRefused(name, "rests", f"{hypothesis} of all {', '.join(sorted(here - there))}", text)
        tied |= here
    return tied


def _require_inside(
    checker: Checker, name: str, data: Mapping[str, Any], other: Mapping[str, Any], signature: Signature
) -> None:
    """What another theorem says holds here: its region, rounds, states, quantities, classes and hypotheses are those of this one, or wider."""

    def require(holds: bool, expected: object, found: object) -> None:
        if not holds:
            raise TermRefused(name, "rests", expected, found)

    own = checker.signature
    for p in signature.parameters:
        require(p.name in {q.name for q in own.parameters}, "parameters of this theorem", p.name)
        x = Quotient.atom(p.name)
        require(
            (checker.is_nonnegative if p.ends.low_closed else checker.is_positive)(x - p.ends.low),
            f"{p}, on this region",
            "another one",
        )
        if p.ends.high is not None:
            require(
                (checker.is_nonnegative if p.ends.high_closed else checker.is_positive)(p.ends.high - x),
                f"{p}, on this region",
                "another one",
            )
    for round_name, least in signature.rounds.items():
        require(own.rounds.get(round_name, least) >= least, f"{round_name} >= {least}", own.rounds.get(round_name))
    spoken = {
        quantity_of(node) for claim in other["claims"] for side in Sentence.parse(claim).sides for node in indexed(side)
    }
    for quantity in spoken & signature.quantities:
        same = data["quantities"].get(quantity) == other["quantities"][quantity] and data["states"] == other["states"]
        require(same, f"{quantity}, as it is here", other["quantities"][quantity])
    for key in ("wholes", "drawn", "sequences"):
        require(
            all(data[key].get(k) == v for k, v in other[key].items())
            if isinstance(other[key], dict)
            else data[key] == other[key],
            data[key],
            other[key],
        )
    for function, stated in signature.functions.items():
        require(
            own.functions.get(function) == stated,
            f"the class of {function} as it is here",
            other["functions"][function],
        )
    require(
        set(other["given"].items()) <= set(data["given"].items()),
        "hypotheses of this theorem",
        ", ".join(other["given"]),
    )
    checker.used |= set(other["given"])
    require(
        signature.assumed <= own.assumed,
        "hypotheses of this theorem",
        ", ".join(sorted(signature.assumed - own.assumed)),
    )


def add_inside(checker: Checker, data: Mapping[str, Any], level: int, resting: Mapping[str, Proved]) -> list[str]:
    """Hypotheses that are what another theorem says of the last of states inside of a round, with the round in the place of that state.

    What these theorems suppose themselves is returned, by name.

    That these states are inside of a round, and that quantities mean the same of them, is not checked here, as what quantities are is not.
    """
    supposed = []
    for name, one in data.get("inside", {}).items():
        other, last = require_fields(one, ("term", "last"), "a theorem inside")["term"], one["last"]
        known, signature = f"inside {name}", Signature.read(other)
        found = resting[known] if known in resting else _check(other, None, level + 1)
        claim, given = Sentence.parse(found.claims[0]).substitute(signature.where), checker.known.get(name)
        plain = (
            len(found.claims) == 1
            and claim.sign in ("<=", "==")
            and not (claim.exists or claim.fixed or claim.to_infinity)
        )
        rounds = [] if given is None else sorted(given.names & checker.signature.rounds.keys())
        if given is None or not plain or len(rounds) != 1 or claim.sign != given.sign:
            raise TermRefused(
                name, "inside", "a hypothesis about one round, and one claim of its kind", f"{given}; {claim}"
            )
        if any(other[key] for key in ("wholes", "sequences", "drawn", "auxiliary")):
            raise TermRefused(name, "inside", "a theorem in real parameters, without sequences and draws", claim)
        _require_parameters(checker, name, signature)
        _require_only(checker, name, claim, last, signature)
        at_round = claim.substitute({last: read(rounds[0])})
        if not (checker.gap(at_round) - checker.gap(given)).zero:
            raise TermRefused(name, "inside", given, at_round)
        checker.cited += [cited for cited in found.cited if cited not in checker.cited]
        checker.hypotheses |= set(found.assumed)
        supposed += [f"{own} inside of {name}" for own in found.given]
    return supposed


def _require_parameters(checker: Checker, name: str, signature: Signature) -> None:
    """The other theorem's region holds here, where its parameters may be names of formulas."""
    for p in signature.parameters:
        x, low = checker.value(read(p.name)), checker.value(read(p.ends.low.text()))
        holds = (checker.is_nonnegative if p.ends.low_closed else checker.is_positive)(x - low)
        if p.ends.high is not None:
            high = checker.value(read(p.ends.high.text()))
            holds = holds and (checker.is_nonnegative if p.ends.high_closed else checker.is_positive)(high - x)
        if not holds:
            raise TermRefused(name, "inside", f"{p}, on this region", "another one")


def _require_only(checker: Checker, name: str, claim: Sentence, last: str, signature: Signature) -> None:
    """A claim speaks of the last state alone, and of its number not otherwise."""
    for side in claim.sides:
        for node in indexed(side):
            if show_tree(node.slice) != last:
                raise TermRefused(name, "inside", f"a claim about {last} alone", show_tree(node))
        for atom in checker.value(side).atoms:
            tree = read(atom)
            if names(tree) & signature.rounds.keys() and not isinstance(tree, ast.Subscript):
                raise TermRefused(name, "inside", f"a claim that speaks of {last} in quantities alone", atom)


def check_term(
    data: Mapping[str, Any],
    helper: Helper | None = None,
    most_steps: int = MOST_STEPS,
    resting: Mapping[str, Proved] = MappingProxyType({}),
) -> Proved:
    """Check a term.

    Parameters
    ----------
    helper : Helper, optional
        Finds what a script leaves out; steps are counted without one alone.
    resting : dict
        What checks of the terms of theorems that it rests on gave, by name ("inside NAME" of a hypothesis), where the caller made these.

    Raises
    ------
    TermRefused
        It does not prove its claims; or (`TermNotChecked`) is no term, or takes too many steps.
    """
    if helper is not None:
        return _check(data, helper, 0, resting)
    try:
        with counting(most_steps):
            return _check(data, None, 0, resting)
    except TermRefused:
        raise
    except NotChecked as error:
        raise TermNotChecked(str(error)) from None
    except RecursionError:
        raise TermNotChecked("it has formulas or rules too deep inside each other") from None
    except (ValueError, ArithmeticError) as error:
        raise TermNotChecked(f"the term cannot be read: {type(error).__name__} {error}") from error


def _require_sizes(data: Mapping[str, Any]) -> None:
    """Refuse fields that nothing reads, and more entries than are read."""
    require_fields(data, (*_TEXTS, *_LISTS, *_MAPPINGS, *_MAY), "the term")
    for fields, kind in ((_TEXTS, str), (_LISTS, list), (_MAPPINGS, dict)):
        for name in fields:
            size, most = len(data[name]), MOST_LINES if name in ("lines", "derivations") else MOST_ENTRIES
            if not isinstance(data[name], kind):
                raise TypeError(f"its {name} is a {type(data[name]).__name__}")
            if kind is not str and size > most:
                raise ValueError(f"it has {size} {name}, and up to {most} are read")
            inside = data[name].values() if kind is dict else data[name]
            if name in _OF_TEXTS and not all(isinstance(text, str) for text in inside):
                raise TypeError(f"one of its {name} is no text")
            spend(100 * size)


def _require_used(checker: Checker) -> None:
    """Refuse stored derivations that no line takes."""
    for name, stored in checker.derivations.items():
        if checker.count_taken(name) < len(stored):
            raise TermRefused(name, "derivation", "derivations that a line takes", f"{len(stored)} of {name}")


def _check(
    data: Mapping[str, Any], helper: Helper | None, level: int, resting: Mapping[str, Proved] = MappingProxyType({})
) -> Proved:
    try:
        if data["format"] != TERM_FORMAT:
            raise ValueError(f"its format is not {TERM_FORMAT!r}")
        _require_sizes(data)
        checker = Checker(
            Signature.read(data), tuple(data["claims"]), {k: list(v) for k, v in data["derivations"].items()}, helper
        )
        lines = [ProofLine.parse(text, checker.claims) for text in data["lines"]]
        if not lines or len(lines) > MOST_LINES:
            raise ValueError(f"it has {len(lines)} lines, and from 1 to {MOST_LINES} are read")
        shares = [checker.value(read(text)) for text in data["drawn"]]
        if shares and not ((sum(shares[1:], shares[0]) - _ONE).zero and all(map(checker.is_nonnegative, shares))):
            raise TermRefused(
                "-", "expectation", "probabilities: never negative, their sum one", ", ".join(data["drawn"])
            )
        if level > MOST_RESTING:
            raise ValueError(f"more than {MOST_RESTING} theorems rest on each other")
        checker.add_given(data["given"])
        add_rests(checker, data, level, resting)
        supposed = add_inside(checker, data, level, resting)
    except (TermRefused, NotChecked):
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TermNotChecked(f"the term is malformed: {type(error).__name__} {error}") from error
    for line in lines:
        checker.add(line, apply_rule)
    checker.require_claims(lines)
    _require_used(checker)
    unused = sorted(checker.given - checker.used)
    if unused:
        raise TermRefused("-", "claim", "hypotheses that a line uses", unused[0])
    given = tuple(sorted({*checker.given - data.get("inside", {}).keys(), *supposed}))
    return Proved(
        *(checker.claims, given, tuple(sorted(checker.hypotheses))),
        *(tuple(checker.cited), tuple(checker.written), tuple(checker.left)),
    )

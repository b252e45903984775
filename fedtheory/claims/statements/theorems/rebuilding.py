"""The theorem that a stored proof term is one of, made again from what the term says: so that its states are those of a listed method.

A term says in words whose quantities its derivations are about (``"states": "gd(lr = 1/L), functions L"``); the checker without packages reads no
such words. Here they are read, the method's round is traced again, and classes, draws and every derivation are compared with what it makes.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.proving import verify_term
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.checker.formulas import Sentence
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.reading import read_count
from fedtheory.proofs.checker.refusals import NotChecked, Refused
from fedtheory.proofs.every_n.conditions import AFTER_DRAWS, AFTER_NOISE

_STATES = re.compile(r"([\w-]+)\((.*)\), functions (.*?)(?:, clients (.*))?")
#: rounds and local steps that are traced whatever a term's derivations are about, and the largest product of powers inside each other
MOST_STEPS, MOST_POWER = 20, 1000


def verify_states(data: Mapping[str, Any]) -> bool:
    """Whether a term that was checked says that its states are those of a listed method; then its system is made anew and compared.

    Raises
    ------
    Refused
        The system is another one, or cannot be made.
    """
    if _STATES.fullmatch(str(data["states"])) is None:
        return False
    try:
        verify_term(rebuild_theorem(data), data)
    except Refused:
        raise
    except FedtheoryError as error:
        raise Refused(f"the theorem of this term cannot be made anew: {error}") from error
    except Exception as error:  # an option of a kind that the method's arithmetic does not know
        raise Refused(f"the method cannot be traced: {type(error).__name__} {error}") from error
    return True


def rebuild_theorem(data: Mapping[str, Any]) -> Theorem:
    """The theorem of a term, with those that it rests on, and without its script.

    Raises
    ------
    NotChecked
        Its rounds would be traced for ever.
    InvalidInput
        Its states are those of no listed method, or it is no theorem.
    """
    found = _STATES.fullmatch(data["states"])
    states = None if found is None else MethodStates(*found.groups(default=""))
    if states is not None:
        _require_short(data, states)
    auxiliary = set(data["auxiliary"])
    pieces = {p["name"]: _write_range(p) for p in data["parameters"]}
    pieces |= {name: f"{name} in {low}..{high}" for name, (low, high) in data["wholes"].items()}
    return Theorem(
        region=", ".join(piece for name, piece in pieces.items() if name not in auxiliary),
        auxiliary=", ".join(piece for name, piece in pieces.items() if name in auxiliary),
        claim=tuple(data["claims"]),
        states=states,
        rounds={name: read_count(least) for name, least in data["rounds"].items()},
        assumed=dict.fromkeys((name for name in data["assumed"] if name not in (AFTER_DRAWS, AFTER_NOISE)), ""),
        rests={name: rebuild_theorem(other) for name, other in data["rests"].items()},
        quantities=dict(data["quantities"]),
        where=dict(data["where"]),
        sequences=dict(data["sequences"]),
        given=dict(data["given"]),
    )


def _write_range(p: Mapping[str, Any]) -> str:
    low, high = ("<=" if closed else "<" for closed in p["closed"])
    return f"{p['low']} {low} {p['name']}" + ("" if p["high"] is None else f" {high} {p['high']}")


def _require_short(data: Mapping[str, Any], states: MethodStates) -> None:
    """Refuse at once what would be traced for ever: every round, and every local step, evaluates a gradient, and draws multiply outcomes."""
    for text in (*states.named_method.texts.values(), *states.constants.values(), *data["quantities"].values()):
        _require_powers(str(text))
    stored = [one for many in data["derivations"].values() for one in many]
    functions = [f for one in stored if "system" in one for f in one["system"]["functions"].values()]
    most = max([MOST_STEPS, *(len(f["evaluations"]) for f in functions)])

    def require(what: str, count: int) -> None:
        if count > most:
            raise NotChecked(
                f"it speaks of {count} {what}, and no line of it is about more than {most} evaluations of a function"
            )

    wholes = _list_wholes(data)
    for name, values in wholes.items():
        require(f"for {name}", max(values))
    rounds = max((int(name.partition("[")[2][:-1]) for one in stored for name in one["quantities"]["forms"]), default=0)
    require("rounds one after the other", rounds)
    require("outcomes of its draws", len(data["drawn"]) ** rounds)
    for name, count in _list_counts(states, wholes):
        require(name, count)


def _list_wholes(data: Mapping[str, Any]) -> dict[str, set[int]]:
    """Whole numbers that a method is made for: the ends of their ranges, and those that sentences fix."""
    found: dict[str, set[int]] = {name: set(map(read_count, ends)) for name, ends in data["wholes"].items()}
    sentences = [Sentence.parse(text) for text in (*data["claims"], *data["given"].values())]
    sentences += [ProofLine.parse(text, data["claims"]).sentence for text in data["lines"]]
    for name, number in (fixed for sentence in sentences for fixed in sentence.fixed):
        found.setdefault(name, set()).add(number)
    return found


def _list_counts(states: MethodStates, wholes: Mapping[str, set[int]]) -> Iterator[tuple[str, int]]:
    """Options that count something, and their values for all whole numbers that these ranges have."""
    entry = states.named_method.entry
    kinds = {} if entry is None else {option.name: option.kind for option in entry.options}
    for name, expression in states.named_method.expressions.items():
        spoken = sorted(expression.names)
        if kinds[name] is not int or not wholes.keys() >= {*spoken}:
            continue
        if len(spoken) > 2:
            raise NotChecked(f"{name} = {expression} speaks of more than two whole numbers")
        ranges = [range(min(wholes[whole]), max(wholes[whole]) + 1) for whole in spoken]
        for values in itertools.product(*ranges):
            yield name, int(expression.at(dict(zip(spoken, map(Fraction, values), strict=True))))


def _require_powers(text: str) -> None:
    """Exponents are names, or numbers whose product, inside each other, is moderate."""

    def largest(node: ast.AST) -> int:
        inside = max(map(largest, ast.iter_child_nodes(node)), default=1)
        match node:
            case ast.BinOp(
                op=ast.Pow(), right=ast.Constant(value=int(power)) | ast.UnaryOp(operand=ast.Constant(value=int(power)))
            ):
                return inside * max(power, 1)
            case ast.BinOp(op=ast.Pow(), right=right) if not isinstance(right, ast.Name):
                raise NotChecked(f"{text[:80]!r} has an exponent that is no number and no name")
        return inside

    if largest(ast.parse(text.strip(), mode="eval")) > MOST_POWER:
        raise NotChecked(f"{text[:80]!r} has powers beyond {MOST_POWER}")

"""What is shared by all that is written of one theorem: its term, its formulas, the texts written so far, and certificates of its lines."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

from fedtheory.claims.statements.theorems.proving import as_proved
from fedtheory.claims.statements.theorems.rocq.formulas import Formulas
from fedtheory.claims.statements.theorems.rocq.natural import read_real
from fedtheory.claims.statements.theorems.rocq.script import Script, line_name
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checked_before import recheck_derivation
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import Sentence, read
from fedtheory.proofs.checker.lines import offset_of, rooms_of
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.checker.signature import Signature
from fedtheory.proofs.checker.terms import Checker
from fedtheory.proofs.rocq.expressions import Real, identifier
from fedtheory.proofs.rocq.settings import NumberRange, NumberSetting

LinePart = tuple[Quotient, str, int]  # a factor, the quantity, and how many rounds on


@dataclass(frozen=True)
class Binder:
    """A variable of a theorem, or a hypothesis of this name."""

    name: str
    text: str
    is_hypothesis: bool = False

    def opened(self) -> str:
        """In a section."""
        return f"{'Hypothesis' if self.is_hypothesis else 'Variable'} {self.name} : {self.text}."


def write_binders(binders: Sequence[Binder]) -> list[str]:
    """Binders in a statement; variables that follow each other on one line."""
    found, waiting = list[str](), list[Binder]()
    for binder in [*binders, Binder("", "", True)]:
        if not binder.is_hypothesis:
            waiting.append(binder)
            continue
        if waiting:
            shown = [f"{b.name} : {b.text}" for b in waiting]
            found.append(f"forall {shown[0] if len(shown) == 1 else ' '.join(f'({text})' for text in shown)},")
        waiting = []
        found += [f"{binder.text} ->"] if binder.text else []
    return found


@dataclass(frozen=True)
class NarrowEnd:
    """An end of a parameter's range that it has in a case alone."""

    parameter: str
    end: Literal["low", "high"]
    value: Real

    @property
    def fact(self) -> str:
        """Under which name a lemma knows it."""
        return f"{self.parameter}_{self.end}_here"

    @property
    def text(self) -> str:
        """As Rocq reads it."""
        ends = (self.value.text(69), self.parameter) if self.end == "low" else (self.parameter, self.value.text(69))
        return " <= ".join(ends)

    def of(self, r: NumberRange) -> NumberRange:
        """A range with this end, if it is the parameter's."""
        if r.name != self.parameter:
            return r
        return (
            replace(r, low=self.value, low_closed=True)
            if self.end == "low"
            else replace(r, high=self.value, high_closed=True)
        )


class StatesForRocq(Protocol):
    """Where a theorem's quantities live, as it is written for Rocq."""

    #: definitions that the statement is made of
    definitions: Sequence[str]

    def binders(self) -> Sequence[Binder]:
        """Functions, states, and what is supposed of them."""

    def said(self, word: str) -> str:
        """A quantity in the round ``t``, in the statement."""

    def open(self) -> Sequence[str]:
        """What the proof begins with: quantities by their names, facts on all states."""

    def derive(self, term: WrittenTerm, line: ProofLine, goal: Sentence) -> str:
        """Tactics that prove a line of a term by a derivation, or by an identity; of a term that this one rests on, too."""

    def unfold(self, opened: str) -> str:
        """Tactics that put what the statement says in the place of the proof's quantities."""


class LineData(Protocol):
    """A line's certificate (`fedtheory.claims.statements.theorems.rocq.lines.LineCertificate`)."""

    setting: NumberSetting

    def data(self, conclusion: Real) -> str:
        """As data of type ``certificate``."""

    def proof(self, numbers: str, steps: str, region: Sequence[str], zeros: Sequence[str]) -> str:
        """The proof of the inequality."""


@dataclass
class WrittenTerm:
    """A theorem as it is written, with its term as data: its checker, formulas and script, and the proof's texts.

    ``prefix``: what the names of its lines begin with, of a theorem that another one rests on; ``rests``: theorems that this one rests on, by name.
    """

    theorem: Theorem
    data: Mapping[str, Any]
    texts: list[str] = field(default_factory=list)
    prefix: str = ""
    taken: dict[str, int] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)  # fields of played states, with their types

    def __post_init__(self) -> None:
        """Read the term."""
        data, self.theorem = self.data, as_proved(self.theorem, self.data)
        if data.get("inside"):
            raise NotAvailable(
                "a hypothesis that a theorem about states inside of a round proves is not written for Rocq"
            )
        self.fixed = self._fixed()
        derivations = {k: list(v) for k, v in data["derivations"].items()}
        self.checker = Checker(Signature.read(data), tuple(data["claims"]), derivations)
        self.checker.add_given(data["given"])
        self.formulas = Formulas(self.checker, lambda word, at: f"{identifier(word)} {at}")
        every = {p["name"]: r for p, r in zip(data["parameters"], self.every_range(), strict=True)}
        own = set(self.theorem.parameters.names)
        self.ranges = [r for name, r in every.items() if name in own]
        self.auxiliary = [r for name, r in every.items() if name not in own]
        self.script = Script(
            self.checker, self.formulas, self._not_derived, self.texts, self.auxiliary, prefix=self.prefix
        )
        self.script.signs.ranges = every
        self.script.known_as = {name: line_name(name) for name in data["given"]}
        self.rests = {
            name: WrittenTerm(other, data["rests"][name], self.texts, f"{self.prefix}{name}_")
            for name, other in self.theorem.rests.items()
        }
        for name, other in self.rests.items():
            self._require_same(name, other)

    @property
    def every(self) -> list[WrittenTerm]:
        """The terms that this one rests on, each after those that it rests on itself, and this one."""
        return [*(inner for other in self.rests.values() for inner in other.every), self]

    @cached_property
    def quantities(self) -> dict[str, str]:
        """Its quantities, and those of the theorems that it rests on."""
        found = dict(self.theorem.quantities)
        for other in self.rests.values():
            for word, text in other.quantities.items():
                if found.setdefault(word, text) != text:
                    raise NotAvailable(
                        f"{word}, which a theorem that it rests on calls {text}, is not written for Rocq"
                    )
        return found

    def function_name(self, word: str) -> str:
        """What a function of its states is called, where numbers and quantities have names of their own."""
        own = [*(r.name for r in (*self.ranges, *self.auxiliary)), *self.data["sequences"], *self.data["rounds"]]
        taken, found = {identifier(name) for name in (*own, *self.quantities)}, identifier(word)
        while found in taken:
            found += "'"
        return found

    def _require_same(self, name: str, other: WrittenTerm) -> None:
        """The parameters that both have lie in the same ranges, so that facts about them have the same names and say the same."""
        own = {r.name: r for r in (*self.ranges, *self.auxiliary)}
        if (
            any(own.get(r.name) != r for r in (*other.ranges, *other.auxiliary))
            or not other.fixed.items() <= self.fixed.items()
        ):
            raise NotAvailable(f"the theorem {name} that it rests on, on another region, is not written for Rocq")

    def _not_derived(self, line: ProofLine, goal: Sentence) -> str:
        raise NotAvailable(f"{line.name}: a derivation without states is not written for Rocq")

    def _fixed(self) -> dict[str, int]:
        said = [Sentence.parse(claim).fixed for claim in self.data["claims"]]
        if len(set(said)) > 1 or len(dict(said[0])) < len(self.data["wholes"]):
            raise NotAvailable("a claim about several values of a whole number is not written for Rocq")
        return dict(said[0])

    def every_range(self) -> list[NumberRange]:
        """Of all parameters, those of lines alone included."""
        found = []
        for entry in self.data["parameters"]:
            low, high = (None if entry[end] is None else read_real(read(entry[end])) for end in ("low", "high"))
            assert low is not None
            found.append(NumberRange(identifier(entry["name"]), low, high, *entry["closed"]))
        return found

    def range_of_round(self, t: str) -> NumberRange:
        """From its least value on."""
        low = Real("whole", (self.checker.signature.rounds[t],))
        return NumberRange(f"INR {identifier(t)}", low, None, True)

    def next_derivation(self, line: ProofLine) -> Mapping[str, Any]:
        """What is stored for a line, one after the other."""
        k = self.taken.get(line.name, 0)
        self.taken[line.name] = k + 1
        found: Mapping[str, Any] = self.checker.derivations[line.name][k]
        return found

    def parts(self, line: ProofLine, goal: Sentence, *, start: bool = False) -> tuple[Quotient, list[LinePart], str]:
        """Left side less right side as a constant and multiples of quantities, and the round that it is about; none of a run from the start."""

        def refuse(expected: object, found: object) -> TermRefused:
            return TermRefused(line.name, line.rule, expected, found)

        rest = -self.checker.gap(goal)
        parts, variables = list[LinePart](), set[str]()
        for atom in sorted(self.checker.quantities_in(rest)):
            variable, n = offset_of(refuse, atom, start)
            found = rest.linear_in(atom)
            assert found is not None  # the checker has seen it
            rest, factor = found
            parts.append((factor, atom.partition("[")[0], n))
            variables.add(variable or "")
        if len(variables) != 1 or ("" in variables) != start:
            raise NotAvailable(f"{line.name}: a line about no round is not written for Rocq")
        return rest, parts, variables.pop()

    def narrow_ends(self, stored: Mapping[str, Any]) -> list[NarrowEnd]:
        """Where a stored derivation is about a part of the region, which the cases that are looked at are about."""
        if not self.script.cases or "system" not in stored:
            return []
        found = []
        for name, end, room in rooms_of(recheck_derivation(dict(stored["system"])), stored["symbols"]):
            if self.checker.domain.is_nonnegative(room):
                continue
            match next((e for e in self.script.cases if (self.checker.value(e) - room).zero), None):
                case ast.BinOp(left=value, op=ast.Sub(), right=ast.Name()) if end == "high":
                    pass
                case ast.UnaryOp(op=ast.USub(), operand=ast.BinOp(left=value, op=ast.Sub(), right=ast.Name())) if (
                    end == "low"
                ):
                    pass
                case _:
                    raise NotAvailable("a derivation on a part of the region that is no case is not written for Rocq")
            found.append(NarrowEnd(identifier(name), end, self.formulas.read(value)))
        return found

    def region_of(self, ranges: Sequence[NumberRange], rounds: Sequence[str]) -> list[str]:
        """Proofs that numbers lie in their ranges, and rounds in theirs, from the facts that are named after them."""
        region, least = [], self.checker.signature.rounds
        for r in ranges:
            region += [f"{r.name}_low", "I" if r.high is None else f"{r.name}_high"]
        for t in rounds:
            region += [f"(at_least {least[t]} {identifier(t)} {least[t]} eq_refl {identifier(t)}_least)", "I"]
        return region

    def prove(self, certificate: LineData, conclusion: Real, region: Sequence[str], zeros: Sequence[str] = ()) -> str:
        """A certificate's term, after its data were defined."""
        data = certificate.data(conclusion)
        numbers = self.script.define("numbers", "setting", certificate.setting.data())
        steps = self.script.define("steps", "certificate", data)
        self.texts += [
            f"Lemma {word}_ok : {said} = true.\nProof using. vm_cast_no_check (eq_refl true). Qed."
            for word, said in ((numbers, f"setting_ok {numbers}"), (steps, f"holds {numbers} {steps}"))
        ]
        return certificate.proof(numbers, steps, region, zeros)

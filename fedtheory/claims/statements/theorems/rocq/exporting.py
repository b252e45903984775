"""A proved theorem as a theorem of Rocq: textbook classes, the states of its rounds, the claim for every round, and its lines as lemmas."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from fedtheory.claims.statements.theorems.proving import ProvedTheorem
from fedtheory.claims.statements.theorems.rocq.formulas import Formulas
from fedtheory.claims.statements.theorems.rocq.methods import MethodForRocq
from fedtheory.claims.statements.theorems.rocq.played import PlayedForRocq
from fedtheory.claims.statements.theorems.rocq.real_powers import same_exponential, same_power
from fedtheory.claims.statements.theorems.rocq.script import OWN, OWN_HOLDS, line_name, names_of_rounds
from fedtheory.claims.statements.theorems.rocq.sums import SPREAD, is_empty_at_first, same_sum
from fedtheory.claims.statements.theorems.rocq.term import Binder, StatesForRocq, WrittenTerm, write_binders
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import EULER, value_of, whole_number_of_rounds
from fedtheory.proofs.checker.formulas import Sentence, Unreadable, names, show_tree, subtrees
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.rocq.expressions import Real, apply, identifier
from fedtheory.proofs.rocq.folders import RocqTheorem
from fedtheory.proofs.rocq.settings import NumberRange

#: that a claim follows from a line whose sides differ by as much, by sign
_SAME_GAP = {"<=": "same_gap", "<": "same_gap_less", "==": "same_gap_equal"}


def write_theorem_for_rocq(proved: ProvedTheorem, name: str, title: str = "") -> RocqTheorem:
    """The theorem with its statement and proof.

    Raises
    ------
    NotAvailable
        The theorem has what is not written for Rocq; the message names it.
    """
    return _Writer(WrittenTerm(proved.theorem, proved.data)).theorem(name, title)


@dataclass
class _StatementFormulas(Formulas):
    """Formulas as their author wrote them, powers and sums as well."""

    def _read(self, tree: ast.expr) -> Real:
        match tree:
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                exponent = _exponent(right, self.checker.signature.rounds)
                if exponent is not None:
                    return apply(f"{self._read(left).text(9)} ^ {exponent}")
                if self.is_real_power(tree):
                    return apply(f"Rpower {self._read(left).text(9)} {self._read(right).text(9)}")
            case ast.Call(func=ast.Name(id="exp"), args=[inside]):
                return apply(f"exp {self._read(inside).text(9)}")
            case ast.Call(func=ast.Name(id="sum"), args=[body, ast.Name(id=t), low, high]) if not self._unusual(
                body
            ) and not is_empty_at_first(low, high, self.checker.signature.rounds):
                return apply(
                    f"sum_of (fun {identifier(t)} : nat => {self._read(body)}) {self.index(low)} {self.index(high)}"
                )
        return super()._read(tree)

    def is_real_power(self, tree: ast.expr) -> bool:
        """Whether it is a power whose exponent is neither a number nor made of rounds, nor its base that of the exponential."""
        match tree:
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                q, rounds = value_of(right), self.checker.signature.rounds
                own = {name for name in names(right) if name not in rounds}
                return q.constant() is None and bool(own) and EULER not in names(left)
        return False

    def _unusual(self, tree: ast.expr) -> bool:
        """Whether it has powers whose exponents are neither numbers nor whole numbers of rounds, which are written in their normal form."""
        powers = [node.right for node in subtrees(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)]
        rounds = self.checker.signature.rounds
        return any(value_of(e).constant() is None and _exponent(e, rounds) is None for e in powers)


def _exponent(tree: ast.expr, rounds: Mapping[str, int]) -> str | None:
    """An exponent that is a whole number of rounds, as Rocq's natural numbers; None for another one, and for one that may be negative.

    The predecessor of 0 is 0 in Rocq: t - 1 is written so only where t is at least 1.
    """
    if value_of(tree).constant() is not None:
        return None
    try:
        variables, constant = whole_number_of_rounds(value_of(tree), show_tree(tree))
    except Unreadable:
        return None
    if not variables.keys() <= set(rounds):
        return None
    if constant < 0 and len(variables) == 1 and [*variables.values()] == [1]:
        (t,) = variables
        return "(Nat.pred " * -constant + identifier(t) + ")" * -constant if rounds[t] + constant >= 0 else None
    if any(k < 0 for k in (*variables.values(), constant)):
        return None
    terms = [identifier(word) if k == 1 else f"{k} * {identifier(word)}" for word, k in sorted(variables.items())]
    shown = " + ".join([*terms, *([str(constant)] if constant else [])])
    return shown if re.fullmatch(r"\w+", shown) else f"({shown})"


@dataclass
class _NoStates:
    """Of a theorem about numbers alone."""

    definitions: Sequence[str] = ()

    def binders(self) -> list[Binder]:
        """None."""
        return []

    def said(self, word: str) -> str:
        """There are no quantities."""
        raise NotAvailable(f"the quantity {word} of no states is not written for Rocq")

    def open(self) -> list[str]:
        """Nothing."""
        return []

    def derive(self, term: WrittenTerm, line: ProofLine, goal: Sentence) -> str:
        """There is nothing that one could be about."""
        raise NotAvailable(f"{line.name}: a derivation without states is not written for Rocq")

    def unfold(self, opened: str) -> str:
        """Nothing."""
        return ""


class _Writer:
    def __init__(self, term: WrittenTerm) -> None:
        self.term, self.checker = term, term.checker
        self.states = self._states()
        for part in term.every:
            part.script.derive = partial(self.states.derive, part)
        self.author = _StatementFormulas(self.checker, term.formulas.quantity)
        for part in term.every:  # maxima are written in lines as in the statement, which is written first
            part.formulas.maxima = self.author.maxima

    def _states(self) -> StatesForRocq:
        states = self.term.theorem.states
        if isinstance(states, MethodStates):
            return MethodForRocq(self.term)
        if isinstance(states, PlayedStates):
            return PlayedForRocq(self.term)
        if states is None:
            return _NoStates()
        raise NotAvailable(f"{type(states).__name__} are not written for Rocq")

    def theorem(self, name: str, title: str) -> RocqTheorem:
        """The whole."""
        term, data = self.term, self.term.data
        names = [r.name for r in term.ranges]
        claims = [self._claim(Sentence.parse(claim), term.script.own_rounds) for claim in data["claims"]]
        lines = [f"forall (V : space) (C : clients V){f' ({chr(32).join(names)} : R)' if names else ''},"]
        lines += [f"{h} ->" for r in term.ranges for h in r.hypotheses()]
        first, given, own = [*self._sequences(), *self.states.binders()], self._given(), self._given_of_own()
        lines += write_binders(first)
        lines += [
            f"let {identifier(word)} (t : nat) : R := {self.states.said(word)} in" for word in term.theorem.quantities
        ]
        lines += write_binders(given)
        if own:
            lines += [term.script.for_all(term.script.own_rounds).rstrip(), *(f"{binder.text} ->" for binder in own)]
        lines.append(" /\\\n  ".join(claims) + ".")
        statement = "(* the theorem *)\nDefinition statement : Prop :=\n  " + "\n  ".join(lines)
        self._open(names, first, given, own)
        self._write_lines(term)
        self._close(first, given, own)
        definitions = "\n".join(self.states.definitions)
        return RocqTheorem(
            name, title or term.theorem.name, definitions, statement, "\n".join(term.texts), "Runs", "Rounds"
        )

    def _sequences(self) -> list[Binder]:
        found = []
        for word, ends in self.checker.signature.sequences.items():
            own, formulas = identifier(word), self.term.formulas
            found.append(Binder(own, "nat -> R"))
            low = f"(forall n : nat, {formulas.quotient(ends.low).text(69)} <= {own} n)"
            found.append(Binder(f"{own}_low", low, True))
            if ends.high is not None:
                high = f"(forall n : nat, {own} n <= {formulas.quotient(ends.high).text(69)})"
                found.append(Binder(f"{own}_high", high, True))
        return found

    def _given(self) -> list[Binder]:
        sentences = {
            line.name: line.sentence for line in self._given_lines(self.term) if line.name not in self.checker.tied
        }
        along = sorted({s.along for s in sentences.values() if s.along})
        found = []
        for word in along:
            found.append(Binder(identifier(word), "nat -> Prop"))
            found.append(Binder(f"{identifier(word)}_endless", f"endless {identifier(word)}", True))
        return [*found, *(Binder(f"given_{name}", self._claim(s, ()), True) for name, s in sentences.items())]

    def _given_of_own(self) -> list[Binder]:
        """What is given of the claim's own rounds."""
        found = []
        for line in self._given_lines(self.term):
            tied = self.checker.tied.get(line.name, frozenset())
            if tied and line.sentence.names & {*self.term.script.own_rounds} - tied:
                raise NotAvailable(f"{line.name}, of all rounds that others say of one, is not written for Rocq")
            found += [Binder(f"given_{line.name}", self._claim(line.sentence, tied), True)] if tied else []
        return found

    def _claim(self, sentence: Sentence, own: Collection[str]) -> str:
        """A sentence, for all rounds but some."""
        rounds = [t for t in self.term.script.rounds(sentence) if t not in own]
        return f"({self.term.script.for_all(rounds)}{self.author.sentence(sentence)})"

    # ---- the proof

    def _open(self, names: list[str], first: list[Binder], given: list[Binder], own: list[Binder]) -> None:
        """Variables, what states are, and hypotheses as lines."""
        texts = self.term.texts
        over = f" ({' '.join(names)} : R)" if names else ""
        texts += ['Set Default Proof Using "All".', "Section Proof.", f"Variables (V : space) (C : clients V){over}."]
        for r in self.term.ranges:
            texts += [f"Hypothesis {name} : {text}." for name, text in zip(_facts([r]), r.hypotheses(), strict=True)]
        texts += [binder.opened() for binder in first]
        texts += self.states.open()
        texts += [binder.opened() for binder in given]
        if own:
            over = "".join(f" ({identifier(t)} : nat)" for t in self.term.script.own_rounds)
            texts.append(f"Definition {OWN}{over} : Prop :=\n  " + " /\\\n  ".join(binder.text for binder in own) + ".")
        for line in self._given_lines(self.term):
            name, said, tied = line.name, line.sentence, line.name in self.checker.tied
            over = self.term.script.for_all(self.term.script.rounds(said, own=tied), own=tied)
            if tied:
                texts.append(self._given_lemma(line, [binder.name for binder in own]))
            proof = self._bridge(said, f"given_{name}", own=tied, tied=tied)
            texts.append(
                f"Lemma {line_name(name)} : {over}{self.term.formulas.sentence(said)}.\nProof.\n  {proof}\nQed."
            )
            self.term.script.note_sign(line)

    def _given_lemma(self, line: ProofLine, names: list[str]) -> str:
        """A hypothesis of the claim's own rounds, from all of them."""
        script, place = self.term.script, names.index(f"given_{line.name}")
        rounds = script.rounds(line.sentence, own=True)
        part = "proj2 (" * place + OWN_HOLDS + ")" * place
        part = part if place == len(names) - 1 else f"proj1 ({part})"
        free = names_of_rounds(t for t in rounds if t not in script.own_rounds)
        return (
            f"Lemma given_{line.name} : {script.for_all(rounds, own=True)}{self.author.sentence(line.sentence)}.\n"
            f"Proof.\n  intros{names_of_rounds(rounds)} {OWN_HOLDS}. exact (({part}){free}).\nQed."
        )

    def _write_lines(self, term: WrittenTerm) -> None:
        """The lines of a term, after those of the theorems that it rests on, whose claims are lines of its own."""
        for name, other in term.rests.items():
            if other.script.own_rounds:
                raise NotAvailable(f"the theorem {name}, with hypotheses on rounds of its own, is not written for Rocq")
            self.term.texts.append(f"(* {name}: the theorem {other.theorem.name} *)")
            for line in self._given_lines(other):
                other.script.note_sign(line)
            self._write_lines(other)
            for k, claim in enumerate(other.checker.claims, 1):
                own = name if len(other.checker.claims) == 1 else f"{name}_{k}"
                self._take_over(term, own, other, Sentence.parse(claim))
        for text in term.data["lines"]:
            term.script.write(ProofLine.parse(text, term.checker.claims))

    def _take_over(self, term: WrittenTerm, name: str, other: WrittenTerm, claim: Sentence) -> None:
        """A claim of another theorem as a line of this one."""
        line = ProofLine(name, claim.substitute(other.checker.signature.where), "rests", "")
        rounds = term.script.rounds(line.sentence)
        over, opened = term.script.for_all(rounds), names_of_rounds(rounds)
        at = "".join(f" {identifier(t)} ltac:(lia)" for t in rounds)
        proof = f"{f'intros{opened}; ' if rounds else ''}exact ({_instance(other, _name_at(other, claim))}{at})."
        own = term.script.known_as[name] = line_name(f"{term.prefix}{name}")
        said = term.formulas.sentence(line.sentence)
        self.term.texts.append(f"Lemma {own} : {over}{said}.\nProof.\n  {proof}\nQed.")
        term.checker.known[name] = line.sentence
        term.script.note_sign(line)

    @staticmethod
    def _given_lines(term: WrittenTerm) -> list[ProofLine]:
        """Hypotheses as lines."""
        return [ProofLine(name, Sentence.parse(text), "given", "") for name, text in term.data["given"].items()]

    # ---- the end

    def _close(self, first: list[Binder], given: list[Binder], own: list[Binder]) -> None:
        texts, script = self.term.texts, self.term.script
        names = [f"claim_{k}" for k in range(1, len(self.checker.claims) + 1)]
        for name, claim in zip(names, self.checker.claims, strict=True):
            sentence = Sentence.parse(claim)
            line = _name_at(self.term, sentence)
            tied = line in self.checker.tied
            proof = self._bridge(sentence, _instance(self.term, line), own=bool(own), tied=tied)
            over = script.for_all(script.rounds(sentence, own=bool(own)), own=bool(own))
            texts.append(f"Lemma {name} : ({over}{self.author.sentence(sentence)}).\nProof.\n  {proof}\nQed.")
        texts.append("End Proof.")
        ranges = self.term.ranges
        before = ["V", "C", *(r.name for r in ranges), *_facts(ranges), *(b.name for b in first)]
        supposed = "".join(f" {b.name}" for b in given)
        opened = " ".join(before)
        lets = [f"is_{identifier(word)}" for word in self.term.theorem.quantities] if given or own else []
        intros = " ".join([*before, *lets, *(b.name for b in given)])
        unfold = self.states.unfold(opened)
        if own:
            unfold = unfold and f"unfold {OWN} in _said; {unfold}"
            intros += f"{names_of_rounds(script.own_rounds)} {' '.join(b.name for b in own)}"
        shown = []
        for name, claim in zip(names, self.checker.claims, strict=True):
            free, at = self._of_own(Sentence.parse(claim), own) if own else ("", "")
            shown.append(
                f"pose proof ({name} {opened}) as _said; {unfold} {free}exact (_said{supposed}{at})"
                if unfold or own
                else f"exact ({name} {opened}{supposed})"
            )
        body = shown[0] if len(shown) == 1 else f"repeat match goal with |- _ /\\ _ => split end; [{' | '.join(shown)}]"
        texts.append(f"Theorem proof : statement.\nProof.\n  intros {intros}; cbv zeta.\n  {body}.\nQed.")

    def _of_own(self, sentence: Sentence, own: list[Binder]) -> tuple[str, str]:
        """Tactics that take a claim's other rounds, and all rounds with what holds of the claim's own."""
        script = self.term.script
        rounds = script.rounds(sentence, own=True)
        free = names_of_rounds(t for t in rounds if t not in script.own_rounds)
        *before, last = (b.name for b in own)
        held = "".join(f"(conj {name} " for name in before) + last + ")" * len(before)
        return f"intros{free}; " if free else "", f"{names_of_rounds(rounds)} {held}"

    def _bridge(self, sentence: Sentence, line: str, *, own: bool, tied: bool) -> str:
        """From a line to the claim as its author wrote it; ``own``, ``tied``: of the claim's own rounds, as this and the line are said."""
        rounds = self.term.script.rounds(sentence, own=own)
        names = names_of_rounds(rounds) + (f" {OWN_HOLDS}" if own else "")
        least = self.checker.signature.rounds
        opened = f"intros{names}. " if names else ""
        opened += "".join(
            f"pose proof (at_least {least[t]} {identifier(t)} {least[t]} eq_refl {identifier(t)}_least) as {identifier(t)}_low. "
            for t in rounds
        )
        powers = [
            node
            for side in sentence.sides
            for node in subtrees(side)
            if isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Pow)
            and _exponent(node.right, self.checker.signature.rounds) is not None
        ]
        given = names_of_rounds(self.term.script.rounds(sentence, own=tied)) + (f" {OWN_HOLDS}" if tied else "")
        every = [node for side in sentence.sides for node in _outside_of_sums(side)]
        bases = []
        for node in every:
            if isinstance(node, ast.BinOp) and self.author.is_real_power(node):
                shown = self.author.read(node.left).text(9), self.author.read(node.right).text(9)
                values = self.checker.value(node.left), self.checker.value(node.right)
                bases.append(same_power(self.term.script, shown, values))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exp":
                shown_x, x = self.author.read(node.args[0]).text(9), self.checker.value(node.args[0])
                bases.append(same_exponential(self.term.script, shown_x, x))
        real = bool(bases)
        bases += [
            same_sum(self.author, self.term.formulas, node, self.checker.value(node))
            for node in every
            if isinstance(node, ast.Call) and show_tree(node.func) == "sum"
        ]
        if (not powers and not any(bases)) or sentence.sign == "->" or sentence.exists is not None:
            return f"exact ({line})." if own == tied else f"{opened}exact ({line}{given})."
        apart = any("+" in (_exponent(node.right, least) or "") for node in powers)
        for node in powers:
            base = self.checker.value(node.left)
            product = self.term.formulas.product(base)
            shown_base = self.term.formulas.read(node.left)
            if shown_base != product:
                bases.append(f"try replace ({shown_base}) with ({product}) by (field; nonzero).")
        return "\n  ".join(
            [
                opened,
                f"refine ({_SAME_GAP[sentence.sign]} _ _ _ _ ({line}{given}) _).",
                *self.term.script.divisors(
                    self.checker.gap(sentence),
                    *(self.checker.value(node.left) for node in powers),
                    *self.term.script.divided_by(sentence),
                ),
                *self.term.script.divisors_as_written(sentence),
                *dict.fromkeys(filter(None, bases)),
                *(
                    ["rewrite ?Rmult_1_l."] if "Rmax" in self.author.sentence(sentence) else []
                ),  # sides of maxima are compared as they stand
                f"powers; {f'{SPREAD}; ' if apart else ''}{'alike; ' if real else ''}field; nonzero.",
            ]
        )


def _name_at(term: WrittenTerm, claim: Sentence) -> str:
    """The line that says what is claimed."""
    lines = [ProofLine.parse(text, term.checker.claims) for text in term.data["lines"]]
    return next(line.name for line in lines if str(line.sentence) == str(claim))


def _instance(term: WrittenTerm, name: str) -> str:
    """A line, with numbers for the parameters that only lines speak of."""
    if any(r.low.text() != "0" or r.high is not None for r in term.auxiliary):
        raise NotAvailable("a parameter of lines alone with other ends than 0 < s is not written for Rocq")
    return line_name(f"{term.prefix}{name}") + " 1 Rlt_0_1" * len(term.auxiliary)


def _outside_of_sums(tree: ast.expr) -> Iterator[ast.expr]:
    """Formulas inside of one, but for those that a sum speaks of."""
    yield tree
    match tree:
        case ast.Call(func=ast.Name(id="sum")):
            return
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.expr):
            yield from _outside_of_sums(child)


def _facts(ranges: list[NumberRange]) -> list[str]:
    """Names of what is supposed of parameters."""
    return [f"{r.name}_{end}" for r in ranges for end in (["low"] if r.high is None else ["low", "high"])]

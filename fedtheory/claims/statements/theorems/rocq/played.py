"""States that a function plays for Rocq: any states of which so many, one after the other, are what the function makes of them.

The function is played on symbols. Its vectors become variables that are said to exist, its states equations, its functions those of the theorem with
gradients and subgradients at its points, and its hypotheses inequalities: a predicate of a few states one after the other. The theorem supposes it of
every round. That there are such states is not said; what a first state and a round have to keep for it is proved where the states are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fedtheory.claims.statements.theorems.quantities import names_of_quantity
from fedtheory.claims.statements.theorems.rocq.natural import (
    Definitions,
)
from fedtheory.claims.statements.theorems.rocq.script import names_of_rounds
from fedtheory.claims.statements.theorems.rocq.term import Binder, LinePart, WrittenTerm
from fedtheory.claims.statements.theorems.rocq.windows import Window, WindowCertificate, WindowDerivation
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import Sentence
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.every_n.vectors import Form, Vector
from fedtheory.proofs.rocq.expressions import ZERO, Real, apply, identifier, scoped
from fedtheory.proofs.rocq.settings import NumberRange, NumberSetting

#: facts of proofs alone: no name that a theorem has is written so
_HELD, _SAME, _ANY = "_held", "_same", "_any"


@dataclass
class PlayedForRocq:
    """States that a function plays (`fedtheory.claims.statements.theorems.rocq.term.StatesForRocq`)."""

    term: WrittenTerm
    windows: dict[tuple[int, bool], Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Play as many rounds as lines speak of."""
        states = self.term.theorem.states
        assert isinstance(states, PlayedStates)
        self.states = states
        for last, start in sorted(self._spoken_of()):
            self.windows[last, start] = Window(self.term, last, start)
        longest = max(self.windows.values(), key=lambda w: (not w.start, w.last), default=None)
        if longest is None:
            raise NotAvailable("a theorem of which no line speaks of a state is not written for Rocq")
        self.longest, self.fields = longest, self._fields(longest)
        for part in self.term.every:
            part.kinds = self.fields
        self.functions = longest.functions
        own = {f.name: f.client for f in self.functions}
        if any(own.get(f.name) != f.client for w in self.windows.values() for f in w.functions):
            raise NotAvailable("rounds with different functions are not written for Rocq")
        #: whether rounds have outcomes: a round has a law of states then, and no state
        self.drawn = any(w.drawn for w in self.windows.values())
        self.described = self._describe()
        self.definitions: Sequence[str] = self.described.texts

    def _spoken_of(self) -> set[tuple[int, bool]]:
        """How many rounds on the lines by derivations speak of, and whether of a run from the start."""
        return {
            (
                max((int(form.partition("[")[2][:-1]) for form in stored["quantities"]["forms"]), default=0),
                stored["start"],
            )
            for term in self.term.every
            for found in term.data["derivations"].values()
            for stored in found
        }

    def _fields(self, window: Window) -> dict[str, str]:
        """Fields of a state with their types: vectors that all states of a window have, and what quantities speak of."""
        used = {word for text in self.term.quantities.values() for word in names_of_quantity(text)}
        found: dict[str, str] = {}
        for k, state in enumerate(window.states):
            for word, value in state.items():
                everywhere = k == 0 and all(isinstance(s.get(word), Vector) for s in window.states)
                if isinstance(value, Vector) and (everywhere or word in used):
                    is_common = all(s[word].common for s in window.states if word in s)
                    found[word] = "V" if is_common and found.get(word, "V") == "V" else "C -> V"
                elif isinstance(value, Form) and word in used:
                    found[word] = "R"
        return found

    # ---- definitions

    def _describe(self) -> Definitions:
        symbols = sorted({s for w in self.windows.values() for s in w.every_symbol})
        variables = dict.fromkeys([*(r.name for r in self.term.ranges), *symbols], "R")
        for f in self.functions:
            own, to = self.term.function_name(f.name), "C -> V ->" if f.client else "V ->"
            variables[own] = f"{to} R"
            if f.L is not None:
                variables[f"{own}_grad"] = f"{to} V"
        found = Definitions(variables)
        parts = "; ".join(f"state_{word} : {kind}" for word, kind in self.fields.items())
        found.texts.append(
            f"(* {self.states} *)\nRecord state {{V : space}} (C : clients V) := State {{ {parts} }}.\nArguments State {{V C}}."
        )
        found.texts.append("".join(f"Arguments state_{word} {{V C}}. " for word in self.fields).strip())
        for window in self.windows.values():
            arguments = "".join(f" (st{k} : state C)" for k in range(len(window.states)))
            found.add(window.word, arguments, "Prop", self._predicate(window), window.comment)
            if window.drawn:
                branch = " (st0 : state C) (branch : list (R * state C))"
                found.add(_drawn_word(window), branch, "Prop", self._branch(window), "what is drawn after a state")
        open_state = f"let '(State {' '.join(f'{identifier(w)}_' for w in self.fields)}) := s in"
        for word, text in self.term.quantities.items():
            found.add(f"{word}_of", " (s : state C)", "R", f"{open_state} {self._print(text)}", text)
        return found

    def _predicate(self, window: Window) -> str:
        bound, said = self._bound(window), [*self._said(window), "True"]
        return (f"exists{bound},\n  " if bound else "") + " /\\\n  ".join(said)

    def _branch(self, window: Window) -> str:
        """That outcomes with their chances are drawn after a state."""
        outcomes = "; ".join(f"({window.write(chance).text()}, st{place})" for chance, place in window.groups[1])
        later = " ".join(f"st{place}" for _, place in window.groups[1])
        return f"exists {later} : state C, branch = [{outcomes}] /\\ {{{window.word}}} st0 {later}"

    def _bound(self, window: Window) -> str:
        """What a window's predicate says to exist."""
        return "".join(
            f" ({base.name} : {'V' if base.is_common else 'C -> V'})" for base in window.bases if not base.definition
        ) + "".join(f" ({value} : R)" for value in window.free_values)

    def _said(self, window: Window) -> list[str]:
        """What a window's predicate says of it, piece by piece."""
        said = [
            f"state_{word} st{k} = {self._show(window, state[word], kind)}"
            for k, state in enumerate(window.states)
            for word, kind in self.fields.items()
            if word in state
        ]
        return [*said, *window.facts()]

    def _show(self, window: Window, value: Any, kind: str) -> str:
        if kind == "R":
            return window.number(value).text(69)
        v = window.vec(value)
        return f"(fun i => {v.text()})%V" if kind == "C -> V" else scoped(v)

    def _print(self, text: str) -> Real:
        words = names_of_quantity(text) & self.fields.keys()
        for known in self.windows.values():
            window = known.afresh()
            for k, state in enumerate(window.states):
                if words <= state.keys():
                    return window.printer(k).read(text)
        raise NotAvailable(f"the quantity {text!r}, of which no state has all, is not written for Rocq")

    # ---- the statement

    def binders(self) -> list[Binder]:
        """Functions of their classes, states of all rounds, and what is supposed of these."""
        found = []
        window = self.longest
        for f in self.functions:
            own, to = self.term.function_name(f.name), "C -> V ->" if f.client else "V ->"
            found.append(Binder(own, f"{to} R"))
            if f.L is not None:
                found.append(Binder(f"{own}_grad", f"{to} V"))
                sizes = " ".join(window.write(number).text(9) for number in (f.L, f.mu))
                text = (
                    f"(forall i, in_class {sizes} ({own} i) ({own}_grad i))"
                    if f.client
                    else f"in_class {sizes} {own} {own}_grad"
                )
                found.append(Binder(f"class_{own}", text, True))
        if self.drawn:
            found.append(Binder("law", "nat -> list (R * state C)"))
            found.append(Binder("laws", "(forall t : nat, is_law (law t))", True))
        else:
            found.append(Binder("states", "nat -> state C"))
        for window in self.windows.values():
            if window.start:
                found.append(Binder(window.word, self._supposed(window, "0%nat"), True))
            else:
                t = next(word for word in ("t", "n", "k", "j") if word not in self.term.theorem.sequences)
                said = f"(forall {t} : nat, ({self.states.least} <= {t})%nat -> {self._supposed(window, t)})"
                found.append(Binder(f"is_{window.word}", said, True))
        return [
            Binder(f"is_{b.name}" if b.name.startswith("begun") else b.name, b.text, b.is_hypothesis) for b in found
        ]

    def _supposed(self, window: Window, t: str) -> str:
        """The predicate of states from a round on."""
        inside = {s: f"({identifier(seq)} {_later(t, k)})" for s, (seq, k) in window.every_symbol.items()}
        word = _drawn_word(window) if window.drawn else window.word
        call = [inside.get(word, word) for word in self.described.call(word).split()]
        if window.drawn:
            return f"drawn_from ({' '.join(call)}) (law {t}) (law {_later(t, 1)})"
        if self.drawn and window.last == 0:
            return f"Forall (fun o => {' '.join(call)} (snd o)) (law {t})"
        if self.drawn:
            raise NotAvailable("a round without draws of a run that has some is not written for Rocq")
        return " ".join([*call, *(f"(states {_later(t, k)})" for k in range(window.last + 1))])

    def said(self, word: str) -> str:
        """A quantity in the round ``t``."""
        call = self.described.call(f"{word}_of")
        return f"mean_over ({call}) (law t)" if self.drawn else f"{call} (states t)"

    def open(self) -> list[str]:
        """Quantities by their names, and what opens a window's predicate."""
        quantities = [
            f"Definition {identifier(word)} (t : nat) : R := {self.said(word)}." for word in self.term.quantities
        ]
        return quantities + [self._opening(window) for window in self.windows.values()]

    def _opening(self, window: Window) -> str:
        """A lemma that gives the pieces of a window's predicate one by one: a proof that takes them apart itself says all that is left at each."""
        symbols = self._symbols_of_call(window)
        over = f"forall {' '.join(symbols)} : R, " if symbols else ""
        states, call = _states_of(window), self.described.call(window.word)
        names, bound = self._names_of_pieces(window), self._bound(window)
        pieces = "".join(f"({piece}) ->\n  " for piece in self._said(window))
        return (
            f"Lemma open_{window.word} : {over}forall {states} : state C, {call} {states} ->\n"
            f"  forall {_ANY} : Prop, ({f'forall{bound},' if bound else ''}\n  {pieces}{_ANY}) -> {_ANY}.\n"
            f"Proof.\n  intros {' '.join([*symbols, states])} {_HELD} {_ANY} {_SAME}; unfold {window.word} in {_HELD};"
            f" destruct {_HELD} as ({' & '.join([*names, '_'])}); exact ({_SAME} {' '.join(names)}).\nQed."
        )

    def _symbols_of_call(self, window: Window) -> list[str]:
        """Numbers of sequences among the arguments of a window's predicate."""
        return [word for word in self.described.uses[window.word] if word in window.every_symbol]

    def _names_of_pieces(self, window: Window) -> list[str]:
        """Names of what a window's predicate says to exist, and of its pieces."""
        bound = [b.name for b in window.bases if not b.definition]
        equations = [f"{word}_is" for word in self._fields_by_state(window)]
        return [*bound, *window.free_values, *equations, *window.names_of_facts()]

    def _fields_by_state(self, window: Window) -> list[str]:
        """Fields of the states of a window that are known, one state after the other."""
        return [
            f"{identifier(word)}_{k}" for k, state in enumerate(window.states) for word in self.fields if word in state
        ]

    def unfold(self, opened: str) -> str:
        """They are the same."""
        return ""

    # ---- lines

    def derive(self, term: WrittenTerm, line: ProofLine, goal: Sentence) -> str:
        """A line by a derivation, or by an identity: shown of any states one after the other."""
        stored = term.next_derivation(line)
        if term.narrow_ends(stored):
            raise NotAvailable(
                f"{line.name}: a derivation in a case, of states that a function plays, is not written for Rocq"
            )
        rest, parts, variable = term.parts(line, goal, start=stored["start"])
        window = self.windows[max(n for _, _, n in parts), stored["start"]].afresh()
        renamed = {atom: word for word, atom in stored["symbols"].items()}
        atoms = {a for q in (rest, *(f for f, *_ in parts)) for a in q.atoms}
        rounds = sorted(t for t in term.checker.signature.rounds if t in atoms)
        symbols = self._symbols(window, stored)
        ranges = [*term.ranges, *term.auxiliary, *symbols]
        setting = NumberSetting([*ranges, *(term.range_of_round(t) for t in rounds)])
        said = []
        for sign in (1,) if goal.sign == "<=" else (1, -1):
            certificate = WindowCertificate(window, setting)
            for form in stored["quantities"]["forms"]:  # in the order in which they were evaluated
                word, _, n = form[:-1].partition("[")
                certificate.quantity(word, int(n))
            term.formulas.renamed = renamed
            if "system" in stored:
                WindowDerivation(certificate, stored).write()
            numbers = [(term.formulas.quotient(f * Quotient.number(sign)), w, n) for f, w, n in parts]
            alone = term.formulas.quotient(rest * Quotient.number(sign))
            term.formulas.renamed = {}
            conclusion, shown = ZERO, ZERO
            certificate.implicit.clear()
            for factor, word, n in reversed(numbers):
                call = self.described.call(f"{word}_of")
                own = window.expectation(n, partial(_of_state, call))
                conclusion = Real("+", (Real("*", (factor, certificate.quantity(word, n))), conclusion))
                shown = Real("+", (Real("*", (factor, own)), shown))
            if certificate.implicit:
                which = f"the gradient of {certificate.implicit[0]} at a point that is made of it"
                raise NotAvailable(f"{line.name}: a quantity that speaks of {which} is not written for Rocq")
            conclusion, shown = Real("+", (alone, conclusion)), Real("+", (alone, shown))
            proof = term.prove(certificate, conclusion, term.region_of(ranges, rounds))
            proof = _with_gradients(proof, certificate)
            lemma = self._of_any_states(term, line, window, shown, rounds, symbols, proof)
            said.append(self._on_average(term, lemma, window, alone, numbers, rounds, symbols) if self.drawn else lemma)
        return self._of_rounds(term, goal, said, rest, parts, variable, window, rounds, symbols)

    def _symbols(self, window: Window, stored: Mapping[str, Any]) -> list[NumberRange]:
        """Numbers of sequences that a line's window or its factors speak of."""
        found = []
        for word in window.every_symbol:
            if word not in stored["symbols"] and word in self.described.uses[window.word]:
                raise NotAvailable(f"a line without the number {word} is not written for Rocq")
        for word, atom in stored["symbols"].items():
            if word not in window.every_symbol:
                raise NotAvailable(f"a line that speaks of {atom} is not written for Rocq")
            ends = self.term.checker.signature.sequences[atom.partition("[")[0]]  # as the statement says them
            low, high = (None if q is None else self.term.formulas.quotient(q) for q in (ends.low, ends.high))
            assert low is not None
            found.append(NumberRange(word, low, high, ends.low_closed, ends.high_closed))
        return found

    def _of_any_states(
        self,
        term: WrittenTerm,
        line: ProofLine,
        window: Window,
        shown: Real,
        rounds: Sequence[str],
        symbols: Sequence[NumberRange],
        proof: str,
    ) -> str:
        lemma = f"{term.prefix}{line.name}_of_any_states_{term.script.count}"
        over, names = self._over(term, rounds, symbols)
        states = _states_of(window)
        opened = " ".join(
            f"[{' '.join(f'{identifier(w)}_{k}' for w in self.fields)}]" for k in range(len(window.states))
        )
        asked = " ".join([f"open_{window.word}", *self._symbols_of_call(window), *("_" for _ in window.states)])
        projections = " ".join(f"state_{word}" for word in self.fields)
        lines = [
            f"intros{names} {opened} {_HELD}; refine ({asked} {_HELD} _ _); clear {_HELD}; cbv beta iota delta [{projections}]; "
            f"intros {' '.join(self._names_of_pieces(window))}.",
            *(f"subst {word}." for word in self._fields_by_state(window)),
            proof,
        ]
        call = self.described.call(window.word)
        term.texts.append(
            f"Lemma {lemma} : {over}forall {states} : state C, {call} {states} -> {shown.text(69)} <= 0.\n"
            "Proof.\n  " + "\n  ".join(lines) + "\nQed."
        )
        return lemma

    def _on_average(
        self,
        term: WrittenTerm,
        lemma: str,
        window: Window,
        alone: Real,
        numbers: Sequence[tuple[Real, str, int]],
        rounds: Sequence[str],
        symbols: Sequence[NumberRange],
    ) -> str:
        """From a state and what is drawn after it to sums of parts, of which `on_average` speaks."""
        over, names = self._over(term, rounds, symbols)
        parts = [
            "; ".join(f"({f.text()}, {self.described.call(f'{w}_of')})" for f, w, n in numbers if n == k)
            for k in (0, 1)
        ]
        call = self.described.call(window.word)
        here = f"{alone.text(49)} + combined [{parts[0]}] st0"
        if window.drawn:
            later = " ".join(f"st{place}" for _, place in window.groups[1])
            said = (
                f"forall (st0 : state C) branch, {self.described.call(_drawn_word(window))} st0 branch -> "
                f"{here} + mean_over (combined [{parts[1]}]) branch <= 0"
            )
            opened = f"st0 branch ({later.replace(' ', ' & ')} & -> & {_HELD})"
            known = f"{lemma}{names} st0 {later} {_HELD}"
        else:
            said, opened, known = (
                f"forall st0 : state C, {call} st0 -> {here} <= 0",
                f"st0 {_HELD}",
                f"{lemma}{names} st0 {_HELD}",
            )
        own = f"{lemma}_average"
        term.texts.append(
            f"Lemma {own} : {over}{said}.\nProof.\n  intros{names} {opened}; refine (Rle_trans _ _ _ (Req_le _ _ _) ({known})).\n"
            "  unfold combined, mean_over; cbn [fold_right fst snd]; first [ring | field; nonzero].\nQed."
        )
        return own

    def _of_laws(
        self,
        term: WrittenTerm,
        lemma: str,
        window: Window,
        rest: Quotient,
        parts: Sequence[LinePart],
        sign: int,
        t: str,
        given: str,
        held: str,
    ) -> str:
        """From any state and what is drawn after it to expectations of a round and the next."""
        formulas, sums, lists = term.formulas, list[str](), list[str]()
        for k in (0, 1):
            own = [(formulas.quotient(f * Quotient.number(sign)).text(39), w) for f, w, n in parts if n == k]
            sums.append("".join(f"{f} * {identifier(w)} {_later(t, k)} + (" for f, w in own) + "0" + ")" * len(own))
            lists.append("; ".join(f"({f}, {self.described.call(f'{w}_of')})" for f, w in own))
        alone = formulas.quotient(rest).text(49)
        if window.drawn:
            known = f"on_average _ [{lists[0]}] [{lists[1]}] ({alone}) _ _ (laws {t}) {held} ({lemma}{given})"
            return f"refine (of_gap _ _ _ ({known} : {alone} + ({sums[0]}) + ({sums[1]}) <= 0) _)"
        known = f"on_average_here _ [{lists[0]}] ({alone}) _ (laws {t}) {held} ({lemma}{given})"
        return f"refine (of_gap _ _ _ ({known} : {alone} + ({sums[0]}) <= 0) _)"

    def _over(self, term: WrittenTerm, rounds: Sequence[str], symbols: Sequence[NumberRange]) -> tuple[str, str]:
        """What a lemma about any states is about besides: parameters, rounds, numbers of sequences; and the names of these."""
        least = term.checker.signature.rounds
        over = term.script.over + "".join(
            f"forall {identifier(t)} : nat, ({least[t]} <= {identifier(t)})%nat -> " for t in rounds
        )
        over += "".join(f"forall {r.name} : R, {''.join(f'{h} -> ' for h in r.hypotheses())}" for r in symbols)
        names = term.script.own_names + names_of_rounds(rounds)
        names += "".join(f" {r.name} {r.name}_low{'' if r.high is None else f' {r.name}_high'}" for r in symbols)
        return over, names

    def _of_rounds(
        self,
        term: WrittenTerm,
        goal: Sentence,
        said: Sequence[str],
        rest: Quotient,
        parts: Sequence[LinePart],
        variable: str,
        window: Window,
        rounds: Sequence[str],
        symbols: Sequence[NumberRange],
    ) -> str:
        """From any states to those of a round."""
        t = identifier(variable) if variable else "0%nat"
        given = term.script.own_names + "".join(f" {identifier(r)} {identifier(r)}_least" for r in rounds)
        for r in symbols:
            seq, k = window.every_symbol[r.name]
            at = _later(t, k)
            own = identifier(seq)
            given += f" ({own} {at}) ({own}_low {at})" + ("" if r.high is None else f" ({own}_high {at})")
        if not self.drawn:
            given += "".join(f" (states {_later(t, k)})" for k in range(window.last + 1))
        held = f"is_{window.word}" if window.start else f"(is_{window.word} {t} ltac:(lia))"
        formulas, proofs = term.formulas, []
        for lemma, sign in zip(said, (1, -1), strict=False):
            if self.drawn:
                proofs.append(
                    self._of_laws(term, lemma, window, rest * Quotient.number(sign), parts, sign, t, given, held)
                )
                continue
            shown: Real = ZERO
            for factor, word, n in reversed(parts):
                quantity = apply(f"{identifier(word)} {_later(t, n)}")
                shown = Real("+", (Real("*", (formulas.quotient(factor * Quotient.number(sign)), quantity)), shown))
            shown = Real("+", (formulas.quotient(rest * Quotient.number(sign)), shown))
            proofs.append(f"refine (of_gap _ _ _ ({lemma}{given} {held} : {shown.text(69)} <= 0) _)")
        divisors = " ".join(term.script.divisors(rest, *(f for f, *_ in parts)))
        end = "normal; field; nonzero."
        if goal.sign == "<=":
            return f"{divisors} {proofs[0]}.\n  {end}".strip()
        return f"{divisors} apply Rle_antisym; [{' | '.join(proofs)}]; {end}".strip()


def _of_state(call: str, place: int) -> Real:
    """A quantity of a state of a window."""
    return apply(f"{call} st{place}")


def _drawn_word(window: Window) -> str:
    """What says which outcomes are drawn after a state."""
    return f"drawn_{window.last}"


def _with_gradients(proof: str, certificate: WindowCertificate) -> str:
    """Tactics that give a certificate's proof; a variable that quantities call a gradient is one."""
    if not certificate.gradients:
        return f"exact ({proof})."
    same = [
        f"pose proof {fact} as {_SAME}; cbv beta in {_SAME}; subst {g}." for g, fact in certificate.gradients.items()
    ]
    return "\n  ".join([f"pose proof ({proof}) as {_HELD}.", *same, f"exact {_HELD}."])


def _states_of(window: Window) -> str:
    return " ".join(f"st{k}" for k in range(len(window.states)))


def _later(t: str, k: int) -> str:
    if not t.isidentifier():
        return f"{k}%nat"
    return "(S " * k + t + ")" * k

"""A listed method's rounds for Rocq: the round as a definition, what every state keeps by induction, and lines from any state to all rounds."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.rocq.lines import BoundDerivation, LineCertificate
from fedtheory.claims.statements.theorems.rocq.natural import (
    Definitions,
    Natural,
    define_method,
    write_number,
)
from fedtheory.claims.statements.theorems.rocq.script import names_of_rounds
from fedtheory.claims.statements.theorems.rocq.term import Binder, LinePart, NarrowEnd, WrittenTerm
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import Sentence
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.every_n.conditions import AFTER_DRAWS
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.rocq.expressions import ZERO, Real, Vec, apply, identifier, inner_text
from fedtheory.proofs.rocq.settings import NumberSetting


@dataclass
class MethodForRocq:
    """States of a listed method (`fedtheory.claims.statements.theorems.rocq.term.StatesForRocq`)."""

    term: WrittenTerm

    def __post_init__(self) -> None:
        """Trace the method."""
        own, fixed = self.term.theorem, self.term.fixed
        if {*self.term.data["assumed"]} - {AFTER_DRAWS}:
            raise NotAvailable("a theorem with assumed on a listed method is not written for Rocq")
        numbers: dict[str, Any] = {n: Fraction(k) for n, k in fixed.items()}
        region = own.all_parameters.fix(numbers) if fixed else own.all_parameters
        rounds = {t: least for term in self.term.every for t, least in term.checker.signature.rounds.items()}
        ends = [str(Region(region.parameters))] if region.parameters else []
        ends += [f"{least} <= {t}" for t, least in rounds.items()]
        known = ParameterField(Region.parse(", ".join(ends))).parameters() if ends else {}
        numbers |= {name: number for name, number in known.items() if name not in rounds}
        self.natural = Natural(own, numbers, self.term.quantities, {t: known[t] for t in rounds})
        self.described: Definitions = define_method(self.natural)
        self.definitions: Sequence[str] = self.described.texts
        self.words = [identifier(word) for word in self.natural.fields]

    def binders(self) -> list[Binder]:
        """Functions of a class, a stationary point of their average, and the start."""
        constants = self.natural.states.constants
        big_l, mu = (write_number(constants[word].at(self.natural.numbers)).text(9) for word in ("L", "mu"))
        return [
            Binder("f", "C -> V -> R"),
            Binder("f_grad", "C -> V -> V"),
            Binder("class_f", f"(forall i, in_class {big_l} {mu} (f i) (f_grad i))", True),
            Binder("x_star", "V"),
            Binder("stationary", "mean (fun i => f_grad i x_star) = zero", True),
            Binder("x0", "V"),
        ]

    @property
    def coins(self) -> bool:
        """Whether a round has several outcomes."""
        return len(self.natural.after) > 1

    def said(self, word: str) -> str:
        """A quantity after t rounds."""
        call = self.described.call
        if self.coins:
            return f"expected ({call('outcomes')}) t ({call(f'{word}_of')}) (init x0)"
        return f"{call(f'{word}_of')} (run ({call('round')}) t (init x0))"

    def open(self) -> list[str]:
        """What every state keeps, and quantities after so many rounds."""
        call, texts = self.described.call, list[str]()
        texts.append(f"Notation coins := ({call('outcomes')}).")
        kept = [f"{identifier(w)} = {self.natural.vec(self.natural.fields[w])}" for w in self.natural.tied]
        kept += [f"mean {identifier(w)} = zero" for w in self.natural.zero_means]
        said = " /\\ ".join([*(f"({text})%V" if "=" in text else text for text in kept), "True"])
        texts += [
            "(* what every state keeps *)",
            f"Definition kept (s : state C) : Prop := let '(State {' '.join(self.words)}) := s in {said}.",
            "Lemma start_kept : kept (init x0).\nProof. cbn; repeat split; first [reflexivity | apply mean_all | symmetry; apply mean_all]. Qed.",
        ]
        keeps = [self._keeps(k) for k in range(len(self.natural.after))]
        shown = "".join(f"apply Forall_cons; [cbn [snd]; {tactic} |]. " for tactic in keeps)
        texts += [
            "Lemma rounds_keep : Forall (fun outcome => forall s, kept s -> kept (snd outcome s)) coins.\n"
            f"Proof. unfold outcomes; {shown}apply Forall_nil. Qed.",
            "Lemma chances : Forall (fun outcome => 0 <= fst outcome) coins.\n"
            "Proof. unfold outcomes; repeat (apply Forall_cons; [cbn [fst]; lra |]); apply Forall_nil. Qed.",
            "Lemma sum_to_one : fold_right (fun outcome rest => fst outcome + rest) 0 coins = 1.\n"
            "Proof. unfold outcomes; cbn [fold_right fst]; ring. Qed.",
        ]
        for word in self.term.quantities:
            own = identifier(word)
            texts.append(f"Definition {own} (t : nat) : R := expected coins t ({call(f'{word}_of')}) (init x0).")
            if not self.coins:
                texts.append(f"Lemma {own}_is t : {own} t = {self.said(word)}.\nProof. apply expected_run. Qed.")
        return [*texts, self._folding()]

    def _folding(self) -> str:
        """A tactic that calls expectations by the names of quantities."""
        cases = []
        for word in self.term.quantities:
            phi = f"({self.described.call(f'{word}_of')})"
            for rounds, inside in (("(S t)", f"(step coins {phi})"), ("t", phi)):
                said = f"expected coins {{}} {inside} (init x0)"
                cases.append(
                    f"| |- context [{said.format('?t')}] => change ({said.format('t')}) with ({identifier(word)} {rounds})"
                )
        return "Ltac fold_quantities := repeat match goal with\n  " + "\n  ".join(cases) + "\n  end."

    @property
    def opened(self) -> str:
        """Tactics that take a state apart."""
        names = [f"K_{identifier(w)}" for w in (*self.natural.tied, *self.natural.zero_means)]
        gone = "".join(f" subst {identifier(w)};" for w in self.natural.tied)
        return f"intros [{' '.join(self.words)}] {'(' + ' & '.join([*names, '_']) + ')' if names else '_'};{gone}"

    def _zeros(self) -> list[str]:
        """Of every vector of clients that averages to zero, why."""
        return [
            "stationary" if "%" in base.name else f"K_{base.name}" for base in self.natural.clients if base.mean is None
        ]

    def _keeps(self, outcome: int) -> str:
        """A round keeps what states keep: each relation is a square that is at most zero."""
        natural, steps = self.natural, []
        after = {identifier(w): natural.vec(v) for w, v in natural.after[outcome][1].items()}
        for w in natural.tied:
            steps.append(("equal_from", Vec("-", (after[identifier(w)], _put(natural.vec(natural.fields[w]), after)))))
        for w in natural.zero_means:
            steps.append(("zero_from", Vec("mean", (after[identifier(w)],))))
        shown = []
        for lemma, v in steps:
            certificate = LineCertificate(natural, NumberSetting(self.term.ranges))
            clients, commons = ([b.name for b in group] for group in (natural.clients, natural.commons))
            data = v.data(certificate.setting.place, clients.index, commons.index)
            certificate.quantities.append((f"Dot {data} {data}", inner_text(v, v)))
            region = self.term.region_of(self.term.ranges, [])
            proof = self.term.prove(certificate, apply(inner_text(v, v)), region, self._zeros())
            shown.append(f"exact ({lemma} {'_ _' if lemma == 'equal_from' else '_'} ({proof}))")
        split = "".join(f"split; [{tactic} |]; " for tactic in shown)
        return f"{self.opened} {split}exact I"

    # ---- lines by derivations

    def derive(self, term: WrittenTerm, line: ProofLine, goal: Sentence) -> str:
        """A line by a derivation, or by an identity: shown of any state, then of all rounds."""
        stored = term.next_derivation(line)
        if stored["start"] and not self.natural.starts_anywhere:
            raise NotAvailable(f"{line.name}: a line about the first rounds is not written for Rocq")
        rest, parts, variable = term.parts(line, goal, start=bool(stored["start"]))
        spoken = {atom for q in (rest, *(f for f, *_ in parts)) for atom in q.atoms}
        if spoken & {*stored["symbols"].values()}:
            raise NotAvailable(f"{line.name}: a line that speaks of a sequence is not written for Rocq")
        rounds = sorted(
            t for t in term.checker.signature.rounds if any(t in q.atoms for q in (rest, *(f for f, *_ in parts)))
        )
        narrow, ranges = term.narrow_ends(stored), [*term.ranges, *term.auxiliary]
        for one in narrow:
            ranges = [one.of(r) for r in ranges]
        setting = NumberSetting([*ranges, *(term.range_of_round(t) for t in rounds)])
        here = {f"{one.parameter}_{one.end}": one.fact for one in narrow}
        region = [here.get(fact, fact) for fact in term.region_of(ranges, rounds)]
        said, signs = [], (1,) if goal.sign == "<=" else (1, -1)
        for sign in signs:
            certificate = LineCertificate(self.natural, setting)
            if "system" in stored:
                BoundDerivation(certificate, stored).write()
            q = Quotient.number(sign)
            conclusion: Real = ZERO
            for factor, word, n in reversed(parts):
                conclusion = Real(
                    "+",
                    (Real("*", (term.formulas.quotient(factor * q), certificate.quantity(word, n))), conclusion),
                )
            conclusion = Real("+", (term.formulas.quotient(rest * q), conclusion))
            said.append(
                self._of_any_state(
                    term,
                    line,
                    rest * q,
                    [(f * q, w, n) for f, w, n in parts],
                    rounds,
                    narrow,
                    term.prove(certificate, conclusion, region, self._zeros()),
                )
            )
        at = term.formulas.index(ast.Name(variable)) if variable else "0"
        given = term.script.own_names + names_of_rounds(rounds) + " ltac:(lra)" * len(narrow)
        proofs = [
            f"(in_every_round coins kept sum_to_one chances rounds_keep _ _ ({lemma}{given}) {at} (init x0) start_kept)"
            for lemma in said
        ]
        divisors = " ".join(term.script.divisors(rest, *(f for f, *_ in parts)))
        end = "cbn [fold_right fst snd]; fold_quantities; normal; field; nonzero."
        if goal.sign == "<=":
            return f"{divisors} refine (of_gap _ _ _ {proofs[0]} _).\n  {end}".strip()
        both = " | ".join(f"refine (of_gap _ _ _ {proof} _)" for proof in proofs)
        return f"{divisors} apply Rle_antisym; [{both}]; {end}".strip()

    def _of_any_state(
        self,
        term: WrittenTerm,
        line: ProofLine,
        rest: Quotient,
        parts: list[LinePart],
        rounds: list[str],
        narrow: Sequence[NarrowEnd],
        proof: str,
    ) -> str:
        """The lemma about any state."""
        name, least = f"{term.prefix}{line.name}_in_any_state_{term.script.count}", term.checker.signature.rounds
        call = self.described.call
        shown = []
        for factor, word, n in parts:
            phi = f"({call(f'{word}_of')})"
            for _ in range(n):
                phi = f"(step coins {phi})"
            shown.append(f"({term.formulas.quotient(factor)}, {phi})")
        over = term.script.over + "".join(
            f"forall {identifier(t)} : nat, ({least[t]} <= {identifier(t)})%nat -> " for t in rounds
        )
        over += "".join(f"{one.text} -> " for one in narrow)
        names = term.script.own_names + names_of_rounds(rounds) + "".join(f" {one.fact}" for one in narrow)
        opened = f"intros{names}; " if names else ""
        term.texts.append(
            f"Lemma {name} : {over}forall s, kept s -> {term.formulas.quotient(rest).text(49)} + combined [{'; '.join(shown)}] s <= 0.\n"
            f"Proof.\n  {opened}{self.opened}\n  exact ({proof}).\nQed."
        )
        return name

    def unfold(self, opened: str) -> str:
        """Tactics that put quantities of runs in the place of expectations."""
        if self.coins:
            return ""
        return " ".join(
            f"try rewrite (functional_extensionality _ _ ({identifier(w)}_is {opened})) in _said;"
            for w in self.term.quantities
        )


def _put(v: Vec, fields: Mapping[str, Vec]) -> Vec:
    """Vectors in the place of fields."""
    if v.op in ("client", "common"):
        return fields.get(v.parts[0], v)
    return Vec(v.op, tuple(_put(part, fields) if isinstance(part, Vec) else part for part in v.parts))

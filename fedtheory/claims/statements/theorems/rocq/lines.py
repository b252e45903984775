"""Lines by a derivation, or by an identity: an inequality between numbers of any state and of the states after it, as a certificate for Rocq."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.rocq.natural import Natural, QuantityPrinter, list_divisors, write_number
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checked_before import recheck_derivation
from fedtheory.proofs.checker.derivations import Reader
from fedtheory.proofs.checker.ranges import CheckedRegion, FactorSum
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.rocq.derivations import conjunction
from fedtheory.proofs.rocq.expressions import ZERO, Real, Vec, apply, inner_text, of_client, scoped
from fedtheory.proofs.rocq.settings import NumberSetting, rocq_list

_LinePart = tuple[Real, str, int]  # a factor, the quantity, and how many rounds on


@dataclass
class LineCertificate:
    """What makes one inequality: quantities and values as they come up, multipliers and squares."""

    natural: Natural
    setting: NumberSetting
    quantities: list[tuple[str, str]] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    squares: list[str] = field(default_factory=list)

    # ---- numbers

    def product(self, u: Vec, v: Vec, each: bool) -> Real:
        """An inner product, noted; ``each``: its average over clients."""
        word = "MeanDot" if each else "Dot"
        return self._noted(f"{word} {self.vec_data(u)} {self.vec_data(v)}", inner_text(u, v, each=each))

    def value(self, e: Evaluation, at: Any = None) -> Real:
        """The average of the clients' values, noted."""
        return self._noted(
            f"Value {next(k for k, known in enumerate(self.natural.problem.evaluations) if known is e)}",
            self.value_text(e),
        )

    def _noted(self, data: str, text: str) -> Real:
        if (data, text) not in self.quantities:
            self.quantities.append((data, text))
        return apply(text)

    def gradient(self, e: Evaluation, at: Any = None) -> Vec:
        """By the name of its base."""
        return self.natural.vec(e.g)

    def value_text(self, e: Evaluation) -> str:
        """The average of the clients' values."""
        return f"E (fun i => f i {scoped(self.natural.vec(e.x))})"

    def vec_data(self, v: Vec) -> str:
        """As data."""
        clients = [base.name for base in self.natural.clients]
        commons = [base.name for base in self.natural.commons]
        return v.data(self.setting.place, clients.index, commons.index)

    def vector(self, v: Vector) -> str:
        """A combination of leaves, as data; what its factors divide by is noted."""
        for factor in v.terms.values():
            self._note_divisors(self.natural.write(factor))
        return self.vec_data(self.natural.vec(v))

    def _note_divisors(self, e: Real) -> None:
        for divisor in list_divisors(e):
            if divisor.names() <= {*self.setting.names}:
                self.setting.note_divisor(divisor)

    def quantity(self, word: str, rounds: int) -> Real:
        """A quantity of the state, or of the one after it in expectation."""
        text = self.natural.quantities[word]
        if rounds == 0:
            return self._read(self.natural.fields, text)
        if rounds > 1:
            raise NotAvailable("a line about more than two rounds is not written for Rocq")
        found = ZERO
        for chance, fields in reversed(self.natural.after):
            found = Real("+", (Real("*", (write_number(chance), self._read(fields, text))), found))
        return found

    def _read(self, fields: Mapping[str, Vector], text: str) -> Real:
        vecs = {word: self.natural.vec(v) for word, v in fields.items()}
        return QuantityPrinter(self.natural, fields, vecs, self.product, self.value, self.gradient).read(text)

    # ---- the whole

    def place(self, e: Real) -> int | None:
        """Where a number stands among parameters, factors and quantities."""
        at = self.setting.place(e)
        if at is None and e.op == "apply":
            at = (
                len(self.setting.names)
                + len(self.setting.factors)
                + [text for _, text in self.quantities].index(e.parts[0])
            )
        return at

    def data(self, conclusion: Real) -> str:
        """As data of type ``certificate``."""
        natural, evaluations = self.natural, []
        for e in natural.problem.evaluations:
            height = self.value(e)
            evaluations.append(f"Evaluation {self.vector(e.x)} {self.vector(e.g)} {{{height.parts[0]}}}")
        constants = natural.states.constants
        big_l, mu = (write_number(constants[word].at(natural.numbers)) for word in ("L", "mu"))
        self.setting.note(big_l - mu)
        self._note_divisors(conclusion)
        shown = [text.partition("{")[0] + apply(text.partition("{")[2][:-1]).data(self.place) for text in evaluations]
        zeros = ["true" if base.mean is None else "false" for base in natural.clients]
        return "\n    ".join(
            [
                f"Certificate {len(natural.commons)} {rocq_list(zeros)}",
                rocq_list([data for data, _ in self.quantities], apart=True),
                f"[Class (Some {big_l.data(self.place)}) {mu.data(self.place)}\n     {rocq_list(shown, apart=True)}]",
                "[]",
                rocq_list(self.pairs, apart=True),
                "[]",
                rocq_list(self.squares, apart=True),
                "(0%Q, [])",
                conclusion.data(self.place),
            ]
        )

    def proof(self, numbers: str, steps: str, region: Sequence[str], zeros: Sequence[str]) -> str:
        """The proof of the inequality, from names for numbers and steps, proofs of the ends of ranges, and those that vectors average to zero."""
        natural = self.natural
        lets = [f"let {base.name} : C -> V := {base.definition} in" for base in natural.bases if base.definition]
        us = [f"(fun i => {of_client(base.name, 'i')})" if "%" in base.name else base.name for base in natural.clients]
        at = conjunction(["(conj (fun _ => eq_refl) eq_refl)"] * len(natural.problem.evaluations))
        return "\n    ".join(
            [
                *lets,
                f"@derived {numbers} {rocq_list(self.setting.names)} {numbers}_ok eq_refl {conjunction(region)} V C",
                f"{rocq_list([base.name for base in natural.commons])} {rocq_list(us)}",
                f"{rocq_list([self.value_text(e) for e in natural.problem.evaluations])} {steps} eq_refl",
                f"{conjunction(zeros)} {steps}_ok",
                f"(conj (ex_intro _ f (ex_intro _ f_grad (conj class_f {at}))) I) I",
            ]
        )


class StoredNumbers:
    """Reads the numbers of a stored derivation, in the numbers of a trace and as data."""

    def __init__(self, setting: NumberSetting, numbers: Mapping[str, Any], system: dict[str, Any]) -> None:
        self.setting, self.numbers, self.system = setting, numbers, system
        self.region: CheckedRegion = recheck_derivation(system)
        self.reader = Reader(len(self.region.factors))

    def number(self, number: FactorSum) -> Any:
        """A number of the stored derivation, as one of the trace."""
        total: Any = Fraction(0)
        for powers, size in number.items():
            term: Any = size
            for k, power in enumerate(powers):
                if power:
                    term = term * self._factor(k) ** power
            total = term + total
        return total

    def _factor(self, k: int) -> Any:
        total: Any = Fraction(0)
        for powers, size in self.region.factors[k].items():
            term: Any = size
            for part, power in zip(self.region.ranges, powers, strict=True):
                if power:
                    term = self.numbers[part.name] ** power * term
            total = term + total
        return total

    def product(self, number: FactorSum) -> str:
        """A product as data, its factors as polynomials in the setting's numbers."""
        if not number:
            return "(0%Q, [])"
        ((powers, size),) = number.items()
        names = self.setting.names
        places = [_place(names, part.name) for part in self.region.ranges]
        factors = []
        for k, power in enumerate(powers):
            wide = {}
            for at, value in self.region.factors[k].items():
                full = [0] * len(names)
                for place, n in zip(places, at, strict=True):
                    full[place] = n
                wide[tuple(full)] = value
            factors.append((wide, power))
        return self.setting.product(size, factors)


class BoundDerivation(StoredNumbers):
    """The multipliers and squares of a stored derivation, in the bases of a method's round."""

    def __init__(self, certificate: LineCertificate, data: Mapping[str, Any]) -> None:
        self.certificate, self.natural = certificate, certificate.natural
        numbers = {**self.natural.numbers, **self.natural.rounds}
        super().__init__(certificate.setting, numbers, dict(data["system"]))
        self.leaves: dict[tuple[str, int], Vector] = dict(self.natural.errors)
        count = sum(part == "deviation" for part, _ in self.leaves)
        self.leaves["deviation", count] = self.natural.problem.evaluations[0].g
        self.evaluations = [self._bind(*e) for e in self._evaluations()]

    def _evaluations(self) -> Sequence[Any]:
        if set(self.system["functions"]) - {"f"}:
            raise NotAvailable("functions beside the clients' own are not written for Rocq")
        return self.reader.function(self.system["functions"]["f"]).evaluations if self.system["functions"] else []

    def _vector(self, parts: Mapping[str, Mapping[int, FactorSum]]) -> Vector:
        total = Vector({})
        for part, kind in (("S", "mean"), ("Q", "deviation")):
            for leaf, number in parts[part].items():
                if (kind, leaf) not in self.leaves:
                    raise NotAvailable(
                        "a point made of its own gradient, as a proximal step's is, is not written for Rocq"
                    )
                total = total + self.leaves[kind, leaf] * self.number(number)
        return total

    def _bind(self, x: Any, g: Any, values: Any) -> int:
        """The evaluation of the round that a stored one is; new leaves stand for its gradient."""
        point = self.natural.x_star + self._vector(x)
        known = self.natural.problem.evaluations
        found = next((e for e in known if _same(e.x, point)), None) or self.natural.evaluation_of(point)
        mean = found.g.averaged(None)
        for part, kind, own in (("S", "mean", mean), ("Q", "deviation", found.g - mean)):
            new = [leaf for leaf in g[part] if (kind, leaf) not in self.leaves]
            if len(new) > 1:
                raise NotAvailable("a gradient made of several new vectors is not written for Rocq")
            for leaf in new:
                self.leaves[kind, leaf] = own
        return known.index(found)

    def write(self) -> None:
        """Note multipliers and squares."""
        for row, value in self.system["multipliers"].items():
            word, *at = row.split(" ")
            if word != "f" or len(at) != 2:
                raise NotAvailable("hypotheses of a derivation are not written for Rocq")
            i, j = (self.evaluations[int(k)] for k in at)
            self.certificate.pairs.append(f"(0%nat, {i}%nat, {j}%nat, {self.product(self.reader.number(value))})")
        for part in ("S", "Q"):
            for pivot in self.system["pivots"][part]:
                row = {int(k): self.reader.number(v) for k, v in pivot["row"].items()}
                v = self._vector({part: row, "Q" if part == "S" else "S": {}})
                self.certificate.squares.append(
                    f"({self.product(self.reader.number(pivot['pivot']))}, {self.certificate.vector(v)})"
                )
        if self.reader.number(self.system["constant"]):
            raise NotAvailable("a derivation with a constant left over is not written for Rocq")


def _place(names: Sequence[str], word: str) -> int:
    return next(k for k, own in enumerate(names) if own in (word, f"{word}_", f"INR {word}"))


def _same(u: Vector, v: Vector) -> bool:
    return all(value == 0 for value in (u - v).terms.values())

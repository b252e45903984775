"""Stored derivations as theorems of Rocq: about any vectors, and functions of their classes at any points.

A derivation (`fedtheory.proofs.checker.derivations`) says: for all parameters of a region, whenever hypotheses hold and functions belong to their
classes, a form in inner products and values is at most zero. Here it is written as a statement, and as a certificate that `core/Settings.v` reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from fedtheory.proofs.checked_before import recheck_derivation
from fedtheory.proofs.checker.derivations import FormEntries, Reader, StoredFunction
from fedtheory.proofs.checker.polynomials import Polynomial
from fedtheory.proofs.checker.ranges import CheckedRegion, FactorSum
from fedtheory.proofs.rocq.expressions import Real, Vec, apply, combination, identifier, inner_text, real, scoped, total
from fedtheory.proofs.rocq.folders import RocqTheorem
from fedtheory.proofs.rocq.settings import NumberRange, NumberSetting, polynomial_expression, rocq_list


@dataclass(frozen=True)
class LeafNames:
    """What the leaves of a derivation are called."""

    mean: Sequence[str]
    deviation: Sequence[str]

    def __post_init__(self) -> None:
        """Every name once."""
        assert len({*self.mean, *self.deviation}) == len(self.mean) + len(self.deviation)


class Derivation:
    """A stored derivation as a statement and its proof; of no clients where it has no deviations.

    Parameters
    ----------
    data : as the checker reads it
    leaves : names for its vectors, optional

    Raises
    ------
    Refused
        The checker does not accept it.
    """

    def __init__(self, data: Mapping[str, Any], leaves: LeafNames | None = None) -> None:
        self.data = dict(data)
        self.region = self.checked()
        self.parameters = [identifier(r.name) for r in self.region.ranges]
        self.setting = NumberSetting(self._ranges())
        for polynomial in sorted(self.region.factors, key=len):  # the longest are multiplied with last
            if len(polynomial) > 1:
                self.setting.factor(polynomial)
        self.reader = self.make_reader()
        count, deviations = int(data["mean"]), int(data["deviation"])
        self.leaves = leaves or LeafNames([f"m{k}" for k in range(count)], [f"d{k}" for k in range(deviations)])
        self.clients = deviations > 0
        self.functions: dict[str, StoredFunction] = {
            str(f): self.reader.function(v) for f, v in data["functions"].items()
        }
        self.names_of_functions = self._name_functions()
        self.quantities: list[tuple[str, str]] = []  # data and text of each inner product and value

    def checked(self) -> CheckedRegion:
        """The region on which its checker accepts it."""
        return recheck_derivation(self.data)

    def make_reader(self) -> Reader:
        """What reads its numbers."""
        return Reader(len(self.region.factors))

    def _name_functions(self) -> dict[str, str]:
        taken = {*self.parameters, *self.leaves.mean, *self.leaves.deviation}
        found: dict[str, str] = {}
        for word in self.functions:
            new = identifier(word)
            while new in taken or f"{new}_grad" in taken:
                new += "'"
            taken |= {new, f"{new}_grad"}
            found[word] = new
        return found

    def _ranges(self) -> list[NumberRange]:
        return [
            NumberRange(
                word, self.number(r.low), None if r.high is None else self.number(r.high), r.closed[0], r.closed[1]
            )
            for word, r in zip(self.parameters, self.region.ranges, strict=True)
        ]

    # ---- numbers and vectors

    def number(self, number: FactorSum) -> Real:
        """A sum of products of factors, in the parameters."""
        terms = []
        for powers, value in number.items():
            above, below = real(value.numerator), real(value.denominator)
            for factor, power in zip(self._factors, powers, strict=True):
                if power > 0:
                    above *= factor**power
                elif power < 0:
                    below *= factor**-power
            terms.append(above / below)
        return total(terms)

    @cached_property
    def _factors(self) -> list[Real]:
        """The factors as expressions in the parameters."""
        return [polynomial_expression(factor, self.parameters) for factor in self.region.factors]

    def product(self, number: FactorSum) -> str:
        """One product times the `scale`, as data."""
        if not number:
            return "(0%Q, [])"
        size, factors = self._size(number)
        return self.setting.product(size * self.scale, factors)

    def _size(self, number: FactorSum) -> tuple[Fraction, list[tuple[Polynomial, int]]]:
        """A fraction, and factors with powers."""
        ((powers, value),) = number.items()
        return value, [(self.region.factors[k], power) for k, power in enumerate(powers)]

    @cached_property
    def scale(self) -> int:
        """What makes multipliers and squares whole, so that Rocq adds whole numbers: fractions with long denominators take it minutes."""
        numbers = [self.reader.number(value) for value in self.data["multipliers"].values()]
        numbers += [self.reader.number(p["pivot"]) for matrix in ("S", "Q") for p in self.data["pivots"][matrix]]
        numbers.append(self.reader.number(self.data["constant"]))
        return math.lcm(*(self.setting.monomial(*self._size(n))[0].denominator for n in numbers if n))

    def vector(self, parts: Mapping[str, Mapping[int, FactorSum]]) -> Vec:
        """A combination of leaves."""
        terms = [(self.number(v), Vec("common", (self.leaves.mean[k],))) for k, v in sorted(parts["S"].items())]
        terms += [(self.number(v), Vec("client", (self.leaves.deviation[k],))) for k, v in sorted(parts["Q"].items())]
        return combination(terms)

    def vector_data(self, v: Vec) -> str:
        """As data."""
        return v.data(self.setting.place, self.leaves.deviation.index, self.leaves.mean.index)

    # ---- quantities

    def quantity(self, data: str, text: str) -> Real:
        """An inner product or value, noted."""
        if (data, text) not in self.quantities:
            self.quantities.append((data, text))
        return apply(text)

    def form(self, entries: FormEntries) -> Real:
        """A form in its quantities."""
        terms = []
        for key, value in sorted(entries.items(), key=lambda item: ("SQf1".index(item[0][0]), item[0][1:])):
            if not value:
                continue
            number = self.number(value)
            if key[0] == "1":
                terms.append(number)
                continue
            if key[0] == "f":
                quantity = self.quantity(f"Value {key[1]}", self.value_of(key[1]))
            else:
                kind, names, word = (
                    ("common", self.leaves.mean, "Dot")
                    if key[0] == "S"
                    else ("client", self.leaves.deviation, "MeanDot")
                )
                u, v = Vec(kind, (names[key[1]],)), Vec(kind, (names[key[2]],))  # type: ignore[arg-type]
                quantity = self.quantity(f"{word} {self.vector_data(u)} {self.vector_data(v)}", inner_text(u, v))
            terms.append(number * quantity)
        return total(terms)

    def value_of(self, t: int) -> str:
        """The text of a value: that of a function at a point, or a number of its own."""
        for word, function in self.functions.items():
            for x, _, values in function.evaluations:
                if list(values) == [t] and self.number(values[t]) == real(1):
                    return self.at_point(self.names_of_functions[word], self.vector(x))
        return f"v{t}"

    def at_point(self, function: str, x: Vec) -> str:
        """A function's value."""
        return f"E (fun i => {function} i {scoped(x)})" if self.clients else f"{function} {scoped(x)}"

    # ---- the statement

    def theorem(self, name: str, title: str = "") -> RocqTheorem:
        """The derivation as a theorem of this name: its statement and a proof."""
        hypotheses = [
            (f"A{k}", self.form(self.reader.form(form))) for k, form in enumerate(self.data["hypotheses"].values())
        ]
        conclusion = self.form(self.reader.form(self.data["conclusion"]))
        binders, premises = self._functions()
        regions = [h for r in self.setting.ranges for h in r.hypotheses()]
        over = "(V : space) (C : clients V)" if self.clients else "(V : space)"
        lines = [f"forall {over}{_binder(self.parameters, 'R')},"]
        lines += [f"{h} ->" for h in regions]
        vectors = (
            _binder(self.leaves.mean, "V")
            + _binder(self.leaves.deviation, "C -> V")
            + "".join(binders)
            + _binder(self._free_values(), "R")
        )
        if vectors:
            lines.append(f"forall{vectors},")
        lines += [f"mean {d} = zero ->" for d in self.leaves.deviation]
        lines += [f"{text} ->" for _, text in premises]
        lines += [f"{h.text(69)} <= 0 ->" for _, h in hypotheses]
        lines.append(f"{conclusion.text(69)} <= 0.")
        statement = "Definition statement : Prop :=\n  " + "\n  ".join(lines)
        return RocqTheorem(name, title, "", statement, self._proof(regions, premises, hypotheses, conclusion))

    def _free_values(self) -> list[str]:
        known = [
            self.value_of(int(t)) for _, f in self.functions.items() for _, _, values in f.evaluations for t in values
        ]
        used = [text for data, text in self.quantities if data.startswith("Value ")]
        return [text for text in dict.fromkeys([*used, *known]) if text.startswith("v") and text[1:].isdigit()]

    def _functions(self) -> tuple[list[str], list[tuple[str, str]]]:
        """Binders of functions and their gradients; classes and gradients as premises, by name."""
        binders, premises = [], list[tuple[str, str]]()
        each = "forall i, " if self.clients else ""
        for word, function in self.functions.items():
            f = self.names_of_functions[word]
            of, to = (f"{f} i", "C -> V ->") if self.clients else (f, "V ->")
            binders.append(f" ({f} : {to} R)")
            if function.L is not None:
                binders.append(f" ({f}_grad : {to} V)")
                g = f"{f}_grad i" if self.clients else f"{f}_grad"
                sizes = f"{self.number(function.L).text(9)} {self.number(function.mu).text(9)}"
                premises.append(
                    (
                        f"class_{f}",
                        f"({each}in_class {sizes} ({of}) ({g}))" if self.clients else f"in_class {sizes} {of} {g}",
                    )
                )
            for k, (x, slope, _) in enumerate(function.evaluations):
                point, gradient = self.vector(x), self.vector(slope)
                if function.L is None:
                    text = f"subgradient {of if not self.clients else f'({of})'} {point.text(9)} {gradient.text(9)}"
                else:
                    text = f"{f}_grad{' i' if self.clients else ''} {scoped(point)} = {scoped(gradient)}"
                premises.append((f"at_{f}_{k}", f"({each}{text})" if self.clients else text))
        return binders, premises

    # ---- the proof

    def _proof(
        self,
        regions: Sequence[str],
        premises: Sequence[tuple[str, str]],
        hypotheses: Sequence[tuple[str, Real]],
        conclusion: Real,
    ) -> str:
        certificate = self._certificate([h for _, h in hypotheses], conclusion)
        scaled = f"unscaled {self.scale} _ (" if self.scale > 1 else ""
        means = [f"mean_{d}" for d in self.leaves.deviation]
        facts = [f"R{k}" for k in range(len(regions))]
        words = [
            "V",
            *(["C"] if self.clients else []),
            *self.parameters,
            *facts,
            *self.leaves.mean,
            *self.leaves.deviation,
        ]
        for word, function in self.functions.items():
            f = self.names_of_functions[word]
            words += [f, *([f"{f}_grad"] if function.L is not None else [])]
        words += [*self._free_values(), *means, *(n for n, _ in premises), *(n for n, _ in hypotheses)]
        lines = [
            f"Definition numbers : setting := {self.setting.data()}.",
            "Lemma numbers_ok : setting_ok numbers = true.\nProof. vm_cast_no_check (eq_refl true). Qed.",
            f"Definition steps : certificate :=\n  {certificate}.",
            "Lemma steps_ok : holds numbers steps = true.\nProof. vm_cast_no_check (eq_refl true). Qed.",
            f"Theorem proof : statement.\nProof.\n  intros {' '.join(words)}.",
            f"  exact ({scaled}derived numbers {rocq_list(self.parameters)} numbers_ok eq_refl {self._region_term(facts)}",
            f"    {'' if self.clients else '(C := single V) '}{rocq_list(list(self.leaves.mean))} {rocq_list(list(self.leaves.deviation))}",
            f"    {rocq_list(self._values())} steps eq_refl",
            f"    {conjunction(means)} steps_ok",
            f"    {conjunction(self._class_terms())}",
            f"    {conjunction([n for n, _ in hypotheses])}){')' * bool(scaled)}.\nQed.",
        ]
        return "\n".join(lines)

    def _region_term(self, facts: Sequence[str]) -> str:
        waiting, shown = list(facts), []
        for r in self.setting.ranges:
            shown.append(waiting.pop(0))
            shown.append("I" if r.high is None else waiting.pop(0))
        return conjunction(shown)

    def _values(self) -> list[str]:
        most = max(
            [int(data.split()[1]) for data, _ in self.quantities if data.startswith("Value ")]
            + [t for f in self.functions.values() for _, _, values in f.evaluations for t in values],
            default=-1,
        )
        named, free = [self.value_of(t) for t in range(most + 1)], self._free_values()
        return [text if text != f"v{t}" or text in free else "0" for t, text in enumerate(named)]

    def _class_terms(self) -> list[str]:
        found = []
        for word, function in self.functions.items():
            f = self.names_of_functions[word]
            own, slope = (f, f"{f}_grad") if self.clients else (f"(fun _ => {f})", f"(fun _ => {f}_grad)")
            at = [f"at_{f}_{k}" if self.clients else f"(fun _ => at_{f}_{k})" for k in range(len(function.evaluations))]
            evaluations = conjunction([f"(conj {a} eq_refl)" for a in at])
            if function.L is None:
                found.append(f"(ex_intro _ {own} {evaluations})")
            else:
                inside = f"class_{f}" if self.clients else f"(fun _ => class_{f})"
                found.append(f"(ex_intro _ {own} (ex_intro _ {slope} (conj {inside} {evaluations})))")
        return found

    def _certificate(self, hypotheses: Sequence[Real], conclusion: Real) -> str:
        classes = []
        for function in self.functions.values():
            evaluations = []
            for x, g, values in function.evaluations:
                height = total(
                    self.number(v) * self.quantity(f"Value {t}", self.value_of(t)) for t, v in values.items()
                )
                evaluations.append((self.vector_data(self.vector(x)), self.vector_data(self.vector(g)), height))
            classes.append((function, evaluations))
        place = self._place
        shown = []
        for function, evaluations in classes:
            smooth = "None" if function.L is None else f"(Some {self.number(function.L).data(place)})"
            at = rocq_list([f"Evaluation {x} {g} {h.data(place)}" for x, g, h in evaluations], apart=True)
            shown.append(f"Class {smooth} {self.number(function.mu).data(place)}\n    {at}")
        pairs, of_hypotheses = self._multipliers()
        squares = []
        for matrix, kind, names in (("S", "common", self.leaves.mean), ("Q", "client", self.leaves.deviation)):
            for pivot in self.data["pivots"][matrix]:
                row = combination(
                    (self.number(self.reader.number(v)), Vec(kind, (names[int(k)],)))  # type: ignore[arg-type]
                    for k, v in pivot["row"].items()
                )
                squares.append(f"({self.product(self.reader.number(pivot['pivot']))}, {self.vector_data(row)})")
        slack = {powers: -value for powers, value in self.reader.number(self.data["constant"]).items()}
        return "\n    ".join(
            [
                f"Certificate {len(self.leaves.mean)} {rocq_list(['true' for _ in self.leaves.deviation])}",
                rocq_list([data for data, _ in self.quantities], apart=True),
                rocq_list(shown, apart=True),
                rocq_list([h.data(place) for h in hypotheses], apart=True),
                rocq_list(pairs, apart=True),
                rocq_list(of_hypotheses, apart=True),
                rocq_list(squares, apart=True),
                self.product(slack),
                f"(RMul (RZ {self.scale}) {conclusion.data(place)})" if self.scale > 1 else conclusion.data(place),
            ]
        )

    def _place(self, e: Real) -> int | None:
        """Where a number stands among parameters, compound factors and quantities."""
        at = self.setting.place(e)
        if at is None and e.op == "apply":
            known = [text for _, text in self.quantities]
            at = len(self.setting.names) + len(self.setting.factors) + known.index(e.parts[0])
        return at

    def _multipliers(self) -> tuple[list[str], list[str]]:
        pairs, of_hypotheses = [], []
        names, order = list(self.functions), list(self.data["hypotheses"])
        for row, value in self.data["multipliers"].items():
            product = self.product(self.reader.number(value))
            if row in order:
                of_hypotheses.append(f"({order.index(row)}%nat, {product})")
            else:
                word, i, j = row.rsplit(" ", 2)
                pairs.append(f"({names.index(word)}, {i}, {j}, {product})%nat".replace("%Q,", "%Q,"))
        return pairs, of_hypotheses


def _binder(names: Sequence[str], kind: str) -> str:
    return f" ({' '.join(names)} : {kind})" if names else ""


def conjunction(terms: Sequence[str]) -> str:
    """The proof of a conjunction that ends with True."""
    return "".join(f"(conj {term} " for term in terms) + "I" + ")" * len(terms)

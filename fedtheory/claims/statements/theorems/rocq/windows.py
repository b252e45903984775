"""A few states one after the other as a function plays them: vectors as variables, and what is so of them; and lines about them as certificates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.proving import AHEAD
from fedtheory.claims.statements.theorems.rocq.lines import StoredNumbers
from fedtheory.claims.statements.theorems.rocq.natural import (
    BaseVector,
    Paired,
    QuantityPrinter,
    list_divisors,
    rounds_as_numbers,
    write_number,
    write_vector,
)
from fedtheory.claims.statements.theorems.rocq.term import WrittenTerm
from fedtheory.claims.statements.theorems.states import PlayedStates, WorldFunction, name_states, outcomes_of
from fedtheory.claims.statements.worlds import FunctionOf, SymbolicWorld
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.vectors import Form, Vector
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.rocq.derivations import conjunction
from fedtheory.proofs.rocq.expressions import ZERO, Real, Vec, apply, identifier, inner_text, of_client, scoped, total
from fedtheory.proofs.rocq.settings import NumberSetting, rocq_list


@dataclass
class Window:
    """A state and the ``last`` ones after it, or with ``start`` those of a run from its start, in bases.

    ``states``: of each round one, or its outcomes where it is drawn; ``groups``: of each round the outcomes' chances and places among the states.
    ``every_symbol``: of the names of numbers of sequences that the states read, the sequence and how many rounds on.
    """

    term: WrittenTerm
    last: int
    start: bool
    bases: list[BaseVector] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Play them."""
        states = self.term.theorem.states
        assert isinstance(states, PlayedStates)
        self.theorem = self.term.theorem
        self.word = f"begun_{self.last}" if self.start else f"played_{self.last}"
        self.comment = (
            "a run's start" if self.start else f"{self.last + 1} state{'s' * (self.last > 0)} one after the other"
        )
        self.every_symbol = {f"{seq}_{k}": (seq, k) for seq in self.theorem.sequences for k in range(self.last + AHEAD)}
        self.numbers = self._numbers()
        self._played_in = SymbolicWorld()
        self._played = states.play_raw(self._played_in, self.numbers, self.last, start=self.start)
        # averages over clients that are drawn have a part that vanishes on average alone
        who = getattr(states.play, "who", None)
        if who is not None and who(self.numbers) is not None:
            raise NotAvailable("rounds of clients that are drawn, which a function plays, are not written for Rocq")
        self.drawn = any(len(outcomes_of(s)) > 1 for s in self._played)
        if self.drawn and (self.last > 1 or self.start):
            raise NotAvailable("draws of more than one round after any state are not written for Rocq")
        self._begin()

    def _begin(self) -> None:
        """Name what was played, in a world of its own."""
        self.world, twins = self._played_in.fork()
        outcomes = name_states(self.world, self._played, self.last, twins)
        every = iter(range(sum(map(len, outcomes))))
        self.groups = [[(chance, next(every)) for chance, _ in of_round] for of_round in outcomes]
        self.states: list[Mapping[str, Any]] = [known for of_round in outcomes for _, known in of_round]
        self.functions: list[FunctionOf] = self.world.functions
        self.counts = {f.name: len(f.evaluations) for f in self.functions}
        self.hypotheses = list(self.world.hypotheses)
        self.reserved = {
            *(f"{identifier(w)}_{k}" for k, state in enumerate(self.states) for w in state),
            *self.numbers,
            *(self.term.function_name(f.name) for f in self.functions),
        }
        self.divisors: dict[str, Real] = {}
        self.free_values: list[str] = []
        self._values: list[str] = []
        self.bases = []
        self.name_bases()

    def afresh(self) -> Window:
        """The same window before anything was asked of it: evaluations that one line asks for are of no use to another."""
        other = copy(self)
        other._begin()
        return other

    def _numbers(self) -> dict[str, Any]:
        ends = [str(self.theorem.all_parameters)] if self.theorem.all_parameters.parameters else []
        for word, (seq, _) in self.every_symbol.items():
            low, _, high = self.theorem.sequences[seq].partition("..")
            ends.append(f"{low} <= {word} <= {high}" if high else f"{low} <= {word}")
        ends += [f"{least} <= {t}" for t, least in self.term.checker.signature.rounds.items()]
        fixed: dict[str, Any] = {n: Fraction(k) for n, k in self.term.fixed.items()}
        if not ends:
            return fixed
        region = Region.parse(", ".join(ends))
        return {**fixed, **ParameterField(region.fix(fixed) if fixed else region).parameters()}

    # ---- bases

    def name_bases(self) -> None:
        """Names for vectors and values that have none yet: a gradient of a smooth function, where its point is known, is called by what it is."""
        world = self.world
        slopes = {
            next(iter(e.g.terms))[1]: (f, e)
            for f in reversed(self.functions)
            if f.L is not None
            for e in reversed(f.evaluations)
            if _is_leaf(e.g)
        }
        for k in range(len(self.bases), len(world.mean)):
            word = world.mean[k]
            deviation = world.deviation.index(word) if word in world.deviation else None
            shown, definition = "", ""
            if k in slopes:
                f, e = slopes[k]
                if all(self._is_named(part, leaf, k) for part, leaf in e.x.terms):
                    shown = definition = self.gradient_text(f, self.vec(e.x))
            if not shown:
                shown = self._new_name(word)
            self.bases.append(BaseVector(shown, k, deviation, definition))
        evaluations = {next(iter(e.values())): (f, e) for f in self.functions for e in f.evaluations}
        for k in range(len(self._values), len(world.value_names)):
            if k in evaluations:
                self._values.append(self.value_text(*evaluations[k]))
            else:
                self._values.append(self._new_name(world.value_names[k]))
                self.free_values.append(self._values[-1])

    def _is_named(self, part: str, leaf: int, k: int) -> bool:
        return leaf < k if part == "mean" else any(base.deviation == leaf for base in self.bases)

    def _new_name(self, word: str) -> str:
        found = identifier(word)
        while found in self.reserved:
            found += "'"
        self.reserved.add(found)
        return found

    @property
    def clients(self) -> list[BaseVector]:
        """Bases of each client."""
        return [base for base in self.bases if not base.is_common]

    @property
    def commons(self) -> list[BaseVector]:
        """Bases that clients have in common."""
        return [base for base in self.bases if base.is_common]

    # ---- writing

    def write(self, number: Any) -> Real:
        """A number, rounds as numbers of rounds."""
        found = rounds_as_numbers(write_number(number), self.term.checker.signature.rounds)
        if found.op == "/" and found.parts[1].op != "whole":
            self.divisors.setdefault(found.parts[1].text(), found.parts[1])
        return found

    def vec(self, v: Vector) -> Vec:
        """A vector in bases."""
        return write_vector(v, self.bases, self.write)

    def gradient_text(self, f: FunctionOf, x: Vec) -> str:
        """A gradient by what it is."""
        own = self.term.function_name(f.name)
        return f"{own}_grad % {scoped(x, '%')}" if f.client else f"({own}_grad {scoped(x)})"

    def value_text(self, f: FunctionOf, e: Evaluation) -> str:
        """A value; of the clients' functions their average."""
        own = self.term.function_name(f.name)
        return f"E (fun i => {own} i {scoped(self.vec(e.x))})" if f.client else f"{own} {scoped(self.vec(e.x))}"

    def number(self, form: Form, noted: WindowCertificate | None = None) -> Real:
        """A form in inner products and values, noted by a certificate where there is one."""

        def product(u: Vec, v: Vec, each: bool) -> Real:
            return apply(inner_text(u, v, each=each)) if noted is None else noted.product(u, v, each)

        by_mean, by_deviation = {b.mean: b for b in self.bases}, {b.deviation: b for b in self.bases}
        sizes: dict[tuple[int, int], list[Any]] = {}
        for (part, i, j), size in form.gram.items():
            own = by_mean if part == "S" else by_deviation
            a, b = sorted(self.bases.index(own[k]) for k in (i, j))
            sizes.setdefault((a, b), [0, 0])[part == "Q"] = size
        terms = []
        for (a, b), (mean, deviation) in sorted(sizes.items()):
            u, v = (Vec("common" if self.bases[k].is_common else "client", (self.bases[k].name,)) for k in (a, b))
            if deviation != 0:
                terms.append(self.write(deviation) * product(u, v, True))
            if mean - deviation != 0:
                terms.append(self.write(mean - deviation) * product(u.averaged(), v.averaged(), False))
        for k, size in sorted(form.values.items()):
            value = apply(self._values[k]) if noted is None else noted.noted(f"Value {k}", self._values[k])
            terms.append(self.write(size) * value)
        return total([*terms, self.write(form.constant)])

    def values_text(self) -> list[str]:
        """All values."""
        return self._values

    # ---- what is so of them

    def facts(self) -> list[str]:
        """Gradients and subgradients at points, and hypotheses, as the function states them."""
        found = []
        for f, k in self._stated():
            e, own = f.evaluations[k], self.term.function_name(f.name)
            x, g = self.vec(e.x), self.vec(e.g)
            if f.L is None:
                text = f"subgradient {f'({own} i)' if f.client else own} {x.text(9)} {g.text(9)}"
            else:
                text = f"{own}_grad{' i' if f.client else ''} {scoped(x)} = {scoped(g)}"
            found.append(f"(forall i, {text})" if f.client else text)
        return [*found, *(f"{self.number(form).text(69)} <= 0" for _, form in self.hypotheses)]

    def _stated(self) -> list[tuple[FunctionOf, int]]:
        return [(f, k) for f in self.functions for k in range(self.counts[f.name]) if not self.is_defined(f, k)]

    def is_defined(self, f: FunctionOf, k: int) -> bool:
        """Whether the gradient of an evaluation is called by what it is there."""
        e = f.evaluations[k]
        name = self.vec(e.g).parts[0] if _is_leaf(e.g) else None
        return f.L is not None and name == self.gradient_text(f, self.vec(e.x))

    def names_of_facts(self) -> list[str]:
        """Of `facts`, in their order."""
        return [self.name_of_fact(f, k) for f, k in self._stated()] + [f"A{k}" for k in range(len(self.hypotheses))]

    def name_of_fact(self, f: FunctionOf, k: int) -> str:
        """The fact on an evaluation."""
        return f"at_{self.term.function_name(f.name)}_{k}"

    def expectation(self, k: int, of_state: Callable[[int], Real]) -> Real:
        """A number of the states of the k-th round, times their chances."""
        group = self.groups[k]
        if len(group) == 1:
            return of_state(group[0][1])
        found = ZERO
        for chance, place in reversed([(self.write(chance), of_state(place)) for chance, place in group]):
            found = Real("+", (Real("*", (chance, place)), found))
        return found

    def printer(self, k: int, certificate: WindowCertificate | None = None) -> QuantityPrinter:
        """What evaluates quantities of the k-th state: in a certificate's numbers, or in the names of its fields."""
        return _Printer(self, self.states[k], certificate)


def _is_leaf(v: Vector) -> bool:
    means = [k for part, k in v.terms if part == "mean"]
    return (
        len(means) == 1
        and len(v.terms) <= 2
        and all(size == 1 for size in v.terms.values())
        and next(iter(v.terms))[0] == "mean"
    )


class _Printer(QuantityPrinter):
    """Quantities of a state of a window."""

    def __init__(self, window: Window, state: Mapping[str, Any], certificate: WindowCertificate | None) -> None:
        self.window, self.state, self.certificate = window, state, certificate
        self.of: dict[int, FunctionOf] = {}
        super().__init__(window, {}, {}, self._product, self._value, self._gradient)  # type: ignore[arg-type]

    def named(self, word: str) -> Any:
        """A vector or a number of the state."""
        value = self.state.get(word)
        own = f"{identifier(word)}_"
        if isinstance(value, Vector):
            kind = self.window.term.kinds[word]
            if self.certificate is not None:
                # as in the quantity's definition, whatever the field comes to: "y - x_star" stays a difference where x_star is zero
                return Paired(value, Vec("kept", (self.window.vec(value), kind != "V")), kind != "V")
            return Paired(value, Vec("common" if kind == "V" else "client", (own,)), kind != "V")
        if isinstance(value, Form):
            return apply(own) if self.certificate is None else self.window.number(value, self.certificate)
        return None

    def evaluated(self, function: str, at: Paired, text: str) -> tuple[Evaluation, bool]:
        """By the functions of the world."""
        known = self.state.get(function)
        if not isinstance(known, WorldFunction):
            raise NotAvailable(f"{function} in the quantity {text!r} is not written for Rocq")
        before = len(known.function.evaluations)
        known.at(at.leaves)
        if len(known.function.evaluations) > before:
            if known.function.L is None:
                raise NotAvailable(
                    f"a subgradient of {function} that only the quantity {text!r} speaks of is not written for Rocq"
                )
            self.window.name_bases()
        e = next(e for e in known.function.evaluations if not (e.x - at.leaves).terms)
        self.of[id(e)] = known.function
        return e, False

    def is_of_clients(self, e: Evaluation) -> bool:
        """Whether it is one of every client's function."""
        return self.of[id(e)].client

    def _product(self, u: Vec, v: Vec, each: bool) -> Real:
        return apply(inner_text(u, v, each=each)) if self.certificate is None else self.certificate.product(u, v, each)

    def _value(self, e: Evaluation, at: Vec) -> Real:
        f = self.of[id(e)]
        if self.certificate is not None:
            return self.certificate.noted(f"Value {next(iter(e.values()))}", self.window.value_text(f, e))
        own = self.window.term.function_name(f.name)
        return apply(f"E (fun i => {own} i {scoped(at)})" if f.client else f"{own} {scoped(at)}")

    def _gradient(self, e: Evaluation, at: Vec) -> Vec:
        f = self.of[id(e)]
        if self.certificate is not None:
            self.certificate.note_gradient(f, e)
            return Vec("kept", (self.window.vec(e.g), f.client))
        if f.L is None:
            raise NotAvailable("a quantity that speaks of a subgradient is not written for Rocq")
        return Vec("client" if f.client else "common", (self.window.gradient_text(f, at),))


@dataclass
class WindowCertificate:
    """What makes one inequality about a window's states (`fedtheory.claims.statements.theorems.rocq.term.LineData`).

    ``gradients``: variables that quantities call gradients at a point, with the proofs that they are; ``implicit``: functions of those whose point
    is made of them.
    """

    window: Window
    setting: NumberSetting
    quantities: list[tuple[str, str]] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    of_hypotheses: list[str] = field(default_factory=list)
    squares: list[str] = field(default_factory=list)
    slack: str = "(0%Q, [])"
    gradients: dict[str, str] = field(default_factory=dict)
    implicit: list[str] = field(default_factory=list)

    # ---- numbers

    def note_gradient(self, f: FunctionOf, e: Evaluation) -> None:
        """A quantity speaks of a gradient that is a variable here: by its name the fact that says which gradient it is."""
        window, k = self.window, next(k for k, own in enumerate(f.evaluations) if own is e)
        g, x = window.vec(e.g), window.vec(e.x)
        if k < window.counts[f.name] and not window.is_defined(f, k) and g.op in ("client", "common"):
            own, named = g.parts[0], window.name_of_fact(f, k)
            if not re.search(rf"(?<![\w']){re.escape(own)}(?![\w'])", x.text()):
                self.gradients[own] = f"(functional_extensionality _ _ {named})" if f.client else named
            else:
                self.implicit.append(f.name)

    def product(self, u: Vec, v: Vec, each: bool) -> Real:
        """An inner product, noted; ``each``: its average over clients."""
        word = "MeanDot" if each else "Dot"
        return self.noted(f"{word} {self.vec_data(u)} {self.vec_data(v)}", inner_text(u, v, each=each))

    def noted(self, data: str, text: str) -> Real:
        """A quantity, as a number."""
        if (data, text) not in self.quantities:
            self.quantities.append((data, text))
        return apply(text)

    def vec_data(self, v: Vec) -> str:
        """As data."""
        clients, commons = ([base.name for base in group] for group in (self.window.clients, self.window.commons))
        return v.data(self.setting.place, clients.index, commons.index)

    def vector(self, v: Vector) -> str:
        """A combination of leaves, as data."""
        return self.vec_data(self.window.vec(v))

    def quantity(self, word: str, k: int) -> Real:
        """A quantity of the k-th round, in expectation where it is drawn."""
        text = self.window.term.quantities[word]
        return self.window.expectation(k, lambda place: self.window.printer(place, self).read(text))

    def place(self, e: Real) -> int | None:
        """Where a number stands among parameters, factors and quantities."""
        at = self.setting.place(e)
        if at is None and e.op == "apply":
            known = [text for _, text in self.quantities]
            at = len(self.setting.names) + len(self.setting.factors) + known.index(e.parts[0])
        return at

    # ---- the whole

    def data(self, conclusion: Real) -> str:
        """As data of type ``certificate``."""
        window, classes = self.window, []
        for f in window.functions:
            evaluations = [
                (
                    self.vector(e.x),
                    self.vector(e.g),
                    self.noted(f"Value {next(iter(e.values()))}", window.value_text(f, e)),
                )
                for e in f.evaluations
            ]
            classes.append((None if f.L is None else window.write(f.L), window.write(f.mu), evaluations))
        hypotheses = [window.number(form, self) for _, form in window.hypotheses]
        for big_l, mu, _ in classes:
            if big_l is not None:
                self.setting.note(big_l - mu)
        for divisor in window.divisors.values():
            self.setting.note_divisor(divisor)
        for divisor in list_divisors(conclusion):
            if divisor.names() <= {*self.setting.names}:
                self.setting.note_divisor(divisor)
        shown = []
        for big_l, mu, evaluations in classes:
            smooth = "None" if big_l is None else f"(Some {big_l.data(self.place)})"
            at = rocq_list([f"Evaluation {x} {g} {h.data(self.place)}" for x, g, h in evaluations], apart=True)
            shown.append(f"Class {smooth} {mu.data(self.place)}\n     {at}")
        return "\n    ".join(
            [
                f"Certificate {len(window.commons)} {rocq_list(['false' for _ in window.clients])}",
                rocq_list([data for data, _ in self.quantities], apart=True),
                rocq_list(shown, apart=True),
                rocq_list([h.data(self.place) for h in hypotheses], apart=True),
                rocq_list(self.pairs, apart=True),
                rocq_list(self.of_hypotheses, apart=True),
                rocq_list(self.squares, apart=True),
                self.slack,
                conclusion.data(self.place),
            ]
        )

    def proof(self, numbers: str, steps: str, region: Sequence[str], zeros: Sequence[str]) -> str:
        """The proof of the inequality, from names for numbers and steps, proofs of the ends of ranges."""
        window = self.window
        us = [f"(fun i => {of_client(b.name, 'i')})" if "%" in b.name else b.name for b in window.clients]
        return "\n    ".join(
            [
                f"@derived {numbers} {rocq_list(self.setting.names)} {numbers}_ok eq_refl {conjunction(region)} V C",
                f"{rocq_list([base.name for base in window.commons])} {rocq_list(us)}",
                f"{rocq_list(window.values_text())} {steps} eq_refl",
                f"I {steps}_ok",
                conjunction([self._class(f) for f in window.functions]),
                conjunction([f"A{k}" for k in range(len(window.hypotheses))]),
            ]
        )

    def _class(self, f: FunctionOf) -> str:
        own = self.window.term.function_name(f.name)
        at = []
        for k, e in enumerate(f.evaluations):
            fact = "(fun _ => eq_refl)" if self.window.is_defined(f, k) else self.window.name_of_fact(f, k)
            fact = fact if f.client or fact.startswith("(") else f"(fun _ => {fact})"
            value = "eq_refl" if f.client else f"(E_const ({self.window.value_text(f, e)}))"
            at.append(f"(conj {fact} {value})")
        shown = own if f.client else f"(fun _ => {own})"
        if f.L is None:
            return f"(ex_intro _ {shown} {conjunction(at)})"
        slope, inside = (
            (f"{own}_grad", f"class_{own}") if f.client else (f"(fun _ => {own}_grad)", f"(fun _ => class_{own})")
        )
        return f"(ex_intro _ {shown} (ex_intro _ {slope} (conj {inside} {conjunction(at)})))"


class WindowDerivation(StoredNumbers):
    """The multipliers and squares of a stored derivation about a window's states."""

    def __init__(self, certificate: WindowCertificate, data: Mapping[str, Any]) -> None:
        super().__init__(certificate.setting, certificate.window.numbers, dict(data["system"]))
        self.certificate, self.window = certificate, certificate.window
        world = self.window.world
        counts = int(self.system["mean"]), int(self.system["deviation"])
        functions = sorted(f.name for f in self.window.functions)
        if counts != (len(world.mean), len(world.deviation)) or sorted(self.system["functions"]) != functions:
            raise NotAvailable("a derivation about other vectors than those that are played is not written for Rocq")
        for f in self.window.functions:
            stored = self.reader.function(self.system["functions"][f.name]).evaluations
            same = len(stored) == len(f.evaluations) and all(
                self._same(x, e.x) and self._same(g, e.g) and list(values) == list(e.values())
                for (x, g, values), e in zip(stored, f.evaluations, strict=True)
            )
            if not same:
                raise NotAvailable(f"a derivation with other evaluations of {f.name} is not written for Rocq")

    def _vector(self, parts: Mapping[str, Any]) -> Vector:
        terms: dict[Any, Any] = {("mean", k): self.number(v) for k, v in parts["S"].items()}
        return Vector({**terms, **{("deviation", k): self.number(v) for k, v in parts["Q"].items()}})

    def _same(self, parts: Mapping[str, Any], v: Vector) -> bool:
        return all(value == 0 for value in (self._vector(parts) - v).terms.values())

    def write(self) -> None:
        """Note multipliers and squares; functions and hypotheses by their place in the window, in whichever order they are stored."""
        names, hypotheses = [f.name for f in self.window.functions], [name for name, _ in self.window.hypotheses]
        for row, value in self.system["multipliers"].items():
            product = self.product(self.reader.number(value))
            if row in hypotheses:
                self.certificate.of_hypotheses.append(f"({hypotheses.index(row)}%nat, {product})")
            else:
                word, i, j = row.rsplit(" ", 2)
                self.certificate.pairs.append(f"({names.index(word)}%nat, {i}%nat, {j}%nat, {product})")
        for part in ("S", "Q"):
            for pivot in self.system["pivots"][part]:
                row = {int(k): self.reader.number(v) for k, v in pivot["row"].items()}
                v = self._vector({part: row, "Q" if part == "S" else "S": {}})
                self.certificate.squares.append(
                    f"({self.product(self.reader.number(pivot['pivot']))}, {self.certificate.vector(v)})"
                )
        slack = {powers: -value for powers, value in self.reader.number(self.system["constant"]).items()}
        self.certificate.slack = self.product(slack)

"""A derivation, or a certificate with numbers, opened to be read: its numbers, vectors and forms as formulas in named symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from fedtheory.claims.explain.document import Math
from fedtheory.claims.explain.symbols import NumberWriter, Symbols
from fedtheory.proofs.checked_before import recheck_derivation
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT
from fedtheory.proofs.checker.derivations import FormEntries, Reader, StoredFunction
from fedtheory.proofs.checker.formulas import read, substitute
from fedtheory.proofs.checker.polynomials import Polynomial, add, multiply
from fedtheory.proofs.checker.ranges import CheckedRegion, FactorSum
from fedtheory.proofs.checker.reading import StepCount
from fedtheory.proofs.every_n.vectors import Vector


@dataclass(frozen=True)
class Named:
    """What is known of a derivation's vectors beside the derivation.

    Parameters
    ----------
    fields : vectors and numbers of the state, by name
    after : of the states after it, how many rounds on, and under which probability: vectors and numbers by name
    leaves : names of the common leaves, and of the deviations
    symbols : what names of parameters stand for, as formulas
    values : names of the values
    """

    fields: Mapping[str, Any]
    after: Sequence[tuple[int, Any, Mapping[str, Any]]] = ()
    leaves: tuple[Sequence[str], Sequence[str]] = ((), ())
    symbols: Mapping[str, str] | None = None
    values: Sequence[str] = ()


class OpenDerivation:
    """A derivation that its checker accepted, read, and names for what it speaks of.

    Raises
    ------
    Refused
        The checker does not accept it.
    NotAvailable
        A certificate has what derivations do not.
    """

    def __init__(self, data: Mapping[str, Any], named: Named | None = None) -> None:
        self.named = named or Named({})
        if data["format"] == CERTIFICATE_FORMAT:
            from fedtheory.proofs.rocq.certificates import as_derivation

            found = as_derivation(data)
            self.region, self.reader, self.data = found.region, found.reader, found.data
        else:
            self.data = dict(data)
            self.region = recheck_derivation(self.data)
            self.reader = Reader(len(self.region.factors))
        signs = {k: self.region.sign(k) for k in range(len(self.region.factors))}
        negative = frozenset(k for k, sign in signs.items() if sign is not None and sign.direction < 0)
        self.numbers = NumberWriter(self.region.factors, [part.name for part in self.region.ranges], negative)
        self.functions: dict[str, StoredFunction] = {
            str(name): self.reader.function(f) for name, f in self.data["functions"].items()
        }
        self.first: dict[str, int] = {}  # number of the first evaluation of each function
        for name in self.functions:
            self.first[name] = sum(len(self.functions[other].evaluations) for other in self.first)
        self.symbols = self._name_leaves()

    # ---- names

    def _name_leaves(self) -> Symbols:
        """After fields of the state, then points and gradients, one after the other; values after evaluations."""
        fixed = {part.name for part in self.region.ranges} | set(self.named.symbols or ()) | self.functions.keys()
        symbols = Symbols(fixed | {name for name, what in self.named.fields.items() if not isinstance(what, Vector)})
        for block, names in zip("SQ", self.named.leaves, strict=True):
            for k, name in enumerate(names):
                if name.isidentifier() and name not in fixed:
                    symbols.introduce(name, {"S": {}, "Q": {}} | {block: {k: True}} | self._partner(block, name))
        fields = {name: _flags(what) for name, what in self.named.fields.items() if isinstance(what, Vector)}
        for name, vector in sorted(fields.items(), key=lambda item: sum(map(len, item[1].values()))):
            symbols.introduce(name, vector)
        for k, (_, _, (x, g, value)) in enumerate(self.evaluations()):
            symbols.introduce(f"x{k}", self._flags(x))
            symbols.introduce(f"g{k}", self._flags(g))
            (t, size), *more = value.items()
            if not more and size == self.one and t not in symbols.values:
                symbols.values[t] = symbols.unique(f"F{k}")
        for name, vector in fields.items():
            symbols.introduce(name, vector)
        # a derivation that needs no leaf has states all the same
        common, own = (len(names) for names in self.named.leaves)
        symbols.name_rest(max(common, int(self.data["mean"])), max(own, int(self.data["deviation"])))
        return symbols

    def _partner(self, block: str, name: str) -> dict[str, dict[int, bool]]:
        """The deviation of the same name, of a common leaf."""
        if block == "S" and name in self.named.leaves[1]:
            return {"Q": {list(self.named.leaves[1]).index(name): True}}
        return {}

    @cached_property
    def one(self) -> FactorSum:
        """The number one."""
        return {(0,) * len(self.region.factors): Fraction(1)}

    def _flags(self, parts: Mapping[str, Mapping[int, FactorSum]]) -> dict[str, dict[int, bool]]:
        return {block: {k: value == self.one for k, value in parts[block].items()} for block in ("S", "Q")}

    def evaluations(self) -> Iterator[tuple[str, int, Any]]:
        """Function, number and (x, g, value) of each."""
        for name, function in self.functions.items():
            for k, e in enumerate(function.evaluations):
                yield name, self.first[name] + k, e

    # ---- formulas

    def math(self, text: str) -> Math:
        """A text, with what names of parameters stand for."""
        tree = Math.read(text).tree
        assert tree is not None
        return Math.of(substitute(tree, {name: read(what) for name, what in (self.named.symbols or {}).items()}))

    def number(self, number: FactorSum) -> Math:
        """A number."""
        return self.math(self.numbers.text(number))

    def form(self, form: FormEntries) -> Math:
        """A form."""
        return self.math(self.symbols.form(form, self.numbers.text))

    @cached_property
    def multipliers(self) -> dict[str, FactorSum]:
        """Of each inequality as it is printed: of smooth functions the stored one times 2 (L - mu)."""
        return {
            str(name): self.reader.number(value) for name, value in self.data["multipliers"].items() if value != "0"
        }

    def multiplier(self, name: str) -> Math:
        """A multiplier in closed form."""
        function, stored = self.functions.get(name.split(maxsplit=1)[0]), self.multipliers[name]
        if name in self.data["hypotheses"] or function is None or function.L is None:
            return self.number(stored)
        width = add({}, add(function.L, function.mu, Fraction(-1)), Fraction(2))
        product = _product_of(self.region, width)
        if product is None:
            return self.math(f"({self.numbers.text(stored)})*({self.numbers.text(width)})")
        return self.number(multiply(stored, product, StepCount()))

    def used_pairs(self) -> list[tuple[str, str, int, int]]:
        """Name, function and evaluations' numbers of the interpolation inequalities that are used."""
        found = []
        for name in self.multipliers:
            word, *numbers = name.split()
            if word in self.functions and name not in self.data["hypotheses"]:
                i, j = (self.first[word] + int(k) for k in numbers)
                found.append((name, word, i, j))
        return found


def _flags(vector: Vector) -> dict[str, dict[int, bool]]:
    """Which leaves a traced vector has, and with the factor one."""
    found: dict[str, dict[int, bool]] = {"S": {}, "Q": {}}
    for (part, leaf), value in vector.terms.items():
        if part in ("mean", "deviation"):
            found["S" if part == "mean" else "Q"][leaf] = value == 1
    return found


def _product_of(region: CheckedRegion, number: FactorSum) -> FactorSum | None:
    """A sum of products as one product, where it is one of a factor."""
    top, least = region.common(number)
    for k, factor in [(None, {(0,) * len(region.ranges): Fraction(1)}), *enumerate(region.factors)]:
        lead = next(iter(factor))
        if top.keys() == factor.keys():
            size = top[lead] / factor[lead]
            if all(top[powers] == size * value for powers, value in factor.items()):
                return {tuple(power + (j == k) for j, power in enumerate(least)): size}
    return None


def read_forms(data: Mapping[str, Any], found: OpenDerivation) -> Iterator[tuple[str, Math]]:
    """Forms by name, with factors of their own (`fedtheory.proofs.parameters.derivation.store_forms`)."""
    factors: list[Polynomial] = [
        {tuple(powers): Fraction(value) for value, powers in terms} for terms in data["factors"]
    ]
    reader, numbers = Reader(len(factors)), NumberWriter(factors, list(data["names"]))
    for name, form in data["forms"].items():
        yield str(name), found.math(found.symbols.form(reader.form(form), numbers.text))

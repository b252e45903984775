"""Names for the vectors and values of a derivation, and its numbers, vectors and forms as texts of formulas.

A derivation speaks of *leaves*: vectors that all clients have in common, and deviations, which are one of each client and have mean zero. A leaf is
named after the first vector that brings it in: a field of the state, a point, a gradient. Of a vector u_i of each client the leaves are its
average, ``bar_u``, and its deviation, ``tilde_u_i``; ``hat_u`` is what a vector brings in beside leaves that have a name already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from fedtheory.proofs.checker.derivations import FormEntries, LeafVector
from fedtheory.proofs.checker.polynomials import Polynomial
from fedtheory.proofs.checker.ranges import FactorSum

#: a factor of more terms is written in a table, and named where it occurs
MOST_TERMS = 6
NumberText = Callable[[FactorSum], str]


@dataclass
class NumberWriter:
    """Products of powers of factors as texts; long factors have names.

    Parameters
    ----------
    factors : polynomials in the parameters
    names : of the parameters
    negative : numbers of the factors that are negative, which are written with the other sign
    """

    factors: Sequence[Polynomial]
    names: Sequence[str]
    negative: frozenset[int] = frozenset()

    def factor(self, k: int) -> str:
        """A factor: written out, or by its name."""
        return f"P_{k + 1}" if self.is_long(k) else show_sorted(self.written(k), self.names)

    def written(self, k: int) -> Polynomial:
        """A factor with the sign that it is written with."""
        return {powers: -value if k in self.negative else value for powers, value in self.factors[k].items()}

    def is_long(self, k: int) -> bool:
        """Whether it stands in the table of factors."""
        return len(self.factors[k]) > MOST_TERMS

    def text(self, number: FactorSum) -> str:
        """A sum of products."""
        return join_terms((self._is_positive(*term), self._product(term[0], abs(term[1]))) for term in number.items())

    def _is_positive(self, powers: tuple[int, ...], value: Fraction) -> bool:
        return (value > 0) == (sum(powers[k] for k in self.negative) % 2 == 0)

    def _product(self, powers: tuple[int, ...], size: Fraction) -> str:
        above = [self._power(k, power) for k, power in enumerate(powers) if power > 0]
        below = [self._power(k, -power) for k, power in enumerate(powers) if power < 0]
        if size.numerator != 1 or not above:
            above.insert(0, str(size.numerator))
        if size.denominator != 1:
            below.insert(0, str(size.denominator))
        return "*".join(above) + (f"/({'*'.join(below)})" if below else "")

    def _power(self, k: int, power: int) -> str:
        text = self.factor(k)
        text = text if re.fullmatch(r"\w+", text) else f"({text})"
        return text if power == 1 else f"{text}**{power}"


def show_sorted(polynomial: Polynomial, names: Sequence[str]) -> str:
    """A polynomial as text, terms of low degree first."""

    def term(powers: tuple[int, ...], size: Fraction) -> str:
        factors = [name if p == 1 else f"{name}**{p}" for name, p in zip(names, powers, strict=True) if p]
        return "*".join([str(size)] if not factors else [f"({size})"] * (size != 1) + factors).replace("(1)*", "")

    order = sorted(polynomial.items(), key=lambda item: (sum(item[0]), tuple(-p for p in item[0])))
    order = sorted(order, key=lambda item: item[1] < 0) if order[0][1] < 0 else order
    return join_terms((value > 0, term(powers, abs(value))) for powers, value in order)


def join_terms(terms: Iterable[tuple[bool, str]]) -> str:
    """Signed terms as a sum; zero where there are none."""
    text = " ".join(f"{'+' if positive else '-'} {term}" for positive, term in terms)
    return (text[2:] if text.startswith("+ ") else f"-{text[2:]}") if text else "0"


def multiply_text(number: str, thing: str) -> tuple[bool, str]:
    """A number, as text, times something, as a signed term."""
    positive, size = signed(number)
    if size == "1":
        return positive, thing
    bare = re.fullmatch(r"[\w*/]+", size)
    return positive, f"{size if bare else f'({size})'}*{thing}"


def signed(number: str) -> tuple[bool, str]:
    """A number, as text, as a signed term."""
    return (False, number.removeprefix("-")) if _is_negative(number) else (True, number)


def _is_negative(number: str) -> bool:
    """Whether it is one term with a minus before it."""
    depth = 0
    for character in number[1:]:
        depth += (character == "(") - (character == ")")
        if depth == 0 and character in "+-":
            return False
    return number.startswith("-")


@dataclass
class Symbols:
    """Names of leaves; ``taken`` are names with another meaning."""

    taken: set[str]
    common: dict[int, str] = field(default_factory=dict)
    own: dict[int, str] = field(default_factory=dict)
    pairs: dict[int, tuple[int, str]] = field(default_factory=dict)  # common leaf -> deviation, name of both together
    values: dict[int, str] = field(default_factory=dict)

    def unique(self, name: str) -> str:
        """A name that nothing else has."""
        base, k = name, 0
        while name in self.taken:
            k += 1
            name = f"{base}{'p' * k}"
        self.taken.add(name)
        return name

    def introduce(self, name: str, vector: Mapping[str, Mapping[int, bool]]) -> None:
        """Name the leaves that a vector brings in: at most one of each kind, with the factor one (the flag of a leaf)."""
        new = {
            "S": [k for k in vector["S"] if k not in self.common],
            "Q": [k for k in vector["Q"] if k not in self.own],
        }
        if any(len(found) > 1 for found in new.values()) or not (new["S"] or new["Q"]):
            return
        if not all(vector[block][k] for block, found in new.items() for k in found):
            return
        known = sum(map(len, vector.values())) > sum(map(len, new.values()))
        base = name.removesuffix("_i")
        if new["S"] and new["Q"] and not known:
            both = self.unique(f"{base}_i")
            self.common[new["S"][0]] = self.unique(f"bar_{base}")
            self.own[new["Q"][0]] = self.unique(f"tilde_{base}_i")
            self.pairs[new["S"][0]] = new["Q"][0], both
        elif known:
            for k in new["S"]:
                self.common[k] = self.unique(f"hat_bar_{base}" if new["Q"] else f"hat_{base}")
            for k in new["Q"]:
                self.own[k] = self.unique(f"hat_{base}_i")
        elif new["S"]:
            self.common[new["S"][0]] = self.unique(base)
        else:
            self.own[new["Q"][0]] = self.unique(f"{base}_i")

    def name_rest(self, common: int, own: int) -> None:
        """Name the leaves that are left."""
        for k in range(common):
            if k not in self.common:
                self.common[k] = self.unique(f"u{k}")
        for k in range(own):
            if k not in self.own:
                self.own[k] = self.unique(f"d{k}_i")

    def vector(self, parts: LeafVector, text: NumberText) -> str:
        """A combination of leaves; u_i where both of its leaves have one factor."""
        shared, apart = dict(parts["S"]), dict(parts["Q"])
        terms = []
        for k in sorted(shared):
            other = self.pairs.get(k)
            if other and apart.get(other[0]) == shared[k]:
                terms.append(multiply_text(text(shared[k]), other[1]))
                apart.pop(other[0])
            elif shared[k]:
                terms.append(multiply_text(text(shared[k]), self.common[k]))
        terms += [multiply_text(text(apart[k]), self.own[k]) for k in sorted(apart) if apart[k]]
        return join_terms(terms)

    def row(self, row: Mapping[int, FactorSum], block: str, text: NumberText) -> str:
        """A combination of leaves of one kind."""
        names = self.common if block == "S" else self.own
        return join_terms(multiply_text(text(value), names[k]) for k, value in sorted(row.items()) if value)

    def form(self, form: FormEntries, text: NumberText) -> str:
        """A combination of products, averaged over clients where they are of deviations, and of values."""
        terms: dict[str, list[tuple[bool, str]]] = {"S": [], "Q": [], "f": [], "1": []}
        for key, value in form.items():
            if not value:
                continue
            if key[0] == "1":
                terms["1"].append(signed(text(value)))
            elif key[0] == "f":
                terms["f"].append(multiply_text(text(value), self.value(key[1])))
            else:
                names = self.common if key[0] == "S" else self.own
                u, v = names[key[1]], names[key[2]]
                terms[key[0]].append(multiply_text(text(value), f"norm2({u})" if u == v else f"dot({u}, {v})"))
        together = terms["f"] + terms["S"]
        if terms["Q"]:
            together.append((True, f"mean({join_terms(terms['Q'])})"))
        return join_terms(together + terms["1"])

    def value(self, t: int) -> str:
        """The name of a value."""
        if t not in self.values:
            self.values[t] = self.unique(f"v{t}")
        return self.values[t]

"""Formulas of proof scripts as Rocq writes them, in atoms that are the same wherever they occur."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import (
    EULER,
    AtomPolynomial,
    Monomial,
    Quotient,
    base_pieces,
    power_of_atom,
    value_of,
    whole_number_of_rounds,
)
from fedtheory.proofs.checker.formulas import Sentence, read, show_tree, substitute
from fedtheory.proofs.checker.terms import Checker
from fedtheory.proofs.rocq.expressions import ONE, Real, apply, identifier, name, real, total

#: the variable of a sum, and how far it is from the sum's first round
BOUND = ("_", "natural_")


@dataclass
class Formulas:
    """Reads formulas of a term.

    ``quantity`` writes a quantity at a round; ``maxima``: of each maximum that occurs, its two sides as they are written;
    ``roots``: of each root that occurs, as it is written, its atom; ``rooted``: atoms of which roots are written alone;
    ``renamed``: numbers of sequences by the names that they have in one line; ``real_powers``: whether powers with real exponents were written.
    """

    checker: Checker
    quantity: Callable[[str, str], str]
    maxima: dict[str, tuple[ast.expr, ast.expr]] = field(default_factory=dict)
    bound: str = "k"
    renamed: dict[str, str] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    rooted: frozenset[str] = frozenset()
    real_powers: bool = False

    # ---- from trees

    def read(self, tree: ast.expr) -> Real:
        """A formula as its author wrote it; powers that depend on rounds, and sums, in their normal form."""
        return self._read(substitute(tree, self.checker.signature.where))

    def _read(self, tree: ast.expr) -> Real:
        match tree:
            case ast.Constant(value=number):
                return real(Fraction(repr(number)))
            case ast.UnaryOp(op=ast.USub(), operand=part):
                return -self._read(part)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                power = value_of(right).constant()
                if power is not None and power.denominator == 1:
                    return self._read(left) ** int(power)
            case ast.BinOp(left=left, op=sign, right=right):
                a, b = self._read(left), self._read(right)
                match sign:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                return a / b
            case ast.Call(func=ast.Name(id="max"), args=[a, b]):
                found = value_of(tree)
                if found.monomial() is not None and found.constant() is None:
                    (atom,) = found.atoms
                    self.maxima.setdefault(atom, (a, b))
        return self.quotient(value_of(tree))

    def sentence(self, sentence: Sentence) -> str:
        """A sentence without its quantifiers over rounds."""
        left, right = self.read(sentence.left), self.read(sentence.right)
        if sentence.sign == "->":
            along = f"tends_in {identifier(sentence.along)}" if sentence.along else "tends"
            return f"{along} (fun {identifier(sentence.to_infinity)} : nat => {left}) {right.text(9)}"
        said = f"{left.text(69)} {'=' if sentence.sign == '==' else sentence.sign} {right.text(69)}"
        if sentence.exists is None:
            return said
        t, low, high = sentence.exists.variable, sentence.exists.low, sentence.exists.high
        return f"exists {t} : nat, ({self.index(low)} <= {t} <= {self.index(high)})%nat /\\ {said}"

    def index(self, tree: ast.expr) -> str:
        """A whole number of rounds, as Rocq's natural numbers."""
        variables, constant = whole_number_of_rounds(value_of(tree), show_tree(tree))
        if any(k != 1 for k in variables.values()) or (constant < 0 and not variables):
            raise NotAvailable(f"the round {show_tree(tree)} is not written for Rocq")
        shown = " + ".join(self._round(word) for word in sorted(variables)) if variables else "0"
        shown = f"({shown})%nat" if len(variables) > 1 else shown
        if constant < 0:
            for _ in range(-constant):
                shown = f"(Nat.pred {shown})"
            return shown
        if not variables:
            return f"{constant}%nat"
        for _ in range(constant):
            shown = f"(S {shown})"
        return shown

    def _round(self, word: str) -> str:
        return self.bound if word == "_" else identifier(word)

    # ---- from normal forms

    def quotient(self, q: Quotient) -> Real:
        """A quotient of polynomials in atoms; divided by one factor after the other."""
        found = self.polynomial(q.numerator)
        for key, power in sorted(q.below.items(), key=repr):
            for _ in range(power):
                found = found / self.polynomial(dict(key))
        return found

    def polynomial(self, polynomial: AtomPolynomial) -> Real:
        """A sum of terms, those with a plus sign first."""
        return total(
            self._term(at, value)
            for at, value in sorted(polynomial.items(), key=lambda item: (item[1] < 0, repr(item[0])))
        )

    def _term(self, at: Monomial, value: Fraction) -> Real:
        above, below = real(abs(value.numerator)), real(value.denominator)
        for atom, power in at:
            as_root = Fraction(power).denominator == 2 or atom in self.rooted
            own = self.root(atom) if as_root else self.atom(atom)
            whole = power * 2 if as_root else power
            if Fraction(whole).denominator != 1:
                raise NotAvailable(f"{atom} to the power {power} is not written for Rocq")
            above, below = (above * own ** int(whole), below) if power > 0 else (above, below * own ** int(-whole))
        found = above / below
        return found if value > 0 else -found

    @contextmanager
    def rooted_in(self, atoms: Collection[str]) -> Iterator[None]:
        """Write all powers of some atoms as those of their roots, inside."""
        self.rooted, before = frozenset(atoms), self.rooted
        try:
            yield
        finally:
            self.rooted = before

    def root(self, atom: str) -> Real:
        """The square root of an atom; of a power by rounds the power of the base's root, so that later rounds are products."""
        power = power_of_atom(atom)
        if power is not None and power[1] != "1" and self.is_of_rounds(*power):
            base = self.quotient(value_of(read(power[0]))).text(9)
            shown = f"(sqrt {base}) ^ {self._rounds(power[1])}"
        else:
            plain = power is not None and power[1] == "1" and power[0] != EULER
            inside = self.quotient(value_of(read(power[0]))) if power is not None and plain else self.atom(atom)
            shown = f"sqrt {inside.text(9)}"
        self.roots.setdefault(shown, atom)
        return apply(shown)

    def square_of_root(self, shown: str, prove: Callable[[Quotient], str]) -> tuple[str, Quotient]:
        """A proof that a root's square is what it is the root of, from proofs of signs; and this as a formula."""
        atom = self.roots[shown]
        power = power_of_atom(atom)
        if power is not None and power[1] != "1" and self.is_of_rounds(*power):
            base = value_of(read(power[0]))
            inside = self.quotient(base).text(9)
            return f"(power_of_root {inside} {self._rounds(power[1])} {prove(base)})", Quotient.atom(atom)
        plain = power is not None and power[1] == "1" and power[0] != EULER
        q = value_of(read(power[0])) if plain and power else Quotient.atom(atom)
        return f"(pow2_sqrt {shown.removeprefix('sqrt ')} {prove(q)})", q

    def base_of_root(self, shown: str) -> Quotient | None:
        """What a root is taken of whose power it is; None for other roots."""
        power = power_of_atom(self.roots[shown])
        return None if power is None or not shown.startswith("(") else value_of(read(power[0]))

    def is_of_rounds(self, base: str, exponent: str) -> bool:
        """Whether the exponent of a power is a product of rounds, a whole number."""
        known = {*self.checker.signature.rounds, *BOUND}
        return base != EULER and all(word in known for word in exponent.split("*"))

    def _rounds(self, exponent: str) -> str:
        """An exponent that is a product of rounds."""
        shown = [self._round(word) for word in exponent.split("*")]
        return shown[0] if len(shown) == 1 else f"({' * '.join(shown)})%nat"

    def product(self, base: Quotient) -> Real:
        """The base of a power as a product of what it is taken apart into."""
        above, below = ONE, ONE
        for text, power in base_pieces(base):
            whole, own = Fraction(power), self.quotient(value_of(read(text)))
            if whole.denominator == 2:
                whole, own = 2 * whole, self.root(text if power_of_atom(text) else f"({text})**(1)")
            if whole.denominator != 1:
                raise NotAvailable(f"{text} to the power {power} is not written for Rocq")
            above, below = (above * own ** int(whole), below) if power > 0 else (above, below * own ** int(-whole))
        return above / below

    def atom(self, atom: str) -> Real:
        """An atom by itself."""
        own = self.checker.signature
        if atom in self.renamed:
            return name(self.renamed[atom])
        power = power_of_atom(atom)
        if power is not None:
            base, exponent = power
            if self.is_of_rounds(base, exponent):
                return apply(f"{self.quotient(value_of(read(base))).text(9)} ^ {self._rounds(exponent)}")
            self.real_powers = True
            shown = self.quotient(value_of(read(exponent))).text(9)
            if base == EULER:
                return apply(f"exp {shown}")
            return apply(f"Rpower {self.quotient(value_of(read(base))).text(9)} {shown}")
        tree = read(atom)
        match tree:
            case ast.Name(id=word) if word in own.rounds or word in BOUND:
                return apply(f"INR {self._round(word)}")
            case ast.Name(id=word):
                return name(identifier(word))
            case ast.Subscript(value=ast.Name(id=word), slice=index) if word in own.quantities:
                return apply(self.quantity(word, self.index(index)))
            case ast.Subscript(value=ast.Name(id=word), slice=index) if word in own.sequences:
                return apply(f"{identifier(word)} {self.index(index)}")
            case ast.Call(func=ast.Name(id="max"), args=[a, b]):
                a, b = self.maxima.setdefault(atom, (a, b))
                return apply(f"Rmax {self._read(a).text(9)} {self._read(b).text(9)}")
            case ast.Call(func=ast.Name(id="log"), args=[number]):
                return apply(f"ln {self.quotient(value_of(number)).text(9)}")
            case ast.Call(func=ast.Name(id="sum"), args=[body, _, low, high]):
                known = dict(self.roots)
                inside = self.quotient(value_of(body))
                self.roots = known  # those of its terms are no roots of the line
                return apply(f"sum_of (fun {self.bound} : nat => {inside}) {self.index(low)} {self.index(high)}")
        raise NotAvailable(f"{atom} is not written for Rocq")

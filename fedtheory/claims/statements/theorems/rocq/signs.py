"""Signs of formulas for all parameters and rounds, as proofs of Rocq: by halving the region of all atoms (`fedtheory.proofs.rocq.signs`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from fedtheory.claims.statements.theorems.rocq.formulas import Formulas
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import EULER, AtomPolynomial, Quotient, power_of_atom, value_of
from fedtheory.proofs.checker.formulas import read, show_tree, substitute
from fedtheory.proofs.checker.polynomials import Polynomial
from fedtheory.proofs.checker.regions import Ends, _root_powers
from fedtheory.proofs.checker.terms import without_squares
from fedtheory.proofs.rocq.derivations import conjunction
from fedtheory.proofs.rocq.expressions import ONE, ZERO, identifier
from fedtheory.proofs.rocq.settings import NumberRange, NumberSetting
from fedtheory.proofs.rocq.signs import find_trees

_ONE, _WHOLE = Quotient.number(1), Fraction(1)


@dataclass
class Signs:
    """Proofs of signs.

    ``define`` gives data a name; ``positive``: of a quantity, the lines that say that it is at least zero,
    or above it, and of how many rounds on; ``facts``: what is known in a case; ``ranges``: of parameters, as the statement has them.
    """

    formulas: Formulas
    define: Callable[[str, str, str], str]
    positive: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)
    ranges: dict[str, NumberRange] = field(default_factory=dict)

    def prove(self, q: Quotient, strict: bool = False) -> str:
        """A proof that a formula is at least (``strict``: above) zero.

        Raises
        ------
        NotAvailable
            None was found.
        """
        said = f"0 {'<' if strict else '<='} {self.formulas.quotient(q).text(69)}"
        return f"({self._find(q, strict)} : {said})"

    def _find(self, q: Quotient, strict: bool) -> str:
        number = q.constant()
        if number is not None:
            return "ltac:(lra)"
        checker = self.formulas.checker
        roots = {atom for atom, power in _root_powers(q).items() if power > 1}
        for order in checker.domain._orders(q.atoms):
            found = self._on(order, q, strict, roots)
            if found is not None:
                return found
        for fact, word in zip(checker.facts, self.facts, strict=False):
            if not fact.zero and checker.domain.is_positive(q / fact) and not strict:
                return f"(of_product _ _ _ {self.prove(q / fact, strict=True)} {word} ltac:(normal; field; nonzero))"
        rest = without_squares(q)
        squares = (q / rest).settled().monomial() if rest != q else None
        if squares is not None and not strict:
            root = Quotient({tuple((name, Fraction(power) / 2) for name, power in squares[0]): _WHOLE}).settled()
            a, b, c = (self.formulas.quotient(part).text(9) for part in (rest, root, q))
            return (
                f"(product_nonneg {a} ({b} ^ 2) {c} {self.prove(rest)} (pow2_ge_0 {b}) ltac:(normal; field; nonzero))"
            )
        raise NotAvailable(f"the sign of {q.text()} was not shown to Rocq")

    def divisors(self, *quotients: Quotient) -> list[str]:
        """Tactics that pose that what is divided by is above or below zero."""
        found: dict[str, str] = {}
        for q in quotients:
            atoms = {
                (n, Fraction(1, Fraction(power).denominator)) for at in q.numerator for n, power in at if power < 0
            }
            every = [Quotient.atom(n, int(p) if p == 1 else p) for n, p in sorted(atoms)]
            for below in [*every, *(Quotient(dict(key)) for key in q.below)]:
                if below.text() in found:
                    continue
                sign = self.formulas.checker.domain.sign(below)
                if sign is not None and sign.strict:
                    positive = below if sign.direction > 0 else -below
                    found[below.text()] = f"pose proof {self.prove(positive, strict=True)}."
        return list(found.values())

    def setting(self, order: Sequence[tuple[str, Ends]], roots: Collection[str] = ()) -> NumberSetting:
        """Atoms with their ends; of some their roots."""
        ranges = []
        for atom, ends in order:
            if atom in roots:
                high = None if ends.high is None else ONE
                ranges.append(NumberRange(self.formulas.root(atom).parts[0], ZERO, high, ends.low_closed, True))
                continue
            if atom in self.ranges:
                ranges.append(self.ranges[atom])
                continue
            high = None if ends.high is None else self.formulas.quotient(ends.high)
            shown = self.formulas.atom(atom).parts[0]
            ranges.append(NumberRange(shown, self.formulas.quotient(ends.low), high, ends.low_closed, ends.high_closed))
        return NumberSetting(ranges)

    def _on(self, order: Sequence[tuple[str, Ends]], q: Quotient, strict: bool, roots: Collection[str]) -> str | None:
        names = [atom for atom, _ in order]
        if any(ends.high is not None and ends.high.constant() != 1 for atom, ends in order if atom in roots):
            return None
        setting = self.setting(order, roots)
        top = _scaled(q.numerator, roots)
        below = [(_dense(_scaled(dict(key), roots), names), power) for key, power in q.below.items()]
        for polynomial, _ in below:
            setting.factor(polynomial)
        least = {name: min(int(dict(at).get(name, 0)) for at in top) for name in names}
        units: list[tuple[Polynomial, int]] = [
            ({_unit(names, name): Fraction(1)}, power) for name, power in least.items() if power
        ]
        direction, all_strict = 1, True
        for factor, power in [*units, *((p, -power) for p, power in below)]:
            word, _ = setting.sign(factor)
            if word == "Unknown" or (power < 0 and word not in ("Positive", "Negative")):
                return None
            all_strict = all_strict and word in ("Positive", "Negative")
            direction *= (-1 if word in ("Negative", "Nonpositive") else 1) ** abs(power)
        if strict and not all_strict:
            return None
        rest = {tuple(int(dict(at).get(n, 0)) - least[n] for n in names): v for at, v in top.items()}
        trees = find_trees({at: direction * v for at, v in rest.items()}, setting.branches, strict)
        if trees is None:
            return None
        region = [
            piece for atom, ends in order for piece in (self.root_ends if atom in roots else self.ends)(atom, ends)
        ]
        with self.formulas.rooted_in(roots):
            shown_q = self.formulas.quotient(q)
        expression = shown_q.data(setting.place)
        numbers = self.define("numbers", "setting", setting.data())
        word, shown = "true" if strict else "false", f"[{'; '.join(trees)}]"
        proof = (
            f"expression_positive_ok {numbers} [{'; '.join(setting.names)}] (@eq_refl bool true <: setting_ok {numbers} = true) eq_refl\n"
            f"      {conjunction(region)} {word} {expression} {shown}\n"
            f"      (@eq_refl bool true <: expression_positive {numbers} {word} {expression} {shown} = true)"
        )
        plain = self.formulas.quotient(q).text(69)
        if plain == shown_q.text(69):
            return proof
        sign = "<" if strict else "<="
        squares = [self._square_of_root(atom) for atom in sorted(roots)]
        names_of = " ".join(f"root_{k}" for k in range(1, len(squares) + 1))
        facts = "; ".join(f"pose proof {said} as root_{k}" for k, said in enumerate(squares, 1))
        return (
            f"eq_ind _ (fun v : R => 0 {sign} v) ({proof} : 0 {sign} {shown_q.text(69)}) ({plain}) "
            f"ltac:({facts}; normal; field [{names_of}]; nonzero)"
        )

    def _square_of_root(self, atom: str) -> str:
        """A root's square is what it is the root of."""
        return self.formulas.square_of_root(self.formulas.root(atom).parts[0], self.prove)[0]

    def root_ends(self, atom: str, ends: Ends) -> tuple[str, str]:
        """Proofs that the root of an atom lies between its ends."""
        formulas, power = self.formulas, power_of_atom(atom)
        if power is not None and power[1] != "1" and formulas.is_of_rounds(*power):
            base, rounds = value_of(read(power[0])), formulas._rounds(power[1])
            low, high = self._ends_of_root(base, ends.low_closed, ends.high is not None)
            shown = f"(sqrt {formulas.quotient(base).text(9)}) {rounds}"
            under = f"({'pow_le' if ends.low_closed else 'pow_lt'} {shown} {low})"
            nonneg = f"(sqrt_pos {formulas.quotient(base).text(9)})"
            return under, "I" if ends.high is None else f"(pow_at_most {shown} {nonneg} {high})"
        plain = power is not None and power[1] == "1" and power[0] != EULER
        q = value_of(read(power[0])) if plain and power else Quotient.atom(atom)
        return self._ends_of_root(q, ends.low_closed, ends.high is not None)

    def _ends_of_root(self, q: Quotient, closed: bool, at_most_one: bool) -> tuple[str, str]:
        inside = self.formulas.quotient(q).text(9)
        low = f"(sqrt_pos {inside})" if closed else f"(sqrt_lt_R0 {inside} {self.prove(q, strict=True)})"
        if not at_most_one:
            return low, "I"
        return low, f"(sqrt_at_most {inside} ltac:(pose proof {self.prove(_ONE - q)}; lra))"

    def ends(self, atom: str, ends: Ends) -> tuple[str, str]:
        """Proofs that an atom lies between its ends; of no upper end, that there is nothing to prove."""
        high = "I"
        own = self.formulas.checker.signature
        if atom in own.rounds:
            return f"(at_least {own.rounds[atom]} {identifier(atom)} {own.rounds[atom]} eq_refl ltac:(lia))", high
        parameter = next((p for p in own.parameters if p.name == atom), None)
        if parameter is not None:
            word = identifier(atom)
            return f"{word}_low", "I" if ends.high is None else f"{word}_high"
        power = power_of_atom(atom)
        if power is not None:
            return self._ends_of_power(atom, ends, *power)
        tree = read(atom)
        match tree:
            case ast.Subscript(value=ast.Name(id=word), slice=index) if word in own.sequences:
                at = self.formulas.index(index)
                return f"({identifier(word)}_low {at})", "I" if ends.high is None else f"({identifier(word)}_high {at})"
            case ast.Subscript(value=ast.Name(id=word), slice=index) if word in self.positive:
                return self._known(word, index), high
            case ast.Call(func=ast.Name(id="max")):
                a, b = self.formulas.maxima.get(atom, tuple(tree.args))
                return self._at_most_maximum(a, b, ends.low), high
            case ast.Call(func=ast.Name(id="sum"), args=[body, _, begin, end]):
                return self._sum(body, begin, end), high
        if atom == "natural_":
            return "(pos_INR natural_)", high
        raise NotAvailable(f"the range of {atom} is not written for Rocq")

    def _at_most_maximum(self, a: ast.expr, b: ast.expr, low: Quotient) -> str:
        """One of two numbers is at most the larger one; zero is, of a number and the same with the other sign."""
        formulas, sides = self.formulas, (value_of(a), value_of(b))
        written = [formulas.read(part).text(9) for part in (a, b)]
        which = next((k for k, side in enumerate(sides) if (side - low).zero), None)
        if which is None:
            return f"(size_nonneg {' '.join(written)} ltac:(ring))"
        shown, facts = formulas.quotient(low).text(69), self.divisors(low, sides[which])
        same = f"ltac:({''.join(f'{fact.rstrip(chr(46))}; ' for fact in facts)}field; nonzero)"
        side = f"{('Rmax_l', 'Rmax_r')[which]} {' '.join(written)}"
        return f"(Rle_trans ({shown}) {written[which]} _ (Req_le ({shown}) {written[which]} {same}) ({side}))"

    def _sum(self, body: ast.expr, begin: ast.expr, end: ast.expr) -> str:
        """A sum is at least zero where its terms are."""
        formulas, first = self.formulas, int(show_tree(begin))
        known = dict(formulas.roots)
        function = f"(fun {formulas.bound} : nat => {formulas.quotient(value_of(body))})"
        at = ast.BinOp(ast.Constant(first), ast.Add(), ast.Name("natural_", ast.Load()))
        proof = self.prove(value_of(substitute(body, {"_": at})))
        if first:
            proof = f"(eq_ind _ (fun v : R => 0 <= v) {proof} _ ltac:(normal; field; nonzero))"
        formulas.roots = known
        ends = f"{formulas.index(begin)} {formulas.index(end)}"
        return f"(sum_nonneg_from {function} {ends} (fun natural_ : nat => {proof}))"

    def _known(self, word: str, index: ast.expr) -> str:
        """A quantity is at least (or above) zero by a line that says so, of the round itself where there is one."""
        found = self.positive[word]
        lemma, sign, behind = min(found, key=lambda known: known[2])
        at = self.formulas.index(index)
        if not behind:
            return f"({lemma} {at} ltac:(lia))"
        earlier = f"({at} - {behind})%nat"
        later = "(S " * behind + earlier + ")" * behind
        said = f"fun k : nat => 0 {sign} {self.formulas.quantity(word, 'k')}"
        return f"(eq_ind {later} ({said}) ({lemma} {earlier} ltac:(lia)) {at} ltac:(lia))"

    def _ends_of_power(self, atom: str, ends: Ends, base: str, exponent: str) -> tuple[str, str]:
        at, formulas = value_of(read(base)), self.formulas
        if not formulas.is_of_rounds(base, exponent):
            power = value_of(read(exponent))
            real = formulas.quotient(power).text(9)
            if base == EULER:
                return f"(exp_pos {real})", "I"
            shown = f"{formulas.quotient(at).text(9)} {real}"
            if not ends.low.zero:
                return f"(Rpower_at_least {shown} {self._at_least_one(at)} {self.prove(power)})", "I"
            if ends.high is None:
                return f"(Rpower_positive {shown})", "I"
            facts = f"{self.prove(at, strict=True)} {self.prove(_ONE - at)} {self.prove(power)}"
            return f"(Rpower_positive {shown})", f"(Rpower_at_most {shown} {facts})"
        shown, rounds = formulas.quotient(at).text(9), formulas._rounds(exponent)
        if not ends.low.zero:
            return f"(pow_R1_Rle {shown} {rounds} {self._at_least_one(at)})", "I"
        low = f"({'pow_le' if ends.low_closed else 'pow_lt'} {shown} {rounds} {self.prove(at, not ends.low_closed)})"
        if ends.high is None:
            return low, "I"
        return low, f"(pow_at_most {shown} {rounds} {self.prove(at)} ltac:(pose proof {self.prove(_ONE - at)}; lra))"

    def _at_least_one(self, q: Quotient) -> str:
        return f"ltac:(pose proof {self.prove(q - _ONE)}; lra)"


def _unit(names: Sequence[str], name: str) -> tuple[int, ...]:
    return tuple(int(name == other) for other in names)


def _dense(polynomial: dict[tuple[tuple[str, int | Fraction], ...], Fraction], names: Sequence[str]) -> Polynomial:
    return {tuple(int(dict(at).get(name, 0)) for name in names): value for at, value in polynomial.items()}


def _scaled(polynomial: AtomPolynomial, roots: Collection[str]) -> AtomPolynomial:
    """In roots of some atoms."""
    return {
        tuple((name, power * 2 if name in roots else power) for name, power in at): value
        for at, value in polynomial.items()
    }

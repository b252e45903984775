"""Whether a sentence of a proof term can be read: names are known, and nothing is divided by, or a root taken of, what may be zero or negative."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .algebra import Quotient, base_pieces, power_of_atom, value_of, whole_number_of_rounds
from .formulas import Sentence, Unreadable, indexed, quantity_of, read, show_tree, substitute, subtrees
from .proof_lines import ProofLine
from .refusals import TermRefused
from .regions import Domain
from .signature import Signature


class SentenceReader:
    """Reads the sentences of a term; the ``domain`` knows the signs of what they speak of."""

    signature: Signature
    domain: Domain

    def value(self, tree: ast.expr) -> Quotient:
        """A formula as a quotient, with the names of formulas replaced; a sum of it begins at most one behind the least end that it has."""
        found = value_of(tree, self.signature.where)
        for atom in found.atoms:
            for node in subtrees(read(atom)):
                match node:
                    case ast.Call(func=ast.Name(id="sum"), args=[_, _, low, ast.Name(id=end)]):
                        if self.signature.rounds.get(end, -1) < int(show_tree(low)) - 1:
                            raise Unreadable(
                                f"a sum from {show_tree(low)} to {end}, which may be less than {int(show_tree(low)) - 1}"
                            )
        return found

    def gap(self, sentence: Sentence) -> Quotient:
        """Right side less left side."""
        return self.value(sentence.right) - self.value(sentence.left)

    def quantities_in(self, quotient: Quotient) -> frozenset[str]:
        """Atoms that are or contain quantities of rounds."""
        return frozenset(
            a for a in quotient.atoms if any(quantity_of(n) in self.signature.quantities for n in _indexed(a))
        )

    def require_linear(self, line: ProofLine, quotient: Quotient) -> None:
        """Where rounds are drawn quantities are expectations, and E XY is not E X E Y."""
        if not self.signature.drawn:
            return
        for polynomial in (quotient.numerator, *(dict(key) for key in quotient.below)):
            for at in polynomial:
                inside = [(name, power) for name, power in at if self.quantities_in(Quotient.atom(name))]
                bent = any(power != 1 or power_of_atom(n) or n.startswith(("max(", "log(")) for n, power in inside)
                if bent or len(inside) > 1:
                    raise TermRefused(
                        line.name,
                        line.rule,
                        "a line that is linear in quantities, which are expectations",
                        show_briefly(quotient),
                    )
            if polynomial is not quotient.numerator and any(
                self.quantities_in(Quotient.atom(n)) for at in polynomial for n, _ in at
            ):
                raise TermRefused(
                    line.name,
                    line.rule,
                    "a line that is linear in quantities, which are expectations",
                    show_briefly(quotient),
                )

    def require_readable(self, line: ProofLine, sentence: Sentence) -> None:
        """Every name is known, and nothing is divided by, or a root taken of, what may be zero or negative."""
        own = self.signature
        parameters = {p.name for p in own.parameters}
        free = sentence.names - own.where.keys()
        unknown = sorted(free - parameters - own.rounds.keys() - own.wholes.keys())
        if unknown:
            raise TermRefused(
                line.name,
                "reading",
                f"the parameters {', '.join(sorted(parameters | own.wholes.keys()))}, rounds "
                f"{', '.join(own.rounds)}, or names that are explained",
                unknown[0],
            )
        trees = [sentence.left, sentence.right]
        taken = {*parameters, *own.rounds, *own.wholes, *own.quantities, *own.sequences, *own.where}
        if sentence.along in taken:
            raise TermRefused(line.name, "reading", "a name of its own for a set of rounds", sentence.along)
        if sentence.to_infinity and sentence.to_infinity not in own.rounds:
            raise TermRefused(
                line.name, "reading", f"a limit in a round ({', '.join(own.rounds)})", sentence.to_infinity
            )
        if sentence.exists is not None:
            if sentence.exists.variable not in own.rounds:
                raise TermRefused(
                    line.name, "reading", f"'exists' of a round ({', '.join(own.rounds)})", sentence.exists.variable
                )
            trees += [sentence.exists.low, sentence.exists.high]
            least = own.rounds[sentence.exists.variable]
            if not self.domain.is_nonnegative(self.value(sentence.exists.low) - Quotient.number(least)):
                raise TermRefused(
                    line.name, "reading", f"a range in which {sentence.exists.variable} >= {least}", sentence.exists
                )
        for tree in trees:
            self._require_sums(line, tree)
            for quantity in indexed(tree):
                name = quantity_of(quantity)
                if name not in own.quantities and name not in own.sequences:
                    raise TermRefused(
                        line.name,
                        "reading",
                        f"the quantities {', '.join(sorted({*own.quantities, *own.sequences}))}",
                        show_tree(quantity),
                    )
            self.require_defined(line, tree)
        self.require_linear(line, self.gap(sentence))

    def _require_sums(self, line: ProofLine, tree: ast.expr) -> None:
        """Their variables are rounds, from where these begin on."""
        for node in subtrees(tree):
            match node:
                case ast.Call(func=ast.Name(id="sum"), args=[_, ast.Name(id=variable), low, _]):
                    room = self.value(low) - Quotient.number(self.signature.rounds.get(variable, 0))
                    if variable not in self.signature.rounds or not self.domain.is_nonnegative(room):
                        least = ", ".join(f"{name} >= {at}" for name, at in self.signature.rounds.items())
                        expected = (
                            f"sums over rounds that the theorem has ({least}), {variable} among them, from there on"
                        )
                        raise TermRefused(line.name, "reading", expected, show_tree(node))

    def require_defined(self, line: ProofLine, tree: ast.expr) -> None:
        """Divisors are nowhere zero, roots are of what is nowhere negative, and bases of powers are positive where exponents are no whole numbers."""
        for node in subtrees(substitute(tree, self.signature.where)):
            match node:
                case ast.BinOp(op=ast.Div(), right=below):
                    self._require(
                        line, self.domain.is_nonzero, self.value(below), "divisors that are nowhere zero", below
                    )
                case ast.BinOp(op=ast.Pow(), left=base, right=exponent):
                    self._require_power(line, base, exponent)
                case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
                    self._require(
                        line, self.domain.is_nonnegative, self.value(inner), "a root of what is nowhere negative", inner
                    )
                case ast.Call(func=ast.Name(id="log"), args=[inner]):
                    self._require(
                        line, self.domain.is_positive, self.value(inner), "a logarithm of what is above zero", inner
                    )

    def _require(
        self, line: ProofLine, holds: Callable[[Quotient], bool], of: Quotient, expected: str, shown: ast.expr
    ) -> None:
        if not holds(of):
            raise TermRefused(line.name, line.rule, f"{expected}, for all parameters and rounds", show_tree(shown))

    def _require_power(self, line: ProofLine, base: ast.expr, exponent: ast.expr) -> None:
        at = self.value(exponent)
        number = at.constant()
        if number is not None and number.denominator == 1 and number >= 0:
            return
        if number is not None and number.denominator == 1:
            self._require(line, self.domain.is_nonzero, self.value(base), "divisors that are nowhere zero", base)
        elif self._is_whole(at):
            if not self.domain.is_nonnegative(at):
                self._require(line, self.domain.is_nonzero, self.value(base), "divisors that are nowhere zero", base)
        else:
            for text, _ in base_pieces(self.value(base)):
                expected = "a base above zero, and each of its factors, of a power that is not whole"
                self._require(line, self.domain.is_positive, self.value(read(text)), expected, base)

    def _is_whole(self, quotient: Quotient) -> bool:
        try:
            variables, _ = whole_number_of_rounds(quotient, "an exponent")
        except Unreadable:
            return False
        return all(name in self.signature.rounds or name in self.signature.wholes for name in variables)


def _indexed(atom: str) -> list[ast.Subscript]:
    return indexed(read(atom))


def show_briefly(quotient: Quotient) -> str:
    """A formula, cut where it is long."""
    text = quotient.text()
    return text if len(text) <= 300 else f"{text[:300]}..."

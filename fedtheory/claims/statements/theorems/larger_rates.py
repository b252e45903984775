"""Lines with the larger of several numbers on the right side, d[t+1] <= max(A, B)*d[t], that a script gives to a derivation: by cases.

A derivation is about rational functions. Where one number is the largest on a piece of the region, the line goes through the one with this number
in the place of the maximum, which is proved there. Elsewhere each quantity may have a number of its own. From there to the line it takes that
the quantities are not negative.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fedtheory.claims.statements.theorems.claimed_bounds import read_checker
from fedtheory.claims.statements.theorems.potential_scripts import name_line
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import show_tree
from fedtheory.proofs.checker.proof_lines import ProofLine, join_lines
from fedtheory.proofs.checker.rules import name_of_between
from fedtheory.proofs.checker.terms import Checker
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.pieces import Cut, entries_of, find_cut, largest_of
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region

#: scripts that are tried
MOST_SCRIPTS = 12
#: of a maximum that are looked at
EVEN_POWERS = (2, 4, 6, 8)


def list_with_cases(theorem: Theorem) -> Iterator[Theorem]:
    """The theorem with scripts in which such lines go through cases; as it is where there are none."""
    checker = read_checker(theorem)
    lines = join_lines(theorem.proof)
    above_zero = [str(ProofLine.parse(line, theorem.claims).sentence) for line in lines]
    rewritten = []
    for text in lines:
        line = ProofLine.parse(text, theorem.claims)
        maximum = _read_line(theorem, checker, line)
        rewritten.append([text] if maximum is None else [*maximum.scripts(theorem, text, above_zero)])
    for chosen in itertools.islice(itertools.product(*rewritten), MOST_SCRIPTS):
        yield replace(theorem, proof="\n".join(chosen))


@dataclass(frozen=True)
class _Factor:
    """The factor of a quantity, the largest of entries on a region.

    Or c m^(2 j), with m the maximum ``root`` of ``bases``, and the entries c base^(2 j).
    """

    text: str
    entries: Sequence[Expression]
    root: str = ""
    bases: Sequence[Expression] = ()
    c: str = ""
    j: int = 1

    def premises(self, quantity: str, base: Expression, sign: str) -> Iterator[str]:
        """That c m^(2 j) is at least c b^(2 j): the sum over i < j of m^(2 i) b^(2 (j - 1 - i)) times m^2 - b^2 = (m - b)^2 + 2 b (m - b)."""
        less = f"({self.root} - ({base}))"
        for i in range(self.j):
            powers = (self.c, quantity, *self._squares(self.root, i), *self._squares(str(base), self.j - 1 - i))
            weight = "*".join(f"({part})" for part in powers if part)
            yield f"{weight}*square{less}"
            yield f"2*{weight}*{less}*{sign}"

    @staticmethod
    def _squares(text: str, count: int) -> tuple[str, ...]:
        return (f"({text})**{2 * count}",) if count else ()

    def base_of(self, field: ParameterField, chosen: Expression) -> Expression | None:
        """The base of an entry that is not negative on the field's region, so that m is at least as large as it."""
        for base, entry in zip(self.bases, self.entries, strict=bool(self.bases)):
            sign = field.sign(field.read(base))
            if sign is not None and sign.direction > 0 and field.read(entry) == field.read(chosen):
                return base
        return None


@dataclass(frozen=True)
class _Case:
    """A side of a cut, where ``side`` times (root - parameter) is at least zero, and the name of that as a premise."""

    cut: Cut
    side: int
    name: str

    @property
    def room(self) -> str:
        """root - parameter."""
        return f"{self.cut.root} - {self.cut.name}"

    def share_in(self, field: ParameterField, base: Expression) -> str:
        """The premise, with the factor q of base = base(root) + q side (root - parameter)."""
        at_root = field.read(base.substitute({self.cut.name: self.cut.root}))
        q = (field.read(base) - at_root) / (field.read(Expression.parse(self.room)) * self.side)
        return f"({q.expression})*{self.name}"


@dataclass(frozen=True)
class _Maximum:
    """A line's left side, and the factors of its right side by quantity, D[t]; "": of no quantity."""

    line: ProofLine
    region: Region
    factors: Mapping[str, _Factor]

    def scripts(self, theorem: Theorem, text: str, above_zero: list[str]) -> Iterator[str]:
        """The line by cases, in each of the ways to choose numbers, and before it the signs of quantities, where no line says them."""
        signs = []
        for quantity, factor in self.factors.items():
            sign = f"0 <= {quantity}"
            if quantity and len(factor.entries) > 1 and sign not in above_zero:
                above_zero.append(sign)
                signs.append(f"{name_line(theorem, 'sign_' + quantity.partition('[')[0])}: {sign} by derivation")
        begin = text.removesuffix("derivation")
        yield from ("\n".join([*signs, begin + rule]) for rule in self._rules(self.region, ()))

    def _rules(self, region: Region, cases: Sequence[_Case]) -> Iterator[str]:
        """The rule on a piece of the region, which is inside of these cases, in each of the ways."""
        field = ParameterField(region)
        kept = {quantity: largest_of(field, factor.entries) for quantity, factor in self.factors.items()}
        for entries in kept.values():
            cut = find_cut(region, entries)
            if cut is not None:
                below, above = (_Case(cut, side, f"case{len(cases) + 1}" if cases else "case") for side in (1, -1))
                parts = self._rules(cut.first, [*cases, below]), self._rules(cut.second, [*cases, above])
                yield from (f"cases {below.room}: ({one}); ({other})" for one, other in itertools.product(*parts))
                return
        for chosen in itertools.product(*kept.values()):
            yield self._rule(field, dict(zip(kept, chosen, strict=True)), cases)

    def _rule(self, field: ParameterField, chosen: Mapping[str, Expression], cases: Sequence[_Case]) -> str:
        """Through the line with these numbers, and what shows that they are no larger than what is in their places."""
        where = f" on {field.region}" if cases else ""
        terms = (f"({e})*{quantity}" if quantity else str(e) for quantity, e in chosen.items())
        between = f"{show_tree(self.line.sentence.left)} <= {' + '.join(terms)}"
        several = sum(len(factor.entries) > 1 for factor in self.factors.values()) > 1
        before, premises = list[str](), list[str]()
        for quantity, e in chosen.items():
            factor, that = self.factors[quantity], name_of_between(["that"] * len(before))
            base = factor.base_of(field, e)
            if base is not None:
                premises += factor.premises(quantity, base, that)
                used = next((case for case in reversed(cases) if case.cut.name in base.names), None)
                before.append(f"through 0 <= {base}: combine {used.share_in(field, base) if used else ''}; ")
            elif several and len(factor.entries) > 1:
                premises.append(f"{quantity or '1'}*{that}")
                before.append(f"through {e} <= {factor.text}: combine; ")
        last = ", ".join([name_of_between(["that"] * len(before)), *premises])
        rule = f"through {between}: derivation{where}; combine {last}"
        for one in reversed(before):
            rule = f"{one}({rule})"
        return rule


def _read_line(theorem: Theorem, checker: Checker, line: ProofLine) -> _Maximum | None:
    """A line by derivation with a maximum of parameters on the right side; None of other lines."""
    sentence = line.sentence
    if line.rule != "derivation" or line.arguments or sentence.sign != "<=" or sentence.exists:
        return None
    rest, left = checker.value(sentence.right), checker.value(sentence.left)
    if any("max(" in atom for atom in left.atoms) or not any("max(" in atom for atom in rest.atoms):
        return None
    region = Region(tuple(p for p in theorem.all_parameters.fix(dict(sentence.fixed)).parameters if not p.integer))
    numbers = {}
    for quantity in sorted(checker.quantities_in(rest)):
        parts = rest.linear_in(quantity)
        if parts is None:
            return None
        rest, numbers[quantity] = parts
    if not rest.zero:
        numbers[""] = rest
    try:
        return _Maximum(line, region, {name: _read_factor(number, region) for name, number in numbers.items()})
    except InvalidInput:
        return None


def _read_factor(number: Quotient, region: Region) -> _Factor:
    """A number as the maximum of entries, or as that of c base^2.

    Raises
    ------
    InvalidInput
        It is neither, or no number of parameters.
    """
    field = ParameterField(region)
    for atom, power in ((atom, power) for atom in number.atoms if atom.startswith("max(") for power in EVEN_POWERS):
        rest = number / Quotient.atom(atom, power)
        if not any("max(" in other for other in rest.atoms):
            c, bases = rest.text(), entries_of(Expression.parse(atom), "max", field)
            entries = [Expression.parse(f"({c})*({base})**{power}") for base in bases]
            return _Factor(number.text(), entries, atom, bases, c, power // 2)
    return _Factor(number.text(), entries_of(Expression.parse(number.text()), "max", field))

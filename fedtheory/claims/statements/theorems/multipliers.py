"""Multipliers that a combination leaves out: linear equations over rational functions, solved on a support that a linear program proposes.

What is found is text, which the checker reads as if it had been there; nothing here decides.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fedtheory.core.errors import require
from fedtheory.proofs.checker.algebra import Monomial, Quotient
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.checker.terms import Checker, PremiseRow

#: points at which a support is looked for
POINTS = 3
#: coefficients of the unknowns, and what their sum with these is
_Equation: TypeAlias = tuple[list[Any], Any]


def find_factors(checker: Checker, line: ProofLine, want: Quotient, rows: Sequence[PremiseRow]) -> list[str]:
    """Factors of the rows, those that are written among them; what is left of ``want`` speaks of no quantities but those known to be at least zero.

    Raises
    ------
    Refused
        There are none; the message says of which quantity no premise speaks.
    """
    fixed = [None if row.factor is None else checker.value(read(row.factor)) for row in rows]
    rest = want
    for factor, row in zip(fixed, rows, strict=True):
        if factor is not None:
            rest = rest - factor * row.gap
    free = [k for k, factor in enumerate(fixed) if factor is None]
    found = _Equations(checker, line, rest, [rows[k].gap for k in free]).solve(
        [rows[k].sentence.sign != "==" for k in free]
    )
    if found is None:
        missing = checker.quantities_in(rest) - set().union(set(), *(checker.quantities_in(row.gap) for row in rows))
        why = (
            f"no premise speaks of {', '.join(sorted(missing))}" if missing else "no multipliers make both sides equal"
        )
        raise TermRefused(
            line.name, line.rule, f"{line.sentence} from {', '.join(row.name for row in rows) or 'no premise'}", why
        )
    texts = dict(zip(free, found, strict=True))
    return [texts[k] if row.factor is None else row.factor for k, row in enumerate(rows)]


class _Equations:
    """``rest - sum m_k gap_k`` has no quantities, but for what is known to be at least zero.

    Quotients become polynomials over one denominator. Its generators are the atoms, and of an atom with roots the smallest root that occurs.
    """

    def __init__(self, checker: Checker, line: ProofLine, rest: Quotient, gaps: Sequence[Quotient]) -> None:
        self.checker, self.line, self.rest, self.gaps = checker, line, rest, gaps
        self.sympy: Any = require("sympy", "finding multipliers")
        self.is_equality = line.sentence.sign == "=="
        atoms = sorted(set(rest.atoms).union(*(gap.atoms for gap in gaps)))
        self.roots = dict.fromkeys(atoms, 1)  # of an atom: the least common denominator of its powers
        for polynomial in (p for quotient in (rest, *gaps) for p in (quotient.numerator, *map(dict, quotient.below))):
            for name, power in (item for at in polynomial for item in at):
                self.roots[name] = math.lcm(self.roots[name], Fraction(power).denominator)
        self.quantities = [a for a in atoms if checker.quantities_in(Quotient.atom(a))]
        if any(self.roots[a] > 1 for a in self.quantities):
            expected = "every multiplier, 'factor*premise', beside roots and powers of quantities"
            raise TermRefused(line.name, line.rule, expected, "some that are left out")
        self.numbers = [a for a in atoms if a not in self.quantities] if self.quantities else []
        self.chosen = self.quantities or atoms
        self.symbols = {a: self.sympy.Symbol(f"x{k}_", positive=True) for k, a in enumerate(atoms)}
        of_numbers = [self.symbols[a] for a in self.numbers]
        self.domain: Any = self.sympy.QQ[of_numbers] if of_numbers else self.sympy.QQ

    def _polynomials(self, quotients: Sequence[Quotient]) -> list[dict[tuple[int, ...], Any]]:
        """Over one denominator: polynomials in the numbers, by the powers of the atoms that are chosen."""
        below: dict[Any, int] = {}
        for quotient in quotients:
            for key, power in quotient.below.items():
                below[key] = max(below.get(key, 0), power)
        order = [*self.numbers, *self.chosen]
        whole = self.sympy.polys.rings.PolyRing([f"y{k}" for k in range(len(order))], self.sympy.QQ, self.sympy.lex)
        place = {name: k for k, name in enumerate(order)}
        raw = [{self._powers(at, place): v for at, v in quotient.numerator.items()} for quotient in quotients]
        least = [min((0, *(powers[k] for r in raw for powers in r))) for k in range(len(order))]
        keys = {key: self._element(whole, {self._powers(at, place): v for at, v in key}) for key in below}
        found = []
        for quotient, r in zip(quotients, raw, strict=True):
            total = self._element(
                whole, {tuple(p - low for p, low in zip(powers, least, strict=True)): v for powers, v in r.items()}
            )
            for key, power in below.items():
                total = total * keys[key] ** (power - quotient.below.get(key, 0))
            parts: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
            for powers, value in total.items():
                parts.setdefault(powers[len(self.numbers) :], {})[powers[: len(self.numbers)]] = value
            found.append({at: self._number(part) for at, part in parts.items()})
        return found

    def _powers(self, at: Monomial, place: Mapping[str, int]) -> tuple[int, ...]:
        found = [0] * len(place)
        for name, power in at:
            found[place[name]] = int(power * self.roots[name])
        return tuple(found)

    def _number(self, terms: Mapping[tuple[int, ...], Any]) -> Any:
        """A polynomial in the numbers, as an element of their domain."""
        return self.domain.ring.from_dict(terms) if self.numbers else terms[()]

    def _element(self, ring: Any, terms: Mapping[tuple[int, ...], Fraction]) -> Any:
        return ring.from_dict({powers: self.sympy.QQ(v.numerator, v.denominator) for powers, v in terms.items()})

    def _back(self, value: Any) -> str:
        roots = {self.symbols[a]: self.symbols[a] ** self.sympy.Rational(1, self.roots[a]) for a in self.numbers}
        text = str(
            self.sympy.factor(self.domain.get_field().to_sympy(value)).subs(
                {s: root for s, root in roots.items() if s != root}
            )
        )
        for name, symbol in sorted(self.symbols.items(), key=lambda item: -len(str(item[1]))):
            text = text.replace(str(symbol), name if name.isidentifier() or name.endswith("]") else f"({name})")
        return text

    def solve(self, signed: Sequence[bool]) -> list[str] | None:
        """A solution, as texts; None where there is none."""
        if not self.gaps:
            return []
        if not self.chosen:
            return self._of_numbers()
        spare = self._spare()
        signs = [*signed, *(True for _ in spare)]
        rest, *gaps = self._polynomials([self.rest, *self.gaps, *spare])
        rows = sorted({at for part in (rest, *gaps) for at in part}, reverse=True)
        if self.quantities and not self.is_equality:
            rows = [at for at in rows if any(at)]
        zero = self.domain.zero
        equations = [([gap.get(at, zero) for gap in gaps], rest.get(at, zero)) for at in rows]
        for support in self._supports(equations, signs):
            if (values := self._solve_on(equations, support)) is not None:
                return [self._back(values[k]) if k in values else "0" for k in range(len(self.gaps))]
        return None

    def _solve_on(self, equations: Sequence[_Equation], support: Sequence[int]) -> dict[int, Any] | None:
        """The unknowns of a support, as elements of the field of fractions, those that are free zero; None where there are none."""
        field = self.domain.get_field()
        table = [
            [field.convert_from(entry, self.domain) for entry in (*(row[k] for k in support), right)]
            for row, right in equations
        ]
        left = [row for row in table if any(row)]
        if not left:
            return dict.fromkeys(support, field.zero)
        matrix: Any = self.sympy.polys.matrices.DomainMatrix(left, (len(left), len(support) + 1), field)
        reduced, pivots = matrix.rref()
        if len(support) in pivots:
            return None
        values: dict[int, Any] = dict.fromkeys(support, field.zero)
        entries = reduced.to_list()
        for row, pivot in enumerate(pivots):
            values[support[pivot]] = entries[row][-1]
        return values

    def _spare(self) -> list[Quotient]:
        """Monomials of quantities that are known to be at least zero, which may be left over."""
        if not self.quantities or self.is_equality:
            return []
        found: dict[tuple[int, ...], None] = {}
        for quotient in (self.rest, *self.gaps):
            [polynomial] = self._polynomials([quotient])
            for powers in sorted(polynomial, reverse=True):
                atoms = [a for a, p in zip(self.chosen, powers, strict=True) if p]
                if atoms and all(self.checker.is_nonnegative(Quotient.atom(a)) for a in atoms):
                    found[powers] = None
        return [
            Quotient({tuple((a, p) for a, p in zip(self.chosen, powers, strict=True) if p): Fraction(1)})
            for powers in found
        ]

    def _of_numbers(self) -> list[str] | None:
        """Without any symbol: one premise takes all."""
        gap = next((k for k, g in enumerate(self.gaps) if not g.zero), None)
        if gap is None:
            return ["0"] * len(self.gaps)
        return [(self.rest / self.gaps[gap]).text() if k == gap else "0" for k in range(len(self.gaps))]

    def _supports(self, equations: Sequence[_Equation], signed: Sequence[bool]) -> list[tuple[int, ...]]:
        """All unknowns, and before that those of a vertex with the signs that multipliers must have, at some points."""
        from scipy.optimize import linprog

        everything = tuple(range(len(signed)))
        found: list[tuple[int, ...]] = []
        rng = random.Random(0)
        for _ in range(POINTS):
            point = [self.sympy.QQ(rng.randint(1, 30), rng.randint(5, 40)) for _ in self.numbers]

            def at(polynomial: Any, point: Sequence[Any] = point) -> float:
                return float(polynomial(*point) if point else polynomial)

            if not equations:
                break
            rows = np.array([[at(coefficient) for coefficient in row] for row, _ in equations])
            right = np.array([at(right) for _, right in equations])
            bounds = [(0, None) if sign else (None, None) for sign in signed]
            cost = np.where(np.arange(len(signed)) < len(self.gaps), 1.0, 1.5)
            solved = linprog(cost, A_eq=rows, b_eq=right, bounds=bounds)
            if solved.status == 0:
                support = tuple(int(k) for k in np.flatnonzero(np.abs(solved.x) > 1e-9))
                if support not in found:
                    found.append(support)
        return [*found, everything]

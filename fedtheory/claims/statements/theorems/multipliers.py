"""Multipliers that a combination leaves out: linear equations over rational functions, solved on a support that a linear program proposes.

What is found is text, which the checker reads as if it had been there; nothing here decides.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.core.errors import require
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.checker.terms import Checker, PremiseRow, ProofLine

#: points at which a support is looked for
POINTS = 3


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
    system = _Equations(checker, line, rest, [rows[k].gap for k in free])
    try:
        found = system.solve([rows[k].sentence.sign != "==" for k in free])
    except system.sympy.PolynomialError:
        expected = "every multiplier, 'factor*premise', beside roots and powers of quantities"
        raise TermRefused(line.name, line.rule, expected, "some that are left out") from None
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
    """``rest - sum m_k gap_k`` has no quantities, but for what is known to be at least zero."""

    def __init__(self, checker: Checker, line: ProofLine, rest: Quotient, gaps: Sequence[Quotient]) -> None:
        self.checker, self.line = checker, line
        self.sympy: Any = require("sympy", "finding multipliers")
        atoms = sorted(set(rest.atoms).union(*(gap.atoms for gap in gaps)))
        self.symbols = {a: self.sympy.Symbol(f"x{k}_", positive=True) for k, a in enumerate(atoms)}
        self.quantities = [a for a in atoms if checker.quantities_in(Quotient.atom(a))]
        self.rest, self.gaps = self._to(rest), [self._to(gap) for gap in gaps]

    def _to(self, quotient: Quotient) -> Any:
        local = {str(s): s for s in self.symbols.values()}
        return self.sympy.sympify(quotient.text(lambda a: str(self.symbols[a])), locals=local, rational=True)

    def _back(self, expression: Any) -> str:
        text = str(self.sympy.factor(expression))
        for name, symbol in sorted(self.symbols.items(), key=lambda item: -len(str(item[1]))):
            text = text.replace(str(symbol), name if name.isidentifier() or name.endswith("]") else f"({name})")
        return text

    def solve(self, signed: Sequence[bool]) -> list[str] | None:
        """A solution, as texts; None where there is none."""
        if not self.gaps:
            return []
        chosen = [self.symbols[a] for a in self.quantities] or list(self.symbols.values())
        if not chosen:
            return self._of_numbers(signed)
        spare = self._spare(chosen)
        gaps, signs = [*self.gaps, *spare], [*signed, *(True for _ in spare)]
        unknown = [self.sympy.Symbol(f"m{k}_") for k in range(len(gaps))]
        total = self.sympy.together(self.rest - sum(u * gap for u, gap in zip(unknown, gaps, strict=True)))
        parts = self.sympy.Poly(self.sympy.expand(self.sympy.numer(total)), *chosen).terms()
        equality = self.line.sentence.sign == "=="
        equations = [c for powers, c in parts if any(powers) or equality or not self.quantities]
        for support in self._supports(equations, unknown, signs):
            zero = {u: 0 for k, u in enumerate(unknown) if k not in support}
            left = [e for e in (self.sympy.expand(e.subs(zero)) for e in equations) if e != 0]
            asked = [unknown[k] for k in support]
            solved = self.sympy.linsolve(left, asked) if asked else ([()] if not left else None)
            if solved:
                values = [self.sympy.sympify(v).subs(dict.fromkeys(unknown, 0)) for v in next(iter(solved))]
                own = dict(zip(support, values, strict=True))
                return [self._back(own[k]) if k in own else "0" for k in range(len(self.gaps))]
        return None

    def _spare(self, chosen: Sequence[Any]) -> list[Any]:
        """Monomials of quantities that are known to be at least zero, which may be left over."""
        if not self.quantities or self.line.sentence.sign == "==":
            return []
        names = {str(s): a for a, s in self.symbols.items()}
        found: dict[Any, None] = {}
        for expression in (self.rest, *self.gaps):
            for powers, _ in self.sympy.Poly(self.sympy.numer(self.sympy.together(expression)), *chosen).terms():
                atoms = [names[str(s)] for s, p in zip(chosen, powers, strict=True) if p]
                if atoms and all(self.checker.is_nonnegative(Quotient.atom(a)) for a in atoms):
                    found[self.sympy.prod(s**p for s, p in zip(chosen, powers, strict=True))] = None
        return list(found)

    def _of_numbers(self, signed: Sequence[bool]) -> list[str] | None:
        """Without any symbol: one premise takes all."""
        gap = next((k for k, g in enumerate(self.gaps) if g != 0), None)
        if gap is None:
            return ["0"] * len(self.gaps)
        return [str(self.rest / self.gaps[gap]) if k == gap else "0" for k in range(len(self.gaps))]

    def _supports(
        self, equations: Sequence[Any], unknown: Sequence[Any], signed: Sequence[bool]
    ) -> list[tuple[int, ...]]:
        """All unknowns, and before that those of a vertex with the signs that multipliers must have, at some points."""
        from scipy.optimize import linprog

        everything = tuple(range(len(unknown)))
        numbers = [s for a, s in self.symbols.items() if a not in self.quantities]
        found: list[tuple[int, ...]] = []
        rng = random.Random(0)
        for _ in range(POINTS):
            point: Mapping[Any, Any] = {s: Fraction(rng.randint(1, 30), rng.randint(5, 40)) for s in numbers}
            rows, right = [], []
            for e in equations:
                at = self.sympy.Poly(e.subs(point), *unknown) if any(u in e.free_symbols for u in unknown) else None
                rows.append([0.0] * len(unknown) if at is None else [float(at.coeff_monomial(u)) for u in unknown])
                right.append(-float(e.subs(point) if at is None else at.coeff_monomial(1)))
            if not rows:
                break
            bounds = [(0, None) if sign else (None, None) for sign in signed]
            cost = np.where(np.arange(len(unknown)) < len(self.gaps), 1.0, 1.5)
            solved = linprog(cost, A_eq=np.array(rows), b_eq=np.array(right), bounds=bounds)
            if solved.status == 0:
                support = tuple(int(k) for k in np.flatnonzero(np.abs(solved.x) > 1e-9))
                if support not in found:
                    found.append(support)
        return [*found, everything]

"""Formulas as quotients of polynomials in atoms, so that two of them are compared exactly.

Atoms are texts that can be read again: a name ``L``, a quantity ``D[t+1]``, a power ``(rho)**(T)`` whose exponent is no number, a root
``(x)**(1)`` (with a fraction as its exponent in a monomial), a sum ``sum(S[_], _, 1, T)``, ``max(a, b)``, ``log(a)``, ``exp`` as a power of ``e_``.
Monomials have powers of any sign, so that dividing by an atom is a monomial; denominators are polynomials of several terms. Whether what is divided
by can be zero, or a root be taken, is asked elsewhere (`fedtheory.proofs.checker.reader`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from .formulas import Unreadable, exact, names, read, show_tree, substitute
from .polynomials import whole_numbers
from .reading import spend

PowerOfAtom: TypeAlias = int | Fraction
Monomial: TypeAlias = tuple[tuple[str, PowerOfAtom], ...]
AtomPolynomial: TypeAlias = dict[Monomial, Fraction]
Denominators: TypeAlias = dict[tuple[tuple[Monomial, Fraction], ...], int]

#: most terms of a product, terms of a sum that is written out, and largest power
MOST_TERMS, MOST_SUMMANDS, MOST_POWER = 20_000, 100, 60
#: most bits of a number: some 4,000 digits
MOST_BITS = 13_000
#: largest number that is added to a round
MOST_INDEX = 10**9
#: the base of exp
EULER = "e_"
_POWER = re.compile(r"\((.*)\)\*\*\((.*)\)", re.S)


def _times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, _plain(power)) for name, power in powers.items() if power))


def _plain(power: PowerOfAtom) -> PowerOfAtom:
    return int(power) if isinstance(power, Fraction) and power.denominator == 1 else power


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _add(a: AtomPolynomial, b: AtomPolynomial, factor: int = 1) -> AtomPolynomial:
    spend(2 + (len(a) + len(b)) // 4, a.values(), b.values())
    total = dict(a)
    for monomial, value in b.items():
        new = total.get(monomial, 0) + factor * value
        if new:
            total[monomial] = Fraction(new)
        else:
            total.pop(monomial, None)
    return total


def _multiply(a: AtomPolynomial, b: AtomPolynomial) -> AtomPolynomial:
    if len(a) * len(b) > MOST_TERMS:
        raise Unreadable(f"a product of {len(a)} and {len(b)} terms is too long for this checker")
    spend(2 + 2 * len(a) * len(b), a.values(), b.values())
    (first, below_first), (second, below_second) = whole_numbers(a), whole_numbers(b)
    total: dict[Monomial, int] = {}
    for p, x in first.items():
        for q, y in second.items():
            at = _times(p, q)
            total[at] = total.get(at, 0) + x * y
    below = below_first * below_second
    return {at: Fraction(value, below) for at, value in total.items() if value}


def _power(a: AtomPolynomial, n: int) -> AtomPolynomial:
    if n > MOST_POWER and len(a) > 1:
        raise Unreadable(f"a power of {n} is too high for this checker")
    if len(a) == 1:
        ((monomial, value),) = a.items()
        if abs(value) != 1 and _bits(value) * n > MOST_BITS:
            raise Unreadable("a power of a number has too many digits for this checker")
        return {tuple((name, _plain(power * n)) for name, power in monomial) if n else (): value**n}
    total: AtomPolynomial = {(): Fraction(1)}
    for _ in range(n):
        total = _multiply(total, a)
    return total


class Quotient:
    """``numerator / product of denominators``; denominators are monic polynomials of several terms, with their powers."""

    __slots__ = ("below", "numerator")

    def __init__(self, numerator: AtomPolynomial, below: Denominators | None = None) -> None:
        self.numerator, self.below = numerator, below or {}

    @classmethod
    def number(cls, value: int | Fraction) -> Quotient:
        """A number."""
        return cls({(): Fraction(value)} if value else {})

    @classmethod
    def atom(cls, name: str, power: PowerOfAtom = 1) -> Quotient:
        """An atom, or a power of it."""
        return cls({((name, power),): Fraction(1)})

    def _over(self, below: Denominators) -> AtomPolynomial:
        found = self.numerator
        for key, power in below.items():
            found = _multiply(found, _power(dict(key), power - self.below.get(key, 0)))
        return found

    def __add__(self, other: Quotient, factor: int = 1) -> Quotient:
        if not self.below and not other.below:
            return Quotient(_add(self.numerator, other.numerator, factor))
        below = {key: max(self.below.get(key, 0), other.below.get(key, 0)) for key in {**self.below, **other.below}}
        return Quotient(_add(self._over(below), other._over(below), factor), below).settled()

    def __sub__(self, other: Quotient) -> Quotient:
        return self.__add__(other, -1)

    def __neg__(self) -> Quotient:
        return Quotient({at: -value for at, value in self.numerator.items()}, self.below)

    def __mul__(self, other: Quotient) -> Quotient:
        below = dict(self.below)
        for key, power in other.below.items():
            below[key] = below.get(key, 0) + power
        return Quotient(_multiply(self.numerator, other.numerator), below).settled()

    def __truediv__(self, other: Quotient) -> Quotient:
        if self.below and self.below == other.below:
            return Quotient(self.numerator) * Quotient(other.numerator).inverse()
        return self * other.inverse()

    def inverse(self) -> Quotient:
        """One over it."""
        if not self.numerator:
            raise Unreadable("a formula divides by zero")
        least, lead, key = _monic(self.numerator)
        top = {tuple((name, -power) for name, power in least): 1 / lead}
        below = {key: 1} if len(key) > 1 else {}
        for key, power in self.below.items():
            top = _multiply(top, _power(dict(key), power))
        return Quotient(top, below).settled()

    def __pow__(self, n: int) -> Quotient:
        if n < 0:
            return self.inverse() ** -n
        return Quotient(
            _power(self.numerator, n), {key: power * n for key, power in self.below.items()} if n else {}
        ).settled()

    def settled(self) -> Quotient:
        """Whole powers of roots written out, and denominators cancelled that are all that stands above."""
        for monomial, value in self.numerator.items():
            for name, power in monomial:
                base = _root_of(name)
                if base is not None and not 0 <= power < 1:
                    whole = power.numerator // power.denominator
                    rest = Quotient({at: v for at, v in self.numerator.items() if at != monomial}, self.below)
                    left = Quotient({_times(monomial, ((name, -whole),)): value}, self.below)
                    return left * base**whole + rest.settled()
        if self.below:
            return self._cancelled()
        return self

    def _cancelled(self) -> Quotient:
        if not self.numerator:
            return Quotient({})
        least, lead, key = _monic(self.numerator)
        if len(key) > 1 and key in self.below:
            below = {k: p - (k == key) for k, p in self.below.items() if p - (k == key)}
            return Quotient({least: lead}, below)
        return self

    @property
    def zero(self) -> bool:
        """Whether it is the number zero."""
        return not self.numerator

    @property
    def atoms(self) -> frozenset[str]:
        """The atoms that occur in it."""
        polynomials: list[Iterable[Monomial]] = [self.numerator, *([at for at, _ in key] for key in self.below)]
        return frozenset(name for polynomial in polynomials for monomial in polynomial for name, _ in monomial)

    def constant(self) -> Fraction | None:
        """The number that it is, or None."""
        if self.below or any(monomial for monomial in self.numerator):
            return None
        return self.numerator.get((), Fraction(0))

    def monomial(self) -> tuple[Monomial, Fraction] | None:
        """The one term that it is, or None."""
        if self.below or len(self.numerator) != 1:
            return None
        ((monomial, value),) = self.numerator.items()
        return monomial, value

    def linear_in(self, name: str) -> tuple[Quotient, Quotient] | None:
        """(a, b) where it is a + b times an atom, and neither speaks of it; or None."""
        if any(part == name for key in self.below for at, _ in key for part, _ in at):
            return None
        with_it = {at: value for at, value in self.numerator.items() if any(part == name for part, _ in at)}
        if any(power != 1 for at in with_it for part, power in at if part == name):
            return None
        rest = {at: value for at, value in self.numerator.items() if at not in with_it}
        slope = {tuple(item for item in at if item[0] != name): value for at, value in with_it.items()}
        return Quotient(rest, self.below), Quotient(slope, self.below)

    def text(self, rename: Callable[[str], str] = lambda name: name) -> str:
        """A formula that reads as the same; atoms may be renamed."""
        above = _show_polynomial(self.numerator, rename)
        if not self.below:
            return above
        below = "*".join(
            f"({_show_polynomial(dict(key), rename)})" + (f"**{power}" if power > 1 else "")
            for key, power in sorted(self.below.items(), key=repr)
        )
        return f"({above})/({below})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quotient) and (self - other).zero

    __hash__ = None  # type: ignore[assignment]


def _in_order(item: tuple[Monomial, Fraction]) -> Monomial:
    return item[0]


def _monic(polynomial: AtomPolynomial) -> tuple[Monomial, Fraction, tuple[tuple[Monomial, Fraction], ...]]:
    """A polynomial as a monomial, a number and what is left, in an order of its own and with 1 before its first term."""
    least = _least_powers(polynomial)
    away = tuple((name, -power) for name, power in least)
    items = sorted(((_times(at, away), value) for at, value in polynomial.items()), key=_in_order)
    lead = items[0][1]
    return least, lead, tuple((at, value / lead) for at, value in items)


def _least_powers(polynomial: AtomPolynomial) -> Monomial:
    """The largest monomial that all terms have."""
    every = {name for at in polynomial for name, _ in at}
    least = {name: min(dict(at).get(name, 0) for at in polynomial) for name in every}
    return tuple(sorted((name, power) for name, power in least.items() if power))


def _show_polynomial(polynomial: AtomPolynomial, rename: Callable[[str], str]) -> str:
    spend(len(polynomial))
    if any(_bits(value) > MOST_BITS for value in polynomial.values()):
        raise Unreadable("a number has too many digits for this checker")
    terms = []
    for monomial, value in sorted(polynomial.items(), key=_in_order):
        factors = [_show_power(rename(name), power) for name, power in monomial]
        size = f"({value})" if value < 0 or value.denominator != 1 else str(value)
        terms.append("*".join([size, *factors] if value != 1 or not factors else factors))
    return " + ".join(terms) or "0"


def _show_power(name: str, power: PowerOfAtom) -> str:
    if power == 1:
        return name
    return f"{name}**({power})" if re.fullmatch(r"\w+(\[[^\]]*\])?|\w+\(.*\)", name, re.S) else f"({name})**({power})"


# ---- atoms -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=10_000)
def _root_of(name: str) -> Quotient | None:
    """What a root atom is the root of; None for other atoms."""
    found = _POWER.fullmatch(name)
    if found is None or found[2] != "1" or found[1] == EULER:
        return None
    return value_of(read(found[1]))


@lru_cache(maxsize=10_000)
def names_of_atom(name: str) -> frozenset[str]:
    """Free names of an atom."""
    return names(read(name)) - {EULER}


def power_of_atom(name: str) -> tuple[str, str] | None:
    """Base and exponent of a power or root, as texts."""
    found = _POWER.fullmatch(name)
    if found is None:
        return None
    depth = 0
    for end, letter in enumerate(name):  # a base or an exponent may be made of powers
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return name[1:end], name[end + 4 : -1]
    return None


def whole_number_of_rounds(quotient: Quotient, what: str) -> tuple[dict[str, int], int]:
    """A sum of variables with whole coefficients, and a whole constant: ``t + 1`` is ``({"t": 1}, 1)``.

    Raises
    ------
    Unreadable
        It is something else.
    """
    plain = not quotient.below and all(
        value.denominator == 1 and sum(power for _, power in at) <= 1 and all(p == 1 for _, p in at)
        for at, value in quotient.numerator.items()
    )
    if not plain:
        raise Unreadable(f"{what} is not a whole number of rounds")
    constant = int(quotient.numerator.get((), 0))
    if abs(constant) > MOST_INDEX:
        raise Unreadable(f"{what[:80]} is a number of rounds beyond {MOST_INDEX}")
    return {at[0][0]: int(value) for at, value in quotient.numerator.items() if at}, constant


def write_index(variables: Mapping[str, int], constant: int) -> str:
    """``t+1``, from its variables and constant."""
    pieces = [f"{'+' if c > 0 else '-'}{'' if abs(c) == 1 else f'{abs(c)}*'}{v}" for v, c in sorted(variables.items())]
    body = "".join(pieces).lstrip("+")
    return f"{body}{constant:+d}" if body and constant else body or str(constant)


# ---- from trees ------------------------------------------------------------------------------------------------------


def value_of(tree: ast.expr, where: Mapping[str, ast.expr] | None = None) -> Quotient:
    """A formula as a quotient of polynomials in atoms.

    Parameters
    ----------
    where : formulas that names stand for

    Raises
    ------
    Unreadable
        It has a power, an index or a sum that this algebra does not have, or divides by zero.
    """
    return _value(substitute(tree, where) if where else tree)


def _value(tree: ast.expr) -> Quotient:
    match tree:
        case ast.Constant():
            return Quotient.number(exact(tree))
        case ast.Name(id=name):
            return Quotient.atom(f"({EULER})**(1)" if name == EULER else name)
        case ast.UnaryOp(operand=inner):
            return -_value(inner)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _raise(_value(left), _value(right), show_tree(tree))
        case ast.BinOp(left=left, op=sign, right=right):
            a, b = _value(left), _value(right)
            match sign:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
            return a / b
        case ast.Subscript(value=ast.Name(id=name), slice=inner):
            return Quotient.atom(f"{name}[{write_index(*whole_number_of_rounds(_value(inner), show_tree(inner)))}]")
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, args, tree)
    raise Unreadable(f"{show_tree(tree)!r} cannot stand in a formula")


def _call(name: str, args: list[ast.expr], tree: ast.expr) -> Quotient:
    if name == "sum":
        return _sum(args[0], args[1], args[2], args[3])
    parts = [_value(part) for part in args]
    if name == "sqrt":
        return _raise(parts[0], Quotient.number(Fraction(1, 2)), show_tree(tree))
    if name == "exp":
        return _raise(Quotient.atom(f"({EULER})**(1)"), parts[0], show_tree(tree))
    if name == "log":
        return Quotient.atom(f"log({parts[0].text()})")
    if name == "abs":
        return _maximum(parts[0], -parts[0])
    if name == "min":
        return -_maximum(-parts[0], -parts[1])
    if name == "max":
        return _maximum(parts[0], parts[1])
    raise Unreadable(f"{name!r} is no function of formulas")


def _maximum(a: Quotient, b: Quotient) -> Quotient:
    difference = (a - b).constant()
    if difference is not None:
        return a if difference >= 0 else b
    return Quotient.atom(f"max({', '.join(sorted((a.text(), b.text())))})")


def _raise(base: Quotient, exponent: Quotient, what: str) -> Quotient:
    """A power; its exponent is a sum of rational multiples of products of whole powers of names."""
    number = exponent.constant()
    if number is not None and number.denominator == 1:
        return base ** int(number)
    if exponent.below or any(
        not -MOST_POWER <= p <= MOST_POWER or p != int(p) for at in exponent.numerator for _, p in at
    ):
        raise Unreadable(
            f"the exponent of {what} has a sum below, or roots; let it be a parameter, as k is with mu = k*(L + mu)"
        )
    if base.constant() == 1:
        return Quotient.number(1)
    total = Quotient.number(1)
    for at, factor in exponent.numerator.items():
        total = total * (_named_power(base, exponent_of(at), factor) if at else _number_power(base, factor))
    return total


def exponent_of(monomial: Iterable[tuple[str, PowerOfAtom]]) -> str:
    """A product of whole powers of names as it stands in exponents: ``1/L*N*mu`` is N mu/L."""
    return "*".join(
        sorted(name if power > 0 else f"1/{name}" for name, power in monomial for _ in range(abs(int(power))))
    )


def multiply_exponents(a: str, b: str) -> str:
    """Their product; "" where it is one."""
    powers: dict[str, int] = {}
    for word in (*a.split("*"), *b.split("*")):
        name = word.removeprefix("1/")
        powers[name] = powers.get(name, 0) + (1 if name == word else -1)
    return exponent_of((name, power) for name, power in powers.items() if name not in ("", "1"))


def _number_power(base: Quotient, power: Fraction) -> Quotient:
    """A power by a number that is not whole; of powers the exponents are multiplied."""
    if _is_of_powers(base):
        ((at, _),) = base.numerator.items()
        return Quotient({tuple((name, _plain(p * power)) for name, p in at): Fraction(1)}).settled()
    return Quotient.atom(f"({base.text()})**(1)", power).settled()


def _is_of_powers(base: Quotient) -> bool:
    one = base.monomial()
    return one is not None and one[1] == 1 and all(power_of_atom(name) for name, _ in one[0])


def _named_power(base: Quotient, unit: str, factor: Fraction) -> Quotient:
    """``base**(factor * unit)``, its base taken apart (`base_pieces`) where the factor is whole or powers are raised."""
    if base.zero:
        raise Unreadable("zero to a power that is no number")
    if factor.denominator != 1 and not _is_of_powers(base):
        return Quotient.atom(f"({base.text()})**({unit})", _plain(factor))
    total = Quotient.number(1)
    for text, power in base_pieces(base):
        inner, own = power_of_atom(text) or (text, "1")
        both = unit if own == "1" else multiply_exponents(own, unit)
        number = Fraction(power) * factor
        if both:
            total = total * Quotient.atom(f"({inner})**({both})", _plain(number))
        else:
            total = total * _raise(value_of(read(inner)), Quotient.number(number), inner)
    return total


def base_pieces(base: Quotient) -> list[tuple[str, PowerOfAtom]]:
    """What the base of a power is taken apart into: formulas and their powers. Of a power that is not whole each must be above zero."""
    least, lead, key = _monic(base.numerator)
    pieces: list[tuple[str, PowerOfAtom]] = [*least, (str(abs(lead.numerator)), 1), (str(lead.denominator), -1)]
    pieces.append(("-1", 1 if lead < 0 else 0))
    pieces += [
        (Quotient(dict(part)).text(), power) for part, power in ((key, 1), *((k, -p) for k, p in base.below.items()))
    ]
    return [(text, power) for text, power in pieces if text != "1" and power]


def _sum(body: ast.expr, variable: ast.expr, low: ast.expr, high: ast.expr) -> Quotient:
    """A sum from a number to a round; what does not speak of its variable stands before it."""
    if not isinstance(variable, ast.Name):
        raise Unreadable(f"{show_tree(variable)!r} is no variable of a sum")
    starts, first = whole_number_of_rounds(_value(low), show_tree(low))
    ends, last = whole_number_of_rounds(_value(high), show_tree(high))
    if starts or len(ends) > 1 or any(factor != 1 for factor in ends.values()):
        raise Unreadable("a sum goes from a number to a round, as in sum(D[t], t, 1, T+1)")

    def at(tree: ast.expr) -> Quotient:
        return _value(substitute(body, {variable.id: tree}))

    if abs(last if ends else last - first) > MOST_SUMMANDS:
        raise Unreadable(f"a sum of more than {MOST_SUMMANDS} terms is not written out")
    total = Quotient.number(0)
    if not ends:
        if last < first - 1:
            raise Unreadable("a sum ends before it starts")
        for k in range(first, last + 1):
            total = total + at(ast.Constant(k))
        return total
    (end,) = ends
    total = _linear_sum(at(ast.Name("_", ast.Load())), first, end)
    for k in range(1, last + 1):
        total = total + at(read(f"{end}+{k}"))
    for k in range(-last):
        total = total - at(read(f"{end}-{k}" if k else end))
    return total


def _linear_sum(body: Quotient, first: int, end: str) -> Quotient:
    inside = [key for key in body.below if any("_" in names_of_atom(name) for at, _ in key for name, _ in at)]
    before = Quotient({(): Fraction(1)}, {key: power for key, power in body.below.items() if key not in inside})
    within = {key: body.below[key] for key in inside}
    total = Quotient.number(0)
    groups: dict[Monomial, AtomPolynomial] = {}
    for at, factor in body.numerator.items():
        outer = tuple(item for item in at if "_" not in names_of_atom(item[0]))
        inner = tuple(item for item in at if item not in outer)
        if within:  # one sum for all terms over a common denominator that speaks of the variable
            groups.setdefault(outer, {})[inner] = factor
        else:
            total = total + Quotient({outer: factor}) * _sum_atom(Quotient({inner: Fraction(1)}), first, end)
    for outer, polynomial in groups.items():
        total = total + Quotient({outer: Fraction(1)}) * _sum_atom(Quotient(polynomial, within), first, end)
    return total * before


def _sum_atom(body: Quotient, first: int, end: str) -> Quotient:
    if body.constant() == 1:
        return Quotient.atom(end) + Quotient.number(1 - first)
    return Quotient.atom(f"sum({body.text()}, _, {first}, {end})")

"""A stored derivation that holds for all parameters of a region, checked with Python's whole numbers and nothing else.

A derivation states: for all parameters of the *region*, whenever the *hypotheses* ``form <= 0`` hold and every pair of the listed
*evaluations* (x, g, f) satisfies the interpolation inequality of its function's class, the *conclusion* ``form <= 0`` holds; in any dimension
and, where vectors have deviations between clients, for any number of clients. Forms are linear in S (the Gram matrix of what clients have in
common), Q (of their deviations, averaged over clients) and the values. Proof:

    conclusion - sum_c multiplier_c * inequality_c  =  constant - sum_k pivot_k <row_k row_k^T, S or Q>

with multipliers >= 0, constant <= 0 and pivots >= 0 on the whole region. Every number is a product of a fraction and powers of the listed
*factors*, polynomials in the parameters with fractions as coefficients; so that sums are zero exactly if a polynomial is. Signs: with

    x = low + t    or    x = (low + high t) / (1 + t),        t in (0, oo), closed where the region is,

a factor becomes P(t)/D(t), both in Bernstein's form on [0, 1]^k (u = t/(1 + t)); coefficients of one sign prove the sign, boxes are halved where
they are not. What stands in a denominator, to whatever power, must not vanish on the region. The interpolation inequalities are written down
here; names and other text decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .polynomials import Polynomial, add, add_to, multiply, one
from .ranges import CheckedRegion, FactorSum, Range
from .reading import COUNT, MOST_STEPS, StepCount, counting, read_count, read_name, read_number, require_fields, spend
from .refusals import NotChecked, Refused

LeafVector = dict[str, dict[int, FactorSum]]
FormEntries = dict[tuple[Any, ...], FactorSum]  # ("S", i, j), ("Q", i, j), ("f", t), ("1",) -> coefficient

DERIVATION_FORMAT = "fedtheory derivation 1"
MOST_LEAVES, MOST_PARAMETERS, MOST_POWER = 200, 8, 100
_DERIVATION = (
    *("format", "parameters", "factors", "functions", "hypotheses", "conclusion", "multipliers", "constant"),
    *("pivots", "mean", "deviation"),
)


def _read_polynomial(terms: Any, width: int) -> Polynomial:
    found: Polynomial = {}
    for value, powers in terms:
        at = tuple(read_count(p) for p in powers)
        if len(at) != width or at in found or max(at, default=0) > MOST_POWER:
            raise ValueError("the powers of a polynomial's term do not fit the parameters")
        found[at] = read_number(value)
    found = {powers: value for powers, value in found.items() if value}
    if not found:
        raise ValueError("a factor is zero")
    return found


@dataclass(frozen=True)
class Reader:
    """Reads numbers ``"1/3"`` or ``["1/3", {"0": 2, "1": -1}]``: a fraction times powers of factors."""

    factors: int
    denominators: set[int] = field(default_factory=set)

    def number(self, value: Any) -> FactorSum:
        """One product."""
        spend(1)
        powers = [0] * self.factors
        if isinstance(value, list):
            value, given = value
            for k, power in given.items():
                at = read_count(k)
                if (
                    at >= self.factors
                    or isinstance(power, bool)
                    or not isinstance(power, int)
                    or abs(power) > MOST_POWER
                ):
                    raise ValueError(f"factor {ascii(k)[:40]} to the power {ascii(power)[:40]} does not exist")
                powers[at] = power
                if power < 0:
                    self.denominators.add(at)
        size = read_number(value)
        return {tuple(powers): size} if size else {}

    def range(self, data: Any) -> Range:
        """One parameter."""
        high = None if data["high"] is None else self.number(data["high"])
        require_fields(data, ("name", "low", "high", "low closed", "high closed"), "a parameter")
        closed = (data["low closed"], data["high closed"])
        if not all(isinstance(end, bool) for end in closed):
            raise TypeError("whether an end is closed is neither true nor false")
        return Range(read_name(data["name"]), self.number(data["low"]), high, closed)

    def vector(self, parts: Any) -> LeafVector:
        """Coefficients on the leaves of both matrices."""
        require_fields(parts, ("S", "Q"), "a vector")
        return {
            matrix: {read_count(leaf): self.number(value) for leaf, value in parts.get(matrix, {}).items()}
            for matrix in ("S", "Q")
        }

    def form(self, form: Any) -> FormEntries:
        """``{"S": {"i,j": q}, "Q": {...}, "f": {"t": q}, "1": q}``; an entry i < j stands for the sum of both."""
        found: FormEntries = {}
        require_fields(form, ("S", "Q", "f", "1"), "a form")
        for matrix in ("S", "Q"):
            for key, value in form.get(matrix, {}).items():
                i, j = (read_count(k) for k in key.split(","))
                found[(matrix, i, j)] = self.number(value)
        for t, value in form.get("f", {}).items():
            found[("f", read_count(t))] = self.number(value)
        found[("1",)] = self.number(form.get("1", 0))
        return found

    def pivot(self, data: Any) -> tuple[FactorSum, dict[int, FactorSum]]:
        """A pivot with its row."""
        require_fields(data, ("pivot", "row"), "a pivot")
        return self.number(data["pivot"]), {read_count(k): self.number(v) for k, v in data["row"].items()}

    def function(self, data: Any) -> StoredFunction:
        """A class and evaluations."""
        require_fields(data, ("L", "mu", "evaluations"), "a function")
        for e in data["evaluations"]:
            require_fields(e, ("x", "g", "f"), "an evaluation")
        evaluations = tuple(
            (self.vector(e["x"]), self.vector(e["g"]), {read_count(t): self.number(c) for t, c in e["f"].items()})
            for e in data["evaluations"]
        )
        return StoredFunction(
            evaluations, None if data["L"] is None else self.number(data["L"]), self.number(data["mu"])
        )


@dataclass(frozen=True)
class StoredFunction:
    """Evaluations (x, g, coefficients of the value) and the class: L (None: not smooth) and mu."""

    evaluations: tuple[Any, ...]
    L: FactorSum | None
    mu: FactorSum


def times(a: FactorSum, b: FactorSum, work: StepCount) -> FactorSum:
    """The product of two numbers."""
    return multiply(a, b, work)


def interpolation(function: StoredFunction, i: int, j: int, unit: FactorSum, work: StepCount) -> FormEntries:
    """The inequality of evaluations i and j (Taylor, Hendrickx, Glineur 2017, Theorem 4), times 2 (L - mu) for smooth functions.

    f_j - f_i + <g_j, x_i - x_j> + (||dg||^2 + mu L ||dx||^2 - 2 mu <dg, dx>) / (2 (L - mu)) <= 0 ;  without L: the first three terms.
    The factor is positive, and with it nothing is divided. ``unit`` is the number one.
    """
    (xi, gi, fi), (xj, gj, fj) = function.evaluations[i], function.evaluations[j]
    scale = unit if function.L is None else add({}, add(function.L, function.mu, Fraction(-1)), Fraction(2))
    form: FormEntries = {}

    def put(key: tuple[Any, ...], value: FactorSum) -> None:
        add_to(form.setdefault(key, {}), value)

    for values, sign in ((fj, 1), (fi, -1)):
        for t, value in values.items():
            put(("f", t), times(scale, {p: sign * v for p, v in value.items()}, work))
    dx, dg = _difference(xi, xj), _difference(gi, gj)
    terms: list[tuple[LeafVector, LeafVector, FactorSum]] = [(gj, dx, scale)]
    if function.L is not None:
        terms += [
            (dg, dg, unit),
            (dx, dx, times(function.mu, function.L, work)),
            (dg, dx, add({}, function.mu, Fraction(-2))),
        ]
    for u, v, factor in terms:
        for matrix in ("S", "Q"):
            for p, a in u[matrix].items():
                for q, b in v[matrix].items():
                    put((matrix, min(p, q), max(p, q)), times(factor, times(a, b, work), work))
    return form


def _difference(u: LeafVector, v: LeafVector) -> LeafVector:
    return {
        matrix: {
            leaf: add(u[matrix].get(leaf, {}), v[matrix].get(leaf, {}), Fraction(-1))
            for leaf in {*u[matrix], *v[matrix]}
        }
        for matrix in ("S", "Q")
    }


@dataclass(frozen=True)
class StoredDerivation:
    """A derivation as it was read: the statement, and its proof (multipliers, constant, pivots with their rows)."""

    ranges: tuple[Range, ...]
    factors: tuple[Polynomial, ...]
    denominators: frozenset[int]
    functions: dict[str, StoredFunction]
    hypotheses: dict[str, FormEntries]
    conclusion: FormEntries
    multipliers: dict[str, FactorSum]
    constant: FactorSum
    pivots: dict[str, list[tuple[FactorSum, dict[int, FactorSum]]]]
    sizes: dict[str, int]


def _read(data: Any) -> StoredDerivation:
    """All of it, and nothing besides."""
    if data["format"] != DERIVATION_FORMAT:
        raise ValueError(f"its format is not {DERIVATION_FORMAT!r}")
    require_fields(data, _DERIVATION, "the derivation")
    require_fields(data["pivots"], ("S", "Q"), "pivots")
    width = len(data["parameters"])
    if width > MOST_PARAMETERS:
        raise ValueError(f"more than {MOST_PARAMETERS} parameters")
    factors = tuple(_read_polynomial(terms, width) for terms in data["factors"])
    reader = Reader(len(factors))
    ranges = tuple(map(reader.range, data["parameters"]))
    if len({part.name for part in ranges}) < width:
        raise ValueError("two parameters have one name")
    functions = {read_name(name): reader.function(f) for name, f in data["functions"].items()}
    hypotheses = {read_name(name): reader.form(form) for name, form in data["hypotheses"].items()}
    conclusion = reader.form(data["conclusion"])
    multipliers = {read_name(name): reader.number(value) for name, value in data["multipliers"].items()}
    constant = reader.number(data["constant"])
    pivots = {matrix: list(map(reader.pivot, data["pivots"][matrix])) for matrix in ("S", "Q")}
    sizes = {"S": read_count(data["mean"]), "Q": read_count(data["deviation"])}
    if max(sizes.values()) > MOST_LEAVES:
        raise ValueError(f"a Gram matrix of more than {MOST_LEAVES} vectors")
    denominators = frozenset(reader.denominators)
    return StoredDerivation(
        *(ranges, factors, denominators, functions, hypotheses, conclusion, multipliers, constant, pivots, sizes)
    )


def check_derivation(data: dict[str, Any], most_steps: int = MOST_STEPS) -> CheckedRegion:
    """Return the region on which the derivation proves its conclusion.

    Multipliers of interpolation inequalities (named ``function i j``) of smooth functions are those of the inequality times 2 (L - mu).

    Raises
    ------
    Refused
        A step of the proof fails, or the region is empty.
    NotChecked
        It is malformed, or takes too many steps.
    """
    with counting(most_steps) as work:
        return _check(data, work)


def _check(data: dict[str, Any], work: StepCount) -> CheckedRegion:
    try:
        read = _read(data)
    except Refused:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise NotChecked(f"the derivation is malformed: {type(error).__name__} {error}") from error
    region = CheckedRegion(read.ranges, read.factors, work)
    region.require_points()
    for k in sorted(read.denominators):
        region.require_nonzero(k)
    for name, function in read.functions.items():
        _require_class(name, function, region)
    for name in read.hypotheses:
        if name.split()[0] in read.functions:
            raise Refused(
                f"the hypothesis {name!r} has the name of an interpolation inequality, which the checker writes down itself"
            )
    left = _combine(read, region)
    for key, number in left.items():
        if key[0] in ("S", "Q") and not 0 <= key[1] <= key[2] < read.sizes[key[0]]:
            raise Refused(f"entry {key[1]}, {key[2]} lies outside the block {key[0]} of size {read.sizes[key[0]]}")
        if not region.is_zero(number):
            what = {"f": "value number", "1": "the constant"}.get(key[0], f"entry of {key[0]}")
            raise Refused(f"the identity fails: {what} {', '.join(map(str, key[1:]))} does not balance")
    return region


def _combine(read: StoredDerivation, region: CheckedRegion) -> FormEntries:
    """The conclusion less multipliers, constant and squares, whose signs are checked; it must vanish."""
    left = {key: dict(value) for key, value in read.conclusion.items()}
    unit = one(len(read.factors))
    for name, value in read.multipliers.items():
        region.require_nonnegative(value, f"the multiplier of {name!r}")
        row = read.hypotheses[name] if name in read.hypotheses else _pair(name, read.functions, unit, region.work)
        for key, coefficient in row.items():
            add_to(left.setdefault(key, {}), times(value, coefficient, region.work), Fraction(-1))
    add_to(left.setdefault(("1",), {}), read.constant, Fraction(-1))
    region.require_nonnegative(add({}, read.constant, Fraction(-1)), "the opposite of the constant")
    for matrix in ("S", "Q"):
        for k, (pivot, entries) in enumerate(read.pivots[matrix]):
            region.require_nonnegative(pivot, f"pivot {k} of Z_{matrix}")
            for i, a in entries.items():
                for j, b in entries.items():
                    if i <= j:
                        value = times(pivot, times(a, b, region.work), region.work)
                        add_to(left.setdefault((matrix, i, j), {}), value, Fraction(1 + (i < j)))
    return left


def _pair(name: str, functions: dict[str, StoredFunction], unit: FactorSum, work: StepCount) -> FormEntries:
    word, *numbers = name.split()
    function = functions.get(word)
    most = 0 if function is None else len(function.evaluations)
    if function is None or len(numbers) != 2 or not all(COUNT.fullmatch(k) and int(k) < most for k in numbers):
        raise Refused(f"{name!r} is neither a hypothesis nor a pair of evaluations")
    return interpolation(function, int(numbers[0]), int(numbers[1]), unit, work)


def _require_class(name: str, function: StoredFunction, region: CheckedRegion) -> None:
    """L > 0 and -L <= mu < L, on the whole region; or convex without L."""
    if function.L is None:
        if function.mu:
            raise Refused(f"{name!r} is not smooth, and then mu must be 0")
        return
    region.require_positive(function.L, f"L of {name!r}")
    for factor, what in ((-1, "L - mu"), (1, "L + mu")):
        sign = region.sign_of_sum(add(function.L, function.mu, Fraction(factor)))
        if sign is None or sign.direction < 0 or (factor < 0 and not sign.strict):
            raise Refused(f"{what} of {name!r} was not shown to be {'positive' if factor < 0 else 'nonnegative'}")


def describe_derivation(data: dict[str, Any], region: CheckedRegion) -> list[str]:
    """What `check` verified, in lines; the derivation has passed it."""
    used = [name for name in data["hypotheses"] if name in data["multipliers"]]
    classes = [name for name in data["functions"] if any(m.split()[0] == name for m in data["multipliers"])]
    clients = "any number of clients and any dimension" if read_count(data["deviation"]) else "any dimension"
    return [
        f"derivation verified: the conclusion holds in {clients} for all parameters of the region",
        f"  {region}",
        f"  given the hypotheses: {', '.join(used) or 'none'}; and the classes of: {', '.join(classes) or 'no function'}",
    ]

"""Derivations: multipliers that prove a system's conclusion, checked in exact numbers and stored for the checker without packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.proofs.checker.derivations import DERIVATION_FORMAT, check_derivation
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.vectors import Form, Number, Vector
from fedtheory.proofs.parameters.field import ParameterField, Products
from fedtheory.proofs.parameters.system import System, remainder
from fedtheory.tools.kept_proofs import digest_of, keep, read_kept

Pivot = tuple[Number, dict[int, Number]]


class NotProved(ValueError):
    """Multipliers do not prove the conclusion; the message names the step that fails."""


def decompose(
    matrix: Sequence[Sequence[Number]], nonnegative: Callable[[Number], bool], positive: Callable[[Number], bool]
) -> list[Pivot]:
    """Z = sum_k d_k l_k l_k^T with d_k >= 0, by symmetric elimination.

    Plain numbers are taken as pivots before long ones, and what may be zero, which rows are divided by, after what is positive.

    Raises
    ------
    NotProved
        A pivot was not shown to be nonnegative, or is zero with a row that is not.
    """
    a = [list(row) for row in matrix]
    left = list(range(len(a)))
    found: list[Pivot] = []
    while left:
        zero = [k for k in left if a[k][k] == 0]
        for k in zero:
            if any(a[k][j] != 0 for j in left):
                raise NotProved(f"row {k} has a zero pivot and is not zero")
            left.remove(k)
        if not left:
            break
        order = sorted(left, key=lambda k: (_length(a[k][k]), k))
        k = next((k for k in order if positive(a[k][k])), order[0])
        pivot = a[k][k]
        if not nonnegative(pivot):
            raise NotProved(f"pivot {k} was not shown to be nonnegative: {pivot}")
        left.remove(k)
        row = {j: a[k][j] / pivot for j in left if a[k][j] != 0}
        for i, share in row.items():
            for j in row:
                a[i][j] = a[i][j] - share * a[k][j]
        found.append((pivot, {k: 1, **row}))
    return found


def _length(value: Number) -> int:
    element = getattr(value, "element", None)
    return 0 if element is None else len(element.numer) + len(element.denom)


def check_at_point(system: System, multipliers: Sequence[Fraction]) -> bool:
    """Whether multipliers prove the conclusion of a system in fractions."""
    if any(value < 0 for value in multipliers):
        return False
    left = remainder(system, multipliers)
    if any(value != 0 for value in left.values.values()) or left.constant < 0:
        return False
    s, q, _ = system.matrices(left)
    try:
        for block in (s, q):
            decompose(block, lambda pivot: pivot >= 0, lambda pivot: pivot > 0)
    except NotProved:
        return False
    return True


def store(field: ParameterField, system: System, multipliers: Mapping[str, Number]) -> dict[str, Any]:
    """The derivation as data, which `check_derivation` accepted.

    Parameters
    ----------
    multipliers : of rows by name; those that are missing are zero

    Raises
    ------
    NotProved
        The identity fails, or a sign was not proved on the region.
    """
    given = [multipliers.get(name, 0) for name, _ in system.rows]
    left = remainder(system, given)
    unbalanced = [t for t, value in left.values.items() if value != 0]
    if unbalanced:
        raise NotProved(f"value {unbalanced[0]} does not balance")

    def nonnegative(value: Number) -> bool:
        sign = field.sign(value)
        return sign is not None and (sign.direction > 0 or value == 0)

    def positive(value: Number) -> bool:
        sign = field.sign(value)
        return sign is not None and sign.direction > 0 and sign.strict

    for name, value in multipliers.items():
        if not nonnegative(value):
            raise NotProved(f"the multiplier of {name!r} was not shown to be nonnegative: {value}")
    if not nonnegative(left.constant):
        raise NotProved(f"the constant was not shown to be at most zero: {-left.constant}")
    s, q, _ = system.matrices(left, field.zero)
    pivots = {"S": decompose(s, nonnegative, positive), "Q": decompose(q, nonnegative, positive)}
    data = _store(field, system, multipliers, -left.constant, pivots)
    try:
        check_derivation(data)
    except Refused as reason:
        raise NotProved(f"the checker refuses it: {reason}") from None
    return data


def store_statement(products: Products, system: System) -> dict[str, Any]:
    """The part of a derivation that states what is proved."""
    return {
        "mean": len(system.mean),
        "deviation": len(system.deviation),
        "functions": {f.name: _function(products, f) for f in system.functions},
        "hypotheses": {name: _form(products, form) for name, form in system.hypotheses},
        "conclusion": _form(products, system.conclusion),
    }


def store_forms(field: ParameterField, forms: Mapping[str, Form]) -> dict[str, Any]:
    """Forms by name, with the factors of their numbers, polynomials in the parameters of these names."""
    products = Products(field)
    stored = {name: _form(products, form) for name, form in forms.items()}
    return {"names": list(field.names), "factors": products.stored_factors(), "forms": stored}


def _store(
    field: ParameterField,
    system: System,
    multipliers: Mapping[str, Number],
    constant: Number,
    pivots: Mapping[str, Sequence[Pivot]],
) -> dict[str, Any]:
    products = Products(field)
    ends = products.ends()
    stated = store_statement(products, system)
    smooth = {f.name: (f.L - f.mu) * 2 for f in system.functions if f.L is not None}
    hypotheses = {name for name, _ in system.hypotheses}
    proof = {
        "multipliers": {
            name: products.number(value if name in hypotheses else value / smooth.get(name.split()[0], 1))
            for name, value in multipliers.items()
            if value != 0
        },
        "constant": products.number(constant),
        "pivots": {
            block: [
                {"pivot": products.number(pivot), "row": {str(k): products.number(v) for k, v in row.items()}}
                for pivot, row in found
            ]
            for block, found in pivots.items()
        },
    }
    return {
        "format": DERIVATION_FORMAT,
        "parameters": ends,
        "factors": products.stored_factors(),
        **stated,
        **proof,
    }


def find_kept_derivation(field: ParameterField, system: System) -> dict[str, Any] | None:
    """A derivation of this system that was found before and that the checker accepts, or None."""
    stated = _stated(field, system)
    for data in read_kept(digest_of(stated)):
        try:
            same = all(data[key] == value for key, value in stated.items() if key != "factors")
            if same and data["factors"][: len(stated["factors"])] == stated["factors"]:
                check_derivation(data)
                return dict(data)
        except (Refused, KeyError, TypeError, ValueError):
            continue
    return None


def keep_derivation(field: ParameterField, system: System, data: Mapping[str, Any]) -> None:
    """Keep a derivation under the name of what it proves."""
    keep(digest_of(_stated(field, system)), dict(data))


def _stated(field: ParameterField, system: System) -> dict[str, Any]:
    """What a derivation of the system states; its factors come first among those of the derivation."""
    products = Products(field)
    ends = products.ends()
    stated = store_statement(products, system)
    return {"format": DERIVATION_FORMAT, "parameters": ends, "factors": products.stored_factors(), **stated}


def multipliers_of(field: ParameterField, system: System, data: Mapping[str, Any]) -> dict[str, Any]:
    """The multipliers of a derivation's rows, by name, as `store` takes them."""
    smooth = {f.name: (f.L - f.mu) * 2 for f in system.functions if f.L is not None}
    hypotheses = {name for name, _ in system.hypotheses}
    parameters = [*field.parameters().values()]
    factors = [_polynomial(field, parameters, terms) for terms in data["factors"]]

    def number(stored: Any) -> Any:
        powers: list[Mapping[str, int]]
        value, *powers = (stored,) if isinstance(stored, str) else tuple(stored)
        total = field.number(Fraction(value))
        for k, power in powers[0].items() if powers else ():
            total = total * factors[int(k)] ** power
        return total

    found = {name: number(stored) for name, stored in data["multipliers"].items()}
    return {
        name: value if name in hypotheses else value * smooth.get(name.split()[0], 1) for name, value in found.items()
    }


def _polynomial(field: ParameterField, parameters: Sequence[Any], terms: Sequence[Any]) -> Any:
    total = field.zero
    for value, powers in terms:
        term = field.number(Fraction(value))
        for base, power in zip(parameters, powers, strict=False):
            term = term * base**power if power else term
        total = total + term
    return total


def states(field: ParameterField, system: System, data: Mapping[str, Any]) -> bool:
    """Whether a stored derivation is one of this system on this region: the statement is written down anew and compared.

    Free text is not looked at; numbers are compared as products, whatever the order of the factors.
    """
    products = Products(field)
    ends = products.ends()
    stated = store_statement(products, system)
    ours = {"parameters": ends, "factors": products.stored_factors(), **stated}
    return bool(_canonical(ours) == _canonical({key: data[key] for key in ours}))


def state_same_forms(ours: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether stored forms (`store_forms`) are the same, whatever the order of forms and of factors."""
    return bool(_canonical(ours) == _canonical(other))


def _canonical(data: Mapping[str, Any]) -> Any:
    """The data with the factors themselves in the place of their numbers."""
    factors = [tuple(sorted((tuple(powers), str(value)) for value, powers in terms)) for terms in data["factors"]]

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(inner) for key, inner in value.items()}
        if isinstance(value, list):
            if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], Mapping):
                return (str(value[0]), frozenset((factors[int(k)], power) for k, power in value[1].items() if power))
            return [plain(inner) for inner in value]
        return value

    return {key: plain(value) for key, value in data.items() if key != "factors"}


def _function(products: Products, f: Function) -> dict[str, Any]:
    if f.shared:
        raise NotProved(
            f"{f.name!r} is shared by clients that are at different points; derivations have no such conditions"
        )
    return {
        "L": None if f.L is None else products.number(f.L),
        "mu": products.number(f.mu),
        "evaluations": [
            {
                "x": _vector(products, e.x),
                "g": _vector(products, e.g),
                "f": {str(t): products.number(value) for t, value in e.values().items()},
            }
            for e in f.evaluations
        ],
    }


def _vector(products: Products, v: Vector) -> dict[str, Any]:
    found: dict[str, Any] = {"S": {}, "Q": {}}
    for (part, leaf), value in v.terms.items():
        found["S" if part == "mean" else "Q"][str(leaf)] = products.number(value)
    return found


def _form(products: Products, form: Form) -> dict[str, Any]:
    found: dict[str, Any] = {"S": {}, "Q": {}}
    for (matrix, i, j), value in form.gram.items():
        found[matrix][f"{i},{j}"] = products.number(value)
    found["f"] = {str(t): products.number(value) for t, value in form.values.items()}
    found["1"] = products.number(form.constant)
    return found

"""Check the functions of a stored refutation, from their triples alone, in Python's fractions and with nothing else of the package.

A refutation lists, for every client, triples (x, g, f): a point, the gradient and the value there. Where every pair of them satisfies the
interpolation inequality of the class (Taylor, Hendrickx, Glineur 2017, Theorem 4), a function of the class passes through them. Checked besides: that
the clients' gradients at x* = 0 average to zero, ||x^0|| <= R and mean_i ||g_i(x*)||^2 <= zeta^2; or, for measures that do not speak of a minimiser,
that f(x^0) - inf f <= R for the functions

    f_i(x) = (L/2) ||x||^2 - max_{lam in simplex} sum_j lam_j (o_j + <q_j, x>) - ||sum_j lam_j q_j||^2 / (2 l),   l = L - mu,

which pass through triples that satisfy the inequalities. That a method's run on these functions reaches what is said is checked by running it
(`fedtheory.proofs.refutations.replay`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from fedtheory.proofs.checker.reading import read_number, require_fields
from fedtheory.proofs.checker.refusals import Refused

REFUTATION_FORMAT = "fedtheory refutation 1"
#: measures from a start near a minimiser, which is the origin; the others are from a start with f(x^0) - inf f <= R
FROM_MINIMISER = ("squared_distance", "gap")
#: most combinations of pieces that an infimum is looked for among, and most numbers of an instance
MOST_COMBINATIONS, MOST_NUMBERS = 300_000, 1_000_000

Numbers = list[Fraction]
Stored = tuple[Numbers, Numbers, Fraction]


def check_instance(data: Mapping[str, Any]) -> Fraction:
    """Return what is said to be reached, which is more than what is claimed, once the functions and the start are seen to be admissible.

    Raises
    ------
    Refused
        The data are malformed, or a condition fails; the message names it.
    """
    try:
        if data["format"] != REFUTATION_FORMAT:
            raise Refused(f"it is not a refutation of the format {REFUTATION_FORMAT!r}")
        require_fields(data, ("format", "question", "claimed", "reached", "start", "clients"), "it")
        if data["question"]["kind"] == "worst case":
            require_fields(data["start"], ("x",), "the start")
        for triple in (t for triples in data["clients"] for t in triples):
            require_fields(triple, ("x", "g", "f"), "a triple")
        question = data["question"]
        given = {name: _constant(value) for name, value in question["functions"].items()}
        clients, start = read_clients(data), read_start(data)
        claimed, reached = read_number(data["claimed"]), read_number(data["reached"])
        kind, measure = question["kind"], question.get("measure")
        radius = read_number(question["radius"]) if kind == "worst case" else None
        who = question["participation"]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f"the refutation is malformed: {type(error).__name__} {error}") from error
    if kind not in ("worst case", "decrease"):
        raise Refused(f"{ascii(kind)[:40]} is no kind of question")
    if not (who is None or who.get("n") == len(clients)) or len(clients) < 2:
        raise Refused("the number of clients is not that of the question, or below two")
    big_l, mu = _require_class(given)
    if not reached > claimed:
        raise Refused(f"what is reached, {reached}, is not more than what is claimed, {claimed}")
    for i, triples in enumerate(clients):
        require_interpolation(triples, big_l, mu, f"client {i + 1}")
    if kind == "decrease" or measure in FROM_MINIMISER:
        _require_minimiser(clients, given.get("zeta"))
        if kind == "worst case":
            _require_start(start, radius or Fraction(0))
    else:
        _require_start_value(clients, start["x"][0], lowest_value(clients, big_l, mu), radius)
    return reached


def _require_class(given: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    """L and mu of a class whose properties are checked, all of them."""
    unknown = [name for name, value in given.items() if value and name not in ("L", "mu", "zeta")]
    if unknown:
        raise Refused(f"that functions have the property {unknown[0]!r} is not checked")
    big_l, mu = given["L"], given["mu"]
    if not (big_l > 0 and -big_l <= mu < big_l):
        raise Refused(f"the class needs L > 0 and -L <= mu < L, got L={big_l}, mu={mu}")
    return big_l, mu


def read_clients(data: Mapping[str, Any]) -> list[list[Stored]]:
    """The triples of all clients.

    Raises
    ------
    Refused
        They are not all of one dimension, or too many.
    """
    found = [
        [([read_number(v) for v in t["x"]], [read_number(v) for v in t["g"]], read_number(t["f"])) for t in triples]
        for triples in data["clients"]
    ]
    lengths = {len(v) for triples in found for x, g, _ in triples for v in (x, g)}
    if len(lengths) != 1 or 0 in lengths or not all(found):
        raise Refused("the points and gradients are not all of one dimension")
    if lengths.pop() * sum(len(triples) ** 2 for triples in found) > MOST_NUMBERS:
        raise Refused("the instance is too large to be checked")
    return found


def read_start(data: Mapping[str, Any]) -> dict[str, list[Numbers]]:
    """The start, by fields of a state: one vector, or one a client."""
    return {str(name): [[read_number(v) for v in row] for row in rows] for name, rows in data["start"].items()}


def _constant(value: Any) -> Any:
    """A constant of a class: a number, None, False; pairs and True are given back as they are."""
    if isinstance(value, dict) and set(value) == {"fraction"}:
        return read_number(value["fraction"])
    return value if value is None or isinstance(value, bool | dict) else read_number(value)


def _inner(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def require_interpolation(triples: Sequence[Stored], big_l: Fraction, mu: Fraction, whose: str) -> None:
    """Every ordered pair:  f_j - f_i + <g_j, dx> + (||dg||^2/L + mu ||dx||^2 - 2 (mu/L) <dg, dx>) / (2 (1 - mu/L)) <= 0.

    Raises
    ------
    Refused
        A pair does not satisfy it.
    """
    half = 1 / (2 * (1 - mu / big_l))
    for i, (xi, gi, fi) in enumerate(triples):
        for j, (xj, gj, fj) in enumerate(triples):
            dx = [a - b for a, b in zip(xi, xj, strict=True)]
            dg = [a - b for a, b in zip(gi, gj, strict=True)]
            quadratic = _inner(dg, dg) / big_l + mu * _inner(dx, dx) - 2 * mu / big_l * _inner(dg, dx)
            if fj - fi + _inner(gj, dx) + half * quadratic > 0:
                raise Refused(f"the triples {i + 1} and {j + 1} of {whose} belong to no function of the class")


def _require_minimiser(clients: Sequence[Sequence[Stored]], zeta: Fraction | None) -> None:
    """The origin is a stationary point of f, where clients differ by no more than zeta."""
    slopes = []
    for triples in clients:
        at = [g for x, g, _ in triples if not any(x)]
        if not at:
            raise Refused("a client has no triple at x* = 0")
        slopes.append(at[0])
    if any(sum(column, Fraction(0)) for column in zip(*slopes, strict=True)):
        raise Refused("the gradient of f at x* = 0 does not vanish")
    if zeta is not None and _mean([_inner(g, g) for g in slopes]) > zeta**2:
        raise Refused("the clients differ by more than zeta at x*")


def _require_start_value(
    clients: Sequence[Sequence[Stored]], x0: Numbers, low: Fraction, radius: Fraction | None
) -> None:
    high = _mean([_value_at(triples, x0) for triples in clients])
    if high - low > (radius or 0):
        raise Refused(f"f(x^0) - inf f may be {high - low}, more than {radius}")


def _require_start(start: Mapping[str, Sequence[Numbers]], radius: Fraction) -> None:
    if len(start["x"]) != 1 or _inner(start["x"][0], start["x"][0]) > radius**2:
        raise Refused(f"the start is not within {radius} of x*")


def _value_at(triples: Sequence[Stored], x: Sequence[Fraction]) -> Fraction:
    for point, _, f in triples:
        if point == list(x):
            return f
    raise Refused("a client has no triple at the start")


def lowest_value(clients: Sequence[Sequence[Any]], big_l: Fraction, mu: Fraction) -> Fraction:
    """A number that the average of the functions of the module's docstring is nowhere below.

    Minimising over x first leaves the minimum over lam of  mean_i ||q_i||^2 / (2 l) - ||mean_i q_i||^2 / (2 L) - mean_i o_i  with
    q_i = sum_j lam_ij q_ij. For clients with one function (lam_i alike, l >= L), and for two clients with l = 2 L, where the squares cancel, it is
    met at vertices. Otherwise mean_i ||q_i||^2 >= ||mean_i q_i||^2 leaves a bound that is; for mu > 0, squares are left out.

    Raises
    ------
    Refused
        There are too many vertices.
    """
    l = big_l - mu
    pieces: list[list[tuple[Numbers, Fraction]]] = []
    for triples in clients:
        own: list[tuple[Numbers, Fraction]] = []
        for x, g, f in triples:
            q = [big_l * a - b for a, b in zip(x, g, strict=True)]
            own.append((q, -(f - big_l / 2 * _inner(x, x)) + _inner(q, q) / (2 * l) - _inner(q, x)))
        pieces.append(own)
    bend = min(1 / (2 * l) - 1 / (2 * big_l), Fraction(0))
    if all(own == pieces[0] for own in pieces):
        return min(bend * _inner(q, q) - o for q, o in pieces[0])
    if len(pieces) == 2 and l == 2 * big_l:
        return min(-_inner(q, r) / (4 * big_l) - (o + p) / 2 for q, o in pieces[0] for r, p in pieces[1])
    if bend == 0:
        return _mean([min(-o for _, o in own) for own in pieces])
    count = 1
    for own in pieces:
        count *= len(own)
    if count > MOST_COMBINATIONS:
        raise Refused(f"the infimum of functions of {count} combinations of pieces is not looked for")
    best = None
    for chosen in product(*pieces):
        m = [_mean(column) for column in zip(*(q for q, _ in chosen), strict=True)]
        value = bend * _inner(m, m) - _mean([o for _, o in chosen])
        best = value if best is None else min(best, value)
    assert best is not None
    return best

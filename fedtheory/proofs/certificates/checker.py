"""Check the inequality system of an exact certificate, with Python's whole numbers and nothing else.

A certificate states: whenever the *hypotheses* hold (inequalities, and *equations*) and every pair of the listed *evaluations* (x, g, f)
satisfies the interpolation inequality of mu-strongly convex, L-smooth functions, the *objective* is at most the *bound*; for clients of any
number (or of the number *clients*) and any dimension. *Functions* beside the clients' own have evaluations and constants of their own;
those that are shared by the clients satisfy the inequality between different clients, too ("apart").
Quantities are linear in S (the Gram matrix of what clients have in common), Q (of their deviations, averaged over clients) and the values.
Proof:

    objective - sum_c multiplier_c * (inequality_c <= 0)  =  constant - <Z_S, S> - <Z_Q, Q>

with multipliers >= 0 (of any sign for equations), constant <= bound, and Z_S, Z_Q positive semidefinite, which is seen from Z = L D L^T
over the rationals. That the system is that of a method is not checked here but in `fedtheory.proofs.rebuilt`, with the package.
The interpolation inequalities are written down here, from the evaluations; no hypothesis has the name of one. Run by itself, without any
package, the file checks certificates:

    python checker.py FILE
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

Linear = dict[tuple[Any, ...], Fraction]  # ("S", i, j), ("Q", i, j), ("f", t), ("1",) -> coefficient


NUMBER = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")  # no exponents: "1e9999999" would take for ever to write down
COUNT = re.compile(r"0|[1-9][0-9]{0,5}")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9 ,]{0,99}")
CERTIFICATE_FORMAT = "fedtheory certificate 2"
MOST_LEAVES, MOST_BYTES, MOST_LEVELS = 1000, 10_000_000, 40


class Refused(ValueError):
    """The certificate does not prove what it states; the message names the first step that fails."""


def read_number(value: Any) -> Fraction:
    """A fraction, from "1/3", "2" or 2; nothing else is a number here."""
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        value = str(value)
    if not (isinstance(value, str) and NUMBER.fullmatch(value)):
        raise ValueError(f"{ascii(value)[:40]} is not a whole number or a fraction of at most 400 digits")
    return Fraction(value)


def read_count(value: Any) -> int:
    """A whole number below a million, from 3 or "3"."""
    if isinstance(value, bool) or not isinstance(value, int | str) or not COUNT.fullmatch(str(value)):
        raise ValueError(f"{ascii(value)[:40]} does not count anything")
    return int(value)


def read_named(data: Any, read: Any) -> dict[str, Any]:
    """A mapping from names, each a few words in letters and digits."""
    for name in data:
        if not NAME.fullmatch(name):
            raise ValueError(f"{ascii(name)[:40]} is not a name")
    return {name: read(value) for name, value in data.items()}


def show(value: Fraction) -> str:
    """About how large it is."""
    try:
        return f"{float(value):.12g}"
    except OverflowError:
        return "a number too large to print"


def read_file(path: Path | str) -> dict[str, Any]:
    """Read a stored certificate: JSON with whole numbers and printable ASCII alone.

    Raises
    ------
    Refused
        The file is not there or holds something else; the message is one line.
    """

    def refuse(text: str) -> Any:
        raise ValueError(f"{text[:20]} is not exact; numbers are whole or fractions in quotes")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise ValueError(f"it is longer than {MOST_BYTES} bytes")
        data = json.loads(raw.decode(), parse_float=refuse, parse_constant=refuse, object_pairs_hook=once)
        level = [data]
        for _ in range(MOST_LEVELS):
            inside = [v for d in level if isinstance(d, dict) for v in (*d, *d.values())]
            inside += [v for d in level if isinstance(d, list) for v in d]
            for v in inside:
                if isinstance(v, str) and not (v.isascii() and v.isprintable() and len(v) <= 1000):
                    raise ValueError(f"{ascii(v)[:40]} is not a short line of printable ASCII")
            level = inside
        if level:
            raise RecursionError
    except RecursionError:
        raise Refused(f"it is not a readable certificate: it has more than {MOST_LEVELS} levels") from None
    except (OSError, ValueError) as error:
        raise Refused(f"it is not a readable certificate: {getattr(error, 'strerror', None) or error}") from error
    found = data.get("format") if isinstance(data, dict) else None
    if found != CERTIFICATE_FORMAT:
        earlier = found == "fedtheory certificate 1"
        reason = (
            "of format 1, whose sentence was text that nothing checked; make it anew" if earlier else "something else"
        )
        raise Refused(f"it is not a certificate (JSON with format {CERTIFICATE_FORMAT!r}) but {reason}")
    return dict(data)


def describe_system(certificate: dict[str, Any]) -> list[str]:
    """What `check` verified, in lines, and what it did not; the certificate has passed it."""
    bound, clients = read_number(certificate["bound"]), certificate.get("clients")
    hypotheses = [*certificate["hypotheses"], *certificate.get("equations", {})]
    used = [name for name in hypotheses if name in certificate["multipliers"]]
    unused = f" (and {len(hypotheses) - len(used)} that were not needed)" if len(used) < len(hypotheses) else ""
    others = ", ".join(certificate.get("functions", {}))
    who = "every n >= 2" if clients is None else f"n = {clients}"
    return [
        f"inequality system verified: the objective is at most {bound} = {show(bound)} for {who} and every dimension,",
        f"  whenever the interpolation inequalities of L = {certificate['L']}, mu = {certificate['mu']} hold between the evaluations"
        + (f" (other functions: {others})" if others else ""),
        f"  and the hypotheses: {', '.join(used) or 'none'}{unused}",
    ]


UNCHECKED = "  not checked: that evaluations, hypotheses and objective are those of a method"


def check(certificate: dict[str, Any]) -> Fraction:
    """Return the bound that the certificate proves.

    Raises
    ------
    Refused
        It is malformed, or a step of the proof fails.
    """
    try:
        hypotheses = read_named(certificate["hypotheses"], read_form)
        equations = read_named(certificate.get("equations", {}), read_form)
        functions = read_functions(certificate)
        across = across_clients(certificate.get("clients"))
        goals = [(read_number(goal["weight"]), read_form(goal["form"])) for goal in certificate["objectives"]]
        multipliers = read_named(certificate["multipliers"], read_number)
        bound = read_number(certificate["bound"])
        sizes = {"S": read_count(certificate["mean"]), "Q": read_count(certificate["deviation"])}
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise Refused(f"the certificate is malformed: {type(error).__name__} {error}") from error
    if max(sizes.values()) > MOST_LEAVES:
        raise Refused(f"the certificate is malformed: a Gram matrix of more than {MOST_LEAVES} vectors")
    for _, big_l, mu, _ in functions.values():
        if (big_l is None and mu != 0) or (big_l is not None and not (big_l > 0 and -big_l <= mu < big_l)):
            raise Refused(f"the class needs L > 0 and -L <= mu < L, or mu = 0 without L, got L={big_l}, mu={mu}")
    if set(hypotheses) & set(equations):
        raise Refused("an equation and an inequality have the same name")
    shadow = next((name for name in (*hypotheses, *equations) if name.split()[0] in functions), None)
    if shadow is not None:
        raise Refused(
            f"the hypothesis {shadow!r} has the name of an interpolation inequality, which the checker writes down itself"
        )
    if not goals or any(weight < 0 for weight, _ in goals) or sum(weight for weight, _ in goals) != 1:
        raise Refused("the weights of the objectives must be nonnegative and sum to one")

    left: Linear = defaultdict(Fraction)
    for weight, form in goals:
        _add(left, form, weight)
    for name, value in multipliers.items():
        if value < 0 and name not in equations:
            raise Refused(f"the multiplier of {name!r} is negative: {value}")
        stated = hypotheses.get(name, equations.get(name))
        _add(left, pair(name, functions, across) if stated is None else stated, -value)

    for key, value in left.items():
        if key[0] == "f" and value != 0:
            raise Refused(f"the multipliers do not balance: value number {key[1]} is left with {show(value)}")
    constant = left.get(("1",), Fraction(0))
    if constant > bound:
        raise Refused(
            f"the multipliers prove about {show(constant)} only, not the stated bound {bound} = {show(bound)}"
        )
    for matrix, size in sizes.items():
        entries = {key[1:]: value for key, value in left.items() if key[0] == matrix and value != 0}
        for i, j in entries:
            if not 0 <= i <= j < size:
                raise Refused(f"entry {i}, {j} lies outside the block {matrix} of size {size}")
        place = {leaf: k for k, leaf in enumerate(sorted({leaf for entry in entries for leaf in entry}))}
        slack = [[Fraction(0)] * len(place) for _ in place]  # other rows and columns are zero
        for (i, j), value in entries.items():
            slack[place[i]][place[j]] -= value if i == j else value / 2
            slack[place[j]][place[i]] = slack[place[i]][place[j]]
        require_semidefinite(matrix, slack)
    return bound


def read_form(form: dict[str, Any]) -> Linear:
    """``{"S": {"i,j": q}, "Q": {...}, "f": {"t": q}, "1": q}``; an entry i < j stands for the sum of both."""
    found: Linear = {}
    for matrix in ("S", "Q"):
        for key, value in form.get(matrix, {}).items():
            i, j = (read_count(k) for k in key.split(","))
            found[(matrix, i, j)] = read_number(value)
    for t, value in form.get("f", {}).items():
        found[("f", read_count(t))] = read_number(value)
    found[("1",)] = read_number(form.get("1", 0))
    return found


def read_functions(certificate: dict[str, Any]) -> dict[str, Any]:
    """The clients' functions, named "interpolation", and the others by their names."""
    others = read_named(certificate.get("functions", {}), read_function)
    if "interpolation" in others or any(" " in name for name in others):
        raise ValueError("a function beside the clients' own has a name that is taken or is no single word")
    return {**others, "interpolation": read_function(certificate)}


def _vector(parts: dict[str, Any]) -> dict[str, dict[int, Fraction]]:
    return {
        matrix: {read_count(leaf): read_number(value) for leaf, value in parts.get(matrix, {}).items()}
        for matrix in ("S", "Q")
    }


def _add(to: Linear, form: Linear, factor: Fraction) -> None:
    for key, value in form.items():
        to[key] += factor * value


def read_function(data: dict[str, Any]) -> tuple[list[Any], Fraction | None, Fraction, bool]:
    """Evaluations (x, g, coefficients of f), L (None: not smooth), mu, and whether the clients share the function."""
    evaluations = [
        (_vector(e["x"]), _vector(e["g"]), {read_count(t): read_number(c) for t, c in e["f"].items()})
        for e in data["evaluations"]
    ]
    return (
        evaluations,
        None if data["L"] is None else read_number(data["L"]),
        read_number(data["mu"]),
        data.get("shared", False) is True,
    )


def across_clients(clients: Any) -> Fraction:
    """What mean_{k != l} <u_k, v_l> of deviations is, as a multiple of their mean <u_k, v_k>: -1/(n-1), or its limit for every n."""
    if clients is None:
        return Fraction(0)
    n = int(read_number(clients))
    if n < 2 or n != read_number(clients):
        raise ValueError(f"{show(read_number(clients))} clients")
    return Fraction(-1, n - 1)


def pair(name: str, functions: dict[str, Any], across: Fraction) -> Linear:
    """Interpolation inequality of evaluations i and j (Taylor, Hendrickx, Glineur 2017, Theorem 4), averaged over clients or pairs of them.

    f_j - f_i + <g_j, x_i - x_j> + (||dg||^2 / L + mu ||dx||^2 - 2 (mu/L) <dg, dx>) / (2 (1 - mu/L)) <= 0
    """
    word, *numbers = name.split()
    evaluations, big_l, mu, shared = functions.get(word, ([], None, None, False))
    apart = shared and numbers[:1] == ["apart"]
    numbers = numbers[apart:]
    if len(numbers) != 2 or not all(COUNT.fullmatch(k) and int(k) < len(evaluations) for k in numbers):
        raise Refused(f"{name!r} is neither a hypothesis nor a pair of evaluations")
    (xi, gi, fi), (xj, gj, fj) = (evaluations[int(k)] for k in numbers)
    # a vector of the pair (k, l) is a combination u_k - v_l; of one client, l is k
    dx, dg = (xi, xj), (gi, gj)
    terms: list[tuple[Any, Any, Fraction]] = [(({"S": {}, "Q": {}}, _times(gj, -1)), dx, Fraction(1))]
    if big_l is not None:
        half = 1 / (2 * (1 - mu / big_l))
        terms += [(dg, dg, half / big_l), (dx, dx, half * mu), (dg, dx, -2 * half * mu / big_l)]
    form: Linear = defaultdict(Fraction)
    for coefficients, sign in ((fj, 1), (fi, -1)):
        for t, value in coefficients.items():
            form[("f", t)] += sign * value
    cross = across if apart else Fraction(1)
    for (u, v), (p, q), factor in terms:
        for left, right, sign, same in ((u, p, 1, True), (v, q, 1, True), (u, q, -1, False), (v, p, -1, False)):
            for matrix in ("S", "Q"):
                weight = factor * sign * (1 if same or matrix == "S" else cross)
                for i, a in left[matrix].items():
                    for j, b in right[matrix].items():
                        form[(matrix, min(i, j), max(i, j))] += weight * a * b
    return form


def _times(u: dict[str, dict[int, Fraction]], factor: int) -> dict[str, dict[int, Fraction]]:
    return {matrix: {leaf: factor * value for leaf, value in entries.items()} for matrix, entries in u.items()}


def require_semidefinite(name: str, a: list[list[Fraction]]) -> None:
    """Eliminate symmetrically; every pivot must be positive, or zero with a zero row."""
    a = [row[:] for row in a]
    for k in range(len(a)):
        pivot = a[k][k]
        if pivot < 0 or (pivot == 0 and any(a[k][k + 1 :])):
            raise Refused(f"the slack Z_{name} is not positive semidefinite: pivot {k} is {show(pivot)}")
        if pivot == 0:
            continue
        for i in range(k + 1, len(a)):
            if a[i][k]:
                factor = a[i][k] / pivot
                for j in range(i, len(a)):
                    a[i][j] -= factor * a[k][j]
                    a[j][i] = a[i][j]


if __name__ == "__main__":
    try:
        given = read_file(sys.argv[1])
        check(given)
    except Refused as error:
        sys.exit(f"refused: {error}")
    except IndexError:
        sys.exit("usage: python checker.py FILE")
    print(*describe_system(given), UNCHECKED, sep="\n")

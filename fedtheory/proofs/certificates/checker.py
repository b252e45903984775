"""Check an exact certificate of a worst case, with Python's whole numbers and nothing else.

A certificate states: whenever the *hypotheses* hold (inequalities, and *equations*) and every pair of the listed *evaluations* (x, g, f)
satisfies the interpolation inequality of mu-strongly convex, L-smooth functions, the *objective* is at most the *bound*; for clients of any
number (or of the number *clients*) and any dimension. *Functions* beside the clients' own have evaluations and constants of their own;
those that are shared by the clients satisfy the inequality between different clients, too ("apart").
Quantities are linear in S (the Gram matrix of what clients have in common), Q (of their deviations, averaged over clients) and the values.
Proof:

    objective - sum_c multiplier_c * (inequality_c <= 0)  =  constant - <Z_S, S> - <Z_Q, Q>

with multipliers >= 0 (of any sign for equations), constant <= bound, and Z_S, Z_Q positive semidefinite, which is seen from Z = L D L^T
over the rationals.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

Linear = dict[tuple[Any, ...], Fraction]  # ("S", i, j), ("Q", i, j), ("f", t), ("1",) -> coefficient


class Refused(ValueError):
    """The certificate does not prove what it states; the message names the first step that fails."""


def check(certificate: dict[str, Any]) -> Fraction:
    """Return the bound that the certificate proves.

    Raises
    ------
    Refused
        It is malformed, or a step of the proof fails.
    """
    try:
        hypotheses = {name: read_form(form) for name, form in certificate["hypotheses"].items()}
        equations = {name: read_form(form) for name, form in certificate.get("equations", {}).items()}
        functions = {name: read_function(data) for name, data in certificate.get("functions", {}).items()}
        functions["interpolation"] = read_function(certificate)
        across = across_clients(certificate.get("clients"))
        goals = [(Fraction(goal["weight"]), read_form(goal["form"])) for goal in certificate["objectives"]]
        multipliers = {name: Fraction(value) for name, value in certificate["multipliers"].items()}
        bound, sizes = (
            Fraction(certificate["bound"]),
            {"S": int(certificate["mean"]), "Q": int(certificate["deviation"])},
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise Refused(f"the certificate is malformed: {type(error).__name__} {error}") from error
    for _, big_l, mu, _ in functions.values():
        if (big_l is None and mu != 0) or (big_l is not None and not (big_l > 0 and -big_l <= mu < big_l)):
            raise Refused(f"the class needs L > 0 and -L <= mu < L, or mu = 0 without L, got L={big_l}, mu={mu}")
    if set(hypotheses) & set(equations):
        raise Refused("an equation and an inequality have the same name")
    if not goals or any(weight < 0 for weight, _ in goals) or sum(weight for weight, _ in goals) != 1:
        raise Refused("the weights of the objectives must be nonnegative and sum to one")

    left: Linear = defaultdict(Fraction)
    for weight, form in goals:
        _add(left, form, weight)
    for name, value in multipliers.items():
        if value < 0 and name not in equations:
            raise Refused(f"the multiplier of {name!r} is negative: {value}")
        form = {**hypotheses, **equations}.get(name) or pair(name, functions, across)
        _add(left, form, -value)

    for key, value in left.items():
        if key[0] == "f" and value != 0:
            raise Refused(f"the multipliers do not balance: value number {key[1]} is left with {value}")
    constant = left.get(("1",), Fraction(0))
    if constant > bound:
        raise Refused(
            f"the multipliers prove {constant} = {float(constant):.12g} only, not the stated bound {bound} = {float(bound):.12g}"
        )
    for matrix, size in sizes.items():
        slack = [[Fraction(0)] * size for _ in range(size)]
        for key, value in left.items():
            if key[0] == matrix:
                i, j = key[1:]
                if not 0 <= i <= j < size:
                    raise Refused(f"entry {i}, {j} lies outside the block {matrix} of size {size}")
                slack[i][j] -= value if i == j else value / 2
                slack[j][i] = slack[i][j]
        require_semidefinite(matrix, slack)
    return bound


def read_form(form: dict[str, Any]) -> Linear:
    """``{"S": {"i,j": q}, "Q": {...}, "f": {"t": q}, "1": q}``; an entry i < j stands for the sum of both."""
    found: Linear = {}
    for matrix in ("S", "Q"):
        for key, value in form.get(matrix, {}).items():
            i, j = (int(k) for k in key.split(","))
            found[(matrix, i, j)] = Fraction(value)
    for t, value in form.get("f", {}).items():
        found[("f", int(t))] = Fraction(value)
    found[("1",)] = Fraction(form.get("1", 0))
    return found


def _vector(parts: dict[str, Any]) -> dict[str, dict[int, Fraction]]:
    return {
        matrix: {int(leaf): Fraction(value) for leaf, value in parts.get(matrix, {}).items()} for matrix in ("S", "Q")
    }


def _add(to: Linear, form: Linear, factor: Fraction) -> None:
    for key, value in form.items():
        to[key] += factor * value


def read_function(data: dict[str, Any]) -> tuple[list[Any], Fraction | None, Fraction, bool]:
    """Evaluations (x, g, coefficients of f), L (None: not smooth), mu, and whether the clients share the function."""
    evaluations = [
        (_vector(e["x"]), _vector(e["g"]), {int(t): Fraction(c) for t, c in e["f"].items()})
        for e in data["evaluations"]
    ]
    return (
        evaluations,
        None if data["L"] is None else Fraction(data["L"]),
        Fraction(data["mu"]),
        bool(data.get("shared")),
    )


def across_clients(clients: Any) -> Fraction:
    """What mean_{k != l} <u_k, v_l> of deviations is, as a multiple of their mean <u_k, v_k>: -1/(n-1), or its limit for every n."""
    if clients is not None and int(clients) < 2:
        raise ValueError(f"{clients} clients")
    return Fraction(0) if clients is None else Fraction(-1, int(clients) - 1)


def pair(name: str, functions: dict[str, Any], across: Fraction) -> Linear:
    """Interpolation inequality of evaluations i and j (Taylor, Hendrickx, Glineur 2017, Theorem 4), averaged over clients or pairs of them.

    f_j - f_i + <g_j, x_i - x_j> + (||dg||^2 / L + mu ||dx||^2 - 2 (mu/L) <dg, dx>) / (2 (1 - mu/L)) <= 0
    """
    word, *numbers = name.split()
    evaluations, big_l, mu, shared = functions.get(word, ([], None, None, False))
    apart = shared and numbers[:1] == ["apart"]
    numbers = numbers[apart:]
    if len(numbers) != 2 or not all(k.isdigit() and int(k) < len(evaluations) for k in numbers):
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
            raise Refused(f"the slack Z_{name} is not positive semidefinite: pivot {k} is {float(pivot):.3g}")
        if pivot == 0:
            continue
        for i in range(k + 1, len(a)):
            if a[i][k]:
                factor = a[i][k] / pivot
                for j in range(i, len(a)):
                    a[i][j] -= factor * a[k][j]
                    a[j][i] = a[i][j]

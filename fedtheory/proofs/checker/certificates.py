"""The inequality system of an exact certificate, checked with Python's whole numbers and nothing else.

A certificate states: whenever the *hypotheses* hold (inequalities, and *equations*) and every pair of the listed *evaluations* (x, g, f)
satisfies the interpolation inequality of mu-strongly convex, L-smooth functions, the *objective* is at most the *bound*; for clients of any
number (or of the number *clients*) and any dimension. *Functions* beside the clients' own have evaluations and constants of their own;
those that are shared by the clients satisfy the inequality between different clients, too ("apart").
Quantities are linear in S (the Gram matrix of what clients have in common), Q (of their deviations, averaged over clients) and the values.
Proof:

    objective - sum_c multiplier_c * (inequality_c <= 0)  =  constant - <Z_S, S> - <Z_Q, Q>

with multipliers >= 0 (of any sign for equations), constant <= bound, and Z_S, Z_Q positive semidefinite, which is seen from Z = L D L^T
over the rationals. That the system is that of a method is not checked here but in `fedtheory.proofs.rebuilt`, with the package.
The interpolation inequalities are written down here, from the evaluations; no hypothesis has the name of one.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

from .reading import COUNT, MOST_STEPS, StepCount, read_count, read_named, read_number, require_fields, show
from .refusals import NotChecked, Refused

Linear = dict[tuple[Any, ...], Fraction]  # ("S", i, j), ("Q", i, j), ("f", t), ("1",) -> coefficient

CERTIFICATE_FORMAT = "fedtheory certificate 2"
MOST_LEAVES = 1000
_FUNCTION = ("L", "mu", "shared", "evaluations")
_CERTIFICATE = (
    *("format", "question", *_FUNCTION, "functions", "clients", "mean", "deviation"),
    *("hypotheses", "equations", "objectives", "multipliers", "bound"),
)


def describe_system(certificate: dict[str, Any]) -> list[str]:
    """What `check` verified, in lines, and what it did not; the certificate has passed it."""
    bound, clients = read_number(certificate["bound"]), certificate.get("clients")
    hypotheses = [*certificate["hypotheses"], *certificate.get("equations", {})]
    used = [name for name in hypotheses if name in certificate["multipliers"]]
    unused = f" (and {len(hypotheses) - len(used)} that were not needed)" if len(used) < len(hypotheses) else ""
    others = ", ".join(certificate.get("functions", {}))
    who = "every n >= 2 and " if clients is None else f"n = {clients} and "
    who = (
        who if read_count(certificate["deviation"]) else ""
    )  # vectors without deviations are no clients that are alike
    return [
        f"inequality system verified: the objective is at most {bound} = {show(bound)} for {who}every dimension,",
        f"  whenever the interpolation inequalities of L = {certificate['L']}, mu = {certificate['mu']} hold between the evaluations"
        + (f" (other functions: {others})" if others else ""),
        f"  and the hypotheses: {', '.join(used) or 'none'}{unused}",
    ]


def check(certificate: dict[str, Any], most_steps: int = MOST_STEPS) -> Fraction:
    """Return the bound that the certificate proves.

    Raises
    ------
    Refused
        A step of the proof fails.
    NotChecked
        It is malformed, or takes too many steps.
    """
    work = StepCount(most_steps)
    try:
        require_fields(certificate, _CERTIFICATE, "the certificate")
        hypotheses = read_named(certificate["hypotheses"], read_form)
        equations = read_named(certificate.get("equations", {}), read_form)
        functions = read_functions(certificate)
        across = across_clients(certificate.get("clients"))
        goals = [_read_objective(goal) for goal in certificate["objectives"]]
        multipliers = read_named(certificate["multipliers"], read_number)
        bound = read_number(certificate["bound"])
        sizes = {"S": read_count(certificate["mean"]), "Q": read_count(certificate["deviation"])}
        if max(sizes.values()) > MOST_LEAVES:
            raise ValueError(f"a Gram matrix of more than {MOST_LEAVES} vectors")
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise NotChecked(f"the certificate is malformed: {type(error).__name__} {error}") from error
    _require_sense(functions, hypotheses, equations, goals)
    left: Linear = defaultdict(Fraction)
    for weight, form in goals:
        _add(left, form, weight, work)
    for name, value in multipliers.items():
        if value < 0 and name not in equations:
            raise Refused(f"the multiplier of {name!r} is negative: {show(value)}")
        stated = hypotheses.get(name, equations.get(name))
        _add(left, pair(name, functions, across, work) if stated is None else stated, -value, work)
    _require_balance(left, sizes, bound, work)
    return bound


def _read_objective(goal: Any) -> tuple[Fraction, Linear]:
    require_fields(goal, ("weight", "form"), "an objective")
    return read_number(goal["weight"]), read_form(goal["form"])


def _require_sense(
    functions: dict[str, Any],
    hypotheses: dict[str, Linear],
    equations: dict[str, Linear],
    goals: list[tuple[Fraction, Linear]],
) -> None:
    """Classes that exist, names that cannot be mistaken, weights of an average."""
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


def _require_balance(left: Linear, sizes: dict[str, int], bound: Fraction, work: StepCount) -> None:
    """What is left of the objective must be a constant that is at most the bound, less the two semidefinite forms."""
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
        require_semidefinite(matrix, slack, work)


def read_form(form: dict[str, Any]) -> Linear:
    """``{"S": {"i,j": q}, "Q": {...}, "f": {"t": q}, "1": q}``; an entry i < j stands for the sum of both."""
    found: Linear = {}
    require_fields(form, ("S", "Q", "f", "1"), "a form")
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
    own = {name: certificate[name] for name in _FUNCTION if name in certificate}
    if "interpolation" in others or any(" " in name for name in others):
        raise ValueError("a function beside the clients' own has a name that is taken or is no single word")
    return {**others, "interpolation": read_function(own)}


def _vector(parts: dict[str, Any]) -> dict[str, dict[int, Fraction]]:
    require_fields(parts, ("S", "Q"), "a vector")
    return {
        matrix: {read_count(leaf): read_number(value) for leaf, value in parts.get(matrix, {}).items()}
        for matrix in ("S", "Q")
    }


def _add(to: Linear, form: Linear, factor: Fraction, work: StepCount) -> None:
    for key, value in form.items():
        if value:
            work.spend(1, [to[key]], [factor], [value])
            to[key] += factor * value


def read_function(data: dict[str, Any]) -> tuple[list[Any], Fraction | None, Fraction, bool]:
    """Evaluations (x, g, coefficients of f), L (None: not smooth), mu, and whether the clients share the function."""
    require_fields(data, _FUNCTION, "a function")
    if not isinstance(data.get("shared", False), bool):
        raise TypeError("'shared' is neither true nor false")
    for e in data["evaluations"]:
        require_fields(e, ("x", "g", "f"), "an evaluation")
    evaluations = [
        (_vector(e["x"]), _vector(e["g"]), {read_count(t): read_number(c) for t, c in e["f"].items()})
        for e in data["evaluations"]
    ]
    return (
        evaluations,
        None if data["L"] is None else read_number(data["L"]),
        read_number(data["mu"]),
        data.get("shared", False),
    )


def across_clients(clients: Any) -> Fraction:
    """What mean_{k != l} <u_k, v_l> of deviations is, as a multiple of their mean <u_k, v_k>: -1/(n-1), or its limit for every n."""
    if clients is None:
        return Fraction(0)
    n = int(read_number(clients))
    if n < 2 or n != read_number(clients):
        raise ValueError(f"{show(read_number(clients))} clients")
    return Fraction(-1, n - 1)


def pair(name: str, functions: dict[str, Any], across: Fraction, work: StepCount | None = None) -> Linear:
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
    # a vector of the pair (k, l) is a combination u_k - v_l; of one client, l is k, and u - v is one vector
    zero: dict[str, dict[int, Fraction]] = {"S": {}, "Q": {}}
    dx, dg, own = (xi, xj), (gi, gj), (zero, _minus(zero, gj))
    if not apart:
        dx, dg, own = (_minus(xi, xj), zero), (_minus(gi, gj), zero), (gj, zero)
    terms: list[tuple[Any, Any, Fraction]] = [(own, dx, Fraction(1))]
    if big_l is not None:
        half = 1 / (2 * (1 - mu / big_l))
        terms += [(dg, dg, half / big_l), (dx, dx, half * mu), (dg, dx, -2 * half * mu / big_l)]
    form, work = defaultdict[tuple[Any, ...], Fraction](Fraction), work or StepCount()
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
                        key = (matrix, min(i, j), max(i, j))
                        work.spend(1, [form[key]], [weight], [a], [b])
                        form[key] += weight * a * b
    return form


def _minus(u: dict[str, dict[int, Fraction]], v: dict[str, dict[int, Fraction]]) -> dict[str, dict[int, Fraction]]:
    found = {matrix: dict(entries) for matrix, entries in u.items()}
    for matrix, entries in v.items():
        for leaf, value in entries.items():
            found[matrix][leaf] = found[matrix].get(leaf, Fraction(0)) - value
    return {matrix: {leaf: value for leaf, value in entries.items() if value} for matrix, entries in found.items()}


def require_semidefinite(name: str, a: list[list[Fraction]], work: StepCount | None = None) -> None:
    """Eliminate symmetrically; every pivot must be positive, or zero with a zero row."""
    a, work = [row[:] for row in a], work or StepCount()
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
                    work.spend(1, [a[i][j]], [factor], [a[k][j]])
                    a[i][j] -= factor * a[k][j]
                    a[j][i] = a[i][j]

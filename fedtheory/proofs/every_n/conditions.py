"""Interpolation conditions on what the oracles of exchangeable clients answered; of shared functions, too.

A *shared* function is the same for all clients: a regulariser, or the average f. Its evaluations at the clients' points must then satisfy
the conditions for pairs of different clients, too, where the number of clients n enters, or its limit (`vectors.inner_product_apart`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from fedtheory.proofs.every_n.oracles import Evaluation, Leaves
from fedtheory.proofs.every_n.vectors import Form, Number, Vector, divide, inner_product, inner_product_apart
from fedtheory.proofs.function_class import FunctionClass

Conditions = list[tuple[str, Form]]

#: names of what the class says, in expectation, of values at points that depend on who takes part, and on noise
AFTER_DRAWS, AFTER_NOISE = "value after draws", "value after noise"


def interpolate_clients(evaluations: Sequence[Evaluation], function_class: FunctionClass) -> Conditions:
    """Interpolation conditions of the clients' functions."""
    return interpolate_evaluations("interpolation", evaluations, function_class.L, function_class.mu)


def interpolate_evaluations(
    name: str, evaluations: Sequence[Evaluation], big_l: Number | None, mu: Number
) -> Conditions:
    """Interpolation conditions of all ordered pairs, each client's averaged over clients; L None for convex functions without smoothness.

    Taylor, Hendrickx, Glineur 2017, Theorem 4, for h = 1 / (2 (1 - mu/L)):
    f_j - f_i + <g_j, dx> + h (||dg||^2/L + mu ||dx||^2 - 2 (mu/L) <dg, dx>) <= 0,  dx = x_i - x_j,  dg = g_i - g_j.
    """
    found = []
    for label, a, b in name_pairs(name, evaluations):
        dx, dg = a.x - b.x, a.g - b.g
        to_gradient, to_point = _factors(dg, dx, big_l, mu)
        form = Form(values=b.values()) - Form(values=a.values()) + inner_product(dx, to_point + b.g)
        found.append((label, form if big_l is None else form + inner_product(dg, to_gradient)))
    return found


def name_pairs(name: str, evaluations: Sequence[Evaluation]) -> Iterator[tuple[str, Evaluation, Evaluation]]:
    """The ordered pairs of a function's evaluations, with the names of their conditions."""
    for i, a in enumerate(evaluations):
        for j, b in enumerate(evaluations):
            if i != j:
                yield f"{name} {i} {j}", a, b


def name_pairs_apart(name: str, evaluations: Sequence[Evaluation]) -> Iterator[tuple[str, Evaluation, Evaluation]]:
    """The same between different clients; two points that all clients have in common say nothing new."""
    for i, a in enumerate(evaluations):
        for j, b in enumerate(evaluations):
            if not (a.x.common and b.x.common):
                yield f"{name} apart {i} {j}", a, b


def interpolate_evaluations_apart(
    name: str, evaluations: Sequence[Evaluation], big_l: Number | None, mu: Number, n: int | None
) -> Conditions:
    """The same conditions between different clients k and l, for a function that they share; averaged over pairs."""

    def product(u: Vector, v: Vector, p: Vector, q: Vector) -> Form:
        """Mean over pairs of <u_k - v_l, p_k - q_l>."""
        same: Form = inner_product(u, p) + inner_product(v, q)
        return same - (inner_product_apart(u, q, n) + inner_product_apart(v, p, n))

    found = []
    for label, a, b in name_pairs_apart(name, evaluations):
        form = (
            Form(values=b.values())
            - Form(values=a.values())
            + inner_product_apart(a.x, b.g, n)
            - inner_product(b.x, b.g)
        )
        if big_l is not None:
            (to_gradient, to_point), (its_gradient, its_point) = (_factors(e.g, e.x, big_l, mu) for e in (a, b))
            form = form + product(a.g, b.g, to_gradient, its_gradient) + product(a.x, b.x, to_point, its_point)
        found.append((label, form))
    return found


def bound_on_average(
    name: str,
    late: Iterable[Evaluation],
    early: Iterable[Evaluation],
    function_class: tuple[Number, Number],
    product: Callable[[Vector, Vector], Form],
) -> Conditions:
    """Of values at points x that depend on draws, what the class (L, mu) says by points y that do not, averaged over clients and draws.

    mu/2 E||x - y||^2 <= E f_i(x) - f_i(y) - E <grad f_i(y), x - y> <= L/2 E||x - y||^2, which is not all that is known of the class.
    """
    big_l, mu = function_class
    found: list[Form] = []
    for at, e in itertools.product(late, early):
        dx = at.x - e.x
        above = Form(values=at.values()) - Form(values=e.values()) - product(e.g, dx)
        half = product(dx, dx) / 2
        found += [above - half * big_l, half * mu - above]
    return [(f"{name} {k}", form) for k, form in enumerate(found)]


def is_relaxed(conditions: Iterable[tuple[str, Form]]) -> bool:
    """Whether some of these are of values at points that depend on who takes part, of which more is known than they say."""
    return any(name.startswith(AFTER_DRAWS) for name, _ in conditions)


def _factors(dg: Vector, dx: Vector, big_l: Number | None, mu: Number) -> tuple[Vector, Vector]:
    """What dg and dx are multiplied by: h (dg/L - 2 (mu/L) dx) and h mu dx."""
    if big_l is None:
        return Vector({}), Vector({})
    ratio = divide(mu, big_l)
    half = divide(1, 2) / (1 - ratio)
    return dg * (half * divide(1, big_l)) - dx * (2 * half * ratio), dx * (half * mu)


def average_and_differences(
    leaves: Leaves, evaluations: Sequence[Evaluation]
) -> tuple[list[Evaluation], list[Evaluation]]:
    """The average f at the points of the clients' functions, and f_i - f there.

    Where all clients met at one point the gradient of f is the mean; elsewhere f has a gradient and a value that are not tied to the f_i,
    which is what is relaxed.
    """
    average, difference = [], []
    for e in evaluations:
        met = e.x.common
        mean = Evaluation(e.x, e.g.averaged(None) if met else leaves.vector(e.x), e.value if met else leaves.value())
        average.append(mean)
        difference.append(Evaluation(e.x, e.g - mean.g, e.value, mean.value))
    return average, difference

"""What speaks of shapes, used once with shapes checked; tests/house/test_shapes.py runs it in a process of its own.

Every problem with everything it can give, at common points, at one point a client, in batches and on some of the clients; one method of every
way to do local work; all metrics; the regularisers; exact arithmetic. And some wrong uses, which must be caught.
"""

from jaxtyping import TypeCheckError, install_import_hook

ANNOTATED = ("core", "local", "measures", "algorithms.base")
install_import_hook([*(f"fedtheory.{room}" for room in ANNOTATED), "problems"], "shape_checks.shapes_only")

from contextlib import suppress  # noqa: E402
from fractions import Fraction  # noqa: E402
from types import SimpleNamespace  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from helpers import BATCHED, CASES, PROBLEMS, draw, play, problem  # noqa: E402

from fedtheory.core.arrays import along_batch, inner  # noqa: E402
from fedtheory.core.errors import InvalidInput, NotAvailable  # noqa: E402
from fedtheory.core.participation import Clients, Uniform  # noqa: E402
from fedtheory.core.problem import can, gradient, objective  # noqa: E402
from fedtheory.core.regularisers import L1, NuclearNorm, Ridge, Zero, slope  # noqa: E402
from fedtheory.local.subproblem import Subproblem  # noqa: E402
from fedtheory.measures.catalogue import offered_metrics  # noqa: E402


def use_problem(f: Any, batch: tuple[int, ...] = ()) -> None:
    for lead in {(), batch, (2,)}:
        common, own = draw((*lead, 1, f.d)), draw((*lead, f.n, f.d))
        for x in (common, own):
            f.value(x), f.grad(x)
            Subproblem(f, a=x, rho=1.0, z=common).grad(x)
            for ability, more in (("hess", ()), ("conjugate", ()), ("conjugate_grad", ()), ("prox", (0.1,))):
                if can(f, ability):
                    with suppress(InvalidInput):  # where there is no maximiser
                        getattr(f, ability)(x, *more)
            if can(f, "sample_grad"):
                f.sample_grad(x, np.zeros((*lead, f.n, 2), dtype=np.int64))
        objective(f, common), gradient(f, common), slope(f, common)
    if can(f, "solution"):
        f.solution()


def use_problems() -> None:
    for name in PROBLEMS:
        f = problem(name)
        use_problem(f)
        use_problem(f.take(Clients(f.n, np.arange(f.n)[1:])))
    for make in BATCHED.values():
        use_problem(make(), (2,))


def use_methods() -> None:
    seen = set()
    for case in CASES:
        if (case.entry.name, case.kind) in seen:
            continue
        seen.add((case.entry.name, case.kind))
        f = case.problem
        scale = along_batch([1.0, 0.5]) if case.kind != "skip" else 1.0
        for state in play(case.algorithm(scale), f, case.x0, 1):
            for metric in offered_metrics(state, f).values():
                with suppress(NotAvailable):  # without conjugates
                    metric(f, state)
        if case.entry.partial:
            play(case.algorithm(), f, case.x0, 1, Uniform(f.n - 1))


def use_regularisers() -> None:
    layers = problem("softmax").layers
    x = draw((2, 3, problem("softmax").d))
    for h in (Zero(), Ridge(0.1), L1(0.1), L1(along_batch([0.1, 0.2])), NuclearNorm(0.1, layers)):
        h.value(x), h.prox(x, 0.1), h.conjugate(x), h.distance(x, x)


def use_fractions() -> None:
    f = problem("quadratics")
    exact = type(f)(*(np.vectorize(Fraction, otypes=[object])(a) for a in (f.A, f.b)))
    x = np.full((1, f.d), Fraction(1, 3), dtype=object)
    objective(exact, x), gradient(exact, x), exact.prox(x, Fraction(1, 2))


def refuse_wrong_uses() -> None:
    """What NumPy alone would go on with, or complain of too late."""
    f = problem("quadratics")
    common, own = np.ones((1, f.d)), np.ones((f.n, f.d))
    without_clients = SimpleNamespace(n=f.n, d=f.d, grad=lambda x: f.grad(x)[0], value=lambda x: f.grad(x))
    for where, wrong in {
        "parameters of fedtheory.core.problem.objective": lambda: objective(f, own),
        "parameters of fedtheory.core.arrays.inner": lambda: inner(own, own[:, :1]),
        "return value of fedtheory.local.subproblem.Subproblem.value": lambda: Subproblem(without_clients).value(own),
        "parameters of fedtheory.local.subproblem.Subproblem.shift": lambda: Subproblem(
            without_clients, rho=1.0, z=common
        ).grad(own),
    }.items():
        try:
            wrong()
        except TypeCheckError as error:
            assert where in str(error), error
        else:
            raise AssertionError(f"a wrong shape passed: {where}")


if __name__ == "__main__":
    use_problems(), use_methods(), use_regularisers(), use_fractions(), refuse_wrong_uses()

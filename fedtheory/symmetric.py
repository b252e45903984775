"""The exact worst case for every number of clients at once.

The algorithm's own round function is traced on exchangeable vectors (`fedtheory.exchangeable`). The program that comes out has two small
blocks, the Gram matrix of what clients have in common and that of their deviations, and one copy of the interpolation conditions;
averaging any worst case over the permutations of the clients shows that nothing is lost, and with deviations w_i (x) delta, w_1..w_n the
corners of a simplex, every solution is realised for every n >= 2.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fedtheory import conic
from fedtheory.algorithms.base import Algorithm
from fedtheory.errors import InvalidInput, SolverFailed
from fedtheory.exact import rational
from fedtheory.exchangeable import Form, Number, Sampling, Vector, square
from fedtheory.function_class import CAP, FunctionClass, Measure, require_worst_case
from fedtheory.interpolation import Interpolated
from fedtheory.outcomes import courses
from fedtheory.symmetric_conditions import average_and_differences, dissimilarity, over
from fedtheory.symmetric_model import Function, Model, free_directions
from fedtheory.symmetric_noise import Noise
from fedtheory.symmetric_problem import Evaluation, Leaves, SharedRegulariser, SymmetricProblem, cell, entry


@dataclass(frozen=True, eq=False)
class SymmetricWorstCase:
    """The answer: valid for every n >= 2 (``n`` None), or for the n of the sampling.

    ``value`` is the dual value (an upper bound up to the residuals), ``lower`` the primal one; for a model with ``relaxations`` both are
    those of an upper bound of the worst case.
    """

    value: float
    lower: float
    solution: conic.Solution
    model: Model
    free: list[Fraction] | None
    evaluations: tuple[Evaluation, ...]
    start: Vector
    algorithm: Algorithm
    function_class: FunctionClass
    rounds: int
    measure: Measure
    radius: float
    participation: Sampling | None
    seconds: float
    random: bool = False
    unbounded: bool = False
    size: Mapping[str, int] = field(default_factory=dict)

    def residuals(self) -> dict[str, float]:
        """How far the solution is from satisfying its own conditions (`fedtheory.conic.Solution`)."""
        found = self.solution
        parts = ("gram", "constraints", "slack", "negative", "balance")
        return {**{name: getattr(found, name) for name in parts}, "gap": found.value - found.lower}

    def why_no_instance(self) -> str | None:
        """Why no functions of the class that reach the value can be rebuilt, or None."""
        given = self.function_class
        if self.unbounded:
            return "the program is unbounded"
        if given.composite:
            return "the class is composite, and h is not rebuilt"
        if given.similarity is not None:
            return "functions rebuilt one by one need not be similar"
        if given.dissimilarity is not None and self.participation is None:
            return "pairwise dissimilarity is approached as n grows; give n by participation=Sampling(n, n)"
        if any(name.startswith(("noise", "accuracy")) for name, _ in self.model.inequalities):
            return "noise and errors of local answers are not rebuilt"
        return None

    def instance(self, n: int = 2) -> tuple[Interpolated, NDArray[np.float64]]:
        """The worst-case functions for n clients and the start, rebuilt from the Gram matrices as members of the class."""
        if n < 2:
            raise InvalidInput(f"expected n >= 2, got {n}")
        reason = self.why_no_instance()
        if reason is not None:
            raise InvalidInput(f"this worst case has no instance to run: {reason}")
        s, q = _factor(self.solution.blocks[0]), _factor(self._deviations())
        corners = np.linalg.qr(np.concatenate([np.ones((n, 1)), np.eye(n)[:, : n - 1]], axis=1))[0][:, 1:] * np.sqrt(n)

        def place(v: Vector, client: int) -> NDArray[np.float64]:
            common, own = np.zeros(s.shape[1]), np.zeros(q.shape[1])
            for (part, leaf), value in v.terms.items():
                if part == "mean":
                    common += float(value) * s[leaf]
                else:
                    own += float(value) * q[leaf]
            # the corners have mean square norm (n - 1): scale so that mean_i ||w_i||^2 = 1
            return np.concatenate([common, np.outer(corners[client] / np.sqrt(n - 1), own).ravel()])

        data = self.evaluations
        made = Interpolated(
            points=np.array([[place(e.x, i) for e in data] for i in range(n)]),
            grads=np.array([[place(e.g, i) for e in data] for i in range(n)]),
            values=np.tile([float(self.solution.values[e.value]) for e in data], (n, 1)),
            L=float(self.function_class.L),
            mu=float(self.function_class.mu),
        )
        return made, place(self.start, 0)

    def _deviations(self) -> NDArray[np.float64]:
        """Gram matrix of the deviations; along a free direction they are as large as the tolerance of a replay (1e-6) asks for."""
        block = self.solution.blocks[1]
        if self.free is None:
            return block
        size = self.model.leaves.deviation
        direction = np.array([float(v) for v in self.free])
        pivot = int(np.flatnonzero(direction)[0])
        others = [i for i in range(size) if i != pivot]
        products = self.solution.values[self.model.leaves.values : self.model.leaves.values + len(others)]
        length = 1e6 * (1 + products @ products)
        gram = np.zeros((size, size))
        gram[np.ix_(others, others)] = block + np.outer(products, products) / length
        cross = np.zeros(size)
        cross[others] = products
        scaled = direction / direction[pivot]
        full = gram + np.outer(cross, scaled) + np.outer(scaled, cross) + length * np.outer(scaled, scaled)
        return np.asarray(full)


def _factor(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows r_k with block = rows rows^T, without the directions that are rounding."""
    if not len(block):
        return np.zeros((0, 0))
    values, vectors = np.linalg.eigh(block)
    keep = values > 1e-9 * max(values[-1], 1e-300)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


def symmetric_worst_case(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    rounds: int,
    measure: Measure = "squared_distance",
    radius: Number = 1,
    participation: Sampling | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    agree: bool = False,
) -> SymmetricWorstCase:
    """Largest value of ``measure`` after ``rounds`` rounds, over the class, in expectation over coins and participation, for every n >= 2.

    Parameters are those of `fedtheory.worst_case.worst_case`, without n. ``participation`` samples s of n clients (one round); with s = n
    it gives the number of clients where it matters (gradient noise, pairwise dissimilarity, shared functions at clients' points).
    ``agree``, ``tolerance`` and ``time_limit`` are those of `fedtheory.conic.solve`.

    A value is believed when the residuals are below the tolerance and all feasible points are limited (`fedtheory.conic.limits`), so that
    the residuals bound the error. Without limits it is unbounded if a direction or a cap shows it, and otherwise there is no answer.

    Raises
    ------
    CannotTrace
        The algorithm takes decisions on values, or does what exchangeable vectors cannot follow.
    SolverFailed
        No solver's answer was accepted, or nothing limits the feasible points.
    """
    if rounds < 1 or not radius > 0:
        raise InvalidInput(f"expected rounds >= 1 and radius > 0; got rounds={rounds}, radius={radius}")
    begun = time.perf_counter()
    model, problem, start, random = state_program(algorithm, function_class, rounds, measure, radius, participation)
    free = free_directions(model, problem.evaluations)
    solved = model.freed(free)
    program = solved.program(time_limit)
    limited = isinstance(conic.limits(program, time_limit=time_limit), conic.Limits)
    if not limited:  # a cancellation that rounding spoils hides a free direction: ask again in fractions
        exact, asked, _, _ = state_program(
            rational(algorithm), rational(function_class), rounds, measure, rational(radius), participation
        )
        again = exact.freed(free_directions(exact, asked.evaluations)).program(time_limit)
        limited = isinstance(conic.limits(again, time_limit=time_limit), conic.Limits)
    solution = (
        conic.solve(program, tolerance=tolerance, time_limit=time_limit, agree=agree)
        if limited
        else _unbounded(solved, CAP * float(radius), time_limit)
    )
    return SymmetricWorstCase(
        value=solution.value if limited else float("inf"),
        lower=solution.lower if limited else float("inf"),
        random=random,
        unbounded=not limited,
        solution=solution,
        model=model,
        free=next((direction for matrix, direction in free if matrix == "Q"), None),
        evaluations=tuple(problem.evaluations),
        start=start,
        algorithm=algorithm,
        function_class=function_class,
        rounds=rounds,
        measure=measure,
        radius=float(radius),
        participation=participation,
        seconds=time.perf_counter() - begun,
        size={
            "mean": model.leaves.mean,
            "deviation": model.leaves.deviation,
            "constraints": len(model.inequalities) + len(model.equations),
        },
    )


def _unbounded(model: Model, cap: float, time_limit: float | None) -> conic.Solution:
    """What shows that a program without limits is unbounded: a direction along which it grows, or a solution that reaches a high cap.

    Raises
    ------
    SolverFailed
        Nothing shows it; or there is no feasible point.
    """
    try:
        conic.solve(model.program(), solvers=FAST, time_limit=time_limit)
    except conic.Infeasible:
        raise
    except SolverFailed:
        pass  # an answer would not be believed, either
    found = conic.growing(model.program(), solvers=FAST, time_limit=time_limit) or _capped(model, cap, time_limit)
    if found is None:
        raise SolverFailed(
            "nothing limits the points of this program, so that a solver's answer may be a number where the worst case is infinite, and no "
            "direction was found along which it clearly is; say by how much the clients can differ (zeta, bgd or dissimilarity)"
        )
    return found


#: without limits a first-order solver runs to its last iteration, and hardly ever shows more
FAST = ("CLARABEL",)


def _capped(model: Model, cap: float, time_limit: float | None) -> conic.Solution | None:
    """A solution that reaches a cap far above any useful bound, which bounded programs do not, or None."""
    capped = dataclasses.replace(model, objectives=(*model.objectives, Form(constant=cap)))
    try:
        solution = conic.solve(capped.program(), tolerance=1e-4, solvers=FAST, time_limit=time_limit)
    except SolverFailed:
        return None
    return solution if solution.lower >= (1 - 1e-3) * cap else None


def state_program(
    algorithm: Algorithm,
    function_class: FunctionClass,
    rounds: int,
    measure: Measure,
    radius: Number,
    participation: Sampling | None,
) -> tuple[Model, SymmetricProblem, Vector, bool]:
    """Trace the rounds and collect the program's conditions; the model, the problem, the start, and whether coins were enumerated.

    Raises
    ------
    CannotTrace, InvalidInput
        The algorithm, the measure or the class is outside what this program can say.
    """
    require_worst_case(algorithm, noise=function_class.sigma is not None)
    distance = measure in ("squared_distance", "gap")
    if distance and not function_class.convex:
        raise InvalidInput(f"{measure!r} speaks of the minimiser x*; it goes with convex classes (mu >= 0)")
    if not distance and function_class.composite:
        raise InvalidInput(
            f"{measure!r} is the gradient of f alone; composite classes go with 'squared_distance' and 'gap'"
        )
    n = None if participation is None else participation.n
    leaves = Leaves()
    h = SharedRegulariser(leaves, indicator=function_class.indicator) if function_class.composite else None
    noise = None
    if function_class.sigma is not None:
        if n is None:
            raise InvalidInput(
                "noise averages out over the clients, so that their number n matters: pass participation=Sampling(n, n), or Sampling(n, s)"
            )
        noise = Noise(leaves, function_class.sigma, n)
    problem = SymmetricProblem(leaves, function_class.mu, h, noise)
    # without a minimiser, the origin may as well be the start
    x0 = leaves.vector(common=True) if distance else Vector({})
    star = None
    if distance:
        star = problem.add(Vector({}), leaves.deviation_only() if h is None else leaves.vector())
        if h is not None:
            h.add(Vector({}), -star.g.averaged(None))
    everyone = participation is None or participation.s == participation.n
    runs = courses(algorithm, problem, cell(x0), rounds, ((1, None if everyone else participation),))
    paths = [(weight, [entry(state.x) for state in states]) for weight, states in runs]

    objectives = _objectives(problem, paths, measure, rounds, participation)
    models = list({id(v): v for _, path in paths for v in path}.values())
    found: list[tuple[str, Form]] = []
    relaxed: list[str] = []
    if star is not None:
        found.append(("radius", square(x0) - radius**2))
        if function_class.zeta is not None:
            found.append(("zeta", square(star.g) - function_class.zeta**2))
    else:
        low = leaves.value()
        found.append(("radius", Form(values={problem.at(x0).value: 1, low: -1}) - radius))
        for v in models:
            at = problem.at(v)
            mean = at.g.averaged(None)
            lowest = Form(values={low: 1, at.value: -1}) + square(mean) * over(1, 2 * function_class.L)
            found.append(("lower bound", lowest))
    if function_class.bgd is not None or function_class.dissimilarity is not None:
        gradients = {id(e): e.g for e in (problem.at(v) for v in models)}
        found += dissimilarity(function_class, list(gradients.values()), n)
        relaxed.append("dissimilarity of the clients is imposed at the server's models only")
    found += problem.conditions

    clients = Function("interpolation", tuple(problem.evaluations), function_class.L, function_class.mu)
    functions = [clients]
    if h is not None:
        functions.append(Function("regulariser", tuple(h.evaluations), None, 0, shared=True))
    if function_class.similarity is not None:
        average, difference = average_and_differences(leaves, problem.evaluations)
        functions.append(Function("average", tuple(average), function_class.L, function_class.mu, shared=True))
        functions.append(
            Function("difference", tuple(difference), function_class.similarity, -function_class.similarity)
        )
        relaxed.append(
            "the clients' functions, the average f and the differences f_i - f are interpolated each by itself"
        )
        if not all(e.x.common for e in average):
            relaxed.append("the average f is tied to the clients' functions only at points that they have in common")
    equations: list[tuple[str, Form]] = []
    if noise is not None:
        found += noise.inequalities()
        equations = noise.equations()
        if noise.reach(e for f in functions for e in f.evaluations):
            relaxed.append("conditions between different outcomes of the noise are left out")
    for function in functions:
        found += function.conditions(n)
    model = Model(
        leaves, tuple(found), tuple(objectives), tuple(equations), tuple(relaxed), functions=tuple(functions), clients=n
    )
    return model, problem, x0, len(paths) > 1


def _objectives(
    problem: SymmetricProblem,
    paths: list[tuple[Number, list[Vector]]],
    measure: Measure,
    rounds: int,
    participation: Sampling | None,
) -> list[Form]:
    h = problem.regulariser

    def expected(of: Callable[[Vector], Form], r: int) -> Form:
        total = Form()
        for weight, path in paths:
            total = total + of(path[r]) * weight
        return total

    def slope(x: Vector) -> Form:
        return square(problem.at(x).g.averaged(None))

    def value(x: Vector) -> Form:
        smooth = Form(values={problem.at(x).value: 1})
        return smooth if h is None else smooth + Form(values={h.at(x).value: 1})

    if measure == "squared_distance":
        return [expected(lambda x: square(x, participation), rounds)]
    if measure == "gap":
        return [expected(value, rounds) - value(Vector({}))]
    if measure == "stationarity":
        return [expected(slope, rounds)]
    each = [expected(slope, r) for r in range(1, rounds + 1)]
    if measure == "sum_stationarity":
        total = each[0]
        for form in each[1:]:
            total = total + form
        return [total]
    if measure == "min_stationarity":
        return each
    raise InvalidInput(f"unknown measure {measure!r}")

"""A method's rounds over a class of functions as one semidefinite program."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.conditions import average_and_differences, dissimilarity, over
from fedtheory.proofs.every_n.model import Function, Model
from fedtheory.proofs.every_n.noise import Noise
from fedtheory.proofs.every_n.oracles import Leaves, SharedRegulariser, SymmetricProblem, cell, entry
from fedtheory.proofs.every_n.vectors import Form, Number, Sampling, Vector, square
from fedtheory.proofs.function_class import FunctionClass, Measure, require_worst_case
from fedtheory.running.enumeration import courses


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

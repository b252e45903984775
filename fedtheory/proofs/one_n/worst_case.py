"""The exact worst case of an algorithm over a class of functions, as a semidefinite program (PEPit).

The algorithm's own round function is traced on PEPit points: an array element is a whole vector, so client arrays
have shape ``(n, 1)``. What comes back is the value, the residuals of the primal and the dual solution, and the
worst-case functions themselves, which the numeric engine replays.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.arrays import average
from fedtheory.core.errors import InvalidInput, require
from fedtheory.core.problem import gradient
from fedtheory.measures import metrics as measures
from fedtheory.measures.metrics import Metric
from fedtheory.proofs.function_class import FunctionClass, Measure, require_worst_case
from fedtheory.proofs.interpolation import Interpolated
from fedtheory.proofs.one_n.pepit_problem import PointProblem, PointRegulariser, ShortPoints, column
from fedtheory.proofs.one_n.standard_form import StandardForm, leaf_weights, standard_form
from fedtheory.proofs.semidefinite.bounded import maximise
from fedtheory.proofs.semidefinite.solve import Attempt, Residuals, Solution
from fedtheory.running.enumeration import courses, every_subset
from fedtheory.running.runner import run


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The answer of a worst-case computation.

    ``value`` is the dual value (an upper bound up to the residuals), infinite when the program is unbounded; ``lower`` the
    primal value.
    """

    value: float
    lower: float
    solution: Solution
    seconds: float
    size: dict[str, int]
    algorithm: Algorithm
    function_class: FunctionClass
    n: int
    rounds: int
    measure: Measure
    radius: float
    instance: Interpolated | None = None
    x0: NDArray[np.float64] | None = None
    random: bool = False

    @property
    def unbounded(self) -> bool:
        """Whether no finite bound exists over the class."""
        return bool(np.isinf(self.value))

    @property
    def residuals(self) -> Residuals | None:
        """How far the solution is from satisfying its own conditions; None where the program is unbounded."""
        return None if self.unbounded else self.solution.residuals

    @property
    def solver(self) -> str:
        """Who found the solution."""
        return self.solution.solver

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Which solvers were asked, and what each said."""
        return self.solution.attempts

    def replay(self) -> float:
        """Run the algorithm on the worst-case functions with the numeric engine and measure what it reaches.

        The functions are rebuilt from the Gram matrix as members of the class (`Interpolated`), so the number returned is
        attained by functions of the class from a start that satisfies the initial condition up to rounding.

        Raises
        ------
        InvalidInput
            There is no instance (the program is unbounded or was not solved).
        """
        if self.instance is None or self.x0 is None:
            raise InvalidInput(
                "this worst case has no instance to replay (the program was unbounded, or the class is composite, whose h is not rebuilt)"
            )
        if self.random:
            raise InvalidInput(
                "replaying an expectation or prescribed coins is not supported; use a deterministic schedule for p and full participation"
            )
        trace = run(self.algorithm, self.instance, self.x0, self.rounds, metrics={"m": _metric(self.measure)})
        return float(_combine(self.measure, trace["m"]))


def worst_case(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    n: int,
    rounds: int,
    measure: Measure = "squared_distance",
    radius: float = 1.0,
    coins: Mapping[int, Mapping[str, bool]] | None = None,
    participants: int | None = None,
    solvers: Sequence[str] = ("CLARABEL", "SCS"),
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    agree: bool = False,
) -> WorstCase:
    """Largest value of ``measure`` that the algorithm can have after ``rounds`` rounds, over the whole class.

    Parameters
    ----------
    algorithm : Algorithm
        Made of linear combinations and gradient or proximal oracles.
    function_class : FunctionClass
    n : int
        Number of clients.
    rounds : int
    measure : str
        ``squared_distance`` ||x^R - x*||^2 and ``gap`` f(x^R) - f* (convex classes, start ||x^0 - x*|| <= radius);
        ``stationarity`` ||grad f(x^R)||^2, ``sum_stationarity`` (r = 1..R) and ``min_stationarity`` (start
        f(x^0) - inf f <= radius, where f is L-smooth and bounded below).
    radius : number
        Size of the initial condition.
    coins : mapping of round to outcomes, optional
        Prescribed coins, for methods with random communication; None takes the expectation over all their outcomes.
    participants : int, optional
        s: the expectation over a uniform choice of s of the n clients in every round (``C(n, s)^rounds`` courses).
    solvers, tolerance, time_limit, agree
        Those of `fedtheory.proofs.semidefinite.bounded.maximise`: solvers in the order they are tried; a value is believed when all
        residuals of the answer, relative to max(1, value), are below the tolerance, whatever status the solver reports, and all
        feasible points are limited, so that the residuals bound the error.

    Returns
    -------
    WorstCase
        With ``value`` infinite when the program is seen to be unbounded: no bound of any use exists over this class.

    Raises
    ------
    CannotTrace
        The algorithm takes decisions on values.
    SolverFailed
        No solver's answer was accepted; the message says what each returned.
    """
    require_worst_case(algorithm)
    if not solvers:
        raise InvalidInput("no solver is given; name at least one, for example ('CLARABEL',)")
    if n < 1 or rounds < 1 or not radius > 0:
        raise InvalidInput(f"expected n >= 1, rounds >= 1 and radius > 0; got n={n}, rounds={rounds}, radius={radius}")
    if measure not in get_args(Measure):
        raise InvalidInput(f"unknown measure {measure!r}; known are {', '.join(get_args(Measure))}")
    if function_class.similarity is not None or function_class.sigma is not None:
        raise InvalidInput(
            "similarity and sigma go with the program for all numbers of clients: fedtheory.proofs.every_n.worst_case.symmetric_worst_case, with "
            "participation=Sampling(n, n) where n matters"
        )
    distance = measure in ("squared_distance", "gap")
    if distance and not function_class.convex:
        raise InvalidInput(f"{measure!r} speaks of the minimiser x*; it goes with convex classes (mu >= 0)")
    if not distance and function_class.composite:
        raise InvalidInput(
            f"{measure!r} is the gradient of f alone; composite classes go with 'squared_distance' and 'gap'"
        )
    begun = time.perf_counter()
    pep, problem, x0, random = _model(algorithm, function_class, n, rounds, measure, radius, coins, participants)
    form = standard_form(pep)
    solution, unbounded = maximise(
        form.program,
        size=float(radius),
        tolerance=tolerance,
        solvers=solvers,
        time_limit=time_limit,
        agree=agree,
    )
    instance, start = None, None
    if not unbounded and not function_class.composite:
        instance, start = _read_back(form, solution, problem, x0, function_class)
    return WorstCase(
        value=float("inf") if unbounded else solution.value,
        lower=float("inf") if unbounded else solution.lower,
        solution=solution,
        seconds=time.perf_counter() - begun,
        size={"gram": form.leaves, "constraints": form.program.constraints},
        algorithm=algorithm,
        function_class=function_class,
        n=n,
        rounds=rounds,
        measure=measure,
        radius=radius,
        instance=instance,
        x0=start,
        random=random,
    )


def _model(
    algorithm: Algorithm,
    function_class: FunctionClass,
    n: int,
    rounds: int,
    measure: Measure,
    radius: float,
    coins: Mapping[int, Mapping[str, bool]] | None,
    participants: int | None,
) -> tuple[Any, PointProblem, Any, bool]:
    """State the semidefinite program by tracing the algorithm's rounds."""
    pepit = require("PEPit", "worst cases")
    expression = require("PEPit.expression", "worst cases").Expression
    point = require("PEPit.point", "worst cases")
    pep = pepit.PEP()
    functions = [function_class.declare(pep) for _ in range(n)]
    shared = None
    if function_class.composite:
        kinds = require("PEPit.functions", "worst cases")
        shared = pep.declare_function(
            kinds.ConvexIndicatorFunction if function_class.indicator else kinds.ConvexFunction
        )
    problem = PointProblem(
        functions, function_class.mu, None if shared is None else PointRegulariser(shared), ShortPoints(pep)
    )
    # without a minimiser, the origin may as well be the start
    distance = measure in ("squared_distance", "gap")
    x0 = pep.set_initial_point() if distance else point.null_point
    start = column([x0])
    who = ((1, None),) if participants is None else tuple(every_subset(n, participants))
    runs = courses(algorithm, problem, start, rounds, who, coins)
    paths = [(float(weight), [state.x for state in states]) for weight, states in runs]
    server = list({id(x): x for _, path in paths for x in path}.values())

    def f(x: Any) -> Any:
        smooth = average(problem.value(x)[:, None])[0, 0]
        return smooth if shared is None else smooth + shared.value(x[0, 0])

    def slope(x: Any) -> Any:
        return gradient(problem, x)[0, 0]

    def expected(of: Any, r: int) -> Any:
        return np.sum(column([weight * of(path[r]) for weight, path in paths]))

    if measure in ("squared_distance", "gap"):
        # the minimiser is the origin: no unknown for it, and the Gram matrix keeps an interior
        free = [point.Point(is_leaf=True) for _ in range(n - 1)]
        last = -np.sum(column(free)) if free else point.null_point
        least = 0
        if shared is not None:  # mean_i grad f_i(x*) + s = 0 with a subgradient s of h at x*
            s, least = point.Point(is_leaf=True), expression(is_leaf=True)
            shared.add_point((point.null_point, s, least))
            last = last - n * s
        at_star = [*free, last]
        levels = [expression(is_leaf=True) for _ in range(n)]
        for function, g, level in zip(functions, at_star, levels, strict=True):
            function.add_point((point.null_point, g, level))
        pep.set_initial_condition(x0**2 <= radius**2)
        if function_class.zeta is not None:
            pep.add_constraint(np.sum(column(at_star) ** 2) / n <= function_class.zeta**2)
        if measure == "squared_distance":
            pep.set_performance_metric(expected(lambda x: x[0, 0] ** 2, rounds))
        else:
            pep.set_performance_metric(expected(f, rounds) - np.sum(column(levels)) / n - least)
    else:
        low = expression(is_leaf=True)
        pep.set_initial_condition(f(start) - low <= radius)
        for x in server:  # f is L-smooth, and nowhere below low
            pep.add_constraint(f(x) - slope(x) ** 2 / (2 * function_class.L) >= low)
        squares = [expected(lambda x: slope(x) ** 2, r) for r in range(1, rounds + 1)]
        if measure == "stationarity":
            pep.set_performance_metric(squares[-1])
        elif measure == "sum_stationarity":
            pep.set_performance_metric(np.sum(column(squares)))
        else:
            for square in squares:
                pep.set_performance_metric(square)
    if function_class.bgd is not None:
        big_g, big_d = function_class.bgd
        for x in server:
            mean_square = np.sum(problem.grad(x) ** 2) / n
            pep.add_constraint(mean_square <= big_g**2 + big_d**2 * slope(x) ** 2)
    if function_class.dissimilarity is not None:
        for x in server:
            g = problem.grad(x)[:, 0]
            for i in range(n):
                for j in range(i):
                    pep.add_constraint((g[i] - g[j]) ** 2 <= function_class.dissimilarity**2)
    return pep, problem, x0, len(paths) > 1 or coins is not None


def _read_back(
    form: StandardForm, solution: Solution, problem: PointProblem, x0: Any, function_class: FunctionClass
) -> tuple[Interpolated, NDArray[np.float64]]:
    """Coordinates of all points from a factor of the Gram matrix, and the functions through them."""
    coordinates = form.coordinates(solution.blocks[0], solution.values)

    def place(p: Any) -> NDArray[np.float64]:
        return np.asarray(leaf_weights(p, form.leaves) @ coordinates)

    values = form.values(solution.values)

    def level(value: Any) -> float:
        return float(sum(weight * values[leaf.counter] for leaf, weight in value.decomposition_dict.items()))

    triples = [
        [(place(x), place(g), level(value)) for x, g, value in function.list_of_points]
        for function in problem.functions
    ]
    most = max(len(t) for t in triples)
    padded = [t + [t[-1]] * (most - len(t)) for t in triples]
    instance = Interpolated(
        points=np.array([[x for x, _, _ in t] for t in padded]),
        grads=np.array([[g for _, g, _ in t] for t in padded]),
        values=np.array([[v for _, _, v in t] for t in padded]),
        L=function_class.L,
        mu=function_class.mu,
    )
    return instance, place(x0)


def _metric(measure: Measure) -> Metric:
    if measure == "squared_distance":
        return measures.magnitude  # the minimiser is the origin
    if measure == "gap":
        return lambda problem, state: (
            measures.value(problem, state) - float(np.mean(problem.value(np.zeros((1, problem.d)))))
        )
    return measures.stationarity


def _combine(measure: Measure, values: NDArray[np.float64]) -> float:
    if measure == "sum_stationarity":
        return float(values[1:].sum())
    if measure == "min_stationarity":
        return float(values[1:].min())
    return float(values[-1])

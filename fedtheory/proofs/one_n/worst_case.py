"""The exact worst case of an algorithm over a class of functions, as a semidefinite program (PEPit).

The algorithm's own round function is traced on PEPit points: an array element is a whole vector, so client arrays
have shape ``(n, 1)``. What comes back is the value, the residuals of the primal and the dual solution, and the
worst-case functions themselves, which the numeric engine replays.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.arrays import average
from fedtheory.core.errors import InvalidInput, SolverFailed, require
from fedtheory.core.problem import gradient
from fedtheory.measures import metrics as measures
from fedtheory.measures.metrics import Metric
from fedtheory.proofs.function_class import CAP, FunctionClass, Measure, require_worst_case
from fedtheory.proofs.interpolation import Interpolated
from fedtheory.proofs.one_n.pepit_problem import PointProblem, PointRegulariser, ShortPoints, column
from fedtheory.running.enumeration import courses, every_subset
from fedtheory.running.runner import run

SOLVERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("CLARABEL", {}),
    ("SCS", {"eps": 1e-8, "max_iters": 200_000}),
)


@dataclass(frozen=True)
class Residuals:
    """How far a solution is from satisfying its own conditions; all are zero for an exact one.

    ``gram``: most negative eigenvalue of the Gram matrix (as a positive number). ``constraints``: largest violation of a
    primal constraint. ``dual_matrix``: most negative eigenvalue of the dual slack. ``multipliers``: most negative
    multiplier of an inequality. ``identity``: what is left of the linear identity of the proof. ``gap``: relative
    difference of dual and primal value.
    """

    gram: float
    constraints: float
    dual_matrix: float
    multipliers: float
    identity: float
    gap: float

    def worst(self) -> float:
        """Largest of them."""
        return max(self.gram, self.constraints, self.dual_matrix, self.multipliers, self.identity, abs(self.gap))


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The answer of a worst-case computation.

    ``value`` is the dual value (an upper bound up to the residuals), infinite when the program is unbounded; ``lower`` the
    primal value. ``attempts`` tells which solvers were tried and what each said.
    """

    value: float
    lower: float
    residuals: Residuals | None
    solver: str
    attempts: tuple[dict[str, Any], ...]
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
    solvers: tuple[tuple[str, dict[str, Any]], ...] = SOLVERS,
    tolerance: float = 1e-4,
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
    solvers, tolerance
        Solvers in the order they are tried; an answer is accepted when all its residuals, relative to max(1, value), are
        below the tolerance, whatever status the solver reports.

    Returns
    -------
    WorstCase
        With ``value`` infinite when a solver reports the program unbounded and the program capped at ``CAP * radius`` is
        seen to reach its cap: no bound of any use exists over this class.

    Raises
    ------
    CannotTrace
        The algorithm takes decisions on values.
    SolverFailed
        No solver's answer was accepted; the message says what each returned.
    """
    require_worst_case(algorithm)
    if not solvers:
        raise InvalidInput("no solver is given; name at least one, for example (('CLARABEL', {}),)")
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
    attempts: list[dict[str, Any]] = []
    for solver, options in solvers:
        # a fresh model for each solver: PEPit keeps the values of the first answer it evaluates
        pep, problem, x0, random = _model(algorithm, function_class, n, rounds, measure, radius, coins, participants)
        answer = _attempt(pep, solver, options)
        attempts.append(answer["said"])
        residuals, instance, start = answer["residuals"], None, None
        if answer["unbounded"]:
            capped = _model(algorithm, function_class, n, rounds, measure, radius, coins, participants)[0]
            if not _reaches(CAP * radius, capped, solvers, tolerance):
                continue
        elif residuals is None or not residuals.worst() <= tolerance * max(1.0, abs(answer["value"])):
            continue
        elif not function_class.composite:
            instance, start = _read_back(pep, problem, x0, function_class)
        return WorstCase(
            value=answer["value"],
            lower=answer["lower"],
            residuals=residuals,
            solver=solver,
            attempts=tuple(attempts),
            seconds=time.perf_counter() - begun,
            size=_size(pep),
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
    said = "; ".join(f"{a['solver']}: {a['status']}, worst residual {a['worst_residual']}" for a in attempts)
    raise SolverFailed(
        f"no solver's answer to this worst case is accurate to {tolerance:g} ({said}); lower rounds, local steps or n "
        f"(Gram matrix of size {_size(pep)['gram']})"
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
    problem = PointProblem(functions, None if shared is None else PointRegulariser(shared), ShortPoints(pep))
    x0 = pep.set_initial_point()
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


def _reaches(cap: float, pep: Any, solvers: Any, tolerance: float) -> bool:
    """Whether the program with its objective limited to ``cap`` attains it, judged by residuals and not by a status."""
    expression = require("PEPit.expression", "worst cases").Expression
    pep.set_performance_metric(expression(is_leaf=False, decomposition_dict={1: cap}))
    for solver, options in solvers:
        answer = _attempt(pep, solver, options)
        residuals = answer["residuals"]
        if residuals is not None and max(residuals.gram, residuals.constraints) <= tolerance * cap:
            return bool(answer["lower"] >= (1 - 1e-3) * cap)
    return False


def _attempt(pep: Any, solver: str, options: dict[str, Any]) -> dict[str, Any]:
    """Ask one solver, and measure its answer instead of believing its status."""
    said: dict[str, Any] = {"solver": solver, "status": "failed", "worst_residual": None}
    answer: dict[str, Any] = {
        "said": said,
        "unbounded": False,
        "residuals": None,
        "value": float("inf"),
        "lower": float("inf"),
    }
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            dual = pep.solve(wrapper="cvxpy", solver=solver, verbose=0, **options)
        except Exception as error:  # PEPit stumbles over a missing solution in many ways
            status = getattr(getattr(pep.wrapper, "prob", None), "status", None)
            said["status"] = status or f"{type(error).__name__}: {error}"
            answer["unbounded"] = status in ("unbounded", "unbounded_inaccurate")
            return answer
    said["status"] = status = pep.wrapper.prob.status
    if dual is None or pep.wrapper.prob.value is None or not np.isfinite(pep.wrapper.prob.value):
        answer["unbounded"] = status in ("unbounded", "unbounded_inaccurate")
        return answer
    answer["value"], answer["lower"] = float(dual), float(pep.objective.eval())
    answer["residuals"] = residuals = _residuals(pep, answer["value"], answer["lower"])
    said["value"], said["worst_residual"] = answer["value"], residuals.worst()
    return answer


def _residuals(pep: Any, dual: float, primal: float) -> Residuals:
    inequalities = [c for c in pep._list_of_prepared_constraints if c.equality_or_inequality == "inequality"]
    equalities = [c for c in pep._list_of_prepared_constraints if c.equality_or_inequality == "equality"]
    violation = max([0.0, *(float(c.eval()) for c in inequalities), *(abs(float(c.eval())) for c in equalities)])
    multipliers = min([0.0, *(float(c.eval_dual()) for c in inequalities)])
    return Residuals(
        gram=max(0.0, -float(np.linalg.eigvalsh(pep.G_value)[0])),
        constraints=violation,
        dual_matrix=max(0.0, -float(np.linalg.eigvalsh(pep.residual)[0])),
        multipliers=-multipliers,
        identity=_identity_residual(pep),
        gap=(dual - primal) / max(1.0, abs(primal)),
    )


def _identity_residual(pep: Any) -> float:
    """What the multipliers leave of objective - tau - sum of multiplied constraints, summed over all terms."""
    tools = require("PEPit.tools.dict_operations", "worst cases")
    point = require("PEPit.point", "worst cases").Point
    combination = -np.dot(point.list_of_leaf_points, np.dot(pep.residual, point.list_of_leaf_points))
    for constraint in pep._list_of_prepared_constraints:
        combination += constraint.eval_dual() * constraint.expression
    terms = tools.prune_dict(tools.symmetrize_dict((pep.objective - combination).decomposition_dict))
    return float(sum(abs(value) for key, value in terms.items() if key != 1))


def _size(pep: Any) -> dict[str, int]:
    return {
        "gram": int(np.shape(pep.G_value)[0]) if getattr(pep, "G_value", None) is not None else 0,
        "constraints": len(pep._list_of_prepared_constraints),
    }


def _read_back(
    pep: Any, problem: PointProblem, x0: Any, function_class: FunctionClass
) -> tuple[Interpolated, NDArray[np.float64]]:
    """Coordinates of all points from a factor of the Gram matrix, and the functions through them."""
    values, vectors = np.linalg.eigh((pep.G_value + pep.G_value.T) / 2)
    keep = values > 1e-9 * max(values[-1], 1e-300)
    coordinates = (vectors[:, keep] * np.sqrt(values[keep])).astype(float)  # row k: leaf point k

    def place(p: Any) -> NDArray[np.float64]:
        out = np.zeros(coordinates.shape[1])
        for leaf, weight in p.decomposition_dict.items():
            out += weight * coordinates[leaf.counter]
        return out

    triples = [
        [(place(x), place(g), float(level.eval())) for x, g, level in function.list_of_points]
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

"""The exact worst case of an algorithm over a class of functions of n clients, as a semidefinite program (stated with PEPit).

What comes back is the value, the residuals of the primal and the dual solution, and the
worst-case functions themselves, which the numeric engine replays.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.client_weights import ClientWeights, are_equal, check_weights, weighing_by
from fedtheory.core.errors import InvalidInput, require
from fedtheory.core.exact import in_floats
from fedtheory.core.weighted import weighted
from fedtheory.proofs.agreement import hold_together, require_membership
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.interpolation import Interpolated
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.one_n.program import PointProgram, state_point_program
from fedtheory.proofs.one_n.standard_form import StandardForm, read_leaf_weights, read_standard_form
from fedtheory.proofs.semidefinite.bounded import maximise
from fedtheory.proofs.semidefinite.solve import Attempt, Residuals, Solution
from fedtheory.proofs.sizes import sizes_of
from fedtheory.running.runner import run

#: seconds of a solver for (conditions + entries of the Gram matrix)^3, measured on one core, and how many of them are begun without being asked for
SECONDS, MOST_SECONDS = 3e-9, 120.0


@dataclass(frozen=True, eq=False)
class WorstCaseForOneN:
    """The answer of a worst-case computation.

    ``value`` is the dual value (an upper bound up to the residuals), infinite when the program is unbounded; ``lower`` the
    primal value.
    """

    value: float
    lower: float
    solution: Solution  #: in units, as the program that was solved
    seconds: float
    size: dict[str, int]
    algorithm: Algorithm
    function_class: FunctionClass
    n: int
    rounds: int
    measure: MeasureName
    radius: float
    instance: Interpolated | None = None
    x0: NDArray[np.float64] | None = None
    random: bool = False
    unit: float = 1.0  #: of the measure
    weights: ClientWeights | None = None  #: of the clients, where they are not equal

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

    def why_not_replayed(self) -> str | None:
        """Why `replay` cannot run the algorithm on the worst-case functions, or None."""
        if self.unbounded:
            return "the program is unbounded"
        if self.function_class.composite:
            return "the class is composite, and h is not rebuilt"
        if self.random:
            return "it is an expectation, or coins were prescribed; use a schedule for p and full participation"
        return None

    def replay(self) -> float:
        """Run the algorithm on the worst-case functions with the numeric engine and measure what it reaches.

        The functions are rebuilt from the Gram matrix as members of the class (`Interpolated`), so the number returned is
        attained by functions of the class from a start that satisfies the initial condition up to rounding.

        Raises
        ------
        InvalidInput
            There is nothing to run (`why_not_replayed`).
        SolverFailed
            The functions rebuilt are not of the class, or do not reach the value.
        """
        reason = self.why_not_replayed()
        if reason is not None or self.instance is None or self.x0 is None:
            raise InvalidInput(f"the worst case cannot be run: {reason}")
        measure = find_measure(self.measure)
        played = weighted(self.instance, self.weights)
        trace = run(in_floats(self.algorithm), played, self.x0, self.rounds, metrics={"m": measure.metric})
        require_membership(
            self.instance, self.x0, self.function_class, measure, float(self.radius), weights=self.weights
        )
        reached: float = measure.reached(trace["m"])
        hold_together("the value", self.value, "its replay", reached, size=self.unit)
        return reached


def worst_case_for_one_n(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    n: int,
    rounds: int,
    measure: MeasureName = "squared_distance",
    radius: float = 1.0,
    coins: Mapping[int, Mapping[str, bool]] | None = None,
    participants: int | None = None,
    weights: Sequence[float | Fraction] | None = None,
    solvers: Sequence[str] = ("CLARABEL", "SCS"),
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    agree: bool = False,
) -> WorstCaseForOneN:
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
    weights : n positive numbers with the sum 1, optional
        p_i: f is sum_i p_i f_i, the round's averages are by them (`fedtheory.core.client_weights`), and so are the means in zeta and (G, D).
    solvers, tolerance, time_limit, agree
        Those of `fedtheory.proofs.semidefinite.bounded.maximise`: solvers in the order they are tried; a value is believed when all
        residuals of the answer, relative to max(1, value), are below the tolerance, whatever status the solver reports, and all
        feasible points are limited, so that the residuals bound the error.

    Returns
    -------
    WorstCaseForOneN
        With ``value`` infinite when the program is seen to be unbounded: no bound of any use exists over this class.

    Raises
    ------
    CannotTrace
        The algorithm takes decisions on values.
    InvalidInput
        The program would take longer than some minutes, and no ``time_limit`` allows it.
    SolverFailed
        No solver's answer was accepted; the message says what each returned.
    """
    if not solvers:
        raise InvalidInput("no solver is given; name at least one, for example ('CLARABEL',)")
    begun = time.perf_counter()
    # points of this engine are not multiplied by fractions
    plain, over = in_floats(algorithm), in_floats(function_class)
    if time_limit is None:
        _require_short(n * rounds, 0)  # a gradient of each client a round, at the least; told before anything is traced
    shares = None if weights is None else check_weights([float(w) for w in weights], n)
    shares = None if shares is None or are_equal(shares) else shares
    with weighing_by(shares):
        stated = state_point_program(plain, over, n, rounds, measure, float(radius), coins, participants, shares)
    if time_limit is None:
        _require_short(require("PEPit.point", "worst cases").Point.counter, _count_conditions(stated.pep))
    sizes = sizes_of(function_class, find_measure(measure), radius)
    form = read_standard_form(stated.pep, sizes, stated.start)
    solution, unbounded = maximise(
        form.program,
        tolerance=tolerance,
        solvers=solvers,
        time_limit=time_limit,
        agree=agree,
    )
    instance, start = None, None
    if not unbounded and not function_class.composite:
        instance, start = _read_back(form, solution, stated, over)
    return WorstCaseForOneN(
        value=float("inf") if unbounded else solution.value * form.units.goal,
        lower=float("inf") if unbounded else solution.lower * form.units.goal,
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
        random=stated.random,
        unit=sizes.goal,
        weights=shares,
    )


def _count_conditions(pep: Any) -> int:
    """Of all pairs of a function's points, and those that are stated besides."""
    return len(pep.list_of_constraints) + sum(
        len(f.list_of_points) * (len(f.list_of_points) - 1) for f in pep.list_of_functions
    )


def _require_short(leaves: int, conditions: int) -> None:
    """Refuse a program that would take hours: every step factors a system of all conditions and all entries of the Gram matrix."""
    seconds = SECONDS * (conditions + leaves**2 / 2) ** 3
    if seconds > MOST_SECONDS:
        raise InvalidInput(
            f"a Gram matrix of {leaves} x {leaves} or more under {conditions} conditions would take some {seconds / 60:.3g} minutes; clients "
            "that are alike have a small program for every n at once (--clients any), and a time limit (--time-limit) lets this one be tried"
        )


def _read_back(
    form: StandardForm, solution: Solution, stated: PointProgram, function_class: FunctionClass
) -> tuple[Interpolated, NDArray[np.float64]]:
    """Coordinates of all points from a factor of the Gram matrix, and the functions through them."""
    coordinates = form.coordinates(solution.blocks[0], solution.values)

    def place(p: Any) -> NDArray[np.float64]:
        return np.asarray(read_leaf_weights(p, form.leaves) @ coordinates)

    values = form.values(solution.values)

    def level(value: Any) -> float:
        return float(sum(weight * values[leaf.counter] for leaf, weight in value.decomposition_dict.items()))

    triples = [
        [(place(x), place(g), level(value)) for x, g, value in function.list_of_points]
        for function in stated.problem.functions
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
    return instance, place(stated.start)

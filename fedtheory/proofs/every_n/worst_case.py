"""The exact worst case for every number of clients at once.

The algorithm's own round function is traced on exchangeable vectors (`fedtheory.proofs.every_n.vectors`). The program that comes out has two small
blocks, the Gram matrix of what clients have in common and that of their deviations, and one copy of the interpolation conditions;
averaging any worst case over the permutations of the clients shows that nothing is lost, and with deviations w_i (x) delta, w_1..w_n the
corners of a simplex, every solution is realised for every n >= 2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.exact import in_floats, rational
from fedtheory.proofs.agreement import hold_together, require_membership
from fedtheory.proofs.every_n.model import Model, find_free_directions
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.units import InUnits, state_in_units
from fedtheory.proofs.every_n.vectors import Number, Sampling, Vector
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.guard import BoundQuestion
from fedtheory.proofs.interpolation import Interpolated
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.semidefinite.bounded import maximise
from fedtheory.proofs.semidefinite.program import Program
from fedtheory.proofs.semidefinite.solve import Infeasible, Residuals, Solution, TooLarge
from fedtheory.proofs.sizes import sizes_of
from fedtheory.running.enumeration import MOST_SUBSETS, enumerate_courses, enumerate_subsets

#: most clients that a replay rebuilds
MOST_CLIENTS = 50
#: runs that tell what a worst case is at least where no solver's answer was accepted
TELLING_RUNS = 4000
#: squared length of a free vector when functions are rebuilt, relative to its products with the others; its inverse is lost
LONG = 1e6


@dataclass(frozen=True, eq=False)
class WorstCaseForEveryN:
    """The answer: valid for every n >= 2 (``n`` None), or for the n of the sampling.

    ``value`` is the dual value (an upper bound up to the residuals), ``lower`` the primal one; for a model with ``relaxations`` both are
    those of an upper bound of the worst case.
    """

    value: float
    lower: float
    solution: Solution  #: in units, as the program that was solved
    stated: InUnits
    model: Model
    free: list[Fraction] | None
    evaluations: tuple[Evaluation, ...]
    start: Vector
    algorithm: Algorithm
    function_class: FunctionClass
    rounds: int
    measure: MeasureName
    radius: float
    participation: Sampling | None
    seconds: float
    random: bool = False
    unbounded: bool = False
    size: Mapping[str, int] = field(default_factory=dict)

    @property
    def residuals(self) -> Residuals | None:
        """How far the solution is from satisfying its own conditions; None where the program is unbounded."""
        return None if self.unbounded else self.solution.residuals

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

    def why_not_replayed(self) -> str | None:
        """Why `replay` cannot run the algorithm on the worst-case functions, or None."""
        who = self.participation
        if who is not None and who.n > MOST_CLIENTS:
            return f"{who.n} clients are too many to rebuild one by one (at most {MOST_CLIENTS})"
        if who is not None and math.comb(who.n, who.s) > MOST_SUBSETS:
            return f"{who.s} of {who.n} clients can be chosen in more than {MOST_SUBSETS} ways"
        return self.why_no_instance()

    def replay(self, n: int = 2) -> float:
        """What the algorithm reaches on the worst-case functions, run with numbers; n is that of the sampling where there is one.

        An expectation over coins and over who takes part is taken over all outcomes.

        Raises
        ------
        InvalidInput
            The functions cannot be rebuilt (`why_not_replayed`).
        SolverFailed
            The functions rebuilt are not of the class, or do not reach the value.
        """
        reason = self.why_not_replayed()
        if reason is not None:
            raise InvalidInput(f"the worst case cannot be run: {reason}")
        who = self.participation
        instance, x0 = self.instance(n if who is None else who.n)
        clients = ((1, None),) if who is None or who.s == who.n else tuple(enumerate_subsets(who.n, who.s))
        measure = find_measure(self.measure)
        values, models = np.zeros(self.rounds + 1), list[NDArray[np.float64]]()
        method = in_floats(self.algorithm)
        for weight, states in enumerate_courses(method, instance, x0[None, :], self.rounds, clients):
            values += float(weight) * np.array([float(measure.metric(instance, state)) for state in states])
            models += [state.x for state in states]
        require_membership(instance, x0, self.function_class, measure, self.radius, models=models)
        reached = measure.reached(values)
        hold_together("the value", self.value, "its replay", reached, size=self.stated.units.goal)
        return reached

    def instance(self, n: int = 2) -> tuple[Interpolated, NDArray[np.float64]]:
        """The worst-case functions for n clients and the start, rebuilt from the Gram matrices as members of the class."""
        if n < 2:
            raise InvalidInput(f"expected n >= 2, got {n}")
        reason = self.why_no_instance()
        if reason is not None:
            raise InvalidInput(f"this worst case has no instance to run: {reason}")
        s = _factor(self.solution.blocks[0]) * self.stated.mean[:, None]
        q = self._deviations() * self.stated.deviation[:, None]
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
        values = self.solution.values * self.stated.units.values
        made = Interpolated(
            points=np.array([[place(e.x, i) for e in data] for i in range(n)]),
            grads=np.array([[place(e.g, i) for e in data] for i in range(n)]),
            values=np.tile([float(values[e.value]) for e in data], (n, 1)),
            L=float(self.function_class.L),
            mu=float(self.function_class.mu),
        )
        return made, place(self.start, 0)

    def _deviations(self) -> NDArray[np.float64]:
        """Coordinates of the deviations, in units, one a row; a free direction is followed as far as the accuracy of a replay asks for."""
        rows = _factor(self.solution.blocks[1])
        if self.free is None:
            return rows
        sizes, size = self.stated.deviation, self.model.leaves.deviation
        direction = np.array([float(v) for v in self.free])
        pivot = int(np.flatnonzero(direction)[0])
        others = [i for i in range(size) if i != pivot]
        products = self.solution.values[self.model.leaves.values : self.model.leaves.values + len(others)]
        length = np.sqrt(LONG * (1 + products @ products))
        found = np.zeros((size, rows.shape[1] + 1))
        found[others, :-1] = rows
        found[others, -1] = products / length
        found[:, -1] += length * direction / direction[pivot] * (sizes[pivot] / sizes)
        return found


def _factor(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows r_k with block = rows rows^T, without the directions that are rounding."""
    if not len(block):
        return np.zeros((0, 0))
    values, vectors = np.linalg.eigh(block)
    keep = values > 1e-9 * max(values[-1], 1e-300)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


def _at_least(asked: BoundQuestion) -> str:
    """What runs on random functions of the class reach, where that is known: the worst case is not less."""
    found = asked.runs(1.0, TELLING_RUNS)
    if not found.largest > 0:
        return ""
    return f"; functions of the class with {found.clients} clients reach {found.largest:.6g}, so that the worst case is at least that"


def worst_case_for_every_n(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    rounds: int,
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    participation: Sampling | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    agree: bool = False,
    solvers: Sequence[str] = ("CLARABEL", "SCS"),
) -> WorstCaseForEveryN:
    """Largest value of ``measure`` after ``rounds`` rounds, over the class, in expectation over coins and participation, for every n >= 2.

    Parameters are those of `fedtheory.proofs.one_n.worst_case.worst_case`, without n. ``participation`` samples s of n clients (one round);
    with s = n it gives the number of clients where it matters (gradient noise, pairwise dissimilarity, shared functions at clients'
    points).
    ``agree``, ``tolerance``, ``time_limit`` and ``solvers`` are those of `fedtheory.proofs.semidefinite.bounded.maximise`: a value is believed when
    the residuals are below the tolerance and all feasible points are limited, so that the residuals bound the error.

    Raises
    ------
    CannotTrace
        The algorithm takes decisions on values, or does what exchangeable vectors cannot follow.
    SolverFailed
        No solver's answer was accepted, or nothing limits the feasible points.
    """
    begun = time.perf_counter()
    model, problem, start, random = state_program(
        algorithm, function_class, rounds, measure, radius, participation, time_limit
    )
    free = find_free_directions(model, problem.evaluations)
    sizes = sizes_of(function_class, find_measure(measure), radius)
    stated = state_in_units(model, problem, start, free, sizes, time_limit)

    def stated_exactly() -> Program:  # a cancellation that rounding spoils hides a free direction
        exact, asked, origin, _ = state_program(
            rational(algorithm), rational(function_class), rounds, measure, rational(radius), participation, time_limit
        )
        directions = find_free_directions(exact, asked.evaluations)
        return state_in_units(exact, asked, origin, directions, sizes, time_limit).program

    how: dict[str, Any] = {"tolerance": tolerance, "solvers": solvers, "time_limit": time_limit, "agree": agree}
    try:
        solution, unbounded = maximise(stated.program, stated_exactly=stated_exactly, **how)
    except (Infeasible, TooLarge):
        raise
    except SolverFailed as error:
        asked = BoundQuestion(algorithm, function_class, rounds, measure, radius, participation)
        raise SolverFailed(f"{error}{_at_least(asked)}") from error
    return WorstCaseForEveryN(
        value=float("inf") if unbounded else solution.value * stated.units.goal,
        lower=float("inf") if unbounded else solution.lower * stated.units.goal,
        random=random,
        unbounded=unbounded,
        solution=solution,
        stated=stated,
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

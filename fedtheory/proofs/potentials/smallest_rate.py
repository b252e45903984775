"""The smallest rate for which a potential exists, over a whole class of functions and for every number of clients at once.

A potential is a quadratic form in the free parts u of a method's errors (`fedtheory.proofs.potentials.invariants`) plus a multiple of the
objective gap, and where that is asked for, or oracles promise something of their answers, as compressors do, of the clients' gradients at x:

    V = sum_jk P_jk <mean u_j, mean u_k> + sum_jk D_jk mean_i <dev u_j, dev u_k> + q (f(x) - f*).

For a rate rho it has to satisfy, given the interpolation conditions of all functions of the class at the points of one round,

    decrease:  E V(after) - rho V(before) <= 0          floor:  ||x - x*||^2 - V(before) <= 0,

so that E ||x^r - x*||^2 <= rho^r V^0. With multipliers of the interpolation conditions both are linear matrix inequalities in P, D, q and the
multipliers: one semidefinite program for each rho (`fedtheory.proofs.potentials.program`), and a bisection over rho. The formulation is that of
Upadhyaya, Banert, Taylor, Giselsson 2025, with exchangeable clients, so that n does not enter, or only as a number under sampling.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.core.arrays import Array, average
from fedtheory.core.arrays import inner as inner_products
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.exact import rational
from fedtheory.core.problem import Problem, objective
from fedtheory.measures.metrics import Metric
from fedtheory.proofs.certificates.upper_bounds import Certificate
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.function_class import FunctionClass, require_method_and_class, require_worst_case
from fedtheory.proofs.guard import Runs, require_within
from fedtheory.proofs.potentials.first_guess import least_that_holds, rate_on_quadratics
from fedtheory.proofs.potentials.guard import DecreaseQuestion, require_decrease
from fedtheory.proofs.potentials.invariants import KINDS, ErrorModel, PartKind, Relation, follow_errors
from fedtheory.proofs.potentials.program import PotentialSearch
from fedtheory.proofs.potentials.terms import GRADIENT, name_parts
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.running.enumeration import enumerate_outcomes, enumerate_subsets

#: how many steps of the bisection above the smallest rate found an exact proof is tried
STEPS_BACK = (0, 1, 3, 10, 30, 100)
#: runs that a solver's rate of a stated potential is held against, and by how much one may exceed it, relatively
FEW_RUNS, BEYOND_SOLVER = 200, 1e-4


@dataclass(frozen=True, eq=False)
class Potential:
    """V: ``weights[kind]`` is the symmetric matrix of the parts of the fields ``free[kind]``, ``gap`` the weight of f(x) - f*.

    ``sizes`` are those of the fields (`fedtheory.proofs.potentials.invariants.ErrorModel.units`) and, under "gap", of f(x) - f*.
    """

    algorithm: Algorithm
    free: Mapping[PartKind, tuple[str, ...]]
    weights: Mapping[PartKind, NDArray[np.float64]]
    gap: float
    sizes: Mapping[str, float]

    @classmethod
    def of(cls, algorithm: Algorithm, search: PotentialSearch, weights: Sequence[Any]) -> Potential:
        """V from the coefficients of its terms."""
        free = name_parts(search.model, search.step)
        matrices: dict[PartKind, NDArray[np.float64]] = {kind: np.zeros((len(free[kind]),) * 2) for kind in KINDS}
        for weight, (kind, j, k) in zip(weights, search.terms.entries, strict=False):
            matrices[kind][j, k] += float(weight) / 2
            matrices[kind][k, j] += float(weight) / 2
        sizes = {name: float(size) for name, size in search.model.units.items()} | {
            "gap": float(search.model.steepness),
            GRADIENT: float(search.model.steepness),
        }
        return cls(algorithm, free, matrices, float(weights[-1]) if search.terms.has_gap else 0.0, sizes)

    def __str__(self) -> str:
        """The terms with rounded coefficients, without negligible ones; a name stands for its difference to the fixed point."""
        terms = []
        for kind in KINDS:
            for j, u in enumerate(self.free[kind]):
                for k, v in enumerate(self.free[kind][j:], j):
                    weight = self.weights[kind][j, k] * (1 if j == k else 2)
                    terms.append((weight, self.sizes[u] * self.sizes[v], _term(kind, u, v)))
        terms.append((self.gap, self.sizes["gap"], "(f(x) - f*)"))
        least = 1e-5 * max(abs(weight) * size for weight, size, _ in terms)
        shown = [
            f"{'-' if weight < 0 else '+'} {abs(weight):.4g} {term}"
            for weight, size, term in terms
            if abs(weight) * size > least
        ]
        return " ".join(shown).removeprefix("+ ")

    def metric(self, x_star: Array) -> Metric:
        """V as a metric of runs, on an instance with minimiser x* ``(..., 1, d)``."""

        def value(problem: Problem, state: State) -> Array:
            return self.at_solution(problem, self.algorithm.solution_state(problem, x_star), state)

        return value

    def at_solution(self, problem: Problem, star: State, state: State) -> Array:
        """V of a state, where the state at x* is known."""
        total = self.gap * (objective(problem, state.x) - objective(problem, star.x))
        for kind in KINDS:
            errors = [_error_of(problem, name, star, state) for name in self.free[kind]]
            parts = [average(e) if kind == "mean" else e - average(e) for e in errors]
            for j, u in enumerate(parts):
                for k, v in enumerate(parts):
                    total = total + self.weights[kind][j, k] * average(inner_products(u, v)[..., None])[..., 0, 0]
        return total


def _error_of(problem: Problem, name: str, star: State, state: State) -> Array:
    """A field of a state, or the gradients at its x, less that at the fixed point."""
    if name == GRADIENT:
        return problem.grad(state.x) - problem.grad(star.x)
    return getattr(state, name) - getattr(star, name)


def _term(kind: PartKind, u: str, v: str) -> str:
    if kind == "mean":
        a, b = (f"mean {name}" if name.endswith("_i") or name == GRADIENT else name for name in (u, v))
        return f"||{a}||^2" if u == v else f"<{a}, {b}>"
    return f"mean||dev {u}||^2" if u == v else f"mean<dev {u}, dev {v}>"


@dataclass(frozen=True, eq=False)
class SmallestRate:
    """The answer: E V(after) <= rate * V(before) in every round from round ``first`` on.

    ``rate`` is the smallest one of the bisection for which the solver found a potential, infinite if it found none with rate 1.
    ``none_at`` is the largest one tried at which no potential exists, and ``excluded`` the residual of what shows it
    (`fedtheory.proofs.semidefinite.solve.Ray`); both None if nothing did. ``proved`` is the rate of the exact certificates, whose potential
    is the one given; None without them. ``relations`` between fields are proved, and V lives where they hold.
    ``runs``: those that the proved rate was held against.
    """

    rate: float
    none_at: float | None
    excluded: float | None
    potential: Potential | None
    residual: float
    proved: Fraction | None
    decrease: Certificate | None
    floor: Certificate | None
    relations: tuple[Relation, ...]
    first: int
    seconds: float
    size: dict[str, int]
    runs: Runs | None = None


def smallest_rate(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    participation: Sampling | None = None,
    assume: Sequence[Relation] = (),
    gradients: bool | None = False,
    accuracy: Fraction = Fraction(1, 10**5),
    proof: bool = True,
    time_limit: float | None = None,
) -> SmallestRate:
    """The smallest factor by which some potential shrinks in every round, on every member of the class, for every n >= 2.

    Parameters
    ----------
    algorithm : Algorithm
        With a fixed point at x* (`solution_state`), and rounds that are all alike. Numbers are read as the decimals that they print as.
    function_class : FunctionClass
        L-smooth, convex or strongly convex, without further conditions.
    participation : Sampling, optional
        s of n clients take part, uniformly; then V has no term f(x) - f*.
    assume : relations between fields that the caller relies on
        They are refused unless they are proved. (Those that are proved are always used.)
    gradients : bool or None
        Whether V may have the gradients at x among its terms, which makes programs larger; None: where clients have nothing of their own.
    accuracy : Fraction
        Step of the bisection.
    proof : bool
        Whether to look for exact certificates.
    time_limit : seconds for one program, optional

    Raises
    ------
    CannotTrace
        The method decides on values, has no fixed point at x*, or has rounds that depend on their number.
    InvalidInput
        The class has conditions that potentials do not use, or a relation relied on is not kept.
    """
    require_method_and_class(algorithm, function_class)
    if not 0 < accuracy < 1:
        raise InvalidInput(f"accuracy must lie between 0 and 1, got {accuracy}")
    begun = time.perf_counter()
    model = _model(algorithm, function_class, participation, assume)
    model = replace(model, gradients=not model.space.free["deviation"] if gradients is None else gradients)
    search = PotentialSearch.of(model)
    most = int(1 / accuracy)
    answers: dict[int, conic.Solution | conic.Ray] = {}

    def exists(k: int) -> bool:
        try:
            answers[k] = conic.find_multipliers(
                search.program(float(k * accuracy)), solvers=("CLARABEL",), time_limit=time_limit
            )
        except SolverFailed:
            return False
        return isinstance(answers[k], conic.Solution)

    begin = rate_on_quadratics(model, search.step)
    high = least_that_holds(exists, most, None if begin is None else float(begin / accuracy)) or most
    excluded = max(((k, a.residual) for k, a in answers.items() if isinstance(a, conic.Ray)), default=None)
    best = answers.get(high)
    potential, proved, decrease, floor, seen = None, None, None, None, None
    if isinstance(best, conic.Solution):
        potential = Potential.of(algorithm, search, search.weights(best.multipliers))
        tried = [(high + back) * accuracy for back in STEPS_BACK] if proof else []
        for rate in tried:
            proof_found = search.prove(rate) if rate <= 1 else None
            if proof_found is not None:
                weights, decrease, floor = proof_found
                potential, proved = Potential.of(algorithm, search, weights), rate
                seen = require_decrease(model, potential.at_solution, rate)
                break
    return SmallestRate(
        rate=float(high * accuracy) if potential is not None else np.inf,
        none_at=None if excluded is None else float(excluded[0] * accuracy),
        excluded=None if excluded is None else excluded[1],
        potential=potential,
        residual=best.worst() if isinstance(best, conic.Solution) else np.inf,
        proved=proved,
        decrease=decrease,
        floor=floor,
        relations=model.space.named(),
        first=model.first,
        seconds=time.perf_counter() - begun,
        size=search.size(),
        runs=seen,
    )


def require_class_of_potentials(function_class: FunctionClass) -> None:
    """Refuse classes over which no potential is looked for.

    Raises
    ------
    InvalidInput
        They are not convex, or have further conditions.
    """
    plain = FunctionClass(function_class.L, function_class.mu)
    if not function_class.convex or function_class != plain:
        raise InvalidInput(
            "potentials are found over L-smooth functions, convex or strongly convex, without further conditions (functions='L, mu'); "
            f"got {function_class}"
        )


def _model(
    algorithm: Algorithm, function_class: FunctionClass, participation: Sampling | None, assume: Sequence[Relation] = ()
) -> ErrorModel:
    require_worst_case(algorithm)
    require_class_of_potentials(function_class)
    return follow_errors(rational(algorithm), rational(function_class), participation, assume)


def search_potentials(
    algorithm: Algorithm, function_class: FunctionClass, participation: Sampling | None = None
) -> PotentialSearch:
    """The program of a method's potentials, for stated ones, too.

    Raises
    ------
    CannotTrace, InvalidInput
        As in `smallest_rate`.
    """
    return PotentialSearch.of(_model(algorithm, function_class, participation))


def rate_of(
    algorithm: Algorithm,
    function_class: FunctionClass,
    weights: Mapping[str, Any],
    *,
    participation: Sampling | None = None,
    proof: bool = False,
    time_limit: float | None = None,
) -> float | Fraction:
    """The exact rate of a stated potential  V = sum_f weights[f] * mean_i ||error of field f||^2:  the largest E V(after) / V(before).

    With ``proof`` it is a fraction, proved in exact arithmetic: the rate itself where that is simple, or slightly more.

    Raises
    ------
    SolverFailed
        No answer was accepted, or a run of the class contradicts it; V may not bound the errors that a round depends on, and then has no rate.
    """
    model = _model(algorithm, function_class, participation)
    unknown = [name for name in weights if name not in model.space.fields]
    if unknown or not weights:
        raise InvalidInput(f"expected weights of the fields {', '.join(model.space.fields)}; got {dict(weights)}")
    search = PotentialSearch.of(model)
    potential = {f"field {name}": weight for name, weight in rational(tuple(weights.items()))}
    exact = dict(rational(tuple(weights.items())))
    asked = DecreaseQuestion(model.algorithm, model.function_class, exact, participation)
    if not proof:
        found = search.rate_of(*search.stated(potential), time_limit=time_limit)
        seen = asked.runs(found, FEW_RUNS)
        if seen.largest > 1 + BEYOND_SOLVER:  # numbers of too many sizes spoil a solver's residuals
            raise SolverFailed(f"the solver's rate is {found:.6g}, and {seen}")
        return found
    proved = search.prove_rate_of(potential)[0]
    require_within(asked.runs(float(proved)), proved)
    return proved


def follow_potential(
    potential: Potential,
    problem: Problem,
    x_star: Array,
    x0: Array,
    rounds: int,
    *,
    participants: int | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """V along a run of the numeric engine: V before each round, and the expectation of V after it, over coins and participants, exact.

    All outcomes of a round are enumerated; the run goes on with one of them, drawn at random.

    Parameters
    ----------
    problem : an instance, unbatched, with few clients if ``participants`` of them take part
    x_star, x0 : arrays ``(d,)``
    """
    value, lots = potential.metric(x_star[None, :]), np.random.default_rng(seed)
    who: Any = ((1, None),) if participants is None else enumerate_subsets(problem.n, participants)
    state = potential.algorithm.init(problem, x0[None, :])
    before, after = np.zeros(rounds), np.zeros(rounds)
    for r in range(rounds):

        def step(key: Any, clients: Any, state: State = state) -> State:
            return potential.algorithm.round(problem, state, clients, key)

        outcomes = [
            (float(share * chance), new)
            for share, clients in who
            for chance, new in enumerate_outcomes(partial(step, clients=clients), r)
        ]
        before[r] = float(value(problem, state))
        after[r] = sum(weight * float(value(problem, new)) for weight, new in outcomes)
        chances = np.array([weight for weight, _ in outcomes])
        state = outcomes[lots.choice(len(outcomes), p=chances / chances.sum())][1]
    return before, after

"""Where a method with biased rounds settles: the fixed point of its mean round, by Newton's method.

A round whose coin is drawn with probability q and whose clients are drawn uniformly is, on average,

    x -> E round(x) = sum over outcomes of their probability times the round's model.

With small steps the iterates stay near the fixed point of this map; on quadratics E x^r tends to it exactly. FedAvg under heterogeneity, and
SAFARI where some clients never take part, settle away from the minimiser, and this says where before anything is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.states import arrays_of

#: a round moves the point that is returned by less than this, in times its size (or 1)
TOLERANCE = 1e-11


def mean_round(
    algorithm: Algorithm,
    problem: Problem,
    x: NDArray[np.float64],
    coins: Mapping[str, float] | None = None,
    available: tuple[int, ...] | None = None,
) -> NDArray[np.float64]:
    """Return E of the next model from x: ``(d,) -> (d,)``.

    Parameters
    ----------
    algorithm : a method whose state is one model, and whose local work draws nothing
        Uniform draws of some of the available clients have the mean of all of them, since such a method averages models.
    problem : Problem
    x : array ``(d,)``
    coins : mapping of purpose to probability
        ``{"communicate": q}``; each outcome is played once.
    available : numbers of the clients that ever take part; all by default

    Raises
    ------
    InvalidInput
        The state holds more than a model, or a probability is none.
    """
    clients = None if available is None else Clients(problem.n, np.asarray(available))
    outcomes: list[tuple[float, dict[str, bool]]] = [(1.0, {})]
    for purpose, probability in (coins or {}).items():
        if not 0 <= probability <= 1:
            raise InvalidInput(f"the coin {purpose!r} has the probability {probability}; expected a number in [0, 1]")
        outcomes = [
            (weight * (probability if side else 1 - probability), {**known, purpose: side})
            for weight, known in outcomes
            for side in (True, False)
        ]
    state = algorithm.init(problem, np.asarray(x, dtype=float)[None, :])
    if list(arrays_of(state)) != ["x"]:
        raise InvalidInput(
            f"the state of {type(algorithm).__name__} has the fields {', '.join(arrays_of(state))}; a mean round is of methods whose "
            "state is one model, such as FedAvg and SAFARI"
        )
    total = np.zeros(problem.d)
    for weight, known in outcomes:
        if weight:
            key: Any = ScriptedKey(0, known)
            total = total + weight * algorithm.round(problem, state, clients, key).x[0]  # type: ignore[attr-defined]
    return total


def mean_fixed_point(
    algorithm: Algorithm,
    problem: Problem,
    x0: NDArray[np.float64],
    coins: Mapping[str, float] | None = None,
    available: tuple[int, ...] | None = None,
) -> NDArray[np.float64]:
    """Return x with E round(x) = x, by Newton's method with Krylov subspaces (SciPy) from x0: ``(d,)``.

    Parameters as for `mean_round`.

    Raises
    ------
    SolverFailed
        It does not get there, for instance because the mean round moves every point.
    """
    from scipy.optimize import NoConvergence, newton_krylov

    def moved(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean_round(algorithm, problem, x, coins, available) - x

    start = np.asarray(x0, dtype=float)
    step = float(
        np.linalg.norm(moved(start))
    )  # rounds with short steps move little: what counts is the share of it that is left
    goal = max(TOLERANCE * step, np.finfo(float).tiny)
    try:
        found = newton_krylov(moved, start, f_tol=goal, maxiter=200)
    except (NoConvergence, ValueError) as failure:
        raise SolverFailed(
            f"no fixed point of the mean round of {type(algorithm).__name__} was found from the start given"
        ) from failure
    return np.asarray(found)

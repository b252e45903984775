"""The question a user asks, and which of the two programs answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, overload

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.client_weights import are_equal, check_weights
from fedtheory.core.errors import InvalidInput
from fedtheory.core.numbers import at_least_one
from fedtheory.proofs.every_n.vectors import Number, Sampling
from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN, worst_case_for_every_n
from fedtheory.proofs.function_class import FunctionClass, require_method_and_class
from fedtheory.proofs.measures import MeasureName
from fedtheory.proofs.one_n.worst_case import WorstCaseForOneN, worst_case_for_one_n


@overload
def worst_case(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    rounds: int,
    clients: Literal["any"] = "any",
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    agree: bool = False,
) -> WorstCaseForEveryN: ...


@overload
def worst_case(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    rounds: int,
    clients: int,
    participants: int | None = None,
    weights: Sequence[float | Fraction] | None = None,
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    coins: Mapping[int, Mapping[str, bool]] | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    agree: bool = False,
) -> WorstCaseForEveryN | WorstCaseForOneN: ...


def worst_case(
    algorithm: Algorithm,
    function_class: FunctionClass,
    *,
    rounds: int,
    clients: int | Literal["any"] = "any",
    participants: int | None = None,
    weights: Sequence[float | Fraction] | None = None,
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    coins: Mapping[int, Mapping[str, bool]] | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    agree: bool = False,
) -> WorstCaseForEveryN | WorstCaseForOneN:
    """Largest value that ``measure`` can have after some rounds, over the whole class: exact, by a semidefinite program.

    Parameters
    ----------
    algorithm : Algorithm
        Made of linear combinations, gradients, proximal steps and coins.
    function_class : FunctionClass
    rounds : int
    clients : int or "any"
        n; or every n >= 2 at once, which is also much faster.
    participants : int, optional
        s: the expectation over a uniform choice of s of the n clients in every round.
    weights : n positive numbers with the sum 1, optional
        p_i: f is sum_i p_i f_i, and averages are by them (`fedtheory.core.client_weights`). The worst case for every n bounds that for all weights
        where everyone takes part and nothing is drawn; where a weight exceeds 1/2 it may be out of reach.
    measure : str
        ``squared_distance`` ||x^R - x*||^2 and ``gap`` f(x^R) - f* (convex classes, start ||x^0 - x*|| <= radius);
        ``stationarity`` ||grad f(x^R)||^2, ``sum_stationarity`` (over r = 1..R) and ``min_stationarity`` (start
        f(x^0) - inf f <= radius, where f is L-smooth and bounded below).
    radius : number
        Size of the initial condition.
    coins : mapping of round to outcomes, optional
        Prescribed coins of methods with random communication (with a number of clients); None takes the expectation over them.
    tolerance, time_limit, agree
        What the residuals of an answer may be, relative to max(1, value); seconds for each solver; whether two solvers must agree.

    Returns
    -------
    WorstCaseForEveryN or WorstCaseForOneN
        Both have ``value`` (infinite where no bound exists), ``lower``, ``unbounded``, ``residuals``, and ``replay()``, which runs the
        algorithm on the worst-case functions.

    Raises
    ------
    CannotTrace
        The algorithm takes decisions on values, or does what the program cannot follow.
    InvalidInput
        The question makes no sense.
    SolverFailed
        No solver's answer was accepted.

    Examples
    --------
    >>> from fedtheory import FedAvg, FunctionClass, GradientSteps
    >>> found = worst_case(FedAvg(GradientSteps(1, 1.0)), FunctionClass(L=1.0, mu=0.1, zeta=1.0), rounds=1)
    >>> round(found.value, 6)
    0.81

    Notes
    -----
    A number of clients is answered by the program that has all clients one by one (PEPit), unless the class is stated for exchangeable
    clients only (``similarity``, ``sigma``), or some of the clients take part in a single round: exchangeable clients are then followed
    exactly at a fraction of the cost.
    """
    require_method_and_class(algorithm, function_class)
    at_least_one("rounds", rounds)
    options: dict[str, Any] = {
        "rounds": rounds,
        "measure": measure,
        "tolerance": tolerance,
        "time_limit": time_limit,
        "agree": agree,
    }
    if clients == "any":
        counted = {"participants": participants, "coins": coins, "weights": weights}
        name = next((name for name, value in counted.items() if value is not None), None)
        if name is not None:
            raise InvalidInput(f"{name} needs the number of clients; pass clients=n with it")
        return worst_case_for_every_n(algorithm, function_class, radius=radius, **options)
    at_least_one("clients", clients)
    alike = function_class.similarity is not None or function_class.sigma is not None
    if weights is not None and are_equal(check_weights(weights, clients)):
        weights = None
    if weights is not None and alike:
        raise InvalidInput(
            "similarity and sigma are stated for clients that count equally; leave them or the weights out"
        )
    if weights is None and coins is None and clients > 1 and (alike or (participants is not None and rounds == 1)):
        sampling = Sampling(clients, clients if participants is None else participants)
        return worst_case_for_every_n(algorithm, function_class, radius=radius, participation=sampling, **options)
    return worst_case_for_one_n(
        algorithm,
        function_class,
        n=clients,
        participants=participants,
        coins=coins,
        radius=float(radius),
        weights=weights,
        **options,
    )

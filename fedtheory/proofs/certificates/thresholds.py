"""How tight a stated bound is: thresholds of a parameter with both sides certified, and worst cases along a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.proofs.certificates.upper_bounds import Certificate, prove
from fedtheory.proofs.every_n.worst_case import SymmetricWorstCase, symmetric_worst_case
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import measure_named
from fedtheory.running.enumeration import courses, every_subset

Make = Callable[[Any], Algorithm]  # from a value of a hyper-parameter

#: most subsets of clients that a replay goes through, and most clients it rebuilds
MOST_SUBSETS, MOST_CLIENTS = 1000, 50


@dataclass(frozen=True, eq=False)
class Threshold:
    """The claim holds at ``holds``, proved in exact arithmetic, and fails at ``fails``, where functions of the class exceed it.

    ``reached`` is what the algorithm reached on those functions, run by the numeric engine (`replayed`); ``stated`` what was claimed there.
    """

    holds: Fraction
    proof: Certificate
    fails: Fraction
    reached: float
    stated: Fraction


def largest(
    make: Make,
    stated: Callable[[Fraction], Fraction],
    low: Fraction,
    high: Fraction,
    function_class: FunctionClass,
    *,
    rounds: int,
    accuracy: Fraction = Fraction(1, 1000),
    **options: Any,
) -> Threshold:
    """The largest parameter for which ``worst case <= stated(parameter)``, between ``low`` (holds) and ``high`` (fails), by bisection.

    Numerical values steer; the two ends are certified when they are found: one by an exact certificate, the other by the worst-case
    functions, on which the algorithm is run. Bisection finds one place where the claim begins to fail; if there are several, some place.

    Raises
    ------
    InvalidInput
        The ends make no interval, the claim fails at ``low`` or holds at ``high``, or worst-case functions are not rebuilt for this class.
    SolverFailed
        An end could not be certified.
    """
    if not (low < high and accuracy > 0):
        raise InvalidInput(f"expected low < high and accuracy > 0, got low={low}, high={high}, accuracy={accuracy}")

    def at(value: Any) -> SymmetricWorstCase:
        return symmetric_worst_case(make(value), function_class, rounds=rounds, **options)

    def holds(found: SymmetricWorstCase, value: Fraction) -> bool:
        return found.value <= float(stated(value)) * (1 + 1e-9)

    first = at(low)
    if not holds(first, low):
        raise InvalidInput(f"the claim fails at the lower end {low} already; give a smaller one")
    reason = why_not_replayed(first)
    if reason is not None:
        raise InvalidInput(f"that the claim fails cannot be shown by a run: {reason}")
    if holds(at(high), high):
        raise InvalidInput(f"the claim still holds at the upper end {high}; give a larger one")
    while high - low > accuracy:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(at(middle), middle) else (low, middle)
    proof = prove(make(low), function_class, rounds=rounds, digits=12, **options)
    if proof.bound > stated(low):
        # at the very edge the certificate's margin is too wide: step back by what was asked for
        low = low - accuracy
        proof = prove(make(low), function_class, rounds=rounds, digits=12, **options)
        if proof.bound > stated(low):
            raise SolverFailed(
                f"the claim could not be proved at {low}: {float(proof.bound):.10g} is proved, {float(stated(low)):.10g} is claimed; exact "
                "certificates are slightly above the worst case, so where the claim is tight state it with more room"
            )
    reached = replayed(at(float(high)))
    if not reached > float(stated(high)):
        raise SolverFailed(
            f"the functions at {high} reach {reached}, which does not exceed the claim {float(stated(high))}"
        )
    return Threshold(low, proof, high, reached, stated(high))


def why_not_replayed(found: SymmetricWorstCase) -> str | None:
    """Why `replayed` cannot run the algorithm on the worst-case functions, or None."""
    who = found.participation
    if who is not None and who.n > MOST_CLIENTS:
        return f"{who.n} clients are too many to rebuild one by one (at most {MOST_CLIENTS})"
    if who is not None and math.comb(who.n, who.s) > MOST_SUBSETS:
        return f"{who.s} of {who.n} clients can be chosen in more than {MOST_SUBSETS} ways"
    return found.why_no_instance()


def replayed(found: SymmetricWorstCase, n: int = 2) -> float:
    """What the algorithm reaches on the worst-case functions, run by the numeric engine; n is that of the sampling where there is one.

    An expectation over coins and over who takes part is taken over all outcomes.

    Raises
    ------
    InvalidInput
        The functions cannot be rebuilt (`why_not_replayed`).
    """
    reason = why_not_replayed(found)
    if reason is not None:
        raise InvalidInput(f"the worst case cannot be run: {reason}")
    who = found.participation
    instance, x0 = found.instance(n if who is None else who.n)
    clients = ((1, None),) if who is None or who.s == who.n else tuple(every_subset(who.n, who.s))
    measure = measure_named(found.measure)
    values = np.zeros(found.rounds + 1)
    for weight, states in courses(found.algorithm, instance, x0[None, :], found.rounds, clients):
        values += float(weight) * np.array([float(measure.metric(instance, state)) for state in states])
    return measure.reached(values)


def along(
    make: Make, values: Sequence[Fraction], function_class: FunctionClass, *, rounds: int, **options: Any
) -> list[float]:
    """Worst cases for a range of a parameter; infinite where no bound exists."""
    return [symmetric_worst_case(make(value), function_class, rounds=rounds, **options).value for value in values]

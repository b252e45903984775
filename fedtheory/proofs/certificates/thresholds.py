"""How tight a stated bound is: thresholds of a parameter with both sides certified, and worst cases along a range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.proofs.certificates.lower_bounds import Witness, attain
from fedtheory.proofs.certificates.upper_bounds import Certificate, prove
from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN, worst_case_for_every_n
from fedtheory.proofs.function_class import FunctionClass

#: by how much of the claim a run must exceed it where there is no exact witness
CLEARLY = Fraction(1, 10**4)

Make = Callable[[Any], Algorithm]  # from a value of a hyper-parameter


@dataclass(frozen=True, eq=False)
class Threshold:
    """The claim holds at ``holds``, proved in exact arithmetic, and fails at ``fails``, where functions of the class exceed it.

    ``reached`` is what the algorithm reached on those functions, run with numbers (`WorstCaseForEveryN.replay`); ``stated`` what was
    claimed there. ``witness`` shows in exact arithmetic that the claim fails; without one the run exceeds the claim clearly.
    """

    holds: Fraction
    proof: Certificate
    fails: Fraction
    reached: float
    stated: Fraction
    witness: Witness | None


def find_threshold(
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

    def at(value: Any) -> WorstCaseForEveryN:
        return worst_case_for_every_n(make(value), function_class, rounds=rounds, **options)

    def holds(found: WorstCaseForEveryN, value: Fraction) -> bool:
        return found.value <= float(stated(value)) * (1 + 1e-9)

    first = at(low)
    if not holds(first, low):
        raise InvalidInput(f"the claim fails at the lower end {low} already; give a smaller one")
    reason = "; ".join(first.model.relaxations) or first.why_not_replayed()
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
                "certificates may be slightly above the worst case, so where the claim is tight state it with more room"
            )
    reached = at(float(high)).replay()
    try:
        witness = attain(make(high), function_class, rounds=rounds, digits=12, **options)
    except SolverFailed:
        witness = None
    shown = reached if witness is None else witness.reached
    room = CLEARLY if witness is None else Fraction(0)
    if not (reached > float(stated(high)) and shown > stated(high) * (1 + room)):
        raise SolverFailed(
            f"the functions at {high} reach {reached}, which does not exceed the claim {float(stated(high))} "
            f"{'clearly' if witness is None else f'in exact arithmetic ({float(shown)})'}; ask for less accuracy"
        )
    return Threshold(low, proof, high, reached, stated(high), witness)


def worst_cases_along(
    make: Make, values: Sequence[Fraction], function_class: FunctionClass, *, rounds: int, **options: Any
) -> list[float]:
    """Worst cases for a range of a parameter; infinite where no bound exists."""
    return [worst_case_for_every_n(make(value), function_class, rounds=rounds, **options).value for value in values]

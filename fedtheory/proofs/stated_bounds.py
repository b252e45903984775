"""Whether a stated bound holds over a class of functions: it does, it is violated, or neither was shown.

*holds*: an exact certificate proves a bound that is no larger (`fedtheory.proofs.certificates.upper_bounds.prove`); where there is none,
because hyper-parameters are not rational or there is one client, the numerical value with its error is no larger.
*violated*: an exact witness (`fedtheory.proofs.certificates.lower_bounds.attain`) exceeds it; where there is none, a run on functions of the
class does, from a start and with a heterogeneity that were checked, by more than such a run is off. Never where the class was relaxed: the
value of the program is then not one that functions of the class reach.
*undecided*: everything else, a bound that is tight without an exact proof of the worst case among it. How far the two sides are from the
bound is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeVar

from fedtheory.core.client_weights import ClientWeights
from fedtheory.core.errors import FedtheoryError, InvalidInput, MissingExtra, SolverFailed
from fedtheory.core.exact import rational
from fedtheory.proofs.agreement import require_membership
from fedtheory.proofs.certificates.lower_bounds import attain
from fedtheory.proofs.certificates.thresholds import CLEARLY
from fedtheory.proofs.certificates.upper_bounds import prove, prove_for_weights
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.one_n.worst_case import WorstCaseForOneN
from fedtheory.proofs.semidefinite.bounded import ALLOWED_ERROR

#: what a proof for any number of equal clients says of clients with weights, which are fractions
FOR_THESE_WEIGHTS = " for clients of these weights"
FOR_ALL_WEIGHTS = " for every number of equal clients, and so for all weights: those of k_i/N are N equal clients of whom k_i are alike"

Answer = WorstCaseForEveryN | WorstCaseForOneN
Found = TypeVar("Found")

#: how far a value may be from a bound, relative to it, for the side that does not seem to be the right one to be tried as well
NEAR = 1e-3
#: what an accepted numerical value may be off, relative to it: what `maximise` puts up with at its tolerance of 1e-6 for one residual
ERROR = 1e-6 * ALLOWED_ERROR[1]
#: how far start and heterogeneity of rebuilt functions may be off, relatively
SAME = 1e-6


@dataclass(frozen=True)
class StatedBound:
    """The verdict on a stated bound, and why in words.

    ``at_most`` is the smallest bound that was proved, ``reached`` what functions of the class were shown to reach; None for neither.
    """

    verdict: Literal["holds", "violated", "undecided"]
    reason: str
    at_most: Fraction | None = None
    reached: float | Fraction | None = None


def judge_bound(found: Answer, bound: Fraction | float, *, time_limit: float | None = None) -> StatedBound:
    """Hold a worst case against a stated bound.

    Raises
    ------
    InvalidInput
        The bound is not a positive number.
    """
    if not (isinstance(bound, Fraction) or math.isfinite(bound)) or not bound > 0:
        raise InvalidInput(f"a stated bound must be a positive number, got {bound}")
    limit: Fraction = Fraction(rational(bound))
    value, relaxed = found.value, relaxations_of(found)
    at_most, whom = _proved(found, limit, time_limit) if value <= limit * (1 + Fraction(NEAR)) else (None, "")
    if at_most is not None and at_most > limit and whom == FOR_ALL_WEIGHTS:
        at_most = None  # a proof for all weights need not be sharp for these
    if at_most is not None and at_most <= limit:
        return StatedBound("holds", f"at most {float(at_most):.9g} is proved in exact arithmetic{whom}", at_most)
    error = ERROR * abs(value) + (0 if found.unbounded else abs(found.value - found.lower))
    if at_most is None and value + error <= limit:
        return StatedBound(
            "holds", f"numerically, {value:.9g} with an error of at most {error:.1g}; no exact proof was found"
        )
    reached = None
    if not relaxed and not found.unbounded and value >= limit * (1 - Fraction(NEAR)):
        reached, how = _reached(found, limit, time_limit)
        if reached is not None and reached > limit * (1 + (0 if isinstance(reached, Fraction) else CLEARLY)):
            return StatedBound("violated", f"functions of the class reach {float(reached):.9g}, {how}", None, reached)
    return StatedBound("undecided", _why(found, limit, at_most, reached, relaxed), at_most, reached)


def relaxations_of(found: Answer) -> tuple[str, ...]:
    """Why functions of the class need not reach the value of its program; empty where they do."""
    return (
        found.model.relaxations
        if isinstance(found, WorstCaseForEveryN)
        else found.function_class.relaxations(found.measure)
    )


def _why(found: Answer, limit: Fraction, at_most: Fraction | None, reached: Any, relaxed: tuple[str, ...]) -> str:
    if found.unbounded:
        return "the program seems to be unbounded, but no functions of the class were shown to exceed the bound"
    said = [f"the value of the program is {float(found.value / limit - 1):+.2e} of the bound from it"]
    if at_most is not None:
        said.append(f"at most {float(at_most):.12g} is proved, {float(at_most / limit - 1):.2e} of the bound above it")
    if relaxed:
        said.append(f"functions of the class need not reach that value ({'; '.join(relaxed)})")
    elif reached is None:
        said.append("no functions of the class were shown to exceed the bound")
    else:
        said.append(
            f"functions of the class reach {float(reached):.12g}, {float(reached / limit - 1):+.2e} of the bound from it"
        )
    return "; ".join(said)


def _weights_of(found: Answer) -> ClientWeights | None:
    return None if isinstance(found, WorstCaseForEveryN) else found.weights


def _participation(found: Answer) -> tuple[bool, Sampling | None]:
    """Whether the exchangeable program speaks of these clients, and the clients.

    Of clients with weights k_i/N it speaks as of any number of equal ones, among which are N of whom k_i are alike.
    """
    if isinstance(found, WorstCaseForEveryN):
        return True, found.participation
    if found.weights is not None:
        return not found.random and found.function_class.dissimilarity is None, None
    return (found.n >= 2 and not found.random), (Sampling(found.n, found.n) if found.n >= 2 else None)


def _asked(found: Answer, limit: Fraction, time_limit: float | None, ask: Callable[..., Found]) -> Found | None:
    """The exact certificate or witness, with as many digits as the bound asks for; None where there is none."""
    known, who = _participation(found)
    if not known:
        return None
    digits = 9 + max(0, -math.floor(math.log10(float(limit))))
    try:
        return ask(
            found.algorithm,
            found.function_class,
            rounds=found.rounds,
            measure=found.measure,
            radius=found.radius,
            participation=who,
            digits=digits,
            time_limit=time_limit,
        )
    except MissingExtra:
        raise
    except FedtheoryError:
        return None


def _proved(found: Answer, limit: Fraction, time_limit: float | None) -> tuple[Fraction | None, str]:
    """The bound of an exact certificate, and of whom it is in words where clients have weights: of these, or else of all."""
    weights = _weights_of(found)
    if weights is not None and not found.random:
        ask: Any = partial(prove_for_weights, weights=weights)
        own = _asked(found, limit, time_limit, lambda *given, participation, **more: ask(*given, **more))
        if own is not None:
            return own.bound, FOR_THESE_WEIGHTS
    certificate = _asked(found, limit, time_limit, prove)
    return None if certificate is None else certificate.bound, "" if weights is None else FOR_ALL_WEIGHTS


def _reached(found: Answer, limit: Fraction, time_limit: float | None) -> tuple[Fraction | float | None, str]:
    # equal clients that reach a value are no witness for others: a weight above 1/2 may keep these from it
    witness = None if _weights_of(found) else _asked(found, limit, time_limit, attain)
    if witness is not None:
        return witness.reached, "checked in fractions"
    replayed = replay_on_class(found)
    return replayed, "a run on them, whose start and class were checked"


def replay_on_class(found: Answer) -> float | None:
    """What a run reaches on the rebuilt functions; None where they were not seen to satisfy all that the class asks for.

    Rebuilt functions are smooth and (strongly) convex by construction (`fedtheory.proofs.interpolation`). That the origin is their minimiser,
    that the start is within the radius and the heterogeneity within zeta are checked. That functions are nowhere below a value cannot be, so
    that measures which do not speak of x* have no such run.
    """
    given = found.function_class
    if relaxations_of(found) or not find_measure(found.measure).of_minimiser or found.why_not_replayed() is not None:
        return None
    if isinstance(found, WorstCaseForEveryN):
        instance, x0 = found.instance(2 if found.participation is None else found.participation.n)
    elif found.instance is None or found.x0 is None:
        return None
    else:
        instance, x0 = found.instance, found.x0
    try:
        weights = _weights_of(found)
        require_membership(
            instance, x0, given, find_measure(found.measure), found.radius, tolerance=SAME, weights=weights
        )
    except SolverFailed:
        return None
    return found.replay()

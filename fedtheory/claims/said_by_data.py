"""What statements that are data say of runs: each knows its method, its region and its claim.

A bound has a method by name, with options that are expressions in parameters; parameters are looked for with which it is the run's own method. A
theorem's quantities are formulas in the fields of a state; a `StateNames` says which fields of a run's states these are. What is claimed is worked
out by the statement's own text on the states of the run, in fractions.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms.base import State
from fedtheory.claims.contradictions import Saying, StoredRun
from fedtheory.claims.statements.bound import Bound
from fedtheory.claims.statements.theorems.played import ConcreteSpace
from fedtheory.claims.statements.theorems.quantities import evaluate_quantity
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Concrete
from fedtheory.core.arrays import is_array
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.refutations.asked import AskedBound

#: so many choices of parameters are looked at, to find those with which a statement speaks of a run, and rounds of a run that are looked at
_CHOICES, _ROUNDS = 20_000, 6


# ---- bounds ---------------------------------------------------------------------------------------------------------------


def say_bound(statement: Bound) -> Saying:
    """Return what a bound says of a run: at every choice of its parameters with which it speaks of it.

    A run says by its constants what the bound's class and radius ask of it: ``L``, ``mu``, and ``R = ||x^0 - x*||`` where x* = 0 (the tag
    "minimiser at 0"), or ``height = f(x^0) - inf f`` of a bound on stationarity.
    """

    def measure(run: StoredRun) -> tuple[Any, Any] | None:
        if run.state is not None or run.clients is not None:
            return None
        found = []
        for point in _match(statement, run):
            asked = statement.asked_at(point)
            if _is_in_class(asked, run.constants, run.tags):
                reached = asked.reached(run.problem, {"x": run.start})
                found.append((reached, statement.claim_at(point, **statement.exact_constants)))
        return max(found, key=_excess, default=None)

    return Saying((object,), f"{statement.name or statement} holds", measure)


def _match(statement: Bound, run: StoredRun) -> Iterator[dict[str, Fraction]]:
    """The parameters, among the numbers of a run, with which a statement speaks of its method."""
    names = list(statement.parameters.names)
    known = sorted({*_list_numbers(run.method), *(Fraction(v) for v in run.constants.values())})
    choices = [[Fraction(run.constants[name])] if name in run.constants else known for name in names]
    for values in itertools.islice(itertools.product(*choices), _CHOICES):
        point = dict(zip(names, values, strict=True))
        try:
            if statement.inside(point) and statement.method_at(point) == run.method:
                yield point
        except (FedtheoryError, ArithmeticError, TypeError, ValueError):
            continue


def _list_numbers(value: Any) -> Iterator[Fraction]:
    """The numbers among a method's options, those of its local solver too."""
    for f in dataclasses.fields(value):
        part = getattr(value, f.name)
        if isinstance(part, int | Fraction) and not isinstance(part, bool):
            yield Fraction(part)
        elif dataclasses.is_dataclass(part) and not is_array(part):
            yield from _list_numbers(part)


def _is_in_class(asked: AskedBound, known: Mapping[str, Any], tags: frozenset[str]) -> bool:
    """Whether functions are in the class that is asked about and the start is on the radius, by what is known of them."""
    given = asked.function_class
    plain = {"L", "mu"}
    others = [
        f.name for f in dataclasses.fields(given) if f.name not in plain and getattr(given, f.name) not in (None, False)
    ]
    if others or not plain <= set(known) or known["L"] > given.L or known["mu"] < given.mu:
        return False
    if asked.mirrored:
        return "height" in known and known["height"] <= asked.radius
    return "minimiser at 0" in tags and "R" in known and known["R"] <= asked.radius


def _excess(pair: tuple[Any, Any]) -> Any:
    return pair[0] - pair[1]


# ---- theorems -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StateNames:
    """What a theorem's states call the fields of a method's states.

    Parameters
    ----------
    methods : classes of methods
    speaks_of : run -> bool
        Which runs of them the states are.
    point : run -> the values of parameters by name
    names : (run, states, round) -> names of a state and what they are: arrays ``(rows, d)``, numbers, `FunctionOfRun`
    least : the first round that is a state of the theorem's
    """

    methods: tuple[type, ...]
    speaks_of: Callable[[StoredRun], bool]
    point: Callable[[StoredRun], Mapping[str, Any]]
    names: Callable[[StoredRun, Sequence[State], int], Mapping[str, Any]]
    least: int = 0


@dataclass(frozen=True)
class FunctionOfRun:
    """f_i of a run, or one function, as a quantity asks for it."""

    value: Callable[[Any], Any]
    grad: Callable[[Any], Any] | None
    client: bool = True

    def at(self, x: Concrete) -> tuple[Concrete | None, Any]:
        """Gradient and mean value."""
        rows = np.empty((len(x.clients), len(x.clients[0])), dtype=object)
        rows[:] = x.clients
        at = rows if self.client else rows[:1]
        values = np.ravel(self.value(at))
        slope = None if self.grad is None else concrete(self.grad(at), len(x.clients))
        return slope, sum(values, Fraction(0)) / len(values)

    def of_each(self, x: Concrete) -> bool:
        """Whether its values are one of each client."""
        return self.client


def concrete(value: Any, n: int) -> Concrete:
    """An array ``(rows, d)`` as a vector of every client."""
    rows = np.broadcast_to(value, (n, np.shape(value)[-1]))
    return Concrete(tuple(tuple(row) for row in rows))


def why_not_said(theorem: Theorem) -> str:
    """Why a theorem says nothing of runs; empty where it does."""
    if theorem.states is None:
        return "it is about numbers and no states"
    if theorem.given or theorem.sequences:
        return f"it rests on hypotheses about rounds: {', '.join([*theorem.given, *theorem.sequences])}"
    if theorem.auxiliary:
        return f"it has auxiliary parameters: {theorem.auxiliary}"
    if all(getattr(sentence, "sign", "") == "->" for sentence in theorem.sentences):
        return "it says what happens in the limit"
    return ""


def say_theorem(theorem: Theorem, of: StateNames) -> Saying:
    """Return what a theorem says of a run: its claims hold in its first rounds, by the theorem's own formulas."""

    def measure(run: StoredRun) -> tuple[Any, Any] | None:
        point = dict(of.point(run))
        if not theorem.parameters.inside(point):
            return None
        states = run.play(_ROUNDS + 1)
        known: dict[int, Mapping[str, Any]] = {}

        def lookup(name: str, k: int) -> Any:
            if k > _ROUNDS:
                raise InvalidInput("a round that is not played")
            if k not in known:
                given = of.names(run, states, k)
                known[k] = {
                    key: concrete(value, run.problem.n) if is_array(value) else value for key, value in given.items()
                }
            return evaluate_quantity(theorem.quantities[name], ConcreteSpace(), {**known[k], **point}, theorem.formulas)

        found, why = [], "it says what happens in the limit"
        for sentence in theorem.sentences:
            if getattr(sentence, "sign", "") == "->":
                continue
            for rounds in _rounds_of(theorem, of.least):
                numbers = {**point, **{name: Fraction(k) for name, k in rounds.items()}}
                try:
                    gap = Sides(numbers, lookup, theorem.formulas).gap(sentence)
                except InvalidInput as error:
                    why = str(error)
                    continue
                found.append((abs(gap) if sentence.sign == "==" else gap, 0))
        if not found:
            raise InvalidInput(why)
        return max(found, key=_excess)

    return Saying(of.methods, f"{theorem.name or theorem.claims[0]} holds", measure, of.speaks_of, ())


def _rounds_of(theorem: Theorem, least: int) -> Iterator[dict[str, int]]:
    names = sorted(theorem.rounds)
    for later in itertools.product(range(_ROUNDS), repeat=len(names)):
        yield {name: max(theorem.rounds[name], least) + k for name, k in zip(names, later, strict=True)}

"""Contradictions between claims: an instance that one claim stores, on which another claim's conclusion fails although its assumptions are met.

A claim *tells* runs: the method, functions and start of its counterexample, of a divergence, of a case that is tight. Another one *says* something
of every run that its assumptions admit. The assumptions are those that the claim states, as text; a paper gives each text a meaning, a function of
a run. An assumption without a meaning leaves what a claim says untried, which is told and not passed over.

    runs = [StoredRun("MINE-2", method, problem, start)]
    says = {"MINE-1": Saying((FedAvg,), "the gap falls", lambda run: (gap_after(run), gap_before(run)))}
    found = find_contradictions(claims, says, runs, {"lr <= 1/L": lambda run: run.method.local.lr <= 1 / run.constants["L"]})

A statement as data about a class of functions (`fedtheory.claims.Bound`) says what it says by itself: `say_bound`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.claims.claim import Claim
from fedtheory.claims.statements.bound import Bound
from fedtheory.claims.statements.on_instances import InstanceStatement
from fedtheory.core.arrays import Array, is_array
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.refutations.asked import AskedBound

#: so many choices of parameters are looked at, to find those with which a statement speaks of a run
_CHOICES = 20_000


@dataclass(frozen=True, eq=False)
class StoredRun:
    """An instance that a claim stores, as it can be played; in fractions where its arrays are.

    Parameters
    ----------
    claim : str
        Whose it is.
    method, problem
    start : array ``(1, d)``
    state : function of problem and method to a state, optional
        The first state, where it is not the method's own.
    clients : who takes part, by round; None for all
    constants : numbers by name
        What is known of the functions: ``L``, ``mu``, the distance ``R`` from a minimiser.
    tags : words that meanings read
        What no number says: ``"equal clients"``.
    """

    claim: str
    method: Algorithm
    problem: Problem
    start: Array
    state: Callable[[Problem, Algorithm], State] | None = None
    clients: tuple[Clients, ...] | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    tags: frozenset[str] = frozenset()

    def play(self, rounds: int) -> list[State]:
        """Return the states before the first round and after each."""
        first = (
            self.method.init(self.problem, self.start) if self.state is None else self.state(self.problem, self.method)
        )
        states = [first]
        for r in range(rounds):
            active = None if self.clients is None else self.clients[r % len(self.clients)]
            key: Any = ScriptedKey(r)
            states.append(self.method.round(self.problem, states[-1], active, key))
        return states


@dataclass(frozen=True)
class Saying:
    """What a claim says of every run of some methods that its assumptions admit.

    Parameters
    ----------
    methods : classes of methods
    says : str
    measure : run -> (measured, at most), or None where the run decides nothing of it
    speaks_of : run -> bool
        Which runs of those methods, where that is no assumption of the claim but the method's name: exact local work, say.
    assumptions : tuple of str, optional
        In place of the claim's, of a claim that is repaired: those of the statement that stands.
    """

    methods: tuple[type, ...]
    says: str
    measure: Callable[[StoredRun], tuple[Any, Any] | None]
    speaks_of: Callable[[StoredRun], bool] = lambda run: True
    assumptions: tuple[str, ...] | None = None


AssumptionTest = Callable[[StoredRun], bool]


@dataclass(frozen=True)
class Contradiction:
    """A claim, the claim whose run shows otherwise, what the first says, and the numbers."""

    claim: str
    shown_by: str
    says: str
    measured: Any
    allowed: Any

    def __str__(self) -> str:
        return f"{self.claim} says that {self.says}, and on the instance of {self.shown_by} {self.measured} > {self.allowed}"


@dataclass(frozen=True)
class Looked:
    """What was found: contradictions, how many pairs of a claim and a run were tried, and what could not be for an assumption without a meaning."""

    contradictions: tuple[Contradiction, ...]
    tried: tuple[tuple[str, str], ...]
    untold: Mapping[str, tuple[str, ...]]


def find_contradictions(
    claims: Iterable[Claim],
    sayings: Mapping[str, Saying],
    runs: Sequence[StoredRun],
    meanings: Mapping[str, AssumptionTest],
) -> Looked:
    """Hold every run against every claim about its method whose assumptions it meets.

    Parameters
    ----------
    claims : the claims that are called true
    sayings : by the claims' ids
    runs : of all claims
    meanings : by the text of an assumption
    """
    found, tried, untold = [], [], {}
    for claim in claims:
        if claim.id not in sayings:
            continue
        saying = sayings[claim.id]
        assumed = claim.assumptions if saying.assumptions is None else saying.assumptions
        unknown = tuple(text for text in assumed if text not in meanings)
        if unknown:
            untold[claim.id] = unknown
            continue
        for run in runs:
            speaks = isinstance(run.method, saying.methods) and saying.speaks_of(run)
            numbers = saying.measure(run) if speaks and all(meanings[text](run) for text in assumed) else None
            if numbers is None:
                continue
            tried.append((claim.id, run.claim))
            measured, allowed = numbers
            if measured > allowed:
                found.append(Contradiction(claim.id, run.claim, saying.says, measured, allowed))
    return Looked(tuple(found), tuple(tried), untold)


# ---- statements as data ------------------------------------------------------------------------------------------------


def list_stored_runs(claim: str, statement: InstanceStatement) -> Iterator[StoredRun]:
    """Yield what a statement about a method on an instance is about, at its simple points, in fractions; nothing where it is in floats."""
    for point in statement.points:
        try:
            method, problem, start = statement.exact_instance(point)
        except FedtheoryError:
            return
        yield StoredRun(claim, method, problem, np.asarray(start)[None, :], constants=dict(point))


def say_bound(statement: Bound) -> Saying:
    """Return what a bound says of a run: at every choice of its parameters with which it speaks of it.

    A run says by its constants what the bound's class and radius ask of it: ``L``, ``mu``, and ``R = ||x^0 - x*||`` where x* = 0 (the tag
    "minimiser at 0"), or ``height = f(x^0) - inf f`` of a bound on stationarity.
    """

    def measure(run: StoredRun) -> tuple[Any, Any] | None:
        found = []
        for point in _match(statement, run):
            reached = statement.asked_at(point).reached(run.problem, {"x": run.start})
            found.append((reached, statement.claim_at(point, **statement.exact_constants)))
        return max(found, key=lambda pair: pair[0] - pair[1], default=None)

    return Saying((object,), f"{statement.name or statement} holds", measure)


def _match(statement: Bound, run: StoredRun) -> Iterator[dict[str, Fraction]]:
    """The parameters, among the numbers of a run, with which a statement speaks of its method, functions and start."""
    if run.clients is not None or run.state is not None:
        return
    names = list(statement.parameters.names)
    known = sorted({*_list_numbers(run.method), *(Fraction(v) for v in run.constants.values())})
    choices = [[Fraction(run.constants[name])] if name in run.constants else known for name in names]
    for values in itertools.islice(itertools.product(*choices), _CHOICES):
        point = dict(zip(names, values, strict=True))
        try:
            fits = statement.inside(point) and statement.method_at(point) == run.method
        except (FedtheoryError, ArithmeticError, TypeError, ValueError):
            continue
        if fits and _is_in_class(statement.asked_at(point), run.constants, run.tags):
            yield point


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


def _list_numbers(value: Any) -> Iterator[Fraction]:
    """The numbers among a method's options, those of its local solver too."""
    for f in dataclasses.fields(value):
        part = getattr(value, f.name)
        if isinstance(part, int | Fraction) and not isinstance(part, bool):
            yield Fraction(part)
        elif dataclasses.is_dataclass(part) and not is_array(part):
            yield from _list_numbers(part)

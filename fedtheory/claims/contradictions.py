"""Contradictions between claims: an instance that one claim stores, on which another claim's conclusion fails although its assumptions are met.

A claim *tells* runs: the method, functions and start of its counterexample, of a divergence, of a case that is tight. Another one *says* something
of every run that its assumptions admit. The assumptions are those that the claim states, as text; a paper gives each text a meaning, a function of
a run. An assumption without a meaning leaves what a claim says untried, which is told and not passed over.

    runs = [StoredRun("MINE-2", method, problem, start)]
    says = {"MINE-1": Saying((FedAvg,), "the gap falls", lambda run: (gap_after(run), gap_before(run)))}
    found = find_contradictions(claims, says, runs, {"lr <= 1/L": lambda run: run.method.local.lr <= 1 / run.constants["L"]})

Statements that are data know their method, their region and their claim, and say what they say by themselves (`fedtheory.claims.said_by_data`).
Runs are told by statements on an instance (`list_stored_runs`), and by what a replay of a counterexample plays (`list_recorded_runs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.claims.claim import Claim
from fedtheory.claims.recorded import record_replay
from fedtheory.claims.statements.on_instances import InstanceStatement
from fedtheory.core.arrays import Array
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import ScriptedKey

#: rounds up to which the runs of a replay are taken
_LONGEST = 40


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
    keys : the draws, by round; None where nothing is drawn
    """

    claim: str
    method: Algorithm
    problem: Problem
    start: Array
    state: Callable[[Problem, Algorithm], State] | None = None
    clients: tuple[Clients | None, ...] | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    tags: frozenset[str] = frozenset()
    keys: tuple[Any, ...] | None = None

    def play(self, rounds: int) -> list[State]:
        """Return the states before the first round and after each."""
        first = (
            self.method.init(self.problem, self.start) if self.state is None else self.state(self.problem, self.method)
        )
        states = [first]
        for r in range(rounds):
            active = None if self.clients is None else self.clients[r % len(self.clients)]
            key: Any = ScriptedKey(r) if self.keys is None else self.keys[r % len(self.keys)]
            states.append(self.method.round(self.problem, states[-1], active, key))
        return states


@dataclass(frozen=True)
class Saying:
    """What a claim says of every run of some methods that its assumptions admit.

    Parameters
    ----------
    methods : classes of methods
    says : str
    measure : run -> (measured, at most), or None where the run decides nothing of it; an error of the package says why
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
    """What was found: contradictions, the pairs of a claim and a run that were tried, and why others were not.

    ``untold`` : assumptions without a meaning, by claim. ``idle`` : pairs about the same method that decide nothing, with the reason.
    """

    contradictions: tuple[Contradiction, ...]
    tried: tuple[tuple[str, str], ...]
    untold: Mapping[str, tuple[str, ...]]
    idle: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __str__(self) -> str:
        pairs = {*self.tried}
        rest = {pair: why for pair, why in self.idle.items() if pair not in pairs}
        lines = [f"{len(pairs)} pairs of a claim and an instance of its method were tried, of {len(pairs) + len(rest)}"]
        lines += [f"{claim}: nobody says what it assumes: {'; '.join(texts)}" for claim, texts in self.untold.items()]
        reasons: dict[str, list[str]] = {}
        for (claim, shown_by), why in rest.items():
            reasons.setdefault(why, []).append(f"{claim} by {shown_by}")
        return "\n".join(lines + [f"{why}: {', '.join(pairs)}" for why, pairs in reasons.items()])


def find_contradictions(
    claims: Iterable[Claim],
    sayings: Mapping[str, Saying | Sequence[Saying]],
    runs: Sequence[StoredRun],
    meanings: Mapping[str, AssumptionTest],
) -> Looked:
    """Hold every run against every claim about its method whose assumptions it meets.

    Parameters
    ----------
    claims : the claims that are called true
    sayings : by the claims' ids, one or several
    runs : of all claims
    meanings : by the text of an assumption
    """
    found, tried, untold, idle = [], [], dict[str, tuple[str, ...]](), dict[tuple[str, str], str]()
    for claim in claims:
        given = sayings.get(claim.id, ())
        for saying in (given,) if isinstance(given, Saying) else given:
            assumed = claim.assumptions if saying.assumptions is None else saying.assumptions
            unknown = tuple(text for text in assumed if text not in meanings)
            if unknown:
                untold[claim.id] = unknown
                continue
            for run in (run for run in runs if isinstance(run.method, saying.methods)):
                pair = claim.id, run.claim
                if not saying.speaks_of(run):
                    idle[pair] = "the statement is about another form of the method"
                    continue
                broken = next((text for text in assumed if not meanings[text](run)), None)
                if broken is not None:
                    idle[pair] = f"the instance is not known to meet {broken!r}"
                    continue
                try:
                    numbers, why = saying.measure(run), "it says nothing of this instance"
                except FedtheoryError as error:
                    numbers, why = None, str(error)
                if numbers is None:
                    idle[pair] = why
                    continue
                tried.append(pair)
                measured, allowed = numbers
                if measured > allowed:
                    found.append(Contradiction(claim.id, run.claim, saying.says, measured, allowed))
    return Looked(tuple(found), tuple(tried), untold, idle)


# ---- runs that claims store ----------------------------------------------------------------------------------------------


def list_stored_runs(claim: str, statement: InstanceStatement) -> Iterator[StoredRun]:
    """Yield what a statement about a method on an instance is about, at its simple points, in fractions; nothing where it is in floats."""
    for point in statement.points:
        try:
            method, problem, start = statement.exact_instance(point)
        except FedtheoryError:
            return
        yield StoredRun(claim, method, problem, np.asarray(start)[None, :], constants=dict(point))


def list_recorded_runs(claim: Claim, instance: Mapping[str, Any]) -> Iterator[StoredRun]:
    """Yield the runs of listed methods that the replay of a counterexample plays in fractions; none where it plays no round of one.

    Raises
    ------
    NotAvailable
        The claim has no replay, or one that cannot read this instance.
    InvalidInput
        The instance violates nothing.
    """
    for run in record_replay(claim, instance):
        all_take_part = all(who is None for who in run.clients)
        yield StoredRun(
            claim.id,
            run.method,
            run.problem,
            np.asarray(run.states[0].x),
            _begin_with(run.states[0]),
            None if all_take_part else tuple(run.clients[:_LONGEST]),
            keys=tuple(run.keys[:_LONGEST]),
        )


def _begin_with(state: State) -> Callable[[Problem, Algorithm], State]:
    return lambda problem, method: state

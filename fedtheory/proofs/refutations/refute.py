"""Refutations: instances in fractions on which a bound, or a factor of a potential, fails; as small as a greedy search makes them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import FedtheoryError, SolverFailed
from fedtheory.core.exact import rational
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Number, Sampling
from fedtheory.proofs.every_n.worst_case import MOST_CLIENTS
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import MeasureName
from fedtheory.proofs.potentials.smallest_rate import search_potentials
from fedtheory.proofs.refutations.asked import Asked, AskedBound, AskedDecrease, start_arrays
from fedtheory.proofs.refutations.candidates import Candidate, Recorded, build_candidate
from fedtheory.proofs.refutations.coordinates import WorstData
from fedtheory.proofs.refutations.instances import REFUTATION_FORMAT, check_instance
from fedtheory.proofs.refutations.programs import (
    Proposal,
    needed_clients,
    propose_for_bound,
    propose_for_decrease,
)
from fedtheory.proofs.refutations.replay import replay_exactly

#: denominators of the coordinates, from simple ones on
DENOMINATORS = (*range(1, 17), 18, 20, 24, 30, 40, 60, 100, 300, 1000, 10**4, 10**6)
#: the one that tells whether the functions reach enough at all
FINE = 10**6
#: seconds after which no smaller instance is looked for
PATIENCE = 20.0


@dataclass(frozen=True, eq=False)
class Refutation:
    """What was claimed, what functions of the class reach exactly, and the functions (`check_instance`, `replay_exactly`)."""

    claimed: Fraction
    reached: Fraction
    data: Mapping[str, Any]

    @property
    def size(self) -> dict[str, int]:
        """How large the instance is: clients, dimension, triples of a client, different numbers, and their largest denominator."""
        clients = self.data["clients"]
        listed = [v for triples in clients for t in triples for v in (*t["x"], *t["g"], t["f"])]
        listed += [v for rows in self.data["start"].values() for row in rows for v in row]
        numbers = {abs(Fraction(v)) for v in listed} - {0}
        return {
            "clients": len(clients),
            "dimension": len(clients[0][0]["x"]),
            "triples": max(len(triples) for triples in clients),
            "numbers": len(numbers),
            "denominator": max((v.denominator for v in numbers), default=1),
        }

    def write(self, path: Path | str) -> None:
        """Store it as JSON; `replay_exactly` of what is read back checks it."""
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self.data, indent=1) + "\n")

    def __str__(self) -> str:
        size = self.size
        return (
            f"{_short(self.reached)} > {_short(self.claimed)}, exactly, on functions of {size['clients']} clients in dimension "
            f"{size['dimension']} ({size['triples']} triples of at most {size['numbers']} different numbers, denominators up to "
            f"{size['denominator']})"
        )


def refute_bound(
    algorithm: Algorithm,
    function_class: FunctionClass,
    limit: Number,
    *,
    rounds: int,
    measure: MeasureName = "squared_distance",
    radius: Number = 1,
    participation: Sampling | None = None,
    patience: float = PATIENCE,
    smallest: bool = True,
) -> Refutation:
    """Functions of the class, in fractions, on which ``measure`` exceeds a limit after some rounds.

    Parameters are those of `worst_case_for_every_n`; without a participation the instance has two clients and stands for every n.

    Parameters
    ----------
    limit : number
        What is claimed.
    patience : seconds after which no smaller instance is looked for.
    smallest : whether smaller instances are looked for at all.

    Raises
    ------
    CannotTrace
        As in `worst_case_for_every_n`.
    SolverFailed
        No instance was found; the message says why.
    """
    asked = AskedBound(
        rational(algorithm), rational(function_class), rounds, measure, Fraction(rational(radius)), participation
    )
    claimed = Fraction(rational(limit))
    return _refute(asked, claimed, propose_for_bound(asked, claimed), patience, smallest)


def refute_decrease(
    algorithm: Algorithm,
    function_class: FunctionClass,
    weights: Mapping[str, Number],
    rate: Number,
    *,
    participation: Sampling | None = None,
    patience: float = PATIENCE,
    smallest: bool = True,
) -> Refutation:
    """Functions of the class and a state, in fractions, from which a potential falls by less than a factor in one round.

    Parameters
    ----------
    weights : of mean_i ||error||^2 of fields of the state, and of f(x) - f* under "gap".
    rate : what E V(after) / V(before) is claimed to be at most.

    Raises
    ------
    CannotTrace, InvalidInput
        As in `fedtheory.proofs.potentials.smallest_rate.rate_of`.
    SolverFailed
        No instance was found; the message says why.
    """
    exact = {name: Fraction(rational(weight)) for name, weight in weights.items()}
    asked = AskedDecrease(rational(algorithm), rational(function_class), exact, participation)
    search = search_potentials(asked.algorithm, asked.function_class, participation)
    return _refute(asked, Fraction(rational(rate)), propose_for_decrease(asked, search), patience, smallest)


def _refute(asked: Asked, claimed: Fraction, proposal: Proposal, patience: float, smallest: bool) -> Refutation:
    if proposal.data is None:
        raise SolverFailed(f"no refutation in fractions: {proposal.why_not}")
    if needed_clients(asked.participation) > MOST_CLIENTS:
        raise SolverFailed(
            f"{needed_clients(asked.participation)} clients are too many to be written down one by one (at most {MOST_CLIENTS})"
        )
    if proposal.value <= claimed * (1 - Fraction(1, 10**6)):
        raise SolverFailed(f"there is nothing to refute: the worst case is about {proposal.value:.9g}")
    attempt = _Attempts(asked, claimed, time.process_time() + patience)
    found = attempt.simplest(proposal.data) if smallest else attempt.finest(proposal.data)
    if found is None:
        raise SolverFailed(f"no refutation in fractions: {attempt.reason}")
    return store_refutation(asked, claimed, found)


class _Attempts:
    """Candidates that are built, settled and run; ``reason`` says why the last one did not exceed the claim.

    A candidate is kept as it was built, before it is moved and scaled (`Asked.settle`), so that pieces and denominators are chosen anew each time.
    """

    def __init__(self, asked: Asked, claimed: Fraction, end: float) -> None:
        self.asked, self.claimed, self.end = asked, claimed, end
        self.n = needed_clients(asked.participation)
        self.reason = "rounded functions do not exceed the claim"

    @property
    def in_time(self) -> bool:
        """Whether there is time for another candidate."""
        return time.process_time() < self.end

    def built(self, data: WorstData, denominator: int) -> Candidate:
        """The functions with this denominator."""
        return build_candidate(data, self.asked.function_class, self.n, denominator, mirrored=self.asked.mirrored)

    def settled(self, raw: Candidate, denominator: int = FINE) -> Candidate | None:
        """The candidate with all assumptions, scaled by a fraction of this denominator, if the claim fails on it."""
        try:
            candidate = self.asked.settle(raw, denominator)
            reached = self.asked.reached(candidate.functions, start_arrays(candidate.start))
        except (FedtheoryError, ArithmeticError) as error:
            self.reason = str(error)
            return None
        return candidate if reached > self.claimed else None

    def finest(self, data: WorstData) -> Candidate | None:
        """The claim fails on all that the program says, or on what clients have in common."""
        return self.settled(self.built(data, FINE)) or self.settled(self.built(data.alike(), FINE))

    def simplest(self, data: WorstData) -> Candidate | None:
        """Coordinates are dropped, then denominators grown from one, then pieces dropped, then the scale simplified: as long as the claim fails."""
        if self.settled(self.built(data.alike(), FINE)) is not None:
            data = data.alike()
        elif self.settled(self.built(data, FINE)) is None:
            return None
        for matrix in ("Q", "S"):
            for column in reversed(range(data.rows[matrix].shape[1])):
                less = data.without_column(matrix, column)
                if self.in_time and self.settled(self.built(less, FINE)) is not None:
                    data = less
        raw = self.built(data, FINE)
        for denominator in DENOMINATORS:
            simple = self.built(data, denominator)
            if not self.in_time or self.settled(simple) is not None:
                raw = simple if self.in_time else raw
                break
        raw = self.with_fewer_pieces(raw)
        for denominator in DENOMINATORS:
            found = self.settled(raw, denominator) if self.in_time else None
            if found is not None:
                return found
        return self.settled(raw)

    def with_fewer_pieces(self, raw: Candidate) -> Candidate:
        """Without the pieces that the claim fails without."""
        piece = 0
        while piece < len(raw.functions.triples[0]) and len(raw.functions.triples[0]) > 1 and self.in_time:
            less = Candidate(raw.functions.without(piece), raw.start).trimmed()
            raw, piece = (raw, piece + 1) if self.settled(less) is None else (less, piece)
        return raw


def store_refutation(asked: Asked, claimed: Fraction, found: Candidate) -> Refutation:
    """The triples that a run visits, checked and replayed without the functions that they come from.

    Raises
    ------
    SolverFailed
        A check fails.
    """
    seen = Recorded(found.functions)
    arrays = start_arrays(found.start)
    seen.value(next(iter(arrays.values()))[:1] * 0)
    if "x" in arrays:
        seen.value(arrays["x"])
    reached = Fraction(asked.reached(seen, arrays))
    data = {
        "format": REFUTATION_FORMAT,
        "question": asked.describe(),
        "claimed": str(claimed),
        "reached": str(reached),
        "start": {name: [[str(v) for v in row] for row in rows] for name, rows in found.start.items()},
        "clients": [
            [{"x": [str(v) for v in x], "g": [str(v) for v in g], "f": str(f)} for x, (g, f) in log.items()]
            for log in seen.log
        ],
    }
    try:
        check_instance(data)
        replay_exactly(data, asked.algorithm)
    except Refused as error:
        raise SolverFailed(f"no refutation in fractions: {error}") from error
    return Refutation(claimed, reached, data)


def _short(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"about {float(value):.9g}"

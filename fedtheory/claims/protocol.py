"""What is fixed of an experiment before its numbers are seen: clauses and what decides them, data and model, seeds, readout, targets.

A paper's experiments have one `Protocol`, as data beside its claims. Seeds on which something was chosen are never judged without saying so,
and a protocol that changes after a verdict lists the change with its effect; both stand in each verdict that follows the protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fedtheory.claims.context import Context, Size
from fedtheory.core.errors import InvalidInput


@dataclass(frozen=True)
class Clause:
    """A part of a statement's sentence, and what decides it: each a part's name, or how it begins.

    A statement consists of its clauses, in order. What nothing can decide is taken out of the statement, and told in a reading.

    Examples
    --------
    >>> print(Clause("A is more accurate than B,", ("A above B",)).decided_by)
    ('A above B',)
    """

    text: str
    decided_by: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a clause that nothing decides."""
        if not self.text.strip() or not self.decided_by or not all(self.decided_by):
            raise InvalidInput(f"the clause {self.text!r} must name the parts that decide it")


@dataclass(frozen=True)
class Setting:
    """What an experiment ran on: its data and its model. ``own``: both are the paper's, whole; otherwise they are an analogue.

    Examples
    --------
    >>> print(Setting("scikit-learn's digits", "softmax regression", own=False))
    scikit-learn's digits; softmax regression
    """

    data: str
    model: str
    own: bool

    def __str__(self) -> str:
        return f"{self.data}; {self.model}"


@dataclass(frozen=True)
class Change:
    """A choice that was made after numbers had been seen: what, when (a date), why, and what it does to the verdicts that it concerns.

    Examples
    --------
    >>> print(Change("the best round is read", "2026-01-02", "levels are met by it", "E3 holds"))
    Changed on 2026-01-02: the best round is read, since levels are met by it. Effect: E3 holds.
    """

    what: str
    when: str
    why: str
    effect: str

    def __str__(self) -> str:
        return f"Changed on {self.when}: {self.what}, since {self.why}. Effect: {self.effect}."


@dataclass(frozen=True)
class Protocol:
    """The rules of a paper's experiments.

    Parameters
    ----------
    paper : str
    readout : str
        How one number is read off a run's curve; one for all of a paper's statements.
    seeds : size -> int
        How many are judged at each size, as the paper has them where it says so.
    first : size -> int
        The first judged one; another seed of the context takes others, a thousand further on.
    explored : size -> seeds
        Those on which something was chosen, at each size.
    targets : name -> text
        Numbers that a statement leaves open (a level to reach, what counts as "similar"), and where they come from.
    changes : Change ...
        Choices made after numbers had been seen.

    Examples
    --------
    >>> protocol = Protocol("toy", "the best round", seeds={"laptop": 8}, first={"laptop": 100})
    >>> print(*protocol.describe(Context()))
    Protocol: the best round; seeds 100 to 107, fixed before any of them was run.
    """

    paper: str
    readout: str
    seeds: Mapping[Size, int]
    first: Mapping[Size, int]
    explored: Mapping[Size, Sequence[int]] = field(default_factory=dict)
    targets: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a size without seeds."""
        if {*self.seeds} != {*self.first} or not self.seeds or min(self.seeds.values()) < 1:
            raise InvalidInput(f"the protocol of {self.paper} must say for each size how many seeds and the first one")

    def judged(self, context: Context) -> range:
        """Return the seeds that are judged: as many as the context asks for, or as the protocol fixes."""
        first = self.first[context.size] + 1_000 * context.seed
        return range(first, first + (context.experiment_seeds or self.seeds[context.size]))

    def describe(self, context: Context) -> list[str]:
        """Return what a verdict says of its protocol: readout, targets, seeds, those that had been seen, changes."""
        judged = self.judged(context)
        seen = sorted({*judged} & {*self.explored.get(context.size, ())})
        fixed = "" if seen else ", fixed before any of them was run"
        told = [f"Protocol: {self.readout}; seeds {judged.start} to {judged.stop - 1}{fixed}."]
        if context.experiment_seeds not in (None, self.seeds[context.size]):
            told.append(f"The protocol has {self.seeds[context.size]} seeds; {len(judged)} were asked for.")
        if seen:
            told.append(f"Seeds {', '.join(map(str, seen))} had been seen before the protocol was fixed.")
        told += [f"Target: {name}: {text}." for name, text in self.targets.items()]
        return told + [str(change) for change in self.changes]


def join_clauses(clauses: Iterable[Clause]) -> str:
    """Return the statement that clauses make."""
    return " ".join(clause.text for clause in clauses)

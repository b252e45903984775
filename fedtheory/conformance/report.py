"""What a conformance check found: as data, as JSON, in words."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Difference:
    """Where an implementation and the reference first differ.

    The earliest round (0: before the first) of the first trial in which that happens; in it the client variables come before the
    server's, as in a round. ``relative``: the difference over the variable's size so far; ``rounding``: what rounding explains of it.
    """

    variable: str
    round: int
    trial: str
    client: int | None
    coordinate: int
    got: float
    expected: float
    relative: float
    rounding: float


@dataclass(frozen=True)
class Cause:
    """Mistakes with which the reference does what the implementation does, the lines they change, and where code was seen to do it.

    Without a name, the rounds are the paper's and the first state is not. ``silent``: the paper leaves all of it open.
    """

    names: tuple[str, ...]
    lines: tuple[str, ...]
    seen: tuple[str, ...]
    silent: bool = False


@dataclass(frozen=True)
class Variant:
    """A published method that does what the implementation does in every trial, compared in these variables.

    ``lacks``: declared variables that it does not have (none where the implementation differs: such a method explains nothing).
    ``unseen``: variables of its own that were not compared, because the adapter does not declare them.
    """

    name: str
    source: str
    variables: tuple[str, ...]
    lacks: tuple[str, ...]
    unseen: tuple[str, ...]


@dataclass(frozen=True)
class Conformance:
    """What a conformance check found.

    ``agreement``: "double" or "single" where all differences are what rounding in that precision explains, else None. ``single``:
    whether some variable came back in single precision. ``left_out``: kinds of trials that there were none of, and why;
    ``not_exercised``: what the trials did not exercise, and why. ``largest``: by variable the largest difference relative to its size.
    ``ignores_regularisers``: whether it does the same with and without the shared regularisers of trials that were compared.
    ``starts``: the variables that start elsewhere than in the reference, and ``open_starts`` those of which the paper leaves the start
    open. ``updates``: whether each variable moves as in the paper when the round begins at the implementation's own state (None where
    its declared variables do not fix that state). ``not_noticed``: known mistakes that these trials do not tell from the method.
    ``not_run``: known mistakes that cannot be run with these settings, and why. ``changes_tried``: changes of the reference's round that
    were tried because no known mistake explains the differences.
    """

    method: str
    source: str
    settings: dict[str, Any]
    rounds: int
    trials: tuple[str, ...]
    left_out: tuple[str, ...]
    not_exercised: dict[str, str]
    compared: tuple[str, ...]
    not_compared: tuple[str, ...]
    agreement: Literal["double", "single"] | None
    single: bool
    largest: dict[str, float]
    first: Difference | None
    differs_in: tuple[str, ...]
    ignores_regularisers: bool
    starts: dict[str, str]
    open_starts: tuple[str, ...]
    updates: dict[str, bool] | None
    causes: tuple[Cause, ...]
    variants: tuple[Variant, ...]
    mistakes_tried: int
    changes_tried: int
    not_noticed: tuple[str, ...]
    not_run: dict[str, str]

    @property
    def conforms(self) -> bool:
        """Whether the implementation does what the paper says, up to rounding."""
        return self.agreement is not None

    @property
    def silent(self) -> bool:
        """Whether it differs from the reference in nothing but choices that the paper leaves open."""
        starts = set(self.starts) <= set(self.open_starts)
        return not self.conforms and starts and bool(self.causes) and all(cause.silent for cause in self.causes)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"conforms": self.conforms, "silent": self.silent, **dataclasses.asdict(self)}

    def __str__(self) -> str:
        """In words."""
        return "\n".join(
            [*self._heading(), *(self._agreeing() if self.conforms else self._differing()), *self._ending()]
        )

    def _heading(self) -> list[str]:
        given = ", ".join(f"{name}={value}" for name, value in self.settings.items() if value not in (None, False))
        lines = [
            f"{self.method} ({self.source})",
            f"{len(self.trials)} trials of {self.rounds} rounds on random quadratics; {given}",
        ]
        lines += [f"not tried: {what}" for what in self.left_out]
        lines += [f"not tried: {name}: {why}" for name, why in self.not_exercised.items()]
        lines.append(f"compared after every round: {', '.join(self.compared)}")
        if self.not_compared:
            lines.append(f"not compared, because the adapter does not declare them: {', '.join(self.not_compared)}")
        return lines

    def _agreeing(self) -> list[str]:
        sizes = ", ".join(f"{name} {value:.1e}" for name, value in self.largest.items())
        lines = [
            f"CONFORMS up to rounding in {self.agreement} precision{self._reservations()}; largest relative differences: {sizes}"
        ]
        if self.agreement == "single":
            lines.append(
                "its arrays are in single precision"
                if self.single
                else "its arrays are in double precision, but something in it is not: a number is rounded to single precision or solved for loosely"
            )
        told = self.mistakes_tried - len(self.not_noticed) - len(self.not_run)
        return [*lines, f"{told} of {self.mistakes_tried} known mistakes would have been detected"]

    def _reservations(self) -> str:
        """What the word "conforms" does not cover."""
        untried = [*(what.partition(":")[0] for what in self.left_out), *self.not_exercised]
        parts = [
            f"{how}: {', '.join(names)}"
            for how, names in (("not tried", untried), ("not compared", self.not_compared))
            if names
        ]
        return f" ({'; '.join(parts)})" if parts else ""

    def _differing(self) -> list[str]:
        assert self.first is not None
        first = self.first
        only = " only where the paper is silent," if self.silent else ""
        when = "before the first round" if first.round == 0 else f"after round {first.round}"
        whose = "" if first.client is None else f" of client {first.client}"
        lines = [
            f"DIFFERS{only} in {len(self.differs_in)} of {len(self.trials)} trials, first in {first.variable}{whose} {when} ({first.trial}):",
            f"  coordinate {first.coordinate}: got {first.got:.9g}, expected {first.expected:.9g}; relative difference {first.relative:.2g}, "
            f"where rounding explains at most {first.rounding:.1g}",
        ]
        if 0 < len(self.differs_in) < len(self.trials):
            lines.append(f"  it agrees in: {'; '.join(name for name in self.trials if name not in self.differs_in)}")
        if self.ignores_regularisers:
            lines.append(
                "  it ignores the shared regulariser: its proximal step is task.regulariser.prox(v, step); of an implementation without one "
                "ask for --smooth"
            )
        lines += [f"  {name} {how}" for name, how in self.starts.items()]
        if self.updates is not None:
            right = [name for name, fine in self.updates.items() if fine]
            wrong = [name for name, fine in self.updates.items() if not fine]
            parts = [
                f"{', '.join(names)} {how}" for names, how in ((right, "as in the paper"), (wrong, "not")) if names
            ]
            lines.append(f"updates of single rounds, each from its own state: {'; '.join(parts)}")
        for number, cause in enumerate(self.causes):
            lines.append(
                f"{'it agrees with' if number == 0 else 'or, equally well in these trials, with'} {_what(cause)}"
            )
            lines += [f"    {line}" for line in cause.lines]
            lines += [f"    seen before: {place}" for place in cause.seen]
        if not self.causes and not self.variants:
            lines.append(
                f"none of {self.mistakes_tried} known mistakes, no two of them, and no published variant explains it"
            )
            lines.append(f"nor does one of {self.changes_tried} changes of one place in the reference's round")
        return lines

    def _ending(self) -> list[str]:
        lines = []
        for variant in self.variants:
            also = "these trials cannot tell it from" if self.conforms else "it agrees with the published method"
            limits = [f"compared in {', '.join(variant.variables)}"]
            limits += [f"without {', '.join(variant.lacks)}, which it does not have"] if variant.lacks else []
            limits += [f"its {', '.join(variant.unseen)} not compared"] if variant.unseen else []
            lines.append(f"{also} {variant.name} ({variant.source}), {'; '.join(limits)}")
        lines += [f"these trials would not detect the mistake: {name}" for name in self.not_noticed]
        lines += [f"could not be tried with these settings: {name} ({why})" for name, why in self.not_run.items()]
        return lines


def _what(cause: Cause) -> str:
    if not cause.names:
        start = "another initial state, where the paper is silent" if cause.silent else "another initial state"
        return f"the reference from {start}"
    if cause.silent:
        return f"the reference with another choice where the paper is silent: {'; and '.join(cause.names)}"
    return f"the reference with {'this mistake' if len(cause.names) == 1 else 'these mistakes'}: {'; and '.join(cause.names)}"

"""What judging a statement came to: the word, its scope, and the evidence for and against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from fedtheory.claims.statements.parametric import ParametricProof
from fedtheory.proofs.certificates.upper_bounds import Certificate
from fedtheory.proofs.guard import Runs
from fedtheory.proofs.refutations.refute import Refutation

OutcomeWord = Literal["proved", "refuted", "supported", "inconclusive"]

#: a constant that could be moved by more than this factor before anything rejects it is flagged
FLAGGED = 2


@dataclass(frozen=True)
class StatementScope:
    """For what a statement was judged.

    ``points`` are the parameters at which the worst case over the class was computed; ``proved_at`` those with an exact certificate; ``whole`` says
    whether the points are all that the region has, ``everywhere`` whether there is a proof for all parameters.
    """

    functions: str
    clients: str
    dimension: str
    rounds: str
    region: str
    points: int
    proved_at: tuple[Mapping[str, Fraction], ...]
    whole: bool
    everywhere: bool = False
    runs: Runs | None = None

    def __str__(self) -> str:
        about = f"{self.functions}; {self.clients}; {self.dimension}; {self.rounds}"
        seen = "" if self.runs is None else f"; {self.runs.told()}"
        if self.everywhere:
            return f"{about}; all parameters with {self.region}{seen}"
        proved = f", proved exactly at {len(self.proved_at)} of them" if self.proved_at else ""
        where = f"all {self.points} points" if self.whole else f"{self.points} points"
        return f"{about}; {where} of {self.region or 'no parameters'}{proved}{seen}"


@dataclass(frozen=True, eq=False)
class PointProof:
    """An exact certificate at a point of the region: ``bound`` is proved, which is at most what is claimed there."""

    point: Mapping[str, Fraction]
    claimed: Fraction
    bound: Fraction
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class ConstantSensitivity:
    """How far a named constant can be moved before the claim fails: ``factor`` at ``point``; None if never within a factor of 100.

    ``exact``: functions in fractions on which the claim with the constant moved a little further (``tried``) fails.
    """

    constant: str
    factor: float | None
    point: Mapping[str, Fraction] | None = None
    tried: Fraction | None = None
    exact: Refutation | None = None

    @property
    def loose(self) -> bool:
        """Whether the constant could be moved beyond `FLAGGED`."""
        return self.factor is None or max(self.factor, 1 / self.factor) > FLAGGED

    def __str__(self) -> str:
        if self.factor is None:
            return f"nothing rejects another {self.constant}, by a factor of up to 100 (loose)"
        how = "on an exact instance" if self.exact is not None else "by the program's value"
        return f"would reject {self.constant} from x {self.factor:.4g} ({how})" + (" (loose)" if self.loose else "")


@dataclass(frozen=True)
class Line:
    """Claimed value and worst case along one parameter, the others as at the worst point, or where it is refuted: data of a picture.

    ``runs``: for each value the measures of runs on random functions of the class; empty where there are none. ``points``: all parameters of each
    value. ``instance``: of the refutation the parameter's value, and what is reached exactly.
    """

    parameter: str
    values: tuple[float, ...]
    claimed: tuple[float, ...]
    worst: tuple[float, ...]
    others: tuple[tuple[str, Fraction], ...] = ()
    runs: tuple[tuple[float, ...], ...] = ()
    points: tuple[Mapping[str, Fraction], ...] = ()
    instance: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class StatementOutcome:
    """The verdict on a statement, and what it rests on.

    ``least`` and ``most``: of claimed / worst case over all points; ``worst_point`` is where it is least. ``runs``: the largest measured / claimed
    of runs on random functions of the class. ``reasons`` says in words why the word is what it is, and what was not covered.

    Examples
    --------
    >>> gap = Bound(
    ...     "gd", "lr = 1/L", region="0 < L, 0 < R", functions="L", measure="gap", radius="R", claimed="L*R**2/7"
    ... )
    >>> print(judge_statement(gap).word)
    refuted
    """

    name: str
    word: OutcomeWord
    scope: StatementScope
    reasons: tuple[str, ...]
    least: float | None = None
    most: float | None = None
    worst_point: Mapping[str, Fraction] | None = None
    proofs: tuple[PointProof, ...] = ()
    everywhere: ParametricProof | None = None
    refutation: Refutation | None = None
    refuted_at: Mapping[str, Fraction] | None = None
    runs: Runs | None = None
    sensitivity: tuple[ConstantSensitivity, ...] = ()
    unsolved: tuple[tuple[Mapping[str, Fraction], str], ...] = ()
    line: Line | None = None
    seconds: Mapping[str, float] | None = None
    unstated: str = ""  #: options that the statement leaves to their defaults, in a sentence

    @property
    def slack(self) -> float | None:
        """By how much the bound could be smaller at its worst point: 1 - worst case / claimed; None where nothing was solved."""
        return None if not self.least else 1 - 1 / self.least

    def __str__(self) -> str:
        lines = [
            f"{self.name or 'statement'}: {self.word.upper()}",
            f"  {self.scope}",
            *([f"  {self.unstated}"] if self.unstated else []),
            *(f"  {r}" for r in self.reasons),
        ]
        if self.least is not None and self.most is not None:
            lines.append(
                f"  claimed / worst case from {self.least:.7g} (at {show_point(self.worst_point)}) to {self.most:.4g}"
            )
        if self.refutation is not None:
            lines.append(f"  at {show_point(self.refuted_at)}: {self.refutation}")
        if self.runs is not None and not self.runs.why_none:
            lines.append(f"  runs on random functions of the class reach {self.runs.largest:.4g} of what is claimed")
        lines += [f"  {s}" for s in self.sensitivity]
        return "\n".join(lines)


def show_point(point: Mapping[str, Any] | None) -> str:
    """Parameters as they are written."""
    if not point:
        return "the statement"
    shown = ((name, str(v) if len(str(v)) <= 12 else f"{float(v):.6g}") for name, v in point.items())
    return ", ".join(f"{name} = {v}" for name, v in shown)

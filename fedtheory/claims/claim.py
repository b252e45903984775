"""Claims, the parts of a check, and the verdict they add up to.

A check is a generator: it yields *parts* (one finding each), readings (sentences) and pictures. The verdict follows from
the parts by the rules of `decide`, never from the check's own opinion.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from fedtheory.claims.chance import Chance
from fedtheory.claims.context import Context
from fedtheory.claims.proof_objects import Proof
from fedtheory.claims.protocol import Clause, Protocol, Setting, join_clauses
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.facts import Fact, collect_facts

Kind = Literal["bound", "rate", "identity", "proof step", "equivalence", "divergence", "ordering"]
Status = Literal[
    "proved",
    "argued",
    "supported",
    "refuted",
    "repaired",
    "reproduced",
    "not reproduced",
    "agrees in an analogue",
    "disagrees in an analogue",
    "empty",
    "inconclusive",
]
Repair = Literal["proved", "argued", "supported"]
Engine = Literal["numeric", "exact", "symbolic", "spectrum", "worst case", "falsifier", "real data", "count"]
Role = Literal["printed", "repaired", "reading"]


CoveredUnit = Literal["instances", "points", "draws", "rounds", "cases"]


@dataclass(frozen=True)
class Covered:
    """What a part looked at, as a number: ``Covered(200, "instances")``.

    ``of``: instances (functions and starts), points of a region of parameters, draws of data and coins, rounds that a search counted, or cases
    (entries of a table, layers of a network). ``whole``: the statement speaks of nothing else, so that no number is too small.

    Raises
    ------
    InvalidInput
        The number is none that can be counted.

    Examples
    --------
    >>> print(Covered(200, "instances"))
    200 instances
    """

    count: int
    of: CoveredUnit
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuse what counts nothing."""
        _refuse_unknown("what a part covered", "unit", self.of, CoveredUnit)
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 0:
            raise InvalidInput(f"what a part covered is a whole number of {self.of}, got {self.count!r}")

    def __str__(self) -> str:
        if self.count == 1:
            return f"{'the only' if self.whole else '1'} {self.of.removesuffix('s')}"
        return f"{'all ' if self.whole else ''}{self.count} {self.of}"


@dataclass(frozen=True)
class Part:
    """One finding of a check.

    ``role``: ``printed`` (the statement as printed, under its fairest reading), ``repaired`` (the corrected statement), or
    ``reading`` (another sensible reading, reported but not decisive). ``holds``: None when it could not be decided.
    ``margin``: signed and relative, positive when it holds.

    Evidence for and against are apart. ``proof``: a proof object of the statement, which only checkers make
    (`fedtheory.claims.proof_objects`), where the part holds. ``disproof``: one of its negation, where it fails. ``against``: the
    part looks for evidence against the statement only, so that it says nothing where it holds, as a counterexample that was not
    found says nothing. ``vouched``: it rests on its author's word, and on nothing that a checker confirmed.

    ``empty``: what was shown is that the hypotheses cannot hold together, so that the statement is true of nothing.

    ``chance``: of a part that random draws decide, how likely they do so by themselves; the ledger's rule (`fedtheory.claims.ledger`) leaves
    it undecided where that is too likely.
    ``covered``: what it looked at, by default the draws of its chance; evidence without a proof must say it, and enough of it
    (`fedtheory.claims.verdict`).

    Examples
    --------
    >>> part = Part("a sum", True, "exact", "1 + 1 = 2")
    >>> print(part.holds, part.supports)
    True True
    """

    name: str
    holds: bool | None
    engine: Engine
    text: str
    role: Role = "printed"
    margin: float | None = None
    proof: Proof | None = None
    disproof: Proof | None = None
    against: bool = False
    vouched: bool = False
    empty: bool = False
    covered: Covered | None = None
    data: dict[str, Any] = field(default_factory=dict)
    counterexample: Counterexample | None = None
    chance: Chance | None = None

    def __post_init__(self) -> None:
        """Keep plain Python values, so that a finding is data; refuse words that are stronger than the evidence."""
        if self.holds is not None:
            object.__setattr__(self, "holds", bool(self.holds))
        _refuse_unknown(f"the part {self.name!r}", "engine", self.engine, Engine)
        _refuse_unknown(f"the part {self.name!r}", "role", self.role, Role)
        for word, proof, outcome in (("proof", self.proof, True), ("disproof", self.disproof, False)):
            if proof is not None and (not isinstance(proof, Proof) or self.holds is not outcome):
                raise InvalidInput(
                    f"the part {self.name!r} carries a {word} and yet {'holds' if self.holds else 'does not hold'}; make it with "
                    "'proved', 'disproved' or 'decided'"
                )
        if self.counterexample is not None and (self.holds is not False or not self.counterexample.replay.violated):
            raise InvalidInput(
                f"the part {self.name!r} has a counterexample that shows no violation; make it with 'refute'"
            )
        if self.covered is None and self.chance is not None:
            object.__setattr__(self, "covered", Covered(self.chance.draws, "draws"))
        if self.margin is not None:
            object.__setattr__(self, "margin", float(self.margin) if np.isfinite(self.margin) else None)

    @property
    def supports(self) -> bool:
        """Whether this part is evidence for the statement."""
        return self.holds is True and not self.against

    @property
    def proves(self) -> bool:
        """Whether it carries a proof at the statement's own scope, with nothing in words."""
        return self.proof is not None and not self.proof.scope and self.proof.closed

    @property
    def argues(self) -> bool:
        """Whether it carries a proof at the statement's own scope, be it with an argument in words."""
        return self.proof is not None and not self.proof.scope

    @property
    def in_words(self) -> bool:
        """Whether words lead from what was confirmed to what it shows, for or against."""
        return any(proof is not None and not proof.closed for proof in (self.proof, self.disproof))

    @property
    def refutes(self) -> bool:
        """Whether it carries a replayable counterexample, or a disproof: the statement is false if one instance of it is."""
        return self.counterexample is not None or self.disproof is not None


@dataclass(frozen=True)
class Reading:
    """A sentence on how the statement was read, or what else the reader should know.

    Examples
    --------
    >>> print(Reading("with f convex the bound holds").text)
    with f convex the bound holds
    """

    text: str


@dataclass(frozen=True)
class Picture:
    """What a figure shows, as data: the report draws it.

    ``series``: a list of ``{"label", "x", "y"}``, with an optional ``"style"`` of ``line``, ``dashed`` or ``points``, and ``"low"`` and
    ``"high"`` of a band about the curve, from the least to the largest over seeds. ``about`` says what the title does not: method, problem,
    constants, seeds.

    Examples
    --------
    >>> print(Picture("Two runs", "round", "gap", [{"x": [0, 1], "y": [1.0, 0.5], "label": "gd"}], logy=True).logy)
    True
    """

    title: str
    xlabel: str
    ylabel: str
    series: list[dict[str, Any]]
    logx: bool = False
    logy: bool = False
    about: str = ""


@dataclass(frozen=True)
class PictureOfStatement:
    """A picture that follows from a statement as data: it is drawn, with the verdict's seed, where the check yields no `Picture` of its own.

    Of several the first that can be drawn is shown.

    Examples
    --------
    >>> found = PictureOfStatement(lambda seed: Picture(f"Seed {seed}", "round", "gap", []))
    >>> print(found.draw(3).title)
    Seed 3
    """

    draw: Callable[[int], Picture | None]


@dataclass(frozen=True)
class Table:
    """Numbers side by side, as a paper's table has them; an entry is text, a number or None.

    Examples
    --------
    >>> print(Table("Floats", ["method", "up"], [["FedAvg", 100], ["SCAFFOLD", 200]]).columns)
    ['method', 'up']
    """

    title: str
    columns: list[str]
    rows: list[list[Any]]


By = Literal["exact arithmetic", "the problem's certificate", "the method's definition", "vouched for"]


@dataclass(frozen=True)
class Assumption:
    """An assumption of a claim on an instance: whether it is met, and who says so (`assume` and its likes in `fedtheory.claims.parts`).

    Examples
    --------
    >>> print(Assumption("L = 1", True, "exact").as_dict())
    {'assumption': 'L = 1', 'by': 'exact', 'met': True}
    """

    text: str
    met: bool
    by: By

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a file."""
        return {"assumption": self.text, "by": self.by, "met": self.met}


@dataclass(frozen=True)
class Replay:
    """A violation measured again from an instance: once in floats, once in independent arithmetic.

    ``measured`` and ``bound`` are what the claim compares (violated when measured > bound), ``exact_measured`` and
    ``exact_bound`` the same in fractions or high precision, ``arithmetic`` says which. ``assumptions``: each
    assumption of the claim on this instance, with who says that it is met.

    Examples
    --------
    >>> seen = Replay(
    ...     "x**2 at x = 3/2", 2.25, 2.0, Fraction(9, 4), 2, "fractions", (Assumption("x > 0", True, "the instance"),)
    ... )
    >>> print(seen.admissible, seen.violated)
    True True
    """

    what: str
    measured: float
    bound: float
    exact_measured: Any
    exact_bound: Any
    arithmetic: str
    assumptions: tuple[Assumption, ...]

    @property
    def admissible(self) -> bool:
        """Whether every assumption is met on the instance."""
        return all(assumption.met for assumption in self.assumptions)

    @property
    def violated(self) -> bool:
        """Whether both arithmetics see the violation, on an admissible instance."""
        return self.admissible and self.measured > self.bound and bool(self.exact_measured > self.exact_bound)


@dataclass(frozen=True)
class Counterexample:
    """An instance, as plain numbers, on which a claim's replay shows a violation.

    Examples
    --------
    >>> seen = Replay(
    ...     "x**2 at x = 3/2", 2.25, 2.0, Fraction(9, 4), 2, "fractions", (Assumption("x > 0", True, "the instance"),)
    ... )
    >>> print(Counterexample({"x": "3/2"}, seen).as_dict()["instance"])
    {'x': '3/2'}
    """

    instance: dict[str, Any]
    replay: Replay

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a file."""
        r = self.replay
        return {
            "instance": self.instance,
            "what": r.what,
            "measured": r.measured,
            "bound": r.bound,
            "exact": {
                "measured": str(r.exact_measured),
                "bound": str(r.exact_bound),
                "arithmetic": r.arithmetic,
            },
            "assumptions": [assumption.as_dict() for assumption in r.assumptions],
        }


Finding = Part | Reading | Picture | PictureOfStatement | Table
Check = Callable[..., Iterator[Finding]]


class Need(typing.Protocol):
    """Work that checks share, such as a long run: done once, before them, and kept."""

    @property
    def key(self) -> str:
        """A name; equal names are one piece of work."""

    def is_done(self, context: Context) -> bool:
        """Whether its result is kept already."""

    def make(self, context: Context) -> None:
        """Do it and keep the result."""


@dataclass(frozen=True)
class Fault:
    """A planted fault: run with ``subject``, the check must come to another finding on the part called ``part``.

    ``holds`` is that finding, and the part comes out otherwise without the fault. It is False where a true statement was falsified
    (a mutated algorithm, a tightened constant); True where a counterexample was replaced by an instance that violates nothing;
    None where the replacement breaks an assumption, so that the check must say so instead of refuting. ``sharpness``: it asks how much better
    a statement would still pass, so that there is nothing to plant where the part fails without it. ``or_undecided``: a part that is
    undecided under the fault is as good, where the part holds without it. ``or_unproved``: so is one that is proved no longer.

    Examples
    --------
    >>> fault = Fault("a rate twice too good", "every round", {"factor": 2.0})
    >>> print(fault.holds)  # the part must come out false
    False
    """

    name: str
    part: str
    subject: Mapping[str, Any]
    holds: bool | None = False
    sharpness: bool = False
    or_undecided: bool = False
    or_unproved: bool = False


class NothingToPlant(FedtheoryError):
    """Near a statement there is no mistake of the kind that is asked for: none says more than it does."""


@dataclass(frozen=True)
class JudgedChange:
    """A change of a statement towards a stronger claim: what came of it, and what was seen.

    It *falls* where something refutes it, an exact instance or a worst case; it is *not reached* where the theorem's script does not prove it, with
    any multipliers, and nothing refutes it: that shows nothing of whether it is true. It is *weaker* than the statement after all; or *slack*: a
    proof proves it, or nothing is against it; or it *survives*: a proof proves it and an exact instance refutes it. ``about``: the statement's name.
    """

    what: str
    outcome: Literal["falls", "not reached", "weaker", "slack", "survives"]
    detail: str
    about: str = ""


@dataclass(frozen=True)
class Told:
    """A statement of a claim as its data say it: this is what is judged, and what its author says are words beside it.

    ``sentence``; ``formula``, in the notation of statements, or in LaTeX (`fedtheory.tools.typesetting`); ``rounds``: of states that a function
    plays, what they are and what a round makes of them, line by line; ``assumed``: classes and hypotheses as formulas, which stand in the verdict in
    the place of the claim's assumptions ``instead_of``; ``role``: as of a part; ``name``: of the step, in a claim of several statements.

    Examples
    --------
    >>> print(Told("1 <= 2.").role)
    printed
    """

    sentence: str
    formula: str = ""
    rounds: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    instead_of: tuple[str, ...] = ()
    role: Role = "printed"
    name: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a verdict."""
        shown = {"sentence": self.sentence, "formula": self.formula, "rounds": list(self.rounds), "name": self.name}
        return {"role": self.role} | {word: value for word, value in shown.items() if value}


@dataclass(frozen=True)
class Claim:
    """One statement of one paper.

    Parameters
    ----------
    id, paper : str
    kind : Kind
    source : str
        Where it stands in the paper.
    statement : str
        In our words; where there are clauses, they make it.
    check : (context, **subject) -> findings
        The keyword arguments are what faults replace.
    faults : Fault, at least one
    assumptions : str ...
    repaired : str
        The corrected statement, where the printed one fails.
    replay : instance -> Replay, optional
        How a stored counterexample is measured again.
    needs : context -> work that the check and its faults read, optional
        Made by jobs of its own before the checks; of experiments, whose verdicts name the size they were run at.
    draws : bool
        Whether a part has a `Chance` because random draws decide it. Orderings need not say so.
    setting : context -> Setting, optional
        Data and model of an experiment at the context's size: only on the paper's own is an ordering *reproduced* or not.
    clauses : Clause ...
        What the statement consists of, each with the parts that decide it; a clause without such a part is an error.
    protocol : Protocol, optional
        What was fixed before the numbers were seen; verdicts print it.
    told : () -> statements as their data say them, optional
        Where they are data (`fedtheory.claims.state`): this is what is judged, and ``statement`` are words beside it.
    near_misses : context -> judged changes, optional
        What comes of changing every number, sign, exponent, term and hypothesis of the statement, one at a time.
    fields : text by name
        What the fields of its instances are, in the paper's symbols; of those that engines store the meaning is known.

    Examples
    --------
    >>> def check(context):
    ...     yield proved("a sum", compare(Fraction(1, 3), "<", Fraction(1, 2)), "a third is below a half")
    ...
    >>> fault = Fault("another number", "a sum", {})
    >>> claim = Claim("MINE-1", "my paper", "proof step", "(1)", "1/3 < 1/2.", check, (fault,))
    >>> from fedtheory.claims.checking import judge_claim
    >>> print(judge_claim(claim, "mine.py", Context()).status)
    argued
    """

    id: str
    paper: str
    kind: Kind
    source: str
    statement: str
    check: Check
    faults: tuple[Fault, ...]
    assumptions: tuple[str, ...] = ()
    repaired: str = ""
    replay: Callable[[dict[str, Any]], Replay] | None = None
    needs: Callable[[Context], Sequence[Need]] | None = None
    draws: bool = False
    setting: Callable[[Context], Setting] | None = None
    clauses: tuple[Clause, ...] = ()
    protocol: Protocol | None = None
    told: Callable[[], Iterable[Told]] | None = None
    near_misses: Callable[[Context], Iterable[JudgedChange]] | None = None
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def rests_on_draws(self) -> bool:
        """Whether its verdict counts among those that random draws may decide."""
        return self.draws or self.kind == "ordering"

    @property
    def is_experiment(self) -> bool:
        """Whether it is about runs of experiments, and not about theory."""
        return self.needs is not None or self.setting is not None

    def run(self, context: Context, subject: Mapping[str, Any] | None = None) -> Iterator[Finding]:
        """Run the check and yield its findings; what checkers confirm meanwhile is what its proofs rest on."""
        facts: list[Fact] = []
        findings = self.check(context, **(subject or {}))
        while True:
            with collect_facts(facts):
                try:
                    finding = next(findings)
                except StopIteration:
                    return
            yield finding

    def __post_init__(self) -> None:
        """Refuse a claim whose check nothing could fail, a kind that no rule judges, and an id that cannot name a file."""
        if not self.id or any(c in self.id for c in "/\\") or self.id != self.id.strip():
            raise InvalidInput(f"{self.id!r} cannot be a claim's id: expected text without slashes, for it names files")
        _refuse_unknown(self.id, "kind", self.kind, Kind)
        if not self.faults:
            raise InvalidInput(f"{self.id}: a check needs at least one planted fault that it must reject")
        if self.clauses and self.statement != join_clauses(self.clauses):
            raise InvalidInput(
                f"{self.id}: the statement is not what its clauses make; expected {join_clauses(self.clauses)!r}"
            )


def _refuse_unknown(whose: str, what: str, value: Any, known: Any) -> None:
    if value not in get_args(known):
        raise InvalidInput(f"{whose}: unknown {what} {value!r}; expected one of {', '.join(get_args(known))}")

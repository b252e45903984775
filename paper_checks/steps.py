"""Claims whose statement, its corrected form and other readings of it are data, lemmas (`fedtheory.claims.Lemma`) above all: one part each.

Conclusions follow from them by arguments whose grounds checkers confirm. An inequality in rounds of the method itself (`Runs`) ties its code to them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim, Context, Fault, Finding, Kind, Lemma, Part, Picture, Reading, Replay, Role, proved
from fedtheory.claims.claim import Told
from fedtheory.claims.proof_objects import Argument
from fedtheory.claims.protocol import Clause, Setting, join_clauses
from fedtheory.claims.statements.as_claims import find_of_statement, replay_statement
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.lemma import lemma_sensitivity
from fedtheory.claims.statements.near_misses import judge_changes
from fedtheory.claims.statements.planting import Planted, Statement, list_faults
from fedtheory.claims.statements.sentences import tell
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import write_scope
from fedtheory.core.errors import InvalidInput
from paper_checks.grounds import Ground, are_so


def under_one_name(name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """What engines find of one statement, in a check of several: what decides it has the name, and the rest is told apart."""
    found = list(findings)
    beside = ("fractions", "runs", "ground truth")
    deciding = [f for f in found if isinstance(f, Part) and (f.counterexample is not None or f.name not in beside)]
    alone = not deciding  # runs decide where nothing stronger does
    for finding in found:
        if isinstance(finding, Part):
            decides = any(finding is part for part in deciding) or (alone and finding.name == "runs")
            yield replace(finding, name=name if decides else f"{name}: {finding.name}")
        else:
            yield finding


#: a mistake with which a proof does not go through, whatever is true of it
UNPROVED: dict[str, Any] = {"sharpness": True, "or_undecided": True, "or_unproved": True}


@dataclass(frozen=True)
class Step:
    """A part of a claim: a statement, mostly a lemma, and whether it is the paper's as printed, its corrected form or another reading.

    ``scope``: what it is narrower than the paper's statement in, as for `proved`. ``wrong``: statements near it by what is wrong with them; each
    is a planted fault. ``empty``: it says that what the paper's statement supposes never holds, so that this is true of nothing where it is proved.
    """

    name: str
    statement: Statement
    role: Role = "printed"
    scope: str = ""
    wrong: Mapping[str, Statement] = field(default_factory=dict)
    empty: bool = False


@dataclass(frozen=True)
class Conclusion:
    """What follows from steps, and from conclusions before it, by an argument in words.

    ``from_steps``: their names; ``confirmed``: what the argument needs besides, such as identities, of which checkers are asked (one function may
    stand alone); ``scope``: as of a step. ``wrong``: the same with a mistake, by its name; each is a planted fault.
    """

    name: str
    argument: Argument
    from_steps: tuple[str, ...] = ()
    role: Role = "printed"
    confirmed: Sequence[Ground] | Callable[[], bool] = ()
    scope: str = ""
    wrong: Mapping[str, Sequence[Ground]] = field(default_factory=dict)


@dataclass(frozen=True)
class Runs:
    """A part of a claim: an inequality in rounds of the method itself.

    ``mistakes``: wrong methods by name, as functions of the inequality's parameters; each is a planted fault.
    """

    name: str
    statement: Inequality
    mistakes: Mapping[str, Callable[..., Algorithm]] = field(default_factory=dict)
    role: Role = "printed"

    def findings(self, context: Context, mistake: str = "") -> Iterator[Finding]:
        """What engines find; the part that decides has the name, and others are told apart."""
        stated = replace(self.statement, method=self.mistakes[mistake], options="") if mistake else self.statement
        for finding in stated.findings(context):
            if isinstance(finding, Part):
                decides = finding.counterexample is not None or finding.name == "search"
                name = self.name if decides else f"{self.name}: {finding.name}"
                yield replace(finding, name=name, role=self.role)
            else:
                yield finding


P = TypeVar("P", Step, Conclusion, Runs)


def claim_steps(
    id: str,
    paper: str,
    source: str,
    text: str | Sequence[Clause],
    steps: Sequence[Step] = (),
    *,
    conclusions: Sequence[Conclusion] = (),
    runs: Sequence[Runs] = (),
    assumptions: Sequence[str] = (),
    readings: Sequence[str] = (),
    repaired: str = "",
    false: Mapping[str, str] | None = None,
    kind: Kind = "proof step",
    besides: Callable[..., Iterator[Finding]] | None = None,
    faults: Sequence[Fault] = (),
    replay: Callable[[Mapping[str, Any]], Replay] | None = None,
    picture: Callable[[Context], Picture] | None = None,
    setting: Callable[[Context], Setting] | None = None,
) -> Claim:
    """Make a claim of steps.

    Its planted faults: a constant of each true lemma where it is rejected; mistakes near each theorem; a true step in the place of each false
    one, which nothing refutes; what is wrong near steps and conclusions; the mistakes of runs; those that are given.

    Parameters
    ----------
    id, paper, source, text, assumptions, repaired, kind, setting : as for `Claim`; the text may be given as its clauses
    steps : Step ...
        A false step that is printed comes before its correction.
    conclusions : Conclusion ...
    runs : Runs ...
    readings : str ...
        How the statement was read.
    picture : context -> Picture, optional
        Drawn after everything else.
    false : by the name of each step that is expected to be false, that of the true one which its fault puts in its place
    besides : function, optional
        A further check, of instances or of other runs; it reads the subjects of ``faults``.
    faults : Fault ...
    replay : function, optional
        Of its counterexample; by default that of a false step.

    Raises
    ------
    InvalidInput
        A fault changes an argument that is the steps' own.
    """
    own = sorted({name for fault in faults for name in fault.subject} & {*inspect.signature(_check).parameters})
    if own:
        raise InvalidInput(f"{id}: {own[0]!r} is an argument of the steps' own check; call that of the fault otherwise")
    false = dict(false or {})
    theorems = {step.name: step.statement for step in steps if isinstance(step.statement, Theorem)}
    lemmas = {step.name: step.statement for step in steps if isinstance(step.statement, Lemma)}
    regions = [f"{name}: {lemma.region}" for name, lemma in lemmas.items() if lemma.region.parameters]
    regions += [f"{name}: {said}" for name, theorem in theorems.items() for said in write_scope(theorem)]
    true = tuple(step.statement for step in steps if step.name not in false)
    by_name = {step.name: step for step in steps}
    wrong_steps = sorted((by_name[name] for name in false), key=lambda step: step.role != "printed")
    shown = next((step.statement for step in wrong_steps), None)
    return Claim(
        id,
        paper,
        kind,
        source,
        text if isinstance(text, str) else join_clauses(text),
        partial(
            _check,
            steps=tuple(steps),
            conclusions=tuple(conclusions),
            runs=tuple(runs),
            readings=tuple(readings),
            besides=besides,
            picture=picture,
        ),
        (*_plant(steps, conclusions, runs, false), *faults),
        assumptions=(*assumptions, *regions),
        repaired=repaired,
        replay=replay if shown is None else partial(_replay, statement=shown),
        setting=setting,
        clauses=() if isinstance(text, str) else tuple(text),
        told=partial(_tell, tuple(steps)),
        near_misses=partial(judge_changes, statements=true) if true else None,
    )


def _plant(
    steps: Sequence[Step], conclusions: Sequence[Conclusion], runs: Sequence[Runs], false: Mapping[str, str]
) -> Iterator[Fault]:
    """The planted faults that `claim_steps` names, but for those that are given."""
    for step in steps:
        if isinstance(step.statement, Lemma) and step.name not in false:
            for constant in step.statement.constants:
                named = f"{step.name}: {constant} beyond where it is rejected"
                yield Fault(named, step.name, {"beyond": (step.name, constant)})
    for wrong, right in false.items():
        yield Fault(f"{right} in the place of {wrong}", wrong, {"instead": (wrong, right)}, holds=True)
    for step in steps:
        # of another reading nothing is planted: no word rests on it
        if isinstance(step.statement, Theorem) and step.name not in false and step.role != "reading":
            yield from list_faults(step.statement, step.name, {})
    for run in runs:
        for mistake in run.mistakes:
            yield Fault(mistake, run.name, {"mistaken": (run.name, mistake)})
    theorems = {step.name for step in steps if isinstance(step.statement, Theorem)}
    near: list[Step | Conclusion] = [*steps, *conclusions]
    for part in near:
        for mistake in part.wrong:
            more = UNPROVED if part.name in theorems else {}
            yield Fault(mistake, part.name, {"mistaken": (part.name, mistake)}, **more)


def _tell(steps: Sequence[Step]) -> Iterator[Told]:
    """Each statement that is the paper's, or a corrected one, as its data say it."""
    yield from (tell(step.statement, step.role, step.name) for step in steps if step.role != "reading")


def equality(name: str, source: str, region: str, build: Callable[[Any, Any, Any], Any]) -> tuple[Lemma, Lemma]:
    """``form = 0``, of a form with the constant c, as two lemmas: it is at most zero, and at least."""
    below = Lemma(f"{name}, at most", source, region, build, {"c": 1})
    return below, Lemma(f"{name}, at least", source, region, lambda w, p, c: build(w, p, c) * -1, {"c": 1})


def claims_of(paper: str) -> Callable[..., Claim]:
    """Return `claim_steps` of one paper, without that argument."""

    def claim(id: str, source: str, text: str | Sequence[Clause], steps: Sequence[Step] = (), **more: Any) -> Claim:
        return claim_steps(id, paper, source, text, steps, **more)

    return claim


def _check(
    context: Context,
    *,
    steps: Sequence[Step],
    conclusions: Sequence[Conclusion],
    runs: Sequence[Runs],
    readings: Sequence[str],
    besides: Callable[..., Iterator[Finding]] | None,
    picture: Callable[[Context], Picture] | None,
    beyond: tuple[str, str] = ("", ""),
    instead: tuple[str, str] = ("", ""),
    mistaken: tuple[str, str] = ("", ""),
    planted: Planted | None = None,
    **subject: Any,
) -> Iterator[Finding]:
    statements = {step.name: step.statement for step in steps}
    found: dict[str, Part] = {}
    changed = planted[0] if planted is not None else beyond[0] or instead[0] or mistaken[0]
    needed = _list_needed(changed, conclusions) if changed else {*()} if subject else None
    for step in _those(steps, needed):
        statement = statements[instead[1]] if step.name == instead[0] else step.statement
        if step.name == mistaken[0]:
            statement = step.wrong[mistaken[1]]
        if step.name == beyond[0] and isinstance(statement, Lemma):
            fails = next((side.fails for side in lemma_sensitivity(statement) if side.name == beyond[1]), None)
            statement = statement if fails is None else statement.with_constants(**{beyond[1]: fails})
        if planted is not None and step.name == planted[0]:
            statement = planted[1](context)
        for finding in find_of_statement(statement, context, name=step.name, role=step.role):
            if isinstance(finding, Part):
                narrow = _narrow(finding, step.scope)
                found[finding.name] = replace(narrow, empty=True) if step.empty and narrow.proves else narrow
                yield found[finding.name]
            else:
                yield Reading(f"{step.name}: {finding.text}") if isinstance(finding, Reading) else finding
    for conclusion in _those(conclusions, needed):
        resting_on = [found[name] for name in conclusion.from_steps]
        grounds = conclusion.wrong[mistaken[1]] if conclusion.name == mistaken[0] else conclusion.confirmed
        condition = grounds() if callable(grounds) else are_so(grounds)
        found[conclusion.name] = proved(
            conclusion.name,
            condition,
            conclusion.argument,
            role=conclusion.role,
            resting_on=resting_on,
            scope=conclusion.scope,
        )
        yield found[conclusion.name]
    for part in _those(runs, needed):
        yield from part.findings(context, mistaken[1] if part.name == mistaken[0] else "")
    if besides is not None:
        yield from besides(context, **subject)
    yield from (Reading(text) for text in readings)
    if picture is not None:
        yield picture(context)


def _list_needed(changed: str, conclusions: Sequence[Conclusion]) -> set[str]:
    """What a fault's part needs, itself among it; what else there is comes out as it does without the fault."""
    rests_on = {conclusion.name: conclusion.from_steps for conclusion in conclusions}
    needed, more = {changed}, [changed]
    while more:
        more = [name for name in rests_on.get(more.pop(), ()) if name not in needed] + more
        needed.update(more)
    return needed


def _those(parts: Sequence[P], needed: set[str] | None) -> Iterator[P]:
    return (part for part in parts if needed is None or part.name in needed)


def _narrow(part: Part, scope: str) -> Part:
    """A part whose proof, if it has one, has this scope."""
    if not scope or part.proof is None:
        return part
    return proved(part.name, True, part.text, role=part.role, resting_on=[part], scope=scope)


def _replay(instance: Mapping[str, Any], *, statement: Statement) -> Replay:
    return replay_statement(instance, statement=statement)

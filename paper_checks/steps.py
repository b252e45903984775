"""Claims whose statement, its corrected form and other readings of it are lemmas (`fedtheory.claims.Lemma`): one part of the check each.

An inequality in rounds of the method itself (`Runs`) ties its code to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim, Context, Fault, Finding, Kind, Lemma, Part, Picture, Reading, Replay, Role, proved
from fedtheory.claims.statements.as_claims import find_of_lemma, replay_statement
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.lemma import lemma_sensitivity


@dataclass(frozen=True)
class Step:
    """A part of a claim: a lemma, and whether it is the statement as printed, its corrected form or another reading.

    ``scope``: what it is narrower than the statement in, as for `proved`.
    """

    name: str
    lemma: Lemma
    role: Role = "printed"
    scope: str = ""


@dataclass(frozen=True)
class Conclusion:
    """What follows from steps, and from conclusions before it, by an argument in words.

    ``from_steps``: their names; ``confirmed``: asks a checker for what the argument needs besides, such as an identity; ``scope``: as of a step.
    """

    name: str
    argument: str
    from_steps: tuple[str, ...]
    role: Role = "printed"
    confirmed: Callable[[], bool] | None = None
    scope: str = ""


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


def claim_steps(
    id: str,
    paper: str,
    source: str,
    text: str,
    steps: Sequence[Step],
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
) -> Claim:
    """Make a claim of steps.

    Its planted faults: a constant of each true step where it is rejected; a true step in the place of each false one, which nothing refutes;
    the mistakes of runs; those that are given.

    Parameters
    ----------
    id, paper, source, text, assumptions, repaired, kind : as for `Claim`
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
    """
    false = dict(false or {})
    by_name = {step.name: step for step in steps}
    planted = [
        Fault(f"{step.name}: {constant} beyond where it is rejected", step.name, {"beyond": (step.name, constant)})
        for step in steps
        for constant in step.lemma.constants
        if step.name not in false
    ]
    planted += [
        Fault(f"{right} in the place of {wrong}", wrong, {"instead": (wrong, right)}, holds=True)
        for wrong, right in false.items()
    ]
    planted += [Fault(wrong, part.name, {"mistaken": (part.name, wrong)}) for part in runs for wrong in part.mistakes]
    regions = [f"{step.name}: {step.lemma.region}" for step in steps if step.lemma.region.parameters]
    printed = next((by_name[name].lemma for name in false if by_name[name].role == "printed"), None)
    shown = printed or next((by_name[name].lemma for name in false), None)
    return Claim(
        id,
        paper,
        kind,
        source,
        text,
        partial(
            _check,
            steps=tuple(steps),
            conclusions=tuple(conclusions),
            runs=tuple(runs),
            readings=tuple(readings),
            besides=besides,
            picture=picture,
        ),
        (*planted, *faults),
        assumptions=(*assumptions, *regions),
        repaired=repaired,
        replay=replay if shown is None else partial(_replay, lemma=shown),
    )


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
    **subject: Any,
) -> Iterator[Finding]:
    lemmas = {step.name: step.lemma for step in steps}
    found: dict[str, Part] = {}
    for step in steps:
        lemma = lemmas[instead[1]] if step.name == instead[0] else step.lemma
        if step.name == beyond[0]:
            fails = next((side.fails for side in lemma_sensitivity(lemma) if side.name == beyond[1]), None)
            lemma = lemma if fails is None else lemma.with_constants(**{beyond[1]: fails})
        for finding in find_of_lemma(lemma, name=step.name, role=step.role):
            if isinstance(finding, Part):
                found[finding.name] = _narrow(finding, step.scope)
                yield found[finding.name]
            else:
                yield Reading(f"{step.name}: {finding.text}") if isinstance(finding, Reading) else finding
    for conclusion in conclusions:
        resting_on = [found[name] for name in conclusion.from_steps]
        condition = conclusion.confirmed is None or conclusion.confirmed()
        found[conclusion.name] = proved(
            conclusion.name,
            condition,
            conclusion.argument,
            role=conclusion.role,
            resting_on=resting_on,
            scope=conclusion.scope,
        )
        yield found[conclusion.name]
    for part in runs:
        yield from part.findings(context, mistaken[1] if part.name == mistaken[0] else "")
    if besides is not None:
        yield from besides(context, **subject)
    yield from (Reading(text) for text in readings)
    if picture is not None:
        yield picture(context)


def _narrow(part: Part, scope: str) -> Part:
    """A part whose proof, if it has one, has this scope."""
    if not scope or part.proof is None:
        return part
    return proved(part.name, True, part.text, role=part.role, resting_on=[part], scope=scope)


def _replay(instance: Mapping[str, Any], *, lemma: Lemma) -> Replay:
    return replay_statement(instance, statement=lemma)

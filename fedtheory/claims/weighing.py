"""From findings to a verdict: parts are held to the ledger's level and weighed, and what they decide is written down."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from fedtheory.claims.claim import Claim, Part, Status
from fedtheory.claims.context import Context
from fedtheory.claims.evidence import write_evidence
from fedtheory.claims.findings import Findings, is_mistaken
from fedtheory.claims.ledger import WITH_FEW_SEEDS, hold_parts, level_of, list_contrary, list_weak
from fedtheory.claims.refutation import describe_fields
from fedtheory.claims.report import as_json_value
from fedtheory.claims.verdict import (
    AGREE,
    DISAGREE,
    Verdict,
    decide,
    judge_repair,
    list_given,
    list_uncovered,
    list_undecided_clauses,
    list_vouched,
    margin_of,
)
from fedtheory.core.errors import InvalidInput, describe
from fedtheory.tools.beside import plain_name
from fedtheory.tools.versions import find_versions


def judge_findings(
    claim: Claim, source: str, context: Context, found: Findings, ledger: Collection[Claim] = ()
) -> Verdict:
    """Make the verdict that the findings of a check add up to, those of a journal as those of a check that has just run."""
    level = level_of(ledger or [claim])
    decides = level if claim.needs is None else WITH_FEW_SEEDS
    parts, error, mistaken, judged = list(found.parts), found.error, found.mistaken, None
    if error is None:
        try:
            parts = _hold_parts(claim, parts, decides)
            judged = _weigh(claim, source, context, found, parts, level)
        except (Exception, SystemExit) as failure:  # one failing check never takes the others down
            error, mistaken = describe(failure), is_mistaken(failure)
    if judged is None:
        without_data = write_evidence([dataclasses.replace(part, data={}) for part in parts])
        judged = {"status": "inconclusive", "evidence": without_data, "readings": list(found.readings)}
    status = judged["status"]
    return write_verdict(
        claim,
        context,
        repaired=claim.repaired if status == "repaired" else "",
        repair=judge_repair(parts) if status == "repaired" else None,
        given=list_given(parts),
        vouched=list_vouched(parts),
        engines=sorted({part.engine for part in parts}),
        seconds=found.seconds,
        error=error,
        mistaken=mistaken,
        seeded=found.seeded,
        level=decides if any(part.chance is not None for part in parts) else None,
        data=dict(found.data),
        **judged | {"readings": [*judged["readings"], *found.told]},
    )


def _hold_parts(claim: Claim, parts: list[Part], level: float) -> list[Part]:
    """Return the parts as the ledger holds them; refuse those that a claim may not have, and a clause that none of them decides."""
    if any(part.chance is not None for part in parts) and not claim.rests_on_draws:
        raise InvalidInput(
            f"{claim.id} has parts that random draws decide; expected 'draws=True', so that its ledger counts it"
        )
    if missing := list_undecided_clauses(claim.clauses, parts):
        raise InvalidInput(f"no printed part of the check decides {'; '.join(missing)}")
    return hold_parts(parts, level)


def _weigh(
    claim: Claim, source: str, context: Context, found: Findings, parts: list[Part], level: float
) -> dict[str, Any]:
    """Return what the parts decide of a verdict: word, margin, evidence, readings, and what is shown."""
    status = conclude(claim, context, parts)
    readings = [*found.readings, *(claim.protocol.describe(context) if claim.protocol is not None else [])]
    if status == "inconclusive" and decide(claim.kind, parts, clauses=claim.clauses) != status:
        readings.append("The claim gives a corrected statement, yet nothing refuted the printed one.")
    if status in (*AGREE, *DISAGREE) and (weak := list_weak(parts, level)):
        readings.append(
            f"So at the {WITH_FEW_SEEDS:.0%} a claim that this number of seeds allows, and not at the {level:.2g} that the ledger keeps "
            f"elsewhere: {'; '.join(weak)}."
        )
    if status == "inconclusive" and (against := list_contrary(found.parts, parts)):
        readings.append(
            f"Against the statement at {WITH_FEW_SEEDS:.0%}, though not at the level that decides this claim: {'; '.join(against)}."
        )
    if claim.kind != "ordering":
        readings += (f"Not supported: {reason}." for reason in list_uncovered(parts))
    shown_by = [part for part in parts if part.counterexample is not None]
    shows = next((part for part in shown_by if part.role == "printed"), shown_by[0] if shown_by else None)
    plain: dict[str, Any] = as_json_value(
        {
            "evidence": write_evidence(parts),
            "counterexample": None if shows is None else _counterexample(claim, source, shows, status),
            "fields": {} if shows is None else _fields(claim, shows),
            "picture": None if found.picture is None else dataclasses.asdict(found.picture),
            "tables": [dataclasses.asdict(table) for table in found.tables],
        }
    )
    return plain | {"status": status, "margin": margin_of(status, parts), "readings": readings}


def _counterexample(claim: Claim, source: str, part: Part, status: Status) -> dict[str, Any] | None:
    """Return a part's counterexample with what a file says of it."""
    if part.counterexample is None:
        return None
    about = {
        "claim": claim.id,
        "source": plain_name(source),
        "statement": claim.statement,
        "part": part.name,
        "role": part.role,
    }
    return part.counterexample.as_dict() | about | {"status": status}


def _fields(claim: Claim, part: Part) -> dict[str, str]:
    """Return what the fields of a part's instance are."""
    return {} if part.counterexample is None else describe_fields(part.counterexample.instance, claim.fields)


def conclude(claim: Claim, context: Context, parts: list[Part]) -> Status:
    """Return what the parts add up to; a claim that corrects a statement which stands contradicts itself and is inconclusive."""
    analogue = claim.setting is not None and not claim.setting(context).own
    status = decide(claim.kind, parts, clauses=claim.clauses, analogue=analogue)
    return "inconclusive" if claim.repaired and status in ("proved", "argued", "supported") else status


def write_verdict(claim: Claim, context: Context, **found: Any) -> Verdict:
    """Return a verdict on a claim: what it says, and what was found."""
    nothing: dict[str, Any] = {
        "engines": [],
        "margin": None,
        "evidence": [],
        "seconds": 0.0,
        "readings": [],
        "repaired": "",
    }
    roles = ("printed", "repaired") if found.get("status") == "repaired" else ("printed",)
    told = [one for one in (claim.told or tuple)() if one.role in roles]
    replaced = {line for one in told for line in one.instead_of}
    return Verdict(
        id=claim.id,
        paper=claim.paper,
        kind=claim.kind,
        seed=context.seed,
        versions=find_versions(),
        source=claim.source,
        statement=claim.statement,
        told=[one.as_dict() for one in told],
        assumptions=[
            *(line for line in claim.assumptions if line not in replaced),
            *(line for one in told for line in one.assumed),
        ],
        faults=[fault.name for fault in claim.faults],
        budget=context.budget,
        size=None if claim.needs is None else context.size,
        setting=None if claim.setting is None else str(claim.setting(context)),
        **(nothing | found),
    )

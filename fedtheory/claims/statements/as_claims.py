"""A statement as a claim of a paper: its check, its planted faults and its replay follow from the statement; its author writes none of them.

    state("MINE-1", "my paper", "Theorem 1", "Gradient descent with step 1/L ...", Bound("gd", "lr = 1/L", ...))

The engines are asked from the strongest on: a derivation for all parameters, then certificates and worst cases at points of the region with
searches over functions, and an exact instance where the statement fails. What they answer makes the parts; the rules make the verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from fedtheory.claims.claim import (
    Assumption,
    Claim,
    Counterexample,
    Covered,
    Finding,
    Kind,
    Part,
    PictureOfStatement,
    Reading,
    Replay,
    Role,
    Told,
)
from fedtheory.claims.context import Context
from fedtheory.claims.parts import proved_from_statement
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.every_round import as_theorem, tell_without_convexity
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.instances import require_parameters
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.claims.statements.lemma import (
    Lemma,
    LemmaOutcome,
    lemma_sensitivity,
    play_in_floats,
    prove_lemma,
    recheck_instance,
)
from fedtheory.claims.statements.limit import Divergence, Limit
from fedtheory.claims.statements.near_misses import judge_changes
from fedtheory.claims.statements.on_instances import point_in_floats
from fedtheory.claims.statements.ordering import Ordering
from fedtheory.claims.statements.outcomes import StatementOutcome, show_point
from fedtheory.claims.statements.pictures import draw_line
from fedtheory.claims.statements.planting import Planted, Statement, list_faults, put_in_its_place
from fedtheory.claims.statements.random_worlds import Tried, guard_lemma
from fedtheory.claims.statements.rate import Rate
from fedtheory.claims.statements.sentences import tell
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds, replay_theorem
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import write_scope
from fedtheory.core.errors import InvalidInput
from fedtheory.core.exact import in_floats
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.derivations import check_derivation
from fedtheory.proofs.checker.reading import read_number
from fedtheory.proofs.facts import confirm, confirm_derivation
from fedtheory.proofs.parameters.refutations import Instance
from fedtheory.proofs.refutations.instances import check_instance
from fedtheory.proofs.refutations.replay import replay_exactly, replay_in_floats
from fedtheory.tools.untrusted import is_same, parse_json

#: the part that the verdict comes from, and the one that is about the corrected statement
STATEMENT, REPAIRED = "statement", "repaired statement"
_KINDS: dict[type, Kind] = {
    Bound: "bound",
    Contraction: "rate",
    Lemma: "proof step",
    Equivalence: "equivalence",
    Inequality: "proof step",
    Limit: "identity",
    Divergence: "divergence",
    Rate: "rate",
    Ordering: "ordering",
    Theorem: "bound",
}


def state(
    id: str,
    paper: str,
    source: str,
    text: str,
    statement: Statement,
    *,
    assumptions: Sequence[str] = (),
    kind: Kind | None = None,
    repaired: Statement | None = None,
    repaired_text: str = "",
    wrong: Mapping[str, Statement] | None = None,
) -> Claim:
    """Make a claim of a statement.

    Parameters
    ----------
    id, paper, source, text : as for `Claim`; ``text`` is the statement in words.
    assumptions : what the statement assumes besides its class and region, which are listed anyway
    kind : by default what the statement is: "bound", "rate", "proof step", "equivalence", "identity", "divergence" or "ordering"
    repaired : the corrected statement, where the printed one is false
        The verdict is "repaired" where the printed one is refuted and this one stands; put in the printed one's place it must not be refuted.
    repaired_text : str
        The corrected statement in words.
    wrong : statements by what is wrong with them
        Mistakes near the statement (the corrected one where it is given), such as a method that forgets a term. They are planted as faults,
        besides those that follow from the statement itself (`fedtheory.claims.statements.planting`).

    Raises
    ------
    InvalidInput
        Nothing could be asked of how sharp the check is: a lemma or inequality without a named constant, say, and nothing wrong is given. Or the
        corrected statement has no words, or words without a statement.
    """
    if (repaired is None) != (not repaired_text):
        raise InvalidInput(f"{id}: a corrected statement is given twice, as 'repaired' and in words as 'repaired_text'")
    statement, repaired = _of_every_round(statement), None if repaired is None else _of_every_round(repaired)
    about, part = (statement, STATEMENT) if repaired is None else (repaired, REPAIRED)
    faults = list_faults(about, part, wrong or {})
    if not faults:
        raise InvalidInput(
            f"{id}: give one constant of the {type(about).__name__.lower()} a name, so that it can be asked from where on its check would "
            "reject it, or a statement near it that is wrong (wrong={'what is wrong': statement})"
        )
    if repaired is not None:
        faults.append(put_in_its_place("the corrected statement in the printed one's place", STATEMENT, repaired))
    return Claim(
        id,
        paper,
        kind or _KINDS[type(statement)],
        source,
        text,
        partial(_check, statement=statement, repaired=repaired),
        tuple(faults),
        assumptions=(*_assumed(statement), *assumptions),
        repaired=repaired_text,
        replay=partial(replay_statement, statement=statement),
        told=partial(_tell, statement, repaired),
        near_misses=partial(judge_changes, statements=(about,)),
    )


def _of_every_round(statement: Statement) -> Statement:
    """A bound of any number of rounds is short for a theorem."""
    return (as_theorem(statement) or statement) if isinstance(statement, Bound) else statement


def _tell(statement: Statement, repaired: Statement | None) -> Iterator[Told]:
    yield tell(statement)
    if repaired is not None:
        yield tell(repaired, "repaired")


def _assumed(statement: Statement) -> list[str]:
    """The class and the region of a statement, or the rule of an ordering."""
    if isinstance(statement, Ordering):
        return [f"decided by {statement.rule}"]
    if isinstance(statement, Theorem):
        return write_scope(statement)
    if isinstance(statement, Lemma):
        return [f"parameters: {statement.region}"]
    if isinstance(statement, Bound | Contraction):
        functions = statement.functions if isinstance(statement.functions, str) else "the stated class"
        return [f"functions: {functions}", f"parameters: {statement.parameters}"]
    return [f"parameters: {', '.join([str(statement.parameters), *statement.where])}"] if statement.region else []


def _check(
    context: Context, *, statement: Statement, repaired: Statement | None, planted: Planted | None = None
) -> Iterator[Finding]:
    stated: list[tuple[str, Role, Statement | None]] = [
        (STATEMENT, "printed", statement),
        (REPAIRED, "repaired", repaired),
    ]
    for part, role, given in stated:
        if given is not None:
            about = planted[1](context) if planted is not None and planted[0] == part else given
            instead = repaired if role == "printed" else None
            for finding in find_of_statement(about, context, name=part, role=role, corrected=instead):
                if role == "repaired" and isinstance(finding, Reading):
                    yield Reading(f"{part}: {finding.text}")
                else:
                    yield finding


def find_of_statement(
    statement: Statement,
    context: Context,
    *,
    name: str = STATEMENT,
    role: Role = "printed",
    corrected: Statement | None = None,
) -> Iterator[Finding]:
    """What engines find of a statement of any kind. The part of this name decides; further ones have it before their own.

    ``corrected``: the statement in its place where it is false, for its picture.
    """
    if not isinstance(statement, Theorem) and statement.unlike_units:
        yield Reading(f"As it is printed it is not right in all units: {statement.unlike_units}.")
    if isinstance(statement, Lemma):
        yield from find_of_lemma(statement, name=name, role=role)
    elif isinstance(statement, Theorem):
        yield from find_of_rounds(statement, name=name, role=role)
    elif isinstance(statement, Bound | Contraction):
        yield from find_of_theorem(statement, context, name=name, role=role, corrected=corrected)
    else:
        findings = list(statement.findings(context))
        parts = [finding for finding in findings if isinstance(finding, Part)]
        decides = min(parts, key=_how_late)
        yield replace(decides, name=name, role=role)
        yield from (replace(part, name=f"{name}: {part.name}", role=role) for part in parts if part is not decides)
        yield from (finding for finding in findings if not isinstance(finding, Part))


def _how_late(part: Part) -> tuple[int, int]:
    """Evidence against goes before what is open, and this before evidence for: proofs first, then what covers most."""
    order = (part.refutes, part.holds is False, part.holds is None, part.proves, part.proof is not None, True)
    return order.index(True), 0 if part.covered is None else -part.covered.count


# ---- lemmas -------------------------------------------------------------------------------------------------------


def find_of_lemma(lemma: Lemma, *, name: str = STATEMENT, role: Role = "printed") -> Iterator[Finding]:
    """What engines find of a lemma: a derivation for all parameters, an exact instance against it, or neither."""
    outcome = prove_lemma(lemma)
    if outcome.instance is not None:
        instance = {"statement": "lemma", "data": json.dumps(outcome.instance.store())}
        replay = replay_statement(instance, statement=lemma)
        found = Counterexample(instance, replay)
        yield Part(name, False, "exact", str(outcome), role, margin=-1.0, counterexample=found)
        return
    tried = guard_lemma(lemma, outcome)
    if outcome.vacuous:
        yield Part(name, True, "exact", f"it is true of nothing: {outcome.vacuous}", role, empty=True)
        return
    for data in outcome.derivations:
        confirm_derivation(check_derivation, data, f"{lemma.name}, {outcome.scope}")
    yield _lemma_part(lemma, outcome, tried, name, role)
    if outcome.word.startswith("proved"):
        yield from (Reading(str(moved)) for moved in lemma_sensitivity(lemma))


def is_derived(lemma: Lemma) -> bool:
    """Whether there is a derivation of a lemma for all parameters; each is a fact, once the checker has read it. For steps inside of a proof."""
    outcome = prove_lemma(lemma)
    if outcome.word != "proved for all parameters" or outcome.vacuous:
        return False
    guard_lemma(lemma, outcome)
    for data in outcome.derivations:
        confirm_derivation(check_derivation, data, f"{lemma.name}, {outcome.scope}")
    return bool(outcome.derivations)


def _lemma_part(lemma: Lemma, outcome: LemmaOutcome, tried: Tried, name: str, role: Role) -> Part:
    data = {"derivations": list(outcome.derivations), "multipliers": [dict(m) for m in outcome.multipliers]}
    if outcome.word == "proved for all parameters":
        return proved_from_statement(name, f"{outcome.word}: {outcome.scope}; {tried}", role=role, data=data)
    if outcome.word == "proved at points":
        text = f"a derivation in fractions at {len(outcome.points)} points of {lemma.region}; none for all parameters was found; {tried}"
        holds = True if tried.worst is None else None
        return Part(name, holds, "exact", text, role, covered=Covered(len(outcome.points), "points"))
    return Part(name, None, "exact", f"neither proved nor refuted on {lemma.region}; {tried}", role)


# ---- theorems about methods ---------------------------------------------------------------------------------------


def find_of_theorem(
    statement: Bound | Contraction,
    context: Context,
    *,
    name: str = STATEMENT,
    role: Role = "printed",
    corrected: Statement | None = None,
) -> Iterator[Finding]:
    """What engines find of a bound or a contraction, and its picture."""
    outcome = judge_statement(statement, seed=context.seed, budget=context.budget)
    if outcome.unstated:
        yield Reading(outcome.unstated)
    if outcome.word == "supported" and isinstance(statement, Bound) and (form := tell_without_convexity(statement)):
        yield Reading(f"{form}.")
    yield from _parts_of(statement, outcome, name, role)
    if (line := outcome.line) is not None:
        yield PictureOfStatement(lambda seed: draw_line(statement, line, seed, corrected))


def _parts_of(statement: Bound | Contraction, outcome: StatementOutcome, name: str, role: Role) -> Iterator[Finding]:
    if outcome.word == "refuted" and outcome.refutation is not None:
        point = {name: str(value) for name, value in (outcome.refuted_at or {}).items()}
        instance = {
            "statement": "theorem",
            "data": json.dumps(dict(outcome.refutation.data)),
            "point": json.dumps(point),
        }
        replay = replay_statement(instance, statement=statement)
        margin = (
            float(1 - outcome.refutation.reached / outcome.refutation.claimed) if outcome.refutation.claimed else -1.0
        )
        text = f"at {show_point(outcome.refuted_at)}: {outcome.refutation}"
        yield Part(name, False, "exact", text, role, margin=margin, counterexample=Counterexample(instance, replay))
        return
    for region, data in outcome.everywhere.pieces if outcome.everywhere is not None else ():
        confirm_derivation(check_derivation, dict(data), region or "no parameters")
    for point_proof in outcome.proofs:
        confirm("certificate", check, dict(point_proof.certificate.data))
    yield _theorem_part(statement, outcome, name, role)
    yield from (Reading(reason) for reason in outcome.reasons)
    yield from (Reading(str(moved)) for moved in outcome.sensitivity)


def _theorem_part(statement: Bound | Contraction, outcome: StatementOutcome, name: str, role: Role) -> Part:
    margin = None if outcome.least is None else min(outcome.least - 1, 1e300)
    data: dict[str, Any] = {
        "least claimed / worst case": outcome.least,
        "points": outcome.scope.points,
        "on runs": None if outcome.runs is None or outcome.runs.why_none else outcome.runs.largest,
    }
    if outcome.everywhere is not None and outcome.word == "proved":
        data["derivations"] = [dict(derivation) for _, derivation in outcome.everywhere.pieces]
        return proved_from_statement(name, f"for all parameters: {outcome.scope}", role=role, margin=margin, data=data)
    if outcome.word == "proved":
        return proved_from_statement(name, f"certificates at {outcome.scope}", "exact", role, margin=margin, data=data)
    text = f"worst cases within the claim: {outcome.scope}"
    if outcome.word == "supported" and outcome.proofs:
        scope = f"{len(outcome.proofs)} of {outcome.scope.points} points"
        return proved_from_statement(name, text, "worst case", role, margin=margin, data=data, scope=scope)
    if outcome.word == "supported":
        covered = Covered(outcome.scope.points, "points", outcome.scope.whole)
        return Part(name, True, "worst case", text, role, margin, covered=covered, data=data)
    return Part(name, None, "worst case", "; ".join(outcome.reasons) or "nothing was decided", role, data=data)


# ---- replays ------------------------------------------------------------------------------------------------------


def replay_statement(instance: Mapping[str, Any], *, statement: Statement) -> Replay:
    """Measure a stored violation of a statement again.

    Raises
    ------
    InvalidInput
        The instance is no violation of this statement.
    """
    if isinstance(statement, Equivalence | Inequality | Limit | Divergence | Rate):
        return statement.replay(instance)
    if isinstance(statement, Theorem):
        return replay_theorem(instance, theorem=statement)
    if isinstance(statement, Ordering):
        raise InvalidInput("an ordering has no counterexample: run it again with the same seed")
    kind, data = instance["statement"], parse_json(instance["data"])
    if isinstance(statement, Lemma):
        if kind != "lemma":
            raise InvalidInput("the instance is not one of a lemma")
        found = Instance.read(data)
        require_parameters(statement.region, found.point)
        reason = recheck_instance(statement, found)
        met = _from_checker(
            "the instance meets every hypothesis, and its functions belong to their classes", reason is None
        )
        return Replay(
            f"left side of the conclusion at {show_point(found.point)}",
            play_in_floats(statement, found),
            0.0,
            found.left,
            Fraction(0),
            "fractions",
            (met,),
        )
    if kind != "theorem":
        raise InvalidInput("the instance is not one of a theorem about a method")
    point = {name: read_number(value) for name, value in parse_json(instance["point"]).items()}
    require_parameters(statement.parameters, point)
    if not statement.inside(point) or not is_same(statement.asked_at(point).describe(), data["question"]):
        raise InvalidInput(f"its question is not the statement's at {show_point(point)}")  # which would be run for ever
    check_instance(data)
    method, claimed = statement.method_at(point), statement.claim_at(point)
    if read_number(data["claimed"]) != claimed:
        raise InvalidInput(f"it says that {data['claimed']} is claimed, and the statement claims {claimed}")
    exact, numeric = replay_exactly(data, method), replay_in_floats(data, method)
    assumptions = (
        _from_checker(f"the parameters {show_point(point)} belong to the region", statement.inside(point)),
        _from_checker(
            "the functions interpolate the class; start, minimiser and heterogeneity are as the class asks", True
        ),
        _from_checker("the question is the statement's", True),
    )
    what = f"what the method reaches at {show_point(point)} against what is claimed"
    limit = statement.claim_text.at({**point_in_floats(point), **in_floats(statement.exact_constants)}, float)
    return Replay(what, numeric, float(limit), exact, claimed, "fractions", assumptions)


def _from_checker(text: str, met: bool) -> Assumption:
    return Assumption(text, met, "exact arithmetic")

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
    Context,
    Counterexample,
    Fault,
    Finding,
    Kind,
    Part,
    Picture,
    Reading,
    Replay,
    Role,
)
from fedtheory.claims.parts import proved
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.claims.statements.lemma import Lemma, LemmaOutcome, lemma_sensitivity, prove_lemma, recheck_instance
from fedtheory.claims.statements.outcomes import StatementOutcome, show_point
from fedtheory.core.errors import InvalidInput
from fedtheory.core.exact import rational
from fedtheory.proofs.certificates.checker import check
from fedtheory.proofs.facts import confirm, confirm_derivation
from fedtheory.proofs.parameters.checker import check_derivation
from fedtheory.proofs.parameters.refutations import Instance
from fedtheory.proofs.refutations.instances import check_instance
from fedtheory.proofs.refutations.replay import replay_exactly, replay_in_floats

Statement = Bound | Contraction | Lemma
#: the part that the verdict comes from
STATEMENT = "statement"
#: what a bound without named constants is multiplied with by its planted fault: one that passes then is loose by more than that
TIGHTENED = Fraction(1, 2)


def state(
    id: str,
    paper: str,
    source: str,
    text: str,
    statement: Statement,
    *,
    assumptions: Sequence[str] = (),
    kind: Kind | None = None,
) -> Claim:
    """Make a claim of a statement.

    Parameters
    ----------
    id, paper, source, text : as for `Claim`; ``text`` is the statement in words.
    assumptions : what the statement assumes besides its class and region, which are listed anyway
    kind : by default "bound", "rate" or "proof step", by what the statement is

    Raises
    ------
    InvalidInput
        A lemma without a named constant: nothing could be asked of how sharp its check is.
    """
    stated: tuple[str, ...]
    if isinstance(statement, Lemma):
        if not statement.constants:
            raise InvalidInput(
                f"{id}: give one constant of the lemma a name, so that it can be asked from where on its check would reject it"
            )
        kind, stated = kind or "proof step", (f"parameters: {statement.region}",)
    else:
        kind = kind or ("rate" if isinstance(statement, Contraction) else "bound")
        functions = statement.functions if isinstance(statement.functions, str) else "the stated class"
        stated = (f"functions: {functions}", f"parameters: {statement.parameters}")
    names = list(statement.constants)
    faults = [
        Fault(f"{name} beyond where it is rejected", STATEMENT, {"beyond": name}, sharpness=True) for name in names
    ]
    if not names:
        faults = [Fault(f"{TIGHTENED} of what is claimed", STATEMENT, {"times": TIGHTENED}, sharpness=True)]
    return Claim(
        id,
        paper,
        kind,
        source,
        text,
        partial(_check, statement=statement),
        tuple(faults),
        assumptions=(*stated, *assumptions),
        replay=partial(replay_statement, statement=statement),
    )


def _check(
    context: Context, *, statement: Statement, times: Fraction = Fraction(1), beyond: str = ""
) -> Iterator[Finding]:
    if isinstance(statement, Lemma):
        yield from find_of_lemma(_lemma_beyond(statement, beyond) if beyond else statement)
        return
    if beyond:
        statement = _theorem_beyond(statement, beyond, context)
    elif times != 1:
        statement = replace(statement, claimed=f"({times})*({statement.claim_text})")
    yield from find_of_theorem(statement, context)


def _lemma_beyond(lemma: Lemma, name: str) -> Lemma:
    """The lemma with a constant where an exact instance rejects it; as it is where nothing does."""
    fails = next((s.fails for s in lemma_sensitivity(lemma) if s.name == name), None)
    return lemma if fails is None else lemma.with_constants(**{name: fails})


def _theorem_beyond(statement: Bound | Contraction, name: str, context: Context) -> Bound | Contraction:
    """The statement with a constant a little beyond where worst cases reject it; as it is where nothing does."""
    outcome = judge_statement(statement, seed=context.seed, budget=context.budget)
    found = next((s for s in outcome.sensitivity if s.constant == name and s.factor is not None), None)
    if found is None or found.factor is None:
        return statement
    moved = found.tried or statement.exact_constants[name] * rational(round(found.factor**1.05, 6))
    return replace(statement, constants={**statement.constants, name: moved})


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
    if outcome.vacuous:
        yield Part(name, None, "exact", f"it is true of nothing: {outcome.vacuous}", role)
        return
    for data in outcome.derivations:
        confirm_derivation(check_derivation, data, f"{lemma.name}, {outcome.scope}")
    yield _lemma_part(lemma, outcome, name, role)
    if outcome.word.startswith("proved"):
        yield from (Reading(str(moved)) for moved in lemma_sensitivity(lemma))


def _lemma_part(lemma: Lemma, outcome: LemmaOutcome, name: str, role: Role) -> Part:
    data = {"derivations": list(outcome.derivations), "multipliers": [dict(m) for m in outcome.multipliers]}
    if outcome.word == "proved for all parameters":
        return proved(name, True, f"{outcome.word}: {outcome.scope}", role=role, data=data)
    if outcome.word == "proved at points":
        text = f"a derivation in fractions at {len(outcome.points)} points of {lemma.region}; none for all parameters was found"
        return Part(name, True, "exact", text, role)
    return Part(name, None, "exact", f"neither proved nor refuted on {lemma.region}", role)


# ---- theorems about methods ---------------------------------------------------------------------------------------


def find_of_theorem(
    statement: Bound | Contraction, context: Context, *, name: str = STATEMENT, role: Role = "printed"
) -> Iterator[Finding]:
    """What engines find of a bound or a contraction."""
    outcome = judge_statement(statement, seed=context.seed, budget=context.budget)
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
    if outcome.line is not None:
        series = [
            {"label": "claimed", "x": list(outcome.line.values), "y": list(outcome.line.claimed), "style": "dashed"},
            {"label": "worst case over the class", "x": list(outcome.line.values), "y": list(outcome.line.worst)},
        ]
        yield Picture(statement.name or "claimed and worst case", outcome.line.parameter, "bound", series)


def _theorem_part(statement: Bound | Contraction, outcome: StatementOutcome, name: str, role: Role) -> Part:
    margin = None if outcome.least is None else min(outcome.least - 1, 1e300)
    data: dict[str, Any] = {
        "least claimed / worst case": outcome.least,
        "points": outcome.scope.points,
        "on runs": outcome.on_runs,
    }
    if outcome.everywhere is not None and outcome.word == "proved":
        data["derivations"] = [dict(derivation) for _, derivation in outcome.everywhere.pieces]
        return proved(name, True, f"for all parameters: {outcome.scope}", role=role, margin=margin, data=data)
    if outcome.word == "proved":
        return proved(name, True, f"certificates at {outcome.scope}", "exact", role, margin=margin, data=data)
    text = f"worst cases within the claim: {outcome.scope}"
    if outcome.word == "supported" and outcome.proofs:
        scope = f"{len(outcome.proofs)} of {outcome.scope.points} points"
        return proved(name, True, text, "worst case", role, margin=margin, data=data, scope=scope)
    if outcome.word == "supported":
        return Part(name, True, "worst case", text, role, margin, data=data)
    return Part(name, None, "worst case", "; ".join(outcome.reasons) or "nothing was decided", role, data=data)


# ---- replays ------------------------------------------------------------------------------------------------------


def replay_statement(instance: Mapping[str, Any], *, statement: Statement) -> Replay:
    """Measure a stored violation of a statement again.

    Raises
    ------
    InvalidInput
        The instance is no violation of this statement.
    """
    kind, data = instance["statement"], json.loads(instance["data"])
    if isinstance(statement, Lemma):
        if kind != "lemma":
            raise InvalidInput("the instance is not one of a lemma")
        found = Instance.read(data)
        reason = recheck_instance(statement, found)
        met = _from_checker(
            "the instance meets every hypothesis, and its functions belong to their classes", reason is None
        )
        left = float(found.left)
        return Replay(
            f"left side of the conclusion at {show_point(found.point)}",
            left,
            0.0,
            found.left,
            Fraction(0),
            "fractions",
            (met,),
        )
    if kind != "theorem":
        raise InvalidInput("the instance is not one of a theorem about a method")
    point = {name: Fraction(value) for name, value in json.loads(instance["point"]).items()}
    check_instance(data)
    method, claimed = statement.method_at(point), statement.claim_at(point)
    exact, numeric = replay_exactly(data, method), replay_in_floats(data, method)
    assumptions = (
        _from_checker(f"the parameters {show_point(point)} belong to the region", statement.inside(point)),
        _from_checker(
            "the functions interpolate the class; start, minimiser and heterogeneity are as the class asks", True
        ),
        _from_checker("the question is the statement's", statement.asked_at(point).describe() == data["question"]),
    )
    what = f"what the method reaches at {show_point(point)} against what is claimed"
    return Replay(what, numeric, float(claimed), exact, claimed, "fractions", assumptions)


def _from_checker(text: str, met: bool) -> Assumption:
    return Assumption(text, met, "exact arithmetic")

"""What comes of a theorem: a part that is proved by a term, refuted by an instance, or neither, with the line at which the proof stops."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fedtheory.claims.claim import (
    Assumption,
    Counterexample,
    Covered,
    Fault,
    Finding,
    NothingToPlant,
    Part,
    Reading,
    Replay,
    Role,
)
from fedtheory.claims.parts import proved_by_term
from fedtheory.claims.statements.theorems.bounded_below import LowerBound
from fedtheory.claims.statements.theorems.in_units import tell_unlike_units
from fedtheory.claims.statements.theorems.irrational import Between
from fedtheory.claims.statements.theorems.meaning import (
    find_contradiction,
    find_contradiction_of_states,
    require_meaning,
)
from fedtheory.claims.statements.theorems.mistakes import (
    NearMiss,
    change_term,
    find_refusal,
    pick_stronger,
)
from fedtheory.claims.statements.theorems.on_quadratics import QuadraticRun
from fedtheory.claims.statements.theorems.posing import follow_claim, list_of_all_rounds, show_numbers
from fedtheory.claims.statements.theorems.proving import Contradictory, ProvedTheorem, find_first_round, prove_theorem
from fedtheory.claims.statements.theorems.recurring import RoundsDiffer
from fedtheory.claims.statements.theorems.refuting import (
    BrokenClaim,
    Guarded,
    guard_proved,
    refute_theorem,
    replay_claim,
)
from fedtheory.claims.statements.theorems.squares import tried_sentence
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import write_claim
from fedtheory.claims.statements.unit_reading import require_units
from fedtheory.claims.statements.unstated import find_hanging, tell_unstated
from fedtheory.core.errors import CannotTrace, EnginesDisagree, FedtheoryError, InvalidInput
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.formulas import Sentence, show_tree
from fedtheory.proofs.checker.proof_lines import join_lines
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.facts import write_fact
from fedtheory.tools.remembered import Remembered

#: mistakes that are planted in the check of a claim, and how many are looked at: more where too few of them can be planted
PLANTED, LOOKED_AT, MOST_LOOKED_AT = 2, 4, 6

_proofs = Remembered["tuple[Theorem, ProvedTheorem | Stopped]"]()
_looked = Remembered["tuple[Theorem, BrokenClaim | Guarded]"]()
_near = Remembered["tuple[Theorem, NearTheorem]"]()
_mistaken = Remembered[tuple[Theorem, Theorem]]()  # mistakes that were planted, and whose terms they are tried with
_near_misses = Remembered[Theorem]()  # those of them that `plant_near_misses` planted


class Stopped(str):
    """Why a script proves nothing; ``empty``: since what is supposed contradicts itself."""

    empty = False


def find_proof(theorem: Theorem) -> ProvedTheorem | Stopped:
    """The theorem with its term, or why its script proves nothing; claims share theorems, and one that was proved is not proved again."""
    if id(theorem) not in _proofs:
        try:
            _proofs[id(theorem)] = theorem, _prove(theorem)
        except TermRefused as reason:
            _remember_refusal(theorem, reason)
    return _proofs[id(theorem)][1]


def _remember_refusal(theorem: Theorem, reason: TermRefused) -> None:
    why = Stopped(reason)
    why.empty = isinstance(reason, Contradictory)
    _proofs[id(theorem)] = theorem, why


def is_proved(theorem: Theorem) -> bool:
    """Whether its script proves it, as a fact of what rests on it."""
    proof = find_proof(theorem)
    if isinstance(proof, str):
        return False
    text = f"a proof term of {len(proof.data['lines'])} lines: {'; '.join(theorem.claims)}"
    write_fact("term", text, data=proof.data)
    return True


def judged_like(theorem: Theorem, own: Theorem) -> Theorem:
    """A theorem with other constants than ``own``, whose script is not run again: the term of ``own`` is read with what it says itself."""
    _mistaken[id(theorem)] = theorem, own
    return theorem


def _look(theorem: Theorem) -> BrokenClaim | Guarded:
    """An instance against a theorem, or what was looked at, with the effort that is made for what a term proves."""
    if id(theorem) not in _looked:
        _looked[id(theorem)] = theorem, guard_proved(theorem)
    return _looked[id(theorem)][1]


def _prove(theorem: Theorem) -> ProvedTheorem | Stopped:
    """By its script, or one that is looked for where no instance is against it; of a planted mistake, by the term of the theorem that it is near."""
    if id(theorem) not in _mistaken:
        if not theorem.proof and isinstance(_look(theorem), BrokenClaim):
            return Stopped("none is looked for, since an instance is against the claim")
        return prove_theorem(theorem)
    own = _mistaken[id(theorem)][1]
    proof = find_proof(own)
    if isinstance(proof, str):
        return proof
    data = change_term(own, proof.data, theorem)
    return ProvedTheorem(theorem, data, check_term(data, resting=proof.resting), proof.resting)


def with_script(theorem: Theorem) -> Theorem:
    """The theorem with the script that proves it, where it has none and one is found."""
    proof = find_proof(theorem) if not theorem.proof and id(theorem) not in _mistaken else None
    return proof.theorem if isinstance(proof, ProvedTheorem) else theorem


def find_of_rounds(theorem: Theorem, *, name: str, role: Role = "printed") -> Iterator[Finding]:
    """Judge a theorem: its units, its script, instances of its claim at a few rounds, and runs with several numbers of clients.

    Raises
    ------
    InvalidInput
        It asks for what there is not, such as a field that no state has.
    EnginesDisagree
        An exact instance refutes what a term proves.
    """
    if id(theorem) not in _mistaken:
        require_meaning(theorem)
        unlike = tell_unlike_units(theorem)
        require_units(unlike, theorem.units)
        if unlike:
            yield Reading(f"As it is printed it is not right in all units: {unlike}.")
    proof = find_proof(theorem)
    if id(theorem) in _near_misses and isinstance(proof, str):  # caught; whether it is false, too, nobody asks
        yield Part(name, None, "exact", f"the proof stops: {proof}; {_tell_instead(theorem)}", role)
        return
    sure = isinstance(proof, ProvedTheorem) and not proof.proved.cited
    against = _look(theorem) if sure or not theorem.proof else None
    if against is None or (isinstance(against, Guarded) and not sure):
        against = refute_theorem(theorem)
    impossible = isinstance(against, Guarded) and against.impossible and not against.points
    contradiction = find_contradiction(theorem) or (find_contradiction_of_states(theorem) if impossible else "")
    if contradiction or (isinstance(proof, Stopped) and proof.empty):
        yield Part(name, True, "exact", f"it is true of nothing: {contradiction or proof}", role, empty=True)
        return
    if isinstance(against, Guarded) and impossible:
        text = f"at none of {against.impossible} points of the region anything was found that meets what is assumed"
        yield Part(name, None, "worst case", text, role)
        return
    options = tell_unstated(theorem) if isinstance(theorem.states, MethodStates) else ""
    if options:
        yield Reading(options)
    if isinstance(against, BrokenClaim):
        yield _against(theorem, against, proof, name, role, options)
        return
    if isinstance(proof, ProvedTheorem):
        if not theorem.proof:
            yield from _tell_found(theorem, proof.theorem)
        told = [f"a proof of {_tell_count(proof.proved.lines)}, checked without packages: {', '.join(_rules(proof))}"]
        told += [f"given {text}" for name_of, text in proof.theorem.given.items() if name_of not in theorem.inside]
        for hypothesis, inside in theorem.inside.items():
            count = _tell_count(proof.data["inside"][hypothesis]["term"]["lines"])
            told.append(f"{hypothesis} by a proof of {count} about states inside of a round")
            told += [f"given there {text}" for text in inside.theorem.given.values()]
        text = "; ".join([*told, *_tell_runs(against)])
        yield proved_by_term(name, proof.data, proof.proved, theorem.claims, text, role=role)
        yield from _slack(proof)
        return
    yield _unproved(theorem, proof, against, name, role)


def _tell_found(theorem: Theorem, found: Theorem) -> Iterator[Reading]:
    """The script that was found, and what it does without."""
    more = found.quantities.keys() - theorem.quantities.keys()
    beside = [f"{name} = {text}" for name, text in found.quantities.items() if name in more]
    yield Reading(f"It came without a proof, and this one was found: {'; '.join([*join_lines(found.proof), *beside])}.")
    if idle := [name for name in theorem.given if name not in found.given]:
        yield Reading(f"It is proved without what is given as {', '.join(idle)}.")


def _unproved(theorem: Theorem, proof: Stopped, against: Guarded, name: str, role: Role) -> Part:
    """What is said of a theorem that is neither proved nor refuted."""
    looked = _describe(against)
    if id(theorem) in _mistaken:
        looked += f"; {_tell_instead(theorem)}"
    unlike = tell_unlike_states(theorem)
    if against.points and not against.suspected and not unlike:
        covered = Covered(against.points, "points")
        text = f"no violation over the whole class at {looked}; the proof stops: {proof}"
        return Part(name, True, "worst case", text, role, covered=covered)
    text = "; ".join(filter(None, (f"the proof stops: {proof}", looked, unlike)))
    return Part(name, None, "worst case", text, role)


def _tell_instead(mistaken: Theorem) -> str:
    return f"what is said instead: {'; '.join(mistaken.claims)}, {mistaken.region}"


def tell_unlike_states(theorem: Theorem) -> str:
    """Why states that a function plays are not seen to be those of a run, in words; "" where they are.

    What was looked at are states as the function makes them, with what it says that all have. Where a round does not keep that, they support
    nothing that is said of every round.
    """
    reason = _find_unlike(theorem)
    return "" if reason is None else f"the states that were looked at may be none of a run: {reason}"


def _find_unlike(theorem: Theorem) -> CannotTrace | None:
    if isinstance(theorem.states, PlayedStates):
        try:
            find_first_round(theorem)
        except CannotTrace as reason:
            return reason
        except FedtheoryError:  # of one state alone there is no next one
            return None
    return None


def _against(
    theorem: Theorem, broken: BrokenClaim, proof: ProvedTheorem | Stopped, name: str, role: Role, options: str
) -> Part:
    """What an instance against a theorem comes to."""
    part = _refuted(theorem, broken, name, role)
    if isinstance(proof, ProvedTheorem):
        if not proof.proved.cited:
            raise EnginesDisagree(
                f"{theorem.name or name}: a term proves what an exact instance refutes; one of the two engines is wrong"
            )
        return replace(
            part, text=f"{part.text}; so what the proof cites is false as it is cited: {', '.join(proof.proved.cited)}"
        )
    unlike = _find_unlike(theorem)
    if isinstance(unlike, RoundsDiffer):
        text = f"later rounds of the function are others than the first: {unlike}. {part.text}"
        return replace(part, holds=None, text=text, margin=None, counterexample=None)
    hangs = find_hanging(theorem, lambda other: isinstance(refute_theorem(other), BrokenClaim)) if options else ""
    if hangs:
        return replace(part, holds=None, text=f"{hangs}. {part.text}", margin=None, counterexample=None)
    return part


def _tell_count(lines: Sized) -> str:
    return f"{len(lines)} line{'s' if len(lines) > 1 else ''}"


def _rules(proof: ProvedTheorem) -> list[str]:
    return list(dict.fromkeys(line.partition(" by ")[2].partition(" ")[0] for line in proof.proved.lines))


def _tell_runs(guarded: Guarded) -> list[str]:
    n = ", ".join(map(str, guarded.clients))
    return [f"held against runs with n = {n}"] if n else []


def _describe(guarded: Guarded) -> str:
    rounds = "; ".join(", ".join(f"{name} = {k}" for name, k in rounds.items()) for rounds in guarded.rounds[:4])
    told = [f"{guarded.points} points of the region{f', {rounds}' if rounds else ''}", *_tell_runs(guarded)]
    told += guarded.suspected[:1]
    return "; ".join([*told, *(f"left out: {why}" for why in guarded.left_out[:1])])


def _refuted(theorem: Theorem, broken: BrokenClaim, name: str, role: Role) -> Part:
    instance = broken.store()
    replay = replay_theorem(instance, theorem=theorem)
    numbers = {**broken.instance.point, **broken.rounds, **show_numbers(broken.at(theorem))}
    at = ", ".join(f"{key} = {value}" for key, value in numbers.items())
    kind = broken.instance.kind
    if isinstance(broken.instance, QuadraticRun):
        n = broken.instance.clients
        kind = f"a run with {n} client{'s' * (n > 1)}, {kind}"
    least = "" if replay.arithmetic == "fractions" else "at least "
    again = "; the state comes back after two rounds" if theorem.sentences[broken.claim].sign == "->" else ""
    text = f"at {at}: left side less right side is {least}{broken.gap} > 0 ({kind}{again})"
    return Part(name, False, "exact", text, role, margin=-1.0, counterexample=Counterexample(instance, replay))


def replay_theorem(instance: Mapping[str, Any], *, theorem: Theorem) -> Replay:
    """Measure a stored violation of a theorem again, in floats and in fractions.

    Raises
    ------
    InvalidInput
        The instance is no violation of this theorem.
    """
    if instance.get("statement") != "theorem for every round":
        raise InvalidInput("the instance is not one of a theorem for every round")
    broken = BrokenClaim.read(instance)
    if not 0 <= broken.claim < len(theorem.claims):
        raise InvalidInput(
            f"the theorem has {len(theorem.claims)} claims, and the instance is against number {broken.claim + 1}"
        )
    gap, numeric = replay_claim(theorem, broken), float(replay_claim(theorem, broken, floats=True))
    if theorem.sentences[broken.claim].sign in ("==", "->"):
        gap, numeric = abs(gap), abs(numeric)
    least = ", at least" if isinstance(gap, Between) else ""
    arithmetic = "fractions between which irrational numbers lie" if least else "fractions"
    of_run = isinstance(broken.instance, QuadraticRun)
    functions = (
        "quadratics with curvatures in the class"
        if of_run
        else "the functions interpolate their classes, client by client"
    )
    met = (
        Assumption("the parameters and rounds are those that the claim is about", True, "exact arithmetic"),
        Assumption(functions, True, "exact arithmetic"),
        *_list_given_met(theorem, broken),
    )
    sentence = theorem.sentences[broken.claim]
    squared = "" if tried_sentence(theorem, broken.claim) is sentence else ", both squared"
    again = " in every second round, for the state comes back" if sentence.sign == "->" else ""
    what = f"left side less right side of {write_claim(sentence)}{squared}{again}{least}"
    return Replay(what, numeric, 0.0, gap.least if isinstance(gap, Between) else gap, 0, arithmetic, met)


def _list_given_met(theorem: Theorem, broken: BrokenClaim) -> Iterator[Assumption]:
    """What is given, which the replay has seen to hold; of lower bounds of functions in all rounds a theorem of the literature says it."""
    bounds: Mapping[str, LowerBound] = {}
    if theorem.states is not None and not isinstance(broken.instance, QuadraticRun):
        posed, _, _ = follow_claim(broken.at(theorem))
        bounds = posed.lower_bounds(theorem)
    for name in theorem.given:
        when = ", in all rounds" if name in list_of_all_rounds(theorem) else ""
        why = f": {bounds[name].why}" if name in bounds else ""
        yield Assumption(f"{name}{when}{why}", True, "exact arithmetic")


def _slack(proof: ProvedTheorem) -> Iterator[Reading]:
    slack = look_near(proof.theorem).slack
    if slack:
        yield Reading(f"There is slack: the same proof proves {slack[0].what}.")


def plant_near_misses(theorem: Theorem, part: str) -> list[Fault]:
    """Some mistakes that say more than a theorem, as faults: put in its place with its own term, none may be proved.

    Which they are is found when they are run, as it takes time. Near the claim that a quantity is zero there are none: a multiple of it is zero, too.
    """
    if all(_says_zero(sentence) for sentence in theorem.sentences):
        return []
    return [
        Fault(
            f"mistake {k + 1} of {PLANTED} near the theorem",
            part,
            {"planted": (part, partial(_mistake, theorem, k))},
            sharpness=True,
            or_undecided=True,
            or_unproved=True,
        )
        for k in range(PLANTED)
    ]


@dataclass(frozen=True)
class NearTheorem:
    """Mistakes near a theorem that say more than it: ``slack``, which its own proof proves, so that they are true, and others, to plant."""

    slack: tuple[NearMiss, ...]
    planted: tuple[NearMiss, ...]


def look_near(theorem: Theorem) -> NearTheorem:
    """Some mistakes, from all over a theorem."""
    if id(theorem) not in _near:
        proof, slack, planted = find_proof(theorem), list[NearMiss](), list[NearMiss]()
        for mistake in pick_stronger(theorem, MOST_LOOKED_AT):
            if len(slack) + len(planted) >= LOOKED_AT and len(planted) >= PLANTED:
                break
            if not isinstance(proof, ProvedTheorem):
                planted.append(mistake)
            elif (reason := find_refusal(theorem, proof.data, mistake.theorem, proof.resting)) is not None:
                _remember_refusal(mistake.theorem, reason)  # planted, it is not checked again
                planted.append(mistake)
            else:
                slack.append(mistake)
        _near[id(theorem)] = theorem, NearTheorem(tuple(slack), tuple(planted[:PLANTED]))
    return _near[id(theorem)][1]


def _says_zero(sentence: Sentence) -> bool:
    left, right = sentence.sides
    return sentence.sign == "==" and isinstance(left, ast.Subscript) and show_tree(right) == "0"


def _mistake(theorem: Theorem, k: int, context: object) -> Theorem:
    """The k-th mistake that is planted; of a theorem near which there are fewer, one again."""
    found = look_near(with_script(theorem)).planted
    if not found:
        raise NothingToPlant(
            f"{theorem.name or theorem.claims[0]}: its own proof proves every mistake near it that says more"
        )
    mistake = found[k % len(found)].theorem
    _near_misses[id(mistake)] = mistake
    return judged_like(mistake, with_script(theorem))

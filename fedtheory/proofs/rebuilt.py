"""Whether a certificate's inequality system is that of the method it names: the system is made anew from the method's round, in fractions.

`fedtheory.proofs.checker.certificates` verifies that a system implies a bound. Here the question stored with it (method, hyper-parameters, class,
measure, start, rounds, participation) is asked again: the method's own round is traced on the class, and evaluations, hypotheses, equations
and objectives must be those of the certificate, name by name and coefficient by coefficient. No solver takes part.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.exact import rational
from fedtheory.proofs.certificates.questions import (
    describe_question,
    load_class,
    load_method,
    load_participation,
    load_weights,
    store_object,
)
from fedtheory.proofs.certificates.upper_bounds import store_system
from fedtheory.proofs.certificates.weighted_programs import state_program_of_weights
from fedtheory.proofs.checker.certificates import check, read_form, read_functions
from fedtheory.proofs.checker.reading import MOST_STEPS, read_number
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.vectors import square
from fedtheory.proofs.potentials.invariants import follow_errors
from fedtheory.proofs.potentials.program import PotentialSearch, store_relations
from fedtheory.proofs.potentials.terms import GRADIENT


def verify_method(
    certificate: Mapping[str, Any], method: Algorithm | None = None, *, most_steps: int = MOST_STEPS
) -> str:
    """Check a certificate, and that its system is that of its question; the sentence that is then a theorem.

    Parameters
    ----------
    method : Algorithm, optional
        One that is not part of fedtheory; the certificate must name it and its hyper-parameters. Otherwise the method is made from its name.
    most_steps : int
        That the inequality system may take to be checked.

    Raises
    ------
    Refused
        The system proves no such bound, or is another; the message says what differs first.
    """
    given = dict(certificate)
    check(given, most_steps)
    sentence = describe_question(given)
    question = given["question"]
    if method is not None and store_object(method) != question["method"]:
        raise Refused("the certificate is for another method or other hyper-parameters than those given")
    made = load_method(question["method"]) if method is None else rational(method)
    _require_short(given)
    try:
        expected = _rebuild(question, made)
    except Refused:
        raise
    except FedtheoryError as error:
        raise Refused(f"the question has no inequality system: {error}") from error
    except Exception as error:  # a hyper-parameter of a kind that the method's arithmetic does not know
        raise Refused(f"the method cannot be traced: {type(error).__name__} {str(error)[:200]}") from error
    try:
        _compare(given, expected)
    except Refused:
        raise
    except ValueError as error:
        raise Refused(f"the system of the question cannot be read: {str(error)[:200]}") from error
    return sentence


def _require_short(given: Mapping[str, Any]) -> None:
    """Refuse at once what would be traced for ever: every round, and every local step, evaluates a gradient."""
    count = sum(len(f["evaluations"]) for f in (given, *given.get("functions", {}).values()))
    longest = max([given["question"].get("rounds", 1), *_steps(given["question"]["method"])])
    if longest > count:
        raise Refused(
            f"the system has {count} evaluations of functions, and the question speaks of {longest} rounds or local steps"
        )


def _steps(data: Any) -> list[int]:
    fields = data.get("fields", {}) if isinstance(data, dict) else {}
    own = [value for name, value in fields.items() if name in ("steps", "epochs") and isinstance(value, int)]
    return own + [s for value in fields.values() for s in _steps(value)]


def _rebuild(question: Mapping[str, Any], method: Algorithm) -> dict[str, Any]:
    """The system of a question, as plain data."""
    functions, who = load_class(question["functions"]), load_participation(question["participation"])
    if question["kind"] == "worst case":
        rounds, radius, weights = int(question["rounds"]), read_number(question["radius"]), load_weights(question)
        if weights is not None:
            stated, *_ = state_program_of_weights(method, functions, rounds, question["measure"], radius, weights)
            return store_system(stated)
        model, *_ = state_program(method, functions, rounds, question["measure"], radius, who)
        return store_system(model)
    followed = follow_errors(method, functions, who)
    named = {word for term in question["potential"] for word in term.split()}
    search = PotentialSearch.of(dataclasses.replace(followed, gradients=GRADIENT in named - {*followed.space.fields}))
    if question["relations"] != store_relations(followed):
        raise Refused("the relations between fields are not those that are proved from the method's round")
    if question["first"] != followed.first:
        raise Refused(f"the relations hold from round {followed.first} on, not from round {question['first']} on")
    before, after = search.stated({name: read_number(w) for name, w in question["potential"].items()})
    if question["kind"] == "decrease":
        claim, condition = after - before * read_number(question["rate"]), search.decrease
    else:
        claim, condition = square(search.step.before["x"]) - before, search.floor
    return store_system(search.system(condition, claim))


def _compare(given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Name by name; multipliers, weights and the bound are the proof and may be any."""
    for name in ("clients", "mean", "deviation"):
        if given.get(name) != expected[name]:
            raise Refused(_other(f"{name!r}", f"{given.get(name)} and not {expected[name]}"))
    for part in ("hypotheses", "equations"):
        mine, method = given.get(part, {}), expected[part]
        for name in (*mine, *method):
            if name not in method:
                raise Refused(_other(part, f"{name!r} is not among those of the method"))
            if name not in mine:
                raise Refused(_other(part, f"{name!r} is missing"))
            if _nonzero(mine[name]) != _nonzero(method[name]):
                raise Refused(_other(part, f"{name!r} has other coefficients"))
    _compare_functions(read_functions(dict(given)), read_functions(dict(expected)))
    objectives = [[_nonzero(goal["form"]) for goal in data["objectives"]] for data in (given, expected)]
    if objectives[0] != objectives[1]:
        raise Refused(_other("the objective", "its coefficients"))


def _compare_functions(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    if set(ours) != set(theirs):
        raise Refused(_other("functions", f"{', '.join(sorted(ours))} and not {', '.join(sorted(theirs))}"))
    for name, (evaluations, *constants) in theirs.items():
        if ours[name][1:] != tuple(constants):
            raise Refused(_other(f"the class of {name!r}", "L, mu or whether it is shared"))
        if len(ours[name][0]) != len(evaluations):
            raise Refused(_other(f"the evaluations of {name!r}", f"{len(ours[name][0])} and not {len(evaluations)}"))
        for k, (own, wanted) in enumerate(zip(ours[name][0], evaluations, strict=True)):
            if own != wanted:
                raise Refused(_other(f"the evaluations of {name!r}", f"number {k}"))


def _nonzero(form: Any) -> dict[Any, Fraction]:
    return {key: value for key, value in read_form(form).items() if value != 0}


def _other(what: str, difference: str) -> str:
    return f"the system is not that of the method and question that the certificate names; {what} differ: {difference}"

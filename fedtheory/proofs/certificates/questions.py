"""What a certificate answers, as plain data from which its sentence is derived: method, class, measure, start, rounds, participation.

A method is its class and its hyper-parameters; whole numbers stay whole numbers, fractions are ``{"fraction": "1/10"}``, words are words.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.base import Algorithm, Method
from fedtheory.core.exact import rational
from fedtheory.proofs.checker.reading import read_count, read_number, require_fields, show
from fedtheory.proofs.checker.refusals import NotChecked
from fedtheory.proofs.every_n.vectors import Number, Sampling
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import MeasureName, find_measure

#: a class of one of the two rooms that methods are made of
KNOWN = re.compile(r"(fedtheory\.(?:algorithms|local)\.[a-z][a-z0-9_]*)\.([A-Z][A-Za-z0-9]*)")
_ABOUT = ("kind", "method", "functions", "participation")
#: fields of a question by its kind
FIELDS = {
    "worst case": (*_ABOUT, "measure", "rounds", "radius", "weights"),
    "decrease": (*_ABOUT, "rate", "potential", "relations", "first"),
    "floor": (*_ABOUT, "potential", "relations", "first"),
}
#: a field of a method or of its state
FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def store_object(value: Any) -> Any:
    """A method, a local solver or a hyper-parameter as plain data; what has none is named, and cannot be read back."""
    value = rational(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [store_object(v) for v in value]}
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if not dataclasses.is_dataclass(value):
        return {"opaque": name}
    given = {f.name: store_object(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
    return {"class": name, "fields": given}


def load_method(data: Any) -> Algorithm:
    """The method, made from the classes of `fedtheory.algorithms` and `fedtheory.local` alone.

    Raises
    ------
    NotChecked
        It is not one of those, or its hyper-parameters are outside its definition.
    """
    method = _load(data)
    if not isinstance(method, Method):
        raise NotChecked("the certificate names no method of fedtheory.algorithms; pass your own to verify_method")
    return method  # type: ignore[return-value]


def _load(data: Any) -> Any:
    if data is None or isinstance(data, bool | int | str):
        return data
    if isinstance(data, dict) and set(data) == {"fraction"}:
        return read_number(data["fraction"])
    if isinstance(data, dict) and set(data) == {"tuple"} and isinstance(data["tuple"], list):
        return tuple(_load(v) for v in data["tuple"])
    if not (isinstance(data, dict) and set(data) == {"class", "fields"} and isinstance(data["fields"], dict)):
        raise NotChecked("the method's hyper-parameters are not all numbers, words and solvers of fedtheory")
    known = KNOWN.fullmatch(data["class"]) if isinstance(data["class"], str) else None
    try:
        kind = None if known is None else getattr(importlib.import_module(known[1]), known[2], None)
    except ModuleNotFoundError:
        kind = None
    if known is None or not dataclasses.is_dataclass(kind) or kind.__module__ != known[1]:
        raise NotChecked(f"{ascii(data['class'])[:80]} is no class of fedtheory.algorithms or fedtheory.local")
    fields = {name: _load(value) for name, value in data["fields"].items()}
    try:
        return kind(**fields)  # type: ignore[operator]
    except (TypeError, ValueError, ArithmeticError) as error:
        raise NotChecked(f"{known[2]} cannot be made with these hyper-parameters: {str(error)[:200]}") from error


def store_class(function_class: FunctionClass) -> dict[str, Any]:
    """What is assumed of the functions, as plain data."""
    exact = rational(function_class)
    return {f.name: store_object(getattr(exact, f.name)) for f in dataclasses.fields(exact)}


def load_class(data: Any) -> FunctionClass:
    """What is assumed of the functions.

    Raises
    ------
    NotChecked
        It is no class of functions.
    """
    if not isinstance(data, dict):
        raise NotChecked("the class of functions is missing")
    yes_or_no = ("composite", "indicator")
    if any(isinstance(value, str) or isinstance(value, bool) != (name in yes_or_no) for name, value in data.items()):
        raise NotChecked(
            f"the class of functions is none: its constants are numbers, {' and '.join(yes_or_no)} true or false"
        )
    try:
        given = {name: _load(value) for name, value in data.items()}
        constants = [
            v
            for name, value in given.items()
            if name != "mu"
            for v in (value if isinstance(value, tuple) else (value,))
        ]
        if any(v is not None and v < 0 for v in constants):
            raise ValueError("a constant is negative")
        return FunctionClass(**given)
    except (TypeError, ValueError) as error:
        raise NotChecked(f"the class of functions is none: {str(error)[:200]}") from error


def store_participation(who: Sampling | None) -> dict[str, int] | None:
    """How many clients there are and take part, as plain data; None for every n."""
    return None if who is None else {"n": who.n, "s": who.s}


def load_participation(data: Any) -> Sampling | None:
    """How many clients there are and take part.

    Raises
    ------
    NotChecked
        The numbers make no sense.
    """
    if data is None:
        return None
    try:
        return Sampling(int(read_number(data["n"])), int(read_number(data["s"])))
    except (KeyError, TypeError, ValueError) as error:
        raise NotChecked(f"the number of clients is none: {str(error)[:200]}") from error


def ask_worst_case(
    algorithm: Algorithm,
    function_class: FunctionClass,
    rounds: int,
    measure: MeasureName,
    radius: Number,
    participation: Sampling | None,
    weights: Sequence[Fraction] | None = None,
) -> dict[str, Any]:
    """The question that a bound on a worst case answers; of clients with ``weights``, where it is for these alone."""
    told = {} if weights is None else {"weights": [str(w) for w in weights]}
    return {
        "kind": "worst case",
        "method": store_object(algorithm),
        "functions": store_class(function_class),
        "measure": measure,
        "rounds": rounds,
        "radius": str(Fraction(rational(radius))),
        "participation": store_participation(participation),
        **told,
    }


def load_weights(question: Mapping[str, Any]) -> list[Fraction] | None:
    """The weights of the clients that a question is about; None for equal ones.

    Raises
    ------
    NotChecked
        They are no positive numbers with the sum 1, or a number of clients is stated besides.
    """
    if "weights" not in question:
        return None
    data = question["weights"]
    try:
        found = [read_number(w) for w in data] if isinstance(data, list) else []
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise NotChecked(f"the weights are none: {str(error)[:200]}") from error
    if not found or min(found) <= 0 or sum(found) != 1 or question["participation"] is not None:
        raise NotChecked("weights are positive numbers with the sum 1, of clients all of which take part")
    return found


def describe_question(data: Mapping[str, Any]) -> str:
    """The sentence that the certificate is for, derived from its data; whether it proves it is another matter.

    Raises
    ------
    NotChecked
        The data are malformed.
    """
    try:
        question = data["question"]
        if question["kind"] not in FIELDS:
            raise ValueError(f"{ascii(question['kind'])[:40]} is no kind of question")
        require_fields(question, FIELDS[question["kind"]], "it")
        weights = load_weights(question)
        whom = _who(load_participation(question["participation"]))
        whom = whom if weights is None else f"clients of the weights {', '.join(map(str, weights))}"
        about = f"for {whom} and every dimension"
        over = f"{_describe(question['method'])} over {load_class(question['functions'])} functions"
        bound = read_number(data["bound"])
        if question["kind"] == "worst case":
            measure, rounds = find_measure(question["measure"]), read_count(question["rounds"])
            if question["rounds"] != rounds:
                raise ValueError("the number of rounds is a word")
            start = "||x^0 - x*||" if measure.of_minimiser else "f(x^0) - inf f"
            return (
                f"{measure.name} after {rounds} rounds <= {bound} (about {show(bound)}) {about}: {over}, "
                f"{start} <= {read_number(question['radius'])}"
            )
        if bound > 0:
            raise ValueError(f"{question['kind']} is proved up to {show(bound)} only")
        terms = {_term(term): read_number(w) for term, w in question["potential"].items()}
        potential = " + ".join(f"{w} {term}" for term, w in terms.items() if w != 0) or "0"
        relations = "; ".join(_relation(r) for r in question["relations"]) or "none"
        first = read_count(question["first"])
        claim = (
            f"E V(after) <= {read_number(question['rate'])} V(before)"
            if question["kind"] == "decrease"
            else "||x - x*||^2 <= V"
        )
        return (
            f"{claim} in every round from round {first} on (the first is round 0) {about}: {over}; V = {potential}, of differences to the "
            f"fixed point; relations it rests on, which hold from round {first} on: {relations}"
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        if isinstance(error, NotChecked):
            raise
        raise NotChecked(
            f"the question of the certificate is malformed: {type(error).__name__} {str(error)[:200]}"
        ) from error


def _who(who: Sampling | None) -> str:
    if who is None:
        return "every n >= 2"
    return f"n = {who.n}, " + ("all of them a round" if who.s == who.n else f"{who.s} of them a round, in expectation")


def _describe(data: Any) -> str:
    """A method as its constructor."""
    if isinstance(data, dict) and set(data) == {"class", "fields"}:
        fields = ", ".join(f"{_word(name)}={_describe(value)}" for name, value in data["fields"].items())
        return f"{_word(data['class'].rpartition('.')[2])}({fields})"
    if isinstance(data, dict) and set(data) == {"opaque"}:
        return f"<{_word(data['opaque'].rpartition('.')[2])}>"
    if isinstance(data, dict) and set(data) == {"tuple"}:
        return f"({', '.join(_describe(v) for v in data['tuple'])})"
    if isinstance(data, dict):
        return str(read_number(data["fraction"]))
    return repr(_word(data)) if isinstance(data, str) else repr(data)


def _word(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.<> -]{1,100}", text):
        raise ValueError(f"{ascii(text)[:40]} is no name")
    return text


def _term(name: str) -> str:
    """A term of a potential: ``mean u v``, ``deviation u v``, ``field u`` or ``gap``."""
    kind, *fields = name.split(" ")
    if kind == "gap" and not fields:
        return "(f(x) - f*)"
    if kind not in ("mean", "deviation", "field") or len(fields) != (1 if kind == "field" else 2):
        raise ValueError(f"{ascii(name)[:40]} is no term of a potential")
    u, v = (_field(fields[0]), _field(fields[-1]))
    if kind == "mean":
        return f"<mean {u}, mean {v}>"
    return f"mean||{u}||^2" if kind == "field" else f"mean<dev {u}, dev {v}>"


def _relation(data: Mapping[str, Any]) -> str:
    part = {"mean": "mean", "deviation": "dev"}[data["part"]]
    terms = [f"{read_number(w)} {part} {_field(name)}" for name, w in data["weights"].items()]
    return " + ".join(terms) + " = 0"


def _field(name: str) -> str:
    if not FIELD.fullmatch(name):
        raise ValueError(f"{ascii(name)[:40]} is no field of a state")
    return name

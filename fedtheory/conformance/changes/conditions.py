"""What goes wrong sometimes only: in some of the rounds, for some of the clients, in one coordinate, where a coin shows heads.

A change is an alternative (a term left out, with the other sign, as it was a round earlier, another variable, ...) under a condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from fedtheory.conformance.changes.change import NUMBER, Edit, RoundChange, enclose, name_of, put
from fedtheory.conformance.changes.coins import list_coins
from fedtheory.conformance.changes.updates import given_names
from fedtheory.conformance.changes.variables import list_vectors
from fedtheory.conformance.reading import VECTORS, PlaceInRound, RoundReading

#: rounds in which something may be other than in the rest
ROUNDS: tuple[tuple[str, str], ...] = (
    ("key.round == 0", "in the first round"),
    ("key.round > 0", "after the first round"),
    ("key.round % 2 == 1", "in every second round"),
    ("key.round % 2 == 0", "in every second round, the first one included"),
    ("key.round % 3 == 2", "in every third round"),
    ("key.round % 3 == 0", "in every third round, the first one included"),
)


#: clients for which something may be other than for the rest, by their numbers i from 0
_BY_NUMBER: tuple[tuple[str, str], ...] = (
    ("i % 2 == 1", "for clients with odd numbers"),
    ("i % 2 == 0", "for clients with even numbers"),
    ("i == 0", "for client 0"),
    ("i == problem.n - 1", "for the client with the last number"),
)


def list_conditions(reading: RoundReading, place: PlaceInRound) -> Iterator[tuple[str, str]]:
    """Conditions on a vector where it stands, as text, and in words."""
    if place.knows("key"):
        yield from ROUNDS
    for coin in list_coins(reading, place):
        yield coin, f"where {coin}"
        yield f"flip({coin})", f"where not {coin}"
    if reading.dimension > 1:
        yield f"is_coordinate({place.text}, -1)", "in the last coordinate"
        yield f"is_coordinate({place.text}, 0)", "in the first coordinate"
    if not place.knows("problem"):
        return
    who = "clients" if place.knows("clients") and place.kind != "all" else "None"
    for condition, when in _BY_NUMBER:
        yield condition.replace("i", f"number_clients(problem, {who})", 1), when
    if place.kind == "all" and place.knows("clients"):
        yield "is_active(problem, clients)", "for active clients"
        yield "~is_active(problem, clients)", "for absent clients"
    if place.kind == "active":
        yield f"is_row({place.text}, 0)", "for the first active client"
        yield f"is_row({place.text}, -1)", "for the last active client"


def _list_alternatives(reading: RoundReading, place: PlaceInRound) -> Iterator[tuple[str, str]]:
    """What may stand in the place of a vector, and what that is in words."""
    text, name = enclose(place.text), name_of(place)
    yield f"0 * {text}", f"{name} left out"
    yield f"(-{text})", f"sign of {name}"
    yield f"2 * {text}", f"{name} doubled"
    yield f"{text} / 2", f"{name} halved"
    if place.knows("key"):
        yield f"notes.earlier({place.start}, {place.text}, key)", f"{name} of the round before"
        yield f"notes.first({place.start}, {place.text}, key)", f"{name} of the first round"
    if place.kind in ("active", "all"):
        clients = "clients" if place.kind == "active" and place.knows("clients") else "None"
        yield f"(0 * {text} + average({place.text}, {clients}))", f"the mean over clients in place of their own {name}"
    for other in dict.fromkeys(list_vectors(reading, place)):
        if other != place.text:
            yield other, f"{other} in place of {name}"


def change_sometimes(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """An alternative under a condition."""
    if place.kind not in VECTORS or place.is_factor or not place.knows("problem"):
        return
    alternatives = list(_list_alternatives(reading, place))
    for condition, when in list_conditions(reading, place):
        for text, words in alternatives:
            yield put(place, f"choose({condition}, {text}, {place.text})", f"{words} {when}")


def put_new_sometimes(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A variable that gets, under a condition, what another one is after the round."""
    if place.kind not in VECTORS:
        return
    for own in given_names(reading, place):
        for condition, when in list_conditions(reading, place):
            for name in reading.fields:
                if name != own:
                    text = f"choose({condition}, after.{name}, {place.text})"
                    words = f"{name} of after the round in place of {own} {when}"
                    yield RoundChange(words, (Edit(place.start, place.end, text),), ())


def change_everywhere_sometimes(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The same wherever a vector is read in a function."""
    same = [o for o in reading.expressions if o.text == place.text and o.method is place.method]
    if place.kind not in VECTORS or not place.is_read or place is not same[0] or len(same) == 1:
        return
    alternatives = list(_list_alternatives(reading, place))
    for condition, when in list_conditions(reading, place):
        for text, words in alternatives:
            edits = tuple(Edit(o.start, o.end, f"choose({condition}, {text}, {o.text})") for o in same)
            yield RoundChange(f"{words} {when}, everywhere", edits, value=True)


def change_number_sometimes(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A number that is 0 or 1 in some of the rounds."""
    if place.kind == "number" and place.text != "key.round" and not place.is_factor and place.knows("key"):
        for condition, when in ROUNDS:
            for text in ("0", "1"):
                words = f"{text} in place of {name_of(place)} {when}"
                yield put(place, f"choose({condition}, {text}, {place.text})", words)


def change_solver_sometimes(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """One local step, or twice as many, in some of the rounds."""
    if place.kind != "solver" or not place.knows("key"):
        return
    if not hasattr(next(iter(place.values.values())), "steps"):
        return
    for condition, when in ROUNDS:
        for steps, words in (("1", "one local step"), (f"2 * {place.text}.steps", "twice as many local steps")):
            yield put(
                place, f"({place.text} if not {condition} else with_steps({place.text}, {steps}))", f"{words} {when}"
            )


def change_solver_of_some(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """One local step, or twice as many, for some of the clients."""
    if place.kind != "solver" or not place.knows("problem") or not hasattr(next(iter(place.values.values())), "steps"):
        return
    for condition, when in _BY_NUMBER:
        for other, words in (("1", "one local step"), ("2 * k", "twice as many local steps")):
            text = f"with_steps_where({place.text}, problem, lambda i: {condition}, lambda k: {other})"
            yield put(place, text, f"{words} {when}")


def scale_sometimes(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A vector multiplied by a number of its own under a condition."""
    if place.kind in VECTORS and not place.is_factor:
        for condition, when in list_conditions(reading, place):
            text = f"choose({condition}, {NUMBER} * {enclose(place.text)}, {place.text})"
            yield put(place, text, f"{name_of(place)} multiplied by {NUMBER} {when}")

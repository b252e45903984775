"""Changes of how a variable is updated: never, added up, by another share, under a coin only; and of what is kept from round to round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fedtheory.conformance.changes.change import NUMBER, RoundChange, enclose, name_of, put
from fedtheory.conformance.changes.coins import list_coins
from fedtheory.conformance.changes.terms import list_quantities
from fedtheory.conformance.reading import VECTORS, PlaceInRound, RoundReading


def change_update(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A variable that is not updated, that adds up, that is updated under the coin only, or with what it was taken off."""
    for name in given_names(reading, place):
        old, text = f"state.{name}", place.text
        if text == old:
            continue
        yield put(place, old, f"{name} never updated")
        yield put(place, f"{old} + {enclose(text)}", f"{name} added to what it was")
        yield put(place, f"{enclose(text)} - {old}", f"{name} less what it was")
        yield put(place, f"({old} + {enclose(text)}) / 2", f"{name} averaged with what it was")
        yield put(place, f"(2 * {old} - {enclose(text)})", f"the change of {name} with the other sign")
        if place.knows("key"):
            for when, words in (
                ("key.round > 0", "not updated in the first round"),
                ("key.round == 0", "updated in the first round only"),
                ("key.round % 2 == 0", "not updated in every second round"),
                ("key.round % 2 == 1", "updated in every second round only, from the second on"),
            ):
                yield put(place, f"choose({when}, {text}, {old})", f"{name} {words}")
        for quantity in list_quantities(reading, place):
            for sign, done in (("*", "multiplied"), ("/", "divided")):
                moved = f"{old} + ({enclose(text)} - {old}) {sign} {quantity.text}"
                yield put(place, moved, f"the change of {name} {done} by {quantity.words}")
        mean = f"(0 * {enclose(text)} + average({text}))"
        for coin in list_coins(reading, place):
            yield put(
                place,
                f"choose({coin}, {mean}, {text})",
                f"the mean over clients in place of their own {name} where {coin}",
            )
            yield put(place, f"choose({coin}, {text}, {old})", f"{name} updated only where {coin}")
            yield put(place, f"choose({coin}, {old}, {text})", f"{name} updated only where not {coin}")


def change_update_by_number(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A variable that moves by a share of its own, or with momentum."""
    for name in given_names(reading, place):
        old, text = f"state.{name}", enclose(place.text)
        if text == old:
            continue
        yield put(place, f"{old} + {NUMBER} * ({text} - {old})", f"the change of {name} multiplied by {NUMBER}")
        if place.knows("key"):
            for share, words in (("1", ""), (f"(1 - {NUMBER})", ", its change multiplied by 1 less that")):
                pushed = f"notes.push({place.start}, {old}, {share} * ({text} - {old}), {NUMBER}, key)"
                yield put(place, pushed, f"{name} moves with momentum {NUMBER}{words}")


def given_names(reading: RoundReading, place: PlaceInRound) -> Iterator[str]:
    """The variables of the new state that an expression is given for."""
    around = place.parent
    if (
        not isinstance(around, ast.Call)
        or ast.unparse(around.func) != reading.state.__name__
        or not place.knows("state")
    ):
        return
    names = list(reading.state.__dataclass_fields__)  # type: ignore[attr-defined]
    at = (place.node.lineno, place.node.col_offset)
    given = dict(zip(names, around.args, strict=False)) | {k.arg: k.value for k in around.keywords if k.arg}
    yield from (
        name for name, value in given.items() if (value.lineno, value.col_offset) == at and name in reading.fields
    )


def put_earlier(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """What a term was a round earlier, the sum or the mean of what it has been: something that is kept and not made anew."""
    if place.kind not in VECTORS or place.is_factor or not place.knows("key"):
        return
    for what, words in (
        ("earlier", "of the round before"),
        ("first", "of the first round"),
        ("total", "added up over the rounds"),
        ("mean", "averaged over the rounds"),
    ):
        yield put(place, f"notes.{what}({place.start}, {place.text}, key)", f"{name_of(place)} {words}")
    twice = f"notes.earlier({-place.start - 1}, notes.earlier({place.start}, {place.text}, key), key)"
    yield put(place, twice, f"{name_of(place)} of two rounds before")
    text = f"(({place.text}) + notes.earlier({place.start}, {place.text}, key)) / 2"
    yield put(place, f"({text})", f"{name_of(place)} averaged with that of the round before")

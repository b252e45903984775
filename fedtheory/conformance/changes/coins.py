"""Changes of what a coin decides: the branches exchanged, one of them always, half of each, both in turn."""

from __future__ import annotations

from collections.abc import Iterator

from fedtheory.conformance.changes.change import RoundChange, put
from fedtheory.conformance.reading import PlaceInRound, RoundReading


def list_coins(reading: RoundReading, place: PlaceInRound) -> tuple[str, ...]:
    """The coins that a method tosses, as text that the place may use."""
    found = {
        other.parts[0]
        for other in reading.expressions
        if other.called in ("choose", "choose_lazily") and other.method is place.method and other.parts
    }
    return tuple(sorted(found))


def put_under_coins(reading: RoundReading, place: PlaceInRound, text: str) -> Iterator[tuple[str, str]]:
    """A text, and it where a coin shows heads or does not; with the words for that."""
    yield text, ""
    for coin in list_coins(reading, place):
        yield f"choose({coin}, {text}, {place.text})", f" where {coin}"
        yield f"choose({coin}, {place.text}, {text})", f" where not {coin}"


def use_in_turn(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The branches of a coin exchanged, one of them always, both one after the other."""
    if place.called not in ("choose", "choose_lazily") or len(place.parts) != 3:
        return
    coin, yes, no = place.parts
    yield put(place, f"{place.called}({coin}, {no}, {yes})", f"the coin {coin} the other way")
    if place.called == "choose":
        yield put(place, f"choose({coin}, ({yes} + {no}) / 2, {no})", f"half way to {yes} where {coin}")
        yield put(place, f"choose({coin}, {yes}, ({yes} + {no}) / 2)", f"half way to {no} where not {coin}")
    yield put(place, f"{place.called}(True, {yes}, {no})", f"{coin} taken to be true in every round")
    yield put(place, f"{place.called}(False, {yes}, {no})", f"{coin} taken to be false in every round")
    if place.called == "choose_lazily":
        first, second = yes.removeprefix("lambda: "), no.removeprefix("lambda: ")
        for one, other in ((first, second), (second, first)):
            both = other.replace("state.x", one)
            if both != other:
                pair = f"{both}, {other}" if one == first else f"{other}, {both}"
                yield put(place, f"choose({coin}, {pair})", f"{other} in every round, after {one} in its rounds")

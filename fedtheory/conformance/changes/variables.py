"""Changes in which a variable stands for another: a different one, its value of before the round or of after it."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from fedtheory.conformance.changes.change import NUMBER, SIZE, Edit, RoundChange, enclose, name_of, put
from fedtheory.conformance.changes.coins import put_under_coins
from fedtheory.conformance.changes.rows import change_average
from fedtheory.conformance.changes.terms import change_number, change_sign, list_numbers
from fedtheory.conformance.reading import VECTORS, PlaceInRound, RoundReading, pick


def list_vectors(reading: RoundReading, place: PlaceInRound) -> Iterator[str]:
    """What may stand where a vector stands: the round's old variables and their means, and what the function has made of them so far."""
    if place.knows("state"):
        yield from (f"state.{name}" for name in reading.list_fields("server"))
        for name in reading.list_fields("all"):
            yield f"average(state.{name})"
            if place.kind != "all" and place.knows("clients"):
                yield f"gather(state.{name}, clients)"
            if place.kind != "active":
                yield f"state.{name}"
    names = {
        other.text: None
        for other in reading.expressions
        if other.method is place.method and isinstance(other.node, ast.Name) and other.kind in VECTORS
    }
    yield from names


def put_other(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Another vector in the place of one that is read, in every round or in those of a coin."""
    if place.kind not in VECTORS or not place.is_read:
        return
    for text in dict.fromkeys(list_vectors(reading, place)):
        if text != place.text:
            for text_here, where in put_under_coins(reading, place, text):
                yield put(place, text_here, f"{text} in place of {place.text}{where}")


def put_both(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A vector that is read together with another: the middle, the sum, the difference, what lies as far beyond."""
    if place.kind in VECTORS and place.is_read:
        for text in dict.fromkeys(list_vectors(reading, place)):
            if text != place.text:
                yield put(place, f"(({place.text} + {text}) / 2)", f"half way from {place.text} to {text}")
                yield put(place, f"({place.text} + {text})", f"{text} added to {place.text}")
                yield put(place, f"({place.text} - {text})", f"{text} subtracted from {place.text}")
                yield put(place, f"(2 * {place.text} - {text})", f"{place.text} extrapolated from {text}")


def put_gradient(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The clients' gradients at a vector in the place of a term of theirs."""
    if place.kind not in ("active", "all") or place.is_factor or not place.knows("problem"):
        return
    if place.kind == "active" and not place.knows("clients"):
        return
    f = "problem.take(clients)" if place.kind == "active" else "problem"
    for text in dict.fromkeys(list_vectors(reading, place)):
        yield put(place, f"{f}.grad({text})", f"gradients at {text} in place of {name_of(place)}")
    for name in reading.list_fields("server"):
        edit = Edit(place.start, place.end, f"{f}.grad(after.{name})")
        yield RoundChange(f"gradients at {name} of after the round in place of {name_of(place)}", (edit,), ())


def put_mean(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The mean over clients in the place of the clients' own."""
    if place.kind in ("active", "all"):
        clients = "clients" if place.kind == "active" and place.knows("clients") else "None"
        words = f"the mean over clients in place of the client's own {name_of(place)}"
        yield put(place, f"(0 * {enclose(place.text)} + average({place.text}, {clients}))", words)


def put_old(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The value of before the round where a new one stands, or the other way round for a start of local work."""
    if not place.knows("state") or place.is_read:
        return
    for name, kind in reading.fields.items():
        if kind == place.kind and place.equals(pick(reading.after, name)):
            yield put(place, f"state.{name}", f"{name} of before the round in place of {name_of(place)}")


def put_new(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The value of after the round where an old one stands: a variable that is overwritten before it is used.

    Where the new value would depend on what reads it, an older one stands in it: the two updates have changed places.
    """
    if place.kind not in VECTORS or not place.is_read or not place.knows("state"):
        return
    own = next((n for n in reading.fields if place.text in (f"state.{n}", f"gather(state.{n}, clients)")), None)
    for name, kind in reading.fields.items():
        if own is None or name not in reading.after[0]:
            continue
        text = f"gather(after.{name}, clients)" if kind == "all" and place.knows("clients") else f"after.{name}"
        for text_here, where in put_under_coins(reading, place, text):
            edit = Edit(place.start, place.end, text_here)
            words = f"{name} of after the round in place of {place.text}{where}"
            yield RoundChange(words, (edit,), ())
            if name == own:
                for other, old in _list_old(reading, place):
                    yield RoundChange(f"{words}, and {old.text} in place of {name_of(other)}", (edit, old), (old,))


def change_one_use(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A variable of the function that is worked out in another way where it is used once, and as it should be elsewhere."""
    if place.kind not in VECTORS or not isinstance(place.node, ast.Name):
        return
    values = [
        node.value
        for node in ast.walk(place.method)
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [place.text]
    ]
    uses = [other for other in reading.expressions if other.text == place.text and other.method is place.method]
    if len(values) != 1 or len(uses) < 2:
        return
    whole = next((other for other in reading.expressions if _is_at(other.node, values[0])), None)
    if whole is None or whole.start > place.start:
        return
    for inner in reading.expressions:
        if not (whole.start <= inner.start and inner.end <= whole.end):
            continue
        for rule in (put_other, put_new, change_sign, change_average, change_number):
            for change in rule(reading, inner):
                if len(change.edits) == 1 and "notes." not in change.edits[0].text:
                    yield _put_in(whole, place, change)


def put_state_before(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A term made of the variables as they were a round earlier, of the clients that take part now."""
    if place.kind not in VECTORS or not place.knows("state", "key") or "notes." in place.text:
        return
    text = _in_variables(place)
    if text is not None and "state." in text:
        old = re.sub(r"\bstate\.", "notes.before(state, key).", text)
        yield put(place, f"({old})", f"{name_of(place)} of the round before, of the clients of this one")


def _in_variables(place: PlaceInRound) -> str | None:
    """An expression with the names of its function worked out; None where local work is among them."""
    values = {
        node.targets[0].id: node.value
        for node in ast.walk(place.method)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }

    class WorkedOut(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.AST:
            return self.visit(copy.deepcopy(values.pop(name.id))) if name.id in values else name  # type: ignore[no-any-return]

    text = ast.unparse(WorkedOut().visit(copy.deepcopy(place.node)))
    made = {
        target.id
        for node in ast.walk(place.method)
        if isinstance(node, ast.Tuple)
        for target in node.elts
        if isinstance(target, ast.Name)
    }
    return None if made & {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)} else text


def mix_by_number(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A vector that is read, moved by a number of times its way from another, or from what it was a round earlier."""
    if place.kind not in VECTORS or not place.is_read:
        return
    others = [(text, text) for text in dict.fromkeys(list_vectors(reading, place)) if text != place.text]
    if place.knows("key"):
        others.append((f"notes.earlier({place.start}, {place.text}, key)", "what it was the round before"))
    for text, words in others:
        moved = f"({place.text} + {NUMBER} * ({place.text} - {text}))"
        yield put(place, moved, f"{place.text} moved by {NUMBER} of its way from {words}")


def scale_everywhere(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A number or vector that is multiplied by a number of its own wherever it is read in a function."""
    same = [o for o in reading.expressions if o.text == place.text and o.method is place.method]
    if place.kind not in (*VECTORS, "number") or not place.is_read or place is not same[0] or len(same) == 1:
        return
    scaled = [(f"({NUMBER} * {place.text})", f"multiplied by {NUMBER}")]
    if place.knows("key"):
        scaled.append((f"({SIZE} ** key.round * {place.text})", f"multiplied by {SIZE} in every round"))
    for text, words in scaled:
        yield RoundChange(f"{place.text} {words}, everywhere", tuple(Edit(o.start, o.end, text) for o in same))


def _is_at(node: ast.expr, other: ast.expr) -> bool:
    return (node.lineno, node.col_offset, node.end_col_offset) == (other.lineno, other.col_offset, other.end_col_offset)


def _put_in(whole: PlaceInRound, place: PlaceInRound, change: RoundChange) -> RoundChange:
    """A change of the expression that a variable is given, made where it is used."""
    (inner,) = change.edits
    text = whole.text[: inner.start - whole.start] + inner.text + whole.text[inner.end - whole.start :]
    edit = Edit(place.start, place.end, f"({text})")
    return replace(change, words=f"{change.words}, in one use of {place.text}", edits=(edit,))


def _list_old(reading: RoundReading, changed: PlaceInRound) -> Iterator[tuple[PlaceInRound, Edit]]:
    """The places in which the new value of a variable is read, and the edits that put the old one there."""
    new_rows = {
        name: other.parts[2]
        for other in reading.expressions
        if other.called == "scatter" and len(other.parts) == 3
        for name in reading.fields
        if other.parts[0] == f"state.{name}"
    }
    for place in reading.expressions:
        if not place.is_read or not place.knows("state") or place.start == changed.start:
            continue
        for name, kind in reading.fields.items():
            if kind == place.kind and place.equals(pick(reading.after, name)):
                yield place, Edit(place.start, place.end, f"state.{name}")
            elif place.kind == "active" and place.knows("clients") and place.text == new_rows.get(name):
                yield place, Edit(place.start, place.end, f"gather(state.{name}, clients)")


def change_everywhere(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A number or vector that is another, has a factor too many or the wrong sign, wherever it is read in a function."""
    same = [o for o in reading.expressions if o.text == place.text and o.method is place.method]
    if not place.is_read or place is not same[0] or len(same) == 1:
        return
    changes: list[tuple[str, str]] = []
    if place.kind == "number":
        changes += list_numbers(reading, place)
    elif place.kind in VECTORS:
        changes += [(text, f"{text} in place of {place.text}") for text in dict.fromkeys(list_vectors(reading, place))]
        changes += [(f"(0 * {place.text})", f"{place.text} left out"), (f"(-{place.text})", f"sign of {place.text}")]
        changes += [(f"(2 * {place.text})", f"{place.text} doubled")]
        if place.knows("key"):
            changes.append((f"notes.earlier({place.start}, {place.text}, key)", f"{place.text} of the round before"))
            changes.append((f"notes.first({place.start}, {place.text}, key)", f"{place.text} of the first round"))
    for text, words in changes:
        if text != place.text:
            yield RoundChange(f"{words}, everywhere", tuple(Edit(o.start, o.end, text) for o in same), value=True)

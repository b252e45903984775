"""Changes of whose rows are meant: the mean over other clients or with other weights, a neighbour's row, absent clients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from fedtheory.conformance.changes.change import NUMBER, Edit, RoundChange, enclose, name_of, put
from fedtheory.conformance.reading import PlaceInRound, RoundReading, pick


def change_average(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The mean over all clients in place of the active ones or the other way round, without one of them, of one, with weights."""
    if place.called != "average":
        return
    of, *who = place.parts
    active, clients = bool(who) and who[0] != "None", place.knows("clients")
    rest = f", {who[0]}" if who else ""
    if active and clients and place.knows("state"):
        for name in (*reading.list_fields("all"), *reading.list_fields("server")):
            old = f"state.{name}" if reading.fields[name] == "all" else f"spread(state.{name}, problem.n)"
            yield put(
                place, f"average(scatter({old}, clients, {of}))", f"mean over all clients, the absent with {name}"
            )
        for_all = _for_all(reading, place, place.node.args[0])  # type: ignore[attr-defined]
        yield put(place, f"average({for_all})", "mean over all instead of active clients")
        if place.knows("problem", "key"):
            last = f"notes.keep({place.start}, {of}, state.x, problem, clients, key)"
            yield put(place, f"average({last})", "mean over all clients, the absent with what they last had")
    elif clients:
        yield put(place, f"average(gather({of}, clients), clients)", "mean over active instead of all clients")
        yield put(place, f"average(gather({of}, absent_clients(clients)))", "mean over absent clients")
        zero = f"average(scatter(0 * {enclose(of)}, clients, gather({of}, clients)))"
        yield put(place, zero, "mean over all clients, the absent with zero")
    yield put(place, f"average(leave_out({of}, -1))", "mean without the last client")
    yield put(place, f"average(leave_out({of}, 0))", "mean without the first client")
    yield put(place, f"of_one({of}, -1)", "the last client's in place of the mean")
    yield put(place, f"of_one({of}, 0)", "the first client's in place of the mean")
    yield put(place, f"average(half_of({of}, 0))", "mean over the first half of them")
    yield put(place, f"average(half_of({of}, 1))", "mean over the second half of them")
    yield put(place, f"median_of({of})", "the median in place of the mean")
    yield put(place, f"trimmed_mean({of})", "the mean without the smallest and the largest entries")
    if place.knows("state"):
        own = f"{place.text} * count_rows({of}) + state.x"
        yield put(place, f"({own}) / (count_rows({of}) + 1)", "the old model of the server counted in the mean")
    yield put(
        place,
        f"average_by(number_rows({of}, {who[0] if who else None}), {of}{rest})",
        "clients weighed by their numbers from 1",
    )
    centres = ["0", *(f"state.{name}" for name in reading.list_fields("server") if place.knows("state"))]
    for centre in centres:
        for power, words in ((1, "the length"), (-1, "the inverse of the length")):
            what = f"{name_of(place)}: clients weighed by {words} of {of}" + (f" - {centre}" if centre != "0" else "")
            yield put(place, f"average_by_length({of}, {centre}, {power}{rest})", what)
    for name in reading.solvers:
        if hasattr(getattr(reading.algorithm, name), "steps"):
            counts = f"count_local_steps(self.{name}, {'clients' if active and clients else 'None'})"
            yield put(place, f"average_by({counts}, {of}{rest})", "clients weighed by their local steps")
            yield put(
                place, f"average_by(1 / {counts}, {of}{rest})", "clients weighed by the inverse of their local steps"
            )


def change_part_of_average(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Of a mean of a sum, another mean of one of its terms."""
    if place.called != "average":
        return
    of, *who = place.node.args  # type: ignore[attr-defined]
    if not isinstance(of, ast.BinOp) or not isinstance(of.op, ast.Add | ast.Sub):
        return
    sign, rest = "+" if isinstance(of.op, ast.Add) else "-", "".join(f", {ast.unparse(one)}" for one in who)
    for term, is_first in ((of.left, True), (of.right, False)):
        other = f"average({ast.unparse(of.right if is_first else of.left)}{rest})"
        node = ast.copy_location(ast.Call(ast.Name("average", ast.Load()), [term, *who], []), place.node)
        alone = replace(place, node=node, text=ast.unparse(node))
        for change in change_average(reading, alone):
            (edit,) = change.edits
            text = f"(({edit.text}) {sign} {other})" if is_first else f"({other} {sign} ({edit.text}))"
            yield put(place, text, f"{change.words}, of {ast.unparse(term)}")


def change_average_by_number(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A mean that is made one by one, by a share of what is new."""
    if place.called == "average":
        of = place.parts[0]
        yield put(place, f"mean_one_by_one({of}, {NUMBER})", f"the mean made one by one, with {NUMBER} of the next")


def change_row(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Rows of a neighbour, by number or by place in the round's list; the places themselves taken for numbers; absent clients."""
    if place.kind == "clients" and place.text == "clients":
        yield put(place, "first_clients(clients)", "places among the active clients taken for clients' numbers")
        yield put(place, "absent_clients(clients)", "the absent clients in place of the active")
    if place.kind not in ("active", "all") or not place.is_read:
        return
    for shift, which in ((1, "before"), (-1, "after")):
        yield put(place, f"of_neighbour({place.text}, {shift})", f"{place.text} of the client {which}")
        for name in reading.list_fields("all"):
            if place.kind == "active" and place.knows("state", "clients") and _is_old(reading, place, name):
                text = f"gather(of_neighbour(state.{name}, {shift}), clients)"
                yield put(place, text, f"{name} of the client {which} by number in place of the client's own")
                text = f"gather(state.{name}, first_clients(clients))"
                yield put(place, text, f"{name} read by the place among the active clients, not by the client's number")


def change_problem(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """All clients work on the objective of one of them."""
    if place.kind == "problem" and place.text in ("problem.take(clients)", "problem") and place.knows("clients"):
        for number, words in ((-1, "last"), (0, "first")):
            text = f"take_one(problem, clients, {number})"
            yield put(place, text, f"all clients work on the objective of the {words} one")
    if place.kind == "problem" and reading.dimension > 1:
        for which, words in (("-1", "last"), ("0", "first")):
            kept = f"~(np.arange({place.text}.d) == {which} % {place.text}.d)"
            yield put(place, f"restrict_gradients({place.text}, {kept})", f"no gradients in the {words} coordinate")


def change_increment(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A mean over all clients that is kept, and moved by the mean change of the active ones."""
    if place.called != "average" or len(place.parts) != 1 or not place.knows("clients", "key", "state"):
        return
    inside = [
        Edit(other.start, other.end, f"state.{name}")
        for other in reading.expressions
        if other.is_read and place.start < other.start and other.end < place.end
        for name, kind in reading.fields.items()
        if kind == other.kind and other.equals(pick(reading.after, name))
    ]
    start, end = place.start + len("average("), place.end - 1
    old = reading.text[start:end]
    for edit in sorted(inside, key=lambda edit: -edit.start):
        old = old[: edit.start - start] + edit.text + old[edit.end - start :]
    change = f"average(gather({enclose(place.parts[0])} - {enclose(old)}, clients), clients)"
    text = f"notes.grow({place.start}, average({old}), {change}, key)"
    yield put(place, text, "a mean over all clients that moves by the mean change of the active ones")


def change_clients(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Other clients that take part in the whole round: all, the first m, the next ones by number, those that are away."""
    everywhere = [other for other in reading.expressions if other.kind == "clients" and other.text == "clients"]
    if not everywhere or place is not everywhere[0]:
        return
    for text, words in (
        ("None", "all clients work and are counted in every round"),
        ("first_clients(clients)", "the first m clients take part in every round"),
        ("absent_clients(clients)", "those clients take part that should be away"),
        ("next_clients(clients, 1)", "the clients after those that take part"),
        ("next_clients(clients, -1)", "the clients before those that take part"),
    ):
        edits = tuple(Edit(other.start, other.end, text) for other in everywhere if other.method is place.method)
        yield RoundChange(words, edits)


def _is_old(reading: RoundReading, place: PlaceInRound, name: str) -> bool:
    """Whether a place has the active rows of a variable of before the round."""
    for r, value in place.values.items():
        rows = reading.before[r][name]
        if value.shape[-1] != rows.shape[-1] or not (value[..., :, None, :] == rows).all(-1).any(-1).all():
            return False
    return True


def change_absent(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """What becomes of the rows of clients that are away: zero, the mean of the others, moved as well."""
    if place.called != "scatter" or len(place.parts) != 3:
        return
    old, clients, new = place.parts
    yield put(place, f"scatter(0 * {old}, {clients}, {new})", f"{name_of(place)} is zero for absent clients")
    if place.knows("problem"):
        mean = f"spread(average({new}, {clients}), problem.n)"
        yield put(place, f"scatter({mean}, {clients}, {new})", f"{name_of(place)} has the mean for absent clients")
        yield put(place, mean, f"{name_of(place)} has the mean for all clients")
    for which, words in ((0, "first"), (-1, "last")):
        one = f"only_row({new}, gather({old}, {clients}), {which})"
        yield put(place, f"scatter({old}, {clients}, {one})", f"{name_of(place)} for the {words} active client only")
    moved = _for_all(reading, place, place.node.args[2])  # type: ignore[attr-defined]
    yield put(place, moved, f"{name_of(place)} moves for absent clients as well")


def _for_all(reading: RoundReading, place: PlaceInRound, node: ast.expr) -> str:
    """An expression of active rows, written for the rows of all clients as far as that can be."""
    kept = {
        other.parts[2]: ast.unparse(other.node)
        for other in reading.expressions
        if other.called == "scatter" and len(other.parts) == 3 and other.start != place.start
    }
    made = _list_assignments(place.method)

    class ForAll(ast.NodeTransformer):
        line = place.node.lineno

        def visit_Call(self, call: ast.Call) -> ast.AST:
            if isinstance(call.func, ast.Name) and call.func.id == "gather":
                return call.args[0]
            if isinstance(call.func, ast.Name) and call.func.id == "average":
                return call
            if isinstance(call.func, ast.Attribute) and call.func.attr == "take":
                return call.func.value
            return self.generic_visit(call)

        def visit_Name(self, name: ast.Name) -> ast.AST:
            if name.id in kept and name.id not in kept[name.id].split("(")[0]:
                return ast.parse(kept[name.id], mode="eval").body
            before = [(line, value) for line, value in made.get(name.id, ()) if line < self.line]
            if not before:
                return name
            line, value = max(before, key=lambda pair: pair[0])
            outer, self.line = self.line, line
            found = self.visit(ast.parse(ast.unparse(value), mode="eval").body)
            self.line = outer
            return found  # type: ignore[no-any-return]

    tree = ForAll().visit(ast.parse(ast.unparse(node), mode="eval").body)
    return ast.unparse(tree)


def _list_assignments(method: ast.FunctionDef) -> dict[str, list[tuple[int, ast.expr]]]:
    """The values that a function gives to plain names, by line."""
    found: dict[str, list[tuple[int, ast.expr]]] = {}
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append((node.lineno, node.value))
    return found

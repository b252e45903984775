"""Changes of local work: other steps, of another size, from another point, with gradients of elsewhere."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

from fedtheory.conformance.changes.change import NUMBER, SIZE, RoundChange, put
from fedtheory.conformance.changes.terms import list_quantities
from fedtheory.conformance.reading import PlaceInRound, RoundReading
from fedtheory.conformance.wrong_local_work import FIXED_RULES, RULES_WITH_A_NUMBER, RULES_WITH_A_SIZE
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import GradientSteps


def change_solver(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Another solver of the method, another number of steps, steps of another size, the mean of the points in place of the last."""
    if place.kind != "solver":
        return
    solver = place.text
    for name in reading.solvers:
        if f"self.{name}" != solver:
            yield put(place, f"self.{name}", f"{name} in place of {solver}")
            for what in ("steps", "lr"):
                text = f"replace({solver}, {what}=self.{name}.{what})"
                yield put(place, text, f"{what} of self.{name} in place of those of {solver}")
    value = next(iter(place.values.values()))
    if hasattr(value, "steps"):
        done = (
            "local steps are counted"
            if isinstance(place.parent, ast.Assign | ast.AnnAssign)
            else "local steps are taken"
        )
        for text, words in (
            ("1", "1 where"),
            (f"steps_of({solver}, 0)", "the first client's number for all where"),
            (f"steps_of({solver}, -1)", "the last client's number for all where"),
            (f"fewest_steps({solver})", "the smallest number for all where"),
            (f"count_most({solver})", "the largest number for all where"),
            (f"{solver}.steps + 1", "one more where"),
            (f"np.maximum({solver}.steps - 1, 1)", "one less where"),
            (f"2 * {solver}.steps", "twice as many where"),
            (f"np.maximum({solver}.steps // 2, 1)", "half of them where"),
        ):
            yield put(place, f"with_steps({solver}, {text})", f"{words} {done}")
        yield put(place, f"mean_of_path({solver})", "the mean of the local points in place of the last")
    if hasattr(value, "lr"):
        yield from _change_size(reading, place)


def _change_size(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    solver = place.text
    sizes = [(f"self.{name}", name) for name in reading.numbers]
    if place.knows("problem"):
        sizes.append(("problem.n", "n"))
        if place.knows("clients"):
            sizes.append(("count_active(problem, clients)", "m"))
    if hasattr(next(iter(place.values.values())), "steps"):
        sizes.append((f"count_local_steps({solver}, {'clients' if place.knows('clients') else 'None'})", "K"))
    for text, words in sizes:
        yield put(place, f"with_step({solver}, lambda lr: lr * {text})", f"local steps multiplied by {words}")
        yield put(place, f"with_step({solver}, lambda lr: lr / {text})", f"local steps divided by {words}")
        yield put(place, f"with_step({solver}, lambda lr: {text})", f"local steps of size {words}")


def change_steps(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Local steps by another rule, an ascent by another norm."""
    if place.kind == "solver" and isinstance(_solver(place), SamSteps):
        for ascent, words in (
            ("largest entry", "ascent divided by the gradient's largest entry"),
            ("sum of entries", "ascent divided by the sum of the gradient's entries"),
            ("signs", "the signs of the gradient as the ascent"),
            ("beside the first point", "the perturbed gradient beside the round's first point"),
        ):
            yield put(place, f'change_ascent({place.text}, "{ascent}")', words)
    if place.kind == "solver" and isinstance(_solver(place), GradientSteps):
        for rule in FIXED_RULES:
            yield put(place, f'other_steps({place.text}, "{rule}")', rule)


def change_steps_by_number(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Local steps by a rule with a number of its own; momentum that is kept between rounds."""
    if place.kind == "solver" and isinstance(_solver(place), GradientSteps):
        for rules, free in ((RULES_WITH_A_NUMBER, NUMBER), (RULES_WITH_A_SIZE, SIZE)):
            for rule in rules:
                yield put(place, f'other_steps({place.text}, "{rule}", {free})', f"{rule}, with c = {free}")
    solver = place.called.removeprefix("self.")
    if isinstance(getattr(reading.algorithm, solver, None), GradientSteps) and place.knows("problem", "clients"):
        sub, start, key, _ = place.parts
        text = f"notes.keep_velocity(self.{solver}, {NUMBER}, {sub}, {start}, {key}, problem, clients)"
        yield put(place, text, f"local momentum {NUMBER} that is kept between rounds")


def change_schedule(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Steps whose size changes with the local step, or with all steps so far, in place of the round."""
    if place.kind != "solver" or not callable(getattr(next(iter(place.values.values())), "lr", None)):
        return
    for number, words in (
        ("r + q", "the round and the local step"),
        ("q", "the local step in place of the round"),
        ("r // 2", "every second round"),
        (f"r * count_most({place.text}) + q", "all local steps so far in place of the round"),
    ):
        yield put(place, f"with_schedule({place.text}, lambda r, q: {number})", f"the step size changes with {words}")


def change_setting(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Another number among the settings of local work: a radius, the weight of its regulariser."""
    if place.kind != "solver":
        return
    sizes = [("2", "2")]
    sizes += [(f"local_step({place.text}, key)", "lr")] if place.knows("key") and "lr" in vars(_solver(place)) else []
    sizes += [(q.text, q.words) for q in list_quantities(reading, place)]
    for path in _list_settings(_solver(place)):
        called = path.replace(".", "'s ")
        for text, words in sizes:
            for sign, done in (("*", "multiplied"), ("/", "divided")):
                changed = f'with_setting({place.text}, "{path}", lambda v: v {sign} {text})'
                yield put(place, changed, f"{called} {done} by {words}")


def _solver(place: PlaceInRound) -> Any:
    return next(iter(place.values.values()))


def _list_settings(solver: Any, path: str = "") -> Iterator[str]:
    """The numbers among the settings of local work, as paths of fields."""
    for field in dataclasses.fields(solver) if dataclasses.is_dataclass(solver) else ():
        value = getattr(solver, field.name)
        if field.name in ("lr", "steps", "batch") or isinstance(value, bool):
            continue
        if isinstance(value, int | float):
            yield path + field.name
        elif dataclasses.is_dataclass(value) and not path:
            yield from _list_settings(value, f"{field.name}.")


def change_key(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """The step size and the draws of another round."""
    if place.kind != "key":
        return
    key = place.text
    yield put(place, f"in_round({key}, {key}.round + 1)", "local steps of the size of the round after")
    yield put(place, f"in_round({key}, {key}.round - 1)", "local steps of the size of the round before")
    yield put(place, f"in_round({key}, 0)", "local steps of the size of the first round")
    yield put(place, f"in_round({key}, 2 * {key}.round)", "local steps whose size changes twice a round")


def change_call(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Clients that work one after the other on one model; gradients that are all taken where local work starts."""
    solver = place.called.removeprefix("self.")
    if solver not in reading.solvers or len(place.parts) != 4:
        return
    sub, start, key, memory = place.parts
    held = f"replace({sub}, f=hold_gradients(({sub}).f, {start}))"
    yield put(place, f"self.{solver}({held}, {start}, {key}, {memory})", "all local gradients at the first point")
    first = f"correct_first(self.{solver})({sub}, {start}, {key}, {memory})"
    yield put(place, first, "what local work adds to gradients in the first step only")
    if place.knows("problem", "clients") and callable(getattr(getattr(reading.algorithm, solver), "lr", None)):
        text = f"notes.by_own_rounds(self.{solver}, {key}, problem, clients)({sub}, {start}, {key}, {memory})"
        yield put(place, text, "the step size changes with the rounds that a client took part in")
    if place.knows("problem", "clients"):
        text = f"notes.go_on(self.{solver}, {sub}, {start}, {key}, problem, clients)"
        yield put(place, text, "local work from where the client's last one ended")
    if place.knows("problem"):
        text = f"(train_in_sequence(self.{solver}, problem, {sub}, {start}, {key}), None)"
        yield put(place, text, "model not reset between clients")

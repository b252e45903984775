"""Changes of a term: left out, doubled, with the wrong sign, with a factor too many or one that is missing."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from fedtheory.conformance.changes.change import NUMBER, SIZE, RoundChange, enclose, name_of, put
from fedtheory.conformance.reading import VECTORS, PlaceInRound, RoundReading


@dataclass(frozen=True)
class RoundQuantity:
    """A number that may be a factor: in words, and as text; ``simple`` ones also in pairs."""

    words: str
    text: str
    simple: bool = True


def list_quantities(reading: RoundReading, place: PlaceInRound) -> list[RoundQuantity]:
    """Return what a term may be multiplied with or divided by where it stands."""
    found = [RoundQuantity(name, f"self.{name}") for name in reading.numbers]
    found += [RoundQuantity(f"(1 {s} {name})", f"(1 {s} self.{name})", False) for name in reading.numbers for s in "+-"]
    if place.knows("problem"):
        found += [
            RoundQuantity("n", "problem.n"),
            RoundQuantity("(n - 1)", "(problem.n - 1)"),
            RoundQuantity("(n + 1)", "(problem.n + 1)"),
        ]
        if place.knows("clients"):
            m = "count_active(problem, clients)"
            found += [RoundQuantity("m/n", f"({m} / problem.n)")]
            found += [
                RoundQuantity("m", m),
                RoundQuantity("(m - 1)", f"({m} - 1)"),
                RoundQuantity("(m + 1)", f"({m} + 1)"),
            ]
    if place.knows("key"):
        found += [RoundQuantity("the number of rounds so far", "(key.round + 1)", False)]
    for name in reading.solvers:
        solver = getattr(reading.algorithm, name)
        if hasattr(solver, "steps"):
            whose = ["clients"] if place.knows("clients") and place.kind != "all" else []
            for who in whose + ["None"] * (place.kind != "active"):
                count = f"count_local_steps(self.{name}, {who})"
                found += [
                    RoundQuantity("K", count),
                    RoundQuantity("(K - 1)", f"({count} - 1)"),
                    RoundQuantity("(K + 1)", f"({count} + 1)"),
                ]
            if place.knows("problem"):
                all_steps = f"sum_steps(self.{name}, problem, {whose[0] if whose else 'None'})"
                found.append(RoundQuantity("the local steps of all", all_steps, False))
        if hasattr(solver, "lr"):
            found += [RoundQuantity("lr", f"local_step(self.{name}, key)")] * place.knows("key")
            found.append(RoundQuantity("the first round's lr", f"first_local_step(self.{name})"))
    return found


def _is_term(place: PlaceInRound) -> bool:
    return place.kind in (*VECTORS, "number") and not place.is_factor and place.text != "key.round"


def change_sign(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A term left out, with the other sign, twice, half, or its inverse."""
    if not _is_term(place):
        return
    text, name = enclose(place.text), name_of(place)
    yield put(place, f"0 * {text}", f"{name} left out")
    yield put(place, f"(-{text})", f"sign of {name}")
    yield put(place, f"2 * {text}", f"{name} doubled")
    yield put(place, f"{text} / 2", f"{name} halved")
    if place.kind == "number":
        yield put(place, f"(1 / {text})", f"1/({name}) in place of {name}")


def scale_by_number(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A term multiplied by a number that comes from nowhere."""
    if _is_term(place):
        yield put(place, f"{NUMBER} * {enclose(place.text)}", f"{name_of(place)} multiplied by {NUMBER}")
        if place.knows("key"):
            faded = f"{SIZE} ** key.round * {enclose(place.text)}"
            yield put(place, faded, f"{name_of(place)} multiplied by {SIZE} in every round")


def clip(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A vector, or what it is beyond one of the server's, that is cut at a number."""
    if place.kind not in VECTORS:
        return
    centres = ["0", *(f"state.{name}" for name in reading.list_fields("server") if place.knows("state"))]
    for centre in centres:
        what = name_of(place) if centre == "0" else f"{name_of(place)} - {centre}"
        for how, words in (("clip_norm", "clipped at the length"), ("clip_entries", "with entries clipped at")):
            text = f"{how}({place.text} - {centre}, {SIZE}) + {centre}"
            yield put(place, f"({text})", f"{what} {words} {SIZE}")


def make_coarse(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A vector in fewer bits or digits; its signs or its direction alone."""
    if place.kind not in VECTORS:
        return
    for dtype, words in (
        ("float16", "in half precision"),
        ("float32", "in single precision"),
        ("int64", "as whole numbers"),
    ):
        yield put(place, f'in_precision({place.text}, "{dtype}")', f"{name_of(place)} {words}")
    for digits in range(1, 6):
        yield put(place, f"np.round({place.text}, {digits})", f"{name_of(place)} rounded to {digits} decimals")
    for centre in ["", *(f"state.{name}" for name in reading.list_fields("server") if place.knows("state"))]:
        whole, before = (f"({place.text} - {centre})", f"{centre} + ") if centre else (place.text, "")
        what = f"{name_of(place)} - {centre}" if centre else name_of(place)
        yield put(place, f"({before}np.sign({whole}))", f"the signs of {what} in its place")
        yield put(place, f"({before}to_length_one({whole}))", f"{what} divided by its norm")


def change_operation(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A factor left out, a quotient for a product, a difference for a sum, or one side of it."""
    node = place.node
    if not isinstance(node, ast.BinOp):
        return
    left, right = (ast.unparse(side) for side in (node.left, node.right))
    a, b = enclose(left), enclose(right)
    if isinstance(node.op, ast.Mult):
        yield put(place, a, f"{name_of(place)} without the factor {right}")
        yield put(place, b, f"{name_of(place)} without the factor {left}")
        yield put(place, f"({b} / {a})", f"divided by {left} in place of multiplied, in {name_of(place)}")
        yield put(place, f"({a} / {b})", f"divided by {right} in place of multiplied, in {name_of(place)}")
    elif isinstance(node.op, ast.Div):
        yield put(place, a, f"{name_of(place)} not divided by {right}")
        yield put(place, f"({a} * {b})", f"multiplied by {right} in place of divided, in {name_of(place)}")
        yield from _turn_over(place)
    else:
        for constant, kept in ((node.left, b), (node.right, a)):
            if isinstance(constant, ast.Constant):
                yield put(place, kept, f"{ast.unparse(constant)} left out of {name_of(place)}")


def _turn_over(place: PlaceInRound) -> Iterator[RoundChange]:
    """The numbers of a quotient in each other's places: a x / b for b x / a."""
    assert isinstance(place.node, ast.BinOp)
    above, below = place.node.left, place.node.right
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult):
        for factor, rest in ((above.left, above.right), (above.right, above.left)):
            one, other, kept = (enclose(ast.unparse(node)) for node in (factor, rest, below))
            words = f"{ast.unparse(below)}/{ast.unparse(factor)} in place of {ast.unparse(factor)}/{ast.unparse(below)}"
            yield put(place, f"({kept} * {other} / {one})", words)


def leave_step_out(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A proximal step that is left out, or taken by every client in place of the server."""
    if not place.called.endswith(".prox") or not place.parts:
        return
    of, *rest = place.parts
    yield put(place, enclose(of), "no proximal step")
    inner = ast.parse(of, mode="eval").body
    if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "average":
        clients, *who = (ast.unparse(argument) for argument in inner.args)
        step = f"{place.called}({', '.join((clients, *rest))})"
        yield put(
            place,
            f"average({', '.join((step, *who))})",
            "a proximal step of every client before the mean in place of the server's after it",
        )


def list_numbers(reading: RoundReading, place: PlaceInRound) -> Iterator[tuple[str, str]]:
    """What may stand where a number stands, and what that is in words."""
    name = place.text
    if name == "key.round":
        yield "(key.round + 1)", "the number of the round after"
        yield "max(key.round - 1, 0)", "the number of the round before"
        yield "0", "the number of the first round in every round"
        for k in range(2, 6):
            yield f"(key.round % {k})", f"the number of the round begins anew every {k} rounds"
            yield f"(key.round // {k})", f"the number of the round divided by {k}"
    if name.removeprefix("self.") in reading.numbers:
        for quantity in list_quantities(reading, place):
            if quantity.text != name:
                yield quantity.text, f"{quantity.words} in place of {name}"
        yield f"(1 - {name})", f"1 - {name} in place of {name}"
        yield "1", f"1 in place of {name}"
        yield f"{name}**2", f"{name}^2 in place of {name}"
        yield f"{name}**0.5", f"the square root of {name} in place of {name}"
        for quantity in list_quantities(reading, place):
            yield f"({name} * {quantity.text})", f"{name} multiplied by {quantity.words}"
            yield f"({name} / {quantity.text})", f"{name} divided by {quantity.words}"


def put_formula(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A number by another formula: another hyper-parameter, or what is often made of one."""
    if place.kind != "number" or place.text == "key.round" or place.text.removeprefix("self.") in reading.numbers:
        return
    for quantity in list_quantities(reading, place):
        yield put(place, quantity.text, f"{quantity.words} in place of {name_of(place)}")
    for name in reading.numbers:
        p = f"self.{name}"
        for text, words in (
            (f"(1 - {p})", f"1 - {name}"),
            (f"(1 / {p})", f"1/{name}"),
            (f"{p}**0.5", f"{name}^(1/2)"),
            (f"((1 - {p}) / (1 + {p}))", f"(1 - {name})/(1 + {name})"),
            (f"((1 - {p}**0.5) / (1 + {p}**0.5))", f"(1 - {name}^(1/2))/(1 + {name}^(1/2))"),
        ):
            yield put(place, text, f"{words} in place of {name_of(place)}")


def raise_number(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A power of a number, the number of rounds so far among them."""
    if place.kind != "number" or place.text == "key.round":
        return
    text, name = enclose(place.text), name_of(place)
    powers = [("2", "squared"), ("0.5", "under a root")]
    powers += [("(key.round + 1)", "to the power of the number of rounds so far")] * place.knows("key")
    for power, words in powers:
        yield put(place, f"{text}**{power}", f"{name} {words}")


def put_constant(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A number in the place of one that is worked out or asked for."""
    if place.kind == "number":
        yield put(place, NUMBER, f"{NUMBER} in place of {name_of(place)}")


def change_number(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """Another hyper-parameter or quantity, 1 less it, 1, or the round before or after."""
    if place.kind == "number":
        for text, words in list_numbers(reading, place):
            yield put(place, text, words)


def scale_by_one(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A term with one quantity as a factor or divisor too many."""
    if not _is_term(place):
        return
    text, name = enclose(place.text), name_of(place)
    for quantity in list_quantities(reading, place):
        yield put(place, f"{text} * {quantity.text}", f"{name} multiplied by {quantity.words}")
        yield put(place, f"{text} / {quantity.text}", f"{name} divided by {quantity.words}")


def scale_by_two(reading: RoundReading, place: PlaceInRound) -> Iterator[RoundChange]:
    """A term with two quantities as factors or divisors too many."""
    if not _is_term(place):
        return
    text, name = enclose(place.text), name_of(place)
    simple = [quantity for quantity in list_quantities(reading, place) if quantity.simple]
    for one, other in itertools.combinations(simple, 2):
        ones, others = one.words, other.words
        yield put(place, f"{text} * {one.text} * {other.text}", f"{name} multiplied by {ones} and {others}")
        yield put(place, f"{text} / {one.text} / {other.text}", f"{name} divided by {ones} and {others}")
        yield put(place, f"{text} * {one.text} / {other.text}", f"{name} multiplied by {ones}/{others}")
        yield put(place, f"{text} / {one.text} * {other.text}", f"{name} multiplied by {others}/{ones}")

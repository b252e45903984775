"""Mistakes near a theorem: every number, sign, exponent, term, factor, round, range and hypothesis of what it says, changed one at a time.

The proof stays as it is, but for the multipliers of the claim's own combinations, which may be found anew. A mistake that the checker accepts is
proved, so it is true: weaker than the theorem, or the theorem is slack by it. One that it does not accept is not shown to be false by that.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal

from fedtheory.claims.statements.theorems.rounded import RoundedNumber, is_less
from fedtheory.claims.statements.theorems.sides import Lookup, Sides
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.checker.check import Proved, check_term
from fedtheory.proofs.checker.formulas import Sentence, Unreadable, read, show_tree
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.regions.region import Region

NearMissOutcome = Literal["refused", "weaker", "slack"]
#: by what numbers are multiplied
FACTORS = tuple(map(Fraction, ("2", "1/2", "101/100", "99/100")))
#: points at which it is looked whether a theorem implies a mistake
IMPLICATION_DRAWS = 200
#: of them those after which another mistake is looked at, as long as there are others
FEW_DRAWS = 24


@dataclass(frozen=True)
class ChangedFormula:
    """A formula with one change, and what that is; ``scaled``: where a number has a factor, the same with another one."""

    what: str
    tree: ast.expr
    scaled: Callable[[Fraction], ast.expr] | None = None
    factor: Fraction | None = None


@dataclass(frozen=True)
class NearMiss:
    """A theorem with one change, in words; ``scaled``: where a number of it has a factor, the same with another one, and ``factor`` is this one's."""

    what: str
    theorem: Theorem
    factor: Fraction | None = None
    scaled: Callable[[Fraction], Theorem] | None = None


def list_near_misses(theorem: Theorem) -> Iterator[NearMiss]:
    """Every change of the claim, of formulas by name, of the region and of hypotheses."""
    for change in _list_changes(theorem):
        yield from _made(theorem, change)


def pick_stronger(theorem: Theorem, count: int) -> list[NearMiss]:
    """Some mistakes, from all over the theorem, that it does not imply."""
    every = list(_list_changes(theorem))
    step = max(1, len(every) // count)
    in_turn = [every[k] for start in range(step) for k in range(start, len(every), step)]
    found: list[NearMiss] = []
    for draws in (FEW_DRAWS, IMPLICATION_DRAWS):
        found = []
        for change in in_turn:
            found += [m for m in _made(theorem, change) if not is_implied(theorem, m.theorem, draws=draws)]
            if len(found) >= count:
                return found[:count]
    return found


@dataclass(frozen=True)
class _Change:
    """Fields of a theorem that are others, and what is changed, as they are asked for; ``scaled``: fields with another factor of a number."""

    what: Callable[[], str]
    fields: Callable[[], Mapping[str, Any]]
    scaled: Callable[[Fraction], Mapping[str, Any]] | None = None
    factor: Fraction | None = None


def _list_changes(theorem: Theorem) -> Iterator[_Change]:
    for k, sentence in enumerate(theorem.sentences):
        put = partial(_with_claim_at, theorem, k)
        for what, changed, scaled, factor in _of_sentence(sentence):
            yield _Change(partial("{}: {}".format, what, changed), partial(put, changed), _after(scaled, put), factor)
    for name, text in theorem.where.items():
        for formula in list_changed_formulas(read(text)):
            into = partial(_with_formula, theorem, name)
            told = partial(_tell_formula, formula, name)
            yield _Change(told, partial(into, formula.tree), _after(formula.scaled, into), formula.factor)
    for name in theorem.given:
        rest = {other: text for other, text in theorem.given.items() if other != name}
        inside = {other: one for other, one in theorem.inside.items() if other != name}
        spoken = {word for other, said in theorem.hypotheses.items() if other != name for word in said.names}
        without = {"given": rest, "inside": inside, "fixed": tuple(t for t in theorem.fixed if t in spoken)}
        yield _change(f"without the hypothesis {name}", without)
    fixed = {name for sentence in theorem.sentences for name, _ in sentence.fixed}
    for what, region in list_wider_regions(theorem.region, fixed):
        yield _change(what, {"region": region})
    for name, least in theorem.rounds.items():
        if least > 0:
            yield _change(f"{name} from {least - 1} on", {"rounds": {**theorem.rounds, name: least - 1}})


def _change(what: str, fields: Mapping[str, Any]) -> _Change:
    return _Change(lambda: what, lambda: fields)


def _tell_formula(formula: ChangedFormula, name: str) -> str:
    return f"{formula.what} of {name}: {show_tree(formula.tree)}"


def _with_claim_at(theorem: Theorem, k: int, said: Sentence) -> dict[str, Any]:
    claims = (*theorem.claims[:k], str(said), *theorem.claims[k + 1 :])
    return {"claim": claims[0] if len(claims) == 1 else claims}


def _with_formula(theorem: Theorem, name: str, tree: ast.expr) -> dict[str, Any]:
    return {"where": {**theorem.where, name: show_tree(tree)}}


def _after(scaled: Callable[[Fraction], Any] | None, then: Callable[[Any], Any]) -> Callable[[Fraction], Any] | None:
    return None if scaled is None else lambda factor: then(scaled(factor))


def judge_near_miss(theorem: Theorem, data: Mapping[str, Any], mistake: NearMiss) -> NearMissOutcome:
    """What comes of a mistake with the theorem's own term: refused, or proved, as it is weaker or as there is slack."""
    if find_refusal(theorem, data, mistake.theorem) is not None:
        return "refused"
    return "weaker" if is_implied(theorem, mistake.theorem) else "slack"


def find_refusal(
    theorem: Theorem, data: Mapping[str, Any], other: Theorem, resting: Mapping[str, Proved] = MappingProxyType({})
) -> TermRefused | None:
    """Why the checker refuses a theorem's term with what another one says in the place of what it says itself; None where it accepts it.

    ``resting``: what checks of the terms that it rests on gave, where these were made.
    """
    try:
        check_term(change_term(theorem, data, other), resting=resting)
    except TermRefused as reason:
        return reason
    return None


def change_term(theorem: Theorem, data: Mapping[str, Any], other: Theorem) -> dict[str, Any]:
    """A theorem's term with what another one says in the place of what it says itself."""
    own = dict(zip(map(_said, theorem.claims), other.claims, strict=True))
    kept = {key: data[key] for key in ("functions", "drawn", "rests", "derivations")}
    if other.inside:
        kept["inside"] = {name: data["inside"][name] for name in other.inside}
    return {**other.skeleton(), **kept, "lines": [_with_claim(line, own) for line in data["lines"]]}


def is_implied(theorem: Theorem, other: Theorem, seed: int = 0, draws: int = IMPLICATION_DRAWS) -> bool:
    """Whether no drawn numbers satisfy all claims of a theorem and break one of another: quantities are any numbers above zero.

    In every second draw one quantity is such that a claim which is another one there holds with equality. Limits are not drawn: one that says
    something else is not implied.
    """
    spoken = frozenset[str]().union(*(said.names for said in (*other.sentences, *other.hypotheses.values())))
    earlier = any(theorem.rounds[name] != least for name, least in other.rounds.items() if name in spoken)
    if earlier or (theorem.region, theorem.given) != (other.region, other.given):
        return False
    if [str(s) for s in theorem.sentences if s.to_infinity] != [str(s) for s in other.sentences if s.to_infinity]:
        return False
    changed = [a for a, b in zip(theorem.sentences, other.sentences, strict=True) if str(a) != str(b)]
    rng = random.Random(seed)
    speaks_of = (theorem.parameters.names, theorem.rounds, theorem.quantities, theorem.sequences)
    cases = list(other.parameters.cases())
    for k in range(draws if any(speaks_of) else 1):
        try:
            point = _draw_point(cases, rng)
            values: dict[tuple[str, int], Fraction] = {}
            rounds = {name: Fraction(least + rng.randrange(4)) for name, least in other.rounds.items()}
            numbers = {**point, **rounds}

            def lookup(name: str, k: int, values: dict[tuple[str, int], Fraction] = values) -> Fraction:
                if (name, k) not in values:
                    values[name, k] = Fraction(rng.choice((1, 1, 3, 10, 100)), rng.choice((1, 7, 50)))
                return values[name, k]

            if k % 2 and changed:
                _make_tight(theorem, rng.choice(changed), numbers, values, lookup, rng)
            if _is_clear(theorem, other, numbers, lookup):
                continue
            said = all(_holds(theorem, s, numbers, lookup) for s in theorem.sentences if not s.to_infinity)
            if said and not all(_holds(other, s, numbers, lookup) for s in other.sentences if not s.to_infinity):
                return False
        except (FedtheoryError, ZeroDivisionError, OverflowError, ValueError, TypeError):
            continue
    return True


def _make_tight(
    theorem: Theorem,
    sentence: Sentence,
    numbers: Mapping[str, Fraction],
    values: dict[tuple[str, int], Fraction],
    lookup: Callable[[str, int], Fraction],
    rng: random.Random,
) -> None:
    """Change one quantity, in which a claim is linear, to where both sides are equal, if it is above zero there."""

    def gap() -> Fraction:
        return Fraction(Sides(numbers, lookup, theorem.formulas).gap(sentence))

    first = gap()
    if not values:
        return
    key = rng.choice(sorted(values))
    one = values[key]
    found = [first]
    for size in (2, 3):
        values[key] = size * one
        found.append(gap())
    rise = found[1] - found[0]
    values[key] = one
    if rise != 0 and found[2] - found[1] == rise and one * (1 - first / rise) > 0:
        values[key] = one * (1 - first / rise)


def _holds(theorem: Theorem, sentence: Sentence, numbers: Mapping[str, Fraction], lookup: Any) -> bool:
    gap = Sides(numbers, lookup, theorem.formulas).gap(sentence)
    return bool(gap < 0 if sentence.sign == "<" else gap == 0 if sentence.sign == "==" else gap <= 0)


def _is_clear(theorem: Theorem, other: Theorem, numbers: Mapping[str, Fraction], lookup: Lookup) -> bool:
    """Whether floats show that a draw breaks a claim of the theorem, or none of the other one: fractions take much longer, and decide the rest."""
    plain = {name: RoundedNumber.of(value) for name, value in numbers.items()}
    rounded = cache(lambda name, k: RoundedNumber.of(lookup(name, k)))

    def held(one: Theorem) -> bool | None:
        sides = Sides(plain, rounded, one.formulas, RoundedNumber.of)
        unclear = False
        for sentence in one.sentences:
            if not sentence.to_infinity:
                holds = _holds_in_floats(sides, sentence)
                if holds is False:
                    return False
                unclear |= holds is None
        return None if unclear else True

    return held(theorem) is False or held(other) is True


def _holds_in_floats(sides: Sides, sentence: Sentence) -> bool | None:
    """Whether a claim holds, where rounding cannot decide it; else None."""
    if sentence.exists is not None:
        return None
    try:
        less = is_less(sides.value(sentence.left), sides.value(sentence.right))
    except (FedtheoryError, ArithmeticError, ValueError, TypeError):
        return None
    return less if less is None else less and sentence.sign != "=="


def _draw_point(cases: Sequence[tuple[Mapping[str, Fraction], Region]], rng: random.Random) -> dict[str, Fraction]:
    fixed, region = cases[rng.randrange(len(cases))]
    return {
        **fixed,
        **region.point([Fraction(rng.choice((1, 2, 5, 30)), rng.choice((1, 3, 7, 40))) for _ in region.parameters]),
    }


def _said(text: str) -> str:
    return str(Sentence.parse(text))


def _with_claim(line: str, own: Mapping[str, str]) -> str:
    name, _, rest = line.partition(": ")
    sentence, _, rule = rest.partition(" by ")
    return f"{name}: {own.get(sentence, sentence)} by {rule}"


def _made(theorem: Theorem, change: _Change) -> Iterator[NearMiss]:
    def make(fields: Mapping[str, Any]) -> Theorem:
        return replace(theorem, proof="", added=(), **fields)

    fields = change.fields()
    if fields.get("claim") == theorem.claim:
        return
    try:
        yield NearMiss(change.what(), make(fields), change.factor, _after(change.scaled, make))
    except (FedtheoryError, Unreadable):  # it cannot be said
        return


def _of_sentence(
    sentence: Sentence,
) -> Iterator[tuple[str, Sentence, Callable[[Fraction], Sentence] | None, Fraction | None]]:
    """What is changed, the sentence with the change, and where a number has a factor, the same with another one and this one."""
    for side in ("left", "right"):
        put = partial(_with_side, sentence, side)
        for formula in list_changed_formulas(getattr(sentence, side)):
            yield formula.what, put(formula.tree), _after(formula.scaled, put), formula.factor
    if sentence.sign == "<=":
        yield "less for at most", replace(sentence, sign="<"), None, None
        yield "equal for at most", replace(sentence, sign="=="), None, None
    if sentence.exists is not None:
        e = sentence.exists
        for low, high in (
            (f"{show_tree(e.low)} + 1", show_tree(e.high)),
            (show_tree(e.low), f"{show_tree(e.high)} - 1"),
        ):
            yield "range", replace(sentence, exists=replace(e, low=read(low), high=read(high))), None, None


def _with_side(sentence: Sentence, side: str, tree: ast.expr) -> Sentence:
    return replace(sentence, left=tree) if side == "left" else replace(sentence, right=tree)


def list_changed_formulas(tree: ast.expr) -> Iterator[ChangedFormula]:
    """A formula with one number, sign, exponent, term or factor changed, and what that is, for every place; rounds are one more or less."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Subscript) for part in ast.walk(node.slice)}
    for k, node in enumerate(ast.walk(tree)):
        if id(node) in inside:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value:
            put = partial(_put_factor, tree, k, node)
            for factor in FACTORS:
                yield ChangedFormula("number", put(factor), put, factor)
            yield ChangedFormula("number", _put(tree, k, read(f"{ast.unparse(node)} + 1")))
        elif isinstance(node, ast.expr):
            for what, new in _of_node(node):
                yield ChangedFormula(what, _put(tree, k, new))


def _put_factor(tree: ast.expr, place: int, number: ast.Constant, factor: Fraction) -> ast.expr:
    return _put(tree, place, read(f"({ast.unparse(number)})*({factor})"))


def _of_node(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Constant():
            yield "number", read("1")
        case ast.BinOp(left=left, op=sign, right=right):
            swap: dict[type[ast.operator], ast.operator] = {
                ast.Add: ast.Sub(),
                ast.Sub: ast.Add(),
                ast.Mult: ast.Div(),
                ast.Div: ast.Mult(),
            }
            if type(sign) in swap:
                yield "sign", ast.BinOp(left, swap[type(sign)], right)
                yield "term dropped", left
            if isinstance(sign, ast.Add | ast.Mult):
                yield "term dropped", right
            if isinstance(sign, ast.Pow):
                yield "exponent", left
                yield "exponent", ast.BinOp(left, ast.Pow(), ast.BinOp(right, ast.Add(), ast.Constant(1)))
        case ast.Subscript(value=value, slice=index):
            for step in ("+1", "-1") if show_tree(index) != "0" else ("+1",):
                yield "round", ast.Subscript(value, read(f"({show_tree(index)}){step}"), ast.Load())
        case ast.Call(func=ast.Name(id="max" | "min"), args=args):
            for part in args:
                yield "term dropped", part
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
            yield "root", inner
        case ast.Name(id=name):
            yield "factor", read(f"{name}**2")


def _put(tree: ast.expr, place: int, new: ast.expr) -> ast.expr:
    """A formula with another node at a place of `ast.walk`; what is not above it is shared."""
    if place == 0:
        return new
    target = next(islice(ast.walk(tree), place, None))

    def replaced(node: ast.AST) -> ast.AST:
        if node is target:
            return new
        fields = dict(ast.iter_fields(node))
        for name, value in fields.items():
            if isinstance(value, ast.AST):
                other: Any = replaced(value)
            elif isinstance(value, list):
                parts = [replaced(part) if isinstance(part, ast.AST) else part for part in value]
                other = value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
            else:
                continue
            if other is not value:  # a node has one place
                return type(node)(**{**fields, name: other})
        return node

    return replaced(tree)  # type: ignore[return-value]


def list_wider_regions(region: str, fixed: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Regions whose ends lie farther out, one end at a time; whole numbers that the claim fixes are left as they are."""
    parsed = Region.parse(region)
    for p in parsed.parameters:
        if p.high is not None and not p.integer:
            wider = [
                str(q) if q is not p else f"{q.low} {'<=' if q.low_closed else '<'} {q.name} <= 11/10*({q.high})"
                for q in parsed.parameters
            ]
            yield f"{p.name} up to 11/10 of its end", ", ".join(wider)
        if p.integer and p.name not in fixed:
            wider = [str(q) if q is not p else f"{q.name} in {q.low}..{p.values()[-1] + 1}" for q in parsed.parameters]
            yield f"{p.name} up to one more", ", ".join(wider)

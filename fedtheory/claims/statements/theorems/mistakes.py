"""Mistakes near a theorem: every number, sign, exponent, term, factor, round, range and hypothesis of what it says, changed one at a time.

The proof stays as it is. A mistake that the checker accepts is proved, so it is true: weaker than the theorem, or the theorem is slack by it.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.formulas import Sentence, Unreadable, read, show_tree
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.regions.region import Region

NearMissOutcome = Literal["refused", "weaker", "slack"]
#: points at which it is looked whether a theorem implies a mistake
IMPLICATION_DRAWS = 200


@dataclass(frozen=True)
class NearMiss:
    """A theorem with one change, in words."""

    what: str
    theorem: Theorem


def list_near_misses(theorem: Theorem) -> Iterator[NearMiss]:
    """Every change of the claim, of formulas by name, of the region and of hypotheses."""
    for what, change in _list_changes(theorem):
        yield from _made(theorem, what, **change)


def pick_stronger(theorem: Theorem, count: int) -> list[NearMiss]:
    """Some mistakes, from all over the theorem, that it does not imply."""
    every = list(_list_changes(theorem))
    step = max(1, len(every) // count)
    found: list[NearMiss] = []
    for what, change in (every[k] for start in range(step) for k in range(start, len(every), step)):
        found += [m for m in _made(theorem, what, **change) if not is_implied(theorem, m.theorem)]
        if len(found) >= count:
            break
    return found[:count]


def _list_changes(theorem: Theorem) -> Iterator[tuple[str, dict[str, Any]]]:
    for k, (text, sentence) in enumerate(zip(theorem.claims, theorem.sentences, strict=True)):
        for what, changed in _of_sentence(sentence):
            if changed != text:
                claims = (*theorem.claims[:k], changed, *theorem.claims[k + 1 :])
                yield f"{what}: {changed}", {"claim": claims[0] if len(claims) == 1 else claims}
    for name, text in theorem.where.items():
        for what, tree in list_changed_formulas(read(text)):
            yield f"{what} of {name}: {show_tree(tree)}", {"where": {**theorem.where, name: show_tree(tree)}}
    for name in theorem.given:
        rest = {other: text for other, text in theorem.given.items() if other != name}
        yield f"without the hypothesis {name}", {"given": rest}
    fixed = {name for sentence in theorem.sentences for name, _ in sentence.fixed}
    for what, region in list_wider_regions(theorem.region, fixed):
        yield what, {"region": region}
    for name, least in theorem.rounds.items():
        if least > 0:
            yield f"{name} from {least - 1} on", {"rounds": {**theorem.rounds, name: least - 1}}


def judge_near_miss(theorem: Theorem, data: Mapping[str, Any], mistake: NearMiss) -> NearMissOutcome:
    """What comes of a mistake with the theorem's own term: refused, or proved, as it is weaker or as there is slack."""
    try:
        check_term(change_term(theorem, data, mistake.theorem))
    except TermRefused:
        return "refused"
    return "weaker" if is_implied(theorem, mistake.theorem) else "slack"


def change_term(theorem: Theorem, data: Mapping[str, Any], other: Theorem) -> dict[str, Any]:
    """A theorem's term with what another one says in the place of what it says itself."""
    own = dict(zip(map(_said, theorem.claims), other.claims, strict=True))
    kept = {key: data[key] for key in ("functions", "drawn", "rests", "derivations")}
    return {**other.skeleton(), **kept, "lines": [_with_claim(line, own) for line in data["lines"]]}


def is_implied(theorem: Theorem, other: Theorem, seed: int = 0) -> bool:
    """Whether no drawn numbers satisfy all claims of a theorem and break one of another: quantities are any numbers above zero.

    Limits are not drawn: one that says something else is not implied.
    """
    if [str(s) for s in theorem.sentences if s.to_infinity] != [str(s) for s in other.sentences if s.to_infinity]:
        return False
    rng = random.Random(seed)
    for _ in range(IMPLICATION_DRAWS):
        try:
            point = _draw_point(other, rng)
            values: dict[tuple[str, int], Fraction] = {}
            rounds = {name: Fraction(least + rng.randrange(4)) for name, least in other.rounds.items()}

            def lookup(name: str, k: int, values: dict[tuple[str, int], Fraction] = values) -> Fraction:
                return values.setdefault((name, k), Fraction(rng.choice((1, 1, 3, 10, 100)), rng.choice((1, 7, 50))))

            said = all(
                _holds(theorem, s, {**point, **rounds}, lookup) for s in theorem.sentences if not s.to_infinity
            ) and theorem.parameters.inside(point)
            if said is False and theorem.parameters.inside(point):
                continue
            if not all(_holds(other, s, {**point, **rounds}, lookup) for s in other.sentences if not s.to_infinity):
                return False
        except (FedtheoryError, ZeroDivisionError, OverflowError, ValueError, TypeError):
            continue
    return theorem.region == other.region and theorem.given == other.given


def _holds(theorem: Theorem, sentence: Sentence, numbers: Mapping[str, Fraction], lookup: Any) -> bool:
    gap = Sides(numbers, lookup, theorem.formulas).gap(sentence)
    return bool(gap < 0 if sentence.sign == "<" else gap == 0 if sentence.sign == "==" else gap <= 0)


def _draw_point(theorem: Theorem, rng: random.Random) -> dict[str, Fraction]:
    cases = list(theorem.parameters.cases())
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


def _made(theorem: Theorem, what: str, **change: Any) -> Iterator[NearMiss]:
    try:
        yield NearMiss(what, replace(theorem, proof="", added=(), **change))
    except (FedtheoryError, Unreadable):  # it cannot be said
        return


def _of_sentence(sentence: Sentence) -> Iterator[tuple[str, str]]:
    for what, tree in list_changed_formulas(sentence.left):
        yield what, str(replace(sentence, left=tree))
    for what, tree in list_changed_formulas(sentence.right):
        yield what, str(replace(sentence, right=tree))
    if sentence.sign == "<=":
        yield "less for at most", str(replace(sentence, sign="<"))
        yield "equal for at most", str(replace(sentence, sign="=="))
    if sentence.exists is not None:
        e = sentence.exists
        for low, high in (
            (f"{show_tree(e.low)} + 1", show_tree(e.high)),
            (show_tree(e.low), f"{show_tree(e.high)} - 1"),
        ):
            yield "range", str(replace(sentence, exists=replace(e, low=read(low), high=read(high))))


def list_changed_formulas(tree: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """A formula with one number, sign, exponent, term or factor changed, and what that is, for every place."""
    for k, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.expr):
            for what, new in _of_node(node):
                yield what, _put(tree, k, new)


def _of_node(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Constant(value=int() | float() as number) if number:
            for factor in ("2", "1/2", "101/100", "99/100"):
                yield "number", read(f"({number})*({factor})")
            yield "number", read(f"{number} + 1")
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
            for step in ("+1", "-1"):
                yield "round", ast.Subscript(value, read(f"({show_tree(index)}){step}"), ast.Load())
        case ast.Call(func=ast.Name(id="max" | "min"), args=args):
            for part in args:
                yield "term dropped", part
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
            yield "root", inner
        case ast.Name(id=name):
            yield "factor", read(f"{name}**2")


def _put(tree: ast.expr, place: int, new: ast.expr) -> ast.expr:
    if place == 0:
        return new
    fresh = copy.deepcopy(tree)
    target = list(ast.walk(fresh))[place]

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return new if node is target else self.generic_visit(node)

    return Put().visit(fresh)  # type: ignore[no-any-return]


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

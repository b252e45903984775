"""A world that remembers how everything in it was made, so that what is said in it can be written out on names.

Vectors, forms and numbers are those of a `SymbolicWorld` at a generic point of the region, so that code that plays with them, a method's own round
included, does what it does in a proof; each also has the tree by which it was made. What has the value of something with a name is written by that
name, whatever its tree: two values that are equal at the generic point are equal for all parameters, unless chance has it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from fedtheory.claims.statements.client_counts import describe_clients
from fedtheory.claims.statements.formula_texts import WordLine, draw_signs, split_sign, write
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.worlds import FunctionOf, SymbolicWorld
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.vectors import Form, Lost, Sampling, Vector, divide, inner_product
from fedtheory.proofs.regions.region import Region

#: parts of the generic point: quotients of neighbouring primes
_PRIMES = tuple(10**9 + k for k in (7, 9, 21, 33, 87, 93, 97, 103, 123, 181, 207, 223, 241, 271, 289))
#: characters of a number beyond which it is taken to be the generic point's
_LONGEST = 14
NO_TERM = ast.Constant(0)


class Unwritten(InvalidInput):
    """Something has no tree: it was not made of what the world gave out."""


# ---- numbers -----------------------------------------------------------------------------------------------------------


class WrittenNumber(Fraction):
    """A parameter, or what was computed from parameters: its value at the generic point, and its tree.

    ``counted``: the whole numbers among these, which are not generic: a one that is made of them may be another number elsewhere and keeps its tree,
    and a zero notes them.
    """

    __slots__ = ("counted", "tree")
    tree: ast.expr
    counted: tuple[Any, ...]  # of CountedNumber

    def __new__(cls, value: Fraction, tree: ast.expr, counted: tuple[Any, ...] = ()) -> WrittenNumber:  # type: ignore[override]
        """A value with a tree; what is zero or one is these."""
        self = super().__new__(cls, value)
        self.counted = counted
        if value == 0:
            for number in counted:
                int(number)
        self.tree = _constant(value) if value == 0 or (value in (1, -1) and not counted) else tree
        return self

    def __neg__(self) -> WrittenNumber:
        return WrittenNumber(super().__neg__(), ast.UnaryOp(ast.USub(), self.tree), self.counted)

    def __abs__(self) -> WrittenNumber:
        return self if self >= 0 else -self


def _operation(name: str, sign: ast.operator, *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    of_values = getattr(Fraction, name)

    def apply(self: WrittenNumber, other: Any) -> Any:
        value = of_values(self, other)
        if not isinstance(value, Fraction):
            return value
        left, right = (other, self) if swapped else (self, other)
        try:
            counted = tuple({id(one): one for one in (*self.counted, *getattr(other, "counted", ()))}.values())
            return WrittenNumber(value, _join(number_tree(left), sign, number_tree(right)), counted)
        except Unwritten:  # that is said where it is to be written
            return value

    return apply


for _word, _sign in (("add", ast.Add()), ("sub", ast.Sub()), ("mul", ast.Mult()), ("truediv", ast.Div())):
    setattr(WrittenNumber, f"__{_word}__", _operation(f"__{_word}__", _sign))
    setattr(WrittenNumber, f"__r{_word}__", _operation(f"__r{_word}__", _sign, swapped=True))
WrittenNumber.__pow__ = _operation("__pow__", ast.Pow())  # type: ignore[method-assign, assignment]


def number_tree(value: Any) -> ast.expr:
    """The tree of a number.

    Raises
    ------
    Unwritten
        It has that of no parameter, and digits as the generic point has.
    """
    if isinstance(value, WrittenNumber):
        return value.tree
    number = Fraction(value)
    if len(str(abs(number))) > _LONGEST:
        raise Unwritten(f"the number {number} was not made of the parameters that were given")
    return _constant(number)


def _constant(number: Fraction) -> ast.expr:
    sign, size = number < 0, abs(number)
    tree: ast.expr = ast.Constant(size.numerator)
    if size.denominator != 1:
        tree = ast.BinOp(tree, ast.Div(), ast.Constant(size.denominator))
    return ast.UnaryOp(ast.USub(), tree) if sign else tree


def _join(left: ast.expr, sign: ast.operator, right: ast.expr) -> ast.expr:
    """An operation, without zeros and ones that do nothing."""
    match sign:
        case ast.Add() if _is(left, 0):
            return right
        case ast.Add() | ast.Sub() if _is(right, 0):
            return left
        case ast.Sub() if _is(left, 0):
            return ast.UnaryOp(ast.USub(), right)
        case ast.Mult() if _is(left, 1):
            return right
        case ast.Mult() | ast.Div() | ast.Pow() if _is(right, 1):
            return left
    return ast.BinOp(left, sign, right)


def _is(tree: ast.expr, number: int) -> bool:
    return isinstance(tree, ast.Constant) and tree.value == number


class CountedNumber(WrittenNumber):
    """A whole number of a region: where a text counts with it, what is written is so for this number alone, and that is noted."""

    __slots__ = ("noted",)
    noted: list[str]

    def __new__(cls, value: Fraction, tree: ast.expr, noted: list[str]) -> CountedNumber:  # type: ignore[override]
        """A parameter, and where it is noted."""
        self: Any = super().__new__(cls, value, tree)
        self.tree, self.noted, self.counted = tree, noted, (self,)
        return self  # type: ignore[no-any-return]

    def __int__(self) -> int:  # type: ignore[override]
        """The number, which is noted."""
        said = f"{write(self.tree)} = {super().__int__()}"
        if said not in self.noted:
            self.noted.append(said)
        return super().__int__()

    __trunc__ = __int__


def generic_numbers(region: Region, noted: list[str] | None = None) -> dict[str, Any]:
    """The parameters as numbers with their names, at a point of the region that no coincidence has; whole numbers are those of its second case.

    ``noted``: takes those that a text counts with.
    """
    fixed, reals = list(itertools.islice(region.cases(), 2))[-1]
    shares = [Fraction(_PRIMES[(3 * k + 1) % 15], _PRIMES[(5 * k + 2) % 15] + k) for k in range(len(reals.parameters))]
    found: dict[str, Any] = {}
    for name, value in fixed.items():
        found[name] = CountedNumber(Fraction(value), ast.Name(name, ast.Load()), [] if noted is None else noted)
    point = reals.point(shares)
    return found | {name: WrittenNumber(Fraction(value), ast.Name(name, ast.Load())) for name, value in point.items()}


# ---- vectors and forms ---------------------------------------------------------------------------------------------------


class Made(NamedTuple):
    """How something was made: a leaf of this name; a sum of parts with factors; an average; a gradient or value of f; a product."""

    how: Literal["leaf", "sum", "mean", "drawn mean", "active", "gradient", "value", "product"]
    parts: tuple[Any, ...]


class _Told:
    """Arithmetic that notes how sums and multiples of vectors, or of forms, are made: a base beside that of the thing itself."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        """Sum; the number zero is the zero vector."""
        return _sum_of(super().__add__(_value(other)), self, other)  # type: ignore[misc]

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Any:
        """Multiply by a number."""
        return _scaled(super().__mul__(_value(factor)), self, factor)  # type: ignore[misc]

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        """Divide by a number."""
        return self * divide(1, divisor)

    def __neg__(self) -> Any:
        """The opposite."""
        return self * -1

    def __sub__(self, other: Any) -> Any:
        """Difference."""
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        """Difference from the other side."""
        return -self + other


class ToldVector(_Told, Vector):
    """A vector that knows how it was made."""

    __slots__ = ("made",)
    made: Made

    def __init__(self, terms: Mapping[Any, Any], made: Made) -> None:
        super().__init__(terms)
        self.made = made

    def averaged(self, clients: Sampling | None) -> Any:
        """Average over the clients, or over those that are drawn."""
        found = super().averaged(clients)
        if clients is not None:
            return ToldVector(found.terms, Made("drawn mean", (self, clients)))
        return self if self.common else ToldVector(found.terms, Made("mean", (self,)))

    def scattered(self, clients: Sampling, new: Vector) -> Any:
        """Another vector for the clients that take part, and this one for the others."""
        found = super().scattered(clients, new)
        return found if isinstance(found, Lost) else ToldVector(found.terms, Made("active", (new, self, clients)))

    def dot(self, other: Vector) -> ToldForm:
        """<u, v>, as `fedtheory.claims.statements.worlds.dot` asks for it."""
        found = inner_product(self, other)
        return ToldForm(found, Made("product", (self, other)))


class ToldForm(_Told, Form):
    """A form that knows how it was made."""

    __slots__ = ("made",)
    made: Made

    def __init__(self, form: Form, made: Made) -> None:
        super().__init__(form.gram, form.values, form.constant)
        self.made = made


def _value(number: Any) -> Any:
    return Fraction(number) if isinstance(number, WrittenNumber) else number


def _is_plain(number: Any, *numbers: int) -> bool:
    """Whether a number is one of these wherever whole parameters lie."""
    return number in numbers and not getattr(number, "counted", ())


def _sum_of(found: Any, left: Any, right: Any) -> Any:
    if found is NotImplemented:
        return found
    return _like(found, Made("sum", ((1, left), (1, right))))


def _scaled(found: Any, thing: Any, factor: Any) -> Any:
    if found is NotImplemented:
        return found
    if _is_plain(factor, 1):
        return thing
    return _like(found, Made("sum", ((factor, thing),)))


def _like(found: Any, made: Made) -> Any:
    return ToldForm(found, made) if isinstance(found, Form) else ToldVector(found.terms, made)


def key_of(thing: Any) -> Any:
    """What is the same of things with the same value; None of zero."""
    if isinstance(thing, Vector):
        return frozenset((key, c) for key, c in thing.terms.items() if c != 0) or None
    parts = (*thing.gram.items(), *thing.values.items(), ("constant", thing.constant))
    return frozenset((key, Fraction(c)) for key, c in parts if c != 0) or None


# ---- the world -----------------------------------------------------------------------------------------------------------


class WrittenWorld(SymbolicWorld):
    """A symbolic world whose vectors, gradients and values know how they were made; ``numbers``: names of those that it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[str] = []

    def vector(self, name: str, client: bool = False) -> Vector:
        """A vector; ``client``: one of every client."""
        return ToldVector(super().vector(name, client).terms, Made("leaf", (name,)))

    def at(self, f: FunctionOf, x: Vector, name: str, g: Vector | None = None) -> tuple[Vector, Form]:
        """Gradient and value of f at x."""
        slope, value = super().at(f, x, name, g)
        if g is None and f.L is not None and isinstance(slope, ToldVector):
            slope.made = Made("gradient", (f, x))
        return slope, ToldForm(value, Made("value", (f, x)))

    def value(self, name: str) -> Form:
        """A number that nothing but hypotheses bounds."""
        self.numbers.append(name)
        return ToldForm(super().value(name), Made("leaf", (name,)))


def is_nothing(thing: Any) -> bool:
    """Whether something was made as zero, as 0 x is; x - x is zero, and written as it is."""
    if not isinstance(thing, Vector | Form):
        return bool(thing == 0)
    match getattr(thing, "made", None):
        case None:
            return key_of(thing) is None
        case Made("sum", parts):
            return all(factor == 0 or is_nothing(part) for factor, part in parts)
        case Made("mean" | "product", parts):
            return any(map(is_nothing, parts))
    return False


def symbol(name: str) -> str:
    """The name of a vector or number of a text as that of a formula: ``theta*`` is theta_star and ``theta^`` has a hat."""
    if name.endswith("*") and name[:-1].isidentifier():
        return f"{name[:-1]}_star"
    if name.endswith("^") and name[:-1].isidentifier():
        return f"hat_{name[:-1]}"
    return name


class Name(NamedTuple):
    """What a value is called, and the thing that has the name; it is written by names of a lower rank, so that no two are written by each other."""

    tree: ast.expr
    rank: tuple[int, ...]
    thing: Any


@dataclass
class Writer:
    """Writes what was made in a world.

    Parameters
    ----------
    world : the world
    names : by the keys of values, what they are called
    functions : by the id of a function, what it is called
    """

    world: SymbolicWorld
    names: dict[Any, Name] = field(default_factory=dict)
    functions: dict[int, str] = field(default_factory=dict)
    often: dict[Any, tuple[int, Any, ast.expr]] = field(default_factory=dict)  # vectors that were spelled, how often

    depths: dict[int, int] = field(default_factory=dict)
    draws: dict[str, None] = field(default_factory=dict)  # who takes part in what was spelled

    def _note_draw(self, clients: Sampling) -> None:
        numbers = {"n": clients.n, "s": clients.s}
        self.draws[describe_clients({name: write(draw_signs(number_tree(k))) for name, k in numbers.items()})] = None

    def depth(self, thing: Any) -> int:
        """Of how many things one after the other something is made."""
        made = getattr(thing, "made", None)
        if made is None or made.how == "leaf":
            return 0
        if id(thing) not in self.depths:
            parts = [p for part in made.parts for p in (part if isinstance(part, tuple) else (part,))]
            inner = [self.depth(part) for part in parts if isinstance(part, Vector | Form)]
            self.depths[id(thing)] = 1 + max(inner, default=0)
        return self.depths[id(thing)]

    # ---- what is written by a name

    def longest_often(self) -> tuple[Any, Any] | None:
        """The longest of the vectors that were spelled several times, with its key."""
        often = {key: tree for key, (count, _, tree) in self.often.items() if count >= OFTEN and key not in self.names}
        found = [(len(write(tree)), key) for key, tree in often.items()]
        length, key = max(found, key=lambda item: item[0], default=(0, None))
        return (key, self.often[key][1]) if length >= LONG else None

    def tree(self, thing: Any, below: tuple[int, ...] | None = None) -> ast.expr:
        """A vector, form or number as a formula; ``below``: of names with a rank below this one."""
        if not isinstance(thing, Vector | Form):
            return draw_signs(number_tree(thing))
        return draw_signs(self._shown(thing, below))

    def _shown(self, thing: Any, below: tuple[int, ...] | None) -> ast.expr:
        if is_nothing(thing):
            return NO_TERM
        named = self.names.get(key_of(thing))
        if named is not None and (below is None or named.rank < below):
            return named.tree
        return self._spelled(thing, below)

    def spelled(self, thing: Any) -> ast.expr:
        """As it was made, by names of its parts."""
        return NO_TERM if is_nothing(thing) else draw_signs(self._spelled(thing, None))

    def _spelled(self, thing: Any, below: tuple[int, ...] | None) -> ast.expr:
        made = getattr(thing, "made", None)
        if made is None:
            return self._by_leaves(thing, below)
        match made:
            case Made("leaf", (str() as name,)):
                return self._leaf(thing, name)
            case Made("gradient", (f, x)):
                return self._call("grad", f, self._shown(x, below))
            case Made("value", (f, x)):
                found: ast.expr = _call(self.function(f), self._shown(x, below))
                return _call("mean", found) if f.client else found
            case Made("mean", (inner,)):
                return _call("bar", self._shown(inner, below))
            case Made("drawn mean", (inner, clients)):
                self._note_draw(clients)
                return _call("drawn_mean", self._shown(inner, below))
            case Made("active", (new, old, clients)):
                self._note_draw(clients)
                return _call("if_active", draw_signs(self._shown(new, below)), draw_signs(self._shown(old, below)))
            case Made("product", (u, v)):
                left = draw_signs(self._shown(u, below))
                same = u is v or key_of(u) == key_of(v) is not None
                found = _call("norm2", left) if same else _call("dot", left, draw_signs(self._shown(v, below)))
                return found if u.common and v.common else _call("mean", found)
        total: ast.expr = NO_TERM
        for factor, part in made.parts:
            total = _join(total, ast.Add(), self._term(factor, part, below))
        if isinstance(thing, Vector) and len(made.parts) > 1 and key_of(thing) is not None:
            count = self.often.get(key_of(thing), (0,))[0]
            self.often[key_of(thing)] = count + 1, thing, draw_signs(total)
        return total

    def _term(self, factor: Any, part: Any, below: tuple[int, ...] | None) -> ast.expr:
        if not isinstance(part, Vector | Form):
            return number_tree(part * factor)
        if factor == 0 or is_nothing(part):
            return NO_TERM
        return _join(number_tree(factor), ast.Mult(), self._shown(part, below))

    def _leaf(self, thing: Any, name: str) -> ast.expr:
        """A leaf by its name; the gradient of a smooth function at a point with a name by function and point."""
        if isinstance(thing, Vector):
            for f in self.world.functions:
                for e in f.evaluations:
                    if f.L is not None and key_of(e.g) == key_of(thing) and key_of(e.x) in self.names:
                        return self._call("grad", f, self.names[key_of(e.x)].tree)
        return ast.Name(symbol(name), ast.Load())

    def _call(self, word: str, f: FunctionOf, x: ast.expr) -> ast.expr:
        return _call(word, ast.Name(self.function(f), ast.Load()), draw_signs(x))

    def function(self, f: FunctionOf) -> str:
        """What a function is called."""
        return self.functions.get(id(f), symbol(f.name))

    def _by_leaves(self, thing: Any, below: tuple[int, ...] | None) -> ast.expr:
        """What was made by other hands: as a combination of leaves, or of their products."""
        if isinstance(thing, Vector):
            return _sum_trees(
                (
                    c,
                    self._shown(Vector({leaf: 1}), below)
                    if key_of(Vector({leaf: 1})) in self.names
                    else self._mean_leaf(leaf),
                )
                for leaf, c in thing.terms.items()
            )
        raise Unwritten("a number was not made by 'dot', 'norm2' and values of functions")

    def _mean_leaf(self, leaf: tuple[str, int]) -> ast.expr:
        part, k = leaf
        name = (self.world.mean if part == "mean" else self.world.deviation)[k]
        own = ast.Name(symbol(name), ast.Load())
        if part == "mean":
            return _call("bar", own) if name in self.world.deviation else own
        return ast.BinOp(own, ast.Sub(), _call("bar", own))

    # ---- lines

    def at_most_zero(self, form: Any) -> ast.expr:
        """``form <= 0``, where what is subtracted stands on the right."""
        sides: tuple[list[ast.expr], list[ast.expr]] = [], []
        for positive, term in self._top(form):
            sides[not positive].append(term)
        left, right = (_sum_trees((1, term) for term in side) for side in sides)
        return ast.Compare(draw_signs(left), [ast.LtE()], [draw_signs(right)])

    def _top(self, form: Any) -> Iterator[tuple[bool, ast.expr]]:
        """The terms of a form with their signs; a sum that stands alone is opened."""
        made = getattr(form, "made", None)
        if not isinstance(form, Form) or made is None or made.how != "sum" or key_of(form) in self.names:
            tree = draw_signs(self._shown(form, None) if isinstance(form, Vector | Form) else number_tree(form))
            if not _is(tree, 0):
                yield split_sign(tree)
            return
        for factor, part in made.parts:
            opened = isinstance(part, Form) and _is_plain(factor, 1, -1)
            for positive, term in (
                self._top(part) if opened else [split_sign(draw_signs(self._term(factor, part, None)))]
            ):
                if not _is(term, 0):
                    yield positive == (not opened or factor == 1), term

    def class_of(self, f: FunctionOf) -> WordLine:
        """A function and its class."""
        of = "of each client " if f.client else ""
        name = ast.Name(self.function(f), ast.Load())
        if f.L is None:
            return (name, f" {of}closed and convex")
        big_l, mu = number_tree(f.L), number_tree(f.mu)
        if f.mu == 0:
            return (name, f" {of}convex and ", big_l, "-smooth")
        if f.mu == -f.L:
            return (name, f" {of}", big_l, "-smooth")
        return (name, f" {of}", mu, "-strongly convex and ", big_l, "-smooth")

    def gradients(self) -> Iterator[WordLine]:
        """Of every evaluation whose gradient is not simply asked for: what it is."""
        for f in self.world.functions:
            kind = "gradient" if f.L is not None else "subgradient"
            for e in f.evaluations:
                asked = getattr(e.g, "made", None)
                if asked is not None and asked.how == "gradient":
                    continue
                g, x = self.tree(e.g), self.tree(e.x)
                name = ast.Name(self.function(f), ast.Load())
                if isinstance(g, ast.Call) and isinstance(g.func, ast.Name) and g.func.id == "grad":
                    continue  # it is written as the gradient that it is
                yield (g, f" is {'the' if f.L is not None else 'a'} {kind} of ", name, " at ", x)


@dataclass(frozen=True)
class WrittenLemma:
    """What a lemma says: its conclusion, names for what stands in it several times, its functions, what is known of gradients, hypotheses by name."""

    said: ast.expr
    names: tuple[ast.expr, ...]
    functions: tuple[WordLine, ...]
    gradients: tuple[WordLine, ...]
    given: tuple[tuple[str, ast.expr], ...]
    noted: tuple[str, ...] = ()  # numbers for which alone it is written so


#: a vector that is written so often, and is so long, has a name of its own
OFTEN, LONG = 2, 14


def write_lemma(lemma: Lemma) -> WrittenLemma:
    """Read the text of a lemma once more, on names."""
    world = WrittenWorld()
    noted: list[str] = []
    numbers, constants = (SimpleNamespace(**found) for found in (generic_numbers(lemma.region, noted), lemma.constants))
    conclusion = lemma.build(world, numbers, constants)
    writer, named = Writer(world), dict[Any, ast.expr]()
    while True:
        writer.often.clear()
        said = writer.at_most_zero(conclusion)
        given = tuple((name, writer.at_most_zero(form)) for name, form in world.hypotheses)
        gradients = tuple(writer.gradients())
        meanings = [writer.tree(writer.names[key].thing, writer.names[key].rank) for key in named]
        longest = writer.longest_often()
        if longest is None:
            names = tuple(
                ast.Compare(tree, [ast.Eq()], [meaning]) for tree, meaning in zip(named.values(), meanings, strict=True)
            )
            functions = tuple(map(writer.class_of, world.functions))
            return WrittenLemma(said, names, functions, gradients, given, tuple(noted))
        key, thing = longest
        named[key] = ast.Name(f"v_{len(named) + 1}", ast.Load())
        writer.names[key] = Name(named[key], (writer.depth(thing), len(named)), thing)


def _call(word: str, *parts: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(word, ast.Load()), list(parts), [])


def _sum_trees(terms: Iterable[tuple[Any, ast.expr]]) -> ast.expr:
    total: ast.expr = NO_TERM
    for factor, term in terms:
        total = _join(total, ast.Add(), _join(number_tree(factor), ast.Mult(), term))
    return total

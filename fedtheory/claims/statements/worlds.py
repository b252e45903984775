"""What a lemma's text is read with: vectors, functions of a class and hypotheses, as symbols of a system or as plain numbers.

The text of a lemma calls ``world.vector``, ``world.function``, ``world.at``, ``world.value``, ``world.assume``, and the products `dot`,
`norm2` and the average over clients `bar`. With `SymbolicWorld` it makes a system (numbers are fractions, or rational functions for
all parameters); with `ConcreteWorld` the same text is run on the coordinates of an instance, and every inequality becomes a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.catalogue import ALGORITHMS
from fedtheory.core.errors import InvalidInput
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver, Memoryless
from fedtheory.proofs.checker.reading import WORDS_OF_A_NAME
from fedtheory.proofs.every_n.cells import cell, entry
from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.vectors import Form, Vector, inner_product
from fedtheory.proofs.function_class import require_worst_case
from fedtheory.proofs.parameters.refutations import ON_THE_LINE, VECTORS, Instance
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.regions.units import OF_POINTS, OF_VALUES, Quantity, Unit, UnitSystem, UnlikeUnits
from fedtheory.proofs.stand_ins import ANY_CLIENTS


def dot(u: Any, v: Any) -> Any:
    """<u, v>; of client vectors, the average over clients."""
    return u.dot(v) if hasattr(type(u), "dot") else inner_product(u, v)


def norm2(u: Any) -> Any:
    """||u||^2; of client vectors, the average over clients."""
    return dot(u, u)


def bar(u: Any) -> Any:
    """The average over clients, as a vector that all of them have."""
    return u.averaged(None)


@dataclass(eq=False)
class FunctionOf:
    """A function of the class of mu-strongly convex, L-smooth functions (L None: not smooth); of every client, or one."""

    name: str
    L: Any
    mu: Any
    client: bool
    evaluations: list[Any] = field(default_factory=list)


class World(Protocol):
    """What the text of a lemma, or of a round, asks for vectors, functions, numbers and hypotheses."""

    def function(self, L: Any = None, mu: Any = 0, *, client: bool = False, name: str = "f") -> FunctionOf:
        """A function of a class."""

    def vector(self, name: str, client: bool = False) -> Any:
        """A vector; ``client``: one of every client."""

    def at(self, f: FunctionOf, x: Any, name: str, g: Any = None) -> tuple[Any, Any]:
        """Gradient, or the subgradient ``g``, and value at a point."""

    def value(self, name: str) -> Any:
        """A number."""

    def assume(self, name: str, form: Any) -> None:
        """A hypothesis ``form <= 0``."""

    def round_of(
        self,
        method: Callable[[LocalSolver], Any],
        state: Callable[..., Any],
        before: Mapping[str, Any],
        answers: Any,
        at: Any = None,
        errors: Any = None,
    ) -> dict[str, Any]:
        """The fields of the state that a method's own round makes of these."""


class Parameters(Protocol):
    """The parameters of a region, by name: fractions, floats, or rational functions for all of them."""

    def __getattribute__(self, name: str, /) -> Any: ...


class LemmaConstants(Protocol):
    """The constants of a lemma, by name."""

    def __getattribute__(self, name: str, /) -> Any: ...


@dataclass(frozen=True)
class GivenAnswers(Memoryless):
    """Local answers that are given."""

    answers: Any

    def __call__(self, sub: Any, start: Any, key: Key, memory: None) -> tuple[Any, None]:
        """They are these."""
        return self.answers, None


@dataclass(frozen=True)
class PlayedRound:
    """A round that a listed method played by its own code: its name, the fields of its state before and after it, and what clients answered."""

    method: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    answers: Any


class _World:
    """What both readings have in common."""

    def __init__(self) -> None:
        self.functions: list[FunctionOf] = []
        self.hypotheses: list[tuple[str, Any]] = []
        self.value_names: list[str] = []
        self.rounds: list[PlayedRound] = []

    def function(self, L: Any = None, mu: Any = 0, *, client: bool = False, name: str = "f") -> FunctionOf:
        """A function: convex for mu = 0, only smooth for mu = -L; ``client``: every client has one, of this class."""
        if not (WORDS_OF_A_NAME.fullmatch(name) and " " not in name) or any(f.name == name for f in self.functions):
            raise InvalidInput(f"a function's name is one word in letters and digits, each once; got {name!r}")
        if L is None and mu != 0:
            raise InvalidInput(
                f"{name} is not smooth, and then mu is 0; let h be convex, and {name} be h + mu/2 norm2(x)"
            )
        self.functions.append(FunctionOf(name, L, mu, client))
        return self.functions[-1]

    def assume(self, name: str, form: Any) -> None:
        """A hypothesis ``form <= 0``."""
        taken = any(known == name for known, _ in self.hypotheses) or any(
            f.name == name.split(maxsplit=1)[0] for f in self.functions
        )
        if not WORDS_OF_A_NAME.fullmatch(name) or taken:
            raise InvalidInput(
                f"a hypothesis has a name of its own, in letters and digits, that starts with no function's; got {name!r}"
            )
        self.hypotheses.append((name, form))

    def round_of(
        self,
        method: Callable[[LocalSolver], Any],
        state: Callable[..., Any],
        before: Mapping[str, Any],
        answers: Any,
        at: Any = None,
        errors: Any = None,
    ) -> dict[str, Any]:
        """The fields of the state that a method's own ``round`` makes of these, where all clients take part and answer so.

        What was played is kept, so that the sentence of a theorem can name the method: of a listed one, whose class has the round.

        Parameters
        ----------
        method : from a local solver to the method
        state : from arrays by name to a state of the method
        before : vectors by the names of its fields
        answers : a vector of every client; of a method without local work, the gradients that it asks for
        at : the point at which it asks for them, optional
        errors : a vector of every client, of what compresses with any unbiased error
        """
        made = method(GivenAnswers(array_of_vectors(answers)))
        require_worst_case(made, noise=True)
        own = state(**{name: array_of_vectors(value) for name, value in before.items()})
        problem = unasked(answers) if at is None else GivenGradients(unasked(answers).n, at, answers, errors)
        reached = type(made).round(made, problem, own, None, Key(0, 0))
        after = {name: vector_of(getattr(reached, name), answers) for name in before}
        if any(entry.kind is type(made) for entry in ALGORITHMS):
            self.rounds.append(PlayedRound(type(made).__name__, dict(before), after, answers))
        return after

    def _value(self, name: str) -> int:
        self.value_names.append(name)
        return len(self.value_names) - 1


@dataclass(frozen=True)
class Unasked:
    """The problem of a round whose oracles nobody asks: a number of clients."""

    n: Any

    def take(self, clients: None) -> Unasked:
        """All of them take part."""
        return self


@dataclass(frozen=True)
class GivenGradients(Unasked):
    """The problem of a round that asks for gradients at one point, and for errors of what is compressed: they are given."""

    point: Any
    gradients: Any
    errors: Any

    def grad(self, x: NDArray[Any]) -> NDArray[Any]:
        """They are these.

        Raises
        ------
        InvalidInput
            It asks at another point.
        """
        if not _is_same(vector_of(x, self.gradients), self.point):
            raise InvalidInput("the method asks for gradients at another point than the one that these are given at")
        return array_of_vectors(self.gradients)

    def unbiased(self, v: NDArray[Any], variance: Any, key: Key) -> NDArray[Any]:
        """Errors of a compressor that is unbiased with this variance (`fedtheory.local.compression.AnyUnbiased`).

        Raises
        ------
        InvalidInput
            None are given.
        """
        if self.errors is None:
            raise InvalidInput("the method compresses, and no errors are given")
        return array_of_vectors(self.errors)


def _is_same(u: Any, v: Any) -> bool:
    if isinstance(u, Vector):
        return all(value == 0 for value in (u - v).terms.values())
    return bool(u.dot(u) - 2 * u.dot(v) + v.dot(v) == 0)


def unasked(beside: Any) -> Any:
    """The problem of a round on vectors of a world; ``beside``: one of every client."""
    return Unasked(ANY_CLIENTS if isinstance(beside, Vector) else len(beside.clients))


def array_of_vectors(u: Any) -> NDArray[Any]:
    """A vector of a world as the array ``(rows, d)`` that a method's round computes with."""
    if isinstance(u, Vector):
        return cell(u, 1 if u.common else ANY_CLIENTS)
    rows = u.clients[:1] if all(row == u.clients[0] for row in u.clients) else u.clients
    found = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        found[k] = row
    return found


def vector_of(x: NDArray[Any], beside: Any) -> Any:
    """The vector of a world that an array of a round is; ``beside``: one of the same world, of every client."""
    if isinstance(beside, Vector):
        return entry(x)
    shape = len(beside.clients), len(beside.clients[0])
    return Concrete(tuple(tuple(row) for row in np.broadcast_to(x, shape)))


class SymbolicWorld(_World):
    """Leaves, evaluations and hypotheses of a system."""

    def __init__(self) -> None:
        super().__init__()
        self.mean: list[str] = []
        self.deviation: list[str] = []

    def fork(self) -> tuple[SymbolicWorld, dict[FunctionOf, FunctionOf]]:
        """A world with all that was said in this one, in which more may be said; and its functions by those of this one."""
        other = SymbolicWorld()
        other.mean, other.deviation, other.value_names = [*self.mean], [*self.deviation], [*self.value_names]
        other.hypotheses = [*self.hypotheses]
        twins = {f: replace(f, evaluations=[*f.evaluations]) for f in self.functions}
        other.functions = [*twins.values()]
        return other, twins

    def vector(self, name: str, client: bool = False) -> Vector:
        """A vector; ``client``: one of every client, so that it has a mean part and a deviation part."""
        if name in self.mean:
            raise InvalidInput(f"two vectors are named {name!r}")
        terms: dict[Any, Any] = {("mean", len(self.mean)): 1}
        self.mean.append(name)
        if client:
            terms["deviation", len(self.deviation)] = 1
            self.deviation.append(name)
        return Vector(terms)

    def at(self, f: FunctionOf, x: Vector, name: str, g: Vector | None = None) -> tuple[Vector, Form]:
        """Gradient (a new vector, or the given one) and value of f at x; of a function that all clients share x must be common."""
        for what, given in (("point", x), ("gradient", g)):
            if not isinstance(given, Vector | None):
                raise InvalidInput(f"the {what} of {name!r} is {given!r} and no vector; zero is v*0 of any vector v")
        if not f.client and not (x.common and (g is None or g.common)):
            raise InvalidInput(
                f"{f.name!r} is one function for all clients, and {name!r} is at points that differ; take bar(x), or client=True"
            )
        slope = self.vector(name, f.client) if g is None else g
        value = self._value(name)
        f.evaluations.append(Evaluation(x, slope, value))
        return slope, Form(values={value: 1})

    def value(self, name: str) -> Form:
        """A number that nothing but hypotheses bounds, such as an infimum."""
        return Form(values={self._value(name): 1})

    def system(self, conclusion: Form) -> System:
        """What the text has stated."""
        if not isinstance(conclusion, Form):
            raise InvalidInput(
                f"a lemma's text returns the left side of its conclusion, form <= 0; got {type(conclusion).__name__}"
            )
        functions = tuple(Function(f.name, tuple(f.evaluations), f.L, f.mu) for f in self.functions)
        return System(
            tuple(self.mean),
            tuple(self.deviation),
            len(self.value_names),
            tuple(self.hypotheses),
            functions,
            conclusion,
        )


@dataclass(frozen=True)
class Concrete:
    """A vector of every client as plain coordinates: fractions, or numbers with units."""

    clients: tuple[tuple[Any, ...], ...]

    def __add__(self, other: Any) -> Concrete:
        if not isinstance(other, Concrete):
            return self if other == 0 else NotImplemented
        pairs = zip(self.clients, other.clients, strict=True)
        return Concrete(tuple(tuple(a + b for a, b in zip(u, v, strict=True)) for u, v in pairs))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Concrete:
        difference: Concrete = self + -other
        return difference

    def __neg__(self) -> Concrete:
        return self * -1

    def __rsub__(self, other: Any) -> Concrete:
        difference: Concrete = -self + other
        return difference

    def __mul__(self, factor: Any) -> Concrete:
        return Concrete(tuple(tuple(a * factor for a in u) for u in self.clients))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Concrete:
        return self * (1 / (Fraction(divisor) if isinstance(divisor, int) else divisor))

    def dot(self, other: Concrete) -> Fraction:
        """The average over clients of inner products."""
        products = [
            sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))
            for u, v in zip(self.clients, other.clients, strict=True)
        ]
        return sum(products, Fraction(0)) / len(products)

    def averaged(self, clients: None = None) -> Concrete:
        """The average over clients."""
        n = len(self.clients)
        mean = tuple(sum(column, Fraction(0)) / n for column in zip(*self.clients, strict=True))
        return Concrete((mean,) * n)


class ConcreteWorld(_World):
    """The coordinates and values of an instance, given out in the order in which the text asks."""

    def __init__(self, instance: Instance) -> None:
        super().__init__()
        self.instance = instance
        self._mean = self._deviation = 0
        rows = len(instance.mean[0]) if instance.mean else 0
        self._width = rows, len(instance.deviation[0]) if instance.deviation else 0

    def vector(self, name: str, client: bool = False) -> Concrete:
        """The next leaf: of two clients, the mean plus and minus the deviation, which has coordinates of its own."""
        mean = tuple(self.instance.mean[self._mean])
        self._mean += 1
        deviation = (Fraction(0),) * self._width[1]
        if client:
            deviation = tuple(self.instance.deviation[self._deviation])
            self._deviation += 1
        if not self.instance.deviation:
            return Concrete((mean,))
        return Concrete(((*mean, *deviation), (*mean, *(-a for a in deviation))))

    def take_all(self, mean: int, deviation: int, values: int) -> None:
        """So many leaves and values were read from the instance elsewhere."""
        self._mean, self._deviation, self.value_names = mean, deviation, [f"value {k}" for k in range(values)]

    def at(self, f: FunctionOf, x: Concrete, name: str, g: Concrete | None = None) -> tuple[Concrete, Fraction]:
        """Gradient and value of f at x."""
        slope = self.vector(name, f.client) if g is None else g
        value = self.instance.values[self._value(name)]
        f.evaluations.append((x, slope, value))
        return slope, value

    def value(self, name: str) -> Fraction:
        """The next value."""
        return self.instance.values[self._value(name)]

    def broken(self) -> list[str]:
        """Hypotheses and interpolation inequalities, of each client, that the instance does not meet."""
        found = [name for name, left in self.hypotheses if left > 0]
        for f in self.functions:
            if f.L is not None and not (f.L > 0 and -f.L <= f.mu < f.L):
                found.append(f"the class of {f.name}")
            for i, (xi, gi, fi) in enumerate(f.evaluations):
                for j, (xj, gj, fj) in enumerate(f.evaluations):
                    if i != j:
                        for k in range(len(xi.clients)):
                            dx = [a - b for a, b in zip(xi.clients[k], xj.clients[k], strict=True)]
                            dg = [a - b for a, b in zip(gi.clients[k], gj.clients[k], strict=True)]
                            if _excess(f, fj - fi, gj.clients[k], dx, dg) > 0:
                                found.append(f"{f.name} {i} {j}, client {k}")
        return found + self._not_as_said()

    def _not_as_said(self) -> list[str]:
        """What the instance says of itself and is not so: that all of it is used, and that its functions are quadratics with these curvatures."""
        given = self.instance
        used = (self._mean, self._deviation, len(self.value_names))
        found = [] if used == tuple(map(len, (given.mean, given.deviation, given.values))) else ["the lemma's size"]
        if (given.kind == VECTORS) != (not self.functions):
            return [*found, f"its kind, {given.kind!r}"]
        if len(given.curvatures) != (len(self.functions) if given.kind == ON_THE_LINE else 0):
            return [*found, f"the number of curvatures of {given.kind}"]
        if given.kind != ON_THE_LINE:
            return found
        for f, h in zip(self.functions, given.curvatures, strict=True):
            if h < f.mu or (f.L is not None and h > f.L):
                found.append(f"the class of {f.name}, with the curvature {h}")
            for k in range(max((len(x.clients) for x, _, _ in f.evaluations), default=0)):
                lines = {_line(x.clients[k], g.clients[k], value, h) for x, g, value in f.evaluations}
                found += [f"the curvature {h} of {f.name}, client {k}"] if len(lines) > 1 else []
        return found


class UnitWorld(_World):
    """Numbers that carry units: the points and values of the first function have those of lengths and values, what else there is has unknown ones.

    A vector is one coordinate of one client; its numbers mean nothing.
    """

    def __init__(self, system: UnitSystem) -> None:
        super().__init__()
        self.system = system
        self._of: dict[str, tuple[Unit, Unit]] = {}

    def function(self, L: Any = None, mu: Any = 0, *, client: bool = False, name: str = "f") -> FunctionOf:
        """A function; a constant that is a plain number says in which units the lemma is."""
        made = super().function(L, mu, client=client, name=name)
        units = Unit.of(f"[points of {name}]"), Unit.of(f"[values of {name}]")
        self._of[name] = (OF_POINTS, OF_VALUES) if len(self.functions) == 1 else units
        points, values = self._of[name]
        for word, constant in (("L", L), ("mu", mu)):
            if isinstance(constant, Quantity):
                self._require(f"{word} of the function {name}", constant, values / points**2)
            elif constant:
                self.system.forget(values / points**2)
        return made

    def vector(self, name: str, client: bool = False) -> Concrete:
        """A vector of unknown unit."""
        return Concrete(((self.system.quantity(f"[{name}]", Fraction(1, 3 + len(name))),),))

    def at(self, f: FunctionOf, x: Concrete, name: str, g: Concrete | None = None) -> tuple[Concrete, Any]:
        """Gradient and value of f at x."""
        points, values = self._of[f.name]
        slope = self.vector(name, f.client) if g is None else g
        for vector, unit, what in ((x, points, "a point"), (slope, values / points, "a gradient")):
            ((entry,),) = vector.clients
            if isinstance(entry, Quantity):
                self._require(f"{what} of {f.name}, {name!r},", entry, unit)
        return slope, self.system.quantity(f"[{name}]", Fraction(1, 7), values)

    def value(self, name: str) -> Quantity:
        """A number of unknown unit."""
        return self.system.quantity(f"[{name}]", Fraction(2, 7))

    def _require(self, what: str, value: Quantity, unit: Unit) -> None:
        if not self.system.equate(value.unit, unit):
            found, expected = self.system.find(value.unit), self.system.find(unit)
            raise UnlikeUnits(f"{what} is {found}, and {expected} was expected")


def _line(x: Sequence[Fraction], g: Sequence[Fraction], value: Fraction, h: Fraction) -> tuple[Any, ...]:
    """What is left of a gradient and a value without the square: (b, c) of (h/2) ||x||^2 + <b, x> + c."""
    slope = tuple(a - h * b for a, b in zip(g, x, strict=True))
    return slope, value - sum((h / 2 * b * b + s * b for s, b in zip(slope, x, strict=True)), Fraction(0))


def _excess(
    f: FunctionOf, rise: Fraction, g: Sequence[Fraction], dx: Sequence[Fraction], dg: Sequence[Fraction]
) -> Any:
    """f_j - f_i + <g_j, dx> + (||dg||^2 + mu L ||dx||^2 - 2 mu <dg, dx>)/(2 (L - mu)), at most zero in the class."""

    def dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
        return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))

    total = rise + dot(g, dx)
    if f.L is None:
        return total
    return total + (dot(dg, dg) + f.mu * f.L * dot(dx, dx) - 2 * f.mu * dot(dg, dx)) / (2 * (f.L - f.mu))

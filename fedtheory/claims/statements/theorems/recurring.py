"""That the state after any state is any state again: what a function that plays states takes of the first one, every round must leave.

A state that is played stands for all states: its vectors are combinations of leaves, some of which are gradients. Leaves are found for which its
fields are those of a state that was reached. Where there are none, as where a gradient is not asked for anew, a line about any state is refused.
What does not depend on the fields, such as points inside of the round that follows, and hypotheses that are assumed by name, are supposed of
every round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.worlds import FunctionOf, SymbolicWorld
from fedtheory.core.errors import CannotTrace
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.vectors import Form, Vector, divide, inner_product
from fedtheory.proofs.parameters.field import RationalFunction

_SIDES = {"S": "mean", "Q": "deviation"}


class RoundsDiffer(CannotTrace):
    """The second round that a function plays was not shown to be the first one again."""


def require_state_again(
    pattern: tuple[SymbolicWorld, Mapping[str, Any]], reached: tuple[SymbolicWorld, Mapping[str, Any]], what: str
) -> None:
    """See that a state, of one world, is what a state of any round, of another world, may be.

    Raises
    ------
    CannotTrace
        It was not shown; the message names the field, or the gradient.
    """
    _Match(pattern[0], reached[0], what).all_fields(pattern[1], reached[1])


@dataclass
class _Rows:
    """Linear equations of one part, mean or deviation: leaves on the left, a vector on the right, in reduced form by their pivots."""

    found: dict[int, tuple[dict[int, Any], Vector]] = field(default_factory=dict)

    def reduce(self, left: Mapping[int, Any], right: Vector) -> tuple[dict[int, Any], Vector]:
        """Without the leaves that are pivots."""
        left = dict(left)
        for leaf in [leaf for leaf in left if leaf in self.found]:
            factor = left[leaf]
            own, value = self.found[leaf]
            left = _combine(left, own, -factor)
            right = right - value * factor
        return left, right

    def add(self, left: Mapping[int, Any], right: Vector) -> bool:
        """Take an equation; False where it contradicts what is known."""
        left, right = self.reduce(left, right)
        if not left:
            return is_zero_vector(right)
        pivot = min(left)
        share = divide(1, left[pivot])
        own, value = {leaf: c * share for leaf, c in left.items()}, right * share
        self.found = {
            leaf: (_combine(row, own, -row[pivot]), at - value * row[pivot]) if pivot in row else (row, at)
            for leaf, (row, at) in self.found.items()
        }
        self.found[pivot] = own, value
        return True

    def value(self, left: Mapping[int, Any]) -> Vector | None:
        """What a combination of leaves is; None where that is not known."""
        rest, right = self.reduce(left, Vector({}))
        return None if rest else -right


def _combine(left: Mapping[int, Any], other: Mapping[int, Any], factor: Any) -> dict[int, Any]:
    total = dict(left)
    for leaf, c in other.items():
        total[leaf] = total.get(leaf, 0) + c * factor
    return {leaf: c for leaf, c in total.items() if c != 0}


def is_zero_vector(v: Vector) -> bool:
    """Whether all coefficients vanish."""
    return all(c == 0 for c in v.terms.values())


def _part(v: Vector, part: str) -> dict[int, Any]:
    return {leaf: c for (kind, leaf), c in v.terms.items() if kind == part and c != 0}


def _only(v: Vector, part: str) -> Vector:
    return Vector({key: c for key, c in v.terms.items() if key[0] == part})


@dataclass
class _Match:
    """Leaves and values of the pattern, as vectors and forms of the world that was reached."""

    pattern: SymbolicWorld
    reached: SymbolicWorld
    what: str
    rows: dict[str, _Rows] = field(default_factory=lambda: {"mean": _Rows(), "deviation": _Rows()})
    values: dict[int, Form] = field(default_factory=dict)

    def all_fields(self, pattern: Mapping[str, Any], reached: Mapping[str, Any]) -> None:
        """Vectors first, then gradients at points that are known, one after the other, then numbers."""
        both = [name for name in pattern if name in reached]
        for name in both:
            if isinstance(pattern[name], Vector):
                self._equate(pattern[name], reached[name], f"the vector {name}")
        self._functions()
        waiting = [(f, own, e) for f, own in self._pairs() for e in f.evaluations]
        while waiting:
            ready = next((k for k, row in enumerate(waiting) if self._follow(*row)), None)
            if ready is None:
                ready = next((k for k, row in enumerate(waiting) if self._follow_back(*row)), None)
            if ready is None:
                break
            del waiting[ready]
        for name in both:
            if isinstance(pattern[name], Form):
                self._equate_numbers(pattern[name], reached[name], name)
            elif (
                isinstance(pattern[name], int | float | Fraction | RationalFunction) and pattern[name] != reached[name]
            ):
                raise CannotTrace(f"it was not shown that {self.what} the number {name}, as it is taken of any state")

    def _pairs(self) -> Iterator[tuple[FunctionOf, FunctionOf]]:
        own = {f.name: f for f in self.reached.functions}
        return ((f, own[f.name]) for f in self.pattern.functions if f.name in own)

    def _functions(self) -> None:
        for f, own in self._pairs():
            if f.client != own.client or any(_differ(a, b) for a, b in ((f.L, own.L), (f.mu, own.mu))):
                raise CannotTrace(f"the class of {f.name} is another one in the next round")

    def _equate(self, left: Vector, right: Any, what: str) -> None:
        if not isinstance(right, Vector):
            raise CannotTrace(f"it was not shown that {self.what} {what}: the next state has no such vector")
        for part, rows in self.rows.items():
            if not rows.add(_part(left, part), _only(right, part)):
                raise CannotTrace(f"it was not shown that {self.what} {what}, as it is taken of any state")

    def _image(self, v: Vector) -> Vector | None:
        total = Vector({})
        for part, rows in self.rows.items():
            found = rows.value(_part(v, part))
            if found is None:
                return None
            total = total + found
        return total

    def _follow(self, f: FunctionOf, own: FunctionOf, e: Evaluation) -> bool:
        """Match a gradient at a point that is known with one of the world that was reached; False where the point is not known."""
        x = self._image(e.x)
        if x is None:
            return False
        g = self._image(e.g)
        there = [other for other in own.evaluations if is_zero_vector(other.x - x)]
        same = next((other for other in there if g is None or is_zero_vector(other.g - g)), None)
        if same is None and g is None and f.L is not None:
            self.reached.at(own, x, f"asked again {len(self.reached.mean)}")
            same = own.evaluations[-1]
        if same is None:
            kind = "gradient" if f.L is not None else "subgradient"
            raise CannotTrace(f"it was not shown that {self.what} the {kind} of {f.name} that is taken of any state")
        self._equate(e.g, same.g, f"a gradient of {f.name}")
        self.values[e.value] = Form(values=same.values())
        return True

    def _follow_back(self, f: FunctionOf, own: FunctionOf, e: Evaluation) -> bool:
        """Match a gradient that is known with the point where it is one; False where it is not known, either."""
        g = self._image(e.g)
        if g is None:
            return False
        same = next((other for other in own.evaluations if is_zero_vector(other.g - g)), None)
        if same is None:
            raise CannotTrace(
                f"it was not shown that {self.what} a point where {f.name} has the gradient that is taken"
            )
        self._equate(e.x, same.x, f"a point of {f.name}")
        self.values[e.value] = Form(values=same.values())
        return True

    def _equate_numbers(self, left: Form, right: Any, name: str) -> None:
        """A number of the state; one that nothing else bounds becomes what it has to be."""
        rest = (right if isinstance(right, Form) else Form(constant=right)) - self._image_of(left, name)
        new = {v: c for v, c in left.values.items() if v not in self.values}
        if len(new) == 1:
            ((value, factor),) = new.items()
            self.values[value] = rest * divide(1, factor)
        elif new or any(c != 0 for c in (*rest.gram.values(), *rest.values.values(), rest.constant)):
            raise CannotTrace(f"it was not shown that {self.what} the number {name}, as it is taken of any state")

    def _image_of(self, form: Form, name: str) -> Form:
        """A form in leaves and values that are known, without the others."""
        total = Form(constant=form.constant)
        for (matrix, i, j), c in form.gram.items():
            u, v = (self._image(Vector({(_SIDES[matrix], leaf): 1})) for leaf in (i, j))  # type: ignore[dict-item]
            if u is None or v is None:
                raise CannotTrace(
                    f"it was not shown that {self.what} the number {name}: it depends on what is no field"
                )
            total = total + inner_product(u, v) * c
        for value, c in form.values.items():
            if value in self.values:
                total = total + self.values[value] * c
        return total


def _differ(a: Any, b: Any) -> bool:
    return (a is None) != (b is None) or (a is not None and a != b)

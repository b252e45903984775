"""What is given of all rounds and bounds f from below: it holds of some function through the points of an instance, at every point.

Through points x_k with gradients g_k and values f_k passes, if an L-smooth function does at all, one whose least value is
min_k f_k - ||g_k||^2/(2 L) (Drori and Shamir 2020, Theorem 7). So instances are asked for such values at all of their points, and checked client by
client. The average of convex functions is least where it is stationary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fedtheory.claims.statements.theorems.states import StateTrace
from fedtheory.claims.statements.worlds import FunctionOf
from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.vectors import Form


@dataclass(frozen=True)
class LowerBound:
    """``number <= factor f(x)`` at the points x of all rounds, f the average of a function over clients; the number is one in all rounds."""

    function: Function
    number: Form
    factor: Fraction

    @property
    def why(self) -> str:
        """Who says that it holds at every point."""
        if self.function.mu >= 0:
            return "f is least where it is stationary"
        return "by the least value of some function through these points (Drori and Shamir 2020, Theorem 7)"

    def conditions(self, trace: StateTrace) -> Iterator[Form]:
        """What instances are asked for, on average over clients: forms that are at most zero."""
        big_l = self.function.L
        if big_l is not None and self.function.mu < 0:
            for e in self.function.evaluations:
                below = Form(values=e.values()) - trace.space.dot(e.g, e.g) / (2 * big_l)
                yield self.number - below * self.factor

    def is_met(self, values: Sequence[Fraction], functions: Iterable[FunctionOf]) -> bool:
        """Whether the functions of an instance may be nowhere below, each client's at its own least value."""
        number = self.number.constant + sum(c * values[k] for k, c in self.number.values.items())
        (own,) = (one for one in functions if one.name == self.function.name)
        if own.mu >= 0:
            stationary = [f for _, g, f in own.evaluations if not any(map(sum, zip(*g.clients, strict=True)))]
            return any(number <= self.factor * f for f in stationary)
        clients = range(len(own.evaluations[0][1].clients))
        least = [
            min(f - sum(a * a for a in g.clients[i]) / (2 * own.L) for _, g, f in own.evaluations) for i in clients
        ]
        return bool(number <= self.factor * sum(least) / len(least))


def find_lower_bound(rounds: Sequence[Form], functions: Iterable[Function]) -> LowerBound | None:
    """A hypothesis read as a bound of a function from below, from its left side less right side in each round; None where it is none."""
    for function in functions:
        if function.shared or not (function.mu >= 0 or -function.mu == function.L):
            continue
        found = [_read_bound(form, function) for form in rounds]
        first = found[0] if found else None
        if first is not None and all(one is not None and _is_equal(one, first) for one in found):
            return first
    return None


def _read_bound(form: Form, function: Function) -> LowerBound | None:
    """number - factor f(x), at one of the function's points."""
    at = [e for e in function.evaluations if e.minus is None and form.values.get(e.value, 0) < 0]
    if len(at) != 1 or any(form.gram.values()):
        return None
    factor = -form.values[at[0].value]
    return LowerBound(function, form + Form(values=at[0].values()) * factor, factor)


def _is_equal(one: LowerBound, other: LowerBound) -> bool:
    gap = one.number - other.number
    return one.factor == other.factor and not gap.constant and not any(gap.values.values())

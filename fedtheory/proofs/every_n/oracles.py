"""A class of functions with exchangeable clients as a problem: oracles that note what was asked and answer with new vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import CannotTrace
from fedtheory.core.problem import Pooled
from fedtheory.proofs.every_n.cells import AnyRows, cell, entry
from fedtheory.proofs.every_n.vectors import Form, Lost, Number, Vector, plain_number, square
from fedtheory.proofs.stand_ins import ANY_CLIENTS, ANY_DIMENSION

UNCERTAIN = (
    "f would have to be evaluated at a point that depends on who takes part; with some of the clients a round the worst "
    "case for every n follows one round: use rounds=1, a potential, or the program of one n"
)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One point of a function, its gradient, and the number of its value; or of two values whose difference it is."""

    x: Vector
    g: Vector
    value: int
    minus: int | None = None

    def values(self) -> dict[int, Number]:
        """The value as coefficients."""
        if self.minus is None:
            return {self.value: 1}
        return {} if self.minus == self.value else {self.value: 1, self.minus: -1}


class Leaves:
    """Counts the leaves and values that a trace introduces; ``origins`` notes, by mean leaf, its deviation leaf and what it depends on."""

    def __init__(self) -> None:
        self.mean = 0
        self.deviation = 0
        self.values = 0
        self.origins: dict[int, tuple[int | None, tuple[Vector, ...]]] = {}

    def vector(self, *depends: Vector, common: bool = False) -> Vector:
        """A new vector: a mean leaf, and a deviation leaf unless it is common to all clients."""
        terms: dict[Any, Number] = {("mean", self.mean): 1}
        self.origins[self.mean] = (None if common else self.deviation, depends)
        self.mean += 1
        if not common:
            terms[("deviation", self.deviation)] = 1
            self.deviation += 1
        return Vector(terms)

    def deviation_only(self) -> Vector:
        """A new vector that averages to zero."""
        self.deviation += 1
        return Vector({("deviation", self.deviation - 1): 1})

    def value(self) -> int:
        """A new value."""
        self.values += 1
        return self.values - 1


class SymmetricProblem:
    """All members of a class with exchangeable clients, as a problem whose points are `Vector`s in arrays of one entry.

    Oracles: gradients, proximal steps, gradients of the conjugates (minimisers of a linearly shifted f_i), vectors that are only known to
    be short, errors of unbiased answers, and, where ``noise`` makes them, noisy gradients. What is asked for twice is answered by the same vector.
    ``one_solution``: local problems are taken to have one solution, as for strongly convex functions, whatever mu. ``n``: the number of clients,
    a number where it is stated.
    """

    name = "function class, any number of clients"
    d: Any = ANY_DIMENSION

    def __init__(
        self,
        leaves: Leaves,
        mu: Number,
        regulariser: SharedRegulariser | None = None,
        noise: Callable[[], Vector] | None = None,
        *,
        one_solution: bool = False,
        n: Any = ANY_CLIENTS,
    ) -> None:
        self.n = n
        self.leaves = leaves
        self.mu = mu
        self.one_solution = one_solution
        self.regulariser = regulariser
        self.evaluations: list[Evaluation] = []
        self.conditions: list[tuple[str, Form]] = []  # ``form <= 0`` by name: what oracles promise beyond the class
        self.noisy_grad = None if noise is None else self._noisy_grad
        self._noise = noise
        self._seen: dict[frozenset[Any], Evaluation] = {}
        self._answers: dict[Any, Vector] = {}
        self.errors: list[Vector] = []  # of unbiased answers
        self.uncertain: list[Evaluation] = []  # values at points that depend on who takes part

    def _each(self, vector: Vector) -> AnyRows:
        """One vector of every client."""
        return cell(vector, self.n)

    def at(self, x: Vector) -> Evaluation:
        """Evaluate f_i at x."""
        if not x.certain:
            raise CannotTrace(UNCERTAIN)
        key = frozenset(x.terms.items())
        if key not in self._seen:
            self.add(x, self.leaves.vector(x))
        return self._seen[key]

    def value_at(self, x: Vector) -> Evaluation:
        """Evaluate f_i at x, of which the value alone is known, on average over who takes part, where x depends on that."""
        if x.certain:
            return self.at(x)
        known = [e for e in self.uncertain if not (e.x - x).terms]
        if not known:
            self.uncertain.append(Evaluation(x, Lost(UNCERTAIN), self.leaves.value()))
        return known[0] if known else self.uncertain[-1]

    def add(self, x: Vector, g: Vector) -> Evaluation:
        """Note that g is the gradient of f_i at x."""
        made = Evaluation(x, g, self.leaves.value())
        self.evaluations.append(made)
        self._seen[frozenset(x.terms.items())] = made
        return made

    def grad(self, x: Any) -> NDArray[Any]:
        """Gradients."""
        point = entry(x)
        return self._each(self.at(point).g if point.certain else Lost(UNCERTAIN))

    def value(self, x: Any) -> NDArray[Any]:
        """Mean value, as a form ``(1,)``."""
        return _mean_value(self.at(entry(x)))

    def prox(self, v: Any, step: Any) -> NDArray[Any]:
        """Proximal steps: x = v - step g with g the gradient at x; one that is known (v = x + step grad f_i(x)) is recognised.

        Recognising it keeps the program's multipliers finite: the two points would have to coincide without the program saying so.
        """
        step = plain_number(step)
        if step * -self.mu < 1:  # the minimiser is unique
            for known in self.evaluations:
                if not (entry(v) - known.x - known.g * step).terms:
                    return self._each(known.x)
        g = self.leaves.vector(entry(v))
        x = entry(v) - g * step
        self.add(x, g)
        return self._each(x)

    def conjugate_grad(self, y: Any) -> NDArray[Any]:
        """The points at which the gradients are y; one that is known is recognised where it is the only one."""
        if self.mu > 0 or self.one_solution:
            for known in self.evaluations:
                if not (entry(y) - known.g).terms:
                    return self._each(known.x)
        x = self.leaves.vector(entry(y))
        self.add(x, entry(y))
        return self._each(x)

    def short(self, asked: Sequence[Any], limit: Any) -> NDArray[Any]:
        """Vectors e_i with ||e_i||^2 <= ``limit``, a number, or ||e_i|| <= ||limit_i||; the same answer whenever the same is ``asked``.

        ``asked`` holds vectors and numbers. A bound on every client and a bound on the mean over clients allow the same: in the program
        all clients are alike. What is no longer than a vector that vanishes is zero.
        """
        if isinstance(limit, np.ndarray) and not entry(limit).terms:
            return self._each(Vector({}))
        vectors = [entry(x) for x in asked if isinstance(x, np.ndarray)]
        key = (*(frozenset(v.terms.items()) for v in vectors), *(x for x in asked if not isinstance(x, np.ndarray)))
        if key not in self._answers:
            self._answers[key] = e = self.leaves.vector(*vectors)
            most = square(entry(limit)) if isinstance(limit, np.ndarray) else Form(constant=limit)
            self.conditions.append(("accuracy", square(e) - most))
        return self._each(self._answers[key])

    def unbiased(self, asked: Any, variance: Number, key: Any) -> NDArray[Any]:
        """Errors e_i with E e_i = 0 and E ||e_i||^2 <= variance ||asked_i||^2, independent of what was before.

        Each client draws anew in each round. Points are then random, and their inner products are expectations
        (`fedtheory.proofs.every_n.noise`). Of n independent errors ||mean e||^2 is on average the n-th part of mean ||e_i||^2; where n is not
        stated it is any number from 2 on.
        """
        u = entry(asked)
        drawn = ("unbiased", str(key.round), key.heading, frozenset(u.terms.items()))
        if not u.terms or drawn in self._answers:
            return self._each(self._answers.get(drawn, Vector({})))
        known = {"S": self.leaves.mean, "Q": self.leaves.deviation}
        self._answers[drawn] = e = self.leaves.vector(u)
        (_, mean), (_, deviation) = e.terms
        name = f"noise of compression {len(self.errors)}"
        self.errors.append(e)
        self.conditions.append((f"{name}, variance", square(e) - square(u) * variance))
        stated = isinstance(self.n, int)
        shared = Form({("S", mean, mean): self.n if stated else 2}) - square(e)
        self.conditions.append((f"{name}, clients", shared))
        zero = [
            Form({(matrix, k, own): 1}) for matrix, own in (("S", mean), ("Q", deviation)) for k in range(known[matrix])
        ]
        zero += [shared] if stated else []
        for form in zero:
            self.conditions += [(f"{name}, independent", form), (f"{name}, independent, below", -form)]
        return self._each(e)

    def _noisy_grad(self, x: Any, key: Any, q: int) -> NDArray[Any]:
        """Gradients plus fresh noise of local step q; every course of the coins sees the same."""
        assert self._noise is not None
        g = entry(self.grad(x))
        drawn = (str(key.round), key.heading, q, frozenset(entry(x).terms.items()))
        if drawn not in self._answers:
            self._answers[drawn] = self._noise()
        return self._each(g + self._answers[drawn])

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)

    def take(self, clients: Any) -> SymmetricProblem:
        """Any clients are like all of them, but for their number, s of a `Sampling`; what is asked of some is known of all."""
        if clients is None:
            return self
        some = copy(self)
        some.n = clients.s
        some.noisy_grad = None if self._noise is None else some._noisy_grad
        return some


class SharedRegulariser:
    """Any closed convex function h that all clients share, or the indicator of any closed convex set; met by its proximal steps."""

    numeric_only = None

    def __init__(self, leaves: Leaves, *, indicator: bool) -> None:
        self.leaves = leaves
        self.evaluations: list[Evaluation] = []
        self._level = leaves.value() if indicator else None
        self._seen: dict[frozenset[Any], Evaluation] = {}

    def add(self, x: Vector, g: Vector) -> Evaluation:
        """Note that g is a subgradient at x; an indicator has one value."""
        if not x.certain:
            raise CannotTrace(UNCERTAIN.replace("f ", "the regulariser ", 1))
        made = Evaluation(x, g, self.leaves.value() if self._level is None else self._level)
        self.evaluations.append(made)
        self._seen[frozenset(x.terms.items())] = made
        return made

    def at(self, x: Vector) -> Evaluation:
        """Evaluate at x, which then lies in the domain."""
        known = self._seen.get(frozenset(x.terms.items()))
        return self.add(x, self.leaves.vector(x, common=x.common)) if known is None else known

    def prox(self, v: Any, step: Any) -> NDArray[Any]:
        """Proximal steps x = v - step g, g a subgradient at x; where the points are common to all clients, so are the answers."""
        step = plain_number(step)
        for known in self.evaluations:
            if not (entry(v) - known.x - known.g * step).terms:
                return cell(known.x, v.rows)
        g = self.leaves.vector(entry(v), common=entry(v).common)
        x = entry(v) - g * step
        self.add(x, g)
        return cell(x, v.rows)

    def value(self, x: Any) -> NDArray[Any]:
        """Mean value, as a form ``(1,)``."""
        return _mean_value(self.at(entry(x)))


def _mean_value(evaluation: Evaluation) -> NDArray[Any]:
    found = np.empty(1, dtype=object)
    found[0] = Form(values={evaluation.value: 1})
    return found

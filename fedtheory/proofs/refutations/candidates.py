"""Functions in fractions made from what a program says, and moved and scaled until every assumption holds exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import Row
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.refutations.coordinates import WorstData
from fedtheory.proofs.refutations.envelopes import Envelope, array_of, exact_product
from fedtheory.proofs.refutations.instances import lowest_value

Start = Mapping[str, list[Row]]  # fields of a state by name: one vector, or one a client


@dataclass(frozen=True, eq=False)
class Candidate:
    """Functions of a class, and a start."""

    functions: Envelope
    start: Start

    def scaled(self, factor: Fraction) -> Candidate:
        """All points, and gradients, times a factor."""
        moved = {name: [[factor * v for v in row] for row in rows] for name, rows in self.start.items()}
        return Candidate(self.functions.scaled(factor), moved)

    def trimmed(self) -> Candidate:
        """Without coordinates that are zero everywhere."""
        rows = [v for client in self.functions.triples for x, g, _ in client for v in (x, g)]
        rows += [row for field in self.start.values() for row in field]
        used = [k for k in range(self.functions.d) if any(row[k] for row in rows)] or [0]

        def cut(row: Row) -> Row:
            return [row[k] for k in used]

        made = {id(c): tuple((cut(x), cut(g), f) for x, g, f in c) for c in self.functions.triples}
        triples = tuple(made[id(c)] for c in self.functions.triples)
        start = {name: [cut(row) for row in field] for name, field in self.start.items()}
        return Candidate(replace(self.functions, triples=triples), start)


def build_candidate(
    data: WorstData, function_class: FunctionClass, n: int, denominator: int, *, mirrored: bool
) -> Candidate:
    """The functions through rounded triples, whatever they are: members of the class as far as L and mu go.

    Parameters
    ----------
    denominator : of the coordinates, in natural sizes
    mirrored : whether the functions are to be bounded below
    """
    rounded = data.rounded(denominator, n)
    alike = not rounded.rows["Q"] or not rounded.rows["Q"][0]
    each = []
    for i in range(1 if alike else n):
        each.append(
            tuple((rounded.place(e.x, i), rounded.place(e.g, i), rounded.values[e.value]) for e in data.evaluations)
        )
    functions = Envelope(
        tuple(each) * n if alike else tuple(each), Fraction(function_class.L), Fraction(function_class.mu), mirrored
    )
    start = {name: [rounded.place(v, i) for i in range(1 if v.common else n)] for name, v in data.start.items()}
    return Candidate(functions, start).trimmed()


def with_minimiser(candidate: Candidate, function_class: FunctionClass) -> Candidate:
    """The same plus a linear term, so that the origin is the minimiser of f; and no heterogeneity where zeta is zero."""
    functions = candidate.functions
    slopes = [list(row) for row in functions.grad(array_of([[Fraction(0)] * functions.d]))]
    if function_class.zeta != 0:
        slopes = [[sum(column, Fraction(0)) / functions.n for column in zip(*slopes, strict=True)]]
    return replace(candidate, functions=functions.moved(slopes))


def within_radius(candidate: Candidate, function_class: FunctionClass, radius: Fraction, denominator: int) -> Candidate:
    """The same, scaled down until ||x^0|| <= R and mean_i ||grad f_i(0)||^2 <= zeta^2; functions with x* = 0."""
    functions, (x0,) = candidate.functions, candidate.start["x"]
    share = min(Fraction(1), radius**2 / exact_product(x0, x0)) if any(x0) else Fraction(1)
    if function_class.zeta:
        slopes = functions.grad(array_of([[Fraction(0)] * functions.d]))
        apart = sum((exact_product(list(g), list(g)) for g in slopes), Fraction(0)) / functions.n
        if apart > 0:
            share = min(share, Fraction(function_class.zeta) ** 2 / apart)
    return _shrunk(candidate, share, denominator)


def within_height(candidate: Candidate, radius: Fraction, denominator: int) -> Candidate:
    """The same, scaled down until f(x^0) - inf f <= R.

    Raises
    ------
    SolverFailed
        The infimum is not known.
    """
    functions = candidate.functions
    try:
        low = lowest_value(functions.triples, functions.L, functions.mu)
    except Refused as error:
        raise SolverFailed(str(error)) from error
    values = functions.value(array_of(candidate.start["x"]))
    height = sum(values, Fraction(0)) / functions.n - low
    return _shrunk(candidate, min(Fraction(1), radius / height) if height > 0 else Fraction(1), denominator)


def _shrunk(candidate: Candidate, share: Fraction, denominator: int) -> Candidate:
    """Scaled by the square root of a share, from below."""
    if share >= 1:
        return candidate
    factor = Fraction(isqrt(share.numerator * denominator**2 // share.denominator), denominator)
    if factor == 0:
        raise SolverFailed("the functions would have to be scaled down to nothing")
    return candidate.scaled(factor)


class Recorded:
    """Functions that note every triple that is asked for."""

    def __init__(
        self, functions: Any, log: list[dict[tuple[Fraction, ...], tuple[Row, Fraction]]] | None = None
    ) -> None:
        self.functions = functions
        self.n, self.d, self.name = functions.n, functions.d, functions.name
        self.log: list[dict[tuple[Fraction, ...], tuple[Row, Fraction]]] = (
            [{} for _ in range(self.n)] if log is None else log
        )

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)

    def _note(self, x: Any) -> None:
        rows = list(x) * self.n if len(x) == 1 and self.n > 1 else list(x)
        if all(tuple(row) in log for row, log in zip(rows, self.log, strict=True)):
            return
        points = np.array(rows, dtype=object)
        gradients, values = self.functions.grad(points), self.functions.value(points)
        for row, g, f, log in zip(rows, gradients, values, self.log, strict=True):
            log[tuple(Fraction(v) for v in row)] = (list(g), f)

    def grad(self, x: Any) -> Any:
        """Gradients."""
        self._note(x)
        return self.functions.grad(x)

    def value(self, x: Any) -> Any:
        """Values."""
        self._note(x)
        return self.functions.value(x)

    def prox(self, v: Any, step: Any) -> Any:
        """Proximal steps; the points that they lead to are noted."""
        found = self.functions.prox(v, step)
        self._note(found)
        return found

    def conjugate_grad(self, y: Any) -> Any:
        """Gradients of the conjugates; the points that they are are noted."""
        found = self.functions.conjugate_grad(y)
        self._note(found)
        return found

    def take(self, clients: Clients | None) -> Any:
        """Restrict to the clients that take part, whose triples go on being noted."""
        if clients is None:
            return self
        return Recorded(self.functions.take(clients), [self.log[int(i)] for i in clients.index])

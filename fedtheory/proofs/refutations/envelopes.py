"""Worst-case functions with rational data, as a problem that methods run on in fractions.

Whatever the triples (x_j, g_j, f_j), the smooth envelope through them (`fedtheory.proofs.interpolation`) is a member of the class, so that triples
may be rounded freely: what rounding changes is how far a bound is exceeded, never membership. Written by duality it is

    f(x) = (mu/2) ||x||^2 + max_{lam in simplex} sum_j lam_j (o_j + <q_j, x>) - ||sum_j lam_j q_j||^2 / (2 l),   l = L - mu,
    q_j = g_j - mu x_j,   o_j = f_j - (mu/2) ||x_j||^2 - ||q_j||^2 / (2 l) - <q_j, x_j - q_j / l>.

Its *mirror image* -(the envelope of the negated data in the class from -L to -mu) is another member,

    f(x) = (L/2) ||x||^2 - max_{lam in simplex} (the same with q_j = L x_j - g_j and -f_j),

which is bounded below where mu < 0 and the envelope is not. Every oracle is a quadratic program over a simplex. A solver guesses which lam_j are
positive, and the guess is verified in fractions; where it is wrong the program is solved by an active-set method in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.exact import Row, reduce_rows
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.proofs.interpolation import guess_simplex_weights

Triple = tuple[Row, Row, Fraction]  # a point, the gradient there, the value there


def exact_product(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """The inner product."""
    return sum((p * q for p, q in zip(a, b, strict=True) if p and q), Fraction(0))


def combine(weights: Sequence[Fraction], vectors: Sequence[Sequence[Fraction]], d: int) -> Row:
    """The linear combination of some vectors of length d."""
    used = [(w, v) for w, v in zip(weights, vectors, strict=True) if w]
    return [sum((w * v[k] for w, v in used), Fraction(0)) for k in range(d)]


def rows_of(x: Any, n: int) -> list[Row]:
    """A point for each of n clients, from an array ``(n, d)`` or ``(1, d)``."""
    if x.ndim > 2:
        raise InvalidInput("functions in fractions are run one run at a time; x must have shape (n, d) or (1, d)")
    rows = [[Fraction(v) for v in row] for row in x]
    return rows * n if len(rows) == 1 and n > 1 else rows


def array_of(rows: Sequence[Sequence[Fraction]]) -> NDArray[Any]:
    """Rows of fractions as an array of objects."""
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        out[i, :] = row
    return out


@dataclass(frozen=True, eq=False)
class Envelope:
    """N clients' functions, each the envelope through its own triples, or its mirror image.

    Parameters
    ----------
    triples : for each client, its triples
    L, mu : Fraction
        The class; mu < L.
    mirrored : bool
    """

    triples: tuple[tuple[Triple, ...], ...]
    L: Fraction
    mu: Fraction
    mirrored: bool = False
    name = "rational worst case"

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.triples)

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return len(self.triples[0][0][0])

    @property
    def _curvature(self) -> Fraction:
        """Of the quadratic that the maximum is added to or taken from."""
        return self.L if self.mirrored else self.mu

    @property
    def _sign(self) -> int:
        return -1 if self.mirrored else 1

    @cached_property
    def _pieces(self) -> list[tuple[list[Row], Row, list[Row]]]:
        """Slopes q_j, offsets o_j, and the Gram matrix of the slopes, for each client; clients of one function share them."""
        made: dict[int, tuple[list[Row], Row, list[Row]]] = {}
        return [made[id(c)] if id(c) in made else made.setdefault(id(c), self._pieces_of(c)) for c in self.triples]

    def _pieces_of(self, triples: Sequence[Triple]) -> tuple[list[Row], Row, list[Row]]:
        l, c, sign = self.L - self.mu, self._curvature, self._sign
        slopes = [[sign * (b - c * a) for a, b in zip(x, g, strict=True)] for x, g, _ in triples]
        offsets = [
            sign * (f - c / 2 * exact_product(x, x)) + exact_product(q, q) / (2 * l) - exact_product(q, x)
            for (x, _, f), q in zip(triples, slopes, strict=True)
        ]
        return slopes, offsets, [[exact_product(a, b) for b in slopes] for a in slopes]

    def _weights(self, client: int, centre: Row, kappa: Fraction) -> tuple[Row, Row]:
        """The maximiser of  sum_j lam_j level_j - (kappa/2) ||sum_j lam_j q_j||^2  over the simplex, and the levels o_j + <q_j, centre>."""
        slopes, offsets, gram = self._pieces[client]
        level = [o + exact_product(q, centre) for q, o in zip(slopes, offsets, strict=True)]
        return maximise_on_simplex([[kappa * v for v in row] for row in gram], level), level

    def _each(self, x: Any, one: Callable[[int, Row], Any]) -> list[Any]:
        """Answers of all clients; those with one function at one point are computed once."""
        known: dict[Any, Any] = {}
        found = []
        for i, row in enumerate(rows_of(x, self.n)):
            key = (id(self.triples[i]), tuple(row))
            if key not in known:
                known[key] = one(i, row)
            found.append(known[key])
        return found

    def _slope(self, client: int, centre: Row, kappa: Fraction) -> Row:
        """The combination of slopes at the maximiser."""
        return combine(self._weights(client, centre, kappa)[0], self._pieces[client][0], self.d)

    def grad(self, x: Any) -> NDArray[Any]:
        """Gradients ``(n, d)``."""
        kappa, c, sign = 1 / (self.L - self.mu), self._curvature, self._sign
        return array_of(
            self._each(
                x, lambda i, row: [c * a + sign * b for a, b in zip(row, self._slope(i, row, kappa), strict=True)]
            )
        )

    def value(self, x: Any) -> NDArray[Any]:
        """Values ``(n,)``."""
        kappa, c, sign = 1 / (self.L - self.mu), self._curvature, self._sign

        def one(i: int, row: Row) -> Fraction:
            weights, level = self._weights(i, row, kappa)
            slope = combine(weights, self._pieces[i][0], self.d)
            return c / 2 * exact_product(row, row) + sign * (
                exact_product(weights, level) - kappa / 2 * exact_product(slope, slope)
            )

        return np.array(self._each(x, one), dtype=object)

    def prox(self, v: Any, step: Any) -> NDArray[Any]:
        """argmin_x f_i(x) + ||x - v_i||^2 / (2 step): ``(n, d)``.

        For fixed lam the minimiser is (w v -+ slope) / (c + w), w = 1/step, which leaves a program of the same form.
        """
        w, c, sign = 1 / Fraction(step), self._curvature, self._sign
        if self.mu + w <= 0:
            raise InvalidInput(f"step={step} is too large: the subproblem needs step < 1/|mu| with mu={self.mu}")
        kappa = 1 / (self.L - self.mu) + sign / (c + w)

        def one(i: int, row: Row) -> Row:
            centre = [w * a / (c + w) for a in row]
            return [a - sign * b / (c + w) for a, b in zip(centre, self._slope(i, centre, kappa), strict=True)]

        return array_of(self._each(v, one))

    def conjugate_grad(self, y: Any) -> NDArray[Any]:
        """argmax_x <x, y_i> - f_i(x): ``(n, d)``, for mu > 0."""
        if self.mu <= 0:
            raise InvalidInput(f"gradients of conjugates need strongly convex functions (mu > 0), got mu={self.mu}")
        c, sign = self._curvature, self._sign
        kappa = 1 / (self.L - self.mu) + sign / c

        def one(i: int, row: Row) -> Row:
            centre = [a / c for a in row]
            return [a - sign * b / c for a, b in zip(centre, self._slope(i, centre, kappa), strict=True)]

        return array_of(self._each(y, one))

    def take(self, clients: Clients | None) -> Envelope:
        """Restrict to the clients that take part."""
        return self if clients is None else replace(self, triples=tuple(self.triples[int(i)] for i in clients.index))

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)

    def moved(self, slopes: Sequence[Row]) -> Envelope:
        """With <slope_i, x> taken from f_i; one slope stands for all clients."""
        each = list(slopes) * self.n if len(slopes) == 1 else slopes
        return self._changed(
            lambda i, x, g, f: (x, [a - b for a, b in zip(g, each[i], strict=True)], f - exact_product(each[i], x)),
            alike=len(slopes) == 1,
        )

    def scaled(self, factor: Fraction) -> Envelope:
        """factor^2 f_i(x / factor)."""
        return self._changed(
            lambda i, x, g, f: ([factor * v for v in x], [factor * v for v in g], factor * factor * f), alike=True
        )

    def without(self, piece: int) -> Envelope:
        """With one triple less of every client."""
        made = {id(c): tuple(t for k, t in enumerate(c) if k != piece) for c in self.triples}
        return replace(self, triples=tuple(made[id(c)] for c in self.triples))

    def _changed(self, change: Callable[[int, Row, Row, Fraction], Triple], *, alike: bool) -> Envelope:
        """Every triple changed; clients that share a function go on sharing it where the change is alike for all."""
        made: dict[int, tuple[Triple, ...]] = {}
        found = []
        for i, client in enumerate(self.triples):
            if not alike or id(client) not in made:
                made[id(client)] = tuple(change(i, *triple) for triple in client)
            found.append(made[id(client)])
        return replace(self, triples=tuple(found))


def maximise_on_simplex(gram: Sequence[Row], level: Row) -> Row:
    """The maximiser of  level . lam - lam . gram lam / 2  over the simplex, gram positive semidefinite, in fractions.

    Raises
    ------
    SolverFailed
        The method did not come to an end, which exact arithmetic excludes.
    """
    count = len(level)
    try:
        guess = guess_simplex_weights(np.array(gram, dtype=float), np.array(level, dtype=float))
        support = [int(j) for j in np.flatnonzero(guess > 1e-7)]
        found = _stationary(gram, level, support)
        if found is not None and min(found) >= 0 and _entering(gram, level, found, support) is None:
            return found
    except (SolverFailed, OverflowError):
        pass
    first = max(range(count), key=lambda j: level[j] - gram[j][j] / 2)
    support, lam = [first], [Fraction(j == first) for j in range(count)]
    for _ in range(100 * (count + 1)):
        target = _stationary(gram, level, support)
        if (
            target is None
        ):  # the newest piece is an affine combination of the others: the maximum rises linearly along it
            target = _along_dependence(gram, level, lam, support)
        if min(target) >= 0:
            lam = target
            new = _entering(gram, level, lam, support)
            if new is None:
                return lam
            support = [*support, new]
            continue
        share, leaving = min((lam[j] / (lam[j] - target[j]), j) for j in support if target[j] < 0)
        lam = [a + share * (b - a) for a, b in zip(lam, target, strict=True)]
        support = [j for j in support if j != leaving]
    raise SolverFailed("a quadratic program over a simplex was not solved in fractions")


def _stationary(gram: Sequence[Row], level: Row, support: Sequence[int]) -> Row | None:
    """The stationary point on the affine hull of a support; None where it is not unique."""
    k = len(support)
    rows = [[*(gram[a][b] for b in support), Fraction(1), level[a]] for a in support]
    table, pivots = reduce_rows([*rows, [Fraction(1)] * k + [Fraction(0), Fraction(1)]], k + 1)
    if len(pivots) <= k:
        return None
    lam = [Fraction(0)] * len(level)
    for j, row in zip(support, table, strict=False):
        lam[j] = row[-1]
    return lam


def _entering(gram: Sequence[Row], level: Row, lam: Row, support: Sequence[int]) -> int | None:
    """The piece along which the objective rises fastest; None at the maximum."""
    used = [j for j in range(len(lam)) if lam[j]]
    rise = [level[j] - sum((gram[j][k] * lam[k] for k in used), Fraction(0)) for j in range(len(level))]
    best = max((j for j in range(len(level)) if j not in support), key=lambda j: rise[j], default=None)
    return None if best is None or rise[best] <= max(rise[j] for j in support) else best


def _along_dependence(gram: Sequence[Row], level: Row, lam: Row, support: Sequence[int]) -> Row:
    """Weights beyond the simplex along the direction that does not change the combination of slopes and raises the level."""
    *old, new = support
    k = len(old)
    rows = [[*(gram[a][b] for b in old), Fraction(1), -gram[a][new]] for a in old]
    table, _ = reduce_rows([*rows, [Fraction(1)] * k + [Fraction(0), Fraction(-1)]], k + 1)
    direction = [Fraction(0)] * len(level)
    direction[new] = Fraction(1)
    for j, row in zip(old, table, strict=False):
        direction[j] = row[-1]
    far = 1 + max(lam[j] / -direction[j] for j in old if direction[j] < 0)
    return [a + far * b for a, b in zip(lam, direction, strict=True)]

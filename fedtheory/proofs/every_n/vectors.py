"""Exchangeable clients: vectors that stand for all clients at once, whatever their number.

When clients are exchangeable, a client-indexed vector is a combination of leaves of two kinds: *mean* leaves e, common to all clients, and
*deviation* leaves delta_i, which sum to zero over the clients. A program whose data are inner products of such vectors needs one Gram
matrix S of the mean leaves and one, Q, of the deviations, averaged over clients:

    mean_i <u_i, v_i> = u_m^T S v_m + u_d^T Q v_d .

It is then valid for every number of clients n >= 2 at once: the average over clients keeps the mean part, and n is nowhere else.

One round of uniform sampling (s of n clients) is followed exactly. With B_i = 1{i takes part} - s/n, v = (s/n)(1 - s/n), what a round can
build up from leaves is

    u_i = m + d_i + B_i (p + r_i) + (1/n) sum_j B_j q_j + B_i (1/n) sum_j B_j z_j ,

and expectations of inner products close: E B_i^2 = v, E B_i B_j = -v/(n-1), B_i^2 = v + (1 - 2 s/n) B_i and sum_i B_i = 0, so that with
`Sampling` every quadratic quantity is again a combination of entries of S and Q. Here n enters, as a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from fedtheory.core.errors import CannotTrace, InvalidInput

LeafPart = Literal["mean", "deviation", "sampled mean", "sampled deviation", "server noise", "sampled noise"]
Number = Any  # float or Fraction


@dataclass(frozen=True)
class Sampling:
    """Uniform participation of s of n clients; passed to a round in the place of the clients that take part.

    Whole numbers, or rational functions of parameters that are at least 1 and 2 on their region.

    Examples
    --------
    >>> print(Sampling(n=10, s=3))  # three of ten clients
    Sampling(n=10, s=3)
    """

    n: int
    s: int

    index = None  # what an array of one client axis is indexed with does not matter
    present = None

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if not 1 <= self.s <= self.n or self.n < 2:
            raise InvalidInput(f"expected 1 <= s <= n and n >= 2 for s of n clients; got s={self.s}, n={self.n}")

    @property
    def variance(self) -> Number:
        """V = (s/n)(1 - s/n), of one client's indicator; exact."""
        share = divide(self.s, self.n)
        return share * (1 - share)


class Vector:
    """A vector of every client: coefficients on leaves, by part."""

    __slots__ = ("terms",)
    terms: dict[tuple[LeafPart, int], Number]

    def __init__(self, terms: Mapping[tuple[LeafPart, int], Number]) -> None:
        self.terms = dict(terms)

    def __add__(self, other: Any) -> Vector:
        """Sum of vectors; the number zero is the zero vector."""
        if not isinstance(other, Vector):
            if isinstance(other, int | float) and other == 0:
                return self
            return NotImplemented
        terms = dict(self.terms)
        for key, value in other.terms.items():
            total = terms.get(key, 0) + value
            if total == 0:
                terms.pop(key, None)
            else:
                terms[key] = total
        return Vector(terms)

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Vector:
        """Multiply by a number."""
        if isinstance(factor, Vector):
            return NotImplemented
        factor = plain_number(factor)
        return Vector({key: value * factor for key, value in self.terms.items()} if factor != 0 else {})

    __rmul__ = __mul__

    def __neg__(self) -> Vector:
        """The opposite."""
        return Vector({key: -value for key, value in self.terms.items()})

    def __sub__(self, other: Any) -> Vector:
        """Difference."""
        difference: Vector = self + (-other)
        return difference

    def __rsub__(self, other: Any) -> Vector:
        """Difference from a number, which must be zero."""
        difference: Vector = (-self) + other
        return difference

    def __truediv__(self, divisor: Any) -> Vector:
        """Divide by a number; whole numbers keep fractions exact."""
        divisor = plain_number(divisor)
        return self * (Fraction(1, divisor) if isinstance(divisor, int) else 1 / divisor)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what other libraries ask anything for, such as SymPy's numbers
            raise AttributeError(name)
        raise CannotTrace(
            f"the worst case for every n follows linear combinations, gradients and proximal steps only, and the round asks a vector for {name!r}"
        )

    @property
    def common(self) -> bool:
        """Whether it is the same vector for every client (a server quantity)."""
        return all(part in ("mean", "server noise") for part, _ in self.terms)

    @property
    def certain(self) -> bool:
        """Whether it does not depend on who takes part."""
        return all(part in ("mean", "deviation") for part, _ in self.terms)

    def averaged(self, clients: Sampling | None) -> Vector:
        """Average over all clients, or over those that take part."""
        if clients is None:
            return _relabel(self, {"mean": "mean", "sampled deviation": "server noise", "server noise": "server noise"})
        # sum_i (B_i + s/n) u_i / s, with (B_i + s/n) B_i = (1 - s/n) (B_i + s/n) and sum_i d_i = sum_i B_i = 0
        away = 1 - divide(clients.s, clients.n)
        noise = (
            _relabel(self, {"deviation": "server noise"}) + _relabel(self, {"sampled deviation": "server noise"}) * away
        )
        common = (
            _relabel(self, {"mean": "mean", "server noise": "server noise"})
            + _relabel(self, {"sampled mean": "mean", "sampled noise": "server noise"}) * away
        )
        average: Vector = common + noise * divide(clients.n, clients.s)
        return average

    def scattered(self, clients: Sampling, new: Vector) -> Vector:
        """``new`` for the clients that take part, this vector for the others."""
        if isinstance(new, Lost):
            return new
        change = new - self
        if any(part.startswith("sampled") for part, _ in change.terms):
            return Lost(
                "a client's quantity was updated, for the active clients, by one that depends on whether it takes part, and then used; several "
                "rounds under sampling need a potential, not an unrolled horizon"
            )
        expected: Vector = self + change * divide(clients.s, clients.n)
        of_active: dict[str, LeafPart] = {
            "mean": "sampled mean",
            "deviation": "sampled deviation",
            "server noise": "sampled noise",
        }
        return expected + _relabel(change, of_active)


class Lost(Vector):
    """A vector that is not followed: what is computed from it is lost as well, and a quantity of the program that needs it is refused."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    @property
    def terms(self) -> Any:  # type: ignore[override]
        """Refused."""
        raise CannotTrace(self.reason)

    def _lost(self, *others: Any) -> Lost:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = _lost

    def averaged(self, clients: Sampling | None) -> Lost:
        """Lost."""
        return self

    def scattered(self, clients: Sampling, new: Vector) -> Vector:
        """Lost: those that do not take part keep it."""
        return self


def plain_number(number: Any) -> Number:
    """A Python number, from a NumPy scalar, an array of one entry, or SymPy's fraction.

    Raises
    ------
    CannotTrace
        It is several values, or a number of SymPy that is no fraction, such as a square root: exact arithmetic here is that of fractions.
    """
    if isinstance(number, np.ndarray):
        if number.size != 1:
            raise CannotTrace(
                f"the worst case for every n takes one value of each hyper-parameter, got an array of shape {number.shape}"
            )
        number = number.reshape(-1)[0]
    if getattr(number, "is_Rational", False):
        return Fraction(int(number.p), int(number.q))
    if hasattr(number, "free_symbols"):
        raise CannotTrace(f"exact programs are made of fractions, and the round multiplies a vector by {number}")
    return number.item() if isinstance(number, np.generic) else number


def divide(a: Number, b: Number) -> Number:
    """A quotient; exact for whole numbers."""
    return Fraction(a, b) if isinstance(a, int) and isinstance(b, int) else a / b


def _relabel(vector: Vector, parts: Mapping[str, LeafPart]) -> Vector:
    found: dict[tuple[LeafPart, int], Number] = {}
    for (part, leaf), value in vector.terms.items():
        if part in parts:
            key = (parts[part], leaf)
            found[key] = found.get(key, 0) + value
    return Vector({key: value for key, value in found.items() if value != 0})


class Form:
    """A linear functional of (S, Q, values): coefficients of the entries of the Gram matrices, of the values, and a constant.

    ``gram``: ``{("S" or "Q", i, j): coefficient}`` with i <= j, for the sum of coefficient * entry (off-diagonal entries once).
    """

    __slots__ = ("constant", "gram", "values")

    def __init__(
        self,
        gram: Mapping[tuple[str, int, int], Number] | None = None,
        values: Mapping[int, Number] | None = None,
        constant: Number = 0,
    ) -> None:
        self.gram = dict(gram or {})
        self.values = dict(values or {})
        self.constant = constant

    def __add__(self, other: Form | Number) -> Form:
        """Sum with a form or a number."""
        if not isinstance(other, Form):
            return Form(self.gram, self.values, self.constant + other)
        return Form(_sum(self.gram, other.gram), _sum(self.values, other.values), self.constant + other.constant)

    __radd__ = __add__

    def __mul__(self, factor: Number) -> Form:
        """Multiply by a number."""
        return Form(
            {key: value * factor for key, value in self.gram.items()},
            {key: value * factor for key, value in self.values.items()},
            self.constant * factor,
        )

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> Form:
        share: Form = self * divide(1, divisor)
        return share

    def __neg__(self) -> Form:
        return self * -1

    def __sub__(self, other: Form | Number) -> Form:
        difference: Form = self + (-other)
        return difference

    def __rsub__(self, other: Number) -> Form:
        difference: Form = (-self) + other
        return difference


def _sum(a: Mapping[Any, Number], b: Mapping[Any, Number]) -> dict[Any, Number]:
    total = dict(a)
    for key, value in b.items():
        total[key] = total.get(key, 0) + value
    return {key: value for key, value in total.items() if value != 0}


def inner_product(u: Vector, v: Vector, sampling: Sampling | None = None) -> Form:
    """E mean_i <u_i, v_i> as a form."""
    a, b = _by_part(u), _by_part(v)
    pairs: list[tuple[str, Mapping[int, Number], Mapping[int, Number], Number]] = [
        ("S", a["mean"], b["mean"], 1),
        ("Q", a["deviation"], b["deviation"], 1),
    ]
    if not (u.certain and v.certain):
        if sampling is None:
            raise CannotTrace("an expectation over who takes part was asked for without the numbers s and n")
        w, n = sampling.variance, sampling.n
        apart = w / (n - 1)
        turn = apart * (1 - 2 * divide(sampling.s, n))
        pairs += [
            ("S", a["sampled mean"], b["sampled mean"], w),
            ("Q", a["sampled deviation"], b["sampled deviation"], w),
            ("Q", a["server noise"], b["server noise"], apart),
            ("Q", a["sampled deviation"], b["server noise"], apart),
            ("Q", a["server noise"], b["sampled deviation"], apart),
            ("Q", a["sampled noise"], b["sampled noise"], w * apart),
            ("Q", a["sampled noise"], b["deviation"], apart),
            ("Q", a["deviation"], b["sampled noise"], apart),
            ("Q", a["sampled noise"], b["sampled deviation"], turn),
            ("Q", a["sampled deviation"], b["sampled noise"], turn),
        ]
    found: dict[tuple[str, int, int], Number] = {}
    for matrix, left, right, weight in pairs:
        for i, x in left.items():
            for j, y in right.items():
                key = (matrix, min(i, j), max(i, j))
                found[key] = found.get(key, 0) + weight * x * y
    return Form({key: value for key, value in found.items() if value != 0})


def square(u: Vector, sampling: Sampling | None = None) -> Form:
    """E mean_i ||u_i||^2 as a form."""
    return inner_product(u, u, sampling)


def inner_product_apart(u: Vector, v: Vector, n: int | None) -> Form:
    """The mean of <u_i, v_j> over pairs of different clients: the deviations enter by -1/(n-1), for every n (None) by its limit zero.

    Conditions on a function that clients share are linear in these; with the condition for i = j, those of one n imply those of every
    larger one, so that the limit is what holds for every n, and no number of clients allows more.
    """
    share = 0 if n is None else -divide(1, n - 1)
    form = inner_product(u, v)
    return Form(
        {key: value if key[0] == "S" else value * share for key, value in form.gram.items() if key[0] == "S" or share}
    )


def _by_part(u: Vector) -> dict[str, dict[int, Number]]:
    parts: dict[str, dict[int, Number]] = {
        "mean": {},
        "deviation": {},
        "sampled mean": {},
        "sampled deviation": {},
        "server noise": {},
        "sampled noise": {},
    }
    for (part, leaf), value in u.terms.items():
        parts[part][leaf] = value
    return parts

"""The terms of a lemma's text: what it adds up, and how a change of one of them changes a conclusion or a hypothesis.

A text that is read with `WorldOfTerms` returns its forms with their *terms*: the summands of every sum, each times the factors that stand before
the sum, so that a form with k times one term in its place is ``form + (k - 1) * term``.
"""

from __future__ import annotations

from typing import Any

from fedtheory.claims.statements.worlds import FunctionOf, SymbolicWorld
from fedtheory.proofs.every_n.vectors import Form, Number, Sampling, Vector, divide, inner_product


class WrittenForm(Form):
    """A form with the terms of its text; ``open``: it is a sum as it stands, and what is added to it becomes one summand more."""

    __slots__ = ("open", "terms")

    def __init__(self, form: Form, terms: tuple[Form, ...] = (), open: bool = False) -> None:
        super().__init__(form.gram, form.values, form.constant)
        self.terms, self.open = terms, open

    def __add__(self, other: Form | Number) -> WrittenForm:
        """Sum with a form or a number."""
        if not isinstance(other, Form) and other == 0:
            return self
        return WrittenForm(super().__add__(other), (*_summands(self), *_summands(other)), open=True)

    __radd__ = __add__

    def __mul__(self, factor: Number) -> WrittenForm:
        """Multiply by a number: the sum is closed, and its terms have the factor."""
        return WrittenForm(super().__mul__(factor), tuple(term * factor for term in self.terms))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> WrittenForm:
        share: WrittenForm = self * divide(1, divisor)
        return share

    def __neg__(self) -> WrittenForm:
        return WrittenForm(super().__mul__(-1), tuple(term * -1 for term in self.terms), self.open)

    def __sub__(self, other: Form | Number) -> WrittenForm:
        difference: WrittenForm = self + (-other)
        return difference

    def __rsub__(self, other: Form | Number) -> WrittenForm:
        return -self + other


def _summands(x: Form | Number) -> tuple[Form, ...]:
    if not isinstance(x, Form):
        return (Form(constant=x),)
    plain = Form(x.gram, x.values, x.constant)
    if not isinstance(x, WrittenForm):
        return (plain,)
    return x.terms if x.open else (plain, *x.terms)


class WrittenVector(Vector):
    """A vector whose products are written forms."""

    __slots__ = ()

    def dot(self, other: Vector) -> WrittenForm:
        """<u, v>, as `fedtheory.claims.statements.worlds.dot` asks for it."""
        return WrittenForm(inner_product(self, other))

    def __add__(self, other: Any) -> Any:
        """Sum of vectors."""
        return _written(super().__add__(other))

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Any:
        """Multiply by a number."""
        return _written(super().__mul__(factor))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return _written(super().__neg__())

    def averaged(self, clients: Sampling | None) -> Any:
        """Average over the clients."""
        return _written(super().averaged(clients))


def _written(vector: Any) -> Any:
    return WrittenVector(vector.terms) if type(vector) is Vector else vector


class WorldOfTerms(SymbolicWorld):
    """A symbolic world whose forms know their terms."""

    def vector(self, name: str, client: bool = False) -> Vector:
        """A vector; ``client``: one of every client."""
        return WrittenVector(super().vector(name, client).terms)

    def at(self, f: FunctionOf, x: Vector, name: str, g: Vector | None = None) -> tuple[Vector, Form]:
        """Gradient and value of f at x."""
        slope, value = super().at(f, x, name, g)
        return slope, WrittenForm(value)

    def value(self, name: str) -> Form:
        """A number that nothing but hypotheses bounds."""
        return WrittenForm(super().value(name))

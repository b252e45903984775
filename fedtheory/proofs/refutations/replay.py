"""Run the method of a stored refutation on its functions: in fractions on a table of the stored triples, and in floats."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.exact import Row, in_floats, rational
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.proofs.certificates.questions import load_class, load_method, load_participation, store_object
from fedtheory.proofs.checker.reading import read_number
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.interpolation import Interpolated
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.refutations.asked import Asked, AskedBound, AskedDecrease, start_arrays
from fedtheory.proofs.refutations.envelopes import array_of, rows_of
from fedtheory.proofs.refutations.instances import Stored, check_instance, read_clients, read_start

#: how far a run in floats may be from one in fractions, relatively: their oracles are quadratic programs, degenerate where triples repeat each other
FLOATS = 1e-3


class TripleTable:
    """Functions that are known at their triples only, as a problem: what is asked for is looked up, exactly.

    A proximal step from v is the stored point x with x + step g = v, the only one where step < 1/|mu|; a gradient of the conjugate at y is the
    stored point with g = y.
    """

    name = "stored triples"

    def __init__(self, clients: list[list[Stored]], mu: Fraction) -> None:
        self.clients, self.mu = clients, mu
        self.n, self.d = len(clients), len(clients[0][0][0])

    def _find(self, rows: list[Row], fits: Any) -> list[Stored]:
        found = []
        for row, triples in zip(rows, self.clients, strict=True):
            at = next((t for t in triples if fits(t, row)), None)
            if at is None:
                raise Refused("the run asks the functions at a point at which the refutation has no triple")
            found.append(at)
        return found

    def grad(self, x: Any) -> NDArray[Any]:
        """Gradients ``(n, d)``."""
        return array_of([g for _, g, _ in self._find(rows_of(x, self.n), lambda t, row: t[0] == row)])

    def value(self, x: Any) -> NDArray[Any]:
        """Values ``(n,)``."""
        return np.array([f for *_, f in self._find(rows_of(x, self.n), lambda t, row: t[0] == row)], dtype=object)

    def prox(self, v: Any, step: Any) -> NDArray[Any]:
        """Proximal steps ``(n, d)``."""
        step = Fraction(step)
        if step * -self.mu >= 1:
            raise Refused(f"a proximal step of size {step} has no unique answer")

        def fits(t: Stored, row: Row) -> bool:
            return all(a + step * b == c for a, b, c in zip(t[0], t[1], row, strict=True))

        return array_of([x for x, *_ in self._find(rows_of(v, self.n), fits)])

    def conjugate_grad(self, y: Any) -> NDArray[Any]:
        """Points ``(n, d)`` with the gradients y."""
        if self.mu <= 0:
            raise Refused("gradients of conjugates are unique for strongly convex functions only")
        return array_of([x for x, *_ in self._find(rows_of(y, self.n), lambda t, row: t[1] == row)])

    def take(self, clients: Clients | None) -> TripleTable:
        """Restrict to the clients that take part."""
        return self if clients is None else TripleTable([self.clients[int(i)] for i in clients.index], self.mu)

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)


def replay_exactly(data: Mapping[str, Any], method: Algorithm | None = None) -> Fraction:
    """Check the functions and run the method on them in fractions; what it reaches is what the refutation says, and more than is claimed.

    Parameters
    ----------
    method : Algorithm, optional
        One that is not part of fedtheory; otherwise the method is made from its name.

    Raises
    ------
    Refused
        A check fails.
    """
    check_instance(data)
    asked = _asked(data, method)
    clients, start = read_clients(data), read_start(data)
    if isinstance(asked, AskedDecrease):
        broken = asked.broken_relation(start)
        if broken is not None:
            raise Refused(f"the state does not satisfy the relation {broken}, which rounds keep")
    try:
        reached = asked.reached(TripleTable(clients, Fraction(asked.function_class.mu)), start_arrays(start))
    except (FedtheoryError, ArithmeticError, TypeError) as error:
        raise Refused(f"the method does not run on the stored functions: {error}") from error
    if Fraction(reached) != read_number(data["reached"]):
        raise Refused(f"the run reaches {reached}, and the refutation says {data['reached']}")
    return Fraction(reached)


def replay_in_floats(data: Mapping[str, Any], method: Algorithm | None = None) -> float:
    """Run the method on the smooth functions through the stored triples with floats; what it reaches.

    Raises
    ------
    Refused
        It is not what the refutation says, up to rounding.
    """
    asked = in_floats(_asked(data, method))
    clients = read_clients(data)
    most = max(len(triples) for triples in clients)
    padded = [triples + [triples[-1]] * (most - len(triples)) for triples in clients]
    instance = Interpolated(
        points=np.array([[x for x, _, _ in triples] for triples in padded], dtype=float),
        grads=np.array([[g for _, g, _ in triples] for triples in padded], dtype=float),
        values=np.array([[f for *_, f in triples] for triples in padded], dtype=float),
        L=float(asked.function_class.L),
        mu=float(asked.function_class.mu),
    )
    start = {name: np.array(rows, dtype=float) for name, rows in read_start(data).items()}
    reached, said = float(asked.reached(instance, start)), float(read_number(data["reached"]))
    if not abs(reached - said) <= FLOATS * abs(said):
        raise Refused(f"the run in floats reaches {reached:.9g}, and the refutation says {said:.9g}")
    return reached


def _asked(data: Mapping[str, Any], method: Algorithm | None) -> Asked:
    """The question of a refutation."""
    question = data["question"]
    if method is not None and store_object(method) != question["method"]:
        raise Refused("the refutation is for another method or other hyper-parameters than those given")
    made = load_method(question["method"]) if method is None else rational(method)
    given, who = load_class(question["functions"]), load_participation(question["participation"])
    if question["kind"] == "decrease":
        weights = {str(name): read_number(w) for name, w in question["potential"].items()}
        return AskedDecrease(made, given, weights, who)
    find_measure(question["measure"])
    return AskedBound(made, given, int(question["rounds"]), question["measure"], read_number(question["radius"]), who)

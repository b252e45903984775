"""FedSLR's own code, played: on the line in fractions and in floats, on functions of which nothing is known, and with known mistakes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import listed
from fedtheory.algorithms.fedslr import FedSLR, FedSLRState
from fedtheory.algorithms.mistakes import build_mistaken, find_code_mistakes
from fedtheory.claims import Fault
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.core.regularisers import L1, regularised
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.proofs.symbolic import symbols
from problems.piecewise import PiecewiseQuadratic

Points = list[Any]


def play_on_line(
    f: PiecewiseQuadratic,
    eta: Fraction,
    start: Fraction,
    rounds: int,
    *,
    weight: Fraction = Fraction(0),
    personal: tuple[int, Fraction, Fraction] | None = None,
    exactly: bool = True,
) -> tuple[Any, Points]:
    """FedSLR on one function of the line plus ``weight`` |w|: the problem, and the states after 0, 1, ... rounds, in fractions or floats.

    ``personal``: steps, step size and l1 weight of Phase II.
    """
    number: Any = Fraction if exactly else float
    if not exactly:
        arrays = {name: getattr(f, name).astype(float) for name in ("knots", "slopes", "base")}
        f = dataclasses.replace(f, **arrays)
    problem: Any = regularised(f, L1(number(weight))) if weight else f
    second = None
    if personal is not None:
        second = ProximalSteps(personal[0], number(personal[1]), L1(number(personal[2])))
    method = FedSLR(number(eta), personal=second)
    x0 = np.empty((1, 1), dtype=object if exactly else float)
    x0[0, 0] = number(start)
    states = [method.init(problem, x0)]
    for t in range(rounds):
        states.append(method.round(problem, states[-1], None, ScriptedKey(t)))  # type: ignore[arg-type]
    return problem, states


def play(method: Any, problem: Any, rounds: int, start: Any = None, seed: int = 0) -> Iterator[tuple[Any, Any]]:
    """States before and after rounds 1, 2, ... with all clients, from zero if no start is given."""
    state = method.init(problem, np.zeros((1, problem.d)) if start is None else start[None])
    for t in range(rounds):
        old, state = state, method.round(problem, state, None, Key(seed, t))
        yield old, state


def fractions_of(instance: Any, names: Sequence[str]) -> list[Fraction]:
    """Numbers of a stored instance, read exactly."""
    return [Fraction(str(instance[name])) for name in names]


@dataclass(frozen=True, eq=False)
class UnknownFunctions:
    """Clients of which only their gradients at the points prox answers with are known, by fresh symbols: prox(v) = v - step g by Fermat's rule.

    Clients and coordinates are alike in Phase I, so two clients on the line stand for all.
    """

    gradients: NDArray[Any]
    name = "unknown functions"
    d = 1

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.gradients)

    def prox(self, v: Any, step: Any) -> Any:
        """Answer y_i with y_i - v_i + step grad f_i(y_i) = 0."""
        return v - step * self.gradients

    def take(self, clients: Any) -> UnknownFunctions:
        """All clients take part."""
        return self


def play_unknown(method: Callable[[Any], Any], clients: int = 2) -> tuple[FedSLRState, FedSLRState, NDArray[Any], Any]:
    """One round from any state, in symbols: the state before, after, the clients' gradients at their new models, and eta."""
    eta = symbols("eta", positive=True)

    def column(name: str) -> NDArray[Any]:
        return np.array([[symbols(f"{name}_{i}")] for i in range(clients)], dtype=object)

    before = FedSLRState(np.array([[symbols("w")]], dtype=object), column("w"), column("gamma"), None, None)
    problem: Any = UnknownFunctions(column("grad"))
    after = method(eta).round(problem, before, None, ScriptedKey(0))
    return before, after, problem.gradients, eta


def changed(name: str) -> Callable[[Any], Any]:
    """FedSLR's Phase I with one of its known mistakes, by name, as a function of eta_g."""
    (mistake,) = (m for m in find_code_mistakes(FedSLR) if m.name == name)
    return lambda eta: build_mistaken(listed("fedslr-global"), {"eta": eta, "exact": True}, (mistake,))


def plant(part: str, *names: str) -> tuple[Fault, ...]:
    """Known mistakes of FedSLR's Phase I as faults: the check is run with ``method``, and the part must fail."""
    return tuple(Fault(name, part, {"method": changed(name)}) for name in names)

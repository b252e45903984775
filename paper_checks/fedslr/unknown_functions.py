"""A round of FedSLR's own code on functions of which nothing is known, and FedSLR with known mistakes, for planted faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedSLR
from fedtheory.algorithms.catalogue import listed
from fedtheory.algorithms.fedslr import FedSLRState
from fedtheory.algorithms.mistakes import build_mistaken, find_code_mistakes
from fedtheory.claims.claim import Fault
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.symbolic import symbols


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

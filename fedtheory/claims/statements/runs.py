"""Runs of a method on random functions of a class, in search of the largest measured / claimed.

The functions are f_i(x) = sum_k a_ik (x_k - b_ik)^2 / 2 with curvatures a_ik in [mu, L], whose constants, minimiser and infimum are known in closed
form. They are shifted so that x* = 0, and scaled so that clients differ by no more than zeta; the start is on the radius.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, namespace, take
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.refutations.asked import AskedBound, who_takes_part
from fedtheory.proofs.refutations.replay import in_floats
from fedtheory.running.enumeration import enumerate_courses
from fedtheory.running.falsifier import Candidates, Search, falsify

#: coordinates of the functions, and clients where the class leaves their number open
COORDINATES, CLIENTS = 2, 3
#: runs that a picture shows the spread of
CURVES = 64


@dataclass(frozen=True, eq=False)
class SeparableQuadratics:
    """Batches of clients' functions sum_k a_ik (x_k - b_ik)^2 / 2.

    Parameters
    ----------
    curvature, centre : arrays ``(*batch, n, d)``
    """

    curvature: Array
    centre: Array
    name = "separable quadratics"

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.curvature.shape[-2])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.curvature.shape[-1])

    def value(self, x: Any) -> Array:
        """Values ``(*batch, n)``."""
        return namespace(self.centre, x).sum(self.curvature * (x - self.centre) ** 2, axis=-1) / 2  # type: ignore[no-any-return]

    def grad(self, x: Any) -> Array:
        """Gradients ``(*batch, n, d)``."""
        return self.curvature * (x - self.centre)

    def prox(self, v: Any, step: Any) -> Array:
        """argmin_x f_i(x) + ||x - v_i||^2 / (2 step)."""
        return (v + step * self.curvature * self.centre) / (1 + step * self.curvature)

    def conjugate_grad(self, y: Any) -> Array:
        """argmax_x <x, y_i> - f_i(x)."""
        return self.centre + y / self.curvature

    def take(self, clients: Clients | None) -> SeparableQuadratics:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        return SeparableQuadratics(take(self.curvature, clients.index), take(self.centre, clients.index))

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)

    def minimiser(self) -> NDArray[np.float64]:
        """Of the average, ``(*batch, 1, d)``."""
        total = self.curvature.sum(-2, keepdims=True)
        return np.asarray((self.curvature * self.centre).sum(-2, keepdims=True) / total)


def largest_on_runs(asked: AskedBound, claimed: float, budget: int, seed: int = 0) -> float | None:
    """The largest measured / claimed that a search over such functions and starts finds; None where the class is not one of theirs.

    Random candidates first, then local search from the worst of them (`fedtheory.running.falsifier`).
    """
    if not _has_separable_quadratics(asked):
        return None
    low, high = float(asked.function_class.mu), float(asked.function_class.L)

    def sample(rng: np.random.Generator, count: int) -> Candidates:
        return _draw(asked, rng, count)

    def repair(candidates: Candidates) -> Candidates:
        return candidates | {"curvature": np.clip(candidates["curvature"], low, high)}

    question = in_floats(asked)

    def ratio(candidates: Candidates) -> NDArray[np.float64]:
        return _measured(question, candidates) / claimed

    try:
        return max(falsify(Search(sample, ratio, repair), budget, seed=seed, batch=256).ratio, 0.0)
    except (FedtheoryError, ArithmeticError, TypeError, ValueError):
        return None


def measure_runs(asked: AskedBound, seed: int = 0) -> tuple[float, ...]:
    """The measures of `CURVES` runs on random functions of the class that have a minimiser; none where it is not one of theirs."""
    if not _has_separable_quadratics(asked):
        return ()
    try:
        with np.errstate(all="ignore"):
            reached = _measured(in_floats(asked), _draw(asked, np.random.default_rng(seed), CURVES))
    except (FedtheoryError, ArithmeticError, TypeError, ValueError):
        return ()
    return tuple(float(value) for value in reached if np.isfinite(value))


def _has_separable_quadratics(asked: AskedBound) -> bool:
    """Whether such functions are in the class."""
    given = asked.function_class
    if given.composite or given.sigma is not None or given.similarity is not None:
        return False
    return given.bgd is None and given.dissimilarity is None


def _draw(asked: AskedBound, rng: np.random.Generator, count: int) -> Candidates:
    """Random functions and starts; half of the curvatures are at the class's ends."""
    n = CLIENTS if asked.participation is None else asked.participation.n
    low, high = float(asked.function_class.mu), float(asked.function_class.L)
    shape = (count, n, COORDINATES)
    ends = rng.integers(0, 2, shape)
    share = np.where(rng.random(shape) < 0.5, ends, rng.random(shape))
    return {
        "curvature": low + (high - low) * share,
        "centre": rng.standard_normal(shape),
        "start": rng.standard_normal((count, 1, COORDINATES)),
    }


def _measured(asked: AskedBound, candidates: Candidates) -> NDArray[np.float64]:
    """The measure on every candidate, once start and heterogeneity are as large as the class lets them be; -inf where f has no minimiser."""
    measure, given = find_measure(asked.measure), asked.function_class
    curvature, radius = candidates["curvature"], float(asked.radius)
    bowl = curvature.mean(-2, keepdims=True)
    admissible = (bowl > 1e-3 * float(given.L)).all((-1, -2))
    # centres as far apart as the start is from x*, or differences of values would be rounding; where zeta is given, it says how far
    size = radius if measure.of_minimiser else np.sqrt(2 * radius / float(given.L))
    functions = SeparableQuadratics(curvature, candidates["centre"] * (size if given.zeta is None else 1.0))
    # x* = 0 by a shift of the centres
    functions = replace(functions, centre=functions.centre - functions.minimiser())
    slopes = functions.grad(np.zeros((1, functions.d)))
    apart = np.sqrt((slopes**2).sum(-1).mean(-1))[:, None, None]
    if given.zeta is not None:
        functions = replace(
            functions, centre=functions.centre * np.minimum(1, float(given.zeta) / np.maximum(apart, 1e-300))
        )
    start = candidates["start"]
    if measure.of_minimiser:
        start = radius * start / np.sqrt((start**2).sum((-1, -2), keepdims=True))
    else:
        start = start * np.sqrt(2 * radius / (bowl * start**2).sum((-1, -2), keepdims=True))
    values: list[Any] = [0.0] * (asked.rounds + 1)
    runs = enumerate_courses(asked.algorithm, functions, start, asked.rounds, who_takes_part(asked.participation))
    for weight, states in runs:
        for r, state in enumerate(states):
            values[r] = values[r] + float(weight) * np.broadcast_to(measure.metric(functions, state), len(curvature))
    reached = measure.summarise(np.array([np.broadcast_to(v, len(curvature)) for v in values]))
    return np.where(admissible, reached, -np.inf)

"""FedSpa (Huang et al. 2022; FedSLR, Section 6): each client trains the coordinates of its own sparse mask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.changed_gradients import restrict_gradients
from fedtheory.algorithms.fedrep import CoordinateMethod
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, average, choose, gather, like, namespace, scatter
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import Count
from fedtheory.core.layers import Layer
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FedSpaState:
    """Server model, masked models, and masks where they move."""

    x: Array  # (..., 1, d)  server model
    personal: Array  # (..., n, d)  the server's model in the coordinates of each client's mask, zero elsewhere
    mask: Array | None  # (..., n, d)  one where a client's mask is on, zero elsewhere; None where masks are fixed
    sent: int  # coordinates of a mask, what goes up and down


@dataclass(frozen=True)
class FedSpa(CoordinateMethod):
    """Clients with sparse models: client i sees the server's model through a mask m_i with a fixed number of ones.

    y_i = m_i x^r;  y_i <- y_i - lr m_i g_i(y_i), K steps;  x^{r+1} = x^r + mean_i (y_i - m_i x^r);  the client uses m_i x^{r+1}.

    Masks start at random. With ``prune = 0`` they stay (the paper's RSM). Otherwise (DST) a client that took part drops from each layer
    ceil(c_r k) of its k coordinates, those of least |y_i|, and takes in as many of those that are then off, of largest
    |grad f_i(y_i)|, with c_r = (prune/2) (1 + cos(pi r / horizon)) until round ``horizon`` and 0 from there.

    density = 1 is FedAvg; otherwise masked models are not stationary at x*. Departures: every layer keeps the same share of its
    coordinates (the authors give small layers more, by Erdos-Renyi kernels); gradients for growth are full ones. A mask is a bit a
    coordinate, so it is not counted in floats.

    Parameters
    ----------
    local : LocalSolver
    density : number in (0, 1]
        Share of coordinates in a mask, at least one a layer.
    prune : number in [0, 1]
        Share of a mask that moves in the first round.
    horizon : int
        Round from which masks no longer change.
    seed : int
        Of the first masks, which are the same in all runs of a batch.

    Examples
    --------
    >>> state = run(FedSpa(GradientSteps(2, 0.5), density=0.4), problem, np.ones(5), 20).state
    >>> print((state.personal != 0).sum(axis=-1).max())  # coordinates of a client's model
    2
    """

    local: LocalSolver
    density: float = 0.5
    prune: float = 0.5
    horizon: Count = 100
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings outside the definition."""
        super().__post_init__()
        if not 0 < self.density <= 1:
            raise InvalidInput(f"density, the share of coordinates in a mask, must lie in (0, 1], got {self.density}")
        if not 0 <= self.prune <= 1:
            raise InvalidInput(f"prune, the share of a mask that moves, must lie in [0, 1], got {self.prune}")

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers: masks that move rank coordinates by size; None with masks that stay."""
        return "it ranks coordinates by size" if self.prune > 0 else super().numeric_only

    def init(self, problem: Problem, x0: Array) -> FedSpaState:
        on, blocks = self._first(problem), self._blocks(problem)
        mask = None if self.prune == 0 else like(on.astype(float), x0) + 0 * x0
        return FedSpaState(x0, _through(on, x0), mask, sum(kept for _, _, kept in blocks))

    def round(self, problem: Problem, state: FedSpaState, clients: Clients | None, key: Key) -> FedSpaState:
        on = self._first(problem) if state.mask is None else state.mask > 0
        mine, f = gather(on, clients), problem.take(clients)
        start = _through(mine, state.x)
        y, _ = self.local(Subproblem(restrict_gradients(f, mine), clients=clients), start, key, None)
        x = state.x + average(y - start, clients)
        mask = None if state.mask is None else scatter(state.mask, clients, self._move(f, mine, y, key.round))
        return FedSpaState(x, _through(on if mask is None else mask > 0, x), mask, state.sent)

    def _blocks(self, problem: Problem) -> tuple[tuple[int, int, int], ...]:
        """First and last coordinate of every layer, and how many of them a mask keeps."""
        layers = getattr(problem, "layers", None) or (Layer("all", (problem.d,)),)
        ends = np.cumsum([layer.size for layer in layers]).tolist()
        return tuple(
            (end - layer.size, end, max(1, round(self.density * layer.size)))
            for layer, end in zip(layers, ends, strict=True)
        )

    def _first(self, problem: Problem) -> NDArray[np.bool_]:
        return _random_masks(problem.n, self._blocks(problem), self.seed)

    def _move(self, f: Problem, on: Array, y: Array, r: int) -> Array:
        """Drop the least coordinates of each mask and take in those with the steepest slopes: ``(..., m, d)``."""
        xp = namespace(y)
        share = self.prune / 2 * (1 + np.cos(np.pi * r / self.horizon)) if r < self.horizon else 0.0
        size, slope = xp.abs(y), xp.abs(f.grad(y))
        moved = []
        for first, last, kept in self._blocks(f):
            count, here = int(np.ceil(share * kept)), on[..., first:last]
            here = _largest(size[..., first:last], here, kept - count)
            moved.append(here | _largest(slope[..., first:last], ~here, count))
        return xp.astype(xp.concat(moved, axis=-1), y.dtype)


def _through(on: Array, x: Array) -> Array:
    """The coordinates of x where a mask is on, zeros elsewhere."""
    return choose(on, x, namespace(x).zeros_like(x))


def _largest(score: Array, among: Array, count: int) -> Array:
    """Where the ``count`` largest scores ``(..., k)`` are among the coordinates allowed; the first of equals."""
    xp = namespace(score)
    order = xp.argsort(xp.where(among, -score, xp.full_like(score, float("inf"))), axis=-1)
    return xp.argsort(order, axis=-1) < count


@lru_cache(maxsize=16)
def _random_masks(n: int, blocks: tuple[tuple[int, int, int], ...], seed: int) -> NDArray[np.bool_]:
    """Masks ``(n, d)`` with as many ones in each block of coordinates as it says, uniform."""
    lots = Key(seed, 0).client_uniform("masks", n, blocks[-1][1])
    found = np.zeros(lots.shape, dtype=bool)
    for first, last, kept in blocks:
        least = np.argpartition(lots[:, first:last], kept - 1, axis=-1)[:, :kept]
        np.put_along_axis(found[:, first:last], least, True, axis=-1)
    found.setflags(write=False)  # they are kept
    return found


LISTED = (
    listing(
        "fedspa",
        FedSpa,
        "Huang, Liu, Shen, He, Lin and Tao 2022 (masks that move); FedSLR, Section 6",
        seed=FedSpa.seed,
    ),
    listing(
        "fedspa-static",
        FedSpa,
        "Huang, Liu, Shen, He, Lin and Tao 2022 (random static masks); FedSLR, Section 6",
        prune=0,
        horizon=FedSpa.horizon,  # which masks that rest do not use
        seed=FedSpa.seed,
    ),
)

"""Functions of which everything is known in closed form: separable quadratics, and separable functions of two curvatures, drawn at random.

The latter are f_i(x) = sum_k phi_ik(x_k - c_ik) + <b_i, x>, where phi has one curvature within the width w_ik of the origin and another one
beyond it. They are members of the class of every two numbers that the curvatures lie between, and no quadratics unless the width is infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, average, is_array, namespace, take
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.running.falsifier import Candidates

#: coordinates of random functions
COORDINATES = 2
#: what is drawn for every client
OF_CLIENTS = ("inside", "outside", "bend", "centre", "slope")


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


@dataclass(frozen=True, eq=False)
class SeparablePieces:
    """Batches of clients' functions of two curvatures, plus a convex h that they share where there is one.

    Parameters
    ----------
    inside, outside, width, centre, slope : arrays ``(*batch, n, d)``
        The curvatures within the width of the centre and beyond it, and b_i.
    regulariser : h, a `SquareOrBox`, or None
    """

    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    width: NDArray[np.float64]
    centre: NDArray[np.float64]
    slope: NDArray[np.float64]
    regulariser: SquareOrBox | None = None
    name = "separable functions of two curvatures"

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.inside.shape[-2])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.inside.shape[-1])

    def value(self, x: Any) -> NDArray[np.float64]:
        """Values ``(*batch, n)``."""
        t = x - self.centre
        near = np.clip(t, -self.width, self.width)
        far = t - near
        each = self.inside * near * (near / 2 + far) + self.outside * far**2 / 2 + self.slope * x
        return np.asarray(each.sum(axis=-1))

    def grad(self, x: Any) -> NDArray[np.float64]:
        """Gradients ``(*batch, n, d)``."""
        t = x - self.centre
        near = np.clip(t, -self.width, self.width)
        return np.asarray(self.inside * near + self.outside * (t - near) + self.slope)

    def noisy_grad(self, x: Any, key: Any, step: int) -> NDArray[np.float64]:
        """Gradients: noise that is always zero has every bound on its variance."""
        return self.grad(x)

    def prox(self, v: Any, step: Any) -> NDArray[np.float64]:
        """argmin_x f_i(x) + ||x - v_i||^2 / (2 step), where that is convex."""
        return self._where(v - self.centre - step * self.slope, 1 + step * self.inside, 1 + step * self.outside)

    def conjugate_grad(self, y: Any) -> NDArray[np.float64]:
        """argmax_x <x, y_i> - f_i(x)."""
        return self._where(y - self.slope, self.inside, self.outside)

    def _where(self, rise: Any, inside: Any, outside: Any) -> NDArray[np.float64]:
        """The point at which a map with the slopes ``inside`` and ``outside`` has risen so far from the centre."""
        with np.errstate(all="ignore"):  # of the two candidates one may be infinite, or no number
            reach = inside * self.width
            far = np.sign(rise) * (self.width + (np.abs(rise) - reach) / outside)
            return np.asarray(self.centre + np.where(np.abs(rise) <= reach, rise / inside, far))

    def take(self, clients: Clients | None) -> SeparablePieces:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        return SeparablePieces(**{k: take(v, clients.index) if is_array(v) else v for k, v in held.items()})

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)

    def times(self, size: Any) -> SeparablePieces:
        """The functions s^2 f_i(x / s): of the same curvatures, on another scale."""
        h = None if self.regulariser is None else replace(self.regulariser, side=self.regulariser.side * size)
        return replace(self, width=self.width * size, centre=self.centre * size, slope=self.slope * size, regulariser=h)

    def from_origin(self) -> SeparablePieces:
        """With one linear function added to all, so that the average's gradient vanishes at the origin."""
        return replace(self, slope=self.slope - average(self.grad(np.zeros((1, self.d)))))


@dataclass(frozen=True, eq=False)
class SquareOrBox:
    """H(x) = weight ||x||^2 / 2 on the box of all |x_k| <= side, which the origin minimises; arrays ``(*batch, 1, 1)``."""

    weight: NDArray[np.float64]
    side: NDArray[np.float64]
    numeric_only = None

    def value(self, x: Any) -> NDArray[np.float64]:
        """Values ``(*batch, m)`` of points ``(*batch, m, d)``, which are taken to lie in the box."""
        return np.asarray((self.weight * x**2).sum(axis=-1) / 2)

    def prox(self, v: Any, step: Any) -> NDArray[np.float64]:
        """Proximal steps."""
        return np.asarray(np.clip(v / (1 + step * self.weight), -self.side, self.side))


def draw_members(given: FunctionClass, rng: np.random.Generator, count: int, n: int) -> Candidates:
    """Random functions of the class, as arrays ``(count, n, COORDINATES)``: half of the curvatures at its ends, half of them quadratics.

    n is the number of clients, or of kinds of them. ``bend`` is one over the width. Where the class limits how gradients or Hessians differ, clients'
    functions differ by linear ones: the arrays of all but the slopes have one row.
    """
    low, high = float(given.mu), float(given.L)
    alike = any(limit is not None for limit in (given.bgd, given.dissimilarity, given.similarity))
    shape = (count, 1 if alike else n, COORDINATES)

    def curvatures() -> NDArray[np.float64]:
        share = np.where(rng.random(shape) < 0.5, rng.integers(0, 2, shape), rng.random(shape))
        return low + (high - low) * share

    bent = rng.random((count, 1, 1)) < 0.5
    found = {
        "inside": curvatures(),
        "outside": curvatures(),
        "bend": np.where(bent, np.exp(rng.standard_normal(shape)), 0.0),
        "centre": rng.standard_normal(shape),
        "slope": np.zeros((count, n, COORDINATES)),
    }
    if alike:
        found["slope"] = high * rng.standard_normal((count, n, COORDINATES))
    if given.composite:
        found["weight"] = high * np.exp(rng.standard_normal((count, 1, 1))) * (rng.random((count, 1, 1)) < 0.5)
        found["side"] = np.exp(rng.standard_normal((count, 1, 1)))
    return brought_back(given, found)


def brought_back(given: FunctionClass, drawn: Candidates) -> Candidates:
    """Members of the class, from such that were moved."""
    low, high = float(given.mu), float(given.L)
    inside, outside = (np.clip(drawn[name], low, high) for name in ("inside", "outside"))
    positive = {name: np.abs(drawn[name]) for name in ("bend", "weight", "side") if name in drawn}
    slope = drawn["slope"] - drawn["slope"].mean(axis=-2, keepdims=True)
    return drawn | positive | {"inside": inside, "outside": outside, "slope": slope}


def members_of(given: FunctionClass, drawn: Candidates, size: float) -> SeparablePieces:
    """The functions on a scale of lengths, minimised by the origin, and with gradients there that differ by as much as the class allows.

    Those of a class that is not convex are quadratics, of which it is known where they are least. Where D < 1 bounds the average's gradient, too,
    which is a matter of where it is asked for, that is left to who runs them (`excess_of`).
    """
    with np.errstate(divide="ignore"):
        width = 1 / drawn["bend"] if given.convex else np.full_like(drawn["bend"], np.inf)
    held = {
        name: np.broadcast_to(drawn[name], drawn["slope"].shape) for name in ("inside", "outside", "centre", "slope")
    }
    h = None
    if given.composite:
        none = np.zeros_like(drawn["weight"])
        h = SquareOrBox(none, drawn["side"]) if given.indicator else SquareOrBox(drawn["weight"], none + np.inf)
    functions = SeparablePieces(**held, width=width, regulariser=h).times(size).from_origin()
    at_origin = functions.grad(np.zeros((1, functions.d)))
    lengths = np.sqrt((at_origin**2).sum(axis=-1))
    sizes = np.ones(lengths.shape[:-1])
    for limit, length in (
        (given.zeta, np.sqrt((lengths**2).mean(axis=-1))),
        (None if given.bgd is None else given.bgd[0], np.sqrt((lengths**2).mean(axis=-1))),
        (None if given.dissimilarity is None else float(given.dissimilarity) / 2, lengths.max(axis=-1)),
    ):
        if limit is not None:
            sizes = np.minimum(sizes, float(limit) / np.maximum(length, 1e-300))
    return functions.times(sizes[:, None, None])


def excess_of(given: FunctionClass, functions: SeparablePieces, points: Sequence[Any]) -> NDArray[np.float64]:
    """The largest (mean_i ||grad f_i(x)||^2 - D^2 ||grad f(x)||^2) / G^2 at some points of every candidate: at most one in the class."""
    assert given.bgd is not None
    big_g, big_d = map(float, given.bgd)
    each = [functions.grad(x) for x in points]
    lengths = [(g**2).sum(axis=-1).mean(axis=-1) - big_d**2 * (g.mean(axis=-2) ** 2).sum(axis=-1) for g in each]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.max(lengths, axis=0) / big_g**2)

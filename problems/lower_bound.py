"""Zero-chains: instances on which only communication makes progress (FedPD, Claim II.1 and supplement, App. F).

A chain of T + 1 coordinates is linked by the functions Theta(x, j); the link j - 1 -> j has zero gradient until
coordinate j - 1 is non-zero, and a client holds only some of the links, so each aggregation unlocks one coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, is_object, namespace, take, to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Points


class Reach:
    """A boolean number: is this coordinate possibly non-zero? Sums are unions, scaling by a number changes nothing.

    With it an algorithm's own round propagates supports exactly, where floats would underflow along the chain.
    """

    __slots__ = ("on",)

    def __init__(self, on: bool) -> None:
        self.on = on

    def __add__(self, other: Any) -> Reach:
        return Reach(self.on or _on(other))

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Reach:
        return Reach(self.on and _on(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Reach:
        return self

    def __neg__(self) -> Reach:
        return self

    def __repr__(self) -> str:
        return "x" if self.on else "."


def _on(value: Any) -> bool:
    return value.on if isinstance(value, Reach) else bool(value != 0)


def supports(x: Array) -> NDArray[np.bool_]:
    """Which coordinates of an array of `Reach` numbers are possibly non-zero."""
    return np.asarray(np.vectorize(_on, otypes=[bool])(x))


def unreached(d: int) -> NDArray[Any]:
    """The point zero in `Reach` numbers: ``(d,)``."""
    return np.array([Reach(False) for _ in range(d)], dtype=object)


def psi(w: Array) -> Array:
    """0 for w <= 0, 1 - exp(-w^2) for w > 0."""
    xp = namespace(w)
    return xp.where(w > 0, -xp.expm1(-w * w), xp.zeros_like(w))


def dpsi(w: Array) -> Array:
    """First derivative of psi: 2 w exp(-w^2) for w > 0."""
    xp = namespace(w)
    return xp.where(w > 0, 2 * w * xp.exp(-w * w), xp.zeros_like(w))


def phi(w: Array) -> Array:
    """4 arctan(w) + 2 pi, between 0 and 4 pi."""
    return 4 * namespace(w).atan(w) + 2 * np.pi


def dphi(w: Array) -> Array:
    """First derivative of phi: 4 / (1 + w^2)."""
    return 4 / (1 + w * w)


@dataclass(frozen=True, eq=False)
class ZeroChain:
    """f_i(x) = amplitude * sum_j links_ij Theta(x scale, j) on R^{T+1}.

    Theta(x, 1) = -psi(1) phi(x_1),  Theta(x, j) = psi(-x_{j-1}) phi(-x_j) - psi(x_{j-1}) phi(x_j) for j >= 2.

    Parameters
    ----------
    links : array ``(n, T+1)``
        Weight of link j at client i.
    amplitude, scale : numbers
    smoothness : number
        A proven smoothness constant of sum_j links_ij Theta(., j); f_i is amplitude scale^2 times as smooth.
    how : str
        Where that constant comes from.
    name : str
    """

    links: Array
    amplitude: float
    scale: float
    smoothness: float
    how: str
    name: str = "zero-chain"

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.links.shape[-2])

    @property
    def d(self) -> int:
        """Number of coordinates, T + 1."""
        return int(self.links.shape[-1])

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x)
        y = self.scale * x
        before = y[..., :-1]
        after = y[..., 1:]
        first = -psi(xp.ones_like(y[..., :1])) * phi(y[..., :1])
        rest = psi(-before) * phi(-after) - psi(before) * phi(after)
        return self.amplitude * xp.sum(self.links * xp.concat([first, rest], axis=-1), axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Gradients; supports for arrays of `Reach` numbers."""
        if is_object(x):
            return self._support_of_grad(x)
        xp = namespace(x)
        y = self.scale * x
        before, after = y[..., :-1], y[..., 1:]
        weight = self.links[..., 1:]
        first = -psi(xp.ones_like(y[..., :1])) * dphi(y[..., :1]) * self.links[..., :1]
        # link j seen from its own coordinate and from the one before it
        own = -(psi(-before) + psi(before)) * dphi(after) * weight
        previous = -(dpsi(-before) * phi(-after) + dpsi(before) * phi(after)) * weight
        total = xp.concat([first, own], axis=-1) + xp.concat([previous, 0 * first], axis=-1)
        return self.amplitude * self.scale * total

    def _support_of_grad(self, x: Array) -> Array:
        held = to_numpy(self.links) != 0
        reached = np.broadcast_to(supports(x), (*x.shape[:-2], self.n, self.d))
        open_link = np.zeros_like(reached)
        open_link[..., 0] = held[:, 0]
        open_link[..., 1:] = held[:, 1:] & reached[..., :-1]
        touched = open_link.copy()
        touched[..., :-1] |= open_link[..., 1:]
        return np.vectorize(Reach, otypes=[object])(touched)

    def take(self, clients: Clients | None) -> ZeroChain:
        """Restrict to the clients that take part."""
        return self if clients is None else replace(self, links=take(self.links, clients.index))

    def lower_bound(self) -> Certified:
        """Infimum of the average: every link's infimum, approached together as x -> (1, 1, ...) * infinity."""
        weights = to_numpy(self.links).mean(axis=0)
        top = 1 - np.exp(-1.0)
        infimum = -4 * np.pi * (top * weights[0] + weights[1:].sum())
        return Certified(self.amplitude * infimum, "closed form: psi and phi at infinity")

    def certify(self) -> dict[str, Certified]:
        """L from the stated proof."""
        return {"L": Certified(self.amplitude * self.scale**2 * self.smoothness, self.how)}


def two_group_chain(T: int, *, L: float = 1.0, epsilon: float = 1.0, n: int = 2) -> ZeroChain:
    """Return a chain over two groups of clients: until T communications ||grad f||^2 > epsilon at the server's model.

    Group A holds the first link and twice every even link, group B the first and twice every odd link from the third.
    Each client is 19 pi-smooth before scaling: links of one client touch disjoint pairs of coordinates, so its Hessian
    has 2x2 blocks of norm at most 2 (8 pi + 4 sqrt(2/e)) + psi(1) 3 sqrt(3)/2 < 19 pi. Source: FEDPD-D11
    (a repair of the paper's supplement, Theorem 4).
    """
    if T < 1 or n < 2 or n % 2:
        raise InvalidInput(f"expected T >= 1 and an even number of clients, got T={T}, n={n}")
    _check_positive(L, epsilon)
    group = np.zeros((2, T + 1))
    group[:, 0] = 1
    group[0, 1::2] = 2
    group[1, 2::2] = 2
    ell = 19 * np.pi
    return ZeroChain(
        np.repeat(group, n // 2, axis=0),
        amplitude=ell * epsilon / L,
        scale=L / (ell * epsilon**0.5),
        smoothness=ell,
        how="2x2 blocks of the Hessian: 2 (8 pi + 4 sqrt(2/e)) + psi(1) 3 sqrt(3)/2 < 19 pi",
        name=f"two-group zero-chain (T={T})",
    )


def printed_chain(T: int, n: int, *, L: float = 1.0, epsilon: float = 1.0) -> ZeroChain:
    """Return the chain as the supplement of FedPD prints it: client i holds the first link and those j with j - 1 = i mod n.

    f_i(x) = (2 pi eps / L) g_i(x L / (pi sqrt(2 eps))). Its smoothness is 27 pi before scaling (supplement, Lemma 5),
    which makes f_i 27 L-smooth, not L-smooth.
    """
    if T < 1 or n < 2 or T % n:
        raise InvalidInput(f"expected n >= 2 clients and T a multiple of n, got T={T}, n={n}")
    _check_positive(L, epsilon)
    links = np.zeros((n, T + 1))
    links[:, 0] = 1
    for j in range(1, T + 1):
        links[(j - 1) % n, j] = 1
    return ZeroChain(
        links,
        amplitude=2 * np.pi * epsilon / L,
        scale=L / (np.pi * (2 * epsilon) ** 0.5),
        smoothness=27 * np.pi,
        how="FedPD supplement, Lemma 5: g_i is 27 pi-smooth",
        name=f"printed zero-chain (T={T}, n={n})",
    )


def _check_positive(L: float, epsilon: float) -> None:
    if not (L > 0 and epsilon > 0):
        raise InvalidInput(f"expected L > 0 and epsilon > 0, got L={L}, epsilon={epsilon}")

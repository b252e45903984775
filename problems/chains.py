"""Convex lower-bound chains split over clients: each communication unlocks one coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedtheory.core.arrays import Array, Scalar, clamp, inner, like, namespace, squared_norm, take, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable, require
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Minimiser, Points
from problems.quadratics import Quadratic


def nesterov_chain(links: int, *, L: float = 1.0, mu: float = 0.01, n: int = 2) -> Quadratic:
    """Nesterov's smooth chain of K = ``links`` coordinates, its couplings dealt out to two groups of n/2 clients.

    With c = (L - mu)/2, the first group holds
    (mu/2)||x||^2 + (c/2) [(x_1 - 1)^2 + sum_i (x_2i - x_{2i+1})^2], the second
    (mu/2)||x||^2 + (c/2) sum_i (x_{2i-1} - x_2i)^2. Every client is L-smooth and mu-strongly convex; from zero, t communications
    reach at most t coordinates, whatever is computed in between. For large K the minimiser tends to x_j = q^j with
    q = (sqrt(L/mu) - 1)/(sqrt(L/mu) + 1); for mu = 0 it is x = (1, ..., 1). The DualFL claims call it CH(K, mu, c).

    Raises
    ------
    InvalidInput
        Not 0 <= mu < L, an odd number of clients, or no coordinate.
    """
    if not 0 <= mu < L or n < 2 or n % 2 or links < 1:
        raise InvalidInput(
            f"expected 0 <= mu < L, an even number of clients and at least one link; got mu={mu}, L={L}, n={n}, links={links}"
        )
    c = (L - mu) / 2
    coupling = np.zeros((2, links, links))
    coupling[0, 0, 0] = 1
    for j in range(links - 1):
        pair = np.ix_([j, j + 1], [j, j + 1])
        coupling[(j + 1) % 2][pair] += np.array([[1, -1], [-1, 1]])
    a = np.repeat(c * coupling + mu * np.eye(links), n // 2, axis=0)
    b = np.zeros((n, links))
    b[: n // 2, 0] = c
    constant = np.where(np.arange(n) < n // 2, c / 2, 0.0)
    return Quadratic(a, b, constant, name=f"Nesterov chain (K={links}, L={L}, mu={mu})")


@dataclass(frozen=True, eq=False)
class TotalVariation:
    """f_i(x) = (mu/2) ||x||^2 + sum_j w_ij |x_{j+1} - x_j| - <l_i, x>, where a client's couplings share no coordinate.

    Not smooth: `grad` is the subgradient with sign(0) = 0. Proximal steps and conjugates are closed: a coupled pair keeps its
    mean and its difference is soft-thresholded.

    Parameters
    ----------
    couplings : array ``(*batch, n, d - 1)``
        w_ij >= 0, of two neighbours at most one positive.
    linear : array ``(*batch, n, d)``
    mu : number
    name : str
    """

    couplings: Array
    linear: Array
    mu: float = 1.0
    name: str = "total variation chain"

    def __post_init__(self) -> None:
        """Check the shapes and that couplings share no coordinate."""
        if self.linear.ndim < 2 or tuple(self.couplings.shape) != (*self.linear.shape[:-1], self.d - 1):
            raise InvalidInput(
                f"couplings and linear have shapes {tuple(self.couplings.shape)} and {tuple(self.linear.shape)}; expected "
                "(*batch, n, d - 1) and (*batch, n, d)"
            )
        w = to_numpy(self.couplings)
        if not (np.all(w >= 0) and self.mu >= 0 and not np.any((w[..., 1:] > 0) & (w[..., :-1] > 0))):
            raise InvalidInput(
                "expected mu >= 0 and couplings >= 0 of which a client holds no two neighbours; deal neighbouring couplings out "
                "to different clients"
            )

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.linear.shape[-2])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.linear.shape[-1])

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        jumps = namespace(x).abs(x[..., 1:] - x[..., :-1])
        return (self.mu / 2) * squared_norm(x) + inner(self.couplings, jumps) - inner(self.linear, x)

    def grad(self, x: Points) -> ClientPoints:
        """A subgradient, the gradient where no coupled coordinates are equal."""
        xp = namespace(x)
        pull = self.couplings * xp.sign(x[..., 1:] - x[..., :-1])
        none = xp.zeros_like(pull[..., :1])
        return self.mu * x + xp.concat([none, pull], axis=-1) - xp.concat([pull, none], axis=-1) - self.linear

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """argmin_x f_i(x) + ||x - v_i||^2 / (2 step)."""
        return self._pairwise((v / step + self.linear) / (self.mu + 1 / step), 1 / (self.mu + 1 / step))

    def _pairwise(self, u: Array, scale: Scalar) -> Array:
        """argmin_x ||x - u||^2/2 + scale * sum_j w_j |x_{j+1} - x_j|."""
        xp = namespace(u)
        jump = u[..., 1:] - u[..., :-1]
        middle = (u[..., 1:] + u[..., :-1]) / 2
        half = xp.sign(jump) * clamp(xp.abs(jump) - 2 * scale * self.couplings, low=0.0) / 2
        coupled = xp.broadcast_to(self.couplings > 0, jump.shape)
        none = xp.zeros_like(coupled[..., :1])
        end = u[..., :1]
        left = xp.where(xp.concat([coupled, none], axis=-1), xp.concat([middle - half, end], axis=-1), u)
        return xp.where(xp.concat([none, coupled], axis=-1), xp.concat([end, middle + half], axis=-1), left)

    def conjugate(self, y: Points) -> ClientValues:
        """f_i^*(y_i).

        For mu = 0 it is zero where y + l sums to zero over every coupled pair, is at most w on it and vanishes elsewhere, up
        to rounding (16 eps times the size of y and l), and infinite otherwise.
        """
        xp = namespace(y)
        v = y + self.linear
        if self.mu:
            x = self._pairwise(v / self.mu, 1 / self.mu)
            return inner(x, y) - self.value(x)
        inside = self._inside(y)
        return xp.where(inside, xp.zeros_like(v[..., 0]), xp.full_like(v[..., 0], float("inf")))

    def _inside(self, y: Array) -> Array:
        xp = namespace(y)
        v = y + self.linear
        coupled = self.couplings > 0
        none = xp.zeros_like(coupled[..., :1])
        alone = ~(xp.concat([coupled, none], axis=-1) | xp.concat([none, coupled], axis=-1))
        slack = 16 * float(xp.finfo(v.dtype).eps) * xp.max(xp.abs(y) + xp.abs(self.linear), axis=-1, keepdims=True)
        pairs = (xp.abs(v[..., 1:] + v[..., :-1]) <= slack) & (xp.abs(v[..., 1:]) <= self.couplings + slack)
        return xp.all(pairs | ~coupled, axis=-1) & xp.all((xp.abs(v) <= slack) | ~alone, axis=-1)

    @property
    def conjugate_grad(self) -> Callable[[Points], ClientPoints] | None:
        """argmax_x <x, y_i> - f_i(x); None for mu = 0, where it is not unique."""
        return (lambda y: self._pairwise((y + self.linear) / self.mu, 1 / self.mu)) if self.mu else None

    def ridged(self, weight: float) -> TotalVariation:
        """The same clients with (weight/2)||x||^2 added."""
        return replace(self, mu=self.mu + weight)

    def take(self, clients: Clients | None) -> TotalVariation:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        return replace(self, couplings=take(self.couplings, clients.index), linear=take(self.linear, clients.index))

    def slice(self, first: int, last: int) -> TotalVariation:
        """Clients first, ..., last - 1."""
        return replace(self, couplings=self.couplings[..., first:last, :], linear=self.linear[..., first:last, :])

    def solution(self) -> Minimiser:
        """The minimiser of the average where it is constant along the chain.

        x = t (1, ..., 1) with t = sum(mean l)/(d mu) is the minimiser if and only if the multipliers
        z_j = sum_{k <= j} (mu t - mean l_k) of the couplings satisfy |z_j| <= mean w_j; that is what is checked.

        Raises
        ------
        NotAvailable
            The minimiser is not constant, or mu = 0.
        """
        if not self.mu:
            raise NotAvailable(f"{self.name!r} with mu = 0 has no unique minimiser; use mu > 0")
        w, linear = to_numpy(self.couplings).mean(axis=-2), to_numpy(self.linear).mean(axis=-2)
        t = linear.sum(axis=-1, keepdims=True) / (self.d * self.mu)
        z = np.cumsum(self.mu * t - linear, axis=-1)[..., :-1]
        if np.any(np.abs(z) > w):
            raise NotAvailable(
                f"the minimiser of {self.name!r} is not constant along the chain (a multiplier of size {np.abs(z).max():.3g} "
                "exceeds its coupling), and has no closed form here; use ground_truth"
            )
        return like(np.broadcast_to(t, linear.shape).copy(), self.linear)

    def to_cvxpy(self) -> tuple[Any, Any]:
        """Return the average as a CVXPY expression of a variable (d,): ``(variable, objective)``."""
        if self.linear.ndim > 2:
            raise NotAvailable("a batch of instances has no single CVXPY model; take one instance")
        cp = require("cvxpy", "ground truth from an independent solver")
        w, linear = to_numpy(self.couplings).mean(axis=0), to_numpy(self.linear).mean(axis=0)
        x = cp.Variable(self.d)
        smooth = (self.mu / 2) * cp.sum_squares(x) - linear @ x
        return x, smooth + (w @ cp.abs(x[1:] - x[:-1]) if self.d > 1 else 0)

    def certify(self) -> dict[str, Certified]:
        """Strong convexity is mu, exactly; the function is not smooth."""
        batch = self.linear.shape[:-1]
        how = "mu; the rest is convex, and linear along a line"
        return {
            "mu_i": Certified(np.full(batch, self.mu), how),
            "mu": Certified(np.full(batch[:-1], self.mu)[()], how),
            "mu_avg": Certified(np.full(batch[:-1], self.mu)[()], how),
        }


def total_variation_chain(d: int, *, mu: float = 1.0, coupling: float = 1.0, pull: float = 1.0) -> TotalVariation:
    """Two clients with every other coupling of a chain of d coordinates each (TV(K) with K = d in the DualFL claims).

    f_1 = (mu/2)||x||^2 + coupling sum_i |x_2i - x_{2i+1}| - pull x_1, f_2 = (mu/2)||x||^2 + coupling sum_i |x_{2i-1} - x_2i|.
    For pull <= coupling the minimiser is x = pull/(2 mu d) (1, ..., 1), and t rounds from zero reach t coordinates.
    """
    if d < 2:
        raise InvalidInput(f"a chain needs at least two coordinates, got d={d}")
    w, linear = np.zeros((2, d - 1)), np.zeros((2, d))
    w[0, 1::2] = coupling
    w[1, 0::2] = coupling
    linear[0, 0] = pull
    return TotalVariation(w, linear, mu, f"total variation chain (K={d})")

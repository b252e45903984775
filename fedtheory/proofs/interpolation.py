"""Functions of a class through given points, gradients and values.

An L-smooth function with f - (mu/2)||.||^2 convex (mu < 0: weakly convex, mu = -L: merely smooth) that passes through
triples (x_j, g_j, f_j), if the class has one, is

    f(x) = (mu/2) ||x||^2 + min_z { max_j [ a_j + <q_j, z - z_j> ] + (l/2) ||x - z||^2 },   l = L - mu,
    q_j = g_j - mu x_j,  z_j = x_j - q_j / l,  a_j = f_j - (mu/2) ||x_j||^2 - ||q_j||^2 / (2 l),

the smooth envelope of a maximum of affine pieces (Taylor, Hendrickx, Glineur 2017). Whatever the data, this function is in
the class; through the data it passes when they satisfy the interpolation conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, to_numpy
from fedtheory.core.errors import InvalidInput, SolverFailed, require
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified, Pooled
from fedtheory.tools.panics import run_clarabel

_Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Interpolated:
    """n clients' functions, each the smooth envelope through its own triples.

    Parameters
    ----------
    points, grads : arrays ``(n, p, d)``
    values : array ``(n, p)``
    L, mu : numbers
        The class; mu < L.
    name : str
    """

    points: _Matrix
    grads: _Matrix
    values: _Matrix
    L: float
    mu: float
    name: str = "interpolated worst case"

    def __post_init__(self) -> None:
        """Check the class and the shapes."""
        if not self.mu < self.L:
            raise InvalidInput(f"expected mu < L, got mu={self.mu}, L={self.L}")
        if self.points.shape != self.grads.shape or self.values.shape != self.points.shape[:-1]:
            raise InvalidInput("points and gradients must have shape (n, p, d) and values (n, p)")

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.points.shape[0])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.points.shape[2])

    def _pieces(self) -> tuple[_Matrix, _Matrix, _Matrix]:
        q = self.grads - self.mu * self.points
        l = self.L - self.mu
        z = self.points - q / l
        a = self.values - self.mu / 2 * (self.points**2).sum(-1) - (q**2).sum(-1) / (2 * l)
        return q, z, a

    def _inner(self, client: int, w: _Matrix, curvature: float) -> _Matrix:
        """argmin_z max_j [a_j + <q_j, z - z_j>] + (curvature/2) ||z - w||^2 for one client."""
        q, z, a = (part[client] for part in self._pieces())
        return prox_of_max_affine(q, a - (q * z).sum(-1), w, 1 / curvature)

    def _each(self, x: Array, function: Any) -> _Matrix:
        x = to_numpy(x)
        if x.ndim > 2:
            raise InvalidInput("an interpolated instance runs one run at a time; x must have shape (n, d) or (1, d)")
        full = np.broadcast_to(x, (self.n, self.d))
        return np.stack([function(i, full[i]) for i in range(self.n)])

    def grad(self, x: Array) -> _Matrix:
        """Gradients mu x + l (x - z(x)): ``(n, d)``."""
        l = self.L - self.mu
        return self._each(x, lambda i, xi: self.mu * xi + l * (xi - self._inner(i, xi, l)))

    def value(self, x: Array) -> _Matrix:
        """Values ``(n,)``."""
        q, z, a = self._pieces()
        l = self.L - self.mu

        def one(i: int, xi: _Matrix) -> float:
            inner = self._inner(i, xi, l)
            top = (a[i] + (q[i] * (inner - z[i])).sum(-1)).max()
            return float(self.mu / 2 * xi @ xi + top + l / 2 * ((xi - inner) ** 2).sum())

        return self._each(x, one)

    def prox(self, v: Array, step: Any) -> _Matrix:
        """argmin_x f_i(x) + ||x - v_i||^2/(2 step): ``(n, d)``.

        For fixed z the minimiser is x = (l z + v/step)/(L + 1/step); what remains is again of the form of `grad`.
        """
        l, weight = self.L - self.mu, 1 / float(step)
        if self.mu + weight <= 0:
            raise InvalidInput(f"step={step} is too large: the subproblem needs step < 1/|mu| with mu={self.mu}")
        reduced = l * (self.mu + weight) / (self.L + weight)

        def one(i: int, vi: _Matrix) -> _Matrix:
            z = self._inner(i, vi * weight / (self.mu + weight), reduced)
            return (l * z + weight * vi) / (self.L + weight)

        return self._each(v, one)

    def conjugate_grad(self, y: Array) -> _Matrix:
        """argmax_x <x, y_i> - f_i(x): ``(n, d)``, for mu > 0; as `prox`, with a linear term in place of the quadratic.

        For fixed z the maximiser is x = (l z + y)/L.
        """
        if self.mu <= 0:
            raise InvalidInput(f"gradients of conjugates need strongly convex functions (mu > 0), got mu={self.mu}")
        l = self.L - self.mu

        def one(i: int, yi: _Matrix) -> _Matrix:
            return (l * self._inner(i, yi / self.mu, l * self.mu / self.L) + yi) / self.L

        return self._each(y, one)

    def take(self, clients: Clients | None) -> Interpolated:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        i = clients.index
        return replace(self, points=self.points[i], grads=self.grads[i], values=self.values[i])

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)

    def certify(self) -> dict[str, Certified]:
        """L and mu by construction of the envelope."""
        how = "by construction: smooth envelope of a maximum of affine pieces"
        return {
            "L": Certified(max(self.L, abs(self.mu)), how),
            "L_i": Certified(np.full(self.n, max(self.L, abs(self.mu))), how),
            "mu": Certified(self.mu, how),
            "mu_i": Certified(np.full(self.n, self.mu), how),
        }


def prox_of_max_affine(q: _Matrix, offset: _Matrix, w: _Matrix, step: float) -> _Matrix:
    """argmin_z max_j (offset_j + <q_j, z>) + ||z - w||^2/(2 step).

    By duality z = w - step * sum_j lam_j q_j where lam on the simplex maximises
    sum_j lam_j (offset_j + <q_j, w>) - (step/2) ||sum_j lam_j q_j||^2. The multipliers come from a conic solver; the active
    set it finds is then solved exactly, and kept if that is feasible.
    """
    level = offset + q @ w
    gram = step * (q @ q.T)
    lam = guess_simplex_weights(gram, level)
    active = np.flatnonzero(lam > 1e-7)
    exact = _on_active_set(gram, level, active)
    if exact is not None:
        lam = exact
    return np.asarray(w - step * (lam @ q))


def guess_simplex_weights(gram: _Matrix, level: _Matrix) -> _Matrix:
    """Maximise level @ lam - lam @ gram @ lam / 2 over the simplex."""
    from scipy import sparse

    clarabel = require("clarabel", "rebuilding worst-case functions")
    p = len(level)
    scale = max(float(np.abs(level - level.max()).max()), float(np.abs(gram).max()), 1e-300)
    constraints = sparse.csc_matrix(np.vstack([np.ones((1, p)), -np.eye(p)]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    found = run_clarabel(
        clarabel.DefaultSolver,
        sparse.csc_matrix(np.triu(gram / scale)),
        -(level - level.max()) / scale,
        constraints,
        np.concatenate([[1.0], np.zeros(p)]),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(p)],
        settings,
    )
    lam = np.maximum(np.asarray(found.x), 0)
    if not np.isfinite(lam).all() or lam.sum() <= 0:
        raise SolverFailed("the quadratic program behind an interpolated function was not solved")
    return np.asarray(lam / lam.sum())


def _on_active_set(gram: _Matrix, level: _Matrix, active: NDArray[np.int64]) -> _Matrix | None:
    k = len(active)
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = gram[np.ix_(active, active)]
    system[:k, k] = system[k, :k] = 1
    right = np.append(level[active], 1.0)
    solution = np.linalg.lstsq(system, right, rcond=None)[0]
    lam = np.zeros(len(level))
    lam[active] = solution[:k]
    scale = max(1.0, float(np.abs(level).max()))
    slack = (level - gram @ lam) - solution[k]  # pieces outside the active set must lie below the maximum
    if lam.min() < -1e-12 or abs(lam.sum() - 1) > 1e-12 or slack.max() > 1e-10 * scale:
        return None
    return lam

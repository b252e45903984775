"""Quadratics made to measure: solution, optimal duals, heterogeneity and spread of the curvatures are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput
from problems.quadratics import Quadratic, check_counts, rotated


def prescribed_quadratics(
    n: int,
    d: int,
    *,
    solution: Any = None,
    gradients: Any = None,
    zeta: Any = None,
    L: float = 1.0,
    mu: float = 0.1,
    diversity: float = 1.0,
    batch: tuple[int, ...] = (),
    seed: int = 0,
) -> Quadratic:
    """f_i(x) = (x - x*)^T A_i (x - x*) / 2 + <g_i, x - x*> with mean g_i = 0: x* minimises f, and the optimal duals are -g_i.

    A_i = (1 - diversity) A + diversity B_i, where A and B_i are random rotations of spectra in [mu, L] that contain both ends. With
    ``diversity`` 0 all curvatures are one, bit for bit.

    Parameters
    ----------
    n, d : int
    solution : array ``(d,)`` or ``(*batch, d)``, optional
        x*; a normal point by default.
    gradients : array ``(n, d)`` or ``(*batch, n, d)``, optional
        g_i, the clients' gradients at x*, with sum zero; drawn at random and scaled to ``zeta`` by default.
    zeta : number or array ``(*batch,)``, optional
        Heterogeneity zeta = sqrt(mean_i ||g_i||^2), 1 by default; goes with random gradients only.
    L, mu : numbers
    diversity : number in [0, 1]
    batch : shape of batch axes
    seed : int

    Raises
    ------
    InvalidInput
        Not 0 < mu <= L or 0 <= diversity <= 1, gradients that do not sum to zero, both gradients and zeta, or one client that is to
        differ from the mean.
    """
    check_counts(n, d)
    if not 0 < mu <= L:
        raise InvalidInput(f"expected 0 < mu <= L, got mu={mu}, L={L}")
    if not 0 <= diversity <= 1:
        raise InvalidInput(f"diversity must lie in [0, 1], got {diversity}")
    rng = np.random.default_rng(seed)
    spectrum = rng.uniform(mu, L, (*batch, n + 1, d))
    spectrum[..., 0] = L
    if d > 1:
        spectrum[..., 1] = mu
    curvature = rotated(rng, spectrum)
    common, own = curvature[..., :1, :, :], curvature[..., 1:, :, :]
    a = (1 - diversity) * common + diversity * own
    x_star = rng.standard_normal((*batch, d)) if solution is None else np.asarray(solution, dtype=float)
    if gradients is None:
        drawn = rng.standard_normal((*batch, n, d))
        g = _scaled(drawn - drawn.mean(axis=-2, keepdims=True), 1.0 if zeta is None else zeta)
    elif zeta is None:
        g = _checked(np.asarray(gradients, dtype=float))
    else:
        raise InvalidInput("give the gradients at the solution or their root mean square zeta, not both")
    b = (a @ x_star[..., None, :, None])[..., 0] - g
    return Quadratic(a, b, name=f"prescribed quadratics (L={L}, mu={mu})")


def _scaled(g: Any, zeta: Any) -> Any:
    zeta = np.asarray(zeta, dtype=float)
    if np.any(zeta < 0):
        raise InvalidInput(f"zeta must not be negative, got {zeta}")
    if g.shape[-2] == 1 and np.any(zeta > 0):
        raise InvalidInput("one client alone has gradient zero at the solution; use zeta=0 or n >= 2")
    size = np.sqrt((g * g).sum(axis=-1).mean(axis=-1))
    return g * (zeta / np.where(size > 0, size, 1))[..., None, None]


def _checked(g: Any) -> Any:
    rest = np.abs(g.sum(axis=-2)).max(initial=0)
    if not rest <= 1e-12 * np.abs(g).sum(axis=-2).max(initial=0):
        raise InvalidInput(
            f"gradients at the solution must sum to zero over the clients; their sum is as large as {rest:.3g}"
        )
    return g

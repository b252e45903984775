"""Pictures of A-FedPD's generalisation bounds: exact numbers of the counterexamples, and runs on a loss whose population risk is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Context, Picture, draw_bound
from paper_checks.afedpd.stability import Slope, local_model

#: of the loss 1/(1 + exp(xi x)), xi = +-1: its bound, Lipschitz constant and smoothness
H, G, L = 1.0, 1 / 4, 1 / (6 * 3**0.5)
C, P, S, RHO = 10, 5, 10, 1.0
ABOUT = (
    f"loss 1/(1 + exp(xi x)) of fair signs xi, so that F = 1/2, H = 1, G = 1/4, L = {L:.3f}; C = {C}, P = {P}, S = {S}, rho = 1, mu = 1/L, "
    "eta^t = mu/(gamma K (t + 1)), gamma = 2 + rho/L + T/(mu L)"
)


def descend(xi: Any, x: Any) -> Any:
    """Slope of 1/(1 + exp(xi x))."""
    return -xi / 4 / np.cosh(x / 2) ** 2


def mean_gaps(context: Context, T: int, K: int, *, fedavg: bool = False, draws: int = 500) -> NDArray[np.float64]:
    """E[F - f] at theta^t, t = 1..T, averaged over draws of data and samples; of FedAvg, or of A-FedPD."""
    rng = np.random.default_rng(context.seed)
    xi = rng.choice([-1.0, 1.0], (C, S, draws))
    theta, lam, every = np.zeros(draws), np.zeros((C, draws)), np.arange(draws)
    eta = 1 / L / (2 + RHO / L + T) / K  # mu L = 1
    rho, gaps = 0.0 if fedavg else RHO, []
    for t in range(T):
        active = rng.choice(C, P, replace=False)
        models = np.empty((C, draws))
        for i in active:
            drawn = rng.integers(S, size=(K, draws))
            slopes: list[Slope] = [partial(descend, xi[i, j, every]) for j in drawn]
            given: Any = (theta, lam[i], rho, eta / (t + 1))
            models[i] = local_model(slopes, *given)
        bar = models[active].mean(axis=0)
        models[[i for i in range(C) if i not in active]] = bar
        lam = lam + rho * (models - theta)
        theta = bar if fedavg else bar + lam.mean(axis=0) / rho
        gaps.append(float(np.mean(0.5 - (1 / (1 + np.exp(xi * theta))).mean(axis=(0, 1)))))
    return np.array(gaps)


def theorem_2(T: Any, draws: Any = 1) -> Any:
    """(11) with mu L = 1; with ``draws`` = K, what its proof gives."""
    return 4 * (G**2 / L) ** 0.5 * (H * P * draws * T) ** 0.5 / (C * S)


def draw_rounds(context: Context, *, T: int = 60, K: int = 5) -> Picture:
    """(11) over the rounds, as printed and with K, and E[F - f] of runs."""
    t = np.arange(1, T + 1)
    return draw_bound(
        "The generalisation gap over the rounds, under the proof's steps",
        t,
        theorem_2(t),
        ylabel="E[F(theta^t) - f(theta^t)]",
        about=f"{ABOUT}, T = {T}, K = {K}; means over 500 draws of data and samples, seed {context.seed}",
        more=[("with K restored", theorem_2(t, K)), ("A-FedPD, mean over draws", mean_gaps(context, T, K))],
    )


def draw_local_steps(context: Context, *, T: int = 10) -> Picture:
    """Table 9's last two rows over K, and E[F - f] of runs of both methods."""
    K = np.array([1, 2, 5, 10, 20, 50])
    gaps = [[mean_gaps(context, T, int(k), fedavg=of)[-1] for k in K] for of in (False, True)]
    return draw_bound(
        "Table 9's last two rows and the gap, over K, under the proof's steps",
        K,
        theorem_2(T) + 0 * K,
        xlabel="local steps K",
        ylabel="E[F(theta^T) - f(theta^T)]",
        about=f"{ABOUT}, T = {T}; means over 500 draws of data and samples, seed {context.seed}; claimed: the last row, without K",
        more=[
            ("Sun et al. (2023d), with K", theorem_2(T, K)),
            ("A-FedPD, mean over draws", gaps[0]),
            ("FedAvg with these steps, mean over draws", gaps[1]),
        ],
        logx=True,
    )


def draw_constant_slopes(gaps: Mapping[int, Sequence[Any]]) -> Picture:
    """A-FedPD's distance of the mirrored runs against FedAvg's, by K."""
    return draw_bound(
        "How far one exchanged sample parts the models, over K",
        list(gaps),
        [fedavg for _, fedavg in gaps.values()],
        xlabel="local steps K",
        ylabel="||theta^2 - hat||",
        about="one client, whose only sample has the loss x, or -x in the mirror; two rounds from 0, eta = 1, rho = 1/10; exact, no seeds; "
        "dashed: FedAvg, which the remark puts above A-FedPD",
        more=[("A-FedPD, the nearer of its two models", [ours for ours, _ in gaps.values()])],
        logx=True,
    )


def draw_coins(exact: Mapping[int, Any]) -> Picture:
    """E |F - f| of the mean of n fair coins, against no difference of models."""
    n = list(exact)
    return draw_bound(
        "A loss that does not depend on the model: (9) with the modulus inside",
        n,
        [0.0] * len(n),
        xlabel="samples n = CS",
        ylabel="E |F - f|",
        about="losses xi of fair coins xi = 0, 1; exact, no seeds; claimed: sup E |f(theta, xi) - f(hat theta, xi)| = 0",
        more=[("E |F - f|", list(exact.values())), ("|E[F - f]|", [0.0] * len(n))],
    )


def draw_lemma_4(rows: Sequence[tuple[int, Any, Any]], lipschitz: float, samples: int) -> Picture:
    """Lemma 4 by K on the instance of its check: rows of (K, E |f - hat f|, E |theta - hat|)."""
    K = [row[0] for row in rows]
    return draw_bound(
        "Lemma 4 by the number of local steps, one round",
        K,
        [lipschitz * float(apart) + 1 / samples for _, _, apart in rows],
        xlabel="local steps K",
        ylabel="E |f(theta, xi) - f(hat theta, xi)|",
        about=f"losses 1/2, and 1/(1 + x^2) of the exchanged one of S = {samples} samples, from x = 1, C = P = T = tau_0 = H = 1; exact, no seeds; "
        "claimed: as printed, with E ||theta - hat|| over all draws",
        more=[
            ("E |f - hat f|", [row[1] for row in rows]),
            ("given zeta: H P tau_0/(CS)", [1 / samples] * len(K)),
            ("given zeta, with K", [k / samples for k in K]),
        ],
    )

"""Pictures of A-FedPD's generalisation bounds: exact numbers of the counterexamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fedtheory.claims import Picture, draw_bound


def draw_gaps(xlabel: str, x: Sequence[int], gaps: Sequence[float], allowed: Sequence[float], setting: str) -> Picture:
    """E[F - f] of the losses phi(x_xi) that learn what is drawn, against (11)."""
    return draw_bound(
        "The generalisation gap where every sample that is drawn is learned",
        x,
        allowed,
        xlabel=xlabel,
        ylabel="E[F(theta^1) - f(theta^1)]",
        about=f"loss phi(x_xi) with L = G = H = 1, C = P = T = 1, eta = 1, {setting}; exact, no seeds; claimed: (11), 4/S for every mu",
        more=[("E[F - f]", gaps)],
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

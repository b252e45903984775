"""Pictures of A-FedPD's Theorem 1 and its remarks: rounds of the library's method, exact moments, and local steps with noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import AFedPD
from fedtheory.claims import Context, Picture, draw_bound
from fedtheory.core.randomness import Key
from paper_checks.afedpd.lemmas import corrected_numerator, numerator_of_8
from paper_checks.afedpd.moment_pictures import follow_moments
from problems.quadratics import scalar_quadratics


def sums_and_numerators(
    curvature: Any, centre: Any, rho: float, rounds: int, L: float
) -> tuple[NDArray[np.float64], Any, Any]:
    """Sums of ||grad f(thetabar^t)||^2 over 1..T, for T = 1..rounds, all clients, exact solves, from 1; (8)'s numerator, printed and corrected.

    ``curvature`` and ``centre`` have the shape ``(runs, n)``; sums ``(rounds, runs)``, numerators ``(runs,)``.
    """
    problem, method = scalar_quadratics(curvature, centre), AFedPD(rho)
    a, mean = np.asarray(curvature), np.mean(curvature, axis=-1)
    best = np.mean(a * np.asarray(centre), axis=-1) / mean
    state = method.init(problem, np.ones((len(a), 1, 1)))
    squares = []
    for t in range(rounds):
        state = method.round(problem, state, None, Key(0, t))
        away = state.x_bar[:, 0, 0] - best
        squares.append((mean * away) ** 2)
        if not t:
            gap, first = mean / 2 * away**2, np.mean((state.x_i[..., 0] - 1) ** 2, axis=-1)
    allowed = numerator_of_8(rho, gap, first), corrected_numerator(rho, gap, first, L)
    return np.cumsum(squares, axis=0), *allowed


def draw_theorem_1(context: Context, *, rho: float = 10.0, rounds: int = 100, runs: int = 50) -> Picture:
    """The sum over rounds in shares of what (8) allows: one client, and random smooth clients of either curvature."""
    one, allowed, corrected = sums_and_numerators(np.ones((1, 1)), np.zeros((1, 1)), rho, rounds, 1.0)
    rng = np.random.default_rng(context.seed)
    curvature = rng.uniform(-1, 1, (runs, 6))
    curvature[:, 0] = 1
    curvature += np.maximum(0.05 - curvature.mean(axis=1, keepdims=True), 0)  # f has a minimum
    sums, printed, _ = sums_and_numerators(np.minimum(curvature, 1), rng.standard_normal((runs, 6)), rho, rounds, 1.0)
    return draw_bound(
        "Theorem 1: the sum of T rounds over what (8) allows it",
        range(1, rounds + 1),
        [1.0] * rounds,
        xlabel="rounds T",
        ylabel="share of (8)'s allowance",
        about=f"A-FedPD, all clients, exact solves, rho = {rho:g} L, L = 1, theta^0 = 1; sum of ||grad f(thetabar^t)||^2, over rho "
        f"(f(thetabar^1) - f*) + R_0; runs: six clients, curvatures in [-1, 1], a positive mean, seed {context.seed}",
        runs=sums / printed,
        more=[
            ("one client, f = x^2/2", one[:, 0] / allowed[0]),
            ("what the corrected (8) allows this client", np.full(rounds, corrected[0] / allowed[0])),
        ],
        logx=True,
    )


def draw_one_of_two(context: Context, *, rho: float = 8.0, rounds: int = 1000) -> Picture:
    """Averages of E ||grad f(thetabar^t)||^2 on (x -+ 1)^2/2 from 1: one client a round, and both, against c/T."""
    averages = {}
    for P in (1, 2):
        squares = follow_moments("a-fedpd", rho, 2, P, (1, 0, 0, 1), rounds)[1:, 0]
        averages[P] = np.cumsum(squares) / np.arange(1, rounds + 1)
    both = np.array([[1.0, 1.0]]), np.array([[1.0, -1.0]])
    sums, _, numerator = sums_and_numerators(*both, rho, rounds, 1.0)
    T = np.arange(1, rounds + 1)
    return draw_bound(
        "The average of T rounds: 1/T with all clients, a floor with one of two",
        T,
        numerator[0] / T,
        xlabel="rounds T",
        ylabel="(1/T) sum of E ||grad f(thetabar^t)||^2",
        about=f"A-FedPD, exact solves, f_1, f_2 = (x -+ 1)^2/2, rho = {rho:g}, theta^0 = 1; exact moments, no seeds; claimed: O(1/T), drawn with "
        "the corrected Theorem 1's constant for all clients",
        more=[
            ("one of two clients, moments", averages[1]),
            ("both clients, moments", averages[2]),
            ("both clients, the library's method", sums[:, 0] / T),
            ("floor 1/(1 + 2 rho)", np.full(rounds, 1 / (1 + 2 * rho))),
        ],
        logx=True,
    )


def draw_noisy_steps(context: Context, *, m: float = 1.0, M: float = 3.0, steps: int = 1000, runs: int = 20) -> Picture:
    """E ||grad L_i||^2 after k noisy steps 2/(m (k + k_0)): the bound, exact moments for both curvatures, and runs."""
    k_0, sigma = 2 * M / m, 1.0
    s = np.arange(steps + 1) + k_0
    Q = max(k_0, 4 * sigma**2 / m**2)  # ||x_0 - x*|| = 1
    rng = np.random.default_rng(context.seed)
    curvature, x = rng.uniform(m, M, (runs, 5)), np.full((runs, 5), 5**-0.5)
    ends = np.array([m, M])
    squares, found, exact = np.ones(2), [], []
    for eta in 2 / (m * s):
        found.append(((curvature * x) ** 2).sum(axis=1))
        exact.append(ends**2 * squares)
        x = x - eta * (curvature * x + sigma / 5**0.5 * rng.standard_normal((runs, 5)))
        squares = (1 - eta * ends) ** 2 * squares + eta**2 * sigma**2
    flat, steep = np.array(exact).T
    return draw_bound(
        "The local problem's gradient after k noisy steps",
        np.arange(steps + 1) + 1,
        M**2 * Q / s,
        xlabel="local steps k, plus one",
        ylabel="E ||grad L_i||^2",
        about=f"steps 2/(m (k + k_0)), k_0 = 2 M/m, m = {m:g}, M = {M:g}, sigma = 1, ||x_0 - x*|| = 1; claimed: M^2 Q/(k + k_0), O(1/k); runs on "
        f"random quadratics in five dimensions, seed {context.seed}",
        runs=found,
        more=[("curvature m, exact moments", flat), ("curvature M, exact moments", steep)],
        logx=True,
    )

"""Pictures of A-FedPD's, FedDyn's and FedADMM's moments (`paper_checks.afedpd.moments`): exact maps, in floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Picture, draw_bound
from problems.dual_drift import drift_radius, moment_map

FAMILY = "f_i(x) = (a/2)(x - b_i)^2, one curvature a; P of C clients drawn uniformly; exact solves"
#: rho/L at which the sum of the rounds is drawn
SIZES = [2.0**k for k in range(-3, 8)]


def follow_moments(name: str, rho: float, C: int, P: int, start: Sequence[float], rounds: int) -> NDArray[np.float64]:
    """(E x^2, E x h, E h^2, E s) after 0..rounds rounds, ``(rounds + 1, 4)``."""
    matrix = np.array(moment_map(name, rho, C, P), dtype=float)
    found = [np.asarray(start, dtype=float)]
    for _ in range(rounds):
        found.append(matrix @ found[-1])
    return np.array(found)


def draw_spread(rate: float) -> Picture:
    """E s^t of A-FedPD as claimed, rate^t, and by the moments of the rounds."""
    spread = follow_moments("a-fedpd", 0.5, 100, 10, (0, 0, 0, 1), 100)
    return draw_bound(
        "The duals' spread, as claimed and by the moments of the rounds",
        range(101),
        [rate**t for t in range(101)],
        ylabel="moment, s^0 = 1",
        about=f"{FAMILY}; A-FedPD, C = 100, P = 10, rho = a/2, x^0 = x*; moments, no seeds",
        more=[("E s", spread[:, 3]), ("E x^2", spread[:, 0])],
    )


def draw_full_participation(rho: float = 0.5, C: int = 100, rounds: int = 20) -> Picture:
    """Moments of A-FedPD with P of the clients against all: E x^2 where clients are equal, and the duals' own parts E s."""
    P = (2, 10, 50)
    full = follow_moments("a-fedpd", rho, C, C, (1, 0, 0, 1), rounds)
    own = [(f"own parts, P = {p}", follow_moments("a-fedpd", rho, C, p, (0, 0, 0, 1), rounds)[:, 3]) for p in P]
    equal = follow_moments("a-fedpd", rho, C, P[0], (1, 0, 0, 0), rounds)[:, 0]
    return draw_bound(
        "As if all took part: the common part is, a client's own part is not",
        range(rounds + 1),
        full[:, 3],
        ylabel="moment, 1 at the start",
        about=f"{FAMILY}; A-FedPD, C = {C}, rho = a/2; moments, no seeds; dashed: own parts of the duals E s with all clients",
        more=[
            (f"model, equal clients, P = {P[0]}: E x^2", equal),
            (f"model, all clients, P = {C}: E x^2", follow_moments("a-fedpd", rho, C, C, (1, 0, 0, 0), rounds)[:, 0]),
            *own,
        ],
    )


def draw_equal_clients(C: int) -> Picture:
    """E x^2 of A-FedPD and FedDyn where clients are equal, against (rho/(a + rho))^{2t}."""
    curves = [(name, follow_moments(name, 0.5, C, 10, (1, 0, 0, 0), 60)[:, 0]) for name in ("a-fedpd", "feddyn")]
    return draw_bound(
        "Without heterogeneity: the claimed (rho/(a + rho))^{2t}, and the methods",
        range(61),
        [(1 / 9) ** t for t in range(61)],
        ylabel="E x^2, x^0 = 1",
        about=f"{FAMILY}; C = {C}, P = 10, rho = a/2, equal clients; moments, no seeds",
        more=curves,
    )


def draw_radii() -> Picture:
    """Mean-square factors of the three methods by the number of active clients."""
    active = [1, 2, 5, *range(10, 101, 10)]
    names = ("fedadmm", "feddyn", "a-fedpd")
    return draw_bound(
        "Mean-square factor a round: stable below one",
        active,
        [1.0] * len(active),
        xlabel="active clients P of 100",
        ylabel="factor",
        about=f"{FAMILY}; rho = a/10; spectral radii of moment maps, no seeds; dashed: the edge of stability",
        more=[(name, [drift_radius(name, 0.1, 100, P) for P in active]) for name in names],
    )


def draw_thresholds() -> Picture:
    """Factors by rho/a, where FedADMM as printed passes 1."""
    names = {"fedadmm": "FedADMM as printed", "feddyn": "FedDyn", "a-fedpd": "A-FedPD"}
    return _draw_factors("Dual drift: factor of the mean square a round", names, {5: "line", 50: "dashed"}, 0.005, 10)


def draw_server_duals() -> Picture:
    """Factors by rho/a, of FedDyn with its new and its previous dual at the server."""
    names = {"feddyn": "FedDyn", "feddyn-printed": "Eq. (7) as printed"}
    return _draw_factors("Factor of the mean square a round, C = 100", names, {20: "line", 100: "dashed"}, 0.02, 20)


def _draw_factors(title: str, names: Mapping[str, str], styles: Mapping[int, str], low: float, high: float) -> Picture:
    grid = [float(r) for r in np.geomspace(low, high, 50)]
    series = [
        {
            "label": f"{label}, P = {P} of 100",
            "x": grid,
            "y": [drift_radius(name, r, 100, P) for r in grid],
            "style": style,
        }
        for P, style in styles.items()
        for name, label in names.items()
    ]
    return Picture(title, "rho/a", "spectral radius", series, logx=True)


def draw_numerator(ratios: Mapping[int, Sequence[Any]]) -> Picture:
    """The sum of all rounds over Theorem 1's numerator, by rho/L of `SIZES`, for each P."""
    return draw_bound(
        "The sum of the rounds over Theorem 1's numerator",
        SIZES,
        [1.0] * len(SIZES),
        xlabel="rho/L",
        ylabel="sum / numerator",
        about=f"{FAMILY}; A-FedPD with C = 100, x^0 = x*, a = L = 1; closed forms, no seeds",
        more=[(f"P = {P}", values) for P, values in ratios.items()],
        logx=True,
    )


def draw_ratios(penalties: Sequence[float], rows: Sequence[Sequence[Any]], C: int, P: int) -> Picture:
    """FedDyn's sums over A-FedPD's by rho/a, against C/P."""
    return draw_bound(
        "FedDyn's sum of squares over A-FedPD's",
        penalties,
        [C / P] * len(penalties),
        xlabel="rho/a",
        ylabel="ratio of sums",
        about=f"{FAMILY}; C = {C}, P = {P}; exact sums of moments, no seeds; claimed: C/P",
        more=[
            ("equal clients", [row[1] for row in rows]),
            ("at the optimum, clients differ", [row[2] for row in rows]),
        ],
        logx=True,
    )

"""Appendix A.1: the proximal operators (15) to (17), proved and against CVXPY, and what the decomposition costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Context, Fault, Finding, PlayedStates, Setting, Theorem, at_most, equal, holds
from fedtheory.claims.statements.worlds import Parameters, World, dot
from fedtheory.core.errors import require
from fedtheory.core.layers import Layer
from fedtheory.core.regularisers import L1, NuclearNorm, soft_threshold
from paper_checks.fedslr.notation import PAPER, claim
from paper_checks.fedslr.timing import takes_at_most
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- (15) and (16) ---------------------------------------------------------------------------------------------------
#: of numbers d_j >= 0: m_j = max(d_j - a, 0), and b_j = d_j - m_j = min(d_j, a)
SHRUNK = {"small": "b[j] <= a", "shrunk": "m[j]*(a - b[j]) == 0"}


def play_matrices(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """S and G, sums of m_j E_j and b_j E_j over the first singular vectors, E_j = u_j v_j^T; X = S + G, and Z is any matrix."""
    S, G = (w.vector(name) * (0 if start else 1) for name in ("S", "G"))
    states = []
    for j in range(last + 1):
        states.append(SimpleNamespace(S=S, G=G, Z=w.vector(f"Z {j}")))
        E = w.vector(f"E {j}")
        for name, other, product in (("orthogonal", S, 0), ("also orthogonal", G, 0), ("unit", E, 1)):
            w.assume(f"{name} {j}", product - dot(E, other))
        S, G = S + E * getattr(p, f"m_{j}"), G + E * getattr(p, f"b_{j}")
    return states


def shrinkage_solves(factor: str = "1") -> Theorem:
    """With the singular values d_j of X, and v_j of any Z; ``factor``: of the norm."""
    return Theorem(
        "0 < a",
        f"near[n+1]/2 + {factor}*a*sum(m[j], j, 0, n) + away[n+1]/2 <= far[n+1]/2 + {factor}*a*sum(v[j], j, 0, n)",
        """
          begin: own[0] == 0                                    by identity
          next:  own[j] + b[j]*m[j] <= own[j+1]                 by derivation
          sums:  sum(b[j]*m[j], j, 0, n) <= own[n+1]            by induction n: base combine next(j=0), begin; step combine ih, next(j=n+1)
          full:  a*m[j] <= b[j]*m[j]                            by combine shrunk
          fulls: a*sum(m[j], j, 0, n) <= sum(b[j]*m[j], j, 0, n)   by induction n: base combine full(j=0); step combine ih, full(j=n+1)
          trace: other[n+1] <= sum(b[j]*v[j], j, 0, n)          by cite Von Neumann's trace inequality (1937) from singular
          less:  b[j]*v[j] <= a*v[j]                            by combine v[j]*small
          most:  sum(b[j]*v[j], j, 0, n) <= a*sum(v[j], j, 0, n)   by induction n: base combine less(j=0); step combine ih, less(j=n+1)
          parts: far[n] == near[n] + away[n] - 2*other[n] + 2*own[n]   by identity
          done:  claim                                          by combine (-1/2)*parts(n=n+1), 1*trace, 1*most, 1*sums, 1*fulls
        """,
        states=PlayedStates(play_matrices, start=partial(play_matrices, start=True)),
        rounds={"n": 0, "j": 0},
        sequences={"m": "0", "b": "0", "v": "0"},
        given={**SHRUNK, "singular": "other[n+1] <= sum(b[j]*v[j], j, 0, n)"},
        quantities={
            "near": "norm2(S - (S + G))",
            "far": "norm2(Z - (S + G))",
            "away": "norm2(Z - S)",
            "own": "dot(G, S)",
            "other": "dot(G, Z)",
        },
        assumed={
            "orthogonal": "<E_j, S> is 0 for the sum S of those before, of which no more is used than that it is no less",
            "also orthogonal": "<E_j, G> is 0 likewise",
            "unit": "||E_j|| = 1 likewise",
        },
    )


ROWS, COLUMNS = 6, 5  #: of the matrices that CVXPY is asked about
LAYER = (Layer("matrix", (ROWS, COLUMNS)),)
#: of CVXPY's points, relative: Clarabel's objective is good to 1e-8, and these objectives are strongly convex
CVXPY_ACCURACY = 1e-5


def draw_matrices(ctx: Context) -> Iterator[tuple[NDArray[np.float64], float]]:
    """Matrices and thresholds: of full rank, of rank two, and with a threshold above all singular values."""
    rng = ctx.rng()
    for rank, threshold in ((5, 0.7), (5, 2.0), (2, 0.5), (1, 0.1), (3, 50.0)):
        yield rng.standard_normal((ROWS, rank)) @ rng.standard_normal((rank, COLUMNS)), threshold


def prox_by_cvxpy(x: NDArray[np.float64], threshold: float, norm: str) -> Any:
    """argmin_Z ||Z - X||^2/2 + threshold * norm(Z)."""
    cp = require("cvxpy", "proximal operators from an independent solver")
    z = cp.Variable(x.shape)
    size = cp.normNuc(z) if norm == "nuclear" else cp.sum(cp.abs(z))
    cp.Problem(cp.Minimize(cp.sum_squares(z - x) / 2 + threshold * size)).solve(solver="CLARABEL")
    return z.value


def least_subgradient(z: Any, gradient: Any, weight: float, norm: str) -> float:
    """min ||G + weight S|| over the subgradients S of the norm at Z, by CVXPY from their description."""
    cp = require("cvxpy", "subgradients from an independent solver")
    s = cp.Variable(z.shape)
    if norm == "nuclear":
        u, d, vt = np.linalg.svd(z, full_matrices=False)
        u, v = u[:, d > 1e-9], vt[d > 1e-9].T
        element = u @ v.T + (np.eye(len(u)) - u @ u.T) @ s @ (np.eye(len(v)) - v @ v.T)
        within = [cp.sigma_max(s) <= 1]
    else:
        element, within = s, [cp.abs(s) <= 1, cp.multiply(s, np.abs(np.sign(z))) == np.sign(z)]
    return float(cp.Problem(cp.Minimize(cp.norm(gradient + weight * element, "fro")), within).solve(solver="CLARABEL"))


def operator_runs(ctx: Context, *, norm: str, off: float = 1.0, weight: float = 0.4) -> Iterator[Finding]:
    """The library's operators against CVXPY; and distances from subdifferentials."""
    regulariser = NuclearNorm(1.0, LAYER) if norm == "nuclear" else L1(1.0)
    ours, theirs, slopes, ours_least, least = [], [], [], [], []
    for x, threshold in draw_matrices(ctx):
        z = regulariser.prox(x.reshape(1, -1), off * threshold)
        ours.append(z.reshape(x.shape))
        theirs.append(prox_by_cvxpy(x, threshold, norm))
        slopes.append(float(regulariser.distance(z, (z - x.reshape(1, -1)) / threshold)[0]))
        gradient = ctx.rng().standard_normal((1, x.size)) / 2
        heavier = replace(regulariser, weight=weight)
        ours_least.append(float(heavier.distance(z, gradient)[0]))
        least.append(least_subgradient(ours[-1], gradient.reshape(x.shape), 0.4, norm))
    scale = max(float(np.abs(x).max()) for x, _ in draw_matrices(ctx))
    gap = np.array([np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True)])
    yield at_most("CVXPY", gap, CVXPY_ACCURACY * scale, "numeric", "five matrices, two without full rank")
    yield at_most(
        "certificate", slopes, 1e-10, "numeric", "distance of (X - Z)/a from the subdifferential of the norm at Z"
    )
    text = "distance of 0 from G + 0.4 d||.|| at these Z, by CVXPY"
    yield equal("distances", ours_least, least, "numeric", text, rtol=CVXPY_ACCURACY)
    yield holds("a threshold above everything", not ours[-1].any(), "numeric", "the result is exactly zero")


#: mistakes of an operator and of its subdifferential
OFF = (
    Fault("a threshold 2 % off", "CVXPY", {"off": 1.02}),
    Fault("a subdifferential 2 % larger", "distances", {"weight": 0.408}),
)
CLAIMS += [
    claim(
        "FEDSLR-O1",
        "(15) and (16)",
        "argmin_Z ||Z - X||_F^2/2 + a ||Z||_* = U diag(S_a(d)) V^T for X = U diag(d) V^T.",
        [Step("optimal", shrinkage_solves(), wrong={"a norm 2 % heavier": shrinkage_solves("51/50")})],
        readings=[
            "S is U diag(S_a(d)) V^T, m_j = max(d_j - a, 0), b_j = d_j - m_j, and v_j are the singular values of Z; all in falling order. The "
            "theorem that is cited says <X - S, Z> <= sum b_j v_j, as X - S has the singular values b_j. near, far and away are ||S - X||^2, "
            "||Z - X||^2 and ||Z - S||^2: no other Z is as good as S."
        ],
        kind="identity",
        besides=partial(operator_runs, norm="nuclear"),
        faults=OFF,
    ),
]


# ---- (17) ------------------------------------------------------------------------------------------------------------
def soft_threshold_solves(factor: str = "1") -> Theorem:
    """x_j = e_j d_j with a sign e_j, S_a(x)_j = e_j m_j, and any z_j = f_j v_j; ``factor``: of the norm."""
    x, s, z, a = "e[j]*(m[j] + b[j])", "e[j]*m[j]", "f[j]*v[j]", f"{factor}*a"
    at_s, at_z = f"({s} - {x})**2/2 + {a}*m[j] + ({z} - {s})**2/2", f"({z} - {x})**2/2 + {a}*v[j]"
    return Theorem(
        "0 < a",
        f"sum({at_s}, j, 0, n) <= sum({at_z}, j, 0, n)",
        f"""
          slope: e[j]*f[j]*b[j]*v[j] <= a*v[j]    by combine v[j]*small
          one:   {at_s} <= {at_z}                 by combine 1*slope, 1*shrunk, (-m[j]*b[j])*sign
          all:   claim                            by induction n: base combine one(j=0); step combine ih, one(j=n+1)
        """,
        rounds={"n": 0, "j": 0},
        sequences={"e": "-1..1", "f": "-1..1", "m": "0", "b": "0", "v": "0"},
        given={"sign": "e[j]**2 == 1", **SHRUNK},
    )


CLAIMS += [
    claim(
        "FEDSLR-O2",
        "(17)",
        "argmin_z ||z - x||^2/2 + a ||z||_1 = S_a(x), coordinate by coordinate.",
        [Step("optimal", soft_threshold_solves(), wrong={"a norm 2 % heavier": soft_threshold_solves("51/50")})],
        readings=[
            "x_j = e_j (m_j + b_j) and z_j = f_j v_j are numbers as signs times sizes, m_j = max(|x_j| - a, 0): at least both and one of the two. "
            "S_a(x)_j = e_j m_j, m_j and v_j are |S_a(x)_j| and |z_j|, and no other z is as good."
        ],
        kind="identity",
        besides=partial(operator_runs, norm="l1"),
        faults=OFF,
    ),
]


# ---- The decomposition -----------------------------------------------------------------------------------------------
SIDE = 256  #: of the matrix whose decomposition is timed


def check_cost_of_prox(ctx: Context, *, decomposed: bool = True) -> Iterator[Finding]:
    """The singular value decomposition beside the rest of the nuclear prox, by CPU time in turns."""
    w = ctx.rng().standard_normal((SIDE, SIDE))
    u, s, vt = np.linalg.svd(w)
    work = (lambda: np.linalg.svd(w)) if decomposed else (lambda: soft_threshold(s, 1.0))
    text = f"CPU time of shrinking and multiplying back, in times that of the decomposition of a {SIDE} x {SIDE} matrix"
    yield takes_at_most("share of the decomposition", 0.5, lambda: (u * soft_threshold(s, 1.0)) @ vt, work, text)


CLAIMS += [
    Claim(
        "FEDSLR-D1",
        PAPER,
        "ordering",
        "Appendix A.1",
        "The singular value decomposition is what the proximal operator of the nuclear norm costs.",
        check_cost_of_prox,
        (
            Fault(
                "the threshold in the place of the decomposition", "share of the decomposition", {"decomposed": False}
            ),
        ),
        setting=lambda ctx: Setting("random matrices", "this machine's processor", False),
    ),
]

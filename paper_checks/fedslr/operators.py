"""FedSLR's proximal operators (15) to (17), their subdifferentials, and Fact 5: in symbols, in fractions, and against CVXPY."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Claim, Fault, Finding, Reading, Replay
from fedtheory.claims.context import Context
from fedtheory.claims.parts import assume, at_most, equal, holds, proved, refute
from fedtheory.claims.protocol import Setting
from fedtheory.core.errors import require
from fedtheory.core.layers import Layer
from fedtheory.core.regularisers import L1, NuclearNorm
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.symbolic import agree, is_positive, is_zero, symbols
from paper_checks.fedpd.structure import SCRIPT
from paper_checks.fedslr.exact_runs import PAPER
from paper_checks.fedslr.latency import takes_at_most

ROWS, COLUMNS = 6, 5  #: of the matrices that CVXPY is asked about
LAYER = (Layer("matrix", (ROWS, COLUMNS)),)
#: of CVXPY's points, relative: Clarabel's objective is good to 1e-8, and these objectives are strongly convex
CVXPY_ACCURACY = 1e-5


# ---- (15) to (17) ----------------------------------------------------------------------------------------------------


def _shrinks(factor: Any = 1) -> bool:
    """phi(z) = (z - x)^2/2 + a|z| exceeds phi(S_a(x)) by at least (z - S_a(x))^2/2, for x > a, and for |x| <= a.

    By symmetry x >= 0. With x = a + e, S = e: the excess is (z - e)^2/2 for z >= 0 and (z - e)^2/2 - 2 a z for z = -y < 0. With x = a - e
    in [0, a], S = 0: it is z^2/2 + e z for z >= 0, and z^2/2 + (2 a - e) y for z = -y < 0.
    """
    a, e, y = symbols("a e y", positive=True)
    z = symbols("z")

    def value(x: Any, at: Any, size: Any) -> Any:
        return (at - x) ** 2 / 2 + factor * a * size

    large, small = a + e, a - e
    above = value(large, z, z) - value(large, e, e) - (z - e) ** 2 / 2
    across = value(large, -y, y) - value(large, e, e) - (y + e) ** 2 / 2 - 2 * a * y
    inside = value(small, z, z) - value(small, 0, 0) - z**2 / 2 - e * z
    other = value(small, -y, y) - value(small, 0, 0) - y**2 / 2 - (2 * a - e) * y
    return all(is_zero(term) for term in (above, across, inside, other)) and is_positive(2 * a * y)


def _matrices(ctx: Context) -> Iterator[tuple[NDArray[np.float64], float]]:
    """Matrices and thresholds: of full rank, of rank two, and with a threshold above all singular values."""
    rng = ctx.rng()
    for rank, threshold in ((5, 0.7), (5, 2.0), (2, 0.5), (1, 0.1), (3, 50.0)):
        yield rng.standard_normal((ROWS, rank)) @ rng.standard_normal((rank, COLUMNS)), threshold


def _by_cvxpy(x: NDArray[np.float64], threshold: float, norm: str) -> Any:
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


def check_operator(
    ctx: Context, *, norm: str, factor: Any = 1, off: float = 1.0, weight: float = 0.4
) -> Iterator[Finding]:
    """Soft thresholding of entries or singular values: optimal in symbols, and against CVXPY; and distances from subdifferentials."""
    scalar = "(z - x)^2/2 + a|z| is at least its value at S_a(x) plus (z - S_a(x))^2/2, for every z"
    von_neumann = (
        " By von Neumann's trace inequality ||Z - X||_F^2 >= sum_j (sigma_j(Z) - sigma_j(X))^2, with equality where Z has the singular vectors of "
        "X in the same order, as U diag(S_a(d)) V^T has; so the minimum is that of the scalar problems in the singular values"
    )
    yield proved("optimal", _shrinks(factor), scalar + (von_neumann if norm == "nuclear" else ", in every coordinate"))
    regulariser = NuclearNorm(1.0, LAYER) if norm == "nuclear" else L1(1.0)
    ours, theirs, slopes, ours_least, least = [], [], [], [], []
    for x, threshold in _matrices(ctx):
        z = regulariser.prox(x.reshape(1, -1), off * threshold)
        ours.append(z.reshape(x.shape))
        theirs.append(_by_cvxpy(x, threshold, norm))
        slopes.append(float(regulariser.distance(z, (z - x.reshape(1, -1)) / threshold)[0]))
        gradient = ctx.rng().standard_normal((1, x.size)) / 2
        heavier = replace(regulariser, weight=weight)
        ours_least.append(float(heavier.distance(z, gradient)[0]))
        least.append(least_subgradient(ours[-1], gradient.reshape(x.shape), 0.4, norm))
    scale = max(float(np.abs(x).max()) for x, _ in _matrices(ctx))
    gap = np.array([np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True)])
    yield at_most("CVXPY", gap, CVXPY_ACCURACY * scale, "numeric", "five matrices, two without full rank")
    yield at_most(
        "certificate", slopes, 1e-10, "numeric", "distance of (X - Z)/a from the subdifferential of the norm at Z"
    )
    text = "distance of 0 from G + 0.4 d||.|| at these Z, by CVXPY"
    yield equal("distances", ours_least, least, "numeric", text, rtol=CVXPY_ACCURACY)
    yield holds("a threshold above everything", not ours[-1].any(), "numeric", "the result is exactly zero")


def check_cost(ctx: Context, *, regulariser: Any = None) -> Iterator[Finding]:
    """Time of both operators on one layer, in turns."""
    side = 192
    layer = (Layer("matrix", (side, side)),)
    x = ctx.rng().standard_normal((1, side * side))
    entrywise, spectral = L1(0.1) if regulariser is None else regulariser(layer), NuclearNorm(0.1, layer)
    text = f"CPU time of soft thresholding {side} x {side} entries, in times that of thresholding the singular values"
    yield takes_at_most("one operator", 0.2, lambda: entrywise.prox(x, 0.1), lambda: spectral.prox(x, 0.1), text)
    yield Reading(
        "Soft thresholding takes a few operations an entry, a decomposition of a d x d matrix of the order of d of them. What 'not large' means is "
        "read as a fifth at most; ResNet-18's layers are larger than the one here, which favours soft thresholding further."
    )


# ---- Fact 5 ----------------------------------------------------------------------------------------------------------


def replay_fact_5(instance: dict[str, Any]) -> Replay:
    """|G - (p_k - p_{k+1})/lr| for a client with two samples of slope ``drawn`` and ``other`` at w_t + p_k."""
    p, lr, mu, drawn, other = (Fraction(instance[name]) for name in ("p", "lr", "mu", "drawn", "other"))

    def measure(number: Any) -> Any:
        at = np.array([[number(p)]], dtype=object if number is Fraction else float)
        sample: Any = SimpleNamespace(n=1, d=1, grad=lambda x: 0 * x + number(drawn))
        steps = ProximalSteps(1, number(lr), L1(number(mu)))
        taken = steps(Subproblem(sample), at, SCRIPT, None)[0][0, 0]
        full = number(p) - number(lr) * number((drawn + other) / 2)
        shrunk = max(full - number(mu * lr), number(0)) + min(full + number(mu * lr), number(0))
        return abs(shrunk - taken) / number(lr)

    return Replay(
        "|G - (p_k - p_{k+1})/eta_l| after a step with one of two samples",
        float(measure(float)),
        1e-9,
        measure(Fraction),
        Fraction(0),
        "fractions",
        (assume("step size, below 2/(L + 1) for L = 1", "0 < lr < 1", lr=lr), assume("penalty", "0 < mu", mu=mu)),
    )


def column(name: str, n: int) -> Any:
    """Symbols name1, ..., namen as clients' points (n, 1)."""
    return np.asarray(symbols(f"{name}1:{n + 1}"), dtype=object)[:, None]


class AnyOperator:
    """A proximal operator with a given answer, which remembers what it was asked for."""

    numeric_only = None

    def __init__(self, answer: Any) -> None:
        self.answer, self.point, self.step = answer, None, None

    def prox(self, v: Any, step: Any) -> Any:
        """Return the answer."""
        self.point, self.step = v, step
        return self.answer


FACT_5 = {"p": "1", "lr": "1/2", "mu": "1/10", "drawn": "1", "other": "0"}


def check_fact_5(ctx: Context, *, instance: dict[str, Any] | None = None, drawn: bool = False) -> Iterator[Finding]:
    """(29) after a step with one sample; and with the gradient that the step took."""
    yield refute("a drawn gradient", replay_fact_5, instance or FACT_5, text="(7) draws a sample, G has none:")
    p, g, other = (np.array([[symbols(name)]], dtype=object) for name in ("p", "g", "h"))
    lr = symbols("lr", positive=True)
    anything: Any = AnyOperator(np.array([[symbols("q")]], dtype=object))
    sample: Any = SimpleNamespace(n=1, d=1, grad=lambda x: g)
    taken, _ = ProximalSteps(1, lr, anything)(Subproblem(sample), p, SCRIPT, None)
    asked = agree(anything.point, p - lr * ((g + other) / 2 if drawn else g)) and agree(anything.step, lr)
    text = "a step with the gradient g goes to the operator's answer at p - eta_l g, whatever the operator: (p_k - p_{k+1})/eta_l is G with this g"
    yield proved("the gradient of the step", asked and taken is anything.answer, text, role="repaired")
    yield Reading(
        "A slip without consequence: the proof of Theorem 3 has G_xi where it needs it, (94) and (102). With full gradients (29) is true."
    )


CLAIMS = [
    Claim(
        "FEDSLR-O1",
        PAPER,
        "identity",
        "(15) and (16)",
        "argmin_Z ||Z - X||_F^2/2 + a ||Z||_* = U diag(S_a(d)) V^T for X = U diag(d) V^T.",
        lambda ctx, **changed: check_operator(ctx, norm="nuclear", **changed),
        (
            Fault("a norm 2 % heavier", "optimal", {"factor": Fraction(51, 50)}),
            Fault("a threshold 2 % off", "CVXPY", {"off": 1.02}),
            Fault("a subdifferential 2 % larger", "distances", {"weight": 0.408}),
        ),
    ),
    Claim(
        "FEDSLR-O2",
        PAPER,
        "identity",
        "(17)",
        "argmin_z ||z - x||^2/2 + a ||z||_1 = S_a(x), coordinate by coordinate.",
        lambda ctx, **changed: check_operator(ctx, norm="l1", **changed),
        (
            Fault("a norm 2 % heavier", "optimal", {"factor": Fraction(51, 50)}),
            Fault("a threshold 2 % off", "CVXPY", {"off": 1.02}),
            Fault("a subdifferential 2 % larger", "distances", {"weight": 0.408}),
        ),
    ),
    Claim(
        "FEDSLR-R3",
        PAPER,
        "ordering",
        "Remark 3",
        "The operator of the l1 norm costs little beside that of the nuclear norm.",
        check_cost,
        (Fault("a nuclear norm in its place", "one operator", {"regulariser": lambda layer: NuclearNorm(0.1, layer)}),),
        setting=lambda ctx: Setting("random points", "this machine's processor", False),
    ),
    Claim(
        "FEDSLR-F5",
        PAPER,
        "identity",
        "Fact 5, (29)",
        "G_{eta_l}(w_t, p_{i,t,k}) = (p_{i,t,k} - p_{i,t,k+1})/eta_l.",
        check_fact_5,
        (
            Fault("both samples alike", "a drawn gradient", {"instance": FACT_5 | {"other": "1"}}, holds=True),
            Fault("the mean gradient", "the gradient of the step", {"drawn": True}),
        ),
        repaired="With the gradient that the step took: G_{eta_l,xi} for a drawn sample, G_{eta_l} for the full gradient.",
        replay=replay_fact_5,
    ),
]

"""FedSLR's proximal operators (15) to (17), and Facts 1, 2, 3 and 5: in symbols, in fractions, on unknown functions and against CVXPY."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedSLR
from fedtheory.claims import bar, dot, lemma, norm2, state
from fedtheory.claims.claim import Claim, Fault, Finding, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.parts import at_most, equal, holds
from fedtheory.claims.protocol import Setting
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import average, spread
from fedtheory.core.errors import require
from fedtheory.core.layers import Layer
from fedtheory.core.regularisers import L1, NuclearNorm
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.proofs.symbolic import symbols
from paper_checks.fedslr import lemmas
from paper_checks.fedslr.exact_runs import PAPER, claim
from paper_checks.fedslr.latency import takes_at_most
from paper_checks.given_gradients import SCRIPT
from paper_checks.steps import Step
from problems.low_rank import robust_low_rank_regression
from problems.quadratics import random_indefinite

ROWS, COLUMNS = 6, 5  #: of the matrices that CVXPY is asked about
LAYER = (Layer("matrix", (ROWS, COLUMNS)),)
#: of CVXPY's points, relative: Clarabel's objective is good to 1e-8, and these objectives are strongly convex
CVXPY_ACCURACY = 1e-5


# ---- (15) to (17) ----------------------------------------------------------------------------------------------------


#: of numbers d_j >= 0: m_j = max(d_j - a, 0), and b_j = d_j - m_j = min(d_j, a)
SHRUNK = {"small": "b[j] <= a", "shrunk": "m[j]*(a - b[j]) == 0"}


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


def operator_runs(ctx: Context, *, norm: str, off: float = 1.0, weight: float = 0.4) -> Iterator[Finding]:
    """The library's operators against CVXPY; and distances from subdifferentials."""
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


# ---- Facts 1 to 3 ----------------------------------------------------------------------------------------------------

EXACT = Exact()


def _phase_one(ctx: Context, local: Any) -> float:
    """Largest residual of (23), relative to the gradients, in six rounds on smooth functions without convexity."""
    worst = 0.0
    problems = [robust_low_rank_regression(seed=ctx.seed).problem.inner, random_indefinite(4, 5, seed=ctx.seed)]
    for problem in problems:
        for u in (0.1, 0.3, 0.49):
            eta = u / float(np.max(problem.certify()["L"].value))
            method = FedSLR(eta, local=local)
            state = method.init(problem, ctx.rng().standard_normal((1, problem.d)))
            for _ in range(6):
                new: Any = method.round(problem, state, None, SCRIPT)
                gradient = problem.grad(new.x_i)
                residual = gradient - state.gamma_i - (state.x - new.x_i) / eta
                worst = max(worst, float(np.abs(residual).max() / np.abs(gradient).max()))
                state = new
    return worst


def local_problem(eta: Any, value: Any, gamma: Any, x: Any, at: Any) -> Any:
    """(4)'s objective, from f_i there."""
    return value - dot(gamma, at) + norm2(x - at) / (2 * eta)


@lemma("the local problem", "Fact 1, (23)", "0 < L, 0 < eta", c=1)
def fact_1(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(23)'s left side is 0 where w_{i,t+1} is no worse for (4) than the point one step 1/(L + 1/eta) further down; c stands at gamma_{i,t}."""
    f = w.function(p.L, -p.L)
    x, gamma, new = w.vector("w"), w.vector("gamma_i"), w.vector("w_i+")
    slope, value = w.at(f, new, "f_i")
    left = slope - gamma * c.c - (x - new) / p.eta
    other = new - left / (p.L + 1 / p.eta)
    _, elsewhere = w.at(f, other, "f_i elsewhere")
    better = local_problem(p.eta, elsewhere, gamma, x, other) - local_problem(p.eta, value, gamma, x, new)
    w.assume("w_i is a minimiser", -better)
    return norm2(left)


def local_runs(ctx: Context, *, local: Any = EXACT) -> Iterator[Finding]:
    """The library's exact solves leave nothing of (23)."""
    yield at_most("runs", _phase_one(ctx, local), 1e-9, "numeric", "six rounds on I-ROB and indefinite quadratics")


@dataclass(frozen=True, eq=False)
class GradientState:
    """FedSLR's state where the duals are the gradients at the local models."""

    x: Any
    x_i: Any
    gamma_i: Any


@dataclass(frozen=True)
class GradientsForDuals:
    """Phase I that takes the gradient at the new local model in the place of (5)."""

    eta: Any

    def init(self, problem: Any, x0: Any) -> GradientState:
        """Start with the gradients at w_0."""
        return GradientState(x0, spread(x0, problem.n), problem.grad(x0))

    def round(self, problem: Any, state: GradientState, clients: Any, key: Any) -> GradientState:
        """Solve (4) as a proximal step, and take gradients."""
        x_i = problem.prox(state.x + self.eta * state.gamma_i, self.eta)
        gamma_i = problem.grad(x_i)
        return GradientState(average(x_i) - self.eta * average(gamma_i), x_i, gamma_i)


def same_states(method: Callable[[Any], Any] = FedSLR) -> Equivalence:
    """FedSLR's Phase I has the states of the method whose duals are gradients."""
    return Equivalence(
        lambda eta: method(eta),
        lambda eta: GradientsForDuals(eta),  # type: ignore[arg-type,return-value]
        region="0 < eta",
        states={"x": "x", "x_i": "x_i", "gamma_i": "gamma_i"},
        name="duals and gradients",
    )


def server_problem(w: World, p: Parameters, c: LemmaConstants, step: Any) -> Any:
    """(26)'s second problem at w_{t+1} less what it is at any z, where w_{t+1} = Prox(mean w_i - step mean gamma_i); c stands at the duals."""
    reg = w.function(None, 0, name="R")
    y, g, new, z = w.vector("w_i", True), w.vector("gamma_i", True), w.vector("w+"), w.vector("z")
    at_new, at_z = w.at(reg, new, "R")[1], w.at(reg, z, "R elsewhere")[1]
    to = bar(y - g * step)
    w.assume("w is Prox", at_new + norm2(new - to) / (2 * p.eta) - at_z - norm2(z - to) / (2 * p.eta))

    def objective(value: Any, at: Any) -> Any:
        return value + dot(g, at) * c.c + norm2(at - bar(y)) / (2 * p.eta)

    return objective(at_new, new) - objective(at_z, z)


@lemma("the server's problem", "Fact 3, (26)", "0 < eta", c=1)
def fact_3(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """w_{t+1} = Prox(mean w_i - eta mean gamma_i), by what Prox is, is no worse for (26)'s second problem than any z; c stands at the duals."""
    return server_problem(w, p, c, p.eta)


@lemma("the server's problem, line 10", "Algorithm 2, line 10", "0 < eta", units="as printed", c=1)
def line_10(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The same with mean gamma_i/eta in the place of eta mean gamma_i."""
    return server_problem(w, p, c, 1 / p.eta)


def server_runs(ctx: Context, *, sign: int = 1) -> Iterator[Finding]:
    """CVXPY solves (26) with a nuclear norm."""
    cp = require("cvxpy", "the server's step from an independent solver")
    rng, ours, theirs = ctx.rng(), [], []
    for eta_g, weight in ((0.5, 0.3), (2.0, 0.4), (10.0, 0.02)):
        models, duals = rng.standard_normal((2, 4, ROWS * COLUMNS))
        step = models.mean(axis=0) - eta_g * duals.mean(axis=0)
        ours.append(NuclearNorm(weight, LAYER).prox(step[None, :], eta_g)[0])
        z = cp.Variable((ROWS, COLUMNS))
        dual, centre = (v.mean(axis=0).reshape(ROWS, COLUMNS) for v in (sign * duals, models))
        objective = weight * cp.normNuc(z) + cp.sum(cp.multiply(dual, z)) + cp.sum_squares(z - centre) / (2 * eta_g)
        cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
        theirs.append(z.value.ravel())
    yield equal("CVXPY", ours, theirs, "numeric", "three server steps with a nuclear norm", rtol=10 * CVXPY_ACCURACY)


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


OPERATORS = (
    (
        "FEDSLR-O1",
        "(15) and (16)",
        "nuclear",
        "argmin_Z ||Z - X||_F^2/2 + a ||Z||_* = U diag(S_a(d)) V^T for X = U diag(d) V^T.",
        shrinkage_solves,
        "S is U diag(S_a(d)) V^T, m_j = max(d_j - a, 0), b_j = d_j - m_j, and v_j are the singular values of Z; all in falling order. The theorem "
        "that is cited says <X - S, Z> <= sum b_j v_j, as X - S has the singular values b_j. near, far and away are ||S - X||^2, ||Z - X||^2 and "
        "||Z - S||^2: no other Z is as good as S.",
    ),
    (
        "FEDSLR-O2",
        "(17)",
        "l1",
        "argmin_z ||z - x||^2/2 + a ||z||_1 = S_a(x), coordinate by coordinate.",
        soft_threshold_solves,
        "x_j = e_j (m_j + b_j) and z_j = f_j v_j are numbers as signs times sizes, m_j = max(|x_j| - a, 0): at least both and one of the two. "
        "S_a(x)_j = e_j m_j, m_j and v_j are |S_a(x)_j| and |z_j|, and no other z is as good.",
    ),
)
CLAIMS = [
    claim(
        "FEDSLR-F1",
        "Fact 1, (23)",
        "grad f_i(w_{i,t+1}) - gamma_{i,t} - (w_t - w_{i,t+1})/eta_g = 0.",
        [Step("the local problem's gradient", fact_1)],
        assumptions=["exact local solves", "A1"],
        readings=[
            "Of a minimiser of (4) no more is used than that one other point is no better, which need not be the only minimiser."
        ],
        kind="identity",
        besides=local_runs,
        faults=(Fault("100 gradient steps", "runs", {"local": GradientSteps(100, lr=0.02)}),),
    ),
    state(
        "FEDSLR-F2",
        PAPER,
        "Fact 2, (25); Remark 2",
        "gamma_{i,t+1} = grad f_i(w_{i,t+1}) for every t >= 0.",
        same_states(),
        assumptions=("exact local solves; without a regulariser, as the server's step only decides where w_t is",),
        wrong={"local steps": same_states(lambda eta: FedSLR(eta, local=GradientSteps(2, lr=eta / 9)))},
    ),
    claim(
        "FEDSLR-F3",
        "Fact 3, (26)",
        "The server's step is argmin_w R(w) + <mean_i gamma_{i,t+1}, w> + ||w - mean_i w_{i,t+1}||^2/(2 eta_g).",
        [Step("both forms", fact_3)],
        readings=[
            "(27) is Fermat's rule for it; statements about rounds take the subgradient that it leaves for the server's step."
        ],
        kind="identity",
        besides=server_runs,
        faults=(Fault("the dual with the other sign", "CVXPY", {"sign": -1}),),
    ),
    claim(
        "FEDSLR-ALG2",
        "Algorithm 2, line 10",
        "The server's step of Algorithm 2, w_{t+1} = Prox_{eta_g R}(mean w_{i,t+1} - (1/eta_g) mean gamma_{i,t+1}), is the one of (6) and (26).",
        [Step("divided by eta_g", line_10), Step("times eta_g", fact_3, "repaired")],
        repaired="With eta_g mean gamma_{i,t+1}, as in Algorithms 1 and 3.",
        readings=[
            "Algorithm 2 is FedSLR with partial participation, and with all clients the same method as Algorithm 1. So line 10 is held against the "
            "problem that the server solves there. A slip: the public code multiplies. What the printed line does is FEDSLR-N15."
        ],
        false={"divided by eta_g": "times eta_g"},
        kind="identity",
    ),
    *(
        claim(
            id,
            source,
            statement,
            [Step("optimal", solves(), wrong={"a norm 2 % heavier": solves("51/50")})],
            readings=[reading],
            kind="identity",
            besides=partial(operator_runs, norm=norm),
            faults=(
                Fault("a threshold 2 % off", "CVXPY", {"off": 1.02}),
                Fault("a subdifferential 2 % larger", "distances", {"weight": 0.408}),
            ),
        )
        for id, source, norm, statement, solves, reading in OPERATORS
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
    claim(
        "FEDSLR-F5",
        "Fact 5, (29)",
        "G_{eta_l}(w_t, p_{i,t,k}) = (p_{i,t,k} - p_{i,t,k+1})/eta_l.",
        [
            Step("a drawn gradient", lemmas.fact_5_printed),
            Step("the gradient of the step", lemmas.fact_5, "repaired"),
        ],
        repaired="With the gradient that the step took: G_{eta_l,xi} for a drawn sample, G_{eta_l} for the full gradient.",
        readings=[
            "(7) draws a sample, G has none. A slip without consequence: the proof of Theorem 3 has G_xi where it needs it, (94) and (102). With "
            "full gradients (29) is true."
        ],
        false={"a drawn gradient": "the gradient of the step"},
        kind="identity",
    ),
]

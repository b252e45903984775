"""FedSLR's Theorem 1 with its end point eta = 1/(2L), Lemmas 2 and 4, and what (81), finite length and the privacy remark take from their proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.claims import Theorem, state
from fedtheory.claims.claim import Assumption, Claim, Fault, Finding, Picture, Replay
from fedtheory.claims.context import Context
from fedtheory.claims.curves import draw_bound
from fedtheory.claims.parts import assume, at_most, disproved, refute
from fedtheory.claims.protocol import Clause
from fedtheory.core.problem import constant
from fedtheory.core.regularisers import L1, NuclearNorm
from fedtheory.measures import metrics, potentials
from fedtheory.measures.ground_truth import solve_with_cvxpy
from fedtheory.running.runner import run
from paper_checks.fedslr import kl_theorems, theorems
from paper_checks.fedslr.exact_runs import (
    ALONG,
    CONTINUOUS,
    EXACT,
    KL_HOLDS,
    PAPER,
    Constants,
    claim,
    derived,
    fractions_of,
    play,
    play_on_line,
)
from paper_checks.fedslr.kl_runs import low_rank_run, power_run
from paper_checks.fedslr.operators import COLUMNS, LAYER, ROWS, least_subgradient
from paper_checks.fedslr.unknown_functions import changed, plant
from paper_checks.grounds import are_so
from paper_checks.steps import Conclusion, Step
from problems.known_exponents import power
from problems.low_rank import low_rank_regression, robust_low_rank_regression
from problems.piecewise import plateau

#: the range in the paper's letters, and without its end point
PRINTED_STEP = theorems.SERVER_STEP.replace("eta", "eta_g")
SHORT_STEP = PRINTED_STEP.replace("<=", "<")

# ---- Theorem 1 --------------------------------------------------------------------------------------------------------


def on_the_cycle(instance: Mapping[str, Any], measure: Any) -> tuple[Any, Any, tuple[Assumption, ...]]:
    """What is measured of the states of rounds 1 to 3 on the plateau, in floats and in fractions; and that they are a 2-cycle within A1 to A4."""
    eta, start, weight = fractions_of(instance, ("eta", "start", "lam"))
    f = plateau()
    measured = {}
    for exactly in (True, False):
        problem, states = play_on_line(f, eta, start, 3, weight=weight, exactly=exactly)
        measured[exactly] = measure(problem, states[1:])
        if exactly:
            rows = [np.concatenate([s.x[0], s.x_i[0], s.gamma_i[0]]) for s in states]
            returned = abs(rows[3] - rows[1]).max()
            apart = min(abs(s.x - s.x_i).max() for s in states[1:3])
    bends, slopes = f.curvatures, f.slopes
    assumptions = (
        assume("A1 with L = 1, the steepest piece of f'", "steepest <= 1", steepest=abs(bends).max()),
        assume("A2, the largest slope", "B <= 1", B=abs(slopes).max()),
        assume("A3: f falls to no side", "left <= right", left=-slopes[0, -1], right=-slopes[0, 0]),
        assume(
            "A4: D is piecewise quadratic, hence semi-algebraic; at the cluster points 0 is not in dD, since copies are away from w",
            "0 < a",
            a=apart,
        ),
        assume("step size", "2*eta <= 1", eta=eta),
        assume("the state after 3 rounds is that after 1, so that odd rounds converge", "away <= 0", away=returned),
    )
    return measured[False], measured[True], assumptions


def replay_cycle(instance: Mapping[str, Any]) -> Replay:
    """Three rounds on the plateau: the state of round 3 is that of round 1, and that of round 2 is another one."""

    def apart(problem: Any, states: Any) -> Any:
        rows = [np.concatenate([s.x[0], s.x_i[0], s.gamma_i[0]]) for s in states]
        return abs(rows[1] - rows[0]).max()

    measured, exact, assumptions = on_the_cycle(instance, apart)
    what = "distance between the cluster point of the odd rounds and that of the rounds after them"
    return Replay(what, float(measured), 0.0, exact, Fraction(0), "fractions", assumptions)


def replay_length(instance: Mapping[str, Any]) -> Replay:
    """How far the copy travels from round 1 to round 2, and so in every later round."""
    measured, exact, assumptions = on_the_cycle(instance, lambda problem, s: abs(s[1].x_i - s[0].x_i).max())
    what = "the step of the copy in a round, for ever, where a finite length lets steps go to 0"
    return Replay(what, float(measured), 0.0, exact, Fraction(0), "fractions", assumptions)


def replay_duals(instance: Mapping[str, Any]) -> Replay:
    """How far the dual is from the gradient at the server's model in every round."""

    def away(problem: Any, states: Any) -> Any:
        f = getattr(problem, "inner", problem)
        return min(abs(s.gamma_i - f.grad(s.x)).max() for s in states[:2])

    measured, exact, assumptions = on_the_cycle(instance, away)
    what = "distance of the dual from the client's gradient at w_t in every round"
    return Replay(what, float(measured), 0.0, exact, Fraction(0), "fractions", assumptions)


#: the plateau at the end of the range, eta_g = 1/(2L)
AT_THE_END = {"eta": "1/2", "start": "1/10", "lam": "1"}
A_SHORTER_STEP = Fault("a step that is 2 % shorter", "eta_g = 1/(2L)", {"eta": "49/100"}, holds=None)


def measure_descent(method: Any, problem: Any, L: float, rounds: int) -> tuple[Any, Any, Any]:
    """From round 1 on: D_t - D_{t+1}, what Lemma 3 says that it is at least, and ||w_{t+1} - w_t||."""
    copies, server = potentials.fedslr_decrease(method.eta, L)
    potential, found = potentials.fedslr(method.eta), []
    for old, new in play(method, problem, rounds):
        spread = float(((new.x_i - old.x_i) ** 2).sum(axis=-1).mean())
        moved = float(np.linalg.norm(new.x - old.x))
        fall = float(potential(problem, old) - potential(problem, new))
        found.append((fall, copies * spread + server * moved**2, moved))
    return tuple(np.array(column)[1:] for column in zip(*found, strict=True))  # type: ignore[return-value]


def shift_runs(ctx: Context, *, eta: str = "1/2", method: Any = FedSLR) -> Iterator[Finding]:
    """(8) fails at the end point, by an exact 2-cycle; the descent on runs below it."""
    yield refute("eta_g = 1/(2L)", replay_cycle, AT_THE_END | {"eta": eta})
    problem = robust_low_rank_regression(seed=ctx.seed).problem
    L = float(constant(problem, "L"))
    series = []
    for x in (0.2, 0.45, 0.49):
        fall, owed, moved = measure_descent(method(x / L), problem, L, 150)
        said = f"150 rounds; w_t moves by {moved[0]:.2g} in round 2 and by {moved[-1]:.2g} in the last"
        yield at_most(f"descent by run, L eta = {x}", owed, fall, "numeric", said, role="repaired", error=1e-14)
        series.append({"label": f"L eta = {x}", "x": list(range(2, len(moved) + 2)), "y": moved.tolist()})
    yield Picture("Theorem 1 on a non-convex instance", "round", "||w_{t+1} - w_t||", series, logy=True)


def distances_agree(ctx: Context, scale: float = 1.0) -> float:
    """Largest relative difference between dist(0, g + dR(w)) by the closed forms and by CVXPY over the subdifferential."""
    rng, lam, apart = ctx.rng(), 1.3, []
    for rank in (0, 1, 3):
        matrix = rng.normal(size=(ROWS, rank)) @ rng.normal(size=(rank, COLUMNS))
        sparse = np.where(rng.random(matrix.shape) < 0.5, 0.0, rng.normal(size=matrix.shape))
        cases = ("nuclear", matrix, NuclearNorm(lam * scale, LAYER)), ("l1", sparse, L1(lam * scale))
        for norm, w, regulariser in cases:
            g = rng.normal(size=w.shape)
            least = least_subgradient(w, g, lam, norm)
            ours = float(regulariser.distance(w.reshape(1, -1), g.reshape(1, -1))[0])
            apart.append(abs(least - ours) / least)
    return max(apart)


def limit_runs(ctx: Context, *, scale: float = 1.0, method: Any = FedSLR) -> Iterator[Finding]:
    """The exact subgradient distance, and the limit on low-rank regression, against CVXPY."""
    apart = distances_agree(ctx, scale)
    text = f"nuclear norm and l1 norm: closed forms and CVXPY differ by {apart:.1e}"
    yield at_most("dist(0, g + dR(w))", apart, 1e-5, "numeric", text)
    problem = low_rank_regression(seed=ctx.seed).problem
    best, _, how = solve_with_cvxpy(problem)
    L = float(constant(problem, "L"))
    start, measured = np.zeros(problem.d), {"d": metrics.stationarity}
    trace = run(method(0.45 / L), problem, start, 1200, metrics=measured, every=1200, progress=False)
    away, left = float(np.linalg.norm(trace.state.x[0] - best) / np.linalg.norm(best)), float(trace["d"][-1]) ** 0.5
    text = f"after 1200 rounds w_t is {away:.1e} of ||w*|| from CVXPY's minimiser ({how})"
    yield at_most("low-rank regression, CVXPY", away, 1e-4, "numeric", text)
    yield at_most("low-rank regression, the distance", left, 1e-6, "numeric", f"dist {left:.1e}")
    if left < 1:  # of a run that went away there is nothing to draw
        yield draw_distance(problem, 0.45 / L, f"low-rank regression, seed {ctx.seed}")


def draw_distance(problem: Any, eta: float, where: str) -> Picture:
    """The distance from stationarity along a run, below what the step "the distance" claims of it."""
    rounds, k = [*play(FedSLR(eta), problem, 301)][1:], Constants(float(constant(problem, "L")), eta)
    moved = [float(((new.x_i - old.x_i) ** 2).sum(axis=-1).mean() ** 0.5) for old, new in rounds]
    stationary = [float(metrics.stationarity(problem, old).item() ** 0.5) for old, _ in rounds]
    return draw_bound(
        "The distance from stationarity goes to zero with the clients' steps",
        range(1, len(rounds) + 1),
        float(k.c1) ** 0.5 * np.array(moved),
        ylabel="dist(0, grad f(w_t) + dR(w_t))",
        about=f"FedSLR with exact solves, eta_g = 0.45/L; {where}; dashed: (1/eta_g + eta_g L^2) (mean_i ||w_(i,t+1) - w_(i,t)||^2)^(1/2)",
        more=[("run", stationary)],
    )


# ---- the residual r_t = D_t - D* --------------------------------------------------------------------------------------


#: the printed C_2 times {sign} is negative for eta = 1/(2 L (1 + s)), s > 0
NEGATIVE = (
    "({sign})*(L**2*eta + L/2 - 1/(2*eta)) == -L*s*(3 + 2*s)/(2*(1 + s)) where eta = 1/(2*L*(1 + s))",
    "L*s*(3 + 2*s)/(2*(1 + s)) > 0",
)


def recursion_runs(ctx: Context, *, sign: int = 1, factor: float = 1.0) -> Iterator[Finding]:
    """The sign of C_2, and (81) with the right one on runs."""
    yield disproved(
        "the constants are positive",
        are_so([text.format(sign=sign) for text in NEGATIVE]),
        "C_2 = L^2 eta + L/2 - 1/(2 eta) = -(1 - 2 L eta)(1 + L eta)/(2 eta) < 0 for eta < 1/(2L), and 0 at 1/(2L): so is C_4, and C_5 is no "
        "real number",
    )
    for seen in (low_rank_run(), power_run(6), power_run(8)):
        keep = seen.trusted[1:] & (np.diff(seen.rounds) == 1)
        r, new = seen.residual[:-1][keep], seen.residual[1:][keep]
        k = seen.constants
        yield at_most(
            f"run: {seen.name}",
            factor * k.c4 * r ** (2 * k.theta),
            r - new,
            "numeric",
            f"{int(keep.sum())} rounds, theta = {k.theta:.4g}, least c = {k.c:.4g}, C_4 = {k.c4:.3g}",
            role="repaired",
        )


def length_runs(ctx: Context, *, eta: str = "1/2", share: float = 1.0) -> Iterator[Finding]:
    """The infinite length at the end of the range, and the finite one on runs below it."""
    yield refute("eta_g = 1/(2L)", replay_length, AT_THE_END | {"eta": eta})
    shares = []
    for seen, problem, start in (
        (low_rank_run(), low_rank_regression().problem, np.zeros(120)),
        *((power_run(p), power(p).problem, np.array([0.9])) for p in (4, 6, 8)),
    ):
        k = seen.constants
        limit = k.c3 / k.c2 * k.c * seen.residual[0] ** (1 - k.theta)
        travelled = measure_lengths(FedSLR(seen.eta), problem, start, 400)
        text = f"the copies travel {travelled[-1]:.4g} from round 1 on, of {limit:.4g} at most"
        yield at_most(f"length: {seen.name}", travelled[-1], share * limit, "numeric", text, role="repaired")
        shares.append((seen.name, travelled / limit))
    yield draw_bound(
        "The length of FedSLR's paths is finite",
        range(1, 400),
        np.ones(399),
        ylabel="length of the copies' paths, of its bound",
        about="FedSLR with exact solves, eta_g = 0.45/L (0.25/L on powers); sum_t mean_i ||w_(i,t+1) - w_(i,t)|| over (C_3/C_2) c r_1^(1 - theta) "
        "with the least c of each run",
        more=shares,
    )


def measure_lengths(method: Any, problem: Any, start: Any, rounds: int) -> Any:
    """sum_{1 <= t <= T} mean_i ||w_{i,t+1} - w_{i,t}|| for T = 1, 2, ..."""
    steps = [np.linalg.norm(new.x_i - old.x_i, axis=-1).mean() for old, new in play(method, problem, rounds, start)]
    return np.cumsum(steps[1:])


def dual_runs(ctx: Context, *, eta: str = "1/2", method: Any = FedSLR) -> Iterator[Finding]:
    """gamma_{i,t} - grad f_i(w_t) alternates at the end of the range, and goes to 0 on a run below it."""
    yield refute("eta_g = 1/(2L)", replay_duals, AT_THE_END | {"eta": eta})
    problem = robust_low_rank_regression(seed=ctx.seed).problem
    L = float(constant(problem, "L"))
    rounds = play(method(0.45 / L), problem, 400, seed=ctx.seed)
    sizes = [float(np.linalg.norm(s.gamma_i - problem.grad(s.x), axis=-1).max()) for _, s in rounds]
    text = f"largest error {sizes[0]:.2g} after round 1, {sizes[-1]:.2g} after 400"
    yield at_most("robust regression", sizes[-1], 1e-3 * sizes[0], "numeric", text, role="repaired")
    yield draw_bound(
        "The clients' duals approach their gradients",
        range(1, 401),
        [1e-3 * sizes[0]] * 400,
        ylabel="max_i ||gamma_i - grad f_i(w)||",
        about=f"FedSLR with exact solves and eta_g = 0.45/L; robust low-rank regression, seed {ctx.seed}; "
        "dashed: the level that is asked for after 400 rounds",
        more=[("run", sizes)],
    )


AS_PRINTED = Theorem(theorems.CHOICE, "L**2*eta + L - 1/(2*eta) <= 0", "done: claim by combine")
AS_DESCENDED = Theorem(
    theorems.CHOICE,
    ("L**2*eta + L/2 - 1/(2*eta) <= 0", "(L**2*eta + L/2 - 1/(2*eta))*2*eta == -(1 - 2*L*eta)*(1 + L*eta)"),
    "sign: claim 1 by combine\nfactors: claim 2 by combine",
)
CLAIMS: list[Claim] = [
    claim(
        "FEDSLR-T1a",
        "Theorem 1, (8)",
        "For 0 < eta_g <= 1/(2L): where (w_{t_j}, {w_{i,t_j}}, {gamma_{i,t_j}}) converges, (w_{t_j + 1}, ...) converges to the same point.",
        [Step("eta_g < 1/(2L)", theorems.SHIFTED, "repaired")],
        assumptions=["A1 to A3", EXACT, CONTINUOUS, ALONG],
        repaired="The same for 0 < eta_g < 1/(2L).",
        readings=[
            "Only the closed end is affected: there C_2 = 0, w_t = 0 is stationary all the same, and the copies w_{i,t} and duals alternate for "
            "ever. Bounded gradients (A2) are not needed."
        ],
        kind="rate",
        besides=shift_runs,
        faults=(
            A_SHORTER_STEP,
            *plant(
                "descent by run, L eta = 0.45",
                *("sign of the dual in local work", "no proximal step at the server", "local penalty halved"),
            ),
        ),
        replay=replay_cycle,
    ),
    claim(
        "FEDSLR-T1b",
        "Theorem 1, (9)",
        (
            Clause("For 0 < eta_g < 1/(2L),", ("eta_g < 1/(2L)",)),
            Clause(
                "and for eta_g = 1/(2L), a cluster point satisfies 0 in dR(w*) + grad f(w*): R(w*) <= R(z) + <grad f(w*), z - w*> for every z.",
                ("eta_g = 1/(2L)",),
            ),
        ),
        [
            Step("eta_g < 1/(2L)", theorems.STATIONARY),
            Step("eta_g = 1/(2L)", theorems.STATIONARY_AT_THE_END),
        ],
        assumptions=["A1 to A3", EXACT, CONTINUOUS, ALONG],
        readings=[
            "The closed end point is covered, too, although copies and duals need not converge there (FEDSLR-T1a)."
        ],
        kind="rate",
        besides=limit_runs,
        faults=(
            Fault("a nuclear norm and an l1 norm that weigh 1 % more", "dist(0, g + dR(w))", {"scale": 1.01}),
            *plant(
                "low-rank regression, CVXPY",
                *(
                    "threshold lambda in place of lambda eta",
                    "no proximal step at the server",
                    "sign of the server's dual",
                ),
            ),
        ),
    ),
    state(
        "FEDSLR-T1-47",
        PAPER,
        "(46) and (47) in the proof of Theorem 1",
        "L^2 eta_g + L - 1/(2 eta_g) <= 0 as per our choice of eta_g, 0 < eta_g <= 1/(2L), so that steps go to 0.",
        AS_PRINTED,
        kind="proof step",
        repaired=AS_DESCENDED,
        repaired_text="With the coefficient of Lemma 3, L^2 eta_g + L/2 - 1/(2 eta_g), which is 0 at eta_g = 1/(2L) alone. The printed one is "
        "positive for eta_g > (sqrt(3) - 1)/(2L); a misprint of L/2, since (43) has it right.",
    ),
    claim(
        "FEDSLR-L2",
        "Lemma 2, (32)",
        "D at the cluster point is more than -infinity.",
        [Step("the cluster point", theorems.LEMMA_2)],
        assumptions=[EXACT, CONTINUOUS, ALONG],
        readings=[
            "All terms of (10) are finite there, so the lemma says little; the bound is what makes D useful. Bounded gradients are not needed. "
            "(33) subtracts eta_g ||gamma||^2 where completing the square gives half of it."
        ],
    ),
    claim(
        "FEDSLR-L4",
        "Lemma 4",
        "r_t = D_t - D* >= 0 for t > 0, and r_t -> 0.",
        [Step("Lemma 4", theorems.LEMMA_4)],
        assumptions=[EXACT, CONTINUOUS, ALONG],
    ),
    claim(
        "FEDSLR-T2-81",
        "Theorem 2, its constants and (81)",
        "r_t - r_{t+1} >= C_4 r_t^(2 theta), where C_2 = L^2 eta_g + L/2 - 1/(2 eta_g) and C_4 = C_2/(C_3^2 c^2 (1 - theta)^2) are positive.",
        [Step("the recursion", theorems.RECURSION, "repaired")],
        assumptions=["A1 to A4", EXACT, KL_HOLDS, "t counts rounds from t_0 on, as long as r_t > 0"],
        repaired="C_2 = 1/(2 eta_g) - L/2 - L^2 eta_g = (1 - 2 L eta_g)(1 + L eta_g)/(2 eta_g), for 0 < eta_g < 1/(2L) and from some round t_0 on.",
        readings=[
            "C_2 is read as -C_2, as (71) needs; with the printed sign (81) says less than that D does not rise."
        ],
        besides=recursion_runs,
        faults=(
            Fault("the other sign of C_2", "the constants are positive", {"sign": -1}, holds=True),
            Fault("C_4 five times as large", "run: |w|^8/8", {"factor": 5.0}),
        ),
    ),
    claim(
        "FEDSLR-T2d",
        "Theorem 2, last part, and (82) to (85)",
        "w_t converges to a stationary point of (P1) from any start, and sum_t mean_i ||w_{i,t+1} - w_{i,t}|| is finite.",
        [Step("from a round near the cluster point on", kl_theorems.TRAPPED, "repaired")],
        conclusions=[
            Conclusion(
                "eta_g < 1/(2L)",
                (
                    (
                        "Along the subsequence the copies go to w* (Theorem 1), and r_t to 0 (Lemma 4), so that the hypothesis called start, "
                        "whose left side is continuous in them and 0 at the cluster point, is met in some round t_0.",
                        "words",
                    ),
                    (
                        "So the copies' path is of finite length, they converge, and to w*, which they come as near to as one likes.",
                        "fact 1; line 1",
                    ),
                    (
                        "w_t - w_{i,t} -> 0 (Theorem 1) takes w_t along, to a stationary point. Where r_t is 0 once, nothing moves any more.",
                        "line 2",
                    ),
                ),
                ("from a round near the cluster point on",),
                "repaired",
            ),
        ],
        assumptions=["A1 to A4", EXACT, PRINTED_STEP, CONTINUOUS],
        repaired="The same for 0 < eta_g < 1/(2L).",
        readings=[
            "At eta_g = 1/(2L), where C_2 = 0, the length is infinite on the 2-cycle of FEDSLR-T1a; w_t is 0 there, and whether w_t alone "
            "converges at the end of the range is open. A4 is local: that its inequality holds along the run is shown (FEDSLR-N23), and not assumed."
        ],
        kind="rate",
        besides=length_runs,
        faults=(
            A_SHORTER_STEP,
            Fault("a length that is ten times as short", "length: |w|^8/8", {"share": 0.1}),
        ),
        replay=replay_length,
    ),
    derived(
        "FEDSLR-N23",
        "Theorem 2, that A4's inequality holds along the run",
        "From a round on in which the copies and r_t are near enough to a stationary point and to 0, states stay in any ball around it in which "
        "A4's inequality holds, so that it holds at all of them, and sum_t (mean_i ||w_{i,t+1} - w_{i,t}||^2)^(1/2) is at most c (C_3/C_2) r^(1 - "
        "theta), for 0 < eta_g < 1/(2L).",
        [Step("the trap", kl_theorems.TRAPPED)],
        assumptions=["A1", EXACT, "A4's inequality in a ball, and r_t > 0"],
        readings=[
            "The paper uses the inequality of A4, which is local, at the iterates, as they converge, and shows with it that they converge. This "
            "closes the circle: along the subsequence of Theorem 1 some round is near enough."
        ],
    ),
    claim(
        "FEDSLR-D6",
        "Appendix A.6.1",
        "gamma_{i,t} approximates the client's gradient as t goes to infinity.",
        [Step("eta_g < 1/(2L)", theorems.DUALS_APPROACH, "repaired")],
        assumptions=["A1", "f bounded below, as Remark 4 reads A3", EXACT, f"{PRINTED_STEP}, as in Theorems 1 and 2"],
        repaired="The same for 0 < eta_g < 1/(2L).",
        readings=[
            "At eta_g = 1/(2L) the duals alternate around the gradient on the 2-cycle of FEDSLR-T1a. With inexact solves (25) does not hold."
        ],
        kind="rate",
        besides=dual_runs,
        faults=(
            A_SHORTER_STEP,
            Fault("duals of the wrong sign", "robust regression", {"method": changed("sign of the dual step")}),
        ),
        replay=replay_duals,
    ),
]

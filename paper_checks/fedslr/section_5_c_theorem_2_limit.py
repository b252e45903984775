"""Section 5: the last part of Theorem 2, that w_t converges, by a path of finite length; and Remark 7 on its rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Replay, Theorem, at_most, draw_bound, refute
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.fedslr.assumptions import CONTINUOUS, DISTANCE, EXACT, PRINTED_STEP
from paper_checks.fedslr.kl_runs import low_rank_run, power_run
from paper_checks.fedslr.notation import OF_THEOREM_2, RESIDUAL, STEPS, claim
from paper_checks.fedslr.played import play
from paper_checks.fedslr.rounds import ROUNDS, TO_THE_SLOPE, play_with_slope
from paper_checks.fedslr.section_5_a_theorem_1 import A_SHORTER_STEP, AT_THE_END, on_the_cycle
from paper_checks.fedslr.section_5_b_theorem_2_rates import LINEAR, SUBLINEAR
from paper_checks.steps import Conclusion, Step
from problems.known_exponents import power
from problems.low_rank import low_rank_regression

CLAIMS: list[Claim] = []


# ---- Theorem 2, last part --------------------------------------------------------------------------------------------
def play_near_a_stationary_point(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with r_t and dist(0, dD_t), and a point (w*, {w*}, {grad f_i(w*)})."""
    states = play_with_slope(w, p, last)
    star, slopes = w.vector("w*"), w.vector("gamma_i*", True)
    w.at(states[0].f_i, star + slopes * 0, "f_i(w*)", g=slopes)
    for state in states:
        vars(state).update(w_star=star, gamma_i_star=slopes)
    return states


V = "(sqrt(Y[{0}]) + k*r[{0}]**(1 - theta))".format
SLOPE = "(c*(1 - theta)*C3*sqrt(S[{0}]))".format
RISES, CLOSE, KL = f"({V('T+1')} - {V('T')})", "(2*(1 + L*eta)**2/C2)", "(r[T]**(2*theta) - c**2*(1 - theta)**2*E[T])"
#: A4 is local: its inequality holds where the square of the distance from the stationary point, near[t], is less than b; the maximum says so.
#: k = c C_3/C_2 is the parameter, and phi = 1 - theta
TRAPPED = Theorem(
    "0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < k, 0 < phi < 1, 0 < a < b",
    (
        "near[T] <= a",
        "r[T]**(2*theta) <= c**2*(1 - theta)**2*E[T]",
        "sum(sqrt(S[t]), t, 1, T) <= k*r[1]**(1 - theta)",
    ),
    TO_THE_SLOPE.replace("near", "apart")
    + f"""
      size:     0 <= Y[t]                                    by derivation
      step:     Y[t+1] <= (1 + s)*Y[t] + (1 + 1/s)*S[t]      by derivation
      both:     Y[t+1] <= Y[t] + S[t] + 2*sqrt(Y[t])*sqrt(S[t])       by least s of step
      squares:  sqrt(Y[t+1])**2 <= (sqrt(Y[t]) + sqrt(S[t]))**2       by combine 1*both
      triangle: sqrt(Y[t+1]) <= sqrt(Y[t]) + sqrt(S[t])      by root squares
      falls:    r[t+1] <= r[t]                               by combine descent, copies
      fallen:   r[T] <= r[1]                                 by induction T: base combine; step combine ih, falls(t=T)
      tangent:  (r[t+1]/r[t])**(1 - theta) <= 1 + (1 - theta)*(r[t+1]/r[t] - 1)      by bernoulli r[t+1]/r[t] - 1, 1 - theta
      concave:  r[t+1]**(1 - theta) <= r[t]**(1 - theta) - (1 - theta)*C2*S[t]*r[t]**(-theta)
                  by combine (r[t]**(1 - theta))*tangent, ((1 - theta)*r[t]**(-theta))*descent
      moved:    {V("t+1")} - {V("t")} <= sqrt(S[t])*r[t]**(-theta)*(r[t]**theta - {SLOPE("t")})      by combine 1*triangle, k*concave
      far:      0 <= near[t]                                 by derivation
      inside:   (r[t]**(2*theta) - {SLOPE("t")}**2)*max(b - near[t], 0) <= 0
                  by combine 1*local, (c**2*(1 - theta)**2*max(b - near[t], 0))*slope
      rooted:   (r[t]**theta - {SLOPE("t")})*max(b - near[t], 0) <= 0      by combine (1/(r[t]**theta + {SLOPE("t")}))*inside
      trapped:  ({V("t+1")} - {V("t")})*max(b - near[t], 0) <= 0
                  by combine (max(b - near[t], 0))*moved, (sqrt(S[t])*r[t]**(-theta))*rooted
      top:      b - near[t] <= max(b - near[t], 0)           by combine
      parts:    near[t] <= (3 + L**2)*Y[t] + 2*A[t]          by derivation
      close:    near[t] <= (3 + L**2)*Y[t] + {CLOSE}*r[t]
                  by combine 1*parts, 2*apart, {CLOSE}*descent, {CLOSE}*above(t=t+1)
      begun:    (3 + L**2)*{V("1")}**2 + {CLOSE}*r[1] <= a
                  by combine 1*start, (3 + L**2)*square(sqrt(Y[1]) - k*r[1]**(1 - theta))
      ball:     near[T] <= (3 + L**2)*({V("T")}**2 - {V("1")}**2) + a      by combine 1*close(t=T), {CLOSE}*fallen, 1*begun
      within:   {V("T")} <= {V("1")}                         by induction T: base combine;
                  step (cases {RISES}: combine (b - a)*ih, 1*trapped(t=T), {RISES}*top(t=T), {RISES}*ball,
                  ({RISES}*(3 + L**2)*({V("1")} + {V("T")}))*ih times b - a; combine 1*ih, 1*case)
      stays:    claim 1                                      by combine 1*ball, ((3 + L**2)*({V("1")} + {V("T")}))*within
      holds:    claim 2                                      by cases {KL}:
                  combine 1*local(t=T), {KL}*top(t=T), {KL}*stays times b - a; combine 1*case
      steep:    (r[T]**theta)**2 <= {SLOPE("T")}**2          by combine 1*holds, (c**2*(1 - theta)**2)*slope(t=T)
      root:     r[T]**theta <= {SLOPE("T")}                  by root steep
      travel:   sqrt(S[T]) <= k*r[T]**(1 - theta) - k*r[T+1]**(1 - theta)
                  by combine k*concave(t=T), (sqrt(S[T])*r[T]**(-theta))*root
      path:     sum(sqrt(S[t]), t, 1, T) <= k*r[1]**(1 - theta) - k*r[T+1]**(1 - theta)
                  by induction T: base combine 1*travel(T=1); step combine 1*ih, 1*travel(T=T+1)
      length:   claim 3                                      by combine 1*path
    """,
    states=replace(ROUNDS, play=play_near_a_stationary_point),
    rounds={"t": 1, "T": 1},
    quantities={
        "r": RESIDUAL,
        "S": STEPS,
        "A": "mean(norm2(w - w_i))",
        "E": "distance",
        "Y": "mean(norm2(w_i - w_star))",
        "near": "norm2(w - w_star) + mean(norm2(w_i - w_star)) + mean(norm2(gamma_i - gamma_i_star))",
    },
    where={"theta": "1 - phi", "C2": OF_THEOREM_2["C2"], "C3": OF_THEOREM_2["C3"], "c": "k*C2/C3"},
    auxiliary="0 < s",
    given={
        "above": "0 < r[t]",
        "local": "(r[t]**(2*theta) - c**2*(1 - theta)**2*E[t])*max(b - near[t], 0) <= 0",
        "start": f"2*(3 + L**2)*(Y[1] + (k*r[1]**(1 - theta))**2) + {CLOSE}*r[1] <= a",
    },
    assumed={"an element": DISTANCE},
    units="value = length**2",
)


def replay_length(instance: Mapping[str, Any]) -> Replay:
    """How far the copy travels from round 1 to round 2, and so in every later round."""
    measured, exact, assumptions = on_the_cycle(instance, lambda problem, s: abs(s[1].x_i - s[0].x_i).max())
    what = "the step of the copy in a round, for ever, where a finite length lets steps go to 0"
    return Replay(what, float(measured), 0.0, exact, Fraction(0), "fractions", assumptions)


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


CLAIMS += [
    claim(
        "FEDSLR-T2d",
        "Theorem 2, last part, and (82) to (85)",
        "w_t converges to a stationary point of (P1) from any start, and sum_t mean_i ||w_{i,t+1} - w_{i,t}|| is finite.",
        [Step("from a round near the cluster point on", TRAPPED, "repaired")],
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
]


# ---- Remark 7 --------------------------------------------------------------------------------------------------------
#: a smaller exponent is a larger p = 1/(4 theta - 2) in (13), corrected, for 1/2 < theta < 1
FASTER = Theorem(
    "1/2 < p, 0 < d",
    ("theta < phi", "T**(-(p + d)) <= T**(-p)"),
    "smaller: claim 1 by combine\nfaster: claim 2 by combine",
    rounds={"T": 1},
    where={"theta": "1/2 + 1/(4*(p + d))", "phi": "1/2 + 1/(4*p)"},
)
CLAIMS += [
    claim(
        "FEDSLR-R7",
        "Remark 7",
        (
            Clause("A smaller exponent theta guarantees a faster rate:", ("a smaller exponent",)),
            Clause("linear for theta <= 1/2,", ("linear",)),
            Clause("sublinear above.", ("sublinear",)),
        ),
        [
            Step("a smaller exponent is faster above 1/2", FASTER),
            Step("linear up to 1/2", LINEAR),
            Step("sublinear above 1/2", SUBLINEAR),
        ],
        assumptions=[EXACT, "the KL inequality at every iterate"],
        readings=[
            "(13) as printed, T^(-(4 theta - 2)), says the opposite: faster for larger theta. The remark goes with its correction (FEDSLR-N9). "
            "theta < 1/2 does not occur (FEDSLR-N7)."
        ],
    ),
]

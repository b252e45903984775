"""Appendix A.6: duals approach the clients' gradients (A.6.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.claims import Claim, Context, Fault, Finding, PlayedStates, Replay, Theorem, at_most, draw_bound, refute
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.problem import constant
from paper_checks.fedslr.assumptions import EXACT, PRINTED_STEP
from paper_checks.fedslr.notation import C2, POTENTIAL, STEPS, claim
from paper_checks.fedslr.played import changed, play
from paper_checks.fedslr.rounds import first_round, play_rounds
from paper_checks.fedslr.section_5_a_theorem_1 import A_SHORTER_STEP, AT_THE_END, on_the_cycle
from paper_checks.steps import Step
from problems.low_rank import robust_low_rank_regression

CLAIMS: list[Claim] = []


# ---- Privacy ---------------------------------------------------------------------------------------------------------
def play_bounded_below(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds where f + R is at least a number."""
    states, low = play_rounds(w, p, last), w.value("m")
    for k, state in enumerate(states):
        _, value = w.at(state.f_i, state.w + state.gamma_i * 0, f"f_i(w) {k}")
        w.assume(f"bounded below {k}", low - value - state.r)
        state.low = low
    return states


DUALS_APPROACH = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    "error[t] -> 0 as t",
    """
      descent: D[t+1] <= D[t] - C2*S[t]                              by derivation
      above:   low[t] <= D[t]                                        by derivation
      same:    low[t+1] == low[t]                                    by identity
      fixed:   low[T] == low[1]                                      by induction T: base combine; step combine ih, same(t=T)
      copies:  error[t] <= L**2*(1 + L*eta)**2*S[t]                  by derivation
      size:    0 <= error[t]                                         by derivation
      round:   C2/(L**2*(1 + L*eta)**2)*error[t] <= D[t] - D[t+1]    by combine descent, copies
      sum:     C2/(L**2*(1 + L*eta)**2)*sum(error[t], t, 1, T) <= D[1] - D[T+1]   by telescope of round
      bound:   C2/(L**2*(1 + L*eta)**2)*sum(error[t], t, 1, T) <= D[1] - low[1]   by combine sum, above(t=T+1), fixed(T=T+1)
      done:    claim                                                 by series size, bound
    """,
    states=PlayedStates(play_bounded_below, begins=first_round, least=1),
    rounds={"t": 1, "T": 1},
    quantities={"D": POTENTIAL, "S": STEPS, "error": "mean(norm2(gamma_i - grad(f_i, w)))", "low": "low"},
    where={"C2": C2},
    assumed={"bounded below": "f + R is at least some number, as Remark 4 reads A3"},
)


def replay_duals(instance: Mapping[str, Any]) -> Replay:
    """How far the dual is from the gradient at the server's model in every round."""

    def away(problem: Any, states: Any) -> Any:
        f = getattr(problem, "inner", problem)
        return min(abs(s.gamma_i - f.grad(s.x)).max() for s in states[:2])

    measured, exact, assumptions = on_the_cycle(instance, away)
    what = "distance of the dual from the client's gradient at w_t in every round"
    return Replay(what, float(measured), 0.0, exact, Fraction(0), "fractions", assumptions)


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


CLAIMS += [
    claim(
        "FEDSLR-D6",
        "Appendix A.6.1",
        "gamma_{i,t} approximates the client's gradient as t goes to infinity.",
        [Step("eta_g < 1/(2L)", DUALS_APPROACH, "repaired")],
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

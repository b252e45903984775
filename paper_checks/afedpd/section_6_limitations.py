"""Section 6 and the limitations that follow it: one sum in the place of C - P updates of duals."""

from __future__ import annotations

from functools import partial
from typing import Any

from fedtheory.claims import Claim, PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.afedpd.notation import claim
from paper_checks.afedpd.played import near
from paper_checks.afedpd.rounds import REGION, dual_after, play_rounds

CLAIMS: list[Claim] = []


# ---- Limitations -----------------------------------------------------------------------------------------------------
def play_lazily(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """Rounds, beside a sum on the server that moves by rho (thetabar^{t+1} - theta^t) in each of them."""
    states = play_rounds(w, p, last, start=start)
    common = states[0].lam_bar * 0 if start else w.vector("sum")
    for old in states:
        old.common = common
        common = old.common_next = dual_after(common, p.rho, old.theta_bar_next, old.theta)
    return states


ONE_SUM = Theorem(
    REGION,
    ("gap[T] == 0", "absent_[t] == 0", "active[t] == 0"),
    """
      same: gap[t+1] == gap[t]   by identity
      zero: gap[0] == 0          by identity
      sum:  claim 1              by induction T: base combine zero; step combine ih, same(t=T)
      stay: claim 2              by identity
      move: claim 3              by identity
    """,
    states=PlayedStates(play_lazily, start=partial(play_lazily, start=True)),
    rounds={"t": 0, "T": 0},
    quantities={
        "gap": "norm2(lam_bar - common)",
        "absent_": "norm2(lam_j_next - common_next - (lam_j - common))",
        "active": "mean(norm2(lam_i_next - common_next - (lam_i - common) - rho*(theta_i_next - theta_bar_next)))",
    },
)
CLAIMS += [
    claim(
        "AFEDPD-Q10",
        "Limitations",
        "Algorithm 1 as printed makes the server keep and move all C duals; one sum of common increments on the server would do, and a client's own "
        "part, which moves where it is active only.",
        [near("every C and P", ONE_SUM, "(theta_i_next - theta_bar_next)", "(theta_i_next - theta)")],
        readings=["What the limitation asks for is avoidable; so it is a choice, and no error."],
        kind="identity",
    )
]

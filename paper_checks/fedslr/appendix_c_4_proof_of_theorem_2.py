"""Appendix C.4: Lemma 4, and the steps (70), (72) and (81) of the proof of Theorem 2, with their right constants."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import Claim, Context, Fault, Finding, PlayedStates, Theorem, at_most, disproved, lemma
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, bar, norm2
from paper_checks.fedslr.assumptions import ALONG, CONTINUOUS, DISTANCE, EXACT, KL_HOLDS, ONE_CLIENT
from paper_checks.fedslr.bounds import Constants, c2
from paper_checks.fedslr.kl_runs import low_rank_run, power_run
from paper_checks.fedslr.notation import C1, C2, CHOICE, INSIDE, RESIDUAL, STEPS, VALUES, claim
from paper_checks.fedslr.rounds import NEAR, OF_THE_OBJECTIVE, WITH_BOTH, first_round, play_round, play_with_slope
from paper_checks.grounds import are_so
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Lemma 4 ---------------------------------------------------------------------------------------------------------
LEMMA_4 = Theorem(
    CHOICE,
    ("0 <= r[t]", "r[t] -> 0 as t"),
    """
      falls: r[t+1] <= r[t]   by derivation
      above: claim 1          by monotone falls, values
      done:  claim 2          by monotone falls, values
    """,
    states=NEAR,
    rounds={"t": 1},
    quantities={"r": RESIDUAL},
    given={"values": VALUES},
)
CLAIMS += [
    claim(
        "FEDSLR-L4",
        "Lemma 4",
        "r_t = D_t - D* >= 0 for t > 0, and r_t -> 0.",
        [Step("Lemma 4", LEMMA_4)],
        assumptions=[EXACT, CONTINUOUS, ALONG],
    ),
]


# ---- (70) ------------------------------------------------------------------------------------------------------------
@lemma("stationarity, printed", "(70)", INSIDE, units="as printed", c=1)
def stationary_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(70) for one client and R = 0, where the distance is ||grad f(w_t)||; w_{i,t} = 0, and w_t = -eta gamma_t by the server's step."""
    f = w.function(p.L, -p.L)
    g, gn = w.vector("gamma"), w.vector("gamma+")
    y = g * 0
    x, yn = y - g * p.eta, y - gn * p.eta
    w.at(f, y, "f", g=g)
    w.at(f, yn, "f+", g=gn)
    gx, _ = w.at(f, x, "grad f(w)")
    return norm2(gx) - norm2(yn - y) * (c.c * Constants(p.L, p.eta).c1_printed)


def subgradient(w: World, r: SimpleNamespace, p: Any) -> Any:
    """The element (69) of grad f(w_t) + dR(w_t), by the server's step of the round before."""
    gx, _ = w.at(r.f, r.x + r.y * 0, "grad f_i(w)")
    return bar(gx) + bar(r.y) / p.eta - bar(r.g)


@lemma("stationarity", "(70), corrected", "0 < L, 0 < eta", c=1)
def stationary(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(70) with its right constant: ||grad f(w_t) + s_t||^2 <= c (1/eta + eta L^2)^2 mean ||w_{i,t+1} - w_{i,t}||^2."""
    r = play_round(w, p)
    return norm2(subgradient(w, r, p)) - norm2(r.yn - r.y) * (c.c * Constants(p.L, p.eta).c1)


CLAIMS += [
    claim(
        "FEDSLR-N6",
        "(70) in the proof of Theorem 2",
        "dist^2(0, grad f(w_t) + dR(w_t)) <= C_1 mean_i ||w_{i,t+1} - w_{i,t}||^2 with C_1 = 4 (eta_g L^2 + eta_g^2 L^4 + 1/eta_g + L^2).",
        [
            Step("with C_1 as printed", stationary_printed),
            Step("with (1/eta_g + eta_g L^2)^2", stationary, "repaired"),
        ],
        assumptions=[EXACT, f"{ONE_CLIENT}, where the distance is ||grad f(w_t)||"],
        repaired="C_1 = (1/eta_g + eta_g L^2)^2, for every eta_g > 0. The second line of (70) loses a square: 2/eta_g stands for 2/eta_g^2.",
        readings=[
            "The printed C_1 is large enough where eta_g >= 1/4 in the units at hand; it has no fixed dimension."
        ],
        false={"with C_1 as printed": "with (1/eta_g + eta_g L^2)^2"},
    ),
]


# ---- (72) ------------------------------------------------------------------------------------------------------------
@lemma("residual, printed", "(72)", "0 < mu < L, 0 < eta < 1/(2*L)", units="as printed", c=1)
def residual_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(72), squared, with |C_2| for C_2: one strongly convex client and R = 0, so that D* = min f, at z; |C_2| ||grad f(w_t)||^2 <= C_1 r_t."""
    f = w.function(p.L, p.mu)
    g, z = w.vector("gamma"), w.vector("w*")
    y = g * 0
    x = y - g * p.eta
    _, v = w.at(f, y, "f", g=g)
    gx, _ = w.at(f, x, "grad f(w)")
    _, least = w.at(f, z, "f*", g=z * 0)
    residual = v - norm2(g) * (p.eta / 2) - least
    return norm2(gx) * -c2(p) - residual * (c.c * Constants(p.L, p.eta).c1_printed)


RESIDUALS = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    "dist2[t] <= C1/C2*r[t]",
    """
      descent:  r[t+1] <= r[t] - C2*S[t]      by derivation
      copies:   0 <= S[t]                     by derivation
      falls:    r[t+1] <= r[t]                by combine descent, copies
      above:    0 <= r[t]                     by monotone falls, values
      distance: dist2[t] <= C1*S[t]           by derivation on 0 < L, 0 < eta
      done:     claim                         by combine distance, C1/C2*descent, C1/C2*above(t=t+1)
    """,
    states=WITH_BOTH,
    rounds={"t": 1},
    quantities={"r": RESIDUAL, "S": STEPS, "dist2": "stationarity"},
    where={"C1": C1, "C2": C2},
    given={"values": VALUES},
    assumed=OF_THE_OBJECTIVE,
)
CLAIMS += [
    claim(
        "FEDSLR-T2-72",
        "(72) in the proof of Theorem 2",
        "dist(0, grad f(w_t) + dR(w_t)) <= sqrt(C_1/C_2) sqrt(r_t), r_t = D_t - D*.",
        [
            Step("with C_1 as printed", residual_printed),
            Step("corrected", RESIDUALS, "repaired"),
        ],
        assumptions=[
            EXACT,
            f"{ONE_CLIENT}, f strongly convex, so that the iterates converge to its minimiser and D* = min f",
            CONTINUOUS,
            ALONG,
        ],
        repaired="C_1 = (1/eta_g + eta_g L^2)^2 and C_2 = (1 - 2 L eta_g)(1 + L eta_g)/(2 eta_g), for 0 < eta_g < 1/(2L).",
        readings=[
            "C_2 as printed is negative, and no root can be taken; it is read as |C_2|, which is what (71) needs."
        ],
        false={"with C_1 as printed": "corrected"},
    ),
]


# ---- (81) ------------------------------------------------------------------------------------------------------------
RECURSION = Theorem(
    "0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < c, 0 < theta < 1",
    "C4*r[t]**(2*theta) <= r[t] - r[t+1]",
    """
      descent: r[t+1] <= r[t] - C2*S[t]     by derivation
      copies:  0 <= S[t]                    by derivation
      near:    A[t] <= (1 + L*eta)**2*S[t]  by derivation
      sharp:   E[t] <= (1 + eta**2)/(M*eta**2)*A[t]   by derivation
      slope:   E[t] <= C3**2*S[t]           by combine sharp, (1 + eta**2)/(M*eta**2)*near, copies
      done:    claim                        by combine descent, (C2/C3**2)*slope, C4*kl
    """,
    states=PlayedStates(play_with_slope, begins=first_round, least=1),
    rounds={"t": 1},
    quantities={"r": RESIDUAL, "S": STEPS, "A": "mean(norm2(w - w_i))", "E": "distance"},
    where={"C2": "1/(2*eta) - L/2 - L**2*eta", "C3": "L + eta*L + 1/eta + 1", "C4": "C2/(C3**2*c**2*(1 - theta)**2)"},
    given={"above": "0 < r[t]", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    assumed={"an element": DISTANCE},
    units="value = length**2",
)
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


CLAIMS += [
    claim(
        "FEDSLR-T2-81",
        "Theorem 2, its constants and (81)",
        "r_t - r_{t+1} >= C_4 r_t^(2 theta), where C_2 = L^2 eta_g + L/2 - 1/(2 eta_g) and C_4 = C_2/(C_3^2 c^2 (1 - theta)^2) are positive.",
        [Step("the recursion", RECURSION, "repaired")],
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
]

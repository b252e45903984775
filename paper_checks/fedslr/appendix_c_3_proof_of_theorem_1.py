"""Appendix C.3: Lemmas 1 to 3, and the step sizes of (47), of the proof of Theorem 1."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Claim, PlayedStates, Theorem, lemma, state
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, norm2
from paper_checks.fedslr.assumptions import ALONG, CONTINUOUS, EXACT
from paper_checks.fedslr.notation import CHOICE, PAPER, POTENTIAL, RESIDUAL, SERVER, STEPS, claim
from paper_checks.fedslr.rounds import ROUNDS, first_round, play_rounds
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- Lemma 1, (31) ---------------------------------------------------------------------------------------------------
def play_client(w: World, p: Parameters, last: int) -> list[Any]:
    """A client in any round: any w_t, any w_{i,t} with gamma_{i,t} = grad f_i(w_{i,t}), and what it makes of them."""
    f, y, g = w.function(p.L, -p.L), w.vector("w_i"), w.vector("gamma_i")
    w.at(f, y, "f 0", g=g)
    states = []
    for k in range(last + 1):
        x, gn = w.vector(f"w {k}"), w.vector(f"gamma_i{k + 1}")
        yn = x - (gn - g) * p.eta
        w.at(f, yn, f"f {k + 1}", g=gn)
        states.append(SimpleNamespace(w=x, w_i=y, gamma_i=g, w_i_next=yn))
        y, g = yn, gn
    return states


LEMMA_1 = Theorem(
    "0 < L, 0 < eta",
    "sqrt(drift[t]) <= L*eta*sqrt(step[t])",
    """
      far:     0 <= drift[t]                                      by derivation
      moved:   0 <= step[t]                                       by derivation
      squared: drift[t] <= L**2*eta**2*step[t]                    by derivation
      squares: sqrt(drift[t])**2 <= (L*eta*sqrt(step[t]))**2      by combine squared
      done:    claim                                              by root squares
    """,
    states=PlayedStates(play_client, least=1),
    rounds={"t": 1},
    quantities={"drift": "norm2(w - w_i_next)", "step": "norm2(w_i_next - w_i)"},
)


def drift_allowed(dy2: Any, L: Any, eta: Any, c: Any = 1) -> Any:
    """(31)'s right side, squared."""
    return dy2 * (c * (L * eta) ** 2)


@lemma("drift", "Lemma 1, (31)", "0 < L, 0 < eta", c=1)
def lemma_1(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(31), squared: ||w_t - w_{i,t+1}||^2 <= c (L eta)^2 ||w_{i,t+1} - w_{i,t}||^2, of a client; w_{i,t} = 0."""
    f = w.function(p.L, -p.L)
    x, g, gn = w.vector("w"), w.vector("gamma"), w.vector("gamma+")
    yn = x - (gn - g) * p.eta
    w.at(f, x * 0, "f", g=g)
    w.at(f, yn, "f+", g=gn)
    return norm2(x - yn) - drift_allowed(norm2(yn), p.L, p.eta, c.c)


CLAIMS += [
    claim(
        "FEDSLR-L1",
        "Lemma 1, (31)",
        "||w_t - w_{i,t+1}|| <= L eta_g ||w_{i,t+1} - w_{i,t}||.",
        [Step("Lemma 1", LEMMA_1)],
        assumptions=[EXACT],
        readings=["No condition on eta_g is needed. The paper does not say how gamma_{i,0} starts; see FEDSLR-N11."],
    ),
]


# ---- Lemma 2, (32) ---------------------------------------------------------------------------------------------------
def play_with_values(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds, and the values of D, f + R and mean ||w - w_i||^2 at a cluster point."""
    states = play_rounds(w, p, last)
    numbers = {name: w.value(name) for name in ("D_star", "F_star", "away_star")}
    for known in states:
        vars(known).update(numbers)
    return states


LEMMA_2 = Theorem(
    "0 < L, 0 < eta < 1/L",
    "gap[1] <= 0",
    """
      low:     gap[t] <= d[t] - f[t] - (1/(2*eta) - L/2)*apart[t]      by derivation
      same:    gap[t+1] == gap[t]                                  by identity
      one:     gap[T] == gap[1]                                    by induction T: base combine; step combine ih, same(t=T)
      every:   gap[1] <= d[t] - f[t] - (1/(2*eta) - L/2)*apart[t]      by combine low, (-1)*one(T=t)
      done:    claim                                               by limit of every, potentials, values, distances
    """,
    states=PlayedStates(play_with_values, begins=first_round, least=1),
    rounds={"t": 1, "T": 1},
    quantities={
        "gap": "F_star + (1/(2*eta) - L/2)*away_star - D_star",
        "d": RESIDUAL,
        "f": "mean(f_i(w)) + R(w) - F_star",
        "apart": "mean(norm2(w - w_i)) - away_star",
    },
    given={
        "potentials": "d[t] -> 0 as t in J",
        "values": "f[t] -> 0 as t in J",
        "distances": "apart[t] -> 0 as t in J",
    },
)
CLAIMS += [
    claim(
        "FEDSLR-L2",
        "Lemma 2, (32)",
        "D at the cluster point is more than -infinity.",
        [Step("the cluster point", LEMMA_2)],
        assumptions=[EXACT, CONTINUOUS, ALONG],
        readings=[
            "All terms of (10) are finite there, so the lemma says little; the bound is what makes D useful. Bounded gradients are not needed. "
            "(33) subtracts eta_g ||gamma||^2 where completing the square gives half of it."
        ],
    ),
]


# ---- Lemma 3, (35) and (41) ------------------------------------------------------------------------------------------
LEMMA_3 = Theorem(
    CHOICE,
    (
        "D[t+1] - D[t] <= (L**2*eta + L/2 - 1/(2*eta))*S[t] - 1/(2*eta)*M[t]",
        "D[t+1] <= D[t]",
    ),
    """
      descent: claim 1            by derivation
      copies:  0 <= S[t]          by derivation
      moved:   0 <= M[t]          by derivation
      done:    claim 2            by combine descent, copies, moved
    """,
    states=ROUNDS,
    rounds={"t": 1},
    quantities={"D": POTENTIAL, "S": STEPS, "M": SERVER},
)
CLAIMS += [
    claim(
        "FEDSLR-L3",
        "Lemma 3, (35) and (41)",
        "D_{t+1} - D_t <= (L^2 eta_g + L/2 - 1/(2 eta_g)) mean_i ||w_{i,t+1} - w_{i,t}||^2 - ||w_{t+1} - w_t||^2/(2 eta_g), and D_{t+1} <= D_t for "
        "0 < eta_g <= 1/(2L).",
        [Step("Lemma 3", LEMMA_3)],
        assumptions=[EXACT],
        readings=[
            "(35) holds for every eta_g > 0. At eta_g = 1/(2L) its coefficient is 0, where the proof says that it is negative; the potential "
            "still does not rise. Fact 2 holds from t = 1 on; for t = 0 see FEDSLR-N11."
        ],
    ),
]


# ---- (46) and (47) ---------------------------------------------------------------------------------------------------
AS_PRINTED = Theorem(CHOICE, "L**2*eta + L - 1/(2*eta) <= 0", "done: claim by combine")
AS_DESCENDED = Theorem(
    CHOICE,
    ("L**2*eta + L/2 - 1/(2*eta) <= 0", "(L**2*eta + L/2 - 1/(2*eta))*2*eta == -(1 - 2*L*eta)*(1 + L*eta)"),
    "sign: claim 1 by combine\nfactors: claim 2 by combine",
)
CLAIMS += [
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
]

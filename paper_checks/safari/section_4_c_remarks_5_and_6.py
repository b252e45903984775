"""Section 4: Remark 5, FedAvg and SGD as special cases, and Remark 6."""

from __future__ import annotations

from fedtheory.claims import Claim, Equivalence, Theorem, state
from paper_checks.safari.notation import (
    BOUND_4,
    BOUND_5,
    DELTA,
    DELTABAR,
    ETABAR,
    NOISE_C1B,
    ORDER_C1B,
    PAPER,
    claim,
    in_symbols,
    of_rounds,
)
from paper_checks.safari.rounds import OF_NOISE, SLOPE, rounds_of
from paper_checks.safari.section_4_a_theorem_4 import (
    BOUNDED,
    DESCENDS,
    GAP,
    SERVER_4_QUANTITIES,
    SERVER_4_STEPS,
    claim_denied,
)
from paper_checks.safari.section_4_b_theorem_5 import SERVER_5_GIVEN, SERVER_5_QUANTITIES, SERVER_5_STEPS
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Remark 5, i) ----------------------------------------------------------------------------------------------------
FEDAVG_AT_ONE = state(
    "SAFARI-R5a",
    PAPER,
    "Remark 5",
    "For equal clients one may take q = 1, with which SAFARI is FedAvg.",
    Equivalence("safari", "fedavg", "q = 1, lr, steps = K", "lr, steps = K", region="0 < lr, K in 1..4"),
    wrong={
        "one step more": Equivalence(
            "safari", "fedavg", "q = 1, lr, steps = K + 1", "lr, steps = K", region="0 < lr, K in 1..4"
        )
    },
)
CLAIMS += [FEDAVG_AT_ONE]


# ---- Remark 5, ii) ---------------------------------------------------------------------------------------------------
def at_zero(text: str) -> str:
    """A formula at q = 0, without what is then multiplied by 0."""
    return str(in_symbols(text, q=0))


SGD = Theorem(
    name="Theorem 4 at q = 0",
    region="0 < L, 0 < eta_s <= 1/L, 0 <= sigma_s2",
    states=rounds_of(lambda p: (0, p.eta_s), convex=False, who="server"),
    rounds={"r": 0, "R": 1},
    quantities={**SLOPE, **SERVER_4_QUANTITIES},
    given={**OF_NOISE, **BOUNDED},
    claim=f"sum(S[r], r, 0, R-1)/R <= {of_rounds(at_zero(BOUND_4), gap=GAP)}",
    proof=SERVER_4_STEPS
    + DESCENDS
    + f"""
  size:    0 <= S[r]                                                                     by derivation
  after:   V[r+1] == B[r]                                                                by identity
  step:    S[r] <= 2/eta_s*(V[r] - V[r+1]) + {at_zero(DELTA)}
             by combine (2/eta_s)*after, server, (1 - L*eta_s)*size
  all:     sum(S[r], r, 0, R-1) <= 2/eta_s*(V[0] - V[R]) + R*({at_zero(DELTA)})
             by induction R: base combine step(r=0); step combine ih, step(r=R)
  done:    claim                                by combine (1/R)*all, (2/(R*eta_s))*bounded_below(r=R), (-2/(R*eta_s))*bottom
""",
)
SGD_STRONGLY = Theorem(
    name="Theorem 5 at q = 0",
    region="0 < mu < L, 0 < eta_s <= 2/(L + mu), 0 <= sigma_s2",
    states=rounds_of(lambda p: (0, p.eta_s), convex=True, who="server"),
    rounds={"r": 0, "R": 0},
    where={"etabar": ETABAR[1]},
    quantities=SERVER_5_QUANTITIES,
    given=SERVER_5_GIVEN,
    claim=f"D[R] <= {of_rounds(BOUND_5.replace(DELTABAR, at_zero(DELTABAR)), dist='D[0]')}",
    proof=SERVER_5_STEPS
    + f"""
  after:   D[r+1] == B[r]                                                                by identity
  size:    0 <= S[r]                                                                     by derivation
  step:    D[r+1] <= (1 - etabar)*D[r] + etabar*({at_zero(DELTABAR)})
             by combine after, server, eta_s*(2/(L + mu) - eta_s)*size
  done:    claim             by induction R: base combine; step combine (1 - etabar)*ih, step(r=R)
""",
)
CLAIMS += [
    claim(
        "SAFARI-R5b",
        "Remark 5",
        "With q = 0 SAFARI is SGD at the server, and Theorems 4 and 5 become its bounds: 2 (F(x_0) - F*)/(R eta_s) + L eta_s sigma_s^2 for eta_s <= "
        "1/L, and (1 - etabar)^R ||x_0 - x*||^2 + ((L+mu)/(2 L mu)) eta_s sigma_s^2.",
        [Step("non-convex", SGD), Step("strongly convex", SGD_STRONGLY)],
        assumptions=["Assumptions 3 and 4 for F and the server", "F mu-strongly convex for the second"],
    )
]

# ---- Remark 6 --------------------------------------------------------------------------------------------------------
CLAIMS += [
    claim_denied(
        "SAFARI-R6",
        "Remark 6",
        "FedAvg with incomplete participation reaches an error ball, SAFARI the rates O(1/sqrt(mKR)) and O~(1/R) of ideal participation.",
        ORDER_C1B,
        NOISE_C1B,
    )
]

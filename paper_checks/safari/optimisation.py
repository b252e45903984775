"""Steps of the proofs of SAFARI's Theorems 4 and 5 as statements (`lemmas`), and what its limits for small steps obey.

Read throughout: Assumptions 3 (L-smooth F_i), 4 (unbiased gradients of bounded variance) and 5 (||grad F_i - grad F|| <= sigma_G); who takes
part in a client round is arbitrary. For K local steps and m clients every statement holds for all K and m.
"""

from __future__ import annotations

from fedtheory.claims import Claim, Equivalence, state
from paper_checks.safari import client_rounds, convergence, lemmas, local_steps
from paper_checks.steps import Step, claims_of

PAPER = "safari"
DERIVED = f"{PAPER}, derived"
claim, derived = claims_of(PAPER), claims_of(DERIVED)
ASSUMED = ["Assumptions 3 to 5"]
CONVEX = ["Assumptions 3 to 5", "F_i mu-strongly convex"]
INDEPENDENT = "clients draw independently of each other"

DRIFT = "mean_i ||x_{r,k}^i - x_r||^2 is written as it is; (41) bounds it"


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
CLAIMS: list[Claim] = [
    FEDAVG_AT_ONE,
    claim(
        "SAFARI-R5b",
        "Remark 5",
        "With q = 0 SAFARI is SGD at the server, and Theorems 4 and 5 become its bounds: 2 (F(x_0) - F*)/(R eta_s) + L eta_s sigma_s^2 for "
        "eta_s <= 1/L, "
        "and (1 - etabar)^R ||x_0 - x*||^2 + ((L+mu)/(2 L mu)) eta_s sigma_s^2.",
        [Step("non-convex", convergence.SGD), Step("strongly convex", convergence.SGD_STRONGLY)],
        assumptions=["Assumptions 3 and 4 for F and the server", "F mu-strongly convex for the second"],
    ),
    claim(
        "SAFARI-T4a",
        "Proof of Theorem 4, (25)-(28)",
        "A server round: ||grad F(x_r)||^2 <= (2/eta_s)(F(x_r) - E F(x_{r+1})) + (L eta_s - 1) ||grad F(x_r)||^2 + L eta_s sigma_s^2.",
        [Step("server round", lemmas.SERVER_STEP)],
        assumptions=ASSUMED,
        readings=["(26) prints + eta_s for - eta_s inside of the inner product."],
    ),
    claim(
        "SAFARI-T4b",
        "Proof of Theorem 4, (31)-(36)",
        "<grad F, -eta_c E Delta_r> <= -(K eta_c/2) ||grad F||^2 - (eta_c/(2K)) ||G||^2 + eta_c K sigma_G^2 + eta_c K L^2 mean ||x_{r,k}^i "
        "- x_r||^2.",
        [Step("inner product", lemmas.INNER_PRODUCT)],
        assumptions=ASSUMED,
        readings=[DRIFT, "G = (1/m) sum_i sum_k grad F_i(x_{r,k}^i); signs of expectation are left out in print."],
    ),
    claim(
        "SAFARI-T4c",
        "(40)-(41), also used for Theorem 5",
        "E ||x_{r,k}^i - x_r||^2 <= 5 K eta_c^2 (sigma^2 + 6 K sigma_G^2) + 30 K^2 eta_c^2 ||grad F(x_r)||^2 for k <= K, eta_c <= 1/(8LK).",
        [Step("(41)", local_steps.DRIFT_OF_STEPS)],
        assumptions=ASSUMED,
        readings=[
            "Quoted by the paper. The constants are far from the best ones: 30 could be about 2.3. Shown for local steps e_0, e_1, ... of any length "
            "up to eta_c that are together at most K eta_c: K steps of eta_c, and none after, are one case."
        ],
    ),
    claim(
        "SAFARI-T4d",
        "(42)-(44)",
        "(L/2) eta_c^2 E ||Delta_r||^2 <= L eta_c^2 E ||G||^2 + (L eta_c^2 K/m) sigma^2.",
        [Step("(44)", local_steps.SPLIT_NOISE)],
        assumptions=[*ASSUMED, INDEPENDENT],
    ),
    claim(
        "SAFARI-T4e",
        "(45)-(50)",
        "A client round with eta_c = 2 eta_s/K: ||grad F(x_r)||^2 <= (2/eta_s)(F(x_r) - E F(x_{r+1})) + 4 sigma_G^2 + (8 L eta_s/K^2 - "
        "2/K^2) ||G||^2 "
        "+ (80 L^2 eta_s^2/K)(sigma^2 + 6 K sigma_G^2) + (8 L eta_s/(mK)) sigma^2.",
        [Step("(50)", client_rounds.CLIENT_ROUND_4)],
        assumptions=[*ASSUMED, INDEPENDENT],
        readings=[
            "The factor 1/4 needs eta_c <= 1/(2 sqrt(30) L K) only; the printed condition gives 7/16. Shown for eta_c <= 1/(11 L K), which is wider.",
            "k counts local steps, E = K of them are a round. v_bar, s_bar and n_bar are averages over the clients of what has these names for each.",
        ],
    ),
    claim(
        "SAFARI-T5a",
        "Proof of Theorem 5, (56)-(58)",
        "A server round: E ||x_{r+1} - x*||^2 <= (1 - 2 eta_s L mu/(L+mu)) ||x_r - x*||^2 + eta_s (eta_s - 2/(L+mu)) ||grad F(x_r)||^2 "
        "+ eta_s^2 sigma_s^2.",
        [Step("server round", lemmas.SERVER_DISTANCE)],
        assumptions=CONVEX,
        readings=["mu < L; for mu = L the inequality is the limit of it."],
    ),
    claim(
        "SAFARI-T5b",
        "(60)-(61)",
        "E ||(1/m) sum_i sum_k g_i||^2 <= E ||(1/m) sum_i sum_k grad F_i(x_{r,k}^i)||^2 + K sigma^2/m.",
        [Step("(61)", local_steps.UNCORRELATED)],
        assumptions=[*CONVEX, "eta_c <= 2/L", INDEPENDENT],
        readings=[
            "The paper gives no reason for the coefficient 1 (gradients depend on earlier noise; (43) pays a factor 2 for this). It is "
            "right for convex F_i, also where the noise depends on the state."
        ],
    ),
    claim(
        "SAFARI-T5c",
        "(63)",
        "<grad f(x), z - y> >= f(z) - f(y) + (mu/4) ||z - y||^2 - L ||z - x||^2 for mu-strongly convex, L-smooth f.",
        [Step("three points", lemmas.PERTURBED)],
    ),
    claim(
        "SAFARI-T5d",
        "(67)-(70)",
        "E ||(1/m) sum_i sum_k grad F_i(x_{r,k}^i)||^2 <= (2 K L^2/m) sum_i sum_k E ||x_{r,k}^i - x_r||^2 + 4 K^2 sigma_G^2 + 4 K^2 ||grad "
        "F(x_r)||^2.",
        [Step("second moment", lemmas.MOMENT)],
        assumptions=ASSUMED,
    ),
    claim(
        "SAFARI-T5e",
        "(72)-(77)",
        "A client round: E ||x_{r+1} - x*||^2 <= (1 - eta_c K mu/2) ||x_r - x*||^2 + 4 eta_c^2 K^2 sigma_G^2 + 4 eta_c^2 K^2 [1 + 15 eta_c "
        "K L (1 + eta_c K L)] "
        "||grad F||^2 + (K eta_c^2/m) sigma^2 - (2 eta_c K/m) sum_i [F_i(x_r) - F_i(x*)] + 2 eta_c K L (1 + K eta_c L) 5 K eta_c^2 "
        "(sigma^2 + 6 K sigma_G^2).",
        [
            Step("(77)", client_rounds.CLIENT_ROUND_5),
        ],
        assumptions=[*CONVEX, INDEPENDENT, "eta_c <= 1/(8LK)"],
        readings=[
            "Theorem 5 does not ask for eta_c <= 1/(8LK), which (41) needs; by etabar this is etabar <= mu/(16 L). mu < L, as in SAFARI-T5a.",
            "k counts local steps, E = K of them are a round; u are gradients without noise, t their sum. x* = 0, over is F_i(x_r) - F_i(x*).",
        ],
    ),
    derived(
        "SAFARI-X3",
        "Theorem 4, repaired",
        "At every limit of small steps ||grad F|| <= q rho sigma_G/(1 - q + q rho), rho = eta_c K/eta_s; and with rho = 2, K = 1 a round "
        "lowers F by (1+q)/2 eta_s (||grad F||^2 - 4 q^2 sigma_G^2/(1+q)^2) at least, up to order eta_s^2.",
        [Step("limit", lemmas.BALL), Step("one round", lemmas.MIXED_ROUND)],
        assumptions=["(1-q) grad F + q rho grad F_D = 0 with the same F_D in every client round", *ASSUMED],
    ),
    derived(
        "SAFARI-X4",
        "(52)-(54)",
        "Where (1-q) grad F + 2 q E grad F_S = 0, the limits of small steps, the terms that (54) asks to make up for 4 q sigma_G^2 a round are at "
        "most 2 q sigma_G^2: for fixed q > 0 and sigma_G > 0 (54) fails in the long run.",
        [Step("the terms", lemmas.DROPPED)],
        assumptions=ASSUMED,
        readings=[
            "(1 - L eta_s) ||grad F||^2 of server rounds and (2 - 8 L eta_s) ||G||^2/K^2 of client rounds, to first order."
        ],
    ),
]

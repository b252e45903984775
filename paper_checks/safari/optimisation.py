"""Steps of the proofs of SAFARI's Theorems 4 and 5 as statements (`lemmas`), and what its limits for small steps obey.

Read throughout: Assumptions 3 (L-smooth F_i), 4 (unbiased gradients of bounded variance) and 5 (||grad F_i - grad F|| <= sigma_G); who takes
part in a client round is arbitrary. For K local steps and m clients every statement holds for all K and m.
"""

from __future__ import annotations

from fedtheory.claims import Claim, Equivalence, state
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.safari import lemmas, theorems
from paper_checks.safari.theorems import (
    BY_SERVER_STEP,
    CLIENT_4,
    CLIENT_DISTANCE,
    DELTA,
    DELTABAR,
    DRIFT_BOUND,
    INNER_4,
    MOMENT_4,
    ROUND_5,
    in_symbols,
)
from paper_checks.steps import Conclusion, Step, claim_steps

PAPER = "safari"
DERIVED = "safari, derived"
ASSUMED = ["Assumptions 3 to 5"]
CONVEX = ["Assumptions 3 to 5", "F_i mu-strongly convex"]
INDEPENDENT = "clients draw independently of each other"
DRIFT = "mean_i ||x_{r,k}^i - x_r||^2 is written as it is; (41) bounds it"


def drift_adds_up() -> bool:
    """K = 2: (K-1)((1 + 1/(K-1))^K - 1) = 3 <= 5K; K >= 3: e^{3/2} <= 9/2, so that it is at most 7/2 (K-1)."""
    return compare(3, "<=", 10) and compare(27182819**3, "<=", 81 * 10**21 // 4)


def client_round_adds_up() -> bool:
    """Descent, inner product, second moment, drift and noise add up to (45), which times 2/eta_s, eta_c = 2 eta_s/K, is (50).

    1/2 - 30 L^2 K^2 eta_c^2 >= 1/4, so that the left side has ||grad F||^2 with a factor of at least 1.
    """
    of_round = f"2/eta_s*(change + {INNER_4.format(drift=f'({DRIFT_BOUND})')} + {MOMENT_4})"
    return is_zero(in_symbols(of_round, slope=0, **BY_SERVER_STEP) - in_symbols(CLIENT_4)) and compare(
        30 * 4, "<=", 16 * 30
    )


def distance_adds_up() -> bool:
    """Strong convexity as in (63) at each pair, the second moment, the noise (61) and the drift give (77)."""
    return is_zero(in_symbols(ROUND_5, drift=theorems.DRIFT) - in_symbols(CLIENT_DISTANCE))


def noise_adds_up() -> bool:
    """-||f_j||^2/(eta L) summed over j, less (||sum f||^2 - sum ||f_j||^2)/2, is at most 0 for eta <= 2/L: no cross term is left."""
    eta, L, total, squares = symbols("eta L total squares", positive=True)
    left = -squares / (eta * L) - (total - squares) / 2
    return is_zero(left + total / 2 - squares * (eta * L - 2) / (2 * eta * L))


def sums_to_sgd() -> bool:
    """Without client rounds delta and deltabar are the noise of the server, the latter eta_s^2 sigma_s^2 over 2 eta_s L mu/(L+mu)."""
    left = in_symbols("L*eta_s*sigma_s2"), in_symbols("eta_s**2*sigma_s2/(2*eta_s*L*mu/(L + mu))")
    return is_zero(in_symbols(DELTA, q=0) - left[0]) and is_zero(in_symbols(DELTABAR, q=0) - left[1])


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
    claim_steps(
        "SAFARI-R5b",
        PAPER,
        "Remark 5",
        "With q = 0 SAFARI is SGD at the server, and Theorems 4 and 5 become its bounds: 2 (F(x_0) - F*)/(R eta_s) + L eta_s sigma_s^2 for "
        "eta_s <= 1/L, "
        "and (1 - etabar)^R ||x_0 - x*||^2 + ((L+mu)/(2 L mu)) eta_s sigma_s^2.",
        [Step("non-convex", lemmas.SERVER_STEP), Step("strongly convex", lemmas.SERVER_DISTANCE)],
        conclusions=[
            Conclusion(
                "every round",
                "(L eta_s - 1) ||grad F||^2 <= 0 for eta_s <= 1/L, and eta_s (eta_s - 2/(L+mu)) ||grad F||^2 <= 0 for eta_s <= 2/(L+mu); "
                "summed over the "
                "rounds, F >= F*, and the geometric sum of eta_s^2 sigma_s^2 over etabar = 2 eta_s L mu/(L+mu)",
                ("non-convex", "strongly convex"),
                confirmed=sums_to_sgd,
            )
        ],
        assumptions=["Assumptions 3 and 4 for F and the server", "F mu-strongly convex for the second"],
    ),
    claim_steps(
        "SAFARI-T4a",
        PAPER,
        "Proof of Theorem 4, (25)-(28)",
        "A server round: ||grad F(x_r)||^2 <= (2/eta_s)(F(x_r) - E F(x_{r+1})) + (L eta_s - 1) ||grad F(x_r)||^2 + L eta_s sigma_s^2.",
        [Step("server round", lemmas.SERVER_STEP)],
        assumptions=ASSUMED,
        readings=["(26) prints + eta_s for - eta_s inside of the inner product."],
    ),
    claim_steps(
        "SAFARI-T4b",
        PAPER,
        "Proof of Theorem 4, (31)-(36)",
        "<grad F, -eta_c E Delta_r> <= -(K eta_c/2) ||grad F||^2 - (eta_c/(2K)) ||G||^2 + eta_c K sigma_G^2 + eta_c K L^2 mean ||x_{r,k}^i "
        "- x_r||^2.",
        [Step("inner product", lemmas.INNER_PRODUCT)],
        assumptions=ASSUMED,
        readings=[DRIFT, "G = (1/m) sum_i sum_k grad F_i(x_{r,k}^i); signs of expectation are left out in print."],
    ),
    claim_steps(
        "SAFARI-T4c",
        PAPER,
        "(40)-(41), also used for Theorem 5",
        "E ||x_{r,k}^i - x_r||^2 <= 5 K eta_c^2 (sigma^2 + 6 K sigma_G^2) + 30 K^2 eta_c^2 ||grad F(x_r)||^2 for k <= K, eta_c <= 1/(8LK).",
        [Step("one step, K >= 2", lemmas.DRIFT_STEP), Step("K = 1", lemmas.DRIFT_OF_ONE)],
        conclusions=[
            Conclusion(
                "K steps",
                "with a factor 1 + 1/(K-1) a step, K steps add up to (K-1)((1 + 1/(K-1))^K - 1) times what one adds; by 1 + x <= e^x "
                "that is at most 5K. For K = 1 the constants 1, 2 and 2 are below 5, 30 and 30",
                ("one step, K >= 2", "K = 1"),
                confirmed=drift_adds_up,
            )
        ],
        assumptions=ASSUMED,
        readings=["Quoted by the paper. The constants are far from the best ones: 30 could be about 2.3."],
    ),
    claim_steps(
        "SAFARI-T4d",
        PAPER,
        "(42)-(44)",
        "(L/2) eta_c^2 E ||Delta_r||^2 <= L eta_c^2 E ||G||^2 + (L eta_c^2 K/m) sigma^2.",
        [Step("||G + noise||^2", lemmas.SPLIT)],
        conclusions=[
            Conclusion(
                "noise",
                "the noise of Delta_r is (1/m) sum_i sum_k of martingale differences, independent between clients, so that its second moment is "
                "at most K sigma^2/m; twice that times L/2",
                ("||G + noise||^2",),
            )
        ],
        assumptions=[*ASSUMED, INDEPENDENT],
    ),
    claim_steps(
        "SAFARI-T4e",
        PAPER,
        "(45)-(50)",
        "A client round with eta_c = 2 eta_s/K: ||grad F(x_r)||^2 <= (2/eta_s)(F(x_r) - E F(x_{r+1})) + 4 sigma_G^2 + (8 L eta_s/K^2 - "
        "2/K^2) ||G||^2 "
        "+ (80 L^2 eta_s^2/K)(sigma^2 + 6 K sigma_G^2) + (8 L eta_s/(mK)) sigma^2.",
        [
            Step("descent", lemmas.DESCENT),
            Step("inner product", lemmas.INNER_PRODUCT),
            Step("noise", lemmas.SPLIT),
            Step("drift", lemmas.DRIFT_STEP),
            Step("drift, K = 1", lemmas.DRIFT_OF_ONE),
        ],
        conclusions=[
            Conclusion(
                "(50)",
                "(45) is F(x_{r+1}) <= F(x_r) - eta_c <grad F, Delta_r> + (L eta_c^2/2) ||Delta_r||^2 in expectation, with (36) for the inner "
                "product; with the bounds (41) and (44), where 1/2 - 30 L^2 K^2 eta_c^2 >= 1/4 for eta_c <= 1/(4 sqrt(30) L K), times 2/eta_s",
                ("descent", "inner product", "noise", "drift", "drift, K = 1"),
                confirmed=lambda: drift_adds_up() and client_round_adds_up(),
            )
        ],
        assumptions=[*ASSUMED, INDEPENDENT],
        readings=["The factor 1/4 needs eta_c <= 1/(2 sqrt(30) L K) only; the printed condition gives 7/16."],
    ),
    claim_steps(
        "SAFARI-T5a",
        PAPER,
        "Proof of Theorem 5, (56)-(58)",
        "A server round: E ||x_{r+1} - x*||^2 <= (1 - 2 eta_s L mu/(L+mu)) ||x_r - x*||^2 + eta_s (eta_s - 2/(L+mu)) ||grad F(x_r)||^2 "
        "+ eta_s^2 sigma_s^2.",
        [Step("server round", lemmas.SERVER_DISTANCE)],
        assumptions=CONVEX,
        readings=["mu < L; for mu = L the inequality is the limit of it."],
    ),
    claim_steps(
        "SAFARI-T5b",
        PAPER,
        "(60)-(61)",
        "E ||(1/m) sum_i sum_k g_i||^2 <= E ||(1/m) sum_i sum_k grad F_i(x_{r,k}^i)||^2 + K sigma^2/m.",
        [Step("cocoercivity", lemmas.COCOERCIVE)],
        conclusions=[
            Conclusion(
                "no cross term",
                "let z_k be the steps without noise, f_k = grad F_i(x_k) - grad F_i(z_k), d_k = x_k - z_k, so that the noise before step k sums to "
                "-d_k/eta - sum_{j<k} f_j. z is not random and noise has the mean 0 given the past, so twice the cross term is "
                "2 sum_k E <f_k, -d_k/eta - sum_{j<k} f_j>, which by <f_k, d_k> >= ||f_k||^2/L is at most twice the expression confirmed; "
                "clients are independent of each other given x_r",
                ("cocoercivity",),
                confirmed=noise_adds_up,
            )
        ],
        assumptions=[*CONVEX, "eta_c <= 2/L", INDEPENDENT],
        readings=[
            "The paper gives no reason for the coefficient 1 (gradients depend on earlier noise; (43) pays a factor 2 for this). It is "
            "right for convex F_i, also where the noise depends on the state."
        ],
    ),
    claim_steps(
        "SAFARI-T5c",
        PAPER,
        "(63)",
        "<grad f(x), z - y> >= f(z) - f(y) + (mu/4) ||z - y||^2 - L ||z - x||^2 for mu-strongly convex, L-smooth f.",
        [Step("three points", lemmas.PERTURBED)],
    ),
    claim_steps(
        "SAFARI-T5d",
        PAPER,
        "(67)-(70)",
        "E ||(1/m) sum_i sum_k grad F_i(x_{r,k}^i)||^2 <= (2 K L^2/m) sum_i sum_k E ||x_{r,k}^i - x_r||^2 + 4 K^2 sigma_G^2 + 4 K^2 ||grad "
        "F(x_r)||^2.",
        [Step("second moment", lemmas.MOMENT)],
        assumptions=ASSUMED,
    ),
    claim_steps(
        "SAFARI-T5e",
        PAPER,
        "(72)-(77)",
        "A client round: E ||x_{r+1} - x*||^2 <= (1 - eta_c K mu/2) ||x_r - x*||^2 + 4 eta_c^2 K^2 sigma_G^2 + 4 eta_c^2 K^2 [1 + 15 eta_c "
        "K L (1 + eta_c K L)] "
        "||grad F||^2 + (K eta_c^2/m) sigma^2 - (2 eta_c K/m) sum_i [F_i(x_r) - F_i(x*)] + 2 eta_c K L (1 + K eta_c L) 5 K eta_c^2 "
        "(sigma^2 + 6 K sigma_G^2).",
        [
            Step("(63)", lemmas.PERTURBED),
            Step("second moment", lemmas.MOMENT),
            Step("noise", lemmas.COCOERCIVE),
            Step("drift", lemmas.DRIFT_STEP),
            Step("drift, K = 1", lemmas.DRIFT_OF_ONE),
        ],
        conclusions=[
            Conclusion(
                "(77)",
                "||x_r - x*||^2 - 2 eta_c E <G, x_r - x*> + eta_c^2 E ||Delta_r||^2, with (63) for x = x_{r,k}^i, y = x*, z = x_r at each "
                "pair, (61), (70) "
                "and (41)",
                ("(63)", "second moment", "noise", "drift", "drift, K = 1"),
                confirmed=lambda: drift_adds_up() and noise_adds_up() and distance_adds_up(),
            )
        ],
        assumptions=[*CONVEX, INDEPENDENT, "eta_c <= 1/(8LK)"],
        readings=["Theorem 5 does not ask for eta_c <= 1/(8LK), which (41) needs."],
    ),
    claim_steps(
        "SAFARI-X3",
        DERIVED,
        "Theorem 4, repaired",
        "At every limit of small steps ||grad F|| <= q rho sigma_G/(1 - q + q rho), rho = eta_c K/eta_s; and with rho = 2, K = 1 a round "
        "lowers F by (1+q)/2 eta_s (||grad F||^2 - 4 q^2 sigma_G^2/(1+q)^2) at least, up to order eta_s^2.",
        [Step("limit", lemmas.BALL), Step("one round", lemmas.MIXED_ROUND)],
        assumptions=["(1-q) grad F + q rho grad F_D = 0 with the same F_D in every client round", *ASSUMED],
    ),
    claim_steps(
        "SAFARI-X4",
        DERIVED,
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

"""DualFL's Theorems 3.2 and 3.3 with exact local solves, and steps of their proofs, as statements (`lemmas`).

Read throughout: f_j is mu-strongly convex and nu in (0, mu], so that g_j is convex; nonsmooth f_j are read as those for which f_j -
(mu/2) ||.||^2 is convex; L-smooth has its usual meaning, under which the paper works. By Lemma 6.6, DualFL with exact local solves is Algorithm 2
with exact steps (delta_n = 0), xi_j^(n) = nu (zeta_j^(n-1) - theta_j^(n)).
"""

from __future__ import annotations

from functools import partial

from fedtheory.claims import Claim
from paper_checks.dualfl import bounds, exact_rates, lemmas
from paper_checks.dualfl.certified_runs import draw_exact_runs
from paper_checks.dualfl.common import CONVEX, EXACT, claim, derived
from paper_checks.steps import Step

#: how theorems for every round are read
BY_CODE = (
    "The rounds are those of the library's DualFL, traced; A[n] = (t_n - 1) gap[n]. theta* = 0, energies are divided by N. "
    "1 <= t_n, and t_n <= 1/sqrt(rho) for rho > 0, follow from (5): DUALFL-T-SEQ."
)
#: what theorems with rho > 0 assume of conjugates
OF_SMOOTH = Step("conjugates of smooth clients", lemmas.smooth_conjugate)
CLAIMS: list[Claim] = [
    claim(
        "DUALFL-P6.2-STEP",
        "Proposition 6.2, one exact step of Algorithm 2",
        "2 nu t_n^2 (E_d(xi^{n+1}) - E_d*) + ||u^{n+1} - xi*||^2 <= 2 nu t_{n-1}^2 (E_d(xi^n) - E_d*) + ||u^n - xi*||^2 for rho = 0 and n >= 1.",
        [Step("one step", exact_rates.STEP)],
        assumptions=[CONVEX, "u^n = xi^n + (t_{n-1} - 1)(xi^n - xi^{n-1})"],
        readings=[
            BY_CODE,
            "The formula is that of n + 1, so that it begins at n = 0. The proposition is quoted by the paper, for inexact steps, too: DUALFL-P6.2.",
        ],
    ),
    claim(
        "DUALFL-P6.3-STEP",
        "Proposition 6.3, one exact step of Algorithm 2",
        "2 nu (1 - rho) t_n^2 (E_d(xi^{n+1}) - E_d*) + ||u^{n+1} - xi*||^2 <= (1 - rho t_n) (2 nu (1 - rho) t_{n-1}^2 "
        "(E_d(xi^n) - E_d*) + ||u^n - xi*||^2) for 0 < rho = r^2 <= nu/L and n >= 1.",
        [Step("one step", exact_rates.STEP_SMOOTH), OF_SMOOTH],
        assumptions=[CONVEX, "f_j L-smooth with nu < L", "u^n = xi^n + (t_{n-1} - 1)(xi^n - xi^{n-1})"],
        readings=[
            BY_CODE,
            "The formula is that of n + 1, so that it begins at n = 0. The proposition is quoted by the paper, for inexact steps, too: DUALFL-P6.3.",
        ],
    ),
    claim(
        "DUALFL-E29",
        "(29)",
        "||theta^(n) - theta*||^2 <= (2/(N nu)) (E_d(xi^(n)) - E_d*).",
        [Step("(29)", lemmas.primal_error)],
        assumptions=[CONVEX],
    ),
    claim(
        "DUALFL-E30",
        "(30)",
        "E(theta) - E* <= (L/2) ||theta - theta*||^2.",
        [Step("(30)", lemmas.energy_error)],
        assumptions=["f_j mu-strongly convex and L-smooth"],
    ),
    claim(
        "DUALFL-D22",
        "Section 6.2, below (22)",
        "F_d is 1/nu-smooth, and G_d is 1/(L - nu)-strongly convex where f_j is L-smooth.",
        [Step("F_d", lemmas.smooth_part), Step("G_d", lemmas.convex_part)],
        assumptions=[CONVEX, "nu < L (for nu = L, G_d is finite at one point only)"],
        readings=["Strong convexity is the paper's: at every point with a subgradient, against any point."],
    ),
    claim(
        "DUALFL-T3.2-EXACT",
        "Theorem 3.2 with exact local solves",
        f"||theta^(n) - theta*||^2 <= {bounds.show_models(bounds.plain, 'n')} for rho = 0 and n >= 1, V = mean_j ||xi_j*||^2, xi_j* = s_j* - nu "
        "theta* with subgradients s_j* of f_j at theta* whose sum is 0.",
        [Step("every round", exact_rates.PLAIN_EXACT)],
        assumptions=[CONVEX, EXACT],
        readings=[
            BY_CODE,
            "U_0 = mean_j ||eta_j^0 - xi_j*||^2, which is V for the start eta^0 = xi^0 = 0 of Algorithm 2. The theorem states the order 1/n^2, also "
            "for local solves as exact as (8): DUALFL-T3.2.",
        ],
        kind="rate",
        picture=partial(draw_exact_runs, smooth=False),
    ),
    claim(
        "DUALFL-T3.3a-EXACT",
        "Theorem 3.3 with exact local solves",
        "E(theta^(n)) - E* <= (L/2) ||theta^(n) - theta*||^2 and ||theta^(n) - theta*||^2 <= "
        f"{bounds.show_models(bounds.linear, 'n', 'r')} for 0 < rho = r^2 <= nu/L, n >= 1, V = mean_j ||xi_j*||^2.",
        [Step("every round", exact_rates.LINEAR_EXACT), OF_SMOOTH],
        assumptions=[CONVEX, "f_j L-smooth with nu < L", EXACT],
        readings=[
            BY_CODE,
            "U_0 is V for the start of Algorithm 2. The theorem prints 'rho <= [0, nu/L]', read as 'in'; with rho = 0 its rate is 1. It states the "
            "order (1 - sqrt(rho))^n, also for local solves as exact as (9): DUALFL-T3.3a. rho = 1/kappa and nu = mu (second part) is one case.",
        ],
        kind="rate",
        picture=partial(draw_exact_runs, smooth=True),
    ),
    derived(
        "DUALFL-N1",
        "the primal-dual gap (7)",
        "Gamma(theta) <= mu/(mu - nu) times the gap of the local problem (2) for nu < mu.",
        [Step("the gap", lemmas.primal_dual_gap)],
        assumptions=["f_j mu-strongly convex, 0 < nu < mu; no smoothness"],
        readings=["For nu = mu, which the paper recommends, Gamma can be infinite at every inexact theta."],
    ),
    derived(
        "DUALFL-N3",
        "the first two rounds",
        "||theta^(1) - theta*||^2 <= (1/mu - 1/L)^2 V*/4, and ||theta^(2) - theta*||^2 <= V*/(4 mu (mu + nu)) for rho = 0 without smoothness; "
        "V* = mean_j ||s_j*||^2.",
        [Step("first round", lemmas.first_round), Step("second round", lemmas.second_round)],
        assumptions=["f_j mu-strongly convex, L-smooth in the first round; exact local solves, 0 < nu <= mu"],
        readings=["Both are worst cases: a smaller constant is refuted by an exact instance."],
    ),
]

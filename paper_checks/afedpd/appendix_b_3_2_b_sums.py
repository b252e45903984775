"""Appendix B.3.2: sums of the recursion under constant steps (1) and decaying ones (2), as theorems of numbers, and Table 9."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Reading, Theorem, disproved, proved
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.afedpd.appendix_b_3_2_a_recursion import round_apart
from paper_checks.afedpd.notation import CHANCE, SAMPLES, claim, gamma_grows, stated
from paper_checks.afedpd.section_4_2_b_theorem_2 import balance_holds, draw_gaps, gap_where_drawn_are_learned, without_k
from paper_checks.formulas import formula
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- (1) constant steps ----------------------------------------------------------------------------------------------
def fixed_sum(w: Any, L: Any, G: Any, N: Any) -> Any:
    """Delta after n rounds of a fixed step, w = (1 + gamma eta K L)^n, N = CS."""
    return 2 * G / (L * N) * (w - 1)


_N = {"L": "L", "G": "G", "N": "C*S"}
_ROUND = {**_N, "gamma": "gamma", "K": "K"}
#: y[n] = Delta + alpha_rho sigma after n rounds from tau_0 on, T = tau_0 + n
FIXED_STEPS = Theorem(
    "0 < L, 0 < G, 0 < gamma, 1 <= K, 0 < eta <= 1/(K*L), 1 <= C, 1 <= S",
    f"y[n] < {formula(fixed_sum, w='1 + (1 + gamma)**(n + tau)', **_N)}",
    f"""
      sum:   y[n] <= {formula(fixed_sum, w="(1 + gamma*eta*K*L)**n", **_N)}
               by induction n: base combine zero; step combine round(n=n), (1 + gamma*eta*K*L)*ih
      less:  1 + gamma*eta*K*L <= 1 + gamma                      by combine
      more:  (1 + gamma*eta*K*L)**n <= (1 + gamma)**n            by power less, n
      unit:  1 <= 1 + gamma                                      by combine
      one:   1 <= (1 + gamma)**tau                               by power unit, tau
      done:  claim                                               by combine 1*sum, (2*G/(L*C*S))*more, (2*G/(L*C*S)*(1 + gamma)**n)*one
    """,
    rounds={"n": 0, "tau": 0},
    sequences={"y": "0"},
    given={"zero": "y[0] <= 0", "round": f"y[n+1] <= {formula(round_apart, y='y[n]', **_ROUND, eta='eta')}"},
)
GIVEN = "the recursion of AFEDPD-G-REC, which needs rho > L and eta rho <= 1"
FROM_TAU = "y[n] = Delta + alpha_rho sigma after n rounds from tau_0 on, T = tau_0 + n; until tau_0 both runs are one, so that y[0] = 0"
CLAIMS += [
    claim(
        "AFEDPD-G-FIX",
        "Appendix B.3.2, (1)",
        "With eta^t = eta_0 <= 1/(KL): Delta^T + alpha_rho sigma^T < 2 G (1 + gamma)^T/(LCS).",
        [Step("sum", FIXED_STEPS)],
        assumptions=[GIVEN, FROM_TAU],
        readings=[
            "Exponential in T under a fixed step, where Remark 2.1 claims stability; the main text does not say so."
        ],
    )
]


# ---- (2) decaying steps ----------------------------------------------------------------------------------------------
def decayed_sum(T: Any, tau: Any, a: Any, L: Any, G: Any, N: Any) -> Any:
    """What Delta^T is at most with decaying steps, a = gamma eta_0 K L <= mu L, N = CS."""
    return 2 * G / (L * N) * (T / tau) ** a


DECAYING_STEPS = Theorem(
    "0 < L, 0 < G, 0 < gamma, 1 <= K, 0 < mu, 0 < eta <= mu/(gamma*K), 1 <= C, 1 <= S, 1 <= tau",
    f"y[n] < {formula(decayed_sum, T='tau + n', tau='tau', a='mu*L', **_N)}",
    f"""
      tangent: 1 + a/(tau + n + 1) <= ((tau + n + 1)/(tau + n))**a      by bernoulli -1/(tau + n + 1), -a
      sum:     y[n] <= {formula(decayed_sum, T="tau + n", tau="tau", a="a", **_N)} - 2*G/(L*C*S)
                 by induction n: base combine zero; step combine round(n=n), (1 + a/(tau + n + 1))*ih, (2*G/(L*C*S)*((tau + n)/tau)**a)*tangent(n=n)
      unit:    1 <= (tau + n)/tau                                       by combine
      more:    1 <= ((tau + n)/tau)**(mu*L - a)                         by power unit, mu*L - a
      done:    claim                                                    by combine 1*sum, (2*G/(L*C*S)*((tau + n)/tau)**a)*more
    """,
    rounds={"n": 0},
    where={"a": "gamma*eta*K*L"},
    sequences={"y": "0"},
    given={
        "zero": "y[0] <= 0",
        "round": f"y[n+1] <= {formula(round_apart, y='y[n]', **_ROUND, eta='eta/(tau + n + 1)')}",
    },
)
BALANCE = Theorem(
    "0 < L, 0 < G, 0 < H, 1 <= P <= C, 1 <= S, 0 < T, 0 < mu, 0 < tau",
    f"H*{CHANCE} == G*({formula(decayed_sum, T='T', tau='tau', a='mu*L', **_N)})",
    "done: claim by combine (H*P/(C*S)*tau**(-mu*L))*balanced",
    given={"balanced": "tau**(1 + mu*L) == 2*G**2/(H*P*L)*T**(mu*L)"},
)


def check_decaying(ctx: Context, *, rest: int = 1) -> Iterator[Finding]:
    """What gamma must be."""
    yield disproved(
        "one gamma for every T",
        gamma_grows(rest),
        "alpha rho >= x+ is asked at every t < T, with eta^t K = mu/(gamma (t + 1)); at t = T - 1 that is gamma >= 2 + rho/L + T/(mu L)",
        role="reading",
    )


CLAIMS += [
    claim(
        "AFEDPD-G-DEC",
        "Appendix B.3.2, (2)",
        (
            Clause(
                "With eta^t = eta_0/(t+1), eta_0 <= mu/(gamma K): Delta^T + alpha_rho sigma^T < (2 G/(LCS)) (T/tau_0)^{mu L},",
                ("sum",),
            ),
            Clause(
                "which tau_0 = (2 G^2/(HPL))^{1/(1 + mu L)} T^{mu L/(1 + mu L)} balances, times G, with H P tau_0/(CS).",
                ("tau_0",),
            ),
        ),
        [Step("sum", DECAYING_STEPS), Step("tau_0", BALANCE)],
        besides=check_decaying,
        assumptions=[GIVEN, FROM_TAU, "one T, and a gamma that serves all t < T", "tau_0 >= 1"],
        readings=[
            "Read for one T and a gamma that serves its rounds, so that eta_0 K <= mu^2 L/T. The printed product starts at j = t, where j = t + 1 is "
            "meant; tau_0 balances, and the least sum has another factor (mu L)^{1/(1 + mu L)}."
        ],
    )
]


# ---- Table 9 ---------------------------------------------------------------------------------------------------------
def check_table_9(ctx: Context, *, factor: int = 1, left: int = 1) -> Iterator[Finding]:
    """The last row fails; with the factor K restored it is the one before; the others are the literature's."""
    yield without_k(left)
    P, K, T, c = symbols("P K T c", positive=True)  # c = mu L/(1 + mu L)
    yield proved(
        "with K restored",
        balance_holds(draws=True) and is_zero((P * K * T) ** c - (P * T) ** c * K ** (factor * c)),
        "the last row is that of Sun et al. (2023d); without K it is smaller by K^{mu L/(1 + mu L)}",
        role="reading",
    )
    yield Reading("The other rows are a summary of the literature, and were not checked.")
    samples = (5, 10, 20, 50, 100)
    gaps = [float(gap_where_drawn_are_learned(S * S, S, S * S, float)) for S in samples]
    yield draw_gaps("samples S", samples, gaps, [4 / S for S in samples], "N = K = S^2, rho = 1/(2 K)")


CLAIMS += [
    stated(
        "AFEDPD-TAB9",
        "Table 9",
        "Sun et al. (2023d): O((P K T)^{mu L/(1 + mu L)}/(CS)); A-FedPD: O((P T)^{mu L/(1 + mu L)}/(CS)).",
        check_table_9,
        Fault("twice as large a gap", "(P T) without K", {"left": 2}, holds=True),
        Fault("K twice", "with K restored", {"factor": 2}),
        assumptions=(SAMPLES,),
        kind="rate",
    )
]

"""Which formula of this ledger is which row of ``printed.tsv``, and the rows that none is."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from typing import Any

from fedtheory.claims import Lemma
from fedtheory.claims.transcriptions import Printed
from paper_checks.afedpd import appendix_b_2_1_lemmas as lemmas_1_to_3
from paper_checks.afedpd import appendix_b_2_2_proof_of_theorem_1 as proof_of_theorem_1
from paper_checks.afedpd import appendix_b_3_1_a_lemma_4 as lemma_4
from paper_checks.afedpd import appendix_b_3_1_b_lemmas_5_and_6 as lemmas_5_and_6
from paper_checks.afedpd import appendix_b_3_2_a_recursion as recursion
from paper_checks.afedpd import appendix_b_3_2_b_sums as sums
from paper_checks.afedpd import notation, rounds
from paper_checks.afedpd import section_3_2_primal_dual_family as primal_dual_family
from paper_checks.afedpd import section_4_2_a_key_properties as key_properties
from paper_checks.afedpd import section_4_2_b_theorem_2 as theorem_2


def _times_constant(lemma: Lemma) -> Any:
    """The right side of a lemma that is its constant times the mean over clients."""
    return lambda Sall, C: Fraction(lemma.constants["c"]) * Sall / C


def _over_rounds(rho: Any, D1: Any, R0: Any, T: Any) -> Any:
    return notation.numerator_of_8(rho, D1, R0) / T


def _tau(G: Any, H: Any, P: Any, L: Any, mu: Any, T: Any) -> float:
    return exp(theorem_2.log_balance(log(2 * G**2 / L), log(H * P), log(T), float(mu * L)))


def _both_terms(G: Any, H: Any, P: Any, L: Any, mu: Any, T: Any, C: Any, S: Any) -> float:
    """The sum of the two terms at tau_0, where they are alike."""
    return float(2 / (C * S)) * _last(G, H, P, L, mu, T)


def _with_draws(P: Any, K: Any, T: Any, C: Any, S: Any, mu: Any, L: Any) -> float:
    return exp(theorem_2.log_balanced(0, log(P), log(T), float(mu * L), log(K))) / float(C * S)


def _last(G: Any, H: Any, P: Any, L: Any, mu: Any, T: Any) -> float:
    return exp(theorem_2.log_balanced(log(2 * G**2 / L), log(H * P), log(T), float(mu * L)))


_OF_11 = {"mu_L": "mu*L", "G2_over_L": "G**2/L", "HPT": "H*P*T", "CS": "C*S"}
_APART = {"V": "dth", "M": "dlam"}
_ALONE = {"G": "0", "S": "0"}
_STEP = {"V": "X", "W": "dth", "M": "dlam"}
_NAMES = {"th": "theta", "thi1": "point", "tb1": "point", "lam": "dual", "lb": "dual"}
_PI = {"V": "Dl", "M": "sg", "S": "C*samples"}
_OF_PI = {
    "c1": lambda eta, K, L: notation.allowed_apart(eta, K, L, 1, 0, 0, 0),
    "c2": lambda eta, K, L: notation.allowed_apart(eta, K, L, 0, 1, 0, 0),
}


def _third(eta: Any, K: Any, G: Any, S: Any) -> Any:
    return notation.allowed_apart(eta, K, 1, 0, 0, G, S)


_LINES = {"D": "Dl", "s": "sg", "d1": "dl1", "s1": "sg1", "p1": "pi1"}
_LINE_4 = "AFEDPD-G-REC, recursion, App. B.3.2, four-line system, line"
_LARGER = "App. B.3.2, larger root"
_ROOTS = {"s": "sqrt(L/(eta*K))", "k": "eta*K"}
_SUM = "App. B.2.2, sum of the two inequalities"
_ACTIVE = {"models": "sumA", "theta": "th", "bar": "tb1"}
_MODELS = {"mth1": "bar", "mlam1": "mean_dual", "tb1": "bar", "lb1": "mean_dual"}

TIES = (
    Printed("AFEDPD-T1, rhs, Theorem 1, Eq. (8), Sec. 4.1", _over_rounds),
    Printed(
        "AFEDPD-T1P, rhs, App. B.2.2, line after the selection of q=rho/(32 L^2)",
        proof_of_theorem_1.one_step_allowed,
        {"ft": "f", "Rm": "R", "eps": "epsilon"},
    ),
    Printed(
        "AFEDPD-T1P, constant lhs_coefficient_of_R_t, App. B.2.2, line after the selection of q=rho/(32 L^2)",
        proof_of_theorem_1.one_step_allowed,
        where={"f": "0", "R": "1", "g2": "0", "epsilon": "0"},
    ),
    Printed("AFEDPD-T1P, constant lhs_coefficient_of_R_t_with_q, " + _SUM, proof_of_theorem_1.weight_after),
    Printed("AFEDPD-T1P, constant coefficient_of_R_{t-1}_with_q, " + _SUM, proof_of_theorem_1.weight_before),
    Printed("AFEDPD-T1P, constant coefficient_of_minus_g2_with_q, " + _SUM, proof_of_theorem_1.gradient_weight),
    Printed(
        "AFEDPD-T1P, constant lhs_coefficient_of_R_t_before_q, App. B.2.2, system before q, second line",
        lemmas_1_to_3.left_of_14,
        where={"R": "1"},
    ),
    Printed("AFEDPD-L1, rhs, Lemma 1, App. B.2.1", _times_constant(lemmas_1_to_3.LEMMA_1)),
    Printed("AFEDPD-L3, rhs, Lemma 3, Eq. (15)", _times_constant(lemmas_1_to_3.LEMMA_3)),
    Printed("AFEDPD-L3, rhs, Lemma 3, Eq. (15), proof line 3", _times_constant(lemmas_1_to_3.LEMMA_3)),
    Printed("AFEDPD-L2, constant lhs_coefficient, Lemma 2, Eq. (14)", lemmas_1_to_3.left_of_14, where={"R": "1"}),
    Printed("AFEDPD-L2, rhs, Lemma 2, Eq. (14)", lemmas_1_to_3.right_of_14, {"Jt": "J", "eps": "epsilon"}),
    Printed(
        "AFEDPD-L2, definition dual_update_average, Lemma 2, Eq. (14), proof",
        rounds.dual_after,
        _NAMES,
        {"dual": "0"},
    ),
    Printed("AFEDPD-DESC, rhs, App. B.2.2, first display, last line", proof_of_theorem_1.descent_allowed, {"Rt": "R"}),
    Printed(
        "AFEDPD-DESC, rhs, App. B.2.2, system before q, first line",
        proof_of_theorem_1.descent_allowed,
        {"Rt": "R", "ft": "0"},
    ),
    Printed("AFEDPD-Q-RANGE, condition (also), App. B.2.2, selection of q", proof_of_theorem_1.gradient_weight),
    Printed("AFEDPD-Q-RANGE, lhs, App. B.2.2, selection of q", proof_of_theorem_1.weight_after),
    Printed("AFEDPD-Q-RANGE, rhs, App. B.2.2, selection of q", proof_of_theorem_1.weight_before),
    Printed("AFEDPD-Q-RANGE, constant 2q, App. B.2.2, selection of q", proof_of_theorem_1.twice_q),
    Printed("AFEDPD-Q-RANGE, condition (also 2), App. B.2.2, selection of q", proof_of_theorem_1.limit_of_twice_q),
    Printed("AFEDPD-Q-RANGE, condition (also 3), App. B.2.2, selection of q", proof_of_theorem_1.range_of_rho),
    Printed("AFEDPD-T2, rhs (also), Theorem 2, Eq. (11), Sec. 4.2", theorem_2.bound_11, where=_OF_11),
    Printed(
        "AFEDPD-T2, rhs, Theorem 2, Eq. (11), Sec. 4.2",
        theorem_2.bound_11,
        {"kc": lambda G2_over_L, mu_L: theorem_2.bound_11(G2_over_L, 1, 1, mu_L)},
        _OF_11,
    ),
    Printed(
        "AFEDPD-T2, constant kappa_c, Theorem 2, Eq. (11), Sec. 4.2",
        theorem_2.bound_11,
        where={**_OF_11, "HPT": "1", "CS": "1"},
    ),
    Printed(
        "AFEDPD-T2a, rhs (also 2), Remark 2.1", theorem_2.bound_11, where={**_OF_11, "G2_over_L": "1", "HPT": "P*T"}
    ),
    Printed("AFEDPD-EQ10, recursion, Eq. (10), second line (primal dual)", key_properties.displaced),
    Printed(
        "AFEDPD-EQ10, recursion (other reading), Eq. (10), second line (primal dual)",
        key_properties.displaced,
        where={"sign": "-1"},
    ),
    Printed(
        "AFEDPD-EQ10, recursion, Eq. (10), first line (FedAvg)",
        key_properties.displaced,
        where={"rho": "0", "lam": "0"},
    ),
    Printed(
        "AFEDPD-EQ10, recursion (other reading), Eq. (10), first line (FedAvg)",
        key_properties.displaced,
        where={"rho": "0", "lam": "0", "sign": "-1"},
    ),
    Printed(
        "AFEDPD-EQ10, recursion, Eq. (13), App. B.1; Algorithm 1 LocalTrain line 3",
        rounds.local_step,
        {"thk": "x", "th": "theta"},
    ),
    Printed(
        "AFEDPD-Q-DRIFT, constant decay_factor, text under Eq. (10)",
        key_properties.step_of_lengths,
        where={"U": "1", "B": "0"},
    ),
    Printed(
        "AFEDPD-Q-DRIFT, recursion, App. B.3.1, proofs of Lemmas 5 and 6, first display",
        key_properties.displaced,
        where={"sign": "-1"},
    ),
    Printed(
        "AFEDPD-L4, rhs, Lemma 4, Eq. (16)",
        lemma_4.right_of_16,
        {"dthT": "distance"},
        {"tau": "tau0", "chance": notation.printed_chance},
    ),
    Printed(
        "AFEDPD-L4, rhs, Lemma 4, Eq. (16), proof, conditional line",
        lemma_4.right_of_16,
        {"Dcond": "distance", "Pzc": "chance"},
    ),
    Printed("AFEDPD-L4, rhs, Lemma 4, Eq. (16), proof, bound of P(zeta^c)", notation.printed_chance, {"tau0": "tau"}),
    Printed("AFEDPD-L5, rhs, Lemma 5, Eq. (17)", notation.allowed_apart, where={**_APART, **_ALONE}),
    Printed(
        "AFEDPD-L5, rhs (other reading), Lemma 5, proof, last line",
        notation.allowed_apart,
        where={**_APART, **_ALONE},
    ),
    Printed("AFEDPD-L5, rhs, Lemma 5, proof, last line", notation.allowed_apart, {"dthT": "dth"}, {**_APART, **_ALONE}),
    Printed(
        "AFEDPD-L5, recursion, Lemma 5, proof, last line of the first display",
        lemmas_5_and_6.step_apart,
        {"rhoL": "rho - L"},
        {**_STEP, **_ALONE},
    ),
    Printed(
        "AFEDPD-L5, recursion, Lemma 5, proof, line before",
        lemmas_5_and_6.common_step,
        {"dthk": "Vk"},
        {"V": "X", "M": "dlam"},
    ),
    *(
        Printed(
            f"AFEDPD-{row}",
            lemmas_5_and_6.apart_after,
            {"rhoL": "rho - L", "dthT": "dth", "s": "S"},
            {"W": "dth", "M": "dlam", **alone},
        )
        for row, alone in {
            "L5, rhs, Lemma 5, proof, unrolled": _ALONE,
            "L5, rhs, Lemma 5, proof, simplified": _ALONE,
            "L5, rhs (other reading), Lemma 5, proof, simplified": _ALONE,
            "L6, rhs, Lemma 6, proof, unrolled": {},
            "L6, rhs, Lemma 6, proof, simplified": {},
        }.items()
    ),
    Printed("AFEDPD-L6, rhs, Lemma 6, Eq. (18)", notation.allowed_apart, {"s": "S"}, _APART),
    Printed("AFEDPD-L6, rhs (other reading), Lemma 6, Eq. (18)", notation.allowed_apart, where=_APART),
    Printed("AFEDPD-L6, recursion, Lemma 6, proof, different sample pair", lemmas_5_and_6.exchanged_step, where=_STEP),
    Printed("AFEDPD-L6, recursion, Lemma 6, proof, mixture", lemmas_5_and_6.mixed_step, {"rhoL": "rho - L"}, _STEP),
    Printed(
        "AFEDPD-L6, recursion, Lemma 6, proof, combined",
        lemmas_5_and_6.step_apart,
        {"rhoL": "rho - L", "s": "S"},
        _STEP,
    ),
    *(Printed(f"{_LINE_4} {k + 1}", recursion.lines_of_recursion, {"c1": "c1"}, _LINES, item=k) for k in range(4)),
    Printed("AFEDPD-G-REC, rhs, App. B.3.2, bound of pi^{t+1}", notation.allowed_apart, {"S": "samples"}, _PI),
    *(
        Printed(
            f"AFEDPD-G-REC, constant c_{k + 1}, App. B.3.2, bound of pi^{{t+1}}",
            notation.allowed_apart,
            {"S": "samples"},
            {"V": "0", "M": "0", **_PI, **at},
        )
        for k, at in enumerate(({"V": "1", "M": "0", "G": "0"}, {"V": "0", "M": "1", "G": "0"}, {"V": "0", "M": "0"}))
    ),
    Printed(
        "AFEDPD-G-REC, rhs, App. B.3.2, linear combination", recursion.combined_lines, where={"D": "Dl", "s": "sg"}
    ),
    Printed(
        "AFEDPD-G-REC, rhs (other reading), App. B.3.2, display after beta, gamma",
        recursion.combined_lines,
        {"gamma": "1 + alpha*rho", "S": "samples"},
        {
            "D": "Dl",
            "s": "sg",
            "gamma": "1 + alpha*rho",
            **_OF_PI,
            "S": "C*samples",
            "c3": _third,
        },
    ),
    Printed(
        "AFEDPD-G-REC, condition, App. B.3.2, quadratic in alpha*rho",
        notation.condition_on_x,
        where={"x": "alpha*rho", **_ROOTS},
    ),
    Printed(f"AFEDPD-G-REC, condition, {_LARGER}", notation.condition_on_x, {"u": "x"}, _ROOTS),
    *(
        Printed(
            f"AFEDPD-G-REC, {part}, {_LARGER}",
            recursion.larger_root,
            where={**_ROOTS, "q2": recursion.discriminant, "q": "sqrt(q2)"},
        )
        for part in ("constant x^+", "constant x^+ (also)", "condition (also)")
    ),
    Printed(f"AFEDPD-G-REC, rhs, {_LARGER}", recursion.root_limit, where=_ROOTS),
    Printed(
        "AFEDPD-G-FIX, rhs, App. B.3.2, case (1) constant step",
        sums.fixed_sum,
        {"tau0": "0"},
        {"w": "(1 + gamma*eta0*K*L)**T", "N": "C*S"},
        whole=("T",),
    ),
    Printed('AFEDPD-G-DEC, constant tau_0, App. B.3.2, "By selecting the proper tau_0"', _tau),
    *(
        Printed(f"AFEDPD-{place}", rounds.dual_after, _NAMES)
        for place in (
            "S1, recursion, Sec. 3.3 (last paragraph); App. B.3.2",
            "S1, recursion, Algorithm 1 D-Update, i in P^t",
            "S1, recursion, Algorithm 1 D-Update, else",
            "D1, recursion, Sec. 3.3 (only this identity is printed; 2 thetabar^{t+1}-thetabar^t is not)",
            "S5, recursion, Eq. (5) (FedPD), line 2",
            "S3, recursion, Eq. (5) (FedPD), line 2",
            "S4, recursion, Eq. (6) (FedADMM), line 2",
            "S7, recursion, Eq. (7) (FedDyn), line 2",
        )
    ),
    Printed("AFEDPD-S6, rhs, Algorithm 1 D-Update, else branch", rounds.dual_after, _NAMES, {"dual": "0"}),
    *(
        Printed(f"AFEDPD-{place}", rounds.broadcast, _MODELS)
        for place in (
            "S1, recursion, Algorithm 1 line 12",
            "S3, recursion, Algorithm 1 line 12",
            "S5, recursion, Eq. (5) (FedPD), line 3",
            "S3, recursion, Eq. (5) (FedPD), line 3",
        )
    ),
    Printed(
        "AFEDPD-S4, recursion, Eq. (6) (FedADMM), line 3",
        rounds.broadcast,
        where={"bar": "sumA/P", "mean_dual": "sumAl/P"},
    ),
    Printed(
        "AFEDPD-S1, recursion, App. B.3.2, dual updates, first line",
        rounds.mean_dual_step,
        {"mlam": "0"},
        _ACTIVE,
    ),
    Printed(
        "AFEDPD-S1, recursion, App. B.3.2, dual updates, second line",
        rounds.mean_dual_step,
        {"mlam": "0"},
        {**_ACTIVE, "models": "P*tb1"},
    ),
    Printed(
        "AFEDPD-S7, recursion, Eq. (7) (FedDyn), line 3", primal_dual_family.active_dual_step, {"lamg": "0"}, _ACTIVE
    ),
)
_ZERO = {"D1": "0", "s1": "0", "d1": "0", "p1": "0"}
_COMBINATION = "App. B.3.2, linear combination"
TIES += (
    *(
        Printed(f"AFEDPD-{place}", rounds.broadcast, {"lamg": "mean_dual", "lamg1": "mean_dual"}, {"bar": "sumA/P"})
        for place in (
            "S7, recursion, Eq. (7) (FedDyn), line 4",
            "S7, recursion (other reading), Eq. (7) (FedDyn), line 4",
        )
    ),
    Printed(
        "AFEDPD-T1P, recursion, App. B.2.2, system before q, second line",
        lemmas_1_to_3.right_of_14,
        {"eps": "epsilon"},
        {"J": lambda Rm: _times_constant(lemmas_1_to_3.LEMMA_3)(Rm, 1)},
    ),
    Printed(
        'AFEDPD-L2, rhs, Lemma 2, Eq. (14), proof, display before "Therefore"',
        lemmas_1_to_3.right_of_14,
        {"Jt": "J", "eps": "epsilon", "Rt": "0"},
    ),
    Printed(
        "AFEDPD-Q-RANGE, condition, App. B.2.2, selection of q",
        lambda L, rho: proof_of_theorem_1.limit_of_twice_q(L, rho) / 2,
    ),
    Printed("AFEDPD-T2, rhs, App. B.3.2, last display", _both_terms),
    Printed("AFEDPD-G-DEC, rhs, App. B.3.2, last display", _both_terms),
    Printed("AFEDPD-T2a, rhs (also), Remark 2.1", _with_draws),
    Printed(
        "AFEDPD-G-DEC, rhs, App. B.3.2, case (2) decayed step, second line right",
        sums.decayed_sum,
        {"tau0": "tau"},
        {"a": "mu*L", "N": "C*S"},
    ),
    Printed(
        "AFEDPD-G-DEC, rhs, App. B.3.2, after Lemma 4",
        lemma_4.right_of_16,
        {"tau0": "tau"},
        {
            "a": "mu*L",
            "N": "C*S",
            "distance": sums.decayed_sum,
            "chance": notation.printed_chance,
        },
    ),
    Printed(
        "AFEDPD-G-DEC, rhs, App. B.3.2, after Lemma 4, middle member",
        lemma_4.right_of_16,
        {"tau0": "tau", "DT": "distance"},
        {"chance": notation.printed_chance},
    ),
    Printed(
        f"AFEDPD-G-REC, lhs, {_COMBINATION}",
        recursion.left_of_combination,
        {"Dl1": "D1", "sg1": "s1", "dl1": "d1", "pi1": "p1", "beta": "beta"},
    ),
    Printed(
        f"AFEDPD-G-REC, condition, {_COMBINATION}",
        recursion.left_of_combination,
        {"beta": "beta"},
        {**_ZERO, "d1": "1"},
    ),
    Printed(
        f"AFEDPD-G-REC, condition (also), {_COMBINATION}",
        recursion.left_of_combination,
        {"beta": "beta"},
        {**_ZERO, "p1": "1"},
    ),
    Printed(f"AFEDPD-G-REC, constant alpha_rho, {_LARGER}", recursion.left_of_combination, where={**_ZERO, "s1": "1"}),
    Printed(
        "AFEDPD-G-REC, recursion (other reading), App. B.3.2, final iteration relationship",
        recursion.combined_lines,
        {"S": "samples"},
        {
            **_OF_PI,
            "D": "Dl",
            "s": "sg",
            "alpha": "arho*(1 + gamma*c1) - gamma*c2",
            "S": "C*samples",
            "c3": _third,
        },
    ),
    Printed(
        "AFEDPD-G-REC, rhs, App. B.3.2, first display (Delta)",
        recursion.lines_of_recursion,
        where={"d1": "sth/C", "s1": "sl/C"},
        item=0,
    ),
    Printed(
        "AFEDPD-G-REC, recursion, App. B.3.2, sentence before the definition of unparticipated clients",
        recursion.lines_of_recursion,
        {"sg": "s", "pit": "p1"},
        item=1,
    ),
    Printed(
        "AFEDPD-G-FIX, rhs (also), App. B.3.2, case (1) constant step",
        sums.fixed_sum,
        where={"w": "1 + (1 + gamma)**T", "N": "C*S"},
    ),
)

UNTIED = {
    "the claim has it in words: an order, a condition, or what a letter stands for": (
        "AFEDPD-T1, condition",
        "AFEDPD-T1, definition R_0",
        "AFEDPD-T1a",
        "AFEDPD-T1b",
        "AFEDPD-EQ10, definition local_Lagrangian",
        "AFEDPD-L2, definition e",
        "AFEDPD-L5, constant rho_L",
        "AFEDPD-Q-RANGE, condition (also 4)",
        "AFEDPD-G-FIX, condition",
        "AFEDPD-G-DEC, condition",
        "AFEDPD-G-DEC, definition eta^t",
        "AFEDPD-S5, rhs",
        "AFEDPD-S4, rhs",
    ),
    "an average, which the check plays": (
        "AFEDPD-L1, rhs, Lemma 1, App. B.2.1, proof, first line",
        "AFEDPD-L4, constant prob_of_selecting_j_star",
        "AFEDPD-L6, constant mixing_weight",
        "AFEDPD-S1, recursion, Algorithm 1 line 9",
        "AFEDPD-S2",
    ),
    "a summary of other papers, which was not checked": (
        "AFEDPD-T2a, rhs, Remark 2.1",
        "AFEDPD-T2a, constant total_iterations",
        "AFEDPD-T2a, constant total_samples",
    ),
    "a slip of one display, told in the claim's readings; the line that is used is tied": (
        "AFEDPD-G-REC, rhs, App. B.3.2, display after beta, gamma",
        "AFEDPD-G-REC, recursion, App. B.3.2, final iteration relationship",
        "AFEDPD-L4, rhs, Lemma 4, Eq. (16), proof, sum over t=0..tau_0",
    ),
    "a step of a printed proof that no claim is about": (
        "AFEDPD-T1P, rhs (other reading), App. B.2.2, line after the selection of q=rho/(32 L^2)",
        "AFEDPD-T1P, rhs, App. B.2.2, sum of the two inequalities",
        "AFEDPD-T1P, constant q",
        "AFEDPD-T1P, constant q*32L^2/rho^2",
        "AFEDPD-T1P, rhs, App. B.2.2, telescoped, first line",
        "AFEDPD-T1P, rhs, App. B.2.2, telescoped, last line",
        "AFEDPD-T1P, rhs (other reading), App. B.2.2, telescoped, last line",
        "AFEDPD-Q-RANGE, constant q",
        "AFEDPD-L3, rhs, Lemma 3, Eq. (15), proof line 2",
        "AFEDPD-DESC, rhs, App. B.2.2, first display, line after the square is split",
        "AFEDPD-DESC, rhs, App. B.2.2, first display, last but one line",
        "AFEDPD-G-REC, constant gamma",
        'AFEDPD-G-REC, condition, App. B.3.2, "Here we further let"',
        "AFEDPD-G-REC, rhs (also)",
        "AFEDPD-G-REC, rhs (also 2)",
        "AFEDPD-G-DEC, rhs, App. B.3.2, case (2) decayed step, product form",
        "AFEDPD-G-DEC, rhs (other reading), App. B.3.2, case (2) decayed step, product form",
        "AFEDPD-G-DEC, rhs, App. B.3.2, case (2) decayed step, exponential form",
        "AFEDPD-G-DEC, rhs, App. B.3.2, case (2) decayed step, second line left",
    ),
}

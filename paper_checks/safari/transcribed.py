"""Which formula of this ledger is which row of ``printed.tsv``, and the rows that none is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from fedtheory.claims import Assumption
from fedtheory.claims.transcriptions import Printed, bound_of, compare_printed, read_transcription, right_of
from paper_checks.formulas import formula
from paper_checks.given_gradients import gradient_step, weight
from paper_checks.safari import notation as t
from paper_checks.safari.appendix_a_0_a_proof_of_theorem_1 import averaged
from paper_checks.safari.appendix_a_0_b_proofs_of_theorems_2_and_3 import fewest_by_17, left_by_16, most_by_17
from paper_checks.safari.appendix_a_0_c_proof_of_theorem_4 import DRIFT_OF_STEPS, inner_product_below
from paper_checks.safari.appendix_a_1_a_discussions import largest_ratio
from paper_checks.safari.appendix_a_1_b_proof_of_theorem_5 import moment_below, perturbed, perturbed_below
from paper_checks.safari.section_3_2_a_assumption_2 import alpha_of_example
from problems.learning import HiddenPoint
from problems.thresholds import uniform

_T4 = {"sigma2": "sigma**2", "sigma_s2": "sigma_s**2", "sigma_G2": "sigma_G**2", "gap": "DF", "dist": "d0"}
_G = {f"G_{k}": f"G{k}" for k in (1, 2, 3, 4)}
#: of a round: slope, G, change, squared distance, (1/m) sum (F_i(x_r) - F_i(x*)), mean drift
_ROUND = _T4 | {
    "slope": "gF2",
    "G_3": "gF2",
    "G": "Gn2",
    "change": "Fr - EF1",
    "dist": "d2",
    "G_4": "SFd/m",
    "drift": "SX/(m*K)",
}
_NO_SLOPES = {"G_3": "0", "G_4": "0"}
#: right sides of (36) and (70), as the lemmas have them
_INNER_4, _MOMENT_5 = (
    formula(side, **{name: name for name in ("slope", "drift", "K", "L", "sigma_G2")}, **more)
    for side, more in ((inner_product_below, {"G": "G", "eta": "eta_c"}), (moment_below, {}))
)
_MOMENT_5 = _MOMENT_5.replace("slope", "G_3")
#: (51)-(52), a round's share of it
_MIXED_4 = f"2/eta_s*change + {t.DELTA} + {t.PULL_4} + {t.SLOPES_4}"


def _inner_5(dist: Any, drift: Any, G_4: Any, mu: Any, L: Any, K: Any, eta_c: Any) -> Any:
    """The sum over steps of (63), which is right at each pair."""
    return -2 * eta_c * K * perturbed_below(G_4, 0, dist, drift, mu, L, Fraction(perturbed.constants["c"]))


_INNER_5 = formula(_inner_5, **{name: name for name in ("dist", "drift", "G_4", "mu", "L", "K", "eta_c")})
_ROUND_5 = f"dist + {_INNER_5} + eta_c**2*({_MOMENT_5} + {t.NOISE_5})"
T4_BOUND = Printed("SAFARI-T4, rhs, Theorem 4 with delta put in", t.BOUND_4, where=_T4)
T4_CONDITION = Printed("SAFARI-T4, condition q, Theorem 4", t.THRESHOLD_4.format(power=2), where=_T4 | _G)
T5_BOUND = Printed(
    "SAFARI-T5, rhs, Theorem 5",
    t.BOUND_5,
    {"deltabar": t.DELTABAR, "d0": "dist"},
    {k: v for k, v in _T4.items() if k != "dist"},
)
T5_CONDITION = Printed("SAFARI-T5, condition q, Theorem 5", t.THRESHOLD_5.format(**t.PRINTED_5), where=_T4 | _G)


def assume_transcribed(what: str, tie: Printed) -> Assumption:
    """That a formula is what a second reader transcribed."""
    same = not compare_printed(tie, read_transcription(Path(__file__).with_name("printed.tsv")))
    return Assumption(f"{what} is what a second reader transcribed, at random points", same, "exact arithmetic")


def _largest_step(L: Any, K: Any) -> float:
    """eta_c at which `STEP_4` is an equality."""
    square = t.value(t.STEP_4.split("<=")[0], {"L": L, "K": K, "eta_c": 1})
    return float(float(square) ** -0.5)


def _case(M: int, m: int, n: int = 1) -> HiddenPoint:
    return HiddenPoint(M + m, m, n)  # more clients than take part


_COUNTS: dict[str, Any] = {
    "m": "m0",
    "M": "M0 + m0",
    "omega": lambda M0, m0: _case(M0, m0).omega,
    "eps": lambda M0, m0: _case(M0, m0).epsilon,
}


def _hidden(name: str) -> Any:
    return lambda M0, m0: getattr(_case(M0, m0), name)


def _excess(a: Any, b: Any, t: Any, ts: Any) -> Any:
    return uniform(a, b).mass(t, ts)


_INSIDE = {"b": "a + w", "ts": "a + w*(1 - 1/(1 + y))", "t": "a + w/(1 + z)"}
_CONDITION_Q = {
    "": t.PRINTED_5,
    " (other reading)": {**t.PRINTED_5, "share": t.CORRECTED_5["share"]},
    " (other reading 2)": t.CORRECTED_5,
}
TIES = (
    T4_BOUND,
    T4_CONDITION,
    T5_BOUND,
    T5_CONDITION,
    Printed("SAFARI-T4, rhs, Theorem 4", t.BOUND_4, {"delta": t.DELTA}, _T4),
    Printed("SAFARI-T4, definition delta, Theorem 4", t.DELTA, where=_T4),
    *(
        Printed(f"SAFARI-{place}", t.THRESHOLD_4.format(power=power), where=_T4 | _G)
        for place, power in {
            "T4, condition q (other reading), Theorem 4": 1,
            "T4f, condition q, last line of proof of Theorem 4": 2,
            "T4f, condition q (other reading), last line of proof of Theorem 4": 1,
        }.items()
    ),
    Printed("SAFARI-C1c, condition R_s, A.1", t.RATIO_4.format(power=2), {"Rc": "1"}, _T4 | _G),
    Printed("SAFARI-C1c, condition R_s (other reading), A.1", t.RATIO_4.format(power=1), {"Rc": "1"}, _T4 | _G),
    Printed("SAFARI-C1c, condition R_s/R_c, A.1 lower end", t.RATIO_4.format(power=2), where=_T4 | _G),
    Printed("SAFARI-C1c, condition R_s/R_c, A.1 upper end", largest_ratio, where={"share": "c/(m*K)"}),
    *(
        Printed(f"SAFARI-{place}", limit)
        for limit in (_largest_step, bound_of(t.STEP_FOUR, "eta_c"))
        for place in ("T4, condition eta_c, Theorem 4", 'T4e, condition eta_c, text after (46) ("i.e.")')
    ),
    *(
        Printed(f"SAFARI-{place}", t.BY_SERVER_STEP["eta_c"])
        for place in ("T4, condition eta_c (also), Theorem 4", "T4e, condition eta_c, text after (46)")
    ),
    Printed("SAFARI-T4a, rhs, eq. (28)", t.SERVER_4, where=_ROUND),
    Printed("SAFARI-T4b, rhs, eqs. (35)-(36)", _INNER_4, where=_ROUND | {"drift": t.DRIFT}),
    Printed("SAFARI-T4c, rhs, text after (77); bracket of (41)", t.DRIFT, where=_ROUND),
    Printed("SAFARI-T4c, condition eta_c, text after (41)", bound_of(DRIFT_OF_STEPS.region, "eta_c")),
    Printed("SAFARI-T4d, rhs, eq. (43)", t.MOMENT_4, {"N2": "K*sigma2/m"}, {"G": "Gn2"}),
    Printed("SAFARI-T4d, rhs, eq. (44)", t.MOMENT_4, where=_ROUND),
    Printed(
        "SAFARI-T4e, rhs, eqs. (45)-(46)",
        f"change + {_INNER_4} + {t.MOMENT_4}",
        where=_ROUND | {"slope": "0", "drift": t.DRIFT_BOUND},
    ),
    Printed("SAFARI-T4e, rhs, eqs. (47)-(48)", t.CLIENT_4, where=_ROUND | {"eta_s": "K*eta_c/2"}),
    Printed("SAFARI-T4e, rhs, eqs. (49)-(50)", t.CLIENT_4, where=_ROUND),
    Printed(
        "SAFARI-T4f, rhs, eqs. (51)-(52)",
        _MIXED_4,
        {"Rs": "(1 - q)*R", "Rc": "q*R", "ST": "change*R", "S1": "(1 - q)*R*slope", "S2": "q*R*G"},
        {k: v for k, v in _T4.items() if k.startswith("sigma")},
    ),
    Printed("SAFARI-T4f, rhs, eq. (53)", t.BOUND_4, {"Rs": "(1 - q)*R", "Rc": "q*R"}, _T4),
    Printed("SAFARI-T4f, rhs, eq. (54)", t.SLOPES_4, {"S1": "-(1 - q)*slope", "S2": "-q*G"}),
    Printed("SAFARI-T4f, rhs, eq. (55)", t.SLOPES_4, {"Rs": "1 - q", "Rc": "q", "G1": "-slope", "G2": "-G"}),
    Printed("SAFARI-C1a, rhs, Corollary 1, first rate", t.ORDER_C1A),
    Printed("SAFARI-C1b, rhs, Corollary 1, second rate", t.ORDER_C1B),
    Printed("SAFARI-C1b, rhs, Introduction, third contribution", t.ORDER_C1B, {"k": "K"}),
    Printed("SAFARI-C1b, condition sigma_s^2, Corollary 1", right_of(t.NOISE_C1B), where=_T4),
    Printed("SAFARI-C1c, rhs, A.1", t.ORDER_C1B),
    Printed("SAFARI-C1c, rhs, A.1, same order as", t.ORDER_C1B, {"Rc": "R"}),
    Printed("SAFARI-T4, recursion, Algorithm 1 line 6 (client local step)", gradient_step, {"eta_c": "eta"}),
    Printed("SAFARI-T4, recursion, Algorithm 1 line 11 (server step)", gradient_step, {"eta_s": "eta"}),
    Printed("SAFARI-T4, recursion, Algorithm 1 line 9 (weight of each x_r^i)", weight, {"nSr": "N"}),
    Printed("SAFARI-R6, rhs, Remark 6, non-convex", t.ORDER_C1B),
    *(
        Printed(f"SAFARI-{place}", t.THRESHOLD_5.format(**constants), where=_T4 | _G)
        for reading, constants in _CONDITION_Q.items()
        for place in (f"T5, condition q{reading}, Theorem 5", f"T5f, condition q{reading}, line after (83)")
        if place not in ("T5, condition q, Theorem 5", "T5f, condition q (other reading 2), line after (83)")
    ),
    *(
        Printed(f"SAFARI-{place}", t.DELTABAR, where=_T4)
        for place in ("T5, definition deltabar, Theorem 5", "T5g, definition deltabar, line after (85)")
    ),
    Printed("SAFARI-T5g, rhs, eq. (85)", t.BOUND_5, {"deltabar": t.DELTABAR, "d0": "dist"}),
    Printed(
        "SAFARI-T5g, definition delta, eq. (84), not defined there", t.MIXED_5, where=_T4 | _NO_SLOPES | {"dist": "0"}
    ),
    Printed("SAFARI-T5, condition eta_s, Theorem 5", bound_of(t.STEP_5, "eta_s")),
    Printed("SAFARI-T5a, condition eta_s, text after (58)", bound_of(t.STEP_5, "eta_s")),
    *(
        Printed(f"SAFARI-{place} {form} form", t.ETABAR[k])
        for place in ("T5, definition etabar, Theorem 5,", "T5g, definition etabar, line before (78),")
        for k, form in enumerate(("first", "second"))
    ),
    Printed(
        "SAFARI-T5, condition eta_c, Theorem 5: the two forms of etabar equated",
        t.BY_ETABAR["eta_c"],
        where={"etabar": t.ETABAR[1]},
    ),
    Printed("SAFARI-T5a, rhs, eq. (58)", t.SERVER_DISTANCE, where=_ROUND),
    Printed("SAFARI-T5b, rhs, eqs. (60)-(61): extra term", f"eta_c**2*({t.NOISE_5})", where=_T4),
    Printed(
        "SAFARI-T5c, rhs, text after (65)",
        perturbed_below,
        {"fz": "f_z", "fy": "f_y"},
        {"c": str(perturbed.constants["c"])},
    ),
    *(
        Printed(f"SAFARI-T5c, rhs, eqs. {place}", f"dist + {_INNER_5} + eta_c**2*(Gn2 + {t.NOISE_5})", where=_ROUND)
        for place in ("(62)-(63)", "(64)-(65)")
    ),
    Printed("SAFARI-T5d, rhs, eq. (70)", _MOMENT_5, where=_ROUND),
    Printed("SAFARI-T5e, rhs, eqs. (72)-(73)", _ROUND_5, where=_ROUND),
    Printed("SAFARI-T5e, rhs, eqs. (74)-(75)", _ROUND_5, where=_ROUND | {"drift": t.DRIFT}),
    Printed("SAFARI-T5e, rhs, eqs. (76)-(77)", t.CLIENT_DISTANCE, where=_ROUND),
    Printed("SAFARI-T5f, rhs, eqs. (78)-(80)", t.MIXED_5, where=_ROUND | t.BY_ETABAR),
    Printed("SAFARI-T5f, rhs, eq. (83)", t.MIXED_5, where=_ROUND | _NO_SLOPES | t.BY_ETABAR),
    *(
        Printed(
            f"SAFARI-T5f, rhs{reading}, eqs. (81)-(82)",
            t.MIXED_BY_ETABAR.format(times=times, share=t.CORRECTED_5["share"]),
            where=_ROUND | t.BY_ETABAR,
        )
        for reading, times in {"": t.PRINTED_5["times"], " (other reading)": t.CORRECTED_5["times"]}.items()
    ),
    Printed("SAFARI-R5b, rhs, Remark 5 ii): Theorem 4 at q=0", t.BOUND_4, where=_T4 | {"q": "0"}),
    Printed("SAFARI-R5b, rhs, Remark 5 ii): Theorem 5 at q=0", t.BOUND_5, where=_T4 | {"q": "0"}),
    Printed("SAFARI-T1, definition omega, Sec. 3.1", _hidden("omega"), _COUNTS, whole=("M0", "m0")),
    Printed(
        "SAFARI-T1, rhs, Theorem 1: error level inside the probability", _hidden("epsilon"), _COUNTS, whole=("M0", "m0")
    ),
    Printed("SAFARI-T1d, rhs, text after Theorem 1", _hidden("epsilon"), _COUNTS, whole=("M0", "m0")),
    Printed("SAFARI-T1a, definition eps, App. A", _hidden("epsilon"), _COUNTS, whole=("M0", "m0")),
    Printed("SAFARI-T1a, definition P_P(x2), App. A", _hidden("mass"), _COUNTS, whole=("M0", "m0")),
    Printed("SAFARI-T1a, definition binomial_parameter, App. A", _hidden("mass"), _COUNTS, whole=("M0", "m0")),
    Printed("SAFARI-T1c, rhs (other reading), eq. (6)", averaged, {"eps": "e", "p1": "p"}),
    Printed("SAFARI-T1c, rhs, eq. (7)", averaged, {"eps": "e", "p1": "p"}),
    Printed("SAFARI-A2a, definition eps_P(h_t), Sec. 3.2 one-dimensional example", _excess, _INSIDE, _INSIDE),
    Printed(
        "SAFARI-A2a, definition eps_Q(h_t), Sec. 3.2 one-dimensional example", _excess, {"a1": "a", "b1": "b"}, _INSIDE
    ),
    Printed(
        "SAFARI-A2a, constant alpha, Sec. 3.2 one-dimensional example",
        alpha_of_example,
        where={"narrow": "b1 - a1", "wide": "b - a"},
    ),
    *(
        Printed(f"SAFARI-{place}", t.alone_order, {beta: "b", "n": "samples", "c": "1"}, {"n": n})
        for place, beta, n in (
            ("T2b, rhs, Sec. 3.2: centralised learning, n samples", "beta_Q", "samples/dH"),
            ("T2b, rhs, Sec. 3.2: first term of (1), n = nT+nS", "beta_Q", "(nT + nS)/dH"),
            ("T2c, rhs, Sec. 3.2: from (server only)", "beta_Q", "nT"),
            ("T2c, rhs, Sec. 3.2 before Theorem 3: server only", "beta_P", "nT"),
            ("T3, rhs, Theorem 3", "beta_P", "nT/dH"),
            ("L1c, rhs, eq. (18): eps_Q(hhat*_Q)", "beta_Q", "1/A"),
            ("L1c, rhs (other reading), eq. (18): eps_Q(hhat*_Q)", "beta_Q", "1/A"),
            ("T3, rhs, unnumbered line after (21)", "beta_P", "1/A"),
        )
    ),
    Printed("SAFARI-T2c, rhs, Sec. 3.2: to (SA-FL)", t.pooled_order, {"beta_Q": "b"}, {"n": "nT + nS"}),
    *(
        Printed(f"SAFARI-{place}", t.complexity, {"mm": n, "nT": n}, {"n": n, "d": "dH", "outside": outside})
        for place, n, outside in (
            ("L1, definition A(m,delta), Lemma 1", "n0", "0"),
            ("L1, definition A(m,delta) (other reading), Lemma 1", "n0", "1"),
            ("T3, condition eps_P(h*_Q), Theorem 3: = O(calA(nT,delta))", "n0", "0"),
            ("T3, condition eps_P(h*_Q) (other reading), Theorem 3: = O(calA(nT,delta))", "n0", "1"),
            ("T3a, rhs, text after Theorem 3: Rhat_P(hhat*_Q) - Rhat_P(h*_P)", "n0", "0"),
        )
    ),
    Printed("SAFARI-L1, rhs, eq. (16)", left_by_16, {"Rh1": "0", "Rh2": "0", "PS": "p", "PSh": "phat"}),
    Printed("SAFARI-L1b, rhs, eq. (17), left bound on Phat_S", fewest_by_17, {"PS": "p"}),
    Printed("SAFARI-L1b, rhs, eq. (17), right bound on Phat_S", most_by_17, {"PS": "p"}),
    Printed("SAFARI-T3, rhs, eq. (20)", left_by_16, {"Rh1": "0", "Rh2": "0", "Pn": "p", "Ph": "phat"}),
    Printed("SAFARI-T3, rhs, eq. (21)", left_by_16, where={"p": "epsP**beta_P", "phat": "epsP**beta_P"}),
    Printed("SAFARI-L2, rhs, eq. (23)", left_by_16, {"Rq": "0", "Rp": "0", "Pn": "p", "Ph": "phat"}),
)
UNTIED = {
    "the claim has it in words: an assumption, an order, or what a letter stands for": (
        *(f"SAFARI-T1, definition {k}" for k in ("|S|", "|Sbar|", "alpha_i")),
        "SAFARI-T2, condition P_{x~P}(h!=h*_P)",
        "SAFARI-T2, condition P_{x~Q}(h!=h*_Q)",
        "SAFARI-T2, condition |eps_P(h)-eps_Q(h)|",
        "SAFARI-T2, definition |S_Q|",
        "SAFARI-T2, rhs, Theorem 2: probability",
        "SAFARI-T3, condition P_{x~P}(h!=h*_P)",
        "SAFARI-T3, condition P_{x~Q}(h!=h*_Q)",
        "SAFARI-T3, rhs, Theorem 3: probability",
        "SAFARI-A2b",
        *(f"SAFARI-T2a, definition {k}" for k in ("eps_D(h)", "epshat_D(h)")),
        "SAFARI-T2d",
        "SAFARI-R2",
        "SAFARI-T4, condition ||gradF_i(x)-gradF_i(y)||",
        "SAFARI-T4, condition ||gradF_i(x)-gradF(x)||^2",
        "SAFARI-T4, condition E||gradF(x,xi)-gradF(x)||^2",
        "SAFARI-T4, condition E||gradF_i(x,xi)-gradF_i(x)||^2",
        *(f"SAFARI-T4, definition {k}" for k in ("R_s", "R_c", "R_c (other reading)", "R")),
        "SAFARI-C1a, condition eta_s",
        "SAFARI-C1b, condition q",
        "SAFARI-C1b, condition eta_s",
        "SAFARI-C1c, condition R_s, A.1: R_s = O(R/(mK))",
        "SAFARI-T5, definition G4",
        "SAFARI-C2",
        "SAFARI-R6, rhs, Remark 6, strongly convex",
        "SAFARI-L2",
    ),
    "the claim has 1/(2 - beta_Q) by a letter; both orders are tied in SAFARI-T2b and SAFARI-T2c": ("SAFARI-T2, rhs",),
    "printed K + 1 in one place; the proofs sum over K steps, and so does the method": (
        "SAFARI-T4, constant local_steps",
    ),
    "the theorem has it in letters of its own: p = 4 eps, N = M n, labels of x_2, means of R' above and below eps": (
        "SAFARI-T1a, definition P_P(x1)",
        "SAFARI-T1a, lhs",
        "SAFARI-T1a, rhs",
        "SAFARI-T1b",
        "SAFARI-T1c, rhs, App. A: E_{S in calS} R(h_s,f)",
        "SAFARI-T1c, rhs, App. A: R(h_s,f) <= P(x != x_1)",
        "SAFARI-T1c, rhs, eq. (10)",
    ),
    "indices that cannot be meant; the other reading is tied": ("SAFARI-T1c, rhs, eq. (6)",),
    "a step of a printed proof that no claim is about": (
        *(f"SAFARI-T2a, rhs, eq. ({k})" for k in (12, 13, 14, 15)),
        "SAFARI-T3, rhs, eq. (19)",
        *(f"SAFARI-T4a, rhs, eq. ({k})" for k in (25, 26, 27)),
        "SAFARI-T4a, rhs (other reading), eq. (26)",
        "SAFARI-T4b, definition A_1",
        *(f"SAFARI-T4b, rhs, eq. ({k}" for k in ("32)", "33)", "34)", "39), A_3", "40), A_3", "41), A_3")),
        "SAFARI-T4d, definition A_2",
        "SAFARI-T5a, rhs, eq. (57)",
        "SAFARI-T5a, condition ||gradF(x)||^2",
        "SAFARI-T5b, rhs, eq. (60)",
        "SAFARI-T5b, rhs, eq. (61)",
        "SAFARI-T5d, rhs, eq. (68)",
        "SAFARI-T5d, rhs, eq. (69)",
        "SAFARI-T5g, rhs, eq. (84)",
    ),
}

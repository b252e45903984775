"""Appendix B.2: steps of the proof of Theorems 1 and 3, one by one."""

from __future__ import annotations

from functools import partial
from typing import Any

from fedtheory.claims import Claim, Lemma, Theorem, bar, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.fedpd.notation import A1, INEXACT, SMOOTH, claim, lagrangian
from paper_checks.steps import Step

CLAIMS: list[Claim] = []
N_CLIENTS = "0 < eta, 2 <= n"
OF_PAIRS = "the spread is that of the uploads; mean ||v_i - mean||^2 is half the mean of ||v_i - v_j||^2 over all pairs, at most (N-1)/(2N) spread^2"
PRINTED, TRUE = "as printed", "corrected"


def _numbers(name: str, region: str, text: str, proof: str = "", **more: Any) -> Theorem:
    return Theorem(region, text, proof and f"done: claim by {proof}", name=name, **more)


# ---- (26) ------------------------------------------------------------------------------------------------------------
def _duals(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||dlam||^2 <= 2 L^2 ||dx||^2 + errors eps, where lam = -grad f(x) + e in both rounds."""
    f, x, old, e, past = w.function(p.L, -p.L), w.vector("x"), w.vector("x-"), w.vector("e"), w.vector("e-")
    slope, _ = w.at(f, x, "g")
    before, _ = w.at(f, old, "g-")
    w.assume("solved to eps", norm2(e) - p.eps)
    w.assume("solved to eps before", norm2(past) - p.eps)
    return norm2(e - slope - past + before) - 2 * p.L**2 * norm2(x - old) - c.errors * p.eps


CLAIMS += [
    claim(
        "FEDPD-E26",
        "(26), Appendix B",
        "||lam_i^r - lam_i^{r-1}||^2 <= 2 L^2 ||x_i^r - x_i^{r-1}||^2 + 4 epsilon_1.",
        [
            Step(PRINTED, Lemma("(26) as printed", "(26)", INEXACT.replace(", 0 < eta", ""), _duals, {"errors": 4})),
            Step(TRUE, Lemma("(26)", "(26)", INEXACT.replace(", 0 < eta", ""), _duals, {"errors": 8}), "repaired"),
        ],
        assumptions=(A1, "r >= 2, or lam_i^0 = -grad f_i(x^0) + e_i^0; local solves satisfy (16)"),
        repaired="The last term is 8 epsilon_1; (34) then has (1 + 16u) epsilon_1/(2L).",
        false={PRINTED: TRUE},
    )
]


# ---- (35) ------------------------------------------------------------------------------------------------------------
def _copies_move(w: World, p: Parameters, c: LemmaConstants, weight: Any) -> Any:
    """mean ||x_{0,i} - x_0'||^2 <= 2 mean ||x_{0,i} - v_i||^2 + factor weight spread^2, where x_0' is the mean of the uploads v_i."""
    copies, v, spread2 = w.vector("x0_i", True), w.vector("v_i", True), w.value("spread2")
    w.assume("pairs on average", norm2(v - bar(v)) - spread2 * ((p.n - 1) / (2 * p.n)))
    return norm2(copies - bar(v)) - 2 * norm2(copies - v) - c.factor * weight * spread2


CLAIMS += [
    claim(
        "FEDPD-E35",
        "(35), Appendix B",
        "Where round r communicates, mean ||x_{0,i}^r - x_{0,i}^{r+1}||^2 <= 2 mean ||x_{0,i}^r - x_{0,i}^{r+}||^2 + ((N-1)/(eta N)) spread^2.",
        [
            Step(
                PRINTED,
                Lemma(
                    "(35) as printed",
                    "(35)",
                    N_CLIENTS,
                    lambda w, p, c: _copies_move(w, p, c, (p.n - 1) / (p.eta * p.n)),
                    {"factor": 1},
                ),
            ),
            Step(
                TRUE,
                Lemma("(35)", "(35)", "2 <= n", lambda w, p, c: _copies_move(w, p, c, (p.n - 1) / p.n), {"factor": 1}),
                "repaired",
            ),
        ],
        assumptions=("round r communicates", OF_PAIRS),
        readings=(
            "Its first line is an equality; two squares of sums are at most this, and so it is read. Its 1/eta stands beside no other and has other "
            "units; where eta <= 1 the line is true all the same.",
        ),
        repaired="With (N-1)/N in the place of (N-1)/(eta N).",
        false={PRINTED: TRUE},
    )
]


# ---- (37) ------------------------------------------------------------------------------------------------------------
def _expected_fall(w: World, p: Parameters, c: LemmaConstants, sign: int = 1) -> Any:
    """E mean [L_i^r - L_i^{r+1}] - mean [L_i^r - L_i^{r+}] = -(1 - p) rise <= (1 - p) ((n-1)/(2 n eta)) spread^2, where the v_i are averaged."""
    v, lam, spread2 = w.vector("v_i", True), w.vector("lam_i", True), w.value("spread2")
    w.assume("a square", spread2 * -1)
    x = v - lam * p.eta
    rise = lagrangian(0, x, bar(v), lam, p.eta) - lagrangian(0, x, v, lam, p.eta)
    return (rise * -sign - spread2 * ((p.n - 1) / (2 * p.n * p.eta))) * (1 - p.p)


def _needed_fall(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """mean [L_i^r - L_i^{r+}] - E mean [L_i^r - L_i^{r+1}] <= 0: what (38) needs with the spread of copies after a communication, which is 0."""
    v, lam = w.vector("v_i", True), w.vector("lam_i", True)
    x = v - lam * p.eta
    return (lagrangian(0, x, bar(v), lam, p.eta) - lagrangian(0, x, v, lam, p.eta)) * (c.share * (1 - p.p))


CLAIMS += [
    claim(
        "FEDPD-E37",
        "(37), Appendix B",
        "E_{r+1} mean [L_i^r - L_i^{r+1}] <= mean [L_i^r - L_i^{r+}] + (1-p)((N-1)/(2 eta N)) spread^2.",
        [
            Step(
                PRINTED,
                Lemma("(37)", "(37)", f"{N_CLIENTS}, 0 <= p < 1", _expected_fall, {}),
                wrong={
                    "averaging lowers mean L_i": Lemma(
                        "(37), wrong", "(37)", f"{N_CLIENTS}, 0 <= p < 1", partial(_expected_fall, sign=-1), {}
                    )
                },
            ),
            Step(
                "what (38) takes from it, with the spread of the copies",
                Lemma("the other way round", "(38)", "0 < eta, 0 <= p < 1", _needed_fall, {"share": 1}),
                "reading",
            ),
        ],
        readings=(
            "True whatever the spread: averaging the uploads raises mean L_i, so that the last term is not needed. (38) uses it the other way round, "
            "as a bound of mean [L_i^r - L_i^{r+}], and there the term is needed, with the spread of the uploads (claim L3).",
        ),
        false={"what (38) takes from it, with the spread of the copies": PRINTED},
    )
]


# ---- (41) ------------------------------------------------------------------------------------------------------------
CLAIMS += [
    claim(
        "FEDPD-E41",
        "(41), Appendix B",
        "(G + 2 sqrt(epsilon_1))^2 <= 4 (G^2 + epsilon_1), the constant with which (40) is squared.",
        [
            Step(PRINTED, _numbers("(41) as printed", "0 <= G, 0 <= e", "(G + 2*e)**2 <= 4*(G**2 + e**2)")),
            Step(
                TRUE,
                _numbers("(41)", "0 <= G, 0 <= e", "(G + 2*e)**2 <= 5*(G**2 + e**2)", "combine square(2*G - e)"),
                "repaired",
            ),
        ],
        readings=(
            "e is sqrt(epsilon_1). (41) also squares a bound of the expected spread where it speaks of the expected square, which is what fails in "
            "Theorem 3 (claim T3); and it drops a factor 1/(1-u)^2 and the term tau = 0 of (40).",
        ),
        repaired="The constant is 5.",
        false={PRINTED: TRUE},
    )
]


# ---- (44) ------------------------------------------------------------------------------------------------------------
def _slope(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||grad f(x_0)||^2 <= 4 L^2 mean ||x_i - x_0||^2 + factor mean ||grad_{x_i} L_i||^2, where mean (lam_i + (x_i - x_0)/eta) = 0."""
    f, x, lam = w.function(p.L, -p.L, client=True), w.vector("x_i", True), w.vector("lam_i", True)
    x0 = bar(x + lam * p.eta)
    g, _ = w.at(f, x, "g")
    at_x0, _ = w.at(f, x0, "g0")
    own = g + lam + (x - x0) / p.eta
    return norm2(bar(at_x0)) - 4 * p.L**2 * norm2(x - x0) - c.factor * norm2(own)


CLAIMS += [
    claim(
        "FEDPD-E44",
        "(44), Appendix B",
        "||grad f(x_0)||^2 <= 4 L^2 mean ||grad_lam L_i||^2 + 2 mean ||grad_x L_i||^2 <= 4 L^2 mean ||grad L_i||^2.",
        [
            Step("its first lines", Lemma("(44)", "(44)", SMOOTH, _slope, {"factor": 2})),
            Step(
                PRINTED,
                _numbers("(44), last line, as printed", "0 < L, 0 <= a, 0 <= b", "4*L**2*a + 2*b <= 4*L**2*(a + b)"),
            ),
            Step(
                TRUE,
                _numbers(
                    "(44), last line",
                    "0 < L, 0 <= a, 0 <= b, 0 < K",
                    "4*L**2*a + 2*b <= K*(a + b)",
                    "combine a*one, b*other",
                    given={"one": "4*L**2 <= K", "other": "2 <= K"},
                ),
                "repaired",
            ),
        ],
        assumptions=(A1, "x_0 is the mean of x_i + eta lam_i"),
        readings=("a and b are mean ||grad_lam L_i||^2 and mean ||grad_x L_i||^2, whose sum is mean ||grad L_i||^2.",),
        repaired="The last factor is max(4 L^2, 2), and so C_2 >= max(4 L^2, 2) C_7.",
        false={PRINTED: TRUE},
    )
]

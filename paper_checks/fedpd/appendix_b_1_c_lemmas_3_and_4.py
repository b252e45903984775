"""Appendix B.1: Lemmas 3 and 4, with their proofs of Appendices C.3 and C.4."""

from __future__ import annotations

from typing import Any

from fedtheory.claims import Claim, Lemma, bar, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.fedpd.appendix_b_1_a_lemma_1 import in_rounds
from paper_checks.fedpd.notation import A1, A2, INEXACT, STEP, claim, lagrangian
from paper_checks.fedpd.played import WithoutDuals
from paper_checks.steps import Conclusion, Runs, Step

CLAIMS: list[Claim] = []


# ---- Lemma 3, (23) ---------------------------------------------------------------------------------------------------
def uploads_above_mean(spread2: Any, n: Any, eta: Any, share: Any = 1) -> Any:
    """Lemma 3's right side, (23): mean_i L_i at the uploads minus at their average is at least this."""
    return spread2 * (-share * (n - 1) / (2 * n * eta))


def _averaging(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """mean_i L_i at the uploads v_i minus at their average is at least -share (n-1)/(2 n eta) spread^2, from what pairs have on average."""
    v, lam, spread2 = w.vector("v", True), w.vector("lam", True), w.value("spread2")
    w.assume("pairs on average", norm2(v - bar(v)) - spread2 * ((p.n - 1) / (2 * p.n)))
    x = v - lam * p.eta
    falls = lagrangian(0, x, bar(v), lam, p.eta) - lagrangian(0, x, v, lam, p.eta)
    return falls + uploads_above_mean(spread2, p.n, p.eta, c.share)


LEMMA_THREE_ON_AVERAGE = Lemma(
    "Lemma 3 from what pairs have on average", "(23)", "0 < eta, 2 <= n", _averaging, {"share": "1/2"}
)


def _one_upload(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """L_i at the upload v_i of a client minus at the average of all n, where no other is farther from it than the spread."""
    v, lam, others, spread2 = w.vector("v_i"), w.vector("lam_i"), w.vector("v_j", True), w.value("spread2")
    w.assume("spread of uploads", norm2(others - v) - spread2)
    x, average = v - lam * p.eta, (v + bar(others) * (p.n - 1)) / p.n
    falls = lagrangian(0, x, average, lam, p.eta) - lagrangian(0, x, v, lam, p.eta)
    return falls + uploads_above_mean(spread2, p.n, p.eta, c.share)


LEMMA_THREE = Lemma("Lemma 3 for each client", "(23)", "0 < eta, 2 <= n", _one_upload, {"share": 1})


def _uploads_apart(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """Lemma 3 with the uploads v_i on its left side and the spread of the common x_0 = 0 on its right, at a fixed point (mean lam_i = 0)."""
    lam = w.vector("lam", True)
    lam = lam - bar(lam)
    v = lam * p.eta
    falls = lagrangian(0, v * 0, bar(v), lam, p.eta) - lagrangian(0, v * 0, v, lam, p.eta)
    return falls * c.share


UPLOADS_APART = Lemma("Lemma 3 at a fixed point, uploads on its left", "(37)", "0 < eta", _uploads_apart, {"share": 1})
PROOFS_THREE = "uploads on the left, as in its proof and in (37)"
UPLOADS_THREE = "uploads on both sides"
CLAIMS += [
    claim(
        "FEDPD-L3",
        "Lemma 3, (23), as its proof and (37) have it",
        "mean_i [L_i at the upload x_{0,i}^{r+} minus L_i at their average] >= -((N-1)/(2 N eta)) (spread of x_{0,i}^{r+1})^2.",
        [
            Step(PROOFS_THREE, UPLOADS_APART),
            Step(UPLOADS_THREE, LEMMA_THREE, "repaired"),
            Step("half of the constant, from what pairs have on average", LEMMA_THREE_ON_AVERAGE, "reading"),
        ],
        conclusions=[
            Conclusion(
                "x_{0,i}^{r+1} on the left, as (23) prints it",
                "in a round that skips x_{0,i}^{r+1} is the upload, so that it is the corrected lemma; in one that communicates all x_{0,i}^{r+1} "
                "are their average, and both sides vanish",
                (UPLOADS_THREE,),
                "reading",
            )
        ],
        assumptions=(A1, "the round of the instance communicates"),
        repaired="The spread is that of the uploads x_{0,i}^{r+}, too; so it is true of each client, and not of their mean alone.",
        readings=(
            "(23) prints x_{0,i}^{r+1} on its left side, and so read it is true, with nothing to say of rounds that communicate. Its proof ends "
            "with the uploads x_{0,i}^{r+}, and (37) needs them there: at a fixed point of clients that differ the left side is negative and the "
            "spread of the common x_0^{r+1} is 0.",
        ),
        false={PROOFS_THREE: UPLOADS_THREE},
    )
]


# ---- Lemma 4, (24) ---------------------------------------------------------------------------------------------------
def below_level(level: Any, w2: Any, eps: Any, L: Any, eta: Any, factor: Any) -> Any:
    """Lemma 4's right side, (24), from L(x_{0:N}, lam) and mean ||x_i - x_0||^2: f(x_0) is at most this."""
    return level - w2 * (factor * (1 - 2 * L * eta) / eta) + eps / (2 * L)


def _value_below(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(x_0) <= mean L_i - factor ((1 - 2u)/eta) mean ||x_i - x_0||^2 + eps/(2L), where lam_i = -grad f_i(x_i) + e_i."""
    f = w.function(p.L, -p.L, client=True)
    x, e, x0 = w.vector("x", True), w.vector("e", True), bar(w.vector("x0"))
    g, value = w.at(f, x, "g")
    _, at_x0 = w.at(f, x0, "g0")
    w.assume("solved to eps", norm2(e) - p.eps)
    return at_x0 - below_level(lagrangian(value, x, x0, e - g, p.eta), norm2(x - x0), p.eps, p.L, p.eta, c.factor)


def _value_below_after_one_round(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The same after the first round from x^0 = 0, x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0) (D13), of functions that A2 holds for anyway."""
    f = w.function(p.L, p.L / 2, client=True)
    x = bar(w.vector("x0") * 0)
    g, value = w.at(f, x, "g")
    x0 = x - bar(g) * p.eta
    _, at_x0 = w.at(f, x0, "g0")
    return at_x0 - below_level(lagrangian(value, x, x0, -g, p.eta), norm2(x - x0), 0, p.L, p.eta, c.factor)


LEMMA_FOUR_PRINTED = Lemma(
    "Lemma 4 as printed, r = 1, exact solves",
    "(24)",
    "0 < L, 0 < eta <= 3/(10*L)",
    _value_below_after_one_round,
    {"factor": 1},
)
LEMMA_FOUR = Lemma("Lemma 4 with half the constant", "(24)", INEXACT, _value_below, {"factor": "1/2"})
PRINTED_FOUR = "printed constant (1 - 2u)/(N eta)"
CLAIMS += [
    claim(
        "FEDPD-L4",
        "Lemma 4, (24)",
        "f(x_0^r) <= L(x_{0:N}^r, lam^r) - ((1-2u)/(N eta)) sum_i ||x_i^r - x_0^r||^2 + epsilon_1/(2L).",
        [Step(PRINTED_FOUR, LEMMA_FOUR_PRINTED), Step("halved constant", LEMMA_FOUR, "repaired")],
        runs=[
            Runs(
                "halved constant in rounds",
                in_rounds("value <= level - (1 - 2*L*eta)/(2*eta)*w2", "Lemma 4 with exact solves", bounded_below=True),
                {"duals never move": lambda eta: WithoutDuals(eta)},
                "repaired",
            )
        ],
        assumptions=(A1, A2, STEP, "local solves satisfy (16)"),
        readings=(
            "The instance is a state that the algorithm reaches: the first round from x^0 with exact solves and lam_i^0 = -grad f_i(x^0), where "
            "x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0). On f_i = (L/2) x^2 the inequality needs u >= 1/3.",
        ),
        repaired="The constant is (1-2u)/(2 N eta), which is what the proof in Appendix C-D gives.",
        false={PRINTED_FOUR: "halved constant"},
    )
]

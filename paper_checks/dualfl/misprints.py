"""What the paper misprints besides (18): the displayed definition of L-smoothness, and two displays of the proof of Lemma 6.6."""

from __future__ import annotations

from typing import Any

from fedtheory.claims import Claim, Lemma, bar, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.dualfl import lemmas
from paper_checks.dualfl.common import claim
from paper_checks.steps import Step


@lemma("energy error by the printed definition", "Section 2, (30)", "0 < mu, 0 < L", c=1)
def by_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(30) where f_j(y) >= f_j(x) + <grad f_j(x), y - x> + (mu/2) ||y - x||^2 is all that is known; theta* = 0."""
    h = w.function(None, 0, client=True)  # f_j less (mu/2) ||.||^2
    g = w.vector("grad f_j(theta*)", True)
    g = g - bar(g)
    x = w.vector("theta")
    _, least = w.at(h, g * 0, "at theta*", g=g)
    _, value = w.at(h, x + g * 0, "at theta")
    return value + norm2(x) * (p.mu / 2) - least - norm2(x) * (c.c * p.L / 2)


def first_display(w: World, p: Parameters, beta: Any) -> Any:
    """||mean_i eta_i^(n) + nu (1 + beta) theta^(n) - nu beta theta^(n-1)||^2 <= 0, where eta^(n) has the inertia before by (25b), and (26) holds."""
    zeta, x, before = w.vector("zeta_j", True), w.vector("theta^n"), w.vector("theta^{n-1}")
    zeta = zeta - bar(zeta)
    eta = (zeta - x * (1 + p.before) + before * p.before) * p.nu
    return norm2(bar(eta) + x * (p.nu * (1 + beta)) - before * (p.nu * beta))


def last_display(w: World, p: Parameters, sign: int) -> Any:
    """||(1 + beta) xi^(n+1) - beta xi^n - nu zeta^(n+1) + nu (1 + beta) theta^(n+1) - sign nu beta theta^n||^2 <= 0, by (25a) and (4)."""
    old, now, x, y = (w.vector(name, True) for name in ("zeta^{n-1}", "zeta^n", "theta_j^n", "theta_j^{n+1}"))
    mean, new = w.vector("theta^n"), w.vector("theta^{n+1}")
    later = (now + new - y) * (1 + p.beta) - (old + mean - x) * p.beta
    left = ((now - y) * (1 + p.beta) - (old - x) * p.beta) * p.nu
    return norm2(left - (later - new * (1 + p.beta) + mean * (sign * p.beta)) * p.nu)


_FIRST, _LAST = "0 < nu, 0 < before, 0 < beta", "0 < nu, 0 < beta"
FIRST_PRINTED = Lemma("first display", "Lemma 6.6", _FIRST, lambda w, p, c: first_display(w, p, p.beta))
FIRST = Lemma(
    "first display, beta_{n-1}", "Lemma 6.6", "0 < nu, 0 < before", lambda w, p, c: first_display(w, p, p.before)
)
LAST_PRINTED = Lemma("last display", "Lemma 6.6", _LAST, lambda w, p, c: last_display(w, p, -1))
LAST = Lemma("last display, plus", "Lemma 6.6", _LAST, lambda w, p, c: last_display(w, p, 1))

CLAIMS: list[Claim] = [
    claim(
        "DUALFL-SMOOTH",
        "Section 2, the definition of L-smooth",
        "h is L-smooth when h(theta) >= h(phi) + <grad h(phi), theta - phi> + (mu/2) ||theta - phi||^2, so that (30) holds of such f_j.",
        [
            Step("the printed definition", by_printed),
            Step("the usual definition", lemmas.energy_error, "repaired"),
        ],
        repaired="h is L-smooth when h(theta) <= h(phi) + <grad h(phi), theta - phi> + (L/2) ||theta - phi||^2, so that (30) holds of "
        "such f_j.",
        readings=[
            "What is displayed is the definition of strong convexity again, without L. A definition is judged by what the paper makes of it: (30) is "
            "false of it. All other claims of this ledger read L-smooth in its usual sense, under which the paper works."
        ],
        false={"the printed definition": "the usual definition"},
        kind="identity",
    ),
    claim(
        "DUALFL-L6.6-DISPLAYS",
        "proof of Lemma 6.6, first and last display",
        "sum_i eta_i^(n) = -N nu (1 + beta_n) theta^(n) + N nu beta_n theta^(n-1), and (1 + beta_n) xi_j^(n+1) - beta_n xi_j^(n) = nu zeta_j^(n+1) "
        "- nu (1 + beta_n) theta^(n+1) - nu beta_n theta^(n).",
        [
            Step("first display", FIRST_PRINTED),
            Step("last display", LAST_PRINTED),
            Step("first display, beta_{n-1}", FIRST, "repaired"),
            Step("last display, plus", LAST, "repaired"),
        ],
        repaired="sum_i eta_i^(n) = -N nu (1 + beta_{n-1}) theta^(n) + N nu beta_{n-1} theta^(n-1), and (1 + beta_n) xi_j^(n+1) - beta_n xi_j^(n) "
        "= nu zeta_j^(n+1) - nu (1 + beta_n) theta^(n+1) + nu beta_n theta^(n).",
        readings=["(25b) of eta^(n) has beta_{n-1}. The lemma is not touched: DUALFL-L6.6."],
        false={"first display": "first display, beta_{n-1}", "last display": "last display, plus"},
        kind="identity",
    ),
]

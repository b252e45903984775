"""What theorems on learning speak of: outcomes r of all that is drawn and tossed, with weights w[r], and a rule that is learned for each.

Two points x_1, x_2 and two targets f in H with f(x_1) = 1 and f(x_2) = 0 or 1. Where f(x_2) = f the rule that is learned labels x_1 by j_f[r] and
x_2 by k_f[r]. Learning reads samples and coins, so that it returns one rule under both targets where all samples are copies of x_1.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.formulas import over_outcomes

# ---- Rules and risks -------------------------------------------------------------------------------------------------
#: P where clients are selected, of whom those that are absent hold all copies of x_2; and where samples are
OF_CLIENTS, OF_SAMPLES = ("omega", "(1 - omega)"), ("(1 + omega)/2", "(1 - omega)/2")


def risk(law: tuple[str, str], j: str | int, k: str | int, label: str | int) -> str:
    """R_P of the rule with h(x_1) = j, h(x_2) = k where f(x_1) = 1 and f(x_2) = label, for P(x_1), P(x_2), as a formula."""
    return f"({law[0]}*abs({j} - 1) + {law[1]}*abs({k} - {label}))"


def is_flag(number: str) -> str:
    """That a number is 0 or 1."""
    return f"{number}*(1 - {number}) == 0"


WEIGHTS = {"weights": "sum(w[r], r, 0, N) == 1"}
#: labels under both targets; F_f is 1 where the risk is above a level
FLAGS = ("j_0", "j_1", "k_0", "k_1", "F_0", "F_1")
LEARNER = (
    "w[r] is the probability of the outcome r of all that is drawn and of the learner's coins; what a learner returns on x_1 and x_2 is one of four "
    "rules, so that finitely many outcomes are enough. F_f[r] is 1 where R_P is above the level under f(x_2) = f."
)
OF_CLIENTS_SHOWN = (
    "Of P_i = delta_{x_1} for i <= m, the others delta_{x_2}, the first m take part, and show x_1 alone for every n."
)
OF_SAMPLES_SHOWN = (
    "Samples are selected, as in the proof: of M n samples s[r] are x_2, (1 - omega) M n/2 on average; where they are fewer than (1 - omega) M n the "
    "process leaves copies of x_1 alone, and hides[r] is 1."
)


# ---- Draws -----------------------------------------------------------------------------------------------------------
def draw_samples(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """Draws that are x_2 with probability p: ``power`` doubles with each copy of it, ``unseen`` becomes 0 with the first; begun at e, which stays."""
    e = w.vector("e")
    power, unseen = (e, e) if begun else (w.vector("power"), w.vector("unseen"))
    first = SimpleNamespace(e=e, power=power, unseen=unseen)
    found = SimpleNamespace(e=e, power=power * 2, unseen=unseen * 0)
    return [first, [(1 - p.p, first), (p.p, found)]][: last + 1]


DRAWS = PlayedStates(draw_samples, start=partial(draw_samples, begun=True))
UNSEEN = {"H": "dot(unseen, e)", "U": "norm2(e)"}
#: H[n_T] is the probability that none of n_T draws is x_2
NONE_DRAWN = """
      step:    H[k+1] == (1 - p)*H[k]                           by identity
      begin:   H[0] == U[0]                                     by identity
      hidden:  H[n_T] == (1 - p)**n_T                           by induction n_T: base combine begin, unit; step combine (1 - p)*ih, step(k=n_T)
"""
#: of a pool with a[r] copies of x_1 and q[r] of x_2, of which the server drew c[r]: a rule that errs on x_1 where off[r] is 1, on x_2 where errs[r]
#: is; the right rule has no error on the pool, so that a minimiser has none
DRAWN_BY_SERVER = {
    "unit": "U[0] == 1",
    "law": f"{over_outcomes('unseen[r]')} == H[n_T]",
    "drawn": "1 - unseen[r] <= c[r]",
}
ERRS_UNSEEN = f"""{NONE_DRAWN}
      once:    (1 - unseen[r])*errs[r] <= 0                     by combine 1*none, errs[r]*drawn
      missed:  errs[r] <= unseen[r]                             by combine 1*once
"""
OF_DRAWS = (
    "Outcomes r of all that is drawn have probabilities w[r]; in the pool, of whichever n_S, are a[r] copies of x_1 and q[r] of x_2, of which the "
    "server drew c[r], none where unseen[r] is 1. A rule errs on x_1 where off[r] is 1, on x_2 where errs[r] is; the right rule has no errors."
)

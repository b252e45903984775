"""Appendix C.5: Lemmas 5 to 7, and the sum (98) to (100) of the proof of Theorem 3."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Claim, Context, Fault, Finding, Lemma, PlayedStates, Theorem, lemma, refute
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, dot, norm2
from paper_checks.fedslr.assumptions import CONTINUOUS, EXACT
from paper_checks.fedslr.notation import CHOICE, RESIDUAL, SERVER, VALUES, claim
from paper_checks.fedslr.rounds import play_on
from paper_checks.fedslr.section_5_d_theorem_3 import replay_square, square_instance
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- Lemma 5, (86) ---------------------------------------------------------------------------------------------------
def gained(old: Any, new: Any, dp2: Any, eta_l: Any, c: Any = 1) -> Any:
    """(86)'s right side, from Rt(p_k), Rt(p_{k+1}) and ||p_{k+1} - p_k||^2."""
    return new - old + dp2 * (c / eta_l)


def proximal_step(w: World, p: Parameters, c: LemmaConstants, at_new: bool) -> Any:
    """(86) with a = grad f_i(w_t + p_k; xi), p_k = 0: Rt(p_{k+1}) - Rt(p_k) + (c/eta_l) ||p_{k+1} - p_k||^2 <= <a, p_k - p_{k+1}>.

    p_{k+1} = p_k - eta_l (a + s) with a subgradient s of Rt at p_{k+1}, or, as the proof says, at p_k.
    """
    reg = w.function(None, 0, name="R")
    a, s = w.vector("a"), w.vector("s")
    x = a * 0
    xn = x - (a + s) * p.eta
    _, old = w.at(reg, x, "R", g=None if at_new else s)
    _, new = w.at(reg, xn, "R+", g=s if at_new else None)
    return gained(old, new, norm2(xn - x), p.eta, c.c) - dot(a, x - xn)


lemma_5 = Lemma("proximal step", "Lemma 5, (86)", "0 < eta", partial(proximal_step, at_new=True), {"c": 1})
lemma_5_proof = Lemma(
    "proximal step, at p_k", "Lemma 5, (87)", "0 < eta", partial(proximal_step, at_new=False), {"c": 1}
)
CLAIMS += [
    claim(
        "FEDSLR-L5",
        "Lemma 5, (86) and (87)",
        "<grad f_i(w_t + p_k; xi), p_k - p_{k+1}> >= Rt(p_{k+1}) - Rt(p_k) + ||p_{k+1} - p_k||^2/eta_l.",
        [Step("Lemma 5", lemma_5), Step("the subgradient of the proof", lemma_5_proof, "reading")],
        assumptions=["p_{k+1} = Prox(p_k - eta_l a) with the same drawn gradient a on both sides"],
        readings=[
            "p_{i,t} in the gradient is read as p_{i,t,k}. The lemma is true as printed; its proof takes the subgradient at p_k, with which the "
            "inequality is false: the proximal step has it at p_{k+1}."
        ],
        false={"the subgradient of the proof": "Lemma 5"},
    ),
]


# ---- Lemma 6, (88) ---------------------------------------------------------------------------------------------------
def halves(na2: Any, nb2: Any, c: Any = 1) -> Any:
    """(88)'s right side."""
    return na2 / 2 + nb2 * (c / 2)


@lemma("Young", "Lemma 6, (88)", "", c=1)
def lemma_6(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(88): <a, b> <= ||a||^2/2 + c ||b||^2/2."""
    a, b = w.vector("a"), w.vector("b")
    return dot(a, b) - halves(norm2(a), norm2(b), c.c)


CLAIMS += [
    claim("FEDSLR-L6", "Lemma 6, (88)", "<a, b> <= ||a||^2/2 + ||b||^2/2.", [Step("Lemma 6", lemma_6)]),
]


# ---- Lemma 7, (89) ---------------------------------------------------------------------------------------------------
@lemma("gradient mappings", "Lemma 7, (89)", "0 < eta", c=1)
def lemma_7(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(89), squared, with gradients a (drawn) and b at p = 0: ||G_xi - G||^2 <= c ||a - b||^2."""
    reg = w.function(None, 0, name="R")
    a, b, s, z = (w.vector(name) for name in ("a", "b", "s", "z"))
    drawn, full = -(a + s) * p.eta, -(b + z) * p.eta
    w.at(reg, drawn, "R drawn", g=s)
    w.at(reg, full, "R full", g=z)
    return norm2((drawn - full) / p.eta) - norm2(a - b) * c.c


CLAIMS += [
    claim(
        "FEDSLR-L7",
        "Lemma 7, (89)",
        "||G_{eta_l, xi} - G_{eta_l}|| <= ||grad f_i(w + p; xi) - grad f_i(w + p)||.",
        [Step("squared", lemma_7)],
    ),
]


# ---- (98) to (100) ---------------------------------------------------------------------------------------------------
def play_from_the_start(w: World, p: Parameters, last: int) -> list[Any]:
    """Any w_t, and w_{i,t} with gamma_{i,t} = grad f_i(w_{i,t}), so that t = 0 is one of them; the rounds after it, w*, and D there."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, y, g = w.vector("w"), w.vector("w_i", True), w.vector("gamma_i", True)
    w.at(f, y, "f_i 0", g=g)
    w.at(reg, x, "R0")
    star, value = w.vector("w*"), w.value("D*")
    states = play_on(w, p, last, SimpleNamespace(w=x, w_i=y, gamma_i=g, f_i=f, R=reg))
    for state in states:
        vars(state).pop("s", None)
        vars(state).pop("r", None)
        vars(state).update(w_star=star, D_star=value)
    return states


def start(w: World, p: Parameters) -> Any:
    """w_{i,0} = w_0 and gamma_{i,0} = grad f_i(w_0)."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, g = w.vector("w_0"), w.vector("gamma_i0", True)
    w.at(f, x + g * 0, "f_i 0", g=g)
    w.at(reg, x, "R0")
    return SimpleNamespace(w=x, w_i=x + g * 0, gamma_i=g, f_i=f, R=reg, w_star=w.vector("w*"), D_star=w.value("D*"))


#: late[t] is 1 where ||w_t - w*||^2 <= 1/H is known, as it is for t > N, and 0 elsewhere
DISTANCES = Theorem(
    f"{CHOICE}, 0 < H",
    "sum(L**2*d[t], t, 0, T) <= L**2*(sum((1 - late[t])*(t + 1), t, 0, T)*(d[0] + 2*eta*r[0]) + (T + 1)/H)",
    """
      fall:    M[t] <= 2*eta*(r[t] - r[t+1])                            by derivation
      falls:   r[t+1] <= r[t]                                           by derivation
      above:   0 <= r[t]                                                by monotone falls, values
      size:    0 <= M[t]                                                by derivation
      far:     0 <= d[t]                                                by derivation
      step:    d[t+1] <= (1 + s)*d[t] + (1 + 1/s)*M[t]                  by derivation
      both:    d[t+1] <= d[t] + M[t] + 2*sqrt(d[t])*sqrt(M[t])          by least s of step
      reached: d[T] <= (T + 1)*(d[0] + 2*eta*(r[0] - r[T]))             by induction T: base combine;
                 step combine 1*both(t=T), (1/(T + 1))*square(sqrt(d[T]) - (T + 1)*sqrt(M[T])), ((T + 2)/(T + 1))*ih, (T + 2)*fall(t=T)
      each:    d[t] <= (1 - late[t])*(t + 1)*(d[0] + 2*eta*r[0]) + late[t]/H
                 by combine 1*known, (1 - late[t])*reached(T=t), ((1 - late[t])*(t + 1)*2*eta)*above
      done:    claim    by induction T: base combine (L**2)*each(t=0); step combine 1*ih, (L**2)*each(t=T+1)
    """,
    states=PlayedStates(play_from_the_start, begins=start),
    rounds={"t": 0, "T": 0},
    auxiliary="0 < s",
    sequences={"late": "0..1"},
    quantities={"r": RESIDUAL, "M": SERVER, "d": "norm2(w - w_star)"},
    given={"values": VALUES, "known": "late[t]*(d[t] - 1/H) <= 0"},
)
#: what the rounds t <= N come to where they are the others
EARLY = Theorem(
    "",
    "sum(t + 1, t, 0, N) == (N + 1)*(N + 2)/2",
    "done: claim by induction N: base combine; step combine ih",
    rounds={"t": 0, "N": 0},
)


replay_sum = partial(replay_square, which="100")


def sum_runs(ctx: Context, *, L: int = 128, start: str = "8") -> Iterator[Finding]:
    """(100) fails for every N <= T."""
    yield refute("every N <= T", replay_sum, square_instance(L, start, 24))


CLAIMS += [
    claim(
        "FEDSLR-T3-100",
        "Theorem 3, (98) to (100)",
        "(1/T) sum_{t=0}^{T-1} L^2 ||w_t - w*||^2 <= C_7/T, C_7 = (N(N+1)/2 + 1) ||w_0 - w*||^2 + (N(N+1)/2) eta_g (D_0 - D*) + L^2.",
        [
            Step("with L^2 on every term", DISTANCES, "repaired"),
            Step("the rounds up to N", EARLY, "repaired"),
        ],
        assumptions=["A1 to A4", EXACT, CONTINUOUS, "||w_t - w*|| <= 1/sqrt(T) for t >= N, N < T"],
        repaired="C_7 = L^2 (((N+1)(N+2)/2)(||w_0 - w*||^2 + 2 eta_g (D_0 - D*)) + 1).",
        readings=[
            "late[t] is 1 for t > N and 0 for the others; H is T. (98) has L^2 in the sum and (100) has lost it. With N free and large (100) is "
            "true; see FEDSLR-T3."
        ],
        besides=sum_runs,
        faults=(Fault("L = 1", "every N <= T", {"L": 1}, holds=True),),
        replay=replay_sum,
    ),
]

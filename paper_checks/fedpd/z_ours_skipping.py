"""Ours: skipping communication where all f_i have one Hessian (D4), and without A4 (D8), as theorems of FedPD's own rounds with either coin.

D4: gradients are A x_i + b_i, so that their mean is the gradient of f at the mean of the points, which is all that is used of A. The mean of the
copies is that of x_i + eta lam_i, as after each round.

D8: clients have ||x||^2/2 and -||x||^2/4, and u = 1/4. v_i = x_{0,i} - eta lam_i is all that a round reads of a client's state; X, Y and Z are
E ||v_1||^2, E <v_1, v_2> and E ||v_2||^2, and S = X + Z. Two combinations a X + 2 b Y + c Z fall by multiples of 238 p^2 - 429 p + 176, whose smaller
root is p* = (429 - sqrt(16489))/476 = 0.63149...: one by one of S, which makes S vanish for p < p*, and one by one of Z, which keeps S from vanishing
for p >= p*.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedPD
from fedtheory.claims import Claim, PlayedStates, Theorem, bar, run_on_quadratics
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.fedpd.notation import A1, A2, derived
from paper_checks.fedpd.played import AveragesModels
from paper_checks.fedpd.rounds import round_with_coin
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- D4: equal curvatures --------------------------------------------------------------------------------------------
def go_on(world: World, p: Parameters, last: int, state: State, algorithm: Any) -> list[Any]:
    """A state, and those after it, each after a coin."""
    states: list[Any] = [state]
    for k in range(1, max(last, 1) + 1):
        old, g_i = states[-1], world.vector(f"grad f_i {k}", True)
        slope = world.vector(f"grad f {k}")
        g_i = g_i - bar(g_i) + slope
        answers = old.x0_i - (g_i + old.lam_i) * p.eta
        world.at(old.f, bar(answers), f"f {k}", g=slope)
        shared, kept = (
            State(**round_with_coin(world, p, old, answers, skips, algorithm), f=old.f, x_star=old.x_star)
            for skips in (False, True)
        )
        old.x_i_next, old.slope = answers, slope
        states.append([(1 - p.p, shared), (p.p, kept)] if k == last else shared)
    return states[: last + 1]


def play(world: World, p: Parameters, last: int, algorithm: Any = FedPD) -> list[Any]:
    """Any state after a round."""
    f = world.function(p.L, p.mu, name="f")
    x_i, lam_i, copies = (world.vector(v, True) for v in ("x_i", "lam_i", "copies"))
    copies = copies - bar(copies) + bar(x_i + lam_i * p.eta)
    x_star = bar(x_i) * 0
    world.at(f, x_star, "f*", g=x_star)
    return go_on(world, p, last, State(x=bar(copies), x_i=x_i, x0_i=copies, lam_i=lam_i, f=f, x_star=x_star), algorithm)


def first(world: World, p: Parameters, algorithm: Any = FedPD) -> list[tuple[Any, State]]:
    """After the first round from a common point, with any duals."""
    f, x = world.function(p.L, p.mu, name="f"), world.vector("x^0")
    lam_i, answers = world.vector("lam_i^0", True), world.vector("x_i^1", True)
    x_star = x * 0
    world.at(f, x_star, "f*", g=x_star)
    before = State(x=x, x_i=x + lam_i * 0, x0_i=x + lam_i * 0, lam_i=lam_i)
    return [
        (chance, State(**round_with_coin(world, p, before, answers, skips, algorithm), f=f, x_star=x_star))
        for chance, skips in ((1 - p.p, False), (p.p, True))
    ]


def converges(algorithm: Any = FedPD) -> Theorem:
    """The mean of the models converges to x* by (1 + eta mu)^-2 a round."""
    return Theorem(
        name="FedPD with one Hessian",
        region="0 < mu < L, 0 < eta, 0 < p < 1",
        states=PlayedStates(partial(play, algorithm=algorithm), begins=partial(first, algorithm=algorithm), least=1),
        rounds={"t": 1, "T": 1},
        quantities={
            "step": "norm2(bar(x_i_next) - (bar(x_i) - eta*grad(f, bar(x_i_next))))",
            "away": "norm2(bar(x_i) - x_star)",
        },
        claim=("step[t] == 0", "away[T] <= (1 + eta*mu)**(2 - 2*T)*away[1]", "away[T] -> 0 as T"),
        proof="""
          same:  claim 1 by identity
          near:  (1 + eta*mu)**2*away[t+1] <= away[t] by derivation
          pos:   0 <= away[t] by derivation
          all:   claim 2 by induction T: base combine; step combine ((1 + eta*mu)**(-2))*near(t=T), ((1 + eta*mu)**(-2))*ih
          done:  claim 3 by squeeze pos(t=T), all
        """,
    )


CLAIMS += [
    derived(
        "FEDPD-D4",
        "skipping with equal curvatures",
        "If all f_i have the same Hessian, the mean trajectory does not depend on p and converges to x* for every p, however "
        "large G is.",
        [Step("implicit gradient steps", converges(), wrong={"models are averaged": converges(AveragesModels)})],
        kind="identity",
        assumptions=("f_i quadratic with one positive definite Hessian", "exact local solves"),
        readings=(
            "f_i(x) = <x, A x>/2 + <b_i, x>: the mean of the gradients is the gradient of f at the mean of the points. From the first round on the "
            "mean of the models takes implicit gradient steps on f, whichever way coins fall.",
        ),
    )
]


# ---- D8: without A4 --------------------------------------------------------------------------------------------------
MARGIN = "238*p**2 - 429*p + 176"
FALLS = {"a": "4658*p**2 - 8877*p + 3969", "b": "(p - 1)*(4658*p - 4235)", "c": "4658*p**2 - 11589*p + 7225"}
STAYS = {"a": "(1 - p)*(37 - 34*p)", "b": "(1 - p)*(55 - 34*p)", "c": "34*p**2 - 147*p + 125"}


def potential(t: str) -> str:
    """The combination of moments of round t."""
    return f"a*X[{t}] + 2*b*Y[{t}] + c*Z[{t}]"


def moments(second: str, *more: str) -> dict[str, Any]:
    """What both theorems are about: rounds of the method on curvatures 1 and ``second``; ``more``: vectors whose squares are quantities."""
    states = run_on_quadratics(
        "fedpd", "eta = 1/4, init_dual = grad, exact, p", curvatures=("1", second), centres=("0", "0")
    )
    v_1, v_2 = "x0_1 - lam_1/4", "x0_2 - lam_2/4"
    squares = {"X": f"norm2({v_1})", "Y": f"dot({v_1}, {v_2})", "Z": f"norm2({v_2})"}
    squares["S"] = f"norm2({v_1}) + norm2({v_2})"
    return {
        "states": states,
        "rounds": {"t": 0, "T": 0},
        "quantities": squares | {name: f"norm2({name})" for name in more},
    }


def vanishes(second: str = "-1/2") -> Theorem:
    """E ||v||^2 -> 0 for p < p*."""
    return Theorem(
        name="FedPD is stable below p*",
        region="0 < p < 13/20, 0 < d",
        given={"margin": f"d == {MARGIN}"},
        claim="S[t] -> 0 as t",
        proof=f"""
          some:  0 <= S[t]                                                                     by derivation
          form:  0 <= {potential("t")}                                                         by derivation
          round: {potential("t+1")} == {potential("t")} - 6*({MARGIN})*S[t]                    by identity
          falls: {potential("t+1")} == {potential("t")} - 6*d*S[t]                             by combine 1*round, (6*S[t])*margin
          all:   6*d*sum(S[t], t, 0, T) <= {potential("0")} - ({potential("T+1")})
                   by induction T: base combine falls(t=0); step combine ih, falls(t=T+1)
          most:  sum(S[t], t, 0, T) <= ({potential("0")})/(6*d)                                by combine (1/(6*d))*all, (1/(6*d))*form(t=T+1)
          done:  claim                                                                         by series some, most
        """,
        where=FALLS,
        **moments(second),
    )


def remains(second: str = "-1/2") -> Theorem:
    """E ||v||^2 stays above a multiple of ||x^0||^2 for p* <= p < 1."""
    return Theorem(
        name="FedPD is not stable from p* on",
        region="3/5 < p < 1",
        given={"margin": f"{MARGIN} <= 0"},
        claim=("k*x_0[0] <= (a + c)*S[T]", "0 < k"),
        proof=f"""
          some:  0 <= Z[t]                                                           by derivation
          round: {potential("t+1")} == {potential("t")} - 12/49*({MARGIN})*Z[t]      by identity
          rises: {potential("t")} <= {potential("t+1")}                              by combine (-1)*round, (12/49*Z[t])*margin
          all:   {potential("0")} <= {potential("T")}                                by induction T: base combine; step combine ih, rises(t=T)
          first: k*x_0[0] == {potential("0")}                                          by identity
          most:  {potential("t")} <= (a + c)*S[t]                                    by derivation
          done:  claim 1                                                             by combine 1*first, 1*all, 1*most(t=T)
          start: claim 2                                                             by combine
        """,
        where=STAYS | {"k": "25/16*a + 35/16*b + 49/64*c"},
        **moments(second, "x_0"),
    )


DIGITS = Theorem(
    name="p* to four digits",
    region="",
    claim=(f"0 < {MARGIN.replace('p', '0.63145')}", f"{MARGIN.replace('p', '0.63155')} < 0"),
    proof="""
      above: claim 1 by combine
      below: claim 2 by combine
    """,
)
CLAIMS += [
    derived(
        "FEDPD-D8",
        "why Theorem 3 needs A4",
        "Without A4 skipping can destroy convergence although f is strongly convex: on h = (1, -0.5), u = 0.25 FedPD is mean-square "
        "stable iff p < p*, the smaller root of 238 p^2 - 429 p + 176, p* = 0.6315 to four digits.",
        [
            Step("below p*", vanishes(), wrong={"second client steeper by a fiftieth": vanishes("-51/100")}),
            Step("from p* on", remains(), wrong={"second client flatter by a fiftieth": remains("-49/100")}),
            Step("four digits", DIGITS),
        ],
        kind="divergence",
        assumptions=(A1, A2, "A4 fails", "exact local solves"),
        readings=(
            "Stable: E ||x_{0,i} - eta lam_i||^2, of both clients, tends to 0. A4 fails: the difference of the gradients is a multiple of x.",
        ),
    )
]

"""Section 2.2: FedAvg diverges (Claim II.2), and reaches a neighbourhood of the minimiser of convex problems at best (Remark 2).

Time t counts local steps. After step t clients take over the share 1 - d_t of their average: d_t = 0 where they communicate, 1 where they do not.
FedAvg with Q >= 2 local steps a round has d_t = 0 after every Q-th step, so that 1 <= d_t + d_{t+1}; with Q = 1 it has not. Steps are those of the
library's local solver, averages those of FedAvg's own round, and the server's model of round r is the average at t = r Q. In Remark 2 m_t is how many
of the Q steps of a round are left, and W, how far models are apart, is weighed by what is left of the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import FedAvg
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import Claim, Limit, PlayedStates, Theorem, bar, norm2
from fedtheory.claims.statements.worlds import GivenAnswers, Parameters, World, array_of_vectors, unasked, vector_of
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from paper_checks.fedpd.notation import A1, A2, claim
from paper_checks.fedpd.section_2_1_lower_bound import AnyGradients
from paper_checks.given_gradients import SCRIPT, column
from paper_checks.steps import Step
from problems.quadratics import scalar_quadratics

CLAIMS: list[Claim] = []


# ---- Claim II.2 ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class OppositeCurvatures:
    """(a/2)||x||^2 and -(a/2)||x||^2, and functions besides that have these slopes where they are asked."""

    a: Any
    slopes: Any = 0
    n, d, name = 2, 1, "opposite curvatures"

    def grad(self, x: Any) -> Any:
        """a x and -a x, and the slopes."""
        return x * column(self.a, -self.a) + self.slopes

    def take(self, clients: None) -> OppositeCurvatures:
        """Both take part."""
        return self


def bounded(world: World, name: str) -> Any:
    """A vector of length at most one."""
    v = world.vector(name)
    world.assume(name, norm2(v) - 1)
    return v


def go_on_opposite(world: World, p: Parameters, last: int, state: State) -> list[State]:
    """Local steps of both clients, after which they take over a share of their average; where there is a direction u, with slopes besides."""
    states = [state]
    for k in range(last + 1):
        old = states[-1]
        kept = {"u": old.u} if hasattr(old, "u") else {}
        clients: Any = OppositeCurvatures(
            p.a, column(*(bounded(world, f"slope {2 * k + i}") for i in (1, 2))) if kept else 0
        )
        y, _ = GradientSteps(1, p.lr)(Subproblem(clients), column(old.y_1, old.y_2), SCRIPT, None)
        x = FedAvg(GivenAnswers(y)).round(clients, PointState(column(old.y_1)), None, SCRIPT).x[0, 0]
        mean = (old.y_1 + old.y_2) / 2
        old.g_1, old.g_2 = OppositeCurvatures(p.a).grad(column(mean, mean))[:, 0]
        y_1, y_2 = (x + (y[i, 0] - x) * getattr(p, f"d_{k}") for i in (0, 1))
        states.append(State(y_1=y_1, y_2=y_2, **kept))
    return states[: last + 1]


def play_opposite(world: World, p: Parameters, last: int, pulled: bool) -> list[State]:
    """Any models."""
    kept = {"u": bounded(world, "direction")} if pulled else {}
    return go_on_opposite(world, p, last, State(y_1=world.vector("y_1"), y_2=world.vector("y_2"), **kept))


def start_opposite(world: World, p: Parameters, last: int, pulled: bool) -> list[State]:
    """Both start from x^0."""
    x, kept = world.vector("x^0"), {"u": bounded(world, "direction")} if pulled else {}
    return go_on_opposite(world, p, last, State(y_1=x, y_2=x, **kept))


def opposite_states(pulled: bool) -> PlayedStates:
    """Of the quadratics alone, or with slopes besides."""
    return PlayedStates(partial(play_opposite, pulled=pulled), partial(start_opposite, pulled=pulled))


GROWS = Theorem(
    name="FedAvg on +-(a/2)||x||^2",
    region="0 < a, 0 < lr",
    states=opposite_states(False),
    quantities={
        "X": "norm2((y_1 + y_2)/2)",
        "S": "dot(y_1 + y_2, y_2 - y_1)/4",
        "R": "norm2(y_2 - y_1)/4",
        "slope": "norm2((g_1 + g_2)/2)",
        "slopes": "norm2(g_1)/2 + norm2(g_2)/2",
    },
    rounds={"t": 0, "T": 0, "k": 0},
    sequences={"d": "0..1"},
    where={"z": "lr*a"},
    given={"local": "1 <= d[t] + d[t+1]"},
    claim=("(1 + z**2)**k*X[0] <= X[3*k]", "X[t] <= X[t+1]", "slope[t] == 0", "slopes[t] == a**2*X[t]"),
    proof="""
      none:   claim 3 by identity
      steep:  claim 4 by identity
      mean:   X[t+1] == X[t] + 2*z*S[t] + z**2*R[t]                           by identity
      turn:   S[t+1] == d[t]*(z*X[t] + (1 + z**2)*S[t] + z*R[t])              by identity
      some:   0 <= X[t] by derivation
      away:   0 <= R[t] by derivation
      alike:  S[0] == 0 by identity
      turned: 0 <= S[T]
                by induction T: base combine alike; step combine (-1)*turn(t=T), (d[T]*z)*some(t=T), (d[T]*(1 + z**2))*ih, (d[T]*z)*away(t=T)
      rises:  claim 2 by combine (-1)*mean, (2*z)*turned(T=t), (z**2)*away
      later:  (1 + 2*z**2*d[t])*X[t] <= X[t+2]
                by combine (-1)*mean(t=t+1), 1*rises, (-2*z)*turn, (2*z*d[t]*(1 + z**2))*turned(T=t), (2*z**2*d[t])*away, (z**2)*away(t=t+1)
      three:  (1 + z**2)*X[t] <= X[t+3]
                by combine (1/2)*later, (1/2)*rises(t=t+2), (1/2)*later(t=t+1), (1/2 + z**2*d[t+1])*rises, (z**2*X[t])*local
      done:   claim 1 by induction k: base combine; step combine 1*three(t=3*k), (1 + z**2)*ih
    """,
)
CLAIMS += [
    claim(
        "FEDPD-CL2",
        "Claim II.2, Section II-B and Appendix A",
        "For any constant eta > 0 and Q > 1 there is a problem satisfying A1 and A2, but not A3, on which FedAvg diverges.",
        [
            Step(
                "it diverges",
                GROWS,
                wrong={"any numbers of local steps": replace(GROWS, given={"local": "0 <= d[t] + d[t+1]"})},
            )
        ],
        kind="divergence",
        assumptions=(A1, A2, "A3 fails", "constant eta > 0", "Q > 1"),
        readings=(
            "f_1 = (a/2)||x||^2 and f_2 = -(a/2)||x||^2, a = 2 in the paper, any x^0 != 0. A1 holds with L = a, A2 with f = 0; A3 fails, for mean "
            "||grad f_i||^2 = a^2 ||x||^2 grows without bound along the run, where grad f = 0. Time t counts local steps; with Q > 1 of them a round "
            "d_t is 0 after every Q-th and 1 after the others, and the server's model of round r is that of t = r Q.",
            "Correct as printed. f is identically zero on this instance, so every point is optimal in the paper's own metric; D9 and D10 give "
            "instances without that blemish. The printed proof takes other steps (1/sqrt(r), with 1/2 once a cycle), writes the local maps of x^2/2 "
            "instead of x^2, and pairs the steps of neighbouring cycles, which have different matrices (its eigenvalue is right for the matrix of "
            "rank one that it names: the trace); none of this touches the claim.",
        ),
    )
]


# ---- Remark 2 --------------------------------------------------------------------------------------------------------
def go_on_convex(world: World, p: Parameters, last: int, state: State) -> list[State]:
    """Local steps by the library's solver, and averages by FedAvg's own round."""
    states = [state]
    for k in range(last):
        old = states[-1]
        g, _ = world.at(old.f_i, old.y_i, f"y_i {k}")
        clients: Any = AnyGradients(unasked(g).n, array_of_vectors(g))
        local, _ = GradientSteps(1, p.lr)(Subproblem(clients), array_of_vectors(old.y_i), SCRIPT, None)
        y_i = vector_of(local, g)
        x = world.round_of(FedAvg, PointState, {"x": old.x_star}, y_i)["x"]
        states.append(State(**{**vars(old), "y_i": x + (y_i - x) * getattr(p, f"d_{k}")}))
    return states


def around_minimiser(world: World, p: Parameters) -> dict[str, Any]:
    """Convex functions, a minimiser of their average, and their gradients there."""
    f, own = world.function(p.L, 0, client=True, name="f_i"), world.vector("own_i", True)
    own = own - bar(own)
    world.at(f, own * 0, "at x*", g=own)
    return {"f_i": f, "x_star": bar(own) * 0, "own_i": own}


def play_convex(world: World, p: Parameters, last: int) -> list[State]:
    """Any models."""
    return go_on_convex(world, p, last, State(y_i=world.vector("y_i", True), **around_minimiser(world, p)))


def start_convex(world: World, p: Parameters, last: int) -> list[State]:
    """All start from x^0."""
    found = around_minimiser(world, p)
    return go_on_convex(world, p, last, State(y_i=world.vector("x^0") + found["own_i"] * 0, **found))


def neighbourhood_reached(radius: str = "4") -> Theorem:
    """What the mean of f - f* over local steps is at most, times lr and their number; ``radius`` stands for the constant 4."""
    return Theorem(
        name="FedAvg on convex functions",
        region="0 < L, 0 < lr <= 1/L, 1 <= Q",
        states=PlayedStates(play_convex, start_convex),
        rounds={"t": 0, "T": 0},
        sequences={"d": "0..1", "m": "1"},
        given={
            "flag": "d[t]**2 == d[t]",
            "count": "Q - m[t+1] == d[t]*(Q - m[t] + 1)",
            "within": "m[t] <= Q",
            "step": "8*lr**2*L**2*Q*(2*Q + 1) <= 1",
        },
        quantities={
            "D": "norm2(bar(y_i) - x_star)",
            "W": "mean(norm2(y_i - bar(y_i)))",
            "gap": "mean(f_i(bar(y_i))) - mean(f_i(x_star))",
            "S": "mean(norm2(grad(f_i, bar(y_i)) - bar(grad(f_i, bar(y_i)))))",
            "zeta2": "mean(norm2(own_i))",
        },
        claim=f"lr*sum(gap[t], t, 0, T) <= D[0] + (T + 1)*{radius}*lr**3*L*Q*(2*Q + 1)*zeta2[0]",
        proof="""
          some:  0 <= W[t]                                                                            by derivation
          off:   0 <= gap[t]                                                                          by derivation
          zeta:  0 <= zeta2[t]                                                                        by derivation
          fall:  D[t+1] <= D[t] - 2*lr*gap[t] + lr*L*W[t]                                             by derivation
          apart: 2*Q*W[t+1] <= d[t]**2*((2*Q + 1)*W[t] + 2*Q*(2*Q + 1)*lr**2*S[t])                    by derivation
          bends: S[t] <= 4*L*gap[t] + 2*zeta2[t]                                                      by derivation
          low:   0 <= 1 - d[t]                                                                        by combine
          room:  0 <= m[t] - 1                                                                        by combine
          drop:  D[t+1] + 2*lr*L*m[t+1]*W[t+1] <= D[t] + 2*lr*L*m[t]*W[t] - lr*gap[t] + 4*lr**3*L*Q*(2*Q + 1)*zeta2[t]
                   by combine 1*fall, (lr*L*m[t+1]/Q)*apart, (2*lr**3*L*m[t+1]*d[t]**2*(2*Q + 1))*bends, (lr*gap[t])*step,
                     (lr*L*(2*Q + 1)/Q*W[t]*(Q - (Q - m[t] + 1)*(d[t] + 1)))*flag, (-lr*L*(2*Q + 1)/Q*W[t]*d[t]**2)*count,
                     (L*lr*W[t]*(1 - d[t])*(2 + 1/Q))*room, (4*lr**3*L*(2*Q + 1)*zeta2[t]*Q*(1 + d[t]))*low,
                     (8*lr**3*L**2*(2*Q + 1)*gap[t]*Q*(1 + d[t]))*low, (L*lr*W[t]/Q)*within,
                     (4*L*lr**3*(2*Q + 1)*d[t]**2*zeta2[t] + 8*L**2*lr**3*(2*Q + 1)*d[t]**2*gap[t])*within(t=t+1)
          same:  zeta2[t+1] == zeta2[t]                                                               by identity
          kept:  zeta2[T] == zeta2[0]
                   by induction T: base combine; step combine ih, same(t=T)
          none:  W[0] == 0                                                                            by identity
          near:  0 <= D[t]                                                                            by derivation
          all:   lr*sum(gap[t], t, 0, T) + D[T+1] + 2*lr*L*m[T+1]*W[T+1]
                   <= D[0] + 2*lr*L*m[0]*W[0] + (T + 1)*4*lr**3*L*Q*(2*Q + 1)*zeta2[0]
                   by induction T: base combine 1*drop(t=0); step combine 1*ih, 1*drop(t=T+1), (4*lr**3*L*Q*(2*Q + 1))*kept(T=T+1)
          done:  claim                   by combine 1*all, 1*near(t=T+1), (2*lr*L*m[T+1])*some(t=T+1), (2*lr*L*m[0])*none
        """,
    )


def weighted_mean(weights: Sequence[str], centres: Sequence[Any]) -> str:
    """Text of sum w_i c_i/sum w_i."""
    return f"({' + '.join(f'{w}*({c})' for w, c in zip(weights, centres, strict=True))})/({' + '.join(weights)})"


def two_quadratics(lr: Any, h1: Any, h2: Any, c1: Any, c2: Any) -> Any:
    """(a_i/2)(x - c_i)^2 with lr a_i = h_i."""
    return scalar_quadratics(np.array([h1 / lr, h2 / lr]), np.array([c1, c2]))


def fedavg_ends(steps: str = "Q") -> Limit:
    """FedAvg on (a_i/2)(x - c_i)^2, two clients, ends at sum w_i c_i/sum w_i with w_i = 1 - (1 - lr a_i)^Q; h_i = lr a_i, c_i > 0 by a shift."""
    return Limit(
        "fedavg",
        "lr, steps = Q",
        problem=two_quadratics,
        region="0 < lr, 0 < h1 < 2, 0 < h2 < 2, 0 < c1, 0 < c2, Q in 1..3",
        point=weighted_mean([f"(1 - (1 - h{k})**({steps}))" for k in "12"], ("c1", "c2")),
    )


def mean_of_centres(weight: str) -> str:
    """The mean of c1 and c2 with these weights of a curvature."""
    return weighted_mean([f"({weight.format(a=a)})" for a in ("a1", "a2")], ("c1", "c2"))


AWAY = Theorem(
    "0 < a1 < a2, 0 < lr < 1/a2, 0 < c1 < c2",
    f"{mean_of_centres('1 - (1 - lr*{a})**2')} < {mean_of_centres('{a}')}",
    "done: claim by combine",
    name="FedAvg's limit with two local steps is not x*",
)
CLAIMS += [
    claim(
        "FEDPD-R2",
        "Remark 2",
        "FedAvg with a constant step reaches only a neighbourhood of the minimiser of convex problems, and in the non-convex case "
        "it can diverge even with Q = 2 and a point where all local gradients vanish.",
        [
            Step(
                "a neighbourhood is reached",
                neighbourhood_reached(),
                wrong={"a radius smaller by a hundredth": neighbourhood_reached("99/25")},
            ),
            Step("biased limit", fedavg_ends(), wrong={"fixed point of one step more": fedavg_ends("Q + 1")}),
            Step("it is not the minimiser", AWAY),
            Step("non-convex case", GROWS),
        ],
        kind="divergence",
        assumptions=(
            A1,
            A2,
            "constant step",
            "Q > 1",
            "f_i convex, f has a minimiser, lr <= 1/L and 8 lr^2 L^2 Q (2Q + 1) <= 1 (neighbourhood)",
        ),
        readings=(
            "The printed condition sum ||f_i(xhat)||^2 = 0 is read with the gradient sign that is missing in it.",
            "The mean of f - f* over T + 1 local steps, of the average of the clients' models, is at most ||x^0 - x*||^2/(lr (T + 1)) + "
            "4 lr^2 L Q (2Q + 1) mean ||grad f_i(x*)||^2; no term is negative, and the server's models are those at t = r Q.",
            "With Q = 1 the limit is x*. On +-(a/2)||x||^2 all gradients vanish at 0.",
        ),
    )
]


# ---- After Remark 2 --------------------------------------------------------------------------------------------------
_PUSHED = "((d[3*k+1] + z**2)*d[3*k]*z + z*(d[3*k+1] + 1))"
#: p and q are half the sum and half the difference of the models along u
GROWS_FROM_AFAR = Theorem(
    name="FedAvg on +-(a/2)||x||^2 and functions of bounded slopes",
    region="0 < a, 0 < lr",
    states=opposite_states(True),
    quantities={"p": "dot(y_1 + y_2, u)/2", "q": "dot(y_2 - y_1, u)/2"},
    rounds={"t": 0, "k": 0},
    sequences={"d": "0..1", "e": "0"},
    where={"z": "lr*a", "far": "lr*(3/z**2 + 1/z + 2)"},
    assumed={"slope": "||s|| <= 1, s a slope besides a x and -a x", "direction": "||u|| <= 1"},
    given={"local": "d[t] + d[t+1] == 1 + e[t]", "start": "far <= p[0]"},
    claim="(1 + z**2)**k*(p[0] - far) <= p[3*k] - far",
    proof=f"""
      down:  p[t] + z*q[t] - lr <= p[t+1]                                    by derivation
      push:  d[t]*(q[t] + z*p[t] - lr) <= q[t+1]                             by derivation
      alike: q[0] == 0                                                       by identity
      both:  max((1 + z**2)**k*(p[0] - far) - (p[3*k] - far), -q[3*k]) <= 0
               by induction k: base (larger of: combine; combine (-1)*alike); step (larger of:
                 combine 1*down(t=3*k+2), 1*down(t=3*k+1), z*push(t=3*k+1), (1 + z**2*d[3*k+1])*down(t=3*k), (z*(1 + d[3*k+1]))*push(t=3*k),
                   (z*(1 + z**2*d[3*k+1]) + z*(1 + d[3*k+1])*d[3*k])*ih_2, (1 + z**2 + z**2*e[3*k] + z**2*d[3*k]*d[3*k+1])*ih_1,
                   (z**2*(e[3*k] + d[3*k]*d[3*k+1])*(1 + z**2)**k)*start, (z*lr - z**2*p[3*k])*local(t=3*k);
                 combine 1*push(t=3*k+2), d[3*k+2]*push(t=3*k+1), (d[3*k+2]*z)*down(t=3*k+1), (d[3*k+2]*(d[3*k+1] + z**2))*push(t=3*k),
                   (d[3*k+2]*z*(d[3*k+1] + 1))*down(t=3*k), (d[3*k+2]*((d[3*k+1] + z**2)*d[3*k] + z**2*(d[3*k+1] + 1)))*ih_2,
                   (d[3*k+2]*{_PUSHED})*ih_1, (d[3*k+2]*{_PUSHED}*(1 + z**2)**k)*start)
      one:   (1 + z**2)**k*(p[0] - far) - (p[3*k] - far) <= 0                by larger in both
      done:  claim                                                           by combine 1*one
    """,
)
CLAIMS += [
    claim(
        "FEDPD-Q12",
        "Section II-B, after Remark 2",
        "Pure local gradient directions are not compatible with the compute-then-aggregate protocol: on one problem FedAvg with any "
        "constant step and any Q >= 2 diverges from far enough away.",
        [Step("it diverges", GROWS), Step("beside a convex function", GROWS_FROM_AFAR)],
        kind="divergence",
        assumptions=(A1, A2),
        readings=("The problem is +-(a/2)||x||^2, or the one of D10, which is convex and coercive.",),
    )
]

"""Section 4 for every round: DualFL on f_j + (alpha/2) ||.||^2 with nu = alpha, whose minimiser is theta^alpha; Theorem 4.1, and (14) of 4.3.

Rounds are those of `rounds.penalised`, r^2 = alpha/(L + alpha) where f_j is L-smooth. G is the square of ||grad E(theta^(n))||.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as State
from typing import Any

from fedtheory.claims import PlayedStates, Theorem, norm2
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.dualfl import algorithm_two, rates, rounds
from paper_checks.dualfl.bounds import gradient_order
from paper_checks.dualfl.inertia import FIVE
from paper_checks.formulas import formula

# ---- theta^alpha: (11) and (13) ------------------------------------------------------------------------------------------------------


def play_path(world: World, p: Parameters, last: int) -> list[State]:
    """theta^alpha for two alpha, the minimiser theta* of E of least norm, and any y; ``penalised`` is E^alpha(y), ``bare`` is E(y)."""
    e = world.function(None, 0, name="E")
    star, y, n, o = (world.vector(name) for name in ("theta*", "y", "theta^n", "theta^{n+1}"))
    _, least = world.at(e, star, "E at theta*", g=star * 0)
    _, at_y = world.at(e, y, "E at y")

    def of(x: Any, alpha: Any, name: str) -> State:
        _, value = world.at(e, x, name, g=-(x * alpha))
        return State(x=x, x_star=star, y=y, gap=value - least, penalised=at_y + norm2(y) * (alpha / 2), bare=at_y)

    return [of(n, p.alpha_0, "E at theta^n"), of(o, p.alpha_1, "E at theta^{n+1}")][: last + 1]


#: along any alpha[n] > 0 that falls to zero; w is its inverse. P is E^alpha(y), B is E(y)
PATH = Theorem(
    name="(11) and (13)",
    region="",
    rounds={"n": 0},
    states=PlayedStates(play_path),
    sequences={"alpha": "0", "w": "0"},
    given={"inverse": "alpha[n]*w[n] == 1", "falls": "alpha[n+1] <= alpha[n]", "vanishes": "alpha[n] -> 0 as n"},
    quantities={"gap": "gap", "R": "norm2(x)", "D": "norm2(x_star)", "P": "penalised", "B": "bare", "Y": "norm2(y)"},
    claim=("P[n+1] <= P[n]", "P[n] - B[n] -> 0 as n", "gap[n] -> 0 as n", "R[n] <= D[0]"),
    proof="""
      ysame:  Y[n+1] == Y[n]                          by identity
      yall:   Y[n] == Y[0]                            by induction n: base combine; step combine 1*ih, 1*ysame
      pos:    0 <= Y[n]                               by derivation
      bsame:  B[n+1] == B[n]                          by identity
      is:     P[n] == B[n] + alpha[n]/2*Y[n]          by identity
      fall:   claim 1                                 by combine 1*is(n=n+1), (-1)*is, 1*bsame, (alpha[n+1]/2)*ysame, (Y[n]/2)*falls
      apart:  P[n] - B[n] == alpha[n]/2*Y[0]          by combine 1*is, (alpha[n]/2)*yall
      above:  P[n] - B[n] <= alpha[n]/2*Y[0]          by combine 1*apart
      below:  0 <= P[n] - B[n]                        by combine (-1)*apart, (alpha[n]/2)*pos(n=0)
      down:   claim 2                                 by squeeze below, above, vanishes
      same:   D[n+1] == D[n]                          by identity
      all:    D[n] == D[0]                            by induction n: base combine; step combine 1*ih, 1*same
      low:    0 <= gap[n]                             by derivation
      high:   gap[n] <= alpha[n]/2*D[n]               by derivation
      high0:  gap[n] <= alpha[n]/2*D[0]               by combine 1*high, (alpha[n]/2)*all
      least:  claim 3                                 by squeeze low, high0, vanishes
      times:  alpha[n]*R[n] <= alpha[n]*D[n]          by derivation
      near:   R[n] <= D[n]                            by combine w[n]*times, (D[n] - R[n])*inverse
      ball:   claim 4                                 by combine 1*near, 1*all
    """,
)

# ---- rounds ----------------------------------------------------------------------------------------------------------------

#: nu is alpha, and E^alpha is alpha/r^2-smooth
PENALISED: dict[str, Any] = {"states": rounds.PENALISED, "where": {"nu": "alpha"}}
SMOOTH: dict[str, Any] = {
    "states": rounds.PENALISED_SMOOTH,
    "where": {"nu": "alpha", "L": "alpha*(1/r**2 - 1)", **rates.GAMMA},
}
ERRORS = replace(
    algorithm_two.END_ERRORS,
    region="0 < alpha, 0 < r < 1",
    states=rounds.PENALISED_SMOOTH,
    where={"nu": "alpha"},
    name="Algorithm 2, penalised",
)

OF_GRADIENTS = {
    "G": "norm2(bar(grad(g, x)) + alpha*origin)",
    "D": "norm2(bar(grad(g, x)) - bar(grad(g, x_star)))",
    "A": "norm2(bar(grad(g, x_star)) + alpha*origin)",
    "W": "norm2(origin)",
}
#: ||grad E(theta)|| <= L ||theta - theta^alpha|| + alpha ||theta^alpha||
TRIANGLE = """
  zero:   0 <= theta2[n]                        by derivation
  home:   0 <= W[n]                             by derivation
  norm:   0 <= G[n]                             by derivation
  change: 0 <= D[n]                             by derivation
  end:    0 <= A[n]                             by derivation
  slope:  G[n] - D[n] - A[n] <= s*D[n] + A[n]/s                         by derivation
  both:   G[n] <= D[n] + A[n] + 2*sqrt(D[n])*sqrt(A[n])                 by least s of slope
  both2:  sqrt(G[n])**2 <= (sqrt(D[n]) + sqrt(A[n]))**2                 by combine 1*both
  split:  sqrt(G[n]) <= sqrt(D[n]) + sqrt(A[n])                         by root both2
  smooth: D[n] <= L**2*theta2[n]                                        by derivation
  far2:   sqrt(D[n])**2 <= (L*sqrt(theta2[n]))**2                       by combine 1*smooth
  first1: sqrt(D[n]) <= L*sqrt(theta2[n])                               by root far2
  sixteen:   A[n] == alpha**2*W[n]                                         by identity
  near2:  sqrt(A[n])**2 <= (alpha*sqrt(W[n]))**2                        by combine 1*sixteen
  last:   sqrt(A[n]) <= alpha*sqrt(W[n])                                by root near2
"""
SUM = "(sqrt(V[0]) + 2*sqrt(2*nu)*sqrt(1/N)/(1 - b))"
T43 = replace(
    rates.T33_END,
    name="Theorem 4.3, (14)",
    **SMOOTH,
    region="0 < alpha, 0 < r < 1, 0 < b < 1, 1 <= N",
    added=(),
    quantities=algorithm_two.some("gap", "U", "err", "Gamma", "theta2", "V") | OF_GRADIENTS,
    rests={"dual": ERRORS},
    claim=f"sqrt(G[m]) <= L*{SUM}/(alpha*sqrt(1 - r))*{formula(gradient_order, n='m', r='r')} + alpha*sqrt(W[m])",
    proof=rates.LINEAR_SUMS
    + TRIANGLE
    + algorithm_two.fill(
        """
  rate2:  sqrt(theta2[m])**2 <= (ROOT*(1 - r)**(m/2)/(alpha*sqrt(1 - r)))**2
             by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), ((1 - r)**(m - 1)/nu**2)*whole2(n=m-1)
  rate:   sqrt(theta2[m]) <= ROOT*(1 - r)**(m/2)/(alpha*sqrt(1 - r))          by root rate2
  done:   claim                                                               by combine 1*split(n=m), 1*first1(n=m), L*rate, 1*last(n=m)
        """,
        ROOT=SUM,
    ),
)

#: gamma = 2 h, for g is a function here
HALF = {"g": "h"}
#: E is E(theta^(n)) - E(theta^alpha), F is E(theta^alpha) - E(y), Y is ||y||^2; E^alpha is g less what is linear in it, of which C is the part of x
T41 = replace(
    rates.T32,
    name="Theorem 4.1",
    **PENALISED,
    region="0 < alpha, 0 < h, 1 <= N",
    given={**FIVE, "gaps": f"Gamma[n] <= {algorithm_two.fill(rates.EIGHT, **HALF)}"},
    added=(),
    quantities=algorithm_two.some("gap", "U", "err", "Gamma", "theta2", "V")
    | {
        "W": "norm2(origin)",
        "H": "mean(g(x)) - mean(g(x_star))",
        "C": "dot(origin, x - x_star)",
        "E": "mean(g(x)) + alpha*dot(origin, x) - mean(g(x_star)) - alpha*dot(origin, x_star)",
        "F": "mean(g(x_star)) + alpha*dot(origin, x_star) - mean(g(y)) - alpha*dot(origin, y)",
        "Y": "norm2(y - origin)",
    },
    rests={
        "dual": replace(
            algorithm_two.PLAIN_ERRORS, region="0 < alpha", **PENALISED, name="Algorithm 2, penalised, rho = 0"
        )
    },
    claim=("theta2[m] -> 0 as m", "E[m] -> 0 as m", "F[n] <= alpha/2*Y[n]"),
    proof=algorithm_two.fill(rates.PLAIN_SUMS, **HALF)
    + algorithm_two.fill(
        """
  zero:   0 <= theta2[n]                                            by derivation
  home:   0 <= W[n]                                                 by derivation
  rate:   theta2[m] <= 4*TOP**2/(nu**2*(m + 1)**2)
             by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), (4/(nu**2*(m + 1)**2))*whole2(n=m-1)
  models: claim 1                                                   by squeeze zero(n=m), rate
  roots2: sqrt(theta2[m])**2 <= (2*TOP/(nu*(m + 1)))**2             by combine 1*rate
  roots:  sqrt(theta2[m]) <= 2*TOP/(nu*(m + 1))                     by root roots2
  same:   W[n+1] == W[n]                                            by identity
  all:    W[n] == W[0]                                              by induction n: base combine; step combine 1*ih, 1*same
  size2:  sqrt(W[n])**2 <= sqrt(W[0])**2                            by combine 1*all
  size:   sqrt(W[n]) <= sqrt(W[0])                                  by root size2
  up:     2*C[n] <= s*theta2[n] + W[n]/s                            by derivation
  up2:    2*C[n] <= 2*sqrt(theta2[n])*sqrt(W[n])                    by least s of up
  down:   -2*C[n] <= s*theta2[n] + W[n]/s                           by derivation
  down2:  -2*C[n] <= 2*sqrt(theta2[n])*sqrt(W[n])                   by least s of down
  above:  C[m] <= 2*TOP/(nu*(m + 1))*sqrt(W[0])
             by combine (1/2)*up2(n=m), sqrt(theta2[m])*size(n=m), sqrt(W[0])*roots
  below:  -2*TOP/(nu*(m + 1))*sqrt(W[0]) <= C[m]
             by combine (1/2)*down2(n=m), sqrt(theta2[m])*size(n=m), sqrt(W[0])*roots
  linear: C[m] -> 0 as m                                            by squeeze below, above
  convex: H[m] -> 0 as m                                            by cite CONTINUOUS from models
  parts:  E[n] == H[n] + alpha*C[n]                                 by identity
  low:    H[m] + alpha*C[m] <= E[m]                                 by combine (-1)*parts(n=m)
  high:   E[m] <= H[m] + alpha*C[m]                                 by combine 1*parts(n=m)
  values: claim 2                                                   by squeeze low, high, convex, linear
  path:   claim 3                                                   by derivation
        """,
        TOP="(sqrt(V[0]) + 2*sqrt(2/N)*(1 + 1/h))",
        CONTINUOUS="Rockafellar, Convex Analysis, Theorem 10.1 (a finite convex function is continuous)",
    ),
)

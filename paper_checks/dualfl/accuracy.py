"""(15): how many rounds bring ||grad E|| to eps, and the inequality of its proof.

The factors 1 - 1/t_k of Theorem 3.3 have a product of the order rho (1 - sqrt(rho))^n for n beyond 1/sqrt(rho), and not only (1 - sqrt(rho))^n. So
the constant of (14) may be taken of the order eps^(-1/2), and log(1/eps) of (15) as 3/2 log(1/eps).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fedtheory.claims import Theorem
from paper_checks.dualfl import algorithm_two, penalised, rates
from paper_checks.dualfl.algorithm_two import LINEAR_TERM, SERIES, fill
from paper_checks.dualfl.bounds import rounds_of_15
from paper_checks.formulas import formula_as_written

#: q = 1 - r/2
LATE_WORDS = algorithm_two.SMOOTH_WORDS | {
    "BEND": "(1 + r/2*q**n)",
    "TURN": "(2 - q**n)**2",
    "EACH": "(2*sqrt(2*nu)*sqrt(1/N)/r)",
    "TOTAL": "(sqrt(V[0]) + 2*sqrt(2*nu)*sqrt(1/N)/(r*(1 - b)))",
}
LATE = replace(
    penalised.T43,
    name="Theorem 3.3 with rho = 1/kappa, after the first rounds",
    where={"nu": "alpha", "q": "1 - r/2", **rates.GAMMA},
    rounds={"n": 0, "k": 0},
    rests={},
    quantities=algorithm_two.some("gap", "A", "U", "Uh", "d2", "err", "Gamma", "theta2", "V"),
    claim="(1 - q**n)*sqrt(theta2[n+1]) <= 4*q**n*(r*sqrt(V[0]) + 2*sqrt(2*alpha)*sqrt(1/N)/(1 - b))/alpha",
    proof=algorithm_two.SMOOTH_ROUND
    + rates.BY_GAPS
    + SERIES
    + fill(
        LINEAR_TERM
        + """
  roots2: (2*t[n])**2 <= sqrt((1 - r**2*t[n]**2)**2 + 4*t[n]**2)**2      by combine
  roots:  2*t[n] <= sqrt((1 - r**2*t[n]**2)**2 + 4*t[n]**2)              by root roots2
  climb:  1/r - t[n+1] <= q*(1/r - t[n])
             by combine (-1)*five, (-q*(1/r - t[n]))*next, (q*(1/r - t[n])/2)*roots times 1/r + t[n+1] - (1 - r**2*t[n]**2)
  least:  1/r - t[n] <= q**n*(1/r - 1)                           by induction n: base combine (-1)*first; step combine q*ih, 1*climb
  loses:  1 - r**2*t[n+1] <= (q*BEND)**2                         by combine (r**2)*least(n=n+1), (r**2/4)*square(1 - q**(n + 1))
  keep2:  LATER**2 <= (q*BEND*t[n]*NEW)**2
             by combine (2*nu*w*gap[n+1])*five, (2*nu*w*t[n+1])*is, (2*nu*w*t[n]**2*gap[n+1] + U[n+1])*loses
  keep:   LATER <= q*BEND*t[n]*NEW                               by root keep2
  bend:   BEND*TURN <= (2 - q**(n + 1))**2                       by combine
  half2:  sqrt(1 - r)**2 <= q**2                                 by combine
  half:   sqrt(1 - r) <= q                                       by root half2
  slow:   (1 - r)**(n/2) <= q**n                                 by induction n: base combine; step combine sqrt(1 - r)*ih, (q**n)*half
  short:  t[n] <= 1/r                                            by combine
  under:  t[n]*(1 - r)**(n/2) <= q**n*TURN/r                     by combine (1/r)*slow, ((1 - r)**(n/2))*short
  all:    t[n]*NEW <= q**n*TURN*sqrt(w)*(sqrt(U[0]) + EACH*sum(b**k, k, 0, n))
             by induction n: base combine t[0]*psi(n=0), 1*start, (2*t[0]*sqrt(w)*sqrt(2*nu))*term(n=0), (2*sqrt(w)*sqrt(2*nu)*sqrt(1/N))*short(n=0);
                             step combine t[n+1]*psi(n=n+1), 1*keep, (q*BEND)*ih, (2*t[n+1]*sqrt(w)*sqrt(2*nu))*term(n=n+1),
                                          (2*sqrt(w)*sqrt(2*nu)*sqrt(1/N)*b**(n + 1))*under(n=n+1),
                                          (q**(n + 1)*sqrt(w)*(sqrt(U[0]) + EACH*sum(b**k, k, 0, n)))*bend
  whole:  t[n]*NEW <= 4*q**n*sqrt(w)*TOTAL
             by combine 1*all, (q**n*TURN*sqrt(w)*EACH)*series, (q**n*TURN*sqrt(w))*root
  grown:  1 - q**n <= r*t[n]                                     by combine r*least
  zero:   0 <= theta2[n]                                         by derivation
  model:  theta2[n+1] <= 2/nu*gap[n+1]                           by derivation
  dist2:  sqrt(theta2[n+1])**2 <= (NEW/(nu*sqrt(w)))**2          by combine 1*model, (1/(nu**2*w*t[n]**2))*far(n=n+1)
  dist:   sqrt(theta2[n+1]) <= NEW/(nu*sqrt(w))                  by root dist2
  done:   claim                                                  by combine (1 - q**n)*dist, (NEW/(nu*sqrt(w)))*grown, (r/(nu*sqrt(w)))*whole
""".replace("TOTAL", LATE_WORDS["TOTAL"]),
        **LATE_WORDS,
        SHARE="sqrt(1/N)",
        GIVEN="1*acc, 1*gaps",
    ),
)

#: V is V* at theta^alpha, VY at y, a minimiser of E with ||y|| <= R, of which DY says how far its gradients are from those at theta^alpha
T43_LATE = replace(
    penalised.T43,
    name="Theorem 4.3, after the first rounds",
    where={"L": penalised.SMOOTH["where"]["L"], **rates.GAMMA}
    | {"q": "1 - r/2", "eps": "2*R*alpha", "K": "4*(sqrt(2*L)*(v + 2*L*R) + 4*L*sqrt(1/N)/(1 - b))"},
    region="0 < alpha, 0 < r < 1, 0 < b < 1, 1 <= N, 0 < R, 0 <= v",
    rounds={"n": 0},
    given={**LATE.given, "ball": "W[n] <= R**2", "minimiser": "Y[n] <= R**2", "start": "VY[n] <= v**2"},
    quantities=algorithm_two.some("Gamma", "theta2", "V")
    | penalised.OF_GRADIENTS
    | {
        "Y": "norm2(y - origin)",
        "Y2": "norm2(y)",
        "VY": "mean(norm2(grad(g, y) + alpha*origin))",
        "DY": "mean(norm2(grad(g, y) - s_star))",
    },
    rests={"late": LATE},
    claim="(1 - q**n)*(sqrt(G[n+1]) - eps/2) <= q**n*K/sqrt(eps/R)",
    proof=penalised.TRIANGLE
    + """
  ball2:  sqrt(W[n])**2 <= R**2                             by combine 1*ball
  inside: sqrt(W[n]) <= R                                   by root ball2
  vs:     0 <= V[n]                                         by derivation
  least:  0 <= VY[n]                                        by derivation
  away:   0 <= DY[n]                                        by derivation
  moves:  V[n] - VY[n] - DY[n] <= s*VY[n] + DY[n]/s         by derivation
  moves2: V[n] - VY[n] - DY[n] <= 2*sqrt(VY[n])*sqrt(DY[n])            by least s of moves
  sum2:   sqrt(V[n])**2 <= (sqrt(VY[n]) + sqrt(DY[n]))**2              by combine 1*moves2
  sum1:   sqrt(V[n]) <= sqrt(VY[n]) + sqrt(DY[n])                      by root sum2
  given2: sqrt(VY[n])**2 <= v**2                            by combine 1*start
  given1: sqrt(VY[n]) <= v                                  by root given2
  turns:  DY[n] <= L**2*Y2[n]                               by derivation
  apart:  Y2[n] <= 2*Y[n] + 2*W[n]                          by derivation
  twice2: sqrt(DY[n])**2 <= (2*L*R)**2                      by combine 1*turns, (L**2)*apart, (2*L**2)*ball, (2*L**2)*minimiser
  twice:  sqrt(DY[n]) <= 2*L*R                              by root twice2
  mean2:  (L*r)**2 <= (sqrt(2*L)*sqrt(2*alpha)/2)**2        by combine
  mean:   L*r <= sqrt(2*L)*sqrt(2*alpha)/2                  by root mean2
  bounded: sqrt(V[n]) <= v + 2*L*R                          by combine 1*sum1, 1*given1, 1*twice
  done:   claim
             by combine (1 - q**n)*split(n=n+1), (1 - q**n)*first1(n=n+1), L*late, (1 - q**n)*last(n=n+1), ((1 - q**n)*alpha)*inside(n=n+1),
                        (4*q**n*L*r/alpha)*bounded(n=0), (4*q**n*(v + 2*L*R)/alpha)*mean
    """,
)


#: (15) with 3/2 log(1/eps)
ROUNDS_OF_15 = formula_as_written(
    lambda eps, L, R, constant: rounds_of_15(eps, L, R, constant, Fraction(3, 2)), eps="eps", L="L", R="R", constant="c"
)
#: any n that is at least so large, with h = sqrt(eps); y is 3/2 log(1/eps) + c
COUNT = Theorem(
    name="Theorem 4.3, rounds that suffice",
    region="0 < r < 1, 0 < R, 0 < h, 0 <= z, 0 <= K, 0 <= more",
    where={
        "eps": "h**2",
        "y": "r*z",
        "c": "y - 3/2*log(1/eps)",
        "L": "(1/r**2 - 1)*eps/(2*R)",
        "q": "1 - r/2",
        "n": "(r + 2)*z + more",
    },
    given={"constant": "h**3 + 2*K*sqrt(R) <= exp(c)"},
    claim=("q**n*K/sqrt(eps/R) <= (1 - q**n)*eps/2", f"n <= {ROUNDS_OF_15} + more"),
    proof="""
      is:      exp(log(1/eps)) == 1/eps                 by logarithm 1/eps
      half2:   exp(-log(1/eps)/2)**2 <= h**2            by combine (-h**2*exp(-log(1/eps)))*is
      half:    exp(-log(1/eps)/2) <= h                  by root half2
      tangent: 1 - r/2 <= exp(-r/2)                     by exponential -r/2
      power:   q**n <= exp(-r/2)**n                     by power tangent, n
      grows:   1 + r/2*(r*z + more) <= exp(r/2*(r*z + more))   by exponential r/2*(r*z + more)
      falls:   q**n <= exp(-y)                          by combine 1*power, exp(-(r/2 + 1)*r*z - r/2*more)*grows
      below:   exp(-y) <= exp(-c)*h**3                  by combine (exp(-c)*(exp(-log(1/eps)/2)**2 + exp(-log(1/eps)/2)*h + h**2))*half
      back:    exp(-c)*(h**3 + 2*K*sqrt(R)) <= 1        by combine exp(-c)*constant
      part2:   h**2 <= (sqrt(eps/R)*sqrt(R))**2         by combine
      part:    h <= sqrt(eps/R)*sqrt(R)                 by root part2
      small:   K/sqrt(eps/R) <= K*sqrt(R)/h             by combine (K/(h*sqrt(eps/R)))*part
      done:    claim 1
                 by combine (q**n)*small, (eps/2 + K*sqrt(R)/h)*falls, (eps/2 + K*sqrt(R)/h)*below, (h**2/2)*back
      ends2:   (1/r)**2 <= sqrt(1 + 2*L*R/eps)**2       by combine
      ends:    1/r <= sqrt(1 + 2*L*R/eps)               by root ends2
      low:     claim 2   by combine (2*y)*ends
    """,
)


#: s/2^k, (1 + s/2^k)/(1 - s/2^k) and its logarithm, for k, k + 1 and 0
HALVES = {
    f"{word}_{name}": text.format(f"s*(1/2)**({k})")
    for name, k in (("THIS", "k"), ("NEXT", "k + 1"), ("FIRST", "0"))
    for word, text in (("S", "({0})"), ("RATIO", "((1 + {0})/(1 - {0}))"), ("LOG", "log((1 + {0})/(1 - {0}))"))
}
#: log((1 + s)/(1 - s)) is at least twice that of s/2, and so 2^k times that of s/2^k, which is nearly 2 s/2^k; s = 1/(2 t + 1)
LOGARITHM = Theorem(
    name="the elementary inequality",
    region="0 < t",
    rounds={"k": 0},
    claim="2/(2*t + 1) <= log(1 + 1/t)",
    where={"s": "1/(2*t + 1)"},
    proof=fill(
        """
      is:      exp(LOG_THIS) == RATIO_THIS    by logarithm RATIO_THIS
      next:    exp(LOG_NEXT) == RATIO_NEXT    by logarithm RATIO_NEXT
      tangent: 1 + 2*LOG_NEXT - LOG_THIS <= exp(2*LOG_NEXT - LOG_THIS)    by exponential 2*LOG_NEXT - LOG_THIS
      double:  2*LOG_NEXT <= LOG_THIS
                 by combine 1*tangent, ((exp(LOG_NEXT) + RATIO_NEXT)*exp(-LOG_THIS))*next, (-(RATIO_NEXT)**2*exp(-LOG_THIS)/(RATIO_THIS))*is
      low:     1 - LOG_THIS <= exp(-LOG_THIS)     by exponential -LOG_THIS
      least:   2*S_THIS/(1 + S_THIS) <= LOG_THIS       by combine 1*low, (-exp(-LOG_THIS)/(RATIO_THIS))*is
      all:     2**k*LOG_THIS <= LOG_FIRST     by induction k: base combine; step combine 1*ih, (2**k)*double
      whole:   2*s - 2*s**2*(1/2)**k <= LOG_FIRST   by combine 1*all, (2**k)*least
      first:   exp(LOG_FIRST) == RATIO_FIRST     by logarithm RATIO_FIRST
      last:    exp(log(1 + 1/t)) == 1 + 1/t        by logarithm 1 + 1/t
      equal:   1 + LOG_FIRST - log(1 + 1/t) <= exp(LOG_FIRST - log(1 + 1/t))    by exponential LOG_FIRST - log(1 + 1/t)
      under:   LOG_FIRST <= log(1 + 1/t)
                 by combine 1*equal, exp(-log(1 + 1/t))*first, (-exp(-log(1 + 1/t)))*last
      more:    2*s - 2*s**2*(1/2)**k <= log(1 + 1/t)    by combine 1*whole, 1*under
      done:    claim    by limit as k of more
    """,
        **HALVES,
    ),
)

"""How many rounds and local iterations suffice (Theorems 3.3, 3.4 and 3.5): theorems on rounds, and on a client's local problem with its solver.

A local solver is given by what M iterations leave of the local problem's gap, e: C/M, or C exp(-c M), where c is of order 1/sqrt(kappa).
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as State

from fedtheory.claims import PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.dualfl import algorithm_two, rates
from paper_checks.dualfl.bounds import inverse_of_9, least_gradient_squared, steps_of_8, steps_of_8_by_accuracy
from paper_checks.dualfl.lemmas import local_gaps
from paper_checks.formulas import formula

SUM, ENOUGH = "({} + 2*sqrt(2*nu)*sqrt(1/N)/(1 - b))", rates.LINEAR_CONSTANT.format("v")
#: for every m and every eps[m] with r m >= log(C/eps[m]), where C is that of Theorem 3.3 with v for the root of V
SUFFICE = replace(
    rates.T33_END,
    name="Theorem 3.3, rounds that suffice",
    region=f"{rates.T33_END.region}, 0 <= v",
    rounds={"n": 0, "m": 1},
    quantities=algorithm_two.some("Gamma", "theta2", "V", "E"),
    sequences={**rates.T33_END.sequences, "eps": "0"},
    rests={"rate": rates.T33_END},
    given={**rates.T33_END.given, "start": "V[0] <= v**2", "enough": f"{ENOUGH}/nu**2 <= eps[m]*exp(r*m)"},
    claim=("theta2[m] <= eps[m]", "E[m] <= L/2*eps[m]"),
    proof=algorithm_two.fill(
        """
      tangent: 1 - r <= exp(-r)                 by exponential -r
      one:     (1 - r)*exp(r) <= 1              by combine exp(r)*tangent
      all:     (1 - r)**n*exp(r*n) <= 1         by induction n: base combine; step combine ((1 - r)*exp(r))*ih, 1*one
      vs:      0 <= V[n]                        by derivation
      root2:   sqrt(V[0])**2 <= v**2            by combine 1*start
      root:    sqrt(V[0]) <= v                  by root root2
      whole:   OLD**2 <= NEW**2                 by combine (OLD + NEW)*root
      models:  claim 1
                 by combine 1*rate_2, ((1 - r)**(m - 1)/nu**2)*whole, ((1 - r)**m)*enough, eps[m]*all(n=m)
      values:  claim 2                          by combine 1*rate_1, (L/2)*models
        """,
        OLD=SUM.format("sqrt(V[0])"),
        NEW=SUM.format("v"),
    ),
)


#: x = 4/(sqrt(kappa) - 1), q = (sqrt(kappa) - 1)/(sqrt(kappa) + 1). On the chain with n + m links, mu = 1, L = kappa and ((kappa - 1)/4) (1 - q)
#: theta^2 added at its end, theta*_i = q^i solves inner rows and the last one. A model with n coordinates is ``head[n]`` away from theta* in
#: these and q^(2(n + i)) in the others; the distance is measured by ||theta*||^2, and q^(2m) -> 0
NEEDED = Theorem(
    name="Theorem 3.3, rounds that are needed",
    region="0 < x, 0 < q < 1",
    rounds={"n": 0, "m": 1, "i": 1},
    sequences={"head": "0"},
    where={"s": "1 + 4/x", "kappa": "s**2"},
    given={"ratio": "q*(2 + x) == 2"},
    claim=(
        "1 + q**2 == (2 + 4/(kappa - 1))*q",
        "1/q == 4/(kappa - 1) + 1 + (1 - q)",
        "exp(-x*n)*(1 - q**(2*m))*(sum(q**(2*i), i, 1, n) + sum(q**(2*(n + i)), i, 1, m)) <= head[n] + sum(q**(2*(n + i)), i, 1, m)",
    ),
    proof="""
  rows:   claim 1                                   by combine ((q - (2 + x)/2)/(2 + x))*ratio
  last:   claim 2                                   by combine ((q - (2 + x)/2)/((2 + x)*q))*ratio
  tangent: 1 + x/2 <= exp(x/2)                      by exponential x/2
  root:   1/q <= exp(x/2)                           by combine 1*tangent, (-1/(2*q))*ratio
  one:    exp(-x) <= q**2                           by combine (q**2*exp(-x)*(exp(x/2) + 1/q))*root
  falls:  exp(-x*n) <= q**(2*n)                     by induction n: base combine; step combine (q**2)*ih, exp(-x*n)*one
  first:  (1 - q**2)*sum(q**(2*i), i, 1, n) == q**2*(1 - q**(2*n))                    by induction n: base combine; step combine 1*ih
  others: (1 - q**2)*sum(q**(2*(n + i)), i, 1, m) == q**(2*n + 2)*(1 - q**(2*m))      by induction m: base combine; step combine 1*ih
  done:   claim 3
            by combine (q**2*(1 - q**(2*m))/(1 - q**2))*falls, (exp(-x*n)*(1 - q**(2*m))/(1 - q**2))*first,
                       (-(1 - exp(-x*n)*(1 - q**(2*m)))/(1 - q**2))*others
    """,
)


#: the chain with n + 1 links, n = m + 1, mu = 0 and L = 1, whose gradient is (2 x_i - x_{i-1} - x_{i+1})/4 with x_0 = 1. x = a - b is a model with n
#: coordinates; rows n and n + 1 are the last ones that they reach. (n + 1)/||grad E||^2 is (L R_0/eps)^2, since theta* = (1, ..., 1)
OF_CHAIN = {
    **{name: f"(a[{i}] - b[{i}])" for name, i in {"X_0": "0", "X_K": "k", "X_K1": "k+1", "X_K2": "k+2"}.items()},
    "ROW": "(2*(a[i] - b[i]) - (a[i-1] - b[i-1]) - (a[i+1] - b[i+1]))",
    "ROW_N": "(2*(a[m+1] - b[m+1]) - (a[m] - b[m]))",
    "LAST": "(-(a[m+1] - b[m+1]))",
    "S": "((m + 2)*(m + 3)*(2*m + 5)/6)",
}
LEAST = formula(least_gradient_squared, n="m + 1")
LEAST_GRADIENT = Theorem(
    name="Theorem 4.3, rounds that are needed",
    region="",
    rounds={"m": 0, "k": 0, "i": 1},
    sequences={"a": "0", "b": "0"},
    given={"pull": "a[0] - b[0] == 1"},
    claim=(
        algorithm_two.fill(f"{LEAST} <= (sum(ROW**2, i, 1, m) + ROW_N**2 + LAST**2)/16", **OF_CHAIN),
        f"(m + 2)/({LEAST}) <= 161*(m + 1)**4",
    ),
    proof=algorithm_two.fill(
        """
      abel:    sum(i*ROW, i, 1, k) == (k + 1)*X_K - k*X_K1 - X_0    by induction k: base combine; step combine 1*ih
      numbers: sum(i**2, i, 1, k) == k*(k + 1)*(2*k + 1)/6                          by induction k: base combine; step combine 1*ih
      opened:  sum((S*ROW + i)**2, i, 1, k) == S**2*sum(ROW**2, i, 1, k) + 2*S*sum(i*ROW, i, 1, k) + sum(i**2, i, 1, k)
                 by induction k: base combine; step combine 1*ih
      sign:    0 <= sum((S*ROW + i)**2, i, 1, k)     by induction k: base combine; step combine 1*ih, 1*square(S*(2*X_K1 - X_K - X_K2) + k + 1)
      least:   claim 1
                 by combine (1/(16*S**2))*sign(k=m), (1/(16*S**2))*opened(k=m), (1/(8*S))*abel(k=m), (1/(16*S**2))*numbers(k=m), (-1/(8*S))*pull,
                            (1/(16*S**2))*square(S*ROW_N + m + 1), (1/(16*S**2))*square(S*LAST + m + 2)
      count:   claim 2 by combine
    """,
        **OF_CHAIN,
    ),
)


# ---- local iterations ------------------------------------------------------------------------------------------------------


def play_local(world: World, p: Parameters, last: int) -> list[State]:
    """A client's local problem at any point and control variate: its primal-dual gap, and its gap."""
    gap, local = local_gaps(world, p)
    return [State(gap=gap, local=local)] * (last + 1)


LOCAL = PlayedStates(play_local)
QUANTITIES = {"Gamma": "gap", "e": "local"}
#: what is so of every local problem
GAPS = """
  gaps:   Gamma[n] <= mu/(mu - nu)*e[n]         by derivation
"""
#: w = 1/eps_out, gamma = 2 g; ``last``: n + 1 is of the order of eps_out^(-1/2)
SUBGRADIENT = Theorem(
    name="Theorem 3.4",
    region="0 < nu < mu, 1 <= N, 0 < g, 0 < C, 0 < K",
    states=LOCAL,
    quantities=QUANTITIES,
    rounds={"n": 0},
    sequences={"M": "0", "w": "1"},
    where={"a": "C*mu*nu/(mu - nu)"},
    given={
        "solver": "M[n]*e[n] <= C",
        "steps": f"M[n] == a*({formula(steps_of_8, n='n', N='N', gamma='2*g')})",
        "last": "n + 1 <= K*sqrt(w[n])",
    },
    claim=(
        f"Gamma[n] <= {rates.EIGHT}",
        f"M[n] <= a*K**(4 + 2*g)*({formula(steps_of_8_by_accuracy, eps='1/w[n]', N='N', gamma='2*g')})",
    ),
    proof=GAPS
    + """
  first1: claim 1           by combine 1*gaps, (mu/(mu - nu)/(a*N*(n + 1)**(4 + 2*g)))*solver, (-mu/(mu - nu)*e[n]/(a*N*(n + 1)**(4 + 2*g)))*steps
  powers: (n + 1)**(4 + 2*g) <= (K*sqrt(w[n]))**(4 + 2*g)         by power last, 4 + 2*g
  done:   claim 2           by combine 1*steps, (a*N)*powers
    """,
)
#: r = x/(1 + x) <= y/(1 + y); exp(a) = C mu/(mu - nu), exp(l) = N (1 + gamma)^n, exp(k) = 1/eps_out; ``last``: n r is of the order of log(1/eps_out)
ACCELERATED = Theorem(
    name="Theorem 3.5",
    region="0 < nu < mu, 1 <= N, 0 < gamma, 0 < c, 0 < x <= y, 0 <= a, 0 <= b",
    states=LOCAL,
    quantities=QUANTITIES,
    rounds={"n": 0},
    sequences={"M": "0", "l": "0", "k": "0"},
    where={"r": "x/(1 + x)", "C": "exp(a)*(mu - nu)/mu"},
    given={
        "solver": "e[n] <= C*exp(-c*M[n])",
        "logarithm": f"exp(l[n]) == {formula(lambda n, N, gamma: inverse_of_9(n, 0, N, gamma), n='n', N='N', gamma='gamma')}",
        "steps": "c*M[n] == a + l[n] + x*n",
        "last": "r*n <= b + k[n]",
    },
    claim=(f"Gamma[n] <= {rates.NINE}", "c*M[n] <= a + l[n] + (1 + y)*(b + k[n])"),
    proof=GAPS
    + """
  grows:  1 + x <= exp(x)                       by exponential x
  all:    (1 + x)**n <= exp(x*n)                by induction n: base combine; step combine (1 + x)*ih, exp(x*n)*grows
  tangent: 1 + c*M[n] - a - l[n] - x*n <= exp(c*M[n] - a - l[n] - x*n)         by exponential c*M[n] - a - l[n] - x*n
  left:   exp(-c*M[n]) <= exp(-a - l[n] - x*n)  by combine exp(-c*M[n])*tangent, (-exp(-c*M[n]))*steps
  first1: claim 1
             by combine 1*gaps, (mu/(mu - nu))*solver, exp(a)*left, (-exp(-x*n - l[n])/(N*(1 + gamma)**n))*logarithm,
                        (exp(-x*n)/((1 + x)**n*N*(1 + gamma)**n))*all
  done:   claim 2                               by combine 1*steps, (1 + x)*last
    """,
)
#: the same with gamma <= r; exp(p) = N
SMALL_GAMMA = replace(
    ACCELERATED,
    name="Theorem 3.5, gamma at most sqrt(rho)",
    region="0 < nu < mu, 0 <= p, 0 < c, 0 < x <= y, 0 < gamma <= x/(1 + x), 0 <= a, 0 <= b",
    sequences={"M": "0", "k": "0"},
    where={**ACCELERATED.where, "N": "exp(p)"},
    given={
        "solver": ACCELERATED.given["solver"],
        "steps": "c*M[n] == a + p + gamma*n + x*n",
        "last": ACCELERATED.given["last"],
    },
    claim=(ACCELERATED.claims[0], "c*M[n] <= a + p + (2 + y)*(b + k[n])"),
    proof=GAPS
    + """
  grows:  1 + x <= exp(x)                       by exponential x
  all:    (1 + x)**n <= exp(x*n)                by induction n: base combine; step combine (1 + x)*ih, exp(x*n)*grows
  more:   1 + gamma <= exp(gamma)               by exponential gamma
  both:   (1 + gamma)**n <= exp(gamma*n)        by induction n: base combine; step combine (1 + gamma)*ih, exp(gamma*n)*more
  tangent: 1 + c*M[n] - a - p - gamma*n - x*n <= exp(c*M[n] - a - p - gamma*n - x*n)      by exponential c*M[n] - a - p - gamma*n - x*n
  left:   exp(-c*M[n]) <= exp(-a - p - gamma*n - x*n)                          by combine exp(-c*M[n])*tangent, (-exp(-c*M[n]))*steps
  first1: claim 1
             by combine 1*gaps, (mu/(mu - nu))*solver, exp(a)*left, (exp(-p - x*n - gamma*n)/(1 + gamma)**n)*both,
                        (exp(-p - x*n)/((1 + x)**n*(1 + gamma)**n))*all
  done:   claim 2                               by combine 1*steps, (2 + x)*last
    """,
)

"""The notation of DualFL's statements: what the paper's symbols are in scripts and quantities, once for all sections.

A state is that of a round n with theta* = 0: control variates of mean zero, and any answers that meet what a theorem says of local solves. Energies
are divided by N, so that sums over clients are means. f_j is mu-strongly convex and g_j = f_j - (nu/2) ||.||^2; L-smooth where it is said.

============================  ==========================================================================================
theta^(n), theta_j^(n)        `x`, `x_i`: the server's model and a client's answer
zeta_j^(n), rho, nu           `zeta`, the control variate; `rho` is r^2 in regions; `nu`
t_n, beta_n                   the sequence `t[n]` and `printed_beta` of it: (5), `FIVE` and `FIVE_SMOOTH`
xi_j, xi*                     `xi` = nu (zeta - theta) and -`s_star`, points of the dual problem (20)
A[n], gap[n]                  `A` = (t_n - 1) gap[n], and the error of the dual energy
u^n, u - xi*                  `U` and `Uh`: squares of its distance from xi*, after an answer and after the exact one
Gamma^{n,j}(theta_j)          `Gamma`: the primal-dual gap (7); (8) and (9) bound it by `EIGHT` and `NINE`
||theta^(n) - theta*||^2      `theta2`; `d2` is the mean of the clients' squares, `err` an error of the primal energy
V                             `V`: the mean of ||s_j*||^2, s_j* in dg_j(theta*)
============================  ==========================================================================================

`claim` makes a claim of the paper, `derived` one of our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms import DualFL, listed
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.algorithms.mistakes import build_mistaken, find_code_mistakes
from fedtheory.claims import dot, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.dualfl import rounds
from paper_checks.dualfl.bounds import models
from paper_checks.formulas import formula, formula_as_written
from paper_checks.steps import Step, claims_of

# ---- How claims are made, and assumptions in words -------------------------------------------------------------------

claim, derived = claims_of("dualfl"), claims_of("dualfl, derived")
CONVEX = "f_j mu-strongly convex (f_j - (mu/2)||.||^2 convex), 0 < nu <= mu"
#: the paper works with it: kappa = L/mu, (30), and g_j^* 1/(L - nu)-strongly convex; what its displayed definition says is strong convexity again
SMOOTH = "f_j L-smooth in the usual sense, under which the paper works throughout (its displayed definition repeats strong convexity)"
EXACT = "exact local solves; the start xi^(0) = 0 of Algorithm 2"

#: how theorems for every round are read
BY_CODE = (
    "The rounds are those of the library's DualFL, traced; A[n] = (t_n - 1) gap[n]. theta* = 0, energies are divided by N. "
    "1 <= t_n, and t_n <= 1/sqrt(rho) for rho > 0, follow from (5): DUALFL-T-SEQ."
)


def mistaken(name: str) -> Any:
    """DualFL with a known mistake, as a function of its hyper-parameters."""
    found = next(m for m in find_code_mistakes(DualFL) if m.name == name)

    def made(nu: float, rho: float, alpha: float | None = None) -> Any:
        given = {"nu": nu, "rho": rho, "exact": True} | ({} if alpha is None else {"alpha": alpha})
        return build_mistaken(listed("dualfl" if alpha is None else "dualfl-regularised"), given, (found,))

    return made


# ---- The inertia (5) -------------------------------------------------------------------------------------------------


def printed_t(t: Any, rho: Any) -> Any:
    """t_{n+1} of (5) from t = t_n."""
    rest = 1 - rho * t**2
    return (rest + (rest**2 + 4 * t**2) ** Fraction(1, 2)) / 2


def printed_beta(t: Any, new: Any, rho: Any) -> Any:
    """beta_n of (5) from t_n and ``new``, t_{n+1}."""
    return (t - 1) / new * (1 - new * rho) / (1 - rho)


def solved(rho: str = "") -> str:
    """The equation that t_{n+1} solves, as a line of a proof from (5); without ``rho`` that of rho = 0."""
    A, right = (f"(1 - {rho}*t[n]**2)", f"t[n]**2*(1 - {rho}*t[n+1])") if rho else ("1", "t[n]**2")
    return f"t[n+1]*(t[n+1] - 1) == {right} by combine (t[n+1] + ({A} + sqrt({A}**2 + 4*t[n]**2))/2 - {A})*next"


#: (5) for rho = 0, and for rho = r^2
FIVE = {"first": "t[0] == 1", "next": f"t[n+1] == {formula(lambda t: printed_t(t, 0), t='t[n]')}"}
FIVE_SMOOTH = FIVE | {"next": f"t[n+1] == {formula_as_written(lambda t, r: printed_t(t, r**2), t='t[n]', r='r')}"}


# ---- Quantities and bounds in scripts --------------------------------------------------------------------------------

QUANTITIES = {
    "gap": "gap",
    "A": "A",
    "U": "mean(norm2(u))",
    "Uh": "mean(norm2(u_best))",
    "d2": "mean(norm2(apart))",
    "err": "error",
    "Gamma": "Gamma",
    "theta2": "norm2(x)",
    "V": "mean(norm2(s_star))",
    "E": "mean(g(x)) + nu/2*norm2(x) - mean(g(x_star))",
}


def some(*names: str) -> dict[str, str]:
    """Quantities by name."""
    return {name: QUANTITIES[name] for name in names}


def fill(script: str, **texts: str) -> str:
    """A script with formulas in the place of words in capitals."""
    return re.sub(rf"\b({'|'.join(texts)})\b", lambda found: texts[found[0]], script)


def of_models(constant: str, share: Callable[..., Any], **more: str) -> str:
    """`models` at a constant, with the rate ``share`` of round m."""
    return formula(lambda V, nu, n, **rest: models(share(n, **rest), V, nu), V=constant, nu="nu", n="m", **more)


#: what (8) allows with gamma = 2 g; what (9) allows, also with rho = 0
EIGHT = formula(lambda N, nu, g, n: allowed_gap(N, nu, 2 * g)(n), N="N", nu="nu", g="g", n="n")
NINE = formula(
    lambda N, nu, gamma, r, n: allowed_gap(N, nu, gamma, r**2)(n), N="N", nu="nu", gamma="gamma", r="r", n="n"
)
#: b = (1 + gamma)^(-1/2)
GAMMA = {"gamma": "1/b**2 - 1"}
RANGE_OF_RHO = "0 < nu, 0 < r < 1, nu < L <= nu/r**2"
#: at the ends (5) is 0/0, or G_d has no class; the paper prints 0 <= rho <= nu/L and nu <= mu
OFF_THE_ENDS = ("nu < L", "r < 1")

OF_RANGE: dict[str, Any] = {
    "region": RANGE_OF_RHO,
    "auxiliary": "0 < s",
    "states": rounds.ANY_RANGE,
    "assumed": rounds.FENCHEL_SMOOTH,
    "sequences": {"t": "1..1/r"},
    "added": OFF_THE_ENDS,
}

#: the end rho = 1/kappa of the range, for nu = mu and L = kappa mu
OF_END = OF_RANGE | {"region": "0 < nu, 0 < r < 1", "states": rounds.ANY_END, "added": ("r < 1",)}


# ---- Lines that proofs of several sections have ----------------------------------------------------------------------

#: what is so of every state, and of every round
STATES = """
  far:    0 <= U[n]                             by derivation
  low:    0 <= gap[n+1]                         by derivation
  is:     A[n+1] == (t[n+1] - 1)*gap[n+1]       by identity
  none:   A[0] == 0                             by identity
"""

SOLVED = f"\n  five:   {solved()}"
GROWS = """
  grows:  (n + 2)/2 <= t[n]     by induction n: base combine first; step combine (-1)*five, (t[n] + (n + 2)/2)*ih times t[n+1] + (n + 1)/2
"""

SIGNS = """
  sign:   0 <= err[n]                           by derivation
  far:    0 <= U[n]                             by derivation
"""

#: for t_n <= n + 1, where GIVEN says that err[n] is at most (SHARE OF_N)^2/(2 nu (n + 1)^2)
PLAIN_TERMS = """
  least:  t[n] <= n + 1     by induction n: base combine first; step combine 1*five, (t[n] + n + 1)*ih times t[n+1] + n + 1
  term2:  sqrt(2*nu*t[n]**2*err[n])**2 <= (SHARE*OF_N)**2                     by combine (2*nu*err[n]*(t[n] + n + 1))*least, GIVEN
  term:   sqrt(2*nu*t[n]**2*err[n]) <= SHARE*OF_N                             by root term2
  terms:  sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n) <= SHARE*sum(OF_K, k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, 1*term(n=n+1)
"""

#: where GIVEN says that err[n] is at most SHARE^2 (1 - r)^n b^(2n)
LINEAR_TERM = """
  term2:  sqrt(err[n])**2 <= (SHARE*(1 - r)**(n/2)*b**n)**2                   by combine GIVEN
  term:   sqrt(err[n]) <= SHARE*(1 - r)**(n/2)*b**n                           by root term2
"""

SERIES = """
  series: sum(b**k, k, 0, n) <= (1 - b**(n + 1))/(1 - b)                      by induction n: base combine; step combine ih
"""

LINEAR_TERMS = (
    LINEAR_TERM
    + SERIES
    + """
  terms:  sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, n) <= SHARE*sum(b**k, k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, ((1 - r)**(-(n + 1)/2))*term(n=n+1)
"""
)

#: the errors' sum SUM is at most LIMIT by FROM, times FACTOR
ADD_UP = """
  whole:  sqrt(U[0]) + FACTOR*SUM <= FIRST + FACTOR*LIMIT              by combine FROM
  whole2: (sqrt(U[0]) + FACTOR*SUM)**2 <= (FIRST + FACTOR*LIMIT)**2    by combine (sqrt(U[0]) + FACTOR*SUM + FIRST + FACTOR*LIMIT)*whole
"""

#: the sum of errors, its factor, and the start, of rho = 0 and of rho = r^2
PLAIN_SUM = {"FACTOR": "2", "SUM": "sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n)"}
LINEAR_SUM = {"FACTOR": "2*sqrt(2*nu)", "SUM": "sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, n)"}

#: a local gap bounds the error of the step; the start
BY_GAPS = """
  acc:    err[n] <= Gamma[n]                    by derivation
  vs:     0 <= V[n]                             by derivation
  begin:  U[0] <= V[0]                          by derivation
  root2:  sqrt(U[0])**2 <= sqrt(V[0])**2        by combine 1*begin
  root:   sqrt(U[0]) <= sqrt(V[0])              by root root2
"""

TO_START = "U[0] <= V[0]                          by derivation"
MODELS = """
  model:  theta2[n+1] <= 2/nu*gap[n+1]          by derivation
"""


# ---- Conjugates and local problems -----------------------------------------------------------------------------------


def strong_conjugate(w: World, p: Parameters, c: LemmaConstants, bend: Any) -> Any:
    """g^*(xi) >= <xi, y> - g(y) + c ||xi - grad g(y)||^2/(2 bend) for any xi and y, where g is convex and (L - nu)-smooth, L - nu <= bend.

    By Fenchel's inequality at y + (xi - grad g(y))/bend; <grad g(y), y> - g(y) is g^* at grad g(y), of which y is a subgradient.
    """
    g = w.function(p.L - p.nu, 0, name="g")
    y, xi, conjugate = w.vector("y"), w.vector("xi"), w.value("conjugate at xi")
    slope, value = w.at(g, y, "gradient at y")
    near = y + (xi - slope) / bend
    _, at_near = w.at(g, near, "gradient near y")
    w.assume("Fenchel", dot(xi, near) - at_near - conjugate)
    return dot(xi, y) - value + norm2(xi - slope) * (c.c / (2 * bend)) - conjugate


@lemma("conjugates of smooth clients", "Section 6.2", "0 < nu, 0 < r < 1, nu < L <= nu/r**2", c=1)
def smooth_conjugate(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The same with the modulus rho/(nu (1 - rho)), rho = r^2 <= nu/L."""
    return strong_conjugate(w, p, c, p.nu * (1 - p.r**2) / p.r**2)


#: what theorems with rho > 0 assume of conjugates
OF_SMOOTH = Step("conjugates of smooth clients", smooth_conjugate)


def local_problem(w: World, p: Parameters) -> SimpleNamespace:
    """(2) and (6) of a client: zeta, a point theta, the solution o; g = f - (nu/2) ||.||^2 is convex.

    By the optimality of o, g^*(nu (zeta - o)) = <nu (zeta - o), o> - g(o).
    """
    g = w.function(None, 0, name="g")
    zeta, x, o = w.vector("zeta"), w.vector("theta"), w.vector("o")
    best = (zeta - o) * p.nu
    _, at_o = w.at(g, o, "g at o", g=best)
    _, at_x = w.at(g, x, "g at theta")

    def primal(y: Any, value: Any) -> Any:
        return value + norm2(y) * (p.nu / 2) - dot(zeta, y) * p.nu

    def dual_of(xi: Any, conjugate: Any) -> Any:
        return conjugate + norm2(xi - zeta * p.nu) / (2 * p.nu)

    values = {"at_x": primal(x, at_x), "at_o": primal(o, at_o), "least": dual_of(best, dot(best, o) - at_o)}
    return SimpleNamespace(g=g, zeta=zeta, x=x, o=o, g_at_o=at_o, dual_of=dual_of, **values)

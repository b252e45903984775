"""Appendix B.3.2: the recursion over rounds (Table 8), for every number of clients.

Delta is the length of theta less its hat; sigma, delta and pi are the means over clients of those of lambda_i, of theta_i^{t+1} and of
theta_i^{t+1} - theta^t, less their hats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    PlayedStates,
    Replay,
    Theorem,
    assume,
    disproved,
    norm2,
    refute,
)
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd.notation import BELOW_L, allowed_apart, claim, condition_on_x
from paper_checks.afedpd.rounds import broadcast, dual_after
from paper_checks.formulas import formula, over_outcomes
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- Table 8 and the recursion ---------------------------------------------------------------------------------------
def lines_of_recursion(
    D: Any, s: Any, d1: Any, s1: Any, p1: Any, rho: Any, c1: Any, c2: Any, c3: Any
) -> tuple[Any, Any, Any, Any]:
    """The four right sides: of Delta^{t+1}, sigma^{t+1}, delta^{t+1} and pi^{t+1}."""
    return d1 + s1 / rho, s + rho * p1, p1 + D, c1 * D + c2 * s + c3


def play_clients(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """What one client after the other adds to the server's sum: all vectors are differences of the two runs, and theta is that of theta^t.

    Client k returns theta_k^{t+1}, or thetabar^{t+1} where it is absent; ``moved`` is how far that is from theta^t.
    """
    theta, total = w.vector("theta"), w.vector("total") * (0 if start else 1)
    w.assume("server", norm2(theta) - p.V**2)
    states = []
    for k in range(last + 1):
        moved, dual = w.vector(f"moved {k}"), w.vector(f"dual {k}")
        model = theta + moved
        new = dual_after(dual, p.rho, model, theta)
        added = broadcast(model, new, p.rho)
        states.append(
            SimpleNamespace(theta=theta, moved=moved, dual=dual, model=model, new=new, added=added, total=total)
        )
        total = total + added
    return states


def _mean(quantity: str) -> str:
    return f"(sum(sqrt({quantity}[k]), k, 0, c)/(c + 1))"


def _line(j: int) -> str:
    """One of the first three right sides, of C = c + 1 clients."""
    means = {"d1": _mean("m"), "s1": _mean("l"), "s": _mean("d"), "p1": _mean("r")}
    return formula(lambda **of: lines_of_recursion(**of, c1=0, c2=0, c3=0)[j], D="V", rho="rho", **means)


def _triangle(name: str, whole: str, one: str, other: str, product: str, factor: str = "1") -> str:
    """sqrt(whole) <= sqrt(one) + factor sqrt(other), where whole = one + factor product + factor^2 other and product is twice that of the vectors."""
    at = "[k]" if whole != "A" else "[k+1]"
    return f"""
      {name}_y: {product}[k] <= s*{one}[k] + {other}[k]/s                             by derivation
      {name}_c: {product}[k] <= 2*sqrt({one}[k])*sqrt({other}[k])                     by least s of {name}_y
      {name}_i: {whole}{at} == {one}[k] + {factor}*{product}[k] + ({factor})**2*{other}[k]     by identity
      {name}_s: sqrt({whole}{at})**2 <= (sqrt({one}[k]) + {factor}*sqrt({other}[k]))**2        by combine 1*{name}_i, ({factor})*{name}_c
      {name}:   sqrt({whole}{at}) <= sqrt({one}[k]) + {factor}*sqrt({other}[k])                by root {name}_s
"""


LINES = Theorem(
    "0 < rho, 0 < V",
    (f"sqrt(A[c+1])/(c + 1) <= {_line(0)}", f"{_mean('l')} <= {_line(1)}", f"{_mean('m')} <= {_line(2)}"),
    "".join(f"      pos_{x}: 0 <= {x}[k] by derivation\n" for x in "TrdmlNA")
    + _triangle("models", "m", "T", "r", "TR")
    + _triangle("duals", "l", "d", "r", "DR", "rho")
    + _triangle("both", "N", "m", "l", "ML", "(1/rho)")
    + _triangle("sums", "A", "A", "N", "AN")
    + """
      t_le:  T[k] <= V**2                    by derivation
      t_sq:  sqrt(T[k])**2 <= V**2           by combine t_le
      t_len: sqrt(T[k]) <= V                 by root t_sq
      zero:  A[0] == 0                       by identity
      begin: sqrt(A[0])**2 <= 0              by combine zero
      none:  sqrt(A[0]) <= 0                 by root begin
      total: sqrt(A[c+1]) <= sum(sqrt(m[k]), k, 0, c) + sum(sqrt(l[k]), k, 0, c)/rho
               by induction c: base combine 1*none, 1*sums(k=0), 1*both(k=0); step combine 1*ih, 1*sums(k=c+1), 1*both(k=c+1)
      far:   sum(sqrt(m[k]), k, 0, c) <= sum(sqrt(r[k]), k, 0, c) + (c + 1)*V
               by induction c: base combine 1*models(k=0), 1*t_len(k=0); step combine 1*ih, 1*models(k=c+1), 1*t_len(k=c+1)
      moves: sum(sqrt(l[k]), k, 0, c) <= sum(sqrt(d[k]), k, 0, c) + rho*sum(sqrt(r[k]), k, 0, c)
               by induction c: base combine 1*duals(k=0); step combine 1*ih, 1*duals(k=c+1)
      one:   claim 1                         by combine (1/(c + 1))*total
      two:   claim 2                         by combine (1/(c + 1))*moves
      three: claim 3                         by combine (1/(c + 1))*far
    """,
    states=PlayedStates(play_clients, start=partial(play_clients, start=True)),
    rounds={"k": 0, "c": 0},
    auxiliary="0 < s",
    quantities={
        "T": "norm2(theta)",
        "r": "norm2(moved)",
        "d": "norm2(dual)",
        "m": "norm2(model)",
        "l": "norm2(new)",
        "N": "norm2(added)",
        "A": "norm2(total)",
        "TR": "2*dot(theta, moved)",
        "DR": "2*dot(dual, moved)",
        "ML": "2*dot(model, new)",
        "AN": "2*dot(total, added)",
    },
    assumed={"server": "V is at least Delta^t"},
)


def play_active(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """How far one active client's model after the other is from theta^t, and their sum, of which thetabar^{t+1} - theta^t is the mean."""
    total, states = w.vector("total") * (0 if start else 1), []
    for k in range(last + 1):
        added = w.vector(f"moved {k}")
        states.append(SimpleNamespace(added=added, total=total))
        total = total + added
    return states


#: of c + 1 active clients and others that are absent, which count as thetabar
ACTIVE = Theorem(
    "0 <= others",
    "(sum(sqrt(N[k]), k, 0, c) + others*(sqrt(A[c+1])/(c + 1)))/(c + 1 + others) <= sum(sqrt(N[k]), k, 0, c)/(c + 1)",
    "".join(f"      pos_{x}: 0 <= {x}[k] by derivation\n" for x in "NA")
    + _triangle("sums", "A", "A", "N", "AN")
    + """
      zero:  A[0] == 0                       by identity
      begin: sqrt(A[0])**2 <= 0              by combine zero
      none:  sqrt(A[0]) <= 0                 by root begin
      total: sqrt(A[c+1]) <= sum(sqrt(N[k]), k, 0, c)
               by induction c: base combine 1*none, 1*sums(k=0); step combine 1*ih, 1*sums(k=c+1)
      done:  claim                           by combine (others/((c + 1)*(c + 1 + others)))*total
    """,
    states=PlayedStates(play_active, start=partial(play_active, start=True)),
    rounds={"k": 0, "c": 0},
    auxiliary="0 < s",
    quantities={"N": "norm2(added)", "A": "norm2(total)", "AN": "2*dot(total, added)"},
)


def _share(V: str, M: str, G: str, S: str = "S") -> str:
    """Lemma 6's right side, of which c_1, c_2 and c_3 are parts."""
    return formula(allowed_apart, eta="eta", K="K", L="L", V=V, M=M, G=G, S=S)


#: a[k]: what client k's move parts on average, 0 counted where it is absent, e[k] where it is active; x[k]: 1 for the client of the exchanged sample
FOURTH = Theorem(
    "0 < L, 0 < eta, 1 <= K, 0 < G, 1 <= S, 0 <= D, 1 <= P, 1 <= C",
    f"sum(a[k], k, 0, c)/P <= {_share('D', '(sum(M[k], k, 0, c)/C)', '(G/C)')}",
    f"""
      each:  a[k] <= P/C*({_share("D", "M[k]", "(G*x[k])")})                 by combine active, (P/C)*lemmas
      sums:  sum(a[k], k, 0, m) <= P/C*({_share("(D*(m + 1))", "sum(M[k], k, 0, m)", "(G*sum(x[k], k, 0, m))")})
               by induction m: base combine each(k=0); step combine ih, each(k=m+1)
      done:  claim    by combine (1/P)*sums(m=c), (2*eta*K*G/(S*C))*one, (eta*K*L*D/C)*clients
    """,
    rounds={"k": 0, "c": 0, "m": 0},
    sequences={"a": "0", "e": "0", "M": "0", "x": "0..1"},
    given={
        "lemmas": f"e[k] <= {_share('D', 'M[k]', '(G*x[k])')}",
        "active": "a[k] == P/C*e[k]",
        "clients": "c + 1 == C",
        "one": "sum(x[k], k, 0, c) <= 1",
    },
)


def combined_lines(D: Any, s: Any, alpha: Any, gamma: Any, c1: Any, c2: Any, c3: Any, beta: Any = 1) -> Any:
    """Right side of the lines times 1, alpha, beta and gamma."""
    return (beta + gamma * c1) * D + (alpha + gamma * c2) * s + gamma * c3


def left_of_combination(D1: Any, s1: Any, d1: Any, p1: Any, alpha: Any, gamma: Any, rho: Any, beta: Any = 1) -> Any:
    """What is left of their left sides."""
    return D1 + (alpha - 1 / rho) * s1 + (beta - 1) * d1 + (gamma - alpha * rho - beta) * p1


_OF_LINES = {name: name for name in ("D", "s", "c1", "c2", "c3")}
_LEFT = {name: name for name in ("D1", "s1", "d1", "p1", "rho", "alpha", "beta", "gamma")}
_RIGHTS = [
    formula(lambda j=j, **of: lines_of_recursion(**of)[j], d1="d1", s1="s1", p1="p1", rho="rho", **_OF_LINES)
    for j in range(4)
]
#: D, s, d and p are Delta, sigma, delta and pi of round t, and D1, ... those of round t + 1
COMBINED = Theorem(
    "0 < rho, 0 < alpha, 0 < beta, 0 < gamma, "
    + ", ".join(f"0 <= {x}" for x in ["D", "s", "D1", "s1", "d1", "p1", "c1", "c2", "c3"]),
    f"{formula(left_of_combination, **_LEFT)} <= {formula(combined_lines, **_OF_LINES, alpha='alpha', gamma='gamma', beta='beta')}",
    "done: claim by combine Delta_line, alpha*sigma_line, beta*delta_line, gamma*pi_line",
    given={
        f"{name}_line": f"{left} <= {right}"
        for name, left, right in zip(("Delta", "sigma", "delta", "pi"), ("D1", "s1", "d1", "p1"), _RIGHTS, strict=True)
    },
)
_SQUARE = {"L": "L", "rho": "rho", "k": "k"}


def _beside(k: str) -> tuple[str, str]:
    """What stands beside sigma after combining, and (x - 1)/rho times what stands beside Delta: x is alpha rho, k is eta K."""
    return f"(x/rho + (1 + x)*{k})", f"((1 + (1 + x)*{k}*L)*(x - 1)/rho)"


CONDITION = Theorem(
    "0 < L, 0 < rho, 0 < k, 0 < x",
    (" <= ".join(_beside("k")), "1/L < (x - 1)/rho"),
    f"""
      slope:  claim 1    by combine (k/rho)*holds
      above:  {formula(condition_on_x, x="x", **_SQUARE)} == (x - 1 - rho/L)*L*(x + 1) - 1/k     by combine
      large:  1/k <= (x - 1 - rho/L)*L*(x + 1)                             by combine 1*holds, 1*above
      done:   claim 2    by combine 1*large times rho*L*(x + 1)
    """,
    given={"holds": f"0 <= {formula(condition_on_x, x='x', **_SQUARE)}"},
)


def larger_root(L: Any, rho: Any, q: Any) -> Any:
    """x+, of a discriminant q^2."""
    return (rho + q) / (2 * L)


def discriminant(L: Any, rho: Any, s: Any) -> Any:
    """q^2, with s^2 = L/(eta K)."""
    return (rho + 2 * L) ** 2 + 4 * s**2


def root_limit(L: Any, rho: Any, s: Any) -> Any:
    """What x+ is said to be at most."""
    return 1 + rho / L + 2 * s


_DISCRIMINANT = f"sqrt({formula(discriminant, L='L', rho='rho', s='s')})"
_ROOT = formula(larger_root, L="L", rho="rho", q=_DISCRIMINANT)
_AT_K = {"k": "(L/s**2)", "L": "L", "rho": "rho"}
#: s is sqrt(L/(eta K)), so that s/L is 1/sqrt(L eta K); x is alpha rho
LARGER_ROOT = Theorem(
    "0 < L, 0 < rho, 0 < s, 0 < x",
    (
        f"{formula(condition_on_x, x=_ROOT, **_AT_K)} == 0",
        f"0 <= {formula(condition_on_x, x='x', **_AT_K)}",
        f"{_ROOT} <= 1 + rho/L + s/L",
    ),
    f"""
      zero:  claim 1     by combine
      above: claim 2     by combine L*square(x - {_ROOT}), {_DISCRIMINANT}*larger, 1*zero
      under: {_DISCRIMINANT}**2 <= (rho + 2*L + 2*s)**2     by combine
      root:  {_DISCRIMINANT} <= rho + 2*L + 2*s             by root under
      done:  claim 3     by combine (1/(2*L))*root
    """,
    given={"larger": f"{_ROOT} <= x"},
)
#: w[r]: probability of outcome r of all draws; V, s and D1, s1, d1, p1: Delta and sigma before the round, Delta, sigma, delta and pi after it;
#: u: what the P active clients' moves part in sum
_OF_DRAWS = {name: over_outcomes(f"{name}[r]") for name in ("D1", "s1", "V", "s", "u")}
_OF_DRAW = {
    "D": "V[r]",
    **{name: f"{name}[r]" for name in ("s", "d1", "s1", "p1")},
    "rho": "rho",
    **dict.fromkeys(("c1", "c2", "c3"), "0"),
}
#: of the lines that hold for every draw their names, their left sides, and their right sides
_OF_ALL_DRAWS = {
    name: (f"{left}[r]", formula(lambda j=j, **of: lines_of_recursion(**of)[j], **_OF_DRAW))
    for j, (name, left) in enumerate((("Delta", "D1"), ("sigma", "s1"), ("delta", "d1")))
} | {"moves": ("p1[r]", "u[r]/P")}
_BESIDE_S, _BESIDE_D = _beside("(eta*K)")


def _weighed(D: str, s: str) -> str:
    """Delta + alpha_rho sigma: the left side of the combination for beta = 1 and gamma = 1 + alpha rho, x = alpha rho."""
    return formula(
        lambda D, s, x, rho: left_of_combination(D, s, 0, 0, x / rho, 1 + x, rho),
        **{"D": _OF_DRAWS[D], "s": _OF_DRAWS[s], "x": "x", "rho": "rho"},
    )


def _on_average(name: str, left: str, right: str) -> str:
    """What a line that holds for every draw says of expectations."""
    return f"""
      {name}_E: {over_outcomes(f"({left})")} <= {over_outcomes(f"({right})")}
                 by induction N: base combine w[0]*{name}(r=0); step combine ih, w[N+1]*{name}(r=N+1)
"""


def round_apart(y: Any, gamma: Any, eta: Any, K: Any, L: Any, G: Any, N: Any) -> Any:
    """What Delta + alpha_rho sigma is at most after a round, where it was y, N = CS."""
    return (1 + gamma * eta * K * L) * y + 2 * gamma * eta * K * G / N


RECURSION = Theorem(
    "0 < L, 0 < rho, 0 < eta, 1 <= K, 0 < x, 0 < G, 1 <= P, 1 <= C, 1 <= S",
    f"{_weighed('D1', 's1')} <= {formula(round_apart, y=_weighed('V', 's'), gamma='1 + x', eta='eta', K='K', L='L', G='G', N='C*S')}",
    "".join(_on_average(name, *sides) for name, sides in _OF_ALL_DRAWS.items())
    + f"""
      slope:   {_BESIDE_S} <= {_BESIDE_D}                       by combine (eta*K/rho)*holds
      sloped:  {_BESIDE_S}*s[r] <= {_BESIDE_D}*s[r]             by combine s[r]*slope
"""
    + _on_average("sloped", f"{_BESIDE_S}*s[r]", f"{_BESIDE_D}*s[r]")
    + """
      done:    claim    by combine 1*Delta_E, (x/rho)*sigma_E, 1*delta_E, (1 + x)*moves_E, (1 + x)*pi, 1*sloped_E
    """,
    name="the recursion",
    rounds={"r": 0, "N": 0},
    sequences=dict.fromkeys(("w", "V", "s", "D1", "s1", "d1", "p1", "u"), "0"),
    given={
        **{name: f"{left} <= {right}" for name, (left, right) in _OF_ALL_DRAWS.items()},
        "pi": f"{_OF_DRAWS['u']}/P <= {_share(_OF_DRAWS['V'], _OF_DRAWS['s'], '(G/C)')}",
        "holds": f"0 <= {formula(condition_on_x, x='x', L='L', rho='rho', k='(eta*K)')}",
    },
)


def absent_stay(active: int = 1) -> bool:
    """Whether the lines for Delta^{t+1} and sigma^{t+1} fail where absent clients count as unmoved, for P < C.

    In the round in which the exchanged sample is drawn first, by one of P active clients whose model it parts by d, thetabar parts by d/P and
    duals of absent clients by rho d/P: sigma^{t+1} = rho d/P against rho pi^{t+1} = rho d/C, and Delta^{t+1} = 2 d/P against delta^{t+1} +
    sigma^{t+1}/rho = d/C + d/P.
    """
    rho, P, others, d = symbols("rho P others d", positive=True)
    C = P + others
    sigma = (dual_after(0, rho, d, 0) + others * dual_after(0, rho, d / P, 0)) / C
    pi, Delta = active * d / C, broadcast(d / P, sigma, rho)
    first, second, _, _ = lines_of_recursion(0, 0, pi, sigma, pi, rho, 0, 0, 0)
    return is_zero(sigma - rho * d / P) and is_positive(Delta - first) and is_positive(sigma - second)


ROOT = {"L": "1/10", "rho": "1/5", "s": "399/200", "q": "401/100"}


def replay_root(instance: Mapping[str, Any]) -> Replay:
    """x+ against 1 + rho/L + 2 sqrt(L/(eta K)), where eta K = L/s^2 and q^2 is the discriminant."""
    L, rho, s, q = (Fraction(instance[name]) for name in ("L", "rho", "s", "q"))
    near = float(L), float(rho)
    root, numeric = larger_root(L, rho, q), larger_root(*near, math.sqrt(discriminant(*near, float(s))))
    met = (
        assume("rho above L", "0 < L < r", L=L, r=rho),
        assume("eta rho <= 1 for K = 1", "L*r <= s*s", L=L, r=rho, s=s),
        assume("discriminant", "q*q == d", q=q, d=discriminant(L, rho, s)),
    )
    return Replay("larger root x+", numeric, root_limit(*near, float(s)), root, root_limit(L, rho, s), "fractions", met)


def check_recursion(ctx: Context, *, of: Mapping[str, Any] = ROOT, active: int = 1) -> Iterator[Finding]:
    """The printed convention for absent clients, and the printed bound of x+."""
    yield disproved(
        "absent clients count as unmoved",
        absent_stay(active),
        "the appendix sets the models of absent clients to theta^t, so that pi^{t+1} = d/C in the round in which the exchanged sample is drawn "
        "first, by one of P active clients whose model it parts by d. Its own dual parts by rho d and those of the absent ones by rho d/P: "
        "sigma^{t+1} = rho d/P > rho pi^{t+1} for P < C, and Delta^{t+1} = 2 d/P > delta^{t+1} + sigma^{t+1}/rho = d/C + d/P",
    )
    yield refute("x+ as printed", replay_root, dict(of), text="L < 1/2.")


CLAIMS += [
    claim(
        "AFEDPD-G-REC",
        "Appendix B.3.2, Table 8 and what follows",
        "With pi^{t+1} the sum over active clients over C: Delta^{t+1} <= delta^{t+1} + sigma^{t+1}/rho, sigma^{t+1} <= sigma^t + rho "
        "pi^{t+1}, delta^{t+1} <= pi^{t+1} + Delta^t, pi^{t+1} <= eta K (L Delta^t + sigma^t + 2 G/(CS)); combined, for alpha rho >= x+, "
        "the larger root of L x^2 - rho x - (L + rho + 1/(eta K)); x+ <= 1 + rho/L + 2 sqrt(L/(eta K)); alpha - 1/rho > 1/L.",
        [
            Step("Delta, sigma and delta", LINES, "repaired"),
            Step("active and absent", ACTIVE, "repaired"),
            Step("pi", FOURTH, "repaired"),
            Step("combination", COMBINED, "repaired"),
            Step("condition", CONDITION, "repaired"),
            Step("x+ corrected", LARGER_ROOT, "repaired"),
            Step("the recursion", RECURSION, "repaired"),
        ],
        besides=check_recursion,
        faults=[
            Fault("absent clients move as much", "absent clients count as unmoved", {"active": 2}, holds=True),
            Fault("L = 1/2", "x+ as printed", {"of": {"L": "1/2", "rho": "1", "s": "3/4", "q": "5/2"}}, holds=True),
        ],
        assumptions=[
            BELOW_L,
            "Lemmas 5 and 6 (AFEDPD-L5, -L6), by which e[k] is at most what the fourth line's hypothesis says, M[k] = E ||lambda_k^t - hat||",
            "each of the C = c + 1 clients is active with probability P/C, whatever it draws; e[k] is what its move parts on average where it is, so "
            "that a[k] = (P/C) e[k] counts 0 where it is absent",
            "in the recursion r counts the outcomes of all draws, w[r] is the probability of one, of each the lines before it hold, u[r] is what the "
            "active clients' moves part in sum, so that its mean is that of sum a[k]; x is alpha rho >= x+, of which x+ corrected says what holds "
            "supposes, and gamma = 1 + x, beta = 1",
        ],
        repaired="pi^{t+1} and delta^{t+1} count thetabar^{t+1} for absent clients, as Algorithm 1 does for their duals, so that pi^{t+1} is at most "
        "the mean over the active ones; x+ <= 1 + rho/L + 1/sqrt(L eta K).",
        readings=[
            "The bound of x+ is not used later. A later display loses the 2 of 2 gamma eta K G/(CS), and one the sigma^t in its bracket; the "
            "sums have both."
        ],
        replay=replay_root,
    )
]

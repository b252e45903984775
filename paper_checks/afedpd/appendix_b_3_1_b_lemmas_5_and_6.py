"""Appendix B.3.1: Lemmas 5 and 6, how far one round parts two runs, for every K: by lengths, for every draw of samples.

V and M are the lengths of theta^t and of lambda_i^t, each less its hat. In a step of numbers (`common_step` to `step_apart`) V is that of
theta_{i,k}^t - theta^t, and W that of theta^t.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Inside,
    PlayedStates,
    Replay,
    Theorem,
    assume,
    decided,
    dot,
    norm2,
    refute,
)
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.proofs.facts import compare
from paper_checks.afedpd.notation import BELOW_L, allowed_apart, claim, geometric
from paper_checks.afedpd.played import Number, Slope, local_model, replay_twice
from paper_checks.formulas import formula
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- What both lemmas share ------------------------------------------------------------------------------------------
def apart_after(K: Any, W: Any, M: Any, L: Any, rho: Any, eta: Any, G: Any, S: Any) -> Any:
    """Lemmas 5 (S = 0) and 6 before their last inequality: `step_apart`, K times from 0."""
    return geometric(rho - L, eta, K) * allowed_apart(1, 1, L, W, M, G, S)


def play_two_runs(w: World, p: Parameters, last: int, start: bool = False, bounded: bool = True) -> list[Any]:
    """v = (theta_{i,k} - theta^t) - its hat under (13), with one draw a step in both runs; g is the difference of the slopes on a common sample.

    ``bounded``: the lengths of ``server`` and ``dual`` by V and M; else they are any.
    """
    v = w.vector("v") * (0 if start else 1)
    server, dual = w.vector("theta - hat theta"), w.vector("lambda_i - hat lambda_i")
    if bounded:
        w.assume("server", norm2(server) - p.V**2)
        w.assume("duals", norm2(dual) - p.M**2)
    states = []
    for k in range(last + 1):
        g = w.vector(f"g {k}")
        w.assume(f"smooth {k}", norm2(g) - norm2(v + server) * p.L**2)
        states.append(SimpleNamespace(v=v, server=server, dual=dual, g=g))
        v = v * (1 - p.eta * p.rho) - (g + dual) * p.eta
    return states


_OF = {name: name for name in ("eta", "L", "M")}
#: one step from any v, by lengths: sqrt(D[k+1]) and sqrt(F[k])
LENGTHS = """
      d_pos:  0 <= D[k]                                by derivation
      w_pos:  0 <= W[k]                                by derivation
      m_pos:  0 <= N[k]                                by derivation
      e_pos:  0 <= E[k]                                by derivation
      f_pos:  0 <= F[k]                                by derivation
      y_dw:   DW[k] <= s*D[k] + W[k]/s                 by derivation
      y_de:   DE[k] <= s*D[k] + E[k]/s                 by derivation
      y_dm:   DM[k] <= s*D[k] + N[k]/s                 by derivation
      y_em:   EM[k] <= s*E[k] + N[k]/s                 by derivation
      c_dw:   DW[k] <= 2*sqrt(D[k])*sqrt(W[k])         by least s of y_dw
      c_de:   DE[k] <= 2*sqrt(D[k])*sqrt(E[k])         by least s of y_de
      c_dm:   DM[k] <= 2*sqrt(D[k])*sqrt(N[k])         by least s of y_dm
      c_em:   EM[k] <= 2*sqrt(E[k])*sqrt(N[k])         by least s of y_em
      f_is:   F[k] == D[k] + DW[k] + W[k]              by identity
      f_sq:   sqrt(F[k])**2 <= (sqrt(D[k]) + sqrt(W[k]))**2   by combine f_is, 1*c_dw
      f_len:  sqrt(F[k]) <= sqrt(D[k]) + sqrt(W[k])    by root f_sq
      next:   D[k+1] == (1 - eta*rho)**2*D[k] + eta**2*(E[k] + N[k] + EM[k]) + (1 - eta*rho)*eta*(DE[k] + DM[k])   by identity
      n_sq:   sqrt(D[k+1])**2 <= ((1 - eta*rho)*sqrt(D[k]) + eta*sqrt(E[k]) + eta*sqrt(N[k]))**2
                by combine next, eta**2*c_em, ((1 - eta*rho)*eta)*c_de, ((1 - eta*rho)*eta)*c_dm
      n_len:  sqrt(D[k+1]) <= (1 - eta*rho)*sqrt(D[k]) + eta*sqrt(E[k]) + eta*sqrt(N[k])   by root n_sq
"""
_QUANTITIES = {
    "D": "norm2(v)",
    "W": "norm2(server)",
    "N": "norm2(dual)",
    "E": "norm2(g)",
    "F": "norm2(v + server)",
    "DW": "2*dot(v, server)",
    "DE": "-2*dot(v, g)",
    "DM": "-2*dot(v, dual)",
    "EM": "2*dot(g, dual)",
}
#: (L V + M)^2 for the best r, V^2 = W, M^2 = N
_SQUARE = "(L**2*W[{0}] + N[{0}] + L*(r*W[{0}] + N[{0}]/r))".format
#: parts of a step beside k: of the slope, of the dual, and of the whole
_SLOPE, _DUAL, _WHOLE = "(eta*L*k + L/(L + r))", "(r/(L + r))", "(k + 1 - eta*(rho - L)*k)"


def _mean_of(length: str) -> str:
    """Of m + 1 outcomes, with their probabilities p."""
    return f"sum(p[w]*sqrt({length}[w]), w, 0, m)"


SIGN_OF_RHO_L = (
    "Nothing is said of the sign of rho_L = rho - L; below L the last inequality turns round. With rho > L and eta rho <= 1 the printed lemma "
    "is true, and its factor before that inequality does not grow with K. 'k + 1' is read as K, 's' as S; draws are with replacement."
)
OUTCOMES = (
    "In expectation over any m + 1 outcomes of all that is drawn, this round and before, with the probabilities p[w]: D, W and N are the squared "
    "lengths of Delta_i - hat Delta_i, theta^t - hat theta^t and lambda_i^t - hat lambda_i^t."
)
APART_TEXT = (
    "E ||Delta_i - hat Delta_i|| <= eta K L E ||theta^t - hat theta^t|| + eta K E ||lambda_i^t - hat lambda_i^t||{}, "
    "Delta_i = theta_i^{{t+1}} - theta^t."
).format


def replay_local(instance: Mapping[str, Any]) -> Replay:
    """Local training from two models, f(x) = -(L/2) x^2 up to |x| = R and straight beyond; S > 0: one of S samples has -f in the mirror."""
    L, R, rho, eta, theta, hat = (Fraction(instance[name]) for name in ("L", "R", "rho", "eta", "theta", "hat"))
    K, S = int(instance["K"]), int(instance["S"])

    def play(number: Number) -> tuple[Any, Any]:
        smooth, end, weight, step, start, other_start = map(number, (L, R, rho, eta, theta, hat))
        slope: Slope = lambda x: -smooth * min(max(x, -end), end)  # noqa: E731
        other: Slope = lambda x: -slope(x)  # noqa: E731
        apart = number(0)
        for drawn in product((0, 1) if S else (0,), repeat=K):
            chance = number(S - 1) ** (K - sum(drawn)) / number(S) ** K if S else number(1)
            first = local_model([slope] * K, start, number(0), weight, step) - start
            second = local_model([other if j else slope for j in drawn], other_start, number(0), weight, step)
            apart += chance * abs(first - (second - other_start))
        return apart, allowed_apart(step, K, smooth, abs(start - other_start), number(0), smooth * end, S)

    met = (
        assume("f and -f are L-smooth and L R-Lipschitz", "0 < L*R", L=L, R=R),
        assume("rho, eta", "0 < e*r <= 1", e=eta, r=rho),
    )
    what = f"E ||(theta_i^(t+1) - theta^t) - hat|| for K = {K}, rho = {rho} below L = {L}"
    return replay_twice(what, play, met)


def check_apart(ctx: Context, *, of: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[Finding]:
    """Lemmas 5 and 6 below L, and where one step reaches them."""
    yield refute("every rho > 0", replay_local, dict(of), text="Where rho < L, -x^2/2 drives two models apart.")
    seen = replay_local(at)
    yield decided(
        "reached by one step",
        seen.admissible and compare(seen.exact_measured, "==", seen.exact_bound),
        f"{seen.what}: {seen.exact_measured}, which is the bound",
        role="reading",
    )


# ---- Lemma 5, (17) ---------------------------------------------------------------------------------------------------
#: no sample is exchanged
_ALIKE = {"G": 0, "S": 0}
COMMON_SAMPLES = Theorem(
    "0 < L < rho, 0 < eta <= 1/rho, 0 < V, 0 < M",
    (
        f"sqrt(D[k]) <= {formula(partial(apart_after, **_ALIKE), K='k', W='V', rho='rho', **_OF)}",
        f"sqrt(D[k]) <= {formula(partial(allowed_apart, **_ALIKE), K='k', V='V', **_OF)}",
    ),
    LENGTHS
    + """
      w_le:   W[k] <= V**2                             by derivation
      w_sq:   sqrt(W[k])**2 <= V**2                    by combine w_le
      w_len:  sqrt(W[k]) <= V                          by root w_sq
      m_le:   N[k] <= M**2                             by derivation
      m_sq:   sqrt(N[k])**2 <= M**2                    by combine m_le
      m_len:  sqrt(N[k]) <= M                          by root m_sq
      e_le:   E[k] <= L**2*F[k]                        by derivation
      e_sq:   sqrt(E[k])**2 <= (L*sqrt(F[k]))**2       by combine e_le
      e_len:  sqrt(E[k]) <= L*sqrt(F[k])               by root e_sq
      step:   sqrt(D[k+1]) <= (1 - eta*(rho - L))*sqrt(D[k]) + eta*(L*V + M)
                by combine 1*n_len, eta*e_len, (eta*L)*f_len, (eta*L)*w_len, eta*m_len
      zero:   D[0] == 0                                by identity
      begin:  sqrt(D[0])**2 <= 0                       by combine zero
      none:   sqrt(D[0]) <= 0                          by root begin
      one:    claim 1   by induction k: base combine 1*none; step combine 1*step(k=k), (1 - eta*(rho - L))*ih
      two:    claim 2   by induction k: base combine 1*none; step combine 1*step(k=k), (1 - eta*(rho - L))*ih
    """,
    states=PlayedStates(play_two_runs, start=partial(play_two_runs, start=True)),
    rounds={"k": 0},
    auxiliary="0 < s",
    quantities=_QUANTITIES,
    assumed={
        "server": "V is at least ||theta^t - hat theta^t||",
        "duals": "M is at least ||lambda_i^t - hat lambda_i^t||",
        "smooth": "every sample's loss is L-smooth, which Assumption 1 says of f_i",
    },
    added=("L < rho", "eta <= 1/rho"),
)
#: on samples that both have, from any lengths of ``server`` and ``dual``
play_common = partial(play_two_runs, bounded=False)


def play_outcomes(w: World, p: Parameters, last: int) -> list[Any]:
    """One outcome after the other of all that is drawn: where a round begins, and where K local steps end."""
    return [
        SimpleNamespace(**{name: w.vector(f"{name} {k}") for name in ("v", "server", "dual")}) for k in range(last + 1)
    ]


COMMON_SQUARES = Theorem(
    "0 < L < rho, 0 < eta <= 1/rho, 1 <= K, 0 < r",
    f"D[J] <= (eta*K)**2*{_SQUARE('J')}",
    f"""
      w_same: W[k+1] == W[k]                           by identity
      m_same: N[k+1] == N[k]                           by identity
      d_pos:  0 <= D[k]                                by derivation
      w_pos:  0 <= W[k]                                by derivation
      m_pos:  0 <= N[k]                                by derivation
      e_le:   E[k] <= L**2*(D[k] + DW[k] + W[k])       by derivation
      y_dw:   k*eta*(L + r)*DW[k] <= D[k] + (eta*(L + r)*k)**2*W[k]            by derivation
      y_de:   k*eta*{_SLOPE}*DE[k] <= {_SLOPE}**2*D[k] + (k*eta)**2*E[k]       by derivation
      y_dm:   k*eta*(L + r)*r*DM[k] <= r**2*D[k] + (k*eta*(L + r))**2*N[k]     by derivation
      y_em:   {_SLOPE}*r*(L + r)*EM[k] <= r**2*E[k] + ({_SLOPE}*(L + r))**2*N[k]       by derivation
      slope:  k*eta*E[k] <= L*{_SLOPE}*(D[k] + k*eta*(L + r)*W[k])             by combine k*eta*e_le, (L**2/(L + r))*y_dw
      next:   D[k+1] == (1 - eta*rho)**2*D[k] + eta**2*(E[k] + N[k] + EM[k]) + (1 - eta*rho)*eta*(DE[k] + DM[k])   by identity
      step:   k*D[k+1] <= (k + 1)*(D[k] + k*eta**2*{_SQUARE("k")})
                by combine k*next, ((1 - eta*rho)/{_SLOPE})*y_de, ((1 - eta*rho)/(r*(L + r)))*y_dm, (k*eta**2/({_SLOPE}*r*(L + r)))*y_em,
                  (eta*{_WHOLE}/{_SLOPE})*slope, (k + 1 - (1 - eta*(rho - L))*{_WHOLE})*d_pos, (eta*(rho - L)*k**2*eta**2*(L**2 + L*r))*w_pos,
                  (eta*(rho - L)*k**2*eta**2*(1 + L/r))*m_pos
      first:  D[1] <= eta**2*{_SQUARE("1")}            by derivation
      all:    D[J] <= (eta*J)**2*{_SQUARE("J")}
                by induction J: base combine first; step combine (1/J)*step(k=J), ((J + 1)/J)*ih,
                  (-(eta*(J + 1))**2*(L**2 + L*r))*w_same(k=J), (-(eta*(J + 1))**2*(1 + L/r))*m_same(k=J)
      done:   claim   by combine all, (eta**2*(J + K)*{_SQUARE("J")})*steps
    """,
    states=PlayedStates(play_common, start=partial(play_common, start=True)),
    rounds={"k": 0, "J": 1},
    quantities={name: _QUANTITIES[name] for name in ("D", "W", "N", "E", "DW", "DE", "DM", "EM")},
    given={"steps": "J == K"},
    assumed={"smooth": COMMON_SAMPLES.assumed["smooth"]},
    added=("L < rho", "eta <= 1/rho"),
)
#: Lemma 5 with rho > L, in expectation over all that is drawn
LEMMA_FIVE = Theorem(
    "0 < L < rho, 0 < eta <= 1/rho, 1 <= K",
    f"{_mean_of('D')} <= {formula(partial(allowed_apart, **_ALIKE), eta='eta', K='K', L='L', V=_mean_of('W'), M=_mean_of('N'))}",
    """
      d_pos:  0 <= D[w]                                by derivation
      w_pos:  0 <= W[w]                                by derivation
      m_pos:  0 <= N[w]                                by derivation
      any:    (D[w]/(eta*K)**2 - L**2*W[w] - N[w])/L <= r*W[w] + N[w]/r              by combine (1/(L*(eta*K)**2))*path
      best:   (D[w]/(eta*K)**2 - L**2*W[w] - N[w])/L <= 2*sqrt(W[w])*sqrt(N[w])      by least r of any
      whole:  sqrt(D[w])**2 <= (eta*K*(L*sqrt(W[w]) + sqrt(N[w])))**2                by combine (L*(eta*K)**2)*best
      length: sqrt(D[w]) <= eta*K*(L*sqrt(W[w]) + sqrt(N[w]))                        by root whole
      done:   claim   by induction m: base combine p[0]*length(w=0); step combine 1*ih, p[m+1]*length(w=m+1)
    """,
    states=PlayedStates(play_outcomes),
    rounds={"w": 0, "m": 0},
    auxiliary="0 < r",
    sequences={"p": "0..1"},
    quantities={name: COMMON_SQUARES.quantities[name] for name in "DWN"},
    given={"path": f"D[w] <= (eta*K)**2*{_SQUARE('w')}"},
    inside={"path": Inside(COMMON_SQUARES, "J", {name: name for name in ("v", "server", "dual")})},
    added=COMMON_SQUARES.added,
)
APART = {"L": "1", "R": "1", "rho": "1/10", "eta": "1", "K": 2, "S": 0, "theta": "1/8", "hat": "-1/8"}
#: one step, after which the repaired bound is reached
REACHED = APART | {"K": 1}
CLAIMS += [
    claim(
        "AFEDPD-L5",
        "Lemma 5, (17)",
        APART_TEXT(""),
        [Step("K steps, rho > L", COMMON_SAMPLES, "repaired"), Step("in expectation", LEMMA_FIVE, "repaired")],
        besides=partial(check_apart, of=APART, at=REACHED),
        faults=[
            Fault("rho = L", "every rho > 0", {"of": APART | {"rho": "1"}}, holds=True),  # type: ignore[operator]
            Fault("two steps", "reached by one step", {"at": REACHED | {"K": 2}}, sharpness=True),  # type: ignore[operator]
        ],
        assumptions=["client i has no exchanged sample"],
        repaired=f"The same with {BELOW_L}.",
        readings=[SIGN_OF_RHO_L, OUTCOMES],
        replay=replay_local,
    )
]


# ---- Lemma 6, (18) ---------------------------------------------------------------------------------------------------
def common_step(V: Any, Vk: Any, M: Any, L: Any, rho: Any, eta: Any) -> Any:
    """V after a step on a common sample, for Vk = ||theta_{i,k}^t - hat||."""
    return (1 - eta * rho) * V + eta * L * Vk + eta * M


def exchanged_step(V: Any, M: Any, G: Any, rho: Any, eta: Any) -> Any:
    """V after a step on the exchanged sample."""
    return (1 - eta * rho) * V + 2 * eta * G + eta * M


def mixed_step(V: Any, W: Any, M: Any, L: Any, rho: Any, eta: Any, G: Any, S: Any) -> Any:
    """V after a step on one of S samples, of which one was exchanged."""
    return (1 - 1 / S) * common_step(V, V + W, M, L, rho, eta) + exchanged_step(V, M, G, rho, eta) / S


def step_apart(V: Any, W: Any, M: Any, L: Any, rho: Any, eta: Any, G: Any, S: Any) -> Any:
    """What either step is bounded by in the recursion of Lemmas 5 (S = 0) and 6."""
    return (1 - eta * (rho - L)) * V + allowed_apart(eta, 1, L, W, M, G, S)


def play_counts(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """How often draws with replacement from S samples find the exchanged one, as multiples of a vector e."""
    e = w.vector("e")
    states: list[list[tuple[Any, Any]]] = [[(1, SimpleNamespace(e=e, found=e * 0 if start else w.vector("found")))]]
    for _ in range(last):
        more = ((1 - 1 / p.S, 0), (1 / p.S, 1))
        states.append(
            [(a * b, SimpleNamespace(e=e, found=s.found + e * count)) for a, s in states[-1] for b, count in more]
        )
    return states


_IN_A_STEP = {**_OF, "rho": "rho", "V": "X[k]", "W": "V", "G": "G", "S": "S"}
#: n[K] is how often K draws find the exchanged sample on average; and what the paper's recursion has for a step
EXPECTED = Theorem(
    "0 < L < rho, 0 < eta <= 1/rho, 0 < V, 0 < M, 0 < G, 1 <= S",
    ("n[K] == K/S", f"{formula(mixed_step, **_IN_A_STEP)} <= {formula(step_apart, **_IN_A_STEP)}"),
    """
      begin: n[0] == 0       by identity
      draw:  n[k+1] == n[k] + 1/S*E[k]     by identity
      draws: claim 1         by induction K: base combine begin; step combine 1*ih, 1*draw(k=K), (1/S)*unit(k=K)
      mixed: claim 2         by combine
    """,
    states=PlayedStates(play_counts, start=partial(play_counts, start=True)),
    rounds={"k": 0, "K": 0},
    quantities={"n": "dot(found, e)", "E": "norm2(e)"},
    sequences={"X": "0"},
    given={"unit": "E[k] == 1"},
    added=("L < rho", "eta <= 1/rho"),
)


def play_exchanged(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """Two runs of which a step may draw the exchanged sample: ``draw`` is e then, and 0 else; ``count`` is the sum of what was drawn before."""
    (v, count), e = (w.vector(name) * (0 if start else 1) for name in ("v", "count")), w.vector("e")
    server, dual, states = w.vector("server"), w.vector("dual"), list[Any]()
    for k in range(last + 1):
        g, draw = w.vector(f"g {k}"), w.vector(f"draw {k}")
        w.assume(f"slopes {k}", norm2(g) - norm2(v + server) * p.L**2 - dot(draw, e) * (4 * p.G**2))
        states.append(SimpleNamespace(v=v, server=server, dual=dual, g=g, e=e, draw=draw, count=count))
        v, count = v * (1 - p.eta * p.rho) - (g + dual) * p.eta, count + draw
    return states


def play_exchanged_outcomes(w: World, p: Parameters, last: int) -> list[Any]:
    """The same as `play_outcomes`, beside how often the exchanged sample was drawn."""
    e = w.vector("e")
    return [
        SimpleNamespace(**vars(state), e=e, count=w.vector(f"count {k}"))
        for k, state in enumerate(play_outcomes(w, p, last))
    ]


_LAST = "eta*K*L*sqrt(W[J]) + eta*K*sqrt(N[J]) + 2*eta*G*C[J]"
EXCHANGED_LENGTHS = Theorem(
    "0 < L < rho, 0 < eta <= 1/rho, 1 <= K, 0 < G",
    f"sqrt(D[J]) <= {_LAST}",
    LENGTHS
    + """
      w_same: W[k+1] == W[k]                           by identity
      w_sq:   sqrt(W[k])**2 <= sqrt(W[k+1])**2         by combine (-1)*w_same
      w_len:  sqrt(W[k]) <= sqrt(W[k+1])               by root w_sq
      m_same: N[k+1] == N[k]                           by identity
      m_sq:   sqrt(N[k])**2 <= sqrt(N[k+1])**2         by combine (-1)*m_same
      m_len:  sqrt(N[k]) <= sqrt(N[k+1])               by root m_sq
      zero:   D[0] == 0                                by identity
      begin:  sqrt(D[0])**2 <= 0                       by combine zero
      none:   sqrt(D[0]) <= 0                          by root begin
      drawn:  0 <= d[k]                                by combine 1*flag, square(d[k])
      more:   C[k+1] == C[k] + d[k]                    by identity
      first:  C[0] == 0                                by identity
      e_le:   E[k] <= L**2*F[k] + 4*G**2*d[k]          by derivation
      e_sq:   sqrt(E[k])**2 <= (L*sqrt(F[k]) + 2*G*d[k])**2     by combine 1*e_le, (-4*G**2)*flag, (4*L*G*sqrt(F[k]))*drawn
      e_len:  sqrt(E[k]) <= L*sqrt(F[k]) + 2*G*d[k]    by root e_sq
      less:   sqrt(D[k+1]) <= sqrt(D[k]) + eta*(L*sqrt(W[k]) + sqrt(N[k])) + 2*eta*G*d[k]
                by combine 1*n_len, eta*e_len, (eta*L)*f_len
      all:    sqrt(D[k]) <= eta*k*L*sqrt(W[k]) + eta*k*sqrt(N[k]) + 2*eta*G*C[k]
                by induction k: base combine 1*none, (-2*eta*G)*first;
                  step combine 1*less(k=k), 1*ih, (-2*eta*G)*more, (eta*L*(k + 1))*w_len, (eta*(k + 1))*m_len
      done:   claim   by combine 1*all(k=J), (eta*(L*sqrt(W[J]) + sqrt(N[J])))*steps
    """,
    states=PlayedStates(play_exchanged, start=partial(play_exchanged, start=True)),
    rounds={"k": 0, "J": 1},
    auxiliary="0 < s",
    quantities={**_QUANTITIES, "d": "dot(draw, e)", "C": "dot(count, e)"},
    given={"steps": "J == K", "flag": "d[k]**2 == d[k]"},
    assumed={
        "slopes": f"{COMMON_SAMPLES.assumed['smooth']}; on the exchanged sample slopes are at most G long in both runs (Assumption 2). "
        "<draw, e> is 1 where that is drawn, and 0 elsewhere"
    },
    added=("L < rho", "eta <= 1/rho"),
)
#: the square of this, for any r, x and y, of which the best make it so
_WHOLE_SQUARE = (
    f"(eta*K)**2*{_SQUARE('{0}')} + 2*eta**2*K*G*(L*(x*C[{{0}}] + C[{{0}}]*W[{{0}}]/x) + y*C[{{0}}] + C[{{0}}]*N[{{0}}]/y) + (2*eta*G*C[{{0}}])**2"
).format
EXCHANGED_COUNT = replace(
    EXCHANGED_LENGTHS,
    region="0 < L, 0 < rho, 0 < eta, 0 < G",
    claim="0 <= C[J]",
    proof="""
      drawn:  0 <= d[k]                                by combine 1*flag, square(d[k])
      more:   C[k+1] == C[k] + d[k]                    by identity
      first:  C[0] == 0                                by identity
      all:    0 <= C[k]                                by induction k: base combine first; step combine ih, more, drawn
      done:   claim                                    by combine all(k=J)
    """,
    auxiliary="",
    quantities={name: EXCHANGED_LENGTHS.quantities[name] for name in "dC"},
    given={"flag": EXCHANGED_LENGTHS.given["flag"]},
    added=(),
)
EXCHANGED_SQUARES = replace(
    EXCHANGED_LENGTHS,
    region=f"{EXCHANGED_LENGTHS.region}, 0 < s, 0 < r, 0 < x, 0 < y",
    claim=f"D[J] <= {_WHOLE_SQUARE('J')}",
    proof=f"""
      d_pos:  0 <= D[k]                                by derivation
      w_pos:  0 <= W[k]                                by derivation
      m_pos:  0 <= N[k]                                by derivation
      whole:  D[J] <= ({_LAST})**2
                by combine sqrt(D[J])*lengths, (eta*K*L*sqrt(W[J]))*lengths, (eta*K*sqrt(N[J]))*lengths, (2*eta*G*C[J])*lengths
      cross:  2*sqrt(W[J])*sqrt(N[J]) <= r*W[J] + N[J]/r          by combine (1/r)*square(r*sqrt(W[J]) - sqrt(N[J]))
      by_x:   2*sqrt(W[J]) <= x + W[J]/x                          by combine (1/x)*square(x - sqrt(W[J]))
      by_y:   2*sqrt(N[J]) <= y + N[J]/y                          by combine (1/y)*square(y - sqrt(N[J]))
      done:   claim
                by combine 1*whole, ((eta*K)**2*L)*cross, (2*eta**2*K*G*L*C[J])*by_x, (2*eta**2*K*G*C[J])*by_y
    """,
    auxiliary="",
    quantities={name: EXCHANGED_LENGTHS.quantities[name] for name in "DWNCd"},
    rests={"lengths": EXCHANGED_LENGTHS, "count": EXCHANGED_COUNT},
)
_BASE = "eta*K*(L*sqrt(W[w]) + sqrt(N[w]))"
#: Lemma 6 with rho > L, where the exchanged sample is found K/S times in expectation
LEMMA_SIX = replace(
    LEMMA_FIVE,
    region=f"{EXCHANGED_LENGTHS.region}, 1 <= S",
    claim=f"{_mean_of('D')} <= "
    + formula(allowed_apart, eta="eta", K="K", L="L", V=_mean_of("W"), M=_mean_of("N"), G="G", S="S"),
    proof=f"""
      d_pos:  0 <= D[w]                                by derivation
      w_pos:  0 <= W[w]                                by derivation
      m_pos:  0 <= N[w]                                by derivation
      c_w:    sqrt(C[w]*W[w])**2 <= (sqrt(C[w])*sqrt(W[w]))**2                        by combine
      c_n:    sqrt(C[w]*N[w])**2 <= (sqrt(C[w])*sqrt(N[w]))**2                        by combine
      of_w:   sqrt(C[w]*W[w]) <= sqrt(C[w])*sqrt(W[w])                                by root c_w
      of_n:   sqrt(C[w]*N[w]) <= sqrt(C[w])*sqrt(N[w])                                by root c_n
      any:    (D[w] - (eta*K)**2*(L**2*W[w] + N[w]) - 2*eta**2*K*G*(L*(x*C[w] + C[w]*W[w]/x) + y*C[w] + C[w]*N[w]/y) - (2*eta*G*C[w])**2)
                /(L*(eta*K)**2) <= r*W[w] + N[w]/r                                    by combine (1/(L*(eta*K)**2))*path
      best_r: (D[w] - (eta*K)**2*(L**2*W[w] + N[w]) - 2*eta**2*K*G*(L*(x*C[w] + C[w]*W[w]/x) + y*C[w] + C[w]*N[w]/y) - (2*eta*G*C[w])**2)
                /(L*(eta*K)**2) <= 2*sqrt(W[w])*sqrt(N[w])                            by least r of any
      any_x:  (D[w] - ({_BASE})**2 - 2*eta**2*K*G*(y*C[w] + C[w]*N[w]/y) - (2*eta*G*C[w])**2)/(2*eta**2*K*G*L) <= x*C[w] + C[w]*W[w]/x
                by combine (K/(2*G))*best_r
      best_x: (D[w] - ({_BASE})**2 - 2*eta**2*K*G*(y*C[w] + C[w]*N[w]/y) - (2*eta*G*C[w])**2)/(2*eta**2*K*G*L) <= 2*sqrt(C[w])*sqrt(C[w]*W[w])
                by least x of any_x
      any_y:  (D[w] - ({_BASE})**2 - (2*eta*G*C[w])**2)/(2*eta**2*K*G) - 2*L*C[w]*sqrt(W[w]) <= y*C[w] + C[w]*N[w]/y
                by combine L*best_x, (2*L*sqrt(C[w]))*of_w
      best_y: (D[w] - ({_BASE})**2 - (2*eta*G*C[w])**2)/(2*eta**2*K*G) - 2*L*C[w]*sqrt(W[w]) <= 2*sqrt(C[w])*sqrt(C[w]*N[w])
                by least y of any_y
      whole:  sqrt(D[w])**2 <= ({_BASE} + 2*eta*G*C[w])**2     by combine (2*eta**2*K*G)*best_y, (4*eta**2*K*G*sqrt(C[w]))*of_n
      length: sqrt(D[w]) <= {_BASE} + 2*eta*G*C[w]             by root whole
      all:    {_mean_of("D")} <= eta*K*L*{_mean_of("W")} + eta*K*{_mean_of("N")} + 2*eta*G*sum(p[w]*C[w], w, 0, m)
                by induction m: base combine p[0]*length(w=0); step combine 1*ih, p[m+1]*length(w=m+1)
      done:   claim   by combine 1*all, (2*eta*G)*found
    """,
    states=PlayedStates(play_exchanged_outcomes),
    auxiliary="0 < s, 0 < r, 0 < x, 0 < y",
    quantities={name: EXCHANGED_LENGTHS.quantities[name] for name in "DWNC"},
    given={"path": f"D[w] <= {_WHOLE_SQUARE('w')}", "count": "0 <= C[w]", "found": "sum(p[w]*C[w], w, 0, m) <= K/S"},
    inside={
        "path": Inside(EXCHANGED_SQUARES, "J", {name: name for name in ("v", "server", "dual", "e", "count")}),
        "count": Inside(EXCHANGED_COUNT, "J", {name: name for name in ("e", "count")}),
    },
)
APART_SAMPLE = APART | {"S": 100}
REACHED_SAMPLE = APART_SAMPLE | {"K": 1, "theta": "1", "hat": "1"}
CLAIMS += [
    claim(
        "AFEDPD-L6",
        "Lemma 6, (18)",
        APART_TEXT(" + 2 eta K G/S"),
        [Step("in expectation", LEMMA_SIX, "repaired"), Step("draws", EXPECTED, "repaired")],
        besides=partial(check_apart, of=APART_SAMPLE, at=REACHED_SAMPLE),
        faults=[
            Fault("rho = L", "every rho > 0", {"of": APART_SAMPLE | {"rho": "1"}}, holds=True),  # type: ignore[operator]
            Fault("two steps", "reached by one step", {"at": REACHED_SAMPLE | {"K": 2}}, sharpness=True),  # type: ignore[operator]
        ],
        assumptions=[
            "one of S samples was exchanged, all as A1 and A2 say; each step draws one of them uniformly, with replacement, so that K steps find the "
            "exchanged one K/S times in expectation",
            "how often it is found is counted in multiples of a vector e, and n[K] is the expectation of that; X[k] is any length",
        ],
        repaired=f"The same with {BELOW_L}.",
        readings=[SIGN_OF_RHO_L, f"{OUTCOMES} C[w] is how often the exchanged sample is drawn."],
        replay=replay_local,
    )
]

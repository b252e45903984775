"""Appendix A: the steps of Theorem 4's proof, (25) to (55), for every number of local steps and clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Context, PlayedStates, Theorem, assume, lemma, refute, state
from fedtheory.claims.claim import Assumption, Claim, Fault, Finding, Reading, Replay
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, bar, dot, norm2
from paper_checks.safari.biased_pair import in_fractions
from paper_checks.safari.notation import (
    ASSUMED,
    BRACKET_4,
    BY_SERVER_STEP,
    CLIENT_4,
    DRIFT,
    INDEPENDENT,
    MOMENT_4,
    PAPER,
    PULL_4,
    SLOPES_4,
    STEP_FOUR,
    claim,
    of_rounds,
    value,
)
from paper_checks.safari.rounds import (
    ALONG_THE_STEPS,
    LOCAL_STEPS,
    MARTINGALE,
    NOISE_ADDS_UP,
    NOISE_OF,
    OF_ROUNDS,
    OF_STEPS,
    local_work,
)
from paper_checks.steps import Step
from problems.biased_participation import round_down, round_maps

CLAIMS: list[Claim] = []


# ---- (25) to (28) ----------------------------------------------------------------------------------------------------
@lemma("server step", "(25)-(28)", "0 < L, 0 < eta, 0 < s2", c=1)
def server_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(28): ||g||^2 <= (2/eta)(F(x) - E F(x+)) + (L eta - 1) ||g||^2 + c L eta sigma_s^2, x+ = x - eta (g + xi)."""
    f = w.function(p.L, -p.L, client=True, name="F")
    g, drawn = w.vector("g"), w.vector("xi", True)
    xi = drawn - bar(drawn)
    w.assume("noise", norm2(xi) - p.s2)
    x = g * 0
    _, v = w.at(f, x, "F", g=g)
    _, vn = w.at(f, x - (xi + g) * p.eta, "F+")
    return norm2(g) - (v - vn) * (2 / p.eta) - norm2(g) * (p.L * p.eta - 1) - c.c * p.L * p.eta * p.s2


CLAIMS += [
    claim(
        "SAFARI-T4a",
        "Proof of Theorem 4, (25)-(28)",
        "A server round: ||grad F(x_r)||^2 <= (2/eta_s)(F(x_r) - E F(x_{r+1})) + (L eta_s - 1) ||grad F(x_r)||^2 + L eta_s sigma_s^2.",
        [Step("server round", server_step)],
        assumptions=ASSUMED,
        readings=["(26) prints + eta_s for - eta_s inside of the inner product."],
    )
]


# ---- (31) to (36) ----------------------------------------------------------------------------------------------------
def inner_product_below(
    slope: Any, G: Any, drift: Any, eta: Any, K: Any, L: Any, sigma_G2: Any, c: Any = 1, d: Any = 1
) -> Any:
    """Right side of (36), with squared lengths of the gradient at x, of G, and of y - x."""
    return slope * (-K * eta / 2) - G * (eta / (2 * K)) + drift * (d * eta * K * L**2) + c * eta * K * sigma_G2


@lemma("inner product", "(31)-(36)", f"{LOCAL_STEPS}, 0 <= G2", c=1, d=1)
def inner_product_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(36): <g, -eta G> <= -(K eta/2)||g||^2 - (eta/(2K))||G||^2 + c eta K sigma_G^2 + d eta K L^2 mean ||y - x||^2."""
    r = local_work(w, p)
    G = bar(r.gy) * p.K
    allowed = inner_product_below(norm2(r.g), norm2(G), norm2(r.y - r.x), p.eta, p.K, p.L, p.G2, c.c, c.d)
    return allowed * -1 - dot(r.g, G) * p.eta


CLAIMS += [
    claim(
        "SAFARI-T4b",
        "Proof of Theorem 4, (31)-(36)",
        "<grad F, -eta_c E Delta_r> <= -(K eta_c/2) ||grad F||^2 - (eta_c/(2K)) ||G||^2 + eta_c K sigma_G^2 + eta_c K L^2 mean ||x_{r,k}^i "
        "- x_r||^2.",
        [Step("inner product", inner_product_step)],
        assumptions=ASSUMED,
        readings=[
            "mean_i ||x_{r,k}^i - x_r||^2 is written as it is; (41) bounds it",
            "G = (1/m) sum_i sum_k grad F_i(x_{r,k}^i); signs of expectation are left out in print.",
        ],
    )
]


# ---- (40) and (41) ---------------------------------------------------------------------------------------------------
def from_the_model(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """Local steps of length e_k with noise xi from x on: d is how far they went, v = grad F_i(x + d), g = grad F(x)."""
    f = w.function(p.L, -p.L, client=True, name="F_i")
    x, g, d = (w.vector(name, True) for name in ("x", "g", "d"))
    g_i, _ = w.at(f, x, "F_i at x")
    d = d * 0 if begun else d
    states = []
    for k in range(last + 1):
        v, _ = w.at(f, x + d, f"F_i at y {k}")
        xi = w.vector(f"xi {k}", True)
        states.append(SimpleNamespace(x=x, g=g, g_i=g_i, d=d, v=v, xi=xi))
        d = d - (v + xi) * getattr(p, f"e_{k}")
    return states


ADDED = "(8*K*eta_c*(sigma_G2 + S[0]) + eta_c*sigma2)"
GONE = "sum(e[j], j, 0, k)"
#: K steps of length eta_c are one case of steps that are no longer than that, and together no longer than K of them
DRIFT_OF_STEPS = Theorem(
    name="(40)-(41)",
    region="0 < L, 1 <= K, 0 < eta_c <= 1/(8*L*K), 0 <= sigma2, 0 <= sigma_G2",
    states=PlayedStates(from_the_model, start=partial(from_the_model, begun=True)),
    rounds={"k": 0, "j": 0, "n": 0},
    sequences={"e": "0..eta_c"},
    quantities={
        "Y": "mean(norm2(d))",
        "S": "mean(norm2(g))",
        "X": "mean(norm2(g_i - g))",
        "M": "mean(norm2(v))",
        "a": "mean(dot(d, v))",
        "b": "mean(dot(v, xi))",
        "c": "mean(dot(d, xi))",
        "E": "mean(norm2(xi))",
    },
    given={
        "dissimilarity": "X[k] <= sigma_G2",
        "noise": "E[k] <= sigma2",
        "centred": "c[k] == 0",
        "gradient_before": "b[k] == 0",
        "steps": "sum(e[j], j, 0, n) <= K*eta_c",
    },
    claim=f"Y[k] <= {of_rounds(DRIFT, G_3='S[k]')}",
    proof=f"""
  same:    S[k+1] == S[k]                                                     by identity
  fixed:   S[k] == S[0]                                  by induction k: base combine; step combine ih, same
  moved:   Y[k+1] == Y[k] - 2*e[k]*a[k] - 2*e[k]*c[k] + e[k]**2*(M[k] + 2*b[k] + E[k])         by identity
  slopes:  M[k] <= 2*L**2*Y[k] + 4*X[k] + 4*S[k]                              by derivation
  young:   -2*a[k] <= Y[k]/(K*eta_c) + K*eta_c*M[k]                           by derivation
  far:     0 <= Y[k]                                                          by derivation
  size:    0 <= S[k]                                                          by derivation
  grow:    Y[k+1] <= (1 + 17*e[k]/(16*K*eta_c))*Y[k] + e[k]*(8*K*eta_c*(sigma_G2 + S[k]) + eta_c*sigma2)
             by combine moved, e[k]*young, slopes, far, size, noise, dissimilarity, centred, gradient_before
  zero:    Y[0] <= 0                                                          by derivation
  first:   Y[1] <= {ADDED}*(e[0] + 3*e[0]**2/(2*K*eta_c))                     by combine grow(k=0), zero
  all:     Y[k+1] <= {ADDED}*({GONE} + 3*{GONE}**2/(2*K*eta_c))
             by induction k: base combine first; step combine (1 + 17*e[k+1]/(16*K*eta_c))*ih, 1*grow(k=k+1), (8*K*eta_c*e[k+1])*fixed(k=k+1),
               (51*e[k+1]*{ADDED}*{GONE}/(32*(K*eta_c)**2))*steps(n=k)
  last:    Y[k+1] <= {ADDED}*(5/2)*K*eta_c
             by combine 1*all, ({ADDED}*(1 + 3*({GONE} + K*eta_c)/(2*K*eta_c)))*steps(n=k)
  done:    claim
             by induction k: base combine 1*zero, (30*K**2*eta_c**2)*size(k=0); step combine 1*last, (-30*K**2*eta_c**2)*fixed(k=k+1),
               (10*K**2*eta_c**2)*size(k=0)
""",
)
CLAIMS += [
    claim(
        "SAFARI-T4c",
        "(40)-(41), also used for Theorem 5",
        "E ||x_{r,k}^i - x_r||^2 <= 5 K eta_c^2 (sigma^2 + 6 K sigma_G^2) + 30 K^2 eta_c^2 ||grad F(x_r)||^2 for k <= K, eta_c <= 1/(8LK).",
        [Step("(41)", DRIFT_OF_STEPS)],
        assumptions=ASSUMED,
        readings=[
            "Quoted by the paper. The constants are far from the best ones: 30 could be about 2.3. Shown for local steps e_0, e_1, ... of any length "
            "up to eta_c that are together at most K eta_c: K steps of eta_c, and none after, are one case."
        ],
    )
]


# ---- (42) to (44) ----------------------------------------------------------------------------------------------------
def add_up(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """The sums s of gradients and n of their noise so far, the next gradient v and its noise xi; begun at 0."""
    state = SimpleNamespace(**{name: w.vector(name, True) for name in ("s", "n", "v", "xi")})
    if begun:
        state.s, state.n = state.s * 0, state.n * 0
    states = [state]
    for k in range(last):
        before, state = state, SimpleNamespace(**{name: w.vector(f"{name}{k + 1}", True) for name in ("v", "xi")})
        state.s, state.n = before.s + before.v, before.n + before.xi
        states.append(state)
    return states


SPLIT_NOISE = Theorem(
    name="(42)-(44)",
    region="0 < L, 0 < eta_c, 1 <= m, 0 <= sigma2",
    states=PlayedStates(add_up, start=partial(add_up, begun=True)),
    rounds={"k": 0, "K": 0},
    quantities={"G": "mean(norm2(s))", **NOISE_OF, "P": "mean(norm2(s + n))"},
    given={**MARTINGALE, "size": "d[k] <= sigma2/m"},
    claim=f"L*eta_c**2/2*P[K] <= {of_rounds(MOMENT_4, G='G[K]')}",
    proof=NOISE_ADDS_UP.replace("SIZE", "sigma2/m")
    + """
  young: P[k] <= 2*G[k] + 2*b[k]     by derivation
  done:  claim                       by combine (L*eta_c**2/2)*young(k=K), (L*eta_c**2)*noisy(k=K)
""",
)
CLAIMS += [
    claim(
        "SAFARI-T4d",
        "(42)-(44)",
        "(L/2) eta_c^2 E ||Delta_r||^2 <= L eta_c^2 E ||G||^2 + (L eta_c^2 K/m) sigma^2.",
        [Step("(44)", SPLIT_NOISE)],
        assumptions=[*ASSUMED, INDEPENDENT],
    )
]


# ---- (45) to (50) ----------------------------------------------------------------------------------------------------
def client_round(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """Local steps from x on; ``away``: how far y is from x, ``x_next``: the model if the round ends. Begun with empty sums."""
    F, F_i = (w.function(p.L, -p.L, client=True, name=name) for name in ("F", "F_i"))
    x, s, n, s_bar, n_bar = (w.vector(name, True) for name in ("x", "s", "n", "s_bar", "n_bar"))
    if begun:
        s, n, s_bar, n_bar = (x * 0,) * 4
    g, _ = w.at(F, x, "F at x")
    g_i, _ = w.at(F_i, x, "F_i at x")
    eta_c = p.eta_s * 2 / p.K
    states = []
    for k in range(last + 1):
        away = (s + n) * eta_c
        v, _ = w.at(F_i, x - away, f"F_i at y {k}")
        xi, v_bar, xi_bar = (w.vector(f"{name} {k}", True) for name in ("xi", "v_bar", "xi_bar"))
        sums = {"s": s, "n": n, "s_bar": s_bar, "n_bar": n_bar, "x_next": x - (s_bar + n_bar) * eta_c}
        states.append(SimpleNamespace(x=x, g=g, g_i=g_i, away=away, v=v, xi=xi, v_bar=v_bar, xi_bar=xi_bar, **sums))
        s, n, s_bar, n_bar = s + v, n + xi, s_bar + v_bar, n_bar + xi_bar
    return states


CLIENT_ROUND_4 = Theorem(
    name="(45)-(50)",
    region="0 < L, 0 < eta_s <= 1/(22*L), 1 <= K, 1 <= m, 0 <= sigma2, 0 <= sigma_G2",
    states=PlayedStates(client_round, start=partial(client_round, begun=True)),
    rounds={"k": 0, "j": 0, "E": 1},
    where=BY_SERVER_STEP,
    quantities={
        **OF_STEPS,
        "V": "mean(F(x))",
        "A": "mean(F(x_next))",
        "C": "mean(dot(s_bar, g))",
        "I": "mean(dot(v, g))",
        "J": "mean(dot(v_bar, g))",
        "H": "mean(dot(n_bar, g))",
        "h": "mean(dot(xi_bar, g))",
        "e": "mean(norm2(n_bar))",
        "f": "mean(dot(n_bar, xi_bar))",
        "o": "mean(norm2(xi_bar))",
    },
    given={
        **OF_ROUNDS,
        "size_bar": "o[k] <= sigma2/m",
        "centred_bar": "f[k] == 0",
        "centred_slope": "h[k] == 0",
        "average_slope": "J[k] == I[k]",
    },
    claim=f"S[E] <= {of_rounds(CLIENT_4, change='(V[E] - A[E])', G='N[E]')}",
    proof=ALONG_THE_STEPS
    + """
  clean_bar:  e[0] == 0                                                  by identity
  added_bar:  e[k+1] == e[k] + 2*f[k] + o[k]                             by identity
  noise:      e[k] <= k*sigma2/m
             by induction k: base combine clean_bar; step combine ih, added_bar, centred_bar, size_bar
  no_push:    H[0] == 0                                                  by identity
  pushed:     H[k+1] == H[k] + h[k]                                      by identity
  flat:       H[k] == 0
             by induction k: base combine no_push; step combine ih, pushed, centred_slope
  inner:      -2*I[k] <= 2*X[k] + 2*L**2*Y[k] - S[k] - M[k]              by derivation
  no_pull:    C[0] == 0                                                  by identity
  pulled:     C[k+1] == C[k] + J[k]                                      by identity
  pull:       -2*C[E] <= E*(2*sigma_G2 - S[0]) + 2*L**2*sum(Y[j], j, 0, E-1) - sum(M[j], j, 0, E-1)
             by induction E: base combine (-2)*no_pull, (-2)*pulled(k=0), (-2)*average_slope(k=0), inner(k=0), 2*dissimilarity(k=0);
               step combine ih, (-2)*pulled(k=E), (-2)*average_slope(k=E), inner(k=E), 2*dissimilarity(k=E), (-1)*fixed(k=E)
  descent:    A[k] <= V[k] - eta_c*C[k] - eta_c*H[k] + L*eta_c**2*(N[k] + e[k]) by derivation
  done:       claim
             by combine (2/eta_s)*descent(k=E), (2/K)*pull, (-4/K)*flat(k=E), fixed(k=E), (8*L*eta_s/K**2)*noise(k=E),
               (2/K**2)*whole(k=E-1), ALPHA*near, (4*eta_s**2*ALPHA)*slope, (1 - 16*K*eta_s**2*ALPHA)*large(k=0),
               (2/K**2*sum(M[j], j, 0, E-1) + 4*eta_s**2*ALPHA*(4*sigma_G2 + 4*S[0]) + 2/K*(2*sigma_G2 - S[0]) + 8*L*eta_s/K**2*sigma2/m)*steps
""".replace("ALPHA", "(4*L**2/(K*(1 - 8*L**2*eta_s**2)))"),
)
CLAIMS += [
    claim(
        "SAFARI-T4e",
        "(45)-(50)",
        "A client round with eta_c = 2 eta_s/K: ||grad F(x_r)||^2 <= (2/eta_s)(F(x_r) - E F(x_{r+1})) + 4 sigma_G^2 + (8 L eta_s/K^2 - 2/K^2) "
        "||G||^2 + (80 L^2 eta_s^2/K)(sigma^2 + 6 K sigma_G^2) + (8 L eta_s/(mK)) sigma^2.",
        [Step("(50)", CLIENT_ROUND_4)],
        assumptions=[*ASSUMED, INDEPENDENT],
        readings=[
            "The factor 1/4 needs eta_c <= 1/(2 sqrt(30) L K) only; the printed condition gives 7/16. Shown for eta_c <= 1/(11 L K), which is wider.",
            "k counts local steps, E = K of them are a round. v_bar, s_bar and n_bar are averages over the clients of what has these names for each.",
        ],
    )
]

# ---- (51) to (55) ----------------------------------------------------------------------------------------------------
ALTERNATING = {"eta_s": "1/50", "x0": "12/5", "rounds": 400}


def replay_54(instance: Mapping[str, Any]) -> Replay:
    """4 R_c sigma_G^2 against the right side of (54) on the path that alternates, a server round first, K = 1."""
    i = in_fractions(instance)
    h = i["eta_s"]
    sides: list[tuple[Any, Any]] = []
    assumptions: tuple[Assumption, ...] = ()
    for number in (float, Fraction):
        step = number(h)
        s, w, b = round_maps(2 * step, step, 1)
        x, right, largest = number(i["x0"]), number(0), [number(0), number(0)]
        for r in range(i["rounds"]):
            client = r % 2
            slope = (x - client) ** 2
            largest[client] = max(largest[client], slope)
            place = {"L": 1, "K": 1, "eta_s": step, "q": client, "slope": slope, "G": slope}
            right -= value(SLOPES_4, place)
            x = w * x + b if client else s * x
            x = round_down(x) if isinstance(x, Fraction) else x
        half = {"L": 1, "K": 1, "eta_s": step, "q": number(1) / 2, "sigma_G2": 1, "slope": largest[0], "G": largest[1]}
        sides.append((i["rounds"] * value(PULL_4, half), right))
        if number is Fraction:
            assumptions = (
                assume("step condition, squared", "480*(2*h)**2 <= 1", h=h),
                assume("(55) is at least 4 R_c sigma_G^2, R_c = R_s, over R", f"{PULL_4} <= -({SLOPES_4})", **half),
            )
    (left, right), (_, rounded) = sides
    exact = rounded + Fraction(1, 1 << 60)  # x is off by at most rounds/2^100, and each of the slopes by six times that
    return Replay(
        f"4 R_c sigma_G^2 against the right side of (54), {i['rounds']} rounds in turn",
        float(left),
        float(right),
        Fraction(left),
        exact,
        "fractions, the path rounded to 2^-100 and what that may change added",
        assumptions,
    )


def check_t4f(ctx: Context, *, instance: Mapping[str, Any] = ALTERNATING) -> Iterator[Finding]:
    """The condition imposed on (55) does not give (54)."""
    yield refute(
        "the condition on (55) gives (54)", replay_54, dict(instance), text="x settles where both slopes are small."
    )
    yield Reading(
        "(55) bounds the right side of (54) from above; a condition that it be large says nothing of (54). A minimum in the place of each "
        "maximum would, but see SAFARI-X4."
    )


#: of server and client rounds, one after the other: slopes that are at least G_1 and G_2
LEAST_SLOPES = Theorem(
    name="(54) by the least slopes",
    region="0 < u, 0 < v, 0 <= G_1, 0 <= G_2",
    rounds={"R_s": 1, "R_c": 1, "r": 0},
    sequences={"S": "G_1", "N": "G_2"},
    claim="u*R_s*G_1 + v*R_c*G_2 <= u*sum(S[r], r, 0, R_s-1) + v*sum(N[r], r, 0, R_c-1)",
    proof="""
      server:  R_s*G_1 <= sum(S[r], r, 0, R_s-1)     by induction R_s: base combine; step combine 1*ih
      clients: R_c*G_2 <= sum(N[r], r, 0, R_c-1)     by induction R_c: base combine; step combine 1*ih
      done:    claim                                 by combine u*server, v*clients
    """,
)
CLAIMS += [
    claim(
        "SAFARI-T4f",
        "(51)-(55)",
        "With G_1, G_2 the largest slopes of server and client rounds, R_s (1 - L eta_s) G_1 + R_c (2/K^2 - 8 L eta_s/K^2) G_2 >= 4 R_c sigma_G^2 "
        "gives (54), the same with sums of the slopes.",
        [Step("with the least slopes", LEAST_SLOPES, "repaired")],
        besides=check_t4f,
        faults=(
            Fault(
                "two rounds, where (54) holds",
                "the condition on (55) gives (54)",
                {"instance": ALTERNATING | {"rounds": 2}},
                holds=True,
            ),
        ),
        assumptions=(*ASSUMED, STEP_FOUR),
        readings=(
            "u = 1 - L eta_s and v = 2/K^2 - 8 L eta_s/K^2. The left side of the corrected statement is (55) with the least slopes, and the right "
            "side that of (54): where the former is at least 4 R_c sigma_G^2 the latter is.",
        ),
        repaired="With the least slopes for the largest.",
        replay=replay_54,
    )
]


# ---- The condition on q ----------------------------------------------------------------------------------------------
def undivided(power: int) -> Theorem:
    """Theorem 4's condition on q, undivided, is that (55) be at least 4 q sigma_G^2; ``power``: of eta_s in it."""
    right = "(1 - L*eta_s)*(1 - q)*G_1 + (2/K**2 - 8*L*eta_s/K**2)*q*G_2"  # of (55), of both kinds of rounds together
    return Theorem(
        name="the condition on q",
        region="0 < L, 0 < eta_s <= 1/(4*L), 1 <= K, 0 <= q <= 1, 0 <= G_1, 0 <= G_2, 0 <= sigma_G2",
        claim=f"q*({BRACKET_4.format(power=power)}) - (1 - q)*(1 - L*eta_s)*G_1 == 4*q*sigma_G2 - ({right})",
        proof="done: claim by combine",
    )


CLAIMS += [
    state(
        "SAFARI-T4g",
        PAPER,
        "Theorem 4, last line of its proof, and A.1",
        "The condition on q, with 2 L eta_s^2/K^2 in its bracket, is that (55) be at least 4 R_c sigma_G^2 for R_c = qR, R_s = (1-q)R.",
        undivided(2),
        kind="proof step",
        repaired=undivided(1),
        repaired_text="With 2 L eta_s/K^2 in the bracket, and undivided: to solve for q the bracket has to be positive.",
    )
]

"""Appendix A.1: the steps of Theorem 5's proof, (56) to (85), which the paper prints there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Claim, PlayedStates, Theorem, lemma, state
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, bar, dot, norm2
from paper_checks.safari.notation import (
    ASSUMED,
    BY_ETABAR,
    CLIENT_DISTANCE,
    CONVEX,
    CORRECTED_5,
    DELTABAR,
    INDEPENDENT,
    MIXED_5,
    MIXED_BY_ETABAR,
    NOISE_5,
    PAPER,
    PRINTED_5,
    claim,
    of_rounds,
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

CLAIMS: list[Claim] = []


# ---- (56) to (58) ----------------------------------------------------------------------------------------------------
@lemma("server step", "(56)-(58)", "0 < mu < L, 0 < eta, 0 <= s2", c=1)
def server_distance(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(58): E||x+ - x*||^2 <= (1 - 2 c eta L mu/(L+mu))||x - x*||^2 + eta (eta - 2/(L+mu))||g||^2 + eta^2 sigma_s^2; x* = 0."""
    f = w.function(p.L, p.mu, name="F")
    x, drawn = w.vector("x"), w.vector("xi", True)
    xi = drawn - bar(drawn)
    w.assume("noise", norm2(xi) - p.s2)
    w.at(f, x * 0, "F*", g=x * 0)
    g, _ = w.at(f, x, "F")
    shrunk = norm2(x) * (1 - 2 * c.c * p.eta * p.L * p.mu / (p.L + p.mu))
    allowed = shrunk + norm2(g) * (p.eta * (p.eta - 2 / (p.L + p.mu))) + p.eta**2 * p.s2
    return norm2(x - (xi + g) * p.eta) - allowed


CLAIMS += [
    claim(
        "SAFARI-T5a",
        "Proof of Theorem 5, (56)-(58)",
        "A server round: E ||x_{r+1} - x*||^2 <= (1 - 2 eta_s L mu/(L+mu)) ||x_r - x*||^2 + eta_s (eta_s - 2/(L+mu)) ||grad F(x_r)||^2 "
        "+ eta_s^2 sigma_s^2.",
        [Step("server round", server_distance)],
        assumptions=CONVEX,
        readings=["mu < L; for mu = L the inequality is the limit of it."],
    )
]


# ---- (60) and (61) ---------------------------------------------------------------------------------------------------
def step_beside(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """Sums s and n where v = grad F_i(x), x = x_0 - eta_c (s + n), beside steps without noise: u = grad F_i(z), z = x_0 - eta_c t, t their sum.

    ``s_bar``, ``n_bar``: the averages of s and n over the clients.
    """
    f, x_0 = w.function(p.L, 0, client=True, name="F_i"), w.vector("x_0", True)
    state = SimpleNamespace(x_0=x_0, **{name: w.vector(name, True) for name in ("s", "n", "t")})
    if begun:
        state.s, state.n, state.t = x_0 * 0, x_0 * 0, x_0 * 0
    states = []
    for k in range(last + 1):
        state.v, _ = w.at(f, x_0 - (state.s + state.n) * p.eta_c, f"F_i at x {k}")
        state.u, _ = w.at(f, x_0 - state.t * p.eta_c, f"F_i at z {k}")
        state.xi, state.s_bar, state.n_bar = (w.vector(f"{name} {k}", True) for name in ("xi", "s_bar", "n_bar"))
        states.append(state)
        state = SimpleNamespace(x_0=x_0, s=state.s + state.v, n=state.n + state.xi, t=state.t + state.u)
    return states


#: how far sums are from those of steps without noise; sums of clients, and what is known of them
UNCORRELATED_OF = {
    "N": "mean(norm2(s_bar))",
    "ab": "mean(dot(s_bar, n_bar))",
    "bb": "mean(norm2(n_bar))",
    "P": "mean(norm2(s_bar + n_bar))",
    "sn": "mean(dot(s, n))",
    "e": "mean(dot(s, xi))",
    "f": "mean(dot(v, xi))",
    "o": "mean(dot(u, n))",
    "Z": "mean(norm2(s - t))",
    "O": "mean(dot(v - u, 2*(s + n - t) + v - u))",
}
UNCORRELATED_GIVEN = {
    "sum_before": "e[k] == 0",
    "gradient_before": "f[k] == 0",
    "not_drawn": "o[k] == 0",
    "clients_apart": "ab[k] == sn[k]/m",
    "noise_apart": "bb[k] == b[k]/m",
}
STAYS_UNCORRELATED = """
  begin:   2*sn[0] + Z[0] == 0                                           by identity
  changed: 2*sn[k+1] + Z[k+1] == 2*sn[k] + Z[k] + 2*e[k] + 2*f[k] + 2*o[k] + O[k]  by identity
  falls:   O[k] <= 0                                                     by derivation
  below:   2*sn[k] + Z[k] <= 0
             by induction k: base combine begin; step combine ih, changed, falls, sum_before, gradient_before, not_drawn
  apart:   0 <= Z[k]                                                     by derivation
  parts:   P[k] == N[k] + 2*ab[k] + bb[k]                                by identity
  moment:  P[k] <= N[k] + k*sigma2/m
             by combine parts, clients_apart, noise_apart, (1/m)*below, (1/m)*apart, (1/m)*noisy
"""
UNCORRELATED = Theorem(
    name="(60)-(61)",
    region="0 < L, 0 < eta_c <= 2/L, 1 <= m, 0 <= sigma2",
    states=PlayedStates(step_beside, start=partial(step_beside, begun=True)),
    rounds={"k": 0, "K": 0},
    quantities={**NOISE_OF, **UNCORRELATED_OF},
    given={**MARTINGALE, "size": "d[k] <= sigma2", **UNCORRELATED_GIVEN},
    claim=f"P[K] <= N[K] + {NOISE_5}",
    proof=NOISE_ADDS_UP.replace("SIZE", "sigma2")
    + STAYS_UNCORRELATED
    + """
  done:    claim                                                         by combine moment(k=K)
""",
)
CLAIMS += [
    claim(
        "SAFARI-T5b",
        "(60)-(61)",
        "E ||(1/m) sum_i sum_k g_i||^2 <= E ||(1/m) sum_i sum_k grad F_i(x_{r,k}^i)||^2 + K sigma^2/m.",
        [Step("(61)", UNCORRELATED)],
        assumptions=[*CONVEX, "eta_c <= 2/L", INDEPENDENT],
        readings=[
            "The paper gives no reason for the coefficient 1 (gradients depend on earlier noise; (43) pays a factor 2 for this). It is "
            "right for convex F_i, also where the noise depends on the state."
        ],
    )
]


# ---- (63) ------------------------------------------------------------------------------------------------------------
def perturbed_below(f_z: Any, f_y: Any, zy2: Any, zx2: Any, mu: Any, L: Any, c: Any = "1/4") -> Any:
    """Right side of (63), with squared distances of z to y and to x."""
    return f_z - f_y + zy2 * (c * mu) - zx2 * L


@lemma("perturbed strong convexity", "(63)", "0 < mu < L", c="1/4")
def perturbed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(63): <grad f(x), z - y> >= f(z) - f(y) + c mu ||z - y||^2 - L ||z - x||^2."""
    f = w.function(p.L, p.mu)
    x, y, z = w.vector("x"), w.vector("y"), w.vector("z")
    g, _ = w.at(f, x, "f(x)")
    _, vy = w.at(f, y, "f(y)")
    _, vz = w.at(f, z, "f(z)")
    return perturbed_below(vz, vy, norm2(z - y), norm2(z - x), p.mu, p.L, c.c) - dot(g, z - y)


CLAIMS += [
    claim(
        "SAFARI-T5c",
        "(63)",
        "<grad f(x), z - y> >= f(z) - f(y) + (mu/4) ||z - y||^2 - L ||z - x||^2 for mu-strongly convex, L-smooth f.",
        [Step("three points", perturbed)],
    )
]


# ---- (67) to (70) ----------------------------------------------------------------------------------------------------
def moment_below(drift: Any, slope: Any, K: Any, L: Any, sigma_G2: Any, c: Any = 4) -> Any:
    """Right side of (70), with squared lengths of y - x and of the gradient at x."""
    return drift * (2 * K**2 * L**2) + 4 * K**2 * sigma_G2 + slope * (c * K**2)


@lemma("second moment", "(67)-(70)", f"{LOCAL_STEPS}, 0 <= G2", c=4)
def moment_of_gradients(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(70): ||G||^2 <= 2 K^2 L^2 mean ||y - x||^2 + 4 K^2 sigma_G^2 + c K^2 ||g||^2."""
    r = local_work(w, p)
    return norm2(bar(r.gy) * p.K) - moment_below(norm2(r.y - r.x), norm2(r.g), p.K, p.L, p.G2, c.c)


CLAIMS += [
    claim(
        "SAFARI-T5d",
        "(67)-(70)",
        "E ||(1/m) sum_i sum_k grad F_i(x_{r,k}^i)||^2 <= (2 K L^2/m) sum_i sum_k E ||x_{r,k}^i - x_r||^2 + 4 K^2 sigma_G^2 + 4 K^2 ||grad "
        "F(x_r)||^2.",
        [Step("second moment", moment_of_gradients)],
        assumptions=ASSUMED,
    )
]


# ---- (72) to (77) ----------------------------------------------------------------------------------------------------
def convex_round(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """The same of strongly convex functions, x* = 0; u = grad F_i(x - eta_c t) without noise, t their sum, ``over`` = F_i(x) - F_i(x*)."""
    F, F_i = (w.function(p.L, p.mu, client=True, name=name) for name in ("F", "F_i"))
    x, s, n, t, s_bar, n_bar = (w.vector(name, True) for name in ("x", "s", "n", "t", "s_bar", "n_bar"))
    if begun:
        s, n, t, s_bar, n_bar = (x * 0,) * 5
    g, _ = w.at(F, x, "F at x")
    w.at(F, x * 0, "F at the minimiser", g=x * 0)
    g_i, here = w.at(F_i, x, "F_i at x")
    _, least = w.at(F_i, x * 0, "F_i at the minimiser")
    states = []
    for k in range(last + 1):
        away = (s + n) * p.eta_c
        v, _ = w.at(F_i, x - away, f"F_i at y {k}")
        u, _ = w.at(F_i, x - t * p.eta_c, f"F_i at z {k}")
        xi, v_bar, xi_bar = (w.vector(f"{name} {k}", True) for name in ("xi", "v_bar", "xi_bar"))
        sums = {"s": s, "n": n, "t": t, "s_bar": s_bar, "n_bar": n_bar, "x_next": x - (s_bar + n_bar) * p.eta_c}
        now = {"away": away, "v": v, "u": u, "xi": xi, "v_bar": v_bar, "xi_bar": xi_bar}
        states.append(SimpleNamespace(x=x, g=g, g_i=g_i, over=here - least, **sums, **now))
        s, n, t, s_bar, n_bar = s + v, n + xi, t + u, s_bar + v_bar, n_bar + xi_bar
    return states


CLIENT_ROUND_5 = Theorem(
    name="(72)-(77)",
    region="0 < mu < L, 1 <= K, 0 < eta_c <= 1/(8*L*K), 1 <= m, 0 <= sigma2, 0 <= sigma_G2",
    states=PlayedStates(convex_round, start=partial(convex_round, begun=True)),
    rounds={"k": 0, "j": 0, "E": 1},
    quantities={
        **OF_STEPS,
        **UNCORRELATED_OF,
        "D": "mean(norm2(x))",
        "H": "over",
        "A": "mean(norm2(x_next))",
        "C": "mean(dot(s_bar, x))",
        "I": "mean(dot(v, x))",
        "J": "mean(dot(v_bar, x))",
        "T": "mean(dot(n_bar, x))",
        "h": "mean(dot(xi_bar, x))",
    },
    given={**OF_ROUNDS, **UNCORRELATED_GIVEN, "centred_x": "h[k] == 0", "average_x": "J[k] == I[k]"},
    claim=f"A[E] <= {of_rounds(CLIENT_DISTANCE, dist='D[E]', G_3='S[E]', G_4='H[E]')}",
    proof=ALONG_THE_STEPS
    + STAYS_UNCORRELATED
    + """
  dist:       D[k+1] == D[k]                                             by identity
  still:      D[k] == D[0]                                               by induction k: base combine; step combine ih, dist
  excess:     H[k+1] == H[k]                                             by identity
  stays:      H[k] == H[0]                                               by induction k: base combine; step combine ih, excess
  no_push:    T[0] == 0                                                  by identity
  pushed:     T[k+1] == T[k] + h[k]                                      by identity
  flat:       T[k] == 0
             by induction k: base combine no_push; step combine ih, pushed, centred_x
  strong:     -I[k] <= -H[k] - mu/4*D[k] + L*Y[k]                        by derivation
  no_pull:    C[0] == 0                                                  by identity
  pulled:     C[k+1] == C[k] + J[k]                                      by identity
  pull:       -C[E] <= -E*(H[0] + mu/4*D[0]) + L*sum(Y[j], j, 0, E-1)
             by induction E: base combine (-1)*no_pull, (-1)*pulled(k=0), (-1)*average_x(k=0), strong(k=0);
               step combine ih, (-1)*pulled(k=E), (-1)*average_x(k=E), strong(k=E), (-1)*stays(k=E), (-mu/4)*still(k=E)
  moved:      A[k] == D[k] - 2*eta_c*C[k] - 2*eta_c*T[k] + eta_c**2*P[k] by identity
  done:       claim
             by combine 1*moved(k=E), (2*eta_c*K*mu/4)*still(k=E), (2*eta_c*K)*stays(k=E), SLOPE*fixed(k=E), (2*eta_c)*pull,
               (-2*eta_c)*flat(k=E), eta_c**2*moment(k=E), eta_c**2*whole(k=E-1),
               ALPHA*near, BETA*slope, (4*K*(eta_c**2*K*(1 + 15*K*eta_c*L*(1 + K*eta_c*L)) - BETA))*large(k=0),
               (eta_c**2*sum(M[j], j, 0, E-1) + BETA*(4*sigma_G2 + 4*S[0]) - 2*eta_c*(H[0] + mu/4*D[0]) + eta_c**2*sigma2/m)*steps
""".replace("BETA", "(K*eta_c**2*(1 + K*ALPHA))")
    .replace("ALPHA", "(2*eta_c*L*(1 + K*eta_c*L)/(1 - 2*(K*eta_c*L)**2))")
    .replace("SLOPE", "(-4*eta_c**2*K**2*(1 + 15*eta_c*K*L*(1 + eta_c*K*L)))"),
)
CLAIMS += [
    claim(
        "SAFARI-T5e",
        "(72)-(77)",
        "A client round: E ||x_{r+1} - x*||^2 <= (1 - eta_c K mu/2) ||x_r - x*||^2 + 4 eta_c^2 K^2 sigma_G^2 + 4 eta_c^2 K^2 [1 + 15 eta_c K L (1 + "
        "eta_c K L)] ||grad F||^2 + (K eta_c^2/m) sigma^2 - (2 eta_c K/m) sum_i [F_i(x_r) - F_i(x*)] + 2 eta_c K L (1 + K eta_c L) 5 K eta_c^2 "
        "(sigma^2 + 6 K sigma_G^2).",
        [Step("(77)", CLIENT_ROUND_5)],
        assumptions=[*CONVEX, INDEPENDENT, "eta_c <= 1/(8LK)"],
        readings=[
            "Theorem 5 does not ask for eta_c <= 1/(8LK), which (41) needs; by etabar this is etabar <= mu/(16 L). mu < L, as in SAFARI-T5a.",
            "k counts local steps, E = K of them are a round; u are gradients without noise, t their sum. x* = 0, over is F_i(x_r) - F_i(x*).",
        ],
    )
]

# ---- (78) to (83) ----------------------------------------------------------------------------------------------------
ANY_SIZES = "0 < mu <= L, 0 < etabar < 1, 0 <= q <= 1, 1 <= K, 1 <= m, 0 <= sigma2, 0 <= sigma_s2, 0 <= sigma_G2"


def is_mixture(constants: Mapping[str, str]) -> Theorem:
    """(78)-(80), the mixture of the one-step bounds, is (81)-(82) with these constants; G_4 is a difference, and may be negative."""
    return Theorem(
        name="(78)-(82)",
        region=f"{ANY_SIZES}, 0 <= dist, 0 <= G_3, 0 <= here, 0 <= there",
        where={**BY_ETABAR, "G_4": "here - there"},
        claim=f"{MIXED_5} == {MIXED_BY_ETABAR.format(**constants)}",
        proof="done: claim by combine",
    )


CLAIMS += [
    state(
        "SAFARI-T5f",
        PAPER,
        "(78)-(83)",
        "(78) to (80), the mixture of the one-step bounds, is (81) and (82), where the clients' slope has the coefficient 4 q etabar/mu^2 (...), and "
        "what is beside it is not positive under the condition on q after (83), where the server's has 1/(L + mu) - (L + mu)^2 etabar/(4 L^2 mu^2).",
        is_mixture(PRINTED_5),
        kind="proof step",
        repaired=is_mixture(CORRECTED_5),
        repaired_text="16 q etabar/mu^2 and (1-q)/(L mu).",
    )
]

# ---- (84) and (85) ---------------------------------------------------------------------------------------------------
#: what a round adds to (1 - etabar) times the squared distance, without slopes: delta in (84)
ADDED_5 = of_rounds(MIXED_5, dist="0", G_3="0", G_4="0")
GEOMETRIC = Theorem(
    name="(84)-(85)",
    region=ANY_SIZES,
    where=BY_ETABAR,
    rounds={"j": 0, "R": 0},
    claim=(
        f"sum((1 - etabar)**j, j, 0, R-1)*({ADDED_5}) == (1 - (1 - etabar)**R)*({DELTABAR})",
        f"sum((1 - etabar)**j, j, 0, R-1)*({ADDED_5}) <= {DELTABAR}",
    ),
    proof=f"""
  sums:    etabar*sum((1 - etabar)**j, j, 0, R-1) == 1 - (1 - etabar)**R      by induction R: base combine; step combine ih
  whole:   claim 1                                                            by combine ({DELTABAR})*sums
  one:     0 <= {of_rounds(DELTABAR, q="1")}                                  by combine
  none:    0 <= {of_rounds(DELTABAR, q="0")}                                  by combine
  either:  0 <= {DELTABAR}                                                    by combine q*one, (1 - q)*none
  done:    claim 2                                                            by combine whole, (1 - etabar)**R*either
""",
)
CLAIMS += [
    state(
        "SAFARI-T5g", PAPER, "(84)-(85)", "deltabar = delta/etabar, by the geometric sum.", GEOMETRIC, kind="proof step"
    )
]

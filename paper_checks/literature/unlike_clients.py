"""Rates where clients are unlike: local steps, SCAFFOLD, SAGA and decentralised gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Contraction
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World, bar, norm2
from paper_checks.literature.sources import PAPER

LOCAL_STEPS = Theorem(
    region="0 < mu < L, 0 < lr <= 1/(2*L), 0 < zeta",
    states=MethodStates("fedavg", "lr, steps = 2", "L, mu"),
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)", "z": "mean(norm2(grad(f_i, x_star)))"},
    given={"unlike": "z[t] <= zeta**2"},
    where={"floor": "L*lr**3*zeta**2/((1 - lr*L)*(1 - (1 - lr*mu)**2))"},
    claim="d[T] <= (1 - lr*mu)**(2*T)*d[0] + floor*(1 - (1 - lr*mu)**(2*T))",
    proof="""
      step: d[t+1] <= (1 - lr*mu)**2*d[t] + L*lr**3/(1 - lr*L)*z[t]     by derivation
      done: claim     by induction T: base combine; step combine (1 - lr*mu)**2*ih, step(t=T), (L*lr**3/(1 - lr*L))*unlike(t=T)
    """,
)
#: y is the point after the first local step; control variates enter by their deviations alone
AFTER_ONE = "x - lr*(grad(f_i, x) - c_i + bar(c_i))"
SCAFFOLD = Theorem(
    region="0 < mu < L, 0 < lr <= 1/(4*L)",
    states=MethodStates("scaffold", "lr, steps = 2, server_lr = 1", "L, mu"),
    rounds={"t": 0, "T": 0},
    quantities={
        "d": "norm2(x - x_star)",
        "C": "mean(norm2(c_i - bar(c_i) - grad(f_i, x_star)))",
        "S": "mean(norm2(grad(f_i, x) - grad(f_i, x_star)))",
        "I": "dot(grad(f, x), x - x_star)",
        "dy": f"mean(norm2({AFTER_ONE} - x_star))",
        "Sy": f"mean(norm2(grad(f_i, {AFTER_ONE}) - grad(f_i, x_star)))",
        "Iy": f"mean(dot(grad(f_i, {AFTER_ONE}) - grad(f_i, x_star), {AFTER_ONE} - x_star))",
    },
    claim="d[T] + 2*lr**2*C[T] <= (1 - lr*mu)**(2*T)*(d[0] + 2*lr**2*C[0])",
    proof="""
      S_pos:  0 <= S[t]                                                                                     by derivation
      Sy_pos: 0 <= Sy[t]                                                                                    by derivation
      C_pos:  0 <= C[t]                                                                                     by derivation
      kept:   C[t+1] <= (S[t] + Sy[t])/2                                                                    by derivation
      moved:  d[t+1] <= d[t] - 2*lr*(I[t] + Iy[t]) + lr**2*S[t] + 2*lr**2*Sy[t] + lr**2*C[t]                by derivation
      at_x:   mu*d[t] + S[t]/L <= 2*I[t]                                                                    by derivation
      at_y:   mu*dy[t] + Sy[t]/L <= 2*Iy[t]                                                                 by derivation
      near:   d[t] - 2*lr*I[t] <= dy[t]                                                                     by derivation
      step:   d[t+1] + 2*lr**2*C[t+1] <= (1 - lr*mu)**2*(d[t] + 2*lr**2*C[t])
                by combine moved, (2*lr**2)*kept, lr*at_y, (lr*mu)*near, (lr*(1 - lr*mu))*at_x,
                  (lr*(1 - lr*mu)/L - 2*lr**2)*S_pos, (lr/L - 3*lr**2)*Sy_pos, (lr**2*(2*(1 - lr*mu)**2 - 1))*C_pos
      done:   claim     by induction T: base combine; step combine (1 - lr*mu)**2*ih, step(t=T)
    """,
)

Asked = Callable[[World, Parameters, Any, int], Any]  # what clients take for gradients at their models in a round


def any_vectors(w: World, p: Parameters, x: Any, k: int) -> Any:
    """Any vectors."""
    return w.vector(f"g{k}", client=True)


def play_mixing(w: World, p: Parameters, last: int, x_star: Any = None, ask: Asked = any_vectors) -> list[Any]:
    """x_i+ = sum_j w_ij x_j - lr g_i, ||g_i|| <= G in the mean, where mixing keeps the average and shrinks deviations from it by lam."""
    x, states = w.vector("x_i", client=True), list[Any]()
    for k in range(last + 1):
        states.append(SimpleNamespace(x_i=x) if x_star is None else SimpleNamespace(x_i=x, x_star=x_star))
        g, m = ask(w, p, x, k), w.vector(f"m{k}", client=True)
        m = m - bar(m)
        w.assume(f"mixing {k}", norm2(m) - norm2(x - bar(x)) * p.lam**2)
        w.assume(f"bounded {k}", norm2(g) - p.G**2)
        x = bar(x) + m - g * p.lr
    return states


def play_dgd(w: World, p: Parameters, last: int) -> list[Any]:
    """Decentralised gradient descent: `play_mixing` with g_i = grad f_i(x_i)."""
    f, star, s = w.function(p.L, p.mu, client=True, name="f_i"), w.vector("x_star"), w.vector("s_i", client=True)
    w.at(f, star, "at x_star", g=s - bar(s))
    return play_mixing(w, p, last, star, lambda w, p, x, k: w.at(f, x, f"at x{k}")[0])


def play_absent(w: World, p: Parameters, last: int) -> list[Any]:
    """MIFA with one full local step: x+ = x - lr mean_i grad f_i(y_i), y_i the model that client i was last heard about, x or the one before it."""
    f, star, u = w.function(p.L, p.mu, client=True, name="f_i"), w.vector("x_star"), w.vector("u_i", client=True)
    s = u - bar(u)
    w.at(f, star, "at x_star", g=s)
    x, before, states = w.vector("x"), w.vector("before"), list[Any]()
    for k in range(last + 1):
        y = w.vector(f"y_i{k}", client=True)
        w.assume(f"heard {k}", norm2(x - y) - norm2(x - before))
        g, _ = w.at(f, y, f"at y{k}")
        states.append(SimpleNamespace(x=x, before=before, y_i=y, v_i=g - s, x_star=star, s_i=s))
        x, before = x - bar(g) * p.lr, x
    return states


def play_fednova(w: World, p: Parameters, last: int) -> list[Any]:
    """FedNova with two clients, of which the one takes a step and the other two: moves are divided by 1 and 2, and tau_eff is their mean, 3/2."""
    f_1, f_2 = w.function(p.L, p.mu, name="f_1"), w.function(p.L, p.mu, name="f_2")
    x, star, s = w.vector("x"), w.vector("x_star"), w.vector("s")
    w.at(f_1, star, "f_1 at x_star", g=s)
    w.at(f_2, star, "f_2 at x_star", g=-s)
    states = []
    for k in range(last + 1):
        (g_1, _), (g_2, _) = w.at(f_1, x, f"f_1 at x{k}"), w.at(f_2, x, f"f_2 at x{k}")
        y = x - g_2 * p.lr
        g_3, _ = w.at(f_2, y, f"f_2 at y{k}")
        states.append(SimpleNamespace(x=x, y=y, u=g_1 - s, v=g_2 + s, w=g_3 + s, s=s, x_star=star))
        x = x - (g_1 + (g_2 + g_3) / 2) * (p.lr * Fraction(3, 4))
    return states


MIXED = {"mixing": "mixing shrinks deviations by lam", "bounded": "mean_i ||g_i||^2 <= G^2"}
APART = "mean(norm2(x_i - bar(x_i)))"
CONSENSUS = Theorem(
    region="0 < lam < 1, 0 < lr, 0 < G",
    states=PlayedStates(play_mixing),
    assumed=MIXED,
    rounds={"t": 0, "T": 0},
    quantities={"C": APART},
    claim="C[T] <= lam**T*C[0] + lr**2*G**2/(1 - lam)**2*(1 - lam**T)",
    proof="""
      step: C[t+1] <= lam*C[t] + lr**2*G**2/(1 - lam)       by derivation
      done: claim     by induction T: base combine; step combine lam*ih, step(t=T)
    """,
)
DGD = Theorem(
    region="0 < mu < L, 0 < lam < 1, 0 < lr <= 1/(2*L), 0 < G",
    states=PlayedStates(play_dgd),
    assumed=MIXED,
    rounds={"t": 0, "T": 0},
    quantities={"C": APART, "d": "norm2(bar(x_i) - x_star)"},
    given={"start": "C[0] == 0"},
    claim="d[T] <= (1 - lr*mu)**T*d[0] + 2*L/mu*(lr*G/(1 - lam))**2*(1 - (1 - lr*mu)**T)",
    proof="""
      apart: C[t+1] <= lam*C[t] + lr**2*G**2/(1 - lam)      by derivation
      near:  C[T] <= lr**2*G**2/(1 - lam)**2                by induction T: base combine start; step combine lam*ih, apart(t=T)
      step:  d[t+1] <= (1 - lr*mu)*d[t] + 2*L*lr*C[t]       by derivation
      done:  claim     by induction T: base combine; step combine (1 - lr*mu)*ih, step(t=T), (2*L*lr)*near
    """,
)

#: gradients of one round ago are as far off as the model has moved since
OLD_GRADIENTS = Theorem(
    region="0 < mu < L, 0 < lr <= 1/(4*L)",
    states=PlayedStates(play_absent),
    assumed={
        "heard": "each client is heard in this round or was in the last one, and its gradient is the one of there"
    },
    rounds={"t": 0, "T": 0},
    quantities={
        "D": "norm2(x - x_star)",
        "M": "norm2(x - before)",
        "Y": "mean(norm2(x - y_i))",
        "S": "mean(norm2(v_i))",
        "J": "dot(bar(v_i), x - x_star)",
    },
    claim="D[T] + 4*lr*L*M[T] <= (1 - lr*mu/2)**T*(D[0] + 4*lr*L*M[0])",
    proof="""
      old:    Y[t] <= M[t]                                                          by derivation
      strong: -J[t] <= -mu/4*D[t] - S[t]/(4*L) + 3/2*L*Y[t]                         by derivation
      moved:  D[t+1] <= D[t] - 2*lr*J[t] + lr**2*S[t]                               by derivation
      far:    M[t+1] <= lr**2*S[t]                                                  by derivation
      S_pos:  0 <= S[t]                                                             by derivation
      M_pos:  0 <= M[t]                                                             by derivation
      step:   D[t+1] + 4*lr*L*M[t+1] <= (1 - lr*mu/2)*(D[t] + 4*lr*L*M[t])
                by combine moved, (2*lr)*strong, (3*lr*L)*old, (4*lr*L)*far, (lr/(2*L) - lr**2 - 4*lr**3*L)*S_pos, (lr*L*(1 - 2*lr*mu))*M_pos
      done:   claim     by induction T: base combine; step combine (1 - lr*mu/2)*ih, step(t=T)
    """,
)
#: tau_eff = 3/2; u, v and w are gradients less those at x*, of client 1 at x, and of client 2 at x and after its first step
TWO_KINDS = Theorem(
    region="0 < mu < L, 0 < lr <= 1/(4*L), 0 < zeta",
    states=PlayedStates(play_fednova),
    rounds={"t": 0, "T": 0},
    where={"rho": "1 - 7/8*lr*3/2*mu", "floor": "12/7*L*lr**2*zeta**2/mu"},
    quantities={
        "D": "norm2(x - x_star)",
        "z": "norm2(s)",
        "Y": "norm2(x - y)",
        "U": "norm2(u)",
        "V": "norm2(v)",
        "W": "norm2(w)",
        "I": "dot(u, x - x_star)",
        "J": "dot(v, x - x_star)",
        "H": "dot(w, x - x_star)",
    },
    given={"unlike": "z[t] <= zeta**2"},
    claim="D[T] <= rho**T*D[0] + floor*(1 - rho**T)",
    proof="""
      one:    -I[t] <= -mu/2*D[t] - U[t]/(2*L)                                      by derivation
      two:    -J[t] <= -mu/2*D[t] - V[t]/(2*L)                                      by derivation
      three:  -H[t] <= -mu/4*D[t] - W[t]/(4*L) + 3/2*L*Y[t]                         by derivation
      away:   Y[t] <= 2*lr**2*(V[t] + z[t])                                         by derivation
      U_pos:  0 <= U[t]                                                             by derivation
      V_pos:  0 <= V[t]                                                             by derivation
      W_pos:  0 <= W[t]                                                             by derivation
      moved:  D[t+1] <= D[t] - 3/2*lr*(I[t] + J[t]/2 + H[t]/2) + 9/16*lr**2*(2*U[t] + V[t] + W[t])        by derivation
      step:   D[t+1] <= rho*D[t] + 9/4*L*lr**3*z[t]
                by combine moved, (3/2*lr)*one, (3/4*lr)*two, (3/4*lr)*three, (9/8*lr*L)*away, (3/4*lr/L - 9/8*lr**2)*U_pos,
                  (3/8*lr/L - 9/16*lr**2 - 9/4*lr**3*L)*V_pos, (3/16*lr/L - 9/16*lr**2)*W_pos
      done:   claim     by induction T: base combine; step combine rho*ih, step(t=T), (9/4*L*lr**3)*unlike(t=T)
    """,
)

CLAIMS = [
    state(
        "LIT-LOCAL-STEPS",
        PAPER,
        "Khaled, Mishchenko and Richtarik 2020, for two local steps without noise; other constants, and linear",
        "FedAvg with two local steps comes linearly to a distance whose square is at most L lr^3 zeta^2/((1 - lr L) (1 - (1 - lr mu)^2)), "
        "zeta^2 = mean_i ||grad f_i(x*)||^2, for lr <= 1/(2 L).",
        LOCAL_STEPS,
    ),
    state(
        "LIT-SCAFFOLD",
        PAPER,
        "Karimireddy et al. 2020, Theorem III, for two local steps without noise and all clients; other constants",
        "SCAFFOLD with two local steps and lr <= 1/(4 L) converges to x* itself: ||x - x*||^2 + 2 lr^2 C falls by (1 - lr mu)^2 a round.",
        SCAFFOLD,
    ),
    state(
        "LIT-SAGA",
        PAPER,
        "Defazio, Bach and Lacoste-Julien 2014, on clients (FedVARP, Jhunjhunwala et al. 2022); other constants",
        "SAGA with s of n functions a step, for lr <= 1/(6 L): its potential falls by max{1 - lr mu, 1 - s/(2 n)} in expectation.",
        Contraction(
            "fedvarp",
            "lr, steps = 1, server_lr = 1",
            region="0 < mu < L, 0 < lr <= 1/(6*L), n in 2.., 1 <= s <= n",
            functions="L, mu",
            clients="n, s",
            potential={"x": 1, "g_i": "4*n/s*lr**2"},
            claimed="max(1 - lr*mu, 1 - s/(2*n))",
        ),
    ),
    state(
        "LIT-DGD-CONSENSUS",
        PAPER,
        "Nedic and Ozdaglar 2009",
        "Models that are mixed over a graph with the spectral gap 1 - lam and move by lr G, in the root mean square, come as near as "
        "lr G/(1 - lam) to their mean.",
        CONSENSUS,
    ),
    state(
        "LIT-DGD",
        PAPER,
        "Yuan, Ling and Yin 2016; other constants",
        "Decentralised gradient descent from one model for all: the mean model comes linearly to a distance of sqrt(2 L/mu) lr G/(1 - lam) "
        "from x*, for lr <= 1/(2 L).",
        DGD,
    ),
    state(
        "LIT-MIFA-ABSENT",
        PAPER,
        "Gu et al. 2021, Algorithm 1, with one full local step and clients that are absent from one round at most in a row; other constants",
        "MIFA, where absent clients count with the gradient that they sent last: ||x - x*||^2 + 4 lr L ||x - x_before||^2 falls by "
        "1 - lr mu/2 a round, whoever is absent, for lr <= 1/(4 L).",
        OLD_GRADIENTS,
    ),
    state(
        "LIT-FEDNOVA-CONVEX",
        PAPER,
        "Wang et al. 2020, normalised averaging, with one step of the one client and two of the other; tau_eff = 3/2; constants of ours",
        "FedNova there comes linearly, by 1 - (7/8) lr tau_eff mu a round, to a distance from x* whose square is at most (12/7) L lr^2 zeta^2/mu, "
        "zeta = ||grad f_1(x*)||, for lr <= 1/(4 L), over the whole class.",
        TWO_KINDS,
    ),
]

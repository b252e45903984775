"""FedAvg and SCAFFOLD with any number of local steps: a round of steps one after the other, without noise and with it, and rounds that rest on it.

With V_k = grad f_i(y_k) - grad f_i(x*) a client's steps are y_{k+1} = y_k - lr (V_k + w + xi_k), where w, zero in the mean over clients, is what the
client steps along at x*: grad f_i(x*) itself for FedAvg, and this less c_i - c for SCAFFOLD. r, z and n are the sums of V, of w and of the noise xi.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.scaffold import Scaffold, ScaffoldState
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Inside, Theorem
from fedtheory.claims.statements.worlds import GivenAnswers, Parameters, World, bar, norm2
from fedtheory.local.solvers import LocalSolver
from paper_checks.literature.sources import PAPER

StateOf = Callable[[Any, Any, Any, str], SimpleNamespace]  # of the sums r, z and n, and a name


def unlike_clients(w: World, p: Parameters) -> tuple[Any, Any, Any, Any]:
    """The clients' function, any x, x* and the gradients there, whose mean is zero."""
    f, x, star = w.function(p.L, p.mu, client=True, name="f_i"), w.vector("x"), w.vector("x_star")
    u = w.vector("u_i", True)
    w.at(f, star, "at x_star", g=u - bar(u))
    return f, x, star, u - bar(u)


def any_start(w: World, p: Parameters, corrected: bool) -> tuple[Any, StateOf]:
    """w, and what makes the state after sums of steps: from any x, with the model and the control variates that the method's own round makes."""
    f, x, star, s = unlike_clients(w, p)
    c = w.vector("c_i", True) if corrected else s * 0
    own = s - c + bar(c)

    def state_of(r: Any, z: Any, n: Any, name: str) -> SimpleNamespace:
        y = x - (r + z + n) * p.lr
        g, _ = w.at(f, y, f"at y{name}")
        sums = {"r_i": r, "z_i": z, "n_i": n, "v_i": g - s, "w_i": own}
        made = scaffold_round(w, p, x, c, y) if corrected else fedavg_round(w, x, y)
        return SimpleNamespace(x=x, x_star=star, s_i=s, y_i=y, **made, **sums)

    return own, state_of


def fedavg_round(w: World, x: Any, y: Any) -> dict[str, Any]:
    """What FedAvg makes of the answers y_i, by its own code."""
    return {"x_new": w.round_of(FedAvg, PointState, {"x": x}, y)["x"]}


@dataclass(frozen=True)
class StepsThatGo(GivenAnswers):
    """Local answers that are given, of steps that go K lr in all: SCAFFOLD divides by this length, and by nothing else."""

    lr: Any
    steps: int = 1


def scaffold_of(length: Any, local: LocalSolver) -> Scaffold:
    """SCAFFOLD where clients answer as ``local`` does, after steps of this length."""
    assert isinstance(local, GivenAnswers)
    return Scaffold(StepsThatGo(local.answers, length))


def scaffold_round(w: World, p: Parameters, x: Any, c: Any, y: Any) -> dict[str, Any]:
    """What SCAFFOLD makes of the answers y_i, by its own code; its c is the mean of c_i, as every round leaves it."""
    after = w.round_of(partial(scaffold_of, p.K * p.lr), ScaffoldState, {"x": x, "c": bar(c), "c_i": c}, y)
    return {"c_i": c, "x_new": after["x"], "c_new": after["c_i"]}


def any_sums(w: World, own: Any, begun: bool, noisy: bool) -> tuple[Any, Any, Any]:
    """Sums of steps so far: r, z with the mean zero, and n; all zero where the steps begin."""
    r, z = w.vector("r_i", True), w.vector("z_i", True)
    n = w.vector("n_i", True) if noisy else own * 0
    return (own * 0,) * 3 if begun else (r, z - bar(z), n)


def play_steps(w: World, p: Parameters, last: int, begun: bool = False, corrected: bool = False) -> list[Any]:
    """Local steps without noise, of FedAvg, or those that SCAFFOLD's control variates correct; begun at y = x."""
    own, state_of = any_start(w, p, corrected)
    states = [state_of(*any_sums(w, own, begun, noisy=False), "0")]
    for k in range(last):
        now = states[-1]
        states.append(state_of(now.r_i + now.v_i, now.z_i + own, now.n_i, str(k + 1)))
    return states


def play_noisy_steps(w: World, p: Parameters, last: int, begun: bool = False, corrected: bool = False) -> list[Any]:
    """The same with noise, which is e_i or -e_i: nothing but its second moments enters."""
    own, state_of = any_start(w, p, corrected)
    states = [[(Fraction(1), state_of(*any_sums(w, own, begun, noisy=True), "0"))]]
    for k in range(last):
        outcomes = []
        for j, (chance, now) in enumerate(states[-1]):
            draw = 2**k + j
            e = w.vector(f"e_i{draw}", True)
            w.assume(f"variance {draw}", norm2(e) - p.sigma**2)
            w.assume(f"independent {draw}", norm2(bar(e)) - p.sigma**2 / p.n)
            for name, error in (("plus", e), ("minus", -e)):
                outcomes.append(
                    (chance / 2, state_of(now.r_i + now.v_i, now.z_i + own, now.n_i + error, f"{draw} {name}"))
                )
        states.append(outcomes)
    return states


NOISE = {
    "variance": "noise xi_i of gradients is zero in the mean, with E mean_i ||xi_i||^2 <= sigma^2",
    "independent": "n clients draw it by themselves, so that its mean over them has an n-th of the variance",
}
OF_STEPS = {
    "D": "norm2(x - x_star)",
    "A": "norm2(x_new - x_star)",
    "a": "mean(norm2(r_i + z_i))",
    "b": "mean(dot(r_i + z_i, v_i + w_i))",
    "M": "mean(norm2(v_i + w_i))",
    "Y": "mean(norm2(x - y_i))",
    "S": "mean(norm2(v_i))",
    "G": "mean(norm2(r_i))",
    "H": "mean(dot(r_i, v_i))",
    "N": "norm2(bar(r_i))",
    "I": "dot(bar(r_i), x - x_star)",
    "J": "dot(bar(v_i), x - x_star)",
}
OF_NOISE = {"e": "mean(norm2(n_i))", "o": "norm2(bar(n_i))", "P": "dot(bar(n_i), x - x_star)"}
UNLIKE, CONTROL = "mean(norm2(s_i))", "mean(norm2(s_i - c_i + bar(c_i)))"
OF_CONTROL = {
    "C": CONTROL,
    "B": "mean(norm2(s_i - c_new + bar(c_new)))",
    "zz": "mean(norm2(z_i))",
    "zw": "mean(dot(z_i, w_i))",
}
#: sums over E steps
SUMS = """
  same_D: D[k+1] == D[k]                                                by identity
  same_C: C[k+1] == C[k]                                                by identity
  keep_D: D[k] == D[0]                                                  by induction k: base combine; step combine ih, same_D
  keep_C: C[k] == C[0]                                                  by induction k: base combine; step combine ih, same_C
  first:  a[1] == M[0]                                                  by identity
  grown:  a[k+1] == a[k] + 2*b[k] + M[k]                                by identity
  young:  2*k*b[k] <= a[k] + k**2*M[k]                                  by derivation
  long:   a[k+1] <= (k + 1)*sum(M[j], j, 0, k)
            by induction k: base combine first; step combine ((k + 2)/(k + 1))*ih, grown(k=k+1), (1/(k + 1))*young(k=k+1)
  start:  Y[0] == 0                                                     by identity
  some:   0 <= M[k]                                                     by derivation
  slope:  M[k] <= 2*S[k] + 2*C[k]                                       by derivation
  slopes: sum(M[j], j, 0, E-1) <= 2*sum(S[j], j, 0, E-1) + 2*E*C[0]
            by induction E: base combine slope(k=0); step combine ih, slope(k=E), 2*keep_C(k=E)
  one:    G[1] == S[0]                                                  by identity
  more:   G[k+1] == G[k] + 2*H[k] + S[k]                                by identity
  cross:  2*k*H[k] <= G[k] + k**2*S[k]                                  by derivation
  whole:  G[k+1] <= (k + 1)*sum(S[j], j, 0, k)
            by induction k: base combine one; step combine ((k + 2)/(k + 1))*ih, more(k=k+1), (1/(k + 1))*cross(k=k+1)
  mean:   N[k] <= G[k]                                                  by derivation
  at_x:   I[0] == 0                                                     by identity
  added:  I[k+1] == I[k] + J[k]                                         by identity
  strong: -J[k] <= -mu/4*D[k] - S[k]/(4*L) + 3/2*L*Y[k]                 by derivation
  pull:   -I[E] <= -E*mu/4*D[0] - sum(S[j], j, 0, E-1)/(4*L) + 3/2*L*sum(Y[j], j, 0, E-1)
            by induction E: base combine (-1)*at_x, (-1)*added(k=0), strong(k=0); step combine ih, (-1)*added(k=E), strong(k=E), (-mu/4)*keep_D(k=E)
  pos:    0 <= S[k]                                                     by derivation
  plus:   0 <= sum(S[j], j, 0, E-1)                                     by induction E: base combine pos(k=0); step combine ih, pos(k=E)
"""
#: how far clients go, and what a round makes of the distance, where E is K
EXACT = """
  far:    Y[k] == lr**2*a[k]                                            by identity
  all:    sum(Y[j], j, 0, E-1) <= lr**2*(E - 1)*E/2*sum(M[j], j, 0, E-1)
            by induction E: base combine start; step combine ih, far(k=E), lr**2*long(k=E-1), (lr**2*(E + 1)*E/2)*some(k=E)
  moved:  A[k] == D[k] - 2*lr*I[k] + lr**2*N[k]                         by identity
  near:   A[E] <= (1 - lr*K*mu/2)*D[E] - lr*(1/(2*L) - lr*K - 3*lr**2*L*K*(K - 1))*sum(S[j], j, 0, E-1) + 3*lr**3*L*K**2*(K - 1)*C[E]
            by combine moved(k=E), (2*lr)*pull, lr**2*mean(k=E), lr**2*whole(k=E-1), (3*lr*L)*all, (3*lr**3*L*(E - 1)*E/2)*slopes,
              (lr*K*mu/2)*keep_D(k=E), (-3*lr**3*L*K**2*(K - 1))*keep_C(k=E),
              (-1)*(-lr*mu/2*D[0] + (lr**2 + 3*lr**3*L*(E + K - 1))*sum(S[j], j, 0, E-1) + 3*lr**3*L*C[0]*(E**2 + E*K + K**2 - E - K))*steps
"""
NOISY = """
  no_e:   e[0] == 0                                                     by identity
  no_o:   o[0] == 0                                                     by identity
  add_e:  e[k+1] <= e[k] + sigma**2                                     by derivation
  add_o:  o[k+1] <= o[k] + sigma**2/n                                   by derivation
  sum_e:  e[k] <= k*sigma**2                                            by induction k: base combine no_e; step combine ih, add_e
  sum_o:  o[k] <= k*sigma**2/n                                          by induction k: base combine no_o; step combine ih, add_o
  no_P:   P[0] == 0                                                     by identity
  same_P: P[k+1] == P[k]                                                by identity
  keep_P: P[k] == 0                                                     by induction k: base combine no_P; step combine ih, same_P
  far:    Y[k] <= 2*lr**2*(a[k] + e[k])                                 by derivation
  all:    sum(Y[j], j, 0, E-1) <= lr**2*(E - 1)*E*(sum(M[j], j, 0, E-1) + sigma**2)
            by induction E: base combine start; step combine ih, far(k=E), (2*lr**2)*long(k=E-1), (2*lr**2)*sum_e(k=E), (lr**2*(E + 1)*E)*some(k=E)
  moved:  A[k] <= D[k] - 2*lr*(I[k] + P[k]) + 2*lr**2*(N[k] + o[k])     by derivation
  near:   A[E] <= (1 - lr*K*mu/2)*D[E] - lr*(1/(2*L) - 2*lr*K - 6*lr**2*L*K*(K - 1))*sum(S[j], j, 0, E-1) + 6*lr**3*L*K**2*(K - 1)*C[E] + noise
            by combine moved(k=E), (-2*lr)*keep_P(k=E), (2*lr**2)*sum_o(k=E), (2*lr)*pull, (2*lr**2)*mean(k=E), (2*lr**2)*whole(k=E-1), (3*lr*L)*all,
              (3*lr**3*L*(E - 1)*E)*slopes, (lr*K*mu/2)*keep_D(k=E), (-6*lr**3*L*K**2*(K - 1))*keep_C(k=E),
              (-lr*mu/2*D[0] + (2*lr**2 + 6*lr**3*L*(E + K - 1))*sum(S[j], j, 0, E-1) + 6*lr**3*L*C[0]*(E**2 + E*K + K**2 - E - K)
                + 2*lr**2*sigma**2/n + 3*lr**3*L*(E + K - 1)*sigma**2)*steps
"""
#: SCAFFOLD's control variates after the round
CONTROLS = """
  no_zw:  zw[0] == 0                                                    by identity
  no_zz:  zz[0] == 0                                                    by identity
  add_zw: zw[k+1] == zw[k] + C[k]                                       by identity
  add_zz: zz[k+1] == zz[k] + 2*zw[k] + C[k]                             by identity
  sum_zw: zw[k] == k*C[0]                                               by induction k: base combine no_zw; step combine ih, add_zw, keep_C
  sum_zz: zz[k] == k**2*C[0]                                            by induction k: base combine no_zz; step combine ih, add_zz, 2*sum_zw, keep_C
  C_pos:  0 <= C[k]                                                     by derivation
"""
ROUNDS = {"k": 0, "j": 0, "E": 1}
STEPS_ARE_K = {"steps": "K == E"}
#: said so, instances are not looked for, which have many outcomes; K would take the value of E for them
NOISY_STEPS_ARE_K = {"steps": "E == K"}
NOISE_OF_A_ROUND = {"noise": "2*lr**2*K*sigma**2/n + 3*lr**3*L*K*(K - 1)*sigma**2"}
FEDAVG_ROUND = Theorem(
    name="a round of FedAvg",
    region="0 < mu < L, 1 <= K, 0 < lr <= 1/(4*L*K)",
    states=PlayedStates(play_steps, start=partial(play_steps, begun=True)),
    rounds=ROUNDS,
    quantities={**OF_STEPS, "C": UNLIKE},
    given=STEPS_ARE_K,
    claim="A[E] <= (1 - lr*K*mu/2)*D[E] + 3*lr**3*L*K**2*(K - 1)*C[E]",
    proof=SUMS
    + EXACT
    + """
  done:   claim       by combine near, (lr*(1/(2*L) - lr*K - 3*lr**2*L*K*(K - 1)))*plus
""",
)
NOISY_FEDAVG_ROUND = Theorem(
    name="a round of FedAvg with noise",
    region="0 < mu < L, 1 <= K, 0 < lr <= 1/(6*L*K), n in 1.., 0 < sigma",
    states=PlayedStates(play_noisy_steps, start=partial(play_noisy_steps, begun=True)),
    assumed=NOISE,
    rounds=ROUNDS,
    where=NOISE_OF_A_ROUND,
    quantities={**OF_STEPS, **OF_NOISE, "C": UNLIKE},
    given=NOISY_STEPS_ARE_K,
    claim="A[E] <= (1 - lr*K*mu/2)*D[E] + 6*lr**3*L*K**2*(K - 1)*C[E] + noise",
    proof=SUMS
    + NOISY
    + """
  done:   claim       by combine near, (lr*(1/(2*L) - 2*lr*K - 6*lr**2*L*K*(K - 1)))*plus
""",
)
SCAFFOLD_ROUND = Theorem(
    name="a round of SCAFFOLD",
    region="0 < mu < L, 1 <= K, 0 < lr <= 1/(6*L*K)",
    states=PlayedStates(partial(play_steps, corrected=True), start=partial(play_steps, begun=True, corrected=True)),
    rounds=ROUNDS,
    where={"m": "4*lr**3*L*K**3"},
    quantities={**OF_STEPS, **OF_CONTROL},
    given=STEPS_ARE_K,
    claim="A[E] + m*B[E] <= (1 - lr*K*mu/2)*(D[E] + m*C[E])",
    proof=SUMS
    + EXACT
    + CONTROLS
    + """
  kept:   B[k] <= 2*G[k]/K**2 + 2*(zz[k]/K**2 - 2*zw[k]/K + C[k])       by derivation
  fresh:  B[E] <= 2/K*sum(S[j], j, 0, E-1)
            by combine kept(k=E), (2/K**2)*whole(k=E-1), (2/K**2)*sum_zz(k=E), (-4/K)*sum_zw(k=E), 2*keep_C(k=E),
              (-1)*(2/K**2*sum(S[j], j, 0, E-1) + 2*C[0]*(E - K)/K**2)*steps
  done:   claim       by combine near, m*fresh, (lr*(1/(2*L) - lr*K - 3*lr**2*L*K*(K - 1)) - 2*m/K)*plus,
            (m*(1 - lr*K*mu/2) - 3*lr**3*L*K**2*(K - 1))*C_pos(k=E)
""",
)
NOISY_SCAFFOLD_ROUND = Theorem(
    name="a round of SCAFFOLD with noise",
    region="0 < mu < L, 1 <= K, 0 < lr <= 1/(12*L*K), n in 1.., 0 < sigma",
    states=PlayedStates(
        partial(play_noisy_steps, corrected=True), start=partial(play_noisy_steps, begun=True, corrected=True)
    ),
    assumed=NOISE,
    rounds=ROUNDS,
    where={"m": "8*lr**3*L*K**3", **NOISE_OF_A_ROUND},
    quantities={**OF_STEPS, **OF_NOISE, **OF_CONTROL},
    given=NOISY_STEPS_ARE_K,
    claim="A[E] + m*B[E] <= (1 - lr*K*mu/2)*(D[E] + m*C[E]) + noise + 3*m*sigma**2/K",
    proof=SUMS
    + NOISY
    + CONTROLS
    + """
  kept:   B[k] <= 3*G[k]/K**2 + 3*e[k]/K**2 + 3*(zz[k]/K**2 - 2*zw[k]/K + C[k])       by derivation
  fresh:  B[E] <= 3/K*sum(S[j], j, 0, E-1) + 3*sigma**2/K
            by combine kept(k=E), (3/K**2)*whole(k=E-1), (3/K**2)*sum_e(k=E), (3/K**2)*sum_zz(k=E), (-6/K)*sum_zw(k=E), 3*keep_C(k=E),
              (3/K**2*sum(S[j], j, 0, E-1) + 3*sigma**2/K**2 + 3*C[0]*(E - K)/K**2)*steps
  done:   claim       by combine near, m*fresh, (lr*(1/(2*L) - 2*lr*K - 6*lr**2*L*K*(K - 1)) - 3*m/K)*plus,
            (m*(1 - lr*K*mu/2) - 6*lr**3*L*K**2*(K - 1))*C_pos(k=E)
""",
)


def play_fedavg(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds of FedAvg, where clients answer y_i."""
    _, x, star, s = unlike_clients(w, p)
    states = []
    for k in range(last + 1):
        y = w.vector(f"y_i{k}", True)
        states.append(SimpleNamespace(x=x, x_star=star, s_i=s, y_i=y, **fedavg_round(w, x, y)))
        x = states[-1].x_new
    return states


FEDAVG = Theorem(
    region="0 < mu < L, 1 <= K, 0 < lr <= 1/(4*L*K), 0 < zeta",
    states=PlayedStates(play_fedavg),
    rounds={"t": 0, "T": 0},
    where={"rho": "1 - lr*K*mu/2", "floor": "6*lr**2*L*K*(K - 1)*zeta**2/mu"},
    quantities={"D": OF_STEPS["D"], "A": OF_STEPS["A"], "C": UNLIKE},
    given={"round": "A[t] <= (1 - lr*K*mu/2)*D[t] + 3*lr**3*L*K**2*(K - 1)*C[t]", "unlike": "C[t] <= zeta**2"},
    inside={
        "round": Inside(FEDAVG_ROUND, "E", {"x": "x", "x_star": "x_star", "s_i": "s_i", "y_i": "y_i", "x_new": "x_new"})
    },
    claim="D[T] <= rho**T*D[0] + floor*(1 - rho**T)",
    proof="""
      next: D[t+1] == A[t]                                  by identity
      done: claim     by induction T: base combine; step combine rho*ih, next(t=T), round(t=T), (3*lr**3*L*K**2*(K - 1))*unlike(t=T)
    """,
)


def play_scaffold(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds of SCAFFOLD, where clients answer y_i."""
    _, x, star, s = unlike_clients(w, p)
    c, states = w.vector("c_i", True), list[Any]()
    for k in range(last + 1):
        y = w.vector(f"y_i{k}", True)
        states.append(SimpleNamespace(x=x, x_star=star, s_i=s, y_i=y, **scaffold_round(w, p, x, c, y)))
        x, c = states[-1].x_new, states[-1].c_new
    return states


SCAFFOLD = Theorem(
    region="0 < mu < L, 1 <= K, 0 < lr <= 1/(6*L*K)",
    states=PlayedStates(play_scaffold),
    rounds={"t": 0, "T": 0},
    where={"m": "4*lr**3*L*K**3"},
    quantities={name: SCAFFOLD_ROUND.quantities[name] for name in ("D", "A", "C", "B")},
    given={"round": "A[t] + m*B[t] <= (1 - lr*K*mu/2)*(D[t] + m*C[t])"},
    inside={
        "round": Inside(
            SCAFFOLD_ROUND, "E", {name: name for name in ("x", "x_star", "s_i", "c_i", "y_i", "x_new", "c_new")}
        )
    },
    claim="D[T] + m*C[T] <= (1 - lr*K*mu/2)**T*(D[0] + m*C[0])",
    proof="""
      model:   D[t+1] == A[t]                               by identity
      control: C[t+1] == B[t]                               by identity
      done:    claim     by induction T: base combine; step combine (1 - lr*K*mu/2)*ih, model(t=T), m*control(t=T), round(t=T)
    """,
)

FOR_ANY = "for any number K of local steps and all clients"
CLAIMS = [
    state(
        "LIT-LOCAL-STEPS-ANY",
        PAPER,
        f"Khaled, Mishchenko and Richtarik 2020, {FOR_ANY}, without noise; other constants",
        "FedAvg with K local steps comes linearly, by 1 - lr K mu/2 a round, to a distance whose square is at most 6 lr^2 L K (K - 1) zeta^2/mu, "
        "zeta^2 = mean_i ||grad f_i(x*)||^2, for lr <= 1/(4 L K).",
        FEDAVG,
    ),
    state(
        "LIT-LOCAL-STEPS-NOISE",
        PAPER,
        f"Khaled, Mishchenko and Richtarik 2020, a round, {FOR_ANY}, with noise; other constants",
        "A round of FedAvg with K noisy local steps, lr <= 1/(6 L K): E ||x^+ - x*||^2 <= (1 - lr K mu/2) ||x - x*||^2 + 6 lr^3 L K^2 (K - 1) zeta^2 "
        "+ 2 lr^2 K sigma^2/n + 3 lr^3 L K (K - 1) sigma^2, zeta^2 = mean_i ||grad f_i(x*)||^2.",
        NOISY_FEDAVG_ROUND,
    ),
    state(
        "LIT-SCAFFOLD-ANY",
        PAPER,
        f"Karimireddy et al. 2020, Theorem III, {FOR_ANY}, without noise; other constants",
        "SCAFFOLD with K local steps and lr <= 1/(6 L K) converges to x* itself: ||x - x*||^2 + 4 lr^3 L K^3 C falls by 1 - lr K mu/2 a round.",
        SCAFFOLD,
    ),
    state(
        "LIT-SCAFFOLD-NOISE",
        PAPER,
        f"Karimireddy et al. 2020, Theorem III, a round, {FOR_ANY}, with noise; other constants",
        "A round of SCAFFOLD with K noisy local steps, lr <= 1/(12 L K): V = ||x - x*||^2 + m C, m = 8 lr^3 L K^3, has "
        "E V^+ <= (1 - lr K mu/2) V + 2 lr^2 K sigma^2/n + 3 lr^3 L K (K - 1) sigma^2 + 24 lr^3 L K^2 sigma^2.",
        NOISY_SCAFFOLD_ROUND,
    ),
]

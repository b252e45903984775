"""Theorem 3 corrected: FedPD that skips communication with probability p, by its own `round` with either coin.

Of a state it is known that lam_i = -grad f_i(x_i) + e_i; copies x_{0,i} and models x_i are any, and x_0 is the mean of the copies, which after a
round that skips is nobody's. f_i is L-smooth (A1), quantities are expectations over the coins, and A3 with D = 1 is supposed at the means of the
models: mean ||grad f_i||^2 <= G^2 + ||grad f||^2, which each form of A4 gives.

With m^2 = E mean ||x_i - mean||^2, w^2 = E mean ||x_{0,i} - x_0||^2 and H^2 = 2 (G^2 + eps), Lemma 2 holds for mean squares with sqrt p in the place
of p: (1-u) m' <= w + u m + 2 eta H, w' <= sqrt p ((1+u) m' + eta H). Its fixed point is w = 3 sqrt p eta H/(1 - 2u - sqrt p (1+u)), of order
sqrt p. The mean of L_i(x_i, x_0, lam_i) falls as without skipping, up to 5 w^2/(2 c eta) a round.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedPD
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims import PlayedStates, Theorem, bar
from fedtheory.claims.statements.theorems.as_parts import judged_like
from fedtheory.claims.statements.worlds import Parameters, World


def always(round: int) -> float:
    """A coin that skips."""
    return 1


def own_round(world: World, p: Any, state: State, answers: Any, skips: bool, algorithm: Any = FedPD) -> dict[str, Any]:
    """The fields of the state that `FedPD.round` makes of another with this coin, where clients answer so."""
    before = {name: getattr(state, name) for name in ("x", "x_i", "x0_i", "lam_i")}

    def method(local: Any) -> Any:
        return algorithm(p.eta, local, always if skips else 0)

    return world.round_of(method, lambda **fields: FedPDState(**fields, memory=None), before, answers)


def play(world: World, p: Parameters, last: int) -> list[Any]:
    """Any state, and the ``last`` ones after it, each after a coin."""
    f = world.function(p.L, -p.L, client=True, name="f_i")
    copies, x_i, e = world.vector("x0_i", True), world.vector("x_i", True), world.vector("e0", True)
    slope, _ = world.at(f, x_i, "f_i 0")
    return play_on(world, p, last, State(x=bar(copies), x_i=x_i, x0_i=copies, lam_i=e - slope, e_i=e, f_i=f))


def play_on(world: World, p: Parameters, last: int, state: State) -> list[Any]:
    """A state and the next, whose models and duals come before its coin."""
    f, slope, e = state.f_i, world.vector("grad f_i 1", True), world.vector("e1", True)
    answers = state.x0_i + (e - slope - state.lam_i) * p.eta
    world.at(f, answers, "f_i 1", g=slope)
    after = [
        (chance, State(**own_round(world, p, state, answers, skips), e_i=e, f_i=f))
        for chance, skips in ((1 - p.q**2, False), (p.q**2, True))
    ]
    new = after[0][1]
    state.x_next, state.x_i_next, state.lam_i_next, state.e_i_next = new.x, new.x_i, new.lam_i, e
    return [state, after][: last + 1]


def first(world: World, p: Parameters) -> State:
    """x_i = x_{0,i} = x^0 and lam_i = -grad f_i(x^0), up to an error as in a local solve."""
    f, slope, x = (
        world.function(p.L, -p.L, client=True, name="f_i"),
        world.vector("grad f_i(x^0)", True),
        world.vector("x0"),
    )
    copies, e = x + slope * 0, world.vector("e0", True)
    world.at(f, copies, "f_i 0", g=slope)
    return State(x=x, x_i=copies, x0_i=copies, lam_i=e - slope, e_i=e, f_i=f)


def play_start(world: World, p: Parameters, last: int) -> list[Any]:
    """The first state and the next."""
    return play_on(world, p, last, first(world, p))


#: what clients differ by at the means of their models, and by errors; at the next mean; and how gradients bend from there to the models
NOISE = "(grad(f_i, bar(x_i)) - grad(f_i, bar(x_i_next)) + e_i_next - e_i)"
FRESH = "(grad(f_i, bar(x_i_next)) - e_i_next)"
BENT = "(grad(f_i, x_i_next) - grad(f_i, bar(x_i_next)))"
CLAIM = "grad2[0] + sum(grad2[t], t, 1, T) <= C_2*D_0 + T*(C_4*eps + C_5*q**2*eta**2*(G**2 + eps)/N**2)"
PROOF = """
      moves:  after[t] == by_copies[t] + eta*(by_slopes[t] + by_old[t] + by_errors[t]) by identity
      slopes: by_slopes[t] <= L*after[t] by derivation
      old:    by_old[t] <= L/2*(after[t] + models[t]) by derivation
      copied: 2*by_copies[t] <= 3*q/(2 + q)*after[t] + (2 + q)/(3*q)*copies[t] by derivation
      noises: noise[t] <= 4*(dissim[t] + dissim[t+1] + err[t] + err[t+1]) by derivation
      errors: 2*eta*by_errors[t] <= 2*N/(2 + q)*after[t] + (2 + q)*eta**2/(2*N)*noise[t] by derivation
      near:   (1 - u)*after[t] <= (2 + q)/(3*q)*copies[t] + u*models[t] + 2*(2 + q)*eta**2*H2/N
                by combine 2*moves, (2*eta)*slopes, (2*eta)*old, 1*copied, 1*errors, ((2 + q)*eta**2/(2*N))*noises,
                  w*alike, w*alike(t=t+1), w*solved, w*solved(t=t+1)
      smoothed: smooth[t] <= (1 + u)**2*after[t] by derivation
      freshly: fresh[t] <= 2*(dissim[t+1] + err[t+1]) by derivation
      sent:   uploads[t] <= 3/((1 + u)*(2 + q))*smooth[t] + 3*eta**2/N*fresh[t] by derivation
      spread: uploads[t] <= 3*(1 + u)/(2 + q)*after[t] + 3*eta**2*H2/N
                by combine sent, (3/((1 + u)*(2 + q)))*smoothed, (3*eta**2/N)*freshly, (6*eta**2/N)*alike(t=t+1), (6*eta**2/N)*solved(t=t+1)
      same:   models[t+1] == after[t] by identity
      coin:   copies[t+1] == q**2*uploads[t] by identity
      apart:  y*models[t+1] + z*copies[t+1] + copies[t] <= y*models[t] + z*copies[t] + 9*q**2*eta**2*H2/N**2
                by combine y*same, z*coin, (z*q**2)*spread, (3*q**2*(1 + u)/((2 + q)*N))*near
      dual:   dual2[t] <= 2*L**2*moved[t] + 4*(err[t] + err[t+1]) by derivation
      turn:   turned[t] <= c/8*moved[t] + 2/c*copies[t] by derivation
      lags:   lag[t] <= c*eta/2*dual2[t] + copies[t]/(2*c*eta) by derivation
      round:  level[t+1] <= level[t] - (1 - 2*u)/(2*eta)*moved[t] + err[t+1]/(2*L) + turned[t]/eta + eta*dual2[t] + lag[t] - server[t]/(2*eta)
                by derivation
      some:   0 <= moved[t] by derivation
      far:    0 <= server[t] by derivation
      slow:   level[t+1] <= level[t] - c/(8*eta)*moved[t] + (1/(2*L) + 12*eta)*eps + 5/(2*c*eta)*copies[t] - server[t]/(2*eta)
                by combine 1*round, (1/eta)*turn, 1*lags, (eta + c*eta/2)*dual, (moved[t]/(2*eta))*step, some,
                  (4*eta + 2*c*eta)*solved, (1/(2*L) + 4*eta + 2*c*eta)*solved(t=t+1)
      slope:  grad2[t+1] <= 4/3*bend[t+1] + 4*err[t+1] by derivation
      bends:  bend[t] <= ((1 + u)/eta)**2*away[t] by derivation
      gap:    away[t+1] <= 3*(eta**2*dual2[t] + server[t] + copies[t]) by derivation
      falls:  grad2[t+1] <= K*(level[t] - level[t+1]) + A*eps + B*copies[t]
                by combine 1*slope, (4/3)*bends(t=t+1), (k/3)*gap, (k*eta**2)*dual,
                  (4*k*eta**2)*solved, (4*k*eta**2 + 4)*solved(t=t+1), K*slow, some, far
      gaps:   0 <= away[t] by derivation
      lower:  f[t] <= level[t] - (1 - 2*u)/(2*eta)*away[t] + err[t]/(2*L) by derivation
      under:  f[t] <= level[t] + eps/(2*L)                                                                    by combine lower, gaps, (1/(2*L))*solved
      start:  level[0] == f[0] by identity
      none:   copies[0] == 0 by identity
      close:  models[0] == 0 by identity
      pos:    0 <= models[t] by derivation
      posc:   0 <= copies[t] by derivation
      first:  grad2[0] <= 2*L*(f[0] - stepped[0]) by derivation
      all:    sum(grad2[t], t, 1, T) <= K*(level[0] - level[T]) + T*A*eps + B*(9*T*q**2*eta**2*H2/N**2 - y*models[T] - z*copies[T])
                by induction T: base combine falls(t=0), B*apart(t=0), (B*y)*close, (B*z)*none; step combine ih, falls(t=T), B*apart(t=T)
      done:   claim
                by combine all, K*under(t=T), K*below(t=T), K*start, first, (2*L)*stepped_below(t=0), (B*y)*pos(t=T), (B*z)*posc(t=T)
    """


@cache
def corrected(share: str = "1") -> Theorem:
    """The corrected Theorem 3 with p = q^2; ``share`` of its C_5."""
    return Theorem(
        name="Theorem 3 corrected",
        region="0 < L, 0 < eta < 1/(2*L), 0 < q < (1 - 2*L*eta)/(1 + L*eta), 0 <= G, 0 <= eps, 0 < c <= 1, 0 <= D_0",
        states=PlayedStates(play, play_start, first),
        quantities={
            "f": "mean(f_i(x))",
            "stepped": "mean(f_i(x - bar(grad(f_i, x))/L))",
            "level": "mean(f_i(x_i)) + mean(dot(lam_i, x_i - x)) + mean(norm2(x_i - x))/(2*eta)",
            "grad2": "norm2(bar(grad(f_i, x)))",
            "away": "mean(norm2(x_i - x))",
            "bend": "mean(norm2(grad(f_i, x) - grad(f_i, x_i) - (x - x_i)/eta))",
            "models": "mean(norm2(x_i - bar(x_i)))",
            "copies": "mean(norm2(x0_i - x))",
            "moved": "mean(norm2(x_i_next - x_i))",
            "server": "norm2(x_next - x)",
            "dual2": "mean(norm2(lam_i_next - lam_i))",
            "turned": "mean(dot(x_i_next - x_i, x0_i - x))",
            "lag": "mean(dot(lam_i_next - lam_i, x0_i - x))",
            "after": "mean(norm2(x_i_next - bar(x_i_next)))",
            "by_copies": "mean(dot(x_i_next - bar(x_i_next), x0_i - x))",
            "by_slopes": "mean(dot(x_i_next - bar(x_i_next), grad(f_i, bar(x_i_next)) - grad(f_i, x_i_next)))",
            "by_old": "mean(dot(x_i_next - bar(x_i_next), grad(f_i, x_i) - grad(f_i, bar(x_i))))",
            "by_errors": f"mean(dot(x_i_next - bar(x_i_next), {NOISE}))",
            "uploads": "mean(norm2(x_i_next + eta*lam_i_next - bar(x_i_next + eta*lam_i_next)))",
            "dissim": "mean(norm2(grad(f_i, bar(x_i)) - bar(grad(f_i, bar(x_i)))))",
            "err": "mean(norm2(e_i))",
            "noise": f"mean(norm2({NOISE} - bar({NOISE})))",
            "fresh": f"mean(norm2({FRESH} - bar({FRESH})))",
            "smooth": f"mean(norm2(x_i_next - bar(x_i_next) - eta*({BENT} - bar({BENT}))))",
        },
        rounds={"t": 0, "T": 1},
        where={
            "u": "L*eta",
            "N": "1 - 2*u - q*(1 + u)",
            "H2": "2*(G**2 + eps)",
            "w": "2*(2 + q)*eta**2/N",
            "y": "3*q**2*u*(1 + u)/((2 + q)*N)",
            "z": "(1 - 2*u)/N",
            "k": "4*((1 + u)/eta)**2",
            "K": "4*eta*k/c",
            "B": "5*K/(2*c*eta) + k",
            "A": "K*(1/(2*L) + 12*eta) + 32*(1 + u)**2 + 4",
            "C_2": "K + 2*L",
            "C_4": "K*(1/L + 12*eta) + 32*(1 + u)**2 + 4",
            "C_5": f"({share})*18*B",
        },
        given={
            "alike": "dissim[t] <= G**2",
            "solved": "err[t] <= eps",
            "step": "c <= 1 - 2*u - 4*u**2",
            "below": "f[0] - D_0 <= f[t]",
            "stepped_below": "f[0] - D_0 <= stepped[t]",
        },
        claim=CLAIM,
        proof=PROOF,
        added=("q < (1 - 2*L*eta)/(1 + L*eta)",),
    )


def near(share: str) -> Theorem:
    """The same with another C_5, read with its term."""
    return judged_like(corrected(share), corrected())


@cache
def recipe(share: str = "2") -> Theorem:
    """Which p reaches the accuracy acc: C_5 p eta^2 (G^2 + eps)/N^2 <= acc, where C_4 eps <= acc; ``share`` times acc stands beside C_2 D_0/T."""
    own = corrected()
    return replace(
        own,
        name="Remark 5 corrected",
        region=f"{own.region}, 0 < acc",
        quantities={name: own.quantities[name] for name in ("f", "grad2", "stepped", "dissim", "err")},
        where={name: text for name, text in own.where.items() if name not in ("H2", "w", "y", "z", "A")},
        rests={"skipping": own},
        given={**own.given, "accurate": "C_4*eps <= acc", "admissible": "C_5*q**2*eta**2*(G**2 + eps)/N**2 <= acc"},
        claim=f"grad2[0] + sum(grad2[t], t, 1, T) <= C_2*D_0 + T*({share})*acc",
        proof="done: claim by combine skipping, T*accurate, T*admissible",
    )


def near_recipe(share: str) -> Theorem:
    """The same with another accuracy, read with its term."""
    return judged_like(recipe(share), recipe())

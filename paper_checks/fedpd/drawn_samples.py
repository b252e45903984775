"""Lemmas 10 and 11 of the supplement as theorems of one client that draws samples, for every number of samples, draws and steps.

The client's f_i is the mean of m functions h_k of samples, each L-smooth. Every inner step of Oracle II adds to its estimate of grad f_i the mean of
B differences grad h_k(y) - grad h_k(x), k drawn uniformly and with replacement. Time t counts draws: draw t is of a step from x^t to y^t, and B draws
after one another are of the same step, so that B times 1/B of its square is in the sum over draws. The points may depend on all draws before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace as State
from typing import Any

from fedtheory.claims import PlayedStates, Theorem, bar
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.vectors import Sampling, Vector
from paper_checks.formulas import formula


def error_allowed(L: Any, B: Any, moved: Any) -> Any:
    """Right side of Lemma 10, for the sum ``moved`` of the expected squared steps since the last full gradient."""
    return L**2 / B * moved


@dataclass(frozen=True)
class Draws:
    """A client's estimates, one draw after the other: of any error e, or, ``started``, of none after a full gradient.

    ``solved``: beside each of them is what Lemma 11 speaks of, `last_step`.
    """

    started: bool
    solved: bool

    def __str__(self) -> str:
        return "one of m samples after the other, drawn uniformly"

    def who(self, numbers: Mapping[str, Any]) -> Sampling:
        """One of m samples."""
        return Sampling(numbers["m"], 1)

    def __call__(self, w: World, p: Parameters, last: int) -> list[list[tuple[int, State]]]:
        """The states."""
        h, error = w.function(p.L, -p.L, client=True, name="h_k"), w.vector("e")
        states, error = list[list[tuple[int, State]]](), error * 0 if self.started else error
        for t in range(last + 1):
            alike = w.vector(f"of each {t}", True) * 0
            x, y = w.vector(f"x {t}"), w.vector(f"y {t}")
            (before, _), (after, _) = w.at(h, x + alike, f"h_k(x) {t}"), w.at(h, y + alike, f"h_k(y) {t}")
            change = after - before
            if not isinstance(change, Vector):
                raise InvalidInput("draws of every number of samples are not played on plain numbers")
            own = last_step(w, p, h, error, alike, t) if self.solved else {}
            states.append([(1, State(h_k=h, e=error, x=x, y=y, change=change, **own))])
            error = error + (change.averaged(Sampling(p.m, 1)) - bar(change)) / p.B
        return states


def last_step(w: World, p: Parameters, h: Any, error: Any, alike: Any, t: int) -> dict[str, Any]:
    """A round's last step d from any point y with this error of its estimate, the dual after it, and any server's model x_0.

    The step is where grad f_i(y) + e + lam_i + d/gamma + (y + d - x_{0,i})/eta = 0, from which the dual after it is -(grad f_i(y) + e + d/gamma).
    """
    y, d = w.vector(f"y_i {t}"), w.vector(f"d_i {t}")
    (slopes, _), (ends, _) = w.at(h, y + alike, f"h_k(y_i) {t}"), w.at(h, y + d + alike, f"h_k(x_i) {t}")
    dual = (bar(slopes) + error + d / p.gamma) * -1
    return {"x_0": w.vector(f"x_0 {t}"), "x_i": y + d, "d_i": d, "lam_i": dual, "slope": bar(ends)}


def below_level(level: Any, apart: Any, drawn: Any, last: Any, L: Any, B: Any, eta: Any, C: Any) -> Any:
    """Right side of Lemma 11, for the sum ``drawn`` of the expected squared steps since the last full gradient."""
    return level - (1 - 3 * L * eta) / (2 * eta) * apart + C * (drawn / B + last)


def _eleven(f: str, **terms: str) -> str:
    return f"{f} <= {formula(below_level, **terms, L='L', B='B', eta='eta', C='C')}"


STEPS = "(sum(moved[t]/B, t, 0, T) - moved[T]/B)"
GROWS = f"error[T] <= {formula(error_allowed, L='L', B='B', moved=STEPS)}"
_SCRIPT = """
      zero:  error[0] == 0                                by identity
      adds:  error[t+1] == error[t] + spread[t]/B**2      by identity
      small: spread[t] <= L**2*moved[t]                   by derivation
      grows: SAID   by induction T: base combine zero; step combine 1*ih, 1*adds(t=T), (1/B**2)*small(t=T)
"""
LEMMA_TEN = Theorem(
    name="Lemma 10",
    region="0 < L, m in 2.., 1 <= B",
    states=PlayedStates(Draws(False, False), Draws(True, False)),
    rounds={"t": 0, "T": 0},
    quantities={"error": "norm2(e)", "moved": "norm2(y - x)", "spread": "mean(norm2(change - bar(change)))"},
    claim=GROWS,
    proof=_SCRIPT.replace("SAID", "claim"),
)
LEMMA_ELEVEN = Theorem(
    name="Lemma 11",
    region=f"{LEMMA_TEN.region}, 0 < eta, 0 < gamma",
    states=PlayedStates(Draws(False, True), Draws(True, True)),
    rounds=LEMMA_TEN.rounds,
    quantities={
        **LEMMA_TEN.quantities,
        "f": "mean(h_k(x_0))",
        "level": "mean(h_k(x_i)) + dot(lam_i, x_i - x_0) + norm2(x_i - x_0)/(2*eta)",
        "apart": "norm2(x_i - x_0)",
        "last": "norm2(d_i)",
        "off": "norm2(lam_i + slope)",
    },
    where={"C": "((1 + L*gamma)**2 + L**2*gamma**2)/(4*L*gamma**2)"},
    claim=_eleven("f[T]", level="level[T]", apart="apart[T]", drawn=STEPS, last="last[T]"),
    proof=_SCRIPT.replace("SAID", GROWS)
    + """
      below: f[t] <= level[t] - (1 - 3*L*eta)/(2*eta)*apart[t] + off[t]/(4*L)                             by derivation
      near:  off[t] <= ((1 + L*gamma)**2 + L**2*gamma**2)/gamma**2*(error[t]/L**2 + last[t])              by derivation
      done:  claim    by combine below(t=T), (1/(4*L))*near(t=T), (((1 + L*gamma)**2 + L**2*gamma**2)/(4*L**3*gamma**2))*grows
    """,
)
#: what Lemma 11 says of client i, and of the mean over clients 0, ..., n. x_0 is the same for all, so that f[i] = E f_i(x_0) sum to n + 1 times
#: E f(x_0); f and level are counted from a number below all of them, which cancels
_OF_CLIENTS = ("f", "level", "apart", "drawn", "last")
_OF_ONE = {name: f"{name}[i]" for name in _OF_CLIENTS}
_OF_ALL = {name: f"sum({name}[i], i, 0, n)" for name in _OF_CLIENTS}
_MEANS = {name: f"{total}/(n + 1)" for name, total in _OF_ALL.items()}


LEMMA_ELEVEN_OF_ALL = Theorem(
    name="Lemma 11, the mean over clients",
    region="0 < L, 1 <= B, 0 < eta, 0 < gamma",
    claim=_eleven(**_MEANS),
    proof=f"""
      all:   {_eleven(**_OF_ALL)}    by induction n: base combine each(i=0); step combine ih, each(i=n+1)
      done:  claim                   by combine (1/(n + 1))*all
    """,
    rounds={"i": 0, "n": 0},
    sequences=dict.fromkeys(_OF_CLIENTS, "0"),
    where=LEMMA_ELEVEN.where,
    given={"each": _eleven(**_OF_ONE)},
)

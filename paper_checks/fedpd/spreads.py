"""Lemma 2: how far apart clients come in a round. The exact counterexample to its printed entry, and the derivation of the corrected one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims.claim import Replay
from fedtheory.claims.parts import assume, assume_constant, assume_exact_solves
from fedtheory.core.arrays import Array
from fedtheory.core.errors import require
from fedtheory.core.problem import Certified
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.fedpd.common import Prescribed, certainly_nonnegative, floats, fractions, rational
from problems.quadratics import scalar_quadratics
from problems.separable import Separable


@dataclass(frozen=True, eq=False)
class Ramps(Separable):
    """Scalar clients whose gradients are piecewise linear: g_i(x) = level_i + slope_i0 x + sum_j (slope_ij - slope_i,j-1) (x - knot_j)_+.

    Everything is exact in fractions, the proximal step too: the inverse of x + step g_i(x) is piecewise linear again.

    Parameters
    ----------
    level : array ``(n, 1)``
    slopes : array ``(n, knots + 1)``
        On the pieces from left to right.
    knots : array ``(knots,)``, rising
    name : str
    """

    level: Array
    slopes: Array
    knots: Array
    name: str = "piecewise linear gradients"

    def __post_init__(self) -> None:
        """Shapes differ by field: there is nothing to compare."""

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.level)

    @property
    def d(self) -> int:
        """One coordinate."""
        return 1

    def value(self, x: Array) -> Array:
        """Values f_i(x_i), with f_i(0) = 0 where no knot is negative."""
        beyond = np.maximum(x - self.knots, 0)
        bends = (np.diff(self.slopes, axis=-1) * beyond**2).sum(axis=-1) / 2
        return bends + (self.level * x + self.slopes[:, :1] * x * x / 2)[..., 0]

    def grad(self, x: Array) -> Array:
        """Gradients."""
        beyond = np.maximum(x - self.knots, 0)
        bends = (np.diff(self.slopes, axis=-1) * beyond).sum(axis=-1, keepdims=True)
        return self.level + self.slopes[:, :1] * x + bends

    def prox(self, v: Array, step: Any) -> Array:
        """Return the x with x + step g_i(x) = v, for steps below the inverse of the steepest descent of a gradient."""
        first = self.knots[0]
        images = np.concatenate(
            [self.knots[j] + step * self.grad(self.knots[j : j + 1]) for j in range(len(self.knots))], axis=-1
        )
        inverse = 1 / (1 + step * self.slopes)
        beyond = np.maximum(v - images, 0)
        bends = (np.diff(inverse, axis=-1) * beyond).sum(axis=-1, keepdims=True)
        return first + (v - images[:, :1]) * inverse[:, :1] + bends

    def certify(self) -> dict[str, Certified]:
        """L: the steepest piece. G: the largest difference at a knot, where the outermost pieces are parallel."""
        found = {"L": Certified(float(np.abs(self.slopes).max()), "the steepest piece of a gradient")}
        if self.parallel:
            found["G"] = Certified(
                float(self.apart), "the largest difference of gradients at a knot; they are parallel beyond"
            )
        return found

    @property
    def parallel(self) -> bool:
        """Whether the gradients have the same slope on both outermost pieces, so that A4 holds."""
        outer = self.slopes[:, [0, -1]]
        return bool((outer == outer[:1]).all())

    @property
    def apart(self) -> Any:
        """Largest difference of two clients' gradients, where they are parallel beyond the knots."""
        at = np.concatenate([self.grad(self.knots[j : j + 1]) for j in range(len(self.knots))], axis=-1)
        return (at.max(axis=0) - at.min(axis=0)).max()


#: gradients x + const., a tenth apart, left of 1, where the x_i^1 are; -x + const., a tenth apart the other way, from 6/5 to 2, where the x_i^2 are
APART = {
    "knots": ["1", "6/5", "2"],
    "slopes": [["1", "-1/2", "-1", "1"], ["1", "1/2", "-1", "1"]],
    "level": ["-41/10", "-21/5"],
    "eta": "3/10",
    "p": "1/2",
    "x0": "0",
    "lam0": ["-7/30", "21/5"],
    "communicates": [True],
}
#: the same from the proof's own duals: three skipped rounds draw the clients apart where gradients fall, a fourth takes them where they rise
FROM_THE_START = {
    "knots": ["-1", "4", "41/10", "11/2", "28/5", "8"],
    "slopes": [["1", "-1", "1", "1", "-1", "-1", "1"], ["1", "-1", "-1", "1", "1", "-1", "1"]],
    "level": ["-11/10", "-1"],
    "eta": "3/10",
    "p": "1/2",
    "x0": "0",
    "lam0": "gradients",
    "communicates": [False, False, False, True],
}


def _problem(instance: dict[str, Any]) -> Ramps:
    return Ramps(fractions(instance["level"])[:, None], fractions(instance["slopes"]), fractions(instance["knots"]))


def _solve(problem: Ramps, client: int, v: Fraction, eta: Fraction) -> Fraction:
    """The x with x + eta g(x) = v, by trying every piece of the gradient."""
    knots, slopes = list(problem.knots), list(problem.slopes[client])
    level, left = problem.level[client, 0], None
    for j, slope in enumerate(slopes):
        if j:
            level += (slopes[j - 1] - slope) * knots[j - 1]  # the pieces meet
        x = (v - eta * level) / (1 + eta * slope)
        right = knots[j] if j < len(knots) else None
        if (left is None or x >= left) and (right is None or x <= right):
            return Fraction(x)
        left = right
    raise AssertionError("no piece holds the solution")


@dataclass(frozen=True)
class Spreads:
    """Distances of the two clients' copies and models before a round, and of their uploads in it."""

    copies: Fraction
    models: Fraction
    uploads: Fraction


def _play(problem: Ramps, x0: Fraction, lam: list[Fraction], eta: Fraction, coins: list[bool]) -> Spreads:
    """Algorithm 2 from its printed lines alone: rounds with these coins (True: communicate) from x_i^0 = x_0^0, then one more."""
    copies, models = [x0, x0], [x0, x0]
    for coin in (*coins, True):
        before = abs(copies[0] - copies[1]), abs(models[0] - models[1])
        models = [_solve(problem, i, copies[i] - eta * lam[i], eta) for i in (0, 1)]
        lam = [lam[i] + (models[i] - copies[i]) / eta for i in (0, 1)]
        uploads = [models[i] + eta * lam[i] for i in (0, 1)]
        copies = [(uploads[0] + uploads[1]) / 2] * 2 if coin else uploads
    return Spreads(*before, abs(uploads[0] - uploads[1]))


def _start(problem: Ramps, instance: dict[str, Any]) -> tuple[Fraction, list[Fraction]]:
    """x^0 and the lam_i^0: "gradients" stands for -grad f_i(x^0)."""
    x0 = rational(instance["x0"])
    if instance["lam0"] == "gradients":
        return x0, [-g for g in problem.grad(np.array([[x0], [x0]], dtype=object))[:, 0]]
    return x0, [rational(v) for v in instance["lam0"]]


def entry_at(entry: str, p: Fraction, u: Fraction) -> Fraction:
    """The (1,2) entry of A, written in p and u, at two numbers."""
    sympy = require("sympy", "closed forms")
    symbol = sympy.symbols("p u")
    value = sympy.sympify(entry, locals=dict(zip("pu", symbol, strict=True)))
    found = sympy.nsimplify(value.subs(dict(zip(symbol, (sympy.Rational(p), sympy.Rational(u)), strict=True))))
    return Fraction(int(found.p), int(found.q))


def first_row(entry: Fraction, p: Any, u: Any, eta: Any, copies: Any, models: Any, G: Any) -> Any:
    """Right side of the first line of (22) with exact solves."""
    return (p * (1 + u) * copies + entry * models + eta * p * (3 + u) * G) / (1 - u)


def both_sides(instance: dict[str, Any], entry: str) -> tuple[Fraction, Fraction]:
    """E [spread of the x_{0,i} after the last round | the rounds before] and the right side of (22), in fractions."""
    problem, eta, p = _problem(instance), rational(instance["eta"]), rational(instance["p"])
    u = max(abs(s) for s in problem.slopes.ravel()) * eta
    seen = _play(problem, *_start(problem, instance), eta, instance["communicates"])
    return p * seen.uploads, first_row(entry_at(entry, p, u), p, u, eta, seen.copies, seen.models, problem.apart)


def replay_l2(instance: dict[str, Any]) -> Replay:
    """E [spread of the clients' copies after a round] against the first line of (22) with the entry p u (1 - u), in floats and fractions.

    In floats the library's rounds are played, the last with both coins; in fractions the lines of Algorithm 2 are, with local problems solved
    piece by piece. All rounds solve exactly.
    """
    exact = _problem(instance)
    eta, p = rational(instance["eta"]), rational(instance["p"])
    L, G = max(abs(s) for s in exact.slopes.ravel()), exact.apart
    u = L * eta
    left, right = both_sides(instance, "p*u*(1-u)")
    numeric = Ramps(floats(exact.level), floats(exact.slopes), floats(exact.knots))
    method = FedPD(float(eta), p=float(p))
    x0, duals = _start(exact, instance)
    copies, lam = np.full((2, 1), float(x0)), np.array(duals, dtype=float)[:, None]
    state = FedPDState(copies[:1], copies, copies, lam, None)

    def play(state: FedPDState, r: int, communicate: bool) -> FedPDState:
        key: Any = ScriptedKey(r, {"communicate": communicate})
        return method.round(numeric, state, None, key)

    def spread(points: Array) -> float:
        return float(np.ptp(points))

    coins = [bool(coin) for coin in instance["communicates"]]
    for r, coin in enumerate(coins):
        state = play(state, r, coin)
    after = [spread(play(state, len(coins), coin).x0_i) for coin in (True, False)]
    entry = float(p * u * (1 - u))
    bound = first_row(entry, float(p), float(u), float(eta), spread(state.x0_i), spread(state.x_i), float(G))  # type: ignore[arg-type]
    outer = exact.slopes[:, [0, -1]]
    return Replay(
        what=f"E [spread of the x_(0,i)^{len(coins) + 1} | round {len(coins)}] against the first line of (22) with the printed entry p u (1 - u)",
        measured=float((1 - p) * Fraction(after[0]) + p * Fraction(after[1])),
        bound=float(bound),
        exact_measured=left,
        exact_bound=right,
        arithmetic="fractions",
        assumptions=(
            assume_constant("A1", exact, "L", "<=", L),
            assume("A2: outermost slopes are positive, so every f_i is bounded below", "least > 0", least=outer.min()),
            assume_constant("A4", exact, "G", "<=", G),
            assume("step size", "4*u**2 + 2*u < 1", u=u),
            assume("0 <= p < 1", "0 <= p < 1", p=p),
            assume_exact_solves("(16) with epsilon_1 = 0", method),
        ),
    )


def spreads_follow_the_duals() -> bool:
    """Check on FedPD's own round, whatever the local solver answers, what the derivation says of points and duals.

    With e_i' the gradient that the local solve leaves, lam_i' = e_i' - g_i', x_i' = x_{0,i} - eta lam_i + eta (e_i' - g_i') and
    x_{0,i}^+ = x_i' + eta (e_i' - g_i').
    """
    eta = symbols("eta", positive=True)
    names = [symbols(f"{name}1 {name}2") for name in ("answer", "copy", "lam", "g")]
    answer, copy, lam, g = (np.array(pair, dtype=object)[:, None] for pair in names)
    problem = scalar_quadratics(np.array(symbols("h1 h2"), dtype=object))
    state = FedPDState(copy.sum(axis=0, keepdims=True) / 2, copy, copy, lam, None)
    key: Any = ScriptedKey(0, {"communicate": False})
    new = FedPD(eta, Prescribed(lambda r: answer), Fraction(1, 2)).round(problem, state, None, key)
    left = g + lam + (answer - copy) / eta
    ends = (
        new.lam_i - (left - g),
        new.x_i - (copy - eta * lam + eta * (left - g)),
        new.x0_i - (new.x_i + eta * (left - g)),
    )
    return all(is_zero(v) for values in ends for v in values.ravel())


def entry_follows(entry: Any, p: Any, u: Any) -> bool:
    """Derive the first line of (22) with this (1,2) entry, for all 0 < p, u < 1, any n, d and errors; a larger entry follows, too.

    Premises, for the clients that are farthest apart, with H = G + 2 sqrt(epsilon_1): by A1, A4 and the triangle inequality
    ||g_i(x_i) - g_j(x_j)|| + ||e_i - e_j|| <= L Delta + H, so that after `spreads_follow_the_duals`
    (i) models' <= copies + (u models + eta H) + (u models' + eta H), (ii) uploads <= models' + u models' + eta H.
    p (1 + u) times (i) and p (1 - u) times (ii) add up to the conclusion, up to what remains.
    """
    copies, models, after, uploads, H, eta = symbols("copies models after uploads H eta", positive=True)
    models_after = copies + (u * models + eta * H) + (u * after + eta * H) - after
    uploads_after = after + u * after + eta * H - uploads
    conclusion = p * (1 + u) * copies + entry * models + eta * p * (3 + u) * H - (1 - u) * p * uploads
    remainder = conclusion - p * (1 + u) * models_after - p * (1 - u) * uploads_after
    return spreads_follow_the_duals() and certainly_nonnegative(remainder, p=(0, 1), u=(0, 1))

"""What SAFARI's Theorems 4 and 5, corrected, and their one-step bounds say of the method's runs: exact moments on quadratics of one curvature.

A round of SAFARI on f_i = (lam/2)(x - b_i)^2 with the same clients for ever is one of two affine maps, which are read off the method's own round. So
E x^r and E (x^r)^2 are known for every r, and all that the theorems speak of: L = mu = lam, sigma_G^2 = max_i lam^2 (b_i - b)^2, no noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import Safari
from fedtheory.claims.contradictions import Saying, StoredRun
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from paper_checks.safari.notation import (
    BOUND_4,
    BOUND_5,
    CLIENT_4,
    CLIENT_DISTANCE,
    CORRECTED_5,
    SERVER_4,
    SERVER_DISTANCE,
    STEP_4,
    STEP_5,
    THRESHOLD_5,
    value,
)
from paper_checks.safari.section_4_a_theorem_4 import FOUR
from paper_checks.safari.section_4_b_theorem_5 import FIVE
from problems.biased_participation import one_sided_pair
from problems.quadratics import Quadratic, scalar_quadratics
from problems.server import ServerAssisted

#: rounds over which moments are followed, and over which every path is
MANY, FEW = 12, 4


@dataclass(frozen=True)
class OnTheLine:
    """A run of SAFARI on quadratics of one curvature: the two maps x -> slope x + shift, and what the theorems speak of."""

    run: StoredRun
    lam: Any
    centres: Any
    active: Any
    maps: tuple[tuple[Any, Any], tuple[Any, Any]]  #: of a server round, of a client round

    @property
    def method(self) -> Any:
        """SAFARI."""
        return self.run.method

    @property
    def best(self) -> Any:
        """x*."""
        return sum(self.centres) / len(self.centres)

    @property
    def numbers(self) -> dict[str, Any]:
        """Constants and steps."""
        spread = max(self.lam**2 * (b - self.best) ** 2 for b in self.centres)
        steps = {"eta_s": self.method.server.lr, "eta_c": self.method.local.lr, "K": self.method.local.steps}
        noise = {"sigma2": 0, "sigma_s2": 0, "sigma_G2": spread, "m": len(self.active)}
        return {"L": self.lam, "mu": self.lam, "q": self.method.q, **noise, **steps}

    def slope(self, x: Any) -> Any:
        """||grad F(x)||^2."""
        return self.lam**2 * (x - self.best) ** 2

    def gap(self, x: Any) -> Any:
        """F(x) - F*."""
        return self.lam / 2 * (x - self.best) ** 2

    def gap_of_active(self, x: Any) -> Any:
        """G_4, the mean over active clients of F_i(x) - F_i(x*)."""
        each = [self.lam / 2 * ((x - b) ** 2 - (self.best - b) ** 2) for b in (self.centres[i] for i in self.active)]
        return sum(each) / len(each)

    def after(self, x: Any, clients: bool) -> Any:
        """x after a round."""
        slope, shift = self.maps[clients]
        return slope * x + shift

    def moments(self, rounds: int) -> list[Any]:
        """E (x^r - x*)^2 for r = 0, ..., rounds."""
        q = self.method.q
        one = two = self.run.start.item() - self.best
        two = one * one
        found = [two]
        moved = [(a, a * self.best + b - self.best) for a, b in self.maps]  # of x - x*
        for _ in range(rounds):
            parts = [(1 - q, *moved[0]), (q, *moved[1])]
            two = sum(p * (a * a * two + 2 * a * b * one + b * b) for p, a, b in parts)
            one = sum(p * (a * one + b) for p, a, b in parts)
            found.append(two)
        return found

    def paths(self, rounds: int) -> Iterator[Any]:
        """Every point that some sequence of coins comes to."""
        for coins in itertools.product((False, True), repeat=rounds):
            x = self.run.start.item()
            yield x
            for coin in coins:
                x = self.after(x, coin)
                yield x


def on_the_line(run: StoredRun) -> OnTheLine | None:
    """A run as such; None where its functions have several curvatures, the server another objective, or clients come and go."""
    problem: Any = run.problem
    clients: Any = getattr(problem, "inner", None)
    if not isinstance(clients, Quadratic) or clients.d != 1 or len(set(clients.A.ravel())) != 1:
        return None
    lam, centres = clients.A.ravel()[0], list(clients.b.ravel() / clients.A.ravel())
    given = run.clients
    active = list(range(clients.n)) if given is None else [int(i) for i in given[0].index]  # type: ignore[union-attr]
    if given is not None and any(list(who.index) != active for who in given):  # type: ignore[union-attr]
        return None
    method: Any = run.method
    plain = (
        isinstance(method.local, GradientSteps)
        and isinstance(method.server, GradientSteps)
        and method.server.steps == 1
    )
    if not plain or callable(method.q):
        return None
    who = None if given is None else Clients(clients.n, np.array(active))
    maps = []
    for coin in (False, True):
        key: Any = ScriptedKey(0, {"communicate": coin})
        at = [
            method.round(problem, method.init(problem, np.array([[Fraction(x)]], dtype=object)), who, key).x.item()
            for x in (0, 1)
        ]
        maps.append((at[1] - at[0], at[0]))
    if maps[0] != (1 - lam * method.server.lr, lam * method.server.lr * sum(centres) / len(centres)):
        return None  # the server knows something else than F
    return OnTheLine(run, lam, centres, active, (maps[0], maps[1]))


def is_theirs(run: StoredRun) -> bool:
    """Quadratics of one curvature, and the same clients for ever."""
    return on_the_line(run) is not None


def _steps_of_four(of: OnTheLine) -> bool:
    n = of.numbers
    return bool(
        value(f"({STEP_4.split('<=')[0]})", n) <= 1
        and n["eta_c"] == 2 * n["eta_s"] / n["K"]
        and 0 < n["eta_s"] * n["L"] <= 1
    )


def theorem_four(run: StoredRun) -> tuple[Any, Any] | None:
    """The mean of E ||grad F(x_r)||^2 over r = 0, ..., R - 1 against the corrected bound; where it is nearest."""
    of = on_the_line(run)
    if of is None or not _steps_of_four(of):
        return None
    start, pairs = run.start.item(), []
    squares = [of.lam**2 * two for two in of.moments(MANY)]
    for rounds in range(1, MANY + 1):
        given = of.numbers | {"gap": of.gap(start), "R": rounds}
        pairs.append((sum(squares[:rounds]) / rounds, value(f"{BOUND_4} + 4*q*sigma_G2", given)))
    return max(pairs, key=lambda pair: pair[0] - pair[1])


def theorem_five(run: StoredRun) -> tuple[Any, Any] | None:
    """E ||x_R - x*||^2 against the bound, where the corrected condition on q holds at every point that a path comes to."""
    of = on_the_line(run)
    if of is None:
        return None
    n = of.numbers
    n["etabar"] = n["eta_c"] * n["K"] * n["mu"] / 2
    steps = (
        0 < n["eta_s"] <= 1 / n["L"] and n["etabar"] == n["eta_s"] * n["L"] and n["eta_c"] <= 1 / (8 * n["L"] * n["K"])
    )
    assert STEP_5 == "0 < eta_s <= 2/(L + mu)", "the condition that is looked at here"
    if not steps:
        return None
    for x in of.paths(FEW):
        slopes = {"G_3": of.slope(x), "G_4": of.gap_of_active(x)}
        if slopes["G_3"] == 0 or not n["q"] <= value(THRESHOLD_5.format(**CORRECTED_5), n | slopes):
            return None
    squares, dist = of.moments(FEW), (run.start.item() - of.best) ** 2
    pairs = [(squares[r], value(BOUND_5, n | {"R": r, "dist": dist})) for r in range(1, FEW + 1)]
    return max(pairs, key=lambda pair: pair[0] - pair[1])


def _one_step(of: OnTheLine, text: str, clients: bool, distance: bool) -> tuple[Any, Any]:
    """A one-step bound at every point that a path comes to; where it is nearest."""
    pairs = []
    for x in of.paths(FEW):
        after = of.after(x, clients)
        given = of.numbers | {"slope": of.slope(x), "G_3": of.slope(x), "G_4": of.gap_of_active(x)}
        given |= {"dist": (x - of.best) ** 2, "change": of.gap(x) - of.gap(after)}
        given["G"] = ((x - after) / of.numbers["eta_c"]) ** 2 if clients else 0
        pairs.append(((after - of.best) ** 2 if distance else of.slope(x), value(text, given)))
    return max(pairs, key=lambda pair: pair[0] - pair[1])


def server_slope(run: StoredRun) -> tuple[Any, Any] | None:
    """(28)."""
    of = on_the_line(run)
    return None if of is None else _one_step(of, SERVER_4, clients=False, distance=False)


def client_slope(run: StoredRun) -> tuple[Any, Any] | None:
    """(50)."""
    of = on_the_line(run)
    return None if of is None or not _steps_of_four(of) else _one_step(of, CLIENT_4, clients=True, distance=False)


def server_distance(run: StoredRun) -> tuple[Any, Any] | None:
    """(58)."""
    of = on_the_line(run)
    return None if of is None else _one_step(of, SERVER_DISTANCE, clients=False, distance=True)


def client_distance(run: StoredRun) -> tuple[Any, Any] | None:
    """(77), for eta_c <= 1/(8LK)."""
    of = on_the_line(run)
    if of is None or of.numbers["eta_c"] > 1 / (8 * of.lam * of.numbers["K"]):
        return None
    return _one_step(of, CLIENT_DISTANCE, clients=True, distance=True)


#: what SAFARI's claims say; their assumptions are certified by the instance being what `on_the_line` says
SAYINGS: dict[str, Saying] = {
    id: Saying((Safari,), says, measure, is_theirs, ())
    for id, says, measure in (
        ("SAFARI-T4", "the mean of E ||grad F||^2 has the corrected bound", theorem_four),
        ("SAFARI-T5", "E ||x_R - x*||^2 has the bound, under the corrected condition on q", theorem_five),
        ("SAFARI-T4a", "a server round has (28)", server_slope),
        ("SAFARI-T4e", "a client round has (50)", client_slope),
        ("SAFARI-T5a", "a server round has (58)", server_distance),
        ("SAFARI-T5e", "a client round has (77)", client_distance),
    )
}


def make_run(
    claim: str, problem: Any, q: Any, eta_c: Any, eta_s: Any, steps: int, start: Any, active: Any
) -> StoredRun:
    """SAFARI with these steps, and these clients for ever."""
    method = Safari(q, GradientSteps(steps, eta_c), GradientSteps(1, eta_s))
    who = Clients(problem.n, np.array(active))
    return StoredRun(claim, method, problem, np.array([[start]], dtype=object), clients=(who,))


def stored_runs() -> Iterator[StoredRun]:
    """The instances of Theorems 4 and 5, whose claims know their moments in closed form."""
    four, five = ({name: Fraction(str(number)) for name, number in given.items()} for given in (FOUR, FIVE))
    eta_s = four["eta_s"]
    yield make_run(
        "SAFARI-T4", one_sided_pair(Fraction(1), Fraction(1)), four["q"], 2 * eta_s, eta_s, 1, four["x0"], [0]
    )
    lam, h = five["lam"], five["etabar"]
    pair = one_sided_pair(Fraction(1), lam)
    yield make_run("SAFARI-T5", pair, five["q"], 2 * h / lam, h / lam, 1, five["x0"], [0])


def random_runs(rng: np.random.Generator, length: Fraction, value: Fraction) -> Iterator[StoredRun]:
    """Runs on random quadratics of one curvature, some of the clients for ever, with the steps of Theorem 4 and of Theorem 5."""
    n, steps = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    lam = value / length**2 * Fraction(int(rng.integers(1, 10)), 4)
    centres = [length * Fraction(int(k), 10) for k in rng.integers(-10, 11, n)]
    clients = scalar_quadratics(np.array([lam] * n, dtype=object), np.array(centres, dtype=object))
    problem = ServerAssisted(clients, Pooled(clients))
    active = list(range(int(rng.integers(1, n + 1))))
    start, share = length * Fraction(int(rng.integers(20, 90)), 10), Fraction(int(rng.integers(1, 4)), 100)
    for q in (Fraction(1, 2), Fraction(1, 1000)):
        eta_s = share / lam
        yield make_run("random", problem, q, 2 * eta_s / steps, eta_s, steps, start, active)

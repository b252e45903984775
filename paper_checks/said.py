"""What claims say of every run of a method, and the runs that claims store: held against each other, so that two verdicts do not contradict.

Theorems that are data say what they say by themselves (`said_by_theorems`); SAFARI's are in `said_of_safari`, and here are those of claims whose
statement is no data. A saying's assumptions are those that its claim states; `MEANINGS` gives each text a meaning. Runs are those that the stored
counterexamples play when they are replayed (`collected`), those of statements on an instance, and here those that a claim knows in closed form.
`tests/soundness/test_contradictions.py` looks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

from fedtheory.algorithms import AFedPD, DualFL, FedADMM, FedDyn, FedPD, FedSLR
from fedtheory.algorithms.momentum import beta
from fedtheory.claims import Claim, Lemma, Theorem
from fedtheory.claims.contradictions import (
    AssumptionTest,
    Saying,
    StoredRun,
    list_recorded_runs,
    list_stored_runs,
)
from fedtheory.claims.statements.theorems.writing import write_scope
from fedtheory.core.errors import NotAvailable, require
from fedtheory.core.participation import Clients
from fedtheory.core.problem import objective
from fedtheory.core.regularisers import L1, regularised
from fedtheory.measures.metrics import stationarity
from paper_checks import collected, said_of_safari
from paper_checks.afedpd.notation import FAMILY
from paper_checks.afedpd.section_4_1_optimization import ONE_OF_TWO
from paper_checks.dualfl.notation import CONVEX
from paper_checks.dualfl.notation import EXACT as EXACT_DUALFL
from paper_checks.fedpd.notation import A1, A2
from paper_checks.fedpd.z_ours_methods import D12
from paper_checks.fedslr.assumptions import CONTINUOUS, EXACT, KL_HOLDS, PRINTED_STEP, SHORT_STEP
from paper_checks.said_by_theorems import bends_of, is_exact, is_phase_one, list_theorem_sayings, smoothness
from problems.dual_drift import moment_map
from problems.piecewise import PiecewiseQuadratic, plateau
from problems.quadratics import Quadratic, scalar_quadratics

#: units in which random runs are drawn: lengths and values
UNITS = tuple((Fraction(10) ** a, Fraction(10) ** b) for a, b in ((0, 0), (6, 0), (-6, 3), (2, -6)))


def column(values: Any) -> Any:
    """A start ``(1, d)`` of fractions."""
    return np.array([[Fraction(v) for v in values]], dtype=object)


def quadratics(curvatures: Any, centres: Any) -> Quadratic:
    """(a_i/2)(x - b_i)^2 in fractions."""
    a, b = (np.array([Fraction(v) for v in values], dtype=object) for values in (curvatures, centres))
    return scalar_quadratics(a, b)


# ---- FedSLR --------------------------------------------------------------------------------------------------------------


def find_cycle(run: StoredRun) -> list[Any] | None:
    """The states of a cycle that a run comes to, exactly, in a dozen rounds; None where it comes to none."""
    states = run.play(12)
    rows = [np.concatenate([s.x.ravel(), s.x_i.ravel(), s.gamma_i.ravel()]) for s in states]
    for period in range(1, 5):
        if np.all(rows[-1] == rows[-1 - period]):
            return states[-1 - period :]
    return None


def copies_in_a_cycle(run: StoredRun) -> tuple[Any, Any] | None:
    """How far copies move in a cycle, against 0: a path that moves in a cycle is as long as one likes."""
    cycle = find_cycle(run)
    if cycle is None:
        return None
    return max(abs(new.x_i - old.x_i).max() for old, new in itertools.pairwise(cycle)), 0


def duals_in_a_cycle(run: StoredRun) -> tuple[Any, Any] | None:
    """How far duals are from gradients in a cycle, against 0."""
    cycle = find_cycle(run)
    return None if cycle is None else (max(abs(s.gamma_i - run.problem.grad(s.x)).max() for s in cycle), 0)


# ---- A-FedPD -------------------------------------------------------------------------------------------------------------


def name_of_map(run: StoredRun) -> str | None:
    """The moment map of a run's method."""
    method: Any = run.method
    if isinstance(method, AFedPD):
        return "a-fedpd"
    if isinstance(method, FedDyn):
        return "feddyn" if method.server_dual == "new" else "feddyn-printed"
    return "fedadmm" if method.averages == "active" else None


def moments(name: str, run: StoredRun, state: Any) -> list[Any]:
    """x^2, x h, h^2 and s of a state; distances are from the optimum."""
    problem: Any = run.problem
    best = problem.b.sum() / problem.A.sum()
    x = (state.x_bar if name == "a-fedpd" else state.x).item() - best
    optimal = problem.b.ravel() - problem.A.ravel() * best
    d = (state.mu_i if name == "a-fedpd" else state.lam_i).ravel() - optimal
    h, s = sum(d) / len(d), sum(d * d) / len(d)
    return [x * x, x * h, h * h, s]


def moments_follow_the_map(run: StoredRun) -> tuple[Any, Any] | None:
    """How far the moments after a round, over all draws, are from those of the linear map, against 0."""
    name, method = name_of_map(run), run.method
    first = None if run.clients is None else run.clients[0]
    if name is None or run.clients is None or first is None:
        return None
    (before,) = run.play(0)
    n, active = run.problem.n, first.index.size
    rows = moment_map(name, method.rho, n, active, bends_of(run)[0])  # type: ignore[attr-defined]
    found = [Fraction(0)] * 4
    for chosen in run.clients:
        (_, after) = replace(run, clients=(chosen,)).play(1)
        found = [f + m / len(run.clients) for f, m in zip(found, moments(name, run, after), strict=True)]
    old = moments(name, run, before)
    told = [sum((r * m for r, m in zip(row, old, strict=True)), Fraction(0)) for row in rows]
    return max(abs(f - t) for f, t in zip(found, told, strict=True)), 0


def model_falls(run: StoredRun) -> tuple[Any, Any] | None:
    """How far thetabar - x* after a round is from rho/(a + rho) of what it was, for the first draw, against 0."""
    problem: Any = run.problem
    a, rho = bends_of(run)[0], run.method.rho  # type: ignore[attr-defined]
    best = problem.b.sum() / problem.A.sum()
    before, after = ((s.x_bar.item() - best) for s in run.play(1))
    return abs(after - rho / (a + rho) * before), 0


def is_of_the_family(run: StoredRun) -> bool:
    """One curvature, exact solves, and all draws of P clients."""
    given: Any = run.problem
    drawn = [who.index.tolist() for who in run.clients or () if who is not None]
    every = [who.index.tolist() for who in all_draws(given.n, len(drawn[0]))] if drawn else []
    return isinstance(given, Quadratic) and len(set(given.A.ravel())) == 1 and is_exact(run) and drawn == every != []


def has_equal_clients(run: StoredRun) -> bool:
    """One minimiser."""
    given: Any = run.problem
    return len(set((given.b / given.A[..., 0]).ravel())) == 1


# ---- FedPD, DualFL ---------------------------------------------------------------------------------------------------------


def _by_ratio(pair: tuple[Any, Any]) -> tuple[bool, Any]:
    """Pairs that show a violation last, then by measured over allowed."""
    measured, allowed = pair
    return measured > allowed, measured / allowed if allowed else 0


def sum_of_gradients(run: StoredRun, rounds: int = 8) -> tuple[Any, Any]:
    """sum_{r=1}^T ||grad f(x_0^r)||^2 against (4(1+u)^2/eta) max{1, u^2/((1-2u)(1+u))} (f(x^0) - f(x_0^T)); where it fails most."""
    eta, states = run.method.eta, run.play(rounds)  # type: ignore[attr-defined]
    u = eta * smoothness(run)
    factor = 4 * (1 + u) ** 2 / eta * max(Fraction(1), u**2 / ((1 - 2 * u) * (1 + u)))
    values = [np.asarray(objective(run.problem, s.x)).item() for s in states]
    squares = [np.asarray(stationarity(run.problem, s)).item() for s in states]
    sums = itertools.accumulate(squares[1:])
    pairs = [(total, factor * (values[0] - value)) for total, value in zip(sums, values[1:], strict=True)]
    return max(pairs, key=_by_ratio)


def distance_to_the_minimiser(run: StoredRun) -> tuple[Any, Any]:
    """||theta^(n) - theta*||^2 against 4/(n+1)^2 mean_j ||grad f_j(theta*)||^2/nu^2, the theorem's with theta* moved to 0."""
    return _distances(run, lambda n: Fraction(4, (n + 1) ** 2))


def distance_in_the_range(run: StoredRun) -> tuple[Any, Any]:
    """||theta^(n) - theta*||^2 against (1 - r)^(n - 1) mean_j ||grad f_j(theta*)||^2/nu^2, rho = r^2.

    The inertia is a tower of square roots, which is rounded to 60 digits; what is measured is taken 1e-30 of it smaller.
    """
    method: Any = run.method
    rho = require("sympy", "the inertia").Rational(method.rho).evalf(60)
    rounded = replace(method, rho=lambda n: Fraction(str(beta(rho, n))))
    measured, allowed = _distances(replace(run, method=rounded), lambda n: (1 - root_of(method.rho)) ** (n - 1))
    return measured * (1 - Fraction(1, 10**30)), allowed


def _distances(run: StoredRun, factor: Callable[[int], Any], rounds: int = 8) -> tuple[Any, Any]:
    """||theta^(n) - theta*||^2 against a factor of V/nu^2; where it is nearest."""
    problem: Any = run.problem
    best = problem.b.sum() / problem.A.sum()
    variance = (problem.grad(np.array([[best]], dtype=object)) ** 2).sum() / problem.n
    unit = variance / run.method.nu**2  # type: ignore[attr-defined]
    states = enumerate(run.play(rounds))
    return max((((s.x.item() - best) ** 2, factor(n) * unit) for n, s in states if n >= 1), key=_by_ratio)


def is_in_the_range(run: StoredRun) -> bool:
    """Quadratics, rho the square of a fraction, nu < L <= nu/rho."""
    rho, nu = run.method.rho, run.method.nu  # type: ignore[attr-defined]
    plain = (
        isinstance(run.problem, Quadratic) and isinstance(rho, Fraction) and 0 < rho < 1 and root_of(rho) is not None
    )
    return plain and nu < smoothness(run) <= nu / rho


def root_of(rho: Fraction) -> Any:
    """The square root, where it is a fraction."""
    above, below = isqrt(rho.numerator), isqrt(rho.denominator)
    return Fraction(above, below) if (above**2, below**2) == (rho.numerator, rho.denominator) else None


def _has_tag(run: StoredRun, tag: str) -> bool:
    return tag in run.tags


# ---- sayings, meanings, runs -------------------------------------------------------------------------------------------------

ADMM_LIKE = (FedADMM, FedDyn, AFedPD)

SAYINGS: dict[str, Saying] = {
    "FEDSLR-T2d": Saying(
        (FedSLR,),
        "the copies' path has a finite length",
        copies_in_a_cycle,
        is_phase_one,
        ("A1 to A4", EXACT, CONTINUOUS, SHORT_STEP),
    ),
    "FEDSLR-T1a": Saying(
        (FedSLR,),
        "copies after a cluster point go to the same point",
        copies_in_a_cycle,
        is_phase_one,
        ("A1 to A3", EXACT, CONTINUOUS, SHORT_STEP),
    ),
    "FEDSLR-D6": Saying(
        (FedSLR,),
        "duals go to the clients' gradients at w_t",
        duals_in_a_cycle,
        is_phase_one,
        ("A1", "f bounded below, as Remark 4 reads A3", EXACT, SHORT_STEP),
    ),
    "AFEDPD-D7": Saying(
        ADMM_LIKE,
        "the moments obey a linear map",
        moments_follow_the_map,
        lambda run: not isinstance(run.method, FedADMM) or has_equal_clients(run),  # of others it is not linear alone
    ),
    "AFEDPD-D9": Saying((AFedPD,), "thetabar falls by rho/(a + rho) a round", model_falls),
    "FEDPD-D1": Saying((FedPD,), "the squared gradients have this sum at most", sum_of_gradients),
    "DUALFL-T3.2-EXACT": Saying(
        (DualFL,),
        "the squared distance is at most 4 V/((n + 1)^2 nu^2)",
        distance_to_the_minimiser,
        lambda run: run.method.rho == 0 and isinstance(run.problem, Quadratic),  # type: ignore[attr-defined]
    ),
    "DUALFL-T3.3a-EXACT": Saying(
        (DualFL,),
        "the squared distance is at most (1 - sqrt(rho))^(n - 1) V/nu^2",
        distance_in_the_range,
        is_in_the_range,
        (CONVEX, EXACT_DUALFL),
    ),
    **said_of_safari.SAYINGS,
}

MEANINGS: dict[str, AssumptionTest] = {
    **{text: partial(_has_tag, tag=text) for text in ("A1", "A1 to A3", "A1 to A4", KL_HOLDS, CONTINUOUS)},
    "f bounded below, as Remark 4 reads A3": lambda run: "A1 to A3" in run.tags,
    EXACT: lambda run: is_exact(run) and run.method.init_dual == "grad",  # type: ignore[attr-defined]
    PRINTED_STEP: lambda run: 0 < run.method.eta * smoothness(run) <= Fraction(1, 2),  # type: ignore[attr-defined]
    SHORT_STEP: lambda run: 0 < run.method.eta * smoothness(run) < Fraction(1, 2),  # type: ignore[attr-defined]
    FAMILY: is_of_the_family,
    "equal clients": has_equal_clients,
    A1: lambda run: isinstance(run.problem, Quadratic),
    A2: lambda run: bends_of(run).sum() > 0,
    "u < 1/2": lambda run: run.method.eta * smoothness(run) < Fraction(1, 2),  # type: ignore[attr-defined]
    "p = 0": lambda run: run.method.p == 0,  # type: ignore[attr-defined]
    "exact local solves": is_exact,
    "lam_i^0 = -grad f_i(x^0)": lambda run: run.method.init_dual == "grad",  # type: ignore[attr-defined]
    CONVEX: lambda run: 0 < run.method.nu <= min(bends_of(run)),  # type: ignore[attr-defined]
    EXACT_DUALFL: is_exact,
}


def assumed(claim: Claim) -> tuple[str, ...]:
    """What a claim's author assumes: without what its steps add of themselves, the region of a lemma, what a theorem's quantities are given by."""
    steps = getattr(claim.check, "keywords", {}).get("steps", ())
    own = {f"{step.name}: {said}" for step in steps for said in _scope(step.statement)}
    return tuple(text for text in claim.assumptions if text not in own)


def _scope(statement: Any) -> Sequence[str]:
    return write_scope(statement) if isinstance(statement, Theorem) else (str(getattr(statement, "region", "")),)


def list_sayings(claims: Mapping[str, Claim]) -> tuple[dict[str, list[Saying]], dict[str, str]]:
    """All sayings by the claims' ids, and why other claims, and theorems that are data, say nothing."""
    sayings = {id: [saying] for id, saying in SAYINGS.items() if id in claims}
    silent: dict[str, str] = {}
    for id, claim in claims.items():
        more, why = list_theorem_sayings(claim)
        silent |= why
        if more:
            sayings.setdefault(id, []).extend(more)
        elif id not in sayings and not why:
            silent[id] = _why_silent(claim)
    return sayings, silent


def _why_silent(claim: Claim) -> str:
    steps = getattr(claim.check, "keywords", {}).get("steps", ())
    if claim.kind == "ordering":
        return "it compares experiments with each other"
    if steps and all(isinstance(step.statement, Lemma) for step in steps):
        return "it is made of lemmas, about vectors and numbers and no run"
    return "nobody has said it as a function of a run"


def list_sayers(claims: Mapping[str, Claim]) -> list[Claim]:
    """The claims that say something, each with what its author assumes."""
    return [replace(claims[id], assumptions=assumed(claims[id])) for id in list_sayings(claims)[0]]


def all_draws(n: int, active: int) -> tuple[Clients, ...]:
    """Every choice of so many clients."""
    return tuple(Clients(n, np.array(chosen)) for chosen in itertools.combinations(range(n), active))


def at_the_optimum(problem: Any, method: Any) -> Any:
    """The state in which every client has its optimal dual."""
    best = problem.b.sum() / problem.A.sum()
    return method.fixed_point(problem, np.array([[best]], dtype=object))


def stored_runs() -> Iterator[StoredRun]:
    """The runs that claims know by themselves: in closed form, or as statements on an instance."""
    third = Fraction(3, 2)
    unequal = quadratics([1, 1, 1], [1, 2, -3])
    fedslr = frozenset({"A1", "A1 to A3", "A1 to A4", KL_HOLDS, CONTINUOUS})
    for eta in ("1/2", "2/5"):
        yield StoredRun(
            "FEDSLR-T1a",
            FedSLR(Fraction(eta)),
            regularised(plateau(), L1(Fraction(1))),
            column(["1/10"]),
            tags=fedslr,
        )
    at_optimum: Any = FedADMM(third, averages="active")
    yield StoredRun("AFEDPD-D12", at_optimum, unequal, column([0]), at_the_optimum, all_draws(3, 1))
    for method in (FedDyn(third), AFedPD(third)):
        yield StoredRun("AFEDPD-D8", method, unequal, column([2]), clients=all_draws(3, 2))
    equal = quadratics([1, 1, 1], [0, 0, 0])
    yield StoredRun("AFEDPD-D11", at_optimum, equal, column([2]), clients=all_draws(3, 2))
    for claim, statement in (*(("FEDPD-D12", stated) for stated in D12.values()),):
        yield from list_stored_runs(claim, statement)
    yield from said_of_safari.stored_runs()
    centres = np.array([Fraction(b) for b in ONE_OF_TWO["centres"]], dtype=object)
    pair = quadratics([Fraction(ONE_OF_TWO["L"])] * len(centres), centres)
    drawn = all_draws(len(centres), int(ONE_OF_TWO["P"]))
    yield StoredRun(
        "AFEDPD-T1", AFedPD(Fraction(ONE_OF_TWO["rho"])), pair, column([ONE_OF_TWO["start"]]), clients=drawn
    )


def list_replayed(claims: Mapping[str, Claim]) -> tuple[list[StoredRun], dict[str, str]]:
    """The runs that stored counterexamples play when they are replayed, and why the others play none, by claim and part."""
    runs: list[StoredRun] = []
    idle: dict[str, str] = {}
    for stored in collected.read_instances():
        name = f"{stored['claim']}: {stored['part']}"
        if "statement" in stored["instance"]:
            idle[name] = "an instance of a lemma or a theorem: vectors of its own, and no run of a method"
            continue
        try:
            found = list(list_recorded_runs(claims[stored["claim"]], stored["instance"]))
        except NotAvailable as error:
            idle[name] = str(error)
            continue
        runs += [with_tags(run) for run in found]
        if not found:
            idle[name] = "its replay plays no round of a listed method in fractions"
    return runs, idle


def with_tags(run: StoredRun) -> StoredRun:
    """A run with what is known of its functions: that of FedSLR's cycle are piecewise quadratic with an l1 norm."""
    fedslr = frozenset({"A1", "A1 to A3", "A1 to A4", KL_HOLDS, CONTINUOUS})
    known = isinstance(run.method, FedSLR) and isinstance(getattr(run.problem, "inner", None), PiecewiseQuadratic)
    return replace(run, tags=fedslr) if known else run


def random_runs(seed: int, length: Fraction, value: Fraction) -> Iterator[StoredRun]:
    """Runs on random quadratics on the line in fractions, in units of length and value."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))

    def draw(low: int, high: int) -> list[Fraction]:
        return [Fraction(int(k), 10) for k in rng.integers(low, high, n)]

    unit = value / length**2  # of curvatures and penalties
    bends, middles = [unit * a for a in draw(int(rng.choice([1, 5])), 11)], [length * b for b in draw(-10, 11)]
    start, rate = column([length * draw(-10, 11)[0]]), Fraction(int(rng.integers(1, 5)), 10) / unit
    of_all = quadratics(bends, middles)
    active = all_draws(n, int(rng.integers(1, n + 1)))
    alike = quadratics([unit] * n, middles)
    same = quadratics([unit] * n, [middles[0]] * n)
    weight = Fraction(int(rng.integers(1, 30)), 10) * unit
    yield StoredRun("random", FedPD(rate), of_all, start)
    yield StoredRun("random", DualFL(min(bends)), of_all, start)
    yield StoredRun("random", DualFL(min(bends) * Fraction(1, 2), Fraction(1, 400)), of_all, start)
    for eta in (rate / 2, Fraction(1, 2) / max(bends)):
        yield StoredRun("random", FedSLR(eta), of_all, start)
    yield from said_of_safari.random_runs(rng, length, value)
    for method in (FedDyn(weight), AFedPD(weight)):
        yield StoredRun("random", method, alike, start, clients=active)
    for method in (FedADMM(weight, averages="active"), FedDyn(weight), AFedPD(weight)):  # type: ignore[assignment]
        yield StoredRun("random", method, same, start, clients=active)

"""A-FedPD's Theorem 1 as printed: instances on which Algorithm 1 is played over all draws of clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Context, Fault, Finding, Reading, Replay, assume, disproved, proved, refute
from fedtheory.claims.statements.as_claims import is_derived
from paper_checks.afedpd import lemmas
from paper_checks.afedpd.partial_rounds import tends_to_floor
from paper_checks.afedpd.stability import Number, replay_twice, stated
from paper_checks.afedpd.theory import SAMPLING
from paper_checks.afedpd.theory_pictures import draw_theorem_1

#: f_i = (L/2)(x - b_i)^2, P of them a round, from theta^0
ONE_OF_TWO: Mapping[str, Any] = {"L": "1", "centres": ["1", "-1"], "P": 1, "rho": "20", "start": "0", "rounds": 8}
TWO_OF_SIX: Mapping[str, Any] = {
    "L": "1",
    "centres": ["1", "-1", "1", "-1", "1", "-1"],
    "P": 2,
    "rho": "20",
    "start": "0",
    "rounds": 15,
}
ONE_CLIENT: Mapping[str, Any] = {"L": "1/4", "centres": ["0"], "P": 1, "rho": "2", "start": "1", "rounds": 15}


def play_round(L: Any, centres: Sequence[Any], rho: Any, state: NDArray[Any], active: Sequence[int]) -> NDArray[Any]:
    """Algorithm 1 line by line with exact solves, on (L/2)(x - b_i)^2: rows 1, thetabar, theta and all duals, which are linear in what they were."""
    one, _, theta, *duals = state
    models = {i: (one * (L * centres[i]) - duals[i] + theta * rho) / (L + rho) for i in active}
    bar = sum(models.values()) / len(active)
    duals = [dual + (models.get(i, bar) - theta) * rho for i, dual in enumerate(duals)]
    return np.array([one, bar, bar + sum(duals) / (rho * len(duals)), *duals], dtype=object)


def second_moments(
    L: Any, centres: Sequence[Any], rho: Any, start: Any, P: int, rounds: int
) -> Iterator[tuple[Any, Any]]:
    """E thetabar^t and E (thetabar^t)^2 for t = 1, ..., T: a round takes E of the products of the state's rows to the mean over all draws."""
    C, one = len(centres), L / L
    first = np.array([one, start, start] + [0 * one] * C, dtype=object)
    products = np.outer(first, first)
    basis = np.array([[one * (i == j) for j in range(C + 3)] for i in range(C + 3)], dtype=object)
    maps = [play_round(L, centres, rho, basis, active) for active in combinations(range(C), P)]
    for _ in range(rounds):
        products = sum(m @ products @ m.T for m in maps) / len(maps)
        yield products[0, 1], products[1, 1]


def sides_of_8(instance: Mapping[str, Any], number: Number) -> tuple[Any, Any]:
    """E of the sum of ||grad f(thetabar^t)||^2 over the rounds, and (8)'s numerator, over all draws of P clients a round.

    R_0 counts what every client would return in the first round.
    """
    L, rho, start = (number(instance[name]) for name in ("L", "rho", "start"))
    centres = [number(b) for b in instance["centres"]]
    least = sum(centres) / len(centres)
    moments = second_moments(L, centres, rho, start, int(instance["P"]), int(instance["rounds"]))
    away = [square - 2 * least * mean + least**2 for mean, square in moments]
    first = sum((L / (L + rho) * (b - start)) ** 2 for b in centres) / len(centres)
    return L**2 * sum(away), lemmas.numerator_of_8(rho, L / 2 * away[0], first)


def replay_t1(instance: Mapping[str, Any]) -> Replay:
    """(8) times T, in floats and in fractions."""
    L, rho = Fraction(instance["L"]), Fraction(instance["rho"])
    C, P = len(instance["centres"]), int(instance["P"])
    met = (
        assume("f_i = (L/2)(x - b_i)^2 are L-smooth and f is bounded below", "L > 0", L=L),
        assume("P of C clients", "1 <= P <= C", P=P, C=C),
        assume("rho", "rho > 0", rho=rho),
        assume("the condition of Appendix B.2.2", "r*r - 4*L**3*r - 36*L*L - 4*L**4 > 0", r=rho, L=L),
        assume("the condition with q = rho/(32 L^2)", "r*r - 36*L*L >= 16*L**3*r + 16*L**4", r=rho, L=L),
    )
    what = f"E sum of ||grad f(thetabar^t)||^2 over {instance['rounds']} rounds, {P} of {C} clients, exact solves, against rho D + R_0"
    return replay_twice(what, lambda number: sides_of_8(instance, number), met)


def check_t1(
    ctx: Context, *, of: Mapping[str, Any] = ONE_OF_TWO, factor: int = 2, alone: Mapping[str, Any] = ONE_CLIENT
) -> Iterator[Finding]:
    """One of two clients a round: an instance, and no constants; one client of one; the sum of the potential's falls."""
    yield refute("one of two clients", replay_t1, dict(of), text="All draws of clients.")
    yield disproved(
        "any constants before D and R_0",
        tends_to_floor(factor),
        "P = 1, f_1, f_2 = (x -+ 1)^2/2, exact solves: E ||grad f(thetabar^t)||^2 tends to 1/(1 + 2 rho) for every rho, and the right side to 0 as T "
        "grows (AFEDPD-D13)",
    )
    yield refute("all clients", replay_t1, dict(alone), role="reading", text="One client, which always takes part.")
    yield proved(
        "all clients, corrected",
        is_derived(lemmas.POTENTIAL),
        "with all clients, exact solves and rho >= 7.583 L a round lowers f(thetabar^t) + (L^2/(4 rho)) R_{t-1} by ||grad f(thetabar^t)||^2/(4 rho) "
        "(AFEDPD-T1R); summed over t = 1..T and times 4 rho: (4 rho (f(thetabar^1) - f*) + L^2 R_0)/T",
        role="reading",
    )
    yield Reading(
        "The theorem allows every rho > 0 and every P; its epsilon is that of local training, which exact solves make 0. Both instances meet both "
        "conditions on rho that its proof gives. With all clients the order O(1/T) stands; that is less than the theorem says, and no repair. For "
        "2 <= P < C: AFEDPD-T1-SOME."
    )
    yield draw_theorem_1(ctx)


def check_t1_some(ctx: Context, *, of: Mapping[str, Any] = TWO_OF_SIX) -> Iterator[Finding]:
    """Two of six clients a round: an instance at which the printed constants fail."""
    yield refute("2 <= P < C", replay_t1, dict(of), text="All draws of clients, by exact second moments.")
    yield Reading(
        "The instance meets both conditions on rho of the proof. Here E ||grad f||^2 falls by a factor a round, and so the sum "
        "is finite, but as C and rho "
        "grow for one P it is (C-1)/(P-1) times the numerator (AFEDPD-D14), so that no constants before D and R_0 serve that are "
        "free of C and P. Whether some "
        "that depend on them do, for all L-smooth f_i, is open."
    )


CLAIMS: list[Claim] = [
    stated(
        "AFEDPD-T1",
        "Theorem 1, (8)",
        "(1/T) sum_{t=1}^T E ||grad f(thetabar^t)||^2 <= (rho (f(thetabar^1) - f*) + R_0)/T + O(epsilon), for every rho > 0 and P <= C.",
        check_t1,
        Fault("both clients a round", "one of two clients", {"of": {**ONE_OF_TWO, "P": 2}}, holds=True),
        Fault("1/(1 + 3 rho)", "any constants before D and R_0", {"factor": 3}, holds=True),
        Fault("fewer rounds", "all clients", {"alone": {**ONE_CLIENT, "rounds": 5}}, holds=True),
        assumptions=(SAMPLING, "local solutions are epsilon-inexact"),
        kind="rate",
        replay=replay_t1,
    ),
    stated(
        "AFEDPD-T1-SOME",
        "Theorem 1, (8), 2 <= P < C",
        "(1/T) sum_{t=1}^T E ||grad f(thetabar^t)||^2 <= (rho (f(thetabar^1) - f*) + R_0)/T + O(epsilon), where 2 <= P < C clients take part.",
        check_t1_some,
        Fault("all clients a round", "2 <= P < C", {"of": {**TWO_OF_SIX, "P": 6}}, holds=True),
        Fault("five of six", "2 <= P < C", {"of": {**TWO_OF_SIX, "P": 5}}, holds=True),
        assumptions=(SAMPLING, "local solutions are epsilon-inexact"),
        kind="proof step",
        replay=replay_t1,
    ),
]

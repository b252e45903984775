"""A-FedPD's Theorem 1 as printed: instances on which Algorithm 1 is played over all draws of clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from fedtheory.claims import Claim, Context, Fault, Finding, Reading, Replay, assume, disproved, proved, refute
from fedtheory.claims.statements.as_claims import is_derived
from paper_checks.afedpd import lemmas
from paper_checks.afedpd.partial_rounds import tends_to_floor
from paper_checks.afedpd.stability import Number, replay_twice, stated
from paper_checks.afedpd.theory import SAMPLING
from paper_checks.afedpd.theory_pictures import draw_theorem_1

#: f_i = (L/2)(x - b_i)^2, P of them a round, from theta^0
ONE_OF_TWO: Mapping[str, Any] = {"L": "1", "centres": ["1", "-1"], "P": 1, "rho": "20", "start": "0", "rounds": 8}
ONE_CLIENT: Mapping[str, Any] = {"L": "1/4", "centres": ["0"], "P": 1, "rho": "2", "start": "1", "rounds": 15}


def play_rounds(L: Any, centres: Sequence[Any], rho: Any, start: Any, drawn: Sequence[Sequence[int]]) -> list[Any]:
    """Algorithm 1 line by line with exact solves, on (L/2)(x - b_i)^2, for one sequence of active clients: thetabar^1, ..., thetabar^T."""
    theta, duals, found = start, [0 * rho for _ in centres], []
    for active in drawn:
        models = {i: (L * centres[i] - duals[i] + rho * theta) / (L + rho) for i in active}
        bar = sum(models.values()) / len(active)
        duals = [dual + rho * (models.get(i, bar) - theta) for i, dual in enumerate(duals)]
        theta = bar + sum(duals) / len(duals) / rho
        found.append(bar)
    return found


def sides_of_8(instance: Mapping[str, Any], number: Number) -> tuple[Any, Any]:
    """E of the sum of ||grad f(thetabar^t)||^2 over the rounds, and (8)'s numerator, over all draws of P clients a round.

    R_0 counts what every client would return in the first round.
    """
    L, rho, start = (number(instance[name]) for name in ("L", "rho", "start"))
    centres = [number(b) for b in instance["centres"]]
    least = sum(centres) / len(centres)
    subsets = list(combinations(range(len(centres)), int(instance["P"])))
    played = [play_rounds(L, centres, rho, start, d) for d in product(subsets, repeat=int(instance["rounds"]))]
    total = sum(L**2 * (bar - least) ** 2 for bars in played for bar in bars) / len(played)
    gap = sum(L / 2 * (bars[0] - least) ** 2 for bars in played) / len(played)
    first = sum((L / (L + rho) * (b - start)) ** 2 for b in centres) / len(centres)
    return total, lemmas.numerator_of_8(rho, gap, first)


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
        "conditions on rho that its proof gives. With all clients the order O(1/T) stands; that is less than the theorem says, and no repair. With 2 "
        "<= P < C its constant fails where C is large (AFEDPD-D14)."
    )
    yield draw_theorem_1(ctx)


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
]

"""SAFARI's Lemma 1: what a sample says of risks (16), of how often two hypotheses differ (17), and of the minimiser's excess (18).

Two hypotheses differ on a point x_2 of mass p. A sample without x_2 says nothing of them, and such samples have the probability (1 - p)^m. With
delta = root^m, root < 1 - p, each display must cover them, and with the printed A none does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from math import ceil, log
from typing import Any

import numpy as np

from fedtheory.claims import (
    Claim,
    Context,
    Covered,
    Fault,
    Finding,
    Picture,
    Reading,
    Replay,
    assume,
    at_most,
    disproved,
    draw_bound,
    refute,
)
from fedtheory.proofs.facts import compare
from paper_checks.safari.optimisation import PAPER
from problems.learning import binomial_at_most

FEW = {"m": 15, "p": "39/100", "root": "3/5"}
#: what is left of p, for c = 1, where x_2 is not drawn: (16) asks p <= A, (17) p/2 <= A, and (18), with beta_Q = 1, p <= A
SHARES = {"(16)": Fraction(1), "(17)": Fraction(1, 2), "(18)": Fraction(1)}


def above(x: float) -> Fraction:
    """A fraction a little above a logarithm computed in floats."""
    return Fraction(ceil(x * 10**9) + 1, 10**9)


def complexity(n: int, delta: float, outside: bool = True, d: int = 1) -> float:
    """A(n, delta) for n >= d_H = d, in its standard form; as printed log(1/delta)/n is inside of the logarithm."""
    confidence = log(1 / delta) / n
    return d / n * log(n / d) + confidence if outside else d / n * log(n / d + confidence)


def room(p: Any, phat: Any, A: Any, c: Any) -> Any:
    """What (16) leaves between excess risks and empirical ones, for P and Phat of h != h'."""
    return c * np.sqrt(min(p, phat) * A) + c * A


def fewest(p: Any, A: Any, c: Any) -> Any:
    """What (17) says that Phat of h != h' is at least."""
    return p / 2 - c * A


def most(p: Any, A: Any, c: Any) -> Any:
    """What (17) says that Phat of h != h' is at most."""
    return 2 * p + c * A


def replay_undrawn(instance: Mapping[str, Any], *, display: str) -> Replay:
    """Two hypotheses that differ on x_2, P(x_2) = p: the probability of samples without x_2, on which a display fails, against delta = root^m."""
    m, p, root = int(instance["m"]), Fraction(instance["p"]), Fraction(instance["root"])
    printed = above(log(m + log(1 / root)) / m)
    failure, delta = (1 - p) ** m, root**m
    met = (
        assume(
            f"c = 1, d_H = 1: where x_2 is not drawn {display} asks that A be at least the share of p, and it is less",
            "A < share*p",
            A=printed,
            share=SHARES[display],
            p=p,
        ),
        assume("0 < delta < 1", "0 < r < 1", r=root),
    )
    what = f"probability that {display} fails with A as printed, m = {m}, against delta = ({root})^m"
    return Replay(what, (1 - float(p)) ** m, float(root) ** m, failure, delta, "fractions", met)


def at_most_or_at_least(m: int, p: Fraction, few: int, many: int) -> float:
    """P[k <= few or k >= many] for k ~ Bin(m, p)."""
    below = binomial_at_most(m, p, few) if few >= 0 else Fraction(0)
    return float(below + 1 - binomial_at_most(m, p, many - 1))


def risks_fail(m: int, p: Fraction, A: float, c: float = 2.0) -> float:
    """Probability that (16) fails, either way round, for two hypotheses of which one is right; phat ~ Bin(m, p)/m."""
    left = [room(float(p), k / m, A, c) for k in range(m + 1)]
    few = max((k for k in range(m + 1) if float(p) - k / m > left[k]), default=-1)
    many = min((k for k in range(m + 1) if k / m - float(p) > left[k]), default=m + 1)
    return at_most_or_at_least(m, p, few, many)


def counts_fail(m: int, p: Fraction, A: float, c: float = 2.0) -> float:
    """Probability that (17) fails."""
    few = max((k for k in range(m + 1) if k / m < fewest(float(p), A, c)), default=-1)
    many = min((k for k in range(m + 1) if k / m > most(float(p), A, c)), default=m + 1)
    return at_most_or_at_least(m, p, few, many)


def minimiser_fails(m: int, p: Fraction, A: float, c: float = 2.0, lean: Fraction = Fraction(1)) -> float:
    """Probability that (18) fails: a minimiser may be the wrong hypothesis, and its excess lean p is above c A^{1/(2 - beta_Q)}.

    The label of x_2 is right with probability (1 + lean)/2. Then P_Q(h != h') = p is at most (lean p)^{beta_Q} for beta_Q = 1 where lean is 1, and
    for beta_Q = 0 else.
    """
    if float(lean * p) <= c * A ** (1 if lean == 1 else 0.5):
        return 0.0
    right = (1 + lean) / 2
    drawn = [binomial_at_most(m, p, k) for k in range(m + 1)]
    chances = [after - before for before, after in zip([Fraction(0), *drawn], drawn, strict=False)]
    wrong = [Fraction(k == 0) if lean == 1 else binomial_at_most(k, right, k // 2) for k in range(m + 1)]
    return float(sum(a * b for a, b in zip(chances, wrong, strict=True)))


def draw_undrawn(display: str, p: Fraction, root: Fraction) -> Picture:
    """The printed A at delta = root^m, which tends to 0, and what every valid bound must be."""
    sizes = [10, 20, 50, 100, 200, 500, 1000, 2000]
    return draw_bound(
        f"Lemma 1, {display}: A(m, delta) with the bracket as printed",
        sizes,
        [log(m + log(1 / root)) / m for m in sizes],
        xlabel="m",
        ylabel="bound at level delta",
        about=f"two hypotheses that differ on a point of mass {p}, delta = ({root})^m; claimed: A as printed, c = 1; no seeds",
        more=[
            ("what every bound at this level must be", [SHARES[display] * p] * len(sizes)),
            ("A with the bracket moved", [log(m) / m + log(1 / root) for m in sizes]),
        ],
        logx=True,
    )


def check_display(
    ctx: Context,
    *,
    display: str,
    fails: Callable[..., float],
    kinds: tuple[Fraction | None, ...] = (None,),
    instance: Mapping[str, Any] = FEW,
    outside: bool = True,
) -> Iterator[Finding]:
    """The printed A is refuted, for every c, by a point that is not drawn; with the bracket moved the display holds with c = 2 where it was tried."""
    yield refute(
        "A as printed",
        partial(replay_undrawn, display=display),
        dict(instance),
        text="A point of mass p that is not drawn.",
    )
    p, root = Fraction(instance["p"]), Fraction(instance["root"])
    least = SHARES[display] * p
    often = 64 if SHARES[display] == 1 else 256
    yield disproved(
        "A as printed, every constant",
        compare(1 - p, ">", root)
        and compare(Fraction(8, often), "<", least**2)
        and compare(Fraction(5, 3), "<=", Fraction(2718, 1000)),
        f"for c >= 1 and m >= {often} c^2: log(m + log(5/3)) <= log(2 m) <= 2 sqrt(2 m), so that c A <= 2 c sqrt(2/m) <= sqrt(8/{often}) < {least}, "
        "while x_2 is not drawn with probability (1 - p)^m > delta",
    )
    cases = [
        (m, Fraction(q), d, kind)
        for m in (15, 60, 240)
        for q in ("1/20", "39/100", "4/5")
        for d in (0.05, 0.6**m)
        for kind in kinds
    ]
    yield at_most(
        "bracket moved",
        [fails(m, q, complexity(m, d, outside), **({} if lean is None else {"lean": lean})) for m, q, d, lean in cases],
        [d for _, _, d, _ in cases],
        "numeric",
        f"A = (d_H/m) log(m/d_H) + log(1/delta)/m, c = 2: exact probabilities that {display} fails for two hypotheses, "
        "against delta, down to (3/5)^m",
        role="repaired",
        covered=Covered(len(cases), "points"),
    )
    yield draw_undrawn(display, p, root)
    yield Reading(
        "Printed is A = (d_H/m) log(m/d_H + log(1/delta)/m); the cited form has log(1/delta)/m outside of the logarithm. For fixed delta and "
        "large m both agree up to a factor 2, so that Theorems 2 and 3 are not touched."
    )
    if display == "(18)":
        yield Reading(
            "(18) prints = where a bound is meant, and no constant: it is read as <= with a constant c, as at the end of the proof of Theorem 3."
        )


def claim_of(
    id: str,
    display: str,
    statement: str,
    fails: Callable[..., float],
    kinds: tuple[Fraction | None, ...] = (None,),
    assumptions: tuple[str, ...] = (),
) -> Claim:
    """One display of Lemma 1."""
    too_heavy = FEW | {"p": "401/1000"}
    return Claim(
        id,
        PAPER,
        "bound",
        f"Lemma 1, {display}",
        f"{statement} with probability 1 - delta, A = (d_H/m) log(m/d_H + log(1/delta)/m).",
        partial(check_display, display=display, fails=fails, kinds=kinds),
        (
            Fault("p a thousandth above 2/5", "A as printed", {"instance": too_heavy}, holds=True),
            Fault("the bracket as printed", "bracket moved", {"outside": False}),
        ),
        ("delta = root^m in the counterexample", *assumptions),
        repaired="With the bracket moved: A = (d_H/m) log(max(m, d_H)/d_H) + log(1/delta)/m.",
        replay=partial(replay_undrawn, display=display),
    )


CLAIMS: list[Claim] = [
    claim_of(
        "SAFARI-L1",
        "(16)",
        "R(h) - R(h') <= Rhat(h) - Rhat(h') + c sqrt(min{P_S(h != h'), Phat_S(h != h')} A) + c A",
        risks_fail,
    ),
    claim_of("SAFARI-L1b", "(17)", "P_S(h != h')/2 - c A <= Phat_S(h != h') <= 2 P_S(h != h') + c A", counts_fail),
    claim_of(
        "SAFARI-L1c",
        "(18)",
        "eps_Q(hhat*_Q) <= c A^{1/(2 - beta_Q)} for a minimiser hhat*_Q of the empirical risk",
        minimiser_fails,
        (Fraction(1), Fraction(1, 2), Fraction(1, 10)),
        (
            "labels of the counterexample are certain, so that the excess is p and beta_Q = 1; where x_2 is not drawn both hypotheses minimise the "
            "empirical risk, and hhat*_Q may be the wrong one",
        ),
    ),
]

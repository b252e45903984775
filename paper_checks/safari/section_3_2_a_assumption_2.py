"""Section 3.2: Assumption 2, that P and Q are positively related: the paper's example, and whether it is mild."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.claims import Claim, Context, Fault, Finding, Picture, Reading, Replay, Theorem, draw_bound
from fedtheory.claims.parts import assume, refute
from paper_checks.formulas import formula
from paper_checks.safari.notation import claim
from paper_checks.steps import Step
from problems.learning import FiniteClass
from problems.thresholds import uniform

CLAIMS: list[Claim] = []

# ---- The example -----------------------------------------------------------------------------------------------------
OUTSIDE = {"b": "1/2", "star": "2/5", "t": "1"}


def draw_example(b: Fraction = Fraction(1, 2), star: Fraction = Fraction(2, 5)) -> Picture:
    """The difference of excess errors by threshold, against alpha eps_Q as printed."""
    P, Q, thresholds = uniform(Fraction(0), Fraction(1)), uniform(Fraction(0), b), [Fraction(k, 40) for k in range(41)]
    at_p, at_q = ([law.mass(t, star) for t in thresholds] for law in (P, Q))
    return draw_bound(
        "Assumption 2 in the paper's example",
        thresholds,
        [(1 - b) * q for q in at_q],
        xlabel="threshold t",
        ylabel="|eps_P - eps_Q|",
        about=f"P uniform on [0, 1], Q uniform on [0, {b}], t* = {star}; claimed: (1 - {b}) eps_Q; masses of intervals in fractions, no seeds",
        more=[("exact", [abs(p - q) for p, q in zip(at_p, at_q, strict=True)])],
    )


def alpha_of_example(narrow: Any, wide: Any) -> Any:
    """alpha of the example, from b' - a' and b - a."""
    return 1 - narrow / wide


def replay_a2a(instance: Mapping[str, Any]) -> Replay:
    """P = U[0, 1], Q = U[0, b]: |eps_P - eps_Q| of h_t against (1 - b) eps_Q."""
    b, star, t = (Fraction(instance[name]) for name in ("b", "star", "t"))

    def sides(b: Any, star: Any, t: Any) -> tuple[Any, Any]:
        eps_p, eps_q = uniform(0, 1).mass(t, star), uniform(0 * b, b).mass(t, star)
        return abs(eps_p - eps_q), alpha_of_example(b, 1) * eps_q

    met = (
        assume("t* in [a', b'], inside of [a, b] = [0, 1]", "0 <= s <= b <= 1", s=star, b=b),
        assume("t in [a, b]", "0 <= t <= 1", t=t),
    )
    numeric, exact = sides(float(b), float(star), float(t)), sides(b, star, t)
    return Replay(f"|eps_P - eps_Q| at t = {t} against alpha eps_Q", *numeric, *exact, "fractions", met)


#: u = |t - t*|, wide = b - a, narrow = b' - a'
INSIDE = Theorem(
    name="thresholds in [a', b']",
    region="0 < narrow, narrow <= wide, 0 <= u <= narrow",
    where={"eps_P": "u/wide", "eps_Q": "u/narrow"},
    claim=("0 <= eps_Q - eps_P", f"eps_Q - eps_P == ({formula(alpha_of_example, narrow='narrow', wide='wide')})*eps_Q"),
    proof="""
      less: claim 1     by combine
      same: claim 2     by combine
    """,
)


def check_a2a(ctx: Context, *, instance: Mapping[str, Any] = OUTSIDE) -> Iterator[Finding]:
    """A threshold beyond b'."""
    yield refute(
        "any threshold", replay_a2a, dict(instance), text="A threshold beyond b' errs under P where Q has no mass."
    )
    yield draw_example()
    yield Reading(
        "An illustration in the paper, which later speaks of one support; only 'for any t' fails, and for t* = b' < b no alpha serves."
    )


CLAIMS += [
    claim(
        "SAFARI-A2a",
        "example after Assumption 2",
        "For P = U[a, b], Q = U[a', b'] inside and t* in [a', b'], every threshold satisfies Assumption 2 with beta = 1, alpha = 1 - (b' - "
        "a')/(b - a).",
        [Step("thresholds in [a', b']", INSIDE, "repaired")],
        kind="bound",
        besides=check_a2a,
        faults=(Fault("t = b'", "any threshold", {"instance": OUTSIDE | {"t": "1/2"}}, holds=True),),
        readings=[
            "u = |t - t*|, wide = b - a, narrow = b' - a'; eps_Q is never below eps_P, and their difference is alpha eps_Q."
        ],
        repaired="For every threshold in [a', b'].",
        replay=replay_a2a,
    )
]

# ---- "Mild" ----------------------------------------------------------------------------------------------------------
MISSPECIFIED: dict[str, Any] = {"d": ("13/15", "0", "2/15"), "weight": "3/5"}
RULES = FiniteClass(((1, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0)), (Fraction(1), Fraction(0), Fraction(1)))
TARGET = (Fraction(1, 5), Fraction(1, 2), Fraction(3, 10))


def mixed_law(d: Sequence[Any], weight: Any, number: Any = Fraction) -> tuple[Any, ...]:
    """Q = weight D + (1 - weight) P on the three points, P = `TARGET`; ``number`` is the arithmetic."""
    return tuple(weight * number(Fraction(v)) + (1 - weight) * number(p) for v, p in zip(d, TARGET, strict=True))


def replay_misspecified(instance: Mapping[str, Any]) -> Replay:
    """Thresholds on three points with labels 1, 0, 1: eps_P of the best rule under Q, against 0."""
    weight = Fraction(instance["weight"])
    drawn = mixed_law(instance["d"], weight)
    excess = RULES.excess(TARGET)[RULES.best(drawn)]
    best = RULES.best(mixed_law(instance["d"], float(weight), float))
    total = sum((Fraction(d) for d in instance["d"]), Fraction(0))
    met = (
        assume("D is a law", "d == 1", d=total),
        assume("Q = lambda_1 D + lambda_2 P, lambda_2 > 0", "0 < w < 1", w=weight),
        assume("eps_Q(h*_Q) = 0", "e == 0", e=RULES.excess(drawn)[RULES.best(drawn)]),
    )
    return Replay(
        "|eps_P - eps_Q| at h*_Q against alpha eps_Q(h*_Q)^beta, beta > 0",
        float(RULES.excess([float(p) for p in TARGET])[best]),
        0.0,
        excess,
        Fraction(0),
        "fractions",
        met,
    )


#: risks of a rule and of the right one, which is the best under P and under D; Q = l P + (1 - l) D
OF_RULES: dict[str, Any] = {
    "region": "0 < l < 1, 0 <= P_star, P_star <= P, 0 <= D_star, D_star <= D",
    "where": {"eps_P": "P - P_star", "eps_Q": "l*P + (1 - l)*D - (l*P_star + (1 - l)*D_star)"},
}
RELATED = Theorem(
    **OF_RULES | {"region": f"{OF_RULES['region']}, 1 <= alpha"},
    name="where the right rule is in H",
    given={"large": "(1 - l)/l <= alpha"},
    claim=("eps_P - eps_Q <= alpha*eps_Q", "eps_Q - eps_P <= alpha*eps_Q"),
    proof="""
      size: 0 <= eps_Q     by combine
      more: claim 1        by combine eps_Q*large
      less: claim 2        by combine (alpha - 1)*size
    """,
)


def draw_misspecified() -> Picture:
    """eps_P of the best rule under the mixture by the share of clients' data, against the 0 that Assumption 2 with beta > 0 asks for."""
    shares = [Fraction(k, 40) for k in range(40)]
    return draw_bound(
        "The best rule under Q, judged under P",
        shares,
        [0] * len(shares),
        xlabel="lambda_1, share of the clients' law D",
        ylabel="eps_P(h*_Q)",
        about="thresholds on three points with labels 1, 0, 1, P = (1/5, 1/2, 3/10), D = (13/15, 0, 2/15); claimed: eps_P(h*_Q) = 0, which "
        "Assumption 2 with beta > 0 says at h = h*_Q; risks in fractions, no seeds",
        more=[("exact", [RULES.excess(TARGET)[RULES.best(mixed_law(MISSPECIFIED["d"], share))] for share in shares])],
    )


def check_mild(ctx: Context, *, instance: Mapping[str, Any] = MISSPECIFIED) -> Iterator[Finding]:
    """A class without the right rule: no alpha for any beta > 0."""
    yield refute(
        "some alpha and beta > 0 exist", replay_misspecified, dict(instance), text="Labels 1, 0, 1 are no threshold."
    )
    yield draw_misspecified()


CLAIMS += [
    claim(
        "SAFARI-A2b",
        "after Assumption 2",
        "Assumption 2 is mild: it holds for some alpha and some beta > 0, small enough if need be.",
        [Step("where the right rule is in H", RELATED, "repaired")],
        kind="bound",
        besides=check_mild,
        faults=(
            Fault(
                "D where the right rule does not change",
                "some alpha and beta > 0 exist",
                {"instance": {"d": TARGET, "weight": "3/5"}},
                holds=True,
            ),
        ),
        readings=[
            "P, D, P_star and D_star are risks of a rule and of the right one under both laws, l = lambda_2.",
            "The paper lets beta tend to 0. beta = 0 with alpha = 1 is always possible, and makes Theorem 2 say nothing; what is denied is beta > 0, "
            "for a class without the right rule.",
        ],
        repaired="Where the right rule is in H, labels given x have one law and lambda_2 > 0 it holds with beta = 1, alpha = max(1, "
        "lambda_1/lambda_2).",
        replay=replay_misspecified,
    )
]

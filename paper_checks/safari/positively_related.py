"""SAFARI's Assumption 2, that P and Q are positively related: the paper's example, mixtures, and classes without the right rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Picture,
    Reading,
    Replay,
    Theorem,
    assume,
    draw_bound,
    refute,
)
from paper_checks.formulas import formula
from paper_checks.safari.optimisation import claim, derived
from paper_checks.steps import Step
from problems.learning import FiniteClass
from problems.thresholds import mixture, relatedness, uniform

OUTSIDE = {"b": "1/2", "star": "2/5", "t": "1"}
MISSPECIFIED: dict[str, Any] = {"d": ("13/15", "0", "2/15"), "weight": "3/5"}
RULES = FiniteClass(((1, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0)), (Fraction(1), Fraction(0), Fraction(1)))
TARGET = (Fraction(1, 5), Fraction(1, 2), Fraction(3, 10))


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


def mixed(d: Sequence[Any], weight: Any, number: Any = Fraction) -> tuple[Any, ...]:
    """Q = weight D + (1 - weight) P on the three points, P = `TARGET`; ``number`` is the arithmetic."""
    return tuple(weight * number(Fraction(v)) + (1 - weight) * number(p) for v, p in zip(d, TARGET, strict=True))


def replay_misspecified(instance: Mapping[str, Any]) -> Replay:
    """Thresholds on three points with labels 1, 0, 1: eps_P of the best rule under Q, against 0."""
    weight = Fraction(instance["weight"])
    drawn = mixed(instance["d"], weight)
    excess = RULES.excess(TARGET)[RULES.best(drawn)]
    best = RULES.best(mixed(instance["d"], float(weight), float))
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
NO_EXCESS = Theorem(
    **OF_RULES,
    name="with the right rule in H",
    given={"best": "eps_Q <= 0"},
    claim="eps_P <= 0",
    proof="done: claim by combine (1/l)*best",
)


def uniform_mass(low: str, high: str, a: str, b: str) -> str:
    """What U[a, b] has between low and high, as a formula: the excess of one threshold over the other, which is the right one."""
    return f"max(0, min({high}, {b}) - max({low}, {a}))/({b} - {a})"


#: of P = U[0, 1], D = U[3/10, 7/10], t* = 9/10 the threshold t, and of P = U[0, 1/2], D = U[0, 1], t* = 1/2 the threshold u
NO_LESS = Theorem(
    name="no less alpha",
    region="0 < l < 1, 7/10 <= t < 9/10, 1/2 < u <= 1, 0 <= alpha",
    where={
        "t_P": uniform_mass("t", "9/10", "0", "1"),
        "t_D": uniform_mass("t", "9/10", "3/10", "7/10"),
        "t_Q": "l*t_P + (1 - l)*t_D",
        "u_P": uniform_mass("1/2", "u", "0", "1/2"),
        "u_D": uniform_mass("1/2", "u", "0", "1"),
        "u_Q": "l*u_P + (1 - l)*u_D",
    },
    given={"related_t": "t_P - t_Q <= alpha*t_Q", "related_u": "u_Q - u_P <= alpha*u_Q"},
    claim=("1 - l <= alpha*l", "1 <= alpha"),
    proof="""
      inside:  max(t, 0) <= t                                         by larger of: combine; combine
      least_P: 9/10 - t <= t_P                                        by combine 1*inside
      most_1:  max(0, min(9/10, 1) - max(t, 0)) <= 9/10 - t           by larger of: combine; combine
      most_P:  t_P <= 9/10 - t                                        by combine 1*most_1
      none_1:  max(0, min(9/10, 7/10) - max(t, 3/10)) <= 0            by larger of: combine; combine
      none_D:  t_D <= 0                                               by combine 5/2*none_1
      both_t:  (1 - l)*(9/10 - t) <= alpha*l*(9/10 - t)
                 by combine 1*related_t, (1 - l)*least_P, (alpha*l)*most_P, ((1 + alpha)*(1 - l))*none_D
      one:     claim 1                                                by combine (1/(9/10 - t))*both_t
      none_2:  max(0, min(u, 1/2) - max(1/2, 0)) <= 0                 by larger of: combine; combine
      none_P:  u_P <= 0                                               by combine 2*none_2
      most_2:  max(0, min(u, 1) - max(1/2, 0)) <= u - 1/2             by larger of: combine; combine
      most_D:  u_D <= u - 1/2                                         by combine 1*most_2
      below:   max(-u, -1) <= -u                                      by larger of: combine; combine
      least_D: u - 1/2 <= u_D                                         by combine 1*below
      both_u:  (1 - l)*(u - 1/2) <= alpha*(1 - l)*(u - 1/2)
                 by combine 1*related_u, (1 - l)*least_D, (alpha*(1 - l))*most_D, (alpha*l + 1 - l)*none_P
      two:     claim 2                                                by combine (1/((1 - l)*(u - 1/2)))*both_u
""",
)


def draw_needed_alpha(ctx: Context) -> Picture:
    """Least alpha of thresholds by the share of clients' data, where they cover t* and where they do not, against max(1, lambda_1/lambda_2)."""
    P, D = uniform(Fraction(0), Fraction(1)), uniform(Fraction(3, 10), Fraction(7, 10))
    shares = [Fraction(k, 40) for k in range(1, 40)]
    return draw_bound(
        "What Assumption 2 costs with beta = 1",
        shares,
        [max(Fraction(1), share / (1 - share)) for share in shares],
        xlabel="lambda_1, share of the clients' law D",
        ylabel="least alpha",
        about="P uniform on [0, 1], D on [3/10, 7/10], labels without noise; suprema over all thresholds in fractions, no seeds",
        more=[
            (f"t* = {star}", [relatedness(P, mixture(share, D, P), star, Fraction(0), Fraction(1)) for share in shares])
            for star in (Fraction(1, 2), Fraction(9, 10))
        ],
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
        more=[("exact", [RULES.excess(TARGET)[RULES.best(mixed(MISSPECIFIED["d"], share))] for share in shares])],
    )


def check_mild(ctx: Context, *, instance: Mapping[str, Any] = MISSPECIFIED) -> Iterator[Finding]:
    """A class without the right rule: no alpha for any beta > 0."""
    yield refute(
        "some alpha and beta > 0 exist", replay_misspecified, dict(instance), text="Labels 1, 0, 1 are no threshold."
    )
    yield draw_misspecified()


def sums(law: Sequence[str], of: Sequence[int], apart_from: Sequence[int]) -> str:
    """P[h != g] of two rules, by their labels of the three points, as a formula."""
    return f"({' + '.join(p for p, a, b in zip(law, of, apart_from, strict=True) if a != b) or '0'})"


def without_the_right_rule(d: Sequence[str], weight: str) -> Theorem:
    """Every rule against the best ones: those that label all points 1 under Q = weight D + (1 - weight) P, and the last point alone under P."""
    P = [str(p) for p in TARGET]
    Q = [f"({weight}*{v} + (1 - {weight})*{p})" for v, p in zip(d, P, strict=True)]
    right, best_q, best_p = (1, 0, 1), (1, 1, 1), (0, 0, 1)
    excess = {h: f"({sums(P, h, right)} - {sums(P, best_p, right)})" for h in RULES.hypotheses}
    return Theorem(
        name="thresholds without the right rule",
        region="",
        claim=(
            *(f"{sums(Q, best_q, right)} <= {sums(Q, h, right)}" for h in RULES.hypotheses if h != best_q),
            *(f"{sums(P, h, best_p)} <= 7/3*{excess[h]}" for h in RULES.hypotheses if h != best_p),
            f"{excess[best_q]} == 3/10",
        ),
        proof="\n".join(f"line{k}: claim {k} by combine" for k in range(1, 8)),
    )


CLAIMS: list[Claim] = [
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
    ),
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
    ),
    derived(
        "SAFARI-X5",
        "Assumption 2 for mixtures",
        "If the right rule is in H and labels given x have one law, Q = lambda_1 D + lambda_2 P satisfies Assumption 2 with beta = 1, "
        "alpha = max(1, lambda_1/lambda_2), and no less serves in general.",
        [Step("with this alpha", RELATED), Step("with no less", NO_LESS)],
        kind="bound",
        picture=draw_needed_alpha,
        readings=[
            "l = lambda_2. Every alpha that is at least 1 and at least lambda_1/lambda_2 serves.",
            "'No less in general': for every l there are laws P and D under which alpha is at least lambda_1/lambda_2, and others under which it is "
            "at least 1; a threshold's excess is the mass between it and t*.",
        ],
    ),
    derived(
        "SAFARI-X7",
        "Assumption 2 without the right rule",
        "Thresholds on {1, 2, 3} with labels 1, 0, 1: the best rule under a mixture Q has eps_P = 3/10, though Assumption 1 holds and "
        "labels given x have one law.",
        [Step("risks", without_the_right_rule(**MISSPECIFIED))],
        kind="divergence",
        readings=[
            "The rule that labels all points 1 is the best one under Q; under P the best one labels point 3 alone 1, beside which the others meet "
            "Assumption 1 with beta_P = 1, alpha_P = 7/3."
        ],
    ),
]

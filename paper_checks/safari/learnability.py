"""SAFARI's Section 3 in exact probabilities: what cannot be learned under incomplete participation (Theorem 1), and what a server's data changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Lemma,
    Picture,
    Reading,
    Replay,
    assume,
    decided,
    draw_bound,
    norm2,
    proved,
    refute,
)
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.safari.optimisation import DERIVED, PAPER
from paper_checks.steps import Conclusion, Step, claim_steps
from problems.learning import FiniteClass, HiddenPoint
from problems.thresholds import mixture, relatedness, uniform

#: (M, m, n)
COUNTS = tuple((M, m, n) for M in (1, 2, 5, 10, 20) for m in {0, 1, M // 2, M - 1} if m < M for n in (1, 2, 10, 100))
DOMAIN = "H has f_1, f_2 and points x_1, x_2 with f_1(x_1) = f_2(x_1), f_1(x_2) != f_2(x_2); P(x_2) = (1 - omega)/2; x_2 is hidden where it can be"


# ---- Theorem 1 ------------------------------------------------------------------------------------------------------


def markov_holds(share: Fraction = Fraction(1, 2)) -> bool:
    """E #{x_2} = (M - m) n/2, so that by Markov's inequality more than (M - m) n copies have a probability below 1/2."""
    M, m, n = symbols("M m n", positive=True)
    return is_zero(M * n * (1 - m / M) * share - (M - m) * n / 2)


def draw_hidden(claimed: str, *, tails: bool = False, clients: int = 20, samples: int = 10) -> Picture:
    """Exact probabilities by capacity: that x_2 is hidden, or that the best learner fails, against what is claimed."""
    cases = [HiddenPoint(clients, m, samples) for m in range(clients)]
    exact = [case.hidden(strictly=True) if tails else case.failure("fair coin") for case in cases]
    what = (
        "that fewer than (1 - omega) M n copies of x_2 are drawn"
        if tails
        else "that the learner with a fair coin fails"
    )
    return draw_bound(
        "Exact probability against the bound from below",
        [case.omega for case in cases],
        [Fraction(claimed)] * len(cases),
        xlabel="omega = m/M",
        ylabel="probability",
        about=f"two points, P(x_2) = (1 - omega)/2; M = {clients} clients, n = {samples} samples each; binomial probabilities in fractions, no seeds",
        more=[(what, exact)],
    )


def check_t1(
    ctx: Context, *, error: str = "1/4", probability: str = "1/20", share: Fraction = Fraction(1, 2)
) -> Iterator[Finding]:
    """x_2 is hidden with probability at least 1/2, and then one of two targets is missed with probability at least 1/2."""
    yield proved(
        "every learner, every M, m, n",
        markov_holds(share)
        and compare(Fraction(1, 4), ">", Fraction(probability))
        and compare(1, ">", Fraction(error)),
        "with probability at least 1/2 the sample hides x_2 (Markov); what is learned then has the same law under both targets and errs on x_2, "
        "with risk 4 epsilon = (1 - omega)/2, under one of them, so that the worse target is missed with probability at least 1/4",
    )
    least = min(HiddenPoint(*counts).failure("fair coin") for counts in COUNTS)
    yield decided(
        "exact probabilities",
        compare(least, ">", Fraction(probability)),
        f"for the learner that tosses a fair coin, {len(COUNTS)} triples (M, m, n): at least {least}",
    )
    yield draw_hidden(probability)


def check_t1a(ctx: Context, *, root: str = "17/20") -> Iterator[Finding]:
    """exp(-(1-omega) Mn/6) <= exp(-1/6) <= 17/20, and the exact tails."""
    yield proved(
        "constant",
        compare(1 / Fraction(root) ** 6, "<=", Fraction(27182818, 10**7)) and markov_holds(),
        "(20/17)^6 <= e, (1 - omega) M n = (M - m) n >= 1; Markov's inequality gives 1/2 where Chernoff's gives 17/20",
    )
    least = min(HiddenPoint(*counts).hidden(strictly=True) for counts in COUNTS)
    yield decided(
        "exact tails",
        compare(least, ">", Fraction(3, 20)),
        f"{len(COUNTS)} triples (M, m, n): P[s < (1 - omega) M n] >= {least}",
    )
    yield draw_hidden("3/20", tails=True)


def check_t1b(ctx: Context, *, first: tuple[int, int] = (1, 1)) -> Iterator[Finding]:
    """All labelings of {x_1, x_2}."""
    targets = first, (1, -1)
    sums = {h: sum(h[1] != f[1] for f in targets) for h in product((1, -1), repeat=2)}
    yield decided(
        "every h",
        all(compare(count, "==", 1) for count in sums.values()),
        "h errs on x_2 under one of the two targets, which is 4 epsilon",
    )


def check_t1c(ctx: Context, *, least: int = 2) -> Iterator[Finding]:
    """2 e <= 4 e p + e (1 - p) is 3 p >= 1."""
    e, p = symbols("e p", positive=True)
    yield proved(
        "p >= 1/3",
        is_zero(4 * e * p + e * (1 - p) - least * e - e * (3 * p - 1)),
        "E R' <= 4 epsilon P[R' >= epsilon] + epsilon P[R' < epsilon]; a deterministic h has R' in {0, 4 epsilon}, which gives 1/2",
    )


def check_t1e(ctx: Context, *, samples: int = 180) -> Iterator[Finding]:
    """If clients are selected without looking at their samples the construction fails as n grows."""
    settings = [(M, m) for M in (2, 5, 10) for m in (1, M - 1)]
    found = [HiddenPoint(M, m, samples).hidden_by_clients() for M, m in settings]
    bound = [M * (1 - HiddenPoint(M, m, samples).mass) ** samples for M, m in settings]
    yield decided(
        "equal clients, whole clients selected",
        all(compare(p, "<=", b) for p, b in zip(found, bound, strict=True))
        and all(compare(b, "<", Fraction(1, 1000)) for b in bound),
        f"m clients that all miss x_2 exist with probability at most M (1 - (1-omega)/2)^n, here below 1/1000 at n = {samples}: with equal "
        f"laws and a "
        "process that selects clients, Theorem 1 does not apply to large n, as the paper says",
    )
    yield Reading(
        "The proof's process selects samples. With n = 1 selecting samples is selecting clients: then equal clients are hidden with "
        "probability at least "
        "1/2, so that heterogeneity is not needed for every n."
    )


def check_t1f(ctx: Context, *, honest: Fraction = Fraction(1, 2)) -> Iterator[Finding]:
    """Byzantine clients who label by the other target: the reports have one law under both targets."""
    laws = [{f: honest, g: 1 - honest} for f, g in (("f_1", "f_2"), ("f_2", "f_1"))]
    yield proved(
        "as many Byzantine clients as honest ones",
        all(compare(laws[0][f], "==", laws[1][f]) for f in ("f_1", "f_2")),
        "who does not know which clients are honest sees the same law of reports under f_1 and f_2, and errs on x_2 under one of them with "
        "probability 1/2",
        scope="as many Byzantine clients as honest ones",
    )
    yield Reading("The paper gives no statement with numbers; fewer Byzantine clients are not judged.")


def check_clients(ctx: Context, *, unseen: int = 0) -> Iterator[Finding]:
    """P_i = delta_{x_1} for i <= m and delta_{x_2} for i > m, clients 1..m take part: every h, both targets, exact for M up to 20."""
    labelings = tuple(product((0, 1), repeat=2))
    rules = [FiniteClass(labelings, (Fraction(1), Fraction(label))) for label in (0, 1)]
    good = []
    for M, m in [pair for pair in product(range(1, 21), range(20)) if pair[1] < pair[0]]:
        law = Fraction(m, M), Fraction(M - m, M)
        worse = [max(risks) for risks in zip(*(rule.risks(law) for rule in rules), strict=True)]
        good += [compare(worst, ">=", 1 - Fraction(m - unseen, M)) for worst in worse]
    yield decided(
        "risk of the worse target",
        all(good),
        "the sample is copies of x_1 whatever is drawn, so that h does not depend on the target; each of the four h has the risk (M - m)/M "
        "or more under one of "
        "the two, for all m < M <= 20, and a tossed h half of that on average",
    )


def check_server(ctx: Context, *, shift: int = 0, scope: str = "") -> Iterator[Finding]:
    """(1 - 4 epsilon)^{n_T}: how many samples of the server it takes."""
    needed = {("1/2", "1/20"): 11, ("1/2", "1/100"): 17, ("9/10", "1/20"): 59, ("9/10", "1/100"): 90}
    instances = {"1/2": HiddenPoint(2, 1, 1), "9/10": HiddenPoint(10, 9, 1)}
    yield proved(
        "samples of the server",
        all(compare(instances[w].server_samples_for(Fraction(d)), "==", n + shift) for (w, d), n in needed.items()),
        "pooled learning errs only where the server's sample misses x_2, with probability (1 - (1-omega)/2)^{n_T}; below 0.05 and 0.01 "
        "from n_T = 11 and 17 "
        "on for omega = 1/2, from 59 and 90 on for omega = 9/10, whatever n and n_S are",
        scope=scope,
    )


def check_pooled(ctx: Context, *, power: int = 0) -> Iterator[Finding]:
    """All samples of the server enumerated; clients only ever show x_1."""
    p = Fraction(1, 10)
    for_each = []
    for n_T in range(1, 9):
        missed = sum(
            (p ** sum(s) * (1 - p) ** (n_T - sum(s)) for s in product((0, 1), repeat=n_T) if not any(s)), Fraction(0)
        )
        for_each.append(compare(missed, "==", (1 - p) ** (n_T + power)))
    yield decided(
        "probability of an error",
        all(for_each),
        "n_T = 1..8, P(x_2) = 1/10: (1 - p)^{n_T} for every n_S, since x_1 teaches nothing of x_2",
    )


# ---- Assumption 2 ---------------------------------------------------------------------------------------------------

OUTSIDE = {"b": "1/2", "star": "2/5", "t": "1"}
MISSPECIFIED = {"d": ("13/15", "0", "2/15"), "weight": "3/5"}
RULES = FiniteClass(((1, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0)), (Fraction(1), Fraction(0), Fraction(1)))
TARGET = (Fraction(1, 5), Fraction(1, 2), Fraction(3, 10))


def replay_a2a(instance: Mapping[str, Any]) -> Replay:
    """P = U[0, 1], Q = U[0, b]: |eps_P - eps_Q| of h_t against (1 - b) eps_Q."""
    b, star, t = (Fraction(instance[name]) for name in ("b", "star", "t"))
    eps_p, eps_q = uniform(0, 1).mass(t, star), uniform(Fraction(0), b).mass(t, star)
    left, right = abs(eps_p - eps_q), (1 - b) * eps_q
    met = (
        assume("t* in [a', b'], inside of [a, b] = [0, 1]", "0 <= s <= b <= 1", s=star, b=b),
        assume("t in [a, b]", "0 <= t <= 1", t=t),
    )
    return Replay(
        f"|eps_P - eps_Q| at t = {t} against alpha eps_Q", float(left), float(right), left, right, "fractions", met
    )


def check_a2a(
    ctx: Context, *, instance: Mapping[str, Any] = OUTSIDE, high: Fraction = Fraction(1, 2)
) -> Iterator[Finding]:
    """For any threshold, and for those between a' and b'."""
    yield refute(
        "any threshold", replay_a2a, dict(instance), text="A threshold beyond b' errs under P where Q has no mass."
    )
    b, star = Fraction(1, 2), Fraction(2, 5)
    alpha = relatedness(uniform(Fraction(0), Fraction(1)), uniform(Fraction(0), b), star, Fraction(0), high)
    r, e = symbols("r e", positive=True)
    yield proved(
        "thresholds in [a', b']",
        compare(alpha, "==", 1 - b) and is_zero((1 - r) * e - (e - r * e)),
        "eps_P = r eps_Q, r = (b' - a')/(b - a), for t, t* in [a', b']",
        role="repaired",
    )
    yield Reading(
        "An illustration in the paper, which later speaks of one support; only 'for any t' fails, and for t* = b' < b no alpha serves."
    )


def replay_misspecified(instance: Mapping[str, Any]) -> Replay:
    """Thresholds on three points with labels 1, 0, 1: eps_P of the best rule under Q, against 0."""
    weight = Fraction(instance["weight"])
    drawn = tuple(weight * Fraction(d) + (1 - weight) * p for d, p in zip(instance["d"], TARGET, strict=True))
    excess = RULES.excess(TARGET)[RULES.best(drawn)]
    total = sum((Fraction(d) for d in instance["d"]), Fraction(0))
    met = (
        assume("D is a law", "d == 1", d=total),
        assume("Q = lambda_1 D + lambda_2 P, lambda_2 > 0", "0 < w < 1", w=weight),
        assume("eps_Q(h*_Q) = 0", "e == 0", e=RULES.excess(drawn)[RULES.best(drawn)]),
    )
    return Replay(
        "|eps_P - eps_Q| at h*_Q against alpha eps_Q(h*_Q)^beta, beta > 0",
        float(excess),
        0.0,
        excess,
        Fraction(0),
        "fractions",
        met,
    )


def linear_in_the_mixture(sign: int) -> Any:
    """Numbers p = eps_P, d = eps_D >= 0, as squares, and q = l p + k d: |p - q| <= max(1, k/l) q, one sign at a time."""

    def build(w: Any, p: Any, c: Any) -> Any:
        at_p, at_d = norm2(w.vector("root of eps_P")), norm2(w.vector("root of eps_D"))
        pooled = at_p * p.l + at_d * (1 - p.l)
        alpha = (1 - p.l) / p.l if sign > 0 else 1
        return (at_p - pooled) * sign - pooled * (c.c * alpha)

    return build


WEIGHT = "0 < l < 1"
ABOVE = Lemma("eps_P above eps_Q", "mixture", WEIGHT, linear_in_the_mixture(1), {"c": 1})
BELOW = Lemma("eps_P below eps_Q", "mixture", WEIGHT, linear_in_the_mixture(-1), {"c": 1})
EXAMPLES = {("9/10", "1/2"): 1, ("9/10", "1/10"): 9, ("9/10", "1/100"): 99, ("1/2", "1/10"): Fraction(27, 47)}


def examples_agree() -> bool:
    """P = U[0, 1], D = U[3/10, 7/10]: the least alpha for some thresholds and weights."""
    P, D = uniform(Fraction(0), Fraction(1)), uniform(Fraction(3, 10), Fraction(7, 10))
    found = {
        (s, w): relatedness(P, mixture(1 - Fraction(w), D, P), Fraction(s), Fraction(0), Fraction(1))
        for s, w in EXAMPLES
    }
    return all(
        compare(found[key], "<=", max(1, (1 - Fraction(key[1])) / Fraction(key[1]))) for key in EXAMPLES
    ) and all(compare(found[key], "==", value) for key, value in EXAMPLES.items() if key[0] == "9/10")


def check_mild(ctx: Context, *, instance: Mapping[str, Any] = MISSPECIFIED) -> Iterator[Finding]:
    """A class without the right rule: no alpha for any beta > 0."""
    yield refute(
        "some alpha and beta > 0 exist", replay_misspecified, dict(instance), text="Labels 1, 0, 1 are no threshold."
    )
    yield Reading(
        "With the right rule in H, equal conditional laws of labels and lambda_2 > 0 Assumption 2 holds with beta = 1 (SAFARI-X5), and "
        "'mild' is right; the case "
        "without it is what is denied. beta = 0 is always possible, and makes Theorem 2 say nothing."
    )


def check_x7(ctx: Context, *, weight: str = "3/5") -> Iterator[Finding]:
    """Risks of the four rules under P and Q."""
    d, k = [Fraction(v) for v in MISSPECIFIED["d"]], Fraction(weight)
    drawn = tuple(k * a + (1 - k) * b for a, b in zip(d, TARGET, strict=True))
    risks = [[Fraction(v) for v in row] for row in (("1/2", "7/10", "1/5", "1/2"), ("1/5", "4/5", "3/5", "4/5"))]
    same = [
        compare(a, "==", b)
        for law, row in ((TARGET, risks[0]), (drawn, risks[1]))
        for a, b in zip(RULES.risks(law), row, strict=True)
    ]
    yield decided(
        "risks",
        all(same)
        and compare(RULES.excess(TARGET)[RULES.best(drawn)], "==", Fraction(3, 10))
        and compare(RULES.noise(TARGET, 1), "==", Fraction(7, 3)),
        "the best rule under Q labels all points 1; its excess under P is 3/10, though labels given x are the same and Assumption 1 holds "
        "with beta_P = 1, "
        "alpha_P = 7/3: pooled learning tends to it, the server alone to 0",
    )


def instance_claim(
    id: str,
    paper: str,
    source: str,
    statement: str,
    check: Any,
    fault: Fault,
    *assumptions: str,
    kind: Any = "bound",
    **more: Any,
) -> Claim:
    """A claim on the theory of learning, with one planted fault."""
    return Claim(id, paper, kind, source, statement, check, (fault,), assumptions, **more)


CLAIMS: list[Claim] = [
    instance_claim(
        "SAFARI-T1",
        PAPER,
        "Theorem 1",
        "For every learner there are a participation process of capacity omega = m/M, a law P and a target in H with P[R_P > (1-omega)/8] > 1/20.",
        check_t1,
        Fault("x_2 with the whole mass 1 - omega", "every learner, every M, m, n", {"share": Fraction(1)}),
        DOMAIN,
    ),
    instance_claim(
        "SAFARI-X1",
        DERIVED,
        "Theorem 1, sharper",
        "With (1-omega)/2 for (1-omega)/8 and 1/4 for 1/20 (from below) Theorem 1 holds, too.",
        partial(check_t1, error="0", probability="249/1000"),
        Fault("3/10", "every learner, every M, m, n", {"probability": "3/10"}),
        DOMAIN,
    ),
    instance_claim(
        "SAFARI-T1a",
        PAPER,
        "(9)-(11)",
        "P[s >= (1-omega) Mn] <= exp(-(1-omega) Mn/6) <= exp(-1/6) <= 17/20, so that P[s < (1-omega) Mn] > 3/20.",
        check_t1a,
        Fault("21/25", "constant", {"root": "21/25"}),
        DOMAIN,
    ),
    instance_claim(
        "SAFARI-T1b",
        PAPER,
        "(2)-(4)",
        "R'(h, f_1) + R'(h, f_2) = 4 epsilon for every h, where R' counts errors on x_2.",
        check_t1b,
        Fault("one target twice", "every h", {"first": (1, -1)}),
        DOMAIN,
    ),
    instance_claim(
        "SAFARI-T1c",
        PAPER,
        "(5)-(8)",
        "E R' >= 2 epsilon and R' <= 4 epsilon give P[R' >= epsilon] >= 1/3.",
        check_t1c,
        Fault("E R' >= epsilon", "p >= 1/3", {"least": 1}),
        kind="proof step",
    ),
    instance_claim(
        "SAFARI-T1d",
        PAPER,
        "after Theorem 1",
        "The bound of Theorem 1 does not depend on n: more data a client does not help.",
        check_t1,
        Fault("x_2 with the whole mass 1 - omega", "every learner, every M, m, n", {"share": Fraction(1)}),
        DOMAIN,
    ),
    instance_claim(
        "SAFARI-T1e",
        PAPER,
        "after Theorem 1",
        "Theorem 1 needs heterogeneity and arbitrary participation: it does not contradict convergence for equal laws or uniform participation.",
        check_t1e,
        Fault("n = 2", "equal clients, whole clients selected", {"samples": 2}),
    ),
    instance_claim(
        "SAFARI-T1f",
        PAPER,
        "after Theorem 1",
        "The same limit holds for full participation with Byzantine clients.",
        check_t1f,
        Fault("two thirds honest", "as many Byzantine clients as honest ones", {"honest": Fraction(2, 3)}),
    ),
    instance_claim(
        "SAFARI-X1'",
        DERIVED,
        "Theorem 1 for clients",
        "Clients i <= m with P_i = delta_{x_1}, the others delta_{x_2}: where the first m take part a deterministic learner has R_P = 1 - "
        "omega for some target.",
        check_clients,
        Fault("one client too many", "risk of the worse target", {"unseen": 1}),
    ),
    instance_claim(
        "SAFARI-T1-SAFL",
        PAPER,
        "Section 3.2",
        "The server's sample makes the instance of Theorem 1 learnable: P[R_P = 4 epsilon] <= (1 - 4 epsilon)^{n_T}.",
        check_server,
        Fault("one sample fewer", "samples of the server", {"shift": -1}),
        DOMAIN,
    ),
    instance_claim(
        "SAFARI-R1",
        PAPER,
        "Remark 1",
        "A small sample at the server is enough to be realistic: what is needed does not grow with the clients' data.",
        partial(check_server, scope="the instance of Theorem 1"),
        Fault("one sample fewer", "samples of the server", {"shift": -1}),
        "what is realistic and cheap is not judged",
    ),
    instance_claim(
        "SAFARI-X6",
        DERIVED,
        "Theorem 2, fixed n_T",
        "D = delta_{x_1}, P(x_2) = p: pooled learning errs by p with probability (1-p)^{n_T}, whatever n_S is.",
        check_pooled,
        Fault("one sample more", "probability of an error", {"power": 1}),
    ),
    instance_claim(
        "SAFARI-A2a",
        PAPER,
        "example after Assumption 2",
        "For P = U[a, b], Q = U[a', b'] inside and t* in [a', b'], every threshold satisfies Assumption 2 with beta = 1, alpha = 1 - (b' - "
        "a')/(b - a).",
        check_a2a,
        Fault("t = b'", "any threshold", {"instance": OUTSIDE | {"t": "1/2"}}, holds=True),
        repaired="For every threshold in [a', b'].",
        replay=replay_a2a,
    ),
    instance_claim(
        "SAFARI-A2b",
        PAPER,
        "after Assumption 2",
        "Assumption 2 is mild: it holds for some alpha and some beta > 0, small enough if need be.",
        check_mild,
        Fault(
            "D where the right rule does not change",
            "some alpha and beta > 0 exist",
            {"instance": {"d": TARGET, "weight": "3/5"}},
            holds=True,
        ),
        replay=replay_misspecified,
    ),
    claim_steps(
        "SAFARI-X5",
        DERIVED,
        "Assumption 2 for mixtures",
        "If the right rule is in H and labels given x have one law, Q = lambda_1 D + lambda_2 P satisfies Assumption 2 with beta = 1, "
        "alpha = max(1, lambda_1/lambda_2), and no less serves in general.",
        [Step("eps_P above eps_Q", ABOVE), Step("eps_P below eps_Q", BELOW)],
        conclusions=[
            Conclusion(
                "attained",
                "excess errors are linear in the law, eps_Q = lambda_1 eps_D + lambda_2 eps_P; for P = U[0, 1], D = U[3/10, 7/10], t* = "
                "9/10 the least alpha is "
                "lambda_1/lambda_2",
                ("eps_P above eps_Q", "eps_P below eps_Q"),
                confirmed=examples_agree,
            )
        ],
        kind="bound",
    ),
    instance_claim(
        "SAFARI-X7",
        DERIVED,
        "Assumption 2 without the right rule",
        "Thresholds on {1, 2, 3} with labels 1, 0, 1: the best rule under a mixture Q has eps_P = 3/10, though Assumption 1 holds and "
        "labels given x have one law.",
        check_x7,
        Fault("weight 1/10", "risks", {"weight": "1/10"}),
    ),
]

"""SAFARI's Theorem 1 in exact probabilities: what cannot be learned under incomplete participation, and what a server's data changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Part,
    Picture,
    Reading,
    decided,
    disproved,
    draw_bound,
    proved,
)
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import agree, is_zero, symbols
from paper_checks.safari.optimisation import DERIVED, PAPER
from problems.learning import FiniteClass, HiddenPoint, binomial_at_most

#: (M, m, n)
COUNTS = tuple((M, m, n) for M in (1, 2, 5, 10, 20) for m in {0, 1, M // 2, M - 1} if m < M for n in (1, 2, 10, 100))
NON_TRIVIAL = "H has f_1, f_2 and points x_1, x_2 with f_1(x_1) = f_2(x_1), f_1(x_2) != f_2(x_2)"
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


def draw_by_samples() -> Picture:
    """Exact probability that the learner with a fair coin fails, by the number of samples a client."""
    counts, pairs = [1, 2, 3, 5, 10, 20, 50, 100], ((2, 1), (10, 5), (10, 9))
    return draw_bound(
        "More samples a client do not help",
        counts,
        [Fraction(1, 20)] * len(counts),
        xlabel="n, samples a client",
        ylabel="probability",
        about="two points, P(x_2) = (1 - omega)/2; the learner tosses a fair coin on x_2; binomial probabilities in fractions, no seeds",
        more=[(f"M = {M}, m = {m}", [HiddenPoint(M, m, n).failure("fair coin") for n in counts]) for M, m in pairs],
        logx=True,
    )


def worse_target(seen: Fraction) -> tuple[list[Any], list[Any]]:
    """Clients i <= m hold x_1 alone and take part, the others x_2, omega a symbol; f(x_1) = 1: risks of the four h under the target that each misses.

    ``seen``: what the clients that take part have of the others' mass 1 - omega. Returned with what the risks should be: 1 - omega or more.
    """
    w = symbols("omega", positive=True)
    risks = [FiniteClass(LABELINGS, (Fraction(1), Fraction(label))).risks((w + seen, 1 - w - seen)) for label in (0, 1)]
    missed = [risks[1 - h[1]][k] for k, h in enumerate(LABELINGS)]
    return missed, [1 - w + w * (1 - h[0]) for h in LABELINGS]


def clients_part(seen: Fraction = Fraction(0)) -> Part:
    """Part: Theorem 1 where whole clients take part or do not; ``seen``: how much of the hidden mass the clients that take part have."""
    missed, expected = worse_target(seen)
    return proved(
        WHOLE_CLIENTS,
        agree(missed, expected) and compare(1, ">", Fraction(1, 8)) and compare(Fraction(1, 2), ">", Fraction(1, 20)),
        "clients i <= m have P_i = delta_{x_1}, the others delta_{x_2}, and the first m take part: for every n the sample is copies of x_1, whatever "
        "the target, so that one of two targets is missed on x_2 with probability at least 1/2, and the risk is then 1 - omega or more",
    )


def samples_part(error: str, probability: str, sign: str, share: Fraction) -> Part:
    """Part: Theorem 1 where samples take part or do not, as in its proof; see `check_t1`."""
    return proved(
        SAMPLES,
        markov_holds(share)
        and compare(Fraction(1, 4), sign, Fraction(probability))
        and compare(1, sign, Fraction(error)),
        "with probability at least 1/2 the sample hides x_2 (Markov); what is learned then has the same law under both targets and errs on x_2, "
        "with risk 4 epsilon = (1 - omega)/2, under one of them, so that the worse target is missed with probability at least 1/4",
    )


WHOLE_CLIENTS = "clients are selected: every learner, every M, m, n"
SAMPLES = "samples are selected: every learner, every M, m, n"


def check_sharper(
    ctx: Context, *, error: str, probability: str, sign: str, share: Fraction = Fraction(1, 2)
) -> Iterator[Finding]:
    """x_2 is hidden with probability at least 1/2, and then one of two targets is missed with probability at least 1/2.

    ``error``: of 4 epsilon = (1 - omega)/2, what the risk is ``sign`` with a probability that is ``sign`` the one given.
    """
    yield samples_part(error, probability, sign, share)
    least = min(HiddenPoint(*counts).failure("fair coin") for counts in COUNTS)
    yield decided(
        "exact probabilities",
        compare(least, sign, Fraction(probability)),
        f"for the learner that tosses a fair coin, {len(COUNTS)} triples (M, m, n): at least {least}",
    )
    yield draw_hidden(probability)


def check_t1(
    ctx: Context,
    *,
    share: Fraction = Fraction(1, 2),
    seen: Fraction = Fraction(0),
    draw: Callable[[], Picture] | None = None,
) -> Iterator[Finding]:
    """Theorem 1 where clients take part or do not, and where samples do."""
    yield clients_part(seen)
    yield samples_part("1/4", "1/20", ">", share)
    yield draw_hidden("1/20") if draw is None else draw()
    yield Reading(
        "The process selects whole clients in Section 3 and samples in the proof; the theorem stands in both readings. In the first one it takes "
        "clients with laws of their own. SAFARI-T1e, on what it needs, is read as the first, and would be false in the second."
    )


def check_t1a(ctx: Context, *, root: str = "17/20", divisor: int = 3) -> Iterator[Finding]:
    """Chernoff's bound, exp(-(1-omega) Mn/6) <= exp(-1/6) <= 17/20, and the exact tails."""
    yield proved(
        "Chernoff's bound",
        compare(Fraction(27182819, 10**7) ** (divisor + 1), "<=", 4**divisor),
        "with u = 4 epsilon Mn = E s: E 2^s <= e^u, so that P[s >= 2 u] <= (e/4)^u by Markov's inequality, and e/4 <= e^{-1/3} since e^4 <= 64",
    )
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


def averaged(e: Any, p: Any) -> Any:
    """What E R' is at most where R' <= 4 e, with p = P[R' >= e]: (6)."""
    return 4 * e * p + e * (1 - p)


def check_t1c(ctx: Context, *, least: int = 2) -> Iterator[Finding]:
    """2 e <= 4 e p + e (1 - p) is 3 p >= 1."""
    e, p = symbols("e p", positive=True)
    yield proved(
        "p >= 1/3",
        is_zero(averaged(e, p) - least * e - e * (3 * p - 1)),
        "E R' <= 4 epsilon P[R' >= epsilon] + epsilon P[R' < epsilon]; a deterministic h has R' in {0, 4 epsilon}, which gives 1/2",
    )


def draw_clients(clients: int = 10, active: int = 9) -> Picture:
    """Probability that enough clients never saw x_2, by samples a client, under its union bound; and where samples are selected instead."""
    counts = [1, 2, 5, 10, 20, 40, 80, 120, 160, 200]
    cases = [HiddenPoint(clients, active, n) for n in counts]
    return draw_bound(
        "Equal laws: selecting clients hides x_2 less and less often",
        counts,
        [min(Fraction(1), clients * (1 - case.mass) ** case.samples) for case in cases],
        xlabel="n, samples a client",
        ylabel="probability that x_2 can be hidden",
        about=f"two points, P(x_2) = (1 - omega)/2, M = {clients}, m = {active}; claimed: M (1 - P(x_2))^n, at most 1; in fractions, no seeds",
        more=[
            ("clients are selected, exact", [case.hidden_by_clients() for case in cases]),
            ("samples are selected, exact", [case.hidden() for case in cases]),
        ],
        logx=True,
    )


def check_t1e(ctx: Context, *, samples: int = 180, counts: Sequence[int] = (1, 10, 100)) -> Iterator[Finding]:
    """If clients are selected without looking at their samples the construction fails as n grows; where samples are, it does not."""
    settings = [(M, m) for M in (2, 5, 10) for m in (1, M - 1)]
    found = [HiddenPoint(M, m, samples).hidden_by_clients() for M, m in settings]
    bound = [M * (1 - HiddenPoint(M, m, samples).mass) ** samples for M, m in settings]
    yield proved(
        "equal clients, whole clients selected",
        all(compare(p, "<=", b) for p, b in zip(found, bound, strict=True))
        and all(compare(b, "<", Fraction(1, 1000)) for b in bound),
        f"m >= 1 clients that all miss x_2 exist with probability at most M (1 - (1-omega)/2)^n, here below 1/1000 at n = {samples}: the "
        "construction does not apply to large n, as the paper says",
        scope=f"equal laws, {len(settings)} pairs (M, m), n = {samples}; uniform participation of unequal clients is not judged",
    )
    failures = [HiddenPoint(10, 5, n).failure("fair coin") for n in counts]
    yield disproved(
        "reading: equal clients, samples selected",
        all(compare(failure, ">", Fraction(48, 100)) for failure in failures),
        "where samples are selected, as in the theorem's proof, its clients have one law, and no learner fails less than with probability "
        f"{float(min(failures)):.3f} (M = 10, m = 5, n = {', '.join(map(str, counts))}): then the theorem applies to equal laws",
        role="reading",
    )
    yield draw_clients()
    yield Reading(
        "Read as SAFARI-T1 is: whole clients take part or do not. With n = 1 selecting samples is selecting clients: then equal clients are hidden "
        "with probability at least 1/2, so that heterogeneity is not needed for every n."
    )


def check_t1f(ctx: Context, *, seen: Fraction = Fraction(0)) -> Iterator[Finding]:
    """Byzantine clients that report copies of x_1 are as good as absent, and any number of them is enough."""
    missed, expected = worse_target(seen)
    yield proved(
        "any number of Byzantine clients",
        agree(missed, expected) and compare(1, ">", Fraction(1, 8)) and compare(Fraction(1, 2), ">", Fraction(1, 20)),
        [
            (
                "Of M clients the last M - m >= 1 are Byzantine; the first m have P_i = delta_{x_1}, the others delta_{x_2}.",
                "words",
            ),
            (
                "The Byzantine ones report (x_1, f(x_1)), so that every report is the same under both targets, whatever n is.",
                "words",
            ),
            (
                "One of two targets is then missed on x_2 with probability at least 1/2, and the risk under P is 1 - omega or more.",
                "fact 1; line 2",
            ),
            ("That is above (1 - omega)/8, with a probability above 1/20.", "fact 2; fact 3; line 3"),
        ],
    )
    yield Reading(
        "The paper gives no statement with numbers. Read as Theorem 1 with omega = m/M the share of honest clients, and P the law of all clients' "
        "data, those of Byzantine clients among them."
    )


LABELINGS = tuple(product((0, 1), repeat=2))


def draw_unseen(clients: int = 20) -> Picture:
    """The least risk of the worse target over the four labelings, and a coin's mean risk, against 1 - omega."""
    omegas = [Fraction(m, clients) for m in range(clients)]
    rules = [FiniteClass(LABELINGS, (Fraction(1), Fraction(label))) for label in (0, 1)]
    risks = [[rule.risks((omega, 1 - omega)) for rule in rules] for omega in omegas]
    return draw_bound(
        "Clients that never take part hold all copies of x_2",
        omegas,
        [1 - omega for omega in omegas],
        xlabel="omega = m/M",
        ylabel="risk under the worse target",
        about=f"M = {clients}, P_i = delta_(x_1) for i <= m, delta_(x_2) beyond; all labelings of two points, in fractions, no seeds",
        more=[
            ("best labeling", [min(max(pair) for pair in zip(*both, strict=True)) for both in risks]),
            ("best with coins", [min(sum(pair) / 2 for pair in zip(*both, strict=True)) for both in risks]),
            ("Theorem 1: (1 - omega)/8", [(1 - omega) / 8 for omega in omegas]),
        ],
    )


def check_clients(ctx: Context, *, seen: Fraction = Fraction(0)) -> Iterator[Finding]:
    """P_i = delta_{x_1} for i <= m and delta_{x_2} for i > m, clients 1..m take part: every h, both targets, omega a symbol; f(x_1) = 1."""
    missed, expected = worse_target(seen)
    yield proved(
        "risk of the worse target",
        agree(missed, expected),
        "the sample is copies of x_1 whatever is drawn, so that h does not depend on the target; under the target that labels x_2 otherwise "
        "each of the four h has the risk 1 - omega, and omega more where it errs on x_1",
    )
    w = symbols("omega", positive=True)
    risks = [FiniteClass(LABELINGS, (Fraction(1), Fraction(label))).risks((w + seen, 1 - w - seen)) for label in (0, 1)]
    yield proved(
        "risk of a tossed h",
        agree([a + b for a, b in zip(*risks, strict=True)], [1 - w + 2 * w * (1 - h[0]) for h in LABELINGS]),
        "over the two targets, risks add up to 1 - omega or more for every h, so that their mean over the toss is (1 - omega)/2 or more under one",
    )
    yield draw_unseen()


# ---- the server's data ----------------------------------------------------------------------------------------------


def pooled_part(scope: str = "", power: int = 1) -> Part:
    """Part: pooled learning errs on x_2 where the server's sample misses it, which n_T draws do with probability (1 - p)^{n_T}."""
    u, p, n = symbols("u", positive=True), symbols("p", positive=True), symbols("n", integer=True, positive=True)
    risks = dict(zip(LABELINGS, FiniteClass(LABELINGS, (Fraction(1), Fraction(1))).risks((1 - u, u)), strict=True))
    return proved(
        "every n_T",
        agree([risks[1, 0] - risks[1, 1]], [u]) and is_zero((1 - p) ** (n + power) - (1 - p) ** n + p * (1 - p) ** n),
        "with a share u of copies of x_2 in the pool a labeling that errs there has the empirical excess u, so that no minimiser errs once the "
        "server has drawn x_2, whatever clients add; a sample that missed x_2 does so after one draw more with probability 1 - p",
        scope=scope,
    )


def pooled_failure(p: Fraction, n_T: int, n_S: int) -> Fraction:
    """Probability that the worst empirical risk minimiser errs on x_2: n_T draws of P, P(x_2) = p, and n_S copies of x_1; by counts of x_2."""
    rules, failure = FiniteClass(LABELINGS, (Fraction(1), Fraction(1))), Fraction(0)
    for k in range(n_T + 1):
        excess = rules.excess((Fraction(n_S + n_T - k), Fraction(k)))
        if any(h[1] == 0 for h, e in zip(LABELINGS, excess, strict=True) if e == 0):
            failure += binomial_at_most(n_T, p, k) - (binomial_at_most(n_T, p, k - 1) if k else 0)
    return failure


def draw_pooled() -> Picture:
    """Exact probabilities of an error on the instance of Theorem 1 by the server's samples, against (1 - 4 epsilon)^{n_T}."""
    counts, curves = list(range(1, 61)), []
    cases = [HiddenPoint(2, 1, 1), HiddenPoint(10, 9, 1)]
    for case in cases:
        exact = [case.hidden() * case.failure_with_server(n) for n in counts]
        curves.append((f"exact, omega = {case.omega}, n = 1", exact))
    curves.append(("claimed, omega = 9/10", [cases[1].failure_with_server(n) for n in counts]))
    return draw_bound(
        "The server's sample makes the instance of Theorem 1 learnable",
        counts,
        [cases[0].failure_with_server(n) for n in counts],
        xlabel="n_T, samples of the server",
        ylabel="P[R_P = 4 epsilon]",
        about="pooled learning errs where the participation process hides x_2 and the server's sample misses it; claimed: (1 - 4 epsilon)^n_T for "
        "omega = 1/2; in fractions, no seeds",
        more=curves,
    )


def draw_needed(delta: Fraction = Fraction(1, 20)) -> Picture:
    """Least number of the server's samples for a failure probability of 1/20, by the clients' samples, against what suffices for all."""
    counts, curves = [1, 2, 3, 5, 8, 12, 20, 30, 50], []
    cases = {n: HiddenPoint(10, 9, n) for n in counts}
    needed = [
        next(k for k in range(1, 100) if case.hidden() * case.failure_with_server(k) <= delta)
        for case in cases.values()
    ]
    curves.append(("exact", needed))
    return draw_bound(
        "The server's samples that are needed, by the clients' samples",
        counts,
        [cases[1].server_samples_for(delta)] * len(counts),
        xlabel="n, samples a client",
        ylabel="least n_T",
        about="instance of Theorem 1, M = 10, m = 9, failure probability at most 1/20; in fractions, no seeds",
        more=curves,
        logx=True,
    )


def check_server(
    ctx: Context, *, shift: int = 0, power: int = 1, scope: str = "", draw: Callable[[], Picture] = draw_pooled
) -> Iterator[Finding]:
    """(1 - 4 epsilon)^{n_T}: how many samples of the server it takes."""
    yield pooled_part(scope, power)
    needed = {("1/2", "1/20"): 11, ("1/2", "1/100"): 17, ("9/10", "1/20"): 59, ("9/10", "1/100"): 90}
    instances = {"1/2": HiddenPoint(2, 1, 1), "9/10": HiddenPoint(10, 9, 1)}
    yield proved(
        "samples of the server",
        all(compare(instances[w].server_samples_for(Fraction(d)), "==", n + shift) for (w, d), n in needed.items()),
        "(1 - (1-omega)/2)^{n_T} is below 0.05 and 0.01 from n_T = 11 and 17 on for omega = 1/2, from 59 and 90 on for omega = 9/10",
        scope="these four cases",
    )
    yield draw()


def draw_unhelped(p: Fraction = Fraction(1, 10)) -> Picture:
    """Exact probability of an error by the server's samples, for few and many of the clients."""
    counts = list(range(1, 41))
    return draw_bound(
        "Clients' samples of x_1 alone do not help",
        counts,
        [(1 - p) ** n for n in counts],
        xlabel="n_T, samples of the server",
        ylabel="probability of an error",
        about=f"two points, D = delta_(x_1), P(x_2) = {p}; the worst empirical risk minimiser, by all counts of x_2, in fractions, no seeds",
        more=[
            *((f"exact, n_S = {n_S}", [pooled_failure(p, n, n_S) for n in counts]) for n_S in (0, 1000)),
            ("1/(n_T + n_S), n_S = 1000", [Fraction(1, n + 1000) for n in counts]),
        ],
    )


def check_pooled(ctx: Context, *, power: int = 0) -> Iterator[Finding]:
    """For every n_T and p; and by all counts, with minimisers found on the pool; clients only ever show x_1."""
    yield pooled_part()
    p = Fraction(1, 10)
    pairs = [(n_T, n_S) for n_T in range(1, 9) for n_S in (0, 1, 10, 1000)]
    yield decided(
        "probability of an error",
        all(compare(pooled_failure(p, n_T, n_S), "==", (1 - p) ** (n_T + power)) for n_T, n_S in pairs),
        f"minimisers on the pool, {len(pairs)} pairs (n_T, n_S), P(x_2) = 1/10: (1 - p)^n_T for every n_S, since x_1 teaches nothing of x_2",
    )
    yield draw_unhelped()


OF_T1 = (
    Fault("x_2 with the whole mass 1 - omega", SAMPLES, {"share": Fraction(1)}),
    Fault("a hundredth of the hidden mass seen", WHOLE_CLIENTS, {"seen": Fraction(1, 100)}),
)
CLAIMS: list[Claim] = [
    Claim(
        "SAFARI-T1",
        PAPER,
        "bound",
        "Theorem 1",
        "For every learner there are a participation process of capacity omega = m/M, a law P and a target in H with P[R_P > (1-omega)/8] > 1/20.",
        check_t1,
        OF_T1,
        (NON_TRIVIAL,),
    ),
    Claim(
        "SAFARI-X1",
        DERIVED,
        "bound",
        "Theorem 1, sharper",
        "With (1-omega)/2 for (1-omega)/8 and 1/4 for 1/20 Theorem 1 holds, too: P[R_P >= (1-omega)/2] >= 1/4.",
        partial(check_sharper, error="1", probability="1/4", sign=">="),
        (
            Fault("251/1000", SAMPLES, {"probability": "251/1000"}),
            Fault("a risk one per cent above (1-omega)/2", SAMPLES, {"error": "101/100"}),
        ),
        (DOMAIN,),
    ),
    Claim(
        "SAFARI-T1a",
        PAPER,
        "bound",
        "(9)-(11)",
        "P[s >= (1-omega) Mn] <= exp(-(1-omega) Mn/6) <= exp(-1/6) <= 17/20, so that P[s < (1-omega) Mn] > 3/20.",
        check_t1a,
        (
            Fault("21/25", "constant", {"root": "21/25"}),
            Fault("exp(-u/2) for exp(-u/3)", "Chernoff's bound", {"divisor": 2}),
        ),
        (DOMAIN,),
    ),
    Claim(
        "SAFARI-T1b",
        PAPER,
        "identity",
        "(2)-(4)",
        "R'(h, f_1) + R'(h, f_2) = 4 epsilon for every h, where R' counts errors on x_2.",
        check_t1b,
        (Fault("one target twice", "every h", {"first": (1, -1)}),),
        (DOMAIN,),
    ),
    Claim(
        "SAFARI-T1c",
        PAPER,
        "proof step",
        "(5)-(8)",
        "E R' >= 2 epsilon and R' <= 4 epsilon give P[R' >= epsilon] >= 1/3.",
        check_t1c,
        (Fault("E R' >= epsilon", "p >= 1/3", {"least": 1}),),
    ),
    Claim(
        "SAFARI-T1d",
        PAPER,
        "bound",
        "after Theorem 1",
        "The bound of Theorem 1 does not depend on n: more data a client does not help (SAFARI-T1 for every n: one check decides both).",
        partial(check_t1, draw=draw_by_samples),
        OF_T1,
        (NON_TRIVIAL,),
    ),
    Claim(
        "SAFARI-T1e",
        PAPER,
        "bound",
        "after Theorem 1",
        "Theorem 1 needs heterogeneity and arbitrary participation: it does not contradict convergence for equal laws or uniform participation.",
        check_t1e,
        (Fault("n = 2", "equal clients, whole clients selected", {"samples": 2}),),
        ("whole clients take part or do not, as in SAFARI-T1's first part",),
    ),
    Claim(
        "SAFARI-T1f",
        PAPER,
        "divergence",
        "after Theorem 1",
        "The same limit holds for full participation with Byzantine clients.",
        check_t1f,
        (
            Fault(
                "a hundredth of the hidden mass reported", "any number of Byzantine clients", {"seen": Fraction(1, 100)}
            ),
        ),
        (NON_TRIVIAL,),
    ),
    Claim(
        "SAFARI-X1'",
        DERIVED,
        "bound",
        "Theorem 1 for clients",
        "Clients i <= m with P_i = delta_{x_1}, the others delta_{x_2}: where the first m take part a deterministic learner has R_P >= 1 - "
        "omega for some target, and a randomised one (1 - omega)/2 or more in the mean.",
        check_clients,
        (
            Fault("a hundredth of the hidden mass seen", "risk of the worse target", {"seen": Fraction(1, 100)}),
            Fault("a hundredth of it seen by a coin", "risk of a tossed h", {"seen": Fraction(1, 100)}),
        ),
    ),
    Claim(
        "SAFARI-T1-SAFL",
        PAPER,
        "bound",
        "Section 3.2",
        "The server's sample makes the instance of Theorem 1 learnable: P[R_P = 4 epsilon] <= (1 - 4 epsilon)^{n_T}.",
        check_server,
        (
            Fault("one sample fewer", "samples of the server", {"shift": -1}),
            Fault("one draw more for nothing", "every n_T", {"power": 2}),
        ),
        (DOMAIN,),
    ),
    Claim(
        "SAFARI-R1",
        PAPER,
        "bound",
        "Remark 1",
        "A small sample at the server is enough to be realistic: what is needed does not grow with the clients' data (SAFARI-T1-SAFL: one check "
        "decides both).",
        partial(check_server, scope="the instance of Theorem 1", draw=draw_needed),
        (
            Fault("one sample fewer", "samples of the server", {"shift": -1}),
            Fault("one draw more for nothing", "every n_T", {"power": 2}),
        ),
        ("what is realistic and cheap is not judged",),
    ),
    Claim(
        "SAFARI-X6",
        DERIVED,
        "identity",
        "Theorem 2, fixed n_T",
        "D = delta_{x_1}, P(x_2) = p: the worst pooled minimiser errs by p with probability (1-p)^{n_T}, whatever n_S is.",
        check_pooled,
        (Fault("one sample more", "probability of an error", {"power": 1}),),
    ),
]

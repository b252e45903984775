"""A-FedPD's identities: averages extrapolate, what the virtual update of absent clients' duals does, and what it leaves.

Each stands twice: as algebra for every number C of clients, of whom P take part, and on Algorithm 1 as printed (`play_printed`, plain
fractions with every client's dual) and the library's method, which keeps the duals' mean and deviations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from typing import Any

import numpy as np

from fedtheory.algorithms import AFedPD, FedADMM, FedDyn, FedPD
from fedtheory.claims import Claim, Context, Fault, Finding, Reading, disproved, proved
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.sentences import tell
from fedtheory.core.errors import require
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import agree, is_positive, is_zero, symbols
from paper_checks.afedpd.theory import PAPER
from paper_checks.steps import under_one_name
from problems.quadratics import scalar_quadratics

DERIVED = "a-fedpd, derived"
#: f_i = (a_i/2) (x - b_i)^2
CURVATURES = tuple(map(Fraction, ("1", "2", "1/2", "3")))
CENTRES = tuple(map(Fraction, ("1", "-2", "3", "0")))
RHO, START = Fraction(3, 2), Fraction(5, 2)
Subsets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Played:
    """A state: broadcast model, average of active models, all duals, all local models."""

    theta: Fraction
    bar: Fraction
    lam: tuple[Fraction, ...]
    models: tuple[Fraction, ...]

    @property
    def mean_lam(self) -> Fraction:
        """The average of the duals."""
        return sum(self.lam, Fraction(0)) / len(self.lam)


def solve(i: int, lam: Fraction, theta: Fraction) -> Fraction:
    """argmin f_i(x) + lam x + (rho/2)(x - theta)^2."""
    return (CURVATURES[i] * CENTRES[i] - lam + RHO * theta) / (CURVATURES[i] + RHO)


def dual_after(dual: Any, rho: Any, point: Any, theta: Any) -> Any:
    """Algorithm 1's D-Update, with a client's own model or, for an absent client, thetabar^{t+1} for the point."""
    return dual + rho * (point - theta)


def broadcast(bar: Any, mean_dual: Any, rho: Any) -> Any:
    """The server's model, from an average of models and one of duals."""
    return bar + mean_dual / rho


@cache
def play_printed(subsets: Subsets, virtual: bool = True) -> tuple[Played, ...]:
    """Algorithm 1 line by line with exact solves; without ``virtual`` absent duals stay."""
    C = len(CURVATURES)
    states = [Played(START, START, (Fraction(0),) * C, (START,) * C)]
    for active in subsets:
        old = states[-1]
        models = tuple(solve(i, old.lam[i], old.theta) if i in active else old.models[i] for i in range(C))
        bar = sum((models[i] for i in active), Fraction(0)) / len(active)
        step = [models[i] if i in active else bar if virtual else old.theta for i in range(C)]
        lam = tuple(dual_after(dual, RHO, s, old.theta) for dual, s in zip(old.lam, step, strict=True))
        states.append(Played(broadcast(bar, sum(lam, Fraction(0)) / C, RHO), bar, lam, models))
    return tuple(states)


@cache
def play_method(subsets: Subsets, method: Any = AFedPD) -> tuple[Played, ...]:
    """The same by a method of the library, in fractions."""
    problem = scalar_quadratics(list(CURVATURES), list(CENTRES))
    algorithm = method(RHO)
    state = algorithm.init(problem, np.array([[START]], dtype=object))
    states = []
    for r in range(len(subsets) + 1):
        states.append(Played(state.x.item(), state.x_bar.item(), tuple(state.lam_i.ravel()), tuple(state.x_i.ravel())))
        if r < len(subsets):
            key: Any = ScriptedKey(r)
            state = algorithm.round(problem, state, Clients(problem.n, np.array(subsets[r])), key)
    return tuple(states)


def sequences(P: int, rounds: int = 2) -> Iterator[Subsets]:
    """All sequences of subsets of P of the four clients."""
    yield from product(combinations(range(len(CURVATURES)), P), repeat=rounds)


Relation = Callable[[Played, Played, Played, tuple[int, ...]], bool]


def holds_in_play(relation: Relation, play: Callable[[Subsets], Sequence[Played]], sizes: Sequence[int]) -> bool:
    """Whether a relation of the start, a state, the next one and who was active holds in the first two rounds of every sequence."""
    return all(
        relation(states[0], states[r], states[r + 1], subsets[r])
        for P in sizes
        for subsets in sequences(P)
        for states in (play(subsets),)
        for r in range(len(subsets))
    )


def same(left: Any, right: Any) -> bool:
    """Equality of fractions, as a fact."""
    return compare(left, "==", right)


def is_fedpd_of_all(method: Any, states: Mapping[str, Any], factor: Any) -> Equivalence:
    """With all clients and exact solves a method has the states of FedPD that starts with zero duals, eta = 1/(factor rho)."""
    return Equivalence(
        lambda rho: FedPD(1 / (factor * rho), init_dual="zero"),
        lambda rho: method(rho),
        region="0 < rho",
        states={"x": "x", "x_i": "x_i", "x_bar": "mean_x_i", **states},
        kept={"x0_i": "x"},
    )


def check_identity(
    ctx: Context,
    *,
    algebra: Callable[[int], bool] | None,
    argument: str,
    relation: Relation,
    sizes: Sequence[int] = (1, 2, 3, 4),
    wrong: int = 0,
    method: Any = AFedPD,
    virtual: bool | None = True,
    besides: Callable[[Context], Iterable[Finding]] | None = None,
    same_as: Callable[[Any], Equivalence] | None = None,
    factor: Any = 1,
    reading: str = "",
) -> Iterator[Finding]:
    """Algebra; then the printed algorithm (``virtual``: with virtual updates, without, or not at all) and the library's method in fractions.

    In the place of algebra ``same_as`` has an equivalence with all clients, whose penalty ``factor`` scales in a fault.
    """
    if algebra is not None:
        yield proved("every C and P", algebra(wrong), argument)
    if same_as is not None:
        yield from under_one_name("every C", same_as(factor).findings(ctx))
    count = sum(len(list(sequences(P))) for P in sizes)
    text = f"two rounds of all {count} sequences of subsets of {len(CURVATURES)} clients, P in {tuple(sizes)}"
    if virtual is not None:
        played = holds_in_play(relation, partial(play_printed, virtual=virtual), sizes)
        yield proved("the printed algorithm", played, text, "exact", scope="these instances")
    played = holds_in_play(relation, partial(play_method, method=method), sizes)
    yield proved("the library's method", played, text, "exact", scope="these instances")
    if besides is not None:
        yield from besides(ctx)
    if reading:
        yield Reading(reading)


# ---- relations ------------------------------------------------------------------------------------------------------


def mean_dual_moves(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """mean lambda+ = mean lambda + rho (bar+ - theta)."""
    return same(new.mean_lam, dual_after(old.mean_lam, RHO, new.bar, old.theta))


def extrapolates(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """mean lambda+ = rho (bar+ - bar), theta+ = 2 bar+ - bar."""
    return same(new.mean_lam, RHO * (new.bar - old.bar)) and same(new.theta, 2 * new.bar - old.bar)


def virtual_error(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """Of absent clients: the dual that they get less the one that their own solution would give is rho (bar+ - that solution)."""
    absent = [(i, solve(i, old.lam[i], old.theta)) for i in range(len(old.lam)) if i not in active]
    return all(same(new.lam[i] - (old.lam[i] + RHO * (own - old.theta)), RHO * (new.bar - own)) for i, own in absent)


def errors_may_stay(ctx: Context) -> Iterator[Finding]:
    """One of the two clients (x -+ 1)^2/2 a round: the error of the absent one's virtual step is 2 rho/(1 + rho) in every round."""
    rho, theta = symbols("rho", positive=True), symbols("theta")
    returned = [(rho * theta + b) / (1 + rho) for b in (1, -1)]  # duals without a part of their own, AFEDPD-D4
    yield disproved(
        "the errors of every run are diminished",
        is_zero(rho * (returned[0] - returned[1]) - 2 * rho / (1 + rho)) and is_positive(2 * rho / (1 + rho)),
        "f_1, f_2 = (x -+ 1)^2/2, one client a round, exact solves: clients have no dual of their own (AFEDPD-D4), what they would return is 2/(1 + "
        "rho) apart in every round, and so the error is 2 rho/(1 + rho) for ever",
        role="reading",
    )


def deviations(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """mu_i = lambda_i - mean lambda: their sum is 0, active ones move by rho (theta_i+ - bar+), the others stay."""
    mu = [[dual - state.mean_lam for dual in state.lam] for state in (old, new)]
    moved = [RHO * (new.models[i] - new.bar) if i in active else 0 for i in range(len(mu[0]))]
    return same(sum(mu[1], Fraction(0)), 0) and all(same(n, o + m) for o, n, m in zip(*mu, moved, strict=True))


def local_problem(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """theta_i+ minimises f_i + mu_i x + (rho/2)(x - bar)^2."""
    return all(same(new.models[i], solve(i, old.lam[i] - old.mean_lam, old.bar)) for i in active)


def lazy(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """Every absent dual moves by the same rho (bar+ - theta)."""
    return all(
        same(n - o, RHO * (new.bar - old.theta))
        for i, (o, n) in enumerate(zip(old.lam, new.lam, strict=True))
        if i not in active
    )


def mean(values: Iterable[Fraction]) -> Fraction:
    """Their average."""
    found = list(values)
    return sum(found, Fraction(0)) / len(found)


def unbiased_on_average(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """bar+ is the mean of what active clients return; over all subsets its mean is that of what the absent ones would return."""
    would = [solve(i, old.lam[i], old.theta) for i in range(len(old.lam))]
    if not same(new.bar, mean(would[i] for i in active)):
        return False
    drawn = list(combinations(range(len(would)), len(active)))
    bars = mean(mean(would[i] for i in s) for s in drawn)
    absent = mean(mean(w for i, w in enumerate(would) if i not in s) for s in drawn)
    return same(bars, absent)


def check_s2(ctx: Context, *, instead: int | None = None, wrong: int = 0) -> Iterator[Finding]:
    """Of each absent client it is biased; of their average it is not. ``instead``: how many of the four clients are alike in a fault."""
    centres = CENTRES if instead is None else (CENTRES[0],) * instead + CENTRES[instead:]
    curvatures = CURVATURES if instead is None else (CURVATURES[0],) * instead + CURVATURES[instead:]
    would = [(a * b + RHO * START) / (a + RHO) for a, b in zip(curvatures, centres, strict=True)]
    expected = mean(would)
    yield disproved(
        "of each client",
        all(compare(expected, "!=", model) for model in would),
        f"from the start the four clients would return {', '.join(map(str, would))}; E thetabar^1 = {expected} is none of them",
        "exact",
    )
    sizes = (1, 2, 3)
    yield proved(
        "of the absent clients' average",
        average_algebra(wrong),
        "of the subsets of P of C clients a share P/C has a client, and (C - P)/C has not: over the draw the average of the active clients' models "
        "and that of the absent clients' both have the average over all clients as expectation",
        role="repaired",
    )
    for name, play in (("the printed algorithm", play_printed), ("the library's method", play_method)):
        played = holds_in_play(unbiased_on_average, play, sizes)
        text = f"two rounds of all sequences of subsets of {len(CURVATURES)} clients, P in {sizes}"
        yield proved(name, played, text, "exact", "repaired", scope="these instances")
    yield Reading(
        "The paper writes E[w_i^{t+1} | w^t] = E_P[(1/P) sum_P w_i^{t+1} | w^t] with the i of an absent client. Where i is such a client drawn at "
        "random it is right, and that is all that the average of the duals needs (AFEDPD-S1, -Q3)."
    )


def never_learns(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """P = 1: mu_i stays 0."""
    return all(same(dual, new.mean_lam) for dual in new.lam)


def is_fedpd(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """Eq. (5): all solve at theta, lambda_i+ = lambda_i + rho (theta_i+ - theta), theta+ = mean (theta_i+ + lambda_i+/rho)."""
    models = [solve(i, dual, old.theta) for i, dual in enumerate(old.lam)]
    moved = [dual_after(dual, RHO, model, old.theta) for dual, model in zip(old.lam, models, strict=True)]
    return (
        server_minimises(start, old, new, active)
        and all(same(n, m) for n, m in zip(new.models, models, strict=True))
        and all(same(n, m) for n, m in zip(new.lam, moved, strict=True))
    )


def server_minimises(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """P = C: theta+ = mean (theta_i+ + lambda_i+/rho)."""
    C = len(new.lam)
    ends = (broadcast(m, dual, RHO) for m, dual in zip(new.models, new.lam, strict=True))
    return same(new.theta, sum(ends, Fraction(0)) / C)


def averages_active(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """theta+ = mean over active clients of theta_i+ + lambda_i+/rho; absent duals stay."""
    mean = sum((broadcast(new.models[i], new.lam[i], RHO) for i in active), Fraction(0)) / len(active)
    return same(new.theta, mean) and all(same(new.lam[i], old.lam[i]) for i in range(len(new.lam)) if i not in active)


def stale_identity(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """lambda_i+ = -grad f_i(theta_i+) for clients active now; the others' duals move as the mean of all does."""
    common = new.mean_lam - old.mean_lam
    return all(
        same(new.lam[i], -CURVATURES[i] * (new.models[i] - CENTRES[i]) if i in active else old.lam[i] + common)
        for i in range(len(new.lam))
    )


def dyn_moves(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """FedDyn: mean lambda+ = mean lambda + (P/C) rho (bar+ - theta)."""
    return same(new.mean_lam, dual_after(old.mean_lam, Fraction(len(active), len(new.lam)) * RHO, new.bar, old.theta))


# ---- algebra --------------------------------------------------------------------------------------------------------


def mean_algebra(wrong: int) -> bool:
    """Active increments sum to rho (sum of their models - P theta), the others to rho (C - P)(bar+ - theta), bar+ that sum over P."""
    rho, C, P = symbols("rho C P", positive=True)
    models, theta = symbols("sum_of_models theta")
    bar = models / P
    return agree(mean_dual_step(models, theta, bar, rho, C, P, wrong), dual_after(0, rho, bar, theta))


def mean_dual_step(models: Any, theta: Any, bar: Any, rho: Any, C: Any, P: Any, wrong: int = 0) -> Any:
    """How the mean of the duals moves, from the sum of the active clients' models and thetabar^{t+1}."""
    return (rho * (models - P * theta) + rho * (C - P - wrong) * (bar - theta)) / C


def lazy_algebra(wrong: int) -> bool:
    """With lambda_i = own_i + common an active client's own part moves by rho (theta_i - bar), and the common one by rho (bar - theta)."""
    own, common, rho, model, bar, theta = symbols("own common rho model bar theta")
    step = rho * (bar - theta) * (1 + wrong)
    return agree(own + common + rho * (model - theta), own + rho * (model - bar) + common + step)


def error_algebra(wrong: int) -> bool:
    """The virtual dual step less the one that the client itself would take: rho (bar - theta_i) for the model theta_i that it would return."""
    rho, model, bar, theta, dual = symbols("rho model bar theta dual")
    virtual, own = dual_after(dual, rho, bar, theta), dual_after(dual, rho * (1 + wrong), model, theta)
    return agree(virtual - own, rho * (bar - model))


def extrapolation_algebra(wrong: int) -> bool:
    """With theta = bar + mean lambda/rho and mean lambda = rho (bar - before): mean lambda+ = rho (bar+ - bar)."""
    rho, new, bar, before = symbols("rho new bar before")
    theta = bar + (bar - before) * (1 + wrong)
    dual = rho * (bar - before) + rho * (new - theta)
    return agree(dual, rho * (new - bar)) and agree(new + dual / rho, 2 * new - bar)


def deviation_algebra(wrong: int) -> bool:
    """Active: increments rho (theta_i - theta) less the mean's rho (bar - theta); absent: the mean's less the mean's."""
    rho, model, bar, theta = symbols("rho model bar theta")
    mean = rho * (bar - theta) * (1 + wrong)
    return is_zero(rho * (model - theta) - mean - rho * (model - bar)) and is_zero(
        rho * (bar - theta) - mean + wrong * rho * (bar - theta)
    )


def local_algebra(wrong: int) -> bool:
    """lambda_i + rho (x - theta) = mu_i + rho (x - bar), since theta = bar + mean lambda/rho."""
    rho, x, bar, mean, mu = symbols("rho x bar mean mu")
    theta = bar + mean / rho
    return agree(mu + mean + rho * (x - theta), mu + rho * (x - bar) + wrong * mean)


def average_algebra(wrong: int) -> bool:
    """Of the binomial(C, P) subsets binomial(C-1, P-1) have a given client and binomial(C-1, P) have not: shares P/C and (C - P)/C.

    So each client's expected weight is 1/C in the average of the active ones, and in that of the absent ones.
    """
    binomial = require("sympy", "counting subsets").binomial
    C, P = symbols("C P", positive=True, integer=True)
    drawn, left = binomial(C - 1, P - 1), binomial(C - 1, P)
    return is_zero(drawn / P * C - (1 + wrong) * binomial(C, P)) and is_zero(left / (C - P) * C - binomial(C, P))


def single_algebra(wrong: int) -> bool:
    """The deviation of a client that is active alone: its dual's step less the mean's is rho (theta_i+ - theta_i+/P), 0 for P = 1.

    That is rho theta_i+ (P - 1)/P, from duals that are alike.
    """
    rho, model, theta, dual, P = symbols("rho model theta dual P")
    own, mean_dual = dual + rho * (model - theta), dual + rho * (model / (P + wrong) - theta)
    return is_zero(own - mean_dual - rho * model * (P - 1) / P)


def server_algebra(wrong: int) -> bool:
    """mean [<lambda_i, theta_i - theta> + (rho/2)||theta_i - theta||^2] is least at m = mean (theta_i + lambda_i/rho).

    It exceeds that by (rho/2)||theta - m||^2; in one coordinate, by the averages of theta_i, theta_i^2, lambda_i and lambda_i theta_i.
    """
    rho = symbols("rho", positive=True)
    models, squares, duals, products, theta = symbols("mean_theta mean_theta2 mean_lambda mean_lambda_theta theta")

    def augmented(at: Any) -> Any:
        return products - duals * at + rho / 2 * (squares - 2 * models * at + at**2)

    least = models + (1 + wrong) * duals / rho
    return is_zero(augmented(theta) - augmented(least) - rho / 2 * (theta - least) ** 2)


def stale_algebra(wrong: int) -> bool:
    """On (a/2)(x - b)^2, solved up to the slope e: lambda_i + rho (theta_i+ - theta) = e - a (theta_i+ - b)."""
    rho, a = symbols("rho a", positive=True)
    b, dual, theta, e = symbols("b dual theta e")
    model = (a * b - dual + rho * theta + e) / (a + rho)
    return is_zero(dual + (1 + wrong) * rho * (model - theta) - (e - a * (model - b)))


def dyn_algebra(wrong: int) -> bool:
    """FedDyn: absent duals stay, and the active ones' increments sum to rho (sum of their models - P theta)."""
    rho, C, P = symbols("rho C P", positive=True)
    models, theta = symbols("sum_of_models theta")
    return agree(active_dual_step(models, theta, rho, C, P + wrong), dual_after(0, P / C * rho, models / P, theta))


def active_dual_step(models: Any, theta: Any, rho: Any, C: Any, P: Any) -> Any:
    """How FedDyn's mean dual moves, from the sum of the active clients' models."""
    return rho * (models - P * theta) / C


@dataclass(frozen=True)
class Identity:
    """An identity of a round: where it stands, what it says, and how it is shown."""

    id: str
    paper: str
    source: str
    statement: str
    algebra: Callable[[int], bool] | None
    relation: Relation
    argument: str
    sizes: tuple[int, ...] = (1, 2, 3, 4)
    methods: tuple[Any, Any] = (AFedPD, FedDyn)
    besides: Callable[[Context], Iterable[Finding]] | None = None
    same_as: Callable[[Any], Equivalence] | None = None
    reading: str = ""

    def claim(self) -> Claim:
        """A claim whose faults are an error of one in the algebra, and another method."""
        check = partial(
            check_identity,
            algebra=self.algebra,
            argument=self.argument,
            relation=self.relation,
            sizes=self.sizes,
            method=self.methods[0],
            virtual={AFedPD: True, FedDyn: False}.get(self.methods[0]),
            besides=self.besides,
            same_as=self.same_as,
            reading=self.reading,
        )
        faults = [Fault("one too many in the algebra", "every C and P", {"wrong": 1})] if self.algebra else []
        if self.same_as is not None:
            faults.append(Fault("a penalty a hundredth larger", "every C", {"factor": Fraction(101, 100)}))
        if self.methods[1] is not None:
            faults.append(Fault("another method in its place", "the library's method", {"method": self.methods[1]}))
        same = self.same_as
        told = None if same is None else (lambda: (tell(same(1), name="every C"),))
        return Claim(self.id, self.paper, "identity", self.source, self.statement, check, tuple(faults), told=told)


#: FedDyn whose server takes its previous dual, Eq. (7) as printed
OLD_DUAL = partial(FedDyn, server_dual="old")
#: Eq. (6) as printed
ACTIVE_ADMM = partial(FedADMM, averages="active")
IDENTITIES = (
    Identity(
        "AFEDPD-S1",
        PAPER,
        "Section 3.3, Appendix B.3.2",
        "lambdabar^{t+1} = lambdabar^t + rho (thetabar^{t+1} - theta^t).",
        mean_algebra,
        mean_dual_moves,
        "active increments sum to rho P (thetabar^{t+1} - theta^t), virtual ones to rho (C - P) times that",
    ),
    Identity(
        "AFEDPD-D1",
        DERIVED,
        "Algorithm 1",
        "lambdabar^{t+1} = rho (thetabar^{t+1} - thetabar^t) and theta^{t+1} = 2 thetabar^{t+1} - "
        "thetabar^t, thetabar^0 = theta^0.",
        extrapolation_algebra,
        extrapolates,
        "by induction from lambdabar^0 = 0, with S1 and theta^t = thetabar^t + lambdabar^t/rho",
    ),
    Identity(
        "AFEDPD-D2",
        DERIVED,
        "Algorithm 1",
        "mu_i = lambda_i - lambdabar sum to 0; an active one moves by rho (theta_i^{t+1} - "
        "thetabar^{t+1}), an absent one stays.",
        deviation_algebra,
        deviations,
        "S1 taken off each increment",
        reading="So the virtual update moves the mean of the duals alone; what is a client's own stays as stale as without it.",
    ),
    Identity(
        "AFEDPD-D3",
        DERIVED,
        "Algorithm 1",
        "grad L_i(theta) = grad f_i(theta) + mu_i^t + rho (theta - thetabar^t): exact solves do not see theta^t.",
        local_algebra,
        local_problem,
        "theta^t = thetabar^t + lambdabar^t/rho",
        methods=(AFedPD, OLD_DUAL),
    ),
    Identity(
        "AFEDPD-D4",
        DERIVED,
        "Algorithm 1, P = 1",
        "With one client a round mu_i = 0 for ever: a proximal-point method with a random client.",
        single_algebra,
        never_learns,
        "thetabar^{t+1} is the active client's own model, so that from duals that are alike its step is that of the mean, and so is everybody's",
        (1,),
    ),
    Identity(
        "AFEDPD-D5",
        DERIVED,
        "Algorithm 1, Limitations",
        "All absent duals move by the same rho (thetabar^{t+1} - theta^t): one sum on "
        "the server replaces C - P updates.",
        lazy_algebra,
        lazy,
        "a dual is a client's own part, which moves where it is active only, plus a sum on the server, which moves by rho (bar - theta) every round",
    ),
    Identity(
        "AFEDPD-Q10",
        PAPER,
        "Limitations",
        "Algorithm 1 as printed makes the server keep and move all C duals; one common increment would do.",
        lazy_algebra,
        lazy,
        "clients can keep their own part, the server the sum of the common increments",
        reading="What the limitation asks for is avoidable, by AFEDPD-D5; so it is a choice, and no error.",
    ),
    Identity(
        "AFEDPD-S3",
        PAPER,
        "Algorithm 1, P = C",
        "With all clients A-FedPD is FedPD (Eq. 5), with exact solves and zero duals at the start.",
        None,
        is_fedpd,
        "",
        (4,),
        (AFedPD, OLD_DUAL),
        same_as=lambda factor: is_fedpd_of_all(AFedPD, {"lam": "mean_lam_i", "mu_i": "lam_i - mean_lam_i"}, factor),
    ),
    Identity(
        "AFEDPD-S4",
        PAPER,
        "Section 3.2",
        "FedADMM (Eq. 6) without a regulariser is FedPD with some of the clients.",
        None,
        averages_active,
        "",
        methods=(ACTIVE_ADMM, FedADMM),
        same_as=lambda factor: is_fedpd_of_all(ACTIVE_ADMM, {"lam_i": "lam_i"}, factor),
        reading="Of the active clients a round of Eq. (6) is a round of all of them on their own problem, from the model and duals that they have, "
        "and such a round is FedPD's, of any number of clients; the others keep what they have.",
    ),
    Identity(
        "AFEDPD-S5",
        PAPER,
        "Eq. (5)",
        "theta^{t+1} = mean (theta_i^{t+1} + lambda_i^{t+1}/rho) minimises the augmented Lagrangian over theta.",
        server_algebra,
        server_minimises,
        "over its value there it is (rho/2)||theta - theta^{t+1}||^2, coordinate by coordinate",
        (4,),
        (AFedPD, OLD_DUAL),
        reading="The paragraph on dual drift writes lambda_i^t there.",
    ),
    Identity(
        "AFEDPD-S6",
        PAPER,
        "Section 1",
        "As consensus is reached the error of a virtual dual step, of what the absent client's own step would be, is diminished: it is rho "
        "(thetabar^{t+1} - theta_i), theta_i the model that the client would return.",
        error_algebra,
        virtual_error,
        "the two steps have the dual and theta^t in common; the error is 0 where the client would return the average",
        (1, 2, 3),
        besides=errors_may_stay,
        reading="Consensus is that of the models that all clients would return. The paper does not say that it is reached, and here nothing of it is "
        "claimed: with one client a round it need not be.",
    ),
    Identity(
        "AFEDPD-S7",
        PAPER,
        "Section 3.2",
        "FedDyn's mean dual moves by P/C of what A-FedPD's does, (P/C) rho (thetabar^{t+1} - theta^t).",
        dyn_algebra,
        dyn_moves,
        "absent duals stay",
        (1, 2, 3),
        (FedDyn, AFedPD),
    ),
    Identity(
        "AFEDPD-D16",
        DERIVED,
        "Algorithm 1",
        "lambda_i^{t+1} = e_i - grad f_i(theta_i^{t+1}) for clients active in round t, and only the "
        "common increments come on top until the next time.",
        stale_algebra,
        stale_identity,
        "the local problem's slope grad f_i + lambda_i + rho (theta_i^{t+1} - theta^t) is e_i, here for a quadratic of any curvature; then D5",
    ),
)
S2 = Claim(
    "AFEDPD-S2",
    PAPER,
    "identity",
    "Sections 1 and 3.3",
    "For every client that is absent the average thetabar^{t+1} of the active clients' models is an unbiased estimate of its own local solution.",
    check_s2,
    (
        Fault("all clients alike", "of each client", {"instead": 4}, holds=True),
        Fault("one subset too many", "of the absent clients' average", {"wrong": 1}),
    ),
    assumptions=("each round draws P of the C clients uniformly", "local problems are solved exactly"),
    repaired="Of the average of the absent clients' local solutions, and so of that of all clients.",
)
CLAIMS: list[Claim] = [*(identity.claim() for identity in IDENTITIES), S2]

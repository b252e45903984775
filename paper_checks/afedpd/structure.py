"""A-FedPD's identities: averages extrapolate, what the virtual update of absent clients' duals does, and what it leaves.

Each stands twice: as algebra for every number C of clients, of whom P take part, and on Algorithm 1 as printed (`play_printed`, plain
fractions with every client's dual) and the library's method, which keeps the duals' mean and deviations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from typing import Any

import numpy as np

from fedtheory.algorithms import AFedPD, FedADMM, FedDyn
from fedtheory.claims import Claim, Context, Fault, Finding, Reading, disproved, proved
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import agree, is_zero, symbols
from paper_checks.afedpd.theory import PAPER
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
        lam = tuple(dual + RHO * (s - old.theta) for dual, s in zip(old.lam, step, strict=True))
        states.append(Played(bar + sum(lam, Fraction(0)) / C / RHO, bar, lam, models))
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


def check_identity(
    ctx: Context,
    *,
    algebra: Callable[[int], bool],
    argument: str,
    relation: Relation,
    sizes: Sequence[int] = (1, 2, 3, 4),
    wrong: int = 0,
    method: Any = AFedPD,
    virtual: bool | None = True,
    besides: Callable[[], Finding] | None = None,
    reading: str = "",
) -> Iterator[Finding]:
    """Algebra; then the printed algorithm (``virtual``: with virtual updates, without, or not at all) and the library's method in fractions."""
    yield proved("every C and P", algebra(wrong), argument)
    count = sum(len(list(sequences(P))) for P in sizes)
    text = f"two rounds of all {count} sequences of subsets of {len(CURVATURES)} clients, P in {tuple(sizes)}"
    if virtual is not None:
        played = holds_in_play(relation, partial(play_printed, virtual=virtual), sizes)
        yield proved("the printed algorithm", played, text, "exact", scope="these instances")
    played = holds_in_play(relation, partial(play_method, method=method), sizes)
    yield proved("the library's method", played, text, "exact", scope="these instances")
    if besides is not None:
        yield besides()
    if reading:
        yield Reading(reading)


# ---- relations ------------------------------------------------------------------------------------------------------


def mean_dual_moves(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """mean lambda+ = mean lambda + rho (bar+ - theta)."""
    return same(new.mean_lam, old.mean_lam + RHO * (new.bar - old.theta))


def extrapolates(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """mean lambda+ = rho (bar+ - bar), theta+ = 2 bar+ - bar."""
    return same(new.mean_lam, RHO * (new.bar - old.bar)) and same(new.theta, 2 * new.bar - old.bar)


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


def unbiased_on_average(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """bar+ is the mean of what active clients return, and over all subsets its mean is that of what all clients would return."""
    would = [solve(i, old.lam[i], old.theta) for i in range(len(old.lam))]
    if not same(new.bar, sum((would[i] for i in active), Fraction(0)) / len(active)):
        return False
    bars = [sum((would[i] for i in s), Fraction(0)) / len(s) for s in combinations(range(len(would)), len(active))]
    return same(sum(bars, Fraction(0)) / len(bars), sum(would, Fraction(0)) / len(would))


def of_each_client() -> Finding:
    """The expectation of thetabar^1 against what each client would return."""
    would = [solve(i, Fraction(0), START) for i in range(len(CURVATURES))]
    mean = sum(would, Fraction(0)) / len(would)
    return disproved(
        "of each client",
        all(compare(mean, "!=", model) for model in would),
        f"from the start the four clients would return {', '.join(map(str, would))}; E thetabar^1 = {mean} is none of them",
        "exact",
        "reading",
    )


def never_learns(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """P = 1: mu_i stays 0."""
    return all(same(dual, new.mean_lam) for dual in new.lam)


def is_fedpd(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """Eq. (5): all solve at theta, lambda_i+ = lambda_i + rho (theta_i+ - theta), theta+ = mean (theta_i+ + lambda_i+/rho)."""
    models = [solve(i, dual, old.theta) for i, dual in enumerate(old.lam)]
    moved = [dual + RHO * (model - old.theta) for dual, model in zip(old.lam, models, strict=True)]
    return (
        server_minimises(start, old, new, active)
        and all(same(n, m) for n, m in zip(new.models, models, strict=True))
        and all(same(n, m) for n, m in zip(new.lam, moved, strict=True))
    )


def server_minimises(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """P = C: theta+ = mean (theta_i+ + lambda_i+/rho)."""
    C = len(new.lam)
    return same(new.theta, sum((m + dual / RHO for m, dual in zip(new.models, new.lam, strict=True)), Fraction(0)) / C)


def averages_active(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """theta+ = mean over active clients of theta_i+ + lambda_i+/rho; absent duals stay."""
    mean = sum((new.models[i] + new.lam[i] / RHO for i in active), Fraction(0)) / len(active)
    return same(new.theta, mean) and all(same(new.lam[i], old.lam[i]) for i in range(len(new.lam)) if i not in active)


def stale_identity(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """For clients active now: lambda_i+ = -grad f_i(theta_i+)."""
    return all(same(new.lam[i], -CURVATURES[i] * (new.models[i] - CENTRES[i])) for i in active)


def dyn_moves(start: Played, old: Played, new: Played, active: tuple[int, ...]) -> bool:
    """FedDyn: mean lambda+ = mean lambda + (P/C) rho (bar+ - theta)."""
    return same(new.mean_lam, old.mean_lam + Fraction(len(active), len(new.lam)) * RHO * (new.bar - old.theta))


# ---- algebra --------------------------------------------------------------------------------------------------------


def mean_algebra(wrong: int) -> bool:
    """Active increments sum to rho P (bar+ - theta), the others to rho (C - P)(bar+ - theta)."""
    rho, C, P, move = symbols("rho C P move", positive=True)
    return agree(rho / C * (P * move + (C - P - wrong) * move), rho * move)


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
    """Each client is in a subset with probability P/C."""
    C, P, total = symbols("C P total", positive=True)
    return agree((P + wrong) / C * total / P, total / C)


def single_algebra(wrong: int) -> bool:
    """P = 1: bar+ = theta_i+, so that the deviation moves by rho (theta_i+ - bar+) = 0."""
    model, other = symbols("model other")
    bar = (model + wrong * other) / (1 + wrong)
    return agree(model, bar)


def server_algebra(wrong: int) -> bool:
    """d/dtheta of mean [<lambda_i, theta_i - theta> + (rho/2)||theta_i - theta||^2] = 0 at theta = mean (theta_i + lambda_i/rho)."""
    rho, model, dual = symbols("rho model dual")
    theta = model + (1 + wrong) * dual / rho
    return agree(dual, rho * (theta - model))


def stale_algebra(wrong: int) -> bool:
    """The local problem's slope is 0: grad f_i + lambda_i + rho (theta_i+ - theta) = e_i, and lambda_i+ = lambda_i + rho (theta_i+ - theta)."""
    rho, move, dual, e = symbols("rho move dual e")
    slope = e - dual - rho * move
    return agree(dual + (1 + wrong) * rho * move, e - slope)


def dyn_algebra(wrong: int) -> bool:
    """FedDyn: absent duals stay."""
    rho, C, P, move = symbols("rho C P move", positive=True)
    return agree(rho / C * (P + wrong) * move, P / C * rho * move)


@dataclass(frozen=True)
class Identity:
    """An identity of a round: where it stands, what it says, and how it is shown."""

    id: str
    paper: str
    source: str
    statement: str
    algebra: Callable[[int], bool]
    relation: Relation
    argument: str
    sizes: tuple[int, ...] = (1, 2, 3, 4)
    methods: tuple[Any, Any] = (AFedPD, FedDyn)
    besides: Callable[[], Finding] | None = None
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
            reading=self.reading,
        )
        faults = [Fault("one too many in the algebra", "every C and P", {"wrong": 1})]
        if self.methods[1] is not None:
            faults.append(Fault("another method in its place", "the library's method", {"method": self.methods[1]}))
        return Claim(self.id, self.paper, "identity", self.source, self.statement, check, tuple(faults))


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
        "thetabar^{t+1} is the active client's own model, so D2's increment is 0",
        (1,),
    ),
    Identity(
        "AFEDPD-D5",
        DERIVED,
        "Algorithm 1, Limitations",
        "All absent duals move by the same rho (thetabar^{t+1} - theta^t): one sum on "
        "the server replaces C - P updates.",
        mean_algebra,
        lazy,
        "the increment does not depend on i, and is that of the mean",
    ),
    Identity(
        "AFEDPD-Q10",
        PAPER,
        "Limitations",
        "Algorithm 1 as printed makes the server keep and move all C duals; one common increment would do.",
        mean_algebra,
        lazy,
        "one common increment: clients can keep their own part, the server the sum of increments",
        reading="What the limitation asks for is avoidable, by AFEDPD-D5; so it is a choice, and no error.",
    ),
    Identity(
        "AFEDPD-S2",
        PAPER,
        "Section 3.3",
        "thetabar^{t+1} is an unbiased estimate of what the absent clients would return, on average over the clients.",
        average_algebra,
        unbiased_on_average,
        "each client is drawn with probability P/C",
        methods=(AFedPD, None),
        besides=of_each_client,
        reading="The paper writes E[w_i^{t+1} | w^t] with a client's i, read as that of a client drawn at random; of each client it is false unless "
        "all are alike.",
    ),
    Identity(
        "AFEDPD-S3",
        PAPER,
        "Algorithm 1, P = C",
        "With all clients A-FedPD is FedPD (Eq. 5).",
        server_algebra,
        is_fedpd,
        "local problems and dual steps are those of Eq. (5); theta^{t+1} = mean (theta_i^{t+1} + lambda_i^{t+1}/rho), which is its last line",
        (4,),
        (AFedPD, OLD_DUAL),
    ),
    Identity(
        "AFEDPD-S4",
        PAPER,
        "Section 3.2",
        "FedADMM (Eq. 6) without a regulariser is FedPD with some of the clients.",
        server_algebra,
        averages_active,
        "its server step is that of Eq. (5), over the active clients",
        methods=(ACTIVE_ADMM, FedADMM),
    ),
    Identity(
        "AFEDPD-S5",
        PAPER,
        "Eq. (5)",
        "theta^{t+1} = mean (theta_i^{t+1} + lambda_i^{t+1}/rho) minimises the augmented Lagrangian over theta.",
        server_algebra,
        server_minimises,
        "its slope in theta is 0 there, and it is strongly convex in theta",
        (4,),
        (AFedPD, None),
        reading="The paragraph on dual drift writes lambda_i^t there.",
    ),
    Identity(
        "AFEDPD-S6",
        PAPER,
        "Section 1",
        "The virtual update's increment rho (thetabar^{t+1} - theta^t) = lambdabar^{t+1} - lambdabar^t "
        "vanishes with consensus.",
        mean_algebra,
        mean_dual_moves,
        "it is the change of the mean dual, which tends to 0 wherever the method converges",
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
        "the local problem's stationarity; then D5",
        methods=(AFedPD, None),
    ),
)
CLAIMS: list[Claim] = [identity.claim() for identity in IDENTITIES]

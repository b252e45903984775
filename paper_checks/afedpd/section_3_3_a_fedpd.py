"""Section 3.3: Algorithm 1, and what its virtual update of absent clients' duals does and leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms import AFedPD
from fedtheory.claims import (
    Claim,
    Clause,
    Context,
    Fault,
    Finding,
    Picture,
    PlayedStates,
    Theorem,
    bar,
    disproved,
    draw_bound,
    proved,
)
from fedtheory.claims.statements.worlds import World
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.vectors import Sampling, Vector
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd.moments import EQUAL, follow_moments, gossip_rate
from paper_checks.afedpd.notation import FAMILY, claim
from paper_checks.afedpd.played import CENTRES, CURVATURES, RHO, START, identity, mean, near, play_method, solve
from paper_checks.afedpd.rounds import OF_SUMS, always_zero, mean_dual_step
from paper_checks.afedpd.section_3_2_primal_dual_family import as_fedpd
from paper_checks.formulas import formula
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Algorithm 1 with all clients ------------------------------------------------------------------------------------
CLAIMS += [
    as_fedpd(
        "AFEDPD-S3",
        "Algorithm 1, P = C",
        "With all clients A-FedPD is FedPD (Eq. 5), with exact solves and zero duals at the start.",
        AFedPD,
        {"lam": "mean_lam_i", "mu_i": "lam_i - mean_lam_i"},
    )
]


# ---- Unbiased estimates of absent clients ----------------------------------------------------------------------------
class Drawn:
    """What all C clients would return, P of them drawn, from any theta^t and duals: averages of the active and of the absent clients' models."""

    def __str__(self) -> str:
        return "P of C clients, drawn uniformly, and what each would return"

    def who(self, numbers: Mapping[str, Any]) -> Sampling | None:
        """P of C."""
        return Sampling(numbers["C"], numbers["P"])

    def __call__(self, w: World, p: Any, last: int) -> list[Any]:
        """The averages, and the step of the duals' mean, in each of some rounds."""
        states = []
        for k in range(last + 1):
            would, theta, lam_bar = w.vector(f"theta_i {k}", True), w.vector(f"theta {k}"), w.vector(f"lambdabar {k}")
            if not isinstance(would, Vector):
                raise InvalidInput("draws of every number of clients are not played on plain numbers")
            active = would.averaged(Sampling(p.C, p.P))
            state = SimpleNamespace(
                theta_i=would,
                theta=theta,
                theta_bar=active,
                absent=(bar(would) * p.C - active * p.P) / (p.C - p.P),
                lam_bar=lam_bar,
                lam_bar_next=lam_bar + mean_dual_step(active * p.P, theta, active, p.rho, p.C, p.P),
                z=w.vector(f"z {k}"),
            )
            states.append([(1, state)])
        return states


UNBIASED = Theorem(
    "0 < rho, C in 2.., 1 <= P < C",
    ("active[t] == 0", "absent_[t] == 0", "dual[t] == 0"),
    "a: claim 1 by identity\nb: claim 2 by identity\nc: claim 3 by identity",
    states=PlayedStates(Drawn()),
    rounds={"t": 0},
    quantities={
        "active": "dot(theta_bar - bar(theta_i), z)",
        "absent_": "dot(theta_bar - absent, z)",
        "dual": "dot(lam_bar_next - (lam_bar + rho*(bar(theta_i) - theta)), z)",
    },
)


def each_is_biased(ctx: Context, *, alike: int = 0) -> Iterator[Finding]:
    """Of each absent client thetabar^1 is a biased estimate. ``alike``: how many of the four clients are alike in a fault."""
    centres = (CENTRES[0],) * alike + CENTRES[alike:]
    curvatures = (CURVATURES[0],) * alike + CURVATURES[alike:]
    would = [(a * b + RHO * START) / (a + RHO) for a, b in zip(curvatures, centres, strict=True)]
    expected = mean(would)
    yield disproved(
        "of each client",
        all(compare(expected, "!=", model) for model in would),
        f"from the start the four clients would return {', '.join(map(str, would))}; E thetabar^1 = {expected} is none of them",
        "exact",
    )
    returned = mean([solve(i, Fraction(0), START) for i in range(len(would))])
    seen = [mean([play_method((s,))[1].bar for s in combinations(range(len(would)), P)]) for P in (1, 2, 3)]
    yield proved(
        "the library's method",
        all(compare(average, "==", returned) for average in seen),
        "E thetabar^1 over all subsets of four clients, P in (1, 2, 3)",
        "exact",
        "repaired",
        scope="these instances",
    )


CLAIMS += [
    claim(
        "AFEDPD-S2",
        "Sections 1 and 3.3",
        "For every client that is absent the average thetabar^{t+1} of the active clients' models is an unbiased estimate of its own local solution.",
        [near("of the absent clients' average", UNBIASED, "theta_bar - absent", "theta_bar - 2*absent", "repaired")],
        besides=each_is_biased,
        faults=[Fault("all clients alike", "of each client", {"alike": 4}, holds=True)],
        assumptions=(
            "each round draws P of the C clients uniformly",
            "what a client would return does not depend on who is drawn",
        ),
        repaired="Of the average of the absent clients' local solutions, and so of that of all clients.",
        readings=[
            "The paper writes E[w_i^{t+1} | w^t] = E_P[(1/P) sum_P w_i^{t+1} | w^t] with the i of an absent client. Where i is such a client drawn "
            "at random it is right, and that is all that the average of the duals needs (AFEDPD-S1, -Q3)."
        ],
        kind="identity",
    )
]

# ---- The mean of the duals -------------------------------------------------------------------------------------------
MEAN_DUAL = always_zero(
    "norm2(lam_bar_next - lam_bar - rho*(theta_bar_next - theta))",
    f"norm2(lam_bar_next - lam_bar - ({formula(mean_dual_step, bar='theta_bar_next', **OF_SUMS)}))",
)
CLAIMS += [
    identity(
        "AFEDPD-S1",
        "Section 3.3, Appendix B.3.2",
        "lambdabar^{t+1} = lambdabar^t + rho (thetabar^{t+1} - theta^t).",
        MEAN_DUAL,
        ("rho*(theta_bar_next", "P/C*rho*(theta_bar_next"),
    )
]


# ---- As if all took part ---------------------------------------------------------------------------------------------
def draw_full_participation(rho: float = 0.5, C: int = 100, rounds: int = 20) -> Picture:
    """Moments of A-FedPD with P of the clients against all: E x^2 where clients are equal, and the duals' own parts E s."""
    P = (2, 10, 50)
    full = follow_moments("a-fedpd", rho, C, C, (1, 0, 0, 1), rounds)
    own = [(f"own parts, P = {p}", follow_moments("a-fedpd", rho, C, p, (0, 0, 0, 1), rounds)[:, 3]) for p in P]
    equal = follow_moments("a-fedpd", rho, C, P[0], (1, 0, 0, 0), rounds)[:, 0]
    return draw_bound(
        "As if all took part: the common part is, a client's own part is not",
        range(rounds + 1),
        full[:, 3],
        ylabel="moment, 1 at the start",
        about=f"{FAMILY}; A-FedPD, C = {C}, rho = a/2; moments, no seeds; dashed: own parts of the duals E s with all clients",
        more=[
            (f"model, equal clients, P = {P[0]}: E x^2", equal),
            (f"model, all clients, P = {C}: E x^2", follow_moments("a-fedpd", rho, C, C, (1, 0, 0, 0), rounds)[:, 0]),
            *own,
        ],
    )


def own_parts_are_slower(ctx: Context) -> Iterator[Finding]:
    """A client's own part of the duals does not move as with all clients."""
    rho, others, P = symbols("rho others P", positive=True)
    more, slower = others + P + 1, (rho**2 + 2 * rho) / (1 + rho) ** 2 * (others + 1) / (others + P)
    yield disproved(
        "a client's own part",
        is_zero(gossip_rate(rho, more, P) - gossip_rate(rho, more, more) - slower) and is_positive(slower),
        "E s falls by 1 - (1 - kappa^2)(P-1)/(C-1) a round against kappa^2 with all: for P < C slower, for P = 1 not at all",
        role="reading",
    )


CLAIMS += [
    claim(
        "AFEDPD-Q3",
        "Sections 1 and 3.3",
        (
            Clause(
                "The virtual update moves the average of the duals by rho (thetabar^{t+1} - theta^t),",
                ("the mean of the duals",),
            ),
            Clause("as full participation would, in expectation over who takes part;", ("in expectation",)),
            Clause("with equal clients A-FedPD has its rate.", ("equal clients",)),
        ),
        [
            near("the mean of the duals", MEAN_DUAL, "rho*(theta_bar_next", "P/C*rho*(theta_bar_next"),
            near("in expectation", UNBIASED, "rho*(bar(theta_i)", "P/C*rho*(bar(theta_i)"),
            Step("equal clients", EQUAL),
        ],
        besides=own_parts_are_slower,
        picture=lambda context: draw_full_participation(),
        readings=[
            "The paper says of the whole method that it 'approximates the quasi-full-participation training', and spells out the mean dual. A "
            "client's own part of the duals is approximated the less the fewer take part.",
            "With equal clients the rate is judged on quadratics; whatever the functions are, all return the same, whoever takes part.",
        ],
        kind="rate",
    )
]

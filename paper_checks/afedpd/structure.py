"""A-FedPD's identities as claims: averages extrapolate, what the virtual update of absent clients' duals does, and what it leaves.

Each is a theorem of Algorithm 1's round for every draw, every number C of clients and P of active ones (`virtual_update`). Beside it the same
quantities are taken of rounds of the library's method, which keeps the duals' mean and deviations, in fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from typing import Any

import numpy as np

from fedtheory.algorithms import AFedPD, FedADMM, FedDyn, FedPD
from fedtheory.claims import Claim, Context, Equivalence, Fault, Finding, Role, Theorem, disproved, proved, state
from fedtheory.claims.statements.theorems.played import ConcreteSpace
from fedtheory.claims.statements.theorems.quantities import evaluate_quantity
from fedtheory.claims.statements.worlds import Concrete
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd import virtual_update
from paper_checks.afedpd.theory import DERIVED, PAPER, claim, derived
from paper_checks.steps import Step, claim_steps
from problems.quadratics import scalar_quadratics

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
        return mean(self.lam)


def mean(values: Sequence[Fraction]) -> Fraction:
    """Their average."""
    return sum(values, Fraction(0)) / len(values)


def solve(i: int, lam: Fraction, theta: Fraction) -> Fraction:
    """argmin f_i(x) + lam x + (rho/2)(x - theta)^2."""
    return (CURVATURES[i] * CENTRES[i] - lam + RHO * theta) / (CURVATURES[i] + RHO)


@cache
def play_method(subsets: Subsets, method: Any = AFedPD) -> tuple[Played, ...]:
    """A method of the library with exact solves, in fractions."""
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


# ---- the same quantities of the library's rounds ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Slopes:
    """f_i of the active clients, as a quantity asks for its gradient."""

    active: tuple[int, ...]

    def at(self, x: Concrete) -> tuple[Concrete, Fraction]:
        """Gradients; values are not asked for."""
        rows = ((CURVATURES[i] * (row[0] - CENTRES[i]),) for i, row in zip(self.active, x.clients, strict=True))
        return Concrete(tuple(rows)), Fraction(0)

    def of_each(self, x: Concrete) -> bool:
        """Of every client."""
        return True


def names_of_round(old: Played, new: Played, active: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """What the names of `virtual_update` stand for in a round of the library, once for each absent client j, or once where there is none."""
    absent = [i for i in range(len(old.lam)) if i not in active]

    def common(value: Fraction) -> Concrete:
        return Concrete(((value,),) * len(active))

    def of_active(values: Sequence[Fraction]) -> Concrete:
        return Concrete(tuple((values[i],) for i in active))

    known: dict[str, Any] = {"rho": RHO, "P": Fraction(len(active)), "C": Fraction(len(old.lam)), "y": common(START)}
    known |= {"theta_i_next": of_active(new.models), "f_i": _Slopes(active), "e_i": common(Fraction(0))}
    for end, at in (("", old), ("_next", new)):
        known |= {f"theta{end}": common(at.theta), f"theta_bar{end}": common(at.bar), f"lam_i{end}": of_active(at.lam)}
        known[f"lam_bar{end}"] = common(at.mean_lam)
        known[f"lam_absent{end}"] = common(mean([at.lam[j] for j in absent]) if absent else Fraction(0))
    for j in absent or [active[0]]:
        duals = {f"lam_{name}{end}": common(at.lam[j]) for name in "jk" for end, at in (("", old), ("_next", new))}
        yield known | duals | {"theta_j": common(solve(j, old.lam[j], old.theta))}


def holds_in_play(theorem: Theorem, sizes: Sequence[int], method: Any = AFedPD) -> bool:
    """Whether each quantity that a theorem says to be zero in a round is, in two rounds of every sequence of subsets of so many clients."""
    zero = [str(s).split("[")[0] for s in theorem.sentences if str(s).endswith("] == 0")]
    return all(
        compare(evaluate_quantity(theorem.quantities[name], ConcreteSpace(), known), "==", 0)
        for P in sizes
        for subsets in sequences(P)
        for states in (play_method(subsets, method),)
        for r, active in enumerate(subsets)
        for known in names_of_round(states[r], states[r + 1], active)
        for name in zero
        if len(CURVATURES) > P or "lam_j" not in theorem.quantities[name]  # where a client is absent
    )


def library_part(
    ctx: Context, *, theorem: Theorem, sizes: Sequence[int], own: Any = AFedPD, method: Any = None
) -> Iterator[Finding]:
    """Part: the theorem's quantities are zero in rounds of the library's method; ``method``: another one in a fault."""
    count = sum(len(list(sequences(P))) for P in sizes)
    yield proved(
        "the library's method",
        holds_in_play(theorem, sizes, method or own),
        f"two rounds of all {count} sequences of subsets of {len(CURVATURES)} clients, P in {tuple(sizes)}",
        "exact",
        scope="these instances",
    )


def identity(
    id: str,
    source: str,
    text: str,
    theorem: Theorem,
    wrong: tuple[str, str],
    *,
    paper: str = PAPER,
    sizes: Sequence[int] = (1, 2, 3, 4),
    methods: tuple[Any, Any] = (AFedPD, FedDyn),
    more: Any = None,
    **given: Any,
) -> Claim:
    """A theorem of a round, beside rounds of the library's method.

    ``wrong``: what a quantity has, and what is wrong in its place; ``methods``: the library's, and another one in a fault.
    """

    def besides(ctx: Context, *, method: Any = None) -> Iterator[Finding]:
        yield from library_part(ctx, theorem=theorem, sizes=sizes, own=methods[0], method=method)
        if more is not None:
            yield from more(ctx)

    fault = Fault("another method in its place", "the library's method", {"method": methods[1]})
    return claim_steps(
        id,
        paper,
        source,
        text,
        [near("every C and P", theorem, *wrong)],
        besides=besides,
        faults=[fault],
        kind="identity",
        **given,
    )


def near(name: str, theorem: Theorem, right: str, wrong: str, role: Role = "printed") -> Step:
    """A theorem with a mistake near it: something else in its quantities."""
    return Step(name, theorem, role, wrong={f"{wrong} for {right}": virtual_update.misread(theorem, right, wrong)})


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
    seen = [mean([play_method((s,))[1].bar for s in combinations(range(len(would)), P)]) for P in (1, 2, 3)]
    yield proved(
        "the library's method",
        all(
            compare(average, "==", mean([solve(i, Fraction(0), START) for i in range(len(would))])) for average in seen
        ),
        "E thetabar^1 over all subsets of four clients, P in (1, 2, 3)",
        "exact",
        "repaired",
        scope="these instances",
    )


def is_fedpd_of_all(method: Any, states: Mapping[str, Any], factor: Any) -> Equivalence:
    """With all clients and exact solves a method has the states of FedPD that starts with zero duals, eta = 1/(factor rho)."""
    return Equivalence(
        lambda rho: FedPD(1 / (factor * rho), init_dual="zero"),
        lambda rho: method(rho),
        region="0 < rho",
        states={"x": "x", "x_i": "x_i", "x_bar": "mean_x_i", **states},
        kept={"x0_i": "x"},
    )


#: FedDyn whose server takes its previous dual, Eq. (7) as printed
OLD_DUAL = partial(FedDyn, server_dual="old")
#: Eq. (6) as printed
ACTIVE_ADMM = partial(FedADMM, averages="active")


def as_fedpd(id: str, source: str, text: str, method: Any, states: Mapping[str, Any], **given: Any) -> Claim:
    """A claim that a method is FedPD where all take part."""
    near = {"a penalty a hundredth larger": is_fedpd_of_all(method, states, Fraction(101, 100))}
    return state(id, PAPER, source, text, is_fedpd_of_all(method, states, 1), wrong=near, kind="identity", **given)


CLAIMS: list[Claim] = [
    identity(
        "AFEDPD-S1",
        "Section 3.3, Appendix B.3.2",
        "lambdabar^{t+1} = lambdabar^t + rho (thetabar^{t+1} - theta^t).",
        virtual_update.MEAN_DUAL,
        ("rho*(theta_bar_next", "P/C*rho*(theta_bar_next"),
    ),
    identity(
        "AFEDPD-D1",
        "Algorithm 1",
        "lambdabar^{t+1} = rho (thetabar^{t+1} - thetabar^t) and theta^{t+1} = 2 thetabar^{t+1} - "
        "thetabar^t, thetabar^0 = theta^0.",
        virtual_update.EXTRAPOLATES,
        ("2*theta_bar_next", "3*theta_bar_next"),
        paper=DERIVED,
    ),
    identity(
        "AFEDPD-D2",
        "Algorithm 1",
        "mu_i = lambda_i - lambdabar sum to 0; an active one moves by rho (theta_i^{t+1} - "
        "thetabar^{t+1}), an absent one stays.",
        virtual_update.DEVIATIONS,
        ("rho*(theta_i_next - theta_bar_next)", "rho*(theta_i_next - theta)"),
        readings=[
            "So the virtual update moves the mean of the duals alone; what is a client's own stays as stale as without it."
        ],
        paper=DERIVED,
    ),
    identity(
        "AFEDPD-D3",
        "Algorithm 1",
        "grad L_i(y) = grad f_i(y) + mu_i^t + rho (y - thetabar^t) for every y: exact solves do not see theta^t.",
        virtual_update.LOCAL_PROBLEM,
        ("(y - theta_bar)", "(y - theta)"),
        methods=(AFedPD, OLD_DUAL),
        paper=DERIVED,
    ),
    derived(
        "AFEDPD-D4",
        "Algorithm 1, P = 1",
        "With one client a round mu_i = 0 for ever: a proximal-point method with a random client, from thetabar^t.",
        [near("every C", virtual_update.ONE_CLIENT, "lam_k - lam_bar", "lam_k - 2*lam_bar")],
        besides=partial(library_part, theorem=virtual_update.ONE_CLIENT, sizes=(1,)),
        faults=[Fault("another method in its place", "the library's method", {"method": FedDyn})],
        kind="identity",
    ),
    identity(
        "AFEDPD-D5",
        "Algorithm 1, Limitations",
        "All absent duals move as the mean of all does, by rho (thetabar^{t+1} - theta^t): one increment for C - P updates.",
        virtual_update.ABSENT_ALIKE,
        ("(lam_bar_next - lam_bar)", "P/C*(lam_bar_next - lam_bar)"),
        sizes=(1, 2, 3),
        paper=DERIVED,
    ),
    claim(
        "AFEDPD-Q10",
        "Limitations",
        "Algorithm 1 as printed makes the server keep and move all C duals; one sum of common increments on the server would do, "
        "and a client's own part, "
        "which moves where it is active only.",
        [near("every C and P", virtual_update.ONE_SUM, "(theta_i_next - theta_bar_next)", "(theta_i_next - theta)")],
        readings=["What the limitation asks for is avoidable; so it is a choice, and no error."],
        kind="identity",
    ),
    as_fedpd(
        "AFEDPD-S3",
        "Algorithm 1, P = C",
        "With all clients A-FedPD is FedPD (Eq. 5), with exact solves and zero duals at the start.",
        AFedPD,
        {"lam": "mean_lam_i", "mu_i": "lam_i - mean_lam_i"},
    ),
    as_fedpd(
        "AFEDPD-S4",
        "Section 3.2",
        "FedADMM (Eq. 6) without a regulariser is FedPD with some of the clients.",
        ACTIVE_ADMM,
        {"lam_i": "lam_i"},
        assumptions=(
            "of the active clients a round of Eq. (6) is a round of all of them on their own problem, from the model and duals that "
            "they have, and such a "
            "round is FedPD's, of any number of clients; the others keep what they have",
        ),
    ),
    identity(
        "AFEDPD-S5",
        "Eq. (5)",
        "theta^{t+1} = mean (theta_i^{t+1} + lambda_i^{t+1}/rho) minimises the augmented Lagrangian over theta.",
        virtual_update.SERVER,
        ("lam_i_next/rho", "lam_i/rho"),
        sizes=(4,),
        methods=(AFedPD, OLD_DUAL),
        readings=["The paragraph on dual drift writes lambda_i^t there."],
    ),
    identity(
        "AFEDPD-S6",
        "Section 1",
        "As consensus is reached the error of a virtual dual step, of what the absent client's own step would be, is diminished: it is rho "
        "(thetabar^{t+1} - theta_j), theta_j the model that the client would return, and tends to 0 where that does.",
        virtual_update.ERRORS,
        ("rho*(theta_bar_next - theta_j)", "2*rho*(theta_bar_next - theta_j)"),
        sizes=(1, 2, 3),
        more=errors_may_stay,
        readings=[
            "Consensus is that of the models that all clients would return. The paper does not say that it is reached, and here nothing of it is "
            "claimed: with one client a round it need not be."
        ],
    ),
    identity(
        "AFEDPD-S7",
        "Section 3.2",
        "FedDyn's mean dual moves by P/C of what A-FedPD's does, (P/C) rho (thetabar^{t+1} - theta^t).",
        virtual_update.FEDDYN,
        ("P/C*rho", "rho"),
        sizes=(1, 2, 3),
        methods=(FedDyn, AFedPD),
    ),
    identity(
        "AFEDPD-D16",
        "Algorithm 1",
        "lambda_i^{t+1} = e_i - grad f_i(theta_i^{t+1}) for clients active in round t, and only the "
        "common increments come on top until the next time.",
        virtual_update.STALE,
        ("e_i - grad", "2*e_i - grad"),
        sizes=(1, 2, 3),
        paper=DERIVED,
    ),
    claim(
        "AFEDPD-S2",
        "Sections 1 and 3.3",
        "For every client that is absent the average thetabar^{t+1} of the active clients' models is an unbiased estimate of its own local solution.",
        [
            near(
                "of the absent clients' average",
                virtual_update.UNBIASED,
                "theta_bar - absent",
                "theta_bar - 2*absent",
                "repaired",
            )
        ],
        besides=each_is_biased,
        faults=[Fault("all clients alike", "of each client", {"alike": 4}, holds=True)],
        assumptions=(
            "each round draws P of the C clients uniformly",
            "what a client would return does not depend on who is drawn",
        ),
        repaired="Of the average of the absent clients' local solutions, and so of that of all clients.",
        readings=[
            "The paper writes E[w_i^{t+1} | w^t] = E_P[(1/P) sum_P w_i^{t+1} | w^t] with the i of an absent client. Where i is such "
            "a client drawn at "
            "random it is right, and that is all that the average of the duals needs (AFEDPD-S1, -Q3)."
        ],
        kind="identity",
    ),
]

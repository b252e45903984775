"""Ours: what Algorithm 1's round does to averages and duals, for every draw, and the duality gap as a certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from fedtheory.algorithms import AFedPD, FedDyn
from fedtheory.algorithms.afedpd import AFedPDState
from fedtheory.claims import Claim, Context, Fault, Finding, PlayedStates, Theorem, bar, decided, dot
from fedtheory.claims.statements.worlds import GivenAnswers, Parameters, Unasked, World
from fedtheory.proofs.every_n.cells import cell
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.facts import compare
from fedtheory.proofs.potentials.invariants import vectors_of
from paper_checks.afedpd.notation import DERIVED, derived
from paper_checks.afedpd.played import (
    CENTRES,
    CURVATURES,
    OLD_DUAL,
    Played,
    identity,
    library_part,
    near,
    play_method,
    sequences,
)
from paper_checks.afedpd.rounds import REGION, always_zero, broadcast, dual_after, mean_dual_step, play_rounds
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- D1: averages extrapolate ----------------------------------------------------------------------------------------
EXTRAPOLATES = always_zero(
    "norm2(lam_bar_next - rho*(theta_bar_next - theta_bar))", "norm2(theta_next - (2*theta_bar_next - theta_bar))"
)
CLAIMS += [
    identity(
        "AFEDPD-D1",
        "Algorithm 1",
        "lambdabar^{t+1} = rho (thetabar^{t+1} - thetabar^t) and theta^{t+1} = 2 thetabar^{t+1} - thetabar^t, thetabar^0 = theta^0.",
        EXTRAPOLATES,
        ("2*theta_bar_next", "3*theta_bar_next"),
        paper=DERIVED,
    )
]

# ---- D2: what is a client's own --------------------------------------------------------------------------------------
DEVIATIONS = always_zero(
    "norm2(P*bar(lam_i - lam_bar) + (C - P)*(lam_absent - lam_bar))",
    "mean(norm2(lam_i_next - lam_bar_next - (lam_i - lam_bar) - rho*(theta_i_next - theta_bar_next)))",
    "norm2(lam_j_next - lam_bar_next - (lam_j - lam_bar))",
)
CLAIMS += [
    identity(
        "AFEDPD-D2",
        "Algorithm 1",
        "mu_i = lambda_i - lambdabar sum to 0; an active one moves by rho (theta_i^{t+1} - thetabar^{t+1}), an absent one stays.",
        DEVIATIONS,
        ("rho*(theta_i_next - theta_bar_next)", "rho*(theta_i_next - theta)"),
        readings=[
            "So the virtual update moves the mean of the duals alone; what is a client's own stays as stale as without it."
        ],
        paper=DERIVED,
    )
]

# ---- D3: the local problem -------------------------------------------------------------------------------------------
LOCAL_PROBLEM = always_zero("mean(norm2(lam_i + rho*(y - theta) - (lam_i - lam_bar + rho*(y - theta_bar))))")
CLAIMS += [
    identity(
        "AFEDPD-D3",
        "Algorithm 1",
        "grad L_i(y) = grad f_i(y) + mu_i^t + rho (y - thetabar^t) for every y: exact solves do not see theta^t.",
        LOCAL_PROBLEM,
        ("(y - theta_bar)", "(y - theta)"),
        methods=(AFedPD, OLD_DUAL),
        paper=DERIVED,
    )
]


# ---- D4: one client a round ------------------------------------------------------------------------------------------
def play_one(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """Rounds of one of C clients, from any state or from the start: thetabar^{t+1} is its model, by which every client's dual lam_k moves."""
    zero = w.vector("thetabar") * 0
    bar_, mean, own = (
        w.vector("any thetabar"),
        *((zero, zero) if start else (w.vector("lambdabar"), w.vector("lambda_k"))),
    )
    states = []
    for k in range(last + 1):
        theta, y = broadcast(bar_, mean, p.rho), w.vector(f"y {k}")
        states.append(SimpleNamespace(theta_bar=bar_, theta=theta, lam_bar=mean, lam_k=own, y=y))
        bar_ = w.vector(f"model {k}")
        mean = mean + mean_dual_step(bar_, theta, bar_, p.rho, p.C, 1)
        own = dual_after(own, p.rho, bar_, theta)
    return states


ONE_CLIENT = Theorem(
    "0 < rho, 1 <= C",
    ("own[T] == 0", "slope[T] == 0"),
    """
      same: own[t+1] == own[t]          by identity
      zero: own[0] == 0                 by identity
      all:  claim 1                     by induction T: base combine zero; step combine ih, same(t=T)
      prox: slope[t] == own[t]          by identity
      done: claim 2                     by combine prox(t=T), all
    """,
    states=PlayedStates(play_one, start=partial(play_one, start=True)),
    rounds={"t": 0, "T": 0},
    quantities={"own": "norm2(lam_k - lam_bar)", "slope": "norm2(lam_k + rho*(y - theta) - rho*(y - theta_bar))"},
)
CLAIMS += [
    derived(
        "AFEDPD-D4",
        "Algorithm 1, P = 1",
        "With one client a round mu_i = 0 for ever: a proximal-point method with a random client, from thetabar^t.",
        [near("every C", ONE_CLIENT, "lam_k - lam_bar", "lam_k - 2*lam_bar")],
        besides=partial(library_part, theorem=ONE_CLIENT, sizes=(1,)),
        faults=[Fault("another method in its place", "the library's method", {"method": FedDyn})],
        kind="identity",
    )
]

# ---- D5: one increment -----------------------------------------------------------------------------------------------
ABSENT_ALIKE = always_zero(
    "norm2(lam_j_next - lam_j - (lam_bar_next - lam_bar))", "norm2(lam_j_next - lam_j - rho*(theta_bar_next - theta))"
)
CLAIMS += [
    identity(
        "AFEDPD-D5",
        "Algorithm 1, Limitations",
        "All absent duals move as the mean of all does, by rho (thetabar^{t+1} - theta^t): one increment for C - P updates.",
        ABSENT_ALIKE,
        ("(lam_bar_next - lam_bar)", "P/C*(lam_bar_next - lam_bar)"),
        sizes=(1, 2, 3),
        paper=DERIVED,
    )
]


# ---- D15: the duality gap --------------------------------------------------------------------------------------------
class OwnRounds:
    """Any state of A-FedPD by its own round, P of C clients drawn and whatever they return, with convex f_i, a minimiser of f and the infima."""

    def __str__(self) -> str:
        return "A-FedPD, P of C clients a round, drawn uniformly, whatever they return"

    def who(self, numbers: Mapping[str, Any]) -> Sampling:
        """P of C."""
        return Sampling(numbers["C"], numbers["P"])

    def __call__(self, w: World, p: Any, last: int) -> list[Any]:
        """The sum of all mu_i is zero in every state."""
        mu, star = w.vector("mu_i", True), w.vector("x_star")
        fields = {name: w.vector(name) for name in ("x", "x_bar", "lam")}
        return self._play(w, p, star, {**fields, "x_i": w.vector("x_i", True), "mu_i": mu - bar(mu)}, last)

    def begin(self, w: World, p: Any) -> Any:
        """The method's own first state."""
        first = AFedPD(p.rho).init(cast(Any, Unasked(p.C)), cell(w.vector("x_0")))
        return self._play(w, p, w.vector("x_star"), vectors_of(first), 0)[0]

    def _play(self, w: World, p: Any, star: Any, fields: dict[str, Any], last: int) -> list[Any]:
        who = Sampling(p.C, p.P)
        slope, f = w.vector("slope", True), w.function(None, 0, client=True, name="f_i")
        _, least = w.at(f, star + slope * 0, "f_i at x_star", g=slope - bar(slope))
        played = []
        for k in range(last + 1):
            dual = w.value(f"dual {k}")
            w.assume(f"infima {k}", dual - least - dot(bar(fields["mu_i"]), star))
            played.append([(1, SimpleNamespace(**fields, dual=dual, x_star=star, f_i=f))])
            own = AFedPDState(**{name: cell(v, 1 if v.common else p.C) for name, v in fields.items()})
            method = AFedPD(p.rho, GivenAnswers(cell(w.vector(f"theta_i {k + 1}", True), p.P)))
            given: Any = (Unasked(p.C), own, who, None)
            if k < last:
                fields = vectors_of(method.round(*given))
        return played


CERTIFICATE = Theorem(
    "0 < rho, C in 2.., 1 <= P <= C",
    ("above[t] <= gap[t]", "0 <= above[t]"),
    "dual: claim 1 by derivation\nmin: claim 2 by derivation",
    states=PlayedStates(OwnRounds(), begins=OwnRounds().begin),
    rounds={"t": 0},
    quantities={"gap": "mean(f_i(x_bar)) - dual", "above": "mean(f_i(x_bar) - f_i(x_star))"},
    assumed={"infima": "dual is mean_i inf_y [f_i(y) + <mu_i, y>], at most its value at x_star"},
)


def average_loss(x: Fraction) -> Fraction:
    """f of the four quadratics."""
    return sum((a / 2 * (x - b) ** 2 for a, b in zip(CURVATURES, CENTRES, strict=True)), Fraction(0)) / len(CENTRES)


def gap_at(state: Played) -> Fraction:
    """f(thetabar) - mean_i inf_x [f_i(x) + mu_i x], of the four quadratics."""
    lower = Fraction(0)
    for a, b, dual in zip(CURVATURES, CENTRES, state.lam, strict=True):
        mu = dual - state.mean_lam
        lower += (mu * b - mu * mu / (2 * a)) / len(CENTRES)
    return average_loss(state.bar) - lower


def one_client(context: Context, *, floor: int = 1) -> Iterator[Finding]:
    """With one client a round the gap does not close."""
    weighted = [a * b for a, b in zip(CURVATURES, CENTRES, strict=True)]
    least = average_loss(sum(weighted, Fraction(0)) / sum(CURVATURES, Fraction(0)))
    yield decided(
        "P = 1",
        all(compare(gap_at(state), ">=", floor * least) for subsets in sequences(1) for state in play_method(subsets)),
        f"mu_i stays 0 (AFEDPD-D4): the gap is f(thetabar) - mean min f_i, at least f* = {least} here in every round",
        role="reading",
    )


CLAIMS += [
    derived(
        "AFEDPD-D15",
        "Algorithm 1",
        "gap_t = f(thetabar^t) - mean_i inf_x [f_i(x) + <mu_i^t, x>] >= f(thetabar^t) - f* >= 0, mu_i = lambda_i - lambdabar: a certificate for "
        "free.",
        [Step("weak duality", CERTIFICATE)],
        besides=one_client,
        faults=[Fault("twice f*", "P = 1", {"floor": 2})],
        readings=[
            "It can close for convex f_i only, and is finite for strongly convex ones; FedDyn's duals serve, too."
        ],
        kind="identity",
    )
]


# ---- D16: duals of active clients ------------------------------------------------------------------------------------
def play_solves(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds in which active clients solve: grad f_i(theta_i^{t+1}) + lambda_i^t + rho (theta_i^{t+1} - theta^t) = e_i."""
    f = w.function(p.L, -p.L, client=True, name="f_i")
    states = play_rounds(w, p, last)
    for k, old in enumerate(states):
        g, old.e_i = w.vector(f"grad {k}", True), w.vector(f"e_i {k}", True)
        old.theta_i_next = old.theta - (g + old.lam_i - old.e_i) / p.rho
        w.at(f, old.theta_i_next, f"f_i {k}", g=g)
        old.lam_i_next, old.f_i = dual_after(old.lam_i, p.rho, old.theta_i_next, old.theta), f
    return states


STALE = always_zero(
    "mean(norm2(lam_i_next - (e_i - grad(f_i, theta_i_next))))",
    "norm2(lam_j_next - lam_j - rho*(theta_bar_next - theta))",
    states=PlayedStates(play_solves),
    region=f"0 < L, {REGION}",
)
CLAIMS += [
    identity(
        "AFEDPD-D16",
        "Algorithm 1",
        "lambda_i^{t+1} = e_i - grad f_i(theta_i^{t+1}) for clients active in round t, and only the "
        "common increments come on top until the next time.",
        STALE,
        ("e_i - grad", "2*e_i - grad"),
        sizes=(1, 2, 3),
        paper=DERIVED,
    )
]

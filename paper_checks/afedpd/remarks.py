"""A-FedPD's remarks on optimisation: the range of rho, rounds and local steps (Remarks 1.1 and 1.2), and the duality gap as a certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

from fedtheory.algorithms import AFedPD
from fedtheory.algorithms.afedpd import AFedPDState
from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Lemma,
    PlayedStates,
    Reading,
    Theorem,
    bar,
    decided,
    disproved,
    dot,
    norm2,
    proved,
)
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.claims.statements.worlds import GivenAnswers, Parameters, Unasked, World
from fedtheory.proofs.every_n.cells import cell
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.facts import compare
from fedtheory.proofs.potentials.invariants import vectors_of
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.afedpd import lemmas
from paper_checks.afedpd.partial_rounds import tends_to_floor
from paper_checks.afedpd.stability import bernoulli_step, stated
from paper_checks.afedpd.structure import CENTRES, CURVATURES, Played, play_method, sequences
from paper_checks.afedpd.theory import ALL, claim, derived
from paper_checks.afedpd.theory_pictures import draw_noisy_steps, draw_one_of_two
from paper_checks.formulas import formula
from paper_checks.steps import Step

# ---- the range of rho -----------------------------------------------------------------------------------------------


def twice_q(L: Any, rho: Any) -> Any:
    """2 q of the proof of Theorem 1."""
    return L * (rho**2 + rho * L) / (rho**2 - 36 * L**2)


def limit_of_twice_q(L: Any, rho: Any) -> Any:
    """What 2 q has to be below, so that `gradient_weight` is positive."""
    return rho / (4 * L**2)


def weight_after(q: Any, L: Any, rho: Any) -> Any:
    """What stands before R_t in the sum of the proof's two inequalities."""
    return q * (1 - 4 * L**2 / rho**2) - (L / 2) * (1 + L / rho)


def weight_before(q: Any, L: Any, rho: Any) -> Any:
    """What stands before R_{t-1} there."""
    return q * 32 * L**2 / rho**2


def gradient_weight(q: Any, L: Any, rho: Any) -> Any:
    """What stands before -||grad f(thetabar^t)||^2 there."""
    return 1 / (2 * rho) - 4 * q * L**2 / rho**2


def range_of_rho(L: Any, rho: Any, four: Any = 4) -> Any:
    """What has to be positive."""
    return rho**2 - four * L**3 * rho - 36 * L**2 - 4 * L**4


_GIVEN = {"L": "L", "rho": "rho"}
TWICE_Q, LIMIT, RANGE = (formula(of, **_GIVEN) for of in (twice_q, limit_of_twice_q, range_of_rho))
_HALF = {"q": f"({TWICE_Q})/2", **_GIVEN}


def range_follows(given: str, said: str, factor: str) -> Theorem:
    """One inequality from the other, for rho > 6 L, so that q > 0."""
    return Theorem(
        "0 < L, 6*L < rho",
        said,
        f"done: claim by combine ({factor})*condition",
        given={"condition": given},
    )


BELOW, ABOVE = f"{TWICE_Q} < {LIMIT}", f"0 < {RANGE}"
OF_Q = Theorem(
    "0 < L, 6*L < rho, 0 < q",
    (
        f"{formula(weight_after, **_HALF)} == {formula(weight_before, **_HALF)}",
        f"{formula(gradient_weight, q='q', **_GIVEN)} == ({LIMIT} - 2*q)*2*L**2/rho**2",
    ),
    "same: claim 1 by combine\nsign: claim 2 by combine",
)


def other_ranges(ctx: Context) -> Iterator[Finding]:
    """What Lemma 2 corrected makes of the range, and rho = c L^3 for a small L."""
    c, L, rho = symbols("c L rho", positive=True)
    yield proved(
        "with 4/rho^2 in Lemma 2",
        is_zero((rho / 4 - twice_q(L, rho)) * (rho**2 - 36 * L**2) * 4 / rho - (rho**2 - 4 * L * rho - 40 * L**2)),
        "then 2 q < rho/4, that is rho^2 - 4 L rho - 40 L^2 > 0: rho > (2 + 2 sqrt(11)) L, of the dimension of rho",
        role="reading",
    )
    yield disproved(
        "rho > c L^3 is enough",
        is_zero(range_of_rho(L, c * L**3) - L**2 * (L**4 * c * (c - 4) - 36 - 4 * L**2))
        and compare(Fraction(1, 10) ** 4 * 100 * 96, "<", 36),
        "at rho = c L^3 the condition is L^4 c (c - 4) > 36 + 4 L^2, which fails for every c where L is small (c = 100: L = 1/10)",
        role="reading",
    )


# ---- Remark 1.1 -----------------------------------------------------------------------------------------------------


def check_t1a(ctx: Context, *, potential: Lemma = lemmas.POTENTIAL, factor: int = 2) -> Iterator[Finding]:
    """One client a round: a floor. All clients: the sum of the potential's falls."""
    yield disproved(
        "any P",
        tends_to_floor(factor),
        "P = 1, f_1, f_2 = (x -+ 1)^2/2, exact solves: thetabar+ = (rho thetabar +- 1)/(1 + rho) by AFEDPD-D4, so that E (thetabar^t)^2 = E ||grad "
        "f(thetabar^t)||^2 tends to 1/(1 + 2 rho), by (rho/(1 + rho))^2 a round; below that no number of rounds leads",
    )
    yield proved(
        "all clients",
        is_derived(potential),
        "AFEDPD-T1R summed: (1/T) sum_t ||grad f(thetabar^t)||^2 <= (4 rho (f(thetabar^1) - f*) + L^2 R_0)/T",
        role="reading",
    )
    yield Reading(
        "The epsilon of the solves is that of clients that train, which Remark 1.2 ties to K; an absent client's residual at thetabar^{t+1}, "
        "which no K makes small, is not counted. With all clients, exact solves and rho >= 7.583 L it does; that is less than the remark says, "
        "and no repair. 2 <= P < C is not judged."
    )
    yield draw_one_of_two(ctx)


# ---- Remark 1.2 -----------------------------------------------------------------------------------------------------


def play_noisy_steps(w: World, p: Parameters, last: int) -> list[Any]:
    """x_{k+1} = x_k - eta_k (g_k + xi_k) on a local problem L_i, whose solution is the origin; averages are expectations over all samples."""
    f, x, states = w.function(p.rho + p.L, p.rho - p.L, name="L_i", client=True), w.vector("x", True), []
    w.at(f, x * 0, "at x_star", g=x * 0)
    for k in range(last + 1):
        xi = w.vector(f"xi {k}", True)
        g, _ = w.at(f, x, f"at x{k}")
        w.assume(f"noise {k}", norm2(xi) - p.s2)
        w.assume(f"unbiased {k}", -dot(x - g * getattr(p, f"eta_{k}"), xi))
        states.append(SimpleNamespace(x=x, g=g, xi=xi))
        x = x - (g + xi) * getattr(p, f"eta_{k}")
    return states


#: E ||grad L_i||^2 after K steps that decay as 1/k
DECAYING = Theorem(
    "0 < L < rho, 0 < s2, 2*(rho + L)/(rho - L) <= k0",
    ("(K + k0)*D[K] <= k0*D[0] + b", "G[K] <= (rho + L)**2*(k0*D[0] + b)/(K + k0)"),
    """
      pos:  0 <= D[k]                                                             by derivation
      step: D[k+1] <= (1 - eta[k]*(rho - L))*D[k] + eta[k]**2*s2                  by derivation
      one:  D[k+1] <= (1 - 2/(k + k0))*D[k] + b/(k + k0)**2
              by combine 1*step, (-(rho - L)*D[k])*sizes, ((2/((rho - L)*(k + k0)) + eta[k])*s2)*sizes
      all:  claim 1
              by induction K: base combine; step combine ((K + 1 + k0)*(1 - 2/(K + k0))/(K + k0))*ih, (K + 1 + k0)*one(k=K),
                (k0*(K + k0 + 2)/(K + k0)**2)*pos(k=0)
      grad: G[k] <= (rho + L)**2*D[k]                                             by derivation
      done: claim 2   by combine 1*grad(k=K), ((rho + L)**2/(K + k0))*all
    """,
    states=PlayedStates(play_noisy_steps),
    rounds={"k": 0, "K": 0},
    sequences={"eta": "0..1/(rho + L)"},
    where={"b": "4*s2/(rho - L)**2"},
    quantities={"D": "mean(norm2(x))", "G": "mean(norm2(g))"},
    given={"sizes": "eta[k] == 2/((rho - L)*(k + k0))"},
    assumed={
        "noise": "E ||xi_k||^2 <= sigma^2 = s2",
        "unbiased": "0 <= E <x_k - eta_k g_k, xi_k>, which is 0 where xi_k is unbiased",
    },
)


def one_step_size(ctx: Context, *, shift: int = 1) -> Iterator[Finding]:
    """One step size a round, as Algorithm 1 has it."""
    m, eta, q, sigma = symbols("m eta q sigma", positive=True)
    kept = 1 - eta * m  # of the error a step, on the slope m x; q = kept^(2K)
    yield disproved(
        "one step size a round",
        is_zero(eta**2 * sigma**2 * (1 - q) / (1 - kept**2) - eta * sigma**2 * (1 - q) / (m * (2 - eta * m)))
        and bernoulli_step(shift),
        "slope m x with noise +-sigma, from x_0: E |m x_K|^2 = m^2 q x_0^2 + m eta sigma^2 (1 - q)/(2 - eta m), q = (1 - eta m)^{2K}. To be at most "
        "epsilon <= (m x_0)^2/2 it needs q <= 1/2, so that eta m <= 4 epsilon/sigma^2, and q >= (1 - 4 epsilon/sigma^2)^{2K}, for K = c/epsilon at "
        "least 2^{-16 c/sigma^2} by Bernoulli's inequality, whatever epsilon is; but q <= epsilon/(m x_0)^2: no c serves, whatever the step size is",
    )
    yield draw_noisy_steps(ctx)


# ---- the duality gap ------------------------------------------------------------------------------------------------


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


CLAIMS: list[Claim] = [
    claim(
        "AFEDPD-Q-RANGE",
        "Appendix B.2.2, the choice of q",
        "2 q = L (rho^2 + rho L)/(rho^2 - 36 L^2) < rho/(4 L^2) is rho^2 - 4 L^3 rho - 36 L^2 - 4 L^4 > 0.",
        [
            Step("q", OF_Q),
            Step("the range from q", range_follows(BELOW, ABOVE, "4*L**2*(rho**2 - 36*L**2)/rho")),
            Step("q from the range", range_follows(ABOVE, BELOW, "rho/(4*L**2*(rho**2 - 36*L**2))")),
        ],
        assumptions=["rho > 6 L", "Lemma 2 as printed"],
        besides=other_ranges,
        readings=[
            "q makes the weights of R_t and R_{t-1} equal, and the gradient's is positive below rho/(8 L^2).",
            "The algebra is judged, given Lemma 2 as printed, which is corrected in AFEDPD-L2. 'rho > O(L^3) satisfies all' is right for L >= 1.",
        ],
    ),
    stated(
        "AFEDPD-T1a",
        "Remark 1.1",
        "(1/T) sum_t E ||grad f(thetabar^t)||^2 <= epsilon takes O(1/epsilon) rounds.",
        check_t1a,
        Fault("1/(1 + 3 rho)", "any P", {"factor": 3}, holds=True),
        Fault("332/100 of the fall", "all clients", {"potential": lemmas.POTENTIAL.with_constants(c="332/100")}),
        kind="rate",
    ),
    claim(
        "AFEDPD-T1b",
        "Remark 1.2",
        "K = O(1/epsilon) steps of Algorithm 1's local training give E ||grad L_i(theta_i^{t+1})||^2 <= epsilon, with O(1/epsilon^2) samples in all.",
        [Step("K = O(1/epsilon)", DECAYING, "repaired")],
        besides=one_step_size,
        faults=[Fault("k + 2 for k + 1", "one step size a round", {"shift": 2}, holds=True)],
        assumptions=[
            "stochastic gradients are unbiased, their variance at most sigma^2",
            f"O(1/epsilon) rounds, as AFEDPD-T1a has for {ALL}",
        ],
        repaired="With local steps that decay in the round as 1/k, rho > L, and local solutions at a bounded distance from theta^t.",
        readings=[
            "Algorithm 1 has one step size eta^t a round, with which K = c/epsilon is not enough for any c; on this slope a logarithm of "
            "1/epsilon comes on top. The remark gives 'a general selection' for 'different local optimizers': one "
            "whose steps decay in the round has it.",
            "The paper asks for ||grad L_i||^2 <= epsilon itself; here it is meant in expectation. The discussion that the remark promises in "
            "Appendix B.2.2 is not there. Without noise log(1/epsilon) steps are enough.",
        ],
        kind="rate",
    ),
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
    ),
]

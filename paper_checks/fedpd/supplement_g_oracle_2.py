"""Supplement G: Lemmas 9, 10 and 11 on Oracle II; the latter two are theorems of one client that draws samples, however many, draws and steps.

The client's f_i is the mean of m functions h_k of samples, each L-smooth. Every inner step of Oracle II adds to its estimate of grad f_i the mean of
B differences grad h_k(y) - grad h_k(x), k drawn uniformly and with replacement. Time t counts draws: draw t is of a step from x^t to y^t, and B draws
after one another are of the same step, so that B times 1/B of its square is in the sum over draws. The points may depend on all draws before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from types import SimpleNamespace as State
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedPD
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims import Claim, Context, Fault, Finding, Inequality, PlayedStates, Theorem, at_most, bar, holds
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.arrays import inner, squared_norm
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import constant
from fedtheory.proofs.every_n.vectors import Sampling, Vector
from paper_checks.fedpd.appendix_b_1_a_lemma_1 import levels
from paper_checks.fedpd.notation import A1, SMOOTH_SAMPLES, claim
from paper_checks.fedpd.section_3_fedpd import inner_step
from paper_checks.fedpd.section_4_1_b_theorem_2 import STEP_VR, step_limit
from paper_checks.formulas import formula
from paper_checks.steps import Runs, Step
from problems.finite_sum import SampledQuadratic, random_finite_sum

CLAIMS: list[Claim] = []


# ---- Lemma 9 ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Pair:
    """A method's state, and the one before it."""

    past: FedPDState
    now: FedPDState


class OneStep:
    """FedPD-VR with Q = 1 and exact gradients (I = 1), which remembers the state before."""

    def __init__(self, eta: Any, gamma: Any) -> None:
        self.method = FedPD(eta, FedPD.oracle_two(eta, gamma, 1, None, 1), init_dual="zero")

    def init(self, problem: Any, x0: Any) -> Pair:
        """Nothing is before the start but itself."""
        start = self.method.init(problem, x0)
        return Pair(start, start)

    def round(self, problem: Any, state: Pair, clients: Any, key: Any) -> Pair:
        """One round of FedPD-VR."""
        return Pair(state.now, self.method.round(problem, state.now, clients, key))


def of_first_client(problem: Any, before: Pair, after: Pair, given: Mapping[str, Any]) -> State:
    """What Lemma 9 speaks of, for the first client: m = x_{0,i}^{r+1} - x_{0,i}^r and d_1 = x_i^{r+1} - x_i^r."""
    eta, old, new = given["eta"], before.now, after.now
    ends = [levels(problem, s.x_i, s.x0_i, s.lam_i, eta)[..., 0] for s in (old, new)]
    m = new.x0_i - old.x0_i
    return State(
        change=ends[1] - ends[0],
        m2=squared_norm(m)[..., 0],
        product=inner(new.lam_i, m)[..., 0] + inner(new.x_i - new.x0_i, m)[..., 0] / eta,
        last2=squared_norm(new.x_i - old.x_i)[..., 0],
        past2=squared_norm(old.x_i - before.past.x_i)[..., 0],
    )


def of_one_step(sign: str) -> Inequality:
    """Lemma 9 with this sign of its inner product, for Q = 1 and exact gradients, where errors and steps before the last vanish."""
    return Inequality(
        lambda eta, gamma: OneStep(eta, gamma),  # type: ignore[arg-type,return-value]
        quantities=of_first_client,
        claimed=f"change <= {sign}product - m2/(2*eta) - (1/(2*eta) + 1/gamma - L - 3*eta/gamma**2)*last2 "
        "+ (9*L**2*eta + 3*eta/gamma**2)*past2",
        region="1 <= L <= 4, 1/(60*L) <= eta <= 1/(7*L), 6*eta <= gamma <= 100*eta",
        curvatures="-L, L",
        bounded_below=True,
        first_round=1,
        name=f"Lemma 9 with {sign}, Q = 1, exact gradients",
    )


def play_inner_steps(w: World, p: Parameters, last: int, state: State | None = None) -> list[State]:
    """Steps of Oracle II from any point of a round, along any estimates, with the dual step that would follow, and a move m of the copy.

    Of the round before there are its last step ``past``, the point before it and the error of its estimate, which make lam_i.
    """
    f = w.function(p.L, -p.L, name="f_i") if state is None else state.f_i
    states = [state or State(x=w.vector("x"), **anchors(w, p, f))]
    for k in range(last + 1):
        old, e = states[-1], w.vector(f"e {k}")
        slope, _ = w.at(f, old.x, f"f_i {k}")
        x = inner_step(old.x, old.x0, slope + e, old.lam, p.eta, p.gamma)
        w.at(f, x, f"f_i after {k}")
        old.e, old.d, old.x_next, old.lam_next = e, x - old.x, x, old.lam + (x - old.x0) / p.eta
        states.append(State(**{**vars(old), "x": x}))
    return states[: last + 1]


def anchors(w: World, p: Parameters, f: Any) -> dict[str, Any]:
    """What a round keeps: f_i, its copy and dual, how far the copy moves after it, and the last step of the round before."""
    before, past, past_e = w.vector("before"), w.vector("past"), w.vector("past_e")
    slope, _ = w.at(f, before, "f_i before")
    lam = (slope + past_e + past / p.gamma) * -1
    return {
        "f_i": f,
        "before": before,
        "past": past,
        "past_e": past_e,
        "lam": lam,
        "x0": w.vector("x0"),
        "m": w.vector("m"),
    }


def start_inner_steps(w: World, p: Parameters, last: int) -> list[State]:
    """The first point is where the round before ended."""
    kept = anchors(w, p, w.function(p.L, -p.L, name="f_i"))
    return play_inner_steps(w, p, last, State(x=kept["before"] + kept["past"], **kept))


@cache
def lemma_nine(sign: str = "-", noise: str = "1", nine: str = "9") -> Theorem:
    """Lemma 9 with this sign of its inner product, for every Q = q + 1, whatever the estimates are; ``noise`` scales an error's term."""
    share = f"{nine}*(q + 1)**2*L**2*eta"
    return Theorem(
        name="Lemma 9",
        region="0 < L, 0 < eta, 0 < gamma",
        states=PlayedStates(play_inner_steps, start_inner_steps),
        rounds={"q": 0, "k": 0},
        quantities={
            "level": "f_i(x) + dot(lam, x - x0) + norm2(x - x0)/(2*eta)",
            "after": "f_i(x_next) + dot(lam_next, x_next - x0 - m) + norm2(x_next - x0 - m)/(2*eta)",
            "product": "dot(lam_next + (x_next - x0 - m)/eta, m)",
            "m2": "norm2(m)",
            "d2": "norm2(d)",
            "e2": "norm2(e)",
            "past2": "norm2(past)",
            "past_e2": "norm2(past_e)",
            "reach": "norm2(x - before)",
            "dual2": "norm2(lam_next - lam)",
        },
        where={"c": "1/(2*eta) + 1/gamma - L"},
        claim=f"after[q] <= level[0] - m2[q]/(2*eta) - (c - 3*eta/gamma**2)*d2[q] - (c - {share})*(sum(d2[k], k, 0, q) - d2[q])"
        f" + ({share} + 3*eta/gamma**2)*past2[q] + (sum(e2[k], k, 0, q) - e2[q])/(2*L) + {noise}*(1/(2*L) + 9*eta)*e2[q]"
        f" + 9*eta*past_e2[q] {sign} product[q]",
        proof="""
          some:  0 <= d2[q]                                                                   by derivation
          old:   0 <= past2[q]                                                                by derivation
          fall:  level[q+1] <= level[q] - c*d2[q] + e2[q]/(2*L)                               by derivation
          all:   level[q+1] <= level[0] - c*sum(d2[k], k, 0, q) + sum(e2[k], k, 0, q)/(2*L)
                   by induction q: base combine fall(q=0); step combine ih, fall(q=q+1)
          start: reach[0] == past2[0]                                                         by identity
          same:  past2[q+1] == past2[q]                                                       by identity
          young: (q + 1)*reach[q+1] <= (q + 2)*reach[q] + (q + 1)*(q + 2)*d2[q]               by derivation
          far:   reach[q] + (q + 1)*d2[q] <= (q + 1)*(past2[q] + sum(d2[k], k, 0, q))
                   by induction q: base combine start; step combine ((q + 2)/(q + 1))*ih, (1/(q + 1))*young, (-(q + 2))*same
          rest:  d2[q] <= sum(d2[k], k, 0, q)                                                 by induction q: base combine; step combine
          dual:  dual2[q] <= 3*(d2[q] + past2[q])/gamma**2 + 9*(e2[q] + past_e2[q] + L**2*reach[q])        by derivation
          moved: after[q] == level[q+1] + eta*dual2[q] - m2[q]/(2*eta) - product[q]           by identity
          done:  claim
                   by combine 1*moved, 1*all, eta*dual, (9*eta*L**2)*far, (9*eta*L**2*(q**2 + q))*rest, (9*eta*L**2*(q**2 + q))*old
        """,
    )


PLUS = Runs("inner product with plus", of_one_step("+"))
MINUS = Runs(
    "inner product with minus, in rounds",
    of_one_step("-"),
    {"steps without gamma's penalty": lambda eta, gamma: OneStep(eta, 1000 * gamma)},  # type: ignore[dict-item,return-value]
    role="repaired",
)


def check_l9(ctx: Context, *, sign: int = -1) -> Iterator[Finding]:
    """The printed sign fails on scalar quadratics; ``sign`` = 1 puts the other one in its place."""
    yield from (PLUS if sign == -1 else replace(MINUS, name=PLUS.name, role="printed")).findings(ctx)


CLAIMS += [
    claim(
        "FEDPD-L9s",
        "supplement, Lemma 9",
        "With d_q = x_i^{r,q} - x_i^{r,q-1}, d_Q^- of the round before and the errors e_q = g_i^{r,q} - grad f_i(x_i^{r,q}), a round of Oracle II "
        "changes L_i by at most -||m||^2/(2 eta) - (1/(2 eta) + 1/gamma - L - 3 eta/gamma^2)||d_Q||^2 - (1/(2 eta) + 1/gamma - L - 9 Q^2 L^2 eta) "
        "sum_{q<Q} ||d_q||^2 + (9 Q^2 L^2 eta + 3 eta/gamma^2)||d_Q^-||^2 + (1/(2L)) sum_{q<Q-1} ||e_q||^2 + (1/(2L) + 9 eta)||e_{Q-1}||^2 + "
        "9 eta ||e_{Q-1}^-||^2 + <lam_i^{r+1} + (x_i^{r+1} - x_{0,i}^{r+1})/eta, m>, m = x_{0,i}^{r+1} - x_{0,i}^r.",
        [
            Step(
                "inner product with minus",
                lemma_nine(),
                "repaired",
                wrong={"sign kept": lemma_nine("+"), "an error's term a hundredth smaller": lemma_nine(noise="99/100")},
            )
        ],
        runs=[MINUS],
        besides=check_l9,
        faults=(Fault("the minus sign in the place of the printed one", PLUS.name, {"sign": 1}, holds=True),),
        assumptions=(A1, STEP_VR, "p = 0", "r >= 1"),
        readings=(
            "q + 1 is Q, d[k] the step from x_i^{r,k}, and past, past_e those of the last step of the round before. The steps tried lie in Theorem "
            "2's range: eta <= 1/(7L) < 1/(3(Q + sqrt Q)L), gamma >= 6 eta > 5 eta/sqrt L for L >= 1.",
            "The inner product averages to zero over the clients, so the slip does not reach Theorem 2.",
        ),
        repaired="The inner product enters with a minus sign; all constants are as printed.",
        replay=PLUS.statement.replay,
    )
]


# ---- Draws of samples ------------------------------------------------------------------------------------------------
def error_allowed(L: Any, B: Any, moved: Any) -> Any:
    """Right side of Lemma 10, for the sum ``moved`` of the expected squared steps since the last full gradient."""
    return L**2 / B * moved


@dataclass(frozen=True)
class Draws:
    """A client's estimates, one draw after the other: of any error e, or, ``started``, of none after a full gradient.

    ``solved``: beside each of them is what Lemma 11 speaks of, `last_step`.
    """

    started: bool
    solved: bool

    def __str__(self) -> str:
        return "one of m samples after the other, drawn uniformly"

    def who(self, numbers: Mapping[str, Any]) -> Sampling:
        """One of m samples."""
        return Sampling(numbers["m"], 1)

    def __call__(self, w: World, p: Parameters, last: int) -> list[list[tuple[int, State]]]:
        """The states."""
        h, error = w.function(p.L, -p.L, client=True, name="h_k"), w.vector("e")
        states, error = list[list[tuple[int, State]]](), error * 0 if self.started else error
        for t in range(last + 1):
            alike = w.vector(f"of each {t}", True) * 0
            x, y = w.vector(f"x {t}"), w.vector(f"y {t}")
            (before, _), (after, _) = w.at(h, x + alike, f"h_k(x) {t}"), w.at(h, y + alike, f"h_k(y) {t}")
            change = after - before
            if not isinstance(change, Vector):
                raise InvalidInput("draws of every number of samples are not played on plain numbers")
            own = last_step(w, p, h, error, alike, t) if self.solved else {}
            states.append([(1, State(h_k=h, e=error, x=x, y=y, change=change, **own))])
            error = error + (change.averaged(Sampling(p.m, 1)) - bar(change)) / p.B
        return states


def last_step(w: World, p: Parameters, h: Any, error: Any, alike: Any, t: int) -> dict[str, Any]:
    """A round's last step d from any point y with this error of its estimate, the dual after it, and any server's model x_0.

    The step is where grad f_i(y) + e + lam_i + d/gamma + (y + d - x_{0,i})/eta = 0, from which the dual after it is -(grad f_i(y) + e + d/gamma).
    """
    y, d = w.vector(f"y_i {t}"), w.vector(f"d_i {t}")
    (slopes, _), (ends, _) = w.at(h, y + alike, f"h_k(y_i) {t}"), w.at(h, y + d + alike, f"h_k(x_i) {t}")
    dual = (bar(slopes) + error + d / p.gamma) * -1
    return {"x_0": w.vector(f"x_0 {t}"), "x_i": y + d, "d_i": d, "lam_i": dual, "slope": bar(ends)}


# ---- Lemma 10 --------------------------------------------------------------------------------------------------------
STEPS = "(sum(moved[t]/B, t, 0, T) - moved[T]/B)"
GROWS = f"error[T] <= {formula(error_allowed, L='L', B='B', moved=STEPS)}"
_SCRIPT = """
      zero:  error[0] == 0                                by identity
      adds:  error[t+1] == error[t] + spread[t]/B**2      by identity
      small: spread[t] <= L**2*moved[t]                   by derivation
      grows: SAID   by induction T: base combine zero; step combine 1*ih, 1*adds(t=T), (1/B**2)*small(t=T)
"""
LEMMA_TEN = Theorem(
    name="Lemma 10",
    region="0 < L, m in 2.., 1 <= B",
    states=PlayedStates(Draws(False, False), Draws(True, False)),
    rounds={"t": 0, "T": 0},
    quantities={"error": "norm2(e)", "moved": "norm2(y - x)", "spread": "mean(norm2(change - bar(change)))"},
    claim=GROWS,
    proof=_SCRIPT.replace("SAID", "claim"),
)


@dataclass(frozen=True, eq=False)
class _AllSequences:
    """A key that plays every sequence of sample draws at once, one a row of the batch (two samples a client)."""

    round: int
    picks: NDArray[np.int64]  # (sequences, rounds, n, B)
    seed: int = 0

    def client_uniform(self, purpose: str, n: int, width: int, index: Any = None) -> NDArray[np.float64]:
        """Numbers that select the prescribed samples (B a client and round)."""
        return (self.picks[:, self.round] + 0.5) / 2

    def coin(self, purpose: str, probability: Any) -> bool:
        """Always communicate."""
        return True


def _errors_and_moves(problem: Any, eta: float, x0: Any, rounds: int, B: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
    """E ||g_i - grad f_i(x_i)||^2 and the sum of E ||x_i' - x_i||^2 so far, after each round ``(rounds, n)``, over all sequences of samples.

    FedPD-VR with Q = 1 and two samples a client, which never starts afresh.
    """
    picks = np.array(list(product((0, 1), repeat=problem.n * rounds * B))).reshape(-1, rounds, problem.n, B)
    method = FedPD(eta, FedPD.oracle_two(eta, 6 * eta, 1, B, rounds), init_dual="zero")
    state = method.init(problem, x0)
    errors: list[Any] = []
    moves: list[Any] = []
    for r in range(rounds):
        key: Any = _AllSequences(r, picks)
        new = method.round(problem, state, None, key)
        for found, points in ((errors, new.memory - problem.grad(new.x_i)), (moves, new.x_i - state.x_i)):
            squares = squared_norm(points)
            found.append(squares.mean(axis=0) if squares.ndim > 1 else squares)  # the first step draws nothing
        state = new
    return np.asarray(errors), np.cumsum(moves, axis=0)


def check_l10(ctx: Context, *, smoothness: float = 1.0) -> Iterator[Finding]:
    """Exact expectations over all sample sequences of small instances, by the method's own rounds."""
    errors, limits = [], []
    cases = ((1, 4, 1.0), (2, 2, 1.0), (1, 3, 3.0))  # B, rounds, and what samples are scaled by
    for k, (B, rounds, scale) in product(range(ctx.pick(20, 200)), cases):
        drawn = random_finite_sum(2, 2, 2, mu=-1.0, seed=ctx.seed + k)
        problem = SampledQuadratic(scale * drawn.h, scale * drawn.b, drawn.name)
        L = smoothness * float(constant(problem, "L_sample"))
        seen = _errors_and_moves(problem, 0.9 * step_limit(1, 4, 1, scale), np.full((1, 2), 2.0), rounds, B)
        errors += list(np.ravel(seen[0]))
        limits += list(np.ravel(error_allowed(L, B, seen[1])))
    yield at_most(
        "all sample sequences",
        errors,
        limits,
        "numeric",
        f"Q = 1, two samples a client, (B, rounds, scale of the samples) = {', '.join(map(str, cases))}, {ctx.pick(20, 200)} instances of each, "
        "expectation over all sequences of draws",
        error=1e-11,
    )
    pair = np.broadcast_to(np.array([3.0, -1.0])[None, :, None], (2, 2, 1))
    two = SampledQuadratic(pair, 0 * pair, "one rough pair of samples")
    (error, *_), (moved, *_) = _errors_and_moves(two, 0.05, np.full((1, 1), 2.0), 3)
    L = float(constant(two, "L"))
    yield holds(
        "reading: A1 for f_i only",
        bool(np.all(error <= error_allowed(L, 1, moved))),
        "numeric",
        f"with samples of curvature {two.h[0, :, 0].tolist()} and L = {L:g} the ratio is {float((error / (L**2 * moved)).max()):.3g}: the "
        "lemma needs L-smooth samples",
        role="reading",
    )


ONE_CLIENT = (
    "For each client: it has m samples, and one counts as two that are equal. T counts draws since the last full gradient, B of them an inner step "
    "from x to y, so that sum moved/B is that of the squared steps."
)
CLAIMS += [
    claim(
        "FEDPD-L10s",
        "supplement, Lemma 10",
        "E ||g_i - grad f_i||^2 after an inner step is at most (L^2/B) times the sum of E ||x^tau - x^{tau-1}||^2 since the last full "
        "gradient.",
        [Step("every sequence of draws", LEMMA_TEN)],
        besides=check_l10,
        faults=(Fault("half the smoothness constant", "all sample sequences", {"smoothness": 0.5}),),
        assumptions=(SMOOTH_SAMPLES,),
        readings=(ONE_CLIENT,),
    )
]


# ---- Lemma 11 --------------------------------------------------------------------------------------------------------
def below_level(level: Any, apart: Any, drawn: Any, last: Any, L: Any, B: Any, eta: Any, C: Any) -> Any:
    """Right side of Lemma 11, for the sum ``drawn`` of the expected squared steps since the last full gradient."""
    return level - (1 - 3 * L * eta) / (2 * eta) * apart + C * (drawn / B + last)


def _eleven(f: str, **terms: str) -> str:
    return f"{f} <= {formula(below_level, **terms, L='L', B='B', eta='eta', C='C')}"


LEMMA_ELEVEN = Theorem(
    name="Lemma 11",
    region=f"{LEMMA_TEN.region}, 0 < eta, 0 < gamma",
    states=PlayedStates(Draws(False, True), Draws(True, True)),
    rounds=LEMMA_TEN.rounds,
    quantities={
        **LEMMA_TEN.quantities,
        "f": "mean(h_k(x_0))",
        "level": "mean(h_k(x_i)) + dot(lam_i, x_i - x_0) + norm2(x_i - x_0)/(2*eta)",
        "apart": "norm2(x_i - x_0)",
        "last": "norm2(d_i)",
        "off": "norm2(lam_i + slope)",
    },
    where={"C": "((1 + L*gamma)**2 + L**2*gamma**2)/(4*L*gamma**2)"},
    claim=_eleven("f[T]", level="level[T]", apart="apart[T]", drawn=STEPS, last="last[T]"),
    proof=_SCRIPT.replace("SAID", GROWS)
    + """
      below: f[t] <= level[t] - (1 - 3*L*eta)/(2*eta)*apart[t] + off[t]/(4*L)                             by derivation
      near:  off[t] <= ((1 + L*gamma)**2 + L**2*gamma**2)/gamma**2*(error[t]/L**2 + last[t])              by derivation
      done:  claim    by combine below(t=T), (1/(4*L))*near(t=T), (((1 + L*gamma)**2 + L**2*gamma**2)/(4*L**3*gamma**2))*grows
    """,
)
#: what Lemma 11 says of client i, and of the mean over clients 0, ..., n. x_0 is the same for all, so that f[i] = E f_i(x_0) sum to n + 1 times
#: E f(x_0); f and level are counted from a number below all of them, which cancels
_OF_CLIENTS = ("f", "level", "apart", "drawn", "last")
_OF_ONE = {name: f"{name}[i]" for name in _OF_CLIENTS}
_OF_ALL = {name: f"sum({name}[i], i, 0, n)" for name in _OF_CLIENTS}
_MEANS = {name: f"{total}/(n + 1)" for name, total in _OF_ALL.items()}
LEMMA_ELEVEN_OF_ALL = Theorem(
    name="Lemma 11, the mean over clients",
    region="0 < L, 1 <= B, 0 < eta, 0 < gamma",
    claim=_eleven(**_MEANS),
    proof=f"""
      all:   {_eleven(**_OF_ALL)}    by induction n: base combine each(i=0); step combine ih, each(i=n+1)
      done:  claim                   by combine (1/(n + 1))*all
    """,
    rounds={"i": 0, "n": 0},
    sequences=dict.fromkeys(_OF_CLIENTS, "0"),
    where=LEMMA_ELEVEN.where,
    given={"each": _eleven(**_OF_ONE)},
)
CLAIMS += [
    claim(
        "FEDPD-L11s",
        "supplement, Lemma 11",
        "E f(x_0^r) <= E L^r - ((1-3u)/(2N eta)) sum_i E ||x_i^r - x_0^r||^2 + (((1+L gamma)^2 + L^2 gamma^2)/(4 L gamma^2)) "
        "[(1/B) sum_tau E ||x^tau - x^{tau-1}||^2 + E ||last inner step||^2].",
        [Step("every sequence of draws", LEMMA_ELEVEN), Step("mean over clients", LEMMA_ELEVEN_OF_ALL)],
        assumptions=(SMOOTH_SAMPLES, STEP_VR),
        readings=(
            ONE_CLIENT,
            "Sums over draws are those since the last full gradient. What is given of every client i in the second theorem is what the first one "
            "says of one. There f[i] is E f_i(x_0^r), where x_0^r is the same for all, and f[i] and level[i] are counted from any number below all "
            "of them.",
        ),
    )
]

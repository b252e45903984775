"""Identities behind FedPD and its relatives: means (D3), SCAFFOLD's duals (D5, EQ3, Q9), splittings (D6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedAvg, FedDane, FedPD, FedProx, FedSplit, Scaffold, VrlSgd
from fedtheory.algorithms.scaffold import ScaffoldState
from fedtheory.algorithms.vrl_sgd import VrlState
from fedtheory.claims.claim import Claim, Context, Fault, Finding, Part, Picture, Reading
from fedtheory.claims.orderings import alike
from fedtheory.claims.parts import at_most, equal, holds, proved
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.core.arrays import average, spread
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures.rates import fit_contraction
from fedtheory.proofs.symbolic import agree, is_zero, play_exactly, symbols
from paper_checks.fedpd.common import A1, A2, PAPER, HalfDualStep, Prescribed, fractions, total, under_one_name
from paper_checks.fedpd.draws import DRAWS
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics

SCRIPT: Any = ScriptedKey(0)


def models(algorithm: Any, problem: Any, x0: Any, rounds: int) -> Any:
    """Server models after 0, 1, ..., R rounds: ``(R + 1, d)``."""
    state = algorithm.init(problem, x0[None, :])
    found = [state.x[0]]
    for r in range(rounds):
        key: Any = ScriptedKey(r)
        state = algorithm.round(problem, state, None, key)
        found.append(state.x[0])
    return np.asarray(found)


def general_quadratics(n: int) -> tuple[Quadratic, tuple[Any, ...], tuple[Any, ...]]:
    """f_i = (h_i/2) x^2 - b_i x with symbols h_i > 0 and b_i; returns the problem, the h_i and the b_i."""
    h, b = symbols(f"h1:{n + 1}", positive=True), symbols(f"b1:{n + 1}")
    return Quadratic(np.asarray(h, dtype=object)[:, None, None], np.asarray(b, dtype=object)[:, None]), h, b


# ---- D3 -----------------------------------------------------------------------------------------------------------


def check_d3(ctx: Context, *, algorithm: Any = FedPD) -> Iterator[Finding]:
    """For any answers of the local solver, communicating or not: relations between means, in symbols."""
    eta = symbols("eta", positive=True)
    kept, exact = True, True
    for n in (1, 2, 3):
        old, new = symbols(f"a1:{n + 1}"), symbols(f"c1:{n + 1}")
        points = {0: np.asarray(old, dtype=object)[:, None], 1: np.asarray(new, dtype=object)[:, None]}
        problem, h, b = general_quadratics(n)
        for first in (True, False):
            for second in (True, False):
                states = play_exactly(
                    algorithm(eta, Prescribed(lambda r: points[r]), 0.5),  # noqa: B023
                    problem,
                    np.asarray([symbols("x")], dtype=object),
                    2,
                    {0: {"communicate": first}, 1: {"communicate": second}},
                )
                mean_old, mean_new = sum(old) / n, sum(new) / n
                kept &= is_zero(states[2].lam_i.sum() / n - (mean_new - mean_old) / eta)
                kept &= is_zero(states[2].x0_i.sum() / n - (2 * mean_new - mean_old))
        # with exact solves lam_i = -grad f_i(x_i), so the first relation is an implicit gradient step of the mean
        states = play_exactly(algorithm(eta), problem, np.asarray([symbols("x")], dtype=object), 2)
        gradients = sum(hi * xi - bi for hi, xi, bi in zip(h, states[2].x_i[:, 0], b, strict=True)) / n
        exact &= is_zero(states[2].x_i.sum() / n - states[1].x_i.sum() / n + eta * gradients)
    yield proved(
        "means, any local solver",
        kept,
        "mean lam^(r+1) = (mean x^(r+1) - mean x^r)/eta and mean x_{0,i}^(r+1) = 2 mean x^(r+1) - mean x^r, whatever the local solver "
        "returns and whether or not the rounds communicate; all updates are affine and the same for every client, so means obey the "
        "case n = 1",
    )
    yield holds(
        "implicit gradient step",
        exact,
        "symbolic",
        "with exact solves mean x^(r+1) = mean x^r - eta mean_i grad f_i(x_i^(r+1))",
    )
    problem_ = random_quadratics(50, 4, seed=ctx.seed)
    method = algorithm(0.2, GradientSteps(3, 0.2), 0.5)
    state = method.init(problem_, np.ones((1, 4)))
    worst = 0.0
    for r in range(30):
        new_state = method.round(problem_, state, None, Key(ctx.seed, r))
        if r >= 1:
            left = new_state.lam_i.mean(axis=0)
            right = (new_state.x_i.mean(axis=0) - state.x_i.mean(axis=0)) / 0.2
            worst = max(worst, float(np.abs(left - right).max() / (1 + np.abs(right).max())))
        state = new_state
    yield at_most(
        "run", worst, 1e-12, "numeric", f"50 clients, inexact solves, p = 1/2, 30 rounds: difference {worst:.1g}"
    )


# ---- D5, EQ3, Q9 ----------------------------------------------------------------------------------------------------


def _scaffold_round(n: int, control: Any = None) -> tuple[ScaffoldState, ScaffoldState, Any, Any, Any]:
    """One SCAFFOLD round from any state with c = mean c_i, for any answers y_i of the local steps, in symbols."""
    eta, Q = symbols("eta Q", positive=True)
    c, y, x = symbols(f"c1:{n + 1}"), symbols(f"y1:{n + 1}"), symbols("x")
    c_i = np.asarray(c, dtype=object)[:, None]
    before = ScaffoldState(
        np.array([[x]], dtype=object), np.array([[sum(c) / n if control is None else control]], dtype=object), c_i
    )
    solver = _SymbolicSteps(np.asarray(y, dtype=object)[:, None], Q, eta)
    after = Scaffold.round(_unchecked(Scaffold, solver), _General(n), before, None, SCRIPT)
    return before, after, np.asarray(y, dtype=object)[:, None], eta, Q


class _General:
    """n functions of which only the number matters."""

    d = 1
    name = "any functions"

    def __init__(self, n: int) -> None:
        self.n = n

    def take(self, clients: Any) -> Any:
        return self

    def grad(self, x: Any) -> Any:
        raise NotImplementedError

    value = grad


class _SymbolicSteps:
    """A local solver with a symbolic number of steps that returns prescribed points, and remembers what it was asked."""

    numeric_only = None

    def __init__(self, answers: Any, steps: Any = 1, lr: Any = 1) -> None:
        self.answers, self.steps, self.lr = answers, steps, lr
        self.seen: Any = None

    def memory(self, problem: Any, x0: Any) -> None:
        return None

    def __call__(self, sub: Any, start: Any, key: Any, memory: Any) -> tuple[Any, None]:
        self.seen = sub
        return self.answers, None


def _unchecked(method: Any, local: Any) -> Any:
    """Build a method whose local solver has a symbolic step count, which its constructor would refuse."""
    made = object.__new__(method)
    object.__setattr__(made, "local", local)
    if method is Scaffold:
        object.__setattr__(made, "server_lr", 1)
    return made


def _dual_relation(n: int, scale: Any = 1) -> bool:
    """lam_i = c - c_i moves by FedPD's dual step with eta_FedPD = Q eta, then is centred; and c stays the mean of the c_i."""
    before, after, y, eta, Q = _scaffold_round(n)
    lam = before.c - before.c_i
    moved = lam + (y - before.x) / (scale * Q * eta)
    centred = moved - moved.sum() / n
    return agree(after.c - after.c_i, centred) and is_zero(after.c[0, 0] - after.c_i.sum() / n)


def _server_can_tell(n: int) -> bool:
    """mean c_i^(r+1) = (x^r - x^(r+1))/(Q eta)."""
    before, after, _, eta, Q = _scaffold_round(n)
    return agree(after.c, (before.x - after.x) / (Q * eta))


def check_d5(ctx: Context, *, scale: Any = 1, control: bool = False) -> Iterator[Finding]:
    """Both relations in symbols, for any local steps; a run."""
    dual, server = all(_dual_relation(n, scale) for n in (2, 3, 4)), all(_server_can_tell(n) for n in (2, 3, 4))
    yield holds(
        "dual update",
        dual,
        "symbolic",
        "lam_i := c - c_i obeys lam_i <- mu_i - mean mu_j, mu_i = lam_i + (x_i^Q - x_0)/(Q eta), for any local steps (affine in each "
        "client and in the mean, so for every n)",
    )
    yield holds(
        "server control",
        server,
        "symbolic",
        "mean c_i^(r+1) = (x_0^r - x_0^(r+1))/(Q eta): broadcast models alone give c",
    )
    yield proved("both relations", dual and server, "for any local steps and every n, by the two parts above")
    problem = random_quadratics(6, 3, seed=ctx.seed)
    method = Scaffold(GradientSteps(5, 0.1))
    state = method.init(problem, np.ones((1, 3)))
    worst = 0.0
    for r in range(20):
        new = method.round(problem, state, None, Key(0, r))
        told = (state.x - new.x) / ((5 + control) * 0.1)
        worst = max(worst, float(np.abs(new.c - told).max()))
        state = new
    yield at_most("run", worst, 1e-13, "numeric", f"Q = 5, 20 rounds: difference {worst:.1g}")


def check_eq3(ctx: Context, *, scale: Any = 1) -> Iterator[Finding]:
    """SCAFFOLD's c - c_i is FedPD's dual up to centring (D5)."""
    yield Reading(
        "'Play the same role' is made precise: equal up to centring, with FedPD's eta equal to Q times SCAFFOLD's step."
    )
    yield proved(
        "dual update",
        all(_dual_relation(n, scale) for n in (2, 3, 4)),
        "c - c_i moves by (x_i^Q - x_0)/(Q eta), as FedPD's lam_i with eta_FedPD = Q eta, and is then centred",
    )
    problem = random_quadratics(4, 2, seed=ctx.seed)
    scaffold = total(problem, Scaffold(GradientSteps(4, 0.1)), np.ones(2), 400)
    lam = scaffold.state.c - scaffold.state.c_i
    star = problem.solution()[None, :]
    yield equal(
        "limit", lam, -problem.grad(star), "numeric", "at the solution c - c_i = -grad f_i(x*), FedPD's dual", rtol=1e-6
    )


def check_q9(ctx: Context, *, extra: int = 0) -> Iterator[Finding]:
    """Traffic as described, whether it is necessary, and FedPD's rate beside SCAFFOLD's."""
    rounds = ctx.pick(150, 600)
    problem = random_quadratics(8, 5, mu=0.05, batch=(DRAWS,), seed=ctx.seed)
    start = np.ones((DRAWS, 5))
    first = total(problem, Scaffold(GradientSteps(5, 0.1)), start, rounds)
    second = total(problem, FedPD(0.5, GradientSteps(5, 0.5)), start, rounds)  # eta = Q eta_SCAFFOLD, as in D5
    per_round = tuple(np.unique(t.floats_up[..., -1]).item() / rounds for t in (first, second))
    yield holds(
        "traffic as described",
        per_round == (2 * 8 * 5, (1 + extra) * 8 * 5),
        "count",
        f"floats uploaded a round, 8 clients and d = 5: SCAFFOLD {per_round[0]:.0f}, FedPD {per_round[1]:.0f}",
    )
    rates = [[fit_contraction(t.rounds, curve).rate for curve in t["stationarity"]] for t in (first, second)]
    slower, faster = -np.log(np.array(rates))
    yield alike(
        "FedPD's rate",
        np.log(faster),
        np.log(slower),
        f"contraction of ||grad f||^2 a round over {DRAWS} draws of clients with eta_FedPD = Q eta_SCAFFOLD, Q = 5: SCAFFOLD "
        f"{np.exp(-slower.mean()):.4f}, FedPD {np.exp(-faster.mean()):.4f}; logarithm of the ratio of their logarithms, within a factor 5/4",
        within=float(np.log(5 / 4)),
        engine="numeric",
    )
    yield holds(
        "reading: SCAFFOLD needs the extra upload",
        not all(_server_can_tell(n) for n in (2, 3, 4)),
        "symbolic",
        "under full participation, the paper's setting, the server and every client can compute c from the broadcast models (D5): the "
        "second upload is not necessary",
        role="reading",
    )
    yield Reading(
        "As SCAFFOLD is described it sends c_i and doubles the traffic: that is counted and true. Read as a necessity the sentence fails "
        "under full participation (D5, D6: VRL-SGD is the same method with models alone)."
    )
    yield Picture(
        "SCAFFOLD and FedPD: accuracy against floats uploaded",
        "floats uploaded",
        "||grad f||^2",
        [
            {
                "label": "SCAFFOLD",
                "x": (per_round[0] * first.rounds).tolist(),
                "y": first["stationarity"].mean(axis=0).tolist(),
            },
            {
                "label": "FedPD",
                "x": (per_round[1] * second.rounds).tolist(),
                "y": second["stationarity"].mean(axis=0).tolist(),
            },
        ],
        logy=True,
    )


# ---- D6 and the golden numbers ----------------------------------------------------------------------------------------

#: f_1 = (x-1)^2/2, f_2 = 3(x+1)^2/2, x^0 = 2: server models after rounds 1, 2, 3 (exact)
GOLDEN: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("FedPD, lam^0 = -grad", lambda e: FedPD(e), ("3/2", "166/143", "126/143")),
    ("FedPD, lam^0 = 0", lambda e: FedPD(e, init_dual="zero"), ("174/143", "10/11", "13680/20449")),
    (
        "FedPD, round 1 skipped",
        lambda e: FedPD(e, p=lambda r: 1 if r == 1 else 0),
        ("3/2", "166/143", "18962/20449"),
    ),
    (
        "FedPD Oracle I, Q = 2",
        lambda e: FedPD(e, GradientSteps(2, e), init_dual="zero"),
        ("32/25", "2381/2500", "90061/125000"),
    ),
    (
        "FedPD Oracle II, Q = 2, gamma = 1/2",
        lambda e: FedPD(e, FedPD.oracle_two(e, Fraction(1, 2), 2, None, 1), init_dual="zero"),
        ("11/9", "1583/1728", "252367/373248"),
    ),
    ("FedAvg, Q = 3", lambda e: FedAvg(GradientSteps(3, e)), ("879/1000", "4346/15625", "-686169/15625000")),
    ("FedProx, rho = 10", lambda e: FedProx(1 / e), ("230/143", "26170/20449", "2935910/2924207")),
    ("SCAFFOLD, Q = 3", lambda e: Scaffold(GradientSteps(3, e)), ("879/1000", "76679/375000", "-341599001/2250000000")),
    ("VRL-SGD, Q = 3", lambda e: VrlSgd(GradientSteps(3, e)), ("879/1000", "76679/375000", "-341599001/2250000000")),
    ("FedSplit", lambda e: FedSplit(e), ("174/143", "86/143", "5242/20449")),
    ("FedDANE, mu = 10", lambda e: FedDane(1 / e), ("226/143", "25178/20449", "2750794/2924207")),
)


@dataclass(frozen=True, eq=False)
class SplittingState:
    """The model, and v_i."""

    x: Any
    v_i: Any


@dataclass(frozen=True)
class Splitting:
    """v_i <- v_i + relaxation (x - x_i), x = mean(2 x_j - v_j), x_i = prox_{eta f_i}(v_i): Douglas-Rachford for 1, Peaceman-Rachford for 2.

    ``ahead``: v_i starts at x^0 + eta grad f_i(x^0) instead of x^0.
    """

    eta: Any
    relaxation: Any = 1
    ahead: bool = True

    def init(self, problem: Any, x0: Any) -> SplittingState:
        """Start from a common point."""
        v_i = spread(x0, problem.n)
        return SplittingState(x0, v_i + self.eta * problem.grad(x0) if self.ahead else v_i)

    def round(self, problem: Any, state: SplittingState, clients: Any, key: Any) -> SplittingState:
        """Run one iteration."""
        x_i = problem.prox(state.v_i, self.eta)
        x = average(2 * x_i - state.v_i)
        return SplittingState(x, state.v_i + self.relaxation * (x - x_i))


def _wide(seed: int) -> Quadratic:
    return random_quadratics(5, 3, seed=seed)


FEDPD_IS_DOUGLAS_RACHFORD = Equivalence(
    "fedpd",
    lambda eta: Splitting(eta),  # type: ignore[arg-type,return-value]
    "eta, exact",
    region="0 < eta",
    states={"x": "x", "v_i": "x - eta*lam_i"},
    kept={"x0_i": "x"},
    instances=_wide,
    name="FedPD and Douglas-Rachford splitting",
)


def fedsplit_is_peaceman_rachford(relaxation: int) -> Equivalence:
    """FedSplit with v_i = 2 zbar - z_i."""
    return Equivalence(
        lambda eta: FedSplit(eta),
        lambda eta: Splitting(eta, relaxation, ahead=False),  # type: ignore[arg-type,return-value]
        region="0 < eta",
        states={"x": "x", "v_i": "2*x - z_i"},
        kept={"x": "mean_z_i"},
        instances=_wide,
        name=f"FedSplit and a splitting with relaxation {relaxation}",
    )


def _column(name: str, n: int) -> Any:
    return np.asarray(symbols(f"{name}1:{n + 1}"), dtype=object)[:, None]


def scaffold_is_vrl(n: int, sign: int = 1) -> bool:
    """From any state with Delta_i = c_i - c both ask for the same local work, and whatever it returns, both relations persist."""
    Q, lr = symbols("Q lr", positive=True)
    c_i, answers = _column("c", n), _column("y", n)
    c = c_i.sum(axis=0, keepdims=True) / n
    x = np.array([[symbols("x")]], dtype=object)
    first, second = _SymbolicSteps(answers, Q, lr), _SymbolicSteps(answers, Q, lr)
    left = Scaffold.round(_unchecked(Scaffold, first), _General(n), ScaffoldState(x, c, c_i), None, SCRIPT)
    right = VrlSgd.round(_unchecked(VrlSgd, second), _General(n), VrlState(x, sign * (c_i - c)), None, SCRIPT)  # type: ignore[arg-type]
    asked = agree(first.seen.a, second.seen.a)
    kept = is_zero(left.c[0, 0] - left.c_i.sum() / n)
    return asked and kept and agree(left.x, right.x) and agree(left.c_i - left.c, right.delta_i)


def check_d6(ctx: Context, *, sign: int = 1, relaxation: int = 2) -> Iterator[Finding]:
    """SCAFFOLD = VRL-SGD and the splittings, in fractions, in symbols and on random quadratics."""
    problem = scalar_quadratics(fractions(["1", "3"]), fractions(["1", "-1"]))
    e, start = Fraction(1, 10), fractions(["2"])
    wrong = [
        name
        for name, build, values in GOLDEN
        if list(models(build(e), problem, start, 3)[1:, 0]) != [Fraction(v) for v in values]
    ]
    yield holds(
        "golden numbers",
        not wrong,
        "exact",
        f"{len(GOLDEN)} methods, three rounds in fractions; differing: {wrong or 'none'}",
    )
    same = all(scaffold_is_vrl(n, sign) for n in (2, 3, 4))
    yield holds(
        "SCAFFOLD is VRL-SGD",
        same,
        "symbolic",
        "one round from any state: the same local problems, and whatever points they return, the same new state; all maps are affine and "
        "the same for each client and for the mean, so for every n, any functions and any local steps",
    )
    splittings = [
        *under_one_name("FedPD is Douglas-Rachford", FEDPD_IS_DOUGLAS_RACHFORD.findings(ctx)),
        *under_one_name("FedSplit is Peaceman-Rachford", fedsplit_is_peaceman_rachford(relaxation).findings(ctx)),
    ]
    yield from splittings
    yield proved(
        "all three",
        same,
        "by induction over the rounds the iterates agree",
        resting_on=[part for part in splittings if isinstance(part, Part)],
    )
    wide = random_quadratics(5, 3, seed=ctx.seed)
    rounds = 40
    a = models(Scaffold(GradientSteps(4, 0.1)), wide, np.ones(3), rounds)
    b = models(VrlSgd(GradientSteps(4, 0.1)), wide, np.ones(3), rounds)
    yield equal("run: SCAFFOLD against VRL-SGD", a, b, "numeric", "40 rounds, n = 5, d = 3, Q = 4", rtol=1e-10)


CLAIMS = [
    Claim(
        "FEDPD-D3",
        PAPER,
        "identity",
        "structure of Algorithm 2",
        "For any local solver, mean lam_i^{r+1} = (xbar^{r+1} - xbar^r)/eta and mean x_{0,i}^{r+1} = 2 xbar^{r+1} - xbar^r, whether or "
        "not the round communicates.",
        check_d3,
        (Fault("half a dual step", "means, any local solver", {"algorithm": HalfDualStep}),),
        ("r >= 1",),
    ),
    Claim(
        "FEDPD-D5",
        PAPER,
        "equivalence",
        "SCAFFOLD with full participation",
        "lam_i := c - c_i obeys FedPD's dual update with eta = Q eta_SCAFFOLD, then centred; and mean c_i^{r+1} = "
        "(x_0^r - x_0^{r+1})/(Q eta), so models alone need to travel.",
        check_d5,
        (
            Fault("dual step of half the size", "dual update", {"scale": 2}),
            Fault("Q + 1 steps", "run", {"control": True}),
        ),
        ("full participation",),
    ),
    Claim(
        "FEDPD-D6",
        PAPER,
        "equivalence",
        "SCAFFOLD, VRL-SGD and splittings",
        "SCAFFOLD with full participation is VRL-SGD; FedPD with exact solves is Douglas-Rachford; FedSplit is Peaceman-Rachford.",
        check_d6,
        (
            Fault("Delta_i = c - c_i", "SCAFFOLD is VRL-SGD", {"sign": -1}),
            Fault("no over-relaxation", "FedSplit is Peaceman-Rachford", {"relaxation": 1}),
        ),
        ("full participation",),
    ),
    Claim(
        "FEDPD-EQ3",
        PAPER,
        "equivalence",
        "Section IV-C",
        "SCAFFOLD's c - c_i plays the role of FedPD's lam_i.",
        check_eq3,
        (Fault("dual step of half the size", "dual update", {"scale": 2}),),
        ("full participation",),
    ),
    Claim(
        "FEDPD-Q9",
        PAPER,
        "ordering",
        "Sections I and IV-C",
        "SCAFFOLD sends c_i besides the model and doubles the communication; FedPD attains the same convergence rate without.",
        check_q9,
        (Fault("FedPD counted with two vectors", "traffic as described", {"extra": 1}),),
        assumptions=(
            A1,
            A2,
            "full participation",
            "c_i^0 = 0 (SCAFFOLD)",
            "lam_i^0 = -grad f_i(x^0), eta = Q eta_SCAFFOLD, p = 0 (FedPD)",
        ),
    ),
]

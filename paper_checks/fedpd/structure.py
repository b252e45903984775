"""Identities behind FedPD and its relatives: means (D3), SCAFFOLD's duals (D5, EQ3, Q9), splittings (D6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD, FedSplit, Scaffold, VrlSgd
from fedtheory.algorithms.scaffold import ScaffoldState
from fedtheory.algorithms.vrl_sgd import VrlState
from fedtheory.claims import state
from fedtheory.claims.claim import Fault, Finding, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.orderings import alike
from fedtheory.claims.parts import equal, holds, proved
from fedtheory.claims.protocol import Setting
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.core.arrays import average, spread
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures.rates import fit_contraction
from fedtheory.proofs.symbolic import agree, is_zero, symbols
from paper_checks.fedpd import identities
from paper_checks.fedpd.common import A1, A2, PAPER, FreshGradients, HalfDualStep, claim, find_stated, total
from paper_checks.fedpd.draws import DRAWS
from problems.quadratics import Quadratic, random_quadratics

SCRIPT: Any = ScriptedKey(0)


# ---- D5, EQ3, Q9 ----------------------------------------------------------------------------------------------------


class _AnySteps:
    """A local solver with a symbolic number of steps that returns prescribed points, and remembers what it was asked."""

    numeric_only = None

    def __init__(self, answers: Any, steps: Any, lr: Any) -> None:
        self.answers, self.steps, self.lr = answers, steps, lr
        self.seen: Any = None

    def memory(self, problem: Any, x0: Any) -> None:
        return None

    def __call__(self, sub: Any, start: Any, key: Any, memory: Any) -> tuple[Any, None]:
        self.seen = sub
        return self.answers, None


def _one_round(n: int, sign: int = 1) -> SimpleNamespace:
    """A round of SCAFFOLD and one of VRL-SGD with Delta_i = sign (c_i - c), from any state with c = mean c_i, for any answers y_i, in symbols."""
    Q, lr = symbols("Q lr", positive=True)
    c_i, answers = (np.asarray(symbols(f"{name}1:{n + 1}"), dtype=object)[:, None] for name in "cy")
    x, c = np.array([[symbols("x")]], dtype=object), c_i.sum(axis=0, keepdims=True) / n
    states: tuple[Any, Any] = ScaffoldState(x, c, c_i), VrlState(x, sign * (c_i - c))
    solvers, after = [_AnySteps(answers, Q, lr) for _ in states], []
    for kind, solver, old in zip((Scaffold, VrlSgd), solvers, states, strict=True):
        method: Any = object.__new__(kind)  # the constructors refuse a symbolic number of steps
        for name, value in (("local", solver), ("server_lr", 1)):
            object.__setattr__(method, name, value)
        after.append(method.round(FreshGradients(n), old, None, SCRIPT))
    asked = [solver.seen.a for solver in solvers]
    return SimpleNamespace(before=states[0], after=after[0], vrl=after[1], asked=asked, answers=answers, span=Q * lr)


def _dual_relation(n: int, scale: Any = 1) -> bool:
    """lam_i = c - c_i moves by FedPD's dual step with eta_FedPD = Q eta, then is centred; and c stays the mean of the c_i."""
    r = _one_round(n)
    moved = r.before.c - r.before.c_i + (r.answers - r.before.x) / (scale * r.span)
    return agree(r.after.c - r.after.c_i, moved - moved.sum() / n) and is_zero(r.after.c[0, 0] - r.after.c_i.sum() / n)


def _server_can_tell(n: int) -> bool:
    """mean c_i^(r+1) = (x^r - x^(r+1))/(Q eta)."""
    r = _one_round(n)
    return agree(r.after.c, (r.before.x - r.after.x) / r.span)


def scaffold_is_vrl(n: int, sign: int = 1) -> bool:
    """From any state with Delta_i = c_i - c both ask for the same local work, and whatever it returns, both relations persist."""
    r = _one_round(n, sign)
    kept = is_zero(r.after.c[0, 0] - r.after.c_i.sum() / n) and agree(r.after.c_i - r.after.c, r.vrl.delta_i)
    return agree(*r.asked) and kept and agree(r.after.x, r.vrl.x)


def scaffold_is_vrl_every_n(sign: int = 1) -> Equivalence:
    """SCAFFOLD is VRL-SGD with Delta_i = sign (c_i - c), for every number of clients and up to three gradient steps."""
    return Equivalence(
        "scaffold",
        "vrl-sgd",
        "lr, steps = Q, server_lr = 1",
        "lr, steps = Q",
        region="0 < lr, Q in 1..3",
        states={"x": "x", "delta_i": f"{sign}*(c_i - c)"},
        kept={"c": "mean_c_i"},
        instances=_wide,
        name="SCAFFOLD and VRL-SGD",
    )


def vrl_centres_duals() -> bool:
    """Check that lam_i = -Delta_i of VRL-SGD moves by FedPD's dual step and is centred, whatever n is, as mean Delta_i = 0.

    With the means of x_i, x' = mean x_i, and of mu_i = lam_i + (x_i - x)/span: -(Delta_i + (x' - x_i)/span) = mu_i - mean mu_j.
    """
    x, own, mean, lam, span = symbols("x x_i mean_x_i lam_i span")
    return is_zero(-(-lam + (mean - own) / span) - (lam + (own - x) / span - (mean - x) / span))


def check_d5(ctx: Context, *, scale: Any = 1, sign: int = 1) -> Iterator[Finding]:
    """Both relations in symbols, for any local steps, and for every n by VRL-SGD's rule."""
    found = yield from find_stated(ctx, {"VRL-SGD's rule for c_i - c, every n": scaffold_is_vrl_every_n(sign)})
    yield proved(
        "both relations",
        all(_dual_relation(n, scale) and _server_can_tell(n) for n in (2, 3, 4)) and vrl_centres_duals(),
        "lam_i := c - c_i obeys lam_i <- mu_i - mean mu_j, mu_i = lam_i + (x_i^Q - x_0)/(Q eta), and mean c_i^(r+1) = (x_0^r - x_0^(r+1))/(Q eta): "
        "broadcast models alone give c. Played for n = 2, 3, 4 and whatever points local steps return; for every n the first is VRL-SGD's rule, "
        "and the second the mean of c_i^(r+1) = c_i - c + (x_0 - x_i^Q)/(Q eta)",
        resting_on=found,
    )


def check_eq3(ctx: Context, *, scale: Any = 1) -> Iterator[Finding]:
    """SCAFFOLD's c - c_i is FedPD's dual up to centring (D5)."""
    yield Reading(
        "'Play the same role' is made precise: equal up to centring, with FedPD's eta equal to Q times SCAFFOLD's step."
    )
    found = yield from find_stated(ctx, {"VRL-SGD's rule for c_i - c, every n": scaffold_is_vrl_every_n()})
    yield proved(
        "dual update",
        all(_dual_relation(n, scale) for n in (2, 3, 4)) and vrl_centres_duals(),
        "c - c_i moves by (x_i^Q - x_0)/(Q eta), as FedPD's lam_i with eta_FedPD = Q eta, and is then centred",
        resting_on=found,
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
    problem, start = random_quadratics(8, 5, mu=0.05, batch=(DRAWS,), seed=ctx.seed), np.ones((DRAWS, 5))
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


# ---- D6 -------------------------------------------------------------------------------------------------------------


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
    "eta, init_dual = grad, exact, p = 0",
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


def check_d6(ctx: Context, *, sign: int = 1, relaxation: int = 2) -> Iterator[Finding]:
    """SCAFFOLD = VRL-SGD for any local steps, and the splittings."""
    same = all(scaffold_is_vrl(n, sign) for n in (2, 3, 4))
    yield holds(
        "SCAFFOLD is VRL-SGD",
        same,
        "symbolic",
        "one round from any state, n = 2, 3, 4: the same local problems, and whatever points they return, the same new state; all maps are affine "
        "and the same for each client and for the mean, so for every n, any functions and any local steps (gradient steps below: every n at once)",
    )
    splittings = yield from find_stated(
        ctx,
        {
            "SCAFFOLD is VRL-SGD, gradient steps": scaffold_is_vrl_every_n(sign),
            "FedPD is Douglas-Rachford": FEDPD_IS_DOUGLAS_RACHFORD,
            "FedSplit is Peaceman-Rachford": fedsplit_is_peaceman_rachford(relaxation),
        },
    )
    yield proved(
        "all three",
        same,
        "by induction over the rounds the iterates agree",
        resting_on=splittings,
    )


CLAIMS = [
    state(
        "FEDPD-D3",
        f"{PAPER}, derived",
        "structure of Algorithm 2",
        "For any local solver, mean lam_i^{r+1} = (xbar^{r+1} - xbar^r)/eta and mean x_{0,i}^{r+1} = 2 xbar^{r+1} - xbar^r, whether or "
        "not the round communicates.",
        identities.means(),
        kind="identity",
        assumptions=("r >= 1",),
        wrong={"half a dual step": identities.means(HalfDualStep)},
    ),
    claim(
        "FEDPD-D5",
        "equivalence",
        "SCAFFOLD with full participation",
        "lam_i := c - c_i obeys FedPD's dual update with eta = Q eta_SCAFFOLD, then centred; and mean c_i^{r+1} = "
        "(x_0^r - x_0^{r+1})/(Q eta), so models alone need to travel.",
        check_d5,
        Fault("dual step of a hundredth more", "both relations", {"scale": Fraction(101, 100)}),
        Fault("the other sign, every n", "VRL-SGD's rule for c_i - c, every n", {"sign": -1}),
        assumes=("full participation",),
    ),
    claim(
        "FEDPD-D6",
        "equivalence",
        "SCAFFOLD, VRL-SGD and splittings",
        "SCAFFOLD with full participation is VRL-SGD; FedPD with exact solves is Douglas-Rachford; FedSplit is Peaceman-Rachford.",
        check_d6,
        Fault("Delta_i = c - c_i", "SCAFFOLD is VRL-SGD", {"sign": -1}),
        Fault("Delta_i = c - c_i, every n", "SCAFFOLD is VRL-SGD, gradient steps", {"sign": -1}),
        Fault("no over-relaxation", "FedSplit is Peaceman-Rachford", {"relaxation": 1}),
        assumes=("full participation",),
    ),
    claim(
        "FEDPD-EQ3",
        "equivalence",
        "Section IV-C",
        "SCAFFOLD's c - c_i plays the role of FedPD's lam_i.",
        check_eq3,
        Fault("dual step of a hundredth more", "dual update", {"scale": Fraction(101, 100)}),
        assumes=("full participation",),
    ),
    claim(
        "FEDPD-Q9",
        "ordering",
        "Sections I and IV-C",
        "SCAFFOLD sends c_i besides the model and doubles the communication; FedPD attains the same convergence rate without.",
        check_q9,
        Fault("FedPD counted with two vectors", "traffic as described", {"extra": 1}),
        assumes=(
            A1,
            A2,
            "full participation",
            "c_i^0 = 0 (SCAFFOLD)",
            "lam_i^0 = -grad f_i(x^0), eta = Q eta_SCAFFOLD, p = 0 (FedPD)",
        ),
        setting=lambda ctx: Setting("random quadratics", "8 clients in 5 dimensions", False),
    ),
]

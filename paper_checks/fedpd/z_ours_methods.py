"""Ours: means of FedPD's rounds (D3), SCAFFOLD's duals (D5), splittings (D6), and where methods end on quadratics (D12)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedAvg, FedPD, FedProx, FedSplit
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import Claim, Clause, Equivalence, Limit, PlayedStates, Theorem, bar, state
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, vector_of
from fedtheory.core.arrays import average, spread
from paper_checks.averaged_quadratics import MEAN_OF_CLIENTS, ends_there, local_steps_of, one_quadratic
from paper_checks.fedpd.notation import DERIVED, derived
from paper_checks.fedpd.played import HalfDualStep, fractions
from paper_checks.fedpd.rounds import begin_exact
from paper_checks.fedpd.section_2_2_fedavg_diverges import fedavg_ends
from paper_checks.fedpd.section_3_fedpd import play_any_answers
from paper_checks.fedpd.section_4_3_other_algorithms import (
    FEDPROX_ENDS,
    LONGER,
    SCAFFOLD_DUALS,
    SCAFFOLD_TELLS,
    WEIGHTS_OF_MINIMISER,
    of_control_variates,
)
from paper_checks.fedpd.z_ours_theorem_1 import corrected_theorem_one
from paper_checks.given_gradients import SCRIPT
from paper_checks.steps import Step
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics

CLAIMS: list[Claim] = []


# ---- D3: means of rounds ---------------------------------------------------------------------------------------------
def means(algorithm: Any = FedPD) -> Theorem:
    """Means of duals and copies after a round, whichever way the coin falls."""
    return Theorem(
        name="means of FedPD's rounds",
        region="0 < eta, 0 < p < 1",
        states=PlayedStates(partial(play_any_answers, algorithm=algorithm)),
        rounds={"r": 0},
        quantities={
            "duals": "norm2(bar(lam_i_next) - (bar(x_i_next) - bar(x_i))/eta)",
            "shared": "norm2(bar(shared) - (2*bar(x_i_next) - bar(x_i)))",
            "kept": "norm2(bar(kept) - (2*bar(x_i_next) - bar(x_i)))",
        },
        claim=("duals[r] == 0", "shared[r] == 0", "kept[r] == 0"),
        proof="""
          mean:   claim 1 by identity
          copies: claim 2 by identity
          own:    claim 3 by identity
        """,
    )


CLAIMS += [
    state(
        "FEDPD-D3",
        DERIVED,
        "structure of Algorithm 2",
        "For any local solver, mean lam_i^{r+1} = (xbar^{r+1} - xbar^r)/eta and mean x_{0,i}^{r+1} = 2 xbar^{r+1} - xbar^r, whether or "
        "not the round communicates.",
        means(),
        kind="identity",
        assumptions=("r >= 1",),
        wrong={"half a dual step": means(HalfDualStep)},
    )
]


# ---- D5: SCAFFOLD's duals --------------------------------------------------------------------------------------------
CLAIMS += [
    derived(
        "FEDPD-D5",
        "SCAFFOLD with full participation",
        "lam_i := c - c_i obeys FedPD's dual update with eta = Q eta_SCAFFOLD, then centred; and mean c_i^{r+1} = "
        "(x_0^r - x_0^{r+1})/(Q eta), so models alone need to travel.",
        [Step("dual update", SCAFFOLD_DUALS, wrong=LONGER), Step("the models tell c", SCAFFOLD_TELLS)],
        kind="equivalence",
        assumptions=("full participation",),
    )
]


# ---- D6: splittings --------------------------------------------------------------------------------------------------
SCAFFOLD_IS_VRL = of_control_variates("models", "drift", "local")


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


CLAIMS += [
    derived(
        "FEDPD-D6",
        "SCAFFOLD, VRL-SGD and splittings",
        "SCAFFOLD with full participation is VRL-SGD; FedPD with exact solves is Douglas-Rachford; FedSplit is Peaceman-Rachford.",
        [
            Step(
                "SCAFFOLD is VRL-SGD",
                SCAFFOLD_IS_VRL,
                wrong={"Delta_i = c - c_i": of_control_variates("models", "drift", "local", sign=-1)},
            ),
            Step("FedPD is Douglas-Rachford", FEDPD_IS_DOUGLAS_RACHFORD),
            Step(
                "FedSplit is Peaceman-Rachford",
                fedsplit_is_peaceman_rachford(2),
                wrong={"no over-relaxation": fedsplit_is_peaceman_rachford(1)},
            ),
        ],
        kind="equivalence",
        assumptions=("full participation",),
    )
]


# ---- D12: limits on quadratics ---------------------------------------------------------------------------------------
def play_solve(world: World, p: Parameters, last: int, penalty: Any = 1) -> list[State]:
    """What FedProx's own round makes of one client's exact solve, from any model; h and b are its a_i and c_i."""
    b, x, states = world.vector("b"), world.vector("w"), []
    for _ in range(last + 1):
        before = PointState(array_of_vectors(x))
        y = vector_of(FedProx(p.rho * penalty).round(one_quadratic(p.h, b), before, None, SCRIPT).x, x)
        states.append(State(w=x, y=y, b=b, end=b + (x - b) * p.Q))
        x = y
    return states


def solve_of_fedprox(penalty: Any = 1) -> Theorem:
    """An exact solve of FedProx leaves Q = s of the way to b."""
    return Theorem(
        "0 < h, 0 < rho, 0 < Q",
        ("off[t] == 0", "Q**2 < 1"),
        """
          parts: off[t] == (s - Q)**2*all[t]   by identity
          off:   claim 1                       by combine parts, ((Q - s)*all[t])*share
          small: s**2 < 1                      by combine
          size:  claim 2                       by combine small, (Q + s)*share
        """,
        name="an exact solve of FedProx",
        states=PlayedStates(partial(play_solve, penalty=penalty)),
        rounds={"t": 0},
        where={"s": "rho/(rho + h)"},
        quantities={"off": "norm2(y - end)", "all": "norm2(w - b)"},
        given={"share": "Q == s"},
    )


def fedavg_of(p: Any, local: Any) -> FedAvg:
    """FedAvg with these answers."""
    return FedAvg(local)


def fedprox_of(p: Any, local: Any) -> FedProx:
    """FedProx with these answers."""
    return FedProx(p.rho, local)


FEDAVG_ENDS_THERE = replace(ends_there("-1 < P < 1", fedavg_of), name="FedAvg's rounds")
FEDPROX_ENDS_THERE = replace(ends_there("0 < rho, -1 < P < 1", fedprox_of), name="FedProx's rounds")


def play_around(world: World, p: Parameters, last: int, start: bool = False) -> list[State]:
    """FedPD's own rounds with exact solves, as in D1, on f_i that are mu-strongly convex and L-smooth, beside the minimiser x* of their mean."""
    f, star, own = world.function(p.L, p.mu, client=True, name="f_i"), world.vector("x*"), world.vector("g_i", True)
    world.at(f, star + own * 0, "f_i(x*)", g=own - bar(own))
    played = begin_exact(world, p, last, f, start)
    for now in played:
        now.x_star = star
    return played


@cache
def sums_around(strength: Any = 4) -> Theorem:
    """D1 on these functions."""
    own = corrected_theorem_one(strength)
    return replace(
        own,
        name="Theorem 1 with exact solves on strongly convex functions",
        region="0 < mu < L, 0 < eta < 1/(2*L)",
        states=PlayedStates(
            play_around, partial(play_around, start=True), lambda w, p: play_around(w, p, 0, start=True)[0]
        ),
    )


@cache
def fedpd_ends_at_the_minimiser(strength: Any = 4) -> Theorem:
    """||x_0^t - x*||^2 -> 0, by D1."""
    own = sums_around(strength)
    return replace(
        own,
        name="FedPD's models",
        rests={"sums": own},
        quantities={name: own.quantities[name] for name in ("f", "grad2")}
        | {"X": "norm2(x - x_star)", "low": "mean(f_i(x_star))"},
        where={name: own.where[name] for name in ("u", "M", "K")},
        claim="X[t] -> 0 as t",
        proof="""
      pos:   0 <= grad2[t]                               by derivation
      least: low[t] <= f[t]                              by derivation
      same:  low[t+1] == low[t]                          by identity
      lows:  low[T] == low[0]                            by induction T: base combine same(t=0); step combine ih, same(t=T)
      bound: sum(grad2[t], t, 1, T) <= K*(f[0] - low[0]) by combine 1*sums, K*least(t=T), (-K)*lows
      flat:  grad2[t] -> 0 as t                          by series pos, bound
      far:   0 <= X[t]                                   by derivation
      near:  X[t] <= grad2[t]/mu**2                      by derivation
      done:  claim                                       by squeeze far, near, flat
    """,
    )


def three_parabolas() -> Any:
    """Curvatures 1, 5 and 1/2, about 2, -1 and 4."""
    return scalar_quadratics(fractions(("1", "5", "1/2")), fractions(("2", "-1", "4")))


def _of_three(method: str, options: str) -> Limit:
    """The minimiser is the limit on three clients."""
    return Limit(method, options, problem=three_parabolas)


D12 = {
    "FedProx": FEDPROX_ENDS,
    "FedAvg": fedavg_ends(),
    "FedPD, three clients": _of_three("fedpd", "eta = 3/50, init_dual = grad, exact, p = 0"),
}
CLAIMS += [
    derived(
        "FEDPD-D12",
        "limits on scalar quadratics",
        (
            Clause(
                "On (a_i/2)(x - c_i)^2 an exact solve of FedProx leads from w to c_i + q_i (w - c_i), q_i = rho/(rho + a_i),",
                ("an exact solve of FedProx",),
            ),
            Clause("as Q local steps of FedAvg do with q_i = (1 - eta a_i)^Q;", ("Q local steps of FedAvg",)),
            Clause(
                "their mean over all clients is P w + k, k the mean of (1 - q_i) c_i and P that of q_i, inside (-1, 1);",
                ("the mean over clients",),
            ),
            Clause(
                "with this mean rounds of FedProx and FedAvg end at k/(1 - P) = sum w_i c_i/sum w_i, w_i = 1 - q_i;",
                ("FedProx's rounds", "FedAvg's rounds"),
            ),
            Clause("FedPD ends at x*.", ("FedPD's models",)),
        ),
        [
            Step(
                "an exact solve of FedProx",
                solve_of_fedprox(),
                wrong={"half the penalty": solve_of_fedprox(Fraction(1, 2))},
            ),
            Step(
                "Q local steps of FedAvg",
                local_steps_of(FedAvg),
                wrong={"two local steps for one": local_steps_of(FedAvg, 2)},
            ),
            Step("the mean over clients", MEAN_OF_CLIENTS),
            Step("FedProx's rounds", FEDPROX_ENDS_THERE),
            Step("FedAvg's rounds", FEDAVG_ENDS_THERE),
            Step(
                "FedPD's models",
                fedpd_ends_at_the_minimiser(),
                wrong={"constant of the proof cut by a hundredth": fedpd_ends_at_the_minimiser("99/25")},
            ),
            *(
                Step(f"{clients} by another engine", statement, "reading", wrong=wrong)
                for clients, (statement, wrong) in {
                    "two clients of FedProx": (
                        D12["FedProx"],
                        {"FedProx with the weights a_i of x*": WEIGHTS_OF_MINIMISER},
                    ),
                    "two clients of FedAvg": (D12["FedAvg"], {"FedAvg with a step more": fedavg_ends("Q + 1")}),
                    "three clients of FedPD": (
                        D12["FedPD, three clients"],
                        {"FedAvg in FedPD's place": _of_three("fedavg", "lr = 1/20, steps = 2")},
                    ),
                }.items()
            ),
        ],
        kind="identity",
        assumptions=(
            "a_i > 0",
            "exact local solves, rho > 0 (FedProx)",
            "eta a_i < 2, Q >= 1 (FedAvg)",
            "exact local solves, 0 < mu <= a_i <= L, mu < L, u < 1/2, p = 0, lam_i^0 = -grad f_i(x^0) (FedPD)",
        ),
        readings=(
            "In theorems w is a model, h, b (or solution) and Q are a client's a_i, c_i and q_i, Q = s for FedProx and q^K for FedAvg with K "
            "local steps, which are Q above; lr is eta and n + 1 the number of clients.",
            "FedPD's theorem is one of all mu-strongly convex and L-smooth f_i, and x* is the minimiser of their mean, here sum a_i c_i/sum a_i.",
        ),
    )
]

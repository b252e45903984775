"""Identities of FedPD's rounds and of FedAvg's local steps, for every round, number of clients and dimension, as theorems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedAvg, FedPD, Scaffold, VrlSgd
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.scaffold import ScaffoldState
from fedtheory.algorithms.vrl_sgd import VrlState
from fedtheory.claims import PlayedStates, Theorem, bar
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, unasked, vector_of
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import GradientSteps, Memoryless
from fedtheory.local.subproblem import Subproblem
from paper_checks.fedpd import rounds
from paper_checks.fedpd.skipped_rounds import own_round

# ---- means (D3), and what is sent (Q4) ----------------------------------------------------------------------------------------------------------


def play_any_answers(world: World, p: Parameters, last: int, algorithm: Any = FedPD) -> list[Any]:
    """Rounds whose local solver may answer anything; the mean of the copies is that of x_i + eta lam_i, as after each round."""
    x_i, lam_i, copies = (world.vector(name, True) for name in ("x_i", "lam_i", "copies"))
    copies = copies - bar(copies) + bar(x_i + lam_i * p.eta)
    states: list[Any] = [State(x=bar(copies), x_i=x_i, x0_i=copies, lam_i=lam_i)]
    for k in range(1, max(last, 1) + 1):
        old, answers = states[-1], world.vector(f"x_i {k}", True)
        shared, kept = (own_round(world, p, old, answers, skips, algorithm) for skips in (False, True))
        old.x_i_next, old.lam_i_next = answers, shared["lam_i"]
        old.shared, old.kept = shared["x0_i"], kept["x0_i"]
        states.append([(1 - p.p, State(**shared)), (p.p, State(**kept))] if k == last else State(**shared))
    return states[: last + 1]


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


def exchanged(algorithm: Any = FedPD) -> Theorem:
    """After a communication copies are the mean of x_i + eta lam_i, one vector of each client; after none they are a client's own."""
    return Theorem(
        name="what FedPD exchanges",
        region="0 < eta, 0 < p < 1",
        states=PlayedStates(partial(play_any_answers, algorithm=algorithm)),
        rounds={"r": 0},
        quantities={
            "down": "mean(norm2(shared - bar(x_i_next + eta*lam_i_next)))",
            "own": "mean(norm2(kept - (x_i_next + eta*lam_i_next)))",
        },
        claim=("down[r] == 0", "own[r] == 0"),
        proof="""
          all:  claim 1 by identity
          kept: claim 2 by identity
        """,
    )


# ---- the first round (D13) -------------------------------------------------------------------------------------------------

FIRST_ROUND = Theorem(
    name="FedPD's first round",
    region="0 < L, 0 < eta < 1/L",
    states=rounds.EXACT,
    rounds={},
    quantities={
        "clients": "mean(norm2(x_i_next - x))",
        "server": "norm2(x_next - (x - eta*bar(grad(f_i, x))))",
    },
    claim=("clients[0] <= 0", "server[0] <= 0"),
    proof="""
      near:  (1 - L**2*eta**2)*clients[0] <= 0 by derivation
      still: claim 1                           by combine (1/(1 - L**2*eta**2))*near
      twice: server[0] <= 4*clients[0]         by derivation
      step:  claim 2                           by combine twice, 4*still
    """,
)

# ---- FedAvg's local steps (EQ6) ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnyGradients:
    """Clients whose gradients are these vectors, whatever the point: of any functions or samples."""

    n: Any
    g: Any

    def grad(self, x: Any) -> Any:
        """They are these."""
        return self.g

    def take(self, clients: None) -> AnyGradients:
        """All take part."""
        return self


def local_steps(world: World, p: Parameters, last: int, state: State) -> list[State]:
    """Local steps along any vectors g, by the library's solver, and the server's model then, by FedAvg's own round."""
    states = [state]
    for k in range(1, last + 1):
        old, g = states[-1], world.vector(f"g {k}", True)
        clients: Any = AnyGradients(unasked(g).n, array_of_vectors(g))
        y_i, _ = GradientSteps(1, p.eta)(Subproblem(clients), array_of_vectors(old.y_i), Key(0, 0), None)
        states.append(State(x=old.x, y_i=vector_of(y_i, g), sum_i=old.sum_i + g))
    for reached in states:
        reached.x_next = world.round_of(FedAvg, PointState, {"x": reached.x}, reached.y_i)["x"]
    return states


def play_local(world: World, p: Parameters, last: int) -> list[State]:
    """Any models, and any sums of gradients."""
    return local_steps(
        world, p, last, State(x=world.vector("x"), y_i=world.vector("y_i", True), sum_i=world.vector("sum_i", True))
    )


def start_local(world: World, p: Parameters, last: int) -> list[State]:
    """All start from the server's model."""
    x, zero = world.vector("x"), world.vector("any", True) * 0
    return local_steps(world, p, last, State(x=x, y_i=x + zero, sum_i=zero))


LINEAR_STEPS = Theorem(
    name="FedAvg's local steps",
    region="0 < eta",
    states=PlayedStates(play_local, start_local, lambda world, p: start_local(world, p, 0)[0]),
    rounds={"q": 0, "Q": 0},
    quantities={
        "local": "mean(norm2(y_i - (x - eta*sum_i)))",
        "server": "norm2(x_next - (x - eta*bar(sum_i)))",
    },
    claim=("local[Q] == 0", "server[Q] <= 0"),
    proof="""
      first: local[0] == 0             by identity
      step:  local[q+1] == local[q]    by identity
      all:   claim 1                   by induction Q: base combine first; step combine ih, step(q=Q)
      mean:  server[q] <= local[q]     by derivation
      done:  claim 2                   by combine mean(q=Q), all
    """,
)


def with_step(share: Any) -> Theorem:
    """The same of steps that are ``share`` as long."""

    def shorter(world: World, p: Parameters, last: int) -> list[State]:
        return play_local(world, State(eta=p.eta * share), last)

    def start(world: World, p: Parameters, last: int) -> list[State]:
        return start_local(world, State(eta=p.eta * share), last)

    return replace(LINEAR_STEPS, states=PlayedStates(shorter, start, lambda world, p: start(world, p, 0)[0]))


# ---- SCAFFOLD's control variates (D5, EQ3, D6) ---------------------------------------------------------------------------------


class CountedSteps(Memoryless):
    """A local solver of some steps of size lr that returns given answers, and keeps the linear term of its subproblem."""

    def __init__(self, answers: Any, lr: Any) -> None:
        self.answers, self.lr, self.steps = answers, lr, 1
        self.asked: Any = None

    def __call__(self, sub: Any, start: Any, key: Any, memory: None) -> tuple[Any, None]:
        """They are these."""
        self.asked = sub.a
        return self.answers, None


def play_control_variates(world: World, p: Parameters, last: int, sign: int = 1, share: Any = 1) -> list[State]:
    """SCAFFOLD, VRL-SGD with Delta_i = sign (c_i - c), and a dual step of FedPD with eta = share K lr from lam_i = c - c_i, by their own rounds.

    Local solvers may answer anything; c is the mean of the c_i.
    """
    solvers: list[CountedSteps] = []

    def play(kind: Any, state: Any, before: Mapping[str, Any], answers: Any, **more: Any) -> dict[str, Any]:
        def method(local: Any) -> Any:
            solvers.append(CountedSteps(local.answers, p.lr))
            made = kind(local=solvers[-1], **more)
            solvers[-1].steps = p.K  # which constructors ask to be a number
            return made

        return world.round_of(method, state, before, answers)

    def state_of_fedpd(**fields: Any) -> FedPDState:
        return FedPDState(**fields, memory=None)

    x, c_i = world.vector("x"), world.vector("c_i", True)
    states = [State(x=x, c_i=c_i, c=bar(c_i), v=x, delta_i=(c_i - bar(c_i)) * sign)]
    for k in range(1, max(last, 1) + 1):
        old, answers = states[-1], world.vector(f"y_i {k}", True)
        own = play(Scaffold, ScaffoldState, {"x": old.x, "c": old.c, "c_i": old.c_i}, answers)
        other = play(VrlSgd, VrlState, {"x": old.v, "delta_i": old.delta_i}, answers)
        dual = {"x": old.x, "x_i": answers, "x0_i": old.x + old.c_i * 0, "lam_i": old.c - old.c_i}
        moved = play(FedPD, state_of_fedpd, dual, answers, eta=share * p.K * p.lr)
        old.asked, old.asked_vrl, old.asked_fedpd = (vector_of(solver.asked, answers) for solver in solvers[-3:])
        old.x_next, old.c_next, old.c_i_next, old.lam_next = own["x"], own["c"], own["c_i"], moved["lam_i"]
        states.append(State(**own, v=other["x"], delta_i=other["delta_i"]))
    return states[: last + 1]


def start_control_variates(world: World, p: Parameters) -> State:
    """c_i^0 = 0."""
    x, zero = world.vector("x^0"), world.vector("any", True) * 0
    return State(x=x, c_i=zero, c=bar(zero), v=x, delta_i=zero)


def of_control_variates(*names: str, sign: int = 1, share: Any = 1) -> Theorem:
    """Quantities of SCAFFOLD's rounds are 0: the dual's difference to FedPD's own, centred, and so on."""
    quantities = {
        "dual": "mean(norm2(c_next - c_i_next - (lam_next - bar(lam_next))))",
        "term": "mean(norm2(asked - asked_fedpd))",
        "told": "norm2(bar(c_i_next) - (x - x_next)/(K*lr))",
        "models": "norm2(x - v)",
        "drift": "mean(norm2(delta_i - (c_i - c)))",
        "local": "mean(norm2(asked - asked_vrl))",
    }
    return Theorem(
        name="SCAFFOLD's rounds",
        region="0 < lr, 1 <= K",
        states=PlayedStates(partial(play_control_variates, sign=sign, share=share), begins=start_control_variates),
        rounds={"r": 0},
        quantities={name: quantities[name] for name in names},
        claim=tuple(f"{name}[r] == 0" for name in names),
        proof="\n".join(f"{name}: claim {k} by identity" for k, name in enumerate(names, start=1)),
    )


#: c - c_i moves as FedPD's dual, then centred; it is the linear term of local work, as FedPD's dual is; and models alone tell c
SCAFFOLD_DUALS = of_control_variates("dual", "term")
SCAFFOLD_TELLS = of_control_variates("told")
LONGER_DUALS = of_control_variates("dual", "term", share=Fraction(101, 100))
SCAFFOLD_IS_VRL = of_control_variates("models", "drift", "local")

"""FedPD's own rounds as states of theorems: `FedPD.round` is run on vectors, with the clients' answers and their errors.

f_i is L-smooth and need not be convex (A1). Of a state it is known that lam_i = -grad f_i(x_i) + e_i, ||e_i||^2 <= eps on average over clients, which
(26) makes of every round, and a start with lam_i^0 = -grad f_i(x^0) has, too; x and x_i are any. All clients take part.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedPD
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims import PlayedStates, bar, norm2
from fedtheory.claims.statements.worlds import Parameters, World


# ---- Rounds with a coin ----------------------------------------------------------------------------------------------
def always(round: int) -> float:
    """A coin that skips."""
    return 1


def round_with_coin(
    world: World, p: Any, state: State, answers: Any, skips: bool, algorithm: Any = FedPD
) -> dict[str, Any]:
    """The fields of the state that `FedPD.round` makes of another with this coin, where clients answer so."""
    before = {name: getattr(state, name) for name in ("x", "x_i", "x0_i", "lam_i")}

    coin = always if skips else 0
    made = partial(FedPDState, memory=None)
    return world.round_of(lambda local: algorithm(p.eta, local, coin), made, before, answers)


# ---- Rounds that all communicate -------------------------------------------------------------------------------------
def own_round(world: World, p: Any, state: State, answers: Any) -> dict[str, Any]:
    """The same where all communicate, and have communicated before: a client's copy is the server's model."""
    copies = State(x=state.x, x_i=state.x_i, x0_i=state.x + state.x_i * 0, lam_i=state.lam_i)
    after = round_with_coin(world, p, copies, answers, False)
    return {name: after[name] for name in ("x", "x_i", "lam_i")}


def error(world: World, p: Parameters, name: str, exact: bool) -> Any:
    """The error of local solves, of which the mean square is at most eps."""
    e = world.vector(f"e{name}", True)
    if exact:
        return e * 0
    world.assume(f"solved to eps {name}", norm2(e) - p.eps)
    return e


def play(world: World, p: Parameters, last: int, *, exact: bool) -> list[State]:
    """Any state, and the ``last`` ones after it; of each the models of the next."""
    f = world.function(p.L, -p.L, client=True, name="f_i")
    x, x_i, e = world.vector("x"), world.vector("x_i", True), error(world, p, "0", exact)
    slope, _ = world.at(f, x_i, "f_i 0")
    return play_on(world, p, last, State(x=x, x_i=x_i, lam_i=e - slope, e_i=e, f_i=f), exact)


def play_on(world: World, p: Parameters, last: int, state: State, exact: bool) -> list[State]:
    """A state, and the ``last`` ones after it."""
    states, f = [state], state.f_i
    for k in range(1, max(last, 1) + 1):
        old, slope, e = states[-1], world.vector(f"grad f_i {k}", True), error(world, p, f"{k}", exact)
        answers = old.x + (e - slope - old.lam_i) * p.eta
        world.at(f, answers, f"f_i {k}", g=slope)
        new = State(**own_round(world, p, old, answers), e_i=e, f_i=f)
        old.x_next, old.x_i_next = new.x, new.x_i
        states.append(new)
    return states[: last + 1]


def start(world: World, p: Parameters, last: int, *, exact: bool) -> list[State]:
    """x_i = x_0 = x^0 and lam_i = -grad f_i(x^0), up to an error as in a local solve."""
    f = world.function(p.L, -p.L, client=True, name="f_i")
    slope, x = world.vector("grad f_i(x^0)", True), world.vector("x0")
    world.at(f, x + slope * 0, "f_i 0", g=slope)
    e = error(world, p, "0", exact)
    return play_on(world, p, last, State(x=x, x_i=x + slope * 0, lam_i=e - slope, e_i=e, f_i=f), exact)


def begin_exact(world: World, p: Parameters, last: int, f: Any, started: bool) -> list[State]:
    """Rounds with exact local solves on functions that are given: after any state, or from a start with lam_i^0 = -grad f_i(x^0)."""
    slope, x = world.vector("grad f_i 0", True), world.vector("x")
    x_i = x + slope * 0 if started else world.vector("x_i", True)
    world.at(f, x_i, "f_i 0", g=slope)
    return play_on(world, p, last, State(x=x, x_i=x_i, lam_i=slope * -1, e_i=slope * 0, f_i=f), True)


def first(world: World, p: Parameters, exact: bool) -> State:
    """The state at the start."""
    return start(world, p, 0, exact=exact)[0]


def play_exact(world: World, p: Parameters, last: int) -> list[State]:
    """Rounds with exact local solves."""
    return play(world, p, last, exact=True)


def play_inexact(world: World, p: Parameters, last: int) -> list[State]:
    """Rounds with local solves up to eps; f is at least a number, at x_0 and after a gradient step from there (A2)."""
    states, low = play(world, p, last, exact=False), world.value("inf f")
    state = states[0]  # of any round; the others' are theirs in lines that speak of them
    slope, value = world.at(state.f_i, state.x + state.x_i * 0, "f_i(x_0)")
    _, below = world.at(state.f_i, state.x - bar(slope) / p.L + state.x_i * 0, "f_i(x_0 - grad f(x_0)/L)")
    world.assume("bounded below", low - value)
    world.assume("bounded below after a step", low - below)
    for state in states:
        state.low = low
    return states


EXACT, INEXACT = (
    PlayedStates(made, partial(start, exact=exact), partial(first, exact=exact))
    for made, exact in ((play_exact, True), (play_inexact, False))
)

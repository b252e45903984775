"""Theorems for every round against what no engine says: runs with several clients, what is given, what is cited, what holds of nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from theorems import GRADIENT_DESCENT

from fedtheory.claims import MethodStates, PlayedStates, Theorem, norm2
from fedtheory.claims.claim import Part
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds, replay_theorem
from fedtheory.claims.statements.theorems.on_quadratics import NUMBERS, draw_runs, require_run
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, Guarded, refute_theorem, replay_claim
from fedtheory.core.arrays import average
from fedtheory.core.errors import EnginesDisagree, InvalidInput


@dataclass(frozen=True)
class _State:
    x: Any


@dataclass(frozen=True)
class _ReadsN:
    """x+ = x - lr n mean grad f_i(x), where n is read in a way that no engine sees."""

    lr: Any

    def init(self, problem, x0):
        return _State(x0)

    def solution_state(self, problem, x):
        return _State(x)

    def round(self, problem, state, clients, key):
        g = problem.grad(state.x)
        return _State(state.x - self.lr * np.asarray(g).shape[-2] * average(g))


CONTRACTS = Theorem(
    region="0 < mu < L, 0 < lr <= 1/L",
    states=MethodStates(_ReadsN, "", "L, mu"),
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)"},
    claim="d[T] <= (1 - mu*lr)**(2*T)*d[0]",
    proof="""
      step: d[t+1] <= (1 - lr*mu)**2*d[t]   by derivation
      done: claim                           by contraction of step
    """,
)


def parts_of(theorem: Theorem) -> list[Part]:
    return [finding for finding in find_of_rounds(theorem, name="it") if isinstance(finding, Part)]


def test_a_round_that_reads_the_number_of_clients_is_not_proved_for_every_number() -> None:
    with pytest.raises(EnginesDisagree):
        parts_of(CONTRACTS)
    against = refute_theorem(CONTRACTS)
    assert isinstance(against, BrokenClaim)
    assert against.instance.clients > 1
    assert replay_claim(CONTRACTS, BrokenClaim.read(against.store())) == against.gap > 0
    assert replay_claim(CONTRACTS, against, floats=True) == pytest.approx(float(against.gap))


def test_a_run_with_several_clients_refutes_and_is_replayed() -> None:
    """A false claim on a length: no proof keeps runs from being tried."""
    (part,) = parts_of(replace(CONTRACTS, claim="sqrt(d[t+1]) <= (1 - mu*lr)*sqrt(d[t])", rounds={"t": 0}, proof=""))
    assert part.holds is False
    assert part.counterexample.replay.violated
    assert "clients" in part.text


def test_a_proved_theorem_names_the_numbers_of_clients() -> None:
    (part,) = parts_of(GRADIENT_DESCENT)
    assert part.holds
    assert part.text.startswith("a proof of 4 lines")
    assert "held against runs with n = 1, 2, 3, 5, 8, 30" in part.text


def test_runs_are_of_the_class_and_stationary_at_the_origin() -> None:
    states = MethodStates("gd", "lr = 1/L", "L, mu = -L")
    runs = list(draw_runs(states, {"L": Fraction(3)}, np.random.default_rng(1)))
    assert tuple(run.clients for run in runs) == NUMBERS
    for run in runs:
        require_run(states, run)
    with pytest.raises(InvalidInput, match="stationary"):
        require_run(states, replace(runs[2], centre=tuple((a + 1, b) for a, b in runs[2].centre)))
    with pytest.raises(InvalidInput, match="between mu and L"):
        require_run(states, replace(runs[2], curvature=tuple((a + 9, b) for a, b in runs[2].curvature)))


SOME_ROUND = Theorem(
    region="0 < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu = -L"),
    rounds={"t": 0, "T": 1},
    quantities={"F": "f(x)", "S": "norm2(grad(f, x))"},
    claim="exists t in 0..T: S[t] <= 2*L*(F[0] - F[T+1])/(T + 1)",
)


def test_that_there_is_a_round_is_refuted_by_an_instance_where_no_round_is_one() -> None:
    """Gradient descent on smooth functions: the textbook's factor is 2, and with 1 all rounds from 0 to 1 exceed it on an instance."""
    assert isinstance(refute_theorem(SOME_ROUND), Guarded)
    wrong = replace(SOME_ROUND, claim=SOME_ROUND.claims[0].replace("2*L", "L"))
    (part,) = parts_of(wrong)
    assert part.holds is False
    assert part.counterexample.replay.violated


def test_what_is_false_as_it_is_cited_is_refuted() -> None:
    wrong = replace(
        GRADIENT_DESCENT,
        claim="gap[N] <= L*dist2[0]/(4*N + 3)",
        proof="done: claim by cite Nesterov, Introductory lectures (2004)",
        rounds={"N": 1},
    )
    (part,) = parts_of(wrong)
    assert part.holds is False
    assert "false as it is cited: Nesterov" in part.text


def any_errors(world: Any, p: Any, last: int) -> list[Any]:
    """x+ = x/2 + e with any e."""
    x, states = world.vector("x"), []
    for k in range(last + 1):
        e = world.vector(f"e{k}")
        states.append(SimpleNamespace(x=x, e=e))
        x = x / 2 + e
    return states


SMALL_ERRORS = Theorem(
    "0 < s",
    "X[T+1] <= X[T]",
    states=PlayedStates(any_errors, start=any_errors),
    rounds={"T": 0, "t": 0},
    quantities={"X": "norm2(x)", "E": "norm2(e)"},
    given={"small": "E[t] <= X[t]/4"},
)


def test_what_is_given_of_rounds_takes_part_in_the_search_for_instances() -> None:
    """||x/2 + e|| <= ||x|| where ||e|| <= ||x||/2, and no more than that."""
    assert isinstance(refute_theorem(SMALL_ERRORS), Guarded)
    assert refute_theorem(SMALL_ERRORS).points
    against = refute_theorem(replace(SMALL_ERRORS, given={"small": "E[t] <= X[t]*9/32"}))
    assert isinstance(against, BrokenClaim)
    with pytest.raises(InvalidInput, match="does not meet small"):
        replay_claim(SMALL_ERRORS, against)


@pytest.mark.parametrize(
    ("functions", "claim", "why"),
    [
        ("L, mu = 0", "gap[N] <= 98/100*L*d[0]/(4*N + 2)", "least where it is stationary"),
        ("L, mu = -L", "exists t in 0..N: g[t] <= 98/100*L*gap[0]/(N + 1)", "Drori and Shamir"),
    ],
)
def test_a_lower_bound_holds_in_all_rounds_of_an_instance(functions: str, claim: str, why: str) -> None:
    """Gradient descent; the second claim is false by a factor of two at the least, as on a quadratic."""
    theorem = Theorem(
        "0 < L",
        claim,
        states=MethodStates("gd", "lr = 1/L", functions),
        rounds={"N": 1, "t": 0},
        quantities={"gap": "f(x) - f(x_star)", "d": "norm2(x - x_star)", "g": "norm2(grad(f, x))"},
        given={"below": "0 <= gap[t]"},
    )
    theorem = replace(theorem, quantities={k: v for k, v in theorem.quantities.items() if f"{k}[" in f"{claim} gap["})
    broken = refute_theorem(theorem)
    assert isinstance(broken, BrokenClaim)
    assert any(why in one.text for one in replay_theorem(broken.store(), theorem=theorem).assumptions)


def doubled(world: Any, p: Any, last: int) -> list[Any]:
    """x+ = 2 x."""
    x, states = world.vector("x"), []
    for _ in range(last + 1):
        states.append(SimpleNamespace(x=x))
        x = x * 2
    return states


def test_what_is_given_of_all_rounds_is_asked_of_the_later_ones_too() -> None:
    """Where all of x, 2 x, 4 x, ... are below one, x is zero; the first two alone are below one for x = 1/2."""
    states = PlayedStates(doubled, start=doubled)
    theorem = Theorem("0 < s", "X[0] <= s/9", states=states, rounds={"t": 0}, quantities={"X": "norm2(x)"})
    assert isinstance(refute_theorem(theorem), BrokenClaim)
    found = refute_theorem(replace(theorem, given={"small": "X[t] <= s"}))
    assert isinstance(found, Guarded)
    assert "in the rounds after those that are played" in found.suspected[0]


def bounded_and_doubled(world: Any, p: Any, last: int) -> list[Any]:
    """x+ = 2 x, where the function assumes of every round that x is at most one long."""
    states = doubled(world, p, last)
    for k, state in enumerate(states):
        world.assume(f"bounded {k}", norm2(state.x) - 1)
    return states


def test_what_a_function_assumes_of_later_rounds_is_asked_too() -> None:
    """Bounded in all rounds, x is zero; the rounds of an instance alone allow more."""
    theorem = Theorem(
        "0 < s",
        "X[0] <= s/9",
        states=PlayedStates(bounded_and_doubled, start=bounded_and_doubled),
        quantities={"X": "norm2(x)"},
        assumed={"bounded": "x is at most one long"},
    )
    found = refute_theorem(theorem)
    assert isinstance(found, Guarded)
    assert "whether bounded 1 holds" in found.suspected[0]


def steps_of_sequence(world: Any, p: Any, last: int) -> list[Any]:
    """x_{n+1} = x_n/t_n."""
    x, numbers = world.vector("x"), vars(p)
    states = [SimpleNamespace(x=x)]
    for k in range(last):
        x = x / numbers[f"t_{k}"]
        states.append(SimpleNamespace(x=x))
    return states


def test_numbers_of_a_sequence_are_those_that_hypotheses_say() -> None:
    """t_n = 1, 2, 3, ...: X_3 = X_0/36."""
    theorem = Theorem(
        "0 < s",
        "X[3] <= X[0]/36",
        states=PlayedStates(steps_of_sequence, start=steps_of_sequence),
        rounds={"n": 0},
        sequences={"t": "1"},
        quantities={"X": "norm2(x)"},
        given={"first": "t[0] == 1", "next": "t[n+1] == t[n] + 1"},
    )
    assert isinstance(refute_theorem(theorem), Guarded)
    assert refute_theorem(theorem).points
    assert isinstance(refute_theorem(replace(theorem, claim="X[3] <= X[0]/37")), BrokenClaim)


@pytest.mark.parametrize("unit", [1, 400, Fraction(1, 400)])
def test_the_search_does_not_depend_on_units(unit: Any) -> None:
    theorem = replace(
        GRADIENT_DESCENT,
        region="0 < L, 0 < lr <= 1/L",
        claim="gap[N] <= 3/5*dist2[0]/(2*N*lr)",
        proof="",
        rounds={"N": 1},
    )
    theorem = replace(theorem, states=MethodStates("gd", "lr", "L, mu = 0"))
    found = refute_theorem(replace(theorem, region=f"{unit} <= L <= {unit}, 1/(2*L) <= lr <= 1/L"))
    assert isinstance(found, Guarded)
    assert not found.suspected
    assert not any("solver" in why for why in found.left_out)


def contradicts(world: Any, p: Any, last: int) -> list[Any]:
    x = world.vector("x")
    world.assume("none", norm2(x) + p.e)
    return [SimpleNamespace(x=x / 2**k) for k in range(last + 1)]


EMPTY = {
    "a hypothesis that no parameters meet": Theorem(
        "0 < y, 0 < z", "y**2 <= -z**2", "done: claim by combine y*low, z*low", given={"low": "y + z <= 0"}
    ),
    "states that cannot be": Theorem(
        "0 < e",
        "X[T] <= -1",
        "done: claim by derivation",
        states=PlayedStates(contradicts),
        quantities={"X": "norm2(x)"},
        rounds={"T": 0},
        assumed={"none": "a small x"},
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_what_is_true_of_nothing_is_called_so(name: str) -> None:
    (part,) = parts_of(EMPTY[name])
    assert part.empty
    assert "true of nothing" in part.text


def on_gd(**change: Any) -> Theorem:
    return replace(GRADIENT_DESCENT, proof="", **{"rounds": {"N": 1}, **change})


MISTAKES = {
    "mu may exceed L": (
        lambda: on_gd(region="0 < L, 0 < mu", states=MethodStates("gd", "lr = 1/L", "L, mu")),
        "mu < L",
    ),
    "mu above L": (lambda: on_gd(states=MethodStates("gd", "lr = 1/L", "L, mu = 2*L")), "mu < L"),
    "a field that no state has": (lambda: on_gd(quantities={"gap": "f(x)", "dist2": "norm2(y - x_star)"}), "'y'"),
    "a round that is no whole number": (lambda: on_gd(rounds={"N": 0.5}), "whole numbers from 0 on"),
    "a round before the first": (lambda: on_gd(rounds={"N": -1}), "whole numbers from 0 on"),
    "an unknown rule": (lambda: replace(on_gd(), proof="done: claim by magic"), "the rules are"),
    "a negative step": (lambda: on_gd(states=MethodStates("gd", "lr = -1/L", "L, mu = 0")), "lr must be positive"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_its_author_got_wrong_is_an_error_and_no_verdict(name: str) -> None:
    make, message = MISTAKES[name]
    with pytest.raises(InvalidInput, match=message):
        parts_of(make())


def test_a_refutation_that_hangs_on_an_option_says_so_and_decides_nothing() -> None:
    """FedPD's duals and gradients cancel with exact local solves; the statement does not say that they are."""
    theorem = Theorem(
        region="0 < mu < L, 0 < eta",
        states=MethodStates("fedpd", "eta", "L, mu"),
        rounds={"T": 1},
        quantities={"g": "norm2(bar(grad(f_i, x_i) + lam_i))"},
        claim="g[T] <= 0",
    )
    (part,) = parts_of(theorem)
    assert part.holds is None
    assert part.text.startswith("it hangs on the option 'exact' of fedpd")
    (part,) = parts_of(replace(theorem, states=MethodStates("fedpd", "eta, exact", "L, mu")))
    assert part.holds is True


def play_copies(w, p, last):
    """x+ = x/2 and y+ = x+: any x and y at first, and one point after every round."""
    x, y = w.vector("x"), w.vector("y")
    states = [SimpleNamespace(x=x, y=y)]
    for _ in range(last):
        x = y = x / 2
        states.append(SimpleNamespace(x=x, y=y))
    return states


def test_what_is_said_of_states_after_a_round_is_not_tried_on_any_state() -> None:
    """x and y differ in a state that stands for any, and in none after a round; where the claim is false it is refuted by a round that is played."""
    theorem = Theorem(
        region="0 < a",
        states=PlayedStates(play_copies),
        rounds={"t": 0},
        quantities={"r": "norm2(x - y)", "X": "norm2(x)"},
        claim="a*r[t+1] <= 0",
    )
    for claim in ("a*r[t+1] <= 0", "t*a*r[t] <= 0"):
        found = refute_theorem(replace(theorem, claim=claim))
        assert isinstance(found, Guarded) and found.points, found
    false = replace(theorem, claim="a*X[t+1] <= 0")
    broken = refute_theorem(false)
    assert isinstance(broken, BrokenClaim) and replay_claim(false, broken) > 0

"""Rounds on symbols are those on numbers, in three dimensions; methods that draw or rank coordinates have none.

Symbols have one entry: methods with compressors were taken to send all of it, and what gradient descent has was proved of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence import judged
from numpy.typing import NDArray

from fedtheory.algorithms import ALGORITHMS
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Contraction
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.runs import run_on_quadratics
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import CannotTrace
from fedtheory.core.states import arrays_of
from fedtheory.proofs.every_n.vectors import Form, Vector
from fedtheory.proofs.potentials.invariants import outcomes_of_round
from fedtheory.proofs.regions.region import Region
from problems.quadratics import Quadratic

DIMENSION, REGION = 3, Region.parse("0 < mu < L")
#: they have to be told how far errors reach, or a server's own data
OTHERS = {"diana-any", "ef21-any", "server-sgd", "safari"}
Leaves = dict[tuple[str, int], NDArray[Any]]


def clients(seed: int = 0) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """Curvatures and centres of two clients, whose average is least at the origin."""
    rng = np.random.default_rng(seed)
    turned = [np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))[0] for _ in range(2)]
    A = [q @ np.diag(rng.uniform(0.1, 1, DIMENSION)) @ q.T for q in turned]
    A = [(a + a.T) / 2 for a in A]
    centre = rng.standard_normal(DIMENSION)
    return A, [centre, np.linalg.solve(A[1], -A[0] @ centre)]


def place(v: Vector, leaves: Leaves) -> tuple[NDArray[Any], dict[tuple[str, int], float]]:
    """A vector of both clients, but for leaves that are not known."""
    signs = {"mean": np.ones((2, 1)), "deviation": np.array([[1.0], [-1.0]])}
    found, rest = np.zeros((2, DIMENSION)), {}
    for key, factor in v.terms.items():
        if key in leaves:
            found += float(factor) * signs[key[0]] * leaves[key]
        else:
            rest[key] = float(factor)
    return found, rest


def answer(evaluations: Any, leaves: Leaves, A: Any, centres: Any) -> None:
    """Gradients and proximal points of these clients for the leaves that stand for them: A (x - c) = g is solved for the new one."""
    for e in evaluations:
        (x, in_x), (g, in_g) = place(e.x, leaves), place(e.g, leaves)
        new = {**in_x, **in_g}
        if not new:
            continue
        a, b = ({key[0]: part.get(key, 0.0) for key in new} for part in (in_x, in_g))
        (a, b) = (next(iter(part.values())) for part in (a, b))
        both = [np.linalg.solve(a * A[i] - b * np.eye(DIMENSION), g[i] - A[i] @ (x[i] - centres[i])) for i in range(2)]
        leaves |= {key: (both[0] + (1 if key[0] == "mean" else -1) * both[1]) / 2 for key in new}


def follow(name: str, *, start: bool, changed: str = "") -> tuple[Any, Any, Leaves]:
    """A round on symbols, and on the numbers of two clients, from the start or from any state; ``changed``: other options on numbers."""
    states, number, rng = MethodStates(name, "", "L, mu"), 0 if start else 3, np.random.default_rng(1)
    trace = states.trace({"mu": Fraction(1, 10), "L": Fraction(1)}, REGION, 1, start=start, number=number)
    (_, before), A, centres = trace.states[0][0], *clients()
    vectors = {field: v for field, v in before.items() if isinstance(v, Vector)}
    own = {key for field, v in vectors.items() if field not in ("x_star", "g_star") for key in v.terms}
    asked = {key for e in trace.system(Form()).functions[0].evaluations for key in e.g.terms}
    leaves: Leaves = {key: rng.standard_normal(DIMENSION) for key in sorted(own - asked)}
    answer(trace.system(Form()).functions[0].evaluations, leaves, A, centres)
    method = MethodStates(name, changed, "L, mu").named_method.over({"mu": 0.1, "L": 1.0}, float)
    problem = Quadratic(np.stack(A), np.stack([a @ c for a, c in zip(A, centres, strict=True)]))
    state = method.init(problem, place(vectors["x"], leaves)[0][:1])
    if not start:
        known = {field: place(vectors[field], leaves)[0] for field in arrays_of(state) if field in vectors}
        state = dataclasses.replace(
            state, **{field: value[: arrays_of(state)[field].shape[-2]] for field, value in known.items()}
        )
    return trace.states[1], outcomes_of_round(method, problem, state, None, number), leaves


def count_alike(on_symbols: Any, on_numbers: Any, leaves: Leaves) -> int:
    """How many fields of how many outcomes were compared, all of which agree."""
    assert len(on_symbols) == len(on_numbers)
    compared = 0
    for (chance, known), (probability, reached) in zip(on_symbols, on_numbers, strict=True):
        assert float(chance) == pytest.approx(float(probability))
        for field, value in arrays_of(reached).items():
            if isinstance(known.get(field), Vector):
                found, unknown = place(known[field], leaves)
                assert not unknown and np.broadcast_to(value, (2, DIMENSION)) == pytest.approx(found, abs=1e-9)
                compared += 1
    return compared


@pytest.mark.parametrize("start", [True, False])
def test_rounds_on_symbols_are_those_on_numbers(start: bool) -> None:
    """Of all methods but those that decide on values, which are counted, so that none is left out unseen."""
    followed = 0
    for name in (entry.name for entry in ALGORITHMS if entry.name not in OTHERS):
        try:
            found = follow(name, start=start)
        except CannotTrace:  # it decides on values
            continue
        assert count_alike(*found), name
        followed += 1
    assert followed >= 44


@pytest.mark.parametrize(
    ("name", "changed"), [("gd", "lr = 0.101"), ("fedavg", "lr = 0.1, steps = 2"), ("scaffnew", "p = 0.49")]
)
def test_a_round_of_other_options_is_seen(name: str, changed: str) -> None:
    """One per cent of a step size, one local step, or of a coin."""
    assert count_alike(*follow(name, start=False))
    with pytest.raises(AssertionError):
        count_alike(*follow(name, start=False, changed=changed))


def theorem(states: Any, claim: str, quantities: Mapping[str, str], region: str) -> Theorem:
    return Theorem(region=region, states=states, rounds={"N": 0}, quantities=quantities, claim=claim)


@pytest.mark.parametrize("options", ["lr, alpha = 1/4", "lr, alpha = 1/4, keep = 0.25", "lr, alpha = 1/4, levels = 2"])
def test_what_gradient_descent_has_is_not_proved_of_compressed_gradients(options: str) -> None:
    region, distance = "0 < mu < L, 0 < lr <= 1/L", {"d": "norm2(x - x_star)"}
    falls = theorem(MethodStates("diana", options, "L, mu"), "d[N] <= (1 - lr*mu)**(2*N)*d[0]", distance, region)
    assert isinstance(find_proof(falls), str)
    on_quadratics = run_on_quadratics("diana", options, curvatures=("1", "1"), centres=("0", "0"))
    equal = theorem(on_quadratics, "X[N] == (1 - lr)**(2*N)*X[0]", {"X": "norm2(x)"}, "0 < lr")
    assert isinstance(find_proof(equal), str)
    rate = Contraction("diana", options, region=region, functions="L, mu", potential={"x": 1}, claimed="(1 - lr*mu)**2")
    assert judge_claim(state("RATE", "mine", "1", "In words.", rate), "mine.py", Context()).status == "inconclusive"
    _, parts = judged("equivalence", Equivalence("diana", "gd", options, "lr", region="0 < lr"))
    assert all(part.proof is None for part in parts)

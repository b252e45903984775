"""Worst cases do not depend on units: f -> s f, x -> s x, and numbers that once came out wrong."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import build

from fedtheory import FedAvg, FedPD, FunctionClass, GradientDescent, GradientSteps, Scaffold
from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.agreement import hold_together
from fedtheory.proofs.certificates.lower_bounds import attain
from fedtheory.proofs.certificates.upper_bounds import prove
from fedtheory.proofs.engines import why_not
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite.bounded import maximise
from fedtheory.proofs.semidefinite.program import Program
from fedtheory.proofs.worst_cases import worst_case

#: what equal programs in different units may differ by: twice the accuracy of one value
SAME = 2e-6
TRACED = [entry for entry in ALGORITHMS if "worst case" not in why_not(entry)]

# roles of options that scale as 1/s and as s when f -> s f (step sizes; penalties and weights of ridge terms)
STEPS, PENALTIES = {"lr": 0.3, "eta": 0.4, "inner_lr": 0.15, "model_lr": 0.2}, {"rho": 1.3, "nu": 0.1, "mu": 0.05}


def options(s):
    return {name: v / s for name, v in STEPS.items()} | {name: v * s for name, v in PENALTIES.items()}


def over(given, s, t):
    """The class of functions s t^2 f(x / t) for f of a class."""
    new = {"L": given.L * s, "mu": given.mu * s}
    new |= {
        name: getattr(given, name) * s * t
        for name in ("zeta", "dissimilarity", "sigma")
        if getattr(given, name) is not None
    }
    if given.bgd is not None:
        new["bgd"] = (given.bgd[0] * s * t, given.bgd[1])
    if given.similarity is not None:
        new["similarity"] = given.similarity * s
    return dataclasses.replace(given, **new)


def unit(measure, s, t):
    return {"squared_distance": t**2, "gap": s * t**2}.get(measure, (s * t) ** 2)


SCALES = [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1e3, 1e-6)]


@pytest.mark.parametrize("entry", TRACED, ids=lambda e: e.name)
def test_no_listed_method_depends_on_units(entry):
    """One round, the class with every constant of the start; each f -> s f with steps and penalties, and x -> t x."""
    given = FunctionClass(L=1.0, mu=0.1, zeta=0.5)
    common = {"steps": 2, "p": 0, "q": 1, "exact": "exact" in entry.uses}

    def value(s, t):
        method = build(entry, **options(s), **common)
        return worst_case(method, over(given, s, t), rounds=1, radius=t).value / t**2

    try:
        plain = value(1.0, 1.0)
    except SolverFailed:
        plain = None
    for s, t in SCALES[:2] if entry.name != "scaffold" else SCALES:
        if plain is None:
            with pytest.raises(SolverFailed):
                value(s, t)
        else:
            assert value(s, t) == pytest.approx(plain, rel=SAME)


CLASSES = {
    "gap": (FunctionClass(1.0, 0.0, zeta=0.5), "gap", {}),
    "strongly convex": (FunctionClass(1.0, 0.1, zeta=0.5), "squared_distance", {"clients": 2}),
    "(G, D)": (FunctionClass(1.0, -1.0, bgd=(0.5, 1.0)), "stationarity", {}),
    "pairwise": (FunctionClass(1.0, -1.0, dissimilarity=0.5), "min_stationarity", {"clients": 2}),
    "similar": (FunctionClass(1.0, 0.1, zeta=0.5, similarity=0.2), "squared_distance", {}),
    "composite": (FunctionClass(1.0, 0.1, zeta=0.5, composite=True), "squared_distance", {}),
    "some clients": (FunctionClass(1.0, 0.1, zeta=0.5), "squared_distance", {"clients": 4, "participants": 2}),
}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("s", "t"), SCALES)
def test_no_class_depends_on_units(kind, s, t):
    given, measure, more = CLASSES[kind]
    composite = given.composite

    def value(s, t):
        if composite:
            method = build(next(e for e in ALGORITHMS if e.name == "fedsplit"), **options(s), exact=True)
        else:
            method = FedAvg(GradientSteps(2, 0.3 / s))
        start = t if measure in ("squared_distance", "gap") else s * t**2
        return worst_case(method, over(given, s, t), rounds=1, measure=measure, radius=start, **more).value

    assert value(s, t) / unit(measure, s, t) == pytest.approx(value(1.0, 1.0), rel=SAME)


def gd(lr, L, mu=0.0, rounds=1, **options):
    return worst_case(GradientDescent(lr), FunctionClass(L, mu), rounds=rounds, **options)


@pytest.mark.parametrize("clients", [2, "any"])
@pytest.mark.parametrize(
    ("asked", "true"),
    {
        "mu = L/10": ({"lr": 1e-6, "L": 1e6, "mu": 1e5}, 0.81),
        "gap": ({"lr": 1e-6, "L": 1e6, "measure": "gap"}, 1e6 / 6),
        "1.9/L, 1e3": ({"lr": 1.9e-3, "L": 1e3, "mu": 1e2}, 0.81),
        "1.9/L, 1e4": ({"lr": 1.9e-4, "L": 1e4, "mu": 1e3}, 0.81),
        "once unbounded": ({"lr": 1e-5, "L": 1e5, "measure": "gap"}, 1e5 / 6),
        "small start": ({"lr": 1.0, "L": 1.0, "mu": 0.1, "radius": 1e-4}, 8.1e-9),
        "L = 5e4, R = 1e3": ({"lr": 2e-5, "L": 5e4, "measure": "gap", "radius": 1e3}, 5e4 * 1e6 / 6),
    }.values(),
)
def test_gradient_descent(asked, true, clients):
    found = gd(**asked, clients=clients)
    assert found.value == pytest.approx(true, rel=1e-6)
    assert found.replay() == pytest.approx(true, rel=5e-3)


def test_fedavg_over_steep_functions():
    given = FunctionClass(1000.0, 100.0, zeta=1000.0)
    method = FedAvg(GradientSteps(2, 0.001))
    found = worst_case(method, given, rounds=1)
    assert found.value == pytest.approx(1.09518, abs=1e-5)
    assert float(prove(method, given, rounds=1).bound) == pytest.approx(found.value, rel=1e-5)
    assert float(attain(method, given, rounds=1).reached) == pytest.approx(found.value, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_proofs_and_witnesses_do_not_depend_on_units(scale):
    method, given = GradientDescent(1 / scale), FunctionClass(scale)
    options = {"rounds": 1, "measure": "gap", "radius": 100}
    assert float(prove(method, given, **options).bound) == pytest.approx(scale * 1e4 / 6, rel=1e-5)
    assert float(attain(method, given, **options).reached) == pytest.approx(scale * 1e4 / 6, rel=1e-5)


def test_large_values_are_right():
    assert gd(2.5, 1.0, 0.1, rounds=10).value == pytest.approx(1.5**20, rel=1e-6)


def test_very_large_values_are_right_or_an_error():
    try:
        found = gd(2.5, 1.0, 0.1, rounds=15, time_limit=2.0)
    except SolverFailed:
        return
    assert not found.unbounded and found.value == pytest.approx(1.5**30, rel=1e-5)


def test_small_values_are_accurate_relative_to_themselves():
    assert gd(1.0, 1.0, 0.5, rounds=4, clients="any").value == pytest.approx(0.5**8, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_is_unbounded_is_so_in_all_units(scale):
    for s, t in ((scale, 1.0), (1.0, scale)):
        given = FunctionClass(s, 0.1 * s)
        assert worst_case(FedAvg(GradientSteps(2, 1 / s)), given, rounds=1, radius=t).unbounded


def test_a_bounded_program_grows_along_no_direction():
    """2^29 through a chain of doublings: near the direction that the last leaf alone is, up to 2e-9 of it."""
    size = 30
    rows = np.zeros((size, size, size))
    rows[0, 0, 0] = 1
    for k in range(1, size):
        rows[k, k, k], rows[k, k - 1, k - 1] = 1, -2
    goal = np.zeros((size, size))
    goal[-1, -1] = 1
    program = Program((size,), (goal,), np.zeros(0), (rows,), np.zeros((size, 0)), np.eye(size)[0])
    near = np.diag(2.0 ** -np.arange(size)[::-1])
    assert not conic.is_direction(program, (near,), np.zeros(0))
    free = dataclasses.replace(
        program, rows=(rows[:-1],), rows_values=np.zeros((size - 1, 0)), bounds=np.eye(size)[0, :-1]
    )
    assert conic.is_direction(free, (np.diag(np.eye(size)[-1]),), np.zeros(0))
    try:
        found, unbounded = maximise(program)
    except SolverFailed:
        return
    assert not unbounded and found.value == pytest.approx(2.0 ** (size - 1), rel=1e-5)


@pytest.mark.parametrize("measure", ["min_stationarity", "sum_stationarity"])
def test_the_engine_of_one_n_is_as_accurate_as_the_other(measure):
    given = FunctionClass(1.0, -1.0)
    one = worst_case(FedPD(0.3), given, rounds=2, clients=3, measure=measure)
    every = worst_case(FedPD(0.3), given, rounds=2, measure=measure)
    assert one.value == pytest.approx(every.value, rel=2e-6) and one.lower == pytest.approx(every.lower, rel=2e-6)


def test_numbers_that_disagree_are_an_error():
    hold_together("the value", 1.0, "its replay", 1.001, size=1.0)
    with pytest.raises(SolverFailed, match=r"the value and its replay .* differ: 0\.66 and 1\.095"):
        hold_together("the value", 0.66, "its replay", 1.095, size=1.0)


@pytest.mark.parametrize("clients", [2, "any"])
def test_a_replay_that_misses_is_no_number(clients):
    found = worst_case(Scaffold(GradientSteps(2, 0.3)), FunctionClass(1.0, 0.1, zeta=1.0), rounds=1, clients=clients)
    found.replay()
    with pytest.raises(SolverFailed, match="differ"):
        dataclasses.replace(found, value=1.1 * found.value).replay()
    with pytest.raises(SolverFailed, match="start"):
        dataclasses.replace(found, radius=0.9).replay()
    with pytest.raises(SolverFailed, match="zeta"):
        dataclasses.replace(found, function_class=FunctionClass(1.0, 0.1, zeta=0.5)).replay()

"""What every listed method owes on every problem and every array library.

A method joins by standing in `fedtheory.algorithms.ALGORITHMS`, an instance by standing in `helpers.PROBLEMS`.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy
from array_api_compat import array_namespace, device
from helpers import (
    BATCHED,
    CASES,
    LIBRARIES,
    PROBLEMS,
    UNSOLVED,
    WRITABLE,
    Case,
    Library,
    assert_same,
    cases,
    cases_beside_numpy,
    cases_on_libraries,
    close,
    dressed,
    fields,
    library_of,
    play,
    problem,
    row_of,
    start,
    stationary_point,
)

from fedtheory.algorithms import ALGORITHMS, Settings
from fedtheory.core.arrays import along_batch, to_numpy
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.participation import All, Bernoulli, Clients, Fixed, Schedule, Uniform
from fedtheory.core.problem import constant, move_to_library
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.core.states import Layout, arrays_of
from fedtheory.proofs.spectrum import round_map, why_not_traceable
from fedtheory.running.runner import run
from problems.quadratics import scalar_quadratics

# Libraries and batch rows do the same operations in another order of summation. A few rounds of a few hundred
# operations on numbers of size 10 lose below 1e-12; Newton's method inside a round stops at its own floor.
SUMMATION = 1e-12
NEWTON = 1e-10

PARTIAL = {
    "uniform": Uniform(2),
    "bernoulli": Bernoulli(0.6),
    "fixed": Fixed((1, 0)),
    "schedule": Schedule(lambda r: [r % 2]),
}


def tolerance(case: Case) -> float:
    return NEWTON if case.kind == "exact" and not hasattr(case.problem, "prox") else SUMMATION


def small(case: Case) -> bool:
    """One problem of each kind, for contracts that do not look at the problem."""
    return case.problem_name in ("quadratics", "penalised-logistic")


# ---- libraries ----------------------------------------------------------------------------------------------------


@cases_on_libraries()
def test_library_shape_dtype_inputs_and_numbers(case: Case, xp: Library) -> None:
    """Arrays stay in their library with shape and dtype, inputs stay as they were, numbers are NumPy's."""
    f, x0 = xp.problem(case.problem), xp.array(start(case.problem)[None, :])
    algorithm = case.algorithm()
    before = {k.name: to_numpy(getattr(f, k.name)).copy() for k in dataclasses.fields(f) if _array(getattr(f, k.name))}
    state = xp.state(algorithm.init(f, x0))
    expected = play(algorithm, case.problem, to_numpy(start(case.problem)[None, :]), 3)
    for r in range(3):
        old, kept = state, {name: value.copy() for name, value in fields(state).items()}
        new = algorithm.round(f, old, None, Key(0, r))
        assert_same(old, dataclasses.replace(old, **kept))
        assert type(new) is type(old)
        assert fields(new).keys() == fields(old).keys()
        for name, value in arrays_of(new).items():
            first = getattr(old, name)
            assert type(value) is type(x0), name
            assert value.dtype == x0.dtype and device(value) == device(x0), name
            assert tuple(value.shape) == tuple(first.shape), name
            close(value, getattr(expected[r + 1], name), tolerance(case), name)
        state = xp.state(new)
    for name, value in before.items():
        np.testing.assert_array_equal(to_numpy(getattr(f, name)), value, err_msg=name)
    np.testing.assert_array_equal(to_numpy(x0), start(case.problem)[None, :])


def _array(value) -> bool:
    return hasattr(value, "shape") and value.ndim > 0


@cases_on_libraries(lambda c: c.kind != "exact" or hasattr(c.problem, "prox"), WRITABLE)
def test_single_precision_is_kept(case: Case, xp: Library) -> None:
    """float32 in, float32 out; the numbers are those of float64 to its precision."""
    single = array_namespace(xp.example).float32
    example = array_namespace(xp.example).astype(xp.example, single)
    f = move_to_library(case.problem, example)
    x0 = array_namespace(example).astype(xp.array(start(case.problem)[None, :]), single)
    expected = play(case.algorithm(), case.problem, start(case.problem)[None, :], 2)
    for state, double in zip(play(case.algorithm(), f, x0, 2), expected, strict=True):
        for name, value in arrays_of(state).items():
            assert value.dtype == single, name
            close(to_numpy(value).astype(float), getattr(double, name), 1e-4, name)  # 1e3 times float32's 1e-7


@cases_beside_numpy(lambda c: c.entry.partial, PARTIAL)
def test_partial_participation_is_numpys(case: Case, xp: Library, variant) -> None:
    f, x0 = xp.problem(case.problem), xp.array(start(case.problem)[None, :])
    ours = play(case.algorithm(), f, x0, 3, variant)[-1]
    theirs = play(case.algorithm(), case.problem, start(case.problem)[None, :], 3, variant)[-1]
    for name, value in arrays_of(ours).items():
        assert type(value) is type(x0), name
        close(value, getattr(theirs, name), tolerance(case), name)


@cases(lambda c: c.entry.partial)
def test_naming_all_clients_is_full_participation(case: Case) -> None:
    f, x0 = case.problem, start(case.problem)[None, :]
    named = play(case.algorithm(), f, x0, 3, Fixed(tuple(range(f.n))))[-1]
    assert_same(named, play(case.algorithm(), f, x0, 3)[-1], tolerance(case))


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if not e.partial], ids=lambda e: e.name)
def test_full_participation_methods_refuse_a_subset_by_name(entry) -> None:
    f = problem("quadratics")
    algorithm = entry.build(Settings())
    with pytest.raises(InvalidInput, match=r"full participation only; use participation=All\(\), or "):
        run(algorithm, f, start(f), 1, participation=Uniform(2))
    run(algorithm, f, start(f), 1, participation=All())


# ---- batches ------------------------------------------------------------------------------------------------------


@cases_on_libraries()
def test_a_batch_row_is_the_single_run(case: Case, xp: Library) -> None:
    """Starting points and hyper-parameters along a batch axis: row k is the run with the k-th of each."""
    scales = [1.0, 0.1]
    f = xp.problem(case.problem)
    points = start(case.problem)[None, None, :] + np.array([0.0, -2.0])[:, None, None]
    together = play(case.algorithm(along_batch(scales, xp.example)), f, xp.array(points), 3)[-1]
    for k, scale in enumerate(scales):
        alone = play(case.algorithm(scale), f, xp.array(points[k]), 3)[-1]
        for name, value in fields(alone).items():
            found = np.broadcast_to(fields(together)[name], (2, *value.shape))
            close(found[k], value, tolerance(case), name)


@cases(lambda c: c.problem_name in ("quadratics", "logistic") and c.kind != "batch")
@pytest.mark.parametrize("scale", [30.0, 1e200], ids=["grows", "overflows"])
def test_a_run_that_diverges_disturbs_no_other(case: Case, scale) -> None:
    """Bit for bit, whatever happens beside it."""
    f, x0 = case.problem, start(case.problem)
    fine, beside = (run(case.algorithm(along_batch([1.0, s])), f, x0, 12, progress=False).state for s in (0.1, scale))
    for name, value in fields(fine).items():
        found = fields(beside)[name]
        assert found.shape == value.shape
        if value.ndim == 3:  # the others have no batch axis, and no step size
            np.testing.assert_array_equal(found[0], value[0], err_msg=name)


@cases(lambda c: c.problem_name in BATCHED)
def test_a_batch_of_instances_is_the_instances(case: Case) -> None:
    """Data along a batch axis: row k is the run on instance k."""
    f = case.dress(BATCHED[case.problem_name]())
    x0 = start(f)[None, :]
    together = play(case.algorithm(), f, x0, 3)[-1]
    for k in range(2):
        alone = play(case.algorithm(), row_of(f, k), x0, 3)[-1]
        for name, value in fields(alone).items():
            close(np.broadcast_to(fields(together)[name], (2, *value.shape))[k], value, tolerance(case), name)


@cases_on_libraries(lambda c: c.random)
def test_seeds_along_the_batch(case: Case, xp: Library) -> None:
    """Row k of a run with several seeds is the run with the k-th; equal seeds give equal numbers, others others."""
    f, x0 = xp.problem(case.problem), xp.array(start(case.problem)[None, :])
    seeds = np.array([3, 4, 3])
    states = [fields(state) for state in play(case.algorithm(), f, x0, 4, seed=seeds)[1:]]
    together = states[-1]
    for k, seed in enumerate(seeds):
        alone = fields(play(case.algorithm(), f, x0, 4, seed=int(seed))[-1])
        for name, value in alone.items():
            close(together[name][k], value, SUMMATION, name)
    assert all(np.array_equal(value[0], value[2]) for value in together.values())
    drawn = [value for state in states for value in state.values() if value.ndim == 3]  # in some round the seeds tell
    assert any(np.abs(value[0] - value[1]).max() > 1e-6 for value in drawn)


@cases()
def test_same_seed_same_numbers(case: Case) -> None:
    f, x0 = case.problem, start(case.problem)[None, :]
    once, again = (play(case.algorithm(), f, x0, 3, seed=5)[-1] for _ in range(2))
    assert_same(once, again)


# ---- clients ------------------------------------------------------------------------------------------------------


@cases_on_libraries(lambda c: not c.by_number)
def test_relabelling_clients_changes_nothing(case: Case, xp: Library) -> None:
    """On the relabelled problem the server's quantities are the same and the clients' are relabelled."""
    f, n = case.problem, case.problem.n
    order = np.roll(np.arange(n), 1)
    relabelled = xp.problem(f.take(Clients(n, order)))
    x0 = xp.array(start(f)[None, :])
    ours = fields(play(case.algorithm(), xp.problem(f), x0, 3)[-1])
    theirs = fields(play(case.algorithm(), relabelled, x0, 3)[-1])
    for name, value in ours.items():
        moved = value if value.shape[-2] == 1 else value[..., order, :]
        close(theirs[name], moved, tolerance(case), name)


@cases(lambda c: c.entry.partial and not c.by_number)
def test_relabelling_clients_and_the_subset(case: Case) -> None:
    f, n = case.problem, case.problem.n
    order = np.roll(np.arange(n), 1)  # new client k is old client order[k]
    relabelled = f.take(Clients(n, order))
    subset = [0, n - 1]
    same = [int(np.flatnonzero(order == i)[0]) for i in subset]
    ours = fields(play(case.algorithm(), f, start(f)[None, :], 3, Fixed(tuple(subset)))[-1])
    theirs = fields(play(case.algorithm(), relabelled, start(f)[None, :], 3, Fixed(tuple(same)))[-1])
    for name, value in ours.items():
        close(theirs[name], value if value.shape[-2] == 1 else value[..., order, :], tolerance(case), name)


# ---- fixed points -------------------------------------------------------------------------------------------------


@cases_on_libraries(lambda c: c.problem_name not in UNSOLVED)
def test_the_solution_with_its_duals_is_a_fixed_point(case: Case, xp: Library) -> None:
    f = xp.problem(case.problem)
    x = xp.array(stationary_point(case.problem_name))
    algorithm = case.algorithm()
    state = algorithm.solution_state(f, x)
    # with differences of gradients the noise cancels
    noisy = case.kind in ("batch", "epochs") and case.entry.name not in (
        "fedpd-vr",
        "fedprox-vr",
        "f-svrg",
        "s-local-svrg",
    )
    if state is None or noisy:
        moved = play(case.algorithm(), f, x, 1)[-1]
        models = [to_numpy(model) for model in (moved.x, getattr(moved, "personal", moved.x))]
        change = max(np.abs(model - to_numpy(x)).max() for model in models)
        assert change > 1e-6 or _unbiased_here(case), "a biased method says None, rightly"
        return
    for r in range(4):
        # a round that skips moves the clients, see below
        key = ScriptedKey(r, {"communicate": True, "anchor": True}) if case.kind == "skip" else Key(1, r)
        state = algorithm.round(f, state, None, key)
    # grad f(x*) is zero up to 1e-15; rounds are Lipschitz with a constant of order one
    assert_same(state, _on_host(algorithm.solution_state(f, x)), 1e-12 if tolerance(case) < NEWTON else NEWTON)


@cases(lambda c: c.kind == "skip" and c.entry.name.startswith("fedpd") and c.problem_name not in UNSOLVED)
def test_one_skipped_round_leaves_the_servers_model_at_the_solution(case: Case) -> None:
    """The clients go their own way, x_{0,i} = x* - eta grad f_i(x*), and their mean stays (FEDPD-D3)."""
    f, x = case.problem, stationary_point(case.problem_name)
    algorithm = case.algorithm()
    new = algorithm.round(f, algorithm.solution_state(f, x), None, ScriptedKey(0, {"communicate": False}))
    close(new.x, x, SUMMATION)
    close(new.x0_i, x - algorithm.eta * f.grad(x), SUMMATION)


def _on_host(state):
    return dataclasses.replace(state, **fields(state))


def _unbiased_here(case: Case) -> bool:
    """Equal curvatures leave local steps unbiased (FEDPD-D12); personal parts move, the server's model need not."""
    return case.problem_name == "same-curvature" or getattr(case.algorithm(), "personal", None) is not None


@cases(lambda c: c.entry.name == "scaffold" and c.kind == "steps" and c.problem_name not in UNSOLVED)
def test_control_variates_keep_the_solution_for_every_subset_of_clients(case: Case) -> None:
    f, x = case.problem, stationary_point(case.problem_name)
    state = case.algorithm().solution_state(f, x)
    new = case.algorithm().round(f, state, Clients(f.n, np.array([1])), Key(0, 0))
    assert_same(new, state, SUMMATION)


# ---- the other engines --------------------------------------------------------------------------------------------


@cases(lambda c: c.problem_name == "quadratics")
def test_traceable_methods_have_a_round_map_and_others_refuse_by_name(case: Case) -> None:
    """The exact affine map of one round predicts the next state; methods that decide on values are refused by name."""
    f, algorithm = case.problem, case.algorithm()
    reason = why_not_traceable(algorithm)
    if reason is not None:
        with pytest.raises(CannotTrace, match=reason.split(":")[0]):
            round_map(algorithm, f, start(f))
        return
    coins = {"communicate": False, "anchor": False} if case.kind == "skip" else None
    found = round_map(algorithm, f, start(f), coins=coins, round=1)
    state = play(algorithm, f, start(f)[None, :], 1)[-1]
    layout = Layout.of(state)
    new = algorithm.round(f, state, None, ScriptedKey(1, coins or {}))
    close(found.matrix @ layout.flatten(state) + found.offset, layout.flatten(new), SUMMATION)


@pytest.mark.parametrize(
    "entry", [e for e in ALGORITHMS if why_not_traceable(e.build(Settings())) is None], ids=lambda e: e.name
)
def test_fractions_go_through_the_same_code(entry) -> None:
    """Exact rational arithmetic and floats agree to rounding, for every method that needs no numbers."""
    ten = Fraction(1, 10)
    curvature, centre = [Fraction(1), Fraction(3)], [Fraction(1), Fraction(-1)]
    common = {"steps": 2, "q": 1, "exact": "exact" in entry.uses}
    half = Fraction(1, 2)
    weights = {"rho": Fraction(10), "alpha": half, "nu": ten, "momentum": Fraction(3, 10), "strong": half}
    weights |= dict.fromkeys(("lr", "eta", "l1", "inner_lr"), ten)
    exact = entry.build(Settings(**weights, **common))
    floats = entry.build(Settings(**{name: float(weight) for name, weight in weights.items()}, **common))
    f, g = scalar_quadratics(curvature, centre), scalar_quadratics([1.0, 3.0], [1.0, -1.0])
    ours = play(exact, dressed(entry, f), np.array([[Fraction(2)]]), 3)[-1]
    theirs = play(floats, dressed(entry, g), np.array([[2.0]]), 3)[-1]
    for name, value in fields(ours).items():
        # the momentum of dual methods is irrational: exact expressions, without a float in them
        assert all(
            isinstance(e, Fraction | int) or (isinstance(e, sympy.Expr) and not e.has(sympy.Float))
            for e in value.ravel()
        ), name
        close(value.astype(float), getattr(theirs, name), 1e-14, name)  # tens of operations on numbers below 10


# ---- traffic and the list itself ----------------------------------------------------------------------------------


@cases(small)
def test_traffic_is_a_pair_of_non_negative_numbers(case: Case) -> None:
    algorithm = case.algorithm()
    for r, state in enumerate(play(algorithm, case.problem, start(case.problem)[None, :], 4)[1:]):
        up, down = algorithm.traffic(Key(0, r), state)
        for count in (up, down):
            assert np.all(np.asarray(count) >= 0)
            assert np.broadcast_shapes(np.shape(count), (1, 1)) == (1, 1)


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda e: e.name)
def test_every_setting_a_method_reads_changes_it(entry) -> None:
    """``uses`` tells the truth."""
    other = {"lr": 0.2, "steps": 3, "batch": 4, "eta": 0.3, "rho": 2.0, "p": 0.5, "period": 7, "exact": True}
    other |= {
        "l1": 0.7,
        "alpha": 0.7,
        "inner_lr": 0.4,
        "personal_layers": "bias",
        "density": 0.3,
        "prune": 0.2,
        "horizon": 9,
        "server_lr": 0.9,
        "server_steps": 2,
        "q": 0.3,
        "radius": 0.2,
        "sam_epsilon": 0.3,
        "momentum": 0.4,
        "nu": 0.2,
        "strong": 0.05,
        "lr_decay": 0.9,
        "clip": 3.0,
        "epochs": 2,
        "server_epochs": 2,
        "communicate_every": 2,
        "zero_duals": True,
        "gamma": 0.4,
        "personal_steps": 3,
        "personal_epochs": 2,
        "component": "copy",
    }
    stochastic = {"clip", "epochs", "server_epochs", "personal_epochs"}
    for name in entry.uses:
        plain = Settings(batch=12 if name in stochastic else None)
        changed = entry.build(dataclasses.replace(plain, **{name: other[name]}))
        assert repr(changed) != repr(entry.build(plain)), name


def test_all_methods_and_all_problems_meet_all_libraries() -> None:
    """The contracts thin libraries, not coverage."""
    names = [library_of(entry).name for entry in LIBRARIES]
    for place in (lambda case: case.entry.name, lambda case: case.problem_name):
        met = {(place(row.values[0]), row.values[1].name) for row in cases_on_libraries().args[1]}
        assert met == {(place(case), name) for case in CASES for name in names}
        rows = cases_beside_numpy(lambda case: case.entry.partial, PARTIAL).args[1]
        partial = {place(row.values[0]) for row in rows}
        assert {(place(row.values[0]), row.values[1].name) for row in rows} == {
            (p, name) for p in partial for name in names[1:]
        }
        for schedule in PARTIAL.values():
            assert {place(row.values[0]) for row in rows if row.values[2] is schedule} == partial


def test_names_are_distinct_and_sources_given() -> None:
    names = [entry.name for entry in ALGORITHMS]
    assert len(set(names)) == len(names)
    assert all(entry.source and entry.name == entry.name.lower() for entry in ALGORITHMS)
    assert {case.problem_name for case in CASES} == set(PROBLEMS)


# ---- bad hyper-parameters -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if "lr" in e.uses], ids=lambda e: e.name)
@pytest.mark.parametrize("bad", [0, -0.1, float("nan"), np.array([0.1, -0.1])[:, None, None]], ids=str)
def test_step_sizes_must_be_positive(entry, bad) -> None:
    with pytest.raises(InvalidInput, match="lr must be positive, got"):
        entry.build(Settings(lr=bad))


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if {"eta", "rho"} & set(e.uses)], ids=lambda e: e.name)
def test_penalties_must_be_positive(entry) -> None:
    with pytest.raises(InvalidInput, match="must be positive, got -1"):
        entry.build(Settings(eta=-1, rho=-1))


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if "steps" in e.uses], ids=lambda e: e.name)
@pytest.mark.parametrize("bad", [0, -1, 1.5])
def test_counts_must_be_whole_numbers_of_at_least_one(entry, bad) -> None:
    with pytest.raises(InvalidInput):
        entry.build(Settings(steps=bad))


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if "p" in e.uses], ids=lambda e: e.name)
@pytest.mark.parametrize("bad", [1, 1.5, -0.1, float("nan")])
def test_the_probability_of_skipping_lies_below_one(entry, bad) -> None:
    with pytest.raises(InvalidInput, match=r"must lie in \[0, 1\), got"):
        entry.build(Settings(p=bad))


# Hessian-free Per-FedAvg has a length of its own, delta |u|, that no setting scales; see test_personalised.py
@cases(lambda c: c.kind == "steps" and c.problem_name in ("quadratics", "logistic") and c.entry.name != "per-fedavg-hf")
def test_constants_scale_as_they_should(case: Case) -> None:
    """Units: f -> s f with steps divided by s leaves every model where it was."""
    f, s = case.problem, 3.0
    scaled = case.dress(_scaled(problem(case.problem_name), s))
    assert float(constant(scaled, "L")) == pytest.approx(s * float(constant(f, "L")), rel=1e-12)
    settings = case.settings()
    shorter = {name: getattr(settings, name) / s for name in ("lr", "eta", "inner_lr")}
    other = dataclasses.replace(
        settings, rho=settings.rho * s, nu=settings.nu * s, strong=settings.strong * s, **shorter
    )
    ours = fields(play(case.algorithm(), f, start(f)[None, :], 3)[-1])["x"]
    theirs = fields(play(case.entry.build(other), scaled, start(f)[None, :], 3)[-1])["x"]
    close(theirs, ours, SUMMATION)


def _scaled(f, s):
    if hasattr(f, "A"):
        return dataclasses.replace(f, A=s * f.A, b=s * f.b)
    return dataclasses.replace(f, weights=s * f.weights, l2=s * f.l2, beta=s * f.beta)

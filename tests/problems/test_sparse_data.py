"""Sparse samples give the numbers of dense ones: values, derivatives, constants, runs of every method, ground truths, files."""

from __future__ import annotations

import dataclasses
from functools import cache, partial
from typing import Any

import array_api_strict
import numpy as np
import pytest
from helpers import CASES, SUMMATION, Case, close, draw, dressed, play
from scipy import sparse

from fedtheory import GradientSteps, Scaffold, metrics, run
from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import average_hessian, can, constants, move_to_library
from fedtheory.core.randomness import Key
from fedtheory.core.sample_rows import SparseRows
from fedtheory.core.states import arrays_of
from fedtheory.measures import ground_truth as engine
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.running.families import build_problem
from problems import samples
from problems.datasets import load
from problems.logistic import logistic
from problems.softmax import softmax
from problems.splits import by_sorted_label, federate
from problems.svm import svm


def _pair(make: Any, seed: int = 0, d: int = 4) -> tuple[Any, Any]:
    """The same problem with sparse and with dense samples; clients of different sizes, an empty sample, an unused feature."""
    rng = np.random.default_rng(seed)
    features = [rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.5) for m in (5, 3, 4, 6)]
    features[1][0] = 0
    for a in features:
        a[:, -1] = 0
    labels = [rng.choice([-1, 1], len(a)) for a in features]
    thin = [sparse.csr_matrix(a) if i % 2 else a for i, a in enumerate(features)]  # matrices and arrays may be mixed
    return make(thin, labels, sparse=True), make(features, labels, sparse=False)


MODELS = {
    "logistic": partial(logistic, l2=0.1),
    "penalised": partial(logistic, l2=0.05, beta=0.1),
    "hinge": partial(svm, l2=0.1),
    "smoothed hinge": partial(svm, l2=0.1, width=0.5),
    "squared hinge": partial(svm, l2=0.1, width=0.5, squared=True),
    "softmax": lambda features, labels, **kept: _multinomial(features, labels, **kept),
}


def _multinomial(features: Any, signs: Any, *, sparse: bool) -> Any:
    """Three classes, made of the signs and the samples' places."""
    return softmax(features, [(b > 0) + np.arange(len(b)) % 2 for b in signs], l2=0.1, sparse=sparse)


@cache
def pair(name: str) -> tuple[Any, Any]:
    return _pair(MODELS[name])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_values_and_gradients(name, batch) -> None:
    thin, dense = pair(name)
    kept = [getattr(f, "signed", None) if name != "softmax" else f.features for f in (thin, dense)]
    assert [type(rows) for rows in kept] == [SparseRows, np.ndarray]
    numbers = (Key(0, 0).client_uniform("", thin.n, 2) * thin.n_samples[:, None]).astype(np.int64)
    for n in (1, thin.n):
        x = draw((*batch, n, thin.d))
        close(thin.value(x), dense.value(x), 1e-13)
        close(thin.grad(x), dense.grad(x), 1e-13)
        close(thin.sample_grad(x, numbers), dense.sample_grad(x, numbers), 1e-13)
        for ability in ("conjugate", "conjugate_grad"):
            assert can(thin, ability) == can(dense, ability)
            if can(thin, ability):
                close(getattr(thin, ability)(x), getattr(dense, ability)(x), 1e-9)


@pytest.mark.parametrize("name", [name for name in MODELS if can(pair(name)[0], "hess")])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_hessians(name, batch) -> None:
    thin, dense = pair(name)
    v, point = draw((thin.n, thin.d), 1), draw((*batch, 1, thin.d))
    for n in (1, thin.n):
        x = draw((*batch, n, thin.d))
        close(thin.hess(x), dense.hess(x), 1e-13)
        for f in (thin, dense):
            close(f.hess_times(x, v), (f.hess(x) @ v[..., None])[..., 0], 1e-13)
    for f in (thin, dense):
        close(average_hessian(f, point), f.hess(point).mean(axis=-3), 1e-13)


@pytest.mark.parametrize("name", MODELS)
def test_constants_and_parts(name) -> None:
    thin, dense = pair(name)
    assert constants(thin).keys() == constants(dense).keys()
    for label, found in constants(thin).items():
        close(found.value, constants(dense)[label].value, 1e-13, label)
    for part in (lambda f: f.take(Clients(4, np.array([3, 1]))), lambda f: f.slice(1, 3), lambda f: f.ridged(0.2)):
        x = draw((part(thin).n, thin.d))
        close(part(thin).grad(x), part(dense).grad(x), 1e-13)
        if name != "softmax":
            close(part(thin).gram, part(dense).gram, 1e-13)


def _listed() -> list[Case]:
    """Every kind of settings of every method, on logistic regression."""
    return [case for case in CASES if case.problem_name == "logistic"]


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda entry: entry.name)
def test_every_method_takes_the_same_course(entry) -> None:
    thin, dense = (dressed(entry, f) for f in pair("logistic"))
    assert isinstance(thin.signed, SparseRows)
    cases = [case for case in _listed() if case.entry is entry]
    assert cases
    for case in cases:
        ours, theirs = (play(case.algorithm(), f, draw((1, f.d)), 3) for f in (thin, dense))
        for left, right in zip(ours, theirs, strict=True):
            for name, value in arrays_of(left).items():
                close(value, getattr(right, name), 1e-9 if case.kind == "exact" else SUMMATION, f"{case} {name}")


def test_batches_of_runs_and_seeds_take_the_same_course() -> None:
    from fedtheory.algorithms import FedAvg
    from fedtheory.core.arrays import along_batch
    from fedtheory.core.participation import Uniform
    from fedtheory.local import StochasticSteps

    thin, dense = pair("logistic")
    method = FedAvg(StochasticSteps(3, along_batch([0.1, 0.2]), batch=2))
    for seed in (0, np.array([[1], [2], [3]])):
        ours, theirs = (
            run(method, f, np.ones(f.d), 4, seed=seed, participation=Uniform(2), progress=False) for f in (thin, dense)
        )
        close(ours.state.x, theirs.state.x, SUMMATION)
        assert ours.state.x.shape == (*np.shape(seed)[:-1], 2, 1, thin.d)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "penalised"])
def test_ground_truths_agree_and_are_certified(name, monkeypatch) -> None:
    thin, dense = pair(name)
    truths = [ground_truth(f) for f in (thin, dense)]
    if can(thin, "hess"):
        monkeypatch.setattr(engine, "DIRECT", 0)  # conjugate gradients in place of a Hessian
        truths += [ground_truth(f, witness=False) for f in (thin, dense)]
        assert all(truth.gap < 1e-25 for truth in truths)
        assert all(truth.rounding is not None and "rounding included" in truth.how for truth in truths)
    for truth in truths:  # duality gaps of the hinge have estimates of their rounding instead
        assert np.linalg.norm(truth.x - truths[1].x) <= truth.distance + truths[1].distance
        assert abs(truth.f - truths[1].f) <= truth.gap + truths[1].gap + 1e-14


def test_single_precision_and_other_libraries() -> None:
    """Rows are rounded with the rest; another library has them as an array."""
    thin, dense = pair("logistic")
    single = run(Scaffold(GradientSteps(3, 0.1)), thin, np.ones(thin.d, np.float32), 3, progress=False)
    assert {value.dtype for value in arrays_of(single.state).values()} == {np.dtype(np.float32)}
    close(single.state.x, run(Scaffold(GradientSteps(3, 0.1)), dense, np.ones(thin.d), 3).state.x, 1e-6)
    moved = move_to_library(thin, array_api_strict.zeros(1))
    x = array_api_strict.asarray(draw((4, thin.d)))
    assert type(moved.signed) is type(x)
    close(moved.grad(x), dense.grad(draw((4, thin.d))), 1e-13)
    half = dataclasses.replace(thin, signed=thin.signed.moved(np.zeros(1, np.float32)))
    assert half.signed.values.dtype == np.float32
    assert "not numbers in double precision" in ground_truth(half, witness=False).how


@pytest.mark.parametrize("signs", [False, True])
def test_constants_without_matrices_are_bounds(signs, monkeypatch) -> None:
    """Of features of one sign they are the constants themselves; of others never below them."""
    rng = np.random.default_rng(3)
    features = [rng.random((m, 6)) * (rng.random((m, 6)) < 0.6) for m in (7, 4, 9)]
    features[2] = features[2] * rng.choice([-1, 1], features[2].shape) if signs else features[2]
    f = logistic(features, [rng.choice([-1, 1], len(a)) for a in features], l2=0.1, sparse=True)
    exact = constants(dataclasses.replace(f))
    monkeypatch.setattr(samples, "ROOM", 0)
    bounds = constants(dataclasses.replace(f))
    assert "bounded by" in bounds["L"].how and "widened" in exact["L"].how
    for label in ("L_i", "L", "L_avg"):
        ours, theirs = np.asarray(bounds[label].value), np.asarray(exact[label].value)
        assert np.all(ours >= theirs * (1 - 1e-13)), label
        close(
            ours[:2] if ours.ndim else ours,
            theirs[:2] if ours.ndim else theirs,
            1e-8 if not signs or ours.ndim else 1.0,
        )


def test_wide_problems_have_certified_ground_truths() -> None:
    """Twenty thousand features, of which a sample has five: no matrix of that size is made."""
    rng = np.random.default_rng(4)
    thin = [sparse.random_array((40, 20000), density=5 / 20000, rng=rng, format="csr") for _ in range(3)]
    f = logistic(thin, [rng.choice([-1, 1], 40) for _ in thin], l2=0.01)
    assert isinstance(f.signed, SparseRows)
    truth = ground_truth(f, witness=False).good_to(1e-20)
    assert truth.rounding is not None
    trace = run(Scaffold(GradientSteps(2, 1)), f, np.zeros(f.d), 50, metrics={"f": metrics.value}, progress=False)
    assert truth.lowest <= trace["f"][-1] < trace["f"][0] and truth.f < trace["f"][-1]


def test_bad_sparse_features_are_told() -> None:
    for features, message in (
        (sparse.csr_array(np.array([[np.nan, 0.0]])), "client 0 has NaN or infinite features"),
        (sparse.csr_array((0, 2)), "client 0 has no data"),
        (sparse.csr_array(np.ones((2, 2))), r"client 0 has features of shape \(2, 2\) and labels of shape \(1,\)"),
    ):
        with pytest.raises(InvalidInput, match=message):
            logistic([features], [np.ones(features.shape[0] if "labels" not in message else 1)])


def test_the_user_may_ask_for_either(tmp_path) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.choice([-1, 1]):+d} " + " ".join(f"{k}:1" for k in sorted(rng.choice(123, 5, False) + 1))
        for _ in range(60)
    ]
    (tmp_path / "a1a").write_text("\n".join(lines) + "\n")
    options = {"clients": 3, "data": str(tmp_path), "l2": 0.1}
    kinds = {rows: build_problem("a1a", rows=rows, **options).signed for rows in ("auto", "sparse", "dense")}
    assert [type(kinds[rows]) for rows in kinds] == [np.ndarray, SparseRows, np.ndarray]
    np.testing.assert_array_equal(kinds["sparse"].dense(), kinds["dense"])
    with pytest.raises(InvalidInput, match="--rows is auto, sparse, dense, got 'csr'"):
        build_problem("a1a", rows="csr", **options)


@pytest.mark.data
def test_w8a_with_a_hundred_clients() -> None:
    data = load("w8a")
    assert sparse.issparse(data.features)
    split = by_sorted_label(data.labels, 100)
    thin, dense = (federate(data, split, l2=1e-3, sparse=kept) for kept in (None, False))
    assert isinstance(thin.signed, SparseRows) and isinstance(dense.signed, np.ndarray)
    method = Scaffold(GradientSteps(5, 0.1))
    ours, theirs = (run(method, f, np.zeros(f.d), 3, progress=False) for f in (thin, dense))
    close(ours.state.x, theirs.state.x, SUMMATION)
    close(ours["stationarity"], theirs["stationarity"], SUMMATION)
    truth = ground_truth(thin).good_to(1e-20)
    assert truth.witness is None and truth.rounding < 1e-12
    assert np.linalg.norm(dense.grad(truth.x[None, :]).mean(axis=0)) <= truth.distance * 1e-3  # mu times it

"""Local steps in sample space return the iterates of the direct path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from helpers import WRITABLE, as_parameters

import fedtheory.local.sample_space
from fedtheory import All, FedAvg, FedPD, FedProx, GradientSteps, Scaffold, Uniform, run
from fedtheory.core.arrays import along_batch, to_numpy
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import Key
from fedtheory.local.sample_space import find_sample_space
from fedtheory.local.solvers import AcceleratedSteps
from fedtheory.local.subproblem import Subproblem
from problems.logistic import Logistic, logistic

N, D, STEPS = 4, 17, 6


@dataclass(frozen=True, eq=False)
class Direct(Logistic):
    """The same problem without the ability."""

    linear_model = None


def instance(l2: float = 0.1, beta: float = 0.0, kind: type[Logistic] = Logistic) -> Logistic:
    """Four clients with 3, 2, 4 and 1 samples in 17 dimensions."""
    rng = np.random.default_rng(3)
    sizes = (3, 2, 4, 1)
    made = logistic(
        [rng.standard_normal((m, D)) for m in sizes], [rng.choice([-1, 1], m) for m in sizes], l2=l2, beta=beta
    )
    return kind(made.signed, made.weights, l2=l2, beta=beta, alpha=made.alpha)


def subproblems(problem: Logistic, start: np.ndarray) -> dict[str, Subproblem]:
    """One of each shape a method asks for."""
    rng = np.random.default_rng(5)
    a, z = rng.standard_normal((N, D)), rng.standard_normal((N, D))
    return {
        "plain": Subproblem(problem),
        "linear term": Subproblem(problem, a=a),
        "centre at the start": Subproblem(problem, rho=0.7, z=start),
        "centre elsewhere": Subproblem(problem, rho=0.7, z=z),
        "all": Subproblem(problem, a=a, rho=0.7, z=z),
        "batch of penalties": Subproblem(problem, a=a, rho=along_batch([0.1, 0.7, 3.0]), z=z),
    }


SOLVERS = {
    "gradient": GradientSteps(STEPS, 0.3),
    "own step counts": GradientSteps(np.array([1, 6, 3, 2]), 0.3),
    "step sizes": GradientSteps(STEPS, along_batch([0.01, 0.1, 0.4])),
    "schedule": GradientSteps(STEPS, lambda r, q: 0.3 / (1 + r + q)),
    "accelerated": AcceleratedSteps(STEPS, 0.2, 0.6),
}


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("which", list(subproblems(instance(), np.zeros((1, D)))))
@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("common", [True, False])
def test_same_answers(solver, which, l2, common):
    start = np.random.default_rng(1).standard_normal((1 if common else N, D))
    fast = subproblems(instance(l2), start)[which]
    slow = subproblems(instance(l2, kind=Direct), start)[which]
    assert find_sample_space(fast, start, STEPS) is not None
    assert find_sample_space(slow, start, STEPS) is None
    key = Key(0, 0)
    expected, _ = solver(slow, start, key, None)
    found, _ = solver(fast, start, key, None)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("library", as_parameters(WRITABLE))
def test_same_answers_in_every_library(library):
    start = np.random.default_rng(1).standard_normal((1, D))
    expected, _ = GradientSteps(STEPS, 0.3)(Subproblem(instance(kind=Direct)), start, Key(0, 0), None)
    moved = library.problem(instance())
    found, _ = GradientSteps(STEPS, 0.3)(Subproblem(moved), library.array(start), Key(0, 0), None)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "algorithm",
    [
        FedAvg(GradientSteps(STEPS, 0.3)),
        FedAvg(GradientSteps(np.array([1, 6, 3, 2]), 0.3)),
        FedProx(0.5, GradientSteps(STEPS, 0.3)),
        Scaffold(GradientSteps(STEPS, 0.3)),
        FedPD(0.5, GradientSteps(STEPS, 0.3)),
    ],
    ids=lambda a: type(a).__name__,
)
@pytest.mark.parametrize("participation", [All(), Uniform(2)], ids=["all", "two"])
def test_same_runs(algorithm, participation):
    if isinstance(algorithm, FedPD) and not isinstance(participation, All):
        pytest.skip("FedPD needs everyone")
    runs = [
        run(algorithm, problem, np.ones(D), 12, participation=participation, seed=4, metrics={}, progress=False).state.x
        for problem in (instance(), instance(kind=Direct))
    ]
    np.testing.assert_allclose(runs[0], runs[1], rtol=0, atol=1e-12)


def test_restriction_reuses_the_inner_products():
    whole = instance()
    part = whole.take(Clients(N, np.array([2, 0]))).take(Clients(2, np.array([1])))
    np.testing.assert_allclose(part.gram, whole.gram[[0]], rtol=1e-15)
    assert "gram" in vars(whole)


@pytest.mark.parametrize("library", as_parameters(WRITABLE))
def test_a_restriction_moved_to_another_library_has_its_own_inner_products(library):
    part = library.problem(instance().take(Clients(N, np.array([2, 0]))))
    assert type(part.gram) is type(part.signed)
    np.testing.assert_allclose(to_numpy(part.gram), instance().gram[[2, 0]], rtol=1e-13, atol=1e-14)


def test_not_used_where_it_does_not_pay_or_does_not_hold():
    rng = np.random.default_rng(0)
    many = logistic([rng.standard_normal((40, 5))], [rng.choice([-1, 1], 40)], l2=0.1)
    assert find_sample_space(Subproblem(many), np.zeros((1, 5)), 10) is None
    assert find_sample_space(Subproblem(instance()), np.zeros((1, D)), 1) is None
    assert find_sample_space(Subproblem(instance(beta=0.1)), np.zeros((1, D)), 10) is None


def test_a_wrong_inner_product_would_be_seen(monkeypatch):
    monkeypatch.setattr(
        fedtheory.local.sample_space.SampleSpace, "point", lambda self, x: self.start + x[..., -1:] * self.direction
    )
    start = np.ones((1, D))
    found, _ = GradientSteps(STEPS, 0.3)(Subproblem(instance()), start, Key(0, 0), None)
    expected, _ = GradientSteps(STEPS, 0.3)(Subproblem(instance(kind=Direct)), start, Key(0, 0), None)
    assert np.abs(found - expected).max() > 1e-3

"""Minimisers with certificates that hold, witnesses that are compared, failures that are told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import problem, ragged_logistic
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.core.errors import InvalidInput, NotAvailable, SolverFailed
from fedtheory.core.problem import constant, objective
from fedtheory.measures import ground_truth as engine
from fedtheory.measures.ground_truth import certify_point, ground_truth, solve_with_cvxpy
from problems.datasets import breast_cancer
from problems.quadratics import random_quadratics
from problems.splits import by_sorted_label, federate


@pytest.mark.parametrize("name", ["quadratics", "logistic", "same-curvature"])
def test_cvxpy_and_newton_agree(name) -> None:
    """CLARABEL's own accuracy is 1e-8 relative; the certificate is far below."""
    f = problem(name)
    with_witness, without = ground_truth(f), ground_truth(f, witness=False)
    assert with_witness.witness == pytest.approx(with_witness.f, abs=1e-7 * (1 + abs(with_witness.f)))
    assert without.witness is None
    for truth in (with_witness, without):
        assert truth.gap < 1e-25 and truth.distance < 1e-12
    assert np.linalg.norm(with_witness.x - without.x) <= with_witness.distance + without.distance + 1e-15
    assert "mu = " in with_witness.how and "CLARABEL" in with_witness.how and "none" in without.how


@given(seed=st.integers(0, 10**6), l2=st.floats(1e-3, 1), scale=st.floats(0.01, 5))
@settings(max_examples=30)
def test_certificates_hold_at_any_point(seed, l2, scale) -> None:
    """f(x) - f* <= ||grad||^2/(2 mu) and ||x - x*|| <= ||grad||/mu, true errors measured against a far better point."""
    f = ragged_logistic(l2=l2, seed=seed % 11)
    truth = ground_truth(f, witness=False).good_to(1e-20)
    x = truth.x + scale * np.random.default_rng(seed).standard_normal(f.d)
    gap, distance = certify_point(f, x, float(constant(f, "mu_avg")))
    assert 0 <= float(objective(f, x[None, :])) - truth.f <= gap + 1e-14
    assert np.linalg.norm(x - truth.x) <= distance + truth.distance


def test_certificates_are_tight_on_a_sphere() -> None:
    """For f = mu/2 ||x - c||^2 both are equalities."""
    f = random_quadratics(1, 3, L=0.5, mu=0.5, seed=0)
    x = f.solution() + np.array([1.0, 2.0, -2.0])
    gap, distance = certify_point(f, x, 0.5)
    assert distance == pytest.approx(3.0, rel=1e-12)
    assert gap == pytest.approx(float(objective(f, x[None, :])) - float(f.lower_bound().value), rel=1e-10)


def test_real_data_is_certified() -> None:
    data = breast_cancer()
    f = federate(data, by_sorted_label(data.labels, 10), l2=0.01)
    truth = ground_truth(f)
    assert truth.gap < 1e-20 and abs(truth.witness - truth.f) < 1e-6
    assert truth.good_to(1e-20) is truth
    with pytest.raises(SolverFailed, match=r"certificate of the ground truth is too weak: .*the check needs 1e-40"):
        truth.good_to(1e-40)


def test_newton_comes_home_from_a_bad_start(monkeypatch) -> None:
    f = ragged_logistic(l2=1e-3)
    far = np.full(f.d, 300.0)
    monkeypatch.setattr(
        engine, "solve_with_cvxpy", lambda g: (far, float(objective(g, engine._newton(g, far)[None, :])), "far")
    )
    truth = ground_truth(f)
    assert truth.gap < 1e-20 and "start: far" in truth.how


def test_a_good_start_is_kept_when_newton_cannot_better_it(monkeypatch) -> None:
    f = problem("quadratics")
    best = ground_truth(f, witness=False)
    monkeypatch.setattr(engine, "solve_with_cvxpy", lambda g: (best.x, best.f, "oracle"))
    monkeypatch.setattr(engine, "_newton", lambda g, start: start + 1e-3)
    assert np.array_equal(ground_truth(f).x, best.x)


def test_what_cannot_be_certified_is_refused() -> None:
    for name in ("indefinite", "penalised-logistic"):
        f = dataclasses.replace(problem(name))
        if name == "indefinite":
            f = dataclasses.replace(f, A=-f.A)
        with pytest.raises(NotAvailable, match=r"not certified strongly convex \(mu_avg = -.*add an l2 term"):
            ground_truth(f)
    with pytest.raises(InvalidInput, match="takes one instance, not a batch"):
        ground_truth(random_quadratics(2, 2, batch=(3,)))
    with pytest.raises(NotAvailable, match="no certified constant 'mu_avg'"):
        ground_truth(problem("zero-chain"))


def test_failing_solvers_are_tried_in_turn_and_told(monkeypatch) -> None:
    f = problem("logistic")
    monkeypatch.setattr(engine, "CVXPY_SOLVERS", ("BOGUS", "SCS"))
    assert "start: SCS" in ground_truth(f).how
    monkeypatch.setattr(engine, "CVXPY_SOLVERS", ("BOGUS",))
    with pytest.raises(SolverFailed, match=r"no solver minimised 'logistic regression' \(BOGUS: "):
        solve_with_cvxpy(f)


def test_an_unbounded_model_is_told() -> None:
    f = dataclasses.replace(problem("quadratics"), A=0 * problem("quadratics").A)
    with pytest.raises(SolverFailed, match=r"CLARABEL: (unbounded|infeasible)"):
        solve_with_cvxpy(f)


class _Wrong:
    """A problem whose CVXPY model is another function than its value."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def to_cvxpy(self):
        x, expression = self.inner.to_cvxpy()
        return x, expression + 0.01


def test_a_witness_that_contradicts_is_heard() -> None:
    with pytest.raises(SolverFailed, match="the CVXPY model and the problem's own value\\(\\) disagree"):
        ground_truth(_Wrong(problem("logistic")))

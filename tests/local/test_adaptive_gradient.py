"""The local solver that adapts its steps, and the rules that stop it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import LIBRARIES, Counting, as_parameters, close, play, problem, ragged_logistic, start
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import DualFL, FedPD, FedProx
from fedtheory.core.arrays import along_batch, to_numpy
from fedtheory.core.duality import local_gap
from fedtheory.core.errors import CannotTrace, InvalidInput, NotAvailable, SolverFailed
from fedtheory.core.participation import Clients, Uniform
from fedtheory.core.randomness import Key
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.newton import newton
from fedtheory.local.solvers import Exact
from fedtheory.local.stopping import DualityGap, EnergyChange, Progress, ResidualBound
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.spectrum import require_traceable
from problems.quadratics import Quadratic, random_quadratics

KEY = Key(0, 0)


def linear(f, seed=0, batch=()):
    """Local problems f_i + <a_i, .> with a random linear term."""
    return Subproblem(f, a=0.3 * np.random.default_rng(seed).standard_normal((*batch, f.n, f.d)))


def zeros(f):
    return np.zeros((1, f.d))


# ---- the solver -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothness", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("name", ["quadratics", "logistic", "penalised-logistic", "finite-sum"])
def test_arrives_at_the_minimiser_whatever_the_first_estimate(name, smoothness) -> None:
    f = problem(name)
    sub = Subproblem(f, a=linear(f).a, rho=0.3, z=start(f)[None, :])
    expected, _ = Exact()(sub, start(f)[None, :], KEY, None)
    found = Adaptive(ResidualBound(1e-22, 0.3), smoothness).solve(sub, zeros(f))
    assert np.all(found.arrived)
    close(found.x, expected, 1e-9)  # ||x - x*|| <= ||r||/modulus = sqrt(2 eps/modulus)


@given(seed=st.integers(0, 10**6), kappa=st.floats(2, 1e4))
@settings(max_examples=30, deadline=None)
def test_the_residual_bounds_the_energy_and_the_work_is_accelerated(seed, kappa) -> None:
    """h(x) - min h <= ||r||^2/(2 mu) <= eps, in a number of gradients of order sqrt(kappa) log(1/eps)."""
    f = random_quadratics(3, 6, L=kappa, mu=1.0, seed=seed)
    sub, eps = linear(f, seed), 1e-6
    found = Adaptive(ResidualBound(eps, 1.0)).solve(sub, zeros(f))
    best = newton(sub, zeros(f))
    gap, scale = sub.value(found.x) - sub.value(best), np.abs(sub.value(best)) + np.abs(sub.value(zeros(f)))
    assert np.all(found.arrived) and np.all(gap <= eps + 1e-13 * scale)
    first = np.sum(sub.grad(zeros(f)) ** 2, axis=-1) / 2
    assert np.all(found.gradients <= 30 + 5 * np.sqrt(kappa) * np.log(2 + first / eps))


def test_precision_below_the_rounding_of_values_is_reached() -> None:
    """Values cannot tell steps of energy 1e-16 apart; slopes can, and convergence stays linear."""
    f = random_quadratics(4, 8, L=1000.0, mu=1.0, seed=2)
    coarse, fine = (Adaptive(ResidualBound(eps, 1.0)).solve(linear(f), zeros(f)) for eps in (1e-8, 1e-20))
    assert np.all(fine.arrived)
    assert fine.gradients.max() < 5 * coarse.gradients.max()
    close(fine.x, newton(linear(f), zeros(f)), 1e-10)


def test_rounding_ends_a_solve_without_an_error() -> None:
    f = ragged_logistic(l2=0.1)
    solver = Adaptive(ResidualBound(1e-300, 1.0))
    found = solver.solve(linear(f), zeros(f))
    assert not np.any(found.arrived) and np.all(found.at_floor)
    answers, memory = solver(linear(f), zeros(f), KEY, None)
    close(answers, newton(linear(f), zeros(f)), 1e-13)
    assert memory is None and solver.memory(f, zeros(f)) is None


def test_the_cap_is_an_error_and_overflow_is_not() -> None:
    f = problem("quadratics")
    with pytest.raises(SolverFailed, match=r"4 local solves of round 3 did not meet ResidualBound.* within 2 steps"):
        Adaptive(ResidualBound(1e-12, 1.0), max_steps=2)(linear(f), zeros(f), Key(0, 3), None)
    endless = Quadratic(-np.ones((1, 1, 1)), np.ones((1, 1)))
    with np.errstate(all="ignore"):
        found = Adaptive(ResidualBound(1e-12, 1.0)).solve(Subproblem(endless, a=np.ones((1, 1))), 1 + zeros(endless))
    assert not found.arrived[0] and not found.at_floor[0]


def test_clients_and_runs_stop_on_their_own() -> None:
    """A client's answer and cost do not depend on who else is solved for.

    Tolerances are above the rounding of the values, where a step is short or long beyond doubt.
    """
    f = problem("quadratics")
    sub = linear(f, batch=(3,))
    sub = Subproblem(f, a=sub.a * np.array([1e-3, 1.0, 1e3])[:, None, None])
    eps = np.array([1e-7, 1e-7, 1e-2])
    together = Adaptive(ResidualBound(eps[:, None], 0.2)).solve(sub, zeros(f))
    assert together.gradients.shape == (3, f.n) and len(np.unique(together.gradients)) > 3
    for k in range(3):
        for i in range(f.n):
            only = Clients(f.n, np.array([i]))
            alone = Adaptive(ResidualBound(eps[k], 0.2)).solve(
                Subproblem(f.take(only), a=sub.a[k, [i]], clients=only), zeros(f)
            )
            assert alone.gradients[0] == together.gradients[k, i]
            close(alone.x[0], together.x[k, i], 1e-10)


def test_gradients_are_counted() -> None:
    """One client alone: the count is what the problem was asked for, the rounding regime included."""
    f = Counting(random_quadratics(1, 5, L=50.0, mu=1.0, seed=3))
    for eps in (1e-2, 1e-20):
        f.seen.clear()
        found = Adaptive(ResidualBound(eps, 1.0)).solve(linear(f), zeros(f))
        assert found.gradients[0] == sum(f.seen)


def test_no_step_is_taken_from_a_solution() -> None:
    f = problem("quadratics")
    x = newton(linear(f), zeros(f))
    found = Adaptive(ResidualBound(1e-20, 0.2)).solve(linear(f), x)
    assert np.all(found.gradients == 1)
    np.testing.assert_array_equal(found.x, x)


@pytest.mark.parametrize("xp", as_parameters(LIBRARIES))
def test_every_library_gives_the_same_answers(xp) -> None:
    f = problem("penalised-logistic")
    algorithm = FedProx(2.0, Adaptive(ResidualBound(1e-20, 1.0)))
    ours = play(algorithm, xp.problem(f), xp.array(start(f)[None, :]), 2)[-1]
    theirs = play(algorithm, f, start(f)[None, :], 2)[-1]
    assert type(ours.x) is type(xp.array(start(f)))
    close(to_numpy(ours.x), theirs.x, 1e-9)


@pytest.mark.parametrize("schedule", [None, Uniform(2)], ids=["all", "two"])
def test_it_serves_other_methods(schedule) -> None:
    f = problem("logistic")
    local = Adaptive(ResidualBound(1e-24, 1.0))
    methods = [(FedProx(1.0, local), FedProx(1.0))]
    if schedule is None:
        methods.append((FedPD(0.3, local), FedPD(0.3)))
    for ours, exact in methods:
        a, b = (play(m, f, start(f)[None, :], 4, schedule)[-1] for m in (ours, exact))
        close(a.x, b.x, 1e-10)


def test_it_needs_numbers() -> None:
    with pytest.raises(CannotTrace, match="Adaptive: it adapts its steps"):
        require_traceable(DualFL(0.1, 0.0, Adaptive(ResidualBound(1e-3, 1.0))), "symbolic")


# ---- rules ------------------------------------------------------------------------------------------------------------


def gap_at(f, sub, nu, x):
    return local_gap(f, x, -sub.a / nu, nu)


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.95))
@settings(max_examples=60, deadline=None)
def test_what_the_residual_bounds(seed, share) -> None:
    """||r||^2/(2(L-nu)) <= Gamma <= min{||r||^2/(2(mu-nu)), mu/(mu-nu) times the energy gap} for nu < mu (DUALFL-N1)."""
    mu, L = 1.0, 20.0
    f = random_quadratics(2, 3, L=L, mu=mu, seed=seed)
    nu, sub = share * mu, linear(f, seed)
    x = np.random.default_rng(seed + 1).standard_normal((f.n, f.d))
    gap, r = gap_at(f, sub, nu, x), np.sum(sub.grad(x) ** 2, axis=-1)
    energy = sub.value(x) - sub.value(newton(sub, x))
    slack = 1e-10 * (1 + gap)
    assert np.all(gap >= r / (2 * (L - nu)) - slack)
    assert np.all(gap <= r / (2 * (mu - nu)) + slack) and np.all(gap <= mu / (mu - nu) * energy + slack)


@pytest.mark.parametrize("name", ["quadratics", "logistic", "smooth-svm"])
def test_the_gap_stops_a_solve(name) -> None:
    f = problem(name)  # mu = 0.2 or 0.1
    nu = 0.05
    rule = DualityGap(lambda r: 10.0 ** -(r + 3), nu)
    for r in (0, 4):
        found = Adaptive(rule).solve(linear(f), zeros(f), round=r)
        assert np.all(found.arrived) and np.all(gap_at(f, linear(f), nu, found.x) <= 10.0 ** -(r + 3))
    exact, inexact = (play(DualFL(nu, 0.01, local), f, start(f)[None, :], 6)[-1] for local in (Exact(), Adaptive(rule)))
    assert 1e-9 < np.abs(exact.x - inexact.x).max() < 0.05


def test_the_gap_is_infinite_off_a_thin_domain() -> None:
    """A coordinate with curvature nu = mu, as of a feature that a client never sees: descent never enters (DUALFL-C2)."""
    mu = 1.0
    f = Quadratic(np.array([[[mu, 0.0], [0.0, 3.0]]]), np.array([[0.0, 1.0]]))
    sub = Subproblem(f, a=np.array([[-0.4, 0.2]]))
    x = zeros(f)
    for _ in range(20):
        x = x - 0.1 * sub.grad(x)
        assert np.isinf(gap_at(f, sub, mu, x)[0])
    assert np.isfinite(gap_at(f, sub, mu, np.array([[0.4, 0.0]]))[0])


def test_the_gap_is_that_of_a_linear_term() -> None:
    f = problem("quadratics")
    with pytest.raises(InvalidInput, match="a linear term and no quadratic one"):
        Adaptive(DualityGap(1e-3, 0.1)).solve(Subproblem(f, rho=1.0, z=zeros(f)), zeros(f))
    g = problem("sines")
    with pytest.raises(NotAvailable, match="needs 'ridged'"):
        Adaptive(DualityGap(1e-3, 0.1)).solve(linear(g), zeros(g))


def test_energy_change_stops_on_the_last_two_values() -> None:
    """The rule of DualFL's experiments; slow progress looks like arrival, so it bounds no error."""
    f = problem("quadratics")
    found = Adaptive(EnergyChange()).solve(linear(f), zeros(f))
    close(found.x, newton(linear(f), zeros(f)), 1e-4)
    at = Progress(zeros(f), zeros(f), np.array([1.0, 1.0, 0.0]), np.array([1.0 + 1e-13, 1.1, 0.0]))
    assert EnergyChange()(linear(f), at, 0).tolist() == [True, False, True]
    assert not np.any(EnergyChange(1e9)(linear(f), Progress(zeros(f), zeros(f), np.ones(2), np.full(2, np.inf)), 0))


def test_tolerances_along_a_batch() -> None:
    f = problem("quadratics")
    eps = np.array([1e-4, 1e-12])[:, None]
    together = Adaptive(ResidualBound(eps, 0.2)).solve(linear(f, batch=(2,)), zeros(f))
    r = np.sum(linear(f, batch=(2,)).grad(together.x) ** 2, axis=-1) / 0.4
    assert np.all(r <= eps) and np.all(together.gradients[0] < together.gradients[1])
    play(DualFL(along_batch([0.1, 0.05]), 0.1, Adaptive(ResidualBound(eps, np.array([[0.1], [0.15]])))), f, zeros(f), 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Adaptive(1e-3),
        lambda: Adaptive(EnergyChange(), smoothness=0),
        lambda: Adaptive(EnergyChange(), max_steps=0),
        lambda: ResidualBound(1e-3, 0.0),
        lambda: ResidualBound(1e-3, np.array([[1.0], [-1.0]])),
        lambda: DualityGap(1e-3, -1.0),
    ],
)
def test_bad_settings_are_refused(make) -> None:
    with pytest.raises(InvalidInput, match=r"must be|got"):
        make()

"""Conjugates, Fenchel-Young gaps and dual values: closed forms, brute force, CVXPY, strong duality."""

from __future__ import annotations

import dataclasses
import importlib
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from helpers import NONSMOOTH, PROBLEMS, close, problem, ragged_logistic
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import FedPD
from fedtheory.core.arrays import average, inner, to_numpy
from fedtheory.core.duality import (
    certified_gap,
    dual_point,
    dual_value,
    dualfl_dual_value,
    dualfl_exact_gap,
    dualfl_gap,
    duality_gap,
    fenchel_young_gap,
    local_dual,
    local_gap,
    local_primal,
)
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import can, constant, objective
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1, Regularised, Ridge
from fedtheory.local.conjugates import newton_conjugate
from fedtheory.local.newton import newton
from fedtheory.local.solvers import Exact
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures.ground_truth import ground_truth, solve_consensus
from fedtheory.measures.metrics import gap as gap_metric
from fedtheory.measures.primal_dual import gap_of_dual_points, gap_of_dualfl, largest_local_gap, primal_dual_gap
from fedtheory.running.runner import run
from problems.finite_sum import rough_samples
from problems.huber import Huber, random_huber
from problems.logistic import logistic
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics
from problems.separable import skipping_instance
from problems.svm import svm

conjugates = importlib.import_module("fedtheory.local.conjugates")
CONJUGATES = [name for name in sorted(PROBLEMS) if can(problem(name), "conjugate")]
FINITE = [name for name in CONJUGATES if name != "indefinite"]
seeds = st.integers(0, 10**6)


def draw(f, seed, scale=1.0, shape=()):
    return scale * np.random.default_rng(seed).standard_normal((*shape, f.n, f.d))


# ---- quadratics ---------------------------------------------------------------------------------------------------


def test_a_singular_quadratic_has_a_finite_conjugate_on_its_range_only() -> None:
    """f = (x1 + x2)^2/2 - x1: finite for y + b along (1, 1), where f^*(y) = t^2/2 with y + b = t (1, 1)."""
    f = Quadratic(np.ones((1, 2, 2)), np.array([[1.0, 0.0]]))
    on = np.array([[3.0, 3.0]]) - f.b
    np.testing.assert_allclose(f.conjugate(on), [4.5], rtol=1e-14)
    close(f.conjugate_grad(on), np.array([[1.5, 1.5]]), 1e-14)  # the maximiser of least norm
    off = on + 1e-9 * np.array([[1.0, -1.0]])
    assert np.isposinf(f.conjugate(off)).all()
    with pytest.raises(InvalidInput, match="outside the domain of a conjugate"):
        f.conjugate_grad(off)


@given(seed=seeds, rank=st.integers(0, 4), scale=st.sampled_from([1e-6, 1.0, 1e6]))
@settings(max_examples=40)
def test_gradients_of_rank_deficient_quadratics_count_as_inside(seed, rank, scale) -> None:
    """y = A x - b is in the domain up to rounding, for any orientation of the kernel; a step off it is not."""
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    a = scale * (q[:, :rank] * rng.uniform(0.5, 2, rank)) @ q[:, :rank].T
    f = Quadratic(((a + a.T) / 2)[None], rng.standard_normal((1, 5)))
    x = draw(f, seed + 1)
    y = f.grad(x)
    gap = f.value(x) + f.conjugate(y) - inner(x, y)
    assert np.all(np.abs(gap) <= 1e-12 * (1 + scale))
    if rank < 5:
        assert np.isposinf(f.conjugate(y + 1e-6 * (1 + scale) * q[:, -1])).all()


def test_indefinite_quadratics_have_no_finite_conjugate() -> None:
    f = problem("indefinite")
    assert np.isposinf(f.conjugate(draw(f, 0))).all()
    f = scalar_quadratics([1.0, -1.0])
    assert np.isfinite(f.conjugate(np.zeros((2, 1)))[0]) and np.isposinf(f.conjugate(np.zeros((2, 1)))[1])
    f = rough_samples(2, H=10.0, mean=-0.5)
    assert np.isposinf(f.conjugate(np.zeros((2, 1)))).all()
    with pytest.raises(InvalidInput, match="must be positive"):
        f.conjugate_grad(np.zeros((2, 1)))
    flat = rough_samples(2, H=10.0, mean=0.0)
    np.testing.assert_array_equal(flat.conjugate(np.array([[0.0], [1.0]])), [0.0, np.inf])


def test_conjugates_of_fractions_are_exact() -> None:
    """(x - 1)^2 * 3/2 - 3/2 (1 - 1): f^*(y) = y + y^2/6."""
    f = scalar_quadratics([Fraction(3)], [Fraction(1)])
    y = np.array([[Fraction(2)]])
    assert f.conjugate(y)[0] == 2 + Fraction(4, 6)
    assert f.conjugate_grad(y)[0, 0] == Fraction(5, 3)


def test_conjugates_of_a_batch_and_of_some_clients_are_their_rows() -> None:
    f = random_quadratics(4, 3, mu=0.2, batch=(2,), seed=1)
    y = draw(f, 5, shape=(2,))
    for k in range(2):
        one = dataclasses.replace(f, A=f.A[k], b=f.b[k])
        close(f.conjugate(y)[k], one.conjugate(y[k]), 1e-13)
        part = one.take(Clients(4, np.array([2, 0])))
        close(part.conjugate(y[k][[2, 0]]), one.conjugate(y[k])[[2, 0]], 1e-13)


# ---- every problem with a conjugate -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONJUGATES)
@given(seed=seeds, scale=st.sampled_from([0.01, 1.0, 30.0]))
@settings(max_examples=15)
def test_fenchel_young_is_an_equality_at_gradients_and_an_inequality_elsewhere(name, seed, scale) -> None:
    f = problem(name)
    x, z = draw(f, seed, scale), draw(f, seed + 1, scale)
    y = f.grad(x)
    conjugate = f.conjugate(y)
    if name == "indefinite":
        assert np.isposinf(conjugate).all()
        return
    size = np.abs(f.value(x)) + np.abs(conjugate) + np.abs(inner(x, y)) + 1
    assert np.all(np.abs(f.value(x) + conjugate - inner(x, y)) <= 1e-13 * size)
    size = np.abs(f.value(z)) + np.abs(conjugate) + np.abs(inner(z, y)) + 1
    assert np.all(f.value(z) + conjugate - inner(z, y) >= -1e-14 * size)


@pytest.mark.parametrize("name", FINITE)
def test_conjugates_on_every_library(name, xp) -> None:
    f, moved = problem(name), xp.problem(problem(name))
    y = f.grad(draw(f, 3))
    found = moved.conjugate(xp.array(y))
    assert type(found) is type(xp.array(y))
    close(to_numpy(found), f.conjugate(y), 1e-12)
    if can(f, "conjugate_grad"):
        close(to_numpy(moved.conjugate_grad(xp.array(y))), f.conjugate_grad(y), 1e-9)


@pytest.mark.parametrize("name", FINITE)
def test_conjugates_row_by_row(name) -> None:
    """A batch of dual points, a common dual point, some of the clients: always the single ones."""
    f = problem(name)
    y = f.grad(draw(f, 7, shape=(3,)))
    together = f.conjugate(y)
    for k in range(3):
        close(together[k], f.conjugate(y[k]), 1e-12)
    close(f.conjugate(y[0, :1]), f.conjugate(np.broadcast_to(y[0, :1], (f.n, f.d))), 1e-12)
    order = np.array([f.n - 1, 0])
    close(f.take(Clients(f.n, order)).conjugate(y[0][order]), together[0][order], 1e-12)


@pytest.mark.parametrize("name", [n for n in FINITE if can(problem(n), "to_cvxpy") and can(problem(n), "slice")])
def test_conjugates_are_what_cvxpy_maximises(name) -> None:
    """An independent model of f_i and an independent solver, good to about 1e-7."""
    import cvxpy as cp

    f = problem(name)
    y = f.grad(draw(f, 11)) + 0.3 * draw(f, 12)
    ours = f.conjugate(y)
    for i in range(f.n):
        x, expression = f.slice(i, i + 1).to_cvxpy()
        theirs = cp.Problem(cp.Maximize(y[i] @ x - expression)).solve(solver="CLARABEL")
        assert ours[i] == pytest.approx(theirs, abs=1e-6 * (1 + abs(theirs)))


@pytest.mark.parametrize("name", [n for n in FINITE if can(problem(n), "conjugate_grad")])
@given(seed=seeds)
@settings(max_examples=10)
def test_gradients_of_conjugates_are_the_maximisers(name, seed) -> None:
    """<x, y> - f(x) attains f^*(y) at conjugate_grad(y), which is grad f^* where f is strictly convex."""
    f = problem(name)
    y = draw(f, seed, 2.0)
    x = f.conjugate_grad(y)
    assert np.all(np.abs(inner(x, y) - f.value(x) - f.conjugate(y)) <= 1e-11 * (1 + np.abs(f.conjugate(y))))


LINES = {
    "quadratic": lambda: scalar_quadratics([0.7], [0.4]),
    "root": lambda: skipping_instance(0.3, 0.5).slice(1, 2),
    "huber": lambda: random_huber(1, 1, mu=0.3, seed=2),
    "absolute": lambda: random_huber(1, 1, width=0, mu=0.3, seed=3),
    "logistic": lambda: logistic([[[1.0], [-0.5], [2.0]]], [[1, 1, -1]], l2=0.3),
    "hinge": lambda: svm([[[1.0], [-0.5], [2.0]]], [[1, 1, -1]], l2=0.3),
    "squared hinge": lambda: svm([[[1.0], [-0.5], [2.0]]], [[1, 1, -1]], l2=0.3, width=0.5, squared=True),
}


@pytest.mark.parametrize("make", LINES.values(), ids=LINES)
def test_brute_force_on_a_line(make) -> None:
    """f^* and f^** as suprema over grids: below by at most spacing^2/8 times the curvature, or spacing times the jump at a kink."""
    f = make()
    grid, spacing = np.linspace(-30, 30, 60_001), 1e-3
    values = f.value(grid[:, None, None])[:, 0]
    for y in (-2.0, -0.3, 0.0, 0.8, 2.5):
        brute = np.max(grid * y - values)
        exact = f.conjugate(np.array([[y]]))[0]
        assert -1e-12 <= exact - brute <= 4 * spacing
    dual = f.conjugate(grid[:, None, None])[:, 0]
    for x in (-3.0, -0.4, 0.0, 1.0, 2.0):
        value = f.value(np.array([[x]]))[0]
        brute = np.max(np.where(np.isfinite(dual), grid * x - dual, -np.inf))
        assert -1e-12 <= value - brute <= spacing**2 / (8 * 0.3) + 1e-12  # f^* is 1/mu-smooth, mu >= 0.3


@given(seed=seeds, steps=st.integers(0, 3))
@settings(max_examples=10)
def test_a_newton_that_has_not_arrived_still_bounds_the_conjugate(seed, steps) -> None:
    """upper - error <= f^* <= upper however early Newton's method stops, and the two meet when it does not."""
    f = problem("logistic")
    y = draw(f, seed, 2.0)
    exact, floor = newton_conjugate(f, y, f.l2)
    assert floor.max() < 1e-25
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjugates, "newton", lambda sub, start: newton(sub, start, iterations=steps))
        upper, error = newton_conjugate(f, y, f.l2)
    assert np.all(exact <= upper + 1e-14 * (1 + upper)) and np.all(upper - error <= exact + 1e-14 * (1 + upper))


@given(seed=seeds)
@settings(max_examples=10)
def test_the_upper_bound_is_the_value_of_the_samples_dual(seed) -> None:
    """sum_k w_k phi^*(a_k) + ||y - sum_k w_k a_k s_k||^2/(2 l2) at a_k = phi'(<s_k, x>), wherever x is."""
    f = problem("logistic")
    y = draw(f, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjugates, "newton", lambda sub, start: newton(sub, start, iterations=1))
        upper, _ = newton_conjugate(f, y, f.l2)
        x = conjugates.newton_maximiser(f, y, 0 * y)
    a = -1 / (1 + np.exp((f.signed @ x[..., None])[..., 0]))
    entropy = -a * np.log(-a) + (1 + a) * np.log1p(a)
    rest = y - ((f.weights * a)[..., None] * f.signed).sum(axis=-2)
    close(upper, (f.weights * entropy).sum(axis=-1) + (rest * rest).sum(axis=-1) / (2 * f.l2), 1e-13)


# ---- ridges -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in sorted(PROBLEMS) if can(problem(n), "ridged")])
def test_ridges_are_added_and_taken_away(name) -> None:
    f = problem(name)
    more = f.ridged(0.25)
    x = draw(f, 1)
    close(more.value(x), f.value(x) + 0.125 * (x * x).sum(-1), 1e-13)
    close(more.grad(x), f.grad(x) + 0.25 * x, 1e-13)
    close(more.ridged(-0.25).grad(x), f.grad(x), 1e-13)
    assert float(constant(more, "mu")) == pytest.approx(float(constant(f, "mu")) + 0.25, abs=1e-12)


# ---- the consensus problem ----------------------------------------------------------------------------------------

SOLVED = [name for name in FINITE if can(problem(name), "slice") or can(problem(name), "hess")]


@cache
def pair(name):
    """A primal-dual solution: x* ``(1, d)`` and y ``(n, d)``, with the certified value."""
    f = problem(name)
    truth = ground_truth(f)
    y = solve_consensus(f)[1] if name in NONSMOOTH else f.grad(truth.x[None, :])
    return truth, truth.x[None, :], y


@pytest.mark.parametrize("name", SOLVED)
def test_strong_duality(name) -> None:
    f = problem(name)
    truth, x, y = pair(name)
    gap = float(duality_gap(f, x, y))
    assert abs(gap) <= truth.gap + 1e-12 * (1 + abs(truth.f))
    close(fenchel_young_gap(f, x, y), np.zeros(f.n), 1e-11)
    assert float(dual_value(f, y)) == pytest.approx(truth.f, abs=1e-11)


@pytest.mark.parametrize("name", SOLVED)
@given(seed=seeds, scale=st.sampled_from([1e-3, 1.0, 10.0]))
@settings(max_examples=15)
def test_weak_duality_everywhere(name, seed, scale) -> None:
    """D(y) <= P* for any y: the projection on duals of mean zero makes every point feasible; fenchel_young_gap >= 0."""
    f = problem(name)
    truth, _, y = pair(name)
    y = y + draw(f, seed, scale)
    assert float(dual_value(f, y)) <= truth.f + 1e-13 * (1 + abs(truth.f) + np.abs(f.conjugate(y)).max())
    x = draw(f, seed + 1, scale)[:1]
    gap = fenchel_young_gap(f, x, y)
    assert np.all(gap >= -1e-13 * (1 + np.abs(f.conjugate(y)) + np.abs(f.value(x))))


@pytest.mark.parametrize("h", [L1(0.2), Ridge(0.5)], ids=["l1", "ridge"])
@pytest.mark.parametrize("name", ["quadratics", "logistic", "hinge-svm", "tv-chain"])
@given(seed=seeds)
@settings(max_examples=10)
def test_certified_gaps_of_composite_problems_bound_the_error(name, h, seed) -> None:
    """dual_point is feasible whatever it is given, and the gap bounds P(x) - P*; at the solution it closes."""
    f = Regularised(problem(name), h)
    truth, y = composite_pair(name, h)
    rng = np.random.default_rng(seed)
    for scale, step in ((1.0, 0.3), (1e-3, 1.0), (0.0, 1.0)):
        x, dual, p = dual_point(f, truth.x + scale * rng.standard_normal((1, f.d)), y + scale * draw(f, seed), step)
        close(average(dual), -p, 1e-14)
        h_conjugate = h.conjugate(p * (1 - 1e-12))[0]  # rounding may have put p just outside the domain
        assert h_conjugate == pytest.approx(float((x * p).sum() - h.value(x)[0]), abs=1e-11)
        gap, room = (float(v) for v in certified_gap(f, x, dual, p))
        assert gap >= room > 0
        assert float(objective(f, x)) - truth.f <= gap + truth.gap
        if scale == 0:
            assert gap <= 1e-8


@cache
def composite_pair(name, h):
    f = Regularised(problem(name), h)
    return ground_truth(f), solve_consensus(f)[1]


def test_the_two_certificates_agree() -> None:
    """||grad f + p||^2/(2 mu) and the duality gap bound the same error, and both hold at a point whose error is known."""
    f = Regularised(problem("logistic"), L1(0.15))
    truth = ground_truth(f)
    assert truth.gap < 1e-24 and np.any(truth.x == 0), "the l1 norm sets coordinates to zero"
    rough = truth.x[None, :] + 1e-4
    x, y, p = dual_point(f, rough, f.grad(rough), 1.0)
    error = float(objective(f, x)) - truth.f
    g = average(f.grad(x)) + p
    assert 0 < error <= float((g * g).sum()) / (2 * float(constant(f, "mu_avg")))
    assert error <= float(certified_gap(f, x, y, p)[0])
    assert truth.x == pytest.approx(ground_truth(f, witness=False).x, abs=1e-12)


# ---- DualFL -------------------------------------------------------------------------------------------------------

LOCAL = ["quadratics", "logistic", "softmax", "smooth-svm", "hinge-svm", "tv-chain", "huber"]


def local_answer(f, zeta, nu):
    """argmin f_i - nu <zeta_i, .>, DualFL's local problem."""
    return Exact()(Subproblem(f, a=-nu * zeta), 0 * zeta, Key(0, 0), None)[0]


@pytest.mark.parametrize("name", LOCAL)
@given(seed=seeds, share=st.sampled_from([0.3, 0.9]))
@settings(max_examples=10)
def test_exact_local_answers_close_the_local_gap(name, seed, share) -> None:
    """DualFL, Proposition 3.1: E^{n,i}(x_i) + E_d^{n,i}(nu (zeta_i - x_i)) = 0; elsewhere Gamma > 0 is their sum."""
    f = problem(name)
    nu = share * float(constant(f, "mu"))
    zeta = draw(f, seed)
    x = local_answer(f, zeta, nu)
    for point, exact in ((x, True), (x + 0.1 * draw(f, seed + 1), False)):
        xi = nu * (zeta - point)
        gamma = local_gap(f, point, zeta, nu)
        total = local_primal(f, point, zeta, nu) + local_dual(f, xi, zeta, nu)
        size = 1 + np.abs(f.value(point)) + (zeta * zeta).sum(-1) / nu
        assert np.all(np.abs(gamma - total) <= 1e-12 * size)
        assert np.all(np.abs(gamma) <= 1e-11 * size) if exact else np.all(gamma > 1e-6)


@given(seed=seeds, share=st.sampled_from([0.3, 0.9, 0.99]))
@settings(max_examples=20)
def test_local_gaps_lie_between_their_bounds(seed, share) -> None:
    """||r||^2/(2 (L - nu)) <= Gamma <= ||r||^2/(2 (mu - nu)) and Gamma <= mu/(mu - nu) * energy gap (DUALFL-N1)."""
    f = random_quadratics(3, 4, mu=0.2, seed=seed)
    mu, L, nu = 0.2, 1.0, share * 0.2
    zeta = draw(f, seed)
    best = local_answer(f, zeta, nu)
    x = best + draw(f, seed + 1)
    gamma = local_gap(f, x, zeta, nu)
    r = ((f.grad(x) - nu * zeta) ** 2).sum(-1)
    assert np.all(gamma >= r / (2 * (L - nu)) * (1 - 1e-9))
    assert np.all(gamma <= r / (2 * (mu - nu)) * (1 + 1e-9))
    energy = local_primal(f, x, zeta, nu) - local_primal(f, best, zeta, nu)
    assert np.all(gamma <= mu / (mu - nu) * energy * (1 + 1e-9))


def test_local_gaps_at_the_modulus_may_be_infinite() -> None:
    """DUALFL-G1 (a) and (d): dom g^* is thin for nu = mu."""
    square = scalar_quadratics([0.5])
    zeta = np.array([[6.0]])
    assert local_gap(square, np.array([[6.0]]), zeta, 0.5)[0] == 0.0
    assert np.isposinf(local_gap(square, np.array([[6.0 + 1e-6]]), zeta, 0.5)[0])
    f = Huber(
        *(np.array([[v]]) for v in (1.0, 0.0, 0.0, 0.0, 0.5))
    )  # theta^2/4 + |theta|, nu zeta = 3: the solution is 4
    assert np.isposinf(local_gap(f, np.array([[4.0 - 1e-6]]), zeta, 0.5)[0])
    for e in (1e-2, 1e-4):
        at = np.array([[4.0 + e]])
        energy = local_primal(f, at, zeta, 0.5) - local_primal(f, np.array([[4.0]]), zeta, 0.5)
        assert local_gap(f, at, zeta, 0.5)[0] == pytest.approx(4 * np.sqrt(energy[0]), rel=e)


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("share", [0.4, 0.95])
def test_dualfl_duality_at_the_solution(name, share) -> None:
    """At xi_i = s_i - nu x*: n P* = -E_d(xi), x* = -mean(xi)/nu (DualFL, (20), (21), with the n)."""
    f = problem(name)
    nu = share * float(constant(f, "mu"))
    truth, x, s = pair(name)
    s = s - average(s)
    xi = s - nu * x
    assert float(dualfl_dual_value(f, xi, nu)) == pytest.approx(truth.f, abs=1e-10 * (1 + abs(truth.f)))
    close(-average(xi) / nu, x, 1e-13)
    other = xi + 0.1 * draw(f, 4)
    assert float(dualfl_dual_value(f, other, nu)) < truth.f


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DualFLState:
    x: object
    x_i: object
    z_i: object


def dualfl(f, nu, rounds):
    """DualFL without inertia: theta_i = argmin f_i - nu <zeta_i, .>, zeta_i <- zeta_i + theta - theta_i."""
    zeta = np.zeros((f.n, f.d))
    for _ in range(rounds):
        x_i = local_answer(f, zeta, nu)
        x = average(x_i)
        yield DualFLState(x, x_i, zeta + x - x_i), zeta
        zeta = zeta + x - x_i


@pytest.mark.parametrize("name", LOCAL)
def test_dualfl_gaps_along_a_run(name) -> None:
    """The gap bounds the error in every round and falls; the one without conjugates is the same after exact local solves."""
    f = problem(name)
    nu = 0.5 * float(constant(f, "mu"))
    truth = ground_truth(f)
    metric, local = gap_of_dualfl(nu), largest_local_gap(nu)
    gaps = []
    for state, zeta in dualfl(f, nu, 30):
        gap = float(metric(f, state))
        assert float(objective(f, state.x)) - truth.f <= gap + 1e-12
        xi = nu * (zeta - state.x_i)
        exact = float(dualfl_exact_gap(f, state.x, state.x_i, xi, nu))
        assert gap == pytest.approx(exact, abs=1e-10)
        assert gap == pytest.approx(float(dualfl_gap(f, state.x, xi, nu)), abs=1e-10)
        assert float(local(f, state)) <= 1e-10
        gaps.append(gap)
    assert gaps[-1] < 0.1 * gaps[0]


# ---- metrics ------------------------------------------------------------------------------------------------------


def test_duals_of_fedpd_close_the_gap() -> None:
    """lam_i -> -grad f_i(x*); the gap bounds the error in every round, and the wrong sign does not close it."""
    f = problem("logistic")
    truth = ground_truth(f)
    algorithm = FedPD(1.0, Exact())
    metrics = {"gap": primal_dual_gap, "wrong": gap_of_dual_points("lam_i"), "error": gap_metric(truth.f)}
    trace = run(algorithm, f, np.zeros(f.d), 150, metrics=metrics)
    gap, error = (np.asarray(trace[name]) for name in ("gap", "error"))
    assert np.all(error <= gap + 1e-14) and gap[-1] < 1e-12 < gap[0]
    assert np.asarray(trace["wrong"])[-1] > 0.01
    with pytest.raises(InvalidInput, match="the state has no array 'xi'; its arrays are x, x_i, x0_i, lam_i"):
        run(algorithm, f, np.zeros(f.d), 1, metrics={"gap": gap_of_dual_points("xi")})


def test_gaps_of_a_batch_are_the_gaps_of_its_runs() -> None:
    f = problem("quadratics")
    x, y = draw(f, 0, shape=(3,))[..., :1, :], draw(f, 1, shape=(3,))
    together = duality_gap(f, x, y)
    assert together.shape == (3,)
    close(together, np.array([float(duality_gap(f, x[k], y[k])) for k in range(3)]), 1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_dual_of_a_regularised_problem_is_below_its_least_value(seed) -> None:
    """min f + (w/2)||x||^2 of quadratics is -<b, (A + w I)^{-1} b>/2 with the averages A and b, and reached by the dual."""
    clients = random_quadratics(3, 2, mu=0.1, seed=seed)
    f = Regularised(clients, Ridge(0.5))
    a, b = clients.A.mean(axis=0) + 0.5 * np.eye(2), clients.b.mean(axis=0)
    x_star = np.linalg.solve(a, b)[None]
    least = -(b @ x_star[0]) / 2 + objective(clients, np.zeros((1, 2)))
    best = clients.grad(x_star)
    assert dual_value(f, best) == pytest.approx(least, abs=1e-13) and objective(f, x_star) == pytest.approx(least)
    assert abs(duality_gap(f, x_star, best)) < 1e-13
    for k in range(5):
        assert dual_value(f, best + draw(clients, 10 * seed + k, 0.3)) < least
    centred = best - best.mean(axis=0)
    assert dual_value(f, centred) < least - 1e-6, "the mean of the duals is the regulariser's, and is not taken away"


def test_what_has_no_conjugate_says_so() -> None:
    f = ragged_logistic(l2=0.0)
    with pytest.raises(NotAvailable, match=r"a dual value needs 'conjugate' .* does not give; it gives"):
        dual_value(f, draw(f, 0))
    with pytest.raises(NotAvailable, match="DualFL's dual needs 'conjugate'"):
        dualfl_dual_value(ragged_logistic(l2=0.1), draw(f, 0), 0.1)
    with pytest.raises(InvalidInput, match="expected l2 >= 0"):
        dualfl_dual_value(ragged_logistic(l2=0.1), draw(f, 0), 0.2)  # nu above the modulus

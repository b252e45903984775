"""DualFL and its dual forms: what is the same method, what is known of rates; limits of the dual methods."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from helpers import close, composite_solution, play, problem, x0_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import (
    APDA,
    DualAscent,
    DualFista,
    DualFL,
    FiveGCS,
    RandProx,
    Scaffnew,
)
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.algorithms.momentum import beta
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Fixed, Uniform
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1, Regularised, Ridge
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stopping import ResidualBound
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.symbolic import play_exactly
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics

ROUNDING = 1e-12  # the same arithmetic in another order


def heterogeneity(f):
    """V = mean_j ||grad f_j(x*)||^2."""
    return float(np.mean(np.sum(f.grad(f.solution()[None, :]) ** 2, axis=-1)))


def errors(states, x):
    return np.array([float(np.sum((s.x - x) ** 2)) for s in states])


# ---- inertia ------------------------------------------------------------------------------------------------------


def sequence(rho, rounds):
    """t_n and beta_n of equation (5), as printed."""
    t = [1.0]
    for _ in range(rounds):
        r = 1 - rho * t[-1] ** 2
        t.append((r + np.sqrt(r**2 + 4 * t[-1] ** 2)) / 2)
    return t, [(t[n] - 1) / t[n + 1] * (1 - t[n + 1] * rho) / (1 - rho) for n in range(rounds)]


@pytest.mark.parametrize("rho", [0.0, 1e-6, 0.01, 0.3, 0.9])
def test_inertia_obeys_its_identities(rho) -> None:
    """t_{n+1}(t_{n+1} - 1) = t_n^2 (1 - rho t_{n+1}), the limits of t_n and beta_n, beta_0 = 0 (DUALFL-T-SEQ)."""
    t, found = sequence(rho, 200)
    for old, new in pairwise(t):
        assert new * (new - 1) == pytest.approx(old**2 * (1 - rho * new), rel=1e-12, abs=1e-12)
    assert found[0] == beta(rho, 0) == 0
    assert [beta(rho, n) for n in range(200)] == pytest.approx(found, rel=1e-13, abs=1e-15)
    if rho >= 0.01:
        assert beta(rho, 199) == pytest.approx((1 - rho**0.5) / (1 + rho**0.5), rel=1e-6)


def test_inertia_far_out() -> None:
    """The sequence is kept in blocks; integers and NumPy numbers are numbers."""
    _, found = sequence(0.0, 1100)
    assert [beta(0.0, n) for n in (255, 256, 257, 511, 512, 1099)] == pytest.approx(
        [found[n] for n in (255, 256, 257, 511, 512, 1099)], rel=1e-13
    )
    assert beta(0, 7) == beta(0.0, 7) == beta(np.float64(0), 7)


def test_inertia_without_strong_convexity_is_fistas() -> None:
    t = 1.0
    for n in range(6):
        new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        assert beta(0.0, n) == pytest.approx((t - 1) / new, rel=1e-15)
        t = new


def test_inertia_in_symbols_and_batches() -> None:
    sympy = pytest.importorskip("sympy")
    rho = sympy.Symbol("rho", positive=True)
    for n in range(3):
        assert float(beta(rho, n).subs(rho, sympy.Rational(1, 4))) == pytest.approx(beta(0.25, n), rel=1e-14)
        assert beta(along_batch([0.0, 0.25]), n)[1, 0, 0] == pytest.approx(beta(0.25, n), rel=1e-14)


def test_inertia_may_be_prescribed_round_by_round() -> None:
    """A function of the round is beta_n itself; that of the sequence gives the sequence's method."""
    f = problem("quadratics")
    for method in (DualFL, DualFista, DualAscent):
        ours, theirs = (play(method(0.1, rho), f, x0_of(f), 6)[-1] for rho in (lambda n: beta(0.2, n), 0.2))
        close(ours.x, theirs.x, ROUNDING)
    assert beta(lambda n: 10 * n, 3) == 30


@pytest.mark.parametrize("bad", [-0.1, 1, 1.5, float("nan"), np.array([0.1, 0.2])])
def test_momentum_lies_below_one(bad) -> None:
    for make in (DualFL, DualFista, DualAscent):
        with pytest.raises(InvalidInput, match=r"must lie in \[0, 1\), got|expected a number or an array"):
            make(0.1, bad)


# ---- DualFL is FISTA on its dual is accelerated ascent on the consensus dual ----------------------------------------


@pytest.mark.parametrize("name", ["quadratics", "logistic", "finite-sum", "skipping"])
@pytest.mark.parametrize("local", [Exact(), GradientSteps(3, 0.1)], ids=["exact", "three steps"])
@pytest.mark.parametrize("rho", [0.0, 0.2], ids=str)
def test_dualfl_is_dual_fista_is_accelerated_dual_ascent(name, local, rho) -> None:
    """The predualisation map (25), and its consequence lam = xi - mean xi; local errors are carried along (Lemma 6.6)."""
    f, nu = problem(name), 0.1
    fl, fista, ascent = (play(method(nu, rho, local), f, x0_of(f), 12) for method in (DualFL, DualFista, DualAscent))
    rtol = 1e-10  # 1/nu and twelve rounds of Newton's floor
    for n in range(1, 13):
        a, b, c = fl[n], fista[n], ascent[n]
        b_n = beta(rho, n - 1)
        for other in (b, c):
            close(a.x, other.x, rtol)
            close(a.x_i, other.x_i, rtol)
        close(nu * (fl[n - 1].zeta_i - a.x_i), b.xi_i, rtol)
        close(nu * (a.zeta_i - (1 + b_n) * a.x + b_n * fl[n - 1].x), b.eta_i, rtol)
        close(nu * a.zeta_i, b.eta_i - b.eta_i.mean(axis=0), rtol)  # (27)
        close(c.s_i, b.xi_i - b.xi_i.mean(axis=0), rtol)
        close(c.y_i, nu * a.zeta_i, rtol)
        close(a.zeta_i.sum(axis=0), np.zeros(f.d), rtol)  # (26)


def test_the_misprinted_predualisation_is_seen() -> None:
    """Planted faults: the printed proof of Lemma 6.6 has beta_n for beta_{n-1}, and a wrong sign (DUALFL-E5)."""
    f, nu = problem("quadratics"), 0.1
    fl, fista = (play(method(nu), f, x0_of(f), 2) for method in (DualFL, DualFista))
    for b, sign in ((beta(0.0, 2), 1), (beta(0.0, 1), -1)):
        wrong = nu * (fl[2].zeta_i - (1 + b) * fl[2].x + sign * b * fl[1].x)
        assert np.abs(wrong - fista[2].eta_i).max() > 1e-3


@pytest.mark.parametrize("rho", [0.0, 0.15])
def test_dual_fista_against_closed_forms(rho) -> None:
    """Proximal steps of g_j^*(xi) = (xi + b)^T (A - nu I)^{-1} (xi + b)/2 solved in the dual, printed recursion, xi^0 = 0."""
    f, nu = problem("quadratics"), 0.15
    inverse = np.linalg.inv(f.A - nu * np.eye(f.d))
    xi = eta = np.zeros((f.n, f.d))
    _, momentum = sequence(rho, 8)
    states = play(DualFista(nu, rho), f, 0 * x0_of(f), 8)
    for n in range(8):
        w = eta - eta.mean(axis=0)
        new = np.stack(
            [np.linalg.solve(np.eye(f.d) + nu * inverse[j], w[j] - nu * inverse[j] @ f.b[j]) for j in range(f.n)]
        )
        xi, eta = new, new + momentum[n] * (new - xi)
        close(states[n + 1].xi_i, xi, 1e-11)
        close(states[n + 1].eta_i, eta, 1e-11)
        close(states[n + 1].x[0], -xi.mean(axis=0) / nu, 1e-11)


def test_the_start_does_not_matter_for_exact_solves() -> None:
    """beta_0 = 0, and the dual may start at -nu a: translations (DUALFL-N2)."""
    f = problem("quadratics")
    for method in (DualFL(0.1, 0.1), DualFista(0.1, 0.1), DualAscent(0.1, 0.1)):
        here, there = (play(method, f, x0_of(f) + shift, 5)[1:] for shift in (0, 7.0))
        for a, b in zip(here, there, strict=True):
            close(a.x, b.x, 1e-11)


def test_first_round_averages_the_clients_minimisers() -> None:
    f = problem("quadratics")
    ends = np.linalg.solve(f.A, f.b[..., None])[..., 0]
    close(play(DualFL(0.1), f, x0_of(f), 1)[-1].x[0], ends.mean(axis=0), ROUNDING)


def test_plain_dual_ascent_is_dual_decomposition() -> None:
    f, step = problem("quadratics"), 0.15
    lam = np.zeros((f.n, f.d))
    for state in play(DualAscent(step, None), f, x0_of(f), 6)[1:]:
        x = np.linalg.solve(f.A, (f.b + lam)[..., None])[..., 0]
        lam = lam - step * (x - x.mean(axis=0))
        close(state.s_i, lam, 1e-11)
        close(state.y_i, lam, 1e-11)


def test_penalised_dualfl_is_dualfl_on_the_penalised_problem() -> None:
    """Section 4, on clients that are convex only."""
    rng = np.random.default_rng(3)
    half = rng.standard_normal((4, 2, 3))
    f, alpha = Quadratic(np.swapaxes(half, -1, -2) @ half, rng.standard_normal((4, 3))), 0.2
    L = float(np.linalg.eigvalsh(f.A).max())
    algorithm = DualFL.regularised(alpha, L)
    assert (algorithm.nu, algorithm.rho, algorithm.alpha) == (alpha, alpha / (L + alpha), alpha)
    assert DualFL.regularised(alpha).rho == 0
    penalised = Quadratic(f.A + alpha * np.eye(3), f.b)
    ours = play(algorithm, f, x0_of(f), 8)
    theirs = play(DualFL(alpha, alpha / (L + alpha)), penalised, x0_of(f), 8)
    for a, b in zip(ours, theirs, strict=True):
        close(a.x, b.x, 1e-11)
        close(a.zeta_i, b.zeta_i, 1e-11)
    far = play(algorithm, f, x0_of(f), 400)[-1]
    close(far.x[0], penalised.solution(), 1e-10)
    assert algorithm.solution_state(f, x0_of(f)) is None


# ---- a shared regulariser --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [L1(0.3), Ridge(0.7)], ids=["l1", "ridge"])
def test_dualfl_with_a_regulariser_solves_the_composite_problem(h) -> None:
    f = problem("quadratics")
    x = composite_solution(f, h)
    assert np.abs(x - f.solution()).max() > 1e-2, "the regulariser must matter"
    algorithm = DualFL(0.15, 0.15)
    states = play(algorithm, Regularised(f, h), x0_of(f), 250)
    close(states[-1].x, x, 1e-10)
    fixed = algorithm.solution_state(f, x)
    close(states[-1].zeta_i, fixed.zeta_i, 1e-9)
    after = algorithm.round(Regularised(f, h), fixed, None, Key(0, 3))
    close(after.x, x, ROUNDING)
    close(after.zeta_i, fixed.zeta_i, 1e-11)


def test_dualfl_with_a_ridge_against_proximal_ascent_on_its_dual() -> None:
    """min sum_j f_j^*(lam_j) + n h^*(-mean lam), h^*(y) = ||y||^2/(2 w): the proximal step solved as a linear system."""
    f, w, nu, rho = problem("quadratics"), 0.7, 0.15, 0.1
    n = f.n
    lam = y = np.zeros((n, f.d))
    _, momentum = sequence(rho, 6)
    # prox: lam + nu (mean lam) / w = v, block by block
    system = np.linalg.inv(np.eye(n) + nu / (w * n) * np.ones((n, n)))
    states = play(DualFL(nu, rho), Regularised(f, Ridge(w)), x0_of(f), 6)
    for r in range(6):
        v = y - nu * np.linalg.solve(f.A, (f.b + y)[..., None])[..., 0]
        new = system @ v
        lam, y = new, new + momentum[r] * (new - lam)
        close(nu * states[r + 1].z_i, lam, 1e-11)
        close(nu * states[r + 1].zeta_i, y, 1e-11)


# ---- rates ----------------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 6),
    d=st.integers(1, 5),
    kappa=st.floats(1.5, 500),
    share=st.floats(0.2, 1.0),
    slack=st.sampled_from([1.0, 0.1, 0.0]),
)
@settings(max_examples=60, deadline=None)
def test_dualfl_stays_below_its_bound(seed, n, d, kappa, share, slack) -> None:
    """min{4/(n+1)^2, (1 + sqrt rho)(1 - sqrt rho)^n} V/(nu^2 (1 - rho)), DUALFL-N2; certified up to rounding of x."""
    f = random_quadratics(n, d, L=kappa, mu=1.0, seed=seed)
    mu = min(1.0, float(np.linalg.eigvalsh(f.A).min()))
    nu = share * mu
    rho = slack * nu / kappa
    x = f.solution()[None, :]
    found = errors(play(DualFL(nu, rho), f, x0_of(f), 40), x)[1:]
    r = np.arange(1, 41)
    bound = np.minimum(4 / (r + 1) ** 2, (1 + rho**0.5) * (1 - rho**0.5) ** r) * heterogeneity(f) / (nu**2 * (1 - rho))
    assert np.all(found <= bound + 1e-20 * (1 + heterogeneity(f) + np.sum(x * x)))


class AbsoluteValues:
    """f_j(x) = (mu/2) x^2 + |x - c_j|: local minimisers by soft thresholding; no gradient, no smoothness."""

    name, d = "absolute values", 1

    def __init__(self, c, mu) -> None:
        self.c, self.mu = np.asarray(c, dtype=float)[:, None], mu
        self.n = len(c)

    def conjugate_grad(self, y):
        v = y / self.mu - self.c
        return self.c + np.sign(v) * np.maximum(np.abs(v) - 1 / self.mu, 0)


def test_dualfl_on_nonsmooth_clients() -> None:
    """4 V/(nu^2 (n+1)^2) without smoothness. At x* = 0.1 the subgradients 1.05, -0.1, -0.95 add up to zero."""
    f = AbsoluteValues([-1.0, 0.1, 2.0], 0.5)
    v = (1.05**2 + 0.1**2 + 0.95**2) / 3
    found = errors(play(DualFL(0.5), f, np.array([[3.0]]), 60), 0.1)[1:]
    assert np.all(found <= 4 * v / (0.5**2 * (np.arange(1, 61) + 1) ** 2))
    assert found[-1] < 1e-6


def test_rate_of_dualfl_with_its_best_parameters() -> None:
    """Squared error shrinks by (1 - sqrt rho)^2 a round in the long run (DUALFL-T3.3a, measured), and no acceleration is worse."""
    f = random_quadratics(4, 8, L=100.0, mu=1.0, seed=5)
    x = f.solution()[None, :]
    accelerated, plain = (errors(play(m, f, x0_of(f), 100), x) for m in (DualFL(1.0, 0.01), DualAscent(1.0, None)))
    factor = (accelerated[100] / accelerated[40]) ** (1 / 60)
    assert factor == pytest.approx((1 - 0.1) ** 2, abs=0.02)
    assert (plain[100] / plain[40]) ** (1 / 60) > 0.95


def rounds_to_accuracy(algorithm, f, most=6000):
    """Rounds until ||x - x*|| is a millionth of ||x*||, from zero."""
    x = f.solution()[None, :]
    state = algorithm.init(f, 0 * x)
    for r in range(most):
        state = algorithm.round(f, state, None, Key(0, r))
        if np.sum((state.x - x) ** 2) <= 1e-12 * np.sum(x**2):
            return r + 1
    raise AssertionError(f"not within {most} rounds")


ACCELERATED = {
    "dualfl": lambda mu, L: DualFL(mu, mu / L),
    "5gcs": lambda mu, L: FiveGCS(3 / 16 / np.sqrt(L * mu), mu),
    "apda": lambda mu, L: APDA(1 / np.sqrt(L * mu), eta_y=np.sqrt(L * mu) / 4, beta_y=1 / (2 * L), mu=mu),
}


def test_rounds_grow_with_the_root_of_the_condition_number() -> None:
    """kappa = 25 to 400: rounds about four times as many for accelerated methods, about sixteen for dual decomposition."""
    easy, hard = (random_quadratics(4, 10, L=L, mu=1.0, seed=3) for L in (25.0, 400.0))
    for name, make in ACCELERATED.items():
        growth = rounds_to_accuracy(make(1.0, 400.0), hard) / rounds_to_accuracy(make(1.0, 25.0), easy)
        assert growth < 6, name
    assert rounds_to_accuracy(DualAscent(1.0, None), hard) / rounds_to_accuracy(DualAscent(1.0, None), easy) > 8


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_worst_case_of_dualfl_is_the_known_one(rounds) -> None:
    """max ||x^n - x*||^2 over mean ||grad f_j(x*)||^2 <= 1, mu = nu = 1, L = 10 (DUALFL-N3)."""
    found = worst_case_for_one_n(DualFL(1.0, 0.1), FunctionClass(10, 1, zeta=1.0), n=2, rounds=rounds)
    assert found.value == pytest.approx([0.2025, 0.08633, 0.04329][rounds - 1], rel=1e-3)
    assert found.replay() == pytest.approx(found.lower, rel=1e-3)


@pytest.mark.parametrize("method", [DualFL, DualFista, DualAscent])
def test_worst_case_of_dualfl_holds_for_every_number_of_clients(method) -> None:
    """The values of DUALFL-N3, known for n = 2 and 3, and the same of the dual forms."""
    for rounds, value in ((1, 0.2025), (3, 0.04329)):
        found = worst_case_for_every_n(method(1.0, 0.1), FunctionClass(10, 1, zeta=1.0), rounds=rounds)
        assert found.value == pytest.approx(value, rel=2e-4)


def test_too_large_a_splitting_parameter_diverges() -> None:
    """Above 4 mu/3 with rho = 0; below it the error does not grow (DUALFL-N4)."""
    f = random_quadratics(3, 4, L=10.0, mu=1.0, seed=2)
    x = f.solution()[None, :]
    grows, falls = (errors(play(DualFL(nu), f, x0_of(f), 300), x) for nu in (1.45, 1.2))
    assert grows[-1] > 1e3 and falls[-1] < 1e-6


# ---- inexact local solves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("upload", ["model", "dual"])
@pytest.mark.parametrize("name", ["quadratics", "logistic"])
def test_inexact_dualfl_tends_to_exact(name, upload) -> None:
    f = problem(name)
    mu = 0.2 if name == "quadratics" else 0.1
    nu, rho = mu / 2, 0.05
    exact = play(DualFL(nu, rho), f, x0_of(f), 10)[-1]
    apart = []
    for tolerance in (1e-4, 1e-8, 1e-12, 1e-20):
        local = Adaptive(ResidualBound(tolerance, nu if upload == "dual" else mu - nu))
        inexact = play(DualFL(nu, rho, local, upload), f, x0_of(f), 10)[-1]
        apart.append(np.abs(inexact.x - exact.x).max())
    # a gap of eps leaves an error of order sqrt(eps)
    assert all(after < 0.1 * before for before, after in pairwise(apart)) and apart[-1] < 1e-8


def test_exact_solves_upload_the_same_either_way() -> None:
    f = problem("quadratics")
    a, b = (play(DualFL(0.1, 0.1, upload=upload), f, x0_of(f), 6)[-1] for upload in ("model", "dual"))
    close(a.x, b.x, 1e-11)
    close(a.zeta_i, b.zeta_i, 1e-11)


def test_the_dual_upload_bounds_the_dual_error_where_the_gap_is_infinite() -> None:
    """nu = mu: E_d(xi) - min E_d <= ||r||^2/(2 nu) for xi = grad g_j(t), and Gamma(t) = infinity (DUALFL-C2, DUALFL-N1)."""
    mu = 1.0
    # the lowest eigenvector is a coordinate, so that its zero eigenvalue of A - mu I is exact
    f = Quadratic(np.array([[[mu, 0.0], [0.0, 9.0]], [[mu, 0.0], [0.0, 4.0]]]), np.array([[1.0, 2.0], [-1.0, 1.0]]))
    g = Quadratic(f.A - mu * np.eye(2), f.b)
    algorithm = DualFL(mu, 0.1, GradientSteps(2, 0.1), upload="dual")
    state = algorithm.init(f, x0_of(f))
    new = algorithm.round(f, state, None, Key(0, 0))
    t, _ = GradientSteps(2, 0.1)(Subproblem(f, a=-mu * state.zeta_i), state.x_i, Key(0, 0), None)
    r = f.grad(t) - mu * state.zeta_i

    def dual_energy(theta):
        xi = mu * (state.zeta_i - theta)
        return g.conjugate(xi) + np.sum((xi - mu * state.zeta_i) ** 2, axis=-1) / (2 * mu)

    best = dual_energy(f.conjugate_grad(mu * state.zeta_i))
    sent = dual_energy(new.x_i)
    assert np.all(np.isfinite(sent)) and np.all(sent - best <= np.sum(r * r, axis=-1) / (2 * mu) + 1e-12)
    assert np.all(np.isinf(dual_energy(t)))


@pytest.mark.parametrize("upload", ["model", "dual"])
def test_prescribed_gaps_keep_the_rate(upload) -> None:
    """Condition (9) through a computable bound: factor (1 - sqrt rho) at least, as Theorem 3.3 states."""
    f = random_quadratics(3, 4, L=20.0, mu=1.0, seed=4)
    nu = 0.5 if upload == "model" else 1.0
    rho = nu / 20.0
    local = Adaptive(ResidualBound(allowed_gap(3, nu, 0.5, rho), 0.5 if upload == "model" else nu), 20.0)
    found = errors(play(DualFL(nu, rho, local, upload), f, x0_of(f), 60), f.solution()[None, :])
    r = np.arange(10, 61)
    assert np.all(found[10:] <= 100 * (1 - rho**0.5) ** r)


def test_allowed_gaps_are_the_papers() -> None:
    assert allowed_gap(4, 0.5, 1.0)(1) == pytest.approx(1 / (4 * 0.5 * 2**5))
    assert allowed_gap(4, 0.5, 1.0, 0.25)(3) == pytest.approx(0.25**3 / 4)


def test_exact_solves_need_a_linear_or_quadratic_term_and_a_way() -> None:
    class OnlyGradients:
        name, n, d = "only gradients", 2, 1

        def grad(self, x):
            return x

    with pytest.raises(NotAvailable, match="without Hessians needs 'conjugate_grad'"):
        play(DualFL(0.1), OnlyGradients(), np.zeros((1, 1)), 1)
    with pytest.raises(InvalidInput, match="must be 'model' or 'dual'"):
        DualFL(0.1, upload="both")


# ---- the other engines --------------------------------------------------------------------------------------------


def test_one_round_in_symbols() -> None:
    """f_j = a_j (x - c_j)^2/2: x^1 = mean c_j, and nu zeta_j = nu (mean c - c_j), whatever rho."""
    sympy = pytest.importorskip("sympy")
    a, b, c, d, nu, rho = sympy.symbols("a b c d nu rho", positive=True)
    f = scalar_quadratics(np.array([a, b]), np.array([c, d]))
    _, first, second = play_exactly(DualFL(nu, rho), f, np.array([sympy.Symbol("x")]), 2)
    assert sympy.simplify(first.x[0, 0] - (c + d) / 2) == 0
    assert sympy.simplify(first.zeta_i[0, 0] - (d - c) / 2) == 0
    # theta_j = c_j + nu zeta_j / a_j
    assert sympy.simplify(second.x[0, 0] - ((c + d) / 2 + nu * (d - c) * (1 / a - 1 / b) / 4)) == 0


@pytest.mark.parametrize("coins", [(True, True), (False, True), (False, False)], ids=str)
def test_worst_case_of_scaffnew_for_prescribed_coins(coins) -> None:
    """One client never communicates anything: gradient descent, (1 - lr mu)^2 a round, h_1 = 0 throughout."""
    script = {r: {"communicate": c} for r, c in enumerate(coins)}
    found = worst_case_for_one_n(Scaffnew(0.5, 0.4), FunctionClass(1, 0.1), n=1, rounds=2, coins=script)
    assert found.value == pytest.approx(0.95**4, rel=1e-4)


# ---- limits ---------------------------------------------------------------------------------------------------------

CONVERGENT = {
    "dualfl": DualFL(0.2, 0.2),
    "dual fista": DualFista(0.2, 0.2),
    "accelerated ascent": DualAscent(0.2, 0.2),
    "ascent": DualAscent(0.2, None),
    "scaffnew": Scaffnew(1.0, 0.5),
    "randprox": RandProx(1.0, 0.5, 0.5),
    "5gcs": FiveGCS(0.4, 0.2),
    "5gcs, gradient steps": FiveGCS(0.4, 0.2, GradientSteps(20, 0.4)),
    "apda": APDA(0.1, mu=0.2),
    "apda, inexact": APDA(0.1, GradientSteps(3, 0.09), mu=0.2),
}


@pytest.mark.parametrize("name", CONVERGENT)
def test_methods_converge_to_the_minimiser(name) -> None:
    f = problem("quadratics")  # L = 1, mu = 0.2
    state = play(CONVERGENT[name], f, x0_of(f), 400, seed=1)[-1]
    close(state.x[0], f.solution(), 1e-9)


@pytest.mark.parametrize("schedule", [Uniform(2), Uniform(1)], ids=str)
def test_5gcs_converges_with_sampled_clients(schedule) -> None:
    f = problem("quadratics")
    state = play(FiveGCS(0.2, 0.2), f, x0_of(f), 1500, schedule, seed=2)[-1]
    close(state.x[0], f.solution(), 1e-9)


def test_5gcs_keeps_the_solution_for_every_subset() -> None:
    f = problem("quadratics")
    x = f.solution()[None, :]
    fixed = FiveGCS(0.4, 0.1).solution_state(f, x)
    for subset in ((1,), (0, 3)):
        state = FiveGCS(0.4, 0.1).round(f, fixed, Fixed(subset).draw(f.n, Key(0, 0)), Key(0, 0))
        close(state.x, x, ROUNDING)
        close(state.u_i, fixed.u_i, ROUNDING)


def test_dropping_a_client_breaks_dualfl() -> None:
    """Negative control: the sum of control variates stays zero under full participation only (DUALFL-C11)."""
    f = problem("quadratics")
    with pytest.raises(InvalidInput, match="full participation only"):
        play(DualFL(0.1), f, x0_of(f), 1, Uniform(2))

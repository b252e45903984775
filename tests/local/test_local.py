"""Local solvers: how accurately, how often, and on which samples a client works."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import Counting, close, play, problem, ragged_logistic, start
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import FedAvg, FedPD, FedProx, Scaffold, VrlSgd
from fedtheory.algorithms.base import is_one_plain_step
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import can, constant
from fedtheory.core.randomness import Key
from fedtheory.local.execution import run_in_blocks
from fedtheory.local.inexact import ToAccuracy
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import AcceleratedSteps, Exact, GradientSteps, newton_prox
from fedtheory.local.stochastic import StochasticSteps, VarianceReduced, draw_samples
from fedtheory.local.subproblem import Subproblem
from problems.logistic import logistic
from problems.quadratics import random_indefinite, random_quadratics

KEY = Key(3, 2)
SOLVABLE = ("quadratics", "indefinite", "logistic", "penalised-logistic", "sines", "skipping")


def subproblem(f, seed=0, share=0.5, scale=1.0):
    """A random strongly convex subproblem: rho = L / share."""
    rng = np.random.default_rng(seed)
    rho = float(constant(f, "L")) / share
    return Subproblem(f, a=scale * rng.standard_normal((f.n, f.d)), rho=rho, z=scale * rng.standard_normal((f.n, f.d)))


# ---- exact solves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOLVABLE)
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.9), scale=st.sampled_from([0.01, 1.0, 30.0]))
@settings(max_examples=15)
def test_exact_solves_leave_no_gradient(name, seed, share, scale) -> None:
    """grad f_i + a_i + rho (x - z_i) = 0 up to rounding in its terms."""
    f = problem(name)
    sub = subproblem(f, seed, share, scale)
    x, memory = Exact()(sub, 0 * sub.z, KEY, None)
    assert memory is None
    terms = np.abs(f.grad(x)).max() + np.abs(sub.a).max() + sub.rho * (np.abs(x).max() + np.abs(sub.z).max())
    assert np.abs(sub.grad(x)).max() <= 1e-14 * terms  # some tens of eps


@given(seed=st.integers(0, 10**6), far=st.floats(0, 300), weight=st.floats(1e-4, 1e3))
@settings(max_examples=40)
def test_newton_arrives_from_far_away(seed, far, weight) -> None:
    """Logistic losses are flat far out, where undamped Newton would overshoot."""
    f = ragged_logistic(l2=0.0, seed=seed % 5)
    v = far * np.random.default_rng(seed).standard_normal((f.n, f.d))
    x = newton_prox(f, v, 1 / weight)
    slope = f.grad(x) + weight * (x - v)
    assert np.abs(slope).max() <= 1e-13 * (1 + weight * (1 + np.abs(v).max()))


def test_rows_and_clients_stop_newton_on_their_own() -> None:
    """An easy and a hard row of a batch: the easy one is what it is alone."""
    f = ragged_logistic(l2=0.0)
    v = np.stack([np.zeros((f.n, f.d)), np.full((f.n, f.d), 500.0)])
    steps = np.array([0.1, 100.0])
    together = newton_prox(f, v, along_batch(steps))
    for k in range(2):
        close(together[k], newton_prox(f, v[k], float(steps[k])), 1e-12)


def test_exact_needs_a_quadratic_term_and_derivatives() -> None:
    with pytest.raises(NotAvailable, match=r"Exact\(\) needs a quadratic term"):
        Exact()(Subproblem(problem("quadratics")), np.zeros((1, 3)), KEY, None)
    with pytest.raises(NotAvailable, match="an exact local solve needs 'hess'"):
        f = problem("zero-chain")
        Exact()(Subproblem(f, rho=1.0, z=np.zeros((1, f.d))), np.zeros((1, f.d)), KEY, None)


@pytest.mark.parametrize("name", ["quadratics", "logistic", "smooth-svm", "skipping", "finite-sum"])
def test_exact_with_a_linear_term_alone(name) -> None:
    """argmin f_i + <a_i, .>, through the conjugate or Newton's method: the gradient there is rounding."""
    f = problem(name)
    a = np.random.default_rng(0).standard_normal((3, f.n, f.d))
    sub = Subproblem(f, a=a)
    x, _ = Exact()(sub, np.zeros((1, f.d)), KEY, None)
    assert np.abs(sub.grad(x)).max() <= 1e-13 * (1 + np.abs(a).max() + np.abs(x).max())
    # values of the subproblem are its own: no point around is lower
    for step in (1e-3, -1e-3):
        assert np.all(sub.value(x) < sub.value(x + step))


# ---- gradient steps -----------------------------------------------------------------------------------------------


def descend(sub, x, steps, rate):
    """Plain gradient steps of one client's subproblem, in a loop."""
    for q in range(steps):
        x = x - rate(q) * sub.grad(x)
    return x


@pytest.mark.parametrize("counts", [[3, 3, 3, 3], [1, 4, 2, 3]], ids=str)
@pytest.mark.parametrize("clients", [None, Clients(4, np.array([3, 1]))], ids=["all", "two"])
def test_every_client_takes_its_own_number_of_steps(counts, clients) -> None:
    f = problem("quadratics")
    full = subproblem(f)
    index = np.arange(4) if clients is None else clients.index
    sub = Subproblem(f.take(clients), a=full.a[index], rho=full.rho, z=full.z[index], clients=clients)
    x, _ = GradientSteps(np.array(counts), 0.1)(sub, start(f)[None, :], KEY, None)
    for row, i in enumerate(index):
        alone = Subproblem(f.take(Clients(4, np.array([i]))), a=full.a[[i]], rho=full.rho, z=full.z[[i]])
        close(x[row : row + 1], descend(alone, start(f)[None, :], counts[i], lambda q: 0.1), 1e-13)


def test_unequal_steps_with_clients_a_row() -> None:
    """Each run of a batch has its own clients, each client its own number of steps."""
    f, counts = problem("quadratics"), np.array([1, 4, 2, 3])
    clients = Clients(4, np.array([[3, 1], [0, 2]]))
    sub = Subproblem(f.take(clients), clients=clients)
    x, _ = GradientSteps(counts, 0.1)(sub, np.zeros((2, 1, 3)), KEY, None)
    for row in range(2):
        for place, i in enumerate(clients.index[row]):
            alone = Subproblem(f.take(Clients(4, np.array([i]))))
            close(x[row, place], descend(alone, np.zeros((1, 3)), counts[i], lambda q: 0.1)[0], 1e-13)


def test_step_sizes_may_follow_a_schedule() -> None:
    f = problem("quadratics")
    sub = subproblem(f)
    x, _ = GradientSteps(4, lambda r, q: 0.1 / (r + q + 1))(sub, sub.z, KEY, None)
    close(x, descend(sub, sub.z, 4, lambda q: 0.1 / (2 + q + 1)), 1e-14)


@given(seed=st.integers(0, 10**6), kappa=st.floats(1.5, 1e3), steps=st.integers(1, 60))
@settings(max_examples=50)
def test_accelerated_steps_have_nesterovs_rate(seed, kappa, steps) -> None:
    """f(x_K) - f* <= (1 - sqrt(mu/L))^K (f(x_0) - f* + (mu/2)||x_0 - x*||^2) (Nesterov 2004, Section 2.2)."""
    mu = 1 / kappa
    f = random_quadratics(1, 4, mu=mu, seed=seed)
    x_star, low = f.solution(), float(f.lower_bound().value)
    x0 = x_star + 10 * np.random.default_rng(seed).standard_normal((1, 4))
    momentum = (1 - np.sqrt(mu)) / (1 + np.sqrt(mu))
    x, _ = AcceleratedSteps(steps, 1.0, momentum)(Subproblem(f), x0, KEY, None)
    bound = (1 - np.sqrt(mu)) ** steps * (float(f.value(x0)[0]) - low + mu / 2 * np.sum((x0 - x_star) ** 2))
    assert float(f.value(x)[0]) - low <= bound * (1 + 1e-9) + 1e-12 * (1 + abs(low))  # f* cancels to eps |f*|


def test_acceleration_beats_plain_steps_on_an_ill_conditioned_client() -> None:
    """The rate is what acceleration is for: at condition number 1000, 200 steps, over 100 times lower."""
    f = random_quadratics(1, 4, mu=1e-3, seed=0)
    x0, low = f.solution() + np.ones((1, 4)), float(f.lower_bound().value)
    momentum = (1 - np.sqrt(1e-3)) / (1 + np.sqrt(1e-3))
    fast, _ = AcceleratedSteps(200, 1.0, momentum)(Subproblem(f), x0, KEY, None)
    slow, _ = GradientSteps(200, 1.0)(Subproblem(f), x0, KEY, None)
    assert 100 * (float(f.value(fast)[0]) - low) < float(f.value(slow)[0]) - low


# ---- stochastic steps ---------------------------------------------------------------------------------------------


def test_stochastic_steps_use_the_numbers_at_their_address() -> None:
    """Client i's samples come from its stretch of the stream, whoever else takes part."""
    f, steps, batch, lr = ragged_logistic(), 3, 2, 0.2
    lots = KEY.client_uniform("samples", f.n, steps * batch)
    numbers = np.floor(lots * f.n_samples[:, None]).astype(int).reshape(f.n, steps, batch)
    x = np.broadcast_to(start(f), (f.n, f.d))
    for q in range(steps):
        x = x - lr * f.sample_grad(x, numbers[:, q])
    everyone, _ = StochasticSteps(steps, lr, batch)(Subproblem(f), start(f)[None, :], KEY, None)
    close(everyone, x, 1e-14)
    for index in ([2], [3, 0], [1, 2, 3]):
        clients = Clients(f.n, np.array(index))
        some, _ = StochasticSteps(steps, lr, batch)(
            Subproblem(f.take(clients), clients=clients), start(f)[None, :], KEY, None
        )
        close(some, x[index], 1e-14)


def test_samples_cover_a_client_and_nothing_else() -> None:
    """Uniform over each client's own samples: with zero rows of padding drawn, the gradient would be too small."""
    f = ragged_logistic()
    drawn = np.concatenate([draw_samples(Subproblem(f), Key(0, r), 4, 8).reshape(f.n, -1) for r in range(20)], axis=-1)
    for i, count in enumerate(f.n_samples):
        assert set(drawn[i]) == set(range(count))
        share = np.bincount(drawn[i]) / drawn.shape[-1]
        assert np.abs(share - 1 / count).max() < 5 * np.sqrt(0.25 / drawn.shape[-1])


@pytest.mark.parametrize(
    "pair",
    [
        (StochasticSteps(4, 0.3, 2), GradientSteps(4, 0.3)),
        (VarianceReduced(4, 0.3, 1), GradientSteps(4, 0.3)),
    ],
    ids=["sgd", "variance reduced"],
)
def test_without_noise_stochastic_solvers_are_gradient_steps(pair) -> None:
    """When a client's samples are all equal."""
    rng = np.random.default_rng(0)
    rows = [np.repeat(rng.standard_normal((1, 3)), m, axis=0) for m in (4, 2)]
    f = logistic(rows, [np.ones(4), -np.ones(2)], l2=0.1, beta=0.2)
    sub = subproblem(f)
    noisy, _ = pair[0](sub, sub.z, Key(0, 0), None)
    plain, _ = pair[1](sub, sub.z, Key(0, 0), None)
    close(noisy, plain, 1e-13)


# ---- variance reduction -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [1, 2, 5])
def test_exact_gradients_come_every_period(period) -> None:
    """Per round n sample gradients twice a step, and n exact ones when the round is a multiple of the period."""
    f, Q, rounds = Counting(ragged_logistic()), 3, 7
    algorithm = FedPD(0.1, FedPD.oracle_two(0.1, None, Q, 2, period), init_dual="zero")
    play(algorithm, f, start(f)[None, :], rounds)
    exact = -(-rounds // period)
    assert sum(f.seen) == f.n * (exact + 2 * Q * rounds)


@given(seed=st.integers(0, 10**6), period=st.integers(1, 4), gamma=st.floats(0.05, 5))
@settings(max_examples=20)
def test_duals_are_the_last_gradient_estimates(seed, period, gamma) -> None:
    """lam^{r+1} = -g^{r,Q-1} - (x^{r,Q} - x^{r,Q-1})/gamma, exactly (FEDPD-T2): shown for Q = 1."""
    f, eta = ragged_logistic(seed=1), 0.2
    algorithm = FedPD(eta, FedPD.oracle_two(eta, gamma, 1, 2, period))
    states = play(algorithm, f, start(f)[None, :], 5, seed=seed)
    for r in range(5):
        old, new = states[r], states[r + 1]
        g = f.grad(old.x_i) if r % period == 0 else old.memory
        close(new.lam_i, -g - (new.x_i - old.x_i) / gamma, 1e-12)


def test_estimates_are_recursive_and_start_exact() -> None:
    f, Q, lr = ragged_logistic(), 2, 0.3
    solver = VarianceReduced(Q, lr, 2, period=3)
    sub = subproblem(f)
    memory = np.random.default_rng(1).standard_normal((f.n, f.d))
    for r, first in ((3, f.grad(sub.z)), (4, memory)):
        key = Key(0, r)
        numbers = (
            np.floor(key.client_uniform("samples", f.n, Q * 2) * f.n_samples[:, None]).astype(int).reshape(f.n, Q, 2)
        )
        x, g = sub.z, first
        for q in range(Q):
            new = x - lr * (g + sub.a + sub.rho * (x - sub.z))
            g = g + f.sample_grad(new, numbers[:, q]) - f.sample_grad(x, numbers[:, q])
            x = new
        got, kept = solver(sub, sub.z, key, memory)
        close(got, x, 1e-13)
        close(kept, g, 1e-13)


def test_a_period_needs_memory() -> None:
    f = ragged_logistic()
    for method in (FedAvg, lambda s: FedProx(1.0, s)):
        with pytest.raises(InvalidInput, match=r"VarianceReduced\(period=3\) carries .* use period=1, or FedPD"):
            play(method(VarianceReduced(2, 0.1, 1, period=3)), f, start(f)[None, :], 1)
        play(method(VarianceReduced(2, 0.1, 1)), f, start(f)[None, :], 1)


# ---- to an accuracy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quadratics", "logistic", "sines", "penalised-logistic"])
@given(seed=st.integers(0, 10**6), exponent=st.integers(-12, 0), u=st.floats(0.1, 0.6))
@settings(max_examples=12)
def test_the_stated_accuracy_is_met_within_the_stated_steps(name, seed, exponent, u) -> None:
    """||grad L_i||^2 <= eps (condition (8)), in at most log(||grad L_i||/sqrt eps)/log(1/u) steps for lr = eta = u/L."""
    f, epsilon = problem(name), 10.0**exponent
    eta = u / float(constant(f, "L"))
    rng = np.random.default_rng(seed)
    sub = Subproblem(f, a=rng.standard_normal((f.n, f.d)), rho=1 / eta, z=rng.standard_normal((f.n, f.d)))
    x, steps = ToAccuracy(epsilon, eta).count_steps(sub, sub.z, KEY)
    assert np.all((sub.grad(x) ** 2).sum(-1) <= epsilon)
    first = np.sqrt((sub.grad(sub.z) ** 2).sum(-1))
    enough = np.ceil(np.maximum(0, np.log(first / np.sqrt(epsilon)) / np.log(1 / u)))
    assert np.all(steps <= enough)
    assert np.all((steps > 0) == (first**2 > epsilon)), "whoever is accurate already does nothing"


def test_clients_that_have_arrived_stand_still() -> None:
    """Each client and run stops on its own: alone it gives the same answer after as many steps."""
    f, lr = problem("quadratics"), 0.2
    sub = subproblem(f)
    z = np.stack([sub.z, 100 * sub.z])
    x, steps = ToAccuracy(1e-3, lr).count_steps(Subproblem(f, a=sub.a, rho=sub.rho, z=z), z, KEY)
    assert len(set(steps.ravel())) > 1
    for row in range(2):
        for i in range(f.n):
            alone = Subproblem(f.take(Clients(4, np.array([i]))), a=sub.a[[i]], rho=sub.rho, z=z[row, [i]])
            y, count = ToAccuracy(1e-3, lr).count_steps(alone, z[row, [i]], KEY)
            assert count[0] == steps[row, i]
            close(x[row, i], y[0], 1e-13)


def test_giving_up_keeps_the_last_point() -> None:
    f = problem("quadratics")
    sub = subproblem(f)
    x, steps = ToAccuracy(1e-30, 0.1, max_steps=3).count_steps(sub, sub.z, KEY)
    assert np.all(steps == 3)
    close(x, descend(sub, sub.z, 3, lambda q: 0.1), 1e-14)


def test_to_accuracy_on_every_library(xp) -> None:
    f = problem("logistic")
    algorithm = FedPD(0.2, ToAccuracy(1e-8, 0.2))
    ours = play(algorithm, xp.problem(f), xp.array(start(f)[None, :]), 3)[-1]
    close(ours.x, play(algorithm, f, start(f)[None, :], 3)[-1].x, 1e-12)


# ---- settings -----------------------------------------------------------------------------------------------------

NAN = float("nan")
BAD = {
    "lr": lambda: GradientSteps(1, -0.1),
    "lr zero": lambda: AcceleratedSteps(1, 0, 0.5),
    "lr NaN": lambda: StochasticSteps(1, NAN, 1),
    "lr of a batch": lambda: VarianceReduced(1, along_batch([0.1, -0.1]), 1),
    "steps": lambda: GradientSteps(0, 0.1),
    "steps of a client": lambda: GradientSteps(np.array([1, 0]), 0.1),
    "fractional steps": lambda: GradientSteps(np.array([1.5, 2]), 0.1),
    "batch": lambda: StochasticSteps(1, 0.1, 0),
    "batch of oracle two": lambda: VarianceReduced(1, 0.1, 0),
    "period": lambda: VarianceReduced(1, 0.1, 1, period=0),
    "epsilon": lambda: ToAccuracy(0, 0.1),
    "radius": lambda: SamSteps(1, 0.1, -0.1),
    "SAM's batch": lambda: SamSteps(1, 0.1, 0.1, batch=0),
    "max_steps": lambda: ToAccuracy(0.1, 0.1, max_steps=0),
    "control variates without steps": lambda: Scaffold(Exact()),
    "control variates with unequal steps and a schedule": lambda: Scaffold(
        GradientSteps(np.array([1, 2]), lambda r, q: 0.1)
    ),
    "control variates of another option": lambda: Scaffold(GradientSteps(2, 0.1), control="II"),
    "VRL-SGD with unequal steps": lambda: VrlSgd(GradientSteps(np.array([1, 2]), 0.1)),
}


@pytest.mark.parametrize("name", BAD)
def test_settings_that_make_no_sense_are_refused(name) -> None:
    with pytest.raises(InvalidInput, match=r"got |must be"):
        BAD[name]()


def test_only_one_plain_step_is_unbiased() -> None:
    assert is_one_plain_step(GradientSteps(1, 0.1)) and is_one_plain_step(VarianceReduced(1, 0.1, None))
    for solver in (
        GradientSteps(2, 0.1),
        StochasticSteps(1, 0.1, 3),
        Exact(),
        ToAccuracy(0.1, 0.1),
        SamSteps(1, 0.1, 0.1),
    ):
        assert not is_one_plain_step(solver)
    assert not is_one_plain_step(GradientSteps(np.array([1, 2]), 0.1))


def test_solvers_say_whether_they_need_numbers() -> None:
    free = [Exact(), GradientSteps(2, 0.1), AcceleratedSteps(2, 0.1, 0.5), VarianceReduced(2, 0.1, None)]
    bound = [StochasticSteps(2, 0.1, 1), VarianceReduced(2, 0.1, 1), ToAccuracy(0.1, 0.1), SamSteps(2, 0.1, 0.1)]
    assert all(solver.numeric_only is None for solver in free)
    assert all("it " in solver.numeric_only for solver in bound)


def test_objects_and_small_problems_are_done_in_one_piece() -> None:
    f = problem("quadratics")
    pieces = []

    def work(part, x, first):
        pieces.append((part.f.n, first))
        return x

    run_in_blocks(work, Subproblem(f), np.zeros((1, 3)))
    run_in_blocks(work, Subproblem(f), np.zeros((1, 3), dtype=object), limit=0)
    assert pieces == [(4, 0), (4, 0)]
    assert not can(problem("zero-chain"), "slice")


def test_a_subproblem_is_its_formula() -> None:
    f = random_indefinite(3, 2, seed=0)
    sub, x = subproblem(f), np.ones((3, 2))
    close(sub.grad(x), f.grad(x) + sub.a + sub.rho * (x - sub.z), 1e-15)
    assert Subproblem(f).shift(x, x) is x
    part = sub.part(1, 3)
    close(part.grad(x[1:]), sub.grad(x)[1:], 1e-15)
    with pytest.raises(NotAvailable, match="working through clients in blocks needs 'slice'"):
        Subproblem(problem("zero-chain")).part(0, 1)


def test_numpy_scalars_become_plain_numbers() -> None:
    """They are not weak: a step of np.float64 would turn a float32 run into float64."""
    assert type(GradientSteps(2, np.float64(0.1)).lr) is float
    method = FedPD(np.float64(0.1), p=np.float64(0.5))
    assert type(method.eta) is float and type(method.p) is float

"""FedCM, FedSAM, FedLin, federated SVRG, FedDualAvg, SAFARI: what they equal, and their rules by hand.

Reference implementations are plain NumPy loops over clients, without the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers import ROUNDING, Counting, assert_same_models, close, play, problem, start, x0_of

from fedtheory.algorithms import APDA, FedAvg, FedCM, FedDualAvg, FedLin, GradientDescent, LocalSvrg, Safari, ServerSgd
from fedtheory.algorithms.base import is_one_plain_step
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.core.arrays import along_batch, average
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import All, Bernoulli, Clients, Fixed, Uniform
from fedtheory.core.problem import Pooled
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.core.regularisers import L1, Ridge
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import AcceleratedSteps, Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.spectrum import round_map
from fedtheory.running.runner import run
from problems.biased_participation import FIRST_ONLY
from problems.quadratics import random_quadratics, same_curvature, scalar_quadratics
from problems.server import ServerAssisted

LR = 0.13
SCHEDULES = {"all": All(), "uniform": Uniform(2), "bernoulli": Bernoulli(0.6), "fixed": Fixed((3, 1))}
EVERYWHERE = pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
FAMILIES = pytest.mark.parametrize("name", ["quadratics", "finite-sum", "sines", "penalised-logistic"])


def client(f, i):
    """Gradient of f_i at a point ``(d,)``."""
    alone = f.take(Clients(f.n, np.array([i])))
    return lambda x: alone.grad(x[None, :])[0]


def minibatch(f, i, samples):
    """Gradient of f_i on given samples."""
    alone = f.take(Clients(f.n, np.array([i])))
    return lambda x: alone.sample_grad(x[None, :], samples[None, :])[0]


def samples_of(f, key, steps, batch):
    """The sample numbers at the address: ``(n, steps, batch)``."""
    lots = key.client_uniform("samples", f.n, steps * batch)
    return np.floor(lots * np.asarray(f.n_samples)[:, None]).astype(int).reshape(f.n, steps, batch)


# ---- FedAvg in other clothes --------------------------------------------------------------------------------------

LOCAL = {"steps": GradientSteps(3, LR), "batch": StochasticSteps(3, LR, 2)}


@pytest.mark.parametrize("kind", LOCAL)
@EVERYWHERE
def test_methods_that_contain_fedavg(kind, schedule) -> None:
    """FedSAM with radius 0, FedCM with alpha = 1, SAFARI with q = 1, FedDualAvg without a regulariser."""
    f, local = problem("finite-sum"), LOCAL[kind]
    batch = getattr(local, "batch", None)
    twins = {
        "FedSAM": FedAvg(SamSteps(3, LR, 0, batch)),
        "FedCM": FedCM(local, 1),
        "SAFARI": Safari(1, local, GradientSteps(1, 0.3)),
        "FedDualAvg": FedDualAvg(3, LR, batch),
    }
    expected = play(FedAvg(local), f, x0_of(f), 6, schedule)
    for twin in twins.values():  # SAFARI never asks for the server
        assert_same_models(play(twin, f, x0_of(f), 6, schedule), expected)


def test_radii_tending_to_zero() -> None:
    """FedSAM's distance from FedAvg is of the order of the radius."""
    f = problem("sines")
    plain = play(FedAvg(GradientSteps(3, LR)), f, x0_of(f), 5)[-1].x
    apart = [
        np.abs(play(FedAvg(SamSteps(3, LR, radius)), f, x0_of(f), 5)[-1].x - plain).max() for radius in (1e-3, 1e-4)
    ]
    assert apart[1] > 1e-6 and apart[0] / apart[1] == pytest.approx(10, rel=0.05)


@EVERYWHERE
def test_server_steps_of_fedcm_and_feddualavg(schedule) -> None:
    """With K = 1, alpha = 1 and no regulariser, a server step multiplies the local one."""
    f = problem("sines")
    expected = play(FedAvg(GradientSteps(1, 0.7 * LR)), f, x0_of(f), 5, schedule)
    assert_same_models(play(FedCM(GradientSteps(1, LR), 1, 0.7), f, x0_of(f), 5, schedule), expected)
    assert_same_models(play(FedDualAvg(1, LR, server_lr=0.7), f, x0_of(f), 5, schedule), expected)


# ---- gradient descent in other clothes ----------------------------------------------------------------------------


@FAMILIES
def test_one_local_step_is_gradient_descent(name) -> None:
    """FedLin, federated SVRG; with full gradients also FedDualAvg, FedCM with alpha = 1, FedSAM with radius 0."""
    f = problem(name)
    expected = play(GradientDescent(LR), f, x0_of(f), 8)
    one = GradientSteps(1, LR)
    for twin in (FedLin(one), LocalSvrg(1, LR), FedDualAvg(1, LR), FedCM(one, 1), FedAvg(SamSteps(1, LR, 0))):
        assert_same_models(play(twin, f, x0_of(f), 8), expected)


def test_one_step_from_a_fresh_anchor_has_no_noise() -> None:
    """F-SVRG with K = 1: the two sample gradients cancel whatever the samples."""
    f = problem("finite-sum")
    assert_same_models(play(LocalSvrg(1, LR, 2), f, x0_of(f), 8), play(GradientDescent(LR), f, x0_of(f), 8))


def test_corrected_steps_on_one_curvature_are_gradient_descent() -> None:
    """Where all A_i agree, K corrected local steps are K steps on the average."""
    f = problem("same-curvature")
    descent = play(GradientDescent(LR), f, x0_of(f), 12)[::3]
    assert_same_models(play(FedLin(GradientSteps(3, LR)), f, x0_of(f), 4), descent)
    assert_same_models(play(LocalSvrg(3, LR, q=0.4), f, x0_of(f), 4), descent)


@FAMILIES
def test_fedlin_is_federated_svrg_with_full_gradients(name) -> None:
    f = problem(name)
    for schedule in (LR, lambda r, q: LR / (1 + r + q)):
        ours = play(FedLin(GradientSteps(3, schedule)), f, x0_of(f), 8)
        assert_same_models(play(LocalSvrg(3, schedule), f, x0_of(f), 8), ours)


def test_server_assisted_descent_is_gradient_descent_when_the_server_knows_the_average() -> None:
    f = problem("server-assisted")
    expected = play(GradientDescent(LR), f, x0_of(f), 9)
    one, three = GradientSteps(1, LR), GradientSteps(3, LR)
    assert_same_models(play(ServerSgd(one), f, x0_of(f), 9), expected)
    assert_same_models(play(ServerSgd(three), f, x0_of(f), 3), expected[::3])
    assert_same_models(play(Safari(0, one, one), f, x0_of(f), 9, FIRST_ONLY), expected)
    assert_same_models(play(Safari(0.5, one, one), f, x0_of(f), 9), expected)  # a client round with K = 1 is one too


# ---- rules by hand ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [None, 2])
@EVERYWHERE
def test_fedcm_by_hand(schedule, batch) -> None:
    """The direction is the average over clients and steps of what they followed."""
    f, alpha, server_lr, steps = problem("finite-sum"), 0.3, 0.8, 3
    local = GradientSteps(steps, LR) if batch is None else StochasticSteps(steps, LR, batch)
    states = play(FedCM(local, alpha, server_lr), f, x0_of(f), 5, schedule, seed=4)
    x, direction = start(f), np.zeros(f.d)
    for r in range(5):
        active = schedule.draw(f.n, Key(4, r))
        who = range(f.n) if active is None else active.index[np.ones(active.index.shape, bool) & _present(active)]
        samples = samples_of(f, Key(4, r), steps, 2)
        moves, followed = [], []
        for i in who:
            y = x
            for q in range(steps):
                g = (client(f, i) if batch is None else minibatch(f, i, samples[i, q]))(y)
                v = alpha * g + (1 - alpha) * direction
                y = y - LR * v
                followed.append(v)
            moves.append(y - x)
        x = x + server_lr * np.mean(moves, axis=0)
        direction = np.mean(followed, axis=0)
        close(states[r + 1].x[0], x, ROUNDING)
        close(states[r + 1].direction[0], direction, ROUNDING)


def _present(active):
    return True if active.present is None else active.present


def test_fedcm_with_one_full_step_is_averaged_momentum() -> None:
    """m^{r+1} = alpha grad f(x^r) + (1 - alpha) m^r,  x^{r+1} = x^r - lr m^{r+1}."""
    f = problem("quadratics")
    states = play(FedCM(GradientSteps(1, LR), 0.2), f, x0_of(f), 20)
    x, m = start(f), np.zeros(f.d)
    for state in states[1:]:
        m = 0.2 * np.mean([client(f, i)(x) for i in range(f.n)], axis=0) + 0.8 * m
        x = x - LR * m
        close(state.x[0], x, ROUNDING)


def test_fedcm_follows_a_schedule_of_steps() -> None:
    """The direction is divided by the way that the steps of its own round add up to."""
    f, alpha = problem("quadratics"), 0.4
    rate = lambda r, q: LR / (1 + r) / (1 + q)  # noqa: E731
    states = play(FedCM(GradientSteps(2, rate), alpha), f, x0_of(f), 4)
    x, direction = start(f), np.zeros(f.d)
    for r, state in enumerate(states[1:]):
        ends = []
        for i in range(f.n):
            y = x
            for q in range(2):
                y = y - rate(r, q) * (alpha * client(f, i)(y) + (1 - alpha) * direction)
            ends.append(y)
        direction = (x - np.mean(ends, axis=0)) / (rate(r, 0) + rate(r, 1))
        x = np.mean(ends, axis=0)
        close(state.x[0], x, ROUNDING)
        close(state.direction[0], direction, ROUNDING)


def test_fedlin_by_hand() -> None:
    """Also with a number of steps for each client."""
    f, counts = problem("sines"), [1, 4, 2, 3]
    states = play(FedLin(GradientSteps(np.array(counts), LR)), f, x0_of(f), 5)
    x = start(f)
    for state in states[1:]:
        g = np.mean([client(f, i)(x) for i in range(f.n)], axis=0)
        ends = []
        for i in range(f.n):
            y = x
            for _ in range(counts[i]):
                y = y - LR * (client(f, i)(y) - client(f, i)(x) + g)
            ends.append(y)
        x = np.mean(ends, axis=0)
        close(state.x[0], x, ROUNDING)


@pytest.mark.parametrize("batch", [None, 2])
@pytest.mark.parametrize("q", [1, 0.4])
def test_federated_svrg_by_hand(batch, q) -> None:
    f, steps, seed = problem("finite-sum"), 3, 2
    states = play(LocalSvrg(steps, LR, batch, q), f, x0_of(f), 8, seed=seed)
    x = w = start(f)
    renewed = 0
    for r, state in enumerate(states[1:]):
        g = np.mean([client(f, i)(w) for i in range(f.n)], axis=0)
        samples = samples_of(f, Key(seed, r), steps, 2)
        ends = []
        for i in range(f.n):
            y = x
            for k in range(steps):
                h = client(f, i) if batch is None else minibatch(f, i, samples[i, k])
                y = y - LR * (h(y) - h(w) + g)
            ends.append(y)
        x = np.mean(ends, axis=0)
        if bool(np.squeeze(Key(seed, r).coin("anchor", q))):
            w, renewed = x, renewed + 1
        close(state.x[0], x, ROUNDING)
        close(state.w[0], w, ROUNDING)
    assert renewed == 8 if q == 1 else 0 < renewed < 8


@pytest.mark.parametrize("batch", [None, 1])
@pytest.mark.parametrize("q", [1, 0.5])
def test_variance_reduction_converges_linearly_in_spite_of_noise_and_heterogeneity(batch, q) -> None:
    """FedAvg with the same steps stands at its bias; these arrive."""
    f = random_quadratics(4, 3, mu=0.2, seed=1) if batch is None else problem("finite-sum")
    x_star = f.solution()[None, :]
    far = np.abs(play(LocalSvrg(3, 0.1, batch, q), f, x_star + 1.0, 600)[-1].x - x_star).max()
    local = GradientSteps(3, 0.1) if batch is None else StochasticSteps(3, 0.1, batch)
    biased = np.abs(play(FedAvg(local), f, x_star + 1.0, 600)[-1].x - x_star).max()
    assert far < 1e-10 and biased > 1e-4


# ---- FedDualAvg with a regulariser --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Composite:
    """A problem with a shared regulariser."""

    smooth: Any
    regulariser: Any

    def __getattr__(self, name):
        return getattr(self.smooth, name)

    def take(self, clients):
        return Composite(self.smooth.take(clients), self.regulariser)


@pytest.mark.parametrize("h", [Ridge(0.7), L1(0.2)], ids=["ridge", "l1"])
def test_one_local_step_is_dual_averaging(h) -> None:
    """x^r = argmin <sum of gradients, x> + r h(x) + ||x - x^0||^2/(2 lr), solved here coordinate by coordinate."""
    f = Composite(problem("quadratics"), h)
    states = play(FedDualAvg(1, LR), f, x0_of(f), 10)
    x, total = start(f), np.zeros(f.d)
    for r in range(1, 11):
        total = total + np.mean([client(f.smooth, i)(x) for i in range(f.n)], axis=0)
        v, weight = start(f) - LR * total, r * LR * h.weight
        x = v / (1 + weight) if isinstance(h, Ridge) else np.sign(v) * np.maximum(np.abs(v) - weight, 0)
        close(states[r].x[0], x, ROUNDING)


@EVERYWHERE
def test_feddualavg_by_hand(schedule) -> None:
    f, steps, server_lr, weight = problem("finite-sum"), 3, 0.8, 0.4
    states = play(FedDualAvg(steps, LR, 2, server_lr), Composite(f, L1(weight)), x0_of(f), 5, schedule, seed=1)
    shrink = lambda v, s: np.sign(v) * np.maximum(np.abs(v) - weight * s, 0)  # noqa: E731
    z = start(f)
    for r in range(5):
        active = schedule.draw(f.n, Key(1, r))
        who = range(f.n) if active is None else active.index[np.ones(active.index.shape, bool) & _present(active)]
        samples, moves = samples_of(f, Key(1, r), steps, 2), []
        for i in who:
            z_i = z
            for k in range(steps):
                w = shrink(z_i, server_lr * LR * r * steps + LR * k)
                z_i = z_i - LR * minibatch(f, i, samples[i, k])(w)
            moves.append(z_i - z)
        z = z + server_lr * np.mean(moves, axis=0)
        close(states[r + 1].z[0], z, ROUNDING)
        close(states[r + 1].x[0], shrink(z, server_lr * LR * (r + 1) * steps), ROUNDING)


def test_feddualavg_finds_the_composite_solution() -> None:
    """Ridge on quadratics: (mean A + weight I) x = mean b. The gradients of f alone would end elsewhere."""
    f, weight = random_quadratics(4, 3, mu=0.2, seed=1), 0.5
    a, b = f.A.mean(axis=0), f.b.mean(axis=0)
    expected = np.linalg.solve(a + weight * np.eye(3), b)
    x = play(FedDualAvg(1, 0.3), Composite(f, Ridge(weight)), x0_of(f), 3000)[-1].x[0]
    close(x, expected, 1e-3)  # the start is forgotten like 1/r
    assert np.abs(f.solution() - expected).max() > 0.05


def test_feddualavg_keeps_a_solution_only_without_a_regulariser() -> None:
    f = problem("quadratics")
    assert FedDualAvg(1, LR).solution_state(Composite(f, L1(0.1)), f.solution()) is None
    assert FedDualAvg(2, LR).solution_state(f, f.solution()) is None
    close(FedDualAvg(1, LR).solution_state(f, f.solution()).x, f.solution())


# ---- SAFARI -------------------------------------------------------------------------------------------------------


def assisted(name="finite-sum"):
    """A server that holds the last client's data."""
    f = problem(name)
    return ServerAssisted(f, f.take(Clients(f.n, np.array([f.n - 1]))))


@pytest.mark.parametrize("batch", [None, 2])
def test_the_coin_says_who_works(batch) -> None:
    """Round by round SAFARI is FedAvg or the server, by the coin that FedPD skips by."""
    f, seed = assisted(), 3
    local = GradientSteps(3, LR) if batch is None else StochasticSteps(3, LR, batch)
    server = GradientSteps(2, 0.2) if batch is None else StochasticSteps(2, 0.2, batch)
    safari, fedavg, alone = Safari(0.6, local, server), FedAvg(local), ServerSgd(server)
    state, schedule, seen = safari.init(f, x0_of(f)), Uniform(2), []
    for r in range(12):
        key = Key(seed, r)
        clients = schedule.draw(f.n, key)
        heads = bool(np.squeeze(key.coin("communicate", 0.6)))
        new = safari.round(f, state, clients, key)
        close(new.x, (fedavg if heads else alone).round(f, state, clients, key).x)
        assert [float(np.squeeze(v)) for v in safari.traffic(key, new)] == [heads, heads]
        state = new
        seen.append(heads)
    assert {True, False} == set(seen)


def test_an_unused_branch_costs_nothing() -> None:
    """In a server round no client works, in a client round not the server."""
    f = problem("quadratics")
    for coin, (clients, server) in ((True, (3 * f.n, 0)), (False, (0, 2))):
        counted = Counting(f)
        counted_server = Counting(Pooled(f))
        safari = Safari(0.5, GradientSteps(3, LR), GradientSteps(2, LR))
        g = ServerAssisted(counted, counted_server)
        safari.round(g, safari.init(g, x0_of(f)), None, ScriptedKey(0, {"communicate": coin}))
        assert (sum(counted.seen), sum(counted_server.seen)) == (clients, server)


def test_probabilities_may_follow_a_schedule_and_a_batch() -> None:
    f = assisted("quadratics")
    local, server = GradientSteps(2, LR), GradientSteps(1, LR)
    alternating = play(Safari(lambda r: float(r % 2 == 0), local, server), f, x0_of(f), 4)
    state = alternating[0]
    for r in range(4):
        turn = FedAvg(local) if r % 2 == 0 else ServerSgd(server)
        state = turn.round(f, state, None, Key(0, r))
        close(alternating[r + 1].x, state.x)
    together = play(Safari(along_batch([0.0, 0.5, 1.0]), local, server), f, x0_of(f), 6)[-1]
    for row, q in enumerate((0.0, 0.5, 1.0)):
        close(together.x[row], play(Safari(q, local, server), f, x0_of(f), 6)[-1].x, ROUNDING)


def test_alike_clients_leave_no_bias() -> None:
    """SAFARI-R5a: with F_i = F, one client's round is everybody's."""
    one = random_quadratics(1, 3, mu=0.2, seed=6)
    f = one.take(Clients(1, np.zeros(4, dtype=int)))
    g = ServerAssisted(f, one)
    local, server = GradientSteps(2, LR), GradientSteps(1, LR)
    safari = play(Safari(0.5, local, server), g, x0_of(f), 800, FIRST_ONLY)
    close(safari[-1].x[0], one.solution(), 1e-10)


def test_the_limit_of_the_mean_with_biased_clients() -> None:
    """SAFARI-X2: one curvature A, minimisers b_i; E x -> [(1-q) eta_s A + q H]^{-1} q H b_D, H = I - (I - eta_c A)^K.

    Measured from the minimiser of the average. The matrices of the two kinds of rounds are read off the code.
    """
    q, eta_c, eta_s, steps = 0.6, 0.11, 0.2, 4
    f = same_curvature(4, 2, mu=0.3, seed=3)
    g = ServerAssisted(f, Pooled(f))
    safari = Safari(q, GradientSteps(steps, eta_c), GradientSteps(1, eta_s))
    active = Clients(4, np.array([0, 2]))
    client_map, server_map = (
        round_map(safari, g, np.zeros(2), coins={"communicate": coin}, clients=active) for coin in (True, False)
    )
    m = q * client_map.matrix + (1 - q) * server_map.matrix
    limit = np.linalg.solve(np.eye(2) - m, q * client_map.offset + (1 - q) * server_map.offset)
    a, centre = f.A[0], f.solution()
    minimisers = np.linalg.solve(a, f.b.T).T
    h = np.eye(2) - np.linalg.matrix_power(np.eye(2) - eta_c * a, steps)
    b_d = minimisers[[0, 2]].mean(axis=0) - centre
    expected = centre + np.linalg.solve((1 - q) * eta_s * a + q * h, q * h @ b_d)
    close(limit, expected, ROUNDING)
    assert np.abs(limit - centre).max() > 1e-2


def test_safari_in_the_worst_case() -> None:
    """A server that knows the average makes server rounds gradient descent, over the whole class; client rounds FedAvg's."""
    smooth, one = FunctionClass(1, 0.1), GradientSteps(1, 0.5)
    safari = Safari(0.5, one, one)
    descent = worst_case_for_one_n(GradientDescent(0.5), smooth, n=2, rounds=2).value
    for coins in ({"communicate": False}, {"communicate": True}):
        found = worst_case_for_one_n(safari, smooth, n=2, rounds=2, coins={0: coins, 1: coins})
        assert found.value == pytest.approx(descent, rel=1e-4)
    assert worst_case_for_one_n(ServerSgd(one), smooth, n=2, rounds=2).replay() == pytest.approx(descent, rel=1e-4)


# ---- traffic, symbols, refusals -----------------------------------------------------------------------------------


def test_traffic() -> None:
    """F-SVRG sends 2d each way, and d for the first anchor; FedCM d up and 2d down."""
    f = assisted("quadratics")
    one = GradientSteps(1, LR)
    expected = {
        FedCM(one, 0.5): (1, 2),
        FedLin(one): (2, 2),
        LocalSvrg(1, LR): (2 + 1 / 7, 2 + 1 / 7),
        FedDualAvg(1, LR): (1, 1),
        ServerSgd(one): (0, 0),
    }
    for algorithm, (up, down) in expected.items():
        trace = run(algorithm, f, start(f), 7)
        assert (trace.floats_up[-1], trace.floats_down[-1]) == (
            round(7 * up * f.n * f.d),
            round(7 * down * f.n * f.d),
        )
    assert run(LocalSvrg(1, LR), f, start(f), 0).floats_down.tolist() == [f.n * f.d], "the first anchor's"
    rounds, q = 400, 0.3
    trace = run(LocalSvrg(1, LR, q=q), f, start(f), rounds)
    renewals = trace.floats_up[-1] / (f.n * f.d) - rounds - 1
    assert abs(renewals - q * rounds) < 4 * np.sqrt(q * (1 - q) * rounds)


def test_rounds_agree_as_formulas() -> None:
    """One round on f_i = a_i (x - c_i)^2 / 2 with every number a symbol."""
    sympy = pytest.importorskip("sympy")
    a1, a2, c1, c2, x, lr, alpha = sympy.symbols("a1 a2 c1 c2 x lr alpha")
    f = scalar_quadratics([a1, a2], [c1, c2])
    x0 = np.array([[x]])

    def after(algorithm, rounds=1):
        return play(algorithm, f, x0, rounds)[-1].x[0, 0]

    two = GradientSteps(2, lr)
    pairs = [
        (after(FedLin(GradientSteps(1, lr)), 2), after(GradientDescent(lr), 2)),
        (after(FedLin(two)), after(LocalSvrg(2, lr))),
        (after(FedCM(two, 1), 2), after(FedAvg(two), 2)),
        (after(FedDualAvg(2, lr)), after(FedAvg(two))),
        (after(FedCM(GradientSteps(1, lr), alpha)), after(GradientDescent(alpha * lr))),
    ]
    assert all(sympy.expand(left - right) == 0 for left, right in pairs)
    assert sympy.expand(after(FedLin(two)) - after(FedAvg(two))) != 0


def test_who_keeps_the_solution() -> None:
    """Corrected methods with any number of steps; mixtures and averages with one."""
    f = problem("quadratics")
    x = f.solution()[None, :]
    for keeps in (FedLin(GradientSteps(5, LR)), LocalSvrg(5, LR, q=0.5)):
        close(play(keeps, f, keeps.solution_state(f, x).x, 3)[-1].x, x, ROUNDING)
    for loses in (FedCM(GradientSteps(2, LR), 0.5), FedAvg(SamSteps(1, LR, 0.1)), FedDualAvg(2, LR)):
        assert loses.solution_state(f, x) is None
        assert np.abs(play(loses, f, x, 1)[-1].x - x).max() > 1e-6
    assert FedCM(GradientSteps(1, LR), 0.5).solution_state(f, x) is not None and is_one_plain_step(GradientSteps(1, LR))


class Flipped(FedLin):
    """Planted fault: the correction has the wrong sign, which one local step does not show."""

    def round(self, problem, state, clients, key):
        g_i = problem.grad(state.x)
        y, _ = self.local(Subproblem(problem, a=g_i - average(g_i)), state.x, key, None)
        return PointState(average(y))


def test_a_correction_of_the_wrong_sign_is_seen() -> None:
    f = problem("quadratics")
    x = f.solution()[None, :]
    one, two = GradientSteps(1, LR), GradientSteps(2, LR)
    assert_same_models(play(Flipped(one), f, x0_of(f), 3), play(FedLin(one), f, x0_of(f), 3))
    assert np.abs(play(Flipped(two), f, x, 1)[-1].x - x).max() > 1e-3


BAD = {
    "alpha zero": lambda: FedCM(GradientSteps(1, LR), 0),
    "alpha above one": lambda: FedCM(GradientSteps(1, LR), 1.1),
    "alpha of a batch": lambda: FedCM(GradientSteps(1, LR), along_batch([0.5, 1.5])),
    "a NumPy alpha": lambda: FedCM(GradientSteps(1, LR), np.float64(2)),
    "a fraction": lambda: FedCM(GradientSteps(1, LR), Fraction(3, 2)),
    "server step": lambda: FedCM(GradientSteps(1, LR), 0.5, -1),
    "exact FedCM": lambda: FedCM(Exact(), 0.5),
    "accelerated FedCM": lambda: FedCM(AcceleratedSteps(2, LR, 0.5), 0.5),
    "APDA's modulus": lambda: APDA(0.1, mu=-0.1),
    "APDA's modulus of a batch": lambda: APDA(0.1, mu=along_batch([0.1, -0.1])),
    "unequal steps": lambda: FedCM(GradientSteps(np.array([1, 2]), LR), 0.5),
    "q zero": lambda: LocalSvrg(1, LR, q=0),
    "q above one": lambda: LocalSvrg(1, LR, q=1.5),
    "SVRG steps": lambda: LocalSvrg(0, LR),
    "SVRG batch": lambda: LocalSvrg(1, LR, 0),
    "dual steps": lambda: FedDualAvg(0, LR),
    "dual server step": lambda: FedDualAvg(1, LR, server_lr=0),
    "dual batch": lambda: FedDualAvg(1, LR, 0),
    "SAFARI's coin": lambda: Safari(1.2, GradientSteps(1, LR), GradientSteps(1, LR)),
    "SAFARI's coin of a batch": lambda: Safari(along_batch([0.5, -0.1]), GradientSteps(1, LR), GradientSteps(1, LR)),
}


@pytest.mark.parametrize("name", BAD)
def test_settings_that_make_no_sense_are_refused(name) -> None:
    with pytest.raises(InvalidInput, match=r"got "):
        BAD[name]()

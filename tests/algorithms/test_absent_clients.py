"""MIFA, FedVARP, FedBuff, FedAsync and pFedMe: what they equal, and what their weights do. Loops by hand: `server_loops`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from helpers import ROUNDING, assert_same_models, close, play, problem, x0_of

from fedtheory import run
from fedtheory.algorithms import MIFA, FedAsync, FedAvg, FedAvgM, FedBuff, FedProx, FedVARP, PFedMe
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import All, Clients, Schedule, Uniform
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.proofs.spectrum import why_not_traceable
from problems.quadratics import scalar_quadratics

LR = 0.2
STEPS = GradientSteps(3, LR)


@pytest.mark.parametrize("local", [STEPS, StochasticSteps(3, LR, 2)], ids=["gd", "sgd"])
def test_with_everyone_they_are_fedavg(local) -> None:
    """Also under seven tenths of a server step, FedAvgM without momentum; ages are zero then, and weights one."""
    f = problem("logistic")
    plain = play(FedAvg(local), f, x0_of(f), 5)
    for twin in (MIFA(local), FedVARP(local), FedBuff(local), FedBuff(local, divide="weights"), FedAsync(local, 1)):
        assert_same_models(play(twin, f, x0_of(f), 5), plain)
    damped = play(FedAvgM(local, 0, 0.7), f, x0_of(f), 5)
    for twin in (FedVARP(local, 0.7), FedBuff(local, 0.7), FedAsync(local, 0.7)):
        assert_same_models(play(twin, f, x0_of(f), 5), damped)


def test_without_weights_it_does_not_matter_by_what_they_are_divided() -> None:
    f, some = problem("quadratics"), Uniform(2)
    ours, theirs = (play(FedBuff(STEPS, 1, 0, by), f, x0_of(f), 6, some) for by in ("size", "weights"))
    assert_same_models(ours, theirs, 0.0)
    assert ours[-1].age is None and why_not_traceable(FedBuff(STEPS, 1, 0)) is None
    assert "ages" in why_not_traceable(FedBuff(STEPS))


def test_fedvarps_direction_is_unbiased_and_mifas_is_not() -> None:
    """Over all pairs of four clients, from a state in which every client was heard at another point."""
    f = problem("quadratics")
    state = play(FedVARP(STEPS), f, x0_of(f), 6, Schedule(lambda r: [r % 4]))[-1]
    pairs = [Clients(f.n, np.array(pair)) for pair in combinations(range(f.n), 2)]
    everyone = FedAvg(STEPS).round(f, state, None, Key(0, 9)).x
    means = [np.mean([m(STEPS).round(f, state, c, Key(0, 9)).x for c in pairs], axis=0) for m in (FedVARP, MIFA)]
    close(means[0], everyone, ROUNDING)
    assert np.abs(means[1] - everyone).max() > 1e-3


def test_methods_that_divide_by_the_step_refuse_other_local_work() -> None:
    for method in (MIFA, FedVARP):
        with pytest.raises(InvalidInput, match=f"{method.__name__} divides moves by the local step size"):
            method(Exact())


# ---- pFedMe -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [All(), Uniform(2)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("local", [Exact(), STEPS], ids=["exact", "steps"])
def test_pfedme_with_one_full_step_on_the_envelope_is_fedprox(local, schedule) -> None:
    f, rho = problem("quadratics"), 2.0
    ours = play(PFedMe(rho, local, 1 / rho, 1), f, x0_of(f), 5, schedule)
    assert_same_models(ours, play(FedProx(rho, local), f, x0_of(f), 5, schedule))


def test_pfedme_ends_at_the_minimiser_of_the_mean_moreau_envelope() -> None:
    """On quadratics grad F_i(w) = M_i (A_i w - b_i) with M_i = rho (A_i + rho I)^{-1}."""
    f, rho = problem("quadratics"), 2.0
    M = rho * np.linalg.inv(f.A + rho * np.eye(f.d))
    w = np.linalg.solve((M @ f.A).mean(axis=0), np.einsum("nij,nj->i", M, f.b) / f.n)
    state = run(PFedMe(rho, model_lr=0.4, local_rounds=1), f, np.ones(f.d), 400, every=400).state
    close(state.x[0], w, 1e-10)
    close(state.personal, np.linalg.solve(f.A + rho * np.eye(f.d), (f.b + rho * w)[..., None])[..., 0], 1e-10)
    assert np.abs(w - f.solution()).max() > 1e-3, "which is not that of f"
    assert PFedMe(rho).solution_state(f, f.solution()[None, :]) is None


# ---- by what a buffer is divided ----------------------------------------------------------------------------------


def in_turn(n: int) -> Schedule:
    return Schedule(lambda r: [r % n])


@pytest.mark.parametrize("n", [3, 5, 9])
def test_division_by_the_weights_undoes_the_damping_of_old_moves(n) -> None:
    """n clients f_i = x^2/2 in turn, step 1: x^{r+n+1} = x^{r+n} - a x^{r+1}, which is stable for a < 2 sin(pi/(4n - 2)) (Levin and May 1976).

    Divided by the weights a = 1, which is too large from n = 3 on; divided by the size a = 1/n with power 1, which never is.
    """
    f = scalar_quadratics([1.0] * n)
    bound = 2 * np.sin(np.pi / (4 * n - 2))
    assert 1 / n < bound < 1
    for by, a in (("size", 1 / n), ("weights", 1.0)):
        states = play(FedBuff(GradientSteps(1, 1.0), 1, 1, by), f, np.array([[1.0]]), 10 * n, in_turn(n))
        x = np.array([state.x[0, 0] for state in states])
        late = np.arange(2 * n, 8 * n)
        close(x[late + n + 1], x[late + n] - a * x[late + 1], ROUNDING)
        radius = np.abs(np.roots([1, -1, *[0] * (n - 2), a])).max()
        assert (radius < 1) == (by == "size")


@pytest.mark.parametrize(("by", "first", "other"), [("size", 3 / 2, 1 / 3), ("weights", 2, 1)])
def test_where_small_steps_end_when_one_client_comes_twice_as_often(by, first, other) -> None:
    """f = (x - 1)^2/2 comes in rounds 0, 1 of three, (x + 1)^2/2 in round 2, one a buffer.

    The first is 1 and 0 rounds old, the other 2, so with power 1 they count 1/2 + 1 against 1/3, or 2 against 1: neither is 1 against 1.
    """
    f = scalar_quadratics([1.0, 1.0], [1.0, -1.0])
    schedule = Schedule(lambda r: [int(r % 3 == 2)])
    method = FedBuff(GradientSteps(1, 4e-3), 1, 1, by)
    end = run(method, f, np.zeros(1), 3000, every=3000, participation=schedule).state.x[0, 0]
    assert end == pytest.approx((first - other) / (first + other), abs=1e-2)
    assert end > 0.3, "the minimiser is 0"


def test_fedasync_with_a_penalty_is_fedprox_with_everyone() -> None:
    f = problem("quadratics")
    assert_same_models(play(FedAsync(STEPS, 1, 0.5, 2.0), f, x0_of(f), 5), play(FedProx(2.0, STEPS), f, x0_of(f), 5))

"""Personalised methods: who takes part, runs of a batch, what is sent."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import close, fields, play, problem, start, x0_of
from local_work import GD, ROUNDING, SGD, SOLVERS

from fedtheory.algorithms import Apfl, Ditto, FedRep, FedSpa, LgFedAvg, LocalTraining, PerFedAvg
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients, Uniform
from fedtheory.core.randomness import Key
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.running.runner import run
from problems.quadratics import random_quadratics

# ---- who takes part -----------------------------------------------------------------------------------------------

PART = np.array([True, False, True])
METHODS = {
    "local": LocalTraining(GD),
    "ditto": Ditto(GD, 0.4),
    "apfl": Apfl(GD, 0.3),
    "per-fedavg": PerFedAvg(GD, 0.1),
    "fedrep": FedRep(GD, GD, PART),
    "lg-fedavg": LgFedAvg(GD, PART),
    "fedspa": FedSpa(GD, 0.5),
    "fedspa-static": FedSpa(GD, 0.5, prune=0),
}
EACH = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@EACH
def test_clients_that_stay_away_keep_what_is_theirs_and_cost_nothing(method) -> None:
    from helpers import Counting

    f = Counting(problem("logistic"))
    states = play(method, problem("logistic"), x0_of(f), 3)
    f.seen.clear()
    new = method.round(f, states[-1], Clients(4, np.array([2, 1])), Key(0, 3))
    assert f.seen and max(f.seen) <= 2, "gradients of the two that take part, and of no one else"
    kept = {"apfl": "v_i", "fedspa": "mask"}.get(next(k for k, v in METHODS.items() if v is method), "personal")
    old, now = getattr(states[-1], kept), getattr(new, kept)
    if now is None:
        return
    own = PART if isinstance(method, FedRep | LgFedAvg) else slice(None)
    mine = slice(None) if kept != "personal" or not isinstance(method, FedSpa) else slice(0, 0)
    np.testing.assert_array_equal(now[[0, 3]][:, own][:, mine], old[[0, 3]][:, own][:, mine])


@EACH
def test_a_round_with_some_is_the_round_of_the_problem_with_those_alone(method) -> None:
    """From a common start the clients that take part do what they would do were they all."""
    f, index = problem("logistic"), np.array([1, 3])
    if isinstance(method, FedSpa):
        method = dataclasses.replace(method, density=1.0)  # masks belong to a client's number
    clients = Clients(4, index)
    some = method.round(f, method.init(f, x0_of(f)), clients, Key(0, 0))
    alone = method.round(f.take(clients), method.init(f.take(clients), x0_of(f)), None, Key(0, 0))
    close(some.personal[index], alone.personal, ROUNDING)
    if not isinstance(method, LocalTraining):  # its x is an average over everybody
        close(some.x, alone.x, ROUNDING)


@EACH
@SOLVERS
def test_runs_of_a_batch_are_single_runs(method, solver) -> None:
    """Steps, starts and seeds along the batch, with clients drawn by each run."""
    f, rates, seeds = problem("logistic"), [0.03, 0.06, 0.09], np.array([5, 6, 7])
    starts = start(f) + np.array([0.0, 1.0, -1.0])[:, None]

    def with_rate(lr):
        swapped = dataclasses.replace(solver, lr=lr)
        names = {"local", "head", "body"} & {field.name for field in dataclasses.fields(method)}
        if isinstance(method, PerFedAvg) and solver is SGD:
            swapped = dataclasses.replace(swapped, batch=3)
        return dataclasses.replace(method, **dict.fromkeys(names, swapped))

    measured = {"value": metrics.personal_value, "slope": metrics.personal_stationarity}
    together = run(with_rate(along_batch(rates)), f, starts, 4, participation=Uniform(2), seed=seeds, metrics=measured)
    for k, lr in enumerate(rates):
        alone = run(with_rate(lr), f, starts[k], 4, participation=Uniform(2), seed=int(seeds[k]), metrics=measured)
        for name in measured:
            close(together[name][k], alone[name], ROUNDING, name)
        for name, value in fields(alone.state).items():
            close(np.broadcast_to(fields(together.state)[name], (3, *value.shape))[k], value, ROUNDING, name)


def test_parameters_along_the_batch() -> None:
    f, values = problem("quadratics"), [0.1, 0.4, 0.8]
    for make in (lambda v: Ditto(GD, v), lambda v: Apfl(GD, v), lambda v: PerFedAvg(GD, v)):
        together = run(make(along_batch(values)), f, start(f), 3, participation=Uniform(3))
        for k, v in enumerate(values):
            alone = run(make(v), f, start(f), 3, participation=Uniform(3))
            close(np.broadcast_to(together.state.x, (3, 1, f.d))[k], alone.state.x, ROUNDING)
            close(together.state.personal[k], alone.state.personal, ROUNDING)


def test_phases_and_parts_of_a_round_draw_independently() -> None:
    """Were head and body steps given the same minibatches, the body's gradient would be biased given the head."""
    key, f = Key(3, 5), problem("logistic")
    here, there = key.client_uniform("samples", 4, 6), key.apart("head").client_uniform("samples", 4, 6)
    assert np.abs(here - there).min() > 0
    np.testing.assert_array_equal(there, Key(3, 5).apart("head").client_uniform("samples", 4, 6))
    assert np.abs(there - key.apart("head").apart("head").client_uniform("samples", 4, 6)).min() > 0
    ours = play(Ditto(SGD, 0), f, x0_of(f), 1)[-1]
    assert np.abs(ours.personal - play(LocalTraining(SGD), f, x0_of(f), 1)[-1].personal).max() > 1e-6
    with pytest.raises(InvalidInput, match=r"needs 2 independent minibatches.*batch=3"):
        play(PerFedAvg(StochasticSteps(1, 0.1, 3), 0.1, "first-order"), f, x0_of(f), 1)


def test_minibatches_of_a_meta_gradient_are_parts_of_one_draw() -> None:
    """D for the inner step, D' for the outer gradient, D'' for the curvature: three parts of the batch of one step."""
    f, key, a = problem("finite-sum"), Key(4, 0), 0.3
    x = np.broadcast_to(x0_of(f), (f.n, f.d))
    solver = StochasticSteps(1, 0.2, 6)
    samples = np.floor(key.client_uniform("samples", f.n, 6) * np.asarray(f.n_samples)[:, None]).astype(int)
    assert np.any(samples[:, :2] != samples[:, 2:4]) and np.any(samples[:, 2:4] != samples[:, 4:])
    u = f.sample_grad(x - a * f.sample_grad(x, samples[:, :2]), samples[:, 2:4])
    bent = (f.sample_grad(x + u / 100, samples[:, 4:]) - f.sample_grad(x - u / 100, samples[:, 4:])) * 50
    method = PerFedAvg(solver, a, inverse_delta=100)
    got = method.round(f, method.init(f, x0_of(f)), None, key).x
    close(got[0], (x - 0.2 * (u - a * bent)).mean(axis=0), ROUNDING)


# ---- what is sent -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "floats"),
    [
        (LocalTraining(GD), 0),
        (Ditto(GD, 1.0), 25),
        (Apfl(GD), 25),
        (PerFedAvg(GD, 0.1), 25),
        (FedRep(GD, GD, np.arange(25) >= 7), 7),
        (LgFedAvg(GD, np.arange(25) >= 14), 14),
        (FedSpa(GD, 0.28), 7),
        (FedSpa(GD, 0.56, prune=0), 14),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else str(value),
)
def test_floats_sent_are_counted_exactly(method, floats) -> None:
    """Whole numbers, also where k/d has no exact floating-point value (25 * (7/25) is not 7)."""
    f = random_quadratics(7, 25, seed=2)
    trace = run(method, f, np.ones(25), 11, participation=Uniform(3))
    for count in (trace.floats_up, trace.floats_down):
        np.testing.assert_array_equal(count, floats * 3 * np.arange(12.0))

"""Runs whose clients have weights."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import assert_equal_traces, close

from fedtheory.algorithms import FedAvg, FedNova, listed
from fedtheory.command_line.main import main
from fedtheory.core.arrays import to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import ByWeight, Clients, Schedule, Uniform
from fedtheory.core.randomness import Key
from fedtheory.core.weighted import Weighted
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.running.runner import run
from problems.logistic import logistic
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics

P = (0.5, 0.3, 0.2)
LR, K = 0.3, 2
X0 = np.ones(4)
CLIENTS = random_quadratics(3, 4, L=1.0, mu=0.1, heterogeneity=1.0, seed=3)
METHOD = FedAvg(GradientSteps(K, LR))


def parts(factors=(1, 1, 1), copies=(1, 1, 1)) -> Quadratic:
    """The clients f_i with factors before them, each so many times."""
    index = np.repeat(np.arange(3), copies)
    scale = np.asarray(factors, dtype=float)[index]
    c = None if CLIENTS.c is None else scale * CLIENTS.c[index]
    return Quadratic(scale[:, None, None] * CLIENTS.A[index], scale[:, None] * CLIENTS.b[index], c)


def models(f: Quadratic, steps: int = K) -> np.ndarray:
    """What clients reach from X0 by gradient steps, with matrices: x_i* + (I - lr A_i)^K (x - x_i*)."""
    found = []
    for a, b in zip(f.A, f.b, strict=True):
        own = np.linalg.solve(a, b)
        found.append(own + np.linalg.matrix_power(np.eye(4) - LR * a, steps) @ (X0 - own))
    return np.array(found)


def test_a_round_of_fedavg_averages_by_the_weights_and_scales_nobody() -> None:
    """sum_i p_i x_i of the clients f_i is meant; FedAvg on n p_i f_i, whose mean is the same f, goes elsewhere with two steps."""
    found = run(METHOD, Weighted(CLIENTS, P), X0, 1).state.x[0]
    close(found, P @ models(CLIENTS), 1e-12)
    scaled = parts(3 * np.array(P))
    close(run(METHOD, scaled, X0, 1).state.x[0], models(scaled).mean(axis=0), 1e-12)
    assert np.abs(found - models(scaled).mean(axis=0)).max() > 1e-2
    one = FedAvg(GradientSteps(1, LR))  # with one step both are gradient descent on f
    close(run(one, Weighted(CLIENTS, P), X0, 1).state.x, run(one, scaled, X0, 1).state.x, 1e-12)


@pytest.mark.parametrize(
    "name", ["fedavg", "fednova", "fedexp", "scaffold", "fedpd", "feddyn", "scaffnew", "dualfl", "5gcs", "ditto"]
)
def test_weights_in_tenths_are_clients_ten_of_whom_some_are_alike(name) -> None:
    entry = listed(name)
    method = entry.build(**{option.name: option.default for option in entry.options})
    names = ["gap", "distance", "stationarity", "value"]
    by_weight = run(method, Weighted(CLIENTS, P), X0, 4, metrics=names)
    alike = run(method, parts(copies=(5, 3, 2)), X0, 4, metrics=names)
    close(by_weight.state.x, alike.state.x, 1e-10)
    for metric in names:
        close(by_weight[metric], alike[metric], 1e-9, metric)
    assert np.abs(by_weight.state.x - run(method, CLIENTS, X0, 4).state.x).max() > 1e-4


@pytest.mark.parametrize(
    ("name", "participation"),
    [("fedavg", None), ("fedavg", Uniform(2)), ("scaffold", Uniform(2)), ("compressed-scaffnew", None)],
)
def test_equal_weights_are_no_weights_bit_for_bit(name, participation) -> None:
    entry = listed(name)
    method = entry.build(**{option.name: option.default for option in entry.options})
    f = logistic([np.eye(3)[:k] + 0.1 for k in (1, 2, 3)], [np.array([1.0, -1.0, 1.0])[:k] for k in (1, 2, 3)], l2=0.1)
    plain = run(method, f, np.ones(3), 5, participation=participation, metrics=["value", "stationarity"])
    equal = Weighted(f, [1 / 3] * 3)
    trace = run(method, equal, np.ones(3), 5, participation=participation, metrics=["value", "stationarity"])
    assert_equal_traces(replace(trace, info=plain.info), plain)  # the problem's name is another


def test_fednova_is_its_source_with_weights() -> None:
    """x + (sum_i p_i tau_i) sum_i p_i (x_i - x) / tau_i, for clients with numbers of steps tau_i of their own (Wang et al. 2020)."""
    tau, p = np.array([1, 2, 3]), np.array(P)
    moved = np.array([models(CLIENTS, k)[i] for i, k in enumerate(tau)]) - X0
    found = run(FedNova(GradientSteps(tau, LR)), Weighted(CLIENTS, P), X0, 1).state.x[0]
    close(found, X0 + (p @ tau) * (p @ (moved / tau[:, None])), 1e-12)


def test_fractions_stay_fractions() -> None:
    """f_i = (a_i/2) x^2 from x = 1: after one step x = sum_i p_i (1 - lr a_i), exactly."""
    curvatures = [Fraction(1), Fraction(1, 3), Fraction(1, 7)]
    f = Weighted(scalar_quadratics(curvatures), [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    one = run(FedAvg(GradientSteps(1, Fraction(1, 5))), f, np.array([Fraction(1)], dtype=object), 1, metrics={})
    assert one.state.x[0, 0] == 1 - Fraction(1, 5) * (Fraction(1, 2) + Fraction(1, 9) + Fraction(1, 42))


def test_metrics_know_the_weights_outside_of_runs_too() -> None:
    entry = listed("scaffnew")
    f = Weighted(CLIENTS, P)
    state = run(entry.build(**{option.name: option.default for option in entry.options}), f, X0, 1).state
    state = replace(state, x_i=models(CLIENTS))
    close(metrics.consensus(f, state), P @ ((state.x_i - state.x) ** 2).sum(axis=-1), 1e-12)
    close(metrics.value(f, state), P @ CLIENTS.value(state.x), 1e-12)


def test_uniformly_drawn_clients_are_averaged_by_their_weights() -> None:
    found = run(METHOD, Weighted(CLIENTS, P), X0, 1, participation=Schedule(lambda _: [0, 2])).state.x[0]
    x_i = models(CLIENTS)
    close(found, (0.5 * x_i[0] + 0.2 * x_i[2]) / 0.7, 1e-12)


def test_clients_drawn_by_weight_are_averaged_equally() -> None:
    """Over 4000 seeds the next model is sum_i p_i x_i in the mean, up to 5 standard deviations; each client that was drawn sends once."""
    seeds = np.arange(4000)
    trace = run(METHOD, Weighted(CLIENTS, P), X0, 1, participation=ByWeight(2), seed=seeds)
    x_i, x = models(CLIENTS), trace.state.x[:, 0]
    mean = P @ x_i
    deviation = np.sqrt((P @ (x_i - mean) ** 2) / 2 / len(seeds))
    assert (np.abs(x.mean(axis=0) - mean) < 5 * deviation).all()
    alone = (trace.floats_up[:, -1] == 4).mean()  # the same client twice
    assert abs(alone - sum(p * p for p in P)) < 5 * np.sqrt(0.25 / len(seeds))
    twice = Clients(3, np.array([0, 1]), None, np.array([2, 1]))
    close(
        METHOD.round(CLIENTS, METHOD.init(CLIENTS, X0[None]), twice, Key(0, 0)).x[0], (2 * x_i[0] + x_i[1]) / 3, 1e-12
    )


def test_what_has_no_stated_meaning_is_refused() -> None:
    w = Weighted(CLIENTS, P)
    for name, told in (
        ("fedbuff", "counts equally"),
        ("fedavg-weighted", "own weights"),
        ("compressed-scaffnew", "common point"),
    ):
        entry = listed(name)
        with pytest.raises(InvalidInput, match=f"is not for clients with weights: .*{told}"):
            run(entry.build(**{option.name: option.default for option in entry.options}), w, X0, 1)
    for name in ("scaffold", "feddyn", "fedvarp"):
        entry = listed(name)
        with pytest.raises(InvalidInput, match="also averages over what all clients hold"):
            run(entry.build(**{o.name: o.default for o in entry.options}), w, X0, 1, participation=Uniform(2))


def test_they_run_in_batches_in_every_library_and_precision(xp) -> None:
    f = Weighted(CLIENTS, P)
    batch = np.array([[1.0, 1, 1, 1], [0, 2, 0, 1]])
    trace = run(METHOD, xp.problem(f), xp.array(batch), 3, metrics=["value", "stationarity"])
    for k, x0 in enumerate(batch):
        alone = run(METHOD, f, x0, 3, metrics=["value", "stationarity"])
        close(to_numpy(trace.state.x)[k], alone.state.x, 1e-12)
        close(trace["value"][k], alone["value"], 1e-12)


def test_stochastic_steps_are_the_same_whatever_the_weights() -> None:
    """Weights do not change what clients draw: by hand from runs of one client each round."""
    rng = np.random.default_rng(1)
    f = logistic([rng.normal(size=(6, 3)) for _ in range(3)], [np.sign(rng.normal(size=6)) for _ in range(3)], l2=0.1)
    method, x0 = FedAvg(StochasticSteps(4, 0.2, 2)), np.zeros(3)
    alone = [run(method, f, x0, 1, participation=Schedule(lambda _, i=i: [i])).state.x[0] for i in range(3)]
    close(run(method, Weighted(f, P), x0, 1).state.x[0], P @ np.array(alone), 1e-12)


# ---- on the command line ------------------------------------------------------------------------------------------


def call(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


ASKED = ("quadratics", "--clients", 3, "--dimension", 4, "--rounds", 4, "--metric", "gap")


def test_the_command_runs_them(tmp_path) -> None:
    from problems.options import Options

    o = Options()
    f = random_quadratics(3, 4, L=o.L, mu=o.mu, heterogeneity=o.heterogeneity, seed=0)
    expected = run(FedAvg(GradientSteps(2, 0.3)), Weighted(f, P), X0, 4, metrics=["gap"])
    steps = ("--lr", 0.3, "--local-steps", 2)
    found = json.loads(call("run", "fedavg", *ASKED, *steps, "--weights", ".5,.3,.2", "--json", "-").stdout)
    close(np.array(found["gap"]), expected["gap"], 1e-12)
    call("sweep", "fedavg", *ASKED, *steps, "--weights", "1/2,.3,.2", "--json", tmp_path / "rows", "--workers", 1)
    (row,) = map(json.loads, Path(tmp_path / "rows").read_text().splitlines())
    assert row["weights"] == "1/2,.3,.2"
    close(row["gap"], expected["gap"][-1], 1e-12)
    by_weight = ("--weights", ".5,.3,.2", "--participants", 2, "--drawn", "by-weight")
    drawn = run(FedAvg(GradientSteps(2, 0.3)), Weighted(f, P), X0, 4, participation=ByWeight(2), metrics=["gap"])
    close(
        np.array(json.loads(call("run", "fedavg", *ASKED, *steps, *by_weight, "--json", "-").stdout)["gap"]),
        drawn["gap"],
        1e-12,
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--weights", ".5,.5"), "there are 2 weights (0.5, 0.5) and n = 3 clients"),
        (("--weights", ".6,.6,-.2"), "the weight of client 2 is -0.2"),
        (("--weights", ".5,.3,.1"), "have the sum 0.9"),
        (("--weights", "a,b,c"), "the weight 'a' is no number"),
        (("--weights", "data"), "weights by the clients' data needs 'n_samples'"),
        (("--drawn", "by-weight"), "need a number of draws"),
    ],
)
def test_the_command_refuses_wrong_weights_in_a_line(given, told) -> None:
    result = call("run", "fedavg", *ASKED, *given, code=2)
    assert told in result.stderr and len(result.stderr.strip().splitlines()) == 1

"""Networks by PyTorch: the same methods, gradients that are gradients, ways that agree, accuracy, bad input."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from helpers import build, dressed
from small_networks import BATCH, N, close, one_thread, points, small, some_samples, split_digits, torch  # noqa: F401  one_thread is for pytest to find

from fedtheory.algorithms import ALGORITHMS, AFedPD, FedAvg, FedRep, Scaffold
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.layers import ranks
from fedtheory.core.participation import Clients, Uniform
from fedtheory.local.sam import SamSteps
from fedtheory.local.schedules import DecayedStep
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.measures.catalogue import offered_metrics
from fedtheory.running import runner
from fedtheory.running.runner import run
from fedtheory.tools import memory
from problems.datasets import Dataset, digits, iris
from problems.mlp import perceptron
from problems.networks import ARCHITECTURES, Architecture, Arithmetic, Plan, network
from problems.networks.plan import WAYS
from problems.networks.problem import Network
from problems.splits import by_classes, client_tests, clients_of, hold_out

pytestmark = pytest.mark.torch

# ---- architectures ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "image", "classes", "parameters"),
    [
        ("mcmahan", (1, 28, 28), 10, 1_663_370),  # McMahan et al. 2017, Section 3
        ("femnist", (1, 28, 28), 62, 6_603_710),  # the code of FedPD's experiments
        ("lenet", (3, 32, 32), 10, 797_962),  # the public code of A-FedPD
        ("resnet18", (3, 32, 32), 10, 11_181_642),  # the same: torchvision's with group normalisation
        ("resnet18-3x3", (3, 32, 32), 10, 11_173_962),  # FedSLR: convolutions 11159232, norms 9600, linear 5130
        ("vgg11", (3, 32, 32), 10, 9_225_610),  # configuration A: convolutions 9220480, one dense layer 5130
        ("logistic", (1, 28, 28), 10, 7_850),
        ("perceptron", (1, 8, 8), 10, 64 * 64 + 64 + 64 * 10 + 10),
        ("small-cnn", (1, 8, 8), 10, 16 * 9 + 16 + 32 * 16 * 9 + 32 + (128 + 1) * 64 + 65 * 10),
    ],
)
def test_networks_have_the_parameters_of_their_papers(kind, image, classes, parameters) -> None:
    a = Architecture(kind, image, classes)
    assert a.d == parameters == sum(layer.size for layer in a.layers)
    assert a.layers[-1].shape == (classes,) and a.layers[-2].shape[0] == classes
    assert a.initial(0).shape == (a.d,) and a.activations > math.prod(image)


def test_every_network_is_counted_above() -> None:
    marks = test_networks_have_the_parameters_of_their_papers.pytestmark
    assert {case[0] for case in marks[0].args[1]} == set(ARCHITECTURES)


def test_initial_weights_are_pytorchs_own_and_seeded() -> None:
    f = small()
    state = torch.random.get_rng_state()
    first, other = f.initial(1), f.initial(2)
    assert torch.equal(f.initial(1), first) and not torch.equal(first, other)
    assert torch.equal(torch.random.get_rng_state(), state)  # nobody else's draws have moved
    torch.manual_seed(1)
    assert torch.equal(first[: 16 * 9].float(), torch.nn.Conv2d(1, 16, 3).weight.detach().reshape(-1))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Architecture("alexnet", (1, 8, 8), 10), "unknown network 'alexnet'; known are logistic"),
        (lambda: Architecture("lenet", (1, 8, 8), 10).d, "lenet cannot take images of shape (1, 8, 8)"),
        (lambda: Architecture("vgg11", (1, 28, 28), 10).d, "five poolings need 32 x 32 pixels"),
        (lambda: Architecture("logistic", (1, 8, 8), 1), "two classes or more"),
    ],
)
def test_networks_refuse_images_that_they_cannot_take(build, message) -> None:
    with pytest.raises(InvalidInput) as caught:
        build()
    assert message in str(caught.value)


# ---- values and gradients -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["small-cnn", "perceptron", "logistic"])
@pytest.mark.parametrize("way", WAYS)
def test_gradients_are_those_of_finite_differences(kind, way) -> None:
    """Along random directions, central differences: error h^2, and ReLU's kinks are far rarer than that is small."""
    f = small(kind, l2=0.3, together=way)
    x = points(f)
    direction = torch.from_numpy(np.random.default_rng(1).standard_normal((f.n, f.d)) / np.sqrt(f.d))
    h = 1e-6
    measured = (f.value(x + h * direction) - f.value(x - h * direction)) / (2 * h)
    close((f.grad(x) * direction).sum(dim=-1), measured, 1e-7)


def test_blocks_of_samples_do_not_change_a_full_gradient(monkeypatch) -> None:
    """Clients of unequal size end in different blocks; a planted fault in the filling would show."""
    for way in WAYS:
        f = small(together=way)
        x = points(f)
        whole = f.grad(x)
        monkeypatch.setattr("problems.networks.problem.BLOCK", 20)
        close(f.grad(x), whole, 1e-13)
        monkeypatch.undo()
        few = dataclasses.replace(f, counts=np.array([9, 7, 8, 1]))
        by_hand = [_mean_of(f, x, int(count))[i] for i, count in enumerate(few.counts)]
        close(few.grad(x), torch.stack(by_hand), 1e-13)


def _mean_of(f: Network, x, count: int):
    """Mean gradient over each client's first images, one image at a time."""
    return sum(f.sample_grad(x, np.full((f.n, 1), k)) for k in range(count)) / count


@pytest.mark.parametrize("way", ["together", "channels last", "measure"])
def test_ways_agree_also_on_batches_and_some_clients(way) -> None:
    ours, alone = small(together=way, l2=0.1), small(l2=0.1)
    samples = some_samples(alone)
    for x in (points(alone), points(alone, 2), alone.initial(3)[None], points(alone, 3)[:, :1]):
        for chosen in (np.arange(N), np.array([3, 1])):
            f, g = (h.take(Clients(N, chosen)) for h in (ours, alone))
            here, drawn = x if x.shape[-2] == 1 else x[..., chosen, :], samples[chosen]
            close(f.grad(here), g.grad(here), 1e-12)
            close(f.value(here), g.value(here), 1e-12)
            close(f.sample_grad(here, drawn), g.sample_grad(here, drawn), 1e-12)
    rows = Clients(N, np.array([[0, 1], [2, 3], [1, 3]]))  # each run of a batch has its own clients
    x = points(alone, 3)[:, :2]
    found = ours.take(rows).grad(x)
    for k in range(3):
        close(found[k], alone.take(Clients(N, rows.index[k])).grad(x[k]), 1e-12)
    part = ours.slice(1, 3)
    close(part.grad(points(alone)[1:3]), alone.grad(points(alone))[1:3], 1e-12)


def test_too_little_memory_for_all_clients_means_fewer_at_once(monkeypatch) -> None:
    f = small(together="together")
    x, samples = points(f), some_samples(f)
    whole, (g, h) = f.sample_grad(x, samples), (small(together="together") for _ in range(2))
    one = 8 * (3 * f.architecture.activations * BATCH + 3 * f.d)
    needed = 3 * 8 * f.d * N + one
    monkeypatch.setattr("problems.networks.plan.find_free_bytes", lambda beside: int(needed * 1.5))
    monkeypatch.setattr(memory, "find_free_bytes", lambda beside: int(needed * 1.5))
    close(g.sample_grad(x, samples), whole, 1e-13)
    [decided] = g.plan.decisions().values()
    assert 1 <= decided["rows"] < N
    monkeypatch.setattr(memory, "find_free_bytes", lambda beside: 1000)
    with pytest.raises(
        InvalidInput, match=r"gradient of one client on 8 samples needs about .* GiB .* lower the batch \(8 samples\)"
    ):
        h.sample_grad(x, samples)


def _with_equal_data(f: Network) -> tuple[object, object]:
    """The same perceptron in NumPy on the same standardised images, and its parameters as ours."""
    clients, _ = split_digits()
    images = f.images.numpy()
    scaled = [
        dataclasses.replace(c, features=images[first : first + len(c)].reshape(len(c), -1))
        for c, first in zip(clients, f.first, strict=True)
    ]
    ours = perceptron(scaled, 7)

    def to_ours(x):
        w1, b1, w2, b2 = (x[..., s] for s in np.split(np.arange(f.d), np.cumsum([7 * 64, 7, 70])))
        lead = x.shape[:-1]
        flip = lambda w, rows, columns: np.swapaxes(w.reshape(*lead, rows, columns), -1, -2).reshape(*lead, -1)  # noqa: E731
        return np.concatenate([flip(w1, 7, 64), b1, flip(w2, 10, 7), b2], axis=-1)

    return ours, to_ours


@pytest.mark.parametrize(
    "method",
    [
        FedAvg(StochasticSteps(3, 0.2, BATCH)),
        FedAvg(StochasticSteps(3, DecayedStep(0.2, 0.7), BATCH)),
        FedAvg(SamSteps(2, 0.2, 0.05, BATCH, 0.01)),
        Scaffold(StochasticSteps(3, DecayedStep(0.2, 0.7), BATCH)),
        FedAvg(StochasticSteps(3, 0.2, BATCH, clip=0.5)),
        AFedPD(1.0, GradientSteps(2, 0.1)),
    ],
    ids=["fedavg", "fedavg with decay", "fedsam", "scaffold with decay", "fedavg clipped", "a-fedpd"],
)
def test_pytorchs_perceptron_is_the_one_written_by_hand(method) -> None:
    """Iterate by iterate, on the same minibatches and the same clients: one algorithm file, two libraries."""
    f = small("perceptron", width=7)
    g, to_ours = _with_equal_data(f)
    x0 = f.initial(0)
    for rounds in (1, 4):
        ours = run(method, f, x0, rounds, participation=Uniform(2), seed=3)
        theirs = run(method, g, to_ours(x0.numpy()), rounds, participation=Uniform(2), seed=3)
        np.testing.assert_allclose(to_ours(ours.state.x.numpy()), theirs.state.x, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours["stationarity"], theirs["stationarity"], rtol=1e-9)


def test_a_schedule_moves_scaffolds_controls_by_the_way_gone() -> None:
    """c_i^+ is a mean of local gradients, whatever the steps; a constant schedule is a constant."""
    f = small("logistic")
    x0 = f.initial(0)
    constant = run(Scaffold(GradientSteps(3, 0.1)), f, x0, 3)
    assert torch.equal(run(Scaffold(GradientSteps(3, DecayedStep(0.1, 1.0))), f, x0, 3).state.c_i, constant.state.c_i)
    once = run(Scaffold(GradientSteps(1, DecayedStep(0.1, 0.5))), f, x0, 2)
    before = run(Scaffold(GradientSteps(1, DecayedStep(0.1, 0.5))), f, x0, 1)
    close(once.state.c_i, f.grad(before.state.x), 1e-11)
    with pytest.raises(InvalidInput, match=r"factor must lie in \(0, 1\]"):
        DecayedStep(0.1, 1.2)


# ---- every method -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda entry: entry.name)
def test_every_method_runs_on_a_network(entry) -> None:
    """Two rounds in single precision, with minibatches where a method takes them, some of the clients where it can."""
    f = dressed(entry, small(dtype="float32"))
    method = build(entry, lr=0.05, steps=2, batch=BATCH if "batch" in entry.uses else None, eta=0.1, q=0.5)
    x0 = f.initial(0)
    trace = run(
        method,
        f,
        x0,
        2,
        participation=Uniform(2) if entry.partial else None,
        metrics={"value": metrics.value, "test": metrics.test_accuracy, "own": metrics.personal_accuracy},
        every=2,
    )
    assert trace.state.x.dtype == torch.float32 and trace.state.x.shape == (1, f.d)
    assert not trace.diverged and np.isfinite(trace["value"]).all() and trace["value"][-1] != trace["value"][0]
    assert ((trace["test"] >= 0) & (trace["test"] <= 1)).all() and ((trace["own"] >= 0) & (trace["own"] <= 1)).all()


def test_local_steps_in_turn_are_local_steps_at_once(monkeypatch) -> None:
    """Bit for bit: clients one after the other through all steps, or all clients step by step."""
    f, x0 = small(), small().initial(0)
    for local in (StochasticSteps(3, 0.1, BATCH), SamSteps(3, 0.1, 0.05, BATCH)):
        assert f.plan.one_by_one(N, BATCH) or local.steps == 3
        run(FedAvg(local), f, x0, 1)  # decided from here on
        assert f.one_by_one(N, BATCH) and f.one_by_one(2, BATCH) is f.plan.one_by_one(2, BATCH)
        turn = run(Scaffold(local), f, x0, 3, participation=Uniform(4))
        monkeypatch.setattr(Network, "one_by_one", lambda self, m, batch: False)
        assert torch.equal(run(Scaffold(local), f, x0, 3, participation=Uniform(4)).state.c_i, turn.state.c_i)
        monkeypatch.undo()


def test_layers_serve_ranks_and_parts_of_the_model() -> None:
    f = small(dtype="float32")
    x0 = f.initial(0)
    trace = run(FedRep(StochasticSteps(1, 0.1, BATCH), StochasticSteps(1, 0.1, BATCH)), f, x0, 1, metrics={})
    own = trace.state.personal - trace.state.x
    head = f.layers[-2].size + f.layers[-1].size
    assert own[:, :-head].abs().max() == 0 and (own[:, -head:].abs().amax(dim=-1) > 0).all()
    assert trace.floats_up[-1] == N * (f.d - head)
    assert ranks(x0[None], f.layers).tolist() == [[3, 48, 64, 10]]  # 16*3 x 3, 32*3 x 48, 64 x 128, 10 x 64


def test_training_learns() -> None:
    """Not only moves: 30 rounds of FedAvg read most digits of the three classes a client has seen."""
    clients, test = hold_out(digits(), 397)
    f = network(clients_of(clients, by_classes(clients.labels, 5, 4)), "small-cnn", test=test, tests_a_client=40)
    trace = run(
        FedAvg(StochasticSteps(8, 0.1, 20)), f, f.initial(0), 30, metrics={"test": metrics.test_accuracy}, every=30
    )
    assert trace["test"][0] < 0.3 and trace["test"][-1] > 0.8


def test_a_step_too_long_diverges_and_is_a_result() -> None:
    f = small(dtype="float32")
    measured = {"value": metrics.value, "test": metrics.test_accuracy}
    trace = run(FedAvg(StochasticSteps(2, 1e30, BATCH)), f, f.initial(0), 20, metrics=measured)
    assert 0 <= trace.diverged_at < 20 and np.isinf(trace["value"][-1]) and torch.isfinite(trace.state.x).all()


# ---- accuracy -----------------------------------------------------------------------------------------------------


def test_accuracies_by_hand() -> None:
    f = small()
    x = points(f)
    _, test = split_digits()
    shares, own = [], []
    for i in range(N):
        guess = _outputs(f, x[i], f.tests.images).argmax(axis=1)
        hits = guess == test.labels
        shares.append(hits.mean())
        own.append(hits[f.tests.of_client[i][f.tests.of_client[i] >= 0]].mean())
    np.testing.assert_allclose(f.test_accuracy(x), shares, rtol=1e-14)
    np.testing.assert_allclose(f.personal_accuracy(x), own, rtol=1e-14)
    np.testing.assert_allclose(f.personal_accuracy(x[:1])[1], _own_of(f, x[0], test, 1), rtol=1e-14)
    assert f.test_accuracy(points(f, 2)).shape == (2, N)

    class State:
        x = points(f)[:1]
        personal = points(f)

    assert metrics.personal_accuracy(f, State) == pytest.approx(np.mean(own), rel=1e-14)
    del State.personal
    assert metrics.personal_accuracy(f, State) == pytest.approx(np.mean([_own_of(f, x[0], test, i) for i in range(N)]))
    assert {"test_accuracy", "personal_accuracy"} <= offered_metrics(State, f).keys()
    without = small(test=None)
    assert "test_accuracy" not in offered_metrics(State, without)
    with pytest.raises(NotAvailable, match="measuring accuracy needs 'test_accuracy'"):
        metrics.test_accuracy(without, State)


def _outputs(f: Network, x, images) -> np.ndarray:
    module = ARCHITECTURES[f.architecture.kind](torch.nn, f.architecture).double()
    torch.nn.utils.vector_to_parameters(x.clone(), module.parameters())
    with torch.no_grad():
        return module(images).numpy()


def _own_of(f: Network, x, test: Dataset, i: int) -> float:
    own = f.tests.of_client[i][f.tests.of_client[i] >= 0]
    return (_outputs(f, x, f.tests.images[own]).argmax(axis=1) == test.labels[own]).mean()


def test_clients_tests_have_their_training_shares() -> None:
    clients, test = split_digits()
    own = client_tests(clients, test, 30, seed=1)
    assert own.shape == (N, 30)
    for client, row in zip(clients, own, strict=True):
        assert len(set(row)) == 30  # without replacement
        share = np.bincount(client.labels, minlength=10) / len(client)
        assert (np.abs(np.bincount(test.labels[row], minlength=10) - 30 * share) < 1).all()
    assert (client_tests(clients, test, 30, seed=1) == own).all() and (
        client_tests(clients, test, 30, seed=2) != own
    ).any()
    few = client_tests(clients, test.take(np.arange(20)), 30)
    assert (few == -1).any() and (np.sort(few[few >= 0].reshape(-1)) < 20).all()


# ---- arithmetic ---------------------------------------------------------------------------------------------------


def test_mixed_precision_states_its_effect() -> None:
    mixed = small(dtype="float32", arithmetic=Arithmetic(mixed=True))
    x0 = mixed.initial(0)[None]
    assert 1e-4 < mixed.effect_of_arithmetic(x0) < 0.1
    assert small(dtype="float32").effect_of_arithmetic(x0) == 0
    together = dataclasses.replace(mixed, plan=Plan("together"))
    assert together.grad(x0).dtype == torch.float32 and 1e-4 < together.effect_of_arithmetic(x0) < 0.1


def test_what_was_measured_is_reported_and_holds(monkeypatch) -> None:
    """Clients in turn are computed as they were when they were measured together."""
    f = small(together="measure", dtype="float32")
    trace = run(FedAvg(StochasticSteps(2, 0.1, BATCH)), f, f.initial(0), 2, metrics={})
    assert any(line.startswith("4 clients x 8 samples: ") and " ms" in line for line in trace.info["plan"])
    times = {"one by one": 2.0, "channels last": 1.0, "together": 3.0}
    monkeypatch.setattr("problems.networks.plan._seconds", lambda work, device: {w: times[w] for w in work})
    f = small(together="measure", dtype="float32")
    run(FedAvg(StochasticSteps(2, 0.1, BATCH)), f, f.initial(0), 3, metrics={})
    assert {size: found["way"] for size, found in f.plan.decisions().items()} == {
        "4 clients x 8 samples": "channels last"
    }
    with pytest.raises(InvalidInput, match="'channels last'"):
        Plan("all at once")


# ---- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda f: f.sample_grad(f.initial(0)[None], np.zeros((N, 10), dtype=int)), "a client has: the smallest has 9"),
        (lambda f: f.grad(np.zeros((1, f.d))), "start from problem.initial(seed)"),
        (lambda f: f.grad(f.initial(0)[None].float()), "torch.float64 on cpu and was asked about a point torch.float32"),
        (lambda f: small(device="cuda") if not torch.cuda.is_available() else small(device="gpu"), "cpu"),
        (lambda f: small(device="abacus"), "unknown device 'abacus'"),
        (lambda f: small(dtype="float16"), "float32 or float64"),
        (lambda f: small(l2=-1.0), "weight decay l2 must not be negative"),
        (lambda f: network([], "logistic"), "at least one client"),
        (lambda f: network([iris()], "logistic"), "are not images with named classes"),
        (lambda f: f.take(Clients(N, np.array([0]))).personal_accuracy(points(f)[:1]), "ask the problem of all clients"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(use, message) -> None:
    with pytest.raises(InvalidInput) as caught:
        use(small())
    assert message in str(caught.value)


def test_a_state_or_data_that_do_not_fit_are_refused_before_they_are_allocated(monkeypatch) -> None:
    f = small()
    monkeypatch.setattr(runner, "CHECKED_BYTES", 1)
    monkeypatch.setattr(memory, "find_free_bytes", lambda beside: 10**6)
    with pytest.raises(
        InvalidInput, match=r"state of this method \(.*x_i \(4, 13706\).* needs about .* take fewer clients"
    ):
        run(AFedPD(1.0, StochasticSteps(1, 0.1, 2)), f, f.initial(0), 1, metrics={})
    with pytest.raises(InvalidInput, match=r"pixels of digits needs about .*--samples-per-client"):
        monkeypatch.setattr(memory, "find_free_bytes", lambda beside: 1000)
        small()


def test_free_memory_is_a_number_of_bytes_or_unknown() -> None:
    found = [memory.find_free_bytes(array) for array in (np.zeros(1), torch.zeros(1))]
    assert all(free is None or 10**6 < free < 10**15 for free in found)
    assert memory.find_free_bytes(torch.zeros(1, device="meta")) is None

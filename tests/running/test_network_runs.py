"""Long runs of networks: killed and gone on with, folders of results, the command line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from small_networks import BATCH, close, one_thread, small, torch  # noqa: F401  one_thread is for pytest to find

from fedtheory.algorithms import AFedPD, FedCM
from fedtheory.command_line.main import main
from fedtheory.core.errors import NotAvailable
from fedtheory.core.participation import Uniform
from fedtheory.core.problem import gradient, objective
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.running import runner
from fedtheory.running.runner import run
from problems.networks.plan import WAYS

pytestmark = pytest.mark.torch


class KillAt:
    """A metric that ends the process's work in a round."""

    def __init__(self, round: int) -> None:
        self.left = round

    def __call__(self, problem, state):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return metrics.test_accuracy(problem, state)


@pytest.mark.parametrize(
    "method",
    [AFedPD(1.0, StochasticSteps(2, 0.1, BATCH)), FedCM(StochasticSteps(2, 0.1, BATCH), 0.5)],
    ids=lambda m: type(m).__name__,
)
def test_a_killed_run_goes_on_bit_by_bit(method, tmp_path, monkeypatch) -> None:
    """Also where the ways to compute gradients are measured, and the second process would have measured otherwise."""
    monkeypatch.setattr(runner, "CHECKPOINT_SECONDS", -1)

    def prefer(way: str) -> None:
        times = {other: 1.0 + (other != way) for other in WAYS}
        monkeypatch.setattr("problems.networks.plan._seconds", lambda work, device: {w: times[w] for w in work})

    def play(metric=metrics.test_accuracy, **options):
        f = small(together="measure", dtype="float32", augmented=True)
        return run(method, f, f.initial(0), 7, metrics={"m": metric}, participation=Uniform(3), seed=2, **options)

    prefer("together")
    whole, seen = play(), []
    with pytest.raises(KeyboardInterrupt):
        play(KillAt(4), checkpoint=tmp_path / "run")
    prefer("one by one")
    resumed = play(checkpoint=tmp_path / "run", watch=seen.append)
    for name, value in runner.arrays_of(whole.state).items():
        assert torch.equal(getattr(resumed.state, name), value), name
    assert (resumed["m"] == whole["m"]).all() and (resumed.floats_up == whole.floats_up).all()
    assert len(seen) == 4 and len(seen[-1].rounds) == 8


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code: int = 0):
        result = CliRunner().invoke(main, [str(a) for a in arguments])
        assert result.exit_code == code, (result.output, result.stderr, result.exception)
        return result

    return invoke


RUN = ("run", "fedavg", "digits-cnn", "--clients", 4, "--split", "iid", "--rounds", 4, "--batch", 8, "--local-steps", 2)


def test_a_folder_of_results(call, tmp_path) -> None:
    arguments = (*RUN, "--metric", "test_accuracy,value", "--every", 2, "--results", "out")
    said = call(*arguments).stdout
    assert "share of test samples right" in said and "results: out" in said
    folder = tmp_path / "out"
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]] == ["round", "test_accuracy", "value", "floats_up", "floats_down"]
    assert [float(row["round"]) for row in rows] == [0, 2, 4] and float(rows[-1]["floats_up"]) == 4 * 4 * 13706
    assert json.loads((folder / "configuration.json").read_text())["set_batch"] == 8
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["diverged_at"] == -1 and "torch" in summary["versions"] and summary["plan"]
    for name in ("test_accuracy", "test_accuracy-by-communication", "value", "value-by-communication"):
        assert (folder / f"{name}.png").stat().st_size > 1000
    before = (folder / "metrics.csv").read_text()
    call(*arguments)  # complete: read, not run
    assert (folder / "metrics.csv").read_text() == before
    assert "was 2, is 1" in call(*RUN, "--metric", "test_accuracy,value", "--results", "out", code=2).stderr
    assert "a checkpoint of its own" in call(*arguments, "--checkpoint", "x", code=2).stderr
    (folder / "configuration.json").write_text("{")
    assert "is not the configuration of a run" in call(*arguments, code=2).stderr


def test_the_command_line_runs_networks_in_all_precisions(call) -> None:
    asked = [
        "--metric",
        "test_accuracy,personal_accuracy",
        "--tests-a-client",
        "20",
        "--precision",
        "double",
        "--json",
        "-",
    ]
    trace = json.loads(call(*RUN, *asked).stdout)
    assert len(trace["test_accuracy"]) == len(trace["personal_accuracy"]) == 5
    mixed = json.loads(call(*RUN, "--precision", "mixed", "--augment", "crop-flip", "--start", 0, "--json", "-").stdout)
    assert mixed["stationarity"][0] > 0


def test_the_command_line_refuses_what_means_nothing_of_networks(call) -> None:
    for option, value in (("--precision", "mixed"), ("--augment", "crop-flip")):
        stderr = call("run", "fedavg", "quadratics", option, value, code=2).stderr
        assert f"quadratics does not use {option}; these do: digits-cnn" in stderr
    if not torch.cuda.is_available():
        said = call(*RUN, "--device", "cuda", code=2).stderr
        assert "no GPU can be used as cuda: PyTorch" in said and "CuPy" not in said, "networks are PyTorch's"
    assert "more than a client has" in call(*RUN[:-4], "--batch", 5000, code=2).stderr


def test_the_command_line_sweeps_networks(call) -> None:
    swept = call(
        "sweep", "fedavg,a-fedpd", "digits-cnn", "--clients", 4, "--lr", "0.05,0.1", "--rounds", 2, "--batch", 8,
        "--metric", "test_accuracy,value", "--workers", 1, "--json", "-",
    )  # fmt: skip
    rows = [json.loads(line) for line in swept.stdout.splitlines()]
    assert len(rows) == 4 and all(0 <= row["test_accuracy"] <= 1 and row["error"] is None for row in rows)
    asked = (*RUN[:6], "sorted", *RUN[7:8], 2, "--batch", 8, "--lr", 0.1, "--metric", "value", "--json", "-")
    alone = json.loads(call(*asked).stdout)
    assert rows[1]["value"] == pytest.approx(alone["value"][-1], rel=1e-4)


def test_a_server_with_images_of_its_own(call) -> None:
    """SAFARI on a network: images that no client holds, scaled like the clients', and a run of it."""
    from fedtheory.running.families import build_problem

    options = {"clients": 4, "split": "iid", "precision": "double", "tests_a_client": 20}
    f, alone = build_problem("digits-cnn", server="50", **options), build_problem("digits-cnn", **options)
    assert f.server.n == 1 and f.server.n_samples.tolist() == [50] and f.n_samples.sum() == alone.n_samples.sum() - 50
    assert f.server.images is f.inner.images and f.tests.of_client.shape[0] == 4 and f.server.tests is None
    assert f.name.startswith("small-cnn on digits, 4 clients") and f.personal_accuracy(f.initial(0)[None]).shape == (4,)
    trace = json.loads(
        call(
            "run", "safari", *RUN[2:], "--server", 50, "--q", 0.5, "--metric", "value,test_accuracy", "--json", "-"
        ).stdout
    )
    assert np.isfinite(trace["value"]).all() and trace["value"][-1] != trace["value"][0]


def test_objective_and_gradient_are_means_over_clients() -> None:
    f = small(l2=0.01)
    x = f.initial(0)[None]
    close(objective(f, x), f.value(x).mean(), 1e-14)
    close(gradient(f, x), f.grad(x).mean(dim=-2, keepdim=True), 1e-14)
    assert f.lower_bound().value == 0
    with pytest.raises(NotAvailable, match="not globally smooth"):
        f.certify()

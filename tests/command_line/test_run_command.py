"""The commands run and sweep of runs as a user meets them: options, results, splits of data, numbers that are those of the library."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from claim_files import strict
from click.testing import CliRunner

from fedtheory.command_line.main import main
from fedtheory.core.problem import gradient
from fedtheory.running.families import build_problem, list_family_options
from fedtheory.running.runner import run
from problems.datasets import digits
from problems.mlp import perceptron
from problems.options import SPLITS, Options
from problems.splits import by_sorted_label, clients_of


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in an empty folder; results and pictures go there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(main, [str(a) for a in arguments])
        assert result.exit_code == code, (result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit), "no traceback reaches the user"
        return result

    return invoke


def test_run_draws_a_curve_and_says_what_it_did(call) -> None:
    result = call(
        "run", "fedpd", "quadratics", "--rounds", "20", "--eta", "0.3", "--exact", "--clients", "3", "--dimension", "2"
    )
    assert "(n=3, d=2)" in result.stdout and "after 20 rounds" in result.stdout
    assert "floats sent: 120 up, 120 down; picture: fedpd-quadratics.png" in result.stdout
    assert Path("fedpd-quadratics.png").read_bytes().startswith(b"\x89PNG")
    call("run", "gd", "sines", "--rounds", "3", "--picture", "pictures/curve.svg", "--json", "traces/trace.json")
    assert "<svg" in Path("pictures/curve.svg").read_text()
    assert strict(Path("traces/trace.json").read_text())["rounds"] == [0, 1, 2, 3]


def test_run_as_json_is_the_run(call) -> None:
    from fedtheory.algorithms import FedAvg
    from fedtheory.core.participation import Uniform
    from fedtheory.local.solvers import GradientSteps
    from problems.quadratics import random_quadratics

    asked = "--rounds 6 --lr 0.2 --local-steps 3 --clients 5 --dimension 3 --mu 0.3 --L 2 --heterogeneity 0.5"
    trace = strict(
        call(
            "run", "fedavg", "quadratics", *asked.split(), *["--participants", "2", "--seed", "4", "--json", "-"]
        ).stdout
    )
    f = random_quadratics(5, 3, L=2.0, mu=0.3, heterogeneity=0.5, seed=4)
    expected = run(FedAvg(GradientSteps(3, 0.2)), f, np.ones(3), 6, participation=Uniform(2), seed=4)
    assert trace["stationarity"] == expected["stationarity"].tolist()
    assert trace["floats_up"] == expected.floats_up.tolist() and trace["diverged_at"] == -1
    assert trace["algorithm"] == "FedAvg(local=GradientSteps(steps=3, lr=0.2))" and trace["seed"] == 4


def test_run_measures_what_is_asked_for_if_the_method_has_it(call) -> None:
    """Personal metrics belong to methods with personal models."""
    from fedtheory.algorithms import Ditto
    from fedtheory.local.solvers import GradientSteps
    from fedtheory.measures import metrics
    from problems.quadratics import random_quadratics

    arguments = ("--rounds", 4, "--clients", 3, "--dimension", 2, "--metric", "personal_value")
    trace = strict(call("run", "ditto", "quadratics", *arguments, "--json", "-").stdout)
    f = random_quadratics(3, 2, mu=0.1, seed=0)
    method = Ditto(GradientSteps(1, 0.1), 1.0)
    expected = run(method, f, np.ones(2), 4, metrics={"own": metrics.personal_value})
    assert trace["metric"] == "personal_value" and trace["personal_value"] == expected["own"].tolist()
    assert "mean_i f_i(personal_i):" in call("run", "ditto", "quadratics", *arguments).stdout
    result = call("run", "fedavg", "quadratics", *arguments, code=2)
    assert "metric 'personal_value' needs a method whose state has personal;" in result.stderr
    assert "have is stationarity, value, magnitude" in result.stderr
    result = call("run", "fedrep", "quadratics", "--personal-layers", "head + body", code=2)
    assert "naming a part of the model needs 'layers'" in result.stderr


def test_run_tells_divergence(call) -> None:
    arguments = ("run", "fedavg", "fedavg-counterexample", "--local-steps", 8, "--rounds", 400)
    assert "diverged in round 287" in call(*arguments).stdout  # 100 ln 10 / ln 2.2338, see the tests of the runner
    trace = strict(call(*arguments, "--json", "-").stdout)
    assert trace["diverged_at"] == 287 and trace["stationarity"][-1] is None


def test_run_goes_on_from_a_checkpoint(call) -> None:
    arguments = ("run", "scaffold", "quadratics", "--rounds", 5, "--checkpoint", "run.npz", "--json", "-")
    assert call(*arguments).stdout == call(*arguments).stdout
    result = call("run", "scaffold", "quadratics", "--rounds", 6, "--checkpoint", "run.npz", code=2)
    assert "belongs to another run" in result.stderr


def test_run_on_data(call) -> None:
    trace = strict(
        call(
            *("run", "fedpd-vr", "breast-cancer", "--rounds", 2, "--batch", 2, "--clients", 4, "--split", "dirichlet"),
            *("--l2", 0.1, "--json", "-"),
        ).stdout
    )
    assert trace["n"] == 4 and trace["d"] == 31
    Path("libsvm").mkdir()
    Path("libsvm/splice").write_text("+1 1:1\n-1 2:1\n+1 3:1\n-1 4:1\n")
    trace = strict(call("run", "gd", "splice", "--rounds", 1, "--clients", 2, "--data", ".", "--json", "-").stdout)
    assert trace["n"] == 2 and trace["d"] == 60


def test_run_shows_the_split(call) -> None:
    arguments = ("run", "fedavg", "digits-mlp", "--rounds", 2, "--clients", 100, "--split", "dirichlet-labels")
    more = ("--samples-per-client", 30, "--draw", "with", "--concentration", 0.1, "--hidden", 4)
    result = call(*arguments, *more, "--show-split", "deep/split.svg")
    assert "picture of the split: deep/split.svg" in result.stderr
    drawn = Path("deep/split.svg").read_text()
    assert "share of the client" in drawn and "split 'dirichlet-labels' over 100 clients" in drawn
    trace = strict(call(*arguments, *more, "--json", "-", "--show-split").stdout)
    assert trace["n"] == 100 and Path("split-digits-mlp.png").stat().st_size > 1000


def test_run_has_no_split_to_show_without_data(call) -> None:
    result = call("run", "fedavg", "quadratics", "--show-split", code=2)
    said, families = result.stderr.split("; these are: ")
    assert "'quadratics' is not built on a data set, so it has no split to show" in said
    assert {"hinge", "breast-cancer", "digits-mlp"} <= set(
        families.strip().split(", ")
    ) and "quadratics" not in families


def test_the_command_line_offers_what_the_catalogue_has(call) -> None:
    offered = {option.name: option for option in list_family_options()}
    assert set(offered["split"].kind) == set(SPLITS) and offered["samples_per_client"].kind is int
    assert {"seed", "data", "device", *offered} == {f.name for f in dataclasses.fields(Options)}
    assert offered["L"].kind is float and offered["clients"].default == 10 and all(o.help for o in offered.values())
    assert all(option.readers for option in offered.values()), "an option that no family reads"


def test_help_shows_what_the_named_families_read(call) -> None:
    shown = call("run", "fedavg", "quadratics", "--help").stdout
    assert "--dimension" in shown and "--heterogeneity" in shown and "--split" not in shown and "--hidden" not in shown
    shown = call("sweep", "fedavg", "sines,digits-mlp", "--help").stdout
    assert "--dimension" in shown and "--split" in shown and "--hidden" in shown and "--heterogeneity" not in shown
    everything = call("run", "--help").stdout
    assert all(option.spelled in everything for option in list_family_options())


def test_help_of_the_whole_imports_no_problem_and_no_metric() -> None:
    code = "import sys; from fedtheory.command_line.main import main; main(['--help'], standalone_mode=False)"
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "worst-case" in shown and "problems.catalogue" not in shown and "fedtheory.measures.catalogue" not in shown


def test_run_offers_the_splits_of_the_catalogue(call) -> None:
    for name in SPLITS:
        assert name in call("run", "--help").stdout
        if name != "group":
            call("run", "gd", "digits-parity", "--rounds", 1, "--split", name, "--json", "-")
    assert "does not use --draw; these do: dirichlet-labels" in (
        call("run", "gd", "digits-parity", "--split", "iid", "--draw", "with", code=2).stderr
    )


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_exact_solves_without_an_answer_are_refused(call, command) -> None:
    """A non-convex client has no conjugate to speak of; a penalty gives every method an answer."""
    said = "exact local solves of dualfl need strongly convex clients, and those of 'sums of sines' are certified with mu = -1"
    result = call(command, "dualfl", "sines", "--exact", "--rounds", 1, code=2 if command == "run" else 1)
    assert said in " ".join((result.stdout + result.stderr).split())
    call(command, "dualfl-regularised", "sines", "--exact", "--alpha", 3, "--rounds", 1)


PASSES = ("--batch", 7, "--epochs", 2, "--lr", 0.5, "--lr-decay", 0.9, "--clip", 0.2, "--rounds", 4, "--json", "-")


def test_passes_through_the_data_clipping_and_decay(call) -> None:
    from fedtheory.algorithms import FedAvg
    from fedtheory.core.participation import Uniform
    from fedtheory.local.schedules import DecayedStep
    from fedtheory.local.stochastic import Epochs

    asked = ("run", "fedavg", "synthetic-weak", "--clients", 3, "--dimension", 2, "--participants", 2)
    trace = strict(call(*asked, *PASSES).stdout)
    f = build_problem("synthetic-weak", clients=3, dimension=2)
    ours = run(FedAvg(Epochs(2, DecayedStep(0.5, 0.9), 7, 0.2)), f, np.ones(2), 4, participation=Uniform(2))
    assert trace["stationarity"] == pytest.approx(list(ours["stationarity"]), rel=1e-12)
    free = strict(call(*asked, *PASSES[:8], *PASSES[10:]).stdout)
    assert free["stationarity"][-1] != pytest.approx(trace["stationarity"][-1], rel=1e-3), "the clip was reached"


def test_passes_of_clients_and_of_the_server(call) -> None:
    from fedtheory.algorithms import Safari
    from fedtheory.local.schedules import DecayedStep
    from fedtheory.local.stochastic import Epochs

    served = ("iris-softmax", "--clients", 4, "--server", 30, "--split", "iid", "--q", 0.5, "--server-lr", 0.3)
    trace = strict(call("run", "safari", *served, *PASSES, "--server-epochs", 3, "--seed", 1).stdout)
    f = build_problem("iris-softmax", clients=4, server="30", split="iid", seed=1)
    method = Safari(0.5, Epochs(2, DecayedStep(0.5, 0.9), 7, 0.2), Epochs(3, DecayedStep(0.15, 0.9), 7, 0.2))
    ours = run(method, f, np.ones(f.d), 4, seed=1)
    assert trace["stationarity"] == pytest.approx(list(ours["stationarity"]), rel=1e-12)


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        ("gd", ("--lr-decay", 0.9), "gd does not use --lr-decay"),
        ("gd", ("--clip", 1), "gd does not use --clip"),
        ("scaffold", ("--personal-epochs", 1), "scaffold does not use --personal-epochs"),
        ("fedavg", ("--clip", 1), "--clip and --epochs are for stochastic steps: they need --batch, and not --exact"),
        ("fedavg", ("--epochs", 1), "they need --batch"),
        ("fedavg", ("--epochs", 1, "--local-steps", 2, "--batch", 3), "got 2 steps and 1 epochs"),
        ("fedavg", ("--lr-decay", 1.5), "factor must lie in (0, 1], got 1.5"),
        ("fedavg", ("--epochs", 1, "--batch", 3), "Epochs needs 'sample_grad'"),
    ],
)
def test_options_are_refused_where_they_mean_nothing(call, method, options, said) -> None:
    assert said in " ".join(call("run", method, "quadratics", "--rounds", 1, *options, code=2).stderr.split())


def test_a_server_gets_data_of_its_own(call) -> None:
    """The average itself, or samples that no client holds."""
    arguments = ("quadratics", "--rounds", 20, "--server-lr", 0.7, "--json", "-")
    server = strict(call("run", "server-sgd", *arguments, "--server", "average").stdout)
    descent = strict(call("run", "gd", *arguments[:3], *arguments[5:], "--lr", 0.07).stdout)
    assert server["stationarity"] == pytest.approx(descent["stationarity"], rel=1e-12)
    with_samples = ("iris-softmax", "--clients", 4, "--rounds", 3, "--server", 30, "--json", "-")
    f = build_problem("iris-softmax", clients=4, server="30")
    assert f.server.n_samples.tolist() == [30] and f.n_samples.sum() == 120
    rows = np.concatenate([f.server.features[0], *f.inner.features])
    kept = np.concatenate([f.server.weights[0], *f.inner.weights]) > 0
    whole = build_problem("iris-softmax", clients=1)
    np.testing.assert_array_equal(np.sort(rows[kept], axis=0), np.sort(whole.features[0], axis=0))
    trace = strict(call("run", "safari", *with_samples, "--q", 0.5).stdout)
    assert trace["n"] == 4 and trace["floats_up"][-1] in {60.0 * k for k in range(4)}
    call("run", "safari", *with_samples, "--show-split")
    assert "--server on the command line" in call("run", "safari", "quadratics", code=2).stderr
    refused = {
        ("quadratics", "5"): "not built on a data set, so its server cannot hold samples; use --server average",
        ("iris-softmax", "150"): "the server cannot hold 150 of 150 samples",
        ("iris-softmax", "some"): "--server is none, average or a number of samples, got 'some'",
        ("one-sided-pair", "average"): "has a server with data already",
    }
    for (name, asked), said in refused.items():
        assert said in call("run", "safari", name, "--server", asked, code=2).stderr


def test_run_starts_networks_at_their_own_weights(call) -> None:
    """From equal coordinates the hidden units would stay equal for ever."""
    arguments = ("run", "gd", "digits-mlp", "--clients", 2, "--hidden", 3, "--rounds", 1, "--seed", 5, "--json", "-")
    f = perceptron(clients_of(digits(), by_sorted_label(digits().labels, 2, 5)), 3)
    own, ones = strict(call(*arguments).stdout), strict(call(*arguments, "--start", 1).stdout)
    for trace, x in ((own, f.initial(5)), (ones, np.ones(f.d))):
        assert trace["stationarity"][0] == pytest.approx(float((gradient(f, x[None, :]) ** 2).sum()), rel=1e-12)


def test_what_does_not_fit_into_memory_is_told_in_one_line(call) -> None:
    shown = call("run", "fedavg", "quadratics", "--clients", str(10**12), code=2)
    assert "needs about" in shown.output and "ask for fewer clients" in shown.output and "Traceback" not in shown.output
    shown = call("run", "fedavg", "quadratics", "--dimension", str(10**6), code=2)
    assert "not enough memory" in shown.output and "Traceback" not in shown.output

"""``--device`` and ``--library`` of the commands, and ``fedtheory devices``, with made-up GPUs (`fake_gpus`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_gpus import install, make_cupy, make_torch
from guides import read_blocks

from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training
from fedtheory.command_line import sweep as sweep_module
from fedtheory.command_line.main import main
from fedtheory.command_line.options import make_experiment_context
from fedtheory.core.errors import NotAvailable
from fedtheory.running import runner
from fedtheory.running.families import load_families
from fedtheory.running.sweep import BATCH_RUNS, Sweep
from fedtheory.tools import devices
from problems.datasets import BUNDLED

RUN = ("run", "fedavg", "quadratics", "--local-steps", 3, "--rounds", 8, "--metric", "distance,gap,stationarity")


def call(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def starts(monkeypatch):
    """The module of the array that each run starts from."""
    seen = []
    init = runner.shape_start

    def noting(problem, x0):
        seen.append(type(x0).__module__.split(".")[0])
        return init(problem, x0)

    for module in ("fedtheory.running.runner", "fedtheory.running.sweep", "fedtheory.claims.experiments"):
        monkeypatch.setattr(f"{module}.shape_start", noting)
    return seen


def test_a_run_on_the_device_has_the_numbers_of_numpy(monkeypatch, starts) -> None:
    """Metrics that need an optimum included, which is found on the host and compared there."""
    on_host = json.loads(call(*RUN, "--json", "-").stdout)
    assert set(starts) == {"numpy"}
    install(monkeypatch, cupy=make_cupy())
    starts.clear()
    on_device = json.loads(call(*RUN, "--json", "-", "--device", "cuda").stdout)
    assert set(starts) == {"array_api_strict"}, "the run was on the device"
    for metric in ("distance", "gap", "stationarity"):
        assert on_device[metric] == pytest.approx(on_host[metric], rel=1e-12, abs=1e-15)
    assert on_host["distance"][-1] < on_host["distance"][0] / 2


def test_a_run_says_where_it_was(monkeypatch) -> None:
    assert " by " not in call(*RUN).stdout
    install(monkeypatch, cupy=make_cupy(2))
    assert "(n=10, d=10), cuda:1 by CuPy" in call(*RUN, "--device", "cuda:1").stdout


def test_a_sweep_on_the_device_has_the_numbers_of_numpy(monkeypatch, starts) -> None:
    grid = ("sweep", "fedavg,scaffold", "quadratics", "--lr", "0.1,0.3,0.5", "--seed", "0:1", "--participants", "3,all", "--rounds", 5,
            "--metric", "distance", "--workers", 1, "--json", "-")  # fmt: skip
    on_host = [json.loads(line) for line in call(*grid).stdout.splitlines()]
    install(monkeypatch, cupy=make_cupy())
    starts.clear()
    on_device = [json.loads(line) for line in call(*grid, "--device", "cuda").stdout.splitlines()]
    assert set(starts) == {"array_api_strict"} and len(on_host) == len(on_device) == 24
    for here, there in zip(on_host, on_device, strict=True):
        assert (here["device"], there["device"], there["library"]) == ("cpu", "cuda", "auto")
        assert here["error"] is there["error"] is None
        assert there["distance"] == pytest.approx(here["distance"], rel=1e-12)
        assert (here["floats_up"], here["floats_down"]) == (there["floats_up"], there["floats_down"])


def test_batches_are_large_and_workers_one_on_a_gpu(monkeypatch) -> None:
    lrs = tuple(float(k + 1) / 1000 for k in range(10 * BATCH_RUNS))
    grids = [Sweep(("fedavg",), ("quadratics",), {"lr": lrs}, device=device) for device in ("cpu", "cuda")]
    assert [len(grid.batches()) for grid in grids] == [10, 1]
    install(monkeypatch, cupy=make_cupy())
    asked = []
    real = sweep_module.show_progress
    monkeypatch.setattr("fedtheory.running.sweep.run_jobs", lambda *a, workers, **k: asked.append(workers) or iter(()))
    monkeypatch.setattr(sweep_module, "show_progress", real)
    for extra in ((), ("--device", "cuda"), ("--device", "cuda", "--workers", 3)):
        call("sweep", "fedavg", "quadratics", "--rounds", 1, *extra)
    cores = sweep_module.sweep_command.params
    default = next(option.default for option in cores if option.name == "workers")
    assert asked == [default, 1, 3]


def test_without_a_gpu_commands_say_what_to_do_before_anything_runs(monkeypatch) -> None:
    install(monkeypatch)
    for words in (RUN, ("sweep", "fedavg", "quadratics"), ("check", "FEDPD-D1"), ("selftest", "FEDPD-D1")):
        said = call(*words, "--device", "cuda", code=2).stderr
        assert "no GPU can be used as cuda: CuPy is not installed; PyTorch is not installed" in said
        assert "pip install 'fedtheory[cuda12]'" in said and "'fedtheory devices' shows" in said
    assert "CuPy computes on GPUs only" in call(*RUN, "--library", "cupy", code=2).stderr
    assert not Path("fedavg-quadratics.png").exists()


def test_machines_of_a_scheduler_have_devices_of_their_own(monkeypatch) -> None:
    """No GPU is looked for here."""
    install(monkeypatch)
    monkeypatch.setattr("fedtheory.running.sweep.run_jobs", lambda *a, **k: iter(()))
    call("sweep", "fedavg", "quadratics", "--device", "cuda", "--scheduler", "tcp://nowhere:1")
    asked = {"size": "laptop", "device": "cuda", "library": "auto", "results": None, "seeds": None}
    assert make_experiment_context("quick", 0, None, asked, remote=True).device == "cuda"
    with pytest.raises(NotAvailable):
        make_experiment_context("quick", 0, None, asked, remote=False)


def test_experiments_of_all_problems_run_on_the_device(monkeypatch, starts) -> None:
    training = Training("fedavg", "quadratics", 3, {"lr": 0.1}, metrics=("gap",))
    here = training.read(Context()).columns["gap"]
    install(monkeypatch, torch=make_torch())
    starts.clear()
    there = training.read(Context(device="cuda")).columns["gap"]
    assert set(starts) == {"array_api_strict"} and there == pytest.approx(here, rel=1e-12)


def test_what_a_gpu_run_keeps_is_told_apart(monkeypatch, tmp_path) -> None:
    """A folder of results belongs to a device; without one its configuration is the one of earlier folders."""
    install(monkeypatch, cupy=make_cupy())
    call(*RUN, "--results", tmp_path / "kept")
    stored = json.loads((tmp_path / "kept" / "configuration.json").read_text())
    assert stored["of_device"] == "cpu" and "library" not in stored and "device" not in stored
    said = call(*RUN, "--results", tmp_path / "kept", "--device", "cuda", code=2).stderr
    assert "of_device was 'cpu', is 'cuda'" in said


FAMILIES = [
    name
    for name, (family, _) in load_families().items()
    if "device" not in family.reads and getattr(family, "dataset", "digits") in BUNDLED
]


@pytest.mark.parametrize(
    ("name", "metrics", "extra"),
    [
        *((name, ("value",), ()) for name in FAMILIES),
        ("quadratics", ("value",), ("--server", "average")),
        ("digits-mlp", ("value",), ("--nuclear", 0.1)),
        ("digits-softmax", ("test_accuracy", "personal_accuracy"), ("--test", "own", "--tests-a-client", 20)),
    ],
)
def test_instances_of_every_family_are_moved(monkeypatch, name, metrics, extra) -> None:
    """With the problems, regularisers and test sets that they hold."""
    words = ("run", "fedavg", name, "--rounds", 2, "--metric", ",".join(metrics), "--json", "-", *extra)
    on_host = json.loads(call(*words).stdout)
    install(monkeypatch, cupy=make_cupy())
    on_device = json.loads(call(*words, "--device", "cuda").stdout)
    for metric in metrics:
        assert len(on_host[metric]) == 3 and on_device[metric] == pytest.approx(on_host[metric], rel=1e-9)


# ---- fedtheory devices ----------------------------------------------------------------------------------------------


def shown(monkeypatch, drivers=(), **libraries) -> str:
    install(monkeypatch, **libraries)
    monkeypatch.setattr(devices, "find_drivers", lambda: tuple(drivers))
    text = call("devices").stdout
    assert max(map(len, text.splitlines())) <= 80, "readable at 80 columns"
    return " ".join(text.split())


def test_devices_shows_what_is_there(monkeypatch) -> None:
    text = shown(monkeypatch, [devices.Driver("Made-up 0", "570.1")], cupy=make_cupy(2), torch=make_torch())
    for words in (
        "cores may be used", "GiB of memory are free", "numpy ", "array-api-compat ", "BLAS ",
        "CuPy 14.0.1 cuda:0: Made-up 0, 30.0 of 40.0 GiB are free cuda:1: Made-up 1,",
        "PyTorch 2.9.0 cuda:0: Other 0, 10.0 of 24.0 GiB are free",
        "driver 570.1 of Made-up 0", "--device cuda takes CuPy.",
    ):  # fmt: skip
        assert words in text
    assert "pip install" not in text


def test_devices_says_what_to_install(monkeypatch) -> None:
    nothing = shown(monkeypatch)
    assert "there is no NVIDIA GPU here" in nothing and "fedtheory[cuda12]" in nothing and "fedtheory[cnn]" in nothing
    new = shown(monkeypatch, [devices.Driver("GPU", "580.65.06")])
    assert "neither CuPy nor PyTorch can use" in new and "fedtheory[cuda13]" in new and "fedtheory[cuda12]" not in new
    old = shown(monkeypatch, [devices.Driver("GPU", "535.1")], torch=make_torch(0, cuda=None))
    assert "PyTorch 2.9.0 is a build without CUDA" in old and "fedtheory[cuda12]" in old
    assert "networks are PyTorch's; it is missing" in shown(monkeypatch, cupy=make_cupy()).lower().replace(
        "pytorch", "PyTorch"
    )


def test_devices_as_json(monkeypatch) -> None:
    install(monkeypatch, cupy=make_cupy())
    found = json.loads(call("devices", "--json").stdout)
    assert found["libraries"][0]["gpus"][0]["total"] == 40 * 2**30 and found["libraries"][1]["version"] is None
    assert found["versions"]["numpy"] and found["cpu"]["cores"] >= 1


# ---- the guide's lines ----------------------------------------------------------------------------------------------


def test_printed_lines_on_gpus_run(monkeypatch, capsys) -> None:
    """As printed on the CPU, and with the device changed."""
    (block,) = (b.text for b in read_blocks("docs/gpu.md", "python") if "choose_place" in b.text)
    exec(compile(block, "page", "exec"), {})
    here = capsys.readouterr().out
    assert 'choose_place("cpu")' in block, "the line to change is there"
    install(monkeypatch, cupy=make_cupy())
    exec(compile(block.replace('choose_place("cpu")', 'choose_place("cuda")'), "page", "exec"), {})
    there = capsys.readouterr().out
    assert there.split()[-2:] == here.split()[-2:], "the same numbers"
    assert ("cpu by NumPy" in here and "cuda by CuPy" in there) or "(3, 101) ndarray" in there

"""Traces and sweeps become tables, and lose nothing."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from fedtheory import GradientSteps, run
from fedtheory.algorithms import FedAvg, GradientDescent
from fedtheory.command_line.main import main
from fedtheory.core.arrays import along_batch
from fedtheory.running import as_frame, as_trace_csv, list_rows
from fedtheory.running.tables import write_events
from problems.quadratics import random_quadratics

PROBLEM = random_quadratics(n=3, d=2, L=1.0, mu=0.1, seed=0)


def test_a_batch_has_a_row_a_run_and_round() -> None:
    trace = run(
        FedAvg(GradientSteps(2, along_batch([0.1, 0.5]))),
        PROBLEM,
        np.zeros(2),
        20,
        every=10,
        metrics=["gap"],
        progress=False,
    )
    rows = list(list_rows(trace))
    assert [(row["batch_0"], row["round"]) for row in rows] == [(b, r) for b in (0, 1) for r in (0, 10, 20)]
    assert [row["gap"] for row in rows] == trace["gap"].ravel().tolist()
    assert [row["floats_up"] for row in rows[:3]] == np.broadcast_to(trace.floats_up, (2, 3))[0].tolist()
    read = list(csv.DictReader(io.StringIO(as_trace_csv(trace))))
    assert [float(row["gap"]) for row in read] == trace["gap"].ravel().tolist()


def test_frames_have_the_same_numbers() -> None:
    pytest.importorskip("pandas", reason="data frames are those of pandas")
    trace = run(FedAvg(GradientSteps(2, 0.1)), PROBLEM, np.zeros(2), 4, metrics=["gap"], progress=False)
    frame = as_frame(trace)
    assert frame["gap"].tolist() == trace["gap"].tolist() and frame["round"].tolist() == [0, 1, 2, 3, 4]
    swept = as_frame(
        [{"method": "fedavg", "lr": 0.1, "trace": {"round": [0, 1], "gap": [2.0, 1.0]}}, {"method": "gd", "lr": 0.2}]
    )
    assert swept["gap"].tolist()[:2] == [2.0, 1.0] and swept["method"].tolist() == ["fedavg", "fedavg", "gd"]


def test_run_writes_csv(tmp_path) -> None:
    file = tmp_path / "t.csv"
    asked = [
        "run",
        "fedavg",
        "quadratics",
        "--rounds",
        "3",
        "--metric",
        "gap",
        "--csv",
        str(file),
        "--picture",
        str(tmp_path / "t.png"),
    ]
    assert CliRunner().invoke(main, asked).exit_code == 0
    assert [row["round"] for row in csv.DictReader(file.read_text().splitlines())] == ["0", "1", "2", "3"]


def test_a_ledger_is_a_line_a_statement(tmp_path) -> None:
    file = tmp_path / "ledger.jsonl"
    done = CliRunner().invoke(main, ["check", "AFEDPD-L4P", "AFEDPD-S1", "--jsonl", str(file), "--workers", "1"])
    assert done.exit_code == 0, done.output
    false, true = (json.loads(line) for line in file.read_text().splitlines())
    assert false["severity"] == "false, a corrected statement is given" and "by a factor of 12.8" in false["annotation"]
    assert false["category"].startswith("theory: ") and false["location"] and false["identifier"] == "arXiv:2409.18915"
    assert false["replay"] == f"fedtheory replay {tmp_path / 'counterexamples' / 'AFEDPD-L4P.json'}"
    assert {*false["fields"]} == {*false["instance"]}
    assert true["severity"] == "stands" and true["instance"] is None and true["annotation"]


def test_event_files_have_what_was_measured(tmp_path) -> None:
    """Read back by TensorBoard's own reader; a run that diverges ends where it did."""
    pytest.importorskip("tensorboard", reason="event files are written by the package tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    trace = run(GradientDescent(along_batch([1.0, 1e60])), PROBLEM, np.ones(2), 6, every=3)
    folders = write_events(trace, tmp_path)
    assert [folder.name for folder in folders] == ["run_0", "run_1"]
    for k, folder in enumerate(folders):
        read = EventAccumulator(str(folder)).Reload()
        kept = [number for event in read.Scalars("stationarity") for number in (event.step, event.value)]
        pairs = zip(trace.rounds.tolist(), trace["stationarity"][k].tolist(), strict=True)
        wanted = [number for r, value in pairs if np.isfinite(value) for number in (r, value)]
        assert kept == pytest.approx(wanted, rel=1e-6) and len(kept) == (6, 2)[k]

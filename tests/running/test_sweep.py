"""Sweeps: the grid, batches against single runs, runs that diverge or are refused, workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import PROBLEMS, build
from small_sweeps import rows_of, small

from fedtheory.algorithms import ALGORITHMS, listed
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.measures.catalogue import METRICS, choose_metrics, offered_metrics
from fedtheory.measures.residuals import RESIDUALS
from fedtheory.running import sweep as sweeping
from fedtheory.running.sweep import Sweep, run_sweep, spell
from fedtheory.tools.value_lists import parse_values

# ---- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("0.1", float, (0.1,)),
        ("0.1, 1e-3,2", float, (0.1, 1e-3, 2.0)),
        ("3:6", int, (3, 4, 5, 6)),
        ("0:2,7,1", int, (0, 1, 2, 7)),
        ("0.1:0.5:5", float, (0.1, 0.2, 0.3, 0.4, 0.5)),
        ("1e-3:1:4log", float, (1e-3, 1e-2, 1e-1, 1.0)),
        ("1:1000:4log,2", int, (1, 10, 100, 1000, 2)),
        ("1:3:20", int, (1, 2, 3)),
        ("-1:1:3", float, (-1.0, 0.0, 1.0)),
        ("first+second,a:b", str, ("first+second", "a:b")),
        ("sorted,iid", ("sorted", "iid", "dirichlet"), ("sorted", "iid")),
        ("2,all", int, (2, None)),
    ],
)
def test_lists_and_ranges(text, kind, expected) -> None:
    found = parse_values("lr", text, kind, everything=True)
    assert [type(v) for v in found] == [type(v) for v in expected]
    assert found == pytest.approx(expected, rel=1e-15) if kind is float else found == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", float), ("x", float), ("0.5", int), ("0.1:1", float), ("1:0", int), ("1:2:1", float), ("1:2:3:4", float),
        ("0:1:3log", float), ("-1:1:3log", float), ("1:2:log", float), ("1,,2", int), ("all", int),
    ],
)  # fmt: skip
def test_what_is_no_list_is_refused_with_the_syntax(text, kind) -> None:
    with pytest.raises(InvalidInput, match=r"--lr: '.*' is neither a value nor a range of .*1e-3:1:10log"):
        parse_values("--lr", text, kind)


def test_words_are_named() -> None:
    with pytest.raises(InvalidInput, match="--split: 'IID' is not one of sorted, iid"):
        parse_values("--split", "IID", ("sorted", "iid"))


# ---- the grid -----------------------------------------------------------------------------------------------------


def test_batched_settings_and_seeds_ride_in_one_job() -> None:
    sweep = small("fedavg,fedprox", settings={"lr": (0.1, 0.2), "rho": (1.0, 2.0), "steps": (1, 3)}, seeds=(0, 1, 2))
    batches = sweep.batches()
    assert [(b.method, b.size) for b in batches] == [("fedavg", 6), ("fedavg", 6), ("fedprox", 12), ("fedprox", 12)]
    assert [b.first for b in batches] == [0, 6, 12, 24]
    rows = [row for b in batches for row in b.rows()]
    assert [row["run"] for row in rows] == list(range(36))
    assert "rho" not in rows[0] and [row["rho"] for row in rows[12:18]] == [1, 1, 1, 2, 2, 2]
    assert [row["seed"] for row in rows[:4]] == [0, 1, 2, 0] and [row["local-steps"] for row in rows[::6]] == [
        1,
        3,
        1,
        1,
        3,
        3,
    ]


def test_what_shapes_the_problem_are_jobs() -> None:
    sweep = small(
        problems="quadratics,sines", options={"heterogeneity": (0.5, 1.0)}, participants=(2, None), instances=(0, 1),
        settings={"lr": (0.1, 0.2)},
    )  # fmt: skip
    batches = sweep.batches()
    assert len(batches) == 16 and all(b.size == 2 for b in batches)
    assert len({(b.problem, b.options["heterogeneity"], b.participants, b.instance) for b in batches}) == 16


def test_large_grids_are_cut_into_jobs_that_cover_it() -> None:
    sweep = small(settings={"lr": tuple(np.linspace(0.01, 0.5, 50))}, seeds=tuple(range(3)))
    batches = sweep.batches()
    assert len(batches) == 3 and max(b.size for b in batches) <= sweeping.BATCH_RUNS
    assert [row["run"] for b in batches for row in b.rows()] == list(range(150))
    many = small(seeds=tuple(range(150))).batches()
    assert [b.size for b in many] == [64, 64, 22]
    for half in (batches[0].halves(), many[0].halves()):
        assert [r for b in half for r in b.rows()] == (batches[0] if half[0].method == "x" else half[0]).rows() + half[
            1
        ].rows()
    assert [r["run"] for b in batches[0].halves() for r in b.rows()] == [r["run"] for r in batches[0].rows()]
    assert [r for b in batches[0].halves() for r in b.rows()] == batches[0].rows()
    assert [r for b in many[0].halves() for r in b.rows()] == many[0].rows()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: small("fedavgg"), "unknown algorithm 'fedavgg'"),
        (lambda: small(problems="quadratic"), "unknown problem 'quadratic'"),
        (
            lambda: small("fedavg,gd", settings={"rho": (1.0,)}),
            "fedavg and gd do not use --rho; used are --batch, --clip, --epochs, --local-steps, ",
        ),
        (lambda: small(settings={"size": (1.0,)}), "do not use --size"),
        (lambda: small(options={"size": (1,)}), "quadratics has no option 'size'; it has L, augment, beta"),
        (lambda: small(metrics=("regret",)), "unknown metric 'regret'"),
        (lambda: small(seeds=()), r"seeds must be at least one value, each once; got \(\)"),
        (lambda: small(settings={"lr": (0.1, 0.1)}), "lr must be at least one value, each once"),
    ],
)
def test_grids_that_make_no_sense_are_refused(make, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()


# ---- batches are single runs --------------------------------------------------------------------------------------


def alone(row, sweep: Sweep):
    """The same run by itself."""
    single = {o.name: (row[spell(o)],) for o in listed(row["method"]).options if o.name in sweep.settings}
    made = Sweep(
        (row["method"],), (row["problem"],), single, {name: (row[name],) for name in sweep.options},
        participants=(row["participants"],), seeds=(row["seed"],), instances=(row["instance"],), rounds=sweep.rounds,
        start=sweep.start, metrics=sweep.metrics, every=sweep.every,
    )  # fmt: skip
    [found] = rows_of(made)
    return found | {"run": row["run"]}


def assert_same_run(row, other, rtol=1e-10) -> None:
    """Everything but the trace is equal or, where it is measured, close relative to the run's largest value."""
    assert row.keys() == other.keys()
    assert [row[k] for k in ("run", "error", "diverged_at", "seed")] == [
        other[k] for k in ("run", "error", "diverged_at", "seed")
    ]
    for name in row.get("trace", ()):
        ours, theirs = (np.array(r["trace"][name], dtype=float) for r in (row, other))
        size = np.nanmax(np.abs(theirs), initial=1.0)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * min(size, 1.0), err_msg=f"{name} of {row}")


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda e: e.name)
def test_every_setting_of_every_method_may_be_swept(entry) -> None:
    """Swept together, each run is what it is alone: a setting that a method cannot take as an array is not batched."""
    base = {
        "lr": 0.2,
        "eta": 0.2,
        "rho": 2.0,
        "alpha": 0.5,
        "p": 0.3,
        "q": 0.5,
        "nu": 0.1,
        "mu": 0.1,
        "momentum": 0.2,
        "server_lr": 0.8,
        "gamma": 0.4,
    }
    fixed = {"steps": (2,)} if "steps" in entry.uses else {}
    for option in (option for option in entry.options if option.batched and option.default is not None):
        middle = base.get(option.role, option.default) or 0.2
        settings = fixed | {option.name: (middle, middle * 0.5, middle * 0.9)}
        sweep = small(entry.name, settings=settings, seeds=(0, 3), every=1, rounds=4)
        for row in rows_of(sweep):
            assert_same_run(row, alone(row, sweep))


def test_seeds_participation_and_samples_by_row() -> None:
    sweep = Sweep(
        ("fedavg", "scaffold"), ("synthetic-weak",), {"lr": (0.05, 0.2), "batch": (2,), "steps": (2,)},
        {"clients": (6,), "dimension": (3,)}, participants=(2, None), seeds=(0, 5), instances=(0, 1), rounds=4, every=1,
    )  # fmt: skip
    rows = rows_of(sweep)
    assert len(rows) == 32 and all(row["error"] is None for row in rows)
    for row in rows:
        assert_same_run(row, alone(row, sweep))
    # common random numbers: seeds differ, settings share them
    by = {(r["method"], r["participants"], r["instance"], r["lr"], r["seed"]): r["stationarity"] for r in rows}
    assert (
        by["fedavg", 2, 0, 0.05, 0] != by["fedavg", 2, 0, 0.05, 5]
        and by["fedavg", 2, 0, 0.05, 0] != by["fedavg", 2, 1, 0.05, 0]
    )


def test_a_batch_is_one_run(monkeypatch) -> None:
    runs = []
    monkeypatch.setattr(sweeping, "run", lambda *a, run=sweeping.run, **k: (runs.append(1), run(*a, **k))[1])
    rows_of(small("fedprox", settings={"lr": (0.1, 0.2), "rho": (1.0, 2.0), "steps": (2,)}, seeds=(0, 1)))
    assert len(runs) == 1
    rows_of(small("fedprox", settings={"lr": (0.1, 0.2), "rho": (1.0,), "exact": (True,)}, seeds=(0, 1)))
    assert len(runs) == 2, "also where the setting swept is not read"


def test_a_batch_that_is_too_large_is_halved(monkeypatch) -> None:
    sweep = small(settings={"lr": tuple(np.linspace(0.1, 0.5, 5))}, seeds=(0, 1), every=2)
    whole = rows_of(sweep)
    monkeypatch.setattr(sweeping, "BATCH_FLOATS", 4 * 3 * 2)
    for row, other in zip(rows_of(sweep), whole, strict=True):
        assert_same_run(row, other, 1e-13)


def test_a_row_is_what_the_command_run_gives(tmp_path, monkeypatch) -> None:
    """Its columns are the options of 'fedtheory run'."""
    monkeypatch.chdir(tmp_path)
    sweep = small(
        "fedavg", settings={"lr": (0.1, 0.3), "steps": (3,)}, seeds=(4, 2), instances=(1,), participants=(2,), every=1
    )
    for row in rows_of(sweep):
        names = (
            "clients",
            "dimension",
            "L",
            "mu",
            "heterogeneity",
            "instance",
            "participants",
            "seed",
            "rounds",
            "lr",
            "local-steps",
        )
        options = [word for name in names for word in (f"--{name}", str(row[name]))]
        done = CliRunner().invoke(main, ["run", row["method"], row["problem"], *options, "--json", "-"])
        shown = json.loads(done.stdout)
        np.testing.assert_allclose(row["trace"]["stationarity"], shown["stationarity"], rtol=1e-12)
        assert row["trace"]["floats_up"] == shown["floats_up"] and row["trace"]["round"] == shown["rounds"]


def test_splits_of_real_data_are_swept(tmp_path, monkeypatch) -> None:
    """A network starts from its own weights, of the instance's seed; every row is what 'fedtheory run' gives."""
    monkeypatch.chdir(tmp_path)
    grid = ("--split", "dirichlet-labels", "--concentration", "0.1,1", "--concentration-of", "class,total")
    both = ("--clients", "3", "--hidden", "3", "--samples-per-client", "40", "--rounds", "2", "--draw", "refill")
    swept = CliRunner().invoke(main, ["sweep", "fedavg", "digits-mlp", *both, *grid, "--instance", "1", "--json", "-"])
    rows = [json.loads(line) for line in swept.stdout.splitlines()]
    assert [(row["concentration"], row["concentration-of"]) for row in rows] == [
        *((0.1, "class"), (0.1, "total")),
        *((1.0, "class"), (1.0, "total")),
    ]
    for row in rows:
        names = ("split", "concentration", "concentration-of", "instance", "seed")
        options = [word for name in names for word in (f"--{name}", str(row[name]))]
        shown = json.loads(
            CliRunner().invoke(main, ["run", "fedavg", "digits-mlp", *both, *options, "--json", "-"]).stdout
        )
        assert row["stationarity"] == pytest.approx(shown["stationarity"][-1], rel=1e-12)
        assert row["stationarity_at_start"] == pytest.approx(shown["stationarity"][0], rel=1e-12)
    assert len({row["stationarity"] for row in rows}) == 4


def test_metrics_are_those_asked_for() -> None:
    [row] = rows_of(small(metrics=("distance", "gap", "value", "stationarity"), settings={"lr": (1.0,)}, rounds=200))
    assert 0 <= row["distance"] < 1e-20 and abs(row["gap"]) < 1e-14 and row["stationarity"] < 1e-20
    assert row["distance_at_start"] > 0.01 and row["gap_at_start"] == pytest.approx(
        row["value_at_start"] - row["value"], rel=1e-12
    )
    row, other = rows_of(small("fedpd,gd", metrics=("magnitude", "consensus")))
    assert row["consensus"] > 0 and row["magnitude_at_start"] == 3 and "gd" in other["method"]
    assert (
        "metric 'consensus' needs a method whose state has x_i; what this method and problem have is stationarity, value, magnitude"
        in other["error"]
    )
    [row] = rows_of(small(problems="sines", metrics=("gap",)))
    assert row["error"].startswith("NotAvailable") and "not certified strongly convex" in row["error"]


def test_every_metric_of_the_catalogue_is_one_that_some_method_has() -> None:
    f, found = PROBLEMS["perceptron"](), set()
    for entry in ALGORITHMS:
        method = build(entry)
        found |= set(offered_metrics(method.init(f, np.zeros((1, f.d))), f))
        if getattr(method, "local", None) is not None:
            found |= set(choose_metrics(RESIDUALS, method, f, np.zeros((1, f.d)))[1])
    of_tests = {name for name, metric in METRICS.items() if metric.is_share}
    of_optima = {name for name, metric in METRICS.items() if metric.needs_optimum}
    assert len(of_tests) == 4 and of_optima == {"gap", "distance"} and all(m.name == n for n, m in METRICS.items())
    assert found | of_tests | of_optima == set(METRICS)


def test_residuals_and_ranks_are_measured_by_run_and_sweep_alike() -> None:
    """Residuals belong to every method with local work, whose rounds they do not change."""
    small_ones = ("--clients", "4", "--dimension", "3", "--rounds", "3", "--json", "-")
    for method, problem, names in (
        ("fedavg", "quadratics", (*RESIDUALS, "value")),
        ("fedslr", "low-rank", ("rank of matrix", "primal_residual", "value")),
    ):
        asked = [method, problem, "--metric", ",".join(names), *small_ones]
        [row] = map(json.loads, CliRunner().invoke(main, ["sweep", *asked]).stdout.splitlines())
        shown = json.loads(CliRunner().invoke(main, ["run", *asked]).stdout)
        [plain] = rows_of(
            Sweep((method,), (problem,), {}, {"clients": (4,), "dimension": (3,)}, rounds=3, metrics=("value",))
        )
        assert row["value"] == plain["value"] and row["primal_residual"] > 0 == row["primal_residual_at_start"]
        for name in names:
            assert row[name] == pytest.approx(shown[name][-1], rel=1e-12)
    [row] = rows_of(small("gd", metrics=RESIDUALS))
    assert "GradientDescent has no local solver" in row["error"] and "it has no residuals" in row["error"]


# ---- runs that diverge, runs that are refused ---------------------------------------------------------------------

DIVERGING = {
    "slowly": ("fedavg", {"lr": (0.1, 30.0, 0.3), "steps": (3,)}),
    "in one round": ("fedavg", {"lr": (0.1, 1e200, 0.3), "steps": (3,)}),
    "into NaN": ("scaffold", {"lr": (0.1, 1e308, 0.3), "steps": (3,)}),
    "two settings": ("fedprox", {"lr": (0.1, 40.0), "rho": (0.5, 10.0), "steps": (4,)}),
    "duals": ("fedpd", {"lr": (0.1, 1e150, 0.2), "eta": (0.1, 0.3), "steps": (3,)}),
    "exact and accelerated": ("agd", {"lr": (0.5, 1e120, 1.0)}),
}


@pytest.mark.parametrize("name", DIVERGING)
def test_a_run_that_diverges_does_not_disturb_the_others(name) -> None:
    """Their trajectories are those of single runs, for every round; the diverged one is marked in the same round as alone."""
    method, settings = DIVERGING[name]
    sweep = small(method, settings=settings, rounds=120, every=1)
    rows = rows_of(sweep)
    lost = [row for row in rows if row["diverged_at"] is not None]
    assert 0 < len(lost) < len(rows) and all(row["error"] is None for row in rows)
    for row in rows:
        assert_same_run(row, alone(row, sweep))
    for row in lost:
        curve = row["trace"]["stationarity"]
        assert row["stationarity"] is None and None not in curve[: row["diverged_at"]]
        assert set(curve[row["diverged_at"] :]) == {None}
    for row in rows:
        assert row in lost or all(value is not None for value in row["trace"]["stationarity"])


def test_a_value_that_is_refused_is_an_error_in_its_row_alone() -> None:
    sweep = small(
        "fedavg,fedpd", settings={"lr": (0.1, -1.0, 0.2), "p": (0.0, 0.5), "steps": (2,)}, seeds=(0, 1), every=1
    )
    rows = rows_of(sweep)
    for row in rows:
        assert (row["error"] == "InvalidInput: lr must be positive, got -1.0") is (row["lr"] == -1.0)
        assert_same_run(row, alone(row, sweep))
    assert "stationarity" not in next(row for row in rows if row["error"])


def test_what_cannot_be_run_at_all_is_an_error_in_every_row() -> None:
    rows = rows_of(small("fedpd,fedavg", settings={"lr": (0.1, 0.2)}, participants=(3, 9, None)))
    errors = {(row["method"], row["participants"]): row["error"] for row in rows}
    assert "full participation only" in errors["fedpd", 3] and "cannot draw m=9 of n=4" in errors["fedavg", 9]
    assert errors["fedpd", None] is errors["fedavg", None] is errors["fedavg", 3] is None
    rows = rows_of(small(options={"mu": (2.0, 0.1)}))
    assert "expected 0 < mu <= L" in rows[0]["error"] and rows[1]["error"] is None


# ---- workers, stopping, going on ----------------------------------------------------------------------------------

GRID = {"settings": {"lr": (0.1, 0.5, 1e9), "steps": (1, 2)}, "seeds": (0, 1), "participants": (2, None)}


def test_the_same_on_any_number_of_workers() -> None:
    sweep = small("fedavg,scaffold", **GRID)
    assert rows_of(sweep) == rows_of(sweep, workers=2)


def test_the_same_on_a_dask_scheduler() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra 'distributed' is not installed")
    sweep = small("fedavg,scaffold", **GRID)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as made:
        assert rows_of(sweep, scheduler=made.scheduler_address) == rows_of(sweep)


def test_a_stopped_sweep_goes_on(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    sweep = small("fedavg,scaffold", **GRID)
    whole = rows_of(sweep)
    for found in run_sweep(sweep, journal=sweep.journal()):
        first = found
        break
    ran = []
    monkeypatch.setattr(sweeping, "run", lambda *a, run=sweeping.run, **k: (ran.append(1), run(*a, **k))[1])
    assert rows_of(sweep, journal=sweep.journal()) == whole
    assert len(ran) == len(sweep.batches()) - 1 and first[0]["run"] == 0
    assert small("fedavg,scaffold", **GRID, rounds=7).journal().read() == {}, "another sweep is another run"


def test_a_batch_with_an_error_is_run_again(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    sweep = small("fedavg", settings={"lr": (0.1, -1.0), "steps": (1, 2)}, participants=(2, 9))
    rows_of(sweep, journal=sweep.journal())
    assert sweep.journal().read() == {}
    sweep = small("fedavg", participants=(2, 9))
    rows_of(sweep, journal=sweep.journal())
    assert list(sweep.journal().read()) == ["0"]


FEDTHEORY = [sys.executable, "-W", "default", "-c", "from fedtheory.command_line.main import main; main()"]
LONG_SWEEP = [
    "sweep",
    "fedavg",
    "quadratics",
    *["--local-steps", "1:20", "--rounds", "400", "--workers", "2", "--csv", "a.csv"],
]


def _wait_for_two_jobs(folder: Path) -> None:
    """A second job is done, so the first has been taken note of."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if any(path.read_bytes().count(b"\n") > 1 for path in folder.glob("sweep-*.journal")):
            return
        time.sleep(0.02)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_process_goes_on_where_it_was(sent, tmp_path) -> None:
    """Ctrl-C reaches the whole group of processes, so does `timeout`: what is done is written, nothing else is said."""
    journals, pipe = tmp_path / ".fedtheory", subprocess.PIPE
    asked: dict[str, Any] = {
        "cwd": tmp_path,
        "env": os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    }
    process = subprocess.Popen(
        [*FEDTHEORY, *LONG_SWEEP], start_new_session=True, stderr=pipe, stdout=pipe, text=True, **asked
    )
    _wait_for_two_jobs(journals)
    os.killpg(process.pid, sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    part = (tmp_path / "a.csv").read_text().splitlines()
    assert err == f"interrupted after {len(part) - 1} of 20 jobs; the same command goes on from there\n"
    assert 1 < len(part) < 21 and "lowest stationarity" in out
    [journal] = journals.iterdir()
    kept = [json.loads(line.partition(" ")[2]) for line in journal.read_text().splitlines()]  # behind a code
    assert len(kept) == len(part) - 1
    done = subprocess.run([*FEDTHEORY, *LONG_SWEEP], capture_output=True, text=True, timeout=100, check=True, **asked)
    assert done.stderr == f"resuming an interrupted run: {len(kept)} of 20 jobs are done\n"
    whole = (tmp_path / "a.csv").read_text().splitlines()
    assert len(whole) == 21 and set(part) <= set(whole) and not list(journals.iterdir())


def test_an_option_reaches_only_the_methods_that_spell_it_so(tmp_path, monkeypatch) -> None:
    """Ditto's mu is a penalty and 5GCS's a constant of strong convexity: a value for one is none for the other."""
    monkeypatch.chdir(tmp_path)
    arguments = ["sweep", "ditto,5gcs", "quadratics", "--personal-penalty", "2", "--rounds", "1", "--json", "-"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    rows = {row["method"]: row for row in map(json.loads, result.stdout.splitlines())}
    assert rows["ditto"]["personal-penalty"] == 2 and rows["5gcs"]["strong-convexity"] == 0


def test_a_sweep_of_too_many_runs_is_refused_before_it_is_made() -> None:
    grid = Sweep(("fedavg",), ("quadratics",), {"lr": tuple(range(1, 10**4))}, {}, seeds=tuple(range(10**4)))
    assert grid.size == (10**4 - 1) * 10**4
    with pytest.raises(InvalidInput, match="99990000 runs; at most 1000000"):
        grid.batches()


@pytest.mark.parametrize("text", ["0:100000", "1e-3:1:100001log"])
def test_a_range_of_too_many_values_is_refused_before_it_is_made(text: str) -> None:
    with pytest.raises(InvalidInput, match="stands for 100001 values; at most 100000 are taken"):
        parse_values("--lr", text, float if "log" in text else int)

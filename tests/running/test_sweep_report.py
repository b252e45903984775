"""Sweeps on the command line: what is written and drawn."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from small_sweeps import rows_of, small

from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.running.sweep import Sweep
from fedtheory.running.sweep_report import (
    Cell,
    _draw_line,
    as_csv,
    as_json_lines,
    collect_cells,
    describe_sweep_picture,
    find_best_cells,
    list_alike,
)
from fedtheory.tools.journal import JOURNALS


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=0):
        fixed = ("--clients", 4, "--dimension", 3, "--workers", 1)
        result = CliRunner().invoke(main, ["sweep", *map(str, arguments), *map(str, fixed)])
        assert result.exit_code == code, (result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return invoke


def test_the_command_ranks_writes_and_draws(call) -> None:
    asked = "fedavg,scaffold quadratics --lr 1e-2:1e3:6log --local-steps 4 --seed 0:2 --participants 2"
    files = "--csv out/all.csv --json out/all.jsonl --picture out/lr.png"
    result = call(*asked.split(), *files.split())
    assert "lowest stationarity after 100 rounds" in result.stdout and result.stderr == ""
    rows = [json.loads(line) for line in Path("out/all.jsonl").read_text().splitlines()]
    table = list(csv.DictReader(io.StringIO(Path("out/all.csv").read_text())))
    assert len(rows) == len(table) == 36
    for row, line in zip(rows, table, strict=True):
        assert {k: "" if v is None else str(v) for k, v in row.items()} == {k: line[k] for k in row}
        assert (row["diverged_at"] is not None) is (row["lr"] >= 10)
    for method in ("fedavg", "scaffold"):
        score = {
            lr: np.median([r["stationarity"] for r in rows if (r["method"], r["lr"]) == (method, lr)])
            for lr in (0.01, 0.1, 1.0)
        }
        [line] = [line for line in result.stdout.splitlines() if method in line]
        assert f"lr {min(score, key=score.get):g} " in line and f"{min(score.values()):.6g} " in line
    assert Path("out/lr.png").read_bytes().startswith(b"\x89PNG") and not list(JOURNALS.iterdir())


def test_every_writes_rounds(call) -> None:
    call(
        "fedavg,fedprox",
        "quadratics",
        "--lr",
        "0.1,1e9",
        "--rounds",
        5,
        "--every",
        2,
        "--csv",
        "a.csv",
        "--json",
        "a.jsonl",
    )
    rows = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert all(row["trace"]["round"] == [0, 2, 4, 5] for row in rows)
    table = list(csv.DictReader(io.StringIO(Path("a.csv").read_text())))
    assert len(table) == 16 and [line["round"] for line in table[:4]] == ["0", "2", "4", "5"]
    assert [line["stationarity"] for line in table[:4]] == [str(v) for v in rows[0]["trace"]["stationarity"]]
    assert table[0]["rho"] == "" and table[8]["rho"] == "1.0", "columns that a method does not have are empty"


def test_one_output_to_the_terminal_is_nothing_else(call) -> None:
    out = call("gd", "quadratics", "--lr", "0.1,0.2", "--json", "-").stdout
    assert [json.loads(line)["lr"] for line in out.splitlines()] == [0.1, 0.2]
    assert call("gd", "quadratics", "--csv", "-").stdout.count("\n") == 2


def test_failed_runs_are_told_once_and_exit_status_is_one(call) -> None:
    result = call("fedavg", "quadratics", "--lr", "0.1,-1,-2", "--seed", "0,1", "--csv", "a.csv", code=1)
    assert "not run: 2 runs, the first is run 2: InvalidInput: lr must be positive, got -1.0" in result.stderr
    assert len(result.stderr.splitlines()) == 2 and len(Path("a.csv").read_text().splitlines()) == 7
    result = call("fedpd", "quadratics", "--participants", 2, "--lr", "0.1,0.2", code=1)
    assert "not run" in result.stdout and "full participation only" in result.stderr


BAD = {
    "syntax": (("fedavg", "quadratics", "--lr", "1:2"), "--lr: '1:2' is neither a value nor a range"),
    "method": (("fedavgg", "quadratics"), "unknown algorithm 'fedavgg'"),
    "problem": (("fedavg", "quadratics,nothing"), "unknown problem 'nothing'"),
    "unused": (("fedavg", "quadratics", "--exact"), "fedavg does not use --exact"),
    "split": (
        ("fedavg", "quadratics", "--split", "odd"),
        "--split: 'odd' is not one of sorted, iid, classes, shards, dirichlet",
    ),
    "metric": (
        ("fedavg", "quadratics", "--metric", "regret"),
        "unknown metric 'regret'; known are stationarity, value",
    ),
    "rounds": (("fedavg", "quadratics", "--rounds", "0"), "0 is not in the range x>=1"),
    "data": (("fedavg", "quadratics", "--data", "nowhere"), "the data folder nowhere does not exist"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_one_clear_line(call, name) -> None:
    arguments, message = BAD[name]
    result = call(*arguments, code=2)
    assert message in " ".join(result.stderr.split()) and result.stdout == ""


def test_exact_and_defaults_reach_the_runs(call) -> None:
    out = call(
        "fedprox,fedavg", "quadratics", "--exact", "--rho", "1,2", "--metric", "distance,value", "--json", "-"
    ).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row.get("exact") for row in rows] == [True, True, None] and {"distance", "value"} <= rows[0].keys()


def test_the_best_settings_have_the_lowest_median_and_no_failed_run() -> None:
    sweep = Sweep(("gd",), ("quadratics",), {"lr": (0.1, 0.2, 0.3, 0.4)}, seeds=(0, 1, 2))
    final = {0.1: [1, 2, 30], 0.2: [3, 3, 0], 0.3: [0.5, None, None], 0.4: [0, 0, "failed"]}
    rows = []
    for row in (row for batch in sweep.batches() for row in batch.rows()):
        value = final[row["lr"]][row["seed"]]
        found = {
            "stationarity": value,
            "stationarity_at_start": 1.0,
            "diverged_at": 9 if value is None else None,
            "error": None,
        }
        rows.append(row | (found if value != "failed" else {"error": "E"}))
    found = collect_cells(sweep, rows, "stationarity")
    assert [cell.score for cell in found] == [2, 3, np.inf, None]
    assert [(cell.diverged, cell.failed) for cell in found] == [(0, 0), (0, 0), (2, 0), (0, 1)]
    [(winner, group)] = find_best_cells(found)
    assert winner.settings == {"lr": 0.1} and len(group) == 4


def test_of_accuracies_the_highest_is_the_best_and_axes_are_linear() -> None:
    sweep = Sweep(("gd",), ("quadratics",), {"lr": (0.1, 0.2, 0.3)}, seeds=(0, 1, 2), metrics=("test_accuracy",))
    final = {0.1: [0.2, 0.4, 0.3], 0.2: [0.1, None, 0.9], 0.3: [0.9, None, None]}
    rows = [
        row
        | {"test_accuracy": final[row["lr"]][row["seed"]], "test_accuracy_at_start": 1e-5, "error": None}
        | {"diverged_at": 1 if final[row["lr"]][row["seed"]] is None else None}
        for batch in sweep.batches()
        for row in batch.rows()
    ]
    found = collect_cells(sweep, rows, "test_accuracy")
    assert [cell.score for cell in found] == [0.3, 0.1, np.inf], "a diverged run is below all others"
    [(winner, _)] = find_best_cells(found)
    assert winner.settings == {"lr": 0.1}
    shown = describe_sweep_picture(sweep, rows, "test_accuracy")
    assert shown["logy"] is False and shown["ylabel"] == "share of test samples right"


def test_two_parameters_are_a_heat_map_and_diverged_cells_are_crossed_out(tmp_path) -> None:
    from fedtheory.tools.pictures import draw, save_picture

    sweep = small("fedprox", settings={"lr": (0.1, 0.3, 50.0), "rho": (1.0, 4.0), "steps": (4,)}, rounds=60)
    rows = rows_of(sweep)
    shown = describe_sweep_picture(sweep, rows, "stationarity")
    assert (
        shown["x"] == [0.1, 0.3, 50.0]
        and shown["y"] == [1.0, 4.0]
        and (shown["xlabel"], shown["ylabel"]) == ("lr", "rho")
    )
    score = {(row["rho"], row["lr"]): row["stationarity"] for row in rows}
    assert [shown["z"][i][0] for i in (0, 1)] == [score[1.0, 0.1], score[4.0, 0.1]]
    assert [np.isinf(z) for z in shown["z"][0]] == [False, False, True]
    save_picture(shown, tmp_path / "map.svg")
    [axes, _] = draw(shown).axes
    [marks] = axes.lines
    assert set(marks.get_xdata()) == {2} and set(marks.get_ydata()) == {0, 1}
    rows[0]["error"] = "E"
    assert np.isnan(describe_sweep_picture(sweep, rows, "stationarity")["z"][0][0]), "what was not run is blank"


def _best_steps(rows: list[dict[str, Any]]) -> dict[Any, list[Any]]:
    """Of each method and number of clients a round: the steps of the best run at each lr that did not diverge."""
    won: dict[Any, dict[Any, Any]] = {}
    for r in rows:
        if r["diverged_at"] is None and r["stationarity"] < 1e3:
            place = won.setdefault((r["method"], r["participants"]), {})
            place[r["lr"]] = min(place.get(r["lr"], (np.inf, 0)), (r["stationarity"], r["local-steps"]))
    return {key: list(dict.fromkeys(steps for _, steps in place.values())) for key, place in won.items()}


def test_lines_are_the_best_over_the_other_settings(tmp_path) -> None:
    from fedtheory.tools.pictures import draw, save_picture

    sweep = small(
        "fedavg,scaffold", settings={"lr": (0.1, 0.5, 1e9), "steps": (1, 4)}, participants=(2, None), rounds=30
    )
    rows = rows_of(sweep)
    shown, said = describe_sweep_picture(sweep, rows, "stationarity"), _best_steps(rows)
    assert [s["label"] for s in shown["series"]] == [
        f"{m}, participants {p or 'all'}, local-steps {', then '.join(map(str, said[m, p]))}"
        for m in ("fedavg", "scaffold")
        for p in (2, None)
    ]
    first = ("scaffold", None, 0.1)
    lowest = min(r["stationarity"] for r in rows if (r["method"], r["participants"], r["lr"]) == first)
    assert shown["series"][3]["x"] == [0.1, 0.5, 1e9] and shown["series"][3]["y"][0] == lowest
    assert all(np.isinf(s["y"][2]) for s in shown["series"]) and shown["logx"] and shown["logy"]
    save_picture(shown, tmp_path / "lines.svg")
    crosses = [line for line in draw(shown).axes[0].lines if line.get_marker() == "x"]
    assert len(crosses) == 4 and all(list(line.get_xdata()) == [1e9] for line in crosses)


def test_lines_have_bands_over_seeds() -> None:
    sweep = small("fedavg", settings={"lr": (0.1, 0.5)}, participants=(2,), seeds=(0, 1, 2), rounds=30)
    rows = rows_of(sweep)
    (line,) = describe_sweep_picture(sweep, rows, "stationarity")["series"]
    of = [[r["stationarity"] for r in rows if r["lr"] == lr] for lr in (0.1, 0.5)]
    assert (line["low"], line["high"]) == ([min(v) for v in of], [max(v) for v in of])
    assert line["low"] < line["high"]


def test_a_run_about_to_diverge_is_drawn_as_diverged() -> None:
    sweep = small("gd", settings={"lr": (0.5, 1.0, 20.0)}, rounds=20)
    rows = rows_of(sweep)
    assert rows[2]["diverged_at"] is None and rows[2]["stationarity"] > 1e6
    assert [np.isinf(y) for y in describe_sweep_picture(sweep, rows, "stationarity")["series"][0]["y"]] == [
        False,
        False,
        True,
    ]


def test_clients_that_take_part_may_be_the_axis() -> None:
    sweep = small("fedavg", participants=(1, 2, 3, None))
    shown = describe_sweep_picture(sweep, rows_of(sweep), "stationarity")
    assert shown["xlabel"] == "participants" and [s["x"] for s in shown["series"]] == [[1.0, 2.0, 3.0]]


def test_nothing_to_draw_is_said() -> None:
    sweep = small("fedavg,gd")
    with pytest.raises(InvalidInput, match="a picture needs a numeric parameter with at least two values"):
        describe_sweep_picture(sweep, rows_of(sweep), "stationarity")


def test_a_picture_of_more_lines_than_can_be_told_apart_is_refused() -> None:
    """A line is a method on a kind of problem: two of them on seven are too many, on six they are not."""
    rates = tuple(0.01 * k for k in range(1, 9))
    for kinds in (6, 7):
        heterogeneity = tuple(float(k) for k in range(kinds))
        sweep = small("fedavg,scaffold", settings={"lr": rates}, options={"heterogeneity": heterogeneity}, rounds=1)
        rows = rows_of(sweep)
        if kinds == 6:
            assert len(describe_sweep_picture(sweep, rows, "stationarity")["series"]) == 12
            continue
        with pytest.raises(InvalidInput, match="holds 12 lines, this sweep has 14; sweep fewer methods or setups"):
            describe_sweep_picture(sweep, rows, "stationarity")


def test_rows_as_text_come_back() -> None:
    rows = rows_of(small("fedavg", settings={"lr": (0.1, 1e9)}, every=3))
    assert [json.loads(line) for line in as_json_lines(rows).splitlines()] == rows
    assert "NaN" not in as_json_lines(rows) and "inf" not in as_csv(rows)


def test_settings_are_not_told_apart_where_only_rounding_is_left() -> None:
    def line(*scores: float) -> str:
        cells = {
            lr: [Cell("fedavg", {}, {"lr": lr, "local-steps": 2**k}, (score,), 1.0, 0, 0)]
            for k, (lr, score) in enumerate(zip((0.1, 0.2, 0.3), scores, strict=False))
        }
        return str(_draw_line("fedavg", cells, "lr")["label"])

    assert line(1e-3, 1e-9) == "fedavg, local-steps 1, then 2"
    assert line(1e-3, 1e-9, 1e-30) == "fedavg, local-steps 1, then 2, below 1e-28 of the start not told apart"
    assert line(1e-30, 1e-31) == "fedavg, below 1e-28 of the start not told apart"


def test_settings_that_end_alike_up_to_rounding_are_not_called_worse() -> None:
    def cell(steps: int, score: float, rounding: float = 1e-28) -> Cell:
        return Cell("fedavg", {}, {"lr": 0.1, "local-steps": steps}, (score,), 1.0, 0, 0, rounding=rounding)

    def alike(*cells: Cell) -> list[int]:
        [(best, group)] = find_best_cells(cells)
        return [other.settings["local-steps"] for other in list_alike(best, group)]

    assert alike(cell(1, 0.5), cell(2, 0.5 + 1e-14), cell(4, 0.5 + 1e-9), cell(8, np.inf)) == [2]
    assert alike(cell(1, 1e-30), cell(2, 3e-31), cell(4, 1e-27)) == [2], "the first in the grid is the best"
    assert alike(cell(1, -3e-16, 1e-14), cell(2, 5e-16, 1e-14), cell(4, 1e-13, 1e-14)) == [2], "of values of f"
    assert alike(cell(1, np.inf), cell(2, np.inf)) == [], "of runs that diverged none is as good as another"
    line = {0.1: [cell(1, 0.5), cell(2, 0.5)], 0.2: [cell(1, 0.4), cell(2, 0.3)]}
    assert _draw_line("fedavg", line, "lr")["label"] == "fedavg, local-steps 2", "at 0.1 nobody won"


def test_the_table_says_how_many_settings_end_alike(call) -> None:
    """Exact and equal: local steps are all one where nothing moves."""
    said = call(
        "fedavg", "quadratics", "--lr", "0.3", "--local-steps", "8,16,32", "--rounds", 200, "--heterogeneity", 0
    )
    assert (
        "2 more" in said.stdout and "alike up to rounding" in said.stdout
    )  # on two lines where the terminal is narrow


def test_more_clients_than_memory_holds_are_refused_before_any_run(call, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.running.sweep.run_batch", lambda batch: pytest.fail("it ran"))
    result = CliRunner().invoke(main, ["sweep", "fedavg", "quadratics", "--clients", f"10,{10**9}", "--workers", "1"])
    assert result.exit_code == 2 and "quadratics with 1000000000 clients needs about" in result.stderr

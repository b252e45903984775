"""What a terminal shows at 80 and 120 columns: help by purpose, claims a line each, numbers whole, progress in lines, runs without pictures."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import click
import pytest
from claim_files import GOOD, TROUBLED
from claims_in_place import put_paper
from click.testing import CliRunner

from fedtheory.claims import checking
from fedtheory.claims.claim import Status
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference
from fedtheory.claims.report import tabulate_verdicts
from fedtheory.claims.words import VERDICT_WORDS
from fedtheory.command_line.later import GROUPS
from fedtheory.command_line.main import PURPOSES, main
from fedtheory.tools import terminal
from fedtheory.tools.terminal import make_console, make_plain_table, print_table, show_progress


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command at so many columns in a folder whose only paper is the toy; return the lines, without blanks at their ends."""
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(GOOD)
    Path("troubled.py").write_text(TROUBLED)
    importlib.import_module("fedtheory.claims.replay")
    put_paper(monkeypatch, str(tmp_path / "good.py"))

    def invoke(columns, *arguments, code=0):
        result = CliRunner(env={"COLUMNS": str(columns)}).invoke(main, [str(a) for a in arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return [line.rstrip() for line in result.stdout.splitlines()]

    return invoke


# ---- check and list -------------------------------------------------------------------------------------------------

CHECKED = {
    80: """\
claim         verdict     what it says, and what decided
TOY-RATE      supported   Statement of TOY-RATE & <b>more</b>.
TOY-FALSE     refuted     Statement of TOY-FALSE & <b>more</b>.
TOY-REPAIRED  repaired    Statement of TOY-REPAIRED & <b>more</b>. -- false as …
TOY-ORDER     reproduced  Statement of TOY-ORDER & <b>more</b>.
TOY-PROVED    argued      Statement of TOY-PROVED & <b>more</b>.
--verbose shows statements whole, and what decided
1 argued, 1 supported, 1 reproduced, 1 refuted, 1 repaired""",
    120: """\
claim         verdict     margin  what it says, and what decided
TOY-RATE      supported       +0  Statement of TOY-RATE & <b>more</b>.
TOY-FALSE     refuted       -0.5  Statement of TOY-FALSE & <b>more</b>.
TOY-REPAIRED  repaired      -0.5  Statement of TOY-REPAIRED & <b>more</b>. -- false as printed; instead (supported): x …
TOY-ORDER     reproduced          Statement of TOY-ORDER & <b>more</b>.
TOY-PROVED    argued          +0  Statement of TOY-PROVED & <b>more</b>.
--verbose shows statements whole, and what decided
1 argued, 1 supported, 1 reproduced, 1 refuted, 1 repaired""",
}


@pytest.mark.parametrize("columns", CHECKED)
def test_a_verdict_is_a_line(call, columns) -> None:
    assert call(columns, "check", "good.py", "--workers", 1) == CHECKED[columns].splitlines()


def test_verdicts_whole_on_demand(call) -> None:
    shown = call(80, "check", "good.py", "--workers", 1, "--verbose")
    assert shown[:4] == [
        "TOY-RATE  supported  (rate, margin +0, " + re.search(r"[\d.]+ s\)", shown[0])[0],
        "    Section 1: Statement of TOY-RATE & <b>more</b>.",
        "    holds  rate: five rounds, seed 0",
        "    rounds are counted from zero",
    ]
    words = " ".join(" ".join(shown).split())
    assert "-- false as printed; instead (supported): x <= 2 x^2." in words
    assert "FAILS square: As printed: x against x^2: measured 0.5, bound 0.25; confirmed in fractions" in words
    assert max(map(len, shown)) <= 80 and "…" not in words


def test_errors_are_not_cut(call) -> None:
    words = " ".join(" ".join(call(80, "check", "troubled.py", "--workers", 1, code=1)).split())
    assert re.search(
        r"B-RAISES not run could not be run: ZeroDivisionError in troubled\.py, line \d+: one over nothing", words
    )


@pytest.mark.parametrize("columns", [80, 120])
def test_all_words_fit_beside_the_longest_id(columns, monkeypatch, capsys) -> None:
    """The words for experiments in place of the paper's are the longest."""
    monkeypatch.setenv("COLUMNS", str(columns))
    (verdict,) = checking.run_checks([Reference(str(write_claims()), "TOY-RATE")], Context())
    named = [change(verdict, id="FEDPD-EXAMPLE-OF-22-CH", status=word, margin=-1.5e-10) for word in get_args(Status)]
    console = make_console()
    print_table(console, tabulate_verdicts(named, console.width))
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 1 + len(named) and max(map(len, shown)) <= columns
    for line, word in zip(shown[1:], get_args(Status), strict=True):
        assert re.match(rf"FEDPD-EXAMPLE-OF-22-CH  {word}  +", line)
        assert ("-1.5e-10" in line) == (columns == 120)
        assert len(line.rpartition("  ")[2].rstrip()) >= 20, "there is room for the statement"
    assert set(VERDICT_WORDS) == {*get_args(Status), "not run"}


def write_claims():
    file = Path("claims_of_test.py").resolve()
    file.write_text(GOOD)
    return file


def change(verdict, **fields):
    import dataclasses

    return dataclasses.replace(verdict, statement="A statement that is longer than any line. " * 5, **fields)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("columns", [80, 120])
def test_claims_are_listed_a_line_each(call, columns) -> None:
    assert call(columns, "list", "claims") == [
        "claims: toy (5)",
        "id            kind      statement",
        "TOY-RATE      rate      Statement of TOY-RATE & <b>more</b>.",
        "TOY-FALSE     bound     Statement of TOY-FALSE & <b>more</b>.",
        "TOY-REPAIRED  bound     Statement of TOY-REPAIRED & <b>more</b>.",
        "TOY-ORDER     ordering  Statement of TOY-ORDER & <b>more</b>.",
        "TOY-PROVED    identity  Statement of TOY-PROVED & <b>more</b>.",
        "--verbose shows what is cut, and more; --json is for programs",
    ]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("verbose", [(), ("--verbose",)])
def test_lists_fit(call, columns, verbose) -> None:
    shown = call(columns, "list", *verbose)
    assert max(map(len, shown)) <= columns
    assert [line for line in shown if line.startswith("fedavg-weighted ")]
    line = next(line for line in shown if line.startswith("scaffold "))
    assert "Karimireddy et al. 2020; FedPD, Section IV-C" in line, "a source of usual length is whole at 80 columns"


# ---- help -----------------------------------------------------------------------------------------------------------


def test_every_command_has_its_purpose(call) -> None:
    grouped = [name for names in PURPOSES.values() for name in names]
    assert sorted(grouped) == sorted(main.commands)
    shown = call(80, "--help")
    heads = [line.rstrip(":") for line in shown if re.fullmatch(r"\S.*:", line) and not line.startswith("Usage")]
    assert heads == ["Options", *PURPOSES]
    assert max(map(len, shown)) <= 80 and not any(line.endswith("...") for line in shown[1:])
    for columns in (80, 120):
        lines = call(columns, "--help")
        assert "  list                List claims, algorithms, problems and metrics." in lines


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", [name for names in PURPOSES.values() for name in names])
def test_help_fits_and_shows_every_option_once(call, columns, name) -> None:
    shown = call(columns, name, "--help")
    assert max(map(len, shown)) <= columns
    context = click.Context(main.commands[name])
    options = [p for p in main.commands[name].get_params(context) if isinstance(p, click.Option) and not p.hidden]
    for option in options:
        long = option.opts[-1]
        assert sum(bool(re.match(rf"  (-\w, )?{re.escape(long)}( |,|$)", line)) for line in shown) == 1, long


def sections(lines):
    return [line.rstrip(":") for line in lines if re.fullmatch(r"\S.*:", line) and not line.startswith("Usage")]


def test_options_of_a_run_are_by_method_problem_and_purpose(call) -> None:
    purposes = ["Options", "What is measured", "What is written", "Where and how it runs"]
    found = sections(call(80, "run", "fedpd", "quadratics", "--help"))
    assert found == ["Options of fedpd", "Options of quadratics", *purposes]
    found = sections(call(80, "sweep", "fedavg,scaffold", "quadratics,sines", "--help"))
    assert found == ["Options of fedavg, scaffold", "Options of quadratics, sines", *purposes]
    found = sections(call(80, "run", "--help"))
    assert found == ["Options of problems (name one to see its own)", *purposes]
    assert sections(call(80, "check", "--help")) == [
        "Options",
        *(title for title in GROUPS if title != "What is measured"),
    ]


# ---- numbers --------------------------------------------------------------------------------------------------------

SWEEP = (
    *("sweep", "fedavg,scaffold", "quadratics", "--lr", "0.0215443469,0.464158883", "--local-steps", "1,16"),
    *("--participants", "3,all", "--seed", "0:1", "--rounds", "20", "--workers", "1"),
)


@pytest.mark.parametrize("columns", [80, 120])
def test_numbers_are_never_folded_or_cut(call, columns) -> None:
    wide = " ".join(call(400, *SWEEP, "--fresh"))
    numbers = {word for word in re.findall(r"\S+", wide) if re.fullmatch(r"-?[\d.]+(e[+-]\d+)?", word)}
    assert len(numbers) > 10
    shown = call(columns, *SWEEP, "--fresh")
    assert max(map(len, shown)) <= columns and "…" not in " ".join(shown)
    assert numbers <= set(re.findall(r"[^\s;,]+", " ".join(shown)))


def test_a_table_that_does_not_fit_is_told_in_lines(monkeypatch, capsys) -> None:
    view = make_plain_table("name", "first#", "second#", title="numbers")
    view.add_row("a", "1.23456789e-10", "9.87654321e+10")
    view.add_row("b", "", "2")
    for columns, lines in {
        40: [
            "numbers",
            "name           first          second",
            "a     1.23456789e-10  9.87654321e+10",
            "b                                  2",
        ],
        30: ["numbers", "name a; first 1.23456789e-10;", "   second 9.87654321e+10", "name b; second 2"],
    }.items():
        monkeypatch.setenv("COLUMNS", str(columns))
        print_table(make_console(), view)
        assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == lines


def test_the_width_is_that_of_columns_and_wide_in_a_file(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "93")
    assert make_console().width == 93
    monkeypatch.delenv("COLUMNS")
    assert not sys.stdout.isatty() and make_console().width == terminal.WIDE


# ---- progress -------------------------------------------------------------------------------------------------------


def test_progress_is_told_in_lines_where_there_is_no_terminal(monkeypatch, capsys) -> None:
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    with show_progress("sweeping", 4, done=1, lines=True) as advance:
        for seconds, name in ((1.0, "a"), (31.0, "b"), (40.0, "c")):
            now[0] = seconds
            advance(name)
    assert capsys.readouterr() == ("", "sweeping: 3 of 4 after 31 s, last b\n"), "one line in thirty seconds"


# ---- runs without pictures ------------------------------------------------------------------------------------------

WITHOUT = "import sys; sys.modules['matplotlib'] = None; from fedtheory.command_line.main import main; main()"


def run_without_matplotlib(*arguments):
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False)


def test_a_run_prints_its_numbers_without_matplotlib() -> None:
    done = run_without_matplotlib("run", "gd", "quadratics", "--rounds", "5")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "at the start" in done.stdout and "after 5 rounds" in done.stdout
    assert "no picture, for matplotlib is not installed (pip install 'fedtheory[plot]')" in done.stdout
    done = run_without_matplotlib("run", "gd", "quadratics", "--rounds", "5", "--results", "kept")
    assert done.returncode == 0 and "results: kept; no picture" in done.stdout
    assert not [*Path().rglob("*.png")] and [*Path("kept").glob("*.csv")]


def test_a_picture_that_is_asked_for_is_missed_before_anything_is_run() -> None:
    done = run_without_matplotlib("run", "gd", "quadratics", "--rounds", "5", "--picture", "a.png", "--results", "kept")
    assert done.returncode == 1 and "matplotlib is needed for pictures" in done.stderr and done.stdout == ""
    assert not Path("kept").exists()


def test_a_terminal_of_any_encoding_shows_what_it_can() -> None:
    """The list is cut with an ellipsis, which ASCII has not."""
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "60"}
    command = [sys.executable, "-m", "fedtheory", "list", "algorithms"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\\u2026" in done.stdout

"""What is left of the work where a command is interrupted, or a file cannot be written."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedtheory.command_line.main import main
from fedtheory.running import runner
from fedtheory.running.results import Results
from fedtheory.tools import journal, pictures

RUN = ("run", "fedavg", "quadratics", "--rounds", "50")


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0):
        result = CliRunner().invoke(main, list(arguments))
        assert result.exit_code == code, result.output
        return result

    return invoke


def raise_(error: BaseException):
    def fail(*_, **__):
        raise error

    return fail


def test_an_interrupted_run_says_from_where_it_goes_on(call, monkeypatch) -> None:
    call(*RUN, "--results", "whole")
    with monkeypatch.context() as patched:
        patched.setattr(runner, "CHECKPOINT_SECONDS", 0.0)
        patched.setattr(Results, "table", raise_(KeyboardInterrupt()))
        told = call(*RUN, "--results", "out", code=130).stderr
    assert told == "interrupted; the same command goes on after round 1 of 50, the last that was kept\n"
    call(*RUN, "--results", "out")
    assert Path("out/metrics.csv").read_text() == Path("whole/metrics.csv").read_text()


@pytest.mark.parametrize(
    ("more", "kept"),
    [((), "nothing is kept of a run without --results DIR"), (("--results", "out"), "the same command begins anew")],
)
def test_an_interrupted_run_says_that_nothing_is_kept(call, monkeypatch, more, kept) -> None:
    monkeypatch.setattr(runner, "show_progress", raise_(KeyboardInterrupt()))
    told = call(*RUN, *more, code=130).stderr
    assert told.startswith("interrupted; ") and told.endswith(f"{kept}\n")


def test_other_commands_are_interrupted_in_one_line(call, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.tools.loading.refuse_shadows", raise_(KeyboardInterrupt()))
    assert call("list", code=130).output == "interrupted\n"


def test_numbers_are_shown_where_their_picture_cannot_be_written(call, monkeypatch) -> None:
    pytest.importorskip("matplotlib")
    refused = OSError(errno.EROFS, "Read-only file system")
    monkeypatch.setattr(pictures, "save_picture", raise_(refused))
    shown = call(*RUN).stdout
    assert "after 50 rounds" in shown
    assert "no picture, for fedavg-quadratics.png cannot be written (Read-only file system)" in shown
    assert "Read-only file system" in call(*RUN, "--picture", "asked.png", code=2).stderr


@pytest.mark.parametrize("option", ["--json", "--csv", "--picture"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_run(call, monkeypatch, option) -> None:
    monkeypatch.setattr("fedtheory.running.sweep.run_sweep", raise_(AssertionError("it was run")))
    sweep = ("sweep", "gd", "quadratics", option)
    Path("folder.json").mkdir()
    Path("file").touch()
    assert "File 'folder.json' is a directory" in call(*sweep, "folder.json", code=2).stderr
    assert "file is a file, and no folder" in " ".join(call(*sweep, "file/x.json", code=2).stderr.split())
    monkeypatch.setattr("os.access", lambda path, mode: not Path(path).is_dir())
    assert "read-only" in call(*sweep, "x.json", code=2).stderr


def test_verdicts_outlast_a_file_that_could_not_be_written(call, monkeypatch) -> None:
    call("new", "mine.py")
    check = ("check", "mine.py", "--workers", "1", "--html")
    with monkeypatch.context() as patched:
        patched.setattr("fedtheory.claims.pages.as_html", raise_(OSError(errno.ENOSPC, "No space left on device")))
        told = call(*check, "one.html", code=2).stderr
    assert "No space left on device" in told
    assert "the findings are kept: the same command with another file judges them again, and proves again what" in told
    assert "resuming an interrupted run: 1 of 4 claims are done" in call(*check, "two.html").stderr


def test_a_folder_that_keeps_nothing_is_named(call, monkeypatch) -> None:
    monkeypatch.setattr(journal.Journal, "add", raise_(OSError(errno.EROFS, "Read-only file system", ".fedtheory")))
    told = call("sweep", "gd", "quadratics", "--workers", "1", "--rounds", "1", code=2).stderr
    assert "(Read-only file system: .fedtheory)" in told and "run from a folder that can be written" in told


def test_who_stops_reading_is_told_nothing(call, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.tools.loading.refuse_shadows", raise_(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert call("list", code=1).output == ""

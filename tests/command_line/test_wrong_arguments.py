"""What is wrong with arguments is told in a line, with exit status 2, before anything is computed."""

import json

import pytest
from click.testing import CliRunner

from fedtheory.command_line.main import main

LARGEST = ("largest", "gd", "--option", "lr")
DESIGN = ("design", "gd", "--free", "lr")
CHECK = ("check", "AFEDPD-L4P", "--workers", "1")
RUN = ("run", "gd", "quadratics", "--rounds", "2")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*LARGEST, "--stated", "x", "nan"), "nan is no finite number"),
        ((*LARGEST, "--stated", "x", "-1"), "must not be negative, got {'x': -1.0}"),
        ((*LARGEST, "--time-limit", "-1"), "-1.0 is not in the range x>0"),
        ((*LARGEST, "--certificate", "-"), "not written to the terminal"),
        ((*LARGEST, "--json", ""), "'' names no file"),
        ((*DESIGN, "--lr", "nan"), "lr must be positive, got nan"),
        ((*DESIGN, "--time-limit", "nan"), "nan is no finite number"),
        (("design", "feddr", "--free", "eta,alpha", "--map", "map.nosuch"), "map.nosuch has the ending of no picture"),
        (("compare", "gd", "--picture", "rates.nosuch"), "rates.nosuch has the ending of no picture"),
        (("compare", "scaffold", "--local-steps", "0"), "at least 1, got 0"),
        (("compare", "gd,fedprox", "--rho", "-1"), "rho must be positive, got -1"),
        ((*CHECK, "--json", "-", "--jsonl", "-"), "--json and --jsonl cannot both"),
        ((*CHECK, "--badge", "-"), "not written to the terminal"),
        ((*CHECK, "--compare", "old.json"), "the evidence of 'AFEDPD-L4P' is no list"),
        ((*RUN, "--json", "-", "--csv", "-"), "--json and --csv cannot both"),
        ((*RUN, "--picture", "curve.nosuch"), "curve.nosuch has the ending of no picture"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(words, said, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text(
        json.dumps({"verdicts": [{"id": "AFEDPD-L4P", "status": "refuted", "evidence": 3}]})
    )
    told = CliRunner().invoke(main, [*words])
    assert told.exit_code == 2
    assert said in told.stderr.splitlines()[-1]
    assert not told.stdout


def test_a_file_that_is_asked_for_is_written_beside_what_the_terminal_has(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(main, [*RUN, "--json", "-", "--csv", "run.csv", "--picture", "run.png"])
    assert told.exit_code == 0 and json.loads(told.stdout)["rounds"] == [0, 1, 2]
    assert (tmp_path / "run.csv").read_text().startswith("round,") and (tmp_path / "run.png").exists()


def test_what_changed_does_not_stand_within_a_document(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text(json.dumps({"verdicts": [{"id": "AFEDPD-L4P", "status": "proved"}]}))
    told = CliRunner().invoke(main, [*CHECK, "--json", "-", "--compare", "old.json"])
    assert told.exit_code == 1 and json.loads(told.stdout)["verdicts"]
    assert "word: proved -> repaired" in told.stderr

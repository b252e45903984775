"""The Python blocks of README, and of the pages that continue it, run as printed."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from guides import read_blocks, read_commands

from fedtheory.command_line.main import main

README = [block.text for block in read_blocks("README.md", "python")]
OWN = [block.text for block in read_blocks("docs/own-theorem.md", "python")]
(WORST,) = (block.text for block in read_blocks("docs/worst-cases.md", "python") if "find_threshold" in block.text)
#: README's blocks: a claim file, one with a theorem, and a walk through the library
CLAIM, EVERY_ROUND, WALK = 0, 1, 2


def test_there_are_no_more_blocks_than_are_run_here() -> None:
    assert len(README) == 3 and len(OWN) == 2


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(README[WALK], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "2.709" in printed  # worst case of FedAvg with four local steps (the worst-case table of the tests)
    assert "eta" in printed


def test_the_worst_case_for_every_number_of_clients(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(WORST, "worst-cases.md", "exec"), {})
    value, reached, few, holds, _, fails, over = (float(Fraction(word)) for word in capsys.readouterr().out.split())
    assert value == pytest.approx(2.709188, abs=1e-6) and reached == pytest.approx(
        value, rel=1e-4
    )  # the table of the tests
    assert "1354594189/500000000" in WORST and float(Fraction("1354594189/500000000")) == pytest.approx(value, abs=1e-6)
    assert few > value and holds < fails < holds + 0.01 and over > 1


@pytest.mark.parametrize(
    ("block", "word"),
    [(README[CLAIM], "proved"), (OWN[0], "proved"), (OWN[1], "supported")],
    ids=["bound", "lemma", "check of one's own"],
)
def test_a_users_claim_is_judged_and_its_fault_is_caught(block: str, word: str) -> None:
    file = Path("mine.py")
    file.write_text(block)
    checked = CliRunner().invoke(main, ["check", str(file), "--workers", "1", "--json", "found.json"])
    tested = CliRunner().invoke(main, ["selftest", str(file), "--workers", "1"])
    assert checked.exit_code == 0 and json.loads(Path("found.json").read_text())["verdicts"][0]["status"] == word
    assert tested.exit_code == 0 and "planted faults caught: 1 / 1" in tested.output


def test_the_false_bound_of_the_text_is_refuted_by_its_instance() -> None:
    Path("mine.py").write_text(README[CLAIM].replace("4*N + 2", "4*N + 4"))
    shown = CliRunner().invoke(main, ["check", "mine.py", "--workers", "1", "--json", "found.json"])
    assert json.loads(Path("found.json").read_text())["verdicts"][0]["status"] == "refuted", shown.output
    said = CliRunner().invoke(main, ["replay", "counterexamples/MINE-1.json", "mine.py"])
    assert said.exit_code == 0 and "measured 1/6 against the bound 1/8" in said.output


@pytest.mark.parametrize(("factor", "word"), [("", "proved"), ("2*", "proved"), ("3*", "refuted")])
def test_the_theorem_of_the_text_has_the_words_that_it_says(factor: str, word: str) -> None:
    Path("mine.py").write_text(README[EVERY_ROUND].replace("exp(-N", f"exp(-{factor}N"))
    CliRunner().invoke(main, ["check", "mine.py", "--workers", "1", "--json", "found.json"])
    assert json.loads(Path("found.json").read_text())["verdicts"][0]["status"] == word


def test_the_command_of_the_text_proves() -> None:
    (command,) = (line for line in read_commands("README.md") if "prove scaffnew" in line)
    assert "PROVED" in CliRunner().invoke(main, shlex.split(command)[1:]).output

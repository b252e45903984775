"""The README's Python blocks run as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedtheory.cli import main

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS[0], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "2.709" in printed  # worst case of FedAvg with four local steps (the worst-case table of the tests)
    assert "eta" in printed


def test_a_users_claim_is_checked_and_its_fault_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(BLOCKS[1])
    checked = CliRunner().invoke(main, ["check", str(file), "--workers", "1"])
    tested = CliRunner().invoke(main, ["selftest", str(file), "--workers", "1"])
    assert checked.exit_code == 0 and "supported" in checked.output
    assert tested.exit_code == 0 and "planted faults caught: 1 / 1" in tested.output

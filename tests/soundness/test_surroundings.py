"""Attacks on what stands around a check: the user's folder, text with markup, checks that leave or never end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import fedtheory
from fedtheory.claims.references import load_claims
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.tools import loading
from fedtheory.tools.terminal import make_console

HOME = Path(fedtheory.__file__).parents[1]


def claim_file(folder, body, name="mine.py") -> Path:
    file = folder / name
    file.write_text(
        "from fedtheory.claims import Claim, Covered, Fault, holds\n"
        f"{body}\n"
        "CLAIMS = [Claim('X-1', 'toy', 'bound', 's', 'A = [[0, 1], [1, u]] [bold]:smile:', check, (Fault('f', 'p', {}),))]\n"
    )
    return file


def start(folder, *arguments, limit=60) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own, in the user's folder."""
    return subprocess.run(
        [sys.executable, "-m", "fedtheory", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(HOME)},
        capture_output=True,
        text=True,
        timeout=limit,
    )


# ---- text that is not ours --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["A = [p, u; 1, u]", "[[0, 1], [1, u]]", "[bold]", "[/]", "[red]proved[/red]", ":smile:"]
)
def test_text_is_shown_as_it_is(text, capsys) -> None:
    from rich.table import Table

    view = Table(title=text)
    view.add_column("statement")
    view.add_row(text)
    make_console().print(view)
    make_console().print(text)
    assert capsys.readouterr().out.count(text) == 3


def test_listed_claims_keep_their_brackets() -> None:
    shown = CliRunner().invoke(main, ["list", "claims", "--verbose"]).stdout
    statement = next(c.statement for c in load_claims("paper_checks.fedpd").values() if "[1, u]" in c.statement)
    start = statement.index("[")
    assert statement[start : start + 6] in shown, "FEDPD-L2 has a matrix"


# ---- the user's folder ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["problems", "paper_checks"])
@pytest.mark.parametrize("place", ["{}.py", "{}/__init__.py"])
def test_a_file_that_hides_a_package_of_ours_is_told_in_one_line(tmp_path, name, place) -> None:
    file = tmp_path / place.format(name)
    file.parent.mkdir(exist_ok=True)
    file.write_text("x = 1\n")
    done = start(tmp_path, "list", "problems")
    assert done.returncode == 2 and not done.stdout
    assert (
        done.stderr == f"error: {file} hides fedtheory's own package {name!r}: rename it, or run from another folder\n"
    )


def test_nothing_is_hidden_here() -> None:
    loading.refuse_shadows()


def test_a_claim_file_imports_its_neighbour(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_neighbour_of_claims.py").write_text("value = True\n")
    body = (
        "from my_neighbour_of_claims import value\n"
        "def check(ctx):\n"
        "    import my_neighbour_of_claims as again\n"
        "    yield holds('p', value and again.value, 'numeric', 'said', covered=Covered(8, 'draws'))"
    )
    done = CliRunner().invoke(main, ["check", str(claim_file(tmp_path, body)), "--workers", "1", "--fresh"])
    assert done.exit_code == 0 and "1 supported" in done.stdout, done.output


def test_a_neighbour_takes_nobodys_name(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "problems.py").write_text("raise RuntimeError('hidden')\n")
    body = "import problems.quadratics\ndef check(ctx):\n    yield holds('p', True, 'numeric', 'said')"
    assert load_claims(str(claim_file(tmp_path, body)))
    with pytest.raises(InvalidInput, match="ModuleNotFoundError"):
        load_claims(str(claim_file(tmp_path, "import nobody_has_this", "other.py")))


# ---- checks that leave or never end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", ["import os; os._exit(0)", "import ctypes; ctypes.CDLL(None)._exit(0)"])
@pytest.mark.parametrize("command", ["check", "selftest"])
def test_a_lone_check_that_leaves_does_not_pass(tmp_path, command, body) -> None:
    file = claim_file(tmp_path, f"def check(ctx):\n    {body}\n    yield holds('p', True, 'numeric', 'said')")
    done = start(tmp_path, command, str(file))
    assert done.returncode == 1 and not done.stdout
    assert "ended by its own job" in done.stderr and "Traceback" not in done.stderr


STUBBORN = """while True:
        try:
            while True: pass
        except Exception: seen = seen + 1 if 'seen' in dir() else 1
        if seen == 1: break
    while True: pass"""


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(1000)", STUBBORN])
def test_a_check_that_never_ends_is_stopped(tmp_path, body) -> None:
    file = claim_file(tmp_path, f"def check(ctx):\n    {body}\n    yield holds('p', True, 'numeric', 'said')")
    done = CliRunner().invoke(main, ["check", str(file), "--workers", "1", "--time-limit", "0.5", "--json", "-"])
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert done.exit_code == 1 and verdict["status"] == "inconclusive"
    assert verdict["error"] == "TimeLimitReached: it was not done within the time limit of 0.5 s"


def test_a_check_in_time_is_not_disturbed(tmp_path) -> None:
    body = "def check(ctx):\n    yield holds('p', True, 'numeric', 'said', covered=Covered(8, 'draws'))"
    file = claim_file(tmp_path, body)
    done = CliRunner().invoke(main, ["check", str(file), "--workers", "1", "--fresh", "--time-limit", "60"])
    assert done.exit_code == 0 and "1 supported" in done.stdout
    for seconds in ("0", "-1"):
        assert CliRunner().invoke(main, ["check", str(file), "--time-limit", seconds]).exit_code == 2

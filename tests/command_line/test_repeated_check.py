"""`fedtheory check --repeat` judges again what reads the seed, and tells what differs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fedtheory.command_line.main import main

CLAIMS = """
from pathlib import Path

from fedtheory.claims import Claim, Covered, Fault, Part, holds


def fixed(ctx):
    with (Path(__file__).parent / "calls").open("a") as calls:
        calls.write("fixed ")
    yield holds("it", True, "numeric", "the same for every seed", covered=Covered(9, "points"))


def steady(ctx):
    yield holds("it", ctx.rng().random() < 2, "numeric", "a draw", covered=Covered(9, "draws"))


def shaky(ctx):
    yield holds("draw", True, "numeric", "a draw", covered=Covered(9, "draws"))
    yield Part("luck", True if ctx.seed != 1 else None, "numeric", "a seed")


def made(id, check):
    return Claim(id, "toy", "bound", "s", id, check, (Fault("f", "it", {}),))


CLAIMS = [made("FIXED", fixed), made("STEADY", steady), made("SHAKY", shaky)]
"""


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Check claims in an empty folder, in this process' workers."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(CLAIMS)
    return lambda *options: CliRunner().invoke(main, ["check", "mine.py", "--workers", "1", *options])


def test_what_reads_the_seed_is_judged_with_others(check) -> None:
    alone = check()
    assert alone.exit_code == 0 and "seed" not in alone.stderr
    found = check("--repeat", "3")
    assert found.exit_code == 1, found.output
    assert Path("calls").read_text() == "fixed fixed ", "what does not read the seed is judged once a command"
    assert "seed 1: 1 of 2 verdicts are those of seed 0" in found.stderr
    assert "differs: SHAKY: supported with seed 0, inconclusive with seed 1 (luck: holds, undecided)" in found.stderr
    assert "seed 2: 2 of 2 verdicts are those of seed 0" in found.stderr
    assert check("--seed", "2", "--repeat", "3").exit_code == 0

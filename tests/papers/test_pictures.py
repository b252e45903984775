"""Pictures of the ledgers and the notebooks show what repeated runs leave open: a band from the least to the largest."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEDGERS = sorted(path for path in (ROOT / "paper_checks").glob("*/*.py"))
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("*.py") if path.name != "build.py")
#: curves that are made by hand, since there is nothing to repeat: file and function, and why
NOT_REPEATED = {
    ("fedslr/section_5_a_theorem_1.py", "shift_runs"): "one run for each step, of a method that draws nothing",
    (
        "fedslr/section_5_d_theorem_3.py",
        "theorem_runs",
    ): "the largest client of a method that draws nothing, and its bound",
    ("fedslr/section_5_b_theorem_2_rates.py", "picture_of"): "runs of a method that draws nothing, each with its bound",
    ("afedpd/z_ours_drift_a_stability.py", "_draw_factors"): "exact factors",
    (
        "fedpd/section_4_2_a_theorem_3.py",
        "check_t3",
    ): "a mean over the last rounds of many chains, one number for each p",
}


def _made_by_hand(path: Path) -> set[tuple[str, str]]:
    """Functions that write a curve of a picture down, in place of `draw_bound`, `draw_curves` or `repeat_curve`."""
    found = set()
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                keys = (
                    {k.value for k in node.keys if isinstance(k, ast.Constant)} if isinstance(node, ast.Dict) else set()
                )
                if {"label", "x", "y"} <= keys:
                    found.add((f"{path.parent.name}/{path.name}", function.name))
    return found


def test_a_curve_of_a_ledger_has_a_band_or_nothing_to_repeat() -> None:
    found = set().union(*map(_made_by_hand, LEDGERS))
    assert found == {*NOT_REPEATED}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_that_draws_a_middle_of_runs_draws_their_spread(path) -> None:
    """Cells that plot a mean or median over the first axis shade a band or plot the runs themselves."""
    for cell in path.read_text(encoding="utf-8").split("# %%"):
        drawn = [line for line in cell.splitlines() if "plot(" in line or "semilogy(" in line or "loglog(" in line]
        if any("mean(axis=0)" in line or "median(" in line for line in drawn):
            assert "draw_band(" in cell or "fill_between(" in cell or "random problem" in cell, drawn

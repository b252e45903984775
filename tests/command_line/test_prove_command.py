"""The commands prove and new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.references import load_claims, select
from fedtheory.command_line.main import main

STEP = ("gd", "--region", "0 < mu < L, 0 < lr < 2/L")


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def test_a_rate_is_proved_for_all_parameters() -> None:
    """What has the name of a parameter needs no option: the step and the class."""
    out = call("prove", *STEP, "--bound", "max((1-lr*mu)**2, (1-lr*L)**2)")
    assert "PROVED" in out and "every n >= 2; every dimension" in out and "for all parameters" in out


def test_a_false_one_is_refuted_with_its_instance(tmp_path) -> None:
    out = call("prove", *STEP, "--bound", "(1-lr*mu)**2", "--json", "deep/found.json", code=3)
    assert "REFUTED" in out and "exactly, on functions of" in out
    found = json.loads(Path("deep/found.json").read_text())
    assert (
        found["verdicts"][0]["status"] == "refuted"
        and "fedtheory refutation" in found["counterexample"]["instance"]["data"]
    )


def test_scaffnew_for_all_parameters() -> None:
    out = call(
        "prove", "scaffnew", "--region", "0<mu<L, 0<lr<2/L, 0<p<=1", "--potential", "x_i = 1, h_i = (lr/p)**2",
        "--bound", "max((1-lr*mu)**2, (1-lr*L)**2, 1-p**2)",
    )  # fmt: skip
    assert "PROVED" in out and "for all parameters" in out


def test_a_rate_and_its_potential_are_found_and_proved() -> None:
    """Nothing is stated but the region: the theorem of Scaffnew (Mishchenko et al. 2022) comes out, for all parameters."""
    out = call("prove", "scaffnew", "--region", "0<mu<L, 0<lr<2/L, 0<p<=1")
    first, *_ = out.splitlines()
    assert "PROVED" in out and "for all parameters" in out
    assert "x_i = 1, h_i = (lr/p)**2" in first
    for factor in ("(1 - mu*lr)**2", "(1 - L*lr)**2", "1 - p**2"):
        assert factor in first
    out = call("prove", "gd", "--region", "0<mu<L, 0<lr<2/L")
    assert "max((1 - mu*lr)**2, (1 - L*lr)**2)" in out and "PROVED" in out


def test_where_no_simple_rate_is_found_it_says_so() -> None:
    assert "state one with --potential and --bound" in call("prove", "gd", "--region", "0<mu<L, 2/L<lr<4/L", code=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gdd", "--region", "0 < L", "--bound", "1"), "gdd"),
        (("gd", "--region", "0 < < L", "--bound", "1"), "0 < < L"),
        (("gd", "--region", "0 < L", "--bound", "M"), "'M' in 'claimed' is no parameter of the region"),
        (("gd", "--region", "0 < L", "--bound", "__import__('os')"), "cannot stand in an expression"),
        (("gd", "--region", "0 < L", "--options", "steps = 2", "--bound", "1"), "gd has no option 'steps'"),
        (("gd", "--region", "0 < L", "--measure", "speed", "--bound", "1"), "speed"),
        (("scaffnew", "--region", "0 < p <= 1", "--bound", "1"), "needs its smoothness constant L"),
        (("gd", "--region", "3 < L < 2", "--bound", "1"), "no point of the region"),
        (("gd", "--region", "0 < L, 0 < eta < 2/L", "--bound", "1"), "'eta' is in the region, and nothing reads it"),
        (("scaffnew", "--region", "0 < mu < L, 0 < lr < 2/L, 0 < q <= 1"), "the options of scaffnew are lr, p"),
    ],
)
def test_bad_input_is_one_clear_line(arguments, said) -> None:
    out = call("prove", *arguments, code=2)
    assert said in out and len(out.strip().splitlines()) == 1


def test_a_new_file_is_judged_as_it_says() -> None:
    """What the template calls a remark is false, and the rest is proved."""
    call("new", "mine/my_paper.py")
    assert "is there already" in call("new", "mine/my_paper.py", code=2)
    assert "expected a name that ends in .py" in call("new", "mine", code=2)
    claims = load_claims(str(Path("mine/my_paper.py").resolve()))
    assert [*claims] == ["MINE-1", "MINE-2", "MINE-3", "MINE-4"]
    words = [check_one(reference, Context()).status for reference in select([str(Path("mine/my_paper.py").resolve())])]
    assert words == ["proved", "refuted", "proved", "proved"]


def test_a_parameter_may_be_read_by_the_range_of_another_alone() -> None:
    arguments = ("gd", "--region", "0 < L, 0 < c < 2, 0 < lr < c/L", "--functions", "L, mu = 0", "--bound", "1")
    assert "PROVED" in call("prove", *arguments)

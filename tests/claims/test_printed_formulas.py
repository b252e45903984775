"""Ties between formulas: what is told as different, and what as a mistake of the author."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedtheory.claims.transcriptions import (
    COLUMNS,
    Printed,
    bound_of,
    compare_printed,
    cover,
    read_transcription,
    right_of,
)
from fedtheory.core.errors import InvalidInput

ROWS = (
    ("X-1", "rhs", "(1)", "L=smoothness|>0 N=clients|int>=1", "L**2/N", "<="),
    ("X-1", "rate", "(2)", "R=rounds|int>=1", "1/sqrt(R)", "O"),
    ("X-2", "sum", "(3)", "a=sequence|fun:real K=steps|int>=1", "sum(a[k], k, 1, K)", "="),
    ("X-3", "root", "(4)", "x=number|real", "sqrt(-1 - x**2)", "="),
)


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    path = tmp_path / "printed.tsv"
    path.write_text("\n".join("\t".join(row) for row in (COLUMNS, *((*row, "printed", "") for row in ROWS))))
    return read_transcription(path)


def squared(smoothness: Any, n: int, factor: Any = 1) -> Any:
    return factor * smoothness**2 / n


NAMES = {"L": "smoothness", "N": "n"}


def test_a_function_is_compared_by_the_names_of_its_parameters(rows: Any) -> None:
    assert compare_printed(Printed("X-1, rhs, (1)", squared, NAMES), rows) == ""
    told = compare_printed(Printed("X-1, rhs, (1)", squared, NAMES, {"factor": "2"}), rows)
    assert "squared is" in told and "L**2/N is" in told


def test_what_a_row_or_a_tie_names_may_be_a_function(rows: Any) -> None:
    assert compare_printed(Printed("X-1, rhs, (1)", "a/N", where={"a": lambda L: L**2}), rows) == ""
    assert compare_printed(Printed("X-1, rhs, (1)", "4*a**2/N", {"L": lambda a: 2 * a}), rows) == ""


def test_an_order_is_the_same_up_to_one_factor(rows: Any) -> None:
    assert compare_printed(Printed("X-1, rate, (2)", "7*R**(-1/2)"), rows) == ""
    assert compare_printed(Printed("X-1, rate, (2)", "1/R"), rows)


def test_a_power_is_compared_with_that_power_of_the_row(rows: Any) -> None:
    assert compare_printed(Printed("X-1, rate, (2)", "1/R", power=2), rows) == ""


def test_sequences_have_the_same_values_on_both_sides(rows: Any) -> None:
    assert compare_printed(Printed("X-2, sum, (3)", "sum(a[j + 1], j, 0, K - 1)"), rows) == ""
    assert compare_printed(Printed("X-2, sum, (3)", "sum(a[j], j, 0, K - 1)"), rows)


@pytest.mark.parametrize(
    ("tie", "message"),
    [
        (Printed("X-1, rhs, (9)", "L"), "has no row"),
        (Printed("X-3, root, (4)", "x"), "0 of 480 points"),
        (Printed("X-1, rhs, (1)", "L // N"), "cannot stand in a formula"),
    ],
)
def test_a_mistake_of_the_author_is_an_error(rows: Any, tie: Printed, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        compare_printed(tie, rows)


def test_rows_are_tied_excused_or_forgotten(rows: Any) -> None:
    tie = Printed("X-1, rhs, (1)", squared, NAMES)
    found = cover(rows, [tie], {"an order": ["X-1"], "in words": ["X-2, sum"]})
    assert (found.tied, found.rows, found.excused) == (1, 4, {"an order": 1, "in words": 1})
    assert found.forgotten == ("X-3, root, (4)",)
    with pytest.raises(InvalidInput, match="take it out"):
        cover(rows, [tie], {"an order": ["X-1, rhs"]})


def test_a_bound_is_read_off_a_region() -> None:
    assert bound_of("0 < L, 0 < eta <= 1/(2*L)", "eta") == "1/(2*L)"
    assert bound_of("1 <= L, 16*L**3 <= rho", "rho", below=True) == "16*L**3"
    assert right_of("sigma_s2 <= sigma2/(m*K)") == "sigma2 / (m * K)"
    with pytest.raises(InvalidInput, match="0 times"):
        bound_of("0 < L", "eta")

"""What a claim of FedSLR's ledger says follows from the numbers and ranges that it shows."""

from __future__ import annotations

import pytest
from edited_ledgers import word_under_edits

from paper_checks.fedslr.appendix_a_6_privacy import replay_duals
from paper_checks.fedslr.section_5_a_theorem_1 import AT_THE_END, replay_cycle
from paper_checks.fedslr.section_5_c_theorem_2_limit import replay_length

pytestmark = pytest.mark.selftest

PRINTED = "paper_checks.fedslr.printed"
ROW = '"SCAFFOLD": (1787.83, 11.17, 1787.83, 11.17, 1787.83, 11.17)'


@pytest.mark.parametrize("column", range(6))
def test_every_number_of_scaffolds_row_matters(column: int) -> None:
    numbers = ["1787.83", "11.17"] * 3
    numbers[column] = "1700.83" if column % 2 == 0 else "12.17"
    edit = (ROW, f'"SCAFFOLD": ({", ".join(numbers)})')
    assert word_under_edits(PRINTED, "FEDSLR-C5", edit) == "refuted"


@pytest.mark.parametrize("replay", [replay_cycle, replay_length, replay_duals])
def test_one_end_point_has_one_word(replay) -> None:
    """Theorem 1's shift, Theorem 2's finite length and the duals' limit fail alike at eta_g = 1/(2L), and at no shorter step."""
    assert replay(AT_THE_END).admissible and replay(AT_THE_END).violated
    for eta in ("49/100", "3/5"):
        assert not replay(AT_THE_END | {"eta": eta}).admissible

"""What a claim of DualFL's ledger says follows from the bound that it shows: with another bound, or another tolerance, it takes back its word."""

from __future__ import annotations

import pytest
from edited_ledgers import edited_ledger, word_under_edits
from mutants import SAYS_IT_HOLDS, Mutant, plant_mutant
from planted import judge_anew

from fedtheory.algorithms.dualfl import allowed_gap

pytestmark = pytest.mark.selftest

BOUNDS = "paper_checks.dualfl.bounds"
PLAIN, LINEAR, TERM = "    return 4 / (n + 1) ** 2\n", "    return (1 - r) ** (n - 1)\n", "    return (1 - r) ** n\n"
EDITS = {
    "(1/25)/(n+1)^2 for 4/(n+1)^2": ("T3.2-EXACT", (PLAIN, PLAIN.replace("4 /", "1 / 25 /"))),
    "1/n^3 in Theorem 3.2": ("T3.2", ("    return 1 / n**2\n", "    return 1 / n**3\n")),
    "1/n^3 in Proposition 6.2": ("P6.2", ("    return 1 / n**2\n", "    return 1 / n**3\n")),
    "(1 - sqrt rho)^(3n) in Proposition 6.3": ("P6.3", (TERM, "    return (1 - r) ** (3 * n)\n")),
    "(1 - sqrt rho)^(3n) in Theorem 3.3": ("T3.3b", (TERM, "    return (1 - r) ** (3 * n)\n")),
    "(1 - sqrt rho)^(2n - 2) in Theorem 3.3": ("T3.3a-EXACT", (LINEAR, "    return (1 - r) ** (2 * n - 2)\n")),
    "V/nu for V/nu^2 in N2": ("N2", ("    return share * V / nu**2\n", "    return share * V / nu\n")),
    "n for n/2 in (14)": ("T4.3a", ("    return (1 - r) ** (n / 2)\n", "    return (1 - r) ** n\n")),
    "9 for 9/rho in C9": ("C9", ("    return 9 / r**2 * (1 - r) ** (n - 2) * V\n", "    return 9 * (1 - r) ** (n - 2) * V\n")),
    "an exponent of 3 + gamma in Theorem 3.4": ("T3.4", ("N * (n + 1) ** (4 + gamma)", "N * (n + 1) ** (3 + gamma)")),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_bound_changes_the_word(name: str) -> None:
    claim, edit = EDITS[name]
    assert word_under_edits(BOUNDS, f"DUALFL-{claim}", edit) in ("supported", "refuted", "inconclusive")


@pytest.mark.parametrize(("claim", "exponent"), [("T3.2", 3), ("T3.4", 5)])
def test_another_tolerance_changes_the_word(claim: str, exponent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """(8) with the exponent 3 + gamma: Theorem 3.2's sum of errors is infinite. With 5 + gamma: Theorem 3.4's local iterations do not suffice."""
    plant_mutant(Mutant("another exponent", allowed_gap, "(4 + gamma)", f"({exponent} + gamma)", ()), monkeypatch)
    with edited_ledger(BOUNDS):
        verdict = judge_anew("paper_checks.dualfl", f"DUALFL-{claim}")
    assert "proved" not in (verdict.status, verdict.repair)


NOT_UPDATED = (
    (
        "    return {name: after[own] for own, name in NAMES.items()}\n",
        '    return {name: after[own] for own, name in NAMES.items()} | {"z": state.z}\n',
    ),
)


@pytest.mark.parametrize("claim", ["T3.2-EXACT", "T3.3a-EXACT", "P6.2", "T4.1", "C9"])
def test_the_rounds_of_theorems_are_the_methods(claim: str) -> None:
    """With a dual that is not updated DualFL is no run of Algorithm 2, and no claim on its models stands."""
    assert word_under_edits("paper_checks.dualfl.rounds", f"DUALFL-{claim}", *NOT_UPDATED) not in SAYS_IT_HOLDS

"""Printed formulas of the papers as a second reader transcribed them, against the formulas that the ledgers check."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mutants import Mutant, plant_mutant

from fedtheory.algorithms import momentum
from fedtheory.claims.transcriptions import Printed, compare_printed
from paper_checks.afedpd import appendix_b_2_1_lemmas as afedpd_lemmas
from paper_checks.afedpd import appendix_b_2_2_proof_of_theorem_1 as afedpd_proof
from paper_checks.afedpd import appendix_b_3_2_a_recursion as afedpd_recursion
from paper_checks.afedpd import notation as afedpd_notation
from paper_checks.afedpd import published as afedpd_tables
from paper_checks.afedpd import rounds as afedpd_rounds
from paper_checks.afedpd import section_4_2_b_theorem_2 as afedpd_theorem_2
from paper_checks.dualfl import bounds, notation
from paper_checks.fedpd import appendix_b_1_a_lemma_1 as lemma_1
from paper_checks.fedpd import appendix_b_1_b_lemma_2 as lemma_2
from paper_checks.fedpd import appendix_b_1_c_lemmas_3_and_4 as lemma_4
from paper_checks.fedpd import bounds as fedpd
from paper_checks.fedpd import section_3_fedpd, section_4_2_b_remark_5, supplement_g_oracle_2
from paper_checks.fedpd import section_4_1_b_theorem_2 as oracle_two
from paper_checks.fedslr import bounds as fedslr
from paper_checks.fedslr import printed as fedslr_tables
from paper_checks.fedslr.appendix_c_3_proof_of_theorem_1 import drift_allowed
from paper_checks.safari import notation as safari
from paper_checks.safari import published as safari_tables
from paper_checks.safari.appendix_a_1_b_proof_of_theorem_5 import perturbed_below
from paper_checks.second_readings import PAPERS, TABLES, list_differences, read_second

PAPER_CHECKS = Path(__file__).resolve().parents[2] / "paper_checks"
#: how many printed formulas are tied at least
TIED = {"fedpd": 71, "afedpd": 104, "safari": 99, "dualfl": 26, "fedslr": 87}


@pytest.mark.parametrize("paper", PAPERS)
def test_what_a_ledger_checks_is_what_a_second_reader_read(paper: str) -> None:
    reading = read_second(paper)
    assert [told for tie in reading.ties if (told := compare_printed(tie, reading.rows))] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_is_tied_or_has_a_reason(paper: str) -> None:
    coverage = read_second(paper).coverage
    assert coverage.forgotten == ()
    assert coverage.tied >= TIED[paper]


@pytest.mark.parametrize("paper", TABLES)
def test_tables_have_the_numbers_that_were_read_a_second_time(paper: str) -> None:
    assert list_differences(paper) == []


def test_a_changed_number_of_a_table_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(afedpd_tables.SECONDS["LeNet"], "A-FedPDSAM", 13.91)
    monkeypatch.setitem(safari_tables.GAIN["MNIST"], 4, (None, None, 10.69, 31.08))
    monkeypatch.setitem(fedslr_tables.TABLE_3, 1e-5, (63.63, 819.44, 7.33, 81.89, 819.44))
    assert [told.partition(":")[0] for told in list_differences("afedpd")] == ["Table 6, row 1"]
    assert [told.partition(":")[0] for told in list_differences("safari")] == ["Table 2, row 3"]
    assert [told.partition(":")[0] for told in list_differences("fedslr")] == ["Table 3, row 1"]


def names_in(node: ast.AST) -> set[str]:
    loaded = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return loaded | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def defined_in(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def read_by_claims(ledger: Iterable[str]) -> set[str]:
    """Names that the claims of a ledger's modules, given as texts, reach by what they are made of."""
    made_of: dict[str, set[str]] = {}
    for text in ledger:
        for node in ast.parse(text).body:
            for name in defined_in(node) or {"CLAIMS"}:
                made_of.setdefault(name, set()).update(names_in(node))
    found, waiting = set[str](), ["CLAIMS"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += made_of.get(name, ())
    return found


def is_read(module: str, name: str, ledger: Mapping[str, str]) -> bool:
    """Whether a module's name is read where it is defined, or elsewhere in the ledger."""
    for own, text in ledger.items():
        nodes = list(ast.walk(ast.parse(text)))
        here = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        there = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr == name and names_in(n.value) == {module}]
        taken = [n for n in nodes if isinstance(n, ast.ImportFrom) and (n.module or "").endswith(f".{module}")]
        if (own == module and here) or there or any(alias.name == name for n in taken for alias in n.names):
            return True
    return False


def names_tied(text: str) -> set[tuple[str, str]]:
    """Modules of a ledger with their names that its ties read."""
    tree = ast.parse(text)
    modules = {a.asname or a.name: a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    return {
        (modules[n.value.id], n.attr)
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in modules
    }


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_compared_with_the_second_reading_is_read_by_claims(paper: str) -> None:
    """A formula that ties alone read is a second copy of what a claim says, and comparing it shows nothing."""
    texts = {path.stem: path.read_text() for path in (PAPER_CHECKS / paper).glob("*.py")}
    ties = texts.pop("transcribed")
    tied = {(module, name) for module, name in names_tied(ties) if module in texts}
    assert {name for _, name in tied} <= read_by_claims(texts.values())
    assert [(module, name) for module, name in sorted(tied) if not is_read(module, name, texts)] == []


def test_a_formula_that_no_claim_reads_is_seen() -> None:
    ledger = ['A = "x"\nB = "y"\nC = f"{B}"', "CLAIMS = [claim(A)]"]
    assert read_by_claims(ledger) >= {"A"}
    assert not read_by_claims(ledger) & {"B", "C"}
    assert names_tied("from paper import theorems as t\nTIES = (Printed(t.A), Printed(t.C))") == {
        ("theorems", "A"),
        ("theorems", "C"),
    }
    assert [is_read("one", "STEPS", {"one": "STEPS = 1", "two": text}) for text in ("one.STEPS", "STEPS")] == [
        True,
        False,
    ]


def ties_of(paper: str, row: str) -> list[tuple[Printed, Any]]:
    reading = read_second(paper)
    return [(tie, reading.rows) for tie in reading.ties if tie.row.startswith(row)]


MUTANTS = {
    "fedpd": (
        Mutant("half of C_5", fedpd.paper_constants, "8 * c2", "4 * c2", ("T3, constant C_5",)),
        Mutant("C_7 of 3 C_6", fedpd.paper_constants, "2 * c6", "3 * c6", ("T1, constant C_7",)),
        Mutant("2 + u in C(p)", fedpd.coefficient, "(3 + u)", "(2 + u)", ("T3, rhs, (12)", "R5, definition C_p")),
        Mutant("C_3 with 2 u", fedpd.eigenvalue, "(1 + u) + u)", "(1 + u) + 2 * u)", ("T3, constant C_3",)),
        Mutant("eps, not 3 G^2", section_4_2_b_remark_5.cost_allowed, "3 * G**2", "G**2", ("R5, condition C_p",)),
        Mutant("2 - 2u in (46)", lemma_1.change_by_x, "eta - 1)", "eta - 2)", ("L1, rhs eq46,",)),
        Mutant("eps/(4L) in (24)", lemma_4.below_level, "(2 * L)", "(4 * L)", ("L4, rhs,",)),
        Mutant("2 + u in (22)", lemma_2.first_row, "(3 + u)", "(2 + u)", ("L2, rhs component1,",)),
        Mutant("steps of 1/2", oracle_two.step_limit, "1 / (3 *", "1 / (2 *", ("T2, condition eta",)),
        Mutant("L for L^2", supplement_g_oracle_2.error_allowed, "L**2", "L", ("L10s",)),
        Mutant("gamma dropped", section_3_fedpd.inner_step, "- eta * gamma *", "- eta *", ("EQ4, recursion x",)),
    ),
    "afedpd": (
        Mutant("rho/2 in (8)", afedpd_notation.numerator_of_8, "rho * gap", "rho / 2 * gap", ("T1, rhs,",)),
        Mutant("(8) without R_0", afedpd_notation.numerator_of_8, "+ first", "+ 0 * first", ("T1, rhs,",)),
        Mutant("4 for 8 in (14)", afedpd_lemmas.right_of_14, "8 * L**2", "4 * L**2", ("L2, rhs, Lemma 2, Eq. (14)",)),
        Mutant("2 for 4 in (11)", afedpd_theorem_2.bound_11, "4 *", "2 *", ("T2, rhs (also)",)),
        Mutant("one G", afedpd_notation.allowed_apart, "2 * eta * K * G", "eta * K * G", ("L6, rhs,",)),
        Mutant("2/(eta K)", afedpd_notation.condition_on_x, "1 / k", "2 / k", ("G-REC, condition, App. B.3.2, quad",)),
        Mutant("beta - 2", afedpd_recursion.left_of_combination, "(beta - 1)", "(beta - 2)", ("G-REC, lhs, App. B.3.2, linear",)),
        Mutant("32 for 36", afedpd_proof.range_of_rho, "36", "32", ("Q-RANGE, condition (also 3)",)),
        Mutant("tau_0 without G", afedpd_theorem_2.log_balance, "(g - h", "(-h", ("G-DEC, constant tau_0",)),
        Mutant("P theta", afedpd_rounds.mean_dual_step, "P * theta", "theta", ("S1, recursion, App. B.3.2",)),
    ),
    "safari": (
        Mutant("1/(1 - beta)", safari.exponent, "1 / (2", "1 / (1", ("T3, rhs, Theorem 3", "T2c, rhs, Sec. 3.2: to")),
        Mutant("A with d^2", safari.complexity, "d / n * log(n / d) +", "d**2 / n * log(n / d) +", ("L1, definition A(m,delta) (",)),
        Mutant("2 L in (63)", perturbed_below, "zx2 * L", "zx2 * 2 * L", ("T5c, rhs, text after (65)",)),
    ),
    "dualfl": (
        Mutant("(n + 1)^3", bounds.steps_of_8, "4 + gamma", "3 + gamma", ("T3.4, rhs, Thm 3.4, first",)),
        Mutant("2 t^2 in (5)", notation.printed_t, "4 * t**2", "2 * t**2", ("T-SEQ, recursion t_{n+1}",)),
        Mutant("t for t - 1 in (5)", momentum.inertia, "(t - 1)", "t", ("T-SEQ, recursion beta_n",)),
        Mutant("L R_0 in (15)", bounds.rounds_of_15, "1 + 2 * L", "1 + L", ("T4.3b, rhs, (15), explicit",)),
    ),
    "fedslr": (
        Mutant("the root of C_5", fedslr.c5_of, "2 - 4", "1 - 4", ("T2c, constant C5",)),
        Mutant("the exponent of (13)", fedslr.bound_13, "4 * theta", "2 * theta", ("T2c, rhs, eq (13)",)),
        Mutant("C_2 with L", fedslr.c2, "p.L / 2", "p.L", ("N1, constant C2",)),
        Mutant("C_6 with L + 2", fedslr.c6, "(L + 1)", "(L + 2)", ("T3, constant C6",)),
        Mutant("C_7 less a square", fedslr.c7, "(half + 1)", "half", ("T3-100, constant C7",)),
        Mutant("2 L eta in (31)", drift_allowed, "(L * eta)", "(2 * L * eta)", ("L1, rhs, Lemma 1",)),
    ),
}  # fmt: skip
ROWS = [
    pytest.param(paper, mutant, row, id=f"{paper}: {mutant.name} ({row})")
    for paper, mutants in MUTANTS.items()
    for mutant in mutants
    for row in mutant.killers
]


@pytest.mark.parametrize(("paper", "mutant", "row"), ROWS)
def test_a_changed_number_in_a_function_is_told(
    paper: str, mutant: Mutant, row: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_mutant(mutant, monkeypatch)
    found = [compare_printed(tie, rows) for tie, rows in ties_of(paper, f"{paper.upper()}-{row}")]
    assert found and all(found)


TEXTS = {
    "SAFARI-T4, rhs, Theorem 4 with": ("80*q", "40*q"),
    "SAFARI-T4, condition q, Theorem 4": ("4*sigma_G2", "sigma_G2"),
    "SAFARI-T5, rhs, Theorem 5": ("1 - etabar", "1 - 2*etabar"),
    "SAFARI-T5, condition q (other reading 2)": ("30*L", "15*L"),
    "SAFARI-T5e, rhs, eqs. (76)": ("15*eta_c", "30*eta_c"),
    "SAFARI-T4b, rhs, eqs. (35)": ("K*eta_c*sigma_G2", "eta_c*sigma_G2"),
    "SAFARI-T4c, condition eta_c": ("8*L", "4*L"),
    "FEDPD-L2, definition A12,": ("1-u", "1+u"),
    "FEDSLR-L3, condition, Lemma 3": ("2*L", "L"),
}


@pytest.mark.parametrize("row", TEXTS)
def test_a_changed_number_in_a_text_is_told(row: str) -> None:
    (tie, rows), *_ = ties_of(row.split("-", maxsplit=1)[0].lower(), row)
    assert isinstance(tie.formula, str)
    assert compare_printed(replace(tie, formula=tie.formula.replace(*TEXTS[row])), rows)

"""What stands on a page of a proof adds up: multipliers times inequalities, less squares, are the conclusion, in exact numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory import FedAvg, FunctionClass, GradientSteps
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.explain import opened
from fedtheory.claims.explain.document import Display, Document, Math, NumberedStep, PageTable
from fedtheory.claims.explain.markdown import write_markdown
from fedtheory.claims.explain.proofs import explain_proof, explain_verdict, make_page
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Bound
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs import prove
from fedtheory.proofs.checker.algebra import value_of
from fedtheory.proofs.checker.formulas import Sentence, read
from fedtheory.proofs.checker.proof_lines import ProofLine
from paper_checks.fedpd.z_ours_section_2 import reaches_the_minimiser
from tests.support.read_pages import Random, adds_up, evaluate, read_latex, sections
from tests.support.theorems import FEDAVG, GRADIENT_DESCENT, PROXIMAL_POINT, SCAFFNEW

ROUND = Bound(
    "fedavg",
    "lr = lr, steps = 1",
    region="0 < mu < L, 0 < lr <= 1/L, 0 < R",
    functions="L, mu",
    measure="squared_distance",
    radius="R",
    claimed="(1 - lr*mu)**2*R**2",
)


def of_theorem(theorem: Theorem) -> Document:
    """The page of a theorem with its proof."""
    proof = find_proof(theorem)
    assert not isinstance(proof, str)
    return make_page(theorem.name, explain_proof(proof.data, [theorem]))


def of_certificate() -> Document:
    """One round of FedAvg with two local steps, in numbers."""
    found = prove(FedAvg(GradientSteps(2, 0.5)), FunctionClass(L=1, mu=0.1, zeta=1), rounds=1)
    return make_page("certificate", explain_proof(found.data))


def of_bound() -> Document:
    """One round of FedAvg, for all parameters."""
    claim = state("ROUND", "a page", "Lemma 1", "A round contracts.", ROUND)
    return explain_verdict(judge_claim(claim, "mine.py", Context()), claim)


PAGES: dict[str, Callable[[], Document]] = {
    "a certificate of FedAvg's round": of_certificate,
    "FedAvg's round, for all parameters": of_bound,
    "FedAvg's floor": lambda: of_theorem(FEDAVG),
    "Scaffnew": lambda: of_theorem(SCAFFNEW),
    "gradient descent": lambda: of_theorem(GRADIENT_DESCENT),
    "proximal point": lambda: of_theorem(PROXIMAL_POINT),
}


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest) -> Document:
    return PAGES[request.param]()


def test_multipliers_times_inequalities_less_squares_are_the_conclusion(page: Document) -> None:
    derivations = list(sections(page))
    assert derivations and all(map(adds_up, derivations))


def test_a_changed_multiplier_weight_or_point_does_not_add_up(page: Document) -> None:
    changed = 0
    for blocks in sections(page):
        for k, block in enumerate(blocks):
            if isinstance(block, PageTable) and block.name.startswith(("multipliers", "hypotheses", "squares")):
                column = 0 if block.name == "squares" else 2
                for row in range(len(block.rows)):
                    mutated = [*blocks[:k], _longer(block, row, column), *blocks[k + 1 :]]
                    assert not adds_up(mutated), (block.name, row)
                    changed += 1
    assert changed >= 2


def _longer(table: PageTable, row: int, column: int) -> PageTable:
    """A number that is one per cent more."""
    rows = [list(cells) for cells in table.rows]
    (math,) = rows[row][column]
    assert isinstance(math, Math) and math.tree is not None
    rows[row][column] = (Math.of(ast.BinOp(read("101/100"), ast.Mult(), math.tree)),)
    return replace(table, rows=tuple(map(tuple, rows)))


def test_multipliers_that_are_printed_without_their_factor_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored multipliers are those of inequalities times 2 (L - mu), which the page's are not."""
    monkeypatch.setattr(opened.OpenDerivation, "multiplier", lambda self, name: self.number(self.multipliers[name]))
    (blocks,) = sections(of_bound())
    assert not adds_up(blocks)


def test_the_text_of_multipliers_and_weights_says_the_same_numbers(page: Document) -> None:
    known, seen = Random(frozenset(), 3), 0
    for block in page.blocks:
        if isinstance(block, PageTable) and block.name.startswith(("multipliers", "squares", "hypotheses")):
            for row in block.rows:
                (math,) = row[0] if block.name == "squares" else row[2]
                assert isinstance(math, Math) and math.tree is not None
                assert f"${math.latex}$" in write_markdown(page)
                if "_{" not in math.latex.replace("t_{", ""):  # D[t] is written as a name with an index
                    assert evaluate(read_latex(math.latex), known) == evaluate(math.tree, known)
                    seen += 1
    assert seen


# ---- lines ------------------------------------------------------------------------------------------------------------


def test_combinations_on_the_page_add_up() -> None:
    """Of each line that is a combination: multipliers times premises, with what is left, are the claim; read from the page's own steps."""
    page = of_theorem(SCAFFNEW)
    proof = find_proof(SCAFFNEW)
    assert not isinstance(proof, str)
    lines = {line.name: line.sentence for line in map(ProofLine.parse, proof.proved.lines)}
    (falls,) = (b for b in page.blocks if isinstance(b, NumberedStep) and b.name == "falls")
    rest = _gap(lines["falls"])
    premises = [ground for ground in falls.grounds if isinstance(ground[0], Math)]
    assert [str(ground[2]) for ground in premises] == ["(1) round", "(2) near", "(3) duals"]
    for factor, _, name in premises:
        rest = rest - value_of(factor.tree, SCAFFNEW.formulas) * _gap(lines[str(name).split()[1]])
    assert rest.zero and "nothing is left" in str(falls.grounds[-1][0])


def _gap(sentence: Sentence) -> Any:
    return value_of(sentence.right, SCAFFNEW.formulas) - value_of(sentence.left, SCAFFNEW.formulas)


def test_a_round_of_fedavg_has_its_multipliers_in_closed_form() -> None:
    (table,) = of_bound().tables["multipliers interpolation"]
    point = Random(frozenset(), 1, {"lr": Fraction(1, 3), "mu": Fraction(1, 2), "L": Fraction(1)})
    for row in table.rows:
        (math,) = row[2]
        assert isinstance(math, Math) and math.tree is not None
        assert evaluate(math.tree, point) == 2 * Fraction(1, 3) * (1 - Fraction(1, 6))
    assert "$2 \\text{lr} (1 - \\mu \\text{lr})$" in write_markdown(of_bound())


def test_scaffnews_theorem_is_told_line_by_line_for_every_t() -> None:
    page = of_theorem(SCAFFNEW)
    text = write_markdown(page)
    assert [b.name for b in page.blocks if isinstance(b, NumberedStep)] == ["round", "near", "duals", "falls", "done"]
    assert "X_{T} + H_{T} \\le \\rho^{T} (X_{0} + H_{0})" in text and "by induction on $T$" in text
    assert "method: scaffnew(lr, p)" in text and "one round later, with probability p" in text
    assert page.tables["signs"] and "interpolation inequality of smooth, strongly convex functions" in text


def test_the_forms_of_quantities_on_the_page_make_the_conclusion_of_the_line() -> None:
    """X[t+1] + H[t+1] - (1 - lr mu)^2 X[t] - (1 - p^2) H[t], with what the page says that they are."""
    proof = find_proof(SCAFFNEW)
    assert not isinstance(proof, str)
    line = ProofLine.parse(proof.proved.lines[0])
    first = next(sections(of_theorem(SCAFFNEW)))
    known = Random(frozenset({"bar_x", "tilde_x_i", "bar_g1", "tilde_g1_i"}), 5)
    (forms,) = (b for b in first if isinstance(b, PageTable) and b.name == "forms")
    for (quantity,), (form,) in forms.rows:
        known.numbers[ast.unparse(quantity.tree)] = np.sum(evaluate(form.tree, known) + np.zeros(3, dtype=object)) / 3
    (conclusion,) = (b.math for b in first if isinstance(b, Display) and b.name == "conclusion")
    left = evaluate(line.sentence.left, known) - evaluate(line.sentence.right, known)
    assert left == np.sum(evaluate(conclusion.tree, known)) / 3


def test_the_state_after_a_round_on_the_page_makes_the_quantities() -> None:
    """E X[t+1] over the two outcomes, from the vectors that the page lists."""
    first = next(sections(of_theorem(SCAFFNEW)))
    known = Random(frozenset({"bar_x", "tilde_x_i", "bar_g1", "tilde_g1_i"}), 6)
    tables = [b for b in first if isinstance(b, PageTable)]
    total, chances = Fraction(0), {"with probability p": "p", "with probability 1 - p": "1 - p"}
    for table in (t for t in tables if t.name == "state after"):
        chance = next(text for words, text in chances.items() if table.head[0].endswith(words))
        vectors = {row[0][0].latex: row[1][0].tree for row in table.rows}
        square = ast.Call(ast.Name("mean"), [ast.Call(ast.Name("norm2"), [vectors["x_{i}"]], [])], [])
        total = total + evaluate(read(chance), known) * evaluate(square, known)
    (forms,) = (t for t in tables if t.name == "forms")
    (form,) = (row[1][0] for row in forms.rows if row[0][0].latex == "X_{t + 1}")
    assert np.all(evaluate(form.tree, known) == total)


def test_states_with_vectors_that_no_line_needs_are_told() -> None:
    """FEDPD-D10: a line that all vectors leave."""
    assert "| of the state |" in write_markdown(of_theorem(reaches_the_minimiser()))

"""Pages as Markdown and LaTeX: what TeX would stop at is not written, and what cannot be explained is said."""

from __future__ import annotations

import copy
import re
from fractions import Fraction
from pathlib import Path

import pytest

from fedtheory import FedAvg, FunctionClass, GradientSteps
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import Claim, Fault
from fedtheory.claims.code_scanning import write_verdicts
from fedtheory.claims.context import Context
from fedtheory.claims.explain.document import (
    Display,
    Document,
    Figure,
    Heading,
    Math,
    NumberedStep,
    PageTable,
    Paragraph,
)
from fedtheory.claims.explain.finding import find_proofs
from fedtheory.claims.explain.latex import PROGRAMS, find_tex, write_latex_page, write_pdf
from fedtheory.claims.explain.markdown import write_markdown
from fedtheory.claims.explain.proofs import explain_proof, explain_verdict, join_pages, make_page
from fedtheory.claims.pages import as_html
from fedtheory.claims.parts import proved
from fedtheory.claims.report import describe_verdicts, list_evidence
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Contraction
from fedtheory.claims.statements.formula_texts import draw_signs, latex_name, latex_region
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import latex_quantity
from fedtheory.claims.statements.worlds import dot, norm2
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.proofs import prove
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.facts import compare
from fedtheory.proofs.regions.region import Region
from tests.support.theorems import EXAMPLES, GRADIENT_DESCENT, SCAFFNEW


def _page(theorem: Theorem) -> Document:
    proof = find_proof(theorem)
    assert not isinstance(proof, str)
    return make_page(theorem.name, explain_proof(proof.data, [theorem]))


@pytest.mark.parametrize("name", EXAMPLES)
def test_tex_finds_nothing_to_stop_at(name: str) -> None:
    """Braces are paired, no base has two indices or two exponents, and what is special in text is escaped."""
    text = write_latex_page(_page(EXAMPLES[name]))
    without_figures = re.sub(r"\\begin\{verbatim\}.*?\\end\{verbatim\}", "", text, flags=re.S)
    displayed = re.findall(r"\\\[\n(.*?)\n\\\]", without_figures)
    formulas = re.findall(r"\$(.*?)\$", without_figures) + displayed
    assert len(formulas) > 10
    for formula in formulas:
        assert formula.count("{") == formula.count("}") and "**" not in formula
        inner = formula
        while re.search(r"\{[^{}]*\}", inner):
            inner = re.sub(r"\{[^{}]*\}", "@", inner)
        assert not re.search(r"\^@?\S?\^|_@_", inner), formula
    words = re.sub(r"\\\[\n.*?\n\\\]", "", without_figures)
    words = re.sub(r"\$.*?\$", "", words)
    assert not re.search(r"(?<!\\)[_^#]", words)
    for environment in ("longtable", "itemize", "quote", "verbatim"):
        assert text.count(f"\\begin{{{environment}}}") == text.count(f"\\end{{{environment}}}")


def test_names_and_products_are_typeset_so_that_tex_reads_them_as_meant() -> None:
    assert [latex_name(n) for n in ("x_star", "g1_i", "tilde_g1_i", "lam", "lr", "hat_h_i")] == [
        *("x^*", "g_{1,i}", "\\tilde{g}_{1,i}", "\\lambda", "\\text{lr}", "\\hat{h}_{i}")
    ]
    assert Math.of(read("2*3*x**2")).latex == "2 \\cdot 3 x^{2}"  # 23 x^2 it is not
    assert Math.of(read("d2[t]**2 + (a**b)**c")).latex == "d_{2,t}^{2} + (a^{b})^{c}"
    assert latex_quantity("norm2(x - x_star)**2") == "(\\|x - x^*\\|^2)^{2}"
    assert latex_region(Region.parse("0 < mu < L, K in 1..4")) == "0 < \\mu, \\quad \\mu < L, \\quad K \\in [1, ..., 4]"


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("a + (-2)*b", "a - 2 * b"),
        ("(-a)*(-b)", "a * b"),
        ("a - (-b)/c", "a + b / c"),
        ("1*a*1 + (b)**1", "a + b"),
        ("(a + b)**(1/2)", "sqrt(a + b)"),
        ("-(a - b)", "-(a - b)"),
    ],
)
def test_signs_are_drawn_before_products(text: str, drawn: str) -> None:
    import ast

    assert ast.unparse(draw_signs(read(text))) == drawn


def test_what_is_special_in_markdown_is_escaped_and_bars_do_not_end_cells() -> None:
    row = ((Math.read("norm2(x)"),), ("a|b_c*",))
    page = Document(
        "a_b", (Heading("h*"), Paragraph(("x < y_i", Math.read("x_i"))), PageTable("t", ("a", "b"), (row,)))
    )
    assert write_markdown(page).splitlines() == [
        *("# a\\_b", "", "### h\\*", "", "x \\< y\\_i$x_{i}$", ""),
        *("| a | b |", "| --- | --- |", "| $\\Vert x\\Vert ^2$ | a\\|b\\_c\\* |"),
    ]


def test_a_table_whose_rows_are_of_another_length_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="does not have 2 cells"):
        PageTable("t", ("a", "b"), ((("one",),),))


def test_a_pdf_without_tex_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAvailable, match="apt install texlive"):
        write_pdf(Document("t", ()), tmp_path / "page.pdf")


def test_a_pdf_is_what_tex_makes_of_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for TeX that writes a PDF of the text, or an error."""
    program = tmp_path / PROGRAMS[0]
    program.write_text(
        "#!/bin/sh\n/bin/grep -q Scaffnew page.tex && /bin/cp page.tex page.pdf\n/bin/echo '! Undefined control sequence.'\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    write_pdf(_page(SCAFFNEW), tmp_path / "out.pdf")
    assert (tmp_path / "out.pdf").read_text().startswith("\\documentclass")
    with pytest.raises(Exception, match="made no PDF: ! Undefined control sequence"):
        write_pdf(Document("other", ()), tmp_path / "none.pdf")


_WIDE = " + ".join(f"a_{{{k}}}" for k in range(40))
_HUGE = "1234567890" * 30
_WIDE_BLOCKS = (
    Heading("The mean of ||kept^r - x_i_next||^2 & its bound", 1),
    Display(Math(f"0 < \\frac{{{_WIDE}}}{{2}}, \\quad \\sqrt{{{_WIDE}}} \\le 1")),
    Display(Math("\\mathbb{E} V_{t+1} \\le V_{t}")),
    PageTable("t", ("a", "value"), ((("0",), (Math(f"\\frac{{{_HUGE}}}{{{_HUGE}}}"),)),)),
    NumberedStep(1, "one_step", Math(f"x \\le \\frac{{{_WIDE}}}{{3}}"), (("right side less left side is 1/4",),)),
    Figure("-" * 120),
)


def test_tex_sets_pages(tmp_path: Path) -> None:
    """A theorem's page, and one with words with two indices, and a fraction, a root, a number and a figure that are wider than a line."""
    try:
        find_tex()
    except NotAvailable as error:
        pytest.skip(str(error))
    for page in (_page(SCAFFNEW), Document("100 % of {x} ~ _y_", _WIDE_BLOCKS)):
        write_pdf(page, tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_a_line_that_is_wide_can_be_broken() -> None:
    """No fraction, root or number that is wider than a line, or than a cell, is left whole."""
    text = write_latex_page(Document("t", _WIDE_BLOCKS))
    assert "\\frac" not in text and "\\sqrt" not in text and "{\\scriptsize" in text
    assert not re.search(r"\d{13}", text)


# ---- what is explained, and what is not ----------------------------------------------------------------------------------


def test_a_term_without_its_theorem_is_explained_and_says_what_was_not_seen() -> None:
    proof = find_proof(GRADIENT_DESCENT)
    assert not isinstance(proof, str)
    text = write_markdown(make_page("alone", explain_proof(proof.data)))
    assert "The method's rounds were not at hand" in text and "**(1)** step" in text
    assert "not at hand" not in write_markdown(_page(GRADIENT_DESCENT))


def test_a_certificate_whose_method_cannot_be_made_anew_is_explained_and_says_so() -> None:
    """A function of the step size cannot be held by a file; a bound that the multipliers do not prove is refused all the same."""
    halves = FedAvg(GradientSteps(1, lambda r, q: Fraction(1, 2)))
    data = dict(prove(halves, FunctionClass(L=1, mu=Fraction(1, 10)), rounds=1).data)
    text = write_markdown(make_page("a function", explain_proof(data)))
    assert "the method cannot be made from the certificate" in text and "multiplier" in text
    with pytest.raises(Refused, match="the multipliers prove"):
        list(explain_proof(data | {"bound": "1/100"}))


def test_a_changed_derivation_is_refused_and_not_explained() -> None:
    proof = find_proof(GRADIENT_DESCENT)
    assert not isinstance(proof, str)
    data = copy.deepcopy(dict(proof.data))
    system = data["derivations"]["step"][0]["system"]
    name = next(iter(system["multipliers"]))
    system["multipliers"][name] = "7/3"
    with pytest.raises(Refused):
        list(explain_proof(data, [GRADIENT_DESCENT]))


def test_a_verdict_without_a_proof_object_has_nothing_to_explain() -> None:
    false = Theorem("0 < x", "x <= 1", "done: claim by combine", name="false")
    claim = state("FALSE", "a page", "(1)", "x is at most one.", false)
    with pytest.raises(NotAvailable, match="no part of its check has"):
        explain_verdict(judge_claim(claim, "mine.py", Context()), claim)


def test_a_lemmas_vectors_have_the_names_of_its_text() -> None:
    def descent(world, p, c):
        f = world.function(p.L, -p.L)
        y = world.vector("y")
        gx, fx = world.at(f, y * 0, "slope")
        _, fy = world.at(f, y, "gradient there")
        return fy - fx - dot(gx, y) - norm2(y) * (c.c * p.L / 2)

    claim = state("LEMMA", "a page", "(1)", "The descent lemma.", Lemma("descent", "(1)", "0 < L", descent, {"c": 1}))
    page = explain_verdict(judge_claim(claim, "mine.py", Context()), claim)
    (points,) = page.tables["evaluations"]
    assert [row[2][0].latex for row in points.rows] == ["0", "y"]
    assert "interpolation inequality of smooth functions" in write_markdown(page)


def test_pages_are_joined_with_notation_once() -> None:
    one = _page(SCAFFNEW)
    both = join_pages("both", [one, one])
    assert write_markdown(both).count("Of vectors") == write_markdown(one).count("Of vectors") == 1
    assert sum(isinstance(b, NumberedStep) for b in both.blocks) == 2 * sum(
        isinstance(b, NumberedStep) for b in one.blocks
    )
    assert len([b for b in both.blocks if isinstance(b, Display)]) == 2 * len(
        [b for b in one.blocks if isinstance(b, Display)]
    )


def test_verdicts_say_how_their_proofs_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    claim = state("GD-1", "a page", "Theorem 1", "The gap falls.", GRADIENT_DESCENT)
    console = Console(width=200)
    console.print(describe_verdicts([judge_claim(claim, "mine.py", Context())]))
    assert "fedtheory explain GD-1" in capsys.readouterr().out


def test_a_gradient_that_is_called_like_its_function_has_another_name() -> None:
    def falls(world, p, c):
        f = world.function(name="R")
        s = world.vector("s")
        _, here = world.at(f, s * 0, "R")
        _, there = world.at(f, -s * p.eta, "R+", g=s)
        return there - here + norm2(s) * p.eta * c.c

    claim = state(
        "STEP", "a page", "(1)", "A proximal step.", Lemma("proximal step", "(1)", "0 < eta", falls, {"c": 1})
    )
    page = explain_verdict(judge_claim(claim, "mine.py", Context()), claim)
    (points,) = page.tables["evaluations"]
    assert [[cell[0].latex for cell in row[1:4]] for row in points.rows] == [
        ["R", "0", "g_{0}"],
        ["R", "-\\eta s", "s"],
    ]
    assert "subgradient inequality" in write_markdown(page)


def test_a_part_about_the_corrected_statement_says_so() -> None:
    over = {"region": "0 < mu < L, 0 < lr <= 1/L", "functions": "L, mu", "potential": {"x": 1}}
    false, true = (Contraction("gd", "lr", claimed=f"(1 - lr*mu)**{k}", **over) for k in (3, 2))
    claim = state("FIXED", "a page", "(1)", "The cube.", false, repaired=true, repaired_text="The square.")
    verdict = judge_claim(claim, "mine.py", Context())
    text = write_markdown(explain_verdict(verdict, claim))
    assert verdict.status == "repaired" and "This is about the corrected statement." in text
    printed, corrected = text.index("As it is printed:"), text.index("Corrected:")
    assert (
        printed
        < text.index("(1 - \\text{lr} \\mu)^{3} V_{t}")
        < corrected
        < text.index("(1 - \\text{lr} \\mu)^{2} V_{t}")
    )


def test_a_derivation_stands_under_the_lemma_that_it_states() -> None:
    """Of two lemmas with as many vectors and points the page of the second shows the second."""

    def above(world, p, c):
        f, y = world.function(p.L, -p.L), world.vector("y")
        gx, fx = world.at(f, y * 0, "slope")
        _, fy = world.at(f, y, "there")
        return fy - fx - dot(gx, y) - norm2(y) * (c.c * p.L / 2)

    def below(world, p, c):
        f, y = world.function(p.L, -p.L), world.vector("y")
        gx, fx = world.at(f, y * 0, "slope")
        _, fy = world.at(f, y, "there")
        return fx + dot(gx, y) - norm2(y) * (c.c * p.L / 2) - fy

    lemmas = [Lemma(build.__name__, "(1)", "0 < L", build, {"c": 1}) for build in (above, below)]
    claims = [state(lemma.name, "a page", "(1)", "In words.", lemma) for lemma in lemmas]
    proofs = [next(find_proofs(judge_claim(claim, "mine.py", Context()).evidence)) for claim in claims]
    for proof, said in zip(proofs, ("f(y) \\le", "f(0) + \\langle"), strict=True):
        page = make_page("page", explain_proof(proof, lemmas))
        shown = next(b for b in page.blocks if isinstance(b, Display))
        assert shown.math.latex.startswith(said)


def test_an_argument_is_told_line_by_line_with_its_facts(tmp_path: Path) -> None:
    def check(context):
        grounds = [
            ("A third is below a half.", "fact 1"),
            ("So it is below one.", "fact 2; line 1"),
            "As was to be shown.",
        ]
        yield proved("a sum", compare(Fraction(1, 3), "<", Fraction(1, 2)) and compare(Fraction(1, 2), "<", 1), grounds)

    claim = Claim("ARG", "a page", "proof step", "(1)", "1/3 < 1.", check, (Fault("another number", "a sum", {}),))
    verdict = judge_claim(claim, "mine.py", Context())
    page = explain_verdict(verdict, claim)
    (lines,), (facts,) = page.tables["argument"], page.tables["facts"]
    assert [row[2][0] for row in lines.rows] == ["fact 1", "fact 2; line 1", "words"]
    assert [row[2][0].latex for row in facts.rows] == ["\\frac{1}{3} < \\frac{1}{2}", "\\frac{1}{2} < 1"]
    told = list_evidence(verdict)
    assert told[0] == "argued  a sum:" and "    (2) So it is below one. [fact 2; line 1]" in told
    assert "    fact 1, comparison: 1/3 < 1/2" in told and not any(line.startswith("holds") for line in told)
    html = as_html([verdict], "t")
    assert '<span class="o">argued</span>' in html and '<ol class="argument"><li>A third is below a half.' in html
    part = verdict.evidence[0]
    assert part["argued"] and part["proof"]["argument"][0] == {"line": "A third is below a half.", "ground": "fact 1"}
    assert [fact["what"] for fact in part["proof"]["facts"]] == ["1/3 < 1/2", "1/2 < 1"]
    write_verdicts(tmp_path / "found.sarif", [verdict], {"ARG": "mine.py"})
    assert "argued in words: a sum" in (tmp_path / "found.sarif").read_text()


@pytest.mark.parametrize(
    ("ground", "said"),
    [
        ("fact 2", "rests on fact 2, and there are 1 facts"),
        ("line 1", "rests on line 1, and there are 0 lines before it"),
        ("lemma 3", "is no ground of the line"),
    ],
)
def test_a_ground_that_is_not_there_is_an_error(ground: str, said: str) -> None:
    def check(context):
        yield proved("a sum", compare(Fraction(1, 3), "<", Fraction(1, 2)), [("It is so.", ground)])

    claim = Claim("ARG", "a page", "proof step", "(1)", "1/3 < 1/2.", check, (Fault("a lie", "a sum", {}),))
    verdict = judge_claim(claim, "mine.py", Context())
    assert verdict.mistaken and said in str(verdict.error)

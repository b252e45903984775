"""``explain``: claims, files and certificates as pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedtheory.claims.checking import judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.report import as_json
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.command_line.main import main
from tests.support.theorems import GRADIENT_DESCENT

FILE = """
from fedtheory.claims import MethodStates, Theorem, state

gap = Theorem(
    region="0 < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu = 0"),
    rounds={"t": 0},
    quantities={"gap": "f(x) - f(x_star)"},
    claim="0 <= gap[t]",
    proof="done: claim by derivation",
)
CLAIMS = [state("MINE-1", "my paper", "Theorem 1", "Gaps are not negative.", gap)]
"""


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["explain", *arguments])
    return done.exit_code, done.output


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    claim = state("GD-1", "a page", "Theorem 1", "The gap falls.", GRADIENT_DESCENT)
    file = tmp_path / "verdicts.json"
    file.write_text(as_json([judge_claim(claim, "mine.py", Context())]))
    return file


def test_claims_of_a_file_are_judged_and_explained(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "page.md"
    file.write_text(FILE)
    assert run(str(file), "--out", str(out), "--workers", "1")[0] == 0
    text = out.read_text()
    assert text.startswith("# MINE-1: proved") and "$$ 0 \\le \\text{gap}_{t}" in text and "multiplier" in text


def test_verdicts_and_terms_in_files_are_explained_in_both_languages(verdicts: Path, tmp_path: Path) -> None:
    code, text = run(str(verdicts), "--to", "latex")
    assert code == 0 and text.startswith("\\documentclass") and "GD-1: proved" in text
    proof = find_proof(GRADIENT_DESCENT)
    assert not isinstance(proof, str)
    term = tmp_path / "term.json"
    term.write_text(json.dumps(proof.data))
    code, text = run(str(term))
    assert code == 0 and "**(4)** done" in text


def test_a_proof_that_its_checker_refuses_is_an_error(tmp_path: Path) -> None:
    proof = find_proof(GRADIENT_DESCENT)
    assert not isinstance(proof, str)
    data = json.loads(json.dumps(proof.data))
    data["lines"][-1] = data["lines"][-1].replace("/(2*N)", "/(3*N)")
    data["claims"] = [data["claims"][0].replace("/(2*N)", "/(3*N)")]
    file = tmp_path / "term.json"
    file.write_text(json.dumps(data))
    code, text = run(str(file))
    assert code == 1 and "a proof is refused" in text and "**(1)**" not in text


def test_a_pdf_without_tex_is_refused_before_anything_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("fedtheory.command_line.explain.judge_targets", lambda *arguments: pytest.fail("it was judged"))
    code, text = run("FEDSLR-N5", "--to", "pdf", "--out", str(tmp_path / "page.pdf"))
    assert code == 2 and "apt install texlive" in text


def test_what_holds_no_proof_and_a_pdf_without_a_file_are_errors(tmp_path: Path, verdicts: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text(json.dumps({"verdicts": []}))
    code, text = run(str(file))
    assert code == 2 and "no derivation, no certificate and no proof term" in text
    code, text = run(str(verdicts), "--to", "pdf")
    assert code == 2 and "--out" in text
    file.write_text(
        json.dumps({"verdicts": [{"id": "X", "evidence": json.loads(verdicts.read_text())["verdicts"][0]["evidence"]}]})
    )
    code, text = run(str(file))
    assert code == 2 and "no verdict" in text

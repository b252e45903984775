"""Derivations, certificates and theorems for every round as theorems that Rocq accepts; and wrong ones, which it refuses."""

from __future__ import annotations

import copy
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fedtheory.claims.statements.theorems.proving import ProvedTheorem, prove_theorem
from fedtheory.claims.statements.theorems.rocq.exporting import write_theorem_for_rocq
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.proofs.checker.derivations import Reader
from fedtheory.proofs.checker.ranges import CheckedRegion
from fedtheory.proofs.rocq import compiling, derivations
from fedtheory.proofs.rocq.compiling import check_theorem, read_axioms
from fedtheory.proofs.rocq.folders import write_folder
from fedtheory.proofs.rocq.objects import find_objects, make_theorem, name_theorems
from tests.support.rocq import ask, needs_rocq
from tests.support.theorems import CONVERGES, EXAMPLES, FEDAVG, GRADIENT_DESCENT, PROXIMAL_POINT, SCAFFNEW

#: a step of gradient descent with 0 < eta < 1/L falls: f(x - eta g) <= f(x) - eta/2 |g|^2, as a derivation
FALLS: dict[str, Any] = {
    "format": "fedtheory derivation 1",
    "parameters": [
        {"name": "L", "low": "0", "high": None, "low closed": False, "high closed": False},
        {"name": "eta", "low": "0", "high": ["1", {"0": -1}], "low closed": False, "high closed": True},
    ],
    "factors": [[["1", [1, 0]]], [["1", [0, 1]]], [["1", [0, 0]], ["-1", [1, 1]]]],
    "mean": 2,
    "deviation": 0,
    "functions": {
        "f": {
            "L": ["1", {"0": 1}],
            "mu": ["-1", {"0": 1}],
            "evaluations": [
                {"x": {"S": {}, "Q": {}}, "g": {"S": {"0": "1"}, "Q": {}}, "f": {"0": "1"}},
                {"x": {"S": {"0": ["-1", {"1": 1}]}, "Q": {}}, "g": {"S": {"1": "1"}, "Q": {}}, "f": {"1": "1"}},
            ],
        }
    },
    "hypotheses": {},
    "conclusion": {"S": {"0,0": ["1/2", {"1": 1}]}, "Q": {}, "f": {"1": "1", "0": "-1"}, "1": "0"},
    "multipliers": {"f 0 1": ["1/4", {"0": -1}]},
    "constant": "0",
    "pivots": {
        "S": [
            {"pivot": ["1/4", {"0": -1}], "row": {"0": ["1", {"2": 1}], "1": "-1"}},
            {"pivot": ["1/2", {"1": 1, "2": 1}], "row": {"0": "1"}},
        ],
        "Q": [],
    },
}
#: for mu = 0: |x - x_star|^2 <= 4 bounds f(x) - f(x_star) by L/2 times it, L = 1, as a certificate with numbers
CERTIFICATE: dict[str, Any] = {
    "format": "fedtheory certificate 2",
    "question": {},
    "L": "1",
    "mu": "0",
    "shared": False,
    "evaluations": [
        {"x": {"S": {}, "Q": {}}, "g": {"S": {}, "Q": {"0": "1"}}, "f": {"0": "1"}},
        {"x": {"S": {"0": "1"}, "Q": {}}, "g": {"S": {"1": "1"}, "Q": {"1": "1"}}, "f": {"1": "1"}},
    ],
    "clients": None,
    "mean": 2,
    "deviation": 2,
    "functions": {},
    "hypotheses": {"radius": {"S": {"0,0": "1"}, "Q": {}, "f": {}, "1": "-4"}},
    "equations": {},
    "objectives": [{"form": {"S": {}, "Q": {}, "f": {"1": "1", "0": "-1"}, "1": "0"}, "weight": "1"}],
    "multipliers": {"radius": "1/2", "interpolation 0 1": "1"},
    "bound": "2",
}


@pytest.fixture(scope="module")
def proofs() -> dict[str, ProvedTheorem]:
    """The examples that are about listed methods, with their terms."""
    return {t.name: prove_theorem(t) for t in (GRADIENT_DESCENT, CONVERGES, SCAFFNEW, FEDAVG)}


# ---- what is written, without Rocq ----------------------------------------------------------------------------------------


def test_a_derivation_is_a_statement_about_vectors_and_textbook_classes() -> None:
    """Names, region, class and conclusion stand in it; the proof is elsewhere."""
    files = make_theorem(FALLS, "falls", "a step falls").files()
    assert "in_class L (- L) f f_grad" in files["Statement.v"] and "eta <= 1 / L" in files["Statement.v"]
    assert "f_grad ((- eta) *: m0)%V = m1" in files["Statement.v"] and "Proof." not in files["Statement.v"]
    assert "Theorem proof : statement." in files["Proof.v"]
    assert (
        "Definition proved : falls.Statement.statement := falls.Proof.proof.\nPrint Assumptions proved."
        in files["Axioms.v"]
    )


def test_a_theorem_says_the_methods_round_and_the_claim_as_it_was_typed(proofs: dict[str, ProvedTheorem]) -> None:
    """The round is a definition in the state's fields, coins are expectations."""
    files = write_theorem_for_rocq(proofs[SCAFFNEW.name], "scaffnew").files()
    said = files["Statement.v"]
    assert "State (mean x_i - lr *: mean g1)%V (fun i => x_i i + lr *: h_i i - lr *: g1 i)%V (fun i => h_i i)%V" in said
    assert "X T + H T <= (Rmax ((1 - lr * mu) ^ 2) (1 - p ^ 2)) ^ T * (X 0%nat + H 0%nat)" in said
    assert "[(p, (round_1 lr p f_grad)); (1 - p, (round_2 lr f_grad))]" in said


def test_the_guide_shows_the_theorem_as_it_is_written(proofs: dict[str, ProvedTheorem]) -> None:
    """Every sentence of its block, apart from line breaks."""
    guide = (Path(__file__).parents[3] / "docs" / "proofs.md").read_text()
    block = next(text for text in guide.split("```") if "Record state" in text).removeprefix("text")
    said = " ".join(write_theorem_for_rocq(proofs[SCAFFNEW.name], "scaffnew").files()["Statement.v"].split())
    for sentence in block.split(".\n"):
        shown = " ".join(sentence.split()).replace("forall T : nat, (0", "(forall T : nat, (0")
        assert shown in said, shown


def test_a_folder_has_core_project_and_page(tmp_path: Path) -> None:
    """Everything that Rocq needs is in it, and nothing twice."""
    theorems, left = name_theorems("MINE-1'", [FALLS, CERTIFICATE], "text with (* a comment")
    write_folder(theorems, tmp_path)
    project = (tmp_path / "_CoqProject").read_text().split()
    assert left == [] and [t.name for t in theorems] == ["MINE_1__1", "MINE_1__2"]
    assert all((tmp_path / word).exists() for word in project if word.endswith(".v"))
    assert "coq_makefile" in (tmp_path / "README.md").read_text()


def test_proof_objects_are_found_in_evidence_once() -> None:
    """Wherever they stand in it."""
    assert find_objects([{"data": {"derivations": [FALLS, {"x": CERTIFICATE}]}}, copy.deepcopy(FALLS)]) == [
        FALLS,
        CERTIFICATE,
    ]


def test_what_the_checker_refuses_is_not_written() -> None:
    """A wrong multiplier is refused before Rocq sees it."""
    wrong = copy.deepcopy(FALLS)
    wrong["multipliers"]["f 0 1"] = ["1/5", {"0": -1}]
    with pytest.raises(InvalidInput, match="falls is no proof"):
        make_theorem(wrong, "falls")
    with pytest.raises(NotAvailable, match="clients share"):
        make_theorem({**CERTIFICATE, "shared": True}, "shared")


def test_without_rocq_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the package."""
    monkeypatch.setattr(compiling, "find_compiler", lambda: None)
    with pytest.raises(NotAvailable, match="apt install coq"):
        compiling.require_compiler()


def test_axioms_are_read_from_what_rocq_prints() -> None:
    """Their names alone, also where the type begins on the next line."""
    said = "Axioms:\nClassical_Prop.classic : forall P : Prop, P \\/ ~ P\nMine.false\n  : forall x : R,\n    x = 0\n"
    assert read_axioms(said) == ("Classical_Prop.classic", "Mine.false")
    assert read_axioms("Closed under the global context") == ()


# ---- accepted ---------------------------------------------------------------------------------------------------------------


@needs_rocq
@pytest.mark.parametrize("data", [FALLS, CERTIFICATE], ids=["derivation", "certificate"])
def test_rocq_accepts_proof_objects(data: dict[str, Any], kept: Path) -> None:
    """Without a hand."""
    assert ask(make_theorem(data, "accepted"), kept) == ""


@needs_rocq
@pytest.mark.parametrize("name", [t for t in EXAMPLES if t != PROXIMAL_POINT.name])
def test_rocq_accepts_theorems_for_every_round(name: str, proofs: dict[str, ProvedTheorem], kept: Path) -> None:
    """The method's own round, textbook classes, every number of clients, every dimension."""
    assert ask(write_theorem_for_rocq(proofs[name], "accepted"), kept) == ""


# ---- refused ----------------------------------------------------------------------------------------------------------------


def _trust(data: dict[str, Any]) -> CheckedRegion:
    """A region of a derivation that nobody checked."""
    reader = Reader(len(data["factors"]))
    factors = [{tuple(powers): Fraction(value) for value, powers in terms} for terms in data["factors"]]
    return CheckedRegion(tuple(map(reader.range, data["parameters"])), factors)


def _change_multiplier(data: dict[str, Any]) -> None:
    data["multipliers"]["f 0 1"] = ["26/100", {"0": -1}]


def _strengthen(data: dict[str, Any]) -> None:
    data["conclusion"]["S"]["0,0"] = ["101/200", {"1": 1}]


def _widen(data: dict[str, Any]) -> None:
    data["parameters"][1]["high"] = ["2", {"0": -1}]


def _forget_class(data: dict[str, Any]) -> None:
    data["functions"]["f"]["L"] = ["2", {"0": 1}]


def _move_point(data: dict[str, Any]) -> None:
    data["functions"]["f"]["evaluations"][1]["x"]["S"]["0"] = ["-2", {"1": 1}]


@needs_rocq
@pytest.mark.parametrize("change", [_change_multiplier, _strengthen, _widen, _forget_class, _move_point])
def test_rocq_refuses_a_wrong_derivation(change: Any, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python's checker is not asked: a multiplier, a constant 1 % too strong, a wider region, another class, another step."""
    monkeypatch.setattr(derivations, "recheck_derivation", _trust)
    wrong = copy.deepcopy(FALLS)
    change(wrong)
    said = ask(make_theorem(wrong, "refused"), kept)
    assert "Unable to unify" in said or "Error" in said


@needs_rocq
def test_rocq_refuses_a_certificate_without_its_hypothesis(kept: Path) -> None:
    """Its radius dropped from statement and proof."""
    theorem = make_theorem(CERTIFICATE, "refused")
    premise = "norm2 m0 - 4 <= 0 ->\n  "
    assert premise in theorem.statement
    without = replace(
        theorem,
        statement=theorem.statement.replace(premise, ""),
        proof=theorem.proof.replace(" A0.", ".").replace("(conj A0 I)", "I"),
    )
    assert "Error" in ask(without, kept)


@needs_rocq
def test_rocq_refuses_the_proof_of_another_method(proofs: dict[str, ProvedTheorem], kept: Path) -> None:
    """Gradient descent with the step 3/L and the multipliers for 1/L."""
    proof = proofs[GRADIENT_DESCENT.name]
    other = replace(proof.theorem, states=MethodStates("gd", "lr = 3/L", "L, mu = 0"))
    assert "Error" in ask(write_theorem_for_rocq(replace(proof, theorem=other), "refused"), kept)


@needs_rocq
def test_rocq_refuses_a_claim_that_is_one_percent_too_strong(proofs: dict[str, ProvedTheorem], kept: Path) -> None:
    """In statement and lines alike."""
    theorem = write_theorem_for_rocq(proofs[GRADIENT_DESCENT.name], "refused")
    old, new = "L * dist2 0%nat / (2 * INR N)", "99 / 100 * L * dist2 0%nat / (2 * INR N)"
    assert old in theorem.statement and old in theorem.proof
    wrong = replace(theorem, statement=theorem.statement.replace(old, new), proof=theorem.proof.replace(old, new))
    assert "Error" in ask(wrong, kept)


@needs_rocq
def test_a_theorem_that_rests_on_an_axiom_of_its_own_is_refused(kept: Path) -> None:
    """Rocq accepts its proof; its axioms are not those that are allowed."""
    theorem = make_theorem(FALLS, "refused")
    cheat = replace(theorem, proof="Axiom granted : statement.\nTheorem proof : statement.\nProof. exact granted. Qed.")
    assert "granted" in ask(cheat, kept)


@needs_rocq
def test_an_answer_is_kept_by_digest(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again, no compiler runs; another text is another question (what was edited: tests/soundness/test_kept_verdicts.py)."""
    theorem = make_theorem(CERTIFICATE, "accepted")
    first = check_theorem(theorem, kept)
    monkeypatch.setattr(compiling, "_run", lambda *given: pytest.fail("the compiler was run again"))
    assert check_theorem(theorem, kept) == first
    assert first.accepted and replace(theorem, title="another").digest() != theorem.digest()


def test_a_file_has_so_much_of_a_processor(monkeypatch, tmp_path) -> None:
    """Whoever waits for a processor is not refused; whoever uses one too long is."""
    monkeypatch.setattr(compiling, "FILE_SECONDS", 1)
    monkeypatch.setattr(compiling, "WAITING", 600)  # on a machine with much other work
    asleep = compiling._run([sys.executable, "-c", "import time; time.sleep(1.5)"], tmp_path)
    code, said = compiling._run([sys.executable, "-c", "while True: pass"], tmp_path)
    assert code == 124 and "more than 1 s" in said
    if sys.platform == "linux":  # elsewhere the clock counts
        assert asleep == (0, "")

"""``export`` and ``check --kernel``: what is written, where, and what is said without Rocq."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from fedtheory.claims import kernel
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import Claim
from fedtheory.claims.context import Context
from fedtheory.claims.kernel import ask_kernel, describe_kernel, read_theorems, summarise_kernel, write_theorems
from fedtheory.claims.report import as_json
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.verdict import Verdict
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.rocq import compiling
from fedtheory.proofs.rocq.compiling import RocqAnswer
from tests.support.theorems import GRADIENT_DESCENT


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    """One theorem that is written whole, and one of which a line's derivation is, as its gradients have noise."""
    noisy = Theorem(
        region="0 < mu < L, 0 < lr <= 1/L, 0 < sigma, n in 2..",
        states=MethodStates("fedavg", "lr, steps = 1, batch = 1", "L, mu, sigma", clients="n"),
        assumed={"noise": "E mean_i ||xi_i||^2 <= sigma^2"},
        rounds={"t": 0},
        quantities={"d": "norm2(x - x_star)"},
        claim="d[t+1] <= (1 - lr*mu)**2*d[t] + lr**2*sigma**2/n",
        proof="done: claim by derivation",
    )
    made = [state(f"MINE-{k}", "mine", "T", "text", t) for k, t in enumerate((GRADIENT_DESCENT, noisy), 1)]
    return {claim.id: claim for claim in made}


@pytest.fixture(scope="module")
def verdicts(claims: dict[str, Claim]) -> dict[str, Verdict]:
    """Both proved."""
    return {id: judge_claim(claim, "mine.py", Context()) for id, claim in claims.items()}


def test_a_theorem_is_written_whole_and_another_one_by_its_pieces(claims, verdicts) -> None:
    whole = write_theorems(verdicts["MINE-1"], claims["MINE-1"])
    assert [t.name for t in whole.theorems] == ["MINE_1_theorem"] and not whole.left
    pieces = write_theorems(verdicts["MINE-2"], claims["MINE-2"])
    assert [t.name for t in pieces.theorems] == ["MINE_2"] and "assumed" in pieces.left[0]


def test_an_error_while_a_theorem_is_written_is_told_and_its_pieces_are_written(claims, verdicts, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.claims.kernel.OwnStatement.write", lambda own: {}["a leaf"])
    found = write_theorems(verdicts["MINE-1"], claims["MINE-1"])
    assert found.theorems and found.left == ["MINE_1_theorem: an error: KeyError: 'a leaf'"]


def test_theorems_inside_of_steps_are_written_whole(claims, verdicts) -> None:
    """Those that a term proves, one after the other; their derivations are not written once more."""
    part = next(part["name"] for part in verdicts["MINE-1"].evidence if part.get("proves"))
    steps = [SimpleNamespace(name=name, statement=GRADIENT_DESCENT) for name in (part, "another, which is not proved")]
    claim = replace(claims["MINE-1"], check=partial(print, steps=(SimpleNamespace(name="words"), *steps)))
    written = write_theorems(verdicts["MINE-1"], claim)
    assert [(t.name, t.title) for t in written.theorems] == [("MINE_1_theorem_1", f"MINE-1, {part}: text")]


def test_verdicts_as_json_are_exported_without_their_claims(verdicts, tmp_path: Path) -> None:
    file, out = tmp_path / "verdicts.json", tmp_path / "out"
    file.write_text(as_json(list(verdicts.values())))
    done = CliRunner().invoke(main, ["export", str(file), "--to", "rocq", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert (
        "3 theorems" in done.output
        and (out / "MINE_2" / "Statement.v").exists()
        and (out / "core" / "Classes.v").exists()
    )


def test_a_file_without_proofs_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text(json.dumps({"verdicts": []}))
    with pytest.raises(InvalidInput, match="no derivation and no certificate"):
        read_theorems(file)
    done = CliRunner().invoke(main, ["export", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2 and not (tmp_path / "out").exists()


def test_check_says_at_once_that_rocq_is_missing(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiling, "find_compiler", lambda: None)
    done = CliRunner().invoke(main, ["check", "FEDSLR-N5", "--kernel"])
    assert done.exit_code == 2 and "apt install coq" in done.output


def test_verdicts_carry_what_rocq_says(claims, verdicts, monkeypatch) -> None:
    """Accepted and refused, with version, date and axioms; without it, how to ask."""

    def answers(theorems):
        for theorem in theorems:
            good = theorem.name.endswith("theorem")
            yield RocqAnswer(
                *(theorem.name, good, "8.16.1", "2030-01-01", ("Classical_Prop.classic",), 1.0),
                said="" if good else "Error: no",
            )

    monkeypatch.setattr(kernel, "check_together", answers)
    monkeypatch.setattr(kernel, "compile_core", lambda: None)
    before = list(verdicts.values())
    assert "not check here" in describe_kernel(before[0]) and "apt install coq" in describe_kernel(before[0])
    assert summarise_kernel(before) == ""
    first, other = ask_kernel(before, claims=claims)
    assert describe_kernel(first) == (
        "checked by Rocq 8.16.1 on 2030-01-01: 1 theorem of the statement, whole; axioms: classic"
    )
    assert "MINE_2 refused: Error: no" in describe_kernel(other)
    assert "MINE_2_theorem: a theorem with assumed on a listed method" in describe_kernel(other)
    assert summarise_kernel([first, other]).startswith(
        "1 of 2 claims have a theorem that Rocq 8.16.1 accepts: 1 their own statement, whole, and 0 a part"
    )
    told = json.loads(as_json([first, other]))["kernel"]
    assert told["whole"] == ["MINE-1"] and told["refused"] == ["MINE_2"] and len(told["unwritten"]) == 1
    assert replace(first, kernel=[]) == before[0]

"""Proofs that were found before are proposals: what was edited, or proves something else, is not believed, and another proof is looked for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedtheory.claims.statements import lemma as lemmas
from fedtheory.claims.statements.lemma import Lemma, prove_lemma, verify_lemma
from fedtheory.claims.statements.worlds import dot, norm2
from fedtheory.proofs.parameters import judge
from fedtheory.tools.kept_proofs import OWN, keep, read_kept


def descent(world, p, c):
    """A step of gradient descent lowers f by (eta - L eta^2/2) ||g||^2."""
    f, x = world.function(p.L, -p.L), world.vector("x")
    g, fx = world.at(f, x, "g")
    _, fy = world.at(f, x - g * p.eta, "h")
    return fy - fx + norm2(g) * (p.eta - c.c * p.L * p.eta**2 / 2) + dot(g, g) * 0


def lemma(c: int = 1) -> Lemma:
    return Lemma("descent", "s", "0 < L, 0 < eta < 2/L", descent, {"c": c})


@pytest.fixture
def kept() -> list[Path]:
    """The proofs that are kept in an empty folder once the lemma was proved."""
    lemmas._prove_lemma.cache_clear()
    assert prove_lemma(lemma()).word == "proved for all parameters"
    lemmas._prove_lemma.cache_clear()
    return sorted(OWN.iterdir())


def test_a_proof_that_is_kept_is_read_and_checked(kept: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "search_multipliers", lambda *arguments: pytest.fail("it was searched for again"))
    assert len(kept) == 1
    outcome = prove_lemma(lemma())
    assert outcome.word == "proved for all parameters"
    assert verify_lemma(lemma(), outcome) is None
    assert outcome.multipliers[0]


def _edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(gzip.decompress(path.read_bytes()))
    change(data)
    path.write_bytes(gzip.compress(json.dumps(data).encode()))


EDITS: dict[str, Callable[[dict[str, Any]], None]] = {
    "a multiplier": lambda data: data["multipliers"].update(dict.fromkeys(data["multipliers"], "7")),
    "the statement": lambda data: data["conclusion"].update({"1": "-1"}),
    "no pivots": lambda data: data.pop("pivots"),
    "the region": lambda data: data["parameters"][0].update(low="1"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_proof_that_was_edited_is_not_believed(name: str, kept: list[Path]) -> None:
    _edit(kept[0], EDITS[name])
    outcome = prove_lemma(lemma())
    assert outcome.word == "proved for all parameters"
    assert "kept" not in outcome.log


@pytest.mark.parametrize("content", [b"", b"nothing", gzip.compress(b"[1, 2", mtime=0), gzip.compress(b"3", mtime=0)])
def test_what_cannot_be_read_is_passed_over(content: bytes, kept: list[Path]) -> None:
    kept[0].write_bytes(content)
    assert prove_lemma(lemma()).word == "proved for all parameters"


def test_the_proof_of_another_statement_is_no_proof(kept: list[Path]) -> None:
    """With 2 in the place of 1/2 the lemma says less, and has a name of its own."""
    assert "kept" not in prove_lemma(lemma(4)).log


def test_nothing_is_read_where_nothing_is_asked_for(kept: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDTHEORY_PROOFS", "none")
    assert "kept" not in prove_lemma(lemma()).log


def test_what_is_kept_comes_back() -> None:
    keep("name", {"a": [1, "b"]})
    assert list(read_kept("name")) == [{"a": [1, "b"]}]
    assert list(read_kept("other")) == []

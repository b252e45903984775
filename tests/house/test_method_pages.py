"""The pages of the methods: one for each, from its docstring, its ledgers' verdicts and its mistakes; kept steps are those that are found today."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from fedtheory.algorithms import ALGORITHMS, listed
from fedtheory.algorithms.mistakes import find_mistakes

ROOT = Path(__file__).resolve().parents[2]
PAGES = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "method_pages.py")))
KEPT = json.loads((ROOT / "docs" / "largest_steps.json").read_text())
EXPECTED = {
    row["id"]: row["status"] for row in json.loads((ROOT / "paper_checks" / "expected.json").read_text())["verdicts"]
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return {path.stem: path.read_text() for path in PAGES.write_pages(tmp_path_factory.mktemp("methods"))}


def test_every_method_has_a_page_of_what_is_known_of_it(pages):
    assert list(pages) == [entry.name for entry in ALGORITHMS]
    for entry in ALGORITHMS:
        assert PAGES.read_round(entry.kind) in pages[entry.name] and "Parameters\n" not in pages[entry.name]
        shown = [mistake.name for mistake in find_mistakes(entry, {}) if not mistake.silent]
        assert pages[entry.name].count("\n- ") >= len(shown)
    assert "y_i^{q+1} = y_i^q - lr (g_i(y_i^q) - c_i + c)" in pages["scaffold"]
    assert "no 1/K in the control update" in pages["scaffold"]
    assert "`notebooks/why_fedavg_diverges.ipynb`" in pages["fedavg"]


def test_verdicts_stand_under_their_headings(pages):
    text = pages["fedpd"]
    false = text[text.index("## What is false in print") :]
    named = [line.split("**")[1] for line in text.splitlines() if line.startswith("- **")]
    assert len(named) > 20 and len(set(named)) == len(named)
    for claim in named:
        assert f"*{EXPECTED[claim]}*" in text
        assert (f"**{claim}**" in false.split("\n## ")[0]) == (EXPECTED[claim] in ("refuted", "repaired"))


def test_names_are_found_as_papers_write_them():
    assert PAGES.names_method(listed("fedpd"), "Fed-PD converges") and PAGES.names_method(
        listed("scaffold"), "SCAFFOLD is"
    )
    assert not PAGES.names_method(listed("fedpd"), "A-FedPD converges") and not PAGES.names_method(
        listed("local"), "local steps"
    )
    assert PAGES.names_method(listed("a-fedpd"), "A-FedPD converges")


def test_kept_steps_are_those_that_are_found_today():
    assert set(KEPT) <= {
        entry.name for entry in ALGORITHMS
    }  # one that is new has a page that says that it was not asked
    for name in ("gd", "fedpd", "dual-ascent", "agd"):
        assert PAGES.measure(listed(name)) == KEPT[name], "run python docs/method_pages.py --measure"

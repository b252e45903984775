"""The pages of the methods: one for each, from its docstring, its ledgers' verdicts and its mistakes; kept steps are those that are found today."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fedtheory import GradientSteps, run
from fedtheory.algorithms import ALGORITHMS, FedVARP, listed
from fedtheory.algorithms.mistakes import find_mistakes
from fedtheory.core.participation import All, Uniform
from problems.quadratics import scalar_quadratics

ROOT = Path(__file__).resolve().parents[2]
PAGES = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "method_pages.py")))
KEPT = json.loads((ROOT / "docs" / "largest_steps.json").read_text())
CURVES = json.loads((ROOT / "docs" / "rate_curves.json").read_text())
EXPECTED = {
    row["id"]: row["status"] for row in json.loads((ROOT / "paper_checks" / "expected.json").read_text())["verdicts"]
}
WORDS = ("proved", "supported", "refuted", "not reproduced", "argued", "empty", "repaired", "new")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return {path.stem: path.read_text() for path in PAGES.write_pages(tmp_path_factory.mktemp("methods"))}


def test_every_method_has_a_page_of_what_is_known_of_it(pages):
    assert list(pages) == [entry.name for entry in ALGORITHMS]
    for entry in ALGORITHMS:
        assert PAGES.read_round(entry.kind) in pages[entry.name] and "Parameters\n" not in pages[entry.name]
        known = pages[entry.name].split("## Known mistakes\n")[1].split("\n## ")[0]
        shown = [mistake for mistake in find_mistakes(entry, {}) if not mistake.silent]
        assert known.count("\n- ") == len(shown) and all(PAGES._plain(mistake.name) in known for mistake in shown)
    assert "y_i^{q+1} = y_i^q - lr (g_i(y_i^q) - c_i + c)" in pages["scaffold"]
    assert "no 1/K in the control update" in pages["scaffold"]
    assert "`notebooks/why_fedavg_diverges.ipynb`" in pages["fedavg"]


def test_verdicts_stand_under_their_headings(pages):
    text = pages["fedpd"]
    false = text[text.index("## Claims that name it: false in print") :]
    named = [line.split("**")[1] for line in text.splitlines() if line.startswith("- **")]
    assert len(named) > 20 and len(set(named)) == len(named)
    for claim in named:
        assert f"*{EXPECTED[claim]}*" in text
        assert (f"**{claim}**" in false.split("\n## ")[0]) == (EXPECTED[claim] in ("refuted", "repaired"))


def test_every_verdict_stands_somewhere():
    """Also one that has no heading of its own; a claim without a stored verdict is left out."""
    claims = [(word, SimpleNamespace(id=word, source="S", statement="FedPD converges", repaired="")) for word in WORDS]
    lines = list(PAGES._claims(listed("fedpd"), claims, {word: word for word in WORDS if word != "new"}))
    assert [line.split("**")[1] for line in lines if line.startswith("- ")] == [
        *("proved", "argued"),
        *("refuted", "repaired"),
        *("supported", "not reproduced", "empty"),
    ]


def test_steps_of_methods_with_absent_clients_are_those_of_all(pages):
    """FedVARP with one of four equal clients a round diverges just below the step that is certified with everyone."""
    for name in ("fedvarp", "fedavg"):
        assert "functions, with all clients in every round, `lr` = 1.999 is proved to converge" in pages[name]
    assert "all clients in every round, `" not in pages["gd"]
    f, x0 = scalar_quadratics([1.0] * 4, [1.0, -1.0, 2.0, 0.0]), np.ones(1)
    all_clients, one = (
        run(FedVARP(GradientSteps(1, 1.99)), f, x0, 200, participation=who)["stationarity"][-1]
        for who in (All(), Uniform(1))
    )
    assert all_clients < 0.1 and one > 1e10


def test_methods_that_settle_elsewhere_have_a_step_with_a_floor(pages):
    """FedAvg converges with one local step, and comes to a floor with eight; FedProx with them below 2/(L + rho) = 1."""
    assert (
        "With 8 local steps (`--local-steps 8`) `lr` = 1.999 is proved to come linearly to a floor" in pages["fedavg"]
    )
    assert "`lr` = 0.999 is proved to come linearly to a floor" in pages["fedprox"]
    assert "C zeta" in pages["fednova"] and "floor" not in pages["scaffold"].split("## Rate curve")[0]


def test_a_page_without_a_certified_step_says_why_in_words_for_its_reader(pages):
    for name in ("pfedme", "agd", "ditto", "ef21", "fedrep"):
        (said,) = re.findall(r"^No step is certified over .*", pages[name], re.MULTILINE)
        assert "engine" not in said and "potential" not in said and said.endswith(".")
    assert (
        "`fedtheory worst-case pfedme --rounds 5 --zeta 1`" in pages["pfedme"]
        and "there is `ef21-any`" in pages["ef21"]
    )
    assert not [name for name, page in pages.items() if "Fraction(" in page or "the worst-case engine" in page]


def test_rates_on_a_page_are_those_that_are_found_today_and_that_theory_says(pages):
    """Of gradient descent: max(1 - lr mu, lr L - 1)^2; SCAFFOLD with one local step is gradient descent."""
    found = PAGES.measure_curves(listed("gd"), KEPT["gd"])
    assert found == CURVES["gd"], "run python docs/method_pages.py --curves"
    for lr, rate in found[0]["points"]:
        assert max(1 - 0.1 * lr, lr - 1) ** 2 <= rate <= max(1 - 0.1 * lr, lr - 1) ** 2 + 3e-5
    assert CURVES["scaffold"][0]["points"] == found[0]["points"] and CURVES["scaffold"][1]["local_steps"] == 8
    assert "| `lr`, 8 local steps | 0.125 |" in pages["scaffold"] and pages["scaffold"].count("<polyline") == 2
    assert "## Rate curve" not in pages["fedprox"] and {*CURVES} <= {entry.name for entry in ALGORITHMS}


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

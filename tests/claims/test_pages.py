"""The pages of verdicts, also in a browser: all claims at a glance, filters, no error, no overflow, light and dark."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from browser import ask_page
from claim_files import GOOD, TROUBLED

from fedtheory.claims.checking import run_checks
from fedtheory.claims.code_scanning import write_verdicts
from fedtheory.claims.context import Context
from fedtheory.claims.pages import as_html, write_referee_pages
from fedtheory.claims.publication import Publication
from fedtheory.claims.referee import SECTIONS
from fedtheory.claims.references import find_papers, find_publication, select
from fedtheory.claims.report import as_json
from fedtheory.claims.words import VERDICT_WORDS
from fedtheory.core.errors import InvalidInput

ROOT = Path(__file__).resolve().parents[2]
LONG = "||grad f(x_t)||^2 <= " + " + ".join(f"(eta_{k} L)^{k}/(2 N_{k})" for k in range(40))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    files = [folder / "good.py", folder / "troubled.py"]
    for file, text in zip(files, (GOOD, TROUBLED), strict=True):
        file.write_text(text)
    found = list(run_checks(select([str(file) for file in files]), Context()))
    wide = {"title": LONG, "columns": [f"column {k}" for k in range(40)], "rows": [["+0.123 +- 0.01"] * 40]}
    drawn = next(v for v in found if v.picture is not None)
    curve = {**drawn.picture["series"][0], "label": LONG}
    told = {"role": "printed", "sentence": LONG, "formula": LONG, "rounds": [LONG]}
    extreme = {"statement": LONG, "told": [told], "tables": [wide], "picture": {**drawn.picture, "series": [curve]}}
    return [*found, replace(drawn, id="TOY-WIDE", paper="wide", **extreme)]


@pytest.fixture(scope="module")
def page(verdicts) -> str:
    return as_html(verdicts, "A <title>")


def test_the_page_is_self_contained_and_escaped(verdicts, page) -> None:
    assert "A &lt;title&gt;" in page and "<b>more</b>" not in page and "&lt;b&gt;more&lt;/b&gt;" in page
    assert page.count('<svg class="chart"') == sum(v.picture is not None for v in verdicts) > 1
    assert "http" not in page and " src=" not in page and "@import" not in page and "url(" not in page
    for verdict in verdicts:
        assert page.count(f'id="{verdict.id}"') == 1 and page.count(f'href="#{verdict.id}"') == 1
    assert "one over nothing" in page and "ZeroDivisionError" in page


def test_every_word_has_a_section_a_sign_and_a_meaning(verdicts, page) -> None:
    assert set(SECTIONS) == set(VERDICT_WORDS)
    assert len({word.glyph for word in VERDICT_WORDS.values()}) == len(VERDICT_WORDS), "told apart without colour"
    assert all(word.meaning.replace("'", "&#39;") in page for word in VERDICT_WORDS.values())


def test_a_claim_tells_its_faults_commands_and_file(verdicts) -> None:
    false = next(v for v in verdicts if v.id == "TOY-FALSE")
    page = as_html([false], "t", sources={"TOY-FALSE": "a b.py"})
    assert false.faults and all(name in page for name in false.faults)
    assert "fedtheory replay counterexamples/TOY-FALSE.json &#39;a b.py&#39;" in page
    assert 'href="counterexamples/TOY-FALSE.json"' in page and re.search(r"\d+/\d+ \u2248 \d", page)


def planted(outcome: str) -> dict[str, str]:
    return {"fault": f"a fault that was {outcome}", "outcome": outcome, "detail": LONG}


def test_a_claim_tells_whether_its_faults_were_caught(verdicts) -> None:
    found = next(v for v in verdicts if v.id == "TOY-RATE")
    page = as_html([found], "t")
    assert "They were not run here; <code>fedtheory check --selftest TOY-RATE</code> runs them." in page
    page = as_html([replace(found, planted=[planted(word) for word in ("caught", "missed", "not run")])], "t")
    assert "Caught: 1 of 2; not run: 1." in page and "not run here" not in page
    assert "planted faults caught: 1 of 2; missed by TOY-RATE; not run: 1." in page
    for word, style in (("caught", "holds"), ("missed", "fails"), ("not run", "undecided")):
        shown = f'<li class="{style}"><b>a fault that was {word}</b> <span class="o">{word}</span>'
        assert shown in page


SHOWN_FAULTS = """
for (const details of document.querySelectorAll("details")) details.open = true;
const listed = [...document.querySelectorAll("ul.faults li")], ink = (item) => getComputedStyle(item.querySelector(".o"));
const look = (item) => `${ink(item).color} ${ink(item).fontStyle}`;
return [listed.length, new Set(listed.map(look)).size, listed.every((item) => item.checkVisibility()), document.documentElement.scrollWidth];
"""


def test_outcomes_of_faults_are_told_apart_in_a_browser(verdicts, tmp_path) -> None:
    outcomes = [planted(word) for word in ("caught", "missed", "not run")]
    page = as_html([replace(verdicts[0], planted=outcomes)], "t")
    assert ask_page(page, SHOWN_FAULTS, tmp_path, width=390) == [3, 3, True, 390]


def test_pages_of_papers_and_the_index_are_of_one_design(verdicts, tmp_path) -> None:
    *papers, index = write_referee_pages(verdicts, tmp_path, tmp_path / "kept", {v.id: "m" for v in verdicts})
    style = re.search(r"<style>.*?</style>", index.read_text(), flags=re.DOTALL)[0]
    assert all(style in path.read_text() for path in papers)
    links = re.findall(r'href="([^"#]+)(?:#([^"]+))?"', index.read_text())
    assert {name for name, _ in links} == {path.name for path in papers}
    for name, anchor in links:
        assert not anchor or f'id="{anchor}"' in (tmp_path / name).read_text(), f"{name}#{anchor}"
    files = [file for path in papers for file in re.findall(r'href="(kept/[^"]+)"', path.read_text())]
    assert sorted(files) == ["kept/TOY-FALSE.json", "kept/TOY-REPAIRED.json"]


FILTERED = """
const form = document.getElementById("filters"), seen = {};
const shown = () => [...document.querySelectorAll("details.claim")].filter((c) => c.checkVisibility()).map((c) => c.dataset.c).sort();
const ask = (name, value) => {
  form.elements[name].value = value;
  form.dispatchEvent(new Event("input"));
  const found = [shown(), document.querySelectorAll("a.c:not(.out)").length, form.querySelector("output").textContent];
  form.reset();
  form.dispatchEvent(new Event("input"));
  return found;
};
seen.all = shown();
seen.word = ask("word", "refuted");
seen.kind = ask("kind", "ordering");
seen.paper = ask("paper", "wide");
seen.text = ask("text", "toy-RATE");
seen.none = ask("text", "no such words here");
form.querySelector("button").click();
seen.opened = [...document.querySelectorAll("details.claim")].every((claim) => claim.open);
return seen;
"""


def test_filters_and_search(verdicts, page, tmp_path) -> None:
    seen = ask_page(page, FILTERED, tmp_path)
    everything = sorted(v.id for v in verdicts)
    assert seen["all"] == everything and seen["opened"]
    wanted = {
        "word": [v.id for v in verdicts if v.ran and v.status == "refuted"],
        "kind": [v.id for v in verdicts if v.kind == "ordering"],
        "paper": ["TOY-WIDE"],
        "text": ["TOY-RATE"],
        "none": [],
    }
    for name, ids in wanted.items():
        assert seen[name] == [sorted(ids), len(ids), f"{len(ids)} of {len(verdicts)} claims"], name


ADDRESSED = """
const form = document.getElementById("filters"), shown = () => document.querySelectorAll("details.claim:not([hidden])").length;
const choose = (name, value) => { form.elements[name].value = value; form.elements[name].dispatchEvent(new Event("input", { bubbles: true })); };
const settled = () => new Promise((done) => setTimeout(done, 200));
choose("word", "refuted");
const address = location.search, some = shown();
const counts = [...document.querySelectorAll("section.word:not([hidden]) [data-count]")].map((c) => +c.textContent);
choose("kind", "ordering");
history.back();
await settled();
const before = [form.elements.word.value, form.elements.kind.value, shown()];
history.back();
await settled();
return { address, some, counts: counts.reduce((a, b) => a + b, 0), before, all: shown() };
"""


def test_filters_stand_in_the_address_and_the_way_back_undoes_them(verdicts, page, tmp_path) -> None:
    refuted = [v for v in verdicts if v.ran and v.status == "refuted"]
    seen = ask_page(page, ADDRESSED, tmp_path)
    assert seen["address"] == "?word=refuted" and seen["some"] == seen["counts"] == len(refuted)
    assert seen["before"] == ["refuted", "", len(refuted)] and seen["all"] == len(verdicts)


PRINTED = """
const first = document.querySelector("details.claim");
first.open = true;
document.querySelector("main").insertAdjacentHTML("afterbegin", `<math><mi>${"wide".repeat(100)}</mi></math>`);
const math = document.querySelector("main math"), widths = [math.getBoundingClientRect().width];
dispatchEvent(new Event("beforeprint"));
widths.push(math.getBoundingClientRect().width);
const open = [...document.querySelectorAll("details")].every((one) => one.open);
dispatchEvent(new Event("afterprint"));
widths.push(math.getBoundingClientRect().width);
return [open, [...document.querySelectorAll("details.claim")].filter((one) => one.open).length, widths];
"""


def test_printing_opens_what_is_closed_and_no_formula_is_wider_than_a_sheet(page, tmp_path) -> None:
    opened, after, (whole, printed, again) = ask_page(page, PRINTED, tmp_path)
    assert (opened, after) == (True, 1)
    assert printed < 700 < whole == again


KEYS = """
const order = [...document.querySelectorAll("a, select, input, button, summary")].filter((one) => one.checkVisibility());
const skip = order[0];
skip.focus();
const seen = skip.getBoundingClientRect().left >= 0;
return [skip.textContent, seen, document.querySelector(skip.getAttribute("href")) !== null, order.findIndex((one) => one.matches("#filters select")),
  order.findIndex((one) => one.matches("a.c"))];
"""


def test_the_keyboard_comes_to_the_claims_at_once_and_to_filters_before_cells(page, tmp_path) -> None:
    text, seen, there, filters, cells = ask_page(page, KEYS, tmp_path)
    assert text == "Skip to the claims" and seen and there and 0 < filters < cells


FOLLOWED = """
document.querySelector('a.c[data-c="TOY-FALSE"]').click();
await new Promise((done) => setTimeout(done, 300));
const claim = document.querySelector('details[data-c="TOY-FALSE"]'), top = claim.getBoundingClientRect().top;
return [claim.open, document.querySelectorAll("details.claim[open]").length, top >= 0 && top < innerHeight];
"""


def test_a_cell_leads_to_its_claim(page, tmp_path) -> None:
    assert ask_page(page, FOLLOWED, tmp_path) == [True, 1, True]


OPENED = """
for (const details of document.querySelectorAll("details")) details.open = true;
return [innerWidth, document.documentElement.scrollWidth];
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_overflows(page, tmp_path, width) -> None:
    assert ask_page(page, OPENED, tmp_path, width=width) == [width, width]


COLOURS = """
const body = () => getComputedStyle(document.body), light = (colour) => colour.match(/\\d+/g).reduce((a, b) => +a + +b, 0) / 765;
const told = () => [light(body().backgroundColor), light(body().color)];
const system = told(), select = document.querySelector("#theme select"), chosen = {};
for (const name of ["light", "dark"]) { select.value = name; select.dispatchEvent(new Event("change", {bubbles: true})); chosen[name] = told(); }
return { system, ...chosen };
"""


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_light_and_dark(page, tmp_path, scheme) -> None:
    """As the system asks for it (0 is dark in the browser's settings), and by the switch."""
    option = f"--blink-settings=preferredColorScheme={['dark', 'light'].index(scheme)}"
    seen = ask_page(page, COLOURS, tmp_path, options=(option,))
    assert seen["system"] == seen[scheme]
    assert seen["light"][0] > 0.9 and seen["light"][1] < 0.3, "paper and ink"
    assert seen["dark"][0] < 0.2 and seen["dark"][1] > 0.8


def test_claims_can_be_read_without_scripts(page) -> None:
    """What scripts do is hidden until they run; everything else is there without them."""
    assert '<form id="filters" hidden>' in page and '<label id="theme" hidden>' in page
    assert page.count("<script>") == 1 and page.index("<script>") > page.rindex("</details>")


def test_what_made_the_page_is_told(verdicts) -> None:
    kept = replace(verdicts[0], data={"mnist/images.gz": "0123456789abcdef" * 4}, setting="MNIST; a model")
    page = as_html([kept], "t")
    assert "mnist/images.gz <code>0123456789abcdef</code>" in page and "MNIST; a model" in page
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", page) and "numpy" in page


def test_a_page_says_which_text_its_claims_are_of(verdicts) -> None:
    text = Publication(
        "On <toys>", ("A. Author", "B. Author"), 2024, "arXiv:2401.00001v2", "A journal", "Without its appendix."
    )
    false = next(v for v in verdicts if v.id == "TOY-FALSE")
    page = as_html([false], "t", sources={"TOY-FALSE": "a.py"}, publications={"a.py": text})
    said = "A. Author, B. Author: On &lt;toys&gt;. A journal, 2024, arXiv:2401.00001v2. Without its appendix."
    assert f'<a href="https://arxiv.org/abs/2401.00001v2">{said}</a>' in page
    assert Publication("T", ("A",), 1999, "a shelf").link == ""
    assert "@article{author2024," in page and "author = {A. Author and B. Author}" in page and "#TOY-FALSE" in page
    with pytest.raises(InvalidInput, match="a tuple of authors"):
        Publication("T", "A. Author", 1999)  # type: ignore[arg-type]


def test_files_of_verdicts_say_which_text_they_are_of(verdicts, tmp_path) -> None:
    text = Publication("On toys", ("A. Author",), 2024, "doi:10.1/toys", "A journal")
    false = next(v for v in verdicts if v.id == "TOY-FALSE")
    (told,) = json.loads(as_json([false], {"a.py": text}))["papers"]
    assert told["claims"] == "a.py" and told["cited"] == str(text) and "  doi = {10.1/toys}" in told["bibtex"]
    write_verdicts(tmp_path / "found.sarif", [false], {"TOY-FALSE": "a.py"}, {"a.py": text})
    assert json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["properties"]["papers"] == [told]


def test_a_file_names_its_paper(tmp_path) -> None:
    file = tmp_path / "named.py"
    file.write_text(f"{GOOD}\nfrom fedtheory.claims import Publication\nPAPER = Publication('T', ('A',), 2024)\n")
    assert find_publication(str(file)) == Publication("T", ("A",), 2024)
    other = tmp_path / "other.py"
    other.write_text(f"{GOOD}\nPAPER = 'T'\n")
    assert find_publication(str(other)) is None, "a name alone says no text"


@pytest.mark.parametrize("name", sorted({*find_papers()} - {"literature"}))
def test_every_ledger_and_its_guide_name_the_paper(name) -> None:
    text = find_publication(find_papers()[name])
    assert text is not None and text.link and len(text.authors) > 1
    guide = (ROOT / "docs" / f"{name}.md").read_text()
    assert str(text) in guide.replace(f"[{text.identifier}]({text.link})", text.identifier)

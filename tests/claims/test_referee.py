"""A referee's page says of each statement what decided, on which instance, and how to see it again."""

from __future__ import annotations

import html
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from claim_files import GOOD, TROUBLED
from click.testing import CliRunner

from fedtheory.claims.checking import run_checks
from fedtheory.claims.context import Context
from fedtheory.claims.pages import write_referee_pages
from fedtheory.claims.referee import (
    LONGEST,
    SECTIONS,
    explain_undecided,
    find_deciding,
    group_readings,
    list_instance,
    name_page,
    name_paper,
    show_number,
    write_commands,
)
from fedtheory.claims.references import select
from fedtheory.command_line.main import main


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Verdicts of good and of troubled claims by id, and the folder of their pages."""
    folder = tmp_path_factory.mktemp("claims")
    files = []
    for name, text in (("good", GOOD), ("troubled", TROUBLED)):
        file = folder / f"{name}.py"
        file.write_text(text)
        files.append(str(file))
    references = select(files)
    verdicts = list(run_checks(references, Context()))
    sources = {r.id: r.source for r in references}
    written = write_referee_pages(verdicts, folder / "pages", folder / "counterexamples", sources)
    return {v.id: v for v in verdicts}, sources, written


def words_of(page: Path) -> str:
    """A page's text without its tags and styles."""
    text = re.sub(r"<(style|script)>.*?</\1>", "", page.read_text(), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_each_statement_stands_once_on_its_papers_page(pages) -> None:
    verdicts, _, written = pages
    assert {p.name for p in written} == {name_page(name_paper(v)) for v in verdicts.values()} | {"index.html"}
    text = "".join(p.read_text() for p in written[:-1])
    for id in verdicts:
        assert text.count(f'id="{id}"') == 1
    for page in written:
        assert "http" not in page.read_text() and " src=" not in page.read_text(), "self-contained"


def test_a_statement_stands_under_its_word_with_what_decided(pages) -> None:
    verdicts, _, written = pages
    page = next(p for p in written if p.name == name_page("toy"))
    page_text, text = page.read_text(), words_of(page)
    headings = ["refuted", "TOY-FALSE", "repaired", "TOY-REPAIRED", "argued", "TOY-PROVED", "reproduced", "TOY-ORDER"]
    headings = [heading if heading.isupper() else f"paper-toy-{heading}" for heading in headings]
    places = [page_text.index(f'id="{heading}"') for heading in headings]
    assert places == sorted(places)
    assert all(title in text for title in (SECTIONS["refuted"], SECTIONS["argued"], SECTIONS["supported"]))
    assert verdicts["TOY-REPAIRED"].status == "repaired"
    assert "Instead (supported): x ≤ 2 x 2" in text
    for verdict in verdicts.values():
        deciding = find_deciding(verdict)
        assert deciding or not verdict.ran, verdict.id
        assert all(part["role"] in ("printed", "repaired") for part in deciding), "readings decide nothing"
    assert all(part.get("refutes") for part in find_deciding(verdicts["TOY-FALSE"]))
    assert {part["role"] for part in find_deciding(verdicts["TOY-REPAIRED"])} == {"printed", "repaired"}


def test_the_commands_on_the_page_run(pages, tmp_path, monkeypatch) -> None:
    """As they are printed, from where the counterexamples were written."""
    verdicts, sources, _ = pages
    monkeypatch.chdir(tmp_path)
    source = sources["TOY-FALSE"]
    call = CliRunner().invoke
    made = call(main, ["check", source, "--referee", "pages", "--workers", "1"])
    assert made.exit_code == 0, made.output
    assert (tmp_path / "pages/counterexamples/TOY-FALSE.json").exists()
    commands = write_commands(verdicts["TOY-FALSE"], source, Path("pages/counterexamples"))
    shown = words_of(tmp_path / "pages" / name_page("toy"))
    assert len(commands) == 2 and all(command in shown for command in commands)
    for command in commands:
        name, *arguments = shlex.split(command)
        ran = call(main, arguments + (["--workers", "1"] if "check" in arguments else []))
        assert name == "fedtheory" and ran.exit_code == 0, ran.output


def test_papers_are_counted_on_the_index(pages) -> None:
    verdicts, _, written = pages
    text = words_of(written[-1])
    assert f"all {len(verdicts)}" in text
    for kind in {v.kind for v in verdicts.values()}:
        assert f"<td>{kind}</td>" in written[-1].read_text()
    papers = {name_paper(v) for v in verdicts.values()}
    for paper in papers:
        own = [v for v in verdicts.values() if name_paper(v) == paper]
        assert f"{paper} {len(own)}" in text and f'href="{name_page(paper)}"' in written[-1].read_text()


def test_names_of_pages_and_numbers_of_instances() -> None:
    assert name_page("Smith & Co., 2026/3") == "Smith-Co.-2026-3.html"
    instance = {"statement": "lemma", "data": '{"point": {"L": "3/20"}, "mean": [["0"], ["1"]], "deviation": []}'}
    assert list_instance(instance) == [("statement", "lemma"), ("point", {"L": "3/20"}), ("mean", [["0"], ["1"]])]
    assert show_number({"L": "3/20", "n": 4}) == "L = 3/20 \u2248 0.15, n = 4"
    assert show_number([["0"], ["-1/3"]]) == "((0), (-1/3 \u2248 -0.333333))"
    assert show_number("1" * LONGEST) == "1" * LONGEST
    assert show_number("1" + "0" * 400 + "/3") == "10000000\u20260000 (401 digits)/3 \u2248 3.33333e+399"


def test_readings_stand_under_what_they_are_about() -> None:
    readings = [
        "Read as an order.",
        "one step: would reject c from x 1.1",
        "Protocol: mean; seeds 1 to 3, fixed beforehand.",
    ]
    assert [heading for heading, _ in group_readings(readings)] == [
        "How sharp the check is",
        "Protocol",
        "How it was read",
    ]


def test_an_undecided_verdict_says_why(pages) -> None:
    verdicts, _, _ = pages
    proved = verdicts["TOY-PROVED"]
    assert explain_undecided(proved) == ""
    part = {"name": "the bound", "role": "printed", "holds": None, "engine": "numeric", "text": "too few points"}
    for holds, said in ((None, "is undecided"), (False, "no exact instance"), (True, "supports it too little")):
        open_one = replace(proved, status="inconclusive", evidence=[{**part, "holds": holds}])
        assert said in explain_undecided(open_one)

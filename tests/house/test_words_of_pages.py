"""Words about claims in the documentation are those of the verdicts that are stored: tables with a column "word", and the page of what failed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("dualfl", "fedpd", "fedslr", "a-fedpd", "safari", "literature")
PAPERS = "FEDPD|AFEDPD|DUALFL|FEDSLR|SAFARI|LIT"
STORED = json.loads((ROOT / "paper_checks" / "expected.json").read_text())["verdicts"]
REPAIRS = {v["id"]: v.get("repair") for v in STORED}
STATUS = {v["id"]: v["status"] for v in STORED}
WORDS = {id: f"{word} ({REPAIRS[id]})" if REPAIRS[id] else word for id, word in STATUS.items()}
OF_PAPERS = {id: word for id, word in STATUS.items() if not id.startswith("LIT-")}


def read_ids(text):
    """The claims that a text names: FEDSLR-T2c, then -T2d of the same paper, and ranges such as FEDSLR-L5 to -L7."""
    found, paper, last, place = [], None, None, 0
    for name in re.finditer(rf"(?:\b({PAPERS})-|(?<![\w/])-(?=[A-Z]))([A-Z][A-Za-z0-9.'-]*)", text):
        paper = name[1] or paper
        id = f"{paper}-{name[2].rstrip('.-')}"
        if text[place : name.start()] == " to " and last is not None:
            found += between(last, id)
        found.append(id)
        last, place = id, name.end()
    return found


def between(first, last):
    """The ids from one to another, which differ in a number or a letter at the end."""
    stem, a = re.fullmatch(r"(.*?)(\d+|[a-z])", first).groups()
    b = re.fullmatch(r"(.*?)(\d+|[a-z])", last)[2]
    if a.isdigit():
        return [f"{stem}{k}" for k in range(int(a) + 1, int(b))]
    return [f"{stem}{chr(k)}" for k in range(ord(a) + 1, ord(b))]


def list_words(page):
    """Each claim of a page's tables with a column "word", and what stands in it."""
    column = None
    for line in (ROOT / "docs" / f"{page}.md").read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            column = None
        elif cells[0] == "claim":
            column = next((k for k, cell in enumerate(cells) if cell.startswith("word")), None)
        elif column is not None and not set(cells[0]) <= {"-"}:
            for id in read_ids(cells[0]):
                yield id, cells[column]


@pytest.mark.parametrize("page", PAGES)
def test_words_in_tables_are_those_of_the_verdicts(page) -> None:
    found = list(list_words(page))
    wrong = [f"{id}: {said!r}, stored {WORDS.get(id)!r}" for id, said in found if not says(said, WORDS.get(id))]
    assert not wrong, "\n".join(wrong)
    assert len(found) >= 20
    assert all(count == 1 for count in Counter(id for id, _ in found).values()), "a claim stands in one table"


def says(said, word):
    return word is not None and re.match(rf"{re.escape(word)}(?=$|[,:;])", said) is not None


@pytest.mark.parametrize("page", PAGES)
def test_no_table_of_claims_has_words_that_are_not_compared(page) -> None:
    """A column "verdict" is for sizes that are not stored; it names the size above its table."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    for section in re.split(r"\n## ", text):
        if "| verdict |" in section:
            assert re.search(r"at (small|the paper's) size", section.splitlines()[0])


def test_what_failed_follows_every_claim_that_is_false_as_printed() -> None:
    text = (ROOT / "docs" / "what-failed.md").read_text()
    false = {id for id, status in STATUS.items() if status in ("refuted", "repaired")}
    assert set(read_ids(text)) == false


def test_what_failed_counts_them() -> None:
    text = (ROOT / "docs" / "what-failed.md").read_text()
    repaired = Counter(REPAIRS[id] for id, status in OF_PAPERS.items() if status == "repaired")
    refuted = sum(status == "refuted" for status in OF_PAPERS.values())
    total = sum(repaired.values())
    assert (
        f"Of the {len(OF_PAPERS)} claims that are checked, {total + refuted} are false as printed: {total} have" in text
    )
    counts = f"({repaired['proved']} of them proved, {repaired['argued']} argued, {repaired['supported']} supported)"
    assert f"{counts}, {refuted} have none" in text


def test_a_wrong_word_is_seen() -> None:
    assert read_ids("FEDSLR-L5 to -L7, -T1a, SAFARI-T4a to -T4c") == [
        *(f"FEDSLR-L{k}" for k in (5, 6, 7)),
        "FEDSLR-T1a",
        *(f"SAFARI-T4{k}" for k in "abc"),
    ]
    assert says("agrees in an analogue; at small size, too", "agrees in an analogue")
    assert not says("proved", "argued")
    assert not says("repaired", "repaired (argued)")

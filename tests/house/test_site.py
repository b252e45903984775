"""The site: pages that load nothing from elsewhere, whose links lead somewhere, that fit a telephone.

What needs a package or a browser is skipped without it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from browser import ask_page
from claim_files import GOOD, TROUBLED

from fedtheory.claims.checking import run_checks
from fedtheory.claims.context import Context
from fedtheory.claims.explain.proofs import read_verdicts
from fedtheory.claims.references import select
from fedtheory.claims.report import as_json
from fedtheory.tools.typesetting import typeset

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))
pytest.importorskip("jinja2")
import build_site  # noqa: E402
import check_links  # noqa: E402
import site_pages  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of toy verdicts, with one of a listed theorem; documentation and gallery are named and not built."""
    folder = tmp_path_factory.mktemp("site")
    files = [folder / "good.py", folder / "troubled.py"]
    for file, text in zip(files, (GOOD, TROUBLED), strict=True):
        file.write_text(text)
    found = list(run_checks(select([*map(str, files), "AFEDPD-S1", "AFEDPD-L4P"]), Context()))
    stored, out = folder / "verdicts.json", folder / "out"
    stored.write_text(as_json(found))
    verdicts = read_verdicts(stored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_pages, "KEPT", folder / "kept")
        patch.setattr(build_site, "ProcessPoolExecutor", _InThisProcess)
        out.mkdir()
        pages = build_site.write_theorem_pages([v for v in verdicts if site_pages.has_page(v)], out, 1)
        build_site.write_report(verdicts, out, pages)
        build_site.write_front(verdicts, out, pages, [])
        again = [site_pages.make_theorem_page(v) for v in verdicts if site_pages.has_page(v)]
    assert again == pages
    return out, verdicts, pages


class _InThisProcess:
    """Does at once what a pool would do."""

    def __init__(self, workers: int) -> None:
        assert workers == 1

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def map(self, function, things, chunksize):
        return map(function, things)


def test_links_within_what_was_built_lead_somewhere_and_nothing_is_loaded(site) -> None:
    out, _, _ = site
    later = ("documentation/", "notebooks/")
    broken = [
        line
        for line in check_links.find_broken(out)
        if not any(f": {up}{name}" in line for name in later for up in ("", "../"))
    ]
    assert broken == []
    for page in out.rglob("*.html"):
        text = page.read_text()
        assert not re.search(r'<(script|img|iframe|link)[^>]+(src|href)="(https?:)?//', text), page
        assert "@import" not in text, page


def test_a_theorem_has_its_proof_its_text_for_rocq_and_its_counterexample(site) -> None:
    out, verdicts, pages = site
    assert not [page.lost for page in pages if page.lost]
    proved = (out / "theorems" / "AFEDPD-S1.html").read_text()
    assert 'href="rocq/AFEDPD_S1' in proved and "<math" in proved
    assert all((out / "theorems" / href).exists() for href in re.findall(r'href="(rocq/[^"]+)"', proved))
    refuted = (out / "theorems" / "AFEDPD-L4P.html").read_text()
    assert 'href="../counterexamples/AFEDPD-L4P.json"' in refuted and "by a factor of 12.8" in refuted
    whole = (out / "verdicts.html").read_text()
    for page, root in (("verdicts.html", ""), ("papers/index.html", "../"), ("papers/a-fedpd.html", "../")):
        text = (out / page).read_text()
        assert text.count('<nav class="site"') == 1 and f'href="{root}index.html"' in text
        assert text.index('class="skip"') < text.index('<nav class="site"'), "the keyboard skips the links"
    assert 'href="theorems/AFEDPD-S1.html"' in whole
    assert {v.id for v in verdicts if v.counterexample} <= {page.id for page in pages}


def test_the_front_page_names_four_readers_and_a_command_each(site) -> None:
    out, verdicts, _ = site
    front = (out / "index.html").read_text()
    assert front.count("<li><h2>You") == 4
    assert [
        command in front
        for command in ("fedtheory check my_paper.py", "fedtheory explain", "fedtheory conform", "replay FILE --latex")
    ] == [True] * 4
    assert f"{len(verdicts)} statements" in front


WIDTHS = """
for (const details of document.querySelectorAll("details")) details.open = true;
const skip = document.querySelector("a.skip"), text = document.querySelector(skip.getAttribute("href"));
skip.focus();
return [innerWidth, document.documentElement.scrollWidth, document.activeElement === skip, text !== null];
"""


@pytest.mark.parametrize("page", ["index.html", "theorems/AFEDPD-S1.html", "theorems/index.html"])
def test_pages_fit_a_telephone_and_the_keyboard_skips_to_the_text(site, tmp_path, page) -> None:
    found = ask_page((site[0] / page).read_text(), WIDTHS, tmp_path, width=390)
    assert found == [390, 390, True, True]


PRINTED = """
const closed = [...document.querySelectorAll("details")].filter((one) => !one.open).length;
dispatchEvent(new Event("beforeprint"));
const open = [...document.querySelectorAll("details")].every((one) => one.open);
dispatchEvent(new Event("afterprint"));
return [closed > 0, open, [...document.querySelectorAll("details")].filter((one) => !one.open).length === closed];
"""


def test_printing_a_theorem_opens_its_text_for_rocq(site, tmp_path) -> None:
    assert ask_page((site[0] / "theorems" / "AFEDPD-S1.html").read_text(), PRINTED, tmp_path) == [True, True, True]


def test_a_notebook_becomes_a_page_with_pictures_and_formulas() -> None:
    pytest.importorskip("nbconvert", reason="the gallery is made by nbconvert, of the extra 'docs'")
    found = site_pages.convert_notebook(DOCS.parent / "notebooks" / "dual_drift.ipynb")
    assert found.question == "When do dual variables drift?"
    assert found.picture.startswith("data:image/png;base64,") and "<math>" in found.body
    assert "<script" not in found.body and not re.search(r'(src|href)="https?:', found.body)


def test_a_name_that_begins_like_a_gradient_is_none() -> None:
    assert "<mi>grad2</mi>" in typeset("grad2[t] <= 1") and "∇" in typeset("||grad f(x)||^2")

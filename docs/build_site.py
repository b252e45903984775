"""Make the site: a folder of static files that any host serves, and that loads nothing from elsewhere.

python docs/build_site.py [--verdicts report/verdicts.json] [--out report/site] [--no-documentation]

Verdicts come from a file that 'fedtheory check --json' wrote. Pages of theorems are kept in .fedtheory/site, and made again where the verdict or the
code changed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import fedtheory
from fedtheory.algorithms import ALGORITHMS
from fedtheory.claims.explain.proofs import read_verdicts
from fedtheory.claims.pages import as_html, write_referee_pages
from fedtheory.claims.publication import Publication
from fedtheory.claims.references import find_papers, find_publication, load_claims
from fedtheory.claims.report import summarise, write_counterexamples
from fedtheory.claims.verdict import Verdict

sys.path.insert(0, str(Path(__file__).resolve().parent))
from site_pages import (
    HERE,
    ROOT,
    Notebook,
    TheoremPage,
    convert_notebook,
    fill,
    frame,
    has_page,
    insert_links,
    list_notebooks,
    list_theorems,
    make_theorem_page,
)


def main() -> None:
    """Make all of it, and say how long each part took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=Path, default=ROOT / "report" / "verdicts.json")
    parser.add_argument("--out", type=Path, default=ROOT / "report" / "site")
    parser.add_argument("--no-documentation", action="store_true", help="leave out what Sphinx builds")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if not asked.verdicts.exists():
        sys.exit(
            f"there are no verdicts in {asked.verdicts}; 'make check', or 'fedtheory check --json FILE', writes them"
        )
    verdicts, out = read_verdicts(asked.verdicts), asked.out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with _told("documentation"):
        if not asked.no_documentation:
            subprocess.run(
                [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(HERE), str(out / "documentation")], check=True
            )
            for page in (out / "documentation").rglob("*.html"):
                insert_links(page, "../" * len(page.relative_to(out).parents[:-1]))
    with _told("theorems"):
        pages = write_theorem_pages([v for v in verdicts if has_page(v)], out, asked.workers)
    with _told("report"):
        write_report(verdicts, out, pages)
    with _told("gallery"):
        notebooks = write_gallery(out)
    write_front(verdicts, out, pages, notebooks)
    lost = [page for page in pages if page.lost]
    for page in lost:
        print(f"no proof on the page of {page.id}: {page.lost}", file=sys.stderr)
    print(
        f"the site is in {out}: {len(pages)} theorems, {len(notebooks)} notebooks; {len(lost)} pages of theorems lack their proof"
    )


class _told:
    """Say how long something took."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        self.begun = time.monotonic()

    def __exit__(self, *error: object) -> None:
        print(f"{self.what}: {time.monotonic() - self.begun:.0f} s", flush=True)


def write_theorem_pages(verdicts: list[Verdict], out: Path, workers: int) -> list[TheoremPage]:
    """Write a page a theorem, its text for Rocq beside them, and the page that leads to all."""
    folder = out / "theorems"
    (folder / "rocq").mkdir(parents=True)
    with ProcessPoolExecutor(workers) as pool:
        pages = list(pool.map(make_theorem_page, verdicts, chunksize=4))
    for page in pages:
        (folder / f"{page.id}.html").write_text(frame(f"{page.id}: fedtheory", page.body, "../"), encoding="utf-8")
        for name, text in page.rocq.items():
            (folder / "rocq" / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "index.html").write_text(frame("Theorems: fedtheory", list_theorems(verdicts), "../"), encoding="utf-8")
    return pages


def write_report(verdicts: list[Verdict], out: Path, pages: Iterable[TheoremPage]) -> None:
    """Write all verdicts on one page, a page a paper, and the counterexamples."""
    sources = {id: source for source in find_papers().values() for id in load_claims(source)}
    publications: dict[str, Publication] = {
        source: found for source in find_papers().values() if (found := find_publication(source)) is not None
    }
    kept, proofs = out / "counterexamples", {page.id: out / "theorems" / f"{page.id}.html" for page in pages}
    write_counterexamples(verdicts, kept)
    whole = as_html(
        verdicts,
        "fedtheory: verdicts",
        sources=sources,
        counterexamples=kept,
        folder=out,
        publications=publications,
        proofs=proofs,
    )
    (out / "verdicts.html").write_text(whole, encoding="utf-8")
    write_referee_pages(verdicts, out / "papers", kept, sources, publications, proofs)
    for page, root in ((out / "verdicts.html", ""), *((page, "../") for page in (out / "papers").glob("*.html"))):
        insert_links(page, root)


def write_gallery(out: Path) -> list[Notebook]:
    """Write a page a notebook, and the gallery."""
    folder = out / "notebooks"
    folder.mkdir()
    notebooks = [convert_notebook(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    for one in notebooks:
        (folder / f"{one.name}.html").write_text(frame(f"{one.question} fedtheory", one.body, "../"), encoding="utf-8")
    (folder / "index.html").write_text(frame("Gallery: fedtheory", list_notebooks(notebooks), "../"), encoding="utf-8")
    return notebooks


def write_front(verdicts: list[Verdict], out: Path, pages: list[TheoremPage], notebooks: list[Notebook]) -> None:
    """Write the front page, with its picture."""
    shutil.copyfile(HERE / "picture.png", out / "picture.png")
    body = fill(
        "front.html",
        papers=len({v.paper.split(",")[0] for v in verdicts} - {"literature"}),
        total=len(verdicts),
        summary=summarise(verdicts),
        refuted=any(v.counterexample for v in verdicts),
        theorems=len(pages),
        methods=len(ALGORITHMS),
        notebooks=len(notebooks),
        example=next(
            (v.id for v in verdicts if v.status in ("refuted", "repaired")), verdicts[0].id if verdicts else ""
        ),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        version=fedtheory.__version__,
    )
    (out / "index.html").write_text(frame("fedtheory: is this theorem true?", body), encoding="utf-8")


if __name__ == "__main__":
    main()

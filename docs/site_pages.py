"""Pages of the site beside the report and the documentation: a page a theorem with its proof, the gallery of notebooks, and the frame around them."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from fedtheory.claims.explain.finding import is_explained
from fedtheory.claims.explain.html import write_html
from fedtheory.claims.explain.proofs import explain_verdict
from fedtheory.claims.kernel import write_theorems
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.claims.refutation import explain_refutation
from fedtheory.claims.verdict import Verdict
from fedtheory.core.errors import FedtheoryError
from fedtheory.tools.typesetting import typeset, typeset_formula

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
#: pages of theorems that were made before, by what they are made of
KEPT = ROOT / ".fedtheory" / "site"
LINKS = (
    ("fedtheory", "index.html"),
    ("verdicts", "verdicts.html"),
    ("papers", "papers/index.html"),
    ("theorems", "theorems/index.html"),
    ("gallery", "notebooks/index.html"),
    ("documentation", "documentation/index.html"),
)


@cache
def _templates() -> Environment:
    folders = [str(HERE / "site"), str(ROOT / "fedtheory" / "claims" / "templates")]
    return Environment(loader=FileSystemLoader(folders), autoescape=False, trim_blocks=True, lstrip_blocks=True)


def fill(template: str, **values: Any) -> str:
    """Return a template of this folder, filled in; texts are to be escaped by who gives them."""
    return _templates().get_template(template).render(**values)


def frame(title: str, body: str, root: str = "") -> str:
    """Return a whole page: ``root`` leads from its folder to the site's."""
    style = _templates().get_template("style.css").render()
    return fill("frame.html", title=html.escape(title), body=body, root=root, links=LINKS, style=style)


def insert_links(page: Path, root: str) -> None:
    """Put the site's links on a page that something else made: the report, or the documentation."""
    text = page.read_text(encoding="utf-8")
    place = next((mark for mark in ('<div class="page">', "<header>") if mark in text), None)
    if place is not None:
        page.write_text(text.replace(place, fill("links.html", root=root, links=LINKS) + place, 1), encoding="utf-8")


# ---- theorems ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TheoremPage:
    """A theorem's page: ``body`` in HTML, ``rocq`` its text for Rocq by file name, ``lost`` why it has no proof on it, "" where it has."""

    id: str
    body: str
    rocq: dict[str, str]
    lost: str = ""


def has_page(verdict: Verdict) -> bool:
    """Whether there is a proof to show, or a counterexample."""
    return is_explained(verdict.evidence) or verdict.counterexample is not None


def make_theorem_page(verdict: Verdict) -> TheoremPage:
    """Return a theorem's page, as it is kept where it was made before from the same verdict and the same code."""
    kept = KEPT / f"{_digest(verdict)}.json"
    if kept.exists():
        return TheoremPage(**json.loads(kept.read_text(encoding="utf-8")))
    page = _write_theorem(verdict)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(asdict(page)), encoding="utf-8")
    return page


@cache
def _code() -> bytes:
    """A digest of what writes the text of pages; the frame is put around it each time."""
    folders = ("fedtheory/claims", "fedtheory/proofs", "fedtheory/tools", "paper_checks")
    files = sorted(f for name in folders for f in (ROOT / name).rglob("*") if f.suffix in (".py", ".html", ".v"))
    return hashlib.blake2b(b"\0".join(f.read_bytes() for f in (*files, Path(__file__)))).digest()


def _digest(verdict: Verdict) -> str:
    told = asdict(verdict) | {"seconds": 0, "versions": {}}
    return hashlib.blake2b(_code() + json.dumps(told).encode(), digest_size=16).hexdigest()


def _write_theorem(verdict: Verdict) -> TheoremPage:
    claims = {id: claim for source in find_papers().values() for id, claim in load_claims(source).items()}
    claim, lost, rocq = claims.get(verdict.id), "", dict[str, str]()
    body = f"<h1>{html.escape(verdict.id)}: {html.escape(verdict.status)}</h1><p>{typeset(verdict.statement)}</p>"
    if is_explained(verdict.evidence):
        try:
            body = write_html(explain_verdict(verdict, claim))
        except (FedtheoryError, ArithmeticError, LookupError, ValueError, TypeError) as error:
            lost = f"{type(error).__name__} {error}"
            body += f"<p>Its proof could not be written as a page: {html.escape(str(error))}</p>"
        written = write_theorems(verdict, claim)
        rocq = {f"{t.name}-{name}": text for t in written.theorems for name, text in t.files().items()}
        body += "".join(f"<p>Not written for Rocq: {html.escape(why)}</p>" for why in written.left)
    pieces = [body]
    if verdict.counterexample is not None:
        pieces.append("<h2>The counterexample</h2>")
        pieces.append(f'<p class="refutation">{typeset(explain_refutation(verdict.counterexample))}</p>')
        pieces.append(f'<p><a href="../counterexamples/{html.escape(verdict.id)}.json">The stored instance</a></p>')
    if rocq:
        pieces.append(
            "<h2>For Rocq</h2><p>The statement and its proof as files that <code>coqc</code> checks beside the core, which "
        )
        pieces.append(f"<code>fedtheory export {html.escape(verdict.id)} --to rocq --out FOLDER</code> writes.</p><ul>")
        pieces += [f'<li><a href="rocq/{name}.txt">{html.escape(name)}</a></li>' for name in rocq]
        statements = [text for name, text in rocq.items() if name.endswith("Statement.v")]
        pieces.append(
            f"</ul><details><summary>The first statement</summary><pre>{html.escape(statements[0])}</pre></details>"
        )
    pieces.append(f'<p><a href="../verdicts.html#{html.escape(verdict.id)}">The verdict with its evidence</a></p>')
    return TheoremPage(verdict.id, "\n".join(pieces), rocq, lost)


def list_theorems(verdicts: Sequence[Verdict]) -> str:
    """Return the page that leads to the theorems, by paper."""
    lines = ["<h1>Theorems with their proofs</h1>"]
    for paper in dict.fromkeys(v.paper for v in verdicts):
        own = [v for v in verdicts if v.paper == paper]
        lines.append(f"<h2>{html.escape(paper)} <span class='quiet'>{len(own)}</span></h2><ul>")
        for v in own:
            word = f'<span class="s {v.status.replace(" ", "")}">{html.escape(v.status)}</span>'
            lines.append(
                f'<li><a href="{html.escape(v.id)}.html">{html.escape(v.id)}</a> {word} {typeset(v.statement)}</li>'
            )
        lines.append("</ul>")
    return "\n".join(lines)


# ---- notebooks --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Notebook:
    """A notebook as a page: its name, its question, its body in HTML, and its first picture as a data address, "" without one."""

    name: str
    question: str
    body: str
    picture: str


def convert_notebook(path: Path) -> Notebook:
    """Return a notebook with its outputs as HTML that loads nothing; formulas between dollars become MathML."""
    import nbformat
    from nbconvert import HTMLExporter

    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\$([^$]+)\$", _inline, cell.source)
    body, _ = HTMLExporter(template_name="basic", exclude_anchor_links=True).from_notebook_node(notebook)
    body = re.sub(r"<script\b.*?</script>", "", body, flags=re.DOTALL)
    body = re.sub(r'href="(\w+)\.ipynb"', r'href="\1.html"', body)
    pictures = [
        output["data"]["image/png"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    picture = f"data:image/png;base64,{''.join(pictures[0].split())}" if pictures else ""
    question = notebook.cells[0].source.splitlines()[0].lstrip("# ")
    return Notebook(path.stem, question, body, picture)


def _inline(found: re.Match[str]) -> str:
    return typeset_formula(found.group(1), within_text=True)


def list_notebooks(notebooks: Sequence[Notebook]) -> str:
    """Return the gallery: a picture and a question each."""
    cards = []
    for one in notebooks:
        shown = f'<img src="{one.picture}" alt="">' if one.picture else ""
        cards.append(f'<li><a href="{one.name}.html">{shown}{html.escape(one.question)}</a></li>')
    return f'<h1>Questions, answered with pictures</h1><ul class="gallery">{"".join(cards)}</ul>'

"""How Sphinx builds the documentation (`make docs`): pages in Markdown by MyST, the API from docstrings and annotations."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path
from typing import Any

from docutils import nodes

import fedtheory
import fedtheory.core.shapes
from fedtheory.tools.typesetting import typeset, typeset_formula

project = "fedtheory"
author = "The fedtheory developers"
release = version = fedtheory.__version__

myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"fedtheory {release}"
html_copy_source = html_show_copyright = False
myst_heading_anchors = 3
default_role = "py:obj"
autodoc_member_order = "bysource"
napoleon_use_param = napoleon_use_rtype = False


class AsWritten(str):
    """An annotation that is shown as the source has it."""

    def __repr__(self) -> str:
        return str(self)


def show_signature(app: Any, what: str, name: str, obj: Any, *rest: Any) -> tuple[str, str | None] | None:
    """Show annotations as they are written: names of shapes, not what they stand for."""
    if what not in ("function", "method", "class"):
        return None
    try:
        signature = inspect.signature(obj)
    except (TypeError, ValueError):
        return None

    def show(annotation: Any) -> Any:
        return AsWritten(annotation) if isinstance(annotation, str) else annotation

    def named(default: Any) -> Any:
        return AsWritten(default.__name__) if inspect.isfunction(default) else default

    drop_self = what == "method" and next(iter(signature.parameters), "") in ("self", "cls")
    parameters = list(signature.parameters.values())[1 if drop_self else 0 :]
    parameters = [p.replace(annotation=show(p.annotation), default=named(p.default)) for p in parameters]
    returned = signature.return_annotation
    shown = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return shown, None if what == "class" or returned is inspect.Signature.empty else str(returned)


def keep_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let formulas in docstrings be themselves: aligned ones as they stand, in others no marks of reST."""
    kept: list[str] = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
        rows = paragraph.split("\n")
        if (
            ">>>" not in paragraph
            and "---" not in paragraph
            and sum(bool(re.search(r"\S {2,}\S", r)) for r in rows) > 1
        ):
            kept += [".. code-block:: text", "", *(f"    {row}" for row in rows), ""]
            continue
        if ">>>" not in paragraph:
            pieces = re.split(r"(``.*?``|`[^`]*`)", paragraph)
            pieces[::2] = [re.sub(r"([\\|*]|_\b)", r"\\\1", piece) for piece in pieces[::2]]
            rows = "".join(pieces).split("\n")
        kept += [*rows, ""]
    lines[:] = kept


def find_public_name(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a name by its last part among what the rooms offer: annotations and docstrings name objects by the module they stand in."""
    if node.get("refdomain") != "py":
        return None
    objects = env.domains["py"].objects
    last = node["reftarget"].rpartition(".")[2]
    full = [name for name in objects if re.fullmatch(rf"fedtheory\.(\w+|core\.shapes)\.{re.escape(last)}", name)]
    if len(full) != 1:
        return None
    from sphinx.util.nodes import make_refnode

    place = objects[full[0]]
    return make_refnode(app.builder, node["refdoc"], place.docname, place.node_id, content, full[0])


def list_shapes(app: Any, page: str, source: list[str]) -> None:
    """Write the shapes of arrays, from the file that defines them."""
    if page == "api/shapes":
        text = Path(fedtheory.core.shapes.__file__).read_text()
        found = re.findall(r'^(\w+): TypeAlias = Shaped\[.*?"(.*)"\]  #: (.*)$', text, re.MULTILINE)
        if len(found) < text.count(": TypeAlias = Shaped["):
            raise ValueError(
                "a shape in fedtheory/core/shapes.py is not written as Name: TypeAlias = Shaped[..., dims]  #: what it is"
            )
        for name, shape, said in found:
            source[0] += f'\n```{{py:data}} {name}\n:module: fedtheory.core.shapes\n:type: "{shape}"\n\n{said}\n```\n'


def list_sources(app: Any, page: str, source: list[str]) -> None:
    """Add to the page on the literature the texts that its theorems are taken from."""
    if page == "literature":
        from paper_checks.literature.sources import SOURCES

        source[0] += "\n" + "".join(f"- {name}. {text}.\n" for name, text in sorted(SOURCES.items()))


def typeset_within_text(translator: Any, node: Any) -> None:
    """Write a formula in a line as MathML, which browsers set themselves."""
    translator.body.append(typeset_formula(node.astext(), within_text=True))
    raise nodes.SkipNode


def typeset_alone(translator: Any, node: Any) -> None:
    """Write a formula that stands alone as MathML."""
    translator.body.append(f'<div style="overflow-x: auto; margin: 1em 0">{typeset_formula(node.astext())}</div>')
    raise nodes.SkipNode


def typeset_prose(app: Any, tree: Any, page: str) -> None:
    """Set the mathematics in the sentences of guides as the report does; code, links and headings stay as they are."""
    if app.builder.format != "html" or page.startswith("api/"):
        return
    kept = (nodes.literal, nodes.literal_block, nodes.reference, nodes.title, nodes.raw, nodes.math, nodes.math_block)
    for text in list(tree.findall(nodes.Text)):
        above, inside = text.parent, False
        while above is not None and not inside:
            inside, above = isinstance(above, kept), above.parent
        shown = "" if inside else typeset(text.astext().replace("\u2019", "'"))
        if "<math" in shown:
            text.parent.replace(text, nodes.raw("", shown, format="html"))


def make_method_pages(app: Any) -> None:
    """Write a page for each listed method."""
    runpy.run_path(str(Path(app.srcdir) / "method_pages.py"))["write_pages"](Path(app.srcdir) / "methods")


def setup(app: Any) -> None:
    """Connect what is above; formulas are kept before napoleon adds marks of its own."""
    app.connect("doctree-resolved", typeset_prose)
    app.add_html_math_renderer("mathml", (typeset_within_text, None), (typeset_alone, None))
    app.connect("autodoc-process-signature", show_signature)
    app.connect("autodoc-process-docstring", keep_formulas, priority=400)
    app.connect("missing-reference", find_public_name)
    app.connect("source-read", list_shapes)
    app.connect("source-read", list_sources)
    app.connect("builder-inited", make_method_pages)

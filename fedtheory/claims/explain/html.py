"""A page as HTML, without head and frame: formulas are MathML, so that nothing is loaded from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Iterator

from fedtheory.claims.explain.document import (
    Block,
    Display,
    Document,
    Figure,
    Heading,
    Math,
    NumberedStep,
    PageTable,
    Paragraph,
    TextLine,
)
from fedtheory.claims.explain.wide_formulas import LINE, count_characters, split_statements
from fedtheory.tools.typesetting import typeset, typeset_formula


def write_html(page: Document) -> str:
    """Return the blocks of a page, below a heading of the first level."""
    lines = [f"<h1>{html.escape(page.title)}</h1>"]
    for block in page.blocks:
        lines += _write(block)
    return "\n".join(lines) + "\n"


def _write(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, level):
            yield f"<h{level + 1}>{typeset(text)}</h{level + 1}>"
        case Paragraph(line):
            yield f"<p>{_line(line)}</p>"
        case Display(math):
            for one in split_statements(math.latex) if count_characters(math.latex) > LINE else [math.latex]:
                yield f'<div class="wide formula">{typeset_formula(one)}</div>'
        case Figure(text):
            yield f'<div class="wide"><pre>{html.escape(text)}</pre></div>'
        case PageTable(_, head, rows):
            yield '<div class="wide"><table class="proof">'
            yield f"<tr>{''.join(_head(word) for word in head)}</tr>"
            yield from (f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
            yield "</table></div>"
        case NumberedStep(number, name, said, grounds):
            formula = typeset_formula(said.latex, within_text=True)
            yield f'<div class="step"><p class="wide"><b>({number})</b> {html.escape(name)}: {formula}</p>'
            if grounds:
                yield f"<ul>{''.join(_item(ground) for ground in grounds)}</ul>"
            yield "</div>"


def _line(line: TextLine) -> str:
    return "".join(typeset_formula(p.latex, within_text=True) if isinstance(p, Math) else typeset(p) for p in line)


def _head(word: str) -> str:
    return f'<th scope="col">{html.escape(word)}</th>'


def _cell(line: TextLine) -> str:
    return f"<td>{_line(line)}</td>"


def _item(line: TextLine) -> str:
    return f"<li>{_line(line)}</li>"

"""A page as Markdown, formulas between dollars."""

from __future__ import annotations

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

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\*_<>|$`#"})


def write_markdown(page: Document) -> str:
    """The whole page."""
    lines = [f"# {page.title.translate(_SPECIAL)}", ""]
    for block in page.blocks:
        lines += [*_write(block), ""]
    return "\n".join(lines).rstrip() + "\n"


def _write(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, level):
            yield f"{'#' * (level + 1)} {text.translate(_SPECIAL)}"
        case Paragraph(line):
            yield _line(line)
        case Display(math):
            yield f"$$ {math.latex} $$"
        case Figure(text):
            yield from ("```text", text, "```")
        case PageTable(_, head, rows):
            yield f"| {' | '.join(word.translate(_SPECIAL) for word in head)} |"
            yield f"|{' --- |' * len(head)}"
            for row in rows:
                yield f"| {' | '.join(map(_cell, row))} |"
        case NumberedStep(number, name, said, grounds):
            yield f"**({number})** {name.translate(_SPECIAL)}: ${said.latex}$"
            if grounds:
                yield ""
            for ground in grounds:
                yield f"- {_line(ground)}"


def _line(line: TextLine) -> str:
    return "".join(f"${part.latex}$" if isinstance(part, Math) else part.translate(_SPECIAL) for part in line)


def _cell(line: TextLine) -> str:
    """As a line; a bar would end the cell."""
    return "".join(f"${_without_bars(part)}$" if isinstance(part, Math) else part.translate(_SPECIAL) for part in line)


def _without_bars(math: Math) -> str:
    return math.latex.replace("\\|", "\\Vert ").replace("|", "\\vert ")

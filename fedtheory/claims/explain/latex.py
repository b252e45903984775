"""A page as a LaTeX document of the class article, and as PDF where a TeX is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
from fedtheory.claims.explain.wide_formulas import CELL, LINE, count_characters, open_wide, split_statements
from fedtheory.core.errors import FedtheoryError, NotAvailable
from fedtheory.tools.latex import escape, write_latex_text

_SECTIONS = {1: "section", 2: "subsection", 3: "paragraph"}
_BEGIN = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath,amssymb,array,longtable}
\allowdisplaybreaks
\sloppy
"""
#: sizes of text that stands as it is, by the characters that fit a line of 160 mm
_SIZES = ((86, "normalsize"), (107, "footnotesize"), (123, "scriptsize"))
#: a column of a table of no more characters is as wide as they are (the first number with which such columns are not too wide together)
_NARROW, _NARROW_TOGETHER = (20, 12, 0), 40
#: other columns share the rest, and none counts for more characters than these
_WIDE = 50
#: a longer head of a column goes over lines
_HEAD = 20
#: programs that make a PDF, in the order in which they are looked for
PROGRAMS = ("pdflatex", "lualatex", "xelatex", "tectonic")
#: seconds that one run of them may take
MOST_SECONDS = 300


def write_latex_page(page: Document) -> str:
    """The whole document."""
    lines = [_BEGIN + f"\\title{{{escape(page.title)}}}", "\\date{}", "\\begin{document}", "\\maketitle", ""]
    for block in page.blocks:
        lines += [*_write(block), ""]
    return "\n".join([*lines, "\\end{document}", ""])


def find_tex() -> str:
    """The program that makes a PDF.

    Raises
    ------
    NotAvailable
        None is installed.
    """
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise NotAvailable(
            f"a PDF is made by TeX, and none of {', '.join(PROGRAMS)} is installed (Debian: 'apt install texlive-latex-recommended'); "
            "'--to latex' writes the text"
        )
    return program


def write_pdf(page: Document, path: Path) -> None:
    """Let a TeX set the page.

    Raises
    ------
    NotAvailable
        No TeX is installed.
    FedtheoryError
        TeX stops; the message is its first error.
    """
    program = find_tex()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "page.tex").write_text(write_latex_page(page), encoding="utf-8")
        plain = program.endswith("tectonic")
        command = (
            [program, "page.tex"]
            if plain
            else [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
        )
        for _ in range(1 if plain else 2):  # longtable asks for a second run
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=MOST_SECONDS, check=False
            )
        if not (folder / "page.pdf").exists():
            said = next((line for line in done.stdout.splitlines() if line.startswith("!")), done.stderr.strip()[:200])
            raise FedtheoryError(f"{Path(program).name} made no PDF: {said or 'it did not say why'}")
        shutil.copy(folder / "page.pdf", path)


def _write(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, level):
            yield f"\\{_SECTIONS[level]}*{{{write_latex_text(text)}}}"
        case Paragraph(line):
            yield _line(line)
        case Display(math):
            yield _display(math.latex)
        case Figure(text):
            longest = max(map(len, text.splitlines()), default=0)
            size = next((size for most, size in _SIZES if longest <= most), "tiny")
            yield f"{{\\{size}\n\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}}}"
        case PageTable():
            yield from _table(block)
        case NumberedStep(number, name, said, grounds):
            yield f"\\medskip\\noindent\\textbf{{({number})}} {escape(name)}: ${open_wide(said.latex)}$"
            if grounds:
                yield "\\begin{itemize}"
                yield from (f"\\item {_line(ground)}" for ground in grounds)
                yield "\\end{itemize}"


def _display(formula: str) -> str:
    """A formula on its own, or, where it is wider than a line, what TeX breaks as text."""
    if count_characters(formula) <= LINE:
        return f"\\[\n{formula}\n\\]"
    lines = (f"$\\displaystyle {open_wide(one)}$" for one in split_statements(formula))
    return "\\begin{quote}\n\\raggedright\n" + "\n\n".join(lines) + "\n\\end{quote}"


def _table(table: PageTable) -> Iterator[str]:
    """Columns share the width as their longest words or formulas ask."""
    cells = [[_line(cell, CELL) for cell in row] for row in table.rows]
    longest = [
        max(map(count_characters, [*([head] if len(head) <= _HEAD else head.split()), *column]))
        for head, *column in zip(table.head, *cells, strict=True)
    ]
    most = next(most for most in _NARROW if sum(length for length in longest if length <= most) <= _NARROW_TOGETHER)
    wide = sum(min(length, _WIDE) for length in longest if length > most)
    kept = 6 * sum(length for length in longest if length <= most)
    room = f"\\linewidth-\\tabcolsep*{2 * len(longest)}-{kept}pt"
    widths = (
        f"{6 * length}pt" if length <= most else f"\\dimexpr({room})*{min(length, _WIDE)}/{wide}\\relax"
        for length in longest
    )
    columns = (f">{{\\raggedright\\arraybackslash}}p{{{width}}}" for width in widths)
    yield f"\\begin{{longtable}}[l]{{{''.join(columns)}}}"
    yield " & ".join(f"\\textbf{{{escape(word)}}}" for word in table.head) + r" \\ \hline \endhead"
    yield from (" & ".join(row) + r" \\" for row in cells)
    yield "\\end{longtable}"


def _line(line: TextLine, most: int = LINE) -> str:
    return "".join(
        f"${open_wide(part.latex, most)}$" if isinstance(part, Math) else write_latex_text(part) for part in line
    )

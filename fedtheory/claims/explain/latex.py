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
from fedtheory.core.errors import FedtheoryError, NotAvailable
from fedtheory.tools.latex import escape

_SECTIONS = {1: "section", 2: "subsection", 3: "paragraph"}
_BEGIN = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath,longtable}
\allowdisplaybreaks
\sloppy
"""
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
            [program, "page.tex"] if plain else [program, "-interaction=nonstopmode", "-no-shell-escape", "page.tex"]
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
            yield f"\\{_SECTIONS[level]}*{{{escape(text)}}}"
        case Paragraph(line):
            yield _line(line)
        case Display(math):
            yield f"\\begin{{gather*}}\n{_break(math.latex)}\n\\end{{gather*}}"
        case Figure(text):
            yield f"\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}"
        case PageTable(_, head, rows):
            columns = f"p{{{0.92 / len(head):.2f}\\linewidth}}" * len(head)
            yield f"\\begin{{longtable}}{{{columns}}}"
            yield " & ".join(f"\\textbf{{{escape(word)}}}" for word in head) + r" \\ \hline \endhead"
            for row in rows:
                yield " & ".join(map(_line, row)) + r" \\"
            yield "\\end{longtable}"
        case NumberedStep(number, name, said, grounds):
            yield f"\\medskip\\noindent\\textbf{{({number})}} {escape(name)}: ${said.latex}$"
            if grounds:
                yield "\\begin{itemize}"
                yield from (f"\\item {_line(ground)}" for ground in grounds)
                yield "\\end{itemize}"


def _break(formula: str) -> str:
    """Lines end before pluses and minuses outside of braces, where a formula is long; brackets are of one size and may go over lines."""
    pieces, depth, since = [""], 0, 0
    for k, character in enumerate(formula):
        depth += (character == "{") - (character == "}")
        if depth == 0 and since > 90 and formula[k : k + 2] in ("+ ", "- "):
            pieces.append("")
            since = 0
        pieces[-1] += character
        since += 1
    return " \\\\\n".join(pieces)


def _line(line: TextLine) -> str:
    return "".join(f"${part.latex}$" if isinstance(part, Math) else escape(part) for part in line)

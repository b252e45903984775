"""A page as data: headings, paragraphs, formulas, tables and numbered steps. Writers make text of it; tests read the same data.

A formula carries the tree that it was typeset from, so that what stands on a page can be evaluated.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from fedtheory.claims.statements.formula_texts import WordLine, draw_signs, latex, latex_sentence
from fedtheory.claims.statements.theorems.quantities import read_quantity
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, Unreadable, read


@dataclass(frozen=True)
class Math:
    r"""A formula: LaTeX, and the tree that it says (None where it was LaTeX from the start).

    Examples
    --------
    >>> Math.read("norm2(x_i - x_star)/2").latex
    '\\frac{\\|x_{i} - x^*\\|^2}{2}'
    """

    latex: str
    tree: ast.expr | None = None

    @classmethod
    def of(cls, tree: ast.expr) -> Math:
        """A tree, typeset."""
        return cls(latex(tree), tree)

    @classmethod
    def read(cls, text: str) -> Math:
        """The text of a formula of a sentence, or of a quantity of a state, typeset; signs are drawn before products."""
        try:
            return cls.of(draw_signs(read(text)))
        except Unreadable:
            return cls.of(draw_signs(read_quantity(text)))


TextLine: TypeAlias = tuple[str | Math, ...]


def typeset_line(line: WordLine) -> TextLine:
    """A line of words and formulas, typeset."""
    return tuple(
        part if isinstance(part, str) else Math(latex_sentence(part)) if isinstance(part, Sentence) else Math.of(part)
        for part in line
    )


@dataclass(frozen=True)
class Heading:
    """A heading, of level 1 (a theorem), 2 or 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Words with formulas among them."""

    line: TextLine


@dataclass(frozen=True)
class Display:
    """A formula that stands alone; ``name`` says which one it is to who reads the data."""

    math: Math
    name: str = ""


@dataclass(frozen=True)
class PageTable:
    """Rows under a head; ``name`` says which table it is to who reads the data."""

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[TextLine, ...], ...]

    def __post_init__(self) -> None:
        """Rows are as long as the head."""
        if any(len(row) != len(self.head) for row in self.rows):
            raise InvalidInput(f"a row of the table {self.name!r} does not have {len(self.head)} cells")


@dataclass(frozen=True)
class Figure:
    """Text that stands as it is: the inference of a rule."""

    text: str


@dataclass(frozen=True)
class NumberedStep:
    """A numbered line of a proof: its name, what it says, and on which grounds, line by line."""

    number: int
    name: str
    said: Math
    grounds: tuple[TextLine, ...]


Block: TypeAlias = Heading | Paragraph | Display | PageTable | Figure | NumberedStep


@dataclass(frozen=True)
class Document:
    """A page."""

    title: str
    blocks: tuple[Block, ...]

    @cached_property
    def tables(self) -> dict[str, list[PageTable]]:
        """Tables by name, in order."""
        found: dict[str, list[PageTable]] = {}
        for block in self.blocks:
            if isinstance(block, PageTable):
                found.setdefault(block.name, []).append(block)
        return found

"""Code blocks of README and the guides, as the reader meets them.

Before a fence a comment may say how its block is tested:

    <!-- file: mine.py -->         it is not run but written to that file, for a later command
    <!-- not run: why -->          minutes, data, a GPU, or another machine
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if path.name != "CHANGELOG.md"
)
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^\n]*?) -->\s*\n)?^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language (or ``{directive}``), its text, the comment before it."""

    language: str
    text: str
    mark: str

    def says(self, word: str) -> str | None:
        """What the comment says after a word, or None."""
        begun = self.mark == word or self.mark.startswith(f"{word}:")
        return self.mark[len(word) + 1 :].strip() if begun else None


def read_blocks(page: str, language: str | None = None) -> list[Block]:
    """All fenced blocks of a page, or those in a language."""
    found = [Block(m["language"], m["text"], m["mark"] or "") for m in BLOCK.finditer((ROOT / page).read_text())]
    return [block for block in found if language in (None, block.language)]


def read_commands(page: str) -> list[str]:
    """Lines that call ``fedtheory``, of fenced and indented blocks, without comments."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / page).read_text())
    lines = re.findall(r"^(?: {4}|\$ )(?:\.venv/bin/)?(fedtheory [^#\n]*)", text, flags=re.MULTILINE)
    return [line.strip() for line in lines]

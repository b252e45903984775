"""A badge: how many statements are proved, refuted, open, as a picture or as data that a badge service draws."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fedtheory.claims.referee import name_word
from fedtheory.claims.verdict import Verdict
from fedtheory.claims.words import VERDICT_WORDS
from fedtheory.core.errors import InvalidInput

LABEL = "theorems"
#: colours by what is worst: a statement that is false, one that is open, none
COLOURS = {"false": ("red", "#b3261e"), "open": ("yellow", "#8a6d00"), "stands": ("green", "#2e7d32")}
#: about how wide a letter is, and the room beside a text
LETTER, ROOM, HEIGHT = 6.6, 12, 20


def write_badge(verdicts: Sequence[Verdict], file: Path) -> None:
    """Write a badge: an SVG if the file's name ends so, otherwise the JSON that shields.io's endpoint badges read.

    Raises
    ------
    InvalidInput
        The name ends in neither.
    """
    require_badge_name(file)
    message, colour, shade = describe_badge(verdicts)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".svg":
        file.write_text(draw_badge(LABEL, message, shade), encoding="utf-8")
    else:
        document = {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
        file.write_text(json.dumps(document) + "\n", encoding="utf-8")


def require_badge_name(file: Path) -> None:
    """Refuse a name that does not say what is to be written.

    Raises
    ------
    InvalidInput
        It ends neither in .svg nor in .json.
    """
    if file.suffix not in (".svg", ".json"):
        raise InvalidInput(f"the badge {file} is no name that ends in .svg (a picture) or .json (data for shields.io)")


def describe_badge(verdicts: Sequence[Verdict]) -> tuple[str, str, str]:
    """Return what a badge says, its colour as a word, and as a shade on which white can be read."""
    counts = Counter(map(name_word, verdicts))
    outcomes = {VERDICT_WORDS[word].outcome for word in counts}
    worst = next((outcome for outcome in COLOURS if outcome in outcomes), "open")
    message = ", ".join(f"{counts[word]} {word}" for word in VERDICT_WORDS if counts[word]) or "none judged"
    return message, *COLOURS[worst]


def draw_badge(label: str, message: str, shade: str) -> str:
    """Return a badge as SVG: a grey field with the label, and one in this shade with the message."""
    left, right = (round(len(text) * LETTER + ROOM) for text in (label, message))
    said = html.escape(f"{label}: {message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" aria-label="{said}"><title>{said}</title>'
        f'<rect width="{left}" height="{HEIGHT}" fill="#444"/><rect x="{left}" width="{right}" height="{HEIGHT}" fill="{shade}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2}" y="14">{html.escape(label)}</text><text x="{left + right / 2}" y="14">{html.escape(message)}</text></g></svg>\n'
    )

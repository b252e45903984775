"""Why a proof is refused."""

from __future__ import annotations

#: most characters of a message, and of each of its pieces
MOST_TOLD, MOST_SHOWN = 600, 200


def cut(text: object, most: int) -> str:
    """A text, cut where it is long."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[: most - 4]} ..."


class Refused(ValueError):
    """A proof does not prove what it states; the message names the first step that fails."""

    def __init__(self, message: str) -> None:
        super().__init__(cut(message, MOST_TOLD))


class NotChecked(Refused):
    """Whether it does was not found out: it is malformed, or larger than the limit."""


class TermRefused(Refused):
    """A term does not prove its claims; the message names line and rule, what was expected and what was found."""

    def __init__(self, line: str, rule: str, expected: object, found: object) -> None:
        what = f"line {cut(line, 60)}, by {cut(rule, 60)}"
        super().__init__(f"{what}: expected {cut(expected, MOST_SHOWN)}; found {cut(found, MOST_SHOWN)}")
        self.line, self.rule = line, rule


class TermNotChecked(TermRefused, NotChecked):
    """Whether a term does was not found out."""

    def __init__(self, message: str, line: str = "-", rule: str = "reading") -> None:
        Refused.__init__(self, message)
        self.line, self.rule = line, rule

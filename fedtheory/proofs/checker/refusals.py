"""Why a proof is refused."""

from __future__ import annotations


class Refused(ValueError):
    """A proof does not prove what it states; the message names the first step that fails."""


class NotChecked(Refused):
    """Whether it does was not found out: it is malformed, or larger than the limit."""


class TermRefused(Refused):
    """A term does not prove its claims; the message names line and rule, what was expected and what was found."""

    def __init__(self, line: str, rule: str, expected: object, found: object) -> None:
        super().__init__(f"line {line}, by {rule}: expected {expected}; found {found}")
        self.line, self.rule = line, rule

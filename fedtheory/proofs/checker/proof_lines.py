"""A line of a proof term, and the lines of a script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .formulas import Sentence
from .reading import spend
from .refusals import TermRefused

_LINE = re.compile(r"(\w+):\s+(.*?)\s+by\s+(\w+)\s*(.*)", re.S)


@dataclass(frozen=True)
class ProofLine:
    """``name: sentence by rule arguments``."""

    name: str
    sentence: Sentence
    rule: str
    arguments: str

    @classmethod
    def parse(cls, text: str, claims: Sequence[str] = ()) -> ProofLine:
        """Read a line; the sentence "claim" stands for the only claim, "claim 2" for the second one."""
        spend(len(text) ** 2 // 1000)  # what taking it and its arguments apart may take
        text = " ".join(text.split())
        found = _LINE.fullmatch(text)
        if found is None:
            raise TermRefused(text[:30], "reading", "'name: left <= right by rule premises'", text[:120])
        name, said, rule, arguments = found.groups()
        claim = re.fullmatch(r"claim(?:\s+(\d{1,3}))?", said)
        if claim is not None:
            k = int(claim[1] or 1) - 1
            if not 0 <= k < len(claims) or (claim[1] is None and len(claims) > 1):
                raise TermRefused(name, "reading", f"a claim from 1 to {len(claims)}", said)
            said = claims[k]
        return cls(name, Sentence.parse(said), rule, arguments.strip())

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence} by {self.rule} {self.arguments}".strip()


def join_lines(script: str) -> list[str]:
    """The lines of a script; one that starts further to the right than the first goes on."""
    joined: list[str] = []
    indent: int | None = None
    for raw in script.splitlines():
        if raw.strip():
            at = len(raw) - len(raw.lstrip())
            indent = at if indent is None else indent
            if at > indent and joined:
                joined[-1] += " " + raw.strip()
            else:
                joined.append(raw.strip())
    return joined

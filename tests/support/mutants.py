"""Mutants of the library: one edit of one function, planted in this process, and the word of a claim while it is there."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from planted import EXPECTED

from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference

SAYS_IT_HOLDS = {"proved", "argued", "supported", "reproduced", "repaired"}


@dataclass(frozen=True)
class Mutant:
    """One edit of one function, and the claims that must take back their word."""

    name: str
    function: Callable[..., Any]
    old: str
    new: str
    killers: tuple[str, ...]


def edited(function: Callable[..., Any], old: str, new: str) -> Any:
    """The code of a function with one piece of its text replaced."""
    text = textwrap.dedent(inspect.getsource(function))
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {function.__qualname__}"
    lines = [line for line in text.replace(old, new).splitlines() if not line.startswith("@")]
    namespace: dict[str, Any] = {}
    exec(
        compile("from __future__ import annotations\n" + "\n".join(lines), f"<{function.__qualname__}>", "exec"),
        namespace,
    )
    return namespace[function.__name__].__code__


def forget() -> None:
    """Empty what the modules of claims, library and problems keep between calls."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("fedtheory", "paper_checks", "problems"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)) and not isinstance(value, type):
                    value.cache_clear()


def plant_mutant(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a function the code of its mutant until the patch is undone."""
    function: Any = inspect.unwrap(mutant.function)
    monkeypatch.setattr(function, "__code__", edited(function, mutant.old, mutant.new))


def word_of(source: str, id: str) -> str:
    """The status of a claim, checked in this process to its end."""
    verdict = check_one(Reference(source, id), Context())
    assert verdict.error is None
    return verdict.status


def stored_words(ids: Iterable[str]) -> set[str]:
    """The words of claims without a mutant: the project's check finds the stored ones, with the seed of `word_of`."""
    return {EXPECTED[id][0] for id in ids}

"""Methods built with changes of their round's text, and the lines that change."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.conformance.changes.change import Edit, RoundChange
from fedtheory.conformance.reading import Text, find_functions, make_namespace, replace_functions
from fedtheory.core.arrays import Array, to_numpy
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return a text with these edits, which do not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


@dataclass(frozen=True)
class RoundFunction:
    """A function of a class: its name, its arguments, and where its body stands in the class's text."""

    name: str
    arguments: str
    start: int
    end: int

    @classmethod
    def of(cls, node: ast.FunctionDef, text: Text) -> RoundFunction:
        """Read it off its node."""
        first = node.body[1] if ast.get_docstring(node) is not None else node.body[0]
        names = ", ".join(argument.arg for argument in node.args.args)
        return cls(node.name, names, text.place(first.lineno, 0), text.span(node)[1])

    def holds(self, edit: Edit) -> bool:
        """Whether an edit is one of its body."""
        return self.start <= edit.start and edit.end <= self.end

    def compile(self, text: str, edits: Sequence[Edit], names: dict[str, Any]) -> Any:
        """Compile it with these edits of the text, among these names."""
        inside = [Edit(e.start - self.start, e.end - self.start, e.text) for e in edits if self.holds(e)]
        body = apply_edits(text[self.start : self.end], inside)
        own: dict[str, Any] = {}
        exec(_compile(f"def {self.name}({self.arguments}):\n{body}"), names, own)
        return own[self.name]


@lru_cache(maxsize=8_000)  # another search for the same method tries the same changes, some thousands
def _compile(text: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a change may be nonsense
        return compile(text, "<changed>", "exec")


@dataclass(frozen=True, eq=False)
class Base:
    """A method whose class has a text, ready to be built with changes."""

    algorithm: Algorithm
    text: str

    @cached_property
    def names(self) -> dict[str, Any]:
        """The names that its code may use."""
        return make_namespace(type(self.algorithm))

    @cached_property
    def functions(self) -> dict[str, RoundFunction]:
        """Its functions."""
        text = Text(self.text)
        return {name: RoundFunction.of(node, text) for name, node in find_functions(self.text).items()}

    @cached_property
    def plain(self) -> Algorithm:
        """The method as its text has it."""
        return self._build(tuple(self.functions), (), self.names)

    def build(self, change: RoundChange) -> Any:
        """Build it with a change.

        Raises
        ------
        SyntaxError
            What the change makes is no code.
        """
        if change.early is None:
            return self._changed(change.edits, self.names)
        names = dict(self.names)
        return _TwoPasses(self._changed(change.early, self.names), self._changed(change.edits, names), names)

    def _changed(self, edits: Sequence[Edit], names: dict[str, Any]) -> Algorithm:
        touched = [name for name, function in self.functions.items() if any(function.holds(edit) for edit in edits)]
        return self._build(touched, edits, names) if touched else self.plain

    def _build(self, functions: Sequence[str], edits: Sequence[Edit], names: dict[str, Any]) -> Algorithm:
        made = {name: self.functions[name].compile(self.text, edits, names) for name in functions}
        owner = self.algorithm if len(functions) == len(self.functions) else self.plain
        return replace_functions(owner, made)


@dataclass(frozen=True, eq=False)
class _TwoPasses:
    """A round that reads, as ``after``, the state that another pass through it has led to."""

    early: Any
    late: Any
    names: dict[str, Any]

    def init(self, problem: Problem, x0: Array) -> State:
        """As both."""
        return self.late.init(problem, x0)

    def round(self, problem: Problem, state: State, clients: Clients | None, key: Key) -> State:
        """Both passes; the variables that the second one read must be what it leads to."""
        first = self.early.round(problem, state, clients, key)
        seen = _Reader(first)
        self.names["after"] = seen
        second = self.late.round(problem, state, clients, key)
        for name in seen.read:
            if not np.allclose(to_numpy(getattr(first, name)), to_numpy(getattr(second, name)), rtol=1e-9, atol=1e-12):
                raise ValueError(f"{name} changes with what reads it")
        return second


class _Reader:
    """A state that remembers what was read of it."""

    def __init__(self, state: State) -> None:
        self._state, self.read = state, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self._state, name)


def show_change(text: str, change: RoundChange) -> tuple[str, ...]:
    """Return the lines that a change changes, as a difference: ``- old``, ``+ new``."""
    return show_lines(text, apply_edits(text, change.edits))


def show_lines(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ: ``- old``, ``+ new``."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    shown = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return tuple(f"{line[0]} {line[1:].split('  #')[0].strip()}" for line in shown)

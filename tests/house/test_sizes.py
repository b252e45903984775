"""Functions are short; ruff holds their branches and statements (C901, PLR0915)."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST, MOST_OF_A_TEST = 60, 25
#: lines on which nothing of a function stands, or the inside of a text
NOTHING = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
#: what keeps its text: kept runs name the code that made them
KEPT = {"fedtheory/running/runner.py: run"}


def lines_of_code(text: str) -> set[int]:
    """Lines on which a word of code begins; a text of several lines is one."""
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0] for token in found if token.type not in NOTHING}


def lengths(text: str) -> Iterator[tuple[str, int]]:
    """Functions with their lines of code, without docstrings."""
    lines = lines_of_code(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = {line for line in lines if node.lineno <= line <= (node.end_lineno or 0)}
            said = {node.body[0].lineno} if ast.get_docstring(node) is not None else set()
            yield node.name, len(own - said)


def longer(than: int, *folders: str) -> dict[str, int]:
    """Functions with more lines of code, by file and name."""
    return {
        f"{path.relative_to(ROOT)}: {name}": length
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        for name, length in lengths(path.read_text())
        if length > than
    }


def test_no_function_is_long() -> None:
    long = longer(MOST, "fedtheory", "problems", "paper_checks")
    assert long.keys() == KEPT, f"more than {MOST} lines of code; take out what is an idea of its own: {long}"


def test_no_test_is_long() -> None:
    long = {name: length for name, length in longer(MOST_OF_A_TEST, "tests").items() if ": test_" in name}
    assert not long, f"more than {MOST_OF_A_TEST} lines of code; a test tells one thing: {long}"


def test_lines_are_counted_as_a_reader_would() -> None:
    text = '''def f(x):
    """Say what.

    It has a docstring.
    """
    # a comment
    y = """
    a text
    """

    def g():
        return 1

    return y
'''
    assert dict(lengths(text)) == {"f": 5, "g": 2}

"""Formulas that are wider than a page: LaTeX that TeX can break over lines.

TeX breaks a formula within text after relations, sums and differences, and never within a fraction, a root, or a number.
"""

from __future__ import annotations

import re

from fedtheory.tools.latex import break_numbers

#: characters of a formula that fit a line of 160 mm, and a cell of a table
LINE, CELL = 80, 30
_STACKED = re.compile(r"\\(frac|sqrt)\{")
_SLASH_MAY_FOLLOW = re.compile(r"\s*($|[+\-=<>,)]|\\(le|ge|ne|quad|qquad|to)\b)")


def open_wide(formula: str, most: int = LINE) -> str:
    r"""Return LaTeX where a fraction or a root of more than ``most`` characters is written in one line, and long numbers may be broken.

    Examples
    --------
    >>> open_wide(r"x \le \frac{a + b}{2}", most=4)
    'x \\le (a + b)/2'
    >>> open_wide(r"\frac{a + b}{2 c} x + \sqrt{u + v}", most=4)
    '(a + b) (2 c)^{-1} x + (u + v)^{1/2}'
    """
    return break_numbers(_open(formula, most))


def split_statements(formula: str) -> list[str]:
    r"""Return what stands between commas with a space of a quad after them, outside of braces.

    Examples
    --------
    >>> split_statements(r"0 < a, \quad a < \frac{b}{c, \quad d}")
    ['0 < a,', 'a < \\frac{b}{c, \\quad d}']
    """
    pieces, depth, since = [], 0, 0
    for found in re.finditer(r"\\[{}]|[{}]|, \\quad ", formula):
        depth += (found[0] == "{") - (found[0] == "}")
        if depth == 0 and found[0].startswith(","):
            pieces.append(formula[since : found.start() + 1])
            since = found.end()
    return [*pieces, formula[since:]]


def count_characters(formula: str) -> int:
    r"""Return about how many characters wide a formula is: of a fraction the wider part, of a command one.

    Examples
    --------
    >>> count_characters(r"\frac{a + b}{2}"), count_characters(r"\eta_{i}")
    (5, 2)
    """
    found = _STACKED.search(formula)
    if found is None:
        bare = re.sub(r"\\(operatorname|text|mathrm)\b", "", formula)
        return len(re.sub(r"[{}_^&]", "", re.sub(r"\\([A-Za-z]+ ?|.)", "x", bare)))
    parts, end = _arguments(formula, found)
    widest = max(map(count_characters, parts))
    return count_characters(formula[: found.start()]) + widest + count_characters(formula[end:])


def _open(formula: str, most: int) -> str:
    """Stacked parts that are not within braces of something else, from left to right."""
    done, since, depth = "", 0, 0
    for found in re.finditer(r"\\(?:frac|sqrt)\{|\\[{}]|[{}]", formula):
        if found.start() < since:
            continue
        if found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
        if depth or not (stacked := _STACKED.match(formula, found.start())):
            continue
        parts, end = _arguments(formula, stacked)
        done += formula[since : found.start()]
        if max(map(count_characters, parts)) <= most:
            done += formula[found.start() : end]
        else:
            done += _in_one_line([_open(part, most) for part in parts], formula[end:])
        since = end
    return done + formula[since:]


def _in_one_line(parts: list[str], after: str) -> str:
    """A root or a fraction: with a slash where nothing after it could be taken for a part of what is below."""
    if len(parts) == 1:
        return f"({parts[0]})^{{1/2}}"
    above = f"({parts[0]})" if re.search(r"[+\-]", parts[0]) else parts[0]
    single = re.fullmatch(r"\w+|\\[A-Za-z]+", parts[1])
    if _SLASH_MAY_FOLLOW.match(after):
        return f"{above}/{parts[1] if single else f'({parts[1]})'}"
    return f"{above} ({parts[1]})^{{-1}}"


def _arguments(formula: str, stacked: re.Match[str]) -> tuple[list[str], int]:
    """What stands in the braces of a fraction (two) or a root (one), and where they end."""
    parts, k = [], stacked.end()
    for _ in range(2 if stacked[1] == "frac" else 1):
        begun, depth = k, 1
        while depth:
            if formula[k] == "\\":
                k += 1  # a brace after it is no brace
            else:
                depth += (formula[k] == "{") - (formula[k] == "}")
            k += 1
        parts.append(formula[begun : k - 1])
        k += 1  # the brace that begins what is below
    return parts, k - 1

r"""Formulas as text, plain and as LaTeX: of sentences, of quantities of a state, and of what is written out on names.

Beside what sentences and quantities have (`fedtheory.proofs.checker.formulas`, `fedtheory.claims.statements.theorems.quantities`) a tree may have
``of_round(x, t + 1)``, a field of the state of a round, which is shown as ``x^{t+1}``; comparisons; and names that are words, shown as
``[lowest value]``. LaTeX is as `fedtheory.tools.typesetting` reads it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TypeAlias

from fedtheory.proofs.checker.formulas import Sentence, exact, read
from fedtheory.proofs.regions.region import Region

#: words with formulas among them
WordLine: TypeAlias = tuple["str | ast.expr | Sentence", ...]

GREEK = frozenset(
    [
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lam", "lambda", "mu"),
        *("nu", "xi", "rho", "sigma", "tau", "phi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
    ]
)
_ACCENTS = ("bar", "tilde", "hat")
_SIGNS = {"<=": r"\le", "<": "<", "==": "=", "->": r"\to"}
_RELATIONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "="}
_IN_LATEX = {"<=": r"\le", ">=": r"\ge"}
#: how tightly sums, products, powers and names bind
_SUM, _PRODUCT, _DIVISOR, _POWER = 1, 2, 4, 5


def of_round(name: str, index: ast.expr) -> ast.expr:
    """A field of the state of a round."""
    return ast.Call(ast.Name("of_round", ast.Load()), [ast.Name(name, ast.Load()), index], [])


def write_line(line: WordLine) -> str:
    """A line as plain text."""
    return "".join(
        part if isinstance(part, str) else show_sentence(part) if isinstance(part, Sentence) else write(part)
        for part in line
    )


def join_pieces(pieces: Sequence[str | ast.expr | WordLine], between: str = ", ") -> WordLine:
    """Pieces, or lines, as one line, with a text between them."""
    found: list[str | ast.expr | Sentence] = []
    for k, piece in enumerate(pieces):
        found += [between] * (k > 0) + list(piece if isinstance(piece, tuple) else (piece,))
    return tuple(found)


# ---- plain text ------------------------------------------------------------------------------------------------------


def show_sentence(sentence: Sentence) -> str:
    """A sentence as plain text."""
    fixed = f"at {', '.join(f'{name} = {k}' for name, k in sentence.fixed)}: " if sentence.fixed else ""
    bound = sentence.exists
    some = "" if bound is None else f"there is {bound.variable} in {write(bound.low)}, ..., {write(bound.high)} with "
    end = f" as {sentence.to_infinity} -> infinity" if sentence.to_infinity else ""
    end += f" in {sentence.along}" if sentence.along else ""
    sign = "=" if sentence.sign == "==" else sentence.sign
    left, right = (write(draw_signs(side)) for side in sentence.sides)
    return f"{fixed}{some}{left} {sign} {right}{end}"


def write_region(region: Region) -> str:
    """Parameters and their ranges, as plain text."""
    pieces = []
    for p in region.parameters:
        text = str(p)
        pieces.append(text if " in " in text else write(ast.parse(text, mode="eval").body))
    return ", ".join(pieces)


def write(tree: ast.expr, level: int = 0) -> str:
    """A formula as plain text; ``level``: how tightly what stands around it binds.

    Examples
    --------
    >>> write(read("(1 - lr*mu)**(2*t)*X[t+1]/(2*L)"))
    '(1 - lr mu)^(2 t) X[t+1]/(2 L)'
    """
    match tree:
        case ast.Constant():
            value = exact(tree)
            return str(value) if value.denominator == 1 else str(tree.value)
        case ast.Name(id=name):
            return _plain_name(name)
        case ast.UnaryOp(operand=inner):
            return _bracket(f"-{write(inner, _PRODUCT)}", _SUM, level)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            return f"{_plain_name(name)}[{_compact(index)}]"
        case ast.Compare(left=left, ops=signs, comparators=others):
            rest = "".join(f" {_RELATIONS[type(sign)]} {write(part)}" for sign, part in zip(signs, others, strict=True))
            return f"{write(left)}{rest}"
        case ast.BinOp(op=sign):
            return _write_operation(tree, sign, level)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _write_call(name, args, level)
    return ast.unparse(tree)


def _write_operation(tree: ast.BinOp, sign: ast.operator, level: int) -> str:
    left, right = tree.left, tree.right
    match sign:
        case ast.Div():
            return _bracket(f"{write(left, _PRODUCT)}/{write(right, _DIVISOR)}", _PRODUCT, level)
        case ast.Pow():
            base = write(left, _POWER)
            base = f"({base})" if base[:1] != "(" and re.search(r"\^\S+$|\*$", base) else base
            simple = isinstance(right, ast.Name | ast.Constant)
            return _bracket(f"{base}^{write(right) if simple else f'({write(right)})'}", _DIVISOR, level)
        case ast.Mult():
            first, second = write(left, _PRODUCT), write(right, _PRODUCT)
            times = " * " if first[-1:].isdigit() and second[:1].isdigit() else " "
            return _bracket(f"{first}{times}{second}", _PRODUCT, level)
    after = _PRODUCT if isinstance(sign, ast.Sub) or isinstance(right, ast.UnaryOp) else _SUM
    text = f"{write(left, _SUM)} {'+' if isinstance(sign, ast.Add) else '-'} {write(right, after)}"
    return _bracket(text, _SUM, level)


def _write_call(name: str, args: list[ast.expr], level: int) -> str:
    match name, args:
        case "of_round", [ast.Name(id=field), index]:
            return f"{_plain_name(field)}^{_script(index)}"
        case "sum", [body, ast.Name(id=variable), low, high]:
            ends = f"sum_{{{variable}={_compact(low)}}}^{_script(high)}"
            return _bracket(f"{ends} {write(body, _PRODUCT)}", _PRODUCT, level)
        case "norm2", [u]:
            return f"||{write(u)}||^2"
        case "dot", [u, v]:
            return f"<{write(u)}, {write(v)}>"
        case "bar", [inner]:
            return f"mean({write(inner)})"
        case "grad", [ast.Name(id=f), u]:
            return _bracket(f"grad {_plain_name(f)}({write(u)})", _PRODUCT, level)
        case "abs", [inner]:
            return f"|{write(inner)}|"
    return f"{_plain_name(name)}({', '.join(write(part) for part in args)})"


def _script(index: ast.expr) -> str:
    text = _compact(index)
    return text if re.fullmatch(r"\w+", text) else f"{{{text}}}"


def _compact(index: ast.expr) -> str:
    return write(index).replace(" + ", "+").replace(" - ", "-")


def _plain_name(name: str) -> str:
    if not name.isidentifier():
        return f"[{name}]"
    accent, _, inner = name.partition("_")
    if accent in _ACCENTS and (len(inner) == 1 or inner in GREEK):
        return f"{inner}{accent}"
    return f"{name.removesuffix('_star')}*" if name.endswith("_star") else name


# ---- LaTeX -----------------------------------------------------------------------------------------------------------


def latex_sentence(sentence: Sentence) -> str:
    """A sentence as a formula."""
    before = ""
    if sentence.exists is not None:
        low, high = latex(sentence.exists.low), latex(sentence.exists.high)
        before = f"\\text{{there is }} {sentence.exists.variable} \\in [{low}, ..., {high}]: \\quad "
    along = f" \\quad ({sentence.to_infinity} \\in {sentence.along})" if sentence.along else ""
    left, right = (latex(draw_signs(side)) for side in sentence.sides)
    return f"{before}{left} {_SIGNS[sentence.sign]} {right}{along}"


def latex(tree: ast.expr, level: int = 0) -> str:
    """A formula as LaTeX; ``level``: how tightly what stands around it binds."""
    match tree:
        case ast.Constant():
            value = exact(tree)
            return str(value) if value.denominator == 1 else str(tree.value)
        case ast.Name(id=name):
            return latex_name(name)
        case ast.UnaryOp(operand=inner):
            return _bracket(f"-{latex(inner, _PRODUCT)}", _SUM, level)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            return with_index(latex_name(name), latex(index))
        case ast.Compare(left=left, ops=signs, comparators=others):
            shown = [_RELATIONS[type(sign)] for sign in signs]
            rest = "".join(
                f" {_IN_LATEX.get(sign, sign)} {latex(part)}" for sign, part in zip(shown, others, strict=True)
            )
            return f"{latex(left)}{rest}"
        case ast.BinOp(op=sign):
            return _operation(tree, sign, level)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, args, level)
    return ast.unparse(tree)


def latex_region(region: Region) -> str:
    """Parameters and their ranges."""
    pieces = []
    for p in region.parameters:
        name, low = latex_name(p.name), latex(read(str(p.low)))
        high = "" if p.high is None else latex(read(str(p.high)))
        if p.integer or p.whole:
            pieces.append(f"{name} \\in [{low}, ..., {high}]" if high else f"{name} \\ge {low}")
            continue
        above = f" {chr(92) + 'le' if p.high_closed else '<'} {high}" if high else ""
        pieces.append(f"{low} {chr(92) + 'le' if p.low_closed else '<'} {name}{above}")
    return ", \\quad ".join(pieces)


def with_index(shown: str, index: str) -> str:
    r"""A symbol with an index more: of one that has an index both are one, as TeX takes no two.

    Examples
    --------
    >>> print(with_index("\\theta_{2}", "t"), with_index("x", "t"))
    \theta_{2,t} x_{t}
    """
    return f"{shown[:-1]},{index}}}" if shown.endswith("}") and "_{" in shown else f"{shown}_{{{index}}}"


def _operation(tree: ast.BinOp, sign: ast.operator, level: int) -> str:
    """A sum, difference, product, quotient or power."""
    left, right = tree.left, tree.right
    if isinstance(sign, ast.Div):
        return f"\\frac{{{latex(left)}}}{{{latex(right)}}}"
    if isinstance(sign, ast.Pow):
        base = latex(left, 5)
        bare = not (isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div | ast.Pow)) and base[-2:] not in (
            "^*",
            "^2",
        )
        return f"{base if bare else f'({base})'}^{{{latex(right)}}}"
    if isinstance(sign, ast.Mult):
        first, second = latex(left, 2), latex(right, 2)
        digits = second[:1].isdigit() or (first[-1:].isdigit() and re.match(r"\\frac\{\d", second))
        dot = " \\cdot " if digits else " "
        return _bracket(f"{first}{dot}{second}", 2, level)
    after = 2 if isinstance(sign, ast.Sub) or isinstance(right, ast.UnaryOp) else 1
    return _bracket(f"{latex(left, 1)} {'+' if isinstance(sign, ast.Add) else '-'} {latex(right, after)}", 1, level)


def _call(name: str, args: list[ast.expr], level: int) -> str:
    match name, args:
        case "of_round", [ast.Name(id=field), index]:
            shown = latex_name(field)
            return f"{f'({shown})' if '^' in shown else shown}^{{{latex(index)}}}"
        case "sum", [body, ast.Name(id=variable), low, high]:
            return _bracket(f"\\sum_{{{variable}={latex(low)}}}^{{{latex(high)}}} {latex(body, 2)}", 2, level)
        case "sqrt", [inner]:
            return f"\\sqrt{{{latex(inner)}}}"
        case "norm2", [u]:
            return f"\\|{latex(u)}\\|^2"
        case "dot", [u, v]:
            return f"\\langle {latex(u)}, {latex(v)} \\rangle"
        case "mean" | "bar", [inner]:
            return _bracket(f"\\frac{{1}}{{n}} \\sum_{{i}} {latex(inner, 2)}", 2, level)
        case "grad", [ast.Name(id=f), u]:
            return f"\\nabla {latex_name(f)}({latex(u)})"
        case "abs", [inner]:
            return f"|{latex(inner)}|"
    shown = f"\\{name}" if name in ("max", "min", "exp", "log") else latex_name(name)
    return f"{shown}({', '.join(latex(part) for part in args)})"


def _bracket(text: str, own: int, level: int) -> str:
    return f"({text})" if own < level else text


def latex_name(name: str) -> str:
    """x_star is x^*, h_i and g1_i have indices, bar_x and tilde_x carry an accent, words of several letters are text."""
    if not name.isidentifier():
        return _made_name(name)
    accent, _, inner = name.partition("_")
    if accent in _ACCENTS and inner:
        base, below, more = latex_name(inner).partition("_{")
        return f"\\{accent}{{{base}}}{below}{more}"
    if name.endswith("_star"):
        return f"{latex_name(name.removesuffix('_star'))}^*"
    head, *rest = name.split("_")
    letters = head.rstrip("0123456789")
    if len(letters) == 1 or letters in GREEK:
        shown = f"\\{'lambda' if letters == 'lam' else letters}" if letters in GREEK else letters
        rest.insert(0, head[len(letters) :])
    else:  # the digits of a word are part of it
        shown = f"\\text{{{head}}}"
    index = [part for part in rest if part]
    return f"{shown}_{{{','.join(index)}}}" if index else shown


def _made_name(name: str) -> str:
    """A name that a world was given: ``s 0`` has an index, ``grad f_i(w_0)`` is a gradient, ``w*`` and ``w+`` have a mark; other words are text."""
    if made := re.fullmatch(r"(.+?) (\d+(?: \d+)*)", name):
        base, index = latex_name(made[1]), made[2].replace(" ", ",")
        return f"{base[:-1]},{index}}}" if re.search(r"_\{[^{}]*\}$", base) else f"{base}_{{{index}}}"
    if made := re.fullmatch(r"grad (\S+)", name):
        return f"\\nabla {latex_name(made[1])}"
    if made := re.fullmatch(r"(\w+)\((\S+)\)", name):
        return f"{latex_name(made[1])}({latex_name(made[2])})"
    if made := re.fullmatch(r"(\w+)([*+])", name):
        return f"{latex_name(made[1])}^{made[2]}"
    if made := re.fullmatch(r"(\w+)\^(\w+)", name):
        return f"{latex_name(made[1])}^{{{made[2]}}}"
    return f"\\text{{{re.sub(r'[^-+* /(),.0-9A-Za-z]', '', name)}}}"


# ---- signs -----------------------------------------------------------------------------------------------------------


def draw_signs(tree: ast.expr) -> ast.expr:
    """The same formula with signs before products, ``a - 2*b`` for ``a + (-2)*b``, without factors and powers that are the number one."""
    positive, inner = split_sign(tree)
    return inner if positive else ast.UnaryOp(ast.USub(), inner)


def split_sign(tree: ast.expr) -> tuple[bool, ast.expr]:
    """A sign, and the formula without it."""
    match tree:
        case ast.UnaryOp(operand=inner):
            positive, inside = split_sign(inner)
            return not positive, inside
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as sign, right=right):
            (plus, a), (also, b) = split_sign(left), split_sign(right)
            if isinstance(sign, ast.Mult) and _is_one(a):
                return plus == also, b
            return plus == also, a if _is_one(b) else ast.BinOp(a, sign, b)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            plus, b = split_sign(right)
            return True, ast.BinOp(draw_signs(left), ast.Add() if plus == isinstance(sign, ast.Add) else ast.Sub(), b)
        case ast.BinOp(left=left, op=ast.Pow() as sign, right=right):
            base = draw_signs(left)
            if _is_one(right):
                return split_sign(base)
            if isinstance(right, ast.BinOp) and ast.unparse(right) == "1 / 2":
                return True, ast.Call(ast.Name("sqrt", ast.Load()), [base], [])
            return True, ast.BinOp(base, sign, draw_signs(right))
        case ast.Call(func=function, args=args):
            return True, ast.Call(function, [draw_signs(part) for part in args], [])
    return True, tree


def _is_one(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value == 1

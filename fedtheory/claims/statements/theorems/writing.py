r"""A theorem in words and as a formula, made of the theorem: nobody writes them a second time.

Formulas are LaTeX as `fedtheory.tools.typesetting` reads it: ``\text{gap}_{N} \le \frac{L D_{0}}{2 N}``.
"""

from __future__ import annotations

import ast
import re

from fedtheory.claims.statements.theorems.quantities import read_quantity
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.checker.formulas import Sentence, exact, indexed, quantity_of, read
from fedtheory.proofs.regions.region import Region

GREEK = frozenset(
    [
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lam", "lambda", "mu"),
        *("nu", "xi", "rho", "sigma", "tau", "phi", "psi", "omega"),
    ]
)
_SIGNS = {"<=": r"\le", "<": "<", "==": "=", "->": r"\to"}
_RELATIONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge", ast.Eq: "="}


def describe_theorem(theorem: Theorem) -> str:
    """The theorem in one sentence: for whom, what, under which hypotheses."""
    said = " and ".join(write_claim(sentence) for sentence in theorem.sentences)
    told = [said, *_legend(theorem)]
    given = [f"{text} ({name})" for name, text in theorem.given.items()]
    if given:
        told.append(f"given {', '.join(given)}")
    return "; ".join([*told, *_scope(theorem)]) + "."


def write_scope(theorem: Theorem) -> list[str]:
    """What the theorem assumes: parameters, rounds, method and class, hypotheses by name."""
    found = [f"parameters: {theorem.region}"] if theorem.region else []
    states = theorem.states
    if isinstance(states, MethodStates):
        found += [f"method: {states.named_method}", f"functions: {states.functions}"]
    mark = dict.fromkeys(theorem.added, " (added: the paper does not print it)")
    found += [f"given {name}: {text}{mark.get(name, '')}" for name, text in theorem.given.items()]
    found += [f"assumed, {name}: {text}{mark.get(name, '')}" for name, text in theorem.assumed.items()]
    return found + [
        f"added: {piece}" for piece in theorem.added if piece not in theorem.given and piece not in theorem.assumed
    ]


def write_claim(sentence: Sentence) -> str:
    """A claim as plain text, with rounds as in a paper: ``gap_N <= L dist2_0/(2 N)``."""
    return str(sentence).replace("**", "^").replace(" * ", " ").replace(" / ", "/").replace("==", "=")


def write_latex(theorem: Theorem) -> str:
    """All claims as one formula, then what its quantities and names stand for."""
    claims = [latex_sentence(sentence) for sentence in theorem.sentences]
    used = {quantity_of(n) for s in theorem.sentences for side in s.sides for n in indexed(side)}
    legend = [
        f"{latex_name(name)}_{{t}} = {latex_quantity(text)}"
        for name, text in theorem.quantities.items()
        if name in used
    ]
    spoken = {n for s in theorem.sentences for n in s.names}
    legend += [f"{latex_name(name)} = {latex(read(text))}" for name, text in theorem.where.items() if name in spoken]
    return ", \\quad ".join([*claims, *legend])


def latex_sentence(sentence: Sentence) -> str:
    """A sentence as a formula."""
    before = ""
    if sentence.exists is not None:
        low, high = latex(sentence.exists.low), latex(sentence.exists.high)
        before = f"\\text{{there is }} {sentence.exists.variable} \\in \\{{{low}, ..., {high}\\}}: \\quad ".replace(
            "\\{", "["
        ).replace("\\}", "]")
    along = f" \\quad ({sentence.to_infinity} \\in {sentence.along})" if sentence.along else ""
    return f"{before}{latex(sentence.left)} {_SIGNS[sentence.sign]} {latex(sentence.right)}{along}"


def latex(tree: ast.expr, level: int = 0) -> str:
    """A formula of a sentence, or of a quantity of a state; ``level``: how tightly what stands around it binds."""
    match tree:
        case ast.Constant():
            value = exact(tree)
            return str(value) if value.denominator == 1 else str(tree.value)
        case ast.Name(id=name):
            return latex_name(name)
        case ast.UnaryOp(operand=inner):
            return _bracket(f"-{latex(inner, 2)}", 1, level)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            shown = latex_name(name)
            return (
                f"{shown[:-1]},{latex(index)}}}"
                if shown.endswith("}") and "_{" in shown
                else f"{shown}_{{{latex(index)}}}"
            )
        case ast.Compare(left=left, ops=signs, comparators=others):
            rest = "".join(f" {_RELATIONS[type(sign)]} {latex(part)}" for sign, part in zip(signs, others, strict=True))
            return f"{latex(left)}{rest}"
        case ast.BinOp(op=sign):
            return _operation(tree, sign, level)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, args, level)
    return ast.unparse(tree)


def latex_quantity(text: str) -> str:
    """The formula of a quantity of a state."""
    return latex(read_quantity(text))


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
    accent, _, inner = name.partition("_")
    if accent in ("bar", "tilde", "hat") and inner:
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


def _legend(theorem: Theorem) -> list[str]:
    spoken = {n for s in theorem.sentences for n in s.names} | set(theorem.where)
    return [f"{name} = {text}" for name, text in theorem.quantities.items()] + [
        f"{name} = {text}" for name, text in theorem.where.items() if name in spoken
    ]


def _scope(theorem: Theorem) -> list[str]:
    rounds = sorted({n for s in theorem.sentences for n in s.names} & theorem.rounds.keys())
    found = [f"for all {', '.join(f'{n} >= {theorem.rounds[n]}' for n in rounds)}"] if rounds else []
    sets = sorted({s.along for s in (*theorem.sentences, *theorem.hypotheses.values()) if s.along})
    found += [f"{name} any infinite set of rounds" for name in sets]
    found += [f"{theorem.region}"] if theorem.region else []
    if isinstance(theorem.states, MethodStates):
        found.append(
            f"{theorem.states.named_method}, functions {theorem.states.functions}, every number of clients and dimension"
        )
    elif theorem.states is not None:
        found.append("every dimension")
    return found

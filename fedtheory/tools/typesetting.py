r"""Mathematics in plain text, such as ``||x_t - x*||^2 <= eta_g L/(2N)``, as MathML for pages that load nothing.

Prose stays prose: what is mathematics is seen by its signs, scripts and Greek names. A formula that stands alone (`typeset_formula`) may also be
written in LaTeX's commands, of which the common ones are known: ``\frac{a}{b}``, ``\sqrt{a}``, ``\le``, ``\eta``, ``\bar x``,
``\text{for all}``.
Nothing is refused: what is not understood is shown as it is written.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache

_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"""
_LETTERS = {
    **dict(zip(_GREEK.split(), "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", strict=True)),
    **{"lam": "λ", "eps": "ε", "varepsilon": "ε", "ell": "ℓ"},
}
_SYMBOLS = {"grad": "∇", "infinity": "∞", "oo": "∞"}
_COMMANDS = _LETTERS | {"nabla": "∇", "infty": "∞", "partial": "∂", "ldots": "…", "dots": "…"}
_OPERATORS = {
    **{"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "+-": "±", "-+": "∓", "-": "−", "==": "="},
    **{r"\le": "≤", r"\leq": "≤", r"\ge": "≥", r"\geq": "≥", r"\ne": "≠", r"\to": "→", r"\in": "∈", r"\cdot": "·"},
    **{
        r"\times": "×",
        r"\sum": "∑",
        "sum": "∑",
        "prod": "∏",
        r"\prod": "∏",
        r"\mid": "|",
        r"\pm": "±",
        r"\approx": "≈",
        r"\langle": "⟨",
        r"\rangle": "⟩",
    },
}
_FUNCTIONS = frozenset(
    [
        *("max", "min", "sup", "inf", "lim", "log", "exp", "dist", "prox", "argmin", "mean", "rank", "tr"),
        *("sign", "Var", "Cov", "det", "diag", "cos", "sin"),
    ]
)
_ACCENTS = {"hat": "^", "bar": "¯", "tilde": "~"}
#: single letters that may carry an accent's name, so that "what" is none
_ACCENTED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZfghpquvxyz")
#: words of two letters that are no products of two symbols
_WORDS = frozenset(re.findall("..", "anasatbebydoheifinisitnoofonorsotoupuswemygoamvsideq"))
_RELATIONS = frozenset(["<=", ">=", "<", ">", "=", "==", "!=", "->"])
#: signs that make mathematics of what stands beside them
_STRONG = _RELATIONS | {"^", "_", "||", "**", "+", "+-", "*"}
#: tokens that stand on one line
SHORTEST = 12
_CLOSING = {"(": ")", "[": "]", "{": "}"}

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?(?:e[-+]?\d+)?)|(?P<name>[A-Za-z]+(?:'(?![a-z]))*)|(?P<command>\\[A-Za-z]+)"
    r"|(?P<sign><=|>=|==|!=|\|\||->|\*\*|\+-|-\+|\\[|{}]|[-+*/^_=<>|(){}\[\],~!])|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def typeset_formula(text: str, *, within_text: bool = False) -> str:
    """Return a formula as MathML, with fractions stacked: one that stands alone, or one within a line of text."""
    display = "" if within_text else ' display="block"'
    spaced = text.replace("\\;", "\\quad ").replace("\\qquad", "\\quad\\quad ")
    return f"<math{display}>{_Parser(_tokens(spaced), stacked=True).all()}</math>" if text else ""


@lru_cache(maxsize=4096)
def typeset(text: str) -> str:
    """Return prose with mathematics in it as HTML, escaped: the mathematics is MathML."""
    found, tokens, k = [], _tokens(text), 0
    while k < len(tokens):
        end = _end_of_span(tokens, k)
        if end > k:
            pieces = (f"<math>{_Parser(piece).all()}</math>" for piece in _break(tokens[k:end]))
            found.append("<wbr>".join(pieces))
            k = end
        elif _is_symbol(tokens, k):
            times = tokens[k].text == "x" and k + 2 < len(tokens) and tokens[k + 2].kind == "number"
            found.append("×" if times else f"<i>{_LETTERS.get(tokens[k].text, tokens[k].text)}</i>")
            k += 1
        else:
            found.append(html.escape(tokens[k].text))
            k += 1
    return "".join(found)


def _break(tokens: list[_Token]) -> list[list[_Token]]:
    """Pieces after which a line may end: before relations, sums and differences outside of brackets."""
    pieces: list[list[_Token]] = [[]]
    depth, inside = 0, False
    for k, token in enumerate(tokens):
        depth += (token.text in _CLOSING) - (token.text in _CLOSING.values())
        inside ^= token.text == "||"
        free = depth == 0 and not inside and _at(tokens, k - 1) == " " and _at(tokens, k + 1) == " "
        if free and len(pieces[-1]) > SHORTEST and len(tokens) - k > SHORTEST and token.text in (*_RELATIONS, "+", "-"):
            pieces.append([])
        pieces[-1].append(token)
    return pieces


def _tokens(text: str) -> list[_Token]:
    return [_Token(str(found.lastgroup), found.group()) for found in _TOKEN.finditer(text)]


# ---- what is mathematics --------------------------------------------------------------------------------------------


def _at(tokens: list[_Token], k: int) -> str:
    return tokens[k].text if 0 <= k < len(tokens) else ""


def _is_compound(tokens: list[_Token], k: int) -> bool:
    """Whether a name is a piece of a word with a hyphen, such as L-smooth, or of a code's name."""
    before = _at(tokens, k - 1) == "-" and tokens[k - 2].kind == "name" if k > 1 else False
    after = _at(tokens, k + 1) == "-" and k + 2 < len(tokens) and tokens[k + 2].kind == "name"
    return (after and len(_at(tokens, k + 2)) > 2) or bool(
        before
        and (len(_at(tokens, k - 2)) > 2 or len(_at(tokens, k)) > 2 or re.fullmatch("[IVX]{2,}", _at(tokens, k - 2)))
    )


def _is_symbol(tokens: list[_Token], k: int) -> bool:
    """Whether a single letter in prose is a symbol; an article and what follows an apostrophe is none."""
    text = tokens[k].text
    if (
        tokens[k].kind != "name"
        or (len(text) > 1 and text not in _LETTERS)
        or text in "aAI"
        or _at(tokens, k - 1) in ("'", ".")
    ):
        return False
    if (k and tokens[k - 1].kind == "number") or (_at(tokens, k + 1) == "." and _at(tokens, k + 2)[:1].isdigit()):
        return False
    return not _is_compound(tokens, k) or (len(_at(tokens, k + 2)) > 3 and _at(tokens, k + 2).islower())


def _is_mathematical(tokens: list[_Token], k: int) -> bool:
    """Whether a token can belong to mathematics."""
    token = tokens[k]
    if token.kind in ("number", "command"):
        return True
    if token.kind == "sign":
        return True
    if token.kind != "name" or _is_compound(tokens, k):
        return False
    text = token.text.rstrip("'")
    if text in _LETTERS or text in _SYMBOLS or text in _FUNCTIONS or _accented(text):
        return True
    if text in ("sum", "prod", "sqrt"):
        return text == "sqrt" or (_at(tokens, k + 1) == "_" and len(_at(tokens, k + 2)) <= 2)
    if text in _ACCENTS:
        return _at(tokens, k + 1) == " " and (len(_at(tokens, k + 2)) == 1 or _at(tokens, k + 2) in _LETTERS)
    if len(text) == 1:
        article = text in "aAI" and _at(tokens, k + 1) == " " and _at(tokens, k + 2) not in _STRONG | {"/", "-", ","}
        return not (article and not (_at(tokens, k - 1) == " " and _at(tokens, k - 2) in _STRONG | {"/", "-"}))
    if _at(tokens, k + 1) == "_" and len(text) <= 4 and len(_at(tokens, k + 2)) == 1:
        return True
    if _at(tokens, k + 1) == "^" or (_at(tokens, k - 1) == "_" and k > 1 and _is_mathematical(tokens, k - 2)):
        return True  # a word with an exponent, or one that is an index, as in kept^r and x_i_next
    beside = _at(tokens, k + 1) in ("_", "^", "(", "*") or _at(tokens, k - 1) in ("_", "^", "{", "/", "(")
    return text.lower() not in _WORDS and (len(text) == 2 or (len(text) == 3 and beside and not text.islower()))


def _end_of_span(tokens: list[_Token], start: int) -> int:
    """Return where mathematics that begins here ends; where it begins if there is none."""
    k, last, strong = start, start, False
    depth: list[str] = []
    before = tokens[start - 1] if start else _Token("space", " ")
    part_of_a_word = before.text == "'" or (tokens[start].kind == "number" and before.kind == "name")
    if tokens[start].kind == "space" or part_of_a_word:
        return start
    while k < len(tokens):
        token = tokens[k]
        if token.kind != "space":
            in_script = bool(depth) and "{" in depth
            if not in_script and not _is_mathematical(tokens, k):
                break
            if token.text in _CLOSING:
                depth.append(token.text)
            elif depth and token.text == _CLOSING[depth[-1]]:
                depth.pop()
            elif token.text in _CLOSING.values() or (token.text == "," and not depth):
                break
            strong = strong or token.text in _STRONG or token.text.rstrip("'") in {*_LETTERS, *_SYMBOLS}
            strong = (
                strong or (token.text == "/" and tokens[k - 1].kind != "space") or _accented(token.text) is not None
            )
            if not depth:
                last = k + 1
        k += 1
    while last > start and (
        tokens[last - 1].kind == "space" or tokens[last - 1].text in ("!", ",", "-", "+", "/", "~")
    ):
        last -= 1
    alone = all(
        t.kind in ("number", "space") or t.text in ("-", "+", "(", ")", "/", "[", "]") for t in tokens[start:last]
    )
    return last if strong and not alone and tokens[start].text not in ("/", ",", "-", "_", "^", "*", "!") else start


def _accented(text: str) -> tuple[str, str] | None:
    """Return the letter and accent of a name such as thetabar or Rhat."""
    for word, accent in _ACCENTS.items():
        base = text.removesuffix(word)
        if (
            base != text
            and text not in ("What", "That")
            and (base in _LETTERS or (len(base) == 1 and base in _ACCENTED))
        ):
            return base, accent
    return None


def _one(found: str) -> str:
    """What stands as one element: in a row, unless it is one symbol."""
    return found if re.fullmatch(r"<(m[ion])>[^<]*</\1>", found) else f"<mrow>{found}</mrow>"


# ---- MathML ---------------------------------------------------------------------------------------------------------


class _Parser:
    """Tokens to MathML: rows of atoms with scripts; fractions are stacked or written with a slash."""

    def __init__(self, tokens: list[_Token], stacked: bool = False) -> None:
        self.tokens, self.stacked, self.k = tokens, stacked, 0

    def all(self) -> str:
        """Everything that is left; brackets that close nothing are signs."""
        found = self.row("")
        while self.k < len(self.tokens):
            found += f"<mo>{html.escape(self.tokens[self.k].text)}</mo>"
            self.k += 1
            found += self.row("")
        return found

    def next(self) -> str:
        return self.tokens[self.k].text if self.k < len(self.tokens) else ""

    def skip(self) -> bool:
        begun = self.k
        while self.k < len(self.tokens) and self.tokens[self.k].kind == "space":
            self.k += 1
        return self.k > begun

    def row(self, closing: str) -> str:
        """Atoms and operators up to a closing bracket or the end."""
        done: list[str] = []
        factors: list[str] = []  # of the product that is being read, which a slash divides
        while self.k < len(self.tokens):
            spaced, text = self.skip(), self.next()
            if text == "" or (text == closing or (not closing and text in (")", "]", "}"))):
                break
            kind = self.tokens[self.k].kind
            if text in ("/",) and self.stacked and factors:
                self.k += 1
                self.skip()
                factors = [f"<mfrac>{_one(''.join(factors))}{_one(self.atom(bare=True))}</mfrac>"]
            elif text == "*":
                self.k += 1
                after = self.next()
                times = spaced or after == "(" or (after != "" and after[0].isalnum())
                if factors and not times:
                    factors[-1] = f"<msup>{factors[-1]}<mo>∗</mo></msup>"
                elif not self.stacked:
                    factors.append("<mo>·</mo>")
            elif text in ("^", "_", "**") and factors:
                factors[-1] = self.scripts(factors[-1])
            elif (kind == "sign" and text not in (*_CLOSING, "||", "|", "\\|", "\\{", "\\}")) or text in _OPERATORS:
                self.k += 1
                shown = html.escape(_OPERATORS.get(text, text))
                first = self.k == 1 and text in (*_RELATIONS, "+", "-") and self.next() == " "  # of a line
                sign = f'<mo form="infix">{shown}</mo>' if first else f"<mo>{shown}</mo>"
                done += [*factors, f"<mi>{shown}</mi>" if text == "/" else sign]  # an operator would have gaps
                factors = []
                if text.lstrip("\\") in ("sum", "prod"):
                    factors = [self.scripts(done.pop())]
            else:
                if spaced and factors and kind in ("name", "number", "command"):
                    factors.append('<mspace width=".17em"/>')
                factors.append(self.scripts(self.atom()))
        return "".join(done + factors)

    def scripts(self, base: str) -> str:
        """The base with the scripts that follow it."""
        below = above = ""
        while self.next() in ("^", "_", "**"):
            sign = self.next()
            if (sign == "_" and below) or (sign != "_" and above):
                break
            self.k += 1
            self.skip() if sign == "**" else None
            found = self.atom(bare=True, script=True)
            below, above = (found, above) if sign == "_" else (below, found)
        if self.next() == "*" and not above and not self.stacked:
            after = self.tokens[self.k + 1].text if self.k + 1 < len(self.tokens) else ""
            if not after or not (after[0].isalnum() or after == "("):
                self.k += 1
                above = "<mo>∗</mo>"
        if below and above:
            return f"<msubsup>{base}{_one(below)}{_one(above)}</msubsup>"
        if below or above:
            tag = "msub" if below else "msup"
            return f"<{tag}>{base}{_one(below or above)}</{tag}>"
        return base

    def bracketed(self, opening: str, bare: bool) -> str:
        """A row in brackets; without them where something else shows what belongs together."""
        closing = _CLOSING[opening]
        inside = self.row(closing)
        if self.next() != closing:
            return f"<mo>{opening}</mo>{inside}"
        self.k += 1
        if bare and opening in "{(":
            return inside
        return f"<mrow><mo>{opening}</mo>{inside}<mo>{closing}</mo></mrow>"

    def atom(self, bare: bool = False, script: bool = False) -> str:
        """One symbol, number or bracket."""
        if self.k >= len(self.tokens):
            return "<mrow></mrow>"
        token = self.tokens[self.k]
        self.k += 1
        if token.text in _CLOSING:
            latex = token.text == "{" and self.stacked
            return self.bracketed(token.text, (bare and not (script and token.text == "(")) or latex)
        if token.kind == "number":
            return self.scripts_in(f"<mn>{token.text}</mn>", bare and not script)
        if token.text in ("||", "\\|", "|"):
            return f"<mi>{'|' if token.text == '|' else '‖'}</mi>"
        if token.kind == "command":
            return self.command(token.text[1:])
        if token.kind == "name":
            return self.scripts_in(self.name(token.text), bare and not script)
        if script and token.text in ("-", "+", "*") and token.text != "*":
            return f"<mo>{_OPERATORS.get(token.text, token.text)}</mo>{self.atom()}"
        return (
            f"<mo>{html.escape(_OPERATORS.get(token.text.lstrip(chr(92)), token.text.lstrip(chr(92))))}</mo>".replace(
                "*", "∗"
            )
        )

    def scripts_in(self, found: str, wanted: bool) -> str:
        """With scripts where what follows a slash takes them with it."""
        return self.scripts(found) if wanted else found

    def command(self, name: str) -> str:
        """What a command of LaTeX stands for."""
        if name in ("frac", "tfrac", "dfrac"):
            self.skip()
            above = _one(self.atom(bare=True))
            self.skip()
            return f"<mfrac>{above}{_one(self.atom(bare=True))}</mfrac>"
        if name in ("left", "right", "displaystyle", "big", "Big"):
            return ""
        if name == "quad":
            return '<mspace width="1em"/>'
        if name in ("text", "mathrm", "operatorname", "mathbb", "mathcal", "mathbf"):
            begun = self.k + 1
            while self.k < len(self.tokens) and self.next() != "}":
                self.k += 1
            inside = html.escape("".join(token.text for token in self.tokens[begun : self.k]))
            self.k += 1
            return f"<mtext>{inside}</mtext>" if name == "text" else f'<mi mathvariant="normal">{inside}</mi>'
        return self.scripts(f"<mi>{_COMMANDS[name]}</mi>") if name in _COMMANDS else self.name(name)

    def name(self, text: str) -> str:
        """A letter, a function, or a word."""
        word = text.rstrip("'")
        primes = "′" * (len(text) - len(word))
        accented = _accented(word)
        if word in _ACCENTS:
            self.skip()
            return f'<mover accent="true">{self.atom()}<mo stretchy="false">{_ACCENTS[word]}</mo></mover>'
        if accented is not None:
            return f'<mover accent="true">{self.name(accented[0])}<mo stretchy="false">{accented[1]}</mo></mover>'
        if word == "sqrt":
            self.skip()
            return f"<msqrt>{self.atom(bare=True)}</msqrt>"
        numbered = word in _SYMBOLS and self.k < len(self.tokens) and self.tokens[self.k].kind == "number"
        if numbered:  # a name such as grad2
            self.k += 1
            found = f"<mi>{word}{self.tokens[self.k - 1].text}</mi>"
        elif word in _LETTERS or word in _SYMBOLS:
            found = f"<mi>{(_LETTERS | _SYMBOLS)[word]}</mi>"
        elif word in _FUNCTIONS or len(word) > 2:
            found = f"<mi>{word}</mi>" + ("" if self.next() in ("(", "_", "^", "") else '<mspace width=".17em"/>')
        else:
            found = "".join(f"<mi>{letter}</mi>" for letter in word)
            found = found if len(word) == 1 else f"<mrow>{found}</mrow>"
        if self.next() == "~":
            self.k += 1
            found = f'<mover accent="true">{found}<mo stretchy="false">~</mo></mover>'
        return f"<msup>{found}<mo>{primes}</mo></msup>" if primes else found

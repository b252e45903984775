"""Prose with mathematics in it as LaTeX: what pages show as MathML, read by the same rules, so that there is one notation."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from fedtheory.tools.typesetting import typeset

_SPECIAL = str.maketrans(
    {
        **{character: f"\\{character}" for character in "#$%&_{}"},
        **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
        **{"<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\textbar{}", "×": r"\ensuremath{\times}"},
        **{"≈": r"\ensuremath{\approx}", "…": r"\ldots{}", "−": r"\ensuremath{-}"},
    }
)
_GREEK = {
    **{
        "α": "alpha",
        "β": "beta",
        "γ": "gamma",
        "δ": "delta",
        "ε": "epsilon",
        "ζ": "zeta",
        "η": "eta",
        "θ": "theta",
        "ι": "iota",
    },
    **{
        "κ": "kappa",
        "λ": "lambda",
        "μ": "mu",
        "ν": "nu",
        "ξ": "xi",
        "π": "pi",
        "ρ": "rho",
        "σ": "sigma",
        "τ": "tau",
        "υ": "upsilon",
    },
    **{
        "φ": "phi",
        "χ": "chi",
        "ψ": "psi",
        "ω": "omega",
        "Γ": "Gamma",
        "Δ": "Delta",
        "Θ": "Theta",
        "Λ": "Lambda",
        "Ξ": "Xi",
    },
    **{"Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"},
}
_SIGNS = {
    **{
        "≤": "le",
        "≥": "ge",
        "≠": "ne",
        "→": "to",
        "±": "pm",
        "∓": "mp",
        "∈": "in",
        "·": "cdot",
        "×": "times",
        "∑": "sum",
    },
    **{
        "∏": "prod",
        "≈": "approx",
        "⟨": "langle",
        "⟩": "rangle",
        "∇": "nabla",
        "∞": "infty",
        "∂": "partial",
        "…": "ldots",
    },
    **{"‖": "|", "ℓ": "ell", "∗": "ast", "{": "{", "}": "}", "%": "%", "#": "#", "&": "&", "_": "_", "$": "$"},
}
_PLAIN = {"−": "-", "′": "'", "≈": r"\approx "}
_COMMANDS = {character: f"\\{name}" for character, name in (_GREEK | _SIGNS).items()} | _PLAIN
_SCRIPTS = {"msub": "_", "msup": "^", "msubsup": "_^"}
_ACCENTS = {"^": r"\hat", "¯": r"\bar", "~": r"\tilde"}
_FUNCTIONS = frozenset(["max", "min", "sup", "inf", "lim", "log", "exp", "det", "cos", "sin"])


def escape(text: str) -> str:
    """Return text without mathematics as LaTeX shows it."""
    return text.translate(_SPECIAL)


def write_latex_text(text: str) -> str:
    r"""Return prose with mathematics in it as LaTeX for a paragraph; amsmath is all that it needs.

    Examples
    --------
    >>> print(write_latex_text("The mean of ||grad f(x_0^r)||^2 is at most C_2 D_0/T & more"))
    The mean of $\|\nabla f(x_{0}^{r})\|^{2}$ is at most $C_{2}\,D_{0}/T$ \& more
    """
    whole = ElementTree.fromstring(f"<p>{typeset(text)}</p>".replace("<wbr>", "<wbr/>"))
    pieces = [escape(whole.text or "")]
    for child in whole:
        inside = _write(child) if child.tag in ("math", "i") else ""
        pieces += [f"${inside.strip()}$" if inside else "", escape(child.tail or "")]
    whole_text = re.sub(r"(?<!\\)\$\$", "", "".join(pieces)).replace("\\nabla \\,", "\\nabla ")
    return break_numbers(re.sub(r"(\\[A-Za-z]+) (?=[_^])", r"\1", whole_text))


def break_numbers(text: str) -> str:
    r"""Let TeX break numbers that are long, in text and in formulas within text.

    Examples
    --------
    >>> break_numbers("12345678901234567 and 123456")
    '123456\\allowbreak 789012\\allowbreak 34567 and 123456'
    """
    return re.sub(r"\d{12,}", lambda found: re.sub(r"(\d{6})(?=\d)", r"\1\\allowbreak ", found[0]), text)


def _write(element: ElementTree.Element) -> str:
    """An element of MathML, as `fedtheory.tools.typesetting` makes them."""
    parts = [_write(child) for child in element]
    match element.tag:
        case "mi" | "mo" | "mn" | "i":
            return _symbol(element.text or "")
        case "mtext":
            return f"\\text{{{escape(element.text or '')}}}"
        case "mspace":
            return "\\,"
        case "msub" | "msup" | "msubsup":
            scripts = _SCRIPTS[element.tag]
            if set(scripts) & set(_SCRIPTS.get(element[0].tag, "")):
                parts[0] = f"{{{parts[0].strip()}}}"  # TeX takes one index, and one exponent
            if element.tag == "msup" and set(parts[1]) == {"'"}:
                return parts[0].strip() + parts[1]
            return parts[0] + "".join(
                f"{sign}{{{part.strip()}}}" for sign, part in zip(scripts, parts[1:], strict=True)
            )
        case "mfrac":
            return f"\\frac{{{parts[0].strip()}}}{{{parts[1].strip()}}}"
        case "msqrt":
            return f"\\sqrt{{{''.join(parts).strip()}}}"
        case "mover":
            return f"{_ACCENTS[(element[1].text or '').strip()]}{{{parts[0].strip()}}}"
        case _:
            return "".join(parts)


def _symbol(text: str) -> str:
    """A letter, a sign, or a word of several letters."""
    if len(text) > 1 and text.isalpha():
        return f"\\{text} " if text in _FUNCTIONS else f"\\operatorname{{{text}}}"
    found = "".join(_COMMANDS.get(character, character) for character in text)
    return found + " " if re.search(r"\\[A-Za-z]+$", found) else found

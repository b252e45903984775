"""The lines of a proof term as numbered steps, each with its grounds: a derivation, a combination of earlier steps, an induction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fedtheory.claims.explain.document import Figure, Math, NumberedStep, TextLine
from fedtheory.claims.statements.formula_texts import draw_signs, latex, latex_sentence
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.check import Proved
from fedtheory.proofs.checker.formulas import Sentence, read, split_pieces, substitute
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.rules import _PART, RULES, _pieces, induction_parts, read_between

#: a rest of a combination that is longer is told, and not shown
MOST_CHARACTERS_OF_A_REST = 1500
#: rules that leave a rest, whose sign is seen
_LEAVE = ("combine", "mean", "least", "bernoulli", "exponential", "limit")
_NAMED = re.compile(r"(\w+)(?:\((.*)\))?", re.S)


@dataclass
class StepWriter:
    """Writes steps one after the other; ``numbers``: of what was said before, by name.

    Parameters
    ----------
    proved : what the checker said of the term
    numbers : numbers of hypotheses and of claims of theorems that it rests on
    derived : by a line's name, where its derivations stand on the page
    rules : takes the names of the rules that are used
    wholes : first and last value of each whole number
    """

    proved: Proved
    numbers: dict[str, str]
    derived: Mapping[str, Sequence[str]]
    rules: dict[str, None]
    wholes: Mapping[str, Sequence[int]]
    _left: dict[str, list[Quotient]] = field(default_factory=dict)
    _taken: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Rests by line."""
        for name, rest in self.proved.left:
            self._left.setdefault(name, []).append(rest)

    def steps(self) -> Iterator[NumberedStep]:
        """All lines."""
        for number, text in enumerate(self.proved.lines, 1):
            line = ProofLine.parse(text)
            self.numbers[line.name] = f"({number})"
            grounds = tuple(self._grounds(line, line.sentence, line.rule, line.arguments))
            yield NumberedStep(number, line.name, Math(_said(line.sentence)), grounds)

    # ---- grounds

    def _grounds(self, line: ProofLine, goal: Sentence, rule: str, arguments: str) -> Iterator[TextLine]:
        self.rules[rule] = None
        match rule:
            case "derivation" | "identity":
                yield self._by_derivation(line, rule)
            case "combine":
                yield from self._by_combine(line, goal, arguments)
            case "induction":
                yield from self._by_induction(line, goal, arguments)
            case "larger" if arguments.startswith("in "):
                yield ("what the larger of two is at most, from ", *self._references(arguments.removeprefix("in ")))
            case "cases" | "values" | "larger":
                yield from self._by_parts(line, goal, rule, arguments)
            case "through":
                yield from self._through(line, goal, arguments)
            case _:
                yield (f"by the rule '{rule}', from ", *self._references(arguments))
                yield from self._rest(line, goal, rule)

    def _by_derivation(self, line: ProofLine, rule: str) -> TextLine:
        k = self._taken.get(line.name, 0)
        self._taken[line.name] = k + 1
        places = self.derived.get(line.name, ())
        where = f", {places[k]}" if k < len(places) else ""
        if rule == "identity":
            return (f"both sides are the same combination of products and values, entry by entry{where}",)
        return (f"multipliers of inequalities, and squares{where}",)

    def _by_combine(self, line: ProofLine, goal: Sentence, arguments: str) -> Iterator[TextLine]:
        body, _, scale = arguments.partition(" times ")
        for piece in split_pieces(body):
            found = _PART.fullmatch(piece)
            if found is None:
                yield (piece,)
                continue
            factor = (found[1] or "1").strip()
            yield (Math.read(factor), " times ", *self._reference(found[2]))
        if scale.strip():
            yield ("the sum is ", Math.read(scale), " times the claim")
        yield from self._rest(line, goal, "combine", bool(body.strip()))

    def _rest(self, line: ProofLine, goal: Sentence, rule: str, premises: bool = True) -> Iterator[TextLine]:
        """What is left on the right, less the left."""
        left = self._left.get(line.name, [])
        if not left or not (rule in _LEAVE or (rule == "monotone" and goal.sign == "<=")):
            return
        rest = left.pop(0)
        less = "right side less left side" + (", less their sum," if premises else "")
        if rest.zero:
            yield ("nothing is left: right side less left side is their sum" if premises else "both sides are equal",)
            return
        text = rest.text()
        if len(text) > MOST_CHARACTERS_OF_A_REST:
            yield (
                f"{less} is a formula of {len(text)} characters, which is not shown here; the checker sees that it is never negative",
            )
            return
        shown = Math.of(draw_signs(substitute(read(text), {"_": read("j")})))
        word = ", which is above zero" if goal.sign == "<" else ", which is never negative"
        yield (f"{less} is ", shown, word)

    def _by_induction(self, line: ProofLine, goal: Sentence, arguments: str) -> Iterator[TextLine]:
        n, other, (base, step) = induction_parts(arguments)
        yield ("by induction on ", Math.read(n), *(() if other is None else (", for every ", Math.read(other))))
        for word, piece, more in (("base", base, "the least value: "), ("step", step, f"from {n} to {n} + 1: ")):
            rule, inner = _inner(piece.removeprefix(f"{word} "))
            for k, ground in enumerate(self._grounds(line, goal, rule, inner)):
                yield ((f"{word}, {more}" if k == 0 else f"{word}: "), *ground)

    def _by_parts(self, line: ProofLine, goal: Sentence, rule: str, arguments: str) -> Iterator[TextLine]:
        head, rules = _pieces(arguments)
        for k, piece in enumerate(rules):
            if rule == "cases":
                where: TextLine = (
                    "where ",
                    Math(f"0 \\le {latex(read(head))}" if k == 0 else f"{latex(read(head))} \\le 0"),
                )
            elif rule == "larger":
                where = (f"for the {'second' if k else 'first'} of the two",)
            else:
                where = ("for ", Math(f"{latex(read(head))} = {self.wholes[head][0] + k}"))
            name, inner = _inner(piece)
            for ground in self._grounds(line, goal, name, inner):
                yield (*where, ": ", *ground)

    def _through(self, line: ProofLine, goal: Sentence, arguments: str) -> Iterator[TextLine]:
        head, (first, then) = _pieces(arguments)
        between = read_between(goal, head)
        for ground in self._grounds(line, between, *_inner(first)):
            yield ("first ", Math(_said(between)), ": ", *ground)
        yield from self._grounds(line, goal, *_inner(then))

    # ---- premises

    def _references(self, arguments: str) -> TextLine:
        found: list[str | Math] = []
        text = arguments.removeprefix("of ")
        least = re.fullmatch(r"(\w+)\s+of\s+(.+)", text, re.S)  # least s of NAME
        for k, piece in enumerate(split_pieces(least[2] if least else text)):
            found += [", "] * (k > 0) + list(self._reference(piece))
        if least:
            found += [", the best ", Math.read(least[1])]
        return tuple(found)

    def _reference(self, text: str) -> TextLine:
        """A premise: its number, and which rounds are put in."""
        text = text.strip()
        if text.startswith("square("):
            return ("the square ", Math(f"0 \\le ({latex(read(text.removeprefix('square(').removesuffix(')')))})^2"))
        if text == "ih":
            return ("the induction's hypothesis",)
        if text == "ih_next":
            return ("the induction's hypothesis for the next value",)
        if text.startswith("case"):
            return ("the case",)
        if text.startswith("that"):
            return ("what was said first" if text == "that" else f"what was said first ({text.removeprefix('that')})",)
        found = _NAMED.fullmatch(text)
        if found is None or found[1] not in self.numbers:
            return self._words(text)
        told: list[str | Math] = [f"{self.numbers[found[1]]} {found[1]}"]
        for k, piece in enumerate(split_pieces(found[2] or "")):
            variable, _, value = piece.partition("=")
            told += [" with " if k == 0 else ", ", Math(f"{latex(read(variable.strip()))} = {latex(read(value))}")]
        return tuple(told)

    def _words(self, text: str) -> TextLine:
        """What is no premise: the argument of a rule, as a formula where it is one."""
        try:
            return (Math.read(text),)
        except ValueError:
            return (text,)


def _inner(text: str) -> tuple[str, str]:
    """Rule and arguments of a rule inside of a rule."""
    text = text.strip()
    inside = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    rule, _, arguments = inside.partition(" ")
    return rule, arguments.strip()


def _said(sentence: Sentence) -> str:
    """A line as a formula, for which whole numbers it is said."""
    fixed = "".join(f"\\text{{at }} {name} = {k}: \\; " for name, k in sentence.fixed)
    end = f" \\quad \\text{{as }} {sentence.to_infinity} \\to \\infty" if sentence.to_infinity else ""
    plain = replace(sentence, left=draw_signs(sentence.left), right=draw_signs(sentence.right))
    return f"{fixed}{latex_sentence(plain)}{end}"


def draw_rules(rules: Iterable[str]) -> Iterator[Figure]:
    """The inference of each rule."""
    return (Figure(f"{rule}: {_figure(RULES[rule].__doc__ or '')}") for rule in rules)


def _figure(text: str) -> str:
    """The figure of a docstring, without the indentation of the source."""
    lines = [line.removeprefix("    ").rstrip() for line in text.strip().splitlines()]
    return "\n".join(lines)

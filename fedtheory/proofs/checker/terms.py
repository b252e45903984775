"""Check a proof term: lines, each with a name, a sentence, and the rule that it follows by from earlier ones; the last ones are the claims.

A term is plain data:

    {"format": "fedtheory proof 1",
     "parameters": [{"name": "L", "low": "0", "high": null, "closed": [false, false]}, ...],     "wholes": {"K": [1, 4]},
     "auxiliary": ["s"],                parameters of which no quantity knows
     "rounds": {"t": 0, "N": 1},        each variable for a round, and its least value
     "quantities": {"gap": "f(x) - f(x_star)", ...},      numbers of a round, gap[t], and what they are, as text
     "states": "gd(lr = 1/L)",          what they are quantities of, as text
     "sequences": {"t": "1"},           sequences of numbers, and a formula that is at most each; "1..1/r": and one that is at least each
     "functions": {"f": {"L": "L", "mu": "0"}},     classes that derivations may use (L null: not smooth)
     "assumed": ["accuracy", ...],      names of hypotheses that derivations may use
     "given": {"next": "t[n+1]*(t[n+1] - 1) == t[n]**2"},
     "fixed": ["N"],                    rounds that are the claim's own in all hypotheses, which are about all rounds otherwise; it may be left out
     "drawn": ["p", "1 - p"],           probabilities: quantities are expectations, in which every line is linear
     "where": {"rho": "1 - L*mu"},      names of formulas in parameters
     "rests": {"L3": term, ...},        theorems that it rests on, about the same states and quantities; their claims are lines L3, or L3_1, L3_2
     "inside": {"clients": {"term": term, "last": "E"}},    where hypotheses are what theorems say of the last of states inside of a round
     "claims": ["gap[N] <= L*dist2[0]/(2*N)"],
     "lines": ["step: ... by derivation", ...],
     "derivations": {"step": [...]}}    of `fedtheory.proofs.checker.lines`

Every line holds for all parameters of the region and all rounds that occur in it. What the quantities of a derivation are is data, too: that they are
those of a method's round is not checked here but where the package traces the round again. Rules are in `fedtheory.proofs.checker.rules`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from .algebra import EULER, Quotient, names_of_atom, power_of_atom, value_of, whole_number_of_rounds
from .formulas import Sentence, Unreadable, read, show_tree, split_pieces, substitute
from .proof_lines import ProofLine
from .reader import SentenceReader, show_briefly
from .refusals import TermNotChecked, TermRefused
from .regions import Domain, Ends
from .signature import Signature

TERM_FORMAT = "fedtheory proof 1"
MOST_LINES = 200
_PREMISE = re.compile(r"(\w+)(?:\((.*)\))?", re.S)
#: rules whose line is about the rounds of its premises, and no others
_OF_ONE_ROUND = ("combine", "root", "power", "mean", "least")
#: an induction with nothing but combinations inside, and the rounds that it goes over
_INDUCTION = re.compile(r"(\w+)(?:\s+for every\s+(\w+))?\s*:\s*base\s+combine\b[^;]*;\s*step\s+combine\b[^;]*")
_ZERO, _ONE = Quotient.number(0), Quotient.number(1)


class Helper(Protocol):
    """Finds what a script leaves out; what it finds is text and data that the checker reads as if they had been there."""

    def multipliers(
        self, checker: Checker, line: ProofLine, want: Quotient, rows: Sequence[PremiseRow]
    ) -> Sequence[str]:
        """Multipliers of the rows that make ``want`` less their sum nonnegative."""

    def derivation(self, checker: Checker, line: ProofLine, goal: Sentence, region: str) -> Mapping[str, Any]:
        """A derivation of the goal, as data."""


@dataclass(frozen=True)
class PremiseRow:
    """A premise of a combination: its name as written, its sentence, the factor as written (None: to be found), and right side less left side."""

    name: str
    sentence: Sentence
    factor: str | None
    gap: Quotient


@dataclass
class Checker(SentenceReader):
    """Checks one term; ``known`` are the sentences shown so far, by name.

    ``facts``: formulas that are at least zero in the case that is looked at. ``written``: the lines with everything that a helper found.
    ``left``: what combinations leave, with the names of their lines. ``tied``: by name of a line the rounds that it holds for as they stand alone,
    since a hypothesis such as E == K, or sum(w[r], r, 0, N) == 1, is about these rounds and not about all (`Sentence.own_rounds`).
    """

    signature: Signature
    claims: tuple[str, ...]
    derivations: dict[str, list[Mapping[str, Any]]]
    helper: Helper | None = None
    known: dict[str, Sentence] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    cited: list[str] = field(default_factory=list)
    facts: list[Quotient] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    hypotheses: set[str] = field(default_factory=set)
    written: list[str] = field(default_factory=list)
    left: list[tuple[str, Quotient]] = field(default_factory=list)
    tied: dict[str, frozenset[str]] = field(default_factory=dict)
    _taken: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A domain for signs."""
        self.domain = Domain(self.signature.parameters, self._ends_of)

    # ---- signs

    def is_nonnegative(self, quotient: Quotient) -> bool:
        """Whether it was shown to be at least zero for all parameters and rounds, in the case that is looked at."""
        if self.domain.is_nonnegative(quotient):
            return True
        return any(not fact.zero and self.domain.is_nonnegative(quotient / fact) for fact in self.facts)

    def is_nonnegative_product(self, tree: ast.expr) -> bool:
        """Whether a formula was shown to be at least zero; of a product it is enough that each factor was."""
        match tree:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                if self.is_nonnegative_product(left) and self.is_nonnegative_product(right):
                    return True
        return self.is_nonnegative(self.value(tree))

    def is_product_with_squares(self, line: ProofLine, tree: ast.expr) -> bool:
        """The same, where even powers are at least zero, too: of numbers that there are, so that the formula has to be readable."""
        self.require_readable(line, Sentence(ast.Constant(0), "<=", tree))
        return all(
            _is_even_power(factor) or self.is_nonnegative(without_squares(self.value(factor)))
            for factor in factors_of(tree)
        )

    def is_positive(self, quotient: Quotient) -> bool:
        """Whether it was shown to be above zero."""
        return self.domain.is_positive(quotient)

    def _ends_of(self, atom: str) -> Sequence[Ends]:
        """Where an atom lies that is no parameter."""
        own = self.signature
        if atom in own.rounds:
            return [Ends(Quotient.number(own.rounds[atom]), low_closed=True)]
        if atom in own.wholes:
            low, high = own.wholes[atom]
            return [Ends(Quotient.number(low), Quotient.number(high), True, True)]
        power = power_of_atom(atom)
        if power is not None:
            return self._ends_of_power(*power)
        tree = read(atom)
        match tree:
            case ast.Subscript(value=ast.Name(id=name)) if name in own.sequences:
                return [own.sequences[name]]
            case ast.Subscript():
                sign = self._known_sign(tree)
                return [Ends(_ZERO, low_closed=sign == "<=")] if sign else []
            case ast.Call(func=ast.Name(id="max"), args=[first, second]):
                a, b = value_of(first), value_of(second)
                lows = (_ZERO, a, b) if (a + b).zero else (a, b)  # the size of a number is not negative
                return [Ends(low, low_closed=True) for low in lows]
            case ast.Call(func=ast.Name(id="sum"), args=[body, _, begin, _]):
                first = ast.Constant(int(show_tree(begin)))
                inner = substitute(body, {"_": ast.BinOp(first, ast.Add(), ast.Name("natural_", ast.Load()))})
                return [Ends(_ZERO, low_closed=True)] if self.domain.is_nonnegative(value_of(inner)) else []
        return [Ends(_ZERO, low_closed=True)] if atom == "natural_" else []

    def _ends_of_power(self, base: str, exponent: str) -> Sequence[Ends]:
        if base == EULER:
            return [Ends(_ZERO)]
        at = value_of(read(base))
        sign = self.domain.sign(at)
        if sign is None or (sign.direction < 0 and not at.zero):
            return []
        if exponent == "1":
            return [Ends(_ZERO, None, not sign.strict)]
        if not self.domain.is_nonnegative(value_of(read(exponent))):
            return [Ends(_ZERO, None, not sign.strict, True)]
        if self.domain.is_nonnegative(at - _ONE):
            return [Ends(_ONE, low_closed=True)]
        below_one = self.domain.is_nonnegative(_ONE - at)
        return [Ends(_ZERO, _ONE if below_one else None, not sign.strict, True)]

    def _known_sign(self, quantity: ast.Subscript) -> str:
        """The sign of the first line '0 <= Q[t]', '0 < Q[t]' or of Q[t+1], of which the quantity is a case; empty where none is known."""
        for name, sentence in self.known.items():
            right = sentence.right
            if (
                sentence.sign not in ("<=", "<")
                or sentence.exists is not None
                or sentence.fixed
                or name in self.tied
                or not isinstance(right, ast.Subscript)
            ):
                continue
            if self.value(sentence.left).zero and show_tree(right.value) == show_tree(quantity.value):
                variables, behind = whole_number_of_rounds(value_of(right.slice), show_tree(right.slice))
                if (
                    len(variables) != 1
                    or [*variables.values()] != [1]
                    or not variables.keys() <= self.signature.rounds.keys()
                ):
                    continue
                least = sum(self.signature.rounds[name] for name in variables) + behind
                if self.domain.is_nonnegative(value_of(quantity.slice) - Quotient.number(least)):
                    self.used.add(name)
                    return sentence.sign
        return ""

    # ---- premises

    def premise(self, line: ProofLine, goal: Sentence, text: str, more: Mapping[str, Sentence]) -> Sentence:
        """An earlier line, with other rounds in the place of its own: ``name(t=T+1)``; the new values lie where the line holds.

        Whole numbers that are fixed in the goal are fixed in it; a line that holds for other values of them alone is refused.
        """
        found = _PREMISE.fullmatch(text.strip())
        known = {**self.known, **more}
        if found is None or found[1] not in known:
            raise TermRefused(
                line.name, line.rule, f"a line before it ({', '.join(known) or 'there is none'})", text.strip()[:80]
            )
        name, sentence = found[1], known[found[1]]
        self.used.add(name)
        self._require_untied(line, name)
        values: dict[str, ast.expr] = {}
        for piece in split_pieces(found[2] or ""):
            variable, _, text_of_value = piece.partition("=")
            values[variable.strip()] = substitute(read(text_of_value), self.signature.where)
        if name in more and values:
            raise TermRefused(line.name, line.rule, f"{name} as it stands, which is said of one round", text.strip())
        for variable, tree in values.items():
            self._require_round(line, name, sentence, variable, tree)
            if variable in self.tied.get(name, ()) and show_tree(tree) != variable:
                raise TermRefused(
                    line.name, line.rule, f"{name} at {variable}, which a hypothesis is about", text.strip()
                )
        if not set(sentence.fixed) <= set(goal.fixed):
            raise TermRefused(line.name, line.rule, f"a premise that holds where {goal} is said", f"{name}: {sentence}")
        return sentence.substitute(values).substitute({name: ast.Constant(number) for name, number in goal.fixed})

    def _require_untied(self, line: ProofLine, name: str) -> None:
        """A line takes over what its premises are tied to; rules that speak of other rounds than they were told do not take such premises."""
        tied, others = self.tied.get(name, frozenset()), _rounds_gone_over(line)
        if tied and (others is None or tied & others):
            raise TermRefused(
                line.name,
                line.rule,
                f"lines about any {', '.join(sorted(tied))}",
                f"{name}, which rests on a hypothesis about this one alone",
            )
        if tied:
            self.tied[line.name] = self.tied.get(line.name, frozenset()) | tied

    def _require_round(self, line: ProofLine, name: str, sentence: Sentence, variable: str, tree: ast.expr) -> None:
        rounds = self.signature.rounds
        if variable not in rounds or variable not in sentence.names:
            raise TermRefused(
                line.name,
                line.rule,
                f"a round of {name} ({', '.join(sorted(sentence.names & rounds.keys())) or 'it has none'})",
                variable,
            )
        try:
            variables, _ = whole_number_of_rounds(self.value(tree), show_tree(tree))
        except Unreadable as error:
            raise TermRefused(line.name, line.rule, "a whole number", error) from None
        strange = sorted(variables.keys() - rounds.keys() - self.signature.wholes.keys())
        if strange:
            raise TermRefused(
                line.name,
                line.rule,
                "a whole number",
                f"{variable} = {show_tree(tree)}, where {strange[0]} need not be one",
            )
        if not self.domain.is_nonnegative(self.value(tree) - Quotient.number(rounds[variable])):
            raise TermRefused(
                line.name,
                line.rule,
                f"{variable} >= {rounds[variable]}, where {name} holds",
                f"{variable} = {show_tree(tree)}",
            )

    def settle(self, line: ProofLine, goal: Sentence, rest: Quotient, strict: bool = False) -> None:
        """What is left of a goal's right side less its left side, after its premises, is not negative (zero for an equality)."""
        self.left.append((line.name, rest))
        if goal.sign == "==":
            if not rest.zero:
                raise TermRefused(line.name, line.rule, "an equality", f"a rest {show_briefly(rest)}")
            return
        self.require_linear(line, rest)
        if not self.is_nonnegative(rest):
            raise TermRefused(
                line.name, line.rule, f"{goal}", f"a rest that was not shown to be nonnegative: {show_briefly(rest)}"
            )
        if goal.sign == "<" and not (strict or self.is_positive(rest)):
            raise TermRefused(
                line.name, line.rule, f"{goal}", f"a rest that was not shown to be above zero: {show_briefly(rest)}"
            )

    def next_derivation(self, line: ProofLine, goal: Sentence, region: str) -> Mapping[str, Any]:
        """The next derivation that is stored for a line, or that the helper finds."""
        k = self._taken.get(line.name, 0)
        self._taken[line.name] = k + 1
        stored = self.derivations.setdefault(line.name, [])
        if k == len(stored):
            if self.helper is None:
                raise TermRefused(line.name, line.rule, "a stored derivation", "none")
            stored.append(self.helper.derivation(self, line, goal, region))
        return stored[k]

    def count_taken(self, name: str) -> int:
        """How many of a line's stored derivations were taken."""
        return self._taken.get(name, 0)

    @contextmanager
    def supposing(self, fact: Quotient) -> Iterator[None]:
        """A formula that is at least zero, inside."""
        self.facts.append(fact)
        self.domain.forget()
        try:
            yield
        finally:
            self.facts.pop()
            self.domain.forget()

    # ---- the whole

    def add_given(self, given: Mapping[str, str]) -> None:
        """Hypotheses, as lines that are known."""
        for name, text in given.items():
            line = ProofLine(name, Sentence.parse(text), "given", "")
            self.require_new(line)
            self.require_readable(line, line.sentence)
            self.known[name] = line.sentence
            self.tie(name, self.own_rounds(line.sentence))
        self.given = frozenset(given)

    def own_rounds(self, hypothesis: Sentence) -> frozenset[str]:
        """The rounds of a hypothesis that are the claim's own."""
        return hypothesis.own_rounds(self.signature.fixed, self._claimed) & self.signature.rounds.keys()

    @cached_property
    def _claimed(self) -> frozenset[str]:
        """The rounds of the claims."""
        spoken = frozenset().union(*(Sentence.parse(claim).names for claim in self.claims))
        return spoken & self.signature.rounds.keys()

    def tie(self, name: str, rounds: frozenset[str]) -> None:
        """A line holds for these rounds as they stand."""
        if rounds:
            self.tied[name] = rounds

    def require_new(self, line: ProofLine) -> None:
        """Refuse a name that is taken."""
        if line.name in self.known or line.name in ("ih", "case", "square", "that"):
            raise TermRefused(line.name, line.rule, "a name of its own", line.name)

    def add(self, line: ProofLine, apply: Callable[[Checker, ProofLine], str]) -> None:
        """Check a line by its rule, and know it."""
        try:
            self.require_new(line)
            self.require_readable(line, line.sentence)
            why = apply(self, line)
        except Unreadable as error:
            raise TermNotChecked(f"line {line.name}, by {line.rule}: {error}", line.name, line.rule) from None
        self.written.append(f"{line.name}: {line.sentence} by {why}")
        self.known[line.name] = line.sentence
        self.domain.forget()

    def require_claims(self, lines: Sequence[ProofLine]) -> None:
        """Every claim is a line, and every line leads to one."""
        texts = {str(line.sentence): line.name for line in lines}
        ends = set()
        for claim in self.claims:
            text = str(Sentence.parse(claim))
            if text not in texts:
                raise TermRefused(lines[-1].name if lines else "-", "claim", text, "no line that says it")
            ends.add(texts[text])
        idle = [line.name for line in lines if line.name not in self.used | ends]
        if idle:
            raise TermRefused(idle[0], "claim", "a line that a later one uses", "none uses it")


def factors_of(tree: ast.expr) -> list[ast.expr]:
    """The factors of a product."""
    match tree:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return [*factors_of(left), *factors_of(right)]
    return [tree]


def _is_even_power(tree: ast.expr) -> bool:
    match tree:
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int() as exponent)):
            return exponent % 2 == 0
    return False


def without_squares(quotient: Quotient) -> Quotient:
    """A product without its factors to an even power, which are never negative; what is no product as it is."""
    one = quotient.monomial()
    if one is None:
        return quotient
    return Quotient({tuple(item for item in one[0] if item[1] % 2): one[1]})


def _rounds_gone_over(line: ProofLine) -> frozenset[str] | None:
    """The rounds of which a rule takes other values than the line's own; None where that is not known."""
    if line.rule in _OF_ONE_ROUND:
        return frozenset()
    found = _INDUCTION.fullmatch(line.arguments) if line.rule == "induction" else None
    return None if found is None else frozenset(filter(None, found.groups()))


def names_in(quotient: Quotient) -> frozenset[str]:
    """Free names of all atoms."""
    return frozenset().union(*map(names_of_atom, quotient.atoms))

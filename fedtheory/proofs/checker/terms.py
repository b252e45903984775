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
from typing import Any, Protocol

from .algebra import (
    EULER,
    Quotient,
    base_pieces,
    names_of_atom,
    power_of_atom,
    value_of,
    whole_number_of_rounds,
)
from .formulas import (
    FUNCTIONS,
    Sentence,
    Unreadable,
    indexed,
    names,
    quantity_of,
    read,
    show_tree,
    split_pieces,
    substitute,
    subtrees,
)
from .reading import read_count, require_fields, spend
from .refusals import TermNotChecked, TermRefused
from .regions import Domain, Ends, TermParameter, read_parameters, read_range

TERM_FORMAT = "fedtheory proof 1"
MOST_LINES = 200
_LINE = re.compile(r"(\w+):\s+(.*?)\s+by\s+(\w+)\s*(.*)", re.S)
_PREMISE = re.compile(r"(\w+)(?:\((.*)\))?", re.S)
#: rules whose line is about the rounds of its premises, and no others
_OF_ONE_ROUND = ("combine", "root", "power")
_ZERO, _ONE = Quotient.number(0), Quotient.number(1)


@dataclass(frozen=True)
class ProofLine:
    """``name: sentence by rule arguments``."""

    name: str
    sentence: Sentence
    rule: str
    arguments: str

    @classmethod
    def parse(cls, text: str, claims: Sequence[str] = ()) -> ProofLine:
        """Read a line; the sentence "claim" stands for the only claim, "claim 2" for the second one."""
        spend(len(text) ** 2 // 1000)  # what taking it and its arguments apart may take
        text = " ".join(text.split())
        found = _LINE.fullmatch(text)
        if found is None:
            raise TermRefused(text[:30], "reading", "'name: left <= right by rule premises'", text[:120])
        name, said, rule, arguments = found.groups()
        claim = re.fullmatch(r"claim(?:\s+(\d{1,3}))?", said)
        if claim is not None:
            k = int(claim[1] or 1) - 1
            if not 0 <= k < len(claims) or (claim[1] is None and len(claims) > 1):
                raise TermRefused(name, "reading", f"a claim from 1 to {len(claims)}", said)
            said = claims[k]
        return cls(name, Sentence.parse(said), rule, arguments.strip())

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence} by {self.rule} {self.arguments}".strip()


def join_lines(script: str) -> list[str]:
    """The lines of a script; one that starts further to the right than the first goes on."""
    joined: list[str] = []
    indent: int | None = None
    for raw in script.splitlines():
        if raw.strip():
            at = len(raw) - len(raw.lstrip())
            indent = at if indent is None else indent
            if at > indent and joined:
                joined[-1] += " " + raw.strip()
            else:
                joined.append(raw.strip())
    return joined


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


@dataclass(frozen=True)
class Signature:
    """What the formulas of a term may speak of."""

    parameters: tuple[TermParameter, ...]
    wholes: Mapping[str, tuple[int, int]]
    rounds: Mapping[str, int]
    quantities: frozenset[str]
    sequences: Mapping[str, Ends]
    where: Mapping[str, ast.expr]
    functions: Mapping[str, tuple[Quotient | None, Quotient]]
    assumed: frozenset[str]
    drawn: bool
    auxiliary: frozenset[str] = frozenset()

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Signature:
        """Read it, and refuse a name with two meanings."""
        parameters = read_parameters(data["parameters"])
        where: dict[str, ast.expr] = {}
        known = {p.name for p in parameters} | set(data["wholes"])
        for name, text in data["where"].items():
            where[name] = substitute(read(text), where)
            if names(where[name]) - known or indexed(where[name]):
                raise TermRefused(name, "where", f"a formula in the parameters {', '.join(sorted(known))}", text)
        wholes = {name: (read_count(low), read_count(high)) for name, (low, high) in data["wholes"].items()}
        if any(high < low for low, high in wholes.values()):
            raise TermRefused("-", "reading", "a range of whole numbers that is not empty", dict(wholes))
        for stated in data["functions"].values():
            require_fields(stated, ("L", "mu"), "a function")
        functions = {
            name: (None if f["L"] is None else value_of(read(f["L"]), where), value_of(read(f["mu"]), where))
            for name, f in data["functions"].items()
        }
        found = cls(
            parameters,
            wholes,
            {name: read_count(least) for name, least in data["rounds"].items()},
            frozenset(data["quantities"]),
            {name: read_range(text, where) for name, text in data["sequences"].items()},
            where,
            functions,
            frozenset(data["assumed"]),
            bool(data["drawn"]),
            frozenset(data["auxiliary"]),
        )
        found._require_one_meaning()
        return found

    def _require_one_meaning(self) -> None:
        own = ({p.name for p in self.parameters}, self.wholes, self.rounds, self.quantities, self.sequences, self.where)
        reserved = {*FUNCTIONS, "ih", "_", EULER, "square", "case", "claim"}
        every = [name for names_of_kind in (*own, reserved) for name in names_of_kind]
        for name in every:
            if every.count(name) > 1:
                raise TermRefused("-", "reading", "one meaning for each name", name)
            if not (name.isidentifier() and len(name) <= 60):
                raise TermRefused("-", "reading", "names in letters and digits", name[:60])


@dataclass
class Checker:
    """Checks one term; ``known`` are the sentences shown so far, by name.

    ``facts``: formulas that are at least zero in the case that is looked at. ``written``: the lines with everything that a helper found.
    ``left``: what combinations leave, with the names of their lines. ``tied``: by name of a line the rounds that it holds for as they stand alone,
    since a hypothesis about numbers alone, such as E == K, is about these rounds and not about all.
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

    # ---- what is said

    def value(self, tree: ast.expr) -> Quotient:
        """A formula as a quotient, with the names of formulas replaced; a sum of it begins at most one behind the least end that it has."""
        found = value_of(tree, self.signature.where)
        for atom in found.atoms:
            for node in subtrees(read(atom)):
                match node:
                    case ast.Call(func=ast.Name(id="sum"), args=[_, _, low, ast.Name(id=end)]):
                        if self.signature.rounds.get(end, -1) < int(show_tree(low)) - 1:
                            raise Unreadable(
                                f"a sum from {show_tree(low)} to {end}, which may be less than {int(show_tree(low)) - 1}"
                            )
        return found

    def gap(self, sentence: Sentence) -> Quotient:
        """Right side less left side."""
        return self.value(sentence.right) - self.value(sentence.left)

    def quantities_in(self, quotient: Quotient) -> frozenset[str]:
        """Atoms that are or contain quantities of rounds."""
        return frozenset(
            a for a in quotient.atoms if any(quantity_of(n) in self.signature.quantities for n in _indexed(a))
        )

    def require_linear(self, line: ProofLine, quotient: Quotient) -> None:
        """Where rounds are drawn quantities are expectations, and E XY is not E X E Y."""
        if not self.signature.drawn:
            return
        for polynomial in (quotient.numerator, *(dict(key) for key in quotient.below)):
            for at in polynomial:
                inside = [(name, power) for name, power in at if self.quantities_in(Quotient.atom(name))]
                bent = any(power != 1 or power_of_atom(n) or n.startswith(("max(", "log(")) for n, power in inside)
                if bent or len(inside) > 1:
                    raise TermRefused(
                        line.name,
                        line.rule,
                        "a line that is linear in quantities, which are expectations",
                        show_briefly(quotient),
                    )
            if polynomial is not quotient.numerator and any(
                self.quantities_in(Quotient.atom(n)) for at in polynomial for n, _ in at
            ):
                raise TermRefused(
                    line.name,
                    line.rule,
                    "a line that is linear in quantities, which are expectations",
                    show_briefly(quotient),
                )

    def require_readable(self, line: ProofLine, sentence: Sentence) -> None:
        """Every name is known, and nothing is divided by, or a root taken of, what may be zero or negative."""
        own = self.signature
        parameters = {p.name for p in own.parameters}
        free = sentence.names - own.where.keys()
        unknown = sorted(free - parameters - own.rounds.keys() - own.wholes.keys())
        if unknown:
            raise TermRefused(
                line.name,
                "reading",
                f"the parameters {', '.join(sorted(parameters | own.wholes.keys()))}, rounds "
                f"{', '.join(own.rounds)}, or names that are explained",
                unknown[0],
            )
        trees = [sentence.left, sentence.right]
        taken = {*parameters, *own.rounds, *own.wholes, *own.quantities, *own.sequences, *own.where}
        if sentence.along in taken:
            raise TermRefused(line.name, "reading", "a name of its own for a set of rounds", sentence.along)
        if sentence.to_infinity and sentence.to_infinity not in own.rounds:
            raise TermRefused(
                line.name, "reading", f"a limit in a round ({', '.join(own.rounds)})", sentence.to_infinity
            )
        if sentence.exists is not None:
            if sentence.exists.variable not in own.rounds:
                raise TermRefused(
                    line.name, "reading", f"'exists' of a round ({', '.join(own.rounds)})", sentence.exists.variable
                )
            trees += [sentence.exists.low, sentence.exists.high]
            least = own.rounds[sentence.exists.variable]
            if not self.domain.is_nonnegative(self.value(sentence.exists.low) - Quotient.number(least)):
                raise TermRefused(
                    line.name, "reading", f"a range in which {sentence.exists.variable} >= {least}", sentence.exists
                )
        for tree in trees:
            self._require_sums(line, tree)
            for quantity in indexed(tree):
                name = quantity_of(quantity)
                if name not in own.quantities and name not in own.sequences:
                    raise TermRefused(
                        line.name,
                        "reading",
                        f"the quantities {', '.join(sorted({*own.quantities, *own.sequences}))}",
                        show_tree(quantity),
                    )
            self.require_defined(line, tree)
        self.require_linear(line, self.gap(sentence))

    def _require_sums(self, line: ProofLine, tree: ast.expr) -> None:
        """Their variables are rounds, from where these begin on."""
        for node in subtrees(tree):
            match node:
                case ast.Call(func=ast.Name(id="sum"), args=[_, ast.Name(id=variable), low, _]):
                    room = self.value(low) - Quotient.number(self.signature.rounds.get(variable, 0))
                    if variable not in self.signature.rounds or not self.domain.is_nonnegative(room):
                        least = ", ".join(f"{name} >= {at}" for name, at in self.signature.rounds.items())
                        raise TermRefused(line.name, "reading", f"sums over rounds ({least})", show_tree(node))

    def require_defined(self, line: ProofLine, tree: ast.expr) -> None:
        """Divisors are nowhere zero, roots are of what is nowhere negative, and bases of powers are positive where exponents are no whole numbers."""
        for node in subtrees(substitute(tree, self.signature.where)):
            match node:
                case ast.BinOp(op=ast.Div(), right=below):
                    self._require(
                        line, self.domain.is_nonzero, self.value(below), "divisors that are nowhere zero", below
                    )
                case ast.BinOp(op=ast.Pow(), left=base, right=exponent):
                    self._require_power(line, base, exponent)
                case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
                    self._require(
                        line, self.domain.is_nonnegative, self.value(inner), "a root of what is nowhere negative", inner
                    )
                case ast.Call(func=ast.Name(id="log"), args=[inner]):
                    self._require(
                        line, self.domain.is_positive, self.value(inner), "a logarithm of what is above zero", inner
                    )

    def _require(
        self, line: ProofLine, holds: Callable[[Quotient], bool], of: Quotient, expected: str, shown: ast.expr
    ) -> None:
        if not holds(of):
            raise TermRefused(line.name, line.rule, f"{expected}, for all parameters and rounds", show_tree(shown))

    def _require_power(self, line: ProofLine, base: ast.expr, exponent: ast.expr) -> None:
        at = self.value(exponent)
        number = at.constant()
        if number is not None and number.denominator == 1 and number >= 0:
            return
        if number is not None and number.denominator == 1:
            self._require(line, self.domain.is_nonzero, self.value(base), "divisors that are nowhere zero", base)
        elif self._is_whole(at):
            if not self.domain.is_nonnegative(at):
                self._require(line, self.domain.is_nonzero, self.value(base), "divisors that are nowhere zero", base)
        else:
            for text, _ in base_pieces(self.value(base)):
                expected = "a base above zero, and each of its factors, of a power that is not whole"
                self._require(line, self.domain.is_positive, self.value(read(text)), expected, base)

    def _is_whole(self, quotient: Quotient) -> bool:
        try:
            variables, _ = whole_number_of_rounds(quotient, "an exponent")
        except Unreadable:
            return False
        return all(name in self.signature.rounds or name in self.signature.wholes for name in variables)

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
            case ast.Call(func=ast.Name(id="max"), args=parts):
                return [Ends(value_of(part), low_closed=True) for part in parts]
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
        tied = self.tied.get(name, frozenset())
        if tied and line.rule not in _OF_ONE_ROUND:
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
            self.tie(name, given={name: text})
        self.given = frozenset(given)

    def tie(self, name: str, given: Mapping[str, str]) -> None:
        """A line holds for the rounds of hypotheses about numbers alone as they stand."""
        alone = [said for said in map(Sentence.parse, given.values()) if not any(map(indexed, said.sides))]
        tied = frozenset().union(*(said.names & self.signature.rounds.keys() for said in alone))
        if tied:
            self.tied[name] = tied

    def require_new(self, line: ProofLine) -> None:
        """Refuse a name that is taken."""
        if line.name in self.known or line.name in ("ih", "case", "square"):
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


def _indexed(atom: str) -> list[ast.Subscript]:
    return indexed(read(atom))


def show_briefly(quotient: Quotient) -> str:
    """A formula, cut where it is long."""
    text = quotient.text()
    return text if len(text) <= 300 else f"{text[:300]}..."


def names_in(quotient: Quotient) -> frozenset[str]:
    """Free names of all atoms."""
    return frozenset().union(*map(names_of_atom, quotient.atoms))

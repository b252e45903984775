"""Claims that follow from one that has the shape of a potential's: of lengths from their squares, and of an accuracy from the rounds that it takes.

    sqrt(q[N]) <= r(N) sqrt(start)                  from q[N] <= r(N)^2 start
    q[N] <= e      given  g <= N                    from q[N] <= e g/N
    q[N] <= e      given  c log(X) <= N             from q[N] <= e X exp(-N/c)

N may be any number that grows with the round, such as N + 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fedtheory.claims.statements.theorems.claimed_bounds import cancel, read_checker, speaks_of
from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.potential_scripts import FoundScript, name_line, number_of_claim
from fedtheory.claims.statements.theorems.squares import square_of
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.checker.algebra import Quotient, value_of
from fedtheory.proofs.checker.formulas import Sentence, indexed, quantity_of, read, show_tree
from fedtheory.proofs.checker.terms import Checker

#: powers in which a hypothesis on the round is used
POWERS_OF_ROUNDS = (1, 2)


@dataclass(frozen=True)
class WayBack:
    """What leads from a claim, as the line ``reached``, to another one: lines by name, the last rule, and quantities whose sign has to be known."""

    lines: Mapping[str, str]
    rule: str
    positive: Collection[str] = ()


@dataclass(frozen=True)
class DirectClaim:
    """A theorem with another claim in the place of one of its own, and what leads ``back``."""

    theorem: Theorem
    own: Theorem
    claim: int
    back: WayBack

    def with_own(self, script: FoundScript) -> FoundScript:
        """The script of the own claim, from one of the other."""
        number, k = number_of_claim(self.own, self.claim).replace(" ", "_"), next(iter(script.rounds))
        words = {word for line in script.lines for word in line.replace(":", " ").split()}
        known = {word: free_name(name_line(self.own, word + number), words) for word in ("reached", *self.back.lines)}
        done, _, by = script.lines[-1].partition(" by ")
        said = {name: f"0 <= {name}[{k}] by derivation" for name in self.back.positive}
        signs = [
            f"{free_name(name_line(self.own, f'sign_{name}{number}'), words)}: {sign}"
            for name, sign in said.items()
            if not any(line.endswith(f": {sign}") for line in script.lines)
        ]
        lines = [f"{known[word]}: {text.format(**known)}" for word, text in self.back.lines.items()]
        reached = f"{known['reached']}: {self.theorem.claims[self.claim]} by {by}"
        last = f"{done} by {self.back.rule.format(**known)}"
        return FoundScript([*signs, *script.lines[:-1], reached, *lines, last], script.rounds)


def list_direct(theorem: Theorem, claim: int) -> Iterator[DirectClaim]:
    """The claims that lead to a claim, where it is of such a kind."""
    sentence = theorem.sentences[claim]
    if sentence.sign != "<=":
        return
    squared = square_of(sentence)
    if squared is not None and not sentence.exists:
        left, right = map(show_tree, sentence.sides)
        spoken = {quantity_of(node) for side in sentence.sides for node in indexed(side)}
        squares = {"squares": f"({left})**2 <= ({right})**2 by combine {{reached}}"}
        yield _other(theorem, claim, str(squared), WayBack(squares, "root {squares}", sorted(spoken)))
        return
    checker = read_checker(theorem)
    most = checker.value(sentence.right)
    if any(speaks_of(most, n) for n in theorem.rounds):
        return
    for name, hypothesis in theorem.hypotheses.items():
        rounds = hypothesis.names & theorem.rounds.keys()
        if rounds and rounds <= sentence.names and hypothesis.sign == "<=" and not hypothesis.exists:
            gap = checker.gap(hypothesis)
            for power in () if checker.quantities_in(gap) else POWERS_OF_ROUNDS:
                yield from _of_accuracy(theorem, claim, checker, name, gap, power)


def _of_accuracy(
    theorem: Theorem, claim: int, checker: Checker, given: str, gap: Quotient, power: int
) -> Iterator[DirectClaim]:
    """From a hypothesis 0 <= gap about the round, and what the claim says that is reached then."""
    sentence = theorem.sentences[claim]
    most, spoken = show_tree(sentence.right), {quantity_of(node) for node in indexed(sentence.right)}
    logarithms = [atom for atom in gap.atoms if atom.startswith("log(")]
    if not logarithms:
        (n, *others) = sorted(gap.atoms & theorem.rounds.keys()) or [""]
        parts = gap.linear_in(n)
        if others or parts is None or not checker.is_positive(parts[1]):
            return
        more = Fraction(0) if parts[0].below else max(parts[0].numerator.get((), Fraction(0)), Fraction(0))
        grows = (parts[1] * Quotient.atom(n) + Quotient.number(more)).text()  # g <= grows
        less = f"(({grows}) - ({gap.text()}))"
        bound = f"({most})*({cancel(value_of(read(f'({less}/({grows}))**{power}'))).text()})"
        factor = f"({most})/({grows})" + f"*(({grows}) + {less})/({grows})" * (power - 1)
        rule = f"combine {{reached}}, ({factor})*{given}"
        yield _other(theorem, claim, _with_right(sentence, bound), WayBack({}, rule, sorted(spoken)))
        return
    parts = gap.linear_in(logarithms[0])
    if len(logarithms) > 1 or parts is None or not checker.is_positive(-parts[1]):
        return
    room, c = parts[0], -parts[1]  # c log(X) <= room
    inside = logarithms[0].removeprefix("log(").removesuffix(")")
    exponent, log = cancel(room * Quotient.number(power) / c).text(), f"log({inside})"
    start = cancel(checker.value(sentence.right) * value_of(read(inside)) ** power).text()
    weight = f"({most})*exp(-({exponent}))"
    each, at = f"{weight}*exp({log})**{power}", f"({exponent}) - {power}*{log}"
    lines = {
        "near": f"1 + ({at}) <= exp({at}) by exponential {at}",
        "own": f"exp({log}) == {inside} by logarithm {inside}",
    }
    own = f"(-{weight}{f'*(exp({log}) + {inside})' * (power - 1)})*{{own}}"
    rule = f"combine {{reached}}, ({each})*{{near}}, (({each})*{power}/({c.text()}))*{given}, {own}"
    yield _other(
        theorem, claim, _with_right(sentence, f"({start})*exp(-({exponent}))"), WayBack(lines, rule, sorted(spoken))
    )


def _with_right(sentence: Sentence, right: str) -> str:
    """The sentence with another right side."""
    return str(replace(sentence, right=read(right)))


def _other(theorem: Theorem, claim: int, text: str, back: WayBack) -> DirectClaim:
    claims = [*theorem.claims]
    claims[claim] = text
    return DirectClaim(theorem.with_claim(*claims), theorem, claim, back)

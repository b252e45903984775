"""Claims that follow from one that has the shape of a potential's: of lengths from their squares, and of an accuracy from the rounds that it takes.

    sqrt(q[N]) <= r(N) sqrt(start)                  from q[N] <= r(N)^2 start
    q[N] <= e      given  g <= N                    from q[N] <= e g/N
    q[N] <= e      given  c log(X) <= N             from q[N] <= e X exp(-N/c)

N may be any number that grows with the round, such as N + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fedtheory.claims.statements.theorems.claimed_bounds import cancel, read_checker, speaks_of
from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.potential_scripts import FoundScript, name_line, number_of_claim
from fedtheory.claims.statements.theorems.squares import square_of
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.checker.algebra import Quotient
from fedtheory.proofs.checker.formulas import indexed, quantity_of, show_tree
from fedtheory.proofs.checker.terms import Checker

#: of a name for each line and one for any round: more lines, and the last rule, from "reached"
Premises = Callable[[Callable[[str], str], str], tuple[list[str], str]]


@dataclass(frozen=True)
class DirectClaim:
    """A theorem with another claim in the place of one of its own, which ``premises`` lead back to."""

    theorem: Theorem
    own: Theorem
    claim: int
    premises: Premises

    def with_own(self, script: FoundScript) -> FoundScript:
        """The script of the own claim, from one of the other."""
        number = number_of_claim(self.own, self.claim)
        words = {word for line in script.lines for word in line.replace(":", " ").split()}

        def name(word: str) -> str:
            return free_name(name_line(self.own, word + number.replace(" ", "_")), words)

        done, _, by = script.lines[-1].partition(" by ")
        more, rule = self.premises(name, next(iter(script.rounds)))
        reached = f"{name('reached')}: {self.theorem.claims[self.claim]} by {by}"
        return FoundScript([*script.lines[:-1], reached, *more, f"{done} by {rule}"], script.rounds)


def list_direct(theorem: Theorem, claim: int) -> Iterator[DirectClaim]:
    """The claims that lead to a claim, where it is of such a kind."""
    sentence = theorem.sentences[claim]
    if sentence.sign != "<=" or sentence.exists:
        return
    squared = square_of(sentence)
    if squared is not None:
        spoken = sorted({quantity_of(node) for side in sentence.sides for node in indexed(side)})

        def root(name: Callable[[str], str], k: str) -> tuple[list[str], str]:
            return [f"{name('sign_' + q)}: 0 <= {q}[{k}] by derivation" for q in spoken], f"root {name('reached')}"

        yield _other(theorem, claim, str(squared), root)
        return
    checker = read_checker(theorem)
    most = checker.value(sentence.right)
    if not checker.is_positive(most) or checker.quantities_in(most) or any(speaks_of(most, n) for n in theorem.rounds):
        return
    for name, hypothesis in theorem.hypotheses.items():
        rounds = hypothesis.names & theorem.rounds.keys()
        if rounds and rounds <= sentence.names and hypothesis.sign == "<=" and not hypothesis.exists:
            gap = checker.gap(hypothesis)
            if not checker.quantities_in(gap):
                yield from _of_accuracy(theorem, claim, checker, name, gap, most)


def _of_accuracy(
    theorem: Theorem, claim: int, checker: Checker, given: str, gap: Quotient, most: Quotient
) -> Iterator[DirectClaim]:
    """From a hypothesis 0 <= gap about the round, and what the claim says that is reached then."""
    logarithms = [atom for atom in gap.atoms if atom.startswith("log(")]
    if not logarithms:
        (n, *others) = sorted(gap.atoms & theorem.rounds.keys())
        parts = gap.linear_in(n)
        if others or parts is None or not checker.is_positive(parts[1]):
            return
        grows = parts[1] * Quotient.atom(n)
        factor = cancel(most / grows)
        bound = cancel(most - factor * gap)
        text = f"{show_tree(theorem.sentences[claim].left)} <= {bound.text()}"
        yield _other(
            theorem, claim, text, lambda name, _: ([], f"combine {name('reached')}, ({factor.text()})*{given}")
        )
        return
    parts = gap.linear_in(logarithms[0])
    if len(logarithms) > 1 or parts is None or not checker.is_positive(-parts[1]):
        return
    room, c = parts[0], -parts[1]  # c log(X) <= room
    inside = logarithms[0].removeprefix("log(").removesuffix(")")
    exponent, log = cancel(room / c).text(), f"log({inside})"
    weight = f"({most.text()})*exp(-({exponent}))"
    text = f"{show_tree(theorem.sentences[claim].left)} <= {weight}*({inside})"

    def premises(name: Callable[[str], str], _: str) -> tuple[list[str], str]:
        near, own = name("near"), name("own")
        lines = [
            f"{near}: 1 + (({exponent}) - {log}) <= exp(({exponent}) - {log}) by exponential ({exponent}) - {log}",
            f"{own}: exp({log}) == {inside} by logarithm {inside}",
        ]
        each = f"{weight}*exp({log})"
        used = f"{name('reached')}, ({each})*{near}, (({each})/({c.text()}))*{given}, (-{weight})*{own}"
        return lines, f"combine {used}"

    yield _other(theorem, claim, text, premises)


def _other(theorem: Theorem, claim: int, text: str, premises: Premises) -> DirectClaim:
    claims = [*theorem.claims]
    claims[claim] = text
    return DirectClaim(theorem.with_claim(*claims), theorem, claim, premises)

"""Claims that fall by an exponential: since exp(-a) is at least 1 - a, what falls by (1 - a/m)^m in every round falls by exp(-a) at least.

q[N] <= C exp(-a N) start is looked for as q[N] <= C (1 - a/m)^(m N) start.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fedtheory.claims.statements.theorems.claimed_bounds import with_piece
from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.potential_scripts import FoundScript, tidy_factor
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.checker.algebra import Quotient, value_of
from fedtheory.proofs.checker.formulas import Unreadable, indexed, quantity_of, read, show_tree

#: the numbers m that are tried
PARTS_OF_EXPONENT = (1, 2, 4)


@dataclass(frozen=True)
class WithoutExponential:
    """A theorem with ``base ** power`` in the place of exp(``exponent * power``) in one of its claims, the sum of ``factors`` times these."""

    theorem: Theorem
    claim: int
    base: str
    exponent: str
    power: str
    factors: tuple[str, ...]

    def with_exponential(self, script: FoundScript) -> FoundScript:
        """The script of the claim with the exponential, from one of the claim without it."""
        words = {word for line in script.lines for word in line.replace(":", " ").split()}
        taken = {*words, *self.theorem.quantities, *self.theorem.all_parameters.names, *self.theorem.rounds}
        fast, near, falls, above = (free_name(name, taken) for name in ("fast", "near", "falls", "above"))
        spoken = {quantity_of(node) for factor in self.factors for node in indexed(read(factor))}
        done, _, by = script.lines[-1].partition(" by ")
        (k, _), *_ = script.rounds.items()
        used = ", ".join([fast, *(f"({factor})*{falls}" for factor in self.factors)])
        lines = [
            *script.lines[:-1],
            f"{fast}: {self.theorem.claims[self.claim]} by {by}",
            *(f"{above}_{name}: 0 <= {name}[{k}] by derivation" for name in sorted(spoken)),
            f"{near}: {self.base} <= exp({self.exponent}) by exponential {self.exponent}",
            f"{falls}: {self.base}**({self.power}) <= exp({self.exponent})**({self.power}) by power {near}, {self.power}",
            f"{done} by combine {used}",
        ]
        return FoundScript(lines, script.rounds)


def list_without_exponential(theorem: Theorem, claim: int) -> Iterator[WithoutExponential]:
    """Those of a claim in whose right side one exponential falls with the round."""
    sentence = theorem.sentences[claim]
    found = [node for node in ast.walk(sentence.right) if isinstance(node, ast.Call) and show_tree(node.func) == "exp"]
    rounds = sorted(sentence.names & theorem.rounds.keys())
    if len(found) != 1 or len(rounds) != 1 or sentence.exists is not None:
        return
    (node,), (n,) = found, rounds
    taken = {*sentence.names, *theorem.all_parameters.names, *theorem.where, *theorem.quantities}
    name = free_name("exponential", taken)
    try:
        parts = value_of(node.args[0]).linear_in(n)
        linear = value_of(with_piece(sentence.right, node, ast.Name(name, ast.Load()))).linear_in(name)
    except Unreadable:  # of an exponent that is a quotient, for example
        return
    if parts is None or not parts[0].zero or n in parts[1].atoms or linear is None:
        return
    factors = _list_terms(linear[1], theorem.quantities)
    if factors is None:
        return
    for m in PARTS_OF_EXPONENT:
        a = tidy_factor(parts[1], {}) / m
        exponent, base, power = f"({a})", f"({1 + a})", f"{m}*{n}" if m > 1 else n
        right = with_piece(sentence.right, node, read(f"{base}**({power})"))
        claims = [*theorem.claims]
        claims[claim] = f"{show_tree(sentence.left)} {sentence.sign} {show_tree(right)}"
        yield WithoutExponential(theorem.with_claim(*claims), claim, base, exponent, power, factors)


def _list_terms(factor: Quotient, quantities: Mapping[str, str]) -> tuple[str, ...] | None:
    """A factor, linear in quantities of the start, as products; None where it is not."""
    rest, found = factor, list[str]()
    for name in quantities:
        parts = rest.linear_in(f"{name}[0]")
        if parts is not None and not parts[1].zero:
            rest = parts[0]
            weight = tidy_factor(parts[1], {})
            found.append(f"{name}[0]" if weight == 1 else f"({weight})*{name}[0]")
    if any("[" in atom for atom in rest.atoms):
        return None
    return tuple(found if rest.zero else [*found, str(tidy_factor(rest, {}))])

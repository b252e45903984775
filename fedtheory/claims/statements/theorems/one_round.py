"""The script of a claim about one round and those after it, about the first rounds, or about numbers alone: one line, or two.

The line is a derivation, an identity, or a combination. Where the claim has a number by which a hypothesis bounds a quantity in every round, such as
zeta^2 where z[t] <= zeta^2 is given, a line before has the quantity in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from fedtheory.claims.statements.theorems.claimed_bounds import (
    number_without,
    read_checker,
    round_of_quantity,
    share_number,
)
from fedtheory.claims.statements.theorems.potential_scripts import FoundScript, name_line, number_of_claim
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.algebra import Quotient, write_index
from fedtheory.proofs.checker.formulas import Sentence, show_tree


def write_of_one_round(theorem: Theorem, claim: int) -> Iterator[FoundScript]:
    """The script, where the claim is of this kind."""
    sentence, which = theorem.sentences[claim], number_of_claim(theorem, claim)
    if sentence.exists is not None or sentence.sign not in ("<=", "=="):
        return
    checker = read_checker(theorem)
    gap = checker.gap(sentence)
    atoms = sorted(checker.quantities_in(gap))
    try:
        rounds = [round_of_quantity(atom) for atom in atoms]
    except InvalidInput:
        return
    number = number_without(gap, atoms)
    if len({name for name, _ in rounds}) > 1 or (len(set(rounds)) == 1 and not number.zero):
        return
    done, step = (name_line(theorem, name + which.replace(" ", "_")) for name in ("done", "step"))
    rule = "combine" if not atoms else "identity" if sentence.sign == "==" else "derivation"
    yield FoundScript([f"{done}: claim{which} by {_for_values(theorem, sentence, rule)}"], {})
    if rule != "derivation":
        return
    index = write_index({name: 1 for name, _ in rounds[:1] if name}, min(k for _, k in rounds))
    parts = share_number(theorem, checker, number)
    if parts:
        right = checker.value(sentence.right)
        for given, factor in parts.values():
            right = right + factor * (Quotient.atom(f"{given.quantity}[{index}]") - given.most)
        used = ", ".join(f"{given.hypothesis}({given.variable}={index})" for given, _ in parts.values())
        by = _for_values(theorem, sentence, rule)
        at = "".join(f"at {name}={value}: " for name, value in sentence.fixed)
        step_line = f"{step}: {at}{show_tree(sentence.left)} <= {right.text()} by {by}"
        yield FoundScript([step_line, f"{done}: claim{which} by combine {step}, {used}"], {})


def _for_values(theorem: Theorem, sentence: Sentence, rule: str) -> str:
    """The rule, for one value after the other of each whole number that takes a few."""
    for parameter in theorem.parameters.parameters:
        if parameter.integer and parameter.name not in dict(sentence.fixed):
            inner = f"({rule})" if ";" in rule else rule
            rule = f"values {parameter.name}: {'; '.join([inner] * len(parameter.values()))}"
    return rule

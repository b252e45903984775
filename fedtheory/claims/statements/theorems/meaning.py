"""Whether a theorem means something: classes and methods that there are, quantities that states have, and hypotheses that may hold together."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction

from fedtheory.claims.statements.on_region import require_sense
from fedtheory.claims.statements.theorems.proving import with_sequences
from fedtheory.claims.statements.theorems.quantities import evaluate_quantity, names_of_quantity
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates, SymbolicSpace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import CannotTrace, FedtheoryError, InvalidInput
from fedtheory.proofs.checker.signature import Signature
from fedtheory.proofs.checker.terms import Checker
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.judge import judge_system

#: seconds for the search of a contradiction
_SEARCH_SECONDS = 5.0


def require_meaning(theorem: Theorem) -> None:
    """See that there are such methods, classes and quantities, at some points of the region.

    Raises
    ------
    InvalidInput
        There are not; the message says at which point, and what is missing.
    """
    states = theorem.states
    if isinstance(states, MethodStates):
        _require_method(theorem, states)
    elif states is not None and not theorem.sequences:  # it is played once, which asks for its names
        with suppress(CannotTrace):
            states.trace(dict(theorem.some_point), theorem.parameters, 0, start=False)
    if isinstance(states, PlayedStates):
        _require_probabilities(theorem, states)


def _require_probabilities(theorem: Theorem, states: PlayedStates) -> None:
    def build(point: Mapping[str, Fraction]) -> None:
        try:
            _, after = states.trace(point, theorem.parameters, 1, start=False).states
        except (FedtheoryError, ValueError):  # it plays no round
            return
        chances = [chance for chance, _ in after]
        if sum(chances) != 1 or (min(chances) < 0 and not theorem.given):
            told = ", ".join(map(str, chances))
            raise InvalidInput(
                f"the outcomes of a round have the probabilities {told}, which have to be at least zero and to sum to one"
            )

    require_sense(with_sequences(theorem), (), build)


def _require_method(theorem: Theorem, states: MethodStates) -> None:
    def build(point: Mapping[str, Fraction]) -> None:
        low, high = (states.constants[name].at(point) for name in ("mu", "L"))
        if not (high > 0 and low < high):
            raise InvalidInput(f"a class needs 0 < L and mu < L, got mu = {low}, L = {high}")
        states.algorithm(point)

    require_sense(theorem.parameters, (), build)
    point = dict(theorem.some_point)
    try:
        trace = states.trace(point, theorem.parameters, 0, start=True)
    except CannotTrace:
        return  # told where the proof stops
    known = trace.states[0][0][1]
    for text in theorem.quantities.values():
        if twice := sorted(names_of_quantity(text) & known.keys() & point.keys()):
            raise InvalidInput(
                f"{twice[0]!r} in the quantity {text!r} is a name of the state and of a parameter; rename the parameter"
            )
        evaluate_quantity(text, SymbolicSpace(), {**known, **point}, theorem.formulas)


def find_contradiction(theorem: Theorem) -> str:
    """A hypothesis that no parameters meet, in words; "" where none was found."""
    if not theorem.given:
        return ""
    checker = Checker(Signature.read(theorem.skeleton()), theorem.claims, {})
    for name, hypothesis in theorem.hypotheses.items():
        if hypothesis.sign in ("<=", "<") and hypothesis.exists is None:
            gap = checker.gap(hypothesis)
            if checker.is_positive(-gap) or (hypothesis.sign == "<" and checker.is_nonnegative(-gap)):
                return f"the hypothesis {name}, {hypothesis}, holds nowhere on the region"
    return ""


def find_contradiction_of_states(theorem: Theorem, seconds: float = _SEARCH_SECONDS) -> str:
    """That what states assume contradicts itself, for all parameters, in words; "" where that was not derived."""
    if theorem.states is None or theorem.sequences:
        return ""
    for fixed, region in theorem.parameters.cases():
        field = ParameterField(region)
        try:
            trace = theorem.states.trace({**fixed, **field.parameters()}, theorem.parameters, 1, start=False)
            judged = judge_system(field, trace.system(Form(constant=1)), seconds)
        except FedtheoryError:
            return ""
        if judged.derivation is None:
            return ""
    return "what is assumed of states contradicts itself: 1 <= 0 follows"

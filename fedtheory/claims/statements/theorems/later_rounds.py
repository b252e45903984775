"""Whether what is given of all rounds can hold in the rounds after those of an instance, where functions play the states without gradients.

What is new in a round, such as an error, may then be zero in all later ones. Where that meets what is given of a round whatever was before, it is met
in all of them, for each round is like the one before (`fedtheory.claims.statements.theorems.recurring`).
"""

from __future__ import annotations

from fractions import Fraction

from fedtheory.claims.statements.theorems.irrational import approximate
from fedtheory.claims.statements.theorems.posing import ClaimAt, PosedClaim, expect_at, list_supposed, may_fail_later
from fedtheory.claims.statements.theorems.states import PlayedStates, StateTrace
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.certificates import require_semidefinite
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.system import System


def require_later_rounds(at: ClaimAt, posed: PosedClaim) -> None:
    """See that what is given of all rounds can hold in the rounds after those that are played.

    Raises
    ------
    InvalidInput
        That is not known.
    """
    later = [name for name, one in at.theorem.hypotheses.items() if may_fail_later(at.theorem, one)]
    if later and not _goes_on(at, posed):
        raise InvalidInput(
            f"whether {later[0]} holds in the rounds after those that are played is not known of the instance"
        )


def _goes_on(at: ClaimAt, posed: PosedClaim) -> bool:
    states, theorem = at.theorem.states, at.theorem
    if not isinstance(states, PlayedStates) or theorem.sequences:
        return False
    more = states.trace(posed.told, theorem.parameters, posed.played + 1, start=posed.start, number=posed.base)
    before, after = posed.trace.system(Form()), more.system(Form())
    known = [form for _, form in before.hypotheses] + _supposed(at, posed, posed.trace, 0)
    asked = [form for _, form in after.hypotheses] + _supposed(at, posed, more, 1)
    new = [form for form in asked if not any(_is_same(form, one) for one in known)]
    plain = not any(f.evaluations for f in after.functions) and not after.values
    return plain and all(_is_met_without_new(form, before) for form in new)


def _supposed(at: ClaimAt, posed: PosedClaim, trace: StateTrace, more: int) -> list[Form]:
    """What is given of the rounds of a trace, as forms that are at most zero."""
    base, last, start = posed.rounds

    def lookup(name: str, k: int) -> Form:
        found: Form = expect_at(at.theorem, trace.states[k - base], name, trace.space, at.point)
        return found

    rows = list_supposed(at, (base, last + more, start), lookup, approximate)
    # what is strict is never met by zero alone
    return [(left if isinstance(left, Form) else Form(constant=left)) + int(strict) for _, left, strict in rows]


def _is_same(one: Form, other: Form) -> bool:
    gap = one - other
    return not (any(gap.gram.values()) or any(gap.values.values()) or gap.constant)


def _is_met_without_new(form: Form, before: System) -> bool:
    """Whether it is at most zero for all vectors of the rounds before, where those that are new are zero."""
    if form.constant > 0:
        return False
    try:
        for block, size in zip("SQ", before.sizes, strict=True):
            matrix = [[Fraction(0)] * size for _ in range(size)]
            for (name, i, j), value in form.gram.items():
                if name == block and i < size and j < size:
                    matrix[i][j] = matrix[j][i] = -value / (1 if i == j else 2)
            require_semidefinite(block, matrix)
    except Refused:
        return False
    return True

"""Whether what is supposed of all rounds can hold in the rounds after those of an instance.

Of states that functions play it can where it says the same of a round as of one before, for each round is like the one before
(`fedtheory.claims.statements.theorems.recurring`). Without gradients it can where what is new in a round, such as an error, may be zero in all later
ones, and that meets what is given of a round whatever was before. What the function assumes of a round may not be about what was before alone, unless
it holds of any vectors. What bounds a function from below can hold at every point (`fedtheory.claims.statements.theorems.bounded_below`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fedtheory.claims.statements.theorems.irrational import approximate
from fedtheory.claims.statements.theorems.posing import (
    ClaimAt,
    PosedClaim,
    expect_at,
    list_of_all_rounds,
    list_supposed,
)
from fedtheory.claims.statements.theorems.states import PlayedStates, StateTrace
from fedtheory.claims.statements.worlds import ConcreteWorld
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.checker.certificates import require_semidefinite
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.system import System


def require_later_rounds(at: ClaimAt, posed: PosedClaim, world: ConcreteWorld) -> None:
    """See that what is supposed of all rounds can hold in the rounds after those that are played on an instance.

    Raises
    ------
    InvalidInput
        That is not known.
    """
    states, values = at.theorem.states, world.instance.values
    met = {name for name, one in posed.lower_bounds(at.theorem).items() if one.is_met(values, world.functions)}
    given = [name for name in list_of_all_rounds(at.theorem) if name not in met]
    unknown = next(iter(given), "")
    if isinstance(states, PlayedStates) and not at.theorem.sequences:
        more = _play_one_more(at, posed, states)
        unknown = unknown if more is None else next(_list_unmet(at, posed, more, given), "")
    if unknown:
        raise InvalidInput(
            f"whether {unknown} holds in the rounds after those that are played is not known of the instance"
        )


def _play_one_more(at: ClaimAt, posed: PosedClaim, states: PlayedStates) -> StateTrace | None:
    """The rounds that are played and one more, where the function goes on."""
    try:
        return states.trace(posed.told, at.theorem.parameters, posed.played + 1, start=posed.start, number=posed.base)
    except FedtheoryError:
        return None


def _is_plain(system: System) -> bool:
    """Whether nothing but vectors is new in a round: no gradients and no values."""
    return not system.values and not any(f.evaluations for f in system.functions)


def _list_unmet(at: ClaimAt, posed: PosedClaim, more: StateTrace, given: Sequence[str]) -> Iterator[str]:
    """Names of what is supposed of one round more that does not hold whatever was before."""
    before, after = posed.trace.system(Form()), more.system(Form())
    known = {name for name, _ in before.hypotheses}
    for name, form in after.hypotheses:
        if name not in known and not _has_new(form, before) and not _is_met_without_new(form, before):
            yield name
    rows, plain = _supposed(at, posed, posed.trace, 0), _is_plain(after)
    for name, form in _supposed(at, posed, more, 1):
        same = any(_is_same(form, one) for _, one in rows)
        if name in given and not same and not (plain and _is_met_without_new(form, before)):
            yield name


def _supposed(at: ClaimAt, posed: PosedClaim, trace: StateTrace, more: int) -> list[tuple[str, Form]]:
    """What is given of all rounds, of those of a trace, as forms that are at most zero."""
    base, last, start = posed.rounds

    def lookup(name: str, k: int) -> Form:
        found: Form = expect_at(at.theorem, trace.states[k - base], name, trace.space, at.point)
        return found

    rows = list_supposed(at, (base, last + more, start), lookup, approximate)
    # what is strict is never met by zero alone
    return [
        (name, (left if isinstance(left, Form) else Form(constant=left)) + int(strict)) for name, left, strict in rows
    ]


def _is_same(one: Form, other: Form) -> bool:
    gap = one - other
    return not (any(gap.gram.values()) or any(gap.values.values()) or gap.constant)


def _has_new(form: Form, before: System) -> bool:
    sizes = dict(zip("SQ", before.sizes, strict=True))
    return any(value and j >= sizes[block] for (block, _, j), value in form.gram.items()) or any(
        value and k >= before.values for k, value in form.values.items()
    )


def _is_met_without_new(form: Form, before: System) -> bool:
    """Whether it is at most zero for all vectors of the rounds before, where those that are new are zero."""
    if form.constant > 0 or any(form.values.values()):
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

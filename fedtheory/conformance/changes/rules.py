"""All changes of a round, the likelier before the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fedtheory.conformance.changes.change import RoundChange
from fedtheory.conformance.changes.coins import use_in_turn
from fedtheory.conformance.changes.conditions import (
    change_everywhere_sometimes,
    change_number_sometimes,
    change_solver_of_some,
    change_solver_sometimes,
    change_sometimes,
    put_new_sometimes,
    scale_sometimes,
)
from fedtheory.conformance.changes.local_work import (
    change_call,
    change_key,
    change_schedule,
    change_setting,
    change_solver,
    change_steps,
    change_steps_by_number,
)
from fedtheory.conformance.changes.rows import (
    change_absent,
    change_average,
    change_average_by_number,
    change_clients,
    change_increment,
    change_part_of_average,
    change_problem,
    change_row,
)
from fedtheory.conformance.changes.terms import (
    change_number,
    change_operation,
    change_sign,
    clip,
    leave_step_out,
    make_coarse,
    put_constant,
    put_formula,
    raise_number,
    scale_by_number,
    scale_by_one,
    scale_by_two,
)
from fedtheory.conformance.changes.updates import change_update, change_update_by_number, put_earlier
from fedtheory.conformance.changes.variables import (
    change_everywhere,
    change_one_use,
    mix_by_number,
    put_both,
    put_gradient,
    put_mean,
    put_new,
    put_old,
    put_other,
    put_state_before,
    scale_everywhere,
)
from fedtheory.conformance.reading import PlaceInRound, RoundReading

ChangeRule = Callable[[RoundReading, PlaceInRound], Iterator[RoundChange]]

#: the rules in groups, in the order in which people err
RULE_GROUPS: tuple[tuple[ChangeRule, ...], ...] = (
    (change_average, change_absent, put_other, put_old, change_sign, change_operation),
    (
        change_update,
        use_in_turn,
        change_number,
        change_row,
        change_problem,
        change_call,
        change_key,
        change_solver,
        change_steps,
    ),
    (
        put_mean,
        put_both,
        leave_step_out,
        scale_by_one,
        put_new,
        change_clients,
        change_everywhere,
        change_part_of_average,
        change_schedule,
        change_setting,
        put_formula,
        raise_number,
        put_state_before,
    ),
    (change_one_use, put_earlier, change_increment, put_gradient, scale_by_two),
    (
        change_sometimes,
        change_everywhere_sometimes,
        change_number_sometimes,
        change_solver_sometimes,
        change_solver_of_some,
        make_coarse,
    ),
    (put_new_sometimes,),
    (change_steps_by_number, change_update_by_number, change_average_by_number, put_constant, scale_by_number),
    (scale_everywhere, scale_sometimes, clip, mix_by_number),
)


#: the numbers of the groups in which people err most, from which two changes are taken where one is not enough
LIKELY_GROUPS = (0, 1)


def list_round_changes(reading: RoundReading) -> Iterator[tuple[RoundChange, ...]]:
    """Yield the changes of a round, group by group."""
    for rules in RULE_GROUPS:
        yield tuple(
            replace(change, rule=rule.__name__)
            for rule in rules
            for place in reading.expressions
            for change in rule(reading, place)
        )

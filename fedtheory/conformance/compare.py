"""Is somebody's implementation the paper's algorithm?

`conform` plays an implementation (through an `fedtheory.conformance.adapters.Adapter`) and the reference on the same random quadratics and
compares every state variable after every round. Where they differ it names the first variable and round, and tries known mistakes, published
variants and changes of the reference's round in place of the reference, to say which of them the implementation agrees with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedtheory.algorithms import listed
from fedtheory.algorithms.mistakes import find_mistakes
from fedtheory.conformance.adapters import Adapter
from fedtheory.conformance.causes import Causes, find_causes, try_all
from fedtheory.conformance.coverage import list_unexercised
from fedtheory.conformance.examination import Examination
from fedtheory.conformance.report import Conformance
from fedtheory.conformance.trials import make_trials
from fedtheory.conformance.variants import find_variants
from fedtheory.core.errors import InvalidInput, tell_kind


def conform(
    adapter: Adapter,
    method: str,
    *,
    values: Mapping[str, Any] | None = None,
    clients: int = 5,
    dimension: int = 3,
    participants: int | None = 3,
    unequal: bool = True,
    regularisers: bool = True,
    rounds: int = 6,
    seeds: int = 3,
) -> Conformance:
    """Compare an implementation with a listed method, variable by variable and round by round.

    Parameters
    ----------
    adapter : Adapter
    method : str
        Name of a listed method (``fedtheory list algorithms``).
    values : mapping, optional
        Options of both by name; the rest have numbers no two of which coincide (`Option.telling`).
    clients, dimension : int
        Size of the quadratics (mu = 0.1, L = 1).
    participants : int or None
        Clients a round in the trials with partial participation; None leaves those out.
    unequal : bool
        Whether to try unequal numbers of local steps.
    regularisers : bool
        Whether to try shared regularisers, where the method has them. An implementation that ignores them is compared without, unless the
        method's family is "composite", where they are what it is about; the report says so.
    rounds, seeds : int
        Length and number of the trials of each kind.

    Raises
    ------
    InvalidInput
        The method is unknown; the settings are outside its definition, or let it diverge; or the adapter raised, changed its inputs, or returned
        something that cannot be compared (see `fedtheory.conformance.adapters.play`).
    NotAvailable
        The method needs more than quadratics give: minibatches, layers.
    """
    if not isinstance(method, str):
        raise InvalidInput(f"the method is named, as conform(adapter, 'scaffold'); got {tell_kind(method)}")
    if isinstance(adapter, type) or not all(hasattr(adapter, member) for member in ("variables", "start", "round")):
        raise InvalidInput(f"an adapter is an object with variables, start and round; got {tell_kind(adapter)}")
    for name, value, least in (
        ("clients", clients, 2),
        ("dimension", dimension, 1),
        ("rounds", rounds, 1),
        ("seeds", seeds, 1),
    ):
        if value < least:
            raise InvalidInput(f"{name} must be at least {least}, got {value}")
    entry = listed(method)
    values = entry.telling | dict(values or {})
    trials, left_out = make_trials(
        entry,
        values,
        clients=clients,
        dimension=dimension,
        rounds=rounds,
        seeds=seeds,
        participants=participants,
        unequal=unequal,
        regularisers=regularisers,
    )
    found = Examination(adapter, entry, values, trials)
    if found.ignores_regularisers and entry.family != "composite":
        left_out = (
            *left_out,
            f"regularisers: the implementation ignores task.regulariser, which {entry.name} may have",
        )
        found = Examination(adapter, entry, values, tuple(trial for trial in trials if trial.penalty is None))
    return _report(found, left_out)


def _report(found: Examination, left_out: tuple[str, ...]) -> Conformance:
    """Everything that can be said."""
    agreement: Any = next((level for level in ("double", "single") if not found.list_differing(level)), None)
    single = any(case.played.single for case in found.cases)
    differing = [] if agreement else found.list_differing("single" if single else "double")
    mistakes = find_mistakes(found.entry, found.values)
    variants = tuple(find_variants(found.entry, found.cases, found.names, agreement is not None))
    causes = Causes((), 0) if agreement else find_causes(found, mistakes, search=not variants)
    seen = try_all(found, mistakes)
    return Conformance(
        method=found.entry.name,
        source=found.entry.source,
        settings=dict(found.values),
        rounds=len(found.cases[0].trial.clients),
        trials=tuple(case.trial.name for case in found.cases),
        left_out=left_out,
        not_exercised=list_unexercised(
            found.entry, found.values, [case.trial for case in found.cases], [case.way for case in found.cases]
        ),
        compared=found.names,
        not_compared=tuple(name for name in found.shapes if name not in found.names),
        agreement=agreement,
        single=single,
        largest={name: max(case.relative(name) for case in found.cases) for name in found.names},
        first=min(differing, key=lambda first: first.round, default=None),
        differs_in=tuple(first.trial for first in differing),
        ignores_regularisers=found.ignores_regularisers,
        starts={} if agreement else found.starts,
        open_starts=() if agreement else tuple(name for name in found.starts if name in found.entry.kind.open_starts),
        updates=None if agreement else found.try_updates(),
        causes=causes.found,
        variants=variants,
        mistakes_tried=len(mistakes),
        changes_tried=causes.changes_tried,
        not_noticed=tuple(name for name, noticed in seen.items() if noticed is False),
        not_run={name: noticed for name, noticed in seen.items() if isinstance(noticed, str)},
    )

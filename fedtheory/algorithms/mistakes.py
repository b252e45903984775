"""Known mistakes in implementations of federated methods, each an edit of the reference.

A mistake is one changed line of a reference class in `fedtheory.algorithms`, or one changed setting; so there is no second
implementation to keep in step, and the difference can be shown as it stands in the code. `fedtheory.conformance` plays the
mistaken methods against somebody's implementation.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, Listed
from fedtheory.algorithms.settings import Settings
from fedtheory.core.arrays import Array, average, gather, is_array, like, scatter, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


def weighted(x: Array, steps: Any, clients: Clients | None) -> Array:
    """The average of active clients with their numbers of local steps as weights."""
    if not is_array(steps):
        return average(x, clients)
    weight = like(gather(np.asarray(steps, dtype=float)[:, None], clients), x)
    return average(weight * x, clients) / average(weight, clients)


def in_turn(local: LocalSolver, problem: Problem, sub: Subproblem, start: Array, key: Key) -> Array:
    """Local work in which every active client goes on from the model that the one before it left."""
    active = np.arange(problem.n) if sub.clients is None else sub.clients.index
    found = []
    for place, i in enumerate(active):
        one = Clients(problem.n, np.array([i]))
        rows = [part if part is None or part.shape[-2] == 1 else part[place : place + 1] for part in (sub.a, sub.z)]
        start, _ = local(Subproblem(problem.take(one), rows[0], sub.rho, rows[1], one), start, key, None)
        found.append(start)
    return np.concatenate(found, axis=-2)


#: what the code of a mistake may use beside the names of the module it edits
_HELPERS: dict[str, Any] = {
    "average": average,
    "gather": gather,
    "in_turn": in_turn,
    "np": np,
    "replace": dataclasses.replace,
    "scatter": scatter,
    "spread": spread,
    "weighted": weighted,
}


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    Parameters
    ----------
    name : str
        What such code does, distinct within a method.
    old, new : str
        The text of the reference class that is replaced (it occurs once), and what stands there instead.
    setting : (name, change), optional
        For a mistake that is a changed setting.
    seen : str
        Where it was found in public code, if it was.
    """

    name: str
    old: str = ""
    new: str = ""
    setting: tuple[str, Callable[[Any], Any]] | None = None
    seen: str = ""


def mistaken(
    entry: Listed, settings: Settings, mistakes: tuple[Mistake, ...], rewritten: Mistake | None = None
) -> Algorithm:
    """Build a listed method with mistakes in it; ``rewritten`` is an edit that is made last, where the mistakes left its text alone.

    Raises
    ------
    InvalidInput
        A changed setting is outside the method's definition, or one mistake edits away what another one edits.
    """
    for mistake in mistakes:
        if mistake.setting is not None:
            name, change = mistake.setting
            settings = dataclasses.replace(settings, **{name: change(getattr(settings, name))})
    algorithm: Any = entry.build(settings)
    kind = type(algorithm)
    source = plain = _source(kind)
    for mistake in mistakes:
        source = _edited(source, mistake)
    if rewritten is not None and rewritten.old in source:
        source = _edited(source, rewritten)
    if source == plain:
        return algorithm  # type: ignore[no-any-return]
    names = vars(sys.modules[kind.__module__]) | _HELPERS
    exec(compile(source, f"<{kind.__name__} with mistakes>", "exec"), names)
    changed = names[kind.__name__]
    made: Algorithm = changed(**{f.name: getattr(algorithm, f.name) for f in dataclasses.fields(algorithm)})
    return made


def difference(algorithm: Algorithm, mistakes: tuple[Mistake, ...]) -> tuple[str, ...]:
    """The lines of the reference that the mistakes change, as a difference: ``- old``, ``+ new``."""
    before = after = _source(type(algorithm))
    for mistake in mistakes:
        after = _edited(after, mistake)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    shown = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return tuple(f"{line[0]} {line[1:].split('  #')[0].strip()}" for line in shown)


def _source(kind: type) -> str:
    return textwrap.dedent(inspect.getsource(kind))


def _edited(source: str, mistake: Mistake) -> str:
    if not mistake.old:  # a changed setting
        return source
    if source.count(mistake.old) != 1:
        raise InvalidInput(
            f"the mistake {mistake.name!r} finds {mistake.old!r} {source.count(mistake.old)} times; expected once"
        )
    return source.replace(mistake.old, mistake.new)

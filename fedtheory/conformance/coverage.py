"""What the trials of a conformance check never exercise: options at values that hide mistakes about them, coins that fell one way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fedtheory.algorithms.listing import Listed
from fedtheory.conformance.trials import Course, Trial

#: options of minibatches, which quadratics do not have
_SAMPLING = frozenset({"batch", "clip", "epochs", "personal_epochs", "server_epochs"})
#: options that exact local solves do not read
_STEPPING = frozenset({"lr", "lr_decay", "steps"})


def list_unexercised(
    entry: Listed, values: Mapping[str, Any], trials: Sequence[Trial], ways: Sequence[Course]
) -> dict[str, str]:
    """Return what no trial exercises, by a name for it, and why.

    A number that is 0 or 1, or that was not given, in all trials leaves mistakes about it unseen: a factor of 1 may be anywhere or nowhere.
    """
    found = {}
    for option in entry.options:
        read = option.kind in (int, float) and not (values.get("exact") and option.name in _STEPPING)
        if not read or option.name in _SAMPLING:
            continue
        taken = [trial.values.get(option.name, option.default) for trial in trials]
        if all(value is None for value in taken):
            found[option.name] = "not given, so that its default is all that was seen"
        elif all(_hides(value) for value in taken):
            found[option.name] = f"{taken[0]:g} in all trials, which hides mistakes about it"
    if _SAMPLING & set(entry.uses):
        found["minibatches"] = "the trials have full gradients, without passes through data and clipping"
    coins: dict[str, set[bool]] = {}
    for way in ways:
        for asked in way.rounds:
            for purpose, heads in asked.coins.items():
                coins.setdefault(purpose, set()).add(heads)
    for purpose, seen in coins.items():
        if len(seen) == 1:
            found[f"the coin {purpose!r}"] = f"it was {next(iter(seen))} in all rounds"
    return found


def _hides(value: Any) -> bool:
    return value is None or bool(np.all(np.isin(np.asarray(value, dtype=float), (0.0, 1.0))))

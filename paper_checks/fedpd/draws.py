"""Instances that are drawn several times and played as one batch: what statements about random data are judged on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Engine, Part, Role
from fedtheory.claims.orderings import ordered

P = TypeVar("P")

DRAWS = 14  #: of data, each with coins of its own


def draw_batch(make: Callable[..., P], seeds: NDArray[np.int64], *varying: str) -> P:
    """Return one instance whose batch has a row for every seed: the fields that vary are stacked, the others must not."""
    made: list[Any] = [make(seed=int(seed)) for seed in seeds]
    batch: P = replace(made[0], **{name: np.stack([getattr(one, name) for one in made]) for name in varying})
    return batch


def exceeds(
    name: str, values: Any, by: float, text: str, *, engine: Engine = "numeric", role: Role = "printed"
) -> Part:
    """Part: the mean of a quantity over draws of data and coins is above ``by``."""
    return ordered(name, values, np.zeros_like(values), text, by=by, engine=engine, role=role)


def stays_below(name: str, values: Any, limit: float, text: str, *, role: Role = "printed") -> Part:
    """Part: the mean of a quantity over draws of data and coins is below ``limit``."""
    values = np.asarray(values, dtype=float)
    return ordered(
        name, np.full_like(values, limit), values, f"{text}; below {limit:g} by", engine="numeric", role=role
    )

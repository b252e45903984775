"""How samples are split over clients: each function returns one index array a client."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.errors import InvalidInput
from problems.datasets import Dataset
from problems.logistic import Logistic, logistic

Split = list[NDArray[np.int64]]


def iid(labels: Any, n: int, seed: int = 0) -> Split:
    """Shuffle, then cut into n parts of (almost) equal size."""
    order = np.random.default_rng(seed).permutation(_checked(labels, n))
    return [np.sort(part) for part in np.array_split(order, n)]


def by_sorted_label(labels: Any, n: int, seed: int = 0) -> Split:
    """Sort by label (ties in random order), then cut: most clients see one label only."""
    count = _checked(labels, n)
    shuffled = np.random.default_rng(seed).permutation(count)
    order = shuffled[np.argsort(np.asarray(labels)[shuffled], kind="stable")]
    return [np.sort(part) for part in np.array_split(order, n)]


def dirichlet(labels: Any, n: int, concentration: float, seed: int = 0) -> Split:
    """Cut every class over the clients in Dirichlet proportions; concentration per client, without replacement.

    Small concentrations are strongly non-iid. A client that would get nothing takes one sample of the largest client.
    """
    count = _checked(labels, n)
    if not concentration > 0:
        raise InvalidInput(f"the concentration must be positive, got {concentration}")
    rng = np.random.default_rng(seed)
    parts: list[list[int]] = [[] for _ in range(n)]
    kinds = np.asarray(labels)
    for kind in np.unique(kinds):
        members = rng.permutation(np.arange(count)[kinds == kind])
        share = rng.dirichlet(np.full(n, concentration))
        cuts = (np.cumsum(share)[:-1] * len(members)).astype(int)
        for client, piece in enumerate(np.split(members, cuts)):
            parts[client].extend(piece.tolist())
    for part in parts:
        if not part:
            part.append(max(parts, key=len).pop())
    return [np.sort(np.asarray(part, dtype=np.int64)) for part in parts]


def federate(dataset: Dataset, split: Split, **penalties: float) -> Logistic:
    """Logistic regression on a split data set; ``penalties`` are l2, alpha, beta."""
    return logistic(
        [dataset.features[part] for part in split],
        [dataset.labels[part] for part in split],
        name=f"logistic regression on {dataset.name}, {len(split)} clients",
        **penalties,  # type: ignore[arg-type]
    )


def _checked(labels: Any, n: int) -> int:
    count = len(labels)
    if not 1 <= n <= count:
        raise InvalidInput(f"cannot split {count} samples over {n} clients; every client needs at least one")
    return count

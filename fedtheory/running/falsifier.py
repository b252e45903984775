"""Search for an instance that violates a claim, or comes closest to it.

A search draws candidates in large batches, measures ratio = measured / claimed on all of them at once, then improves the
worst few by random local steps. A ratio above one is a violation; ``-inf`` marks candidates that break an assumption.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import to_numpy
from fedtheory.core.errors import InvalidInput, tell_kind

Candidates = dict[str, NDArray[np.float64]]  # name -> (batch, ...): row k of every array is candidate k


@dataclass(frozen=True)
class Search:
    """What to search over.

    Parameters
    ----------
    sample : (generator, count) -> candidates
        Draw candidates at random.
    ratio : candidates -> (count,)
        Measured over claimed, for a whole batch; -inf where an assumption is not met. It may be an array of another library.
    repair : candidates -> candidates, optional
        Bring perturbed candidates back into the admissible set.

    Examples
    --------
    >>> sample = lambda rng, size: {"x": rng.uniform(-2, 2, (size, 1))}
    >>> found = falsify(Search(sample, lambda c: c["x"][:, 0] ** 2), budget=2000)
    >>> print(found.violated)  # x^2 <= 1 is false on [-2, 2]
    True
    """

    sample: Callable[[np.random.Generator, int], Candidates]
    ratio: Callable[[Candidates], NDArray[np.float64]]
    repair: Callable[[Candidates], Candidates] | None = None


@dataclass(frozen=True, eq=False)
class Falsification:
    """The worst candidate found: its ``ratio``, the candidate itself, and what was spent.

    ``random`` is the worst ratio of the random phase, so that one sees what the local search added.

    Examples
    --------
    >>> sample = lambda rng, size: {"x": rng.uniform(-1, 1, (size, 1))}
    >>> found = falsify(Search(sample, lambda c: c["x"][:, 0] ** 2), budget=2000)
    >>> print(found.ratio > 0.99, found.violated)  # x^2 <= 1 holds on [-1, 1]
    True True
    """

    ratio: float
    candidate: dict[str, NDArray[np.float64]]
    evaluations: int
    random: float
    seed: int

    @property
    def violated(self) -> bool:
        """Whether the claim is broken on the candidate."""
        return self.ratio > 1

    def instance(self) -> dict[str, Any]:
        """Return the candidate as plain numbers, for a counterexample file."""
        return {name: values.tolist() for name, values in self.candidate.items()}


def falsify(search: Search, budget: int, *, seed: int = 0, batch: int = 1024, elite: int = 8) -> Falsification:
    """Search for the largest ratio measured / claimed.

    Half the budget goes to random candidates, half to local search around the ``elite`` worst of them, with steps that
    shrink whenever a generation brings no progress.

    Parameters
    ----------
    search : Search
    budget : int
        Number of candidates evaluated in all.
    seed : int
    batch : int
        Candidates evaluated at once.
    elite : int
        How many candidates the local search starts from.

    Raises
    ------
    InvalidInput
        No candidate met the assumptions, or what is searched is no `Search`.
    """
    if not isinstance(search, Search):
        raise InvalidInput(f"expected a Search and a budget, in this order; got {tell_kind(search)} first")
    if budget < 2:
        raise InvalidInput(f"the budget must be at least 2 candidates, got {budget}")
    rng = np.random.default_rng(seed)
    count = min(batch, budget // 2)
    drawn = search.sample(rng, count)
    spread = {name: values.std(axis=0) for name, values in drawn.items()}
    pool, scores = _best(drawn, _score(search, drawn), elite)
    spent = count
    while spent < budget // 2:
        count = min(batch, budget // 2 - spent)
        drawn = search.sample(rng, count)
        pool, scores = _best(*_joined(pool, scores, drawn, _score(search, drawn)), elite)
        spent += count
    if not np.isfinite(scores[0]):
        raise InvalidInput("no candidate of the search met the claim's assumptions; widen what `sample` draws")
    random_best = float(scores[0])
    size = 0.3
    while spent < budget and size > 1e-6:
        count = min(batch, budget - spent)
        parents = rng.integers(len(scores), size=count)
        children = {
            name: values[parents] + size * spread[name] * rng.standard_normal((count, *values.shape[1:]))
            for name, values in pool.items()
        }
        if search.repair is not None:
            children = search.repair(children)
        before = scores[0]
        pool, scores = _best(*_joined(pool, scores, children, _score(search, children)), elite)
        size *= 1.3 if scores[0] > before else 0.6
        spent += count
    worst = {name: values[0] for name, values in pool.items()}
    return Falsification(float(scores[0]), worst, spent, random_best, seed)


def _score(search: Search, candidates: Candidates) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        ratios = to_numpy(search.ratio(candidates)).astype(float)
    return np.where(np.isnan(ratios), -np.inf, ratios)


def _joined(
    pool: Candidates, scores: NDArray[np.float64], new: Candidates, found: NDArray[np.float64]
) -> tuple[Candidates, NDArray[np.float64]]:
    joined = {name: np.concatenate([pool[name], values]) for name, values in new.items()}
    return joined, np.concatenate([scores, found])


def _best(pool: Candidates, scores: NDArray[np.float64], keep: int) -> tuple[Candidates, NDArray[np.float64]]:
    order = np.argsort(-scores)[:keep]
    return {name: values[order] for name, values in pool.items()}, scores[order]

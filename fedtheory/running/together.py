"""Several runs of one method as a single run with an axis of runs: each on its own instance, from its own start, with its own seed.

Small arrays cost what calls cost, whatever is in them; ten runs at once therefore take little longer than one. A run's numbers are those that it
has alone, bit for bit: its draws are by its own seed (`fedtheory.core.randomness.Key`), and it is measured by itself, on its own instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.core.arrays import is_array
from fedtheory.core.client_weights import weights_of
from fedtheory.core.participation import Participation
from fedtheory.core.problem import Problem
from fedtheory.core.wrapped import Wrapped
from fedtheory.measures.metrics import Metric
from fedtheory.running.record import Trace
from fedtheory.running.runner import run


def sort_alike(problems: Sequence[Problem]) -> list[list[int]]:
    """Return the numbers of the problems in groups that can be stacked: of one kind, with arrays of NumPy of the same shapes, and else equal."""
    groups: list[tuple[Any, list[int]]] = []
    for k, problem in enumerate(problems):
        kind = _kind(_without_tests(problem)) if weights_of(problem) is None else None
        known = [members for other, members in groups if kind is not None and other == kind]
        if known:
            known[0].append(k)
        else:
            groups.append((kind, [k]))
    return [members for _, members in groups]


def run_together(
    method: Algorithm,
    problems: Sequence[Problem],
    starts: Sequence[NDArray[np.float64]],
    rounds: int,
    *,
    seeds: Sequence[int],
    metrics: Sequence[Mapping[str, Metric]],
    participation: Participation | None = None,
    every: int | Literal["sent"] = 1,
) -> list[Trace]:
    """Run a method on problems that are alike (`sort_alike`), and return the trace that each run has alone.

    Parameters
    ----------
    method, rounds, participation, every
        As in `fedtheory.running.runner.run`, of all runs.
    problems, starts, seeds, metrics
        One a run: the instance, the first model ``(d,)``, the seed, and functions by the same names.
    """
    names = list(metrics[0])

    def by_run(name: str) -> Metric:
        def measure(_: Problem, state: State) -> NDArray[Any]:
            own = (metrics[k][name](problem, _row(state, k)) for k, problem in enumerate(problems))
            return np.stack([np.asarray(value) for value in own])

        return measure

    trace = run(
        method,
        _stack([_without_tests(problem) for problem in problems]),
        np.stack(starts),
        rounds,
        participation=participation,
        seed=np.array(seeds),
        metrics={name: by_run(name) for name in names},
        every=every,
        progress=False,
    )
    return [_only(trace, k, seed, every == "sent") for k, seed in enumerate(seeds)]


def _only(trace: Trace, k: int, seed: int, when_sent: bool) -> Trace:
    """One run's trace; of rounds that were measured because something was sent, those in which it sent something."""
    kept = np.ones(len(trace.rounds), dtype=bool)
    if when_sent:
        kept[1:-1] = np.any(np.diff([trace.floats_up[k], trace.floats_down[k]]) != 0, axis=0)[:-1]
    own = {
        key: value for key, value in trace.info.items() if key != "run"
    }  # the name of what a checkpoint goes on with
    return replace(
        trace,
        rounds=trace.rounds[kept],
        metrics={name: values[k, kept] for name, values in trace.metrics.items()},
        floats_up=trace.floats_up[k, kept],
        floats_down=trace.floats_down[k, kept],
        diverged_at=trace.diverged_at[k],
        state=_row(trace.state, k),
        info=own | {"seed": seed, "together": trace.diverged_at.size},
    )


def _row(state: Any, k: int) -> Any:
    """One run's state; arrays that all runs have in common have no axis for them."""
    own = {f.name: getattr(state, f.name) for f in fields(state)}
    return replace(state, **{name: v[k] for name, v in own.items() if is_array(v) and v.ndim > 2})


def _without_tests(problem: Any) -> Any:
    """The problem without samples to test models on, which rounds do not ask for."""
    while isinstance(problem, Wrapped) and hasattr(type(problem), "test_accuracy"):
        problem = problem.inner
    return problem


def _kind(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype
    if is_dataclass(value):
        return type(value), [_kind(_without_tests(getattr(value, f.name))) for f in fields(value)]
    return type(value), value


def _stack(values: Sequence[Any]) -> Any:
    """Put arrays one upon the other, and so those inside of problems."""
    first = values[0]
    if isinstance(first, np.ndarray):
        return np.stack(values)
    if not is_dataclass(first):
        return first
    inner = {f.name: _stack([_without_tests(getattr(value, f.name)) for value in values]) for f in fields(first)}
    return replace(first, **inner)  # type: ignore[type-var]

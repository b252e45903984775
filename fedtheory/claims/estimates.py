"""How long runs of experiments will take, and what they will hold, measured on rounds of them before the first is made.

Seconds are of the processor on the host, as on a machine that does nothing else, and of the clock on a GPU.

Runs are of one kind where they differ in their seed, the number of rounds, and step sizes and weights (settings that are neither whole
numbers nor words). Of each kind one run is prepared, and a round or three of it are played and measured; the rest is multiplication. Where a method
takes exact gradients every few rounds (its setting ``period``), the two that are measured are weighed by that. The first
rounds of a method whose local work is solved to an accuracy may cost more than later ones, and a coin may make rounds unequal.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fedtheory.algorithms.base import State
from fedtheory.claims.claim import Claim
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training, list_trainings, prepare
from fedtheory.claims.identity import RefusedRun
from fedtheory.core.errors import FedtheoryError, require
from fedtheory.core.participation import choose_participation
from fedtheory.core.problem import Problem
from fedtheory.core.states import arrays_of
from fedtheory.measures.metrics import Metric
from fedtheory.running.runner import run

MEASURED_SECONDS = 60.0  #: after which no further kind of run is measured
ROUND_SECONDS = 10.0  #: a round that took longer is not played again
Clock = Callable[[], float]
CONTEXT_BYTES = 600 * 2**20  #: of a GPU that a process takes before its first tensor
NUMBER_BYTES, SUMMARY_BYTES = 19, 2500  #: of a number in a table of metrics; of the other files of a run


@dataclass(frozen=True)
class Cost:
    """Seconds to prepare a run, of a round, and of a measurement; bytes of its state, and at most on the GPU (None on the host)."""

    prepared: float
    round: float
    measured: float
    state: int
    on_gpu: int | None = None

    def seconds(self, training: Training) -> float:
        """Of a whole run."""
        return self.prepared + self.round * training.rounds + self.measured * (1 + training.measurements)


@dataclass(frozen=True)
class Workload:
    """Runs of one kind: method and problem, those to be made, how many are kept, why some are refused, and what one costs.

    ``alike``: this was measured on a run of another kind, of the same method and problem, or else on the slowest method measured on the problem.
    """

    name: tuple[str, str]
    trainings: tuple[Training, ...]
    kept: int
    refused: tuple[str, ...]
    cost: Cost | None = None
    alike: bool = False
    error: str = ""

    @property
    def seconds(self) -> float:
        """Of all that are to be made."""
        return 0.0 if self.cost is None else sum(map(self.cost.seconds, self.trainings))

    @property
    def disk(self) -> int:
        """Bytes that the runs to be made will take when they are complete."""
        rows = sum((2 + t.measurements) * (3 + len(t.metrics)) for t in self.trainings)
        return rows * NUMBER_BYTES + len(self.trainings) * SUMMARY_BYTES


def kind_of(training: Training) -> str:
    """Return what runs of one kind share."""
    settings = {name: value for name, value in training.settings.items() if not isinstance(value, float)}
    shared = training.configuration | {"settings": settings, "seed": 0, "rounds": 0, "every": 0, "start": 0}
    return json.dumps(shared, sort_keys=True)


def estimate(
    claims: Iterable[Claim],
    context: Context,
    limit: float = MEASURED_SECONDS,
    measure: Callable[[Training, Context], Cost] = lambda training, context: measure_cost(training, context),
) -> list[Workload]:
    """Return the runs of claims by kind, the longest work first.

    After ``limit`` seconds a kind takes the cost of one like it: of its method on its problem, else of the slowest method measured on that problem.
    Where there is none, too, its cost is None.
    """
    runs = {t.key: t for claim in claims for t in list_trainings(claim, context)}
    groups: dict[str, list[Training]] = {}
    for training in runs.values():
        groups.setdefault(kind_of(training), []).append(training)
    kinds = sorted(
        (_sort(group, context) for group in groups.values()), key=lambda k: -sum(t.rounds for t in k.trainings)
    )
    # first one of every method on every problem, then the other kinds
    names = [kind.name for kind in kinds]
    turns = sorted(range(len(kinds)), key=lambda k: names[:k].count(names[k]))
    begun, known = time.monotonic(), dict[tuple[str, str], Cost]()
    unmeasured = []
    for k in turns:
        if kinds[k].trainings and time.monotonic() - begun < limit:
            try:
                cost = measure(kinds[k].trainings[0], context)
            except FedtheoryError as error:
                kinds[k] = replace(kinds[k], error=str(error))
                continue
            kinds[k] = replace(kinds[k], cost=cost)
            known[names[k]] = max(cost, known.get(names[k], cost), key=_of_a_round)
        else:
            unmeasured.append(k)
    for k in unmeasured:
        slowest = max(
            (cost for (_, problem), cost in known.items() if problem == names[k][1]), key=_of_a_round, default=None
        )
        kinds[k] = replace(kinds[k], cost=known.get(names[k], slowest), alike=True)
    return sorted(kinds, key=lambda kind: -kind.seconds)


def _of_a_round(cost: Cost) -> float:
    return cost.round


def _sort(group: Sequence[Training], context: Context) -> Workload:
    made, kept, refused = [], 0, []
    for training in group:
        try:
            if training.is_done(context):
                kept += 1
            else:
                made.append(training)
        except RefusedRun as error:
            refused.append(str(error))
    return Workload((group[0].method, group[0].problem), tuple(made), kept, tuple(refused))


def measure_cost(training: Training, context: Context) -> Cost:
    """Prepare a run, play a round of it, and where that was quick two more that are timed.

    Raises
    ------
    NotAvailable
        Its data are not here.
    """
    cuda = require("torch", "measuring on a GPU").cuda if context.device.startswith("cuda") else None
    if cuda is not None:
        cuda.empty_cache()
        cuda.reset_peak_memory_stats()
    clock = time.process_time if cuda is None else time.perf_counter  # others may use the processors just now
    prepared, made = _time_of(clock, cuda, lambda: prepare(training, context.data, context.device, context.library))
    if prepared < ROUND_SECONDS:  # the first one also imports, and reads files that are then remembered
        prepared, made = _time_of(clock, cuda, lambda: prepare(training, context.data, context.device, context.library))
    spent = [0.0]
    metrics = {name: partial(_timed, spent, clock, cuda, metric) for name, metric in made.metrics.items()}
    play = partial(
        run,
        made.method,
        made.problem,
        made.x0,
        participation=choose_participation(training.participants, training.available),
        seed=training.seed,
        metrics=metrics,
        progress=False,
    )
    period = int(training.settings.get("period", 1))  # rounds of which the first costs more
    seconds, trace = _time_of(clock, cuda, lambda: play(rounds=1))
    first = a_round = max(0.0, seconds - spent[0])
    if seconds < ROUND_SECONDS or period > 1:  # the first one also fills caches
        spent[0] = 0.0
        seconds, trace = _time_of(clock, cuda, lambda: play(rounds=2, every=2))
        both = max(0.0, seconds - spent[0])
        a_round = both / 2 if period == 1 else (first + (period - 1) * max(0.0, both - first)) / period
    state = sum(getattr(array, "nbytes", 0) for array in arrays_of(trace.state).values())
    peak = None if cuda is None else int(cuda.max_memory_reserved()) + CONTEXT_BYTES
    return Cost(prepared, a_round, spent[0] / 2, int(state), peak)


def _timed(spent: list[float], clock: Clock, cuda: Any, metric: Metric, problem: Problem, state: State) -> Any:
    seconds, value = _time_of(clock, cuda, lambda: metric(problem, state))
    spent[0] += seconds
    return value


def _time_of(clock: Clock, cuda: Any, work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that work takes, and what it returns; of a GPU until it has done what it was asked for."""
    if cuda is not None:
        cuda.synchronize()
    begun = clock()
    found = work()
    if cuda is not None:
        cuda.synchronize()
    return clock() - begun, found


def count_fitting(free: int, needed: int, most: int) -> int:
    """Return how many runs fit into free memory, a tenth left over; at least one, at most ``most``."""
    return max(1, min(most, int(0.9 * free) // max(1, needed)))

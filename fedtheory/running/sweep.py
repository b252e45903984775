"""Sweeps: methods, problems, hyper-parameters, participation and seeds on a grid, as batches spread over workers.

Hyper-parameters that a method takes as arrays and the seeds are batch axes of one run; the rest of the grid are jobs. All runs
of a batch share their random numbers by seed, so settings are compared on common random numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from fedtheory.algorithms import ALGORITHMS, listed
from fedtheory.algorithms.listing import require_convexity
from fedtheory.algorithms.options import Option
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput, describe, tell_known
from fedtheory.core.participation import Uniform
from fedtheory.measures.catalogue import choose_metrics, look_up
from fedtheory.running.families import Placed, build_at, find_problem_modules, load_families, make_first_model
from fedtheory.running.room import MOST_UNASKED, require_room_for_clients
from fedtheory.running.runner import run, shape_start
from fedtheory.tools.devices import AUTOMATIC
from fedtheory.tools.jobs import run_jobs
from fedtheory.tools.journal import JOURNALS, Journal
from fedtheory.tools.memory import find_free_bytes, is_on_host

MOST_RUNS = 1_000_000  #: runs of one sweep
BATCH_RUNS = 64  #: runs in one job: enough to make the loop over rounds cheap, few enough to spread and to lose
BATCH_RUNS_ON_GPU = 4096  #: the same on a GPU, where a round costs its launches however many runs share them
BATCH_FLOATS = 2**24  #: runs times clients times coordinates in one batch on the host; larger ones are halved
COPIES = 64  #: how many such arrays a batch on a GPU may fill its free memory with

RunRow = dict[str, Any]


@dataclass(frozen=True)
class Batch:
    """What one job runs: a method on an instance, with every combination of settings for every seed."""

    first: int  # number of its first run in the grid
    method: str
    problem: str
    options: Mapping[str, Any]
    instance: int
    participants: int | None
    settings: tuple[Mapping[str, Any], ...]
    seeds: tuple[int, ...]
    rounds: int
    start: float | None
    metrics: tuple[str, ...]
    every: int | None
    data: str | None
    device: str
    library: str
    weights: str | None = None

    @property
    def size(self) -> int:
        """Number of runs."""
        return len(self.settings) * len(self.seeds)

    def halves(self) -> tuple[Batch, Batch]:
        """Two batches with the same runs in the same order."""
        name = "settings" if len(self.settings) > 1 else "seeds"
        values = getattr(self, name)
        cut = len(values) // 2
        return (
            replace(self, **{name: values[:cut]}),
            replace(self, **{name: values[cut:]}, first=self.first + self.size * cut // len(values)),
        )

    def rows(self) -> list[RunRow]:
        """What each run is: its number and every parameter, spelled as on the command line."""
        _, make_options = load_families()[self.problem]
        every = asdict(make_options(**self.options))
        options = {
            name.replace("_", "-"): value for name, value in every.items() if name not in ("seed", "data", "device")
        }
        place = {"device": self.device, "library": self.library}
        if self.weights is not None:
            options["weights"] = self.weights
        found = []
        for number, (settings, seed) in enumerate(itertools.product(self.settings, self.seeds), self.first):
            found.append(
                {"run": number, "method": self.method, "problem": self.problem}
                | options
                | place
                | {"instance": self.instance, "participants": self.participants, "seed": seed, "rounds": self.rounds}
                | {spell(o): settings.get(o.name, o.default) for o in listed(self.method).options}
            )
        return found


@dataclass(frozen=True)
class Sweep:
    """A grid: every method on every problem, with every combination of the values given.

    Parameters
    ----------
    methods, problems : names, as ``fedtheory list`` shows them
    settings : mapping of a method's option, by its name or its `Option.key`, to its values; a method takes those it has
    options : mapping of an option of the families of problems to its values
    participants : numbers of clients drawn a round; None for all
    seeds : seeds of the runs (samples, clients drawn, coins)
    instances : seeds of the problems' data
    rounds, start : rounds of every run, and every coordinate of its starting point (see `fedtheory.running.families.make_first_model`)
    metrics : names of what is measured (`fedtheory.measures.catalogue`)
    every : measure every so many rounds as well as at the end
    data : folder of data sets
    device, library : where arrays live, as `fedtheory.tools.devices.choose_place` takes them
    weights : the clients' weights in every run, as `fedtheory.core.weighted.weighted` takes a text; None for equal ones

    Raises
    ------
    InvalidInput
        A name is unknown, a list of values is empty, or no method uses a setting.

    Examples
    --------
    >>> sweep = Sweep(("fedavg",), ("quadratics",), {"lr": [0.1, 0.5], "local_steps": [1, 4]}, seeds=(0, 1), rounds=20)
    >>> print(sum(len(rows) for rows in run_sweep(sweep)))  # step sizes x local steps x seeds
    8
    """

    methods: tuple[str, ...]
    problems: tuple[str, ...]
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    options: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    participants: tuple[int | None, ...] = (None,)
    seeds: tuple[int, ...] = (0,)
    instances: tuple[int, ...] = (0,)
    rounds: int = 100
    start: float | None = None
    metrics: tuple[str, ...] = ("stationarity",)
    every: int | None = None
    data: str | None = None
    device: str = "cpu"
    library: str = AUTOMATIC
    weights: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run at all; what fails in single runs is recorded there."""
        used = [o for method in self.methods for o in listed(method).options]
        for name in self.settings:
            if not any(name in (o.name, o.key) for o in used):
                flag = next((o.flag for e in ALGORITHMS for o in e.options if name in (o.name, o.key)), f"--{name}")
                raise InvalidInput(
                    f"{' and '.join(self.methods)} do not use {flag}; used are {', '.join(sorted({o.flag for o in used}))}"
                )
        families = load_families()
        for problem in self.problems:
            if problem not in families:
                raise InvalidInput(f"unknown problem {problem!r}; {tell_known(problem, families)}")
            known = {f.name for f in fields(families[problem][1])}
            for name in self.options:
                if name not in known:
                    raise InvalidInput(f"{problem} has no option {name!r}; it has {', '.join(sorted(known))}")
        for metric in self.metrics:
            look_up(metric)
        lists = {f.name: getattr(self, f.name) for f in fields(self) if isinstance(getattr(self, f.name), tuple)}
        for name, values in {**lists, **self.settings, **self.options}.items():
            if len(values) == 0 or len(set(values)) < len(values):
                raise InvalidInput(f"{name} must be at least one value, each once; got {values!r}")

    def swept(self) -> list[str]:
        """Return the method's options that have several values, as columns spell them."""
        many = [name for name, values in self.settings.items() if len(values) > 1]
        found = (spell(o) for name in many for m in self.methods for o in listed(m).options if name in (o.name, o.key))
        return list(dict.fromkeys(found))

    @property
    def size(self) -> int:
        """Number of runs."""
        axes = (self.problems, self.instances, self.participants, self.seeds, *self.options.values())
        own = [{key for option in listed(m).options for key in (option.name, option.key)} for m in self.methods]
        of_methods = (math.prod(len(values) for name, values in self.settings.items() if name in keys) for keys in own)
        return math.prod(map(len, axes)) * sum(of_methods)

    def batches(self) -> list[Batch]:
        """Return the jobs: runs are numbered in the order of the grid.

        Raises
        ------
        InvalidInput
            They are more than `MOST_RUNS`, or one of the problems has more clients than memory holds.
        """
        found: list[Batch] = []
        number, runs = 0, BATCH_RUNS if self.device == "cpu" else BATCH_RUNS_ON_GPU
        if self.size > MOST_RUNS:
            raise InvalidInput(f"these values make {self.size} runs; at most {MOST_RUNS} are taken, name fewer values")
        self._require_room()
        setups = list(itertools.product(self.problems, _product(self.options), self.instances, self.participants))
        for method in self.methods:
            options_of_method = {option.name: option for option in listed(method).options}
            asked = (
                (o.name, name) for name in self.settings for o in options_of_method.values() if name in (o.name, o.key)
            )
            own = {option: self.settings[name] for option, name in asked}
            single = {name: values for name, values in own.items() if not options_of_method[name].batched}
            batched = {name: values for name, values in own.items() if options_of_method[name].batched}
            for (problem, options, instance, participants), one in itertools.product(setups, _product(single)):
                combinations = [one | many for many in _product(batched)]
                for seeds in _parts(self.seeds, runs):
                    for settings in _parts(combinations, max(1, runs // len(seeds))):
                        batch = Batch(
                            *(number, method, problem, options, instance, participants, tuple(settings), tuple(seeds)),
                            *(self.rounds, self.start, self.metrics, self.every, self.data, self.device, self.library),
                            weights=self.weights,
                        )
                        found.append(batch)
                        number += batch.size
        return found

    def _require_room(self) -> None:
        """Refuse a problem of more clients than memory holds; each is held alone, since batches follow each other."""
        for name, options in itertools.product(self.problems, _product(self.options)):
            if options.get("clients", 0) > MOST_UNASKED:
                require_room_for_clients(name, **options, seed=self.instances[0], data=self.data)

    def journal(self) -> Journal:
        """Return the journal of this sweep; a batch in which a run failed is run again."""
        return Journal(
            "sweep",
            asdict(self),
            find_problem_modules(),
            JOURNALS,
            lambda rows: all(row["error"] is None for row in rows),
        )


def spell(option: Option) -> str:
    """Return an option as the columns of a table and the command line spell it, without the dashes."""
    return option.flag.removeprefix("--")


def run_sweep(
    sweep: Sweep, *, workers: int = 1, scheduler: str | None = None, journal: Journal | None = None
) -> Iterator[list[RunRow]]:
    """Run a sweep as `fedtheory.tools.jobs.run_jobs` does, and yield the rows of each batch as it is ready.

    A row is plain data: ``run`` (its number in the grid), every parameter, the metrics at the start (``<metric>_at_start``) and at
    the end, ``floats_up`` and ``floats_down``, ``diverged_at`` (the round, or None), ``error`` (one line, or None) and, with
    ``every``, ``trace``: lists by round. A metric that is not finite is None.
    """
    jobs = {str(batch.first): (batch,) for batch in sweep.batches()}
    for outcome in run_jobs(run_batch, jobs, workers=workers, scheduler=scheduler, journal=journal):
        if outcome.error is None:
            yield outcome.value
        else:
            yield [_failed(row, outcome.error) for row in jobs[outcome.key][0].rows()]


def run_batch(batch: Batch) -> list[RunRow]:
    """Run one batch; where it raises, it is split in halves until the runs that raise are alone."""
    if batch.size > 1 and not _has_room(batch):
        return [row for half in batch.halves() for row in run_batch(half)]
    try:
        return run_batch_at_once(batch)
    except Exception as failure:  # one value that is refused must not take the others down
        if batch.size == 1:
            return [_failed(batch.rows()[0], describe(failure))]
        return [row for half in batch.halves() for row in run_batch(half)]


def _has_room(batch: Batch) -> bool:
    """Whether a batch is of a size for one run: on the host for the caches' sake, on a GPU as far as its free memory goes."""
    problem, _, place = _placed(batch)
    floats = batch.size * problem.n * problem.d
    if floats <= BATCH_FLOATS:
        return True
    x0 = make_first_model(problem, batch.start, batch.instance, place)
    free = None if is_on_host(x0) else find_free_bytes(x0)
    return free is not None and 8 * COPIES * floats <= free


def run_batch_at_once(batch: Batch) -> list[RunRow]:
    """All runs of a batch as one run with axes (seeds, settings)."""
    problem, on_host, place = _placed(batch)
    first = batch.settings[0]
    swept = [name for name in first if any(s[name] != first[name] for s in batch.settings)]
    x0 = make_first_model(problem, batch.start, batch.instance, place)
    settings = dict(first) | {name: along_batch([s[name] for s in batch.settings], x0) for name in swept}
    require_convexity(listed(batch.method), first, on_host)
    algorithm = listed(batch.method).build(**settings)
    algorithm, metrics = choose_metrics(batch.metrics, algorithm, problem, shape_start(problem, x0), on_host)
    trace = run(
        algorithm,
        problem,
        x0,
        batch.rounds,
        participation=None if batch.participants is None else Uniform(batch.participants),
        seed=np.array(batch.seeds)[:, None] if len(batch.seeds) > 1 else batch.seeds[0],
        metrics=metrics,
        every=batch.every or max(1, batch.rounds),
        progress=False,
    )
    shape = (len(batch.seeds), len(batch.settings))
    measured = {**trace.metrics, "floats_up": trace.floats_up, "floats_down": trace.floats_down}
    # what does not depend on a setting has no axis for it
    curves = {
        name: np.moveaxis(np.broadcast_to(values, (*shape, values.shape[-1])), 0, 1)
        for name, values in measured.items()
    }
    diverged = np.broadcast_to(trace.diverged_at, shape).T
    rows = batch.rows()
    for at, row in zip(np.ndindex(*diverged.shape), rows, strict=True):
        row |= {f"{name}_at_start": _number(curves[name][at][0]) for name in batch.metrics}
        row |= {name: _number(values[at][-1]) for name, values in curves.items()}
        row |= {"diverged_at": int(diverged[at]) if diverged[at] >= 0 else None, "error": None}
        if batch.every is not None:
            lists = {name: [_number(v) for v in values[at]] for name, values in curves.items()}
            row["trace"] = {"round": trace.rounds.tolist()} | lists
    return rows


def _failed(row: RunRow, error: str) -> RunRow:
    return row | {"diverged_at": None, "error": error}


def _placed(batch: Batch) -> Placed:
    return _instance(
        *(batch.problem, tuple(batch.options.items()), batch.instance, batch.data, batch.device, batch.library),
        weights=batch.weights,
    )


@lru_cache(maxsize=4)
def _instance(
    name: str,
    options: tuple[tuple[str, Any], ...],
    seed: int,
    data: str | None,
    device: str,
    library: str,
    weights: str | None,
) -> Placed:
    return build_at(name, device, library, **dict(options), seed=seed, data=data, weights=weights)


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _product(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


def _parts(values: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [values[k : k + size] for k in range(0, len(values), size)]

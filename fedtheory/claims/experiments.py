"""Training runs of experiments as plain data, kept in folders of results, and the orderings that are read off them.

An experiment is a list of runs, repeated over seeds, at one of three sizes. Everything that decides a run's numbers is in its
`Training`; a seed decides the split, the first weights and the draws. Runs are made once, by jobs of their own, and claims read them.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import time
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import listed
from fedtheory.algorithms.mistakes import build_mistaken, find_mistakes
from fedtheory.claims.claim import Check, Claim, Fault, Need
from fedtheory.claims.context import Context
from fedtheory.claims.identity import Identity, RefusedRun, require_same
from fedtheory.claims.protocol import Clause, Protocol, Setting, join_clauses
from fedtheory.core.arrays import to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import choose_participation
from fedtheory.core.problem import can
from fedtheory.measures.catalogue import choose_metrics
from fedtheory.measures.metrics import Metric
from fedtheory.running.families import build_at, make_first_model
from fedtheory.running.record import Trace
from fedtheory.running.results import Results
from fedtheory.running.runner import run, shape_start
from fedtheory.tools.untrusted import read_json_file, read_text


@typing.runtime_checkable
class OfRuns(typing.Protocol):
    """Work that claims share (`fedtheory.claims.claim.Need`) and that consists of runs."""

    def trainings(self, context: Context) -> list[Training]:
        """Return its runs, and make none: where runs follow from what others measured that are not kept yet, runs like them stand there."""


@dataclass(frozen=True)
class Training:
    """One run, as `fedtheory run` would make it.

    Parameters
    ----------
    method, problem : str
        Names of a listed algorithm and of a family of problems.
    rounds : int
    settings : mapping
        The method's options by name.
    options : mapping
        What the family is asked for, by the fields of its options; a ``seed`` among them fixes data and split for all seeds of the run.
    metrics : names
        Those of `fedtheory.measures.catalogue`.
    participants, available : int, optional
        Clients a round, and how many ever take part; all by default.
    every : int, or "sent"
        Rounds between measurements; or after those in which something was sent.
    start : float or "random", optional
        Every coordinate of the first model, or random weights, where it is not the problem's own.
    seed : int
    mistake : str
        Name of a known mistake of the method (`fedtheory.algorithms.mistakes`) that the run has in it, as a planted fault; none by default.
    """

    method: str
    problem: str
    rounds: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("value", "test_accuracy")
    participants: int | None = None
    available: int | None = None
    every: int | Literal["sent"] = 1
    start: float | Literal["random"] | None = None
    seed: int = 0
    mistake: str = ""

    def __post_init__(self) -> None:
        """Refuse a hyper-parameter that the method does not read."""
        entry = listed(self.method)
        unread = sorted({*self.settings} - {*entry.uses})
        if unread:
            raise InvalidInput(f"{self.method} does not use {', '.join(unread)}; it uses {', '.join(entry.uses)}")

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> Training:
        """Return the run of a configuration, as it is kept.

        Raises
        ------
        InvalidInput
            It is no configuration of a run.
        """
        try:
            return cls(**{**configuration, "metrics": tuple(configuration["metrics"])})
        except (AttributeError, KeyError, TypeError) as error:
            raise InvalidInput(f"this is no configuration of a run: {error!r}") from error

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that decides the numbers, as plain data; without the mistake where there is none."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return dict(sorted((name, value) for name, value in own.items() if name != "mistake" or value))

    def build(self) -> Any:
        """Return the method, with its mistake in it.

        Raises
        ------
        InvalidInput
            The method has no such mistake.
        """
        entry = listed(self.method)
        if not self.mistake:
            return entry.build(**self.settings)
        known = {mistake.name: mistake for mistake in find_mistakes(entry, self.settings)}
        if self.mistake not in known:
            raise InvalidInput(f"{self.method} has no known mistake {self.mistake!r}; known are {', '.join(known)}")
        return build_mistaken(entry, self.settings, (known[self.mistake],))

    @property
    def measurements(self) -> int:
        """How often it is measured after the start, at most."""
        return self.rounds // (1 if self.every == "sent" else self.every)

    @property
    def key(self) -> str:
        """A readable name with a hash of the configuration."""
        text = json.dumps(self.configuration, sort_keys=True)
        short = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        return f"{self.method}{'-mistaken' if self.mistake else ''}-{self.problem}-seed{self.seed}-{short}"

    def trainings(self, context: Context) -> list[Training]:
        """Return the runs that this work consists of: this one."""
        return [self]

    def is_done(self, context: Context) -> bool:
        """Whether the run is kept, and complete.

        Raises
        ------
        RefusedRun
            It is, and something else made it than what is here (`fedtheory.claims.identity`).
        """
        return _kept(self, context) is not None

    def make(self, context: Context) -> None:
        """Run it, or resume it, and keep what was measured."""
        _run(self, context)

    def read(self, context: Context) -> Log:
        """Return what was measured; a run that is not kept is made now.

        Raises
        ------
        RefusedRun
            It is kept, and something else made it than what is here.
        """
        found = _kept(self, context)
        return _run(self, context) if found is None else found


@dataclass(frozen=True, eq=False)
class Log:
    """What a run measured: ``rounds`` ``(R,)``, metrics and floats sent by name ``(R,)``; a diverged run has infinite metrics from then on.

    ``clients`` ``(n,)``: share of its own test samples that each client's model gets right at the end; None where clients have none.
    """

    columns: Mapping[str, NDArray[np.float64]]
    seconds: float
    clients: NDArray[np.float64] | None = None

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return a column: ``round``, a metric, ``floats_up`` or ``floats_down``."""
        return self.columns[name]

    @property
    def diverged(self) -> bool:
        """Whether the run diverged."""
        return not np.isfinite(next(values[-1] for name, values in self.columns.items() if name not in _COUNTS))

    def last(self, name: str, share: float = 0.0) -> float:
        """Return the mean of a metric over the last ``share`` of its measurements, at least the last one; a diverged run has NaN."""
        values = self[name]
        tail = values[-max(1, round(share * len(values))) :]
        return float(tail.mean()) if np.isfinite(tail).all() else float("nan")

    def best(self, name: str) -> float:
        """Return the largest finite value of a metric, as papers report accuracies; NaN for a diverged run."""
        return float("nan") if self.diverged else float(self[name].max())

    def at(self, name: str, round: int) -> float:
        """Return a metric after a round; NaN where the run had diverged.

        Raises
        ------
        InvalidInput
            It was not measured then.
        """
        there = np.flatnonzero(self["round"] == round)
        if not there.size:
            raise InvalidInput(f"{name} was not measured after round {round}; measure more often")
        value = float(self[name][there[0]])
        return value if np.isfinite(value) else float("nan")

    def first(self, name: str, level: float, *, above: bool = True) -> float:
        """Return the first measured round at which a metric is at a level or beyond; infinity if it never is."""
        there = self[name] >= level if above else self[name] <= level
        return float(self["round"][there.argmax()]) if there.any() else float("inf")


_COUNTS = ("round", "floats_up", "floats_down")
_BY_CLIENT = "personal_accuracy_by_client"  #: in a run's summary


def _kept(training: Training, context: Context) -> Log | None:
    """Return what a complete run measured that is kept and was made with what is here."""
    if context.results is None:
        return None
    folder = Path(context.results) / training.key
    found = _stored(folder, training.rounds)
    if found is None or not require_same(folder, training, context).is_finished:
        return None
    return found


def _stored(folder: Path, rounds: int) -> Log | None:
    """Read a folder of results if its run is complete.

    Raises
    ------
    RefusedRun
        A file of it is there and cannot be read.
    """
    table, about = folder / "metrics.csv", folder / "summary.json"
    if not (table.exists() and about.exists()):
        return None
    try:
        columns = _read_table(read_text(table))
        summary = read_json_file(about, "the summary of a run", finite=False)
        if not columns["round"].size or columns["round"][-1] != rounds or "seconds" not in summary:
            return None  # which is written when all is done
        return Log(columns, float(summary["seconds"]), _by_client(summary))
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise RefusedRun(f"the run in {folder} cannot be read ({error}); remove the folder, or give another") from error


def _read_table(text: str) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a table of numbers, by name."""
    names, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    if len({*names}) < len(names) or any(len(line) != len(names) for line in lines):
        raise ValueError("metrics.csv: a column occurs twice, or a line is longer or shorter than the first")
    values = np.asarray(lines, dtype=float).reshape(len(lines), len(names))
    return dict(zip(names, values.T, strict=True))


def _by_client(info: Mapping[str, Any]) -> NDArray[np.float64] | None:
    return np.asarray(info[_BY_CLIENT], dtype=float) if _BY_CLIENT in info else None


def _run(training: Training, context: Context) -> Log:
    if context.results is None:
        asked = json.dumps(training.configuration, sort_keys=True)
        return _remembered(asked, context.data, context.device, context.library)
    folder = Path(context.results) / training.key
    if any((folder / name).exists() for name in ("checkpoint.npz", "metrics.csv")):
        made_by = require_same(folder, training, context)  # it is gone on with, and never written over
    else:
        made_by = Identity.of(training, context)
        made_by.begin(folder)
    results = Results(folder, training.configuration)
    begun = time.perf_counter()
    trace = _trained(training, context.data, context.device, context.library, results)
    results.table(replace(trace, info=trace.info | {"seconds": round(time.perf_counter() - begun, 3)}))
    made_by.finish(folder)
    results.checkpoint.unlink(missing_ok=True)
    found = _stored(folder, training.rounds)
    assert found is not None
    return found


@lru_cache(maxsize=256)
def _remembered(configuration: str, data: str | None, device: str, library: str) -> Log:
    """Runs of this process, where no folder keeps them."""
    training = Training.of(json.loads(configuration))
    begun = time.perf_counter()
    trace = _trained(training, data, device, library, None)
    sent = {"floats_up": trace.floats_up, "floats_down": trace.floats_down}
    columns = {"round": trace.rounds.astype(float), **trace.metrics, **sent}
    return Log(columns, time.perf_counter() - begun, _by_client(trace.info))


@dataclass(frozen=True)
class Prepared:
    """All that the rounds of a run begin with."""

    method: Any
    problem: Any
    x0: Any
    metrics: dict[str, Metric]


def prepare(t: Training, data: str | None, device: str, library: str) -> Prepared:
    """Build a run's problem, its method and its metrics."""
    problem, on_host, place = build_at(t.problem, device, library, **{"seed": t.seed, **t.options, "data": data})
    method: Any = t.build()
    x0 = make_first_model(problem, t.start, t.seed, place)
    method, metrics = choose_metrics(t.metrics, method, problem, shape_start(problem, x0), on_host)
    return Prepared(method, problem, x0, metrics)


def _trained(t: Training, data: str | None, device: str, library: str, results: Results | None) -> Trace:
    begun = prepare(t, data, device, library)
    trace = run(
        begun.method,
        begun.problem,
        begun.x0,
        t.rounds,
        participation=choose_participation(t.participants, t.available),
        seed=t.seed,
        metrics=begun.metrics,
        every=t.every,
        progress=False,
        checkpoint=None if results is None else results.checkpoint,
        watch=None if results is None else results.table,
    )
    if not can(begun.problem, "personal_accuracy"):
        return trace
    shares = to_numpy(begun.problem.personal_accuracy(getattr(trace.state, "personal", trace.state.x)))
    return replace(trace, info=trace.info | {_BY_CLIENT: shares.tolist()})


# ---- repeated over seeds ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repeated:
    """The same run with several seeds."""

    trainings: tuple[Training, ...]

    def mistaken(self, name: str) -> Repeated:
        """Return the same runs with a known mistake in the method, none for an empty name."""
        return Repeated(tuple(replace(training, mistake=name) for training in self.trainings))

    def logs(self, context: Context) -> list[Log]:
        """Return what each measured."""
        return [training.read(context) for training in self.trainings]

    def last(self, context: Context, name: str, share: float = 0.0) -> NDArray[np.float64]:
        """Return `Log.last` of each seed."""
        return np.array([log.last(name, share) for log in self.logs(context)])

    def at(self, context: Context, name: str, round: int) -> NDArray[np.float64]:
        """Return `Log.at` of each seed."""
        return np.array([log.at(name, round) for log in self.logs(context)])

    def best(self, context: Context, name: str) -> NDArray[np.float64]:
        """Return `Log.best` of each seed."""
        return np.array([log.best(name) for log in self.logs(context)])

    def first(self, context: Context, name: str, level: float, *, above: bool = True) -> NDArray[np.float64]:
        """Return `Log.first` of each seed."""
        return np.array([log.first(name, level, above=above) for log in self.logs(context)])


def repeat_run(training: Training, seeds: Iterable[int]) -> Repeated:
    """Return a run with each of these seeds."""
    return Repeated(tuple(replace(training, seed=seed) for seed in seeds))


def list_trainings(claim: Claim, context: Context) -> list[Training]:
    """Return the runs that a claim's check reads, of all its needs that consist of runs; none is made."""
    needs = () if claim.needs is None else claim.needs(context)
    return [training for need in needs if isinstance(need, OfRuns) for training in need.trainings(context)]


def list_runs(runs: Iterable[Repeated]) -> list[Training]:
    """Return all single runs, for a claim's ``needs``."""
    return [training for group in runs for training in group.trainings]


def claim_ordering(
    id: str,
    protocol: Protocol,
    source: str,
    clauses: Sequence[Clause],
    check: Check,
    faults: tuple[Fault, ...],
    needs: Callable[[Context], Sequence[Need]] | None,
    setting: Callable[[Context], Setting],
) -> Claim:
    """Return the claim of an experiment that follows its paper's protocol; its statement is what its clauses make."""
    return Claim(
        id,
        protocol.paper,
        "ordering",
        source,
        join_clauses(clauses),
        check,
        faults,
        needs=needs,
        setting=setting,
        clauses=tuple(clauses),
        protocol=protocol,
    )


# ---- what is read off them -----------------------------------------------------------------------------------------------

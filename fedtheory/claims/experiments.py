"""Training runs of experiments as plain data, kept in folders of results, and the orderings that are read off them.

An experiment is a list of runs, repeated over seeds, at one of three sizes. Everything that decides a run's numbers is in its
`Training`; a seed decides the split, the first weights and the draws. Runs are made once, by jobs of their own, and claims read them.
"""

from __future__ import annotations

import contextlib
import hashlib
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
from fedtheory.claims.identity import Identity, RefusedRun, note, require_same
from fedtheory.claims.logs import BY_CLIENT, Log, by_client, read_log
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
from fedtheory.running.together import run_together, sort_alike
from fedtheory.tools.devices import AUTOMATIC


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
        make_runs([self], context)

    def read(self, context: Context) -> Log:
        """Return what was measured; a run that is not kept is made now.

        Raises
        ------
        RefusedRun
            It is kept, and something else made it than what is here.
        """
        if context.results is None:
            return _remembered(json.dumps(self.configuration, sort_keys=True), *_where(context))
        found = _kept(self, context)
        if found is None:
            make_runs([self], context)
            found = read_log(Path(context.results) / self.key, self.rounds)
            assert found is not None
        return found


def _kept(training: Training, context: Context) -> Log | None:
    """Return what a complete run measured that is kept and was made with what is here.

    What something else made is passed over in a folder that is only read: its run is made here instead.
    """
    if context.results is None:
        return None
    own = _complete(Path(context.results) / training.key, training, context)
    if own is not None:
        return own
    for root in map(Path, context.kept):
        with contextlib.suppress(RefusedRun):
            found = _complete(root / training.key, training, context)
            if found is not None:
                note(f"those of {root.parent.name}/{root.name}, made before (--fresh makes them anew)", training.key)
                return found
    return None


def _complete(folder: Path, training: Training, context: Context) -> Log | None:
    found = read_log(folder, training.rounds)
    if found is None or not require_same(folder, training, context).is_finished:
        return None
    return found


def read_runs(trainings: Sequence[Training], context: Context) -> list[Log]:
    """Return what runs measured (`Training.read`); those that have not begun and are alike are made at once."""
    if context.results is not None:
        roots = [Path(root) for root in (context.results, *context.kept)]
        new = [training for training in trainings if not any((root / training.key).exists() for root in roots)]
        for group in group_runs(new, context):
            if len(group) > 1:
                make_runs(group, context)
    return [training.read(context) for training in trainings]


def write_without_seed(training: Training) -> str:
    """Return what runs share that differ in their seeds only."""
    return json.dumps({k: v for k, v in training.configuration.items() if k != "seed"}, sort_keys=True)


TOGETHER = 4  #: runs that are made as one; more hardly cost less, as their arrays leave the cache


def group_runs(trainings: Sequence[Training], context: Context) -> list[list[Training]]:
    """Return runs in groups that are made as one: of laptop size, on the host, and different in their seeds only.

    Longer runs are made one by one, each with a checkpoint.
    """
    together = context.size == "laptop" and context.device == "cpu" and context.library in {AUTOMATIC, "numpy"}
    found: dict[str, list[list[Training]]] = {}
    for training in trainings:
        alike = write_without_seed(training) if together else training.key
        groups = found.setdefault(alike, [[]])
        if len(groups[-1]) == TOGETHER:
            groups.append([])
        groups[-1].append(training)
    return [group for groups in found.values() for group in groups]


def make_runs(trainings: Sequence[Training], context: Context) -> None:
    """Make one run, or several that differ in their seeds only."""
    if context.results is None:
        for training in trainings:
            training.read(context)  # which this process remembers
        return
    folders = [Path(context.results) / training.key for training in trainings]
    made_by = [_identify(*pair, context) for pair in zip(folders, trainings, strict=True)]
    results = [Results(folder, t.configuration) for folder, t in zip(folders, trainings, strict=True)]
    begun = time.perf_counter()
    traces = _trained(trainings, *_where(context), results[0] if len(results) == 1 else None)
    seconds = round((time.perf_counter() - begun) / len(traces), 3)
    for trace, identity, result in zip(traces, made_by, results, strict=True):
        result.table(replace(trace, info=trace.info | {"seconds": seconds}))
        identity.finish(result.folder)
        result.checkpoint.unlink(missing_ok=True)


def _identify(folder: Path, training: Training, context: Context) -> Identity:
    """Say in a run's folder what makes it; where it has begun, what makes it here must be the same."""
    if any((folder / name).exists() for name in ("checkpoint.npz", "metrics.csv")):
        return require_same(folder, training, context)  # it is gone on with, and never written over
    made_by = Identity.of(training, context)
    made_by.begin(folder)
    return made_by


def _where(context: Context) -> tuple[str | None, str, str]:
    return context.data, context.device, context.library


@lru_cache(maxsize=256)
def _remembered(configuration: str, data: str | None, device: str, library: str) -> Log:
    """Runs of this process, where no folder keeps them."""
    training = Training.of(json.loads(configuration))
    begun = time.perf_counter()
    [trace] = _trained([training], data, device, library, None)
    sent = {"floats_up": trace.floats_up, "floats_down": trace.floats_down}
    columns = {"round": trace.rounds.astype(float), **trace.metrics, **sent}
    return Log(columns, time.perf_counter() - begun, by_client(trace.info))


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


def _trained(
    trainings: Sequence[Training], data: str | None, device: str, library: str, results: Results | None
) -> list[Trace]:
    """The traces of one run, or of several that differ in their seeds only: as one where their instances are alike."""
    begun = [prepare(training, data, device, library) for training in trainings]
    traces: dict[int, Trace] = {}
    for alike in sort_alike([own.problem for own in begun]):
        t, method = trainings[alike[0]], begun[alike[0]].method
        participation = choose_participation(t.participants, t.available)
        if len(alike) == 1:
            traces[alike[0]] = run(
                method,
                begun[alike[0]].problem,
                begun[alike[0]].x0,
                t.rounds,
                participation=participation,
                seed=t.seed,
                metrics=begun[alike[0]].metrics,
                every=t.every,
                progress=False,
                checkpoint=None if results is None else results.checkpoint,
                watch=None if results is None else results.table,
            )
            continue
        found = run_together(
            method,
            [begun[k].problem for k in alike],
            [begun[k].x0 for k in alike],
            t.rounds,
            seeds=[trainings[k].seed for k in alike],
            metrics=[begun[k].metrics for k in alike],
            participation=participation,
            every=t.every,
        )
        traces |= dict(zip(alike, found, strict=True))
    return [_with_clients(traces[k], own.problem) for k, own in enumerate(begun)]


def _with_clients(trace: Trace, problem: Any) -> Trace:
    """Add how each client's model does on its own test samples, where clients have some."""
    if not can(problem, "personal_accuracy"):
        return trace
    shares = to_numpy(problem.personal_accuracy(getattr(trace.state, "personal", trace.state.x)))
    return replace(trace, info=trace.info | {BY_CLIENT: shares.tolist()})


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
        return read_runs(self.trainings, context)

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

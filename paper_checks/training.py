"""Training runs of experiments as plain data, kept in folders of results, and the orderings that are read off them.

An experiment is a list of runs, repeated over seeds, at one of three sizes. Everything that decides a run's numbers is in its
`Training`; a seed decides the split, the first weights and the draws. Runs are made once, by jobs of their own, and claims read them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import listed
from fedtheory.arrays import to_numpy
from fedtheory.claims import Context, Part, Picture, Role, Table
from fedtheory.errors import InvalidInput
from fedtheory.families import asked_for, build_problem, first_model
from fedtheory.metrics import named
from fedtheory.paired import paired_difference
from fedtheory.participation import who_takes_part
from fedtheory.problem import can
from fedtheory.residuals import WithResiduals
from fedtheory.results import Results
from fedtheory.runner import Trace, run, start_point
from fedtheory.settings import Settings


@dataclass(frozen=True)
class Training:
    """One run, as `fedtheory run` would make it.

    Parameters
    ----------
    method, problem : str
        Names of a listed algorithm and of a family of problems.
    rounds : int
    settings : mapping
        Hyper-parameters, by the fields of `Settings`.
    options : mapping
        What the family is asked for, by the fields of its options.
    metrics : names
        Those of `fedtheory.metrics.offered`; with residuals among them the method plays with `WithResiduals`.
    participants, available : int, optional
        Clients a round, and how many ever take part; all by default.
    every : int
        Rounds between measurements.
    start : float, optional
        Every coordinate of the first model, where it is not the problem's own.
    seed : int
    """

    method: str
    problem: str
    rounds: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("value", "test_accuracy")
    participants: int | None = None
    available: int | None = None
    every: int = 1
    start: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a hyper-parameter that the method does not read."""
        entry = listed(self.method)
        unread = sorted({*self.settings} - {*entry.uses})
        if unread:
            raise InvalidInput(f"{self.method} does not use {', '.join(unread)}; it uses {', '.join(entry.uses)}")

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> Training:
        """Return the run of a configuration, as it is kept."""
        return cls(**{**configuration, "metrics": tuple(configuration["metrics"])})

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that decides the numbers, as plain data."""
        return dict(sorted({name: getattr(self, name) for name in self.__dataclass_fields__}.items()))

    @property
    def key(self) -> str:
        """A readable name with a hash of the configuration."""
        text = json.dumps(self.configuration, sort_keys=True)
        short = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        return f"{self.method}-{self.problem}-seed{self.seed}-{short}"

    def is_done(self, context: Context) -> bool:
        """Whether the run is kept, and complete."""
        return context.results is not None and _stored(Path(context.results) / self.key, self.rounds) is not None

    def make(self, context: Context) -> None:
        """Run it, or go on with it, and keep what was measured."""
        _run(self, context)

    def read(self, context: Context) -> Log:
        """Return what was measured; a run that is not kept is made now."""
        if context.results is not None:
            found = _stored(Path(context.results) / self.key, self.rounds)
            if found is not None:
                return found
        return _run(self, context)


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
        """Whether the run left all bounds."""
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


def _stored(folder: Path, rounds: int) -> Log | None:
    """Read a folder of results if its run is complete."""
    try:
        with (folder / "metrics.csv").open(newline="") as file:
            names, *lines = csv.reader(file)
        summary = json.loads((folder / "summary.json").read_text())
    except (OSError, ValueError):
        return None
    if not lines or int(lines[-1][0]) != rounds or "seconds" not in summary:  # which is written when all is done
        return None
    values = np.asarray(lines, dtype=float)
    return Log(dict(zip(names, values.T, strict=True)), float(summary["seconds"]), _by_client(summary))


def _by_client(info: Mapping[str, Any]) -> NDArray[np.float64] | None:
    return np.asarray(info[_BY_CLIENT], dtype=float) if _BY_CLIENT in info else None


def _run(training: Training, context: Context) -> Log:
    if context.results is None:
        return _remembered(json.dumps(training.configuration, sort_keys=True), context.data, context.device)
    folder = Path(context.results) / training.key
    results = Results(folder, training.configuration)
    begun = time.perf_counter()
    trace = _trained(training, context.data, context.device, results)
    results.table(replace(trace, info=trace.info | {"seconds": round(time.perf_counter() - begun, 3)}))
    results.checkpoint.unlink(missing_ok=True)
    found = _stored(folder, training.rounds)
    assert found is not None
    return found


@lru_cache(maxsize=256)
def _remembered(configuration: str, data: str | None, device: str) -> Log:
    """Runs of this process, where no folder keeps them."""
    training = Training.of(json.loads(configuration))
    begun = time.perf_counter()
    trace = _trained(training, data, device, None)
    sent = {"floats_up": trace.floats_up, "floats_down": trace.floats_down}
    columns = {"round": trace.rounds.astype(float), **trace.metrics, **sent}
    return Log(columns, time.perf_counter() - begun, _by_client(trace.info))


def _trained(t: Training, data: str | None, device: str, results: Results | None) -> Trace:
    options = {**t.options, "seed": t.seed, "data": data}
    if device != "cpu" and getattr(asked_for(t.problem, options)[0], "network", None) is not None:
        options["device"] = device
    problem = build_problem(t.problem, **options)
    method: Any = listed(t.method).build(Settings(**t.settings))
    if {"primal_residual", "dual_residual"} & {*t.metrics}:
        method = WithResiduals(method)
    x0 = first_model(problem, t.start, t.seed)
    begun = method.init(problem, start_point(problem, x0))
    trace = run(
        method,
        problem,
        x0,
        t.rounds,
        participation=who_takes_part(t.participants, t.available),
        seed=t.seed,
        metrics={name: named(name, problem, begun) for name in t.metrics},
        every=t.every,
        progress=False,
        checkpoint=None if results is None else results.checkpoint,
        watch=None if results is None else results.table,
    )
    if not can(problem, "personal_accuracy"):
        return trace
    shares = to_numpy(problem.personal_accuracy(getattr(trace.state, "personal", trace.state.x)))
    return replace(trace, info=trace.info | {_BY_CLIENT: shares.tolist()})


# ---- repeated over seeds ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repeated:
    """The same run with several seeds."""

    trainings: tuple[Training, ...]

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


def repeated(training: Training, seeds: Iterable[int]) -> Repeated:
    """Return a run with each of these seeds."""
    return Repeated(tuple(replace(training, seed=seed) for seed in seeds))


def needed(runs: Iterable[Repeated]) -> list[Training]:
    """Return all single runs, for a claim's ``needs``."""
    return [training for group in runs for training in group.trainings]


# ---- what is read off them -----------------------------------------------------------------------------------------------


def ordered(
    name: str,
    higher: Any,
    lower: Any,
    text: str,
    *,
    by: float = 0.0,
    role: Role = "printed",
    unit: str = "",
    scale: float = 1.0,
) -> Part:
    """Part: one quantity exceeds another by more than ``by``, over seeds that both share.

    It holds where the 95 % interval of the mean paired difference lies above ``by``, fails where it lies below, and is undecided where it
    contains it. A diverged run is a NaN: it holds where all runs of the lower side diverged and none of the higher, fails where it is the
    other way round, and is undecided otherwise. A single seed has no interval: it is undecided, and the difference is told.
    """
    a, b = np.asarray(higher, dtype=float), np.asarray(lower, dtype=float)
    if a.shape != b.shape:
        raise InvalidInput(f"{name}: {a.size} runs against {b.size}; expected the same seeds on both sides")
    if (np.isnan(a) | np.isnan(b)).any():
        gone_a, gone_b = int(np.isnan(a).sum()), int(np.isnan(b).sum())
        holds = True if gone_a == 0 and gone_b == b.size else False if gone_b == 0 and gone_a == a.size else None
        return Part(name, holds, "real data", f"{text}: {gone_a} and {gone_b} of {a.size} runs diverged", role=role)
    if a.size == 1:
        said = f"{text}: {scale * (a - b).item():+.3g}{unit} with one seed, which has no interval"
        return Part(
            name,
            None,
            "real data",
            said,
            role=role,
            data={"higher": (scale * a).tolist(), "lower": (scale * b).tolist()},
        )
    difference = paired_difference(scale * a, scale * b)
    holds = True if difference.low > by else False if difference.high < by else None
    size = max(abs(difference.low), abs(difference.high), abs(by), np.finfo(float).tiny)
    return Part(
        name,
        holds,
        "real data",
        f"{text}: {difference}{unit}" + (f", against {by:g}{unit}" if by else ""),
        role=role,
        margin=(difference.low - by if holds is not False else difference.high - by) / size,
        data={"higher": (scale * a).tolist(), "lower": (scale * b).tolist()},
    )


def alike(
    name: str,
    first: Any,
    second: Any,
    text: str,
    *,
    within: float,
    role: Role = "printed",
    unit: str = "",
    scale: float = 1.0,
) -> Part:
    """Part: two quantities differ by less than ``within``, over seeds that both share.

    It holds where the 95 % interval of the mean paired difference lies inside (-within, within), fails where it lies outside, and is
    undecided otherwise, as where a run diverged.
    """
    a, b = scale * np.asarray(first, dtype=float), scale * np.asarray(second, dtype=float)
    if np.isnan(a).any() or np.isnan(b).any():
        gone = f"{int(np.isnan(a).sum())} and {int(np.isnan(b).sum())} of {a.size} runs diverged"
        return Part(name, None, "real data", f"{text}: {gone}", role=role)
    difference = paired_difference(a, b)
    widest = max(abs(difference.low), abs(difference.high))
    outside = difference.low > within or difference.high < -within
    holds = True if widest < within else False if outside else None
    return Part(
        name,
        holds,
        "real data",
        f"{text}: {difference}{unit}, against {within:g}{unit} either way",
        role=role,
        margin=(within - widest) / max(within, widest),
        data={"first": a.tolist(), "second": b.tolist()},
    )


def shown(values: Any, digits: int = 2, scale: float = 100.0) -> str:
    """Return mean and deviation over seeds as papers print them; ``--`` where a run diverged."""
    a = scale * np.asarray(values, dtype=float)
    if not np.isfinite(a).all():
        return "--"
    return f"{a.mean():.{digits}f}" + (f" +- {a.std(ddof=1):.{digits}f}" if a.size > 1 else "")


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a table whose entries are text, numbers or None."""
    return Table(title, [*columns], [[*row] for row in rows])


def curves(
    context: Context,
    title: str,
    runs: Mapping[str, Repeated],
    metric: str,
    *,
    by: str = "round",
    ylabel: str = "",
    logy: bool = False,
) -> Picture:
    """Return the mean over seeds of a metric, one line a label, against rounds or floats sent (``by="floats"``)."""
    series = []
    for label, group in runs.items():
        logs = group.logs(context)
        x = (
            logs[0]["round"]
            if by == "round"
            else np.mean([log["floats_up"] + log["floats_down"] for log in logs], axis=0)
        )
        y = np.mean([log[metric] for log in logs], axis=0)
        fine = np.isfinite(y)
        series.append({"label": label, "x": x[fine].tolist(), "y": y[fine].tolist()})
    return Picture(
        title, "communication rounds" if by == "round" else "floats sent", ylabel or metric, series, logy=logy
    )

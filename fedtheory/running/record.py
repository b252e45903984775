"""What a run keeps: the trace of what was measured, and its file."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import State
from fedtheory.core.arrays import Array, fetch, is_array, is_object, namespace, to_numpy
from fedtheory.core.errors import InvalidInput, describe, tell_known
from fedtheory.core.precision import in_precision_of
from fedtheory.core.problem import Problem, can
from fedtheory.core.states import from_host, select_rows, to_host
from fedtheory.measures.metrics import Metric
from fedtheory.tools.journal import make_code
from fedtheory.tools.untrusted import parse_json, read_arrays

_KNOWN = (int, float, np.ndarray, np.generic)  # counts that the host has
DIVERGED_ABOVE = 1e100  #: a server or personal model with a larger coordinate counts as diverged


@dataclass(frozen=True, eq=False)
class Trace:
    """What was measured, by round.

    ``rounds`` ``(R,)``: the rounds at which it was measured (0 is the start). ``metrics``: name to ``(*batch, R)``.
    ``floats_up``, ``floats_down`` ``(*batch, R)``: floats sent to and by the server so far, over all clients; at the start, what the method exchanges
    before its first round (`fedtheory.algorithms.base.Method.first_exchange`).
    ``diverged_at`` ``(*batch,)``: the round after which a run had diverged (a coordinate beyond `DIVERGED_ABOVE`), -1 if it did not; its metrics are
    infinite from there. ``state``: the last state (for a diverged run, the last finite one).

    Examples
    --------
    >>> trace = run(GradientDescent(1.0), problem, x0, 50, every=10)
    >>> print(trace.rounds)
    [ 0 10 20 30 40 50]
    >>> print(trace["stationarity"].shape, trace.floats_up[-1])
    (6,) 2500.0
    """

    rounds: NDArray[np.int64]
    metrics: dict[str, NDArray[np.float64]]
    floats_up: NDArray[np.float64]
    floats_down: NDArray[np.float64]
    diverged_at: NDArray[np.int64]
    state: State
    info: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> NDArray[np.float64]:
        """Return a metric by name.

        Raises
        ------
        InvalidInput
            It was not measured; the message names those near it, or all.
        """
        if metric not in self.metrics:
            raise InvalidInput(f"{metric!r} was not measured in this run; {tell_known(str(metric), self.metrics)}")
        return self.metrics[metric]

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Which runs diverged."""
        return np.asarray(self.diverged_at >= 0)


class Recorder:
    """What a run has measured so far."""

    def __init__(self, metrics: Mapping[str, Metric], problem: Problem, finest: Array | None = None) -> None:
        """Measure states on a problem, first brought to the precision of ``finest`` where that is given."""
        self.metrics = metrics
        self.problem = problem
        self.finest = finest
        self.rounds: list[int] = []
        self.values: dict[str, list[NDArray[Any]]] = {name: [] for name in metrics}
        self.up: list[NDArray[Any]] = []
        self.down: list[NDArray[Any]] = []
        self.sent: tuple[Any, Any] = (np.zeros(()), np.zeros(()))
        self.owed: list[tuple[tuple[Any, Any], Any]] = []  # counts that a device has, fetched together with the metrics
        self.diverged_at: NDArray[np.int64] = np.full((), -1)
        self.all_diverged = False

    def count(self, vectors: tuple[Any, Any], clients: Any) -> None:
        """Add the floats of one round, over all clients that took part; runs that have diverged send nothing more."""
        clients = np.where(self.diverged_at < 0, clients, 0)
        up, down = vectors
        if isinstance(up, _KNOWN) and isinstance(down, _KNOWN):
            self._add(up, down, clients)
        else:
            self.owed.append((vectors, clients))

    def _add(self, up: Any, down: Any, clients: Any) -> None:
        up, down = (np.asarray(v, dtype=float) for v in (up, down))
        up, down = (v[..., 0, 0] if v.ndim >= 2 else v for v in (up, down))
        # floats are counted in whole numbers: k/d of a vector is k of them, without the rounding of k/d
        self.sent = (
            self.sent[0] + np.rint(up * self.problem.d * clients),
            self.sent[1] + np.rint(down * self.problem.d * clients),
        )

    def guard(self, r: int, old: State, new: State) -> State:
        """Note runs that have just diverged; they keep their last finite state."""
        xp = namespace(new.x)
        if is_object(new.x):
            return new
        models = [new.x, *([new.personal] if hasattr(new, "personal") else [])]
        bounded = [xp.max(xp.abs(model), axis=(-2, -1)) <= DIVERGED_ABOVE for model in models]  # False for NaN
        fine = to_numpy(reduce(xp.logical_and, bounded))
        if np.all(fine) and not np.any(self.diverged_at >= 0):
            return new
        shape = np.broadcast_shapes(self.diverged_at.shape, fine.shape)
        self.diverged_at = np.array(np.broadcast_to(self.diverged_at, shape))
        self.diverged_at[~fine & (self.diverged_at < 0)] = r
        self.all_diverged = bool(np.all(self.diverged_at >= 0))
        return select_rows(self.diverged_at >= 0, old, new)

    def measure(self, r: int, state: State) -> None:
        """Evaluate the metrics after round r."""
        self.rounds.append(r)
        if self.finest is not None:
            state = in_precision_of(state, self.finest)
        with np.errstate(all="ignore"):
            measured = [metric(self.problem, state) for metric in self.metrics.values()]
        for name, found in zip(self.metrics, self._fetch(measured), strict=True):
            symbols = found.dtype == object
            self.values[name].append(found if symbols else np.where(self.diverged_at >= 0, np.inf, found))
        self.up.append(self.sent[0])
        self.down.append(self.sent[1])

    def _fetch(self, measured: list[Any]) -> list[NDArray[Any]]:
        """Bring metrics to the host, and what the device has counted: the host waits once."""
        if not self.owed:
            return fetch(measured)
        counts = [v for vectors, _ in self.owed for v in vectors if is_array(v)]
        found = fetch([*measured, *counts])
        ready = iter(found[len(measured) :])
        for vectors, clients in self.owed:
            up, down = (next(ready) if is_array(v) else v for v in vectors)
            self._add(up, down, clients)
        self.owed.clear()
        return found[: len(measured)]

    def trace(self, state: State, info: dict[str, Any], seeds: tuple[int, ...]) -> Trace:
        """Everything as arrays, batch axes first and rounds last."""
        batch = np.broadcast_shapes(seeds, state.x.shape[:-2], self.diverged_at.shape)
        rounds = len(self.rounds)
        return Trace(
            rounds=np.asarray(self.rounds),
            metrics={name: _spread(_stack(values), (*batch, rounds)) for name, values in self.values.items()},
            floats_up=_spread(_stack(self.up), (*batch, rounds)),
            floats_down=_spread(_stack(self.down), (*batch, rounds)),
            diverged_at=_spread(self.diverged_at, batch),
            state=state,
            info=info,
        )

    def save(self, path: Path, name: str, done: int, state: State) -> None:
        """Write a checkpoint, with a code that only this user can make; an interrupted write leaves the old one in place."""
        self._fetch([])
        fields: dict[str, Any] = {f"state.{key}": value for key, value in to_host(state).items()}
        fields |= {f"metric.{key}": _stack(values) for key, values in self.values.items()}
        meta = {"run": name, "done": done, "rounds": self.rounds}
        if can(self.problem, "plan"):
            meta["decisions"] = self.problem.plan.decisions()  # type: ignore[attr-defined]
        fields |= {"up": _stack(self.up), "down": _stack(self.down), "diverged_at": self.diverged_at}
        fields |= {"sent_up": self.sent[0], "sent_down": self.sent[1], "meta": json.dumps(meta)}
        arrays = {key: np.asarray(value) for key, value in fields.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(path.name + ".part")
        with temporary.open("wb") as file:
            np.savez(file, code=np.asarray(_code_of(arrays)), **arrays)  # type: ignore[arg-type]
        temporary.replace(path)

    def load(self, path: Path, name: str, state: State) -> tuple[int, State]:
        """Read a checkpoint of the same run.

        Raises
        ------
        InvalidInput
            It is another file, or one of another run.
        """
        stored, meta = read_checkpoint(path)
        if meta["run"] != name:
            raise InvalidInput(
                f"the checkpoint {path} belongs to another run (algorithm, problem, seed, metrics or start differ); "
                "give another file, or delete it to start afresh"
            )
        try:
            self._restore(stored, meta)
            values = {key.removeprefix("state."): value for key, value in stored.items() if key.startswith("state.")}
            _require_like(state, values)
            return meta["done"], from_host(state, values)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InvalidInput(_not_readable(path, describe(error))) from error

    def _restore(self, stored: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Take over what was measured and sent."""
        if can(self.problem, "plan"):
            self.problem.plan.adopt(meta["decisions"])  # type: ignore[attr-defined]
        self.rounds = list(meta["rounds"])
        for key in self.values:
            self.values[key] = _unstack(stored[f"metric.{key}"], self.rounds)
        self.up = _unstack(stored["up"], self.rounds)
        self.down = _unstack(stored["down"], self.rounds)
        self.sent = (stored["sent_up"], stored["sent_down"])
        self.diverged_at = stored["diverged_at"]
        self.all_diverged = bool(np.all(self.diverged_at >= 0))


def read_checkpoint(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays of a checkpoint, and what it says of them: the run, the rounds that are done, those that were measured.

    Raises
    ------
    InvalidInput
        It is another file, or was changed, or another user wrote it.
    """
    try:
        stored = read_arrays(path)
        meta, code = _read_meta(stored), str(stored.pop("code", ""))
    except (KeyError, ValueError) as error:
        raise InvalidInput(_not_readable(path, error)) from error
    if not hmac.compare_digest(code.encode(), _code_of(stored).encode()):
        raise InvalidInput(
            f"the checkpoint {path} was changed after it was written, or written by another user or on another machine, and is not believed; "
            "go on where it was written, or delete it to start afresh ('check --fresh' does, of runs in its own folder)"
        )
    return stored, meta


def _code_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """The code of all that a checkpoint holds: names, kinds, shapes and bytes; objects are never read back (`read_arrays`)."""
    contents: list[bytes | memoryview] = []
    for name, value in sorted(arrays.items()):
        contents.append(f"{name} {value.dtype.str} {value.shape}\n".encode())
        if value.size and not value.dtype.hasobject:
            contents.append(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    return make_code("checkpoint", *contents)


def _read_meta(stored: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    meta = parse_json(str(stored["meta"]))
    rounds = meta.get("rounds") if isinstance(meta, dict) else None
    counts = [meta.get("done"), *rounds] if isinstance(rounds, list) else [None]
    if any(type(count) is not int or count < 0 for count in counts) or not isinstance(meta.get("run"), str):
        raise ValueError("it names no run, or no rounds")
    return dict(meta)


def _not_readable(path: Path, why: Any) -> str:
    return f"{path} is not a readable checkpoint ({str(why).removeprefix(f'{path} ')}); delete it to start afresh"


def _require_like(state: State, values: Mapping[str, NDArray[Any]]) -> None:
    """Refuse values of another state: other fields, other kinds of numbers, other numbers of clients or coordinates."""
    own = to_host(state)
    if own.keys() != values.keys():
        raise ValueError(f"it has the fields {', '.join(values)}, and not {', '.join(own)}")
    for name, value in values.items():
        if value.dtype.kind != own[name].dtype.kind or value.shape[-1:] != own[name].shape[-1:]:
            raise ValueError(f"its field {name!r} is of another kind or dimension")


def _spread(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Give a quantity that all runs of a batch have in common the batch axes."""
    return values if values.ndim > len(shape) else np.array(np.broadcast_to(values, shape))


def _stack(values: list[NDArray[Any]]) -> NDArray[Any]:
    shape = np.broadcast_shapes(*(np.shape(v) for v in values))
    return np.stack([np.broadcast_to(v, shape) for v in values], axis=-1)


def _unstack(values: NDArray[Any], rounds: list[int]) -> list[NDArray[Any]]:
    if values.shape[-1] != len(rounds):
        raise ValueError(f"{values.shape[-1]} measurements of {len(rounds)} rounds")
    return list(np.moveaxis(values, -1, 0))


def count_kept_rounds(checkpoint: Path) -> int:
    """Return after how many rounds a checkpoint was written."""
    return int(_read_meta(read_arrays(checkpoint, "meta"))["done"])

"""The only loop over rounds.

`run` repeats an algorithm's round, measures, counts what is sent, detects divergence, shows progress, and can resume
an interrupted run. Batch axes come first: instances in the problem's data, hyper-parameters as arrays ``(*batch, 1, 1)``,
seeds as an integer array.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fedtheory.algorithms.base import Algorithm, State, require_method_and_problem
from fedtheory.core.arrays import Array, is_array, is_object, like, namespace
from fedtheory.core.client_weights import by_weights_of_argument, playing, require_weights_meant, weights_of
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import All, Participation, require_clients, require_participation
from fedtheory.core.precision import bits_of, find_floats, has_floats, in_precision_of
from fedtheory.core.problem import Problem, can
from fedtheory.core.randomness import Key
from fedtheory.core.states import arrays_of, select_rows
from fedtheory.measures import metrics as measures
from fedtheory.measures.catalogue import choose_metrics
from fedtheory.measures.metrics import Metric
from fedtheory.running.record import Recorder, Trace
from fedtheory.tools.fingerprint import fingerprint
from fedtheory.tools.memory import require_room
from fedtheory.tools.terminal import show_progress
from fedtheory.tools.versions import find_versions

CHECKPOINT_SECONDS = (
    30.0  #: time between checkpoints, and how many times longer than writing one: a thirtieth of the time at most
)
MEASURED_BYTES = 500  #: what is kept of one measured round of one run, at the least
CHECKED_BYTES = 2**28  #: states from this size on are held against the free memory before the first round


def shape_start(problem: Problem, x0: Array) -> Array:
    """Bring a starting point ``(d,)``, ``(*batch, d)`` to the shape ``(*batch, 1, d)`` after checking it.

    Raises
    ------
    InvalidInput
        The last axis is not d, or a value is not finite.
    """
    expected = f"expected an array (d,) or (*batch, d) of real numbers with d = {problem.d}"
    if not is_array(x0):
        raise InvalidInput(f"x0 is a {'single number' if hasattr(x0, 'dtype') else type(x0).__name__}; {expected}")
    if x0.shape[-1:] != (problem.d,) or 0 in x0.shape:
        raise InvalidInput(f"x0 has shape {tuple(x0.shape)}; {expected}")
    if is_object(x0):
        if not all(isinstance(v, numbers.Real) or hasattr(v, "free_symbols") for v in np.ravel(x0)):
            raise InvalidInput(
                "x0 is an array of objects that are no real numbers; expected numbers, fractions or symbols"
            )
    elif isinstance(x0, np.ndarray) and x0.dtype.kind not in "fiubc":
        raise InvalidInput(f"x0 is an array of {x0.dtype}; {expected}")
    elif namespace(x0).isdtype(x0.dtype, "complex floating"):
        raise InvalidInput("x0 has complex numbers; expected real ones")
    elif not bool(namespace(x0).all(namespace(x0).isfinite(x0))):
        raise InvalidInput("x0 contains NaN or infinite values; expected finite numbers")
    return x0[..., None, :]


@by_weights_of_argument(1)
def run(
    algorithm: Algorithm,
    problem: Problem,
    x0: Array,
    rounds: int,
    *,
    participation: Participation | None = None,
    seed: Any = 0,
    metrics: Mapping[str, Metric] | Collection[str] | None = None,
    every: int | Collection[int] | Literal["sent"] = 1,
    progress: bool | None = None,
    checkpoint: Path | str | None = None,
    watch: Callable[[Trace], None] | None = None,
) -> Trace:
    """Run an algorithm for a number of rounds.

    Parameters
    ----------
    algorithm, problem
        What to run, and on what. Hyper-parameters that are arrays of NumPy are brought to where x0 is. Where the problem's clients have
        weights (`fedtheory.core.weighted.Weighted`), averages over clients are by these.
    x0 : array ``(d,)`` or ``(*batch, d)``
        Common starting point of the clients; its library and dtype are those of the run: data and hyper-parameters of another precision
        are rounded to it.
    rounds : int
        Number of communication rounds.
    participation : Participation, optional
        Who takes part; all by default.
    seed : int or integer array
        One seed, or one a run of the batch (its axes are leading axes of the run).
    metrics : mapping of name to ``(problem, state) -> (*batch,)``, or names, optional
        What to measure, as functions or by the names of the catalogue (``["gap"]``); by default ``{"stationarity": ||grad f(x)||^2}``
        (with a shared h: of the least subgradient). It is measured in the precision of the run or of the problem as given, whichever is
        higher: a run in float32 is judged by the problem's own f.
    every : int, collection of int, or "sent"
        Measure every so many rounds, at these rounds, or after those in which something was sent; the start and the end are always measured.
    progress : bool, optional
        Show a progress bar on standard error; by default when it is a terminal and the run takes seconds.
    checkpoint : path, optional
        A file that is written from time to time, and from which the run resumes where it exists, bit for bit as without the interruption.
    watch : function of a trace, optional
        Called with what has been measured so far whenever a checkpoint is written.

    Returns
    -------
    Trace

    Raises
    ------
    InvalidInput
        A shape or value is wrong, or the checkpoint belongs to another run.
    """
    require_method_and_problem(algorithm, problem, "run(method, problem, x0, rounds)")
    require_weights_meant(algorithm, weights_of(problem))
    if not isinstance(rounds, int | np.integer) or rounds < 0:
        raise InvalidInput(f"rounds must be a whole number and not negative, got {rounds!r}")
    if np.asarray(seed).dtype.kind not in "iu" or np.any(np.asarray(seed) < 0):
        raise InvalidInput(f"seeds must be non-negative integers, got {seed}")
    participation = All() if participation is None else participation
    require_participation(participation)
    start = shape_start(problem, x0)
    if metrics is None:
        metrics = {"stationarity": measures.stationarity}
    elif not isinstance(metrics, Mapping):
        algorithm, metrics = choose_metrics(
            [metrics] if isinstance(metrics, str) else metrics, algorithm, problem, start
        )
    if wrong := [name for name, metric in metrics.items() if not callable(metric)]:
        raise InvalidInput(
            f"the metric {wrong[0]!r} is {metrics[wrong[0]]!r}; expected a function (problem, state) -> value, or metrics=[NAME]"
        )
    wanted, when_sent = _rounds_to_measure(every, int(rounds)), isinstance(every, str)
    working, method, finest = problem, bring_hyperparameters(algorithm, start), None
    if has_floats(start):
        working, method = in_precision_of(problem, start), in_precision_of(method, start)
        finest = max(find_floats(problem), key=bits_of, default=start)
        finest = finest if bits_of(finest) > bits_of(start) else None
    state = method.init(working, start)
    _require_room_for_state(state)
    book = Recorder(metrics, working if finest is None else problem, finest)
    measured = every if when_sent else sorted(wanted)
    name = fingerprint(
        algorithm, problem, participation, seed, start, sorted(metrics), measured, thorough=checkpoint is not None
    )

    def info() -> dict[str, Any]:
        found = {
            "algorithm": repr(algorithm),
            "problem": problem.name,
            "n": problem.n,
            "d": problem.d,
            "rounds": rounds,
            "seed": np.asarray(seed).tolist(),
            "participation": repr(participation),
            "run": name,
            "versions": find_versions(),
        }
        return found | ({"plan": problem.plan.report()} if can(problem, "plan") else {})  # type: ignore[attr-defined]

    first = 0
    if checkpoint is not None and Path(checkpoint).exists():
        first, state = book.load(Path(checkpoint), name, state)
    else:
        book.count(getattr(algorithm, "first_exchange", (0, 0)), problem.n)
        book.measure(0, state)

    saved, cost = time.monotonic(), 0.0
    _keep_freed_memory()
    with np.errstate(all="ignore"), show_progress("rounds", rounds, done=first, late=True, shown=progress) as advance:
        for r in range(first, rounds):
            if book.all_diverged:
                break
            key = Key(seed, r)
            clients = participation.draw(problem.n, key)
            require_clients(clients, participation)
            with playing(clients):
                new = method.round(working, state, clients, key)
            count: Any = problem.n
            if clients is not None:
                count = clients.count()
                if np.any(count == 0):  # nobody came: nothing happens in that run
                    new = select_rows(count == 0, state, new)
            before = book.sent
            book.count(method.traffic(key, new), count)
            state = book.guard(r + 1, state, new)
            if r + 1 in wanted or (
                when_sent and any(np.any(now != then) for now, then in zip(book.sent, before, strict=True))
            ):
                book.measure(r + 1, state)
            advance()
            over = r + 1 == rounds or book.all_diverged
            if checkpoint is not None and (over or time.monotonic() - saved > CHECKPOINT_SECONDS * max(1.0, cost)):
                begun = time.monotonic()
                book.save(Path(checkpoint), name, r + 1, state)
                cost = time.monotonic() - begun
                if watch is not None:
                    watch(book.trace(state, info(), np.shape(seed)))
                saved = time.monotonic()
    for later in sorted(wanted - set(book.rounds)):  # none, unless every run has diverged
        book.measure(later, state)
    return book.trace(state, info(), np.shape(seed))


def bring_hyperparameters(algorithm: Any, x0: Array) -> Any:
    """Return an algorithm whose hyper-parameters that are floats of NumPy lie where x0 does; what the host decides on stays with it."""
    if isinstance(x0, np.ndarray) or not dataclasses.is_dataclass(algorithm):
        return algorithm
    moved = {}
    for f in dataclasses.fields(algorithm):
        value = getattr(algorithm, f.name)
        if isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind == "f":
            moved[f.name] = like(value, x0)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            changed = bring_hyperparameters(value, x0)
            if changed is not value:
                moved[f.name] = changed
    return dataclasses.replace(algorithm, **moved) if moved else algorithm  # type: ignore[type-var]


def _require_room_for_state(state: State) -> None:
    """Refuse a state that does not fit: a round holds the old one and the new one.

    Raises
    ------
    InvalidInput
        There is too little memory; the message says how much is needed.
    """
    arrays = {name: a for name, a in arrays_of(state).items() if not is_object(a)}
    needed = 2 * sum(
        math.prod(a.shape) * getattr(a.dtype, "itemsize", 8) for a in arrays.values()
    )  # views that are common to clients will not stay so
    if needed >= CHECKED_BYTES:
        shapes = ", ".join(f"{name} {tuple(a.shape)}" for name, a in arrays.items())
        advice = (
            "take fewer clients or a smaller model, or a method that keeps less on each client (FedAvg keeps nothing)"
        )
        require_room(f"the state of this method ({shapes}), old and new,", needed, next(iter(arrays.values())), advice)


def _keep_freed_memory() -> None:
    """Let the C library keep freed memory for the next temporaries, instead of returning it and faulting it in again.

    glibc raises its thresholds to the largest block that was freed, up to 32 MiB; a block that is never touched costs nothing.
    """
    np.empty(31 * 2**20, dtype=np.uint8)


def _rounds_to_measure(every: int | Collection[int] | Literal["sent"], rounds: int) -> set[int]:
    if isinstance(every, str):
        if every != "sent":
            raise InvalidInput(f"every must be at least 1, a collection of rounds or 'sent', got {every!r}")
        return {0, rounds}
    if not isinstance(every, int | np.integer):
        if not isinstance(every, Collection) or not all(isinstance(r, int | np.integer) for r in every):
            raise InvalidInput(f"every must be at least 1, a collection of rounds or 'sent', got {every!r}")
        return {int(r) for r in every if 0 <= r <= rounds} | {0, rounds}
    if every < 1:
        raise InvalidInput(f"every must be at least 1 or a collection of rounds, got {every}")
    many = rounds // int(every)
    require_room(
        f"what is measured in {many} rounds",
        MEASURED_BYTES * many,
        np.empty(0),
        "measure less often, by `every` (--every)",
    )
    return {*range(0, rounds + 1, int(every)), rounds}

"""Independent jobs through one joblib call: on local processes, or on a dask scheduler; results are kept as they come.

A job is a key and the arguments of a task; what the task returns is plain data (lists, dicts, text, numbers, None), so that it
can be kept. Jobs do not see each other: one that raises becomes an outcome with an error, the others go on.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from fedtheory.core.errors import JobsStopped, NotAvailable, describe, require
from fedtheory.tools.journal import Journal

CONNECT_SECONDS = 10.0  #: how long a scheduler may take to answer, and its first worker to be there
ALONE_SECONDS = 60.0  #: how long a scheduler may be without any worker before jobs are stopped


@dataclass(frozen=True)
class Outcome:
    """What became of one job: its value, or an error in one line. ``kept``: read from the journal of an interrupted run."""

    key: str
    value: Any
    error: str | None
    seconds: float
    kept: bool = False


class _GivenUp(Outcome):
    """By dask: the workers died that had the job, of its own doing or of a neighbour's."""


def run_jobs(
    task: Callable[..., Any],
    jobs: Mapping[str, tuple[Any, ...]],
    *,
    workers: int = 1,
    scheduler: str | None = None,
    journal: Journal | None = None,
) -> Iterator[Outcome]:
    """Run ``task(*arguments)`` for every job and yield outcomes as they are ready, in no particular order.

    Parameters
    ----------
    task : callable
        Sent to the workers with its arguments; it need not lie in a module that they can import.
    jobs : mapping of key to arguments
    workers : int
        Local processes; 1 runs in this process. Without meaning when a scheduler is given.
    scheduler : str, optional
        Address of a dask scheduler (``tcp://host:8786``). A job whose worker dies is run again by another worker. After
        dask's limit of such deaths (``distributed.scheduler.allowed-failures``) it is run once more when no other job is,
        since the deaths may have been a neighbour's doing; if the limit is reached again, it becomes an error.
    journal : Journal, optional
        What it holds is not run again and comes first; values are appended to it before they are yielded.

    Raises
    ------
    NotAvailable
        No scheduler answers at the address, or it has no workers.
    JobsStopped
        A local worker was killed, or the connection to the scheduler is lost; what was yielded is in the journal.
    """
    kept = journal.read() if journal is not None else {}
    yield from (Outcome(key, kept[key], None, 0.0, kept=True) for key in jobs if key in kept)
    left = {key: arguments for key, arguments in jobs.items() if key not in kept}
    if not left:
        return
    with contextlib.closing(_spread(task, left, min(workers, len(left)), scheduler)) as outcomes:
        for outcome in outcomes:
            if journal is not None and outcome.error is None:
                journal.add(outcome.key, outcome.value)
            yield outcome


def _spread(
    task: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]], workers: int, scheduler: str | None
) -> Generator[Outcome]:
    with _backend(scheduler) as backend:
        suspects = []
        with contextlib.closing(_together(task, jobs, workers, backend)) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, _GivenUp):
                    suspects.append(outcome.key)
                else:
                    yield outcome
        for key in suspects:
            yield from _together(task, {key: jobs[key]}, workers, backend)


def _together(
    task: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]], workers: int, backend: Mapping[str, Any]
) -> Generator[Outcome]:
    import cloudpickle
    import joblib

    with joblib.parallel_config(n_jobs=workers, **backend):  # left at once: it is no business of the consumer's
        pool = joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")
    with contextlib.ExitStack() as end:
        with _uninterrupted():  # processes inherit it: Ctrl-C reaches them all, and is this one's affair alone
            # as bytes: joblib would put larger arguments on one dask worker, and they would be lost with it
            outcomes = pool(
                joblib.delayed(_call)(key, cloudpickle.dumps((task, arguments))) for key, arguments in jobs.items()
            )
            end.callback(_close, outcomes)
        try:
            for outcome in outcomes:  # noqa: UP028  "yield from" would close them before the warning is off
                yield outcome
        except BrokenProcessPool as error:
            raise JobsStopped(
                "a worker process was killed, perhaps for want of memory; results so far are kept: "
                "run the same again with fewer workers"
            ) from error


def _close(outcomes: Generator[Outcome]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an early end is known to whoever caused it
        outcomes.close()


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back, where the system can, also from the processes and threads that start meanwhile; it is not lost."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as joblib_tracker

    for tracker in (resource_tracker, joblib_tracker):
        tracker.ensure_running()  # first, since the start of a tracker lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _call(key: str, packed: bytes) -> Outcome:
    begun = time.perf_counter()
    value, error = None, None
    try:
        task, arguments = pickle.loads(packed)
        value = task(*arguments)
    except (Exception, SystemExit) as failure:  # one failing job never takes the others down
        error = describe(failure)
    return Outcome(key, value, error, round(time.perf_counter() - begun, 3))


@contextlib.contextmanager
def _backend(scheduler: str | None) -> Iterator[dict[str, Any]]:
    """Where joblib runs: processes with one BLAS thread each (more of them on few cores cost far more than they bring), or dask."""
    if scheduler is None:
        yield {"backend": _local(), "inner_max_num_threads": 1}
        return
    distributed = require("distributed", "running jobs on a dask scheduler")
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # a time-out, a name that is not found, an address that is none
        raise NotAvailable(
            f"no dask scheduler answers at {scheduler!r} ({str(error) or type(error).__name__}); "
            "start one with 'dask scheduler' and give its address, such as tcp://localhost:8786"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise NotAvailable(
                f"the dask scheduler at {scheduler} has no workers; start some with 'dask worker {scheduler}'"
            ) from error
        with _no_worker_for_long(client) as left_alone:
            yield {"backend": _recording(client, scheduler, left_alone)}


@contextlib.contextmanager
def _no_worker_for_long(client: Any) -> Iterator[threading.Event]:
    """Close the connection when the scheduler has had no worker for a while, as when none is restarted; the event says that it was so."""
    over, left_alone = threading.Event(), threading.Event()

    def watch() -> None:
        seen = time.monotonic()
        while not over.wait(min(5.0, ALONE_SECONDS / 4)):
            try:
                if client.nthreads():
                    seen = time.monotonic()
            except Exception:  # the connection itself is lost, which those who wait for results will be told
                return
            if time.monotonic() - seen > ALONE_SECONDS:
                left_alone.set()
                client.close()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield left_alone
    finally:
        over.set()
        watcher.join()


def _local() -> Any:
    """Joblib's local processes; jobs that nobody waits for any more are taken from the queue, as ``concurrent.futures`` does.

    Loky would still look for them while it shuts down, and its thread would die of it before it has cleaned up.
    """
    from joblib._parallel_backends import LokyBackend

    class Local(LokyBackend):  # type: ignore[misc]
        def abort_everything(self, ensure_ready: bool = True) -> None:
            waiting = self._workers._work_ids
            with contextlib.suppress(queue.Empty):
                while True:
                    waiting.get_nowait()
            super().abort_everything(ensure_ready)

    return Local()


def _recording(client: Any, scheduler: str, left_alone: threading.Event) -> Any:
    """Joblib's dask backend without two of its ways.

    A job that dask gives up on becomes an outcome: joblib would wait for it for ever. And jobs go to the scheduler also when it
    has a single worker: joblib would run them in this process.
    """
    from joblib._dask import DaskDistributedBackend

    class Recording(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))  # a count of one means "here" to joblib

        def submit(self, func: Any, callback: Any = None) -> Any:
            [(_, (key, _), _)] = func.items

            def given_up(done: Any) -> None:
                error = done.exception()
                if error is not None:  # joblib calls back after a success only
                    callback([_GivenUp(key, None, describe(error), 0.0)])

            future = super().submit(func, callback)
            future.add_done_callback(given_up)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, BaseException):  # cancelled, which nobody here asked for
                lost = f"the connection to the dask scheduler at {scheduler} is lost"
                alone = f"the dask scheduler at {scheduler} has had no workers for {ALONE_SECONDS:g} seconds"
                raise JobsStopped(
                    f"{alone if left_alone.is_set() else lost}; results so far are kept: run the same again"
                ) from out
            return super().retrieve_result_callback(out)

    return Recording(client=client, wait_for_workers_timeout=0)  # jobs wait for them at the scheduler


# ---- keeping what is done -----------------------------------------------------------------------------------------

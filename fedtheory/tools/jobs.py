"""Independent jobs on local processes or on a dask scheduler, through one ``concurrent.futures`` loop; results are kept as they come.

A job is a key and the arguments of a task; what the task returns is plain data (lists, dicts, text, numbers, None), so that it
can be kept. Jobs do not see each other: one that raises becomes an outcome with an error, the others go on.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Any

from fedtheory.core.errors import JobsStopped, NotAvailable, describe, require
from fedtheory.tools.journal import Journal

CONNECT_SECONDS = 10.0  #: how long a scheduler may take to answer, and its first worker to be there
ALONE_SECONDS = 60.0  #: how long a scheduler may be without any worker before jobs are stopped
IDLE_SECONDS = 300.0  #: how long local workers wait for further jobs before they end
#: what a local worker is started with: more BLAS threads on few cores cost far more than they bring
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


@dataclass(frozen=True)
class Outcome:
    """What became of one job: its value, or an error in one line. ``kept``: read from the journal of an interrupted run.

    Examples
    --------
    >>> outcomes = list(run_jobs(pow, {"two cubed": (2, 3)}))
    >>> print(outcomes[0].key, outcomes[0].value, outcomes[0].error)
    two cubed 8 None
    """

    key: str
    value: Any
    error: str | None
    seconds: float
    kept: bool = False


Follow = Callable[[Outcome], dict[str, bytes]]  #: the jobs, packed, that follow an outcome


def run_jobs(
    task: Callable[..., Any],
    jobs: Mapping[str, tuple[Any, ...]],
    *,
    workers: int = 1,
    scheduler: str | None = None,
    journal: Journal | None = None,
    apart: bool = False,
    then: Callable[[Outcome], Mapping[str, tuple[Any, ...]]] | None = None,
) -> Iterator[Outcome]:
    """Run ``task(*arguments)`` for every job and yield outcomes as they are ready, in no particular order; jobs are begun in theirs.

    Parameters
    ----------
    task : callable
        Sent to the workers with its arguments; it need not lie in a module that they can import.
    jobs : mapping of key to arguments
    workers : int
        Local processes; 1 runs in this process, unless jobs are to be ``apart``. Without meaning when a scheduler is given.
    scheduler : str, optional
        Address of a dask scheduler (``tcp://host:8786``). A job whose worker dies is run again by another worker. After
        dask's limit of such deaths (``distributed.scheduler.allowed-failures``) it is run once more when no other job is,
        since the deaths may have been a neighbour's doing; if the limit is reached again, it becomes an error.
    journal : Journal, optional
        What it holds is not run again and comes first; values are appended to it before they are yielded, None excepted.
    apart : bool
        Also a single job runs in a process of its own, so that it cannot end this one.
    then : function of an outcome, optional
        The jobs that it makes possible: they are run next, on a dask scheduler after those that were there.

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
    follow = (lambda outcome: {}) if then is None else (lambda outcome: _pack(task, then(outcome)))
    count = min(workers, len(left)) if then is None else workers
    with contextlib.closing(_run_packed(_pack(task, left), count, scheduler, apart, follow)) as outcomes:
        for outcome in outcomes:
            if journal is not None and outcome.error is None and outcome.value is not None:
                journal.add(outcome.key, outcome.value)
            yield outcome


def _pack(task: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> dict[str, bytes]:
    """Jobs as bytes, with functions that lie in no module that a worker could import."""
    import cloudpickle

    return {key: cloudpickle.dumps((task, arguments)) for key, arguments in jobs.items()}


def _run_packed(
    packed: dict[str, bytes], workers: int, scheduler: str | None, apart: bool, follow: Follow
) -> Generator[Outcome]:
    if workers == 1 and scheduler is None and not apart:
        left = deque(packed.items())
        while left:
            outcome = _call(*left.popleft())
            left.extendleft(reversed(follow(outcome).items()))
            yield outcome
        return
    local = scheduler is None
    at_once = 2 * workers if local else None  # a job waits for each worker; those that come later may overtake the rest
    folder = os.getcwd() if local else None  # workers that are kept were started in another one, perhaps
    submit_and_wait = partial(_submit_and_wait, at_once=at_once, follow=follow, folder=folder)
    with _local_workers(workers) if scheduler is None else _dask_workers(scheduler) as executor:
        lost = yield from submit_and_wait(executor, packed)
        while lost:
            key = next(iter(lost))  # alone: the workers may have died of a neighbour
            del lost[key]
            alone = {key: packed[key]}
            more = yield from submit_and_wait(executor, alone)
            packed |= alone
            if key in more:
                outcome = Outcome(key, None, describe(more.pop(key)), 0.0)
                following = follow(outcome)
                yield outcome
                more |= yield from submit_and_wait(executor, following)
                packed |= following
            lost |= more


def _submit_and_wait(
    executor: Executor,
    packed: dict[str, bytes],
    at_once: int | None = None,
    follow: Follow = lambda outcome: {},
    folder: str | None = None,
) -> Generator[Outcome, None, dict[str, BaseException]]:
    """Yield outcomes as they are ready; return the errors of jobs that no worker could bring to an outcome.

    What follows an outcome is added to the jobs ``packed``, and comes next. Workers work in ``folder``.
    """
    left, waiting, lost = deque(packed), dict[Future[Outcome], str](), dict[str, BaseException]()
    while left or waiting:
        with _holding_signals_back():  # processes inherit it: both may reach them all, and are this one's affair alone
            while left and (at_once is None or len(waiting) < at_once):
                key = left.popleft()
                waiting[executor.submit(_call, key, packed[key], folder)] = key
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            key, error = waiting.pop(future), future.exception()
            if error is None:
                more = follow(future.result())
                packed |= more
                left.extendleft(reversed(more))
                yield future.result()
            elif isinstance(error, BrokenProcessPool | KeyboardInterrupt):
                for other in waiting:  # what is ready comes in no order: nothing that was done is lost
                    if other.done() and not other.cancelled() and other.exception() is None:
                        yield other.result()
                raise error
            else:
                lost[key] = error
    return lost


def _call(key: str, packed: bytes, folder: str | None = None) -> Outcome:
    if folder is not None:
        os.chdir(folder)
    begun = time.perf_counter()
    value, error = None, None
    try:
        task, arguments = pickle.loads(packed)
        value = task(*arguments)
    except (Exception, SystemExit) as failure:  # one failing job never takes the others down
        error = describe(failure)
    return Outcome(key, value, error, round(time.perf_counter() - begun, 3))


@contextlib.contextmanager
def _holding_signals_back() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back, where the system can, also from the processes and threads that start meanwhile; they are not lost."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from loky.backend import resource_tracker as loky_tracker

    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()  # first, since the start of a tracker lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _local_workers(count: int) -> Iterator[Executor]:
    """Local processes, kept for further jobs; an early end kills them, since nobody waits for their results any more."""
    import loky

    executor = loky.get_reusable_executor(count, timeout=IDLE_SECONDS, env=ONE_THREAD)
    try:
        yield executor
    except BrokenProcessPool as error:
        raise JobsStopped(
            "a worker process was killed, perhaps for want of memory, or ended by its own job; results so far are kept: "
            "run the same again with fewer workers"
        ) from error
    except BaseException:
        executor.shutdown(kill_workers=True)
        raise


@contextlib.contextmanager
def _dask_workers(scheduler: str) -> Iterator[Executor]:
    """Workers of a dask scheduler; jobs wait for them at the scheduler."""
    distributed = require("distributed", "running jobs on a dask scheduler")
    why = None
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # a time-out, a name that is not found, an address that is none
        why = str(error) or type(error).__name__
    if why is not None:
        gc.collect()  # a client that failed closes itself when it is collected; in the middle of another's start it would wait for ever
        raise NotAvailable(
            f"no dask scheduler answers at {scheduler!r} ({why}); start one with 'dask scheduler' and give its address, "
            "such as tcp://localhost:8786"
        )
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise NotAvailable(
                f"the dask scheduler at {scheduler} has no workers; start some with 'dask worker {scheduler}'"
            ) from error
        with _no_worker_for_long(client) as left_alone:
            try:
                yield client.get_executor(pure=False)  # equal jobs are run as often as they are asked for
            except CancelledError as error:  # nobody here cancels a job
                lost = f"the connection to the dask scheduler at {scheduler} is lost"
                alone = f"the dask scheduler at {scheduler} has had no workers for {ALONE_SECONDS:g} seconds"
                raise JobsStopped(
                    f"{alone if left_alone.is_set() else lost}; results so far are kept: run the same again"
                ) from error


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

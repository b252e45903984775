"""A limit on the time of work that may never end."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from fedtheory.core.errors import NotAvailable, TimeLimitReached

GRACE_SECONDS = 10.0  #: how long compiled code may go on past the limit before the process is ended


@contextlib.contextmanager
def limit_time(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimitReached` inside the block when it takes longer; None sets no limit.

    It is raised again every second, for code that catches it. Compiled code is interrupted when it comes back; where it does not
    within `GRACE_SECONDS`, the process ends with status 1: so this is for a process that does nothing else.

    Raises
    ------
    NotAvailable
        There are no timers here: not the main thread of its process, or a system without them.
    """
    if seconds is None:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimitReached(f"it was not done within the time limit of {seconds:g} s")

    with _alarm(stop, seconds, 1.0):
        yield


@contextlib.contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Raise `KeyboardInterrupt` inside the block, once, when it takes longer: as if the user had pressed Ctrl-C then. It says why.

    Compiled code is interrupted when it comes back; where it does not within `GRACE_SECONDS`, the process ends with status 1.

    Raises
    ------
    NotAvailable
        There are no timers here: not the main thread of its process, or a system without them.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        faulthandler.cancel_dump_traceback_later()  # what is kept of the work may take its time
        raise KeyboardInterrupt(f"the time limit of {seconds:g} s is over")

    with _alarm(stop, seconds, 0.0):
        yield


@contextlib.contextmanager
def _alarm(stop: Callable[[int, FrameType | None], None], seconds: float, again: float) -> Iterator[None]:
    """Call ``stop`` after so many seconds, then every ``again`` (0: never); end the process where it cannot be called."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        raise NotAvailable("a time limit needs the main thread of a local process and a system with timers")
    before = signal.signal(signal.SIGALRM, stop)
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=nowhere)
        signal.setitimer(signal.ITIMER_REAL, seconds, again)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, before)


def limit_processor_time(process: int, seconds: int) -> bool:
    """End a running process after so many seconds of a processor; return whether the system can do that to another process (Linux can)."""
    try:
        import resource

        limit: Any = resource.prlimit  # type: ignore[attr-defined,unused-ignore]
    except (ImportError, AttributeError):
        return False
    limit(process, resource.RLIMIT_CPU, (seconds, seconds))
    return True

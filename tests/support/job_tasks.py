"""Tasks for jobs, in a module of their own as a worker imports it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def square(x):
    return {"x": x, "square": x * x}


def note(folder, x, seconds=0.0):
    """Square, and leave a line that says so."""
    time.sleep(seconds)
    with (Path(folder) / "calls").open("a") as calls:
        calls.write(f"{x} {os.getpid()}\n")
    return x * x


def held_back(_):
    """Names of the signals that do not reach the worker."""
    return sorted(held.name for held in signal.pthread_sigmask(signal.SIG_BLOCK, []))


def blas_threads(_):
    """How many threads the linear algebra of the worker takes."""
    import numpy as np
    import threadpoolctl

    np.linalg.norm(np.eye(2))
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]


def one_is_bad(x):
    if x == 1:
        raise ZeroDivisionError("one over nothing")
    if x == 2:
        raise SystemExit("bye")
    return x


def interrupts(folder, x):
    """The second job interrupts while the marker is there."""
    note(folder, x)
    if x == 1 and (Path(folder) / "interrupt").exists():
        raise KeyboardInterrupt
    return x


def interrupts_parent(x):
    """All sleep; the second first interrupts the process that waits for them."""
    if x == 1:
        time.sleep(0.2)
        os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)


def dies_once(folder, x):
    """The worker that first runs job 3 is killed in the middle, as by the system when memory runs out."""
    marker = Path(folder) / "killed"
    if x == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return note(folder, x, 0.02)


def dies_always(x, seconds=0.0):
    time.sleep(seconds)
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return x

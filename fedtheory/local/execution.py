"""In which order local steps are computed: in sample space, in blocks of clients, one client at a time. The numbers are the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.core.arrays import Array, is_object, namespace
from fedtheory.core.problem import can
from fedtheory.local.sample_space import find_sample_space
from fedtheory.local.subproblem import take_rows

if TYPE_CHECKING:
    from fedtheory.local.subproblem import Subproblem

#: data a block of clients may hold so that all its local steps find it in cache
BLOCK_BYTES = 4 * 2**20

Work = Callable[["Subproblem", Array, int], Array]  # steps of the clients from ``first`` on: (part, start, first)


def run_gradient_steps(work: Work, sub: Subproblem, start: Array, steps: int) -> Array:
    """Run gradient steps ``work(part, start, first client)``, in sample space where that is cheaper (`find_sample_space`)."""

    def one(part: Subproblem, x: Array, first: int) -> Array:
        space = find_sample_space(part, x, steps)
        if space is None:
            return work(part, x, first)
        lifted: Any = space.lifted  # what the steps need of a problem, and no more
        return space.point(work(replace(part, f=lifted, a=None, rho=None, z=None), lifted.origin, first))

    return run_in_blocks(one, sub, start)


def run_in_blocks(
    work: Work,
    sub: Subproblem,
    start: Array,
    limit: int = 2 * BLOCK_BYTES,
) -> Array:
    """Run ``work(part, start, first client)`` on blocks of clients whose data fits in cache.

    K local steps read a client's data K times; doing all K on one block before the next keeps them in cache. Blocks share the
    processor's cores (as many threads as ``OMP_NUM_THREADS`` allows); the result does not depend on it. Data below ``limit``
    bytes in all, object arrays and arrays outside the host are done in one piece.
    """
    per_client = getattr(sub.f, "client_bytes", 0)
    m = sub.f.n
    on_host = isinstance(start, np.ndarray) and not is_object(start)
    if not on_host or per_client * m <= limit or not can(sub.f, "slice"):
        return work(sub, start, 0)
    size = max(1, int(BLOCK_BYTES // per_client))

    def one(first: int) -> Array:
        return work(sub.part(first, min(first + size, m)), take_rows(start, first, first + size), first)

    firsts = range(0, m, size)
    threads = min(len(firsts), _threads())
    if threads <= 1:
        return np.concatenate([one(first) for first in firsts], axis=-2)
    with ThreadPoolExecutor(threads) as pool:  # NumPy lets go of the interpreter in matrix products
        jobs = [pool.submit(copy_context().run, one, first) for first in firsts]
        return np.concatenate([job.result() for job in jobs], axis=-2)


def run_minibatch_steps(work: Work, sub: Subproblem, start: Array, batch: int) -> Array:
    """Run minibatch steps ``work(part, start, first client)``: all steps of one client before the next, where a problem prefers that.

    A problem whose gradients are computed client by client anyway (``one_by_one(m, batch)``) then keeps each client's points and
    gradients in cache over all its steps, and needs memory for one client instead of m. The numbers are the same.
    """
    prefers = getattr(sub.f, "one_by_one", None)
    m = sub.f.n
    if m == 1 or prefers is None or not prefers(m, batch):
        return work(sub, start, 0)
    parts = [work(sub.part(k, k + 1), take_rows(start, k, k + 1), k) for k in range(m)]
    return namespace(parts[0]).concat(parts, axis=-2)


def _threads() -> int:
    """``OMP_NUM_THREADS`` (its first number where it is a list), or the number of cores."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(wanted) if wanted.isdigit() else os.cpu_count() or 1

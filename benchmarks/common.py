"""Shared by the benchmarks: CPU time of the best of several repeats, one thread, and a plain table."""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)  # one thread for JAX as well

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def best(work: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Smallest (CPU seconds, wall seconds) over some repeats, after a warm-up."""
    work()
    cpu, wall = [], []
    for _ in range(repeats):
        c, w = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - c)
        wall.append(time.perf_counter() - w)
    return min(cpu), min(wall)


def median(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median of the CPU seconds of some repeats, after a warm-up."""
    work()
    cpu = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        cpu.append(time.process_time() - begun)
    return statistics.median(cpu)


def show(title: str, rows: list[tuple[str, float, float]], reference: str, *, by_wall: bool = False) -> None:
    """Print CPU and wall times, and each row's CPU (or wall) time over the reference's."""
    base = next(wall if by_wall else cpu for name, cpu, wall in rows if name == reference)
    print(f"\n{title}")
    print(f"  {'':44s} {'CPU s':>10s} {'wall s':>10s} {'x ' + reference:>16s}")
    for name, cpu, wall in rows:
        print(f"  {name:44s} {cpu:10.4f} {wall:10.4f} {(wall if by_wall else cpu) / base:16.2f}")


def machine() -> tuple[float, float]:
    """Stream rate (GB/s, reading 160 MB) and matrix-product rate (GFLOP/s) of one core."""
    x = np.ones(20_000_000)
    _, seconds = best(lambda: x.sum())
    a = np.random.default_rng(0).standard_normal((800, 800))
    _, product = best(lambda: a @ a)
    stream, gemm = x.nbytes / seconds / 1e9, 2 * 800**3 / product / 1e9
    print(f"one core: stream {stream:.1f} GB/s, matrix product {gemm:.1f} GFLOP/s")
    return stream, gemm

"""Small sweeps and their rows in order."""

from __future__ import annotations

from fedtheory.running.sweep import Sweep, run_sweep

SMALL = {"clients": (4,), "dimension": (3,), "mu": (0.2,)}


def rows_of(sweep: Sweep, **options):
    found = [row for rows in run_sweep(sweep, **options) for row in rows]
    return sorted(found, key=lambda row: row["run"])


def small(methods="fedavg", problems="quadratics", settings=None, options=(), rounds=6, **more):
    return Sweep(
        tuple(methods.split(",")),
        tuple(problems.split(",")),
        settings or {},
        SMALL | dict(options),
        rounds=rounds,
        **more,
    )

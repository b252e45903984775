"""How the cost of FedAvg with five local steps grows with clients, coordinates and runs; batched against looped; share of the matrix-product rate.

Quadratics, one thread. The exponent beside a series is the slope of log time over log size in its last step; one is linear.
"""

from common import best, machine, show  # isort: skip

import numpy as np

from fedtheory import FedAvg, GradientSteps, run
from fedtheory.core.arrays import along_batch
from problems.quadratics import random_quadratics

K, ROUNDS = 5, 10


def seconds(n, d, runs):
    """CPU seconds of one call."""
    problem = random_quadratics(n, d, seed=0)
    algorithm = FedAvg(GradientSteps(K, along_batch(np.linspace(0.05, 0.9, runs)) if runs > 1 else 0.5))
    return best(lambda: run(algorithm, problem, np.zeros(d), ROUNDS, every=ROUNDS, metrics={}, progress=False), 3)[0]


def growth(name, sizes, of, gemm):
    """Print one series: time, time over the first, local exponent, GFLOP/s and share of the matrix-product rate."""
    print(f"\n{name}")
    print(f"  {'n':>6s} {'d':>5s} {'runs':>5s} {'CPU ms':>10s} {'exponent':>9s} {'GFLOP/s':>9s} {'of gemm':>8s}")
    last = None
    for size in sizes:
        n, d, runs = of(size)
        took = seconds(n, d, runs)
        exponent = "" if last is None else f"{np.log(took / last[1]) / np.log(size / last[0]):.2f}"
        rate = 2 * n * d * d * runs * K * ROUNDS / took / 1e9
        print(f"  {n:6d} {d:5d} {runs:5d} {1e3 * took:10.2f} {exponent:>9s} {rate:9.2f} {rate / gemm:8.1%}")
        last = (size, took)


def batched_against_looped():
    """A grid of step sizes in one call, and one call each."""
    problem, lrs = random_quadratics(100, 50, seed=0), np.linspace(0.05, 0.9, 64)

    def one(lr):
        trace = run(
            FedAvg(GradientSteps(K, lr)), problem, np.zeros(50), ROUNDS, every=ROUNDS, metrics={}, progress=False
        )
        return trace.state.x[..., 0, :]

    difference = np.abs(one(along_batch(lrs)) - np.stack([one(lr) for lr in lrs])).max()
    rows = [
        ("one batched call", *best(lambda: one(along_batch(lrs)), 3)),
        ("64 calls", *best(lambda: [one(lr) for lr in lrs], 3)),
    ]
    show(f"64 step sizes, n = 100, d = 50 (largest difference {difference:.0e})", rows, "one batched call")


def main():
    _, gemm = machine()
    growth("clients", (10, 100, 1000, 4000), lambda n: (n, 50, 1), gemm)
    growth("coordinates", (10, 50, 200, 400), lambda d: (50, d, 1), gemm)
    growth("runs", (1, 8, 64, 512), lambda runs: (50, 50, runs), gemm)
    batched_against_looped()


if __name__ == "__main__":
    main()

"""A sweep of 64 runs (8 seeds x 8 step sizes) of FedAvg with 5 local steps on quadratics, n = 100, d = 20.

Batched in one call, against a NumPy loop over clients and runs. Both return the same iterates.
"""

from common import best, machine, show  # isort: skip

import numpy as np

from fedtheory import FedAvg, GradientSteps, run
from fedtheory.core.arrays import along_batch
from problems.quadratics import random_quadratics

N, D, K, ROUNDS = 100, 20, 5, 20


def batched(problem, starts, lrs):
    trace = run(FedAvg(GradientSteps(K, along_batch(lrs)[None])), problem, starts, ROUNDS, every=ROUNDS, progress=False)
    return trace.state.x[..., 0, :]


def looped(problem, starts, lrs):
    found = np.empty((len(starts), len(lrs), D))
    for s, start in enumerate(starts[:, 0]):
        for k, lr in enumerate(lrs):
            x = start
            for _ in range(ROUNDS):
                total = np.zeros(D)
                for a, b in zip(problem.A, problem.b, strict=True):
                    y = x
                    for _ in range(K):
                        y = y - lr * (a @ y - b)
                    total += y
                x = total / N
            found[s, k] = x
    return found


def main():
    machine()
    problem = random_quadratics(N, D, seed=0)
    starts = np.random.default_rng(0).standard_normal((8, 1, D))
    lrs = np.linspace(0.05, 1.0, 8)
    difference = np.abs(batched(problem, starts, lrs) - looped(problem, starts, lrs)).max()
    rows = [
        ("fedtheory, one batched call", *best(lambda: batched(problem, starts, lrs))),
        ("NumPy loop over clients and runs", *best(lambda: looped(problem, starts, lrs), 1)),
    ]
    show(f"64 runs, {ROUNDS} rounds (largest difference of the iterates {difference:.1e})", rows, rows[0][0])
    flops = 64 * ROUNDS * K * N * 2 * D * D
    print(f"  matrix-product work {flops / 1e9:.2f} GFLOP: {flops / 1e9 / rows[0][1]:.1f} GFLOP/s reached")


if __name__ == "__main__":
    main()

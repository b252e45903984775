"""What one round of each listed method costs, relative to FedAvg: oracle calls a client, and CPU time.

Quadratics with n = 100 and d = 50, five local steps where a method has local steps, full participation, one thread. A call is one
gradient, proximal step, Hessian or conjugate gradient of one client.
"""

from common import best, machine  # isort: skip

from collections import Counter

import numpy as np
from rich.console import Console
from rich.table import Table

from fedtheory import run
from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.errors import FedtheoryError
from fedtheory.core.problem import Pooled
from problems.quadratics import random_quadratics
from problems.server import ServerAssisted

N, D, STEPS, ROUNDS = 100, 50, 5, 30
COUNTED = ("grad", "sample_grad", "prox", "hess", "conjugate_grad")


class Counting:
    """A problem that counts the calls of its oracles, by the number of clients."""

    def __init__(self, problem, calls):
        self.problem, self.calls = problem, calls

    def __getattr__(self, name):
        found = getattr(self.problem, name)
        if name in ("take", "slice"):
            return lambda *args: Counting(found(*args), self.calls)
        if name not in COUNTED:
            return found

        def counted(x, *args):
            self.calls[name] += max(x.shape[-2], self.problem.n)
            return found(x, *args)

        return counted


def calls_a_round(algorithm, problem):
    """Oracle calls a client and round, by name, without those of the start."""
    totals = []
    for rounds in (2, 12):
        calls = Counter()
        run(algorithm, Counting(problem, calls), np.ones(D), rounds, metrics={}, progress=False)
        totals.append(calls)
    return {name: (totals[1][name] - totals[0][name]) / (10 * N) for name in COUNTED}


def seconds_a_round(algorithm, problem):
    cpu, _ = best(lambda: run(algorithm, problem, np.ones(D), ROUNDS, every=ROUNDS, metrics={}, progress=False), 3)
    return cpu / ROUNDS


def main():
    machine()
    problem = random_quadratics(N, D, mu=0.2, seed=0)
    settings = {"lr": 0.05, "eta": 0.1, "rho": 1.0, "steps": STEPS}
    rows, skipped = [], []
    for entry in ALGORITHMS:
        try:
            algorithm = entry.build(**{name: value for name, value in settings.items() if name in entry.uses})
            f = ServerAssisted(problem, Pooled(problem)) if entry.needs else problem
            rows.append((entry, calls_a_round(algorithm, f), seconds_a_round(algorithm, f)))
        except FedtheoryError as error:
            skipped.append((entry.name, str(error).split(";")[0]))
    base = next(seconds for entry, _, seconds in rows if entry.name == "fedavg")
    table = Table("method", "family", *COUNTED, "ms a round", "x FedAvg")
    for entry, calls, seconds in rows:
        shown = [f"{calls[name]:.3g}" if calls[name] else "" for name in COUNTED]
        table.add_row(entry.name, entry.family, *shown, f"{1e3 * seconds:.2f}", f"{seconds / base:.2f}")
    console = Console(width=140)
    console.print(table)
    for name, reason in skipped:
        console.print(f"{name}: not on this problem ({reason})")


if __name__ == "__main__":
    main()

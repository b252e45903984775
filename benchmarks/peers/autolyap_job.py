"""SCAFFOLD's rate for two clients by AutoLyap, in an interpreter that has it: ``autolyap_job.py K LR MU L TOL REPEATS`` prints a line of JSON."""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import json
import sys
import time
from importlib.metadata import version
from statistics import median

import numpy as np
from autolyap import IterationIndependent, SolverOptions
from autolyap.algorithms import Algorithm
from autolyap.problemclass import InclusionProblem, SmoothStronglyConvex


class TwoClients(Algorithm):
    """All clients take part and control variates are mean gradients: the state is x and c_1 - c = c - c_2, u are gradients, client by client.

    Both clients start at x, y_i <- y_i - lr (g_i - c_i + c), x+ = mean y_i, c_i+ = the mean of client i's gradients.
    """

    def __init__(self, steps, lr):
        super().__init__(2, 2, [steps, steps], [1, 2], [])
        self.steps, self.lr = steps, lr

    def get_ABCD(self, k):
        steps, lr = self.steps, self.lr
        sides = np.repeat([1.0, -1.0], steps)
        before = np.tile(np.arange(steps), 2)
        A = np.array([[1.0, 0.0], [0.0, 0.0]])
        B = np.vstack([np.full(2 * steps, -lr / 2), sides / (2 * steps)])
        C = np.column_stack([np.ones(2 * steps), lr * before * sides])
        D = np.kron(np.eye(2), -lr * np.tril(np.ones((steps, steps)), -1))
        return A, B, C, D


def rate(steps, lr, mu, L, tol):
    problem = InclusionProblem([SmoothStronglyConvex(mu=mu, L=L)] * 2)
    algorithm = TwoClients(steps, lr)
    linear = IterationIndependent.LinearConvergence
    P, p, T, t = linear.get_parameters_distance_to_solution(algorithm)
    found = linear.bisection_search_rho(
        *(problem, algorithm, P, T),
        **{"p": p, "t": t, "S_equals_T": True, "s_equals_t": True, "remove_C3": True, "tol": tol},
        solver_options=SolverOptions(backend="cvxpy", cvxpy_solver="CLARABEL"),
    )
    return found["rho"]


if __name__ == "__main__":
    steps, repeats = int(sys.argv[1]), int(sys.argv[6])
    asked = (steps, *map(float, sys.argv[2:6]))
    cpu, rho = [], None
    for _ in range(repeats):
        begun = time.process_time()
        rho = rate(*asked)
        cpu.append(time.process_time() - begun)
    print(json.dumps({"rate": rho, "cpu": median(cpu), "version": version("autolyap")}))

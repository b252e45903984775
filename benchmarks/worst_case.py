"""A traced worst case beside the same problem written by hand in PEPit: same value, at most 1.2 times the time."""

from common import best, show  # isort: skip

from functools import partial

import numpy as np

from fedtheory import FedAvg, GradientSteps
from fedtheory.proofs import worst_case
from fedtheory.proofs.function_class import FunctionClass


def by_hand(n, K, rounds):
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction

    pep = PEP()
    f = [pep.declare_function(SmoothStronglyConvexFunction, L=1.0, mu=0.1) for _ in range(n)]
    average = np.mean(f)
    star = average.stationary_point()
    x = pep.set_initial_point()
    pep.set_initial_condition((x - star) ** 2 <= 1)
    pep.add_constraint(np.mean([fi.gradient(star) ** 2 for fi in f]) <= 1)
    for _ in range(rounds):
        ys = []
        for fi in f:
            y = x
            for _ in range(K):
                y = y - fi.gradient(y)
            ys.append(y)
        x = np.mean(ys)
    pep.set_performance_metric((x - star) ** 2)
    return pep.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)


def traced(n, K, rounds):
    found = worst_case(FedAvg(GradientSteps(K, 1.0)), FunctionClass(1.0, 0.1, zeta=1.0), clients=n, rounds=rounds)
    return found.value


if __name__ == "__main__":
    for n, K, rounds in ((2, 4, 1), (4, 4, 1), (2, 2, 3), (2, 8, 1)):
        a, b = traced(n, K, rounds), by_hand(n, K, rounds)
        rows = [
            ("written by hand in PEPit", *best(partial(by_hand, n, K, rounds))),
            ("fedtheory, traced", *best(partial(traced, n, K, rounds))),
        ]
        show(f"FedAvg n={n} K={K} rounds={rounds}: {a:.6f} and {b:.6f}", rows, "written by hand in PEPit")

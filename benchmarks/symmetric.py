"""The worst case for every number of clients: tracing and solving, beside the plain program with n clients, and the model of its cost."""

from common import best, show  # isort: skip

from functools import partial
from time import perf_counter

from fedtheory import FedAvg, GradientSteps
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.semidefinite import solve as conic

CLASS = FunctionClass(1.0, 0.1, zeta=1.0)


def any_n(K, rounds):
    return worst_case_for_every_n(FedAvg(GradientSteps(K, 1.0)), CLASS, rounds=rounds)


def plain(n, K, rounds):
    return worst_case_for_one_n(FedAvg(GradientSteps(K, 1.0)), CLASS, n=n, rounds=rounds).value


def sizes():
    """Seconds and what the model of the cost expects; goals: 20 ms for K=4 and one round, a minute for twelve rounds."""
    print("FedAvg, every n: blocks, constraints, seconds in all, of them in the solver, expected there, value")
    for K, rounds in ((4, 1), (8, 1), (4, 3), (16, 1), (4, 6), (32, 1), (4, 12)):
        any_n(K, rounds) if K * rounds < 20 else None
        begun = perf_counter()
        found = any_n(K, rounds)
        seconds = perf_counter() - begun
        size = found.size
        expected = conic.estimate_seconds((size["mean"], size["deviation"]), size["constraints"])
        print(
            f"  K={K:2d} rounds={rounds:2d}  {size['mean']:3d} + {size['deviation']:3d} {size['constraints']:6d} "
            f"{seconds:9.4f} {found.solution.seconds:9.4f} {expected:9.4f}   {found.value:.8f}"
        )


if __name__ == "__main__":
    sizes()
    for n, repeats in ((2, 3), (4, 3), (16, 1)):
        rows = [
            ("every n", *best(partial(any_n, 4, 1))),
            (f"PEPit, n={n}", *best(partial(plain, n, 4, 1), repeats)),
        ]
        show(f"FedAvg K=4, one round: {any_n(4, 1).value:.7f} and {plain(n, 4, 1):.7f}", rows, "every n")

"""Draw the README's picture: one claim of FedPD by run and proved threshold, another by worst case and bound."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import FedAvg, FedPD, GradientSteps, run
from fedtheory.measures import metrics
from fedtheory.proofs import worst_case
from fedtheory.proofs.function_class import FunctionClass
from problems.fedavg_divergence import coercive_counterexample

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
problem = coercive_counterexample()
starts = np.array([[9.0], [9.9], [10.1], [13.0]])
trace = run(FedAvg(GradientSteps(2, 0.05)), problem, starts, 1000, metrics={"x2": metrics.magnitude})
dual = run(FedPD(0.1), problem, starts[-1], 1000, metrics={"x2": metrics.magnitude})
for start, curve in zip(starts[:, 0], trace["x2"], strict=True):
    left.semilogy(trace.rounds, np.sqrt(np.maximum(curve, 1e-20)), label=f"FedAvg from {start}")
left.semilogy(dual.rounds, np.sqrt(np.maximum(dual["x2"], 1e-20)), "k--", label="FedPD from 13.0")
left.axhline(10, color="grey", linewidth=0.8)
left.set(
    xlabel="round",
    ylabel="|x|",
    ylim=(1e-8, 1e7),
    title="Claim II.2 on a convex f: FedAvg diverges beyond\n1/(2 step) = 10 (proved in symbols, seen in runs)",
)
left.legend(fontsize="small", loc="lower right")
horizon = [1, 2, 3, 4]
for u, colour in ((0.1, "C0"), (0.3, "C1")):
    tops = [
        worst_case(FedPD(u), FunctionClass(1, -1), clients=2, rounds=T, measure="sum_stationarity").value
        for T in horizon
    ]
    right.semilogy(horizon, tops, "o-", color=colour, label=f"exact worst case, u = {u}")
    right.semilogy(horizon, [4 * (1 + u) ** 2 / u] * 4, "--", color=colour, label=f"proved bound, u = {u}")
right.set(
    xlabel="rounds T",
    ylabel="sum of squared gradients",
    xticks=horizon,
    title="Theorem 1, corrected: bound for every T\nagainst the worst case over all smooth functions",
)
right.legend(fontsize="small")
figure.savefig(Path(__file__).with_name("picture.png"), dpi=110)

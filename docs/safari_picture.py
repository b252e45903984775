"""Draw SAFARI's MNIST experiment at the paper's size, from the runs that are kept in paper_checks/results/paper."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from fedtheory.claims.context import Context
from paper_checks.safari.published import ABSENT, BY_PROBABILITY
from paper_checks.safari.runs import FIVE_PASSES, MNIST, ONE_STEP, fedavg, safari, server_alone

ROOT = Path(__file__).parent.parent
context = Context(size="paper", results=str(ROOT / "paper_checks" / "results" / "paper"))
runs = {
    "FedAvg": fedavg(context, MNIST, 1, 4),
    "SAFARI, q = 0.8, one step a server round (Algorithm 1)": safari(context, MNIST, 1, 4, work=ONE_STEP),
    "SAFARI, q = 0.8, five passes": safari(context, MNIST, 1, 4, work=FIVE_PASSES),
    "the server's 1000 images alone": server_alone(context, MNIST, work=FIVE_PASSES),
}
figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
for k, (label, group) in enumerate(runs.items()):
    logs = group.logs(context)
    accuracy = 100 * np.array([log["test_accuracy"] for log in logs])
    axes.plot(logs[0]["round"], accuracy[0], color=f"C{k}", linewidth=0.5, alpha=0.6)
    axes.plot(logs[0]["round"], accuracy.mean(axis=0), color=f"C{k}", label=label)
for label, q, k in (("the paper's FedAvg", 1.0, 0), ("the paper's SAFARI", 0.8, 2)):
    axes.axhline(BY_PROBABILITY["MNIST"][q][ABSENT.index(4)], color=f"C{k}", linestyle=":", label=label)
axes.set(
    xlabel="communication rounds",
    ylabel="test accuracy (%)",
    ylim=(20, 95),
    title="MNIST, one class a client, four of ten clients never take part: mean of five seeds, and one of them (thin)",
)
axes.legend(fontsize="small", loc="lower right")
figure.savefig(Path(__file__).parent / "safari.png", dpi=110)

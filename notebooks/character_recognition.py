# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Does skipping communication hurt, on handwritten digits?
#
# FedPD's Figs. 4 and 5 train a network on handwritten characters that 90 clients hold. Here the same runs go at laptop
# size: scikit-learn's digits, 20 clients, a perceptron. The claims FEDPD-EX9 to EX12 read the very same runs, with more
# seeds; at `--size paper` they are the paper's network and rounds.

# %%
import matplotlib.pyplot as plt

from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import draw_curves
from fedtheory.tools.pictures import draw_band, label_axes
from paper_checks.fedpd.character_runs import METHODS, scale, trained

plt.style.use("pictures.mplstyle")

context = Context()  # laptop size
names = ("FedAvg 0.001", "FedAvg 0.01", "FedProx", "FedPD", "FedPD every 2nd", "FedPD every 4th")


def runs(split, names=names):
    """Runs as those of the claims, one seed of them; FedAvg also with the others' step, 0.01."""
    found = {
        name: trained(context, "FedAvg", split, 0.01) if name == "FedAvg 0.01" else trained(context, name, split)
        for name in names
    }
    return {name: Repeated(group.trainings[:1]) for name, group in found.items()}


# %% [markdown]
# A run is plain data: a method, a family of problems, settings, options, a seed. Its name holds a hash of all of them, and
# a folder of that name keeps what it measured.

# %%
training = trained(context, "FedPD every 2nd").trainings[0]
print(training.key)
training.configuration

# %% [markdown]
# ## By round and by communication
#
# Per round all FedPD runs are alike (and FedAvg is slower only with the small step that the paper gave it). Per
# communication the rare ones are far ahead: on an even split, local steps are worth as much as rounds.


# %%
def draw(found, title):
    """Loss and accuracy, against rounds and against floats sent."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), sharey="row")
    for row, (metric, label) in zip(
        axes, (("value", "training loss"), ("test_accuracy", "test accuracy")), strict=True
    ):
        for ax, by in zip(row, ("round", "floats"), strict=True):
            picture = draw_curves(context, "", found, metric, by=by, ylabel=label, logy=metric == "value")
            for line in picture.series:
                ax.plot(line["x"], line["y"], label=line["label"])
                if "low" in line:
                    draw_band(ax, line["x"], [line["low"], line["high"]])
            ax.set_yscale("log" if picture.logy else "linear")
            label_axes(ax, "", picture.xlabel, label if by == "round" else "", legend=ax is axes[0, 0])
    figure.suptitle(f"Digits, perceptron 64-32-10, {title}, one seed")
    plt.show()


even = runs("mild")
draw(even, f"{scale(context).clients} clients, split evenly")

# %% [markdown]
# ## Clients that differ
#
# With two label shards a client most clients see two digits. Skipping then costs: a round of local work without the others
# leads each client away, as Theorem 3's dependence on the clients' dissimilarity says. FedPD without skipping does not
# mind, and FedProx falls behind it.

# %%
differing = runs("hard", ("FedProx", "FedPD", "FedPD every 2nd"))
draw(differing, f"{scale(context).clients} clients, two label shards each")

# %% [markdown]
# ## The answer
#
# On an even split hardly: a quarter of the communication costs two or three points of accuracy in as many rounds, and after
# as many communications it is far ahead. On two label shards a client it does. After ten communications, and at the end:

# %%
quarter = scale(context).rounds // 4
for split, found in (("even", even), ("two shards", differing)):
    for name, group in found.items():
        often = METHODS[name][1].get("communicate_every", 1) if name in METHODS else 1
        first = group.at(context, "value", often * quarter).mean()
        last, accuracy = group.last(context, "value").mean(), group.last(context, "test_accuracy").mean()
        print(f"{split:10s} {name:16s} loss {first:.3f} after ten, {last:.3f} at the end; test accuracy {accuracy:.1%}")

# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # What does skipping communication save, at equal accuracy?
#
# Three ways to work more between two communications: FedPD skips them with probability $p$, Scaffnew communicates with
# probability $p$, SCAFFOLD takes $K$ local steps. Each saves rounds only as far as it still gets to the same accuracy. Here
# what is counted is what was sent until then, and what was computed.

# %%
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import FedPD, GradientSteps, Scaffold, run
from fedtheory.algorithms import Scaffnew
from fedtheory.measures import metrics
from fedtheory.tools.pictures import draw_band, label_axes
from problems.prescribed_quadratics import prescribed_quadratics

plt.style.use("pictures.mplstyle")
L, mu, n, d, DRAWS = 1.0, 0.01, 10, 6, 10


def make(zeta: float):
    """Ten draws of ten clients, one batch: nearly equal curvatures, gradients at the minimiser with mean square zeta^2."""
    return prescribed_quadratics(n, d, L=L, mu=mu, diversity=0.02, zeta=zeta, batch=(DRAWS,), seed=0)


def follow(method, problem, rounds: int):
    """Squared distances relative to the start, and models sent up a client, by round; rows are draws."""
    x_star = problem.solution()[:, None, :]
    found = run(
        method, problem, np.zeros((DRAWS, d)), rounds, metrics={"d": metrics.squared_distance(x_star)}, progress=False
    )
    return found["d"] / found["d"][:, :1], np.broadcast_to(found.floats_up, found["d"].shape) / (n * d)


def until(curves: np.ndarray, sent: np.ndarray, accuracy: float) -> tuple[float, float]:
    """Rounds and models sent until the accuracy, medians over draws; infinite where half of the draws do not get there."""
    hit = curves <= accuracy
    first = np.where(hit.any(axis=1), hit.argmax(axis=1), -1)
    rounds = np.where(first >= 0, first, np.inf)
    models = np.where(first >= 0, sent[np.arange(DRAWS), first], np.inf)
    return float(np.median(rounds)), float(np.median(models))


# %% [markdown]
# ## FedPD: skipping leaves a floor
#
# Ten gradient steps a round, $\eta = 5/L$. With unequal clients a round without communication pulls each model to its own
# minimiser, and the more often that happens the earlier the method stops getting better: Theorem 3's dependence on the
# clients' dissimilarity. With equal minimisers (dashed) there is no floor.

# %%
chances = (0.0, 0.2, 0.5, 0.8)
ROUNDS, Q = 300, 10


def fed_pd(p: float) -> FedPD:
    """Skipping with probability p."""
    return FedPD(5 / L, GradientSteps(Q, 0.5 / L), p=p)


figure, axes = plt.subplots()
for colour, p in zip(("C0", "C1", "C2", "C3"), chances, strict=True):
    for zeta, style in ((0.1, "-"), (0.0, "--")):
        curves, sent = follow(fed_pd(p), make(zeta), ROUNDS)
        label = f"p = {p}" if zeta else None
        axes.semilogy(np.median(sent, axis=0), np.median(curves, axis=0), color=colour, linestyle=style, label=label)
        draw_band(axes, np.median(sent, axis=0), curves)
label_axes(
    axes,
    f"FedPD, {Q} steps of 1/(2L), eta = 5/L; {n} clients, L = 1, mu = 0.01,\nzeta = 0.1 (dashed: 0), {DRAWS} draws (seed 0)",
    "communications",
    "squared distance over that of the start, median",
    ylim=(1e-12, 2),
)
plt.show()

# %% [markdown]
# ## At equal accuracy
#
# Models sent up by a client until the squared distance is a millionth of its start (SCAFFOLD sends two a round), against
# local gradients for each of them. Scaffnew with step $1/L$ and SCAFFOLD with the best of the steps $1/L, 1/(2L), 1/(5L),
# 1/(10L)$ for each $K$. Black: one gradient a communication.

# %%
ACCURACY, problem = 1e-6, make(0.1)
work = {"Scaffnew": {}, "SCAFFOLD": {}, "FedPD, accuracy 1e-6": {}, "FedPD, accuracy 1e-2": {}}
for inverse in (1, 4, 16, 64):
    curves, sent = follow(Scaffnew(1 / L, 1 / inverse), problem, 2000)
    rounds, models = until(curves, sent, ACCURACY)
    work["Scaffnew"][inverse] = models, rounds
for K in (1, 4, 16, 64):
    tried = []
    for step in (1.0, 0.5, 0.2, 0.1):
        curves, sent = follow(Scaffold(GradientSteps(K, step / L)), problem, 600 if K < 8 else 100)
        rounds, models = until(curves, sent, ACCURACY)
        tried.append((models, rounds * K))
    work["SCAFFOLD"][K] = min(tried)
for p in chances:
    curves, sent = follow(fed_pd(p), problem, ROUNDS)
    for accuracy, name in ((1e-6, "FedPD, accuracy 1e-6"), (1e-2, "FedPD, accuracy 1e-2")):
        rounds, models = until(curves, sent, accuracy)
        work[name][Q / (1 - p)] = models, Q * rounds
figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharex=True)
for name, marker in zip(work, "osDd", strict=True):
    reached = {k: pair for k, pair in work[name].items() if np.isfinite(pair[0])}
    for ax, column in zip(axes, (0, 1), strict=True):
        ax.loglog(list(reached), [pair[column] for pair in reached.values()], marker + "-", label=name)
plain = work["Scaffnew"][1]
for ax, value in zip(axes, plain, strict=True):
    ax.axhline(value, color="k", linewidth=0.8)
label_axes(
    axes[0],
    f"To accuracy 1e-6; {n} clients, L = 1, mu = 0.01, {DRAWS} draws (seed 0)",
    "local gradients a communication",
    "models sent up by a client",
)
label_axes(
    axes[1],
    "The same, in work",
    "local gradients a communication",
    "local gradients of a client",
    legend=False,
    ylim=(100, 4000),
)
plt.show()

# %% [markdown]
# ## The answer
#
# Local steps with a correction (Scaffnew's and SCAFFOLD's control variates) save nearly all communication at hardly more
# work, up to some ten or twenty gradients a communication on clients as similar as these; beyond that they mostly add work.
# Skipping without a correction saves communication where the accuracy that is asked for lies above its floor, and nothing
# where it lies below.

# %%
for name, found in work.items():
    print(name)
    for k, (models, gradients) in found.items():
        told = f"{models:6.0f} models sent, {gradients:6.0f} gradients" if np.isfinite(models) else "does not get there"
        print(f"   {k:5.1f} gradients a communication: {told}")

# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # What do rank and sparsity save FedSLR in traffic?
#
# FedSLR learns a global model of low rank (a nuclear norm at the server) and, for every client, a sparse component on top
# of it (an $\ell_1$ norm on the client). A matrix of rank $r$ is sent down as two factors, $r(m + k)$ floats in place of
# $mk$; models go up in full. Here is where the floats go, on low-rank regression, whose truth is a matrix of rank 2 plus
# six entries of size 2 a client.

# %%
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import FedAvg, GradientSteps, Scaffold, constant, run
from fedtheory.algorithms import FedSLR
from fedtheory.core.layers import ranks
from fedtheory.core.regularisers import L1
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.tools.pictures import label_axes
from problems.low_rank import low_rank_regression

plt.style.use("pictures.mplstyle")
ROWS, COLUMNS, ROUNDS, SEED = 16, 14, 80, 0
options = {"rows": ROWS, "columns": COLUMNS, "rank": 2, "nonzeros": 6, "samples": 120, "noise": 0.1, "seed": SEED}
task = low_rank_regression(8, **options)
L = float(constant(task.problem, "L"))
x0 = np.random.default_rng(SEED).standard_normal(task.problem.d)  # full rank, as weights of a network at the start
full = task.problem.d * 8
print(
    f"{task.problem.name}, seed {SEED}: 8 clients, d = {task.problem.d}, L = {L:.2f}; factors of rank r take {ROWS + COLUMNS} r floats"
)

# %% [markdown]
# ## Rank
#
# The weight $\lambda$ of the nuclear norm decides where the rank ends. At $\lambda = 0.1$ the model keeps some of the
# clients' sparse parts, as extra rank; at 2 it has the rank of the truth.

# %%
measured = {
    "rank": lambda f, state: ranks(state.x, f.layers)[..., 0, 0],
    "error": lambda f, state: task.error(state.personal),
    "nonzeros": lambda f, state: np.mean(np.abs(state.personal - state.x) > 1e-12, axis=(-1, -2)) * task.problem.d,
}
WEIGHTS = (0.1, 0.3, 1.0, 2.0)
second = ProximalSteps(5, 0.3 / L, L1(0.1))
found = {
    weight: run(
        FedSLR(1.0, personal=second),
        low_rank_regression(8, weight=weight, **options).problem,
        x0,
        ROUNDS,
        metrics=measured,
    )
    for weight in WEIGHTS
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.8))
for weight, trace in found.items():
    left.plot(trace.rounds, trace["rank"], drawstyle="steps-post", label=f"lambda = {weight}")
    right.plot(trace.rounds[1:], np.diff(trace.floats_down) / full, label=f"lambda = {weight}")
right.axhline(1, color="k", linestyle="--", linewidth=1, label="FedAvg; SCAFFOLD twice")
label_axes(left, f"FedSLR, eta_g = 1, {ROWS} x {COLUMNS} matrices (seed {SEED})", "round", "rank of the global model")
label_axes(right, "What a round sends down", "round", "share of the models in full", ylim=(0, 1.6))
plt.show()

# %% [markdown]
# ## Sparsity
#
# Components stay on their clients: sparsity saves no traffic at all. What it saves is what a client stores, and, more to
# the point, it frees the global model from fitting the clients' own entries. With a larger weight $\mu$ of the $\ell_1$
# norm fewer entries are kept.

# %%
MUS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
problem = low_rank_regression(8, weight=1.0, **options).problem
plain = run(FedSLR(1.0), problem, x0, ROUNDS, metrics=measured)
runs = [
    run(FedSLR(1.0, personal=ProximalSteps(5, 0.3 / L, L1(mu))), problem, x0, ROUNDS, metrics=measured) for mu in MUS
]
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.8))
left.semilogx(MUS, [trace["nonzeros"][-1] for trace in runs], "o-")
left.axhline(6, color="k", linestyle=":", label="entries of the truth")
right.semilogx(MUS, [trace["error"][-1] for trace in runs], "o-", label="global model plus component")
right.axhline(plain["error"][-1], color="k", linestyle="--", linewidth=1, label="global model alone")
label_axes(
    left, f"Nonzero entries of a client's component after {ROUNDS} rounds", "weight mu of the l1 norm", "entries of 224"
)
label_axes(
    right, "lambda = 1, eta_g = 1", "weight mu of the l1 norm", "relative error of the clients' models", ylim=(0, None)
)
plt.show()

# %% [markdown]
# ## Error against traffic
#
# Everything that is sent, up and down, until the clients' models have an error.

# %%
baselines = {
    "FedAvg": FedAvg(GradientSteps(5, 0.3 / L)),
    "SCAFFOLD": Scaffold(GradientSteps(5, 0.3 / L)),
}
error = {"error": lambda f, state: task.error(state.x + 0 * f.grad(state.x))}
traces = {name: run(method, task.problem.inner, x0, ROUNDS, metrics=error) for name, method in baselines.items()}
best = run(FedSLR(1.0, personal=ProximalSteps(5, 0.3 / L, L1(0.1))), problem, x0, ROUNDS, metrics=measured)
traces |= {"FedSLR, global model alone": plain, "FedSLR with components, mu = 0.1": best}
figure, axes = plt.subplots()
for name, trace in traces.items():
    axes.plot((trace.floats_up + trace.floats_down) / full, trace["error"], label=name)
label_axes(
    axes,
    f"Low-rank regression, 8 clients (seed {SEED}): lambda = 1, eta_g = 1",
    "floats sent, in models a client",
    "relative error of the clients' models",
    ylim=(0, 1.5),
)
plt.show()

# %% [markdown]
# ## The answer
#
# Rank saves at most half of the traffic, that of the downlink, and less where the rank is not small against $mk/(m + k)$.
# Sparsity saves none; it buys accuracy for the clients at no traffic.

# %%
for name, trace in traces.items():
    up, down = trace.floats_up[-1] / full, trace.floats_down[-1] / full
    print(f"{name:33s} {up:5.1f} models up, {down:5.1f} down, error {trace['error'][-1]:.3f}")
print("rank at the end, by lambda:", {weight: int(trace["rank"][-1]) for weight, trace in found.items()})

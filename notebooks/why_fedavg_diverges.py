# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Why does FedAvg diverge?
#
# Claim II.2 of FedPD: for any constant step and more than one local step there is a smooth problem, bounded below, on which
# FedAvg goes to infinity. Here is the paper's instance seen three ways: in closed form, by its spectrum, and by running it.
# All three use the same round function.

# %%
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import FedAvg, FedPD, GradientSteps, constant, round_map, round_matrix, run
from fedtheory.core.arrays import along_batch
from fedtheory.measures import metrics
from fedtheory.proofs.symbolic import symbols
from fedtheory.tools.pictures import label_axes
from problems.fedavg_divergence import coercive_counterexample, curved_counterexample, fedavg_counterexample
from problems.quadratics import scalar_quadratics

plt.style.use("pictures.mplstyle")

# %% [markdown]
# ## The instance
#
# $f_1(x) = x^2$ and $f_2(x) = -x^2$: both are 2-smooth, their average is zero everywhere. One client pulls to the origin,
# the other pushes away, and the pushes win as soon as there is a second local step.

# %%
problem = fedavg_counterexample()
print("L =", float(constant(problem, "L")), "-", constant(problem, "L").how)

# %% [markdown]
# ## Closed form
#
# Feed the round symbols instead of numbers. One round multiplies the server's model by $\sum_k \binom{Q}{2k} z^{2k}$ with
# $z = a\eta$: above one for every $Q \ge 2$ and every step.

# %%
eta, a = symbols("eta a", positive=True)
for Q in (1, 2, 3, 4):
    matrix, _ = round_matrix(FedAvg(GradientSteps(Q, eta)), scalar_quadratics(np.array([a, -a])))
    print(f"Q = {Q}:  x ->  ({matrix[0, 0].expand()}) x")

# %% [markdown]
# ## Spectrum
#
# The same number read off the round as a matrix, for a range of steps. With one local step (plain gradient descent) it is
# exactly one.

# %%
steps = np.linspace(0.01, 0.5, 60)
figure, axes = plt.subplots()
for Q in (1, 2, 4, 8):
    radius = [round_map(FedAvg(GradientSteps(Q, s)), problem, np.zeros(1)).spectral_radius() for s in steps]
    axes.semilogy(steps, radius, label=f"Q = {Q}")
label_axes(axes, "FedAvg with Q local steps on $x^2$, $-x^2$ (L = 2)", "step size", "factor a round")
plt.show()

# %% [markdown]
# ## Run
#
# Four runs of FedAvg in one batch (the step sizes are an array), FedPD beside them. FedPD's round has the multipliers 0 and
# 1 only: it stays where it is.

# %%
rates = [0.05, 0.1, 0.2, 0.4]
trace = run(FedAvg(GradientSteps(2, along_batch(rates))), problem, np.ones(1), 60, metrics={"x2": metrics.magnitude})
dual = run(FedPD(0.2), problem, np.ones(1), 60, metrics={"x2": metrics.magnitude})
figure, axes = plt.subplots()
for lr, curve in zip(rates, trace["x2"], strict=True):
    axes.semilogy(trace.rounds, np.sqrt(curve), label=f"FedAvg, Q = 2, step {lr}")
axes.semilogy(dual.rounds, np.sqrt(dual["x2"]), "k--", label="FedPD, exact solves")
label_axes(axes, "$x^2$, $-x^2$ from x = 1: FedAvg, and FedPD with eta = 0.2", "round", "|x|")
plt.show()

# %% [markdown]
# ## Two instances without the blemish
#
# In the paper's instance the average is zero, so FedAvg "diverges" among optimal points. Take $f_2 = -\tfrac12 x^2$ instead
# and the average is strongly convex; FedAvg with $Q = 2$ diverges exactly above $\eta = 2(a-b)/(a^2+b^2)$.

# %%
b = symbols("b", positive=True)
matrix, _ = round_matrix(FedAvg(GradientSteps(2, eta)), curved_counterexample(a, b))
(matrix[0, 0] - 1).factor()

# %% [markdown]
# And on $\pm x^2 + \sqrt{1 + x^2}$ the average is convex and coercive with one minimiser, yet FedAvg diverges from far
# enough away for *every* constant step: beyond $1/(2\eta)$ for $Q = 2$.

# %%
problem = coercive_counterexample()
starts = np.array([[9.0], [9.9], [10.1], [13.0]])
trace = run(FedAvg(GradientSteps(2, 0.05)), problem, starts, 1500, metrics={"x2": metrics.magnitude})
dual = run(FedPD(0.1), problem, starts[-1], 1500, metrics={"x2": metrics.magnitude})
figure, axes = plt.subplots()
for start, curve in zip(starts[:, 0], trace["x2"], strict=True):
    axes.semilogy(trace.rounds, np.sqrt(np.maximum(curve, 1e-20)), label=f"FedAvg from {start}")
axes.semilogy(dual.rounds, np.sqrt(np.maximum(dual["x2"], 1e-20)), "k--", label="FedPD from 13.0")
title = r"$\pm x^2 + \sqrt{1 + x^2}$, step 0.05, Q = 2: the threshold is 1/(2 eta) = 10"
label_axes(axes, title, "round", "|x|", ylim=(1e-10, 1e8))
plt.show()

# %% [markdown]
# ## The answer
#
# From the second local step on a client's own curvature acts on its own path, and what one client overshoots another's
# contraction does not take back: the average of $(1 - a\eta)^Q$ and $(1 + a\eta)^Q$ is above one. A small step delays that
# and does not cure it; FedPD's duals do.

# %%
for start, curve in zip(starts[:, 0], trace["x2"], strict=True):
    print(f"FedAvg from {start:4.1f}: |x| = {np.sqrt(curve[-1]):.3g} after {trace.rounds[-1]} rounds")
print(f"FedPD  from {starts[-1, 0]:4.1f}: |x| = {np.sqrt(dual['x2'][-1]):.3g}")

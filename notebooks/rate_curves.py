# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Rate curves on one strongly convex problem
#
# All methods on the same random quadratics: what each does here, what its theorem promises, and the exact worst case over the whole class
# of smooth strongly convex functions.

# %%
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import (
    AcceleratedGradient,
    FedAvg,
    FedPD,
    FedProx,
    GradientDescent,
    GradientSteps,
    Scaffold,
    constant,
    contraction_factor,
    fit_contraction,
    run,
)
from fedtheory.algorithms import FedDane, FedSplit, VrlSgd
from fedtheory.measures import metrics
from fedtheory.proofs import worst_case
from fedtheory.proofs.function_class import FunctionClass
from problems.quadratics import random_quadratics

L, mu = 1.0, 0.1
problem = random_quadratics(10, 8, L=L, mu=mu, heterogeneity=1.0, seed=1)
x_star = problem.solution()
x0 = x_star + np.full(8, 8**-0.5)  # at distance one
for name in ("L", "mu", "L_avg", "mu_avg", "zeta"):
    print(f"{name:7s}= {float(constant(problem, name)):.4f}   {constant(problem, name).how}")

# %% [markdown]
# ## Every method so far
#
# Five local steps of size $1/(2L)$ where there are local steps; the penalty parameter of the primal-dual methods is $1/\sqrt{L\mu}$, the best
# choice for splitting methods.

# %%
eta = 1 / np.sqrt(L * mu)
local = GradientSteps(5, 0.5 / L)
methods = {
    "gradient descent": GradientDescent(1 / L),
    "accelerated gradient": AcceleratedGradient(1 / L, (1 - np.sqrt(mu)) / (1 + np.sqrt(mu))),
    "FedAvg": FedAvg(local),
    "FedProx": FedProx(1 / eta, local),
    "SCAFFOLD": Scaffold(local),
    "VRL-SGD": VrlSgd(local),
    "FedDANE": FedDane(1 / eta),
    "FedSplit": FedSplit(eta),
    "FedPD": FedPD(eta),
    "FedPD, p = 0.3": FedPD(eta, p=0.3),
}
figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
print(f"{'method':22s} {'observed factor a round':42s} exact (spectrum)")
for name, method in methods.items():
    trace = run(method, problem, x0, 60, metrics={"d": metrics.squared_distance(x_star)})
    axes.semilogy(trace.rounds, np.maximum(trace["d"], 1e-31), label=name)
    if name not in ("FedAvg", "FedProx", "FedPD, p = 0.3"):
        exact = contraction_factor(method, problem, x0) ** 2
        print(f"{name:22s} {fit_contraction(trace.rounds, trace['d'])!s:42s} {exact:.4f}")
axes.set(xlabel="communication round", ylabel="squared distance to x*", title="Ten clients, condition number 10")
axes.legend(fontsize="small", ncols=2)
plt.show()

# %% [markdown]
# FedAvg and FedProx stop at a biased point; skipping communication leaves a floor; everything else is linear, at the rate that the
# spectrum of its round predicts. (SCAFFOLD and VRL-SGD are the same method here, and their curves coincide.)

# %% [markdown]
# ## Stated bound and exact worst case
#
# Gradient descent contracts $\|x - x^*\|^2$ by $(1 - \mu/L)^2$ a round: the bound, the worst case over the class, and this problem.

# %%
rounds = np.arange(0, 13)
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
trace = run(GradientDescent(1 / L), problem, x0, 12, metrics={"d": metrics.squared_distance(x_star)})
tops = [1.0] + [
    worst_case(GradientDescent(1 / L), FunctionClass(L, mu), clients=2, rounds=r).value for r in (1, 2, 3, 4)
]
axes.semilogy(rounds, (1 - mu / L) ** (2 * rounds), "k--", label="stated bound $(1-\\mu/L)^{2r}$")
axes.semilogy(range(5), tops, "o", label="exact worst case (SDP)")
axes.semilogy(trace.rounds, trace["d"], label="this problem")
axes.set(xlabel="round", ylabel="squared distance to x*", title="Gradient descent: the bound is attained")
axes.legend()
plt.show()

# %% [markdown]
# ## FedAvg: how bad can heterogeneity make one round?
#
# Over all clients with $\frac1n\sum\|\nabla f_i(x^*)\|^2 \le 1$ and $\|x^0 - x^*\| \le 1$, with the step $1/L$: the exact worst case after one
# round, and the same number reached by running FedAvg on the functions that the semidefinite program found.

# %%
print("local steps   worst case   replayed")
for K in (1, 2, 4, 8):
    case = worst_case(FedAvg(GradientSteps(K, 1 / L)), FunctionClass(L, mu, zeta=1.0), clients=2, rounds=1)
    print(f"{K:11d}   {case.value:10.6f}   {case.replay():8.6f}")

# %% [markdown]
# ## FedPD: Theorem 1, corrected
#
# For non-convex $L$-smooth clients and $u = L\eta$: the sum of squared gradients stays below
# $\frac{4(1+u)^2}{\eta}\bigl(f(x^0) - f^*\bigr)$. The exact worst case shows how much of that is slack.

# %%
u = 0.3
tops = [
    worst_case(FedPD(u), FunctionClass(1, -1), clients=2, rounds=T, measure="sum_stationarity").value
    for T in (1, 2, 3, 4)
]
print("worst case of the sum for T = 1..4:", ", ".join(f"{v:.4f}" for v in tops))
print(f"bound for every T: {4 * (1 + u) ** 2 / u:.2f}")

# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # How fast is each family on one strongly convex problem, and how slow could it be?
#
# Ten clients with random quadratics of condition number 10. For every method four numbers for one thing, the factor by which the squared distance
# to the minimiser falls in a round:
#
# - *stated*: what the method's theorem promises,
# - *class*: the smallest factor of any potential over all smooth strongly convex functions and every number of clients (a semidefinite program,
#   `smallest_rate`),
# - *here*: the squared spectral radius of the method's round on this problem (`contraction_factor`),
# - *fitted*: read off the run, with an interval, or "transient" where the run does not say yet (`fit_contraction`).

# %%
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from fedtheory import AcceleratedGradient, FedAvg, FedPD, GradientDescent, GradientSteps, Scaffold, constant, run
from fedtheory.algorithms import AFedPD, DualAscent, DualFL, FedADMM, FedDyn, FedSLR, FedSplit, FiveGCS, Safari, Scaffnew
from fedtheory.measures import metrics
from fedtheory.measures.rates import fit_contraction
from fedtheory.proofs import FunctionClass, contraction_factor, smallest_rate, worst_case
from fedtheory.tools.pictures import label_axes
from problems.quadratics import random_quadratics
from problems.server import Pooled, ServerAssisted

plt.style.use("pictures.mplstyle")
L, mu, seed = 1.0, 0.1, 1
problem = random_quadratics(10, 8, L=L, mu=mu, heterogeneity=1.0, seed=seed)
x_star = problem.solution()
x0 = x_star + np.full(8, 8**-0.5)  # at distance one
zeta = float(constant(problem, "zeta"))
print(problem.name, "- seed", seed)
for name in ("L", "mu", "L_avg", "mu_avg", "zeta"):
    print(f"{name:7s}= {float(constant(problem, name)):.4f}   {constant(problem, name).how}")

# %% [markdown]
# ## The methods
#
# Each with the parameters of its theorem where it has one: $\eta = 1/\sqrt{L\mu}$ for methods with exact local solves, five local steps of
# size $1/(10 L)$ for FedAvg and SCAFFOLD, $\nu = \mu$ for the dual methods, $p = \sqrt{\mu/L}$ for Scaffnew. SAFARI's server holds everybody's data
# here, its best case. With everybody taking part FedDyn and A-FedPD are FedADMM, and FedSLR without a regulariser is FedPD.


# %%
@dataclass
class Family:
    """A method, the factor that its theorem states, if any, and how many seeds it needs."""

    method: Any
    stated: float | None = None
    seeds: int = 1
    problem: Any = problem


kappa, eta, few = L / mu, (L * mu) ** -0.5, GradientSteps(5, 0.1 / L)
root = np.sqrt(kappa)
families = {
    "gradient descent": Family(GradientDescent(2 / (L + mu)), ((kappa - 1) / (kappa + 1)) ** 2),
    "accelerated gradient": Family(AcceleratedGradient(1 / L, (root - 1) / (root + 1)), 1 - 1 / root),
    "FedAvg": Family(FedAvg(few)),
    "SAFARI, q = 0.5": Family(Safari(0.5, few, GradientSteps(1, 0.5 / L)), seeds=20, problem=ServerAssisted(problem, Pooled(problem))),
    "SCAFFOLD": Family(Scaffold(few), (1 - 0.1 * mu / L) ** 10),
    "FedPD": Family(FedPD(eta)),
    "FedSLR": Family(FedSLR(eta)),
    "FedADMM": Family(FedADMM(1 / eta)),
    "FedDyn": Family(FedDyn(1 / eta)),
    "A-FedPD": Family(AFedPD(1 / eta)),
    "FedSplit": Family(FedSplit(eta), ((root - 1) / (root + 1)) ** 2),
    "dual ascent": Family(DualAscent(mu, None), (1 - mu / L) ** 2),
    "DualFL": Family(DualFL(mu, mu / L), 1 - 1 / root),
    "Scaffnew": Family(Scaffnew(1 / L, mu**0.5), max((1 - mu / L) ** 2, 1 - mu), seeds=50),
    "5GCS": Family(FiveGCS(eta, mu=mu)),
}
ROUNDS = 300
distance = {"d": metrics.squared_distance(x_star)}


def mean_distance(family: Family) -> np.ndarray:
    """||x - x*||^2 by round, its mean over seeds."""
    many = np.arange(family.seeds) if family.seeds > 1 else 0
    found = run(family.method, family.problem, x0, ROUNDS, seed=many, metrics=distance)["d"]
    return found.mean(axis=0) if family.seeds > 1 else found


curves = {name: mean_distance(family) for name, family in families.items()}

# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # How far is a typical problem from the worst one?
#
# A theorem speaks of the worst function of its class, an experiment of a few functions that somebody drew. Here both stand
# on one scale: the exact worst case over all functions and every number of clients, by a semidefinite program, and random
# problems of the same class, by their spectra.

# %%
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import AcceleratedGradient, FedAvg, FedPD, GradientDescent, GradientSteps, Scaffold, constant, run
from fedtheory.algorithms import DualAscent, FedSplit, FiveGCS
from fedtheory.measures import metrics
from fedtheory.proofs import FunctionClass, contraction_factor, smallest_rate, worst_case
from fedtheory.tools.pictures import label_axes
from problems.quadratics import Quadratic, random_quadratics

plt.style.use("pictures.mplstyle")
L, n, d, DRAWS = 1.0, 5, 3, 100
rng = np.random.default_rng(0)

# %% [markdown]
# ## Rates
#
# The factor of the squared distance a round for a hundred draws of five clients with random quadratics, $\kappa = L/\mu =
# 30$. Each method has one setting for the class, and every client's spectrum holds both $\mu$ and $L$. A hundred draws
# never come near the worst case of methods that average gradients, since the average function is better conditioned than
# the clients; methods that solve locally feel every client's own curvature.

# %%
mu = L / 30
eta, root = (L * mu) ** -0.5, np.sqrt(L / mu)
methods = {
    "gradient descent": GradientDescent(2 / (L + mu)),
    "accelerated gradient": AcceleratedGradient(1 / L, (root - 1) / (root + 1)),
    "SCAFFOLD, 5 steps": Scaffold(GradientSteps(5, 0.1 / L)),
    "FedPD": FedPD(eta),
    "FedSplit": FedSplit(eta),
    "5GCS": FiveGCS(eta, mu=mu),
    "dual ascent": DualAscent(mu, None),
}
problems = [random_quadratics(n, d, L=L, mu=mu, seed=seed) for seed in range(DRAWS)]
start = rng.standard_normal(d)
typical = {
    name: np.array([contraction_factor(method, f, start) ** 2 for f in problems]) for name, method in methods.items()
}
worst = {name: smallest_rate(method, FunctionClass(L, mu), proof=False).rate for name, method in methods.items()}
figure, axes = plt.subplots()
places = np.arange(len(methods))[::-1]
for (name, found), place in zip(typical.items(), map(int, places), strict=True):
    axes.plot(found, place + rng.uniform(-0.22, 0.22, DRAWS), "C0.", alpha=0.35, label="random problem" * (place == 0))
    axes.plot(np.median(found), place, "k|", markersize=16, label="their median" * (place == 0))
    axes.plot(worst[name], place, "C1s", label="exact worst case of the class" * (place == 0))
axes.set_yticks(places, list(methods))
label_axes(
    axes,
    f"{DRAWS} draws (seeds 0 to {DRAWS - 1}): {n} clients, d = {d}, L = 1, mu = 1/30",
    "factor of the squared distance a round",
    "",
)
plt.show()

# %%
print(f"{'method':22s} {'worst':>7s} {'median':>7s} {'largest':>8s}   rounds of the median over those of the worst")
for name, found in typical.items():
    share = np.log(worst[name]) / np.log(np.median(found))
    print(f"{name:22s} {worst[name]:7.4f} {np.median(found):7.4f} {found.max():8.4f}   {share:.2f}")

# %% [markdown]
# ## Heterogeneity
#
# FedAvg with four steps of size $1/L$ from distance one, over all functions whose gradients at the minimiser have mean
# square at most $\zeta^2 = 1$: the exact worst squared distance after up to five rounds, and two hundred random problems
# that are scaled to have just that $\zeta$. The worst functions can be run, too: crosses.

# %%
mu, local, ROUNDS = 0.1, GradientSteps(4, 1 / L), 5
fedavg, functions = FedAvg(local), FunctionClass(L, mu, zeta=1.0)


def with_zeta_one(f: Quadratic) -> Quadratic:
    """The same curvatures, minimisers moved apart or together until zeta is one."""
    x_star = f.solution()
    return Quadratic(
        f.A, (f.A @ x_star[:, None])[..., 0] + (f.b - (f.A @ x_star[:, None])[..., 0]) / float(constant(f, "zeta"))
    )


cases = [worst_case(fedavg, functions, rounds=r) for r in range(1, ROUNDS + 1)]
draws = []
for seed in range(200):
    f = with_zeta_one(random_quadratics(n, d, L=L, mu=mu, seed=seed))
    direction = np.random.default_rng(seed).standard_normal(d)
    x0 = f.solution() + direction / np.linalg.norm(direction)
    draws.append(run(fedavg, f, x0, ROUNDS, metrics={"d": metrics.squared_distance(f.solution())})["d"])
draws = np.array(draws)
figure, axes = plt.subplots()
rounds = np.arange(ROUNDS + 1)
axes.fill_between(
    rounds, draws.min(axis=0), draws.max(axis=0), alpha=0.25, label="200 random problems, from least to largest"
)
axes.plot(rounds, np.median(draws, axis=0), label="their median")
axes.plot(rounds, [1.0] + [case.value for case in cases], "C1s-", label="exact worst case, every number of clients")
axes.plot(rounds[1:], [case.replay(n=n) for case in cases], "kx", label=f"the worst functions, run with {n} clients")
axes.set_yscale("log")
label_axes(
    axes, "FedAvg, 4 steps of size 1/L; L = 1, mu = 0.1, zeta = 1, start at distance one", "round", "squared distance"
)
plt.show()

# %% [markdown]
# ## The answer
#
# It depends on what a method feels. One that averages gradients feels the average function, which is better conditioned than
# the clients: a random problem takes it a tenth of the rounds of the worst one. Where local solves feel every client's
# curvature, as in FedSplit, 5GCS and dual ascent, a typical problem is nearly the worst. Under heterogeneity there is a
# factor that no number of draws closes: the worst clients conspire, drawn ones do not.

# %%
print(
    f"after {ROUNDS} rounds: worst {cases[-1].value:.3f}, run {cases[-1].replay(n=n):.3f}; of 200 draws the largest {draws[:, -1].max():.3f}"
)
print(
    f"and the median {np.median(draws[:, -1]):.3f}, smaller than the worst by a factor {cases[-1].value / np.median(draws[:, -1]):.0f}"
)

# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # When do dual variables drift?
#
# A primal-dual method keeps a dual variable for every client, and a client that stays away keeps an old one. A-FedPD's
# paper calls what follows dual drift. On $f_i(x) = \frac a2 (x - b_i)^2$, with $P$ of $C$ clients drawn each round, the
# mean squares of the errors obey a linear map, so that stability is one number: its spectral radius
# (`problems.dual_drift.moment_map`; the claims AFEDPD-D7, D10 and D11 check it against the methods themselves).

# %%
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import run
from fedtheory.algorithms import AFedPD, FedADMM, FedDyn
from fedtheory.core.participation import Uniform
from fedtheory.tools.pictures import draw_band, label_axes
from paper_checks.afedpd.z_ours_drift_a_stability import THRESHOLDS
from problems.dual_drift import drift_radius, moment_map
from problems.quadratics import scalar_quadratics

plt.style.use("pictures.mplstyle")
C = 100
NAMES = {"fedadmm": "FedADMM as printed", "feddyn": "FedDyn", "a-fedpd": "A-FedPD"}

# %% [markdown]
# ## The map
#
# Factor of the mean square a round, for equal clients with exact solves. Orange is above one: the method explodes. FedADMM
# averages the active clients alone, as Eq. (6) of the paper prints it, and drifts when few clients take part and the
# penalty $\rho$ is small beside the curvature $a$. Crosses are the thresholds of AFEDPD-D11, which are decided in
# fractions.

# %%
shares = np.array([1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 70, 100])
penalties = np.geomspace(0.005, 10, 60)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True)
for ax, (name, label) in zip(axes, NAMES.items(), strict=True):
    radii = np.array([[drift_radius(name, rho, C, int(P)) for P in shares] for rho in penalties])
    shown = ax.pcolormesh(shares, penalties, radii, cmap="PuOr_r", vmin=0.8, vmax=1.2, shading="nearest")
    ax.set(xscale="log", yscale="log", xlabel=f"clients a round, of {C}", title=label)
    ax.grid(False)
known = {P: float(value) for (clients, P), value in THRESHOLDS.items() if clients == C}
axes[0].plot(list(known), list(known.values()), "kx", label="threshold")
axes[0].legend()
axes[0].set_ylabel("penalty over curvature")
figure.colorbar(shown, ax=axes, label="factor of the mean square a round")
plt.show()

# %% [markdown]
# ## Trajectories
#
# Five of a hundred equal clients a round, on both sides of the threshold 0.125: fifty runs each by the methods themselves,
# and the mean square that the map predicts. Below the threshold the mean square grows although most runs look quiet for a
# long while.

# %%
P, rounds, seeds = 5, 400, np.arange(50)
problem = scalar_quadratics(np.ones(C))
METHODS = {"fedadmm": lambda rho: FedADMM(rho, averages="active"), "feddyn": FedDyn, "a-fedpd": AFedPD}
square = {"x2": lambda problem, state: (state.x[..., 0, 0]) ** 2}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
for ax, rho in zip(axes, (0.05, 0.3), strict=True):
    for colour, (name, label) in zip(("C1", "C0", "C2"), NAMES.items(), strict=True):
        found = run(
            METHODS[name](rho), problem, np.ones(1), rounds, participation=Uniform(P), seed=seeds, metrics=square
        )
        ax.semilogy(found.rounds, np.median(found["x2"], axis=0), color=colour, label=label)
        draw_band(ax, found.rounds, found["x2"])
        if name != "a-fedpd":  # its broadcast model extrapolates; the map is of the average of active models
            moments = [np.array([1.0, 0, 0, 0])]
            matrix = np.array(moment_map(name, rho, C, P), dtype=float)
            for _ in range(rounds):
                moments.append(matrix @ moments[-1])
            ax.semilogy([m[0] for m in moments], color=colour, ls=":")
    title = f"penalty {rho} of the curvature, {P} of {C} clients, {len(seeds)} seeds"
    label_axes(ax, title, "round", "squared distance (dotted: exact mean)", legend=ax is axes[0], ylim=(1e-10, 1e6))
    ax.label_outer()
plt.show()

# %% [markdown]
# ## What A-FedPD's virtual update does, and what it does not
#
# It moves the mean of the duals as if everybody had taken part, so that equal clients converge at the rate of full
# participation whoever comes. What is a client's own stays as old as without it: its mean square falls by $1 - (1 -
# \kappa^2)\frac{P-1}{C-1}$ a round, $\kappa = a/(a + \rho)$, and with one client a round not at all.

# %%
figure, ax = plt.subplots()
for P in (1, 2, 10, 50, 100):
    own = [moment_map("a-fedpd", rho, C, P)[3][3] for rho in penalties]
    ax.semilogx(penalties, own, label=f"{P} of {C}: a client's own part")
ax.semilogx(
    penalties, [moment_map("a-fedpd", rho, C, 1)[0][0] for rho in penalties], "k--", label="the common part, any number"
)
label_axes(ax, "A-FedPD, equal curvatures, exact solves", "penalty over curvature", "factor of the mean square a round")
plt.show()

# %% [markdown]
# ## The answer
#
# When the server averages the active clients alone, few of them come, and the penalty is small beside the curvature.
# FedDyn's and A-FedPD's averages do not explode; but no method makes a client's own dual fresh.

# %%
print(
    f"smallest factor-one penalty of FedADMM as printed, {C} clients: "
    + ", ".join(f"{rho:.4g} with {P}" for P, rho in known.items())
)
for name, label in NAMES.items():
    largest = max(drift_radius(name, rho, C, 5) for rho in penalties)
    print(f"{label:20s} largest factor over these penalties, 5 of {C} clients: {largest:.3f}")

# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # How much of the step sizes does a theorem give away?
#
# A theorem holds up to some step size; the method may work beyond. Here are ranges as they are stated, beside exact ones: a
# potential over the whole class exists or does not (`smallest_rate`), an eigenvalue leaves the unit disc (`round_map`), a
# worst case exceeds a bound, with a proof below the threshold and functions that violate it above (`find_threshold`).

# %%
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from fedtheory import FedAvg, FedPD, GradientSteps, Scaffold, round_map
from fedtheory.algorithms import DualAscent, DualFL
from fedtheory.proofs import FunctionClass, contraction_factor, find_threshold, smallest_rate
from fedtheory.tools.pictures import label_axes
from problems.quadratics import Quadratic, scalar_quadratics

plt.style.use("pictures.mplstyle")
L, mu = 1.0, 0.1
functions = FunctionClass(L, mu)

# %% [markdown]
# ## SCAFFOLD: $\eta \le 1/(81 L K)$, its paper asks for
#
# The smallest factor of the squared distance a round over all $L$-smooth $\mu$-strongly convex clients, for $K$ local steps
# of size $\eta$. A curve ends where no quadratic potential of one round exists any more. Dotted: the end of the range in
# the paper's theorem for strongly convex functions; dashed: the factor $(1 - \eta\mu)^{2K}$ of plain gradient steps, which
# is exact for small $\eta$.


# %%
def factor(K: int, step: float) -> float:
    """The smallest factor over the class; above 0.999 there is none."""
    method = Scaffold(GradientSteps(K, step))
    return smallest_rate(method, functions, proof=False, accuracy=Fraction(1, 1000)).rate


figure, axes = plt.subplots()
last = {}
for colour, K in zip(("C0", "C1", "C2"), (1, 4, 8), strict=True):
    good = {}
    for step in np.geomspace(1 / (81 * K), 2.5, 11):
        if (rate := factor(K, float(step))) >= 0.999 and step > 0.1:
            break
        good[float(step)] = rate
    low, high = max(good), float(step)
    for _ in range(4):
        middle = (low + high) / 2
        if (rate := factor(K, middle)) < 0.999:
            low, good[middle] = middle, rate
        else:
            high = middle
    last[K] = low
    steps = np.array(sorted(good))
    axes.semilogx(
        steps, [good[step] for step in steps], "o-", color=colour, markersize=4, label=f"K = {K}, up to {low:.2f}/L"
    )
    slow = steps[steps < 0.6]
    axes.semilogx(slow, (1 - mu * slow) ** (2 * K), "k--", linewidth=0.8)
    axes.axvline(1 / (81 * K * L), color=colour, linestyle=":")
label_axes(
    axes,
    "SCAFFOLD over its class: L = 1, mu = 0.1, every number of clients",
    "local step size",
    "factor of the squared distance a round",
)
plt.show()

# %% [markdown]
# ## FedPD: $\eta < (\sqrt 5 - 1)/(4L)$ printed, $\eta < 1/(2L)$ corrected
#
# The range of FedPD's Theorem 1 is $0.309/L$; its proof carries to $1/(2L)$, and no further: with curvatures $(1, 1, -h,
# -h)$ the difference of the two last clients is multiplied by $-uh/(1 - uh)$, $u = L\eta$ (FEDPD-D7). The largest modulus
# of an eigenvalue that moves, for several $h$.

# %%
shares = np.linspace(0.02, 0.7, 120)
figure, axes = plt.subplots()
for h in (0.5, 0.8, 0.95, 0.999):
    clients, radius = scalar_quadratics(np.array([1.0, 1.0, -h, -h])), []
    for u in shares:
        values = np.abs(np.linalg.eigvals(round_map(FedPD(float(u)), clients, np.zeros(1)).matrix.astype(float)))
        radius.append(values[np.abs(values - 1) > 1e-9].max())
    axes.plot(shares, radius, label=f"h = {h}")
for end, style in (((5**0.5 - 1) / 4, ":"), (0.5, "--")):
    axes.axvline(
        end,
        color="k",
        linestyle=style,
        linewidth=1.2,
        label=f"{'printed' if style == ':' else 'corrected, exact'}: {end:.3f}",
    )
axes.axhline(1, color="k", linewidth=0.6)
label_axes(
    axes,
    "FedPD with exact solves on four quadratics of curvatures 1, 1, -h, -h",
    "L eta",
    "largest modulus of an eigenvalue",
    ylim=(0.4, 1.6),
)
plt.show()

# %% [markdown]
# ## DualFL: $\nu \le \mu$
#
# Without momentum it is gradient ascent on the dual, which is $1/\mu$-smooth: it works up to $\nu = 2\mu$. Momentum costs a
# part of that. The factor on quadratics whose clients have both curvatures $\mu$ and $L$, and over the class where a
# potential of one round can be looked for.

# %%
pair = Quadratic(np.stack([np.diag([mu, L])] * 2), np.array([[1.0, 0.5], [-0.3, 1.0]]))
ratios = np.linspace(0.1, 2.2, 211)
curves = {"DualFL, rho = nu/L": lambda nu: DualFL(nu, min(nu / L, 1.0)), "dual ascent": lambda nu: DualAscent(nu, None)}
figure, axes = plt.subplots()
ends = {}
for name, make in curves.items():
    factors = np.array([contraction_factor(make(float(r * mu)), pair, np.ones(2), round=5000) ** 2 for r in ratios])
    ends[name] = ratios[factors < 1].max()
    axes.plot(ratios, factors, label=f"{name}: two quadratics")
few = ratios[15:200:30]
over = [
    smallest_rate(DualAscent(float(r * mu), None), functions, proof=False, accuracy=Fraction(1, 1000)).rate for r in few
]
axes.plot(few, over, "ks", label="dual ascent: the class")
axes.axvline(1, color="k", linestyle=":", label="the theorem's range")
axes.axhline(1, color="k", linewidth=0.6)
label_axes(
    axes,
    "Dual methods: L = 1, mu = 0.1, exact local solves",
    "nu / mu",
    "factor of the squared distance a round",
    ylim=(0.4, 1.2),
)
plt.show()

# %% [markdown]
# ## FedAvg: a threshold with a proof on one side and functions on the other
#
# Up to which step does a round of four local steps leave $\|x - x^*\|^2 \le 1$, from distance one and with gradients at the
# minimiser of mean square at most $\zeta^2 = 1$?

# %%
edge = find_threshold(
    lambda lr: FedAvg(GradientSteps(4, lr)),
    lambda lr: Fraction(1),
    Fraction(1, 100),
    Fraction(1),
    FunctionClass(L, mu, zeta=1.0),
    rounds=1,
)
print(f"lr = {float(edge.holds):.4f}: proved in exact arithmetic, the bound is {float(edge.proof.bound):.6f}")
print(f"lr = {float(edge.fails):.4f}: functions of the class reach {edge.reached:.6f}")

# %% [markdown]
# ## The answer
#
# Two to three orders of magnitude for SCAFFOLD: its theorem asks for steps of order $1/(LK)$, and the class allows nearly
# $2/L$ whatever $K$. Half of the range or less where a proof follows the method's structure, as for FedPD and the dual
# methods.

# %%
print(f"{'method':18s} {'stated':>12s} {'exact':>10s}   a factor")
rows = [(f"SCAFFOLD, K = {K}", 1 / (81 * K), end, "/L") for K, end in last.items()]
rows += [("FedPD", (5**0.5 - 1) / 4, 0.5, "/L")] + [(name.split(",")[0], 1.0, end, " mu") for name, end in ends.items()]
for name, stated, end, unit in rows:
    print(f"{name:18s} {stated:9.4f}{unit:3s} {end:7.3f}{unit:3s}   {end / stated:.4g}")

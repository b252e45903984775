# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Is my theorem true? Twenty lines find out
#
# You believe that gradient descent with step $1/L$ leaves $f(x) - f^* \le L R^2/(4N + 4)$ after $N$ steps from distance
# $R$, for every convex $L$-smooth average of any number of clients. A theorem is data here: the method by its listed name,
# the class, the region of the parameters, the claim. It is judged by the engines alone: what fails comes back as functions
# in fractions, what holds as a proof for all parameters that a checker without packages has read.

# %%
import matplotlib.pyplot as plt
import numpy as np

from fedtheory import FunctionClass, GradientDescent, run
from fedtheory.claims import Bound, Context, state
from fedtheory.claims.checking import judge_claim
from fedtheory.measures import metrics
from fedtheory.proofs import worst_case
from fedtheory.tools.pictures import label_axes
from problems.quadratics import random_quadratics

plt.style.use("pictures.mplstyle")

# %% [markdown]
# ## The theorem, refuted


# %%
def gap_after(claimed: str) -> Bound:
    """N steps of size 1/L on every L-smooth convex f leave at most what is claimed."""
    region = "0 < L, 0 < R, N in 1..3"
    return Bound("gd", "lr = 1/L", region=region, functions="L", measure="gap", rounds="N", radius="R", claimed=claimed)


def judge(claim):
    """The verdict; printed with what decided."""
    verdict = judge_claim(claim, "notebook", Context())
    print(f"{claim.id}: {verdict.status}" + (f": {verdict.repaired}" if verdict.status == "repaired" else ""))
    for part in verdict.evidence:
        print(f"- {part['role']} ({part['engine']}): {part['text'][:320]}")
    return verdict


text = "f(x) - f* <= L R^2/(4N + 4) after N steps of size 1/L."
refuted = judge(state("MINE-1", "mine", "Theorem 1", text, gap_after("L*R**2/(4*N + 4)")))

# %% [markdown]
# The functions are in the verdict, as fractions, with the run that violates the bound; `fedtheory check mine.py` stores
# them in a file that `fedtheory replay` runs again.

# %%
found = refuted.counterexample
print(found["what"])
print(found["exact"])
for assumption in found["assumptions"]:
    print(f"- {assumption['assumption']}: {'met' if assumption['met'] else 'not met'}, by {assumption['by']}")

# %% [markdown]
# ## Repaired, and proved
#
# With $4N + 2$ in the denominator it is a theorem: for every $L$ and $R$, every number of clients and every dimension, for
# each of the three $N$.

# %%
repaired = judge(
    state(
        "MINE-2",
        "mine",
        "Theorem 1",
        text,
        gap_after("L*R**2/(4*N + 4)"),
        repaired=gap_after("L*R**2/(4*N + 2)"),
        repaired_text="f(x) - f* <= L R^2/(4N + 2).",
    )
)

# %% [markdown]
# ## Looked at
#
# The exact worst case for $L = R = 1$, both bounds, and what random quadratics do, which gave no reason to doubt the first one.

# %%
N = np.arange(1, 9)
functions, method = FunctionClass(1.0), GradientDescent(1.0)
exact = [worst_case(method, functions, rounds=int(k), measure="gap").value for k in N]
figure, axes = plt.subplots()
for seed in range(30):
    f = random_quadratics(3, 4, mu=0.01, seed=seed)
    direction = np.random.default_rng(seed).standard_normal(4)
    gap = {"gap": metrics.gap(float(f.lower_bound().value))}
    curve = run(method, f, f.solution() + direction / np.linalg.norm(direction), 8, metrics=gap)["gap"]
    axes.plot(
        N, curve[1:], color="0.75", linewidth=0.8, label="random quadratics, seeds 0 to 29" if seed == 0 else None
    )
axes.plot(N, 1 / (4 * N + 4), "C1:", label="as stated, 1/(4N + 4)")
axes.plot(N, 1 / (4 * N + 2), "C0--", label="repaired, 1/(4N + 2)")
axes.plot(N, exact, "ks", markersize=4, label="exact worst case, every number of clients")
axes.set_yscale("log")
label_axes(
    axes, "Gradient descent, step 1/L, L = 1, start at distance R = 1", "rounds N", "f(x) - f*", ylim=(1e-5, 0.3)
)
plt.show()

# %% [markdown]
# ## The answer
#
# It was false by a constant, is true with another one, and that one is the best: the worst case lies on it.

# %%
print(f"{refuted.id} {refuted.status}, {repaired.id} {repaired.status}; worst case over the repaired bound:")
print(", ".join(f"{value * (4 * k + 2):.6f}" for k, value in zip(N, exact, strict=True)))

"""The notation of FedPD's statements: what the paper's symbols are in scripts and quantities, once for all sections.

A state is that of a round r >= 0 with lam_i^r = -grad f_i(x_i^r) + e_i^r, as (20) makes it after local work up to an error e_i; u = L eta. f_i is
L-smooth and need not be convex (A1). `_next` is after the round and `[t]` in round t; a name that ends in 2 is the square of a norm.

======================================  ==================================================================================
x_0^r, x_{0,i}^r, x_i^r, lam_i^r        `x`, `x0_i` (a client's copy; `x` where all communicate), `x_i`, `lam_i`
x_{0,i}^{r+}                            `v_i`, an upload x_i + eta lam_i
f_i, mean_i, <., .>, ||.||^2            `f_i`, `mean(...)`, or `bar(...)` of vectors, `dot`, `norm2`; `grad(f_i, x)`
N, M, L, G, epsilon_1                   `n` clients (in scripts of two, 1 and 2), `m` samples a client, `L`, `G`, `eps`
eta, eta_1, gamma, p, T, Q, I, B        `eta`, `lr`, `gamma`, `p`, or `q` with p = q^2, `T`, `Q`, `I`, `B`
L_i(x_i, x_0, lam_i)                    `lagrangian`; `level`, its mean over clients
f(x_0), ||grad f(x_0)||^2               `f`, `grad2`
||x_i^{r+1} - x_i^r||^2, of x_0         `moved`, a mean over clients; `server` (`QUANTITIES`)
Delta x_0^r, Delta x^r                  `D0`, `D`: the spreads, the largest distance of two clients' copies and models
C_2, ..., C_8, C(p), D_0                as they are called, by the functions of `bounds`; D_0 = f(x_0^0) - inf f
======================================  ==================================================================================

`claim` makes a claim of the paper of steps, `derived` one of our own, `checked` either with a check of its own.
"""

from __future__ import annotations

from typing import Any

from fedtheory.claims import Check, Claim, Clause, Fault, Kind, dot, norm2
from fedtheory.claims.protocol import join_clauses
from paper_checks.formulas import formula_in_words
from paper_checks.steps import claims_of

# ---- Claims ----------------------------------------------------------------------------------------------------------
PAPER = "fedpd"
DERIVED = f"{PAPER}, derived"
claim, derived = claims_of(PAPER), claims_of(DERIVED)


def checked(
    id: str,
    kind: Kind,
    source: str,
    statement: str | tuple[Clause, ...],
    check: Check,
    *faults: Fault,
    assumes: tuple[str, ...],
    **more: Any,
) -> Claim:
    """A claim with a check of its own; a statement may be given as its clauses."""
    if not isinstance(statement, str):
        statement, more = join_clauses(statement), more | {"clauses": statement}
    return Claim(
        id, DERIVED if id.startswith("FEDPD-D") else PAPER, kind, source, statement, check, faults, assumes, **more
    )


# ---- Step sizes and assumptions --------------------------------------------------------------------------------------
def largest_step(L: Any, root_5: Any = 5**0.5) -> Any:
    """What eta is below in Theorem 1: L eta is below the positive root of 1 - 2u - 4u^2."""
    return (root_5 - 1) / (4 * L)


A1 = "A1: every f_i and f are L-smooth"
A2 = "A2: f is bounded below"
SMOOTH_SAMPLES = "every sample loss is L-smooth"
A4 = "A4: ||grad f_i(x) - grad f_j(x)|| <= G for all x"
STEP = f"0 < eta < {formula_in_words(largest_step, L='L', root_5='sqrt(5)')}"
SMOOTH = "0 < L, 0 < eta"
#: local solves up to ||grad L_i||^2 <= eps, as in (16); an exact one is one for every eps > 0
INEXACT = "0 < L, 0 < eta, 0 < eps"


# ---- Quantities ------------------------------------------------------------------------------------------------------
def lagrangian(value: Any, x: Any, x0: Any, lam: Any, eta: Any) -> Any:
    """L_i, with ``value`` for f_i(x)."""
    return value + dot(lam, x - x0) + norm2(x - x0) / (2 * eta)


#: the mean of L_i(x_i, x_0, lam_i), ||grad f(x_0)||^2, and how far models move in a round
QUANTITIES = {
    "f": "mean(f_i(x))",
    "level": "mean(f_i(x_i)) + mean(dot(lam_i, x_i - x)) + mean(norm2(x_i - x))/(2*eta)",
    "grad2": "norm2(bar(grad(f_i, x)))",
    "moved": "mean(norm2(x_i_next - x_i))",
    "server": "norm2(x_next - x)",
}

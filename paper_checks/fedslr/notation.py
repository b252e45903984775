"""The notation of FedSLR's statements: what the paper's symbols are in scripts and quantities, once for all sections.

A state is that of a round t >= 1 of Phase I with exact local solves: any w_t that a server step has led to, any w_{i,t}, and gamma_{i,t} = grad
f_i(w_{i,t}) (Fact 2). f_i is L-smooth and need not be convex (A1), R is convex, and bounded gradients (A2) are used where it is said only.

==========================  ============================================================================================
w_t, w_{i,t}, gamma_{i,t}   `w`, `w_i`, `gamma_i`: the server's model, a client's copy of it, its dual; `w_next`, ... after the round
w*, {w_i*}, {gamma_i*}      `w_star`, `w_i_star`, `gamma_i_star`: a cluster point; `D_star` is D there
f_i, R, mean_i              `f_i`, `R` and `mean(...)`, or `bar(...)` of vectors; `norm2` is the square of a norm, `dot` a product
eta_g, eta_l, K, M          `eta` in Phase I; `eta` or `lr` in Phase II; `K`; `M`, or n clients where a claim is on n of them
D_t, r_t = D_t - D*         `D`, `r`: `POTENTIAL` (10) and `RESIDUAL`
||w_{i,t+1} - w_{i,t}||     `S`: `STEPS`, the mean of the squares; `M`: `SERVER`, ||w_{t+1} - w_t||^2
dist(0, grad f + dR)        `dist2`, its square; `E`: dist^2(0, dD), in the space of (w, {w_i}, {gamma_i})
C_1, C_2, C_3, c, theta     `C1`, `C2` and `OF_THEOREM_2`, as they have to be
p_{i,t,k}, G, phi_i         `p`, `mapping` (its square is `G2`) and `phi`, f_i(w + p) + mu ||p||_1 in Phase II
==========================  ============================================================================================

`claim` makes a claim of the paper, `derived` one of our own.
"""

from __future__ import annotations

from paper_checks.steps import claims_of

# ---- Claims ----------------------------------------------------------------------------------------------------------
PAPER = "fedslr"
DERIVED = f"{PAPER}, derived"
claim, derived = claims_of(PAPER), claims_of(DERIVED)


# ---- Step sizes ------------------------------------------------------------------------------------------------------
#: what the paper asks of the global step size
INSIDE = "0 < L, 0 < eta < 1/(2*L)"
#: the steps of the server in Lemma 3 and Theorems 1 and 2
SERVER_STEP = "0 < eta <= 1/(2*L)"
CHOICE = f"0 < L, {SERVER_STEP}"


# ---- Quantities ------------------------------------------------------------------------------------------------------
#: the potential (10), and what rounds are measured by
POTENTIAL = "mean(f_i(w_i)) + R(w) + mean(dot(gamma_i, w - w_i)) + mean(norm2(w - w_i))/(2*eta)"
STEPS, SERVER = "mean(norm2(w_i_next - w_i))", "norm2(w_next - w)"
RESIDUAL = f"{POTENTIAL} - D_star"
VALUES, MODELS = "r[t] -> 0 as t in J", "w[t] -> 0 as t in J"
APART, OF_F = "mean(norm2(w - w_i))", "mean(f_i(w)) + R(w)"
#: C_2 as it has to be for (71), and C_1 as it comes out of (70)
C2, C1 = "(1 - 2*L*eta)*(1 + L*eta)/(2*eta)", "(1/eta + eta*L**2)**2"
OF_THEOREM_2 = {
    "C1": C1,
    "C2": "1/(2*eta) - L/2 - L**2*eta",
    "C3": "L + eta*L + 1/eta + 1",
    "c": "sqrt(C2/C4)/(C3*(1 - theta))",
}

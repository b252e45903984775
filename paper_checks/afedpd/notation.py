"""The notation of A-FedPD's statements: what the paper's symbols are in scripts and quantities, once for all sections.

A state is that of any round t of Algorithm 1; a name with `_next` is one of the round after it, and `mean` and `bar` are over clients, in
rounds of some over the active ones.

==================================  ==============================================================================================================
theta^t, thetabar^t                 `theta`, `theta_bar`, or `x`, `x_bar` in rounds of the library's method
theta_i^{t+1}, theta_{i,k}^t        `theta_i_next`, and `x` in local steps
lambda_i^t, lambdabar^t             `lam_i`, `lam_bar`; `lam_absent` is the average of the duals of absent clients, `lam_j` one of them
mu_i^t = lambda_i^t - lambdabar^t   `mu_i`: what is a client's own, not the paper's constant mu of the step size
C, P, K, S, eta, rho, L, G, H       the same; theta^t = thetabar^t + lambdabar^t/rho
e_i, epsilon                        `e_i` = grad f_i(theta_i^{t+1}) + lambda_i^t + rho (theta_i^{t+1} - theta^t), ||e_i||^2 <= epsilon
R_t, J_t                            mean ||theta_i^{t+1} - thetabar^t||^2, mean ||theta_i^t - thetabar^t||^2
phi                                 (C - P)/(P (C - 1)), from 0 (P = C) to 1 (P = 1): `SAMPLING`
a hat                               a run on data of which one sample was exchanged, with the same draws
X, Y, H, S in moments               E ||x||^2, E <x, h>, E ||h||^2, E mean ||d_i||^2: x the model less x^*, d_i what a dual lacks, h their mean
==================================  ==============================================================================================================

f_i is L-smooth (Assumption 1) and need not be convex, which is how "non-convex" is read, and f is the mean of f_i. theta^0 is any start, and
lambda_i^0 = 0. What is proved of inexact solves asks only for the mean of ||e_i||^2; a counterexample with one client is one with C equal ones.
`claim` makes a claim of the paper, `derived` one of our own, and `stated` one whose check is a function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fedtheory.claims import Claim, Fault, Theorem
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.formulas import formula
from paper_checks.steps import claims_of

# ---- Claims ----------------------------------------------------------------------------------------------------------
PAPER = "a-fedpd"
DERIVED = f"{PAPER}, derived"
claim, derived = claims_of(PAPER), claims_of(DERIVED)


def stated(id: str, source: str, statement: str, check: Any, *faults: Fault, **more: Any) -> Claim:
    """A claim on the theory, a proof step of the paper unless ``kind`` and ``paper`` say otherwise."""
    more = {"paper": PAPER, "kind": "proof step"} | more
    return Claim(id=id, source=source, statement=statement, check=check, faults=faults, **more)


# ---- Words of assumptions --------------------------------------------------------------------------------------------
ALL = "all clients take part (P = C)"
EXACT_ONE = "the counterexample has one client, who solves exactly (epsilon = 0)"
SAMPLING = (
    "P of C clients are drawn uniformly; theta_i^{t+1} of the others is what they would return; phi = (C - P)/(P (C - 1)), with which "
    "E ||mean_P v||^2 = ||mean v||^2 + phi mean ||v_i - mean v||^2"
)
SAMPLES = "every sample's loss is in [0, H], G-Lipschitz and L-smooth, which Assumptions 1 and 2 say of f"
BELOW_L = "rho > L and eta rho <= 1, which the statement does not say"
FAMILY = "f_i(x) = (a/2)(x - b_i)^2, one curvature a; P of C clients drawn uniformly; exact solves"
INEXACT = "0 < L, 0 < rho, 0 < epsilon"


# ---- Right sides of the paper ----------------------------------------------------------------------------------------
def numerator_of_8(rho: Any, gap: Any, first: Any) -> Any:
    """Numerator of Theorem 1's right side, for the gap f(thetabar^1) - f* and R_0 = ``first``; over T it is (8) without its epsilon."""
    return rho * gap + first


def geometric(r: Any, eta: Any, k: Any) -> Any:
    """sum_{j<k} eta (1 - eta r)^j."""
    return (1 - (1 - eta * r) ** k) / r


def allowed_apart(eta: Any, K: Any, L: Any, V: Any, M: Any, G: Any, S: Any) -> Any:
    """Right side of Lemma 6, (18), for ||theta^t - hat|| = V and ||lambda_i^t - hat|| = M; of Lemma 5, (17), with S = 0, for no sample exchanged."""
    return eta * K * L * V + eta * K * M + (2 * eta * K * G / S if S else 0)


def printed_chance(P: Any, tau: Any, C: Any, S: Any) -> Any:
    """What the proof of Lemma 4 bounds P(zeta^c) by."""
    return P * tau / (C * S)


CHANCE = formula(printed_chance, P="P", tau="tau", C="C", S="S")


def condition_on_x(x: Any, L: Any, rho: Any, k: Any) -> Any:
    """The quadratic in x = alpha rho that is to be >= 0, with k = eta K."""
    return L * x**2 - rho * x - (L + rho + 1 / k)


def gamma_grows(rest: int = 1) -> bool:
    """L x^2 - rho x - (L + rho + T (1 + x)/mu) = (1 + x)(L x - L - rho - T/mu), x = alpha rho = gamma - 1."""
    L, rho, T, mu, x = symbols("L rho T mu x", positive=True)
    square = condition_on_x(x, L, rho, mu / (rest * T * (1 + x)))
    return is_zero(square - (1 + x) * (L * x - L - rho - T / mu))


# ---- Facts of numbers ------------------------------------------------------------------------------------------------
def bernoulli_step(shift: int = 1) -> bool:
    """(1 - x)(1 - k x) = 1 - (k + 1) x + k x^2, so that (1 - x)^k >= 1 - k x on [0, 1] by induction."""
    x, k = symbols("x k", positive=True)
    return is_zero((1 - x) * (1 - k * x) - (1 - (k + shift) * x) - k * x**2)


def of_numbers(sentences: Iterable[str]) -> Theorem:
    """Sentences of numbers alone."""
    said = tuple(dict.fromkeys(sentences))
    return Theorem("", said, "\n".join(f"number_{k + 1}: claim {k + 1} by combine" for k in range(len(said))))


def rounded_to(value: str, printed: str) -> list[str]:
    """A number is printed as its value rounded to so many digits."""
    half = f"5/10**{len(printed.partition('.')[2]) + 1}"
    return [f"{printed} - {half} <= {value}", f"{value} <= {printed} + {half}"]

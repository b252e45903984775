"""Second moments of A-FedPD, FedDyn and FedADMM as printed, on quadratics with one curvature: f_i(x) = (a/2)||x - c_i||^2, exact solves unless said.

P of C clients are drawn uniformly each round. The moments obey a linear map (`problems.dual_drift.moment_map`), from which theorems are written;
what they say is proved of the library's methods. Factors of the mean square a round are theorems with numbers C, P and r = rho/a:

    M[T] <= K high^T M[0],        low^T M[0] <= K M[T],        M = a^2 E ||x||^2 + E mean ||d_i||^2,

for every a > 0, start and dimension: the factor of M is between ``low`` and ``high``. The proof has two sums of moments, W that falls at least by
``high`` and V that falls at most by ``low``, which are looked for in floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import PlayedStates, Theorem
from fedtheory.claims.statements.theorems.runs import run_on_equal_curvatures
from fedtheory.core.errors import require
from paper_checks.formulas import formula
from paper_checks.steps import Step
from problems.dual_drift import moment_map

# ---- The family ------------------------------------------------------------------------------------------------------
EVERY = "0 < a, 0 < rho, C in 2.., 1 <= P <= C"
TIED = "x - x_bar - lam/({rho})"
#: lambda_i^* = -grad f_i(x^*)
OPTIMAL = "a*(c_i - bar(c_i))"


@dataclass(frozen=True)
class Family:
    """A listed method on the family: its model less x^*, what a dual lacks, what every state keeps, and whether clients have one centre c."""

    method: str
    model: str
    dual: str
    ties: tuple[str, ...] = ()
    alike: bool = False

    def states(self, rho: str = "rho", clients: str = "n = C, s = P", local: str = "exact = true") -> PlayedStates:
        """Its rounds from any state."""
        ties, options = tuple(tie.format(rho=rho) for tie in self.ties), f"rho = {rho}, {local}"
        return run_on_equal_curvatures(
            self.method, options, curvature="a", clients=clients, ties=ties, alike=self.alike
        )

    @property
    def moments(self) -> dict[str, str]:
        """E ||x||^2, E <x, h>, E ||h||^2 and E s, with h the mean of d_i and s that of their squares."""
        return {
            "X": f"norm2({self.model})",
            "Y": f"dot({self.model}, bar({self.dual}))",
            "H": f"norm2(bar({self.dual}))",
            "S": f"mean(norm2({self.dual}))",
        }

    def quadratic(self, weights: Sequence[Any]) -> str:
        """A sum of moments, a^2, a, 1 and 1 times these."""
        scaled = zip(weights, ("*a**2", "*a", "", ""), self.moments.values(), strict=True)
        return " + ".join(f"({weight}){scale}*{moment}" for weight, scale, moment in scaled if weight)


FAMILIES = {
    "a-fedpd": Family("a-fedpd", "x_bar - bar(c_i)", f"mu_i - {OPTIMAL}", ("bar(mu_i)", TIED)),
    "feddyn": Family("feddyn", "x - bar(c_i)", f"lam_i - {OPTIMAL}"),
    "feddyn-printed": Family("feddyn-printed", "x - bar(c_i)", f"lam_i - {OPTIMAL}", ("lam - bar(lam_i)",)),
    "fedadmm": Family("fedadmm-active", "x - bar(c_i)", f"lam_i - {OPTIMAL}"),
    "equal feddyn": Family("feddyn", "x - c", "lam_i", alike=True),
    "equal a-fedpd": Family("a-fedpd", "x_bar - c", "mu_i", ("mu_i", TIED), alike=True),
    "equal fedadmm": Family("fedadmm-active", "x - c", "lam_i", alike=True),
}
GIVEN = {"rho": "rho", "C": "C", "P": "P", "a": "a"}


# ---- FedADMM as printed ----------------------------------------------------------------------------------------------
def noise_of_fedadmm(rho: Any, C: Any, P: Any, squares: Any, products: Any, a: Any = 1) -> tuple[Any, Any, Any, Any]:
    """What FedADMM as printed adds a round to (E x^2, E x h, E h^2, E s) besides its map: through the drawn mean of optimal duals.

    ``squares`` = mean (lambda_i^*)^2 and ``products`` = mean d_i lambda_i^*, which a round multiplies by `products_fall`.
    """
    b, v = rho / (a + rho), (C - P) / (P * (C - 1))
    return v * (squares + 2 * (1 - 2 * b) * products) / rho**2, -P / C * b * v * products / rho, 0 * rho, 0 * rho


def products_fall(rho: Any, C: Any, P: Any, a: Any = 1) -> Any:
    """Factor of mean d_i lambda_i^* a round."""
    return 1 - P / C * rho / (a + rho)


# ---- A-FedPD ---------------------------------------------------------------------------------------------------------
def gossip_rate(rho: Any, C: Any, P: Any, a: Any = 1) -> Any:
    """Factor of E s a round for A-FedPD: 1 - (1 - kappa^2)(P-1)/(C-1), kappa = a/(a + rho)."""
    return 1 - (1 - (a / (a + rho)) ** 2) * (P - 1) / (C - 1)


RATE = formula(gossip_rate, **GIVEN)
#: along any vector z
EQUAL = Theorem(
    EVERY,
    "m[T] == (rho/(a + rho))**T*m[0]",
    """
      step: m[t+1] == rho/(a + rho)*m[t]   by identity
      done: claim                          by induction T: base combine; step combine rho/(a + rho)*ih, step(t=T)
    """,
    states=FAMILIES["equal a-fedpd"].states(),
    rounds={"t": 0, "T": 0},
    quantities={"m": "dot(x_bar - c, z)"},
)


# ---- In numbers ------------------------------------------------------------------------------------------------------
def rational_matrix(rows: Any) -> Any:
    """Rows of fractions as SymPy's matrix of rationals."""
    sympy = require("sympy", "matrices of rationals")
    return sympy.Matrix(rows).applyfunc(lambda e: sympy.Rational(Fraction(e).numerator, Fraction(e).denominator))


def follow_moments(name: str, rho: float, C: int, P: int, start: Sequence[float], rounds: int) -> NDArray[np.float64]:
    """(E x^2, E x h, E h^2, E s) after 0..rounds rounds, ``(rounds + 1, 4)``."""
    matrix = np.array(moment_map(name, rho, C, P), dtype=float)
    found = [np.asarray(start, dtype=float)]
    for _ in range(rounds):
        found.append(matrix @ found[-1])
    return np.array(found)


# ---- Factors of the mean square a round ------------------------------------------------------------------------------
ABOVE = """
  up:    W[t+1] <= HIGH*W[t]     by derivation
  ups:   W[T] <= HIGH**T*W[0]    by induction T: base combine; step combine HIGH*ih, up(t=T)
  over:  M[t] <= K*W[t]          by derivation
  below: W[t] <= M[t]            by derivation
  upper: SAID                    by combine over(t=T), K*ups, K*HIGH**T*below(t=0)
"""
BELOW = """
  low:   LOW*V[t] <= V[t+1]      by derivation
  lows:  LOW**T*V[0] <= V[T]     by induction T: base combine; step combine LOW*ih, low(t=T)
  under: V[t] <= M[t]            by derivation
  start: BASE[0] <= K*V[0]       by derivation
  lower: SAID                    by combine LOW**T*start, K*lows, K*under(t=T)
"""


def _rounded(weights: NDArray[np.float64]) -> list[Fraction]:
    """Fractions of thirteen digits near multiples of these, with which a form is at most M."""
    size = np.abs(weights).sum() * np.sign(weights[[0, 3]].sum())
    return [Fraction(round(float(w / size) * 10**13), 10**13) for w in weights]


def _falling(matrix: NDArray[np.float64], high: float) -> list[Fraction]:
    """A form that a round lets fall by less than ``high``: M and what rounds make of it, each divided by a number between the factor and that."""
    between = (np.abs(np.linalg.eigvals(matrix)).max() + high) / 2
    return _rounded(np.linalg.solve(between * np.eye(4) - matrix.T, np.array([1.0, 0, 0, 1.0])))


def _kept(matrix: NDArray[np.float64]) -> list[Fraction]:
    """A form of which a round makes a multiple by the factor."""
    roots, forms = np.linalg.eig(matrix.T)
    return _rounded(np.real(forms[:, np.argmax(np.real(roots))]))


def _least(weights: Sequence[Fraction]) -> float:
    """The largest w with w M <= W."""
    x, y, h, s = map(float, weights)
    return float(min(np.linalg.eigvalsh([[x, y / 2], [y / 2, h + s]]).min(), s))


def factor(
    name: str,
    r: Fraction,
    C: int,
    P: int,
    low: Fraction | None = None,
    high: Fraction | None = None,
    left: Fraction = Fraction(0),
) -> Theorem:
    """The factor is at least and at most these, ``left`` of the way to local solutions is left, by one step.

    Where V has no part of x, or none of the duals, the lower bound has the other part's moment, S[0] or X[0], in the place of M[0].
    """
    family = FAMILIES[name]
    matrix = np.array(moment_map(name.removeprefix("equal "), r, C, P, 1, left), dtype=float)
    forms: dict[str, Sequence[Fraction]] = {"M": [Fraction(k) for k in (1, 0, 0, 1)]}
    claims, proof, sizes = list[str](), "", list[float]()
    if high is not None:
        forms["W"] = _falling(matrix, float(high))
        sizes.append(_least(forms["W"]))
        claims.append(f"M[T] <= K*({high})**T*M[0]")
        proof += ABOVE.replace("SAID", f"claim {len(claims)}").replace("HIGH", f"({high})")
    if low is not None:
        forms["V"] = _kept(matrix)
        held = {of: weight for of, weight in zip("XYHS", forms["V"], strict=True) if of in "XS" and weight}
        base = "M" if len(held) == 2 else next(iter(held))
        forms |= {base: [Fraction(base in (of, "M") and of in "XS") for of in "XYHS"]}
        sizes += map(float, held.values())
        claims.append(f"({low})**T*{base}[0] <= K*M[T]")
        proof += BELOW.replace("SAID", f"claim {len(claims)}").replace("LOW", f"({low})").replace("BASE", base)
    size = str(10 ** math.ceil(math.log10(1 / min(sizes)) + 0.1))
    local = f"steps = 1, lr = (1 - ({left}))/(a + ({r})*a)" if left else "exact = true"
    return Theorem(
        "0 < a",
        tuple(claim.replace("K", size) for claim in claims),
        proof.replace("K", size),
        states=family.states(f"({r})*a", f"n = {C}, s = {P}", local),
        rounds={"t": 0, "T": 0},
        quantities={of: family.quadratic(weights) for of, weights in forms.items()},
    )


def factor_between(name: str, r: str, P: int, low: str, high: str, left: str = "0") -> Step:
    """The factor of FedADMM as printed with equal clients, P of 100, is between these."""
    least, most = (Fraction(end) if end else None for end in (low, high))
    return Step(name, factor("equal fedadmm", Fraction(r), 100, P, least, most, Fraction(left)))

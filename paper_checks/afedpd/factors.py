"""Factors of the mean square a round, as theorems of the methods' own rounds with numbers C, P and r = rho/a, from the method's start:

    M[T] <= K high^T M[0],        low^T M[0] <= K M[T],        M = a^2 E ||x||^2 + E mean ||d_i||^2,

x the model less x^* and d_i what a dual lacks, for every a > 0, start and dimension: the factor of M is between ``low`` and ``high``. The proof has
two sums of second moments, W that falls at least by ``high`` and V that falls at most by ``low``. They are looked for in floats, by the map of the
moments (`problems.dual_drift.moment_map`), and what the theorem says is proved of them as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Theorem
from paper_checks.afedpd.moments import FAMILIES
from paper_checks.steps import Step
from problems.dual_drift import moment_map

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


def to_four_digits(name: str, r: str, C: int, P: int, value: str) -> Step:
    """The factor is this number, to half of its last digit."""
    half, near = Fraction(1, 20000), Fraction(value)
    shown = f"{name.removeprefix('equal ')}, rho = {r} a, P = {P}: {value}"
    return Step(shown, factor(name, Fraction(r), C, P, near - half, near + half))

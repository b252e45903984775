"""Skipping communication with equal curvatures (D4) and without A4 (D8)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims.claim import Fault, Finding
from fedtheory.claims.context import Context
from fedtheory.claims.parts import holds, proved
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import require
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.fedpd.common import A1, A2, HalfDualStep, claim, fractions, rational, total
from problems.quadratics import scalar_quadratics


def check_d4(ctx: Context, *, second: Any = 1) -> Iterator[Finding]:
    """One round from any state keeps the mean recursion, whatever the coin; ``second``: the second curvature over the others."""
    eta, a = symbols("eta a", positive=True)
    b1, b2, b3, l1, l2, y1, y2, now, before = symbols("b1 b2 b3 l1 l2 y1 y2 now before")
    problem = scalar_quadratics(np.array([a, second * a, a]), np.array([b1 / a, b2 / (second * a), b3 / a]))
    # a state whose means satisfy D3: mean lam = (now - before)/eta, mean x_{0,i} = 2 now - before; the rest is free
    lam = np.array([[l1], [l2], [3 * (now - before) / eta - l1 - l2]], dtype=object)
    copies = np.array([[y1], [y2], [3 * (2 * now - before) - y1 - y2]], dtype=object)
    state = FedPDState(x=copies.sum(axis=0, keepdims=True) / 3, x_i=copies, x0_i=copies, lam_i=lam, memory=None)
    kept = True
    for coin in (True, False):
        key: Any = ScriptedKey(1, {"communicate": coin})
        new = FedPD(eta, p=0.5).round(problem, state, None, key)
        mean = new.x_i.sum() / 3
        kept &= is_zero(mean - (now + eta * (b1 + b2 + b3) / 3) / (1 + eta * a))
        kept &= is_zero(new.lam_i.sum() / 3 - (mean - now) / eta)
        kept &= is_zero(new.x0_i.sum() / 3 - (2 * mean - now))
    yield proved(
        "mean recursion",
        kept,
        "with one curvature a the mean of x_i goes to (mean + eta bbar)/(1 + eta a) whether or not the round communicates, and the "
        "relations of D3 persist; they hold at the start with x^0 + eta grad f(x^0) for the mean: by induction the mean trajectory is that of "
        "implicit gradient descent for every p, and converges to x* (each eigendirection of A is such a scalar)",
    )


def compact_maps(h: Any, u: Fraction, algorithm: Any) -> tuple[Any, Any]:
    """The round on v_i = x_{0,i} - eta lam_i, communicating and skipping, as matrices of fractions (L = 1, exact solves)."""
    sympy = require("sympy", "closed forms")
    curvature = fractions([str(v) for v in h])
    problem = scalar_quadratics(curvature)
    method = algorithm(u, p=Fraction(1, 2))
    maps = []
    for coin in (True, False):
        key: Any = ScriptedKey(0, {"communicate": coin})
        columns = []
        for k in range(len(curvature)):
            v = fractions([[str(int(i == k))] for i in range(len(curvature))])
            state = FedPDState(v.sum(axis=0, keepdims=True) / len(curvature), v, v, 0 * v, None)
            new = method.round(problem, state, None, key)
            columns.append((new.x0_i - u * new.lam_i)[:, 0])
        maps.append(sympy.Matrix(np.array(columns, dtype=object).T.tolist()).applyfunc(sympy.nsimplify))
    return maps[0], maps[1]


def stable_exactly_below(h: Any, u: Fraction, stated: Fraction, digits: Fraction, algorithm: Any = FedPD) -> bool:
    """Show that E ||v||^2 goes to zero iff p < p*, with |p* - stated| <= digits, in exact arithmetic.

    The second moment moves by K(p) = (1-p) M kron M + p D kron D, which keeps the cone of semidefinite matrices, so its spectral radius is
    an eigenvalue and crosses one only where det(I - K(p)) = 0. At p = 0 the radius is that of M, squared, below one; it is at least p times
    that of D, squared, so above one for p > q = 1/radius(D)^2; and the polynomial has one root in (0, q].
    """
    sympy = require("sympy", "closed forms")
    p = symbols("p")
    M, D = compact_maps(h, u, algorithm)
    kron = sympy.kronecker_product
    polynomial = sympy.Poly(((sympy.eye(len(h) ** 2)) - (1 - p) * kron(M, M) - p * kron(D, D)).det(), p)
    trace, det = M.trace(), M.det()
    schur = abs(det) < 1 and abs(trace) < 1 + det  # Jury's conditions for two clients
    if not (schur and D.is_diagonal()):
        return False
    q = 1 / max(abs(value) for value in D.diagonal()) ** 2
    low, high = (sympy.Rational(stated + s * digits) for s in (-1, 1))
    return bool(
        compare(q, "<", 1)
        and compare(high, "<", q)
        and polynomial.count_roots(0, q) == 1
        and polynomial.count_roots(low, high) == 1
    )


#: (h_1, h_2), u, and p* to four digits
THRESHOLDS = ((("1", "-1/2"), "1/4", "0.6315"), (("1", "-9/10"), "3/10", "0.1472"), (("1", "-1/2"), "1/10", "0.8179"))


def check_d8(ctx: Context, *, shift: Any = 0, algorithm: Any = FedPD) -> Iterator[Finding]:
    """Thresholds in p from the exact second-moment recursion, and runs on both sides."""
    yield proved(
        "exact thresholds",
        all(
            stable_exactly_below(
                [Fraction(v) for v in h], Fraction(u), Fraction(p) + rational(shift), Fraction(1, 20_000), algorithm
            )
            for h, u, p in THRESHOLDS
        ),
        "det(I - K(p)) of the second-moment map K has one root before p radius(D)^2 = 1, within 0.00005 of the stated p (Sturm's count in "
        "fractions): "
        + "; ".join(f"h = ({', '.join(h)}), u = {u}, p* = {p}" for h, u, p in THRESHOLDS)
        + ". The radius, an eigenvalue because "
        "K keeps semidefinite matrices, is below one before it and above one behind it; A4 fails, for the gradients' difference is a multiple of "
        "x, and f is strongly convex",
        engine="exact",
    )
    chains, rounds = ctx.pick(2000, 20_000), 120
    ps = np.repeat([0.4, 0.8], chains)
    skips = ctx.rng().random((rounds, len(ps))) < ps
    method = algorithm(0.25, p=lambda r: along_batch(skips[r]))
    trace = total(scalar_quadratics([1.0, -0.5]), method, np.ones((len(ps), 1)), rounds)
    squares = trace["stationarity"].reshape(2, chains, -1).mean(axis=1)
    yield holds(
        "runs on both sides of 0.6315",
        squares[0, -1] < 1e-2 * squares[0, 0] and squares[1, -1] > 10 * squares[1, 0],
        "numeric",
        f"mean ||grad f||^2 after {rounds} rounds: {squares[0, -1]:.3g} at p = 0.4, {squares[1, -1]:.3g} at p = 0.8 (start {squares[0, 0]:.3g})",
    )


CLAIMS = [
    claim(
        "FEDPD-D4",
        "identity",
        "skipping with equal curvatures",
        "If all f_i have the same Hessian, the mean trajectory does not depend on p and converges to x* for every p, however "
        "large G is.",
        check_d4,
        Fault("curvatures differ by a hundredth", "mean recursion", {"second": Fraction(101, 100)}),
        assumes=("f_i quadratic with one positive definite Hessian", "exact local solves"),
    ),
    claim(
        "FEDPD-D8",
        "divergence",
        "why Theorem 3 needs A4",
        "Without A4 skipping can destroy convergence although f is strongly convex: on h = (1, -0.5), u = 0.25 FedPD is mean-square "
        "stable iff p < p*, p* = 0.6315 to four digits.",
        check_d8,
        Fault("threshold shifted by 0.0002", "exact thresholds", {"shift": "2/10000"}),
        Fault("half a dual step", "exact thresholds", {"algorithm": HalfDualStep}),
        assumes=(A1, A2, "A4 fails", "exact local solves"),
    ),
]

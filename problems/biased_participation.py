"""Two clients of which only the first ever takes part: SAFARI's counterexamples to its Theorems 4 and 5.

On f_1 = (lam/2)(x - a)^2, f_2 = (lam/2)(x + a)^2 the average is F = (lam/2) x^2 + const with minimiser 0, L = mu = lam and
||f_i' - F'|| = lam a everywhere, so every assumption of both theorems holds with equality. A round of SAFARI is one of two affine
maps,

    server: x <- s x,  s = 1 - lam eta_s;      client: x <- w x + (1 - w) a,  w = (1 - lam eta_c)^K,

chosen by a coin, so that all moments of x^r obey linear recursions and no simulation is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from fedtheory.core.participation import Fixed
from fedtheory.core.problem import Pooled
from problems.quadratics import scalar_quadratics
from problems.server import ServerAssisted

#: who takes part: client 0, for ever
FIRST_ONLY = Fixed((0,))


def one_sided_pair(a: Any = 1.0, curvature: Any = 1.0) -> ServerAssisted:
    """Return the pair with a server that knows F: floats, fractions or symbols.

    Theorem 4's counterexample has curvature 1, Theorem 5's curvature 1000 (SAFARI-T4 and SAFARI-T5).
    """
    clients = scalar_quadratics([curvature, curvature], [a, -a], name=f"one-sided pair (a={a}, curvature={curvature})")
    return ServerAssisted(clients, Pooled(clients))


def round_maps(eta_c: Any, eta_s: Any, steps: int, a: Any = 1, curvature: Any = 1) -> tuple[Any, Any, Any]:
    """Return (s, w, b): a server round maps x to s x, a client round to w x + b."""
    w = (1 - curvature * eta_c) ** steps
    return 1 - curvature * eta_s, w, (1 - w) * a


def moments(
    q: Any,
    eta_c: Any,
    eta_s: Any,
    steps: int,
    rounds: int,
    x0: Any,
    a: Any = 1,
    curvature: Any = 1,
    tidy: Callable[[Any], Any] = lambda moment: moment,
) -> tuple[list[Any], list[Any]]:
    """E x^r and E (x^r)^2 for r = 0, ..., rounds; exact in fractions.

    E (x^{r+1})^2 = (1-q) s^2 E (x^r)^2 + q (w^2 E (x^r)^2 + 2 w b E x^r + b^2), and F' = curvature * x.

    ``tidy`` is applied to each moment of each round, such as `round_down`: where s, w, b and x0 are not negative no coefficient is, so that
    what comes out bounds the moments from below.
    """
    s, w, b = round_maps(eta_c, eta_s, steps, a, curvature)
    one, two = x0, x0 * x0
    first, second = [one], [two]
    for _ in range(rounds):
        two = tidy((1 - q) * s * s * two + q * (w * w * two + 2 * w * b * one + b * b))
        one = tidy((1 - q) * s * one + q * (w * one + b))
        first.append(one)
        second.append(two)
    return first, second


def round_down(moment: Fraction) -> Fraction:
    """Return the largest multiple of 2^-100 that is not above: for `moments` over many rounds, whose fractions grow."""
    return Fraction((moment.numerator << 100) // moment.denominator, 1 << 100)


def mean_limit(q: Any, eta_c: Any, eta_s: Any, steps: int, a: Any = 1, curvature: Any = 1) -> Any:
    """Return lim E x^r = q b / (1 - (1-q) s - q w); for small steps q rho a / (1 - q + q rho), rho = K eta_c / eta_s."""
    s, w, b = round_maps(eta_c, eta_s, steps, a, curvature)
    return q * b / (1 - (1 - q) * s - q * w)

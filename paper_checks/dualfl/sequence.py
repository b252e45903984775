"""The inertia of equation (5): t_0 = 1, t_{n+1}, beta_n. Its identities are facts that the proofs of rates rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.momentum import beta
from fedtheory.claims import Claim, Context, Fault, Finding
from fedtheory.claims.parts import equal, proved
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols

HALF = Fraction(1, 2)


def printed_t(t: Any, rho: Any) -> Any:
    """t_{n+1} of (5) from t = t_n."""
    rest = 1 - rho * t**2
    return (rest + (rest**2 + 4 * t**2) ** HALF) / 2


def equation_of_t() -> bool:
    """t_{n+1} (t_{n+1} - 1) = t_n^2 (1 - rho t_{n+1})."""
    t, rho = symbols("t rho", positive=True)
    new = printed_t(t, rho)
    return is_zero(new * (new - 1) - t**2 * (1 - rho * new))


def growth_without_modulus() -> bool:
    """For rho = 0: (2 t_{n+1} - 1)^2 = 1 + 4 t_n^2, which lies between (2 t_n)^2 and (2 t_n + 1)^2, so that (n+2)/2 <= t_n <= n + 1."""
    t = symbols("t", positive=True)
    square = (2 * printed_t(t, 0) - 1) ** 2
    return is_zero(square - 1 - 4 * t**2) and is_positive(((2 * t + 1) ** 2 - (1 + 4 * t**2)).expand())


def limits_with_modulus() -> bool:
    """Signs of h(x) = x^2 - x (1 - rho t^2) - t^2, whose positive root is t_{n+1}.

    h(t) < 0 and h(1/r) > 0 for rho = r^2 and t < 1/r, and h(s) > 0 where s (s - 1) = (t + e)^2, which is the sequence
    with rho = 0. Here r = 1/(1 + a), t = 1/(r (1 + b)).
    """
    a, b, e, s = symbols("a b e s", positive=True)
    r = 1 / (1 + a)
    t = 1 / (r * (1 + b))

    def h(x: Any) -> Any:
        return x**2 - x * (1 - r**2 * t**2) - t**2

    rises, stays = is_positive((-h(t)).factor()), is_positive(h(1 / r).factor())
    root_of_plain = h(s) - s * (s - 1) + (t + e) ** 2
    return rises and stays and is_positive(root_of_plain.expand().factor())


def check_sequence(ctx: Context, *, sequence: Callable[[Any, int], Any] = beta, limit: int = 1) -> Iterator[Finding]:
    """(5) as printed against the sequence of the library, and what the proofs use of it."""
    rho, r, t = symbols("rho r t", positive=True)
    ours, printed = [], []
    for modulus in (0.0, 1e-4, 0.01, 0.3):
        now = 1.0
        for n in range(60):
            new = printed_t(now, modulus)
            printed.append((now - 1) / new * (1 - new * modulus) / (1 - modulus))
            ours.append(float(sequence(modulus, n)))
            now = new
    yield equal(
        "the sequence", ours, printed, "numeric", "what the methods use is (5): sixty rounds of four rho", rtol=1e-12
    )
    yield proved(
        "equation",
        equation_of_t(),
        "t_{n+1} is the positive root of x^2 - x (1 - rho t_n^2) - t_n^2, which is the equation",
    )
    yield proved(
        "limits",
        growth_without_modulus() and limits_with_modulus(),
        "for rho = r^2 > 0 the root lies between t_n and 1/r, so that t_n rises, and its limit solves x (x - 1) = x^2 "
        "(1 - rho x), which is 1/r; for rho = 0, t_{n+1} >= t_n + 1/2",
    )
    at_limit = ((t - 1) / t * (1 - t * rho) / (1 - rho)).subs(t, 1 / r).subs(rho, r**2)
    yield proved(
        "limit of beta",
        is_zero(at_limit - (1 - r) / (1 + r) ** limit),
        "beta_n at t_n = t_{n+1} = 1/sqrt(rho) is (1 - sqrt(rho))/(1 + sqrt(rho))",
    )


CLAIMS: list[Claim] = [
    Claim(
        "DUALFL-T-SEQ",
        "dualfl",
        "identity",
        "equation (5)",
        "t_{n+1} (t_{n+1} - 1) = t_n^2 (1 - rho t_{n+1}); t_n rises to 1/sqrt(rho), or without bound for rho = 0; beta_0 = 0 and "
        "beta_n -> (1 - sqrt(rho))/(1 + sqrt(rho)).",
        check_sequence,
        (
            Fault("the inertia of the round after", "the sequence", {"sequence": lambda rho, n: beta(rho, n + 1)}),
            Fault("a modulus 2 % off", "the sequence", {"sequence": lambda rho, n: beta(1.02 * rho, n)}),
            Fault("another limit of beta", "limit of beta", {"limit": 2}),
        ),
        assumptions=("0 <= rho < 1",),
    )
]

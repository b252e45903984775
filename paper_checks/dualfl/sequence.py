"""The inertia of equation (5): t_0 = 1, t_{n+1}, beta_n. Its identities are what the proofs of rates rest on; T stands for t_{n+1}, t for t_n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from fedtheory.algorithms.momentum import beta
from fedtheory.claims import Claim, Context, Fault, Finding
from fedtheory.claims.parts import equal
from fedtheory.claims.protocol import Clause
from paper_checks.dualfl.common import claim
from paper_checks.steps import Conclusion

EQUATION = "T*(T - 1) == t**2*(1 - rho*T) where T = (1 - rho*t**2 + sqrt((1 - rho*t**2)**2 + 4*t**2))/2"
#: for rho = 0, (2 T - 1)^2 lies between (2 t)^2 and (2 t + 1)^2, so that (n+2)/2 <= t_n <= n + 1
GROWTH = ("(2*T - 1)**2 == 1 + 4*t**2 where T = (1 + sqrt(1 + 4*t**2))/2", "(2*t + 1)**2 > 1 + 4*t**2")
_INSIDE = "where t = 1/(r*(1 + b)), r = 1/(1 + a)"  # t < 1/r and r < 1
#: signs of h(x) = x^2 - x (1 - rho t^2) - t^2, rho = r^2, whose positive root is T: h(t) < 0 < h(1/r), and h(s) > 0 where s (s - 1) = (t + e)^2,
#: which is the sequence with rho = 0
LIMITS = (
    f"0 > t**2 - t*(1 - r**2*t**2) - t**2 {_INSIDE}",
    f"1/r**2 - (1 - r**2*t**2)/r > t**2 {_INSIDE}",
    f"s**2 - s*(1 - r**2*t**2) - t**2 > s*(s - 1) - (t + e)**2 {_INSIDE}",
)
#: what proofs use of it, without and with a modulus; the last divides by the products of 1 - rho t, where u stands for t_{n-1}^2
WITHOUT_MODULUS = (EQUATION, *GROWTH)
WITH_MODULUS = (EQUATION, *LIMITS, "t**2*(1 - 1/t)/u == 1 - rho*t where u = t*(t - 1)/(1 - rho*t)")


def printed_t(t: Any, rho: Any) -> Any:
    """t_{n+1} of (5) from t = t_n."""
    rest = 1 - rho * t**2
    return (rest + (rest**2 + 4 * t**2) ** Fraction(1, 2)) / 2


def sixty_rounds(ctx: Context, *, sequence: Callable[[Any, int], Any] = beta) -> Iterator[Finding]:
    """(5) as printed against the sequence of the library."""
    ours, printed = [], []
    for modulus in (0.0, 1e-4, 0.01, 0.3):
        now = 1.0
        for n in range(60):
            new = printed_t(now, modulus)
            printed.append((now - 1) / new * (1 - new * modulus) / (1 - modulus))
            ours.append(float(sequence(modulus, n)))
            now = new
    text = "what the methods use is (5): sixty rounds of four rho"
    yield equal("the sequence", ours, printed, "numeric", text, rtol=1e-12)


AT_LIMIT = "(t - 1)/t*(1 - t*rho)/(1 - rho) == (1 - r)/(1 + r){} where t = 1/r, rho = r**2"
#: 1 > (t - 1)/T >= 1 - 2/(t + 1) for rho = 0, where t < T < t + 1
WITHOUT = (*GROWTH, "(t - 1)/(t + 1) == 1 - 2/(t + 1)")
FIRST = "(t - 1)/T*(1 - T*rho)/(1 - rho) == 0 where t = {}"
#: at a limit x > 0 of t_n the equation says r^2 x^2 = 1
FIXED = "x*(x - 1) - x**2*(1 - r**2*x) == x*(r**2*x**2 - 1)"
CLAIMS: list[Claim] = [
    claim(
        "DUALFL-T-SEQ",
        "equation (5)",
        [
            Clause("t_{n+1} (t_{n+1} - 1) = t_n^2 (1 - rho t_{n+1});", ("equation",)),
            Clause("t_n rises to 1/sqrt(rho), or without bound for rho = 0;", ("limits",)),
            Clause("beta_0 = 0;", ("first beta",)),
            Clause("beta_n -> (1 - sqrt(rho))/(1 + sqrt(rho)) for rho > 0,", ("limit of beta, rho > 0",)),
            Clause("and beta_n -> 1 for rho = 0.", ("limit of beta, rho = 0",)),
        ],
        conclusions=[
            Conclusion(
                "equation",
                "t_{n+1} is the positive root of x^2 - x (1 - rho t_n^2) - t_n^2, which is the equation",
                confirmed=[EQUATION],
            ),
            Conclusion(
                "limits",
                "for rho = r^2 > 0 the root lies between t_n and 1/r, so that t_n rises, and its limit solves x (x - 1) = x^2 "
                "(1 - rho x), which is 1/r; for rho = 0, t_{n+1} >= t_n + 1/2",
                confirmed=(*GROWTH, *LIMITS, FIXED),
            ),
            Conclusion(
                "first beta",
                "t_0 = 1 makes beta_0 = 0",
                confirmed=[FIRST.format(1)],
                wrong={"t_0 = 2": [FIRST.format(2)]},
            ),
            Conclusion(
                "limit of beta, rho = 0",
                "beta_n = (t_n - 1)/t_{n+1} with t_n < t_{n+1} < t_n + 1 lies between 1 - 2/(t_n + 1) and 1, and t_n grows without bound",
                ("limits",),
                confirmed=WITHOUT,
                wrong={"a limit of 49/50": (*GROWTH, "(t - 1)/(t + 1) == 49/50 - 2/(t + 1)")},
            ),
            Conclusion(
                "limit of beta, rho > 0",
                "beta_n at t_n = t_{n+1} = 1/sqrt(rho) is (1 - sqrt(rho))/(1 + sqrt(rho))",
                confirmed=[AT_LIMIT.format("")],
                wrong={"another limit of beta": [AT_LIMIT.format("**2")]},
            ),
        ],
        assumptions=["0 <= rho < 1"],
        kind="identity",
        besides=sixty_rounds,
        faults=(
            Fault("the inertia of the round after", "the sequence", {"sequence": lambda rho, n: beta(rho, n + 1)}),
            Fault("a modulus 2 % off", "the sequence", {"sequence": lambda rho, n: beta(1.02 * rho, n)}),
        ),
    ),
]

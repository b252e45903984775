"""The inertia of equation (5): t_0 = 1, t_{n+1}, beta_n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fedtheory.algorithms.momentum import beta
from fedtheory.claims import Claim, Context, Fault, Finding
from fedtheory.claims.parts import equal
from fedtheory.claims.protocol import Clause
from paper_checks.dualfl import inertia
from paper_checks.dualfl.common import claim
from paper_checks.dualfl.inertia import printed_beta, printed_t
from paper_checks.steps import Step


def sixty_rounds(ctx: Context, *, sequence: Callable[[Any, int], Any] = beta) -> Iterator[Finding]:
    """(5) as printed against the sequence of the library."""
    ours, printed = [], []
    for modulus in (0.0, 1e-4, 0.01, 0.3):
        now = 1.0
        for n in range(60):
            new = printed_t(now, modulus)
            printed.append(printed_beta(now, new, modulus))
            ours.append(float(sequence(modulus, n)))
            now = new
    text = "what the methods use is (5): sixty rounds of four rho"
    yield equal("the sequence", ours, printed, "numeric", text, rtol=1e-12)


CLAIMS: list[Claim] = [
    claim(
        "DUALFL-T-SEQ",
        "equation (5)",
        [
            Clause("t_{n+1} (t_{n+1} - 1) = t_n^2 (1 - rho t_{n+1});", ("rho > 0", "rho = 0")),
            Clause("1 <= t_n, and t_n <= 1/sqrt(rho) for rho = r^2 > 0;", ("range, rho > 0", "range, rho = 0")),
            Clause("t_n rises to 1/sqrt(rho), or without bound for rho = 0;", ("rho > 0", "rho = 0")),
            Clause("beta_0 = 0;", ("rho > 0", "rho = 0")),
            Clause("beta_n -> (1 - sqrt(rho))/(1 + sqrt(rho)) for rho > 0,", ("rho > 0",)),
            Clause("and beta_n -> 1 for rho = 0.", ("rho = 0",)),
        ],
        [
            Step("range, rho > 0", inertia.RANGE),
            Step("range, rho = 0", inertia.RANGE_PLAIN),
            Step("rho > 0", inertia.LIMITS),
            Step("rho = 0", inertia.GROWTH),
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

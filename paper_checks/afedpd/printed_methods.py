"""Equations (6) and (7) as they are printed: the weight of FedADMM's proximal step, and the dual that FedDyn's server adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from fedtheory.algorithms import FedDyn
from fedtheory.claims import Claim, Context, Equivalence, Finding, Lemma, Table, bar, dot, norm2, state
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.afedpd.factors import to_four_digits
from paper_checks.afedpd.moment_pictures import FAMILY, draw_server_duals
from paper_checks.afedpd.structure import is_fedpd_of_all
from paper_checks.afedpd.theory import PAPER, derived
from problems.dual_drift import drift_radius


def server_minimises(weight: Callable[[Any], Any]) -> Callable[[World, Parameters, LemmaConstants], Any]:
    """argmin g(theta) + (weight/2) ||theta - thetabar^{t+1}||^2 against any y, in mean_P [<lambda_i, theta_i - theta> + (rho/2) ||.||^2] + g(theta).

    thetabar^{t+1} = mean_P (theta_i + lambda_i/rho), the means over the active clients; g is convex, with the subgradient s there.
    """

    def build(w: World, p: Parameters, c: LemmaConstants) -> Any:
        g = w.function(None, 0, name="g")
        theta_i, lam_i = w.vector("theta_i", True), w.vector("lambda_i", True)
        s, y = w.vector("s"), w.vector("y")
        reached = bar(theta_i + lam_i / p.rho) - s * (c.c / weight(p.rho))
        (_, value), (_, other) = w.at(g, reached, "theta", g=s), w.at(g, y, "g at y")

        def lagrangian(theta: Any) -> Any:
            return dot(lam_i, theta_i - theta) + norm2(theta_i - theta) * (p.rho / 2)

        return value + lagrangian(reached) - other - lagrangian(y)

    return build


def server_step(name: str, weight: Callable[[Any], Any], units: str = "") -> Lemma:
    """The server's step with this weight minimises the augmented Lagrangian with g."""
    return Lemma(name, "Eq. (6), last line", "0 < rho", server_minimises(weight), {"c": 1}, units=units)


WEIGHT_PRINTED = server_step("weight 1/rho", lambda rho: 1 / rho, "as printed")
WEIGHT = server_step("weight rho", lambda rho: rho)


#: for C = 100: rho/a and P, the factors of FedDyn, and of Eq. (7) as printed, a round
RADII = {
    ("1/20", 20): ("0.9814", "0.9814"),
    ("1", 50): ("0.6256", "0.6259"),
    ("10", 20): ("0.8276", "0.8082"),
    ("1/20", 100): ("0.9070", "0.9524"),
    ("1", 100): ("0.2500", "0.5000"),
}


def _instead(rho: str, P: int) -> str:
    own, printed = RADII[rho, P]
    return f"{printed} for {own}"


def radii(context: Context) -> Iterator[Finding]:
    """The factors in floats."""
    names = ("feddyn", "feddyn-printed")
    rows = [
        [f"rho = {rho} a, P = {P}", *(drift_radius(name, float(Fraction(rho)), 100, P) for name in names)]
        for rho, P in RADII
    ]
    yield Table("Mean-square factor a round, C = 100", ["", "FedDyn", "Eq. (7) as printed"], rows)


CLAIMS: list[Claim] = [
    state(
        "AFEDPD-EQ6",
        PAPER,
        "Section 3.2, Eq. (6)",
        "FedADMM's server minimises the augmented Lagrangian with g: theta^{t+1} = argmin g(theta) + (1/(2 rho)) ||theta - thetabar^{t+1}||^2.",
        WEIGHT_PRINTED,
        repaired=WEIGHT,
        repaired_text="(rho/2) for 1/(2 rho), for every convex g and rho > 0; without g both are one.",
        assumptions=("the means of the augmented Lagrangian are over the active clients, as thetabar^{t+1} is",),
    ),
    state(
        "AFEDPD-EQ7",
        PAPER,
        "Section 3.2, Eq. (7)",
        "FedDyn's server (Acar et al.) has theta^{t+1} = (1/P) sum_active theta_i^{t+1} + lambda^t/rho.",
        Equivalence(
            "feddyn-printed", "feddyn", "rho, exact = true", "rho, exact = true", region="0 < rho", states={"x": "x"}
        ),
        repaired=is_fedpd_of_all(FedDyn, {"lam_i": "lam_i", "lam": "mean_lam_i"}, 1),
        repaired_text="lambda^{t+1} for lambda^t; then FedDyn with all clients is FedPD, Eq. (5), from zero duals.",
    ),
    derived(
        "AFEDPD-EQ7-RATE",
        "Eq. (7) as printed",
        "With lambda^t the mean-square factor a round of FedDyn on equal quadratics, C = 100, is larger with all clients "
        f"({_instead('1/20', 100)} at rho = a/20, {_instead('1', 100)} at rho = a), about the same with P = 20 at rho = a/20 and P = 50 at rho = a, "
        f"and smaller with P = 20 at rho = 10 a ({_instead('10', 20)}).",
        [
            to_four_digits(name, rho, 100, P, value)
            for (rho, P), told in RADII.items()
            for name, value in zip(("feddyn", "feddyn-printed"), told, strict=True)
        ],
        assumptions=[FAMILY],
        besides=radii,
        picture=lambda context: draw_server_duals(),
        kind="rate",
    ),
]

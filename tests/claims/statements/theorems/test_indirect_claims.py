"""Claims on lengths, and on the rounds that an accuracy takes: found by way of a claim that a potential proves, and refuted where they are false."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fedtheory.claims import MethodStates, Theorem
from fedtheory.claims.statements.theorems.proving import prove_theorem, verify_term
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, Guarded, refute_theorem, replay_claim
from fedtheory.claims.statements.theorems.tight_points import list_tight_points

QUANTITIES = {"d": "norm2(x - x_star)", "gap": "f(x) - f(x_star)", "g": "norm2(grad(f, x))", "F": "f(x)"}
STRONG, CONVEX, SMOOTH = ("L, mu", "0 < mu < L"), ("L, mu = 0", "0 < L"), ("L, mu = -L", "0 < L")


def descent(kind: tuple[str, str], claim: str, more: str = "", *, options: str = "lr = 1/L", **given: str) -> Theorem:
    """Gradient descent, with so much given."""
    functions, region = kind
    spoken = {
        name: text for name, text in QUANTITIES.items() if any(f"{name}[" in said for said in (claim, *given.values()))
    }
    return Theorem(
        region=f"{region}{more}",
        states=MethodStates("gd", options, functions),
        rounds={"N": 1 if kind is CONVEX else 0, "t": 0},
        quantities=spoken,
        claim=claim,
        given=given,
    )


TRUE = {
    "a length": descent(STRONG, "sqrt(d[N]) <= (1 - mu/L)**N*sqrt(d[0])"),
    "a length and a radius": descent(STRONG, "sqrt(d[N]) <= (1 - mu/L)**N*R", ", 0 < R", start="d[0] <= R**2"),
    "the larger of two rates": descent(
        STRONG,
        "sqrt(d[N]) <= max(abs(1 - lr*mu), abs(1 - lr*L))**N*sqrt(d[0])",
        ", 0 < lr < 2/L",
        options="lr",
    ),
    "lengths of two kinds": descent(CONVEX, "sqrt(g[N]) <= L*sqrt(d[0])/(N + 1)"),
    "an accuracy": descent(STRONG, "d[N] <= e", ", 0 < e, 0 < D", start="d[0] <= D", long="N >= L/(2*mu)*log(D/e)"),
    "a share of the start": descent(STRONG, "gap[N] <= e*gap[0]", ", 0 < e < 1", long="N >= L/mu*log(1/e)"),
    "an accuracy of a length": descent(
        STRONG, "sqrt(d[N]) <= e", ", 0 < e, 0 < R", start="d[0] <= R**2", long="N >= L/mu*log(R/e)"
    ),
    "an accuracy like 1/N": descent(
        CONVEX, "gap[N] <= e", ", 0 < e, 0 < R", start="d[0] <= R**2", long="N >= L*R**2/(2*e)"
    ),
    "an accuracy of some round": descent(
        SMOOTH,
        "exists t in 0..N: g[t] <= e",
        ", 0 < e, 0 < D, 0 <= low",
        bounded="low <= F[t]",
        start="F[0] - low <= D",
        long="N + 1 >= 2*L*D/e",
    ),
}
FALSE = {
    "a length": "sqrt(d[N]) <= (1 - 1.1*mu/L)**N*sqrt(d[0])",
    "lengths of two kinds": "sqrt(g[N]) <= L*sqrt(d[0])/(2*N + 1)",
}


@pytest.mark.parametrize("name", TRUE)
def test_a_claim_is_found_by_way_of_another(name: str) -> None:
    theorem = TRUE[name]
    proof = prove_theorem(theorem)
    assert verify_term(theorem, proof.data).claims == theorem.claims
    assert any(line.startswith("reached: ") for line in proof.proved.lines)


def test_the_smaller_of_two_bounds_is_two_claims() -> None:
    theorem = descent(STRONG, "d[N] <= min(d[0], (1 - mu/L)**N*d[0])")
    assert len(theorem.claims) == 2
    proof = prove_theorem(theorem)
    assert verify_term(theorem, proof.data).claims == theorem.claims
    assert isinstance(refute_theorem(theorem.with_claim("d[N] <= min(d[0], (1 - mu/L)**(3*N)*d[0])")), BrokenClaim)
    some = descent(STRONG, "exists t in 0..N: g[t] <= min(L**2*d[0], 2*L*gap[0])")
    assert len(some.claims) == 1, "it is one round in which both are so"


def test_the_accelerated_method_s_rounds_to_an_accuracy() -> None:
    theorem = Theorem(
        region="0 < L, 0 < e, 0 < R",
        states=MethodStates("agd", "lr = 1/L", "L, mu = 0"),
        rounds={"N": 1},
        quantities={name: QUANTITIES[name] for name in ("d", "gap")},
        claim="gap[N] <= e",
        given={"start": "d[0] <= R**2", "long": "N >= sqrt(2*L/e)*R"},
    )
    assert verify_term(theorem, prove_theorem(theorem).data).claims == theorem.claims


@pytest.mark.parametrize("name", FALSE)
def test_a_smaller_length_is_refuted(name: str) -> None:
    assert isinstance(refute_theorem(TRUE[name].with_claim(FALSE[name])), BrokenClaim)


@pytest.mark.parametrize(
    ("claim", "long"),
    [
        ("d[N] <= e", "N >= L/(3*mu)*log(D/e)"),
        ("d[N] <= e", "N >= L/(2*mu)*log(D/e) - 1"),
        ("sqrt(d[N]) <= e", "N >= L/(2*mu)*log(sqrt(D)/e)"),
    ],
)
def test_too_few_rounds_for_an_accuracy_are_refuted(claim: str, long: str) -> None:
    """Only where as few rounds are taken as the hypothesis allows the claim fails."""
    theorem = descent(STRONG, claim, ", 0 < e, 0 < D", start="d[0] <= D", long=long)
    broken = refute_theorem(theorem)
    assert isinstance(broken, BrokenClaim) and replay_claim(theorem, broken) > 0


def test_a_solvers_residual_is_no_failure() -> None:
    """Where mu is near L the solver's value is above zero by less than its residuals move it."""
    at = [{"mu": scale, "L": scale * Fraction(401, 400)} for scale in (Fraction(1, 400), Fraction(1), Fraction(400))]
    half = descent(STRONG, "sqrt(d[N]) <= (1 - mu/(2*L))**N*sqrt(d[0])", options="lr = 1/(2*L)")
    looked = refute_theorem(half, at=at)
    assert isinstance(looked, Guarded) and not looked.suspected


def test_a_tight_point_just_meets_the_hypothesis() -> None:
    theorem = TRUE["an accuracy like 1/N"]
    point = {"L": Fraction(2), "e": Fraction(7), "R": Fraction(3)}
    _, tight = list_tight_points(theorem, theorem.sentences[0], {"N": 2}, point)
    assert Fraction(9, 2) <= tight["e"] < Fraction(91, 20) and {**tight, "e": 7} == point

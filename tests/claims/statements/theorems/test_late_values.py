"""Values of f at points that depend on who takes part or on noise: what the class says of them in expectation proves, and runs refute."""

from __future__ import annotations

import pytest
from theorems import parts_of

from fedtheory.claims.claim import Part
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.proving import ProvedTheorem, verify_term
from fedtheory.claims.statements.theorems.rebuilding import verify_states
from fedtheory.claims.statements.theorems.refuting import Guarded, refute_theorem
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.conditions import AFTER_DRAWS

QUANTITIES = {
    "F": "f(x)",
    "V": "f(x) - f_inf",
    "gap": "f(x) - f(x_star)",
    "g": "norm2(grad(f, x))",
    "w": "mean(norm2(grad(f_i, x) - grad(f, x)))",
}
DRAWN = "n in 2.., 1 <= s <= n, 0 < lr <= 1/L"
#: E ||x^{t+1} - x^t||^2 = lr^2 (g + VARIANCE w) for s of n clients without replacement
VARIANCE = "(n - s)/(s*(n - 1))"
DESCENT = f"F[t+1] <= F[t] - lr*(1 - L*lr/2)*g[t] + L*lr**2/2*{VARIANCE}*w[t]"


def part_of(theorem: Theorem) -> Part:
    """What is said of the statement."""
    return next(one for one in parts_of(theorem) if isinstance(one, Part))


def stated(claim: str, region: str = f"0 < L, {DRAWN}", functions: str = "L, mu = -L", **more: object) -> Theorem:
    """A theorem about FedAvg with one local step of s of n clients."""
    rounds = {name: 0 for name in "Nt" if f"[{name}" in claim or f"..{name}" in claim}
    options = "lr, steps = 1" + (", batch = 1" if "sigma" in functions else "")
    assumed = {"noise": "unbiased and independent"} if "sigma" in functions else {}
    spoken = {name: text for name, text in QUANTITIES.items() if f"{name}[" in f"{claim} {more}"}
    states = MethodStates("fedavg", options, functions, clients="n, s")
    return Theorem(region=region, states=states, rounds=rounds, quantities=spoken, claim=claim, assumed=assumed, **more)


@pytest.mark.parametrize(
    "theorem",
    [
        stated(DESCENT),
        stated(DESCENT.replace("<= F", ">= F").replace("L*lr", "mu*lr"), f"0 < mu < L, {DRAWN}", "L, mu"),
        stated(
            DESCENT.replace("*w[t]", "*w[t] + L*lr**2/2*sigma**2/s"), f"0 < sigma, 0 < L, {DRAWN}", "L, mu = -L, sigma"
        ),
    ],
    ids=["above", "below", "with noise"],
)
def test_the_descent_lemma_of_drawn_clients_is_proved(theorem: Theorem) -> None:
    part = part_of(theorem)
    assert part.holds and part.text.startswith("a proof of 1 line")


@pytest.mark.parametrize(
    "claim",
    [
        DESCENT.replace("*w[t]", "*w[t]*0.99"),
        DESCENT.replace("1 - L*lr/2", "1 - L*lr/2.02"),
        "F[t+1] <= F[t]",
        "gap[N] <= (1 - lr*m)**N*gap[0]",
    ],
)
def test_what_is_a_little_stronger_is_refuted_by_a_run(claim: str) -> None:
    """The descent lemma is an equality where all curvatures are L; and from where f is stationary draws increase it."""
    theorem = stated(claim, f"0 < m < L, {DRAWN}", "L, mu = m" if "m)" in claim else "L, mu = -L")
    part = part_of(theorem)
    assert part.holds is False
    assert part.counterexample.replay.violated


NONCONVEX = f"exists t in 0..N: g[t] <= 2*V[0]/(lr*(N+1)) + L*lr*zeta**2*{VARIANCE}"
UNLIKE = {"unlike": "w[t] <= zeta**2", "below": "0 <= V[t]"}


def test_the_rate_of_drawn_clients_is_found_for_functions_that_are_not_convex() -> None:
    theorem = stated(NONCONVEX, f"0 < zeta, 0 <= f_inf, 0 < L, {DRAWN}", given=UNLIKE)
    proof = find_proof(theorem)
    assert isinstance(proof, ProvedTheorem)
    verify_term(theorem, proof.data)
    assert AFTER_DRAWS in proof.data["assumed"]


def test_a_term_about_drawn_clients_is_traced_again() -> None:
    proof = find_proof(stated(DESCENT))
    assert isinstance(proof, ProvedTheorem)
    assert verify_states(proof.data)
    other = {**proof.data, "states": proof.data["states"].replace("n, s", "n, s = 1")}
    with pytest.raises(Refused):
        verify_states(other)


@pytest.mark.parametrize(("twice", "half", "holds"), [("2*V", "V", False), ("L*lr*zeta", "L*lr/2*zeta", None)])
def test_half_a_term_of_that_rate_is_not_proved(twice: str, half: str, holds: bool | None) -> None:
    """A run refutes the first, on which what is given holds at every point and so in all rounds."""
    part = part_of(stated(NONCONVEX.replace(twice, half), f"0 < zeta, 0 <= f_inf, 0 < L, {DRAWN}", given=UNLIKE))
    assert part.holds is holds


def test_no_support_is_counted_where_what_is_known_lets_a_claim_fail() -> None:
    """What is known of values is less than the class: a claim that it lets fail at one point is not supported by the others."""
    claim = "gap[N] <= (1 - lr*m/2)**N*gap[0]"
    theorem = stated(claim, "0 < m < L, n in 2.., 1 <= s <= n, 0 < lr <= 1/(2*L)", "L, mu = m, zeta = 0")
    found = refute_theorem(theorem)
    assert isinstance(found, Guarded)
    assert "points that depend on who takes part" in found.suspected[0]
    part = part_of(theorem)
    assert part.holds is None


def noisy(claim: str, functions: str = "L, mu", region: str = "0 < mu < L", **more: object) -> Theorem:
    """Stochastic gradient descent on n clients, all of which take part."""
    return Theorem(
        region=f"{region}, 0 < lr <= 1/L, 0 < sigma, n in 2..",
        states=MethodStates("fedavg", "lr, steps = 1, batch = 1", f"{functions}, sigma", clients="n"),
        rounds={"N": 0, "t": 0},
        quantities={name: QUANTITIES[name] for name in ("gap", "V", "g") if f"{name}[" in claim},
        claim=claim,
        assumed={"noise": "unbiased and independent"},
        **more,
    )


STRONGLY = "gap[N] <= (1 - lr*mu)**N*gap[0] + L*lr*sigma**2/(2*n*mu)"
NOT_CONVEX, BELOW = ("L, mu = -L", "0 < L, 0 <= f_inf"), {"below": "0 <= V[t]"}
SOME_ROUND = "exists t in 0..N: g[t] <= 2*V[0]/(lr*(N+1)) + L*lr*sigma**2/n"


@pytest.mark.parametrize(
    "theorem",
    [noisy(STRONGLY), noisy(SOME_ROUND, *NOT_CONVEX, given=BELOW)],
    ids=["strongly convex", "not convex"],
)
def test_rates_of_stochastic_gradients_are_found_for_values(theorem: Theorem) -> None:
    proof = find_proof(theorem)
    assert isinstance(proof, ProvedTheorem)
    assert verify_states(proof.data)


@pytest.mark.parametrize("claim", [STRONGLY.replace("(2*n", "(3*n"), SOME_ROUND.replace("L*lr*s", "0.9*L*lr*s")])
def test_smaller_floors_of_noise_are_not_proved(claim: str) -> None:
    part = part_of(noisy(claim, *NOT_CONVEX, given=BELOW) if "V" in claim else noisy(claim))
    assert part.holds is None

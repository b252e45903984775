"""Hypotheses that compare quantities of a round, such as a Polyak-Lojasiewicz inequality: a step of the potential takes multiples of them."""

from __future__ import annotations

import pytest
from theorems import parts_of

from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.proving import ProvedTheorem, verify_term
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem

QUANTITIES = {
    "F": "f(x)",
    "V": "f(x) - f_inf",
    "g": "norm2(grad(f, x))",
    "gap": "f(x) - f(x_star)",
    "d": "norm2(x - x_star)",
    "e": "dot(grad(f, x), x - x_star)",
    "h": "mean(norm2(grad(f_i, x)))",
}
STEPS = "0 < L, 0 < lr <= 1/L, 0 < m <= L, 0 <= f_inf"
PL, BELOW = "2*m*(F[t] - f_inf) <= g[t]", "f_inf <= F[t]"


def stated(
    claim: str,
    region: str = STEPS,
    options: str = "lr",
    method: str = "gd",
    functions: str = "L, mu = -L",
    clients: str = "",
    **given: str,
) -> Theorem:
    spoken = [name for name in QUANTITIES if any(f"{name}[" in text for text in (claim, *given.values()))]
    return Theorem(
        region=region,
        states=MethodStates(method, options, functions, clients),
        rounds={"N": 0, "t": 0},
        quantities={name: QUANTITIES[name] for name in spoken},
        given=given,
        claim=claim,
    )


LINEAR = "F[N] - f_inf <= (1 - lr*m)**N*(F[0] - f_inf)"
TRUE: dict[str, Theorem] = {
    "linear": stated(LINEAR, pl=PL),
    "of several clients": stated(LINEAR, options="lr, steps = 1", method="fedavg", pl=PL),
    "of all steps": stated(LINEAR.replace("lr*m", "lr*m*(2 - L*lr)"), STEPS.replace("lr <= 1/L", "lr < 2/L"), pl=PL),
    "slower, what falls is at least zero": stated(LINEAR.replace("lr*m", "lr*m/2"), pl=PL, below=BELOW),
    "a sum": stated("sum(V[t], t, 0, N) <= V[0]/(lr*m)", pl="2*m*V[t] <= g[t]", below="0 <= V[t]"),
    "a limit": stated("V[N] -> 0 as N", "0 < L, 0 < m <= L, 0 <= f_inf", "lr = 1/L", pl="2*m*V[t] <= g[t]", below="0 <= V[t]"),
    "one step": stated("V[t+1] <= (1 - m/L)*V[t]", "0 < L, 0 < m <= L, 0 <= f_inf", "lr = 1/L", pl="2*m*V[t] <= g[t]"),
    "growth, of the round after a step": stated(
        "(1 + 2*lr*m)*d[t+1] <= d[t]", "0 < L, 0 < lr <= 1/L, 0 < m <= L", functions="L, mu = 0", growth="m*d[t] <= gap[t]"
    ),
    "growth": stated("d[N] <= (1 - lr*m)**N*d[0]", "0 < L, 0 < lr <= 1/L, 0 < m <= L/2", functions="L, mu = 0", growth="m*d[t] <= gap[t]"),
    "a restricted secant inequality": stated(
        "d[N] <= (1 - m**2/L**2)**N*d[0]", "0 < L, 0 < m <= L", "lr = m/L**2", secant="m*d[t] <= e[t]"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_a_multiple_of_the_hypothesis_is_found(name: str) -> None:
    part, _ = parts_of(TRUE[name])
    assert part.holds and part.text.startswith("a proof of "), part.text
    proof = find_proof(TRUE[name])
    assert isinstance(proof, ProvedTheorem)
    assert verify_term(TRUE[name], proof.data).claims == proof.proved.claims


UNLIKE = "h[t] <= G**2 + B**2*g[t]"  # bounded dissimilarity of clients
TWO_STEPS = ", 0 < G, 1 <= B, 0 < lr <= 1/(8*L*B)"
DRAWN = ", 0 < G, 1 <= B, n in 2.., 1 <= s <= n, 0 < lr <= 1/(2*L*B**2)"
OF_DRAWN = "d[N] <= (1 - lr*mu)**N*d[0] + {}lr*G**2*(n - s)/(mu*s*(n - 1))"
OF_UNLIKE: dict[str, Theorem] = {
    "two local steps": stated(
        "d[N] <= (1 - lr*mu)**N*d[0] + 8*lr**2*L*G**2/mu",
        "0 < mu < L" + TWO_STEPS,
        "lr, steps = 2",
        "fedavg",
        "L, mu",
        unlike=UNLIKE,
    ),
    "two local steps, some round": stated(
        "exists t in 0..N: gap[t] <= d[0]/(lr*(N + 1)) + 8*lr**2*L*G**2",
        "0 < L" + TWO_STEPS,
        "lr, steps = 2",
        "fedavg",
        "L, mu = 0",
        unlike=UNLIKE,
    ),
    **{
        f"drawn clients, {name}": stated(
            OF_DRAWN.format(factor), "0 < mu < L" + DRAWN, "lr, steps = 1", "fedavg", "L, mu", "n, s", unlike=UNLIKE
        )
        for name, factor in (("sharp", ""), ("with room", "2*"))
    },
    "drawn clients, one round": stated(
        "d[t+1] <= (1 - lr*mu)*d[t] + lr**2*G**2*(n - s)/(s*(n - 1))",
        "0 < mu < L" + DRAWN,
        "lr, steps = 1",
        "fedavg",
        "L, mu",
        "n, s",
        unlike=UNLIKE,
    ),
}


@pytest.mark.parametrize("name", OF_UNLIKE)
def test_hypotheses_that_compare_quantities_may_have_a_number(name: str) -> None:
    part, _ = parts_of(OF_UNLIKE[name])
    assert part.holds and part.text.startswith("a proof of "), part.text


def test_what_clients_are_unlike_by_is_needed() -> None:
    less = stated(
        "d[N] <= (1 - lr*mu)**N*d[0]", "0 < mu < L" + TWO_STEPS, "lr, steps = 2", "fedavg", "L, mu", unlike=UNLIKE
    )
    part, _ = parts_of(less)
    assert part.holds is False and part.counterexample is not None


@pytest.mark.parametrize(
    "claim",
    [
        LINEAR.replace("lr*m", "2*lr*m"),
        LINEAR.replace("**N", "**(N + 1)"),
        "F[t+1] - f_inf <= (1 - 2*lr*m)*(F[t] - f_inf)",
    ],
)
def test_a_faster_rate_is_refuted(claim: str) -> None:
    part, _ = parts_of(stated(claim, pl=PL, below=BELOW))
    assert part.holds is False and part.counterexample is not None


def test_an_instance_of_the_first_rounds_refutes_nothing_that_is_given_of_all() -> None:
    """With 3/2 instances of two rounds break the bound; quadratics, on which the hypothesis holds at every point and so in all rounds, do not."""
    part, _ = parts_of(stated(LINEAR.replace("lr*m", "3*lr*m/2"), pl=PL, below=BELOW))
    assert part.holds is None and "in the rounds after those that are played" in part.text


#: true of all steps: gradients shrink by 1 - lr*L at most in a round, so that in all rounds together f falls by g/(2*L) at least
ALL_ROUNDS = "g[N] <= 2*L*(F[N] - f_inf)"


@pytest.mark.parametrize("part_of_it", [1, 2])
def test_what_all_rounds_together_show_is_not_accused(part_of_it: int) -> None:
    """An instance of two rounds, on which later values are below f_inf, was called a refutation; with half the constant a quadratic refutes it."""
    part, _ = parts_of(
        stated(ALL_ROUNDS.replace("2*L", f"{2 // part_of_it}*L"), "0 < L, 0 < lr <= 1/L, 0 <= f_inf", below=BELOW)
    )
    assert part.holds is (None if part_of_it == 1 else False)


def test_without_the_hypothesis_nothing_is_proved() -> None:
    part, _ = parts_of(stated(LINEAR, below=BELOW))
    assert not part.holds and "none was found" in part.text and "floats see the claim fail" in part.text


def test_what_the_proof_does_without_is_said() -> None:
    """That F is at least f_inf is not needed for the rate."""
    part, readings = parts_of(stated(LINEAR, pl=PL, below=BELOW))
    assert part.holds and "It is proved without what is given as below." in readings
    assert PL in part.text and BELOW not in part.text

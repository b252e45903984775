"""Theorems that come without a proof and need no potential of weights: claims about one round, sums with what is left of the last round, factors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.proving import ProvedTheorem, prove_theorem, verify_term
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, refute_theorem
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem

QUANTITIES = {
    "gap": "f(x) - f(x_star)",
    "d": "norm2(x - x_star)",
    "e": "dot(x - x_star, grad(f, x))",
    "g": "norm2(grad(f, x))",
    "z": "mean(norm2(grad(f_i, x_star)))",
}
STRONGLY = Theorem(
    region="0 < mu < L, 0 < lr <= 1/L",
    states=MethodStates("gd", "lr", "L, mu"),
    rounds={"t": 0, "N": 1},
    quantities={"d": QUANTITIES["d"]},
    claim="d[t+1] <= d[t]",
)
CONVEX = replace(STRONGLY, region="0 < L", states=MethodStates("gd", "lr = 1/L", "L, mu = 0"))
UNLIKE = replace(
    STRONGLY,
    region="0 < L, 0 < lr <= 1/(4*L), 0 < zeta",
    states=MethodStates("fedavg", "lr, steps = 2", "L, mu = 0"),
    rounds={"t": 0, "r": 0, "N": 1},
    quantities={name: QUANTITIES[name] for name in ("d", "gap", "z")},
    given={"unlike": "z[r] <= zeta**2"},
)


MANY = replace(
    UNLIKE,
    region="0 < L, 0 < lr <= 1/(4*L), 0 < zeta, K in 1..3",
    states=MethodStates("fedavg", "lr, steps = K", "L, mu = 0"),
)


def claiming(theorem: Theorem, *claims: str) -> Theorem:
    """The theorem with other claims, and the quantities that they speak of."""
    spoken = " ".join((*claims, *theorem.given.values()))
    quantities = {name: text for name, text in QUANTITIES.items() if f"{name}[" in spoken}
    return replace(theorem, claim=claims, quantities=quantities)


ONE_ROUND = {
    "a round and the next": claiming(STRONGLY, "d[t+1] <= (1 - lr*mu)**2*d[t]"),
    "two rounds later": claiming(STRONGLY, "d[t+2] <= (1 - lr*mu)**4*d[t]"),
    "the first rounds": claiming(STRONGLY, "d[2] <= (1 - lr*mu)**4*d[0]"),
    "one state": claiming(STRONGLY, "gap[t] <= L/2*d[t]"),
    "an identity": claiming(STRONGLY, "d[t+1] == d[t] - 2*lr*e[t] + lr**2*g[t]"),
    "numbers beside a round": claiming(STRONGLY, "lr*mu <= 1", "d[t+1] <= d[t]"),
    "a round beside every round": claiming(STRONGLY, "d[t+1] <= d[t]", "d[N] <= (1 - lr*mu)**(2*N)*d[0]"),
    "values of whole numbers": claiming(
        replace(MANY, given={}, region="0 < L, 0 < lr <= 1/(4*L), K in 1..3, M in 1..2"),
        "d[t+1] <= d[t] + 200*M*lr**2*z[t]",
    ),
    "values, and a number that a hypothesis bounds": claiming(MANY, "d[t+1] <= d[t] + 200*lr**2*zeta**2"),
    "one of these values": claiming(MANY, "at K=2: d[t+1] <= d[t] - 2*lr*gap[t] + L*lr**3*zeta**2"),
    "a number that a hypothesis bounds": claiming(UNLIKE, "d[t+1] <= d[t] - 2*lr*gap[t] + L*lr**3*zeta**2"),
}
QUOTIENT = replace(
    STRONGLY,
    region="0 < mu < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu"),
    rounds={"N": 0},
    claim="d[N] <= exp(-N*mu/L)*d[0]",
)
EXPONENTIALS = {
    "an exponent that is a quotient": QUOTIENT,
    "the sharper one": replace(QUOTIENT, claim="d[N] <= exp(-2*N*mu/L)*d[0]"),
    "values": claiming(QUOTIENT, "gap[N] <= exp(-N*mu/L)*gap[0]"),
}
SUMS = {
    "what is left of the last round": claiming(CONVEX, "2/L*sum(gap[t], t, 1, N) + d[N] <= d[0]"),
    "up to the round before": claiming(CONVEX, "sum(gap[t], t, 0, N-1)/L + d[N] <= d[0]"),
    "less of the last round": claiming(CONVEX, "sum(g[t], t, 0, N-1)/L**2 + d[N]/2 + gap[N]/L <= 2*d[0]"),
    "an average": claiming(CONVEX, "sum(gap[t], t, 1, N)/N + L*d[N]/(2*N) <= L*d[0]/(2*N)"),
    "a radius": replace(
        CONVEX,
        region="0 < L, 0 < R",
        claim="2/L*sum(gap[t], t, 1, N) + d[N] <= R**2",
        quantities={name: QUANTITIES[name] for name in ("gap", "d")},
        given={"start": "d[0] <= R**2"},
    ),
    "two quantities": claiming(CONVEX, "sum(2*gap[t]/L + g[t]/L**2, t, 1, N) + d[N] <= 2*d[0]"),
    "what is paid": claiming(UNLIKE, "2*lr*sum(gap[t], t, 0, N-1) + d[N] <= d[0] + N*L*lr**3*zeta**2"),
    "two quantities of some round": claiming(CONVEX, "exists t in 0..N-1: gap[t]/L + g[t]/(2*L**2) <= d[0]/N"),
    "a factor": claiming(CONVEX, "exists t in 1..N: 2*gap[t] <= L*d[0]/N"),
    "a factor, and rounds before": claiming(CONVEX, "exists t in 0..N-1: gap[t]/L <= d[0]/N"),
}
FREE = replace(STRONGLY, region="0 < L, 0 < lr < 2/L", rounds={"N": 0, "t": 0})
LIMITS = {
    "strongly convex, all steps": replace(
        STRONGLY, region="0 < mu < L, 0 < lr < 2/L", rounds={"N": 0}, claim="d[N] -> 0 as N"
    ),
    "convex": claiming(replace(FREE, states=MethodStates("gd", "lr", "L, mu = 0")), "g[N] -> 0 as N"),
    "without convexity": replace(
        claiming(replace(FREE, states=MethodStates("gd", "lr", "L, mu = -L")), "g[N] -> 0 as N", "0 <= gap[t]"),
        claim="g[N] -> 0 as N",
        given={"bounded": "0 <= gap[t]"},
    ),
    "above a number": replace(
        FREE,
        region="0 < L, 0 < lr < 2/L, 0 <= f_inf",
        states=MethodStates("gd", "lr", "L, mu = -L"),
        quantities={"F": "f(x)", "g": QUANTITIES["g"]},
        given={"bounded": "f_inf <= F[t]"},
        claim=("g[N] -> 0 as N", "sum(g[t], t, 0, N) <= 2*(F[0] - f_inf)/(lr*(2 - lr*L))"),
    ),
    "of averages": replace(
        STRONGLY, states=MethodStates("fedavg", "lr, steps = 1", "L, mu"), rounds={"N": 0}, claim="d[N] -> 0 as N"
    ),
}
NEAR = {
    "a round and the next": claiming(STRONGLY, "d[t+1] <= (1 - lr*mu)**3*d[t]"),
    "an identity": claiming(STRONGLY, "d[t+1] == d[t] - 2*lr*e[t] + lr**2*g[t]/2"),
    "what is left of the last round": claiming(CONVEX, "2/L*sum(gap[t], t, 1, N) + 21/20*d[N] <= d[0]"),
    "up to the round before": claiming(CONVEX, "5*sum(gap[t], t, 0, N-1)/L + d[N] <= d[0]"),
    "an exponent that is a quotient": replace(QUOTIENT, claim="d[N] <= exp(-21/10*N*mu/L)*d[0]"),
    "two quantities of some round": claiming(CONVEX, "exists t in 0..N-1: gap[t]/L + g[t]/L**2 <= d[0]/(2*N)"),
    "a factor": claiming(CONVEX, "exists t in 1..N: 5*gap[t] <= L*d[0]/N"),
}


@pytest.mark.parametrize("case", [*ONE_ROUND, *SUMS, *LIMITS, *EXPONENTIALS])
def test_a_script_is_found_and_its_term_is_the_theorem_s(case: str) -> None:
    theorem = (ONE_ROUND | SUMS | LIMITS | EXPONENTIALS)[case]
    proof = prove_theorem(theorem)
    assert verify_term(theorem, proof.data).claims == proof.proved.claims == theorem.claims


@pytest.mark.parametrize("case", NEAR)
def test_what_is_false_near_it_is_refuted(case: str) -> None:
    assert isinstance(refute_theorem(NEAR[case]), BrokenClaim)
    assert isinstance(find_proof(NEAR[case]), str)


def test_a_claim_of_one_round_has_a_script_of_one_line() -> None:
    assert prove_theorem(ONE_ROUND["a round and the next"]).theorem.proof == "done: claim by derivation"
    paid = prove_theorem(ONE_ROUND["a number that a hypothesis bounds"]).theorem.proof
    assert paid.splitlines()[-1] == "done: claim by combine step, unlike(r=t)"


def test_no_script_is_found_for_a_limit_at_the_end_of_the_steps() -> None:
    assert isinstance(
        find_proof(replace(LIMITS["strongly convex, all steps"], region="0 < mu < L, 0 < lr <= 2/L")), str
    )


def test_where_mu_may_be_L_the_author_is_told_to_say_that_it_is_less() -> None:
    proof = find_proof(replace(ONE_ROUND["a round and the next"], region="0 < mu <= L, 0 < lr <= 1/L"))
    assert isinstance(proof, str) and proof.endswith("say mu < L")
    assert isinstance(find_proof(ONE_ROUND["a round and the next"]), ProvedTheorem)

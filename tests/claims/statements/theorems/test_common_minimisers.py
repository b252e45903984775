"""Clients with a minimiser in common, zeta = 0: what is proved and refuted of them alone, and that nothing of other clients is used."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from fedtheory.claims import Bound, MethodStates, Theorem
from fedtheory.claims.statements.every_round import as_theorem
from fedtheory.claims.statements.theorems.proving import prove_theorem, verify_term
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, Guarded, refute_theorem, replay_claim
from fedtheory.claims.statements.theorems.rocq.exporting import write_theorem_for_rocq
from fedtheory.claims.statements.theorems.writing import describe_theorem
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.proofs.checker.refusals import Refused


def local_steps(count: int, claim: str, functions: str = "L, mu, zeta = 0", lr: str = "0 < lr <= 1/L") -> Theorem:
    """FedAvg with so many local steps."""
    return Theorem(
        region=f"0 < mu < L, {lr}",
        states=MethodStates("fedavg", f"lr, steps = {count}", functions),
        rounds={"N": 0},
        quantities={"d": "norm2(x - x_star)"},
        claim=claim,
    )


LINEAR = local_steps(2, "d[N] <= (1 - lr*mu)**(4*N)*d[0]")


@pytest.mark.parametrize(
    "theorem", [LINEAR, local_steps(3, "d[N+1] <= (1 - lr*mu)**6*d[N]"), local_steps(2, "d[N] -> 0 as N")]
)
def test_local_steps_converge_linearly(theorem: Theorem) -> None:
    assert verify_term(theorem, prove_theorem(theorem).data).claims == theorem.claims


def test_a_faster_rate_is_refuted_by_functions_with_a_minimiser_in_common() -> None:
    theorem = LINEAR.with_claim("d[N] <= (1 - lr*mu)**(5*N)*d[0]")
    broken = refute_theorem(theorem)
    assert isinstance(broken, BrokenClaim) and replay_claim(theorem, broken) > 0


def test_what_is_true_of_them_is_false_of_other_clients() -> None:
    other = replace(LINEAR, states=MethodStates("fedavg", "lr, steps = 2", "L, mu"))
    broken = refute_theorem(other)
    assert isinstance(broken, BrokenClaim) and isinstance(refute_theorem(LINEAR), Guarded)
    with pytest.raises((InvalidInput, Refused)):
        replay_claim(LINEAR, broken)
    with pytest.raises(Refused):
        verify_term(other, prove_theorem(LINEAR).data)


def test_it_is_told_and_a_bound_of_any_number_of_rounds_has_it() -> None:
    assert "zeta = 0 (grad f_i(x*) = 0 for every i)" in describe_theorem(LINEAR)
    bound = Bound(
        "fedavg",
        "lr, steps = 2",
        region="0 < mu < L, 0 < lr <= 1/L, 0 < R, N in 1..",
        functions="L, mu, zeta = 0",
        measure="squared_distance",
        rounds="N",
        radius="R",
        claimed="(1 - lr*mu)**(4*N)*R**2",
    )
    theorem = as_theorem(bound)
    assert theorem is not None and [*theorem.given] == ["start"]
    assert prove_theorem(theorem).proved.claims == theorem.claims


def test_another_zeta_is_a_hypothesis_and_rocq_does_not_have_it() -> None:
    with pytest.raises(InvalidInput, match="another zeta is a hypothesis"):
        _ = local_steps(2, "d[N+1] <= d[N]", "L, mu, zeta = 1").states.constants
    with pytest.raises(NotAvailable, match="a minimiser in common"):
        write_theorem_for_rocq(prove_theorem(LINEAR), "common")
    assert isinstance(refute_theorem(LINEAR, at=[{"mu": Fraction(1), "L": Fraction(2), "lr": Fraction(1, 2)}]), Guarded)

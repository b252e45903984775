"""Theorems whose terms the checker accepts and whose texts Rocq once refused, one for each cause; and what their statements say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.claims.statements.theorems.proving import prove_theorem
from fedtheory.claims.statements.theorems.rocq.exporting import _exponent, write_theorem_for_rocq
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.rocq.compiling import AXIOMS, _find_stop, check_together
from fedtheory.proofs.rocq.folders import RocqTheorem, write_in_one_file
from paper_checks.literature.federated import FEDSPLIT
from tests.support.rocq import needs_rocq


def clients_about_zero(world: Any, p: Any, last: int) -> list[Any]:
    """Any points of clients, halved in every round; they are compared with zero."""
    x, states = world.vector("x_i", True), []
    for _ in range(last + 1):
        states.append(SimpleNamespace(x_i=x, x_star=Vector({}), shift=x * -1))
        x = x * 0.5
    return states


def falls_with_steps(world: Any, p: Any, last: int) -> list[Any]:
    """Gradient descent of one function; the first gradient is a variable that is made before its point."""
    f, g, x = world.function(p.L, 0, name="f"), world.vector("g"), world.vector("x")
    world.at(f, x, "g", g=g)
    states = [SimpleNamespace(x=x, f=f, g=g)]
    for k in range(last):
        x = x - g * getattr(p, f"eta_{k}")
        g, _ = world.at(f, x, f"g{k}")
        states.append(SimpleNamespace(x=x, f=f, g=g))
    return states


OF_CAUSES = (
    Theorem(
        name="a field that is zero",
        region="0 < a",
        states=PlayedStates(clients_about_zero),
        rounds={"n": 0},
        quantities={"D": "mean(norm2(x_i - x_star))", "B": "norm2(bar(-shift))"},
        claim="B[n+1] <= D[n]/4",
        proof="done: claim by derivation",
    ),
    Theorem(
        name="a parameter whose name proofs used",
        region="0 < H",
        states=PlayedStates(clients_about_zero),
        rounds={"n": 0},
        quantities={"D": "mean(norm2(x_i))"},
        claim="D[n+1] <= D[n]/4",
        proof="done: claim by derivation",
    ),
    Theorem(
        name="a quotient in a divisor",
        region="0 < L, 0 < a",
        where={"eta": "1/(L + 2*a)"},
        states=PlayedStates(clients_about_zero),
        rounds={"n": 0},
        quantities={"D": "mean(norm2(x_i))/(2*eta)"},
        claim="D[n+1] <= D[n]/4",
        proof="done: claim by derivation",
    ),
    Theorem(
        name="a gradient of one function",
        region="0 < L < M",
        states=PlayedStates(falls_with_steps),
        rounds={"t": 0},
        sequences={"eta": "0..1/(M + L)"},  # written with L first
        quantities={"F": "f(x)", "G": "norm2(grad(f, x))"},
        claim="eta[t]/2*G[t] <= F[t] - F[t+1]",
        proof="""
          fall: eta[t]*(1 - L*eta[t]/2)*G[t] <= F[t] - F[t+1]      by derivation
          size: 0 <= G[t]                                          by derivation
          done: claim                                              by combine fall, (eta[t]*(1 - L*eta[t])/2)*size
        """,
    ),
    Theorem(
        name="sums up to the round before",
        region="",
        rounds={"N": 0, "T": 1, "k": 0, "j": 0},
        sequences={"M": "0", "Y": "0"},
        given={"next": "Y[k+1] <= sum(M[j], j, 0, k)"},
        claim=(
            "sum(2*j + 1, j, 0, N - 1) == N**2",
            "2*T <= sum(2*(1 + M[j]), j, 0, T - 1)",
            "Y[T] <= sum(M[j], j, 0, T - 1)",
        ),
        proof="""
          odd:  claim 1      by induction N: base combine; step combine ih
          many: claim 2      by induction T: base combine; step combine 1*ih
          last: claim 3      by combine next(k=T-1)
        """,
    ),
    Theorem(
        name="what cancels in normal form",
        region="0 < u, 0 < a < 1/u",
        rounds={"n": 0},
        sequences={"x": "0", "y": "0"},
        given={"next": "x[n+1] <= x[n]", "strict": "y[n] < x[n]"},
        claim=("x[n] <= a/(1 - a*u) + (x[0] - a/(1 - a*u))", "2*y[n] < 2*x[n]"),
        proof="""
          each: claim 1      by induction n: base combine; step combine ih, next
          less: claim 2      by combine 2*strict
        """,
    ),
    Theorem(
        name="a quotient under a power",
        region="0 <= s <= 1",
        states=PlayedStates(clients_about_zero),
        rounds={"n": 0},
        quantities={"D": "mean(norm2(x_i))"},
        given={"above": "0 < D[n]"},
        claim=("(D[n+1]/D[n])**s <= 1 + s*(D[n+1]/D[n] - 1)", "D[n+1] <= D[n]/4"),
        proof="""
          power: claim 1      by bernoulli D[n+1]/D[n] - 1, s
          fall:  claim 2      by derivation
        """,
    ),
    Theorem(
        name="a hypothesis on the round of the claim",
        region="",
        rounds={"N": 0, "r": 0, "n": 0},
        sequences={"w": "0", "x": "0", "H": "0"},
        given={
            "law": "sum(w[r], r, 0, N) == H[n]",
            "most": "x[r] <= 1",
            "half": "H[r+1] <= H[r]/2",
            "first": "H[0] == 1",
            "size": "x[r] <= n + 1",
        },
        fixed=("n",),
        claim=("sum(w[r]*x[r], r, 0, N) <= (1/2)**n", "x[r] <= n + 2"),
        proof="""
          falls: H[n] <= (1/2)**n   by induction n: base combine first; step combine 1/2*ih, half(r=n)
          all:   sum(w[r]*x[r], r, 0, N) <= sum(w[r], r, 0, N)
                   by induction N: base combine w[0]*most(r=0); step combine ih, w[N+1]*most(r=N+1)
          done:  claim 1            by combine all, law, falls
          two:   claim 2            by combine 1*size
        """,
    ),
    Theorem(
        name="a hypothesis on numbers alone beside states",
        region="0 < a",
        states=PlayedStates(clients_about_zero),
        rounds={"n": 0, "N": 1},
        quantities={"D": "mean(norm2(x_i))"},
        given={"size": "N*a == 1"},
        claim=("N*a*D[N] == D[N]", "D[n+1] <= D[n]/4"),
        proof="""
          one:  claim 1      by combine D[N]*size
          fall: claim 2      by derivation
        """,
    ),
    Theorem(
        name="sides of a maximum",
        region="1/2 < u <= 1",
        claim=("max(-u, -1) <= -u", "max(-1, -u) <= -u"),
        proof="""
          below: claim 1      by larger of: combine; combine
          again: claim 2      by larger of: combine; combine
        """,
    ),
)
THEOREMS = {theorem.name: theorem for theorem in OF_CAUSES}


def test_a_gradient_of_one_function_is_no_average() -> None:
    """Rocq could not tell over which clients."""
    theorem = THEOREMS["a gradient of one function"]
    said = write_theorem_for_rocq(prove_theorem(theorem), "gradient").files()["Statement.v"]
    assert "Definition G_of {V : space} {C : clients V} (f_grad : V -> V) (s : state C) : R :=" in said
    assert "norm2 (f_grad x_)." in said and "eta n <= 1 / (L + M)" in said


def test_a_sum_without_terms_is_zero_in_the_statement() -> None:
    """Rocq's round before 0 is 0, so that ``sum_of F 0 (Nat.pred 0)`` has a term; where the sum has one, it is as its author wrote it."""
    said = write_theorem_for_rocq(prove_theorem(THEOREMS["sums up to the round before"]), "sums").statement
    assert "Nat.pred N" not in said and "sum_of (fun k : nat => INR k) 0%nat N" in said
    assert "sum_of (fun j : nat => 2 * (1 + M j)) 0%nat (Nat.pred T)" in said


def test_a_hypothesis_on_the_claims_own_round_is_supposed_of_it_alone() -> None:
    """It was supposed of all, which leaves one number that is not zero."""
    said = write_theorem_for_rocq(prove_theorem(THEOREMS["a hypothesis on the round of the claim"]), "own").files()[
        "Statement.v"
    ]
    own = said.index("forall N : nat, (0 <= N)%nat -> forall n : nat, (0 <= n)%nat ->")
    assert said.index("x r <= 1") < own < said.index("sum_of (fun r : nat => w r) 0%nat N = H n")


@needs_rocq
def test_rocq_accepts_what_it_refused(kept: Path) -> None:
    """Each is written by its cause's repair alone: nothing in these theorems is known to the writer."""
    written = [write_theorem_for_rocq(prove_theorem(t), name.replace(" ", "_")) for name, t in THEOREMS.items()]
    answers = check_together(written, kept)
    assert {a.name: a.said for a in answers if not a.accepted} == {}
    assert all(set(a.axioms) <= AXIOMS for a in answers)


def test_an_exponent_that_may_be_negative_is_no_natural_number() -> None:
    """The predecessor of 0 is 0 in Rocq, and x^(t - 1) at t = 0 would be 1 there."""
    assert _exponent(read("t - 1"), {"t": 1}) == "(Nat.pred t)"
    assert _exponent(read("t - 1"), {"t": 0}) is None
    assert _exponent(read("2*t + 1"), {"t": 0}) == "(2 * t + 1)"


def test_where_rocq_stopped_is_found_by_the_line() -> None:
    """In a statement or in a proof; a line that is in none of them says nothing."""
    three = [
        RocqTheorem(name, "", "", "Definition statement : Prop := True.", "Theorem proof : statement.")
        for name in ("a", "b", "c")
    ]
    lines = write_in_one_file(three, "Together").splitlines()
    places = [k for k, text in enumerate(lines, 1) if text == "Module b."]
    found = [
        _find_stop(three, f'File "./Together.v", line {k + 1}, characters 0-4: Error') for k in (*places, 1, len(lines))
    ]
    assert found == [three[1], three[1], None, None] and _find_stop(three, "took more than 300 s") is None


@needs_rocq
def test_what_is_beside_a_refused_theorem_is_accepted(kept: Path) -> None:
    """It is compiled once more without it."""
    said, shown = (
        "Definition statement : Prop := 0 < 1.",
        "Theorem proof : statement.\nProof. unfold statement; lra. Qed.",
    )
    five = [RocqTheorem(f"n{k}", "", "", said, shown if k != 3 else shown.replace("lra", "ring")) for k in range(5)]
    assert [a.accepted for a in check_together(five, kept)] == [True, True, True, False, True]


def test_a_proximal_step_is_told_as_what_is_not_written() -> None:
    """Its point is made of the gradient at itself."""
    with pytest.raises(NotAvailable, match="a point made of its own gradient"):
        write_theorem_for_rocq(prove_theorem(FEDSPLIT), "fedsplit", "FedSplit")

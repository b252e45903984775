"""The larger of several rates: lines with a maximum go through cases, are found without a script, and are checked as they were typed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.claims import MethodStates, Theorem
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds
from fedtheory.claims.statements.theorems.proving import prove_theorem, verify_term
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.refusals import Refused, TermRefused

DISTANCE = {"d": "norm2(x - x_star)"}
PROXSKIP = {"d": "mean(norm2(x_i - x_star))", "h": "mean(norm2(h_i - grad(f_i, x_star)))"}


def descent(claim: str, quantities: dict[str, str] = DISTANCE, lr: str = "0 < lr < 2/L", **more: object) -> Theorem:
    """Gradient descent, for all its steps."""
    states = MethodStates("gd", "lr", "L, mu")
    return Theorem(
        region=f"0 < mu < L, {lr}", states=states, rounds={"N": 0}, quantities=quantities, claim=claim, **more
    )


def proxskip(claim: str, lr: str) -> Theorem:
    """ProxSkip's potential (Mishchenko, Malinovsky, Stich and Richtarik 2022, Theorem 3.6)."""
    states = MethodStates("scaffnew", "lr, p", "L, mu")
    return Theorem(
        region=f"0 < mu < L, {lr}, 0 < p <= 1", states=states, rounds={"N": 0}, quantities=PROXSKIP, claim=claim
    )


BOTH = "max((1 - lr*mu)**2, (1 - lr*L)**2)"
TRUE = {
    "one round": descent(f"d[N+1] <= {BOTH}*d[N]"),
    "every round": descent(f"d[N] <= {BOTH}**N*d[0]"),
    "by a name": descent("d[N] <= rho**N*d[0]", where={"rho": BOTH}),
    "values": descent(f"gap[N] <= {BOTH}**N*gap[0]", {"gap": "f(x) - f(x_star)"}),
    "gradients": descent(f"g[N] <= {BOTH}**N*g[0]", {"g": "norm2(grad(f, x))"}),
    "a square": descent("d[N] <= max(1 - lr*mu, lr*L - 1)**(2*N)*d[0]"),
    "the larger of two sizes": descent("d[N] <= max(abs(1 - lr*mu), abs(1 - lr*L))**(2*N)*d[0]"),
    "a number that is never the larger one": descent("d[N] <= max((1 - lr*mu)**2, 1/2)**N*d[0]", lr="0 < lr <= 1/L"),
    "a fourth power, where clients have a minimiser in common": Theorem(
        region="0 < mu < L, 0 < lr <= 1/L",
        states=MethodStates("fedavg", "lr, steps = 2", "L, mu, zeta = 0"),
        rounds={"N": 0},
        quantities=DISTANCE,
        claim="d[N] <= max(1 - lr*mu, 1/2)**(4*N)*d[0]",
    ),
    "of each quantity another": proxskip(
        "d[N] + (lr/p)**2*h[N] <= max(1 - lr*mu, 1 - p**2)**N*(d[0] + (lr/p)**2*h[0])", "0 < lr <= 1/L"
    ),
    "one less the smaller": proxskip(
        "d[N] + (lr/p)**2*h[N] <= (1 - min(lr*mu, p**2))**N*(d[0] + (lr/p)**2*h[0])", "0 < lr <= 1/L"
    ),
    "three, one on each side of a cut": proxskip(
        f"d[N+1] + (lr/p)**2*h[N+1] <= max({BOTH}, 1 - p**2)*(d[N] + (lr/p)**2*h[N])", "0 < lr < 2/L"
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_the_larger_of_several_rates_is_found(name: str) -> None:
    theorem = TRUE[name]
    proof = prove_theorem(theorem)
    assert verify_term(theorem, proof.data).claims == theorem.claims
    assert any("through " in line for line in proof.proved.lines)


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("every round", "d[N] <= max((1 - lr*mu)**2, 1 - lr*L)**N*d[0]"),
        ("every round", "d[N] <= min((1 - lr*mu)**2, (1 - lr*L)**2)**N*d[0]"),
        ("every round", "d[N] <= max((1 - lr*mu)**2, 0.97*(1 - lr*L)**2)**N*d[0]"),
        ("a square", "d[N] <= max(1 - lr*mu, 0.97*(lr*L - 1))**(2*N)*d[0]"),
        ("one less the smaller", "d[N] + (lr/p)**2*h[N] <= (1 - min(2*lr*mu, p**2))**N*(d[0] + (lr/p)**2*h[0])"),
        (
            "of each quantity another",
            "d[N] + (lr/p)**2*h[N] <= max(1 - lr*mu, 1 - 1.1*p**2)**N*(d[0] + (lr/p)**2*h[0])",
        ),
    ],
)
def test_a_smaller_one_is_refuted(name: str, claim: str) -> None:
    part = next(iter(find_of_rounds(TRUE[name].with_claim(claim), name="it")))
    assert part.holds is False and part.counterexample.replay.exact_measured > 0


def test_an_authors_line_by_derivation_goes_through_cases() -> None:
    step = f"step: d[N+1] <= {BOTH}*d[N] by derivation"
    script = f"{step}\ndone: claim by induction N: base combine; step combine ({BOTH})*ih, step(N=N)"
    theorem = replace(TRUE["every round"], proof=script)
    lines = prove_theorem(theorem).proved.lines
    assert len(lines) == 3 and "cases 2/(L + mu) - lr" in lines[1]


def test_a_line_with_a_smaller_number_is_refused_with_an_instance() -> None:
    theorem = TRUE["one round"].with_claim("d[N+1] <= max((1 - lr*mu)**2, (1 - lr*L)**3)*d[N]")
    with pytest.raises(TermRefused, match="found refuted at"):
        prove_theorem(replace(theorem, proof="done: claim by derivation"))


def test_a_case_holds_on_its_own_side_alone() -> None:
    """Derivations of the two cases, each in the place of the other; and a part of the region without its case."""
    proof = prove_theorem(TRUE["one round"])
    data = dict(proof.data)
    (own,) = ([*found] for name, found in data["derivations"].items() if name == "done")
    with pytest.raises(Refused):
        check_term({**data, "derivations": {**data["derivations"], "done": own[::-1]}})
    first = data["lines"][-1].partition(": (")[2].partition("); (")[0]
    alone = data["lines"][-1].partition(" by cases")[0] + f" by {first}"
    with pytest.raises(Refused, match="a derivation on a region that holds the term's"):
        check_term(
            {**data, "lines": [*data["lines"][:-1], alone], "derivations": {**data["derivations"], "done": own[:1]}}
        )

"""Theorems on given quadratics, and on clients that are drawn: moments are identities, what is false is refuted, ties are proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.claims import MethodStates, Theorem
from fedtheory.claims.claim import Part
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds
from fedtheory.claims.statements.theorems.played import choices_of_clients
from fedtheory.claims.statements.theorems.proving import prove_theorem, verify_term
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, refute_theorem, replay_claim
from fedtheory.claims.statements.theorems.runs import run_on_equal_curvatures, run_on_quadratics
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.proofs.checker.refusals import TermRefused

DIVERGES = Theorem(
    "0 < lr",
    "X[T] == (1 + 4*lr**2)**(2*T)*X[0]",
    """
      step: X[t+1] == (1 + 4*lr**2)**2*X[t]   by identity
      done: claim                             by induction T: base combine; step combine (1 + 4*lr**2)**2*ih, step(t=T)
    """,
    states=run_on_quadratics("fedavg", "lr, steps = 2", curvatures=("2", "-2"), centres=("0", "0")),
    quantities={"X": "norm2(x)"},
    rounds={"t": 0, "T": 0},
)
#: A-FedPD with one of two clients (x -+ c)^2/2 a round
ONE_OF_TWO = run_on_quadratics(
    "a-fedpd",
    "rho, exact",
    curvatures=("1", "1"),
    centres=("c", "-c"),
    participants=1,
    ties=("mu_1", "mu_2", "x - x_bar - lam/rho"),
)
NOISE_FLOOR = Theorem(
    "0 < rho",
    "V[T] -> C[0]/(1 + 2*rho) as T",
    """
      step: V[t+1] == (rho/(1 + rho))**2*V[t] + C[t]/(1 + rho)**2         by identity
      same: C[t+1] == C[t]                                                by identity
      one:  C[T] == C[0]                                                  by induction T: base combine; step combine ih, same(t=T)
      all:  V[T] - FLOOR == (rho/(1 + rho))**(2*T)*(V[0] - FLOOR)
              by induction T: base combine; step combine (rho/(1 + rho))**2*ih, step(t=T), 1/(1 + rho)**2*one
      low:  FLOOR + (rho/(1 + rho))**(2*T)*(V[0] - FLOOR) <= V[T]         by combine all
      high: V[T] <= FLOOR + (rho/(1 + rho))**(2*T)*(V[0] - FLOOR)         by combine all
      done: claim                                                         by squeeze low, high
    """.replace("FLOOR", "C[0]/(1 + 2*rho)"),
    states=ONE_OF_TWO,
    quantities={"V": "norm2(x_bar)", "C": "norm2(c)"},
    rounds={"t": 0, "T": 0},
)


@pytest.mark.parametrize("theorem", [DIVERGES, NOISE_FLOOR], ids=["FedAvg's divergence", "A-FedPD's floor"])
def test_a_theorem_on_given_quadratics_is_proved(theorem: Theorem) -> None:
    proof = prove_theorem(theorem)
    assert verify_term(theorem, proof.data).claims == theorem.claims


def test_a_wrong_factor_is_refused_and_refuted() -> None:
    wrong = replace(DIVERGES, claim=DIVERGES.claims[0].replace("4*", "5*"), proof=DIVERGES.proof.replace("4*", "5*"))
    with pytest.raises(TermRefused, match="line step, by identity"):
        prove_theorem(wrong)
    against = refute_theorem(wrong)
    assert isinstance(against, BrokenClaim)
    assert replay_claim(wrong, BrokenClaim.read(against.store())) in (against.gap, -against.gap)
    assert against.gap > 0


def test_ties_that_no_round_keeps_are_refused() -> None:
    wrong = replace(NOISE_FLOOR, states=replace_ties("mu_1", "mu_2", "x - x_bar"))
    with pytest.raises(TermRefused, match="it was not shown that"):
        prove_theorem(wrong)


def replace_ties(*ties: str):
    return run_on_quadratics(
        "a-fedpd", "rho, exact", curvatures=("1", "1"), centres=("c", "-c"), participants=1, ties=ties
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"centres": ("0",)}, "one curvature and one centre"),
        ({"participants": 3}, "from 1 to 2 clients"),
        ({"ties": ("y",)}, "leaves nothing open"),
        (
            {"method": "scaffold", "options": "lr, server_lr = 1", "centres": ("c_1", "0")},
            "'c_1' of the centres is a field of scaffold",
        ),
        ({"centres": ("1", "0")}, "a centre is a sum of vectors c, c_1, c_2, ..., or 0, and no number; got '1'"),
    ],
)
def test_what_is_no_instance_is_said(change, message) -> None:
    given = {"method": "gd", "options": "lr", "curvatures": ("1", "1"), "centres": ("0", "0")} | change
    with pytest.raises(InvalidInput, match=message):
        run_on_quadratics(**given).first_round(DIVERGES.parameters)


#: one step of s of n clients: the variance of sampling without replacement
DRAWN = Theorem(
    "0 < mu < L, 0 < lr <= 1/L, n in 2.., 1 <= s <= n",
    "d[t+1] <= (1 - mu*lr)**2*d[t] + lr**2*(n - s)/(s*(n - 1))*S[t]",
    "done: claim by derivation",
    states=MethodStates("fedavg", "lr, steps = 1", "L, mu", clients="n, s"),
    quantities={"d": "norm2(x - x_star)", "S": "mean(norm2(grad(f_i, x) - bar(grad(f_i, x))))"},
    rounds={"t": 0},
)
TWO_OF_FOUR = replace(
    DRAWN,
    region="0 < mu < L, 0 < lr <= 1/L",
    claim="d[t+1] <= (1 - mu*lr)**2*d[t] + lr**2*2/(2*3)*S[t]",
    states=replace(DRAWN.states, clients="n = 4, s = 2"),
)


@pytest.mark.parametrize("theorem", [DRAWN, TWO_OF_FOUR], ids=["s of n", "two of four"])
def test_what_clients_that_are_drawn_add_is_proved(theorem: Theorem) -> None:
    proof = prove_theorem(theorem)
    assert verify_term(theorem, proof.data).claims == theorem.claims
    (part,) = [finding for finding in find_of_rounds(theorem, name="it") if isinstance(finding, Part)]
    assert "held against runs with n" in part.text


def test_a_tenth_less_is_refuted_by_four_clients() -> None:
    wrong = replace(TWO_OF_FOUR, claim=TWO_OF_FOUR.claims[0].replace("2/(2*3)", "9/30"), proof="")
    against = refute_theorem(wrong)
    assert isinstance(against, BrokenClaim)
    assert replay_claim(wrong, BrokenClaim.read(against.store())) == against.gap > 0


def test_expectations_are_not_multiplied() -> None:
    wrong = replace(TWO_OF_FOUR, claim="d[t+1]*S[t] <= d[t]*S[t]", proof="done: claim by combine")
    with pytest.raises(TermRefused, match="linear in quantities"):
        prove_theorem(wrong)


def test_two_rounds_of_draws_are_no_line() -> None:
    wrong = replace(TWO_OF_FOUR, claim="d[t+2] <= d[t] + S[t]", proof="done: claim by derivation")
    with pytest.raises(TermRefused, match="one round and the next"):
        prove_theorem(wrong)


def test_a_server_has_the_average_of_all_clients() -> None:
    served = Theorem(
        "0 < lr",
        "X[t+1] == (1 - lr)**2*X[t]",
        "done: claim by identity",
        states=run_on_quadratics("safari", "q = 0, lr, steps = 1", curvatures=("3/2", "1/2"), centres=("c", "-3*c")),
        quantities={"X": "norm2(x)"},
        rounds={"t": 0},
    )
    assert verify_term(served, prove_theorem(served).data).claims == served.claims


# ---- every number of clients ------------------------------------------------------------------------------------------


def drawn(
    method: str = "a-fedpd", ties: tuple[str, ...] = ("bar(mu_i)", "x - x_bar - lam/rho"), **given
) -> PlayedStates:
    """P of C clients (x - c_i)^2/2 a round, or with one centre."""
    clients = "n = C, s = P"
    return run_on_equal_curvatures(method, "rho, exact", curvature="1", clients=clients, ties=ties, **given)


OF_CLIENTS = "0 < rho, C in 2.., 1 <= P <= C"
#: what is a client's own of the duals moves by averages over those that take part
SPREAD = Theorem(
    OF_CLIENTS,
    "S[t+1] == (1 - (1 - 1/(1 + rho)**2)*(P - 1)/(C - 1))*S[t]",
    "done: claim by identity",
    states=drawn(),
    quantities={"S": "mean(norm2(mu_i - (c_i - bar(c_i))))"},
    rounds={"t": 0},
)
ALIKE = Theorem(
    OF_CLIENTS,
    "m[t+1] == rho/(1 + rho)*m[t]",
    "done: claim by identity",
    states=drawn(ties=("mu_i", "x - x_bar - lam/rho"), alike=True),
    quantities={"m": "dot(x_bar - c, z)"},
    rounds={"t": 0},
)
SERVER_DUAL = Theorem(
    OF_CLIENTS,
    "off[t] == 0",
    "done: claim by identity",
    states=drawn("feddyn-printed", ("lam - bar(lam_i)",)),
    quantities={"off": "norm2(lam - bar(lam_i))"},
    rounds={"t": 0},
)


@pytest.mark.parametrize("theorem", [SPREAD, ALIKE, SERVER_DUAL], ids=["spread", "alike", "server's dual"])
def test_rounds_of_every_number_of_clients_are_followed(theorem: Theorem) -> None:
    assert verify_term(theorem, prove_theorem(theorem).data).claims == theorem.claims


@pytest.mark.parametrize(
    ("ties", "message"),
    [
        (("bar(nothing)",), "'nothing' of a tie is no field"),
        (("x - y",), "'y' of a tie is no field"),
        (("rho",), "leaves nothing open"),
    ],
)
def test_ties_are_of_fields(ties: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        drawn(ties=ties).first_round(SPREAD.parameters)


def test_what_rounds_do_not_keep_is_no_tie() -> None:
    with pytest.raises(CannotTrace):
        drawn(ties=("mu_i", "x - x_bar - lam/rho")).first_round(SPREAD.parameters)


def test_numbers_of_clients_in_floats_are_whole_numbers() -> None:
    """Points of an instance are played in floats, too."""
    states = MethodStates("fedavg", "lr, steps = 1", "L, mu", clients="n, s")
    point = {"L": 1.0, "mu": 0.5, "lr": 1.0}
    assert len(list(choices_of_clients(states, point | {"n": 3.0, "s": 2.0}))) == 3
    with pytest.raises(InvalidInput, match=r"1\.5 of 3\.0 clients cannot be drawn"):
        choices_of_clients(states, point | {"n": 3.0, "s": 1.5})

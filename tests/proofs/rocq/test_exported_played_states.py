"""Theorems about played states, sequences, roots, real powers and limits as theorems that Rocq accepts; and wrong ones, which it refuses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.claims.statements.theorems.proving import ProvedTheorem, prove_theorem
from fedtheory.claims.statements.theorems.rocq.exporting import write_theorem_for_rocq
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import norm2
from fedtheory.core.errors import NotAvailable
from paper_checks.afedpd import section_3_3_a_fedpd as algorithm
from paper_checks.literature import federated
from tests.support.rocq import ask, needs_rocq
from tests.support.theorems import PROXIMAL_POINT


def clients_at_a_number(world: Any, p: Any, last: int) -> list[Any]:
    """Any points of clients, divided by t[n] in round n; a regulariser with a subgradient at their average, and at least a number there."""
    reg, states = world.function(None, 0, name="R"), []
    x, low = world.vector("x_i", True), world.value("low")
    for k in range(last + 1):
        s, mean = world.vector(f"s{k}"), x.averaged(None)
        _, value = world.at(reg, mean, f"R{k}", g=s)
        world.assume(f"bounded below {k}", low - value)
        states.append(SimpleNamespace(x_i=x, mean=mean, s=s, R=reg, low=low))
        x = x * (1 / getattr(p, f"t_{k}", 1))
    return states


def steps_with_noise(world: Any, p: Any, last: int) -> list[Any]:
    """x - lr (grad f(x) + e) with chance p, and with chance 1 - p with -p/(1 - p) e in the place of e, so that the noise has mean zero."""
    f, x = world.function(p.L, p.mu), world.vector("x")
    world.at(f, x * 0, "least", g=x * 0)
    states = [[(Fraction(1), SimpleNamespace(x=x))]]
    for k in range(last):
        found = []
        for chance, state in states[-1]:
            g, _ = world.at(f, state.x, f"g{k}")
            e = world.vector(f"e{k}")
            world.assume("noise", norm2(e) * (p.p / (1 - p.p)) - p.sigma**2)
            for own, error in ((p.p, e), (1 - p.p, e * (-p.p / (1 - p.p)))):
                found.append((chance * own, SimpleNamespace(x=state.x - (g + error) * p.lr)))
        states.append(found)
    return states


EXAMPLES = {
    "draws": Theorem(
        name="draws",
        region="0 < mu < L, 0 < lr <= 1/L, 0 < sigma, 0 < p < 1",
        states=PlayedStates(steps_with_noise),
        rounds={"t": 0, "N": 0},
        assumed={"noise": "the variance of the noise is at most sigma^2"},
        quantities={"d": "norm2(x)"},
        claim="d[N] <= (1 - lr*mu)**N*d[0] + lr*sigma**2/mu",
        proof="""
          step: d[t+1] <= (1 - lr*mu)**2*d[t] + lr**2*sigma**2     by derivation
          pos:  0 <= d[t]                                          by derivation
          all:  d[N] <= (1 - lr*mu)**N*d[0] + lr*sigma**2/mu
                  by induction N: base combine; step combine (1 - lr*mu)*ih, step(t=N), (lr*mu*(1 - lr*mu))*pos(t=N)
          done: claim                                              by combine all
        """,
    ),
    "proximal point": PROXIMAL_POINT,
    "a sequence of numbers": Theorem(
        name="a sequence of numbers",
        region="",
        rounds={"n": 0},
        sequences={"t": "0"},
        given={"first": "t[0] == 1", "next": "t[n+1] == (1 + sqrt(1 + 4*t[n]**2))/2"},
        claim="1 <= t[n]",
        proof="""
          least2: 1**2 <= sqrt(1 + 4*t[n]**2)**2            by combine
          least:  1 <= sqrt(1 + 4*t[n]**2)                  by root least2
          done:   claim          by induction n: base combine (-1)*first; step combine (-1)*next, (1/2)*least
        """,
    ),
    "a maximum of a quotient": Theorem(
        name="a maximum of a quotient",
        region="0 < L, 0 < eta < 1/(2*L)",
        where={"u": "L*eta"},
        claim="u**2 <= max(1, u**2/((1 - 2*u)*(1 + u)))*(1 - 2*u)*(1 + u)",
        proof="done: claim by combine",
    ),
    "clients, a regulariser and a hypothesis": Theorem(
        name="clients, a regulariser and a hypothesis",
        region="0 < a",
        states=PlayedStates(clients_at_a_number),
        rounds={"n": 0},
        sequences={"t": "1"},
        assumed={"bounded below": "R is at least some number at the averages"},
        quantities={"gap": "R(mean) - low", "X": "mean(norm2(x_i))", "M": "norm2(mean)"},
        claim=("0 <= a*gap[n]", "M[n+1] <= X[n]/t[n]**2", "0 <= gap[n] + 2*gap[n+1]"),
        proof="""
          low:   0 <= gap[n]               by derivation
          all:   claim 1                   by combine a*low
          mean:  claim 2                   by derivation
          both:  claim 3                   by derivation
        """,
    ),
    "a limit along some rounds": Theorem(
        name="a limit along some rounds",
        region="0 < L, 0 < eta",
        states=PROXIMAL_POINT.states,
        rounds={"t": 1},
        quantities={"S": "norm2(y)", "F": "f(x)"},
        given={"values": "F[t] -> 0 as t in J"},
        claim=("0 <= F[t]", "S[t+1] -> 0 as t"),
        proof="""
          fall:  F[t+1] <= F[t] - eta/2*S[t+1]      by derivation
          size:  0 <= S[t+1]                        by derivation
          falls: F[t+1] <= F[t]                     by combine fall, (eta/2)*size
          above: claim 1                            by monotone falls, values
          F_lim: F[t] -> 0 as t                     by monotone falls, values
          small: S[t+1] <= 2/eta*(F[t] - F[t+1])    by combine (2/eta)*fall
          done:  claim 2                            by squeeze size, small, F_lim
        """,
    ),
    "Bernoulli's inequality": Theorem(
        name="Bernoulli's inequality",
        region="0 < x < 1, 1 <= s, 0 <= q <= 1",
        claim=("1 + s*x <= (1 + x)**s", "((1 - x)/(1 + x))**q <= 1 - 2*q*x/(1 + x)"),
        proof="""
          above:   claim 1      by bernoulli x, s
          between: claim 2      by bernoulli -2*x/(1 + x), q
        """,
    ),
    "an exponential": Theorem(
        name="an exponential", region="0 < x", claim="1 + x/2 <= exp(x/2)", proof="done: claim by exponential x/2"
    ),
    "two sides in one induction": Theorem(
        name="two sides in one induction",
        region="0 <= a <= 1, 0 <= b",
        rounds={"n": 0},
        claim="a**n*(a - 1) <= b",
        proof="""
          both: max(a**n*(a - 1) - b, a**n - 1) <= 0
                  by induction n: base (larger of: combine; combine); step (larger of: combine (a)*ih_1, 0*ih_2; combine (a)*ih_2, 0*ih_1)
          one:  a**n*(a - 1) - b <= 0     by larger in both
          done: claim                     by combine 1*one
        """,
    ),
    "an induction for every value of another round": Theorem(
        name="an induction for every value of another round",
        region="0 <= y",
        rounds={"n": 0, "m": 1},
        claim="((n + m + 1)/(n + m + 2))**n*y/(y + 1) <= y",
        proof="""
          part: y/(y + 1) <= y     by combine
          all:  ((n + m + 1)/(n + m + 2))**n <= 1
                  by induction n for every m: base combine; step combine ((n + m + 2)/(n + m + 3))*ih_next
          done: claim              by combine (y/(y + 1))*all, part
        """,
    ),
    "powers of both sides": Theorem(
        name="powers of both sides",
        region="0 < x, 0 < y, 0 <= s",
        claim="(1 + x)**(s + 2) <= (1 + x + y)**(s + 2)",
        proof="""
          base: 1 + x <= 1 + x + y      by combine
          done: claim                   by power base, s + 2
        """,
    ),
    "powers of a root": Theorem(
        name="powers of a root",
        region="0 < x, 0 < K, 0 < w, 0 <= g",
        given={"last": "x <= K*sqrt(w)"},
        claim="x**(4 + 2*g) <= (K*sqrt(w))**(4 + 2*g)",
        proof="done: claim by power last, 4 + 2*g",
    ),
    "a sign in roots": Theorem(
        name="a sign in roots",
        region="0 < x, 0 < q < 1",
        given={"root": "1/q <= exp(x/2)"},
        claim="exp(-x) <= q**2",
        proof="done: claim by combine (q**2*exp(-x)*(exp(x/2) + 1/q))*root",
    ),
    "a sum of powers": Theorem(
        name="a sum of powers",
        region="0 < q < 1",
        rounds={"n": 0, "m": 1, "i": 1},
        claim="(1 - q**2)*sum(q**(2*(n + i)), i, 1, m) == q**(2*n + 2)*(1 - q**(2*m))",
        proof="done: claim by induction m: base combine; step combine 1*ih",
    ),
    "resting on another": replace(
        PROXIMAL_POINT,
        name="resting on another",
        rests={"other": PROXIMAL_POINT},
        proof="done: claim by combine other",
    ),
    "the best of all s": Theorem(
        name="the best of all s",
        region="0 < L, 0 < eta",
        auxiliary="0 < s",
        states=PROXIMAL_POINT.states,
        rounds={"t": 1},
        quantities={"S": "norm2(y)", "D": "norm2(x)", "P": "2*dot(x, y)"},
        claim="P[t] <= 2*sqrt(S[t])*sqrt(D[t])",
        proof="""
          y:     0 <= S[t]                  by derivation
          x:     0 <= D[t]                  by derivation
          young: P[t] <= s*S[t] + D[t]/s    by derivation
          done:  claim                      by least s of young
        """,
    ),
}


@pytest.fixture(scope="module")
def proofs() -> dict[str, ProvedTheorem]:
    """The examples with their terms."""
    return {name: prove_theorem(theorem) for name, theorem in EXAMPLES.items()}


# ---- what is written, without Rocq ----------------------------------------------------------------------------------------


def test_states_are_any_that_are_what_the_function_makes_of_them(proofs: dict[str, ProvedTheorem]) -> None:
    """Vectors exist, states are equations in them, gradients are at their points; the theorem supposes it of every round."""
    said = write_theorem_for_rocq(proofs["proximal point"], "prox").files()["Statement.v"]
    assert "state_x st0 = x /\\\n  state_y st0 = (f_grad x)" in said
    assert "state_x st1 = (x - eta *: g0)%V" in said and "f_grad (x - eta *: g0)%V = g0" in said
    assert "(forall t : nat, (1 <= t)%nat -> played_1 eta f_grad (states t) (states (S t))) ->" in said
    assert "exists t : nat, (1%nat <= t <= T)%nat /\\ S_ (S t) <= 2 * (F 1%nat - F (S T)) / (eta * INR T)" in said


def test_states_that_are_drawn_have_a_law_in_every_round(proofs: dict[str, ProvedTheorem]) -> None:
    """Each state of the law has outcomes of its own, with their chances; quantities are expectations."""
    said = write_theorem_for_rocq(proofs["draws"], "draws").files()["Statement.v"]
    assert "branch = [(p, st1); (1 - p, st2)] /\\" in said and "forall law : nat -> list (R * state C)," in said
    assert "(forall t : nat, is_law (law t)) ->" in said
    assert "drawn_from (drawn_1 lr sigma p f_grad) (law t) (law (S t))" in said
    assert "let d (t : nat) : R := mean_over (d_of) (law t) in" in said


def test_sequences_and_hypotheses_are_premises(proofs: dict[str, ProvedTheorem]) -> None:
    """With the ranges of sequences; what states assume is a part of their predicate."""
    said = write_theorem_for_rocq(proofs["a sequence of numbers"], "numbers").statement
    assert "forall t : nat -> R," in said and "(forall n : nat, 0 <= t n) ->" in said and "(t 0%nat = 1) ->" in said
    said = write_theorem_for_rocq(proofs["clients, a regulariser and a hypothesis"], "clients").files()["Statement.v"]
    assert "subgradient R_ (mean x_i) s0" in said and "low - R_ (mean x_i) <= 0" in said.replace("low' ", "low ")
    said = write_theorem_for_rocq(proofs["a limit along some rounds"], "limit").statement
    assert "forall J : nat -> Prop,\n  endless J ->" in said and "tends_in J (fun t : nat => F t) 0" in said


def test_what_is_not_written_is_named() -> None:
    """Roots other than square roots."""
    third = Theorem("0 < x", "0 <= x**(1/3)", "done: claim by combine", name="a third root")
    with pytest.raises(NotAvailable, match="to the power 1/3 is not written"):
        write_theorem_for_rocq(prove_theorem(third), "third")


def test_rounds_of_clients_that_a_function_draws_are_not_written_as_if_all_took_part() -> None:
    """The average over the active clients is that of all on average alone."""
    with pytest.raises(NotAvailable, match="clients that are drawn"):
        write_theorem_for_rocq(prove_theorem(algorithm.UNBIASED), "unbiased")


def test_a_listed_method_with_drawn_clients_is_not_written_as_if_all_took_part() -> None:
    """Its statement would be of another round."""
    with pytest.raises(NotAvailable, match="drawn clients, noise"):
        write_theorem_for_rocq(prove_theorem(federated.SAMPLED), "sampled")


def test_the_order_in_which_a_derivation_is_stored_decides_nothing(proofs: dict[str, ProvedTheorem]) -> None:
    """Its hypotheses were taken in this order: Rocq refused terms that had been kept, as their names are sorted there."""
    proved = proofs["clients, a regulariser and a hypothesis"]
    (system,) = (stored["system"] for stored in proved.data["derivations"]["both"])
    assert (
        len(system["hypotheses"]) == 2 and len({str(system["multipliers"][row]) for row in system["hypotheses"]}) == 2
    )
    turned = {**proved.data, "derivations": _turn(proved.data["derivations"])}
    files = [write_theorem_for_rocq(replace(proved, data=data), "same").files() for data in (proved.data, turned)]
    assert sorted(files[0]["Proof.v"].splitlines()) == sorted(files[1]["Proof.v"].splitlines())


def _turn(data: Any) -> Any:
    """The same, with all names of hypotheses in the other order."""
    if isinstance(data, list):
        return [_turn(part) for part in data]
    if not isinstance(data, dict):
        return data
    return {k: dict(reversed(v.items())) if k == "hypotheses" else _turn(v) for k, v in data.items()}


# ---- accepted and refused ---------------------------------------------------------------------------------------------------


@needs_rocq
@pytest.mark.parametrize("name", EXAMPLES)
def test_rocq_accepts_theorems_about_played_states_and_numbers(
    name: str, proofs: dict[str, ProvedTheorem], kept: Path
) -> None:
    """Without a hand."""
    assert ask(write_theorem_for_rocq(proofs[name], "accepted"), kept) == ""


@needs_rocq
def test_rocq_refuses_a_claim_about_played_states_that_is_one_percent_too_strong(
    proofs: dict[str, ProvedTheorem], kept: Path
) -> None:
    """In statement and lines alike."""
    theorem = write_theorem_for_rocq(proofs["proximal point"], "refused")
    old, new = "<= 2 * (F 1%nat - F (S T)) / (eta * INR T)", "<= 2 * (F 1%nat - F (S T)) / (101 / 100 * eta * INR T)"
    assert old in theorem.statement and old in theorem.proof
    wrong = replace(theorem, statement=theorem.statement.replace(old, new), proof=theorem.proof.replace(old, new))
    assert "Error" in ask(wrong, kept)


@needs_rocq
@pytest.mark.parametrize(
    ("name", "premise"),
    [
        ("clients, a regulariser and a hypothesis", "low - R_ (mean x_i) <= 0 /\\\n"),
        ("draws", "(forall t : nat, is_law (law t)) ->\n"),
        ("draws", "(1 - p, st2)"),
        ("a sequence of numbers", "(t 0%nat = 1) ->\n"),
        ("a limit along some rounds", "endless J ->\n"),
        ("proximal point", "in_class L 0 f f_grad ->\n"),
        ("resting on another", "in_class L 0 f f_grad ->\n"),
        ("Bernoulli's inequality", "1 <= s ->\n"),
        ("an exponential", "0 < x ->\n"),
    ],
)
def test_rocq_refuses_a_theorem_without_one_of_its_hypotheses(
    name: str, premise: str, proofs: dict[str, ProvedTheorem], kept: Path
) -> None:
    """The proof as it was, for a statement that supposes less."""
    theorem = write_theorem_for_rocq(proofs[name], "refused")
    whole = f"{theorem.definitions}\n\n{theorem.statement}"
    assert premise in whole
    assert "Error" in ask(replace(theorem, definitions="", statement=whole.replace(premise, "", 1)), kept)

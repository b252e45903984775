"""Played states in words: what is written is what is played and proved, and nothing of it is left out."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.algorithms import FedPD
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims import norm2
from fedtheory.claims.statements.formula_texts import write, write_line
from fedtheory.claims.statements.sentences import tell
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.telling import _Teller, tell_states
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import describe_theorem, list_states, write_latex
from fedtheory.claims.statements.worlds import SymbolicWorld, bar
from fedtheory.claims.statements.written import Unwritten, WrittenNumber, WrittenWorld, key_of
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.vectors import Form, Vector
from paper_checks.dualfl.section_3_2_a_theorem_3_2 import THEOREM_3_2, THEOREM_3_2_EXACT
from paper_checks.dualfl.section_3_2_b_theorem_3_3 import THEOREM_3_3
from paper_checks.dualfl.section_6_1_dual_formulation import DUALITY, RELATION
from paper_checks.dualfl.section_6_2_inexact_fista import LINEAR_ERRORS, PLAIN_ERRORS, PROPOSITION_6_3
from paper_checks.dualfl.section_6_3_duality_of_dualfl_and_fista import PREDUAL
from paper_checks.fedpd import rounds as fedpd_rounds
from paper_checks.fedslr import appendix_c_3_proof_of_theorem_1 as fedslr
from paper_checks.fedslr.section_5_a_theorem_1 import STATIONARY
from paper_checks.fedslr.section_5_d_theorem_3 import NEXT_POINT
from paper_checks.fedslr.z_ours_equivalences import feddyn
from tests.support.read_words import WordReader, is_same
from tests.support.theorems import PROXIMAL_POINT


def told_of(theorem: Theorem) -> list[str]:
    return [write_line(line) for line in list_states(theorem)]


# ---- what an author may not hide ---------------------------------------------------------------------------------------


def descent(world: Any, p: Any, last: int, slope: Any = None, assume: Any = None) -> list[Any]:
    """Gradient descent; ``slope``: the gradient that x is said to have; ``assume``: what every step is said to do."""
    f, x, xs = world.function(p.L, 0), world.vector("x"), world.vector("xs")
    world.at(f, xs, "star", g=x * 0)
    out = []
    for k in range(last + 1):
        out.append(SimpleNamespace(x=x, f=f, x_star=xs))
        g, _ = world.at(f, x, f"x{k}", g=None if slope is None else slope(x))
        if assume is not None:
            assume(world, k, last, x, x - g / p.L, xs)
        x = x - g / p.L
    return out


def of_descent(play: Any, claim: str = "d[T] <= (1/100)**T*d[0]", **more: Any) -> Theorem:
    return Theorem(
        region="0 < L",
        states=PlayedStates(play, start=play),
        rounds={"t": 0, "T": 0},
        quantities={"d": "norm2(x - x_star)"},
        claim=claim,
        **more,
    )


def test_a_gradient_that_every_state_is_said_to_have_is_told() -> None:
    """With the gradient zero at every x the gap is zero in all rounds; the sentence alone did not say why."""
    cheat = of_descent(lambda w, p, last: descent(w, p, last, slope=lambda x: x * 0), claim="d[T] <= d[0]")
    assert "0 is the gradient of f at x" in told_of(cheat)
    honest = told_of(of_descent(descent, claim="d[T] <= d[0]"))
    assert "x^{t+1} = x^t - 1/L grad f(x^t)" in honest
    assert not any(line.startswith("0 is") and "x*" not in line for line in honest)


def fast(world: Any, k: int, last: int, x: Any, after: Any, xs: Any) -> None:
    world.assume(f"fast {k}", norm2(after - xs) * 100 - norm2(x - xs))


def test_an_assumed_form_stands_in_the_sentence_with_or_without_words() -> None:
    said = "assumed, fast 0: 100 ||x^{t+1} - x*||^2 <= ||x^t - x*||^2"
    plain = of_descent(lambda w, p, last: descent(w, p, last, assume=fast))
    assert f"{said};" in describe_theorem(plain)
    worded = of_descent(lambda w, p, last: descent(w, p, last, assume=fast), assumed={"fast": "a good step"})
    assert f"{said} (a good step);" in describe_theorem(worded)
    added = replace(worded, added=("fast",))
    assert f"{said} (a good step) (added: the paper does not print it);" in describe_theorem(added)
    assert any(line.startswith(said) for line in tell(plain).assumed)


def only_over_three(world: Any, k: int, last: int, x: Any, after: Any, xs: Any) -> None:
    if last == 2:
        fast(world, k, last, x, after, xs)


def test_what_is_assumed_for_lines_about_more_rounds_is_told_too() -> None:
    play = lambda w, p, last: descent(w, p, last, assume=only_over_three)  # noqa: E731
    one = of_descent(play, proof="step: d[t+1] <= d[t]/100 by derivation\ndone: claim by contraction of step")
    assert "fast" not in describe_theorem(one)
    line = "two: d[t+2] <= d[t]/10000 by derivation\nstep: d[t+1] <= d[t]/100 by combine two\n"
    two = of_descent(play, proof=f"{line}done: claim by contraction of step")
    assert "assumed, fast 0: 100 ||x^{t+1} - x*||^2 <= ||x^t - x*||^2" in describe_theorem(two)


def flips(world: Any, p: Any, last: int) -> list[Any]:
    """x becomes x/2, or its gradient step, by a coin; both are evaluated again at the state after."""
    f, x = world.function(p.L, 0), world.vector("x")
    g, _ = world.at(f, x, "f at x")
    after = [(p.q, SimpleNamespace(x=x / 2)), (1 - p.q, SimpleNamespace(x=x - g / p.L))]
    return [SimpleNamespace(x=x), after][: last + 1]


def test_every_outcome_of_a_draw_is_told_and_proved_about() -> None:
    theorem = Theorem(
        "0 < L, 0 <= q <= 1",
        "V[t+1] - V[t] <= (1 + L)*S[t]",
        "size: 0 <= S[t] by derivation",
        PlayedStates(flips),
        {"V": "f(x)", "S": "norm2(x)"},
        {"t": 0},
    )
    told = "\n".join(told_of(theorem))
    assert "with probability q: x^{t+1} = 1/2 x^t" in told
    assert (
        "with probability 1 - q: x^{t+1} = x^t - 1/L g^t" in told
        or "with probability 1 - q: x^{t+1} = x^t - 1/L grad f(x^t)" in told
    )
    theorem.states.first_round(theorem.parameters)  # type: ignore[union-attr]


def test_numbers_of_a_sequence_have_their_range() -> None:
    over = Theorem("0 < y", "5*y <= y*s[n]", sequences={"s": "5"}, rounds={"n": 0})
    assert "; s[n] >= 5;" in describe_theorem(over)
    between = replace(over, sequences={"s": "5..6*y"})
    assert "; 5 <= s[n] <= 6 y;" in describe_theorem(between)


def test_what_a_first_state_has_is_told() -> None:
    def begins(world: Any, p: Any) -> Any:
        f, x = world.function(p.L, 0), world.vector("x0")
        return SimpleNamespace(x=x * 0, f=f, x_star=x)

    theorem = of_descent(descent, claim="d[T] <= d[1]")
    begun = replace(theorem, states=PlayedStates(descent, begins=begins, least=1), rounds={"T": 1})
    assert "at first: x^1 = 0" in told_of(begun)
    assert "at first: x^0 = 0" not in told_of(theorem)


def test_what_is_added_is_shown_as_such_and_has_to_be_there() -> None:
    mark = "(added: the paper does not print it)"
    assert f"nu < L {mark}" in describe_theorem(THEOREM_3_3) and f"r < 1 {mark}" in describe_theorem(PROPOSITION_6_3)
    for theorem in (DUALITY, RELATION):
        assert f"s* = s - mean(s) {mark}" in describe_theorem(theorem) and any(
            mark in line for line in told_of(theorem)
        )
    with pytest.raises(
        InvalidInput, match="'L < nu' is said to be added, and is no hypothesis and no piece of the region"
    ):
        replace(THEOREM_3_3, added=("L < nu",))
    with pytest.raises(InvalidInput, match="nothing is told of such a field"):
        describe_theorem(replace(DUALITY, added=("s_stars",)))


# ---- methods -------------------------------------------------------------------------------------------------------------


def fedpd_play(used: bool, kind: Any = FedPD) -> Any:
    def play(world: Any, p: Any, last: int) -> list[Any]:
        x, x_i, lam = world.vector("x"), world.vector("x_i", True), world.vector("lam", True)
        answers = world.vector("a", True)
        before = {"x": x, "x_i": x_i, "x0_i": x + x_i * 0, "lam_i": lam}
        after = world.round_of(
            lambda local: kind(p.eta, local), lambda **f: FedPDState(**f, memory=None), before, answers
        )
        first = SimpleNamespace(x=x, x_i=x_i, lam_i=lam)
        other = {"x": bar(answers), "x_i": answers, "lam_i": lam}
        second = SimpleNamespace(**({n: after[n] for n in other} if used else other))
        return [first, second][: last + 1]

    return play


def of_fedpd(play: Any) -> Theorem:
    return Theorem("0 < eta", "X[t] <= X[t]", "", PlayedStates(play), {"X": "norm2(x)"}, {"t": 0})


def test_the_method_is_named_where_its_own_round_makes_the_next_state() -> None:
    """And not where it is played and its result is thrown away, nor for a class that only has the name."""
    assert "rounds of FedPD, written out below" in describe_theorem(of_fedpd(fedpd_play(used=True)))
    assert "lam_i^{t+1} = lam_i^t + 1/eta (x_i^{t+1} - x^t)" in told_of(of_fedpd(fedpd_play(used=True)))
    assert "rounds of no listed method" in describe_theorem(of_fedpd(fedpd_play(used=False)))
    impostor = type("FedPD", (FedPD,), {})
    assert "rounds of no listed method" in describe_theorem(of_fedpd(fedpd_play(used=True, kind=impostor)))


@pytest.mark.parametrize(("theorem", "method"), [(THEOREM_3_2, "DualFL"), (THEOREM_3_2_EXACT, "DualFL")])
def test_the_ledgers_theorems_name_their_method(theorem: Theorem, method: str) -> None:
    assert f"rounds of {method}, written out below" in describe_theorem(theorem)
    assert any(f"one round of {method}, by its own code" in line for line in told_of(theorem))


# ---- what is told is true, and is what is proved ---------------------------------------------------------------------------

STATES = {
    "proximal point": PROXIMAL_POINT,
    "DualFL, any answers": PLAIN_ERRORS,
    "DualFL, exact answers": THEOREM_3_2_EXACT,
    "DualFL, smooth": LINEAR_ERRORS,
    "DualFL is Algorithm 2": PREDUAL,
    "duality": DUALITY,
    "(21)": RELATION,
    "FedPD, exact": replace(of_fedpd(None), region="0 < L, 0 < eta", states=fedpd_rounds.EXACT),
    "FedPD, inexact": replace(of_fedpd(None), region="0 < L, 0 < eta, 0 < eps", states=fedpd_rounds.INEXACT),
    "FedSLR": fedslr.LEMMA_3,
    "FedSLR near a cluster point": STATIONARY,
    "a client of FedSLR": fedslr.LEMMA_1,
    "proximal steps": NEXT_POINT,
}


@pytest.mark.parametrize("name", STATES)
def test_every_equation_that_is_told_is_true_of_what_is_played(name: str) -> None:
    teller = _Teller(STATES[name])
    for last in (1, 2) if "DualFL" not in name else (1,):
        played = teller.play(last)
        states = [outcomes[0][1] for outcomes in played.states]
        reader, equations = WordReader(played.writer, teller.numbers, states, teller.owners), played._equations()
        assert equations
        for (field, k), ((tree,),) in equations.items():
            assert isinstance(tree, ast.Compare)
            assert is_same(states[k][field], reader.value(tree.comparators[0])), f"{field}: {write(tree)}"
        assumed = [line for name, line in played.lines() if name]
        for (_, form), (tree,) in zip(played.world.hypotheses, assumed, strict=True):
            assert isinstance(tree, ast.Compare)
            assert is_same(form, reader.difference(tree)), write(tree)


@pytest.mark.parametrize("name", STATES)
def test_what_is_told_is_played_as_in_a_proof(name: str) -> None:
    """The world that remembers and the one of proofs have the same leaves, evaluations and hypotheses at the same numbers."""
    teller = _Teller(STATES[name])
    numbers = {
        n: v + 0 * v if not isinstance(v, WrittenNumber) else v.__class__.__mro__[1](v)
        for n, v in teller.numbers.items()
    }
    plain, written = SymbolicWorld(), WrittenWorld()
    states = [
        teller.states.play_in(world, n, 1, start=False) for world, n in ((plain, numbers), (written, teller.numbers))
    ]
    assert (plain.mean, plain.deviation, plain.value_names) == (written.mean, written.deviation, written.value_names)
    for (name_a, a), (name_b, b) in zip(plain.hypotheses, written.hypotheses, strict=True):
        assert name_a == name_b and key_of(a) == key_of(b)
    for f, g in zip(plain.functions, written.functions, strict=True):
        assert (f.name, f.L, f.mu, f.client) == (g.name, g.L, g.mu, g.client)
        for e, o in zip(f.evaluations, g.evaluations, strict=True):
            assert key_of(e.x) == key_of(o.x) and key_of(e.g) == key_of(o.g)
    for one, other in zip(*states, strict=True):
        known: tuple[Mapping[str, Any], Mapping[str, Any]] = one[0][1], other[0][1]
        assert known[0].keys() == known[1].keys()
        for field, value in known[0].items():
            if isinstance(value, Vector | Form):
                assert key_of(value) == key_of(known[1][field])


@pytest.mark.parametrize("name", STATES)
def test_every_state_is_written_out(name: str) -> None:
    told = tell_states(STATES[name])
    assert told.functions and told.states
    text = " ".join(map(write_line, told.states))
    assert not any(len(word) > 5 and word.isdigit() for word in text.replace("/", " ").split())
    write_latex(STATES[name])


def test_a_number_that_was_made_of_other_things_is_refused_and_not_written_as_digits() -> None:
    def play(world: Any, p: Any, last: int) -> list[Any]:
        x = world.vector("x")
        rate = p.eta.limit_denominator(10**12) if hasattr(p.eta, "limit_denominator") else p.eta
        return [SimpleNamespace(x=x, y=x * rate) for _ in range(last + 1)]

    theorem = Theorem("0 < eta", "X[t] <= X[t]", "", PlayedStates(play), {"X": "norm2(y)"}, {"t": 0})
    with pytest.raises(Unwritten, match="not made of the parameters"):
        tell_states(theorem)
    assert tell(theorem).sentence.startswith("It could not be written out: Unwritten")


# ---- what is drawn -------------------------------------------------------------------------------------------------------


def doubles_or_moves(world: Any, p: Any, last: int) -> list[Any]:
    """x becomes 2x, and with probability p it becomes y, which stays; z is x + y."""
    x, y = world.vector("x"), world.vector("y")
    states: list[Any] = [SimpleNamespace(x=x, y=y, z=x + y)]
    if last:
        states.append([(c, SimpleNamespace(x=new, y=y, z=x + y)) for c, new in ((1 - p.p, x * 2), (p.p, y))])
    return states


def test_every_outcome_of_a_draw_is_told_and_what_they_share_once() -> None:
    drawn = Theorem(
        "0 < p < 1",
        "0 <= d[t]",
        states=PlayedStates(doubles_or_moves),
        rounds={"t": 0},
        quantities={"d": "norm2(x - y)"},
    )
    told = told_of(drawn)
    assert "with probability 1 - p: x^{t+1} = 2 x^t" in told and "with probability p: x^{t+1} = y" in told
    shared = replace(drawn, quantities={"d": "norm2(z)"})
    assert [line for line in told_of(shared) if "z^{t+1}" in line and "probability" in line] == []


def test_rounds_of_active_clients_are_told() -> None:
    """Those that take part have the new vector, and the others keep theirs."""
    told = "\n".join(told_of(feddyn()))
    assert "made_x_i = if_active([answers 0], [w_i 0]) - if_active([answers 0], [w_i 0])" in told
    assert "drawn_mean([answers 0])" in told


def test_a_partial_function_has_a_name_that_is_the_same_in_every_process() -> None:
    """A term says whose states it is about; a page that is made elsewhere finds the rounds by it."""
    states = PlayedStates(partial(plays_of, factor=2, inner=told_of))
    assert str(states) == f"states that {__name__}.plays_of(factor=2, inner={__name__}.told_of) plays, from round 0 on"


def plays_of(world: Any, p: Any, last: int, factor: int, inner: Any) -> list[Any]:
    """Vectors that grow."""
    return [SimpleNamespace(x=world.vector("x") * factor**k) for k in range(last + 1)]

"""Theorems for every round: scripts become terms that the checker accepts, and what is forged is refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from theorems import CONVERGES, EXAMPLES, FEDAVG, GRADIENT_DESCENT, PROXIMAL_POINT, SCAFFNEW

from fedtheory.algorithms.diana import Diana, DianaState
from fedtheory.algorithms.gradient_descent import GradientDescent, PointState
from fedtheory.claims.statements.theorems.mistakes import judge_near_miss, list_near_misses
from fedtheory.claims.statements.theorems.proving import prove_theorem, verify_term
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Inside, Theorem
from fedtheory.claims.statements.theorems.writing import describe_theorem
from fedtheory.claims.statements.worlds import SymbolicWorld, norm2
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.local.compression import AnyUnbiased
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.refusals import TermRefused


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_script_becomes_a_term_that_is_its_theorems(name: str) -> None:
    theorem = EXAMPLES[name]
    proof = prove_theorem(theorem)
    assert check_term(proof.data).claims == theorem.claims
    assert verify_term(theorem, proof.data).claims == theorem.claims


def with_proof(theorem: Theorem, old: str, new: str, **change: Any) -> Theorem:
    assert old in theorem.proof
    return replace(theorem, proof=theorem.proof.replace(old, new), **change)


FORGED = {
    "all lines say a little too much": with_proof(GRADIENT_DESCENT, "L/2", "L/4", claim="gap[N] <= L*dist2[0]/(4*N)"),
    "a proof of another claim": with_proof(GRADIENT_DESCENT, "claim ", "gap[N] <= L*dist2[0]/N "),
    "a negative multiplier": with_proof(GRADIENT_DESCENT, "combine all, pos(t=N)", "combine (1/N)*all, (-1)*pos(t=N)"),
    "no round between": with_proof(GRADIENT_DESCENT, "ih, step(t=N)", "ih, step(t=N-1)"),
    "a premise from below": with_proof(GRADIENT_DESCENT, "combine all, pos(t=N)", "combine done, pos(t=N)"),
    "a faster fall": with_proof(
        SCAFFNEW, "<= (1 - lr*mu)**2*X", "<= 0.99*(1 - lr*mu)**2*X", where={"rho": "max(0.99*(1 - lr*mu)**2, 1 - p**2)"}
    ),
    "the rate of duals for both": with_proof(
        SCAFFNEW, "<= (1 - lr*mu)**2*X", "<= (1 - p**2)*X", where={"rho": "1 - p**2"}
    ),
    "a product of expectations": with_proof(SCAFFNEW, "combine round, near, duals", "combine round, near, X[t]*duals"),
    "a probability of two": replace(SCAFFNEW, region="0 < mu < L, 0 < lr < 2/(mu + L), 0 < p <= 2"),
    "a smaller factor": with_proof(FEDAVG, "0.711", "0.709", claim=str(FEDAVG.claim).replace("0.711", "0.709")),
    "a smaller floor": with_proof(FEDAVG, "0.386", "0.37", claim=str(FEDAVG.claim).replace("0.386", "0.37")),
    "the sum starts before rounds do": with_proof(
        PROXIMAL_POINT, "t, 1, T", "t, 0, T", claim="exists t in 0..T: S[t+1] <= 2*(F[1] - F[T+1])/(eta*T)"
    ),
    "the least of an empty sum": replace(PROXIMAL_POINT, rounds={"t": 1, "T": 0}),
    "the witness outside of the sum": replace(
        PROXIMAL_POINT, claim="exists t in 1..1: S[t+1] <= 2*(F[1] - F[T+1])/(eta*T)"
    ),
    "a limit without a bound": with_proof(CONVERGES, "squeeze pos(t=T), all", "squeeze pos(t=T), step(t=T)"),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_is_refused(name: str) -> None:
    with pytest.raises(TermRefused):
        prove_theorem(FORGED[name])


def test_a_refusal_names_line_rule_what_was_expected_and_what_was_found() -> None:
    with pytest.raises(TermRefused, match=r"line step, by derivation: expected .* in one round; found refuted at L = "):
        prove_theorem(FORGED["all lines say a little too much"])


def stale(world, p, last):
    """Gradient descent that never asks for another gradient: what it takes of any state, that y is the gradient at x, no round leaves."""
    f, x = world.function(p.L, 0), world.vector("x")
    y, _ = world.at(f, x, "g")
    return [SimpleNamespace(x=x - y * k / p.L, y=y, f=f) for k in range(last + 1)]


def forgets(world, p, last):
    """A number that is ||x||^2 of any state, and nothing after a round."""
    x = world.vector("x")
    return [SimpleNamespace(x=x / 2**k, size=norm2(x) if k == 0 else norm2(x * 0)) for k in range(last + 1)]


def begins_elsewhere(world, p):
    """A first state with a gradient of nothing."""
    f, x, y = world.function(p.L, 0), world.vector("x"), world.vector("y")
    return SimpleNamespace(x=x, y=y, f=f)


NOT_AGAIN = {
    "a gradient that is not asked for anew": (PlayedStates(stale), "y", "gradient of f"),
    "a number that is another one after a round": (PlayedStates(forgets), "size", "number size"),
    "a first state that is no state": (replace(PROXIMAL_POINT.states, begins=begins_elsewhere), "y", "gradient of f"),
}


@pytest.mark.parametrize("name", NOT_AGAIN)
def test_the_state_after_any_state_is_any_state(name: str) -> None:
    states, field, reason = NOT_AGAIN[name]
    with pytest.raises(CannotTrace, match=reason):
        states.first_round(PROXIMAL_POINT.parameters)
    quantity = "size" if field == "size" else f"norm2({field})"
    theorem = Theorem(
        "0 < L, 0 < eta", "S[T+1] <= S[T]", "done: claim by derivation", states, {"S": quantity}, {"T": 1}
    )
    with pytest.raises(TermRefused, match="it was not shown that"):
        prove_theorem(theorem)


def test_lines_do_not_speak_of_rounds_before_states_have_what_is_taken_of_them() -> None:
    """At the start the proximal point method has no gradient at x."""
    with pytest.raises(TermRefused, match="let t begin there"):
        prove_theorem(replace(PROXIMAL_POINT, rounds={"t": 0, "T": 1}))


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_mistake_that_says_more_passes_with_the_proof_as_it_stands(name: str) -> None:
    theorem = EXAMPLES[name]
    proof = prove_theorem(theorem)
    found = {mistake.what: judge_near_miss(theorem, proof.data, mistake) for mistake in list_near_misses(theorem)}
    assert len(found) > 10
    assert "slack" not in found.values()


def tampered(data: Any, change: Any) -> Any:
    fresh = copy.deepcopy(dict(data))
    change(fresh)
    return fresh


def _first(data: Any, line: str) -> Any:
    return data["derivations"][line][0]


TAMPERED = {
    "another class": lambda d: d["functions"]["f"].update(L="2*L"),
    "another region": lambda d: d["parameters"][0].update(low="-1"),
    "an earlier round": lambda d: d["rounds"].update(t=-1),
    "a form twice as large": lambda d: _first(d, "step")["quantities"]["forms"].update(
        {"gap[1]": _first(d, "step")["quantities"]["forms"]["gap[0]"]}
    ),
    "no derivation": lambda d: d["derivations"].update(step=[]),
    "the derivation of another line": lambda d: d["derivations"].update(step=d["derivations"]["pos"]),
    "another format": lambda d: d.update(format="fedtheory proof 0"),
    "no lines": lambda d: d.update(lines=[]),
    "a list for a mapping": lambda d: d.update(derivations=[]),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_term_that_was_tampered_with_is_refused(name: str) -> None:
    data = tampered(prove_theorem(GRADIENT_DESCENT).data, TAMPERED[name])
    with pytest.raises(TermRefused):
        check_term(data)


def test_a_term_about_other_states_is_refused() -> None:
    """The derivations of twice the distance are consistent, and not the theorem's."""
    data = prove_theorem(CONVERGES).data
    other = replace(CONVERGES, quantities={"dist2": "2*norm2(x - x_star)"})
    forged = {**data, "quantities": dict(other.quantities)}
    assert check_term(forged).claims  # a consistent term about other quantities than its text says
    with pytest.raises(TermRefused, match="about other states"):
        verify_term(other, forged)


def test_a_symbol_that_decides_nothing_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="'mu' decides nothing"):
        replace(GRADIENT_DESCENT, region="0 < mu, 0 < L")
    with pytest.raises(InvalidInput, match="'V' decides nothing"):
        replace(GRADIENT_DESCENT, quantities={**GRADIENT_DESCENT.quantities, "V": "norm2(x)"})


@pytest.mark.parametrize("name", ["b", "n", "a"])
def test_a_range_of_a_sequence_speaks_of_parameters_of_the_region(name: str) -> None:
    """Another name would be any number: of a round n it would say s[k] <= n of all k and n, and so of an auxiliary parameter."""
    told = {"claim": "s[n] <= s[n] + x", "proof": "done: claim by combine", "rounds": {"n": 0}}
    proved = prove_theorem(Theorem("0 < x", **told, sequences={"s": "-x..2*x"}))
    with pytest.raises(InvalidInput, match=f"'{name}', of which the range '0..{name}' of the sequence 's' speaks"):
        Theorem("0 < x", **told, sequences={"s": f"0..{name}"}, auxiliary="0 < a")
    with pytest.raises(TermRefused, match="a range in the parameters x"):
        check_term({**proved.data, "sequences": {"s": f"0..{name}"}})


def test_a_number_of_each_client_must_be_averaged() -> None:
    with pytest.raises(TermRefused, match=r"mean\(norm2\(x_i - x_star\)\)"):
        prove_theorem(replace(SCAFFNEW, quantities={**SCAFFNEW.quantities, "X": "norm2(x_i - x_star)"}))


def test_multipliers_beside_roots_of_quantities_are_asked_for() -> None:
    """None are looked for where equations are no polynomials in quantities: the refusal says what to write."""
    lines = "low: 0 <= S[t] by derivation\nsame: 0 <= S[t] + sqrt(S[t]) by combine 1*low\ndone: claim by combine {}same"
    stated = replace(PROXIMAL_POINT, claim="0 <= 2*S[t] + 2*sqrt(S[t])", rounds={"t": 1}, quantities={"S": "norm2(y)"})
    assert prove_theorem(replace(stated, proof=lines.format("2*"))).proved.claims
    with pytest.raises(TermRefused, match="every multiplier"):
        prove_theorem(replace(stated, proof=lines.format("")))


def test_a_term_is_this_theorems_whatever_the_order_of_its_factors() -> None:
    """Another process may write the factors of stored forms in another order; what they say is the same."""
    data = copy.deepcopy(dict(prove_theorem(SCAFFNEW).data))
    stored = data["derivations"]["round"][0]["quantities"]
    count = len(stored["factors"])
    stored["factors"].reverse()
    for form in stored["forms"].values():
        for place in (form["S"], form["Q"], form["f"], form):
            for key, value in place.items():
                if isinstance(value, list):
                    place[key] = [value[0], {str(count - 1 - int(k)): power for k, power in value[1].items()}]
    stored["forms"] = dict(reversed(stored["forms"].items()))
    assert count > 1 and verify_term(SCAFFNEW, data).claims == SCAFFNEW.claims
    stored["forms"]["X[1]"]["S"] = {}
    with pytest.raises(TermRefused):
        verify_term(SCAFFNEW, data)


def test_a_theorem_may_claim_more_than_nine_things() -> None:
    said = tuple(f"{k} <= {k + 1}" for k in range(12))
    script = "\n".join(f"line_{k + 1}: claim {k + 1} by combine" for k in range(12))
    assert len(prove_theorem(Theorem("", said, script)).proved.claims) == 12
    with pytest.raises(InvalidInput, match="a claim from 1 to 12"):
        Theorem("", said, script.replace("claim 12", "claim 13"))


def play_shorter(world: Any, p: Any, last: int, begun: bool = False) -> list[Any]:
    """y becomes c y, beside x; begun at x."""
    x, y = world.vector("x"), world.vector("y")
    y = x if begun else y
    return [SimpleNamespace(x=x, y=y * p.c**k, half=x / 2) for k in range(last + 1)]


def play_rounds(world: Any, p: Any, last: int) -> list[Any]:
    """A round goes from x to any x_new."""
    points = [world.vector(f"x{k}") for k in range(last + 2)]
    return [SimpleNamespace(x=x, x_new=new, twice=x * 2) for x, new in zip(points, points[1:], strict=False)]


SHORTER = Theorem(
    region="0 < c <= 1",
    states=PlayedStates(play_shorter, start=lambda world, p, last: play_shorter(world, p, last, begun=True)),
    rounds={"k": 0, "E": 1},
    quantities={"A": "norm2(y)", "D": "norm2(x)"},
    claim="A[E] <= D[E]",
    proof="""
      begin: A[0] == D[0]                    by identity
      large: 0 <= A[k]                       by derivation
      step:  A[k+1] == c**2*A[k]             by identity
      same:  D[k+1] == D[k]                  by identity
      all:   A[k] <= D[k]                    by induction k: base combine begin; step combine ih, step, same, (1 - c**2)*large
      done:  claim                           by combine all(k=E)
    """,
)
FALLS = Theorem(
    region="0 < c <= 1",
    states=PlayedStates(play_rounds),
    rounds={"r": 0, "R": 0},
    quantities={"A": "norm2(x_new)", "D": "norm2(x)"},
    given={"inner": "A[r] <= D[r]"},
    inside={"inner": Inside(SHORTER, "E", {"x": "x", "x_new": "y"})},
    claim="D[R] <= D[0]",
    proof="""
      next: D[r+1] == A[r]                   by identity
      done: claim                            by induction R: base combine; step combine ih, next(r=R), inner(r=R)
    """,
)


def test_a_round_is_what_a_theorem_says_of_steps_inside() -> None:
    proof = prove_theorem(FALLS)
    assert proof.proved.given == () and verify_term(FALLS, proof.data).claims == FALLS.claims
    told = describe_theorem(FALLS)
    assert "given inner" not in told and "x_new is y: A[E] <= D[E]" in told and "0 < c <= 1" in told
    supposed = {key: value for key, value in proof.data.items() if key != "inside"}
    assert check_term(supposed).given == ("inner",)
    with pytest.raises(TermRefused, match="inside of a round"):
        verify_term(FALLS, supposed)


WRONG = {
    "another point": ({"x": "half", "x_new": "y"}, "D is norm2"),
    "a field that is another one": ({"x": "x", "x_new": "y", "twice": "half"}, "it was not shown"),
    "a field of one alone": ({"x": "x"}, "A is norm2"),
}


@pytest.mark.parametrize("name", WRONG)
def test_steps_that_do_not_end_where_the_round_does_are_refused(name: str) -> None:
    fields, said = WRONG[name]
    with pytest.raises((CannotTrace, InvalidInput), match=said):
        prove_theorem(replace(FALLS, inside={"inner": Inside(SHORTER, "E", fields)}))


def test_steps_of_a_smaller_region_are_refused() -> None:
    """The hypothesis would be supposed where nothing shows it."""
    with pytest.raises(InvalidInput, match=r"not what inner says: .* on this region; found another one"):
        prove_theorem(replace(FALLS, region="0 < c <= 2"))


def _play_beside(world: Any, p: Any, last: int, begun: bool = False, reads: bool = False) -> list[Any]:
    """A vector, and another one that is the same at first; ``reads``: by a factor s/s."""
    x, y = world.vector("x"), world.vector("y")
    factor = p.s / p.s if reads else 1
    return [SimpleNamespace(x=x, y=(x if begun else y) * factor) for _ in range(last + 1)]


@pytest.mark.parametrize("reads", [False, True])
def test_states_inside_know_nothing_of_what_is_auxiliary(reads: bool) -> None:
    """A bound for every s > 0 is one of states that are the same for all of them."""

    play = partial(_play_beside, reads=reads)
    inner = replace(
        SHORTER,
        region="0 < s",
        states=PlayedStates(play, start=partial(play, begun=True)),
        claim="A[E] <= s*D[E] + D[E]/s",
        proof="""
          begin: A[0] == D[0]   by identity
          large: 0 <= D[k]      by derivation
          step:  A[k+1] == A[k] by identity
          same:  D[k+1] == D[k] by identity
          all:   A[k] <= D[k]   by induction k: base combine begin; step combine ih, step, same
          done:  claim          by combine all(k=E), (s + 1/s - 1)*large(k=E)
        """,
    )
    outer = replace(
        FALLS,
        auxiliary="0 < s",
        given={"inner": "A[r] <= s*D[r] + D[r]/s"},
        inside={"inner": Inside(inner, "E", {"x": "x", "x_new": "y"})},
        rounds={"r": 0},
        claim="A[r] <= 2*sqrt(D[r])*sqrt(D[r])",
        proof="large: 0 <= D[r] by derivation\ndone: claim by least s of inner",
    )
    if not reads:
        assert prove_theorem(outer).proved.claims == (outer.claim,)
        return
    with pytest.raises(InvalidInput, match="know nothing of auxiliary parameters, s"):
        prove_theorem(outer)


def test_gradients_that_are_given_to_a_method_are_those_of_the_point_where_it_asks() -> None:
    """Its own code steps along them; with the gradient of another point, or without errors for what it compresses, it is refused."""
    world = SymbolicWorld()
    x, y, g = (world.vector(name) for name in ("x", "y", "g"))
    stepped = world.round_of(lambda local: GradientDescent(2), PointState, {"x": x}, g, at=x)["x"]
    assert all(value == 0 for value in (stepped - x + g * 2).terms.values())
    with pytest.raises(InvalidInput, match="at another point"):
        world.round_of(lambda local: GradientDescent(2), PointState, {"x": x}, g, at=y)
    of_each = world.vector("h_i", client=True)
    compressed = Diana(1, 1, AnyUnbiased(1))
    with pytest.raises(InvalidInput, match="no errors are given"):
        world.round_of(lambda local: compressed, DianaState, {"x": x, "h_i": of_each}, of_each, at=x)

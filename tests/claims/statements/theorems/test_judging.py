"""A theorem as a claim: proved by its term, refuted by an instance that its method's rounds are played on, or open at a line."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from claims_in_place import put_claims
from theorems import CONVERGES, EXAMPLES, FEDAVG, GRADIENT_DESCENT, PROXIMAL_POINT, SCAFFNEW

from fedtheory.claims import MethodStates, PlayedStates, Theorem, state
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import NothingToPlant, Part, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.faults import run_faults
from fedtheory.claims.references import Reference
from fedtheory.claims.statements.near_misses import judge_near_misses
from fedtheory.claims.statements.theorems import as_parts
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds
from fedtheory.claims.statements.theorems.in_units import tell_unlike_units
from fedtheory.claims.statements.theorems.mistakes import is_implied, pick_stronger
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, refute_theorem, replay_claim
from fedtheory.claims.statements.theorems.writing import describe_theorem, write_latex
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.proofs.regions.units import UnlikeUnits


def judged(theorem):  # type: ignore[no-untyped-def]
    return judge_claim(state("X-1", "a paper", "Theorem 1", "In words.", theorem), "x.py", Context())


def test_a_theorem_with_a_term_is_proved_and_shows_its_lines() -> None:
    verdict = judged(GRADIENT_DESCENT)
    assert verdict.status == "proved"
    (proof,) = [e["proof"] for e in verdict.evidence if e.get("proof")]
    assert proof["closed"] and len(proof["lines"]) == 4


FALSE = {
    "gradient descent's gap": replace(GRADIENT_DESCENT, claim="gap[N] <= L*dist2[0]/(5*N)"),
    "Scaffnew": replace(SCAFFNEW, where={"rho": "max((1 - lr*mu)**2 - 1/100, 1 - p**2 - 1/100)"}),
    "proximal point": replace(PROXIMAL_POINT, claim="exists t in 1..T: S[t+1] <= (F[1] - F[T+1])/(2*eta*T)"),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_theorem_is_refuted_by_fractions_on_which_its_rounds_are_played(name: str) -> None:
    verdict = judged(FALSE[name])
    assert verdict.status == "refuted"
    assert verdict.counterexample is not None
    stored = verdict.counterexample["instance"]
    assert replay_claim(FALSE[name], BrokenClaim.read(stored)) > 0


def test_an_instance_of_another_theorem_is_no_violation() -> None:
    broken = refute_theorem(FALSE["gradient descent's gap"])
    assert isinstance(broken, BrokenClaim)
    assert replay_claim(GRADIENT_DESCENT, broken) <= 0


def test_an_instance_that_was_changed_is_refused() -> None:
    broken = refute_theorem(FALSE["gradient descent's gap"])
    assert isinstance(broken, BrokenClaim)
    stored = broken.store()
    data = json.loads(stored["data"])
    data["values"] = [f"{v}1" if v != "0" else "7" for v in data["values"]]
    with pytest.raises(Exception, match="does not meet"):
        replay_claim(FALSE["gradient descent's gap"], BrokenClaim.read({**stored, "data": json.dumps(data)}))


@pytest.mark.parametrize("name", EXAMPLES)
def test_mistakes_that_are_planted_in_a_proved_theorem_lose_it_the_word(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_parts, "PLANTED", 6)
    claim = state("X-1", "a paper", "Theorem 1", "In words.", EXAMPLES[name])
    put_claims(monkeypatch, claim)
    reports = run_faults(Reference("x.py", "X-1"), Context())
    assert len(reports) == as_parts.PLANTED and [r.fault for r in reports if not r.caught] == []


def test_a_mistake_that_the_term_proves_is_slack_which_is_told_and_not_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a factor 3 to spare the same term proves 99/100 of the right side."""
    for name in ("LOOKED_AT", "MOST_LOOKED_AT"):
        monkeypatch.setattr(as_parts, name, 60)
    spare = replace(GRADIENT_DESCENT, claim="1*gap[N] <= 3*L*dist2[0]/(2*N)")
    told = [mistake.what for mistake in as_parts.look_near(spare).slack]
    assert "number: 1 * gap[N] <= 3 * (99 / 100) * L * dist2[0] / (2 * N)" in told
    readings = [f.text for f in find_of_rounds(spare, name="statement") if isinstance(f, Reading)]
    assert f"There is slack: the same proof proves {told[0]}." in readings
    claim = state("X-1", "a paper", "Theorem 1", "In words.", spare)
    put_claims(monkeypatch, claim)
    reports = run_faults(Reference("x.py", "X-1"), Context())
    assert reports and all(r.caught for r in reports)


def test_of_a_checker_that_accepts_everything_nothing_can_be_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mistake would be slack, so that no claim had a planted fault, which the tests of the papers ask for."""
    monkeypatch.setattr(as_parts, "find_refusal", lambda *_: None)
    theorem = replace(GRADIENT_DESCENT, name="")
    assert as_parts.look_near(theorem).slack and not as_parts.look_near(theorem).planted
    (first, *_) = as_parts.plant_near_misses(theorem, "statement")
    with pytest.raises(NothingToPlant, match="own proof proves every mistake"):
        first.subject["planted"][1](Context())


def play_halving(w: World, p: Parameters, last: int) -> list[SimpleNamespace]:
    """A vector that shrinks by 1 - p a round, from any."""
    states = [SimpleNamespace(e=w.vector("e"))]
    for _ in range(last):
        states.append(SimpleNamespace(e=states[-1].e * (1 - p.p)))
    return states


@pytest.mark.parametrize(("factor", "broken"), [("1", False), ("9/10", True)])
def test_what_is_given_of_the_first_round_holds_on_instances_of_later_ones(factor: str, broken: bool) -> None:
    """From round T alone every length was tried, also those to which no first round leads."""
    theorem = Theorem(
        "0 < p < 1",
        f"U[T] <= {factor}*(1 - p)**(2*T)",
        states=PlayedStates(play_halving),
        quantities={"U": "norm2(e)"},
        rounds={"T": 0},
        given={"unit": "U[0] == 1"},
    )
    assert isinstance(refute_theorem(theorem), BrokenClaim) == broken


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        ("sqrt(U[t+1]) <= (1 - p)*sqrt(U[t])", "nothing"),
        ("sqrt(U[t+1]) <= (1 - p)*sqrt(U[t])*9/10", "broken"),
        ("sqrt(U[t+1]) <= (p - 1)*sqrt(U[t])", "broken"),  # a length is not below zero
        ("sqrt(U[t+1]) <= (-1)*(p - 1)*sqrt(U[t])", "nothing"),
        ("sqrt(U[t+1]) == (1 - p/2)*sqrt(U[t])", "broken"),
        ("sqrt(Z[t]) <= 0", "nothing"),
        ("sqrt(Z[t]) <= -1", "left out"),  # it is false, and squares do not show it
        ("sqrt(U[t+1]) <= (1 - p)*sqrt(U[t]) + p", "left out"),  # the square of its right side is not linear
    ],
)
def test_claims_on_lengths_are_held_against_instances_by_their_squares(claim: str, outcome: str) -> None:
    quantities = {"U": "norm2(e)", "Z": "norm2(e - e)"}
    theorem = Theorem("0 < p < 1", claim, states=PlayedStates(play_halving), quantities=quantities, rounds={"t": 0})
    found = refute_theorem(theorem)
    assert isinstance(found, BrokenClaim) == (outcome == "broken")
    if isinstance(found, BrokenClaim):
        assert replay_claim(theorem, found) != 0
        (part,) = (one for one in find_of_rounds(theorem, name="x") if isinstance(one, Part))
        assert part.holds is False and "both squared" in str(part.counterexample)
    else:
        assert bool(found.points) == (outcome == "nothing")


def play_two_vectors(w: World, p: Parameters, last: int) -> list[SimpleNamespace]:
    """Any two vectors in every round."""
    return [SimpleNamespace(e=w.vector(f"e {k}"), g=w.vector(f"g {k}")) for k in range(last + 1)]


def test_an_instance_on_the_edge_of_a_strict_hypothesis_refutes_nothing() -> None:
    """U = 0 breaks the claim, and 0 < U is given; that it holds elsewhere is not known either."""
    theorem = Theorem(
        "0 < p < 1",
        "1 <= V[0] + 1000000*U[0]",
        states=PlayedStates(play_two_vectors),
        quantities={"U": "norm2(e)", "V": "norm2(g)"},
        given={"some": "0 < U[0]", "little": "V[0] <= 1/2"},
    )
    found = refute_theorem(theorem)
    assert not isinstance(found, BrokenClaim) and found.suspected
    assert isinstance(refute_theorem(replace(theorem, given={"little": "V[0] <= 1/2"})), BrokenClaim)


def test_a_strict_inequality_that_holds_with_equality_is_suspected_and_not_refuted() -> None:
    found = refute_theorem(Theorem("0 < x <= 1", "x < 1"))
    assert not isinstance(found, BrokenClaim) and any("are equal" in why for why in found.suspected)


def test_no_weaker_statement_is_planted() -> None:
    planted = pick_stronger(GRADIENT_DESCENT, 6)
    assert len(planted) == 6
    assert not any(is_implied(GRADIENT_DESCENT, mistake.theorem, seed=1) for mistake in planted)


def test_a_true_theorem_whose_script_stops_is_supported_and_says_at_which_line() -> None:
    verdict = judged(
        replace(GRADIENT_DESCENT, proof=GRADIENT_DESCENT.proof.replace("combine all, pos(t=N)", "combine pos(t=N)"))
    )
    assert verdict.status == "supported"
    assert "line done, by combine" in verdict.evidence[0]["text"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_sentence_is_made_of_the_claim(name: str) -> None:
    theorem = EXAMPLES[name]
    assert all(word in describe_theorem(theorem) for word in theorem.quantities)
    assert write_latex(theorem)


def test_unlike_units_are_refused_by_name() -> None:
    """As for other statements: a power of L too many is seen before anything is computed."""
    wrong = replace(GRADIENT_DESCENT, claim="gap[N] <= L**2*dist2[0]/(2*N)", proof="")
    with pytest.raises(UnlikeUnits, match=r"puts unlike units together: .* is value, .* is value\*\*2/length\*\*2"):
        list(find_of_rounds(wrong, name="statement"))
    printed = list(find_of_rounds(replace(wrong, units="as printed"), name="statement"))
    assert any(isinstance(f, Reading) and "not right in all units" in f.text for f in printed)


@pytest.mark.parametrize("theorem", [GRADIENT_DESCENT, CONVERGES, SCAFFNEW, FEDAVG, PROXIMAL_POINT])
def test_right_theorems_are_right_in_all_units(theorem: Theorem) -> None:
    assert tell_unlike_units(theorem) == ""


def test_every_change_of_a_sharp_theorem_is_judged() -> None:
    found = list(judge_near_misses(CONVERGES))
    assert len(found) > 20 and not any(change.outcome in ("slack", "survives") for change in found)
    assert any(change.outcome == "falls" and change.what.startswith("number") for change in found)


def test_a_limit_along_a_set_of_rounds_says_so() -> None:
    along = replace(CONVERGES, claim="dist2[T] -> 0 as T in J", proof="", where={})
    assert "J any infinite set of rounds" in describe_theorem(along)
    assert "(T \\in J)" in write_latex(along)


FALLS = Theorem(
    region="0 < L, 0 < lr < 1/L",
    states=MethodStates("gd", "lr = lr", "L = L, mu = 0"),
    rounds={"t": 0},
    quantities={"d": "norm2(x - x_star)"},
    claim="d[t+1] < d[t]",
    proof="done: claim by derivation",
)


def test_a_strict_claim_that_is_an_equality_at_the_solution_is_not_supported() -> None:
    verdict = judged(FALLS)
    assert verdict.status == "inconclusive"
    assert "both sides of a strict inequality are equal" in str(verdict.evidence)
    apart = replace(FALLS, given={"away": "0 < d[t]"}, claim="d[t+1] < 2*d[t]")
    assert "both sides of a strict" not in str(judged(apart).evidence), "where the hypothesis holds, it is true"


@pytest.mark.parametrize(
    "more", [{"region": "0 < L, 0 < lr < 1/L, 0 < x"}, {"where": {"x": "lr*L"}}], ids=["region", "where"]
)
def test_a_field_of_the_state_has_its_name_for_itself(more: dict[str, object]) -> None:
    verdict = judged(replace(FALLS, claim="d[t+1] <= d[t]*(1 + x - x)", **more))
    assert (
        verdict.error is not None
        and "'x' in the quantity 'norm2(x - x_star)' is a name of the state and of a" in verdict.error
    )

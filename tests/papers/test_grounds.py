"""What arguments rest on, as texts: what SymPy confirms, what it does not, that it becomes a fact; claims of steps that plant mistakes in them."""

from __future__ import annotations

import pytest

from fedtheory.claims import Context, Fault, Lemma, Part, norm2
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.protocol import Clause
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.facts import collect_facts
from paper_checks.grounds import are_so, is_so
from paper_checks.steps import Conclusion, Step, claims_of


def confirmed(*grounds):
    facts = []
    with collect_facts(facts):
        return are_so(grounds), len(facts)


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("(t + 1)**2 == t**2 + 2*t + 1", True),
        ("(t + 1)**2 == t**2 + 2*t + 2", False),
        ("S*E == 6 where S = 2*N, N = 3/E", True),  # in this order; and names that SymPy has of its own are symbols
        ("sqrt(4*beta**2) == 2*beta", True),
        ("1/2 > 0.4999", True),
        ("(t + 1)**2 > 2*t", True),
        ("t > t", False),
        ("t > 1", False),
        ("t > 1 where t = 1 + u", True),
    ],
)
def test_texts(text, so) -> None:
    assert confirmed(text) == (so, int(so))


def test_all_of_them_count() -> None:
    double = Lemma("double", "here", "0 < a", lambda w, p, c: norm2(w.vector("x")) * (1 - c.c), {"c": 1})
    assert confirmed("t + t == 2*t", double, lambda: True) == (True, 2)
    assert not confirmed("t + t == 2*t", lambda: False)[0]
    assert confirmed() == (True, 0)


@pytest.mark.parametrize("text", ["t + 1", "t < 1", "1 > t > 0"])
def test_what_is_no_comparison_is_refused(text) -> None:
    with pytest.raises(InvalidInput, match="expected 'left == right' or 'left > right'"):
        is_so(text)


# ---- claims of steps ------------------------------------------------------------------------------------------------------


def longer(w, p, c):
    return norm2(w.vector("x")) * (1 - c.c)


def test_mistakes_beside_steps_and_conclusions_are_planted() -> None:
    lemma = Lemma("as long", "here", "0 < a", longer, {"c": 1})
    claim = claims_of("a paper")(
        "MINE-1",
        "here",
        [Clause("A vector is as long as it is.", ("length",))],
        [Step("length", lemma, wrong={"one percent off": lemma.with_constants(c="99/100")})],
        conclusions=[
            Conclusion(
                "twice", "by adding", ("length",), confirmed=["t + t == 2*t"], wrong={"thrice": ["t + t == 3*t"]}
            )
        ],
    )
    assert judge_claim(claim, "mine.py", Context()).status == "proved"
    assert (claim.paper, claim.statement) == ("a paper", "A vector is as long as it is.")
    planted = {fault.name: fault for fault in claim.faults}
    assert {"one percent off", "thrice"} <= {*planted}
    for name in ("one percent off", "thrice"):
        parts = {f.name: f for f in claim.run(Context(), planted[name].subject) if isinstance(f, Part)}
        assert parts[planted[name].part].holds is False


def test_a_fault_may_not_change_what_belongs_to_the_steps() -> None:
    fault = Fault("forty steps", "length", {"steps": 40})
    with pytest.raises(InvalidInput, match="MINE-2: 'steps' is an argument of the steps' own check"):
        claims_of("a paper")("MINE-2", "here", "text", besides=lambda context, **_: iter(()), faults=[fault])

"""What arguments rest on, as texts: what SymPy confirms, what it does not, and that what is confirmed becomes a fact."""

from __future__ import annotations

import pytest

from fedtheory.claims import Lemma, norm2
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.facts import collect_facts
from paper_checks.grounds import are_so, is_so


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

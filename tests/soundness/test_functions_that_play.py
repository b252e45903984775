"""What a function plays in its later rounds is what its first round is shown to be, and what it draws are probabilities."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.claims.claim import Part
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput

COUNT = itertools.count(1)


def descend(world: Any, p: Any, last: int, step: Any = lambda k, last: 1, stale: bool = False) -> list[Any]:
    """Gradient steps step(k, last)/L, along the first gradient where that is stale."""
    f, x, x_star = world.function(p.L, 0), world.vector("x"), world.vector("x_star")
    world.at(f, x_star, "at x_star", g=x_star * 0)
    states, g = [], None
    for k in range(last + 1):
        if g is None or not stale:
            g, _ = world.at(f, x, f"g{k}")
        states.append(SimpleNamespace(x=x, x_star=x_star, f=f))
        x = x - g * (step(k, last) / p.L)
    return states


def steps(step: Any) -> PlayedStates:
    return PlayedStates(lambda world, p, last: descend(world, p, last, step))


PLAYED = {
    "alike": steps(lambda k, last: 1),
    "longer in odd rounds": steps(lambda k, last: 1 + 4 * (k % 2)),
    "shorter for longer runs": steps(lambda k, last: Fraction(1, last + 1)),
    "another one each time": steps(lambda k, last: Fraction(1, next(COUNT))),
    "along an old gradient": PlayedStates(lambda world, p, last: descend(world, p, last, stale=True)),
}


def found(theorem: Theorem) -> Part:
    (part,) = (one for one in find_of_rounds(theorem, name="it") if isinstance(one, Part))
    return part


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("script", [False, True])
def test_a_first_round_says_nothing_of_later_ones_that_are_others(name: str, script: bool) -> None:
    """The distance falls in every round that is shown; in the later ones of the function it may rise."""
    theorem = Theorem(
        region="0 < L",
        states=PLAYED[name],
        rounds={"t": 0, "T": 0} if script else {"T": 0},
        quantities={"d": "norm2(x - x_star)"},
        claim="d[T] <= d[0]",
        proof="""
          step: d[t+1] <= d[t] by derivation
          done: claim          by induction T: base combine; step combine ih, step(t=T)
        """
        if script
        else "",
    )
    part = found(theorem)
    if name == "alike":
        assert part.holds and part.text.startswith("a proof of") is script
    else:
        assert part.holds is None and "was not shown that the second round makes" in part.text


@pytest.mark.parametrize(("chances", "told"), [(("p", "p"), "probabilities 1/"), (("2*p", "1 - 2*p"), ", -")])
def test_outcomes_have_probabilities(chances: tuple[str, str], told: str) -> None:
    def play(world: Any, p: Any, last: int) -> list[Any]:
        x = world.vector("x")
        drawn = [(eval(text, {"p": p.p}), SimpleNamespace(x=x * k)) for k, text in enumerate(chances)]
        return [SimpleNamespace(x=x), drawn][: last + 1]

    theorem = Theorem(
        region="0 < p <= 1",
        states=PlayedStates(play),
        rounds={"t": 0},
        quantities={"d": "norm2(x)"},
        claim="d[t+1] <= 2*d[t]",
        proof="done: claim by derivation",
    )
    with pytest.raises(InvalidInput, match=told):
        found(theorem)

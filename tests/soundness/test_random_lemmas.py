"""Lemmas that are called true hold on random functions of several clients, whatever the units; false ones are found out there."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fedtheory.claims import Lemma, dot, norm2
from fedtheory.claims.statements.random_worlds import try_lemma
from paper_checks import afedpd, dualfl, fedpd, fedslr, safari
from paper_checks.steps import Step

PAPERS = {"afedpd": afedpd, "dualfl": dualfl, "fedpd": fedpd, "fedslr": fedslr, "safari": safari}
UNITS = (Fraction(1), Fraction(10**6), Fraction(1, 1000))


def find_lemmas(paper):
    """The lemmas of a ledger's steps by name, and whether the step is one that is expected to be false."""
    found: dict[str, tuple[Lemma, bool]] = {}
    for claim in PAPERS[paper].CLAIMS:
        steps: tuple[Step, ...] = getattr(claim.check, "keywords", {}).get("steps", ())
        false = {fault.subject["instead"][0] for fault in claim.faults if steps and "instead" in fault.subject}
        for step in steps:
            if isinstance(step.statement, Lemma):
                found[f"{claim.id}: {step.name}"] = step.statement, step.name in false
    return found


#: lemmas whose hypotheses no random instance meets: they ask that two values are equal
UNMET = {"gap of F", "gap of G"}
TRUE = [
    pytest.param(lemma, id=name, marks=[] if place % 12 == 0 else [pytest.mark.slow])
    for paper in PAPERS
    for place, (name, (lemma, is_false)) in enumerate(find_lemmas(paper).items())
    if not is_false
]


@pytest.mark.parametrize("lemma", TRUE)
def test_a_lemma_that_is_called_true_holds_on_random_functions(lemma) -> None:
    found = try_lemma(lemma, draws=1, units=UNITS)
    assert found.worst is None, found
    assert found.met or lemma.name in UNMET, "some instance meets its hypotheses"


def descent(factor):
    def build(world, p, c):
        f = world.function(p.L, -p.L)
        y = world.vector("y")
        x = y * 0
        gx, fx = world.at(f, x, "gx")
        _, fy = world.at(f, y, "gy")
        return fy - fx - dot(gx, y - x) - norm2(y - x) * (c.c * p.L / 2)

    return Lemma("descent", "", "0 < L", build, {"c": factor})


@pytest.mark.parametrize("unit", UNITS)
def test_a_lemma_that_asks_too_much_fails_in_every_unit(unit) -> None:
    assert try_lemma(descent(1), units=(unit,)).worst is None
    found = try_lemma(descent("9/10"), units=(unit,))
    assert found.worst is not None and found.worst[1] > 0


def contraction(claimed):
    def build(world, p, c):
        f = world.function(p.L, p.mu, client=True, name="f")
        x, star = world.vector("x"), world.vector("star")
        g, _ = world.at(f, x, "g")
        h, _ = world.at(f, star, "h")
        after = x - star - (g - h) * p.lr
        return norm2(after) - norm2(x - star) * claimed(p)

    return Lemma("a step of every client", "", "0 < mu < L, 0 < lr <= 1/L", build)


def test_every_client_has_functions_of_its_own() -> None:
    assert try_lemma(contraction(lambda p: (1 - p.lr * p.mu) ** 2)).worst is None
    assert try_lemma(contraction(lambda p: (1 - p.lr * p.mu) ** 3)).worst is not None


def test_hypotheses_are_kept() -> None:
    def build(world, p, c):
        x = world.vector("x")
        world.assume("short", norm2(x) - p.r)
        return norm2(x) - p.r * c.c

    within = Lemma("a ball", "", "0 < r", build, {"c": 1})
    found = try_lemma(within, draws=20)
    assert found.worst is None and 0 < found.met < found.drawn
    assert try_lemma(within.with_constants(c="1/1000"), draws=40).worst is not None


@pytest.mark.slow
def test_most_false_steps_are_found_out() -> None:
    """The search is not blind: of the printed steps that are false it finds most, though it looks at quadratics alone."""
    false = [lemma for paper in PAPERS for lemma, is_false in find_lemmas(paper).values() if is_false]
    seen = [try_lemma(lemma, draws=4).worst is not None for lemma in false]
    assert len(false) >= 5 and sum(seen) >= len(false) / 2

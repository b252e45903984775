"""Lemmas that are called true hold on random functions of several clients, whatever the units; false ones are found out there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.claims import Lemma, dot, norm2
from fedtheory.claims.claim import Part
from fedtheory.claims.statements import as_claims
from fedtheory.claims.statements.as_claims import find_of_lemma
from fedtheory.claims.statements.lemma import LemmaOutcome
from fedtheory.claims.statements.random_worlds import MOST_DRAWN, _Drawn, _read, guard_lemma, try_lemma
from fedtheory.core.errors import EnginesDisagree
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
    pytest.param(lemma, id=name)
    for paper in PAPERS
    for name, (lemma, is_false) in find_lemmas(paper).items()
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


# ---- before a lemma is called true ----------------------------------------------------------------------------------

EVERY = (1, 2, 3, 5, 8, 30)
PROVED = LemmaOutcome("proved for all parameters")


def told(lemma):
    return next(finding for finding in find_of_lemma(lemma) if isinstance(finding, Part))


def test_a_verdict_names_the_numbers_of_clients_that_were_tried() -> None:
    part = told(contraction(lambda p: (1 - p.lr * p.mu) ** 2))
    assert part.holds and "it holds on 12 random instances, n = 1, 2, 3, 5, 8, 30" in part.text
    assert guard_lemma(contraction(lambda p: (1 - p.lr * p.mu) ** 2), PROVED).numbers == EVERY


def test_a_lemma_about_single_functions_says_nothing_of_clients() -> None:
    part = told(descent(1))
    assert part.holds and part.text.endswith("it holds on 12 random instances")


@pytest.mark.parametrize(
    "wrong", [contraction(lambda p: (1 - p.lr * p.mu) ** 3), descent("9/10")], ids=["clients", "one function"]
)
def test_a_proof_that_an_instance_contradicts_is_an_error(wrong, monkeypatch) -> None:
    with pytest.raises(EnginesDisagree, match=r"for all parameters, and a random instance at .* exceeds it by"):
        guard_lemma(wrong, PROVED)
    monkeypatch.setattr(as_claims, "prove_lemma", lambda lemma: PROVED)
    for ask in (told, as_claims.is_derived):
        with pytest.raises(EnginesDisagree):
            ask(wrong)
    monkeypatch.setattr(as_claims, "prove_lemma", lambda lemma: LemmaOutcome("proved at points"))
    assert told(wrong).holds is None and "exceeds it by" in told(wrong).text


def test_hypotheses_that_an_instance_meets_do_not_contradict_each_other() -> None:
    empty = LemmaOutcome("proved for all parameters", vacuous="its hypotheses contradict each other")
    with pytest.raises(EnginesDisagree, match="contradict each other, and a random instance meets the hypotheses"):
        guard_lemma(descent(1), empty)


def test_clients_of_an_instance_are_as_many_as_it_says_and_have_the_gradients() -> None:
    lemma, point = contraction(lambda p: 1), {"mu": Fraction(1), "L": Fraction(3), "lr": Fraction(1, 4)}
    for n in EVERY:
        drawn = _Drawn(_read(lemma, point), n, Fraction(7), np.random.default_rng(n))
        x, g = drawn.leaf(0, None), drawn.leaf(2, 0)
        curvatures = [a for a, count in zip(drawn.bends["f"], drawn.alike, strict=True) for _ in range(count)]
        shifts = [drawn.solution[drawn._place["f", i]] for i, count in enumerate(drawn.alike) for _ in range(count)]
        assert len(x.clients) == len(g.clients) == len(curvatures) == n
        assert all(a * u + b == v for a, b, (u,), (v,) in zip(curvatures, shifts, x.clients, g.clients, strict=True))
        assert sum(v for (v,) in g.clients) == n * g.averaged().clients[0][0]


def test_hypotheses_that_nothing_meets_end_soon_and_floats_decide_nothing() -> None:
    def build(world, p, c):
        x = world.vector("x")
        world.assume("never", norm2(x) * -1 - p.r * c.c)
        world.assume("short", norm2(x) + p.r)
        return norm2(x)

    tried = guard_lemma(Lemma("nothing", "", "0 < r", build, {"c": 1}), LemmaOutcome("open"))
    assert tried.met == 0 and tried.drawn <= MOST_DRAWN and str(tried) == "no random instance meets its hypotheses"
    rough = Lemma("floats", "", "0 < r", lambda w, p, c: norm2(w.vector("x")) * 1e-17, {"c": 1})
    assert try_lemma(rough).worst is None


def test_most_false_steps_are_found_out() -> None:
    """The search is not blind: of the printed steps that are false it finds most, though it looks at quadratics alone."""
    false = [lemma for paper in PAPERS for lemma, is_false in find_lemmas(paper).values() if is_false]
    seen = [try_lemma(lemma, draws=4).worst is not None for lemma in false]
    assert len(false) >= 5 and sum(seen) >= len(false) / 2

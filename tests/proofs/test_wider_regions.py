"""What is proved on a region is proved on its parts: by parameters that occur, and with bounds that nothing asks for dropped."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from fedtheory.algorithms import GradientDescent
from fedtheory.claims import norm2
from fedtheory.claims.statements.lemma import Lemma, prove_lemma, verify_lemma
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.methods import prove_bound
from fedtheory.proofs.parameters.wider import move_number, move_system, region_of_used, widest_region
from fedtheory.proofs.regions.region import Region
from paper_checks.fedslr.appendix_c_4_proof_of_theorem_2 import stationary


@pytest.mark.parametrize(
    "region",
    [
        "0 < L, 0 < eta, 1 <= t",
        "0 < L, 0 < eta < 1/(2*L)",
        "1 <= L <= 2, 0 < eta < 1/L, 0 < s < eta, t in 1..2",
    ],
)
def test_a_lemma_that_is_proved_on_a_region_is_proved_on_its_parts(region):
    """On the first two FedSLR's lemma was open, and proved on 0 < L, 0 < eta."""
    stated = replace(stationary, region=region)
    found = prove_lemma(stated)
    assert found.word == "proved for all parameters"
    assert verify_lemma(stated, found) is None  # of the region that was asked for


def test_parameters_that_occur_nowhere_are_dropped_and_those_in_ends_are_kept():
    def build(world, p, c):
        return norm2(world.vector("x")) * (0 - p.a)

    stated = Lemma("nothing", "none", "0 < b, 0 < unused < b, 0 < a < b, 1 <= other", build)
    case = stated.cases[0]
    assert str(region_of_used(case.field, case.system)) == "0 < b, 0 < a < b"


def test_numbers_keep_their_values_in_another_field():
    wide, narrow = ParameterField(Region.parse("0 < a, 0 < b, 0 < c < b")), ParameterField(Region.parse("0 < b, 0 < a"))
    value = narrow.read("(a**2 - 3*b)/(7*a*b + 1)")
    there = move_number(value, wide)
    point = {"a": Fraction(2, 3), "b": Fraction(5), "c": Fraction(1)}
    assert there.at(point) == value.at(point)
    assert move_number(there, narrow) == value
    assert move_number(ParameterField(Region()).number(3), wide) == 3
    assert move_number(Fraction(1, 2), wide) == Fraction(1, 2)


def test_bounds_are_dropped_as_far_as_a_test_allows():
    region = Region.parse("0 < a, 1 <= b <= 2, 0 < c < 1/a")
    assert str(widest_region(region, lambda tried: True)) == "0 < a, 0 < b, 0 < c"
    assert widest_region(region, lambda tried: False) == region
    assert str(widest_region(region, lambda tried: tried.parameters[1].high is not None)) == "0 < a, 1 <= b <= 2, 0 < c"


def test_a_statement_that_needs_its_bounds_is_not_proved_without_them():
    """(1 - lr mu)^2 is the factor of a step of at most 1/L, and not of longer ones."""
    region = "0 < mu < L, 0 < lr <= {}, 1 <= unused <= 2"
    (true,) = prove_bound(
        lambda p: GradientDescent(p["lr"]), region.format("1/L"), 1, "squared_distance", "(1-lr*mu)**2"
    )
    assert true.judgement.word == "proved for all parameters"
    (false,) = prove_bound(
        lambda p: GradientDescent(p["lr"]), region.format("3/L"), 1, "squared_distance", "(1-lr*mu)**2"
    )
    assert false.judgement.word == "refuted"
    moved = move_system(stationary.cases[0].system, ParameterField(Region.parse("0 < eta, 0 < L")))
    assert moved.at({"eta": Fraction(1, 3), "L": Fraction(2)}).rows

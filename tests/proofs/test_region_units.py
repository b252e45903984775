"""Numbers with units, and the equations between units."""

import random
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.units import (
    NONE,
    OF_CURVATURES,
    OF_GRADIENTS,
    OF_POINTS,
    OF_VALUES,
    Quantity,
    Unit,
    UnitSystem,
    UnlikeUnits,
    find_unit,
    read_unit,
    unit_of,
)

L, ETA = "value/length**2", "length**2/value"


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("1", NONE),
        ("value/length", OF_GRADIENTS),
        ("1/length**2*value", OF_CURVATURES),
        ("length*value/length", OF_VALUES),
    ],
)
def test_units_are_read_and_written(text: str, unit: Unit) -> None:
    assert read_unit(text) == unit
    assert unit == NONE or read_unit(str(unit)) == unit


@pytest.mark.parametrize("text", ["2*value", "value + length", "metre", "0"])
def test_what_is_no_product_of_powers_is_no_unit(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_unit(text)


def test_products_of_units_are_a_group() -> None:
    lots = random.Random(0)
    units = [
        Unit.collect(
            (name, Fraction(lots.randint(-3, 3), lots.randint(1, 3))) for name in ("length", "value", "length")
        )
        for _ in range(30)
    ]
    for a, b in zip(units, units[1:], strict=False):
        assert a * b == b * a and a / b * b == a and a**2 == a * a and a / a == NONE
        assert (a**2) ** Fraction(1, 2) == a and (a * b) ** 3 == a**3 * b**3


def test_an_unknown_unit_is_told_by_the_first_sum_and_held_by_the_next() -> None:
    units = UnitSystem()
    x, g = units.quantity("x", 2, OF_POINTS), units.quantity("g", 3, OF_GRADIENTS)
    lr = units.quantity("lr", Fraction(1, 2))
    assert not units.is_told(lr.unit)
    assert x - lr * g == Fraction(1, 2)
    assert units.find(lr.unit) == read_unit(ETA)
    with pytest.raises(UnlikeUnits, match="lr is length"):
        lr + x


def test_equations_are_solved_in_any_order() -> None:
    """Ten unknowns are powers of two units; equations between products of them tell each, or refuse a wrong one."""
    lots = random.Random(1)
    for _ in range(20):
        names = [f"u{k}" for k in range(10)]
        truth = {
            n: Unit.collect([("length", Fraction(lots.randint(-4, 4))), ("value", Fraction(lots.randint(-4, 4)))])
            for n in names
        }
        units, equations = UnitSystem(), []
        for k, name in enumerate(names):
            left = Unit.collect((n, Fraction(lots.randint(-2, 2))) for n in names[:k]) * Unit.of(name) ** lots.choice(
                [1, 2, 3]
            )
            right = Unit.collect(pair for n, p in left.powers for pair in (truth[n] ** p).powers)
            equations.append((left, right))
        lots.shuffle(equations)
        assert all(units.equate(left, right) for left, right in equations)
        assert {n: units.find(Unit.of(n)) for n in names} == truth
        left, right = equations[0]
        assert not units.equate(left, right * OF_POINTS)


def test_a_number_in_the_place_of_a_quantity_makes_units_one() -> None:
    units = UnitSystem()
    units.forget(OF_CURVATURES)  # L = 1
    assert units.equate(OF_VALUES, OF_POINTS**2) and not units.equate(OF_VALUES, OF_POINTS)


def test_units_that_are_settled_are_free_of_each_other() -> None:
    units = UnitSystem()
    a, b, unseen = (units.quantity(name, 1) for name in "abc")
    a + b
    units.settle()
    with pytest.raises(UnlikeUnits):
        a + 1
    assert unseen + 1 == 2, "of what nothing was told anything may be said"


def test_zero_has_every_unit() -> None:
    units = UnitSystem()
    x = units.quantity("x", 2, OF_POINTS)
    assert x + 0 is x and 0 + x is x and x - 0 is x and x * 0 == 0 and not isinstance(x * 0, Quantity)
    assert x > 0 and units.quantity("g", 1, OF_GRADIENTS) + x * 0 == 1


def test_numbers_with_units_go_through_arrays() -> None:
    units = UnitSystem()
    x = np.array([units.quantity("x", k, OF_POINTS) for k in (1, 2)], dtype=object)
    lr = units.quantity("lr", 2)
    moved = np.asarray(lr * x * units.quantity("a", 3, OF_CURVATURES) + x)
    assert moved.tolist() == [7, 14] and units.find(lr.unit) == read_unit(ETA)
    assert unit_of(np.sqrt(x**2)[0]) == OF_POINTS and max(x) == 2


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("L", L),
        ("(1 - 2*L*eta)/(2*eta)", L),
        ("max(L, 1/eta)**2", "value**2/length**4"),
        ("L**2*eta - L/2", L),
        ("eta**3*L**3", "1"),
    ],
)
def test_formulas_have_units(text: str, unit: str) -> None:
    assert find_unit(text, L=L, eta=ETA) == read_unit(unit)


@pytest.mark.parametrize("text", ["1 + L", "L + eta", "max(1, eta)", "L*eta - L", "(1 + 2*eta)**2"])
def test_formulas_that_add_unlike_ones_are_refused(text: str) -> None:
    with pytest.raises(UnlikeUnits, match="puts unlike units together"):
        find_unit(text, L=L, eta=ETA)


def test_values_are_those_of_plain_numbers() -> None:
    """A formula is the same on numbers with units."""
    text = Expression.parse("((1 + L*eta)/eta)**2*R**2 - L**2*R**2/3 + max(L, 1/eta)**2*(R - R/2)**2")
    units = UnitSystem()
    plain = {"L": Fraction(2, 3), "eta": Fraction(1, 5), "R": Fraction(7)}
    given = {"L": OF_CURVATURES, "eta": OF_CURVATURES**-1, "R": OF_POINTS}
    found = text.at({name: units.quantity(name, value, given[name]) for name, value in plain.items()})
    assert found.value == text.at(plain) and units.find(found.unit) == OF_GRADIENTS**2


STEPS = {"gamma": ETA, "B": "1"}
#: a formula as a paper prints it, one near it whose units agree, and units of names beside L and eta
MISPRINTS = {
    "FedSLR, C_1 below (70)": ("4*(eta*L**2 + eta**2*L**4 + 1/eta + L**2)", "(1/eta + eta*L**2)**2", {}),
    "FedSLR, C_3 below (78)": ("L + eta*L + 1/eta + 1", "L + 1/eta", {}),
    "FedSLR, (39), third line": ("gamma + eta*(w - y)", "gamma + (w - y)/eta", {"gamma": "value/length", "w": "length", "y": "length"}),
    "FedPD, C_6 after (33)": (
        "3*max(((1 + L*eta)/eta)**2, (1 + 2*eta)**2, L**2*eta**2)",
        "3*max(((1 + L*eta)/eta)**2, ((1 + 2*L*eta)/eta)**2, L**2)",
        {},
    ),
    "FedPD, Theorem 2, gamma > 5 eta/(B sqrt L), squared": ("max(gamma**2*B**2*L, 25*eta**2)", "max(gamma**2*B**2, 25*eta**2)", STEPS),
    "A-FedPD, what rho >= 4 L^3 + 6 L is for": ("rho**2 - 4*L**3*rho - 36*L**2 - 4*L**4", "rho**2 - 4*L*rho - 36*L**2", {"rho": L}),
    "SAFARI, Theorem 4, in the condition on q": ("1/(2*K**2) - 2*L*eta**2/K**2", "1/(2*K**2) - 2*L*eta/K**2", {"K": "1"}),
}  # fmt: skip


@pytest.mark.parametrize("name", MISPRINTS)
def test_misprints_of_papers_are_seen_by_their_units(name: str) -> None:
    """The other formula has one unit: what it is, its authors know, and not that it is true."""
    printed, other, more = MISPRINTS[name]
    units = {"L": L, "eta": ETA, **more}
    with pytest.raises(UnlikeUnits):
        find_unit(printed, **units)
    find_unit(other, **units)

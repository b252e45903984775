"""What is given of all rounds, held against runs on quadratics: it must hold at every point."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from fedtheory.claims.statements.theorems.at_every_point import find_largest_gap
from fedtheory.claims.statements.theorems.on_quadratics import QuadraticRun
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence

QUANTITIES = {
    "F": "f(x)",
    "g": "norm2(grad(f, x))",
    "w": "mean(norm2(grad(f_i, x) - grad(f, x)))",
    "step": "norm2(x - last)",
}
THEOREM = Theorem(
    region="0 < L, 0 < m <= L, 0 < zeta",
    states=MethodStates("gd", "lr = 1/L", "L, mu = -L"),
    rounds={"t": 0},
    quantities=QUANTITIES,
    claim="g[t] + w[t] + step[t] + zeta*F[t] >= -m",
)


def of(curvature: tuple[Fraction, ...], m: int = 1) -> QuadraticRun:
    """Two clients in two coordinates, centres 2 and -2 in the first."""
    numbers = {"L": Fraction(3), "m": Fraction(m), "zeta": Fraction(1)}
    rows = tuple((a, Fraction(3)) for a in curvature)
    centre = ((Fraction(2), Fraction(0)), (Fraction(-2), Fraction(0)))
    return QuadraticRun(numbers, rows, centre, (Fraction(0), Fraction(0)))


ALIKE = of((Fraction(2), Fraction(2)))


@pytest.mark.parametrize(
    ("hypothesis", "largest"),
    [
        ("w[t] <= zeta**2", 16 - 1),  # gradients are 2 (x -+ 2), and 4 from their average everywhere
        ("2*m*(F[t] - 4) <= g[t]", 0),  # f = x_1^2 + 4 + 3 x_2^2/2, with equality at the origin
        ("2*(F[t] - 5) <= g[t]", -2),
        ("4 <= F[t]", 0),
        ("zeta <= F[t]", -3),
    ],
)
def test_the_largest_gap_is_found_over_all_points(hypothesis: str, largest: int) -> None:
    assert find_largest_gap(THEOREM, Sentence.parse(hypothesis), ALIKE) == largest


@pytest.mark.parametrize(
    ("hypothesis", "why"),
    [
        ("2*L*(F[t] - 4) <= g[t]", "far away"),  # f is flatter than L
        ("g[t] <= zeta", "far away"),
        ("F[t+1] <= F[t]", "one round"),
        ("w[t] == 16", "one round"),
        ("F[t] <= t", "number of a round"),
        ("step[t] <= zeta", "neither in the state"),
    ],
)
def test_what_fails_somewhere_or_is_not_about_one_point_is_refused(hypothesis: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        find_largest_gap(THEOREM, Sentence.parse(hypothesis), ALIKE)


def test_unlike_curvatures_make_gradients_unlike_far_away() -> None:
    with pytest.raises(InvalidInput, match="far away"):
        find_largest_gap(THEOREM, Sentence.parse("w[t] <= 100"), of((Fraction(1), Fraction(3))))


def test_a_run_is_read_back_as_it_was_stored() -> None:
    raised = replace(ALIKE.times(Fraction(1, 2)), offset=Fraction(-3, 4))
    assert QuadraticRun.read(raised.store()) == raised
    assert find_largest_gap(THEOREM, Sentence.parse("zeta <= F[t]"), raised) == Fraction(3, 4)

"""The semidefinite programs behind derivations are the same in all units of length and value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.claims import norm2
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.proofs.parameters.programs import Balanced, by_least_squares


def decreases(world: Any, p: Any, c: Any) -> Any:
    """A gradient step decreases f by lr (1 - L lr/2) ||grad f||^2."""
    f = world.function(p.L, p.L * 0)
    x = world.vector("x")
    g, value = world.at(f, x, "g")
    _, after = world.at(f, x - g * p.lr, "h")
    return after - value + norm2(g) * (p.lr * (1 - p.L * p.lr / 2))


@pytest.mark.parametrize("unit", [Fraction(1, 10**6), Fraction(1, 400), 400, 10**6])
def test_in_other_units_the_program_is_the_same(unit: Any) -> None:
    """L is value/length^2 and lr its inverse: with the unit of length L is another number, and the program not."""
    (case,) = Lemma("a step", "none", "0 < L, 0 < lr <= 1/L", decreases).cases
    plain, other = (
        case.system.at({"L": Fraction(3) * scale, "lr": Fraction(1, 7) / scale})
        for scale in (Fraction(1), Fraction(unit))
    )
    first, second = (Balanced.of(one, one.rows, by_least_squares) for one in (plain, other))
    for a, b in zip((first.values, *first.matrices), (second.values, *second.matrices), strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12)

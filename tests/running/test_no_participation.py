"""What is no schedule of who takes part is refused, with the schedules that there are."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.algorithms import FedAvg
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Bernoulli, ByWeight, Fixed, Schedule, Uniform
from fedtheory.local.solvers import GradientSteps
from fedtheory.running.runner import run
from problems.quadratics import random_quadratics

F = random_quadratics(3, 2, seed=0)


class _Numbers:
    """A schedule of a user's own that returns numbers where clients are expected."""

    def draw(self, n: int, key: object) -> list[int]:
        return [0]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("all", r"participation is 'all' \(str\); expected None or All\(\) for all clients, Uniform\(m\) for m"),
        (2.5, r"participation is 2.5 \(float\); expected"),
        (0, r"participation is 0 \(int\); expected"),
        (np.arange(2), "participation is array.* expected"),
        (F, "participation is .* expected"),
        (Uniform, r"participation is the class Uniform; expected an instance, such as Uniform\(3\)"),
        (Uniform(0), "m of clients that take part must be a whole number of at least 1, got 0"),
        (Uniform(1.5), "must be a whole number of at least 1, got 1.5"),
        (Uniform(1, "a"), "among must be a whole number of at least 1, got 'a'"),
        (Bernoulli("half"), r"probability q='half' is outside \(0, 1\]"),
        (ByWeight(0), "the number m of draws must be a whole number of at least 1, got 0"),
        (Fixed((0.5,)), r"clients \[0.5\] are not distinct numbers from 0 to 2"),
        (Fixed(3), "clients 3 are not distinct numbers"),
        (Schedule(2), "a schedule is a function of the round, got 2"),
        (_Numbers(), r"_Numbers.draw returned a list; expected Clients\(n, index\), or None for all"),
    ],
)
def test_what_is_no_participation_is_told_with_those_that_there_are(asked, told) -> None:
    with pytest.raises(InvalidInput, match=told):
        run(FedAvg(GradientSteps(1, 0.1)), F, np.ones(2), 2, participation=asked)

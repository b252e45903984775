"""Functions of the Python face say what they expect of whoever passes arguments in the wrong order, or a class for an instance."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory import (
    L1,
    FedAvg,
    GradientSteps,
    Weighted,
    conform,
    constant,
    constants,
    falsify,
    regularised,
    spectral_radius,
)
from fedtheory.core.errors import FedtheoryError
from problems.quadratics import Quadratic, random_quadratics

METHOD, F = FedAvg(GradientSteps(1, 0.1)), random_quadratics(n=2, d=1, seed=0)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: constant("L", F), "asked of a problem, which comes first; got a str"),
        (lambda: constants(METHOD), "asked of a problem, which comes first; got a FedAvg"),
        (lambda: constant(Quadratic, "L"), "got the class Quadratic"),
        (
            lambda: regularised(L1(0.1), F),
            "expected a problem and a regulariser, .* in this order; got L1 and Quadratic",
        ),
        (lambda: regularised(F, L1), "expected a problem and a regulariser, .* got Quadratic and .*L1"),
        (lambda: Weighted([0.5, 0.5], F), "a problem and its clients' weights, in this order; got a list first"),
        (lambda: spectral_radius(F, METHOD, np.zeros(1)), "method and problem are exchanged"),
        (lambda: conform("fedavg", METHOD), r"the method is named, as conform\(adapter, 'scaffold'\); got a FedAvg"),
        (lambda: conform(METHOD, "fedavg"), "an adapter is an object with variables, start and round; got a FedAvg"),
        (lambda: conform(FedAvg, "fedavg"), "got the class FedAvg"),
        (lambda: falsify(METHOD, F), "expected a Search and a budget, in this order; got a FedAvg first"),
    ],
)
def test_arguments_in_the_wrong_order_are_named(call, told) -> None:
    with pytest.raises(FedtheoryError, match=told):
        call()

"""Constants that are no numbers, arguments in the wrong places, and clocks: one clear line each."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from fedtheory import Exact, FedAvg, FunctionClass, GradientSteps
from fedtheory.algorithms import Ditto, FedPD, FedProx, Scaffold
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.regularisers import L1
from fedtheory.proofs import worst_case
from fedtheory.tools.digits import known_digits

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ({"L": INF}, "L must be a finite number, got inf"),
        ({"L": NAN}, "L must be a finite number, got nan"),
        ({"L": "1"}, "L must be a finite number, got '1'"),
        ({"L": 1.0, "mu": NAN}, "mu must be a finite number, got nan"),
        ({"L": 1.0, "zeta": -1.0}, "zeta must not be negative, got -1.0"),
        ({"L": 1.0, "zeta": NAN}, "zeta must be a finite number, got nan"),
        ({"L": 1.0, "bgd": (-1.0, 2.0)}, "G of bgd must not be negative"),
        ({"L": 1.0, "bgd": (1.0, INF)}, "D of bgd must be a finite number"),
        ({"L": 1.0, "bgd": 3.0}, r"bgd is a pair \(G, D\), got 3.0"),
        ({"L": 1.0, "dissimilarity": -2.0}, "dissimilarity must not be negative"),
        ({"L": 1.0, "similarity": INF}, "similarity must be a finite number"),
        ({"L": 1.0, "sigma": NAN}, "sigma must be a finite number"),
    ],
)
def test_classes_have_finite_constants(constants, said) -> None:
    with pytest.raises(InvalidInput, match=said):
        FunctionClass(**constants)


def test_zero_and_fractions_are_constants() -> None:
    assert FunctionClass(L=Fraction(1), mu=Fraction(1, 10), zeta=0).convex


def test_a_radius_is_finite() -> None:
    with pytest.raises(InvalidInput, match="radius must be a finite number, got inf"):
        worst_case(FedAvg(GradientSteps(1, 1.0)), FunctionClass(L=1.0), rounds=1, radius=INF)


@pytest.mark.parametrize("lr", [INF, np.array([[[0.1]], [[INF]]])])
def test_step_sizes_are_finite(lr) -> None:
    with pytest.raises(InvalidInput, match="lr must be finite"):
        GradientSteps(1, lr)


@pytest.mark.parametrize("lr", ["0.1", [0.1, 0.2], None, Exact(), float])
def test_step_sizes_are_numbers(lr) -> None:
    with pytest.raises(InvalidInput, match="lr must be a number, got"):
        GradientSteps(1, lr)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: FedProx(Exact(), 1.0), r"must be a .*got .*FedProx takes, in this order, rho, local"),
        (lambda: FedPD(Exact(), 1.0), "must be a .*FedPD takes, in this order"),
        (lambda: FedAvg(0.1), r"local must be a local solver, got 0.1 \(float\)"),
        (lambda: FedAvg(Exact), r"local must be a local solver, got .*\(type\)"),
        (lambda: Ditto(1.0, Exact()), "must be a .*Ditto takes, in this order"),
        (lambda: L1("0.1"), "weight must be a number, got '0.1'"),
        (lambda: FedProx(INF), "rho must be finite, got inf"),
        (lambda: FedProx(NAN), "rho must be positive, got nan"),
    ],
)
def test_arguments_in_the_wrong_places_are_told(make, said) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_symbols_schedules_and_arrays_still_pass() -> None:
    from sympy import Symbol

    for lr in (
        Symbol("eta", positive=True),
        Fraction(1, 3),
        np.float64(0.1),
        np.full((2, 1, 1), 0.1),
        lambda r, q: 0.1,
    ):
        GradientSteps(1, lr)


def test_the_time_limit_covers_tracing() -> None:
    """Following 400 local steps takes many seconds; the limit is heard while it goes on."""
    begun = time.perf_counter()
    with pytest.raises(SolverFailed, match=r"time limit of 0\.2 s.*lower the rounds or the local steps"):
        worst_case(Scaffold(GradientSteps(3000, 0.1)), FunctionClass(L=1.0), rounds=3, time_limit=0.2)
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (0.81000004, 1e-9, "0.81000004"),
        (0.81000004, 3e-7, "0.81"),
        (123.456789, 0.02, "123.5"),
        (1.2345678e-9, 1e-6, "1e-09"),
        (0.0, 1e-9, "0"),
        (2.0, INF, "2"),
        (1 / 3, 0.0, "0.333333333"),
        (-9.87654, 1e-3, "-9.877"),
    ],
)
def test_digits_printed_are_digits_known(value, error, shown) -> None:
    assert known_digits(value, error) == shown


def test_a_worst_case_prints_what_its_residuals_support() -> None:
    """The last digit shown is no smaller than the largest residual."""
    from click.testing import CliRunner

    from fedtheory.command_line.main import main

    asked = ["worst-case", "gd", "--clients", "any", "--lr", "0.7", "--mu", "0.1", "--rounds", "2"]
    said = CliRunner().invoke(main, asked).output
    number = re.search(r"<= (\S+) \(worst case", said)
    residual = re.search(r"largest (\S+),", said)
    assert number is not None and residual is not None, said
    places = -Decimal(number[1]).as_tuple().exponent
    assert Decimal(10) ** -places >= Decimal(residual[1]) * Decimal("0.99")

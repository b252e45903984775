"""One question, two engines: which one answers, that they say the same, and that each condition of a class is stated or refused by name."""

from __future__ import annotations

import dataclasses
from typing import get_args

import numpy as np
import pytest

import fedtheory.proofs
from fedtheory import FedAvg, FedPD, FunctionClass, GradientSteps, StochasticSteps
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN
from fedtheory.proofs.measures import MEASURES, MeasureName
from fedtheory.proofs.one_n.program import NOT_STATED
from fedtheory.proofs.one_n.worst_case import WorstCaseForOneN
from fedtheory.proofs.potentials.smallest_rate import smallest_rate
from fedtheory.proofs.symbolic import round_matrix
from fedtheory.proofs.worst_cases import worst_case
from problems.quadratics import random_quadratics

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)
SMOOTH = FunctionClass(L=1.0, mu=-1.0)
TWO_STEPS = FedAvg(GradientSteps(2, 0.3))


def with_(functions: FunctionClass = STRONG, **changes) -> FunctionClass:
    return dataclasses.replace(functions, **changes)


def test_every_name_the_room_offers_is_there() -> None:
    for name in fedtheory.proofs.__all__:
        assert getattr(fedtheory.proofs, name).__name__ == name
    assert fedtheory.proofs.worst_case is worst_case


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_the_same_for_both_engines_and_for_the_run(name) -> None:
    measure = MEASURES[name]
    functions = STRONG if measure.of_minimiser else with_(SMOOTH, bgd=(1.0, 1.5))
    options = {"rounds": 2, "measure": name}
    every = worst_case(TWO_STEPS, functions, **options)
    two = worst_case(TWO_STEPS, functions, clients=2, **options)
    assert isinstance(every, WorstCaseForEveryN) and isinstance(two, WorstCaseForOneN)
    assert every.value == pytest.approx(two.value, rel=1e-5)
    assert every.replay() == pytest.approx(every.value, rel=1e-3)
    assert two.replay() == pytest.approx(two.value, rel=1e-3)
    assert every.residuals.worst() < 1e-6 and two.residuals.worst() < 1e-6


def test_measures_are_listed_once_and_combine_over_rounds() -> None:
    assert tuple(MEASURES) == get_args(MeasureName)
    from fedtheory.command_line.worst_case import worst_case_command

    offered = next(option for option in worst_case_command.params if option.name == "measure").type.choices
    assert tuple(offered) == tuple(MEASURES)
    values = np.array([9.0, 3.0, 1.0, 2.0])
    assert {name: m.reached(values) for name, m in MEASURES.items()} == {
        "squared_distance": 2.0,
        "gap": 2.0,
        "stationarity": 2.0,
        "sum_stationarity": 6.0,
        "min_stationarity": 1.0,
    }
    after = {1: 3.0, 2: 1.0, 3: 2.0}.__getitem__
    assert MEASURES["sum_stationarity"].objectives(after, 3) == [6.0]
    assert MEASURES["min_stationarity"].objectives(after, 3) == [3.0, 1.0, 2.0]
    assert MEASURES["gap"].objectives(after, 3) == [2.0]


CONDITIONS = {
    "zeta": with_(zeta=0.5),
    "bgd": with_(SMOOTH, bgd=(0.5, 1.0)),
    "dissimilarity": with_(SMOOTH, dissimilarity=0.5),
    "composite": with_(composite=True),
    "indicator": with_(composite=True, indicator=True),
    "similarity": with_(similarity=0.1),
    "sigma": with_(sigma=0.5),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_are_stated_alike_or_refused_by_name(name) -> None:
    """What a field of a class assumes, the program of every n says with n given, and that of one n says the same or names what it misses."""
    functions = CONDITIONS[name]
    measure = "squared_distance" if functions.convex else "stationarity"
    method = FedAvg(StochasticSteps(2, 0.3, batch=1)) if name == "sigma" else TWO_STEPS
    found = worst_case(method, functions, rounds=1, clients=3, measure=measure)
    assert isinstance(found, WorstCaseForEveryN) == (name in NOT_STATED)
    if name in NOT_STATED:
        with pytest.raises(InvalidInput, match=f"does not state {name}"):
            worst_case(TWO_STEPS, functions, rounds=1, clients=1, measure=measure)
        return
    alike = worst_case(method, functions, rounds=1, clients=3, participants=3, measure=measure)
    assert isinstance(alike, WorstCaseForEveryN)
    assert alike.value == pytest.approx(found.value, rel=1e-5)


def test_every_field_of_a_class_is_asked_for() -> None:
    assert {f.name for f in dataclasses.fields(FunctionClass)} == {"L", "mu", *CONDITIONS}


def test_participants_are_averaged_over_by_the_program_that_can() -> None:
    one = worst_case(TWO_STEPS, STRONG, rounds=1, clients=3, participants=2)
    more = worst_case(TWO_STEPS, STRONG, rounds=2, clients=3, participants=2)
    assert isinstance(one, WorstCaseForEveryN) and isinstance(more, WorstCaseForOneN) and more.random
    assert more.value < one.value * 2
    with pytest.raises(InvalidInput, match="coins were prescribed"):
        worst_case(FedPD(1.0, p=0.5), STRONG, rounds=1, clients=2, coins={0: {"communicate": True}}).replay()


def test_what_needs_a_number_of_clients_says_so() -> None:
    with pytest.raises(InvalidInput, match="participants needs the number of clients; pass clients=n"):
        worst_case(TWO_STEPS, STRONG, rounds=1, participants=2)
    with pytest.raises(InvalidInput, match="coins needs the number of clients"):
        worst_case(TWO_STEPS, STRONG, rounds=1, coins={})
    with pytest.raises(InvalidInput, match="unknown measure 'regret'; known are squared_distance, gap"):
        worst_case(TWO_STEPS, STRONG, rounds=1, measure="regret")


def test_a_class_for_a_method_and_arguments_exchanged_are_named() -> None:
    method, over = FedAvg(GradientSteps(1, 1.0)), FunctionClass(L=1.0)
    with pytest.raises(
        InvalidInput, match=r"the method is the class FedAvg; expected one with its options, FedAvg\(\.\.\.\)"
    ):
        worst_case(FedAvg, over, clients=2, rounds=1)
    with pytest.raises(
        InvalidInput, match="expected a method and a FunctionClass, in this order; got FunctionClass and FedAvg"
    ):
        worst_case(over, method, rounds=1)
    with pytest.raises(InvalidInput, match="in this order; got FunctionClass and FedAvg"):
        smallest_rate(over, method)
    with pytest.raises(InvalidInput, match="rounds must be a whole number of at least 1, got 'two'"):
        worst_case(method, over, rounds="two")
    with pytest.raises(InvalidInput, match=r"exchanged; expected round_matrix\(method, problem\)"):
        round_matrix(random_quadratics(n=2, d=1, seed=0), method)

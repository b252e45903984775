"""Exact witnesses: they meet the certificates from below, and a point outside the class is refused."""

from __future__ import annotations

import copy
from fractions import Fraction

import pytest

from fedtheory import FedAvg, FedPD, FunctionClass, GradientSteps, Scaffold
from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.certificates.lower_bounds import attain, check_witness
from fedtheory.proofs.certificates.upper_bounds import prove
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)
SMOOTH = FunctionClass(L=1.0, mu=-1.0)

CASES = {
    "fedavg": (FedAvg(GradientSteps(2, 1.0)), STRONG, {"rounds": 2}),
    "gap": (FedAvg(GradientSteps(2, 0.5)), FunctionClass(L=1.0, zeta=1.0), {"rounds": 1, "measure": "gap"}),
    "sampling": (FedAvg(GradientSteps(2, 0.5)), STRONG, {"rounds": 1, "participation": Sampling(10, 3)}),
    "control variates": (Scaffold(GradientSteps(2, 0.4)), STRONG, {"rounds": 1}),
    "deviations without limit": (FedPD(0.3), SMOOTH, {"rounds": 3, "measure": "sum_stationarity"}),
    "least of several": (FedPD(0.3), SMOOTH, {"rounds": 2, "measure": "min_stationarity"}),
    "coins": (FedPD(1.0, p=0.25), STRONG, {"rounds": 2}),
}


@pytest.fixture(scope="module")
def witness():
    return attain(FedPD(0.3), SMOOTH, rounds=2, measure="sum_stationarity")


@pytest.mark.parametrize("name", CASES)
def test_witness_and_certificate_enclose_the_worst_case(name):
    algorithm, functions, options = CASES[name]
    found = attain(algorithm, functions, **options)
    value = worst_case_for_every_n(algorithm, functions, **options).value
    assert isinstance(found.reached, Fraction)
    assert value * (1 - 1e-4) <= found.reached <= prove(algorithm, functions, **options).bound
    assert check_witness(found.data) == found.reached


TAMPERED = {
    "a larger value": (lambda d: d.update(reached="3"), "is not reached"),
    "another class": (lambda d: d.update(L="9/10", mu="-9/10"), "do not belong to a function of the class"),
    "a larger gap": (lambda d: d["values"].__setitem__(0, "2"), "'radius' fails"),
    "not a Gram matrix": (lambda d: d["S"][0].__setitem__(0, "-1"), "not positive semidefinite"),
    "not symmetric": (lambda d: d["S"][0].__setitem__(1, "7"), "not symmetric"),
    "another step": (lambda d: d["evaluations"][-1]["x"]["S"].update({"0": "-1/10"}), "do not belong"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_witness_is_refused(witness, name):
    change, message = TAMPERED[name]
    data = copy.deepcopy(dict(witness.data))
    change(data)
    with pytest.raises(Refused, match=message):
        check_witness(data)


def test_a_program_without_interior_is_refused_by_name():
    """With zero initial duals nothing bounds the sum; whatever the solvers say, no witness with a value comes out."""
    with pytest.raises(SolverFailed):
        attain(FedPD(0.2, init_dual="zero"), SMOOTH, rounds=1, measure="sum_stationarity", time_limit=1)


def test_a_lowest_value_that_two_functions_may_fall_below_is_refused(witness):
    """Whatever is asked of f at the server's models: the functions through the points of two clients are looked at everywhere."""
    data = copy.deepcopy(dict(witness.data))
    radius = next(form for form in data["hypotheses"] if form["name"] == "radius")
    known = {t for e in data["evaluations"] for t in e["f"]}
    (lowest,) = set(radius["f"]) - known
    assert check_witness(data) == witness.reached
    data["values"][int(lowest)] = str(Fraction(data["values"][int(lowest)]) + Fraction(1, 10**5))
    slack = [form for form in data["hypotheses"] if form["name"] == "lower bound"]
    data["hypotheses"] = [
        form for form in data["hypotheses"] if form not in slack
    ]  # which alone the program has asked for
    with pytest.raises(Refused, match="below the lowest value"):
        check_witness(data)

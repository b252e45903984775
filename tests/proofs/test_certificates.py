"""Exact certificates: they prove what the program says, the checker needs nothing but Python, and a tampered one is refused."""

from __future__ import annotations

import copy
import random
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from fedtheory import FedAvg, FedPD, FedProx, FunctionClass, GradientDescent, GradientSteps, Scaffold, StochasticSteps
from fedtheory.algorithms import GlobalProximal, LocalProximal, RandProx
from fedtheory.core.errors import InvalidInput
from fedtheory.core.exact import rational
from fedtheory.local.inexact import Inexact
from fedtheory.proofs import checker
from fedtheory.proofs.certificates.files import read_certificate
from fedtheory.proofs.certificates.forms import store_function
from fedtheory.proofs.certificates.upper_bounds import prove
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT, across_clients, check, pair, read_function
from fedtheory.proofs.checker.refusals import NotChecked, Refused
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.rebuilt import verify_method

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)
SMOOTH = FunctionClass(L=1.0, mu=-1.0)

CASES = {
    "fedavg": (FedAvg(GradientSteps(4, 1.0)), STRONG, {"rounds": 1}),
    "fedavg, two rounds": (FedAvg(GradientSteps(2, 1.0)), STRONG, {"rounds": 2}),
    "gap": (FedAvg(GradientSteps(2, 0.5)), FunctionClass(L=1.0, zeta=1.0), {"rounds": 1, "measure": "gap"}),
    "sampling": (FedAvg(GradientSteps(2, 0.5)), STRONG, {"rounds": 1, "participation": Sampling(10, 3)}),
    "proximal": (FedProx(0.5, GradientSteps(2, 0.4)), STRONG, {"rounds": 2}),
    "control variates": (Scaffold(GradientSteps(2, 0.4)), STRONG, {"rounds": 2}),
    "duals": (FedPD(0.3), SMOOTH, {"rounds": 3, "measure": "sum_stationarity"}),
    "least of several": (FedPD(0.3), SMOOTH, {"rounds": 2, "measure": "min_stationarity"}),
    "coins": (FedPD(1.0, p=0.25), STRONG, {"rounds": 2}),
    "shared regulariser": (GlobalProximal(GradientSteps(2, 0.5), 0.7), replace(STRONG, composite=True), {"rounds": 1}),
    "regulariser at clients": (LocalProximal(2, 0.5), replace(STRONG, composite=True), {"rounds": 1, "measure": "gap"}),
    "regulariser at three clients": (
        RandProx(0.6, 0.4, 0.7),
        replace(STRONG, composite=True, indicator=True),
        {"rounds": 1, "participation": Sampling(3, 3)},
    ),
    "similar": (FedAvg(GradientSteps(2, 0.9)), replace(STRONG, similarity=0.2), {"rounds": 1}),
    "inexact": (FedProx(0.5, Inexact(epsilon=0.04)), STRONG, {"rounds": 2}),
    "inexact, relative": (FedProx(0.5, Inexact(gamma=0.3)), STRONG, {"rounds": 1}),
    "noise": (
        FedAvg(StochasticSteps(2, 0.8, 1)),
        replace(STRONG, sigma=0.5),
        {"rounds": 2, "participation": Sampling(4, 4)},
    ),
    "noise and sampling": (
        FedAvg(StochasticSteps(1, 0.8, 1)),
        replace(STRONG, sigma=0.5),
        {"rounds": 1, "participation": Sampling(10, 3)},
    ),
    "noise, any heterogeneity": (
        Scaffold(StochasticSteps(1, 0.4, 1)),
        FunctionClass(L=1.0, mu=0.1, sigma=0.5),
        {"rounds": 2, "participation": Sampling(4, 4)},
    ),
}


@pytest.fixture(scope="module")
def certificate():
    return prove(FedAvg(GradientSteps(2, 1.0)), STRONG, rounds=1)


@pytest.mark.parametrize("name", CASES)
def test_proved_bounds_are_as_good_as_the_numerical_value(name):
    algorithm, functions, options = CASES[name]
    proved = prove(algorithm, functions, **options)
    value = worst_case_for_every_n(algorithm, functions, **options).value
    assert isinstance(proved.bound, Fraction)
    assert value - 1e-7 <= proved.bound <= value + 5e-5
    assert check(dict(proved.data)) == proved.bound


def test_a_smaller_bound_is_refused(certificate):
    data = {**certificate.data, "bound": str(certificate.bound - Fraction(1, 10**5))}
    with pytest.raises(Refused, match=r"prove .* only, not the stated bound"):
        check(data)


TAMPERED = {
    "negative": (lambda d: d["multipliers"].update(radius="-1"), "multiplier of 'radius' is negative"),
    "unbalanced": (lambda d: d["multipliers"].update({"interpolation 0 1": "1"}), "do not balance"),
    "another class": (lambda d: d.update(L="2"), "not positive semidefinite"),
    "impossible class": (lambda d: d.update(mu="3"), "-L <= mu < L"),
    "weights": (lambda d: d["objectives"][0].update(weight="2"), "sum to one"),
    "unknown inequality": (lambda d: d["multipliers"].update({"hope": "1"}), "neither a hypothesis nor a pair"),
    "no such evaluation": (
        lambda d: d["multipliers"].update({"interpolation 0 99": "1"}),
        "neither a hypothesis nor a pair",
    ),
    "another recursion": (lambda d: d["evaluations"][2]["x"]["Q"].update({"1": "-2"}), "not positive semidefinite"),
    "a number that is none": (lambda d: d["multipliers"].update(radius="one"), "malformed"),
    "a missing part": (lambda d: d.pop("hypotheses"), "malformed"),
    "outside the block": (lambda d: d.update(mean=1), "outside the block"),
    "infinity": (lambda d: d.update(bound="inf"), "malformed"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_certificate_is_refused_with_the_first_failing_step(certificate, name):
    change, message = TAMPERED[name]
    data = copy.deepcopy(dict(certificate.data))
    change(data)
    with pytest.raises(Refused, match=message):
        check(data)


@pytest.fixture(scope="module")
def shared():
    """A certificate with a function that clients share and conditions between different clients."""
    functions = replace(STRONG, composite=True)
    return prove(LocalProximal(2, 0.9), functions, rounds=1, participation=Sampling(3, 3))


SHARED_TAMPERED = {
    "fewer clients than two": (lambda d: d.update(clients=1), "malformed"),
    "a curved one without L": (lambda d: d["functions"]["regulariser"].update(mu="1/10"), "mu = 0 without L"),
    "not shared": (lambda d: d["functions"]["regulariser"].update(shared=False), "neither a hypothesis nor a pair"),
    "no regulariser": (lambda d: d.update(functions={}), "neither a hypothesis nor a pair"),
}


@pytest.mark.parametrize("name", SHARED_TAMPERED)
def test_tampered_functions_of_all_clients_are_refused(shared, name):
    change, message = SHARED_TAMPERED[name]
    data = copy.deepcopy(dict(shared.data))
    assert any("apart" in used for used in data["multipliers"])
    change(data)
    with pytest.raises(Refused, match=message):
        check(data)


@pytest.mark.parametrize("participation", [None, Sampling(3, 3)])
def test_the_checker_writes_down_the_inequalities_of_the_program(participation):
    """Both are exact, and made by different code from the same evaluations."""
    functions = rational(replace(STRONG, composite=True, similarity=0.2))
    model, *_ = state_program(rational(LocalProximal(2, 0.5)), functions, 1, "gap", 1, participation)
    known = {f.name: read_function(store_function(f)) for f in model.functions}
    across = across_clients(model.clients)
    names = [(name, form) for f in model.functions for name, form in f.conditions(model.clients)]
    assert {name.split()[0] for name, _ in names} == {"interpolation", "regulariser", "average", "difference"}
    assert any("apart" in name for name, _ in names)
    for name, form in names:
        expected = {**form.gram, **{("f", t): c for t, c in form.values.items()}}
        found = pair(name, known, across)
        assert {k: v for k, v in found.items() if v} == {k: v for k, v in expected.items() if v}, name


def test_multipliers_of_equations_have_any_sign_and_equations_no_other_name():
    functions = replace(STRONG, sigma=0.5)
    data = dict(prove(FedAvg(StochasticSteps(2, 0.8, 1)), functions, rounds=1, participation=Sampling(4, 4)).data)
    signs = {Fraction(data["multipliers"].get(name, "0")) > 0 for name in data["equations"]}
    assert signs == {True, False}
    for change in ({"equations": {}}, {"hypotheses": {**data["hypotheses"], **data["equations"]}}):
        with pytest.raises(Refused):
            check({**data, **change})


def test_the_checker_needs_no_package():
    """Run by itself in isolated mode, it imports only the standard library and its own files."""
    folder = str(Path(checker.__file__).parent)
    code = (
        f"import runpy, sys; sys.argv = ['checker', '--help']\ntry: runpy.run_path({folder!r}, run_name='__main__')\nexcept SystemExit: pass\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('numpy', 'scipy', 'cvxpy', 'clarabel', 'fedtheory')]; sys.exit(bool(bad))"
    )
    assert subprocess.run([sys.executable, "-I", "-S", "-c", code], check=False, capture_output=True).returncode == 0


def test_work_is_counted_and_the_limit_can_be_raised():
    """150 dense rows of fractions of 60 digits took minutes."""
    lots = random.Random(1)

    def draw():
        return lots.randrange(10**59, 10**60)

    form = {f"{i},{j}": f"{draw()}/{draw()}" for i in range(40) for j in range(i + 1, 40)}
    form |= {f"{i},{i}": f"-{1000 * draw()}/{draw()}" for i in range(40)}
    dense = {
        **{"format": CERTIFICATE_FORMAT, "L": 1, "mu": 0, "evaluations": [], "hypotheses": {}},
        **{
            "objectives": [{"weight": 1, "form": {"S": form}}],
            "multipliers": {},
            "bound": 0,
            "mean": 40,
            "deviation": 0,
        },
    }
    begun = time.process_time()
    with pytest.raises(NotChecked, match=r"more than 20000 steps to check; --limit STEPS raises"):
        check(dense, 20_000)
    assert time.process_time() - begun < 2
    small = {**dense, "objectives": [{"weight": 1, "form": {"S": {"0,0": "-1"}}}]}
    assert check(small, 10) == 0
    with pytest.raises(NotChecked):
        check(small, 0)


def test_files_round_trip_and_bad_ones_are_refused(certificate, tmp_path):
    certificate.write(tmp_path / "proof.json")
    assert check(read_certificate(tmp_path / "proof.json")) == certificate.bound
    (tmp_path / "other.json").write_text("{}")
    for name, message in (("missing.json", "not a readable"), ("other.json", "it is not a proof")):
        with pytest.raises(InvalidInput, match=message):
            read_certificate(tmp_path / name)


def test_numbers_are_read_as_they_print():
    exact = rational(FedAvg(GradientSteps(2, 0.1)))
    assert exact.local.lr == Fraction(1, 10) and exact.local.steps == 2
    assert rational(STRONG).mu == Fraction(1, 10)


def test_a_wrong_round_has_another_worst_case(monkeypatch, certificate):
    """A method that takes one step more cannot be certified at the bound of the right one."""
    other = prove(FedAvg(GradientSteps(3, 1.0)), STRONG, rounds=1)
    assert other.bound > certificate.bound + Fraction(1, 100)
    with pytest.raises(Refused):
        check({**other.data, "bound": certificate.data["bound"]})


L_50000 = FunctionClass(L=50000)
TIGHT = {
    "L R^2 / (4 N + 2)": (GradientDescent(Fraction(1)), FunctionClass(L=1), {"rounds": 4, "measure": "gap"}, "1/18"),
    "L = 50000, R = 1000": (
        GradientDescent(Fraction(1, 50000)),
        L_50000,
        {"rounds": 2, "measure": "gap", "radius": 1000},
        "5000000000",
    ),
    "(1 - mu/L)^2": (FedAvg(GradientSteps(1, 1.0)), STRONG, {"rounds": 1}, "81/100"),
    "2 L (1 + u)^2 / (1 + 4 u + 2 u^2)": (FedPD(0.3), SMOOTH, {"rounds": 1, "measure": "stationarity"}, "169/119"),
}


@pytest.mark.parametrize("name", TIGHT)
def test_a_simple_worst_case_is_proved_exactly(name):
    algorithm, functions, options, value = TIGHT[name]
    proved = prove(algorithm, functions, **options)
    assert proved.bound == Fraction(value) == check(dict(proved.data))
    verify_method(proved.data)

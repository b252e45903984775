"""Parameters with a small proved rate: where the search ends is near known optima, is proved, and is bounded from below at these parameters."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fedtheory import FedPD, FunctionClass, GradientDescent
from fedtheory.algorithms import AcceleratedGradient, TripleMomentum
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs import verify_method
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.potentials.design import Design, to_digits

STRONG = FunctionClass(L=1.0, mu=0.1)


def test_fedpd_ends_at_the_known_step():
    """Douglas-Rachford splitting: eta = 1/sqrt(L mu), with the rate 1/(1 + sqrt(mu/L))^2."""
    best = 1 / (1 + math.sqrt(0.1)) ** 2
    found = Design(lambda free: FedPD(free["eta"]), STRONG).search({"eta": 2.5}, most=12)
    assert best - 1e-6 <= found.found.proved < best + 5e-3  # a dozen points
    assert found.not_below < found.found.proved and found.gap < 1e-4
    assert check(dict(found.found.decrease.data)) == check(dict(found.found.floor.data)) == 0


def test_momentum_beats_gradient_descent_and_no_bound_from_below():
    """Two parameters: better than the best step without momentum, 0.669, and no better than any method on quadratics, 0.2699."""
    make = Design(lambda free: AcceleratedGradient(free["lr"], free["beta"]), STRONG)
    found = make.search({"lr": 1.0, "beta": 0.3}, most=60)
    root = math.sqrt(10)
    assert ((root - 1) / (root + 1)) ** 2 < found.not_below <= found.found.proved < (0.9 / 1.1) ** 2 - 0.05


def test_the_bound_from_below_is_that_of_the_parameters():
    """A step of 1/2 has (1 - mu/2)^2 on the flattest quadratic, and nothing better."""
    found = Design(lambda free: GradientDescent(free["lr"]), STRONG).prove({"lr": Fraction(1, 2)})
    assert float(found.not_below) == pytest.approx(0.95**2, abs=2e-6) and found.not_below < Fraction(95, 100) ** 2
    assert Fraction(95, 100) ** 2 <= found.found.proved < Fraction(95, 100) ** 2 + Fraction(1, 10**4)


def test_triple_momentum_needs_a_potential_with_gradients():
    """Its rate (1 - sqrt(mu/L))^2 is that of its source; the proof is made anew from its round."""
    q = 1 - math.sqrt(0.1)
    known = {"lr": 1 + q, "momentum": q**2 / (2 - q), "ahead": q**2 / ((1 + q) * (2 - q))}
    parameters = {name: to_digits(value) for name, value in known.items()}
    found = Design(lambda free: TripleMomentum(**free), STRONG).prove(parameters)
    assert q**2 - 1e-4 < found.not_below <= found.found.proved < q**2 + 1e-4 and "grad" in str(found.found.potential)
    assert Design(lambda free: TripleMomentum(**free), STRONG, gradients=False).rate(parameters) > 1
    for proof in (found.found.decrease, found.found.floor):
        assert verify_method(dict(proof.data))
    without = {name: w for name, w in found.found.decrease.data["question"]["potential"].items() if "grad" not in name}
    edited = dict(found.found.decrease.data)
    edited["question"] = {**edited["question"], "potential": without}
    with pytest.raises(Refused, match="is not that of the method"):
        verify_method(edited)


def test_triple_momentum_is_found_from_where_the_command_starts():
    design = Design(lambda free: TripleMomentum(**free), STRONG)
    found = design.search({"lr": 0.1, "momentum": 0.0, "ahead": 0.0})
    assert (1 - math.sqrt(0.1)) ** 2 - 1e-6 <= found.found.proved <= Fraction(4680, 10000)


def test_an_interrupted_search_goes_the_same_way(monkeypatch):
    def arguments(file):
        return ["design", "gd", "--free", "lr", "--lr", "1", "--most", "10", "--json", file]

    asked, find = [], Design._find_rate

    def interrupted(self, parameters):
        if len(asked) == 4:
            raise KeyboardInterrupt
        asked.append(parameters)
        return find(self, parameters)

    whole = CliRunner().invoke(main, arguments("whole.json"))
    monkeypatch.setattr(Design, "_find_rate", interrupted)
    left = CliRunner().invoke(main, arguments("parts.json"))
    assert (
        left.exit_code == 130 and "interrupted after 4 parameters; the same command goes on from there" in left.stderr
    )
    monkeypatch.setattr(Design, "_find_rate", lambda *given: asked.append(given) or find(*given))
    parts = CliRunner().invoke(main, arguments("parts.json"))
    assert parts.exit_code == 0 and "resuming an interrupted run: 4 of 10 parameters are done" in parts.stderr
    assert Path("whole.json").read_text() == Path("parts.json").read_text() and len(asked) == 9
    assert whole.exit_code == 0 and not [*Path(".fedtheory").glob("design-*")]


def test_a_start_without_a_potential_is_refused():
    with pytest.raises(InvalidInput, match="lr = 3"):
        Design(lambda free: GradientDescent(free["lr"]), STRONG).search({"lr": 3.0})


def test_a_map_has_rates_where_there_are_some_and_marks_what_is_proved():
    make = Design(lambda free: AcceleratedGradient(free["lr"], free["beta"]), STRONG)
    rates, proved = make.map({"lr": [1.0, 4.0], "beta": [0.0, 0.3]})
    assert rates[0][0] == pytest.approx(0.81, abs=2e-3) and rates[1][0] < rates[0][0]
    assert np.isinf(rates[0][1]) and np.isinf(rates[1][1]) and proved == [(0, 0), (1, 0)]


def test_digits():
    assert (
        to_digits(1.234567) == Fraction(12346, 10000)
        and to_digits(0.0) == 0
        and to_digits(-2e-7) == Fraction(-2, 10**7)
    )


def test_the_command_designs(tmp_path):
    file = tmp_path / "step.json"
    arguments = ["design", "gd", "--free", "lr", "--lr", "1", "--most", "10", "--certificate", str(file)]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    assert "that no other parameters are better is not shown" in found.output
    assert CliRunner().invoke(main, ["verify-certificate", str(file)]).exit_code == 0
    answer = json.loads(CliRunner().invoke(main, [*arguments, "--json", "-"]).stdout)
    assert Fraction(answer["not_below"]) <= Fraction(answer["rate"]) < Fraction(7, 10)
    assert "whole number" in CliRunner().invoke(main, ["design", "scaffold", "--free", "local-steps"]).output
    assert (
        "two free options"
        in CliRunner().invoke(main, ["design", "gd", "--free", "lr", "--map", str(tmp_path / "a.png")]).output
    )

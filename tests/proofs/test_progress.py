"""What is proved of a round from any start, the rounds that an accuracy takes, and methods side by side at their best steps."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from fedtheory import FedAvg, FedProx, FunctionClass, GradientDescent, GradientSteps, Scaffnew, Scaffold
from fedtheory.algorithms import listed
from fedtheory.command_line.main import main
from fedtheory.core.errors import CannotTrace, SolverFailed
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.certificates.one_round import bound_one_round, without_radius
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.potentials.progress import StepSearch, forgets, rounds_of, traffic_of
from problems.quadratics import random_quadratics

HETEROGENEOUS = FunctionClass(L=1.0, mu=0.1, zeta=0.3)


@pytest.mark.parametrize("algorithm", [FedAvg(GradientSteps(3, 0.5)), FedProx(1.0, GradientSteps(2, 0.4))])
def test_a_round_moves_runs_by_no_more_than_is_proved(algorithm):
    """Quadratics of the class with the stated heterogeneity, from starts near and far: the radius of the certificate is none of theirs."""
    one = bound_one_round(algorithm, HETEROGENEOUS, radius=0.5)
    largest = 0.0
    for seed in range(6):
        problem = random_quadratics(4, 3, L=1.0, mu=0.1, seed=seed)
        x_star = problem.solution()
        slopes = problem.grad(np.broadcast_to(x_star, (4, 3)))
        size = 0.3 / math.sqrt((slopes**2).sum(-1).mean())  # scaling about x* keeps curvatures
        for distance in (0.01, 0.5, 30.0):
            direction = np.random.default_rng(seed).standard_normal(3)
            x0 = x_star + distance / size * direction / np.linalg.norm(direction)
            state = algorithm.round(problem, algorithm.init(problem, x0[None, :]), None, ScriptedKey(0))
            after = size**2 * float(((state.x[0] - x_star) ** 2).sum())
            largest = max(largest, after / float(one.rate * Fraction(distance) ** 2 + one.offset))
    assert 0.5 < largest <= 1 + 1e-9


def test_the_factor_is_known_for_equal_curvatures_and_is_checked():
    """K gradient steps on mu ||x||^2/2 shrink squares by (1 - lr mu)^(2K), so that no smaller factor can be proved."""
    one = bound_one_round(FedAvg(GradientSteps(2, 0.5)), HETEROGENEOUS, radius=1)
    assert Fraction(95, 100) ** 4 <= one.rate < 1 and one.offset > 0 and one.slope > 0
    moved, _ = without_radius(one.certificate.data, Fraction(1))
    assert "radius" not in moved["hypotheses"] and check(moved) == one.offset
    moved["bound"] = str(one.offset * Fraction(9, 10))
    with pytest.raises(Refused):
        check(moved)


def test_rounds_to_an_accuracy():
    assert rounds_of(0.5, 0.0, 0.25) == pytest.approx(2)
    value, rounds = 1.0, 0
    while value > 0.1:
        value, rounds = 0.7 * value + 0.02, rounds + 1
    assert math.ceil(rounds_of(0.7, 0.02, 0.1)) == rounds
    assert math.isinf(rounds_of(0.7, 0.031, 0.1)) and math.isinf(rounds_of(1.0, 0.0, 0.1))


def test_memory_and_traffic():
    assert forgets(FedAvg(GradientSteps(2, 0.5))) and not forgets(Scaffold(GradientSteps(2, 0.5)))
    assert traffic_of(Scaffold(GradientSteps(2, 0.5))) == (2, 2) and traffic_of(FedAvg(GradientSteps(2, 0.5))) == (1, 1)
    assert traffic_of(Scaffnew(1.0, 0.25)) == (0.25, 0.25)


def test_rounds_that_differ_are_refused():
    """The first step is proved to contract; later ones are other steps."""
    search = StepSearch(lambda lr: listed("fedavg").build(lr=lr, steps=2, lr_decay=0.9), HETEROGENEOUS, 0.01)
    with pytest.raises(CannotTrace, match="number of the round"):
        search.prove(Fraction(1, 2))


def test_best_steps_are_the_known_ones():
    """Gradient descent: 2/(L + mu), with ((L - mu)/(L + mu))^2."""
    search = StepSearch(GradientDescent, FunctionClass(L=1.0, mu=0.1), 0.01)
    found = search.prove(search.best())
    assert float(found.step) == pytest.approx(2 / 1.1, rel=0.01)
    assert (0.9 / 1.1) ** 2 <= float(found.rate) < (0.9 / 1.1) ** 2 + 0.01 and found.floor == 0


def test_an_accuracy_below_every_floor_is_refused(monkeypatch):
    monkeypatch.setattr(StepSearch, "rounds", lambda self, step: math.inf)
    search = StepSearch(lambda lr: FedAvg(GradientSteps(2, lr)), FunctionClass(L=1.0, mu=0.1, zeta=100.0), 1e-4)
    with pytest.raises(SolverFailed, match="smaller zeta"):
        search.best()


def test_the_command_compares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = [
        "compare",
        "fedavg,scaffnew,fedcm",
        "--mu",
        "0.2",
        "--zeta",
        "0.1",
        "--local-steps",
        "2",
        "--accuracy",
        "0.1",
    ]
    answer = CliRunner().invoke(main, [*arguments, "--picture", "all.svg", "--certificates", "proofs", "--json", "-"])
    assert answer.exit_code == 1 and not list(tmp_path.glob(".fedtheory/*"))  # FedCM has a memory and no fixed point
    rows = {row["method"]: row for row in json.loads(answer.stdout)["methods"]}
    assert "fixed point" in rows["fedcm"]["error"] and not rows["fedavg"]["error"]
    assert 0 < float(Fraction(rows["fedavg"]["floor"])) < 0.1 and Fraction(rows["scaffnew"]["floor"]) == 0
    assert rows["scaffnew"]["settings"]["p"] == 0.5 and rows["scaffnew"]["up"] == 0.5
    assert rows["fedavg"]["vectors"] == 2 * rows["fedavg"]["rounds"]
    for name in ("fedavg", "scaffnew", "scaffnew-floor"):
        assert check(json.loads((tmp_path / "proofs" / f"{name}.json").read_text())) is not None
    assert (tmp_path / "all.svg").exists() and (tmp_path / "all-floor.svg").exists()

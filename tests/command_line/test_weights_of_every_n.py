"""--weights of the commands that prove for every number of clients."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from fedtheory import FunctionClass, GradientSteps, Scaffold, smallest_rate
from fedtheory.command_line.main import main
from fedtheory.core.client_weights import weighing
from fedtheory.core.weighted import Weighted
from fedtheory.proofs.every_n.weights import count_equal_clients
from fedtheory.proofs.potentials.smallest_rate import follow_potential
from problems.quadratics import random_quadratics

WEIGHTS = ("--weights", ".5,.3,.2")
SCAFFOLD = ("scaffold", "--local-steps", "2")


def answer(*words: object) -> dict:
    ran = CliRunner().invoke(main, [*map(str, words), "--json", "-"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


@pytest.mark.parametrize(
    ("words", "proved"),
    [
        (("lyapunov", *SCAFFOLD, "--lr", 0.5), "proved"),
        (("largest", *SCAFFOLD, "--option", "lr", "--to", 4), "certified"),
        (("design", *SCAFFOLD, "--free", "lr", "--most", 3), "rate"),
    ],
)
def test_the_answer_is_that_of_every_n_and_names_the_weights(tmp_path, monkeypatch, words, proved) -> None:
    monkeypatch.chdir(tmp_path)
    weighted, plain = answer(*words, *WEIGHTS), answer(*words)
    assert weighted[proved] == plain[proved] is not None
    assert weighted["weights"] == ["1/2", "3/10", "1/5"] and "weights" not in plain


def test_compare_names_the_weights(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, ["compare", "gd", "--weights", "2/3,1/3"])
    assert ran.exit_code == 0, ran.output
    assert (
        "weights 2/3, 1/3: what is proved holds for them, as for 3 equal clients of whom 2, 1 are alike" in ran.output
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lyapunov", "diana-any", *WEIGHTS), "drawn by every client for itself"),
        (("lyapunov", "fedavg-weighted", *WEIGHTS), "its own weights are the clients' numbers of steps"),
        (("largest", "fedbuff", "--option", "lr", *WEIGHTS), "counts equally in its source"),
        (("compare", "gd,diana-any", *WEIGHTS), "drawn by every client for itself"),
        (
            ("lyapunov", "scaffold", *WEIGHTS, "--clients", 10, "--participants", 2),
            "leave --clients and --participants out",
        ),
        (("design", *SCAFFOLD, "--free", "lr", "--weights", ".5,.4"), "divide them by it"),
        (("lyapunov", "gd", "--weights", "1/3,.6666666666666666"), "write them as fractions"),
    ],
)
def test_what_says_nothing_of_weights_is_refused(tmp_path, monkeypatch, words, said) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, [*map(str, words)])
    assert ran.exit_code == 2 and said in " ".join(ran.output.split()), ran.output


def test_weights_are_equal_clients() -> None:
    assert count_equal_clients([Fraction(7, 10), Fraction(3, 10)]) == (10, (7, 3))
    assert count_equal_clients([Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]) == (6, (1, 2, 3))


@pytest.mark.parametrize("weights", [(0.9, 0.1), (0.5, 0.3, 0.2)])
def test_the_potential_falls_on_clients_with_weights(weights) -> None:
    """In numbers: V with means by the weights falls around the minimiser of sum_i p_i f_i, and not around that of equal clients."""
    algorithm = Scaffold(GradientSteps(2, 0.5))
    found = smallest_rate(algorithm, FunctionClass(1, Fraction(1, 10)))
    assert found.potential is not None and found.proved is not None
    functions = random_quadratics(len(weights), 3, L=1.0, mu=0.1, seed=1)
    slopes, instance = functions.grad(np.zeros((len(weights), 3))), Weighted(functions, weights)
    held = []
    for p in (np.array(weights), np.full(len(weights), 1 / len(weights))):
        x_star = np.linalg.solve(np.einsum("i,ijk->jk", p, functions.A), -p @ slopes)
        with weighing(instance):
            before, after = follow_potential(found.potential, instance, x_star, np.ones(3), 12)
        assert before[found.first] > 1e-3
        held.append(bool(np.all(after[found.first :] <= float(found.proved) * before[found.first :] + 1e-12)))
    assert held == [True, False]

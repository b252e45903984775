"""Worst cases over functions of clients with weights."""

from __future__ import annotations

import json
import re
from fractions import Fraction as F

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import close

from fedtheory.algorithms import FedAvg, FedPD, Scaffold, listed
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.proofs import check, prove_for_weights, stated_bounds, verify_method
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.stated_bounds import judge_bound
from fedtheory.proofs.worst_cases import worst_case

pytest.importorskip("PEPit")

L, MU = 1.0, 0.1
GIVEN = FunctionClass(L=L, mu=MU, zeta=1.0)
TWO_STEPS = FedAvg(GradientSteps(2, 1.0))
FOR_EVERY_N = 1.095180


def by_hand(weights, steps: int, *, one_of_them: bool = False) -> float:
    """One round of FedAvg with steps of length one, stated in PEPit alone: ||x - x*||^2 in the worst case, or with one client in expectation."""
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction

    pep = PEP()
    functions = [pep.declare_function(SmoothStronglyConvexFunction, L=L, mu=MU) for _ in weights]
    f = np.sum([p * g for p, g in zip(weights, functions, strict=True)])
    x_star, x = f.stationary_point(), pep.set_initial_point()
    pep.set_initial_condition((x - x_star) ** 2 <= 1)
    pep.add_constraint(np.sum([p * g.gradient(x_star) ** 2 for p, g in zip(weights, functions, strict=True)]) <= 1)
    reached = []
    for g in functions:
        y = x
        for _ in range(steps):
            y = y - g.gradient(y)
        reached.append(y)
    new = np.sum([p * y for p, y in zip(weights, reached, strict=True)])
    alone = np.sum([(y - x_star) ** 2 for y in reached]) / len(weights)
    pep.set_performance_metric(alone if one_of_them else (new - x_star) ** 2)
    return float(pep.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0))


@pytest.mark.parametrize(
    ("weights", "expected"), [((0.5, 0.3, 0.2), FOR_EVERY_N), ((0.7, 0.3), 1.08649), ((0.9, 0.1), 1.010015)]
)
def test_two_steps_of_fedavg(weights, expected) -> None:
    """The numbers of a program that is written down here, without this project; a run on the worst functions reaches them."""
    found = worst_case(TWO_STEPS, GIVEN, rounds=1, clients=len(weights), weights=weights)
    assert found.value == pytest.approx(expected, rel=1e-5)
    assert found.value == pytest.approx(by_hand(weights, 2), rel=1e-5)
    assert found.replay() == pytest.approx(found.value, rel=1e-5)


@pytest.mark.parametrize(
    ("method", "given", "rounds"),
    [
        (Scaffold(GradientSteps(2, 0.5)), GIVEN, 2),
        (FedPD(eta=0.5, local=Exact()), FunctionClass(L=L, mu=MU), 2),
        (listed("feddr").build(eta=1.0, alpha=1.0, exact=True), FunctionClass(L=L, mu=MU, composite=True), 1),
    ],
)
def test_weights_of_at_most_a_half_attain_what_bounds_all(method, given, rounds) -> None:
    free = worst_case(method, given, rounds=rounds).value
    even = worst_case(method, given, rounds=rounds, clients=3, weights=(0.45, 0.35, 0.2)).value
    uneven = worst_case(method, given, rounds=rounds, clients=2, weights=(0.9, 0.1)).value
    assert even == pytest.approx(free, rel=1e-4) and uneven <= free * (1 + 1e-6)


def test_equal_weights_are_no_weights() -> None:
    found, plain = (worst_case(TWO_STEPS, GIVEN, rounds=1, clients=2, weights=w) for w in ((0.5, 0.5), None))
    assert found.value == plain.value and found.weights is None


def test_a_stated_bound_is_judged_for_these_weights() -> None:
    found = worst_case(TWO_STEPS, GIVEN, rounds=1, clients=2, weights=(0.7, 0.3))
    proved, below = (judge_bound(found, bound) for bound in (1.09, 1.08))
    assert (
        proved.verdict == "holds"
        and "for clients of these weights" in proved.reason
        and 1.0864 < proved.at_most < 1.0866
    )
    # equal clients reach 1.09518; these reach less, and are refuted by a run of theirs
    assert below.verdict == "violated" and below.reached == pytest.approx(1.08649, rel=1e-5)
    assert judge_bound(found, found.value * (1 + 1e-9)).verdict == "undecided"


def test_without_a_proof_for_these_weights_one_for_all_serves(monkeypatch) -> None:
    def refuse(*given, **more):
        raise InvalidInput("none")

    monkeypatch.setattr(stated_bounds, "prove_for_weights", refuse)
    found = worst_case(TWO_STEPS, GIVEN, rounds=1, clients=2, weights=(0.7, 0.3))
    proved, numerical = (judge_bound(found, bound) for bound in (1.096, 1.09))
    assert proved.verdict == "holds" and "and so for all weights" in proved.reason and 1.0951 < proved.at_most < 1.096
    assert (
        numerical.verdict == "holds" and numerical.at_most is None and "numerically, 1.0864895 with" in numerical.reason
    )


CASES = {
    "local steps": (TWO_STEPS, GIVEN, (F(7, 10), F(3, 10)), 1, "squared_distance"),
    "three clients": (TWO_STEPS, GIVEN, (F(1, 2), F(3, 10), F(1, 5)), 1, "squared_distance"),
    "gap": (Scaffold(GradientSteps(2, 0.5)), GIVEN, (F(9, 10), F(1, 10)), 1, "gap"),
    "proximal, nothing limits gradients at x*": (
        *(FedPD(eta=0.5, local=Exact()), FunctionClass(L=L, mu=MU), (F(9, 10), F(1, 10)), 2, "squared_distance"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_exact_proofs_for_weights_agree_with_the_program_in_pepit(name) -> None:
    method, given, weights, rounds, measure = CASES[name]
    proof = prove_for_weights(method, given, weights, rounds=rounds, measure=measure)
    value = worst_case(method, given, rounds=rounds, measure=measure, clients=len(weights), weights=weights).value
    # a slack of a millionth, which survives rounding, costs as much as the Gram matrix has trace: less than ten
    assert value * (1 - 1e-6) <= proof.bound <= value + 1e-5
    assert check(dict(proof.data)) == proof.bound
    assert f"clients of the weights {', '.join(map(str, weights))}" in verify_method(proof.data)


def test_a_proof_for_weights_is_of_these_alone() -> None:
    """With other weights in its question the system is another one; a lower bound is refused; some weights are none."""
    data = dict(prove_for_weights(TWO_STEPS, GIVEN, (F(9, 10), F(1, 10)), rounds=1).data)
    for weights, told in (
        (["7/10", "3/10"], "is not|differ|another"),
        (["9/10", "2/10"], "positive numbers with the sum 1"),
        ("9/10", "positive numbers with the sum 1"),
    ):
        with pytest.raises(Refused, match=told):
            verify_method(data | {"question": data["question"] | {"weights": weights}})
    with pytest.raises(Refused):
        verify_method(data | {"question": {k: v for k, v in data["question"].items() if k != "weights"}})
    with pytest.raises(Refused):
        check(data | {"bound": "101/100"})


@pytest.mark.parametrize(
    ("given", "weights", "told"),
    [
        (FunctionClass(L=L, mu=MU, composite=True), (F(7, 10), F(3, 10)), "over convex classes with L, mu and zeta"),
        (GIVEN, (0.333, 0.333), "divide them by it"),
        (GIVEN, (1 / 3, 2 / 3), "exact weights have the sum 1"),
    ],
)
def test_what_is_not_stated_exactly_for_weights_is_refused(given, weights, told) -> None:
    with pytest.raises(InvalidInput, match=told):
        prove_for_weights(TWO_STEPS, given, weights, rounds=1)


def test_the_command_writes_the_proof_for_weights(tmp_path) -> None:
    file = tmp_path / "proof.json"
    ran = CliRunner().invoke(main, [*ASKED, "--weights", ".9,.1", "--certificate", str(file)])
    proved = re.search(r"proved in exact arithmetic: <= (\d+/\d+)", ran.output)
    assert ran.exit_code == 0 and proved, ran.output
    assert 0 < F(proved[1]) - F("1.01001523") < 1e-5  # above the worst case; the digits behind are the solver's
    ran = CliRunner().invoke(main, ["verify-certificate", str(file)])
    assert ran.exit_code == 0 and "clients of the weights 9/10, 1/10" in ran.output, ran.output
    for other in (("--weights", ".5,.5"), ("--weights", ".9,.1", "--participants", "1")):
        ran = CliRunner().invoke(main, [*ASKED, *other, "--certificate", str(file)])
        assert ran.exit_code == 2 and "--clients any" in ran.output, ran.output


def test_one_of_two_clients_chosen_uniformly_is_the_average_whatever_its_weight() -> None:
    """f's weights are then those of x* and of zeta alone."""
    found = worst_case(TWO_STEPS, GIVEN, rounds=1, clients=2, participants=1, weights=(0.7, 0.3))
    assert found.value == pytest.approx(by_hand((0.7, 0.3), 2, one_of_them=True), rel=1e-5)
    with pytest.raises(InvalidInput, match="also averages over what all clients hold"):
        worst_case(Scaffold(GradientSteps(1, 1.0)), GIVEN, rounds=1, clients=2, participants=1, weights=(0.7, 0.3))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"clients": "any", "weights": (0.5, 0.5)}, "weights needs the number of clients"),
        ({"clients": 3, "weights": (0.5, 0.5)}, "there are 2 weights"),
        ({"clients": 2, "weights": (1.5, -0.5)}, "weight of client 0 is 1.5"),
    ],
)
def test_wrong_weights_are_refused(asked, told) -> None:
    with pytest.raises(InvalidInput, match=told):
        worst_case(TWO_STEPS, GIVEN, rounds=1, **asked)
    with pytest.raises(InvalidInput, match="stated for clients that count equally"):
        worst_case(TWO_STEPS, FunctionClass(L=L, mu=MU, similarity=0.1), rounds=1, clients=2, weights=(0.7, 0.3))


ASKED = ("worst-case", "fedavg", "--local-steps", "2", "--lr", "1", "--mu", "0.1", "--zeta", "1")


def test_the_command_says_whether_weights_attain_the_bound_for_all() -> None:
    for weights, attained in (("1/2,.3,.2", True), (".7,.3", False)):
        result = CliRunner().invoke(main, [*ASKED, "--weights", weights, "--json", "-"])
        assert result.exit_code == 0, result.output
        answer = json.loads(result.stdout)
        assert answer["attained"] is attained
        close(np.array(answer["for_all_weights"]), np.array(FOR_EVERY_N), 1e-5)
    text = CliRunner().invoke(main, [*ASKED, "--weights", ".7,.3", "--clients", "2"]).stdout
    assert "weights 7/10, 3/10" in text and "which these weights do not attain" in text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--clients", "3", "--weights", ".7,.3"), "there are 2 weights (0.7, 0.3) and n = 3 clients"),
        (("--clients", "any", "--weights", ".7,.3"), "holds for all weights"),
        (
            ("--weights", ".7,.3", "--agree"),
            "--agree goes with --clients any without --weights",
        ),
        (("--weights", ".7,.3", "--similarity", "0.1"), "stated for equal ones"),
    ],
)
def test_the_command_refuses_in_a_line_what_weights_do_not_go_with(given, told) -> None:
    result = CliRunner().invoke(main, [*ASKED, *given])
    assert result.exit_code == 2 and told in result.stderr and len(result.stderr.strip().splitlines()) == 1

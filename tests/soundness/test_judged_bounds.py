"""False words about stated bounds: each was believed once, and must be refused or said to be undecided."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

from fedtheory import FedAvg, FunctionClass, GradientSteps
from fedtheory.algorithms import GlobalProximal
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.exact import rational
from fedtheory.proofs import attain, check_witness, find_threshold, worst_case
from fedtheory.proofs.certificates.upper_bounds import prove
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.stated_bounds import judge_bound, relaxations_of, replay_on_class

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)


STEP = FedAvg(GradientSteps(1, 1.0))
TWO = FedAvg(GradientSteps(2, 0.5))
CONTRACTION = FunctionClass(1.0, 0.1, zeta=1.0)
APART = FunctionClass(1.0, 0.1, dissimilarity=1.0)
BGD = FunctionClass(1.0, 0.1, bgd=(1.0, 1.0))


@pytest.mark.parametrize("clients", ["any", 1, 2, 3])
@pytest.mark.parametrize("measure", ["squared_distance", "gap"])
def test_a_tight_true_bound_is_never_violated(clients, measure):
    """(1 - mu/L)^2 = .81, which was "violated" at 0.81, and L R^2 / (4 N + 2) of convex functions after N = 1 step."""
    distance = measure == "squared_distance"
    functions = CONTRACTION if distance else FunctionClass(1.0, 0.0, zeta=1.0)
    true = Fraction(81, 100) if distance else Fraction(1, 6)
    found = worst_case(STEP, functions, rounds=1, clients=clients, measure=measure)
    for bound in (true, float(true)):
        judged = judge_bound(found, bound)
        # the decimal that 1/6 prints as is below it
        assert judged.verdict == ("holds" if clients != 1 and rational(bound) >= true else "undecided")
        assert judged.at_most == (true if clients != 1 else None)
        assert judged.reached is None or judged.reached <= float(true) * (1 + 1e-6)
    assert judge_bound(found, true * Fraction(101, 100)).verdict == "holds"
    assert judge_bound(found, true * Fraction(99, 100)).verdict == "violated"


def test_what_holds_is_proved_and_what_is_violated_has_a_witness():
    found = worst_case(TWO, CONTRACTION, rounds=1)
    above, below = judge_bound(found, 2 * found.value), judge_bound(found, found.value / 2)
    assert above.verdict == "holds" and isinstance(above.at_most, Fraction) and "proved" in above.reason
    assert below.verdict == "violated" and isinstance(below.reached, Fraction) and "in fractions" in below.reason
    assert float(below.reached) <= found.value <= float(above.at_most)


def test_one_client_has_numbers_and_runs():
    """There is no certificate of one client: the value with its error holds, a checked run violates by more than it is off."""
    found = worst_case(STEP, CONTRACTION, rounds=1, clients=1)
    assert "numerically" in judge_bound(found, 0.82).reason
    assert "a run on them" in judge_bound(found, 0.8).reason
    assert judge_bound(found, 0.81 * (1 - 1e-5)).verdict == "undecided"


@pytest.mark.parametrize("clients", ["any", 2, 3])
@pytest.mark.parametrize("functions", [APART, BGD], ids=["dissimilarity", "bgd"])
def test_nothing_is_violated_on_a_relaxed_class(functions, clients):
    found = worst_case(TWO, functions, rounds=1, clients=clients)
    assert relaxations_of(found) == ("dissimilarity of the clients is imposed at the server's models and x* only",)
    judged = judge_bound(found, found.value / 2)
    assert judged.verdict == "undecided" and judged.reached is None and "need not reach" in judged.reason
    assert judge_bound(found, found.value * 1.01).verdict == "holds"


def test_what_has_no_limit_is_no_violation_by_itself():
    found = worst_case(TWO, FunctionClass(1.0, 0.1), rounds=1)
    assert found.unbounded and judge_bound(found, 1.0).verdict == "undecided"


@pytest.mark.parametrize("bound", [0, -1.0, float("inf"), float("nan")])
def test_a_bound_is_a_positive_number(bound):
    with pytest.raises(InvalidInput, match="must be a positive number"):
        judge_bound(worst_case(STEP, CONTRACTION, rounds=1), bound)


def test_a_value_too_small_for_its_units_is_not_said_to_hold():
    """With L = 1000 the program without units prints .66498; true is 1.09518, and the certificate of the same call says 35.2."""
    two = FedAvg(GradientSteps(2, 0.001))
    found = worst_case(two, FunctionClass(1000.0, 100.0, zeta=1000.0), rounds=1)
    assert judge_bound(found, 0.7).verdict != "holds"


ROOT = FedAvg(GradientSteps(1, lambda r, q: 0.5**0.5))  # of gradient descent with a step size that is no fraction


def test_an_irrational_step_size_has_no_certificate_and_still_a_verdict():
    """Its contraction (1 - mu/sqrt(2))^2 is known: a bound above it holds numerically, one below is violated by a run."""
    with pytest.raises(InvalidInput, match=r"needs rational coefficients, .* give hyper-parameters as decimal numbers"):
        prove(ROOT, CONTRACTION, rounds=1)
    true = (1 - 0.1 / 2**0.5) ** 2
    found = worst_case(ROOT, CONTRACTION, rounds=1)
    above, below = judge_bound(found, true * 1.001), judge_bound(found, true * 0.999)
    assert above.verdict == "holds" and above.at_most is None and "no exact proof was found" in above.reason
    assert below.verdict == "violated" and "a run on them, whose start and class were checked" in below.reason
    assert below.reached == pytest.approx(true, rel=1e-6)
    assert judge_bound(found, true).verdict == "undecided"


@pytest.mark.parametrize("clients", ["any", 1])
def test_a_run_shows_nothing_where_the_class_bounds_functions_from_below(clients):
    """That rebuilt functions are nowhere below a value is not seen from a run."""
    found = worst_case(ROOT, FunctionClass(1.0, -1.0), rounds=1, measure="stationarity", clients=clients)
    assert replay_on_class(found) is None
    judged = judge_bound(found, found.value * 0.9)
    assert judged.verdict == "undecided" and judged.reached is None
    assert "+1.11e-01 of the bound" in judged.reason and judged.reason.endswith(
        "no functions of the class were shown to exceed the bound"
    )


def test_no_witness_is_built_of_more_than_the_clients_functions():
    functions = FunctionClass(1.0, 0.1, zeta=1.0, composite=True)
    with pytest.raises(SolverFailed, match="for the clients' functions alone, without regulariser"):
        attain(GlobalProximal(GradientSteps(1, 0.5), 0.5), functions, rounds=1)


RELAXED = {
    "dissimilarity": (FunctionClass(1.0, -1.0, dissimilarity=1.0), None),
    "dissimilarity of two": (FunctionClass(1.0, -1.0, dissimilarity=1.0), Sampling(2, 2)),
    "bgd": (FunctionClass(1.0, -1.0, bgd=(1.0, 1.5)), None),
    "similarity": (FunctionClass(1.0, 0.1, zeta=1.0, similarity=0.2), None),
}


@pytest.mark.parametrize("name", RELAXED)
def test_no_witness_is_given_for_a_relaxed_class(name):
    """Bounded dissimilarity: "reached .66521874" where the class allows .66255; G = 1: "any n >= 2" where n = 2 gives .5757."""
    functions, who = RELAXED[name]
    measure = "squared_distance" if functions.convex else "stationarity"
    with pytest.raises(SolverFailed, match="functions of the class need not reach the value"):
        attain(TWO, functions, rounds=1, measure=measure, participation=who)


def test_the_failing_side_of_a_threshold_has_an_exact_witness():
    edge = find_threshold(
        lambda lr: FedAvg(GradientSteps(2, lr)),
        lambda lr: Fraction(1),
        Fraction(1, 10),
        Fraction(1),
        CONTRACTION,
        rounds=1,
        accuracy=Fraction(1, 100),
    )
    assert edge.witness is not None and check_witness(edge.witness.data) == edge.witness.reached > edge.stated


def test_similarity_is_imposed_at_the_solution():
    """There the average has no gradient, and the clients' differences from it are those of their gradients."""
    functions = rational(FunctionClass(1.0, 0.1, similarity=0.2))
    model, *_ = state_program(rational(TWO), functions, 1, "squared_distance", 1, None)
    average, difference = model.functions[1:]
    star = average.evaluations[0]
    assert star.x.terms == {} and star.g.terms == {} and difference.evaluations[0].g.terms != {}


def test_no_threshold_fails_on_a_relaxed_class():
    with pytest.raises(InvalidInput, match="imposed at the server's models and x"):
        find_threshold(
            lambda lr: FedAvg(GradientSteps(2, lr)),
            lambda lr: Fraction(1),
            Fraction(1, 100),
            Fraction(1),
            BGD,
            rounds=1,
        )


@pytest.mark.parametrize("clients", ["any", 2])
def test_dissimilarity_is_imposed_at_the_solution(clients):
    """Without x* the clients' gradients there were free, so that two local steps drifted without limit or further than a zeta allows."""
    for functions in (APART, BGD):
        found = worst_case(TWO, functions, rounds=1, clients=clients)
        alike = worst_case(TWO, CONTRACTION, rounds=1, clients=clients)  # (G, D) at x*: mean ||grad f_i(x*)||^2 <= G^2
        assert not found.unbounded and found.value <= alike.value * (1 + 1e-6)


STATUS = {
    "holds": (("fedavg", "--bound", 0.9), 0, "the stated bound 0.9 holds: worst case / bound = 0.9"),
    "violated": (("fedavg", "--bound", 0.8), 3, "the stated bound 0.8 is violated: worst case / bound = 1.0125"),
    "tight": (("fedavg", "--bound", 0.81), 0, "the stated bound 0.81 holds: worst case / bound = 1; "),
    "nearly tight": (("fedavg", "--bound", 0.8099999999), 4, "is undecided: worst case / bound = 1; "),
    "relaxed": (
        ("fedavg", "--bound", 0.1, "--dissimilarity", 1, "--local-steps", 2, "--clients", 2),
        4,
        "functions of the class need not reach that value",
    ),
}


@pytest.mark.parametrize("name", STATUS)
def test_the_exit_status_tells_the_verdicts_apart(name):
    arguments, status, said = STATUS[name]
    command = ["worst-case", *arguments, "--mu", 0.1, "--zeta", 1]
    command += [] if name == "relaxed" else ["--local-steps", 1, "--clients", "any"]
    command += ["--lr", 1]
    result = CliRunner().invoke(main, [*map(str, command)])
    assert result.exit_code == status and said in result.stdout
    written = CliRunner().invoke(main, [*map(str, command), "--json", "-"])
    assert written.exit_code == status
    assert json.loads(written.stdout)["verdict"] == {0: "holds", 3: "violated", 4: "undecided"}[status]

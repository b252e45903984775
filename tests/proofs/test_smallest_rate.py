"""Smallest rates of potentials: against known rates, against the numeric engine, in exact arithmetic; relations between fields are proved."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import build

from fedtheory import FedAvg, FedPD, FunctionClass, GradientDescent, GradientSteps, Scaffold
from fedtheory.algorithms import ALGORITHMS, AcceleratedGradient, FedADMM, FiveGCS, Scaffnew
from fedtheory.algorithms.fedpd import every
from fedtheory.algorithms.scaffold import ScaffoldState
from fedtheory.command_line.main import main
from fedtheory.core.arrays import average, scatter
from fedtheory.core.errors import CannotTrace, InvalidInput, SolverFailed
from fedtheory.core.exact import rational
from fedtheory.core.problem import constant
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.wrapped import Wrapped
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.function_class import why_no_worst_case
from fedtheory.proofs.one_n.pepit_problem import PointProblem
from fedtheory.proofs.one_n.standard_form import read_standard_form
from fedtheory.proofs.potentials.invariants import Relation, Space, follow_errors
from fedtheory.proofs.potentials.program import PotentialSearch
from fedtheory.proofs.potentials.smallest_rate import follow_potential, rate_of, smallest_rate
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite import solvers
from fedtheory.proofs.semidefinite.bounded import maximise
from fedtheory.proofs.stand_ins import AnyRound
from fedtheory.running.enumeration import enumerate_subsets
from problems.logistic import logistic
from problems.quadratics import random_quadratics

STRONG = FunctionClass(L=1.0, mu=0.1)
STEP = 1e-5  # of the bisection


KNOWN = {
    "gradient descent, short step": (GradientDescent(0.5), 0.95**2),
    "gradient descent, 1/L": (GradientDescent(1.0), 0.81),
    "gradient descent, long step": (GradientDescent(1.9), 0.81),
    **{
        f"SCAFFOLD, K={K}, lr={lr}": (Scaffold(GradientSteps(K, lr)), (1 - lr * 0.1) ** (2 * K))
        for K, lr in ((1, 1.0), (2, 0.25), (2, 0.5), (4, 0.1), (4, 0.25), (8, 0.1))
    },
    "FedPD, eta=1": (FedPD(1.0), (10 / 11) ** 2),
    "FedADMM, rho=1": (FedADMM(1.0), (10 / 11) ** 2),
    "FedPD, eta=1/sqrt(L mu)": (FedPD(1 / math.sqrt(0.1)), 1 / (1 + math.sqrt(0.1)) ** 2),
    "Scaffnew, p=1/2": (Scaffnew(1.0, 0.5), 0.81),
    "Scaffnew, p=1": (Scaffnew(1.0, 1.0), 0.81),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_rates_are_found_and_proved(name):
    """SCAFFOLD: no better rate exists, because equal mu-quadratics attain it. FedPD is Douglas-Rachford splitting."""
    algorithm, rate = KNOWN[name]
    found = smallest_rate(algorithm, STRONG)
    assert rate - 1e-9 <= found.rate + 1e-9 and found.rate <= rate + 1.01 * STEP
    assert found.none_at == pytest.approx(found.rate - STEP) and found.excluded < 1e-6
    assert found.residual < 1e-6
    assert float(found.proved) <= found.rate + 3.01 * STEP
    assert check(dict(found.decrease.data)) == check(dict(found.floor.data)) == 0


def test_a_solver_that_stalls_with_the_costs_is_asked_without(monkeypatch):
    """Seen for FedADMM one step below its rate, with the rounding of some processors."""
    honest, asked = solvers.solve_with_clarabel, []

    def stalling(program, time_limit):
        x, y, status = honest(program, time_limit)
        asked.append(bool(program.bounds.any()))
        return (x * np.nan, y, "stalled") if asked[-1] else (x, y, status)

    monkeypatch.setattr(solvers, "solve_with_clarabel", stalling)
    found = smallest_rate(FedADMM(1.0), STRONG, proof=False)
    assert asked[:4] == [True, False, True, False]
    assert found.rate == pytest.approx((10 / 11) ** 2, abs=STEP)
    assert found.none_at == pytest.approx(found.rate - STEP) and found.excluded < 1e-6


@pytest.mark.parametrize(("p", "least"), [(0.1, 0.981), (0.2, 0.928)])
def test_scaffnew_has_better_potentials_than_the_stated_one(p, least):
    """The stated potential contracts by max{(1 - lr mu)^2, 1 - p^2}, exactly; products of models and control variates improve on it.

    The second moments on a quadratic of curvature 1 = L cannot contract faster than ``least``.
    """
    stated = rate_of(Scaffnew(1.0, p), STRONG, {"x_i": 1, "h_i": 1 / p**2})
    assert stated == pytest.approx(max(0.81, 1 - p * p), abs=1e-7)
    communicates, skips = np.array([[0, 0], [0, 1 - p]]), np.array([[0, 1], [0, 1]])
    moments = p * np.kron(communicates, communicates) + (1 - p) * np.kron(skips, skips)
    assert np.abs(np.linalg.eigvals(moments)).max() == pytest.approx(least)
    found = smallest_rate(Scaffnew(1.0, p), STRONG)
    assert least <= found.rate < stated - 1e-3
    assert found.proved is not None


def test_a_stated_potential_that_is_none():
    """The obvious potential of FedPD expands (1.3554, computed independently with PEPit), while another contracts."""
    found = rate_of(FedPD(1.0), STRONG, {"x": 1, "lam_i": 1})
    assert found == pytest.approx(1.35537, abs=1e-5)
    proved = rate_of(FedPD(1.0), STRONG, {"x": 1, "lam_i": 1}, proof=True)
    assert isinstance(proved, Fraction) and found <= proved <= found + 1e-5


def test_accelerated_gradient_uses_the_objective():
    root = math.sqrt(0.1)
    found = smallest_rate(AcceleratedGradient(1.0, (1 - root) / (1 + root)), STRONG)
    assert (1 - root) ** 2 <= found.rate < 1 - root  # between the rate on quadratics and Nesterov's
    assert found.potential.gap > 0 and "(f(x) - f*)" in str(found.potential)


# ---- against the numeric engine -----------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda e: e.name)
def test_every_listed_method_contracts_in_numbers_as_proved_or_is_refused_by_name(entry):
    algorithm = build(entry, lr=0.5, steps=2, eta=0.5, rho=1.0, q=0.5, exact=True)
    instance = random_quadratics(3, 2, L=1.0, mu=0.1, seed=4)
    if why_no_worst_case(algorithm) is not None or algorithm.solution_state(instance, np.zeros((1, 2))) is None:
        with pytest.raises(CannotTrace):
            smallest_rate(algorithm, STRONG)
        return
    try:
        found = smallest_rate(algorithm, STRONG)
    except CannotTrace as refusal:
        assert "depend on the number of the round" in str(refusal)  # momentum that changes from round to round
        return
    assert found.proved is not None, found
    assert_contracts(found, algorithm, WithErrors(instance), instance.solution())


class WithErrors(Wrapped):
    """What asks for every unbiased compressor gets one whose draws can be enumerated: v + sqrt(omega) v or v - sqrt(omega) v, a coin a client."""

    def unbiased(self, v, variance, key):
        heads = [key.coin(f"error of client {i}", 0.5) for i in range(v.shape[-2])]
        return np.sqrt(float(variance)) * np.where(heads, 1.0, -1.0)[:, None] * v


def assert_contracts(found, algorithm, instance, x_star, participants=None, rounds=20, error=0.0):
    before, after = follow_potential(
        found.potential, instance, x_star, np.ones(instance.d), rounds, participants=participants
    )
    before, after = before[found.first :], after[found.first :]
    assert np.all(before >= -error)
    rounding = 1e-12 * max(1.0, before[0], np.abs(x_star).max() ** 2 * _size(found.potential))
    assert np.all(after <= float(found.proved) * before + error + rounding)
    assert before[0] > 1e3 * (rounding + error)  # there was something to see


def _size(potential):
    return abs(potential.gap) + sum(np.abs(w).sum() for w in potential.weights.values())


SAMPLED = {
    "scaffold": Scaffold(GradientSteps(2, 0.5)),
    "fedadmm": FedADMM(1.0),
    "5gcs": FiveGCS(0.1, 0.1),
}


@pytest.mark.parametrize("s", [1, 2])
@pytest.mark.parametrize("name", SAMPLED)
def test_expected_decrease_under_sampling(name, s):
    algorithm = SAMPLED[name]
    found = smallest_rate(algorithm, STRONG, participation=Sampling(4, s))
    assert smallest_rate(algorithm, STRONG, proof=False).rate <= found.rate < 1
    for seed in range(3):
        instance = random_quadratics(4, 2, L=1.0, mu=0.1, heterogeneity=3.0, seed=seed)
        assert_contracts(found, algorithm, instance, instance.solution(), participants=s, rounds=6)


@pytest.mark.parametrize("participants", [None, 1, 2])
def test_the_potential_has_the_same_rate_with_three_clients_in_the_plain_program(participants):
    """max E V(after) subject to V(before) <= 1, stated with PEPit for n = 3: the round and V are traced on its points."""
    from PEPit import PEP, Expression, Point, null_point

    algorithm = Scaffold(GradientSteps(2, 0.5))
    sampling = None if participants is None else Sampling(3, participants)
    found = smallest_rate(algorithm, STRONG, participation=sampling, proof=False)
    pep = PEP()
    problem = PointProblem([STRONG.declare(pep) for _ in range(3)], STRONG.mu)
    slopes = [Point(), Point()]
    slopes.append(-slopes[0] - slopes[1])
    for function, slope in zip(problem.functions, slopes, strict=True):
        function.add_point((null_point, slope, Expression()))
    value = found.potential.metric(column([null_point]))
    c_i = column([Point() for _ in range(3)])
    state = ScaffoldState(column([Point()]), average(c_i), c_i)
    who = ((1, None),) if participants is None else enumerate_subsets(3, participants)
    pep.set_initial_condition(value(problem, state) <= 1)
    after = [(float(share), algorithm.round(problem, state, clients, ScriptedKey(0))) for share, clients in who]
    pep.set_performance_metric(sum(share * value(problem, new) for share, new in after))
    largest, unbounded = maximise(read_standard_form(pep).program)
    assert not unbounded and largest.value == pytest.approx(found.rate, abs=1e-4)


def column(points):
    out = np.empty((len(points), 1), dtype=object)
    out[:, 0] = points
    return out


def test_all_of_n_is_full_participation():
    full = smallest_rate(SAMPLED["scaffold"], STRONG)
    assert smallest_rate(SAMPLED["scaffold"], STRONG, participation=Sampling(5, 5)).rate == full.rate
    assert full.rate < smallest_rate(SAMPLED["scaffold"], STRONG, participation=Sampling(100, 10), proof=False).rate


def test_decrease_on_functions_that_are_not_quadratic():
    lots = np.random.default_rng(1)
    instance = logistic(
        [lots.standard_normal((20, 3)) for _ in range(4)], [np.sign(lots.standard_normal(20)) for _ in range(4)], l2=0.1
    )
    big_l, mu = float(constant(instance, "L").value), float(constant(instance, "mu").value)
    truth = ground_truth(instance)
    algorithm = Scaffold(GradientSteps(3, round(0.5 / big_l, 3)))
    found = smallest_rate(algorithm, FunctionClass(L=big_l, mu=mu))
    assert_contracts(found, algorithm, instance, np.asarray(truth.x).ravel(), error=1e-7)


@pytest.mark.parametrize("scale", [1e-4, 1e5])
def test_the_scale_of_the_functions_does_not_matter(scale):
    """L f with steps divided by L is the same method; duals and control variates are then L times as large."""
    functions = FunctionClass(L=scale, mu=0.1 * scale)
    for algorithm, same in (
        (Scaffold(GradientSteps(4, 0.25 / scale)), Scaffold(GradientSteps(4, 0.25))),
        (FedPD(1 / scale), FedPD(1.0)),
        (Scaffnew(1 / scale, 0.2), Scaffnew(1.0, 0.2)),
        (FedADMM(scale), FedADMM(1.0)),
    ):
        found, expected = smallest_rate(algorithm, functions), smallest_rate(same, STRONG)
        assert found.rate == pytest.approx(expected.rate, abs=2.01 * STEP) and found.proved is not None
        assert "dev" in str(found.potential)  # small coefficients of large quantities are shown
    stated = {"x_i": 1, "h_i": 25 / scale**2}
    assert rate_of(Scaffnew(1 / scale, 0.2), functions, stated) == pytest.approx(0.96, abs=1e-6)
    assert rate_of(Scaffnew(1 / scale, 0.2), functions, stated, proof=True) == pytest.approx(0.96, abs=1e-5)


# ---- relations ----------------------------------------------------------------------------------------------------


def named(algorithm, participation=None):
    model = follow_errors(rational(algorithm), rational(STRONG), participation)
    return {str(relation) for relation in model.space.named()}, model.first


def test_relations_are_found_in_the_code_of_the_rounds():
    assert named(Scaffold(GradientSteps(2, 0.5))) == ({"mean c_i - mean c = 0"}, 0)
    assert named(Scaffnew(1.0, 0.5)) == ({"mean h_i = 0", "mean x - mean x_i = 0"}, 0)
    assert named(FedPD(0.5)) == ({"mean x - mean x0_i = 0", "mean x - 1/2 mean lam_i - mean x_i = 0"}, 1)
    assert "mean x - mean x_i - mean lam_i = 0" in named(FedADMM(1.0), Sampling(4, 2))[0]
    assert "mean x_i - mean x_bar = 0" not in named(FedADMM(1.0), Sampling(4, 2))[0]


def test_a_wrong_relation_is_refused_because_it_promises_too_much():
    """That duals sum to zero holds for some methods and not for FedPD; imposed, it gives a rate that FedPD does not have."""
    algorithm, duals_vanish = FedPD(1.0), Relation("mean", (("lam_i", Fraction(1)),))
    with pytest.raises(InvalidInput, match="mean lam_i = 0 is not kept by the rounds"):
        smallest_rate(algorithm, STRONG, assume=[duals_vanish])
    model = follow_errors(rational(algorithm), rational(STRONG))
    rows = model.space.relations["mean"]
    imposed = [*rows, [Fraction(name == "lam_i") for name in model.space.fields]]
    wrong = Space.of(model.space.fields, {**model.space.relations, "mean": imposed})
    promised = conic.find_multipliers(PotentialSearch.of(dataclasses.replace(model, space=wrong)).program(0.75))
    assert isinstance(promised, conic.Solution)  # a potential with rate 0.75, where the true rate is 0.826
    right = smallest_rate(Scaffnew(1.0, 0.5), STRONG, assume=[Relation("mean", (("h_i", Fraction(1)),))])
    assert right.proved is not None
    with pytest.raises(InvalidInput, match="no field 'h'"):
        smallest_rate(Scaffnew(1.0, 0.5), STRONG, assume=[Relation("mean", (("h", Fraction(1)),))])


# ---- planted faults -----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class WrongSign(Scaffold):
    """SCAFFOLD whose control update subtracts what it should add."""

    def round(self, problem, state, clients, key):
        y, _ = self.local(Subproblem(problem, a=state.c - state.c_i, clients=clients), state.x, key, None)
        c_i = scatter(state.c_i, clients, state.c_i - state.c - (state.x - y) / (self.local.steps * self.local.lr))
        return ScaffoldState(state.x + average(y - state.x, clients), average(c_i), c_i)


def test_a_sign_error_leaves_no_potential():
    right = smallest_rate(Scaffold(GradientSteps(2, 0.25)), STRONG)
    wrong = smallest_rate(WrongSign(GradientSteps(2, 0.25)), STRONG)
    assert right.rate < 1
    assert wrong.rate == np.inf and wrong.potential is None and wrong.proved is None
    assert wrong.none_at == 1 and wrong.excluded < 1e-6


def test_a_better_rate_has_no_proof_and_a_tampered_one_is_refused():
    algorithm = Scaffold(GradientSteps(2, 0.5))
    search = PotentialSearch.of(follow_errors(rational(algorithm), rational(STRONG)))
    found = smallest_rate(algorithm, STRONG)
    assert search.prove(Fraction(8144, 10000)) is None
    data = json.loads(json.dumps(found.decrease.data))
    data["objectives"][0]["form"]["S"]["0,0"] = str(
        Fraction(data["objectives"][0]["form"]["S"]["0,0"]) + Fraction(1, 100)
    )
    with pytest.raises(Refused):
        check(data)


def test_refusals_say_why():
    cases = [
        (FedAvg(GradientSteps(2, 0.5)), STRONG, None, "does not have x\\* as a fixed point"),
        (AcceleratedGradient(1.0), STRONG, None, "depend on the number of the round"),
        (FedPD(1.0, p=0.5), STRONG, None, "a round changes x0?_i"),
        (FedPD(1.0, p=every(2)), STRONG, None, "depend on the number of the round"),
        (FedAvg(GradientSteps(1, 0.5)), STRONG, Sampling(4, 2), "a round changes x,"),
        (Scaffold(GradientSteps(2, 0.5)), FunctionClass(1.0, 0.1, zeta=1.0), None, "without further conditions"),
        (Scaffold(GradientSteps(2, 0.5)), FunctionClass(1.0, -1.0), None, "convex or strongly convex"),
    ]
    for algorithm, function_class, participation, message in cases:
        with pytest.raises((CannotTrace, InvalidInput), match=message):
            smallest_rate(algorithm, function_class, participation=participation)
    with pytest.raises(InvalidInput, match="weights of the fields x, c_i, c"):
        rate_of(Scaffold(GradientSteps(2, 0.5)), STRONG, {"h_i": 1})
    with pytest.raises(InvalidInput, match="accuracy"):
        smallest_rate(GradientDescent(1.0), STRONG, accuracy=Fraction(2))


def test_the_number_of_a_round_may_be_passed_on_but_not_looked_at():
    number = AnyRound()
    assert number % 1 == 0
    for look in (
        lambda: number % 2,
        lambda: number + 1,
        lambda: number == 0,
        lambda: range(number),
        lambda: 2.0 * number,
    ):
        with pytest.raises(CannotTrace, match="depend on the number of the round"):
            look()


# ---- the command line ---------------------------------------------------------------------------------------------


LYAPUNOV = ["lyapunov", "scaffold", "--local-steps", "2"]
STATED = [*LYAPUNOV, "--lr", "0.5", "--stated", "x", "1", "--stated", "c_i", "0.1"]


def test_the_command_shows_a_potential_and_writes_its_certificates(tmp_path):
    shown = CliRunner().invoke(main, [*STATED, "--certificate", str(tmp_path / "proof.json")])
    assert shown.exit_code == 0, shown.output
    for part in (
        "E V(after) <= 0.81451 V(before)",
        "V = 1 ||x||^2 + ",
        "no such V at 0.8145",
        "mean c_i - mean c = 0",
        "exact rate",
    ):
        assert part in shown.output
    for name in ("proof.json", "proof-floor.json"):
        verified = CliRunner().invoke(main, ["verify-certificate", str(tmp_path / name)])
        assert verified.exit_code == 0 and "verified" in verified.output and "<mean x, mean x>" in verified.output


def test_the_command_writes_its_answer_as_data(tmp_path):
    answer = json.loads(CliRunner().invoke(main, [*STATED, "--json", "-"]).output)
    stored = tmp_path / "deep" / "answer.json"
    again = CliRunner().invoke(main, [*STATED, "--json", str(stored)])
    assert again.exit_code == 0 and json.loads(stored.read_text()) | {"seconds": 0} == answer | {"seconds": 0}
    assert "E V(after) <= 0.81451 V(before)" in again.output, "a file is no reason to say nothing"
    assert answer["rate"] == pytest.approx(0.81451) and answer["observed"]["largest"] < answer["rate"]


def test_the_command_says_that_there_is_no_potential():
    nothing = CliRunner().invoke(main, [*LYAPUNOV, "--lr", "3"])
    assert nothing.exit_code == 0 and "no potential of this form has a rate of at most 1" in nothing.output


def test_without_a_potential_there_is_no_certificate_to_write(tmp_path):
    file = tmp_path / "proof.json"
    found = CliRunner().invoke(
        main, ["lyapunov", "scaffold", "--local-steps", "2", "--lr", "3", "--certificate", str(file)]
    )
    assert found.exit_code == 1 and "no exact certificate was found; there is nothing to write" in found.output
    assert not file.exists()


def test_a_potential_that_does_not_bound_the_errors_has_no_proof_either():
    """The distance of the models alone: control variates that are off move them, however close they are."""
    with pytest.raises(
        SolverFailed, match=r"no exact certificate was found: without margin: .*; margin 1e-07: .*; margin "
    ):
        rate_of(Scaffold(GradientSteps(2, 0.5)), FunctionClass(1.0, 0.1), {"x": 1}, proof=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--clients", "4"), "go together"),
        (("--accuracy", "small"), "is not a number"),
        (("--mu", "2"), "has no interpolation conditions"),
    ],
)
def test_bad_arguments(arguments, message):
    found = CliRunner().invoke(main, ["lyapunov", "gd", *arguments])
    assert found.exit_code == 2 and message in found.output

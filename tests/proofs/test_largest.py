"""Largest certified values of an option: against known thresholds, against smallest rates, with exact instances on the other side."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from fedtheory import FedAvg, FedPD, FedProx, FunctionClass, GradientDescent, GradientSteps, Scaffnew, Scaffold
from fedtheory.algorithms import listed
from fedtheory.command_line.main import main
from fedtheory.core.errors import CannotTrace, InvalidInput, SolverFailed
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.divergence import all_roots_inside, find_divergence, shortest_recurrence
from fedtheory.proofs.potentials.largest import Scan, largest
from fedtheory.proofs.potentials.questions import (
    ComesToFloor,
    PotentialProof,
    SolverAnswer,
    SomePotential,
    StatedPotential,
    convergence_rate,
)
from fedtheory.proofs.potentials.smallest_rate import rate_of, smallest_rate

STRONG = FunctionClass(L=1.0, mu=0.1)
CONVERGES = SomePotential.of_convergence(STRONG)
AROUND = Scan(Fraction(1, 2), Fraction(8))


@pytest.mark.parametrize(
    "make",
    [GradientDescent, lambda lr: Scaffnew(lr, Fraction(1, 2)), lambda lr: FedAvg(GradientSteps(1, lr))],
    ids=["gd", "scaffnew", "fedavg, K = 1"],
)
def test_steps_below_two_over_L_are_certified_and_two_is_false(make):
    found = largest(make, CONVERGES, AROUND)
    assert found.certified == Fraction(1999, 1000) and found.none_at == found.false_at == 2
    assert found.excluded < 1e-6
    assert [check(dict(one.data)) for one in found.proof.certificates] == [0, 0]
    assert "1999/1000" in json.dumps(found.proof.certificates[0].data["question"])


@pytest.mark.parametrize(
    ("make", "edge"),
    [
        (lambda lr: FedAvg(GradientSteps(3, lr)), Fraction(2)),
        (lambda lr: FedProx(Fraction(1), GradientSteps(2, lr)), Fraction(1)),
    ],
    ids=["fedavg", "fedprox"],
)
def test_methods_that_settle_elsewhere_come_to_a_floor(make, edge):
    """Steps below 2/L, or 2/(L + rho) with a penalty and an even number of steps; at the edge clients with one minimiser do not come to it."""
    question = ComesToFloor(STRONG, convergence_rate(STRONG), convergence=True)
    found = largest(make, question, Scan(Fraction(1, 4), Fraction(4)))
    assert found.none_at == found.false_at == edge and edge - Fraction(2, 1000) <= found.certified < edge
    (one,) = found.proof.certificates
    assert check(dict(one.data)) == one.bound and "floor" in found.proof.potential
    functions = one.data["question"]["functions"]
    assert functions["zeta"] == functions["L"] and Fraction(one.data["multipliers"]["radius"]) < 1


@pytest.mark.parametrize("size", [Fraction(1, 1000), 1, 1000])
def test_a_floor_is_the_same_in_all_units(size):
    """With L and mu times s and steps divided by s the same shares of 2/L are certified, and C is divided by s^2."""
    over = FunctionClass(L=size, mu=size * Fraction(1, 10))
    question = ComesToFloor(over, convergence_rate(STRONG), convergence=True)
    found = largest(
        lambda lr: FedAvg(GradientSteps(3, lr)), question, Scan(1 / (4 * Fraction(size)), 4 / Fraction(size))
    )
    assert found.none_at == found.false_at == 2 / Fraction(size)
    assert found.proof is not None and Fraction(1999, 1000) == found.certified * size
    here, at_one = (
        float(
            ComesToFloor(c, question.rate).prove(FedAvg(GradientSteps(3, 1 / Fraction(c.L)))).potential.split()[2][:-1]
        )
        for c in (over, STRONG)
    )
    assert here * float(size) ** 2 == pytest.approx(at_one, rel=1e-3)


def test_a_floor_is_no_convergence():
    """What is proved of a floor is not contradicted by clients that differ: FedAvg stays away from x* there."""
    method = FedAvg(GradientSteps(3, Fraction(1, 2)))
    assert find_divergence(method, STRONG) is not None
    question = ComesToFloor(STRONG, convergence_rate(STRONG), convergence=True)
    assert find_divergence(method, question.contradicted_on) is None
    assert question.answer(method).holds and question.prove(method) is not None
    with pytest.raises(InvalidInput, match="rate below 1"):
        ComesToFloor(STRONG, Fraction(1))


def test_a_rate_that_a_run_contradicts_is_no_answer():
    """Eight steps of 16/L move points by 15^8; a solver's residuals say nothing then, and it finds a rate below 1."""
    with pytest.raises(SolverFailed, match="a run with"):
        rate_of(Scaffold(GradientSteps(8, Fraction(16))), STRONG, {"x": 1, "c_i": 1})


def test_units_do_not_matter():
    steep = FunctionClass(L=100.0, mu=10.0)
    found = largest(GradientDescent, SomePotential.of_convergence(steep), Scan(Fraction(1, 200), Fraction(8, 100)))
    assert (found.certified, found.false_at) == (Fraction(1999, 100000), Fraction(2, 100))


def test_the_edge_of_a_rate_is_the_known_one():
    """FedPD is Douglas-Rachford splitting: its rate is the square of max{1/(1 + eta mu), eta L/(1 + eta L)}, here 4/5 at 8.472."""
    found = largest(FedPD, SomePotential(STRONG, Fraction(4, 5)), Scan(Fraction(1), Fraction(16)))
    assert found.certified == Fraction(847, 100) and found.none_at == Fraction(848, 100)
    assert found.below == (1,)  # a short step is too slow
    assert found.false_at > found.none_at and found.not_false_at == found.false_at - Fraction(1, 100)


def test_scaffold_agrees_with_its_smallest_rates():
    found = largest(lambda lr: Scaffold(GradientSteps(4, lr)), CONVERGES, AROUND)
    assert Fraction(3, 2) < found.certified < found.none_at < found.false_at == 2
    for value, good in ((found.certified, True), (found.none_at, False)):
        rate = smallest_rate(Scaffold(GradientSteps(4, value)), STRONG, accuracy=Fraction(1, 10**4), proof=False).rate
        assert (rate <= float(CONVERGES.rate) + 1e-12) == good


def test_whole_numbers_are_all_asked():
    found = largest(
        lambda steps: Scaffold(GradientSteps(steps, Fraction(19, 10))), CONVERGES, Scan(Fraction(1), Fraction(4), True)
    )
    assert found.held == (1, 2, 3, 4) and found.certified == 4 and found.none_at is None


def test_stated_potentials():
    question = StatedPotential(STRONG, Fraction(81, 100), {"x": 1.0})
    found = largest(GradientDescent, question, Scan(Fraction(1), Fraction(4)))
    assert (
        Fraction(189, 100) <= found.certified <= Fraction(19, 10)
    )  # (1 - lr mu)^2 and (lr L - 1)^2 are 0.81 at 1 and 1.9
    assert found.none_at > Fraction(19, 10) and found.false_at > Fraction(19, 10)


@dataclass
class Scripted:
    """A question with answers that are given, which counts how often it is asked."""

    good: tuple[tuple[float, float], ...]
    rate: Fraction = Fraction(1, 2)
    function_class: FunctionClass = STRONG
    contradicted_by: Fraction | None = None
    asked: list[float] = field(default_factory=list)

    def answer(self, algorithm):
        self.asked.append(float(algorithm.lr))
        return SolverAnswer(any(low <= algorithm.lr <= high for low, high in self.good), None)

    def prove(self, algorithm):
        return PotentialProof("V", ()) if any(low <= algorithm.lr <= high for low, high in self.good) else None


class Kept(dict):
    """A memory."""

    def read(self):
        return dict(self)

    def add(self, key, value):
        self[key] = value


def test_good_values_that_are_no_interval_are_told():
    found = largest(GradientDescent, Scripted(((1, 2.5), (8, 9))), Scan(Fraction(1, 2), Fraction(16)))
    assert found.certified == Fraction(25, 10) and found.none_at == Fraction(2501, 1000)
    assert found.below == (Fraction(1, 2),) and found.again == (8,)
    assert all(value <= found.certified for value in found.held)
    nothing = largest(GradientDescent, Scripted(()), AROUND)
    assert nothing.certified is None and nothing.held == ()


def test_an_interrupted_search_goes_on():
    memory, first = Kept(), Scripted(((0, 3),))
    whole = largest(GradientDescent, first, AROUND, memory=memory)
    for key in list(memory)[4:]:
        del memory[key]
    second = Scripted(((0, 3),))
    assert largest(GradientDescent, second, AROUND, memory=memory).certified == whole.certified
    assert len(second.asked) == len(first.asked) - 4


def test_the_step_is_what_is_asked_for_where_nothing_is_named():
    asked, plain = (
        CliRunner().invoke(main, ["largest", "gd", *more, "--json", "-"]) for more in (["--option", "lr"], [])
    )
    assert asked.exit_code == 0 and json.loads(plain.stdout)["option"] == "lr"
    assert json.loads(plain.stdout)["certified"] == json.loads(asked.stdout)["certified"]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidInput, match="factor below 1"):
        SomePotential.of_convergence(FunctionClass(L=1.0, mu=0.0))
    with pytest.raises(InvalidInput, match="0 < from < to"):
        Scan(Fraction(2), Fraction(1))
    with pytest.raises(InvalidInput, match="rate must lie"):
        SomePotential(STRONG, Fraction(2))
    with pytest.raises(CannotTrace, match="number of the round"):
        find_divergence(listed("agd").build(lr=1.5), STRONG)
    with pytest.raises(InvalidInput, match="without conditions but zeta"):
        find_divergence(GradientDescent(3.0), FunctionClass(L=1.0, mu=0.1, similarity=0.1))
    with pytest.raises(CannotTrace, match="fixed point"):
        largest(lambda lr: FedAvg(GradientSteps(2, lr)), CONVERGES, AROUND)


# ---- exact instances -----------------------------------------------------------------------------------------------


def test_roots_inside_a_disc_agree_with_their_sizes():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = [Fraction(1), *(Fraction(int(v), 8) for v in rng.integers(-12, 13, 4))]
        size = np.abs(np.roots([float(v) for v in p])).max()
        if abs(size - 1) > 1e-6:
            assert all_roots_inside(p) == (size < 1)
            assert all_roots_inside(p, Fraction(2)) == (size < 2)
    assert not all_roots_inside([Fraction(1), Fraction(0), Fraction(1)])  # i and -i are on the circle


def test_the_shortest_recurrence_is_found():
    """2^k + (-1/3)^k needs (z - 2)(z + 1/3), and zeros need nothing."""
    terms = [Fraction(2) ** k + Fraction(-1, 3) ** k for k in range(8)]
    assert shortest_recurrence(terms) == [1, Fraction(-5, 3), Fraction(-2, 3)]
    assert shortest_recurrence([Fraction(0)] * 4) == [1]
    assert shortest_recurrence([Fraction(k == 1) for k in range(6)]) == [1, 0, 0]  # 0, 1, 0, 0, ...


def test_instances_of_divergence_are_those_known_by_hand():
    """SCAFFOLD with equal clients is gradient descent K times."""
    assert find_divergence(Scaffold(GradientSteps(3, 1.99)), STRONG) is None
    found = find_divergence(Scaffold(GradientSteps(3, 2.01)), STRONG)
    a = float(found.curvatures[0])
    assert abs(1 - 2.01 * a) ** 3 > 1 and set(found.curvatures) == {found.curvatures[0]} and not found.random


def test_dual_methods_are_seen_through_their_slopes():
    """With curvatures mu and L dual ascent's one mode has 1 - step (1/mu + 1/L)/2, and clients with one minimiser never move it."""
    exact = Fraction(2) / Fraction(11, 2)
    assert find_divergence(listed("dual-ascent").build(exact=True, step=exact - Fraction(1, 1000)), STRONG) is None
    found = find_divergence(listed("dual-ascent").build(exact=True, step=exact), STRONG)
    assert found.curvatures == (Fraction(1, 10), 1) and found.slopes == (1, -1)
    assert "1/10 x^2/2 + x, 1 x^2/2 - x" in str(found)
    without = FunctionClass(L=1.0, mu=0.1, zeta=0.0)
    assert find_divergence(listed("dual-ascent").build(exact=True, step=exact), without) is None


def test_biased_methods_do_not_reach_the_solution():
    """FedAvg with two local steps settles beside x* as soon as clients differ."""
    found = find_divergence(FedAvg(GradientSteps(2, 0.5)), STRONG)
    assert found.slopes == (1, -1) and len({*found.curvatures}) == 2


def test_second_moments_count_where_there_are_coins():
    """Scaffnew with p = 1/10 on one curvature: E x^2 has the factor of its moments' matrix (as in test_smallest_rate)."""
    assert find_divergence(Scaffnew(1.0, 0.1), STRONG, Fraction(99, 100)) is None
    found = find_divergence(Scaffnew(1.0, 0.1), STRONG, Fraction(3, 5))
    assert found is not None and found.random and "E (x^r - x*)^2" in str(found)


# ---- the command ---------------------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(main, ["largest", *arguments])


def test_the_command_says_what_is_certified_and_what_is_false(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "step.json"
    found = run("gd", "--option", "lr", "--from", "1/2", "--to", "4", "--certificate", str(file))
    assert found.exit_code == 0, found.output
    assert "lr = 1.999 is certified in exact arithmetic, so that it converges" in found.output
    assert "at lr = 2 it is false, in exact arithmetic" in found.output
    assert "between these nothing is claimed" in found.output and not list(tmp_path.glob(".fedtheory/*"))
    assert CliRunner().invoke(main, ["verify-certificate", str(file)]).exit_code == 0
    assert "lr=1999/1000" in CliRunner().invoke(main, ["verify-certificate", str(file)]).output
    answer = json.loads(run("fedpd", "--exact", "--option", "eta", "--from", "1", "--to", "2", "--json", "-").output)
    assert answer["certified"] == "2" and answer["none_at"] is None and answer["false_at"] is None


def test_the_command_asks_for_a_floor_where_x_star_is_none_of_the_fixed_points(tmp_path, monkeypatch):
    """The bound of its file is a worst case from the distance 1, which the checker makes anew from FedProx's round."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "rho.json"
    arguments = ("fedprox", "--local-steps", "2", "--lr", "0.5", "--option", "rho", "--from", "1", "--to", "8")
    found = run(*arguments, "--certificate", str(file))
    assert found.exit_code == 0, found.output
    assert "comes linearly to a floor" in found.output and "the floor is" in found.output
    assert "at rho = 3 it is false" in found.output  # 2/lr - L
    told = CliRunner().invoke(main, ["verify-certificate", str(file)])
    assert told.exit_code == 0 and "FedProx(rho=" in told.output and "zeta=1" in told.output
    answer = json.loads(run(*arguments, "--json", "-").output)
    assert answer["floor"] and Fraction(answer["certified"]) < 3


def test_the_command_refuses_and_gives_up_honestly(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "it has lr" in run("gd", "--option", "rho").output
    assert run("gd", "--option", "lr", "--mu", "0").exit_code == 2
    assert run("gd", "--option", "lr", "--from", "one").exit_code == 2
    none = run("gd", "--option", "lr", "--rate", "0.5", "--from", "1/8", "--to", "1/2")
    assert none.exit_code == 4 and "nothing is certified between 0.125 and 0.5" in none.output
    probability = run("scaffnew", "--option", "p", "--lr", "1", "--from", "1/2")
    assert "p = 1 is certified" in probability.output and "outside the method's definition" in probability.output

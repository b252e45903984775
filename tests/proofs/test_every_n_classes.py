"""Classes and local answers of the worst case for every n, against that of one n and against programs written by hand in PEPit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fedtheory import FedAvg, FedPD, FedProx, FunctionClass, GradientSteps, run
from fedtheory.algorithms import (
    FedADMM,
    FedSplit,
    GlobalProximal,
    LocalProximal,
    RandProx,
)
from fedtheory.core.errors import CannotTrace, InvalidInput, SolverFailed
from fedtheory.local.inexact import Inexact
from fedtheory.measures import metrics as measures
from fedtheory.proofs.every_n.vectors import Sampling, Vector, inner_product_apart
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite import solvers
from problems.quadratics import random_quadratics

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)
SMOOTH = FunctionClass(L=1.0, mu=-1.0)


def close(found: float, expected: float) -> bool:
    """Equal up to the tolerances of the plain engine's solvers."""
    return found == pytest.approx(expected, rel=2e-4, abs=1e-5)


def with_(**changes) -> FunctionClass:
    return dataclasses.replace(STRONG, **changes)


# ---- a regulariser that the clients share -------------------------------------------------------------------------

COMPOSITE = {
    "server": GlobalProximal(GradientSteps(2, 0.5), 0.7),
    "clients": LocalProximal(2, 0.5),
    "admm": FedADMM(1.0),
    "coins": RandProx(0.6, 0.4, 0.7),
}


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("indicator", [False, True])
@pytest.mark.parametrize("measure", ["squared_distance", "gap"])
@pytest.mark.parametrize("name", COMPOSITE)
def test_composite_classes_agree_with_the_plain_program(name, measure, indicator, n):
    functions = with_(composite=True, indicator=indicator)
    rounds = 2 if name == "server" else 1
    found = worst_case_for_every_n(
        COMPOSITE[name], functions, rounds=rounds, measure=measure, participation=Sampling(n, n), tolerance=1e-5
    )
    assert close(
        found.value, worst_case_for_one_n(COMPOSITE[name], functions, n=n, rounds=rounds, measure=measure).value
    )


def test_clients_proximal_steps_are_their_own():
    """In the plain program, too: with one step h is met by n clients at n points, and the average leaves prox's fixed points."""
    functions = with_(composite=True)
    server = worst_case_for_one_n(GlobalProximal(GradientSteps(1, 0.5), 0.5), functions, n=2, rounds=1)
    clients = worst_case_for_one_n(LocalProximal(1, 0.5), functions, n=2, rounds=1)
    assert server.value == pytest.approx(0.95**2, rel=1e-5)  # proximal gradient descent contracts
    assert clients.value > server.value * 1.01


def test_the_value_for_every_n_is_the_limit_of_values_that_do_not_fall_with_n():
    functions = with_(composite=True)
    method = LocalProximal(2, 0.9)
    value = {
        n: worst_case_for_every_n(
            method, functions, rounds=1, participation=None if n is None else Sampling(n, n)
        ).value
        for n in (2, 3, 10, 10**6, None)
    }
    assert value[2] <= value[3] + 1e-7 and value[3] <= value[10] + 1e-7 and value[10] <= value[None] + 1e-7
    assert value[10**6] == pytest.approx(value[None], rel=1e-5)


def test_without_h_nothing_changes_and_an_indicator_is_a_special_h():
    plain, convex, projected = (
        worst_case_for_every_n(GlobalProximal(GradientSteps(1, 1.5), 1.5), c, rounds=1).value
        for c in (STRONG, with_(composite=True), with_(composite=True, indicator=True))
    )
    assert projected <= convex * (1 + 1e-6)
    assert plain == pytest.approx(0.85**2, abs=1e-7)


def test_composite_classes_have_no_instances_and_the_distance_measures_only():
    found = worst_case_for_every_n(COMPOSITE["server"], with_(composite=True), rounds=1)
    with pytest.raises(InvalidInput, match="h is not rebuilt"):
        found.instance(2)
    with pytest.raises(InvalidInput, match="gradient of f alone"):
        worst_case_for_every_n(COMPOSITE["server"], with_(composite=True), rounds=1, measure="stationarity")
    with pytest.raises(CannotTrace, match="the regulariser would have to be evaluated at a point that depends"):
        worst_case_for_every_n(COMPOSITE["server"], with_(composite=True), rounds=1, participation=Sampling(3, 2))


def test_pairs_of_different_clients_by_enumeration():
    rng = np.random.default_rng(1)
    n, mean, deviation = 4, rng.standard_normal(2), rng.standard_normal((2, 4))
    deviation -= deviation.mean(axis=1, keepdims=True)
    u, v = (Vector({("mean", k): 1, ("deviation", k): 1}) for k in (0, 1))
    form = inner_product_apart(u, v, n)
    grams = {"S": np.outer(mean, mean), "Q": deviation @ deviation.T / n}
    found = sum(float(c) * grams[matrix][i, j] for (matrix, i, j), c in form.gram.items())
    a, b = mean[:, None] + deviation
    assert found == pytest.approx(np.mean([a[i] * b[j] for i in range(n) for j in range(n) if i != j]), rel=1e-12)


# ---- dissimilarity and similarity ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3])
def test_pairwise_dissimilarity_counts_clients(n):
    """2n/(n-1) mean squares make a mean over pairs; every n allows most, what n -> infinity does."""
    functions, method = FunctionClass(1.0, -1.0, dissimilarity=1.0), FedAvg(GradientSteps(2, 0.3))
    options = {"rounds": 1, "measure": "stationarity"}
    found = worst_case_for_every_n(method, functions, participation=Sampling(n, n), **options)
    assert close(found.value, worst_case_for_one_n(method, functions, n=n, **options).value)
    every, many = (
        worst_case_for_every_n(method, functions, participation=p, **options) for p in (None, Sampling(10**6, 10**6))
    )
    assert every.value > found.value * 1.001 and every.value == pytest.approx(many.value, rel=1e-5)
    assert every.model.relaxations
    with pytest.raises(InvalidInput, match="give n by participation"):
        every.instance(2)
    assert found.instance(n)[0].n == n


def similar_by_hand(n: int, steps: int, lr: float, delta: float) -> float:
    """FedAvg, one round, over f_i = F + d_i with F of the class and d_i delta-smooth; F = mean f_i where all clients met."""
    from PEPit import PEP, Expression, Point
    from PEPit.functions import SmoothFunction, SmoothStronglyConvexFunction

    pep = PEP()
    f = [pep.declare_function(SmoothStronglyConvexFunction, L=1, mu=0.1) for _ in range(n)]
    d = [pep.declare_function(SmoothFunction, L=delta) for _ in range(n)]
    average = pep.declare_function(SmoothStronglyConvexFunction, L=1, mu=0.1)

    def meet(x, grads):
        values = [Expression() for _ in f]
        g, v = np.sum(grads) / n, np.sum(values) / n
        average.add_point((x, g, v))
        for k in range(n):
            f[k].add_point((x, grads[k], values[k]))
            d[k].add_point((x, grads[k] - g, values[k] - v))

    free = [Point() for _ in range(n - 1)]
    at_star = [*free, -np.sum(free)]
    origin = Point(is_leaf=False, decomposition_dict={})
    meet(origin, at_star)
    x = pep.set_initial_point()
    pep.set_initial_condition(x**2 <= 1)
    pep.add_constraint(np.sum([g**2 for g in at_star]) / n <= 1)
    first = [Point() for _ in f]
    meet(x, first)
    ends = []
    for k in range(n):
        y = x - lr * first[k]
        for _ in range(steps - 1):
            g, v, mean, level = Point(), Expression(), Point(), Expression()
            f[k].add_point((y, g, v))
            average.add_point((y, mean, level))
            d[k].add_point((y, g - mean, v - level))
            y = y - lr * g
        ends.append(y)
    pep.set_performance_metric((np.sum(ends) / n) ** 2)
    return float(pep.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0))


@pytest.mark.parametrize(("n", "steps"), [(2, 2), (2, 3), (3, 2)])
def test_similar_hessians_against_a_program_written_by_hand(n, steps):
    found = worst_case_for_every_n(
        FedAvg(GradientSteps(steps, 0.9)), with_(similarity=0.2), rounds=1, participation=Sampling(n, n)
    )
    assert found.value == pytest.approx(similar_by_hand(n, steps, 0.9, 0.2), rel=1e-5)
    assert ["each by itself" in r or "the average f is tied" in r for r in found.model.relaxations] == [True, True]


def test_similarity_matters_between_its_two_ends():
    method = FedAvg(GradientSteps(3, 0.9))
    free = worst_case_for_every_n(method, STRONG, rounds=1).value
    value = {d: worst_case_for_every_n(method, with_(similarity=d), rounds=1).value for d in (0.01, 0.1, 0.9)}
    assert value[0.9] == pytest.approx(free, rel=1e-6)  # Hessians of the class differ by L - mu at most
    assert value[0.01] < 0.99 * value[0.1] < 0.98 * value[0.9]


def test_similar_quadratics_stay_below():
    method, delta, n = FedAvg(GradientSteps(3, 0.9)), 0.3, 4
    found = worst_case_for_every_n(method, with_(similarity=delta), rounds=2)
    for seed in range(20):
        f = random_quadratics(n, 3, mu=0.1, seed=seed)
        mean = f.A.mean(axis=0)
        spread = max(np.abs(np.linalg.eigvalsh(a - mean)).max() for a in f.A)
        f = dataclasses.replace(f, A=mean + (f.A - mean) * min(1.0, delta / spread))
        x_star = f.solution()
        scale = 1 / np.sqrt(np.mean(np.sum(f.grad(x_star[None, :]) ** 2, axis=-1)))
        start = x_star + np.random.default_rng(seed).standard_normal(3)
        start = x_star + (start - x_star) / np.linalg.norm(start - x_star) / scale
        end = run(method, f, start, 2, metrics={"d": measures.squared_distance(x_star)}, progress=False)["d"][-1]
        assert end * scale**2 <= found.value * (1 + 1e-6)


# ---- inexact answers ----------------------------------------------------------------------------------------------

INEXACT = {
    "prox, absolute": (FedProx(0.5, Inexact(epsilon=0.04)), STRONG, {"rounds": 2}),
    "prox, relative": (FedProx(0.5, Inexact(gamma=0.3)), STRONG, {"rounds": 1}),
    "admm": (FedADMM(1.0, Inexact(epsilon=0.1)), STRONG, {"rounds": 1}),
    "fedpd": (FedPD(0.2, Inexact(epsilon=0.1)), SMOOTH, {"rounds": 1, "measure": "sum_stationarity"}),
    "coins": (FedPD(1.0, Inexact(epsilon=0.1), p=0.3), STRONG, {"rounds": 2}),
    "split": (FedSplit(1.0, Inexact(gamma=0.2)), STRONG, {"rounds": 2}),
}


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("name", INEXACT)
def test_inexact_answers_agree_with_the_plain_program(name, n):
    algorithm, functions, options = INEXACT[name]
    found = worst_case_for_every_n(algorithm, functions, tolerance=1e-5, **options)
    assert close(found.value, worst_case_for_one_n(algorithm, functions, n=n, **options).value)
    exact = worst_case_for_every_n(
        dataclasses.replace(algorithm, local=type(algorithm)(1.0).local), functions, **options
    )
    assert found.value > exact.value * 1.001
    with pytest.raises(InvalidInput, match="errors of local answers"):
        found.instance(2)


def test_errors_do_not_depend_on_who_takes_part():
    """A client's error is a function of its own subproblem, in both programs."""
    algorithm = FedProx(0.5, Inexact(epsilon=0.04))
    found = worst_case_for_every_n(algorithm, STRONG, rounds=1, participation=Sampling(3, 2))
    assert close(found.value, worst_case_for_one_n(algorithm, STRONG, n=3, rounds=1, participants=2).value)


@pytest.mark.parametrize("per_client", [True, False])
def test_bounds_on_each_client_and_on_the_mean_are_the_same(per_client):
    from PEPit import PEP, Point
    from PEPit.functions import SmoothStronglyConvexFunction

    pep = PEP()
    f = [pep.declare_function(SmoothStronglyConvexFunction, L=1, mu=0.1) for _ in range(2)]
    star, x = (f[0] + f[1]).stationary_point(), pep.set_initial_point()
    pep.set_initial_condition((x - star) ** 2 <= 1)
    pep.add_constraint((f[0].gradient(star) ** 2 + f[1].gradient(star) ** 2) / 2 <= 1)
    ends, errors = [], []
    for k in range(2):  # grad f(y) + rho (y - x) = e, rho = 1/2
        y, e = Point(), Point()
        f[k].add_point((y, e - 0.5 * (y - x), __import__("PEPit").Expression()))
        ends.append(y)
        errors.append(e)
    if per_client:
        for e in errors:
            pep.add_constraint(e**2 <= 0.04)
    else:
        pep.add_constraint((errors[0] ** 2 + errors[1] ** 2) / 2 <= 0.04)
    pep.set_performance_metric(((ends[0] + ends[1]) / 2 - star) ** 2)
    by_hand = float(pep.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0))
    found = worst_case_for_every_n(FedProx(0.5, Inexact(epsilon=0.04)), STRONG, rounds=1)
    assert found.value == pytest.approx(by_hand, rel=1e-5)


CRITERIA = pytest.mark.parametrize("criterion", [{"epsilon": 0.3}, {"gamma": 0.4}])


@CRITERIA
def test_inexact_solves_have_errors_of_the_stated_size(criterion):
    from fedtheory.core.participation import Clients
    from fedtheory.core.randomness import Key
    from fedtheory.local.subproblem import Subproblem

    f, x = random_quadratics(5, 3, mu=0.1, seed=3), np.ones((1, 3))
    answers = []
    for clients in (None, Clients(5, np.array([1, 4]))):
        sub = Subproblem(f.take(clients), rho=0.5, z=x, clients=clients)
        y, _ = Inexact(**criterion)(sub, x, Key(0, 0), None)
        square, first = (np.sum(sub.grad(point) ** 2, axis=-1) for point in (y, x))
        assert square == pytest.approx(0.3 + 0 * first if "epsilon" in criterion else 0.16 * first, rel=1e-9)
        answers.append(y)
    own = pytest.approx(answers[0][[1, 4]], rel=1e-12)
    assert answers[1] == own, "a client's error is its own, whoever else takes part"


@CRITERIA
def test_runs_with_errors_stay_below_the_worst_case(criterion):
    f = random_quadratics(5, 3, mu=0.1, seed=3)
    found = worst_case_for_every_n(FedProx(0.5, Inexact(**criterion)), STRONG, rounds=2)
    x_star = f.solution()
    scale = 1 / np.sqrt(np.mean(np.sum(f.grad(x_star[None, :]) ** 2, axis=-1)))
    solver = Inexact(**({"epsilon": 0.3 / scale**2} if "epsilon" in criterion else criterion))
    start, metric = x_star + np.array([1.0, 0, 0]) / scale, {"d": measures.squared_distance(x_star)}
    for seed in range(10):
        trace = run(FedProx(0.5, solver), f, start, 2, metrics=metric, seed=seed, progress=False)
        assert trace["d"][-1] * scale**2 <= found.value * (1 + 1e-6)


def test_a_batch_of_accuracies_runs():
    from fedtheory.core.arrays import along_batch

    f = random_quadratics(3, 2, mu=0.1, seed=0)
    many = run(
        FedProx(0.5, Inexact(epsilon=along_batch([0.01, 0.1]))), f, np.ones(2), 3, metrics={"x": measures.magnitude}
    )
    one = run(FedProx(0.5, Inexact(epsilon=0.1)), f, np.ones(2), 3, metrics={"x": measures.magnitude})
    assert many["x"][1] == pytest.approx(one["x"], rel=1e-12)


def test_inexact_takes_one_criterion():
    for wrong in ({}, {"epsilon": 1.0, "gamma": 1.0}):
        with pytest.raises(InvalidInput, match="one criterion"):
            Inexact(**wrong)
    with pytest.raises(InvalidInput, match="gamma must be positive"):
        Inexact(gamma=-1.0)


# ---- solvers ------------------------------------------------------------------------------------------------------


def program(objective: float, entry: float, bound: float) -> conic.Program:
    """Maximise objective * x subject to entry * x <= bound, x >= 0 a block of size one."""
    return conic.Program(
        (1,), (np.array([[objective]]),), np.zeros(0), (np.array([[[entry]]]),), np.zeros((1, 0)), np.array([bound])
    )


def test_solvers_can_be_made_to_agree():
    found = worst_case_for_every_n(FedAvg(GradientSteps(2, 0.7)), STRONG, rounds=1, agree=True)
    assert found.solution.difference is not None and found.solution.difference <= 1e-6
    assert worst_case_for_every_n(FedAvg(GradientSteps(2, 0.7)), STRONG, rounds=1).solution.difference is None


def test_solvers_that_disagree_are_not_believed(monkeypatch):
    honest = solvers.solve_with_scs

    def off(p, time_limit):
        x, y, status = honest(p, time_limit)
        return x * (1 + 2e-3), y * (1 + 2e-3), status

    monkeypatch.setattr(solvers, "solve_with_scs", off)
    assert conic.solve_program(program(1, 1, 1)).value == pytest.approx(1)
    with pytest.raises(SolverFailed, match=r"not every solver's answer is accurate to 1e-06 \(SCS: solved, worst"):
        conic.solve_program(program(1, 1, 1), agree=True)
    with pytest.raises(SolverFailed, match="values differ by 2"):
        monkeypatch.setattr(conic.Solution, "worst", lambda self: 0.0)
        conic.solve_program(program(1, 1, 1), agree=True)


def test_what_a_solver_writes_is_no_output_of_a_command(monkeypatch, capsys):
    """SCS writes of an error though it is not verbose, which made ``--json -`` no JSON."""
    scs = pytest.importorskip("scs")
    honest = scs.solve

    def loud(*data, **settings):
        print("ERROR: could not determine problem status.")
        return honest(*data, **settings)

    monkeypatch.setattr(scs, "solve", loud)
    assert conic.solve_program(program(1, 1, 1), solvers=("SCS",)).value == pytest.approx(1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_programs_without_a_solution_say_what_that_means(solver):
    with pytest.raises(conic.Unbounded, match="no bound of this kind holds over the class"):
        conic.solve_program(program(1, -1, 1), solvers=(solver,))
    with pytest.raises(conic.Infeasible, match="assumptions of the class contradict each other"):
        conic.solve_program(program(1, 1, -1), solvers=(solver,))


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_limits_are_found_or_refused(solver):
    for entry, bound in ((1.0, 3.0), (0.1, 3.0), (10.0, 0.1)):
        found = conic.find_limits(program(0, entry, bound), solvers=(solver,))
        assert isinstance(found, conic.Limits)
        assert found.trace >= bound / entry
        assert found.multipliers @ [entry] >= 1
    for entry in (0.0, -1e-6, -1.0):
        assert not isinstance(conic.find_limits(program(0, entry, 1), solvers=(solver,)), conic.Limits)


def test_a_direction_without_limit_is_found():
    assert isinstance(conic.find_limits(program(0, -1.0, 1)), conic.Ray)


def test_programs_that_are_too_large_are_refused_before_they_are_solved(monkeypatch):
    monkeypatch.setattr(solvers, "solve_with_clarabel", lambda *a, **k: pytest.fail("it was solved"))
    with pytest.raises(
        conic.TooLarge,  # a slow machine is stopped before the program is written down
        match=r"(blocks of sizes 25 \+ 25 and 602 constraints|following the rounds) .* time limit of 0.01 s.*; lower the rounds",
    ):
        worst_case_for_every_n(FedAvg(GradientSteps(4, 0.5)), STRONG, rounds=6, time_limit=0.01)


def test_the_expected_time_is_about_right():
    for steps, rounds in ((4, 3), (4, 5)):
        found = worst_case_for_every_n(FedAvg(GradientSteps(steps, 0.9)), STRONG, rounds=rounds)
        expected = conic.estimate_seconds((found.size["mean"], found.size["deviation"]), found.size["constraints"])
        assert expected / 20 < found.solution.seconds < expected * 20  # a loaded machine is slower


BAD = {
    "similarity": (lambda: with_(similarity=0.0), "similarity must be positive, got 0.0"),
    "sigma": (lambda: with_(sigma=-1.0), "sigma must not be negative, got -1.0"),
    "indicator": (lambda: with_(indicator=True), "goes with composite=True"),
    "solver": (
        lambda: conic.solve_program(program(1, 1, 1), solvers=("BOGUS",)),
        "unknown solver 'BOGUS'; known are CLARABEL and SCS",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_questions_are_refused(name):
    ask, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        ask()

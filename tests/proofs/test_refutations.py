"""Exact refutations: functions in fractions that exceed what is claimed, checked from their triples alone and run anew; a tampered one is refused."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fedtheory import FedAvg, FedPD, FedProx, FunctionClass, GradientDescent, GradientSteps, Scaffnew, Scaffold
from fedtheory.algorithms.feddyn import FedDyn
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.exact import rational
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.interpolation import Interpolated
from fedtheory.proofs.potentials.smallest_rate import rate_of, search_potentials
from fedtheory.proofs.refutations.envelopes import Envelope, array_of, maximise_on_simplex
from fedtheory.proofs.refutations.instances import check_instance, lowest_value
from fedtheory.proofs.refutations.refute import refute_bound, refute_decrease
from fedtheory.proofs.refutations.replay import replay_exactly, replay_in_floats

QUARTER, TENTH = Fraction(1, 4), Fraction(1, 10)
STRONG = FunctionClass(L=1, mu=TENTH, zeta=1)
SMOOTH = FunctionClass(L=1, mu=-1)

SETTINGS = {
    "local steps, gap": (FedAvg(GradientSteps(4, QUARTER)), FunctionClass(L=1, zeta=1), {"measure": "gap"}),
    "sampled": (FedAvg(GradientSteps(2, QUARTER)), STRONG, {"participation": Sampling(5, 2)}),
    "coins": (Scaffnew(Fraction(1, 2), Fraction(1, 2)), STRONG, {"rounds": 3}),
    "least of two gradients": (FedPD(Fraction(1, 5)), SMOOTH, {"rounds": 2, "measure": "min_stationarity"}),
    "proximal": (FedProx(1), STRONG, {}),
    "no heterogeneity": (FedAvg(GradientSteps(2, QUARTER)), replace(STRONG, zeta=0), {}),
    "large units": (
        GradientDescent(Fraction(1, 50000)),
        FunctionClass(L=50000),
        {"rounds": 3, "measure": "gap", "radius": 1000},
    ),
    "convex, gradient": (GradientDescent(1), FunctionClass(L=1), {"rounds": 2, "measure": "stationarity"}),
    "local steps, two rounds": (FedAvg(GradientSteps(3, QUARTER)), STRONG, {"rounds": 2}),
    "eight local steps": (FedAvg(GradientSteps(8, QUARTER)), STRONG, {}),
    "control variates": (Scaffold(GradientSteps(2, QUARTER)), STRONG, {"rounds": 2}),
    "control variates, gap": (
        Scaffold(GradientSteps(2, QUARTER)),
        FunctionClass(L=1, zeta=1),
        {"rounds": 3, "measure": "gap"},
    ),
    "duals, convex": (FedPD(Fraction(1, 5)), FunctionClass(L=1), {"rounds": 2}),
    "sum of three gradients": (FedPD(Fraction(1, 5)), SMOOTH, {"rounds": 3, "measure": "sum_stationarity"}),
    "dynamic regularisation": (FedDyn(1), STRONG, {"rounds": 2}),
    "one of three": (FedAvg(GradientSteps(2, QUARTER)), STRONG, {"participation": Sampling(3, 1)}),
    "floats": (FedAvg(GradientSteps(2, 0.3)), FunctionClass(L=1.0, mu=0.1, zeta=0.5), {}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_one_percent_below_the_worst_case_is_refuted(name):
    algorithm, functions, options = SETTINGS[name]
    options = {"rounds": 1, **options}
    value = worst_case_for_every_n(algorithm, functions, **options).value
    found = refute_bound(algorithm, functions, 0.99 * value, **options)
    assert 0.99 * value < found.reached <= value * (1 + 1e-6)
    assert check_instance(found.data) == replay_exactly(found.data) == found.reached
    assert replay_in_floats(found.data) == pytest.approx(float(found.reached), rel=1e-3)
    assert found.size["dimension"] <= 6


def test_what_differs_without_limit_is_refuted_by_clients_that_differ_enough():
    for functions, options in (
        (FunctionClass(L=1, mu=TENTH), {}),
        (SMOOTH, {"measure": "stationarity"}),
    ):
        two = FedAvg(GradientSteps(2, QUARTER))
        assert worst_case_for_every_n(two, functions, rounds=1, **options).unbounded
        assert refute_bound(two, functions, 3, rounds=1, **options).reached > 3


def test_small_refutations_are_small():
    """L R^2 / (4 N + 4) is refuted by a third of a parabola: f has three triples of numbers up to 9."""
    found = refute_bound(GradientDescent(1), FunctionClass(L=1), Fraction(1, 8), rounds=1, measure="gap")
    assert found.reached == Fraction(1, 6)
    assert found.size["dimension"] == 1 and found.size["triples"] == 3 and found.size["denominator"] <= 9
    assert "1/6 > 1/8, exactly" in str(found)


def test_what_holds_is_not_refuted():
    with pytest.raises(SolverFailed, match="nothing to refute"):
        refute_bound(GradientDescent(1), FunctionClass(L=1), 0.2, rounds=1, measure="gap")
    with pytest.raises(SolverFailed, match="do not exceed the claim"):
        refute_bound(GradientDescent(1), FunctionClass(L=1), Fraction(1, 6), rounds=1, measure="gap")


@pytest.mark.parametrize(
    ("functions", "options", "message"),
    [
        (FunctionClass(L=1, mu=-1, bgd=(1, 1)), {"measure": "stationarity"}, "imposed at the server's models"),
        (replace(STRONG, similarity=0.2), {}, "need not be similar"),
        (replace(STRONG, sigma=1), {"participation": Sampling(4, 4)}, "gradients have noise"),
    ],
)
def test_classes_that_are_not_rebuilt_are_refused_by_name(functions, options, message):
    with pytest.raises(SolverFailed, match=message):
        refute_bound(FedAvg(GradientSteps(2, QUARTER)), functions, TENTH, rounds=1, **options)


# ---- potentials --------------------------------------------------------------------------------------------------

COIN = Scaffnew(Fraction(1, 2), Fraction(1, 2))
WEIGHTS = {"x_i": 1, "h_i": 1}


def test_a_potential_that_falls_more_slowly_is_refuted():
    functions = FunctionClass(L=1, mu=TENTH)
    found = refute_decrease(COIN, functions, WEIGHTS, Fraction(9, 10))
    assert found.reached == Fraction(361, 400) == replay_exactly(found.data)
    assert rate_of(COIN, functions, WEIGHTS) == pytest.approx(361 / 400, abs=1e-6)
    with pytest.raises(SolverFailed):
        refute_decrease(COIN, functions, WEIGHTS, Fraction(361, 400))


def test_some_of_the_clients_take_part_in_a_round_of_a_potential():
    functions, who = FunctionClass(L=1, mu=TENTH), Sampling(4, 2)
    method, weights = Scaffold(GradientSteps(1, QUARTER)), {"x": 1, "c_i": QUARTER}
    rate = rate_of(method, functions, weights, participation=who)
    found = refute_decrease(method, functions, weights, 0.99 * rate, participation=who)
    assert 0.99 * rate < found.reached <= rate * (1 + 1e-6)


def test_a_state_that_rounds_cannot_have_is_refused():
    found = refute_decrease(COIN, FunctionClass(L=1, mu=TENTH), WEIGHTS, Fraction(1, 2))
    data = copy.deepcopy(dict(found.data))
    data["start"]["h_i"] = [["1"], ["1"]]
    with pytest.raises(Refused, match=r"does not satisfy the relation .*mean h_i"):
        replay_exactly(data)


RATES = [
    (Fraction(1, 2), Fraction(1, 2), Fraction(361, 400)),
    (Fraction(1), Fraction(1, 3), Fraction(8, 9)),
    (Fraction(3, 2), Fraction(1, 2), Fraction(289, 400)),
]


@pytest.mark.parametrize(("lr", "p", "rate"), RATES)
def test_the_rate_of_a_stated_potential_is_proved_exactly(lr, p, rate):
    """max{(1 - lr mu)^2, (1 - lr L)^2, 1 - p^2} of Scaffnew."""
    rate = max(rate, 1 - p**2, (1 - lr) ** 2)
    search = search_potentials(Scaffnew(lr, p), FunctionClass(L=Fraction(1), mu=TENTH))
    proved, certificate = search.prove_rate_of({"field x_i": Fraction(1), "field h_i": (lr / p) ** 2})
    assert proved == rate and check(dict(certificate.data)) <= 0


# ---- tampering ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def refuted():
    """Clients differ, in two dimensions: the worst case is about 1.1294."""
    return refute_bound(FedAvg(GradientSteps(8, QUARTER)), STRONG, 1.12, rounds=1)


def _set(*path):
    *where, last, value = path

    def change(data):
        for key in where:
            data = data[key]
        data[last] = value

    return change


TAMPERED = {
    "a gradient": (_set("clients", 0, 1, "g", 0, "7"), "belong to no function of the class"),
    "a value": (_set("clients", 1, 0, "f", "100"), "belong to no function of the class"),
    "another L": (_set("question", "functions", "L", {"fraction": "1/2"}), "belong to no function of the class"),
    "a smaller radius": (_set("question", "radius", "9/10"), "not within 9/10"),
    "less heterogeneity": (_set("question", "functions", "zeta", {"fraction": "1/10"}), "differ by more than zeta"),
    "what is reached": (_set("reached", "2"), "the run reaches"),
    "a claim that holds": (_set("claimed", "3/2"), "not more than what is claimed"),
    "another method": (
        _set("question", "method", "fields", "local", "fields", "lr", {"fraction": "1/8"}),
        "at which the refutation has no triple",
    ),
    "more steps": (_set("question", "rounds", 2), "at which the refutation has no triple"),
    "an unknown property": (_set("question", "functions", "similarity", 1), "'similarity' is not checked"),
    "one client": (lambda d: d["clients"].pop(), "number of clients"),
    "another format": (_set("format", "fedtheory refutation 0"), "not a refutation"),
    "no number": (_set("claimed", "one"), "malformed"),
    "a missing part": (lambda d: d.pop("start"), "malformed"),
    "another dimension": (_set("clients", 0, 0, "x", ["0"]), "not all of one dimension"),
    "no such class": (_set("question", "functions", "mu", 2), "-L <= mu < L"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_refutation_is_refused(refuted, name):
    change, message = TAMPERED[name]
    data = copy.deepcopy(dict(refuted.data))
    change(data)
    with pytest.raises(Refused, match=message):
        replay_exactly(data)


def test_the_minimiser_and_the_infimum_are_checked(refuted):
    data = copy.deepcopy(dict(refuted.data))
    # a linear term for everyone: the functions stay in the class, and x* moves
    for triples in data["clients"]:
        for t in triples:
            t["g"][0] = str(Fraction(t["g"][0]) + 1)
            t["f"] = str(Fraction(t["f"]) + Fraction(t["x"][0]))
    with pytest.raises(Refused, match="does not vanish"):
        check_instance(data)
    found = refute_bound(FedPD(Fraction(3, 10)), SMOOTH, Fraction(14, 10), rounds=1, measure="stationarity")
    data = copy.deepcopy(dict(found.data))
    data["question"]["radius"] = "9/10"
    with pytest.raises(Refused, match="inf f may be"):
        check_instance(data)


def test_a_refutation_is_stored_as_plain_data(refuted, tmp_path):
    refuted.write(tmp_path / "below" / "refutation.json")
    assert replay_exactly(json.loads((tmp_path / "below" / "refutation.json").read_text())) == refuted.reached


def test_a_method_of_ones_own_is_passed_along(refuted):
    assert replay_exactly(refuted.data, FedAvg(GradientSteps(8, QUARTER))) == refuted.reached
    with pytest.raises(Refused, match="another method"):
        replay_exactly(refuted.data, FedAvg(GradientSteps(2, Fraction(1, 3))))


# ---- functions in fractions --------------------------------------------------------------------------------------


def _random_envelope(rng, mu, mirrored, n=2, p=5, d=2):
    def number():
        return Fraction(int(rng.integers(-8, 9)), 4)

    triples = tuple(
        tuple(([number() for _ in range(d)], [number() for _ in range(d)], number()) for _ in range(p))
        for _ in range(n)
    )
    return Envelope(triples, Fraction(1), mu, mirrored)


@pytest.mark.parametrize(
    ("mu", "mirrored"), [(Fraction(0), False), (TENTH, False), (Fraction(-1), True), (TENTH, True)]
)
def test_envelopes_belong_to_their_class_and_their_oracles_to_each_other(mu, mirrored):
    rng = np.random.default_rng(0)
    for _ in range(3):
        f = _random_envelope(rng, mu, mirrored)
        points = [
            array_of([[Fraction(int(v), 3) for v in rng.integers(-9, 10, 2)] for _ in range(2)]) for _ in range(6)
        ]
        grads, values = [f.grad(x) for x in points], [f.value(x) for x in points]
        for x, g, v in zip(points, grads, values, strict=True):
            for y, h, w in zip(points, grads, values, strict=True):
                for i in range(2):
                    dx, dg = x[i] - y[i], g[i] - h[i]
                    half = 1 / (2 * (1 - mu))
                    quadratic = (dg * dg).sum() + mu * (dx * dx).sum() - 2 * mu * (dg * dx).sum()
                    assert w[i] - v[i] + (h[i] * dx).sum() + half * quadratic <= 0
        step = Fraction(1, 2)
        near = f.prox(points[0], step)
        assert (near + step * f.grad(near) == points[0]).all()
        if mu > 0:
            assert (f.grad(f.conjugate_grad(points[1])) == points[1]).all()


def test_plain_envelopes_are_those_of_floats():
    rng = np.random.default_rng(1)
    f = _random_envelope(rng, TENTH, False)
    parts = [np.array([[t[k] for t in client] for client in f.triples], dtype=float) for k in range(3)]
    floats = Interpolated(*parts, L=1.0, mu=0.1)
    for _ in range(4):
        x = rng.integers(-9, 10, (2, 2)) / 4
        exact = array_of([[Fraction(v) for v in row] for row in x])
        assert f.grad(exact).astype(float) == pytest.approx(floats.grad(x), abs=1e-6)
        assert f.value(exact).astype(float) == pytest.approx(floats.value(x), abs=1e-6)


def test_mirrored_envelopes_are_bounded_below_by_what_is_said():
    rng = np.random.default_rng(2)
    for mu in (Fraction(-1), Fraction(0), TENTH):
        for n in (1, 2, 3):
            f = _random_envelope(rng, mu, True, n=n, p=3)
            low = lowest_value(f.triples, f.L, f.mu)
            for _ in range(20):
                x = array_of([[Fraction(int(v), 4) for v in rng.integers(-40, 41, 2)]])
                assert sum(f.value(x)) / n >= low


def test_the_infimum_of_two_clients_is_exact():
    """Gradient steps on the average come down to it."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        f = _random_envelope(rng, Fraction(-1), True)
        low, best = lowest_value(f.triples, f.L, f.mu), None
        for start in rng.integers(-12, 13, (25, 2)):
            x = array_of([[Fraction(int(v), 4) for v in start]])
            for _ in range(12):
                x = x - f.grad(x).sum(axis=0)[None] / 2
                x = array_of([[v.limit_denominator(10**6) for v in x[0]]])
            value = sum(f.value(x)) / 2
            best = value if best is None else min(best, value)
        assert low <= best <= low + Fraction(1, 50)


def test_programs_over_a_simplex_are_solved_where_the_solver_guesses_wrong(monkeypatch):
    """Degenerate ones among them: repeated pieces, and more of them than dimensions."""
    rng = np.random.default_rng(4)

    def wrong(gram, level):
        return np.eye(len(level))[0]

    for trial in range(40):
        q = [[Fraction(int(v)) for v in row] for row in rng.integers(-2, 3, (6, 2))]
        q[5] = q[0]
        level = [Fraction(int(v), 2) for v in rng.integers(-4, 5, 6)]
        gram = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in q] for u in q]
        guessed = maximise_on_simplex(gram, level)
        with monkeypatch.context() as patch:
            patch.setattr("fedtheory.proofs.refutations.envelopes.guess_simplex_weights", wrong)
            found = maximise_on_simplex(gram, level)

        def objective(lam, gram=gram, level=level):
            square = sum(a * b * gram[i][j] for i, a in enumerate(lam) for j, b in enumerate(lam))
            return sum(a * b for a, b in zip(lam, level, strict=True)) - square / 2

        assert min(found) >= 0 and sum(found) == 1, trial
        assert objective(found) == objective(guessed)


def test_functions_in_fractions_run_one_run_at_a_time():
    f = _random_envelope(np.random.default_rng(5), TENTH, False)
    with pytest.raises(InvalidInput, match="one run at a time"):
        f.grad(np.zeros((3, 2, 2), dtype=object))
    with pytest.raises(InvalidInput, match="too large"):
        replace(f, mu=Fraction(-1)).prox(array_of([[Fraction(0)] * 2]), rational(1.5))

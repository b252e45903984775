"""Exact spectra and closed forms against runs and against each other."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from helpers import close, play, problem, start
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import (
    EF21,
    AcceleratedGradient,
    FedAvg,
    FedDane,
    FedPD,
    FedProx,
    FedSplit,
    GradientDescent,
    Scaffold,
    VrlSgd,
)
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import constant
from fedtheory.core.states import Layout
from fedtheory.local.compression import TopK
from fedtheory.local.inexact import ToAccuracy
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.measures.rates import fit_contraction
from fedtheory.proofs.spectrum import contraction_factor, round_map, spectral_radius
from fedtheory.proofs.symbolic import is_zero, play_exactly, round_matrix, simplify, symbols, tidy, vector
from fedtheory.running.runner import run
from problems.fedavg_divergence import curved_counterexample, fedavg_counterexample
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics

STEP = Quadratic(  # I-STEP in the FedPD claims
    np.array([1, 1, -0.98, -0.94])[:, None, None], np.array([0.3, -0.1, 1, -1])[:, None]
)


# ---- spectra ------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), lr=st.floats(0.05, 1.9))
@settings(max_examples=30)
def test_radius_of_gradient_descent_is_the_extreme_eigenvalue(seed, lr) -> None:
    f = random_quadratics(3, 3, mu=0.1, seed=seed)
    eigenvalues = np.linalg.eigvalsh(f.A.mean(axis=0))
    # eigenvalues of a symmetric matrix are found to a few eps
    assert spectral_radius(GradientDescent(lr), f, start(f)) == pytest.approx(
        np.abs(1 - lr * eigenvalues).max(), rel=1e-13
    )


@given(seed=st.integers(0, 10**6), lr=st.floats(0.05, 1.0), steps=st.integers(1, 6))
@settings(max_examples=30)
def test_matrix_of_fedavg_is_the_mean_of_the_clients_powers(seed, lr, steps) -> None:
    f = random_quadratics(3, 2, mu=0.1, seed=seed)
    found = round_map(FedAvg(GradientSteps(steps, lr)), f, start(f))
    expected = np.mean([np.linalg.matrix_power(np.eye(2) - lr * a, steps) for a in f.A], axis=0)
    close(found.matrix, expected, 1e-13)
    close(found.block("x", "x"), expected, 1e-13)


@pytest.mark.parametrize(
    ("u", "radius"), [(0.30, 0.9935), (0.50, 0.9870), (0.52, 0.9978), (0.53, 1.0369), (0.60, 1.3606)]
)
def test_radius_of_fedpd_at_the_step_size_limit(u, radius) -> None:
    """FEDPD-D7, printed with four places; 0.309 is the paper's limit, 0.5 the proven one."""
    assert spectral_radius(FedPD(u), STEP, np.ones(1)) == pytest.approx(radius, abs=6e-5)


def test_the_step_size_limit_of_fedpd_is_sharp() -> None:
    """Unstable at u = 0.501 already, radius 1.0035 (FEDPD-D7); stable at 0.5 on the same curvatures."""
    near = Quadratic(np.array([1, 1, -0.99967, -0.9998])[:, None, None], np.array([0.3, -0.1, 1, -1])[:, None])
    assert spectral_radius(FedPD(0.501), near, np.ones(1)) == pytest.approx(1.0035, abs=5e-5)
    assert spectral_radius(FedPD(0.5), near, np.ones(1)) < 1
    trace = run(FedPD(along_batch([0.5, 0.501])), near, np.ones(1), 6000, every=6000, metrics={"d": metrics.consensus})
    assert trace["d"][0, 1] < 1 and trace["d"][1, 1] > 1e3


METHODS = {
    "gd": GradientDescent(0.5),
    "agd": AcceleratedGradient(0.9, 0.1),
    "fedavg": FedAvg(GradientSteps(3, 0.4)),
    "fedprox": FedProx(2.0),
    "scaffold": Scaffold(GradientSteps(3, 0.2)),
    "vrl-sgd": VrlSgd(GradientSteps(3, 0.2)),
    "feddane": FedDane(2.0),
    "fedsplit": FedSplit(1.0),
    "fedpd": FedPD(0.4),
    "fedpd, two steps": FedPD(0.4, GradientSteps(2, 0.4)),
}


@pytest.mark.parametrize("name", METHODS)
def test_runs_contract_at_the_exact_rate(name) -> None:
    """The fitted factor of ||state - limit|| over a long run is the modulus of the leading eigenvalue below one."""
    algorithm, f = METHODS[name], random_quadratics(4, 2, mu=0.1, seed=5)
    found = round_map(algorithm, f, start(f))
    layout = found.layout
    assert found.spectral_radius() <= 1 + 1e-9
    # eigenvalues one belong to directions that never move, such as the sum of the duals
    rate = max(e for e in np.abs(np.linalg.eigvals(found.matrix)) if e < 1 - 1e-9)
    limit = layout.flatten(play(algorithm, f, start(f)[None, :], 4000)[-1])

    def distance(_, state):
        return np.linalg.norm(layout.flatten(state) - limit)

    trace = run(algorithm, f, start(f), 400, metrics={"d": distance})
    fine = int((trace["d"] > 1e-11).sum())  # rounding comes in below
    fitted = fit_contraction(trace.rounds, trace["d"], slice(fine // 2, fine))
    assert fitted.rate == pytest.approx(rate, rel=0.01)  # other eigenvalues have not quite died out


@pytest.mark.parametrize("name", METHODS)
def test_iterating_the_map_is_running_the_method(name) -> None:
    algorithm, f = METHODS[name], random_quadratics(4, 2, mu=0.1, seed=5)
    found = round_map(algorithm, f, start(f))
    states = play(algorithm, f, start(f)[None, :], 40)
    v = found.layout.flatten(states[0])
    for state in states[1:]:
        v = found.matrix @ v + found.offset
        close(v, found.layout.flatten(state), 1e-11)


@pytest.mark.parametrize("name", METHODS)
def test_the_factor_from_a_start_leaves_out_what_never_moves(name) -> None:
    """Eigenvalues one belong to conserved quantities, such as the sum of the duals; from a general start all others are seen."""
    algorithm, f = METHODS[name], random_quadratics(4, 2, mu=0.1, seed=5)
    moduli = np.abs(np.linalg.eigvals(round_map(algorithm, f, start(f)).matrix))
    found = contraction_factor(algorithm, f, start(f))
    assert found == pytest.approx(max(e for e in moduli if e < 1 - 1e-9), rel=1e-12)


def test_the_factor_of_gradient_descent_is_that_of_the_eigenvectors_it_starts_on() -> None:
    f = random_quadratics(3, 3, mu=0.1, seed=2)
    eigenvalues, vectors = np.linalg.eigh(f.A.mean(axis=0))
    x_star, method = f.solution(), GradientDescent(0.5)
    for value, along in zip(eigenvalues, vectors.T, strict=True):
        assert contraction_factor(method, f, x_star + along) == pytest.approx(1 - 0.5 * value, rel=1e-12)
    assert contraction_factor(method, f, x_star + vectors @ [0, 1, 1]) == pytest.approx(1 - 0.5 * eigenvalues[1])
    still = Quadratic(np.eye(2)[None], np.zeros((1, 2)))
    assert contraction_factor(method, still, np.zeros(2)) == 0, "it starts where it stays"


def test_partial_participation_and_coins_have_maps_of_their_own() -> None:
    f = problem("quadratics")
    one = round_map(FedAvg(GradientSteps(2, 0.3)), f, start(f), clients=Clients(4, np.array([2])))
    close(one.matrix, np.linalg.matrix_power(np.eye(3) - 0.3 * f.A[2], 2), 1e-13)
    skip, send = (round_map(FedPD(0.3, p=0.5), f, start(f), coins={"communicate": c}) for c in (False, True))
    assert np.abs(skip.block("x0_i", "x0_i") - send.block("x0_i", "x0_i")).max() > 1e-3
    close(send.matrix, round_map(FedPD(0.3), f, start(f)).matrix, 1e-14)
    with pytest.raises(InvalidInput, match="no outcome is prescribed for 'communicate'"):
        round_map(FedPD(0.3, p=0.5), f, start(f))


def test_rounds_that_differ_have_maps_that_differ() -> None:
    f = problem("quadratics")
    early, late = (round_map(AcceleratedGradient(0.5), f, start(f), round=r).block("y", "x") for r in (0, 30))
    close(early, np.zeros((3, 3)), 1e-14)
    assert np.abs(late).max() > 0.5


def test_what_is_not_affine_is_refused() -> None:
    for f in (problem("logistic"), problem("sines")):
        with pytest.raises(InvalidInput, match=r"one round of FedAvg is not affine on .*linear method on a quadratic"):
            round_map(FedAvg(GradientSteps(2, 0.3)), f, start(f))


@pytest.mark.parametrize(
    ("algorithm", "part"),
    [
        (FedAvg(StochasticSteps(1, 0.1, 1)), "StochasticSteps: it draws samples at random"),
        (FedPD(0.1, ToAccuracy(0.1, 0.1)), "ToAccuracy: it stops on the norm of a gradient"),
        (FedPD(0.1, FedPD.oracle_two(0.1, None, 1, 1, 1)), "VarianceReduced: it draws samples at random"),
    ],
)
def test_what_decides_on_values_is_refused_by_name(algorithm, part) -> None:
    with pytest.raises(
        CannotTrace, match=f"the spectral engine has no numbers to decide on, and {part}; use a determin"
    ):
        round_map(algorithm, problem("quadratics"), np.ones(3))
    with pytest.raises(CannotTrace, match="the symbolic engine"):
        play_exactly(algorithm, problem("quadratics"), np.ones(3), 1)


def test_a_compressor_is_told_of_the_methods_with_every_one_of_a_class() -> None:
    with pytest.raises(CannotTrace, match=r"TopK: it ranks coordinates by size; use the method with every compressor"):
        round_map(EF21(0.1, TopK(0.5)), problem("quadratics"), np.ones(3))


# ---- closed forms -------------------------------------------------------------------------------------------------

eta, a, b = symbols("eta a b", positive=True)

SYMBOLIC = {
    "gd": lambda e: GradientDescent(e),
    "fedavg": lambda e: FedAvg(GradientSteps(3, e)),
    "fedprox": lambda e: FedProx(1 / e),
    "fedprox, steps": lambda e: FedProx(1 / e, GradientSteps(2, e)),
    "scaffold": lambda e: Scaffold(GradientSteps(2, e)),
    "vrl-sgd": lambda e: VrlSgd(GradientSteps(2, e)),
    "feddane": lambda e: FedDane(1 / e),
    "fedsplit": lambda e: FedSplit(e),
    "fedpd": lambda e: FedPD(e),
    "fedpd, steps": lambda e: FedPD(e, GradientSteps(2, e)),
    "fedpd, oracle two": lambda e: FedPD(e, FedPD.oracle_two(e, 2 * e, 2, None, 1)),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_symbolic_round_matrix_with_numbers_is_the_numeric_one(name) -> None:
    """One round on two scalar quadratics in eta, a, b; then eta = 0.13, a = 1.7, b = 0.4."""
    matrix, _ = round_matrix(SYMBOLIC[name](eta), scalar_quadratics(np.array([a, b])))
    numbers = np.array(
        matrix.subs({eta: sympy.Rational(13, 100), a: sympy.Rational(17, 10), b: sympy.Rational(2, 5)}), float
    )
    numeric = round_map(SYMBOLIC[name](0.13), scalar_quadratics([1.7, 0.4]), np.zeros(1)).matrix
    close(numbers, numeric, 1e-13)


def test_one_fedavg_round_in_closed_form() -> None:
    """x (4 eta^2 + 1) for f = +-x^2 and two local steps."""
    pair = scalar_quadratics(np.array([sympy.Integer(2), sympy.Integer(-2)]))
    states = play_exactly(FedAvg(GradientSteps(2, eta)), pair, vector("x"), 2)
    x0 = vector("x")[0]
    assert is_zero(states[1].x[0, 0] - x0 * (4 * eta**2 + 1))
    assert is_zero(states[2].x[0, 0] - x0 * (4 * eta**2 + 1) ** 2)


def test_threshold_of_the_curved_counterexample() -> None:
    """m = ((1 - eta a)^2 + (1 + eta b)^2)/2 is one at eta = 2 (a - b)/(a^2 + b^2) (FEDPD-D9)."""
    matrix, _ = round_matrix(FedAvg(GradientSteps(2, eta)), curved_counterexample(a, b))
    assert is_zero(matrix[0, 0].subs(eta, 2 * (a - b) / (a**2 + b**2)) - 1)
    radius = [
        spectral_radius(FedAvg(GradientSteps(2, e)), curved_counterexample(2.0, 1.0), np.ones(1)) for e in (0.39, 0.41)
    ]
    assert radius[0] < 1 < radius[1]


def test_eigenvalues_of_fedpd_on_the_counterexample_are_zero_and_one() -> None:
    """On f = +-x^2, for every eta L < 1 (FEDPD-D14)."""
    for e in (0.05, 0.2, 0.45):
        eigenvalues = np.linalg.eigvals(round_map(FedPD(e), fedavg_counterexample(), np.zeros(1)).matrix)
        # zero is a defective eigenvalue: its computed copies lie within eps^(1/3) of it
        assert np.all((np.abs(eigenvalues) < 1e-4) | (np.abs(eigenvalues - 1) < 1e-9))


def test_exact_fixed_point_of_fedavg() -> None:
    """sum w_i c_i / sum w_i with w_i = 1 - (1 - eta a_i)^2, in symbols (FEDPD-D12)."""
    c1, c2 = symbols("c1 c2")
    f = scalar_quadratics(np.array([a, b]), np.array([c1, c2]))
    w1, w2 = 1 - (1 - eta * a) ** 2, 1 - (1 - eta * b) ** 2
    fixed = sympy.cancel((w1 * c1 + w2 * c2) / (w1 + w2))
    after = play_exactly(FedAvg(GradientSteps(2, eta)), f, np.array([fixed], dtype=object), 1)[1].x[0, 0]
    assert is_zero(after - fixed)


def test_accelerated_gradient_stays_exact_in_symbols() -> None:
    states = play_exactly(AcceleratedGradient(eta), scalar_quadratics(np.array([a, a])), vector("x"), 3)
    assert not states[-1].x[0, 0].atoms(sympy.Float)


def test_two_coordinates_in_symbols() -> None:
    """An exact proximal step solves a symbolic linear system."""
    matrix = np.array([[[a, 1], [1, 2]]], dtype=object)
    f = Quadratic(matrix, np.zeros((1, 2), dtype=object))
    new = play_exactly(FedProx(sympy.Integer(1)), f, vector("x", 2), 1)[1].x[0]
    left = (np.eye(2, dtype=int) + matrix[0]) @ new - vector("x", 2)
    assert all(is_zero(entry) for entry in left)


def test_helpers_of_the_symbolic_engine() -> None:
    assert symbols("t").is_real and symbols("t", positive=True).is_positive
    assert vector("y").shape == (1,) and [str(v) for v in vector("y", 3)] == ["y_1", "y_2", "y_3"]
    assert is_zero((a + b) ** 2 - a**2 - 2 * a * b - b**2) and not is_zero(a - b)
    tidied = simplify(np.array([[(a**2 - b**2) / (a - b), 1, 0.5]], dtype=object))
    assert tidied[0, 0] == a + b and tidied[0, 1] == 1 and tidied[0, 2] == 0.5


# ---- states as vectors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", [FedPD(0.1), FedPD(0.1, FedPD.oracle_two(0.1, None, 1, None, 2)), FedSplit(0.1)])
def test_states_flatten_and_unflatten(algorithm) -> None:
    f = problem("quadratics")
    state = play(algorithm, f, start(f)[None, :], 2)[-1]
    layout = Layout.of(state)
    back = layout.unflatten(layout.flatten(state))
    for name, where in layout.slices().items():
        np.testing.assert_array_equal(getattr(back, name), getattr(state, name))
        np.testing.assert_array_equal(layout.flatten(state)[where], getattr(state, name).ravel())
    batch = layout.unflatten(np.arange(2.0 * layout.size).reshape(2, layout.size))
    np.testing.assert_array_equal(layout.flatten(batch).ravel(), np.arange(2.0 * layout.size))
    assert layout.size == sum(np.size(getattr(state, name)) for name in layout.slices())


def test_tidying_keeps_numbers() -> None:
    f = problem("quadratics")
    state = play(FedPD(0.1), f, start(f)[None, :], 1)[-1]
    objects = type(state)(*(getattr(state, n).astype(object) for n in ("x", "x_i", "x0_i", "lam_i")), None)
    np.testing.assert_array_equal(tidy(objects).x.astype(float), state.x)
    assert float(constant(f, "L")) > 0 and isinstance(FedPD(0.1).local, Exact)

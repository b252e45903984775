"""SAM's perturbed gradient as a local solver."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import Counting, close, problem, start
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.algorithms import (
    APDA,
    AFedPD,
    DualAscent,
    DualFista,
    DualFL,
    FedADMM,
    FedAvg,
    FedDane,
    FedDR,
    FedDyn,
    FedLin,
    FedPD,
    FedSLR,
    FedSplit,
    FiveGCS,
    Scaffold,
    VrlSgd,
)
from fedtheory.core.arrays import along_batch, spread
from fedtheory.core.errors import NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import Key
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.local.subproblem import Subproblem
from problems.quadratics import Quadratic

KEY = Key(3, 2)


def subproblem(f, clients=None):
    """Linear and quadratic terms of every client, restricted to those that take part."""
    rng = np.random.default_rng(0)
    a, z = rng.standard_normal((2, f.n, f.d))
    index = np.arange(f.n) if clients is None else clients.index
    return Subproblem(f.take(clients), a=a[index], rho=0.7, z=z[index], clients=clients)


def by_hand(f, i, sub, x, sam, grad):
    """One client's steps in scalars and loops; ``grad(x, q)`` is its (stochastic) gradient."""
    for q in range(sam.steps):
        u = grad(x, q)
        norm = np.sqrt(sum(float(c) ** 2 for c in u))
        v = grad(x + sam.radius * u / (norm + sam.epsilon), q)
        g = (1 - sam.weight) * u + sam.weight * v
        x = x - sam.lr * (g + sub.a[i] + sub.rho * (x - sub.z[i]))
    return x


@given(radius=st.floats(0, 2), epsilon=st.sampled_from([0.0, 1e-2, 1.0]), weight=st.sampled_from([0.0, 0.3, 1.0]))
def test_the_steps_are_foret_s(radius, epsilon, weight) -> None:
    f = problem("sines")
    sub, sam = subproblem(f), SamSteps(3, 0.1, radius, epsilon=epsilon, weight=weight)
    x, memory = sam(sub, start(f)[None, :], KEY, None)
    assert memory is None
    for i in range(f.n):
        alone = f.take(Clients(f.n, np.array([i])))
        close(x[i], by_hand(f, i, sub, start(f), sam, lambda y, q, one=alone: one.grad(y[None, :])[0]), 1e-13)


@pytest.mark.parametrize("clients", [None, Clients(4, np.array([3, 1]))], ids=["all", "two"])
def test_both_gradients_of_a_step_see_the_same_minibatch(clients) -> None:
    """A client's minibatches are the ones `StochasticSteps` draws, whoever else takes part."""
    f = problem("finite-sum")
    sub, sam = subproblem(f, clients), SamSteps(2, 0.1, 0.3, batch=2)
    x, _ = sam(sub, start(f)[None, :], KEY, None)
    samples = np.floor(KEY.client_uniform("samples", f.n, 4) * np.asarray(f.n_samples)[..., None]).astype(int)
    for row, i in enumerate(range(f.n) if clients is None else clients.index):
        alone, mine = f.take(Clients(f.n, np.array([i]))), samples[i].reshape(2, 2)
        expected = by_hand(
            f, row, sub, start(f), sam, lambda y, q, one=alone, s=mine: one.sample_grad(y[None, :], s[None, q])[0]
        )
        close(x[row], expected, 1e-13)


def test_radius_zero_turns_the_ascent_off() -> None:
    f = problem("finite-sum")
    sub, x0 = subproblem(f), start(f)[None, :]
    for sam, plain in (
        (SamSteps(3, 0.1, 0), GradientSteps(3, 0.1)),
        (SamSteps(3, 0.1, 0, batch=2), StochasticSteps(3, 0.1, 2)),
        (SamSteps(3, 0.1, 0.5, weight=0), GradientSteps(3, 0.1)),
    ):
        close(sam(sub, x0, KEY, None)[0], plain(sub, x0, KEY, None)[0])


def test_no_ascent_where_the_gradient_vanishes() -> None:
    """A client at its minimiser stays there although the normalised gradient is 0/0; the others move."""
    f = Quadratic(np.stack([np.eye(2)] * 2), np.array([[0.0, 0.0], [1.0, 1.0]]))
    x, _ = SamSteps(2, 0.1, 0.3, epsilon=0.0)(Subproblem(f), np.zeros((1, 2)), KEY, None)
    close(x[0], np.zeros(2))
    assert np.all(x[1] > 0)


def test_an_ascent_has_the_length_of_the_radius() -> None:
    """On ||x||^2/2 the perturbed gradient is x (1 + radius/||x||): the step is longer by lr * radius."""
    f = Quadratic(np.eye(2)[None, :, :], np.zeros((1, 2)))
    x0 = np.array([[3.0, 4.0]])
    x, _ = SamSteps(1, 0.1, 0.5, epsilon=0.0)(Subproblem(f), x0, KEY, None)
    close(x, x0 * (1 - 0.1 * (1 + 0.5 / 5)), 1e-15)


def test_radii_ride_on_a_batch_axis() -> None:
    f, radii = problem("sines"), [0.1, 0.4]
    together, _ = SamSteps(3, 0.1, along_batch(radii))(Subproblem(f), start(f)[None, None, :], KEY, None)
    for row, radius in enumerate(radii):
        close(together[row], SamSteps(3, 0.1, radius)(Subproblem(f), start(f)[None, :], KEY, None)[0], 1e-14)


@pytest.mark.parametrize("batch", [None, 2])
def test_two_gradients_a_step_and_client(batch) -> None:
    f = Counting(problem("finite-sum"))
    SamSteps(3, 0.1, 0.2, batch=batch)(Subproblem(f), spread(start(f)[None, :], f.n), KEY, None)
    assert sum(f.seen) == 2 * 3 * f.n


def test_without_samples_a_batch_is_refused() -> None:
    with pytest.raises(NotAvailable, match="SamSteps with a batch needs 'sample_grad'"):
        SamSteps(1, 0.1, 0.1, batch=1)(Subproblem(problem("sines")), np.zeros((1, 2)), KEY, None)


SAM = SamSteps(2, 0.05, 0.1)


@pytest.mark.parametrize(
    "algorithm",
    [
        *(method(0.3, SAM) for method in (APDA, FedADMM, FedDane, FedDyn, FedSplit)),
        *(method(SAM) for method in (FedAvg, FedLin, Scaffold, VrlSgd)),
        *(FedPD(0.3, SAM), FedDR(0.3, 1, SAM), FiveGCS(0.3, 0, SAM), AFedPD(0.3, SAM), FedSLR(0.3, SAM)),
        *(DualFL(0.1, 0.0, SAM), DualFista(0.1, 0.0, SAM), DualAscent(0.1, 0.0, SAM)),
    ],
    ids=lambda algorithm: type(algorithm).__name__,
)
def test_nobody_rests_at_the_solution_with_perturbed_gradients(algorithm) -> None:
    """Where the subproblem's gradient vanishes, that of f_i does not, and its ascent leads away."""
    f = problem("quadratics")
    x = f.solution()[None, :]
    assert algorithm.solution_state(f, x) is None
    plain = dataclasses.replace(algorithm, local=GradientSteps(1, 0.05)).solution_state(f, x)
    moved = algorithm.round(f, plain, None, Key(0, 0)).x
    assert np.abs(moved - x).max() > 1e-6

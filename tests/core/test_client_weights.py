"""Clients with weights: what an average means, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from helpers import close

from fedtheory.core.arrays import average, to_numpy
from fedtheory.core.client_weights import check_weights, read_weights, weighing
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import ByWeight, Clients
from fedtheory.core.problem import constant, constants, gradient, heterogeneity_at, need, objective
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1, Regularised
from fedtheory.core.weighted import Weighted, weighted, weights_by_data
from fedtheory.measures.ground_truth import ground_truth
from problems.huber import random_huber
from problems.logistic import logistic
from problems.quadratics import Quadratic, random_indefinite, random_quadratics, scalar_quadratics

P = (0.5, 0.3, 0.2)
ROWS = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
ONES = np.ones((1, 4))


def three() -> Quadratic:
    return random_quadratics(3, 4, L=1.0, mu=0.1, heterogeneity=1.0, seed=3)


@pytest.mark.parametrize(
    ("clients", "expected"),
    [
        (None, 0.5 * 1 + 0.3 * 2 + 0.2 * 4),
        (Clients(3, np.array([0, 2])), (0.5 * 1 + 0.2 * 4) / 0.7),
        (Clients(3, np.array([1])), 2.0),
        (Clients(3, np.array([1, 2]), np.array([False, True])), 4.0),
        (Clients(3, np.array([0, 2]), None, np.array([3, 1])), (3 * 1 + 4) / 4),
    ],
)
def test_an_average_by_hand(xp, clients, expected) -> None:
    rows = ROWS if clients is None else ROWS[clients.index]
    with weighing(Weighted(three(), P)):
        found = average(xp.array(rows), clients)
    close(to_numpy(found), [[expected, 10 * expected]], 1e-12)
    if clients is None:
        close(to_numpy(average(xp.array(rows))), [[7 / 3, 70 / 3]], 1e-12)  # outside, the plain mean


def test_an_average_of_fractions_is_exact() -> None:
    rows = np.array([[Fraction(1)], [Fraction(2)], [Fraction(4)]], dtype=object)
    with weighing(Weighted(three(), read_weights(".5,.3,.2"))):
        assert average(rows)[0, 0] == Fraction(19, 10)
        assert average(rows[[0, 2]], Clients(3, np.array([0, 2])))[0, 0] == Fraction(13, 7)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ((0.5, 0.5), "there are 2 weights .* n = 3"),
        ((0.7, 0.5, -0.2), "weight of client 2 is -0.2"),
        ((0.5, 0.5, 0.0), "weight of client 2 is 0"),
        ((0.5, 0.3, 0.1), "have the sum 0.9"),
        ((float("nan"), 0.5, 0.5), "weight of client 0 is nan"),
    ],
)
def test_wrong_weights_are_refused_in_a_line(weights, told) -> None:
    with pytest.raises(InvalidInput, match=told) as error:
        check_weights(weights, 3)
    assert "\n" not in str(error.value)
    with pytest.raises(InvalidInput, match=told):
        Weighted(three(), weights)


def test_weights_are_read_exactly() -> None:
    assert read_weights("1/2, .3,0.2") == (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))
    with pytest.raises(InvalidInput, match="'x' is no number"):
        read_weights(".5,x,.2")
    with pytest.raises(InvalidInput, match="has weights already"):
        Weighted(Weighted(three(), P), P)


def test_the_objective_is_the_weighted_sum_with_its_own_minimum() -> None:
    f, x = three(), ONES
    w = Weighted(f, P)
    close(objective(w, x), sum(p * v for p, v in zip(P, f.value(x), strict=True)), 1e-14)
    close(gradient(w, x)[0], sum(p * g for p, g in zip(P, f.grad(x), strict=True)), 1e-14)
    a, b = np.einsum("i,ijk", P, f.A), np.einsum("i,ij", P, f.b)
    truth = ground_truth(w)
    close(truth.x, np.linalg.solve(a, b), 1e-12)
    assert truth.gap < 1e-20 and np.linalg.norm(truth.x - f.solution()) > 1e-2
    low, high = np.linalg.eigvalsh(a)[[0, -1]]
    assert low - 1e-12 < constant(w, "mu_avg").value <= low and high <= constant(w, "L_avg").value < high + 1e-12
    assert constant(w, "L").value == constant(f, "L").value  # a client's own work knows no weights
    x_star = truth.x[None, :]
    close(heterogeneity_at(w, x_star).value ** 2, np.array(P) @ (f.grad(x_star) ** 2).sum(axis=-1), 1e-10)


def test_constants_of_the_sum_come_from_the_clients_where_nothing_is_sharper() -> None:
    f = logistic([np.ones((2, 1)), 3 * np.ones((1, 1))], [np.array([1.0, -1.0]), np.array([1.0])], l2=0.5)
    w = Weighted(f, (0.75, 0.25))
    for average_of, each in (("L_avg", "L_i"), ("mu_avg", "mu_i")):
        close(constant(w, average_of).value, np.array([0.75, 0.25]) @ constant(f, each).value, 1e-12)
    assert "L" in constants(w) and not {"zeta", "G_centred", "bgd"} & {*constants(w)}
    mixed = random_indefinite(3, 2, seed=0)  # of clients that are not convex, by the eigenvalues of the sum
    assert constant(mixed, "mu").value < 0 < constant(Weighted(mixed, (0.34, 0.33, 0.33)), "mu_avg").value


def test_clients_weighted_by_their_data_are_the_model_of_all_data() -> None:
    rng = np.random.default_rng(0)
    sizes, d = (5, 20, 3), 4
    features = [rng.normal(size=(k, d)) for k in sizes]
    labels = [np.sign(rng.normal(size=k)) for k in sizes]
    clients = logistic(features, labels, l2=0.1)
    w = weighted(clients, "data")
    assert weights_by_data(clients) == (Fraction(5, 28), Fraction(20, 28), Fraction(3, 28))
    together = logistic([np.concatenate(features)], [np.concatenate(labels)], l2=0.1)
    x = rng.normal(size=(1, d))
    close(objective(w, x), objective(together, x), 1e-12)
    close(ground_truth(w).x, ground_truth(together).x, 1e-8)
    with pytest.raises(NotAvailable, match="n_samples"):
        weighted(three(), "data")


def test_minima_without_smoothness() -> None:
    """Distances on the line, certified by a duality gap with sum_i p_i y_i = 0: the least is at the weighted median."""
    f = random_huber(3, 1, width=0, mu=0.05, seed=0)
    order = np.argsort(f.centre[:, 0])
    assert ground_truth(f).x == pytest.approx(f.centre[order[1]], abs=1e-6)
    weights = np.full(3, 0.2)
    weights[order[2]] = 0.6
    truth = ground_truth(Weighted(f, weights))
    close(truth.x, f.centre[order[2]], 1e-6)
    assert truth.gap < 1e-6


def test_minima_with_a_regulariser() -> None:
    """f = (x - c)^2/2 by weights, plus l|x|: soft thresholding of the weighted mean of the centres."""
    f = Regularised(scalar_quadratics([1.0, 1.0, 1.0], [4.0, -1.0, 2.0]), L1(0.5))
    truth = ground_truth(Weighted(f, P))
    close(truth.x, [0.5 * 4 - 0.3 + 0.2 * 2 - 0.5], 1e-9)


def test_oracles_are_not_asked_where_averages_are_equal() -> None:
    w = Weighted(three(), P)
    for ask in (lambda: w.grad(ONES), lambda: w.value(ONES), lambda: w.prox(ONES, 1.0), lambda: w.take(None)):
        with pytest.raises(InvalidInput, match=r"have weights, and '.*' was asked for where averages are not by these"):
            ask()
    with weighing(w):
        close(w.grad(ONES), w.inner.grad(ONES), 0)
    with pytest.raises(NotAvailable, match="solution"):
        need(w, "solution", "this test")  # that of equal weights


def test_draws_by_weight_are_unbiased() -> None:
    """20000 seeds of three draws: the mean over draws is sum_i p_i x_i up to 5 standard deviations."""
    seeds = np.arange(20_000)
    with weighing(Weighted(three(), P)):
        who = ByWeight(3).draw(3, Key(seeds, 0))
        found = average(ROWS[who.index], who)[:, 0, 0]
    mean = 0.5 * 1 + 0.3 * 2 + 0.2 * 4
    variance = 0.5 * 1 + 0.3 * 4 + 0.2 * 16 - mean**2
    assert abs(found.mean() - mean) < 5 * np.sqrt(variance / 3 / len(seeds))
    close(found.var(), variance / 3, 0.05)
    assert (who.times.sum(axis=-1) == 3).all() and (who.count() <= 3).all()
    without = ByWeight(3).draw(3, Key(seeds, 0))
    assert abs(average(ROWS[without.index], without)[:, 0, 0].mean() - 7 / 3) < 0.03

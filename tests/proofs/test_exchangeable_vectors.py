"""Vectors that stand for all clients, and the oracles that answer with them, against vectors of n clients written out."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest

from fedtheory import FedPD, FunctionClass, Scaffold
from fedtheory.core.errors import CannotTrace
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.every_n.cells import cell, entry
from fedtheory.proofs.every_n.oracles import Leaves, SharedRegulariser, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Form, Sampling, Vector, inner_product, plain_number, square
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n

RNG = np.random.default_rng(7)
MEAN = RNG.standard_normal(2)
DEVIATION = RNG.standard_normal((2, 5))
DEVIATION -= DEVIATION.mean(axis=1, keepdims=True)
LEAVES = {"mean": MEAN, "deviation": DEVIATION}

U = Vector({("mean", 0): 2, ("deviation", 0): -1})
V = Vector({("mean", 0): Fraction(1, 2), ("mean", 1): 1, ("deviation", 1): 3})


def written_out(v: Vector) -> np.ndarray:
    """Its entries at five clients."""
    return sum((float(value) * LEAVES[part][leaf] * np.ones(5) for (part, leaf), value in v.terms.items()), np.zeros(5))


def evaluated(form: Form) -> float:
    grams = {"S": np.outer(MEAN, MEAN), "Q": DEVIATION @ DEVIATION.T / 5}
    return float(form.constant) + sum(float(w) * grams[matrix][i, j] for (matrix, i, j), w in form.gram.items())


# ---- vectors and forms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (0 - U, -written_out(U)),
        (0.0 + U - V, written_out(U) - written_out(V)),
        (sum([U, V, U]), 2 * written_out(U) + written_out(V)),
        (U * np.array([[0.25]]) + V / np.float64(4), (written_out(U) + written_out(V)) / 4),
        ((U - V) / np.array([3]), (written_out(U) - written_out(V)) / 3),
    ],
    ids=["opposite", "difference", "sum", "NumPy numbers", "arrays of one entry"],
)
def test_combinations_are_those_of_every_client(found, expected) -> None:
    assert written_out(found) == pytest.approx(expected, rel=1e-14)


def test_whole_numbers_divide_exactly_and_what_cancels_is_gone() -> None:
    assert (U / 3).terms == {("mean", 0): Fraction(2, 3), ("deviation", 0): Fraction(-1, 3)}
    assert (U - U).terms == {} == (U * 0).terms and (U + 0 * V).terms == U.terms


@pytest.mark.parametrize("wrong", [lambda: U + 1, lambda: 1 - U, lambda: U - 0.5, lambda: U * V, lambda: U + "0"])
def test_only_zero_is_a_number_and_a_vector(wrong) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        wrong()


def test_what_is_not_linear_is_refused_by_name_and_python_may_still_ask() -> None:
    with pytest.raises(CannotTrace, match=r"linear combinations, .* the round asks a vector for 'clip'"):
        U.clip(0, 1)
    with pytest.raises(CannotTrace, match=r"one value of each hyper-parameter, got an array of shape \(2, 1\)"):
        U * np.ones((2, 1))
    twin = copy.deepcopy(U)  # asks for methods that there are not
    assert twin is not U and twin.terms == U.terms and twin.terms is not U.terms


def test_forms_are_evaluated_as_they_are_written() -> None:
    u, v = written_out(U), written_out(V)
    assert evaluated(2 - square(U) / 3 + inner_product(U, V)) == pytest.approx(
        2 - np.mean(u * u) / 3 + np.mean(u * v), rel=1e-13
    )


def test_an_expectation_over_who_takes_part_needs_their_numbers() -> None:
    sampled = U.scattered(Sampling(5, 2), V)
    with pytest.raises(CannotTrace, match="without the numbers s and n"):
        square(sampled)
    assert square(sampled, Sampling(5, 2)).gram


# ---- oracles ----------------------------------------------------------------------------------------------------------


def made(mu, **options):
    leaves = Leaves()
    return leaves, SymmetricProblem(leaves, mu, **options)


@pytest.mark.parametrize(("mu", "step", "same"), [(-1, 0.5, True), (-1, 1.0, False), (-1, 2, False), (0, 100, True)])
def test_a_known_proximal_step_is_recognised_where_there_is_one_answer_only(mu, step, same) -> None:
    """argmin_x f(x) + ||x - v||^2/(2 step) is unique when 1/step > -mu; f(x) = -||x||^2/2 with step 1 shows that it need not be."""
    leaves, f = made(mu)
    x = leaves.vector()
    g = entry(f.grad(cell(x)))
    found = entry(f.prox(cell(x + g * step), step))
    assert (found.terms == x.terms) is same and len(f.evaluations) == (1 if same else 2)
    assert (found + f.evaluations[-1].g * step - (x + g * step)).terms == {}


@pytest.mark.parametrize(("mu", "same"), [(Fraction(1, 10), True), (0, False), (-1, False)])
def test_a_known_gradient_has_one_point_in_strongly_convex_classes_only(mu, same) -> None:
    leaves, f = made(mu)
    x = leaves.vector()
    found = f.conjugate_grad(f.grad(cell(x)))
    assert (entry(found).terms == x.terms) is same and len(f.evaluations) == (1 if same else 2)
    assert f.evaluations[-1].g.terms == f.evaluations[0].g.terms


def test_a_value_is_that_of_the_point_and_of_nothing_uncertain() -> None:
    leaves, f = made(0)
    x, y = leaves.vector(), leaves.vector()
    at_x, at_y = (f.value(cell(v))[0].values for v in (x, y))
    assert at_x == {f.at(x).value: 1} and at_y == {f.at(y).value: 1} and at_x != at_y
    assert f.value(cell(x))[0].values == at_x and len(f.evaluations) == 2
    with pytest.raises(CannotTrace, match="who takes part"):
        f.value(cell(x.scattered(Sampling(5, 2), y)))


@pytest.mark.parametrize("indicator", [True, False])
def test_an_indicator_has_one_value_and_other_regularisers_one_at_each_point(indicator) -> None:
    leaves = Leaves()
    h = SharedRegulariser(leaves, indicator=indicator)
    values = [h.value(cell(v))[0].values for v in (leaves.vector(common=True), leaves.vector(common=True))]
    assert (values[0] == values[1]) is indicator and len(h.evaluations) == 2


def test_noise_is_drawn_once_for_each_step_and_point() -> None:
    from types import SimpleNamespace

    leaves = Leaves()
    f = SymmetricProblem(leaves, 0, noise=leaves.deviation_only)
    x, y = leaves.vector(), leaves.vector()
    key = SimpleNamespace(round=0, heading="")
    first, again, later, elsewhere = (
        entry(f.noisy_grad(cell(v), key, q)) - entry(f.grad(cell(v))) for v, q in ((x, 0), (x, 0), (x, 1), (y, 0))
    )
    assert first.terms == again.terms and len({next(iter(e.terms)) for e in (first, later, elsewhere)}) == 3


STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)


def test_hyper_parameters_are_numbers_or_arrays_of_one_entry() -> None:
    one = worst_case_for_every_n(FedPD(np.array([[0.3]])), STRONG, rounds=1).value
    assert one == worst_case_for_every_n(FedPD(0.3), STRONG, rounds=1).value
    for method in (FedPD(np.ones((2, 1, 1))), Scaffold(GradientSteps(1, np.ones((2, 1, 1))))):
        with pytest.raises(CannotTrace, match=r"one value of each hyper-parameter.* of shape \(2, 1, 1\)"):
            worst_case_for_every_n(method, STRONG, rounds=1)


def test_fractions_of_sympy_are_fractions_and_its_roots_are_refused() -> None:
    sympy = pytest.importorskip("sympy")
    assert plain_number(sympy.Rational(2, 3)) == Fraction(2, 3) and type(plain_number(sympy.Integer(2))) is Fraction
    with pytest.raises(CannotTrace, match=r"made of fractions, and the round multiplies a vector by sqrt\(2\)"):
        plain_number(sympy.sqrt(2))

"""What can be measured after a round: plain functions ``(problem, state) -> (*batch,)``.

Those that need a constant (f*, x*) are made by a function of it. Where clients have weights, means over them are by these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedtheory.core.arrays import Array, beside, mean_of_clients, namespace, squared_norm
from fedtheory.core.client_weights import weighing
from fedtheory.core.errors import InvalidInput
from fedtheory.core.layers import factor_floats
from fedtheory.core.problem import Problem, can, gradient, need, objective
from fedtheory.core.regularisers import slope
from fedtheory.core.shapes import RunValues

Metric = Callable[[Problem, Any], RunValues]


def stationarity(problem: Problem, state: Any) -> RunValues:
    """||grad f(x)||^2 at the server's model; with a shared h the squared distance of 0 from grad f(x) + subdifferential of h."""
    if can(problem, "regulariser"):
        return slope(problem, state.x) ** 2
    return squared_norm(gradient(problem, state.x))[..., 0]


def value(problem: Problem, state: Any) -> RunValues:
    """f(x), plus the shared regulariser where there is one, at the server's model."""
    return objective(problem, state.x)


def gap(f_star: RunValues) -> Metric:
    """f(x) - f*; both with the shared regulariser where there is one."""
    return lambda problem, state: objective(problem, state.x) - beside(f_star, state.x)


def squared_distance(x_star: Array) -> Metric:
    """||x - x*||^2 for one x* ``(d,)`` of all runs, or one a run ``(*batch, 1, d)``; an x* of NumPy is brought to the library of x.

    Raises
    ------
    InvalidInput
        Its last axis but one is none of clients: ``(*batch, d)``, as solutions of batches are, would be paired with every run.
    """
    if x_star.ndim > 1 and x_star.shape[-2] != 1:
        raise InvalidInput(
            f"x* has the shape {tuple(x_star.shape)}; expected (d,), or (*batch, 1, d): give x_star[..., None, :]"
        )
    return lambda problem, state: squared_norm(state.x - beside(x_star, state.x))[..., 0]


def magnitude(problem: Problem, state: Any) -> RunValues:
    """||x||^2 of the server's model."""
    return squared_norm(state.x)[..., 0]


def consensus(problem: Problem, state: Any) -> RunValues:
    """mean_i ||x_i - x||^2, for methods that keep local models x_i."""
    with weighing(problem):
        return mean_of_clients(squared_norm(state.x_i - state.x))


def personal_value(problem: Problem, state: Any) -> RunValues:
    """mean_i f_i(personal_i), for methods with personal models."""
    with weighing(problem):
        return mean_of_clients(problem.value(state.personal))


def personal_stationarity(problem: Problem, state: Any) -> RunValues:
    """mean_i ||grad f_i(personal_i)||^2, for methods with personal models."""
    with weighing(problem):
        return mean_of_clients(squared_norm(problem.grad(state.personal)))


def test_accuracy(problem: Problem, state: Any) -> RunValues:
    """Share of the test set that the server's model gets right."""
    return need(problem, "test_accuracy", "measuring accuracy")(state.x)[..., 0]


test_accuracy.__test__ = False  # type: ignore[attr-defined]  # no test case, whatever pytest thinks of the name


def personal_accuracy(problem: Problem, state: Any) -> RunValues:
    """Mean over clients of the share of their own test samples that their models get right; without personal models, the server's."""
    share = need(problem, "personal_accuracy", "measuring accuracy client by client")
    with weighing(problem):
        return mean_of_clients(share(getattr(state, "personal", state.x)))


def average_value(problem: Problem, state: Any) -> RunValues:
    """f(x), plus the shared regulariser where there is one, at the average of the models that came in last (``x_bar``)."""
    return objective(problem, state.x_bar)


def average_accuracy(problem: Problem, state: Any) -> RunValues:
    """Share of the test set that the average of the models that came in last (``x_bar``) gets right."""
    return need(problem, "test_accuracy", "measuring accuracy")(state.x_bar)[..., 0]


def primal_residual(problem: Problem, state: Any) -> RunValues:
    """Mean distance of the last active clients' models from the server's (`fedtheory.measures.residuals.WithResiduals`)."""
    return state.primal_residual[..., 0, 0]


def dual_residual(problem: Problem, state: Any) -> RunValues:
    """Length of the server's last step (`fedtheory.measures.residuals.WithResiduals`)."""
    return state.dual_residual[..., 0, 0]


def common_accuracy(problem: Problem, state: Any) -> RunValues:
    """Mean over clients of the share of their own test samples that the server's model gets right."""
    share = need(problem, "personal_accuracy", "measuring accuracy client by client")
    with weighing(problem):
        return mean_of_clients(share(state.x))


def factored_size(problem: Problem, state: Any) -> RunValues:
    """Numbers that the server's model takes by the factors of its layers (`fedtheory.core.layers.factor_floats`)."""
    return factor_floats(state.x, need(problem, "layers", "counting factors"))[..., 0]


def component_size(problem: Problem, state: Any) -> RunValues:
    """Mean over clients of the coordinates of their personal components p_i that are not zero."""
    xp = namespace(state.p_i)
    with weighing(problem):
        return mean_of_clients(xp.sum(xp.astype(state.p_i != 0, state.x.dtype), axis=-1))

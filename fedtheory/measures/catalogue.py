"""The metrics that can be asked for by name."""

from __future__ import annotations

from typing import Any

from fedtheory.core.arrays import Array
from fedtheory.core.errors import InvalidInput
from fedtheory.core.layers import ranks
from fedtheory.core.problem import Problem, can, need
from fedtheory.measures.metrics import (
    Metric,
    average_accuracy,
    average_value,
    common_accuracy,
    component_size,
    consensus,
    dual_residual,
    factored_size,
    gap,
    magnitude,
    personal_accuracy,
    personal_stationarity,
    personal_value,
    primal_residual,
    squared_distance,
    stationarity,
    test_accuracy,
    value,
)


def rank_of(name: str) -> Metric:
    """Numerical rank of a layer of the server's model."""

    def rank(problem: Problem, state: Any) -> Array:
        layers = need(problem, "layers", f"the rank of {name!r}")
        known = [layer.name for layer in layers if layer.matrix_shape is not None]
        if name not in known:
            raise InvalidInput(f"{name!r} is not a layer with a rank; these are: {', '.join(known)}")
        return ranks(state.x, layers)[..., 0, known.index(name)]

    return rank


def offered(state: Any, problem: Problem | None = None) -> dict[str, Metric]:
    """The metrics, by name, that need no constant and that a method with such states has, on a problem if it is given."""
    from fedtheory.measures.primal_dual import mean_dual, primal_dual_gap

    found: dict[str, Metric] = {"stationarity": stationarity, "value": value, "magnitude": magnitude}
    if hasattr(state, "x_i"):
        found["consensus"] = consensus
    if hasattr(state, "lam_i"):
        found |= {"primal_dual_gap": primal_dual_gap, "mean_dual": mean_dual}
    if hasattr(state, "personal"):
        found |= {"personal_value": personal_value, "personal_stationarity": personal_stationarity}
    if can(problem, "test_accuracy"):
        found["test_accuracy"] = test_accuracy
    if can(problem, "personal_accuracy"):
        found |= {"personal_accuracy": personal_accuracy, "common_accuracy": common_accuracy}
    if can(problem, "layers"):
        found["factored_size"] = factored_size
    if getattr(state, "p_i", None) is not None:
        found["component_size"] = component_size
    if hasattr(state, "x_bar"):
        found |= {"average_value": average_value}
        found |= {"average_accuracy": average_accuracy} if can(problem, "test_accuracy") else {}
    if hasattr(state, "primal_residual"):
        found |= {"primal_residual": primal_residual, "dual_residual": dual_residual}
    return found


def named(name: str, problem: Problem, state: Any) -> Metric:
    """Return a metric by name: one of `offered` for such states, or ``gap`` = f(x) - f* or ``distance`` = ||x - x*||^2 to the ground truth.

    ``rank of <layer>`` is `rank_of` that layer.

    Raises
    ------
    InvalidInput
        The method has no such metric.
    NotAvailable
        The problem has no certified ground truth.
    """
    from fedtheory.measures.ground_truth import ground_truth

    if name == "gap":
        return gap(ground_truth(problem, witness=False).f)
    if name == "distance":
        return squared_distance(ground_truth(problem, witness=False).x)
    if name.startswith("rank of "):
        return rank_of(name.removeprefix("rank of "))
    found = offered(state, problem)
    if name not in found:
        raise InvalidInput(f"the method has no metric {name!r}; it has {', '.join(found)}")
    return found[name]


#: what may be measured by name (`fedtheory.measures.catalogue.named`)
METRICS = (
    *("stationarity", "value", "magnitude", "gap", "distance", "consensus"),
    *("primal_dual_gap", "mean_dual", "personal_value", "personal_stationarity"),
    *(
        "average_value",
        "test_accuracy",
        "average_accuracy",
        "personal_accuracy",
        "common_accuracy",
        "factored_size",
        "component_size",
    ),
)

"""How large the quantities of a question are: points R, gradients L R, function values L R^2, each as a power of two.

A question scaled by s in f (L, mu, zeta, ... times s, step sizes divided by s) or in x has its sizes scaled as its answer is, so that its program
in these units stays the same (`fedtheory.proofs.semidefinite.units`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import Measure
from fedtheory.proofs.semidefinite.units import power_of_two


@dataclass(frozen=True)
class Sizes:
    """Sizes of points, gradients, function values, and of the measure that is asked for."""

    point: float
    gradient: float
    value: float
    goal: float


def sizes_of(function_class: FunctionClass, measure: Measure, radius: Any) -> Sizes:
    """R is the radius of the start; or, over L, what the class lets clients' gradients differ by at least, or noise be, where that is more.

    Without a minimiser the radius is a difference of function values, L R^2.
    """
    steep = power_of_two(float(function_class.L))
    start = float(radius) if measure.of_minimiser else (float(radius) / steep) ** 0.5
    apart = [v for v in (function_class.zeta, function_class.dissimilarity) if v is not None]
    apart += [] if function_class.bgd is None else [function_class.bgd[0]]
    slope = max(min((float(v) for v in apart), default=0.0), float(function_class.sigma or 0))
    point = power_of_two(max(start, slope / steep))
    gradient, value = steep * point, steep * point**2
    goals = {"squared_distance": point**2, "gap": value}
    return Sizes(point, gradient, value, goals.get(measure.name, gradient**2))

"""Classes of functions that worst cases are taken over, and what a worst-case program of any kind asks of an algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Algorithm, require_options
from fedtheory.core.errors import CannotTrace, InvalidInput, require
from fedtheory.proofs.measures import Measure, Quantities, find_measure
from fedtheory.proofs.spectrum import require_traceable, why_not_traceable


@dataclass(frozen=True)
class FunctionClass:
    """What is assumed of the clients' functions.

    Parameters
    ----------
    L : number
        Every f_i is L-smooth.
    mu : number
        mu > 0: strongly convex; 0: convex; -L: smooth only, not necessarily convex.
    zeta : number, optional
        mean_i ||grad f_i(x*)||^2 <= zeta^2 at the minimiser x* of the average (convex classes).
    bgd : (G, D), optional
        mean_i ||grad f_i(x)||^2 <= G^2 + D^2 ||grad f(x)||^2, imposed at the server's models and at x*, where the measure speaks of it.
    dissimilarity : number, optional
        ||grad f_i(x) - grad f_j(x)|| <= G, imposed at the same points (FedPD, A4).
    similarity : number, optional
        delta: every f_i - f is delta-smooth (Hessians within delta of the average's).
    sigma : number, optional
        Stochastic gradients are unbiased with E ||h_i(x) - grad f_i(x)||^2 <= sigma^2, draws independent of each other.
    composite : bool
        The objective is f + h with any closed convex h that is shared by the clients and met through its proximal steps.
    indicator : bool
        h is the indicator of a closed convex set, its proximal step the projection (with ``composite``).

    ``similarity`` and ``sigma`` are assumptions of the program for every number of clients (`fedtheory.proofs.every_n`) only.
    Conditions imposed at some points only are necessary, not sufficient, for the class: the value is then an upper bound of the worst case
    (`relaxations`).

    Examples
    --------
    >>> print(FunctionClass(L=1.0, mu=0.1, zeta=1.0))
    1.0-smooth, 0.1-strongly convex, zeta=1.0
    """

    L: float
    mu: float = 0.0
    zeta: float | None = None
    bgd: tuple[float, float] | None = None
    dissimilarity: float | None = None
    composite: bool = False
    indicator: bool = False
    similarity: float | None = None
    sigma: float | None = None

    def __post_init__(self) -> None:
        """Refuse classes without interpolation conditions, and constants that are no finite numbers."""
        for name in ("L", "mu", "zeta", "dissimilarity", "similarity", "sigma"):
            _require_finite(name, getattr(self, name))
        if self.bgd is not None:
            self._require_pair(self.bgd)
        for name in ("zeta", "dissimilarity"):
            if getattr(self, name) is not None and not getattr(self, name) >= 0:
                raise InvalidInput(f"{name} must not be negative, got {getattr(self, name)}")
        if not self.L > 0:
            raise InvalidInput(f"L must be positive, got {self.L}")
        if not (0 <= self.mu < self.L or self.mu == -self.L):
            raise InvalidInput(
                f"mu={self.mu} has no interpolation conditions here; use 0 < mu < L (strongly convex), 0 (convex) or -L "
                "(smooth, non-convex)"
            )
        self._require_convexity()
        if self.similarity is not None and not self.similarity > 0:
            raise InvalidInput(f"similarity must be positive, got {self.similarity}")
        if self.sigma is not None and not self.sigma >= 0:
            raise InvalidInput(f"sigma must not be negative, got {self.sigma}")

    @staticmethod
    def _require_pair(bgd: Any) -> None:
        if not isinstance(bgd, tuple | list) or len(bgd) != 2:
            raise InvalidInput(f"bgd is a pair (G, D), got {bgd!r}")
        for name, value in zip(("G", "D"), bgd, strict=True):
            _require_finite(f"{name} of bgd", value)
            if not value >= 0:
                raise InvalidInput(f"{name} of bgd must not be negative, got {value}")

    def _require_convexity(self) -> None:
        """Some assumptions go with others only."""
        if self.zeta is not None and not self.convex:
            raise InvalidInput("zeta speaks of the minimiser x*; it goes with convex classes (mu >= 0)")
        if self.composite and not self.convex:
            raise InvalidInput(
                "composite classes are measured from the minimiser of f + h; they need convex f_i (mu >= 0)"
            )
        if self.indicator and not self.composite:
            raise InvalidInput("indicator says what h is; it goes with composite=True")

    @property
    def convex(self) -> bool:
        """Whether every f_i is convex."""
        return self.mu >= 0

    def relaxations(self, measure: str) -> tuple[str, ...]:
        """Which of its conditions every engine imposes at some points only."""
        if self.bgd is None and self.dissimilarity is None:
            return ()
        where = "the server's models and x*" if find_measure(measure).of_minimiser else "the server's models"
        return (f"dissimilarity of the clients is imposed at {where} only",)

    def declare(self, pep: Any) -> Any:
        """Declare one function of the class in a PEPit problem."""
        functions = require("PEPit.functions", "worst cases")
        if self.mu > 0:
            return pep.declare_function(functions.SmoothStronglyConvexFunction, L=self.L, mu=self.mu)
        if self.mu == 0:
            return pep.declare_function(functions.SmoothConvexFunction, L=self.L)
        return pep.declare_function(functions.SmoothFunction, L=self.L)

    def __str__(self) -> str:
        kind = f"{self.mu}-strongly convex" if self.mu > 0 else "convex" if self.mu == 0 else "smooth non-convex"
        extra = [f"zeta={self.zeta}"] if self.zeta is not None else []
        extra += [f"(G, D)={self.bgd}"] if self.bgd is not None else []
        extra += [f"G={self.dissimilarity}"] if self.dissimilarity is not None else []
        extra += [f"delta={self.similarity}"] if self.similarity is not None else []
        extra += [f"sigma={self.sigma}"] if self.sigma is not None else []
        h = "the indicator of a convex set" if self.indicator else "a convex h"
        extra += [f"plus {h}"] if self.composite else []
        return ", ".join([f"{self.L}-smooth", kind, *extra])


def _require_finite(name: str, value: Any) -> None:
    """Refuse a constant that is no finite number; None says that nothing is assumed."""
    if value is None or getattr(value, "finite", False):  # rational functions of parameters say so themselves
        return
    try:
        known = not isinstance(value, str | bool) and math.isfinite(value)
    except (TypeError, OverflowError):
        known = False
    if not known:
        raise InvalidInput(f"{name} must be a finite number, got {value!r}")


def require_method_and_class(algorithm: Any, function_class: Any) -> None:
    """Refuse what is no method with its options, and what is no class of functions.

    Raises
    ------
    InvalidInput
        They are exchanged, or one is something else.
    """
    require_options(algorithm)
    if not hasattr(algorithm, "round") or not isinstance(function_class, FunctionClass):
        kinds = f"{type(algorithm).__name__} and {type(function_class).__name__}"
        raise InvalidInput(f"expected a method and a FunctionClass, in this order; got {kinds}")


def require_question(function_class: FunctionClass, measure: Measure, rounds: int, radius: Any) -> None:
    """Refuse a measure that says nothing over a class, and numbers that make no program.

    Raises
    ------
    InvalidInput
        With what goes together instead.
    """
    _require_finite("radius", radius)
    if rounds < 1 or not radius > 0:
        raise InvalidInput(f"expected rounds >= 1 and radius > 0; got rounds={rounds}, radius={radius}")
    if measure.of_minimiser and not function_class.convex:
        raise InvalidInput(f"{measure.name!r} speaks of the minimiser x*; it goes with convex classes (mu >= 0)")
    if not measure.of_minimiser and function_class.composite:
        raise InvalidInput(
            f"{measure.name!r} is the gradient of f alone; composite classes go with 'squared_distance' and 'gap'"
        )


def state_conditions(
    function_class: FunctionClass,
    measure: Measure,
    quantities: Quantities,
    x0: Any,
    models: Sequence[Any],
    radius: Any,
    lowest: Any = None,
) -> list[tuple[str, Any]]:
    """Conditions on the start and on the class beyond interpolation, as forms ``<= 0`` by name; every engine states these.

    Parameters
    ----------
    x0 : the start
    models : the server's models of all courses, at which conditions on gradients are imposed, as they are at x* where the measure speaks of it.
    lowest : a value that f is nowhere below, for measures that do not speak of x*.
    """
    found = []
    if measure.of_minimiser:
        found.append(("radius", quantities.square(x0) - radius**2))
        if function_class.zeta is not None:
            found.append(
                ("zeta", quantities.square(quantities.gradients(quantities.minimiser)) - function_class.zeta**2)
            )
    else:
        found.append(("radius", quantities.value(x0) - lowest - radius))
        for x in models:  # f is L-smooth, and nowhere below its lowest value
            slope = quantities.square(quantities.mean(quantities.gradients(x)))
            found.append(("lower bound", lowest - quantities.value(x) + slope / (2 * function_class.L)))
    if function_class.bgd is None and function_class.dissimilarity is None:
        return found
    points = [quantities.minimiser, *models] if measure.of_minimiser else models
    gradients = [quantities.gradients(x) for x in points]
    for g in {id(g): g for g in gradients}.values():
        if function_class.bgd is not None:
            big_g, big_d = function_class.bgd
            found.append(("bgd", quantities.square(g) - quantities.square(quantities.mean(g)) * big_d**2 - big_g**2))
        if function_class.dissimilarity is not None:
            found += [("dissimilarity", form - function_class.dissimilarity**2) for form in quantities.squares_apart(g)]
    return found


def why_no_worst_case(algorithm: Algorithm) -> str | None:
    """Why this engine cannot run the algorithm (it decides on values, or says so in ``no_worst_case``), or None."""
    reason = getattr(algorithm, "no_worst_case", None)
    return (None if _asks_oracles(algorithm) else why_not_traceable(algorithm)) or (
        None if reason is None else f"{type(algorithm).__name__}: {reason}"
    )


def _asks_oracles(algorithm: Algorithm) -> bool:
    """Whether all that needs numbers in a method is drawn by parts that ask a class of functions for it, as `fedtheory.local.AnyUnbiased` does."""
    parts = [part for part in getattr(algorithm, "solvers", {}).values() if part.numeric_only is not None]
    asking = bool(parts) and all(getattr(part, "asks_oracles", False) for part in parts)
    return asking and (why_not_traceable(algorithm) or "").endswith(str(parts[0].numeric_only))


def require_worst_case(algorithm: Algorithm, *, noise: bool = False) -> None:
    """Refuse, by name, an algorithm that no worst-case program can be stated for.

    With ``noise`` local solvers may draw samples as long as all they use is gradients plus independent noise.

    Raises
    ------
    CannotTrace
        It decides on values, or treats coordinates apart.
    """
    draws = (
        getattr(getattr(algorithm, "local", None), "only_noise", False)
        and getattr(algorithm, "numeric_only", None) is None
    )
    if not (noise and draws) and not _asks_oracles(algorithm):
        require_traceable(algorithm, "worst-case")
    reason = getattr(algorithm, "no_worst_case", None)
    if reason is not None:
        raise CannotTrace(
            f"the worst-case engine does not run this method, because {type(algorithm).__name__}: {reason}; check it numerically or in symbols"
        )

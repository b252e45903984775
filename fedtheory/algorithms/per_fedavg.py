"""Per-FedAvg (Fallah, Mokhtari and Ozdaglar 2020; FedSLR, Section 6): a model from which one gradient step makes it personal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.changed_gradients import ChangedGradients, Oracle
from fedtheory.algorithms.ditto import PersonalState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import BATCH, STEPPING, make_local_steps
from fedtheory.algorithms.options import BuiltField
from fedtheory.core.arrays import Array, Scalar, average, numbers_of, rows_times, scatter, spread
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.hyperparameters import Count, plain
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, need
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem

Curvature = Literal["first-order", "difference", "hessian"]
#: independent minibatches a step: for the inner step, the outer gradient, and the curvature
DRAWS = {"first-order": 2, "difference": 3, "hessian": 2}
#: 1/delta up to which a worst case is attempted
CLOSEST = 100


@dataclass(frozen=True)
class PerFedAvg(Method):
    """FedAvg on the clients' objectives after one own step,  F_i(x) = f_i(x - alpha grad f_i(x)).

    A local step is  x <- x - lr (I - alpha H_i(x)) u,  u = g_i(x - alpha g_i(x)),  with H_i the Hessian of f_i, in three forms:
    ``"first-order"`` (FO) drops H_i, so that the step is x - lr u;
    ``"difference"`` (HF) takes (g_i(x + delta u) - g_i(x - delta u)) / (2 delta) for H_i u;
    ``"hessian"`` takes the problem's own Hessians, which it gives for full gradients only.
    With minibatches the two or three gradients come from independent samples (D, D', D'' in the paper): ``batch`` of the local
    solver is their number together.

    The personal model of client i is x - alpha grad f_i(x), with a full gradient. The clients of a round adapt the server's new model;
    the others keep what they have (`adapt` gives it for everybody). alpha = 0 is FedAvg.

    Fixed points of HF and of the exact form are those of FedAvg on F_i, of FO on the fields u; none is x* in general.

    Parameters
    ----------
    local : GradientSteps or StochasticSteps
    alpha : number, array ``(*batch, 1, 1)`` or symbol
        Size of the own step, not negative.
    curvature : "first-order", "difference" or "hessian"
    inverse_delta : int
        1/delta of the difference that stands for a Hessian; a whole number, so that exact arithmetic stays exact.

    Examples
    --------
    >>> trace = run(PerFedAvg(GradientSteps(1, 0.5), alpha=0.1), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0])
    True
    """

    family = "personalised"

    local: LocalSolver
    alpha: Scalar
    curvature: Curvature = "difference"
    inverse_delta: Count = 10_000

    def __post_init__(self) -> None:
        """Refuse settings outside the definition."""
        super().__post_init__()
        if self.curvature == "hessian" and getattr(self.local, "batch", None) is not None:
            raise NotAvailable(
                "problems give Hessians of all samples, not of minibatches; use curvature='difference' with a stochastic solver"
            )
        steps = numbers_of(plain(self, "alpha"))
        if steps is not None and not np.all(steps >= 0):
            raise InvalidInput(f"alpha, the size of the own step, must not be negative, got {self.alpha}")

    @property
    def no_worst_case(self) -> str | None:
        """Hessians are not there, and differences over a small delta are seen to fail in the solvers (1/delta = 10 is solved)."""
        if self.curvature == "hessian":
            return "it needs Hessians, which a class of functions does not give"
        if self.curvature == "difference" and self.inverse_delta > CLOSEST:
            return f"differences over delta = 1/{self.inverse_delta} leave the semidefinite program ill-conditioned"
        return None

    def init(self, problem: Problem, x0: Array) -> PersonalState:
        return PersonalState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: PersonalState, clients: Clients | None, key: Key) -> PersonalState:
        f = problem.take(clients)
        x_i, _ = self.local(Subproblem(self._ahead(f), clients=clients), state.x, key, None)
        x = average(x_i, clients)
        return PersonalState(x, scatter(state.personal, clients, self.adapt(f, x)))

    def adapt(self, problem: Problem, x: Array) -> Array:
        """Return x - alpha grad f_i(x) for all clients of the problem: ``(..., 1, d) -> (..., n, d)``."""
        return x - self.alpha * problem.grad(x)

    def _ahead(self, f: Problem) -> Any:
        """Show the client's problem as F_i."""

        def first_order(x: Array, inner: Oracle, outer: Oracle) -> Array:
            return outer(x - self.alpha * inner(x))

        def difference(x: Array, inner: Oracle, outer: Oracle, curved: Oracle) -> Array:
            u, k = first_order(x, inner, outer), self.inverse_delta
            return u - self.alpha * ((curved(x + u / k) - curved(x - u / k)) * k / 2)

        def hessian(x: Array, inner: Oracle, outer: Oracle) -> Array:
            u = first_order(x, inner, outer)
            return u - self.alpha * rows_times(u, need(f, "hess", "Per-FedAvg with curvature='hessian'")(x))

        forms: dict[Curvature, Any] = {"first-order": first_order, "difference": difference, "hessian": hessian}
        return ChangedGradients(f, forms[self.curvature], DRAWS[self.curvature])


EACH = replace(BATCH, help="Samples in each independent minibatch of a local step [default: full gradients].")


def _steps(curvature: Curvature) -> BuiltField:
    """Local steps whose ``batch`` is the size of each of the independent minibatches."""

    def build(batch: int | None, **stepping: Any) -> LocalSolver:
        return make_local_steps(batch=None if batch is None else DRAWS[curvature] * batch, **stepping)

    return BuiltField((*STEPPING, EACH), build)


OWN_STEP = {"alpha": {"default": 0.01, "called": "inner_lr"}}

LISTED = (
    listing(
        "per-fedavg-fo",
        PerFedAvg,
        "Fallah, Mokhtari and Ozdaglar 2020, Algorithm 1, first-order; FedSLR, Section 6",
        local=_steps("first-order"),
        curvature="first-order",
        inverse_delta=PerFedAvg.inverse_delta,  # which this form does not use
        changes=OWN_STEP,
    ),
    listing(
        "per-fedavg-hf",
        PerFedAvg,
        "Fallah, Mokhtari and Ozdaglar 2020, Algorithm 1, Hessian-free; FedSLR, Section 6",
        local=_steps("difference"),
        curvature="difference",
        changes=OWN_STEP,
    ),
)

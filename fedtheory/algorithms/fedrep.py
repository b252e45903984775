"""Models of which clients share a part: FedRep (Collins et al. 2021) and LG-FedAvg (Liang et al. 2020); FedSLR, Section 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Method, State
from fedtheory.algorithms.changed_gradients import restrict_gradients
from fedtheory.algorithms.ditto import PERSONAL_WORK
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.core.arrays import Array, average, choose, gather, is_array, scatter, spread, to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.layers import layer_mask
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, need
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem

ModelPart = Any  # names of layers, or a boolean array (d,)


@dataclass(frozen=True, slots=True, eq=False)
class PartlySharedState:
    """Server model and the clients' models."""

    x: Array  # (..., 1, d)  server model; coordinates that are not shared stay at the start
    personal: Array  # (..., n, d)  shared coordinates of x, own ones of each client
    sent: int  # number of shared coordinates, what goes up and down


def find_head(problem: Problem) -> NDArray[np.bool_]:
    """Coordinates of the last layer, the last matrix of ``problem.layers`` and what follows it: ``(d,)``.

    Where there are no layers, or that is the whole model, it is the last half of the coordinates (d // 2 of them).
    """
    layers = getattr(problem, "layers", None) or ()
    matrices = [k for k, layer in enumerate(layers) if len(layer.shape) > 1]
    if matrices and matrices[-1] > 0:
        return layer_mask(layers, [layer.name for layer in layers[matrices[-1] :]])
    return np.arange(problem.d) >= problem.d - problem.d // 2


def find_coordinates(problem: Problem, part: ModelPart) -> NDArray[np.bool_]:
    """Coordinates of a part of the model, given by the names of its layers or as a boolean array: ``(d,)``.

    Raises
    ------
    InvalidInput
        The array does not fit, or a name is not a layer's.
    NotAvailable
        Names are given, and the problem has no layers.
    """
    if not is_array(part):
        return layer_mask(need(problem, "layers", "naming a part of the model"), part)
    mask = to_numpy(part)
    if mask.shape != (problem.d,) or mask.dtype != bool:
        raise InvalidInput(
            f"a part of the model is given as {mask.dtype} of shape {mask.shape}; expected names of layers or a boolean array "
            f"of shape ({problem.d},)"
        )
    return mask


class CoordinateMethod(Method):
    """What is common to methods that treat coordinates apart and send only some: as many as their states say in ``sent``."""

    family = "personalised"
    no_worst_case: ClassVar[str] = "it treats coordinates apart, and a worst case knows a point only as a whole"

    def traffic(self, key: Key, state: State) -> tuple[float, float]:
        part = state.sent / state.x.shape[-1]
        return part, part


@dataclass(frozen=True)
class FedRep(CoordinateMethod):
    """Clients share a body and keep heads of their own; each trains its head first, then the body.

    With x = (body, head): head_i <- head_i - lr grad_head f_i(body^r, head_i) from its last head, the steps of ``head``; then
    body_i <- body_i - lr grad_body f_i(body_i, head_i) from body^r, the steps of ``body``; body^{r+1} = mean_i body_i.
    With samples the two phases draw independently.

    Everything shared is FedAvg with ``body``, nothing shared local training with ``head``. Fixed points with one step each: stationary
    points of mean_i f_i(body, head_i) over the body and all heads.

    Parameters
    ----------
    head, body : LocalSolver
    personal : names of layers, or boolean array ``(d,)``, optional
        The head; by default the last layer (see the function `find_head`).

    Examples
    --------
    >>> head = np.arange(5) < 2  # coordinates that stay with the clients
    >>> state = run(FedRep(GradientSteps(2, 0.5), GradientSteps(2, 0.5), head), problem, x0, 50).state
    >>> print(np.ptp(state.personal, axis=-2) == 0)  # the others are common
    [False False  True  True  True]
    """

    head: LocalSolver
    body: LocalSolver
    personal: ModelPart = None

    def _shared(self, problem: Problem) -> NDArray[np.bool_]:
        return ~(find_head(problem) if self.personal is None else find_coordinates(problem, self.personal))

    def init(self, problem: Problem, x0: Array) -> PartlySharedState:
        return PartlySharedState(x0, spread(x0, problem.n), int(self._shared(problem).sum()))

    def round(self, problem: Problem, state: PartlySharedState, clients: Clients | None, key: Key) -> PartlySharedState:
        shared, f = self._shared(problem), problem.take(clients)
        start = choose(shared, state.x, gather(state.personal, clients))
        headed, _ = self.head(
            Subproblem(restrict_gradients(f, ~shared), clients=clients), start, key.apart("head"), None
        )
        y, _ = self.body(Subproblem(restrict_gradients(f, shared), clients=clients), headed, key, None)
        return _share(state, shared, y, clients)


@dataclass(frozen=True)
class LgFedAvg(CoordinateMethod):
    """Clients share the last layer and keep representations of their own; both are trained at once.

    K steps on f_i in all coordinates, from the server's shared and the client's own ones; the server averages the shared ones.
    With the opposite part this is FedPer (Arivazhagan et al. 2019), and FedSLR's public code for FedRep.

    Everything shared is FedAvg, nothing shared local training. Fixed points with one step: stationary points of
    mean_i f_i(own_i, shared) over the shared part and all own ones.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps` or `StochasticSteps`.
    personal : names of layers, or boolean array ``(d,)``, optional
        The representation; by default all but the last layer (see `find_head`).

    Examples
    --------
    >>> mine = np.arange(5) < 2  # coordinates that stay with the clients
    >>> state = run(LgFedAvg(GradientSteps(2, 0.5), mine), problem, x0, 50).state
    >>> print(np.ptp(state.personal, axis=-2) == 0)  # the others are common
    [False False  True  True  True]
    """

    local: LocalSolver
    personal: ModelPart = None

    def _shared(self, problem: Problem) -> NDArray[np.bool_]:
        return find_head(problem) if self.personal is None else ~find_coordinates(problem, self.personal)

    def init(self, problem: Problem, x0: Array) -> PartlySharedState:
        return PartlySharedState(x0, spread(x0, problem.n), int(self._shared(problem).sum()))

    def round(self, problem: Problem, state: PartlySharedState, clients: Clients | None, key: Key) -> PartlySharedState:
        shared = self._shared(problem)
        start = choose(shared, state.x, gather(state.personal, clients))
        y, _ = self.local(Subproblem(problem.take(clients), clients=clients), start, key, None)
        return _share(state, shared, y, clients)


def _share(state: PartlySharedState, shared: NDArray[np.bool_], y: Array, clients: Clients | None) -> PartlySharedState:
    """Average the shared coordinates of the clients' answers; the others stay with the clients."""
    x = choose(shared, average(y, clients), state.x)
    return PartlySharedState(x, choose(shared, x, scatter(state.personal, clients, y)), state.sent)


def _named(personal_layers: str) -> tuple[str, ...] | None:
    return tuple(name.strip() for name in personal_layers.split("+")) if personal_layers else None


LAYERS = Option("personal_layers", str, "", "Layers that clients keep, joined by + [default: the method's].")
PERSONAL_PART = BuiltField((LAYERS,), _named)

LISTED = (
    listing(
        "fedrep",
        FedRep,
        "Collins, Hassani, Mokhtari and Shakkottai 2021, Algorithm 1; FedSLR, Section 6",
        head=PERSONAL_WORK,
        personal=PERSONAL_PART,
    ),
    listing("lg-fedavg", LgFedAvg, "Liang et al. 2020, Algorithm 1; FedSLR, Section 6", personal=PERSONAL_PART),
)

"""What a problem is, and the certified constants of an instance.

A problem is n clients' objectives f_1, ..., f_n on R^d; the objective is their average f, by weights where clients have them
(`fedtheory.core.weighted`). It must give `value` and
`grad`; whatever else it can give (a proximal step, stochastic gradients, Hessians, an exact solution, a CVXPY
model, constants) it gives by having the method, and asking for what is not there is an error that says what is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from fedtheory.core.arrays import Array, average, is_array, like, mean_of_clients, namespace, to_numpy
from fedtheory.core.client_weights import by_weights_of_argument, weights_of
from fedtheory.core.errors import NotAvailable, tell_kind
from fedtheory.core.participation import Clients
from fedtheory.core.sample_rows import SparseRows
from fedtheory.core.shapes import ClientPoints, ClientValues, Points, RunValues, ServerPoint, SquareMatrices


@runtime_checkable
class Problem(Protocol):
    """n clients' objectives on R^d.

    Points are ``(..., n, d)``, one a client, or ``(..., 1, d)`` for a common point. Free axes in front are runs of a
    batch.
    """

    @property
    def name(self) -> str:
        """Short name of the family."""
        ...

    @property
    def n(self) -> int:
        """Number of clients."""
        ...

    @property
    def d(self) -> int:
        """Number of coordinates."""
        ...

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        ...

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        ...

    def take(self, clients: Clients | None) -> Problem:
        """The same problem restricted to the clients that take part (all for None)."""
        ...


#: what a problem may offer beyond the protocol, and what it is
ABILITIES = {
    "prox": "proximal step argmin_x f_i(x) + ||x - v_i||^2 / (2 step)",
    "hess": "Hessians of f_i at x_i",
    "average_hess": "the average's Hessian at a common point, where it is had at less cost than the clients': (..., 1, d) -> (..., d, d)",
    "hess_times": "Hessians of f_i at x_i times vectors v_i: (x, v), for dimensions in which Hessians have no room",
    "sample_grad": "gradients of minibatches of a client's samples",
    "n_samples": "number of samples of each client",
    "variants": "how many samples in a row are variants of one datum (augmentation): a pass through the data takes one of them at random",
    "solution": "the minimiser in closed form",
    "bracket": "a minimiser, a bound of its gap, and one of its distance from the unique minimiser, checked in exact arithmetic",
    "lower_bound": "the infimum of the objective, or a number below it",
    "to_cvxpy": "the objective as a CVXPY expression",
    "certify": "certified constants",
    "certify_average": "certified L_avg and mu_avg of sum_i p_i f_i for weights p_i, where they are sharper than sums of the clients' L_i and mu_i",
    "slice": "the same problem restricted to a range of clients",
    "conjugate": "convex conjugates f_i^*(y_i): (..., n, d) -> (..., n), infinity outside their domains",
    "conjugate_grad": "gradients of the conjugates, argmax_x <x, y_i> - f_i(x)",
    "ridged": "the same problem with (weight/2)||x||^2 added to every client; a negative weight takes ridge away",
    "regulariser": "a shared convex regulariser h, a `fedtheory.core.regularisers.Regulariser`; the objective is f + h",
    "layers": "how the coordinates are arranged in layers, a tuple of `fedtheory.core.layers.Layer`",
    "server": "the server's own data, an objective with n = 1; --server on the command line",
    "linear_model": "f_i is a sum of functions of <row, x>, plus a ridge: local steps in sample space",
    "test_accuracy": "share of a test set that models get right: (..., k, d) -> (..., k); --test own on the command line",
    "personal_accuracy": "share of its own test samples that each client's model gets right: (..., n, d) -> (..., n)"
    "; --tests-a-client on the command line",
    "client_weights": "weights p_i, positive numbers with the sum 1; f is sum_i p_i f_i (`fedtheory.core.weighted.Weighted`)",
    "plan": "what it decides by measurement (`decisions`, `adopt`); a checkpoint keeps it, so that a resumed run decides alike",
}


def can(problem: Any, ability: str) -> bool:
    """Whether the problem has the ability (a name in `ABILITIES`)."""
    return getattr(problem, ability, None) is not None


def need(problem: Any, ability: str, purpose: str) -> Any:
    """Return the problem's ability, or raise an error that says what the problem can give.

    Raises
    ------
    NotAvailable
        The problem does not have it.
    """
    found = getattr(problem, ability, None)
    if found is None:
        able = [name for name in ABILITIES if can(problem, name)]
        raise NotAvailable(
            f"{purpose} needs {ability!r} ({ABILITIES.get(ability, 'no description')}), which the problem "
            f"{getattr(problem, 'name', type(problem).__name__)!r} does not give; "
            f"it gives {', '.join(['value', 'grad', *able])}"
        )
    return found


@by_weights_of_argument(0)
def objective(problem: Problem, x: ServerPoint) -> RunValues:
    """f(x), plus the shared regulariser where there is one, at a common point."""
    smooth = mean_of_clients(problem.value(x))
    regulariser = getattr(problem, "regulariser", None)
    return smooth if regulariser is None else smooth + regulariser.value(x)[..., 0]


@by_weights_of_argument(0)
def gradient(problem: Problem, x: ServerPoint) -> ServerPoint:
    """Gradient of f, without the regulariser, at a common point."""
    return average(problem.grad(x))


def average_hessian(problem: Any, x: ServerPoint) -> SquareMatrices:
    """Hessian of f at a common point: ``(..., 1, d) -> (..., d, d)``."""
    if can(problem, "average_hess"):
        return problem.average_hess(x)
    found = problem.hess(x)  # of all clients alike where it has a client axis of length one
    weights = weights_of(problem)
    if weights is not None and found.shape[-3] > 1:
        return namespace(found).sum(found * like(np.array([float(w) for w in weights]), found)[:, None, None], axis=-3)
    return namespace(found).mean(found, axis=-3)


@dataclass(frozen=True, eq=False)
class Pooled:
    """The average of the clients' objectives as one objective: a server that knows the population (SAFARI, Assumption 4, without noise).

    Parameters
    ----------
    clients : Problem
        f_1, ..., f_n.

    Examples
    --------
    >>> print(Pooled(problem).n)
    1
    >>> x = np.ones((1, 5))
    >>> print(np.allclose(Pooled(problem).grad(x), gradient(problem, x)))
    True
    """

    clients: Problem

    @property
    def name(self) -> str:
        """Name of the clients' family."""
        return f"average of {self.clients.name}"

    @property
    def n(self) -> int:
        """One."""
        return 1

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return self.clients.d

    def value(self, x: ServerPoint) -> ClientValues:
        """f(x), the value of the one client that this is."""
        return average(self.clients.value(x)[..., None])[..., 0]

    def grad(self, x: ServerPoint) -> ServerPoint:
        """Gradient of f."""
        return gradient(self.clients, x)

    def take(self, clients: Clients | None) -> Pooled:
        """There is no one to leave out."""
        return self


@dataclass(frozen=True)
class Certified:
    """A constant of an instance and how it was established.

    ``value`` is a number, or an array with the batch axes of the instance; ``how`` says what makes it valid.

    Examples
    --------
    >>> found = constant(problem, "L")
    >>> print(f"{found.value:.6f}: {found.how}")
    1.000000: eigenvalues of A_i, widened by the eigensolver's backward error, largest client
    """

    value: Any
    how: str

    def __float__(self) -> float:
        """Return the value as a number; the worst one of a batch is not chosen silently."""
        return float(self.value)


#: the names constants go by, and what they mean
CONSTANTS: Mapping[str, str] = {
    "L": "every f_i is L-smooth: ||grad f_i(x) - grad f_i(y)|| <= L ||x - y||",
    "L_i": "smoothness constant of each client",
    "L_avg": "the average f is L_avg-smooth",
    "mu": "every f_i is mu-strongly convex (negative: mu-weakly convex)",
    "mu_i": "strong convexity constant of each client",
    "mu_avg": "the average f is mu_avg-strongly convex",
    "G": "pairwise gradient dissimilarity: ||grad f_i(x) - grad f_j(x)|| <= G for all x (FedPD, A4)",
    "G_centred": "||grad f_i(x) - grad f(x)|| <= G_centred for all x and i (FedPD, A4, second form)",
    "bgd": "(G, D)-bounded gradient dissimilarity: mean_i ||grad f_i(x)||^2 <= G^2 + D^2 ||grad f(x)||^2 (FedPD, A3)",
    "B": "bounded gradients: ||grad f_i(x)|| <= B for all x and i (FedSLR, A2)",
    "zeta": "heterogeneity at the solution: zeta^2 = mean_i ||grad f_i(x*)||^2",
    "sigma": "gradient noise: E ||h_i(x) - grad f_i(x)||^2 <= sigma^2",
    "L_sample": "every sample loss is L_sample-smooth",
}


def constants(problem: Any) -> Mapping[str, Certified]:
    """All constants the instance can certify, by name (the names are in `CONSTANTS`).

    Raises
    ------
    NotAvailable
        What is asked is no problem, or one that certifies none.
    """
    if isinstance(problem, type) or not hasattr(problem, "grad"):
        raise NotAvailable(f"constants are asked of a problem, which comes first; got {tell_kind(problem)}")
    certify: Callable[[], Mapping[str, Certified]] = need(problem, "certify", "asking for constants")
    return certify()


def constant(problem: Any, name: str) -> Certified:
    """One certified constant of an instance.

    Raises
    ------
    NotAvailable
        The instance does not have it; the message lists those it has.
    """
    found = constants(problem)
    if name not in found:
        meaning = CONSTANTS.get(name)
        described = f" ({meaning})" if meaning else f"; known names are {', '.join(CONSTANTS)}"
        raise NotAvailable(
            f"the instance {problem.name!r} has no certified constant {name!r}{described}; "
            f"it has {', '.join(found) or 'none'}"
        )
    return found[name]


@by_weights_of_argument(0)
def heterogeneity_at(problem: Problem, x_star: ServerPoint) -> Certified:
    """Root mean square of the clients' gradients at a given solution (the constant zeta)."""
    g = to_numpy(problem.grad(x_star))
    mean = mean_of_clients(np.sum(g * g, axis=-1))
    return Certified(np.sqrt(mean), "evaluated at the given solution")


def move_to_library(problem: Any, reference: Array) -> Any:
    """Return the problem with its arrays, also those of problems it holds, moved to a reference array's library, device and dtype."""
    moved = {}
    for field in dataclasses.fields(problem):
        current = getattr(problem, field.name)
        if is_array(current):
            moved[field.name] = like(to_numpy(current), reference)
        elif isinstance(current, SparseRows):
            moved[field.name] = current.moved(reference)
        elif dataclasses.is_dataclass(current) and not isinstance(current, type):  # a problem inside it, a regulariser
            moved[field.name] = move_to_library(current, reference)
    return dataclasses.replace(problem, **moved)

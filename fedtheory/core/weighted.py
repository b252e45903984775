"""Problems whose clients have weights: f = sum_i p_i f_i."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import to_numpy
from fedtheory.core.client_weights import ClientWeights, check_weights, read_weights, weights_here
from fedtheory.core.errors import InvalidInput, tell_kind
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified, Problem, can, need
from fedtheory.core.shapes import ClientPoints, ClientValues, Points
from fedtheory.core.wrapped import Wrapped

#: constants that say something of each client, and of no average
_OF_CLIENTS = ("L", "L_i", "mu", "mu_i", "G", "B", "sigma", "L_sample")
#: oracles of clients, whose answers a round averages
_ORACLES = ("prox", "sample_grad", "hess_times", "slice")


@dataclass(frozen=True, eq=False)
class Weighted(Wrapped):
    """The clients of ``inner`` with weights: the objective is sum_i p_i f_i (plus h where there is a shared regulariser).

    In its runs every average over clients is by the weights: the server's, those of metrics, gradients and values, and those of the certified
    optimum (`fedtheory.core.client_weights` says what is meant in a round of a part of the clients). Clients' own work stays what it is: f_i is not
    scaled, nor are L, mu and the steps that come from them. Constants of the average are those of sum_i p_i f_i.

    Outside of a run, of metrics and of ground truth its oracles refuse to answer, so that nobody averages them equally by mistake; those of
    ``inner`` do.

    Parameters
    ----------
    inner : Problem
    client_weights : n positive numbers with the sum 1
        Floats, or fractions.

    Examples
    --------
    >>> x = np.ones((1, 5))
    >>> unequal = Weighted(problem, [0.55] + 9 * [0.05])
    >>> by_hand = 0.55 * problem.value(x)[0] + 0.05 * problem.value(x)[1:].sum()
    >>> print(np.allclose(objective(unequal, x), by_hand))
    True
    """

    client_weights: Sequence[float | Fraction]

    withheld: ClassVar[frozenset[str]] = frozenset(
        {"solution", "bracket", "lower_bound", "to_cvxpy", "average_hess", "bounded_dissimilarity", "certify_average"}
    )

    def __post_init__(self) -> None:
        """Refuse weights that are not n positive numbers with the sum 1, and a problem that has some."""
        if not hasattr(self.inner, "grad"):
            raise InvalidInput(
                f"expected a problem and its clients' weights, in this order; got {tell_kind(self.inner)} first"
            )
        if getattr(self.inner, "client_weights", None) is not None:
            raise InvalidInput(f"the problem {self.inner.name!r} has weights already; give the problem without them")
        object.__setattr__(self, "client_weights", check_weights(self.client_weights, self.inner.n))

    @property
    def name(self) -> str:
        """Name of the clients' family."""
        return f"{self.inner.name}, clients weighted"

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        self._require_weighing("value")
        values: ClientValues = self.inner.value(x)
        return values

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        self._require_weighing("grad")
        gradients: ClientPoints = self.inner.grad(x)
        return gradients

    def take(self, clients: Clients | None) -> Any:
        """The clients that take part, with no weights of their own: those of the averages are kept where these are computed."""
        self._require_weighing("take")
        return self if clients is None else self.inner.take(clients)

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        return partial(self._answer, name, found) if name in _ORACLES and found is not None else found

    def _answer(self, name: str, given: Callable[..., Any], *asked: Any) -> Any:
        self._require_weighing(name)
        return given(*asked)

    def _require_weighing(self, asked: str) -> None:
        if weights_here() != self.client_weights:
            raise InvalidInput(
                f"the clients of {self.inner.name!r} have weights, and {asked!r} was asked for where averages are not by these; use run(...), "
                "objective(problem, x) or gradient(problem, x), or ask the clients alone (problem.inner)"
            )

    def changed_slice(self, given: Callable[[int, int], Any], first: int, last: int) -> Any:
        """Some of the clients, without weights."""
        return given(first, last)

    def changed_certify(self, given: Callable[[], Mapping[str, Certified]]) -> dict[str, Certified]:
        """Constants of clients as they are, and L_avg and mu_avg of the weighted sum: the problem's own, or from the clients'."""
        known = given()
        found = {name: known[name] for name in _OF_CLIENTS if name in known}
        if can(self.inner, "certify_average"):
            of_average: dict[str, Certified] = self.inner.certify_average(self._weights)
            return found | of_average
        for average, each, largest, side in (("L_avg", "L_i", "L", np.inf), ("mu_avg", "mu_i", "mu", -np.inf)):
            values = to_numpy(known[each].value) if each in known else np.full(1, np.inf)
            if np.isfinite(values).all():
                summed = sum_towards(self._weights, values, side)
                found[average] = Certified(summed, f"sum_i p_i {each} ({known[each].how})")
            elif largest in known:
                found[average] = Certified(known[largest].value, f"{largest} of every client ({known[largest].how})")
        return found

    @property
    def _weights(self) -> ClientWeights:
        return tuple(self.client_weights)


def sum_towards(weights: ClientWeights, values: NDArray[Any], side: float) -> NDArray[np.float64]:
    """sum_i p_i v_i over the last axis, rounded towards ``side`` (an infinity)."""
    found = np.empty(values.shape[:-1])
    for place in np.ndindex(*found.shape):
        terms = zip(weights, values[place].tolist(), strict=True)
        exact = sum((Fraction(w) * Fraction(v) for w, v in terms), Fraction(0))
        near = float(exact)
        beyond = Fraction(near) > exact if side < 0 else Fraction(near) < exact
        found[place] = np.nextafter(near, side) if beyond else near
    return found


BY_DATA = "data"  #: in the place of weights: by the clients' numbers of samples


def weighted(problem: Any, weights: str | Sequence[float | Fraction] | None) -> Any:
    """Give a problem's clients weights: numbers, their text with commas between, or ``"data"`` (n_i / n); None leaves it as it is.

    Raises
    ------
    InvalidInput
        They are not n positive numbers with the sum 1, or the problem has weights already.
    NotAvailable
        They are to be those of the data, and the problem has no samples.
    """
    if weights is None:
        return problem
    if isinstance(weights, str):
        weights = weights_by_data(problem) if weights.strip() == BY_DATA else read_weights(weights)
    return Weighted(problem, weights)


def weights_by_data(problem: Problem) -> tuple[Fraction, ...]:
    """n_i / n: the clients' shares of all samples.

    Raises
    ------
    NotAvailable
        The problem has no samples.
    """
    sizes = need(problem, "n_samples", "weights by the clients' data")
    counts = [int(k) for k in np.broadcast_to(to_numpy(sizes), (problem.n,))]
    return tuple(Fraction(k, sum(counts)) for k in counts)

"""Weights p_1, ..., p_n of clients: sum_i p_i x_i in the place of the mean, in every average of a run.

A problem with weights (`fedtheory.core.weighted.Weighted`) has f = sum_i p_i f_i. While its rounds are played and its metrics are measured
(`weighing`), `fedtheory.core.arrays.average` means

- over all clients: sum_i p_i x_i;
- over the clients S of a round, drawn without regard to weights: sum_{i in S} p_i x_i / sum_{i in S} p_i (McMahan et al. 2017, Algorithm 1);
- over clients drawn by their weights with replacement (`fedtheory.core.participation.ByWeight`): the mean over the draws (Li et al. 2020,
  On the Convergence of FedAvg on Non-IID Data, Scheme I).

With p_i = k_i/N and everyone in every round this is the method on N clients with equal weights, k_i of them like client i, as long as it draws
nothing. It is *not* the method on the n clients n p_i f_i, whose mean is the same f: there a client's steps are scaled, too.

Equal weights are no weights: the mean is computed as without them, bit for bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import CannotTrace, InvalidInput

P = ParamSpec("P")
R = TypeVar("R")
ClientWeights: TypeAlias = tuple[float | Fraction, ...]
SUM_TOLERANCE = 1e-12  #: how far from 1 the sum of weights may be, by their rounding


class Taking(Protocol):
    """Who takes part in a round (`fedtheory.core.participation.Clients`)."""

    @property
    def n(self) -> int:
        """Number of clients in all."""
        ...

    @property
    def index(self) -> NDArray[np.int64]:
        """Which clients."""
        ...

    @property
    def present(self) -> NDArray[np.bool_] | None:
        """Which of them are there; None for all."""
        ...

    @property
    def times(self) -> NDArray[np.int64] | None:
        """How often each was drawn; None where that was without replacement."""
        ...


def check_weights(weights: Sequence[float | Fraction], n: int) -> ClientWeights:
    """Return weights of n clients, each a plain number.

    Raises
    ------
    InvalidInput
        They are not n positive numbers with the sum 1.
    """
    found: ClientWeights = tuple(w if isinstance(w, Fraction) else float(w) for w in weights)
    shown = ", ".join(f"{float(w):.6g}" for w in found[:8]) + (", ..." if len(found) > 8 else "")
    if len(found) != n:
        raise InvalidInput(f"there are {len(found)} weights ({shown}) and n = {n} clients; give one weight a client")
    wrong = [k for k, w in enumerate(found) if not 0 < w <= 1]
    if wrong:
        raise InvalidInput(
            f"the weight of client {wrong[0]} is {float(found[wrong[0]]):.6g}; weights are positive numbers with the sum 1: "
            "leave out a client that is to have none"
        )
    total = sum((Fraction(w) for w in found), Fraction(0))
    if abs(total - 1) > SUM_TOLERANCE:
        raise InvalidInput(f"the weights {shown} have the sum {float(total):.9g}; divide them by it, so that it is 1")
    return found


def read_weights(text: str) -> tuple[Fraction, ...]:
    """Read weights with commas between, decimal numbers or fractions, exactly: ``.5,.3,.2`` or ``1/2,1/3,1/6``.

    Raises
    ------
    InvalidInput
        One of them is no number.
    """
    found = []
    for part in text.split(","):
        try:
            found.append(Fraction(part.strip()))
        except (ValueError, ZeroDivisionError) as error:
            raise InvalidInput(
                f"the weight {part.strip()!r} is no number; weights are numbers with commas between, such as .5,.3,.2"
            ) from error
    return tuple(found)


def are_equal(weights: ClientWeights) -> bool:
    """Whether all weights are the same number."""
    return all(w == weights[0] for w in weights)


@dataclass(frozen=True)
class _Meaning:
    """What averages mean here: by these weights; in a round of a part of the clients, or elsewhere."""

    weights: ClientWeights
    of_a_part: bool = False


_meaning: ContextVar[_Meaning | None] = ContextVar("fedtheory_meaning_of_averages", default=None)


def weights_of(problem: object) -> ClientWeights | None:
    """The weights of a problem; None where its clients count equally."""
    found: ClientWeights | None = getattr(problem, "client_weights", None)
    return found


def weights_here() -> ClientWeights | None:
    """The weights that averages are by at this moment; None outside of `weighing`."""
    meaning = _meaning.get()
    return None if meaning is None else meaning.weights


def weighing(problem: object) -> AbstractContextManager[None]:
    """Averages over clients are by the weights of this problem; of a problem without, they stay what they are."""
    return weighing_by(weights_of(problem))


@contextmanager
def weighing_by(weights: ClientWeights | None) -> Iterator[None]:
    """Averages over clients are by these weights; None leaves them what they are."""
    if weights is None or weights == weights_here():
        yield
        return
    token = _meaning.set(_Meaning(weights))
    try:
        yield
    finally:
        _meaning.reset(token)


@contextmanager
def playing(clients: Taking | None) -> Iterator[None]:
    """A round of these clients is played: in one of a part of them, an average over all has no stated meaning under weights."""
    meaning = _meaning.get()
    if meaning is None or clients is None:
        yield
        return
    token = _meaning.set(replace(meaning, of_a_part=True))
    try:
        yield
    finally:
        _meaning.reset(token)


def by_weights_of_argument(position: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function, whose argument at this position is a problem (``problem`` by name), compute averages by the problem's weights."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def weighed(*given: P.args, **named: P.kwargs) -> R:
            problem = given[position] if len(given) > position else named.get("problem")
            if weights_of(problem) is None:
                return function(*given, **named)
            with weighing(problem):
                return function(*given, **named)

        return weighed

    return decorate


def require_weights_meant(method: object, weights: ClientWeights | None) -> None:
    """Refuse a method that is stated for clients that count equally (``unweighted`` says why) where they do not.

    Raises
    ------
    InvalidInput
        With the reason.
    """
    reason = getattr(method, "unweighted", "")
    if reason and weights is not None and not are_equal(weights):
        raise InvalidInput(f"{type(method).__name__} is not for clients with weights: {reason}")


def require_equal_weights(what: str) -> None:
    """Refuse ``what`` where clients have weights.

    Raises
    ------
    CannotTrace
        Averages are by weights here.
    """
    if not are_equal(weights_here() or (1,)):
        raise CannotTrace(f"clients have weights here, and {what} cannot be averaged by them")


def shares_of_rows(rows: int, clients: Taking | None, *, exact: bool = False) -> NDArray[Any] | None:
    """What each row counts for in an average over clients, ``(*batch, rows)`` with sums 1; None for the plain mean.

    ``exact``: as they are given, for arrays of objects; else as floats.

    Raises
    ------
    InvalidInput
        There are neither as many rows as clients nor one, or a round of a part of the clients asks for an average over all.
    """
    meaning, times = _meaning.get(), None if clients is None else clients.times
    if times is not None:
        times = _exactly(times) if exact else times
        return np.asarray(times / times.sum(axis=-1, keepdims=True))
    # one row is a quantity of the server, or of one client
    if meaning is None or rows == 1 or are_equal(meaning.weights):
        return None
    weights = _as_array(meaning.weights, exact)
    if clients is None:
        return _of_all(meaning, weights, rows)
    if clients.n != len(weights):
        raise InvalidInput(f"there are {len(weights)} weights, and the round is of n = {clients.n} clients")
    chosen = weights[clients.index]
    if clients.present is not None:
        chosen = chosen * clients.present
    total = chosen.sum(axis=-1, keepdims=True)
    return np.asarray(chosen / np.where(total > 0, total, 1))


def _of_all(meaning: _Meaning, weights: NDArray[Any], rows: int) -> NDArray[Any]:
    if meaning.of_a_part:
        raise InvalidInput(
            "with weights, a round of a part of the clients may average over these alone, and this method's also averages over what all clients "
            "hold (as SCAFFOLD's c): what its source states is for equal weights; let all clients take part, or leave the weights out"
        )
    if rows != len(weights):
        raise InvalidInput(f"an average over {rows} rows has no meaning by the weights of {len(weights)} clients")
    return weights


@functools.lru_cache(maxsize=64)
def _as_array(weights: ClientWeights, exact: bool) -> NDArray[Any]:
    """The weights as they are given, or as floats; the same array each time, so that a device is sent it once."""
    return np.array(weights, dtype=object) if exact else np.array([float(w) for w in weights])


def _exactly(numbers: Any) -> NDArray[Any]:
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(np.asarray(numbers, dtype=object)))

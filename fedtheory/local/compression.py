"""Compressors: what a client sends in the place of a vector.

A compressor is called with the clients' vectors ``(..., m, d)``, their objectives, the round's key and who the clients are. Of the objectives
only `AnyContractive` asks something: over a class of functions, an answer of their oracles. Draws have addresses of their own, a stretch a
client, so that they depend neither on who else takes part nor on samples and coins of the round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import is_array, is_object, like, namespace, squared_norm, to_numpy
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.hyperparameters import Count, Momentum, NotNegative, check_fields, plain
from fedtheory.core.numbers import is_exactly
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ClientPoints

BITS = 32  #: of a float that is sent
ALL_SHARES = 2**60  #: a dimension in which no share below 1 rounds to all coordinates, as 0.9 does in two


def _count_words(bits: int) -> int:
    """How many words of the size of a float so many bits fill."""
    return -(-bits // BITS)


def _share(owner: Any, name: str) -> None:
    """Refuse what is no share of coordinates: one plain number in (0, 1]."""
    value = plain(owner, name)
    if is_array(value) or isinstance(value, str | bool) or not 0 < value <= 1:
        raise InvalidInput(
            f"{name}, the share of coordinates that are sent, must be one number in (0, 1], got {value!r}"
        )


ShareOfCoordinates = Annotated[float, _share]


class Compressor(Protocol):
    """A map C of vectors, random or not.

    It is *unbiased* where E C(v) = v and E ||C(v) - v||^2 <= omega ||v||^2, and *contractive* where E ||C(v) - v||^2 <= (1 - delta) ||v||^2.
    """

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers, or None where it leaves vectors as they are."""
        ...

    def omega(self, d: int) -> float | None:
        """The variance omega of an unbiased one on R^d; None where it is biased."""
        ...

    def delta(self, d: int) -> float | None:
        """The delta of a contractive one on R^d; None where it is none."""
        ...

    def sends(self, d: int) -> float:
        """Vectors of length d that a client sends; a float is a word of 32 bits, and bits fill whole words."""
        ...

    def __call__(self, v: ClientPoints, f: Problem | None, key: Key, clients: Clients | None) -> ClientPoints:
        """C(v), client by client."""
        ...


def count_kept(keep: float, d: int) -> int:
    """Return k, the number of d coordinates that are sent: the share ``keep``, and at least one."""
    return max(1, round(keep * d))


@dataclass(frozen=True)
class TopK:
    """The k coordinates of largest size; of equals, the first. Contractive with delta = k/d.

    Sent are k floats and k positions of ceil(log2 d) bits.

    Parameters
    ----------
    keep : number in (0, 1]
        k/d; with 1 vectors stay as they are.

    Examples
    --------
    >>> print(TopK(0.5)(np.array([[3.0, -4.0, 1.0, 0.5]]), None, Key(0, 0), None))
    [[ 3. -4.  0.  0.]]
    """

    keep: ShareOfCoordinates

    def __post_init__(self) -> None:
        """Refuse a share outside (0, 1]."""
        check_fields(self)

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers, or None."""
        return None if is_exactly(self.keep, 1) else "it ranks coordinates by size"

    def omega(self, d: int) -> float | None:
        """None, but with k = d."""
        return 0.0 if count_kept(self.keep, d) == d else None

    def delta(self, d: int) -> float:
        """k/d."""
        return count_kept(self.keep, d) / d

    def sends(self, d: int) -> float:
        """k floats and k positions; with k = d no positions."""
        k = count_kept(self.keep, d)
        return 1.0 if k == d else (k + _count_words(k * math.ceil(math.log2(d)))) / d

    def __call__(self, v: ClientPoints, f: Problem | None, key: Key, clients: Clients | None) -> ClientPoints:
        """Keep the largest coordinates."""
        k = count_kept(self.keep, v.shape[-1])
        if k == v.shape[-1]:
            return v
        xp = namespace(v)
        rank = xp.argsort(xp.argsort(-xp.abs(v), axis=-1), axis=-1)
        return xp.where(rank < k, v, xp.zeros_like(v))


@dataclass(frozen=True)
class RandK:
    """k coordinates, drawn uniformly, client by client.

    With ``scaled`` they are multiplied by d/k: unbiased, with omega = d/k - 1. Without it is contractive, with delta = k/d.
    Sent are k floats: the receiver draws the same positions.

    Parameters
    ----------
    keep : number in (0, 1]
        k/d; with 1 vectors stay as they are.
    scaled : bool

    Examples
    --------
    >>> sent = RandK(0.5)(np.ones((1, 4)), None, Key(0, 0), None)
    >>> print(sorted(sent[0].tolist()))
    [0.0, 0.0, 2.0, 2.0]
    """

    keep: ShareOfCoordinates
    scaled: bool = True

    def __post_init__(self) -> None:
        """Refuse a share outside (0, 1]."""
        check_fields(self)

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers, or None."""
        return None if is_exactly(self.keep, 1) else "it draws coordinates at random"

    def omega(self, d: int) -> float | None:
        """d/k - 1; None without ``scaled``."""
        k = count_kept(self.keep, d)
        return d / k - 1 if self.scaled or k == d else None

    def delta(self, d: int) -> float | None:
        """k/d; None with ``scaled``."""
        k = count_kept(self.keep, d)
        return k / d if k == d or not self.scaled else None

    def sends(self, d: int) -> float:
        """k floats."""
        return count_kept(self.keep, d) / d

    def __call__(self, v: ClientPoints, f: Problem | None, key: Key, clients: Clients | None) -> ClientPoints:
        """Keep coordinates that are drawn."""
        d = int(v.shape[-1])
        k = count_kept(self.keep, d)
        if k == d:
            return v
        rank = np.argsort(np.argsort(_draw(v, key, clients), axis=-1), axis=-1)
        mask = (rank < k) * (d / k if self.scaled else 1.0)
        return like(mask, v) * v


@dataclass(frozen=True)
class Quantised:
    """QSGD (Alistarh et al. 2017): sizes of coordinates, as multiples of ||v||/levels, rounded up or down at random. Unbiased.

    C(v)_k = ||v|| sign(v_k) q_k / levels, q_k one of the whole numbers next to levels |v_k| / ||v||, with mean this;
    omega = min{d/levels^2, sqrt(d)/levels}. Sent are ||v||, and for each coordinate a sign and ceil(log2(levels + 1)) bits.
    With ``keep`` below 1 it quantises what `RandK` leaves: k in the place of d, and 1 + omega is the product of both.

    Parameters
    ----------
    levels : int
        Parts into which [0, ||v||] is divided.
    keep : number in (0, 1]
        Share of the coordinates that are sent.

    Examples
    --------
    >>> print(Quantised(1)(np.array([[0.0, -5.0]]), None, Key(0, 0), None))
    [[ 0. -5.]]
    """

    levels: Count
    keep: ShareOfCoordinates = 1

    numeric_only: ClassVar[str | None] = "it rounds coordinates at random"

    def __post_init__(self) -> None:
        """Refuse a number of levels below one, and a share outside (0, 1]."""
        check_fields(self)

    def omega(self, d: int) -> float:
        """(1 + min{k/levels^2, sqrt(k)/levels}) d/k - 1."""
        k = count_kept(self.keep, d)
        return (1 + min(k / self.levels**2, math.sqrt(k) / self.levels)) * d / k - 1

    def delta(self, d: int) -> None:
        """None: it may be longer than v by itself."""

    def sends(self, d: int) -> float:
        """A norm, and a few bits a coordinate."""
        return (1 + _count_words(count_kept(self.keep, d) * (1 + math.ceil(math.log2(self.levels + 1))))) / d

    def __call__(self, v: ClientPoints, f: Problem | None, key: Key, clients: Clients | None) -> ClientPoints:
        """Round the coordinates."""
        xp = namespace(v)
        v = RandK(self.keep)(v, f, key.apart("before"), clients)
        norm = xp.sqrt(squared_norm(v))[..., None]
        unit = xp.where(norm > 0, norm, xp.ones_like(norm)) / self.levels
        whole = xp.floor(xp.abs(v) / unit + like(_draw(v, key, clients), v))
        return unit * xp.sign(v) * whole


@dataclass(frozen=True)
class AnyContractive:
    """Any contractive compressor: ||C(v) - v|| <= error ||v|| for every v, the same answer whenever the same is asked.

    In a worst case C(v) is chosen by the adversary. In a run it is one such compressor, C(v) = (1 - error) v. Top-k is contractive with
    error = sqrt(1 - k/d). What is sent is counted as a whole vector.

    Parameters
    ----------
    error : number in [0, 1) or symbol
        sqrt(1 - delta).

    Examples
    --------
    >>> functions = FunctionClass(L=1.0, mu=0.1)
    >>> whole, compressed = (worst_case(EF21(1.0, AnyContractive(s)), functions, rounds=2).value for s in (0, 0.5))
    >>> print(whole < compressed)
    True
    """

    error: Momentum

    numeric_only: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        """Refuse an error outside [0, 1)."""
        check_fields(self)

    def omega(self, d: int) -> float | None:
        """None, but without an error."""
        return 0.0 if is_exactly(self.error, 0) else None

    def delta(self, d: int) -> Any:
        """1 - error^2."""
        return 1 - self.error**2

    def sends(self, d: int) -> float:
        """1, as nothing is known."""
        return 1.0

    def __call__(self, v: ClientPoints, f: Problem | None, key: Key, clients: Clients | None) -> ClientPoints:
        """Any answer within the error, where the objectives have an oracle for it."""
        short = getattr(f, "short", None)
        if is_exactly(self.error, 0):
            return v
        return v - self.error * v if short is None else v + short((v,), self.error * v)


@dataclass(frozen=True)
class AnyUnbiased:
    """Any unbiased compressor: E C(v) = v and E ||C(v) - v||^2 <= variance ||v||^2 for every v, clients and rounds independent of each other.

    In a worst case the law of C(v) is chosen by the adversary. In a run it is one such compressor: (1 + variance) v with probability
    1/(1 + variance), and 0 otherwise. `RandK` has variance = d/k - 1. What is sent is counted as a whole vector.

    Parameters
    ----------
    variance : number at least 0 or symbol
        omega.

    Examples
    --------
    >>> functions = FunctionClass(L=1.0, mu=0.1)
    >>> whole, compressed = (smallest_rate(Diana(0.5, 0.5, AnyUnbiased(omega)), functions).rate for omega in (0, 1))
    >>> print(whole < compressed < 1)
    True
    """

    variance: NotNegative

    asks_oracles: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a negative variance."""
        check_fields(self)

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers where there is no oracle for it, or None."""
        return None if is_exactly(self.variance, 0) else "it draws who sends"

    def omega(self, d: int) -> Any:
        """The variance."""
        return self.variance

    def delta(self, d: int) -> float | None:
        """None, but without variance."""
        return 1.0 if is_exactly(self.variance, 0) else None

    def sends(self, d: int) -> float:
        """1, as nothing is known."""
        return 1.0

    def __call__(self, v: ClientPoints, f: Problem | None, key: Key, clients: Clients | None) -> ClientPoints:
        """Any answer of such a law, where the objectives have an oracle for it.

        Raises
        ------
        CannotTrace
            They have none, and the vectors are no numbers.
        """
        if is_exactly(self.variance, 0):
            return v
        oracle = getattr(f, "unbiased", None)
        if oracle is not None:
            return v + oracle(v, self.variance, key)
        if is_object(v):
            raise CannotTrace(
                "every unbiased compressor at once is known to potentials and to worst cases for every n; take these, or RandK in a run"
            )
        longer = 1 + np.asarray(to_numpy(self.variance), dtype=float)
        return like((_draw(v, key, clients)[..., :1] < 1 / longer) * longer, v) * v


def _draw(v: ClientPoints, key: Key, clients: Clients | None) -> NDArray[np.float64]:
    """Uniform numbers, one a coordinate and client ``(*batch, m, d)``, at an address of their own."""
    n, index = (v.shape[-2], None) if clients is None else (clients.n, clients.index)
    return key.apart("compression").client_uniform("coordinates", n, int(v.shape[-1]), index)


def require_contractive(method: str, compressor: Compressor) -> None:
    """Refuse a compressor that is not contractive in some dimension.

    Raises
    ------
    InvalidInput
        It may make vectors longer, as unbiased ones do.
    """
    if compressor.delta(ALL_SHARES) is None:
        raise InvalidInput(
            f"{method} needs a contractive compressor, ||C(v) - v||^2 <= (1 - delta) ||v||^2 in expectation, and {compressor} is none; take "
            "TopK, or RandK with scaled=False"
        )


def require_unbiased(method: str, compressor: Compressor) -> None:
    """Refuse a compressor that is biased in some dimension.

    Raises
    ------
    InvalidInput
        Its mean is not the vector.
    """
    if compressor.omega(ALL_SHARES) is None:
        raise InvalidInput(
            f"{method} needs an unbiased compressor, E C(v) = v, and {compressor} is biased; take RandK or Quantised, or a method with error "
            "feedback (EF21)"
        )

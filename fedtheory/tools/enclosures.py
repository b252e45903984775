"""Arrays that know how wrong they are: a midpoint and a radius for every entry, through the same functions as any other array.

A problem's own code runs on them (`enclosed_problem` moves its data here, as floats that are exact), and what comes out encloses what the
code would give in exact arithmetic. What is used of floating point: additions, subtractions, products, quotients and square roots are rounded to
nearest (error at most u = 2^-53 of the result, and 2^-1074 where a product underflows); a sum or an inner product of k terms, in whatever order,
with or without fused operations, is wrong by at most gamma_k = k u/(1 - k u) times the sum of the terms' sizes (Higham, Accuracy and Stability of
Numerical Algorithms, sections 3.1 and 4.2); exp, log, tanh, sin and cos of the platform are within 8 units in the last place. Radii are
rounded upwards by factors that exceed their own rounding.

Two numbers of Python (no arrays, no fields of a problem) that a problem's code multiplies with each other are rounded unseen.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import NotAvailable
from fedtheory.core.sample_rows import SparseRows

Floats = NDArray[np.float64]

UNIT = 2.0**-53
TINY = 2.0**-1060  #: more than a few underflows
LIBRARY = 16 * UNIT  #: 8 units in the last place, relative
WIDER = 1 + 2.0**-48  #: exceeds the rounding of a radius made by a few operations


def _gamma(terms: int) -> float:
    """Return a bound of gamma_k for k = terms, with room for the rounding of the bound."""
    if terms > 2**40:
        raise NotAvailable(f"a sum of {terms} terms is too long for a bound of its rounding")
    return (terms + 4) * UNIT * 1.001


def _longer(terms: int) -> float:
    """Return a factor that makes up for the rounding of a sum of non-negative terms."""
    return 1 + 4 * _gamma(terms)


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of conditions: where they hold for certain, and where they may hold."""

    certain: NDArray[np.bool_]
    possible: NDArray[np.bool_]

    __array_ufunc__: ClassVar[None] = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the conditions."""
        return self.certain.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.certain.ndim

    @property
    def dtype(self) -> np.dtype[np.bool_]:
        """Boolean."""
        return np.dtype(bool)

    @property
    def device(self) -> str:
        """The host."""
        return "cpu"

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return Functions

    def __getitem__(self, key: Any) -> Truth:
        return Truth(np.asarray(self.certain[key]), np.asarray(self.possible[key]))

    def __and__(self, other: Any) -> Truth:
        other = _truth(other)
        return Truth(self.certain & other.certain, self.possible & other.possible)

    def __or__(self, other: Any) -> Truth:
        other = _truth(other)
        return Truth(self.certain | other.certain, self.possible | other.possible)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Truth:
        return Truth(~self.possible, ~self.certain)

    def __bool__(self) -> bool:
        if bool(self.certain) != bool(self.possible):
            raise NotAvailable("rounding leaves undecided which way the evaluation goes")
        return bool(self.certain)


def _truth(value: Any) -> Truth:
    if isinstance(value, Truth):
        return value
    known = np.asarray(value, dtype=bool)
    return Truth(known, known)


class Enclosed:
    """Numbers that lie within ``radius`` of ``middle``, entry by entry; a number or an array of floats is enclosed with radius zero."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    device = "cpu"
    dtype = np.dtype(np.float64)

    def __init__(self, middle: Any, radius: Any = 0.0) -> None:
        self.middle: Floats = np.asarray(middle, dtype=np.float64)
        self.radius: Floats = np.broadcast_to(np.asarray(radius, dtype=np.float64), self.middle.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.middle.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.middle.ndim

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return Functions

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("an enclosure is no array of NumPy; its rounding would go unseen")

    def __getitem__(self, key: Any) -> Enclosed:
        return Enclosed(self.middle[key], self.radius[key])

    def upper(self) -> Floats:
        """Upper bounds of the sizes of the entries."""
        return (np.abs(self.middle) + self.radius) * WIDER

    # ---- arithmetic -----------------------------------------------------------------------------------------------

    def __neg__(self) -> Enclosed:
        return Enclosed(-self.middle, self.radius)

    def __pos__(self) -> Enclosed:
        return self

    def __add__(self, other: Any) -> Enclosed:
        other = enclosed(other)
        middle = self.middle + other.middle
        return Enclosed(middle, (UNIT * np.abs(middle) + self.radius + other.radius) * WIDER)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Enclosed:
        return self + (-enclosed(other))

    def __rsub__(self, other: Any) -> Enclosed:
        return enclosed(other) + (-self)

    def __mul__(self, other: Any) -> Enclosed:
        other = enclosed(other)
        middle = self.middle * other.middle
        spread = np.abs(self.middle) * other.radius + np.abs(other.middle) * self.radius + self.radius * other.radius
        radius = (UNIT * np.abs(middle) + spread) * WIDER + TINY
        return Enclosed(middle, np.where(self._is_zero() | other._is_zero(), 0.0, radius))

    __rmul__ = __mul__

    def _is_zero(self) -> NDArray[np.bool_]:
        return np.asarray((self.middle == 0) & (self.radius == 0))

    def __truediv__(self, other: Any) -> Enclosed:
        other = enclosed(other)
        with np.errstate(all="ignore"):
            middle = self.middle / other.middle
            least = (np.abs(other.middle) - other.radius) * (1 - 2.0**-50)
            spread = (self.radius + (np.abs(middle) * (1 + 2.0**-50) + 2.0**-1074) * other.radius) / least
            radius = (UNIT * np.abs(middle) + spread) * WIDER + TINY
        radius = np.where(self._is_zero(), 0.0, radius)
        return Enclosed(middle, np.where(least > 0, radius, np.inf))

    def __rtruediv__(self, other: Any) -> Enclosed:
        return enclosed(other) / self

    def __pow__(self, power: Any) -> Enclosed:
        if not isinstance(power, int | float) or power != round(2 * power) / 2 or abs(power) > 64:
            raise NotAvailable(f"the power {power} of an enclosure is not known; whole and half powers are")
        whole, found = int(abs(power)), Enclosed(np.ones(self.shape))
        for _ in range(whole):
            found = found * self
        if abs(power) != whole:
            found = found * Functions.sqrt(self)
        return found if power >= 0 else 1 / found

    # ---- comparisons ----------------------------------------------------------------------------------------------

    def __gt__(self, other: Any) -> Truth:
        apart = self - enclosed(other)
        return Truth(apart.middle > apart.radius, apart.middle > -apart.radius)

    def __ge__(self, other: Any) -> Truth:
        apart = self - enclosed(other)
        return Truth(apart.middle >= apart.radius, apart.middle >= -apart.radius)

    def __lt__(self, other: Any) -> Truth:
        return enclosed(other).__gt__(self)

    def __le__(self, other: Any) -> Truth:
        return enclosed(other).__ge__(self)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return self.__ge__(other) & self.__le__(other)

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return ~self.__eq__(other)

    def __bool__(self) -> bool:
        return bool(self != 0)


def enclosed(value: Any) -> Enclosed:
    """Return the value itself, or a number or an array of floats as an enclosure of radius zero."""
    if isinstance(value, Enclosed):
        return value
    if isinstance(value, Truth):
        raise NotAvailable("a condition was used as a number")
    return Enclosed(value)


def _each(change: Any) -> Any:
    """Return a function that moves entries about, of enclosures and of conditions."""

    def moved(x: Any, *args: Any, **named: Any) -> Any:
        if isinstance(x, Truth):
            return Truth(change(x.certain, *args, **named), change(x.possible, *args, **named))
        x = enclosed(x)
        return Enclosed(change(x.middle, *args, **named), change(x.radius, *args, **named))

    return staticmethod(moved)


def _joined(change: Callable[..., Any]) -> Any:
    """Return a function that puts several arrays into one."""

    def joined(parts: Any, *, axis: int = 0) -> Any:
        if all(isinstance(part, Truth) for part in parts):
            return Truth(change([p.certain for p in parts], axis=axis), change([p.possible for p in parts], axis=axis))
        known = [enclosed(part) for part in parts]
        return Enclosed(change([p.middle for p in known], axis=axis), change([p.radius for p in known], axis=axis))

    return staticmethod(joined)


def _bounded(function: Callable[[Any], Any]) -> Any:
    """Return a function of slope at most one, evaluated by the platform's library."""

    def image(x: Any) -> Enclosed:
        x = enclosed(x)
        middle = function(x.middle)
        return Enclosed(middle, (LIBRARY * np.abs(middle) + x.radius) * WIDER + TINY)

    return staticmethod(image)


class Functions:
    """The functions of an array library, on enclosures. A function that is not here makes an evaluation impossible to enclose."""

    float64 = np.dtype(np.float64)

    reshape = _each(np.reshape)
    moveaxis, permute_dims = _each(np.moveaxis), _each(np.permute_dims)
    broadcast_to = _each(np.broadcast_to)
    squeeze = _each(np.squeeze)
    take = _each(np.take)
    matrix_transpose = _each(lambda x: np.swapaxes(x, -1, -2))
    concat, stack = _joined(np.concatenate), _joined(np.stack)
    tanh, sin, cos = _bounded(np.tanh), _bounded(np.sin), _bounded(np.cos)

    @staticmethod
    def asarray(values: Any, *, dtype: Any = None, device: Any = None) -> Any:
        """Floats of the host as an enclosure; whole numbers and conditions stay what they are."""
        host = np.asarray(values)
        return Enclosed(host) if host.dtype.kind == "f" else host

    @staticmethod
    def finfo(dtype: Any) -> Any:
        """No allowance for rounding (``eps`` is zero): enclosures have theirs."""
        return SimpleNamespace(eps=0.0, smallest_normal=float(np.finfo(float).smallest_normal))

    @staticmethod
    def isdtype(dtype: Any, kind: Any) -> bool:
        """Whether these are floats, which is what enclosures are."""
        return bool(np.dtype(dtype).kind == "f" and kind == "real floating")

    @staticmethod
    def astype(x: Any, dtype: Any) -> Enclosed:
        """Conditions as numbers: between zero and one where they are not decided."""
        if isinstance(x, Enclosed):
            return x
        x = _truth(x)
        return Enclosed(np.where(x.certain, 1.0, np.where(x.possible, 0.5, 0.0)), 0.5 * (x.certain != x.possible))

    @staticmethod
    def zeros_like(x: Any) -> Any:
        """Zeros, or conditions that do not hold."""
        return _truth(np.zeros(x.shape, bool)) if isinstance(x, Truth) else Enclosed(np.zeros(x.shape))

    @staticmethod
    def ones_like(x: Any) -> Any:
        """Ones, or conditions that hold."""
        return _truth(np.ones(x.shape, bool)) if isinstance(x, Truth) else Enclosed(np.ones(x.shape))

    @staticmethod
    def full_like(x: Any, value: float) -> Enclosed:
        """One number throughout."""
        return Enclosed(np.full(x.shape, value))

    @staticmethod
    def abs(x: Any) -> Enclosed:
        """Sizes."""
        x = enclosed(x)
        return Enclosed(np.abs(x.middle), x.radius)

    @staticmethod
    def sign(x: Any) -> Enclosed:
        """Signs, anything from -1 to 1 where they are not known."""
        x = enclosed(x)
        known = (np.abs(x.middle) > x.radius) | (x.radius == 0)
        return Enclosed(np.where(known, np.sign(x.middle), 0.0), np.where(known, 0.0, 1.0))

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Any:
        """The one or the other, and what encloses both where the condition is not decided."""
        condition = _truth(condition)
        if isinstance(yes, Truth) or isinstance(no, Truth):
            yes, no = _truth(yes), _truth(no)
            return (condition & yes) | (~condition & no) | (yes & no)  # the last holds whichever it is
        yes, no = enclosed(yes), enclosed(no)
        with np.errstate(invalid="ignore"):
            both = np.maximum(yes.radius, (np.abs(no.middle - yes.middle) + no.radius) * WIDER)
        first, decided = condition.possible, condition.certain == condition.possible
        middle = np.where(first, yes.middle, no.middle)
        return Enclosed(middle, np.where(decided, np.where(first, yes.radius, no.radius), both))

    @staticmethod
    def maximum(x: Any, y: Any) -> Enclosed:
        """The larger of two."""
        x, y = enclosed(x), enclosed(y)
        return Enclosed(np.maximum(x.middle, y.middle), np.maximum(x.radius, y.radius))

    @staticmethod
    def minimum(x: Any, y: Any) -> Enclosed:
        """The smaller of two."""
        return -Functions.maximum(-enclosed(x), -enclosed(y))

    @staticmethod
    def clip(x: Any, min: Any = None, max: Any = None) -> Enclosed:
        """Numbers kept within bounds."""
        x = x if min is None else Functions.maximum(x, min)
        return enclosed(x if max is None else Functions.minimum(x, max))

    @staticmethod
    def max(x: Any, *, axis: Any = None, keepdims: bool = False) -> Enclosed:
        """Largest entries."""
        x = enclosed(x)
        return Enclosed(x.middle.max(axis=axis, keepdims=keepdims), x.radius.max(axis=axis, keepdims=keepdims))

    @staticmethod
    def sum(x: Any, *, axis: Any = None, keepdims: bool = False) -> Enclosed:
        """Sums."""
        x = enclosed(x)
        middle = x.middle.sum(axis=axis, keepdims=keepdims)
        terms = x.middle.size // np.maximum(middle.size, 1)
        if terms <= 1:  # nothing is added
            return Enclosed(middle, x.radius.sum(axis=axis, keepdims=keepdims))
        sizes = np.abs(x.middle).sum(axis=axis, keepdims=keepdims)
        spread = x.radius.sum(axis=axis, keepdims=keepdims)
        return Enclosed(middle, (_gamma(int(terms)) * sizes + spread) * _longer(int(terms)) * WIDER)

    @staticmethod
    def mean(x: Any, *, axis: Any = None, keepdims: bool = False) -> Enclosed:
        """Means."""
        total = Functions.sum(x, axis=axis, keepdims=keepdims)
        return total / (enclosed(x).middle.size // total.middle.size)

    @staticmethod
    def matmul(x: Any, y: Any) -> Enclosed:
        """Matrix products."""
        x, y = enclosed(x), enclosed(y)
        terms = x.shape[-1]
        sizes_x, sizes_y = np.abs(x.middle), np.abs(y.middle)
        radius = _gamma(terms) * np.matmul(sizes_x, sizes_y)
        if y.radius.any():
            radius = radius + np.matmul(sizes_x + x.radius, y.radius)
        if x.radius.any():
            radius = radius + np.matmul(x.radius, sizes_y)
        return Enclosed(np.matmul(x.middle, y.middle), radius * _longer(terms) * WIDER + terms * TINY)

    @staticmethod
    def times_matrix(matrix: Any, x: Any) -> Enclosed:
        """Product of a matrix of SciPy, whose entries are exact, with an array ``(columns, k)``."""
        x = enclosed(x)
        sizes = abs(matrix)
        terms = int(np.bincount(matrix.tocoo().row, minlength=1).max())
        radius = _gamma(terms) * (sizes @ np.abs(x.middle))
        if x.radius.any():
            radius = radius + sizes @ x.radius
        return Enclosed(matrix @ x.middle, radius * _longer(terms) * WIDER + terms * TINY)

    @staticmethod
    def sqrt(x: Any) -> Enclosed:
        """Square roots of numbers that are not negative, whatever their enclosures say."""
        x = enclosed(x)
        middle = np.sqrt(np.maximum(x.middle, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.where(middle > 0, x.radius / middle, np.inf)  # |a - m| = |sqrt a - sqrt m| (sqrt a + sqrt m)
        spread = np.where(x.radius > 0, np.minimum(near, np.sqrt(np.abs(x.middle) + x.radius)), 0.0)
        return Enclosed(middle, (2 * UNIT * middle + spread) * WIDER)

    @staticmethod
    def exp(x: Any) -> Enclosed:
        """Exponentials."""
        x = enclosed(x)
        middle = np.exp(x.middle)
        return Enclosed(middle, middle * (LIBRARY + np.expm1(x.radius) * (1 + 2 * LIBRARY)) * WIDER + TINY)

    @staticmethod
    def log(x: Any) -> Enclosed:
        """Logarithms."""
        x = enclosed(x)
        with np.errstate(all="ignore"):
            middle = np.log(x.middle)
            least = (x.middle - x.radius) * (1 - 2.0**-50)
            radius = (LIBRARY * np.abs(middle) + x.radius / least) * WIDER + TINY
        return Enclosed(middle, np.where(least > 0, radius, np.inf))

    @staticmethod
    def log1p(x: Any) -> Enclosed:
        """log(1 + x)."""
        x = enclosed(x)
        with np.errstate(all="ignore"):
            middle = np.log1p(x.middle)
            least = (1 + x.middle - x.radius) * (1 - 2.0**-50)
            radius = (LIBRARY * np.abs(middle) + x.radius / least) * WIDER + TINY
        return Enclosed(middle, np.where(least > 0, radius, np.inf))

    @staticmethod
    def isfinite(x: Any) -> Truth:
        """Whether all that is enclosed is finite."""
        x = enclosed(x)
        return _truth(np.isfinite(x.middle) & np.isfinite(x.radius))

    @staticmethod
    def all(x: Any, *, axis: Any = None) -> Truth:
        """Whether all conditions hold."""
        x = _truth(x)
        return Truth(np.asarray(x.certain.all(axis=axis)), np.asarray(x.possible.all(axis=axis)))

    @staticmethod
    def any(x: Any, *, axis: Any = None) -> Truth:
        """Whether one of the conditions holds."""
        x = _truth(x)
        return Truth(np.asarray(x.certain.any(axis=axis)), np.asarray(x.possible.any(axis=axis)))


def enclosed_problem(problem: Any) -> Any:
    """Return a problem with its floats, also those of problems and regularisers that it holds, as enclosures of radius zero.

    Raises
    ------
    NotAvailable
        It is no dataclass, so its data are not known.
    """
    if not dataclasses.is_dataclass(problem) or isinstance(problem, type):
        raise NotAvailable(f"{type(problem).__name__} is no dataclass, so its data are not known")
    found = copy.copy(problem)
    for name in set(vars(problem)) - {field.name for field in dataclasses.fields(problem)}:
        object.__delattr__(found, name)  # what it has computed of its data
    for field in dataclasses.fields(problem):
        value = getattr(problem, field.name)
        if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype == np.float64):
            object.__setattr__(found, field.name, Enclosed(value))
        elif isinstance(value, SparseRows) and value.values.dtype == np.float64:
            continue  # products with them are enclosed (`Functions.times_matrix`)
        elif isinstance(value, SparseRows):
            raise NotAvailable(f"its {field.name} holds {value.values.dtype}, not numbers in double precision")
        elif isinstance(value, np.ndarray) and value.dtype.kind not in "bui":
            raise NotAvailable(f"its {field.name} holds {value.dtype}, not numbers in double precision")
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            object.__setattr__(found, field.name, enclosed_problem(value))
    return found

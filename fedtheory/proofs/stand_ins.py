"""Numbers that stand for many: the number of any round, of any number of clients, of any dimension.

They may be passed on, and compared where the answer is the same for all that they stand for. What depends on which one it is cannot be said of
all of them at once, and is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fedtheory.core.errors import CannotTrace

#: operations by their method, with the number in the place of the first pair of braces and the other operand in that of the second
_OPERATIONS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "truediv": "{} / {}",
    "floordiv": "{} // {}",
    "mod": "{} % {}",
    "pow": "{}**{}",
    "matmul": "{} @ {}",
    "divmod": "divmod({}, {})",
    "radd": "{1} + {0}",
    "rsub": "{1} - {0}",
    "rmul": "{1} * {0}",
    "rtruediv": "{1} / {0}",
    "rfloordiv": "{1} // {0}",
    "rmod": "{1} % {0}",
    "rpow": "{1}**{0}",
    "rmatmul": "{1} @ {0}",
    "rdivmod": "divmod({1}, {0})",
    "lt": "{} < {}",
    "le": "{} <= {}",
    "gt": "{} > {}",
    "ge": "{} >= {}",
    "eq": "{} == {}",
    "ne": "{} != {}",
    "neg": "-{}",
    "pos": "+{}",
    "abs": "abs({})",
    "round": "round({})",
    "bool": "whether {} is 0",
    "int": "int({})",
    "float": "float({})",
    "complex": "complex({})",
    "index": "a count or an index of {}",
    "trunc": "trunc({})",
    "floor": "floor({})",
    "ceil": "ceil({})",
}
#: functions of NumPy, which asks an object for a method of the name
_FUNCTIONS = ("sqrt", "cbrt", "exp", "log", "log2", "log10", "rint")


class StandIn:
    """A number that stands for many; an operation on it is refused, with what was asked for. A subclass says why, with ``{}`` for that."""

    symbol = "?"
    reason = "{}"
    __hash__ = None  # type: ignore[assignment]

    def refuse(self, done: str) -> NoReturn:
        """Say what was done with the number, and what to write instead."""
        raise CannotTrace(self.reason.format(done))

    def __str__(self) -> str:
        return self.symbol

    __repr__ = __str__


def _refusal(done: str) -> Callable[..., NoReturn]:
    def method(self: StandIn, *others: Any) -> NoReturn:
        told = [str(other) if isinstance(other, StandIn) or not hasattr(other, "shape") else "..." for other in others]
        self.refuse(done.format(self.symbol, *(text[:30] for text in [*told, ""])))

    return method


for _name, _done in _OPERATIONS.items():
    setattr(StandIn, f"__{_name}__", _refusal(_done))
for _name in _FUNCTIONS:
    setattr(StandIn, _name, _refusal(_name + "({})"))


class DependsOnRound(CannotTrace):
    """What is done with the number of a round is not the same for all of them."""


class AnyRound(StandIn):
    """The number of a round that stands for all."""

    symbol = "r"
    reason = (
        "a potential that decreases in every round needs a method whose rounds are all the same, and this one's depend on the number of the "
        "round ({}); give it constant step sizes and other parameters"
    )

    def refuse(self, done: str) -> NoReturn:
        """Say what was done with the number; who follows rounds one by one may give it."""
        raise DependsOnRound(self.reason.format(done))

    def __mod__(self, divisor: Any) -> Any:
        """Every number leaves nothing over when it is divided by one."""
        return 0 if divisor == 1 else self.refuse(f"r % {divisor}")


class AnyCount(StandIn):
    """A whole number that is at least ``least``; comparisons are decided where all such numbers give one answer.

    Examples
    --------
    >>> n = AnyCount("n", 2, "{} depends on n")
    >>> n == 1, n > 1
    (False, True)
    >>> n + 1
    Traceback (most recent call last):
    fedtheory.core.errors.CannotTrace: n + 1 depends on n
    """

    def __init__(self, symbol: str, least: int, reason: str) -> None:
        self.symbol, self.least, self.reason = symbol, least, reason

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self.least > 0 or self.refuse(f"whether {self.symbol} is 0")

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        return False if self._is_above(other) else self.refuse(f"{self.symbol} == {other}")

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __gt__(self, other: Any) -> bool:
        return True if self._is_above(other) else self.refuse(f"{self.symbol} > {other}")

    def __le__(self, other: Any) -> bool:
        return False if self._is_above(other) else self.refuse(f"{self.symbol} <= {other}")

    def __ge__(self, other: Any) -> bool:
        return True if self._is_above(other, equal=True) else self.refuse(f"{self.symbol} >= {other}")

    def __lt__(self, other: Any) -> bool:
        return False if self._is_above(other, equal=True) else self.refuse(f"{self.symbol} < {other}")

    def _is_above(self, other: object, *, equal: bool = False) -> bool:
        """Whether all numbers that this one stands for are above another one."""
        if not isinstance(other, int | float):
            return False
        return self.least > other or (equal and self.least == other)


#: what `AnyCount` says of the clients and of the dimension
_EVERY = "the round computes {{}}, where {0} is the {1}, and it is followed for every {0} at once; {2}"


#: what to do where the number of clients matters
STATE_CLIENTS = "state n: clients='n = 8' in a statement, participation=Sampling(8, 8) in Python"


def any_clients(least: int = 2) -> AnyCount:
    """The number of clients where it is not stated."""
    instead = f"where clients meet, write average(...); otherwise {STATE_CLIENTS}"
    return AnyCount("n", least, _EVERY.format("n", "number of clients", instead))


ANY_CLIENTS = any_clients()
#: the dimension, d >= 1
ANY_DIMENSION = AnyCount("d", 1, _EVERY.format("d", "dimension", "write the round without it, or run it on instances"))

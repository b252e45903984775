"""Numbers and vectors as expressions that are written twice: as Rocq reads them, and as data for programs in Rocq (`core/Numbers.v`, `Grams.v`).

What the data stands for is what the text says, up to conversion, which Rocq checks itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

Operation = Literal["name", "whole", "+", "-", "*", "/", "neg", "^", "apply"]
#: words that Rocq reads as something else, or that statements use for something else
_KEYWORDS = """as at cofix else end exists exists2 fix for forall fun if IF in let match mod Prop return Set then Type using where with by"""
_NAMES = """R Q Z nat bool list E V C S O I mean add scale dot zero norm2 all sum exp sqrt Rmax Rmin Rabs ln sin cos PI pow INR IZR value grad
    state State init round after expected statement convex smooth subgradient in_class run minimises is_prox state_of fst snd outcomes step
    total kept coins combined tends sum_of numbers proof"""
TAKEN = frozenset(f"{_KEYWORDS} {_NAMES}".split())
#: the place of a client in a text; "%V" is a scope
_CLIENT = re.compile(r"%(?!V\b)")
_LEVELS = {"+": 50, "-": 50, "*": 40, "/": 40, "neg": 35, "^": 30}


def identifier(name: str) -> str:
    """A name that Rocq reads as a name: with an underscore where it is taken or is no name."""
    word = re.sub(r"\W", "_", name) or "_"
    word = f"x{word}" if not (word[0].isalpha() or word[0] == "_") or word == "_" else word
    return f"{word}_" if word in TAKEN or word.startswith("_") else word


@dataclass(frozen=True)
class Real:
    """A real number: a name, a whole number, or an operation on numbers.

    ``apply`` is a function of Rocq on arguments that are texts; as data it is a name, by its whole text.
    """

    op: Operation
    parts: tuple[Any, ...]

    # ---- arithmetic, with what is obvious left out

    def __add__(self, other: Any) -> Real:
        b = real(other)
        return b if self == ZERO else self if b == ZERO else Real("+", (self, b))

    def __radd__(self, other: Any) -> Real:
        return real(other) + self

    def __sub__(self, other: Any) -> Real:
        b = real(other)
        return self if b == ZERO else -b if self == ZERO else Real("-", (self, b))

    def __rsub__(self, other: Any) -> Real:
        return real(other) - self

    def __mul__(self, other: Any) -> Real:
        b = real(other)
        if ZERO in (self, b):
            return ZERO
        return b if self == ONE else self if b == ONE else Real("*", (self, b))

    def __rmul__(self, other: Any) -> Real:
        return real(other) * self

    def __truediv__(self, other: Any) -> Real:
        b = real(other)
        return self if b == ONE or self == ZERO else Real("/", (self, b))

    def __rtruediv__(self, other: Any) -> Real:
        return real(other) / self

    def __neg__(self) -> Real:
        return real(-self.parts[0]) if self.op == "whole" else Real("neg", (self,))

    def __pow__(self, power: int) -> Real:
        if isinstance(power, Fraction) and power.denominator == 1:
            power = int(power)
        if power < 0:
            return ONE / self**-power
        return ONE if power == 0 else self if power == 1 else Real("^", (self, power))

    # ---- as text

    def text(self, level: int = 200) -> str:
        """As Rocq reads it, in parentheses where it stands inside of something that binds as tightly as ``level``."""
        match self.op:
            case "name":
                return str(self.parts[0])
            case "whole":
                return str(self.parts[0]) if self.parts[0] >= 0 else f"({self.parts[0]})"
            case "apply":
                return str(self.parts[0]) if level >= 10 else f"({self.parts[0]})"
        own = _LEVELS[self.op]
        if self.op == "neg":
            shown = f"- {self.parts[0].text(34)}"
        elif self.op == "^":
            shown = f"{self.parts[0].text(9)} ^ {self.parts[1]}"
        else:
            left, right = self.parts
            shown = f"{left.text(own)} {self.op} {right.text(own - 1)}"
        return shown if own <= level else f"({shown})"

    def __str__(self) -> str:
        return self.text()

    def data(self, place: RocqPlace) -> str:
        """As data of type ``rexp``; what `place` knows as a whole is one of the numbers that are given."""
        at = place(self)
        if at is not None:
            return f"(RV {at})"
        match self.op:
            case "whole":
                return f"(RZ {whole_number(self.parts[0])})"
            case "^":
                return f"(RPow {self.parts[0].data(place)} {self.parts[1]})"
            case "neg":
                return f"(ROpp {self.parts[0].data(place)})"
            case "name" | "apply":
                raise KeyError(f"{self} is none of the numbers that are given")
        word = {"+": "RAdd", "-": "RSub", "*": "RMul", "/": "RDiv"}[self.op]
        return f"({word} {self.parts[0].data(place)} {self.parts[1].data(place)})"

    def names(self) -> set[str]:
        """Names, and texts of applications, that occur in it."""
        if self.op in ("name", "apply"):
            return {self.parts[0]}
        return {n for part in self.parts if isinstance(part, Real) for n in part.names()}

    def value(self, at: Mapping[str, Any]) -> Any:
        """The value where names have these values, of any kind of numbers."""
        match self.op:
            case "name" | "apply":
                return at[self.parts[0]]
            case "whole":
                return Fraction(self.parts[0])
            case "neg":
                return -self.parts[0].value(at)
            case "^":
                return self.parts[0].value(at) ** self.parts[1]
        a, b = (part.value(at) for part in self.parts)
        return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[self.op]()


#: where an expression stands among the numbers that are given; None for one that is made of others
RocqPlace: TypeAlias = "Callable[[Real], int | None]"
ZERO, ONE = Real("whole", (0,)), Real("whole", (1,))


def real(number: Any) -> Real:
    """A number as an expression: whole numbers and fractions are written out."""
    if isinstance(number, Real):
        return number
    exact = Fraction(number)
    whole = Real("whole", (exact.numerator,))
    return whole if exact.denominator == 1 else Real("/", (whole, Real("whole", (exact.denominator,))))


def name(word: str) -> Real:
    """A name."""
    return Real("name", (word,))


def apply(text: str) -> Real:
    """What Rocq makes of a text, such as ``INR t`` or ``gap (S t)``."""
    return Real("apply", (text,))


def opposite(r: Real) -> Real | None:
    """What a number is the opposite of, where it is written with a minus sign in front; else None."""
    match r.op:
        case "neg":
            return r.parts[0]  # type: ignore[no-any-return]
        case "whole" if r.parts[0] < 0:
            return real(-r.parts[0])
        case "*" | "/":
            inside = opposite(r.parts[0])
            return None if inside is None else inside * r.parts[1] if r.op == "*" else inside / r.parts[1]
    return None


def total(terms: Iterable[Real]) -> Real:
    """A sum."""
    found = ZERO
    for term in terms:
        other = opposite(term)
        found = found + term if other is None else found - other
    return found


# ---- vectors ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vec:
    """A vector: of every client, or one that all have in common.

    Operations: ``client NAME`` (a vector of each client), ``common NAME``, ``mean v``, ``+``, ``-``, ``scale r v``, ``zero``, and ``kept v each``:
    what stands in the place of a name, is written as ``v``, and is never simplified; ``each``: a vector of each client, whatever it comes to.
    """

    op: Literal["client", "common", "mean", "+", "-", "scale", "zero", "kept"]
    parts: tuple[Any, ...] = ()

    def __add__(self, other: Vec) -> Vec:
        if isinstance(other, int) and other == 0:
            return self
        return other if self.op == "zero" else self if other.op == "zero" else Vec("+", (self, other))

    __radd__ = __add__

    def __sub__(self, other: Vec) -> Vec:
        if isinstance(other, int) and other == 0:
            return self
        minus: Vec = other * -1
        return self if other.op == "zero" else minus if self.op == "zero" else Vec("-", (self, other))

    def __rsub__(self, other: Any) -> Vec:
        minus: Vec = self * -1
        found: Vec = minus + other
        return found

    def __neg__(self) -> Vec:
        found: Vec = self * -1
        return found

    def __mul__(self, factor: Any) -> Vec:
        r = real(factor)
        if r == ZERO or self.op == "zero":
            return Vec("zero")
        if r == ONE:
            return self
        if self.op == "scale" and (r == real(-1) or self.parts[0] == real(-1)):
            return self.parts[1] * (-self.parts[0] if r == real(-1) else -r)  # type: ignore[no-any-return]
        return Vec("scale", (r, self))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Vec:
        return self * (ONE / real(divisor))

    @property
    def is_common(self) -> bool:
        """Whether it is the same vector for every client."""
        if self.op == "kept":
            return not self.parts[1]
        if self.op in ("common", "mean", "zero"):
            return True
        return self.op != "client" and all(part.is_common for part in self.parts if isinstance(part, Vec))

    def averaged(self) -> Vec:
        """The average over clients."""
        return self if self.is_common else Vec("mean", (self,))

    def text(self, level: int = 200, client: str = "i") -> str:
        """As Rocq reads it; what is of every client, at the client ``i``."""
        match self.op:
            case "client":
                shown = of_client(self.parts[0], client)
                return shown if level >= 10 else f"({shown})"
            case "common":
                return str(self.parts[0])
            case "zero":
                return "zero"
            case "kept":
                return str(self.parts[0].text(level, client))
            case "mean":
                inner = self.parts[0]
                plain = inner.op == "client" and "%" not in inner.parts[0]
                scope = "%V" if inner.op in ("+", "-", "scale") else ""  # Rocq expects numbers inside of a function
                shown = f"mean {inner.parts[0]}" if plain else f"mean (fun i => {inner.text()}){scope}"
                return shown if level >= 10 else f"({shown})"
            case "scale":
                r, v = self.parts
                factor = r.text() if r.op in ("name", "whole") else f"({r.text()})"
                shown = f"{factor} *: {v.text(38, client)}"
                return shown if level >= 38 else f"({shown})"
        left, right = self.parts
        shown = f"{left.text(50, client)} {self.op} {right.text(49, client)}"
        return shown if level >= 50 else f"({shown})"

    def __str__(self) -> str:
        return self.text()

    def data(self, place: RocqPlace, clients: Callable[[str], int], commons: Callable[[str], int]) -> str:
        """As data of type ``vexp``; the functions tell where numbers, vectors of clients and common vectors stand among those given."""
        match self.op:
            case "client":
                return f"(VC {clients(self.parts[0])})"
            case "common":
                return f"(VW {commons(self.parts[0])})"
            case "zero":
                return "VZero"
            case "kept":
                return str(self.parts[0].data(place, clients, commons))
            case "mean":
                return f"(VMean {self.parts[0].data(place, clients, commons)})"
            case "scale":
                return f"(VScale {self.parts[0].data(place)} {self.parts[1].data(place, clients, commons)})"
        word = {"+": "VAdd", "-": "VSub"}[self.op]
        return f"({word} {' '.join(part.data(place, clients, commons) for part in self.parts)})"


def whole_number(value: int) -> str:
    """A whole number in data: long ones with hexadecimal digits, which Rocq reads faster."""
    shown = str(value) if abs(value) < 2**64 else f"{value:#x}"
    return shown if value >= 0 else f"({shown})"


def of_client(word: str, client: str) -> str:
    """The vector of a client: by a function of clients, or by a text with a percent sign in the client's place."""
    return _CLIENT.sub(client, word) if "%" in word else f"{word} {client}"


def combination(terms: Iterable[tuple[Any, Vec]]) -> Vec:
    """A sum of multiples of vectors."""
    found = Vec("zero")
    for factor, vector in terms:
        other = opposite(real(factor))
        found = found + vector * factor if other is None or found.op == "zero" else found - vector * other
    return found


def inner_text(u: Vec, v: Vec, *, each: bool | None = None) -> str:
    """The text of an inner product; of vectors of clients (``each``), its average."""
    common = u.is_common and v.is_common if each is None else not each
    shown = f"norm2 {u.text(9)}" if u == v else f"dot {u.text(9)} {v.text(9)}"
    return shown if common else f"E (fun i => {shown})"


def scoped(v: Vec, client: str = "i") -> str:
    """A vector where Rocq does not expect one: as the argument of a variable, or beside an equality sign."""
    shown = v.text(9, client)
    return f"{shown}%V" if shown.startswith("(") and v.op not in ("client", "mean") else shown

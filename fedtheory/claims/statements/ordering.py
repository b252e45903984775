"""Orderings as data: one method, or instance, does better than another, over draws of data and coins.

    Ordering(Side("fedpd", "eta = 3/(10*L), lr = 3/(10*L), steps = 4, p = 2/5", near), Side("fedpd", ..., far),
             metric="stationarity", rounds=150, summary="late")

The rule belongs to the statement and is read before anything is run: how many draws, at least ten, the level of the interval, how
many comparisons share it, and by how much one must be better. Both sides of a draw see the same random numbers, for data and for
coins. The Student interval of the mean paired difference decides: it holds where the interval lies on the side claimed, fails where it lies on
the other, and is undecided between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Covered, Finding, Part
from fedtheory.claims.context import Context
from fedtheory.claims.orderings import ordered
from fedtheory.claims.statements.named_methods import NamedMethod
from fedtheory.claims.statements.unit_reading import CONSTANT_UNITS, UnitReading, find_unlike_units, require_units
from fedtheory.claims.statements.unstated import tell_options
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Participation
from fedtheory.core.problem import Problem, can, constants
from fedtheory.measures.catalogue import choose_metrics, look_up
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.regions.units import unit_of
from fedtheory.running.runner import run

#: fewest draws of data that an ordering may rest on, and how many times as many with the full budget
LEAST_DRAWS, FULL = 10, 2
#: what is below this share of its start has reached zero, up to rounding
REACHED = 1e-15
#: where the draws of planted faults begin
OTHER_DRAWS = 500

RunSummary = Literal["last", "mean", "best", "late"]


@dataclass(frozen=True)
class Side:
    """A method on instances that are drawn.

    Parameters
    ----------
    method : name of a listed method, or function of an instance's certified constants to a method
    options : str
        Options of the listed method, as expressions in certified constants of the instance such as L and mu.
    problem : function of a generator to a problem
    start : number
        Of every coordinate.
    participation : Participation, optional
    first_draw : int
        Draws are numbered from here on; sides that begin with the same one share their random numbers.
    name : str

    Examples
    --------
    >>> draw = lambda rng: random_quadratics(4, 3, seed=int(rng.integers(2**31)))
    >>> print(Side("gd", "lr = 1/L", problem=draw).method)
    gd
    """

    method: str | Callable[..., Algorithm]
    options: str = ""
    _: KW_ONLY
    problem: Callable[[np.random.Generator], Problem]
    start: float = 0.0
    participation: Participation | None = None
    first_draw: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        """Read the options."""
        if not self.named_method.expressions and self.options and not isinstance(self.method, str):
            raise InvalidInput("options belong to listed methods")

    @property
    def named_method(self) -> NamedMethod:
        """The method as a function of certified constants."""
        return NamedMethod(self.method, self.options)

    def values(
        self, draw: tuple[int, int], metric: str, rounds: int, coins: int, every: int = 1
    ) -> NDArray[np.float64]:
        """The metric every so many rounds, one row for each sequence of coins; infinite from where a run diverged."""
        try:
            hash(self)
        except TypeError:  # such as participation by a list
            return _measure.__wrapped__(self, draw, metric, rounds, coins, every)
        return _measure(self, draw, metric, rounds, coins, every)

    def __str__(self) -> str:
        return self.name or str(self.named_method)


@lru_cache(maxsize=512)
def _measure(
    side: Side, draw: tuple[int, int], metric: str, rounds: int, coins: int, every: int
) -> NDArray[np.float64]:
    """Orderings that share a side share its runs."""
    problem: Any = side.problem(np.random.default_rng(draw))
    found = constants(problem) if can(problem, "certify") else {}
    known = {name: float(c.value) for name, c in found.items() if np.ndim(c.value) == 0}
    x0 = np.full((coins, problem.d), side.start)
    method, chosen = choose_metrics([metric], side.named_method.over(known, float), problem, x0[:1])
    seeds = np.arange(coins) + 1_000 * draw[1] + 1_000_000 * draw[0]
    given: Mapping[str, Any] = {"participation": side.participation} if side.participation else {}
    trace = run(method, problem, x0, rounds, seed=seeds, metrics=chosen, every=every, progress=False, **given)
    values = np.array(trace[metric])
    values.flags.writeable = False  # several orderings read it
    return values


@dataclass(frozen=True)
class Ordering:
    """The first side is better than the second.

    Parameters
    ----------
    first, second : Side
    metric : str
        Of `fedtheory.measures.catalogue`; less is better, and of shares more. Of positive metrics logarithms are compared, of shares the shares.
    rounds : int
    summary : "last", "mean", "best" or "late"
        Of a run: its end, all rounds, the best of them, or the mean of its later half.
    draws : int
        Of data, at least ten; twice as many with the full budget.
    coins : int
        Sequences of coins for each draw of data; their mean is the draw's value.
    level : number in [0.9, 1)
        Of the interval, shared by ``comparisons`` orderings that are told together.
    by : number
        By how much the first is claimed to be better: of the logarithm, or of the share.
    name : str
    units : str
        As for `fedtheory.claims.Bound`, of certified constants that options speak of.

    Raises
    ------
    InvalidInput
        The rule is none that an ordering may rest on, or the options of a side put unlike units together.

    Examples
    --------
    >>> draw = lambda rng: random_quadratics(4, 3, seed=int(rng.integers(2**31)))
    >>> stated = Ordering(
    ...     Side("gd", "lr = 1/L", problem=draw), Side("gd", "lr = 1/(2*L)", problem=draw), metric="gap", rounds=30, draws=10
    ... )
    >>> claim = state("MINE-1", "my paper", "Remark 1", "1/L is faster.", stated)
    >>> from fedtheory.claims.checking import judge_claim
    >>> print(judge_claim(claim, "mine.py", Context()).status)
    reproduced
    """

    first: Side
    second: Side
    _: KW_ONLY
    metric: str
    rounds: int
    summary: RunSummary = "last"
    draws: int = 20
    coins: int = 1
    level: float = 0.99
    comparisons: int = 1
    by: float = 0.0
    name: str = ""
    units: str = ""

    def __post_init__(self) -> None:
        """Refuse rules that are too weak, and options that put unlike units together."""
        look_up(self.metric)
        if self.draws < LEAST_DRAWS:
            raise InvalidInput(f"an ordering rests on at least {LEAST_DRAWS} draws of data and coins, got {self.draws}")
        if not 0.9 <= self.level < 1:
            raise InvalidInput(f"the level of the interval must lie in [0.9, 1), got {self.level}")
        if not 1 <= self.coins <= 1_000 or self.comparisons < 1 or self.rounds < 1:
            raise InvalidInput("coins (up to a thousand), comparisons and rounds are whole numbers of at least one")
        if not (np.isfinite(self.by) and self.by >= 0):
            raise InvalidInput(f"by how much the first is better must be a number >= 0, got {self.by}")
        if self.summary not in ("last", "mean", "best", "late"):
            raise InvalidInput(f"a run is summed up by last, mean, best or late, got {self.summary!r}")
        require_units(self.unlike_units, self.units)

    @cached_property
    def unlike_units(self) -> str:
        """What options put together that has unlike units; certified constants have those of a class's, others unknown ones."""
        region = Region.parse(", ".join(f"0 < {name}" for name in sorted(self.some_point)))
        return find_unlike_units(region, self.units, self._read_units)

    def _read_units(self, reading: UnitReading) -> None:
        for name, unit in CONSTANT_UNITS.items():
            if name in reading.values:
                reading.system.equate(unit_of(reading.values[name]), unit)
        for named in self.stated_methods.values():
            reading.read_method(named)
        reading.read_ranges(())

    @property
    def is_share(self) -> bool:
        """Whether more is better."""
        return look_up(self.metric).is_share

    @property
    def shared_level(self) -> float:
        """The level of this interval, such that all comparisons together keep the level."""
        return 1 - (1 - self.level) / self.comparisons

    @property
    def rule(self) -> str:
        """What decides, in words."""
        coins = f" of {self.coins} sequences of coins each" if self.coins > 1 else ""
        return f"the interval at level {self.shared_level:.6g} over {self.draws} draws{coins}: {self.metric}, {self.summary} of {self.rounds} rounds"

    def near_misses(self) -> dict[str, Ordering]:
        """Nothing but noise at a level a hundred times stricter, and the ordering the other way round, on other draws of data and coins."""
        first, second = (replace(side, first_draw=OTHER_DRAWS) for side in (self.first, self.second))
        return {
            "the first side against itself, on other draws": replace(
                self, second=first, comparisons=100 * self.comparisons
            ),
            "the other way round, on other draws": replace(self, first=second, second=first),
        }

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """The methods of both sides."""
        return {"first": self.first.named_method, "second": self.second.named_method}

    @property
    def some_point(self) -> Mapping[str, Fraction]:
        """One for every certified constant that options speak of."""
        texts = [text for named in self.stated_methods.values() for text in named.expressions.values()]
        return {name: Fraction(1) for text in texts for name in text.names}

    def with_options(self, changed: Mapping[str, str]) -> Ordering:
        """The same with other options of a side's method."""
        return replace(self, **{side: replace(getattr(self, side), options=text) for side, text in changed.items()})

    def findings(self, context: Context) -> Iterator[Finding]:
        """One part, the paired interval over draws; and what the statement leaves open."""
        yield from tell_options(self, context, Ordering._find)

    def _find(self, context: Context) -> Iterator[Finding]:
        draws = self.draws * context.pick(1, FULL)
        sides = [
            np.array([self._of_draw(side, (context.seed, side.first_draw + k)) for k in range(draws)])
            for side in (self.first, self.second)
        ]
        yield self.judged(*sides)

    def judged(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> Part:
        """The part that values of both sides, one a draw, come to.

        Of logarithms, or shares; what is not finite has diverged. Where runs diverged it holds if those of the second all did and none of the first,
        fails the other way round, and is undecided otherwise.
        """
        sign = 1 if self.is_share else -1
        higher, lower = (np.where(np.isfinite(values), sign * values, np.nan) for values in (first, second))
        what = "share" if self.is_share else "logarithm"
        better = int((higher - lower > self.by).sum())
        part = ordered(
            "ordering", higher, lower, f"{self}, in {what}", by=self.by, engine="numeric", level=self.shared_level
        )
        text = f"{part.text}; better in {better} of {len(higher)} draws of data and coins"
        covered = Covered(len(higher), "draws")
        return replace(part, text=text, covered=covered, data={"first": first.tolist(), "second": second.tolist()})

    def _of_draw(self, side: Side, draw: tuple[int, int]) -> float:
        every = self.rounds if self.summary == "last" else 1
        values = side.values(draw, self.metric, self.rounds, self.coins, every)
        if self.summary == "best":
            summed = values.max(axis=-1) if self.is_share else values.min(axis=-1)
        else:
            first = {"last": -1, "mean": 0, "late": -(-values.shape[-1] // 2)}[self.summary]
            summed = values[..., first:].mean(axis=-1)
        if self.is_share:
            return float(summed.mean())
        return float(np.log(np.maximum(summed, REACHED * values[..., 0])).mean())

    def __str__(self) -> str:
        return self.name or f"{self.first} is better than {self.second} in {self.metric} after {self.rounds} rounds"

"""How fast a method converges on an instance, as data: a factor a round, a power of the number of rounds, or an exponent of the landscape.

    Rate("fedavg", "lr, steps = 2", problem=curved_counterexample, metric="distance",
         region="0 < b < a, 0 < lr < 2*(a - b)/(a**2 + b**2)", factor="((1 - lr*a)**2 + (1 + lr*b)**2)**2/4")

    Rate("gd", "lr = 1/L", problem=flat_bottom, start=1, region="L in 1..2", metric="gap", exponent=2)

The metric is one of `fedtheory.measures.catalogue` by name, or a function of parameters to a metric, such as a potential
(``lambda eta: lagrangian(1/eta)``, whose least value is then taken to be zero). A factor of a metric that is a square of the distance to the
minimiser is decided in fractions where a round is an affine map, by the roots of the recurrence that the model's differences obey; everything
else is fitted on runs, with an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Finding, Part, Picture, PictureOfStatement, Replay
from fedtheory.claims.context import Context
from fedtheory.claims.parts import decided, disproved, proved_from_statement
from fedtheory.claims.statements.limit import Limit
from fedtheory.claims.statements.named_methods import Formula, call_with_parameters
from fedtheory.claims.statements.on_instances import (
    InstanceStatement,
    Point,
    fraction_between,
    largest_root,
    point_in_floats,
    store_point,
)
from fedtheory.claims.statements.on_region import show_values
from fedtheory.claims.statements.pictures import draw_rate
from fedtheory.claims.statements.unit_reading import UNCHECKED, UnitReading
from fedtheory.claims.statements.unstated import tell_options
from fedtheory.core.arrays import Array
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.problem import Problem
from fedtheory.measures import metrics
from fedtheory.measures.catalogue import choose_metrics, look_up
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.measures.kl import implied_rate, kl_exponent
from fedtheory.measures.metrics import Metric
from fedtheory.measures.rates import fit_contraction, fit_exponent
from fedtheory.proofs.facts import compare, take_facts, write_fact
from fedtheory.proofs.recurrences import Recurrence, lies_within, to_fractions
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.units import NONE, OF_VALUES
from fedtheory.running.runner import run

#: metrics that are squares of the distance to the minimiser, up to constants
SQUARES = ("stationarity", "distance", "gap")
#: rounds of runs, by budget
FIT_ROUNDS = {"quick": 2_000, "full": 20_000}
#: what fits leave open: a share of the logarithm of a factor, and of an exponent
LOG_SHARE, POWER = 0.02, 0.05

RateSummary = Literal["last", "mean", "least"]


@dataclass(frozen=True)
class Rate(InstanceStatement):
    """A rate of convergence; one of ``factor``, ``exponent`` and ``theta`` is claimed.

    Parameters
    ----------
    metric : name of a metric, or function of parameters to one
    factor : expression
        The metric falls by it in every round, asymptotically: at most this, and with ``tight`` no less.
    exponent : expression
        The metric is of order T^-exponent after T rounds, or smaller.
    theta : expression
        The Kurdyka-Lojasiewicz exponent of the objective along the run, by gaps and gradients, is at most this.
    minimum : expression, optional
        The least value, for ``theta``, where it is known; by default it is found and certified.
    summary : "last", "mean" or "least"
        Of the metric over the rounds so far.
    tight : bool
        Whether the rate is no better than claimed, either.

    Examples
    --------
    >>> pair = lambda a: scalar_quadratics(np.array([a, a], dtype=object), np.array([a, -a], dtype=object))
    >>> stated = Rate(
    ...     "gd", "lr", problem=pair, start=2, metric="distance", region="0 < a, 0 < lr < 1/a", factor="(1 - lr*a)**2"
    ... )
    >>> claim = state("MINE-1", "my paper", "Remark 1", "It is linear.", stated)
    >>> from fedtheory.claims.checking import judge_claim
    >>> print(judge_claim(claim, "mine.py", Context()).status)
    proved
    """

    metric: str | Callable[..., Metric] = "stationarity"
    factor: Formula | None = None
    exponent: Formula | None = None
    theta: Formula | None = None
    minimum: Formula | None = None
    summary: RateSummary = "last"
    tight: bool = False

    def __post_init__(self) -> None:
        """Read the texts."""
        if sum(v is not None for v in (self.factor, self.exponent, self.theta)) != 1:
            raise InvalidInput("a rate claims one of factor, exponent and theta")
        if isinstance(self.metric, str):
            look_up(self.metric)
        super().__post_init__()

    def near_misses(self) -> dict[str, Rate]:
        """A better rate, and where it is tight a worse one.

        A factor f becomes f(19 + f)/20, which is a twentieth better near one, or f(21 - f)/20; a power differs by 1/5, theta by 1/10.
        """
        name, given = self._own_texts()[0]
        moved = {
            "factor": ("f*(19 + f)/20", "f*(21 - f)/20"),
            "exponent": ("f + 1/5", "f - 1/5"),
            "theta": ("f - 1/10", "f + 1/10"),
        }[name]
        found = {}
        for what, text in zip(("better", "worse") if self.tight else ("better",), moved, strict=False):
            change: dict[str, Any] = {name: str(Expression.parse(text).substitute({"f": given}))}
            found[f"a {what} {name}: {text} in the place of f"] = replace(self, **change)
        return found

    def _own_texts(self) -> list[tuple[str, Expression]]:
        given = {"factor": self.factor, "exponent": self.exponent, "theta": self.theta}
        texts = [(name, Expression.parse(value)) for name, value in given.items() if value is not None]
        return texts + ([] if self.minimum is None else [("minimum", Expression.parse(self.minimum))])

    def _read_own_units(self, reading: UnitReading, fields: Mapping[str, Any]) -> None:
        for name, text in self._own_texts():
            unit = OF_VALUES if name == "minimum" else NONE
            reading.require(f"{name} =", text, unit, "the least value" if name == "minimum" else f"a {name}")

    def findings(self, context: Context) -> Iterator[Finding]:
        """Parts of a check: exact where that can be had, fits otherwise."""
        yield from tell_options(self, context, Rate._find)
        yield PictureOfStatement(self.draw)

    def draw(self, seed: int) -> Picture | None:
        """A run where the claimed rate is slowest, and the claimed curve; None for exponents of landscapes, and metrics without a name."""
        if self.theta is not None or not isinstance(self.metric, str):
            return None
        factor = self.factor is not None
        point = (max if factor else min)(self.points, key=self.claimed_at)
        claimed = float(self.claimed_at(point))
        return draw_rate(self, point, seed, self.metric, claimed, factor=factor, sum_up=self._summed_up)

    def _find(self, context: Context) -> Iterator[Finding]:
        if self.factor is None or self.metric not in SQUARES or self.summary != "last":
            yield self._fitted(self.points, context)
            return
        try:
            general = self._in_general()
        except (FedtheoryError, ArithmeticError, TypeError, AttributeError, ValueError):
            general = False
        if general:
            yield proved_from_statement(
                "factor",
                f"{self}: the one multiplier, squared, is compared with the claimed factor for all parameters",
            )
            return
        take_facts()
        yield from self._at_points(context)

    def claimed_at(self, point: Point) -> Fraction:
        """The claimed factor, exponent or theta."""
        return Fraction(self._own_texts()[0][1].at(point))

    def _in_general(self) -> bool:
        claim = self._own_texts()[0][1]
        for field, values, m, v, start in self.for_all_parameters():
            star = self.problem_at(values).solution()[0]
            room = claim.at(values) - m * m
            sign = field.sign(room)
            if m * star + v != star or sign is None or sign.direction < 0:
                return False
            moved = field.sign(start - star)
            if self.tight and (room != field.zero or moved is None or not moved.strict):
                return False
            write_fact("sign", f"({m})^2 <= {claim} on {self.parameters}")
            write_fact("identity", f"the minimiser {star} is the fixed point of x -> ({m}) x + {v}")
        return True

    def _at_points(self, context: Context) -> Iterator[Finding]:
        yield from self.left_out()
        shown = 0
        runs: list[Point] = []
        for point in self.exact_points:
            found, where, claimed = self.followed(point), show_values(point), self.claimed_at(point)
            try:
                star = to_fractions(self.problem_at(point).solution())
                if found is None:
                    raise InvalidInput("it is not in fractions")
            except (FedtheoryError, AttributeError, ArithmeticError, TypeError, ValueError):
                runs += [point] if point in self.points else []
                continue
            if lies_within(found.polynomial, Fraction(1)) is not True:
                yield Part("factor", None, "spectrum", f"{self}: at {where} a multiplier is not below one in modulus")
                return
            limit = found.limit()
            reached = [a == b for a, b in zip(limit, star, strict=True)]
            if not all(reached):
                k = reached.index(False)
                compare(limit[k], "!=", star[k])
                text = f"{self}: at {where} x converges to {limit[k]} and the minimiser is {star[k]}, so that the metric does not fall to zero"
                yield self.at_point(decided("factor", False, text, "spectrum"), point)
                return
            against = lies_within(found.squared, max(claimed, Fraction(0)))
            if against is False or (self.tight and against is True):
                more = "more" if against is False else "less"
                text = f"{self}: at {where} the factor is {_show_factor(found)}, {more} than {claimed}"
                yield self.at_point(disproved("factor", True, text, "spectrum"), point)
                return
            shown += 1
        if shown:
            scope = self.scope(shown) if not runs else f"{shown} points"
            text = f"{self}: the largest squared modulus of a multiplier that the start excites is within the claim, at {shown} points in fractions"
            yield proved_from_statement("factor", text, "spectrum", scope=scope)
        if runs:
            yield self._fitted(runs, context, f", in floats ({self.why_in_floats(runs[0])})")

    def _measured(self, point: Point) -> Replay:
        found, where, claimed = self.followed(point), show_values(point), self.claimed_at(point)
        if found is None:
            raise InvalidInput(f"at {where} the method cannot be followed in fractions")
        if list(found.limit()) != to_fractions(self.problem_at(point).solution()):
            given = {name: getattr(self, name) for name in ("problem", "start", "region", "where")}
            return Limit(self.method, self.options, **given, units=UNCHECKED).replay(store_point(point))
        factor = largest_root(self.recurrence_in_floats(point, len(found.polynomial) - 1)) ** 2
        limit = float(self._own_texts()[0][1].at(point_in_floats(point), float))
        exact, told = found.find_squared_modulus(), ""
        if exact is None:
            between = fraction_between(*sorted((float(claimed), found.largest_modulus() ** 2)))
            exact = between if lies_within(found.squared, between) is (between < claimed) else claimed
            told = ", in fractions a number between,"
        if self.tight and exact < claimed:
            what = f"the claimed factor at {where} against the largest one{told}"
            return Replay(what.rstrip(","), limit, factor, claimed, exact, "fractions", ())
        return Replay(
            f"the factor{told} at {where} against the claimed one", factor, limit, exact, claimed, "fractions", ()
        )

    def _fitted(self, points: Sequence[Point], context: Context, why: str = "") -> Part:
        """Fits on runs, each with its interval; the worst of them decides."""
        outcomes: list[bool | None] = []
        told = ""
        for point in points:
            try:
                outcome, said = self._fit(point, context)
            except FedtheoryError as error:
                outcome, said = None, str(error)[:200]
            if not outcomes or (outcome is not True and all(outcomes)):
                told = f"at {show_values(point)}: {said}"
            outcomes.append(outcome)
        holds = False if False in outcomes else None if None in outcomes else True
        return Part(
            "fit",
            holds,
            "numeric",
            f"{self}: {len(points)} run{'s' * (len(points) > 1)}{why}; {told}",
            covered=self.covered(points),
        )

    def _fit(self, point: Point, context: Context) -> tuple[bool | None, str]:
        method, problem, x0 = self.float_instance(point)
        claimed, rounds = float(self.claimed_at(point)), FIT_ROUNDS[context.budget]
        if self.theta is not None:
            return self._landscape(method, problem, x0, claimed, rounds, point, context)
        if isinstance(self.metric, str):
            method, chosen = choose_metrics([self.metric], method, problem, x0[None, :])
            metric = chosen[self.metric]
        else:
            plain = {name: float(value) for name, value in point.items()}
            metric = call_with_parameters(self.metric, plain)
        measured = {"m": metric} | ({"f": metrics.value} if self.metric == "gap" else {})
        trace = run(method, problem, x0, rounds, seed=context.seed, metrics=measured, progress=False)
        values = self._summed_up(trace["m"])
        if self.factor is not None:
            error = 4 * np.finfo(float).eps * float(np.abs(trace["f"]).max()) if "f" in measured else 0.0
            fit, goal = fit_contraction(trace.rounds, values, error=error), claimed ** (1 - LOG_SHARE)
            quick, slow = claimed ** (1 + LOG_SHARE), goal
            said = f"factor {fit}, claimed {claimed:.6g}"
        else:
            fit = fit_exponent(trace.rounds, values)
            quick, slow = -claimed - POWER, -claimed + POWER
            said = f"power {fit}, claimed {-claimed:.4g}"
        if fit.low > slow or (self.tight and fit.high < quick):
            return False, said
        return (True if fit.high <= slow and (not self.tight or fit.low >= quick) else None), said

    def _landscape(
        self,
        method: Algorithm,
        problem: Problem,
        x0: Array,
        claimed: float,
        rounds: int,
        point: Point,
        context: Context,
    ) -> tuple[bool | None, str]:
        """The exponent along a run; what it implies is told."""
        if self.minimum is None:
            truth = ground_truth(problem, witness=False)
            lowest, error = truth.f, truth.gap + 4 * np.finfo(float).eps * abs(truth.f)
        else:
            lowest = float(Expression.parse(self.minimum).at(point))
            error = 4 * np.finfo(float).eps * abs(lowest)
        asked = {"gap": metrics.gap(lowest), "slope": metrics.stationarity}
        trace = run(method, problem, x0, rounds, seed=context.seed, metrics=asked, progress=False)
        seen = kl_exponent(trace["gap"], np.sqrt(trace["slope"]), error=error)
        said = f"exponent {seen}, claimed {claimed:.4g}, which implies a {implied_rate(claimed).kind} rate"
        if seen.low > claimed + POWER or (self.tight and seen.high < claimed - POWER):
            return False, said
        inside = seen.high <= claimed + POWER and (not self.tight or seen.low >= claimed - POWER)
        return (True if inside else None), said

    def _summed_up(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.summary == "mean":
            return np.asarray(np.cumsum(values) / np.arange(1, len(values) + 1))
        return np.minimum.accumulate(values) if self.summary == "least" else values


def _show_factor(found: Recurrence) -> str:
    """The square of the largest modulus, as a fraction where it is a simple one."""
    exact = found.find_squared_modulus()
    return f"about {found.largest_modulus() ** 2:.9g}" if exact is None else str(exact)

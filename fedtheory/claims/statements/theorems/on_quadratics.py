"""A theorem on a listed method, tried without any engine: its own rounds on random quadratics of several clients, in fractions.

Clients have f_i(x) = sum_k a_ik (x_k - b_ik)^2/2 with curvatures a_ik in the class, and mean_i a_i b_i = 0, so that the origin is stationary for
the average.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.statements.theorems.played import Outcomes, choices_of_clients, concrete_fields
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.worlds import Concrete
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.exact import in_floats
from fedtheory.core.states import arrays_of
from fedtheory.proofs.checker.reading import read_number
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.potentials.invariants import outcomes_of_round

#: numbers of clients that are tried, and coordinates of the functions
NUMBERS, COORDINATES = (1, 2, 3, 5, 8, 30), 2
#: how many times as far some runs begin
FROM_AFAR = 32
#: the kind of an instance that is such a run
QUADRATICS = "quadratics of n clients"


@dataclass(frozen=True)
class QuadraticRun:
    """Curvatures and centres of the clients, rows of numbers, where a run starts, and the parameters; ``left``: by how much a claim fails there.

    ``offset``: what is added to all values.
    """

    point: Mapping[str, Fraction]
    curvature: tuple[tuple[Fraction, ...], ...]
    centre: tuple[tuple[Fraction, ...], ...]
    start: tuple[Fraction, ...]
    left: Fraction = Fraction(0)
    offset: Fraction = Fraction(0)
    kind: str = QUADRATICS

    @property
    def clients(self) -> int:
        """How many."""
        return len(self.curvature)

    def times(self, size: Fraction) -> QuadraticRun:
        """The same with a start and centres so many times as large."""
        centre = tuple(tuple(size * b for b in row) for row in self.centre)
        return replace(self, centre=centre, start=tuple(size * x for x in self.start))

    def store(self) -> dict[str, Any]:
        """As plain data: fractions as text."""
        rows: dict[str, Any] = {
            name: [[str(x) for x in row] for row in getattr(self, name)] for name in ("curvature", "centre")
        }
        point = {name: str(value) for name, value in self.point.items()}
        return {"kind": self.kind, "point": point, **rows, "start": [*map(str, self.start)], "left": str(self.left)} | (
            {"offset": str(self.offset)} if self.offset else {}
        )

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> QuadraticRun:
        """From plain data.

        Raises
        ------
        ValueError
            They are malformed; the message is one line.
        """
        if {*data} - {"offset"} != {"kind", "point", "curvature", "centre", "start", "left"}:
            raise ValueError(
                "a run on quadratics has the fields kind, point, curvature, centre, start, left, and perhaps offset"
            )
        curvature, centre = (
            tuple(tuple(map(read_number, row)) for row in data[name]) for name in ("curvature", "centre")
        )
        start = tuple(map(read_number, data["start"]))
        if (
            not curvature
            or {len(row) for row in (*curvature, *centre)} != {len(start)}
            or len(curvature) != len(centre)
        ):
            raise ValueError("curvatures and centres are one row a client, as long as the start")
        point = {str(name): read_number(value) for name, value in data["point"].items()}
        return cls(point, curvature, centre, start, read_number(data["left"]), read_number(data.get("offset", "0")))


def draw_runs(
    states: MethodStates, point: Mapping[str, Fraction], rng: np.random.Generator, numbers: Sequence[int] = NUMBERS
) -> Iterator[QuadraticRun]:
    """A random run for each number of clients; half of all curvatures are ends of the class.

    Raises
    ------
    InvalidInput
        mu may not be below L.
    """
    low, high = _ends(states, point)
    who = states.who(point)
    for n in numbers if who is None else (who.n,):
        shares = np.where(
            rng.random((n, COORDINATES)) < 0.5,
            4 * rng.integers(0, 2, (n, COORDINATES)),
            rng.integers(0, 5, (n, COORDINATES)),
        )
        curvature = [[low + Fraction(int(k), 4) * (high - low) for k in row] for row in shares]
        yield _draw_run(point, curvature, rng)


def draw_plain_runs(
    states: MethodStates, point: Mapping[str, Fraction], rng: np.random.Generator
) -> Iterator[QuadraticRun]:
    """Runs of few clients, from where f is stationary and from far away: a random one, and of one curvature, an end of the class or a parameter."""
    low, high = _ends(states, point)
    who = states.who(point)
    for n in (1, 2) if who is None else (who.n,):
        runs = [*draw_runs(states, point, rng, (n,))]
        for a in sorted({low, high, *(value for value in point.values() if low < value < high)}):
            runs.append(_draw_run(point, [[a] * COORDINATES] * n, rng))
        for run in runs:
            yield from (replace(run, start=tuple(far * x for x in run.start)) for far in (1, 0, FROM_AFAR))


def _ends(states: MethodStates, point: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    low, high = (states.constants[name].at(point) for name in ("mu", "L"))
    if not low < high:
        raise InvalidInput(f"the class needs mu < L, got mu = {low}, L = {high}")
    return low, high


def _draw_run(
    point: Mapping[str, Fraction], curvature: Sequence[Sequence[Fraction]], rng: np.random.Generator
) -> QuadraticRun:
    """Random centres and start."""
    centre = [[Fraction(int(k), 3) for k in row] for row in rng.integers(-9, 10, (len(curvature), COORDINATES))]
    for k in range(COORDINATES):
        centre = _balanced(curvature, centre, k)
    start = tuple(Fraction(int(k), 2) for k in rng.integers(-9, 10, COORDINATES))
    return QuadraticRun(dict(point), tuple(map(tuple, curvature)), tuple(map(tuple, centre)), start)


def _balanced(curvature: Sequence[Sequence[Fraction]], centre: list[list[Fraction]], k: int) -> list[list[Fraction]]:
    """Centres with sum_i a_ik b_ik = 0: the last client that has a curvature is moved."""
    last = max((i for i, row in enumerate(curvature) if row[k]), default=None)
    if last is not None:
        rest = sum((curvature[i][k] * centre[i][k] for i in range(len(centre)) if i != last), Fraction(0))
        centre[last][k] = -rest / curvature[last][k]
    return centre


def require_run(states: MethodStates, run: QuadraticRun) -> None:
    """See that the functions are of the class, that there are as many as the theorem has clients, and that the origin is stationary.

    Raises
    ------
    InvalidInput
        They are not.
    """
    low, high = (states.constants[name].at(run.point) for name in ("mu", "L"))
    if not (low < high and all(low <= a <= high for row in run.curvature for a in row)):
        raise InvalidInput("the curvatures are not between mu and L")
    who = states.who(run.point)
    if who is not None and who.n != run.clients:
        raise InvalidInput(f"the theorem is about {who.n} clients, and the run has {run.clients}")
    pulls = [sum(a[k] * b[k] for a, b in zip(run.curvature, run.centre, strict=True)) for k in range(len(run.start))]
    if any(pulls):
        raise InvalidInput("the origin is not stationary for the average")


@dataclass(frozen=True)
class _OfClients:
    """f_i, or the average f, as a quantity asks for it."""

    functions: SeparableQuadratics
    average: bool
    offset: Any

    def at(self, x: Concrete) -> tuple[Concrete, Any]:
        """Gradients, and the mean value."""
        points = np.array([list(row) for row in x.clients], dtype=object)
        slope = Concrete(tuple(map(tuple, self.functions.grad(points))))
        values = self.functions.value(points) + self.offset
        return slope.averaged() if self.average else slope, sum(values) / len(values)

    def of_each(self, x: Concrete) -> bool:
        """Whether its values are one of each client."""
        return not self.average


def list_end_runs(states: MethodStates, point: Mapping[str, Fraction]) -> Iterator[QuadraticRun]:
    """Runs that may come back: of curvatures at the ends of the class, one client and two unlike ones, from 1 and from where x stays."""
    low, high = (states.constants[name].at(point) for name in ("mu", "L"))
    who = states.who(point)
    for curvature, centre in (((high,), (0,)), ((low,), (0,)), ((high, low), (low, -high))):
        times = 1 if who is None else max(1, int(who.n) // len(curvature))
        rows = tuple((Fraction(a),) for a in curvature * times), tuple((Fraction(b),) for b in centre * times)
        run = QuadraticRun(dict(point), *rows, (Fraction(1),))
        yield run
        with contextlib.suppress(FedtheoryError, ArithmeticError, LookupError, TypeError, ValueError):
            still = _find_still(states, run)
            if still:
                yield replace(run, start=(still,))


def _find_still(states: MethodStates, run: QuadraticRun) -> Fraction | None:
    """Where x stays that a round takes to m x + v; None where it is nowhere."""
    moved = []
    for x in (0, 1):
        ((_, fields),) = play_run(states, replace(run, start=(Fraction(x),)), 1)[1]
        moved.append(Fraction(fields["x"].clients[0][0]))
    v, m = moved[0], moved[1] - moved[0]
    return None if m == 1 else v / (1 - m)


def comes_back(states: MethodStates, run: QuadraticRun, k: int) -> bool:
    """Whether the state two rounds after the k-th is the k-th, so that later rounds, if they are not numbered, repeat these two."""
    outcomes = _play(states, run, k + 2)
    if any(len(of_round) > 1 for of_round in outcomes):
        return False
    then, now = outcomes[k][0][1], outcomes[k + 2][0][1]
    arrays = arrays_of(then)
    return {field.name for field in dataclasses.fields(then)} == {*arrays} and all(
        np.array_equal(value, arrays_of(now)[name]) for name, value in arrays.items()
    )


def play_run(states: MethodStates, run: QuadraticRun, last: int, *, floats: bool = False) -> Outcomes:
    """The states of a run from its start: of every round its outcomes, and what names stand for."""
    given = give_functions(run, floats=floats)
    return [
        [(chance, {**concrete_fields(state, run.clients), **given}) for chance, state in of_round]
        for of_round in _play(states, run, last, floats=floats)
    ]


def give_functions(run: QuadraticRun, *, floats: bool = False) -> dict[str, Any]:
    """What quantities ask for beside the fields of a state: a stationary point of the average, the average and the clients' functions."""
    plain = in_floats(run) if floats else run
    functions = _functions_of(plain)
    zero = Concrete(((Fraction(0),) * functions.d,) * functions.n)
    return {
        "x_star": zero,
        "f": _OfClients(functions, True, plain.offset),
        "f_i": _OfClients(functions, False, plain.offset),
    }


def _functions_of(run: QuadraticRun) -> SeparableQuadratics:
    return SeparableQuadratics(_array(run.curvature), _array(run.centre))


def _play(states: MethodStates, run: QuadraticRun, last: int, *, floats: bool = False) -> list[list[tuple[Any, Any]]]:
    """Of every round its outcomes with their chances."""
    plain = in_floats(run) if floats else run
    algorithm: Any = states.named_method.over(plain.point, float) if floats else states.algorithm(plain.point)
    problem: Any = _functions_of(plain)
    played: list[list[tuple[Any, Any]]] = [[(Fraction(1), algorithm.init(problem, _array([plain.start])))]]
    for k in range(last):
        played.append(
            [
                (a * b * c, after)
                for a, before in played[-1]
                for b, clients in choices_of_clients(states, run.point)
                for c, after in outcomes_of_round(algorithm, problem, before, clients, k)
            ]
        )
    return played


def _array(rows: Any) -> NDArray[Any]:
    return np.array([list(row) for row in rows], dtype=object)

"""Rounds of a listed method on given quadratics, as states of theorems: any dimension, any start, parameters as they are, draws followed exactly.

    run_on_quadratics("fedavg", "lr, steps = 2", curvatures=("2", "-2"), centres=("0", "0"))

Client k has f_k(x) = a_k ||x - c_k||^2/2, with a curvature that is a formula in the parameters, and a centre that is a sum of named vectors, which
may be any. Fields of a state have their names, those of clients the client's number in the place of ``_i``: x, x_1, x_2, h_1. What a round makes
of them is linear, so that a moment after a round is an identity in those before it.

    run_on_equal_curvatures("a-fedpd", "rho, exact", curvature="a", clients="n = C, s = P")

has clients f_i(x) = a ||x - c_i||^2/2, one of every number of clients with any centres, of which some are drawn in each round.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.statements.named_methods import NamedMethod, read_settings
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.worlds import Parameters, World, bar, norm2
from fedtheory.core.arrays import gather, take
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.core.states import arrays_of
from fedtheory.proofs.every_n.cells import cell
from fedtheory.proofs.every_n.vectors import Sampling, Vector
from fedtheory.proofs.parameters.methods import sampling_at
from fedtheory.proofs.potentials.invariants import clients_of, outcomes_of_round, vectors_of
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.spectrum import require_traceable
from fedtheory.proofs.stand_ins import AnyRound
from fedtheory.running.enumeration import enumerate_outcomes, enumerate_subsets

WorldVectors = NDArray[Any]  # (rows, 1), of vectors of a world


@dataclass(frozen=True)
class WorldQuadratics:
    """f_k(x) = a_k ||x - c_k||^2/2 on vectors of a world; arrays ``(n, 1)``."""

    curvature: NDArray[Any]
    centre: WorldVectors
    name = "given quadratics"
    d = 1

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.curvature)

    @property
    def server(self) -> Pooled:
        """The average of all clients: a server that knows the population."""
        clients: Any = self
        return Pooled(clients)

    def grad(self, x: WorldVectors) -> WorldVectors:
        """Gradients."""
        return (x - self.centre) * self.curvature  # type: ignore[no-any-return]

    def prox(self, v: WorldVectors, step: Any) -> WorldVectors:
        """argmin_x f_k(x) + ||x - v_k||^2/(2 step)."""
        return (v + self.centre * (step * self.curvature)) / (1 + step * self.curvature)  # type: ignore[no-any-return]

    def conjugate_grad(self, y: WorldVectors) -> WorldVectors:
        """argmax_x <x, y_k> - f_k(x)."""
        return self.centre + y / self.curvature  # type: ignore[no-any-return]

    def take(self, clients: Clients | None) -> WorldQuadratics:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        return WorldQuadratics(take(self.curvature, clients.index), take(self.centre, clients.index))


@dataclass(frozen=True)
class QuadraticOfRun:
    """f_k, or the average f, as a quantity asks for it: in closed form, so that nothing has to be interpolated."""

    curvatures: Sequence[Any]
    centres: Sequence[Any]

    def at(self, x: Any) -> tuple[Any, Any]:
        """Gradient and value."""
        share = Fraction(1, len(self.curvatures))
        pairs = [(a, x - c) for a, c in zip(self.curvatures, self.centres, strict=True)]
        slope, value = pairs[0][1] * (pairs[0][0] * share), norm2(pairs[0][1]) * (pairs[0][0] * share / 2)
        for a, away in pairs[1:]:
            slope, value = slope + away * (a * share), value + norm2(away) * (a * share / 2)
        return slope, value

    def of_each(self, x: Any) -> bool:
        """Its values are numbers."""
        return False


@dataclass(frozen=True)
class _Run:
    """What is played: a method, the instance, who takes part; ``started``: from the method's start, and not from any state."""

    method: str
    options: str
    curvatures: tuple[str, ...]
    centres: tuple[str, ...]
    participants: int | None
    ties: tuple[str, ...]
    started: bool

    def __str__(self) -> str:
        clients = ", ".join(f"{a} ||x - {c}||^2/2" for a, c in zip(self.curvatures, self.centres, strict=True))
        drawn = "" if self.participants is None else f", {self.participants} of {len(self.curvatures)} clients a round"
        return f"{NamedMethod(self.method, self.options)} on {clients}{drawn}"

    def __call__(self, world: World, p: Parameters, last: int) -> list[Any]:
        numbers = vars(p)
        vectors = {name: world.vector(name) for name in self._names_of_vectors()}
        zero = next(iter(vectors.values())) * 0
        centres = [_combination(text, vectors, numbers, zero) for text in self.centres]
        curvatures = [Expression.parse(text).at(numbers) for text in self.curvatures]
        problem: Any = WorldQuadratics(_column(curvatures), _column(centres))
        algorithm: Any = NamedMethod(self.method, self.options).over(numbers)
        require_traceable(algorithm, "symbolic")
        state = algorithm.init(problem, _column([vectors["x_0"]]))
        if not self.started:
            state = self._any_state(world, state, numbers, zero)
        played: list[list[tuple[Any, Any]]] = [[(Fraction(1), state)]]
        who = (
            [(Fraction(1), None)]
            if self.participants is None
            else enumerate_subsets(len(curvatures), self.participants)
        )
        for _ in range(last):
            played.append(
                [
                    (a * b * c, after)
                    for a, before in played[-1]
                    for b, clients in who
                    for c, after in self._outcomes(algorithm, problem, before, clients)
                ]
            )
        given = {**vectors, "f": QuadraticOfRun(curvatures, centres), "zero": zero}
        given |= {
            f"f_{k + 1}": QuadraticOfRun([a], [c]) for k, (a, c) in enumerate(zip(curvatures, centres, strict=True))
        }
        return [
            [(chance, SimpleNamespace(**given, **_rows(after))) for chance, after in of_round] for of_round in played
        ]

    def _outcomes(self, algorithm: Any, problem: Any, state: Any, clients: Any) -> list[tuple[Any, Any]]:
        number: Any = AnyRound()
        return enumerate_outcomes(lambda key: algorithm.round(problem, state, clients, key), number)

    def _names_of_vectors(self) -> list[str]:
        found = {name for text in self.centres for name in Expression.parse(text).names if name.startswith("c")}
        return ["x_0", *sorted(found)]

    def _any_state(self, world: World, state: Any, numbers: Mapping[str, Any], zero: Any) -> Any:
        """Unknown vectors in all fields; of a tie, a sum of fields that is zero, the last one is the others'."""
        if taken := sorted({*self._names_of_vectors()} & {*_rows(state)}):
            raise InvalidInput(
                f"{taken[0]!r} of the centres is a field of {self.method}; give the centres other names that start with c, such as 'centre_1'"
            )
        fresh = _tied({name: world.vector(name) for name in _rows(state)}, self.ties, numbers, zero)
        arrays = {name: value for name, value in arrays_of(state).items() if value.dtype == object}
        return dataclasses.replace(
            state,
            **{
                name: _column([fresh[row] for row in _names_of_rows(name, len(value))])
                for name, value in arrays.items()
            },
        )


def run_on_quadratics(
    method: str,
    options: str = "",
    *,
    curvatures: Sequence[str],
    centres: Sequence[str],
    participants: int | None = None,
    ties: Sequence[str] = (),
) -> PlayedStates:
    """States of a listed method on given quadratics.

    Parameters
    ----------
    method, options : as for other statements
    curvatures : a formula in the parameters for each client
    centres : for each client a sum of vectors whose names start with c (c, c_1, c_2, ...), times formulas; "0"
    participants : int, optional
        How many clients are drawn in each round; all take part otherwise.
    ties : sums of fields that are zero in every state, such as "h_1 + h_2"
        That the first state has them and that rounds keep them is proved.

    In quantities: fields of the state, ``x_0`` (the start), the vectors of centres, ``f`` (the average) and ``f_1``, ``f_2``, ...

    Examples
    --------
    >>> states = run_on_quadratics("gd", "lr", curvatures=("a",), centres=("0",))
    >>> print(states.play)
    gd(lr) on a ||x - 0||^2/2
    """
    if len(curvatures) != len(centres) or not curvatures:
        raise InvalidInput(
            f"one curvature and one centre a client are needed, got {len(curvatures)} and {len(centres)}"
        )
    for text in centres:
        if not Expression.parse(text).names and text.strip() != "0":
            raise InvalidInput(f"a centre is a sum of vectors c, c_1, c_2, ..., or 0, and no number; got {text!r}")
    if participants is not None and not 1 <= participants <= len(curvatures):
        raise InvalidInput(f"from 1 to {len(curvatures)} clients may take part, got {participants}")
    made = _Run(method, options, tuple(curvatures), tuple(centres), participants, tuple(ties), started=False)
    return PlayedStates(made, dataclasses.replace(made, started=True))


@dataclass(frozen=True)
class _EqualCurvatures:
    """f_i(x) = a ||x - c_i||^2/2, of every client, on arrays that stand for all of them."""

    curvature: Any
    centre: Any
    n: Any
    name = "quadratics of one curvature"
    d = 1

    def grad(self, x: Any) -> Any:
        """Gradients."""
        return (x - self.centre) * self.curvature

    def prox(self, v: Any, step: Any) -> Any:
        """argmin_x f_i(x) + ||x - v_i||^2/(2 step)."""
        return (v + self.centre * (step * self.curvature)) / (1 + step * self.curvature)

    def conjugate_grad(self, y: Any) -> Any:
        """argmax_x <x, y_i> - f_i(x)."""
        return self.centre + y / self.curvature

    def take(self, clients: Any) -> _EqualCurvatures:
        """Restrict to the clients that take part."""
        return self if clients is None else dataclasses.replace(self, centre=gather(self.centre, clients), n=clients.s)


@dataclass(frozen=True)
class _DrawnRun:
    """What is played: a method, the curvature, how many clients there are and take part; ``started``: from the method's start."""

    method: str
    options: str
    curvature: str
    clients: str
    ties: tuple[str, ...]
    alike: bool
    started: bool

    def __str__(self) -> str:
        centre = "c" if self.alike else "c_i"
        return (
            f"{NamedMethod(self.method, self.options)} on {self.curvature} ||x - {centre}||^2/2, clients {self.clients}"
        )

    def who(self, numbers: Mapping[str, Any]) -> Sampling | None:
        """Who takes part."""
        return sampling_at(
            {name: Expression.parse(text) for name, text in read_settings(self.clients).items()}, numbers
        )

    def __call__(self, world: World, p: Parameters, last: int) -> list[Any]:
        numbers = vars(p)
        who, x_0, z = self.who(numbers), world.vector("x_0"), world.vector("z")
        named = "c" if self.alike else "c_i"
        c = world.vector(named, not self.alike)
        if not isinstance(c, Vector):
            raise InvalidInput("runs of every number of clients are not played on plain numbers")
        if who is not None and last > 1:
            raise InvalidInput("where clients are drawn a line is about one round and the next")
        n = clients_of(who)
        algorithm: Any = NamedMethod(self.method, self.options).over(numbers)
        problem: Any = _EqualCurvatures(Expression.parse(self.curvature).at(numbers), cell(c, n), n)
        state = algorithm.init(problem, cell(x_0))
        if not self.started:
            state = self._any_state(world, state, numbers, x_0 * 0)
        played: list[list[tuple[Any, Any]]] = [[(Fraction(1), state)]]
        for _ in range(last):
            played.append(
                [
                    (a * b, after)
                    for a, before in played[-1]
                    for b, after in outcomes_of_round(algorithm, problem, before, who)
                ]
            )
        return [
            [(chance, SimpleNamespace(x_0=x_0, z=z, **{named: c}, **vectors_of(after))) for chance, after in of_round]
            for of_round in played
        ]

    def _any_state(self, world: World, state: Any, numbers: Mapping[str, Any], zero: Any) -> Any:
        """Unknown vectors in all fields, less what ties take: averages that are zero, and then sums of fields and of averages."""
        fields = {
            name: world.vector(name, client=not v.common or name.endswith("_i"))
            for name, v in vectors_of(state).items()
        }
        centred = [found[1] for text in self.ties if (found := re.fullmatch(r"bar\((\w+)\)", text))]
        fields |= {name: fields[name] - bar(fields[name]) for name in centred if name in fields}
        averages = {f"bar_{name}": bar(v) for name, v in fields.items()}
        sums = [
            re.sub(r"bar\((\w+)\)", r"bar_\1", text) for text in self.ties if text not in map("bar({})".format, centred)
        ]
        unknown = {name for text in sums for name in Expression.parse(text).names} - {*fields, *averages, *numbers}
        for name in sorted({*centred, *unknown} - {*fields}):
            raise InvalidInput(f"{name!r} of a tie is no field; fields are {', '.join(fields)}")
        fields = _tied(fields, sums, numbers, zero, averages)
        return dataclasses.replace(state, **{name: cell(v, getattr(state, name).rows) for name, v in fields.items()})


def run_on_equal_curvatures(
    method: str,
    options: str = "",
    *,
    curvature: str,
    clients: str = "",
    ties: Sequence[str] = (),
    alike: bool = False,
) -> PlayedStates:
    """States of a listed method on clients a ||x - c_i||^2/2 with any centres, for every number of clients, or s of n that are drawn in each round.

    Parameters
    ----------
    method, options : as for other statements
    curvature : a formula in the parameters
    clients : as `fedtheory.claims.MethodStates` has it, "n, s" or "n = 8, s = 2"; empty: all of any number
    ties : sums that are zero in every state, of fields and averages: "mu_i", "bar(mu_i)", "x - x_bar - lam/rho", "lam - bar(lam_i)"
        That the first state has them and that rounds keep them is proved.
    alike : bool
        Whether all clients have one centre c.

    In quantities: fields of the state, ``x_0``, ``c_i`` (or ``c``), and ``z``, which may be any vector.
    """
    made = _DrawnRun(method, options, curvature, clients, tuple(ties), alike, started=False)
    return PlayedStates(made, dataclasses.replace(made, started=True))


def _tied(
    fields: dict[str, Any],
    ties: Sequence[str],
    numbers: Mapping[str, Any],
    zero: Any,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Fields of which sums are zero, with given vectors: the last field of each sum that is open is what the others make it."""
    free = {*fields}
    for text in ties:
        names = sorted(Expression.parse(text).names & free)
        if not names:
            raise InvalidInput(f"the tie {text!r} leaves nothing open; fields are {', '.join(fields)}")
        last = names[-1]
        free.remove(last)
        known = {**given, **fields}
        factor = Expression.parse(text).at({**numbers, **dict.fromkeys(known, Fraction(0)), last: Fraction(1)})
        fields = {**fields, last: _combination(text, {**known, last: zero}, numbers, zero) * (-1 / factor)}
    return fields


def _combination(text: str, vectors: Mapping[str, Any], numbers: Mapping[str, Any], zero: Any) -> Any:
    """A sum of vectors times formulas, by what is linear in each of them."""
    expression = Expression.parse(text)
    names = sorted(expression.names & vectors.keys())
    nothing = {**numbers, **dict.fromkeys(names, Fraction(0))}
    if expression.at(nothing) != 0:
        raise InvalidInput(f"{text!r} is no sum of vectors")
    total = zero
    for name in names:
        total = total + vectors[name] * expression.at({**nothing, name: Fraction(1)})
    return total


def _column(entries: Sequence[Any]) -> NDArray[Any]:
    found = np.empty((len(entries), 1), dtype=object)
    for k, entry in enumerate(entries):
        found[k, 0] = entry
    return found


def _rows(state: Any) -> dict[str, Any]:
    """The vectors of a state by name."""
    return {
        row: value[k, 0]
        for name, value in arrays_of(state).items()
        if value.dtype == object
        for k, row in enumerate(_names_of_rows(name, len(value)))
    }


def _names_of_rows(name: str, rows: int) -> list[str]:
    return [name] if rows == 1 else [f"{name.removesuffix('_i')}_{k + 1}" for k in range(rows)]

"""What a theorem's rounds are played on: any state of a listed method and the ones after it by its own ``round``, or states that a function plays.

A `Trace` holds states as vectors of leaves, for numbers of any kind: fractions, or rational functions of the parameters. Of a listed method, a
state that stands for all is one vector for each field, tied by the linear relations that rounds are proved to keep
(`fedtheory.proofs.potentials.invariants`).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from types import SimpleNamespace
from typing import Any, Protocol

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.claims.statements.named_methods import NamedMethod, read_settings
from fedtheory.claims.statements.theorems.recurring import RoundsDiffer, require_state_again
from fedtheory.claims.statements.worlds import FunctionOf, Parameters, SymbolicWorld, World
from fedtheory.core.errors import CannotTrace, FedtheoryError, InvalidInput
from fedtheory.core.exact import rational
from fedtheory.proofs.every_n.cells import cell
from fedtheory.proofs.every_n.conditions import AFTER_DRAWS, AFTER_NOISE, bound_on_average
from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.noise import Noise
from fedtheory.proofs.every_n.oracles import Leaves, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Form, Number, Sampling, Vector, inner_product
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.methods import sampling_at
from fedtheory.proofs.parameters.system import NamedForm, System
from fedtheory.proofs.potentials.invariants import (
    KINDS,
    Space,
    clients_of,
    follow_states,
    outcomes_of_round,
    require_relations,
    vectors_of,
)
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.stand_ins import DependsOnRound
from fedtheory.tools.beside import plain_name

#: the name of what is assumed of noise
NOISE = "noise"

Known = Mapping[str, Any]  # names of a state's vectors, functions and numbers, and what they are


@dataclass(frozen=True)
class SymbolicSpace:
    """Products of vectors of leaves: forms, averaged over clients, in expectation over who takes part, and over noise."""

    sampling: Sampling | None = None
    noise: Noise | None = None

    def dot(self, u: Vector, v: Vector) -> Form:
        """<u, v>, averaged over clients."""
        found: Form = inner_product(u, v, self.sampling)
        return found if self.noise is None else self.noise.expect(found)

    def mean(self, number: Any) -> Any:
        """It is averaged."""
        return number

    def bar(self, u: Vector) -> Vector:
        """The average over clients."""
        return u.averaged(None)

    def is_of_each(self, u: Vector) -> bool:
        """Whether it has deviations."""
        return not u.common


@dataclass
class StateTrace:
    """States one round after the other: in each, every outcome of the draws, with its probability and what names stand for.

    ``first``: of a method, its first state, as its own ``init`` makes it. ``space``: products of its vectors. ``number``: of the first state's round.
    """

    states: Sequence[Sequence[tuple[Any, Known]]]
    system: Callable[[Form], System]
    first: Any = None
    space: SymbolicSpace = SymbolicSpace()
    number: Any = 0

    @property
    def drawn(self) -> list[Any]:
        """The probabilities of the outcomes of one round; none where nothing is drawn."""
        chances = [chance for chance, _ in self.states[1]] if len(self.states) > 1 else []
        return chances if len(chances) > 1 or self.space.sampling is not None else []


class States(Protocol):
    """Where a theorem's quantities live."""

    def trace(
        self, numbers: Mapping[str, Any], region: Region, last: int, *, start: bool, number: Any = None
    ) -> StateTrace:
        """Any state and the ``last`` ones after it; with ``start``, the states of a run from the method's start.

        ``number``: of the round after the first of them, where `is_numbered`.
        """

    def is_numbered(self, region: Region) -> bool:
        """Whether a round depends on its number."""

    def first_round(self, region: Region, sequences: Sequence[str] = ()) -> int:
        """The round from which on a state has everything that is taken of any state."""

    @property
    def names(self) -> frozenset[str] | None:
        """The parameters that states may depend on; None where that is not known."""


# ---- a listed method -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassFunction:
    """f_i, or the average f of a class, as a quantity asks for it."""

    problem: SymmetricProblem
    average: bool

    def at(self, x: Vector) -> tuple[Vector, Form]:
        """Gradient and value; the average is taken at points that clients have in common."""
        found = self.problem.value_at(x)
        if self.average and not x.common:
            raise InvalidInput(
                "f is evaluated at a point that clients do not have in common; write f_i(x_i), or f(bar(x_i))"
            )
        return found.g.averaged(None) if self.average else found.g, Form(values=found.values())

    def of_each(self, x: Vector) -> bool:
        """Whether its values are one of each client."""
        return not self.average


@dataclass(frozen=True)
class MethodStates:
    """States of a listed method over a class of functions, for every number of clients.

    Parameters
    ----------
    method, options : as for other statements, ``MethodStates("scaffnew", "lr, p", "L, mu")``
    functions : str
        The constants L and mu of the class; ``zeta = 0`` besides where clients have a stationary point in common; sigma besides where stochastic
        gradients have noise, which the theorem then names "noise" among what is assumed. It is bounded by E mean_i ||xi_i||^2 <= sigma^2, zero in
        the mean, and independent of all before and of other clients' noise.
    clients : str
        ``"n, s"`` or ``"n = 8, s = 2"``: s of n clients are drawn in each round, and quantities are expectations; lines are about one round and the
        next. Empty: every number of clients, all of which take part.

    In quantities: the state's fields by their names, ``x_star`` (a stationary point of the average; the origin), ``f`` and ``f_i``.

    Examples
    --------
    >>> print(MethodStates("scaffnew", "lr = lr, p = p", "L, mu"))
    scaffnew(lr = lr, p = p), functions L, mu
    """

    method: str
    options: str = ""
    functions: str = "L"
    clients: str = ""

    def __str__(self) -> str:
        drawn = f", clients {self.clients}" if self.clients else ""
        return f"{self.method}({self.options}), functions {self.functions}{drawn}"

    @cached_property
    def named_method(self) -> NamedMethod:
        """The method as a function of the parameters."""
        return NamedMethod(self.method, self.options)

    @property
    def names(self) -> frozenset[str]:
        """The parameters that method and class speak of."""
        texts = (*self.named_method.expressions.values(), *self.constants.values(), *self.numbers_of_clients.values())
        texts += () if self.sigma is None else (self.sigma,)
        return frozenset().union(*(text.names for text in texts))

    @cached_property
    def constants(self) -> dict[str, Expression]:
        """L and mu (0 where it is left out)."""
        given = read_settings(self.functions)
        if "L" not in given or given.keys() - {"L", "mu", "sigma", "zeta"} or given.get("zeta", "0") != "0":
            raise InvalidInput(
                "the class of a theorem for every round is 'L' or 'L, mu', with sigma where gradients have noise, and zeta = 0 where clients have a "
                f"stationary point in common; got {self.functions!r}; another zeta is a hypothesis on mean(norm2(grad(f_i, x_star)))"
            )
        if "sigma" in given and "n" not in self.numbers_of_clients:
            raise InvalidInput("noise averages over the clients, so that their number counts; say clients='n'")
        own = {name: text for name, text in given.items() if name not in ("sigma", "zeta")}
        return {"mu": Expression.parse(0)} | {name: Expression.parse(text) for name, text in own.items()}

    @property
    def shares_minimiser(self) -> bool:
        """Whether clients have a stationary point in common, which is that of the average: zeta = 0."""
        return "zeta" in read_settings(self.functions)

    @property
    def class_in_words(self) -> str:
        """The class, and what zeta = 0 means."""
        return f"{self.functions} (grad f_i(x*) = 0 for every i)" if self.shares_minimiser else self.functions

    @cached_property
    def sigma(self) -> Expression | None:
        """The noise of gradients: independent, zero in the mean, and E mean_i ||xi_i||^2 <= sigma^2."""
        given = read_settings(self.functions)
        return Expression.parse(given["sigma"]) if "sigma" in given else None

    @cached_property
    def numbers_of_clients(self) -> dict[str, Expression]:
        """How many clients there are, and how many of them are drawn."""
        given = read_settings(self.clients)
        if given.keys() - {"n", "s"}:
            raise InvalidInput(f"clients are 'n, s' or 'n = 8, s = 2', got {self.clients!r}")
        return {name: Expression.parse(text) for name, text in given.items()}

    def who(self, numbers: Mapping[str, Any]) -> Sampling | None:
        """Who takes part."""
        return sampling_at(self.numbers_of_clients, numbers)

    def taking(self, who: Sampling | None) -> Sampling | None:
        """Who takes part, where that is to be told: noise may be that of a number of clients all of which do."""
        everyone = self.sigma is not None and "s" not in self.numbers_of_clients
        return None if everyone else who

    def algorithm(self, numbers: Mapping[str, Any]) -> Algorithm:
        """The method with these numbers for its parameters."""
        return rational(self.named_method.over(numbers))  # type: ignore[no-any-return]

    def first_round(self, region: Region, sequences: Sequence[str] = ()) -> int:
        """From the start, or after one round."""
        return self.follow(region)[1]

    def is_numbered(self, region: Region) -> bool:
        """Whether the method's round speaks of its number."""
        return self.follow(region)[2]

    def follow(self, region: Region) -> tuple[Space, int, bool]:
        """The space of states, found at one point, from which round on, and whether rounds are numbered; `trace` proves relations for all."""
        return _follow(self, region)

    def trace(
        self, numbers: Mapping[str, Any], region: Region, last: int, *, start: bool, number: Any = None
    ) -> StateTrace:
        """Rounds by the method's own code.

        Raises
        ------
        CannotTrace
            A round does what vectors cannot, or a relation between fields does not hold for all parameters.
        """
        algorithm, mu, who = self.algorithm(numbers), self.constants["mu"].at(numbers), self.who(numbers)
        if who is not None and last > 1:
            raise InvalidInput("where clients or noise are drawn a line is about one round and the next")
        taking = self.taking(who)
        space, _, numbered = self.follow(region)
        if start or not numbered:
            number = 0
        if not start and numbered:
            _require_relations_of_numbered(self, region)
        elif not start:
            require_relations(algorithm, mu, space, taking, noisy=self.sigma is not None)
        leaves = Leaves()
        errors = None if start else space.errors(leaves)
        # a state knows nothing of the noise that follows
        leaves.origins = dict.fromkeys(range(leaves.mean), (None, ()))
        noise = None if self.sigma is None or who is None else Noise(leaves, self.sigma.at(numbers), who.n)
        problem = SymmetricProblem(leaves, mu, noise=noise, n=clients_of(who))
        problem.add(Vector({}), Vector({}) if self.shares_minimiser else leaves.deviation_only())
        template = algorithm.init(problem, cell(leaves.vector(common=True))) if start else _template(algorithm, mu)
        state = template
        if errors is not None:
            at_star = algorithm.solution_state(problem, cell(Vector({})))
            origin = {} if at_star is None else vectors_of(at_star)
            state = dataclasses.replace(
                template,
                **{
                    name: cell(origin.get(name, Vector({})) + v, getattr(template, name).rows)
                    for name, v in errors.items()
                },
            )
        played: list[list[tuple[Any, Any]]] = [[(1, state)]]
        for k in range(last):
            played.append(
                [
                    (a * b, after)
                    for a, before in played[-1]
                    for b, after in outcomes_of_round(
                        algorithm, problem, before, taking, number + k if numbered else None
                    )
                ]
            )
        given = {"x_star": Vector({}), "f": ClassFunction(problem, True), "f_i": ClassFunction(problem, False)}
        known = [[(chance, {**vectors_of(reached), **given}) for chance, reached in outcomes] for outcomes in played]

        space_of_forms = SymbolicSpace(who, noise)

        def system(conclusion: Form) -> System:
            mean, deviation = (
                tuple(f"{kind} {k}" for k in range(n))
                for kind, n in zip(KINDS, (leaves.mean, leaves.deviation), strict=True)
            )
            big_l = self.constants["L"].at(numbers)
            clients = Function("f", tuple(problem.evaluations), big_l, mu)
            known_of = _of_late_values(problem, noise, (big_l, mu), space_of_forms)
            conditions = (*problem.conditions, *_of_noise(noise, problem), *known_of)
            return System(mean, deviation, leaves.values, conditions, (clients,), conclusion)

        return StateTrace(known, system, state, space_of_forms, number)


def _of_noise(noise: Noise | None, problem: SymmetricProblem) -> list[NamedForm]:
    """What is known of noise, as forms that are at most zero; what is independent is so in products already, but for those of interpolation."""
    if noise is None:
        return []
    equal = [form for _, form in noise.equations()] if noise.reach(problem.evaluations) else []
    found = [noise.expect(form) for _, form in noise.inequalities()] + equal + [-form for form in equal]
    return [(f"{NOISE} {k}", form) for k, form in enumerate(found)]


def _of_late_values(
    problem: SymmetricProblem, noise: Noise | None, function_class: tuple[Number, Number], space: SymbolicSpace
) -> Iterator[NamedForm]:
    """What the class says, in expectation, of values at points that depend on who takes part, and on noise."""
    late = [noise is not None and noise.reach([e]) for e in problem.evaluations]
    noisy = [*itertools.compress(problem.evaluations, late)]
    early = [e for e, is_late in zip(problem.evaluations, late, strict=True) if not is_late]
    for name, at in ((AFTER_DRAWS, problem.uncertain), (AFTER_NOISE, noisy)):
        yield from bound_on_average(name, at, early, function_class, space.dot)


#: rounds after the first at which relations between fields are looked for, where rounds depend on their number
SOME_ROUNDS = (1, 2, 3, 7)


@lru_cache(maxsize=200)
def _follow(states: MethodStates, region: Region) -> tuple[Space, int, bool]:
    fixed, case = next(iter(region.cases()))
    point = {**fixed, **case.simple_points(1)[0]}
    algorithm, mu = states.algorithm(point), states.constants["mu"].at(point)
    who = states.taking(states.who(point))
    try:
        return *follow_states(algorithm, mu, who, noisy=states.sigma is not None), False
    except DependsOnRound:
        return *follow_states(algorithm, mu, who, SOME_ROUNDS, noisy=states.sigma is not None), True


@lru_cache(maxsize=200)
def _require_relations_of_numbered(states: MethodStates, region: Region) -> None:
    """Relations hold after the first round, and every later one keeps them: for all parameters and all numbers of rounds from 1 on."""
    space, _, _ = states.follow(region)
    name = next(name for name in ("r", *(f"r_{k}" for k in range(len(region.names) + 1))) if name not in region.names)
    for fixed, case in region.cases():
        counted = Region.parse(", ".join(filter(None, (str(case), f"1 <= {name}"))))
        values = {**fixed, **ParameterField(counted).parameters()}
        number = values.pop(name)
        algorithm, mu = states.algorithm(values), states.constants["mu"].at(values)
        require_relations(
            algorithm, mu, space, states.taking(states.who(values)), number, noisy=states.sigma is not None
        )


def _template(algorithm: Algorithm, mu: Any) -> Any:
    """A state, for the fields that hold no vectors."""
    leaves = Leaves()
    problem = SymmetricProblem(leaves, mu)
    problem.add(Vector({}), leaves.deviation_only())
    return algorithm.init(problem, cell(leaves.vector(common=True)))


# ---- states that a function plays ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorldFunction:
    """A function of a world, as a quantity asks for it: what was asked is answered again."""

    world: SymbolicWorld
    function: Any

    def at(self, x: Vector) -> tuple[Vector, Form]:
        """Gradient and value."""
        for e in self.function.evaluations:
            if not (e.x - x).terms:
                return e.g, Form(values=e.values())
        count = len(self.function.evaluations)
        slope, value = self.world.at(self.function, x, f"{self.function.name} at point {count}")
        return slope, value

    def of_each(self, x: Vector) -> bool:
        """Whether its values are one of each client."""
        return bool(self.function.client)


Played = Sequence[Any]  # of every round its state, or its outcomes: pairs of a probability and a state


@dataclass(frozen=True)
class PlayedStates:
    """States that a function plays in a world (`fedtheory.claims.statements.worlds`).

    Parameters
    ----------
    play : (world, parameters, last) -> any state and the ``last`` ones after it, each with names as attributes
        For what is no round of a listed method, such as the steps inside of a proof. After a draw, a list of pairs (probability, state). That the
        state after any state is any state again is proved (`fedtheory.claims.statements.theorems.recurring`).
    start : (world, parameters, last) -> the same from the start, optional
    begins : (world, parameters) -> the first state that lines speak of, optional
    least : int
        The first round that lines speak of.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> def halves(world, p, last):
    ...     x = world.vector("x")
    ...     return [SimpleNamespace(x=x / 2**k) for k in range(last + 1)]
    ...
    >>> PlayedStates(halves).least
    0
    """

    play: Callable[[World, Parameters, int], Played]
    start: Callable[[World, Parameters, int], Played] | None = None
    begins: Callable[[World, Parameters], Any] | None = None
    least: int = 0

    def __str__(self) -> str:
        return f"states that {_name_of(self.play)} plays, from round {self.least} on"

    @property
    def names(self) -> None:
        """A function may read any parameter."""
        return

    def is_numbered(self, region: Region) -> bool:
        """A function is told nothing of the number; what rounds read are sequences."""
        return False

    def first_round(self, region: Region, sequences: Sequence[str] = ()) -> int:
        """The first round that lines speak of; that its state, and each after it, is what any state may be is proved here."""
        _require_any_state(self, region, tuple(sequences))
        return self.least

    def trace(
        self, numbers: Mapping[str, Any], region: Region, last: int, *, start: bool, number: Any = None
    ) -> StateTrace:
        """States as the function plays them."""
        if start and self.start is None:
            raise InvalidInput(
                "these states have no start, and a line speaks of rounds by their numbers; write 't' for a round, or give 'start'"
            )
        field = next((value.field for value in numbers.values() if isinstance(value, RationalFunction)), None)
        played_in, played = _play_once(self, field, tuple(numbers.items()), last, start)
        world, twins = played_in.fork()
        who = getattr(self.play, "who", None)  # of a run with clients that are drawn
        space = SymbolicSpace() if who is None else SymbolicSpace(who(numbers))
        return StateTrace(name_states(world, played, last, twins), world.system, space=space)

    def play_in(
        self, world: SymbolicWorld, numbers: Mapping[str, Any], last: int, *, start: bool
    ) -> list[list[tuple[Any, Known]]]:
        """The states as the function plays them in a world: of every round its outcomes, and what names stand for there."""
        return name_states(world, self.play_raw(world, numbers, last, start=start), last)

    def play_raw(self, world: SymbolicWorld, numbers: Mapping[str, Any], last: int, *, start: bool) -> Played:
        """What the function makes of a world."""
        made = self.start if start and self.start is not None else self.play
        return made(world, SimpleNamespace(**numbers), last)


def _name_of(made: Any) -> str:
    """The name of a function, the same in every process; of a partial one, what it is given besides."""
    if isinstance(made, partial):
        given = (*map(_name_of, made.args), *(f"{name}={_name_of(value)}" for name, value in made.keywords.items()))
        return f"{_name_of(made.func)}({', '.join(given)})"
    name = getattr(made, "__qualname__", None)
    return f"{plain_name(made.__module__)}.{name}" if name else str(made)


@lru_cache(maxsize=48)
def _play_once(
    states: PlayedStates, field: ParameterField | None, numbers: tuple[tuple[str, Any], ...], last: int, start: bool
) -> tuple[SymbolicWorld, Played]:
    """A world with states; lines that speak of as many rounds share it, each in a copy. The field belongs to what is asked: it decides signs."""
    world = SymbolicWorld()
    return world, states.play_raw(world, dict(numbers), last, start=start)


def name_states(
    world: SymbolicWorld, played: Played, last: int, twins: Mapping[FunctionOf, FunctionOf] | None = None
) -> list[list[tuple[Any, Known]]]:
    """States as what names stand for in them; ``twins``: the functions of the world, by those of which states speak."""
    states: list[list[tuple[Any, Known]]] = [
        [(chance, _names(world, state, twins)) for chance, state in outcomes_of(of_round)] for of_round in played
    ]
    if len(states) <= last:
        raise InvalidInput(f"{len(states)} states were played, and a line speaks of {last + 1} one after the other")
    return states


def outcomes_of(of_round: Any) -> list[tuple[Any, Any]]:
    """The outcomes of a round, with their probabilities; a state by itself is the only one."""
    return list(of_round) if isinstance(of_round, list) else [(1, of_round)]


def _names(world: SymbolicWorld, state: State, twins: Mapping[FunctionOf, FunctionOf] | None = None) -> dict[str, Any]:
    found = {f.name: f for f in world.functions} | vars(state)
    own = twins or {}
    return {name: WorldFunction(world, own.get(v, v)) if isinstance(v, FunctionOf) else v for name, v in found.items()}


@lru_cache(maxsize=200)
def _require_any_state(states: PlayedStates, region: Region, sequences: tuple[str, ...]) -> None:
    """The first state is what any state may be, and so is the state after any state, where numbers of sequences are those of its own round."""
    for fixed, case in region.cases():
        numbers = {**fixed, **ParameterField(case).parameters()}
        later = _one_round_later(numbers, sequences)
        world = SymbolicWorld()
        for _, known in states.play_in(world, numbers, 1, start=False)[1]:
            pattern, (any_state,) = _any_state(states, later, known)
            require_state_again((pattern, any_state), (world, known), "a round keeps")
        _require_next_round(states, numbers, later)
        if states.begins is not None:
            world = SymbolicWorld()
            _require_begun(states, numbers, world, states.begins(world, SimpleNamespace(**numbers)))
        if states.start is not None:
            world = SymbolicWorld()
            begun = states.start(world, SimpleNamespace(**numbers), 1)
            _require_begun(states, numbers, world, begun[0])
            if len(begun) > 1:
                _require_first_round(states, numbers, world, begun)


def _require_next_round(states: PlayedStates, numbers: Mapping[str, Any], later: Mapping[str, Any]) -> None:
    """The second round that the function plays is the round of any state, where it plays two and nothing is drawn."""
    world = SymbolicWorld()
    try:
        played = states.play_raw(world, numbers, 2, start=False)
    except FedtheoryError:  # it plays one round, as where clients are drawn
        return
    if len(played) < 3 or any(isinstance(of_round, list) for of_round in played):
        return
    _, before, after = (_names(world, state) for state in played)
    pattern, (any_before, any_after) = _any_state(states, later, before, 1)
    both = {**_before(before), **after}
    try:
        require_state_again((pattern, {**_before(any_before), **any_after}), (world, both), "the second round makes")
    except CannotTrace as reason:
        raise RoundsDiffer(
            f"{reason}; let every round be played alike: what depends on the round's number is a sequence"
        ) from None


def _require_begun(states: PlayedStates, numbers: Mapping[str, Any], world: SymbolicWorld, first: Any) -> None:
    for _, state in outcomes_of(first):
        known = _names(world, state)
        pattern, (any_state,) = _any_state(states, numbers, known)
        require_state_again((pattern, any_state), (world, known), "the first state has")


def _require_first_round(states: PlayedStates, numbers: Mapping[str, Any], world: SymbolicWorld, begun: Played) -> None:
    """The first round of a run is the round of any state."""
    pattern = SymbolicWorld()
    of_any = states.play_in(pattern, numbers, 1, start=False)
    before, any_before = _before(_names(world, outcomes_of(begun[0])[0][1])), _before(of_any[0][0][1])
    for (chance, state), (own_chance, known) in zip(outcomes_of(begun[1]), of_any[1], strict=True):
        if chance != own_chance:
            raise CannotTrace("the first round has other probabilities than any round")
        after = _names(world, state)
        require_state_again((pattern, {**any_before, **known}), (world, {**before, **after}), "the first round makes")


def _before(state: Known) -> dict[str, Any]:
    return {f"{name} before": value for name, value in state.items()}


def _any_state(
    states: PlayedStates, numbers: Mapping[str, Any], reached: Known, last: int = 0
) -> tuple[SymbolicWorld, list[Known]]:
    """Any state and the ``last`` after it, where a number of it that may be any, as t_0 is of a state with a field t, is that of what was reached."""
    known = states.play_in(SymbolicWorld(), numbers, 0, start=False)[0][0][1]
    for name, value in known.items():
        if name in reached and not isinstance(value, Vector | Form | WorldFunction):
            same = [other for other, number in numbers.items() if number is value]
            numbers = {**numbers, **dict.fromkeys(same, reached[name])}
    world = SymbolicWorld()
    return world, [outcomes[0][1] for outcomes in states.play_in(world, numbers, last, start=False)]


def _one_round_later(numbers: Mapping[str, Any], sequences: Sequence[str]) -> dict[str, Any]:
    """t_1 in the place of t_0, and so on."""
    later = {f"{name}_{k}": f"{name}_{k + 1}" for name in sequences for k in range(len(numbers))}
    return {name: numbers.get(later.get(name, name), value) for name, value in numbers.items()}

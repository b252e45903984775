"""The trials of a conformance check, and the reference's iterates in them.

A trial is an instance of random quadratics with a start, numbers of local steps, and who takes part in which round. Quadratics have
no samples, so a method with minibatches is refused; coins are tossed by the reference and told to the implementation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.algorithms.listing import Listed
from fedtheory.conformance.adapters import Gradient, Penalty, Round, Task
from fedtheory.core.arrays import is_array, to_numpy
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.layers import Layer
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, move_to_library
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1, NuclearNorm, Ridge, regularised
from fedtheory.core.states import arrays_of
from fedtheory.core.wrapped import Wrapped
from fedtheory.running.families import build_problem

Values = dict[str, NDArray[np.float64]]

#: how many times the deviation that rounding causes in the reference itself is put down to rounding in an implementation
SAFETY = 100
_SAMPLES = 3  # perturbed runs of the reference from which the effect of rounding is read off
#: a candidate further off than this share of a variable's size is dropped before the effect of rounding on it is worked out
_FAR = 1e-2
PRECISIONS: dict[str, Any] = {"double": np.float64, "single": np.float32}


@dataclass(frozen=True)
class RecordingKey(Key):
    """A key that records the coins it tosses, so that implementations are told them."""

    coins: dict[str, bool] = field(default_factory=dict)

    def coin(self, purpose: str, probability: Any) -> bool:
        """Toss one coin, as `Key` does."""
        heads = bool(np.all(Key(self.seed, self.round, self.heading).coin(purpose, probability)))
        self.coins[self.heading + purpose] = heads
        return heads

    def uniform(self, purpose: str, shape: tuple[int, ...] = ()) -> NDArray[np.float64]:
        """Refuse draws that an implementation cannot be told, as those of random compressors."""
        raise InvalidInput(
            f"the reference draws numbers at random ({self.heading}{purpose}), and no implementation draws the same; compare without: keep=1, "
            "levels=0, copies=0 of methods that compress"
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """One instance with everything that a run on it is told.

    ``values`` are those of the method's options; ``steps`` is an array ``(n,)`` where local steps are unequal. ``clients`` has who takes part, a
    round each (None: all).
    """

    name: str
    problem: Any
    values: Mapping[str, Any]
    clients: tuple[Clients | None, ...]
    seed: int

    @property
    def x0(self) -> NDArray[np.float64]:
        """The server's first model ``(d,)``."""
        return np.random.default_rng([self.seed, 1]).standard_normal(int(self.problem.d))

    def task(self) -> Task:
        """What an implementation is told, in arrays of its own."""
        n, d, a, b = self.problem.n, self.problem.d, self.problem.A, self.problem.b
        counts = tuple(int(k) for k in np.broadcast_to(self.values.get("steps", 1), (n,)))
        gradients = tuple(Gradient(a[i], b[i]) for i in range(n))
        settings = SimpleNamespace(**{**self.values, "steps": max(counts)})
        server = getattr(self.problem, "server", None)
        at_server = None if server is None else Gradient(server.A[0], server.b[0])
        return Task(n, d, self.x0, gradients, a.copy(), b.copy(), counts, settings, self.penalty, at_server)

    @property
    def penalty(self) -> Penalty | None:
        """The shared regulariser as an implementation is told it."""
        h = getattr(self.problem, "regulariser", None)
        if h is None:
            return None
        name = {L1: "l1", Ridge: "ridge", NuclearNorm: "nuclear"}[type(h)]
        return Penalty(name, h.weight, h.layers[0].matrix_shape if name == "nuclear" else None, h)


def make_trials(
    entry: Listed,
    values: Mapping[str, Any],
    *,
    clients: int,
    dimension: int,
    rounds: int,
    seeds: int,
    participants: int | None,
    unequal: bool,
    regularisers: bool = True,
) -> tuple[tuple[Trial, ...], tuple[str, ...]]:
    """Return the trials, and what was left out and why.

    Every seed has trials with all clients and, where the method knows it, with ``participants`` of them; each with equal local steps
    and, where the method takes them, with numbers of local steps between 2 and 2 K. A method that takes them with constant step sizes
    only has constant ones there. A method with a shared regulariser has one trial more with each of `PENALTIES`.
    """
    setup = _Setup(entry, values, clients, dimension, rounds)
    whole, left_out = _choose_participants(entry, clients, participants)
    counts, without = _choose_steps(setup, unequal)
    left_out += without
    trials = [setup.trial(setup.problem(seed), seed, m, own) for seed in range(seeds) for m in whole for own in counts]
    if uses_regulariser(entry, trials[0]):
        if not entry.composite:
            left_out.append(f"regularisers: what {entry.name} is published as has none")
        elif not regularisers:
            left_out.append("regularisers: not asked for")
        else:
            for seed, (name, (said, _)) in enumerate(PENALTIES.items()):
                penalised = _penalise(_make_problem(entry, clients, _room_for(name, dimension), seed), name)
                trials.append(setup.trial(penalised, seed, whole[-1], None, f", {said}"))
    return tuple(trials), tuple(left_out)


@dataclass(frozen=True, eq=False)
class _Setup:
    """What the trials of a check have in common."""

    entry: Listed
    values: Mapping[str, Any]
    clients: int
    dimension: int
    rounds: int

    @property
    def counts_steps(self) -> bool:
        """Whether the method takes a number of local steps with these settings."""
        return "steps" in self.entry.uses and not self.values.get("exact")

    def problem(self, seed: int) -> Any:
        """The instance of a seed."""
        return _make_problem(self.entry, self.clients, self.dimension, seed)

    def trial(
        self, problem: Problem, seed: int, m: int | None, uneven: Mapping[str, Any] | None, more: str = ""
    ) -> Trial:
        """A trial with m of the clients (None: all); ``uneven``: the settings for unequal local steps, where they are; its name ends in ``more``."""
        n, values, keys = self.clients, self.values, [Key(seed, r) for r in range(self.rounds)]
        schedule = tuple(None if m is None else Clients(n, k.subset("participation", n, m)) for k in keys)
        taken = dict(values) if uneven is None else {**uneven, "steps": _unequal(values["steps"], n, seed)}
        name = f"seed {seed}, {'all clients' if m is None else f'{m} of {n} clients'}"
        if self.counts_steps:
            name += f", local steps {np.asarray(taken['steps']).tolist()}"
        if taken.get("lr_decay") != values.get("lr_decay"):
            name += " of constant size"
        return Trial(name + more, problem, taken, schedule, seed)


def _choose_participants(entry: Listed, clients: int, participants: int | None) -> tuple[list[int | None], list[str]]:
    """How many clients take part in trials (None: all), and what is left out and why."""
    if not entry.partial:
        return [None], [f"partial participation: {entry.name} needs all clients"]
    if participants is None:
        return [None], ["partial participation: not asked for"]
    if not 1 <= participants < clients:
        raise InvalidInput(
            f"participants must lie between 1 and {clients - 1}, one less than the clients, got {participants}"
        )
    return [None, participants], []


def _choose_steps(setup: _Setup, unequal: bool) -> tuple[list[Mapping[str, Any] | None], list[str]]:
    """The settings of the trials with unequal local steps, None for those with equal ones, and what is left out and why."""
    values = setup.values
    if not setup.counts_steps:
        return [None], [f"unequal local steps: {setup.entry.name} takes no numbers of local steps here"]
    if not unequal:
        return [None], ["unequal local steps: not asked for"]
    why = _refuses_unequal(setup, values)
    if why is None:
        return [None, values], []
    constant = {**values, **({"lr_decay": 1} if "lr_decay" in values else {})}
    if _refuses_unequal(setup, constant) is None:
        return [None, constant], []
    return [None], [f"unequal local steps: {why}"]


#: by how much the options of `make_other_trial` are less than those of the trials, each by another share
_OTHER = (0.93, 0.89, 0.96, 0.85, 0.91, 0.87, 0.94, 0.88)


#: by how many rounds it is longer
_MORE_ROUNDS = 4


def make_other_trial(entry: Listed, values: Mapping[str, Any], like: Trial) -> Trial:
    """Return a trial with more clients and rounds and other numbers for the options than a given one, for what agrees there by a coincidence.

    Options with another value than `Option.telling` were asked for, and are kept.
    """
    other, shares = dict(values), iter(_OTHER * len(values))
    for option in entry.options:
        value = other.get(option.name)
        if value != entry.telling[option.name] or isinstance(value, bool):
            continue
        if isinstance(value, float):
            other[option.name] = value * next(shares)
        elif option.name == "steps":
            other[option.name] = value + 1
    (active, *_) = like.clients
    n = like.problem.n + 2
    uneven = np.ndim(like.values.get("steps", 1)) > 0
    trials, _ = make_trials(
        entry,
        other,
        clients=n,
        dimension=like.problem.d,
        rounds=len(like.clients) + _MORE_ROUNDS,
        seeds=1,
        participants=None if active is None else active.index.size + 1,
        unequal=uneven,
        regularisers=False,
    )
    return trials[-1]


#: the shared regularisers of trials: in words, and their weights
PENALTIES: dict[str, tuple[str, float]] = {
    "l1": ("with an l1 norm", 0.15),
    "ridge": ("with a ridge", 0.4),
    "nuclear": ("with a nuclear norm", 0.25),
}


@dataclass(frozen=True, eq=False)
class Served(Wrapped):
    """The clients' problem, and an objective of the server's own."""

    server: Any


def _make_problem(entry: Listed, clients: int, dimension: int, seed: int) -> Any:
    """Random quadratics, with one of the server's where the method needs it."""
    problem = build_problem("quadratics", clients=clients, dimension=dimension, seed=seed)
    if "server" not in entry.needs:
        return problem
    return Served(problem, build_problem("quadratics", clients=1, dimension=dimension, seed=seed + 1000))


def _room_for(penalty: str, dimension: int) -> int:
    """The dimension of a trial: a nuclear norm needs a matrix of two rows and two columns at least, and one coordinate beside it."""
    return max(dimension, 5) if penalty == "nuclear" else dimension


def _penalise(problem: Problem, name: str) -> Any:
    weight = PENALTIES[name][1]
    if name == "nuclear":
        columns = (problem.d - 1) // 2
        layers = Layer("matrix", (2, columns)), Layer("rest", (problem.d - 2 * columns,))
        return regularised(problem, NuclearNorm(weight, layers))
    return regularised(problem, L1(weight) if name == "l1" else Ridge(weight))


def uses_regulariser(entry: Listed, trial: Trial) -> bool:
    """Whether a shared regulariser changes the method's way on a trial; not where it cannot be run with these settings at all."""
    try:
        method = entry.build(**trial.values)
        plain = play_reference(method, trial).states
        other = play_reference(method, dataclasses.replace(trial, problem=_penalise(trial.problem, "ridge"))).states
    except (FedtheoryError, ValueError, TypeError):  # said by whoever runs it next
        return False
    return any(np.any(measure_differences(plain, other, name) > 0) for name in plain[0])


def _unequal(steps: int, n: int, seed: int) -> Any:
    """Numbers of local steps between 2 and 2 K, not all equal."""
    lots = np.random.default_rng(seed).integers(2, max(2 * steps, 3) + 1, n)
    lots[:2] = 2, max(2 * steps, 3)
    return np.random.default_rng(seed + 1).permutation(lots)


def _refuses_unequal(setup: _Setup, values: Mapping[str, Any]) -> str | None:
    """Why a method does not take one number of local steps a client, or None."""
    entry, problem = setup.entry, setup.problem(0)
    try:
        method = entry.build(**{**values, "steps": _unequal(values["steps"], setup.clients, 0)})
        before = method.init(problem, np.zeros((1, setup.dimension)))
        after = method.round(problem, before, None, RecordingKey(0, 0))
    except (FedtheoryError, ValueError, TypeError) as error:
        return f"{entry.name} has one number for all clients ({error})"
    same = {k: v.shape for k, v in arrays_of(before).items()} == {k: v.shape for k, v in arrays_of(after).items()}
    return None if same else f"{entry.name} has one number for all clients"


def list_variables(state: State) -> dict[str, Any]:
    """The variables of a state that an implementation may name: its arrays, and arrays it gives as properties."""
    given = [name for name, value in vars(type(state)).items() if isinstance(value, property)]
    extra = {name: getattr(state, name) for name in given}
    return arrays_of(state) | {name: value for name, value in extra.items() if is_array(value)}


def make_start(
    algorithm: Algorithm, trial: Trial, precision: str = "double", jitter: int | None = None
) -> tuple[Any, State]:
    """The problem and the state before the first round; with ``jitter``, from a start perturbed by rounding errors of that seed."""
    dtype = PRECISIONS[precision]
    x0 = trial.x0
    if jitter is not None:
        lots = np.random.default_rng(jitter).uniform(-1, 1, x0.shape)
        x0 = x0 + float(np.finfo(dtype).eps) * np.max(np.abs(x0)) * lots
    start = x0.astype(dtype)[None, :]
    problem = trial.problem if dtype is np.float64 else move_to_library(trial.problem, start)
    return problem, algorithm.init(problem, start)


def replace_values(state: State, values: Mapping[str, NDArray[np.float64]]) -> State:
    """The state with values for some of its fields, in its own precision."""
    fields = arrays_of(state)
    given = {k: np.asarray(v, dtype=fields[k].dtype).reshape(fields[k].shape) for k, v in values.items() if k in fields}
    return dataclasses.replace(state, **given)


def play_round(
    algorithm: Algorithm, problem: Problem, state: State, trial: Trial, r: int
) -> tuple[State, dict[str, bool]]:
    """Round r of the trial, and the coins tossed in it."""
    key = RecordingKey(trial.seed, r)
    with np.errstate(all="ignore"):
        return algorithm.round(problem, state, trial.clients[r], key), key.coins


@dataclass(frozen=True, eq=False)
class Course:
    """A method's states on a trial (entry 0: before the first round), and the rounds as an implementation is asked for them."""

    states: tuple[Values, ...]
    rounds: tuple[Round, ...]


def play_reference(
    algorithm: Algorithm,
    trial: Trial,
    first: Mapping[str, NDArray[np.float64]] | None = None,
    precision: str = "double",
    jitter: int | None = None,
) -> Course:
    """Run a method on a trial, from its own first state or from one in which the variables ``first`` have other values."""
    problem, state = make_start(algorithm, trial, precision, jitter)
    state = replace_values(state, first or {})
    states, rounds = [_host(state)], []
    for r, clients in enumerate(trial.clients):
        state, coins = play_round(algorithm, problem, state, trial, r)
        states.append(_host(state))
        active = range(trial.problem.n) if clients is None else clients.index
        rounds.append(Round(r, tuple(int(i) for i in active), coins))
    return Course(tuple(states), tuple(rounds))


def _host(state: State) -> Values:
    return {name: np.asarray(to_numpy(value), dtype=float) for name, value in list_variables(state).items()}


def track_largest(states: Sequence[Values], name: str) -> NDArray[np.float64]:
    """The largest magnitude of a variable so far, by round."""
    return np.maximum.accumulate([np.max(np.abs(state[name])) for state in states])


def measure_differences(one: Sequence[Values], other: Sequence[Values], name: str) -> NDArray[np.float64]:
    """The largest difference of a variable in each round; infinity where it is not a number."""
    with np.errstate(all="ignore"):
        found = np.asarray([np.max(np.abs(a[name] - b[name])) for a, b in zip(one, other, strict=True)])
    return np.where(np.isfinite(found), found, np.inf)


def measure_rounding(
    algorithm: Algorithm,
    trial: Trial,
    way: Course,
    precision: str,
    first: Mapping[str, NDArray[np.float64]] | None = None,
) -> Values:
    """The differences that rounding explains, by variable and round: `SAFETY` times those it makes in the reference.

    The reference is run in this precision from starts that are perturbed by a unit of rounding; the largest deviation so far counts, and
    at least a unit of rounding of the largest number in the state.
    """
    eps = float(np.finfo(PRECISIONS[precision]).eps)
    runs = [play_reference(algorithm, trial, first, precision, jitter).states for jitter in range(_SAMPLES)]
    unit = eps * np.max([track_largest(way.states, name) for name in way.states[0]], axis=0)
    found = {}
    for name in way.states[0]:
        seen = np.max([measure_differences(run, way.states, name) for run in runs], axis=0)
        found[name] = SAFETY * np.maximum(np.maximum.accumulate(seen), unit)
    return found


def goes_through(
    method: Algorithm,
    trial: Trial,
    states: Sequence[Values],
    names: tuple[str, ...],
    first: Mapping[str, NDArray[np.float64]] | None = None,
) -> bool:
    """Whether a method goes through these states, up to rounding in single precision."""
    way = play_reference(method, trial, first)
    off = {name: measure_differences(states, way.states, name) for name in names}
    if any(np.any(off[name] > _FAR * track_largest(way.states, name)) for name in names):
        return False
    allowed = measure_rounding(method, trial, way, "single", first)
    return all(np.all(off[name] <= allowed[name]) for name in names)

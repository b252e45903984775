"""What changed code of a round is written with: counts and sizes that are put in wrongly, rows of other clients, other local work."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.algorithms.changed_gradients import restrict_gradients
from fedtheory.conformance.wrong_local_work import OtherSteps
from fedtheory.core.arrays import (
    Array,
    average,
    choose,
    gather,
    is_array,
    like,
    scatter,
    spread,
    squared_norm,
    take,
    to_numpy,
)
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver, step_size


def count_active(problem: Problem, clients: Clients | None) -> int:
    """Return m, how many clients take part."""
    return problem.n if clients is None else int(clients.index.shape[-1])


def count_local_steps(local: Any, clients: Clients | None) -> Any:
    """Return K: a number, or a column with one a client that takes part."""
    steps = local.steps
    return gather(to_numpy(steps).astype(float)[:, None], clients) if is_array(steps) else steps


def local_step(local: Any, key: Key) -> Any:
    """Return the size of this round's local steps."""
    return step_size(local.lr, key.round, 0)


def first_local_step(local: Any) -> Any:
    """Return the size of the first round's local steps."""
    return step_size(local.lr, 0, 0)


def average_by(weights: Any, x: Array, clients: Clients | None = None) -> Array:
    """Return the average with these weights, a number or a column; equal ones where it is a number."""
    if not is_array(weights):
        return average(x, clients)
    column = like(weights, x)
    return average(column * x, clients) / average(column, clients)


def average_by_length(x: Array, centre: Any, power: int, clients: Clients | None = None) -> Array:
    """Return the average with a power of the distances from a centre as weights."""
    return average_by(np.sqrt(squared_norm(x - centre))[..., None] ** power, x, clients)


def of_neighbour(x: Array, shift: int) -> Array:
    """Return rows in which client i has those of client i - shift, in a circle."""
    index = (np.arange(x.shape[-2]) - shift) % x.shape[-2]
    return take(x, index)


def leave_out(x: Array, place: int) -> Array:
    """Return the rows without that of one place; the first is 0, the last -1."""
    keep = [k for k in range(x.shape[-2]) if k != place % x.shape[-2]]
    return take(x, np.array(keep or [0]))


def half_of(x: Array, which: int) -> Array:
    """Return the first rows, half of them rounded down, or the others."""
    middle = x.shape[-2] // 2
    return x[..., :middle, :] if which == 0 else x[..., middle:, :]


def of_one(x: Array, place: int) -> Array:
    """Return one row as a vector of the server."""
    return take(x, np.array([place % x.shape[-2]]))


def first_clients(clients: Clients | None) -> Clients | None:
    """Return clients 0, ..., m - 1 in the place of the m that take part: a place in the round's list taken for a client's number."""
    return None if clients is None else Clients(clients.n, np.arange(clients.index.shape[-1]))


def absent_clients(clients: Clients | None) -> Clients | None:
    """Return the clients that do not take part; all where everyone does."""
    return None if clients is None else Clients(clients.n, np.setdiff1d(np.arange(clients.n), clients.index))


def in_round(key: Key, number: int) -> Key:
    """Return the key of another round."""
    other = copy.copy(key)
    object.__setattr__(other, "round", max(number, 0))
    return other


def with_step(local: Any, change: Callable[[Any], Any]) -> Any:
    """Return the same local work with steps of another size: a function of the number of local steps and the round's size."""
    lr = local.lr

    def changed(r: int, q: int) -> Any:
        return change(step_size(lr, r, q))

    return replace(local, lr=changed)


def with_schedule(local: Any, number: Callable[[int, int], int]) -> Any:
    """Return the same local work with the step sizes of other rounds: a function of the round and the local step."""
    lr = local.lr
    return replace(local, lr=lambda r, q: lr(number(r, q), q))


def with_setting(local: Any, path: str, change: Callable[[Any], Any]) -> Any:
    """Return the same local work with another number among its settings, which a path of fields names."""
    name, _, rest = path.partition(".")
    value = getattr(local, name)
    return replace(local, **{name: with_setting(value, rest, change) if rest else change(value)})


def with_steps_where(
    local: Any, problem: Problem, condition: Callable[[Any], Any], change: Callable[[Any], Any]
) -> Any:
    """Return the same local work with other numbers of steps for some clients, by their numbers."""
    steps = np.broadcast_to(to_numpy(local.steps), (problem.n,))
    return replace(local, steps=np.where(condition(np.arange(problem.n)), change(steps), steps))


def sum_steps(local: Any, problem: Problem, clients: Clients | None) -> Any:
    """Return the local steps of all clients that take part together."""
    steps = (
        np.broadcast_to(to_numpy(local.steps), (problem.n,))
        if is_array(local.steps)
        else np.full(problem.n, local.steps)
    )
    return int(np.sum(steps if clients is None else steps[clients.index]))


def fewest_steps(local: Any) -> int:
    """Return the smallest number of local steps."""
    return int(np.min(to_numpy(local.steps))) if is_array(local.steps) else int(local.steps)


def median_of(x: Array) -> Array:
    """Return the median over clients, entry by entry."""
    return np.median(x, axis=-2, keepdims=True)


def trimmed_mean(x: Array) -> Array:
    """Return the mean over clients without the smallest and the largest, entry by entry."""
    kept = np.sort(x, axis=-2)
    return average(kept[..., 1:-1, :] if x.shape[-2] > 2 else kept)


def mean_one_by_one(x: Array, share: Any) -> Array:
    """Return what becomes of the first client's vector when those of the others are mixed in, one after the other."""
    found = x[..., :1, :]
    for k in range(1, x.shape[-2]):
        found = (1 - share) * found + share * x[..., k : k + 1, :]
    return found


def only_row(new: Array, old: Array, place: int) -> Array:
    """Return the old rows with one that is new."""
    found = np.broadcast_arrays(old, new)[0].copy()
    found[..., place, :] = new[..., place, :]
    return found


def number_clients(problem: Problem, clients: Clients | None) -> Any:
    """Return a column with the numbers of the clients that take part, from 0."""
    return (np.arange(problem.n) if clients is None else clients.index)[:, None]


def is_active(problem: Problem, clients: Clients | None) -> Any:
    """Return a column that says of all clients who takes part."""
    return np.isin(np.arange(problem.n), np.arange(problem.n) if clients is None else clients.index)[:, None]


def is_row(x: Array, place: int) -> Any:
    """Return a column that is true in one row."""
    return (np.arange(x.shape[-2]) == place % x.shape[-2])[:, None]


def is_coordinate(x: Array, place: int) -> Any:
    """Return a row that is true in one coordinate."""
    return np.arange(x.shape[-1]) == place % x.shape[-1]


def flip(coin: Any) -> Any:
    """Return the coin the other way."""
    return not coin if isinstance(coin, bool) else ~coin


def clip_norm(v: Array, longest: Any) -> Array:
    """Return every row shortened to a length where it is longer."""
    length = np.sqrt(squared_norm(v))[..., None]
    return v * np.minimum(1, longest / np.maximum(length, 1e-300))


def to_length_one(v: Array) -> Array:
    """Return every row divided by its norm."""
    return v / np.maximum(np.sqrt(squared_norm(v))[..., None], 1e-300)


def clip_entries(v: Array, largest: Any) -> Array:
    """Return every entry cut where it is larger than a number, of either sign."""
    return np.clip(v, -largest, largest)


def in_precision(v: Array, dtype: str) -> Array:
    """Return what is left of a vector that is sent in fewer bits."""
    return np.asarray(v).astype(dtype).astype(float)


def count_most(local: Any) -> int:
    """Return the largest number of local steps."""
    return int(np.max(to_numpy(local.steps))) if is_array(local.steps) else int(local.steps)


def take_one(problem: Problem, clients: Clients | None, place: int) -> Any:
    """Return the objective of one active client for all that take part."""
    index = np.arange(problem.n) if clients is None else clients.index
    return problem.take(Clients(problem.n, np.full(len(index), index[place])))


def with_steps(local: Any, steps: Any) -> Any:
    """Return the same local work with another number of steps."""
    return replace(local, steps=steps)


def steps_of(local: Any, place: int) -> Any:
    """Return the number of local steps of one client."""
    steps = local.steps
    return int(to_numpy(steps)[place]) if is_array(steps) else steps


def mean_of_path(local: Any) -> LocalSolver:
    """Return local work that answers with the mean of its points and not with the last."""

    def solve(sub: Any, start: Array, key: Key, memory: Any) -> tuple[Array, Any]:
        counts = local.steps
        most = int(np.max(to_numpy(counts))) if is_array(counts) else counts
        total, steps = 0, 0
        for k in range(1, most + 1):
            taken = np.minimum(counts, k) if is_array(counts) else k
            point, memory_after = replace(local, steps=taken)(sub, start, key, memory)
            counted = gather((to_numpy(counts) >= k).astype(float)[:, None], sub.clients) if is_array(counts) else 1
            total, steps = total + counted * point, steps + counted
        return total / steps, memory_after

    return solve  # type: ignore[return-value]


def next_clients(clients: Clients | None, shift: int) -> Clients | None:
    """Return the clients after those that take part, by number and in a circle."""
    return None if clients is None else Clients(clients.n, np.sort((clients.index + shift) % clients.n))


def count_rows(x: Array) -> int:
    """Return how many rows there are."""
    return int(x.shape[-2])


def number_rows(x: Array, clients: Clients | None) -> Any:
    """Return a column with the clients' numbers, from 1."""
    numbers = np.arange(x.shape[-2]) if clients is None else clients.index
    return numbers[:, None] + 1.0


def correct_first(local: Any) -> LocalSolver:
    """Return local work whose subproblem's linear and quadratic terms are seen in the first step only."""

    def solve(sub: Any, start: Array, key: Key, memory: Any) -> tuple[Array, Any]:
        one, _ = replace(local, steps=1)(sub, start, key, memory)
        rest = replace(local, steps=local.steps - 1)
        return rest(replace(sub, a=None, rho=None, z=None), one, key, memory)  # type: ignore[no-any-return]

    return solve  # type: ignore[return-value]


class Memory:
    """What wrong code keeps from round to round; a run begins with nothing."""

    def __init__(self) -> None:
        self._kept: dict[Any, tuple[int, Array, Array]] = {}

    def _before(self, place: Any, key: Key) -> Array | None:
        """What was kept in the round before; in a second look at a round, the same."""
        found = self._kept.get(place)
        if found is None or key.round == 0:
            return None
        r, old, new = found
        return new if r == key.round - 1 else old if r == key.round else None

    def _keep(self, place: Any, key: Key, old: Array, new: Array) -> None:
        self._kept[place] = key.round, old, new

    def earlier(self, place: int, value: Array, key: Key) -> Array:
        """Return what a value was in the round before; itself in the first."""
        old = self._before((place, "earlier"), key)
        self._keep((place, "earlier"), key, value if old is None else old, value)
        return value if old is None else old

    def before(self, state: Any, key: Key) -> Any:
        """Return the state before the round before; itself in the first."""
        old = self._before("state", key)
        self._keep("state", key, state if old is None else old, state)
        return state if old is None else old

    def first(self, place: int, value: Array, key: Key) -> Array:
        """Return what a value was in the first round."""
        old = self._before((place, "first"), key)
        found = value if old is None else old
        self._keep((place, "first"), key, found, found)
        return found

    def total(self, place: int, value: Array, key: Key) -> Array:
        """Return the sum of a value over the rounds so far."""
        old = self._before((place, "total"), key)
        found = value if old is None else old + value
        self._keep((place, "total"), key, 0 * value if old is None else old, found)
        return found

    def mean(self, place: int, value: Array, key: Key) -> Array:
        """Return the mean of a value over the rounds so far."""
        return self.total(place, value, key) / (key.round + 1)

    def grow(self, place: int, first: Array, change: Array, key: Key) -> Array:
        """Return what there was in the round before, ``first`` at the start, and the change added to it."""
        old = self._before((place, "grow"), key)
        old = first if old is None else old
        self._keep((place, "grow"), key, old, old + change)
        return old + change

    def push(self, place: int, old: Array, change: Array, number: Any, key: Key) -> Array:
        """Return ``old`` moved by a velocity v, which is ``number`` v + ``change``, from zero."""
        before = self._before((place, "push"), key)
        before = 0 * change if before is None else before
        velocity = number * before + change
        self._keep((place, "push"), key, before, velocity)
        return old + velocity

    def by_own_rounds(self, local: Any, key: Key, problem: Problem, clients: Clients | None) -> Any:
        """Return local work whose step size changes with the rounds that a client took part in."""
        old = self._before("own rounds", key)
        old = np.zeros((problem.n, 1)) if old is None else old
        own = gather(old, clients)
        self._keep("own rounds", key, old, scatter(old, clients, own + 1))
        sizes = np.array([[step_size(local.lr, int(r), 0)] for r in own.ravel()])
        return replace(local, lr=lambda r, q: sizes)

    def keep_velocity(
        self, local: Any, number: Any, sub: Any, start: Array, key: Key, problem: Problem, clients: Clients | None
    ) -> tuple[Array, None]:
        """Do local work with momentum whose velocity each client keeps from the round it last took part in."""
        old = self._before("velocity", key)
        old = spread(0 * start, problem.n) + 0 * number if old is None else old
        steps = OtherSteps(local, "local momentum c", number)
        found, velocity = steps.descend(sub, start, key, gather(old, clients))
        self._keep("velocity", key, old, scatter(old, clients, velocity))  # type: ignore[arg-type]
        return found, None

    def keep(self, place: int, value: Array, x: Array, problem: Problem, clients: Clients | None, key: Key) -> Array:
        """Return all clients' rows: those of active clients, and what the others last had, x in the first round."""
        old = self._before((place, "keep"), key)
        old = spread(x, problem.n) if old is None else old
        found = scatter(old, clients, value)
        self._keep((place, "keep"), key, old, found)
        return found

    def go_on(
        self, local: Any, sub: Any, start: Array, key: Key, problem: Problem, clients: Clients | None
    ) -> tuple[Array, None]:
        """Do local work from where a client's last one ended; from ``start`` the first time."""
        old = self._before("go on", key)
        old = spread(start, problem.n) if old is None else old
        found, _ = local(sub, gather(old, clients), key, None)
        self._keep("go on", key, old, scatter(old, clients, found))
        return found, None


WRONG_STEPS: dict[str, Any] = {
    f.__name__: f
    for f in (
        absent_clients,
        average_by,
        average_by_length,
        choose,
        clip_entries,
        clip_norm,
        correct_first,
        count_active,
        count_local_steps,
        count_most,
        count_rows,
        fewest_steps,
        first_clients,
        first_local_step,
        flip,
        half_of,
        in_precision,
        in_round,
        is_active,
        is_coordinate,
        is_row,
        leave_out,
        local_step,
        mean_of_path,
        mean_one_by_one,
        median_of,
        next_clients,
        number_clients,
        number_rows,
        of_neighbour,
        of_one,
        only_row,
        steps_of,
        sum_steps,
        take_one,
        to_length_one,
        trimmed_mean,
        with_schedule,
        with_setting,
        with_step,
        with_steps,
        with_steps_where,
    )
} | {"other_steps": OtherSteps, "restrict_gradients": restrict_gradients}

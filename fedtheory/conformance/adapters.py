"""Somebody's implementation in a conformance check: what it is given, what it returns, and how that is read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import is_array, like, to_numpy
from fedtheory.core.errors import InvalidInput, describe
from fedtheory.tools.loading import load_file


@dataclass(frozen=True, eq=False)
class Gradient:
    """The gradient of one client's quadratic, x -> A x - b: takes ``(d,)`` of any array library, returns the same kind and dtype."""

    A: NDArray[np.float64]
    b: NDArray[np.float64]

    def __call__(self, x: Any) -> Any:
        """Evaluate it."""
        host = to_numpy(x)
        if host.shape != self.b.shape:
            raise InvalidInput(f"a gradient was asked for at a point of shape {host.shape}; expected {self.b.shape}")
        return like(self.A @ host - self.b, x if is_array(x) else self.b)


@dataclass(frozen=True, eq=False)
class Penalty:
    """The shared regulariser h of a trial: its name (``l1``, ``ridge``, ``nuclear``), its weight, and its proximal step.

    ``matrix``: for a nuclear norm the rows and columns of the matrix that the first coordinates are, row by row; the rest is free.
    """

    name: str
    weight: float
    matrix: tuple[int, int] | None
    h: Any

    def prox(self, v: Any, step: float) -> Any:
        """argmin_x h(x) + ||x - v||^2 / (2 step): takes ``(d,)`` of any array library, returns the same kind and dtype."""
        host = to_numpy(v)
        if host.ndim != 1:
            raise InvalidInput(f"a proximal step was asked for at a point of shape {host.shape}; expected (d,)")
        return like(self.h.prox(host[None, :], step)[0], v if is_array(v) else host)


@dataclass(frozen=True, eq=False)
class Task:
    """What an implementation is given: n quadratics x^T A_i x / 2 - b_i^T x, a start, and the hyper-parameters.

    Parameters
    ----------
    n, d : int
        Clients and coordinates.
    x0 : array ``(d,)``
        The server's first model.
    gradients : tuple of n callables
        Each takes a point ``(d,)`` and returns the gradient there.
    A, b : arrays ``(n, d, d)``, ``(n, d)``
        The quadratics themselves, for implementations that solve exactly or want data.
    steps : tuple of n ints
        Local steps a round, one number a client.
    settings : namespace
        Step sizes, penalties, probabilities: the method's options by the names that its paper gives them (``lr``, ``rho``, ``eta``, ...).
        Local steps of round r, from 0, have size ``lr * lr_decay**r``.
    regulariser : Penalty or None
        h of the objective mean f_i + h, for methods that have one.
    server : callable or None
        The gradient of the server's own objective, for methods that use its data.
    """

    n: int
    d: int
    x0: NDArray[np.float64]
    gradients: tuple[Gradient, ...]
    A: NDArray[np.float64]
    b: NDArray[np.float64]
    steps: tuple[int, ...]
    settings: SimpleNamespace
    regulariser: Penalty | None = None
    server: Gradient | None = None


@dataclass(frozen=True)
class Round:
    """One round that is asked for: its number from 0, the clients that take part, and the coins that the reference tossed.

    ``coins`` holds for methods with random communication ``{"communicate": True or False}``.
    """

    number: int
    active: tuple[int, ...]
    coins: Mapping[str, bool]


#: own name of a variable; or the pair of it and what to multiply it by for the reference's, a number or a function of the task
Declared = str | tuple[str, float | Callable[[Task], float]]


class Adapter(Protocol):
    """Drives an implementation round by round.

    ``variables`` maps names of the reference's state (``x`` must be among them) to the implementation's. Server variables come
    back as ``(d,)``, client variables as ``(n, d)`` or a list of n vectors, of any array library.
    """

    @property
    def variables(self) -> Mapping[str, Declared]:
        """The reference's names and the implementation's."""
        ...

    def start(self, task: Task) -> Mapping[str, Any]:
        """Set up a fresh run on this task; return the state before the first round."""
        ...

    def round(self, asked: Round) -> Mapping[str, Any]:
        """Run one round; return the state after it."""
        ...


@dataclass(frozen=True, eq=False)
class Recording:
    """The states an implementation went through (entry 0: before the first round), by the reference's names.

    ``single``: some variable came back in less than double precision.
    """

    states: tuple[dict[str, NDArray[np.float64]], ...]
    single: bool


def load_adapter(target: str) -> Adapter:
    """Import ``FILE.py`` or ``FILE.py:OBJECT``; the object is an adapter, or a class or function that makes one without arguments.

    Without a name the file must define exactly one class with ``start`` and ``round``, or a name ``adapter``.

    Raises
    ------
    InvalidInput
        The file cannot be read, or the object is not there or not an adapter; the message says what is.
    """
    file, colon, name = target.rpartition(":") if ".py:" in target else (target, "", "")
    module = load_file(Path(file))
    fits = [key for key, value in vars(module).items() if _is_adapter(value) and value.__module__ == module.__name__]
    if not colon:
        if hasattr(module, "adapter"):
            name = "adapter"
        elif len(fits) == 1:
            name = fits[0]
        else:
            found = ", ".join(fits) or "nothing with 'variables', 'start' and 'round'"
            raise InvalidInput(f"{file} defines {found}; name one adapter as {file}:NAME, or call it 'adapter'")
    if not hasattr(module, name):
        raise InvalidInput(f"{file} does not define {name!r}; it defines {', '.join(fits) or 'no adapter'}")
    made = getattr(module, name)
    if inspect.isclass(made) or inspect.isfunction(made):
        try:
            made = made()
        except Exception as error:
            raise InvalidInput(f"{name} in {file} cannot be made without arguments: {describe(error)}") from error
    if not _is_adapter(made):
        raise InvalidInput(
            f"{name} in {file} is not an adapter; expected 'variables', 'start(task)' and 'round(asked)'"
        )
    adapter: Adapter = made
    return adapter


def _is_adapter(value: object) -> bool:
    return all(hasattr(value, part) for part in ("variables", "start", "round"))


def play(adapter: Adapter, task: Task, rounds: Sequence[Round], shapes: Mapping[str, tuple[int, int]]) -> Recording:
    """Run an implementation.

    Parameters
    ----------
    shapes : mapping of name to (clients, d)
        The variables of the reference's state.

    Raises
    ------
    InvalidInput
        The adapter raised, changed its inputs, left a variable out, or returned a wrong shape, kind or value; the message names the
        round, the variable, what was expected and what came.
    """
    declared = _declared(adapter, shapes)
    given = {name: np.copy(getattr(task, name)) for name in ("x0", "A", "b")}
    states, single = [], False
    for r in range(len(rounds) + 1):
        place = "start" if r == 0 else f"round {r}"
        try:
            returned = adapter.start(task) if r == 0 else adapter.round(rounds[r - 1])
        except (Exception, SystemExit) as error:
            raise InvalidInput(f"the adapter raised in its {place}: {describe(error)}") from error
        for name, before in given.items():
            if not np.array_equal(getattr(task, name), before):
                raise InvalidInput(
                    f"the adapter changed task.{name} in place in its {place}; expected it to work on a copy, such as task.{name}.copy()"
                )
        if not isinstance(returned, Mapping):
            raise InvalidInput(f"the adapter's {place} returned a {type(returned).__name__}; expected a dict of arrays")
        state = {}
        for name, (own, factor) in declared.items():
            if own not in returned:
                listed = ", ".join(map(str, returned)) or "nothing"
                raise InvalidInput(
                    f"the adapter's {place} returned no {own!r} (the reference's {name}); it returned {listed}"
                )
            label = f"{own!r} (the reference's {name}) of the adapter's {place}"
            value, low = _number_array(returned[own], shapes[name], label)
            state[name] = value * (factor(task) if callable(factor) else factor)
            single = single or low
        states.append(state)
    return Recording(tuple(states), single)


def _declared(adapter: Adapter, shapes: Mapping[str, tuple[int, int]]) -> dict[str, tuple[str, Any]]:
    """The declared variables as name -> (own name, factor)."""
    if not isinstance(adapter.variables, Mapping) or "x" not in adapter.variables:
        raise InvalidInput(
            "the adapter's variables must be a mapping that has 'x', the server's model, among its names"
        )
    found: dict[str, tuple[str, Any]] = {}
    for name, own in adapter.variables.items():
        if name not in shapes:
            raise InvalidInput(
                f"the adapter declares {name!r}, which the reference does not have; it has {', '.join(shapes)}"
            )
        pair = (own, 1.0) if isinstance(own, str) else own
        well_formed = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
        if not well_formed or not (callable(pair[1]) or isinstance(pair[1], int | float)):
            raise InvalidInput(
                f"the adapter declares {name!r} as {own!r}; expected its own name, or (own name, factor) with a number or a "
                "function of the task"
            )
        found[name] = pair
    return found


def _number_array(value: Any, shape: tuple[int, int], label: str) -> tuple[NDArray[np.float64], bool]:
    """A copy in double precision and shape ``(clients, d)``; and whether it came with fewer digits."""
    clients, d = shape
    expected = f"({d},)" if clients == 1 else f"({clients}, {d})"

    def refuse(got: str) -> NoReturn:
        raise InvalidInput(f"{label}: expected real numbers of shape {expected}, got {got}")

    try:
        host = np.stack([to_numpy(v) for v in value]) if isinstance(value, list | tuple) else to_numpy(value)
    except (TypeError, ValueError, AttributeError) as error:
        refuse(f"a {type(value).__name__} that is no array ({error})")
    if host.dtype.kind not in "fiu":
        refuse(f"a {type(value).__name__} of type {host.dtype}")
    if host.shape != shape and not (clients == 1 and host.shape == (d,)):
        refuse(f"shape {host.shape}")
    if not np.all(np.isfinite(host)):
        bad = np.argwhere(~np.isfinite(host.reshape(shape)))[0]
        client = "" if clients == 1 else f" of client {bad[0]}"
        refuse(f"{host.reshape(shape)[tuple(bad)]} in coordinate {bad[1]}{client}")
    return np.array(host, dtype=float).reshape(shape), host.dtype.kind == "f" and host.dtype.itemsize < 8

"""Known mistakes in implementations of federated methods, each an edit of the reference.

A mistake is one changed line of a reference class in this folder, or one changed option; so there is no second implementation to keep in
step, and the difference can be shown as it stands in the code. A method's mistakes stand under its class, in the module's ``MISTAKES``; those
that many methods share are here. `fedtheory.conformance` compares methods with such mistakes with somebody's implementation, and claims plant them
as faults.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.changed_gradients import ChangedGradients
from fedtheory.algorithms.listing import Listed
from fedtheory.algorithms.options import Option
from fedtheory.core.arrays import (
    Array,
    average,
    choose,
    gather,
    is_array,
    like,
    namespace,
    scatter,
    spread,
    squared_norm,
    to_numpy,
)
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import Zero
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import LocalSolver, step_size
from fedtheory.local.subproblem import Subproblem


def average_weighted(x: Array, steps: Any, clients: Clients | None) -> Array:
    """The average of active clients with their numbers of local steps as weights."""
    if not is_array(steps):
        return average(x, clients)
    weight = like(gather(to_numpy(steps).astype(float)[:, None], clients), x)
    return average(weight * x, clients) / average(weight, clients)


def train_in_sequence(local: LocalSolver, problem: Problem, sub: Subproblem, start: Array, key: Key) -> Array:
    """Local work one client after the other: each active client starts from the model of the one before it."""
    active = np.arange(problem.n) if sub.clients is None else sub.clients.index
    found = []
    for place, i in enumerate(active):
        one = Clients(problem.n, np.array([i]))
        rows = [part if part is None or part.shape[-2] == 1 else part[place : place + 1] for part in (sub.a, sub.z)]
        start, _ = local(Subproblem(problem.take(one), rows[0], sub.rho, rows[1], one), start, key, None)
        found.append(start)
    return np.concatenate(found, axis=-2)


def add_norm(f: Problem, weight: Any, z: Array) -> Any:
    """Add the gradient of ``weight ||x - z||``, the norm not squared, to the gradients; at z nothing is added."""

    def through(x: Array, oracle: Any) -> Array:
        away = x - z
        length = namespace(away).sqrt(squared_norm(away))[..., None]
        return oracle(x) + weight * away / choose(length > 0, length, 1 + 0 * length)

    return ChangedGradients(f, through)


def hold_gradients(f: Problem, start: Array) -> Any:
    """Show the gradients at one point wherever they are asked for."""
    return ChangedGradients(f, lambda x, oracle: oracle(start) + 0 * x)


#: ascents of SAM that go elsewhere, or are measured by another norm than the Euclidean one
Ascent = Literal["not normalised", "descent", "largest entry", "sum of entries", "signs", "beside the first point"]


@dataclass(frozen=True)
class _OtherSam(SamSteps):
    """SAM's steps with an ascent that goes elsewhere."""

    ascent: Ascent = "descent"

    def _perturbed(self, x: Array, u: Array, start: Array) -> Array:
        return super()._perturbed(start if self.ascent == "beside the first point" else x, u, start)

    def _ascent(self, u: Array) -> Array:
        if self.ascent == "beside the first point":
            return super()._ascent(u)
        if self.ascent == "not normalised":
            return u
        if self.ascent == "descent":
            return -super()._ascent(u)
        xp = namespace(u)
        sizes = xp.abs(u)
        if self.ascent == "signs":
            return xp.sign(u)
        norm = (xp.max if self.ascent == "largest entry" else xp.sum)(sizes, axis=-1, keepdims=True)
        return u / xp.where(norm > 0, norm + self.epsilon, xp.ones_like(norm))


def change_ascent(local: Any, ascent: Ascent) -> Any:
    """The same SAM steps with another ascent."""
    return _OtherSam(**{f.name: getattr(local, f.name) for f in dataclasses.fields(local)}, ascent=ascent)


#: what the code of a mistake may use beside the names of the module it edits
HELPERS: dict[str, Any] = {
    "Zero": Zero,
    "add_norm": add_norm,
    "average": average,
    "average_weighted": average_weighted,
    "change_ascent": change_ascent,
    "gather": gather,
    "hold_gradients": hold_gradients,
    "np": np,
    "replace": dataclasses.replace,
    "scatter": scatter,
    "spread": spread,
    "step_size": step_size,
    "train_in_sequence": train_in_sequence,
}


class StaleMistake(RuntimeError):
    """A known mistake does not fit the source of its method any more: an error of this package, never a finding about other code."""


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    Parameters
    ----------
    name : str
        What such code does, distinct within a method.
    old, new : str
        The text of the reference class that is replaced (it occurs once), and what stands there instead.
    option : (name, change), optional
        For a mistake that is a changed option.
    seen : str
        Where it was found in public code, if it was.
    silent : bool
        Whether the paper leaves this open, so that it is another choice and no mistake: where work towards an argmin starts, say.
    needs : str
        An option without which a listed method cannot have it.
    """

    name: str
    old: str = ""
    new: str = ""
    option: tuple[str, Callable[[Any], Any]] | None = None
    seen: str = ""
    silent: bool = False
    needs: str = ""


def find_option_mistakes(option: Option) -> tuple[Mistake, ...]:
    """The mistakes that are changed options: in a number of local steps, a step size, a penalty (rho) or its inverse (eta)."""
    name = option.name
    by_role: dict[str, tuple[tuple[str, Callable[[Any], Any]], ...]] = {
        "steps": (
            ("K + 1 local steps", lambda k: k + 1),
            ("K - 1 local steps", lambda k: k - 1),
            (
                "every client takes the local steps of the busiest",
                lambda k: np.full_like(k, np.max(k)) if is_array(k) else k,
            ),
        ),
        "lr": (
            (f"{name}/2 in place of {name}", lambda lr: lr / 2),
            (f"2 {name} in place of {name}", lambda lr: 2 * lr),
        ),
        "rho": (
            (
                f"{name} ||x - z||^2 in place of ({name}/2) ||x - z||^2, {name} doubled everywhere",
                lambda rho: 2 * rho,
            ),
            (f"{name}/2 in place of {name} everywhere", lambda rho: rho / 2),
            (f"1/{name} in place of {name}", lambda rho: 1 / rho),
        ),
        "eta": (
            (f"2 {name} in place of {name} everywhere", lambda eta: 2 * eta),
            (
                f"||x - z||^2 / {name} in place of ||x - z||^2 / (2 {name}), {name} halved everywhere",
                lambda eta: eta / 2,
            ),
            (f"1/{name} in place of {name}", lambda eta: 1 / eta),
        ),
        "lr_decay": (("step sizes do not decay", lambda _: 1),),
        "radius": (
            ("no ascent", lambda _: 0),
            (f"2 {name} in place of {name}", lambda radius: 2 * radius),
        ),
        "server_lr": (("server step 1 in place of server_lr", lambda _: 1),),
    }
    return tuple(Mistake(said, option=(name, change)) for said, change in by_role.get(option.role, ()))


NOT_RESET = Mistake(
    "model not reset between clients",
    "self.local(sub, state.x, key, None)",
    "(train_in_sequence(self.local, problem, sub, state.x, key), None)",
)

HELD_GRADIENT = Mistake(
    "all local gradients at the first point",
    "self.local(sub, state.x, key, None)",
    "self.local(replace(sub, f=hold_gradients(sub.f, state.x)), state.x, key, None)",
)

#: of methods whose local work may be SAM's
WRONG_ASCENT = (
    Mistake(
        "ascent not divided by the gradient's norm",
        "self.local(sub, state.x, key, None)",
        'change_ascent(self.local, "not normalised")(sub, state.x, key, None)',
        needs="radius",
    ),
    Mistake(
        "descent in place of SAM's ascent",
        "self.local(sub, state.x, key, None)",
        'change_ascent(self.local, "descent")(sub, state.x, key, None)',
        needs="radius",
    ),
)

#: of a local problem with ``rho=self.rho, z=state.x``
WRONG_PENALTY = (
    Mistake("no penalty in local work", ", rho=self.rho, z=state.x", ""),
    Mistake("local penalty doubled", "rho=self.rho, z", "rho=2 * self.rho, z"),
    Mistake("local penalty halved", "rho=self.rho, z", "rho=self.rho / 2, z"),
)


def list_dual_mistakes(dual: str) -> tuple[Mistake, ...]:
    """Mistakes in the linear term ``a=dual,`` of local work."""
    return (
        Mistake("sign of the dual in local work", f"a={dual},", f"a=-{dual},"),
        Mistake("no dual in local work", f"a={dual},", f"a=0 * {dual},"),
        Mistake("dual applied twice in local work", f"a={dual},", f"a=2 * {dual},"),
    )


def list_average_mistakes(what: str, absent: str = "0 * state.x") -> tuple[Mistake, ...]:
    """Wrong weights in the server's average ``average(what, clients)`` of a method with equal ones; ``absent``: what the absent count with."""
    mean = f"average({what}, clients)"
    everyone = f"average(scatter(spread({absent}, problem.n), clients, {what}))"
    return (
        Mistake("mean over all instead of active clients", mean, everyone),
        Mistake("sum instead of mean", mean, f"({what}).shape[-2] * {mean}"),
        Mistake(
            "clients weighed by their local steps",
            mean,
            f"average_weighted({what}, self.local.steps, clients)",
        ),
    )


def find_mistakes(entry: Listed, values: Mapping[str, Any]) -> tuple[Mistake, ...]:
    """The mistakes that can be made in a method with these options: those of its class and those of its options."""
    steps = {"lr", "lr_decay", "steps"} if values.get("exact") else set()  # exact local work has none
    stepping = ("local.steps", "hold_gradients(", "add_norm(")  # what mistakes name that can be made in steps only
    in_code = (
        m
        for m in find_code_mistakes(entry.kind)
        if not (steps and any(text in m.new for text in stepping)) and (not m.needs or m.needs in entry.uses)
    )
    return (*in_code, *(m for o in entry.options if o.name not in steps for m in find_option_mistakes(o)))


def find_code_mistakes(kind: type) -> tuple[Mistake, ...]:
    """The mistakes that stand under a method's class."""
    found: tuple[Mistake, ...] = getattr(sys.modules[kind.__module__], "MISTAKES", {}).get(kind, ())
    return found


def find_print(kind: type) -> Mistake | None:
    """The line that a paper prints differently (``AS_PRINTED`` under a method's class); from the paper's start the iterates are the same."""
    found: Mistake | None = getattr(sys.modules[kind.__module__], "AS_PRINTED", {}).get(kind)
    return found


def build_as_printed(entry: Listed, values: Mapping[str, Any], mistakes: tuple[Mistake, ...] = ()) -> Algorithm:
    """Build a listed method as its paper prints it, with mistakes in it; see `build_mistaken`."""
    return build_mistaken(entry, values, mistakes, find_print(entry.kind))


def build_mistaken(
    entry: Listed, values: Mapping[str, Any], mistakes: tuple[Mistake, ...], rewritten: Mistake | None = None
) -> Algorithm:
    """Build a listed method with mistakes in it; ``rewritten`` is an edit that is made last, where the mistakes left its text alone.

    Raises
    ------
    InvalidInput
        A changed option is outside the method's definition, or one mistake edits away what another one edits.
    StaleMistake
        The text of an edit does not stand once in the method's source, or what it makes of it is no code.
    """
    values = {option.name: option.default for option in entry.options} | dict(values)
    for mistake in mistakes:
        if mistake.option is not None:
            name, change = mistake.option
            values[name] = change(values[name])
    algorithm: Any = entry.build(**values)
    kind: Any = type(algorithm)
    source = plain = read_source(kind)
    for mistake in (*mistakes, *([] if rewritten is None else [rewritten])):
        _require_fit(kind, plain, mistake)
    for mistake in mistakes:
        source = _edited(source, mistake)
    if rewritten is not None and rewritten.old in source:
        source = _edited(source, rewritten)
    if source == plain:
        return algorithm  # type: ignore[no-any-return]
    try:
        changed = _compiled(kind, source)
    except SyntaxError as error:
        raise StaleMistake(
            f"{kind.__name__} with {' and '.join(repr(m.name) for m in mistakes)} is no code: {error}"
        ) from error
    made: Algorithm = changed(**{f.name: getattr(algorithm, f.name) for f in dataclasses.fields(algorithm)})
    return made


def show_difference(algorithm: Algorithm, mistakes: tuple[Mistake, ...]) -> tuple[str, ...]:
    """The lines of the reference that the mistakes change, as a difference: ``- old``, ``+ new``."""
    before = after = read_source(type(algorithm))
    for mistake in mistakes:
        _require_fit(type(algorithm), before, mistake)
        after = _edited(after, mistake)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    shown = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return tuple(f"{line[0]} {line[1:].split('  #')[0].strip()}" for line in shown)


@cache
def read_source(kind: type) -> str:
    """A class's own text; reading it from the file takes longer than a round."""
    return textwrap.dedent(inspect.getsource(kind))


@cache
def _compiled(kind: type, source: str) -> Any:
    """The class that another text makes of a class, among the same names; compiling it takes longer than its rounds."""
    names = vars(sys.modules[kind.__module__]) | HELPERS
    exec(compile(source, f"<{kind.__name__} with mistakes>", "exec"), names)
    return names[kind.__name__]


def _require_fit(kind: type, source: str, mistake: Mistake) -> None:
    """Refuse an edit whose text does not stand once in the method's own source."""
    found = source.count(mistake.old) if mistake.old else 1  # a changed option has no text
    if found != 1:
        raise StaleMistake(
            f"the mistake {mistake.name!r} of {kind.__name__} finds its text {mistake.old!r} {found} times in the source of "
            f"{kind.__name__}; expected once: bring the entry in MISTAKES of {kind.__module__} up to date with the code"
        )


def _edited(source: str, mistake: Mistake) -> str:
    """The source with a mistake; its text may be gone only because another mistake edited it away."""
    if not mistake.old:  # a changed option
        return source
    if source.count(mistake.old) != 1:
        raise InvalidInput(f"the mistake {mistake.name!r} finds {mistake.old!r} edited by another mistake")
    return source.replace(mistake.old, mistake.new)

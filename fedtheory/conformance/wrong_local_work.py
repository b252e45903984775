"""Local gradient steps as wrong code takes them: of other sizes, with momentum, with other terms beside the gradient, clipped or normalised.

A rule says by how much a local step moves, and what it leaves for the next one. Those with a number in them, which nobody was told, have it found by
the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.algorithms.mistakes import add_norm
from fedtheory.core.arrays import Array, choose, gather, is_array, like, namespace, squared_norm, to_numpy
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Memoryless, step_size
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, eq=False)
class LocalStep:
    """What a rule sees of a local step.

    ``q``: its number from 0; ``steps``: K, a number or a column; ``lr``: its size; ``start``: where the round began;
    ``kept``: what the last step left.
    """

    sub: Subproblem
    x: Array
    start: Array
    q: int
    steps: Any
    lr: Any
    kept: Array | None

    @cached_property
    def gradient(self) -> Array:
        """grad f_i(x)."""
        return self.sub.f.grad(self.x)

    @cached_property
    def added(self) -> Array:
        """What the subproblem adds to it."""
        return self.sub.shift(0 * self.gradient, self.x)

    @cached_property
    def direction(self) -> Array:
        """Both."""
        return self.gradient + self.added

    @property
    def is_last(self) -> Any:
        """Whether it is the last one: 0 or 1, by client where they differ."""
        return (to_numpy(self.steps) == self.q + 1) * 1.0


StepRule = Callable[[LocalStep, Any], tuple[Array, Array | None]]


def _length(v: Array) -> Array:
    """The clients' norms, one where they vanish."""
    length = namespace(v).sqrt(squared_norm(v))[..., None]
    return choose(length > 0, length, 1 + 0 * length)


def _clip(v: Array, longest: Any) -> Array:
    return v * np.minimum(1, longest / _length(v))


def _pull(step: LocalStep) -> Array:
    """The gradient of the penalty."""
    return step.sub.rho * (step.x - step.sub.z)


def _away(step: LocalStep) -> Array:
    """How far the local point is from the penalty's centre."""
    away = step.x - step.sub.z
    return namespace(away).sqrt(squared_norm(away))[..., None]


def _is_one(step: LocalStep, place: int) -> Any:
    """Whether a coordinate is the one at a place."""
    d = step.x.shape[-1]
    return np.arange(d) == place % d


def _is_odd(step: LocalStep) -> Any:
    """Whether a client's number is odd, as a column of numbers."""
    clients = step.sub.clients
    numbers = np.arange(step.gradient.shape[-2]) if clients is None else clients.index
    return (numbers % 2)[:, None] * 1.0


def _pulled(step: LocalStep, where: Any) -> Array:
    """How far a step without the penalty moves that is followed, where it is, by a proximal step of it."""
    move = step.lr * (step.gradient + (0 if step.sub.a is None else step.sub.a))
    weight = step.lr * step.sub.rho
    return move + where * weight / (1 + weight) * (step.x - move - step.sub.z)


def _sized(share: Callable[[LocalStep, Any], Any]) -> StepRule:
    """The step multiplied by a share."""
    return lambda step, c: (share(step, c) * step.lr * step.direction, None)


def _along(direction: Callable[[LocalStep, Any], Array]) -> StepRule:
    """A step along another direction."""
    return lambda step, c: (step.lr * direction(step, c), None)


def _in_step(where: Callable[[LocalStep], Any]) -> StepRule:
    """What is added to gradients multiplied by a number in some of the steps."""
    return _along(lambda step, c: step.gradient + (1 + where(step) * (c - 1)) * step.added)


def _with_velocity(
    push: Callable[[Any, Array, Any], Array], move: Callable[[Array, LocalStep, Any], Array]
) -> StepRule:
    """Steps along a velocity, which every step pushes."""

    def rule(step: LocalStep, c: Any) -> tuple[Array, Array]:
        velocity = push(0 if step.kept is None else step.kept, step, c)  # type: ignore[arg-type]
        return step.lr * move(velocity, step, c), velocity

    return rule


#: rules that nothing is free in, by what they are in words
FIXED_RULES: dict[str, StepRule] = {
    "local step q + 1 of size lr/(q + 1)": _sized(lambda step, c: 1 / (step.q + 1)),
    "local step q + 1 of size lr/(q + 1)^(1/2)": _sized(lambda step, c: (step.q + 1) ** -0.5),
    "local step q + 1 of size lr (K - q)/K": _sized(lambda step, c: np.maximum(1 - step.q / to_numpy(step.steps), 0)),
    "local gradients divided by their norms": _along(
        lambda step, c: step.gradient / _length(step.gradient) + step.added
    ),
    "local directions divided by their norms": _along(lambda step, c: step.direction / _length(step.direction)),
    "signs of local gradients in their place": _along(lambda step, c: np.sign(step.gradient) + step.added),
    "signs of local directions in their place": _along(lambda step, c: np.sign(step.direction)),
    "the norm of the local penalty not squared": _along(
        lambda step, c: (
            add_norm(step.sub.f, step.sub.rho, step.sub.z).grad(step.x) + (0 if step.sub.a is None else step.sub.a)
        )
    ),
}
FIXED_RULES |= {
    "nothing added to local gradients in the first coordinate": _along(
        lambda step, c: step.gradient + ~_is_one(step, 0) * step.added
    ),
    "nothing added to local gradients in the last coordinate": _along(
        lambda step, c: step.gradient + ~_is_one(step, -1) * step.added
    ),
    "something added to local gradients in the first coordinate only": _along(
        lambda step, c: step.gradient + _is_one(step, 0) * step.added
    ),
    "something added to local gradients in the last coordinate only": _along(
        lambda step, c: step.gradient + _is_one(step, -1) * step.added
    ),
    "local gradients one step ahead": _along(
        lambda step, c: step.sub.f.grad(step.x - step.lr * step.direction) + step.added
    ),
    "the local penalty multiplied by its length": _along(
        lambda step, c: step.direction + (_away(step) - 1) * _pull(step)
    ),
    "the local penalty multiplied by its squared length": _along(
        lambda step, c: step.direction + (_away(step) ** 2 - 1) * _pull(step)
    ),
    "local gradients of one step before": lambda step, c: (
        step.lr * ((step.gradient if step.kept is None else step.kept) + step.added),
        step.gradient,
    ),
    "local gradients extrapolated from the step before": lambda step, c: (
        step.lr * (2 * step.gradient - (step.gradient if step.kept is None else step.kept) + step.added),
        step.gradient,
    ),
    "the local penalty as a proximal step after every local step": lambda step, c: (_pulled(step, 1), None),
    "the local penalty as one proximal step after local work": lambda step, c: (_pulled(step, step.is_last), None),
}
FIXED_RULES["the centre of the local penalty is the point of one step before"] = lambda step, c: (
    step.lr * (step.direction + step.sub.rho * (step.sub.z - (step.x if step.kept is None else step.kept))),
    step.x,
)
#: rules with a free number c
RULES_WITH_A_NUMBER: dict[str, StepRule] = {
    "the first local step multiplied by c": _sized(lambda step, c: c if step.q == 0 else 1),
    "the last local step multiplied by c": _sized(lambda step, c: 1 + step.is_last * (c - 1)),
    "every second local step multiplied by c": _sized(lambda step, c: c if step.q % 2 else 1),
    "local steps of clients with odd numbers multiplied by c": _sized(lambda step, c: 1 + _is_odd(step) * (c - 1)),
    "local steps of clients with even numbers multiplied by c": _sized(lambda step, c: c + _is_odd(step) * (1 - c)),
    "what local work adds to gradients multiplied by c in every second step": _in_step(lambda step: float(step.q % 2)),
    "what local work adds to gradients multiplied by c for clients with odd numbers": _in_step(_is_odd),
    "what local work adds to gradients multiplied by c for clients with even numbers": _in_step(
        lambda step: 1 - _is_odd(step)
    ),
    "what local work adds to gradients multiplied by c in the first step": _in_step(lambda step: float(step.q == 0)),
    "what local work adds to gradients multiplied by c after the first step": _in_step(lambda step: float(step.q > 0)),
    "what local work adds to gradients multiplied by c in the last step": _in_step(lambda step: step.is_last),
    "weight decay c in local steps": _along(lambda step, c: step.direction + c * step.x),
    "models multiplied by 1 - c in every local step": lambda step, c: (step.lr * step.direction + c * step.x, None),
    "a local pull c (x - x^r) to where the round began": _along(
        lambda step, c: step.direction + c * (step.x - step.start)
    ),
    "local momentum c": _with_velocity(lambda v, step, c: c * v + step.direction, lambda v, step, c: v),
    "local momentum c of gradients": _with_velocity(
        lambda v, step, c: c * v + step.gradient, lambda v, step, c: v + step.added
    ),
    "local momentum c, directions multiplied by 1 - c": _with_velocity(
        lambda v, step, c: c * v + (1 - c) * step.direction, lambda v, step, c: v
    ),
    "Nesterov's local momentum c": _with_velocity(
        lambda v, step, c: c * v + step.direction, lambda v, step, c: step.direction + c * v
    ),
}
#: rules with a free number c that is not negative
RULES_WITH_A_SIZE: dict[str, StepRule] = {
    "local step q + 1 multiplied by c^q": _sized(lambda step, c: c**step.q),
    "local gradients clipped at c": _along(lambda step, c: _clip(step.gradient, c) + step.added),
    "local directions clipped at c": _along(lambda step, c: _clip(step.direction, c)),
    "entries of local gradients clipped at c": _along(lambda step, c: np.clip(step.gradient, -c, c) + step.added),
    "entries of local directions clipped at c": _along(lambda step, c: np.clip(step.direction, -c, c)),
}
#: all rules
STEP_RULES = FIXED_RULES | RULES_WITH_A_NUMBER | RULES_WITH_A_SIZE


@dataclass(frozen=True)
class OtherSteps(Memoryless):
    """Gradient steps by a rule; the number of steps and their sizes are those of ``local``, a `GradientSteps`."""

    local: Any
    rule: str
    number: Any = None

    @property
    def steps(self) -> Any:
        """K."""
        return self.local.steps

    @property
    def lr(self) -> Any:
        """The size of a step."""
        return self.local.lr

    def __call__(self, sub: Subproblem, start: Array, key: Key, memory: Any) -> tuple[Array, Any]:
        """Take the steps."""
        return self.descend(sub, start, key)[0], memory

    def descend(self, sub: Subproblem, start: Array, key: Key, kept: Array | None = None) -> tuple[Array, Array | None]:
        """The last point, and what the last step leaves, from what there was before the first."""
        steps, rule = self.local.steps, STEP_RULES[self.rule]
        counts = gather(to_numpy(steps)[:, None], sub.clients) if is_array(steps) else steps
        x = start
        for q in range(int(np.max(to_numpy(steps)))):
            step = LocalStep(sub, x, start, q, counts, step_size(self.local.lr, key.round, q), kept)
            move, kept = rule(step, self.number)
            x = x - (move if not is_array(counts) else like((counts > q).astype(float), step.gradient) * move)
        return x, kept

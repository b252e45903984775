"""Local solvers that work on minibatches of a client's samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedtheory.arrays import Array, Scalar, namespace, spread, squared_norm, stepped
from fedtheory.blocks import in_turn
from fedtheory.errors import InvalidInput
from fedtheory.local import Memoryless, Step, Subproblem, at_least_one, positive, step_size
from fedtheory.problem import Problem, need
from fedtheory.randomness import Key


def draw_samples(sub: Subproblem, key: Key, steps: int, batch: int) -> Any:
    """Draw sample numbers with replacement: ``(*batch axes, m, steps, batch)``; a client's own, whoever else is active."""
    counts = need(sub.f, "n_samples", "a stochastic local solver")
    if sub.clients is None:
        lots = key.client_uniform("samples", sub.f.n, steps * batch)
    else:
        lots = key.client_uniform("samples", sub.clients.n, steps * batch, sub.clients.index)
    numbers = np.floor(lots * np.asarray(counts)[..., None]).astype(np.int64)
    return numbers.reshape(*numbers.shape[:-1], steps, batch)


def gradients(sub: Subproblem, key: Key, steps: int, batch: int | None) -> Callable[[Array, int], Array]:
    """Gradients of f_i as a function of the point and the local step.

    Full gradients for ``batch`` None; else minibatches drawn with replacement, those of one local step the same at every point.
    """
    if batch is None:
        return lambda x, q: sub.f.grad(x)
    sample_grad = need(sub.f, "sample_grad", "a stochastic local solver")
    samples = draw_samples(sub, key, steps, batch)
    return lambda x, q: sample_grad(x, samples[..., q, :])


def shortened(g: Array, longest: Scalar | None) -> Array:
    """Scale each client's vector ``(..., m, d)`` down to the norm ``longest`` where it is longer; None leaves all as they are.

    PyTorch's ``clip_grad_norm_`` adds 1e-6 to the norm; nothing is added here.
    """
    if longest is None:
        return g
    xp = namespace(g)
    norm = xp.sqrt(squared_norm(g))[..., None]
    return g * (longest / xp.where(norm > longest, norm, longest + xp.zeros_like(norm)))


@dataclass(frozen=True)
class StochasticSteps(Memoryless):
    """K stochastic gradient steps on minibatches drawn with replacement (FedPD: Oracle I, option II).

    With ``clip`` a step follows the subproblem's whole direction d = g_i + a_i + rho (x - z_i) as d min(1, clip / ||d||).
    Departure: A-FedPD's public code clips at 10 before it adds weight decay; here weight decay is part of f_i and clipped with it.

    Parameters
    ----------
    steps : int
        K.
    lr : number, array ``(*batch, 1, 1)``, or function of (round, local step)
    batch : int
        Samples a step and client.
    clip : number or array ``(*batch, 1, 1)``, optional
        Largest norm of a direction.
    """

    steps: int
    lr: Step
    batch: int
    clip: Scalar | None = None
    numeric_only: ClassVar[str | None] = "it draws samples at random"

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        at_least_one("steps", self.steps)
        at_least_one("batch", self.batch)
        positive(self, "lr")
        if self.clip is not None:
            positive(self, "clip")

    @property
    def only_noise(self) -> bool:
        """Whether all it uses are gradients plus independent noise, which an engine without samples may give (``noisy_grad``)."""
        return self.clip is None

    def __call__(self, sub: Subproblem, start: Array, key: Key, memory: None) -> tuple[Array, None]:
        """Take the steps."""
        noisy = getattr(sub.f, "noisy_grad", None)
        if noisy is None:
            need(sub.f, "sample_grad", "StochasticSteps")
        samples = None if noisy else draw_samples(sub, key, self.steps, self.batch)

        def descend(part: Subproblem, x: Array, first: int) -> Array:
            f: Any = part.f
            mine = None if samples is None else samples[..., first : first + f.n, :, :]
            for q in range(self.steps):
                g = f.noisy_grad(x, key, q) if mine is None else f.sample_grad(x, mine[..., q, :])
                x = stepped(x, step_size(self.lr, key.round, q), shortened(part.shift(g, x), self.clip))
            return x

        return in_turn(descend, sub, start, self.batch), None


@dataclass(frozen=True)
class VarianceReduced:
    """K steps along a recursive gradient estimate g that is made exact every ``period`` rounds.

    FedPD's Oracle II (Algorithm 4). Its step, the minimiser of
    <g + lam, x> + ||x - x_q||^2/(2 gamma) + ||x - x_0||^2/(2 eta), is x_q - s (g + lam + (x_q - x_0)/eta) with
    s = eta gamma / (eta + gamma), so ``lr`` is s; see `FedPD.oracle_two`. With ``period=1`` the solver starts
    afresh every round and is SARAH (FedProx-VR).

    Parameters
    ----------
    steps : int
        Q.
    lr : number or array ``(*batch, 1, 1)``
    batch : int or None
        B, samples a step and client; None for exact gradients.
    period : int
        I, rounds between exact gradients.
    """

    steps: int
    lr: Step
    batch: int | None
    period: int = 1

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        at_least_one("steps", self.steps)
        at_least_one("period", self.period)
        if self.batch is not None:
            at_least_one("batch", self.batch)
        positive(self, "lr")

    @property
    def numeric_only(self) -> str | None:
        """Random unless the gradients are exact."""
        return None if self.batch is None else "it draws samples at random"

    def memory(self, problem: Problem, x0: Array) -> Array:
        """Return g_i at the start; the first round replaces it by an exact gradient."""
        return spread(0 * x0, problem.n)

    def __call__(self, sub: Subproblem, start: Array, key: Key, memory: Array | None) -> tuple[Array, Array]:
        """Take the steps and keep the last g_i."""
        if self.period > 1 and memory is None:
            raise InvalidInput(
                f"VarianceReduced(period={self.period}) carries its gradient estimate from round to round, and this "
                "method keeps no solver memory; use period=1, or FedPD"
            )
        x = start
        g = sub.f.grad(x) if key.round % self.period == 0 else memory
        samples = None if self.batch is None else draw_samples(sub, key, self.steps, self.batch)
        for q in range(self.steps):
            new = x - step_size(self.lr, key.round, q) * sub.shift(g, x)
            if samples is None:
                g = g + (sub.f.grad(new) - sub.f.grad(x))
            else:
                sample_grad = need(sub.f, "sample_grad", "VarianceReduced")
                g = g + (sample_grad(new, samples[..., q, :]) - sample_grad(x, samples[..., q, :]))
            x = new
        return x, g

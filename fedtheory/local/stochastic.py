"""Local solvers that work on minibatches of a client's samples: drawn with replacement, or passes through all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, Scalar, is_torch, like, namespace, spread, squared_norm, take_step
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import positive
from fedtheory.core.numbers import at_least_one
from fedtheory.core.problem import Problem, need
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ClientPoints, Points, SampleNumbers, ServerPoint
from fedtheory.local.execution import run_minibatch_steps
from fedtheory.local.solvers import Memoryless, Step, step_size
from fedtheory.local.subproblem import Subproblem


def draw_samples(sub: Subproblem, key: Key, steps: int, batch: int) -> Any:
    """Draw sample numbers with replacement: ``(*batch axes, m, steps, batch)``; they do not depend on who else takes part."""
    counts = need(sub.f, "n_samples", "a stochastic local solver")
    if sub.clients is None:
        lots = key.client_uniform("samples", sub.f.n, steps * batch)
    else:
        lots = key.client_uniform("samples", sub.clients.n, steps * batch, sub.clients.index)
    numbers = np.floor(lots * np.asarray(counts)[..., None]).astype(np.int64)
    return numbers.reshape(*numbers.shape[:-1], steps, batch)


@dataclass(frozen=True)
class Passes:
    """A number of local steps, given as passes (epochs) through a client's samples: each is in one minibatch of a pass.

    Examples
    --------
    >>> print(Passes(2).steps(sampled, batch=6))  # a pass through 20 samples takes 4 minibatches
    8
    """

    epochs: int

    def __post_init__(self) -> None:
        """Refuse a number of passes below one."""
        at_least_one("epochs", self.epochs)

    def steps(self, f: Any, batch: int) -> int:
        """Return how many steps they are on a problem: the last of a pass takes what is left."""
        return self.epochs * -(-count_data(f) // batch)


def count_data(f: Any) -> int:
    """Return the number of samples a client; augmented variants of one (`fedtheory.core.problem.ABILITIES`) count once.

    Raises
    ------
    InvalidInput
        Some clients have more than others: they would take different numbers of steps.
    """
    counts = np.asarray(need(f, "n_samples", "passes through the samples")) // (getattr(f, "variants", None) or 1)
    if counts.min() != counts.max():
        raise InvalidInput(
            f"passes through the samples need clients with equally many, and here the smallest has {counts.min()} and the largest "
            f"{counts.max()}; split the data in equal shares (as --split iid does), or take StochasticSteps (--local-steps), which draws "
            "as often for every client"
        )
    return int(counts.max())


def draw_minibatches(
    sub: Subproblem, key: Key, steps: int | Passes, batch: int, x: Array | None = None
) -> list[NDArray[np.int64]]:
    """Sample numbers of the local steps, an array ``(*batch axes, m, size)`` each; they do not depend on who else takes part.

    With points x the numbers of all steps are brought to where these are in one go; see `_beside`.
    """
    if isinstance(steps, Passes):
        orders = _beside(np.stack([_order(sub, key, epoch) for epoch in range(steps.epochs)]), x)
        data = int(orders.shape[-1])
        cuts = [(first, min(first + batch, data)) for first in range(0, data, batch)]
        return [orders[epoch, ..., first:last] for epoch in range(steps.epochs) for first, last in cuts]
    drawn = _beside(draw_samples(sub, key, steps, batch), x)
    return [drawn[..., q, :] for q in range(steps)]


def _beside(numbers: NDArray[np.int64], x: Array | None) -> SampleNumbers:
    """Sample numbers where the points are; PyTorch's problems are given them on the host, and copy without waiting."""
    return numbers if x is None or is_torch(x) else like(numbers, x)


def _order(sub: Subproblem, key: Key, epoch: int) -> NDArray[np.int64]:
    """Every datum of a client once ``(*batch axes, m, data)``, in an order and in variants drawn at the address (seed, round, client, epoch)."""
    data, variants = count_data(sub.f), getattr(sub.f, "variants", None) or 1
    n, index = (sub.f.n, None) if sub.clients is None else (sub.clients.n, sub.clients.index)
    numbers = np.argsort(key.client_uniform(f"order {epoch}", n, data, index), axis=-1)
    if variants > 1:
        lots = key.client_uniform(f"variants {epoch}", n, data, index)
        numbers = numbers * variants + np.floor(lots * variants).astype(np.int64)
    return numbers


def count_steps(local: Any, f: Any) -> Any:
    """Return how many steps a solver with a number of steps takes on a problem: one number, or one a client ``(n,)``."""
    return local.steps.steps(f, local.batch) if isinstance(local.steps, Passes) else local.steps


def check_sampling(owner: Any) -> None:
    """Refuse numbers of steps, batches, step sizes and clipping of a solver that make no sense."""
    if not isinstance(owner.steps, Passes):
        at_least_one("steps", owner.steps)
    elif owner.batch is None:
        raise InvalidInput(
            "passes go through the samples in minibatches; expected a number of samples for batch, got None"
        )
    if owner.batch is not None:
        at_least_one("batch", owner.batch)
    positive(owner, "lr")
    if owner.clip is not None:
        positive(owner, "clip")


def make_gradient(sub: Subproblem, key: Key, steps: int | Passes, batch: int | None) -> Callable[[Array, int], Array]:
    """Gradients of f_i as a function of the point and the local step.

    Full gradients for ``batch`` None; else of minibatches, those of one local step the same at every point.
    """
    if batch is None:
        return lambda x, q: sub.f.grad(x)
    sample_grad = need(sub.f, "sample_grad", "a stochastic local solver")
    samples: list[Any] = []

    def gradient(x: Array, q: int) -> Array:
        if not samples:
            samples.extend(draw_minibatches(sub, key, steps, batch, x))
        return sample_grad(x, samples[q])

    return gradient


def clip_norms(g: Array, longest: Scalar | None) -> Array:
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

    Examples
    --------
    >>> trace = run(FedAvg(StochasticSteps(4, 0.1, batch=2)), sampled, np.zeros(3), 50, seed=0)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0])
    True
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
        check_sampling(self)

    @property
    def only_noise(self) -> bool:
        """Whether it only needs gradients with independent noise, which an engine without samples can offer (``noisy_grad``)."""
        return self.clip is None

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Take the steps."""
        if getattr(sub.f, "noisy_grad", None) is None:
            return _descend(self, sub, start, key), None
        f: Any = sub.f
        x = start
        for q in range(self.steps):
            g = sub.shift(f.noisy_grad(x, key, q), x)
            x = take_step(x, step_size(self.lr, key.round, q), clip_norms(g, self.clip))
        return x, None


@dataclass(frozen=True)
class Epochs(Memoryless):
    """Stochastic gradient steps in passes through a client's samples: shuffled, cut in minibatches, each sample once a pass.

    The last minibatch of a pass has what is left, and counts as one step. Orders are drawn at (seed, round, client, pass). Where samples
    come in variants (augmented images), a pass takes each datum once, in a variant drawn at random. All clients that take part must have
    equally many data.

    Parameters
    ----------
    epochs : int
        Passes a round.
    lr : number, array ``(*batch, 1, 1)``, or function of (round, local step), steps counted through all passes of the round
    batch : int
        Samples a step and client.
    clip : number or array ``(*batch, 1, 1)``, optional
        Largest norm of a direction, as in `StochasticSteps`.

    Examples
    --------
    >>> state = run(FedAvg(Epochs(1, 0.1, batch=5)), sampled, np.zeros(3), 20).state
    >>> print(state.x.shape)  # 4 steps a round: 20 samples in minibatches of 5
    (1, 3)
    """

    epochs: int
    lr: Step
    batch: int
    clip: Scalar | None = None
    numeric_only: ClassVar[str | None] = "it shuffles samples at random"

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        at_least_one("batch", self.batch)
        check_sampling(self)

    @property
    def steps(self) -> Passes:
        """The number of steps, which depends on the problem; see `count_steps`."""
        return Passes(self.epochs)

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Take the steps."""
        return _descend(self, sub, start, key), None


def _descend(solver: StochasticSteps | Epochs, sub: Subproblem, start: Array, key: Key) -> Array:
    need(sub.f, "sample_grad", type(solver).__name__)
    samples = draw_minibatches(sub, key, solver.steps, solver.batch, start)

    def descend(part: Subproblem, x: Array, first: int) -> Array:
        f: Any = part.f
        for q, drawn in enumerate(samples):
            g = part.shift(f.sample_grad(x, drawn[..., first : first + f.n, :]), x)
            x = take_step(x, step_size(solver.lr, key.round, q), clip_norms(g, solver.clip))
        return x

    return run_minibatch_steps(descend, sub, start, solver.batch)


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

    Examples
    --------
    >>> trace = run(FedProx(1.0, VarianceReduced(8, 0.1, batch=2)), sampled, np.zeros(3), 50)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0])
    True
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
        """Why it needs numbers: it draws minibatches; None with exact gradients."""
        return None if self.batch is None else "it draws samples at random"

    def memory(self, problem: Problem, x0: ServerPoint) -> Array:
        """Return g_i at the start; the first round replaces it by an exact gradient."""
        return spread(0 * x0, problem.n)

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: Array | None) -> tuple[ClientPoints, Array]:
        """Take the steps and keep the last g_i."""
        if self.period > 1 and memory is None:
            raise InvalidInput(
                f"VarianceReduced(period={self.period}) carries its gradient estimate from round to round, and this "
                "method keeps no solver memory; use period=1, or FedPD"
            )
        x = start
        g = sub.f.grad(x) if key.round % self.period == 0 else memory
        samples = None if self.batch is None else draw_minibatches(sub, key, self.steps, self.batch, start)
        for q in range(self.steps):
            new = x - step_size(self.lr, key.round, q) * sub.shift(g, x)
            if samples is None:
                g = g + (sub.f.grad(new) - sub.f.grad(x))
            else:
                sample_grad = need(sub.f, "sample_grad", "VarianceReduced")
                g = g + (sample_grad(new, samples[q]) - sample_grad(x, samples[q]))
            x = new
        return x, g

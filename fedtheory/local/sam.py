"""Sharpness-aware minimisation (Foret et al. 2021) as a local solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from fedtheory.core.arrays import Array, Scalar, namespace, squared_norm, take_step
from fedtheory.core.hyperparameters import not_negative
from fedtheory.core.numbers import is_exactly
from fedtheory.core.problem import need
from fedtheory.core.randomness import Key
from fedtheory.core.shapes import ClientPoints, Points
from fedtheory.local.execution import run_in_blocks, run_minibatch_steps
from fedtheory.local.solvers import Memoryless, Step, step_size
from fedtheory.local.stochastic import Passes, check_sampling, clip_norms, count_steps, draw_minibatches
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class SamSteps(Memoryless):
    """K steps with the gradient of f_i taken after an ascent step, that of the subproblem's other terms at the current point.

    u = g_i(x_q),  v = g_i(x_q + radius u / (||u|| + epsilon)),
    x_{q+1} = x_q - lr ((1 - weight) u + weight v + a_i + rho (x_q - z_i)),

    both gradients on the same minibatch. Where u = 0 there is no ascent. With ``radius`` 0 these are `GradientSteps` or
    `StochasticSteps`. With ``clip`` the step's whole direction is shortened as theirs is; the ascent is not.

    Source: Foret et al. 2021, Algorithm 1, on f_i alone as A-FedPDSAM (A-FedPD, Algorithm 2) and FedSpeed have it. ``epsilon`` is zero
    in the printed rules and 0.01 in A-FedPD's experiments (Table 3); ``weight`` is FedSpeed's alpha.

    Parameters
    ----------
    steps : int or Passes
        K, or passes through the samples (`fedtheory.local.stochastic.Passes`).
    lr : number, array ``(*batch, 1, 1)``, or function of (round, local step)
    radius : number or array ``(*batch, 1, 1)``
        Length of the ascent; zero turns it off.
    batch : int or None
        Samples a step and client, drawn with replacement unless in passes; None for full gradients.
    epsilon : number
        Added to the norm; zero gives an ascent of length exactly ``radius``.
    weight : number or array ``(*batch, 1, 1)``
        Share of the perturbed gradient.
    clip : number or array ``(*batch, 1, 1)``, optional
        Largest norm of a direction.

    Examples
    --------
    >>> trace = run(FedAvg(SamSteps(4, 0.5, radius=0.1)), problem, x0, 50)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0])
    True
    """

    steps: int | Passes
    lr: Step
    radius: Scalar
    batch: int | None = None
    epsilon: float = 0
    weight: Scalar = 1
    clip: Scalar | None = None
    numeric_only: ClassVar[str | None] = "it divides by the norm of a gradient"

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        check_sampling(self)
        not_negative(self, "radius")
        not_negative(self, "epsilon")
        not_negative(self, "weight")

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Take the steps; full gradients of large data are worked through in blocks of clients."""
        if self.batch is None:
            steps = count_steps(self, sub.f)

            def full(part: Subproblem, x: Array, first: int) -> Array:
                return self._descend(part, x, key, steps, lambda y, q: part.f.grad(y))

            return run_in_blocks(full, sub, start), None
        need(sub.f, "sample_grad", "SamSteps with a batch")
        samples = draw_minibatches(sub, key, self.steps, self.batch, start)

        def sampled(part: Subproblem, x: Array, first: int) -> Array:
            f: Any = part.f
            mine = [drawn[..., first : first + f.n, :] for drawn in samples]
            return self._descend(part, x, key, len(mine), lambda y, q: f.sample_grad(y, mine[q]))

        return run_minibatch_steps(sampled, sub, start, self.batch), None

    def _descend(self, sub: Subproblem, x: Array, key: Key, steps: int, grad: Callable[[Array, int], Any]) -> Array:
        start = x
        for q in range(steps):
            u = grad(x, q)
            v = grad(self._perturbed(x, u, start), q)
            g = v if is_exactly(self.weight, 1) else (1 - self.weight) * u + self.weight * v
            x = take_step(x, step_size(self.lr, key.round, q), clip_norms(sub.shift(g, x), self.clip))
        return x

    def _perturbed(self, x: Points, u: Array, start: Points) -> Array:
        """Return where the second gradient is taken, from the local point x and its gradient u in a round that began at ``start``."""
        return x + self.radius * self._ascent(u)

    def _ascent(self, u: Array) -> Array:
        """Return u / (||u|| + epsilon), zero where u is."""
        xp = namespace(u)
        norm = xp.sqrt(squared_norm(u))[..., None]
        return u / xp.where(norm > 0, norm + self.epsilon, xp.ones_like(norm))

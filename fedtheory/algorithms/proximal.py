"""Proximal gradient descent on f + h, and its two federated readings LPGD and GPGD (FedSLR, Appendix A.2)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import EPOCHS, LR, LR_DECAY, STEPS, choose_work, make_step_size
from fedtheory.algorithms.options import BuiltField
from fedtheory.core.arrays import Array, Scalar, average
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import ConstantStep, Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, can, gradient
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import shared_regulariser
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.local.solvers import LocalSolver, Step, step_size
from fedtheory.local.stochastic import Passes, check_sampling
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class ProximalGradient(Method):
    """x^{r+1} = prox_{lr h}(x^r - lr grad f(x^r)); h is the problem's shared regulariser, zero where it has none.

    Guarantee: with convex h, L-smooth, mu-strongly convex f and lr <= 1/L, ||x^r - x*|| <= (1 - lr mu)^r ||x^0 - x*||.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.

    Examples
    --------
    >>> sparse = regularised(problem, L1(1.0))
    >>> x = run(ProximalGradient(lr=1.0), sparse, x0, 200).state.x
    >>> print((x == 0).sum())
    4
    """

    family = "composite"
    partial = False
    instead = "GlobalProximal with one local step"

    lr: ConstantStep

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        v = state.x - self.lr * gradient(problem, state.x)
        return PointState(shared_regulariser(problem).prox(v, self.lr))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState:
        return PointState(x_star)


@dataclass(frozen=True)
class LocalProximal(Method):
    """LPGD: a proximal step in every local step, then the plain average.

    w_{i,k+1} = prox_{lr h}(w_{i,k} - lr g_i(w_{i,k})), K steps from w_t (18);  w_{t+1} = mean_i w_{i,K} (19).

    Guarantee: none; the average of models of low rank has no low rank, and even K = 1 is biased.

    Departure: the paper averages over all clients; over those that take part here, as FedAvg does.

    Parameters
    ----------
    steps : int or Passes
        K, or passes through the samples (`fedtheory.local.stochastic.Passes`).
    lr : number, array ``(*batch, 1, 1)``, or function of (round, local step)
    batch : int, optional
        Samples a local step [default: full gradients].
    clip : number or array ``(*batch, 1, 1)``, optional
        Longest local direction g_i; longer ones are shortened to it [default: any length].

    Examples
    --------
    >>> sparse = regularised(problem, L1(1.0))
    >>> x = run(LocalProximal(1, 0.5), sparse, x0, 200).state.x
    >>> print(x.shape)
    (1, 5)
    """

    family = "composite"

    steps: int | Passes
    lr: Step
    batch: int | None = None
    clip: Scalar | None = None

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        super().__post_init__()
        check_sampling(self)

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers (minibatches or clipping), or None."""
        if self.batch is not None:
            return "it draws samples at random"
        return None if self.clip is None else "it clips directions by their norms"

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        local = ProximalSteps(self.steps, self.lr, shared_regulariser(problem), self.batch, self.clip)
        x_i, _ = local(Subproblem(problem.take(clients), clients=clients), state.x, key, None)
        return PointState(average(x_i, clients))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept with one full step and without h, where this is gradient descent."""
        plain = self.steps == 1 and self.batch is None and self.clip is None and not can(problem, "regulariser")
        return PointState(x_star) if plain else None


@dataclass(frozen=True)
class GlobalProximal(Method):
    """GPGD: FedAvg's local steps, then a proximal step at the server.

    w_{i,k+1} = w_{i,k} - lr g_i(w_{i,k}), K steps from w_t (20);  w_{t+1} = prox_{step h}(mean_i w_{i,K}) (21).

    Guarantee: with one full step and step = lr it is proximal gradient descent; otherwise none (client drift).

    The paper's step is lr; against K local steps it weighs h K times too little, which K lr would not.

    Parameters
    ----------
    local : LocalSolver
    step : number, array ``(*batch, 1, 1)``, symbol, or function of (round, 0), optional
        Step of the server's proximal operator; by default that of the local steps.

    Examples
    --------
    >>> sparse = regularised(problem, L1(1.0))
    >>> x = run(GlobalProximal(GradientSteps(1, 0.5)), sparse, x0, 200).state.x
    >>> print((x == 0).sum())
    4
    """

    family = "composite"

    local: LocalSolver
    step: Positive | None = None

    def __post_init__(self) -> None:
        """Take the step of the local steps where none is given."""
        super().__post_init__()
        if self.step is None:
            if not hasattr(self.local, "lr"):
                raise InvalidInput(f"{type(self.local).__name__} has no step size lr; expected a step for the server")
            object.__setattr__(self, "step", self.local.lr)

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        x_i, _ = self.local(Subproblem(problem.take(clients), clients=clients), state.x, key, None)
        return PointState(shared_regulariser(problem).prox(average(x_i, clients), step_size(self.step, key.round, 0)))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local gradient step, and where there is an h only with the server's step equal to that one's."""
        alike = not can(problem, "regulariser") or self.step is getattr(self.local, "lr", None)
        return PointState(x_star) if alike and is_one_plain_step(self.local) else None


LISTED = (
    listing("pgd", ProximalGradient, "FedSLR, Appendix A.2"),
    listing(
        "lpgd",
        LocalProximal,
        "FedSLR, (18) and (19)",
        steps=BuiltField((STEPS, EPOCHS), choose_work),
        lr=BuiltField((LR, LR_DECAY), make_step_size),
    ),
    listing("gpgd", GlobalProximal, "FedSLR, (20) and (21)", step=None),
)

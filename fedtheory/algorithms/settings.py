"""Hyper-parameters by their common names, as the command line and the contract tests give them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from fedtheory.core.errors import InvalidInput

if TYPE_CHECKING:
    from fedtheory.local.sam import SamSteps
    from fedtheory.local.solvers import LocalSolver, Step
    from fedtheory.local.stochastic import Passes

#: the settings that `Settings.local` and `Settings.sam` read, for `Listed.uses`
LOCAL = ("lr", "steps", "epochs", "batch", "lr_decay", "clip")


def _setting(default: Any, text: str, kind: type = float, option: str = "") -> Any:
    """Return a dataclass field that knows its help text, its type and its name on the command line."""
    return field(default=default, metadata={"help": text, "type": kind, "option": option})


@dataclass(frozen=True)
class Settings:
    """One value for each common name; a listed method reads those it uses (`Listed.uses`)."""

    lr: Any = _setting(0.1, "Local step size.")
    lr_decay: Any = _setting(1, "Factor by which the local step size changes from round to round.")
    steps: int = _setting(1, "Local steps a round.", int, "local-steps")
    epochs: int = _setting(0, "Local passes through the data a round, in place of local steps [default: none].", int)
    personal_steps: int = _setting(0, "Local steps of what is personal [default: as of what is shared].", int)
    personal_epochs: int = _setting(
        0, "Passes through the data of what is personal [default: as of what is shared].", int
    )
    batch: int | None = _setting(None, "Samples a local step [default: full gradients].", int)
    clip: float | None = _setting(
        None, "Longest local direction; longer ones are shortened to it [default: any length]."
    )
    exact: bool = _setting(False, "Solve local problems exactly.", bool)
    eta: Any = _setting(0.1, "Penalty parameter of primal-dual methods (the penalty is 1/(2 eta)).")
    rho: Any = _setting(1.0, "Penalty, or weight of a proximal term.")
    p: Any = _setting(0, "Probability of skipping communication.")
    communicate_every: int = _setting(1, "Communicate in every so many rounds only (FedPD).", int)
    period: int = _setting(1, "Rounds between exact gradients.", int)
    gamma: Any = _setting(None, "Proximal parameter of a step of Oracle II (FedPD) [default: infinite].")
    alpha: Any = _setting(0.5, "Mixing or relaxation weight.")
    server_lr: Any = _setting(1, "Step size of the server, relative to the clients' where it has data of its own.")
    server_steps: int = _setting(1, "Steps of the server on its own data.", int)
    server_epochs: int = _setting(
        0, "Passes of the server through its own data, in place of steps [default: none].", int
    )
    q: Any = _setting(0.5, "Probability of a client (or communication) round.")
    radius: float = _setting(0.05, "Radius of SAM's ascent step.", float, "sam-radius")
    sam_epsilon: float = _setting(0, "What SAM adds to the norm that it divides by.")
    strong: Any = _setting(0.0, "Strong convexity that 5GCS and APDA-Inexact are told.", float, "strong-convexity")
    nu: Any = _setting(0.1, "Splitting parameter of DualFL.")
    momentum: Any = _setting(0.0, "Momentum parameter.")
    l1: float = _setting(0.01, "Weight of the l1 norm on personal components (FedSLR).")
    zero_duals: bool = _setting(False, "Start duals at zero and not at gradients (FedPD, FedSLR).", bool)
    component: str = _setting(
        "zero", "Where personal components start: zero, or copy (of the model's matrices; FedSLR).", str
    )
    inner_lr: Any = _setting(0.01, "Step size of the own step of Per-FedAvg.")
    personal_layers: str = _setting("", "Layers that clients keep, joined by + [default: the method's].", str)
    density: float = _setting(0.5, "Share of coordinates in a sparse mask (FedSpa).")
    prune: float = _setting(0.5, "Share of a sparse mask that moves in the first round (FedSpa).")
    horizon: int = _setting(100, "Rounds over which sparse masks come to rest (FedSpa).", int)

    @property
    def step(self) -> Step:
        """Step size of local work: ``lr``, or its decay from round to round."""
        from fedtheory.local.schedules import Decayed

        constant = isinstance(self.lr_decay, int | float) and self.lr_decay == 1
        return self.lr if constant else Decayed(self.lr, self.lr_decay)

    @property
    def work(self) -> int | Passes:
        """Local work of a round: a number of steps, or of passes through the data.

        Raises
        ------
        InvalidInput
            Both are given.
        """
        from fedtheory.local.stochastic import Passes

        if not self.epochs:
            return self.steps
        if self.steps != 1:
            raise InvalidInput(
                f"local work is told in steps or in passes through the data, got {self.steps} steps and {self.epochs} epochs"
            )
        return Passes(self.epochs)

    def personal(self) -> Settings:
        """Return the settings of local work on what is personal: the same, with its own number of steps or passes if that is given."""
        if not (self.personal_steps or self.personal_epochs):
            return self
        return replace(self, steps=self.personal_steps or 1, epochs=self.personal_epochs)

    def local(self) -> LocalSolver:
        """Return the local solver these settings ask for.

        Raises
        ------
        InvalidInput
            They ask for clipping or passes without minibatches.
        """
        from fedtheory.local.solvers import Exact, GradientSteps
        from fedtheory.local.stochastic import Epochs, Passes, StochasticSteps

        if (self.clip is not None or self.epochs) and (self.exact or self.batch is None):
            raise InvalidInput("--clip and --epochs are for stochastic steps: they need --batch, and not --exact")
        if self.exact:
            return Exact()
        if self.batch is None:
            return GradientSteps(self.steps, self.step)
        work = self.work
        if isinstance(work, Passes):
            return Epochs(work.epochs, self.step, self.batch, self.clip)
        return StochasticSteps(work, self.step, self.batch, self.clip)

    def sam(self, weight: Any = 1) -> SamSteps:
        """Return local steps with SAM's perturbed gradients, of this share."""
        from fedtheory.local.sam import SamSteps

        return SamSteps(
            self.work, self.step, self.radius, self.batch, epsilon=self.sam_epsilon, weight=weight, clip=self.clip
        )


#: hyper-parameters at which no two roles of a number coincide, for quadratics with mu = 0.1 and L = 1
TELLING = Settings(
    lr=0.3,
    steps=4,
    eta=0.7,
    rho=1.3,
    p=0.4,
    alpha=0.6,
    server_lr=0.8,
    q=0.6,
    nu=0.05,
    momentum=0.3,
    strong=0.05,
    l1=0.2,
    inner_lr=0.15,
)


def option_of(name: str) -> str:
    """Return how a setting is spelled on the command line, without the dashes."""
    found = next(f for f in fields(Settings) if f.name == name)
    return str(found.metadata["option"] or name.replace("_", "-"))

"""The options that build local solvers: steps or passes, their size and batch; the same for SAM; exact solves, and solves up to an accuracy."""

from __future__ import annotations

from typing import Any

from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.core.errors import InvalidInput
from fedtheory.core.numbers import is_exactly
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.sam import SamSteps
from fedtheory.local.schedules import DecayedStep
from fedtheory.local.solvers import Exact, GradientSteps, LocalSolver, Step
from fedtheory.local.stochastic import Epochs, Passes, StochasticSteps
from fedtheory.local.stopping import EnergyChange

LR = Option("lr", float, 0.1, "Local step size.", batched=True, telling=0.3)
LR_DECAY = Option(
    "lr_decay",
    float,
    1,
    "Factor by which the local step size changes from round to round.",
    batched=True,
    telling=0.9,
)
STEPS = Option("steps", int, 1, "Local steps a round.", spelled="local-steps", telling=4)
EPOCHS = Option("epochs", int, 0, "Local passes through the data a round, in place of local steps [default: none].")
BATCH = Option("batch", int, None, "Samples a local step [default: full gradients].")
CLIP = Option("clip", float, None, "Longest local direction; longer ones are shortened to it [default: any length].")
EXACT = Option("exact", bool, False, "Solve local problems exactly.")
TO_ACCURACY = Option(
    "accuracy",
    float,
    None,
    "Solve local problems by the optimised gradient method, until their values change by less than this share [default: no].",
)
RADIUS = Option("radius", float, 0.05, "Radius of SAM's ascent step.", spelled="sam-radius", telling=0.25)
SAM_EPSILON = Option("sam_epsilon", float, 0, "What SAM adds to the norm that it divides by.")
SAM_SHARE = Option(
    "alpha", float, 0.5, "Share of SAM's gradient in a local step; the rest is the plain gradient.", telling=0.6
)

STEPPING = (LR, STEPS, EPOCHS, BATCH, LR_DECAY, CLIP)


def make_step_size(lr: Any, lr_decay: Any) -> Step:
    """Return the step size lr, or lr lr_decay^r in round r."""
    return lr if is_exactly(lr_decay, 1) else DecayedStep(lr, lr_decay)


def choose_work(steps: Any, epochs: int) -> Any:
    """Return the local work of a round: a number of steps, or `Passes` through the data.

    Raises
    ------
    InvalidInput
        Both are given.
    """
    if not epochs:
        return steps
    if steps != 1:
        raise InvalidInput(
            f"local work is told in steps or in passes through the data, got {steps} steps and {epochs} epochs"
        )
    return Passes(epochs)


def make_local_steps(
    lr: Any,
    steps: Any,
    epochs: int,
    batch: int | None,
    lr_decay: Any,
    clip: float | None,
    exact: bool = False,
    accuracy: float | None = None,
) -> LocalSolver:
    """Return the local solver that is asked for: exact, up to an accuracy, gradient steps, stochastic steps, or passes through the data.

    Raises
    ------
    InvalidInput
        Clipping or passes are asked for without minibatches, or an accuracy with another kind of local work.
    """
    if accuracy is not None:
        if exact or batch is not None or epochs or clip is not None:
            raise InvalidInput("--accuracy is a local solver of its own: not with --exact, --batch, --epochs or --clip")
        return Adaptive(EnergyChange(accuracy))
    if (clip is not None or epochs) and (exact or batch is None):
        raise InvalidInput("--clip and --epochs are for stochastic steps: they need --batch, and not --exact")
    if exact:
        return Exact()
    step = make_step_size(lr, lr_decay)
    if batch is None:
        return GradientSteps(steps, step)
    work = choose_work(steps, epochs)
    if isinstance(work, Passes):
        return Epochs(work.epochs, step, batch, clip)
    return StochasticSteps(work, step, batch, clip)


def make_sam_steps(
    lr: Any,
    steps: Any,
    epochs: int,
    batch: int | None,
    lr_decay: Any,
    clip: float | None,
    radius: float,
    sam_epsilon: float,
    alpha: Any = 1,
) -> SamSteps:
    """Return local steps with SAM's perturbed gradients, of the share ``alpha``."""
    step = make_step_size(lr, lr_decay)
    return SamSteps(choose_work(steps, epochs), step, radius, batch, epsilon=sam_epsilon, weight=alpha, clip=clip)


LOCAL_STEPS = BuiltField(STEPPING, make_local_steps)  # of methods that have no exact local solve
LOCAL_WORK = BuiltField((*STEPPING, EXACT, TO_ACCURACY), make_local_steps)
SAM = BuiltField((*STEPPING, RADIUS, SAM_EPSILON), make_sam_steps)
MIXED_SAM = BuiltField((*STEPPING, RADIUS, SAM_EPSILON, SAM_SHARE), make_sam_steps)

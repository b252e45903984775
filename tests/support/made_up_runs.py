"""Runs of experiments that were not made, for tests of how they are shown."""

from __future__ import annotations

import numpy as np

from fedtheory.claims.experiments import Training
from fedtheory.claims.logs import Log


def made_up(training: Training, context) -> Log:
    """Accuracies that rise, other metrics that fall from 1, a float a client and round; seeds differ by a hundredth."""
    rounds = np.arange(0, training.rounds + 1, training.every, dtype=float)
    falling = (1 - 0.01 * (training.seed % 7)) / (1 + rounds / 10)
    columns = {name: 0.95 - 0.9 * falling if "accuracy" in name else falling for name in training.metrics}
    return Log({"round": rounds, **columns, "floats_up": rounds, "floats_down": rounds}, 1.0)

"""Step sizes that change with the round, for the ``lr`` of local solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.core.arrays import Scalar
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import positive, share


@dataclass(frozen=True)
class DecayedStep:
    """lr * factor^r in round r, the same for all local steps of a round (A-FedPD, Table 3; FedSLR, Section 6).

    Parameters
    ----------
    lr, factor : numbers or arrays ``(*batch, 1, 1)``

    Examples
    --------
    >>> size = DecayedStep(0.1, 0.5)  # halved every round
    >>> print(size(0, 0), size(2, 0))
    0.1 0.025
    """

    lr: Scalar
    factor: Scalar

    def __post_init__(self) -> None:
        """Refuse sizes that are not positive."""
        if callable(self.lr):
            raise InvalidInput(f"a schedule is not decayed once more: expected a number for lr, got {self.lr}")
        positive(self, "lr")
        share(self, "factor")

    def __call__(self, round: int, step: int) -> Any:
        """Return the size of a local step."""
        return self.lr * self.factor**round

"""What a check may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput
from fedtheory.tools.devices import AUTOMATIC, Placement, choose_place

Budget = Literal["quick", "full"]
Size = Literal["laptop", "small", "paper"]  #: of an experiment: minutes, an hour, as in the paper


@dataclass(frozen=True)
class Context:
    """What a check may use: its budget, its seed, the data folder; of experiments also their size, and where runs are kept; where arrays live.

    ``results``: folder in which the runs of experiments are kept and resumed; by default one that changes with the code.
    ``kept``: folders of runs that are read where ``results`` has none, and never written to.
    ``experiment_seeds``: how many seeds each experiment has, where that is not what its protocol fixes; kept ones are among them.

    Examples
    --------
    >>> context = Context(seed=1)
    >>> print(context.pick(quick=10, full=100), len(context.seeds(3)))
    10 3
    """

    budget: Budget = "quick"
    seed: int = 0
    data: str | None = None
    size: Size = "laptop"
    device: str = "cpu"
    results: str | None = None
    kept: tuple[str, ...] = ()
    experiment_seeds: int | None = None
    library: str = AUTOMATIC

    @property
    def place(self) -> Placement:
        """Where the arrays of runs and searches live: the device and its library (`fedtheory.tools.devices`)."""
        return choose_place(self.device, self.library)

    def pick(self, quick: Any, full: Any) -> Any:
        """Return the size for this budget."""
        return quick if self.budget == "quick" else full

    def sized(self, laptop: Any, small: Any, paper: Any) -> Any:
        """Return what belongs to this size of an experiment."""
        return {"laptop": laptop, "small": small, "paper": paper}[self.size]

    def rng(self) -> np.random.Generator:
        """Return a generator of this seed."""
        return np.random.default_rng(self.seed)

    def seeds(self, count: int) -> NDArray[np.int64]:
        """Return seeds for up to a thousand draws of data and coins, of which no other seed of a context has any."""
        if not 1 <= count <= 1_000:
            raise InvalidInput(f"expected 1 to 1000 draws, got {count}")
        return 1_000 * self.seed + np.arange(count)

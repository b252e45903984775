"""The methods, one round each, and the list of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.fedavg import FedAvg, FedProx
from fedtheory.algorithms.feddane import FedDane
from fedtheory.algorithms.fedpd import FedPD, every
from fedtheory.algorithms.gradient_descent import AcceleratedGradient, GradientDescent
from fedtheory.algorithms.scaffold import Scaffold
from fedtheory.algorithms.splitting import FedSplit
from fedtheory.algorithms.vrl_sgd import VrlSgd
from fedtheory.errors import InvalidInput
from fedtheory.local import Exact, GradientSteps, LocalSolver, StochasticSteps


@dataclass(frozen=True)
class Settings:
    """Hyper-parameters by their common names, as the command line and the contract tests give them.

    ``lr``: local step size; ``steps``: local steps; ``batch``: samples a local step (None: full gradients); ``eta``: penalty
    parameter of primal-dual methods; ``rho``: proximal weight; ``p``: probability of skipping communication; ``period``:
    rounds between exact gradients (Oracle II); ``exact``: solve local problems exactly.
    """

    lr: Any = 0.1
    steps: int = 1
    batch: int | None = None
    eta: Any = 0.1
    rho: Any = 1.0
    p: Any = 0
    period: int = 1
    exact: bool = False

    def local(self) -> LocalSolver:
        """Return the local solver these settings ask for."""
        if self.exact:
            return Exact()
        if self.batch is None:
            return GradientSteps(self.steps, self.lr)
        return StochasticSteps(self.steps, self.lr, self.batch)


@dataclass(frozen=True)
class Listed:
    """One listed method: name, family, source, how to build it, and what it needs.

    ``partial``: whether it is defined when only some clients take part. ``uses``: names of the settings it reads.
    """

    name: str
    family: str
    source: str
    build: Callable[[Settings], Algorithm]
    uses: tuple[str, ...]
    partial: bool


ALGORITHMS: tuple[Listed, ...] = (
    Listed("gd", "control", "Nesterov 2004", lambda s: GradientDescent(s.lr), ("lr",), False),
    Listed("agd", "control", "Nesterov 2004, Section 2.2", lambda s: AcceleratedGradient(s.lr), ("lr",), False),
    Listed(
        "fedavg",
        "averaging",
        "McMahan et al. 2017; FedPD, Algorithm 1",
        lambda s: FedAvg(s.local()),
        ("lr", "steps", "batch"),
        True,
    ),
    Listed(
        "fedprox",
        "averaging",
        "Li et al. 2020; FedPD, Section IV-C",
        lambda s: FedProx(s.rho, s.local()),
        ("rho", "lr", "steps", "batch", "exact"),
        True,
    ),
    Listed(
        "scaffold",
        "averaging",
        "Karimireddy et al. 2020; FedPD, Section IV-C",
        lambda s: Scaffold(s.local()),
        ("lr", "steps", "batch"),
        True,
    ),
    Listed(
        "feddane",
        "averaging",
        "Li et al. 2020; FedPD, Section IV-C",
        lambda s: FedDane(s.rho, s.local()),
        ("rho", "lr", "steps", "batch", "exact"),
        False,
    ),
    Listed(
        "vrl-sgd",
        "averaging",
        "Liang et al. 2019; FedPD, Table I",
        lambda s: VrlSgd(s.local()),
        ("lr", "steps", "batch"),
        False,
    ),
    Listed(
        "fedsplit",
        "primal-dual",
        "Pathak and Wainwright 2020; FedPD, Table I",
        lambda s: FedSplit(s.eta, s.local()),
        ("eta", "lr", "steps", "batch", "exact"),
        False,
    ),
    Listed(
        "fedpd",
        "primal-dual",
        "FedPD, Algorithms 2 and 3 (Oracle I)",
        lambda s: FedPD(s.eta, s.local(), s.p),
        ("eta", "lr", "steps", "batch", "exact", "p"),
        False,
    ),
    Listed(
        "fedpd-vr",
        "primal-dual",
        "FedPD, Algorithms 2 and 4 (Oracle II)",
        lambda s: FedPD(s.eta, FedPD.oracle_two(s.eta, None, s.steps, s.batch, s.period), s.p),
        ("eta", "steps", "batch", "period", "p"),
        False,
    ),
)


def listed(name: str) -> Listed:
    """Return a method by name.

    Raises
    ------
    InvalidInput
        The name is unknown; the message lists those that are known.
    """
    for entry in ALGORITHMS:
        if entry.name == name.lower():
            return entry
    raise InvalidInput(f"unknown algorithm {name!r}; known are {', '.join(e.name for e in ALGORITHMS)}")


__all__ = [
    "ALGORITHMS",
    "AcceleratedGradient",
    "Algorithm",
    "FedAvg",
    "FedDane",
    "FedPD",
    "FedProx",
    "FedSplit",
    "GradientDescent",
    "Listed",
    "Scaffold",
    "Settings",
    "VrlSgd",
    "every",
    "listed",
]

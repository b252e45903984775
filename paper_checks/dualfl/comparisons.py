"""The runs of all methods that Section 7 and the conclusion compare, and how claims are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Reading, Setting
from fedtheory.claims.experiments import Training, claim_ordering, list_runs, read_runs
from fedtheory.core.errors import NotAvailable
from paper_checks.dualfl import runs
from paper_checks.dualfl.protocol import FAR, NEAR, PROTOCOL
from paper_checks.dualfl.runs import DUALFL, MNIST, MU, PRINTED, Scale, Study

PLANTED = 0.9  # far from the chosen value, for a planted fault
DIGITS = " in log10"
#: with which DualFL converges to no solution
WRONG = "sign of the control variate in local work"


def curves_of_all(ctx: Context, scale: Scale, mistake: str = "") -> dict[str, NDArray[np.float64]]:
    """Errors of all methods at the settings chosen for them, on the judged draws; DualFL with a mistake in it as a fault."""
    groups = {name: runs.judged(ctx, scale, name, runs.chosen(ctx, scale, name)) for name in runs.BENCHMARKS}
    groups[DUALFL] = groups[DUALFL].mistaken(mistake)
    return {name: runs.errors(ctx, scale, group) for name, group in groups.items()}


@dataclass(frozen=True)
class MethodRuns:
    """All runs of a method for one study, as work that claims share: its grid, then the draws that are judged; of DualFL also panels b and c."""

    study: Study
    name: str

    @property
    def key(self) -> str:
        """The study's name and the method's."""
        return f"dualfl-{self.study.name}-{self.name}"

    def judged(self, ctx: Context, settings: Mapping[str, Any] | None = None) -> list[Training]:
        """Return the runs that are judged, whose settings follow from the grid's runs where none are given."""
        scale = self.study.at(ctx)
        settings = settings or runs.chosen(ctx, scale, self.name)
        groups = [runs.judged(ctx, scale, self.name, settings)]
        if self.name == DUALFL:
            groups += [runs.judged(ctx, scale, self.name, settings, clients=n) for n in scale.counts]
            rhos = dict.fromkeys((settings["rho"], *NEAR, FAR, PLANTED))
            groups += [runs.judged(ctx, scale.longest, self.name, {**settings, "rho": rho}) for rho in rhos]
        if self.name in PRINTED:
            groups.append(runs.judged(ctx, scale, self.name, PRINTED[self.name]))
        return list_runs(groups)

    def grid(self, ctx: Context) -> list[Training]:
        """Return the runs that a setting is chosen by."""
        return list_runs(runs.tuning_runs(ctx, self.study.at(ctx), self.name))

    def trainings(self, ctx: Context) -> list[Training]:
        """Return all runs; as long as those of the grid are not kept, its first settings stand for the chosen ones, and without the data all do."""
        grid, candidates = self.grid(ctx), runs.BENCHMARKS[self.name].candidates(self.study.at(ctx))
        if not all(t.is_done(ctx) for t in grid):
            return grid + self.judged(ctx, candidates[0])
        try:
            return grid + self.judged(ctx)
        except NotAvailable:  # settings are chosen by errors, and these are measured on the data
            return grid + [t for settings in candidates for t in self.judged(ctx, settings)]

    def is_done(self, ctx: Context) -> bool:
        """Whether all of them are kept."""
        return all(t.is_done(ctx) for t in self.grid(ctx)) and all(t.is_done(ctx) for t in self.judged(ctx))

    def make(self, ctx: Context) -> None:
        """Make those that are not kept."""
        read_runs(self.judged(ctx), ctx)


def all_methods(ctx: Context, *, study: Study) -> list[MethodRuns]:
    """The runs of every method of a study."""
    return [MethodRuns(study, name) for name in runs.BENCHMARKS]


def measured_on(scale: Scale) -> Reading:
    """On which data and clients."""
    clients = f"{scale.clients} clients, {scale.rounds} communications"
    return Reading(f"Measured on {scale.title}, multinomial logistic regression with mu = {MU:g}; {clients}.")


def setting(ctx: Context, *, study: Study) -> Setting:
    """The images, and the model (31): the paper's own where all of MNIST is there; CIFAR-10 has a part set apart."""
    own = ctx.size == "paper" and study is MNIST
    return Setting(f"{study.at(ctx).title}, 8 clients", "multinomial logistic regression", own)


def claim_of_study(
    study: Study, id: str, source: str, said: dict[str, tuple[str, ...]], check: Any, fault: Fault, needs: Any
) -> Claim:
    """A claim on the runs of a study: what it says, with the parts that decide each clause."""
    clauses = [Clause(text, parts) for text, parts in said.items()]
    on = partial(partial, study=study)
    name = f"DUALFL-{id}{study.suffix}"
    return claim_ordering(name, PROTOCOL, source, clauses, on(check), (fault,), on(needs), on(setting))

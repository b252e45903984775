"""The runs of DualFL's experiments (Section 7) at three sizes: instances, optima, the grids of Table 2, how a value of a grid is chosen.

Multinomial logistic regression (31) with mu = 1e-2, the bias in the ridge, samples dealt out evenly at random, start 0; local problems by the
optimised gradient method with restart until their relative change is below 1e-12. A draw is a seed: it decides the samples and their
clients, and the coins of methods that have some. All of this is said here, before anything is run.

laptop: 240 images of scikit-learn's digits (for CIFAR-10 its wines), up to 40 s of a core a claim; small: 384 of MNIST (so that 2, 4, ..., 32
clients share the same ones evenly) and 200 of CIFAR-10; paper: all 60,000 and 50,000. At small size models are in coordinates of the span
of the samples (`problems.softmax.Softmax.in_span`), which changes no iterate of any method here but by rounding (and by local steps that
rounding decides on: less than 1e-6 of a value) and leaves at most 384 and 200 of 785 and 3073 inputs: a round of DualFL takes 0.15 and
0.2 s of an idle core, all runs of a data set 15 to 20 minutes. What is sent is counted in communications, never in floats, which these
coordinates change.

Pixels lie in [0, 1], which the paper does not say; Table 2's small steps fit pixels up to 255, so grids of steps are moved to where the best
value lies inside, or is the largest with which the method converges. L is about 22 on MNIST and 415 on CIFAR-10, so that grids of steps go on
there for one and two further factors of ten. Scaffnew's p ends at 1e-2: each tenth of it costs ten times the work.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Picture, Table
from fedtheory.claims.context import Context
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import Repeated, Training, repeat_run
from fedtheory.claims.logs import Log
from fedtheory.claims.orderings import make_table
from fedtheory.core.errors import SolverFailed
from fedtheory.core.problem import Pooled
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.stopping import ResidualBound
from fedtheory.local.subproblem import Subproblem
from fedtheory.running.families import build_problem
from paper_checks.dualfl.protocol import PROTOCOL

PAPER = "dualfl"
MU = 1e-2
STOPPED_AT = 1e-12
#: certified error of the reference values, in the objective's units: what errors are measured down to
OPTIMUM = 1e-13


@dataclass(frozen=True)
class Scale:
    """One size of a study.

    ``samples``: in all; None for all there are. ``rounds``: communications. ``counts``: numbers of clients of panels (b, e). ``decades``: by how many
    factors of ten grids of steps go on downwards. ``span``: in coordinates of the samples' span. ``horizons``: after how many communications rates
    are compared where rho varies.
    """

    title: str
    family: str
    samples: int | None
    rounds: int
    counts: tuple[int, ...]
    clients: int = 8
    decades: int = 0
    span: bool = False
    horizons: tuple[int, ...] = ()

    @property
    def longest(self) -> Scale:
        """The same with as many rounds as the longest horizon."""
        return replace(self, rounds=max(self.horizons, default=self.rounds))


@dataclass(frozen=True)
class Study:
    """One data set of the paper and what stands for it at each size; ``suffix`` ends the ids of its claims."""

    name: str
    suffix: str
    scales: Mapping[str, Scale] = field(repr=False)

    def at(self, ctx: Context) -> Scale:
        """Return the numbers at the size asked for."""
        return self.scales[ctx.size]


_ALL_COUNTS = (2, 4, 8, 16, 32)  # of Figure 1(b, e)
STUDIES = (
    Study(
        "MNIST",
        "",
        {
            "laptop": Scale(
                "240 images of scikit-learn's digits, 8 x 8 pixels",
                "digits-softmax",
                240,
                20,
                (2, 8, 24),
                horizons=(20, 60),
            ),
            "small": Scale(
                "384 images of MNIST", "mnist-softmax", 384, 30, _ALL_COUNTS, decades=1, span=True, horizons=(30,)
            ),
            "paper": Scale("MNIST", "mnist-softmax", None, 200, _ALL_COUNTS, decades=1, horizons=(66, 200)),
        },
    ),
    Study(
        "CIFAR-10",
        "-CIFAR",
        {
            "laptop": Scale(
                "scikit-learn's wines, 14 features", "wine-softmax", 176, 20, (2, 4, 8, 16), horizons=(20, 60)
            ),
            "small": Scale(
                "200 images of CIFAR-10", "cifar10-softmax", 200, 20, (2, 4, 8), decades=2, span=True, horizons=(20,)
            ),
            "paper": Scale("CIFAR-10", "cifar10-softmax", None, 200, _ALL_COUNTS, decades=2, horizons=(66, 200)),
        },
    ),
)
MNIST, CIFAR = STUDIES


STEPS = ("eta", "eta_x", "lr")  #: settings whose grids go on for `Scale.decades`


@dataclass(frozen=True)
class Benchmark:
    """A row of Table 2: a listed method, what its settings are made of, and the grid of them.

    ``values``: of settings by name, in order.
    """

    method: str
    fixed: Mapping[str, Any]
    values: Mapping[str, tuple[Any, ...]]
    says: str = ""

    def grid(self, scale: Scale) -> dict[str, tuple[Any, ...]]:
        """Return the values of every setting at a size."""
        further = range(1, scale.decades + 1)
        return {
            name: (*values, *(min(values) / 10**k for k in further)) if name in STEPS else values
            for name, values in self.values.items()
        }

    def candidates(self, scale: Scale) -> list[dict[str, Any]]:
        """Return all combinations of the grid."""
        grid = self.grid(scale)
        return [{**self.fixed, **dict(zip(grid, settings, strict=True))} for settings in product(*grid.values())]


_SOLVED = {"accuracy": STOPPED_AT}
DUALFL = "DualFL"
SPLITTING, REFLECTED = "FedPD = FedDyn = FedDR (1)", "FedDR (2)"
BENCHMARKS: dict[str, Benchmark] = {
    DUALFL: Benchmark("dualfl", {"nu": MU, **_SOLVED}, {"rho": (0.0, 1e-3, 3e-3, 1e-2, 3e-2)}, "rho = m 1e-3, nu = mu"),
    SPLITTING: Benchmark("fedpd", {"init_dual": "zero", **_SOLVED}, {"eta": (1.0, 10.0, 100.0)}, "eta = 10^-m"),
    REFLECTED: Benchmark("feddr", {"alpha": 2.0, **_SOLVED}, {"eta": (1.0, 10.0, 100.0)}, "eta = 10^-m, alpha = 2"),
    "FedDualAvg": Benchmark(
        "feddualavg", {}, {"lr": (1.0, 0.1, 0.01), "steps": (10, 100)}, "eta_c = 10^-m, eta_s = 1, K = 10^m"
    ),
    "Scaffnew": Benchmark("scaffnew", {}, {"lr": (1.0, 0.1), "p": (0.1, 0.01)}, "gamma = 10^-m, p = 10^-m"),
    "APDA-Inexact": Benchmark(
        "apda-inexact",
        {"mu": MU, "beta_y": 1e-2, **_SOLVED},
        {"eta_x": (1.0, 10.0, 100.0)},
        "eta_x = 10^-m, eta_y = 1/(32 eta_x), beta_y = 10^-m (1e-2 chosen, and kept)",
    ),
    "5GCS": Benchmark("5gcs", {"mu": MU, **_SOLVED}, {"eta": (0.1, 1.0, 10.0)}, "gamma = 10^-m, n tau = 1/(2 gamma)"),
}
OTHERS = tuple(name for name in BENCHMARKS if name != DUALFL)
#: of the methods whose grids here go on beyond 10^-m, m >= 0, and matter there: the largest value that Table 2 prints
PRINTED: dict[str, dict[str, Any]] = {name: {**BENCHMARKS[name].fixed, "eta": 1.0} for name in (SPLITTING, REFLECTED)}


def options(scale: Scale, clients: int, split: str = "iid") -> dict[str, Any]:
    """Return what the problem is asked for."""
    dealt = {} if scale.samples is None else {"samples_per_client": scale.samples // clients}
    shards = {"shards": 1} if split == "shards" else {}
    reduced = {"coordinates": "span"} if scale.span else {}
    return {"clients": clients, "split": split, "l2": MU, "bias": 1.0, **dealt, **shards, **reduced}


def training(
    scale: Scale, name: str, settings: Mapping[str, Any], clients: int | None = None, split: str = "iid"
) -> Training:
    """Return a run of a method with some settings, without its seed; methods that communicate by coins get rounds enough."""
    rounds = round(2 * scale.rounds / settings["p"]) if "p" in settings else scale.rounds
    asked = options(scale, clients or scale.clients, split)
    method = BENCHMARKS[name].method
    return Training(method, scale.family, rounds, dict(settings), asked, ("value",), every="sent", start=0.0)


# ---- the optimum, and errors by communications --------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _optimum(family: str, asked: str, data: str | None) -> float:
    """E at a point with ||grad E||^2/(2 mu) <= `OPTIMUM`, which is no further above E*; by the optimised gradient method."""
    problem = Pooled(build_problem(family, **json.loads(asked), data=data))
    found = Adaptive(ResidualBound(OPTIMUM, MU), max_steps=100_000).solve(Subproblem(problem), np.zeros((1, problem.d)))
    if not bool(found.arrived.all()):
        raise SolverFailed(f"no reference value: the gradient of {family} with {asked} did not fall far enough")
    return float(problem.value(found.x)[0])


def by_communications(log: Log, rounds: int) -> NDArray[np.float64]:
    """Return the objective ``(rounds + 1,)`` after so many communications; where coins allowed fewer, NaN from there on.

    Values are read at rounds that communicate.
    """
    sent = log["floats_up"]
    first = np.flatnonzero(np.diff(sent, prepend=-1.0) > 0)[: rounds + 1]
    values = np.full(rounds + 1, np.nan)
    values[: len(first)] = log["value"][first]
    return np.where(np.isfinite(values), values, np.nan)


def errors(ctx: Context, scale: Scale, group: Repeated) -> NDArray[np.float64]:
    """Return relative energy errors (E - E*)/E* by draw and communications ``(draws, rounds + 1)``, at least `OPTIMUM`; NaN if diverged."""
    found = []
    for run, log in zip(group.trainings, group.logs(ctx), strict=True):
        best = _optimum(run.problem, json.dumps({**run.options, "seed": run.seed}, sort_keys=True), ctx.data)
        found.append(np.maximum(by_communications(log, scale.rounds) - best, OPTIMUM) / best)
    return np.array(found)


# ---- tuning -----------------------------------------------------------------------------------------------------------------


def tuning_runs(ctx: Context, scale: Scale, name: str) -> list[Repeated]:
    """Return the runs of a grid, one group a candidate, with the seed before the judged ones."""
    before = PROTOCOL.judged(ctx).start - 1
    return [repeat_run(training(scale, name, settings), [before]) for settings in BENCHMARKS[name].candidates(scale)]


def chosen(ctx: Context, scale: Scale, name: str) -> dict[str, Any]:
    """Return the settings of the grid with the least mean logarithm of the error after the last communication; none that diverged."""
    scores = [np.log(errors(ctx, scale, group)[:, -1]).mean() for group in tuning_runs(ctx, scale, name)]
    return BENCHMARKS[name].candidates(scale)[int(np.argmin(np.where(np.isfinite(scores), scores, np.inf)))]


def judged(
    ctx: Context, scale: Scale, name: str, settings: Mapping[str, Any], clients: int | None = None, split: str = "iid"
) -> Repeated:
    """Return runs of a method on the draws that are judged, none of which it was tuned on."""
    return repeat_run(training(scale, name, settings, clients, split), PROTOCOL.judged(ctx))


def show_settings(ctx: Context, scale: Scale, names: Sequence[str]) -> Table:
    """Return the grids, the paper's beside them, and what was chosen."""
    rows = []
    for name in names:
        bench, found = BENCHMARKS[name], chosen(ctx, scale, name)
        grid = bench.grid(scale)
        tried = "; ".join(f"{key} in {', '.join(f'{v:g}' for v in values)}" for key, values in grid.items())
        rows.append([name, bench.says, tried, ", ".join(f"{key} = {found[key]:g}" for key in grid)])
    return make_table(
        f"grids at {ctx.size} size ({scale.title}), chosen by the error after {scale.rounds} communications",
        ["method", "Table 2's grid", "grid here", "chosen"],
        rows,
    )


def draw_errors(title: str, curves: Mapping[str, NDArray[np.float64]]) -> Picture:
    """Return geometric means over draws of errors by communications, with bands."""
    series = []
    for label, values in curves.items():
        series.append(repeat_curve(label, range(values.shape[1]), values, geometric=True))
    return Picture(title, "communication rounds", "relative energy error", series, logy=True)


def list_falls(title: str, curves: Mapping[str, NDArray[np.float64]]) -> Table:
    """Return what `draw_errors` draws as numbers: log10 of the error at the end, and its fall a communication, mean and deviation over draws."""
    rows = []
    for label, values in curves.items():
        end, rate = np.log10(values[:, -1]), fall(values)
        rows.append(
            [label, f"{end.mean():.2f} +- {end.std(ddof=1):.2f}", f"{rate.mean():.3f} +- {rate.std(ddof=1):.3f}"]
        )
    return Table(title, ["", "log10 of the last error", "its fall a communication"], rows)


def fall(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each draw's decrease of log10 of the error a communication, over the last three fifths of them."""
    first = values.shape[1] * 2 // 5
    return np.asarray((np.log10(values[:, first]) - np.log10(values[:, -1])) / (values.shape[1] - 1 - first))

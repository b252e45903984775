"""The metrics that can be asked for by name: what each is, what it needs, and how its axis is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fedtheory.core.client_weights import by_weights_of_argument
from fedtheory.core.errors import InvalidInput, NotAvailable, tell_known
from fedtheory.core.layers import ranks
from fedtheory.core.problem import Problem, can, need
from fedtheory.core.shapes import Minimiser, RunValues, ServerPoint
from fedtheory.measures import metrics
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.measures.metrics import Metric
from fedtheory.measures.primal_dual import mean_dual, primal_dual_gap
from fedtheory.measures.residuals import RESIDUALS, WithResiduals

RANK_OF = "rank of "  #: and the name of a layer: `rank_of` that layer


@dataclass(frozen=True)
class NamedMetric:
    """A metric that can be asked for by name.

    Parameters
    ----------
    name : str
    label : str
        Its formula, in the words that a picture's axis has.
    function : Metric, or function of the problem that returns one
        The latter where ``needs_optimum``.
    field : str, optional
        Field of the method's states that it reads.
    ability : str, optional
        What the problem must give (`fedtheory.core.problem.ABILITIES`).
    needs_optimum : bool
        Whether it compares with the problem's certified optimum (`fedtheory.measures.ground_truth`).
    is_share : bool
        Whether it is a share of samples that are right: more is better, and its axis is linear. Of all others less is better, and
        their axes are logarithmic.
    rounding : float
        A value below this share of the one at the start shows rounding, and says nothing of which run is better: (1e-14)^2 of a square,
        1e-14 of a difference of values of f.
    """

    name: str
    label: str
    function: Callable[..., Any]
    field: str | None = None
    ability: str | None = None
    needs_optimum: bool = False
    is_share: bool = False
    rounding: float = 1e-28

    @property
    def needs(self) -> str:
        """What it needs, in words; empty where every method and problem has it."""
        found = [f"a method whose state has {self.field}"] if self.field else []
        found += [f"a problem with {self.ability}"] if self.ability else []
        found += ["a problem whose optimum is certified"] if self.needs_optimum else []
        return " and ".join(found)

    def is_offered(self, state: Any, problem: Problem | None) -> bool:
        """Whether a method with such states has it on a problem, as far as is known without looking for an optimum."""
        held = self.field is None or getattr(state, self.field, None) is not None
        return held and not self.needs_optimum and (self.ability is None or can(problem, self.ability))

    def on(self, problem: Problem) -> Metric:
        """Return the function that measures it on a problem.

        Raises
        ------
        NotAvailable
            It needs the problem's optimum, which is not certified.
        """
        found: Metric = self.function(problem) if self.needs_optimum else self.function
        return found


def _unique_minimiser(problem: Problem) -> Minimiser:
    """x* of the metric "distance", which means something where there is one only."""
    truth = ground_truth(problem, witness=False)
    if not truth.distance < float("inf"):
        raise NotAvailable(
            f"the metric 'distance' measures from the minimiser, and {problem.name!r} is not certified to have a unique one "
            f"({truth.how}); use 'gap', or add a ridge"
        )
    return truth.x


#: by name
METRICS: dict[str, NamedMetric] = {
    metric.name: metric
    for metric in (
        NamedMetric("stationarity", "||grad f(x)||^2", metrics.stationarity),
        NamedMetric("value", "f(x)", metrics.value),
        NamedMetric("magnitude", "||x||^2", metrics.magnitude),
        NamedMetric(
            "gap",
            "f(x) - f*",
            lambda f: metrics.gap(ground_truth(f, witness=False).f),
            needs_optimum=True,
            rounding=1e-14,
        ),
        NamedMetric(
            "distance",
            "||x - x*||^2",
            lambda f: metrics.squared_distance(_unique_minimiser(f)),
            needs_optimum=True,
        ),
        NamedMetric("consensus", "mean_i ||x_i - x||^2", metrics.consensus, "x_i"),
        NamedMetric("primal_dual_gap", "f(x) - D(lambda)", primal_dual_gap, "lam_i", rounding=1e-14),
        NamedMetric("mean_dual", "||mean_i lambda_i||^2", mean_dual, "lam_i"),
        NamedMetric("personal_value", "mean_i f_i(personal_i)", metrics.personal_value, "personal"),
        NamedMetric(
            "personal_stationarity", "mean_i ||grad f_i(personal_i)||^2", metrics.personal_stationarity, "personal"
        ),
        NamedMetric("average_value", "f(mean of the active clients' models)", metrics.average_value, "x_bar"),
        NamedMetric(
            "test_accuracy",
            "share of test samples right",
            metrics.test_accuracy,
            ability="test_accuracy",
            is_share=True,
        ),
        NamedMetric(
            "average_accuracy",
            "share of test samples that the mean of the active clients' models gets right",
            metrics.average_accuracy,
            "x_bar",
            ability="test_accuracy",
            is_share=True,
        ),
        NamedMetric(
            "personal_accuracy",
            "mean share of clients' own test samples right",
            metrics.personal_accuracy,
            ability="personal_accuracy",
            is_share=True,
        ),
        NamedMetric(
            "common_accuracy",
            "mean share of clients' own test samples that the server's model gets right",
            metrics.common_accuracy,
            ability="personal_accuracy",
            is_share=True,
        ),
        NamedMetric(
            "factored_size", "numbers of the server's model, by factors", metrics.factored_size, ability="layers"
        ),
        NamedMetric("component_size", "mean nonzeros of p_i", metrics.component_size, "p_i"),
        NamedMetric(
            "primal_residual", "mean over active clients of ||x_i - x||", metrics.primal_residual, "primal_residual"
        ),
        NamedMetric("dual_residual", "||x - previous x||", metrics.dual_residual, "dual_residual"),
    )
}


def rank_of(name: str) -> Metric:
    """Numerical rank of a layer of the server's model."""

    def rank(problem: Problem, state: Any) -> RunValues:
        layers = need(problem, "layers", f"the rank of {name!r}")
        known = [layer.name for layer in layers if layer.matrix_shape is not None]
        if name not in known:
            raise InvalidInput(f"{name!r} is not a layer with a rank; these are: {', '.join(known)}")
        return ranks(state.x, layers)[..., 0, known.index(name)]

    return rank


def look_up(name: str) -> NamedMetric:
    """Return the entry of a name; ``rank of <layer>`` is `rank_of` that layer.

    Raises
    ------
    InvalidInput
        There is no such metric; the message lists those that there are.
    """
    if not isinstance(name, str):
        raise InvalidInput(
            f"a metric in a list is a name of the catalogue, such as 'gap'; got {name!r}; a function has a name: metrics={{'mine': function}}"
        )
    if name.startswith(RANK_OF):
        return NamedMetric(name, name, rank_of(name.removeprefix(RANK_OF)), ability="layers")
    if name not in METRICS:
        raise InvalidInput(f"unknown metric {name!r}; {tell_known(name, [*METRICS, f'{RANK_OF}LAYER'])}")
    return METRICS[name]


def axis_of(name: str) -> tuple[str, bool]:
    """Return how an axis of a picture shows a metric: its label, and whether the axis is logarithmic; names of others label themselves."""
    found = METRICS.get(name)
    return (name, True) if found is None else (found.label, not found.is_share)


def offered_metrics(state: Any, problem: Problem | None = None) -> dict[str, Metric]:
    """Return the metrics, by name, that need no optimum and that a method with such states has, on a problem if it is given."""
    return {name: metric.function for name, metric in METRICS.items() if metric.is_offered(state, problem)}


@by_weights_of_argument(2)
def choose_metrics(
    names: Iterable[str], method: Any, problem: Problem, x0: ServerPoint, on_host: Problem | None = None
) -> tuple[Any, dict[str, Metric]]:
    """Return the metrics of these names, and the method whose states have what they read, for runs from x0.

    Optima are looked for on the host: ``on_host`` is the problem of NumPy's arrays, where that is not the problem itself.

    That is the method itself, or with residuals among the names `fedtheory.measures.residuals.WithResiduals` of it, which plays the same rounds.

    Raises
    ------
    InvalidInput
        There is no such metric, or the method or the problem does not have what it needs; the message lists those that they have.
    NotAvailable
        The problem's optimum is needed and not certified.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidInput(
            f"metrics are a list of names, such as ['gap'], or a mapping of a name to a function; got {names!r}"
        )
    found = {name: look_up(name) for name in names}
    if {*found} & {*RESIDUALS}:
        method = WithResiduals(method)
    state = method.init(problem, x0)
    for name, metric in found.items():
        if not (metric.needs_optimum or metric.is_offered(state, problem)):
            known = ", ".join(offered_metrics(state, problem))
            raise InvalidInput(f"metric {name!r} needs {metric.needs}; what this method and problem have is {known}")
    return method, {name: metric.on(on_host or problem) for name, metric in found.items()}

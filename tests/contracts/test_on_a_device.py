"""What runs on an accelerator, under a stand-in for CuPy and on array-api-strict's second device: the same numbers, and what they cost.

`test_arrays_kept` plays every method's rounds there on every problem; here are whole runs, with metrics, traffic and who takes part, and what
they ask of the device: how often the host waits for it, and what crosses.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import stand_in_cupy
from helpers import (
    CASES,
    LIBRARIES,
    Case,
    Library,
    as_parameters,
    check_each,
    close,
    dressed,
    for_every_method,
    problem,
    start,
)
from small_sweeps import rows_of, small
from stand_in_cupy import Costs, counted

from fedtheory.algorithms import (
    ALGORITHMS,
    APDA,
    DualFL,
    FedAvg,
    FedPD,
    FiveGCS,
    LocalSvrg,
    LocalTraining,
    RandProx,
    Safari,
    Scaffnew,
    listed,
)
from fedtheory.core.arrays import along_batch, solve_linear, squared_norm, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Bernoulli, Clients, Uniform
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.inexact import Inexact, ToAccuracy
from fedtheory.local.newton import newton
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import AcceleratedSteps, Exact, GradientSteps, newton_prox
from fedtheory.local.stochastic import Epochs, StochasticSteps, VarianceReduced
from fedtheory.local.stopping import EnergyChange, ResidualBound
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures import primal_dual
from fedtheory.measures.catalogue import METRICS, offered_metrics
from fedtheory.running import sweep as sweeping
from fedtheory.running.falsifier import Search, falsify
from fedtheory.running.families import Placed, build_problem, load_families
from fedtheory.running.runner import run, shape_start
from problems.quadratics import random_quadratics

AWAY = [library for library in LIBRARIES if library.name in ("cupy-stand-in", "array-api-strict-device")]
pytestmark = pytest.mark.skipif(stand_in_cupy.cupy is None, reason="CuPy itself is installed")


@pytest.fixture(params=as_parameters(AWAY))
def away(request: pytest.FixtureRequest) -> Library:
    return request.param


def _both(case: Case, library: Library, **options: Any) -> tuple[Any, Any]:
    """The same run on the host and on the device, with all metrics that the method and the problem offer."""
    method, f, x0 = case.algorithm(), case.problem, start(case.problem)
    found = []
    for there in (None, library):
        on, x = (f, x0) if there is None else (there.problem(f), there.array(x0))
        chosen = offered_metrics(method.init(on, shape_start(on, x)), on)
        chosen.pop("primal_dual_gap", None)
        found.append(run(method, on, x, 3, metrics=chosen, progress=False, **options))
    return found[0], found[1]


#: one problem that a method runs on for each kind of settings, going round, and a nuclear norm for all
_ROUND = [case for k, case in enumerate(CASES) if k % 7 == 0 or case.problem_name == "robust-low-rank"]


@for_every_method([(case, AWAY[k % len(AWAY)]) for k, case in enumerate(_ROUND)])
def test_whole_runs_are_those_of_the_host(case: Case, library: Library) -> None:
    """Metrics, floats sent and the last state, with everyone and with a random part of the clients."""
    parts = [None, Bernoulli(0.6)] if case.entry.partial else [None]
    for participation in parts:
        ours, theirs = _both(case, library, participation=participation)
        for name, values in ours.metrics.items():
            close(theirs.metrics[name], values, 1e-9, name)
        np.testing.assert_array_equal(theirs.floats_up, ours.floats_up)
        np.testing.assert_array_equal(theirs.floats_down, ours.floats_down)
        close(theirs.state.x, ours.state.x, 1e-9)


@for_every_method([(Case(entry, "steps", "quadratics"), AWAY[k % len(AWAY)]) for k, entry in enumerate(ALGORITHMS)])
def test_a_sweep_in_one_run_is_that_of_the_host(case: Case, library: Library) -> None:
    """Axes of seeds and settings, as sweeps have them; hyper-parameters are NumPy's on both sides."""
    f, method = case.problem, case.algorithm(along_batch([1.0, 0.5, 0.7]))
    options = {"seed": np.array([[3], [4]]), "participation": Uniform(2) if case.entry.partial else None}
    ours = run(method, f, start(f), 3, progress=False, **options)
    theirs = run(method, library.problem(f), library.array(start(f)), 3, progress=False, **options)
    close(theirs["stationarity"], ours["stationarity"], 1e-9)
    np.testing.assert_array_equal(theirs.floats_up, ours.floats_up)


def _measure_family(name: str, away: Library) -> None:
    try:
        f = build_problem(name)
    except NotAvailable:  # its data set is read from a folder
        return
    for method in (FedAvg(GradientSteps(2, 0.01)), LocalTraining(GradientSteps(2, 0.01))):
        found = []
        for g, x in ((f, start(f)), (away.problem(f), away.array(start(f)))):
            chosen = offered_metrics(method.init(g, shape_start(g, x)), g)
            found.append(run(method, g, x, 2, metrics=chosen, progress=False))
        for metric, values in found[0].metrics.items():
            close(found[1][metric], values, 1e-9, metric)


def test_every_family_runs_and_is_measured(away: Library) -> None:
    """Instances at their default size, models without and with personal parts, with all metrics that need no optimum."""
    names = sorted(name for name, (family, _) in load_families().items() if "device" not in family.reads)
    check_each(_measure_family, {name: (name, away) for name in names})


def test_a_sweep_on_a_device(away: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are those of the host, also where a batch has no room and is halved."""
    sweep = small(
        "fedavg,scaffnew,fedpd", settings={"lr": (0.1, 0.2), "eta": (0.1, 0.3), "p": (0.3, 0.6)}, seeds=(0, 1)
    )
    ours = rows_of(sweep)
    placed = sweeping._placed

    def moved(batch: Any) -> Placed:
        return Placed(away.problem(placed(batch).problem), placed(batch).on_host, away)  # type: ignore[arg-type]

    monkeypatch.setattr(sweeping, "_placed", moved)
    for floats in (2**24, 2 * 4 * 3):
        monkeypatch.setattr(sweeping, "BATCH_FLOATS", floats)
        for row, other in zip(rows_of(sweep), ours, strict=True):
            assert row["error"] is None and row["floats_up"] == other["floats_up"]
            assert abs(row["stationarity"] - other["stationarity"]) <= 1e-12


def test_the_falsifier_takes_ratios_from_a_device(away: Library) -> None:
    """Candidates are drawn on the host and measured at once where the ratio is computed."""

    def sample(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
        return {"x": rng.standard_normal((count, 1, 3))}

    def ratio(candidates: Any) -> Any:
        x = away.array(candidates["x"])
        return 2 - squared_norm(x - 1)[..., 0]

    found = falsify(Search(sample, ratio), 4000, seed=0, batch=2000)
    assert found.violated and 1.99 < found.ratio <= 2
    np.testing.assert_allclose(found.candidate["x"], 1, atol=0.1)


SOLVERS = [
    Exact(),
    GradientSteps(3, 0.1),
    GradientSteps(np.array([1, 3, 2, 2]), 0.1),
    AcceleratedSteps(3, 0.1, 0.5),
    StochasticSteps(3, 0.1, 2, clip=0.5),
    Epochs(2, 0.1, 4),
    VarianceReduced(3, 0.1, 2),
    SamSteps(3, 0.1, 0.05, 2, 0.01, 0.5),
    ToAccuracy(1e-6, 0.1),
    Inexact(epsilon=1e-3),
    Adaptive(ResidualBound(1e-8, 1.0)),
    Adaptive(EnergyChange()),
    ProximalSteps(3, 0.1, L1(0.1)),
]


@pytest.mark.parametrize("local", SOLVERS, ids=lambda local: type(local).__name__)
def test_local_solvers_are_those_of_the_host(away: Library, local: Any) -> None:
    f, few = problem("penalised-logistic"), Clients(4, np.array([2, 0]))
    for clients in (None, few):
        m = 4 if clients is None else 2
        z, a = np.linspace(-1, 1, 3 * m).reshape(m, 3), np.linspace(0.2, 0.1, 3 * m).reshape(m, 3)
        answers = []
        for there, move in ((f, np.asarray), (away.problem(f), away.array)):
            sub = Subproblem(there.take(clients), move(a), 2.0, move(z), clients)
            answers.append(local(sub, move(z), Key(1, 0), None)[0])
        close(answers[1], answers[0], 1e-9)


# ---- hyper-parameters that are arrays -----------------------------------------------------------------------------

P = along_batch([0.3, 0.7])
STEPS = along_batch([0.05, 0.1])

#: methods with probabilities, penalties and steps as arrays of two settings
BATCHES: dict[str, Any] = {
    "5gcs": lambda a: FiveGCS(a(STEPS), a(STEPS)),
    "apda": lambda a: APDA(a(STEPS), mu=a(STEPS)),
    "scaffnew": lambda a: Scaffnew(a(STEPS), a(P)),
    "randprox": lambda a: RandProx(a(STEPS), a(P), a(P)),
    "fedpd": lambda a: FedPD(a(STEPS), Exact(), a(P)),
    "safari": lambda a: Safari(a(P), GradientSteps(2, a(STEPS)), GradientSteps(1, a(STEPS))),
    "s-local-svrg": lambda a: LocalSvrg(2, a(STEPS), None, a(P)),
    "dualfl": lambda a: DualFL(a(STEPS), a(P)),
}


@pytest.mark.parametrize("place", ["host", "device"])
@pytest.mark.parametrize("name", BATCHES)
def test_arrays_of_hyperparameters_from_either_side(away: Library, name: str, place: str) -> None:
    f = random_quadratics(4, 3, mu=0.2, seed=1)
    f = dressed(listed(name), f) if name == "safari" else f
    ours = run(BATCHES[name](lambda a: a), f, start(f), 4, seed=np.array([1, 2]), progress=False)
    method = BATCHES[name](away.array if place == "device" else lambda a: a)
    theirs = run(method, away.problem(f), away.array(start(f)), 4, seed=np.array([1, 2]), progress=False)
    close(theirs["stationarity"], ours["stationarity"], 1e-12)
    np.testing.assert_array_equal(theirs.floats_up, ours.floats_up)


def test_numbers_of_the_device_are_checked(away: Library) -> None:
    wrong = away.array(along_batch([0.1, -0.1]))
    for make in (
        lambda: GradientSteps(2, wrong),
        lambda: FedPD(wrong),
        lambda: FedPD(0.1, p=wrong),
        lambda: DualFL(0.1, wrong),
        lambda: Scaffnew(0.1, wrong),
        lambda: LocalSvrg(1, 0.1, None, wrong),
        lambda: Safari(wrong, GradientSteps(1, 0.1), GradientSteps(1, 0.1)),
        lambda: FiveGCS(0.1, wrong),
        lambda: APDA(0.1, mu=wrong),
        lambda: GradientSteps(away.array([1.0, 0.0]), 0.1),
    ):
        with pytest.raises(InvalidInput, match=r"must|needs"):
            make()


# ---- what NumPy does and a device does not ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dualfl", "dual-fista", "dual-ascent", "accelerated-dual-ascent"])
def test_exact_dual_methods_on_quadratics_that_runs_share(away: Library, name: str) -> None:
    """One set of matrices, and right-hand sides with an axis of settings."""
    f = problem("quadratics")
    method = Case(listed(name), "exact", "quadratics").algorithm(along_batch([1.0, 0.5]))
    ours = run(method, f, start(f), 3, progress=False)
    theirs = run(method, away.problem(f), away.array(start(f)), 3, progress=False)
    close(theirs["stationarity"], ours["stationarity"], 1e-12)


def test_solves_broadcast_and_singular_systems_are_errors(away: Library) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1, 3, 3)), rng.standard_normal((5, 3))
    close(solve_linear(away.array(a), away.array(b)), np.linalg.solve(a, b[..., None])[..., 0], 1e-12)
    a[1] = 1.0
    with pytest.raises(InvalidInput, match="a linear system is singular"):
        solve_linear(away.array(a), away.array(b))
    b[:] = np.nan  # a run that has diverged is no singular system
    assert np.isnan(to_numpy(solve_linear(away.array(np.eye(3)), away.array(b)))).all()


def test_known_optima_are_given_as_numpy_has_them(away: Library) -> None:
    f = random_quadratics(4, 3, mu=0.2, seed=1)
    x = away.array(start(f))
    measured = {
        "gap": METRICS["gap"].on(f),
        "distance": METRICS["distance"].on(f),
        "dual": primal_dual.dual_error(f, f.solution()),
    }
    ours, theirs = (
        run(FedPD(0.1), g, y, 2, metrics=measured, progress=False) for g, y in ((f, start(f)), (away.problem(f), x))
    )
    for name in measured:
        close(theirs[name], ours[name], 1e-12, name)


def test_a_device_is_told_apart_from_the_host() -> None:
    """What the stand-in must refuse, or it would prove nothing."""
    x = stand_in_cupy.cupy.asarray(np.ones(2))
    for mixed in (lambda: x + np.ones(2), lambda: np.ones(2) * x, lambda: np.asarray(x), lambda: np.asarray([1.0]) < x):
        with pytest.raises(TypeError):
            mixed()
    with pytest.raises(InvalidInput, match=r"mixed \(numpy, stand_in_cupy\)"):
        run(FedAvg(GradientSteps(1, 0.1)), random_quadratics(4, 2, seed=0), x, 1)
    assert np.isnan((stand_in_cupy.cupy.linalg.solve(x[:, None, None] * 0, x[:, None])).get()).all()


# ---- what it costs ------------------------------------------------------------------------------------------------

ON_GPU = AWAY[-1]


def costs_a_round(method: Any, f: Any, rounds: int = 20, **options: Any) -> Costs:
    """What a round without metrics costs: the difference of a longer and a shorter run, over the rounds between."""
    f, x = ON_GPU.problem(f), ON_GPU.array(start(f))

    def play(rounds: int) -> Costs:
        with counted() as costs:
            run(method, f, x, rounds, every=rounds, progress=False, **options)
        return costs

    play(1)
    short, long = dataclasses.asdict(play(4)), dataclasses.asdict(play(4 + rounds))
    return Costs(**{name: (long[name] - short[name]) / rounds for name in short})


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda entry: entry.name)
def test_a_round_waits_once_for_the_device(entry: Any) -> None:
    """Whether a run has diverged is all that the host asks for; beside coins, who takes part and momentum nothing goes over."""
    f = dressed(entry, problem("robust-low-rank" if "l1" in entry.uses else "logistic"))
    case = Case(entry, "steps", "logistic")
    for participation in [None, Uniform(2)] if entry.partial else [None]:
        costs = costs_a_round(case.algorithm(), f, participation=participation)
        assert costs.waits == costs.copies_out == 1 and costs.bytes_out <= 9, entry.name  # and what it has counted
        assert costs.copies_in <= 3 + 3 * (participation is not None) and costs.bytes_in <= 200, entry.name


@pytest.mark.parametrize(
    "local",
    [StochasticSteps(8, 0.1, 2), Epochs(2, 0.1, 2), VarianceReduced(8, 0.1, 2), SamSteps(8, 0.1, 0.01, 2)],
    ids=lambda local: type(local).__name__,
)
def test_the_samples_of_a_round_go_over_once(local: Any) -> None:
    f = problem("penalised-logistic")
    for seeds in (0, np.arange(5)):
        costs = costs_a_round(FedAvg(local), f, seed=seeds)
        assert costs.copies_in == 1 and costs.waits == 1
        drawn = f.n * (16 if not isinstance(local, Epochs) else 12)
        assert costs.bytes_in == 8 * drawn * np.size(seeds)


def test_newton_waits_twice_an_iteration() -> None:
    f = problem("logistic")
    on, v = ON_GPU.problem(f), ON_GPU.array(np.ones((f.n, f.d)))
    newton_prox(on, v, 1.0)
    for iterations in (2, 4):
        with counted() as costs:
            newton(Subproblem(on, rho=1.0, z=v), v, iterations)
        assert costs.waits <= 2 * iterations and costs.copies_in == 0


def test_metrics_come_together() -> None:
    """A round that is measured waits once more, however many metrics there are; so do counts that the device has."""
    f = ON_GPU.problem(problem("robust-low-rank"))
    x = ON_GPU.array(start(f))
    method = Case(listed("fedslr"), "steps", "robust-low-rank").algorithm()
    chosen = offered_metrics(method.init(f, shape_start(f, x)), f)
    chosen.pop("primal_dual_gap")  # these clients' conjugates are not known
    assert len(chosen) > 3
    waits = []
    for rounds in (5, 15):
        with counted() as costs:
            run(method, f, x, rounds, metrics=chosen, progress=False)
        waits.append(costs.waits)
    assert waits[1] - waits[0] == 2 * 10


def test_a_large_problem_is_not_copied_for_its_name() -> None:
    f = ON_GPU.problem(random_quadratics(40, 60, seed=0))
    with counted() as costs:
        run(FedAvg(GradientSteps(1, 0.1)), f, ON_GPU.array(np.ones(60)), 1, progress=False)
    assert costs.bytes_out < 2**18 < f.A.nbytes

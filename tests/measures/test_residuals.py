"""Residuals of a round, and metrics of the average model."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import problem, start

from fedtheory.algorithms import ALGORITHMS, AFedPD, Apfl, FedAvg, FedDyn, GradientDescent, Scaffold, listed
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Uniform
from fedtheory.core.randomness import Key
from fedtheory.core.states import from_host, to_host
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures import metrics
from fedtheory.measures.catalogue import offered_metrics
from fedtheory.measures.residuals import WithResiduals
from fedtheory.running.runner import run

STEPS = GradientSteps(3, 0.1)
METHODS = {
    "fedavg": FedAvg(STEPS),
    "scaffold": Scaffold(STEPS),
    "feddyn": FedDyn(0.7, STEPS),
    "a-fedpd": AFedPD(0.7, STEPS),
    "a-fedpdsam": AFedPD(0.7, SamSteps(3, 0.1, 0.05)),
}
RESIDUALS = {name: getattr(metrics, name) for name in ("primal_residual", "dual_residual")}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("participation", [None, Uniform(2)], ids=["all", "two"])
def test_measuring_changes_nothing(method, participation) -> None:
    f = problem("quadratics")
    more = {"participation": participation, "metrics": {"f": metrics.value}, "progress": False}
    bare = run(method, f, start(f), 6, **more)
    watched = run(WithResiduals(method), f, start(f), 6, **more)
    assert (bare["f"] == watched["f"]).all() and (bare.floats_up == watched.floats_up).all()
    assert (bare.state.x == watched.state.x).all()


def test_residuals_are_those_of_the_states() -> None:
    f = problem("quadratics")
    method = WithResiduals(AFedPD(0.7, STEPS))
    before = run(method, f, start(f), 4, progress=False).state
    trace = run(method, f, start(f), 5, metrics=RESIDUALS, progress=False)
    after = trace.state
    assert trace["dual_residual"][-1] == pytest.approx(np.linalg.norm(after.x - before.x))
    assert trace["primal_residual"][-1] == pytest.approx(np.linalg.norm(after.x_i - after.x, axis=-1).mean())
    assert trace["primal_residual"][0] == trace["dual_residual"][0] == 0


def test_only_those_that_came_count() -> None:
    f = problem("quadratics")
    method = WithResiduals(FedDyn(0.7, STEPS))
    trace = run(method, f, start(f), 1, participation=Uniform(2), metrics=RESIDUALS, progress=False)
    came = (trace.state.x_i != start(f)).any(axis=-1)
    assert came.sum() == 2
    away = np.linalg.norm(trace.state.x_i - trace.state.x, axis=-1)
    assert trace["primal_residual"][-1] == pytest.approx(away[came].mean())
    assert abs(away.mean() - trace["primal_residual"][-1]) > 1e-6


def test_a_batch() -> None:
    f = problem("quadratics")
    rhos = [0.5, 1.0, 2.0]
    batch = run(WithResiduals(AFedPD(along_batch(rhos), STEPS)), f, start(f), 5, metrics=RESIDUALS, progress=False)
    for k, rho in enumerate(rhos):
        one = run(WithResiduals(AFedPD(rho, STEPS)), f, start(f), 5, metrics=RESIDUALS, progress=False)
        for name in RESIDUALS:
            assert batch[name][k] == pytest.approx(one[name], rel=1e-12)


def test_a_checkpoint_holds_them() -> None:
    f = problem("quadratics")
    state = run(WithResiduals(Scaffold(STEPS)), f, start(f), 3, progress=False).state
    held = to_host(state)
    assert {"x", "c", "c_i", "primal_residual", "dual_residual"} == {*held}
    again = from_host(state, {name: 2 * value for name, value in held.items()})
    assert (again.dual_residual == 2 * state.dual_residual).all() and again.dual_residual > 0
    assert {*RESIDUALS} <= {*offered_metrics(again)}


def test_at_the_solution_nothing_is_left_to_move() -> None:
    """Scaffold stays where it is with the right control variates; FedAvg has no state at which it stays at x*."""
    f = problem("quadratics")
    method = WithResiduals(Scaffold(STEPS))
    begun = method.solution_state(f, f.solution()[None, :])
    after = method.round(f, begun, None, Key(0, 0))
    for state in (begun, after):
        assert {"primal_residual", "dual_residual", "c_i"} <= {*to_host(state)}
        assert state.primal_residual.item() == pytest.approx(0, abs=1e-14)
        assert state.dual_residual.item() == pytest.approx(0, abs=1e-14)
    moved = method.round(f, method.solution_state(f, f.solution()[None, :] + 1), None, Key(0, 0))
    assert moved.dual_residual.item() > 0.1
    assert WithResiduals(FedAvg(STEPS)).solution_state(f, f.solution()[None, :]) is None


def test_local_work_on_several_models_at_once_has_no_residuals() -> None:
    f = problem("quadratics")
    with pytest.raises(InvalidInput, match="local work of Apfl answers with several models at once"):
        run(WithResiduals(Apfl(STEPS)), f, start(f), 1, progress=False)
    with pytest.raises(InvalidInput, match="GradientDescent has no local solver whose answers x_i could be compared"):
        WithResiduals(GradientDescent(0.1))


def test_metrics_of_the_average_model() -> None:
    f = problem("quadratics")
    state = run(AFedPD(0.7, STEPS), f, start(f), 4, progress=False).state
    found = offered_metrics(state, f)
    assert found["average_value"](f, state) == pytest.approx(f.value(state.x_bar).mean(axis=-1))
    assert abs(found["average_value"](f, state) - found["value"](f, state)) > 1e-6
    assert "average_accuracy" not in found and "primal_residual" not in found
    plain = run(FedAvg(STEPS), f, start(f), 1, progress=False).state
    assert not {"average_value", "average_accuracy"} & {*offered_metrics(plain, f)}


def test_sam_divides_by_a_little_more_when_asked() -> None:
    for entry in ALGORITHMS:
        assert ("sam_epsilon" in entry.uses) == ("radius" in entry.uses)
    fedsam = listed("fedsam")
    assert fedsam.build(sam_epsilon=0.25).local.epsilon == 0.25 and fedsam.build().local.epsilon == 0


@pytest.mark.torch
def test_networks_have_residuals_too() -> None:
    settings = {"lr": 0.1, "steps": 2, "batch": 5, "rho": 0.1, "radius": 0.1, "sam_epsilon": 0.01, "clip": 10.0}
    names = ("average_value", "average_accuracy", *RESIDUALS)
    one = Training("a-fedpdsam", "digits-cnn", 2, settings, {"clients": 4, "split": "iid"}, names, participants=2)
    log = one.read(Context())
    assert not log.diverged and (log["dual_residual"][1:] > 0).all() and (log["primal_residual"][1:] > 0).all()
    assert log["dual_residual"][0] == 0 and 0 <= log["average_accuracy"][-1] <= 1

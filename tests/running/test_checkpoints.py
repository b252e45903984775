"""Runs that stop and go on: checkpoints, what refuses them, and fingerprints of what made them."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest
from helpers import assert_equal_traces, problem, start

from fedtheory.algorithms import FedAvg, FedPD, FedProx, GradientDescent, Scaffold, every
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import All, Bernoulli, Fixed, Schedule, Uniform
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.running import record, runner
from fedtheory.running.runner import run
from fedtheory.tools.fingerprint import fingerprint

DESCENT = GradientDescent(0.5)


# ---- stopping and going on ----------------------------------------------------------------------------------------


class Interrupt:
    """A metric that interrupts the run once, after a number of calls."""

    def __init__(self, after) -> None:
        self.left = after

    def __call__(self, f, state):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return metrics.stationarity(f, state)


RESUMED = {
    "gradient descent": (DESCENT, All(), 0),
    "stochastic, uniform": (FedAvg(StochasticSteps(2, 0.1, 2)), Uniform(2), 4),
    "control variates, bernoulli, seeds": (Scaffold(GradientSteps(2, 0.1)), Bernoulli(0.5), np.array([1, 2])),
    "recursive gradients, skipping": (FedPD(0.1, FedPD.oracle_two(0.1, None, 2, 2, 4), p=0.5), All(), np.array([1, 7])),
    "schedules": (FedPD(0.1, GradientSteps(2, lambda r, q: 0.1 / (r + q + 1)), p=every(2)), All(), 0),
    "steps along a batch": (FedProx(along_batch([1.0, 2.0])), Fixed((1, 2)), 3),
    "some diverge": (FedAvg(GradientSteps(3, along_batch([0.1, 1e200]))), All(), 0),
    "all diverge": (FedAvg(GradientSteps(3, 1e200)), All(), 0),
}


@pytest.mark.parametrize("name", RESUMED)
@pytest.mark.parametrize("after", [3, 8])
def test_an_interrupted_run_goes_on_bit_by_bit(name, after, tmp_path, monkeypatch) -> None:
    algorithm, schedule, seed = RESUMED[name]
    f = problem("logistic")
    options = {"participation": schedule, "seed": seed, "every": 2}
    whole = run(algorithm, f, start(f), 19, metrics={"m": metrics.stationarity}, **options)
    file = tmp_path / "deep" / "run.npz"  # the folder is made
    monkeypatch.setattr(runner, "CHECKPOINT_SECONDS", -1)
    with pytest.raises(KeyboardInterrupt):
        run(algorithm, f, start(f), 19, metrics={"m": Interrupt(after)}, checkpoint=file, **options)
    assert file.exists() and not list(file.parent.glob("*.part"))
    resumed = run(algorithm, f, start(f), 19, metrics={"m": metrics.stationarity}, checkpoint=file, **options)
    assert_equal_traces(resumed, whole)
    if not whole.diverged.all():  # complete: read, not run
        again = run(algorithm, f, start(f), 19, metrics={"m": Interrupt(1)}, checkpoint=file, **options)
        assert_equal_traces(again, whole)


def test_going_on_on_other_libraries(xp, tmp_path, monkeypatch) -> None:
    f, x0 = xp.problem(problem("logistic")), xp.array(start(problem("logistic")))
    algorithm = FedPD(0.1, GradientSteps(2, 0.1), p=0.5)
    monkeypatch.setattr(runner, "CHECKPOINT_SECONDS", -1)
    whole = run(algorithm, f, x0, 9, metrics={"m": metrics.stationarity})
    with pytest.raises(KeyboardInterrupt):
        run(algorithm, f, x0, 9, metrics={"m": Interrupt(5)}, checkpoint=tmp_path / "run")
    resumed = run(algorithm, f, x0, 9, metrics={"m": metrics.stationarity}, checkpoint=tmp_path / "run")
    assert type(resumed.state.x) is type(x0)
    assert_equal_traces(resumed, whole)


def test_a_checkpoint_is_written_from_time_to_time_only(tmp_path, monkeypatch) -> None:
    f, saved = problem("quadratics"), []
    save = record.Recorder.save
    monkeypatch.setattr(
        record.Recorder, "save", lambda self, path, *rest: (saved.append(rest[1]), save(self, path, *rest))
    )
    run(DESCENT, f, start(f), 50, checkpoint=tmp_path / "run")
    assert saved == [50]


OTHERS = {
    "algorithm": lambda f, file: run(GradientDescent(0.4), f, start(f), 5, checkpoint=file),
    "start": lambda f, file: run(DESCENT, f, 2 * start(f), 5, checkpoint=file),
    "problem": lambda f, file: run(DESCENT, dataclasses.replace(f, b=2 * f.b), start(f), 5, checkpoint=file),
    "seed": lambda f, file: run(DESCENT, f, start(f), 5, seed=1, checkpoint=file),
    "rounds": lambda f, file: run(DESCENT, f, start(f), 6, checkpoint=file),
    "metrics": lambda f, file: run(DESCENT, f, start(f), 5, metrics={"x": metrics.magnitude}, checkpoint=file),
    "participation": lambda f, file: run(
        DESCENT, f, start(f), 5, participation=Schedule(lambda r: [0]), checkpoint=file
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_of_another_run_is_refused(name, tmp_path) -> None:
    f, file = problem("quadratics"), tmp_path / "run"
    run(DESCENT, f, start(f), 5, checkpoint=file)
    with pytest.raises(InvalidInput, match="belongs to another run"):
        OTHERS[name](f, file)


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "folder", "other archive"])
def test_a_damaged_checkpoint_is_refused_by_name(damage, tmp_path) -> None:
    f, file = problem("quadratics"), tmp_path / "run"
    run(DESCENT, f, start(f), 5, checkpoint=file)
    if damage == "folder":
        file.unlink()
        file.mkdir()
    elif damage == "other archive":
        with file.open("wb") as out:
            np.savez(out, x=np.ones(3))
    else:
        content = file.read_bytes()
        file.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "text": b"hello"}[damage])
    with pytest.raises(InvalidInput, match=r"run is not a readable checkpoint .*delete it to start afresh"):
        run(DESCENT, f, start(f), 5, checkpoint=file)


# ---- fingerprints -------------------------------------------------------------------------------------------------


def test_fingerprints_tell_contents_apart() -> None:
    import math

    def scaled(by, r):
        return by * r

    pairs = [
        (lambda r: math.sin(r), lambda r: math.cos(r)),  # the same byte code, other names
        (partial(scaled, 2), partial(scaled, 3)),
        (lambda r: [k for k in range(3)], lambda r: [k for k in range(4)]),  # noqa: C416
        (along_batch([1.0]), along_batch([2.0])),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        ({"a": 1}, {"a": 2}),
        (FedPD(0.1), FedPD(0.1, init_dual="zero")),
        (FedPD(0.1, p=every(2)), FedPD(0.1, p=every(3))),
    ]
    for one, other in pairs:
        assert fingerprint(one) != fingerprint(other)
        assert fingerprint(one) == fingerprint(one)
    assert fingerprint(FedPD(0.1, p=every(2))) == fingerprint(FedPD(0.1, p=every(2)))
    assert fingerprint(np.arange(6.0).reshape(2, 3).T) == fingerprint(np.arange(6.0).reshape(2, 3).T.copy())


def test_fingerprints_do_not_depend_on_where_code_lies_in_memory() -> None:
    """A function with an inner one has the same name in every process: its compiled code is read, not its address."""
    source = "lambda r: sum(map(lambda k: k + 1, range(r)))"
    one, other = (eval(source) for _ in range(2))
    assert fingerprint(Schedule(one)) == fingerprint(Schedule(other))

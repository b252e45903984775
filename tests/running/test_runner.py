"""The loop over rounds: what is measured, counted, noticed and told."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from helpers import (
    PROBLEMS,
    Counting,
    assert_equal_traces,
    assert_same,
    build,
    close,
    fields,
    for_every_method,
    play,
    problem,
    rows,
    start,
)

from fedtheory.algorithms import ALGORITHMS, FedAvg, FedPD, FedProx, FedSLR, GradientDescent, Scaffnew, Scaffold, every
from fedtheory.core.arrays import along_batch, average
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import All, Bernoulli, Clients, Fixed, Schedule, Uniform
from fedtheory.core.problem import gradient, objective
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.measures.catalogue import look_up
from fedtheory.measures.residuals import WithResiduals
from fedtheory.running import record
from fedtheory.running.results import Results
from fedtheory.running.runner import run
from fedtheory.tools import terminal
from problems.fedavg_divergence import fedavg_counterexample
from problems.quadratics import random_quadratics, scalar_quadratics

DESCENT = GradientDescent(0.5)
SCHEDULES = {
    "all": All(),
    "uniform": Uniform(2),
    "bernoulli": Bernoulli(0.5),
    "fixed": Fixed((0, 3)),
    "schedule": Schedule(lambda r: [r % 4, (r + 2) % 4]),
}


# ---- recording ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cadence", "expected"),
    [
        (1, [0, 1, 2, 3, 4, 5, 6, 7]),
        (3, [0, 3, 6, 7]),
        (np.int64(3), [0, 3, 6, 7]),
        (100, [0, 7]),
        ([2, 5], [0, 2, 5, 7]),
        ({5, 99}, [0, 5, 7]),
        (range(2, 4), [0, 2, 3, 7]),
    ],
    ids=str,
)
def test_start_and_end_are_always_measured(cadence, expected) -> None:
    f = problem("quadratics")
    trace = run(DESCENT, f, start(f), 7, every=cadence, metrics={"x": lambda _, state: state.x[..., 0, 0]})
    np.testing.assert_array_equal(trace.rounds, expected)
    states = play(DESCENT, f, start(f)[None, :], 7)
    np.testing.assert_array_equal(trace["x"], [states[r].x[0, 0] for r in expected])
    assert_same(trace.state, states[-1])


def test_what_sends_nothing_need_not_be_measured() -> None:
    f = problem("quadratics")
    method = Scaffnew(0.1, 0.2)
    whole = run(method, f, start(f), 40, seed=3)
    trace = run(method, f, start(f), 40, seed=3, every="sent")
    sends = np.flatnonzero(np.diff(whole.floats_up, prepend=-1.0) > 0)
    assert 3 < len(sends) < 20 and trace.rounds.tolist() == sorted({*sends.tolist(), 40})
    for name in ("floats_up", "floats_down"):
        assert getattr(trace, name).tolist() == getattr(whole, name)[trace.rounds].tolist()
    assert trace["stationarity"].tolist() == whole["stationarity"][trace.rounds].tolist()


def test_no_rounds_is_the_start() -> None:
    f = problem("quadratics")
    trace = run(DESCENT, f, start(f), 0)
    np.testing.assert_array_equal(trace.rounds, [0])
    assert trace.floats_up.tolist() == [0.0]


def test_a_minimiser_a_run_has_an_axis_for_clients() -> None:
    """Without it every run would be paired with every other one's minimiser."""
    with pytest.raises(InvalidInput, match=r"shape \(7, 3\); expected \(d,\), or \(\*batch, 1, d\)"):
        metrics.squared_distance(np.zeros((7, 3)))
    assert metrics.squared_distance(np.zeros((7, 1, 3))) and metrics.squared_distance(np.zeros(3))


def test_metrics_are_what_they_are_called() -> None:
    f = problem("quadratics")
    x_star, low = f.solution(), float(f.lower_bound().value)
    measured = {
        "stationarity": metrics.stationarity,
        "value": metrics.value,
        "gap": metrics.gap(low),
        "distance": metrics.squared_distance(x_star),
        "magnitude": metrics.magnitude,
        "consensus": metrics.consensus,
    }
    trace = run(FedPD(0.2, GradientSteps(2, 0.2)), f, start(f), 3, metrics=measured)
    state = trace.state
    x = state.x[0]
    assert trace["stationarity"][-1] == np.sum(gradient(f, state.x) ** 2)
    assert trace["value"][-1] == objective(f, state.x)
    assert trace["gap"][-1] == pytest.approx(trace["value"][-1] - low, rel=1e-14)
    assert trace["distance"][-1] == pytest.approx(np.sum((x - x_star) ** 2), rel=1e-14)
    assert trace["magnitude"][-1] == pytest.approx(x @ x, rel=1e-14)
    assert trace["consensus"][-1] == pytest.approx(np.mean(np.sum((state.x_i - x) ** 2, axis=-1)), rel=1e-14)


def test_traces_carry_the_batch_axes_of_the_run() -> None:
    """Also where all runs have something in common: floats, no divergence, seeds that a method does not use."""
    f = problem("quadratics")
    points = np.stack([start(f), 2 * start(f), 0 * start(f)])
    trace = run(DESCENT, f, points, 4)
    assert trace["stationarity"].shape == trace.floats_up.shape == trace.floats_down.shape == (3, 5)
    assert trace.diverged_at.shape == (3,) and not trace.diverged.any()
    trace = run(DESCENT, f, start(f), 4, seed=np.arange(2))
    assert trace["stationarity"].shape == (2, 5) and trace.diverged_at.shape == (2,)
    single = run(DESCENT, f, start(f), 4)
    assert single["stationarity"].shape == (5,) and single.diverged_at.shape == ()
    np.testing.assert_array_equal(trace["stationarity"], [single["stationarity"]] * 2)


def test_two_batch_axes_seeds_by_steps() -> None:
    f = problem("logistic")
    seeds, rates = np.array([[1], [2]]), [0.1, 0.2, 0.3]  # (2, 1) and (3,)
    trace = run(FedAvg(StochasticSteps(2, along_batch(rates), 2)), f, start(f), 3, seed=seeds)
    assert trace["stationarity"].shape == (2, 3, 4)
    for i, seed in enumerate([1, 2]):
        for j, lr in enumerate(rates):
            alone = run(FedAvg(StochasticSteps(2, lr, 2)), f, start(f), 3, seed=seed)
            np.testing.assert_allclose(trace["stationarity"][i, j], alone["stationarity"], rtol=1e-12)


def test_the_trace_says_what_was_run() -> None:
    f = problem("quadratics")
    info = run(DESCENT, f, start(f), 2, seed=[3, 4], participation=All()).info
    assert info["seed"] == [3, 4] and info["n"] == 4 and info["d"] == 3 and info["rounds"] == 2
    assert "GradientDescent(lr=0.5)" in info["algorithm"] and info["problem"] == f.name
    assert {"python", "numpy", "fedtheory"} <= info["versions"].keys()


# ---- bad input ----------------------------------------------------------------------------------------------------

F = random_quadratics(3, 2, seed=0)
BAD = {
    "length of x0": (
        lambda: run(DESCENT, F, np.ones(3), 2),
        r"x0 has shape \(3,\); expected an array \(d,\) .* with d = 2",
    ),
    "list as x0": (lambda: run(DESCENT, F, [1.0, 2.0], 2), "x0 is a list; expected an array"),
    "number of NumPy as x0": (lambda: run(DESCENT, F, np.array(1.0), 2), "x0 is a single number; expected an array"),
    "words in x0": (
        lambda: run(DESCENT, F, np.array(["a", "b"]), 2),
        "x0 is an array of <U1; expected .* real numbers",
    ),
    "no rows of x0": (lambda: run(DESCENT, F, np.ones((0, 2)), 2), r"x0 has shape \(0, 2\); expected"),
    "number as x0": (lambda: run(DESCENT, F, 1.0, 2), "x0 is a float; expected an array"),
    "NaN in x0": (lambda: run(DESCENT, F, np.array([1, np.nan]), 2), "NaN or infinite"),
    "rounds": (lambda: run(DESCENT, F, np.ones(2), -1), "rounds must be a whole number and not negative, got -1"),
    "half a round": (lambda: run(DESCENT, F, np.ones(2), 1.5), "rounds must be a whole number"),
    "cadence": (lambda: run(DESCENT, F, np.ones(2), 2, every=0), "every must be at least 1"),
    "half a cadence": (lambda: run(DESCENT, F, np.ones(2), 2, every=2.5), "a collection of rounds or 'sent', got 2.5"),
    "words for rounds": (lambda: run(DESCENT, F, np.ones(2), 2, every=["a"]), r"rounds or 'sent', got \['a'\]"),
    "word for a cadence": (lambda: run(DESCENT, F, np.ones(2), 2, every="send"), "or 'sent', got 'send'"),
    "seed": (lambda: run(DESCENT, F, np.ones(2), 2, seed=-1), "seeds must be non-negative integers"),
    "half a seed": (lambda: run(DESCENT, F, np.ones(2), 2, seed=0.5), "seeds must be non-negative integers"),
    "too many clients": (
        lambda: run(FedAvg(GradientSteps(1, 0.1)), F, np.ones(2), 2, participation=Uniform(4)),
        "cannot draw m=4 of n=3 clients",
    ),
    "among more clients than there are": (
        lambda: run(FedAvg(GradientSteps(1, 0.1)), F, np.ones(2), 2, participation=Uniform(2, among=4)),
        "to be drawn among the first 4, and there are n=3; choose among <= n",
    ),
    "probability": (
        lambda: run(FedAvg(GradientSteps(1, 0.1)), F, np.ones(2), 2, participation=Bernoulli(0)),
        r"q=0 is outside \(0, 1\]",
    ),
    "repeated client": (
        lambda: run(FedAvg(GradientSteps(1, 0.1)), F, np.ones(2), 2, participation=Fixed((1, 1))),
        r"\[1, 1\] are not distinct numbers from 0 to 2",
    ),
    "no client": (
        lambda: run(FedAvg(GradientSteps(1, 0.1)), F, np.ones(2), 2, participation=Schedule(lambda r: [])),
        "at least one of them",
    ),
    "steps a client": (
        lambda: run(FedAvg(GradientSteps(np.array([1, 2]), 0.1)), F, np.ones(2), 2),
        r"steps has shape \(2,\); expected a number or one a client, shape \(3,\)",
    ),
    "shape of lr": (
        lambda: run(GradientDescent(np.array([0.1, 0.2])), F, np.ones(2), 2),
        r"lr has shape \(2,\); expected a number or an array \(\*batch, 1, 1\), which .*along_batch",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_what_was_expected(name) -> None:
    call, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        call()


def test_a_folder_of_results_holds_one_run(tmp_path) -> None:
    results = Results(tmp_path, {"rounds": 2})
    batch = run(GradientDescent(along_batch([0.1, 0.2])), F, np.ones(2), 2, metrics={"f": metrics.value})
    with pytest.raises(InvalidInput, match="a folder of results holds one run, not a batch; give every run a folder"):
        results.table(batch)
    assert not (tmp_path / "metrics.csv").exists()
    one = run(GradientDescent(0.2), F, np.ones(2), 2, metrics={"f": metrics.value})
    results.table(one)
    written = np.genfromtxt(tmp_path / "metrics.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(written["f"], one["f"])
    np.testing.assert_array_equal(one["f"], batch["f"][1])


def test_what_a_problem_cannot_do_is_named() -> None:
    with pytest.raises(
        NotAvailable,
        match=r"StochasticSteps needs 'sample_grad' \(gradients of minibatches.*it gives value, grad, prox",
    ):
        run(FedAvg(StochasticSteps(1, 0.1, 1)), F, np.ones(2), 1)
    with pytest.raises(NotAvailable, match="needs a quadratic term"):
        run(FedAvg(Exact()), F, np.ones(2), 1)
    with pytest.raises(NotAvailable, match="an exact local solve needs 'hess'"):
        run(FedPD(0.1), PROBLEMS["zero-chain"](), np.ones(4), 1)


def test_mixed_libraries_are_refused() -> None:
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(InvalidInput, match=r"different libraries were mixed \(array_api_strict, numpy\)"):
        run(DESCENT, F, strict.asarray([1.0, 2.0]), 1)


# ---- participation ------------------------------------------------------------------------------------------------


def masked_fedavg(f, x, active, lr, steps):
    """All n clients work, a mask chooses whose answers count."""
    answers = np.broadcast_to(x, (f.n, f.d))
    for _ in range(steps):
        answers = answers - lr * f.grad(answers)
    return (active[:, None] * answers).sum(axis=0, keepdims=True) / active.sum()


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("problem_name", ["quadratics", "logistic", "sines"])
def test_partial_participation_is_a_masked_run(name, problem_name) -> None:
    from fedtheory.core.randomness import Key

    f, schedule = problem(problem_name), SCHEDULES[name]
    x = start(f)[None, :]
    trace = run(
        FedAvg(GradientSteps(2, 0.1)),
        f,
        start(f),
        8,
        participation=schedule,
        seed=3,
        metrics={"x": lambda _, s: s.x[0, 0]},
    )
    for r in range(8):
        clients = schedule.draw(f.n, Key(3, r))
        active = np.ones(f.n) if clients is None else clients.positions[1].astype(float)
        if active.sum() > 0:
            x = masked_fedavg(f, x, active, 0.1, 2)
        assert trace["x"][r + 1] == pytest.approx(x[0, 0], rel=1e-13)
    if name == "bernoulli":  # the case that matters occurs: rounds with fewer clients, and at least one without any
        counts = [schedule.draw(f.n, Key(s, r)).count() for s in range(8) for r in range(8)]
        assert min(counts) == 0 and len(set(map(int, counts))) > 2


def under_schedules() -> list[tuple]:
    """Every case with three schedules in turn, so that a method meets all of them."""
    names, turn, found = list(SCHEDULES), Counter(), []
    for (case,) in rows(
        lambda c: c.entry.partial and c.problem_name in ("quadratics", "logistic") and c.kind != "exact"
    ):
        for _ in range(3):
            found.append((case, names[turn[case.entry.name] % len(names)]))
            turn[case.entry.name] += 1
    assert min(turn.values()) >= len(names)
    return found


@for_every_method(under_schedules())
def test_seeds_as_a_batch_are_single_runs_under_every_schedule(case, name) -> None:
    """Each row has its own clients and its own samples."""
    f, seeds = case.problem, np.array([5, 2, 9])
    together = run(case.algorithm(), f, start(f), 5, participation=SCHEDULES[name], seed=seeds)
    for k in (0, 2):
        alone = run(case.algorithm(), f, start(f), 5, participation=SCHEDULES[name], seed=int(seeds[k]))
        # padded rows change the order of summation, nothing else
        np.testing.assert_allclose(together["stationarity"][k], alone["stationarity"], rtol=1e-11, atol=1e-26)
        np.testing.assert_array_equal(together.floats_up[k], alone.floats_up)
        for field, value in fields(alone.state).items():
            found = fields(together.state)[field]
            close(np.broadcast_to(found, (3, *value.shape))[k], value, 1e-12, field)


@pytest.mark.parametrize("algorithm", [FedAvg(GradientSteps(2, 0.1)), Scaffold(GradientSteps(2, 0.1)), FedProx(1.0)])
def test_a_round_that_nobody_joins_changes_nothing(algorithm) -> None:
    """Bit for bit, and nothing is sent; the other runs of the batch go on."""
    from fedtheory.core.randomness import Key

    f, schedule = problem("quadratics"), Bernoulli(0.3)
    seed = next(
        s for s in range(100) if schedule.draw(f.n, Key(s, 1)).count() == 0 < schedule.draw(f.n, Key(s, 0)).count()
    )
    other = next(
        s for s in range(100) if schedule.draw(f.n, Key(s, 1)).count() > 0 < schedule.draw(f.n, Key(s, 0)).count()
    )
    before, after = (
        run(algorithm, f, start(f), rounds, participation=schedule, seed=[seed, other]) for rounds in (1, 2)
    )
    for field, value in fields(after.state).items():
        np.testing.assert_array_equal(value[0], fields(before.state)[field][0])
    assert np.abs(after.state.x[1] - before.state.x[1]).max() > 1e-6
    assert after.floats_up[0, 2] == after.floats_up[0, 1] and after.floats_up[1, 2] > after.floats_up[1, 1]


def test_clients_that_never_come_keep_their_state() -> None:
    f = problem("quadratics")
    trace = run(Scaffold(GradientSteps(2, 0.1)), f, start(f), 5, participation=Fixed((1, 3)))
    np.testing.assert_array_equal(trace.state.c_i[[0, 2]], 0)
    assert np.abs(trace.state.c_i[[1, 3]]).min() > 0


#: gradients a client takes in a round of three local steps: a second model has steps of its own, a meta-gradient is two or four gradients
#: and adapting one more, masks move along one more, an ascent before each step is one more, an exchanged gradient is one more
GRADIENTS = {
    **dict.fromkeys(("fedavg", "fedprox", "scaffold", "fedcm", "fedadmm", "feddyn", "feddr", "a-fedpd"), 3),
    "feddane": 4,
    "5gcs": 4,
    "fedslr": 6,
    "ditto": 6,
    "apfl": 6,
    "fedrep": 6,
    "per-fedavg-fo": 7,
    "per-fedavg-hf": 13,
    "fedspa": 4,
    "fedsam": 6,
    "scaffold-gradient": 4,
}
GRADIENTS |= {"fedspeed": 6, "fedspeed-active": 6, "a-fedpdsam": 6}


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if e.partial and not e.needs], ids=lambda e: e.name)
@pytest.mark.parametrize("batch", [None, 2])
def test_work_is_in_proportion_to_the_active_clients(entry, batch) -> None:
    """A round with m = 2 clients takes the gradients of two, and as many, whatever n is; the start may see everyone."""
    taken = []
    for n in (4, 40):
        f = Counting(PROBLEMS["penalised-logistic"]() if n == 4 else _many(n))
        algorithm = build(entry, lr=0.1, steps=3, batch=batch, rho=1.0)
        algorithm.init(f, start(f)[None])
        first = len(f.seen)
        f.seen.clear()
        run(algorithm, f, start(f), 5, participation=Uniform(2), metrics={})
        assert max(f.seen[first:]) == 2
        taken.append(sum(f.seen[first:]) / (5 * 2))
    assert taken[0] == taken[1] == GRADIENTS.get(entry.name, taken[0])


def _many(n):
    from problems.logistic import fedpd_synthetic

    return fedpd_synthetic("weak", n=n, samples=6, d=3)


# ---- traffic ------------------------------------------------------------------------------------------------------


def test_floats_are_counted_over_the_clients_that_take_part() -> None:
    f = problem("quadratics")  # n = 4, d = 3
    assert run(DESCENT, f, start(f), 5).floats_up.tolist() == [0, 12, 24, 36, 48, 60]
    trace = run(Scaffold(GradientSteps(1, 0.1)), f, start(f), 2, participation=Uniform(3))
    assert trace.floats_up.tolist() == trace.floats_down.tolist() == [0, 2 * 3 * 3, 4 * 3 * 3]
    trace = run(
        FedAvg(GradientSteps(1, 0.1)), f, start(f), 30, participation=Bernoulli(0.5), every=30, seed=np.arange(4)
    )
    assert len(set(trace.floats_up[:, -1])) > 1, "rows differ in how many came"


def test_what_is_exchanged_before_the_first_round_is_counted_once(tmp_path) -> None:
    """Over all clients, also where few take part; a resumed run does not count it again, and residuals do not hide it."""
    f, three = problem("quadratics"), Uniform(3)  # n = 4, d = 3
    method = FedSLR(0.3)
    whole = run(method, f, start(f), 4, participation=three)
    assert whole.floats_up.tolist() == [12, 21, 30, 39, 48] and whole.floats_down.tolist() == [0, 9, 18, 27, 36]
    kept = tmp_path / "run.npz"
    run(method, f, start(f), 4, participation=three, checkpoint=kept)
    again = run(method, f, start(f), 4, participation=three, checkpoint=kept)
    np.testing.assert_array_equal(again.floats_up, whole.floats_up)
    watched = run(WithResiduals(method), f, start(f), 4, participation=three)
    np.testing.assert_array_equal(watched.floats_up, whole.floats_up)


def test_skipped_rounds_send_nothing() -> None:
    f = problem("quadratics")
    trace = run(FedPD(0.1, p=every(3)), f, start(f), 7)
    assert trace.floats_up.tolist() == [0, 0, 0, 12, 12, 12, 24, 24]
    # p random: the floats follow the very coins of the run
    from fedtheory.core.randomness import Key

    algorithm = FedPD(0.1, p=0.5)
    trace = run(algorithm, f, start(f), 20, seed=np.array([1, 2]))
    for k, seed in enumerate([1, 2]):
        coins = [bool(Key(seed, r).coin("communicate", 0.5)) for r in range(20)]
        np.testing.assert_array_equal(np.diff(trace.floats_up[k]), 12.0 * np.array(coins))
    assert run(FedPD(along_batch([0.1, 0.2]), p=along_batch([0.0, 0.9])), f, start(f), 9).floats_up[0, -1] == 9 * 12


# ---- divergence ---------------------------------------------------------------------------------------------------


def test_divergence_is_recorded_with_its_round() -> None:
    """x^r = 2.2337946^r: past 1e100 after ceil(100 ln 10 / ln m) rounds; metrics are infinite from there."""
    m = ((1 - 0.2) ** 8 + (1 + 0.2) ** 8) / 2
    expected = int(np.ceil(100 * np.log(10) / np.log(m)))
    trace = run(
        FedAvg(GradientSteps(8, 0.1)), fedavg_counterexample(), np.ones(1), 400, metrics={"x": metrics.magnitude}
    )
    assert int(trace.diverged_at) == expected and bool(trace.diverged)
    assert np.isfinite(trace["x"][:expected]).all() and np.isinf(trace["x"][expected:]).all()
    np.testing.assert_array_equal(trace.rounds, np.arange(401))
    assert abs(trace.state.x[0, 0]) <= record.DIVERGED_ABOVE, "the last finite state is kept"
    assert trace.state.x[0, 0] == pytest.approx(m ** (expected - 1), rel=1e-11)


@pytest.mark.parametrize("bad", [10.0, 1e200, 1e308])
def test_other_runs_of_the_batch_are_undisturbed(bad) -> None:
    """Bit for bit, whether the diverging run grows slowly, overflows in a round, or turns into NaN."""
    f = problem("indefinite")
    rates = [0.3, bad, 0.1]
    with_bad = run(FedAvg(GradientSteps(3, along_batch(rates))), f, start(f), 200)
    np.testing.assert_array_equal(with_bad.diverged, [False, True, False])
    alone = run(FedAvg(GradientSteps(3, bad)), f, start(f), 200)
    assert int(with_bad.diverged_at[1]) == int(alone.diverged_at), "the first round counts"
    without = run(FedAvg(GradientSteps(3, along_batch([0.3, 0.2, 0.1]))), f, start(f), 200)
    for k in (0, 2):
        np.testing.assert_array_equal(with_bad["stationarity"][k], without["stationarity"][k])
        np.testing.assert_array_equal(with_bad.state.x[k], without.state.x[k])
    assert np.isfinite(with_bad.state.x).all()
    assert np.isinf(with_bad["stationarity"][1, with_bad.diverged_at[1] :]).all()


def test_a_diverged_run_sends_nothing_more() -> None:
    """As when it runs alone and stops; the round that led out of all bounds is counted."""
    f = problem("quadratics")
    together = run(FedAvg(GradientSteps(2, along_batch([0.1, 1e60]))), f, start(f), 6)
    alone = run(FedAvg(GradientSteps(2, 1e60)), f, start(f), 6)
    assert alone.floats_up.tolist() == [0] + [12 * int(alone.diverged_at)] * 6
    np.testing.assert_array_equal(together.floats_up, [12 * np.arange(7), alone.floats_up])
    np.testing.assert_array_equal(together.floats_down[1], alone.floats_down)


def test_a_run_stops_when_all_have_diverged() -> None:
    calls = []

    def count(f, state):
        calls.append(1)
        return metrics.magnitude(f, state)

    f = Counting(fedavg_counterexample())
    trace = run(FedAvg(GradientSteps(2, 1e80)), f, np.ones(1), 10**6, metrics={"x": count}, every=10**5)
    assert int(trace.diverged_at) == 1 and len(f.seen) == 2
    np.testing.assert_array_equal(trace.rounds, np.arange(0, 10**6 + 1, 10**5))
    assert np.isinf(trace["x"][1:]).all()


# ---- progress -----------------------------------------------------------------------------------------------------


def test_progress_appears_late_and_changes_nothing(monkeypatch, capsys) -> None:
    f = problem("quadratics")
    quiet = run(DESCENT, f, start(f), 5, progress=False)
    assert capsys.readouterr().err == ""
    run(DESCENT, f, start(f), 5, progress=True)
    assert capsys.readouterr().err == "", "a short run shows none"
    monkeypatch.setattr(terminal, "LATE_SECONDS", -1)
    shown = run(DESCENT, f, start(f), 5, progress=True)
    assert "5/5" in capsys.readouterr().err
    assert_equal_traces(shown, quiet)


def test_a_problem_of_ones_own_needs_value_grad_and_take() -> None:
    class Mine:
        name, n, d = "mine", 2, 1

        def value(self, x):
            return (x[..., 0] ** 2) * np.array([1.0, 2.0])

        def grad(self, x):
            return 2 * x * np.array([[1.0], [2.0]])

        def take(self, clients: Clients | None):
            assert clients is None
            return self

    trace = run(GradientDescent(0.25), Mine(), np.ones(1), 3, metrics={"x": lambda _, s: s.x[0, 0]})
    np.testing.assert_allclose(trace["x"], 0.25 ** np.arange(4), rtol=1e-15)  # f = 3 x^2/2: factor 1 - 3/4


def test_averages_run_over_clients_only() -> None:
    f = scalar_quadratics(np.ones((5, 3)))
    close(average(f.b), np.mean(f.b, axis=-2, keepdims=True), 1e-15)


# ---- what is asked for by mistake --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (lambda f, x: run(f, DESCENT, x, 1), "exchanged"),
        (
            lambda f, x: run(GradientDescent, f, x, 1),
            r"the class GradientDescent; expected .* GradientDescent\(\.\.\.\)",
        ),
        (lambda f, x: run(DESCENT, type(f), x, 1), "the problem is the class Quadratic; expected an instance"),
        (lambda f, x: run(DESCENT, f, x, 1, metrics={"gap": "gap"}), "the metric 'gap' is 'gap'; expected a function"),
        (lambda f, x: run(3, f, x, 1), "int is no method: it has no 'round'"),
        (lambda f, x: run(DESCENT, f, x + 1j, 1), "complex"),
        (lambda f, x: run(DESCENT, f, np.array([1j] * f.d, dtype=object), 1), "objects that are no real"),
        (lambda f, x: run(DESCENT, f, np.full(x.shape, None), 1), "objects that are no real numbers"),
        (
            lambda f, x: run(DESCENT, f, x, 1)["stationary"],
            "'stationary' was not measured .* did you mean stationarity",
        ),
        (
            lambda f, x: run(DESCENT, f, x, 1, metrics=["distence"]),
            r"unknown metric 'distence'; did you mean distance\?",
        ),
        (
            lambda f, x: run(DESCENT, f, x, 1, metrics=[max]),
            "a metric in a list is a name of the catalogue, such as 'gap'",
        ),
        (
            lambda f, x: run(DESCENT, f, x, 1, metrics=max),
            r"metrics are a list of names, such as \['gap'\], or a mapping",
        ),
        (lambda f, x: run(DESCENT, f, x, 10**12), "needs about .* GiB .*--every"),
    ],
    ids=[
        "exchanged",
        "class",
        "class of problems",
        "no function",
        "no method",
        "complex",
        "complex objects",
        "objects",
        "not measured",
        "no metric",
        "function",
        "function alone",
        "too many rounds",
    ],
)
def test_a_mistake_is_named_before_anything_runs(asked, told: str) -> None:
    f = problem("quadratics")
    with pytest.raises(InvalidInput, match=told):
        asked(f, np.ones(f.d))


def test_metrics_are_asked_for_by_name() -> None:
    f = problem("quadratics")
    named = run(DESCENT, f, np.ones(f.d), 5, metrics=["gap", "distance"])
    own = {name: look_up(name).on(f) for name in named.metrics}
    assert_equal_traces(named, run(DESCENT, f, np.ones(f.d), 5, metrics=own))

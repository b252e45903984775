"""FedPD's character recognition: verdicts at laptop size, runs at three sizes, samples that are counted, the paper's numbers."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from made_up_runs import made_up

from fedtheory.algorithms import FedAvg, FedPD, FedProx, every, listed
from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context, Size
from fedtheory.claims.experiments import Repeated, Training, list_runs
from fedtheory.claims.logs import Log
from fedtheory.claims.orderings import alike
from fedtheory.claims.references import Reference
from fedtheory.core.errors import InvalidInput
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stochastic import StochasticSteps, VarianceReduced
from fedtheory.running.families import build_problem, make_first_model
from fedtheory.running.runner import run
from paper_checks.fedpd import character_runs as runs
from paper_checks.fedpd.appendix_d_character_recognition import CLAIMS
from paper_checks.fedpd.protocol import PROTOCOL
from paper_checks.fedpd.section_4_1_b_theorem_2 import CountedSamples

SIZES = get_args(Size)
SOURCE = "paper_checks.fedpd.appendix_d_character_recognition"
DATA = os.environ.get("FEDTHEORY_DATA")
EXPECTED = {
    row["id"]: row["status"]
    for row in json.loads((Path(__file__).resolve().parents[2] / "paper_checks" / "expected.json").read_text())[
        "verdicts"
    ]
}


def test_small_size_without_data_says_what_is_missing(monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    verdict = check_one(Reference(SOURCE, "FEDPD-EX9"), Context(size="small"))
    assert verdict.status == "inconclusive" and "emnist" in str(verdict.error).lower()
    assert "--data" in str(verdict.error) or "FEDTHEORY_DATA" in str(verdict.error)


# ---- runs ----------------------------------------------------------------------------------------------------------


def every_run(ctx: Context) -> list[Training]:
    """All runs that do not depend on others; the judged ones with a tuned step do."""
    needs = [need for claim in CLAIMS for need in claim.needs(ctx)]
    tuned = {need.name for need in needs if isinstance(need, runs.TunedRuns)}
    grids = [training for name in tuned for training in list_runs(runs.tuning(ctx, name).values())]
    return grids + [need for need in needs if isinstance(need, Training)]


def test_a_step_is_the_one_with_the_least_loss(monkeypatch) -> None:
    losses = {0.001: 0.3, 0.003: 0.2, 0.01: np.inf}

    def made(self, ctx):
        assert self.seed == 99
        loss = losses[self.settings["lr"]]
        return Log({"round": np.array([0.0, 1.0]), "value": np.array([1.0, loss])}, 1.0)

    monkeypatch.setattr(Training, "read", made)
    assert runs.tuned(Context(), "FedAvg") == 0.003


@pytest.mark.parametrize("size", SIZES)
def test_every_size_can_be_asked_for(size) -> None:
    ctx = Context(size=size)
    asked = every_run(ctx)
    assert {need.problem for need in asked} == {runs.scale(ctx).problem}
    assert {need.seed for need in asked} == {99, *PROTOCOL.judged(ctx)}, "steps are tuned on a seed that is not judged"
    shifted = every_run(replace(ctx, seed=1))
    assert not {need.key for need in asked} & {need.key for need in shifted}
    s = runs.scale(ctx)
    for mark in (s.rounds // 10, s.rounds // 4, s.rounds // 2, s.rounds):  # what tables and EX12 read was measured
        assert mark % s.every == 0


def test_paper_size_is_the_papers() -> None:
    ctx = Context(size="paper")
    t = runs.trained(ctx, "FedPD every 4th").trainings[0]
    assert (t.problem, t.rounds, t.options["clients"], t.participants) == ("emnist-letters-cnn", 1000, 90, None)
    assert t.settings == {"lr": 0.01, "eta": 1.0, "init_dual": "zero", "communicate_every": 4, "steps": 300, "batch": 2}
    assert runs.trained(ctx, "FedAvg 0.001").trainings[0].settings["lr"] == 0.001
    assert runs.trained(ctx, "FedProx").trainings[0].settings["rho"] == 1.0
    assert runs.half(ctx, "FedPD p = 0.5").trainings[0].settings["steps"] == 20
    steps = {name: runs.counted(ctx, name).trainings[0].settings["steps"] for name in runs.COUNTED_METHODS}
    assert steps == {"FedPD-VR": 2, "FedProx-VR": 20, "FedAvg-GD": 8}
    assert runs.counted(ctx, "FedPD-VR").trainings[0].settings["period"] == 20


def test_paper_runs_of_fig_3a_end_where_its_curves_do() -> None:
    ctx = Context(size="paper")
    for name, (_, samples) in runs.FIGURE_3A.items():
        [t, *_] = runs.counted(ctx, name).trainings
        assert float(runs.sample_gradients(t, t.rounds, runs.scale(ctx))) == pytest.approx(samples, rel=0.1)


def test_settings_build_the_methods_that_are_meant() -> None:
    def built(t: Training) -> object:
        return listed(t.method).build(**t.settings)

    ctx, fast = Context(), StochasticSteps(100, 0.01, 2)
    for name, method in {
        "FedAvg 0.001": FedAvg(StochasticSteps(100, 0.001, 2)),
        "FedProx": FedProx(1.0, fast),
        "FedPD": FedPD(1.0, fast, init_dual="zero"),
        "FedPD every 2nd": FedPD(1.0, fast, every(2), "zero"),
    }.items():
        assert built(runs.trained(ctx, name).trainings[0]) == method, name
    for name, method in {
        "FedPD-VR": FedPD(0.1, VarianceReduced(2, 0.1 * 0.4 / (0.1 + 0.4), 2, 5), init_dual="zero"),
        "FedProx-VR": FedProx(1.0, VarianceReduced(20, 0.1, 2, 1)),
        "FedAvg-GD": FedAvg(GradientSteps(8, 0.1)),
    }.items():
        assert built(runs.counted(ctx, name).trainings[0]) == method, name


def test_skipping_is_random_or_in_a_rhythm() -> None:
    for name in ("fedpd", "fedpd-vr"):
        with pytest.raises(InvalidInput, match=r"random or in a fixed rhythm, got p = 0.5 and communicate_every = 2"):
            listed(name).build(p=0.5, communicate_every=2)
        with pytest.raises(InvalidInput, match="communicate_every must be a whole number of at least 1"):
            listed(name).build(communicate_every=0)


@pytest.mark.parametrize("name", runs.COUNTED_METHODS)
def test_sample_gradients_are_counted_exactly(name) -> None:
    """The formula against the gradients that a run takes through a problem that counts."""
    t = runs.counted(Context(), name).trainings[0]
    problem = build_problem(t.problem, **t.options, seed=t.seed)
    assert int(problem.n_samples.sum()) == runs.SCALES["laptop"].samples
    method, x0 = listed(t.method).build(**t.settings), make_first_model(problem, t.start, t.seed)
    for rounds in (0, 1, 5, 6, 7):
        watched = CountedSamples(problem)
        run(method, watched, x0, rounds, seed=t.seed, metrics={}, progress=False)
        assert watched.samples == runs.sample_gradients(t, rounds, runs.SCALES["laptop"])


def test_samples_to_the_goal_of_runs_that_do_not_reach_it() -> None:
    s = runs.SCALES["laptop"]
    logs = [Log({"round": np.arange(3.0), "test_accuracy": np.array(a)}, 1.0) for a in ([0, 0.95, 0.96], [0, 0.1, 0.2])]
    group = Repeated(tuple(replace(t, rounds=2) for t in runs.counted(Context(), "FedAvg-GD").trainings[:2]))
    samples, reached = runs.to_goal(group, logs, s)
    assert samples.tolist() == [8 * 1400, 2 * 8 * 1400] and reached.tolist() == [True, False]


@pytest.mark.data
@pytest.mark.torch
def test_one_round_at_small_size(tmp_path) -> None:
    ctx = Context(size="small", data=DATA, results=str(tmp_path))
    t = runs.trained(ctx, "FedPD every 2nd").trainings[0]
    short = replace(t, rounds=1, metrics=("value",), settings=t.settings | {"steps": 2})
    found = short.read(ctx)
    assert np.isfinite(found["value"]).all() and found["floats_up"].tolist() == [0, 0]
    summary = json.loads((tmp_path / short.key / "summary.json").read_text())
    assert summary["n"] == 20 and "Every(rounds=2)" in summary["algorithm"]


@pytest.mark.data
@pytest.mark.torch
def test_the_network_at_paper_size() -> None:
    """The LEAF CNN with 26 outputs instead of 62 (6 603 710 parameters then), on 90 clients of 300 images."""
    t = runs.trained(Context(size="paper"), "FedPD").trainings[0]
    problem = build_problem(t.problem, **t.options, data=DATA, seed=0)
    assert problem.d == 6_603_710 - (62 - 26) * 2049 and problem.n_samples.tolist() == [300] * 90
    assert problem.n_samples.sum() == runs.SCALES["paper"].samples


# ---- the paper's numbers -------------------------------------------------------------------------------------------


def test_readings_of_the_figures() -> None:
    assert runs.FIGURE_3A["FedPD-VR"] == (0.664, 3.2e6) and runs.FIGURE_3A["FedAvg-GD"] == (0.613, 2.91e7)
    assert runs.FIGURE_3B["FedPD"][372] == 0.288 and runs.FIGURE_3B["FedPD p = 0.5"][271] == 0.398
    assert runs.FIGURES_4_5["FedPD"][990] == (30.0, 0.962, 9.9, 0.893)
    assert runs.FIGURES_4_5["FedProx"][250] == (88, 0.884, 14.1, 0.846)
    assert runs.FIGURES_4_5["FedAvg 0.001"][500] == (100, 0.871, 15.6, 0.833)
    assert runs.FIGURES_4_5["FedPD every 2nd"][495] == (38.6, 0.946, 12.9, 0.875)
    assert runs.FIGURES_4_5["FedPD every 4th"][248] == (52.5, 0.925, 15.3, 0.867)


def test_tables_have_them_beside_ours(monkeypatch) -> None:
    monkeypatch.setattr(Training, "read", made_up)
    [_, table] = check_one(Reference(SOURCE, "FEDPD-EX9"), Context()).tables
    rows = {(row[0], row[1]): row[2:] for row in table["rows"]}
    assert rows["FedPD", "test accuracy"][::2] == [0.792, 0.859, 0.885, 0.893]
    assert rows["FedPD", "training accuracy"][1::2] == [None] * 4
    ours = [float(entry.split()[0]) for entry in rows["FedPD", "training loss"][1::2]]
    assert ours == sorted(ours, reverse=True) and 0 < ours[-1] < 1
    [skipping] = check_one(Reference(SOURCE, "FEDPD-EX12"), Context()).tables
    rows = {(row[0], row[1]): row[2:] for row in skipping["rows"]}
    assert rows["FedPD every 4th", "training loss"][::2] == [90, 52.5, None, 52.5]
    assert rows["FedPD every 4th", "training loss"][5] is None, "no T/2 communications every 4th round"
    assert rows["FedPD every 2nd", "training loss"][5] == rows["FedPD every 2nd", "training loss"][7]


# ---- what the frame gained -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        ([1.0, 1.1, 0.9], [1.2, 1.3, 1.15], True),
        ([1.0, 1.1, 0.9], [3.2, 3.3, 3.1], False),
        ([3.2, 3.3, 3.1], [1.0, 1.1, 0.9], False),
        ([1.0, 1.1, 0.9], [2.0, 1.7, 2.2], None),
        ([1.0, np.nan, 0.9], [1.0, 1.0, 1.0], None),
    ],
)
def test_likeness_holds_fails_or_is_undecided(first, second, holds) -> None:
    part = alike("it", first, second, "a beside b", within=1.0)
    assert part.holds is holds
    assert part.margin is None or (part.margin > 0) is (holds is True)


def test_a_metric_at_a_round() -> None:
    log = Log({"round": np.array([0.0, 2.0, 4.0]), "a": np.array([1.0, 0.5, np.inf])}, 1.0)
    assert log.at("a", 2) == 0.5 and np.isnan(log.at("a", 4))
    with pytest.raises(InvalidInput, match="a was not measured after round 3"):
        log.at("a", 3)

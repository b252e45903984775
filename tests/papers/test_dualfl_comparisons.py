"""DualFL's comparisons and experiments: a replay, what runs are made of, the measurements behind Table 1."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from fedtheory.algorithms import listed
from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context, Size
from fedtheory.claims.experiments import Log
from fedtheory.claims.references import Reference
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from fedtheory.core.errors import InvalidInput
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.stopping import EnergyChange
from fedtheory.measures.metrics import stationarity, value
from fedtheory.running.families import build_problem
from fedtheory.running.runner import run
from paper_checks.dualfl import acceleration, bounds, runs
from paper_checks.dualfl.certified_runs import bound_n2
from paper_checks.dualfl.protocol import PROTOCOL
from paper_checks.dualfl.runs import OTHERS
from paper_checks.dualfl.section_3_2_b_theorem_3_3 import gap_curves
from paper_checks.dualfl.section_8_conclusion import check_x4
from problems.chains import nesterov_chain

SOURCE = "paper_checks.dualfl"


def test_the_infinite_gap_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedtheory.claims import replay

    monkeypatch.setattr(replay, "find_papers", lambda: {"dualfl": SOURCE})
    (written,) = write_counterexamples([check_one(Reference(SOURCE, "DUALFL-C2"), Context())], tmp_path)
    assert replay_file(written).confirmed
    stored = json.loads(written.read_text())
    stored["instance"]["nu"] = "3/2"  # above mu
    written.write_text(json.dumps(stored))
    assert not replay_file(written).confirmed


# ---- what runs are made of ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", get_args(Size))
@pytest.mark.parametrize("study", runs.STUDIES, ids=lambda study: study.name)
def test_every_run_can_be_described_at_every_size(size, study) -> None:
    context = Context(size=size)
    scale = study.at(context)
    draws = len(PROTOCOL.judged(context))
    assert scale.clients == 8 and draws == 10
    for name, bench in runs.BENCHMARKS.items():
        groups = runs.tuning_runs(context, scale, name)
        assert len(groups) == len(bench.candidates(scale)) >= 3
        tuned = {training.seed for group in groups for training in group.trainings}
        judged = runs.judged(context, scale, name, bench.candidates(scale)[0]).trainings
        assert len(judged) == draws and not tuned & {training.seed for training in judged}
        for group in groups:
            training = group.trainings[0]
            method = listed(training.method).build(**training.settings)
            if "accuracy" in training.settings:
                assert method.local.stop == EnergyChange(1e-12)  # the paper's rule
            assert training.options["l2"] == 1e-2 and training.start == 0.0
            assert training.rounds == (
                round(2 * scale.rounds / method.p)
                if hasattr(method, "p") and training.method == "scaffnew"
                else scale.rounds
            )


def test_the_papers_own_size() -> None:
    for study, images in zip(runs.STUDIES, ("mnist-softmax", "cifar10-softmax"), strict=True):
        scale = study.at(Context(size="paper"))
        assert (scale.family, scale.samples) == (images, None)
        assert "samples_per_client" not in runs.options(scale, 8)


@pytest.mark.parametrize("name", runs.BENCHMARKS)
def test_coordinates_of_the_span_change_no_iterates(name) -> None:
    """Of any method of Table 2: to rounding with fixed local work; nearly with the paper's rule, where rounding may decide on a step."""
    asked = {"clients": 4, "split": "iid", "l2": runs.MU, "bias": 1.0, "samples_per_client": 6, "seed": 3}
    whole, reduced = (build_problem("digits-softmax", **asked, coordinates=c) for c in ("all", "span"))
    assert whole.inputs == 65 and reduced.inputs == 24
    scale = runs.MNIST.at(Context())
    metrics = {"f": value, "g": stationarity, "x": lambda _, state: (state.x**2).sum(axis=(-1, -2))}
    for settings in runs.BENCHMARKS[name].candidates(scale):
        printed = listed(runs.BENCHMARKS[name].method).build(**settings)
        fixed = replace(printed, local=GradientSteps(30, 0.2)) if hasattr(printed, "local") else printed
        for method, read, allowed in ((fixed, metrics, 1e-10), (printed, ["f"], 1e-6)):
            one, other = (
                run(method, f, np.zeros(f.d), 8, seed=5, metrics=metrics, every="sent") for f in (whole, reduced)
            )
            assert one.rounds.tolist() == other.rounds.tolist()
            for measured in read:
                assert one[measured] == pytest.approx(other[measured], rel=allowed, abs=1e-13)


def test_the_span_is_not_for_samples_of_others() -> None:
    with pytest.raises(InvalidInput, match="--coordinates is all or span, got 'half'"):
        build_problem("digits-softmax", clients=2, split="iid", coordinates="half")
    with pytest.raises(InvalidInput, match="leave --test and --server N out"):
        build_problem("digits-softmax", clients=2, split="iid", coordinates="span", server="10")


def test_values_are_read_at_communications() -> None:
    sent = np.array([0.0, 0, 5, 5, 10, 10])
    log = Log({"round": np.arange(6.0), "value": np.arange(6.0)[::-1], "floats_up": sent, "floats_down": sent}, 1.0)
    found = runs.by_communications(log, 3)
    assert found[:3].tolist() == [5.0, 3.0, 1.0] and np.isnan(found[3])


def test_errors_fall_to_a_certified_optimum() -> None:
    """On the wines, where a long run of the tuned Douglas-Rachford splitting arrives."""
    context = Context(experiment_seeds=2)
    scale = replace(runs.CIFAR.at(context), rounds=60)
    name = "FedDR (2)"
    settings = {**runs.BENCHMARKS[name].candidates(scale)[1]}
    found = runs.errors(context, scale, runs.judged(context, scale, name, settings))
    assert found.shape == (2, 61) and (found[:, -1] < 1e-9).all() and (found > 0).all()
    assert (runs.fall(found) > 0.1).all()


def test_the_bias_is_a_feature() -> None:
    plain = build_problem("wine-softmax", clients=2, split="iid")
    biased = build_problem("wine-softmax", clients=2, split="iid", bias=2.0)
    assert biased.inputs == plain.inputs + 1 and set(np.unique(biased.features[..., -1])) <= {0.0, 2.0}
    assert (biased.features[..., -1][biased.weights > 0] == 2).all()


def test_local_solves_up_to_an_accuracy_are_an_option() -> None:
    assert listed("fedpd").build(accuracy=1e-9).local.stop == EnergyChange(1e-9)
    with pytest.raises(ValueError, match="--accuracy is a local solver of its own"):
        listed("fedpd").build(accuracy=1e-9, exact=True)


# ---- measurements ---------------------------------------------------------------------------------------------------------


def test_the_least_gradient_on_the_chain() -> None:
    """Against least squares over points with few coordinates."""
    chain = nesterov_chain(12, L=1.0, mu=0.0)
    h, b = chain.A.mean(axis=0), chain.b.mean(axis=0)
    for n in range(1, 11):
        x, *_ = np.linalg.lstsq(h[:, :n], b, rcond=None)
        rest = h[:, :n] @ x - b
        assert float(rest @ rest) == pytest.approx(bounds.least_gradient_squared(n), rel=1e-10)


def test_rounds_grow_with_the_root_of_the_condition_number() -> None:
    few = acceleration.KAPPAS[:2]
    assert [acceleration.smooth("DualFL", k) for k in few] == [19, 36]  # as the catalogue of the paper has them
    assert [acceleration.smooth("dual ascent", k) for k in few] == [43, 134]
    assert acceleration.exponent((1, 4, 16), (3, 6, 12)) == pytest.approx(0.5)
    assert acceleration.exponent((1, 4), (3, np.inf)) == np.inf


def test_the_gap_lies_between_error_and_bound() -> None:
    found = gap_curves(20, rounds=40)
    assert (found.energy <= found.gap * (1 + 1e-9)).all() and (found.gap <= found.bound).all()
    plain = gap_curves(20, momentum=False, rounds=40)
    assert plain.gap[-1] > 5 * found.gap[-1]
    assert bound_n2(np.array([1, 3]), 2.0, 0.0, 4.0).tolist() == [1.0, 0.25]


@pytest.mark.parametrize(("gains", "holds", "weakest"), [((3, 2, 1), True, 2), ((-3, -3, -2, -1), False, 3)])
def test_several_rests_on_the_weakest_comparison_that_it_needs(monkeypatch, gains, holds, weakest) -> None:
    """Ten draws; the other methods' curves are above DualFL's, or below, by so many deviations, or by nothing that draws tell."""
    noise = np.random.default_rng(0).standard_normal((10, 1))
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    all_gains = (*gains, *[0.0] * (6 - len(gains)))
    curves = {name: 10 ** (noise * [0, 1] + gain) for name, gain in zip(OTHERS, all_gains, strict=True)}
    curves[runs.DUALFL] = np.ones((10, 2))
    monkeypatch.setattr("paper_checks.dualfl.section_8_conclusion.curves_of_all", lambda *_: curves)
    found = {p.name: p for p in check_x4(Context(), study=runs.MNIST) if isinstance(p, Part)}
    assert found["several"].holds is holds
    needed = found[f"end: below {OTHERS[weakest]}"]
    assert found["several"].chance.value == needed.chance.value and needed.holds is holds

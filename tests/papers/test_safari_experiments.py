"""SAFARI's experiments: verdicts at laptop size, runs at three sizes, what accuracies are read, the paper's numbers."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from fedtheory.algorithms import listed
from fedtheory.claims.checking import Reference, check_one, run_faults
from fedtheory.claims.claim import Context, Size
from fedtheory.claims.experiments import Log, Repeated
from fedtheory.local.stochastic import Epochs
from paper_checks.safari import CLAIMS, published, runs
from problems.datasets import load
from problems.networks.families import load_part

SOURCE = "paper_checks.safari"
SIZES = get_args(Size)
DATA = os.environ.get("FEDTHEORY_DATA")
STORED = json.loads((Path(__file__).resolve().parents[2] / "paper_checks" / "expected.json").read_text())["verdicts"]
EXPECTED = {v["id"]: v["status"] for v in STORED}
STUDIES = (runs.MNIST, runs.CIFAR, runs.FASHION)


# ---- verdicts ------------------------------------------------------------------------------------------------------


def test_the_claims_are_those_of_the_ledger() -> None:
    ids = [f"SAFARI-E{k}" for k in range(1, 12)] + [f"SAFARI-E{k}-CIFAR" for k in (1, 2, 3, 4, 6, 9, 10, 11)]
    assert sorted(claim.id for claim in CLAIMS if claim.id.startswith("SAFARI-E")) == sorted(ids)
    assert {*ids} <= {*EXPECTED}


def test_with_q_one_it_is_fedavg() -> None:
    reference = Reference(SOURCE, "SAFARI-E7")
    assert check_one(reference, Context()).status == "supported"
    assert all(report.caught for report in run_faults(reference, Context()))


# ---- what accuracies are read -----------------------------------------------------------------------------------------


def test_the_ceiling_is_counted_exactly() -> None:
    context = Context()
    train, test = load_part("digits", "train"), load_part("digits", "test")
    assert len(train) + len(test) == len(load("digits"))
    single = runs.fedavg(context, runs.MNIST, 1, 4)
    for training, found in zip(single.trainings, runs.coverage(context, single), strict=True):
        from fedtheory.running.families import build_problem

        problem = build_problem(training.problem, **training.options, seed=training.seed)
        classes = {int(k) for k in problem.targets[:6].argmax(axis=-1).ravel()}
        assert len(classes) == 6
        assert found == np.mean([label in classes for label in test.labels])
    everyone = runs.fedavg(context, runs.MNIST, 1, 0)
    assert (runs.coverage(context, everyone) == 1).all()


def test_absent_clients_may_take_the_last_holder_of_a_class_away() -> None:
    """With two classes a client each class has two holders, and four clients of ten are absent: sometimes both."""
    found = runs.coverage(Context(), runs.fedavg(Context(), runs.MNIST, 2, 4))
    assert found.min() < 0.95 and found.max() <= 1 and found.mean() > 0.7


def test_accuracy_after_the_rounds_of_the_server() -> None:
    sent = np.array([0.0, 5, 5, 10, 15, 15, 20, 20, 25, 30, 30])
    accuracy = np.arange(11) / 100
    log = Log({"round": np.arange(11.0), "test_accuracy": accuracy, "floats_up": sent, "floats_down": sent}, 1.0)
    assert runs.read_after_server(log) == pytest.approx((0.07 + 0.10) / 2)  # rounds 7 and 10 of the last four
    assert runs.read_after_server(replace(log, columns={**log.columns, "round": 2 * np.arange(11.0)})) is None


# ---- three sizes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_every_run_can_be_described_at_every_size(size) -> None:
    context = Context(size=size)
    for claim in CLAIMS:
        if claim.needs is None:
            continue
        for training in claim.needs(context):
            method = listed(training.method).build(**training.settings)
            assert training.method == "server-sgd" or method.local == Epochs(1, 0.1, training.settings["batch"])
            assert training.settings["lr"] == 0.1 and "server_lr" not in training.settings  # both 0.1, as in the paper


def test_the_papers_numbers() -> None:
    mnist, cifar = (study.at(Context(size="paper")) for study in (runs.MNIST, runs.CIFAR))
    assert (mnist.clients, mnist.participants, mnist.batch, mnist.rounds, mnist.seeds) == (10, 5, 64, 150, 5)
    assert (cifar.clients, cifar.participants, cifar.batch, cifar.rounds, cifar.seeds) == (10, 5, 500, 5000, 3)
    assert mnist.servers == tuple(published.GAIN_BY_SERVER["MNIST"]) == (50, 100, 500, 1000)
    assert cifar.servers == tuple(published.GAIN_BY_SERVER["CIFAR-10"]) == (500, 5000, 10000)
    assert runs.FASHION.at(Context(size="paper")).clients == 150
    for study in STUDIES:
        for size in SIZES:
            scale = study.at(Context(size=size))
            assert min(scale.clients - s for s in (0, scale.clients * 4 // 10)) >= scale.participants


def test_the_tables_agree_with_each_other() -> None:
    """What the paper prints twice: Table 2 in Tables 3 to 5, Table 1 in Tables 5 and 10."""
    for name in ("MNIST", "CIFAR-10"):
        for k, s in enumerate(published.ABSENT):
            alone = published.FEDAVG[name][s][-1]
            assert published.BY_PROBABILITY[name][1.0][k] == alone
            assert published.BY_PROBABILITY[name][0.8][k] - alone == pytest.approx(
                published.GAIN[name][s][-1], abs=0.011
            )
        largest = max(published.GAIN_BY_SERVER[name])
        assert published.GAIN_BY_SERVER[name][largest] == published.GAIN[name][4]
        assert published.BY_PARTICIPANTS[name][5, "FedAvg"] == published.FEDAVG[name][4]
    assert published.REPEATED["MNIST"][4, "FedAvg"][3] == (57.09, 0.04)
    assert published.FASHION_BY_ABSENT[60] == (82.37, 5.8) and published.FASHION_BY_SERVER["20 %"] == (85.14, 0.23)


def test_without_a_data_folder_the_verdict_says_so(monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    verdict = check_one(Reference(SOURCE, "SAFARI-E2"), Context(size="small"))
    assert verdict.status == "inconclusive" and verdict.error is not None and "data folder" in verdict.error


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    "study",
    [pytest.param(s, id=s.name, marks=[pytest.mark.torch] if s is runs.CIFAR else []) for s in STUDIES],
)
def test_one_round_at_small_size(study, tmp_path) -> None:
    context = Context(size="small", data=DATA, results=str(tmp_path))
    run = runs.safari(context, study, 1 if study is not runs.FASHION else 2, study.at(context).clients * 4 // 10)
    short = Repeated((replace(run.trainings[0], rounds=1),))
    assert np.isfinite(runs.at_end(context, short)).all()

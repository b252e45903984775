"""FedSLR's experiments: the three sizes as the paper has them, its numbers."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_up_runs import made_up

from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training
from fedtheory.claims.references import Reference, load_claims
from fedtheory.core.layers import Layer
from paper_checks.fedslr import printed, runs
from paper_checks.fedslr.networks import numbers, resnet18
from paper_checks.fedslr.protocol import PROTOCOL
from paper_checks.fedslr.section_3_problem_setup import convolve
from paper_checks.fedslr.section_6_2_a_table_1 import table_1
from paper_checks.fedslr.timing import compare_times

SOURCE = "paper_checks.fedslr"
ROOT = Path(__file__).resolve().parents[2]
CLAIMS = load_claims(SOURCE)
TRAINED = [name for name, claim in CLAIMS.items() if claim.needs is not None]
PAPER_SIZE = Context(size="paper", device="cuda")


def test_every_number_of_the_catalogue_is_a_claim() -> None:
    assert {f"FEDSLR-Q{k}" for k in range(1, 11)} | {f"FEDSLR-C{k}" for k in range(1, 10)} <= {*CLAIMS}


# ---- three sizes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "count"), [("laptop", 240), ("small", 105), ("paper", 129)])
def test_all_runs_can_be_asked_for(size: str, count: int) -> None:
    ctx = Context(size=size)  # type: ignore[arg-type]
    found = {need.key: need for name in TRAINED for need in CLAIMS[name].needs(ctx)}  # type: ignore[misc]
    assert len(found) == count and all(isinstance(need, Training) for need in found.values())
    s = runs.scale(ctx)
    assert s.main["lam"] in s.lam and s.main["mu"] in s.mu and s.main["eta"] in s.eta and s.main["mu"] in s.pure
    assert all([*values] == sorted(values) for values in (s.lam, s.mu, s.eta, s.epochs, s.pure))
    assert {1, 2, 4} <= {*s.epochs} and s.lam[0] == 0
    assert s.rounds % (10 * s.every) == s.rounds % (4 * s.every) == 0  # measured where it is read


def test_the_papers_own_setting() -> None:
    mixed, plain = (runs.of(PAPER_SIZE, label).trainings[0] for label in (runs.MIXED, "FedAvg"))
    assert (mixed.method, mixed.problem, mixed.rounds, mixed.participants) == (
        "fedslr",
        "cifar10-resnet18-3x3",
        1000,
        10,
    )
    assert plain.settings == {"lr": 0.1, "lr_decay": 0.998, "epochs": 2, "batch": 20}
    own = {"eta": 10, "l1": 1e-3, "personal_epochs": 1, "init_dual": "zero", "init_personal": "zero"}
    assert mixed.settings == {**plain.settings, **own}
    common = {"clients": 100, "samples_per_client": 400, "tests_a_client": 100, "l2": 1e-3, "augment": "crop-flip"}
    cut = {"split": "dirichlet-labels", "concentration": 0.1, "draw": "refill"}
    assert plain.options == {**common, **cut} and mixed.options == {**common, **cut, "nuclear": 1e-4}
    assert runs.of(PAPER_SIZE, "FedAvg", runs.IID).trainings[0].options == {**common, "split": "iid"}
    settings = {name: runs.of(PAPER_SIZE, name).trainings[0].settings for name in runs.METHODS}
    assert settings["Ditto"]["mu"] == settings["FedDyn"]["rho"] == 0.1 and settings["Ditto"]["personal_epochs"] == 1
    assert (settings["Per-FedAvg"]["lr"], settings["Per-FedAvg"]["alpha"], settings["Per-FedAvg"]["steps"]) == (
        1e-3,
        0.01,
        40,
    )
    assert settings["APFL"]["alpha"] == 0.5


def test_without_a_penalty_there_is_no_nuclear_norm() -> None:
    [control, *_] = runs.fedslr(PAPER_SIZE, lam=0).trainings
    assert "nuclear" not in control.options
    assert runs.fedslr(PAPER_SIZE, **runs.scale(PAPER_SIZE).main) == runs.of(PAPER_SIZE, runs.GKR)


def test_seeds_are_those_of_the_protocol() -> None:
    needs = [need for name in TRAINED for need in CLAIMS[name].needs(Context())]  # type: ignore[misc]
    assert {need.seed for need in needs} == {*PROTOCOL.judged(Context())} == {*range(100, 106)}


def test_without_a_data_folder_small_says_what_is_missing(monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    verdict = check_one(Reference(SOURCE, "FEDSLR-Q8"), Context(size="small"))
    assert verdict.status == "inconclusive" and verdict.error is not None and "cifar10" in verdict.error


@pytest.mark.data
@pytest.mark.torch
def test_a_round_of_a_small_run() -> None:
    context = Context(size="small", data=os.environ["FEDTHEORY_DATA"])
    one = runs.fedslr(context, component="copy").trainings[0]
    log = replace(one, rounds=1, every=1, settings={**one.settings, "epochs": 1}).read(context)
    assert log["round"].tolist() == [0, 1] and not log.diverged and log.clients is not None
    assert log["factored_size"][1] <= log["floats_up"][1] / 8 and 0 <= log["common_accuracy"][1] <= 1


def test_chosen_settings_are_listed() -> None:
    for size in ("laptop", "small", "paper"):
        rows = runs.chosen(Context(size=size)).rows  # type: ignore[arg-type]
        assert {"data sets", "rounds", "p_0", "gamma_0", "Per-FedAvg", "FedSpa"} <= {row[0] for row in rows}
        assert all(len(row) == 4 and row[3] for row in rows)


# ---- the paper's numbers ------------------------------------------------------------------------------------------------


def test_the_printed_numbers() -> None:
    row = printed.TABLE_1[runs.MIXED][3], *printed.TABLE_2[runs.MIXED][2:4]
    assert printed.TABLE_3[1e-4][3:] == printed.TABLE_4[1e-3][:3] == printed.TABLE_5[10][3:] == row
    assert {lam: row[0] for lam, row in printed.TABLE_3.items() if lam in printed.TABLE_8} == printed.TABLE_8
    assert all(printed.TABLE_3[lam][2] == size for lam, (size, _) in printed.TABLE_9.items() if lam)


@pytest.mark.torch
def test_the_networks_are_those_of_pytorch() -> None:
    from problems.networks.architectures import Architecture

    def shapes(layers: tuple[Layer, ...]) -> list[tuple[int, ...]]:
        return [layer.shape for layer in layers]

    assert shapes(resnet18(10, 3)) == shapes(Architecture("resnet18-3x3", (3, 32, 32), 10).layers)
    assert shapes(resnet18(200, 7)) == shapes(Architecture("resnet18", (3, 64, 64), 200).layers)
    assert numbers(resnet18(10, 3)) == 11_173_962


@pytest.mark.torch
def test_convolutions_are_those_of_pytorch() -> None:
    import torch

    rng = np.random.default_rng(0)
    images, kernel = rng.standard_normal((2, 3, 7, 6)), rng.standard_normal((4, 3, 3, 1))
    theirs = torch.nn.functional.conv2d(
        torch.from_numpy(images), torch.from_numpy(kernel), stride=(2, 1), padding=(1, 0)
    )
    np.testing.assert_allclose(convolve(images, kernel, (2, 1), (1, 0)), theirs.numpy(), rtol=1e-12, atol=1e-12)


def test_times_are_compared_in_turns() -> None:
    def busy(count: int):
        return lambda: sum(range(count))

    assert 5 < np.median(compare_times(busy(200_000), busy(20_000))) < 20


def test_table_1_stands_beside_ours(monkeypatch) -> None:
    monkeypatch.setattr(Training, "read", made_up)
    shown = table_1(Context(), runs.NON_IID)
    row = next(row for row in shown.rows if row[0] == "Ditto")
    assert row[1:4] == [94.39, 78.67, 58.30] and "+-" in row[4]

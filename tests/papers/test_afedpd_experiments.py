"""A-FedPD's experiments: verdicts at laptop size, planted faults, three sizes, the paper's numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedtheory.claims.checking import Reference, check_one, load_claims
from fedtheory.claims.claim import Context
from fedtheory.claims.experiments import Training
from paper_checks.afedpd import accuracies, costs, label_shares, speed
from paper_checks.afedpd.published import SECONDS, TABLE_2, TABLE_4, printed
from paper_checks.afedpd.runs import METHODS, SCALES, chosen, training

SOURCE = "paper_checks.afedpd"
ROOT = Path(__file__).resolve().parents[2]
CLAIMS = load_claims(SOURCE)
IDS = [name for name, claim in CLAIMS.items() if claim.needs is not None]  # the others are in test_theory_statements
SIZES = ("laptop", "small", "paper")


def expected() -> dict[str, str]:
    stored = json.loads((ROOT / "paper_checks" / "expected.json").read_text())["verdicts"]
    return {v["id"]: v["status"] for v in stored if v["id"] in IDS}


def test_every_claim_has_an_expected_verdict() -> None:
    assert {*expected()} == {*IDS}


# ---- three sizes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("claim", IDS)
def test_all_runs_can_be_asked_for(claim: str, size: str) -> None:
    found = load_claims(SOURCE)[claim]
    assert found.needs is not None
    needs = found.needs(Context(size=size))  # type: ignore[arg-type]
    assert all(isinstance(need, Training) for need in needs)
    assert len({need.key for need in needs}) == len(needs)


def test_the_papers_own_setting() -> None:
    one = training(Context(size="paper"), "A-FedPDSAM", "Dir-0.1")
    assert (one.method, one.problem, one.rounds, one.participants) == ("a-fedpdsam", "cifar10-lenet", 800, 10)
    wanted = {"lr": 0.1, "lr_decay": 0.998, "steps": 50, "batch": 50, "clip": 10.0, "rho": 0.1, "radius": 0.1}
    assert dict(one.settings) == wanted | {"sam_epsilon": 0.01}
    wanted = {
        "clients": 100,
        "l2": 1e-3,
        "samples_per_client": 500,
        "augment": "crop-flip",
        "split": "dirichlet-labels",
    }
    assert dict(one.options) == wanted | {"concentration": 0.1, "draw": "with"}
    assert training(Context(size="paper"), "FedAvg", "IID").options["split"] == "iid"
    assert training(Context(size="paper"), "FedAvg", "IID", network="ResNet-18").problem == "cifar10-resnet18"
    assert METHODS["FedSAM"].own["radius"] == 0.05 and METHODS["FedADMM"].name == "fedadmm-active"


def test_table_2_on_a_gpu_is_sixteen_runs() -> None:
    needs = load_claims(SOURCE)["AFEDPD-Q9"].needs(Context(size="paper", device="cuda"))  # type: ignore[misc]
    assert len(needs) == 16
    assert {need.options["split"] for need in needs} == {"iid", "dirichlet-labels"}
    assert {need.seed for need in needs} == {0}


def test_sizes_share_what_the_paper_fixes() -> None:
    for size, scale in SCALES.items():
        assert scale.clients == 10 * scale.participants, size
        for label in METHODS:
            one = training(Context(size=size), label, "Dir-0.1")  # type: ignore[arg-type]
            assert one.settings["lr"] == 0.1 and one.options["l2"] == 1e-3
            assert ("average_value" in one.metrics) == ("rho" in one.settings)
        listed = chosen(Context(size=size))  # type: ignore[arg-type]
        assert any(row[0] == "CIFAR-100" for row in listed.rows) and all(len(row) == 3 for row in listed.rows)


def test_without_a_data_folder_small_says_what_is_missing(monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    verdict = check_one(Reference(SOURCE, "AFEDPD-Q9-DIR1"), Context(size="small"))
    assert verdict.status == "inconclusive" and verdict.error is not None and "cifar10" in verdict.error


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.torch
def test_a_round_of_a_small_run(tmp_path) -> None:
    context = Context(size="small", results=str(tmp_path))
    one = training(context, "A-FedPDSAM", "Dir-0.1")
    log = replace(one, rounds=1, settings={**one.settings, "steps": 2}).read(context)
    assert log["round"].tolist() == [0, 1] and not log.diverged
    assert log["dual_residual"][1] > 0 and 0 <= log["average_accuracy"][1] <= 1


# ---- decisions ---------------------------------------------------------------------------------------------------------


def test_one_seed_decides_nothing_and_tells_the_rule_of_a_point() -> None:
    values = {"a": np.array([0.85]), "b": np.array([0.82])}
    decided, rule = accuracies.compare_cells("it", values["a"], values["b"], "a minus b", (3.0, 0.3))
    assert decided.holds is None and decided.role == "printed" and "one seed" in decided.text
    assert rule.holds is True and rule.role == "reading" and "+3.00" in rule.text
    _, rule = accuracies.compare_cells("it", values["b"], values["a"], "b minus a", (0.5, 0.1))
    assert rule.holds is False
    values["b"] = np.array([0.845])
    close_by, rule = accuracies.compare_cells("it", values["a"], values["b"], "a minus b", (0.5, 0.1))
    assert rule.holds is None and close_by.role == "reading"


def test_which_gaps_of_the_paper_are_claims() -> None:
    lenet = accuracies.Column("LeNet", ("IID", "Dir-0.1"))
    assert accuracies.separated(lenet.gap("A-FedPDSAM", "FedSpeed", "Dir-0.1"))
    assert not accuracies.separated(lenet.gap("A-FedPDSAM", "FedSpeed", "IID"))
    assert not accuracies.separated(lenet.gap("A-FedPD", "FedDyn", "IID"))
    resnet = accuracies.Column("ResNet-18", ("IID",))
    assert accuracies.separated(resnet.gap("A-FedPD", "FedDyn", "IID"))
    assert not accuracies.separated((1.5, 0.9))


def test_targets_are_the_papers_at_its_size() -> None:
    assert speed.levels(Context(size="paper"), {}) == (0.81, 0.835)


# ---- the paper's numbers -------------------------------------------------------------------------------------------------


def test_the_numbers_are_the_papers() -> None:
    assert len(TABLE_2["LeNet"]) == len(TABLE_2["ResNet-18"]) == 48
    assert TABLE_2["LeNet"]["SCAFFOLD", "CIFAR-10", "Dir-0.1"] == (78.66, 0.29)
    assert TABLE_2["LeNet"]["A-FedPDSAM", "CIFAR-100", "IID"] == (55.56, 0.27)
    assert TABLE_2["ResNet-18"]["FedSpeed", "CIFAR-10", "Dir-1.0"] == (85.92, 0.24)
    assert printed(TABLE_2["ResNet-18"]["FedDyn", "CIFAR-100", "IID"]) == "--"
    assert printed(TABLE_2["LeNet"]["FedAvg", "CIFAR-10", "IID"]) == "81.87 +- 0.12"
    for network in TABLE_2.values():  # bold in every column of the paper
        for data, split in {key[1:] for key in network}:
            column = {m: mean for (m, d, s), (mean, _) in network.items() if (d, s) == (data, split)}
            assert max(column, key=lambda m: -1 if np.isnan(column[m]) else column[m]) == "A-FedPDSAM"
    assert TABLE_4["CIFAR-10"][81.0]["A-FedPD"] == 131 and "FedAvg" not in TABLE_4["CIFAR-10"][83.5]
    assert SECONDS["ResNet-18"]["A-FedPDSAM"] == 60.63


def test_exact_class_shares() -> None:
    assert label_shares.largest_share(0.1) == pytest.approx(0.665, abs=5e-4)
    assert label_shares.largest_share(1.0) == pytest.approx(sum(1 / k for k in range(1, 11)) / 10)  # broken sticks
    assert label_shares.largest_share(0.01) == pytest.approx(0.943, abs=5e-4)
    assert 1 / label_shares.squares(0.1) == pytest.approx(20 / 11) and 1 / label_shares.squares(1.0) == 5.5
    assert label_shares.above_even(1.0) == pytest.approx(10 * 0.9**9)
    drawn = np.random.default_rng(0).dirichlet([0.1] * 10, size=20_000)
    assert label_shares.largest_share(0.1) == pytest.approx(drawn.max(axis=1).mean(), abs=0.01)
    assert label_shares.above_even(0.1) == pytest.approx((drawn > 0.1).sum(axis=1).mean(), abs=0.05)


def test_a_count_of_gradients_sees_who_takes_part() -> None:
    total = [0]
    played = costs.played(Context(), ("FedSpeed", "SCAFFOLD"), "LeNet", 3, total)
    played["SCAFFOLD"].round()
    assert total[0] == 3 * 5
    played["FedSpeed"].round()
    assert total[0] == 3 * 5 + 2 * 3 * 5

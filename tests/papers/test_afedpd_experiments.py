"""A-FedPD's experiments: verdicts at laptop size, planted faults, three sizes, the paper's numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedtheory.algorithms import listed
from fedtheory.algorithms.mistakes import build_mistaken, find_mistakes
from fedtheory.claims.checking import check_one, judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training
from fedtheory.claims.logs import Log
from fedtheory.claims.references import Reference, load_claims
from fedtheory.core.participation import Uniform
from fedtheory.running.families import build_problem, make_first_model
from fedtheory.running.runner import run, shape_start
from paper_checks.afedpd import appendix_a_3_splitting as splitting
from paper_checks.afedpd import appendix_a_4_3_communication as communication
from paper_checks.afedpd import appendix_a_4_4_wall_clock_time as wall_clock_time
from paper_checks.afedpd import section_5_1_a_table_2 as table_2
from paper_checks.afedpd.protocol import PROTOCOL
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
    wanted = {  # 400 images of 40000, for 10000 of the paper's 50000 are held out
        "clients": 100,
        "l2": 1e-3,
        "samples_per_client": 400,
        "augment": "crop-flip",
        "split": "dirichlet-labels",
    }
    assert dict(one.options) == wanted | {"concentration": 0.1, "draw": "with"}
    assert training(Context(size="paper"), "FedAvg", "IID").options["split"] == "iid"
    assert training(Context(size="paper"), "FedAvg", "IID", network="ResNet-18").problem == "cifar10-resnet18"
    assert METHODS["FedSAM"].own["radius"] == 0.05 and METHODS["FedADMM"].name == "fedadmm-active"


def test_table_2_on_a_gpu_is_sixteen_runs_a_seed() -> None:
    context = Context(size="paper", device="cuda")
    needs = CLAIMS["AFEDPD-Q9"].needs
    assert needs is not None
    four = {need.key for need in needs(context)}
    assert len(four) == 64 and len({need.key.split("-seed")[1][:3] for need in needs(context)}) == 4
    assert {need.options["split"] for need in needs(context)} == {"iid", "dirichlet-labels"}  # type: ignore[attr-defined]
    assert four < {need.key for need in needs(replace(context, experiment_seeds=6))}, "more seeds keep those there are"


@pytest.mark.parametrize(
    ("method", "mistakes"),
    [
        ("feddyn", ("no virtual update of absent clients' duals",)),
        ("fedavg", ("no dual in local work", "no dual at the server", "no penalty in local work")),
    ],
)
def test_methods_that_stand_for_mistakes_in_a_fedpd_are_those(method, mistakes) -> None:
    """Faults plant them by name; their runs are there already."""
    one = training(Context(), "A-FedPD", "Dir-0.1")
    problem = build_problem(one.problem, **one.options, seed=0)
    x0 = shape_start(problem, make_first_model(problem, None, 0))
    entry = listed("a-fedpd")
    made = {m.name: m for m in find_mistakes(entry, one.settings)}
    mistaken = build_mistaken(entry, one.settings, tuple(made[name] for name in mistakes))
    other = listed(method)
    plain = other.build(**{name: one.settings[name] for name in other.uses if name in one.settings})
    ends = [
        run(algorithm, problem, x0, 4, participation=Uniform(5), progress=False).state.x
        for algorithm in (mistaken, plain)
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12 < np.abs(ends[0] - x0).max()


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


@pytest.mark.data
@pytest.mark.torch
def test_a_round_of_a_small_run(tmp_path) -> None:
    context = Context(size="small", results=str(tmp_path))
    one = training(context, "A-FedPDSAM", "Dir-0.1")
    log = replace(one, rounds=1, settings={**one.settings, "steps": 2}).read(context)
    assert log["round"].tolist() == [0, 1] and not log.diverged
    assert log["dual_residual"][1] > 0 and 0 <= log["average_accuracy"][1] <= 1


# ---- decisions ---------------------------------------------------------------------------------------------------------


def test_which_gaps_of_the_paper_decide() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert stats.t.ppf(0.975, table_2.SEEDS - 1) == pytest.approx(table_2.STUDENT)
    columns = [claim.clauses for claim in CLAIMS.values() if claim.id.startswith("AFEDPD-Q9")]
    [iid_and_hard, middle, resnet] = [{name for clause in found for name in clause.decided_by} for found in columns]
    assert "A-FedPDSAM over FedSpeed, IID" in iid_and_hard and len(iid_and_hard) == 2 * 15 + 8
    assert len(middle) == 14 and "FedSpeed over A-FedPD, Dir-1.0" not in middle
    assert len(resnet) == 3 * 15 + 8 - 2
    assert not {"A-FedPDSAM over FedSpeed, Dir-1.0", "FedSpeed over A-FedPD, Dir-0.1"} & resnet
    told = CLAIMS["AFEDPD-Q9-RESNET18"].statement
    assert "(apart from A-FedPDSAM over FedSpeed, Dir-1.0)" in told, "what is left out is told"


_ONE, _TWO, _THREE = table_2.NOISE
#: of methods that the paper compares no two have noise in common; A-FedPD's is opposite to FedAvg's, and both splits have opposite ones
APART = {"A-FedPDSAM": _ONE, "FedAvg": _TWO, "FedCM": _TWO, "A-FedPD": -_TWO}
#: neighbours in Table 2 have opposite noise, which hides their difference as well as noise can
OPPOSITE = {"A-FedPDSAM": _ONE, "FedSpeed": -_ONE, "A-FedPD": _ONE, "FedDyn": -_ONE}


def give_runs(monkeypatch, network: str, noises: dict[str, np.ndarray], spread=1.0, exchanged=()) -> None:
    """Let every run at the paper's size end at the paper's accuracy: four with exactly its mean and deviation."""
    names = {METHODS[label].name: dict(exchanged).get(label, label) for label in METHODS}
    first = PROTOCOL.first["paper"]

    def read(self: Training, context: Context) -> Log:
        split = {None: "IID", 1.0: "Dir-1.0", 0.1: "Dir-0.1"}[self.options.get("concentration")]
        mean, deviation = TABLE_2[network][names[self.method], "CIFAR-10", split]
        noise = noises.get(names[self.method], _THREE)[self.seed - first]
        end = (mean + spread * deviation * (noise if split == "IID" else -noise)) / 100
        return Log({"round": np.array([0.0, self.rounds])} | {name: np.array([0.1, end]) for name in self.metrics}, 1.0)

    monkeypatch.setattr(Training, "read", read)


def judged(id: str):
    verdict = judge_claim(CLAIMS[id], SOURCE, Context(size="paper"), CLAIMS.values())
    assert verdict.error is None
    printed = {e["name"]: e["holds"] for e in verdict.evidence if e["role"] == "printed"}
    return verdict, printed


TABLES = [("AFEDPD-Q9", "LeNet"), ("AFEDPD-Q9-DIR1", "LeNet"), ("AFEDPD-Q9-RESNET18", "ResNet-18")]


@pytest.mark.parametrize(("id", "network"), TABLES)
def test_the_papers_own_numbers_as_runs_are_decided_as_the_paper_says(monkeypatch, id, network) -> None:
    give_runs(monkeypatch, network, APART)
    verdict, parts = judged(id)
    assert verdict.status == "agrees in an analogue" and all(parts.values())
    cells = [table for table in verdict.tables if table["title"].startswith(f"Table 2, {network}, CIFAR-10, after")]
    assert [{row[-1] for row in table["rows"]} for table in cells] == [{"within"}]


def test_noise_that_hides_differences_leaves_the_closest_undecided(monkeypatch) -> None:
    give_runs(monkeypatch, "LeNet", OPPOSITE)
    verdict, parts = judged("AFEDPD-Q9")
    assert verdict.status == "inconclusive"
    assert {name for name, holds in parts.items() if not holds} == {
        "A-FedPDSAM over FedSpeed, IID",
        "FedSpeed over A-FedPD, Dir-0.1",
    }
    told = " ".join(verdict.readings)
    assert "would hide: A-FedPDSAM over FedSpeed, IID; FedSpeed over A-FedPD, Dir-0.1." in told


def test_other_numbers_than_the_papers_are_not_decided_as_it_says(monkeypatch) -> None:
    give_runs(monkeypatch, "LeNet", APART, spread=2.0)  # standard errors taken for deviations
    assert judged("AFEDPD-Q9")[0].status == "inconclusive"
    give_runs(monkeypatch, "LeNet", APART, exchanged={"A-FedPD": "FedDyn", "FedDyn": "A-FedPD"})
    verdict, parts = judged("AFEDPD-Q9")
    assert verdict.status in ("inconclusive", "disagrees in an analogue")
    assert not parts["A-FedPD over FedDyn, IID"] and not parts["A-FedPD over FedDyn, Dir-0.1"]


@pytest.mark.parametrize("seeds", [None, 1])
@pytest.mark.parametrize("size", ["small", "paper"])
def test_checks_read_what_the_larger_sizes_run(monkeypatch, size, seeds) -> None:
    def read(self: Training, context: Context) -> Log:
        """Return curves that rise or fall alike but for noise."""
        rounds = np.unique([*range(0, self.rounds, self.every), self.rounds]).astype(float)
        noise = 0.01 * np.random.default_rng([self.seed, *self.key.encode()]).random((len(self.metrics), len(rounds)))
        curves = {
            name: np.linspace(*((0.1, 0.85) if "accuracy" in name else (2.3, 0.5)), len(rounds)) + more
            for name, more in zip(self.metrics, noise, strict=True)
        }
        return Log({"round": rounds} | curves, 1.0)

    monkeypatch.setattr(Training, "read", read)
    context = Context(size=size, experiment_seeds=seeds)
    for id in {*IDS} - {"AFEDPD-Q11", "AFEDPD-Q12"}:  # which need the data
        verdict = judge_claim(CLAIMS[id], SOURCE, context, CLAIMS.values())
        assert verdict.error is None and verdict.tables, id
        assert seeds != 1 or verdict.status == "inconclusive", "a single seed decides nothing"


def test_targets_are_the_papers_at_its_size() -> None:
    assert communication.levels(Context(size="paper"), {}) == (0.81, 0.835)


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
    assert splitting.largest_share(0.1) == pytest.approx(0.665, abs=5e-4)
    assert splitting.largest_share(1.0) == pytest.approx(sum(1 / k for k in range(1, 11)) / 10)  # broken sticks
    assert splitting.largest_share(0.01) == pytest.approx(0.943, abs=5e-4)
    assert 1 / splitting.squares(0.1) == pytest.approx(20 / 11) and 1 / splitting.squares(1.0) == 5.5
    assert splitting.above_even(1.0) == pytest.approx(10 * 0.9**9)
    drawn = np.random.default_rng(0).dirichlet([0.1] * 10, size=20_000)
    assert splitting.largest_share(0.1) == pytest.approx(drawn.max(axis=1).mean(), abs=0.01)
    assert splitting.above_even(0.1) == pytest.approx((drawn > 0.1).sum(axis=1).mean(), abs=0.05)


def test_a_count_of_gradients_sees_who_takes_part() -> None:
    total = [0]
    played = wall_clock_time.played(Context(), ("FedSpeed", "SCAFFOLD"), "LeNet", 3, total)
    played["SCAFFOLD"].round()
    assert total[0] == 3 * 5
    played["FedSpeed"].round()
    assert total[0] == 3 * 5 + 2 * 3 * 5
